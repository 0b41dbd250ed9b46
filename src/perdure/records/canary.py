"""Questions that upkeep must not lose the answers of: a person's own, and past recalls that were found useful.

May live here: frozen data. May not: deciding what an answer is, or asking.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Canary:
    """One question and what its answer must hold.

    Attributes:
        text: The question.
        source: Where it comes from, for people: ``golden query 3``, ``useful recall``.
        expect: Ids of memories, each of which is an answer.
        contains: Text that some answer must hold; empty if ids are named.
        namespace: Where it is asked.
    """

    text: str
    source: str
    expect: tuple[str, ...] = ()
    contains: str = ""
    namespace: str = "default"


@dataclass(frozen=True, slots=True)
class Answer:
    """One hit of a canary: the memory and the words that are shown of it."""

    id: str
    shown: str


@dataclass(frozen=True, slots=True)
class Lost:
    """An answer that a canary had before a plan and has not after it.

    Attributes:
        canary: Which question.
        answer: The memory's id, or the words that no answer holds any more.
        ids: The memories that were this answer.
    """

    canary: Canary
    answer: str
    ids: tuple[str, ...]
