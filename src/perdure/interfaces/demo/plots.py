"""Two plots as one HTML file without scripts or downloads: value over time, tier occupancy over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from itertools import pairwise
from typing import Final

Series = Sequence[tuple[datetime, float]]

WIDTH: Final = 860
HEIGHT: Final = 320
LEFT: Final = 48
RIGHT: Final = 16
TOP: Final = 16
BOTTOM: Final = 36
_MOST_MARKS: Final = 5
RIM: Final = WIDTH - RIGHT
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
TIER_COLOURS: Final = {"hot": "#d55e00", "warm": "#e69f00", "cold": "#56b4e9", "vault": "#009e73"}

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 900px; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; }
text { font: 12px system-ui, sans-serif; fill: currentColor; }
.grid { stroke: currentColor; stroke-opacity: .15; }
.key { display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: 2px; }
ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; }
"""


def page(
    values: Mapping[str, Series],
    tiers: Sequence[tuple[datetime, Mapping[str, int]]],
    thresholds: Mapping[str, float],
    reversals: Sequence[str] = (),
) -> str:
    """Return the HTML page of values by day, 0 to 1, of memories by tier, and of the decisions that were reversed."""
    start, end = tiers[0][0], tiers[-1][0]
    lines = "".join(
        _line(series, start, end, COLOURS[i % len(COLOURS)], label) for i, (label, series) in enumerate(values.items())
    )
    dashed = "".join(
        f'<line x1="{LEFT}" x2="{RIM}" y1="{_y(v):.1f}" y2="{_y(v):.1f}" class="grid" stroke-dasharray="4 4"/>'
        f'<text x="{LEFT + 4}" y="{_y(v) - 4:.1f}">{escape(label)} {v:g}</text>'
        for label, v in thresholds.items()
    )
    most = max(sum(counts.values()) for _, counts in tiers) or 1
    keys = dict(zip(values, COLOURS, strict=False))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Perdure: five months</title>'
        f"<style>{_STYLE}</style></head><body><h1>Five months of one memory</h1>"
        "<h2>Value over time</h2><p>Each line is one message. Being recalled lifts its value; between recalls it only "
        "falls.</p>"
        f"{_legend(keys)}{_frame(start, end, 1.0, dashed + lines, 'Value of some memories over time')}"
        "<h2>Where the memories are</h2><p>How many memories are in each tier at the end of each day.</p>"
        f"{_legend(TIER_COLOURS)}"
        f"{_frame(start, end, most, _areas(tiers, start, end, most), 'Tier occupancy over time')}"
        f"<h2>What was decided otherwise</h2>{_sentences(reversals)}"
        "</body></html>\n"
    )


def _sentences(sentences: Sequence[str]) -> str:
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def _x(moment: datetime, start: datetime, end: datetime) -> float:
    share = (moment - start) / (end - start) if end > start else 0.0
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(value: float, most: float = 1.0) -> float:
    return TOP + (1.0 - value / most) * (HEIGHT - TOP - BOTTOM)


def _line(series: Series, start: datetime, end: datetime, colour: str, label: str) -> str:
    points = " ".join(f"{_x(day, start, end):.1f},{_y(value):.1f}" for day, value in series)
    return (
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"><title>{escape(label)}</title>'
        "</polyline>"
    )


def _areas(tiers: Sequence[tuple[datetime, Mapping[str, int]]], start: datetime, end: datetime, most: float) -> str:
    parts = []
    floor = [0.0] * len(tiers)
    for tier, colour in TIER_COLOURS.items():
        roof = [below + counts.get(tier, 0) for below, (_, counts) in zip(floor, tiers, strict=True)]
        days = [day for day, _ in tiers]
        upper = [f"{_x(d, start, end):.1f},{_y(v, most):.1f}" for d, v in zip(days, roof, strict=True)]
        lower = [f"{_x(d, start, end):.1f},{_y(v, most):.1f}" for d, v in zip(days, floor, strict=True)]
        parts.append(
            f'<polygon points="{" ".join(upper + lower[::-1])}" fill="{colour}" fill-opacity=".8"><title>{tier}</title>'
            "</polygon>"
        )
        floor = roof
    return "".join(parts)


def _frame(start: datetime, end: datetime, most: float, drawing: str, label: str) -> str:
    ticks = "".join(
        f'<line x1="{LEFT}" x2="{RIM}" y1="{_y(v, most):.1f}" y2="{_y(v, most):.1f}" class="grid"/>'
        f'<text x="{LEFT - 6}" y="{_y(v, most) + 4:.1f}" text-anchor="end">{v:g}</text>'
        for v in _marks(most)
    )
    months = [d for d, after in pairwise(_days(start, end)) if after.month != d.month]
    dates = "".join(
        f'<text x="{_x(d, start, end):.1f}" y="{HEIGHT - 12}" text-anchor="middle">{d:%b %d}</text>'
        for d in [start, *months]
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">{ticks}{drawing}{dates}</svg>'


def _marks(most: float) -> list[float]:
    """Return the values at which an axis from 0 is marked: at most six, at round numbers."""
    step = 10.0 ** (len(str(int(most))) - 2)
    step = next(step * times for times in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if most / (step * times) <= _MOST_MARKS)
    return [round(step * i, 6) for i in range(int(most / step + 1e-9) + 1)]


def _days(start: datetime, end: datetime) -> list[datetime]:
    return [start + (end - start) * i / max(1, (end - start).days) for i in range((end - start).days + 1)]


def _legend(colours: Mapping[str, str]) -> str:
    items = "".join(
        f'<li><span class="key" style="background:{colour}"></span>{escape(label)}</li>'
        for label, colour in colours.items()
    )
    return f"<ul>{items}</ul>"
