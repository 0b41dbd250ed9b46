"""What a clause states: who, what about them, which value. What no pattern fits to its end states nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from perdure.knowledge.extraction.attributes import (
    attribute_of,
    changed,
    is_plural,
    read_attribute,
    read_office,
)
from perdure.knowledge.extraction.clauses import Clause
from perdure.knowledge.extraction.kinds import kind_of
from perdure.knowledge.extraction.lemmas import base_verb, singular
from perdure.knowledge.extraction.patterns import (
    Match,
    listed,
    match,
    name_end,
    span_of,
    thing_end,
    version_end,
)
from perdure.knowledge.extraction.phrases import MOST, from_to, named_day, value_kind
from perdure.knowledge.extraction.raw_claims import RawClaim, claim_of, name_of, said
from perdure.knowledge.extraction.words import OWNERS, PEOPLE, Words, is_name, skip_determiners
from perdure.knowledge.languages import WORDS, language
from perdure.knowledge.records.facts import Learned
from perdure.knowledge.records.predicates import Predicates

_STATES: Final = language("en").tables["states"]


_POINTING: Final = frozenset({"the", "this", "that", "these", "those", "your", "his", "her", "their", "its"})


def read_clause(clause: Clause, predicates: Predicates) -> list[RawClaim]:
    """Return what a clause states; nothing if it fits no pattern."""
    first = clause.subject[0].low
    if first in PEOPLE:
        who = "I" if first == "i" else clause.subject[0].form
        return [] if first == "it" else _of_somebody(clause, who, predicates)
    if (relative := _relative(clause)) is not None:
        return relative_claims(clause, *relative, predicates)
    if is_name(clause.subject[0]) and all(w.low != "'s" for w in clause.subject):
        return _holder(clause) or _of_somebody(clause, said(clause.subject), predicates)
    if _is_described(clause.subject):
        return _of_somebody(clause, said(clause.subject), predicates)
    return read_office(clause) or read_attribute(clause, predicates)


def _of_somebody(clause: Clause, who: str, predicates: Predicates) -> list[RawClaim]:
    if clause.verb in WORDS["stopping"] | WORDS["cancelling"] | {"give", "drop"}:
        return _ending(clause, who, predicates)
    if found := _on_days(clause, who, predicates) or _change(clause, who, predicates):
        return found
    if (fit := match("person", clause)) is not None:
        return _matched(clause, who, fit, predicates)
    return _act(clause, who, predicates)


def _matched(clause: Clause, who: str, fit: Match, predicates: Predicates) -> list[RawClaim]:
    pattern, name, value = fit.pattern, fit.pattern.predicate, fit.value
    if name == "STATE":
        name = _STATES["-".join(w.low for w in value)]
    elif name == "_count":
        noun = [w for w in value[1:] if w.low.isalpha()]
        if not noun or clause.denied or noun[-1].low in WORDS["no_attributes"] or not is_plural(noun[-1]):
            return []
        name = f"{name_of(noun)}_count"
    elif name == "_version":
        name = f"{name_of(value[:-1])}_version"
    elif fit.extra:
        name = name.replace("KIN", name_of(fit.extra))
    name = predicates.name(name)
    tier = Learned.PREFERENCE if "pref" in pattern.flags else Learned.STATEMENT
    tier = Learned.CORRECTION if "corr" in pattern.flags else tier
    more: dict[str, Any] = {"learned": tier, "kind": pattern.kind or ("measure" if name.endswith("_count") else "")}
    if "many" not in pattern.flags:
        more["many"] = False
    if fit.old:
        more["old"] = span_of(fit.old)
    items = list(listed(value)) if fit.kind in {"THINGS", "LANGUAGES"} else [value]
    found = [claim_of(clause, who, name, item, **{"many": True, **more}) for item in items]
    if name == "occupation" and fit.left and fit.left[0].low in {"at", "for"}:  # "a nurse at St. Mary's"
        left = replace(clause, rest=fit.left[1:])
        stop = name_end(left, 0)
        found += [claim_of(clause, who, "employer", left.rest[:stop], many=False)] if stop else []
    return found


def _act(clause: Clause, who: str, predicates: Predicates) -> list[RawClaim]:
    """Return what somebody likes or does as a rule: "likes jazz", "uses uv", "doesn't eat pork", "doesn't smoke"."""
    name, verb, rest = _liking(clause.verb), clause.verb, clause.rest
    unsure = clause.perfect and not (clause.denied and (clause.ended or clause.never))
    if clause.past or clause.progressive or unsure or (name and clause.used_to):
        return []
    if name:
        stop = _whole(clause, 0)
        words = rest[skip_determiners(rest) : stop] if stop else ()
        return [claim_of(clause, who, name, words, learned=Learned.PREFERENCE, many=True)] if words else []
    verbs = WORDS["habits"] | (WORDS["negatives"] if clause.denied else frozenset())
    over = clause.ended and verb.isalpha() and verb not in {"be", "have", "get", "go", "would"}
    stop = thing_end(clause, 0) if verb in verbs or over else None
    if stop is None:
        alone = (not rest or clause.date_at(rest[0])) and verb in WORDS["bare_acts"]
        return [_bare_act(clause, who)] if alone else []
    value = rest[skip_determiners(rest) : stop]
    return [claim_of(clause, who, predicates.name(verb), item, many=True) for item in listed(value)]


def _bare_act(clause: Clause, who: str) -> RawClaim:
    """Return an act without an object as its own value: "I don't smoke"."""
    place = clause.verb_at
    return replace(claim_of(clause, who, clause.verb, clause.subject, many=True), value=place)


def _liking(verb: str) -> str:
    return "like" if verb in WORDS["like"] else "dislike" if verb in WORDS["dislike"] else ""


def _whole(clause: Clause, at: int) -> int | None:
    """Return where the noun phrase ends that begins at a word, if the clause ends there or goes on beside it."""
    stop = thing_end(clause, at)
    vague = clause.rest[0].low in _POINTING and not is_name(clause.rest[min(1, len(clause.rest) - 1)])
    if stop is None or vague or (clause.rest[0].low.endswith("ing") and stop < len(clause.rest)):
        return None  # "love the energy", "love being with you"
    inner = WORDS["no_phrase"].intersection(w.low for w in clause.rest[at:stop])
    ends = stop == len(clause.rest) or clause.rest[stop].low in WORDS["beside"] | {"and", "or"}
    ends = ends or clause.date_at(clause.rest[stop]) is not None
    return stop if ends and not inner else None


def _holder(clause: Clause) -> list[RawClaim]:
    """Return who somebody is to the speaker or to a firm: "Rita is my sister", "Omar is the contact at Gai Media"."""
    rest = clause.rest
    if clause.verb != "be" or clause.past or len(rest) < 2 or rest[0].low not in {"my", "our", "the"}:  # noqa: PLR2004
        return []
    stop = next((i for i, w in enumerate(rest) if w.low in {"at", "of", "for"}), len(rest))
    noun = [w for w in rest[1:stop] if w.low not in WORDS["newer"]]
    if not noun or len(noun) > MOST or noun[-1].low not in WORDS["kin"] | WORDS["offices"]:
        return []
    owner = OWNERS.get(rest[0].low, "")
    if stop < len(rest):
        owner = said(rest[stop + 1 : name_end(clause, stop + 1)]) if name_end(clause, stop + 1) else ""
    many = noun[-1].low not in WORDS["single_kin"] if noun[-1].low in WORDS["kin"] else False
    name = f"{name_of(noun)}_name" if noun[-1].low in WORDS["kin"] else name_of(noun)
    last = rest[-1].end
    found = claim_of(clause, owner, name, clause.subject, many=many, kind="name")
    return [replace(found, span=(clause.start, last))] if owner else []


def _relative(clause: Clause) -> tuple[str, Words, Words] | None:
    """Return whose relative the subject is, the words of the relation, those of the name; None if it is none."""
    words = clause.subject
    if words[0].low not in OWNERS or len(words) < 2:  # noqa: PLR2004
        return None
    at = 1
    while at < len(words) - 1 and words[at].low in WORDS["which_kin"]:
        at += 1
    if words[at].low not in WORDS["kin"] and singular(words[at].low) not in {"parent", "kid", "child"}:
        return None
    name = words[at + 1 :]
    if any(not is_name(w) for w in name):
        return None
    return OWNERS[words[0].low], words[1 : at + 1], name


def relative_claims(clause: Clause, owner: str, relation: Words, name: Words, predicates: Predicates) -> list[RawClaim]:
    """Return what is said of a relative: by name of the relative, else of the speaker, as ``sister_home``."""
    kin = name_of(relation)
    if name:
        many = relation[-1].low not in WORDS["single_kin"]
        known = RawClaim(
            owner, f"{kin}_name", span_of(name), (clause.subject[0].start, name[-1].end), many=many, kind="name"
        )
        return [known, *_of_somebody(replace(clause, start=name[0].start), said(name), predicates)]
    if clause.verb == "be" and (called := _called(clause)) is not None:
        many = relation[-1].low not in WORDS["single_kin"]
        return [claim_of(clause, owner, f"{kin}_name", called, many=many, kind="name")]
    found = _of_somebody(clause, owner, predicates)
    return [replace(s, predicate=f"{kin}_{s.predicate}") for s in found if s.predicate != "use"]


def _called(clause: Clause) -> Words | None:
    """Return the name that ends a clause: "is Rita", "is called Rita"."""
    at = int(bool(clause.rest) and clause.rest[0].low in {"called", "named"})
    stop = name_end(clause, at)
    if clause.past or stop is None or stop != len(clause.rest) or stop - at > MOST:
        return None
    return clause.rest[at:stop] if clause.rest[at].low != "the" else None


def of_relative(predicate: str) -> tuple[str, str] | None:
    """Return whose a predicate is that was kept for a relative: ``sister_home`` is the ``sister``'s ``home``.

    None for what is no relative's, and for the relative's name.
    """
    words = predicate.split("_")
    at = next((i for i, word in enumerate(words) if word in WORDS["kin"]), None)
    rest = "" if at is None else "_".join(words[at + 1 :])
    return None if at is None or rest in {"", "name"} else ("_".join(words[: at + 1]), rest)


def _is_described(subject: Words) -> bool:
    """Return whether the subject is somebody who was named before: "the customer", "our client"."""
    parties = {"our", "the", "this", "that"}
    return len(subject) == 2 and subject[0].low in parties and subject[1].low in WORDS["parties"]  # noqa: PLR2004


def _on_days(clause: Clause, who: str, predicates: Predicates) -> list[RawClaim]:
    """Return on which days somebody wants something or does it as a rule."""
    rest = clause.rest[skip_determiners(clause.rest) :]
    told = named_day(rest) if rest and not clause.past and len(rest) <= MOST + 1 else None
    if told is None:
        return []
    day, name = told
    wanted = clause.verb in {"prefer", "want", "like", "accept"}
    if wanted and name not in {"day", "time"}:
        name = predicates.name(f"{name}_preference")
        found = claim_of(clause, who, name, day, learned=Learned.PREFERENCE, kind="preference", many=False)
        return [replace(found, span=(clause.start, max(found.span[1], rest[-1].end)))]
    recurs = rest[0].low == "every" or (rest[0].low == "on" and day[-1].low.endswith("s"))
    if wanted or name != "day" or not recurs or clause.perfect or clause.verb in {"be", "have", "go", "get"}:
        return []
    name = predicates.name(f"{clause.verb}_day")
    return [claim_of(clause, who, name, day, learned=Learned.PREFERENCE, kind="policy", many=False)]


def _ending(clause: Clause, who: str, predicates: Predicates) -> list[RawClaim]:
    """Return what ended: "stopped playing tennis", "gave up coffee", "stopped Friday deliveries"."""
    verb, rest = clause.verb, clause.rest
    up = bool(rest) and rest[0].low == {"give": "up", "unsubscribe": "from"}.get(verb)
    if clause.denied or (verb in {"give", "unsubscribe"} and not up) or len(rest) <= up:
        return []
    over = replace(clause, rest=rest[up:], denied=True, ended=True, past=False)
    bare = over.rest[skip_determiners(over.rest) :]
    days = named_day(bare) if verb in WORDS["stopping"] | WORDS["cancelling"] else None
    if days is not None and days[1] not in {"day", "time"} and (days[0][0] is bare[0] or days[0][-1].low.endswith("s")):
        claim = claim_of(over, who, predicates.name(days[1]), days[0], many=False, kind="preference")
        return [replace(claim, span=(clause.start, clause.end))]
    low = over.rest[0].low
    if low.endswith("ing") and (verb in WORDS["stopping"] or up):
        return _undone(over, who, predicates)
    if verb == "stop" or low in WORDS["not_own"]:
        return []
    return _unused(over, who, verb)


def _undone(over: Clause, who: str, predicates: Predicates) -> list[RawClaim]:
    """Return the act that ended: "smoking", "playing tennis"."""
    verb = base_verb(over.rest[0].low)
    acting = replace(over, verb=verb, rest=over.rest[1:])
    if not acting.rest or acting.date_at(acting.rest[0]):
        return [claim_of(over, who, verb, over.rest[:1], kind="activity", many=True)]
    if found := _on_days(acting, who, predicates):
        return found
    if (fit := match("person", acting)) is not None:
        return _matched(acting, who, fit, predicates)
    stop = thing_end(acting, 0)
    if stop is None:
        return []
    value = acting.rest[skip_determiners(acting.rest) : stop]
    return [claim_of(acting, who, predicates.name(_liking(verb) or verb), value, many=True, kind="activity")]


def _unused(over: Clause, who: str, verb: str) -> list[RawClaim]:
    """Return a thing that is no longer used: "Netflix", "my gym membership", "coffee"."""
    if over.rest[0].low in {"my", "our", "his", "her", "their"} and [w.low for w in over.rest[1:3]] in (
        ["job", "at"],
        ["job", "with"],
    ):
        stop = name_end(over, 3)
        return [claim_of(over, who, "employer", over.rest[3:stop], many=False)] if stop else []
    stop = thing_end(over, 0)
    if stop is None:
        return []
    value = over.rest[skip_determiners(over.rest) : stop]
    subscribed = value[-1].low in WORDS["subscribed"]
    if not (subscribed or all(is_name(w) for w in value)) and verb != "give":
        return []
    if subscribed and len(value) > 1 and is_name(value[0]):
        value = value[:-1]
    return [claim_of(over, who, "use", value, many=True)]


def _change(clause: Clause, who: str, predicates: Predicates) -> list[RawClaim]:  # noqa: PLR0911  # one for each form
    """Return what somebody changed: "switched from A to B", "raised the timeout to 60 s"."""
    if clause.verb not in WORDS["changing"] or clause.denied:
        return []
    places = from_to(clause)
    if places is None:
        return []
    head, new, old = places
    if head:
        attribute = attribute_of(head)
        if attribute is None or (attribute.unowned and not old and value_kind(clause, new) == "name"):
            return []
        owner = who if attribute.owner in {"they", "I", "we", "it"} else attribute.owner
        return changed(clause, attribute._replace(owner=owner), new, old, predicates)
    if clause.verb not in WORDS["switching"] or (clause.verb == "move" and not old):
        return []
    if (days := named_day(new)) is not None and days[1] not in {"day", "time"}:
        name = predicates.name(f"{days[1]}_preference")
        was = named_day(old) if old else None
        more = {"old": span_of(was[0])} if was else {}
        found = claim_of(clause, who, name, days[0], learned=Learned.CORRECTION, kind="preference", many=False, **more)
        return [replace(found, span=(clause.start, max(found.span[1], new[-1].end)))]
    return _switched(clause, who, new, old, predicates)


def _switched(clause: Clause, who: str, new: Words, old: Words, predicates: Predicates) -> list[RawClaim]:
    more: dict[str, Any] = {"old": span_of(old)} if old else {}
    for many in (2, 1):  # "switched to NET 45 payment terms" is about the payment terms
        name = predicates.name(name_of(new[-many:])) if len(new) > many else ""
        if name and kind_of(predicates, name) == "policy":
            return [claim_of(clause, who, name, new[:-many], learned=Learned.CORRECTION, many=False, **more)]
    if version_end(replace(clause, rest=new), 0) == len(new):
        name = f"{name_of(new[:-1])}_version"
        return [claim_of(clause, who, name, new, learned=Learned.CORRECTION, many=False, kind="setting", **more)]
    if new[-1].low in {"plan", "tier"} and len(new) > 1:
        return [claim_of(clause, who, "plan", new, learned=Learned.CORRECTION, many=False, **more)]
    if clause.verb == "move" and all(is_name(w) for w in (*new, *old)):
        return []  # a place or a tool
    return [claim_of(clause, who, "use", new, learned=Learned.CORRECTION, many=True, **more)]
