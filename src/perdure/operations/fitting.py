"""Keeping a namespace within a number of tokens: what shows less, what is set aside, as plans that gates may stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from perdure.operations.compressing import documents, measured, measures
from perdure.operations.ports import Context
from perdure.operations.writing import retried
from perdure.records.instant import Instant
from perdure.records.memory import Form, Memory, Record, State, Status
from perdure.records.plan import Change, Plan, Target
from perdure.records.results_forms import FitResult, Refitted
from perdure.rules.birth import with_due
from perdure.rules.fitting import Choice, Piece, chosen, is_exempt, worth_of
from perdure.rules.forms import LADDER, Shown, shown_as
from perdure.rules.signals import views
from perdure.rules.upkeep import difference

PAGE: Final = 1000


def fit(ctx: Context, namespace: str, tokens: int, *, dry_run: bool, accept_loss: str | None = None) -> FitResult:
    """Bring what recall may return within a number of tokens.

    Args:
        ctx: Store, policy, clock, ids, embedder.
        namespace: Which one.
        tokens: The budget.
        dry_run: Only tell.
        accept_loss: Why the gates may be overridden; kept in the journal.
    """
    now = ctx.clock()
    records = {r.id: r for r in _visible(ctx, namespace)}
    memories = views(list(records.values()), ctx.policy, now)
    before = sum(m.tokens for m in memories)
    if before <= tokens:
        return FitResult(namespace, tokens, before, before, (), dry_run=dry_run)
    pieces = [_piece(ctx, m, records[m.id]) for m in memories]
    choice = chosen(pieces, tokens)
    plans = retried(lambda: _applied(ctx, namespace, choice, now, dry_run=dry_run, accept_loss=accept_loss))
    return FitResult(
        namespace,
        tokens,
        choice.before,
        choice.after,
        tuple(_told(choice, records)),
        dry_run=dry_run,
        plans=tuple(plans) if dry_run else (),
        operations=() if dry_run else tuple(p.id for p in plans),
    )


def _visible(ctx: Context, namespace: str) -> Iterator[Record]:
    after = ""
    while ids := ctx.store.every(namespace, after, PAGE):
        after = ids[-1]
        yield from (r for r in ctx.store.get(namespace, ids) if r.state.status is Status.ACTIVE)


def _piece(ctx: Context, memory: Memory, record: Record) -> Piece:
    current = ((memory.form, memory.tokens),)
    if is_exempt(memory):
        return Piece(memory.id, worth_of(memory), current, exempt=True)
    reachable = LADDER[LADDER.index(memory.form) + 1 :]
    shown = [shown_as(record.content.text, form, ctx.policy.compression) for form in reachable]
    return Piece(memory.id, worth_of(memory), (*current, *((s.form, s.tokens) for s in shown if not s.refused)))


def _told(choice: Choice, records: Mapping[str, Record]) -> Iterator[Refitted]:
    for identity, form in choice.forms.items():
        yield Refitted(identity, f"{records[identity].state.form.value} to {form.value}")
    for identity in choice.archived:
        yield Refitted(identity, f"{records[identity].state.form.value} to archived")


def _applied(
    ctx: Context, namespace: str, choice: Choice, now: Instant, *, dry_run: bool, accept_loss: str | None
) -> list[Plan]:
    """Make the plans, shorter forms first, and apply them unless it is a dry run."""
    plans = [
        plan
        for plan in (_shortening(ctx, namespace, choice.forms, now), _archiving(ctx, namespace, choice.archived, now))
        if plan.changes
    ]
    for plan in () if dry_run else plans:
        ctx.store.apply(plan)
    return plans


def _shortening(ctx: Context, namespace: str, forms: Mapping[str, Form], now: Instant) -> Plan:
    plan_id = ctx.ids(now)
    records = ctx.store.get(namespace, list(forms))
    made = measured(ctx, namespace, [(r, forms[r.id]) for r in records])
    kept = documents(ctx, namespace, list(forms))
    changes: list[Change] = []
    measured_changes: list[Change] = []
    for record in records:
        shown = made[record.id, forms[record.id]]
        if shown.refused:
            continue
        state = replace(record.state, form=shown.form, form_ms=now, tokens=shown.tokens, held=False)
        because = f"fit: shows its {shown.form} for want of room; {shown.told()}"
        changes.append(_change(ctx, record, state, plan_id, because, shown))
        measured_changes += measures(record.id, shown, now, kept)
    note = f"fit: {len(changes)} shown shorter"
    return Plan(plan_id, "fit", namespace, now, (*changes, *measured_changes), ctx.policy.version, note)


def _archiving(ctx: Context, namespace: str, ids: Sequence[str], now: Instant) -> Plan:
    plan_id = ctx.ids(now)
    changes = [
        _change(
            ctx,
            record,
            replace(record.state, status=Status.ARCHIVED, status_ms=now, held=False),
            plan_id,
            "fit: set aside for want of room, the least worth for its tokens",
            None,
        )
        for record in ctx.store.get(namespace, list(ids))
    ]
    return Plan(plan_id, "fit", namespace, now, tuple(changes), ctx.policy.version, f"fit: {len(changes)} set aside")


def _change(ctx: Context, record: Record, state: State, plan_id: str, because: str, shown: Shown | None) -> Change:
    state = with_due([state], ctx.policy)[0]
    old, new = difference(record.state, state)
    if shown is not None:
        old, new = {**old, "shown": record.content.shown}, {**new, "shown": shown.text}
    return Change(Target.MEMORY, record.id, {**old, "op": record.op}, {**new, "op": plan_id}, because)
