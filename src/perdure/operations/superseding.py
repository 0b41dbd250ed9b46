"""Statements that later ones likely make untrue: judged when their vectors are made, and kept as links."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from perdure.operations.documents import find_records
from perdure.operations.interruptions import interruptions
from perdure.operations.ports import Context, PairJudge
from perdure.records.deadline import until_half
from perdure.records.errors import DeadlineExceeded, EmbedderError
from perdure.records.identifier import short_id
from perdure.records.instant import Instant, day_at
from perdure.records.memory import (
    DERIVED,
    INTERRUPTS,
    LIKELY_SUPERSEDES,
    MAY_SUPERSEDE,
    STANDS_FOR,
    SUPERSEDES,
    Kind,
    Record,
    Shelf,
    Status,
)
from perdure.records.plan import Change, Target
from perdure.records.recall import Filters
from perdure.records.vector import Vector
from perdure.rules.decisions import Decisions
from perdure.rules.doubted_facts import doubted_by
from perdure.rules.language.first_day import begins_later
from perdure.rules.last_said import said_at
from perdure.rules.supersession import POSSIBLE_FROM, ComparedPair, is_likely, is_statement, pairs_of, stated_part

Link = tuple[str, str, str]
"""(id, kind, other)"""
Links = Iterable[Link]
_AT_ONCE: Final = 32  # pairs between two looks at how much time is left: on a busy processor each takes 0.2 s
_LOOKED_AT: Final = 24
"""So many of the nearest memories: replies, questions and other people's words are among them."""
_NOW: Final = Filters()


def superseding_links(
    ctx: Context, namespace: str, records: Sequence[Record], vectors: Sequence[Vector | None]
) -> list[Change]:
    """Return links from statements to those that they likely make untrue, of some that have got vectors.

    ``records`` are in the order in which they are stored; each is compared with those before it and with what is
    stored. Where the model fails there are none, and where half of the call's time is over no more: a warning is given.
    """
    if ctx.judge is None:
        return []
    chosen = [(r, v) for r, v in zip(records, vectors, strict=True) if v is not None and is_statement(r)]
    if not chosen:
        return []
    pairs = _pairs(ctx, namespace, [r for r, _ in chosen], [v for _, v in chosen])
    least = ctx.policy.knowledge.superseded_from
    judged = zip(pairs, _chances(ctx, ctx.judge, pairs), strict=False)
    return [_link(pair, chance, least) for pair, chance in judged if chance >= min(least, POSSIBLE_FROM)]


def _chances(ctx: Context, judge: PairJudge, pairs: Sequence[ComparedPair]) -> list[float]:
    """Return the chances of pairs, of the first ones where time or the model does not do for all."""
    found: list[float] = []
    try:
        with until_half():  # what is taken in must be stored in the other half
            for start in range(0, len(pairs), _AT_ONCE):
                some = pairs[start : start + _AT_ONCE]
                found += judge.chances([(p.earlier.content.text, stated_part(p.later.content.text)) for p in some])
    except EmbedderError as error:
        ctx.warn(f"Some statements were not compared with earlier ones: {error}")
    except DeadlineExceeded:  # its words are about a call that ends, and this one goes on
        ctx.warn("Some statements were not compared with earlier ones: half of the call's time was over.")
    return found


def _pairs(ctx: Context, namespace: str, statements: Sequence[Record], vectors: Sequence[Vector]) -> list[ComparedPair]:
    """Return the pairs of statements that may meet: each with the nearest before it and among what is stored."""
    stored = ctx.store.nearest(namespace, vectors, _LOOKED_AT)
    ids = {i for near in stored for i, _, _ in near} - {r.id for r in statements}
    others = {r.id: r for r in ctx.store.get(namespace, sorted(ids))} if ids else {}
    return pairs_of(statements, vectors, [[(others[i], c) for i, c, _ in near if i in others] for near in stored])


