"""What a message says: claims, found by rules in tiers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from perdure.knowledge.extraction.answers import opens_with_no, says_yes, statement_of
from perdure.knowledge.extraction.clauses import clauses
from perdure.knowledge.extraction.event_types import correction_at, event_of
from perdure.knowledge.extraction.raw_claims import RawClaim
from perdure.knowledge.extraction.references import FIRST_PERSON
from perdure.knowledge.extraction.statements import ACT, read_clause
from perdure.knowledge.extraction.values import value_of
from perdure.knowledge.extraction.words import TextSpan, statements, words_of
from perdure.knowledge.languages import WORDS, expression
from perdure.knowledge.records.facts import UNNAMED, Claim, EventType, FactOrigin, Predicates, Span, Value, ValueKind
from perdure.records.instant import DAY_MS, Instant
from perdure.records.policy_knowledge import KnowledgePolicy
from perdure.rules.language.last_day import end_beside
from perdure.rules.language.requests import words_to_remember
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import CALENDAR, may_answer

EXPLICIT: Final = 0.7  # confidence of what was asked to be remembered
NOTE: Final = "note"  # the predicate of what was asked to be remembered and says nothing that a rule can read
MOST: Final = 50  # claims of one message

_TRIGGER: Final = expression("claims.trigger")
_NOT_OLD: Final = expression("claims.not_old")
_RATHER: Final = expression("claims.rather")
_CONTRAST: Final = expression("claims.contrast")  # a value and the one that it replaces, side by side: "4.3 not 4.2"
_BUT: Final = expression("claims.but")
_CALLED: Final = expression("claims.called")
_RULE: Final = expression("claims.rule")
_LONGEST_RULE: Final = 14
_ITSELF: Final = expression("claims.itself")
_PLAIN: Final = expression("claims.plain")
_VERBLESS: Final = expression("claims.verbless")
_NOW: Final = expression("claims.now")
_HANDED: Final = expression("claims.handed")
"""What leads in a text that is handed over to be worked on: "Translate this: ...", "for the story: ..."."""
_LEAD: Final = re.compile(r"[^:]{1,80}:(?=\s)")
_OWN_WORDS: Final = expression("claims.own_words")
"""What leads in one's own words, in spite of a colon: "quick update: ..."."""
_PLAYED: Final = expression("claims.played")
"""What opens a game of roles: "You are a pirate", "pretend that ..."; all that follows is said in it."""
_LINE: Final = expression("claims.line")
"""Whose line follows in a dialogue: "BEN: I live in Paris now", "- Who's there? - My name is Justin"."""
_LINES: Final = 2  # so many lines of somebody are a dialogue, which states nothing of whoever sends it
_GOES_ON: Final = re.compile(r",\s+([^\W\d_]+)")
_FOLLOWS: Final = frozenset().union(
    *(WORDS[name] for name in ("starters", "joining", "beside", "leading", "inverted", "exemplifying"))
)
"""What may follow a value and a comma without being part of it."""
_NAMES_IN_LIST: Final = re.compile(r"[A-Z]\w*,\s[A-Z]")
_OWN: Final = frozenset({"home", "diet"})  # predicates of what somebody says of themselves in passing
_NO_NOTE: Final = ("when ", "to ", "how ", "the time ", "me ", "you ", "you'")
_WORD: Final = re.compile(r"[^\W\d_]+")
_SHORT: Final = 6  # words that a value of an unnamed predicate may have


def claims(
    text: str, said_at: Instant, predicates: Predicates, *, speaker: str | None, policy: KnowledgePolicy
) -> list[Claim]:
    """Return what a message says, in its order; spans are of the text as given.

    Tiers, the surest first: what was asked to be remembered (0.7), corrections and changes (0.85: they are said as
    such), preferences and policies (0.6), statements (0.5). What asks, supposes, quotes, is code, or is handed over to
    be translated or mended says nothing. In passing only names count, and what people say of themselves: where they
    live, what they eat and do not do, and which version they use; nothing of it beside words of a text that is made or
    worked on ("a story").

    A correction that names no predicate ("I meant Thursday, not Friday") has ``value`` (predicates.UNNAMED):
    ``Predicates.akin`` tells which facts are meant, ``old`` which of them is. Changes ("increased to $550", "no
    longer") count as corrections: they say themselves that what was known before holds no more. Any text; time is
    linear in its length. An assistant's statements about itself are left out.
    """
    reader = _Reader(text, said_at, predicates)
    is_framed = not WORDS["framing"].isdisjoint(_WORD.findall(text.lower()))
    stated = policy.statements and may_answer(speaker)
    found: list[Claim] = []
    if len(list(islice(_LINE.finditer(text), _LINES))) == _LINES:
        return found
    for start, end in statements(text):
        if _PLAYED.match(text, start, end) or _hands_over(text[start:end]):
            break
        if _introduces(text[start:end]):
            continue
        raw = [c for c in reader.sentence(start, end) if not (is_framed and _is_of_oneself(c))]
        found += [reader.claim(c, policy) for c in raw if stated or _is_sure(c, speaker)]
        if len(found) >= MOST:
            break
    return _deduplicate(found)[:MOST]


