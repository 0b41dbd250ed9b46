"""Which store an address names, and what moves a whole store: copies, imports, backups, migrations."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from perdure.compose_models import Warner
from perdure.operations import transfer as moving
from perdure.operations.ports import Progress
from perdure.operations.store_protocol import Store
from perdure.operations.transfer import Lines
from perdure.records.deadline import within
from perdure.records.errors import REPAIR, ConflictError, CopyDiffers, InvalidInput, StoreDamaged, StoreError
from perdure.records.growing_file import growing_path, share
from perdure.records.installation import how_to_install
from perdure.records.instant import Instant
from perdure.records.policy import Policy
from perdure.records.transfer import TransferResult
from perdure.rules.validation.values import checked_text

if TYPE_CHECKING:
    from perdure.stores.postgres.server import Address
    from perdure.stores.postgres.store import PostgresStore
    from perdure.stores.sqlite.backup import CopiedStore

_LONGEST_PATH = 4096
_CONNECTION = re.compile(r"^postgres(ql)?(\+\w+)?:|\b(password|dbname|host)\s*=", re.IGNORECASE)
"""What names a server in other notations; it may hold a password, so it must not become a file's name."""


def store_of(url: str | os.PathLike[str], policy: Policy, warn: Callable[[str], None], *, create: bool) -> Store:
    """Open the store that an address names; numpy and the drivers load on first use."""
    if isinstance(url, str) and is_server(url):
        with within(policy.limits.call_seconds):  # it only looks; a file may have to be brought up to date
            store: PostgresStore = _postgres().PostgresStore(address_of(url), log_entries=policy.recall.log_entries)
        if store.schema.unfenced:
            warn(
                "The role bypasses row-level security, so only the statements keep namespaces apart. "
                "Use a role that is not a superuser."
            )
        return store
    from perdure.stores.sqlite.store import SqliteStore  # noqa: PLC0415  # only where it is used

    file = file_of(url)
    opened = SqliteStore(file, log_entries=policy.recall.log_entries, create=create)
    if policy.upkeep.file_permissions == "group":
        share(*(Path(file + end) for end in ("", "-wal", "-shm")))
    return opened


def is_server(url: str) -> bool:
    """Whether an address names a PostgreSQL server."""
    return url.startswith(("postgresql://", "postgres://"))


def address_of(url: str) -> Address:
    """Return a server's address from its URL.

    Raises:
        InvalidInput: It is no URL of a PostgreSQL server.
        StoreError: The driver is not installed.
    """
    if not is_server(url):
        raise InvalidInput("This URL is not a PostgreSQL address.", remedy="Write postgresql://user@host/database.")
    _postgres()
    from perdure.stores.postgres.server import Address  # noqa: PLC0415  # only where it is used

    return Address.of(url)


def migrate(url: str, *, say: Callable[[str], None] = lambda _: None, distribute: bool = False) -> int:
    """Bring a server's tables to this version's schema, and return how many migrations were run.

    Args:
        url: ``postgresql://...``; a file needs no migration by hand.
        say: Told each step.
        distribute: Spread the tables over a Citus cluster besides.
    """
    address = address_of(url)
    from perdure.stores.postgres.schema import migrate as run  # noqa: PLC0415  # only where it is used

    return run(address, say=say, distribute=distribute)


@contextmanager
def local_postgres(folder: Path | None = None, *, port: int | None = None) -> Iterator[str]:
    """Run a PostgreSQL server of our own for the length of a block, with Perdure's tables, and give its URL.

    For trying things out: a real deployment uses the platform's own server.

    Args:
        folder: Where its data stays; a temporary folder that is removed afterwards if None.
        port: On 127.0.0.1; a free one if None.

    Raises:
        StoreError: The extra ``postgres-local`` is not installed, or the server does not start; the text says why.
    """
    _postgres()
    from perdure.stores.postgres.local import LocalServer, local_server  # noqa: PLC0415  # only where it is used

    if folder is not None and folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file.", remedy="Pass a folder.")
    server = local_server() if folder is None else LocalServer(folder, port=port)
    server.start()
    try:
        migrate(server.dsn())
        yield server.dsn()
    finally:
        server.stop()


