"""Questions that upkeep must not lose the answers of: a person's own, and past recalls that were found useful."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Canary:
    """One question and what its answer must hold."""

    text: str  # the question
    source: str  # where it comes from, for people: ``golden query 3``, ``useful recall``
    expect: tuple[str, ...] = ()  # ids of memories, each of which is an answer
    contains: str = ""  # text that some answer must hold; empty if ids are named
    namespace: str = "default"  # where it is asked


@dataclass(frozen=True, slots=True)
class Answer:
    """One hit of a canary: the memory and the words that are shown of it."""

    id: str
    shown: str


@dataclass(frozen=True, slots=True)
class Lost:
    """An answer that a canary had before a plan and has not after it."""

    canary: Canary  # which question
    answer: str  # the memory's id, or the words that no answer holds any more
    ids: tuple[str, ...]  # the memories that were this answer