def claims_with_answer(
    text: str, question: str, said_at: Instant, predicates: Predicates, found: list[Claim], policy: KnowledgePolicy
) -> list[Claim]:
    """Return what a message says with the question before it: what it answers, and its own claims in that light.

    "Yes" affirms the ``question`` that somebody else asked just before, "no" denies it, "no, Thursday" gives it another
    value; ``found`` is what the message claims by itself.
    """
    yes = says_yes(text)
    statement = statement_of(question) if yes is not None or opens_with_no(text) else None
    read = _Reader(statement, said_at, predicates).whole(policy) if statement else []
    if not read:
        return found
    span = Span(0, len(text), text)
    if yes is not None:
        still = re.search(r"\bstill\b", question, re.IGNORECASE) is not None
        learned = FactOrigin.CORRECTION if still and not yes else FactOrigin.STATEMENT
        sure = _confidence(learned, policy)
        answer = [replace(c, span=span, denied=c.denied != (not yes), learned=learned, confidence=sure) for c in read]
        return [*found, *answer]
    return [_with_question(claim, read, span) for claim in found]


def _with_question(claim: Claim, question_claims: list[Claim], span: Span) -> Claim:
    """Return what follows a no: "it's Thursday" is about what was asked, and what was asked was before."""
    if len(question_claims) != 1 or claim.denied or question_claims[0].denied:
        return claim
    (other,) = question_claims
    about = claim.predicate == UNNAMED and (claim.value.kind is other.value.kind)
    if not about and (claim.predicate, claim.subject) != (other.predicate, other.subject):
        return claim
    old = claim.old or (other.value if other.value.norm != claim.value.norm else None)
    sure = max(claim.confidence, other.confidence)
    return replace(
        other, value=claim.value, old=old, learned=FactOrigin.CORRECTION, confidence=sure, span=span, many=other.many
    )


