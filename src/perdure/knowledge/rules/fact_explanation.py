"""Why a fact is believed or not, out of its documents and the journal; and what will happen to it, and when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo
from typing import Final

from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.fact_records import (
    NOTED,
    UNTIL_THEN,
    UPCOMING,
    FactState,
    describe_origin,
    state_of,
    word_of,
)
from perdure.records.instant import DAY_MS, Instant, text_of, zone_text
from perdure.records.memory import Document, Kind, MemoryItem, Record, State, Status, Tier, Trust
from perdure.records.outcome import AuthorityCheck, ConfidenceChange, FactConflict, FactReasons, SupportingQuote
from perdure.records.policy import Policy
from perdure.records.report import JournalEntry
from perdure.rules.lifecycle.stale_facts import is_aging, validated_at
from perdure.rules.point_in_time import believed_until, is_past

_PAST: Final = "It was over when it was told; correct or deny it if it was wrong."
_WINS: Final = {
    "trust_db": "an authority wins",
    "trust_authority": "an authority wins",
    "trust_correction": "a correction wins",
    "trust_higher_confidence": "the surer one wins",
    "trust_recent": "the newer one wins, which was said outright",
    "trust_validity": "the one that began to hold later wins",
}
"""How a conflict was decided -> in words."""


def explain_fact(
    memory: MemoryItem,
    fact: Fact,
    *,
    sources: Mapping[str, Record],
    history: Iterable[JournalEntry],
    conflicts: Iterable[Document],
    checks: Iterable[Document],
    policy: Policy,
    now: Instant,
) -> FactReasons:
    """Return why a fact is as it is."""
    history, zone = tuple(history), policy.days.tz
    word = "" if fact.sources else word_of(fact.trust.value, (e.operation for e in history[:1]))
    if sources and fact.trust is Trust.USER and not any(r.state.kind is Kind.EPISODE for r in sources.values()):
        word = NOTED  # by an agent, a program or a person: nobody knows
    origin = describe_origin(fact.learned, word)
    is_upcoming = fact.retired is None and fact.is_upcoming(now)
    begins = (f"It begins to hold at {_when(fact.valid_from, zone)}, by itself.",) if is_upcoming else ()
    state = UPCOMING if is_upcoming else state_of(memory.state, policy, now).value
    has_ended = memory.state.status is Status.ACTIVE and fact.has_ended(now)
    ended = (f"It ended at {_when(fact.valid_to, zone)}: nobody is asked whether it still holds.",) if has_ended else ()
    return FactReasons(
        says=memory.content,
        state=FactState.SUPERSEDED.value if has_ended else state,
        learned=origin,
        trust=NOTED if word == NOTED else fact.trust.value,
        valid_from=_when(fact.valid_from, zone),
        valid_to=_when(fact.valid_to, zone),
        believed_from=zone_text(memory.state.recorded_ms, zone),
        believed_to=_when(believed_until(fact, memory.state), zone),
        sources=tuple(_sources(fact, sources)),
        confidence=tuple(_confidence_changes(memory.id, history, f"it {origin}")),
        conflicts=tuple(
            _conflict(memory.id, d) for d in sorted(conflicts, key=lambda d: (d.data["at_ms"], d.id, d.name))
        ),
        checks=tuple(_check(d) for d in sorted(checks, key=lambda d: (int(d.data.get("at_ms", 0)), d.name))),
        next=(_PAST,)
        if is_past(fact, memory.state)
        else ended
        or (*begins, *forecast_fact(memory.state, policy, now, _uses(memory.id, history), muted=fact.asked_not)),
    )


def _uses(identity: str, history: Iterable[JournalEntry]) -> int:
    """Return how often use alone reinforced a fact: who says or confirms it restarts its clock of truth as well."""
    uses = 0
    for entry in history:
        before, after = entry.before, entry.after
        if entry.target == "memory" and entry.id == identity and before and after and "validated_ms" not in after:
            uses += int(after.get("reinforcements", 0) > before.get("reinforcements", 0))
    return uses


def forecast_fact(state: State, policy: Policy, now: Instant, uses: int = 0, *, muted: bool = False) -> list[str]:
    """Return what will happen to a fact if nobody says anything, and when; ``uses`` of its reinforcements were uses."""
    current = state_of(state, policy, now)
    if current in (FactState.SUPERSEDED, FactState.INVALIDATED):
        return [f"It is {current.value} for good; undo of the operation that did it takes that back."]
    if current is FactState.ARCHIVED:
        return ["It is believed again where somebody says it again, or where a person restores it."]
    if not getattr(policy.fading, state.sort):
        return [f"It does not age: facts about {state.sort} do not."]
    knowledge = policy.knowledge
    if state.reinforcements >= knowledge.aging_reinforcements:
        how = reinforced_how(state.reinforcements, uses)
        return [f"It does not age: it was {how} ({knowledge.aging_reinforcements} in all are enough)."]
    ages = validated_at(state) + int(knowledge.aging_days * DAY_MS)
    question = "nobody is asked about it, because a person said so" if muted else "a person is asked about it"
    if is_aging(state, policy, now):
        lines = [f"It is ageing since {text_of(ages)}: {question}."]
    else:
        lines = [f"It ages at {text_of(ages)} if nobody says or confirms it again: then {question}."]
    if state.pinned or state.tier is Tier.VAULT:
        return [*lines, f"It is never archived, because it is {'pinned' if state.pinned else 'in the vault'}."]
    archived_at = max(ages + int(knowledge.unanswered_days * DAY_MS), state.status_ms)
    return [*lines, f"Without an answer it is archived at {text_of(archived_at)}."]


def reinforced_how(times: int, uses: int) -> str:
    """Return how often a fact was said, confirmed or of use: "said once and used twice"."""
    said = times - uses
    words = [f"{'said' if said == 1 else 'said or confirmed'} {_often(said)}"] if said else []
    return " and ".join([*words, *([f"used {_often(uses)}"] if uses else [])])


def _often(times: int) -> str:
    return {1: "once", 2: "twice"}.get(times, f"{times} times")


def _sources(fact: Fact, sources: Mapping[str, Record]) -> Iterable[SupportingQuote]:
    for source in fact.sources:
        span, record = source.span, sources.get(source.memory)
        yield SupportingQuote(
            memory=source.memory,
            start=span.start,
            end=span.end,
            quote=span.quote,
            at="" if record is None else text_of(record.state.created_ms),
            speaker="" if record is None else record.content.speaker or "",
            found=record is not None and record.content.text[span.start : span.end] == span.quote,
        )


def _confidence_changes(identity: str, history: Iterable[JournalEntry], born: str) -> Iterable[ConfidenceChange]:
    """Yield each change of the stored confidence: time lowers what is read, never what is stored."""
    for entry in history:
        if entry.target != "memory" or entry.id != identity or entry.after is None or "confidence" not in entry.after:
            continue
        before = None if entry.before is None else float(entry.before["confidence"])
        after = float(entry.after["confidence"])
        if before != after:
            yield ConfidenceChange(
                entry.at, entry.operation_id, before, after, entry.because if before is not None else born
            )


def _conflict(identity: str, document: Document) -> FactConflict:
    sides: Sequence[Mapping[str, object]] = document.data.get("sides", ())
    by_id = {str(side.get("memory", side.get("id", ""))): side for side in sides}  # an authority's conflict says "id"
    other = document.name if document.id == identity else document.id
    mine, theirs = by_id.get(identity, {}), by_id.get(other, {})
    strategy, outcome = str(document.data.get("strategy", "")), str(document.data.get("outcome", ""))
    lost = by_id.get(str(document.data.get("loser", document.name if outcome == "kept" else document.id)), {})
    return FactConflict(
        with_id=other,
        value=str(mine.get("value", "")),
        confidence=float(str(mine.get("confidence", 0.0))),
        other_value=str(theirs.get("value", "")),
        other_confidence=float(str(theirs.get("confidence", 0.0))),
        strategy=strategy,
        outcome=outcome,
        at=text_of(int(document.data["at_ms"])),
        told=_describe_decision(strategy, outcome, str(lost.get("value", ""))),
    )


def _describe_decision(strategy: str, outcome: str, lost: str) -> str:
    if outcome == "open":
        return "nobody has said yet which is right"
    if outcome == "answered":
        return "it was answered since"
    if outcome == "both":
        return "a person said that both hold"
    told = {"replaced": "was replaced", "kept": "was not believed", UNTIL_THEN: "holds until then"}
    became = told.get(outcome, "was invalidated")
    return f"{_WINS.get(strategy, strategy.replace('_', ' '))}; {lost} {became}"


def _check(document: Document) -> AuthorityCheck:
    known = document.data.get("known", document.data.get("value"))
    values = known if isinstance(known, list | tuple) else [] if known is None else [known]
    return AuthorityCheck(
        authority=document.name,
        outcome=str(document.data.get("outcome", "")),
        value=", ".join(str(value) for value in values),
        at=text_of(int(document.data.get("at_ms", 0))),
    )


def _when(at: Instant | None, zone: tzinfo | None) -> str:
    return "" if at is None else zone_text(at, zone)
