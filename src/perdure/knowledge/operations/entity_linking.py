"""Whom messages name: entities found, made and mentioned while a session is learned from."""

from __future__ import annotations

from perdure.knowledge.extraction.entity_names import AmbiguousName, ResolvedName, UnknownName, entity_id, normal_name
from perdure.knowledge.extraction.mentions import Mention, mentions
from perdure.knowledge.extraction.references import FIRST_PERSON, Referents, may_refer, speaker_name
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.records.facts import Entity, Span
from perdure.knowledge.rules.entities import alias_change, mention_change, new_entity_changes
from perdure.records.memory import ROLES, Record, Shelf


class EntityLinker:
    """The names of a namespace, and who was spoken of last in one session.

    Attributes:
        texts: The last messages of the session that is listened to, oldest first.
    """

    def __init__(self, work: FactSession) -> None:
        self.work, self.fuzzy = work, work.ctx.policy.knowledge.fuzzy
        self.names = names_of(work.ctx, work.namespace)
        self.texts: list[str] = []

    def link_names(self, record: Record, *, may_create: bool) -> list[str]:
        """Write down whom a message names, and return the ids of the entities that are new."""
        words: dict[str, list[tuple[Span, str]]] = {}
        new: list[str] = []
        for mention in mentions(record.content.text, self.names.known):
            identity = self._entity_of_mention(mention, record, new, may_create=may_create)
            if identity is not None:
                span = Span(mention.start, mention.end, mention.quote)
                words.setdefault(identity, []).append((span, mention.name))
        for identity, places in words.items():
            self.work.edits.absorb([mention_change(record.id, identity, "named", places)])
        return new

    def subject(self, words: str, record: Record, before: str, new: list[str]) -> Entity | None:
        """Return whom a claim is about; None where that is not clear. What is named for the first time is made."""
        speaker = record.content.speaker
        if may_refer(words):
            identity = Referents(self.texts, self.names, self.fuzzy).refer(words, before, speaker)
            if identity is None and words.casefold() in FIRST_PERSON:
                return self._find_or_make(speaker_name(speaker), new)
            if identity is None:
                return None
            return self._known_or_new(identity, speaker_name(speaker), new)
        found = self.names.resolve(words, self.fuzzy)
        match found:
            case ResolvedName():
                return self.names.entity(found.id)
            case AmbiguousName():
                return None
            case UnknownName():
                return self._find_or_make(words, new) if normal_name(words) else None

    def call(self, entity: Entity, name: str) -> None:
        """Make a name that somebody goes by known, unless it is another's."""
        if isinstance(self.names.resolve(name, self.fuzzy), UnknownName) and self.names.add(entity.id, name):
            self.work.edits.absorb([alias_change(entity.id, name)])

    def spoken_of(self, record: Record) -> list[str]:
        """Return the entities that an answer may be about: those it names, else those of the messages before it."""
        for text in (record.content.text, *reversed(self.texts)):
            if found := self.entities_in(text):
                return found
        return []

    def entities_in(self, text: str) -> list[str]:
        """Return the known entities that a text names, in order."""
        found = (self.names.resolve(mention.quote, self.fuzzy) for mention in mentions(text, self.names.known))
        return list(dict.fromkeys(resolution.id for resolution in found if isinstance(resolution, ResolvedName)))

    def speaker(self, record: Record) -> str | None:
        """Return the entity that says a message, if it is known."""
        found = self.names.resolve(speaker_name(record.content.speaker), self.fuzzy)
        return found.id if isinstance(found, ResolvedName) else None

    def is_person(self, record: Record) -> bool:
        """Whether a message is a person's own word."""
        speaker = (record.content.speaker or "user").lower()
        return speaker in {"user", "human"} or speaker not in ROLES

    def _entity_of_mention(self, mention: Mention, record: Record, new: list[str], *, may_create: bool) -> str | None:
        found = self.names.resolve(mention.quote, self.fuzzy)
        match found:
            case ResolvedName():
                return found.id
            case AmbiguousName():
                if may_create:
                    self._ask_which(found, record)
                return None
            case UnknownName():
                return self._find_or_make(mention.quote, new).id if may_create else None

    def _ask_which(self, found: AmbiguousName, record: Record) -> None:
        """Put the question whom a name means before a person: it is not guessed."""
        names = [self.names.entity(i).name for i, _ in found.candidates]
        data = {
            "why": f"'{found.name}' may mean {' or '.join(names)}",
            "since_ms": record.state.created_ms,
            "candidates": [i for i, _ in found.candidates],
        }
        name = f"which:{normal_name(found.name)}"
        self.work.edits.put(Shelf.REVIEW, record.id, name, data, "a name that may mean several")

    def _known_or_new(self, identity: str, name: str, new: list[str]) -> Entity:
        if identity in self.names.entities:
            return self.names.entity(identity)
        return self._find_or_make(name, new)

    def _find_or_make(self, name: str, new: list[str]) -> Entity:
        found = self.names.resolve(name, 1.0)
        if isinstance(found, ResolvedName):
            return self.names.entity(found.id)
        entity = Entity(entity_id(name, self.names.entities), name, aliases={normal_name(name): name})
        self.names.add_entity(entity)
        self.work.edits.absorb(new_entity_changes(entity))
        new.append(entity.id)
        return entity
