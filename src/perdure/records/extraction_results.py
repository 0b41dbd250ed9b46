"""What extraction returns: the fields that agents know from the `extract` tool, and the ids of the operations."""

from __future__ import annotations

from dataclasses import dataclass, field

from perdure.records.outcome import Written


@dataclass(frozen=True, slots=True)
class ExtractedMemory:
    """A candidate that was found in a text."""

    content: str  # what is, or would be, remembered
    confidence: float  # how likely it is worth it, 0 to 1
    # why it was found: decision, definition, important, solution, error, explicit, pattern, keywords, or model
    pattern_matched: str
    start_pos: int  # where the match starts in the text, in characters; ``text[start_pos:end_pos]`` holds the content
    end_pos: int  # where it ends
    stored: bool  # false if it repeats what is known
    memory_id: str | None  # the memory, if it was stored


@dataclass(frozen=True, slots=True)
class ExtractResult(Written):
    """What was extracted from a text."""

    candidates_found: int  # all that reached the least confidence, also those beyond ``extract.max_candidates``
    memories_created: int  # those that were stored
    deduplicated_count: int  # those that repeat what is known, or one another
    extractions: list[ExtractedMemory]  # those that were considered, in the order of the text: the most confident ones
    operations: tuple[str, ...] = field(default=())  # ids of the operations, for ``undo``
