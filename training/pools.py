"""Evaluation sets as the engine sees them: each question with the candidates that its searches bring up.

Ranking is a pure function of these candidates, so one pass over the texts serves any number of settings.
"""

from __future__ import annotations

import random
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import beam
import locomo
import perdure
from chats import Chat, Kept, Question, data_file, plain, word_hits
from corpus import Conversation, conversations
from perdure.operations.recall import embed_query
from perdure.records.instant import DAY_MS, Instant, to_instant
from perdure.records.memory import Message
from perdure.records.recall import Filters, Pool, Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.models.vectors import Embedder

__all__ = [
    "Asked",
    "Chat",
    "Kept",
    "Question",
    "Searched",
    "beam",
    "data_file",
    "evaluation_chats",
    "locomo",
    "own_chat",
    "plain",
    "search_all",
    "word_hits",
]

LOCOMO = ("locomo_dev.json.gz", "locomo_val.json.gz")
FOREIGN = 60
"""So many questions of other conversations are asked of each."""
BEAM = ("beam_dev.tar.gz", "beam_val.tar.gz", "beam_500k_dev.tar.gz")


@dataclass(frozen=True)
class Asked:
    """A question, what its searches brought up, and the ids of the memories that answer it (none for no answer)."""

    kind: str
    query: Query
    pool: Pool
    evidence: frozenset[str]
    at: Instant = 0
    """When it was asked: a day after the last message."""


@dataclass(frozen=True)
class Searched:
    """One conversation after all its questions were searched for."""

    set: str
    name: str
    asked: tuple[Asked, ...]
    foreign: tuple[Asked, ...] = ()
    """Questions of other conversations of the set, which nothing here answers."""


def own_chat(chat: Conversation) -> Chat:
    """Return one of our conversations as the benchmarks take them."""
    messages = [
        Message(
            content=turn.text,
            role=turn.speaker if chat.kind == "assistant" else "user",
            speaker=turn.speaker if chat.kind == "people" else None,
            at=turn.at.astimezone(UTC),
            session=f"session-{turn.session}",
            source=str(turn.id),
        )
        for turn in chat.turns
    ]
    asked = [Question(q.text, frozenset(map(str, q.evidence)), q.answer, q.kind) for q in chat.questions]
    return Chat(chat.name, messages, asked)


def evaluation_chats(*, english: bool = True) -> dict[str, list[Chat]]:
    """Return the sets: LoCoMo and BEAM where the data is present, and our own test conversations.

    Of user-assistant chats the user's messages are the memories, as in the benchmarks of recall.
    """
    own = [own_chat(chat) for chat in conversations("test") if (chat.language == "en") == english]
    if not english:
        return {"own, other languages": own}
    return {"LoCoMo": locomo.chats(*LOCOMO), "BEAM": beam.chats({"user"}, *BEAM), "own test": own}


def search_all(chats: dict[str, list[Chat]], embedder: Embedder | str) -> list[Searched]:
    """Return every question with its candidates, through the engine's own searches."""
    found = []
    for name, listed in chats.items():
        with (
            tempfile.TemporaryDirectory() as folder,
            perdure.open(Path(folder) / "store.db", policy={}, embedder=embedder) as memory,
        ):
            others = [question for chat in listed for question in chat.questions]
            for chat in listed:
                memory.ingest(chat.messages, chat.name)
                strangers = [question for question in others if question not in chat.questions]
                foreign = random.Random(chat.name).sample(strangers, min(FOREIGN, len(strangers)))
                found.append(searched_in(memory, name, chat, foreign))
        print(f"  {name}: {len(listed)} conversations", file=sys.stderr, flush=True)
    return found


def searched_in(memory: perdure.Memory, name: str, chat: Chat, foreign: Sequence[Question]) -> Searched:
    """Return the questions of an ingested conversation, and foreign ones, with what its searches bring up."""
    context = memory._context  # noqa: SLF001  # ranking is tried on what the searches bring up, which no verb returns
    searched = []
    for question in (*chat.questions, *foreign):
        query, _ = embed_query(context, question.text)
        searched.append((question, query, context.store.search(chat.name, query, Filters(), context.policy.recall)))
    found = sorted({c.id for *_, pool in searched for c in pool.candidates})
    ids = {record.content.source: record.id for record in context.store.get(chat.name, found)}
    said = [message.at for message in chat.messages if message.at is not None]
    at = to_instant(max(said)) + DAY_MS if said else context.clock()
    # What no search brought up has no id here; it counts as not found.
    asked = [
        Asked(question.kind, query, pool, frozenset(ids.get(source, source) for source in question.evidence), at)
        for question, query, pool in searched
    ]
    count = len(chat.questions)
    return Searched(name, chat.name, tuple(asked[:count]), tuple(asked[count:]))
