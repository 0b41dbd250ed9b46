"""Commands about facts: what is known, since when and from where, and a person's word about it."""

# ruff: noqa: A002  # id is the contract's name

from __future__ import annotations

from typing import Annotated

import typer

from perdure.interfaces.cli.call import Call, Exit
from perdure.interfaces.cli.entities import EntityName
from perdure.interfaces.cli.options import Apply, AsOf, Identity, KnownAt, text_or_input
from perdure.interfaces.cli.write import tell
from perdure.rules.learning_hint import untaught


def learn(
    call: Call,
    sessions: Annotated[list[str], typer.Argument(metavar="SESSION...", help="Sessions that were taken in.")],
) -> Exit:
    """Learn facts from sessions that were not learned from yet, by rules. Twice adds nothing. Ends with 3 if none."""
    with call.memory() as memory:
        done = memory.learn(sessions, call.place)
    from perdure.interfaces.views.facts import show_learnt  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_learnt(out, done))
    return Exit.OK if done.messages else Exit.NOTHING


def facts(
    call: Call,
    entity: Annotated[
        str | None, typer.Argument(metavar="[ENTITY]", help="About whom: an id or a name; everybody without one.")
    ] = None,
    predicate: Annotated[
        str | None, typer.Option("--predicate", "-p", metavar="NAME", help="What about, for example 'delivery day'.")
    ] = None,
    past: Annotated[bool, typer.Option("--past", help="Also what is not believed any longer.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-l", metavar="N", help="How many, 1 to 1000.")] = 100,
) -> Exit:
    """Show what is known as facts: value, how sure, since when, from where. Ends with 3 if nothing is known."""
    with call.memory() as memory:
        found = memory.facts(entity, predicate=predicate, namespace=call.place, past=past, limit=limit)
        hint = untaught(memory.policy.knowledge)
    from perdure.interfaces.views.facts import show_facts  # noqa: PLC0415  # start-up time

    call.answer([f.to_dict() for f in found], lambda out: show_facts(out, found, hint))
    return Exit.OK if found else Exit.NOTHING


def timeline(call: Call, entity: EntityName, known_at: KnownAt = None) -> None:
    """Show what was true of an entity, and when it was believed, oldest first: what replaced what, and why not.

    When it was true goes by the days of the messages, when it was believed by when they were learned from.
    """
    with call.memory() as memory:
        found = memory.timeline(entity, namespace=call.place, known_at=known_at)
    from perdure.interfaces.views.facts import show_timeline  # noqa: PLC0415  # start-up time

    call.answer(found.to_dict(), lambda out: show_timeline(out, found))


def summarize(call: Call, apply: Apply = False) -> None:
    """Show the summaries of entities that are due; --apply stores them. Upkeep does this once a day."""
    with call.memory() as memory:
        done = memory.summarize(call.place, dry_run=not apply)
    from perdure.interfaces.views.facts import show_summaries  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_summaries(out, done))


def confirm(call: Call, id: Identity) -> None:
    """Say that a memory is still true: its clock starts anew, and what contradicts it is superseded."""
    with call.memory() as memory:
        kept = memory.confirm(id)
    tell(call, kept, f"Confirmed {kept.id}: confidence {kept.memory.confidence:.2f} from today.")


def deny(
    call: Call,
    id: Identity,
    reason: Annotated[
        str | None, typer.Option("--reason", "-r", metavar="TEXT", help="Why; it is kept in the journal.")
    ] = None,
) -> None:
    """Say that a memory is wrong: it is not believed any longer. Undo takes that back."""
    with call.memory() as memory:
        kept = memory.deny(id, reason)
    tell(call, kept, f"Denied {kept.id}: it is {kept.memory.status}.")


def correct(
    call: Call,
    id: Identity,
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="A fact's new value, or another memory's new text; - reads input.")
    ],
) -> None:
    """Say what is true instead: what was believed is superseded, and both are linked."""
    said = text_or_input(value)
    with call.memory() as memory:
        kept = memory.correct(id, said)
    tell(call, kept, f"Corrected: {kept.id} stands for {id} now: {kept.memory.content}")


def both(call: Call, id: Identity) -> None:
    """Say that a fact and what contradicts it both hold: the question is closed, and both are believed."""
    with call.memory() as memory:
        kept = memory.both(id)
    tell(call, kept, f"Both hold: {kept.id} and what contradicted it.")


def same(
    call: Call,
    id: Identity,
    no: Annotated[bool, typer.Option("--no", help="They are not.")] = False,
) -> None:
    """Say that the two predicates that review asked about with a fact are the same; --no says that they are not."""
    with call.memory() as memory:
        kept = memory.same(id, not no)
    tell(call, kept, "They are kept apart, and not asked about again." if no else "They are one from now on.")


def mute(call: Call, id: Identity) -> None:
    """Do not ask about a fact again. It is still believed, and still fades."""
    with call.memory() as memory:
        kept = memory.mute(id)
    tell(call, kept, f"Nobody is asked about {kept.id} again.")


def answer_sheet(
    call: Call,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question; - reads standard input.")],
    tokens: Annotated[int, typer.Option("--tokens", metavar="N", help="The sheet's budget, 50 or more.")] = 1000,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> Exit:
    """Lay out what is known about a question: how sure, from where, what is contested, what is out of date.

    Where the question names somebody, facts of others are left out. Reading it is no access. Ends with 3 if nothing is
    known.
    """
    question = text_or_input(query)
    with call.memory() as memory:
        sheet = memory.answer_sheet(question, call.place, budget_tokens=tokens, as_of=as_of, known_at=known_at)
    from perdure.interfaces.views.facts import show_sheet  # noqa: PLC0415  # start-up time

    call.answer(sheet.to_dict(), lambda out: show_sheet(out, sheet))
    return Exit.NOTHING if sheet.nothing_known else Exit.OK
