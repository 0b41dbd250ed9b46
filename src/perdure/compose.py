"""The one file that names concrete parts: policy + address -> Memory. The real clock and real ids enter here."""

from __future__ import annotations

import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from perdure.compose_knowledge import extension_of
from perdure.compose_models import EmbedderWarning, Warner, chat_model, chosen_embedder
from perdure.compose_policy import UntrustedPolicyWarning, folder_policy, load_policy, policy_file, toml_of
from perdure.memory import Memory
from perdure.operations import import_export
from perdure.operations import transfer as moving
from perdure.operations.ports import Backups, Context, Embedder, Progress
from perdure.operations.store_protocol import Store
from perdure.records.canary import Canary
from perdure.records.errors import EmbedderError, InvalidInput, StoreError, StoreUnfinished
from perdure.records.instant import Instant, clock_instant
from perdure.records.policy import Policy
from perdure.records.transfer import Moved
from perdure.rules.language.tokens import estimate_tokens
from perdure.rules.lifecycle.canaries import parse_golden
from perdure.rules.validation.values import checked_text

if TYPE_CHECKING:
    from perdure.stores.digest_file import DigestFile
    from perdure.stores.postgres.server import Address
    from perdure.stores.postgres.store import PostgresStore
    from perdure.stores.sqlite.backup import Copied

_LONGEST_PATH = 4096
_CONNECTION = re.compile(r"^postgres(ql)?(\+\w+)?:|\b(password|dbname|host)\s*=", re.IGNORECASE)
"""What names a server in other notations; it may hold a password, so it must not become a file's name."""


def open(  # noqa: A001  # perdure.open is the contract's name
    url: str | os.PathLike[str] = "agent.db",
    policy: str | os.PathLike[str] | Mapping[str, Any] | Policy | None = None,
    clock: Callable[[], datetime] | None = None,
    *,
    embedder: Embedder | Callable[..., Any] | str | None = None,
    create: bool = True,
) -> Memory:
    """Open a memory store, made on first use.

    Args:
        url: A file's path, ``:memory:``, ``sqlite:///path``, or ``postgresql://user:password@host/database``, which may
            bind the connections to a part of the server (``?namespace_prefix=team/``) and limit them (``pool_size``).
        policy: A TOML file, a dict, or None to look for one (``PERDURE_POLICY``, ``./perdure.toml``, the user's
            configuration folder) and else take the defaults. Of the working folder's file protected keys count only
            where the user trusts it (``perdure trust``).
        clock: Returns now as an aware datetime; the real clock if None. For tests and simulations.
        embedder: None for the policy's; ``"none"`` for words only; or a callable from texts to vectors.
        create: Make a file that is not there. A server's tables are made by ``perdure migrate``.

    Raises:
        NotFound: ``create`` is False, and there is no such file.
        PolicyError: The policy has faults; all are listed.
        StoreError: The file or the server cannot be opened; the subclass says why.

    Warns:
        UntrustedPolicyWarning: The working folder's file sets protected keys and is not trusted.
    """
    chosen = policy if isinstance(policy, Policy) else load_policy(policy)
    maker = chosen_embedder(embedder, chosen)
    extension = extension_of(chosen)
    warn = Warner()
    store = _finished(_store(url, chosen, warn, create=create))
    context = Context(
        store=store,
        policy=chosen,
        clock=_clock(clock),
        ids=Ids(),
        embedder=maker,
        tokens=getattr(maker, "count_tokens", None) or estimate_tokens,
        warn=warn,
        extension=extension,
        golden=_golden(chosen),
        backups=_backups(url, chosen),
        summary=digest_file(chosen.digest.file) if chosen.digest.file else None,
        model=chat_model(chosen.model),
        open_copy=partial(store_at, existing=True),
        secret=partial(secrets.token_urlsafe, 32),
    )
    return Memory(context)


def _golden(policy: Policy) -> tuple[Canary, ...]:
    name = policy.gates.golden
    return parse_golden(toml_of(Path(name)), Path(name).name) if name else ()


def digest_file(path: str | os.PathLike[str]) -> DigestFile:
    """Return a file that holds a digest, among a person's lines."""
    from perdure.stores.digest_file import DigestFile  # noqa: PLC0415  # only where it is used

    return DigestFile(Path(path))


def _finished(store: Store) -> Store:
    """Return a store; one that a copy or an import has not filled yet is closed and refused.

    Raises:
        StoreUnfinished: It holds a part of another store.
    """
    if what := store.unfinished():
        store.close()
        raise StoreUnfinished(
            f"The store holds a part of another one: an interrupted {what} has not been finished.",
            remedy=f"Run the same {what} again, it continues; or use an empty target.",
        )
    return store


def _backups(url: str | os.PathLike[str], policy: Policy) -> Backups | None:
    """Return where backups go: the policy's folder, else one beside the store's file, else nowhere."""
    folder = policy.upkeep.backup_folder
    if not folder:
        if (isinstance(url, str) and is_server(url)) or (file := file_of(url)) == ":memory:":
            return None
        folder = f"{file}.backups"
    from perdure.stores.backups import BackupFolder  # noqa: PLC0415  # only where it is used

    return BackupFolder(Path(folder))


