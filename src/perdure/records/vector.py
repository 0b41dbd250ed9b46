"""Embeddings as data: a vector is float32 bytes (little endian) of a named space.

Bytes keep records free of numpy, hashable and ready for any store. May live here: frozen data.
"""

from __future__ import annotations

from dataclasses import dataclass

Vector = bytes
"""float32 values, little endian; its length is four times the space's dimensions."""


@dataclass(frozen=True, slots=True)
class Space:
    """The identity of an embedding space: vectors of two spaces are never compared.

    Attributes:
        model: The model's name, for example ``perdure-embedder``.
        dimensions: Values per vector.
        version: What else fixes the space: weights digest, pooling, tokenizer.
    """

    model: str
    dimensions: int
    version: str = "1"

    @property
    def name(self) -> str:
        """The identity as one string, as stored."""
        return f"{self.model}/{self.dimensions}/{self.version}"
