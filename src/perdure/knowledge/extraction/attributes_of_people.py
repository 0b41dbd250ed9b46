"""What somebody is: married, a nurse, from Lyon, 34 years old, on the enterprise plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.lemmas import singular
from perdure.knowledge.extraction.measurements import measure_at, owner_and_name
from perdure.knowledge.extraction.parsed_clause import Parsed, RawClaim, claim_at, claim_of
from perdure.knowledge.extraction.phrases import (
    DETERMINERS,
    OWNERS,
    PEOPLE,
    Phrase,
    is_identifier,
    is_name,
    is_number,
    name_of,
)
from perdure.knowledge.extraction.vocabulary import EMPTY_HEADS, JOBS, ONLY, RELATIONS, ROLES, STATES
from perdure.knowledge.records.facts import Learned
from perdure.rules.language.words import word_set

_INTERESTED: Final = {
    "interested": "interest",
    "passionate": "interest",
    "keen": "interest",
    "into": "enjoy",
    "fond": "like",
}
_MEASURED: Final = {"tall": "height", "high": "height", "heavy": "weight", "old": "age"}
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+){0,3}(?:\.x)?")
_PLANS: Final = word_set("plan tier")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_NEW: Final = word_set("new current")


def read_states(parsed: Parsed) -> list[RawClaim]:
    """Return what a clause with "is" says that its subject is."""
    words, at = parsed.words, parsed.at
    low, follows = parsed.low, parsed.low_at(at + 1)
    past = bool(set(parsed.aux) & {"was", "were"})
    aged = is_number(low) and (not follows or [w.low for w in words[at + 1 : at + 3]] == ["years", "old"])
    if (low in STATES and not past) or (aged and parsed.phrase is None):
        return [claim_of(parsed, STATES.get(low, "age"), Phrase(words[at : at + 1]))]
    if low in {"called", "named"}:
        return _given_name(parsed)
    if low == "no" and follows == "longer" and at + 2 < len(words):
        return read_states(replace(parsed, at=at + 2, denied=True))
    if low in {"born", "based", "from", "located"} or (low == "allergic" and follows == "to"):
        return _origin(parsed, low, follows)
    if low == "promoted":
        return read_promotion(parsed, at + 1)
    return _past_event(parsed, low, follows) if past else _present(parsed, low, follows)


def _present(parsed: Parsed, low: str, follows: str) -> list[RawClaim]:
    if low in _INTERESTED:
        return _interest(parsed, low, follows)
    if low in _PRESENT:
        return _PRESENT[low](parsed)
    if is_number(low):
        return _body_measure(parsed)
    return _description(parsed) if low in {"a", "an"} else []


def _past_event(parsed: Parsed, low: str, follows: str) -> list[RawClaim]:
    """Return what somebody "was" diagnosed with."""
    phrase = parsed.phrase_at(parsed.at + 2) if (low, follows) == ("diagnosed", "with") else None
    if phrase is None or parsed.phrase is not None:
        return []
    return [claim_of(parsed, "condition", phrase, kind="condition", many=True)]


def read_promotion(parsed: Parsed, at: int) -> list[RawClaim]:
    """Return the role that somebody rose to: the clause's words from ``at`` on are "to manager"."""
    phrase = parsed.phrase_at(at + 1) if parsed.low_at(at) == "to" and not parsed.denied else None
    if phrase is None or set(phrase.lows) & EMPTY_HEADS:
        return []
    return [claim_of(parsed, "role", phrase, Learned.CORRECTION, many=False)]


def version_at(parsed: Parsed, at: int) -> tuple[str, Phrase] | None:
    """Return a program with its version that begins at a word: ``python_version`` and the phrase "Python 3.11".

    The name belongs to the value: by themselves 3.1 and 3.10 would be one number.
    """
    words, named = parsed.words, at
    while named < min(len(words), at + 3) and is_name(words[named]):
        named += 1
    number = parsed.low_at(named)
    if named == at or not _VERSION.fullmatch(number) or _YEAR.fullmatch(number):
        return None
    return f"{name_of([w.low for w in words[at:named]])}_version", Phrase(words[at : named + 1])


