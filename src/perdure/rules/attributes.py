"""Attributes and how they change: "my budget is $50", "moved to Lyon", "increased from $50 to $80".

May live here: which attribute a clause is about, its old and its new value. May not: acts and states (rules/saying.py).
"""

from __future__ import annotations

import re
from typing import Final

from perdure.records.knowledge import Learned
from perdure.rules.being import version_at
from perdure.rules.clauses import Clause, Word
from perdure.rules.habits import happening
from perdure.rules.lemmas import base_verb
from perdure.rules.measuring import made, measure_at, owned, since_beside, value_at
from perdure.rules.naming_verbs import (
    CHANGING,
    EMPTY_HEADS,
    MOVING,
    NOT_EVENTS,
    PLACES,
    RELATIONS,
    ROLES,
    SWITCHING,
    THINGS,
    Parsed,
    Place,
    Said,
)
from perdure.rules.phrases import OWNERS, PEOPLE, WEEKDAYS, Phrase, coded, day_named, is_name, name_of, phrase_at
from perdure.rules.placing import placed
from perdure.rules.predicates import Predicates
from perdure.rules.words import listed

_BE: Final = listed("am is are be been")
_CLOCK: Final = re.compile(r"\d{1,2}:\d\d(?:am|pm)?|\d{1,2}(?:am|pm)")
_NAMES: Final = 4
"""Words that a person's name may have."""
_WORDS: Final = 4
"""Words that a value may have which is no number."""
_SHOUTED: Final = listed("no yes ok okay so right wrong true false amazing great")
_STATES: Final = listed("""
    down up out off on over slow fast good bad great nice fine ok okay ready done gone late early full empty open shut
    close free busy big small new old broken dead live hot cold short long high low easy hard clear clean dirty safe
    different same similar better best worse worst correct right wrong true false important necessary available weird
    huge tiny cheap expensive awesome amazing perfect terrible horrible awful lovely cool sick stable unstable flaky
    still back here there gone missing behind ahead due wonderful special important unique very too so really pretty
    quite super such like all not no yes just kind sort part
    """)
"""What something may be without that being its value."""
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
    if found := placed(parsed, owner, named) or happening(parsed, predicates):
        return found
    if low in {"has", "have"}:
        counted = measure_at(parsed.clause, parsed.at + 1)
        return (
            [made(parsed, f"{name_of(counted[1])}_count", counted[0], kind="measure", many=False)]
            if counted and counted[1]
            else []
        )
    if not set(parsed.aux) & _BE or parsed.denied or base_verb(low) in {"go", "be"}:
        return []
    return _being(parsed, parsed.phrase, owner, named, predicates)


def _being(parsed: Parsed, phrase: Phrase, owner: str, named: str, predicates: Predicates) -> list[Said]:
    """Return what an attribute is; a relation is a name, a thing without sort needs a number, a day or a name."""
    place, measured = value_at(parsed.clause, parsed.at)
    name, head = predicates.name(named), named.rpartition("_")[2]
    if place is None:
        return []
    relation, _, rest = named.partition("_")
    if relation in RELATIONS and rest:  # "my sister's phone number"
        name = f"{relation}_{predicates.name(rest)}"
    if head in RELATIONS:
        kin = made(parsed, f"{name}_name", place, subject=owner, kind="name", many=False)
        return [kin] if _named(parsed, place) and not measured else []
    if (day := _weekday(parsed, place)) is not None and head not in EMPTY_HEADS:
        return [made(parsed, f"{name}_day", day, subject=owner, kind="date", many=False)]
    kind = predicates.row(name).type
    learned = Learned.PREFERENCE if named.startswith(("favorite", "favourite")) else Learned.STATEMENT
    if measured and kind == "attribute":
        if head in EMPTY_HEADS:
            return []
        name, sort = _timed(parsed, name, place)
        return [made(parsed, name, place, subject=owner, learned=learned, kind=sort)]
    if kind in {"attribute", "setting"}:
        sort = kind if kind == "setting" else "attribute"
        fits = measured or _written(parsed, phrase, head, place, known=kind == "setting")
        return [made(parsed, name, place, subject=owner, learned=learned, kind=sort, many=False)] if fits else []
    loose = kind not in _SORTS - {"measure", "date"} or phrase.lows[0] == "the" or "and" in phrase.lows
    loose = loose and not (_named(parsed, place) and head in ROLES)
    return [made(parsed, name, place, subject=owner, learned=learned)] if measured or not loose else []


def _weekday(parsed: Parsed, place: Place) -> Place | None:
    """Return where a value stands that is a weekday and nothing else: "my dentist appointment is on Tuesday"."""
    inside = [w for w in parsed.words if place[0] <= w.start < place[1]]
    plain = len(inside) == 1 and inside[0].low in WEEKDAYS and not set(parsed.aux) & {"was", "were"}
    return place if plain and parsed.words[-1].start < place[1] else None


