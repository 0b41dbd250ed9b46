"""Hits whose value a later one names as replaced: "300, not 400" against "at most 400"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import Final

from perdure.records.instant import text_of
from perdure.records.memory import Kind, Status
from perdure.records.recall import Hit, OutdatedFact
from perdure.records.vector import Vector
from perdure.rules.alike_names import asks_for_another_name
from perdure.rules.differences import numbers_in
from perdure.rules.language.clauses import joined_parts
from perdure.rules.language.replaced_values import content_words, replaced_values
from perdure.rules.last_said import said_after, said_at
from perdure.rules.lifecycle.older_statements import OlderStatements, find_older
from perdure.rules.lifecycle.parts_that_hold import partly_over
from perdure.rules.presentation import keeps_order

_NONE: Final[Mapping[str, Collection[str]]] = MappingProxyType({})


def may_correct(hits: Sequence[Hit]) -> bool:
    """Return whether a hit names a value as replaced, so that others are to be compared with it."""
    return len(hits) > 1 and any(replaced_values(hit.memory.content) for hit in hits)


def corrections_first(
    hits: Sequence[Hit],
    question: str,
    vectors: Mapping[str, Vector],
    sources: Mapping[str, Collection[str]] = _NONE,
    *,
    today: date,
) -> list[Hit]:
    """Return the same hits, marked where a later one names their value as replaced, which stands before them.

    What says more than that value is not marked as a whole, and stays where it is. MEMORY.md leaves out what is
    marked as a whole (rules/lifecycle/older_statements.py). What stands in another's place is as likely an answer.
    A fact, and a note that says it, only names the later one as newer; ``sources`` has fact -> what says it. What is
    in open conflict follows rules of its own. A question that asks for the past, or names a day, keeps the order.
    What holds from a day after ``today`` on corrects nothing yet.
    """
    shown = {h.memory.id: h for h in hits}
    compared = [h.memory for h in hits if h.memory.status is Status.ACTIVE and not (h.contested_with or h.upcoming)]
    about_one = {(newer, h.memory.id) for h in hits for newer in h.newer}
    found = find_older(compared, vectors, sources=sources, about_one=about_one, today=today)
    doubted = {(later, earlier) for earlier, some in found.doubted.items() for later in some}
    corrected = found.corrected
    relevance = {i: h.relevance for i, h in shown.items()}
    for older, by in sorted(corrected.items(), key=lambda pair: said_at(shown[pair[0]].memory.state)):
        relevance[by] = max(relevance[by], relevance[older])
    order = [
        replace(h, relevance=relevance[i], updated_by=h.updated_by or corrected.get(i))
        for i, h in with_parts(hits, found).items()
    ]
    if keeps_order(question, hits):
        return superseding_first(order, doubted, question)
    for by in sorted(set(corrected.values()), key=lambda i: (said_at(shown[i].memory.state), i)):
        at = next(place for place, h in enumerate(order) if h.memory.id == by)
        ahead = (place for place, h in enumerate(order[:at]) if corrected.get(h.memory.id) == by)
        order.insert(next(ahead, at), order.pop(at))
    return superseding_first(order, doubted, question)


def upcoming_behind(hits: Sequence[Hit]) -> list[Hit]:
    """Return the same hits, what begins to hold later behind what it was said after about the same thing."""
    order = list(hits)
    for later in [h for h in hits if h.upcoming]:
        place = next(n for n, h in enumerate(order) if h.memory.id == later.memory.id)
        behind = max((n for n, h in enumerate(order) if h.memory.id in later.older and not h.upcoming), default=place)
        if behind > place:
            best = max(later.relevance, *(h.relevance for h in order[place : behind + 1] if h.memory.id in later.older))
            order = [replace(h, relevance=best) if h.memory.id in later.older else h for h in order]
            order.insert(behind, order.pop(place))
    return order


def with_parts(hits: Sequence[Hit], found: OlderStatements) -> dict[str, Hit]:
    """Return hits by their ids, marked where later ones say that a part of them is over."""
    shown = {h.memory.id: h for h in hits}
    told = {i: tuple(_partly_over(h, found.partly.get(i, {}), shown)) for i, h in shown.items()}
    return {i: replace(h, over=(*h.over, *told[i])) if told[i] else h for i, h in shown.items()}


def superseding_first(hits: Sequence[Hit], pairs: Collection[tuple[str, str]], question: str) -> list[Hit]:
    """Return the same hits, of each (later, earlier) pair the later one before the other, and both naming each other.

    What stands in another's place is as likely an answer. A question that asks for the past keeps the order. So do two
    where it asks for the thing of the earlier one by its number or name, or for a part of that which still holds; what
    of it does not is marked.
    """
    at = {h.memory.id: place for place, h in enumerate(hits)}
    known = sorted(
        (pair for pair in pairs if pair[0] in at and pair[1] in at), key=lambda pair: _said_at(hits, at, pair)
    )
    newer, older = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    behind, over = defaultdict[str, list[str]](list), defaultdict[str, list[OutdatedFact]](list)
    relevance = {h.memory.id: h.relevance for h in hits}
    for later, earlier in known:
        newer[earlier].append(later)
        older[later].append(earlier)
        parts = _over_parts(hits[at[earlier]], hits[at[later]])
        over[earlier] += parts
        if not _asks_for_earlier_one(question, hits[at[earlier]], hits[at[later]], parts):
            behind[later].append(earlier)
            relevance[later] = max(relevance[later], relevance[earlier])
    order = [
        replace(
            h,
            newer=_join_ids(newer[h.memory.id], h.newer, older[h.memory.id]),
            older=_join_ids(older[h.memory.id], h.older, newer[h.memory.id]),
            over=(*h.over, *over[h.memory.id]),
            relevance=relevance[h.memory.id],
        )
        for h in hits
    ]
    if keeps_order(question, hits):
        return order
    for later in behind:  # the latest last, so that it stands first
        place = next(n for n, h in enumerate(order) if h.memory.id == later)
        ahead = (n for n, h in enumerate(order[:place]) if h.memory.id in behind[later])
        order.insert(next(ahead, place), order.pop(place))
    return order


def _asks_for_earlier_one(question: str, earlier: Hit, later: Hit, over: Sequence[OutdatedFact]) -> bool:
    """Return whether the earlier of two hits answers a question, though the later one makes it untrue, or a part of it.

    It asks for a part that holds, or names what only the earlier one is about.
    """
    texts = earlier.memory.content, later.memory.content
    return (
        (bool(over) and _asks_for_the_rest(question, earlier, over))
        or _asks_beside_facts(question, earlier, later)
        or _asks_for_another_number(question, *texts)
        or asks_for_another_name(question, *texts)
    )


def _asks_for_another_number(question: str, earlier: str, later: str) -> bool:
    """Return whether a question names one of several numbers that the earlier text has and the later one has not.

    "What does the tenant at 3 Mill Row pay?" does not ask for "the tenant at 11 Mill Row". Where one number differs, it
    is what has changed.
    """
    own = numbers_in(earlier) - numbers_in(later)
    return len(own) > 1 and not own.isdisjoint(numbers_in(question))


def _over_parts(hit: Hit, later: Hit) -> list[OutdatedFact]:
    """Return what a later statement makes untrue of a message, where a part of that still holds."""
    if hit.memory.kind is not Kind.EPISODE:
        return []
    found = partly_over(hit.memory.content, [content_words(later.memory.content)])
    since = text_of(said_after(later.memory.state, hit.memory.state))
    parts = () if found is None else found.parts
    return [OutdatedFact(hit.memory.id, part.text, "replaced", since, later.memory.id) for part in parts]


def _asks_for_the_rest(question: str, hit: Hit, over: Sequence[OutdatedFact]) -> bool:
    """Return whether a question has words of a message, and none of what of it is over."""
    gone = frozenset[str]().union(*(content_words(part.content) for part in over))
    asked = content_words(question)
    return asked.isdisjoint(gone) and not asked.isdisjoint(content_words(hit.memory.content))


def _asks_beside_facts(question: str, hit: Hit, later: Hit) -> bool:
    """Return whether a question asks for a part of a note that no fact that is over stands in.

    "Does Ana eat pork?" is answered by "Ana lives in Berlin. She does not eat pork.", though she has moved since. Words
    that the later hit has, too, do not count as asked for.
    """
    gone = [content_words(fact.content.rpartition(": ")[2]) for fact in hit.over]
    parts = [
        content_words(hit.memory.content[slice(*span)]) for some in joined_parts(hit.memory.content) for span in some
    ]
    over = [part for part in parts if any(value <= part for value in gone if value)]
    said = frozenset[str]().union(*over, *(content_words(fact.content) for fact in hit.over))
    asked = content_words(question) - content_words(later.memory.content)
    beside = frozenset[str]().union(*(part for part in parts if part not in over)) - said
    return bool(over) and asked.isdisjoint(said) and not asked.isdisjoint(beside)


def _join_ids(first: Sequence[str], others: Sequence[str], without: Sequence[str]) -> tuple[str, ...]:
    """Return ids, the last of the first ones before all; what was remembered again is not what its day says."""
    return tuple(dict.fromkeys((*reversed(first), *(i for i in others if i not in without))))


def _said_at(hits: Sequence[Hit], at: Mapping[str, int], pair: tuple[str, str]) -> tuple[int, int, tuple[str, str]]:
    later, earlier = (said_at(hits[at[i]].memory.state) for i in pair)
    return later, earlier, pair


def _partly_over(hit: Hit, values: Mapping[str, str], shown: Mapping[str, Hit]) -> Iterator[OutdatedFact]:
    """Yield the parts of a memory that later ones say are over, but those that its facts tell."""
    for value, by in values.items() if not hit.updated_by else ():
        if not any(value.casefold() in fact.content.casefold() for fact in hit.over):
            since = text_of(said_after(shown[by].memory.state, hit.memory.state))
            yield OutdatedFact(hit.memory.id, value, "replaced", since, by)
