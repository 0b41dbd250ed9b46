"""Asking authorities about facts and about what memories cite, and writing down what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.operations.verification_queue import FactGroup, VerificationBatch, select_batch
from perdure.knowledge.records.authority import Agreement, AuthorityAnswer, AuthorityQuestion, Verdict
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.records.results import CitedMemory, VerifyResult
from perdure.knowledge.rules.fact_records import link_change
from perdure.knowledge.rules.verification import (
    check_data,
    conflict_data,
    counts_as_validation,
    deciding_answer,
    fact_from_authority,
    retire,
    seen_data,
    since_earlier,
    successor_draft,
    validate_by,
    verdict_of,
    worst_state,
)
from perdure.operations.lifecycle.gates import budget_of, with_accepted_loss
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.errors import GateStopped
from perdure.records.memory import SUPERSEDES, Document, Draft, Shelf, Status
from perdure.records.plan import Plan

LIMIT: Final = 1000
GUIDE: Final = "docs/how-to.md, Let a database decide what is true"
_LONGEST: Final = 1000  # characters of a reason that are kept
Heard = dict[tuple[str, AuthorityQuestion], AuthorityAnswer]  # (authority, question) -> what it answers


def verify(
    ctx: Context,
    namespace: str,
    ids: Sequence[str] | None = None,
    *,
    limit: int = LIMIT,
    accept_loss: str | None = None,
) -> VerifyResult:
    """Ask authorities about facts and citations of a namespace, and write down what follows as one plan.

    Agreement validates. Disagreement invalidates the fact, keeps both values as a conflict, and brings in a fact with
    the authority's value, unless there is one. What is silent, ambiguous or unreachable changes no fact. What memories
    cite is looked at in the working trees, and only written down. With ``ids`` only these memories are looked at, and
    with a fact the others of its key; at most ``limit`` facts and citing memories, those looked at longest ago first.

    The loss budget holds, because a wrong query would invalidate everything (GateStopped, nothing written). The recall
    gate does not: an answer that is replaced by the right one is not lost.
    """
    heard: Heard = {}
    return retry(lambda: _verify(ctx, namespace, ids, limit, accept_loss, heard))


def _verify(
    ctx: Context, place: str, ids: Sequence[str] | None, limit: int, accept_loss: str | None, heard: Heard
) -> VerifyResult:
    picked = select_batch(ctx, place, ids, limit, ctx.clock())
    _ask(ctx, picked.keys, heard)
    cited = _check_citations(ctx, picked)
    work = Verification(_session(ctx, place, picked), picked)
    verdicts = work.facts(heard)
    work.cite(cited)
    plan = work.plan()
    if plan.changes:
        _gate(ctx, plan, accept_loss)
        ctx.store.apply(with_accepted_loss(plan, accept_loss))
    return VerifyResult(
        namespace=place,
        verdicts=tuple(verdicts),
        cited=tuple(cited),
        left=picked.left,
        unasked=tuple(i for i in dict.fromkeys(ids or ()) if i not in picked.ids),
        operations=(plan.id,) if plan.changes else (),
        note="" if picked.ids else _nobody_note(ctx, place),
    )


def _session(ctx: Context, place: str, picked: VerificationBatch) -> FactSession:
    session, facts = FactSession(ctx, place, ctx.clock()), [f for key in picked.keys for f in key.facts]
    session.edits.read(Document(Shelf.FACT, f.id, f.key, f.to_data()) for f in facts)
    session.edits.read(picked.checks.values())
    session.read(f.id for f in facts)
    return session


def _nobody_note(ctx: Context, place: str) -> str:
    if not resources(ctx).authorities and not resources(ctx).witnesses:
        file = ctx.policy.knowledge.file
        where = f"in {file}" if file else "in a TOML file that the policy's key knowledge.file names"
        return f"No authority is set: describe one under [authorities.NAME] {where} ({GUIDE})."
    names = ", ".join([*resources(ctx).authorities, *resources(ctx).witnesses])
    return f"Nothing to ask about in {place}: no fact and no citation that the authorities set ({names}) answer for."


def _gate(ctx: Context, plan: Plan, accept_loss: str | None) -> None:
    why = "" if accept_loss else budget_of(ctx, plan.namespace).refusal(plan.hides, ctx.policy.gates)
    if why:
        raise GateStopped(
            f"Nothing was written: {why}. So many facts at odds with an authority mean a wrong query more often than "
            "wrong facts.",
            remedy="Look at the query first. If the authority is right, accept the loss with a reason (--accept-loss).",
        )


def _ask(ctx: Context, keys: Sequence[FactGroup], heard: Heard) -> None:
    """Ask each authority everything that it knows about, at once; what was heard before is not asked again."""
    for name, authority in resources(ctx).authorities.items():
        questions = [k.question for k in keys if name in k.authorities and (name, k.question) not in heard]
        questions = list(dict.fromkeys(questions))
        heard.update(zip(((name, q) for q in questions), authority.answers(questions), strict=True))


def _check_citations(ctx: Context, picked: VerificationBatch) -> list[CitedMemory]:
    found = []
    for name, some in picked.citing.items():
        looked = resources(ctx).witnesses[name].sight([cited for _, cited in some]) if some else []
        for (identity, _), sightings in zip(some, looked, strict=True):
            before = picked.checks.get((identity, name))
            looks = since_earlier(sightings, before.data.get("seen", ()) if before else ())
            found.append(CitedMemory(identity, name, worst_state(looks), tuple(looks)))
    return found


@dataclass(slots=True)
class _NewFact:
    fact: Fact
    draft: Draft
    verdict: Verdict
    like: str  # the fact whose place it takes


@dataclass(slots=True)
class Verification:
    """What follows from what was heard, gathered for one plan."""

    work: FactSession
    picked: VerificationBatch
    new: list[_NewFact] = field(default_factory=list)

    # --- facts

    def facts(self, heard: Heard) -> list[Verdict]:
        """Decide about every fact that is still in view, and return what was said of each."""
        verdicts: list[Verdict] = []
        states = self.work.states
        for key in self.picked.keys:
            authority, answer = deciding_answer([(name, heard[name, key.question]) for name in key.authorities])
            facts = [f for f in key.facts if f.id in states and states[f.id].status is Status.ACTIVE]
            verdicts += self._group(key, [(f, verdict_of(f, authority, answer, self.work.now)) for f in facts])
        return verdicts

    def _group(self, key: FactGroup, pairs: Sequence[tuple[Fact, Verdict]]) -> list[Verdict]:
        winner = next((f for f, v in pairs if v.outcome is Agreement.AGREES and not f.denied), None)
        wrong = [(f, v) for f, v in pairs if v.outcome is Agreement.DISAGREES]
        if wrong and winner is None:
            winner = self._successor(key, *wrong[-1])
        verdicts = []
        for fact, verdict in pairs:
            result = verdict
            if verdict.outcome is Agreement.AGREES:
                self._agree(fact, verdict)
            elif verdict.outcome is Agreement.DISAGREES and winner is not None:
                result = replace(verdict, replaced_by=winner.id)
                self._disagree(fact, result, winner)
            elif verdict.outcome is not Agreement.UNREACHABLE:
                self._check(verdict, counted=False)
            verdicts.append(result)
        return verdicts

    def _check(self, verdict: Verdict, *, counted: bool) -> None:
        before = self.picked.checks.get((verdict.id, verdict.authority))
        self._put(
            Shelf.CHECK, verdict.id, verdict.authority, check_data(verdict, before, counted=counted), verdict.evidence
        )

    def _agree(self, fact: Fact, verdict: Verdict) -> None:
        counted = counts_as_validation(self.picked.checks.get((fact.id, verdict.authority)), verdict.at)
        if counted:
            policy = self.work.ctx.policy
            state, because = validate_by(self.work.states[fact.id], policy, verdict.at, verdict.authority)
            self.work.change(fact.id, state, "validated", because)
        self._check(verdict, counted=counted)

    def _disagree(self, fact: Fact, verdict: Verdict, winner: Fact) -> None:
        """Invalidate a fact: it is no longer believed, and what holds instead says so."""
        after = replace(self.work.states[fact.id], status=Status.INVALIDATED, status_ms=verdict.at, held=False)
        because = f"{verdict.evidence}, not {verdict.claimed!r}: invalidated, {winner.id} holds instead"
        self.work.change(fact.id, after, "invalidated", because)
        self.work.rewrite(retire(fact, verdict.at), because[:_LONGEST])
        self._check(verdict, counted=False)
        self._conflict(fact, verdict, winner, because)
        known = winner.id in self.work.facts
        links = self.work.ctx.store.links(self.work.namespace, winner.id) if known else []
        if (SUPERSEDES, fact.id) not in {(kind, other) for kind, other, _ in links}:
            self.work.link(link_change(SUPERSEDES, winner.id, fact.id, because))

    def _conflict(self, fact: Fact, verdict: Verdict, winner: Fact, because: str) -> None:
        """Write down both sides; a conflict that was open between the two is decided by it."""
        states = self.work.states
        sure = states[winner.id].confidence if winner.id in states else self.work.ctx.policy.knowledge.authority
        loser = (fact.id, fact.shown_value, states[fact.id].confidence)
        data = conflict_data(verdict, loser, (winner.id, winner.value.text, sure))
        first, second = sorted((fact.id, winner.id), key=self._known_since)
        self.work.edits.read(self.work.ctx.store.documents.strict.find(self.work.namespace, Shelf.CONFLICT, [first]))
        self._put(Shelf.CONFLICT, first, second, data, because)

    def _known_since(self, identity: str) -> tuple[int, str]:
        state = self.work.states.get(identity)
        return (self.work.now if state is None else state.recorded_ms, identity)

    def _put(self, shelf: Shelf, identity: str, name: str, data: dict[str, Any], because: str) -> None:
        self.work.edits.put(shelf, identity, name, data, because[:_LONGEST])

    # --- facts that are brought in

    def _successor(self, key: FactGroup, fact: Fact, verdict: Verdict) -> Fact:
        """Make a fact with the authority's value, in the place of one that is wrong."""
        ctx, old = self.work.ctx, self.work.decisions.records[fact.id]
        new = fact_from_authority(ctx.ids(verdict.at), fact, verdict)
        agrees = replace(verdict, id=new.id, outcome=Agreement.AGREES, claimed=new.value.text)
        self.new.append(_NewFact(new, successor_draft(old, fact, key.question, verdict, ctx.policy), agrees, fact.id))
        return new

    def bring_in(self) -> None:
        """Store the new facts before everything else, with their documents, and with whom the old ones mention."""
        if not self.new:
            return
        removed_ids = {i for i, s in self.work.states.items() if s.status is not Status.ACTIVE}
        self.work.insert([n.draft for n in self.new], ids=[n.fact.id for n in self.new], removed=removed_ids)
        for one in self.new:
            why = f"{one.verdict.evidence}: a fact that {one.verdict.authority} gives"
            self.work.rewrite(one.fact, why[:_LONGEST])
            self._check(one.verdict, counted=True)
            for mention in self.work.ctx.store.documents.strict.find(self.work.namespace, Shelf.MENTION, [one.like]):
                self._put(Shelf.MENTION, one.fact.id, mention.name, dict(mention.data), why)

    # --- what memories cite

    def cite(self, cited: Sequence[CitedMemory]) -> None:
        """Write down what became of what memories cite."""
        for one in cited:
            data = seen_data(one.sightings, self.work.now)
            self._put(Shelf.CHECK, one.id, one.authority, data, data["evidence"])

    def plan(self) -> Plan:
        """Return everything as one plan."""
        states = self.work.states.values()
        hidden = sum(1 for s in states if s.status is Status.INVALIDATED)
        quantity = "1 fact" if len(states) == 1 else f"{len(states)} facts"
        note = f"verify: {quantity} asked about, {hidden} invalidated, {len(self.new)} brought in"
        self.bring_in()
        return self.work.plan("verify", note)
