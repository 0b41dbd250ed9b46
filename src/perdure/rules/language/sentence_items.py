"""What a sentence says, one thing after another, and relative clauses that say what a noun is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from perdure.rules.language.tokens import Kind
from perdure.rules.language.word_forms import is_slip
from perdure.rules.language.words import STOP_WORDS, TURNING, word_set

PRESENT, WAS = word_set("is are am be being"), word_set("was were been")
PREPOSITIONS: Final = word_set("""
    in on at to from for with by about into over under between through during as per against behind beside near inside
    instead than due off up down out across along around among toward towards despite except within onto infront atop
    """)
_RELATIVES: Final = word_set("which who that")
_NO_ADJECTIVE: Final = STOP_WORDS | TURNING | PREPOSITIONS | PRESENT | WAS | word_set("a an the and or")
_ADJECTIVES: Final = 2


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a sentence says."""

    kind: Kind  # of its piece
    value: str  # in the normal form of its piece
    apart: bool = False  # whether a comma or the like stands before it
    opens: bool = False  # whether an article stands before it
    forms: frozenset[str] = frozenset()  # what it may be a form or a synonym of

    def same(self, other: Item) -> bool:
        """Return whether both say the same, but for their form, a synonym and a slip of the pen."""
        if self.kind == other.kind == "word":
            return not self.forms.isdisjoint(other.forms) or is_slip(self.value, other.value)
        return self.value == other.value and (
            self.kind == other.kind or {self.kind, other.kind} <= {"name", "word", "code"}
        )


def adjectives_first(items: list[Item]) -> list[Item]:
    """Put what a relative clause says of a noun before it: "a dog, which is black," is "a black dog"."""
    found = list(items)
    for at in range(len(items) - 3, 0, -1):
        size = _relative_clause(found, at)
        if size:
            adjectives = [replace(item, apart=False) for item in found[at + 2 : at + 2 + size]]
            del found[at : at + 2 + size]
            noun = at - 1
            while noun and not found[noun].apart and _goes_with_noun(found[noun - 1]):
                noun -= 1
            adjectives[0] = replace(adjectives[0], apart=found[noun].apart)
            found[noun : noun + 1] = [*adjectives, replace(found[noun], apart=False)]
    return found


def place_last(items: list[Item]) -> list[Item]:
    """Put the place that a sentence begins with after it: "the gym is where they meet" is "they meet in the gym"."""
    at = next((n for n, (a, b) in enumerate(pairwise(items)) if a.value in PRESENT and b.value == "where"), 0)
    if not at:
        return items
    start = max((n for n in range(at) if items[n].apart), default=0)
    clause, place = items[at + 2 :], items[start:at]
    return [*items[:start], *clause, Item("word", "in"), *(replace(i, apart=False) for i in place)]


def _relative_clause(items: Sequence[Item], at: int) -> int:
    """Return how many items say what a noun is, after "which is" at a place: one or two adjectives; else 0."""
    if items[at].value not in _RELATIVES or items[at + 1].value not in PRESENT or items[at - 1].kind != "word":
        return 0
    rest = range(at + 2, len(items))
    ends = (n for n in rest if items[n].apart or items[n].value in PREPOSITIONS | PRESENT | WAS)
    clause = items[at + 2 : next(ends, len(items))]
    adjectives = clause[::2] if [i.value for i in clause[1:2]] == ["and"] else clause
    fine = all(_goes_with_noun(i) and not i.value.endswith("ing") for i in adjectives)
    return len(clause) if fine and 0 < len(adjectives) <= _ADJECTIVES and len(clause) != len(adjectives) + 2 else 0


def _goes_with_noun(item: Item) -> bool:
    return item.kind == "word" and item.value not in _NO_ADJECTIVE
