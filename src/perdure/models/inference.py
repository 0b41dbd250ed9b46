"""Weights as ONNX files, and running them on the CPU in this process, batch by batch.

Each batch is computed by one thread, several batches by as many threads. Sharing one batch out among threads costs a
tenth more processor time, and gains nothing for a question.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from perdure.records.deadline import seconds_left
from perdure.records.errors import EmbedderError
from perdure.records.installation import how_to_install, how_to_renew_embedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_BATCH_TEXTS = 8
_BATCH_TOKENS = 256
"""Limits of one batch. Larger ones are no faster on a CPU, and each thread needs memory for one of them."""

_BETWEEN = 8  # batches of each thread, after which it is looked whether the call's time is over


class Weights(NamedTuple):
    """A file of weights."""

    path: Path
    model: str  # the name of the model
    sha256: str  # what the file's digest must be


def embedder_weights() -> Weights:
    """Return the weights of the installed embedder; the package holds data only, so importing it is cheap."""
    package = _package()
    return Weights(Path(package.model_path()), str(package.MODEL), str(package.SHA256))


def supersession_weights() -> Weights:
    """Return the weights of the model of what a later statement makes untrue, from the same package."""
    package = _package()
    if not hasattr(package, "supersession_path"):
        raise EmbedderError(
            "The installed perdure-embedder is older than this Perdure.",
            remedy=how_to_install("local", options=["--upgrade"]),
        )
    return Weights(Path(package.supersession_path()), "perdure-supersession", str(package.SUPERSESSION_SHA256))


def named_weights(path: Path) -> Weights:
    """Return the weights of a file that a person names; its digest is part of the identity of its vectors."""
    return Weights(path, path.stem, _digest(path))


def _package() -> Any:
    try:
        return importlib.import_module("perdure_embedder")
    except ImportError as error:
        raise EmbedderError("The package perdure-embedder is not installed.", remedy=how_to_install("local")) from error


def available_threads(most: int) -> int:
    """Return how many threads are used: at most as many as there are processors."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(most, affinity))


def open_session(weights: Weights) -> Any:
    """Return a session of the runtime with some weights, whose digest is checked."""
    _check_digest(weights)
    path = weights.path
    os.environ.setdefault(
        "ORT_DISABLE_TELEMETRY", "1"
    )  # read once, on import: nothing about the user leaves the machine
    try:
        runtime = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise EmbedderError(
            "onnxruntime is not installed or cannot be loaded.", remedy=how_to_install("local")
        ) from error
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
        raise EmbedderError(f"onnxruntime cannot load {path}: {error}.", remedy=how_to_install("local")) from error


def _check_digest(weights: Weights) -> None:
    found = _digest(weights.path)
    if found != weights.sha256:
        raise EmbedderError(
            f"The weights {weights.path} have the SHA-256 {found}, expected {weights.sha256}.",
            remedy=how_to_renew_embedder(),
        )


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderError(f"The weights {path} cannot be read: {error}.", remedy=how_to_install("local")) from error


def batches_by_length(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
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


def run_batches(run: Callable[[list[int]], Any], batches: Sequence[list[int]], threads: int) -> Iterator[Any]:
    """Yield what comes of each batch, in their order, by at most so many threads.

    Raises:
        DeadlineExceeded: The call's time is over.
    """
    if len(batches) == 1 or threads == 1:
        for batch in batches:
            seconds_left()
            yield run(batch)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # only where it is used

    with ThreadPoolExecutor(min(threads, len(batches)), "perdure-inference") as pool:
        for start in range(0, len(batches), _BETWEEN * threads):
            seconds_left()
            # The longest first: a long batch that begins last would leave the other threads idle.
            some = batches[start : start + _BETWEEN * threads]
            yield from reversed(list(pool.map(run, reversed(some))))


class Inputs(NamedTuple):
    """A model's three inputs, each int64 of shape (texts, longest text)."""

    ids: Any
    mask: Any
    types: Any

    @property
    def feed(self) -> dict[str, Any]:
        """The inputs by the names that the models give them."""
        return {"input_ids": self.ids, "attention_mask": self.mask, "token_type_ids": self.types}


def pad_tokens(batch: Sequence[Sequence[int]], types: Sequence[Sequence[int]] = ()) -> Inputs:
    """Return token ids, and which text of a pair each is of, as rectangular arrays; the mask is 1 for a token."""
    numpy = importlib.import_module("numpy")
    longest = max(map(len, batch))
    ids = numpy.zeros((len(batch), longest), dtype=numpy.int64)
    mask, kinds = numpy.zeros_like(ids), numpy.zeros_like(ids)
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
        if types:
            kinds[row, : len(tokens)] = types[row]
    return Inputs(ids, mask, kinds)


def run_session(session: Any, output: str, inputs: Inputs) -> Any:
    """Return an output of a model as an array."""
    try:
        return session.run([output], inputs.feed)[0]
    except Exception as error:
        raise EmbedderError(f"onnxruntime failed: {error}.", remedy="Check the free memory and try again.") from error
