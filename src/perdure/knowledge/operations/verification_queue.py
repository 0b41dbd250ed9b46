"""What authorities can be asked about: facts whose predicate one of them knows, memories that cite a working tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from perdure.knowledge.operations.ports import resources
from perdure.knowledge.records.authority import AuthorityQuestion, Citation
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.verification import citations, is_believed, question_of
from perdure.operations.documents import (
    all_documents,
    all_ids,
    find_documents,
    find_documents_named,
    find_records,
    pages,
)
from perdure.operations.ports import Context
from perdure.records.instant import Instant
from perdure.records.memory import Document, Shelf, Status
from perdure.rules.document_edits import DocumentEdits


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts about one predicate of one entity, and what is asked about them."""

    facts: tuple[Fact, ...]  # those that are believed, the one known longest first
    question: AuthorityQuestion  # what authorities are asked
    authorities: tuple[str, ...]  # who is, in the order in which they decide


@dataclass(frozen=True, slots=True)
class VerificationBatch:
    """What one verification looks at."""

    keys: tuple[FactGroup, ...] = ()  # facts, by what they are about
    # working tree -> the memories that cite it, with what they cite
    citing: Mapping[str, list[tuple[str, list[Citation]]]] = field(default_factory=dict)
    left: int = 0  # how many more there are
    # (memory, authority) -> what was written down the last time
    checks: Mapping[tuple[str, str], Document] = field(default_factory=dict)

    @property
    def ids(self) -> set[str]:
        """Every memory that is looked at."""
        facts = {f.id for key in self.keys for f in key.facts}
        return facts | {identity for some in self.citing.values() for identity, _ in some}


def select_batch(ctx: Context, place: str, ids: Sequence[str] | None, limit: int, now: Instant) -> VerificationBatch:
    """Return what is to be looked at: whatever was looked at longest ago first."""
    facts = _facts(ctx, place, ids, now)
    witnesses = [w.name for w in resources(ctx).witnesses.values() if w.covers(place)]
    citing = dict.fromkeys(witnesses, _citing_memories(ctx, place, ids) if witnesses else [])
    named = {f.id for f in facts} | {i for some in citing.values() for i, _ in some}
    checks = {(d.id, d.name): d for d in find_documents(ctx, place, Shelf.CHECK, sorted(named))}
    last = {identity: _at(d) for (identity, _), d in checks.items()}
    left, picked = 0, {}
    for name, some in citing.items():
        dated = sorted((_at(checks.get((identity, name))), identity, cited) for identity, cited in some)
        picked[name], left = [(i, cited) for _, i, cited in dated[:limit]], left + max(0, len(dated) - limit)
    keys, rest = _fact_groups(ctx, place, facts, last, limit)
    return VerificationBatch(keys, picked, left + rest, checks)


def _at(check: Document | None) -> Instant:
    return -1 if check is None else int(check.data.get("at_ms", -1))


def authorities_for(ctx: Context, predicate: str, place: str) -> tuple[str, ...]:
    """Return the authorities that answer for a predicate in a namespace, in the order in which they decide."""
    return tuple(name for name, a in resources(ctx).authorities.items() if a.knows(predicate, place))


# --- facts


def _facts(ctx: Context, place: str, ids: Sequence[str] | None, now: Instant) -> list[Fact]:
    if not resources(ctx).authorities:
        return []
    if ids is None:
        documents = all_documents(ctx, place, Shelf.FACT)
    else:
        keys = sorted({d.name for d in find_documents(ctx, place, Shelf.FACT, ids)})
        documents = find_documents_named(ctx, place, Shelf.FACT, keys)
    read = (Fact.from_data(d.id, d.data) for d in documents)
    facts = [f for f in read if is_believed(f, now) and authorities_for(ctx, f.predicate, place)]
    active: set[str] = set()
    for page in pages(f.id for f in facts):
        states = ctx.store.states(place, page)
        active |= {identity for identity, (state, _) in states.items() if state.status is Status.ACTIVE}
    return [f for f in facts if f.id in active]


def _fact_groups(
    ctx: Context, place: str, facts: Sequence[Fact], last: Mapping[str, Instant], limit: int
) -> tuple[tuple[FactGroup, ...], int]:
    """Return keys with their questions, whatever was looked at longest ago first, and how many facts are left."""
    by: dict[str, list[Fact]] = {}
    for fact in facts:
        by.setdefault(fact.key, []).append(fact)
    order = sorted(by, key=lambda key: (min(last.get(f.id, -1) for f in by[key]), key))
    picked, count = list[str](), 0
    for key in order:
        if count >= limit:
            break
        picked.append(key)
        count += len(by[key])
    questions = questions_about(ctx, place, [by[key][0] for key in picked])
    keys = (
        FactGroup(tuple(sorted(by[key], key=lambda f: f.id)), q, authorities_for(ctx, q.predicate, place))
        for key, q in zip(picked, questions, strict=True)
    )
    return tuple(keys), len(facts) - count


def questions_about(
    ctx: Context, place: str, facts: Sequence[Fact], edits: DocumentEdits | None = None
) -> list[AuthorityQuestion]:
    """Return what is asked about each fact, in its subject's names, those that are being written down included."""
    subjects = sorted({f.subject for f in facts})
    named = [*find_documents(ctx, place, Shelf.ENTITY, subjects), *find_documents(ctx, place, Shelf.ALIAS, subjects)]
    if edits is not None:
        shelves = ((shelf, edits.shelf(shelf)) for shelf in (Shelf.ENTITY, Shelf.ALIAS))
        named += [Document(shelf, i, name, data) for shelf, all_ in shelves for (i, name), data in all_.items()]
    entities = {d.id: d for d in named if d.shelf is Shelf.ENTITY}
    aliases: dict[str, list[Document]] = {}
    for document in named:
        if document.shelf is Shelf.ALIAS:
            aliases.setdefault(document.id, []).append(document)
    return [question_of(f, entities.get(f.subject), aliases.get(f.subject, ())) for f in facts]


# --- memories that cite


def _citing_memories(ctx: Context, place: str, ids: Sequence[str] | None) -> list[tuple[str, list[Citation]]]:
    records = find_records(ctx, place, all_ids(ctx, place) if ids is None else ids)
    found = ((r.id, citations(r.content.text)) for r in records if r.state.status is Status.ACTIVE)
    return [(identity, cited) for identity, cited in found if cited]
