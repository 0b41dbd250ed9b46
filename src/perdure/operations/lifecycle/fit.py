"""Keeping a namespace within a number of tokens: what shows less, what is set aside, as plans that gates may stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, TypeVar, cast

from perdure.operations.decisions import begin, read_visible
from perdure.operations.documents import all_ids, find_states, pages
from perdure.operations.lifecycle.compression import put_measure, read_measures, weigh_forms
from perdure.operations.lifecycle.gates import budget_of, check_only, recall_gate, with_accepted_loss
from perdure.operations.lifecycle.planned_store import PlannedStore
from perdure.operations.ports import Context
from perdure.operations.store_protocol import Store
from perdure.operations.writing import ATTEMPTS
from perdure.records.errors import ConflictError, GateStopped, NodeUnavailable
from perdure.records.instant import DAY_MS, Instant, text_of
from perdure.records.memory import Content, Form, MemoryItem, Record, State, Status
from perdure.records.plan import Plan
from perdure.records.report import BudgetChange, FitResult, HeldMoves, SweepReport, TierMove
from perdure.records.store_rows import Lease, TransactionView
from perdure.rules.decisions import Decisions, settle
from perdure.rules.lifecycle.budget_fitting import (
    Choice,
    FitItem,
    choose_forms,
    is_rested,
    keeps_its_form,
    largest_allowed,
    worth_of,
)
from perdure.rules.lifecycle.compression_forms import LADDER, FormText, render_form
from perdure.rules.lifecycle.signals import memory_items

BATCH: Final = 1000  # so many memories change in one plan, and so in one operation to undo


T = TypeVar("T")
Check = Callable[[TransactionView], None]


def fit(
    ctx: Context,
    namespace: str,
    tokens: int,
    *,
    dry_run: bool,
    accept_loss: str | None = None,
    lease: Lease | None = None,
) -> FitResult:
    """Bring what recall may return within a number of tokens, as far as the gates allow."""
    return _Fit(ctx, namespace, tokens, ctx.clock(), dry_run, accept_loss, lease, ctx.store).run()


def fit_to_policy(
    ctx: Context, namespace: str, *, dry_run: bool = False, lease: Lease | None = None, planned: Sequence[Plan] = ()
) -> FitResult | None:
    """Keep a namespace within the policy's ``compression.visible_tokens``; None where it is, or has no limit.

    ``planned`` is what a dry run would write before; then the namespace is looked at as that leaves it.
    """
    real = ctx
    if planned:
        ctx = replace(ctx, store=cast("Store", PlannedStore(ctx.store, namespace, planned)))
    limit = ctx.policy.compression.visible_tokens
    if not _exceeds_policy(ctx, namespace):
        return None
    result = _Fit(ctx, namespace, limit, ctx.clock(), dry_run, None, lease, real.store, planned).run()
    if not dry_run and result.after > limit:
        ctx.crowded[namespace] = result.after, ctx.clock() // DAY_MS
    return result


def _exceeds_policy(ctx: Context, namespace: str) -> bool:
    """Whether a namespace shows more than the policy's budget.

    Where gates, or what is exempt, left too little to be done, it is tried again after a change or a day.
    """
    if not (limit := ctx.policy.compression.visible_tokens):
        return False
    visible, today = ctx.store.visible_tokens(namespace), ctx.clock() // DAY_MS
    return visible > limit and ctx.crowded.get(namespace) != (visible, today)


def places_to_fit(ctx: Context) -> list[str]:
    """Return the namespaces that show more than the policy's budget, without those whose node does not answer."""
    found: list[str] = []
    for place in ctx.store.namespaces() if ctx.policy.compression.visible_tokens else ():
        with suppress(NodeUnavailable):
            if _exceeds_policy(ctx, place):
                found.append(place)
    return found


def fit_after_sweep(
    ctx: Context, report: SweepReport, namespace: str | None = None, lease: Lease | None = None
) -> SweepReport:
    """Return the report of a sweep with what keeping its namespaces within the policy's budget did besides.

    A dry run tells what would be done to what the sweep's own plans leave, so that all apply one after the other.
    """
    if not ctx.policy.compression.visible_tokens:
        return report
    now = text_of(ctx.clock())
    for place in ctx.store.namespaces() if namespace is None else (namespace,):
        planned = [plan for plan in report.plans if plan.namespace == place] if report.dry_run else []
        result = fit_to_policy(ctx, place, dry_run=report.dry_run, lease=lease, planned=planned)
        if result is not None:
            moved = (TierMove(c.id, place, now, c.move, "fit: token budget") for c in result.refitted)
            report = replace(
                report,
                moved=(*report.moved, *moved),
                held=(*report.held, *((HeldMoves(place, (), result.held),) if result.held else ())),
                operations=(*report.operations, *result.operations),
                plans=(*report.plans, *result.plans),
            )
    return report


