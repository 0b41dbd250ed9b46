"""Asking a language model what messages say. Those that it cannot be asked about wait, and are read later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from perdure.knowledge.extraction import model_replies
from perdure.knowledge.extraction.event_types import event_by_model, event_of, reweigh_importance
from perdure.knowledge.extraction.values import value_of
from perdure.knowledge.operations.apply_claims import LearnTally
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.grounding import ground
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.records.facts import Claim, EventType
from perdure.knowledge.records.results import LearnResult
from perdure.knowledge.rules.ingest_watermark import MOST_FAILED, UnreadMessages, is_learned
from perdure.operations.ports import Context, Model
from perdure.operations.writing import retry
from perdure.records.errors import ModelWarning, PerdureError, UnusableReply
from perdure.records.instant import wall_clock
from perdure.records.memory import UNREAD, Record, Shelf

LATE: Final = 20  # so many waiting messages are read in one operation: what was read is kept if the next cannot be
AT_INGEST: Final = 100  # so many waiting messages of a session are read when it goes on
_STREAK: Final = 3
"""After so many useless replies in a row the model is taken to be broken, and not asked again in this call."""
_TRIES: Final = 3  # so often a message is asked about again while the model can read others; then it is passed over


class ModelReader:
    """Asks the model of a context in one call of a verb; once it cannot be asked, it is not asked again.

    Attributes:
        is_used: Whether the policy lets a model read messages.
        is_away: It cannot be asked, as far as this call knows.
        has_answered: It gave a useful reply in this call.
        read: The messages that it was asked about in this call; a useless reply to one is no other a moment later.
    """

    def __init__(self, ctx: Context) -> None:
        self.warn, self._model = ctx.warn, ctx.model if ctx.policy.model.learn else None
        self.is_used = self._model is not None
        self.is_away = self.has_answered = False
        self.read: set[str] = set()
        self._useless = 0
        self._replies: dict[str, Mapping[str, Any] | None] = {}

    def start(self) -> None:
        """Forget the replies: they are kept only for the case that an operation has to be decided again."""
        self._replies.clear()

    def reply(self, record: Record) -> Mapping[str, Any] | None:
        """Return what the model says about a message; None where it is away, or its reply is of no use."""
        if record.id not in self._replies and not self.is_away and self._model is not None:
            reply = self._ask(self._model, record.content.text)
            if not self.is_away:
                self._replies[record.id] = reply
        return self._replies.get(record.id)

    def _ask(self, model: Model, text: str) -> Mapping[str, Any] | None:
        try:
            reply = model.ask(model_replies.INSTRUCTION, model_replies.question(text), model_replies.schema())
        except PerdureError as error:
            self._useless += 1
            self.is_away = not isinstance(error, UnusableReply) or self._useless >= _STREAK
            warning = f"Facts are learned by rules only: {error} What the model did not read, learn reads later."
            self.warn(warning, ModelWarning)
            return None
        self._useless, self.has_answered = 0, True
        return reply


class ModelReading:
    """What a model reads in the messages of one operation, and which of them wait."""

    def __init__(self, work: FactSession, reader: ModelReader, unread: Mapping[str, UnreadMessages]) -> None:
        self.work, self.reader, self.unread = work, reader, unread

    def claims(self, record: Record, session: str, recent: Sequence[Record]) -> list[Claim]:
        """Return what the model reads in a new message; where it cannot be asked, the message waits."""
        unread = self.unread[session]
        if not self.reader.is_used:
            return []
        reply = None if unread.covers(record.id) else self.reader.reply(record)
        if reply is not None:
            return self._claims(record, reply)
        self.reader.read.add(record.id)
        if unread.covers(record.id) or self.reader.is_away or not unread.note_failure(record.id):
            unread.add(record.id, [r.id for r in recent])
        return []

    def late_claims(self, record: Record, session: str) -> list[Claim] | None:
        """Return what the model reads in a message that waited; None where it cannot be asked."""
        unread, reply = self.unread[session], self.reader.reply(record)
        if reply is None and self.reader.is_away:
            return None
        tries = unread.failed.pop(record.id, None)
        unread.waiting -= tries is None
        if reply is not None:
            return self._claims(record, reply)
        tries = 0 if tries is None else tries + self.reader.has_answered
        if tries < _TRIES and len(unread.failed) < MOST_FAILED:
            unread.failed[record.id] = tries
        else:
            warning = (
                f"The language model cannot read the message {record.id}: it is passed over after {tries} more tries."
            )
            self.reader.warn(warning, ModelWarning)
        return []

    def write(self) -> None:
        """Write down which messages wait."""
        for session, unread in self.unread.items():
            self.work.edits.put(Shelf.LEARNED, session, UNREAD, unread.to_data(), "not read by the language model")

    def _claims(self, record: Record, reply: Mapping[str, Any]) -> list[Claim]:
        text = record.content.text
        self._record_event(record, event_by_model(event_of(text), model_replies.event_in(reply)))
        registry = resources(self.work.ctx).predicates
        sure = self.work.ctx.policy.knowledge.model
        said_at = wall_clock(record.state.created_ms, self.work.ctx.policy.days.tz)
        found = model_replies.claims_of(reply, text, said_at, value_of, confidence=sure)
        return [replace(c, predicate=n, many=registry.row(n).many) for c in found for n in [registry.name(c.predicate)]]

    def _record_event(self, record: Record, event: EventType) -> None:
        """Write down what a message does if that is not what the rules said when it was taken in."""
        metadata = record.content.metadata
        before = metadata.get("event")
        if before not in set(EventType) or before == event:
            return
        self.work.include([record])
        state = self.work.record(record.id).state
        after = replace(state, importance=reweigh_importance(state.importance, EventType(before), event))
        self.work.change(record.id, after, "typed", f"a language model says that it is a {event}, not a {before}")
        labels = {**metadata, "event": event.value, "event_by": "model"}
        self.work.decisions.label(record.id, "what it does", metadata=labels)


class MessageLearner(Protocol):
    """Who hears messages."""

    model: ModelReading

    @property
    def tally(self) -> LearnTally:
        """What became of the facts."""

    def hear_late(self, record: Record, session: str) -> bool:
        """Learn what the model reads in a message that rules have learned from; False where it cannot be asked."""

    def recent_ids(self, session: str) -> list[str]:
        """Return the messages that were heard last."""


Listening = Callable[[FactSession, Mapping[str, Sequence[Record]], ModelReading], MessageLearner]
"""(facts, session -> its last messages, what the model reads) -> a listener"""


def read_waiting(
    ctx: Context, namespace: str, sessions: Sequence[str], reader: ModelReader, most: int | None, listening: Listening
) -> LearnResult:
    """Let the model read messages that wait, in their order, until it cannot be asked.

    ``most`` messages of a session, or little more; all if None.

    Returns:
        What they taught, and how many still wait.
    """
    learnt = LearnResult()
    if not reader.is_used:
        return learnt
    for session in _waiting_counts(ctx, namespace, sessions):
        reader.start()
        read = 0
        while not reader.is_away and (most is None or read < most):
            page, ids = retry(lambda s=session: _late_page(ctx, namespace, s, reader, listening))  # type: ignore[misc]  # bound now
            if not ids:
                break
            learnt, read = learnt.join(page), read + len(ids)
            reader.read.update(ids)
    return replace(learnt, waiting=sum(_waiting_counts(ctx, namespace, sessions).values()))


def waiting_sessions(ctx: Context, namespace: str) -> list[str]:
    """Return the sessions with messages that wait."""
    return [d.id for d in ctx.store.documents.find_named(namespace, Shelf.LEARNED, [UNREAD])]


def _waiting_counts(ctx: Context, namespace: str, sessions: Sequence[str]) -> dict[str, int]:
    found = ctx.store.documents.find(namespace, Shelf.LEARNED, sessions)
    return {d.id: UnreadMessages.from_data(d.data).count for d in found if d.name == UNREAD}


def _late_page(
    ctx: Context, namespace: str, session: str, reader: ModelReader, listening: Listening
) -> tuple[LearnResult, list[str]]:
    work = FactSession(ctx, namespace, ctx.clock())
    documents = ctx.store.documents.find(namespace, Shelf.LEARNED, [session])
    work.edits.read(documents)  # as they were when the messages were chosen: who was faster meanwhile is noticed
    by_name = {d.name: d.data for d in documents}
    unread = UnreadMessages.from_data(by_name.get(UNREAD))
    ids, after = _next(ctx, namespace, session, unread, by_name.get("", {}), reader.read)
    by_id = {r.id: r for r in ctx.store.get(namespace, sorted({*ids, *unread.recent}))}
    recent = [by_id[i] for i in unread.recent if i in by_id]
    listener = listening(work, {session: recent}, ModelReading(work, reader, {session: unread}))
    read: list[str] = []
    for identity in ids:
        if identity in by_id and not listener.hear_late(by_id[identity], session):
            break
        read.append(identity)
    if not read:
        return LearnResult(), []
    if unread.first:
        unread.go_on([*ids, after][len(read)], listener.recent_ids(session))
    listener.model.write()
    ground(work, listener.tally, read)
    plan = work.plan("learn", f"learn: {len(read)} messages of {session} that waited for the language model")
    ctx.store.apply(plan)
    return listener.tally.learnt(len(read), (plan.id,)), read


def _next(
    ctx: Context,
    namespace: str,
    session: str,
    unread: UnreadMessages,
    mark: Mapping[str, Any],
    excluded: Collection[str],
) -> tuple[list[str], str]:
    """Return the next messages that wait, and the one after them, empty for none."""
    if not unread.first:
        return [i for i in unread.failed if i not in excluded][:LATE], ""
    found = ctx.store.ids_of_session(namespace, session, unread.first[:-1], 2 * LATE)
    learned = [i for i in found if i >= unread.first and is_learned(mark, i)]
    return learned[:LATE], (learned[LATE:] or [""])[0]
