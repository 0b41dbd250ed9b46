"""The embedder of the package ``perdure-embedder``, run on the CPU in this process: it needs no network.

It has the shape of MiniLM-L6 and was trained to find the turn of a long conversation that answers a question; the
package's model card has its data and figures. Other weights of the same shape can be named by their file.

Only the weights are int8; the arithmetic is float32. So a text's vector does not depend on the texts embedded with it
(measured difference: none), nor on the number of threads. Another kind of processor may differ in the last digits.
docs/benchmarks.md says what it costs.

Each batch is computed by one thread, several batches by as many threads. Sharing one batch out among threads costs a
tenth more processor time, and gains nothing for a question.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from perdure.models.vectors import text_list, to_vector
from perdure.models.wordpiece import END, START, WordPiece
from perdure.records.deadline import seconds_left
from perdure.records.errors import EmbedderError
from perdure.records.vector import Space, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DIMENSIONS = 384

MAX_TOKENS = 256
"""The length the model was trained for, with ``[CLS]`` and ``[SEP]``; what follows in a text is not seen."""

_BATCH_TEXTS = 8
_BATCH_TOKENS = 256
"""Limits of one batch. Larger ones are no faster on a CPU, and each thread needs memory for one of them."""

_BETWEEN = 8  # batches of each thread, after which it is looked whether the call's time is over

_REMEDY = 'Run `pip install "perdure[local]"`.'


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
        self._weights: _Weights | None = None
        self._threads = max(1, min(threads, _processors()))
        self._lock = Lock()
        self._session: Any = None
        self._wordpiece: WordPiece | None = None

    @property
    def space(self) -> Space:
        """The identity of this model's vectors; does not load the model."""
        weights = self._chosen_weights()
        return Space(weights.model, DIMENSIONS, f"{weights.sha256[:12]}-mean-{MAX_TOKENS}-wordpiece1")

    def embed(self, texts: Sequence[str], *, purpose: Literal["query", "document"]) -> list[Vector]:  # noqa: ARG002  # the model treats both alike
        """Return one vector per text, in the order of the texts.

        Text beyond 256 tokens is not seen; lone surrogates are dropped. Queries and documents are embedded alike.

        Raises:
            DeadlineExceeded: The call's time is over.
        """
        listed = text_list(texts)
        if not listed:
            return []
        wordpiece, session = self._tokenizer(), self._load()
        tokens = [[START, *wordpiece.ids(text, MAX_TOKENS - 2), END] for text in listed]
        batches = list(_batches(tokens))
        vectors: list[Vector] = [b""] * len(tokens)
        for batch, rows in zip(batches, self._rows(session, tokens, batches), strict=True):
            for position, row in zip(batch, rows, strict=True):
                vectors[position] = to_vector(row, DIMENSIONS, source="perdure-embedder")
        return vectors

    def _rows(self, session: Any, tokens: list[list[int]], batches: list[list[int]]) -> Iterator[Any]:
        run = partial(_run, session)
        listed = [[tokens[position] for position in batch] for batch in batches]
        if len(batches) == 1 or self._threads == 1:
            for batch in listed:
                seconds_left()
                yield run(batch)
            return
        with ThreadPoolExecutor(min(self._threads, len(batches)), "perdure-embedder") as pool:
            for start in range(0, len(listed), _BETWEEN * self._threads):
                seconds_left()
                # The longest first: a long batch that begins last would leave the other threads idle.
                some = listed[start : start + _BETWEEN * self._threads]
                yield from reversed(list(pool.map(run, reversed(some))))

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the whole text has for this model, without ``[CLS]`` and ``[SEP]``; not cut at 256."""
        return len(self._tokenizer().ids(text))

    def _tokenizer(self) -> WordPiece:
        with self._lock:
            if self._wordpiece is None:
                self._wordpiece = WordPiece()
            return self._wordpiece

    def _load(self) -> Any:
        with self._lock:
            if self._session is None:
                self._session = _open_session(self._chosen_weights())
            return self._session

    def _chosen_weights(self) -> _Weights:
        if self._weights is None:
            self._weights = _named_weights(self._path) if self._path is not None else _installed_weights()
        return self._weights


class _Weights(NamedTuple):
    path: Path
    model: str
    sha256: str


def _installed_weights() -> _Weights:
    """Return the installed weights; the package holds data only, so importing it is cheap."""
    try:
        package = importlib.import_module("perdure_embedder")
    except ImportError as error:
        raise EmbedderError("The package perdure-embedder is not installed.", remedy=_REMEDY) from error
    return _Weights(Path(package.model_path()), str(package.MODEL), str(package.SHA256))


def _named_weights(path: Path) -> _Weights:
    """Return the weights of a file that a person names; its digest is part of the identity of its vectors."""
    return _Weights(path, path.stem, _digest(path))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _open_session(weights: _Weights) -> Any:
    _check_digest(weights)
    path = weights.path
    os.environ.setdefault(
        "ORT_DISABLE_TELEMETRY", "1"
    )  # read once, on import: nothing about the user leaves the machine
    try:
        runtime = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise EmbedderError("onnxruntime is not installed or cannot be loaded.", remedy=_REMEDY) from error
    try:
        runtime.disable_telemetry_events()
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # fatal only: every failure reaches the caller as an EmbedderError
        # With one thread the session starts none of its own: they would spin between calls, and not survive a fork.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # By path: given bytes, the session would keep those 23 MB for good.
        return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EmbedderError(f"onnxruntime cannot load {path}: {error}.", remedy=_REMEDY) from error


def _check_digest(weights: _Weights) -> None:
    found = _digest(weights.path)
    if found != weights.sha256:
        raise EmbedderError(
            f"The weights {weights.path} have the SHA-256 {found}, expected {weights.sha256}.",
            remedy="Run `pip install --force-reinstall perdure-embedder`.",
        )


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderError(f"The weights {path} cannot be read: {error}.", remedy=_REMEDY) from error


def _batches(tokens: list[list[int]]) -> Iterator[list[int]]:
    """Yield positions of texts of about the same length together, so that little time goes into padding."""
    batch: list[int] = []
    for position in sorted(range(len(tokens)), key=lambda position: len(tokens[position])):
        # The newcomer is the longest, so the whole batch is padded to its length.
        if batch and (len(batch) == _BATCH_TEXTS or (len(batch) + 1) * len(tokens[position]) > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


class _Inputs(NamedTuple):
    """The model's three inputs, each int64 of shape (texts, longest text)."""

    ids: Any
    mask: Any
    types: Any


def _pad(batch: list[list[int]]) -> _Inputs:
    """Return the batch as rectangular arrays; the mask is 1 where there is a token."""
    numpy = importlib.import_module("numpy")
    longest = max(map(len, batch))
    ids = numpy.zeros((len(batch), longest), dtype=numpy.int64)
    mask = numpy.zeros_like(ids)
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return _Inputs(ids, mask, numpy.zeros_like(ids))


def _run(session: Any, batch: list[list[int]]) -> Any:
    """Return the mean of the token states of each text: an array of shape (texts, 384)."""
    inputs = _pad(batch)
    feed = {"input_ids": inputs.ids, "attention_mask": inputs.mask, "token_type_ids": inputs.types}
    try:
        states = session.run(["last_hidden_state"], feed)[0]
    except Exception as error:
        raise EmbedderError(f"onnxruntime failed: {error}.", remedy="Check the free memory and try again.") from error
    weight = inputs.mask[:, :, None].astype(states.dtype)
    return (states * weight).sum(axis=1) / weight.sum(axis=1)
