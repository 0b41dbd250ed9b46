"""The space of an embedder's vectors, also of one that knows it only after its first vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.records.errors import EmbedderError
from perdure.records.vector import Space

if TYPE_CHECKING:
    from perdure.operations.ports import PackedEmbedder


def space_of(embedder: PackedEmbedder) -> Space:
    """Return the space that an embedder's vectors belong to.

    A function, or an endpoint, without stated dimensions tells them with its first vector: then one word is embedded.

    Raises:
        EmbedderError: The embedder failed.
    """
    try:
        return embedder.space
    except EmbedderError:
        embedder.embed(["Perdure"], purpose="document")
        return embedder.space
