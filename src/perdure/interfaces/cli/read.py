"""Commands that ask. Only ``recall`` counts as access, and only without ``--no-touch``."""

from __future__ import annotations

from typing import Annotated

import typer

from perdure.interfaces.cli.call import Call, Exit
from perdure.interfaces.cli.options import (
    Archived,
    AsOf,
    Identity,
    Inside,
    Kinds,
    KnownAt,
    Limit,
    MinConfidence,
    Scopes,
    Session,
    Since,
    Tags,
    Until,
    text_or_input,
)
from perdure.records.errors import NotFound


def recall(
    call: Call,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question; - reads standard input.")],
    limit: Limit = 5,
    kind: Kinds = None,
    scope: Scopes = None,
    tag: Tags = None,
    session: Session = None,
    inside: Inside = None,
    entity: Annotated[
        str | None, typer.Option("--entity", metavar="NAME", help="Only memories whose words hold this name.")
    ] = None,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    min_confidence: MinConfidence = 0.0,
    include_archived: Archived = False,
    no_touch: Annotated[bool, typer.Option("--no-touch", help="Do not count this as access.")] = False,
) -> Exit:
    """Answer a question from memory, best first, with what each score is made of. Ends with 3 if nothing is known."""
    question = text_or_input(query)
    with call.memory() as memory:
        answer = memory.recall(
            question,
            namespace=call.place,
            limit=limit,
            kinds=kind or (),
            scopes=scope or (),
            tags=tag or (),
            session=session,
            inside=inside,
            entity=entity,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            min_confidence=min_confidence,
            include_archived=include_archived,
            touch=not no_touch,
        )
        others = [] if answer.hits else [n for n in memory.namespaces() if n != call.place]
    from perdure.interfaces.views.rendering import show_recall  # noqa: PLC0415  # start-up time

    call.answer(answer.to_dict(), lambda out: show_recall(out, answer, call.place, others))
    return Exit.OK if answer.hits else Exit.NOTHING


def get(call: Call, id: Identity, include_archived: Archived = False) -> None:  # noqa: A002  # the contract's name
    """Show one memory whole. Reading it is no access."""
    with call.memory() as memory:
        found = memory.get(id, include_archived)
    if found is None:
        raise NotFound(f"No memory {id!r} is shown.", remedy="Hidden ones need --include-archived; see 'perdure list'.")
    from perdure.interfaces.views.rendering import show_memory  # noqa: PLC0415  # start-up time

    call.answer(found.to_dict(), lambda out: show_memory(out, found))


def listed(
    call: Call,
    limit: Limit = 50,
    kind: Kinds = None,
    scope: Scopes = None,
    tag: Tags = None,
    session: Session = None,
    inside: Inside = None,
    since: Since = None,
    until: Until = None,
    min_confidence: MinConfidence = 0.0,
    include_archived: Archived = False,
    before: Annotated[
        str | None, typer.Option("--before", metavar="ID", help="The last memory of the page before.")
    ] = None,
) -> None:
    """List memories, newest first. Reading them is no access."""
    with call.memory() as memory:
        last = None if before is None else memory.get(before, include_archived=True)
        if before is not None and last is None:
            raise NotFound(f"There is no memory {before!r}.", remedy="--before takes the last id of the page before.")
        found = memory.list(
            call.place,
            limit,
            kinds=kind or (),
            scopes=scope or (),
            tags=tag or (),
            session=session,
            inside=inside,
            since=since,
            until=until,
            min_confidence=min_confidence,
            include_archived=include_archived,
            before=last,
        )
    from perdure.interfaces.views.rendering import show_memories  # noqa: PLC0415  # start-up time

    call.answer([m.to_dict() for m in found], lambda out: show_memories(out, found, call.place))


def why(call: Call, id: Identity) -> None:  # noqa: A002  # the contract's name
    """Explain why a memory is as it is: its signals taken apart, its history, what happens next and when."""
    with call.memory() as memory:
        found = memory.why(id)
    from perdure.interfaces.views.why import show_explanation  # noqa: PLC0415  # start-up time

    call.answer(found.to_dict(), lambda out: show_explanation(out, found))


def why_not(
    call: Call,
    id: Identity,  # noqa: A002  # the contract's name
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question that did not bring it up.")],
    limit: Limit = 5,
    tag: Tags = None,
    min_confidence: MinConfidence = 0.0,
    include_archived: Archived = False,
) -> None:
    """Explain what kept a memory out of the answer to a question."""
    with call.memory() as memory:
        found = memory.why_not(
            id,
            query,
            limit=limit,
            tags=tag or (),
            min_confidence=min_confidence,
            include_archived=include_archived,
        )
    from perdure.interfaces.views.why import show_absence  # noqa: PLC0415  # start-up time

    call.answer(found.to_dict(), lambda out: show_absence(out, found))


def history(
    call: Call,
    id: Annotated[  # noqa: A002  # the contract's name
        str | None, typer.Argument(metavar="[ID]", help="A memory's id; without one, operations are listed.")
    ] = None,
    limit: Limit = 20,
) -> None:
    """Show a memory's journal, oldest first; without an id the newest operations, whose ids 'perdure undo' takes."""
    with call.memory() as memory:
        entries = memory.history(id, namespace=call.namespace, limit=limit)
    from perdure.interfaces.views.why import show_history  # noqa: PLC0415  # start-up time

    call.answer([e.to_dict() for e in entries], lambda out: show_history(out, entries))


def namespaces(call: Call) -> None:
    """List all namespaces."""
    with call.memory() as memory:
        names = memory.namespaces()
    from perdure.interfaces.views.rendering import show_names  # noqa: PLC0415  # start-up time

    call.answer(names, lambda out: show_names(out, names))
