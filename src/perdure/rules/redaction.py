"""Secrets (keys, tokens, passwords) and personal numbers (cards, IBANs ...) are replaced before anything is stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, TypeVar

from perdure.records.memory import Draft
from perdure.records.policy import Policy
from perdure.rules.personal_numbers import find_personal
from perdure.rules.secret_context import MARK, find_named, name_of_pair
from perdure.rules.secret_phrases import find_placed
from perdure.rules.secret_shapes import Found, find_shapes

T = TypeVar("T")
_MARK: Final = re.compile(r"\[redacted: [^\]\n]{1,60}\]")
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
"""Characters that cut a word in two for a program, but not for a reader."""
_FULL_WIDTH: Final = {
    wide: wide - 0xFEE0 for wide in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
}
_PIN: Final = re.compile(r"(?i)\bpin\b")  # in running text only capitals tell it from a pin
_LAST_MARKS: Final = re.compile(r"!{0,4}")
_SHORTEST: Final = 7  # characters of a name, a sign and a value: ``pw=1234``
_SHORTEST_AGAIN: Final = 8  # characters of a secret that is looked for a second time
_MOST_AGAIN: Final = 50  # so many secrets of a text are


def redact(text: str, *, personal: bool = True) -> tuple[str, tuple[str, ...]]:
    """Return a text with ``[redacted: aws access key]`` where a secret stood, and what each of them was, in order.

    A text without secrets is returned as it is. Redacting twice changes nothing more. What is found: services' keys by
    their shapes, private keys, HTTP headers, passwords in addresses and on command lines, and values that a name in one
    of many languages shows to be secret (``password = ...``, "das Passwort ist ..."). What looks like a placeholder
    stays, as do hashes, UUIDs and other numbers that nothing names a secret. Time is linear in the text's length. With
    ``personal`` numbers of payment cards, bank accounts, social security and words of wallets are secrets, too.
    """
    found = _find_secrets(text, personal=personal) if len(text) >= _SHORTEST else ()
    if not found:
        return text, ()
    found = _merge_overlaps(found)
    found = _with_last_marks(text, _merge_overlaps([*found, *_repetitions(text, found)]))
    pieces: list[str] = []
    at = 0
    for start, end, name in found:
        pieces += text[at:start], f"[redacted: {name}]"
        at = end
    return "".join([*pieces, text[at:]]), tuple(name for _, _, name in found)


def redact_by_policy(value: T, policy: Policy) -> T:
    """Return a text, or JSON data, as it may be stored: without secrets, unless the policy keeps them."""
    if not policy.knowledge.redact:
        return value
    clean: T = redact_data(value, personal=policy.knowledge.redact_personal)[0]
    return clean


def redact_draft(draft: Draft, policy: Policy) -> Draft:
    """Return a draft as it may be stored, which says what was replaced in it.

    Words, tags, source, speaker, metadata and the idempotency key are looked at. Session and task are not: they are
    names by which a caller finds memories again.
    """
    if not policy.knowledge.redact:
        return draft
    personal = policy.knowledge.redact_personal
    text, in_text = redact(draft.text, personal=personal)
    tags, in_tags = redact_data(draft.tags, personal=personal)
    metadata, inside = redact_data(draft.metadata, personal=personal)
    source, in_source = redact_data(draft.source, personal=personal)
    speaker, in_speaker = redact_data(draft.speaker, personal=personal)
    key = None if draft.key is None else redact_key(draft.key, personal=personal)
    names = (*in_text, *in_tags, *inside, *in_source, *in_speaker)
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


def labelled_secrets(label: Sequence[str], value: str, policy: Policy) -> dict[str, str]:
    """Return the secrets of a value that its label shows, such as ``("wifi", "password")``, and what each is."""
    if not policy.knowledge.redact:
        return {}
    named = [_PIN.sub("PIN", words) for words in label]
    for head in (f"{': '.join(named)}: ", f"{' '.join(named)}: "):
        found = _merge_overlaps(_find_secrets(head + value, personal=policy.knowledge.redact_personal))
        inside = {(head + value)[start:end]: name for start, end, name in found if start >= len(head)}
        if inside:
            return inside
    return {}


def secrets_in(text: str, policy: Policy) -> dict[str, str]:
    """Return the longer secrets of a text, and what each is: what comes with the text may hold them, too."""
    if not policy.knowledge.redact:
        return {}
    found = _merge_overlaps(_find_secrets(text, personal=policy.knowledge.redact_personal))
    return {text[start:end]: name for start, end, name in found if end - start >= _SHORTEST_AGAIN}


def redact_with(text: str, secrets: Mapping[str, str], policy: Policy) -> tuple[str, tuple[str, ...]]:
    """Return a text as it may be stored, without known secrets either, and what was replaced.

    ``secrets`` are known, as ``labelled_secrets`` finds them; they are replaced where they stand alone, a password with
    the exclamation marks after it.
    """
    names: list[str] = []
    for secret in sorted(secrets, key=len, reverse=True):
        if secret in text:
            name = secrets[secret]
            marks = _LAST_MARKS.pattern if name == "password" else ""
            text, times = re.subn(rf"(?<!\w){re.escape(secret)}(?!\w){marks}", f"[redacted: {name}]", text)
            names += [name] * times
    if not policy.knowledge.redact:
        return text, ()
    clean, found = redact(text, personal=policy.knowledge.redact_personal)
    return clean, (*names, *found)


def redact_data(value: Any, *, personal: bool = True) -> tuple[Any, tuple[str, ...]]:
    """Return JSON data with the secrets in its texts replaced, keys of mappings too, and what each of them was."""
    if not value:  # as most labels are
        return value, ()
    if isinstance(value, str):
        return redact(value, personal=personal)
    if isinstance(value, Mapping):
        kinds: list[str] = []
        pairs: dict[str, Any] = {}
        for key, item in value.items():
            (clean, first), (inside, rest) = redact(key, personal=personal), _redact_value(key, item, personal=personal)
            pairs[clean] = inside
            kinds += [*first, *rest]
        return pairs, tuple(kinds)
    if isinstance(value, list | tuple):
        items = [redact_data(item, personal=personal) for item in value]
        return [item for item, _ in items], tuple(name for _, names in items for name in names)
    return value, ()


def redact_key(key: str, *, personal: bool = True) -> str:
    """Return a key that is as good as another one but holds no secret: a digest of it where it held one."""
    secrets = redact(key, personal=personal)[1]
    return f"redacted:{blake2b(key.encode(), digest_size=16).hexdigest()}" if secrets else key


def redaction_note(names: Iterable[str]) -> str:
    """Return the sentence that says what was replaced: kinds and counts, never the secrets."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    kinds = ", ".join(f"{n} x {name}" if n > 1 else name for name, n in sorted(counts.items()))
    total = sum(counts.values())
    secrets = "1 secret was" if total == 1 else f"{total} secrets were"
    return f"{secrets} replaced before storing ({kinds}); knowledge.redact = false in the policy keeps them."


