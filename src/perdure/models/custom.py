"""Any callable as an embedder, with its replies checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from perdure.models.vectors import SpaceOnFirstUse, text_list
from perdure.records.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from perdure.records.vector import Vector


class CallableEmbedder(SpaceOnFirstUse):
    """Turns texts into vectors with the caller's own function.

    As safe to share between threads as the function is.

    Args:
        function: Takes a list of texts; returns one row of numbers per text, as lists or as an array of shape
            (texts, dimensions). Their length need not be 1.
        name: The model's name; with ``version`` it tells this function's vectors from all others.
        version: Change it whenever the function's vectors change.
        dimensions: Values per vector; None takes them from the first reply.

    Raises:
        InvalidInput: ``name`` or ``version`` is empty, or ``dimensions`` is below 1.
    """

    def __init__(
        self, function: Callable[[list[str]], Any], *, name: str, version: str = "1", dimensions: int | None = None
    ) -> None:
        super().__init__(name, version, dimensions)
        self._function = function

    def embed(self, texts: Sequence[str], *, purpose: Literal["query", "document"]) -> list[Vector]:  # noqa: ARG002  # part of the port
        """Return one vector per text, in the order of the texts.

        They reach the function unchanged, all in one call, whatever the purpose. No texts, no call.

        Raises:
            InvalidInput: ``texts`` is not a sequence of strings.
            EmbedderError: The function raised, or its reply is wrong: see ``to_vector``.
        """
        listed = text_list(texts)
        return self.pack(self._rows(listed), len(listed)) if listed else []

    def _rows(self, listed: list[str]) -> Sequence[Any]:
        try:
            # A copy, so that a function that changes its argument cannot change what we count.
            reply = self._function(list(listed))
        except Exception as error:
            raise EmbedderError(
                f"The embedding function {self._model} raised {type(error).__name__}: {error}.",
                remedy="Fix the function.",
            ) from error
        rows = reply.tolist() if hasattr(reply, "tolist") else reply
        if not isinstance(rows, (list, tuple)):
            raise EmbedderError(
                f"The embedding function {self._model} returned a {type(rows).__name__}.",
                remedy="Return a list of vectors or an array of shape (texts, dimensions).",
            )
        return rows
