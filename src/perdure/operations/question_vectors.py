"""The vectors of recent questions: what is asked again within a process is not embedded again."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Final

from perdure.operations.embedder_space import space_of
from perdure.records.vector import Space, Vector

if TYPE_CHECKING:
    from perdure.operations.ports import PackedEmbedder

KEPT: Final = 512
"""Questions whose vectors are kept: with 384 dimensions, and a line of text each, about 1 MB."""


class QuestionVectors:
    """The vectors of the latest questions, of one space. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._space: Space | None = None
        self._vectors = OrderedDict[str, Vector]()  # of that space, the one that was used last comes last
        self._cleared = 0  # how often all were dropped

    def vector_of(self, embedder: PackedEmbedder, text: str, space: Space) -> tuple[Vector, Space]:
        """Return the vector of a question and its space: the one that is kept, else one that is made now.

        Args:
            embedder: Makes it. What it raises is raised, and nothing is kept.
            text: The question, as the embedder is to see it.
            space: The space of the store's vectors; one of another space is not kept.

        Raises:
            EmbedderError: The embedder failed.
        """
        with self._lock:
            if space != self._space:
                self._drop()
                self._space = space
            kept, cleared = self._vectors.get(text), self._cleared
            if kept is not None:
                self._vectors.move_to_end(text)
        if kept is not None and space_of(embedder) == space:
            return kept, space
        made = embedder.embed([text], purpose="query")[0]
        own = embedder.space  # some embedders know their space only after their first vector
        with self._lock:
            # What was cleared meanwhile stays so: the question may say what was erased.
            if own == space == self._space and cleared == self._cleared:
                self._vectors[text] = made
                if len(self._vectors) > KEPT:
                    self._vectors.popitem(last=False)
        return made, own

    def clear(self) -> None:
        """Drop all of them."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        self._vectors.clear()
        self._cleared += 1
