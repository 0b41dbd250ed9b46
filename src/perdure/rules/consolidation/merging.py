"""Merging: which duplicates may become one memory, which of them stays, and what it then is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from perdure.records.digests import same_words
from perdure.records.instant import Instant
from perdure.records.memory import Record, Scope, Status
from perdure.records.policy_lifecycle import ConsolidatePolicy
from perdure.rules.consolidation.duplicates import (
    Label,
    LikePair,
    pairs_by_group,
    split_complete,
    uncompared_pairs,
    weakest_label,
)
from perdure.rules.source_trust import least_trust, stored_trust, with_trust

Guard = Callable[[str, str], str]
"""(text that stays, text that goes) -> why the one cannot go into the other; empty where it can."""

SOURCE: Final = "consolidated"
SEPARATOR: Final = "\n\n---\n\n"
PROVENANCE: Final = "consolidated_from"  # the key of metadata under which a merged memory lists whom it stands for


class MergeStrategy(StrEnum):
    """What stays of a group that becomes one."""

    KEEP_NEWEST = "keep_newest"
    KEEP_OLDEST = "keep_oldest"
    KEEP_HIGHEST_IMPORTANCE = "keep_highest_importance"
    KEEP_HIGHEST_CONFIDENCE = "keep_highest_confidence"  # the surest version stays; of equals the lower id
    MERGE_CONTENT = "merge_content"


@dataclass(frozen=True, slots=True)
class MergeRefusal:
    """Two memories that are alike and yet stay apart, and why."""

    a: str
    b: str
    reason: str


def merge_obstacle(keeper: Record, loser: Record) -> str:
    """Return why a memory may not go into another one, however alike they are; empty if it may.

    Pinned ones may only stay, so the order of the two matters for them alone.
    """
    return _obstacle(keeper, loser) or ("it is pinned" if loser.state.pinned else "")


def _obstacle(one: Record, other: Record) -> str:
    """Why two memories may not be merged, whichever of them stays."""
    a, b = one.state, other.state
    speakers = {one.content.speaker, other.content.speaker} - {None, ""}
    if one.namespace != other.namespace:
        return "they are in different namespaces"
    if a.kind is not b.kind:
        return f"one is a {min(a.kind, b.kind)}, the other a {max(a.kind, b.kind)}"
    hidden = [state.status for state in (a, b) if state.status is not Status.ACTIVE]
    if hidden:
        return f"one is {hidden[0]}"
    return _lifetimes(one, other) or ("different speakers said them" if len(speakers) > 1 else "")


def _lifetimes(one: Record, other: Record) -> str:
    """Why the lifetimes of two memories keep them apart: only long-term ones are merged across sessions."""
    scope = one.state.scope
    if scope is not other.state.scope:
        return "they have different scopes"
    if scope is not Scope.LONG_TERM and one.content.session != other.content.session:
        return "they belong to different sessions"
    if scope is Scope.TASK and one.content.task != other.content.task:
        return "they belong to different tasks"
    return ""


def representative(members: Sequence[Record], strategy: MergeStrategy) -> str:
    """Return the id of the memory that stays (or, where contents are merged, that stands for the group in a report).

    A pinned memory can only stay, so where there are any, one of them is chosen. Ties go to the longer text, then to
    the lower id. The strategy ``merge_content`` chooses as ``keep_highest_importance`` does.
    """
    rank: Callable[[Record], float] = {
        MergeStrategy.KEEP_NEWEST: lambda r: -r.state.created_ms,
        MergeStrategy.KEEP_OLDEST: lambda r: r.state.created_ms,
        MergeStrategy.KEEP_HIGHEST_CONFIDENCE: lambda r: -r.state.confidence,
    }.get(strategy, lambda r: -r.state.importance)
    return min(members, key=lambda r: (not r.state.pinned, rank(r), -len(same_words(r.content.text)), r.id)).id


@dataclass(frozen=True, slots=True)
class Merge:
    """What a group of duplicates becomes. Nothing is lost: tags, counts and provenance of all are in it."""

    keeper: str | None  # the id of the memory that stays; None for a new memory (``merge_content``)
    losers: tuple[str, ...]  # ids that become ``consolidated``, in order
    content: str  # the text, to be embedded again where it is not the keeper's own
    tags: tuple[str, ...]  # of all, sorted
    # of all; the keeper's own keys win. ``consolidated_from`` lists the ids of all, and those that earlier merges
    # listed. Trust is that of whose words stay: the least of all where the contents are merged
    metadata: Mapping[str, object]
    importance: float  # the highest base, 0 to 1
    access_count: int  # of all together
    created_ms: Instant  # the earliest
    accessed_ms: Instant | None  # the last access to any; None if there was none
    similarity: float  # mean combined likeness of the group's pairs, 0 to 1
    label: Label  # what the table says of the weakest pair
    source: str = SOURCE  # always "consolidated"


def merge_group(
    members: Sequence[Record],
    strategy: MergeStrategy,
    pairs: Iterable[LikePair],
    policy: ConsolidatePolicy,
    main: str | None = None,
) -> Merge:
    """Return what two or more memories, in any order, become; whether they may is not asked here.

    Their accesses must be counted in. Pairs of others are passed over. ``main`` is the id of the memory that stays; if
    None, the strategy chooses it.
    """
    main = main or representative(members, strategy)
    # The main one first, then the newest: where two disagree about a key, the first wins.
    ordered = sorted(members, key=lambda r: (r.id != main, -r.state.created_ms, r.id))
    joins = strategy is MergeStrategy.MERGE_CONTENT
    ids = {record.id for record in members}
    own = [pair for pair in pairs if pair.a in ids and pair.b in ids]
    trust = least_trust(stored_trust(r.content.metadata) for r in (ordered if joins else ordered[:1]))
    return Merge(
        keeper=None if joins else main,
        losers=tuple(sorted(ids if joins else ids - {main})),
        content=_join_texts(members) if joins else ordered[0].content.text,
        tags=tuple(sorted({tag for record in members for tag in record.content.tags})),
        metadata=with_trust(_metadata(ordered), trust),
        importance=max(record.state.importance for record in members),
        access_count=sum(record.state.access_count for record in members),
        created_ms=min(record.state.created_ms for record in members),
        accessed_ms=max((at for r in members if (at := r.state.accessed_ms) is not None), default=None),
        similarity=sum(pair.combined for pair in own) / max(1, len(own)),
        label=weakest_label(own, policy) or Label.MERGE,  # copies that nobody compared are alike
    )


def _join_texts(members: Sequence[Record]) -> str:
    """All texts, oldest first, each once: texts that differ in case or white space alone count as one."""
    unique: dict[str, str] = {}
    for record in sorted(members, key=lambda r: (r.state.created_ms, r.id)):
        unique.setdefault(same_words(record.content.text), record.content.text)
    return SEPARATOR.join(unique.values())


def _metadata(ordered: Sequence[Record]) -> dict[str, object]:
    result: dict[str, object] = {}
    before: list[str] = []
    for record in ordered:
        for name, value in record.content.metadata.items():
            if name != PROVENANCE:
                result.setdefault(name, value)
            else:
                before += [x for x in (value if isinstance(value, list | tuple) else [value]) if isinstance(x, str)]
    oldest_first = sorted(ordered, key=lambda r: (r.state.created_ms, r.id))
    result[PROVENANCE] = list(dict.fromkeys([*before, *(record.id for record in oldest_first)]))
    return result


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is to be done about one group."""

    merges: tuple[Merge, ...]  # each over a complete subgroup
    # for each memory that stays apart although it is like another one, the first reason
    refusals: tuple[MergeRefusal, ...]
    left: tuple[str, ...]  # ids that no merge takes up, in order


