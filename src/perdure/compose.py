"""The one file that names concrete parts: policy + address -> Memory. The real clock and real ids enter here."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from perdure.compose_knowledge import extension_of
from perdure.compose_models import (
    EmbedderWarning,
    Warner,
    alert_webhook,
    chat_model,
    check_alert_secret,
    chosen_embedder,
    chosen_judge,
    chosen_reranker,
)
from perdure.compose_policy import UntrustedPolicyWarning, folder_policy, load_policy, policy_file, toml_of
from perdure.compose_store import (
    address_of,
    backup,
    copy,
    copy_of,
    file_of,
    import_lines,
    is_server,
    local_postgres,
    migrate,
    restore_backup,
    scratch_store,
    store_at,
    store_of,
)
from perdure.memory import Memory
from perdure.operations.ports import Backups, Context, KeptCopies
from perdure.operations.quotas import with_quotas
from perdure.operations.store_protocol import Store
from perdure.records.errors import EmbedderError, InvalidInput, StoreError, StoreUnfinished
from perdure.records.instant import Instant, clock_instant
from perdure.records.policy import Policy
from perdure.records.store_rows import Canary
from perdure.rules.language.tokens import estimate_tokens
from perdure.rules.lifecycle.canaries import parse_golden

if TYPE_CHECKING:
    from perdure.models.vectors import Embedder
    from perdure.stores.digest_file import DigestFile


def open(  # noqa: A001  # perdure.open is the contract's name
    url: str | os.PathLike[str] = "agent.db",
    policy: str | os.PathLike[str] | Mapping[str, Any] | Policy | None = None,
    clock: Callable[[], datetime] | None = None,
    *,
    embedder: Callable[[list[str]], Any] | Embedder | Literal["local", "none", "endpoint"] | None = None,
    create: bool = True,
) -> Memory:
    """Open a memory store, made on first use.

    Args:
        url: A file's path, ``:memory:``, ``sqlite:///path``, or ``postgresql://user:password@host/database``, which may
            bind the connections to a part of the server (``?namespace_prefix=team/``) and limit them (``pool_size``).
        policy: A TOML file, a dict, or None to look for one (``PERDURE_POLICY``, ``./perdure.toml``, the user's
            configuration folder) and else take the defaults. Of the working folder's file only harmless keys count
            where the user does not trust it (``perdure trust``).
        clock: Returns now as an aware datetime; the real clock if None. For tests and simulations.
        embedder: None for the policy's; ``"none"`` for words only; a function from texts to rows; or an ``Embedder``.
        create: Make a file that is not there. A server's tables are made by ``perdure migrate``.

    Raises:
        NotFound: ``create`` is False, and there is no such file.
        PolicyError: The policy has faults; all are listed.
        StoreError: The file or the server cannot be opened; the subclass says why.

    Warns:
        UntrustedPolicyWarning: The working folder's file sets keys that are not harmless, and is not trusted.
    """
    settings = policy if isinstance(policy, Policy) else load_policy(policy)
    warn, now = Warner(), _clock(clock)
    context = Context(
        policy=settings,
        clock=now,
        simulated=clock is not None,
        ids=IdGenerator(),
        warn=warn,
        extension=extension_of(settings),
        golden=_golden(settings),
        **_copies(url, settings),
        summary=digest_file(settings.digest.file) if settings.digest.file else None,
        tell_alerts=alert_webhook(settings.alerts, now),
        open_copy=copy_of,
        secret=partial(secrets.token_urlsafe, 32),
        **_models(embedder, settings, now),
        store=_store(url, settings, warn, create=create),  # last: what else fails leaves nothing open
    )
    return Memory(context)


def _models(
    given: Callable[[list[str]], Any] | Embedder | str | None, policy: Policy, now: Callable[[], Instant]
) -> dict[str, Any]:
    """Return the parts of a context that are models, or are counted by one."""
    embedder = chosen_embedder(given, policy)
    return {
        "embedder": embedder,
        "tokens": getattr(embedder, "count_tokens", None) or estimate_tokens,
        "model": chat_model(policy.model, now),
        "reranker": chosen_reranker(policy.reranker),
        "judge": chosen_judge(given, policy),
    }


def _golden(policy: Policy) -> tuple[Canary, ...]:
    name = policy.gates.golden
    return parse_golden(toml_of(Path(name)), Path(name).name) if name else ()


def digest_file(path: str | os.PathLike[str]) -> DigestFile:
    """Return a file that holds a digest, among a person's lines."""
    from perdure.stores.digest_file import DigestFile  # noqa: PLC0415  # only where it is used

    return DigestFile(Path(path))


def _store(url: str | os.PathLike[str], policy: Policy, warn: Warner, *, create: bool) -> Store:
    return with_quotas(_refuse_unfinished(store_of(url, policy, warn, create=create)), policy.limits)


def _refuse_unfinished(store: Store) -> Store:
    """Return a store; one that a copy or an import has not filled yet is closed and refused."""
    work = ""
    with suppress(StoreError):  # a table that cannot be read is for a check to tell, and for a repair
        work = store.unfinished()
    if work:
        store.close()
        raise StoreUnfinished(
            f"The store holds a part of another one: an interrupted {work} has not been finished.",
            remedy=f"Run the same {work} again, it continues; or use an empty target.",
        )
    return store


def _copies(url: str | os.PathLike[str], policy: Policy) -> dict[str, Any]:
    """Return where copies of a store are, as a context has it: backups, and what repairs and restores leave."""
    return {"backups": _backups(url, policy), "kept_copies": _kept_copies(url)}


def _backups(url: str | os.PathLike[str], policy: Policy) -> Backups | None:
    """Return where backups go: the policy's folder, else one beside the store's file, else nowhere."""
    folder = policy.upkeep.backup_folder
    if not folder:
        if (isinstance(url, str) and is_server(url)) or (file := file_of(url)) == ":memory:":
            return None
        folder = f"{file}.backups"
    from perdure.stores.backups import BackupFolder  # noqa: PLC0415  # only where it is used

    return BackupFolder(Path(folder), policy.upkeep.backups_kept, shared=policy.upkeep.file_permissions == "group")


def _kept_copies(url: str | os.PathLike[str]) -> KeptCopies | None:
    if (isinstance(url, str) and is_server(url)) or (file := file_of(url)) == ":memory:":
        return None
    from perdure.stores.sqlite.kept_copies import StoreCopies  # noqa: PLC0415  # only where it is used

    return StoreCopies(Path(file))


def _clock(clock: Any) -> Callable[[], Instant]:
    if clock is None:
        return lambda: time.time_ns() // 1_000_000
    if not callable(clock):
        wrong = f"clock must be a function that returns an aware datetime, not {type(clock).__name__}."
        raise InvalidInput(wrong, remedy="Pass for example lambda: datetime.now(UTC), or nothing for the real clock.")
    return lambda: clock_instant(clock())


def current_instant() -> Instant:
    """Return what the real clock says."""
    return _clock(None)()


class IdGenerator:
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


__all__ = [
    "EmbedderError",
    "EmbedderWarning",
    "IdGenerator",
    "UntrustedPolicyWarning",
    "address_of",
    "backup",
    "check_alert_secret",
    "copy",
    "current_instant",
    "digest_file",
    "file_of",
    "folder_policy",
    "import_lines",
    "is_server",
    "load_policy",
    "local_postgres",
    "migrate",
    "open",
    "policy_file",
    "restore_backup",
    "scratch_store",
    "store_at",
]
