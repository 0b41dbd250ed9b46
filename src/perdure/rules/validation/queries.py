"""The door for questions: filters, limits and ids are checked before anything is searched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from perdure.records.errors import InvalidInput, given
from perdure.records.instant import to_instant
from perdure.records.memory import Kind, MemoryItem, Scope
from perdure.records.plan import Plan
from perdure.records.policy import Policy
from perdure.records.recall import Filters
from perdure.rules.lifecycle.digest import PROFILES
from perdure.rules.validation.identifiers import check_plan_ids
from perdure.rules.validation.inputs import checked_tags
from perdure.rules.validation.values import (
    checked_choice,
    checked_id,
    checked_share,
    checked_text,
    optional_text,
)

_LONGEST_QUESTION = 10_000
_LONGEST_FORECAST = 36_525
_MOST = 1000


def question(query: Any) -> str:
    """Return a question that can be searched."""
    return checked_text(query, "query", longest=_LONGEST_QUESTION)


def identity(value: Any) -> str:
    """Return an id."""
    return checked_id(value)


def limit(value: Any) -> int:
    """Return how many answers are wanted, 1 to 1000."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
        raise InvalidInput(
            f"limit must be a whole number from 1 to {_MOST}, not {given(value)}.",
            remedy="Give a number in that range.",
        )
    return value


def days(value: Any) -> float:
    """Return a number of days, 0 to a hundred years."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LONGEST_FORECAST:
        raise InvalidInput(
            f"days must be a number from 0 to {_LONGEST_FORECAST}.", remedy="Give a number in that range."
        )
    return float(value)


def budget(value: Any) -> int | None:
    """Return a token budget, 50 or more."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 50:  # noqa: PLR2004  # room for the frame
        raise InvalidInput(
            f"budget_tokens must be a whole number of at least 50, not {given(value)}.", remedy="Try 2000."
        )
    return value


def token_budget(value: Any, policy: Policy) -> int:
    """Return the tokens that recall may return: as given, else the policy's."""
    tokens = policy.compression.visible_tokens or None if value is None else value
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
        raise InvalidInput(
            f"tokens must be a whole number of at least 1, not {tokens!r}.",
            remedy="Give a number, or set compression.visible_tokens in the policy.",
        )
    return tokens


def profile(value: Any) -> str | None:
    """Return the name of a digest profile."""
    if value is None:
        return None
    if isinstance(value, str) and value in PROFILES:
        return value
    raise InvalidInput(
        f"profile must be one of {', '.join(PROFILES)}, not {given(value)}.", remedy="Choose one of them."
    )


def when(value: Any) -> Literal["now", "later"]:
    """Return when vectors are made."""
    if value == "now":
        return "now"
    if value == "later":
        return "later"
    raise InvalidInput(f"embed must be 'now' or 'later', not {given(value)}.", remedy="Choose one of them.")


def page(value: Any) -> MemoryItem | None:
    """Return the last memory of the page before."""
    if value is None or isinstance(value, MemoryItem):
        return value
    raise InvalidInput("before must be a memory item.", remedy="Pass the last memory that list returned.")


def plan(value: Any) -> Plan:
    """Return a plan."""
    if isinstance(value, Plan):
        check_plan_ids(value)
        return value
    raise InvalidInput("plan must be a Plan.", remedy="Pass one of the plans that a dry run returned.")


def filters(
    *,
    policy: Policy,
    kinds: Sequence[str] = (),
    scopes: Sequence[str] = (),
    tags: Sequence[str] = (),
    session: str | None = None,
    entity: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    min_confidence: float = 0.0,
    min_relevance: float = 0.0,
    include_archived: bool = False,
    inside: str | None = None,
) -> Filters:
    """Return checked filters.

    Raises:
        InvalidInput: One of them is refused.
    """
    if not isinstance(kinds, list | tuple) or not isinstance(scopes, list | tuple):
        raise InvalidInput("kinds and scopes must be lists.", remedy="Pass for example kinds=['note'].")
    return Filters(
        kinds=tuple(checked_choice(k, Kind, "kinds") for k in kinds),
        scopes=tuple(checked_choice(s, Scope, "scopes") for s in scopes),
        tags=checked_tags(tags, policy),
        session=optional_text(session, "session"),
        entity=optional_text(entity, "entity"),
        since=None if since is None else to_instant(since, name="since"),
        until=None if until is None else to_instant(until, name="until"),
        as_of=None if as_of is None else to_instant(as_of, name="as_of"),
        known_at=None if known_at is None else to_instant(known_at, name="known_at"),
        min_confidence=checked_share(min_confidence, "min_confidence"),
        min_relevance=checked_share(min_relevance, "min_relevance"),
        include_archived=bool(include_archived),
        isolated=True,
        inside=optional_text(inside, "inside"),
    )
