"""Facts by rule on labelled statements that nobody tuned on: precision and recall, strictly scored.

Usage: python benchmarks/statements.py [FILE ...] [--show]. A FILE is one of benchmarks/labels; several are counted as
one, and without any it is statements_first. --show prints what was read wrongly and what was missed.

Each statement is taken in by itself, after the turn before it where there is one, and the facts that are then believed
are compared with the labels. A fact is right if subject, value and polarity are those of a label and its predicate has
a word of those that the label accepts. Values are the same where their normal forms are. A note holds the speaker's own
words and is about nobody: it is right where a label accepts a note and the note and the label's value hold one another.
Of the first file the kinds of mistakes were looked at, and mended; by the second rules were deleted; the third was
run when that was done, and rules were deleted by it, too. The fourth was written without a look at the rules, and run
once with them; one word was deleted by it since. The open and the locked file were written before a look at the rules
and divided by chance; docs/decisions/0025-reader.md has their first run. The sixth was written without a look at the
rules, too, and its digest stands beside it. In it a label may name several subjects, have other readings ("or"), or be
"optional": right where it is read, not missed where it is not. The seventh, of the same form, was written by somebody
who had not seen the rules, and run once; two of its mistakes were mended. So was the eighth, with milder labels; it was
run once with the rules as they are.
"""

from __future__ import annotations

import json
import math
import random
import re
import statistics
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import perdure
from perdure.knowledge.extraction.values import value_of
from perdure.knowledge.extraction.words import base_verb, singular
from perdure.records.instant import to_instant
from report import Row, finished, parser

if TYPE_CHECKING:
    from perdure.knowledge.records.results import FactLine

LABELS = Path(__file__).with_name("labels")
POLICY = {"preset": "facts", "embedder": {"model": "none"}}
SAID = datetime(2026, 6, 3, 9, 30, tzinfo=UTC)
ROUNDS = 2000
FIRST_PERSON = {"i", "me", "my", "we", "us", "our", "user", "speaker", "the user"}


@dataclass(frozen=True)
class Scored:
    """What became of one statement: right facts, facts, labels found, labels."""

    right: int
    facts: int
    found: int
    labels: int
    notes: int
    text: str
    wrong: tuple[str, ...]
    missed: tuple[str, ...]


def whom(name: str) -> str:
    """Return a subject as it is compared: without articles and marks, the first person as user."""
    plain = " ".join(re.findall(r"\w+", re.sub(r"'s\b", "", name.casefold())))
    plain = re.sub(r"^(?:the|a|an|my|our|user|users)\s+(?=\w)", "", plain)
    return "user" if plain in FIRST_PERSON else plain


def words(predicate: str) -> set[str]:
    """Return the words of a predicate, verbs and nouns in their base forms."""
    found = re.findall(r"[a-z]+", predicate.casefold())
    return {form for word in found for form in (word, singular(word), base_verb(word))}


def norm(value: str) -> str:
    """Return the normal form of a value."""
    return value_of(value.removeprefix("not "), to_instant(SAID)).norm


def fits(fact: FactLine, label: dict[str, Any], speaker: str) -> bool:
    """Return whether a fact is what a label says, in one of its readings."""
    return any(_fits(fact, label | other, speaker) for other in ({}, *label.get("or", ())))


def _fits(fact: FactLine, label: dict[str, Any], speaker: str) -> bool:
    names = {whom(name) for name in _several(label["subject"])}
    subjects = names | ({whom(speaker)} if "user" in names and speaker else set())
    value = fact.value.removeprefix("not ") if fact.denied else fact.value
    accepted, values = _several(label["predicate"]), _several(label["value"])
    if fact.predicate == "note":
        told = norm(value)
        return "note" in accepted and any(norm(v) in told or told in norm(v) for v in values)
    return (
        whom(fact.name) in subjects
        and fact.denied == label.get("denied", False)
        and bool(words(fact.predicate) & {w for name in accepted for w in words(name)})
        and norm(value) in {norm(v) for v in values}
    )


