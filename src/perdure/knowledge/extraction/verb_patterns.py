"""How verbs are read: preferences, policies, possessions, states, acts."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.attributes_of_people import read_promotion
from perdure.knowledge.extraction.attributes_of_people import read_states as states_in
from perdure.knowledge.extraction.change_statements import read_changes
from perdure.knowledge.extraction.habits import read_routine
from perdure.knowledge.extraction.lemmas import base_verb, past_form, singular
from perdure.knowledge.extraction.measurements import claim_of, measure_at, read_count, value_at
from perdure.knowledge.extraction.naming_verbs import (
    EMPTY_HEADS,
    HABITS,
    NOT_EVENTS,
    PREFERRING,
    STATES,
    Parsed,
    RawClaim,
)
from perdure.knowledge.extraction.phrases import PARTICLES, Phrase, is_name, name_of, named_day, phrase_at
from perdure.knowledge.extraction.plain_values import words_at
from perdure.knowledge.extraction.predicates import Predicates
from perdure.knowledge.extraction.retractions import find_ending, read_retraction, verb_name
from perdure.knowledge.records.facts import Learned
from perdure.rules.language.words import word_set

_POINTING: Final = word_set("your this that these those the it you its being when what how seeing hearing having")
_BE: Final = word_set("am is are was were been")
_OFTEN: Final = word_set("daily every each twice once for at before with")
"""Words after what is taken that show it to be a medicine."""
_NO_MEDICINE: Final = word_set("care part place notes photos pictures time turns classes lessons pride")
_DOSES: Final = word_set("mg mcg g ml iu units unit tablet tablets pill pills drop drops puff puffs capsule capsules")


def read_acts(parsed: Parsed, predicates: Predicates) -> list[RawClaim]:
    """Return what the clause says that somebody is, has, prefers, does or did."""
    low = parsed.words[parsed.at].low
    if found := read_changes(parsed, predicates):
        return found
    if parsed.who.lower() == "it" or low == "to":
        return []
    if set(parsed.aux) & _BE and not low.endswith("ing"):
        return states_in(parsed, predicates)
    if parsed.phrase is not None and parsed.phrase.lows[0] == "the":
        return []
    over = find_ending(parsed, low)
    if over is not None:
        return read_retraction(parsed, over, predicates)
    return read_routine(parsed, predicates) or _verbs(parsed, low, predicates)


def _verbs(parsed: Parsed, low: str, predicates: Predicates) -> list[RawClaim]:
    lemma = base_verb(low)
    if lemma in PREFERRING:
        return _preferences(parsed, lemma, predicates)
    if lemma in {"have", "own"} or (lemma == "get" and not parsed.words[parsed.at + 1 :]):
        return _possessions(parsed, low, predicates)
    if lemma == "get":
        return _new_state(parsed) or _possessions(parsed, low, predicates)
    return _plain_verb(parsed, lemma, low, predicates) or _act(parsed, lemma, predicates)


def _new_state(parsed: Parsed) -> list[RawClaim]:
    """Return what somebody became: "got promoted to manager", "got married"."""
    words, at = parsed.words, parsed.at + 1
    low = words[at].low
    if low == "promoted":
        return read_promotion(parsed, at + 1)
    if STATES.get(low) != "marital_status" or parsed.words[parsed.at].low != "got" or parsed.denied:
        return []
    return [claim_of(parsed, "marital_status", Phrase(words[at : at + 1]), Learned.CORRECTION, many=False)]


def _plain_verb(parsed: Parsed, lemma: str, low: str, predicates: Predicates) -> list[RawClaim]:
    """Return what some verbs say with little else: "weigh 72 kg", "speak Portuguese", "take 20 mg of lisinopril"."""
    at = parsed.at + 1
    phrase = phrase_at(parsed.clause, at) if at < len(parsed.words) else None
    if lemma in {"stand", "bear"}:
        return _unbearable(parsed, phrase)
    if at >= len(parsed.words) or (parsed.aux and not parsed.denied) or low not in (lemma, f"{lemma}s"):
        return []
    found: list[RawClaim] = []
    match lemma:
        case "weigh":
            found = _weight(parsed, at)
        case "take":
            found = _medicine(parsed, phrase, at)
        case "speak" if phrase is not None and is_name(phrase.words[0]):
            found = [claim_of(parsed, predicates.name("speak"), phrase, Learned.STATEMENT, many=True)]
        case "go" | "pay" if parsed.words[at].low == "by":
            found = _by(parsed, lemma, at)
    return found


def _unbearable(parsed: Parsed, phrase: Phrase | None) -> list[RawClaim]:
    """Return what somebody "can't stand"."""
    if phrase is None or not {"can't", "cannot"} & set(parsed.aux):
        return []
    if parsed.words[parsed.at + 1].low in _POINTING | PARTICLES:
        return []
    return [claim_of(parsed, "dislike", phrase, Learned.PREFERENCE, many=True)]


def _weight(parsed: Parsed, at: int) -> list[RawClaim]:
    place, measured = value_at(parsed.clause, at)
    if place is None or not measured or parsed.denied:
        return []
    return [claim_of(parsed, "weight", Phrase(tuple(words_at(parsed, place))), Learned.STATEMENT)]


def _by(parsed: Parsed, lemma: str, at: int) -> list[RawClaim]:
    """Return "goes by Sam" and "pays by bank transfer"."""
    phrase = phrase_at(parsed.clause, at + 1)
    if phrase is None or (lemma == "go" and not is_name(phrase.words[0])):
        return []
    name = "nickname" if lemma == "go" else "payment_method"
    return [claim_of(parsed, name, phrase, Learned.STATEMENT, many=False)]


def _medicine(parsed: Parsed, phrase: Phrase | None, at: int) -> list[RawClaim]:
    """Return a medicine or its dose: a dose replaces the one before, a medicine is one more."""
    words = parsed.words
    found = measure_at(parsed.clause, at)
    if found is not None and found[1][:1] and found[1][0] in _DOSES and not parsed.denied:
        of = next((i for i in range(at, min(len(words), at + 4)) if words[i].low == "of"), None)
        name = None if of is None else phrase_at(parsed.clause, of + 1, short=True)
        if of is None or name is None:
            return []
        stop = next((i for i, w in enumerate(name.words) if w.low in _OFTEN), len(name.words))
        name, dose = Phrase(name.words[: max(stop, 1)]), Phrase(words[at:of])
        said = claim_of(parsed, f"{name_of(name.lows)}_dose", dose, Learned.STATEMENT, kind="measure", many=False)
        return [replace(said, span=(said.span[0], name.end))]
    if phrase is None or len(phrase.words) != 1 or phrase.words[0] is not words[at] or phrase.lows[0] in _NO_MEDICINE:
        return []
    after = words[at + 1].low if at + 1 < len(words) else ""
    return [claim_of(parsed, "take", phrase, Learned.STATEMENT, kind="activity", many=True)] if after in _OFTEN else []


def _preferences(parsed: Parsed, lemma: str, predicates: Predicates) -> list[RawClaim]:
    after = parsed.at + 1
    if after >= len(parsed.words) or past_form(parsed.words[parsed.at].low):
        return []
    if lemma != "prefer" and (parsed.words[after].low in _POINTING or parsed.phrase is not None):
        return []
    infinitive = parsed.words[after].low == "to"
    phrase = phrase_at(parsed.clause, after + infinitive)
    if phrase is None or (phrase.words[-1].low in EMPTY_HEADS and lemma != "prefer"):
        return []
    if infinitive and len(phrase.words) < 2:  # noqa: PLR2004  # "I like to go" tells nothing
        return []
    if lemma == "prefer":
        return [_preferred(parsed, phrase, predicates)]
    return [claim_of(parsed, predicates.name(PREFERRING[lemma]), phrase, Learned.PREFERENCE, many=True)]


def _preferred(parsed: Parsed, phrase: Phrase, predicates: Predicates) -> RawClaim:
    """Return a preference; "Friday deliveries" and "deliveries on Friday" are about the day of deliveries."""
    last = parsed.words.index(phrase.words[-1])
    wider = phrase
    if last + 2 < len(parsed.words) + 0 and parsed.words[last + 1].low in {"on", "in"}:
        wider = Phrase((*phrase.words, *parsed.words[last + 1 : last + 3]))
    if (days := named_day(wider)) is not None:
        day, named = days
        made = claim_of(
            parsed, predicates.name(f"{named}_preference"), day, Learned.PREFERENCE, kind="preference", many=False
        )
        return replace(made, span=(parsed.clause.start, wider.end))
    name = "preference"
    if last + 2 <= len(parsed.words) - 1 and parsed.words[last + 1].low == "for":
        topic = phrase_at(parsed.clause, last + 2, short=True)
        if topic is not None and len(topic.words) <= 3:  # noqa: PLR2004
            name = f"{name_of(topic.lows)}_preference"
    return claim_of(parsed, predicates.name(name), phrase, Learned.PREFERENCE, kind="preference")


def _possessions(parsed: Parsed, low: str, predicates: Predicates) -> list[RawClaim]:
    """Return what somebody has; numbers of things count them."""
    if low not in {"have", "has", "own", "owns", "got"} or (low == "got" and "have" not in parsed.aux):
        return []
    after = parsed.at + 1
    if found := read_count(parsed, after, "have"):
        return found
    if parsed.denied and after < len(parsed.words) and parsed.words[after].low in {"any", "time", "the"}:
        after += parsed.words[after].low == "any"
    if after >= len(parsed.words) or parsed.words[after].low not in {"a", "an", "any", "two", "my"}:
        return []
    phrase = phrase_at(parsed.clause, after, short=True)
    if phrase is None or set(phrase.lows) & EMPTY_HEADS or len(phrase.words) > 5:  # noqa: PLR2004
        return []
    made = [claim_of(parsed, predicates.name("have"), phrase, Learned.STATEMENT, many=True)]
    return made + _called(parsed, phrase)


def _called(parsed: Parsed, phrase: Phrase) -> list[RawClaim]:
    """Return the name of what somebody has: "a cat named Bailey"."""
    at = parsed.words.index(phrase.words[-1]) + 1
    inside = [i for i, w in enumerate(phrase.words) if w.low in {"named", "called"}]
    if inside:
        at = parsed.words.index(phrase.words[inside[0]])
    if at + 1 < len(parsed.words) and parsed.words[at].low in {"named", "called"} and is_name(parsed.words[at + 1]):
        kind = singular(parsed.words[at - 1].low)
        return [claim_of(parsed, f"{kind}_name", Phrase(parsed.words[at + 1 : at + 2]), Learned.STATEMENT, kind="name")]
    return []


_PLACED: Final = {
    "live_in",
    "live_at",
    "work_at",
    "work_for",
    "work_as",
    "go_to",
    "volunteer_at",
    "grow_up_in",
    "come_from",
}
"""Verbs that say something only with their preposition."""


_SHOWN: Final = word_set("this that these those how as everything")
"""What is pointed at is known only to those who were there."""
_MAKING: Final = word_set("make take get win give")
"""Verbs that tell of an act only with a thing: "made a bowl", not "made sure"."""


def _something(parsed: Parsed, at: int) -> bool:
    return at < len(parsed.words) and parsed.words[at].low in {"a", "an", "my", "our", "some", "first", "second"}


def _act(parsed: Parsed, lemma: str, predicates: Predicates) -> list[RawClaim]:
    """Return what somebody does as a rule, is doing, or did."""
    low = parsed.words[parsed.at].low
    name, after = verb_name(parsed, parsed.at, lemma)
    placed = name in _PLACED
    made = lemma in _MAKING and past_form(low) and not parsed.denied and _something(parsed, after)
    if (lemma in NOT_EVENTS and not placed and not made) or not _happens(parsed, lemma, low, rule=placed):
        return []
    if found := read_count(parsed, after, lemma):
        return found
    phrase = phrase_at(parsed.clause, after)
    known = predicates.name(name)
    if phrase is None or name in {"start_to", "learn_to"} or not _tells(parsed, phrase, after):
        return []
    if known in {"home", "employer"} and not is_name(phrase.words[0]):
        return []
    plain = predicates.row(known).type == "attribute"
    sort: dict[str, object] = {"kind": "activity", "many": True} if plain else {}
    found = [claim_of(parsed, known, phrase, Learned.STATEMENT, **sort)]
    hired = name == "work_as" or (lemma == "start" and phrase.lows[-1] == "job")
    return found + (_for_whom(parsed, phrase) if hired else [])


def _for_whom(parsed: Parsed, job: Phrase) -> list[RawClaim]:
    """Return whom somebody works for: "work as a data engineer at Initech", "started a job at Globex"."""
    after = parsed.words.index(job.words[-1]) + 1
    if after + 1 >= len(parsed.words) or parsed.words[after].low not in {"at", "for"}:
        return []
    firm = phrase_at(parsed.clause, after + 1, short=True)
    return (
        [claim_of(parsed, "employer", firm, Learned.STATEMENT)] if firm is not None and is_name(firm.words[0]) else []
    )


def _tells(parsed: Parsed, phrase: Phrase, after: int) -> bool:
    """Return whether the object of a verb names something: not "this", "a lot of time", "slowly"."""
    adverb = phrase.words[0].low.endswith("ly") and not is_name(phrase.words[0])
    return parsed.words[after].low not in _SHOWN and phrase.words[-1].low not in EMPTY_HEADS and not adverb


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
