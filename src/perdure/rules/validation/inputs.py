"""The door: what may be remembered, and what is refused with a reason. Nothing is half done."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Sized
from datetime import datetime
from typing import Any, Final

from perdure.records.errors import InvalidInput
from perdure.records.instant import Instant, text_of, to_instant
from perdure.records.maker import maker_of
from perdure.records.memory import Draft, Kind, Scope, Sort, Trust
from perdure.records.outcome import GivenClaim
from perdure.records.policy import Policy
from perdure.records.wording import Term, parameter_name, shown_value, term, type_name
from perdure.rules.insertion import first_confidence
from perdure.rules.redaction import redact_draft
from perdure.rules.secret_screen import may_hold_secrets, together
from perdure.rules.source_trust import least_trust, stored_trust, takes_over, trust_of, with_trust
from perdure.rules.validation.fact_claims import EXAMPLE, parsed_claims
from perdure.rules.validation.refusals import Refusals
from perdure.rules.validation.values import (
    ONE_OF_THEM,
    checked_choice,
    checked_json,
    checked_share,
    checked_text,
    optional_text,
    parsed_time,
)

SaidFacts = tuple[tuple[GivenClaim, ...], float | None]
"""The facts that a draft says, and how sure the caller is; None for what a fact has by itself."""
ARGUMENTS: Final = frozenset(
    {*("content", "facts", "kind", "tags", "importance", "confidence", "pinned", "metadata", "idempotency_key")}
    | {"source", "speaker", "session", "task", "at"}
)
"""Keys of an item to remember."""
_draft: Final = maker_of(Draft)


def _of_another_type(name: str, wanted: Term, value: Any) -> InvalidInput:
    told = f"{parameter_name(name)} must be {term(wanted)}, not {type_name(value)}."
    return InvalidInput(told, remedy=f"Pass {term(wanted)}.")


def checked_tags(tags: Any, policy: Policy) -> tuple[str, ...]:
    """Return tags, each once, in order."""
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise _of_another_type("tags", "texts", tags)
    unique = tuple(dict.fromkeys(checked_text(t, "a tag", longest=policy.limits.tag_length) for t in tags))
    if len(unique) > policy.limits.tags:
        raise InvalidInput(
            f"{len(unique):,} tags were given; {policy.limits.tags} are allowed.",
            remedy="Put the others into metadata.",
        )
    return unique


def checked_at(at: datetime | None, policy: Policy, now: Instant) -> Instant:
    """Return when it happened: now if not given; the future is refused."""
    if at is None:
        return now
    instant = to_instant(at)
    if instant > now + policy.limits.future_seconds * 1000:
        raise InvalidInput(
            f"at is in the future ({text_of(instant)}; it is {text_of(now)}).",
            remedy="Check the time zone and the clock; only past events can be stored.",
        )
    return min(instant, now)


def checked_metadata(metadata: Any, policy: Policy) -> dict[str, Any]:
    """Return metadata that survives JSON unchanged."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise _of_another_type("metadata", "object", metadata)
    plain = checked_json(metadata, "metadata")
    if (size := len(plain)) > policy.limits.metadata_bytes:
        raise InvalidInput(
            f"metadata has {size:,} bytes; {policy.limits.metadata_bytes:,} are allowed.",
            remedy="Keep large data elsewhere and store a reference.",
        )
    loaded: dict[str, Any] = json.loads(plain)
    return loaded


def check_draft(
    content: Any,
    *,
    policy: Policy,
    now: Instant,
    kind: Any = "note",
    tags: Any = (),
    importance: Any = None,
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
    with_secrets: bool = False,
) -> Draft:
    """Return a checked draft of what a caller gave to ``remember``; ``with_secrets`` leaves them for later."""
    text = checked_content(content, policy)
    _check_pinned(pinned)
    chosen = checked_choice(kind, Kind, "kind")
    lived = _scope(session, task) if scope is None else checked_choice(scope, Scope, "scope")
    draft = _draft(
        text=text,
        kind=chosen,
        scope=lived,
        importance=policy.worth.note if importance is None else checked_share(importance, "importance"),
        confidence=first_confidence(chosen, policy) if confidence is None else checked_share(confidence, "confidence"),
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
        redacted=(),
        sort=Sort.ATTRIBUTE,
        worth="a note" if importance is None else "given",
    )
    return draft if with_secrets else redact_draft(draft, policy)


