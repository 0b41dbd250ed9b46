"""What a clause states: who, what about them, which value."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.attributes import read_attributes
from perdure.knowledge.extraction.clauses import Clause
from perdure.knowledge.extraction.habits import OBJECTS, read_policy
from perdure.knowledge.extraction.lemmas import base_verb, past_form
from perdure.knowledge.extraction.measurements import read_passing
from perdure.knowledge.extraction.naming_verbs import CHANGING, Parsed, RawClaim
from perdure.knowledge.extraction.phrases import OWNERS, PEOPLE, Phrase, is_name, name_of
from perdure.knowledge.extraction.predicates import Predicates
from perdure.knowledge.extraction.relatives import Relative, as_owners, relative_at, relative_names
from perdure.knowledge.extraction.verb_patterns import read_acts
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
_Subject = tuple[str, Phrase | None, int, list[str]]
"""Who, the noun phrase if it is one, where the verb begins, and what a contraction said of it."""


def read_clause(clause: Clause, predicates: Predicates) -> list[RawClaim]:
    """Return what a clause states; nothing if no rule can read it.

    Args:
        clause: One of its clauses.
        predicates: Names and sorts.
    """
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
    parsed = None if subject is None else _parse(clause, *subject)
    if parsed is None:
        return read_passing(clause, predicates)
    found = read_attributes(parsed, predicates) if parsed.phrase is not None else []
    return found or [*read_acts(parsed, predicates), *read_passing(clause, predicates)]


def _of_relative(clause: Clause, relative: Relative, predicates: Predicates) -> list[RawClaim]:
    """Return what is said of "my daughter": her attributes as a noun phrase's, her acts as a person's."""
    at = relative.at
    if at >= len(clause.words) or clause.words[at - 1].low.endswith("'s"):
        return _read_statement(clause, _subject(clause, predicates), predicates)
    phrase = Phrase(clause.words[:at])
    who = " ".join(w.said for w in phrase.words)
    parsed = _parse(clause, who, phrase, at, [])
    found = [] if parsed is None else read_attributes(parsed, predicates)
    if found or parsed is None or not relative.close:
        return found or _read_statement(clause, _subject(clause, predicates), predicates)
    kept = [
        as_owners(relative, s) if s.subject == who else s for s in read_acts(replace(parsed, phrase=None), predicates)
    ]
    return [*(s for s in kept if s is not None), *read_passing(clause, predicates)]


def _without_finding(clause: Clause) -> Clause:
    """Return what somebody found out, without the words that say so: "I just found out it was ..."."""
    lows = [word.low for word in clause.words[:6]]
    if lows and lows[0] in {"i", "we", "i've", "i'm"}:
        for found, low in enumerate(lows[1:5], 1):
            if low in _FINDING:
                at = found + 1 + (lows[found + 1 : found + 2] == ["out"])
                at += lows[at : at + 1] == ["that"]
                rest = clause.words[at:]
                if rest and rest[0].low in PEOPLE | set(OWNERS) | {"it", "the"}:
                    return Clause(rest, rest[0].start, clause.end, clause.at)
    return clause


def _subject(clause: Clause, predicates: Predicates) -> _Subject | None:
    words = clause.words
    first, _, tail = words[0].low.partition("'")
    implied = [_CONTRACTED.get(tail, tail)] if tail else []
    if first in PEOPLE or first == "it":
        said = words[0].said.partition("'")[0].partition("’")[0]  # noqa: RUF001
        return ("I" if first == "i" else said), None, 1, implied
    if _is_described(clause):
        return f"{words[0].said} {words[1].said}", None, 2, []
    if words[0].low in OWNERS or words[0].low == "the":
        return _noun_subject(clause)
    bare = _noun_subject(clause)
    if bare is not None and (_known(bare[1], predicates) or _many(clause)):
        return bare
    return _name_subject(clause)


def _is_described(clause: Clause) -> bool:
    """Return whether somebody who was named before does something: "the customer prefers", "our client moved to"."""
    words = clause.words
    if len(words) < 4 or words[2].low in _BE | _HAVE:  # noqa: PLR2004  # "the customer is Acme" names one
        return False
    return (words[0].low in {"the", "this", "that"} and words[1].low in _PARTIES | _FIRMS) or (
        words[0].low == "our" and words[1].low in _PARTIES
    )


def _many(clause: Clause) -> bool:
    """Return whether a clause begins with a plural and a verb of things: "deploys happen", "tests live in"."""
    words = clause.words
    plural = len(words) > 3 and words[0].low.endswith("s") and words[0].low not in STOP_WORDS  # noqa: PLR2004
    return (
        plural and words[1].low in {"happen", "live", "run", "start", "go"} and words[2].low in {"on", "in", "at", "to"}
    )


def _known(phrase: Phrase | None, predicates: Predicates) -> bool:
    """Return whether a noun phrase without an owner names an attribute: "payment terms are NET 30"."""
    if phrase is None or len(phrase.words) > 4 or any(w.low.endswith("'s") for w in phrase.words):  # noqa: PLR2004
        return False
    return predicates.row(predicates.name(name_of(phrase.lows))).type in {"policy", "date", "measure", "contact"}


def _noun_subject(clause: Clause) -> _Subject | None:
    """Return a subject of several words, ended by the first word that can only be its verb."""
    for at, word in enumerate(clause.words[1 : _NP_LONGEST + 1], 1):
        if word.low in _REPORTING:
            return None  # "the docs say the limit is 500"
        if word.low in _NP_VERBS or (at > 1 and word.low in {"which", "that"}):
            if at < 2 and clause.words[0].low in {*OWNERS, "the"}:  # noqa: PLR2004
                return None
            phrase = Phrase(clause.words[:at])
            after = at + (word.low in {"which", "that"})
            return " ".join(w.said for w in phrase.words), phrase, after, []
        if (
            word.low.endswith("'s")
            and at + 1 < len(clause.words)
            and clause.words[at + 1].low in {"a", "an", "the", "called", "named"}
        ):
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
    return " ".join(w.said for w in words[:at]), None, at, []


def _no_name(low: str) -> bool:
    """Return whether the word that begins a clause has its capital from there: "Sounds like fun"."""
    return low in _NO_NAMES or low.endswith(("ing", "ly")) or base_verb(low) != low


def _possessive_subject(clause: Clause, at: int) -> _Subject | None:
    """Return "Ann's phone number" as a noun phrase; "Ann's a nurse" is a name and a verb."""
    words = clause.words
    if at >= len(words) or words[at].low in {"a", "an", "the", "not", "in", "from", "my"}:
        name = " ".join(w.said for w in words[:at])[:-2]
        return (name, None, at, ["is"]) if at < len(words) else None
    for end, word in enumerate(words[at : at + 6], at):
        if word.low in _NP_VERBS:
            return " ".join(w.said for w in words[:end]), Phrase(words[:end]), end, []
    return None


def _parse(clause: Clause, who: str, phrase: Phrase | None, at: int, implied: list[str]) -> Parsed | None:
    """Return the clause with its verb, or None if it says only what could, will or would be."""
    words, aux, denied, never = clause.words, list(implied), False, False
    adverbs: list[str] = []
    if any(a in _MODALS for a in aux):
        return None
    while at < len(words):
        low = words[at].low
        if low in _MODALS and not (low in {"plan", "need", "about"} and aux):
            return _read_modal(Parsed(clause, who, phrase, at, tuple(aux), denied, never, frozenset(adverbs)))
        if low in {"not", "never"} or low.endswith("n't"):
            denied, never = True, never or low == "never"
        if low in _BE or low in _DO or (low in _HAVE and _is_auxiliary(clause, at)):
            aux.append(low.removesuffix("n't") if low.endswith("n't") else low)
        elif low in _ADVERBS:
            adverbs.append(low)
        elif low not in {"not", "never"}:
            break
        at += 1
    if at >= len(words):
        return None
    return Parsed(clause, who, phrase, at, tuple(aux), denied, never, frozenset(adverbs))


def _read_modal(parsed: Parsed) -> Parsed | None:
    """Return a clause that tells something in spite of its modal: "they want deliveries", "I can't stand queues"."""
    low = parsed.words[parsed.at].low
    after = parsed.words[parsed.at + 1].low if parsed.at + 1 < len(parsed.words) else ""
    if low == "want" and after not in {"", *OBJECTS}:
        return parsed
    if low in {"can't", "cannot"} and after in {"stand", "bear"}:
        return replace(parsed, at=parsed.at + 1, aux=(*parsed.aux, low), denied=False)
    return None


def _is_auxiliary(clause: Clause, at: int) -> bool:
    """Return whether "have" helps another verb: a participle follows."""
    for word in clause.words[at + 1 : at + 4]:
        if word.low in _ADVERBS or word.low in {"not", "never"}:
            continue
        return word.low in {"been", "got"} or _participle(word.low)
    return False


def _participle(low: str) -> bool:
    return past_form(low)
