"""Print how precise recall is on the notes and the cases, beside plain vectors and BM25.

Usage: python training/precision.py [NAME=FILE.onnx ...] [--cases FILE ...]
       python training/precision.py --curve [--cases FILE ...]

``--cases`` measures these files of ``precision`` and nothing else: first, locked, fair_open, fair_locked. Without it,
the first two are measured, with the notes. In the fair ones length says nothing about what is wanted.

The installed embedder is always measured. "Recall" is ``Memory.recall`` with at most ten hits. Vectors (the ten highest
cosines) and BM25 (the ten best) search what it may show: notes that can be seen from the scope and were not replaced.
So figures differ by ranking and by what is left out. Figures are percentages: means over questions, with standard
errors over stores or cases. "Precision": of what is returned, the share that is wanted; 0 where nothing is returned.
"Rightly empty": of the questions that nothing answers, the share that returns nothing; all other columns leave these
questions out. "Wrongly empty": the same of the others. "Newest" and "longest four" ignore the question: ten hits are
much of what can be seen here, so recall@10 is high for any search that leaves nothing out, and what was written to
distract may be shorter than what helps.

``--curve`` prints recall and precision of the first halves for other ways to cut the ten best hits: by a share of the
best one's likeness, by relevance, at a number, and at the largest gap; and for as many of an order as are wanted, which
no way to cut that order can be expected to exceed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import perdure
from evaluate import HITS, matrix, spread, table
from perdure.models.local import LocalEmbedder
from perdure.rules.ranking import OWN
from pools import Kept, word_hits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from perdure.records.recall import Hit

HERE = Path(__file__).resolve().parent
HALVES = ("first", "locked")
NO_CUT: dict[str, Any] = {"recall": {"hit_share": 0.0}}
LONGEST = 4
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
CHANCES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
COLUMNS = ("recall@10", "precision", "F1", "reciprocal rank")
USER = "user"


@dataclass(frozen=True)
class Note:
    """What an agent knows; ``replaced_by`` is the id of the later note that took its place, or empty."""

    id: str
    text: str
    at: datetime
    scope: str
    replaced_by: str = ""


@dataclass(frozen=True)
class Question:
    """A question, the scope that it is asked from, and the ids of the notes that help."""

    text: str
    scope: str
    wanted: frozenset[str]


@dataclass(frozen=True)
class Group:
    """Notes that are kept together, with their questions: a store, or a case with its one question."""

    name: str
    notes: tuple[Note, ...]
    questions: tuple[Question, ...]

    def visible(self, scope: str) -> list[Note]:
        """Return the notes that hold and can be seen from a scope."""
        return [n for n in self.notes if n.scope in (USER, scope) and not n.replaced_by]


@dataclass(frozen=True)
class Answer:
    """What was returned for one question, best first."""

    group: str
    wanted: frozenset[str]
    returned: tuple[str, ...]

    def figures(self) -> tuple[float, ...]:
        """Return recall, precision, F1 and reciprocal rank."""
        found = len(self.wanted.intersection(self.returned))
        rank = next((i for i, name in enumerate(self.returned, 1) if name in self.wanted), 0)
        precision = found / len(self.returned) if self.returned else 0.0
        both = len(self.wanted) + len(self.returned)
        return found / len(self.wanted), precision, 2 * found / both, 1 / rank if rank else 0.0


def stores(half: str) -> list[Group]:
    """Return the stores of notes of a half."""
    return [_group(row, row["store"], row["notes"], row["questions"]) for row in _rows("notes", half)]


def short(half: str) -> list[Group]:
    """Return the stores of notes of a half, with misspelt and terse questions."""
    asked = {row["store"]: row["questions"] for row in _rows("notes", f"short.{half}")}
    return [_group(row, row["store"], row["notes"], asked[row["store"]]) for row in _rows("notes", half)]


def cases(half: str) -> list[Group]:
    """Return the cases of a half."""
    rows = _rows("precision", half)
    return [_group(row, row["case"], row["beliefs"], [{**row, "text": row["query"]}]) for row in rows]


def _rows(folder: str, half: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / folder / f"{half}.jsonl").read_text("utf-8").splitlines()]


def _group(row: dict[str, Any], name: str, notes: list[dict[str, Any]], asked: list[dict[str, Any]]) -> Group:
    noon = timedelta(hours=12)
    held = [Note(**{**n, "at": datetime.fromisoformat(n["at"]).replace(tzinfo=UTC) + noon}) for n in notes]
    questions = [Question(q["text"], row.get("scope", "project"), frozenset(q["wanted"])) for q in asked]
    return Group(name, tuple(sorted(held, key=lambda n: n.at)), tuple(questions))


def by_recall(group: Group, embedder: Kept) -> Iterator[tuple[str, ...]]:
    """Yield what the library returns for each question, asked a day after the last note."""
    for hits in _recalled(group, embedder, {}):
        yield tuple(name for name, _ in hits)


def _recalled(group: Group, embedder: Kept, policy: dict[str, Any]) -> Iterator[list[tuple[str, Hit]]]:
    """Yield the hits for each question, each with the name of its note."""
    now = group.notes[0].at
    with (
        tempfile.TemporaryDirectory() as folder,
        perdure.open(Path(folder) / "notes.db", policy=policy, clock=lambda: now, embedder=embedder) as memory,
    ):
        ids: dict[str, str] = {}
        for note in group.notes:
            now = note.at
            ids[note.id] = _remember(memory, group, note, ids)
        now += timedelta(days=1)
        names = {stored: name for name, stored in ids.items()}
        for question in group.questions:
            answer = memory.recall(question.text, limit=HITS, tags=[question.scope], touch=False)
            yield [(names[hit.memory.id], hit) for hit in answer.hits]


def _remember(memory: perdure.Memory, group: Group, note: Note, ids: dict[str, str]) -> str:
    """Store a note. ``tags`` asks for all of them, so what is the user's gets the tag of every scope that sees it."""
    everywhere = {q.scope for q in group.questions} | {n.scope for n in group.notes}
    tags = sorted(everywhere) if note.scope == USER else [note.scope]
    older = [ids[n.id] for n in group.notes if n.replaced_by == note.id]
    return memory.remember(note.text, tags=tags, at=note.at, replaces=older).id