def as_note(claim: Claim) -> Claim:
    """Return what was asked to be remembered of somebody unknown: a note of its words, the speaker's."""
    words = claim.span.quote.strip()
    value = Value(words, ValueKind.TEXT, words.casefold())
    return replace(claim, subject="I", predicate=NOTE, type=NOTE, value=value, old=None, many=True, valid_from=None)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the sentences of one message; places are (first character, one past the last)."""

    text: str
    said_at: Instant
    predicates: Predicates

    def sentence(self, start: int, end: int) -> list[RawClaim]:
        """Return what a sentence says."""
        sentence = self.text[start:end]
        if sentence.endswith("?") and (asked := words_to_remember(sentence, english=True)):
            return self._explicit_claims(start + asked[0], start + asked[1], said_plainly=True)
        trigger = _TRIGGER.match(sentence)
        if trigger and not sentence.endswith("?"):
            comma = "," in trigger[0].lower().partition("remember")[2]
            plainly = not comma and (not trigger["bare"] or trigger["own"] is not None)
            return self._explicit_claims(start + trigger.end(), end, said_plainly=plainly)
        corrected = correction_at(sentence)
        if corrected is None and _is_contrast(_CONTRAST.search(sentence)):
            corrected = 0
        if corrected is not None:
            return self._correction(start + corrected, end)
        if "me " in sentence and (nickname := _CALLED.match(sentence)) is not None:
            place = start + nickname.start("name"), start + nickname.end("name")
            return [RawClaim("I", "nickname", place, (start, place[1]), denied=bool(nickname["no"]), kind="name")]
        if not (raw_claims := self._rule(start, end)) and _RATHER.search(sentence):
            raw_claims = self._correction(start, end, declared=_ITSELF.match(sentence) is not None)
        return raw_claims or [s for s in self._plain(start, end) if not (_is_in_passing(s) or self._is_cut(s))]

    def _is_cut(self, raw: RawClaim) -> bool:
        """Return whether a comma cuts a preference short: "prefer sneakers with a sleek, modern look"."""
        follows = _GOES_ON.match(self.text, raw.value[1])
        return raw.learned is FactOrigin.PREFERENCE and follows is not None and follows[1].lower() not in _FOLLOWS

    def _rule(self, start: int, end: int) -> list[RawClaim]:
        """Return a rule that is stated: "always use tabs", "never deploy on Fridays"; it says when it holds itself."""
        rule = _RULE.match(self.text, start, end)
        if rule is None or rule["verb"] == "call" or len(rule["rest"].split()) > _LONGEST_RULE:
            return []
        advice = re.search(r"\byou(?:r|rself)?\b", rule["rest"], re.IGNORECASE) is not None
        plain = rule["how"].lower() in {"always", "never"}
        if rule["verb"].lower() not in WORDS["commands"] if plain else advice:
            return []
        words = re.sub(r"\s{1,9}(?:ever|please|pls|thanks)\s{0,9}\Z", "", rule["rest"].rstrip(), flags=re.IGNORECASE)
        last = rule.start("rest") + len(words)
        follows = words.split()[1:]
        aimless = not follows or (len(follows) == 1 and follows[0] in WORDS["no_value"] | WORDS["prepositions"])
        if aimless or words.count('"') % 2 or _NAMES_IN_LIST.match(self.text, self.text.rfind(" ", 0, last) + 1):
            return []
        denied, place = rule["how"].lower() != "always", (rule.start("rest"), last)
        return [RawClaim("I", "rule", place, (rule.start("how"), last), FactOrigin.PREFERENCE, denied=denied)]

    def whole(self, policy: KnowledgePolicy) -> list[Claim]:
        """Return what the whole text states in one sentence, as claims."""
        return [self.claim(s, policy) for s in self._plain(0, len(self.text))]

    def _plain(self, start: int, end: int) -> list[RawClaim]:
        found = clauses(self.text, start, end, self.said_at)
        read = [s for clause in found for s in read_clause(clause, self.predicates)]
        return self._not_but(read, end) or read

    def _not_but(self, read: list[RawClaim], end: int) -> list[RawClaim]:
        """Return what holds instead of what is denied: "my lead isn't Carol, it's Dev", "no longer A but B"."""
        if not read or not read[-1].denied or read[-1].kind == "preference":
            return []
        denied = read[-1]
        but = _BUT.match(self.text, denied.value[1], end)
        if but is None or len(but["new"].split()) > _SHORT or _VERBLESS.search(but["new"]):
            return []
        span = (denied.span[0], but.end("new"))
        affirmed = replace(denied, value=but.span("new"), old=denied.value, denied=False, span=span)
        return [*read[:-1], replace(affirmed, learned=FactOrigin.CORRECTION)]

    def _explicit_claims(self, start: int, end: int, *, said_plainly: bool) -> list[RawClaim]:
        """Return what was asked to be remembered: what it says, or a note of its words."""
        found = self._plain(start, end)
        if found:
            return [replace(s, learned=FactOrigin.EXPLICIT) for s in found]
        rest = self.text[start:end].rstrip(" .!")
        plain = said_plainly and (self.text[:start].rstrip().endswith(":") or _is_specific(rest))
        if not plain or not any(c.isalnum() for c in rest) or rest.lower().startswith(_NO_NOTE):
            return []
        return [
            RawClaim("I", NOTE, (start, start + len(rest)), (start, end), FactOrigin.EXPLICIT, kind="note", many=True)
        ]

    def _correction(self, start: int, end: int, *, declared: bool = True) -> list[RawClaim]:
        """Return what a correction says: what its clauses state, else its bare value; with the old one if it is named.

        ``declared`` is whether it says that it is one: "I walked instead of driving" does not.
        """
        old = _NOT_OLD.search(self.text, start, end)
        was, stop = (old.span("old"), old.start()) if old else (None, end)
        found = [s for s in self._plain(start, stop) if (was or s.kind != ACT) and not self._is_cut(s)]
        if was and any(not self._is_alternative(s.value, was) for s in found):
            return []  # "at 6:40 in the evening, not in the morning"
        corrected = [replace(s, learned=FactOrigin.CORRECTION, old=s.old or was) for s in found if not s.denied]
        return [*corrected, *(s for s in found if s.denied)] or (self._bare_value(start, stop, was) if declared else [])

    def _is_alternative(self, new: TextSpan, old: TextSpan) -> bool:
        """Return whether an old value may have stood in a new one's place: a number or a day in that of another one."""
        is_number = [
            any(map(str.isdecimal, text)) or not CALENDAR.isdisjoint(re.findall(r"\w+", text.lower()))
            for text in (self.text[slice(*new)], self.text[slice(*old)])
        ]
        return is_number[0] <= is_number[1]

    def _bare_value(self, start: int, stop: int, was: TextSpan | None) -> list[RawClaim]:
        """Return a correction that says nothing but a value: "it's Thursday", "I meant Thursday"."""
        words = self.text[start:stop]
        head = len(words) - len(words.lstrip(" ,:.;—–-"))  # noqa: RUF001
        plain = _PLAIN.match(self.text[:stop], start + head)
        value = plain["value"] if plain else ""
        if plain is None or len(value.split()) > _SHORT or _VERBLESS.search(value) or value.split()[0].endswith("ing"):
            return []
        if was is None and not (plain["subject"] or value[0].isupper() or value[0] in "$€£0123456789"):
            return []
        span = (plain.start(), plain.end("value"))
        return [RawClaim(plain["subject"] or "it", UNNAMED, plain.span("value"), span, FactOrigin.CORRECTION, old=was)]

    def claim(self, raw: RawClaim, policy: KnowledgePolicy) -> Claim:
        """Return a claim with its values read."""
        row = self.predicates.row(raw.predicate)
        many = raw.many if raw.many is not None else row.many
        first, last = raw.value
        start, end = min(raw.span[0], first), max(raw.span[1], last, raw.old[1] if raw.old else 0)
        learned = raw.learned
        now = learned is FactOrigin.STATEMENT and _NOW.search(self.text, start, end + len(" now"))
        if now and not many and not raw.denied:
            learned = FactOrigin.CORRECTION  # "I live in Paris now" says that it was another place
        sentence = next((self.text[a:b] for a, b in sentences(self.text) if a <= first < b), "")
        until = end_beside(self.text[first:last], sentence, self.said_at)
        is_end = (
            until is not None and raw.since == until + 1 - DAY_MS
        )  # of "from 7 to 18 December" the last day is read
        return Claim(
            subject=raw.subject,
            predicate=raw.predicate,
            type=raw.kind or row.sort,
            value=value_of(self.text[first:last], self.said_at),
            learned=learned,
            confidence=_confidence(learned, policy),
            span=Span(start, end, self.text[start:end]),
            old=None if raw.old is None else value_of(self.text[raw.old[0] : raw.old[1]], self.said_at),
            denied=raw.denied,
            many=many,
            valid_from=None if is_end else raw.since,
            valid_to=until,
        )