def _redact_value(key: str, item: Any, *, personal: bool) -> tuple[Any, tuple[str, ...]]:
    """Redact a value, which its key may show to be a secret: ``{"password": "hunter2"}``."""
    if isinstance(item, str) and (name := name_of_pair(key, item)) is not None:
        return f"[redacted: {name}]", (name,)
    return redact_data(item, personal=personal)


def _find_secrets(text: str, *, personal: bool) -> list[Found]:
    """Return what is found in a text as it is read: without invisible characters, full-width letters as plain ones."""
    marked = _MARK.sub(lambda m: MARK * len(m[0]), text) if "[redacted: " in text else text
    visible, places = (marked, []) if marked.isascii() else _visible(marked.translate(_FULL_WIDTH))
    lower = _lower(visible)
    found = [*find_shapes(visible, lower), *find_placed(visible, lower), *find_named(visible, lower)]
    if personal:
        found += find_personal(visible, lower)
    if not places:
        return found
    return [(places[start], places[end - 1] + 1, name) for start, end, name in found]


def _visible(text: str) -> tuple[str, list[int]]:
    """Return a text without invisible characters, and where each of its characters stood; no places if it had none."""
    if _INVISIBLE.search(text) is None:
        return text, []
    places = [n for n, c in enumerate(text) if not _INVISIBLE.match(c)]
    return "".join(text[n] for n in places), places


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)  # a few letters of other scripts grow


def _repetitions(text: str, found: Iterable[Found]) -> Iterator[Found]:
    """Yield where what was found stands again, also where nothing tells there that it is a secret."""
    secrets = {text[start:end]: name for start, end, name in found if end - start >= _SHORTEST_AGAIN}
    for secret, name in islice(secrets.items(), _MOST_AGAIN):
        at = text.find(secret)
        while at >= 0:
            yield at, at + len(secret), name
            at = text.find(secret, at + len(secret))


def _with_last_marks(text: str, found: Iterable[Found]) -> list[Found]:
    """Return finds with the exclamation marks after a password: they may be its last signs, and are no loss if not."""
    return [
        (start, end + len(_LAST_MARKS.match(text, end)[0]) if name == "password" else end, name)  # type: ignore[index]
        for start, end, name in found
    ]


def _merge_overlaps(found: Iterable[Found]) -> list[Found]:
    """Return finds that do not overlap; of those that do, all that they cover as one, named after the first."""
    merged: list[Found] = []
    for start, end, name in sorted(found, key=lambda f: (f[0], -f[1])):
        if merged and start < merged[-1][1]:
            first = merged[-1]
            merged[-1] = (first[0], max(first[1], end), first[2])
        else:
            merged.append((start, end, name))
    return merged
