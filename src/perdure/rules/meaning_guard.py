"""The meaning guard: what a shorter text loses, and why one text must not stand for another.

It judges words, not vectors: texts that contradict each other are close in every embedding space. Whatever it cannot
prove safe it refuses, and a person may look at it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

from perdure.rules.language.sentences import sentences
from perdure.rules.language.tokens import Kind, Piece, pieces
from perdure.rules.language.words import IGNORABLE, PEOPLE, RELATIONS, STOP_WORDS, TURNING, word_set

_GUARDED: Final[tuple[Kind, ...]] = ("negation", "number", "date", "modal", "name", "code")
_TURNS_CHINESE: Final = frozenset("不没沒無无未别別勿")
_PAST: Final = {"were": "was", "has": "have", "having": "have", "did": "did", "had": "had"}
_SAME_FORM: Final = word_set(
    "news means goods glasses customs arms series species physics mathematics politics always plus minus bus gas yes "
    "thing something anything nothing everything king ring spring string wing during morning evening"
)
"""Words whose ending is no suffix."""
_CLOSED_SYLLABLE: Final = re.compile(r"[^aeiou]{0,2}[aeiou][^aeiouwxy]")
_TYPO_FROM: Final = 5
_DOUBLED_FROM: Final = 9
_LONGEST_SOUGHT: Final = 300
"""Content words; a longer sentence is compared from its beginning only, so that hostile texts cost little."""
_OPENS: Final = word_set("and because")
"""Words that may begin what the keeper says in addition."""
_LIMITS: Final = RELATIONS - word_set("and so who whose which where")
"""Words that limit what was said even after a comma: "allowed, with approval" is not "allowed"."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """What a text must not lose, each in the text's order and in a normal form (1,000 is 1000, n't is not).

    A number is followed by its unit as the text's next word; signs, currencies and % belong to the number.
    """

    numbers: tuple[str, ...]
    dates: tuple[str, ...]
    negations: tuple[str, ...]
    modals: tuple[str, ...]
    names: tuple[str, ...]
    code: tuple[str, ...]


def anchors(text: str) -> Anchors:
    """Return a text's numbers, dates, negations, modals, proper names and code identifiers."""
    said = [s for p in pieces(text) for s in p.said]
    found = {kind: tuple(value for k, value in said if k == kind) for kind in _GUARDED}
    return Anchors(found["number"], found["date"], found["negation"], found["modal"], found["name"], found["code"])


def lost(original: str, shorter: str) -> tuple[str, ...]:
    """Return what a compression loses, in words for people; empty means that it may go on.

    Each number, date, name and identifier must be said at least once, each modal as often as before, and each negation
    must still stand before the word that it denied.
    """
    before, after = pieces(original), pieces(shorter)
    there = Counter(value for p in after for _, value in p.said)
    missing: dict[str, None] = {}
    for kind in ("number", "date", "name", "code"):
        values = dict.fromkeys(value for p in before for k, value in p.said if k == kind)
        missing |= dict.fromkeys(f"{kind} {value}" for value in values if value not in there)
    modals = Counter(value for p in before for k, value in p.said if k == "modal")
    missing |= dict.fromkeys(f"modal '{value}'" for value, times in modals.items() if there[value] < times)
    denied, still = Counter(_denials(before)), Counter(_denials(after))
    for (word, what), times in denied.items():
        if still[word, what] < times:
            missing[f"negation '{word}'{f' of {what}' if what else ''}"] = None
    chinese = [sum(text.count(c) for c in _TURNS_CHINESE) for text in (original, shorter)]
    if chinese[1] < chinese[0]:
        missing["negation"] = None
    return tuple(missing)


def _denials(found: list[Piece]) -> list[tuple[str, str]]:
    """Return each negation with the content word after it in its sentence, or with nothing."""
    denied: list[tuple[str, str]] = []
    waiting: list[str] = []
    sentence = -1
    for piece in found:
        if piece.sentence != sentence:
            denied += [(word, "") for word in waiting]
            waiting, sentence = [], piece.sentence
        for kind, value in piece.said:
            if kind == "negation":
                waiting.append(value)
            elif kind != "symbol" and value not in STOP_WORDS and value != "'s":
                denied += [(word, value) for word in waiting]
                waiting = []
    return denied + [(word, "") for word in waiting]


