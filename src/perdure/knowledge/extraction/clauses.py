"""Clauses: the parts of a message that state something, as words in a plain order with their subject and verb."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from perdure.knowledge.extraction.dates import dates_in
from perdure.knowledge.extraction.words import (
    OWNERS,
    PEOPLE,
    TextSpan,
    Word,
    Words,
    base_verb,
    is_name,
    past_form,
    words_of,
)
from perdure.knowledge.languages import WORDS
from perdure.records.instant import Instant

_QUOTED: Final = re.compile(r"[\"“][^\"”\n]{1,400}[\"”]")
_ITEM: Final = r"[\w'-]+(?:\s[\w'-]+){0,2}"
_TOGETHER: Final = re.compile(
    rf"\s(?:(?:and\s)?not\b|rather\b|instead\b|(?:19|20)\d\d\b|{_ITEM}(?:,\s{_ITEM}){{0,5}},?\s(?:and|or)\s{_ITEM}\Z)",
    re.IGNORECASE,
)
"""What follows a comma that parts no clauses: the rest of a list, a year, "not"."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that states something."""

    subject: Words
    verb: str  # its base form
    rest: Words  # what follows the verb
    start: int  # where it begins in the text
    end: int  # where its last word ends
    dates: tuple[tuple[int, int, Instant], ...]  # the days that it names: (start, end, instant) of each
    verb_at: TextSpan = (0, 0)  # where its verb stands
    denied: bool = False  # it says "not", "never" or "no longer"
    ended: bool = False  # it says that something holds no more
    past: bool = False  # it tells of the past
    perfect: bool = False  # it says "have" before a participle

    def day_beside(self, *places: TextSpan) -> Instant | None:
        """Return the day that it names beside some values."""
        return next((at for s, e, at in self.dates if all(e <= p[0] or s >= p[1] for p in places)), None)

    def date_at(self, word: Word) -> TextSpan | None:
        """Return where the day stands that a word belongs to."""
        return next(((s, e) for s, e, _ in self.dates if s <= word.start < e), None)


@cache
def _split_pattern() -> re.Pattern[str]:
    starters = "|".join(map(re.escape, sorted(WORDS["starters"], key=len, reverse=True)))
    joining, verbs = "|".join(WORDS["joining"]), "|".join(WORDS["joined"])
    return re.compile(
        rf"[;—–()\[\]…]|:(?=\s)|\.{{2,}}|\s-{{1,2}}\s"  # noqa: RUF001  # dashes are meant
        rf"|,?\s(?=(?:{joining})\s(?:(?:also|then|now|that|recently|just)\s)?(?:{starters})(?:\s|\Z))"
        rf"|,?\s(?=(?:because|cos|cuz|but)\s)|,?\s(?=so\s(?!(?:much|many|far|that|bad|good|long|often)\b))"
        rf"|(?P<comma>,)(?=\s)|,?\s(?P<and>and)\s(?=(?:also\s)?(?:{verbs})\s\w)",
        re.IGNORECASE,
    )


def clauses(text: str, start: int, end: int, said_at: Instant) -> list[Clause]:
    """Return the clauses of one sentence that state something and that can be read.

    A clause that asks ends what is stated. A sentence that ends with a question mark states only what stands before
    such a clause. What a supposing clause says, and what follows it, is not known.
    """
    quotes = [q.span() for q in _QUOTED.finditer(text, start, end)]
    found: list[Clause] = []
    before: Words = ()
    for begin, stop, goes_on in parts(text, start, end):
        words = words_of(text, begin, stop)
        if not words or any(q <= words[0].start < r for q, r in quotes):
            continue
        if _asks(words):
            return found
        if WORDS["supposing"].intersection(w.low for w in words):
            if words[0].low == "i" and WORDS["reporting"].intersection(w.low for w in words):
                continue  # "I told you wrong, ..."
            break
        clause = _clause(text, words, before if goes_on else (), said_at)
        if clause is not None:
            found.append(clause)
            before = clause.subject
    return [] if text[start:end].endswith("?") else found