def _check_pinned(pinned: Any) -> None:
    if not isinstance(pinned, bool):
        told = f"{parameter_name('pinned')} must be {term('true or false')}, not {shown_value(pinned)}."
        raise InvalidInput(told, remedy=ONE_OF_THEM)


def _with_trust(metadata: Mapping[str, Any], source: str | None, text: str) -> dict[str, Any]:
    """Return metadata with the trust that they, the source and the words tell, the lowest of them."""
    words = Trust.EXTERNAL if takes_over(text) else Trust.USER
    if not source and words is Trust.USER:
        return dict(metadata)
    return with_trust(metadata, least_trust((stored_trust(metadata), trust_of("user", source), words)))


def checked_content(content: Any, policy: Policy) -> str:
    """Return the text of a memory."""
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


def _check_arguments(arguments: Mapping[str, Any]) -> None:
    if unknown := arguments.keys() - ARGUMENTS:
        raise InvalidInput(
            f"Unknown argument: {', '.join(sorted(map(repr, unknown)))}.",
            remedy=f"The arguments are {', '.join(sorted(ARGUMENTS))}.",
        )


def drafts_with_facts(items: Any, *, policy: Policy, now: Instant) -> tuple[list[Draft], dict[int, SaidFacts]]:
    """Return checked drafts of several items, and the facts that they say by the place of the draft, from 0.

    An item is a text, or a mapping of the arguments of ``remember``; its time may be a text, as in JSON. One of kind
    ``fact`` becomes a note that says facts.
    """
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise _of_another_type("items", "items", items)
    found: list[Draft] = []
    by_draft: dict[int, SaidFacts] = {}
    refusals = Refusals()
    for position, item in enumerate(items, 1):
        arguments: dict[str, Any] = dict(item) if isinstance(item, Mapping) else {"content": item}
        try:
            _check_arguments(arguments)
            content, facts = arguments.pop("content", None), arguments.pop("facts", ())
            claims: tuple[GivenClaim, ...] = ()
            if facts:
                claims, clean = parsed_claims(facts, _words(content), policy=policy, now=now)
                content = clean if isinstance(content, str) else content
            if arguments.get("kind") == Kind.FACT:
                _check_says_facts(claims)
                arguments["kind"] = Kind.NOTE
            if isinstance(at := arguments.get("at"), str):
                arguments["at"] = parsed_time(at, "at")
            checked = check_draft(content, policy=policy, now=now, with_secrets=True, **arguments)
            if claims:
                by_draft[len(found)] = claims, None if arguments.get("confidence") is None else checked.confidence
            found.append(checked)
        except InvalidInput as error:
            where = f"Item {position}: " if isinstance(items, Sized) and len(items) > 1 else ""
            refusals.add(error, where)
    refusals.check()
    return _redacted(found, policy), by_draft


def _redacted(drafts: Sequence[Draft], policy: Policy) -> list[Draft]:
    """Return drafts without the secrets that they held."""
    suspects = may_hold_secrets([together(_labels_and_text(draft)) for draft in drafts])
    return [
        redact_draft(draft, policy) if suspect or draft.metadata else draft
        for draft, suspect in zip(drafts, suspects, strict=True)
    ]


def _labels_and_text(draft: Draft) -> Iterable[str]:
    return filter(None, (draft.text, *draft.tags, draft.source, draft.speaker, draft.key))


def _words(content: Any) -> str:
    return content if isinstance(content, str) else ""


def _check_says_facts(claims: tuple[GivenClaim, ...]) -> None:
    if not claims:
        raise InvalidInput("A memory of kind fact needs facts that say what it is about.", remedy=f"Pass {EXAMPLE}.")
