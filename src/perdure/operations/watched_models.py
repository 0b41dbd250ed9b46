"""An embedder and a language model whose calls somebody watches: how many, how long, and how they end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal

from perdure.operations.ports import Context, Model, PackedEmbedder
from perdure.records.vector import Space, Vector

Watch = Callable[[str, int], AbstractContextManager[object]]
"""Called with ``embedder`` or ``model`` and how many texts it is given; the call runs within what it returns."""


class WatchedEmbedder:
    """An embedder whose calls are watched."""

    def __init__(self, inner: PackedEmbedder, watch: Watch) -> None:
        self.inner, self._watch = inner, watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @property
    def space(self) -> Space:
        """The space that the vectors belong to."""
        return self.inner.space

    def embed(self, texts: Sequence[str], *, purpose: Literal["query", "document"]) -> list[Vector]:
        """Return one unit vector for each text; raises EmbedderError."""
        with self._watch("embedder", len(texts)):
            return self.inner.embed(texts, purpose=purpose)


class WatchedModel:
    """A language model whose calls are watched."""

    def __init__(self, inner: Model, watch: Watch) -> None:
        self.inner, self._watch = inner, watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what it says about a text; raises ModelError."""
        with self._watch("model", 1):
            return self.inner.ask(instruction, text, schema)


def watch(ctx: Context, watching: Watch) -> None:
    """Have the calls of an embedder and a language model watched, by this watch alone."""
    embedder, model = ctx.embedder, ctx.model
    if embedder is not None:
        ctx.embedder = WatchedEmbedder(embedder.inner if isinstance(embedder, WatchedEmbedder) else embedder, watching)
    if model is not None:
        ctx.model = WatchedModel(model.inner if isinstance(model, WatchedModel) else model, watching)
