"""Attributes and how they change: "my budget is $50", "moved to Lyon", "increased from $50 to $80".

May live here: which attribute a clause is about, its old and its new value. May not: acts and states (rules/saying.py).
"""

from __future__ import annotations

from typing import Final

from perdure.records.knowledge import Learned
from perdure.rules.clauses import Clause
from perdure.rules.lemmas import base_verb
from perdure.rules.measuring import made, measure_at, owned, since_beside, value_at
from perdure.rules.naming_verbs import CHANGING, EMPTY_HEADS, MOVING, RELATIONS, SWITCHING, Parsed, Place, Said
from perdure.rules.phrases import OWNERS, PEOPLE, Phrase, day_named, is_name, name_of, phrase_at
from perdure.rules.predicates import Predicates
from perdure.rules.words import listed

_BE: Final = listed("am is are be been")
_SORTS: Final = listed("measure date status contact address job name policy preference")
_LONGEST: Final = 6
"""Words that the name of an attribute may have beside its last."""
_FAR: Final = 14
"""Words after a verb among which its "to" is looked for."""
_Change = tuple[str, str, Place]
"""Whose attribute, its name, where its new value stands."""


def attributes(parsed: Parsed, predicates: Predicates) -> list[Said]:
    """Return what a clause says of somebody's attribute: "my budget is $50", "the deadline is April 25"."""
    if parsed.phrase is None:
        return []
    owner, named = owned(parsed.phrase)
    low = parsed.words[parsed.at].low
    if not named or named.count("_") > _LONGEST:
        return []
    if low in CHANGING:
        return changes(parsed, predicates)
    if low in {"has", "have"}:
        found = measure_at(parsed.clause, parsed.at + 1)
        return (
            [made(parsed, f"{name_of(found[1])}_count", found[0], kind="measure", many=False)]
            if found and found[1]
            else []
        )
    if not set(parsed.aux) & _BE or parsed.denied or base_verb(low) in {"go", "be"}:
        return []
    return _being(parsed, parsed.phrase, owner, named, predicates)


def _being(parsed: Parsed, phrase: Phrase, owner: str, named: str, predicates: Predicates) -> list[Said]:
    """Return what an attribute is; a relation is a name, a thing without sort needs a number or a day."""
    place, measured = value_at(parsed.clause, parsed.at)
    name, head = predicates.name(named), named.rpartition("_")[2]
    if place is None:
        return []
    if head in RELATIONS:
        named_so = is_name(parsed.words[parsed.at]) and not measured and parsed.at + 1 >= len(parsed.words)
        return [made(parsed, f"{name}_name", place, subject=owner, kind="name", many=False)] if named_so else []
    kind = predicates.row(name).type
    if kind == "attribute":
        fits = measured and head not in EMPTY_HEADS
    else:
        loose = kind not in _SORTS - {"measure", "date"} or phrase.lows[0] == "the" or "and" in phrase.lows
        fits = measured or not loose
    preferred = named.startswith(("favorite", "favourite"))
    learned = Learned.PREFERENCE if preferred else Learned.STATEMENT
    sort = "measure" if kind == "attribute" else ""
    return [made(parsed, name, place, subject=owner, learned=learned, kind=sort)] if fits else []


def changes(parsed: Parsed, predicates: Predicates) -> list[Said]:
    """Return what a clause says that something became: "switched from A to B", "increased to $550"."""
    words, at = parsed.words, parsed.at
    lemma = base_verb(words[at].low)
    changing = {words[at].low, f"{lemma}d", f"{lemma}ed"} & CHANGING
    if parsed.denied or not changing or words[at].low.endswith("ing"):
        return []
    to = _index(parsed.clause, "to", at + 1, at + _FAR)
    if to is None and lemma in {"reach", "hit"}:
        to = at
    if to is None or to + 1 >= len(words):
        return []
    place, measured = value_at(parsed.clause, to + 1)
    since_word = _index(parsed.clause, "from", at + 1, to)
    what = None if place is None else _changed(parsed, lemma, place, predicates, since_word or to, measured=measured)
    if place is None or what is None:
        return []
    owner, name, value = what
    before = since_word
    if before is None and not measured:
        before = _index(parsed.clause, "from", to + 1, len(words) - 1)
    old = None if before is None else value_at(parsed.clause, before + 1)[0]
    sort = ("measure" if measured else "status") if predicates.row(name).type == "attribute" else ""
    return [
        made(
            parsed,
            name,
            value,
            span=(parsed.clause.start, max(place[1], old[1] if old else 0)),
            subject=owner,
            old=old,
            learned=Learned.CORRECTION,
            since=since_beside(parsed.clause, value, *([old] if old else [])),
            many=False,
            kind=sort,
        )
    ]


def _index(clause: Clause, low: str, first: int, last: int) -> int | None:
    return next((i for i in range(first, min(len(clause.words), last)) if clause.words[i].low == low), None)


def _changed(
    parsed: Parsed, lemma: str, place: Place, predicates: Predicates, stop: int, *, measured: bool
) -> _Change | None:
    """Return what changed: the subject, "it" by what is counted, the verb's object, or where somebody lives."""
    words = parsed.words
    if parsed.phrase is not None:
        return _attribute(parsed.phrase, place, predicates, measured=measured)
    begin = next(i for i, w in enumerate(words) if w.end > place[0])
    if parsed.who == "it":
        found = measure_at(parsed.clause, begin)
        return ("it", f"{name_of(found[1])}_count", place) if found and found[1] else None
    if stop > parsed.at + 1:  # "extended my goal to ..."
        phrase = Phrase(words[parsed.at + 1 : stop])
        own = phrase.lows[0] in OWNERS or phrase.lows[0] == "the"
        return _attribute(phrase, place, predicates, measured=measured) if own else None
    value = phrase_at(parsed.clause, begin)
    if value is None:
        return None
    if lemma in MOVING:
        return (parsed.who, "home", (value.start, value.end)) if is_name(value.words[0]) else None
    direct = words[parsed.at + 1].low in {"to", "from"}
    return _switched(parsed, value, predicates) if lemma in SWITCHING and direct else None


def _attribute(phrase: Phrase, place: Place, predicates: Predicates, *, measured: bool) -> _Change | None:
    owner, named = owned(phrase)
    name = predicates.name(named)
    known = measured or predicates.row(name).type != "attribute"
    return (owner, name, place) if named and known else None


def _switched(parsed: Parsed, value: Phrase, predicates: Predicates) -> _Change | None:
    """Return "switched to Thursday deliveries" as a preference, "to Obsidian" as what is used."""
    if (days := day_named(value)) is not None:
        return parsed.who, predicates.name(f"{days[1]}_preference"), (days[0].start, days[0].end)
    person = parsed.who.lower() in PEOPLE or is_name(parsed.words[0])
    return (parsed.who, "use", (value.start, value.end)) if person else None
