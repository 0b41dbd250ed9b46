"""Applying plans: the retry that every operation shares when another process was faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from perdure.operations.intact import refuse_altered
from perdure.operations.ports import Context
from perdure.operations.tombstones import erased_remark
from perdure.records.errors import REPAIR, ConflictError, NotFound, PerdureWarning, StoreDamaged, StoreError
from perdure.records.memory import Record
from perdure.records.outcome import GivenClaim
from perdure.rules.redaction import redaction_note

T = TypeVar("T")
ATTEMPTS: Final = 24


def retry(attempt: Callable[[], T]) -> T:
    """Read, decide and apply again while other processes keep changing what was read."""
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except ConflictError:
            continue
    return attempt()


def tell_redacted(ctx: Context, names: Iterable[str]) -> None:
    """Warn that a text is not stored as it was handed over: secrets in it were replaced."""
    if found := list(names):
        ctx.warn(redaction_note(found), PerdureWarning)


def read_after(ctx: Context, operation: str | None, read: Callable[[], T], otherwise: T) -> T:
    """Return what a reply tells beside what an operation stored; where it cannot be read, a warning says so.

    Where nothing was stored, a failure is the call's; else the reply says ``otherwise`` instead.
    """
    try:
        return read()
    except StoreError as error:
        if operation is None:
            raise
        told = f"The operation {operation} is stored, but the reply is incomplete: {error.message}"
        ctx.warn(told.removesuffix(" Nothing was written."), PerdureWarning)
        return otherwise


def refuse_damaged(ctx: Context, namespace: str | None, identity: str) -> None:
    """Refuse a memory that is stored and was left out: its row holds something else than was written.

    Raises:
        StoreDamaged: It is.
    """
    if namespace is None or identity not in ctx.store.states(namespace, [identity]):
        return
    if not ctx.store.get(namespace, [identity]):  # else it was stored just now
        raise StoreDamaged(f"The memory {identity} of {namespace} is damaged and cannot be read.", remedy=REPAIR)


def read_record(ctx: Context, identity: str, namespace: str | None = None) -> Record:
    """Return a memory, wherever it is, or say that there is none."""
    place = namespace if namespace is not None else ctx.store.locate(identity)
    records = ctx.store.get(place, [identity]) if place is not None else []
    if not records:
        refuse_damaged(ctx, place, identity)
        if namespace is not None:
            ctx.store.locate(identity)  # where only one namespace is reached, it is refused with where it is
        erased = erased_remark(ctx, namespace, identity)
        raise NotFound(f"There is no memory {identity!r}.{erased}", remedy="Use an id that recall or list returned.")
    refuse_altered(records[0])
    return records[0]


def redacted_in(claims: Iterable[GivenClaim]) -> list[str]:
    """Return what was replaced in claims, secret by secret."""
    return [name for claim in claims for name in claim.redacted]
