"""Whom the claims that a caller handed over are about."""

from __future__ import annotations

from typing import Final

from perdure.knowledge.extraction.entity_names import (
    AmbiguousName,
    Names,
    ResolvedName,
    UnknownName,
    are_namesakes,
    entity_id,
    normal_name,
)
from perdure.knowledge.extraction.references import FIRST_PERSON, speaker_name
from perdure.knowledge.operations.apply_claims import ClaimWriter
from perdure.knowledge.records.facts import Entity
from perdure.knowledge.rules.entities import alias_change, new_entity_changes
from perdure.records.outcome import GivenClaim, HandedClaims
from perdure.records.policy_knowledge import KnowledgePolicy

NAMES: Final = frozenset({"name", "nickname"})
"""Predicates whose value is a name that somebody goes by."""


class ClaimSubjects:
    """Finds the entities that the claims of one memory are about; what is named for the first time is made."""

    def __init__(self, writer: ClaimWriter, names: Names, handed: HandedClaims, policy: KnowledgePolicy) -> None:
        self.writer, self.names, self.handed, self.fuzzy = writer, names, handed, policy.fuzzy

    def subject(self, claim: GivenClaim, faults: list[str]) -> Entity | None:
        """Return whom a claim is about; what is named for the first time is made."""
        words = self._name(claim)
        if words in self.names.entities:
            return self.names.entity(self.names.current_entity(words))
        if not normal_name(words):
            faults.append(
                f"Claim {claim.number}: the subject {words!r} names nobody: it is an article, a pronoun or no word. "
                "Name it by more than that ('Team A')."
            )
            return None
        found = self.names.resolve(words, self.fuzzy)
        near = [i for i, _ in found.candidates] if isinstance(found, AmbiguousName) else []
        near = [found.id] if isinstance(found, ResolvedName) else near
        if all(self._is_another(words, identity) for identity in near):
            return self._new_entity(words)
        if len(near) == 1:
            return self._known_entity(words, near[0])
        faults.append(f"Claim {claim.number}: the subject {words!r} may be any of {', '.join(near)}.")
        return None

    def _known_entity(self, words: str, identity: str) -> Entity:
        """Return an entity that a name means, and note where the name is not one of its own."""
        entity = self.names.entity(identity)
        if normal_name(words) not in entity.aliases:
            self.writer.tally.taken[words] = entity.name
        return entity

    def _name(self, claim: GivenClaim) -> str:
        """Return the name of a claim's subject; whoever says "I" is called by name."""
        is_speaker = claim.subject.casefold() in FIRST_PERSON or claim.subject.casefold() == "user"
        known = claim.subject in self.names.entities
        return speaker_name(self.handed.speaker) if is_speaker and not known else claim.subject

    def name_used(self, claim: GivenClaim, subject: Entity) -> str:
        """Return by which of its names an entity is called, in its normal form."""
        words = self._name(claim)
        return normal_name(subject.name if words in self.names.entities else words)

    def _is_another(self, name: str, identity: str) -> bool:
        """Whether a full name is that of somebody else than an entity with a name like it: Katharina, Katarina."""
        aliases = self.names.entity(identity).aliases
        return normal_name(name) not in aliases and any(are_namesakes(name, other) for other in aliases.values())

    def _new_entity(self, name: str) -> Entity:
        entity = Entity(entity_id(name, self.names.entities), name, aliases={normal_name(name): name})
        self.names.add_entity(entity)
        self.writer.work.edits.absorb(new_entity_changes(entity))
        self.writer.tally.entities.append(entity.id)
        return entity

    def note_own_name(self, claim: GivenClaim, subject: Entity, predicate: str) -> None:
        """Know whoever speaks by the name that they give, unless it is another's: "My name is Ingrid"."""
        own = subject.id == self._speaker()
        if not own or predicate not in NAMES or claim.denied or not normal_name(claim.value):
            return
        if isinstance(self.names.resolve(claim.value, self.fuzzy), UnknownName) and self.names.add(
            subject.id, claim.value
        ):
            self.writer.work.edits.absorb([alias_change(subject.id, claim.value)])

    def _speaker(self) -> str | None:
        found = self.names.resolve(speaker_name(self.handed.speaker), 1.0)
        return found.id if isinstance(found, ResolvedName) else None