def _postgres() -> ModuleType:
    try:
        return import_module("perdure.stores.postgres.store")
    except ImportError as error:
        if (error.name or "").startswith("perdure"):
            raise
        raise StoreError(
            f"The driver for PostgreSQL is not installed ({error}).",
            remedy=how_to_install("postgres"),
        ) from error


def file_of(url: str | os.PathLike[str]) -> str:
    """Return the file that an address names; what looks like a server is refused, and never printed."""
    try:
        text = os.fspath(url)
    except TypeError:
        text = None
    if not isinstance(text, str):
        raise InvalidInput("The store's path must be text or a Path.", remedy="Pass a file, for example agent.db.")
    text = checked_text(text.removeprefix("sqlite:///"), "The store's path", longest=_LONGEST_PATH)
    if _CONNECTION.search(text):
        raise InvalidInput(
            "This looks like a server address, not a file; nothing was created.",
            remedy="Write it as a URL: postgresql://user:password@host:port/database.",
        )
    if "://" in text:
        raise InvalidInput(
            f"{text.split('://')[0]}:// is not supported.", remedy="Use a file, or postgresql://user@host/database."
        )
    return text


@contextmanager
def store_at(url: str | os.PathLike[str], *, existing: bool = False) -> Iterator[Store]:
    """Open a store's rows for the length of a block, without a policy and without an embedder.

    Args:
        url: As for ``open``.
        existing: Refuse a file that does not exist, instead of making it.

    Raises:
        NotFound: ``existing`` is given, and there is no such file.
    """
    store = store_of(url, Policy(), Warner(), create=not existing)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def _target_at(url: str | os.PathLike[str], work: str) -> Iterator[Store]:
    """Open a store that is filled. A new file gets its name when it says that it is unfinished: until then it is none.

    Whoever ends in between leaves a file under a name of its own.
    """
    if not (isinstance(url, str) and is_server(url)) and _is_new(path := Path(file_of(url))):
        growing = growing_path(path)
        try:
            with store_at(growing) as new:
                new.mark_unfinished(work)
            growing.rename(path)
        finally:
            for end in ("", "-wal", "-shm"):
                Path(f"{growing}{end}").unlink(missing_ok=True)
    with store_at(url) as target:
        yield target


def _is_new(path: Path) -> bool:
    """Whether a file can be made under a name; where it cannot, opening it says why."""
    return str(path) != ":memory:" and path.parent.is_dir() and not (path.exists() or path.is_symlink())


@contextmanager
def copy_of(url: str | os.PathLike[str]) -> Iterator[Store]:
    """Open a store that is only read, as it is: of a file a temporary copy, so that an older one is not migrated.

    Raises:
        NotFound, NotAStore, StoreTooNew, StoreError: It is no store that can be read.
    """
    if isinstance(url, str) and is_server(url):
        with store_at(url) as store:
            yield store
        return
    from perdure.stores.sqlite.backup import copy_as_it_is  # noqa: PLC0415  # only where it is used

    with tempfile.TemporaryDirectory(prefix="perdure-") as folder:
        copied = Path(folder) / "copy.db"
        copy_as_it_is(Path(_own_file(url)), copied)
        with store_at(copied) as store:
            yield store


@contextmanager
def scratch_store() -> Iterator[Store]:
    """Give an empty store in a temporary folder for the length of a block: what is imported is checked there."""
    with tempfile.TemporaryDirectory(prefix="perdure-") as folder, store_at(Path(folder) / "scratch.db") as store:
        yield store


def copy(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    namespace: str | None = None,
    policy: Policy | None = None,
    progress: Progress | None = None,
) -> TransferResult:
    """Copy a store with its journal into another one, between files and servers, and verify every row.

    An interrupted copy goes on where it stopped when it is run again. See ``perdure.operations.transfer.copy``.

    Args:
        source: As for ``open``; nothing should write to it meanwhile.
        target: As for ``open``; empty, or holding the first part of the same copy. A server must be migrated.
        namespace: Only this one.
        policy: Says which secrets are replaced on the way, if any; None copies everything as it is.
        progress: Told (done, total).
    """
    with store_at(source, existing=True) as reads, _target_at(target, "copy") as writes:
        if policy is not None and policy.knowledge.redact:
            from perdure.operations import import_export  # noqa: PLC0415  # only where it is used

            lines = partial(moving.export_lines, reads, namespace=namespace)
            options: dict[str, Any] = {"namespace": namespace, "policy": policy, "limits": policy}
            return import_export.import_lines(
                lines, lambda: nullcontext(writes), scratch_store, progress=progress, **options
            )
        return moving.copy(reads, writes, namespace=namespace, progress=progress)


