"""Any server that speaks OpenAI's embeddings protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from perdure.models.posting import Endpoint, Posting, without_lone_surrogates
from perdure.models.vectors import SpaceOnFirstUse, text_list
from perdure.records.errors import EmbedderError
from perdure.records.vector import Vector

_BATCH_TEXTS = 64
_ENDPOINT = Endpoint(
    "/embeddings",
    EmbedderError,
    "Check that the server is running and supports the OpenAI embeddings protocol.",
    largest=64 * 1024 * 1024,  # 64 texts of 3,072 dimensions need about 4 MB
)


class EndpointEmbedder(SpaceOnFirstUse):
    """Turns texts into vectors by ``POST {base_url}/embeddings``. Safe to share between threads.

    Redirects are refused: following one would send the texts and the key to a place nobody chose. ``dimensions`` None
    takes them from the first reply. ``version`` is part of the space's identity: change it when the server's model
    changes under the same name. The key is read at each call; a timeout is not tried again.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        dimensions: int | None = None,
        version: str = "1",
        key_variable: str | None = "OPENAI_API_KEY",
        timeout: float = 30.0,
        pause: float = 0.5,
    ) -> None:
        self._post = Posting(base_url, _ENDPOINT, key_variable=key_variable, timeout=timeout, pause=pause)
        super().__init__(model, version, dimensions)

    def embed(self, texts: Sequence[str], *, purpose: Literal["query", "document"]) -> list[Vector]:  # noqa: ARG002  # part of the port
        """Return one vector per text, in the order of the texts.

        Texts are sent 64 at a time; lone surrogates, which no UTF-8 can hold, become U+FFFD. The protocol has no field
        for the purpose. 429, 5xx and broken connections are tried twice more.
        """
        listed = [without_lone_surrogates(text) for text in text_list(texts)]
        vectors: list[Vector] = []
        for start in range(0, len(listed), _BATCH_TEXTS):
            batch = listed[start : start + _BATCH_TEXTS]
            vectors += self.pack(self._rows(batch), len(batch))
        return vectors

    def _rows(self, batch: list[str]) -> list[Any]:
        """Return the embeddings of some texts in their order, not yet checked as vectors."""
        items = self._post.read_list({"model": self._model, "input": batch}, "data")
        rows: dict[int, Any] = {}
        for item in items:
            if not isinstance(item, dict) or type(item.get("index")) is not int or "embedding" not in item:
                raise self._post.wrong("has an entry without `index` or `embedding`")
            rows[item["index"]] = item["embedding"]
        if sorted(rows) != list(range(len(items))):
            raise self._post.wrong(f"does not number its {len(items)} entries from 0 without gaps")
        return [rows[position] for position in range(len(items))]
