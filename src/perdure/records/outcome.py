"""What a verb that writes did to one memory: nothing has to be guessed from the journal afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from perdure.records.json_record import JsonRecord
from perdure.records.memory import MemoryItem


class Written(JsonRecord):
    """A result that says what it wrote: the ids of its operations, oldest first; none where nothing was written."""

    __slots__ = ()
    _computed: ClassVar[tuple[str, ...]] = ("changed",)
    operations: tuple[str, ...]

    @property
    def operation(self) -> str | None:
        """The last operation; None where nothing was written."""
        return self.operations[-1] if self.operations else None

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return bool(self.operations)


@dataclass(frozen=True, slots=True)
class Outcome(JsonRecord):
    """What a verb did to one memory.

    Attributes:
        memory: The memory as it now is.
        operation: The operation that ``undo`` takes back; None where nothing was written.
    """

    _computed: ClassVar[tuple[str, ...]] = ("changed",)
    _merged: ClassVar[tuple[str, ...]] = ("memory",)

    memory: MemoryItem
    operation: str | None

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.memory.id

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return self.operation is not None


def operations_of(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """Return the operations of some outcomes, each once, in their order."""
    return tuple(dict.fromkeys(o.operation for o in outcomes if o.operation is not None))
