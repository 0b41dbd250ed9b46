"""Whether two sentences say the same in other words: the same things, denied, counted and related in the same way.

Every word that says something must have its counterpart in the other sentence: a form of it, a synonym, or the noun of
a verb. Only verbs that say little by themselves ("is kept", "is located") may be missing. Numbers, dates, negations,
quantities, modals and tenses must be the same and belong to the same words, and no two things may have changed roles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Final

from perdure.rules.language.compared_sentences import (
    ANY,
    LOOSE,
    NOBODY,
    PLAIN,
    ComparedSentence,
    PlacedWord,
    Reading,
    verb_groups,
)
from perdure.rules.language.phrases import MEASURES
from perdure.rules.language.sentence_items import PREPOSITIONS, PRESENT, Item
from perdure.rules.language.verbs import IRREGULAR_PASTS
from perdure.rules.language.word_forms import PAST, is_noun_of
from perdure.rules.language.words import IGNORABLE, QUANTITIES, word_set

_PAST_TIME: Final = word_set("was were had did")
_PRESENT_TIME: Final = word_set("is are am does do has have")
_HAS: Final = word_set("has have had")
_TO_DO: Final = word_set("""
    used going about supposed said believed thought meant due is are am was were have has had need needs seem seems tend
    tends
    """)
"""Words before "to" and a verb that say when, how surely or whether it is done: "used to be", "is to be"."""
_BE_FORMS: Final = word_set("is are am was were be been being")
_WE: Final = word_set("we our us ours there where what")
_PARTS: Final = word_set("and or but because so if when while until unless although instead before after")
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
_BEFORE_DATES: Final = _LIMITING | word_set("in on at")
_DATED: Final = {"date", "number"}
_NAMED_WITH: Final = word_set("for to with about from")


def same_meaning(one: ComparedSentence, other: ComparedSentence) -> bool:
    """Return whether two sentences say the same, word for word or in other words."""
    mine, theirs = Reading.of(one), Reading.of(other)
    same = (mine.markers, mine.heads) == (theirs.markers, theirs.heads)
    if not (same and _hard(one.items) == _hard(other.items) and _attached_agree(one.items, other.items)):
        return False
    if _modals(one.items, other.items) != _modals(other.items, one.items) or not same_time(one.items, other.items):
        return False
    pairs = _align(mine, theirs)
    return pairs is not None and _doers_agree(pairs, one.items, other.items) and roles_agree(pairs, mine, theirs)


def _doers_agree(pairs: Sequence[Pair], one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Return whether who does something in one sentence is in no phrase of the other: "set by Ana", "set for Ana"."""
    mine, theirs = _doers(one), _doers(other)
    return not any(
        (a.item.value in mine and not a.place and x.place) or (x.item.value in theirs and not x.place and a.place)
        for a, x in pairs
    )


def _doers(items: Sequence[Item]) -> frozenset[str]:
    """Return the words after "by", up to the next preposition."""
    found, led = set(), False
    for item in items:
        led = item.value == "by" or (led and item.value not in PREPOSITIONS)
        found |= {item.value} if led else set()
    return frozenset(found)


