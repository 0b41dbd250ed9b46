"""The door: what may be remembered, and what is refused with a reason. Nothing is half done."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sized
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

from perdure.records.errors import InvalidInput, given
from perdure.records.instant import Instant, text_of, to_instant
from perdure.records.memory import Kind, Scope
from perdure.records.new_memory import Draft
from perdure.records.policy import Policy
from perdure.records.trust import Trust
from perdure.rules.redaction import cleaned, without_secrets
from perdure.rules.source_trust import least, takes_over, trust_in, trust_of, with_trust

NAMESPACE: Final = re.compile(r"\w[\w.@:+ -]*(/\w[\w.@:+ -]*)*", re.UNICODE)
_LONGEST_NAME: Final = 200
_LONGEST_LABEL: Final = 1000
_Choice = TypeVar("_Choice", bound=StrEnum)


def checked_namespace(namespace: Any) -> str:
    """Return a namespace: 1 to 200 letters, digits, ``. _ - @ : +`` and spaces, in parts divided by ``/``."""
    text = checked_text(namespace, "namespace", longest=_LONGEST_NAME)
    if not NAMESPACE.fullmatch(text):
        raise InvalidInput(
            f"The namespace {text!r} is not allowed.",
            remedy="Use letters, digits, . _ - @ : + in parts divided by /; each part starts with a letter or digit.",
        )
    return text


def checked_text(value: Any, name: str, *, longest: int) -> str:
    """Return text that every store can hold: not empty, no NUL, no lone surrogate, not too long (in characters)."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__}.", remedy="Pass a str.")
    if not value.strip():
        raise InvalidInput(f"{name} is empty.", remedy="Give it some text.")
    if "\x00" in value:
        raise InvalidInput(
            f"{name} holds a NUL character.", remedy="Remove it, for example with text.replace('\\0', '')."
        )
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{name} holds a lone surrogate at position {error.start}: it is no valid Unicode.",
            remedy="Decode the source with errors='replace'.",
        ) from None
    if len(value) > longest:
        raise InvalidInput(f"{name} has {len(value):,} characters; {longest:,} are allowed.", remedy="Shorten it.")
    return value


def optional_text(value: Any, name: str) -> str | None:
    """Return a label such as a source or a session; None stays None."""
    return None if value is None else checked_text(value, name, longest=_LONGEST_LABEL)


def checked_texts(values: Any, name: str, *, longest: int = 200) -> list[str]:
    """Return texts, each once, in order; a single text is refused as a list.

    Raises:
        InvalidInput: It is no list of texts.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name} must be a list of texts.", remedy="Pass for example ['one'].")
    return list(dict.fromkeys(checked_text(value, f"each of {name}", longest=longest) for value in values))


def checked_share(value: Any, name: str) -> float:
    """Return a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # NaN is not
        raise InvalidInput(
            f"{name} must be a number from 0 to 1, not {given(value)}.", remedy="Scale it to that range."
        )
    return float(value)


def checked_choice(value: Any, choices: type[_Choice], name: str) -> _Choice:
    """Return a member of an enumeration, given as itself or as its text."""
    try:
        return choices(value)
    except ValueError:
        listed = ", ".join(c.value for c in choices)
        raise InvalidInput(f"{name} must be one of {listed}, not {given(value)}.", remedy="Pick one of them.") from None


def checked_tags(tags: Any, policy: Policy) -> tuple[str, ...]:
    """Return tags, each once, in order."""
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise InvalidInput("tags must be a list of texts.", remedy="Pass for example ['project', 'decision'].")
    unique = tuple(dict.fromkeys(checked_text(t, "a tag", longest=policy.limits.tag_length) for t in tags))
    if len(unique) > policy.limits.tags:
        raise InvalidInput(
            f"{len(unique):,} tags were given; {policy.limits.tags} are allowed.", remedy="Put the rest into metadata."
        )
    return unique


def checked_at(at: datetime | None, policy: Policy, now: Instant) -> Instant:
    """Return when it happened: now if not given; the future is refused."""
    if at is None:
        return now
    instant = to_instant(at)
    if instant > now + policy.limits.future_seconds * 1000:
        raise InvalidInput(
            f"at lies in the future ({text_of(instant)}; it is {text_of(now)}).",
            remedy="Check the time zone and the clock; a memory is of something that has happened.",
        )
    return min(instant, now)


