"""Writing down what was decided about a claim."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from perdure.formulas.confidence import reinforce_confidence
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.late_claims import fit_between, says_earlier, split_around
from perdure.knowledge.operations.planned_facts import end_then, let_go_on, write_new
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.records.facts import Claim, Fact, Source, Span
from perdure.knowledge.records.results import LearnResult
from perdure.knowledge.rules.claim_resolution import BY_ORDER, Action, ConflictStrategy, Decision, KnownFact
from perdure.knowledge.rules.fact_records import (
    UNTIL_THEN,
    FactEvent,
    accepts_event,
    draft_fact,
    link_change,
    new_fact,
    state_of,
    status_after,
)
from perdure.records.instant import Instant
from perdure.records.maker import copy_with
from perdure.records.memory import CONFLICT_WITH, DERIVED, INTERRUPTS, SUPERSEDES, Record, Scope, Shelf, Status, Trust
from perdure.rules.lifecycle.reinforcement import validate_state
from perdure.rules.lifecycle.unarchive import unarchive
from perdure.rules.point_in_time import is_past
from perdure.rules.source_trust import least_trust


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """Where a claim comes from."""

    memory: str | None  # the message; None where a person said it without one
    at: Instant  # when it was said
    trust: Trust = Trust.USER  # whose word it is
    scope: Scope = Scope.LONG_TERM  # whose lifetime the message shares
    session: str | None = None  # where it was said


@dataclass(slots=True)
class LearnTally:
    """What became of the facts, in order."""

    created: list[str] = field(default_factory=list)
    reinforced: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    displaced: dict[str, str] = field(default_factory=dict)
    """Fact -> what took its place only because it is newer or surer."""
    planned: list[str] = field(default_factory=list)  # claims of what begins later, in words
    unknown: list[str] = field(default_factory=list)  # what claims are said to replace, and nothing is known of
    superseded: list[str] = field(default_factory=list)  # notes of which nothing is believed any longer
    taken: dict[str, str] = field(default_factory=dict)  # name -> the known name that it was taken for

    def learnt(self, messages: int, operations: tuple[str, ...]) -> LearnResult:
        """Return it as the answer of a verb."""

        def once(some: list[str]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(some))

        return LearnResult(
            messages,
            created=once(self.created),
            reinforced=once(self.reinforced),
            retired=once(self.retired),
            asked=once(self.asked),
            entities=once(self.entities),
            operations=operations,
        )


class ClaimWriter:
    """Carries decisions about claims out."""

    def __init__(self, work: FactSession) -> None:
        self.work, self.policy = work, work.ctx.policy.knowledge
        self.registry = resources(work.ctx).predicates
        self.tally = LearnTally()
        self._counted: set[tuple[str, str]] = set()
        self._going_on: dict[str, list[str]] = {}
        """Planned fact that was retired -> those that were to end for it."""

    def carry_out(self, decision: Decision, claim: Claim, subject: str, name: str, source: ClaimSource) -> str | None:
        """Do what was decided about a claim, and return the id of the fact that it made, if any."""
        match decision.action:
            case Action.NOTHING:
                return None
            case Action.REINFORCE:
                if not says_earlier(self, decision.about[0], claim, (subject, name), source):
                    self._reinforce_and_replace(decision, claim, source)
                return None
            case Action.END | Action.DENY:
                self._end(decision, claim, source)
                return None
        predicate = decision.predicate or claim.predicate
        replaces = decision.about and decision.action is Action.REPLACE
        sort = decision.about[0].fact.type if replaces and not claim.denied else claim.type
        resolved = copy_with(claim.under(predicate), type=sort)
        new_id = self.make(resolved, subject, name, source, decision.because)
        self.clash(decision, new_id, source, name)
        self.interrupt(self.work.facts[new_id], source.at)
        return new_id

    def interrupt_again(self, old: Fact, new_id: str | None, at: Instant) -> None:
        """Let what interrupted a fact interrupt the one that was put in its place, and that what the other did."""
        for new in [self.work.facts[new_id]] if new_id is not None else []:
            self.interrupt(new, at)
            for known in self.work.about(old.subject, old.predicate, at):
                self._interrupt(known.fact, new)

    def interrupt(self, new: Fact, at: Instant) -> None:
        """Link a fact that holds until a day to those of other values that hold beyond it: they hold again then."""
        for known in self.work.about(new.subject, new.predicate, at) if new.valid_to is not None else ():
            self._interrupt(new, known.fact)

    def _interrupt(self, one: Fact, other: Fact) -> None:
        both = self._is_believed(one.id) and self._is_believed(other.id) and one.contradicts(other)
        if both and one.ends_before(other) and same_audience(self.work.record(one.id), self.work.record(other.id)):
            because = f"{one.shown_value} holds in its place for a time"
            self.work.link(link_change(INTERRUPTS, one.id, other.id, because))

    def _end(self, decision: Decision, claim: Claim, source: ClaimSource) -> None:
        """No longer believe what a claim ends or denies: from now on, or from the day on which it is to end."""
        event = FactEvent.ENDED if decision.action is Action.END else FactEvent.DENIED
        ended = claim.valid_from or source.at
        for known in decision.about:
            if claim.planned and not known.fact.is_upcoming(self.work.now):
                end_then(self.work, known.fact, ended, "", decision.because)
            else:
                self.retire(known.fact.id, event, ended, source.at, decision.because)

    def _reinforce_and_replace(self, decision: Decision, claim: Claim, source: ClaimSource) -> None:
        """Count what is said again, and no longer believe what it is said to have replaced."""
        known, *replaced_facts = decision.about
        self.reinforce(known, claim.span, source, decision.because)
        for other in replaced_facts:
            began = claim.valid_from or source.at
            self.take_place(known.fact, other.fact, FactEvent.REPLACED, began, source.at, decision.because)
        if decision.strategy is not None:
            self._settle(known.fact.id, decision.because, believed=True)

    def reinforce(self, known: KnownFact, said: Span | None, source: ClaimSource, because: str) -> None:
        """Count one more confirmation, by words or by an answer (None); the same message confirms once."""
        fact, state = known.fact, known.state
        if source.memory is not None:
            if (fact.id, source.memory) in self._counted or any(s.memory == source.memory for s in fact.sources):
                return
            self._counted.add((fact.id, source.memory))
        confidence = float(reinforce_confidence(state.confidence, max(1, state.reinforcements)))
        after = replace(
            state,
            confidence=max(state.confidence, min(self.policy.cap, confidence)),
            reinforcements=state.reinforcements + 1,
            validated_ms=max(source.at, state.validated_ms or state.created_ms),
            held=False,
        )
        note = (
            f"{because}; confidence {state.confidence:.2f} to {after.confidence:.2f}, said {after.reinforcements} times"
        )
        self.work.change(fact.id, after, "reinforced", note)
        if said is not None:
            self._add_source(fact, said, source)
        self.tally.reinforced.append(fact.id)

    def revive(self, identity: str, claim: Claim, source: ClaimSource) -> None:
        """Bring a fact back that nobody had confirmed for long, because it is said again."""
        self.bring_back(identity, source.at, f"said again: {claim.value.text}")
        (known,) = self.work.known_facts([identity], source.at)
        self.reinforce(known, claim.span, source, f"said again: {claim.value.text}")

    def bring_back(self, identity: str, at: Instant, because: str) -> None:
        """Believe a fact again that was archived."""
        back = unarchive(self.work.states[identity], self.work.ctx.policy, at)
        self.work.change(identity, back, FactEvent.RESTORED.value, f"restored: {because}")

    def validate(self, identity: str, at: Instant, because: str, message: str | None = None) -> None:
        """Count somebody's word that a fact is still true; a message confirms once, whatever else it says."""
        if message is not None:
            self._counted.add((identity, message))
        self._affirm(identity, at, because)
        self._settle(identity, because, believed=True)

    def both(self, identity: str, at: Instant, because: str) -> bool:
        """Believe a fact and what contradicts it: a person says that both hold. Return whether anything did."""
        sides = {i for pair in self.work.open_conflicts(identity) for i in pair if self._is_believed(i)}
        if len(sides) < 2:  # noqa: PLR2004  # a fact alone
            return False
        for side in sorted(sides):
            fact = self.work.facts[side]
            self._affirm(side, at, because)
            if not self.registry.has(fact.predicate):
                self.work.rewrite(replace(fact, many=True), because)
            for older, newer in self.work.open_conflicts(side):
                if older in sides and newer in sides:
                    self.close_conflict(older, newer, "both", because)
        self.work.close_reviews(identity, because)
        return True

    def absorb(self, identity: str, keeper: str, at: Instant, because: str) -> None:
        """Let a fact stand for another that says the same: nothing has changed in the world."""
        state, fact = self.work.states[identity], self.work.facts[identity]
        after = replace(state, status=Status.CONSOLIDATED, status_ms=max(at, state.status_ms), held=False)
        self.work.change(identity, after, "consolidated", f"consolidated into {keeper}: {because}")
        self.work.rewrite(replace(fact, retired=self.work.now), because)
        self._settle(identity, because, believed=False)
        self.work.link(link_change(SUPERSEDES, keeper, identity, because))

    def contest(self, one: KnownFact, other: KnownFact, at: Instant, because: str) -> None:
        """Ask which of two facts is right, unless a person has said already that both hold."""
        self.work.open_conflicts(one.fact.id)  # reads what there was between them
        first, second = sorted((one, other), key=lambda k: k.fact.id)
        if self.work.edits.get(Shelf.CONFLICT, second.fact.id, first.fact.id) is not None:
            first, second = second, first
        older, newer = first.fact.id, second.fact.id
        if (self.work.edits.get(Shelf.CONFLICT, older, newer) or {}).get("outcome") == "both":
            return
        self.work.read_questions([newer])
        asking = Decision(Action.ASK, (first,), ConflictStrategy.ASK, first.fact.predicate, because)
        self.record_conflict(first, newer, asking, "open", at)
        self._ask(newer, older, because, at)

    def _is_believed(self, identity: str) -> bool:
        return self.work.states[identity].status is Status.ACTIVE

    def _affirm(self, identity: str, at: Instant, because: str) -> None:
        state = self.work.states[identity]
        outcome = validate_state(state, at)
        after = replace(
            outcome.state,
            confidence=max(state.confidence, min(self.policy.cap, outcome.state.confidence)),
            validated_ms=max(at, state.validated_ms or state.created_ms),
        )
        note = f"{because}; confidence {state.confidence:.2f} to {after.confidence:.2f}"
        self.work.change(identity, after, "validated", note)
        self.tally.reinforced.append(identity)

    def retire(self, identity: str, event: FactEvent, ended: Instant, at: Instant, because: str) -> None:
        """No longer believe a fact; one of the past keeps its days, though it was wrong."""
        state, fact = self.work.states[identity], self.work.facts[identity]
        now = state_of(state, self.work.ctx.policy, self.work.now)
        was_past = is_past(fact, state)
        if not accepts_event(now, event) or (state.status is Status.SUPERSEDED and not was_past):
            return
        since = self.work.now if was_past else max(at, state.status_ms)
        after = copy_with(state, status=status_after(now, event), status_ms=since, held=False)
        self.work.change(identity, after, event.value, f"{event.value}: {because}")
        begin = fact.valid_from if fact.valid_from is not None else state.created_ms
        until = begin if event is FactEvent.DENIED else max(begin, ended)
        # The world changed when the message says; who asks later what was believed asks when it was learned.
        if not was_past:
            told = copy_with(fact, valid_to=until, retired=self.work.now, told_to=fact.valid_to)
            self.work.rewrite(told, because)
        if event is FactEvent.DENIED or fact.is_upcoming(self.work.now):
            self._going_on[identity] = let_go_on(self.work, fact, because)
        self._settle(identity, because, believed=False)
        self.tally.retired.append(identity)

    def take_place(self, new: Fact, other: Fact, event: FactEvent, began: Instant, at: Instant, because: str) -> None:
        """Let a fact stand in the place of another: from now on, or from the day on which it was planned to begin.

        What was to end for a planned one that it takes the place of ends for it.
        """
        begin = new.valid_from or began
        is_until_then = new.is_upcoming(self.work.now) and (other.valid_from or 0) < begin
        is_other = (other.value.norm, other.denied) != (new.value.norm, new.denied)
        if is_until_then and event is FactEvent.REPLACED and is_other:
            end_then(self.work, other, begin, new.id, because)
            return
        self.retire(other.id, event, began, at, because)
        self.work.link(link_change(SUPERSEDES, new.id, other.id, because))
        for each in map(self.work.facts.__getitem__, self._going_on.pop(other.id, ())):
            if each.contradicts(new):
                self.take_place(new, each, FactEvent.REPLACED, began, at, because)

    def keep_days(self, fact: Fact, because: str) -> None:
        """Let a fact that was denied keep its end: nobody knew before that it would be another."""
        self.work.rewrite(replace(self.work.facts[fact.id], valid_to=fact.valid_to), because)

    # --- parts

    def make(self, claim: Claim, subject: str, name: str, source: ClaimSource, because: str) -> str:
        """Store a claim as a fact of its own, and return its id."""
        sort = self.registry.sort(claim.predicate, claim.type)
        claim = copy_with(claim, type=sort, many=claim.many or self._has_several(subject, claim.predicate, source.at))
        draft = draft_fact(
            name,
            claim.predicate,
            claim,
            said_at=source.at,
            scope=source.scope,
            session=source.session,
            policy=self.work.ctx.policy,
        )
        (identity,) = self.work.insert([draft])
        fact = new_fact(identity, subject, claim.predicate, claim, said_at=source.at, trust=source.trust)
        write_new(self.work, fact, because)
        self._add_source(fact, claim.span, source)
        self.tally.created.append(identity)
        return identity

    def _has_several(self, subject: str, predicate: str, at: Instant) -> bool:
        """Whether an entity is known to have several values of a predicate that no table names: a person said both."""
        is_registered = self.registry.has(predicate)
        return not is_registered and any(k.fact.many for k in self.work.about(subject, predicate, at))

    def _add_source(self, fact: Fact, said: Span, source: ClaimSource) -> None:
        """Write down where a fact was said."""
        if source.memory is None:
            return
        fact = self.work.facts[fact.id]
        sources = (*fact.sources, Source(source.memory, said))
        because = f"said as: {said.quote}"
        self.work.rewrite(replace(fact, sources=sources, trust=least_trust((fact.trust, source.trust))), because)
        self.work.link(link_change(DERIVED, fact.id, source.memory, because))

    def clash(self, decision: Decision, new_id: str, source: ClaimSource, name: str) -> None:
        """Write down what a fact does to those that it contradicts."""
        for side in decision.sides:
            for known in side.about:
                outcome = "kept" if side.action is Action.YIELD else "open"
                if side.action is Action.REPLACE:
                    outcome = self._displace(known.fact, new_id, side, source)
                elif side.action is Action.ASK:
                    self._ask(new_id, known.fact.id, side.because, source.at)
                self.record_conflict(known, new_id, side, outcome, source.at)
        if decision.action is Action.YIELD:
            self._retire_yielding(new_id, decision, source, name)

    def _displace(self, known: Fact, new_id: str, decision: Decision, source: ClaimSource) -> str:
        fact, because = self.work.facts[new_id], decision.because
        event = FactEvent.DENIED if decision.strategy is ConflictStrategy.AUTHORITY else FactEvent.REPLACED
        self.take_place(fact, known, event, fact.valid_from or source.at, source.at, because)
        if decision.strategy in BY_ORDER:
            self.tally.displaced[known.id] = new_id
        return UNTIL_THEN if self.work.facts[known.id].followed_by == new_id else event.value

    def _retire_yielding(self, new_id: str, decision: Decision, source: ClaimSource, name: str) -> None:
        winner, because = decision.about[0], decision.because
        until = winner.fact.valid_from if winner.fact.valid_from is not None else source.at
        if decision.strategy is ConflictStrategy.RECENT and self.work.facts[new_id].valid_from == source.at:
            until = split_around(self, winner, name, source, because) or until
        if decision.strategy in (ConflictStrategy.VALIDITY, ConflictStrategy.RECENT):
            until = fit_between(self, new_id, until, name, source, because)
        self.retire(new_id, FactEvent.REPLACED, until, source.at, because)
        self.tally.retired.remove(new_id)
        self.work.link(link_change(SUPERSEDES, winner.fact.id, new_id, because))

    def record_conflict(self, known: KnownFact, new_id: str, decision: Decision, outcome: str, at: Instant) -> None:
        """Write down how two facts that contradict each other were decided about."""
        state = self.work.states[new_id]
        sides = [
            {"memory": known.fact.id, "value": known.fact.shown_value, "confidence": round(known.confidence, 4)},
            {"memory": new_id, "value": self.work.facts[new_id].shown_value, "confidence": round(state.confidence, 4)},
        ]
        data = {
            "kind": "facts",
            "predicate": known.fact.predicate,
            "strategy": decision.strategy.value if decision.strategy else "",
            "outcome": outcome,
            "sides": sides,
            "at_ms": at,
        }
        self.work.edits.put(Shelf.CONFLICT, known.fact.id, new_id, data, decision.because)

    def _ask(self, new_id: str, other: str, because: str, at: Instant) -> None:
        """Put the question which of two is right before a person."""
        data = {"why": f"two values: {because}", "since_ms": at, "against": other}
        self.work.edits.put(Shelf.REVIEW, new_id, f"{CONFLICT_WITH}{other}", data, "a person is asked")
        self.tally.asked.append(new_id)

    def _settle(self, identity: str, because: str, *, believed: bool) -> None:
        """Close the questions about a fact, and the open conflicts in which it is one side."""
        for older, newer in self.work.open_conflicts(identity):
            other = newer if older == identity else older
            self.close_conflict(older, newer, "answered", because)
            if believed and self._is_believed(other):
                at = self.work.states[identity].validated_ms or self.work.now
                self.take_place(self.work.facts[identity], self.work.facts[other], FactEvent.REPLACED, at, at, because)
        self.work.close_reviews(identity, because)

    def close_conflict(self, older: str, newer: str, outcome: str, because: str) -> None:
        """Write down how a conflict was decided, and remove the question about it."""
        data = {**(self.work.edits.get(Shelf.CONFLICT, older, newer) or {}), "outcome": outcome}
        self.work.edits.put(Shelf.CONFLICT, older, newer, data, because)
        self.work.close_reviews(newer, because, name=f"{CONFLICT_WITH}{older}")


def same_audience(one: Record, other: Record) -> bool:
    """Whether two memories are seen by the same: by all, or inside one session."""
    if one.state.scope is not other.state.scope:
        return False
    return one.state.scope is Scope.LONG_TERM or one.content.session == other.content.session