def pairs_to_compare(records: Sequence[Record], pairs: Sequence[LikePair]) -> list[tuple[str, str]]:
    """Return the pairs of a group that must be compared before :func:`propose_merges` can judge it, in order.

    Copies of one text are alike without being compared, so that a thousand of them cost no half million comparisons;
    nor does it matter how alike two memories are that may not be merged anyway. Known pairs are left out.
    """
    by_id, copies = {record.id: record for record in records}, _copies(records)
    left = uncompared_pairs([*copies], _copy_pairs(copies, pairs))
    return [(a, b) for a, b in left if not _obstacle(by_id[a], by_id[b])]


def _copies(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Memories with the same words that nothing keeps apart, under the lowest id among them; in order of ids."""
    found: dict[tuple[object, ...], list[Record]] = {}
    for record in sorted(records, key=lambda r: r.id):
        state, content = record.state, record.content
        lifetime = () if state.scope is Scope.LONG_TERM else (content.session, content.task)
        words = same_words(content.text)
        key = (words, record.namespace, state.kind, state.status, state.scope, *lifetime, content.speaker or None)
        found.setdefault(key, []).append(record)
    return {some[0].id: some for some in found.values()}


def _copy_pairs(copies: Mapping[str, Sequence[Record]], pairs: Iterable[LikePair]) -> list[LikePair]:
    """The pairs between sets of copies, in order: of several that are known, the least alike."""
    head = {record.id: first for first, some in copies.items() for record in some}
    found: dict[tuple[str, str], LikePair] = {}
    for pair in pairs:
        a, b = sorted((head[pair.a], head[pair.b]))
        if a != b and ((a, b) not in found or found[a, b].combined > pair.combined):
            found[a, b] = pair if (a, b) == (pair.a, pair.b) else replace(pair, a=a, b=b)
    return [found[key] for key in sorted(found)]


def propose_merges(
    records: Sequence[Record],
    pairs: Sequence[LikePair],
    threshold: float,
    strategy: MergeStrategy,
    guard: Guard,
    policy: ConsolidatePolicy,
) -> Proposal:
    """Return what is to be done about one group: merges where every pair is alike enough and nothing is lost.

    The accesses of its memories must be counted in, and the pairs hold what :func:`pairs_to_compare` asked for; others
    count as unlike.
    """
    by_id = {record.id: record for record in records}
    copies = _copies(records)
    refusals: dict[str, MergeRefusal] = {}
    allowed = []
    for pair in _copy_pairs(copies, pairs):
        reason = _obstacle(by_id[pair.a], by_id[pair.b]) if pair.reaches(threshold) else ""
        if reason:
            refusals.setdefault(pair.b, MergeRefusal(pair.a, pair.b, reason))
        else:
            allowed.append(pair)
    split = split_complete([*copies], allowed, threshold)
    heads = sorted([*split.complete, *((head,) for head in split.left)])
    subgroups = [tuple(record.id for head in some for record in copies[head]) for some in heads]
    merges = [
        merge_group(members, strategy, own, policy, members[0].id)
        for subgroup, own in zip(subgroups, pairs_by_group(subgroups, pairs), strict=True)
        for members in _guarded_parts([by_id[identity] for identity in subgroup], strategy, guard, refusals)
    ]
    merged = {identity for merge in merges for identity in (merge.keeper, *merge.losers)}
    return Proposal(
        tuple(merges),
        tuple(refusals[identity] for identity in sorted(refusals) if identity not in merged),
        tuple(sorted(set(by_id) - merged)),
    )


def _guarded_parts(
    members: list[Record], strategy: MergeStrategy, guard: Guard, refusals: dict[str, MergeRefusal]
) -> Iterator[list[Record]]:
    """The parts of a complete subgroup that may be merged, who stays first; what one cannot take is tried by itself."""
    joins = strategy is MergeStrategy.MERGE_CONTENT
    if joins:  # nobody stays as it is, so nobody may be pinned
        pinned = [record for record in members if record.state.pinned]
        members = [record for record in members if not record.state.pinned]
        refusals.update({r.id: MergeRefusal(r.id, r.id, "it is pinned") for r in pinned})
    while len(members) > 1:
        keeper, why = _keep_all(members, strategy, guard) if joins else _keeper(members, strategy, guard)
        for identity, reason in why.items():
            if reason:
                refusals.setdefault(identity, MergeRefusal(keeper.id, identity, reason))
        part = [record for record in members if record is not keeper and not why[record.id]]
        if part:
            yield [keeper, *part]
        members = [record for record in members if record is not keeper and why[record.id]]


def _keeper(members: Sequence[Record], strategy: MergeStrategy, guard: Guard) -> tuple[Record, dict[str, str]]:
    """Return who stays, and for each of the others what would be lost, empty for nothing.

    The strategy chooses; where the longest text can stand for more of the others, nothing is lost if that one stays.
    """
    longest = max(members, key=lambda r: (len(same_words(r.content.text)), r.id)).id
    found = []
    for identity in dict.fromkeys((representative(members, strategy), longest)):
        keeper = next(record for record in members if record.id == identity)
        why = {r.id: merge_obstacle(keeper, r) or _loss(keeper, r, guard) for r in members if r is not keeper}
        found.append((keeper, why))
        if not any(why.values()):
            break
    return min(found, key=lambda one: sum(map(bool, one[1].values())))


def _keep_all(members: Sequence[Record], strategy: MergeStrategy, guard: Guard) -> tuple[Record, dict[str, str]]:
    """Return as :func:`_keeper` does, where all texts stay: a text may contradict none of those that it joins."""
    main = representative(members, strategy)
    ordered = sorted(members, key=lambda r: (r.id != main, r.id))
    part, why = [ordered[0]], {}
    for record in ordered[1:]:
        reasons = (merge_obstacle(one, record) or _loss(one, record, guard) for one in part)
        why[record.id] = next((reason for reason in reasons if reason), "")
        if not why[record.id]:
            part.append(record)
    return ordered[0], why


def _loss(keeper: Record, loser: Record, guard: Guard) -> str:
    one, other = keeper.content.text, loser.content.text
    return "" if same_words(one) == same_words(other) else guard(one, other)