def initials_agree(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Return whether two first words are not names that differ in an ending: "Andreas plays", "Andrea plays"."""
    if not (one[1:] and other[1:]) or one[0].opens or other[0].opens:
        return True
    short, long = sorted((one[0].value, other[0].value), key=len)
    return short == long or not long.startswith(short) or one[1].value != other[1].value


# --- what must be the same


def _hard(items: Sequence[Item]) -> Counter[tuple[str, str]]:
    return Counter((_hard_kind(i), _hard_value(i)) for i in items if _hard_kind(i))


def _hard_kind(item: Item) -> str:
    if item.kind == "word":
        return "quantity" if item.value in QUANTITIES else ""
    return item.kind if item.kind in {"number", "date", "negation", "code", "symbol"} else ""


def _hard_value(item: Item) -> str:
    if item.kind == "negation":
        return "not" if item.value in {"no", "without", "instead"} else item.value
    return "every" if item.value == "each" else item.value


def _modals(mine: Sequence[Item], theirs: Sequence[Item]) -> Counter[str]:
    """Return a sentence's modals; "they will marry" says what "they are marrying" says."""
    progressive = any(a.value in PRESENT and b.value.endswith("ing") for a, b in pairwise(theirs))
    return Counter(i.value for i in mine if i.kind == "modal" and (i.value != "will" or not progressive))


def same_time(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Return whether both speak of the same time, and as of the same kind: "is", "used to be", "has been", "is to be".

    Not one of the past only and the other of the present only.
    """
    past, present = (
        [{i.value for i in side} & words for side in (one, other)] for words in (_PAST_TIME, _PRESENT_TIME)
    )
    sides = (one, other)
    apart = any(
        past[n] and not present[n] and not past[1 - n] and (present[1 - n] or not _has_past(sides[1 - n]))
        for n in (0, 1)
    )
    return not apart and same_aspects(one, other)


def limited_otherwise(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Return whether one limits a date that the other gives in another way: "by 4 pm" and "at 4 pm", "from Monday"."""
    mine, theirs = (
        {date.value: word.value for word, date in pairwise(side) if date.kind == "date" and word.value in _BEFORE_DATES}
        for side in (one, other)
    )
    led = [{mine[date], theirs[date]} for date in mine.keys() & theirs.keys()]
    return any(len(words) > 1 and words & _LIMITING for words in led)


def same_mode(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Return whether two sentences speak of the same time, and as surely: "opens", "opened", "might open"."""
    modals = [Counter(i.value for i in side if i.kind == "modal") for side in (one, other)]
    return modals[0] == modals[1] and _has_past(one) == _has_past(other) and same_time(one, other)


def is_of_time(item: Item) -> bool:
    """Return whether a word says only when or how surely something holds."""
    return item.kind == "modal" or item.value in _TO_DO | _PAST_TIME | _PRESENT_TIME | {"to", "be", "been"}


def _has_past(items: Sequence[Item]) -> bool:
    return any(form.endswith(PAST) for item in items for form in item.forms)


def same_aspects(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Return whether two sentences have the same "used to", "is to", "has been" and the like."""
    return _aspects(one) == _aspects(other)


def _aspects(items: Sequence[Item]) -> Counter[str]:
    """Return what stands before a verb and says when or how surely it holds; "is used to store" says neither."""
    before = ["", *(i.value for i in items)]
    found = []
    for back, (one, two) in zip(before, pairwise(i.value for i in items), strict=False):
        if two == "to" and one in _TO_DO and not (one == "used" and back in _BE_FORMS):
            found.append("be" if one in _BE_FORMS else one)
        elif one in _HAS and two in {"had", "been"}:
            found.append("perfect")
    return Counter(found)


def _attached_agree(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Return whether each quantity and negation, and each of several numbers, belongs to the same word in both."""
    both_simple = _is_simple(one) and _is_simple(other)
    for kind in ("number", "quantity", "negation"):
        mine, theirs = _attach(one, kind), _attach(other, kind)
        if len(mine) == 1 and (kind == "number" or (kind == "negation" and both_simple)):
            continue  # the place of one number is compared like that of a word, and one "not" denies the whole of it
        if not all(any(value == v and _share(words, w) for v, w in theirs) for value, words in mine):
            return False
    return True


def _is_simple(items: Sequence[Item]) -> bool:
    return not any(i.apart or i.value in _PARTS or i.value in QUANTITIES for i in items)


def _attach(items: Sequence[Item], kind: str) -> list[tuple[str, list[Item]]]:
    """Return what is hard of a kind, each with the word that it belongs to: the next, else the last; a number both."""
    found = []
    for n, item in enumerate(items):
        if _hard_kind(item) == kind:
            after = [i for i in items[n + 1 :] if _tells(i)][:1]
            before = [i for i in items[:n] if _tells(i)][-1:]
            found.append((_hard_value(item), [*after, *before] if kind == "number" else after or before))
    return found


def _tells(item: Item) -> bool:
    return item.kind != "symbol" and item.value not in IGNORABLE | LOOSE | NOBODY


def _share(mine: Sequence[Item], theirs: Sequence[Item]) -> bool:
    return not mine or not theirs or any(_same_base(a, b) for a in mine for b in theirs)


def _same_base(one: Item, other: Item) -> bool:
    bases = [{f.rstrip(PAST) for f in i.forms} | {i.value} for i in (one, other)]
    return not bases[0].isdisjoint(bases[1]) or _same_word(one, other)


# --- the words


def _align(mine: Reading, theirs: Reading) -> list[Pair] | None:
    """Return the counterparts; None if a word that says something has none."""
    pairs: list[Pair] = []
    left, over = list(theirs.words), []
    for word in mine.words:
        found = next((o for o in left if _same_word(word.item, o.item)), None)
        if found is None:
            over.append(word)
        else:
            left.remove(found)
            pairs.append((word, found))
    return pairs if _only_pronouns(over, left) and _little_agree(mine.little, theirs.little) else None


def _same_word(one: Item, other: Item) -> bool:
    if one.same(other):
        return True
    words = one.kind == other.kind == "word"
    return words and (is_noun_of(one.value, other.value) or is_noun_of(other.value, one.value))


def _only_pronouns(mine: Sequence[PlacedWord], theirs: Sequence[PlacedWord]) -> bool:
    """Return whether what has no counterpart says only who is meant, and on one side."""
    values = [{s.item.value for s in side if not _is_team(s)} for side in (mine, theirs)]
    return all(side <= NOBODY for side in values) and not all(side - _WE for side in values)


def _is_team(word: PlacedWord) -> bool:
    return word.item.value == "team" and word.item.opens and (word.item.apart or word.at == 0)


def _little_agree(mine: Sequence[Item], theirs: Sequence[Item]) -> bool:
    """Return whether the verbs that say little say the same, at the same time."""
    groups = [[g for i in side if (g := verb_groups(i)) != ANY] for side in (mine, theirs)]
    for own, others, other_items in ((groups[0], groups[1], theirs), (groups[1], groups[0], mine)):
        if others and not all(any(g & o for o in others) for g in own):
            return False
        if not other_items and not all(g & PLAIN for g in own):
            return False
    times = [_is_past(side) for side in (mine, theirs)]
    return None in times or (times[0] == times[1] and not _has_and_is(mine, theirs))


def _has_and_is(mine: Sequence[Item], theirs: Sequence[Item]) -> bool:
    """Return whether one says what something has, and the other what it is: "she has a manager", "she is a manager"."""
    has, equals = ([any(i.value in words for i in side) for side in (mine, theirs)] for words in (_HAS, {"="}))
    return any(has[n] and not equals[n] and equals[1 - n] and not has[1 - n] for n in (0, 1))


def _is_past(verbs: Sequence[Item]) -> bool | None:
    finite = [i for i in verbs if verb_groups(i) == ANY] or verbs
    return any(f.endswith(PAST) for i in finite for f in i.forms) if finite else None


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
