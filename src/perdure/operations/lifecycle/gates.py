"""The gates of upkeep: the loss budget, and the recall gate inside the transaction that writes a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from perdure.operations.documents import all_documents
from perdure.operations.ports import Context
from perdure.operations.recall import SPARE, embed_query
from perdure.records.errors import GateStopped
from perdure.records.instant import DAY_MS, Instant, text_of
from perdure.records.memory import STANDS_FOR, Record, Shelf
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.store_rows import Answer, Canary, LostAnswer, SearchView, TransactionView
from perdure.rules.lifecycle.canaries import canaries_from_feedback, lost_answers, recall_refusal
from perdure.rules.lifecycle.ration import Budget, LossHistory
from perdure.rules.lifecycle.signals import memory_items
from perdure.rules.ranking import drop_unrelated, rank_candidates, why_nothing_known, with_signals

BY_A_PERSON: Final = frozenset({"archive", "restore", "pin", "unpin", "undo"})
"""What a person decides about named memories passes no gate."""

_REFUSAL: Final = "The plan was stopped by the "
_REMEDY: Final = "Accept the loss with a reason (accept_loss, --accept-loss), or make a smaller plan."

Check = Callable[[TransactionView], None]


def apply_gated(ctx: Context, plan: Plan, *, accept_loss: str | None = None) -> Plan:
    """Apply a plan of upkeep through both gates, and return it as it was journalled."""
    check = guard(ctx, plan, accept_loss)
    plan = with_accepted_loss(plan, accept_loss)
    ctx.store.apply(plan, check=check)
    return plan


def carry_out(
    ctx: Context, plan: Plan, *, dry_run: bool, accept_loss: str | None
) -> tuple[tuple[Plan, ...], tuple[str, ...]]:
    """Return what a result says of a plan: that of a dry run, or the operation that was written through the gates."""
    if not plan.changes:
        return (), ()
    return ((plan,), ()) if dry_run else ((), (apply_gated(ctx, plan, accept_loss=accept_loss).id,))


def with_accepted_loss(plan: Plan, accept_loss: str | None) -> Plan:
    """Return a plan whose note, and so the journal, says why a loss is accepted."""
    if accept_loss is None:
        return plan
    return replace(plan, note=f"{plan.note}; loss accepted: {accept_loss}".removeprefix("; "))


def guard(ctx: Context, plan: Plan, accept_loss: str | None = None) -> Check | None:
    """Hold a plan against the loss budget; return what ``Store.apply`` must check before it is final, if anything."""
    if accept_loss is not None or plan.operation in BY_A_PERSON or not plan.loses:
        return None
    if why := _over_budget(ctx, plan):
        raise GateStopped(f"{_REFUSAL}{why}.", remedy=_REMEDY)
    return recall_gate(ctx, plan)


def _over_budget(ctx: Context, plan: Plan) -> str:
    """Return why a plan hides or shortens too much; empty if it may go on.

    A sweep's plan may hold losses of several days: each day has its own allowance, as when the sweep was planned.
    """
    gates = ctx.policy.gates
    if plan.operation != "sweep":
        return budget_of(ctx, plan.namespace).refusal_of(plan.hides, len(plan.shortened_ids), gates)
    days = Counter(
        c.after.get("status_ms", plan.at) // DAY_MS
        for c in plan.changes
        if c.after and c.after.get("status") == "archived"
    )
    history, before = loss_history(ctx, plan.namespace, min(days, default=plan.at // DAY_MS)), 0
    for day, hides in sorted(days.items()):
        budget = history.budget(day)
        allowed = replace(budget, visible=budget.visible - before).allowance(gates)
        if hides > allowed:
            return (
                f"loss budget: the plan would hide {hides} memories on {text_of(day * DAY_MS)[:10]}; {allowed} may be"
            )
        before += hides
    return budget_of(ctx, plan.namespace).too_short(len(plan.shortened_ids), gates)


def budget_of(ctx: Context, place: str) -> Budget:
    """Return what may still be hidden or shortened in a namespace today."""
    now = ctx.clock()
    return Budget(ctx.store.visible_count(place), loss_history(ctx, place, now // DAY_MS).hidden.get(now // DAY_MS, 0))


def loss_history(ctx: Context, place: str, day: int) -> LossHistory:
    """Return what a namespace gained and lost on each day since one (days since 1970 UTC)."""
    store, since = ctx.store, day * DAY_MS
    shortened = store.shortened_by_day(place, since) if ctx.policy.gates.compress_share < 1 else ()
    return LossHistory.of(
        store.visible_count(place), store.stored_by_day(place, since), store.gone_by_day(place, since), shortened
    )


def recall_gate(ctx: Context, plan: Plan) -> Check | None:
    """Return the replay of the namespace's canaries, or None where there are none to lose.

    What they find now is looked up before the plan is written; the check looks again inside its transaction.
    """
    stake = find_stake(ctx, plan.namespace, _Now(ctx, plan.namespace), plan.changes)
    if not stake.asked:
        return None

    def check(glimpse: TransactionView) -> None:
        lost = stake.lost_in(ctx, glimpse)
        if why := recall_refusal(lost):
            ids = tuple(dict.fromkeys(i for x in lost for i in x.ids))
            raise GateStopped(f"{_REFUSAL}{why}.", ids, remedy=_REMEDY)

    return check


@dataclass(frozen=True, slots=True)
class CanaryAnswers:
    """What a namespace's canaries have to lose."""

    at: Instant
    asked: Sequence[tuple[Canary, Query, tuple[Answer, ...]]]  # those that have an answer now, and what they find
    stand_ins: Mapping[str, frozenset[str]]  # expected memory -> what stands for it

    def ids_of(self, canary: Canary, before: Sequence[Answer]) -> set[str]:
        """Return what a canary expects or finds now, and what stands for it."""
        named = {*canary.expect, *(answer.id for answer in before)}
        return named.union(*(self.stand_ins.get(i, frozenset()) for i in canary.expect))

    def lost_in(self, ctx: Context, look: SearchView) -> list[LostAnswer]:
        """Return the answers of now that are none in a view of what would be."""
        return [
            lost
            for canary, query, before in self.asked
            for lost in lost_answers(canary, before, _answers(ctx, look, query, self.at), self.stand_ins)
        ]


