"""The memory summary of a namespace as it is answered."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.json_record import JsonRecord


@dataclass(frozen=True, slots=True)
class Digest(JsonRecord):
    """A rendered digest."""

    text: str  # Markdown between two marker lines
    ids: tuple[str, ...]  # the memories in it, in order
    tokens: int  # its length in tokens
    exact: bool  # whether tokens were counted by the embedder's tokenizer, or estimated on the high side
    profile: str  # the budget that applied