def _link(pair: ComparedPair, chance: float, least: float) -> Change:
    likely = is_likely(pair, chance, least)
    kind, word = (LIKELY_SUPERSEDES, "likely makes") if likely else (MAY_SUPERSEDE, "may make")
    row = {"kind": kind, "other": pair.earlier.id, "weight": round(chance, 4)}
    because = f"{word} {short_id(pair.earlier.id)} untrue, with a chance of {chance:.2f}"
    return Change(Target.LINK, pair.later.id, None, row, because)


class CachedReads:
    """Links, memories and keys of facts of a namespace, each read once however often it is asked for.

    ``links`` has those that were read before, ``seen`` the time that is asked about: what was merged after it stands
    for itself.
    """

    __slots__ = ("_begins", "_ctx", "_keys", "_links", "_namespace", "_records", "_then", "seen")

    def __init__(
        self,
        ctx: Context,
        namespace: str,
        links: Mapping[str, Links] = MappingProxyType({}),
        seen: Filters = _NOW,
    ) -> None:
        self._ctx, self._namespace, self._then, self.seen = ctx, namespace, seen.then, seen
        self._links: dict[str, set[Link]] = {i: set(some) for i, some in links.items()}
        self._records: dict[str, Record | None] = {}
        self._keys: dict[str, str | None] = {}
        self._begins: dict[str, Instant] = {}

    def links(self, ids: Collection[str]) -> set[Link]:
        """Return all links from or to some memories."""
        if unread := sorted(set(ids) - self._links.keys()):
            self._links |= {i: set() for i in unread}
            wanted = set(unread)
            for link in self._ctx.store.links_at(self._namespace, unread):
                for identity in wanted.intersection((link[0], link[2])):
                    self._links[identity].add(link)
        found = {link for i in ids for link in self._links[i]}
        return found - self._of_later_merges(found) if self._then is not None else found

    def _of_later_merges(self, links: Collection[Link]) -> set[Link]:
        merges = {link for link in links if link[1] == STANDS_FOR}
        records = self.records({other for *_, other in merges})
        return {m for m in merges if m[2] in records and records[m[2]].state.status_ms > (self._then or 0)}

    def records(self, ids: Collection[str]) -> dict[str, Record]:
        """Return those of some memories that are there, by id."""
        if unread := sorted(set(ids) - self._records.keys()):
            self._records |= dict.fromkeys(unread)
            self._records |= {r.id: r for r in find_records(self._ctx, self._namespace, unread)}
        return {i: record for i in ids if (record := self._records[i]) is not None}

    def fact_keys(self, ids: Collection[str]) -> dict[str, str]:
        """Return the subject and predicate of those of some ids that are facts, as their documents are named."""
        if unread := sorted(set(ids) - self._keys.keys()):
            self._keys |= dict.fromkeys(unread)
            for d in self._ctx.store.documents.find(self._namespace, Shelf.FACT, unread):
                self._keys[d.id] = d.name
                if d.data["retired_ms"] is None:
                    self._begins[d.id] = d.data["valid_from_ms"] if d.data.get("planned") else 0
        return {i: key for i in ids if (key := self._keys[i]) is not None}

    def planned(self, ids: Collection[str]) -> dict[str, Instant]:
        """Return when those of some ids that are believed facts begin to hold; 0 where that is not planned."""
        return {i: self._begins[i] for i in self.fact_keys(ids) if i in self._begins}

    def vectors(self, ids: Collection[str]) -> dict[str, Vector]:
        """Return the vectors of some memories, by id; some may have none."""
        return dict(self._ctx.store.vectors(self._namespace, sorted(ids))) if ids else {}


class AffirmedLinks(NamedTuple):
    """What becomes of the links that call a memory untrue, which somebody just said it is not."""

    changes: Sequence[Change]
    removed: tuple[str, ...]  # the memories in view whose links, or those of what they replaced, are removed
    turned: tuple[str, ...]  # those in view whose links are turned round: it makes them untrue in turn


