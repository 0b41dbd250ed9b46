"""How likely a later statement makes an earlier one untrue, by a small model that reads both together.

It comes with the package ``perdure-embedder`` and runs on the CPU in this process: it needs no network. It was trained
on short statements of one person; docs/decisions/0063-supersession-model.md has its figures, ``training/supersession``
its data.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

from perdure.models import inference
from perdure.models.wordpiece import END, START, shared_wordpiece

MAX_TOKENS: Final = 128  # of both texts together, with ``[CLS]`` and twice ``[SEP]``
_ROOM: Final = MAX_TOKENS - 3


class SupersessionModel:
    """Reads pairs of statements. The model is loaded when it is first asked. Safe to share between threads."""

    def __init__(self, *, weights: inference.Weights | None = None, threads: int = 4) -> None:
        self._weights = weights
        self._threads = inference.available_threads(threads)
        self._lock = Lock()
        self._session: Any = None

    def chances(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return how likely the later text of each pair makes the earlier one untrue, 0 to 1, in their order.

        Args:
            pairs: The earlier and the later text of each; what is beyond 128 tokens of both together is not seen.

        Raises:
            DeadlineExceeded: The call's time is over.
            EmbedderError: The weights or the runtime are missing, or failed.
        """
        if not pairs:
            return []
        session, wordpiece = self._load(), shared_wordpiece()
        parts = [_truncate_pair(wordpiece.ids(earlier, _ROOM), wordpiece.ids(later, _ROOM)) for earlier, later in pairs]
        tokens = [[START, *earlier, END, *later, END] for earlier, later in parts]
        types = [[0] * (len(earlier) + 2) + [1] * (len(later) + 1) for earlier, later in parts]
        batches = list(inference.batches_by_length(tokens))

        def run(batch: list[int]) -> Any:
            inputs = inference.pad_tokens([tokens[at] for at in batch], [types[at] for at in batch])
            return inference.run_session(session, "superseded", inputs)

        found = [0.0] * len(pairs)
        for batch, chances in zip(batches, inference.run_batches(run, batches, self._threads), strict=True):
            for at, chance in zip(batch, chances.tolist(), strict=True):
                found[at] = chance
        return found

    def _load(self) -> Any:
        with self._lock:
            if self._session is None:
                self._session = inference.open_session(self._weights or inference.supersession_weights())
            return self._session


def _truncate_pair(earlier: list[int], later: list[int]) -> tuple[list[int], list[int]]:
    """Return the beginnings of two texts that fit together; the shorter one is cut only where it is over half."""
    half = _ROOM // 2
    if len(earlier) + len(later) > _ROOM:
        earlier = earlier[: max(half, _ROOM - len(later))]
    return earlier, later[: _ROOM - len(earlier)]
