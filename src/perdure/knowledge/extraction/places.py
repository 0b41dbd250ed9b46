"""Where things are, what they run on, and when they begin and end: "our office is in Rotterdam"."""

from __future__ import annotations

from typing import Final

from perdure.knowledge.extraction.measurements import claim_of, value_at
from perdure.knowledge.extraction.naming_verbs import PLACES, Parsed, RawClaim, TextSpan
from perdure.knowledge.extraction.phrases import WEEKDAYS, Phrase, is_identifier, is_name, phrase_at
from perdure.knowledge.records.facts import Learned
from perdure.rules.language.words import word_set

_BE: Final = word_set("am is are")
_AT: Final = word_set("in at on")
_KEPT: Final = word_set("config log test script source data wiki dashboard server note spec api endpoint")
"""What has an address of programs; a bug is in a file only until it is mended."""
_SET: Final = word_set("planned scheduled due set slated booked")
_BOUNDS: Final = {
    **dict.fromkeys(word_set("start starts begin begins"), "start_date"),
    **dict.fromkeys(word_set("end ends expire expires"), "end_date"),
    **dict.fromkeys(word_set("leave leaves depart departs arrive arrives"), "date"),
}
_MADE: Final = {"written": "language", "built": "language", "hosted": "platform", "deployed": "platform"}


def read_location(parsed: Parsed, owner: str, named: str) -> list[RawClaim]:
    """Return where something is, what it runs on, or when it begins or ends.

    Args:
        parsed: A clause whose subject is a noun phrase.
        owner: Whose it is.
        named: What it is called, in normal form.
    """
    words, at = parsed.words, parsed.at
    if parsed.denied or at + 1 >= len(words):
        return []
    low = words[at].low
    if set(parsed.aux) & _BE:
        return _is_placed(parsed, owner, named)
    if parsed.aux:
        return []
    if low in _BOUNDS:
        day = _day(parsed, at + 1)
        return [_of(parsed, owner, f"{named}_{_BOUNDS[low]}", day, "date")] if day else []
    return _address(parsed, owner, named) if at + 2 < len(words) else []


def _address(parsed: Parsed, owner: str, named: str) -> list[RawClaim]:
    """Return "lives at github.com/acme/api", "invoices go to billing@acme.example", "runs on port 8080"."""
    words, at = parsed.words, parsed.at
    low, follows, third = words[at].low, words[at + 1].low, words[at + 2]
    place = third.start, third.end
    if low in {"live", "lives", "sit", "sits"} and follows in _AT and is_identifier(third):
        return [_of(parsed, owner, f"{named}_location", place, "address")]
    if low in {"go", "goes"} and follows == "to" and "@" in third.said:
        return [_of(parsed, owner, f"{named}_email", place, "contact")]
    return _platform(parsed, owner, named) if low in {"run", "runs"} and follows == "on" else []


def _is_placed(parsed: Parsed, owner: str, named: str) -> list[RawClaim]:
    words, at = parsed.words, parsed.at
    low = words[at].low
    if low in _SET:
        start = at + 1 + (words[at + 1].low in {"for", "to"})
        day = _day(parsed, start)
        return [_of(parsed, owner, named if named.endswith("date") else f"{named}_date", day, "date")] if day else []
    if low in _MADE and words[at + 1].low in {"in", "with", "on"}:
        phrase = phrase_at(parsed.clause, at + 2)
        if phrase is not None and is_name(phrase.words[0]):
            return [_of(parsed, owner, f"{named}_{_MADE[low]}", (phrase.start, phrase.end), "setting")]
        return []
    at += low in {"located", "based", "situated"}
    if at + 1 >= len(words) or words[at].low not in _AT:
        return []
    return _somewhere(parsed, owner, named, at + 1)


def _somewhere(parsed: Parsed, owner: str, named: str, at: int) -> list[RawClaim]:
    """Return the place that begins at a word: a named one, a house's number, an address of programs."""
    first = parsed.words[at]
    head = named.rpartition("_")[2]
    if any(s <= first.start < e for s, e, _ in parsed.clause.at) or first.low.rstrip("s") in WEEKDAYS:
        return []
    if head in _KEPT | PLACES and is_identifier(first):
        return [_of(parsed, owner, f"{named}_location", (first.start, first.end), "address")]
    phrase = phrase_at(parsed.clause, at)
    if phrase is None or head not in PLACES or not (is_name(phrase.words[0]) or _street(phrase)):
        return []
    return [_of(parsed, owner, f"{named}_location", (phrase.start, phrase.end), "address")]


def _street(phrase: Phrase) -> bool:
    words = phrase.words
    return words[0].low[0].isdecimal() and len(words) > 1 and any(is_name(w) for w in words[1:])


def _platform(parsed: Parsed, owner: str, named: str) -> list[RawClaim]:
    """Return "runs on port 8080", "runs on GitHub Actions"."""
    words, at = parsed.words, parsed.at + 2
    if at >= len(words):
        return []
    if words[at].low == "port" and at + 1 < len(words) and words[at + 1].low.isdecimal():
        return [_of(parsed, owner, f"{named}_port", (words[at + 1].start, words[at + 1].end), "setting")]
    phrase = phrase_at(parsed.clause, at)
    if phrase is None or not is_name(phrase.words[0]) or phrase.lows[0].rstrip("s") in WEEKDAYS:
        return []
    return [_of(parsed, owner, f"{named}_platform", (phrase.start, phrase.end), "setting")]


def _day(parsed: Parsed, at: int) -> TextSpan | None:
    if at >= len(parsed.words):
        return None
    place, _ = value_at(parsed.clause, at)
    inside = [(s, e) for s, e, _ in parsed.clause.at if place is not None and s <= place[0] < e]
    return place if inside else None


def _of(parsed: Parsed, owner: str, name: str, place: TextSpan, kind: str) -> RawClaim:
    value = Phrase(tuple(w for w in parsed.words if place[0] <= w.start < place[1]))
    said = claim_of(parsed, name, value, Learned.STATEMENT, kind=kind, many=False, subject=owner)
    return RawClaim(
        owner, name, (value.start, value.end), (said.span[0], max(said.span[1], value.end)), said.learned,
        many=False, kind=kind, since=None if kind == "date" else said.since,
    )  # fmt: skip
