"""Summing up entities: what is known of one becomes a memory that stands for many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.knowledge.extraction.entity_names import Names
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.fact_recall import outdated_messages
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.facts import all_facts, fact_lines
from perdure.knowledge.records.results import EntitySummary, FactLine, Summaries
from perdure.knowledge.rules.entities import EntityProfile, is_due, profile_of, surer_for_it
from perdure.knowledge.rules.fact_records import FactState, link_change
from perdure.operations.documents import find_records
from perdure.operations.lifecycle.compression import write_summaries
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.instant import Instant, from_instant, json_text
from perdure.records.memory import SUPERSEDES, Document, Draft, Kind, Record, Scope, Shelf, Status
from perdure.records.plan import Plan
from perdure.records.recall import Filters
from perdure.rules.consolidation.merge_plan import stands_for_link
from perdure.rules.language.tokens import count_tokens
from perdure.rules.meaning_guard import lost_meaning

SOURCE: Final = "summarized"
_SHARED: Final = Filters(isolated=True)  # what others may not see is not summed up for all


def summarize(ctx: Context, namespace: str, *, dry_run: bool) -> Summaries:
    """Make the summaries that are due, each in an operation of its own."""
    names = names_of(ctx, namespace)
    summaries: list[EntitySummary] = []
    plans: list[Plan] = []
    for entity in sorted(i for i, e in names.entities.items() if e.merged_into is None):
        result = retry(lambda entity=entity: _one(ctx, namespace, names, entity, dry_run=dry_run))  # type: ignore[misc]  # bound now
        if result is not None:
            summaries.append(result[0])
            plans.append(result[1])
    reason = "" if summaries else _why_none(ctx, namespace, names)
    if dry_run:
        return Summaries(tuple(summaries), dry_run=True, plans=tuple(plans), reason=reason)
    return Summaries(tuple(summaries), dry_run=False, operations=tuple(p.id for p in plans), reason=reason)


def _why_none(ctx: Context, namespace: str, names: Names) -> str:
    entities = [i for i, e in names.entities.items() if e.merged_into is None]
    if any(_earlier(ctx, namespace, entity) for entity in entities):
        return "Nothing that is summed up has changed, and no other entity was named often enough."
    policy = ctx.policy.knowledge
    counts = [
        (len({r.content.session for r in some if r.content.session}), len(some))
        for some in (_episodes(ctx, namespace, names, entity) for entity in entities)
    ]
    sessions, messages = max(counts, default=(0, 0))
    if any(s >= policy.summary_sessions or m >= policy.summary_episodes for s, m in counts):
        return "The entities named often enough were said too little of: a summary must be at most half as long."
    most = f"{'1 session' if sessions == 1 else f'{sessions} sessions'} and "
    most += "1 message" if messages == 1 else f"{messages} messages"
    return (
        f"No entity was named in {policy.summary_sessions} sessions or {policy.summary_episodes} messages; "
        f"the one named most was in {most}. Notes do not count."
    )


def _one(
    ctx: Context, namespace: str, names: Names, entity: str, *, dry_run: bool
) -> tuple[EntitySummary, Plan] | None:
    now = ctx.clock()
    episodes = _episodes(ctx, namespace, names, entity)
    policy = ctx.policy.knowledge
    earlier = _earlier(ctx, namespace, entity)
    enough = len({r.content.session for r in episodes}) >= policy.summary_sessions
    if earlier is None and not enough and len(episodes) < policy.summary_episodes:
        return None  # before its facts are read
    believed = [
        line
        for line in fact_lines(ctx, namespace, list(all_facts(ctx, namespace, names, entity)), names, _SHARED)
        if line.state in (FactState.ACTIVE, FactState.AGING)
    ]
    if not is_due(episodes, believed, earlier.data if earlier else None, policy):
        return None
    before = dict(earlier.data.get("boosted", {})) if earlier else {}
    surer = [replace(f, confidence=f.confidence * surer_for_it(f, before, policy) / f.base) for f in believed]
    quotable = _messages_that_hold(ctx, namespace, episodes)
    profile = profile_of(entity, names.entity(entity).name, episodes, surer, now, quotable)
    if profile is None:
        return None
    profile = _by_model(ctx, profile, episodes, believed)
    work = FactSession(ctx, namespace, now)
    identity = _write_summary(work, profile, episodes, believed, earlier)
    plan = work.plan("summarize", f"summarize {entity}: {len(believed)} facts, {len(episodes)} messages")
    if not dry_run:
        ctx.store.apply(plan)
    summary = EntitySummary("" if dry_run else identity, entity, profile.text, profile.key_facts, profile.sources)
    return summary, plan


def _episodes(ctx: Context, namespace: str, names: Names, entity: str) -> list[Record]:
    family = [i for i in names.entities if names.current_entity(i) == entity]
    ids = sorted({d.id for d in ctx.store.documents.find_named(namespace, Shelf.MENTION, family)})
    visible = (Kind.EPISODE, Status.ACTIVE, Scope.LONG_TERM)  # what others may not see is not summed up for all
    found = (r for r in find_records(ctx, namespace, ids) if (r.state.kind, r.state.status, r.state.scope) == visible)
    return sorted(found, key=lambda r: (r.state.created_ms, r.id))


def _messages_that_hold(ctx: Context, namespace: str, episodes: Sequence[Record]) -> list[Record]:
    """Return the messages of which something is believed, or from which nothing was learned."""
    outdated = outdated_messages(ctx, namespace, [r.id for r in episodes])
    return [r for r in episodes if r.id not in outdated]


def _earlier(ctx: Context, namespace: str, entity: str) -> Document | None:
    documents = ctx.store.documents.find_named(namespace, Shelf.PROFILE, [entity])
    return max(documents, key=lambda d: (d.data["at_ms"], d.id), default=None)


def _by_model(
    ctx: Context, profile: EntityProfile, episodes: Sequence[Record], facts: Sequence[FactLine]
) -> EntityProfile:
    """Return a summary in a model's words where one is configured, if it says nothing that its sources do not."""
    material = "\n".join(
        [profile.text, *(r.content.text for r in episodes), *(f"{f.predicate}: {f.shown_value}" for f in facts)]
    )
    most = count_tokens(material) // 2
    reply = write_summaries(ctx, {profile.entity: (material, most)}).get(profile.entity)
    if reply is None or count_tokens(reply) > most or lost_meaning(reply, material):
        return profile
    return replace(profile, text=reply)


