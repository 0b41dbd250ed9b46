"""What a sentence says, phrase by phrase in a normal form, so that two wordings of one statement can be compared.

A clause has a core and phrases, each led in by a preposition. Inside a core or a phrase the order of words tells who
does what to whom, so it counts; where the phrases stand in their clause says nothing. The passive is read as the
active, "the X of Y" as "Y's X", and a date or a time as a phrase of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from perdure.rules.language.amounts import read_amounts
from perdure.rules.language.sentence_items import PREPOSITIONS, PRESENT, WAS, Item, adjectives_first, place_last
from perdure.rules.language.tokens import Kind, Piece
from perdure.rules.language.verbs import COMMON_VERBS
from perdure.rules.language.word_forms import EXPRESSIONS, LONGEST_EXPRESSION, PAST, SYNONYMS, word_forms
from perdure.rules.language.words import CALENDAR, STOP_WORDS, TURNING, word_set

MAIN: Final = ""
DATE, TIME = "date", "time"
_CONJUNCTIONS: Final = word_set(
    "if because before after while until unless since although though whereas but so and or then"
)
_PLACES: Final = {"at": "in", "inside": "in", "within": "in"}  # which of these is said depends on the word that follows
_EVERY: Final = word_set("every last next this")
_PERIODS: Final = word_set("hour day night morning afternoon evening week weekend month quarter year spring summer")
_BETWEEN_AUXILIARIES: Final = word_set("not only already still being been")
_SILENT: Final = word_set("it its that there do does doing very really also please oh hey just")
_NO_ADVERB: Final = word_set("""
    only early family reply apply supply july italy assembly fly rely ally anomaly likely friendly weekly daily monthly
    yearly hourly nightly nearly almost hardly barely rarely seldom ugly lonely lovely holy jelly belly bully rally
    elderly
    """)
MEASURES: Final = _PERIODS | word_set("second minute percent euro dollar pound degree metre litre kilometre")
LY: Final = "ly"
_LEADS: Final = word_set("decision note reminder fyi important update")
"""Words before a colon that only say what sort of note it is."""
_EXPANSION_KINDS: Final[dict[str, Kind]] = {"must": "modal", "can": "modal", "instead": "negation"}
_DAYS: Final = {f"{day}s" for day in CALENDAR if day.endswith("day")}


@dataclass(slots=True)
class ParsedClause:
    """A statement, or what "and", "if" and the like add to it."""

    marker: str  # the word that leads it in; empty for the first
    core: list[Item] = field(default_factory=list)
    phrases: list[tuple[str, list[Item]]] = field(default_factory=list)  # (preposition, ``date`` or ``time``, items)

    def runs(self) -> list[tuple[str, list[Item]]]:
        """Return the core and the phrases, each with what tells it from the others."""
        return [(self.marker, self.core), *((f"{self.marker} {m}", items) for m, items in self.phrases)]


def read_items(pieces: Sequence[Piece]) -> list[Item]:
    """Return what a sentence's pieces say, each expression as what it means; a colon is said as "is"."""
    found: list[Item] = []
    apart = False
    for number, piece in enumerate(pieces):
        if not piece.said:
            if piece.text == ":" and len(found) == 1 and found[0].value in _LEADS:
                found.clear()
            elif piece.text in {":", "="} and found:
                found.append(Item("word", "is", apart=True))
            apart = apart or (piece.text[0] in ",;:()–—-\n" and not _hyphen(pieces, number))  # noqa: RUF001  # typographic dashes are meant
        for kind, value in piece.said:
            kind_of = "date" if value in _DAYS else kind
            found.append(Item(kind_of, "not" if value == "never" else value, apart and bool(found)))
            apart = False
    resolved = _resolve(adjectives_first(place_last(read_amounts(found))))
    while resolved and resolved[-1].value == "is":
        resolved.pop()
    return [replace(item, forms=word_forms(item.value)) for item in _drop_articles(resolved)]


def _hyphen(pieces: Sequence[Piece], at: int) -> bool:
    mark, before, after = pieces[at], pieces[at - 1 : at], pieces[at + 1 : at + 2]
    return mark.text == "-" and any(b.end == mark.start for b in before) and any(a.start == mark.end for a in after)


def _resolve(items: list[Item]) -> list[Item]:
    found: list[Item] = []
    at = 0
    while at < len(items):
        for length in range(min(LONGEST_EXPRESSION, len(items) - at), 0, -1):
            expansion = EXPRESSIONS.get(tuple(item.value for item in items[at : at + length]))
            if expansion is not None:
                found += [
                    replace(items[at], kind=_EXPANSION_KINDS.get(w, "word"), value=w, apart=n == 0 and items[at].apart)
                    for n, w in enumerate(expansion)
                ]
                break
        else:
            length = 1
            found.append(items[at])
        at += length
    return found


def _drop_articles(items: list[Item]) -> list[Item]:
    found: list[Item] = []
    opens = apart = False
    for item in items:
        if item.kind == "word" and item.value in {"a", "an", "the"}:
            opens, apart = True, apart or item.apart
        elif item.value != "'s":
            found.append(replace(item, opens=True, apart=apart or item.apart) if opens else item)
            opens = apart = False
    return found


