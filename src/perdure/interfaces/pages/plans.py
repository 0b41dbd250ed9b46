"""What maintenance would do, to apply whole or in part; what was done, to undo; and what another policy would do."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from perdure.interfaces.pages import previews
from perdure.interfaces.pages.asked import Answer, Asked, Elsewhere, Shown
from perdure.interfaces.pages.facts import moment
from perdure.interfaces.pages.plots import Bar, columns, stacked
from perdure.interfaces.views.values import counted
from perdure.records.errors import ConflictError, InvalidInput
from perdure.records.policy import PRESETS

if TYPE_CHECKING:
    from markupsafe import Markup

    from perdure.records.plan import Change, Plan
    from perdure.records.report import Lived, Report, TierMove

DAYS: Final = 84
_SHOWN: Final = 50  # moves of a preview that are listed
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


def plans(asked: Asked) -> Answer:
    """Show what was done, and if asked for what maintenance would do."""
    place = asked.namespace
    wanted = asked.preview
    preview = _preview(asked) if wanted and wanted not in previews.VERBS else None
    limit = asked.number("limit", _MOST_OPERATIONS if asked.query.get("operation") else _OPERATIONS, _MOST_OPERATIONS)
    operations, others = asked.operations(limit)
    values = {
        "preview": preview,
        "proposed": previews.preview(asked, wanted) if wanted in previews.VERBS else None,
        "operations": operations,
        "more": min(limit * 4, _MOST_OPERATIONS) if others and limit < _MOST_OPERATIONS else 0,
        "named": asked.query.get("operation", ""),
        "presets": sorted(PRESETS),
        "state": asked.memory.upkeep_state(place),
        "ahead": _ahead(asked) if asked.query.get("ahead") else None,
        "trial": _trial(asked) if asked.query.get("try") else None,
    }
    return Shown("plans", "Plans", values)


def _preview(asked: Asked) -> dict[str, Any]:
    report = asked.memory.sweep(dry_run=True, namespace=asked.namespace)
    marked = marks(report.plans)
    moved: dict[str, list[TierMove]] = {}
    for move in report.moved:
        if move.id in marked:
            moved.setdefault(move.id, []).append(move)
    listed = list(moved.items())[:_SHOWN]
    moves = [ProposedMoves(i, some, asked.content(i), marked[i]) for i, some in listed]
    whole = previews.digest(sorted(marked.values()))
    return {
        "report": report,
        "moves": moves,
        "rest": len(moved) - len(moves),
        "all": whole,
        "plot": _plot(report),
        "hides": sum(plan.hides for plan in report.plans),
    }


Weeks = list[tuple[datetime, int, int]]
"""(when a week begins, moves in it, how many of them go out of view)."""


def _ahead(asked: Asked) -> dict[str, Any]:
    """Return what would move week by week if nothing were used."""
    report = asked.memory.forecast(DAYS, namespace=asked.namespace)
    weeks = _weeks(report, asked.memory.now)
    return {
        "report": report,
        "weeks": weeks,
        "plot": _plot_of_weeks(weeks),
        "hidden": sum(gone for *_, gone in weeks),
        "days": DAYS,
    }


def _weeks(report: Report, now: datetime) -> Weeks:
    weeks = [Counter[str]() for _ in range(DAYS // 7)]
    for move in report.moved:
        at = moment(move.at) or now
        weeks[min(max((at - now).days // 7, 0), len(weeks) - 1)][move.move] += 1
    gone = [sum(n for name, n in week.items() if name.endswith("archived")) for week in weeks]
    return [(now + n * timedelta(days=7), sum(week.values()), gone[n]) for n, week in enumerate(weeks)]


def _plot_of_weeks(weeks: Weeks, highest: float = 0) -> Markup:
    return columns([many for _, many, _ in weeks], f"Moves in each of the next {len(weeks)} weeks", highest=highest)


def _plot(report: Report) -> Markup:
    tally = Counter(m.move for m in report.moved).most_common(5)
    return stacked([Bar(name, many, shade) for shade, (name, many) in enumerate(tally)], "Moves that would be made")


def marks(plans_made: Sequence[Plan]) -> dict[str, str]:
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


def apply(asked: Asked) -> Answer:
    """Apply what was previewed, or the part that was chosen; refused where it is not what would be done now.

    Raises:
        ConflictError: Something has changed since; nothing was written.
    """
    if asked.given("verb") in previews.VERBS:
        return previews.apply(asked, asked.given("verb"))
    report = asked.memory.sweep(dry_run=True, namespace=asked.namespace)
    marked = marks(report.plans)
    if asked.given("all"):
        if asked.given("all") != previews.digest(sorted(marked.values())):
            raise _changed(len(marked))
        chosen = list(report.plans)
    else:
        chosen = list(_part(report.plans, marked, asked.form.get("chosen", ())))
    done = asked.memory.apply_all(chosen)
    return Elsewhere(asked.link("/plans", done=done.operation))


def _part(made: Sequence[Plan], marked: dict[str, str], chosen: Sequence[str]) -> Iterator[Plan]:
    """Yield plans with only the changes of chosen memories."""
    if not chosen:
        raise InvalidInput("Nothing is chosen.", remedy="Choose at least one move.")
    known = {mark: identity for identity, mark in marked.items()}
    if gone := [mark for mark in chosen if mark not in known]:
        raise _changed(len(gone))
    ids = {known[mark] for mark in chosen}
    for plan in made:
        changes = tuple(change for change in plan.changes if change.id in ids)
        if changes:
            some = counted(len({change.id for change in changes}), "memory")
            yield replace(plan, changes=changes, note=f"{plan.operation}: the part chosen by a person, {some}")


def _changed(many: int) -> ConflictError:
    told = f"What maintenance would do has changed for {counted(many, 'memory')} since; nothing was written."
    return ConflictError(told, remedy="Preview it again.")


def _trial(asked: Asked) -> dict[str, Any]:
    """Try another policy on the past, and on the weeks ahead; beside today's."""
    other, now = _policy(asked), asked.memory.now
    found = asked.memory.backtest(other, asked.namespace, limit=_RECALLS)
    ahead = [
        _weeks(report, now)
        for report in (
            asked.memory.forecast(DAYS, namespace=asked.namespace),
            asked.memory.forecast_under(other, DAYS, asked.namespace),
        )
    ]
    highest = max(many for weeks in ahead for _, many, _ in weeks)
    names, lives = ("Today's", "The other"), (found.now, found.other)
    sides = [
        (name, lived, _lived(lived), weeks, _plot_of_weeks(weeks, highest))
        for name, lived, weeks in zip(names, lives, ahead, strict=True)
    ]
    return {"found": found, "sides": sides}


def _policy(asked: Asked) -> dict[str, Any]:
    preset, text = asked.query.get("preset", ""), asked.query.get("policy", "").strip()
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"The policy cannot be read: {error}.", remedy="Write TOML, as in perdure.toml.") from error
    return {"preset": preset, **given} if preset else given


def _lived(lived: Lived) -> Markup:
    bars = [
        Bar("in view in full", lived.visible - lived.shortened, 0),
        Bar("shortened", lived.shortened, 2),
        Bar("hidden", lived.hidden, 4),
    ]
    return stacked(bars, f"{lived.visible:,} in view, {lived.shortened:,} of them shortened, {lived.hidden:,} hidden")
