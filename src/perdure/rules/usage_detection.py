"""Noticing use: which memories a reply quotes or says in other words, and whether it says anything of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from perdure.records.vector import Vector
from perdure.rules.language.sentences import sentences
from perdure.rules.language.tokens import Said, pieces
from perdure.rules.language.words import PEOPLE, STOP_WORDS, word_set

PARAPHRASED: Final = 0.8  # from this cosine on, a sentence says what a memory says
SENTENCES: Final = 64  # so many sentences of a reply are compared by meaning; answers come early
_SHORTEST: Final = 12  # characters of a sentence that can stand for a memory

REPLYING: Final = frozenset({"assistant", "ai", "bot"})
"""Roles whose words are replies; a user's words are no use of a memory."""
ECHO: Final = 0.9  # from this share of a reply's content on, it says nothing of its own
_SHINGLE: Final = 3  # content words in a row that are more than coincidence

_PLURAL_FROM: Final = 4
_POLITE: Final = word_set(
    "thank thanks ok okay sure course alright noted understood according note notes memory remember recall"
)
"""With such words people introduce what they repeat."""

_Words = tuple[str, ...]


def quoted_ids(reply: str, texts: Mapping[str, str], least: float) -> frozenset[str]:
    """Return the ids of the memories of whose words a reply says at least this share."""
    return frozenset(i for i, text in texts.items() if quoted_share(reply, text) >= least)


def comparable_sentences(reply: str) -> list[str]:
    """Return the sentences of a reply that are compared by meaning: no questions, no code, the first 64."""
    parts = [reply[start:end] for start, end in sentences(reply)]
    return [s for s in parts if len(s) >= _SHORTEST and not s.endswith("?") and not s.startswith("```")][:SENTENCES]


def paraphrased_ids(vectors: Sequence[Vector], known: Mapping[str, Vector]) -> frozenset[str]:
    """Return the ids of the memories that one of a reply's sentences says in other words: a cosine of at least 0.8.

    All vectors have length 1 and are of one space.
    """
    if not vectors or not known:
        return frozenset()
    replies = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    memories = np.frombuffer(b"".join(known.values()), "<f4").reshape(len(known), -1)
    best = (memories @ replies.T).max(axis=1)
    return frozenset(i for i, cosine in zip(known, best.tolist(), strict=True) if cosine >= PARAPHRASED)


def only_repeats(reply: str, texts: Sequence[str]) -> bool:
    """Return whether a reply says nothing but what memories say, so that there is nothing to learn from it."""
    return bool(texts) and is_echo(reply, texts)


@dataclass(frozen=True, slots=True)
class Overlap:
    """How far a reply and a memory say the same."""

    quoted: float  # the share of the memory's content that the reply says, 0..1
    taken: float  # the share of the reply's content that the memory says, 0..1


def overlap(reply: str, memory_text: str) -> Overlap:
    """Return how far a reply and a memory say the same, by content words and by three of them in a row."""
    reply_runs, known = _content(reply), _content(memory_text)
    return Overlap(quoted=_share(known, reply_runs), taken=_share(reply_runs, known))


def quoted_share(reply: str, memory_text: str) -> float:
    """Return the share of the memory's content that the reply says, 0..1.

    The mean of two shares: of its content words, and of those that stand in a run of three that the reply has too. So a
    single word of a longer memory counts little ("Tuesday" of "Deploys happen on Tuesday": 0.17), and a memory of one
    or two words counts in full when they stand together. A memory without any content is never quoted.
    """
    return overlap(reply, memory_text).quoted


def is_echo(reply: str, texts: Iterable[str]) -> bool:
    """Return whether a reply says nothing but what the texts say: at least 0.9 of its content words, in runs of three.

    Shorter sentences must stand in a text as a whole. Negations, modals, numbers and question marks are content: "not
    on Tuesday" is no echo of "on Tuesday". A reply without content ("Yes, it is.") is an answer, not an echo.
    """
    reply_runs = _content(reply)
    runs = [run for text in texts for run in _content(text)]
    return bool(reply_runs) and _in_runs(reply_runs, runs) >= ECHO


def _content(text: str) -> list[_Words]:
    found: dict[int, list[str]] = {}
    for piece in pieces(text):
        if piece.text.startswith("?"):
            found.setdefault(piece.sentence, []).append("?")
        found.setdefault(piece.sentence, []).extend(
            value for kind, value in map(_plain, piece.said) if _counts(kind, value)
        )
    return [tuple(words) for words in found.values() if any(word != "?" for word in words)]


def _plain(token: Said) -> Said:
    """Return a word without its plural: "deploys happen" is quoted by "the deploy happens"."""
    kind, value = token
    long = kind in {"word", "name"} and len(value) >= _PLURAL_FROM
    plural = long and value.endswith("s") and not value.endswith(("ss", "us", "is"))
    return kind, value[:-1] if plural else value


def _counts(kind: str, value: str) -> bool:
    if kind in {"word", "name"}:
        return value not in STOP_WORDS and value not in PEOPLE and value not in _POLITE and value != "'s"
    return kind != "symbol"


def _share(runs: list[_Words], other: list[_Words]) -> float:
    words = [word for run in runs for word in run]
    if not words:
        return 0.0
    known = {word for run in other for word in run}
    return (sum(word in known for word in words) / len(words) + _in_runs(runs, other)) / 2


def _in_runs(runs: list[_Words], other: list[_Words]) -> float:
    """Return the share of words that stand in a run of three (or a whole shorter sentence) that the other has too."""
    known = {run[i : i + size] for run in other for size in range(1, _SHINGLE + 1) for i in range(len(run) - size + 1)}
    total = covered = 0
    for run in runs:
        size = min(_SHINGLE, len(run))
        hits: set[int] = set()
        for i in range(len(run) - size + 1):
            if run[i : i + size] in known:
                hits.update(range(i, i + size))
        total += len(run)
        covered += len(hits)
    return covered / total if total else 0.0
