"""What maintenance would do, to apply whole or in part; what was done, to undo; and what another policy would do."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from markupsafe import Markup

from perdure.interfaces.http.problems import status_of, told_to_callers
from perdure.interfaces.pages import previews
from perdure.interfaces.pages.facts import moment
from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest, Redirect
from perdure.interfaces.pages.plots import Bar, columns, stacked_bar
from perdure.interfaces.views.values import pluralize
from perdure.records.errors import ConflictError, InvalidInput, NotFound, PolicyError
from perdure.records.plan import Change, Plan
from perdure.records.policy import PRESETS
from perdure.records.report import Operation, PolicyOutcome, SweepReport, TierMove

DAYS: Final = 84
_MOST_SHOWN: Final = 50  # moves of a preview that are listed
_OPERATIONS: Final = 15
_MOST_OPERATIONS: Final = 500
_RECALLS: Final = 200  # past recalls that another policy is tried on


@dataclass(frozen=True, slots=True)
class ProposedMoves:
    """The moves of one memory in a preview, to choose."""

    id: str  # the memory
    moves: list[TierMove]  # in the order of their instants
    content: str  # the memory's words
    mark: str  # names the memory and exactly these moves; a later preview has the same where nothing has changed


def plans(request: PageRequest) -> Answer:
    """Show what was done, and if asked for what maintenance would do."""
    named = _named_operation(request)
    if named is not None and named.namespace != request.namespace:
        return Redirect(request.link("/plans", operation=named.id, namespace=named.namespace))
    preview_of = request.preview
    preview = _preview(request) if preview_of and preview_of not in previews.VERBS else None
    usual = _OPERATIONS if named is None else _MOST_OPERATIONS
    limit = request.number("limit", usual, _MOST_OPERATIONS)
    operations, has_more = request.operations(limit, named)
    values = {
        "preview": preview,
        "proposed": previews.preview(request, preview_of) if preview_of in previews.VERBS else None,
        "operations": operations,
        "more": min(limit * 4, _MOST_OPERATIONS) if has_more and limit < _MOST_OPERATIONS else 0,
        "named": "" if named is None else named.id,
        "presets": sorted(PRESETS),
        "state": request.memory.upkeep_state(request.namespace),
        "ahead": _ahead(request) if request.query.get("ahead") else None,
        "trial": None,
        "refused": None,
    }
    if not request.query.get("try"):
        return HtmlPage("plans", "Plans", values)
    try:
        return HtmlPage("plans", "Plans", {**values, "trial": _trial(request)})
    except (InvalidInput, PolicyError) as error:  # told beside the form, which keeps what was typed
        refused = {**values, "refused": told_to_callers(error)}
        return HtmlPage("plans", "Plans", refused, status_of(error), type(error).__name__)


def _named_operation(request: PageRequest) -> Operation | None:
    """Return the operation that the address names; None where it names none."""
    identity = request.query.get("operation", "")
    operation = request.memory.operation(identity, request.namespace) if identity else None
    if identity and operation is None:
        raise NotFound("There is no such operation.", remedy="The page Plans lists the operations.")
    return operation


def _preview(request: PageRequest) -> dict[str, Any]:
    report = request.memory.sweep(dry_run=True, namespace=request.namespace)
    marked = change_marks(report.plans)
    moved: dict[str, list[TierMove]] = {}
    for move in report.moved:
        if move.id in marked:
            moved.setdefault(move.id, []).append(move)
    listed = list(moved.items())[:_MOST_SHOWN]
    moves = [ProposedMoves(i, its_moves, request.content(i), marked[i]) for i, its_moves in listed]
    whole = previews.digest(sorted(marked.values()))
    return {
        "report": report,
        "moves": moves,
        "rest": len(moved) - len(moves),
        "all": whole,
        "plot": _plot(report),
        "hides": sum(plan.hides for plan in report.plans),
    }


Weeks = list[tuple[datetime, int, int]]  # (when a week begins, moves in it, how many of them go out of view)


def _ahead(request: PageRequest) -> dict[str, Any]:
    report = request.memory.forecast(DAYS, namespace=request.namespace, details=True)
    weeks = _weeks(report, request.memory.now)
    return {
        "report": report,
        "weeks": weeks,
        "plot": _plot_of_weeks(weeks),
        "hidden": sum(archived for *_, archived in weeks),
        "days": DAYS,
    }


def _weeks(report: SweepReport, now: datetime) -> Weeks:
    weeks = [Counter[str]() for _ in range(DAYS // 7)]
    for move in report.moved:
        at = moment(move.at) or now
        weeks[min(max((at - now).days // 7, 0), len(weeks) - 1)][move.move] += 1
    archived = [sum(n for name, n in week.items() if name.endswith("archived")) for week in weeks]
    return [(now + n * timedelta(days=7), sum(week.values()), archived[n]) for n, week in enumerate(weeks)]


def _plot_of_weeks(weeks: Weeks, highest: float = 0) -> Markup:
    return columns([many for _, many, _ in weeks], f"Moves in each of the next {len(weeks)} weeks", highest=highest)


def _plot(report: SweepReport) -> Markup:
    tally = Counter(m.move for m in report.moved).most_common(5)
    return stacked_bar([Bar(name, many, shade) for shade, (name, many) in enumerate(tally)], "Moves that would be made")


def change_marks(plans_made: Sequence[Plan]) -> dict[str, str]:
    """Return memory -> a mark of everything that plans change about it; the same change has the same mark."""
    changes: dict[str, list[Change]] = {}
    for plan in plans_made:
        for change in plan.changes:
            changes.setdefault(change.id, []).append(change)
    return {i: f"{i}:{previews.digest([_change_text(c) for c in some])}" for i, some in changes.items()}


def _change_text(change: Change) -> list[Any]:
    rows = [
        None if row is None else {k: str(v) for k, v in row.items() if k != "op"}
        for row in (change.before, change.after)
    ]
    return [change.target.value, *rows, change.because]


def apply(request: PageRequest) -> Answer:
    """Apply what was previewed, or the part that was chosen; refused where it is not what would be done now."""
    if request.form_value("verb") in previews.VERBS:
        return previews.apply(request, request.form_value("verb"))
    report = request.memory.sweep(dry_run=True, namespace=request.namespace)
    marked = change_marks(report.plans)
    if request.form_value("all"):
        if request.form_value("all") != previews.digest(sorted(marked.values())):
            raise _preview_outdated(len(marked))
        chosen = list(report.plans)
    else:
        chosen = list(_part(report.plans, marked, request.form.get("chosen", ())))
    return Redirect(request.link("/plans", done=" ".join(request.memory.apply_all(chosen).operations)))


def _part(plans_made: Sequence[Plan], marked: dict[str, str], chosen: Sequence[str]) -> Iterator[Plan]:
    if not chosen:
        raise InvalidInput("Nothing is chosen.", remedy="Choose at least one move.")
    ids_by_mark = {mark: identity for identity, mark in marked.items()}
    if missing := [mark for mark in chosen if mark not in ids_by_mark]:
        raise _preview_outdated(len(missing))
    ids = {ids_by_mark[mark] for mark in chosen}
    for plan in plans_made:
        changes = tuple(change for change in plan.changes if change.id in ids)
        if changes:
            some = pluralize(len({change.id for change in changes}), "memory")
            yield replace(plan, changes=changes, note=f"{plan.operation}: the part chosen by a person, {some}")


def _preview_outdated(many: int) -> ConflictError:
    message = f"What maintenance would do has changed for {pluralize(many, 'memory')} since; nothing was written."
    return ConflictError(message, remedy="Preview it again.")


def _trial(request: PageRequest) -> dict[str, Any]:
    """Try another policy on the past, and on the weeks ahead; beside today's."""
    other, now = _policy(request), request.memory.now
    backtest = request.memory.backtest(other, request.namespace, limit=_RECALLS)
    ahead = [
        _weeks(report, now)
        for report in (
            request.memory.forecast(DAYS, namespace=request.namespace, details=True),
            request.memory.forecast_under(other, DAYS, request.namespace, details=True),
        )
    ]
    highest = max(many for weeks in ahead for _, many, _ in weeks)
    names, lives = ("Today's", "The other"), (backtest.now, backtest.other)
    sides = [
        (name, lived, _lived_plot(lived), weeks, _plot_of_weeks(weeks, highest))
        for name, lived, weeks in zip(names, lives, ahead, strict=True)
    ]
    return {"found": backtest, "sides": sides}


def _policy(request: PageRequest) -> dict[str, Any]:
    preset, text = request.query.get("preset", ""), request.query.get("policy", "").strip()
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"The policy cannot be read: {error}.", remedy="Write TOML, as in perdure.toml.") from error
    return {"preset": preset, **values} if preset else values


def _lived_plot(life: PolicyOutcome) -> Markup:
    bars = [
        Bar("in view in full", life.visible - life.shortened, 0),
        Bar("shortened", life.shortened, 2),
        Bar("hidden", life.hidden, 4),
    ]
    return stacked_bar(bars, f"{life.visible:,} in view, {life.shortened:,} of them shortened, {life.hidden:,} hidden")
