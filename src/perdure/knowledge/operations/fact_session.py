"""What is known as an operation finds it and changes it: facts, entities and their documents, read as they are needed.

Several messages may change one fact within one plan: each sees what those before it made of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from perdure.knowledge.operations.change_rates import known_rates
from perdure.knowledge.records.facts import Fact, fact_key
from perdure.knowledge.rules.claim_resolution import KnownFact
from perdure.knowledge.rules.fact_records import learned_confidence
from perdure.knowledge.rules.predicate_registry import SynonymPair, canonical_name, pairs_of
from perdure.operations.decisions import begin
from perdure.operations.documents import all_documents, find_documents, find_documents_named, find_records
from perdure.operations.new_memories import insert, prepare, store_new
from perdure.operations.ports import Context
from perdure.records.errors import REPAIR, StoreDamaged
from perdure.records.instant import Instant
from perdure.records.memory import SUPERSEDES, Document, Draft, Record, Shelf, Sort, State, Status
from perdure.records.plan import Change, Plan
from perdure.rules.decisions import Decisions
from perdure.rules.document_edits import DocumentEdits
from perdure.rules.insertion import PreparedDraft, initial_states, new_record
from perdure.rules.lifecycle.signals import current_signals
from perdure.rules.lifecycle.stale_facts import is_unanswered


class PredicateSynonyms:
    """The pairs of a namespace that were asked about. They are few, and read at once."""

    def __init__(self, ctx: Context, namespace: str, edits: DocumentEdits) -> None:
        self._ctx, self._namespace, self._edits = ctx, namespace, edits
        self._of: dict[tuple[str, str], Document] | None = None

    def name(self, predicate: str) -> str:
        """Return the name of a predicate that a person said is the same; itself if there is none."""
        return canonical_name(predicate, self.pairs())

    def pairs(self) -> list[SynonymPair]:
        """Return the pairs of predicates that a person was asked about."""
        return pairs_of(self._read().values())

    def put(self, document: Document, because: str) -> None:
        """Write a lesson down."""
        self._read()[document.id, document.name] = document
        self._edits.put(document.shelf, document.id, document.name, document.data, because)

    def _read(self) -> dict[tuple[str, str], Document]:
        if self._of is None:
            stored = list(all_documents(self._ctx, self._namespace, Shelf.LESSON, strict=True))
            self._edits.read(stored)
            self._of = {(d.id, d.name): d for d in stored}
        return self._of


class FactSession:
    """The facts of a namespace as one operation sees and changes them.

    What is damaged of a fact raises StoreDamaged: what is decided without it would contradict it once it is repaired.
    """

    def __init__(self, ctx: Context, namespace: str, now: Instant, decisions: Decisions | None = None) -> None:
        self.ctx, self.namespace, self.now = ctx, namespace, now
        self.edits = DocumentEdits()
        self.lessons = PredicateSynonyms(ctx, namespace, self.edits)
        self.decisions = decisions or begin(ctx, namespace, now)
        self.facts: dict[str, Fact] = {}
        self.changed: set[tuple[str, str]] = set()  # (subject, predicate) of facts that were taken in or changed
        self._of: dict[tuple[str, ...], dict[str, None]] = {}
        self._keys: dict[str, dict[str, list[Document]]] = {}
        """Key -> normal form of the value -> what was not taken in yet."""
        self._heard: set[str] = set()  # keys of facts that were there before this operation
        self._subjects: set[str] = set()
        self._links: dict[tuple[str, str, str], Change] = {}
        self._heirs: dict[str, str] = {}  # fact -> the memory that took the place of what says it
        self._newer: dict[str, list[str]] = {}  # memory -> those that are linked as what took its place
        self._rates: dict[str, float] | None = None
        self._sure: dict[str, tuple[Instant, State, float]] = {}
        self._questions_read: set[str] = set()
        """Memories whose conflicts and open questions were read."""
        self._prepared: dict[str, tuple[PreparedDraft, State]] = {}
        self._waiting: set[str] = set()  # ids that were prepared ahead: nobody's neighbours before they are inserted

    @property
    def states(self) -> dict[str, State]:
        """Memory -> its state, as it was decided until now."""
        return self.decisions.states

    # --- reading

    def about(
        self,
        subject: str,
        predicate: str | None,
        at: Instant,
        norm: str | None = None,
        *,
        holding: Instant | None = None,
    ) -> list[KnownFact]:
        """Return the facts that are believed about an entity, as sure as they are then.

        Args:
            subject: The entity.
            predicate: What about; everything if None.
            at: The instant.
            norm: Only facts with this value's normal form: of a predicate with many values no others need be read.
            holding: When they are to hold; ``at``, if not given. What is planned does not hold before its day.
        """
        place: tuple[str, ...] = (subject,)
        if predicate is None:
            self._read_subject(subject)
        else:
            self._read_key(fact_key(subject, predicate), norm)
            place = (subject, predicate) if norm is None else (subject, predicate, norm)
        active = (i for i in self._of.get(place, ()) if self.states[i].status is Status.ACTIVE)
        ended, begun = (holding, holding) if holding is not None else (at, max(at, self.now))
        facts = [self.facts[i] for i in active]
        return self.known_facts([f.id for f in facts if not (f.has_ended(ended) or f.is_upcoming(begun))], at)

    def upcoming_facts(self, subject: str, predicate: str, norm: str | None = None) -> list[Fact]:
        """Return the facts of an entity that are planned and have not begun to hold: of one value, or of any."""
        self._read_key(fact_key(subject, predicate), norm)
        place = (subject, predicate) if norm is None else (subject, predicate, norm)
        facts = [self.facts[i] for i in self._of.get(place, ()) if self.states[i].status is Status.ACTIVE]
        return [f for f in facts if f.is_upcoming(self.now)]

    def preceding_facts(self, fact: Fact) -> list[Fact]:
        """Return the facts that end because a planned one takes their place then."""
        self._read_key(fact.key, None)
        facts = [self.facts[i] for i in self._of.get((fact.subject, fact.predicate), ())]
        return [f for f in facts if f.followed_by == fact.id and self.states[f.id].status is Status.ACTIVE]

    def expired_facts(self, subject: str, predicate: str, norm: str, at: Instant) -> list[Fact]:
        """Return the facts of an entity with a value whose end was stated and has come by now."""
        self._read_key(fact_key(subject, predicate), norm)
        facts = [self.facts[i] for i in self._of.get((subject, predicate, norm), ())]
        return [f for f in facts if self.states[f.id].status is Status.ACTIVE and f.has_ended(at)]

    def past_facts(self, subject: str, predicate: str) -> list[Fact]:
        """Return the facts of an entity that held once, as far as is known."""
        self._read_key(fact_key(subject, predicate), None)
        ids = self._of.get((subject, predicate), ())
        return [self.facts[i] for i in ids if self.states[i].status is Status.SUPERSEDED and not self.facts[i].denied]

    def faded_fact(self, subject: str, predicate: str, norm: str, *, denied: bool = False) -> str | None:
        """Return the fact of an entity with a value that nobody confirmed for so long that it was archived, if any."""
        self._read_key(fact_key(subject, predicate), norm)
        found = (i for i in self._of.get((subject, predicate, norm), ()) if self.facts[i].denied == denied)
        return max((i for i in found if self.states[i].status is Status.ARCHIVED), default=None)

    def unanswered_facts(self, subject: str, predicate: str, norm: str, at: Instant) -> list[KnownFact]:
        """Return the facts of an entity with a value that nobody denied, and that were archived for their age."""
        self._read_key(fact_key(subject, predicate), norm)
        found = [i for i in self._of.get((subject, predicate, norm), ()) if not self.facts[i].denied]
        return self.known_facts([i for i in found if is_unanswered(self.states[i], self.ctx.policy)], at)

    def known_facts(self, ids: Sequence[str], at: Instant) -> list[KnownFact]:
        """Return facts that were read, as sure as they are at an instant."""
        self.weigh(ids, at)
        return [KnownFact(self.facts[i], self.states[i], self._sure[i][2]) for i in ids]

    def weigh(self, ids: Iterable[str], at: Instant) -> None:
        """Work out how sure facts that were read are at an instant, for all at once."""
        states = {i: self.states[i] for i in ids if self._sure.get(i, ())[:2] != (at, self.states[i])}
        if not states:
            return
        if self._rates is None:
            self._rates = known_rates(self.ctx, self.namespace)
        sure = current_signals(list(states.values()), self.ctx.policy, at).confidence.tolist()
        for (i, s), c in zip(states.items(), sure, strict=True):
            confidence = learned_confidence(s, self.facts[i].type, self._rates, at, otherwise=c)
            self._sure[i] = (at, s, confidence)

    def read(self, ids: Iterable[str]) -> None:
        """Read facts by id, with what their documents say."""
        missing = [i for i in ids if i not in self.facts]
        self._take_in(list(find_documents(self.ctx, self.namespace, Shelf.FACT, missing, strict=True)))

    def take_in_planned(self, record: Record, documents: Sequence[Document]) -> None:
        """Take in a fact that a plan stores, as its documents there describe it, with the conflicts that they tell."""
        own = [d for d in documents if record.id in (d.id, d.name)]
        self.edits.read(d for d in own if d.shelf is Shelf.CONFLICT)
        for document in (d for d in own if d.shelf is Shelf.FACT):
            self.decisions.admit([record])
            self._keep(Fact.from_data(record.id, document.data))

    def include(self, records: Sequence[Record]) -> None:
        """Bring memories that are no facts before the decisions."""
        self.decisions.admit(records)

    def is_first(self, fact: Fact) -> bool:
        """Whether a new fact is the first about its predicate of its entity."""
        self._read_key(fact.key, fact.value.norm)
        return fact.key not in self._heard and min(self._of[fact.subject, fact.predicate]) == fact.id

    def record(self, identity: str) -> Record:
        """Return a memory as this operation finds it by now."""
        return self.decisions.record(identity)

    def open_conflicts(self, identity: str) -> list[tuple[str, str]]:
        """Return (older, newer) of the open conflicts in which a fact is one side; their facts are read."""
        self.read_questions([identity])
        known = self.edits.about(Shelf.CONFLICT, identity)
        found = [key for key, data in known.items() if data.get("outcome") == "open"]
        self.read(i for key in found for i in key)
        return [key for key in found if all(i in self.facts for i in key)]

    def close_reviews(self, identity: str, because: str, *, name: str | None = None) -> None:
        """Remove the open questions about a memory, or the one of a name."""
        self.read_questions([identity])
        for owner, review in self.edits.about(Shelf.REVIEW, identity):
            if owner == identity and name in (None, review):
                self.edits.put(Shelf.REVIEW, owner, review, None, because)

    def read_questions(self, ids: Iterable[str]) -> None:
        """Read the conflicts of memories and the open questions about them, in few statements."""
        new = [i for i in dict.fromkeys(ids) if i not in self._questions_read]
        if not new:
            return
        self._questions_read.update(new)
        for find, shelf in (
            (find_documents, Shelf.CONFLICT),
            (find_documents_named, Shelf.CONFLICT),
            (find_documents, Shelf.REVIEW),
        ):
            self.edits.read(find(self.ctx, self.namespace, shelf, new, strict=True))

    def said_in(self, memory: str) -> list[str]:
        """Return the facts that were read, or made by now, of which a memory is a source."""
        return list(self._of.get(("said in", memory, ""), ()))

    def read_keys(self, keys: Iterable[str]) -> None:
        """Read what is stored of facts about some predicates of some entities, in few statements."""
        new = [key for key in dict.fromkeys(keys) if key not in self._keys]
        self._keys |= {key: {} for key in new}
        for document in find_documents_named(self.ctx, self.namespace, Shelf.FACT, new, strict=True):
            self._heard.add(document.name)
            norm = str(document.data["value"]["norm"])
            self._keys[document.name].setdefault(norm, []).append(document)

    def take_in_keys(self, norms: Iterable[tuple[str, str | None]]) -> None:
        """Take in the facts of (key, a value's normal form) whose keys were read; for None those with any value."""
        documents: list[Document] = []
        for key, norm in norms:
            unread = self._keys.get(key, {})
            for each in list(unread) if norm is None else [norm]:
                documents += unread.pop(each, ())
        self._take_in(documents)

    def _read_key(self, key: str, norm: str | None) -> None:
        if key not in self._keys:
            self.read_keys([key])
        if self._keys[key]:
            self.take_in_keys([(key, norm)])

    def _read_subject(self, subject: str) -> None:
        if subject not in self._subjects:
            self._subjects.add(subject)
            about = self.ctx.store.documents.strict.find_named(self.namespace, Shelf.ABOUT, [subject])
            self.read(d.id for d in about)

    def _take_in(self, documents: Sequence[Document]) -> None:
        fresh = [d for d in documents if d.id not in self.facts]
        if not fresh:
            return
        records = {r.id: r for r in find_records(self.ctx, self.namespace, [d.id for d in fresh])}
        self.edits.read(fresh)
        for document in fresh:
            if document.id not in records:
                raise StoreDamaged(
                    f"The memory of the fact {document.id} of {self.namespace} cannot be read; nothing was written.",
                    remedy=REPAIR,
                )
            self._keep(Fact.from_data(document.id, document.data))
        self.decisions.admit(records.values())

    def _keep(self, fact: Fact) -> None:
        if (old := self.facts.get(fact.id)) is not None:
            for place in _places(old):
                self._of[place].pop(fact.id, None)
        self.facts[fact.id] = fact
        self.changed.add((fact.subject, fact.predicate))
        for place in _places(fact):
            self._of.setdefault(place, {})[fact.id] = None

    # --- changing

    def change(self, identity: str, state: State, verb: str, because: str) -> None:
        """Decide that a fact's memory has another state from now on."""
        if (fact := self.facts.get(identity)) is not None:
            self.changed.add((fact.subject, fact.predicate))
        self.decisions.change(identity, state, verb, because)

    def rewrite(self, fact: Fact, because: str) -> None:
        """Decide what a fact's document says."""
        old, state = self.facts.get(fact.id), self.states[fact.id]
        self._keep(fact)
        if state.sort != fact.type:
            self.change(fact.id, replace(state, sort=Sort(fact.type)), "rewritten", because)
        if old is not None and old.key != fact.key:
            self.edits.put(Shelf.FACT, fact.id, old.key, None, because)
        self.edits.put(Shelf.FACT, fact.id, fact.key, fact.to_data(), because)
        if old is None:
            self.edits.put(Shelf.ABOUT, fact.id, fact.subject, {}, because)

    def link(self, change: Change) -> None:
        """Link two memories, or end that, once everything else is written; the same link twice is one."""
        row = change.after or change.before or {}
        key = change.id, row["other"], row["kind"]
        if self._links.setdefault(key, change) is change and row["kind"] == SUPERSEDES:
            self._newer.setdefault(row["other"], []).append(change.id)

    def note_heir(self, identity: str, memory: str) -> None:
        """Note the memory that took the place of all that says a fact."""
        self._heirs[identity] = memory

    def successor(self, identity: str) -> str:
        """Return the fact that this operation links as what took the place of another, or else the noted memory.

        Empty where there is neither.
        """
        heir = self._heirs.get(identity, "")
        return next((newer for newer in self._newer.get(identity, ()) if newer in self.facts), heir)

    def insert(
        self, drafts: Sequence[Draft], *, ids: Sequence[str] | None = None, removed: Collection[str] = ()
    ) -> list[str]:
        """Bring new memories in, and return their ids; the ``removed`` ones are not their neighbours."""
        if len(drafts) == 1 and (ahead := self._prepared.pop(drafts[0].text, None)) is not None:
            new_ids = [self._insert_prepared(drafts[0], *ahead)]
        else:
            new_ids = [record.id for record in insert(self.ctx, self.decisions, drafts, ids=ids, gone=removed)]
        self._questions_read.update(new_ids)  # nobody asked about what is new
        return new_ids

    def prepare_ahead(self, drafts: Sequence[Draft]) -> None:
        """Prepare drafts of different words that are about to be inserted one by one, in this order."""
        prepared = prepare(self.ctx, self.decisions, drafts)
        states = initial_states(prepared, self.ctx.policy, self.now)
        self._prepared = {p.draft.text: (p, s) for p, s in zip(prepared, states, strict=True)}
        self._waiting = {p.id for p in prepared}

    def _insert_prepared(self, draft: Draft, prepared: PreparedDraft, state: State) -> str:
        self._waiting.discard(prepared.id)
        near = tuple(pair for pair in prepared.near if pair[0] not in self._waiting)
        if (draft, near) != (prepared.draft, prepared.near):
            prepared = replace(prepared, draft=draft, near=near)
            (state,) = initial_states([prepared], self.ctx.policy, self.now)
        record = new_record(prepared, state, self.namespace, self.decisions.plan_id)
        store_new(self.ctx, self.decisions, [record], [prepared])
        return record.id

    def changes(self) -> list[Change]:
        """Return what is written after the memories: documents, then links."""
        return [*self.edits.changes(), *self._links.values()]

    def plan(self, operation: str, note: str) -> Plan:
        """Return everything that was decided, as one plan."""
        self.decisions.add(self.changes())
        return self.decisions.plan(operation, note)


def _places(fact: Fact) -> tuple[tuple[str, ...], ...]:
    """Return under what a fact is looked for."""
    key = fact.subject, fact.predicate
    return (fact.subject,), key, (*key, fact.value.norm), *(("said in", s.memory, "") for s in fact.sources)