@dataclass(frozen=True, slots=True)
class _Item:
    """One thing that a sentence says; `apart` is whether a comma or the like stands before it."""

    kind: Kind
    value: str
    apart: bool


@dataclass(frozen=True, slots=True)
class _Sentence:
    items: tuple[_Item, ...]
    asks: bool


def conflict(keeper: str, loser: str) -> str:
    """Return why merging ``loser`` into ``keeper`` would lose or contradict meaning; "" means that it is safe.

    Safe is: every sentence of the loser is said by one of the keeper's, in the same order, and with the same words in
    the same order. Free are case, punctuation, articles and forms of "to be", plural and -ing, a slip of two letters,
    and a date that moves between the two ends of a sentence. The keeper may go on saying more after "and", a comma and
    the like, as long as that does not turn or limit what it said. The past is not the present.

    Measured on SICK's training pairs: of 665 contradictions and 2,536 neutral pairs none is merged either way; of the
    492 entailments with relatedness of at least 4.8, 85 are (17 %): the others put one word for another.
    """
    kept, given = _sentences(keeper), _sentences(loser)
    at = 0
    for sentence in given:
        found = next((i for i in range(at, len(kept)) if _says(kept[i], sentence)), None)
        if found is None:
            return _difference(kept, sentence)
        at = found + 1
    return ""


def _sentences(text: str) -> list[_Sentence]:
    """Return what each sentence says, those that say nothing left out."""
    spans = sentences(text)
    said: dict[int, list[_Item]] = {}
    apart = False
    for piece in pieces(text):
        items = said.setdefault(piece.sentence, [])
        if not piece.said:
            apart = apart or piece.text[0] in ",;:()–—-\n"  # noqa: RUF001  # typographic dashes are meant
        for kind, value in piece.said:
            if value not in IGNORABLE or kind != "word":
                items.append(_Item(kind, _PAST.get(value, value), apart and bool(items)))
                apart = False
    return [
        _Sentence(_dates_last(items), text[: spans[number][1]].rstrip("\"'”’)*").endswith("?"))  # noqa: RUF001
        for number, items in said.items()
        if items
    ]


def _dates_last(items: list[_Item]) -> tuple[_Item, ...]:
    """Drop the preposition of a date, and move a date that opens the sentence to its end."""
    kept = [
        item
        for i, item in enumerate(items)
        if not (item.value in {"on", "in", "at"} and i + 1 < len(items) and items[i + 1].kind == "date")
    ]
    opening = next((i for i, item in enumerate(kept) if item.kind not in {"date", "number"}), 0)
    if opening == 0 or kept[0].kind != "date":
        return tuple(kept)
    return (replace(kept[opening], apart=False), *kept[opening + 1 :], *kept[:opening])


def _says(keeper: _Sentence, loser: _Sentence) -> bool:
    """Return whether one sentence says what the other says."""
    if keeper.asks != loser.asks:
        return False
    more = len(keeper.items) - len(loser.items)
    if more < 0 or (more and len(loser.items) == 1):  # one word ("No.") means what its sentence is an answer to
        return False
    tries = range(more + 1 if len(keeper.items) <= _LONGEST_SOUGHT else 1)
    return any(_says_at(keeper.items, loser.items, i) for i in tries)


def _says_at(keeper: tuple[_Item, ...], loser: tuple[_Item, ...], at: int) -> bool:
    end = at + len(loser)
    if not all(_same(a, b) for a, b in zip(keeper[at:end], loser, strict=True)):
        return False
    extra = [*keeper[:at], *keeper[end:]]
    if any(i.kind in {"negation", "modal", "symbol"} or i.value in TURNING or i.value == "0" for i in extra):
        return False
    if at and not (keeper[at].apart or keeper[at - 1].value == "and"):
        return False
    if end == len(keeper):
        return True
    after = keeper[end]
    return after.value in _OPENS or (
        after.apart and after.kind not in {"name", "number"} and after.value not in _LIMITS
    )


