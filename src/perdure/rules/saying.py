"""How verbs are read: preferences, policies, possessions, states, acts (design 5).

May live here: which words after a verb are its value, and what that says. May not: changes and measures
(rules/measuring.py), subjects (rules/stating.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.records.instant import Instant
from perdure.records.knowledge import Learned
from perdure.rules.attributes import attributes, changes
from perdure.rules.clauses import Clause
from perdure.rules.lemmas import base_verb, past_form, singular
from perdure.rules.measuring import counts, noted, owned
from perdure.rules.naming_verbs import (
    EMPTY_HEADS,
    HABITS,
    JOBS,
    NOT_EVENTS,
    PREFERRING,
    RELATIONS,
    STATES,
    STOPPING,
    Parsed,
    Place,
    Said,
)
from perdure.rules.phrases import (
    PARTICLES,
    PEOPLE,
    VERB_PREPOSITIONS,
    Phrase,
    day_named,
    is_name,
    is_number,
    name_of,
    phrase_at,
)
from perdure.rules.predicates import Predicates
from perdure.rules.words import listed

__all__ = ["acts", "attributes", "noted", "policies"]

_POINTING: Final = listed("your this that these those the it you its being when what how seeing hearing having")
_BE: Final = listed("am is are was were been")
_NEXT: Final = listed("before after until at on by past between")
_COMMON: Final = listed(
    "ship call deliver send email use invoice schedule pay order book deploy contact knock bill text"
)
"""Verbs of a rule that is told without a subject: "always ship on Friday"."""
_INTERESTED: Final = {
    "interested": "interest",
    "passionate": "interest",
    "keen": "interest",
    "into": "enjoy",
    "fond": "like",
}


def policies(clause: Clause, predicates: Predicates) -> list[Said]:
    """Return a rule that is told: "always ship on Friday", "we never call before 9"."""
    words = clause.words
    at = 1 if words[0].low in {"we", "they", "please", "you"} and len(words) > 1 else 0
    if at + 2 >= len(words) or words[at].low not in {"always", "never"}:
        return []
    verb = words[at + 1].low
    if verb != base_verb(verb) or (at == 0 and verb not in _COMMON) or verb in NOT_EVENTS - _COMMON:
        return []
    who = words[0].said if words[0].low in {"we", "they"} else "we"
    denied, after = words[at].low == "never", at + 2
    place = words[after - 1].start, words[-1].end
    predicate, kind = "policy", ""
    rest = Phrase(words[after:])
    days = day_named(rest) if len(rest.words) <= 4 else None  # noqa: PLR2004
    if days is not None:
        day, named = days
        predicate, place = predicates.name(f"{verb}_{named}"), (day.start, day.end)
        kind = "policy"
    elif words[after].low in _NEXT and after + 1 < len(words) and is_number(words[after + 1].low):
        predicate, place, kind = predicates.name(f"{verb}_time"), (words[after].start, words[-1].end), "policy"
    span = words[0].start, words[-1].end
    return [Said(who, predicate, place, span, Learned.PREFERENCE, denied=denied, kind=kind)]


def acts(parsed: Parsed, predicates: Predicates) -> list[Said]:
    """Return what the clause says that somebody is, has, prefers, does or did."""
    low = parsed.words[parsed.at].low
    if found := changes(parsed, predicates):
        return found
    if parsed.who.lower() == "it" or low == "to":
        return []
    if set(parsed.aux) & _BE and not low.endswith("ing"):
        return _states(parsed, predicates)
    if parsed.phrase is not None and parsed.phrase.lows[0] == "the":
        return []
    ended = _ending(parsed, low)
    return _verbs(parsed, low, predicates) if ended is None else _ended(parsed, ended, predicates)


def _verbs(parsed: Parsed, low: str, predicates: Predicates) -> list[Said]:
    lemma = base_verb(low)
    if lemma in PREFERRING:
        return _preferences(parsed, lemma, predicates)
    if lemma in {"have", "own", "get"}:
        return _possessions(parsed, low, predicates)
    return _acted(parsed, lemma, predicates)


def _ending(parsed: Parsed, low: str) -> int | None:
    """Return where begins what holds no more: after "no longer", "used to", "stopped", "gave up"; else None.

    Beyond the last word where the clause says only that nothing ended: "never gives up".
    """
    lemma, at = base_verb(low), parsed.at
    if (low == "no" and _follows(parsed, "longer")) or (low == "used" and _follows(parsed, "to")):
        return at + 2
    given = lemma == "give" and _follows(parsed, "up")
    if lemma not in STOPPING and not given:
        return None
    after = at + 1 + given
    return after if not parsed.denied and (_gerund(parsed, after) or lemma != "stop") else len(parsed.words)


def _follows(parsed: Parsed, low: str) -> bool:
    after = parsed.words[parsed.at + 1 : parsed.at + 2]
    return bool(after) and after[0].low == low


def _gerund(parsed: Parsed, at: int) -> bool:
    return at < len(parsed.words) and parsed.words[at].low.endswith("ing")


def _since(parsed: Parsed, value: Place) -> Instant | None:
    """Return the day that the clause names beside its value."""
    return next((at for start, end, at in parsed.clause.at if end <= value[0] or start >= value[1]), None)


def _said(parsed: Parsed, predicate: str, phrase: Phrase, learned: Learned, **more: object) -> Said:
    value = phrase.start, phrase.end
    span = parsed.clause.start, max(phrase.end, parsed.words[parsed.at].end)
    since = _since(parsed, value)
    made = Said(parsed.who, predicate, value, span, learned, since=since, denied=parsed.denied)
    return _with(made, **more)


def _with(said: Said, **more: object) -> Said:
    return replace(said, **more)  # type: ignore[arg-type]


def _ended(parsed: Parsed, at: int, predicates: Predicates) -> list[Said]:
    """Return what holds no more: "no longer smokes", "stopped smoking", "used to live in Lyon"."""
    if at >= len(parsed.words):
        return []
    verb = base_verb(parsed.words[at].low)
    if verb in {"be", "have"} or parsed.words[at].low in {"a", "the", "my"}:
        phrase = phrase_at(parsed.clause, at + (verb in {"be", "have"}))
        name = {"be": "is", "have": "have"}.get(verb, "use")
    elif verb in PREFERRING:
        phrase, name = phrase_at(parsed.clause, at + 1), PREFERRING[verb]
    else:
        name, after = _verb_name(parsed, at, verb)
        phrase = phrase_at(parsed.clause, after)
        if phrase is None:
            phrase, name = Phrase(parsed.words[at : at + 1]), "do"
    if phrase is None:
        return []
    known = predicates.name(name)
    plain = predicates.row(known).type == "attribute"
    more: dict[str, object] = {"kind": "activity", "many": True} if plain else {}
    return [_said(parsed, known, phrase, Learned.CORRECTION, denied=True, **more)]


def _preferences(parsed: Parsed, lemma: str, predicates: Predicates) -> list[Said]:
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
    return [_said(parsed, predicates.name(PREFERRING[lemma]), phrase, Learned.PREFERENCE, many=True)]


def _preferred(parsed: Parsed, phrase: Phrase, predicates: Predicates) -> Said:
    """Return a preference; "Friday deliveries" and "deliveries on Friday" are about the day of deliveries."""
    last = parsed.words.index(phrase.words[-1])
    wider = phrase
    if last + 2 < len(parsed.words) + 0 and parsed.words[last + 1].low in {"on", "in"}:
        wider = Phrase((*phrase.words, *parsed.words[last + 1 : last + 3]))
    if (days := day_named(wider)) is not None:
        day, named = days
        made = _said(
            parsed, predicates.name(f"{named}_preference"), day, Learned.PREFERENCE, kind="preference", many=False
        )
        return _with(made, span=(parsed.clause.start, wider.end))
    name = "preference"
    if last + 2 <= len(parsed.words) - 1 and parsed.words[last + 1].low == "for":
        topic = phrase_at(parsed.clause, last + 2, short=True)
        if topic is not None and len(topic.words) <= 3:  # noqa: PLR2004
            name = f"{name_of(topic.lows)}_preference"
    return _said(parsed, predicates.name(name), phrase, Learned.PREFERENCE, kind="preference")


def _possessions(parsed: Parsed, low: str, predicates: Predicates) -> list[Said]:
    """Return what somebody has; numbers of things count them."""
    if low not in {"have", "has", "own", "owns", "got"} or (low == "got" and "have" not in parsed.aux):
        return []
    after = parsed.at + 1
    if found := counts(parsed, after, "have"):
        return found
    if parsed.denied and after < len(parsed.words) and parsed.words[after].low in {"any", "time", "the"}:
        after += parsed.words[after].low == "any"
    if after >= len(parsed.words) or parsed.words[after].low not in {"a", "an", "any", "two", "my"}:
        return []
    phrase = phrase_at(parsed.clause, after, short=True)
    if phrase is None or set(phrase.lows) & EMPTY_HEADS or len(phrase.words) > 5:  # noqa: PLR2004
        return []
    made = [_said(parsed, predicates.name("have"), phrase, Learned.STATEMENT, many=True)]
    return made + _called(parsed, phrase)


def _called(parsed: Parsed, phrase: Phrase) -> list[Said]:
    """Return the name of what somebody has: "a cat named Bailey"."""
    at = parsed.words.index(phrase.words[-1]) + 1
    inside = [i for i, w in enumerate(phrase.words) if w.low in {"named", "called"}]
    if inside:
        at = parsed.words.index(phrase.words[inside[0]])
    if at + 1 < len(parsed.words) and parsed.words[at].low in {"named", "called"} and is_name(parsed.words[at + 1]):
        kind = singular(parsed.words[at - 1].low)
        return [_said(parsed, f"{kind}_name", Phrase(parsed.words[at + 1 : at + 2]), Learned.STATEMENT, kind="name")]
    return []


def _states(parsed: Parsed, predicates: Predicates) -> list[Said]:
    """Return what somebody is."""
    words, at = parsed.words, parsed.at
    low, learned = words[at].low, Learned.STATEMENT
    past = bool(set(parsed.aux) & {"was", "were"})
    aged = is_number(low) and (at + 1 == len(words) or [w.low for w in words[at + 1 : at + 3]] == ["years", "old"])
    if (low in STATES and not past) or (aged and parsed.phrase is None):
        return [_said(parsed, STATES.get(low, "age"), Phrase(words[at : at + 1]), learned)]
    if low in {"called", "named"}:
        return _named(parsed)
    follows = words[at + 1].low if at + 1 < len(words) else ""
    if low in {"born", "based", "from"} or (low == "allergic" and follows == "to"):
        return _placed(parsed, low, follows, predicates)
    if low in _INTERESTED and not past:
        return _interested(parsed, low, follows, predicates)
    return _described(parsed, predicates) if low in {"a", "an"} and not past else []


def _placed(parsed: Parsed, low: str, follows: str, predicates: Predicates) -> list[Said]:
    phrase = phrase_at(parsed.clause, parsed.at + 1 + (low != "from"))
    if phrase is None or not (is_name(phrase.words[0]) or low == "allergic"):
        return []
    name = {"from": "from", "allergic": "allergy"}.get(low, f"{low}_{follows}")
    return [_said(parsed, predicates.name(name), phrase, Learned.STATEMENT)]


def _interested(parsed: Parsed, low: str, follows: str, predicates: Predicates) -> list[Said]:
    phrase = phrase_at(parsed.clause, parsed.at + 1 + (low != "into"))
    if phrase is None or set(phrase.lows) & EMPTY_HEADS or follows == "to":
        return []
    return [_said(parsed, predicates.name(_INTERESTED[low]), phrase, Learned.PREFERENCE)]


def _named(parsed: Parsed) -> list[Said]:
    """Return a name: "my sister is called Ann", "I'm called Ann"."""
    name = phrase_at(parsed.clause, parsed.at + 1, short=True)
    if name is None or not is_name(name.words[0]):
        return []
    if parsed.phrase is None:
        return [_said(parsed, "name", name, Learned.STATEMENT)]
    owner, named = owned(parsed.phrase)
    if named.rpartition("_")[2] in RELATIONS:
        return [_said(parsed, f"{named}_name", name, Learned.STATEMENT, subject=owner, kind="name")]
    return [_said(parsed, "name", name, Learned.STATEMENT)]


def _described(parsed: Parsed, predicates: Predicates) -> list[Said]:
    """Return "a nurse", "a big fan of jazz"; of others than the speaker any description."""
    phrase = phrase_at(parsed.clause, parsed.at)
    if phrase is None:
        return []
    lows = phrase.lows
    if "fan" in lows[:4] and "of" in lows[:5]:
        liked = Phrase(phrase.words[lows.index("of") + 1 :]) if lows.index("of") + 1 < len(lows) else None
        return [_said(parsed, "fan", liked, Learned.PREFERENCE, many=True)] if liked else []
    head = singular(lows[lows.index("of") - 1] if "of" in lows and lows.index("of") else lows[-1])
    if head in JOBS:
        return [_said(parsed, "occupation", phrase, Learned.STATEMENT, many=True, kind="job")]
    if parsed.who.lower() in PEOPLE or set(lows) & EMPTY_HEADS or parsed.phrase is not None:
        return []
    return [_said(parsed, predicates.name("is"), phrase, Learned.STATEMENT, many=True)]


def _verb_name(parsed: Parsed, at: int, lemma: str) -> tuple[str, int]:
    """Return what a verb with its particle and preposition is called, and where its object begins."""
    name, after = lemma, at + 1
    words = parsed.words
    if after < len(words) and words[after].low in PARTICLES:
        name, after = f"{name}_{words[after].low}", after + 1
    day = any(s <= words[after].start < e for s, e, _ in parsed.clause.at) if after < len(words) else False
    if after < len(words) and not day and words[after].low in VERB_PREPOSITIONS:
        name, after = f"{name}_{words[after].low}", after + 1
    return name, after


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


_SHOWN: Final = listed("this that these those how as everything")
"""What is pointed at is known only to those who were there."""
_MAKING: Final = listed("make take get win give")
"""Verbs that tell of an act only with a thing: "made a bowl", not "made sure"."""


def _something(parsed: Parsed, at: int) -> bool:
    return at < len(parsed.words) and parsed.words[at].low in {"a", "an", "my", "our", "some", "first", "second"}


def _acted(parsed: Parsed, lemma: str, predicates: Predicates) -> list[Said]:
    """Return what somebody does as a rule, is doing, or did."""
    low = parsed.words[parsed.at].low
    name, after = _verb_name(parsed, parsed.at, lemma)
    placed = name in _PLACED
    made = lemma in _MAKING and past_form(low) and not parsed.denied and _something(parsed, after)
    if (lemma in NOT_EVENTS and not placed and not made) or not _happens(parsed, lemma, low, rule=placed):
        return []
    if found := counts(parsed, after, lemma):
        return found
    phrase = phrase_at(parsed.clause, after)
    known = predicates.name(name)
    if phrase is None or name in {"start_to", "learn_to"} or not _tells(parsed, phrase, after):
        return []
    if known in {"home", "employer"} and not is_name(phrase.words[0]):
        return []
    plain = predicates.row(known).type == "attribute"
    sort: dict[str, object] = {"kind": "activity", "many": True} if plain else {}
    return [_said(parsed, known, phrase, Learned.STATEMENT, **sort)]


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
