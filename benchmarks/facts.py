"""Facts by rule: speed on real messages, precision on labelled claims of LoCoMo, coverage of its evidence turns.

Usage: python benchmarks/facts.py [--sample]. --sample prints the claims that have no label yet.

The labels (benchmarks/labels/facts.json) name a claim by its chat, turn, place, predicate and value, and say whether
the message says so. They were judged by hand, on a sample spread evenly over all claims. Claims that a change of the
rules brings or takes have no label, so the figure is of those that are still made.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

import beam
import locomo
from chats import Chat
from perdure.knowledge.extension import predicates_from
from perdure.knowledge.extraction.claims import claims
from perdure.knowledge.records.facts import Claim
from perdure.records.instant import to_instant
from perdure.records.message import Message
from perdure.records.policy_knowledge import KnowledgePolicy
from report import Row, finished, parser, say

LABELS = Path(__file__).with_name("labels") / "facts.json"
SAMPLED = 200
NAMES = predicates_from({}, "")
POLICY = KnowledgePolicy(learn="rules")
MARCH_2024 = 1_709_251_200_000
"""When messages without a time count as said."""


def claimed(message: Message) -> list[Claim]:
    """Return what one message claims, the caption of a picture left out."""
    at = MARCH_2024 if message.at is None else to_instant(message.at)
    text = message.content.partition(" [")[0] if message.speaker else message.content
    return claims(text, at, NAMES, speaker=message.speaker, policy=POLICY)


def named(chat: Chat, message: Message, claim: Claim) -> list[Any]:
    """Return what a label calls a claim."""
    return [chat.name, message.source, claim.span.start, claim.span.end, claim.predicate, claim.value.norm[:40]]


def speed(chats: list[Chat]) -> float:
    """Return messages per second, the median of five runs."""
    messages = [message for chat in chats for message in chat.messages]
    rates = []
    for _ in range(5):
        begun = perf_counter()
        for message in messages:
            claimed(message)
        rates.append(len(messages) / (perf_counter() - begun))
    return statistics.median(rates)


def coverage(chats: list[Chat]) -> float:
    """Return the share of the turns that answer a question from which at least one claim is read."""
    turns = {(chat.name, source) for chat in chats for question in chat.questions for source in question.evidence}
    told = {(chat.name, m.source) for chat in chats for m in chat.messages if claimed(m)}
    return len(turns & told) / len(turns)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--sample", action="store_true", help="print sampled claims without a label")
    given = arguments.parse_args()
    chats = locomo.chats()
    found = [(chat, message, claim) for chat in chats for message in chat.messages for claim in claimed(message)]
    labels = json.loads(LABELS.read_text("utf-8")) if LABELS.exists() else []
    known = {tuple(label["claim"]): label["right"] for label in labels}
    if given.sample:
        _sample(found, known)
        return
    judged = [known[key] for c, m, f in found if (key := tuple(named(c, m, f))) in known]
    say(f"{len(found)} claims: {Counter(f.type for _, _, f in found).most_common(12)}")
    rows = [
        Row("LoCoMo messages a second", speed(chats), "/s", 300, at_least=True),
        Row("BEAM messages a second", speed(beam.chats({"user"})), "/s", 300, at_least=True),
        Row("LoCoMo evidence turns with a claim", 100 * coverage(chats), "%"),
        Row(
            f"precision on {len(judged)} labelled claims", 100 * statistics.mean(judged or [0]), "%", 70, at_least=True
        ),
    ]
    finished(rows, as_json=given.json)


def _sample(found: list[tuple[Chat, Message, Claim]], known: dict[Any, bool]) -> None:
    for at in range(min(SAMPLED, len(found))):
        chat, message, claim = found[at * len(found) // min(SAMPLED, len(found))]
        key = named(chat, message, claim)
        if tuple(key) not in known:
            denied = "NOT " if claim.denied else ""
            say(f"{json.dumps(key)}\n  {claim.subject} | {claim.predicate} | {denied}{claim.value.text}")
            say(f"  {claim.span.quote}")


if __name__ == "__main__":
    main()