def _same(one: _Item, other: _Item) -> bool:
    """Return whether two items say the same, but for case, number and a slip of the pen."""
    if one.value == other.value:
        return one.kind == other.kind or {one.kind, other.kind} <= {"name", "word", "code"}
    return one.kind == other.kind == "word" and _same_word(one.value, other.value)


def _same_word(one: str, other: str) -> bool:
    closed = TURNING | RELATIONS | PEOPLE
    if one in closed or other in closed or not (one.isalpha() and other.isalpha()):
        return False
    return bool(_bases(one) & _bases(other)) or _is_slip(one, other)


def _bases(word: str) -> set[str]:
    """Return what a word may be the plural, the third person or the -ing form of, and itself.

    Other suffixes change what is said: -ed is the past, -er compares, -ly is another word ("hard", "hardly").
    """
    bases = {word}
    if word in _SAME_FORM or len(word) < 4:  # noqa: PLR2004  # "is", "us", "gas"
        return bases
    if word.endswith("ies"):
        bases.add(word[:-3] + "y")
    elif word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        bases |= {word[:-2], word[:-1]}
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        bases.add(word[:-1])
    elif word.endswith("ing") and len(word) > 5:  # noqa: PLR2004  # "bring", "sting"
        stem = word[:-3]
        if stem[-1] == stem[-2] and stem[-1] not in "lsz":
            bases.add(stem[:-1])  # running
        elif _CLOSED_SYLLABLE.fullmatch(stem):
            bases.add(stem + "e")  # hoping; hop gives hopping
        else:
            bases |= {stem, stem + "e"}
    return bases


_NO_SLIP: Final = word_set(
    "angel angle trial trail diary dairy casual causal united untied quiet quite desert dessert later latter "
    "diner dinner super supper comma coma sacred scared martial marital calm clam bread beard board broad"
)
"""Pairs of words that look like a slip of each other."""


def _is_slip(one: str, other: str) -> bool:
    """Return whether two long words differ by two letters exchanged, or by a letter doubled.

    One letter put for another is no slip: "house" is not "mouse", and "enable" is not "unable".
    """
    if min(len(one), len(other)) < _TYPO_FROM or one[0] != other[0] or one[-1] != other[-1] or one in _NO_SLIP:
        return False
    first = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), -1)
    if len(one) == len(other):
        swapped = one[:first] + one[first + 1 : first + 2] + one[first : first + 1] + one[first + 2 :]
        return first > 0 and swapped == other
    long, short = (one, other) if len(one) > len(other) else (other, one)
    if len(long) != len(short) + 1 or len(long) < (_DOUBLED_FROM if long.endswith(("ed", "ing", "er")) else _TYPO_FROM):
        return False
    return first > 0 and long[first] == long[first - 1] and long[:first] + long[first + 1 :] == short


def _difference(kept: list[_Sentence], loser: _Sentence) -> str:
    """Return in words how a sentence differs from the nearest of the keeper's."""
    wanted = Counter(i.value for i in loser.items)
    nearest = max(kept, key=lambda s: (Counter(i.value for i in s.items) & wanted).total(), default=None)
    if nearest is None:
        return "the remaining text is empty"
    for kind in _GUARDED:
        mine, theirs = ([i.value for i in s.items if i.kind == kind] for s in (loser, nearest))
        if mine != theirs and (mine or kind in {"negation", "modal"}):
            order = ", in another order" if Counter(mine) == Counter(theirs) else ""
            return f"{kind}: {', '.join(mine) or 'none'} is not {', '.join(theirs) or 'none'}{order}"
    return _other_difference(nearest, loser)


def _other_difference(nearest: _Sentence, loser: _Sentence) -> str:
    if nearest.asks != loser.asks:
        return "a question is not a statement"
    words = [i for i in loser.items if not any(_same(i, k) for k in nearest.items)]
    if words:
        return "missing from the remaining text: " + ", ".join(repr(i.value) for i in words[:5])
    if len(nearest.items) > len(loser.items):
        return "the remaining text covers less, or differs: " + " ".join(
            i.value for i in nearest.items if not any(_same(i, k) for k in loser.items)
        )
    return "the same words in another order"
