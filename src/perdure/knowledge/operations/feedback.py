"""What a person answers about one memory: it is right, it is wrong, it is something else, do not ask again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.values import LONGEST, value_of
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.apply_claims import ClaimSource, ClaimWriter
from perdure.knowledge.operations.displaced import believe_displaced, restore_displaced
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.facts import resting_facts
from perdure.knowledge.operations.past_claims import replace_past
from perdure.knowledge.records.facts import Claim, Fact, FactOrigin, Span, Value
from perdure.knowledge.rules.claim_resolution import Action, ConflictStrategy, Decision
from perdure.knowledge.rules.fact_records import FactEvent, link_change
from perdure.operations.answers_about_hidden import refused_as_ended, refused_as_hidden
from perdure.operations.decisions import HiddenBeside, outcome, with_believed_again, with_hidden, with_said_by
from perdure.operations.identify import operations_of
from perdure.operations.lifecycle.review import ANSWERS
from perdure.operations.ports import Context
from perdure.operations.remember_one import take_claims
from perdure.operations.repeated_statements import same_messages
from perdure.operations.superseding import still_true
from perdure.operations.writing import read_record, retry, tell_redacted
from perdure.records.errors import ConflictError, InvalidInput
from perdure.records.instant import Instant, wall_clock
from perdure.records.memory import INTERRUPTS, SUPERSEDES, Draft, Kind, Record, Shelf, Status
from perdure.records.outcome import Outcome
from perdure.rules.lifecycle.reinforcement import validate_state
from perdure.rules.point_in_time import is_past
from perdure.rules.redaction import labelled_secrets, redact_with

_OF_THE_PAST: Final = ("correct", "deny")  # answers that may be given about what was over when it was told

Act = Callable[[ClaimWriter, Record, Instant], str | None]
"""Carries an answer out, and returns the id of the memory that it made, if any."""


def confirm(ctx: Context, identity: str) -> Outcome:
    """Write down that a person says that a memory is still true: confidence + 0.02, the truth clock anew.

    What contradicts it in an open conflict is superseded; open questions about it are closed. Links that call it
    untrue are removed. Of a fact that has ended only an open question is answered so.
    """
    removed: list[str] = []

    def act(writer: ClaimWriter, record: Record, now: Instant) -> None:
        if (fact := writer.work.facts.get(record.id)) is not None:
            is_open = any(ctx.store.documents.find(record.namespace, Shelf.REVIEW, [record.id]))
            if fact.has_ended(now) and not is_open:
                raise refused_as_ended(ctx, record, fact.valid_to or now, fact.followed_by)
            writer.validate(record.id, now, "a person confirmed it")
            return
        outcome = validate_state(record.state, now)
        because = f"a person confirmed it: {outcome.because}"
        links = still_true(ctx, record.namespace, record.id, "a person confirmed the earlier one")
        removed[:] = links.removed
        for change in links.changes:
            writer.work.link(change)
        writer.work.change(record.id, outcome.state, "validated", because)
        writer.work.close_reviews(record.id, because)

    done = apply_answer(ctx, identity, "confirm", "", act)
    return replace(done, links_removed_from=tuple(removed)) if removed else done


def deny(ctx: Context, identity: str, reason: str | None) -> Outcome:
    """Write down that a person says that a memory is wrong: it is invalidated, for good.

    The facts that it alone says are denied with it, and the messages in which the same person says its words and
    nothing else; pinned ones stay. What they alone had taken the place of is believed again.
    """
    detail = f": {reason}" if reason else ""
    gone = HiddenBeside()

    def act(writer: ClaimWriter, record: Record, now: Instant) -> None:
        nonlocal gone
        because = f"a person denied it{detail}"
        if record.id in writer.work.facts:
            writer.retire(record.id, FactEvent.DENIED, now, now, because)
            restore_displaced(writer, [record.id], f"{because}: {record.content.text}")
            return
        gone = _deny_text(writer, record, now, detail)

    done = apply_answer(ctx, identity, "deny", detail, act)
    if done.memory.kind is Kind.FACT:
        return with_believed_again(ctx, done)
    return with_hidden(ctx, done, gone) if gone.facts or gone.messages else with_said_by(ctx, done)


def _deny_text(writer: ClaimWriter, record: Record, now: Instant, detail: str) -> HiddenBeside:
    """Invalidate a note or message, and with it what only says it again and the facts that rest on it alone."""
    work, denied = writer.work, f"a person denied {record.id}"
    messages = same_messages(work.ctx, record)
    work.include(messages)
    resting = {fact.id: fact for fact in resting_facts(work.ctx, record, hidden=[m.id for m in messages])}
    work.read(resting)
    facts = [fact for fact in resting.values() if not work.states[fact.id].pinned]
    for fact in facts:
        writer.retire(fact.id, FactEvent.DENIED, now, now, f"{denied}, on which alone it rests{detail}")
    reasons = {record.id: f"a person denied it{detail}"}
    reasons |= {m.id: f"{denied}, which says the same words{detail}" for m in messages}
    for target, because in reasons.items():
        after = replace(work.states[target], status=Status.INVALIDATED, status_ms=now, held=False)
        work.change(target, after, "denied", f"invalidated: {because}")
        work.close_reviews(target, because)
    restore_displaced(writer, [*(fact.id for fact in facts), record.id], f"{denied}{detail}")
    return HiddenBeside(facts, messages)


def correct(ctx: Context, identity: str, value: str) -> Outcome:
    """Write down what a person says is true instead, and return the memory that says so.

    A fact gets another value, for its days alone where it has ended; anything else gets another text. What was believed
    is superseded, and both are linked. Facts
    that rest on the old text alone are no longer believed. What was pinned stays pinned.
    """
    value = _without_secrets(ctx, identity, value)

    def act(writer: ClaimWriter, record: Record, now: Instant) -> str | None:
        work = writer.work
        is_fact = record.id in work.facts
        new_id = _correct_fact(writer, record.id, value, now) if is_fact else _correct_text(writer, record, value, now)
        if new_id is not None and record.state.pinned:
            work.change(new_id, replace(work.states[new_id], pinned=True), "pinned", f"it corrects {record.id}")
        return new_id

    return apply_answer(ctx, identity, "correct", f": {value}", act)


def _without_secrets(ctx: Context, identity: str, value: str) -> str:
    """Return a new value without secrets, also those that the subject and the predicate of its fact show to be some."""
    record = read_record(ctx, identity)
    label = record.content.text.split(": ", 2)[:2] if record.state.kind is Kind.FACT else ()
    value, replaced = redact_with(value, labelled_secrets(label, value, ctx.policy) if label else {}, ctx.policy)
    tell_redacted(ctx, replaced)
    return value


def both(ctx: Context, identity: str) -> Outcome:
    """Write down that a person says that a fact and what contradicts it both hold: the conflict is closed.

    Of a predicate that no table names, this teaches that it has several values (decision 21). What lost its place only
    because another is newer or surer is believed again beside that one, from then on, as a fact of its own: what was
    replaced stays so. It is named itself, or by what took its place where it is the only one.
    """

    def act(writer: ClaimWriter, record: Record, now: Instant) -> str | None:
        because, is_fact = "a person said: both", record.id in writer.work.facts
        is_believed = is_fact and _is_believed(writer.work, record.id)
        if is_believed and writer.both(record.id, now, because):
            return None
        if not is_fact or (again := believe_displaced(writer, record.id, now, because)) is None:
            raise InvalidInput(
                f"Nothing that is believed contradicts {identity}.", remedy="If it is right, use `confirm` instead."
            )
        return None if is_believed else again

    return apply_answer(ctx, identity, "both", "", act)


def mute(ctx: Context, identity: str) -> Outcome:
    """Write down that a person does not want to be asked about a fact again; it is still believed, and still fades."""

    def act(writer: ClaimWriter, record: Record, now: Instant) -> None:  # noqa: ARG001  # as the other answers
        fact = writer.work.facts.get(record.id)
        if fact is None:
            raise InvalidInput(
                f"{identity} is not a fact, so no question about it is ever asked.", remedy="Nothing needs to be done."
            )
        because = "a person does not want to be asked about it"
        if not fact.asked_not:  # an answer that is given in the same moment must find the memory changed
            writer.work.decisions.change(record.id, record.state, "muted", because, marked=True)
        writer.work.rewrite(replace(fact, asked_not=True), because)
        writer.work.close_reviews(record.id, because)

    return apply_answer(ctx, identity, "mute", "", act)


def _correct_fact(writer: ClaimWriter, identity: str, value: str, now: Instant) -> str | None:
    work, policy = writer.work, writer.work.ctx.policy.knowledge
    fact = work.facts[identity]
    if len(value.strip()) > LONGEST:
        raise InvalidInput(
            f"The value of a fact has at most {LONGEST} characters, not {len(value.strip()):,}.",
            remedy="Give the value alone, for example Thursday; remember stores long texts.",
        )
    new_value = value_of(value, wall_clock(now, work.ctx.policy.days.tz))
    if new_value.norm == fact.value.norm and not fact.denied:
        raise InvalidInput(f"{identity} says that already.", remedy="Confirm it instead.")
    because = f"a person corrected it: {fact.shown_value} to {new_value.text}"
    if is_past(fact, work.states[identity]) or fact.has_ended(now):
        return _correct_past(writer, fact, new_value, now, because)
    if (other := _fact_with_value(work, fact, new_value, now)) is not None:
        return _replace_by_known(writer, identity, other, now, because)
    rivals = [i for sides in work.open_conflicts(identity) for i in sides if i != identity]
    span = Span(0, len(value), value)
    claim = Claim(
        fact.subject,
        fact.predicate,
        fact.type,
        new_value,
        FactOrigin.CORRECTION,
        policy.correction,
        span,
        old=fact.value,
        many=fact.many,
        called=fact.called,
    )
    claim = replace(claim, valid_to=fact.told_to if fact.followed_by else fact.valid_to)  # as was said of the value
    if fact.is_upcoming(now):
        claim = replace(claim, valid_from=fact.valid_from, planned=True)
    name = names_of(work.ctx, work.namespace).entity(fact.subject).name
    decision = Decision(
        Action.REPLACE,
        tuple(work.known_facts([identity, *(i for i in rivals if _is_believed(work, i))], now)),
        ConflictStrategy.CORRECTION,
        fact.predicate,
        because,
    )
    state = work.states[identity]
    origin = ClaimSource(None, now, scope=state.scope, session=work.decisions.records[identity].content.session)
    new_id = writer.carry_out(decision, claim, fact.subject, name, origin)
    writer.interrupt_again(fact, new_id, now)
    return new_id


def _correct_past(writer: ClaimWriter, fact: Fact, value: Value, now: Instant, because: str) -> str:
    """Write down what was true in the days of a fact of the past instead of it; return the new fact."""
    work, span = writer.work, Span(0, len(value.text), value.text)
    claim = Claim(
        fact.subject,
        fact.predicate,
        fact.type,
        value,
        FactOrigin.CORRECTION,
        work.ctx.policy.knowledge.correction,
        span,
    )
    claim = replace(claim, many=fact.many, valid_from=fact.valid_from, valid_to=fact.valid_to, called=fact.called)
    source = ClaimSource(None, now, scope=work.states[fact.id].scope, session=work.record(fact.id).content.session)
    name = names_of(work.ctx, work.namespace).entity(fact.subject).name
    new_id = replace_past(writer, claim, (fact.subject, name), source, [fact], because)
    _interrupt_instead(work, fact.id, new_id, because)
    return new_id


def _interrupt_instead(work: FactSession, old: str, new: str, because: str) -> None:
    """Let a fact of the past interrupt what another one did, and be interrupted by what that one was."""
    for one, kind, other in work.ctx.store.links_at(work.namespace, [old]):
        if kind == INTERRUPTS:
            ends = (new, other) if one == old else (one, new)
            work.link(link_change(INTERRUPTS, *ends, because))


def _is_believed(work: FactSession, identity: str) -> bool:
    return work.states[identity].status is Status.ACTIVE


def _fact_with_value(work: FactSession, fact: Fact, value: Value, now: Instant) -> str | None:
    """Return the fact that is believed beside another and says what that should have said."""
    known = work.about(fact.subject, fact.predicate, now)
    others = (k.fact for k in known if k.fact.id != fact.id and not k.fact.denied)
    return next((other.id for other in others if other.value.norm == value.norm), None)


def _replace_by_known(writer: ClaimWriter, identity: str, other: str, now: Instant, because: str) -> str:
    """Replace a fact by one that is known already: what a person says of it confirms that one."""
    writer.validate(other, now, because)
    if _is_believed(writer.work, identity):  # the two were in no open conflict
        writer.retire(identity, FactEvent.REPLACED, now, now, because)
        writer.work.link(link_change(SUPERSEDES, other, identity, because))
    return other


def _correct_text(writer: ClaimWriter, record: Record, text: str, now: Instant) -> str:
    work, content, state = writer.work, record.content, record.state
    if " ".join(text.split()).casefold() == " ".join(content.text.split()).casefold():
        raise InvalidInput(f"{record.id} says that already.", remedy="Confirm it instead.")
    draft = Draft(
        text=text,
        kind=Kind.NOTE if state.kind is Kind.EPISODE else state.kind,
        scope=state.scope,
        importance=state.importance,
        confidence=work.ctx.policy.knowledge.correction,
        at=now,
        tags=content.tags,
        source=FactOrigin.CORRECTION.value,
        session=content.session,
        task=content.task,
    )
    (new_id,) = work.insert([draft])
    because = f"a person corrected it: {text}"
    after = replace(state, status=Status.SUPERSEDED, status_ms=now, held=False)
    work.change(record.id, after, "replaced", f"superseded: {because}")
    work.close_reviews(record.id, because)
    work.link(link_change(SUPERSEDES, new_id, record.id, because))
    if record.state.kind is not Kind.FACT:  # one of which only words are known has no facts, and is linked already
        take_claims(work.ctx, work.decisions, new_id, (), [record])
    return new_id


def _may_be_answered(work: FactSession, record: Record, verb: str) -> bool:
    """Whether an answer means anything to a memory that is hidden: of the past it does, and what lost its place."""
    if record.id not in work.facts:
        return False
    if verb == "both":
        return record.state.status is Status.SUPERSEDED
    return verb in _OF_THE_PAST and is_past(work.facts[record.id], record.state)


def apply_answer(ctx: Context, identity: str, verb: str, detail: str, act: Act) -> Outcome:
    """Carry an answer about a memory out; the outcome is about what stands in its place."""
    seen: list[str] = []

    def attempt() -> Outcome:
        now = ctx.clock()
        record = read_record(ctx, identity)
        seen.append(record.op)
        if record.op != seen[0]:
            _refuse_answered(ctx, record, verb)
        work = FactSession(ctx, record.namespace, now)
        work.read([identity])
        if record.state.status is not Status.ACTIVE and not _may_be_answered(work, record, verb):
            raise refused_as_hidden(ctx, record, verb)
        if identity not in work.facts:
            work.include([record])
        new_id = act(ClaimWriter(work), work.record(identity), now)
        plan = work.plan(verb, f"{verb} {identity}{detail}")
        if plan.changes:
            ctx.store.apply(plan)
        return outcome(ctx, work.decisions.result(new_id or identity), plan.id if plan.changes else None)

    return retry(attempt)


def _refuse_answered(ctx: Context, record: Record, verb: str) -> None:
    """Refuse an answer where somebody gave another one after this one began: that one was not known to who answers."""
    first = operations_of(ctx, record.namespace)(record.op)
    if first is not None and first.operation in ANSWERS - {verb}:
        raise ConflictError(
            f"{record.id} was answered in the same moment: {first.operation}. Nothing was written.",
            (record.id,),
            remedy="Look at it again, and answer again if that is not right.",
        )