def still_true(ctx: Context, namespace: str, identity: str, how: str) -> AffirmedLinks:
    """Return the removal of the links that say that a memory is likely untrue."""
    calling = dict(_calling_untrue(ctx, namespace, identity))
    because = f"{how}: this does not make {short_id(identity)} untrue"
    changes = [Change(Target.LINK, later, row, None, because) for later, row in calling.items()]
    return AffirmedLinks(changes, tuple(_in_view(ctx, namespace, identity, _likely(calling))), ())


def said_again(ctx: Context, namespace: str, identity: str, at: Instant) -> AffirmedLinks:
    """Return that a memory whose words are remembered again makes untrue what made it untrue before that instant."""
    calling = dict(_calling_untrue(ctx, namespace, identity))
    stored = ctx.store.states(namespace, sorted(calling)) if calling else {}
    before = {later: row for later, row in calling.items() if later in stored and said_at(stored[later][0]) <= at}
    changes: list[Change] = []
    for later, row in before.items():
        because = f"remembered again: this does not make {short_id(identity)} untrue"
        turned = f"remembered again: likely makes {short_id(later)} untrue, which was said before"
        changes.append(Change(Target.LINK, later, row, None, because))
        changes.append(Change(Target.LINK, identity, None, {**row, "other": later}, turned))
    shown = _in_view(ctx, namespace, identity, _likely(before))
    return AffirmedLinks(changes, tuple(i for i in shown if i not in calling), tuple(i for i in shown if i in before))


