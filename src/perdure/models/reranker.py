"""Any server that reranks texts by the protocol that Cohere, Jina, vLLM and llama.cpp share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from perdure.models.posting import Endpoint, Posting, without_lone_surrogates
from perdure.records.errors import ModelError

_LONGEST_TEXT: Final = 8000  # characters; rerankers read some 500 to 8,000 tokens
_ENDPOINT: Final = Endpoint(
    "/rerank",
    ModelError,
    "Check that the server is running and answers POST /rerank.",
    largest=4 * 1024 * 1024,  # some servers repeat the texts
)


class EndpointReranker:
    """Scores texts against a question by ``POST {base_url}/rerank``. Safe to share between threads.

    The key is read at each call; a timeout is not tried again.
    """

    def __init__(
        self, base_url: str, model: str, *, key_variable: str | None, timeout: float = 5.0, pause: float = 0.5
    ) -> None:
        self._model = model
        self._post = Posting(base_url, _ENDPOINT, key_variable=key_variable, timeout=timeout, pause=pause)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers a question, in the order of the texts; the scale is the model's own."""
        sent = [without_lone_surrogates(text[:_LONGEST_TEXT]) for text in texts]
        request = {"model": self._model, "query": without_lone_surrogates(question), "documents": sent}
        scores = self._scores(self._post.read_list(request, "results"))
        if sorted(scores) != list(range(len(sent))):
            raise self._post.wrong(f"does not score each of the {len(sent)} texts once")
        return [scores[position] for position in range(len(sent))]

    def _scores(self, results: Sequence[Any]) -> dict[int, float]:
        found = [self._score_of(item) for item in results]
        if len(dict(found)) != len(found):
            raise self._post.wrong("scores a text twice")
        return dict(found)

    def _score_of(self, item: Any) -> tuple[int, float]:
        index, score = (item.get("index"), item.get("relevance_score")) if isinstance(item, dict) else (None, None)
        if type(index) is not int or not isinstance(score, (int, float)) or not math.isfinite(score):
            raise self._post.wrong("has an entry without `index` or `relevance_score`")
        return index, float(score)
