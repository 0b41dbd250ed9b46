"""Every error Perdure raises on purpose: whose fault it is and what to do next."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

Fault = Literal["caller", "policy", "store", "machine", "conflict"]


_MOST_PROBLEMS: Final = 50


class PerdureError(Exception):
    """The root of all errors that Perdure raises on purpose.

    Attributes:
        fault: Who can fix it: the caller, the policy's author, the store's file, the machine, or (``conflict``)
            nobody, because two changes met: read again and retry.
        remedy: What to do next, in one sentence.
    """

    fault: ClassVar[Fault] = "caller"

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy

    def to_dict(self) -> dict[str, str]:
        """Return the error as plain data: ``error``, ``message``, ``remedy`` and ``fault``."""
        return {"error": type(self).__name__, "message": self.message, "remedy": self.remedy, "fault": self.fault}


BUG: Final = "This is a bug in Perdure; please report it."
"""How the remedy of an error begins that no store, input or machine explains."""


REPAIR: Final = (
    "Run `perdure check --full` to see what is damaged, then `perdure repair`, or restore a backup. "
    "`perdure repair --remove-lost` removes what nothing brings back."
)
"""What to do where something in a store is damaged."""


class InvalidInput(PerdureError, ValueError):  # noqa: N818  # reads as the statement it makes
    """A value given by the caller is outside what the verb accepts; nothing was changed."""


class NotAllowed(PerdureError):  # noqa: N818  # reads as the statement it makes
    """The caller's token does not allow this, or does not reach the namespace; nothing was changed."""


class TooManyCalls(PerdureError):  # noqa: N818  # reads as the statement it makes
    """A service refuses a caller for a while: too many calls of its token, or wrong tokens from its address.

    Attributes:
        seconds: After how many the caller may try again.
    """

    seconds: int = 2

    def __init__(self, message: str, seconds: int = 2, *, remedy: str = "") -> None:
        self.seconds = seconds
        super().__init__(message, remedy=remedy)


class NotFound(PerdureError, LookupError):  # noqa: N818  # reads as the statement it makes
    """No memory, operation or file of that name exists where it was looked for."""


class MemoryErased(InvalidInput):
    """What was stored under an idempotency key was erased for good; a retry does not bring it back."""


class OlderThanHorizon(InvalidInput):
    """The journal no longer has what an operation changed: it is older than ``journal.horizon_days``."""


class PolicyError(PerdureError, ValueError):
    """The policy has one or more faults; the message lists the first 50.

    Attributes:
        problems: One sentence for each fault.
    """

    fault: ClassVar[Fault] = "policy"

    def __init__(self, problems: tuple[str, ...], *, remedy: str = "") -> None:
        self.problems = problems
        listed = " ".join(f"({i}) {p}" for i, p in enumerate(problems[:_MOST_PROBLEMS], 1))
        more = f" And {len(problems) - _MOST_PROBLEMS:,} more." if len(problems) > _MOST_PROBLEMS else ""
        super().__init__(
            f"The policy was refused: {listed}{more}",
            remedy=remedy or "Fix each point; `perdure policy show` prints every key with its bounds.",
        )


class ConflictError(PerdureError):
    """A row changed between reading and writing, so that the plan no longer describes the store; nothing was written.

    Attributes:
        ids: The ids of the memories that have changed since.
    """

    fault: ClassVar[Fault] = "conflict"

    def __init__(self, message: str, ids: tuple[str, ...] = (), *, remedy: str = "") -> None:
        self.ids = ids
        super().__init__(message, remedy=remedy)


class GateStopped(PerdureError):  # noqa: N818  # reads as the statement it makes
    """A safety gate refused a plan; nothing was written.

    Attributes:
        lost: The memories that answers would be lost of, where the recall gate refused it.
    """

    fault: ClassVar[Fault] = "conflict"

    def __init__(self, message: str, lost: tuple[str, ...] = (), *, remedy: str = "") -> None:
        self.lost = lost
        super().__init__(message, remedy=remedy)


class StoreError(PerdureError):
    """The store cannot do what was asked of it."""

    fault: ClassVar[Fault] = "store"


class NotAStore(StoreError):  # noqa: N818  # reads as the statement it makes
    """The file exists, but it is not a Perdure store."""


class StoreTooNew(StoreError):  # noqa: N818  # reads as the statement it makes
    """The store was written by a newer Perdure."""


class StoreTooOld(StoreError):  # noqa: N818  # reads as the statement it makes
    """The server's tables are missing or of an older schema; nothing was changed."""


class StoreUnavailable(StoreError):  # noqa: N818  # reads as the statement it makes
    """The server cannot be reached, or was lost and did not come back in time; or the file was removed or replaced."""

    fault: ClassVar[Fault] = "machine"


class StoreClosed(StoreUnavailable):
    """The program has closed the store, or its connection to a service."""

    fault: ClassVar[Fault] = "caller"


class NodeUnavailable(StoreError):  # noqa: N818  # reads as the statement it makes
    """A node of the cluster does not answer; namespaces on other nodes go on."""

    fault: ClassVar[Fault] = "machine"


