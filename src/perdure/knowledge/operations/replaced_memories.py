"""What becomes of the facts and the notes that rest on memories that others replace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from perdure.knowledge.operations.apply_claims import ClaimSource, ClaimWriter
from perdure.knowledge.rules.fact_records import FactEvent, link_change
from perdure.knowledge.rules.given_claims import span_of
from perdure.knowledge.rules.over_words import FactWords, says_more
from perdure.operations.documents import find_states
from perdure.operations.superseding import later_replaced
from perdure.records.errors import InvalidInput
from perdure.records.memory import DERIVED, SUPERSEDES, Kind, Record, Status
from perdure.records.outcome import HandedClaims


class ReplacedMemories:
    """Decides about what rests on the memories that a call replaces, after its claims were taken."""

    def __init__(self, writer: ClaimWriter, handed: HandedClaims, gone: Iterable[str], later: Iterable[str]) -> None:
        self.writer, self.work, self.handed = writer, writer.work, handed
        self.gone, self.later = dict.fromkeys(gone), sorted(later)

    def settle(self) -> None:
        """Keep the facts that are said to be still true, retire those without a source, supersede their notes.

        Raises:
            InvalidInput: A fact that is to be kept rests on none of the memories, or is not believed any longer.
        """
        self._keep()
        self._retire_unsupported()
        self._supersede_sources()
        if self.handed.memory is not None:
            links = later_replaced(self.work.ctx, self.work.decisions, self.handed.memory, self.later)
            self.work.decisions.add(links)

    def _keep(self) -> None:
        resting = {fact for memory in self.gone if self.handed.keeps for fact in self._resting_on(memory)}
        self.work.read(resting)
        source = ClaimSource(
            self.handed.memory, self.handed.at, self.handed.trust, self.handed.scope, self.handed.session
        )
        for identity in self.handed.keeps:
            if identity not in resting or identity not in self.work.facts:
                raise _cannot_be_kept(identity, "is not a fact that rests on the memory")
            if self.work.states[identity].status is not Status.ACTIVE:
                raise _cannot_be_kept(identity, "is no longer believed, or is replaced by a fact of this call")
            (known,) = self.work.known_facts([identity], self.handed.at)
            said = span_of(known.fact.value.text, self.handed.text)
            self.writer.reinforce(known, said, source, "it was kept when its note was replaced")

    def _retire_unsupported(self) -> None:
        """No longer believe the facts that rest on memories that are replaced, and on nothing that is in view."""
        at = self.handed.at
        facts = dict.fromkeys([*self.gone, *(f for memory in self.gone for f in self._resting_on(memory))])
        self.work.read(facts)
        known = [self.work.facts[i] for i in facts if i in self.work.facts]
        hidden = {*self.gone, *self._hidden_ids({s.memory for fact in known for s in fact.sources} - self.gone.keys())}
        for fact in known:
            if self.work.states[fact.id].status is Status.ARCHIVED:
                continue  # it is not believed, and may come back
            is_replaced = fact.id in self.gone and fact.id not in self.writer.tally.reinforced
            if is_replaced or (fact.sources and all(s.memory in hidden for s in fact.sources)):
                self.writer.retire(fact.id, FactEvent.REPLACED, at, at, "what it rests on was replaced")
                self.work.note_heir(fact.id, self.handed.memory or "")

    def _hidden_ids(self, memories: Iterable[str]) -> set[str]:
        states = find_states(self.work.ctx, self.work.namespace, sorted(memories))
        return {i for i, state in states.items() if state.status in (Status.SUPERSEDED, Status.INVALIDATED)}

    def _supersede_sources(self) -> None:
        """Supersede the notes of which nothing holds, so that recall and MEMORY.md say what does. Others are marked."""
        stands = self.handed.memory
        retired = [self.work.facts[i] for i in dict.fromkeys(self.writer.tally.retired)]
        memories = {s.memory for fact in retired for s in fact.sources} | set(self.gone)
        notes = self._notes(memories - {stands})
        self.work.read_questions(record.id for record in notes)
        for record in notes:
            facts = self._resting_on(record.id)
            self.work.read(facts)
            states = {self.work.states[i].status for i in facts if i in self.work.facts}
            believed = not states.isdisjoint((Status.ACTIVE, Status.ARCHIVED))
            if record.id not in self.gone and (believed or self._says_more(record, facts)):
                continue
            because = f"updated: {stands} holds instead" if stands else "no fact that it says is believed any longer"
            after = replace(record.state, status=Status.SUPERSEDED, status_ms=self.work.now, held=False)
            self.work.change(record.id, after, "replaced", f"superseded: {because}")
            self.writer.tally.superseded += [record.id] if record.id not in self.gone else []
            if stands is not None and record.id not in self.gone:  # those have their link
                self.work.link(link_change(SUPERSEDES, stands, record.id, because))
            self.work.close_reviews(record.id, because)

    def _says_more(self, record: Record, facts: Iterable[str]) -> bool:
        said = [
            FactWords.of(self.work.facts[i], self.work.record(i).content.text) for i in facts if i in self.work.facts
        ]
        return record.state.pinned or says_more(record.content.text, said)

    def _notes(self, memories: Iterable[str]) -> list[Record]:
        """Return the memories among some that are in view, and that a claim may supersede: what was said stays."""
        ids = sorted(i for i in memories if i)
        self.work.include(self.work.ctx.store.get(self.work.namespace, ids) if ids else [])
        records = [self.work.record(i) for i in ids if i in self.work.states]
        stays = (Kind.EPISODE, Kind.FACT)
        return [
            r
            for r in records
            if r.state.status is Status.ACTIVE
            and (r.state.kind not in stays or r.id in self.gone)
            and r.id not in self.writer.tally.reinforced  # what was to be replaced is said again
        ]

    def _resting_on(self, memory: str) -> list[str]:
        stored = [o for o, kind, _ in self.work.ctx.store.links_to(self.work.namespace, memory) if kind == DERIVED]
        return list(dict.fromkeys((*stored, *self.work.said_in(memory))))


def _cannot_be_kept(identity: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{identity} cannot be kept: it {why}; nothing was stored.",
        remedy="Name facts that are believed and rest on the replaced memory; `why` of that memory lists them.",
    )