def _membership(parsed: Parsed) -> list[RawClaim]:
    """Return "on the enterprise plan", "on Python 3.11", "in the Pacific time zone"."""
    if parsed.phrase is not None and not is_name(parsed.words[0]):
        return []
    low, at = parsed.low, parsed.at + 1
    if low == "on" and (found := version_at(parsed, at)) is not None:
        return [claim_of(parsed, found[0], found[1], kind="setting", many=False)]
    phrase = parsed.phrase_at(at)
    if phrase is None or len(phrase.words) < 2:  # noqa: PLR2004
        return []
    if low == "on" and phrase.lows[-1] in _PLANS:
        return [claim_of(parsed, "plan", phrase, many=False)]
    if low == "in" and phrase.lows[-1] in {"timezone", "zone"} and is_name(phrase.words[0]):
        stop = next(i for i, w in enumerate(phrase.words) if w.low in {"time", "timezone", "zone"})
        return [claim_of(parsed, "timezone", Phrase(phrase.words[:stop]))] if stop else []
    return []


def _office_holder(parsed: Parsed) -> list[RawClaim]:
    """Return who holds an office: "Omar Haddad is the new contact at Gai Media" is a fact about Gai Media."""
    words, at = parsed.words, parsed.at + 1
    if parsed.phrase is not None or not is_name(words[0]) or parsed.denied:
        return []
    newer = parsed.low_at(at) in _NEW
    stop = next((i for i in range(at, min(len(words), at + 5)) if words[i].low in {"at", "of", "for"}), None)
    if stop is None or stop + 1 >= len(words) or not is_name(words[stop + 1]):
        return []
    office = name_of([w.low for w in words[at + newer : stop]])
    whose = parsed.phrase_at(stop + 1, short=True)
    if whose is None or office.rpartition("_")[2] not in ROLES:
        return []
    first = Phrase(tuple(w for w in words[: parsed.at] if is_name(w)))
    learned = Learned.CORRECTION if parsed.low_at(at) == "new" else Learned.STATEMENT
    said = claim_of(parsed, parsed.predicates.name(office), first, learned, kind="contact", many=None)
    return [_with_owner(said, parsed.clause.start, whose.end, whose.said)]


def _relation_to_speaker(parsed: Parsed) -> list[RawClaim]:
    """Return whose relative somebody is: "Rita is my sister" is a fact about the speaker."""
    words, at = parsed.words, parsed.at
    subject = tuple(w for w in words[:at] if is_name(w))
    last = words[-1].low
    if parsed.phrase is not None or parsed.denied or not subject or len(words) - at > 3 or last not in RELATIONS:  # noqa: PLR2004
        return []
    relation = name_of([w.low for w in words[at + 1 :]])
    said = claim_of(parsed, f"{relation}_name", Phrase(subject), kind="name", many=last not in ONLY)
    return [_with_owner(said, parsed.clause.start, words[-1].end, OWNERS[parsed.low])]


_PRESENT: Final[Mapping[str, Callable[[Parsed], list[RawClaim]]]] = {
    "on": _membership,
    "in": _membership,
    "the": _office_holder,
    "my": _relation_to_speaker,
    "our": _relation_to_speaker,
}
"""First word after "is" -> how it is read."""


def _with_owner(said: RawClaim, start: int, end: int, owner: str) -> RawClaim:
    return replace(said, subject=owner, span=(start, end), since=None, denied=False)


def _body_measure(parsed: Parsed) -> list[RawClaim]:
    """Return "180 cm tall" and the like."""
    found = measure_at(parsed.clause, parsed.at)
    if found is None or parsed.phrase is not None or parsed.denied or not found[1] or found[1][-1] not in _MEASURED:
        return []
    first = parsed.words[parsed.at]
    last = next(i for i, w in enumerate(parsed.words) if i >= parsed.at and w.low == found[1][-1])
    place = first.start, parsed.words[last - 1].end
    return [claim_at(parsed, _MEASURED[found[1][-1]], place, kind="measure", many=False)]


