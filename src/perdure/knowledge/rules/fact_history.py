"""Facts as they were: what was true at another time, as far as is known, and what was believed at another time."""

from __future__ import annotations

from dataclasses import replace

from perdure.knowledge.records.facts import Fact
from perdure.knowledge.records.results import FactLine
from perdure.knowledge.rules.fact_states import FactState
from perdure.records.memory import State, Status
from perdure.records.recall import Filters
from perdure.rules.point_in_time import believed_until

BELIEVED = (FactState.ACTIVE.value, FactState.AGING.value)


def fact_at(line: FactLine, fact: Fact, state: State, filters: Filters) -> tuple[FactLine, bool] | None:
    """Return a fact as it looks from another time and whether it holds there; None where there was no such fact.

    How sure it is stays as of today, and nobody is asked whether it is still right.

    Args:
        line: The fact as it is now.
        fact: What it says.
        state: Its memory's state.
        filters: ``as_of`` asks what was true then (a fact that was replaced later held until then, one that was denied
            never did), ``known_at`` what was believed then: nothing that was learned later is told.
    """
    if not filters.looks_back:
        return line, line.state in BELIEVED
    then = filters.known_at
    if then is not None and state.recorded_ms > then:
        return None
    until = believed_until(fact, state)
    hidden = state.status_ms if until is None else until
    believed = state.status is Status.ACTIVE or (then is not None and hidden > then)
    shown = replace(line, question="", state=FactState.ACTIVE.value if believed else line.state)
    if believed and state.status is not Status.ACTIVE:  # nobody knew then that it would end
        shown = replace(shown, valid_to="", believed_to="", superseded_by=())
    if filters.as_of is None:
        return shown, believed and not (until is None and then is not None and fact.has_ended(then))
    if (state.created_ms if fact.valid_from is None else fact.valid_from) > filters.as_of:
        return None
    end = None if believed and until is not None else fact.valid_to
    return shown, (believed or state.status is not Status.INVALIDATED) and (end is None or filters.as_of < end)
