"""What a clause states: who, what about them, which value. What no pattern fits to its end states nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from perdure.knowledge.extraction.attributes import attribute_of, changed_attributes, read_attribute
from perdure.knowledge.extraction.clauses import Clause
from perdure.knowledge.extraction.patterns import (
    STATES,
    PatternMatch,
    list_items,
    match,
    name_end,
    points_elsewhere,
    span_of,
    thing_end,
    version_end,
)
from perdure.knowledge.extraction.raw_claims import MOST, RawClaim, claim_of, from_to, join_words, name_of, named_day
from perdure.knowledge.extraction.words import OWNERS, PEOPLE, Words, base_verb, is_name, singular, skip_determiners
from perdure.knowledge.languages import WORDS
from perdure.knowledge.records.facts import FactOrigin, Predicates

_COMPARING: Final = frozenset({"better", "best", "more", "most", "less", "least"})
_REASONS: Final = frozenset({"since", "because", ",", "but", "though", "so"})
"""Words after which a denial goes on without being limited; after the others of ``beside`` it holds only then."""
ACT: Final = "activity"  # the sort of what somebody does; said in passing it is no fact


def read_clause(clause: Clause, predicates: Predicates) -> list[RawClaim]:
    """Return what a clause states; nothing if it fits no pattern."""
    first = clause.subject[0].low
    if first == "it":
        return []
    if first in PEOPLE:
        return _of_somebody(clause, "I" if first == "i" else clause.subject[0].form, predicates)
    if (relative := _relative(clause)) is not None:
        return _of_relative(clause, *relative, predicates)
    if is_name(clause.subject[0]) and all(w.low != "'s" for w in clause.subject):
        return _of_somebody(clause, join_words(clause.subject), predicates)
    return read_attribute(clause, predicates)


def _of_somebody(clause: Clause, who: str, predicates: Predicates) -> list[RawClaim]:
    if clause.verb in WORDS["ending"]:
        return _ended_claims(clause, who, predicates)
    if found := _on_days(clause, who, predicates) or _change(clause, who, predicates):
        return found
    if (fit := match(clause)) is not None:
        return [_claim_of_match(clause, who, fit, predicates)]
    return _act(clause, who, predicates)


def _claim_of_match(clause: Clause, who: str, fit: PatternMatch, predicates: Predicates) -> RawClaim:
    pattern, name, value = fit.pattern, fit.pattern.predicate, fit.value
    if name == "STATE":
        name = STATES["-".join(w.low for w in value)]
    elif name == "_version":
        name = f"{name_of(value[:-1])}_version"
    tier = FactOrigin.PREFERENCE if "pref" in pattern.flags else FactOrigin.STATEMENT
    tier = FactOrigin.CORRECTION if "corr" in pattern.flags else tier
    more: dict[str, Any] = {"old": span_of(fit.old)} if fit.old else {}
    many = "many" in pattern.flags
    return claim_of(clause, who, predicates.name(name), value, learned=tier, kind=pattern.kind, many=many, **more)


def _act(clause: Clause, who: str, predicates: Predicates) -> list[RawClaim]:
    liked, verb, rest = _liking_predicate(clause.verb), clause.verb, clause.rest
    if clause.past or clause.perfect:
        return []
    if liked:
        if clause.subject[0].low in PEOPLE - {"i", "we"}:
            return []
        stop = _whole(clause)
        words = rest[skip_determiners(rest) : stop] if stop else ()
        return [claim_of(clause, who, liked, words, learned=FactOrigin.PREFERENCE, many=True)] if words else []
    over = clause.ended and verb.isalpha() and verb not in {"be", "have", "get", "go", "would"}
    stop = thing_end(clause, 0) if verb in WORDS["habits"] or over else None
    if stop is None:
        alone = not rest and verb in WORDS["bare_acts"]
        return [_bare_act(clause, who)] if alone else []
    if clause.denied and not over and stop < len(rest) and rest[stop].low in WORDS["beside"] - _REASONS:
        return []  # who does not eat meat on Fridays eats meat
    value = rest[skip_determiners(rest) : stop]
    return [claim_of(clause, who, predicates.name(verb), item, many=True, kind=ACT) for item in list_items(value)]


def _bare_act(clause: Clause, who: str) -> RawClaim:
    """Return an act without an object as its own value: "I don't smoke"."""
    return replace(claim_of(clause, who, clause.verb, clause.subject, many=True, kind=ACT), value=clause.verb_at)


def _liking_predicate(verb: str) -> str:
    return "like" if verb in WORDS["like"] else "dislike" if verb in WORDS["dislike"] else ""


def _whole(clause: Clause) -> int | None:
    """Return where the noun phrase ends that a clause goes on with, if it ends there or goes on beside it."""
    stop = thing_end(clause, 0)
    if stop is None or points_elsewhere(clause.rest) or clause.rest[stop - 1].low in _COMPARING:
        return None  # "like option B better": of what was shown
    if clause.rest[0].low.endswith("ing") and stop < len(clause.rest):
        return None  # "love its energy", "love being with you"
    titled = is_name(clause.rest[min(1, len(clause.rest) - 1)])
    if clause.rest[0].low in {"the", "your"} and not titled:
        return None
    inner = WORDS["no_phrase"].intersection(w.low for w in clause.rest[:stop])
    ends = stop == len(clause.rest) or clause.rest[stop].low in WORDS["beside"] | {"and", "or"}
    return stop if (ends or clause.date_at(clause.rest[stop]) is not None) and not inner else None


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
    return (OWNERS[words[0].low], words[1 : at + 1], name) if all(is_name(w) for w in name) else None


def _of_relative(clause: Clause, owner: str, relation: Words, name: Words, predicates: Predicates) -> list[RawClaim]:
    """Return what a relative is called, and what is said of one who is named."""
    kin, many = name_of(relation), relation[-1].low not in WORDS["single_kin"]
    if name:
        span = (clause.subject[0].start, name[-1].end)
        known = RawClaim(owner, f"{kin}_name", span_of(name), span, many=many, kind="name")
        return [known, *_of_somebody(replace(clause, start=name[0].start), join_words(name), predicates)]
    called = _name_after(clause) if clause.verb == "be" else None
    return [claim_of(clause, owner, f"{kin}_name", called, many=many, kind="name")] if called else []


def _name_after(clause: Clause) -> Words | None:
    at = int(bool(clause.rest) and clause.rest[0].low in {"called", "named"})
    stop = name_end(clause, at)
    if clause.past or stop is None or stop != len(clause.rest) or stop - at > MOST:
        return None
    return clause.rest[at:stop] if clause.rest[at].low != "the" else None


def _on_days(clause: Clause, who: str, predicates: Predicates) -> list[RawClaim]:
    """Return on which days somebody wants something: "prefers Friday deliveries"."""
    rest = clause.rest[skip_determiners(clause.rest) :]
    day = named_day(rest) if rest and not clause.past and len(rest) <= MOST + 1 else None
    if day is None or clause.verb not in WORDS["wanting"]:
        return []
    return [_day(clause, who, day, rest[-1].end, predicates)]


def _day(clause: Clause, who: str, day: tuple[Words, str], end: int, predicates: Predicates, **more: Any) -> RawClaim:
    name = predicates.name(f"{day[1]}_preference")
    more = {"learned": FactOrigin.PREFERENCE, "kind": "preference", "many": False, **more}
    found = claim_of(clause, who, name, day[0], **more)
    return replace(found, span=(clause.start, max(found.span[1], end)))


def _ended_claims(clause: Clause, who: str, predicates: Predicates) -> list[RawClaim]:
    """Return what ended: "stopped playing tennis", "gave up smoking", "stopped Friday deliveries".

    What somebody quits or gives up by its name may be a service, an employer or a try: that is not read.
    """
    verb, rest = clause.verb, clause.rest
    up = bool(rest) and verb == "give" and rest[0].low == "up"
    if clause.denied or (verb == "give" and not up) or len(rest) <= up:
        return []
    over = replace(clause, rest=rest[up:], denied=True, ended=True, past=False)
    bare = over.rest[skip_determiners(over.rest) :]
    if (days := named_day(bare)) is not None and (days[0][0] is bare[0] or days[0][-1].low.endswith("s")):
        return [_day(over, who, days, clause.end, predicates)]
    return _ended_act(over, who, predicates) if over.rest[0].low.endswith("ing") else []


def _ended_act(over: Clause, who: str, predicates: Predicates) -> list[RawClaim]:
    verb = base_verb(over.rest[0].low)
    acting = replace(over, verb=verb, rest=over.rest[1:])
    if not acting.rest or acting.date_at(acting.rest[0]):
        return [claim_of(over, who, verb, over.rest[:1], kind=ACT, many=True)]
    if (fit := match(acting)) is not None:
        return [_claim_of_match(acting, who, fit, predicates)]
    stop = thing_end(acting, 0)
    value = acting.rest[skip_determiners(acting.rest) : stop] if stop else ()
    name = predicates.name(_liking_predicate(verb) or verb)
    return [claim_of(acting, who, name, value, many=True, kind=ACT)] if value else []


def _change(clause: Clause, who: str, predicates: Predicates) -> list[RawClaim]:
    """Return what somebody changed: "switched from A to B", "raised my budget to $80"."""
    places = from_to(clause) if clause.verb in WORDS["changing"] and not clause.denied else None
    if places is None:
        return []
    head, new, old = places
    if head:
        attribute = attribute_of(head)  # "my budget"; "the retro" is nobody's
        if attribute is None:
            return []
        owner = who if attribute.owner in {*PEOPLE, "I"} else attribute.owner
        return changed_attributes(clause, attribute._replace(owner=owner), new, old, predicates)
    return _switch_claims(clause, who, new, old, predicates) if clause.verb in WORDS["switching"] else []


def _switch_claims(clause: Clause, who: str, new: Words, old: Words, predicates: Predicates) -> list[RawClaim]:
    more: dict[str, Any] = {"learned": FactOrigin.CORRECTION}
    if (days := named_day(new)) is not None:
        was = named_day(old) if old else None
        more |= {"old": span_of(was[0])} if was else {}
        return [_day(clause, who, days, new[-1].end, predicates, **more)]
    if not old or clause.verb == "move":
        return []  # "converted to Islam"; "moved" to a place, or to a tool
    more["old"] = span_of(old)
    if version_end(replace(clause, rest=new), 0) == len(new):
        name = f"{name_of(new[:-1])}_version"
        return [claim_of(clause, who, name, new, many=False, kind="setting", **more)]
    return [claim_of(clause, who, "use", new, many=True, **more)]
