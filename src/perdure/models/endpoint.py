"""Any server that speaks OpenAI's embeddings protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from perdure.models.posting import Endpoint, Posting, without_lone_surrogates
from perdure.models.vectors import SpaceOnFirstUse, text_list
from perdure.records.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Sequence

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

    Redirects are refused: following one would send the texts and the key to a place nobody chose.

    Args:
        base_url: Up to and without ``/embeddings``, for example ``http://localhost:11434/v1``.
        model: The model's name, as the server knows it.
        dimensions: Values per vector; None takes them from the first reply.
        version: Part of the space's identity; change it when the server's model changes under the same name.
        key_variable: The environment variable that holds the bearer key; read at each call. None sends no key.
        timeout: Seconds to wait for the server at each step, and for the whole reply once it has begun; a timeout is
            not retried.
        pause: Seconds before the first retry; doubled for the second.

    Raises:
        InvalidInput: ``base_url`` is not an http or https address, or another value is out of bounds.
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

        Raises:
            InvalidInput: ``texts`` is not a sequence of strings.
            EmbedderError: The key is missing, the server cannot be reached or refuses, or its reply is wrong.
        """
        listed = [without_lone_surrogates(text) for text in text_list(texts)]
        vectors: list[Vector] = []
        for start in range(0, len(listed), _BATCH_TEXTS):
            batch = listed[start : start + _BATCH_TEXTS]
            vectors += self.pack(self._rows(batch), len(batch))
        return vectors

    def _rows(self, batch: list[str]) -> list[Any]:
        """Return the embeddings of some texts in their order, not yet checked as vectors."""
        items = self._post.listed({"model": self._model, "input": batch}, "data")
        rows: dict[int, Any] = {}
        for item in items:
            if not isinstance(item, dict) or type(item.get("index")) is not int or "embedding" not in item:
                raise self._post.wrong("has an entry without `index` or `embedding`")
            rows[item["index"]] = item["embedding"]
        if sorted(rows) != list(range(len(items))):
            raise self._post.wrong(f"does not number its {len(items)} entries from 0 without gaps")
        return [rows[position] for position in range(len(items))]
