"""The memory summary of a namespace as it is answered."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.json_record import JsonRecord


@dataclass(frozen=True, slots=True)
class Digest(JsonRecord):
    """A rendered digest."""

    text: str  # Markdown between two marker lines
    ids: tuple[str, ...]  # the memories in it, in order, and those that its questions are about
    tokens: int  # its length in tokens, estimated on the high side of common tokenizers
    profile: str  # the budget that applied
    asks: bool = False  # whether there are questions among it that a person should be asked
