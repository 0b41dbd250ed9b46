"""The memory summary of a namespace as it is answered."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.json_record import JsonRecord


@dataclass(frozen=True, slots=True)
class Digest(JsonRecord):
    """A rendered digest.

    Attributes:
        text: Markdown between two marker lines.
        ids: The memories in it, in order.
        tokens: Its length in tokens.
        exact: Whether tokens were counted by the embedder's tokenizer, or estimated on the high side.
        profile: The budget that applied.
    """

    text: str
    ids: tuple[str, ...]
    tokens: int
    exact: bool
    profile: str