def _several(entry: str | list[str]) -> list[str]:
    return entry if isinstance(entry, list) else [entry]


def scored(memory: perdure.Memory, row: dict[str, Any], place: str) -> Scored:
    """Return what is right among the facts that one statement teaches."""
    speaker = row.get("speaker") or ""
    messages: list[dict[str, Any]] = []
    if row.get("before"):
        messages.append({"content": row["before"], "role": "assistant", "at": SAID.isoformat()})
    said = {"content": row["text"], "role": "user", "at": SAID.replace(minute=31).isoformat()}
    messages.append({**said, "speaker": speaker} if speaker else said)
    memory.ingest(messages, namespace=place, session="s")
    facts = memory.facts(namespace=place, limit=1000)
    right = [f for f in facts if any(fits(f, label, speaker) for label in row["facts"])]
    asked = [label for label in row["facts"] if not label.get("optional")]
    missed = [label for label in asked if not any(fits(f, label, speaker) for f in facts)]
    wrong = [f"{f.name} | {f.predicate} | {f.value}" for f in facts if f not in right]
    told = [f"{x['subject']} | {x['predicate']} | {'not ' * x.get('denied', False)}{x['value']}" for x in missed]
    count = len(asked)
    return Scored(
        len(right),
        len(facts),
        count - len(missed),
        count,
        sum(f.predicate == "note" for f in facts),
        row["text"],
        tuple(wrong),
        tuple(told),
    )


def share(some: list[Scored], part: str, whole: str) -> float:
    """Return a ratio of sums over statements."""
    total = sum(getattr(s, whole) for s in some)
    return sum(getattr(s, part) for s in some) / total if total else math.nan


def error(some: list[Scored], part: str, whole: str) -> float:
    """Return the standard error of a ratio, by drawing statements again and again."""
    draw = random.Random(7)
    shares = [share(draw.choices(some, k=len(some)), part, whole) for _ in range(ROUNDS)]
    return statistics.stdev(x for x in shares if not math.isnan(x))


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("files", nargs="*", default=["statements_first"], help="files of benchmarks/labels")
    arguments.add_argument("--show", action="store_true", help="print what was read wrongly and what was missed")
    given = arguments.parse_args()
    files = [LABELS / f"{Path(name).stem}.jsonl" for name in given.files]
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    rows = [json.loads(line) for line in lines if line.strip()]
    with tempfile.TemporaryDirectory() as folder, perdure.open(Path(folder) / "s.db", policy=POLICY) as memory:
        results = [scored(memory, row, f"s{at}") for at, row in enumerate(rows)]
    if given.show:
        _show(results)
    right, found = (_told(results, part, whole) for part, whole in (("right", "facts"), ("found", "labels")))
    some = 100 * sum(s.facts > 0 for s in results) / len(results)
    notes = f"{sum(s.notes for s in results)} of them notes"
    finished(
        [
            Row("facts read that a label says", *right[:2], target=90, at_least=True, note=f"{right[2]}, {notes}"),
            Row("labelled facts that are read", *found[:2], note=found[2]),
            Row("statements of which something is read", some, "%", note=f"of {len(results)}"),
        ],
        as_json=given.json,
    )


def _told(results: list[Scored], part: str, whole: str) -> tuple[float, str, str]:
    """Return a share in percent, its unit, and of how many with which standard error."""
    note = f"of {sum(getattr(s, whole) for s in results)}, ± {100 * error(results, part, whole):.1f}"
    return 100 * share(results, part, whole), "%", note


def _show(results: list[Scored]) -> None:
    for one in results:
        if one.wrong or one.missed:
            print(one.text)
            for kind, some in (("WRONG", one.wrong), ("missed", one.missed)):
                for told in some:
                    print(f"    {kind}: {told}")


if __name__ == "__main__":
    main()