@dataclass(slots=True)
class _Fit:
    """One namespace being fitted."""

    ctx: Context
    place: str
    budget: int
    now: Instant
    dry_run: bool
    accept_loss: str | None
    lease: Lease | None
    store: Store  # where plans are tried: ``ctx.store``, but without what is only planned
    planned: Sequence[Plan] = ()  # what a dry run would write before
    pieces: dict[str, FitItem] = field(default_factory=dict)  # its visible memories as they are now
    # (id, form) -> the text in that form, of what was asked for; texts never change, so it stays right
    shown: dict[tuple[str, Form], FormText] = field(default_factory=dict)
    # those that were chosen once, and so measured against the whole
    weighed: set[tuple[str, Form]] = field(default_factory=set)
    # memories whose answers the recall gate would lose; they stay as they are
    spared: set[str] = field(default_factory=set)
    before: int | None = None  # tokens visible at the start
    refitted: list[BudgetChange] = field(default_factory=list)  # what was done
    plans: list[Plan] = field(default_factory=list)  # how
    held: str = ""  # why a gate stopped some of it

    def run(self) -> FitResult:
        """Read, choose and write; choose again where others were faster, or a gate stopped some of it."""
        choice, failed = Choice({}, (), 0, 0), 0
        while True:
            if self.dry_run:  # nothing of an earlier choice was written
                self.plans, self.refitted = [], []
            self._read()
            if self.before is None:
                self.before = sum(p.forms[0][1] for p in self.pieces.values())
            choice, plan_count = self._choice(), len(self.plans)
            try:
                self._carry_out(choice)
            except ConflictError:
                failed = failed + 1 if len(self.plans) == plan_count else 0
                if failed == ATTEMPTS:
                    raise
            except GateStopped as error:
                self.held = error.message
                culprits = set(getattr(error, "lost", ())) & self.pieces.keys() - self.spared
                if not culprits:
                    break
                self.spared |= culprits
            else:
                break
        return self._result(choice)

    def _result(self, choice: Choice) -> FitResult:
        return FitResult(
            self.place,
            self.budget,
            self.before or 0,
            choice.after if self.dry_run else self.ctx.store.visible_tokens(self.place),
            tuple(self.refitted),
            dry_run=self.dry_run,
            held=self.held,
            plans=tuple(self.plans) if self.dry_run else (),
            operations=() if self.dry_run else tuple(p.id for p in self.plans),
        )

    def _read(self) -> None:
        """Read what is visible, without texts: accesses that wait count, and tiers are as they are by now."""
        self.pieces = {}
        for ids in pages(all_ids(self.ctx, self.place)):
            stored = find_states(self.ctx, self.place, ids)
            active = {i: s for i, s in stored.items() if s.status is Status.ACTIVE}
            accesses = self.ctx.store.accesses(self.place, list(active), self.now)
            trajectories = settle(active, accesses, self.ctx.policy, self.now)
            records = [Record(self.place, c.id, c.after, Content("")) for c in trajectories]
            self.pieces |= {m.id: self._piece(m) for m in memory_items(records, self.ctx.policy, self.now)}

    def _piece(self, memory: MemoryItem) -> FitItem:
        """Return a memory with what is known by now of the forms that it may take."""
        current = ((memory.form, memory.tokens),)
        if self._stays(memory.id, memory.state):
            return FitItem(memory.id, worth_of(memory), current, exempt=True)
        return self._with_known_forms(FitItem(memory.id, worth_of(memory), current))

    def _with_known_forms(self, piece: FitItem) -> FitItem:
        barer = LADDER[LADDER.index(piece.forms[0][0]) + 1 :]
        rendered = [self.shown[piece.id, form] for form in barer if (piece.id, form) in self.shown]
        forms = (piece.forms[0], *((s.form, s.tokens) for s in rendered if not s.refused))
        return replace(piece, forms=forms, unknown=tuple(f for f in barer if (piece.id, f) not in self.shown))

    def _stays(self, identity: str, state: State) -> bool:
        return identity in self.spared or keeps_its_form(state) or is_rested(state, self.now)

    def _reach(self, pieces: Sequence[FitItem]) -> dict[str, FitItem]:
        form_of = {p.id: p.unknown[0] for p in pieces}
        records = {r.id: r for r in self.ctx.store.get(self.place, list(form_of))}
        for identity, form in form_of.items():
            text = records[identity].content.text if identity in records else ""
            self.shown[identity, form] = render_form(text, form, self.ctx.policy.compression, dense=True)
        updated = {p.id: self._with_known_forms(p) for p in pieces}
        self.pieces |= updated
        return updated

    def _choice(self) -> Choice:
        """Choose until every form that is taken keeps enough of the meaning, and the loss budget allows the rest."""
        most = None
        while True:
            choice = choose_forms(list(self.pieces.values()), self.budget, self._reach, most)
            fresh = [key for key in choice.forms.items() if key not in self.weighed]
            for batch in _batches(fresh, BATCH):
                self.shown |= weigh_forms(self.ctx, self.place, {key: self.shown[key] for key in batch})
            self.weighed |= set(fresh)
            if refused := {i for i, form in fresh if self.shown[i, form].refused}:
                self.pieces |= {i: self._with_known_forms(self.pieces[i]) for i in refused}
                continue
            allowed, why = self._allowed_hides(len(choice.archived))
            if allowed == len(choice.archived):
                return choice
            most, self.held = allowed, f"{why}; {choice.wanted - allowed} memories not archived yet"

    def _allowed_hides(self, hides: int) -> tuple[int, str]:
        """Return how many of so many the loss budget lets go today, and why no more."""
        if self.accept_loss is not None or not hides:
            return hides, ""
        budget, gates = budget_of(self.ctx, self.place), self.ctx.policy.gates
        return largest_allowed(lambda n: budget.refusal(n, gates), hides), budget.refusal(hides, gates)

    def _carry_out(self, choice: Choice) -> None:
        """Make the plans, shorter forms first, and apply them unless it is a dry run."""
        shorter: list[tuple[str, Form | None]] = [(i, choice.forms[i]) for i in sorted(choice.forms)]
        aside: list[tuple[str, Form | None]] = [(i, None) for i in choice.archived]
        for batch in (*_batches(shorter, BATCH), *_batches(aside, BATCH)):
            plan = self._plan(dict(batch))
            if not self.dry_run:
                fence = self.lease and self.lease.extend(self.ctx.clock())
                self.ctx.store.apply(plan, fence=fence, check=_guard(self.ctx, plan, self.accept_loss))
            elif not self.ctx.store.read_only:
                self._try(plan)
            self.plans.append(plan)
            for identity, form in batch:
                was = self.pieces[identity].forms[0][0]
                self.refitted.append(BudgetChange(identity, f"{was.value} to {form.value if form else 'archived'}"))

    def _try(self, plan: Plan) -> None:
        """Ask the recall gate about a plan of a dry run, together with what would be written before it."""
        whole = replace(plan, changes=tuple(c for p in (*self.planned, *self.plans, plan) for c in p.changes))
        ctx = replace(self.ctx, store=self.store)
        if (check := _guard(ctx, plan, self.accept_loss)) is not None:
            check_only(ctx, whole, check)

    def _plan(self, forms: Mapping[str, Form | None]) -> Plan:
        """Return the plan that gives memories their forms, or sets those aside that have None."""
        decisions = begin(self.ctx, self.place, self.now)
        decisions.admit(read_visible(self.ctx, self.place, list(forms)))
        if moved := [i for i in forms if not self._as_chosen(i, decisions.states.get(i))]:
            raise ConflictError("Memories changed while a plan was being made.", tuple(moved), remedy="Try again.")
        for identity, form in forms.items():
            self._decide(decisions, identity, form)
        forms_shown = [(i, self.shown[i, form]) for i, form in forms.items() if form is not None]
        edits = read_measures(self.ctx, self.place, [i for i, _ in forms_shown])
        for identity, shown in forms_shown:
            put_measure(edits, identity, shown, self.now)
        decisions.add(edits.changes())
        note = f"fit: {len(forms)} {'shortened' if forms_shown else 'archived'}"
        return with_accepted_loss(decisions.plan("fit", note), self.accept_loss)

    def _as_chosen(self, identity: str, state: State | None) -> bool:
        form = self.pieces[identity].forms[0][0]
        return state is not None and state.form is form and not self._stays(identity, state)

    def _decide(self, decisions: Decisions, identity: str, form: Form | None) -> None:
        """Decide that a memory shows a shorter form, or with None that it is set aside."""
        state = replace(decisions.states[identity], held=False)
        if form is None:
            because = "fit: archived to stay within the token budget; least value per token"
            decisions.change(identity, replace(state, status=Status.ARCHIVED, status_ms=self.now), "fit", because)
            return
        shown = self.shown[identity, form]
        because = f"fit: shown as {form.value} to stay within the token budget; {shown.describe()}"
        shorter = replace(state, form=form, form_ms=self.now, tokens=shown.tokens)
        decisions.change(identity, shorter, "fit", because)
        decisions.show(identity, form, shown.text)


def _guard(ctx: Context, plan: Plan, accept_loss: str | None) -> Check | None:
    """Return what must be checked before a plan is final; the loss budget has been asked about all plans at once."""
    return recall_gate(ctx, plan) if accept_loss is None and plan.loses else None


def _batches(some: Sequence[T], size: int) -> Iterator[list[T]]:
    rest = iter(some)
    while batch := list(islice(rest, size)):
        yield batch
