"""What `extract` takes from turns of real conversations, and how much of it is worth keeping.

Usage: python benchmarks/extraction.py [--draw NAME] [--unlabelled] [--json]

Data: turns of LoCoMo and BEAM, drawn with a fixed seed, each handed to the public `extract` with the role that said
it. "open" is of the development sets, and was looked at when rules were changed; "locked" is of the validation sets,
labelled before that; "fresh" and "last" are of the rest of those, each drawn and labelled after a change of rules.
"long", "decisive" and "third" are of eight chats: after "long" whole sentences were kept, after "decisive" formulas
were left out, after "third" nothing was changed. Labels of these three, and of texts that changed since, are of two
readers who knew no rule and must agree; whoever changed the rules gave the others, of "open" with the patterns in
sight, of the rest in an order by digest, with the role alone. Extracted texts and baseline were mixed. The baseline
are sentences of these turns that a person said and that hold a digit or a name. LoCoMo may not be passed on, so a
label names the conversation, the turn and a digest of the text, never the text. Right is what a person would still
want to know in a month and can be understood by itself: a fact, a decision, a commitment or a definition, whole. An
extraction without a label ends the run with an error; --unlabelled prints those, to be read and labelled.
"""

from __future__ import annotations

import csv
import hashlib
import math
import random
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import beam
import locomo
import perdure
from perdure.rules.language.sentences import sentences
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LABELS = Path(__file__).with_name("labels")
VALIDATION = "locomo_val.json.gz", "beam_val.tar.gz"
LONG = None, "beam_500k_dev.tar.gz"
DRAWS = [["locked", "fresh", "last"], ["long", "decisive", "third"]]
"""Draws of the same sets; none takes a turn of those before it."""
FILES = {
    "open": ("locomo_dev.json.gz", "beam_dev.tar.gz"),
    **dict.fromkeys(DRAWS[0], VALIDATION),
    **dict.fromkeys(DRAWS[1], LONG),
}
TURNS, COMPARED = 2000, 60
PICTURE = re.compile(r" \[[^\]]*\]\Z")
"""What `locomo.chats` adds to the words that were said."""
MARKED = re.compile(r"\d|(?<=[a-z,] )[A-Z][a-z]+")
"""A digit, or a capital within a sentence."""
SHORTEST = 10


class Turn(NamedTuple):
    """What somebody said in a conversation."""

    chat: str
    source: str
    role: str
    text: str


class Found(NamedTuple):
    """A text that was taken from a turn, and by which pattern."""

    turn: Turn
    text: str
    pattern: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What its label names."""
        return self.turn.chat, self.turn.source, hashlib.sha256(self.text.encode()).hexdigest()[:16]


def drawn(name: str) -> list[Turn]:
    """Return the turns of a draw; of one that is longer than `extract` takes its beginning."""
    people, assistants = FILES[name]
    chats = [*(locomo.chats(people) if people else ()), *beam.chats({"user", "assistant"}, assistants)]
    turns = [
        Turn(chat.name, str(m.source), m.role or "user", PICTURE.sub("", m.content)[:50_000])
        for chat in chats
        for m in chat.messages
        if m.content.strip()
    ]
    same = next((draws for draws in DRAWS if name in draws), [name])
    for earlier in same[: same.index(name)]:
        seen = set(_sample(earlier, turns))
        turns = [turn for turn in turns if turn not in seen]
    return _sample(name, turns)


def _sample(name: str, turns: Sequence[Turn]) -> list[Turn]:
    return random.Random(f"extraction {name}").sample(turns, min(TURNS, len(turns)))


def extracted(turns: Iterable[Turn]) -> list[Found]:
    """Return what is newly stored of each turn, a namespace for each conversation."""
    found = []
    with perdure.open(":memory:", policy={"embedder": {"model": "local"}}) as memory:
        for turn in turns:
            done = memory.extract(turn.text, namespace=turn.chat, role=turn.role)
            found += [Found(turn, one.content, one.pattern_matched) for one in done.extractions if one.stored]
    return found


def baseline(turns: Sequence[Turn]) -> list[Found]:
    """Return sentences with a digit or a name that persons said in the turns."""
    said = [turn for turn in turns if turn.role == "user"]
    found = [Found(turn, turn.text[start:end], "baseline") for turn in said for start, end in sentences(turn.text)]
    fitting = [one for one in found if len(one.text) >= SHORTEST and MARKED.search(one.text)]
    return random.Random("baseline").sample(fitting, COMPARED)


def labels(name: str) -> dict[tuple[str, str, str], bool]:
    """Return what is known to be worth keeping."""
    path = LABELS / f"extraction_{name}.tsv"
    rows = csv.reader(path.read_text("utf-8").splitlines() if path.exists() else [], delimiter="\t")
    return {(chat, source, digest): verdict == "right" for chat, source, digest, verdict in rows}


def judged(title: str, found: Sequence[Found], known: Mapping[tuple[str, str, str], bool], goal: float | None) -> Row:
    """Return the share of some texts that is worth keeping."""
    right = [known[one.key] for one in found]
    share = sum(right) / max(1, len(right))
    error = math.sqrt(share * (1 - share) / max(1, len(right)))
    note = f"{sum(right)} of {len(right)}, ± {error:.3f}"
    return Row(f"{title}, share worth keeping", share, "", goal, at_least=True, note=note)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--draw", choices=FILES, default="open")
    arguments.add_argument("--unlabelled", action="store_true", help="print what has no label yet")
    given = arguments.parse_args()
    name = given.draw
    turns, known = drawn(name), labels(name)
    found = extracted(turns)
    compared = baseline(turns)
    without = [one for one in (*found, *compared) if one.key not in known]
    if given.unlabelled:
        for one in without:
            print(*one.key, one.turn.role, one.pattern, one.text.replace("\t", " ").replace("\n", " / "), sep="\t")
        return
    if without:
        sys.exit(f"{len(without)} of {len(found) + len(compared)} texts have no label; read them with --unlabelled")
    by = Counter((one.pattern, known[one.key]) for one in found)
    for pattern in sorted({one.pattern for one in found}):
        say(f"  {pattern}: {by[pattern, True]} right, {by[pattern, False]} wrong")
    title = f"extracted of {TURNS} turns, {name}"
    finished(
        [
            judged(title, found, known, 0.7),
            judged(f"{title}: a person's with a digit or a name", compared, known, None),
        ],
        as_json=given.json,
    )


if __name__ == "__main__":
    main()