def find_stake(
    ctx: Context,
    place: str,
    look: SearchView,
    changes: Sequence[Change] = (),
    concerns: Callable[[frozenset[str]], bool] | None = None,
) -> CanaryAnswers:
    """Return what the canaries of a namespace find in a view of it as it is, before some changes.

    ``concerns`` says of the memories that a canary expects, and of what stands for them, whether it is to be asked.
    """
    now, canaries = ctx.clock(), _canaries(ctx, place)
    if concerns is not None:
        named = _stand_ins(ctx, place, (), {i for c in canaries for i in c.expect})
        canaries = [
            c for c in canaries if c.contains or concerns(frozenset(c.expect).union(*(named[i] for i in c.expect)))
        ]
    questions = [(c, _question(ctx, c.text)) for c in canaries]
    before = [(c, q, found) for c, q in questions if (found := _answers(ctx, look, q, now))]
    stand_ins = _stand_ins(ctx, place, changes, {i for c, _, _ in before for i in c.expect})
    return CanaryAnswers(now, [x for x in before if lost_answers(x[0], x[2], (), stand_ins)], stand_ins)


def why_of(error: GateStopped) -> str:
    """Return which gate stopped a plan and why, as a reason for the journal."""
    return error.message.removeprefix(_REFUSAL).removesuffix(".")


def check_only(ctx: Context, plan: Plan, check: Check) -> None:
    """Run a check as it would run inside the plan's transaction, and write nothing: what a dry run asks."""

    def look(glimpse: TransactionView) -> None:
        check(glimpse)
        raise _EnoughError

    with suppress(_EnoughError):
        ctx.store.apply(plan, check=look)


class _EnoughError(Exception):
    """Takes a trial back."""


@dataclass(frozen=True, slots=True)
class _Now:
    """The namespace as it is before the plan."""

    ctx: Context
    place: str

    def search(self, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        return self.ctx.store.search(self.place, query, filters, policy)

    def get(self, ids: Sequence[str]) -> list[Record]:
        return self.ctx.store.get(self.place, ids)


def _canaries(ctx: Context, place: str) -> list[Canary]:
    """Return a person's queries of the namespace and its past useful recalls, one for each question."""
    gates = ctx.policy.gates
    golden = [c for c in ctx.golden if c.namespace == place]
    learned = (
        canaries_from_feedback(all_documents(ctx, place, Shelf.OUTCOME), place, gates.canaries)
        if gates.canaries
        else ()
    )
    return [*golden, *learned]


def _question(ctx: Context, text: str) -> Query:
    """Return a canary's query; its vector is made once for as long as the store is open."""
    space = ctx.store.space()
    key = text, "" if space is None else space.name
    if key not in ctx.questions:
        query, note = embed_query(ctx, text)
        if note and ctx.embedder is not None:
            return query  # without a vector now; the embedder may work the next time
        ctx.questions[key] = query
    return ctx.questions[key]


def _answers(ctx: Context, look: SearchView, query: Query, now: Instant) -> tuple[Answer, ...]:
    """Return a canary's hits, best first: ranked by search alone, without what facts add; near-duplicates stay."""
    policy, limit = ctx.policy.recall, ctx.policy.gates.canary_limit
    pool = look.search(query, Filters(), policy.for_limit(limit))
    if why_nothing_known(pool, policy):
        return ()
    order = drop_unrelated(rank_candidates(pool, query, policy, now), policy)[: limit + SPARE]
    memories = {m.id: m for m in memory_items(look.get(order.ids), ctx.policy, now)}
    hits = [with_signals(r, memories[r.id], policy) for r in order if r.id in memories]
    hits.sort(key=lambda hit: -hit.score)
    return tuple(Answer(hit.memory.id, hit.memory.content) for hit in hits[:limit])


def _stand_ins(ctx: Context, place: str, changes: Sequence[Change], expected: set[str]) -> Mapping[str, frozenset[str]]:
    """Return what stands for each expected memory, now or after the plan, over any number of merges."""
    links: dict[str, set[str]] = {}
    for change in changes:
        if change.target is Target.LINK and change.after and change.after["kind"] == STANDS_FOR:
            links.setdefault(change.after["other"], set()).add(change.id)

    def all_for(identity: str) -> frozenset[str]:
        found: set[str] = set()
        waiting = [identity]
        while waiting:
            one = waiting.pop()
            stored = {other for other, kind, _ in ctx.store.links_to(place, one) if kind == STANDS_FOR}
            fresh = (stored | links.get(one, set())) - found - {identity}
            found |= fresh
            waiting += fresh
        return frozenset(found)

    return {identity: all_for(identity) for identity in expected}
