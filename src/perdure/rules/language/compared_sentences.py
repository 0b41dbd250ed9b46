"""A sentence as a statement that can be compared: its words with their places, and what holds its parts together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from perdure.rules.language.phrases import DATE, LY, TIME, ParsedClause
from perdure.rules.language.sentence_items import PREPOSITIONS, Item
from perdure.rules.language.word_forms import PAST
from perdure.rules.language.words import IGNORABLE, QUANTITIES, word_set

LOOSE: Final = word_set("in on onto at to for with by of as via per into within")
"""Prepositions that another wording may exchange; all others must be there on both sides."""
NOBODY: Final = word_set("we our us ours someone somebody there where what it its he his him she her they their them")
"""Words that may be missing: they name nobody who is not named otherwise."""
_LITTLE: Final = tuple(
    word_set(words)
    for words in (
        "call name title",
        "use",
        "keep store locate live lie find place put exist happen show",
        "go send forward",
        "take last",
        "write implement",
    )
)
"""Verbs that say little beside what they are said of; two of one group say the same."""
PLAIN: Final = frozenset({0, 1})
"""The groups that add nothing to a sentence that has another verb: "the namespace (used) for tests"."""
ANY: Final = frozenset(range(len(_LITTLE)))
_BE: Final = word_set("= be have has had")
_JOINING: Final = word_set("and but so") | {""}
_SUBJECTS: Final = word_set("user we our i my he she it they his her their")


class ComparedSentence(NamedTuple):
    """A sentence as it is compared."""

    items: tuple[Item, ...]  # what it says, in its order
    clauses: tuple[ParsedClause, ...]  # the same, parsed


class PlacedWord(NamedTuple):
    """A word of a sentence, and where it stands."""

    item: Item
    place: str  # what leads its clause and its phrase in; empty in the core of the main clause
    chunk: int  # the number of that phrase; 0 in a core
    side: int  # 1 before "is", 2 after it; 0 without it
    at: int  # its number in the sentence, as the parser orders it


@dataclass(frozen=True, slots=True)
class Reading:
    """What of a sentence is compared word by word."""

    words: tuple[PlacedWord, ...]  # that say something
    little: tuple[Item, ...]  # verbs that say little
    markers: Counter[str]  # how its parts belong together: "because", "before", "under"
    heads: frozenset[tuple[str, str]]  # what each of these leads in: its first word
    agentless: bool  # whether it is passive without a doer

    @classmethod
    def of(cls, statement: ComparedSentence) -> Reading:
        """Read a sentence."""
        clauses = _unfold(statement)
        led = list(_lead_phrases(clauses))
        listed = [s for s in _placed_words(clauses) if s.item.value not in IGNORABLE]
        telling = [s for s in listed if not _is_compared_apart(s.item)]
        return cls(
            tuple(s for s in telling if not verb_groups(s.item)),
            tuple(s.item for s in telling if verb_groups(s.item)),
            Counter(marker for marker, _ in led),
            frozenset((m, _lead_word(first)) for m, items in led if (first := _first(items))),
            any(c.core[:1] and c.core[0].value == "we" and "someone" in c.core[0].forms for c in clauses),
        )


def verb_groups(item: Item) -> frozenset[int]:
    """Return which groups of verbs that say little a word belongs to; "a used car" is none."""
    if item.kind != "word" or item.opens:
        return frozenset()
    bases = {form.rstrip(PAST) for form in item.forms}
    if bases & _BE:
        return ANY
    return frozenset(n for n, group in enumerate(_LITTLE) if bases & group)


def _is_compared_apart(item: Item) -> bool:
    return item.kind in {"negation", "modal", "symbol"} or item.value in QUANTITIES


def _lead_phrases(clauses: Sequence[ParsedClause]) -> Iterator[tuple[str, Sequence[Item]]]:
    """Yield what binds the parts of a sentence, each with what it leads in."""
    for clause in clauses:
        if clause.marker not in _JOINING:
            yield clause.marker, clause.core
        yield from ((m, items) for m, items in clause.phrases if m in PREPOSITIONS and m not in LOOSE)


def _first(items: Sequence[Item]) -> Item | None:
    return next((i for i in items if i.value not in NOBODY), None)


def _lead_word(item: Item) -> str:
    return min((form.rstrip(PAST) for form in item.forms), default=item.value)


def _placed_words(clauses: Sequence[ParsedClause]) -> Iterator[PlacedWord]:
    at = chunk = 0
    for clause in clauses:
        led = "" if clause.marker in _JOINING else clause.marker
        for marker, items in (("", clause.core), *clause.phrases):
            place = f"{led} {'' if marker == LY else marker}".strip()
            equal = next((n for n, i in enumerate(items) if i.value == "="), -1)
            chunk += 1
            for n, item in enumerate(items):
                yield PlacedWord(item, place, chunk if place else 0, (1 + (n > equal)) * (equal > 0), at)
                at += 1


def _unfold(statement: ComparedSentence) -> list[ParsedClause]:
    """Return the clauses of a sentence; after a phrase that opens it ("until October we ...") the main one begins."""
    clauses = list(statement.clauses)
    main, *rest = clauses
    if len(rest) != 1 or main.core or main.phrases or not statement.items[1:]:
        return clauses
    led = rest[0]
    dates = [p for p in led.phrases if p[0] in {DATE, TIME}]
    if statement.items[1].kind in {"date", "number"} and dates:
        others = [p for p in led.phrases if p not in dates]
        return [ParsedClause("", led.core, others), ParsedClause(led.marker, [], dates)]
    cut = next((n for n, i in enumerate(led.core) if n and (i.opens or i.value in _SUBJECTS)), 0)
    if not cut:
        return clauses
    return [ParsedClause("", led.core[cut:], led.phrases), ParsedClause(led.marker, led.core[:cut], [])]
