"""What knowledge adds to the other operations: its side of the seams of ``operations/extension.py``."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

from perdure.knowledge.extraction.event_types import event_importance, event_of
from perdure.knowledge.extraction.mentions import mentions
from perdure.knowledge.operations.change_rates import learn_rates
from perdure.knowledge.operations.conflicts_beside import restore_conflicts
from perdure.knowledge.operations.displaced import displace_again, restore_without
from perdure.knowledge.operations.entity_summaries import summarize
from perdure.knowledge.operations.erasing import orphans, subject_of
from perdure.knowledge.operations.fact_recall import (
    facts_of,
    facts_of_named,
    hidden_beside,
    known_procedures,
    mark_facts,
    outdated_notes,
    outdated_summaries,
    rival_values,
    source_messages,
    with_known_times,
)
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.facts import fact_reasons, resting_facts, said_by, saying_facts_of
from perdure.knowledge.operations.feedback import confirm, deny
from perdure.knowledge.operations.given_claims import take_claims
from perdure.knowledge.operations.interrupted_facts import interrupted_by_memory
from perdure.knowledge.operations.known_names import with_known_names
from perdure.knowledge.operations.learn import learn
from perdure.knowledge.operations.learn_claims import known_beside, result_of
from perdure.knowledge.operations.model_reading import waiting_sessions
from perdure.knowledge.operations.over_facts import earlier_facts, over_facts, over_of
from perdure.knowledge.operations.planned_facts import call_off, plan_again
from perdure.knowledge.operations.ports import Resources
from perdure.knowledge.operations.predicate_questions import synonym_questions
from perdure.knowledge.operations.procedures import learn_procedures
from perdure.knowledge.operations.promotion import promote_facts
from perdure.knowledge.operations.replaced_talk import over_talk
from perdure.knowledge.operations.unsaid_names import unsaid_names
from perdure.knowledge.operations.verify import verify
from perdure.knowledge.records.authority import SqlConfig, TreeConfig
from perdure.knowledge.rules.authority_config import authorities_from
from perdure.knowledge.rules.fact_answers import rank_with_facts
from perdure.knowledge.rules.predicate_registry import Registry, registry_from, shipped_registry
from perdure.knowledge.rules.procedures import widening_words
from perdure.knowledge.rules.set_phrases import without_set_phrases
from perdure.operations.extension import Extension, TaskResult
from perdure.operations.ports import Context
from perdure.records.errors import AuthorityWarning, GateStopped
from perdure.records.instant import Instant
from perdure.records.memory import Draft, Kind, MemoryItem, Record, Shelf, Status
from perdure.records.outcome import (
    ClaimResult,
    FactReasons,
    GivenClaim,
    HandedClaims,
    KnownPredicates,
    Outcome,
    RestingFact,
    SayingMemory,
)
from perdure.records.plan import Change
from perdure.records.recall import Filters, Hit, OutdatedFact, OutdatedMemories, Pool, Query, TextCaveats
from perdure.records.report import JournalEntry
from perdure.records.signal_results import Question
from perdure.rules.decisions import Decisions
from perdure.rules.erasure import Subject, UnusedNames
from perdure.rules.language.words import query_words
from perdure.rules.lifecycle.schedule import Task
from perdure.rules.point_in_time import Validity
from perdure.rules.ranking import Ranking

_PEOPLE: Final = frozenset({"user", "human"})


@dataclass(frozen=True, slots=True)
class Knowledge(Extension[Context]):
    """Facts, entities and procedures, learned from conversations."""

    resources: Resources  # predicates, authorities, and what is kept between operations

    def weigh(self, ctx: Context, draft: Draft, role: str, /) -> Draft:
        """Return a message with what it does, and its importance by that, where facts are learned."""
        if not _learns(ctx) or role.lower() not in _PEOPLE:
            return draft
        event = event_of(draft.text)
        names = len({mention.name for mention in mentions(draft.text)})
        importance = event_importance(event, names)
        metadata = {**draft.metadata, "event": event.value}
        return replace(draft, importance=importance, worth=f"a {event}, {names} named", metadata=metadata)

    def learn(self, ctx: Context, namespace: str, sessions: Iterable[str], /) -> tuple[str, ...]:
        return learn(ctx, namespace, sessions).operations if _learns(ctx) else ()

    def take(self, ctx: Context, decisions: Decisions, handed: Sequence[HandedClaims], /) -> ClaimResult:
        return result_of(take_claims(ctx, decisions, handed))

    def near(
        self, ctx: Context, namespace: str, claims: Sequence[GivenClaim], touched: Collection[str], /
    ) -> tuple[Sequence[str], Sequence[KnownPredicates]]:
        return known_beside(ctx, namespace, claims, touched)

    def with_known_names(self, ctx: Context, namespace: str, text: str, absent: Collection[str], /) -> str:
        return with_known_names(ctx, namespace, text, absent)

    def rank(
        self, ctx: Context, namespace: str, query: Query, pool: Pool, order: Ranking, filters: Filters, /
    ) -> Ranking:
        if not _learns(ctx):
            return order
        about = facts_of_named(ctx, namespace, query.text, filters)
        if not about:
            return order
        predicate_words = self.resources.predicates.asked_predicates(query_words(without_set_phrases(query.text)))
        return rank_with_facts(order, about, query, pool, ctx.policy.recall, predicate_words)

    def follow_ups(self, ctx: Context, namespace: str, query: Query, /) -> tuple[str, ...]:
        return widening_words(query.words, known_procedures(ctx, namespace)) if _learns(ctx) else ()

    def validity(self, ctx: Context, namespace: str, records: Sequence[Record], /) -> Mapping[str, Validity]:
        facts = facts_of(ctx, namespace, [r.id for r in records if r.state.kind is Kind.FACT])
        return with_known_times(ctx, namespace, facts, [r.id for r in records if r.state.status is Status.ARCHIVED])

    def sources(self, ctx: Context, namespace: str, hits: Sequence[Hit], /) -> Mapping[str, frozenset[str]]:
        return source_messages(ctx, namespace, hits)

    def mark(self, ctx: Context, namespace: str, hits: list[Hit], filters: Filters, /) -> list[Hit]:
        return mark_facts(ctx, namespace, hits, filters)

    def with_earlier(self, ctx: Context, namespace: str, hits: list[Hit], filters: Filters, /) -> list[Hit]:
        known = earlier_facts(ctx, namespace, [h.memory.id for h in hits], filters)
        return [replace(h, earlier=known.get(h.memory.id, ())) for h in hits]

    def refresh(self, ctx: Context, namespace: str, hits: Sequence[Hit], /) -> bool:
        stale = [h.memory.id for h in hits if h.memory.aging] if self.resources.authorities else []
        if not stale:
            return False
        try:
            verify(ctx, namespace, stale)
        except GateStopped as stopped:
            ctx.warn(f"Stale facts were not replaced by an authority's values: {stopped}", AuthorityWarning)
            return False
        return True

    def outdated_memories(self, ctx: Context, namespace: str, memories: Sequence[MemoryItem], /) -> OutdatedMemories:
        notes = [m for m in memories if m.kind is Kind.NOTE]
        now, facts = ctx.clock(), facts_of(ctx, namespace, [m.id for m in memories if m.kind is Kind.FACT])
        said = [*notes, *(m for m in memories if m.kind is Kind.EPISODE)]
        known = over_facts(ctx, namespace, [m.id for m in said])
        believed = {*facts, *(i for over in known.values() for i in over.current_facts | over.later_facts)}
        talk = [m for m in said if m.kind is Kind.EPISODE and m.id not in known]
        known |= over_talk(ctx, namespace, talk, believed)
        outdated = hidden_beside(known, notes, facts) | {i for i, fact in facts.items() if fact.has_ended(now)}
        outdated |= outdated_summaries(ctx, namespace, [m.id for m in memories if m.kind is Kind.SUMMARY]).keys()
        outdated |= {i for i, over in known.items() if over.is_whole}
        if _learns(ctx):  # each run of words of all notes is looked up: a policy that reads none does without
            outdated |= outdated_notes(ctx, namespace, [n for n in notes if n.id not in known]).keys()
        shown = {i: replace(o.in_text, begins=o.begins) for i, o in known.items() if o.facts or o.begins}
        says = {i: known[i].says if i in known else (i,) for i in (*facts, *known) if i not in outdated}
        rivals = rival_values(ctx, namespace, says)
        shown |= {i: replace(shown.get(i, TextCaveats()), against=v) for i, v in rivals.items()}
        holding = {i: known[i].current_facts if i in known else some for i, some in says.items()}
        interrupted = interrupted_by_memory(ctx, namespace, holding)
        shown |= {i: replace(shown.get(i, TextCaveats()), interrupted=some) for i, some in interrupted.items()}
        return OutdatedMemories(frozenset(outdated), shown)

    def said_by(self, ctx: Context, record: Record, /) -> tuple[tuple[SayingMemory, ...], int]:
        return said_by(ctx, record)

    def saying_facts_of(self, ctx: Context, record: Record, others: Sequence[Record], /) -> Mapping[str, bool]:
        return saying_facts_of(ctx, record, others)

    def facts_resting_on(
        self, ctx: Context, record: Record, which: Literal["sole", "all"] = "sole", hidden: Collection[str] = (), /
    ) -> tuple[RestingFact, ...]:
        return resting_facts(ctx, record, alone=which == "sole", hidden=hidden)

    def over(self, ctx: Context, record: Record, /) -> tuple[OutdatedFact, ...]:
        return over_of(ctx, record)

    def explain(
        self, ctx: Context, memory: MemoryItem, history: Sequence[JournalEntry], now: Instant, /
    ) -> FactReasons | None:
        return fact_reasons(ctx, memory, history, now)

    def questions(self, ctx: Context, namespace: str, now: Instant, /) -> Iterator[Question]:
        return synonym_questions(ctx, namespace, now)

    def answer(
        self, ctx: Context, record: Record, verdict: Literal["keep", "drop"], reason: str | None, /
    ) -> Outcome | None:
        """Confirm or deny a fact."""
        if not ctx.store.documents.find(record.namespace, Shelf.FACT, [record.id]):
            return None
        return confirm(ctx, record.id) if verdict == "keep" else deny(ctx, record.id, reason)

    def tasks(self, ctx: Context, /) -> Mapping[Task, Callable[[Context, str], TaskResult]]:
        """Return what is learned at leisure, and verification where there are authorities."""
        work: dict[Task, Callable[[Context, str], TaskResult]] = {Task.LEARN: _learn} if _learns(ctx) else {}
        if self.resources.authorities or self.resources.witnesses:
            work[Task.VERIFY] = _verify
        return work

    def conflicts(
        self, ctx: Context, record: Record, now: Instant, since: str = "", planned: Sequence[Change] = (), /
    ) -> list[Change]:
        """Return the conflicts and questions that bringing a fact back opens."""
        return restore_conflicts(ctx, record, now, since, planned)

    def call_off(self, ctx: Context, decisions: Decisions, hidden: Sequence[str], because: str, /) -> list[Change]:
        work = FactSession(ctx, decisions.namespace, decisions.now, decisions)
        call_off(work, hidden, because)
        restore_without(work, hidden, because)
        return work.changes()

    def plan_again(self, ctx: Context, decisions: Decisions, shown: Sequence[str], /) -> list[Change]:
        work = FactSession(ctx, decisions.namespace, decisions.now, decisions)
        plan_again(work, shown)
        displace_again(work, shown)
        return work.changes()

    def about(self, ctx: Context, namespace: str, name: str, /) -> Subject:
        return subject_of(ctx, namespace, name)

    def orphans(
        self, ctx: Context, namespace: str, erased: Collection[str], more: Collection[str] | None, /
    ) -> Iterator[str]:
        return orphans(ctx, namespace, erased, more)

    def unsaid(
        self, ctx: Context, namespace: str, erased: Collection[str], going: Collection[str], called: Collection[str], /
    ) -> UnusedNames:
        values = frozenset(fact.shown_value for fact in facts_of(ctx, namespace, sorted(erased)).values())
        return replace(unsaid_names(ctx, namespace, erased, going, called), values=values)

    def promote(self, ctx: Context, namespace: str, decisions: Decisions, ids: Sequence[str], /) -> Collection[str]:
        return promote_facts(ctx, namespace, decisions, ids)


def knowledge_from(data: Mapping[str, Any], name: str, folder: Path) -> Knowledge:
    """Return the extension with what a knowledge file says; no database is opened, and no tree is looked at.

    Relative paths in it start in ``folder``.
    """
    found, predicates = authorities_from(data, name), predicates_from(data, name)
    if not found:
        return Knowledge(Resources(predicates))
    from perdure.knowledge.authorities.connecting import answers_within  # noqa: PLC0415  # only where it is used
    from perdure.knowledge.authorities.sql import SqlAuthority  # noqa: PLC0415  # only where it is used
    from perdure.knowledge.authorities.working_tree import WorkingTree  # noqa: PLC0415  # only where it is used

    databases = {c.name: SqlAuthority(c, folder) for c in found if isinstance(c, SqlConfig)}
    trees = {c.name: WorkingTree(c, folder) for c in found if isinstance(c, TreeConfig)}
    return Knowledge(Resources(predicates, databases, trees, answers_within=answers_within))


@cache
def _shipped_predicates() -> Registry:
    return shipped_registry(tomllib.loads((files("perdure.knowledge") / "predicates.toml").read_text("utf-8")))


def predicates_from(own: Mapping[str, Any], name: str) -> Registry:
    """Return the shipped predicates merged with those of a knowledge file; raises PolicyError."""
    return registry_from(_shipped_predicates(), own, name)


def _learns(ctx: Context) -> bool:
    return ctx.policy.knowledge.learn != "off"


def _learn(ctx: Context, place: str) -> TaskResult:
    """Let a model read what waits for it, sum entities up, and learn how fast facts change and what follows what."""
    late = learn(ctx, place, waiting_sessions(ctx, place))
    summaries = summarize(ctx, place, dry_run=False)
    rates = learn_rates(ctx, place)
    learned = learn_procedures(ctx, place, dry_run=False)
    note = f"{len(summaries.made)} summaries, {len(rates.rates)} rates, {len(learned.procedures)} procedures"
    note = f"{late.messages} messages that waited, {note}" if late.messages else note
    return note, {"operations": [*late.operations, *summaries.operations, *rates.operations, *learned.operations]}


def _verify(ctx: Context, place: str) -> TaskResult:
    found = verify(ctx, place)
    summary = ", ".join(f"{n} {outcome}" for outcome, n in found.counts.items()) or "nothing to verify"
    more = f"; {found.left} left for the next time" if found.left else ""
    return f"{summary}{more}", {"counts": found.counts, "operations": list(found.operations)}
