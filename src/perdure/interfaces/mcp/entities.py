"""The tools' functions about entities, with what they return and say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast

from mcp_types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from perdure.interfaces.mcp.arguments import Namespace, Opened
from perdure.interfaces.mcp.texts import answer, plural, quoted
from perdure.records.errors import InvalidInput
from perdure.rules.learning_hint import untaught

if TYPE_CHECKING:  # a server that only lists its tools needs none of them
    from perdure.knowledge.records.entity_results import EntityView
    from perdure.memory import Memory

Name = Annotated[str, Field(description="An entity's id, or a name.", min_length=1, max_length=1000)]
_MOST_FACTS = 200


class EntityOf(TypedDict):
    """Somebody or something that memories are about."""

    id: str
    name: str
    type: str
    aliases: list[str]
    memories: int
    facts: list[str]
    first_seen: str | None
    last_seen: str | None
    merged: list[str]
    shared: dict[str, list[str]]


class Entities(TypedDict):
    """Entities by id; facts only where one was asked for."""

    entities: list[EntityOf]


class EntityChanged(TypedDict):
    """What a change moved; ``entity`` is the one that the name belongs to now."""

    entity: str
    changed: bool
    memories: int
    facts: list[str]
    ambiguous_with: list[str]
    operations: list[str]


class EntityTools(Opened):
    """Verbs about entities."""

    def entities(
        self,
        name: Annotated[
            str | None, Field(description="Only this one, by id or name; leave out for a list.", max_length=1000)
        ] = None,
        limit: Annotated[int, Field(description="How many at most.", ge=1, le=200)] = 50,
        namespace: Namespace = None,
    ) -> Annotated[CallToolResult, Entities]:
        """List entities, or show one with its facts."""
        place = self._place(namespace)
        if name is None:
            found = self._memory().entities(place, limit=limit)
        else:
            found = [self._memory().entity(name, namespace=place)]
        none = f"No entities. {untaught(self._memory().policy.knowledge)}".strip()
        return answer({"entities": [_entity(e) for e in found]}, "\n".join(map(_told, found)) or none)

    def entity_change(
        self,
        action: Annotated[
            Literal["alias", "remove_alias", "merge", "split"],
            Field(description="merge makes `name` part of the entity; split makes it one of its own."),
        ],
        entity: Name,
        name: Annotated[str, Field(description="The other name, or the other entity.", min_length=1, max_length=1000)],
        namespace: Namespace = None,
    ) -> Annotated[CallToolResult, EntityChanged]:
        """Change what an entity is called, or what it consists of."""
        told = _changed(self._memory(), action, entity, name, self._place(namespace))
        what = f"{plural(told['memories'], 'memory', 'memories')}, {plural(len(told['facts']), 'fact', 'facts')} moved."
        shared = f" The name is ambiguous now: also {', '.join(told['ambiguous_with'])}." * bool(told["ambiguous_with"])
        undo = f" undo takes {', '.join(told['operations'])}." * bool(told["operations"])
        return answer(told, f"{action}: {told['entity']}. {what}{shared}{undo}")


def _entity(e: EntityView) -> EntityOf:
    told = e.to_dict()
    told["facts"] = told["facts"][:_MOST_FACTS]
    return cast("EntityOf", told)


def _told(e: EntityView) -> str:
    """Return the text of an entity. Names come from texts: they are quoted."""
    facts = f", facts {', '.join(e.facts[:_MOST_FACTS])}" if e.facts else ""
    names = "\n".join(dict.fromkeys((e.name, *e.aliases)))
    return f"- {e.id}: {plural(e.memories, 'memory', 'memories')}{facts}\n{quoted(names)}"


def _changed(memory: Memory, action: str, entity: str, name: str, place: str) -> EntityChanged:
    if action in ("alias", "remove_alias"):
        named = memory.alias(entity, name, namespace=place, remove=action == "remove_alias")
        return _change(named.entity, named.operation, shared=named.shared_with)
    if action == "merge":
        merged = memory.merge_entities(entity, name, namespace=place)
        return _change(merged.into, merged.operation, merged.memories, merged.facts)
    if action == "split":
        split = memory.split_entity(entity, name, namespace=place)
        return _change(split.entity, split.operation, split.memories, split.facts)
    raise InvalidInput(f"There is no action {action!r}.", remedy="Use alias, remove_alias, merge or split.")


def _change(
    entity: str, operation: str | None, memories: int = 0, facts: tuple[str, ...] = (), shared: tuple[str, ...] = ()
) -> EntityChanged:
    return {
        "entity": entity,
        "changed": operation is not None,
        "memories": memories,
        "facts": list(facts),
        "ambiguous_with": list(shared),
        "operations": [operation] if operation else [],
    }
