"""Long lives: what happens to a store that people really use, as a page to look at.

Plays lives of ``tests/life`` for up to 400 days on a file or a server, checks what must hold of each, measures size and
time for each memory at the beginning and at the end, and writes one HTML page without references. Time is this
process's on a processor, which others on the machine change little, and with a server what passes on the clock.
It ends with status 1 where something does not hold, or grows to more than one and a half times its beginning. Times of
a short life are shown alone: medians of a few calls differ by more than that from run to run.

    python benchmarks/play_lives.py [--days 400] [--seed 1] [--every 24] [--dsn URL] [-o life.html] [KIND ...]
"""

from __future__ import annotations

import argparse
import html
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).parent.parent / "tests")  # this file has the name of the package of lives

from conftest import HashEmbedder  # noqa: E402  # after the path
from life import invariants  # noqa: E402  # after the path
from life.coverage import ROWS  # noqa: E402  # after the path
from life.driver import START, Player, begin  # noqa: E402  # after the path
from life.lives import KINDS, life_of  # noqa: E402  # after the path
from life.played import checked  # noqa: E402  # after the path
from perdure.records.memory import Status  # noqa: E402  # as above

COLOURS = ("#c0392b", "#e08e2b", "#2b6cb0", "#2f855a", "#718096", "#805ad5")
MOST = 1.5
"""Size and time for each memory at the end, as a multiple of the beginning's, at most."""
FEW = 20
"""Medians of fewer calls of a verb are shown and not judged."""