def by_vectors(group: Group, embedder: Kept) -> Iterator[tuple[str, ...]]:
    """Yield the notes with the highest cosines for each question."""
    for question in group.questions:
        notes = group.visible(question.scope)
        cosines = matrix(embedder, [n.text for n in notes]) @ matrix(embedder, [question.text])[0]
        yield tuple(notes[i].id for i in np.argsort(-cosines, kind="stable")[:HITS].tolist())


def by_date(group: Group) -> Iterator[tuple[str, ...]]:
    """Yield the newest notes for each question, whatever it asks."""
    for question in group.questions:
        yield tuple(note.id for note in reversed(group.visible(question.scope)))[:HITS]


def by_length(group: Group) -> Iterator[tuple[str, ...]]:
    """Yield the longest notes for each question, whatever it asks."""
    for question in group.questions:
        ordered = sorted(group.visible(question.scope), key=lambda note: -len(note.text))
        yield tuple(note.id for note in ordered)[:LONGEST]


def by_words(group: Group) -> Iterator[tuple[str, ...]]:
    """Yield the best notes by FTS5's BM25 for each question."""
    for question in group.questions:
        notes = group.visible(question.scope)
        (hits,) = word_hits([n.text for n in notes], [question.text])
        yield tuple(notes[i].id for i in hits)


def answers(groups: Sequence[Group], search: Callable[[Group], Iterator[tuple[str, ...]]]) -> list[Answer]:
    """Return what a search returns for every question."""
    return [
        Answer(group.name, question.wanted, returned)
        for group in groups
        for question, returned in zip(group.questions, search(group), strict=True)
    ]


def row(name: str, given: Sequence[Answer]) -> list[str]:
    """Return one line of the table."""
    answered = [(a.group, a.figures()) for a in given if a.wanted]
    cells = [spread([(group, figures[i]) for group, figures in answered]) for i in range(len(COLUMNS))]
    length = np.mean([len(a.returned) for a in given if a.wanted])
    wrongly, rightly = (
        [(a.group, float(not a.returned)) for a in given if bool(a.wanted) is answered] for answered in (True, False)
    )
    return [name, *cells, f"{length:.1f}", spread(wrongly), spread(rightly) if rightly else "—"]


def measure(title: str, groups: Sequence[Group], models: dict[str, Kept]) -> None:
    """Print the table of one half of one set."""
    rows = [row("newest", answers(groups, by_date)), row("longest four", answers(groups, by_length))]
    rows.append(row("BM25", answers(groups, by_words)))
    for name, model in models.items():
        rows.append(row(f"{name}, vectors", answers(groups, lambda g, m=model: by_vectors(g, m))))
        rows.append(row(f"{name}, recall", answers(groups, lambda g, m=model: by_recall(g, m))))
    table([title, *COLUMNS, "returned", "wrongly empty", "rightly empty"], rows)


