"""Commands about several memories at once: duplicates, edges, tasks, sessions, extraction."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perdure.interfaces.cli.call import Call
from perdure.interfaces.cli.options import LARGEST_INPUT, AcceptLoss, Apply, Identity, text_or_input
from perdure.records.errors import InvalidInput

if TYPE_CHECKING:  # start-up time
    from perdure.records.consolidation_results import ConsolidateResult

_LONGEST_PATH = 300
SessionName = Annotated[str, typer.Argument(metavar="SESSION", help="The session's name.")]


class Strategy(StrEnum):
    """What stays of a group (seed 000 section 4.3, and seed 001's)."""

    KEEP_NEWEST = "keep_newest"
    KEEP_OLDEST = "keep_oldest"
    KEEP_HIGHEST_IMPORTANCE = "keep_highest_importance"
    KEEP_HIGHEST_CONFIDENCE = "keep_highest_confidence"
    MERGE_CONTENT = "merge_content"


class Pairs(StrEnum):
    """Which pairs a consolidation looks at."""

    ALL = "all"
    RECORDED = "recorded"


def consolidate(
    call: Call,
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="0.7..0.99", help="Least likeness of duplicates.")
    ] = 0.85,
    strategy: Annotated[Strategy, typer.Option("--strategy", help="What stays of a group.")] = (
        Strategy.KEEP_HIGHEST_IMPORTANCE
    ),
    max_groups: Annotated[
        int, typer.Option("--max-groups", metavar="N", help="The most similar groups, 1 to 100.")
    ] = 50,
    pairs: Annotated[
        Pairs, typer.Option("--pairs", help="recorded: only those noticed when memories were stored; cheap.")
    ] = Pairs.ALL,
    apply: Apply = False,
    accept_loss: AcceptLoss = None,
) -> None:
    """Merge memories that say the same; --apply looks once more and merges exactly that. What goes is only hidden."""
    with call.memory() as memory:

        def run(*, dry_run: bool) -> ConsolidateResult:
            return memory.consolidate(
                call.place,
                threshold,
                strategy.value,
                dry_run,
                max_groups,
                pairs=pairs.value,
                accept_loss=accept_loss,
            )

        done = run(dry_run=True)  # the policy may ask for a dry run before, and each command is a process of its own
        if apply:
            done = run(dry_run=False)
    from perdure.interfaces.views.groups import show_consolidation  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_consolidation(out, done))


def extract(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A text file (UTF-8); - reads standard input.")],
    min_confidence: Annotated[
        float, typer.Option("--min-confidence", metavar="0..1", help="Leave out what is less certain.")
    ] = 0.5,
    keep_duplicates: Annotated[
        bool, typer.Option("--keep-duplicates", help="Also store what is known in other words.")
    ] = False,
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="0.7..0.99", help="How alike is known already.")
    ] = 0.9,
    role: Annotated[
        str,
        typer.Option(
            "--role",
            metavar="NAME",
            help="Whose words: user, assistant, or another such as tool; notes of others' words are marked as theirs.",
        ),
    ] = "user",
) -> None:
    """Store what is worth remembering in a text as notes, in the namespace 'extracted' unless -n names another."""
    text = text_or_input("-") if file == "-" else _text_of(Path(file).expanduser())
    place = "extracted" if call.namespace is None else call.namespace
    with call.memory() as memory:
        done = memory.extract(text, place, min_confidence, not keep_duplicates, threshold, role=role)
    from perdure.interfaces.views.groups import show_extraction  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_extraction(out, done, place))


def relate(
    call: Call,
    members: Annotated[
        list[str], typer.Argument(metavar="ID[=ROLE]...", help="Two or more memories, each with a role if you like.")
    ],
    kind: Annotated[str, typer.Option("--kind", "-k", metavar="TEXT", help="What joins them.")] = "related",
    weight: Annotated[
        float, typer.Option("--weight", metavar="0..10", help="How strongly; above 0, at most 10.")
    ] = 1.0,
    edge: Annotated[
        str | None, typer.Option("--edge", metavar="ID", help="The edge that gets these members as well.")
    ] = None,
) -> None:
    """Join memories by an edge, or bring more into one that exists."""
    roles = {identity: role for identity, _, role in (member.partition("=") for member in members)}
    with call.memory() as memory:
        name = memory.relate(roles, kind, weight, edge, call.namespace)
    call.answer({"edge": name, "members": roles}, lambda out: out.print(f"Joined by the edge {name}."))


def edges(call: Call, id: Identity) -> None:  # noqa: A002  # the contract's name
    """List the edges of a memory with their members. Reading them is no access."""
    with call.memory() as memory:
        found = memory.edges(id)
    from perdure.interfaces.views.groups import show_edges  # noqa: PLC0415  # start-up time

    call.answer([e.to_dict() for e in found], lambda out: show_edges(out, found))


def complete_task(
    call: Call,
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task's name.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen; write nothing.")] = False,
    accept_loss: AcceptLoss = None,
) -> None:
    """Bring a task's memories into its session: redundant ones merged, edges strengthened."""
    with call.memory() as memory:
        done = memory.complete_task(task, namespace=call.place, dry_run=dry_run, accept_loss=accept_loss)
    from perdure.interfaces.views.groups import show_task  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_task(out, done))


def promote(
    call: Call,
    session: SessionName,
    threshold: Annotated[
        float | None, typer.Option("--threshold", metavar="0..1", help="Confidence needed. Default: the policy's.")
    ] = None,
    confirm: Annotated[bool, typer.Option("--confirm", help="Do it; without this it is only a preview.")] = False,
    accept_loss: AcceptLoss = None,
) -> None:
    """Bring the most certain and most used memories of a session to long term; a preview without --confirm."""
    with call.memory() as memory:
        done = memory.promote(session, threshold, confirm, namespace=call.place, accept_loss=accept_loss)
    from perdure.interfaces.views.groups import show_promotion  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_promotion(out, done))


def end_session(call: Call, session: SessionName, accept_loss: AcceptLoss = None) -> None:
    """End a session: complete its open tasks, promote, sweep. A second call changes nothing."""
    with call.memory() as memory:
        done = memory.end_session(session, namespace=call.place, accept_loss=accept_loss)
    from perdure.interfaces.views.groups import show_session_end  # noqa: PLC0415  # start-up time

    call.answer(done.to_dict(), lambda out: show_session_end(out, done))


def _text_of(path: Path) -> str:
    """Return a file's text."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_INPUT + 1)
    except (OSError, ValueError) as error:  # some texts are no path at all
        why = getattr(error, "strerror", None) or "it is no path"
        told = str(path)[:_LONGEST_PATH]
        raise InvalidInput(f"{told!r} cannot be read ({why}).", remedy="Name a text file.") from error
    if len(data) > LARGEST_INPUT:
        raise InvalidInput(f"{path} has more than 16 MiB.", remedy="Split it.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} is no valid UTF-8 (byte {error.start}).", remedy="Convert it, for example with `iconv -t utf-8`."
        ) from None
