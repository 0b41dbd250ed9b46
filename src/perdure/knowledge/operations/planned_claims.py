"""Claims of what begins later: what holds until then stays believed until then, also where its words are replaced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from perdure.knowledge.extraction.entity_names import Names, ResolvedName
from perdure.knowledge.operations.apply_claims import ClaimWriter
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.records.facts import Claim, Fact, value_text
from perdure.knowledge.rules.given_claims import predicate_name
from perdure.records.instant import Instant, day_at
from perdure.records.memory import DERIVED, Status
from perdure.records.outcome import GivenClaim, HandedClaims


def with_what_holds_until_then(writer: ClaimWriter, names: Names, handed: HandedClaims) -> HandedClaims:
    """Return claims with what is kept for those that begin later, which the answer names.

    Of a memory that is replaced, the facts about what they change hold until then, and rest on the new words.
    """
    planned = [claim for claim in handed.claims if claim.planned]
    if not planned:
        return handed
    claims = tuple(claim for claim in handed.claims if not claim.planned)
    for c in planned:
        words = f"{c.subject}: {c.predicate}: {value_text(c.value, denied=c.denied)}"
        writer.tally.planned.append(f"{words} (from {day_at(c.valid_from or 0, writer.work.ctx.policy.days.tz)})")
    keys = _keys(writer, names, planned) - _keys(writer, names, claims)
    kept = _holding_until_then(writer, handed, keys)
    return replace(handed, keeps=tuple(dict.fromkeys((*handed.keeps, *kept))))


def told_plans(writer: ClaimWriter) -> tuple[str, ...]:
    """Return what begins later, in words: what is said to, and what ends then what is said to hold now."""
    work, tally = writer.work, writer.tally
    said = [work.facts[i] for i in dict.fromkeys((*tally.created, *tally.reinforced))]
    plans = [fact.followed_by for fact in said if fact.followed_by and fact.followed_by not in tally.created]
    work.read(plans)
    upcoming = [i for i in plans if i in work.facts and work.facts[i].is_upcoming(work.now)]
    return tuple(dict.fromkeys((*tally.planned, *(work.record(i).content.text for i in upcoming))))


def says_begun(claim: Claim, fact: Fact, now: Instant) -> bool:
    """Whether a claim says that what was planned holds already."""
    return fact.is_upcoming(now) and (fact.value.norm, fact.denied) == (claim.value.norm, False)


def _holding_until_then(writer: ClaimWriter, handed: HandedClaims, keys: set[tuple[str, str]]) -> list[str]:
    """Return the facts of memories that are replaced about some subjects and predicates."""
    work = writer.work
    links = (link for memory in handed.gone for link in work.ctx.store.links_to(work.namespace, memory))
    resting = [fact for fact, kind, _ in links if kind == DERIVED]
    work.read(resting)
    known = [work.facts[i] for i in dict.fromkeys(resting) if i in work.facts]
    return [
        fact.id
        for fact in known
        if (fact.subject, fact.predicate) in keys
        and work.states[fact.id].status is Status.ACTIVE
        and not fact.has_ended(handed.at)
        and not fact.is_upcoming(work.now)
    ]


def _keys(writer: ClaimWriter, names: Names, claims: Iterable[GivenClaim]) -> set[tuple[str, str]]:
    """Return what claims are about, of those whose subject is known: subject and predicate."""
    ctx, lessons, found = writer.work.ctx, writer.work.lessons, set[tuple[str, str]]()
    for claim in claims:
        subject = names.resolve(claim.subject, ctx.policy.knowledge.fuzzy)
        if isinstance(subject, ResolvedName) and any(letter.isalnum() for letter in claim.predicate):
            found.add((subject.id, lessons.name(predicate_name(claim.predicate, resources(ctx).predicates))))
    return found
