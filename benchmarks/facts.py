"""Facts: speed of claims handed over; by rule, speed on real messages, precision on labelled claims, coverage.

Usage: python benchmarks/facts.py [--sample]. --sample prints the claims that have no label yet.

The labels (benchmarks/labels/facts.json) name a claim by its chat, turn, place, predicate and value, and say whether
the message says so. They were judged by hand, on a sample spread evenly over all claims. Claims that a change of the
rules brings or takes have no label, so the figure is of those that are still made.

Claims are handed over to a file that holds 20,000 facts about 1,000 entities, 1,000 claims a call; vectors are given,
so no embedder takes part. Their floor is the same rows, as JSON, in one durable transaction of a plain SQLite file.
All times are of the processor, so that what else a machine does counts little; waiting for the disk is left out.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any
from zlib import crc32

import apsw
import numpy as np

import beam
import fact_reading
import locomo
import perdure
from chats import Chat
from codes_scan import clustered
from made import SPACE
from perdure.knowledge.extension import predicates_from
from perdure.knowledge.extraction.claims import claims
from perdure.knowledge.records.facts import Claim
from perdure.records.instant import to_instant
from perdure.records.memory import Message
from perdure.records.policy_knowledge import KnowledgePolicy
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Sequence

LABELS = Path(__file__).with_name("labels") / "facts.json"
SAMPLED = 200
NAMES = predicates_from({}, "")
POLICY = KnowledgePolicy(learn="rules")
MARCH_2024 = 1_709_251_200_000
"""When messages without a time count as said."""
ENTITIES, STORED, CALL, CALLS = 1000, 20_000, 1000, 5


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
        begun = process_time()
        for message in messages:
            claimed(message)
        rates.append(len(messages) / (process_time() - begun))
    return statistics.median(rates)


def coverage(chats: list[Chat]) -> float:
    """Return the share of the turns that answer a question from which at least one claim is read."""
    turns = {(chat.name, source) for chat in chats for question in chat.questions for source in question.evidence}
    told = {(chat.name, m.source) for chat in chats for m in chat.messages if claimed(m)}
    return len(turns & told) / len(turns)


class Drawn:
    """An embedder that gives each text one of 20,000 clustered vectors."""

    space = SPACE

    def __init__(self) -> None:
        self.vectors = [row.astype("<f4").tobytes() for row in np.concatenate(list(clustered(STORED, 1, per_row=True)))]

    def embed(self, texts: Sequence[str], *, purpose: str) -> list[bytes]:  # noqa: ARG002  # the port's signature
        """Return a vector for each text, always the same."""
        return [self.vectors[crc32(text.encode()) % len(self.vectors)] for text in texts]


def handed_over() -> list[Row]:
    """Measure claims handed over, with vectors and without: new ones, the same again, and new values for old ones."""
    return [
        *_handed_over("words only", {"embedder": {"model": "none"}}, None),
        *_handed_over("with vectors", {}, Drawn()),
    ]


def _handed_over(name: str, policy: dict[str, Any], embedder: Drawn | None) -> list[Row]:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    calls = {
        "new": {"value": "first"},
        "again": {"value": "first"},
        "new values": {"value": "second", "replaces": "first"},
    }
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        perdure.open(Path(folder) / "facts.db", policy, lambda: now[-1], embedder=embedder) as memory,
    ):
        for at in range(0, STORED - CALLS * CALL, CALL):
            memory.learn(claims=_claims(at, "first"))
        for kind, says in calls.items():
            places = range(STORED - CALLS * CALL, STORED, CALL)
            times = [_timed(memory, _claims(at, **says), folder) for at in places]
            now.append(now[-1] + timedelta(days=1))
            spent, floor = (statistics.median(some) for some in zip(*times, strict=True))
            rows.append(Row(f"1,000 claims handed over, {kind}, {name}", spent, "ms", 1000, floor))
    return rows


def _claims(start: int, value: str, **replaces: str) -> list[dict[str, Any]]:
    """Return the claims of one call: every entity has a value of 20 predicates, in an order drawn once."""
    places = random.Random(1).sample(range(STORED), STORED)[start : start + CALL]
    return [
        {
            "subject": f"Person{place % ENTITIES} Name{place % ENTITIES}",
            "predicate": f"detail {place // ENTITIES}",
            "value": f"{value} {place}",
            **{key: f"{old} {place}" for key, old in replaces.items()},
        }
        for place in places
    ]


def _timed(memory: perdure.Memory, claims: list[dict[str, Any]], folder: str) -> tuple[float, float]:
    """Return the milliseconds of a call, and of its rows in a plain durable transaction."""
    begun = process_time()
    (operation,) = memory.learn(claims=claims).operations
    spent = process_time() - begun
    changes = memory._context.store.changes("default", operation)  # noqa: SLF001  # the rows are not shown by a verb
    plain = [(c.target, c.id, json.dumps(c.after, default=lambda _: "")) for c in changes]
    with closing(apsw.Connection(str(Path(folder) / "plain.db"))) as connection:
        connection.execute("pragma journal_mode = wal; pragma synchronous = full")
        connection.execute("create table if not exists row (target, id, data)")
        begun = process_time()
        with connection:
            connection.executemany("insert into row values (?, ?, ?)", plain)
        return 1e3 * spent, 1e3 * (process_time() - begun)


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
        *handed_over(),
        Row("LoCoMo messages a second", speed(chats), "/s", 300, at_least=True),
        Row("BEAM messages a second", speed(beam.chats({"user"})), "/s", 300, at_least=True),
        Row("LoCoMo evidence turns with a claim", 100 * coverage(chats), "%"),
        Row(
            f"precision on {len(judged)} labelled claims", 100 * statistics.mean(judged or [0]), "%", 70, at_least=True
        ),
    ]
    finished(rows + fact_reading.rows(), as_json=given.json)


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
