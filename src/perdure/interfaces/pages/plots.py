"""Plots as SVG, drawn on the server. No style stands inside them: the style sheet gives colours, also in the dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

_JOIN: Final = Markup("")
_WIDTH: Final = 640  # units of a drawing; it scales to the width that there is
_LEAST: Final = 2.0  # units that a bar of something is wide, however little it is


@dataclass(frozen=True, slots=True)
class Bar:
    """One part of a whole."""

    name: str
    amount: float
    shade: int = 0  # 0 for the strongest colour to 4 for the weakest


@dataclass(frozen=True, slots=True)
class DrawnSignal:
    """One signal over time; what is behind ``now`` was so, what is before it is foreseen."""

    past: Sequence[tuple[float, float]]  # (day, 0 to 1), oldest first; day 0 is now
    future: Sequence[tuple[float, float]]
    marks: Sequence[float] = ()  # days on which something happened


@dataclass(frozen=True, slots=True)
class AxisPart:
    """A part of an axis of time, from 0 to 1."""

    begin: float
    end: float


def stacked_bar(bars: Sequence[Bar], label: str) -> Markup:
    """Return one bar of parts side by side."""
    total = sum(bar.amount for bar in bars)
    if not total:
        return Markup("")
    shown, parts, x = [bar for bar in bars if bar.amount], [], 0.0
    scale = (_WIDTH - _LEAST * len(shown)) / total
    for bar in shown:
        width = _LEAST + bar.amount * scale
        rect = Markup('<rect class="shade{}" x="{:.1f}" y="0" width="{:.1f}" height="18"><title>{}</title></rect>')
        parts.append(rect.format(bar.shade, x, max(width - 1.5, 1), f"{bar.name}: {bar.amount:,.0f}"))
        x += width
    return _svg(label, 18, _JOIN.join(parts), "stacked")


def columns(amounts: Sequence[float], label: str, height: int = 88, highest: float = 0.0) -> Markup:
    """Return one column for each amount, side by side, with a line below; the tallest stands for ``highest``, if given.

    Plots that are compared have the same ``highest``.
    """
    highest = highest or max(amounts, default=0.0)
    if not highest:
        return Markup("")
    step = _WIDTH / len(amounts)
    parts = []
    for index, amount in enumerate(amounts):
        tall = max(amount / highest * (height - 4), 1.5 if amount else 0)
        rect = Markup('<rect class="shade1" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')
        parts.append(rect.format(index * step + 1, height - 1 - tall, step - 2, tall))
    parts.append(Markup('<path class="axis" d="M0 {0}H{1}"/>').format(height - 0.5, _WIDTH))
    return _svg(label, height, _JOIN.join(parts), "columns")


def curve(signal: DrawnSignal, label: str, height: int = 56) -> Markup:
    """Return a signal as a line: solid as it was, dashed as it will be, with a mark at now."""
    days = [day for day, _ in (*signal.past, *signal.future)]
    if len(days) < 2:  # noqa: PLR2004  # a line has two ends
        return Markup("")
    first, span = min(days), max(max(days) - min(days), 1e-9)

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return (point[0] - first) / span * _WIDTH, height - 3 - min(max(point[1], 0), 1) * (height - 6)

    def path(points: Sequence[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in map(place, points))

    now = place((0, 0))[0]
    parts = [Markup('<path class="axis" d="M0 {0}H{1}"/>').format(height - 3, _WIDTH)]
    parts += [
        Markup('<path class="mark" d="M{0:.1f} {1}v-6"/>').format(place((day, 0))[0], height - 3)
        for day in signal.marks
        if first <= day <= 0
    ]
    parts.append(Markup('<path class="now" d="M{:.1f} 0V{}"/>').format(now, height))
    if len(signal.past) > 1:
        parts.append(Markup('<path class="line" d="{}"/>').format(path(signal.past)))
    if len(signal.future) > 1:
        parts.append(Markup('<path class="line ahead" d="{}"/>').format(path(signal.future)))
    return _svg(label, height, _JOIN.join(parts), "curve", stretch=True)


def period_plot(true: AxisPart, believed: AxisPart, label: str) -> Markup:
    """Return when something was true, above, and when it was believed, below, on one axis of time."""
    bar = Markup('<rect class="{}" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>')
    parts = [
        bar.format(kind, one.begin * _WIDTH, y, max((one.end - one.begin) * _WIDTH, 4), tall)
        for kind, one, y, tall in (("shade0", true, 2, 9), ("shade2", believed, 13, 4))
    ]
    return _svg(label, 20, _JOIN.join(parts), "periods", stretch=True)


def _svg(label: str, height: float, inside: Markup, kind: str, *, stretch: bool = False) -> Markup:
    svg = Markup('<svg class="plot {}" viewBox="0 0 {} {:g}" role="img" aria-label="{}"{}>{}</svg>')
    ratio = Markup(' preserveAspectRatio="none"') if stretch or kind in {"stacked", "columns"} else Markup("")
    return svg.format(kind, _WIDTH, height, label, ratio, inside)
