"""Commands about entities: who and what memories are about."""

from __future__ import annotations

from typing import Annotated

import typer

from perdure.interfaces.cli.call import Call, verb
from perdure.rules.learning_hint import untaught

EntityName = Annotated[str, typer.Argument(metavar="ENTITY", help="Its id, or a name.")]


def entity_list(
    call: Call,
    limit: Annotated[int, typer.Option("--limit", "-l", metavar="N", help="How many, 1 to 1000.")] = 100,
) -> None:
    """List the entities of the namespace with their names and how many memories are about them."""
    with call.memory() as memory:
        found = memory.entities(call.place, limit=limit)
        hint = untaught(memory.policy.knowledge)
    from perdure.interfaces.views.entities import show_entities  # noqa: PLC0415  # start-up time

    call.answer([e.to_dict() for e in found], lambda out: show_entities(out, found, hint))


def entity_show(call: Call, entity: EntityName) -> None:
    """Show one entity: its names, its facts, since when it is known. A name that may mean several is not guessed."""
    with call.memory() as memory:
        found = memory.entity(entity, namespace=call.place)
    from perdure.interfaces.views.entities import show_entity  # noqa: PLC0415  # start-up time

    call.answer(found.to_dict(), lambda out: show_entity(out, found))


def entity_alias(
    call: Call,
    entity: EntityName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Another name of it.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take the name away.")] = False,
) -> None:
    """Give an entity another name, or take one away."""
    with call.memory() as memory:
        done = memory.alias(entity, name, namespace=call.place, remove=remove)
    from perdure.interfaces.views.entities import show_alias  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_alias(out, done))


def entity_merge(
    call: Call,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The entity that stays: its id, or a name.")],
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The one that becomes part of it.")],
) -> None:
    """Make one entity part of another: names, mentions and facts move; undo brings them back."""
    with call.memory() as memory:
        done = memory.merge_entities(into, other, namespace=call.place)
    from perdure.interfaces.views.entities import show_merge  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_merge(out, done))


def entity_split(
    call: Call,
    entity: EntityName,
    alias: Annotated[str, typer.Argument(metavar="ALIAS", help="The name that becomes an entity of its own.")],
) -> None:
    """Make a name of an entity, with the mentions that used it, an entity of its own."""
    with call.memory() as memory:
        done = memory.split_entity(entity, alias, namespace=call.place)
    from perdure.interfaces.views.entities import show_split  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_split(out, done))


def entity_commands() -> typer.Typer:
    """Return the command group ``perdure entity``."""
    app = typer.Typer(help="Who and what memories are about: list, show, name, merge and split them.")
    verb(app, "list")(entity_list)
    verb(app, "show")(entity_show)
    verb(app, "alias")(entity_alias)
    verb(app, "merge")(entity_merge)
    verb(app, "split")(entity_split)
    return app
