"""Learning claims that a caller hands over and that stand in no memory, and what is known beside them to compare."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from perdure.knowledge.extraction.entity_names import ResolvedName
from perdure.knowledge.extraction.references import FIRST_PERSON, USER
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.apply_claims import ClaimWriter
from perdure.knowledge.operations.fact_session import PredicateSynonyms
from perdure.knowledge.operations.given_claims import take_claims
from perdure.knowledge.operations.planned_claims import told_plans
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.operations.predicate_questions import nearest_fact
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.records.results import LearnResult
from perdure.knowledge.rules.given_claims import predicate_name
from perdure.knowledge.rules.predicate_registry import SynonymAnswer, comparable
from perdure.operations.decisions import begin, write
from perdure.operations.ports import Context
from perdure.operations.remember_one import related_memories, related_memory
from perdure.operations.writing import read_after, redacted_in, retry, tell_redacted
from perdure.records.instant import Instant
from perdure.records.memory import Shelf
from perdure.records.outcome import ClaimResult, GivenClaim, HandedClaims, KnownPredicates, MatchedName, ReplacedFact
from perdure.rules.decisions import Decisions
from perdure.rules.document_edits import DocumentEdits
from perdure.rules.validation.fact_claims import parsed_claims

_MOST_FACTS: Final = 200  # facts of one subject, those learned last, that are looked at
_MOST_SUBJECTS: Final = 3
_MOST_KEPT: Final = 3  # values beside a new one that are told


def learn_claims(ctx: Context, namespace: str, raw_claims: Any) -> LearnResult:
    """Write down claims that stand in no memory, as one operation."""
    claims, _ = parsed_claims(raw_claims, None, policy=ctx.policy, now=ctx.clock())
    tell_redacted(ctx, redacted_in(claims))

    def attempt() -> LearnResult:
        decisions = begin(ctx, namespace, ctx.clock())
        writer = take_claims(ctx, decisions, [HandedClaims(claims, None, "", decisions.now)])
        written = write(ctx, decisions, "learn", f"learn: {len(claims)} claims")
        done, result = writer.tally.learnt(0, () if written is None else (written,)), result_of(writer)
        shown = {name: getattr(result, name) for name in ("replaced", "unknown", "superseded", "planned")}
        done = replace(done, **shown)
        return read_after(ctx, written, lambda: _with_known(ctx, decisions, claims, done), done)

    return retry(attempt)


def result_of(writer: ClaimWriter) -> ClaimResult:
    """Return what became of the facts."""
    tally, work = writer.tally, writer.work
    learnt = tally.learnt(0, ())
    text = {i: work.record(i).content.text for i in learnt.retired}
    replaced = tuple(ReplacedFact(i, text[i], work.successor(i), i in tally.displaced) for i in learnt.retired)
    notes = tuple(related_memory(work.ctx, work.record(i)) for i in tally.superseded)
    taken = tuple(MatchedName(name, known) for name, known in tally.taken.items())
    became = (learnt.created, learnt.reinforced, learnt.retired, learnt.asked)
    return ClaimResult(*became, replaced, told_plans(writer), tuple(dict.fromkeys(tally.unknown)), notes, taken)


def _with_known(ctx: Context, decisions: Decisions, claims: Sequence[GivenClaim], done: LearnResult) -> LearnResult:
    touched = {*done.created, *done.reinforced, *done.retired}
    memories, known = known_beside(ctx, decisions.namespace, claims, touched)
    related = related_memories(ctx, decisions, memories, done.created)
    return replace(done, related=related, predicates=tuple(known))


def known_beside(
    ctx: Context, namespace: str, claims: Sequence[GivenClaim], touched: Collection[str]
) -> tuple[list[str], list[KnownPredicates]]:
    """Return the memories that say something about the same subjects and predicates, and the subjects' predicates."""
    names, predicates = names_of(ctx, namespace), resources(ctx).predicates
    lessons = PredicateSynonyms(ctx, namespace, DocumentEdits())
    by_subject: dict[str, set[str]] = {}
    for claim in claims:
        words = USER if claim.subject.casefold() in FIRST_PERSON else claim.subject
        found = names.resolve(words, ctx.policy.knowledge.fuzzy)
        if isinstance(found, ResolvedName) and (found.id in by_subject or len(by_subject) < _MOST_SUBJECTS):
            name = lessons.name(predicate_name(claim.predicate, predicates))
            by_subject.setdefault(found.id, set()).add(name)
    memories: dict[str, None] = {}
    known = []
    for subject, own in by_subject.items():
        everything = _believed_facts(ctx, namespace, subject)
        facts = [f for f in everything if f.id not in touched]
        for fact in facts:
            if any(fact.predicate == one or predicates.akin(one, fact.predicate) for one in own):
                memories |= dict.fromkeys([s.memory for s in fact.sources] or [fact.id])
        existing = {f.predicate for f in facts}
        shown = {f.predicate: f.called or f.predicate for f in facts}
        others = tuple(shown[name] for name in sorted(existing - own))
        new = [f for f in everything if f.id in touched and f.predicate in own]
        near = _near(ctx, [f for f in new if f.predicate not in existing], facts, lessons)
        kept = _kept_beside(new, facts, ctx.clock())
        known += [KnownPredicates(names.entity(subject).name, others, near, kept)] if others or kept else []
    return list(memories), known


def _kept_beside(new: Sequence[Fact], facts: Sequence[Fact], now: Instant) -> tuple[str, ...]:
    """Return the other values that hold beside new ones of predicates that may have several, the latest first.

    A registry of predicates cannot tell whether "Sol is the contact" adds a contact or replaces the one who was.
    """
    several = {f.predicate: f.value.norm for f in new if f.many and not f.denied and not f.is_upcoming(now)}
    kept = (
        f"{(f.called or f.predicate).replace('_', ' ')}: {f.shown_value}"
        for f in facts
        if several.get(f.predicate, f.value.norm) != f.value.norm
        and not (f.denied or f.is_upcoming(now) or (f.valid_to is not None and f.valid_to <= now))
    )
    return tuple(islice(kept, _MOST_KEPT))


def _near(
    ctx: Context, new: Sequence[Fact], facts: Sequence[Fact], lessons: PredicateSynonyms
) -> tuple[tuple[str, str], ...]:
    """Return new predicates with the known one of the same entity that may mean the same."""
    registry = resources(ctx).predicates
    two = {pair.key for pair in lessons.pairs() if pair.said is SynonymAnswer.DIFFERENT}
    found: dict[str, str] = {}
    for fact in new:
        others = [f for f in facts if comparable(fact, f, registry) and {fact.predicate, f.predicate} not in two]
        if (near := nearest_fact(ctx, fact, others)) is not None:
            found.setdefault(fact.predicate, near[0].predicate)
    return tuple(found.items())


def _believed_facts(ctx: Context, namespace: str, subject: str) -> list[Fact]:
    about = ctx.store.documents.find_named(namespace, Shelf.ABOUT, [subject])
    ids = sorted({d.id for d in about})[-_MOST_FACTS:]
    documents = ctx.store.documents.find(namespace, Shelf.FACT, ids) if ids else []
    facts = [Fact.from_data(d.id, d.data) for d in documents]
    return sorted((f for f in facts if f.retired is None), key=lambda f: f.id, reverse=True)
