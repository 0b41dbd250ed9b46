"""What verbs about entities answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Written


@dataclass(frozen=True, slots=True)
class EntityView(JsonRecord):
    """Somebody or something that memories are about."""

    id: str  # readable and unique in its namespace
    name: str  # as it is written in answers
    type: str  # what it is, or empty
    aliases: tuple[str, ...]  # all its names, as written, in the order of their normal forms
    memories: int  # visible memories that are about it or name it
    facts: tuple[str, ...] = ()  # ids of the memories that hold facts about it; in a list of entities empty
    first_seen: datetime | None = None  # when the earliest memory that names it happened; None if none does
    last_seen: datetime | None = None  # when the latest one did
    merged: tuple[str, ...] = ()  # entities that it stands for
    # normal form of a name -> other entities that have it too: such a name is ambiguous
    shared: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class AliasChange(Written):
    """What became of a name of an entity."""

    entity: str  # its id
    alias: str  # the name, as written
    removed: bool = False  # whether it was to be removed
    shared_with: tuple[str, ...] = ()  # other entities of that name: it is ambiguous from now on
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class EntityMerge(Written):
    """What a merge of two entities moved."""

    into: str  # the entity that stays
    other: str  # the one that is part of it now
    aliases: tuple[str, ...]  # names that moved, as written
    memories: int  # how many memories are about the other one, or name it
    facts: tuple[str, ...]  # ids of the facts that are about ``into`` now
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class EntitySplit(Written):
    """What became an entity of its own."""

    entity: str  # the new one's id
    source: str  # the one that had the name
    alias: str  # the name, as written
    memories: int  # how many memories used the name
    # ids of the facts that are about the new one now: everything that they come from used this name only
    facts: tuple[str, ...]
    left: tuple[str, ...]  # facts that stay, although something that they come from used the name
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``
