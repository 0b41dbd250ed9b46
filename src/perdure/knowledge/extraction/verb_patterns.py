"""How verbs are read: preferences, policies, possessions, states, acts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from perdure.knowledge.extraction.attributes_of_people import read_promotion, read_states
from perdure.knowledge.extraction.change_statements import read_changes
from perdure.knowledge.extraction.habits import read_routine
from perdure.knowledge.extraction.lemmas import base_verb, past_form, singular
from perdure.knowledge.extraction.measurements import measure_at, read_count, value_at
from perdure.knowledge.extraction.parsed_clause import Parsed, RawClaim, claim_of
from perdure.knowledge.extraction.phrases import PARTICLES, Phrase, is_name, name_of, named_day
from perdure.knowledge.extraction.retractions import find_ending, read_retraction, verb_name
from perdure.knowledge.extraction.vocabulary import EMPTY_HEADS, HABITS, NOT_EVENTS, PREFERRING, STATES
from perdure.knowledge.records.facts import Learned
from perdure.rules.language.words import word_set

_POINTING: Final = word_set("your this that these those the it you its being when what how seeing hearing having")
_BE: Final = word_set("am is are was were been")
_OFTEN: Final = word_set("daily every each twice once for at before with")
"""Words after what is taken that show it to be a medicine."""
_NO_MEDICINE: Final = word_set("care part place notes photos pictures time turns classes lessons pride")
_DOSES: Final = word_set("mg mcg g ml iu units unit tablet tablets pill pills drop drops puff puffs capsule capsules")
_PLACED: Final = word_set("live_in live_at work_at work_for work_as go_to volunteer_at grow_up_in come_from")
"""Verbs that say something only with their preposition."""
_SHOWN: Final = word_set("this that these those how as everything")
"""What is pointed at is known only to those who were there."""
_MAKING: Final = word_set("make take get win give")
"""Verbs that tell of an act only with a thing: "made a bowl", not "made sure"."""
_SOMETHING: Final = word_set("a an my our some first second")


def read_acts(parsed: Parsed) -> list[RawClaim]:
    """Return what the clause says that somebody is, has, prefers, does or did."""
    low = parsed.low
    if found := read_changes(parsed):
        return found
    if parsed.who.lower() == "it" or low == "to":
        return []
    if set(parsed.aux) & _BE and not low.endswith("ing"):
        return read_states(parsed)
    if parsed.phrase is not None and parsed.phrase.lows[0] == "the":
        return []
    over = find_ending(parsed, low)
    if over is not None:
        return read_retraction(parsed, over)
    return read_routine(parsed) or _verbs(parsed, low)


def _verbs(parsed: Parsed, low: str) -> list[RawClaim]:
    lemma = base_verb(low)
    if lemma in PREFERRING:
        return _preferences(parsed, lemma)
    if lemma in {"have", "own"}:
        return _possessions(parsed, low)
    if lemma == "get":
        return _new_state(parsed) or _possessions(parsed, low)
    return _plain_verb(parsed, lemma, low) or _act(parsed, lemma)


def _new_state(parsed: Parsed) -> list[RawClaim]:
    """Return what somebody became: "got promoted to manager", "got married"."""
    at = parsed.at + 1
    low = parsed.low_at(at)
    if low == "promoted":
        return read_promotion(parsed, at + 1)
    if STATES.get(low) != "marital_status" or parsed.low != "got" or parsed.denied:
        return []
    return [claim_of(parsed, "marital_status", Phrase(parsed.words[at : at + 1]), Learned.CORRECTION, many=False)]


def _plain_verb(parsed: Parsed, lemma: str, low: str) -> list[RawClaim]:
    """Return what some verbs say with little else: "weigh 72 kg", "speak Portuguese", "take 20 mg of lisinopril"."""
    at = parsed.at + 1
    phrase = parsed.phrase_at(at)
    if lemma in {"stand", "bear"}:
        return _unbearable(parsed, phrase)
    if (parsed.aux and not parsed.denied) or low not in (lemma, f"{lemma}s"):
        return []
    if lemma == "weigh":
        return _weight(parsed, at)
    if lemma == "take":
        return _dose(parsed, at) or _medicine(parsed, phrase, at)
    if lemma == "speak" and phrase is not None and is_name(phrase.words[0]):
        return [claim_of(parsed, parsed.predicates.name("speak"), phrase, many=True)]
    return _by(parsed, lemma, at) if lemma in {"go", "pay"} and parsed.low_at(at) == "by" else []


def _unbearable(parsed: Parsed, phrase: Phrase | None) -> list[RawClaim]:
    """Return what somebody "can't stand"."""
    pointed = parsed.low_at(parsed.at + 1) in _POINTING | PARTICLES
    if phrase is None or pointed or not {"can't", "cannot"} & set(parsed.aux):
        return []
    return [claim_of(parsed, "dislike", phrase, Learned.PREFERENCE, many=True)]


def _weight(parsed: Parsed, at: int) -> list[RawClaim]:
    place, measured = value_at(parsed.clause, at)
    if place is None or not measured or parsed.denied:
        return []
    return [claim_of(parsed, "weight", Phrase(parsed.words_at(place)))]


def _by(parsed: Parsed, lemma: str, at: int) -> list[RawClaim]:
    """Return "goes by Sam" and "pays by bank transfer"."""
    phrase = parsed.phrase_at(at + 1)
    if phrase is None or (lemma == "go" and not is_name(phrase.words[0])):
        return []
    return [claim_of(parsed, "nickname" if lemma == "go" else "payment_method", phrase, many=False)]


def _dose(parsed: Parsed, at: int) -> list[RawClaim]:
    """Return the dose of a medicine, which replaces the one before: "take 20 mg of lisinopril"."""
    found, of = measure_at(parsed.clause, at), parsed.clause.find("of", at, at + 4)
    name = None if of is None else parsed.phrase_at(of + 1, short=True)
    if found is None or not found[1] or found[1][0] not in _DOSES or parsed.denied or of is None or name is None:
        return []
    stop = next((i for i, w in enumerate(name.words) if w.low in _OFTEN), len(name.words))
    name, dose = Phrase(name.words[: max(stop, 1)]), Phrase(parsed.words[at:of])
    said = claim_of(parsed, f"{name_of(name.lows)}_dose", dose, kind="measure", many=False)
    return [replace(said, span=(said.span[0], name.end))]


def _medicine(parsed: Parsed, phrase: Phrase | None, at: int) -> list[RawClaim]:
    """Return a medicine that is taken, one more: "takes lisinopril daily"."""
    if phrase is None or len(phrase.words) != 1 or phrase.words[0] is not parsed.words[at]:
        return []
    if phrase.lows[0] in _NO_MEDICINE or parsed.low_at(at + 1) not in _OFTEN:
        return []
    return [claim_of(parsed, "take", phrase, kind="activity", many=True)]


def _preferences(parsed: Parsed, lemma: str) -> list[RawClaim]:
    after = parsed.at + 1
    follows = parsed.low_at(after)
    if past_form(parsed.low) or (lemma != "prefer" and (follows in _POINTING or parsed.phrase is not None)):
        return []
    infinitive = follows == "to"
    phrase = parsed.phrase_at(after + infinitive)
    if phrase is None or (phrase.words[-1].low in EMPTY_HEADS and lemma != "prefer"):
        return []
    if infinitive and len(phrase.words) < 2:  # noqa: PLR2004  # "I like to go" tells nothing
        return []
    if lemma == "prefer":
        return [_preferred(parsed, phrase)]
    return [claim_of(parsed, parsed.predicates.name(PREFERRING[lemma]), phrase, Learned.PREFERENCE, many=True)]


def _preferred(parsed: Parsed, phrase: Phrase) -> RawClaim:
    """Return a preference; "Friday deliveries" and "deliveries on Friday" are about the day of deliveries."""
    after, wider = parsed.after(phrase), phrase
    follows = parsed.low_at(after)
    if follows in {"on", "in"} and parsed.low_at(after + 1):
        wider = Phrase((*phrase.words, *parsed.words[after : after + 2]))
    if (days := named_day(wider)) is not None:
        day, named = days
        name = parsed.predicates.name(f"{named}_preference")
        made = claim_of(parsed, name, day, Learned.PREFERENCE, kind="preference", many=False)
        return replace(made, span=(parsed.clause.start, wider.end))
    topic = parsed.phrase_at(after + 1, short=True) if follows == "for" else None
    short = topic is not None and len(topic.words) <= 3  # noqa: PLR2004
    name = f"{name_of(topic.lows)}_preference" if topic is not None and short else "preference"
    return claim_of(parsed, parsed.predicates.name(name), phrase, Learned.PREFERENCE, kind="preference")


def _possessions(parsed: Parsed, low: str) -> list[RawClaim]:
    """Return what somebody has; numbers of things count them."""
    if low not in {"have", "has", "own", "owns", "got"} or (low == "got" and "have" not in parsed.aux):
        return []
    after = parsed.at + 1
    if found := read_count(parsed, after, "have"):
        return found
    after += parsed.denied and parsed.low_at(after) == "any"
    if parsed.low_at(after) not in {"a", "an", "any", "two", "my"}:
        return []
    phrase = parsed.phrase_at(after, short=True)
    if phrase is None or set(phrase.lows) & EMPTY_HEADS or len(phrase.words) > 5:  # noqa: PLR2004
        return []
    return [claim_of(parsed, parsed.predicates.name("have"), phrase, many=True), *_called(parsed, phrase)]


def _called(parsed: Parsed, phrase: Phrase) -> list[RawClaim]:
    """Return the name of what somebody has: "a cat named Bailey"."""
    first = parsed.words.index(phrase.words[0])
    at = next((i for i, w in enumerate(phrase.words, first) if w.low in {"named", "called"}), parsed.after(phrase))
    if parsed.low_at(at) not in {"named", "called"} or not parsed.low_at(at + 1) or not is_name(parsed.words[at + 1]):
        return []
    kind = singular(parsed.low_at(at - 1))
    return [claim_of(parsed, f"{kind}_name", Phrase(parsed.words[at + 1 : at + 2]), kind="name")]


def _act(parsed: Parsed, lemma: str) -> list[RawClaim]:
    """Return what somebody does as a rule, is doing, or did."""
    low = parsed.low
    name, after = verb_name(parsed, parsed.at, lemma)
    placed = name in _PLACED
    made = lemma in _MAKING and past_form(low) and not parsed.denied and parsed.low_at(after) in _SOMETHING
    if (lemma in NOT_EVENTS and not placed and not made) or not _happens(parsed, lemma, low, rule=placed):
        return []
    if found := read_count(parsed, after, lemma):
        return found
    phrase = parsed.phrase_at(after)
    known = parsed.predicates.name(name)
    if phrase is None or name in {"start_to", "learn_to"} or not _tells(parsed, phrase, after):
        return []
    if known in {"home", "employer"} and not is_name(phrase.words[0]):
        return []
    plain = parsed.sort_of(known) == "attribute"
    sort: dict[str, Any] = {"kind": "activity", "many": True} if plain else {}
    hired = name == "work_as" or (lemma == "start" and phrase.lows[-1] == "job")
    return [claim_of(parsed, known, phrase, **sort), *(_for_whom(parsed, phrase) if hired else [])]


def _for_whom(parsed: Parsed, job: Phrase) -> list[RawClaim]:
    """Return whom somebody works for: "work as a data engineer at Initech", "started a job at Globex"."""
    after = parsed.after(job)
    firm = parsed.phrase_at(after + 1, short=True) if parsed.low_at(after) in {"at", "for"} else None
    return [claim_of(parsed, "employer", firm)] if firm is not None and is_name(firm.words[0]) else []


def _tells(parsed: Parsed, phrase: Phrase, after: int) -> bool:
    """Return whether the object of a verb names something: not "this", "a lot of time", "slowly"."""
    adverb = phrase.words[0].low.endswith("ly") and not is_name(phrase.words[0])
    return parsed.low_at(after) not in _SHOWN and phrase.words[-1].low not in EMPTY_HEADS and not adverb


def _happens(parsed: Parsed, lemma: str, low: str, *, rule: bool) -> bool:
    """Return whether a verb tells what is done as a rule, is being done, or was done."""
    helped = set(parsed.aux)
    perfect = bool(helped & {"have", "has"})
    doing = low.endswith("ing") and bool(helped & _BE)
    did = past_form(low) or perfect or (parsed.denied and bool(helped & {"did", "do", "does"}))
    if did and lemma == "live" and not perfect:
        return False
    if lemma not in HABITS and did and low == lemma and not helped and not parsed.never:
        return False  # "let", "put": as likely something else
    return doing or did or lemma in HABITS or rule
