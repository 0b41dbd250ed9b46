"""What a message says: claims, found by rules in tiers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.clauses import clauses, statements
from perdure.knowledge.extraction.event_types import correction_at
from perdure.knowledge.extraction.parsed_clause import LAPSED, RawClaim
from perdure.knowledge.extraction.predicates import UNNAMED, Predicates
from perdure.knowledge.extraction.statements import read_clause
from perdure.knowledge.extraction.values import value_of
from perdure.knowledge.records.facts import Claim, Learned, Span, Value, ValueKind
from perdure.records.instant import Instant
from perdure.records.policy_knowledge import KnowledgePolicy
from perdure.rules.language.words import may_answer

EXPLICIT: Final = 0.7
"""Confidence of what was asked to be remembered."""
NOTE: Final = "note"
"""The predicate of what was asked to be remembered and says nothing that a rule can read."""
MOST: Final = 50
"""Claims of one message."""

_POLITE: Final = r"(?:(?:please|also|and|but|so|ok|okay|yes|now|then|hey|oh|well|just|always)\b[\s,]{1,3}){0,4}"
_TRIGGER: Final = re.compile(
    rf"{_POLITE}(?:"
    r"(?:remember|keep\s+in\s+mind|bear\s+in\s+mind|don['’]t\s+forget|do\s+not\s+forget|note)"  # noqa: RUF001
    r"(?:\s*[,:]\s*(?:that\s+)?|\s+that\s+)"
    r"|(?P<bare>remember|note|don['’]t\s+forget)\s+(?=(?:i|i['’]m|we|we['’]re|they|he|she)\s|(?-i:[A-Z])\w+\s)"  # noqa: RUF001
    r"|(?:important|key\s+point|for\s+the\s+record|for\s+your\s+information|fyi|memo)\s*[:,]\s*(?:that\s+)?"
    r"|(?:the\s+)?user\s+(?:has\s+)?(?:stated|said|noted|mentioned|confirmed|told\s+us)\s+that\s+"
    r")",
    re.IGNORECASE,
)
_NOT_OLD: Final = re.compile(
    r",?\s+(?:and\s+)?(?:not|rather\s+than|instead\s+of)\s+(?:on\s+|at\s+|in\s+|for\s+)?(?P<old>[^,;:!?]{1,60}?)"
    r"(?:\s+any\s?more)?[.!]*\Z",
    re.IGNORECASE,
)
_RATHER: Final = re.compile(
    r",?\s+(?:instead\s+of|rather\s+than)\s+(?P<old>[\w$€£][^,;:!?]{0,60}?)[.!]*\Z", re.IGNORECASE
)
_REPLACING: Final = frozenset({"use", "preference", "have"})
"""Of acts only these are told as replaced: "I use uv instead of pip", not "I walked instead of driving"."""
_CALLED: Final = re.compile(
    rf"(?i:{_POLITE}(?:everyone\s+calls|you\s+can\s+call|call)\s+me)\s+(?P<name>[A-Z][\w'-]*)[.!]*\Z"
)
_ACTS: Final = frozenset({"activity", "hobby", "description", "possession", "preference"})
_ITSELF: Final = re.compile(r"(?:it|that|this)(?:['’]s|\s+is)\s", re.IGNORECASE)  # noqa: RUF001
_UNIT: Final = re.compile(r"[^\W\d_]|[%$€£]")
_PLAIN: Final = re.compile(
    r"(?:(?P<subject>it|that|this|they|he|she)(?:['’]s|['’]re|\s+is|\s+are|\s+was|\s+should\s+be)\s+)?"  # noqa: RUF001
    r"(?:(?:actually|really|now|on|at|in|for)\s+)*(?P<value>[^\s,;:!?][^,;:!?]{0,60}?)\s*[.!]*\Z",
    re.IGNORECASE,
)
_VERBLESS: Final = re.compile(
    r"\b(?:is|are|was|were|do|does|did|have|has|had|will|would|can|could|should|not|n['’]t|i|you|we|just)\b",  # noqa: RUF001
    re.IGNORECASE,
)
_AHEAD: Final = re.compile(
    r"\b(?:(?:ends|expires|starts|begins|leaves|departs|arrives|renews|launches|closes|opens|due)\s+(?:on|in|by)|upcoming)\b",
    re.IGNORECASE,
)
"""Of what lies ahead a day without a year is the next one."""
_PLANNED: Final = re.compile(
    r"\b(?:deadlines?|due|renewals?|appointments?|meetings?|flights?|trips?|(?:end|start|expiry|renewal)\s+date)\b",
    re.IGNORECASE,
)
"""Of what is planned too, unless it is just over: "the deadline is 3 May" may be said in June."""
_JUST_PASSED: Final = 92
_CITY: Final = re.compile(
    r"(?:,\s+(?:\d{4,6}\s+)?[A-Z][\w'-]*(?:\s[A-Z][\w'-]*){0,2}(?:\s\d{4,6})?(?=\s*(?:[,.!;]|\Z))){1,3}"
)
"""What follows a street and its number."""
_PERFECT: Final = re.compile(r"\bha(?:ve|s)(?:\s+not|n['’]t)\b", re.IGNORECASE)  # noqa: RUF001
_SINCE: Final = re.compile(r"\ssince\b", re.IGNORECASE)
_NOW: Final = re.compile(r"(?<!right )(?<!for )(?<!until )\bnow\b(?!\s+and\s+then)", re.IGNORECASE)
_PAST: Final = re.compile(r"\b(?:was|were|had|did)\b", re.IGNORECASE)
_SHORT: Final = 6
"""Words that a value of an unnamed predicate may have."""


def claims(
    text: str, said_at: Instant, predicates: Predicates, *, speaker: str | None, policy: KnowledgePolicy
) -> list[Claim]:
    """Return what a message says, in its order; spans are of the text as given.

    Tiers, the surest first: what was asked to be remembered (0.7), corrections and changes (0.85: they are told as
    such), preferences and policies (0.6), statements (0.5). What asks, supposes, quotes, or is code says nothing.

    A correction that names no predicate ("I meant Thursday, not Friday") has ``value`` (predicates.UNNAMED), one that
    names it in part ("they prefer Thursday, not Friday") a shorter one of the family (``day_preference`` for
    ``delivery_day_preference``): ``Predicates.akin`` tells which facts are meant, ``old`` which of them is.
    Changes ("moved to", "increased to $550", "no longer") count as corrections: they say themselves that what was known
    before holds no more. "The deadline" without an owner is the speaker's, with the subject ``I``.

    Args:
        text: The message. Any text; time is linear in its length.
        said_at: When it was said.
        predicates: Names and sorts.
        speaker: Who said it; an assistant's statements about itself are left out.
        policy: Confidences, and whether statements count.
    """
    found: list[Claim] = []
    own = may_answer(speaker)
    for start, end in statements(text):
        for said in _sentence(text, start, end, said_at, predicates):
            if said.learned is Learned.STATEMENT and not (policy.statements and own):
                continue
            found.append(_claim(text, said, said_at, predicates, policy))
        if len(found) >= MOST:
            break
    return _deduplicate(found)[:MOST]


def as_note(claim: Claim) -> Claim:
    """Return what was asked to be remembered of somebody unknown: a note of its words, the speaker's."""
    words = claim.span.quote.strip()
    value = Value(words, ValueKind.TEXT, words.casefold())
    return replace(claim, subject="I", predicate=NOTE, type=NOTE, value=value, old=None, many=True, valid_from=None)