def _write_summary(
    work: FactSession,
    profile: EntityProfile,
    episodes: Sequence[Record],
    facts: Sequence[FactLine],
    earlier: Document | None,
) -> str:
    """Bring in the summary; it takes the place of the earlier one, and confirmed facts are surer for it."""
    now = work.now
    sure = [f.confidence for f in facts] + [r.state.confidence for r in episodes]
    draft = Draft(
        text=profile.text,
        kind=Kind.SUMMARY,
        scope=Scope.LONG_TERM,
        importance=max([r.state.importance for r in episodes], default=0.5),
        confidence=sum(sure) / len(sure),
        at=now,
        source=SOURCE,
        metadata={
            "entity": profile.entity,
            "as_of": json_text(from_instant(now)),
            "key_facts": dict(profile.key_facts),
        },
    )
    (identity,) = work.insert([draft])
    for source in profile.sources:
        work.link(stands_for_link(identity, source, 1.0))
    boosted = _boost_facts(work, facts, dict(earlier.data.get("boosted", {})) if earlier else {}, identity)
    data = {**profile.made_of, "at_ms": now, "boosted": boosted}  # its links say what it stands for
    work.edits.put(Shelf.PROFILE, identity, profile.entity, data, "summed up")
    # One summary stands for an entity: a plan made before another one was stored, or a second process, is refused.
    work.edits.read(work.ctx.store.documents.strict.find(work.namespace, Shelf.PROFILE, [profile.entity]))
    work.edits.put(Shelf.PROFILE, profile.entity, "", {"memory": identity}, "its latest summary")
    if earlier is not None:
        _supersede(work, earlier, identity, now)
    return identity


def _boost_facts(
    work: FactSession, facts: Sequence[FactLine], before: Mapping[str, Any], identity: str
) -> dict[str, int]:
    """Make confirmed facts surer, once for each further confirmation; the truth clock goes on."""
    policy = work.ctx.policy.knowledge
    work.read(f.id for f in facts)
    boosted: dict[str, int] = {}
    for fact in facts:
        sure = surer_for_it(fact, before, policy)
        if sure == fact.base:
            boosted[fact.id] = int(before.get(fact.id, 1))
            continue
        state = work.states[fact.id]
        because = f"summed up in {identity}: confidence {state.confidence:.2f} to {sure:.2f}"
        work.change(fact.id, replace(state, confidence=sure), "summed_up", because)
        boosted[fact.id] = fact.confirmations
    return boosted


def _supersede(work: FactSession, earlier: Document, identity: str, now: Instant) -> None:
    work.include(work.ctx.store.get(work.namespace, [earlier.id]))
    state = work.states.get(earlier.id)
    if state is None or state.status is not Status.ACTIVE:
        return
    because = f"superseded: {identity} is its newer summary"
    work.change(earlier.id, replace(state, status=Status.SUPERSEDED, status_ms=now, held=False), "replaced", because)
    work.link(link_change(SUPERSEDES, identity, earlier.id, because))