def checked_metadata(metadata: Any, policy: Policy) -> dict[str, Any]:
    """Return metadata that survives JSON unchanged."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise InvalidInput("metadata must be a mapping.", remedy="Pass a dict of JSON values.")
    try:
        _check_json(metadata)
        text = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
        size = len(text.encode("utf-8"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"metadata is no plain JSON data ({error}).", remedy="Use text, finite numbers, lists and dicts."
        ) from None
    if size > policy.limits.metadata_bytes:
        raise InvalidInput(
            f"metadata has {size:,} bytes; {policy.limits.metadata_bytes:,} are allowed.",
            remedy="Keep large data elsewhere and store a reference.",
        )
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _check_json(value: Any) -> None:
    """Refuse what JSON would change without a word: keys that are no text, and what no store can hold."""
    if isinstance(value, str) and "\x00" in value:
        raise ValueError("a text holds a NUL character")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is no text")
            _check_json(key)
            _check_json(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_json(item)


def draft(
    content: Any,
    *,
    policy: Policy,
    now: Instant,
    kind: Any = "note",
    tags: Any = (),
    importance: Any = 0.5,
    confidence: Any = None,
    source: Any = None,
    speaker: Any = None,
    session: Any = None,
    task: Any = None,
    metadata: Any = None,
    at: datetime | None = None,
    pinned: Any = False,
    idempotency_key: Any = None,
    scope: Any = None,
    turn: int | None = None,
    message: bool = False,
) -> Draft:
    """Return a checked draft of what a caller gave to ``remember``.

    Raises:
        InvalidInput: One of the values is refused; the text says which and what to do.
    """
    text = _checked_content(content, policy)
    if not isinstance(pinned, bool):
        raise InvalidInput("pinned must be True or False.", remedy="Pass a bool.")
    chosen = checked_choice(kind, Kind, "kind")
    lived = _scope(session, task) if scope is None else checked_choice(scope, Scope, "scope")
    made = Draft(
        text=text,
        kind=chosen,
        scope=lived,
        importance=checked_share(importance, "importance"),
        confidence=_birth_confidence(chosen, policy) if confidence is None else checked_share(confidence, "confidence"),
        at=checked_at(at, policy, now),
        tags=checked_tags(tags, policy),
        source=optional_text(source, "source"),
        speaker=optional_text(speaker, "speaker"),
        session=optional_text(session, "session"),
        task=optional_text(task, "task"),
        turn=turn,
        metadata=_with_trust(checked_metadata(metadata, policy), source, text),
        pinned=pinned,
        key=optional_text(idempotency_key, "idempotency_key"),
        message=message,
    )
    return without_secrets(made, policy)


def checked_reason(value: Any, policy: Policy, name: str = "reason") -> str:
    """Return a person's reason as the journal keeps it: 1 to 1,000 characters, without secrets."""
    return cleaned(checked_text(value, name, longest=_LONGEST_LABEL), policy)


def optional_reason(value: Any, policy: Policy, name: str = "accept_loss") -> str | None:
    """Return a person's reason to accept a loss as the journal keeps it; None stays None."""
    return None if value is None else checked_reason(value, policy, name)


def _with_trust(metadata: Mapping[str, Any], source: str | None, text: str) -> dict[str, Any]:
    """Return metadata with the trust that they, the source and the words tell, the lowest of them."""
    words = Trust.EXTERNAL if takes_over(text) else Trust.USER
    told = source or words is not Trust.USER
    return (
        with_trust(metadata, least((trust_in(metadata), trust_of("user", source), words))) if told else dict(metadata)
    )


def _checked_content(content: Any, policy: Policy) -> str:
    most = policy.limits.content_bytes
    text = checked_text(content, "content", longest=most)
    if (size := len(text.encode("utf-8"))) > most:
        raise InvalidInput(
            f"content has {size:,} bytes; {most:,} are allowed.", remedy="Split it into several memories."
        )
    return text


def _scope(session: Any, task: Any) -> Scope:
    if task is not None:
        return Scope.TASK
    return Scope.LONG_TERM if session is None else Scope.SESSION


def _birth_confidence(kind: Kind, policy: Policy) -> float:
    by_kind = {
        Kind.NOTE: policy.confidence.note,
        Kind.EPISODE: policy.confidence.episode,
        Kind.FACT: policy.confidence.fact,
    }
    return by_kind.get(kind, policy.confidence.other)


def _check_arguments(given: Mapping[str, Any]) -> None:
    if unknown := set(given) - _ARGUMENTS:
        raise InvalidInput(
            f"There is no argument {', '.join(sorted(map(repr, unknown)))}.",
            remedy=f"The arguments are {', '.join(sorted(_ARGUMENTS))}.",
        )


def drafts(items: Any, *, policy: Policy, now: Instant) -> list[Draft]:
    """Return checked drafts of several items: texts, or mappings of the arguments of ``remember``.

    Raises:
        InvalidInput: An item is refused; the text says which one.
    """
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput("items must be a list.", remedy="Pass a list of texts or dicts.")
    found = []
    for position, item in enumerate(items, 1):
        given: dict[str, Any] = dict(item) if isinstance(item, Mapping) else {"content": item}
        try:
            _check_arguments(given)
            found.append(draft(given.pop("content", None), policy=policy, now=now, **given))
        except InvalidInput as error:
            where = f"Item {position}: " if isinstance(items, Sized) and len(items) > 1 else ""
            raise InvalidInput(f"{where}{error.message}", remedy=error.remedy) from error
    return found


_ARGUMENTS: Final = frozenset(
    {
        "content",
        "kind",
        "tags",
        "importance",
        "confidence",
        "source",
        "speaker",
        "session",
        "task",
        "metadata",
        "at",
        "pinned",
        "idempotency_key",
    }
)