def _sentence(text: str, start: int, end: int, said_at: Instant, predicates: Predicates) -> list[RawClaim]:
    sentence = text[start:end]
    asked = _TRIGGER.match(sentence)
    if asked and not sentence.endswith("?"):
        plainly = "," not in asked[0].lower().partition("remember")[2] and not asked["bare"]
        return _explicit(text, start + asked.end(), end, said_at, predicates, said_plainly=plainly)
    corrected = correction_at(sentence)
    if corrected is not None:
        return _correction(text, start + corrected, end, said_at, predicates)
    if " me " in sentence and (named := _CALLED.match(sentence)) is not None:
        place = start + named.start("name"), start + named.end("name")
        return [RawClaim("I", "nickname", place, (start, place[1]), Learned.STATEMENT, kind="name")]
    return _instead(text, start, end, said_at, predicates) or _plain(text, start, end, said_at, predicates)


def _instead(text: str, start: int, end: int, said_at: Instant, predicates: Predicates) -> list[RawClaim]:
    """Return what a sentence says with what it was before: "I use uv instead of pip", "it's 12 weeks instead of 10"."""
    old = _RATHER.search(text, start, end) if " than " in text[start:end] or " of " in text[start:end] else None
    if old is None:
        return []
    was = old.start("old"), old.end("old")
    found = _plain(text, start, old.start(), said_at, predicates)
    if not found:
        return _unnamed(text, start, old.start(), was) if _ITSELF.match(text, start, end) else []
    return [replace(s, learned=Learned.CORRECTION, old=s.old or was) if _replaces(s, predicates) else s for s in found]


def _replaces(said: RawClaim, predicates: Predicates) -> bool:
    kind = said.kind or predicates.row(said.predicate).type
    return not said.denied and (said.predicate in _REPLACING or kind not in _ACTS)


def _plain(text: str, start: int, end: int, said_at: Instant, predicates: Predicates) -> list[RawClaim]:
    return [s for clause in clauses(text, start, end, said_at) for s in read_clause(clause, predicates)]


def _explicit(
    text: str, start: int, end: int, said_at: Instant, predicates: Predicates, *, said_plainly: bool
) -> list[RawClaim]:
    """Return what was asked to be remembered: what it says, or a note of its words."""
    found = _plain(text, start, end, said_at, predicates)
    if found:
        return [replace(s, learned=Learned.EXPLICIT) for s in found]
    if not said_plainly:
        return []  # "remember, every step counts" is said of life
    rest = text[start:end].rstrip(" .!")
    if not any(c.isalnum() for c in rest) or rest.lower().startswith(("when ", "to ", "how ", "the time ", "me ")):
        return []
    return [RawClaim("I", NOTE, (start, start + len(rest)), (start, end), Learned.EXPLICIT, kind="note", many=True)]


