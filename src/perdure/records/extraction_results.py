"""What extraction returns: the fields that agents know from the `extract` tool, and the ids of the operations.

May live here: frozen data with ``to_dict``. May not: how any of it comes about.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from perdure.records.outcome import Written


@dataclass(frozen=True, slots=True)
class ExtractedMemory:
    """A candidate that was found in a text.

    Attributes:
        content: What is, or would be, remembered.
        confidence: How likely it is worth it, 0 to 1.
        pattern_matched: Why it was found: decision, definition, important, solution, error, explicit, pattern,
            keywords, or model.
        start_pos: Where the match starts in the text, in characters; ``text[start_pos:end_pos]`` holds the content.
        end_pos: Where it ends.
        stored: False if it repeats what is known.
        memory_id: The memory, if it was stored.
    """

    content: str
    confidence: float
    pattern_matched: str
    start_pos: int
    end_pos: int
    stored: bool
    memory_id: str | None


@dataclass(frozen=True, slots=True)
class ExtractResult(Written):
    """What was extracted from a text.

    Attributes:
        candidates_found: All that reached the least confidence, also those beyond ``extract.max_candidates``.
        memories_created: Those that were stored.
        deduplicated_count: Those that repeat what is known, or one another.
        extractions: Those that were considered, in the order of the text: the most confident ones.
        operations: Ids of the operations, for ``undo``.
    """

    candidates_found: int
    memories_created: int
    deduplicated_count: int
    extractions: list[ExtractedMemory]
    operations: tuple[str, ...] = field(default=())