def _timed(parsed: Parsed, name: str, place: Place) -> tuple[str, str]:
    """Return the name and the sort of an attribute that is a day, a time of day, or any other number."""
    if any(s <= place[0] < e for s, e, _ in parsed.clause.at):
        return (name if name.endswith("date") else f"{name}_date"), "date"
    words = [w.low for w in parsed.words if place[0] <= w.start < place[1]]
    if words[-1] in {"am", "pm", "o'clock"} or _CLOCK.fullmatch(words[0]):
        return (name if name.endswith("time") else f"{name}_time"), "date"
    return name, "measure"


def _named(parsed: Parsed, place: Place) -> bool:
    """Return whether a value is a name of somebody, and the clause ends with it."""
    inside = [w for w in parsed.words if place[0] <= w.start < place[1]]
    last = parsed.words[-1]
    return len(inside) <= _NAMES and all(is_name(w) for w in inside) and last.start < place[1]


def _written(parsed: Parsed, phrase: Phrase, head: str, place: Place, *, known: bool) -> bool:
    """Return whether a value without a number reads as one: a name, an identifier, a word for a known setting.

    "The database is down" and "my editor is slow" say how something does, not what it is.
    """
    inside = [w for w in parsed.words if place[0] <= w.start < place[1]]
    before = parsed.words[parsed.at : parsed.words.index(inside[0])]
    last = parsed.words[-1]
    if last.start >= place[1] or set(parsed.aux) & {"was", "were", "been"} or len(inside) > _WORDS:
        return False
    if any(w.low in {"in", "on", "at", "by"} for w in before) or head in EMPTY_HEADS:
        return False
    named = is_name(inside[0]) and inside[0].low not in _SHOUTED and not (inside[0].low.endswith(("ing", "ed", "ly")))
    if head in THINGS:
        return any(is_name(w) for w in inside)
    if coded(inside[0]) and len(inside) == 1:
        return True
    if known:
        return not before and (named or not _state(inside))
    return named and not before and phrase.lows[0] != "the" or (named and head in ROLES)


def _state(inside: list[Word]) -> bool:
    """Return whether lower-case words tell a state rather than a value: "slow", "running out", "not found"."""
    low = inside[0].low
    return (
        low in _STATES
        or low.endswith(("ing", "ed", "ly", "ful", "ous", "able", "ible", "er", "est"))
        or low in NOT_EVENTS
    )


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
    versioned = name.endswith("_version")
    before = since_word
    if before is None and not measured:
        before = _index(parsed.clause, "from", to + 1, len(words) - 1)
    old = None if before is None else value_at(parsed.clause, before + 1)[0]
    if versioned and before is not None:
        was = version_at(parsed, before + 1)
        old = (was[1].start, was[1].end) if was is not None and was[0] == name else None
    sort = ("measure" if measured else "status") if predicates.row(name).type == "attribute" else ""
    sort = "address" if name.endswith("_location") else "setting" if versioned else sort
    if sort == "measure":
        name, sort = _timed(parsed, name, value)
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
        counted = measure_at(parsed.clause, begin)
        return ("it", f"{name_of(counted[1])}_count", place) if counted and counted[1] else None
    if stop > parsed.at + 1:  # "extended my goal to ..."
        phrase = Phrase(words[parsed.at + 1 : stop])
        own = phrase.lows[0] in OWNERS or phrase.lows[0] in {"the", "its"}
        found = _attribute(phrase, place, predicates, measured=measured) if own else None
        return (parsed.who, *found[1:]) if found and phrase.lows[0] in {"its"} else found
    value = phrase_at(parsed.clause, begin)
    if value is None:
        return None
    direct = words[parsed.at + 1].low in {"to", "from"}
    if direct and (found := version_at(parsed, begin)) is not None:
        return parsed.who, found[0], (found[1].start, found[1].end)
    if direct and value.lows[-1] in {"plan", "tier"} and len(value.words) > 1:
        return parsed.who, "plan", (value.start, value.end)
    if lemma in MOVING:
        return (parsed.who, "home", (value.start, value.end)) if is_name(value.words[0]) else None
    return _switched(parsed, value, predicates) if lemma in SWITCHING and direct else None


def _attribute(phrase: Phrase, place: Place, predicates: Predicates, *, measured: bool) -> _Change | None:
    owner, named = owned(phrase)
    name = predicates.name(named)
    if named.rpartition("_")[2] in PLACES and not measured:
        name = f"{named}_location"
    known = measured or predicates.row(name).type != "attribute"
    return (owner, name, place) if named and known else None


def _switched(parsed: Parsed, value: Phrase, predicates: Predicates) -> _Change | None:
    """Return "switched to Thursday deliveries" as a preference, "to Obsidian" as what is used."""
    if (days := day_named(value)) is not None:
        return parsed.who, predicates.name(f"{days[1]}_preference"), (days[0].start, days[0].end)
    person = parsed.who.lower() in PEOPLE or is_name(parsed.words[0])
    return (parsed.who, "use", (value.start, value.end)) if person else None
