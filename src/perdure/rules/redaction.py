"""Secrets (keys, tokens, passwords, card numbers) are replaced before anything is stored, by detect-secrets' shapes."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from itertools import islice
from typing import Any, Final

from perdure.records.new_memory import Draft
from perdure.records.policy import Policy
from perdure.rules.secret_patterns import (
    ASSIGNED,
    CLUES,
    HEADERS,
    KEY_BLOCK,
    SERVICES,
    card_numbers,
    is_placeholder,
    is_value_of,
)

_AROUND: Final = 120
"""Characters on each side of what is suspicious that are looked at with it, on its line."""
_REST: Final = re.compile(r"(?:[A-Za-z0-9_\-+/=~]|\.(?=[A-Za-z0-9_\-]))*")
"""A token goes on to its end, also where the library's shape stops before."""
_SPACE: Final = re.compile(r"\s")
_WHOLE: Final = 8  # a shape's group as long as this is the secret; a shorter one is its prefix
_MOST_AGAIN: Final = 50  # so many secrets of a text are looked for a second time
_BASIC_AUTH: Final = "basic auth credentials"

Found = tuple[int, int, str]  # (start, end, what it is)


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text with ``[redacted: aws access key]`` where a secret stood, and what each of them was, in order.

    A text without secrets is returned as it is. Redacting twice changes nothing more. What is found: the shapes of
    detect-secrets, further services' keys, private keys, HTTP headers, passwords in URLs and in assignments
    (``password = ...``, "the token is ..."), and card numbers with a right check digit. What looks like a placeholder
    stays, as do hashes, UUIDs and other numbers that nothing names a secret. Time is linear in the text's length.
    """
    found = _apart(_find_secrets(text))
    if not found:
        return text, ()
    found = _apart([*found, *_repetitions(text, found)])
    pieces: list[str] = []
    at = 0
    for start, end, name in found:
        pieces += text[at:start], f"[redacted: {name}]"
        at = end
    return "".join([*pieces, text[at:]]), tuple(name for _, _, name in found)


def redact_by_policy(text: str, policy: Policy) -> str:
    """Return a text as it may be stored: without secrets, unless the policy keeps them."""
    return redact(text)[0] if policy.knowledge.redact else text


def redact_draft(draft: Draft, policy: Policy) -> Draft:
    """Return a draft as it may be stored, which says what was replaced in it.

    Words, tags, source, speaker, metadata and the idempotency key are looked at. Session and task are not: they are
    names by which a caller finds memories again.
    """
    if not policy.knowledge.redact:
        return draft
    text, told = redact(draft.text)
    tags, in_tags = redact_data(draft.tags)
    metadata, inside = redact_data(draft.metadata)
    source, in_source = redact_data(draft.source)
    speaker, in_speaker = redact_data(draft.speaker)
    key = None if draft.key is None else redact_key(draft.key)
    names = (*told, *in_tags, *inside, *in_source, *in_speaker)
    if not names:
        return draft if key == draft.key else replace(draft, key=key)
    return replace(
        draft,
        text=text,
        tags=tuple(dict.fromkeys(tags)),
        metadata=metadata,
        source=source,
        speaker=speaker,
        key=key,
        redacted=(*draft.redacted, *names),
    )


def redact_data(value: Any) -> tuple[Any, tuple[str, ...]]:
    """Return JSON data with the secrets in its texts replaced, keys of mappings too, and what each of them was."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        told: list[str] = []
        pairs: dict[str, Any] = {}
        for key, item in value.items():
            (clean, first), (inside, rest) = redact(key), _redact_value(key, item)
            pairs[clean] = inside
            told += [*first, *rest]
        return pairs, tuple(told)
    if isinstance(value, list | tuple):
        items = [redact_data(item) for item in value]
        return [item for item, _ in items], tuple(name for _, names in items for name in names)
    return value, ()


def redact_key(key: str) -> str:
    """Return a key that is as good as another one but holds no secret: a digest of it where it held one."""
    return f"redacted:{blake2b(key.encode(), digest_size=16).hexdigest()}" if redact(key)[1] else key


def redaction_note(names: Iterable[str]) -> str:
    """Return the sentence that says what was replaced: kinds and counts, never the secrets."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    kinds = ", ".join(f"{n} x {name}" if n > 1 else name for name, n in sorted(counts.items()))
    total = sum(counts.values())
    what = "1 secret was" if total == 1 else f"{total} secrets were"
    return f"{what} replaced before storing ({kinds}); knowledge.redact = false in the policy keeps them."


def _redact_value(key: str, item: Any) -> tuple[Any, tuple[str, ...]]:
    """Redact a value, which its key may show to be a secret: ``{"password": "hunter2"}``."""
    if isinstance(item, str):
        match = ASSIGNED.fullmatch(f"{key}={item}")
        if match is not None and is_value_of(match["name"], match["s"]):
            return f"[redacted: {_assigned_name(match['name'])}]", (_assigned_name(match["name"]),)
    return redact_data(item)


def _find_secrets(text: str) -> list[Found]:
    found = [(start, end, "card number") for start, end in card_numbers(text)]
    clues = _clues(text)
    if clues and "PRIVATE KEY" in text:
        found += [(*m.span(), "private key") for m in KEY_BLOCK.finditer(text)]
    for begin, stop in _regions(text, clues):
        part = text[begin:stop]
        for start, end, name in _in_part(part):
            found.append((begin + start, begin + end, name))
    return found


def _repetitions(text: str, found: Iterable[Found]) -> Iterator[Found]:
    """Yield where what was found stands again, also where nothing tells there that it is a secret."""
    secrets = {text[start:end]: name for start, end, name in found if end - start >= _WHOLE}
    for secret, name in islice(secrets.items(), _MOST_AGAIN):
        at = text.find(secret)
        while at >= 0:
            yield at, at + len(secret), name
            at = text.find(secret, at + len(secret))


def _clues(text: str) -> list[int]:
    """Return where something stands that a secret may be near, in order: looking for words is far faster."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters of other scripts grow
        lower = "".join(c.lower() if c.isascii() else c for c in text)
    found = []
    for clue in CLUES:
        at = lower.find(clue)
        while at >= 0:
            found.append(at)
            at = lower.find(clue, at + len(clue))
    return sorted(found)


