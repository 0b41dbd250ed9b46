"""Holding what is learned against the authorities, in the plan that writes it down and within a limit of time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.event_types import grounded_importance
from perdure.knowledge.operations.apply_claims import LearnTally
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.operations.verification_queue import (
    FactGroup,
    VerificationBatch,
    authorities_for,
    questions_about,
)
from perdure.knowledge.operations.verify import Heard, Verification
from perdure.knowledge.records.authority import Agreement, AnswerStatus, AuthorityAnswer, Verdict
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.verification import deciding_answer, is_believed, verdict_of
from perdure.operations.documents import find_documents
from perdure.operations.lifecycle.gates import budget_of
from perdure.operations.ports import Context
from perdure.records.errors import AuthorityWarning
from perdure.records.instant import Instant
from perdure.records.memory import Shelf, Status

_REST_MS: Final = 60_000
"""An authority that cannot be reached is left alone for so long: it must not cost every call its limit."""
_NOT_ASKED: Final = AuthorityAnswer(AnswerStatus.UNREACHABLE, evidence="it did not answer a moment ago")


def ground(work: FactSession, tally: LearnTally, memories: Collection[str]) -> None:
    """Ask authorities about the facts that an operation made or confirmed, and decide what follows.

    What an authority confirms is validated, and counts as grounded: its importance, and that of the memories that say
    it, is 0.1 higher. What one contradicts is invalidated, and a fact with its value takes the place. What none answers
    in time stays as it was said.
    """
    ctx, seconds = work.ctx, work.ctx.policy.knowledge.authority_seconds
    groups = _groups(work, [*tally.created, *tally.reinforced]) if resources(ctx).authorities and seconds else []
    if not groups:
        return
    heard = _ask(ctx, groups, seconds, work.now)
    groups = _within_budget(work, groups, heard, set(tally.created))
    checks = find_documents(ctx, work.namespace, Shelf.CHECK, sorted(f.id for g in groups for f in g.facts))
    batch = VerificationBatch(tuple(groups), checks={(d.id, d.name): d for d in checks})
    work.edits.read(batch.checks.values())
    verification = Verification(work, batch)
    verdicts = verification.facts(heard)
    _raise_importance(work, [v for v in verdicts if v.outcome is Agreement.AGREES], tally, memories)
    wrong = [v for v in verdicts if v.outcome is Agreement.DISAGREES]
    tally.retired += [v.id for v in wrong]
    tally.created += dict.fromkeys(v.replaced_by for v in wrong if v.replaced_by not in work.facts)
    verification.bring_in()


def _groups(work: FactSession, touched: Iterable[str]) -> list[FactGroup]:
    """Return the facts that are believed about what was touched, where an authority knows about it."""
    place = work.namespace
    keys = dict.fromkeys(work.facts[i].key for i in touched if i in work.facts)
    by_key: dict[str, list[Fact]] = {key: [] for key in keys}
    for fact in work.facts.values():
        believed = work.states[fact.id].status is Status.ACTIVE and is_believed(fact, work.now)
        if fact.key in by_key and believed and authorities_for(work.ctx, fact.predicate, place):
            by_key[fact.key].append(fact)
    found = [sorted(facts, key=lambda f: f.id) for facts in by_key.values() if facts]
    questions = questions_about(work.ctx, place, [facts[0] for facts in found], work.edits)
    return [
        FactGroup(tuple(facts), question, authorities_for(work.ctx, question.predicate, place))
        for facts, question in zip(found, questions, strict=True)
    ]


def _within_budget(work: FactSession, groups: list[FactGroup], heard: Heard, new: Collection[str]) -> list[FactGroup]:
    """Return the groups that may be decided: a wrong query must not invalidate what was believed before."""

    def loses(group: FactGroup) -> int:
        name, answer = deciding_answer([(name, heard[name, group.question]) for name in group.authorities])
        verdicts = [verdict_of(f, name, answer, work.now) for f in group.facts if f.id not in new]
        return sum(v.outcome is Agreement.DISAGREES for v in verdicts)

    lost = [loses(group) for group in groups]
    why = budget_of(work.ctx, work.namespace).refusal(sum(lost), work.ctx.policy.gates) if any(lost) else ""
    if not why:
        return groups
    work.ctx.warn(f"Facts that an authority contradicts were not replaced: {why}. Ask with verify.", AuthorityWarning)
    return [group for group, count in zip(groups, lost, strict=True) if not count]


def _raise_importance(
    work: FactSession, agreeing: Sequence[Verdict], tally: LearnTally, memories: Collection[str]
) -> None:
    """Let new facts that are grounded count for more, and the memories that say what is grounded, each once."""
    confirmed_by: dict[str, str] = {}
    for verdict in agreeing:
        if verdict.id in tally.created:
            confirmed_by.setdefault(verdict.id, verdict.authority)
        for source in work.facts[verdict.id].sources:
            if source.memory in memories:
                confirmed_by.setdefault(source.memory, verdict.authority)
    work.include(work.ctx.store.get(work.namespace, sorted(i for i in confirmed_by if i not in work.states)))
    for identity, authority in confirmed_by.items():
        state = work.states[identity]
        after = replace(state, importance=grounded_importance(state.importance))
        because = f"{authority} confirms it: importance {state.importance:.2f} to {after.importance:.2f}"
        work.change(identity, after, "grounded", because)


def _ask(ctx: Context, groups: Sequence[FactGroup], seconds: float, now: Instant) -> Heard:
    """Ask all authorities at once, and return what they answer in time; each other question is not answered."""
    known, away = resources(ctx).authorities, resources(ctx).away
    questions = {n: list(dict.fromkeys(g.question for g in groups if n in g.authorities)) for n in known}
    names = [name for name, some in questions.items() if some and away.get(name, now) <= now]
    answers = resources(ctx).answers_within([(known[n].answers, questions[n]) for n in names], seconds)
    heard: Heard = {(name, q): _NOT_ASKED for name, some in questions.items() for q in some}
    for name, found in zip(names, answers, strict=True):
        heard |= {(name, q): answer for q, answer in zip(questions[name], found, strict=True)}
        if reason := next((a.evidence for a in found if a.standing is AnswerStatus.UNREACHABLE), ""):
            away[name] = now + _REST_MS
            warning = f"What was learned was not compared with {name}: {reason}. Ask again with verify."
            ctx.warn(warning, AuthorityWarning)
    return heard