@dataclass
class Course:
    """A life as it went."""

    kind: str
    days: list[int] = field(default_factory=list)
    tiers: list[Mapping[str, int]] = field(default_factory=list)
    statuses: list[Mapping[str, int]] = field(default_factory=list)
    bytes_each: list[float] = field(default_factory=list)
    seconds: list[tuple[int, str, float, int]] = field(default_factory=list)
    """(day, verb, seconds, memories) of each call: those stored by then; of a sweep those that it looked at."""
    values: dict[str, list[float]] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    journal: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    faults: dict[str, list[str]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    answers: list[tuple[str, str]] = field(default_factory=list)

    def look(self, player: Player, number: int, place: Path | None) -> None:
        """Write down what a store is like in the evening of a day."""
        stats = player.memory.stats()
        self.days.append(number)
        self.tiers.append(stats.tiers)
        self.statuses.append(stats.statuses)
        stored = max(1, sum(stats.statuses.values()))
        size = sum(f.stat().st_size for f in place.parent.glob(place.name + "*") if f.is_file()) if place else 0
        self.bytes_each.append(size / stored)

    def growth(self) -> list[tuple[str, float, float, bool]]:
        """Return (what, at the beginning, at the end, whether it is judged): medians of early and late days.

        Sweeps are added up: in a young store most of them find nothing due, so their median would be that of nothing.
        """
        last = self.days[-1] + 1
        early, late = (last * 0.1, last * 0.25), (last * 0.85, last)
        found = []
        for verb in sorted({verb for _, verb, _, _ in self.seconds}):
            told = [
                [(1e6 * s, n) for day, v, s, n in self.seconds if v == verb and low <= day < high]
                for low, high in (early, late)
            ]
            is_judged = min(map(len, told)) >= FEW
            if min(map(len, told)) >= 5 and verb != "sweep":
                each = [statistics.median(s / n for s, n in some) for some in told]
                found.append((f"{verb}, µs for each memory stored", *each, is_judged))
            elif min(map(len, told)) >= 5 and all(sum(n for _, n in some) for some in told):
                each = [sum(s for s, _ in some) / sum(n for _, n in some) for some in told]
                found.append(("sweep, µs for each memory looked at", *each, is_judged))
        sizes = [
            [b for day, b in zip(self.days, self.bytes_each, strict=True) if low <= day < high]
            for low, high in (early, late)
        ]
        if min(map(len, sizes)) and max(self.bytes_each):
            found.append(("bytes for each memory stored", *map(statistics.median, sizes), True))
        return found


def lived(kind: str, seed: int, days: int, every: float, place: Any, embedder: Any) -> Course:
    """Play a life, look at it every few days, check it, and take it back."""
    player, course = begin(life_of(kind, seed, days), place, every=every, embedder=embedder), Course(kind)
    file = place if isinstance(place, Path) else None
    _time_calls(player, course, time.process_time if file is not None else time.perf_counter)
    step = max(1, days // 80)
    player.play(evening=lambda n: course.look(player, n, file) if n % step == 0 or n == days - 1 else None)
    memory = player.memory
    memory.sweep()
    player.note()
    histories: dict[str, Any] = {}
    for item in invariants.everything(memory, player.told.sessions):
        histories[item.id] = memory.history(item.id)
        if item.status is Status.ACTIVE:
            course.values.setdefault(str(item.kind), []).append(item.value)
    course.faults, course.rows = checked(player)
    course.asked = player.told.asked
    course.questions = [f"{q.question} ({q.why})" for q in memory.review(limit=20)]
    course.journal = Counter(e.operation for entries in histories.values() for e in entries)
    for query in player.life.questions:
        hits = memory.recall(query, limit=3, touch=False).hits
        course.answers.append((query, " | ".join(h.memory.content for h in hits) or "nothing known"))
    player.note()
    course.faults["everything is undone"] = [
        *invariants.undo_everything(memory, player.told, player.told.operations),
        *(f"{m.id} is still there" for m in invariants.everything(memory)),
    ]
    memory.close()
    return course


def _time_calls(player: Player, course: Course, clock: Callable[[], float]) -> None:
    """Measure the calls that a user waits for, in seconds of a clock."""
    memory: Any = player.memory

    def timed(verb: str, call: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            begun = clock()
            done = call(*args, **kwargs)
            memories = done.examined if verb == "sweep" else max(1, len(player.told.texts))
            course.seconds.append(((player.clock.now - START).days, verb, clock() - begun, memories))
            return done

        return run

    for verb in ("remember", "recall", "sweep"):
        setattr(memory, verb, timed(verb, getattr(memory, verb)))


# --- the page


def chart(title: str, days: Sequence[int], series: Mapping[str, Sequence[float]]) -> str:
    """Return stacked areas over days as SVG."""
    width, height = 640, 180
    names = [name for name, values in series.items() if any(values)]
    most = max((sum(series[n][i] for n in names) for i in range(len(days))), default=1) or 1
    below, shapes, keys = [0.0] * len(days), [], []
    for place, name in enumerate(names):
        above = [b + v for b, v in zip(below, series[name], strict=True)]
        xs = [width * day / max(1, days[-1]) for day in days]
        upper = [f"{x:.1f},{height - height * y / most:.1f}" for x, y in zip(xs, above, strict=True)]
        lower = [f"{x:.1f},{height - height * y / most:.1f}" for x, y in zip(xs, below, strict=True)][::-1]
        colour = COLOURS[place % len(COLOURS)]
        shapes.append(f'<polygon fill="{colour}" points="{" ".join([*upper, *lower])}"/>')
        keys.append(f'<span style="color:{colour}">■</span> {html.escape(name)}')
        below = above
    picture = f'<svg viewBox="0 0 {width} {height}" width="{width}">{"".join(shapes)}</svg>'
    return (
        f"<figure><figcaption>{html.escape(title)} (at most {most:g}) {' '.join(keys)}</figcaption>{picture}</figure>"
    )


def rows_of(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table."""
    lines = ["<tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in row) + "</tr>" for row in rows]
    return f"<table>{''.join(lines)}</table>"


def page(courses: Sequence[Course]) -> str:
    """Return the whole report."""
    style = "body{font:15px sans-serif;max-width:60em;margin:2em auto}td,th{padding:2px 8px;text-align:left}"
    table = [(row, *(c.rows[row] or "" for c in courses)) for row in ROWS]
    parts = [*(part for course in courses for part in _section(course))]
    return (
        f"<!doctype html><meta charset=utf-8><title>Lives</title><style>{style}</style><h1>Lives</h1>{''.join(parts)}"
        f"<h2>What was reached</h2>{rows_of(['row', *(c.kind for c in courses)], table)}"
    )


def _section(course: Course) -> Iterator[str]:
    yield f"<h2>{course.kind}</h2>"
    for title, looks in (("visible memories by tier", course.tiers), ("memories by status", course.statuses)):
        names = sorted({name for look in looks for name in look})
        yield chart(title, course.days, {name: [look.get(name, 0) for look in looks] for name in names})
    yield rows_of(["what must hold", "faults"], [(k, "; ".join(f[:3]) or "none") for k, f in course.faults.items()])
    values = [(k, len(v), f"{statistics.mean(v):.3f}", f"{max(v):.3f}") for k, v in sorted(course.values.items())]
    yield rows_of(["kind", "visible", "mean value", "highest"], values)
    growth = [(name, f"{a:.3g}", f"{b:.3g}", f"{b / a:.2f}") for name, a, b, _ in course.growth()]
    yield rows_of(["for each memory", "beginning", "end", "ratio"], growth)
    yield rows_of(["asked at the end", "found"], course.answers)
    yield rows_of(["what happened", "times"], course.asked.most_common())
    yield rows_of(["journal lines of", "number"], course.journal.most_common())
    yield rows_of(["open questions"], [(q,) for q in course.questions])


def main() -> None:
    """Play, check, print a summary, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], default=[])
    parser.add_argument("--days", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=24.0, help="hours between sweeps")
    parser.add_argument("--dsn", help="an empty, migrated database instead of a file; one kind only")
    parser.add_argument("-o", "--output", type=Path, default=Path("life.html"))
    asked = parser.parse_args()
    courses, wrong = [], 0
    for kind in asked.kinds or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            place = asked.dsn or Path(folder) / "agent.db"
            courses.append(lived(kind, asked.seed, asked.days, asked.every, place, HashEmbedder()))
        for name, faults in courses[-1].faults.items():
            wrong += len(faults)
            print(f"{kind}: {name}: {len(faults)} faults {faults[:1] or ''}")
        for name, early, late, is_judged in courses[-1].growth():
            much = is_judged and late > MOST * early
            wrong += much
            print(f"{kind}: {name}: {early:.3g} to {late:.3g}, {late / early:.2f} x{' (too much)' if much else ''}")
    print("not reached:", ", ".join(row for row in ROWS if not any(c.rows[row] for c in courses)) or "nothing")
    asked.output.write_text(page(courses), "utf-8")
    print(f"written: {asked.output}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
