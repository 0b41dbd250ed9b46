"""Facts by rule on raw messages: the share that a person finds right, of facts drawn when the rules were fixed.

Usage: python benchmarks/raw_facts.py [--sample]. --sample prints 100 facts that are read now, drawn with a fixed seed.

All messages of the users of BEAM 500K and MemoryBank (English) are read by rule, each after the turn before it. Of the
facts 100 were drawn, and all of MemoryBank were added. Each was judged by hand, strictly: right is what the message
says of that subject with that value, whole; a value that is cut, or means something else by itself, is wrong. The
labels (benchmarks/labels/facts_raw.json) are of the reader as it was then; the second figure is of those that are still
read.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import beam
from chats import data_file
from facts import MARCH_2024, NAMES, POLICY
from perdure.knowledge.extraction.claims import claims, claims_with_answer
from perdure.knowledge.records.facts import UNNAMED, Claim
from report import Row, finished, parser, say

LABELS = Path(__file__).with_name("labels") / "facts_raw.json"
DRAWN, SEED = 100, 14


def turns() -> Iterator[tuple[str, str, str, str]]:
    """Yield (chat, turn, the turn before, what the user says)."""
    for chat in beam.chats({"user", "assistant"}, "beam_500k_dev.tar.gz"):
        before = ""
        for message in chat.messages:
            if message.role == "user":
                yield chat.name, str(message.source), before, message.content
            before = message.content
    people = json.loads(data_file("memory_bank_en.json").read_text("utf-8"))
    for name, person in people.items():
        for day, talk in person["history"].items():
            before = ""
            for number, turn in enumerate(talk):
                yield f"memory-bank-{name.strip()}", f"{day}:{number}", before, turn["query"]
                before = turn["response"]


def read(text: str, before: str) -> list[Claim]:
    """Return what is read of a message; a correction that names no predicate is no fact by itself."""
    own = claims(text, MARCH_2024, NAMES, speaker="user", policy=POLICY)
    found = claims_with_answer(text, before, MARCH_2024, NAMES, own, POLICY) if before else own
    return [claim for claim in found if claim.predicate != UNNAMED]


def facts() -> list[dict[str, Any]]:
    """Return the facts that are read, each as its label names it."""
    return [
        {"chat": chat, "turn": turn, "subject": claim.subject, "predicate": claim.predicate, "value": _value(claim)}
        for chat, turn, before, text in turns()
        for claim in read(text, before)
    ]


def _value(claim: Claim) -> str:
    return f"{'not ' * claim.denied}{claim.value.text}"


def _row(title: str, right: list[bool]) -> Row:
    share = sum(right) / len(right)
    error = 100 * math.sqrt(share * (1 - share) / len(right))
    return Row(title, 100 * share, "%", 90, at_least=True, note=f"of {len(right)}, ± {error:.1f}")


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--sample", action="store_true", help="print 100 facts that are read now")
    given = arguments.parse_args()
    found = facts()
    if given.sample:
        for fact in random.Random(SEED).sample(found, min(DRAWN, len(found))):
            say(json.dumps(fact, ensure_ascii=False))
        return
    now = {json.dumps(fact, sort_keys=True) for fact in found}
    labels = json.loads(LABELS.read_text("utf-8"))
    groups = {
        "the drawn facts": [label for label in labels if label["drawn"]],
        "all of MemoryBank": [label for label in labels if label["chat"].startswith("memory-bank")],
    }
    say(f"{len(found)} facts are read.")
    rows = []
    for title, some in groups.items():
        still = [one["right"] for one in some if json.dumps({key: one[key] for key in found[0]}, sort_keys=True) in now]
        rows += [_row(f"right of {title}", [one["right"] for one in some]), _row(f"{title}, still read", still)]
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
