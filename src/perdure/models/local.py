"""The embedder of the package ``perdure-embedder``, run on the CPU in this process: it needs no network.

It has the shape of MiniLM-L6 and was trained to find the turn of a long conversation that answers a question; the
package's model card has its data and figures. Other weights of the same shape can be named by their file.

Only the weights are int8; the arithmetic is float32. So a text's vector does not depend on the texts embedded with it
(measured difference: none), nor on the number of threads. Another kind of processor may differ in the last digits.
docs/benchmarks.md says what it costs.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from perdure.models import inference
from perdure.models.vectors import text_list, to_vector
from perdure.models.wordpiece import END, START, shared_wordpiece
from perdure.records.vector import Space, Vector

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DIMENSIONS = 384

MAX_TOKENS = 256
"""The length the model was trained for, with ``[CLS]`` and ``[SEP]``; what follows in a text is not seen."""


class LocalEmbedder:
    """Turns texts into vectors of 384 dimensions.

    The model is loaded by the first ``embed``, once, in whichever thread comes first. Safe to share between threads.

    Args:
        weights: An ONNX file with the inputs and the vocabulary of MiniLM; None takes that of ``perdure-embedder``,
            whose digest is checked.
        threads: At most this many threads, each with a batch of its own; never more than there are processors.
    """

    def __init__(self, *, weights: Path | None = None, threads: int = 4) -> None:
        self._path = weights
        self._weights: inference.Weights | None = None
        self._threads = inference.available_threads(threads)
        self._lock = Lock()
        self._session: Any = None

    @property
    def space(self) -> Space:
        """The identity of this model's vectors; does not load the model."""
        chosen = self._chosen_weights()
        return Space(chosen.model, DIMENSIONS, f"{chosen.sha256[:12]}-mean-{MAX_TOKENS}-wordpiece1")

    def embed(self, texts: Sequence[str], *, purpose: Literal["query", "document"]) -> list[Vector]:  # noqa: ARG002  # the model treats both alike
        """Return one vector per text, in the order of the texts.

        Text beyond 256 tokens is not seen; lone surrogates are dropped. Queries and documents are embedded alike.

        Raises:
            DeadlineExceeded: The call's time is over.
        """
        listed = text_list(texts)
        if not listed:
            return []
        wordpiece, session = shared_wordpiece(), self._load()
        tokens = [[START, *wordpiece.ids(text, MAX_TOKENS - 2), END] for text in listed]
        batches = list(inference.batches_by_length(tokens))

        def run(batch: list[int]) -> Any:
            return _mean_states(session, [tokens[position] for position in batch])

        vectors: list[Vector] = [b""] * len(tokens)
        for batch, rows in zip(batches, inference.run_batches(run, batches, self._threads), strict=True):
            for position, row in zip(batch, rows, strict=True):
                vectors[position] = to_vector(row, DIMENSIONS, source="perdure-embedder")
        return vectors

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the whole text has for this model, without ``[CLS]`` and ``[SEP]``; not cut at 256."""
        return len(shared_wordpiece().ids(text))

    def _load(self) -> Any:
        with self._lock:
            if self._session is None:
                self._session = inference.open_session(self._chosen_weights())
            return self._session

    def _chosen_weights(self) -> inference.Weights:
        if self._weights is None:
            self._weights = (
                inference.named_weights(self._path) if self._path is not None else inference.embedder_weights()
            )
        return self._weights


def _mean_states(session: Any, batch: list[list[int]]) -> Any:
    """Return the mean of the token states of each text: an array of shape (texts, 384)."""
    inputs = inference.pad_tokens(batch)
    states = inference.run_session(session, "last_hidden_state", inputs)
    weight = inputs.mask[:, :, None].astype(states.dtype)
    return (states * weight).sum(axis=1) / weight.sum(axis=1)