def _is_in_passing(raw: RawClaim) -> bool:
    """Return whether something is said in passing that is no fact: all but names, and what people say of themselves."""
    if raw.learned is not FactOrigin.STATEMENT:
        return False
    of_self = _is_name(raw) or raw.kind == "setting" or raw.predicate in _OWN or (raw.kind == ACT and raw.denied)
    return not of_self or raw.subject.lower() not in {"i", "we"}


def _is_of_oneself(raw: RawClaim) -> bool:
    """Return whether somebody just says it of themselves: no request, no correction, no rule."""
    return raw.learned in {FactOrigin.STATEMENT, FactOrigin.PREFERENCE} and raw.predicate != "rule"


def _is_name(raw: RawClaim) -> bool:
    return raw.kind in {"name", "contact"} or raw.predicate in {"name", "nickname"}


def _is_sure(raw: RawClaim, speaker: str | None) -> bool:
    return raw.learned is not FactOrigin.STATEMENT or (_is_name(raw) and may_answer(speaker))


def _hands_over(sentence: str) -> bool:
    """Return whether a sentence hands over a text to be worked on: what follows its colon is nobody's statement."""
    found = None if _TRIGGER.match(sentence) else _HANDED.match(sentence)
    if found is None or found["asks"] is None:
        return found is not None
    is_request = event_of(found["asks"]) in {EventType.COMMAND, EventType.QUESTION}
    return is_request and len(found["asks"].split()) > 1 and " update " not in f" {found['asks'].lower()} "


def _introduces(sentence: str) -> bool:
    """Return whether a sentence is led in as somebody else's words: "User: ...", "the letter reads: ..."."""
    lead = _LEAD.match(sentence)
    own = lead is None or _OWN_WORDS.search(lead[0]) or _TRIGGER.match(sentence)
    return not own and correction_at(sentence) is None


def _is_specific(note: str) -> bool:
    """Return whether a note names somebody, a number, a day or the speaker: "every step counts" does not."""
    words = words_of(note, 0, len(note))
    is_named = any(w.form[0].isupper() or w.low == "'s" or any(map(str.isdecimal, w.form)) for w in words)
    return is_named or any(w.low in CALENDAR | FIRST_PERSON for w in words)


def _confidence(learned: FactOrigin, policy: KnowledgePolicy) -> float:
    known = {
        FactOrigin.EXPLICIT: EXPLICIT,
        FactOrigin.PREFERENCE: policy.preference,
        FactOrigin.CORRECTION: policy.correction,
    }
    return known.get(learned, policy.statement)


def _is_contrast(found: re.Match[str] | None) -> bool:
    """Return whether two words are values of one kind: both with digits, or both with a capital."""
    if found is None:
        return False
    numbers = [any(c.isdecimal() for c in found[part]) for part in ("new", "old")]
    return all(numbers) or (not any(numbers) and found["new"][0].isupper() and found["old"][0].isupper())


def _deduplicate(found: list[Claim]) -> list[Claim]:
    kept: dict[tuple[str, str, str, bool], Claim] = {}
    for claim in found:
        if claim.value.norm:
            kept.setdefault((claim.subject.lower(), claim.predicate, claim.value.norm, claim.denied), claim)
    return list(kept.values())
