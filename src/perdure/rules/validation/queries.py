"""The door for questions: filters, limits and ids are checked before anything is searched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from perdure.records.errors import InvalidInput
from perdure.records.instant import to_instant
from perdure.records.memory import Kind, Scope
from perdure.records.plan import Plan
from perdure.records.policy import Policy
from perdure.records.recall import Filters
from perdure.rules.validation.identifiers import check_plan_ids
from perdure.rules.validation.inputs import checked_tags
from perdure.rules.validation.values import (
    checked_choice,
    checked_share,
    optional_text,
)


def token_budget(value: Any, policy: Policy) -> int:
    """Return the tokens that recall may return: as given, else the policy's."""
    tokens = policy.compression.visible_tokens or None if value is None else value
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
        raise InvalidInput(
            f"tokens must be a whole number of at least 1, not {tokens!r}.",
            remedy="Give a number, or set compression.visible_tokens in the policy.",
        )
    return tokens


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
