"""Open questions to a person, the most valuable doubt first, and the answers that close them."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from perdure.operations.decisions import StateChange, decide_all, outcome
from perdure.operations.documents import all_documents
from perdure.operations.ports import Context
from perdure.operations.writing import found, retried
from perdure.records.document import Document, Shelf
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.instant import DAY_MS, Instant, text_of
from perdure.records.memory import MemoryItem, Record, State, Status
from perdure.records.outcome import Outcome
from perdure.records.plan import Change, Target
from perdure.records.policy_knowledge import KnowledgePolicy
from perdure.records.signal_results import Question
from perdure.rules.lifecycle.decay import preview
from perdure.rules.lifecycle.reinforcement import validate_state
from perdure.rules.lifecycle.signals import current_signals, memory_items
from perdure.rules.lifecycle.stale_facts import confirmation_question, is_aging, validated_at

PAGE: Final = 1000
LONGEST: Final = 5000
"""So many ageing facts are ranked."""
FEW: Final = 50
"""So many of them are read at a time."""

ANSWERS: Final = frozenset({"settle", "confirm", "deny", "correct", "mute", "both", "same"})
"""Operations by which a person answers."""
_ANSWERS: Final = 2000
"""So many of the last operations are looked at for the answers of a day."""

Answer = Literal["keep", "drop"]


def review(ctx: Context, namespace: str, limit: int | None) -> list[Question]:
    """Return open questions, the highest value at risk first; memories that are hidden are not asked about.

    Asked about are memories with an open review, and facts that are ageing (seed 002, stage 6), but not those of which
    a person said: do not ask again.
    """
    now = ctx.clock()
    about = _open(ctx, namespace)
    ids = list(about)
    asked: list[Question] = []
    for start in range(0, len(ids), PAGE):
        memories = memory_items(ctx.store.get(namespace, ids[start : start + PAGE]), ctx.policy, now)
        seen = [m for m in memories if m.status is Status.ACTIVE]
        rivals = _rivals(ctx, namespace, [d for m in seen for d in about[m.id]], now)
        asked += [q for m in seen if (q := _question(m, about[m.id], rivals)) is not None]
    most = left_today(ctx, namespace) if limit is None else limit
    asked += [_aged(m, ctx.policy.knowledge) for m in _aging(ctx, namespace, now, about, most)]
    asked += ctx.extension.questions(ctx, namespace, now)
    asked.sort(key=lambda q: (-q.value_at_risk, q.id))
    return asked[:most]


def _aging(ctx: Context, namespace: str, now: Instant, besides: Container[str], most: int) -> list[MemoryItem]:
    """Return the ageing facts with the highest value at risk that a person is willing to be asked about.

    Of very many those are ranked that nobody has spoken of for longest.
    """
    policy = ctx.policy.knowledge
    before = now - int(policy.aging_days * DAY_MS)
    ids = ctx.store.unconfirmed_facts(namespace, before, policy.aging_reinforcements, LONGEST)
    states = {i: s for i, (s, _) in ctx.store.states(namespace, ids).items() if is_aging(s, policy, now)} if ids else {}
    sure = current_signals(list(states.values()), ctx.policy, now)
    risk = dict(zip(states, (sure.value * (1.0 - sure.confidence)).tolist(), strict=True))
    ranked = sorted((i for i in states if i not in besides), key=lambda i: (-risk[i], i))
    found: list[MemoryItem] = []
    for start in range(0, len(ranked), FEW):
        page = ranked[start : start + FEW]
        told = ctx.store.documents.find(namespace, Shelf.FACT, page)
        muted = {d.id for d in told if d.data.get("asked_not")}
        found += memory_items(ctx.store.get(namespace, [i for i in page if i not in muted]), ctx.policy, now)
        if len(found) >= most:
            break
    return found


def left_today(ctx: Context, namespace: str) -> int:
    """Return how many questions may still be put to a person today: those that were answered count."""
    today = text_of(ctx.clock()).partition(" ")[0]
    done = ctx.store.operations(namespace, _ANSWERS)
    answered = sum(
        1 for o in done if o.at.startswith(today) and (o.operation in ANSWERS or o.note.startswith("settle "))
    )
    return max(0, ctx.policy.knowledge.questions_per_day - answered)


def _aged(memory: MemoryItem, policy: KnowledgePolicy) -> Question:
    said = validated_at(memory.state)
    since = said + int(policy.aging_days * DAY_MS)
    return Question(
        id=memory.id,
        namespace=memory.namespace,
        question=confirmation_question(memory, said),
        why=f"nobody has said for {policy.aging_days:g} days that it is still true",
        since=text_of(since),
        value_at_risk=memory.value * (1.0 - memory.confidence),
    )


def _open(ctx: Context, namespace: str) -> dict[str, list[Document]]:
    """Return memory id -> the open reviews of it."""
    about: dict[str, list[Document]] = {}
    for document in all_documents(ctx, namespace, Shelf.REVIEW):
        about.setdefault(document.id, []).append(document)
    return about


def _rivals(ctx: Context, namespace: str, documents: Sequence[Document], now: Instant) -> dict[str, MemoryItem]:
    """Return what is believed of that which the memories contradict that are asked about."""
    ids = sorted({str(d.data["against"]) for d in documents if "against" in d.data})
    found = memory_items(ctx.store.get(namespace, ids), ctx.policy, now) if ids else []
    return {m.id: m for m in found if m.status is Status.ACTIVE}


def _question(memory: MemoryItem, about: Sequence[Document], rivals: Mapping[str, MemoryItem]) -> Question | None:
    """Return the question about a memory; None where what it contradicted is not believed any longer."""
    documents = [d for d in about if "against" not in d.data or d.data["against"] in rivals]
    if not documents:
        return None
    against = [rivals[str(d.data["against"])] for d in documents if "against" in d.data]
    day = text_of(memory.state.created_ms).partition(" ")[0]
    since = min(int(d.data.get("since_ms", memory.state.recorded_ms)) for d in documents)
    others = " and ".join(f"'{preview(m.content)}'" for m in against)
    told = f" It contradicts {others}." if others else ""
    which = next((str(d.data["why"]) for d in documents if d.name.startswith("which:")), "")
    asked = f"{which}: which?" if which else "Is it right?"
    return Question(
        id=memory.id,
        namespace=memory.namespace,
        question=f"On {day} this was remembered: '{preview(memory.content)}'.{told} {asked}",
        why="; ".join(dict.fromkeys(str(d.data.get("why", d.name)) for d in documents)),
        since=text_of(since),
        value_at_risk=memory.value * (1.0 - memory.confidence),
        against=tuple(m.id for m in against),
    )


def settle(ctx: Context, identity: str, verdict: Answer, reason: str | None) -> Outcome:
    """Close the questions about a memory: ``keep`` validates it, ``drop`` archives it (a fact: invalidates it).

    Raises:
        NotFound: There is no such memory, or no open question about it.
        InvalidInput: It is to be kept, but is hidden by now.
    """
    record = found(ctx, identity)
    _open_about(ctx, record)
    if (learned := ctx.extension.answer(ctx, record, verdict, reason)) is not None:
        return learned
    return retried(lambda: _settled(ctx, identity, verdict, reason))


def _settled(ctx: Context, identity: str, verdict: Answer, reason: str | None) -> Outcome:
    now = ctx.clock()
    record = found(ctx, identity)
    questions = _open_about(ctx, record)
    hidden = record.state.status is not Status.ACTIVE
    if hidden and verdict == "keep":
        raise InvalidInput(
            f"{identity} is {record.state.status} by now and so cannot be kept.", remedy="Restore it first."
        )
    decide = _validating(now) if verdict == "keep" else _archiving(now, reason)
    told = f": {reason}" if reason else ""
    closed = [
        Change(
            Target.DOCUMENT,
            identity,
            {"shelf": Shelf.REVIEW, "name": d.name, "data": dict(d.data)},
            None,
            f"a person answered {verdict}{told}",
        )
        for d in questions
    ]
    operation = decide_all(
        ctx,
        record.namespace,
        [] if hidden else [record],
        decide,
        operation="settle" if verdict == "keep" else "archive",  # what a person hides is no loss of upkeep
        note=f"settle {identity}: {verdict}{told}",
        now=now,
        documents=closed,
    )
    return outcome(ctx, found(ctx, identity, record.namespace), operation)


def _open_about(ctx: Context, record: Record) -> list[Document]:
    """Return the open questions about a memory.

    Raises:
        NotFound: There is none.
    """
    questions = ctx.store.documents.find(record.namespace, Shelf.REVIEW, [record.id])
    if not questions:
        raise NotFound(f"There is no open question about {record.id}.", remedy="`review` lists the open ones.")
    return questions


def _validating(now: Instant) -> Callable[[list[State]], list[StateChange]]:
    def decide(states: list[State]) -> list[StateChange]:
        return [
            StateChange(o.state, f"a person said that it is right: {o.because}")
            for o in (validate_state(s, now) for s in states)
        ]

    return decide


def _archiving(now: Instant, reason: str | None) -> Callable[[list[State]], list[StateChange]]:
    because = "archived: a person said that it is not right" + (f": {reason}" if reason else "")

    def decide(states: list[State]) -> list[StateChange]:
        return [StateChange(replace(s, status=Status.ARCHIVED, status_ms=now, held=False), because) for s in states]

    return decide