def _likely(calling: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the memories whose links say that another is likely untrue; a reply does not speak of the other links."""
    return [later for later, row in calling.items() if row["kind"] == LIKELY_SUPERSEDES]


def _in_view(ctx: Context, namespace: str, identity: str, calling: Collection[str]) -> list[str]:
    """Return what is in view of those that call a memory untrue, and of what took the place of one of them."""
    if not calling:
        return []
    heirs = sorted(later for later, earlier in likely_superseded(ctx, namespace, [identity]) if earlier == identity)
    ids = list(dict.fromkeys((*calling, *heirs)))
    states = ctx.store.states(namespace, ids)
    return [i for i in ids if i in states and states[i][0].status is Status.ACTIVE]


def _calling_untrue(ctx: Context, namespace: str, identity: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the memories that are linked as making one untrue, each with the row of its link."""
    for later, kind, weight in ctx.store.links_to(namespace, identity):
        if kind in (LIKELY_SUPERSEDES, MAY_SUPERSEDE):
            yield later, {"kind": kind, "other": identity, "weight": weight}


def later_replaced(ctx: Context, decisions: Decisions, stands: str, others: Iterable[str]) -> list[Change]:
    """Return the links from a memory to those whose place it takes on a day to come: they hold until then."""
    known = {(kind, other) for kind, other, _ in ctx.store.links(decisions.namespace, stands)}
    rows = [
        {"kind": LIKELY_SUPERSEDES, "other": other, "weight": 1.0} for other in dict.fromkeys(others) if other != stands
    ]
    there = known | decisions.linked(stands)
    because = "what begins later is said to replace it"
    return [Change(Target.LINK, stands, None, r, because) for r in rows if (r["kind"], r["other"]) not in there]


def judges_statements(ctx: Context) -> bool:
    """Return whether a model tells which statements later ones make untrue."""
    knowledge = ctx.policy.knowledge
    return ctx.judge is not None and knowledge.watch and knowledge.supersession != "off"


def likely_superseded(
    ctx: Context,
    namespace: str,
    ids: Collection[str],
    reading: CachedReads | None = None,
    by: str = LIKELY_SUPERSEDES,
) -> frozenset[tuple[str, str]]:
    """Return (later, earlier) pairs of memories of which the later one likely makes the earlier one untrue.

    One of the two is among ``ids``, or a memory whose place the later one took: what was updated, or merged into
    another, makes untrue what it did, by what stands for it. What stands for a memory that was said after the later one
    is not untrue, nor is what has facts, by a later memory that has facts about other things alone. A fact is put in
    doubt by what likely makes untrue all that says it (rules/doubted_facts.py), and by one that interrupts it, as long
    as that holds.
    ``reading`` has what was read before; with ``by`` the less sure links count instead.
    """
    if not ids or not ctx.policy.knowledge.watch:
        return frozenset()
    reading = CachedReads(ctx, namespace) if reading is None else reading
    links = reading.links(ids)
    resting = resting_on(links, ids)
    if more := {source for some in resting.values() for source in some}.difference(ids):
        links |= reading.links(more)
    pairs = {(i, other) for i, kind, other in links if kind == by} if _judges(ctx) else set()
    if by == LIKELY_SUPERSEDES:
        interrupted = {other for _, kind, other in links if kind == INTERRUPTS}
        found = interruptions(ctx, namespace, interrupted, reading.seen)
        pairs |= {(later, fact) for fact, one in found.items() for later in one.by}
    if not pairs:
        return frozenset()
    told = ctx.store.documents.find(namespace, Shelf.OUTCOME, sorted({later for later, _ in pairs}))
    wrong = {document.id for document in told if document.data.get("outcome") == "wrong"}  # somebody said so
    pairs = {pair for pair in pairs if pair[0] not in wrong}
    pairs |= _inherited_pairs(reading, pairs)
    pairs -= _said_since(ctx, namespace, pairs, links)
    pairs -= _of_other_facts(reading, pairs) | _ahead(ctx, reading, pairs)
    pairs = {pair for pair in pairs if pair[::-1] not in pairs}
    return frozenset(pairs | _doubted_pairs(reading, resting, pairs, links))


def _judges(ctx: Context) -> bool:
    """Whether links count that a model made: beside vectors of another embedder nothing is judged."""
    supersession = ctx.policy.knowledge.supersession
    is_other = supersession == "auto" and ctx.judge is None and ctx.embedder is not None
    return supersession != "off" and not is_other


def _of_other_facts(reading: CachedReads, pairs: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the pairs of memories that both say facts, of which none is of one subject and predicate.

    Who hands over the facts of both has said what each is about, and need not be guessed at.
    """
    ids = {identity for pair in pairs for identity in pair}
    said = [(fact, memory) for fact, kind, memory in reading.links(ids) if kind == DERIVED and memory in ids]
    keys = reading.fact_keys({fact for fact, _ in said})
    about: dict[str, set[str]] = {}
    for fact, memory in said:
        if fact in keys:
            about.setdefault(memory, set()).add(keys[fact])
    return {(i, j) for i, j in pairs if i in about and j in about and about[i].isdisjoint(about[j])}


def _ahead(ctx: Context, reading: CachedReads, pairs: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the pairs whose later memory says what will be so from a day on that has not come yet."""
    later = {later for later, _ in pairs}
    today, records = day_at(ctx.clock(), ctx.policy.days.tz), reading.records(later)
    ahead = {i for i, record in records.items() if begins_later(record.content.text, record.state, today)}
    said = [(fact, memory) for fact, kind, memory in reading.links(later) if kind == DERIVED and memory in later]
    planned = reading.planned({fact for fact, _ in said})
    holding = {memory for fact, memory in said if fact in planned and planned[fact] <= ctx.clock()}
    ahead |= {memory for fact, memory in said if fact in planned} - holding
    return {(later, earlier) for later, earlier in pairs if later in ahead}


def resting_on(links: Links, ids: Collection[str]) -> dict[str, set[str]]:
    """Return fact -> what says it, of some memories and their links."""
    wanted, found = set(ids), dict[str, set[str]]()
    for identity, kind, other in links:
        if kind == DERIVED and identity in wanted:
            found.setdefault(identity, set()).add(other)
    return found


def _doubted_pairs(
    reading: CachedReads,
    resting: Mapping[str, Collection[str]],
    pairs: Collection[tuple[str, str]],
    links: Collection[Link],
) -> set[tuple[str, str]]:
    """Return the facts that statements put in doubt, which make untrue what says them, each as (later, fact)."""
    untrue = {earlier for _, earlier in pairs}
    facts = {fact: some for fact, some in resting.items() if not untrue.isdisjoint(some)}
    if not facts:
        return set()
    sources = {source for some in facts.values() for source in some}
    beside = {(fact, source) for fact, kind, source in links if kind == DERIVED and source in sources}
    ids = {*facts, *sources, *(fact for fact, _ in beside), *(later for later, earlier in pairs if earlier in sources)}
    records = reading.records(ids)
    over = {s: [records[i] for i, earlier in pairs if earlier == s and i in records] for s in sources & untrue}
    spoken_of = _spoken_of(reading, beside, {r.id for some in over.values() for r in some})
    vectors = reading.vectors({i for source, some in over.items() for i in (source, *(r.id for r in some))})
    found: set[tuple[str, str]] = set()
    for fact, some in facts.items():
        if fact in records and records[fact].state.kind is Kind.FACT:
            others = {i for i, source in beside if source in some and i != fact and i in records}
            texts = [r.content.text for i in others if (r := records[i]).state.status is Status.ACTIVE]
            said = [records[source] for source in some if source in records]
            about = {s: [r for r in over.get(s, ()) if fact in spoken_of.get((r.id, s), (fact,))] for s in some}
            found |= {(later, fact) for later in doubted_by(records[fact], said, about, texts, vectors)}
    return found


def _spoken_of(
    reading: CachedReads, said: Collection[tuple[str, str]], later: Collection[str]
) -> dict[tuple[str, str], set[str]]:
    """Return (later, source) -> the facts of a source about which a later statement has a fact of its own, if any.

    A statement that was handed over with facts of its own speaks of those alone, and puts no other fact of the source
    in doubt. ``said`` has (fact, source).
    """
    of_later = [(i, to) for i, kind, to in reading.links(later) if kind == DERIVED and to in later]
    keys = reading.fact_keys({fact for fact, _ in (*said, *of_later)}) if of_later else {}
    found: dict[tuple[str, str], set[str]] = {}
    for (own, statement), (fact, source) in product(of_later, said):
        if own in keys and keys[own] == keys.get(fact):
            found.setdefault((statement, source), set()).add(fact)
    return found


def _inherited_pairs(reading: CachedReads, pairs: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return pairs whose later memory took the place of the later one of others."""
    found = set(pairs)
    new = {later for later, _ in pairs}
    seen = set(new)
    while new:  # an updated memory may have been updated again
        links = sorted(reading.links(new))
        heirs = [(i, other) for i, kind, other in links if kind in (SUPERSEDES, STANDS_FOR) and other in new]
        found |= {(heir, earlier) for heir, of in heirs for later, earlier in found if later == of and earlier != heir}
        new = {heir for heir, _ in heirs} - seen
        seen |= new
    return found


def _said_since(ctx: Context, namespace: str, pairs: Collection[tuple[str, str]], links: Links) -> set[tuple[str, str]]:
    """Return the pairs whose earlier memory stands for one that was said after the later one."""
    untrue = {earlier for _, earlier in pairs}
    merged = [(i, other) for i, kind, other in links if kind == STANDS_FOR and i in untrue]
    if not merged:
        return set()
    ids = {other for _, other in merged} | {later for later, _ in pairs}
    said = {i: said_at(state) for i, (state, _) in ctx.store.states(namespace, sorted(ids)).items()}
    last: dict[str, int] = {}
    for identity, other in merged:
        last[identity] = max(last.get(identity, 0), said.get(other, 0))
    return {(later, earlier) for later, earlier in pairs if last.get(earlier, 0) > said.get(later, 0)}