def _correction(text: str, start: int, end: int, said_at: Instant, predicates: Predicates) -> list[RawClaim]:
    """Return what a correction says: what its clauses state, with the old value if it is named."""
    old = _NOT_OLD.search(text, start, end)
    was = (old.start("old"), old.end("old")) if old else None
    stop = old.start() if old else end
    found = _plain(text, start, stop, said_at, predicates)
    told = [
        replace(s, learned=Learned.CORRECTION, old=s.old or was)
        for s in found
        if was or predicates.row(s.predicate).type not in {"activity", "description"}
    ]
    if told:
        return told
    return found or _unnamed(text, start, stop, was)


def _unnamed(text: str, start: int, stop: int, was: tuple[int, int] | None) -> list[RawClaim]:
    """Return a correction that says nothing but a value: "it's Thursday", "I meant Thursday"."""
    head = len(text[start:stop]) - len(text[start:stop].lstrip(" ,:.;—–-"))  # noqa: RUF001
    plain = _PLAIN.match(text[:stop], start + head)
    if plain is None or len(plain["value"].split()) > _SHORT or _VERBLESS.search(plain["value"]):
        return []
    if was is None and not (plain["subject"] or plain["value"][0].isupper() or plain["value"][0] in "$€£0123456789"):
        return []
    span = (plain.start(), plain.end("value"))
    return [RawClaim(plain["subject"] or "it", UNNAMED, plain.span("value"), span, Learned.CORRECTION, old=was)]


def _claim(text: str, said: RawClaim, said_at: Instant, predicates: Predicates, policy: KnowledgePolicy) -> Claim:
    row = predicates.row(said.predicate)
    end = max(said.span[1], said.value[1], said.old[1] if said.old else 0)
    start = min(said.span[0], said.value[0])
    if said.denied and _SINCE.match(text, end) and _PERFECT.search(text, start, end):
        end += len(" since")  # "I haven't used it since it crashed": the rest is another clause
    many = said.many if said.many is not None else row.many
    learned = said.learned
    if learned is Learned.STATEMENT and not many and not said.denied and _NOW.search(text, start, end + len(" now")):
        learned = Learned.CORRECTION  # "the contact is now Max" says that it was another
    first, last = said.value
    if row.type == "address" and text[first].isdecimal() and (city := _CITY.match(text, last)):
        last, end = city.end(), max(end, city.end())  # "12 Rue Victor, Lyon" is one address
    value = value_of(text[first:last], said_at, passed=_days_passed(text, start, end))
    old = None if said.old is None else _with_unit_of(_value(text, said.old, said_at), value, said_at)
    since = said.since
    if since is not None and since > said_at and said.denied and LAPSED.search(text, start, end) is not None:
        since = 2 * said_at - since  # "haven't played in two years": two years ago
    return Claim(
        subject=said.subject,
        predicate=said.predicate,
        type=said.kind or row.type,
        value=value,
        learned=learned,
        confidence={
            Learned.EXPLICIT: EXPLICIT,
            Learned.PREFERENCE: policy.preference,
            Learned.CORRECTION: policy.correction,
        }.get(learned, policy.statement),
        span=Span(start, end, text[start:end]),
        old=old,
        denied=said.denied,
        many=many,
        valid_from=since,
    )


def _days_passed(text: str, start: int, end: int) -> int | None:
    """Return how many days may have passed since a day that is told; None if it need not lie ahead."""
    if _PAST.search(text, start, end):
        return None
    return 0 if _AHEAD.search(text, start, end) else _JUST_PASSED if _PLANNED.search(text, start, end) else None


def _value(text: str, span: tuple[int, int], said_at: Instant) -> Value:
    return value_of(text[span[0] : span[1]], said_at)


def _with_unit_of(old: Value, new: Value, said_at: Instant) -> Value:
    """Return an old value with the unit of the new one, where it was said once for both: "from 30 to 60 seconds"."""
    unit = _UNIT.search(new.text)
    if old.kind is not ValueKind.NUMBER or new.kind is not ValueKind.NUMBER or old.unit or not new.unit or unit is None:
        return old
    before, after = new.text[: unit.end()], new.text[unit.start() :]
    said = f"{before}{old.text}" if before in {"$", "€", "£"} else f"{old.text} {after}"
    read = value_of(said, said_at)
    return replace(read, text=old.text) if read.kind is ValueKind.NUMBER and read.unit == new.unit else old


def _deduplicate(found: list[Claim]) -> list[Claim]:
    """Return the claims without repetitions and without what has no value."""
    kept: dict[tuple[str, str, str, bool], Claim] = {}
    for claim in found:
        if claim.value.norm:
            kept.setdefault((claim.subject.lower(), claim.predicate, claim.value.norm, claim.denied), claim)
    return list(kept.values())
