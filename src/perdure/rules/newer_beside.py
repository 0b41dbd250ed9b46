"""What is shown beside a prompt has the newer one with it, also where that was shown before: alone it misleads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from perdure.records.memory import Kind, MemoryItem
from perdure.records.recall import Hit
from perdure.rules.differences import statements
from perdure.rules.language.replaced_values import content_words
from perdure.rules.language.sentences import PLAIN_WORDS
from perdure.rules.last_said import said_at
from perdure.rules.pair_signals import say_otherwise

_MOST_WORDS: Final = 0.8  # a text of which so many words are in an earlier one says that again
_SHORT: Final = 3  # words of so few letters are articles and the like in many languages


def with_newer(chosen: Sequence[Hit], known: Sequence[Hit], found: Sequence[Hit]) -> list[Hit]:
    """Return the chosen hits, and with each the newer one that it names, also where that was not chosen.

    They are in the order in which they were found: what is likely untrue stands behind the later one there, what only
    may be untrue before it. Where what is named is over itself, what took its place stands for it, before what names
    it; a fact without that is left out.

    Args:
        chosen: What is to be shown, the best first.
        known: What may be shown because another one names it as newer.
        found: All that was found: the known ones, what is over, and what says too little to be shown.
    """
    shown: dict[str, Hit] = {}
    place = {h.memory.id: at for at, h in enumerate(found)}
    others = {h.memory.id: h for h in (*known, *chosen)}
    after = {h.memory.id: (*filter(None, [h.updated_by]), *h.newer) for h in found if h.memory.id not in others}
    for hit in chosen:
        newer = tuple(dict.fromkeys(i for one in hit.newer for i in _current_ids(one, others, after)))
        if hit.newer and not newer and hit.memory.kind is Kind.FACT:
            continue
        if newer and newer[0] not in shown:
            first = others[newer[0]]
            if newer[0] in hit.newer and place[newer[0]] > place[hit.memory.id]:
                shown[hit.memory.id] = replace(hit, newer=newer)
            shown[newer[0]] = replace(first, newer=tuple(i for i in first.newer if i in shown))
        shown.setdefault(hit.memory.id, replace(hit, newer=newer))
    return list(shown.values())


def with_later_shown(chosen: Sequence[Hit], shown: Sequence[Hit], likely: float) -> list[Hit]:
    """Return the chosen hits, and before each message or note the later one about the same thing that was shown before.

    An earlier one alone would pass for current, also where nothing says that the later one makes it untrue: "Claybank
    cancelled" was shown when the session began, "New customer: Claybank" is not. One that names a newer one has that
    with it anyway. About the same thing is what has words in common, and does not only say it again; of several the one
    with most of them is shown.

    Args:
        chosen: What is to be shown, the best first.
        shown: What was found for the same question and was shown before, the best first.
        likely: From this chance on that it answers the question one word in common is enough, below two are.
    """
    order: dict[str, Hit] = {}
    words = {h.memory.id: _telling_words(h.memory.content) for h in (*chosen, *shown)}
    for hit in chosen:
        common = {h.memory.id: len(words[h.memory.id] & words[hit.memory.id]) for h in shown}
        later = [
            h
            for h in shown
            if common[h.memory.id] >= (1 if h.relevance >= likely else 2) and _may_change(h.memory, hit.memory)
        ]
        if later and not hit.newer and hit.memory.kind is not Kind.FACT:
            best = max(later, key=lambda h: (common[h.memory.id], said_at(h.memory.state)))
            order.setdefault(best.memory.id, best)
        order[hit.memory.id] = hit
    return list(order.values())


def _may_change(later: MemoryItem, earlier: MemoryItem) -> bool:
    """Return whether a memory was said after another one, and does not only say that again."""
    words = _telling_words(later.content)
    said_again = len(words & _telling_words(earlier.content)) >= _MOST_WORDS * len(words)
    return said_at(later.state) > said_at(earlier.state) and not (
        said_again and not say_otherwise(statements(earlier.content), statements(later.content))
    )


def _telling_words(text: str) -> frozenset[str]:
    return frozenset(w for w in content_words(text) if w not in PLAIN_WORDS and not (w.isalpha() and len(w) <= _SHORT))


def _current_ids(identity: str, others: Mapping[str, Hit], after: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what may be shown for one that is named: itself, or what stands in its place now."""
    waiting, seen = [identity], list[str]()
    while waiting:
        one = waiting.pop(0)
        if one not in seen:
            seen.append(one)
            waiting += () if one in others else after.get(one, ())
    return [one for one in seen if one in others]