def import_lines(  # noqa: PLR0913  # the options of a command
    lines: Lines,
    url: str | os.PathLike[str] | Callable[[], str],
    policy: Policy,
    now: Instant,
    *,
    namespace: str | None = None,
    name: str | None = None,
    partial: bool = False,
    redact: bool = True,
    restoring: str | None = None,
    progress: Progress | None = None,
) -> TransferResult:
    """Bring an export into a store, checked whole before anything is written: see ``perdure.operations.import_export``.

    ``url`` is as for ``open``, or says so once the export was checked; the limits of ``policy`` hold for the rows, and
    it says which secrets are replaced. ``namespace`` is called ``name`` there, if that is given.
    """
    from perdure.operations import import_export  # noqa: PLC0415  # only where it is used

    options: dict[str, Any] = {"namespace": namespace, "name": name, "partial": partial, "progress": progress}
    options["restoring"] = restoring
    options |= {"policy": policy if redact else None, "limits": policy, "now": now}
    return import_export.import_lines(
        lines, lambda: _target_at(url() if callable(url) else url, "import"), scratch_store, **options
    )


def backup(url: str | os.PathLike[str], target: Path, *, overwrite: bool = False) -> CopiedStore:
    """Write a verified copy of a store as it is at one moment; others may use it meanwhile.

    Of a server it is a copy of all namespaces that the address sees, as a store's file; the service's role will do.

    Args:
        url: The store, as for ``open``.
        target: The backup's file.
        overwrite: Replace a file that is there.

    Raises:
        InvalidInput: The target is there already.
        StoreError: See ``perdure.stores.sqlite.backup``.
    """
    from perdure.stores.sqlite import backup as files  # noqa: PLC0415  # only where it is used

    if not (isinstance(url, str) and is_server(url)):
        return files.backup(_own_file(url), target, overwrite=overwrite)
    address = address_of(url)
    return files.backup_filled(partial(_copy_moment, address), address.shown, target, overwrite=overwrite)


def _copy_moment(address: Address, file: Path) -> None:
    from perdure.stores.postgres.transfer import ServerSnapshot  # noqa: PLC0415  # only where it is used

    reads = _postgres().PostgresStore(address, server=ServerSnapshot(address))
    try:
        with store_at(file) as writes:
            moving.copy(reads, writes, work="backup")
    except (ConflictError, CopyDiffers) as error:  # nobody else writes to the file, and the rows are of one moment
        raise StoreDamaged(f"{address.shown} is damaged: {error.message}", remedy=REPAIR) from error
    finally:
        reads.close()


def restore_backup(source: Path, url: str | os.PathLike[str], *, overwrite: bool = False) -> CopiedStore:
    """Put a verified copy of a backup where a store is wanted; a file that is replaced is kept beside it.

    Args:
        source: The backup's file.
        url: The store, as for ``open``; a server must be migrated and empty.
        overwrite: Replace a file that is there; nothing else may use it.

    Raises:
        InvalidInput: There is a store already.
        StoreError: See ``perdure.stores.sqlite.backup``.
    """
    from perdure.stores.sqlite.backup import restore_backup as run  # noqa: PLC0415  # only where it is used

    if not (isinstance(url, str) and is_server(url)):
        return run(source, Path(_own_file(url)), overwrite=overwrite)
    with tempfile.TemporaryDirectory(prefix="perdure-") as folder, store_at(url) as target:
        if target.namespaces() and not target.unfinished():
            raise InvalidInput(
                "The server already holds memories; nothing was changed.", remedy="Restore into an empty database."
            )
        restored = run(source, Path(folder) / "restored.db")
        with store_at(restored.path) as verified:
            moving.copy(verified, target, work="restore-backup")
    return restored


def _own_file(url: str | os.PathLike[str]) -> str:
    path = file_of(url)
    if path == ":memory:":
        raise InvalidInput("An in-memory store has no file.", remedy="Pass a file.")
    return path
