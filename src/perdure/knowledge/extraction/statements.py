"""What a clause states: who, what about them, which value."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from perdure.knowledge.extraction.attributes import read_attributes
from perdure.knowledge.extraction.clauses import Clause
from perdure.knowledge.extraction.habits import OBJECTS, read_policy
from perdure.knowledge.extraction.kinds import kind_of
from perdure.knowledge.extraction.lemmas import base_verb, past_form
from perdure.knowledge.extraction.measurements import read_passing
from perdure.knowledge.extraction.parsed_clause import Parsed, RawClaim
from perdure.knowledge.extraction.phrases import OWNERS, PEOPLE, Phrase, is_name, name_of
from perdure.knowledge.extraction.relatives import Relative, as_owners, relative_at, relative_names
from perdure.knowledge.extraction.verb_patterns import read_acts
from perdure.knowledge.extraction.vocabulary import CHANGING
from perdure.knowledge.records.predicates import Predicates
from perdure.rules.language.words import STOP_WORDS, word_set

_CONTRACTED: Final = {"m": "am", "re": "are", "ve": "have", "s": "is"}
_ADVERBS: Final = word_set("""
    just recently already also really finally now currently usually still only both actually even officially totally
    definitely absolutely newly always often normally generally mostly mainly typically simply truly lately personally
    honestly originally since strongly much rather successfully again regularly sometimes all kinda sort-of pretty today
    once
    """)
_MODALS: Final = word_set("""
    would could might should will shall may must can can't cannot couldn't wouldn't won't shouldn't d ll gonna gotta
    want need hope plan wish try trying going hoping planning wanting intend wanna about ought supposed
    """)
_BE: Final = word_set("am is are was were be been being isn't aren't wasn't weren't")
_HAVE: Final = word_set("have has had haven't hasn't hadn't")
_DO: Final = word_set("do does did don't doesn't didn't")
_FINDING: Final = word_set("found learned heard saw noticed realised realized told")
_NP_VERBS: Final = (_BE | _HAVE | CHANGING | _DO) | word_set(
    "now works lives live loves likes prefers prefer hates plays runs run wants happen happens starts ends expires "
    "leaves departs arrives takes uses requires go goes"
)
_REPORTING: Final = word_set("say says said think thinks claim claims tell tells means mean believe believes")
_HAPPEN: Final = word_set("happen live run start go")
_NO_NAMES: Final = word_set(
    "please still try super like almost always maybe glad happy sorry love never thank great good nice cool awesome "
    "everyone no"
)
_PARTIES: Final = word_set("customer client vendor supplier partner")
_FIRMS: Final = word_set("company firm organisation organization agency")
_NP_LONGEST: Final = 9


class _Subject(NamedTuple):
    """Who, the noun phrase if it is one, where the verb begins, and what a contraction said of it."""

    who: str
    phrase: Phrase | None
    at: int
    implied: tuple[str, ...] = ()


def read_clause(clause: Clause, predicates: Predicates) -> list[RawClaim]:
    """Return what a clause states; nothing if no rule can read it."""
    clause = _without_finding(clause)
    if found := read_policy(clause, predicates):
        return found
    names = list(relative_names(clause))
    relative = relative_at(clause)
    if relative is None:
        return [*names, *_read_statement(clause, _subject(clause, predicates), predicates)]
    if not relative.name:
        return [*names, *_of_relative(clause, relative, predicates)]
    rest = Clause(clause.words[relative.at :], clause.words[relative.at].start, clause.end, clause.at)
    return [*names, *_read_statement(rest, _name_subject(rest, sure=True), predicates)]


def _read_statement(clause: Clause, subject: _Subject | None, predicates: Predicates) -> list[RawClaim]:
    parsed = None if subject is None else _parse(clause, subject, predicates)
    if parsed is None:
        return read_passing(clause, predicates)
    found = read_attributes(parsed) if parsed.phrase is not None else []
    return found or [*read_acts(parsed), *read_passing(clause, predicates)]


def _of_relative(clause: Clause, relative: Relative, predicates: Predicates) -> list[RawClaim]:
    """Return what is said of "my daughter": her attributes as a noun phrase's, her acts as a person's."""
    at = relative.at
    phrase = Phrase(clause.words[:at])
    parsed = None
    if at < len(clause.words) and not clause.low(at - 1).endswith("'s"):
        parsed = _parse(clause, _Subject(phrase.said, phrase, at), predicates)
    found = [] if parsed is None else read_attributes(parsed)
    if found or parsed is None or not relative.close:
        return found or _read_statement(clause, _subject(clause, predicates), predicates)
    acts = read_acts(replace(parsed, phrase=None))
    kept = [as_owners(relative, s) if s.subject == phrase.said else s for s in acts]
    return [*(s for s in kept if s is not None), *read_passing(clause, predicates)]


def _without_finding(clause: Clause) -> Clause:
    """Return what somebody found out, without the words that say so: "I just found out it was ..."."""
    if clause.low(0) not in {"i", "we", "i've", "i'm"}:
        return clause
    for found in range(1, 5):
        if clause.low(found) in _FINDING:
            at = found + 1 + (clause.low(found + 1) == "out")
            at += clause.low(at) == "that"
            if clause.low(at) in {*PEOPLE, *OWNERS, "it", "the"}:
                return Clause(clause.words[at:], clause.words[at].start, clause.end, clause.at)
    return clause


def _subject(clause: Clause, predicates: Predicates) -> _Subject | None:
    words = clause.words
    first, _, tail = words[0].low.partition("'")
    if first in PEOPLE or first == "it":
        said = words[0].said.partition("'")[0].partition("’")[0]  # noqa: RUF001
        return _Subject("I" if first == "i" else said, None, 1, (_CONTRACTED.get(tail, tail),) if tail else ())
    if _is_described(clause):
        return _Subject(f"{words[0].said} {words[1].said}", None, 2)
    if words[0].low in OWNERS or words[0].low == "the":
        return _noun_subject(clause)
    bare = _noun_subject(clause)
    if bare is not None and (_known(bare.phrase, predicates) or _many(clause)):
        return bare
    return _name_subject(clause)


def _is_described(clause: Clause) -> bool:
    """Return whether somebody who was named before does something: "the customer prefers", "our client moved to"."""
    first, second, third = (clause.low(at) for at in range(3))
    if not clause.low(3) or third in _BE | _HAVE:  # "the customer is Acme" names one
        return False
    return second in _PARTIES if first == "our" else first in {"the", "this", "that"} and second in _PARTIES | _FIRMS


def _many(clause: Clause) -> bool:
    """Return whether a clause begins with a plural and a verb of things: "deploys happen", "tests live in"."""
    first, second, third = (clause.low(at) for at in range(3))
    plural = bool(clause.low(3)) and first.endswith("s") and first not in STOP_WORDS
    return plural and second in _HAPPEN and third in {"on", "in", "at", "to"}


def _known(phrase: Phrase | None, predicates: Predicates) -> bool:
    """Return whether a noun phrase without an owner names an attribute: "payment terms are NET 30"."""
    if phrase is None or len(phrase.words) > 4 or any(w.low.endswith("'s") for w in phrase.words):  # noqa: PLR2004
        return False
    return kind_of(predicates, predicates.name(name_of(phrase.lows))) in {"policy", "date", "measure", "contact"}


def _noun_subject(clause: Clause) -> _Subject | None:
    """Return a subject of several words, ended by the first word that can only be its verb."""
    for at, word in enumerate(clause.words[1 : _NP_LONGEST + 1], 1):
        if word.low in _REPORTING:
            return None  # "the docs say the limit is 500"
        relative = word.low in {"which", "that"}
        if word.low in _NP_VERBS or (at > 1 and relative):
            if at < 2 and clause.words[0].low in {*OWNERS, "the"}:  # noqa: PLR2004
                return None
            phrase = Phrase(clause.words[:at])
            return _Subject(phrase.said, phrase, at + relative)
        if word.low.endswith("'s") and clause.low(at + 1) in {"a", "an", "the", "called", "named"}:
            return None
    return None


def _name_subject(clause: Clause, *, sure: bool = False) -> _Subject | None:
    """Return a subject that is a name; ``sure``: what stands before it shows that it is one."""
    words, at = clause.words, 0
    while at < min(4, len(words)) and is_name(words[at]):
        at += 1
        if words[at - 1].low.endswith("'s"):
            return _possessive_subject(clause, at)
    if at == 0 or at >= len(words) or (at == 1 and not sure and _no_name(words[0].low)):
        return None
    return _Subject(Phrase(words[:at]).said, None, at)


def _no_name(low: str) -> bool:
    """Return whether the word that begins a clause has its capital from there: "Sounds like fun"."""
    return low in _NO_NAMES or low.endswith(("ing", "ly")) or base_verb(low) != low


def _possessive_subject(clause: Clause, at: int) -> _Subject | None:
    """Return "Ann's phone number" as a noun phrase; "Ann's a nurse" is a name and a verb."""
    words = clause.words
    if at >= len(words):
        return None
    if words[at].low in {"a", "an", "the", "not", "in", "from", "my"}:
        return _Subject(Phrase(words[:at]).said[:-2], None, at, ("is",))
    for end, word in enumerate(words[at : at + 6], at):
        if word.low in _NP_VERBS:
            return _Subject(Phrase(words[:end]).said, Phrase(words[:end]), end)
    return None


def _parse(clause: Clause, subject: _Subject, predicates: Predicates) -> Parsed | None:
    """Return the clause with its verb, or None if it says only what could, will or would be."""
    at, aux, denied, never = subject.at, list(subject.implied), False, False
    if not _MODALS.isdisjoint(aux):
        return None
    while low := clause.low(at):
        if low in _MODALS and not (low in {"plan", "need", "about"} and aux):
            return _read_modal(Parsed(clause, predicates, subject.who, subject.phrase, at, tuple(aux), denied, never))
        negated = low in {"not", "never"} or low.endswith("n't")
        denied, never = denied or negated, never or low == "never"
        if low in _BE or low in _DO or (low in _HAVE and _is_auxiliary(clause, at)):
            aux.append(low.removesuffix("n't"))
        elif low not in _ADVERBS and low not in {"not", "never"}:
            return Parsed(clause, predicates, subject.who, subject.phrase, at, tuple(aux), denied, never)
        at += 1
    return None


def _read_modal(parsed: Parsed) -> Parsed | None:
    """Return a clause that tells something in spite of its modal: "they want deliveries", "I can't stand queues"."""
    low, after = parsed.low, parsed.low_at(parsed.at + 1)
    if low == "want" and after not in {"", *OBJECTS}:
        return parsed
    if low in {"can't", "cannot"} and after in {"stand", "bear"}:
        return replace(parsed, at=parsed.at + 1, aux=(*parsed.aux, low), denied=False)
    return None


def _is_auxiliary(clause: Clause, at: int) -> bool:
    """Return whether "have" helps another verb: a participle follows."""
    for word in clause.words[at + 1 : at + 4]:
        if word.low not in _ADVERBS and word.low not in {"not", "never"}:
            return word.low in {"been", "got"} or past_form(word.low)
    return False
