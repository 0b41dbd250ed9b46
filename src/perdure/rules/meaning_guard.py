"""The meaning guard: what a shorter text loses, and why one text must not stand for another.

It judges words, not vectors: texts that contradict each other are close in every embedding space. Whatever it cannot
prove safe it refuses, and a person may look at it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from perdure.rules.language.compared_sentences import ComparedSentence
from perdure.rules.language.phrases import ParsedClause, read_clauses, read_items
from perdure.rules.language.replaced_values import content_words
from perdure.rules.language.same_meaning import (
    initials_agree,
    is_of_time,
    limited_otherwise,
    same_aspects,
    same_meaning,
    same_mode,
)
from perdure.rules.language.sentence_items import Item
from perdure.rules.language.sentences import sentences
from perdure.rules.language.tokens import Kind, Piece, pieces
from perdure.rules.language.words import IGNORABLE, RELATIONS, STOP_WORDS, TURNING, word_set

_GUARDED_KINDS: Final[tuple[Kind, ...]] = ("negation", "number", "date", "modal", "name", "code")
_TURNS_CHINESE: Final = frozenset("不没沒無无未别別勿")
_FOREIGN_NEGATIONS: Final = word_set("""
    nie niemals nicht nichts kein keine keinen keinem keiner keines nunca jamás nada ningún ninguna pas jamais aucun
    aucune não nenhum nenhuma niente nessun nessuna niet geen nooit
    """)
_LONGEST_SOUGHT: Final = 300
"""Content words; a longer sentence is compared from its beginning only, so that hostile texts cost little."""
_ONE: Final = re.compile(r"(?:\bone|(?:^|(?<=[.!?] ))One) (\w+)")
_AFTER_ARTICLE: Final = re.compile(r"(?:\ban?|(?:^|(?<=[.!?] ))An?) (\w+)")
"""Within a sentence a capital letter makes a name: "Team One", "Plan A"."""
_OPENS: Final = word_set("and because")  # words that may begin what the keeper says in addition
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
    pairs = [s for p in pieces(text) for s in p.said]
    found = {kind: tuple(value for k, value in pairs if k == kind) for kind in _GUARDED_KINDS}
    return Anchors(found["number"], found["date"], found["negation"], found["modal"], found["name"], found["code"])


def lost_meaning(original: str, shorter: str) -> tuple[str, ...]:
    """Return what a compression loses, in words for people; empty means that it may go on.

    Each number, date, name and identifier must be said at least once, each modal as often as before, and each negation
    must still stand before the word that it denied.
    """
    before, after = pieces(original), pieces(shorter)
    counts = Counter(value for p in after for _, value in p.said)
    missing: dict[str, None] = {}
    for kind in ("number", "date", "name", "code"):
        values = dict.fromkeys(value for p in before for k, value in p.said if k == kind)
        missing |= dict.fromkeys(f"{kind} {value}" for value in values if value not in counts)
    modals = Counter(value for p in before for k, value in p.said if k == "modal")
    missing |= dict.fromkeys(f"modal '{value}'" for value, times in modals.items() if counts[value] < times)
    denied, still = Counter(_denials(before)), Counter(_denials(after))
    for (word, target), times in denied.items():
        if still[word, target] < times:
            missing[f"negation '{word}'{f' of {target}' if target else ''}"] = None
    chinese = [sum(text.count(c) for c in _TURNS_CHINESE) for text in (original, shorter)]
    if chinese[1] < chinese[0]:
        missing["negation"] = None
    return tuple(missing)


def _denials(found: list[Piece]) -> list[tuple[str, str]]:
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


def denies(one: str, other: str) -> bool:
    """Return whether either of two texts denies a word that the other says without a negation.

    In other languages than English: whether one of them has a negation that the other has not.
    """
    (denied, said), (also_denied, also_said) = _denied_and_said(one), _denied_and_said(other)
    return (
        not denied.isdisjoint(also_said - also_denied)
        or not also_denied.isdisjoint(said - denied)
        or said & _FOREIGN_NEGATIONS != also_said & _FOREIGN_NEGATIONS
    )


@lru_cache(maxsize=4096)
def _denied_and_said(text: str) -> tuple[frozenset[str], frozenset[str]]:
    denied = content_words(" ".join(word for _, word in _denials(pieces(text))))
    return denied, content_words(text) | _FOREIGN_NEGATIONS.intersection(text.lower().split())


@dataclass(frozen=True, slots=True)
class _Sentence:
    items: tuple[Item, ...]
    statement: ComparedSentence
    asks: bool

    @property
    def clauses(self) -> tuple[ParsedClause, ...]:
        """The clauses of what it says; none where it is too long to be parsed."""
        return self.statement.clauses


def conflict(keeper: str, loser: str) -> str:
    """Return why merging ``loser`` into ``keeper`` would lose or contradict meaning; "" means that it is safe.

    Safe is: every sentence of the loser is said by one of the keeper's, in the same order. One sentence says what
    another says if both have the same numbers, dates, negations, names and identifiers, and otherwise the same words
    or synonyms, who does what to whom included. Free are case, punctuation, articles, forms of "to be", plural and
    -ing, active and passive, where a phrase stands, "one" in the keeper where the loser says "a", and a slip of two
    letters. The keeper may go on saying more after
    "and", a comma and the like, as long as that does not turn or limit what it said. The past is not the present.

    What it was measured on: docs/decisions/0034-consolidation-extraction-compression.md.
    """
    kept, loser_sentences = _sentences(_with_articles_of(loser, keeper)), _sentences(loser)
    at = 0
    for sentence in loser_sentences:
        found = next((i for i in range(at, len(kept)) if _says(kept[i], sentence)), None)
        if found is None:
            return _difference(kept, sentence)
        at = found + 1
    return ""


def _with_articles_of(loser: str, keeper: str) -> str:
    """Return the keeper with "a" for "one" where the loser has "a" before the same word: one dog is a dog."""
    counted = {word.lower() for word in _ONE.findall(loser)}
    words = {word.lower() for word in _AFTER_ARTICLE.findall(loser)} - counted
    return _ONE.sub(lambda m: f"a {m[1]}" if m[1].lower() in words else m[0], keeper) if words else keeper


def contradiction(one: str, other: str) -> str:
    """Return why two texts cannot both hold; "" means that one text may say what both say.

    What one of them says in addition contradicts nothing. Two sentences about the same (half of the words of the
    shorter) contradict each other if one denies what the other says, or where each puts something else in the
    other's place: another number, another name, another word in the same phrase, the same words in another order.
    """
    if not conflict(one, other) or not conflict(other, one):
        return ""
    theirs = _sentences(other)
    for mine in _sentences(one):
        nearest = max(theirs, key=lambda s: _count_shared(mine, s), default=None)
        if nearest is None or _count_shared(mine, nearest) < _related_from(mine, nearest):
            continue
        if not (_says(mine, nearest) or _says(nearest, mine)) and _contradicts(mine, nearest):
            return _difference([nearest], mine)
    return ""


def _related_from(one: _Sentence, other: _Sentence) -> float:
    """Return how many words two sentences must share to be about the same; one is enough where what turns differs."""
    turns = [{i.value for i in s.items if i.kind == "negation" or i.value in TURNING} for s in (one, other)]
    return 1 if turns[0] != turns[1] else max(1, min(len(one.items), len(other.items)) / 2)


def _count_shared(one: _Sentence, other: _Sentence) -> int:
    return sum(any(i.same(k) for k in other.items) for i in one.items)


def _contradicts(one: _Sentence, other: _Sentence) -> bool:
    mine, theirs = _unmatched_items(one.items, other.items), _unmatched_items(other.items, one.items)
    if all(is_of_time(i) for i in (*mine, *theirs)) and not same_mode(one.statement.items, other.statement.items):
        return True
    if any(i.kind == "negation" or i.value in TURNING for i in (*mine, *theirs)) or not (mine or theirs):
        return True
    if limited_otherwise(one.statement.items, other.statement.items):
        return True
    if not (mine and theirs):
        return _is_reordered(one.items, other.items)
    kinds = {i.kind for i in mine} & {i.kind for i in theirs}
    if kinds - {"word"} or all(any(i.value in RELATIONS for i in side) for side in (mine, theirs)):
        return True
    runs = {marker: items for clause in other.clauses for marker, items in clause.runs()}
    return any(
        _unmatched_items(items, other.items) and _unmatched_items(runs[marker], one.items)
        for clause in one.clauses
        for marker, items in clause.runs()
        if marker in runs
    )


def _unmatched_items(items: Sequence[Item], others: Sequence[Item]) -> list[Item]:
    return [i for i in items if not any(i.same(o) for o in others)]


def _is_reordered(one: Sequence[Item], other: Sequence[Item]) -> bool:
    shared = [i for i in one if any(i.same(o) for o in other)]
    theirs = [o for o in other if any(o.same(i) for i in one)]
    return len(shared) == len(theirs) and not all(a.same(b) for a, b in zip(shared, theirs, strict=True))


@lru_cache(maxsize=64)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    spans = sentences(text)
    inside: dict[int, list[Piece]] = {}
    for piece in pieces(text):
        inside.setdefault(piece.sentence, []).append(piece)
    found = []
    for number, some in inside.items():
        items = read_items(some)
        content = [i for i in items if i.kind != "word" or i.value not in IGNORABLE]
        if content:
            asks = text[: spans[number][1]].rstrip("\"'”’)*").endswith("?")  # noqa: RUF001
            clauses = tuple(read_clauses(items)) if len(items) <= _LONGEST_SOUGHT else ()
            found.append(_Sentence(_dates_last(content), ComparedSentence(tuple(items), clauses), asks))
    return tuple(found)


def _dates_last(items: list[Item]) -> tuple[Item, ...]:
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
    if keeper.asks != loser.asks or not initials_agree(keeper.items, loser.items):
        return False
    if keeper.clauses and same_meaning(keeper.statement, loser.statement):
        return True
    more = len(keeper.items) - len(loser.items)
    if more < 0 or (more and len(loser.items) == 1):  # one word ("No.") means what its sentence is an answer to
        return False
    if not same_aspects(keeper.statement.items, loser.statement.items):
        return False
    tries = range(more + 1 if len(keeper.items) <= _LONGEST_SOUGHT else 1)
    return any(_says_at(keeper.items, loser.items, i) for i in tries)


def _says_at(keeper: tuple[Item, ...], loser: tuple[Item, ...], at: int) -> bool:
    end = at + len(loser)
    if not all(a.same(b) for a, b in zip(keeper[at:end], loser, strict=True)):
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


def _difference(kept: Sequence[_Sentence], loser: _Sentence) -> str:
    """Return in words how a sentence differs from the nearest of the keeper's."""
    words = Counter(i.value for i in loser.items)
    nearest = max(kept, key=lambda s: (Counter(i.value for i in s.items) & words).total(), default=None)
    if nearest is None:
        return "the remaining text is empty"
    for kind in _GUARDED_KINDS:
        mine, theirs = ([i.value for i in s.items if i.kind == kind] for s in (loser, nearest))
        if mine != theirs and (mine or kind in {"negation", "modal"}):
            order = ", in another order" if Counter(mine) == Counter(theirs) else ""
            return f"{kind}: {', '.join(mine) or 'none'} is not {', '.join(theirs) or 'none'}{order}"
    return _other_difference(nearest, loser)


def _other_difference(nearest: _Sentence, loser: _Sentence) -> str:
    if nearest.asks != loser.asks:
        return "a question is not a statement"
    if not initials_agree(nearest.items, loser.items):
        return f"name: {loser.items[0].value} is not {nearest.items[0].value}"
    words = [i for i in loser.items if not any(i.same(k) for k in nearest.items)]
    if words:
        return "missing from the remaining text: " + ", ".join(repr(i.value) for i in words[:5])
    if len(nearest.items) > len(loser.items):
        more = [i.value for i in nearest.items if not any(i.same(k) for k in loser.items)]
        if more:
            return "the remaining text covers less, or differs: " + " ".join(more)
        again = Counter(i.value for i in nearest.items) - Counter(i.value for i in loser.items)
        return "the remaining text says again: " + ", ".join(map(repr, again))
    return "the same words in another order"
