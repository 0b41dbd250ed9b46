"""The door for questions: filters, limits and ids are checked before anything is searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any, Final

from perdure.records.errors import InvalidInput
from perdure.records.instant import Instant, text_of, to_instant
from perdure.records.memory import Kind, Scope
from perdure.records.plan import Plan
from perdure.records.policy import Policy
from perdure.records.recall import Filters
from perdure.records.wording import parameter_name, shown_value, term
from perdure.rules.validation.identifiers import check_plan_ids
from perdure.rules.validation.inputs import checked_tags
from perdure.rules.validation.rows import RowChecks
from perdure.rules.validation.values import IN_RANGE

_FILTERS: Final = tuple(field.name for field in fields(Filters))


def token_budget(value: Any, policy: Policy) -> int:
    """Return the tokens that recall may return: as given, else the policy's."""
    tokens = policy.compression.visible_tokens or None if value is None else value
    if tokens is None:
        raise InvalidInput(
            "There is no token budget.",
            remedy=f"Pass {parameter_name('tokens')}, or set the policy's compression.visible_tokens.",
        )
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
        raise InvalidInput(
            f"{parameter_name('tokens')} must be a whole number of at least 1, not {shown_value(tokens)}.",
            remedy=IN_RANGE,
        )
    return tokens


def plan(value: Any, policy: Policy, now: Instant) -> Plan:
    """Return a plan whose ids are some, and whose changes write no row that an interface refuses."""
    if isinstance(value, Plan):
        check_plan_ids(value)
        checks = RowChecks(policy, now)
        for change in value.changes:
            checks.check_change(change)
        return value
    raise InvalidInput(f"plan must be {term('plan')}.", remedy="Pass one of the plans that a dry run returned.")


def filters(policy: Policy, arguments: Mapping[str, Any]) -> Filters:
    """Return the filters among the checked arguments of a verb, which may have others too."""
    read: dict[str, Callable[[Any], Any]] = {
        "kinds": lambda kinds: tuple(map(Kind, kinds)),
        "scopes": lambda scopes: tuple(map(Scope, scopes)),
        "tags": lambda tags: checked_tags(tags, policy),
        **{name: partial(to_instant, name=name) for name in ("since", "until", "as_of", "known_at")},
    }
    names = [name for name in _FILTERS if arguments.get(name) is not None]
    found = Filters(isolated=True, **{name: read.get(name, _identity)(arguments[name]) for name in names})
    if found.since is not None and found.until is not None and found.since > found.until:
        raise InvalidInput(
            f"{parameter_name('since')} ({text_of(found.since)}) is later than "
            f"{parameter_name('until')} ({text_of(found.until)}).",
            remedy="Nothing lies between them: exchange them, or leave one out.",
        )
    return found


def _identity(value: Any) -> Any:
    return value
