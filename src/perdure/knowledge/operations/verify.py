"""Asking authorities about facts and about what memories cite, and writing down what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from perdure.knowledge.operations.ports import resources
from perdure.knowledge.operations.verification_queue import FactGroup, VerificationBatch, select_batch
from perdure.knowledge.records.authority import Agreement, AuthorityAnswer, AuthorityQuestion, Verdict
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.records.verification_results import Cited, Verified
from perdure.knowledge.rules.citations import worst
from perdure.knowledge.rules.verification import (
    USUAL,
    Values,
    check_data,
    conflict_data,
    counts_as_validation,
    deciding_answer,
    fact_from_authority,
    retire,
    seen_data,
    successor_draft,
    validate_by,
    verdict_of,
    written,
)
from perdure.operations.decisions import begin
from perdure.operations.lifecycle.gates import budget_of, with_accepted_loss
from perdure.operations.new_memories import insert
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.document import Document, Shelf
from perdure.records.errors import GateStopped
from perdure.records.memory import Status
from perdure.records.new_memory import Draft
from perdure.records.plan import Change, Plan, Target
from perdure.rules.decisions import Decisions

LIMIT: Final = 1000
GUIDE: Final = "docs/how-to.md, Let a database decide what is true"
_Heard = dict[tuple[str, AuthorityQuestion], AuthorityAnswer]


def verify(
    ctx: Context,
    namespace: str,
    ids: Sequence[str] | None = None,
    *,
    limit: int = LIMIT,
    values: Values = USUAL,
    accept_loss: str | None = None,
) -> Verified:
    """Ask authorities about facts and citations of a namespace, and write down what follows as one plan.

    Agreement validates. Disagreement invalidates the fact, keeps both values as a conflict, and brings in a fact with
    the authority's value, unless there is one. What is silent, ambiguous or unreachable changes no fact. What memories
    cite is looked at in the working trees, and only written down.

    The loss budget holds, because a wrong query would invalidate everything. The recall gate does not: an answer that
    is replaced by the right one is not lost.

    Raises:
        GateStopped: More facts disagree than the loss budget lets go; nothing was written.
    """
    heard: _Heard = {}
    return retry(lambda: _verify(ctx, namespace, ids, limit, values, accept_loss, heard))


def _verify(
    ctx: Context,
    place: str,
    ids: Sequence[str] | None,
    limit: int,
    values: Values,
    accept_loss: str | None,
    heard: _Heard,
) -> Verified:
    picked = select_batch(ctx, place, ids, limit, ctx.clock())
    _ask(ctx, picked.keys, heard)
    cited = _check_citations(ctx, picked)
    work = _Work(ctx, place, picked, values)
    verdicts = work.facts(heard)
    work.cite(cited)
    plan = work.plan()
    if plan.changes:
        _gate(ctx, plan, accept_loss)
        ctx.store.apply(with_accepted_loss(plan, accept_loss))
    return Verified(
        namespace=place,
        verdicts=tuple(verdicts),
        cited=tuple(cited),
        left=picked.left,
        unasked=tuple(i for i in dict.fromkeys(ids or ()) if i not in picked.ids),
        operations=(plan.id,) if plan.changes else (),
        note="" if picked.ids else _nobody_note(ctx, place),
    )


def _nobody_note(ctx: Context, place: str) -> str:
    """Return why nobody was asked, and what to do about it."""
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


def _ask(ctx: Context, keys: Sequence[FactGroup], heard: _Heard) -> None:
    """Ask each authority everything that it knows about, at once; what was heard before is not asked again."""
    for name, authority in resources(ctx).authorities.items():
        questions = [k.question for k in keys if name in k.authorities and (name, k.question) not in heard]
        questions = list(dict.fromkeys(questions))
        heard.update(zip(((name, q) for q in questions), authority.answers(questions), strict=True))


def _check_citations(ctx: Context, picked: VerificationBatch) -> list[Cited]:
    found = []
    for name, some in picked.citing.items():
        seen = resources(ctx).witnesses[name].sight([cited for _, cited in some]) if some else []
        found += [
            Cited(identity, name, worst(sightings), tuple(sightings))
            for (identity, _), sightings in zip(some, seen, strict=True)
        ]
    return found


@dataclass(slots=True)
class _Born:
    """A fact that is to be brought in."""

    id: str
    draft: Draft
    fact: Fact
    verdict: Verdict
    like: str
    """The fact whose place it takes."""


@dataclass(slots=True)
class _Work:
    """What follows from what was heard, gathered for one plan."""

    ctx: Context
    place: str
    picked: VerificationBatch
    values: Values
    born: list[_Born] = field(default_factory=list)
    decisions: Decisions = field(init=False)

    def __post_init__(self) -> None:
        now = self.ctx.clock()
        facts = [f.id for key in self.picked.keys for f in key.facts]
        read = [r for r in self.ctx.store.get(self.place, facts) if r.state.status is Status.ACTIVE]  # still in view
        self.decisions = begin(self.ctx, self.place, now)
        self.decisions.admit(read)

    # --- facts

    def facts(self, heard: _Heard) -> list[Verdict]:
        """Decide about every fact, and return what was said of each."""
        told: list[Verdict] = []
        for key in self.picked.keys:
            authority, answer = deciding_answer([(name, heard[name, key.question]) for name in key.authorities])
            facts = [f for f in key.facts if f.id in self.decisions.states]
            verdicts = [verdict_of(f, authority, answer, self.values, self.decisions.now) for f in facts]
            told += self._key(key, facts, verdicts)
        return told

    def _key(self, key: FactGroup, facts: Sequence[Fact], verdicts: Sequence[Verdict]) -> list[Verdict]:
        pairs = list(zip(facts, verdicts, strict=True))
        agreeing = [f for f, v in pairs if v.outcome is Agreement.AGREES]
        wrong = [(f, v) for f, v in pairs if v.outcome is Agreement.DISAGREES]
        winner = agreeing[0] if agreeing else None
        if wrong and winner is None:
            winner = self._successor(key, *wrong[-1])
        told = []
        for fact, verdict in pairs:
            said = verdict
            if verdict.outcome is Agreement.AGREES:
                self._agree(fact, verdict)
            elif verdict.outcome is Agreement.DISAGREES and winner is not None:
                said = replace(verdict, replaced_by=winner.id)
                self._disagree(fact, said, winner)
            elif verdict.outcome is not Agreement.UNREACHABLE:
                self._check(verdict, counted=False)
            told.append(said)
        return told

    def _check(self, verdict: Verdict, *, counted: bool) -> None:
        before = self.picked.checks.get((verdict.id, verdict.authority))
        after = check_data(verdict, before, counted=counted)
        self._write(Shelf.CHECK, verdict.id, verdict.authority, before, after, verdict.evidence)

    def _agree(self, fact: Fact, verdict: Verdict) -> None:
        counted = counts_as_validation(self.picked.checks.get((fact.id, verdict.authority)), verdict.at)
        if counted:
            state, because = validate_by(self.decisions.states[fact.id], self.ctx.policy, verdict.at, verdict.authority)
            self.decisions.change(fact.id, state, "validated", because)
        self._check(verdict, counted=counted)

    def _disagree(self, fact: Fact, verdict: Verdict, winner: Fact) -> None:
        """Invalidate a fact: it is no longer believed, and what holds instead says so."""
        state = self.decisions.states[fact.id]
        gone = replace(state, status=Status.INVALIDATED, status_ms=verdict.at, held=False)
        because = f"{verdict.evidence}, not {verdict.claimed!r}: invalidated, {winner.id} holds instead"
        self.decisions.change(fact.id, gone, "invalidated", because)
        data = retire(fact, verdict.at).to_data()
        self._write(
            Shelf.FACT, fact.id, fact.key, Document(Shelf.FACT, fact.id, fact.key, fact.to_data()), data, because
        )
        self._check(verdict, counted=False)
        self._conflict(fact, verdict, winner, because)
        link = {"kind": "supersedes", "other": fact.id, "weight": 1.0}
        there = {(kind, other) for kind, other, _ in self._links(winner.id)}
        if ("supersedes", fact.id) not in there:
            self.decisions.add([Change(Target.LINK, winner.id, None, link, because)])

    def _links(self, identity: str) -> list[tuple[str, str, float]]:
        return [] if any(b.id == identity for b in self.born) else self.ctx.store.links(self.place, identity)

    def _conflict(self, fact: Fact, verdict: Verdict, winner: Fact, because: str) -> None:
        """Write down both sides; a conflict that was open between the two is decided by it."""
        policy, states = self.ctx.policy.knowledge, self.decisions.states
        sure = states[winner.id].confidence if winner.id in states else policy.authority
        loser = (fact.id, fact.value.text, states[fact.id].confidence)
        data = conflict_data(verdict, loser, (winner.id, winner.value.text, sure))
        first, second = sorted((fact.id, winner.id), key=self._known_since)
        there = self.ctx.store.documents.find(self.place, Shelf.CONFLICT, [first])
        before = next((d for d in there if d.name == second), None)
        self._write(Shelf.CONFLICT, first, second, before, data, because)

    def _known_since(self, identity: str) -> tuple[int, str]:
        state = self.decisions.states.get(identity)
        return (self.decisions.now if state is None else state.recorded_ms, identity)

    def _write(
        self, shelf: Shelf, identity: str, name: str, before: Document | None, after: dict[str, object], because: str
    ) -> None:
        self.decisions.add(written(shelf, identity, name, None if before is None else before.data, after, because))

    # --- facts that are brought in

    def _successor(self, key: FactGroup, fact: Fact, verdict: Verdict) -> Fact:
        """Make a fact with the authority's value, in the place of one that is wrong."""
        old = self.decisions.records[fact.id]
        draft = successor_draft(old, fact, key.question, verdict, self.ctx.policy)
        made = fact_from_authority(self.ctx.ids(verdict.at), fact, verdict, self.values)
        agrees = replace(verdict, id=made.id, outcome=Agreement.AGREES, claimed=made.value.text)
        self.born.append(_Born(made.id, draft, made, agrees, fact.id))
        return made

    def _bring_in(self) -> None:
        """Store the new facts before everything else, with their documents, and with whom the old ones mention."""
        if not self.born:
            return
        ctx = self.ctx
        gone = {i for i, s in self.decisions.states.items() if s.status is not Status.ACTIVE}
        insert(ctx, self.decisions, [b.draft for b in self.born], ids=[b.id for b in self.born], gone=gone)
        for one in self.born:
            why = f"{one.verdict.evidence}: a fact that {one.verdict.authority} gives"
            self._write(Shelf.FACT, one.id, one.fact.key, None, one.fact.to_data(), why)
            self._write(Shelf.ABOUT, one.id, one.fact.subject, None, {}, why)
            self._check(one.verdict, counted=True)
            for mention in ctx.store.documents.find(self.place, Shelf.MENTION, [one.like]):
                self._write(Shelf.MENTION, one.id, mention.name, None, dict(mention.data), why)

    # --- what memories cite

    def cite(self, cited: Sequence[Cited]) -> None:
        """Write down what became of what memories cite."""
        for one in cited:
            before = self.picked.checks.get((one.id, one.authority))
            data = seen_data(one.sightings, self.decisions.now)
            self._write(Shelf.CHECK, one.id, one.authority, before, data, data["evidence"])

    def plan(self) -> Plan:
        """Return everything as one plan."""
        hidden = sum(1 for s in self.decisions.states.values() if s.status is Status.INVALIDATED)
        facts = len(self.decisions.states)
        asked = "1 fact" if facts == 1 else f"{facts} facts"
        note = f"verify: {asked} asked about, {hidden} invalidated, {len(self.born)} brought in"
        self._bring_in()
        return self.decisions.plan("verify", note)
