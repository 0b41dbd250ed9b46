"""Facts by the people and things that they are about: when each was true, and when it was believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from markupsafe import Markup

from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest
from perdure.interfaces.pages.plots import AxisPart, period_plot
from perdure.interfaces.views.knowledge import period_text, state_name, true_period
from perdure.knowledge.records.results import FactLine
from perdure.records.instant import read_text

_ENTITIES: Final = 100
_FACTS: Final = 100
_BELIEVED_STATES: Final = frozenset({"active", "aging"})
_AT_LEAST: Final = 86_400.0  # seconds that a timeline spans


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One fact of a timeline."""

    fact: FactLine
    true: str  # when it was true, in words
    believed: str  # when it was believed, in words
    state: str  # what became of it
    is_believed: bool
    plot: Markup  # both, on the axis of time that all rows share


def facts(request: PageRequest) -> Answer:
    """Show the entities and what contradicts itself; of one entity everything that was believed."""
    entity = request.query.get("entity", "").strip()
    if entity:
        return _entity_page(request, entity)
    namespace = request.namespace
    found = request.memory.facts(namespace=namespace, limit=_FACTS)
    values = {
        "entities": request.memory.entities(namespace, limit=_ENTITIES),
        "conflicts": conflicts(found),
        "found": found,
        "hint": "" if found else request.memory.facts_hint,
    }
    return HtmlPage("facts", "Facts", values)


def conflicts(found: Sequence[FactLine]) -> list[list[FactLine]]:
    """Return the facts that contradict each other, each conflict once with all of its sides."""
    known, seen = {f.id: f for f in found}, set[str]()
    groups: list[list[FactLine]] = []
    for fact in found:
        if fact.contested and fact.id not in seen:
            sides = [fact, *(known[i] for i in fact.contested if i in known)]
            seen.update(side.id for side in sides)
            groups.append(sides)
    return groups


def _entity_page(request: PageRequest, name: str) -> Answer:
    timeline = request.memory.timeline(name, namespace=request.namespace)
    now = request.memory.now
    begins = [moment(f.valid_from) for f in timeline.facts] + [moment(f.believed_from) for f in timeline.facts]
    first = min((at for at in begins if at), default=now)
    values = {
        "timeline": timeline,
        "rows": [_row(f, first, now) for f in reversed(timeline.facts)],
        "first": first,
        "now": now,
        "conflicts": conflicts([f for f in timeline.facts if f.state in _BELIEVED_STATES]),
        "entity": request.memory.entity(timeline.entity, namespace=request.namespace),
    }
    return HtmlPage("entity", timeline.name, values)


def _row(fact: FactLine, first: datetime, now: datetime) -> TimelineRow:
    span = max((now - first).total_seconds(), _AT_LEAST)

    def share(text: str, open_end: float) -> float:
        at = moment(text)
        return open_end if at is None else (at - first).total_seconds() / span

    true = AxisPart(share(fact.valid_from, 0.0), share(fact.valid_to, 1.0))
    believed = AxisPart(share(fact.believed_from, 0.0), share(fact.believed_to, 1.0))
    words = true_period(fact), period_text(fact.believed_from, fact.believed_to)
    label = f"True {words[0]}, believed {words[1]}"
    return TimelineRow(
        fact, *words, state_name(fact.state), fact.state in _BELIEVED_STATES, period_plot(true, believed, label)
    )


def moment(text: str) -> datetime | None:
    """Return an instant that a result tells as text, such as ``2026-11-21 09:30 UTC``; None where it is open."""
    return read_text(text) if text else None
