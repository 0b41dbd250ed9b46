"""What a short form of an id means."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Literal

from perdure.operations.ports import Context
from perdure.records.errors import InvalidInput
from perdure.records.report import Operation

LAST: Final = "last"
_SHORTEST: Final = 6
_WHOLE: Final = 36  # characters of a UUID


def operations_of(ctx: Context, namespace: str) -> Callable[[str], Operation | None]:
    """Return what finds an operation by its id, that of a namespace first.

    Several namespaces have it after an import under another name.
    """
    return partial(ctx.store.operation, covers=lambda place: place == namespace)


def resolve_id(ctx: Context, text: str, refers: Literal["memory", "operation"]) -> str:
    """Return the id that a text means; a text that means none comes back as it is, for the verb to refuse."""
    if len(text) >= _WHOLE or (refers == "operation" and text == LAST):
        return text
    find = ctx.store.find_ids if refers == "memory" else ctx.store.find_operations
    found = find(text, limit=4) if len(text) >= _SHORTEST else []
    if len(found) <= 1 or text in found:
        return text if text in found or not found else found[0]
    raise InvalidInput(
        f"{text!r} matches several ids: {', '.join(found[:3])}.", remedy="Give more characters of the id."
    )
