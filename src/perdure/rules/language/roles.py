"""Whether the things that two sentences speak of have the same roles: who does what to whom, where, and with what."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from perdure.rules.language.compared_sentences import PlacedWord, Reading
from perdure.rules.language.phrases import MEASURES
from perdure.rules.language.sentence_items import Item
from perdure.rules.language.verbs import IRREGULAR_PASTS
from perdure.rules.language.word_forms import PAST
from perdure.rules.language.words import word_set

Pair = tuple[PlacedWord, PlacedWord]  # a word and its counterpart in the other sentence

_EITHER: Final = word_set("""
    move change start begin end finish open close break crack grow increase decrease improve run stop
    """)
"""Verbs whose subject may be what is done to: "it moved" and "it was moved"."""
_FREE: Final = word_set("always usually often sometimes rarely seldom frequently ever currently regularly only")
"""Words whose place in their sentence says little."""
_ALIKE: Final = tuple(map(word_set, ("in onto", "of for", "of in", "of onto", "as for")))
"""Prepositions that may stand for each other."""
_AT: Final = word_set("in onto of")
_LIMITING: Final = word_set("by per until since from after before")  # what a number or date that it leads in limits
_DATED: Final = {"date", "number"}
_NAMED_WITH: Final = word_set("for to with about from")


def roles_agree(pairs: Sequence[Pair], mine: Reading, theirs: Reading) -> bool:
    """Return whether no two things have changed their roles.

    A phrase may become the subject ("the bed has slugs", "there are slugs in the bed"), one at most, and its words stay
    together. One verb may become a noun beside a verb that says little ("was extended", "got an extension").
    """
    turned = [p for p in pairs if _is_converted(p, mine, theirs)]
    left = [p for p in pairs if p not in turned]
    moved = [p for p in left if p[0].place != p[1].place and not _is_measure(p[0].item)]
    return (
        len(turned) <= 1
        and all(_is_measured_alike(a, x) for a, x in left if _is_measure(a.item))
        and all(_may_move(a, x) for a, x in moved)
        and len({bool(a.place) for a, x in moved if not (a.place and x.place)}) <= 1
        and _become_subjects(moved, left, (mine, theirs))
        and _phrases_whole(left)
        and _phrases_whole([(x, a) for a, x in left])
        and _in_order(left, turned=mine.agentless != theirs.agentless)
    )


def _is_converted(pair: Pair, mine: Reading, theirs: Reading) -> bool:
    """Return whether a word is a verb in one sentence and a noun in the other, beside a verb that says little."""
    one, other = (word.item for word in pair)
    verbs = [i.value.endswith(("ing", "ed")) or i.value in IRREGULAR_PASTS for i in (one, other)]
    return one.kind == other.kind == "word" and verbs[0] != verbs[1] and bool((theirs if verbs[0] else mine).little)


def _is_measure(item: Item) -> bool:
    return item.kind in {"number", "date", "code"} or not item.forms.isdisjoint(MEASURES)


def _is_measured_alike(one: PlacedWord, other: PlacedWord) -> bool:
    """Return whether a number or date limits the same: "at 3" is "in 3" and "3", but not "by 3" or "per 3"."""
    places = {one.place, other.place}
    return len(places) == 1 or places <= _AT or (not all(places) and not places & _LIMITING)


def _may_move(one: PlacedWord, other: PlacedWord) -> bool:
    """Return whether a word that stands in two places may have one role; of a name less is believed."""
    places = {one.place, other.place}
    if one.place and other.place and places not in _ALIKE:
        return False
    return "name" not in {one.item.kind, other.item.kind} or not places & _NAMED_WITH


def _become_subjects(moved: Sequence[Pair], pairs: Sequence[Pair], readings: tuple[Reading, Reading]) -> bool:
    """Return whether what leaves its phrase becomes the subject, of a verb that says little or has no doer."""
    for n in (0, 1):
        into = [pair[n].at for pair in moved if not pair[n].place]
        if into and min(into) != min(pair[n].at for pair in pairs if not pair[n].place):
            return False
        if into and not readings[1 - n].agentless and not any(r.little for r in readings):
            return False
    return True


def _phrases_whole(pairs: Sequence[Pair]) -> bool:
    """Return whether the words of each phrase stay together: in one phrase, or side by side in the core."""
    core = sorted(x.at for _, x in pairs if not x.chunk)
    for chunk in {a.chunk for a, _ in pairs if a.chunk}:
        theirs = [x for a, x in pairs if a.chunk == chunk]
        if len({x.chunk for x in theirs}) > 1:
            return False
        places = [core.index(x.at) for x in theirs if not x.chunk]
        if places and max(places) - min(places) >= len(places):
            return False
    return True


def _in_order(pairs: Sequence[Pair], *, turned: bool) -> bool:
    """Return whether the words of a phrase stand in one order; of "X is Y" with a name the two may change places."""
    core = [p for p in pairs if not p[0].place and not p[1].place]
    has_names = any(a.item.kind == "name" for a, _ in core)
    flipped = has_names and all(a.side != x.side and a.side + x.side > 0 for a, x in core)
    for (a, x), (b, y) in combinations(pairs, 2):
        if a.place != b.place or x.place != y.place or (flipped and not a.place and a.side != b.side):
            continue
        if {a.item.kind, b.item.kind} == _DATED:
            continue  # "3 October", "October 3rd"
        if (a.at < b.at) != (x.at < y.at) and not (_is_free(a.item, turned=turned) or _is_free(b.item, turned=turned)):
            return False
    return True


def _is_free(item: Item, *, turned: bool) -> bool:
    """Return whether the place of a word says nothing; ``turned``: of two sentences one is passive without a doer."""
    return item.value in _FREE or (turned and not {f.rstrip(PAST) for f in item.forms}.isdisjoint(_EITHER))