def _origin(parsed: Parsed, low: str, follows: str) -> list[RawClaim]:
    """Return where somebody is from, lives or was born, and when; or what somebody is allergic to."""
    found: list[RawClaim] = []
    for begin, end, text in _days(parsed) if low == "born" else ():
        name = "birth_year" if _YEAR.fullmatch(text) else "birthday"
        found.append(claim_at(parsed, name, (begin, end), since=None, kind="date"))
    phrase = parsed.phrase_at(parsed.at + 1 + (low != "from"))
    if phrase is None or not (is_name(phrase.words[0]) or low == "allergic"):
        return found
    name = {"from": "from", "allergic": "allergy"}.get(low, f"{low}_{follows}")
    return [claim_of(parsed, parsed.predicates.name(name), phrase), *found]


def _days(parsed: Parsed) -> list[tuple[int, int, str]]:
    """Return where the days that a clause names stand, without the preposition before them, and their words."""
    found = []
    for start, end, _ in parsed.clause.at:
        inside = [w for w in parsed.words if start <= w.start < end and w.low not in {"on", "in", "since"}]
        if inside and inside[0].start > parsed.words[parsed.at].start:
            found.append((inside[0].start, inside[-1].end, " ".join(w.low for w in inside)))
    return found


def _interest(parsed: Parsed, low: str, follows: str) -> list[RawClaim]:
    phrase = parsed.phrase_at(parsed.at + 1 + (low != "into"))
    if phrase is None or set(phrase.lows) & EMPTY_HEADS or follows == "to":
        return []
    return [claim_of(parsed, parsed.predicates.name(_INTERESTED[low]), phrase, Learned.PREFERENCE)]


def _given_name(parsed: Parsed) -> list[RawClaim]:
    """Return a name: "my sister is called Ann", "I'm called Ann", "the staging database is called atlas_stage"."""
    name = parsed.phrase_at(parsed.at + 1, short=True)
    if name is None:
        return []
    owner, named = ("", "") if parsed.phrase is None else owner_and_name(parsed.phrase)
    known = parsed.predicates.name(named)
    setting = parsed.sort_of(known) == "setting"
    if not (is_name(name.words[0]) or is_identifier(name.words[0]) or (len(name.words) == 1 and setting)):
        return []
    if parsed.phrase is not None and setting:
        return [claim_of(parsed, known, name, subject=owner)]
    if named.rpartition("_")[2] in RELATIONS:
        return [claim_of(parsed, f"{named}_name", name, subject=owner, kind="name")]
    if parsed.phrase is not None and parsed.phrase.lows[0] in {*OWNERS, "the"} and named:
        return [claim_of(parsed, f"{known}_name", name, subject=owner, kind="name")]
    return [claim_of(parsed, "name", name)]


def _description(parsed: Parsed) -> list[RawClaim]:
    """Return "a nurse", "a big fan of jazz"; of others than the speaker any description."""
    phrase = parsed.phrase_at(parsed.at)
    if phrase is None:
        return []
    lows = phrase.lows
    of = lows.index("of") if "of" in lows else 0
    if "fan" in lows[:4] and "of" in lows[:5]:
        liked = phrase.words[of + 1 :]
        return [claim_of(parsed, "fan", Phrase(liked), Learned.PREFERENCE, many=True)] if liked else []
    if singular(lows[of - 1]) in JOBS:  # the word before "of", else the last one
        return [claim_of(parsed, "occupation", phrase, many=True, kind="job")]
    whose = parsed.words[0].low in DETERMINERS or parsed.who.lower() in PEOPLE
    if whose or set(lows) & EMPTY_HEADS or parsed.phrase is not None:
        return []
    return [claim_of(parsed, parsed.predicates.name("is"), phrase, many=True)]