# --- clauses


@dataclass(slots=True)
class _Reading:
    """The place in a sentence that has been reached."""

    clauses: list[ParsedClause]
    clause: ParsedClause
    into: list[Item]  # where the next item goes
    marker: str = ""  # of that phrase; empty for a core
    insert: int | None = None  # where in it, if not at its end
    passive: tuple[int, int] | None = None  # in the core: where its auxiliaries start, and the verb

    def begin_clause(self, marker: str) -> None:
        self.close()
        self.clause = ParsedClause(SYNONYMS.get(marker, marker))
        self.clauses.append(self.clause)
        self.to_core()

    def begin_phrase(self, marker: str) -> None:
        self.into, self.marker, self.insert = [], _PLACES.get(marker, marker), None
        self.clause.phrases.append((self.marker, self.into))

    def to_core(self) -> None:
        self.into, self.marker, self.insert = self.clause.core, "", None

    def add(self, item: Item) -> None:
        if self.insert is None:
            self.into.append(item)
        else:
            self.into.insert(self.insert, item)
            self.insert += 1

    def close(self) -> None:
        """End a clause: what is said in the passive is said in the active."""
        if self.passive is None:
            return
        (start, verb), core = self.passive, self.clause.core
        rule = any(i.value == "must" for i in core[start:verb])  # "must be done" without a doer is "do it"
        agent = [] if rule else [Item("word", "we", forms=frozenset({"we", "someone"}))]
        for number, (marker, items) in enumerate(self.clause.phrases):
            if marker == "by" and _is_agent(items):
                agent = items
                del self.clause.phrases[number]
                break
        verbs = [i for i in core[start : verb + 1] if agent or i.value != "must"]
        self.clause.core[:] = [*agent, *verbs, *core[:start], *core[verb + 1 :]]
        self.passive = None


def _is_agent(items: Sequence[Item]) -> bool:
    """Return whether "by" leads in who does something: "by four people", not "by 5" or "by Monday"."""
    nouns = [i for i in items[1:2] if i.kind == "word" and i.forms.isdisjoint(MEASURES)]
    return bool(items) and items[0].kind != "date" and (items[0].kind != "number" or bool(nouns))


def read_clauses(items: Sequence[Item]) -> list[ParsedClause]:
    """Return the clauses of a sentence in order, of those with the same marker."""
    first = ParsedClause(MAIN)
    at = _Reading([first], first, first.core)
    skip = 0
    for number, item in enumerate(items):
        if skip:
            skip -= 1
            continue
        skip = _take(at, items, number, item)
    at.close()
    for clause in at.clauses:
        _normalise(clause)
    return sorted((c for c in at.clauses if c.core or c.phrases or not c.marker), key=lambda c: c.marker)


def _take(at: _Reading, items: Sequence[Item], number: int, item: Item) -> int:
    """Put one item where it belongs, and return how many after it are done as well."""
    rest = items[number + 1 :]
    if item.apart:
        _leave(at)
    if item.kind == "date":
        _add_date(at, item)
    elif at.marker in {DATE, TIME} and item.kind == "number":
        at.add(item)
    elif item.value in PRESENT | WAS or item.value in {"have", "has", "had"}:
        return _read_verb(at, rest, item)
    elif item.kind == "negation" and (item.apart or item.value in {"without", "instead"}):
        at.begin_phrase("not")  # "in Redis, not in the database"
    elif item.kind == "word" and item.value.endswith(LY) and item.value not in _NO_ADVERB | TURNING | STOP_WORDS:
        at.clause.phrases.append((LY, [item]))  # "carelessly" says the same wherever in its clause it stands
    elif item.kind == "word" and _marks(at, rest, item):
        return 0
    else:
        _add_plain(at, item)
    return 0


def _leave(at: _Reading) -> None:
    """After a comma the first clause goes on, unless it is only its phrase that ended."""
    if at.clause.marker and at.clause.marker not in {"and", "or", "but"}:
        at.close()
        at.clause = at.clauses[0]
    at.to_core()


def _marks(at: _Reading, rest: Sequence[Item], item: Item) -> bool:
    value = SYNONYMS.get(item.value, item.value)
    if value in PREPOSITIONS and at.marker == "not" and not at.into:
        return True
    if value in {"and", "or"} and _joins_two(at, rest):
        at.add(item)
    elif value in _CONJUNCTIONS:
        at.begin_clause(value)
    elif value in _EVERY and rest and (_is_period(rest[0]) or rest[0].kind in {"date", "number"}):
        at.begin_phrase(value)
    elif value == "of":
        if at.marker != "instead" or at.into:
            opening = [n for n, i in enumerate(at.into) if i.opens or i.value == "="]
            at.insert = opening[-1] + (at.into[opening[-1]].value == "=") if opening else 0
    elif value in PREPOSITIONS:
        at.begin_phrase(value)
    else:
        return value in _SILENT
    return True


