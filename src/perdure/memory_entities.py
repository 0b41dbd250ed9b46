"""Verbs about entities: who and what memories are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.operations.ports import Context
from perdure.rules.validation import groups as grouping
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import queries as asking

if TYPE_CHECKING:
    from perdure.knowledge.records.entity_results import AliasChange, EntityMerge, EntitySplit, EntityView

    Entities = list[EntityView]


class EntityVerbs:
    """Verbs about entities: who and what memories are about."""

    _context: Context

    def entities(self, namespace: str = "default", *, limit: int = 100) -> Entities:
        """List the entities of a namespace by id, without their facts; those merged into others are not listed.

        Args:
            namespace: Where.
            limit: How many, 1 to 1000.
        """
        from perdure.knowledge.operations.entities import entities  # noqa: PLC0415  # loaded on the first call

        return entities(self._context, intake.checked_namespace(namespace), asking.limit(limit))

    def entity(self, name_or_id: str, *, namespace: str = "default") -> EntityView:
        """Return an entity with its names, its facts' ids, and since when it is known. Reading is no access.

        Args:
            name_or_id: Its id, or a name; a name may have a slip or lack its legal form (``knowledge.fuzzy``).
            namespace: Where.

        Raises:
            NotFound: Nobody is called that.
            InvalidInput: Several are: the message names them.
        """
        from perdure.knowledge.operations.entities import entity  # noqa: PLC0415  # loaded on the first call

        return entity(self._context, _name(name_or_id), intake.checked_namespace(namespace))

    def alias(self, entity: str, name: str, *, namespace: str = "default", remove: bool = False) -> AliasChange:
        """Give an entity another name, or take one away. A name that two entities have is ambiguous, and that is said.

        Args:
            entity: Its id or a name.
            name: The other name.
            namespace: Where.
            remove: Take it away.

        Raises:
            NotFound: There is no such entity, or it has no such name.
            InvalidInput: It is no name (empty, ``null``, a pronoun), or what another entity is called itself.
        """
        from perdure.knowledge.operations.entities import alias  # noqa: PLC0415  # loaded on the first call

        return alias(
            self._context,
            _name(entity),
            _name(name),
            intake.checked_namespace(namespace),
            remove=grouping.checked_flag(remove, "remove"),
        )

    def merge_entities(self, into: str, other: str, *, namespace: str = "default") -> EntityMerge:
        """Make one entity part of another: names, mentions and facts move; ``undo`` brings every row back.

        Args:
            into: The one that stays: its id or a name.
            other: The one that goes; its id goes on to mean ``into``.
            namespace: Where.

        Raises:
            NotFound: One of them is not there.
            InvalidInput: They are one already.
        """
        place = intake.checked_namespace(namespace)
        from perdure.knowledge.operations.entities import merge  # noqa: PLC0415  # loaded on the first call

        return merge(self._context, _name(into), _name(other), place)

    def split_entity(self, entity: str, alias: str, *, namespace: str = "default") -> EntitySplit:
        """Make one name of an entity, with the mentions that used it, an entity of its own.

        Args:
            entity: The one that has the name: its id or another name.
            alias: The name that becomes an entity.
            namespace: Where.

        Raises:
            NotFound: There is no such entity, or it has no such name.
            InvalidInput: It has no other name.
        """
        from perdure.knowledge.operations.entities import split  # noqa: PLC0415  # loaded on the first call

        return split(self._context, _name(entity), _name(alias), intake.checked_namespace(namespace))


def _name(value: str) -> str:
    """Return a name or an id that can be looked up."""
    return intake.checked_text(value, "a name", longest=1000)