def _regions(text: str, clues: Iterable[int]) -> list[tuple[int, int]]:
    """Return the parts of lines that hold a clue, with a little around it; they do not overlap."""
    regions: list[tuple[int, int]] = []
    for clue in clues:
        if regions and clue < regions[-1][1] - _AROUND:  # looked at already
            continue
        begin = max(0, clue - _AROUND)
        start = max(text.rfind("\n", begin, clue) + 1, begin)
        word = _SPACE.search(text, min(len(text), clue + _AROUND))  # a token is never cut
        stop = word.start() if word else len(text)
        line = text.find("\n", clue, stop)
        stop = line if line >= 0 else stop
        if regions and start <= regions[-1][1]:
            regions[-1] = (regions[-1][0], max(stop, regions[-1][1]))
        else:
            regions.append((start, stop))
    return regions


def _in_part(part: str) -> Iterator[Found]:
    for name, shape in (*_library(), *SERVICES):
        covered = 0  # a match inside the last whole one adds nothing, and to follow each to its end is quadratic
        for match in shape.finditer(part):
            if match.end() > covered and (one := _whole(part, match, name)) is not None:
                covered = max(covered, one[1])
                yield one
    for name, shape in HEADERS:
        for match in shape.finditer(part):
            value = match["s"]
            if any(c.isdigit() for c in value) and any(c.isalpha() for c in value) and not is_placeholder(value):
                yield (*match.span("s"), name)
    yield from _assignments(part)


def _assignments(part: str) -> Iterator[Found]:
    at = 0
    while (match := ASSIGNED.search(part, at)) is not None:
        value = match["s"].rstrip(".,!?:*")
        at = max(match.start("s"), match.start() + 1)  # a value may be a name: "password: token=..."
        if not match["after"] and len(value) >= 6 and is_value_of(match["name"], value):  # noqa: PLR2004  # the shape's own
            yield match.start("s"), match.start("s") + len(value), _assigned_name(match["name"])
            at = match.end("s")


def _assigned_name(name: str) -> str:
    lower = name.lower()
    if lower.startswith(("pass", "pwd")):
        return "password"
    if lower.endswith("key"):
        return "api key"
    return "token" if lower.startswith("token") else "secret"


def _whole(part: str, match: re.Match[str], name: str) -> Found | None:
    """Return the secret of a match, to the end of its word; None inside a longer word, or for a placeholder."""
    start, end = match.span()
    if match.re.groups and match[1] and (len(match[1]) >= _WHOLE or name == _BASIC_AUTH):
        start, end = match.span(1)
    if name == _BASIC_AUTH:
        return None if is_placeholder(part[start:end]) else (start, end, name)
    if part[start].isalnum() and start > 0 and part[start - 1].isalnum():
        return None
    rest = _REST.match(part, end)
    return start, rest.end() if rest else end, name


def _apart(found: Iterable[Found]) -> list[Found]:
    """Return finds that do not overlap; of those that do, all that they cover as one, named after the first."""
    merged: list[Found] = []
    for start, end, name in sorted(found, key=lambda f: (f[0], -f[1])):
        if merged and start < merged[-1][1]:
            first = merged[-1]
            merged[-1] = (first[0], max(first[1], end), first[2])
        else:
            merged.append((start, end, name))
    return merged


@cache
def _library() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return (name, shape) of detect-secrets' plugins; imported here, because most texts need none of them.

    Its import sends all of Python's warnings to the log. They are the host program's, and ours: that is put back.
    """
    shows = warnings.showwarning
    try:
        return tuple((_plain(p.secret_type), shape) for p in _plugins() for shape in p.denylist)
    finally:
        if warnings.showwarning is not shows:
            logging.captureWarnings(capture=False)


def _plugins() -> tuple[Any, ...]:
    from detect_secrets.plugins import (  # noqa: PLC0415
        aws,
        azure_storage_key,
        basic_auth,
        discord,
        github_token,
        gitlab_token,
        mailchimp,
        pypi_token,
        sendgrid,
        slack,
        square_oauth,
        stripe,
        telegram_token,
        twilio,
    )

    return (
        aws.AWSKeyDetector(),
        azure_storage_key.AzureStorageKeyDetector(),
        basic_auth.BasicAuthDetector(),
        discord.DiscordBotTokenDetector(),
        github_token.GitHubTokenDetector(),
        gitlab_token.GitLabTokenDetector(),
        mailchimp.MailchimpDetector(),
        pypi_token.PypiTokenDetector(),
        sendgrid.SendGridDetector(),
        slack.SlackDetector(),
        square_oauth.SquareOAuthDetector(),
        stripe.StripeDetector(),
        telegram_token.TelegramBotTokenDetector(),
        twilio.TwilioKeyDetector(),
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9 ]+", " ", name.lower()).strip()
