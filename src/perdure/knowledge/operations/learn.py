"""Learning from messages: who is spoken of, what is claimed, and what becomes of it.

Messages are learned from in the order in which they were stored, whatever their session, each in the light of those
before it, so a batch, one by one, or twice end the same. What an interrupted run left is learned with the session's
next messages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.knowledge.extraction.claims import as_note, claims, claims_with_answer
from perdure.knowledge.extraction.event_types import asks_whether_still, event_of, is_bare_denial
from perdure.knowledge.extraction.references import FIRST_PERSON, WINDOW, may_refer
from perdure.knowledge.operations.apply_claims import ClaimSource, ClaimWriter, LearnTally, same_audience
from perdure.knowledge.operations.claim_subjects import NAMES
from perdure.knowledge.operations.entity_linking import EntityLinker
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.grounding import ground
from perdure.knowledge.operations.model_reading import AT_INGEST, ModelReader, ModelReading, read_waiting
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.operations.predicate_questions import ask_about_near
from perdure.knowledge.records.facts import UNNAMED, Claim, Entity, EventType, FactOrigin
from perdure.knowledge.records.results import LearnResult
from perdure.knowledge.rules.claim_resolution import Action, KnownFact, find_answered_fact, resolve_claim
from perdure.knowledge.rules.fact_records import FactEvent
from perdure.knowledge.rules.ingest_watermark import (
    UnreadMessages,
    advance_watermark,
    last_heard,
    last_learned,
    learned_up_to,
)
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.digests import same_words
from perdure.records.errors import NotFound
from perdure.records.instant import Instant, from_wall_clock, wall_clock
from perdure.records.memory import UNREAD, Kind, Record, Shelf, Status, Trust
from perdure.rules.source_trust import stored_trust

PAGE: Final = 500
MARK: Final = ""  # the name of the document that tells how far a session was learned from
ANY: Final = ":any"
HEARD: Final = "heard"  # the document of this name, in the place of a session, tells what was heard last in any of them
RECENT: Final = WINDOW
"""So many messages before the first new one are looked at for whom "they" are: all that may count."""
_MOST_NAMED: Final = 4  # up to so many sessions are named in the journal
_LONGEST: Final = 100  # characters of the name of a session


def learn_from(ctx: Context, namespace: str, sessions: Sequence[str]) -> LearnResult:
    """Learn from sessions that a caller names; one that does not exist is reported, and nothing is learned."""
    missing = [s for s in sessions if not ctx.store.ids_of_session(namespace, s, "", 1)]
    if missing:
        names = ", ".join(repr(s[:_LONGEST]) for s in missing[:_MOST_NAMED]) + ", ..." * (len(missing) > _MOST_NAMED)
        raise NotFound(
            f"There are no messages of session {names} in {namespace}.",
            remedy="They may be in another namespace; recall and get show the session of a memory.",
        )
    return learn(ctx, namespace, sessions, late=None)


def learn(ctx: Context, namespace: str, sessions: Iterable[str], *, late: int | None = AT_INGEST) -> LearnResult:
    """Learn from the messages of some sessions that were not learned from yet, in the order in which they came.

    Those that a language model could not be asked about are read by it afterwards: ``late`` of each session, or all.
    """
    learnt, every, reader = LearnResult(), list(dict.fromkeys(sessions)), ModelReader(ctx)
    left = every
    while left:
        reader.start()
        page, left = retry(lambda left=left: _page(ctx, namespace, left, reader))  # type: ignore[misc]  # bound now
        learnt = learnt.join(page)
    return learnt.join(read_waiting(ctx, namespace, every, reader, late, _Learner))


def _page(ctx: Context, namespace: str, sessions: Sequence[str], reader: ModelReader) -> tuple[LearnResult, list[str]]:
    """Learn from the next messages, and return the sessions that have more."""
    documents = ctx.store.documents.strict.find(namespace, Shelf.LEARNED, [*sessions, ANY])
    marks = {d.id: dict(d.data) for d in documents if d.name == MARK}
    ids, left = _next(ctx, namespace, {s: marks.get(s, {}) for s in sessions})
    if not ids:
        return LearnResult(), []
    work = FactSession(ctx, namespace, ctx.clock())
    work.edits.read(documents)  # as they were when the messages were chosen: who was faster meanwhile is noticed
    recent = {s: last_heard(marks.get(s, {})) for s in ids.values()}
    heard = next((dict(d.data) for d in documents if (d.id, d.name) == (ANY, HEARD)), {})
    before = {str(i) for key in ("recent", "before") for i in heard.get(key, ())}
    by_id = {
        r.id: r for r in ctx.store.get(namespace, sorted({*ids, *before, *(i for r in recent.values() for i in r)}))
    }
    unread_data = {d.id: d.data for d in documents if d.name == UNREAD}
    unread = {s: UnreadMessages.from_data(unread_data.get(s)) for s in recent}
    records = {s: _records_of(by_id, some) for s, some in recent.items()}
    listener = _Learner(work, records, ModelReading(work, reader, unread))
    listener.last = str(heard.get("session", ""))
    listener.recent.setdefault(listener.last, deque(_records_of(by_id, heard.get("recent", ())), RECENT))
    listener.elsewhere = _records_of(by_id, heard.get("before", ()))
    messages = [by_id[i] for i in ids if i in by_id and _is_message(by_id[i])]
    for record in messages:
        listener.hear(record, ids[record.id])
    ground(work, listener.tally, ids)
    ask_about_near(work, listener.tally.created)
    _write_watermarks(work, listener, ids, marks)
    listener.model.write()
    listed = ", ".join(recent) if len(recent) < _MOST_NAMED else f"{len(recent)} sessions"
    plan = work.plan("learn", f"learn: {len(messages)} messages of {listed}")
    ctx.store.apply(plan)
    return listener.tally.learnt(len(messages), (plan.id,)), left


def _next(ctx: Context, namespace: str, marks: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, str], list[str]]:
    """Return the next messages of some sessions in their order -> session, and the sessions that have more."""
    found: dict[str, str] = {}
    for session, mark in marks.items():
        known = last_learned(mark)
        page = ctx.store.ids_of_session(namespace, session, learned_up_to(mark), PAGE + len(known))
        found |= dict.fromkeys((i for i in page if i not in known), session)
    ordered = sorted(found)
    return {i: found[i] for i in ordered[:PAGE]}, [s for s in marks if s in {found[i] for i in ordered[PAGE - 1 :]}]


def _write_watermarks(
    work: FactSession, listener: _Learner, ids: Mapping[str, str], marks: Mapping[str, Mapping[str, Any]]
) -> None:
    """Write down how far each session was learned from, and what was heard last."""
    for session in dict.fromkeys(ids.values()):
        learned = [i for i, s in ids.items() if s == session]
        data = advance_watermark(marks.get(session, {}), learned, [r.id for r in listener.recent[session]])
        work.edits.put(Shelf.LEARNED, session, MARK, data, "learned so far")
    heard: dict[str, Any] = {
        "session": listener.last,
        "recent": [r.id for r in listener.recent[listener.last]],
        "before": [r.id for r in listener.elsewhere],
    }
    work.edits.put(Shelf.LEARNED, ANY, HEARD, heard, "heard last")


def _records_of(records: Mapping[str, Record], ids: Sequence[str]) -> list[Record]:
    return [records[i] for i in ids if i in records]


def _is_message(record: Record) -> bool:
    return record.state.kind is Kind.EPISODE and record.state.status is not Status.INVALIDATED


class _Learner:
    def __init__(self, work: FactSession, recent: Mapping[str, Sequence[Record]], model: ModelReading) -> None:
        self.ctx, self.work, self.model = work.ctx, work, model
        self.writer = ClaimWriter(work)
        self.linker = EntityLinker(work)
        self.recent = {session: deque(some, RECENT) for session, some in recent.items()}
        self.last = ""
        """The session that was heard last."""
        self.elsewhere: list[Record] = []
        """What was heard last before that, in another session."""

    @property
    def tally(self) -> LearnTally:
        """What became of the facts."""
        return self.writer.tally

    def hear(self, record: Record, session: str) -> None:
        """Learn from one message of a session."""
        if session != self.last:
            self.elsewhere, self.last = list(self.recent[self.last]), session
        self.linker.texts = [r.content.text for r in self.recent[session]]
        person = self._is_news(record)
        found = self._by_rules(record) if person else []
        for claim in found:
            self._call(claim, record)  # before the name is taken for somebody else's
        self.tally.entities += self.linker.link_names(record, may_create=person)
        if person:
            if not self._answer(record):
                found = self._with_question(found, record)
            for claim in [*found, *_new_claims(found, self.model.claims(record, session, self.recent[session]))]:
                self._take(claim, record)
        self.recent[session].append(record)

    def hear_late(self, record: Record, session: str) -> bool:
        """Learn what the model reads in a message that rules have learned from; False where it cannot be asked."""
        if _is_message(record) and self._is_news(record):
            self.linker.texts = [r.content.text for r in self.recent[session]]
            found = self.model.late_claims(record, session)
            if found is None:
                return False
            for claim in _new_claims(self._by_rules(record), found):
                self._take(claim, record)
        self.recent[session].append(record)
        return True

    def recent_ids(self, session: str) -> list[str]:
        """Return the messages that were heard last."""
        return [r.id for r in self.recent[session]]

    def _is_news(self, record: Record) -> bool:
        """Whether a message is news about the world: an assistant's words, a tool's or a web page's are not."""
        return self.linker.is_person(record) and stored_trust(record.content.metadata) is Trust.USER

    def _by_rules(self, record: Record) -> list[Claim]:
        text, at, speaker = record.content.text, self._wall_clock(record), record.content.speaker
        return claims(text, at, resources(self.ctx).predicates, speaker=speaker, policy=self.ctx.policy.knowledge)

    def _wall_clock(self, record: Record) -> Instant:
        """Return when a message was said by the clocks there: its "yesterday" is the day before that day."""
        return wall_clock(record.state.created_ms, self.ctx.policy.days.tz)

    def _by_instants(self, claim: Claim) -> Claim:
        """Return a claim whose days were read by the clocks there with the instants at which these begin and end."""
        zone, days = self.ctx.policy.days.tz, (claim.valid_from, claim.valid_to)
        begin, end = (None if at is None else from_wall_clock(at, zone) for at in days)
        return replace(claim, valid_from=begin, valid_to=end)

    def _call(self, claim: Claim, record: Record) -> None:
        """Know whoever speaks by the name that they give: "My name is Ingrid"."""
        if claim.predicate in NAMES and not claim.denied and claim.subject.casefold() in FIRST_PERSON:
            speaker = self.linker.subject(claim.subject, record, "", self.tally.entities)
            if speaker is not None:
                self.linker.call(speaker, claim.value.text)

    def _with_question(self, found: list[Claim], record: Record) -> list[Claim]:
        """Return what a message says in the light of the question that somebody else asked just before."""
        question = self._message_before(record)
        registry, at, policy = resources(self.ctx).predicates, self._wall_clock(record), self.ctx.policy.knowledge
        return claims_with_answer(record.content.text, question, at, registry, found, policy) if question else found

    def _message_before(self, record: Record) -> str:
        before = self.recent[self.last][-1] if self.recent[self.last] else None
        other = before is not None and before.content.speaker != record.content.speaker
        return before.content.text if before is not None and other else ""

    def _take(self, claim: Claim, record: Record) -> None:
        claim, at = self._by_instants(claim), record.state.created_ms
        before = record.content.text[: claim.span.start]
        subject = self.linker.subject(claim.subject, record, before, self.tally.entities)
        if subject is None:
            subject = self._corrected_entity(claim, at)
        if subject is None and claim.learned is FactOrigin.EXPLICIT and not claim.denied:
            claim = as_note(claim)  # it was asked to be remembered, and nobody knows of whom
            subject = self.linker.subject(claim.subject, record, "", self.tally.entities)
        if subject is None:
            return
        if (name := self.work.lessons.name(claim.predicate)) != claim.predicate:
            row = resources(self.ctx).predicates.row(name)
            listed = resources(self.ctx).predicates.has(name)
            claim = replace(
                claim, predicate=name, type=row.sort if listed else claim.type, many=row.many if listed else claim.many
            )
        adds = claim.many and claim.old is None and claim.learned is not FactOrigin.CORRECTION
        known = self.work.about(subject.id, claim.predicate, at, claim.value.norm if adds else None)
        if claim.denied or (not known and claim.learned is FactOrigin.CORRECTION):
            # It may name its predicate in part, or not at all; what is denied may have been learned by another verb.
            known = self.work.about(subject.id, None, at)
        known = [k for k in known if self._may_touch(k, record)]
        decision = resolve_claim(claim, known, at, self.ctx.policy.knowledge, resources(self.ctx).predicates.akin)
        if decision.action is Action.CREATE and claim.predicate == UNNAMED:
            return  # it corrects nothing that is known
        trust = stored_trust(record.content.metadata)
        source = ClaimSource(record.id, at, trust, record.state.scope, record.content.session)
        predicate, norm = decision.predicate or claim.predicate, claim.value.norm
        faded = self.work.faded_fact(subject.id, predicate, norm, denied=claim.denied)
        if decision.action is Action.CREATE and faded is not None and self._may_touch_memory(faded, record):
            self.writer.revive(faded, claim, source)
            return
        self.writer.carry_out(decision, claim, subject.id, subject.name, source)

    def _may_touch(self, known: KnownFact, record: Record) -> bool:
        """Whether a message may touch a fact: what is seen inside one session only says nothing about what all see."""
        return self._may_touch_memory(known.fact.id, record)

    def _may_touch_memory(self, identity: str, record: Record) -> bool:
        return same_audience(self.work.record(identity), record)

    def _corrected_entity(self, claim: Claim, at: Instant) -> Entity | None:
        """Return whom a correction without a name is about, from what was heard last in any session.

        It is the last one of whom a fact is known that can be meant.
        """
        if claim.learned is not FactOrigin.CORRECTION or not may_refer(claim.subject):
            return None
        akin = resources(self.ctx).predicates.akin
        for record in reversed(self.elsewhere):
            found = [
                entity
                for entity in self.linker.entities_in(record.content.text)
                if any(akin(claim.predicate, k.fact.predicate) for k in self.work.about(entity, None, at))
            ]
            if found:
                return self.linker.names.entity(found[0]) if len(found) == 1 else None
        return None

    def _answer(self, record: Record) -> bool:
        """Take a confirmation, or a bare denial, for what was said or asked just before; return whether it was that."""
        text = record.content.text
        event = event_of(text)
        denied = is_bare_denial(text)
        if event is not EventType.CONFIRMATION and not denied:
            return False
        question = self._message_before(record)
        target = self._answered_fact(record, question)
        if target is None:
            return False
        at = record.state.created_ms
        if denied:
            self.writer.retire(target.fact.id, FactEvent.DENIED, at, at, f"denied: {text}")
        elif asks_whether_still(question):
            self.writer.validate(target.fact.id, at, f"confirmed: {text}", record.id)
        else:
            source = ClaimSource(record.id, at, stored_trust(record.content.metadata))
            self.writer.reinforce(target, None, source, f"confirmed: {text}")
        return True

    def _answered_fact(self, record: Record, before: str) -> KnownFact | None:
        own = self.linker.speaker(record)
        spoken_of = [*self.linker.spoken_of(record), *([own] if own is not None else [])]
        at = record.state.created_ms
        known = [k for entity in dict.fromkeys(spoken_of) for k in self.work.about(entity, None, at)]
        known = [k for k in known if self._may_touch(k, record)]
        return find_answered_fact(same_words(record.content.text), same_words(before), known)


def _new_claims(found: Sequence[Claim], more: Sequence[Claim]) -> list[Claim]:
    known = {(c.predicate, c.value.norm) for c in found}
    return [c for c in more if (c.predicate, c.value.norm) not in known]