def parts(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Return where the clauses of a sentence stand, and whether each goes on with the subject of the one before."""
    begin, goes_on = start, False
    for cut in _split_pattern().finditer(text, start, end):
        if cut["comma"] and _holds_together(text, cut.start(), cut.end(), end):
            continue
        if cut.start() > begin:
            yield begin, cut.start(), goes_on
        begin, goes_on = cut.end(), bool(cut["and"])
    if begin < end:
        yield begin, end, goes_on


def _holds_together(text: str, comma: int, after: int, end: int) -> bool:
    follows = text[after : min(end, after + 80)]
    named = re.search(r"[A-Z][\w.'-]*\Z", text[max(0, comma - 30) : comma]) and re.match(r"\s[A-Z]", follows)
    return bool(named and not re.match(r"\s(?:I|I'[a-z]+)\b", follows)) or _TOGETHER.match(follows) is not None


def _asks(words: Words) -> bool:
    lows = [w.form.lower() for w in words[:6]]
    while lows and lows[0] in WORDS["leading"]:
        lows = lows[1:]
    if not lows:
        return False
    if lows[0] in WORDS["asking"]:
        return True
    inverted = lows[0] in WORDS["inverted"] and len(lows) > 1 and (lows[1] in WORDS["starters"] or lows[1] == "not")
    return inverted and not (lows[0] in {"do", "have"} and lows[1] == "not" and len(lows) > 2 and lows[2] not in PEOPLE)  # noqa: PLR2004


def _clause(text: str, words: Words, before: Words, said_at: Instant) -> Clause | None:
    """Return a clause with its subject and verb, or None if it has none that can be recognised."""
    first, end = words[0].start, words[-1].end
    dates = tuple((first + s, first + e, at) for s, e, at in dates_in(text[first:end], said_at))
    words = _without_openings(words, dates)
    words, ended = _without_tail(words)
    if not words:
        return None
    start = words[0].start
    if not before and len(words) > 1 and words[0].low in WORDS["dropped"]:
        words = (Word("I", start, start), *words)  # "stopped taking statins"
    stop = _subject_end(words)
    subject, rest = words[:stop], words[stop:]
    if not subject and before:
        subject, start = before, before[0].start
    plain = Clause(subject, "", rest, start, end, dates, ended=ended, denied=ended)
    return _with_verb(plain) if subject else None


def _without_openings(words: Words, dates: Sequence[tuple[int, int, Instant]]) -> Words:
    """Return words without what leads a clause in: "well", "by the way", "since last May"."""
    while words:
        day = next((e for s, e, _ in dates if s == words[0].start), None)
        phrase = next((o for o in _phrases("openings") if [w.low for w in words[: len(o)]] == o), None)
        if day is not None:
            words = tuple(w for w in words if w.start >= day)
        elif phrase:
            words = words[len(phrase) :]
        elif words[0].low in WORDS["leading"] or words[0].form == ",":
            words = words[1:]
        else:
            break
    return words


_NO_MORE: Final = (["anymore"], ["any", "more"], ["any", "longer"], ["no", "more"])


def _without_tail(words: Words) -> tuple[Words, bool]:
    """Return words without what only says when or how much at the end, and whether it says "any more"."""
    ended = False
    while words:
        lows = [w.low for w in words]
        over = next((n for n in _NO_MORE if lows[-len(n) :] == n), None)
        tail = next((t for t in _phrases("trailing") if lows[-len(t) :] == t), None)
        if over:
            ended, words = True, words[: -len(over)]
        elif tail and len(tail) < len(words):
            words = words[: -len(tail)]
        elif lows[-1] == ",":
            words = words[:-1]
        else:
            break
    return words, ended


@cache
def _phrases(name: str) -> tuple[list[str], ...]:
    return tuple(phrase.split("|") for phrase in sorted(WORDS[name], key=len, reverse=True))


def _subject_end(words: Words) -> int:
    """Return how many words the subject has; 0 where none can be recognised."""
    low = words[0].low
    if low in PEOPLE:
        return 1
    if low in OWNERS and (name_end := _named_relative(words)):
        return name_end
    if low in OWNERS or low in {"the", "this"}:
        return _before_verb(words, 1)
    if is_name(words[0]) and low not in WORDS["openers"]:
        at = 1
        while at < len(words) and (is_name(words[at]) or words[at].low in WORDS["linking"]):
            at += 1
        if at < len(words) and words[at].low == "'s":
            nothing = at + 1 < len(words) and words[at + 1].low in {"a", "an", "the", "not", "in", "from"}
            return at if nothing else _before_verb(words, at + 1)
        return at if at < len(words) and not _is_odd_opening(words, at) else 0
    return 0


def _named_relative(words: Words) -> int:
    """Return where the name of somebody ends who is named by a relation: "my sister Rita", "our dog Bruno"; else 0."""
    at = next((i + 1 for i, w in enumerate(words[:4]) if w.low in WORDS["kin"] | WORDS["offices"]), 0)
    stop = at
    while at and stop < len(words) and is_name(words[stop]) and words[stop].low not in WORDS["not_names"]:
        stop += 1
    possessive = stop < len(words) and words[stop].low == "'s"
    return stop if stop > at and not possessive else 0


def _is_odd_opening(words: Words, at: int) -> bool:
    """Return whether a single capitalised word is a verb before a word that is none in its place: "Sounds like fun"."""
    low, verb = words[0].low, words[at].low
    odd = base_verb(low) != low and low.endswith(("s", "ed", "ing"))
    return at == 1 and odd and base_verb(verb) == verb and verb not in {"is", "has"}


def _before_verb(words: Words, at: int) -> int:
    """Return the index of the first word that can only be the verb, not far from the beginning."""
    for index in range(at + 1, min(len(words), 10)):
        if words[index].form == ",":
            return 0
        low = words[index].low
        if low == "'s" and index + 1 < len(words) and words[index + 1].low in {"a", "an", "the", "called", "named"}:
            return index
        follows = words[index + 1].low if index + 1 < len(words) else ""
        if low in WORDS["np_verbs"] and (follows not in WORDS["be"] or low in WORDS["have"]):
            return index  # "my favorite drink is" ends with "drink"
    return 0


def _with_verb(clause: Clause) -> Clause | None:
    """Return a clause with its verb in the base form, what helps it left out; None if it is only wished or supposed."""
    words, at = clause.rest, 0
    while at < len(words) and (helped := _with_auxiliary(clause, words, at)) is not None:
        clause, at = helped[0], at + helped[1]
        if clause.denied and at < len(words) and words[at].low in WORDS["half_denied"]:
            return None
    return _main_verb(clause, at) if at < len(words) else None


def _with_auxiliary(clause: Clause, words: Words, at: int) -> tuple[Clause, int] | None:  # noqa: PLR0911  # one for each kind
    """Return a clause with what a word before the verb says, and how many words that are; None at the verb itself."""
    low, follows = words[at].low, words[at + 1].low if at + 1 < len(words) else ""
    if low in {"not", "never"}:
        return replace(clause, denied=True), 1
    if (low, follows) == ("no", "longer"):
        return replace(clause, denied=True, ended=True), 2
    if (low, follows) == ("used", "to"):
        return replace(clause, past=True), 2
    if low in {"do", "does", "did"} and _helps(words, at):
        return replace(clause, past=clause.past or low == "did"), 1
    if low in {"have", "has", "had"} and _is_participle(_helped_verb(words, at + 1)):
        return replace(clause, perfect=clause.perfect or low != "had", past=clause.past or low == "had"), 1
    if low in WORDS["be"] and _is_progressive(_helped_verb(words, at + 1)):
        return replace(clause, past=clause.past or low in WORDS["past_be"]), 1
    if low == "now" or low in WORDS["adverbs"]:
        return clause, 1
    return None


def _helps(words: Words, at: int) -> bool:
    return at + 1 < len(words) and words[at + 1].low not in WORDS["determiners"] | WORDS["prepositions"]


def _helped_verb(words: Words, at: int) -> str:
    """Return the verb that one before it helps, what stands between left out: "have not really used"."""
    between = WORDS["adverbs"] | {"not", "never", "no", "longer"}
    return next((w.low for w in words[at : at + 3] if w.low not in between), "")


def _is_participle(verb: str) -> bool:
    return verb in {"been", "had"} or (past_form(verb) and verb not in {"set", "put"})


def _is_progressive(verb: str) -> bool:
    """Return whether "be" helps another verb: "am living", "have been working"."""
    return verb.endswith("ing") and base_verb(verb) in WORDS["progressive"]


def _main_verb(clause: Clause, at: int) -> Clause | None:
    words = clause.rest
    low, rest = words[at].low, words[at + 1 :]
    clause = replace(clause, verb_at=(words[at].start, words[at].end))
    if low in WORDS["modals"]:
        return _modal(clause, low, rest)
    if low in WORDS["be"] | {"'s"}:
        return replace(_complement(clause, rest), verb="be", past=clause.past or low in WORDS["past_be"])
    verb = base_verb(low)
    past = clause.past or (
        past_form(low)
        and not clause.perfect
        and low not in {"read", "put", "set", "cut", "quit", "cost"}
        and verb != low
    )
    return replace(clause, verb=verb, rest=rest, past=past)


def _complement(clause: Clause, rest: Words) -> Clause:
    """Return what follows "be" without adverbs; "is not" and "is no longer" deny."""
    denied, ended, at = clause.denied, clause.ended, 0
    while at < len(rest) and (rest[at].low in WORDS["adverbs"] | {"not", "now", "no"}):
        low, follows = rest[at].low, rest[at + 1].low if at + 1 < len(rest) else ""
        if low == "no" and follows != "longer":
            break
        denied = denied or low in {"not", "no"}
        if low == "no":
            ended, at = True, at + 1
        at += 1
    return replace(clause, rest=rest[at:], denied=denied, ended=ended)


def _modal(clause: Clause, low: str, rest: Words) -> Clause | None:
    """Return what is stated in spite of a modal: "would rather", "can't stand", "wants deliveries"."""
    denied = clause.denied or (bool(rest) and rest[0].low == "not")
    rest = rest[1:] if rest and rest[0].low == "not" else rest
    follows = rest[0].low if rest else ""
    if low == "can" and denied and follows in {"stand", "bear"}:
        return replace(clause, verb="hate", rest=rest[1:])
    if low == "can" and denied and follows in {"eat", "drink", "tolerate"}:
        return replace(clause, verb=follows, rest=rest[1:], denied=True)
    if low in {"want", "wants"} and follows not in WORDS["wishes"]:
        return replace(clause, verb="want", rest=rest)
    return None