class StoreDenied(StoreError):  # noqa: N818  # reads as the statement it makes
    """The server refuses the role, the password or a right."""


class LeaseLost(StoreError):  # noqa: N818  # reads as the statement it makes
    """Another worker has taken over the namespace; nothing was written."""

    fault: ClassVar[Fault] = "conflict"


class StoreDamaged(StoreError):  # noqa: N818  # reads as the statement it makes
    """The file failed an integrity check."""


class StoreUnfinished(StoreError):  # noqa: N818  # reads as the statement it makes
    """A copy or an import into the store was interrupted; it holds a part of another store."""


class StoreReadOnly(StoreError):  # noqa: N818  # reads as the statement it makes
    """The store can be read but not written."""


class StoreBusy(StoreError):  # noqa: N818  # reads as the statement it makes
    """The store was busy for longer than the time limit: a lock, the pool of connections, or a slow statement."""

    fault: ClassVar[Fault] = "machine"


class DeadlineExceeded(StoreBusy):
    """A call took longer than its time limit and was ended where it stood; no transaction is half written.

    Attributes:
        operations: What it had stored before, for ``history`` and ``undo``.
    """

    def __init__(self, message: str, operations: tuple[str, ...] = (), *, remedy: str = "") -> None:
        self.operations = operations
        usual = "Try again, with more time; with an idempotency key nothing is stored twice."
        super().__init__(message, remedy=remedy or usual)


class ClockDiffers(StoreError):  # noqa: N818  # reads as the statement it makes
    """This machine's clock is not as the server's: maintenance would move and erase by it; nothing was done."""

    fault: ClassVar[Fault] = "machine"


class OutcomeUnknown(StoreBusy):  # reads as the statement it makes
    """A service answered before a call had ended, which goes on: what it stores may be stored already, or later."""


class DiskFull(StoreError):  # noqa: N818  # reads as the statement it makes
    """The disk, a quota or the file-size limit is exhausted; the transaction was rolled back."""

    fault: ClassVar[Fault] = "machine"


class QuotaExceeded(StoreError):  # noqa: N818  # reads as the statement it makes
    """A namespace would take more than its quota allows; nothing was written.

    Attributes:
        namespace: Which one.
        part: Of what: ``memories``, ``tokens`` or ``bytes``.
    """

    fault: ClassVar[Fault] = "caller"

    def __init__(self, message: str, namespace: str, part: str, *, remedy: str = "") -> None:
        self.namespace, self.part = namespace, part
        super().__init__(message, remedy=remedy)


class PartlyStored(StoreError):  # noqa: N818  # reads as the statement it makes
    """A long list was stored in several transactions, and one of them failed.

    Attributes:
        stored: How many items were stored, counted from the first.
        operations: The operations that stored them, for ``undo``.
    """

    fault: ClassVar[Fault] = "machine"

    def __init__(self, message: str, stored: int, operations: tuple[str, ...], *, remedy: str = "") -> None:
        self.stored, self.operations = stored, operations
        super().__init__(message, remedy=remedy)


class CopyDiffers(StoreError):  # noqa: N818  # reads as the statement it makes
    """After a copy or an import the two sides do not hold the same rows.

    Attributes:
        namespace: Where.
        part: Which rows differ.
    """

    fault: ClassVar[Fault] = "conflict"

    def __init__(self, message: str, namespace: str, part: str, *, remedy: str = "") -> None:
        self.namespace, self.part = namespace, part
        super().__init__(message, remedy=remedy)


class TargetTaken(CopyDiffers):
    """The target of a copy or an import holds something else in that namespace; nothing was written."""


class EmbedderError(PerdureError):
    """An embedding could not be made; the text itself is safe."""

    fault: ClassVar[Fault] = "machine"


class ModelError(PerdureError):
    """A language model could not be asked, or its reply is not what was asked for; nothing was changed."""

    fault: ClassVar[Fault] = "machine"


class WebhookError(PerdureError):
    """The receiver of alerts could not be told; it is tried again."""

    fault: ClassVar[Fault] = "machine"


class UnusableReply(ModelError):  # noqa: N818  # reads as the statement it makes
    """A language model was reached, but its reply to this text is not what was asked for."""


class SpaceMismatch(StoreError):  # noqa: N818  # reads as the statement it makes
    """A vector belongs to another embedding space than the store's."""


class PerdureWarning(UserWarning):
    """The root of all warnings: something goes on with less than was asked for."""


class IncompleteWarning(PerdureWarning):
    """An answer over all namespaces lacks those on nodes that do not answer."""


class DamageWarning(PerdureWarning):
    """A row of the store is damaged; answers go without it."""


class ModelWarning(PerdureWarning):
    """A language model failed; what can be done by rule was done."""


class AuthorityWarning(PerdureWarning):
    """An authority was not asked, or what it says was not written down; facts stay as they were said."""


class UncountedWarning(PerdureWarning):
    """Something that an answer does not need was not stored: another process was writing the store."""