def _own(hit: Hit) -> float:
    return sum(hit.parts.get(name, 0.0) for name in OWN)


def _until_gap(hits: list[tuple[str, Hit]]) -> list[tuple[str, Hit]]:
    scores = [_own(hit) for _, hit in hits]
    gaps = [one - other for one, other in pairwise(scores)]
    return hits[: gaps.index(max(gaps)) + 1] if gaps else hits


CUTS: dict[str, Callable[[list[tuple[str, Hit]], float], list[tuple[str, Hit]]]] = {
    "share of the best one's likeness": lambda hits, t: [h for h in hits if _own(h[1]) >= t * _own(hits[0][1])],
    "relevance": lambda hits, t: [h for h in hits if h[1].relevance >= t],
    "number": lambda hits, t: hits[: int(t)],
    "largest gap": lambda hits, _: _until_gap(hits),
}
VALUES: dict[str, tuple[float, ...]] = {
    "share of the best one's likeness": SHARES,
    "relevance": CHANCES,
    "number": tuple(map(float, range(1, HITS + 1))),
    "largest gap": (0.0,),
}


ORDERS: dict[str, Callable[[dict[str, int], tuple[str, Hit]], float]] = {
    "likeness": lambda _, hit: -_own(hit[1]),
    "cosine": lambda _, hit: -(hit[1].cosine or 0.0),
    "length": lambda lengths, hit: -lengths[hit[0]],
}


def curve(title: str, groups: Sequence[Group], embedder: Kept) -> None:
    """Print recall and precision for other ways to cut the ten best hits, and for as many hits as are wanted."""
    asked = [
        (group, question, sorted(hits, key=lambda hit: -_own(hit[1])))
        for group in groups
        for question, hits in zip(group.questions, _recalled(group, embedder, NO_CUT), strict=True)
        if question.wanted
    ]
    rows = []
    for name, cut in CUTS.items():
        rows += [
            [name, f"{value:g}", *_both([(g, q, cut(hits, value)) for g, q, hits in asked])] for value in VALUES[name]
        ]
    for name, order in ORDERS.items():
        best = [(g, q, _as_many(g, len(q.wanted), hits, order)) for g, q, hits in asked]
        rows.append([f"as many as are wanted, by {name}", "", *_both(best)])
    table([title, "value", "recall", "precision", "returned"], rows)


def _as_many(
    group: Group, count: int, hits: list[tuple[str, Hit]], order: Callable[[dict[str, int], tuple[str, Hit]], float]
) -> list[tuple[str, Hit]]:
    lengths = {note.id: len(note.text) for note in group.notes}
    return sorted(hits, key=lambda hit: order(lengths, hit))[:count]


def _both(found: list[tuple[Group, Question, list[tuple[str, Hit]]]]) -> list[str]:
    """Return recall, precision and how many hits are left, as cells."""
    figures = [(g.name, Answer(g.name, q.wanted, tuple(n for n, _ in hits)).figures()) for g, q, hits in found]
    cells = [spread([(group, some[i]) for group, some in figures]) for i in (0, 1)]
    return [*cells, f"{np.mean([len(hits) for *_, hits in found]):.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("others", nargs="*", metavar="NAME=FILE", help="other models to measure beside")
    parser.add_argument("--curve", action="store_true", help="print other ways to cut, on the first halves")
    parser.add_argument("--cases", action="extend", nargs="+", default=[], metavar="FILE", help="only these cases")
    models = {"installed": Kept()}
    given = parser.parse_args()
    if given.curve and given.cases:
        for name in given.cases:
            curve(f"cases, {name}", cases(name), models["installed"])
        return
    if given.curve:
        curve("notes, first", stores("first"), models["installed"])
        curve("cases, first", cases("first"), models["installed"])
        return
    for entry in given.others:
        name, _, path = entry.partition("=")
        models[name] = Kept(LocalEmbedder(weights=Path(path)))
    for name in given.cases:
        measure(f"cases, {name}", cases(name), models)
    for half in HALVES if not given.cases else ():
        measure(f"notes, {half}", stores(half), models)
        measure(f"short questions, {half}", short(half), models)
        measure(f"cases, {half}", cases(half), models)


if __name__ == "__main__":
    main()
