"""Where things are, what they run on, and when they begin and end: "our office is in Rotterdam"."""

from __future__ import annotations

from typing import Any, Final

from perdure.knowledge.extraction.clauses import TextSpan
from perdure.knowledge.extraction.measurements import value_at
from perdure.knowledge.extraction.parsed_clause import Parsed, RawClaim, claim_of
from perdure.knowledge.extraction.phrases import WEEKDAYS, Phrase, is_identifier, is_name
from perdure.knowledge.extraction.vocabulary import PLACES
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
    low, at = parsed.low, parsed.at
    if parsed.denied or not parsed.low_at(at + 1):
        return []
    if set(parsed.aux) & _BE:
        return _is_placed(parsed, owner, named)
    if parsed.aux:
        return []
    if low in _BOUNDS:
        return _of(parsed, owner, f"{named}_{_BOUNDS[low]}", _day(parsed, at + 1), "date")
    return _address(parsed, owner, named) if parsed.low_at(at + 2) else []


def _address(parsed: Parsed, owner: str, named: str) -> list[RawClaim]:
    """Return "lives at github.com/acme/api", "invoices go to billing@acme.example", "runs on port 8080"."""
    low, follows = parsed.low, parsed.low_at(parsed.at + 1)
    third = Phrase(parsed.words[parsed.at + 2 : parsed.at + 3])
    if low in {"live", "lives", "sit", "sits"} and follows in _AT and is_identifier(third.words[0]):
        return _of(parsed, owner, f"{named}_location", third.place, "address")
    if low in {"go", "goes"} and follows == "to" and "@" in third.said:
        return _of(parsed, owner, f"{named}_email", third.place, "contact")
    return _platform(parsed, owner, named) if low in {"run", "runs"} and follows == "on" else []


def _is_placed(parsed: Parsed, owner: str, named: str) -> list[RawClaim]:
    low, at = parsed.low, parsed.at
    follows = parsed.low_at(at + 1)
    if low in _SET:
        name = named if named.endswith("date") else f"{named}_date"
        return _of(parsed, owner, name, _day(parsed, at + 1 + (follows in {"for", "to"})), "date")
    if low in _MADE and follows in {"in", "with", "on"}:
        phrase = parsed.phrase_at(at + 2)
        named_one = phrase is not None and is_name(phrase.words[0])
        return _of(parsed, owner, f"{named}_{_MADE[low]}", phrase.place, "setting") if phrase and named_one else []
    at += low in {"located", "based", "situated"}
    return _somewhere(parsed, owner, named, at + 1) if parsed.low_at(at) in _AT and parsed.low_at(at + 1) else []


def _somewhere(parsed: Parsed, owner: str, named: str, at: int) -> list[RawClaim]:
    """Return the place that begins at a word: a named one, a house's number, an address of programs."""
    first = parsed.words[at]
    head = named.rpartition("_")[2]
    if parsed.clause.day_at(at) or first.low.rstrip("s") in WEEKDAYS:
        return []
    if head in _KEPT | PLACES and is_identifier(first):
        return _of(parsed, owner, f"{named}_location", (first.start, first.end), "address")
    phrase = parsed.phrase_at(at)
    if phrase is None or head not in PLACES or not (is_name(phrase.words[0]) or _street(phrase)):
        return []
    return _of(parsed, owner, f"{named}_location", phrase.place, "address")


def _street(phrase: Phrase) -> bool:
    words = phrase.words
    return words[0].low[0].isdecimal() and len(words) > 1 and any(is_name(w) for w in words[1:])


def _platform(parsed: Parsed, owner: str, named: str) -> list[RawClaim]:
    """Return "runs on port 8080", "runs on GitHub Actions"."""
    at = parsed.at + 2
    if parsed.low_at(at) == "port" and parsed.low_at(at + 1).isdecimal():
        port = parsed.words[at + 1]
        return _of(parsed, owner, f"{named}_port", (port.start, port.end), "setting")
    phrase = parsed.phrase_at(at)
    if phrase is None or not is_name(phrase.words[0]) or phrase.lows[0].rstrip("s") in WEEKDAYS:
        return []
    return _of(parsed, owner, f"{named}_platform", phrase.place, "setting")


def _day(parsed: Parsed, at: int) -> TextSpan | None:
    place, _ = value_at(parsed.clause, at)
    return place if place is not None and any(s <= place[0] < e for s, e, _ in parsed.clause.at) else None


def _of(parsed: Parsed, owner: str, name: str, place: TextSpan | None, kind: str) -> list[RawClaim]:
    if place is None:
        return []
    more: dict[str, Any] = {"since": None} if kind == "date" else {}
    return [claim_of(parsed, name, Phrase(parsed.words_at(place)), kind=kind, many=False, subject=owner, **more)]
