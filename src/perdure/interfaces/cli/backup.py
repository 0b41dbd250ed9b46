"""Commands that keep a store safe: a verified backup of its file, and the way back."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perdure.interfaces.cli.call import Call
from perdure.interfaces.views.blocks import Foreign, Line
from perdure.interfaces.views.values import counted
from perdure.verbs.lazy import lazy_modules

if TYPE_CHECKING:
    from perdure import compose
else:
    (compose,) = lazy_modules("perdure", "compose")


def backup(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The backup file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a verified copy of the store's file as it is at this moment; other processes may go on writing."""
    begun = time.perf_counter()
    done = compose.backup(call.store, Path(file).expanduser(), overwrite=force)
    seconds = round(time.perf_counter() - begun, 3)
    counts = {"memories": done.memories, "operations": done.operations, "bytes": done.size}
    call.answer(
        {"store": call.shown_store, "file": str(done.path), **counts, "seconds": seconds},
        Line((f"Backed up {counted(done.memories, 'memory')} to ", Foreign(str(done.path)), f" in {seconds:.1f} s.")),
    )


def restore_backup(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file that 'perdure backup' wrote.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing store; the old one is kept as NAME.before-restore.")
    ] = False,
) -> None:
    """Verify a backup and put it where --store says. Stop what uses the store first."""
    done = compose.restore_backup(Path(file).expanduser(), call.prepared_store(), overwrite=force)
    kept = None if done.kept is None else str(done.kept)
    before = () if kept is None else (" The previous store is now ", Foreign(kept), ".")
    counts = {"memories": done.memories, "operations": done.operations}
    call.answer(
        {"store": call.shown_store, "file": file, **counts, "kept": kept},
        Line((f"Restored {counted(done.memories, 'memory')} to ", Foreign(call.shown_store), ".", *before)),
    )
