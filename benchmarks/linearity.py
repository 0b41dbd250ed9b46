"""How time grows with the length of hostile texts, and with what is known: 1 is in proportion, 8 is its square.

Usage: python benchmarks/linearity.py

A function is timed on 10,000 and on 80,000 characters made of one piece; shown is the piece for which eight times the
text takes the longest, divided by eight.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import thread_time

import perdure
from perdure.interfaces.hooks.transcript_tail import read_new_messages
from perdure.knowledge.extension import predicates_from
from perdure.knowledge.extraction.claims import claims
from perdure.knowledge.extraction.event_types import asks_whether_still, event_of, is_bare_denial
from perdure.knowledge.extraction.mentions import mentions
from perdure.knowledge.extraction.values import value_of
from perdure.knowledge.rules.verification import citations
from perdure.records.instant import to_instant
from perdure.records.policy_knowledge import KnowledgePolicy
from perdure.rules.differences import statements
from perdure.rules.language.tokens import count_tokens, pieces
from perdure.rules.meaning_guard import conflict, lost_meaning
from perdure.rules.pattern_extraction import find_candidates
from perdure.rules.prompt_context import BEGIN, remove_blocks
from perdure.rules.redaction import redact
from report import Row, finished, parser, say

SMALL, TIMES = 10_000, 8
TARGET = 3.0
SHORTEST_SECONDS = 5e-4
"""A shorter time counts as this: below it the machine's own noise is larger than what is measured."""

NOW = datetime(2026, 11, 1, tzinfo=UTC)
KNOWLEDGE = {"preset": "facts", "embedder": {"model": "none"}}
NAMES = frozenset({"gai media", "ann"})
HOSTILE = ("is ", "a", "a.", "`", "```\n", "'s", " ", "http://", "1,", "(\n", "-1", "x@", "“", "\n", "a/", "#", '"')
SAID = ("I live in Lyon. ", "I ", "my ", "no, ", "not ", "5 ", "I have 3 cats and ", "which has ", "the budget ")
CHANGED = (
    "I did ",
    "I've never done, ",
    "from 3 to ",
    "my new budget is $5 ",
    "- ",
    "(a",
    "new ",
    "actually ",
    "is still ",
)
NAMED = ("Gai Media met Ann. ", "A ", "A-", "& ", "Aa of ", "東", "Ann,Ann.", "SO-1")
KEYS = ("sk-", "eyJ", "eyJaaaaaa.", "://a:", "-----BEGIN PRIVATE KEY-----", "password=Aa1", "4111 ", "bearer ", "//")


def _claims(text: str) -> object:
    return claims(text, to_instant(NOW), predicates_from({}, ""), speaker="user", policy=KnowledgePolicy())


def _events(text: str) -> object:
    return event_of(text), is_bare_denial(text), asks_whether_still(text)


READERS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "cut into pieces, counted": (lambda text: (pieces(text), count_tokens(text)), HOSTILE),
    "compared in meaning": (
        lambda text: (conflict(text, text + " x"), lost_meaning(text, text)),
        (*HOSTILE, "not ", "Ab "),
    ),
    "searched for what is worth keeping": (
        lambda text: find_candidates("remember " + text),
        (*HOSTILE, "note: ", "x is y "),
    ),
    "searched for citations": (citations, (*HOSTILE, "a.py#b.", "commit ")),
    "searched for names": (lambda text: mentions(text, NAMES), (*HOSTILE, *NAMED)),
    "read for claims": (_claims, (*HOSTILE, *SAID)),
    "read for events": (_events, (*HOSTILE, *SAID, *CHANGED)),
    "read for differences": (statements, (*HOSTILE, *SAID, *CHANGED)),
    "read as a value": (lambda text: value_of(text, to_instant(NOW)), ("a ", "9", *HOSTILE)),
    "searched for secrets": (redact, (*HOSTILE, *KEYS)),
    "freed of blocks that were never closed": (remove_blocks, (BEGIN, *HOSTILE)),
}


def seconds(call: Callable[[], object]) -> float:
    """Return the processor's time for one call, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = thread_time()
        call()
        best = min(best, thread_time() - start)
    return max(best, SHORTEST_SECONDS)


def growth(read: Callable[[str], object], piece: str) -> float:
    """Return by how much more than in proportion the time grows with the text."""
    small, large = ((piece * (size // len(piece) + 1))[:size] for size in (SMALL, SMALL * TIMES))
    return seconds(lambda: read(large)) / seconds(lambda: read(small)) / TIMES


def readers() -> list[Row]:
    rows = []
    for name, (read, hostile) in READERS.items():
        say(f"--- {name}")
        worst, piece = max((growth(read, piece), piece) for piece in hostile)
        rows.append(Row(f"hostile text {name}", worst, "x", TARGET, note=f"worst: {piece[:12]!r}"))
    return rows


def sessions() -> list[Row]:
    """Learning from a long session, and beside much that is known of one predicate."""
    days = ("Monday", "Thursday", "Friday")
    texts = (
        "Remember that Firm{} Labs prefers {} deliveries.",
        "Ok.",
        "Yes, {1} works",
        "Thanks, that was all about it.",
    )
    talk = [
        {
            "content": texts[i % 4].format("abcdefghij"[i // 4 % 10], days[i % 3]),
            "role": "user" if i % 2 == 0 else "assistant",
            "at": (NOW - timedelta(hours=3) + timedelta(seconds=i)).isoformat(),
        }
        for i in range(1600)
    ]
    with _memory() as short, _memory() as long:
        few = _once(lambda: short.ingest(talk[:200], session="s"))
        many = _once(lambda: long.ingest(talk, session="s"))
    names = map("".join, itertools.product("bdfgklmnprst", "aeiou", "bdfgklmnprst", "aeiou"))
    likes = [{"content": f"I like {name}ing."} for name in itertools.islice(names, 1300)]
    with _memory() as memory:
        first = _once(lambda: memory.ingest(likes[:150], session="s"))
        memory.ingest(likes[150:1150], session="s")
        last = _once(lambda: memory.ingest(likes[1150:], session="s"))
    return [
        Row("learning from 1,600 messages against 200", many / few / 8, "x", TARGET),
        Row("learning where 1,150 values are known against none", last / first, "x", 8.0),
    ]


def _memory() -> perdure.Memory:
    return perdure.open(":memory:", KNOWLEDGE, lambda: NOW)


def _once(call: Callable[[], object]) -> float:
    start = thread_time()
    call()
    return thread_time() - start


def transcripts() -> list[Row]:
    """Looking again at a long transcript in which nothing is new."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "transcript.jsonl"
        line = '{"type": "user", "message": {"role": "user", "content": "%s"}, "timestamp": "2026-10-01T10:00:00Z"}\n'
        path.write_text(line % ("word " * 200) * 20_000, "utf-8")
        whole = _once(lambda: read_new_messages(path, None))
        mark = read_new_messages(path, None)[1]
        again = seconds(lambda: read_new_messages(path, mark))
    return [Row("20,000 lines of a transcript, nothing new (floor: read whole)", again, "s", 0.05, floor=whole)]


def main() -> None:
    given = parser(__doc__).parse_args()
    finished(readers() + sessions() + transcripts(), as_json=given.json)


if __name__ == "__main__":
    main()
