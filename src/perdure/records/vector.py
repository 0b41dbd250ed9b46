"""Embeddings as data: a vector is float32 bytes (little endian) of a named space.

Bytes keep records free of numpy, hashable and ready for any store.
"""

from __future__ import annotations

from dataclasses import dataclass

Vector = bytes  # float32 values, little endian; its length is four times the space's dimensions


@dataclass(frozen=True, slots=True)
class Space:
    """The identity of an embedding space: vectors of two spaces are never compared."""

    model: str  # the model's name, for example ``perdure-embedder``
    dimensions: int  # values per vector
    version: str = "1"  # what else fixes the space: weights digest, pooling, tokenizer

    @property
    def name(self) -> str:
        """The identity as one string, as stored."""
        return f"{self.model}/{self.dimensions}/{self.version}"
