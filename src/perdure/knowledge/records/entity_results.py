"""What verbs about entities answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Written


def _plain(result: Any) -> dict[str, Any]:
    return {f.name: list(v) if isinstance(v := getattr(result, f.name), tuple) else v for f in fields(result)}


@dataclass(frozen=True, slots=True)
class EntityView(JsonRecord):
    """Somebody or something that memories are about.

    Attributes:
        id: Readable and unique in its namespace.
        name: As it is written in answers.
        type: What it is, or empty.
        aliases: All its names, as written, in the order of their normal forms.
        memories: Visible memories that are about it or name it.
        facts: Ids of the memories that hold facts about it; in a list of entities empty.
        first_seen: When the earliest memory that names it happened; None if none does.
        last_seen: When the latest one did.
        merged: Entities that it stands for.
        shared: Normal form of a name -> other entities that have it too: such a name is ambiguous.
    """

    id: str
    name: str
    type: str
    aliases: tuple[str, ...]
    memories: int
    facts: tuple[str, ...] = ()
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    merged: tuple[str, ...] = ()
    shared: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class AliasChange(Written):
    """What became of a name of an entity.

    Attributes:
        entity: Its id.
        alias: The name, as written.
        removed: Whether it was to be removed.
        shared_with: Other entities of that name: it is ambiguous from now on.
        operations: Ids of the operations, for ``undo``.
    """

    entity: str
    alias: str
    removed: bool = False
    shared_with: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityMerge(Written):
    """What a merge of two entities moved.

    Attributes:
        into: The entity that stays.
        other: The one that is part of it now.
        aliases: Names that moved, as written.
        memories: How many memories are about the other one, or name it.
        facts: Ids of the facts that are about ``into`` now.
        operations: Ids of the operations, for ``undo``.
    """

    into: str
    other: str
    aliases: tuple[str, ...]
    memories: int
    facts: tuple[str, ...]
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntitySplit(Written):
    """What became an entity of its own.

    Attributes:
        entity: The new one's id.
        source: The one that had the name.
        alias: The name, as written.
        memories: How many memories used the name.
        facts: Ids of the facts that are about the new one now: everything that they come from used this name only.
        left: Facts that stay, although something that they come from used the name.
        operations: Ids of the operations, for ``undo``.
    """

    entity: str
    source: str
    alias: str
    memories: int
    facts: tuple[str, ...]
    left: tuple[str, ...]
    operations: tuple[str, ...] = ()