def _joins_two(at: _Reading, rest: Sequence[Item]) -> bool:
    """Return whether "and" joins the last thing said and one other of its sort, and no more."""
    before = at.into[-1] if at.into else None
    if before is None or not rest or before.kind != rest[0].kind:
        return False
    after = rest[1] if len(rest) > 1 else None
    return (
        after is None
        or after.apart
        or after.opens
        or after.value in PREPOSITIONS | PRESENT | WAS
        or after.kind == "modal"
    )


def _is_period(item: Item) -> bool:
    return not item.forms.isdisjoint(_PERIODS)


def _read_verb(at: _Reading, rest: Sequence[Item], item: Item) -> int:
    """Read "is", "was" and "has": with the verb that follows as one verb, or as themselves; return what is done."""
    between = next((n for n, i in enumerate(rest) if i.value not in _BETWEEN_AUXILIARIES), len(rest))
    verb = rest[between] if between < len(rest) and not rest[between].opens else None
    had = item.value in {"have", "has", "had"}
    past = verb is not None and verb.kind == "word" and any(f.endswith(PAST) for f in verb.forms)
    if had and not past:
        _add_plain(at, item)
        return 0
    at.to_core()
    start = len(at.into)
    at.into += [i for i in rest[:between] if i.value not in PRESENT | WAS]
    if verb is not None and past:
        at.add(verb if had or item.value in WAS else _in_present(verb))
        if not had and at.passive is None:
            at.passive = (_first_auxiliary(at.into, start), len(at.into) - 1)
        return between + 1
    if verb is not None and verb.kind == "word" and verb.value.endswith("ing") and len(verb.forms) > 1:
        at.add(replace(verb, forms=frozenset(f + PAST for f in verb.forms)) if item.value in WAS else verb)
        return between + 1
    mark = PAST if item.value in WAS else ""
    at.add(Item("word", "=", forms=frozenset({"=" + mark, "happen" + mark})))
    return between


def _in_present(verb: Item) -> Item:
    """Return the verb of "is done" as that of "do": not what "was done" says."""
    return replace(verb, forms=frozenset(f.rstrip(PAST) for f in verb.forms if f.endswith(PAST)))


def _first_auxiliary(core: Sequence[Item], end: int) -> int:
    while end and core[end - 1].kind in {"modal", "negation"}:
        end -= 1
    return end


def _add_date(at: _Reading, item: Item) -> None:
    marker = TIME if ":" in item.value else DATE
    if at.marker in {"on", "in", "at"} and all(i.kind == "number" for i in at.into):
        before = at.clause.phrases.pop()[1]
    elif at.marker not in {"", "on", "in", "at", DATE, TIME} or (at.marker == marker):
        at.add(item)
        return
    else:
        before = [at.into.pop()] if at.into and at.into[-1].kind == "number" and at.insert is None else []
    at.begin_phrase(marker)
    at.into += [*before, item]


def _add_plain(at: _Reading, item: Item) -> None:
    if at.marker in _EVERY and at.into and at.into[-1].kind == "date" and _is_period(item):
        at.add(item)  # "every Friday afternoon"
        return
    ended = at.marker in {DATE, TIME} or (at.marker in _EVERY and at.into and at.into[-1].kind != "number")
    opened = item.opens and bool(at.into) and at.into[-1].value not in {"and", "or"}
    if item.value == "and" and at.marker in {DATE, TIME}:
        at.add(item)
        return
    if ended or (opened and (at.marker or at.insert)) or _is_finite(at, item) or _opens_core(at, item):
        at.to_core()
    at.add(item)


def _opens_core(at: _Reading, item: Item) -> bool:
    """Return whether a word follows an amount that opens a sentence: "for 30 days" | "backups are kept"."""
    if at.clause.core or not at.marker or len(at.into) < 2 or item.kind != "word" or item.value in PREPOSITIONS:  # noqa: PLR2004
        return False
    number, measure = at.into[-2:]
    return number.kind == "number" and measure.value.endswith("s") and not measure.forms.isdisjoint(MEASURES)


def _is_finite(at: _Reading, item: Item) -> bool:
    """Return whether an item is the verb that the core goes on with after a phrase."""
    inside = (at.marker and at.into) or at.insert
    if not inside or item.kind != "word" or item.value in PREPOSITIONS:
        return False
    present = item.value.endswith("s") and not item.forms.isdisjoint(COMMON_VERBS)
    return present or any(form.endswith(PAST) for form in item.forms)


def _normalise(clause: ParsedClause) -> None:
    """Put the two that "and" joins in one order, and those of a date; what is used as something is used for it."""
    for _, items in [("", clause.core), *clause.phrases]:
        for n, item in enumerate(items[1:-1], 1):
            if item.value in {"and", "or"} and items[n + 1].value < items[n - 1].value:
                items[n - 1], items[n + 1] = items[n + 1], items[n - 1]
    if any("use" in i.forms or "use" + PAST in i.forms for _, items in clause.runs() for i in items):
        clause.phrases = [("for" if m == "as" else m, items) for m, items in clause.phrases]
    for marker, items in clause.phrases:
        if marker == DATE:
            items.sort(key=lambda i: i.value)
