"""Which entries of a digest are about one thing, and stand together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from perdure.records.memory import Kind, MemoryItem
from perdure.records.patterns import lazy_pattern
from perdure.rules.language.words import STOP_WORDS, has_name
from perdure.rules.last_said import said_at
from perdure.rules.lifecycle.digest_entries import HEAD, DigestEntry

_NAME: Final = lazy_pattern(r"(?<![.!?:\"\s])\s+([A-Z][^\W_]+)")


def by_topic(entries: Sequence[DigestEntry]) -> list[DigestEntry]:
    """Return entries so that those about one thing stand together: topics by their worth, the newest entry first."""
    found = topics(entries)
    most: dict[str, float] = {}
    for entry, topic in zip(entries, found, strict=True):
        most[topic] = max(entry.worth, most.get(topic, 0.0))

    def place(at: int) -> tuple[bool, float, str, int, str]:
        topic, memory = found[at], entries[at].memory
        return not topic, -most[topic], topic, -said_at(memory.state), memory.id

    return [entries[at] for at in sorted(range(len(entries)), key=place)]


def topics(entries: Sequence[DigestEntry]) -> list[str]:
    """Return what each entry is about: a fact's subject, else the name in it that most of the others have, or ""."""
    names = [_names(entry.memory) for entry in entries]
    common = Counter(name for found in names for name in found)
    return [min((n for n in found if common[n] > 1), key=lambda n: (-common[n], n), default="") for found in names]


def _names(memory: MemoryItem) -> set[str]:
    if memory.kind is Kind.FACT:
        return {memory.content.partition(":")[0].casefold()}
    if memory.kind is Kind.EPISODE and memory.speaker and has_name(memory.speaker):
        return {memory.speaker.casefold()}
    return {name.casefold() for name in _NAME.findall(memory.content[:HEAD])} - STOP_WORDS
