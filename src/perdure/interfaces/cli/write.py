"""Commands that bring memories in or decide about one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.interfaces.cli.call import Call
from perdure.interfaces.cli.options import At, Identity, Zone, json_object, text_or_input
from perdure.interfaces.files.readers import Format, files, read
from perdure.records.memory import Form, Kind
from perdure.rules.learning_hint import untaught

if TYPE_CHECKING:
    from rich.console import Console

    from perdure.records.outcome import Outcome


def remember(
    call: Call,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The words; - reads standard input.")],
    kind: Annotated[Kind, typer.Option("--kind", "-k", help="What sort of memory it is.")] = Kind.NOTE,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="A label. Repeat it for several.")
    ] = None,
    importance: Annotated[float, typer.Option("--importance", metavar="0..1", help="How much it matters.")] = 0.5,
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="0..1", help="How likely it is true; default by kind.")
    ] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="TEXT", help="Where it comes from.")] = None,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="NAME", help="Its session: only there it is seen, until promoted."),
    ] = None,
    task: Annotated[
        str | None, typer.Option("--task", metavar="NAME", help="Its task: seen only inside its session.")
    ] = None,
    metadata: Annotated[
        dict[str, Any] | None,
        typer.Option("--metadata", parser=json_object, metavar="JSON", help="A JSON object, kept unchanged."),
    ] = None,
    at: At = None,
    pin: Annotated[bool, typer.Option("--pin", help="Exempt it from every move.")] = False,
    key: Annotated[
        str | None, typer.Option("--key", metavar="TEXT", help="Idempotency key: the same key stores nothing twice.")
    ] = None,
) -> None:
    """Store one memory. It is durable when the command ends."""
    content = text_or_input(text)
    with call.memory() as memory:
        kept = memory.remember(
            content,
            namespace=call.place,
            kind=kind.value,
            tags=tag or (),
            importance=importance,
            confidence=confidence,
            source=source,
            session=session,
            task=task,
            metadata=metadata,
            at=at,
            pinned=pin,
            idempotency_key=key,
        )
    m = kept.memory
    tell(call, kept, f"Remembered {m.id} ({m.kind}, {m.tier}) in {m.namespace}.")


def ingest(
    call: Call,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, folders (*.jsonl, *.md, *.txt), or - for input.")
    ],
    format: Annotated[Format, typer.Option("--format", "-f", help="How the files are written.")] = Format.AUTO,  # noqa: A002  # the option's name
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="NAME", help="For messages that name none; default the file's name."),
    ] = None,
    zone: Zone = None,
    later: Annotated[
        bool, typer.Option("--embed-later", help="Fast: words find them at once, meaning after 'perdure reembed'.")
    ] = False,
) -> None:
    """Store conversations and notes. The same file twice adds nothing; all is checked before any is stored."""
    from perdure.interfaces.views.rendering import progress, show_ingested  # noqa: PLC0415  # start-up time

    found = files(paths)
    messages = [m for path in found for m in read(path, format=format, session=session, zone=zone)]
    with call.memory() as memory, progress("Storing") as told:
        done = memory.ingest(
            messages, namespace=call.place, session=session, embed="later" if later else "now", progress=told
        )
        taught = not untaught(memory.policy.knowledge)
    call.answer(
        {"files": len(found), **done.to_dict()},
        lambda out: show_ingested(out, done, len(found), call.place, taught=taught),
    )


def pin(call: Call, id: Identity) -> None:  # noqa: A002  # the contract's name
    """Exempt a memory from every move."""
    decide(call, "pin", "Pinned", id)


def unpin(call: Call, id: Identity) -> None:  # noqa: A002  # the contract's name
    """Let the rules apply to a memory again."""
    decide(call, "unpin", "Unpinned", id)


def archive(
    call: Call,
    id: Identity,  # noqa: A002  # the contract's name
    reason: Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="Why; it is kept in the journal.")],
) -> None:
    """Hide a memory. Nothing is deleted; 'perdure restore' shows it again."""
    decide(call, "archive", "Archived", id, reason)


def restore(
    call: Call,
    id: Identity,  # noqa: A002  # the contract's name
    level: Annotated[
        Form | None, typer.Option("--level", help="Of a shortened one show this form again; full is the whole text.")
    ] = None,
) -> None:
    """Show an archived memory again, or more of one that was shortened. The next sweep does not take it back."""
    decide(call, "restore", "Restored", id, None if level is None else level.value)


def decide(call: Call, name: str, done: str, *arguments: str | None) -> None:
    """Run a verb that decides about one memory, and say where that left it."""
    with call.memory() as memory:
        kept = getattr(memory, name)(*arguments)
    tell(call, kept, f"{done} {kept.id} ({kept.memory.status}, {kept.memory.tier}).")


def tell(call: Call, outcome: Outcome, words: str) -> None:
    """Say what a verb did to one memory, and how to undo it; where nothing changed, say that."""
    from perdure.interfaces.views.rendering import show_undo, shown  # noqa: PLC0415  # start-up time

    def show(out: Console) -> None:
        out.print(shown(words))
        show_undo(out, [outcome.operation] if outcome.operation is not None else [])
        if not outcome.changed:
            out.print("Nothing changed: it was so already.")

    call.answer(outcome.to_dict(), show)


def undo(
    call: Call, operation: Annotated[str, typer.Argument(metavar="OPERATION", help="Its id; see 'perdure history'.")]
) -> None:
    """Take an operation back. Refused, with a list, where a memory has changed since."""
    with call.memory() as memory:
        plan = memory.undo(operation)
    from perdure.interfaces.views.rendering import counted  # noqa: PLC0415  # start-up time

    call.answer(
        plan.to_dict(),
        lambda out: out.print(f"Undone: {plan.note}; {counted(len(plan.changes), 'change')} taken back by {plan.id}."),
    )


def reembed(call: Call) -> None:
    """Give every memory a vector of the policy's embedder. Can be interrupted and resumed."""
    from perdure.interfaces.views.rendering import progress  # noqa: PLC0415  # start-up time

    with call.memory() as memory, progress("Embedding") as told:
        done = memory.reembed(progress=told)
    before = "" if done["before"] in ("", done["space"]) else f" (before: {done['before']})"
    call.answer(done, lambda out: out.print(f"Embedded {done['embedded']:,} memories in {done['space']}{before}."))