def _store(url: str | os.PathLike[str], policy: Policy, warn: Callable[[str], None], *, create: bool) -> Store:
    """Open the store that an address names; numpy and the drivers load on first use."""
    if isinstance(url, str) and is_server(url):
        store: PostgresStore = _postgres().PostgresStore(address_of(url), log_entries=policy.recall.log_entries)
        if store.schema.unfenced:
            warn(
                "The role bypasses row-level security, so only the statements keep namespaces apart. "
                "Use a role that is not a superuser."
            )
        return store
    from perdure.stores.sqlite.store import SqliteStore  # noqa: PLC0415  # only where it is used

    return SqliteStore(file_of(url), log_entries=policy.recall.log_entries, create=create)


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
            remedy='Install it with `pip install "perdure[postgres]"`.',
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


def _clock(clock: Callable[[], datetime] | None) -> Callable[[], Instant]:
    if clock is None:
        return lambda: time.time_ns() // 1_000_000
    given = clock
    return lambda: clock_instant(given())


class Ids:
    """Makes UUIDv7: 48 bits of time, 12 bits of counter within the millisecond, 62 random bits.

    Ids of one process never go backwards, also where the clock does.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = (0, -1)

    def __call__(self, at: Instant) -> str:
        """Return a new id made at an instant."""
        with self._lock:
            moment, count = self._last
            if max(at, 0) > moment:
                moment, count = at, 0
            else:
                count += 1
                if count > 0xFFF:  # noqa: PLR2004  # 12 bits
                    moment, count = moment + 1, 0
            self._last = moment, count
        value = (moment & ((1 << 48) - 1)) << 80 | 0x7 << 76 | count << 64 | 0b10 << 62 | secrets.randbits(62)
        text = f"{value:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


@contextmanager
def store_at(url: str | os.PathLike[str], *, existing: bool = False) -> Iterator[Store]:
    """Open a store's rows for the length of a block, without a policy and without an embedder.

    Args:
        url: As for ``open``.
        existing: Refuse a file that does not exist, instead of making it.

    Raises:
        NotFound: ``existing`` is given, and there is no such file.
    """
    store = _store(url, Policy(), Warner(), create=not existing)
    try:
        yield store
    finally:
        store.close()


def copy(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    namespace: str | None = None,
    policy: Policy | None = None,
    progress: Progress | None = None,
) -> Moved:
    """Copy a store with its journal into another one, between files and servers, and verify every row.

    An interrupted copy goes on where it stopped when it is run again. See ``perdure.operations.transfer.copy``.

    Args:
        source: As for ``open``; nothing should write to it meanwhile.
        target: As for ``open``; empty, or holding the first part of the same copy. A server must be migrated.
        namespace: Only this one.
        policy: Says which secrets are replaced on the way, if any; None copies everything as it is.
        progress: Told (done, total).
    """
    with store_at(source, existing=True) as reads, store_at(target) as writes:
        if policy is not None and policy.knowledge.redact:
            lines = partial(moving.export_lines, reads, namespace=namespace)
            return import_export.import_lines(lines, writes, namespace=namespace, policy=policy, progress=progress)
        return moving.copy(reads, writes, namespace=namespace, progress=progress)


def backup(url: str | os.PathLike[str], target: Path, *, overwrite: bool = False) -> Copied:
    """Write a verified copy of a store's file as it is at one moment; others may use it meanwhile.

    Args:
        url: The store's file, as for ``open``.
        target: The backup's file.
        overwrite: Replace a file that is there.

    Raises:
        InvalidInput: The address names a server, or the target is there already.
        StoreError: See ``perdure.stores.sqlite.backup``.
    """
    from perdure.stores.sqlite.backup import backup as run  # noqa: PLC0415  # only where it is used

    return run(_own_file(url), target, overwrite=overwrite)


def restore_backup(source: Path, url: str | os.PathLike[str], *, overwrite: bool = False) -> Copied:
    """Put a verified copy of a backup where a store is wanted; a store that is replaced is kept beside it.

    Args:
        source: The backup's file.
        url: The store's file, as for ``open``.
        overwrite: Replace a store that is there; nothing else may use it.

    Raises:
        InvalidInput: The address names a server, or there is a store already.
        StoreError: See ``perdure.stores.sqlite.backup``.
    """
    from perdure.stores.sqlite.backup import restore_backup as run  # noqa: PLC0415  # only where it is used

    return run(source, Path(_own_file(url)), overwrite=overwrite)


def _own_file(url: str | os.PathLike[str]) -> str:
    """Return the file that an address names; a server has backups of its own."""
    if isinstance(url, str) and is_server(url):
        raise InvalidInput(
            "A store on a server cannot be backed up as a file.",
            remedy="Use `pg_dump` and `pg_restore`, or the platform's backups; `perdure copy` copies it to a file.",
        )
    path = file_of(url)
    if path == ":memory:":
        raise InvalidInput("An in-memory store has no file.", remedy="Pass a file.")
    return path


__all__ = [
    "EmbedderError",
    "EmbedderWarning",
    "Ids",
    "UntrustedPolicyWarning",
    "backup",
    "copy",
    "folder_policy",
    "load_policy",
    "open",
    "policy_file",
    "restore_backup",
]
