"""Commands that move a store: into an export and out of it, into another store, into a backup and back."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from perdure.interfaces.cli.call import Call, Exit, short_warnings, without_password
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views.blocks import Line, Untrusted
from perdure.interfaces.views.values import pluralize
from perdure.records.errors import REPAIR, DamageWarning
from perdure.rules.validation.values import checked_namespace
from perdure.user_folders import expand_user
from perdure.verbs.declaration import lazy_modules

if TYPE_CHECKING:
    from perdure import compose
    from perdure.interfaces.files import export_files
    from perdure.interfaces.views import terminal
    from perdure.operations import transfer as moving
    from perdure.records.policy import Policy
    from perdure.records.transfer import TransferResult
else:
    (compose,) = lazy_modules("perdure", "compose")
    (export_files,) = lazy_modules("perdure.interfaces.files", "export_files")
    (terminal,) = lazy_modules("perdure.interfaces.views", "terminal")
    (moving,) = lazy_modules("perdure.operations", "transfer")


_LONGEST_ESCAPE: Final = 7  # characters that one may become as JSON within JSON


def export(
    call: Call,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="The file to write: .jsonl, .jsonl.gz or .parquet; - is standard output (JSONL)."
        ),
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite an existing file, but no store and no backup.")
    ] = False,
) -> Exit:
    """Write a store with its journal to a file: all namespaces, or the one given with -n.

    Exit code 1 if memories are left out because the store is damaged.
    """
    started, rows = time.perf_counter(), 0
    with short_warnings(), compose.store_at(call.store, existing=True) as store, terminal.progress("Exporting") as show:

        def count(done: int, total: int) -> None:
            nonlocal rows
            rows = done
            if show is not None:
                show(done, total)

        lines = _Exported(moving.export_lines(store, namespace=call.namespace, progress=count))
        export_files.write_export(file, lines, store=call.store, force=force)
        if lines.lost:
            named = "; ".join(f"{place}: {', '.join(ids)}" for place, ids in lines.lost.items())
            warnings.warn(f"Left out, since their words are lost: {named}. {REPAIR}", DamageWarning, stacklevel=2)
    seconds = round(time.perf_counter() - started, 3)
    if file == export_files.STDIO:
        print(f"Exported {pluralize(rows, 'row')}.", file=sys.stderr)
    else:
        call.answer(
            {"file": file, "rows": rows, "seconds": seconds, "lost": lines.lost},
            Line((f"Exported {pluralize(rows, 'row')} to ", Untrusted(file), f" in {seconds:.1f} s.")),
        )
    return Exit.FAILED if lines.lost else Exit.OK


class _Exported:
    """Lines of an export; what its tail says is lost is noted on the way."""

    def __init__(self, lines: Iterator[dict[str, Any]]) -> None:
        self._lines, self.lost = lines, dict[str, list[str]]()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for line in self._lines:
            if moving.TAIL in line:
                self.lost = line.get("lost", {})
            yield line


def import_(
    call: Call,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file that 'perdure export' wrote; - is standard input.")
    ],
    partial: Annotated[bool, typer.Option("--partial", help="Import the complete part of a truncated file.")] = False,
    keep_secrets: Annotated[
        bool, typer.Option("--keep-secrets", help="Import passwords, keys and tokens as they are.")
    ] = False,
    restore_erased: Annotated[
        bool, typer.Option("--restore-erased", help="Bring back a namespace that was erased completely from the store.")
    ] = False,
    name: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Another name for the namespace in the store."),
    ] = None,
) -> None:
    """Load an export into a store; its namespaces must be empty there. Can be interrupted and resumed.

    Secrets in it are replaced, as the policy says, in the journal too. One namespace that was erased whole is brought
    back with --restore-erased: it keeps its journal, with one operation more that can be undone.
    """
    started = time.perf_counter()
    with short_warnings(), terminal.progress("Importing") as show:
        policy = compose.load_policy(call.policy)
        lines = export_files.export_reader(file, partial=partial, longest=_longest_line(policy))
        options: dict[str, Any] = {
            "namespace": call.namespace,
            "name": None if name is None else checked_namespace(name),
            "partial": partial,
            "redact": not keep_secrets,
            "restoring": compose.IdGenerator()(compose.current_instant()) if restore_erased else None,
            "progress": show,
        }
        moved = compose.import_lines(lines, call.prepared_store, policy, compose.current_instant(), **options)
    _show(call, moved, "Imported", call.shown_store, started)


def _longest_line(policy: Policy) -> int:
    sizes = policy.limits.content_bytes + policy.limits.metadata_bytes
    return export_files.LONGEST + _LONGEST_ESCAPE * sizes


def copy(
    call: Call,
    source: Annotated[str, typer.Argument(metavar="SRC", help="The store to copy: a file or postgresql://...")],
    target: Annotated[
        str, typer.Argument(metavar="DST", help="The target: a file (created if missing) or a migrated server.")
    ],
    redact: Annotated[bool, typer.Option("--redact", help="Replace secrets on the way, as the policy says.")] = False,
) -> None:
    """Copy a store with its journal into another, and verify every row. Can be interrupted and resumed."""
    started = time.perf_counter()
    with short_warnings(), terminal.progress("Copying and verifying") as show:
        policy = compose.load_policy(call.policy) if redact else None
        moved = compose.copy(source, target, namespace=call.namespace, policy=policy, progress=show)
    _show(call, moved, "Copied", without_password(target), started)


def _show(call: Call, moved: TransferResult, verb: str, address: str, started: float) -> None:
    seconds = round(time.perf_counter() - started, 3)
    rows = f"{pluralize(moved.written, 'row')} written, {pluralize(sum(moved.parts.values()), 'row')} verified"
    head = f"{verb} {pluralize(moved.namespaces, 'namespace')} to "
    lines = [Line((head, Untrusted(address), f" in {seconds:.1f} s: {rows}.")), *view_of(moved.parts, Request("copy"))]
    if moved.redacted:
        lines.append(Line(f"{pluralize(moved.redacted, 'row')} held secrets, which were replaced.", tone="warning"))
    if not moved.whole:
        lines.append(
            Line(
                "The file was truncated, or written from a damaged store: only what is whole in it is stored.",
                tone="warning",
            )
        )
    call.answer({"store": address, **moved.to_dict(), "seconds": seconds}, *lines)


def backup(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The backup file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an older backup.")] = False,
) -> None:
    """Write a verified copy of the whole store as it is at this moment; other processes may go on writing.

    One namespace alone: perdure export.
    """
    call.refuse_namespace("back up the memories", "perdure export")
    started = time.perf_counter()
    saved = compose.backup(call.store, expand_user(file), overwrite=force)
    seconds = round(time.perf_counter() - started, 3)
    counts = {"memories": saved.memories, "operations": saved.operations, "bytes": saved.size}
    path = str(saved.path)
    call.answer(
        {"store": call.shown_store, "file": path, **counts, "seconds": seconds},
        Line((f"Backed up {pluralize(saved.memories, 'memory')} to ", Untrusted(path), f" in {seconds:.1f} s.")),
    )


def restore_backup(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file that 'perdure backup' wrote.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing store; the old one is kept as NAME.before-restore.")
    ] = False,
) -> None:
    """Verify a backup and put it where --store says. Stop what uses the store first."""
    call.refuse_namespace("restore the memories", "perdure copy")
    result = compose.restore_backup(expand_user(file), call.prepared_store(), overwrite=force)
    kept_path = None if result.kept is None else str(result.kept)
    note = () if kept_path is None else (" The previous store is now ", Untrusted(kept_path), ".")
    counts = {"memories": result.memories, "operations": result.operations}
    call.answer(
        {"store": call.shown_store, "file": file, **counts, "kept": kept_path},
        Line((f"Restored {pluralize(result.memories, 'memory')} to ", Untrusted(call.shown_store), ".", *note)),
    )
