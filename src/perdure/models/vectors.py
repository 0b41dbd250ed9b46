"""What goes into an embedder and what comes out of it: texts and values are checked here, once for every embedder.

Standard library only, so that checking costs no import.
"""

from __future__ import annotations

import math
import struct
import sys
from array import array
from numbers import Real
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Protocol

from perdure.records.errors import EmbedderError, InvalidInput, PerdureError
from perdure.records.vector import Space, Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from perdure.records.vector import Vector

_LEAST: Final = b"\x00\x80"  # high bytes of zero, and of numbers near it
_MOST: Final = frozenset(b"\x7f\xff")  # of infinity, of what is no number, and of the largest numbers


def to_vector(values: Any, dimensions: int | None = None, *, source: str = "") -> Vector:
    """Check one embedding, scale it to length 1 and pack it.

    Args:
        values: One row of real numbers: a list, a tuple, or an array with ``tolist()``.
        dimensions: How many values there must be; None accepts any number above zero.
        source: The model that made the values. Empty means that the caller gave them.

    Returns:
        ``4 * len(values)`` bytes: float32, little endian, Euclidean length 1.

    Raises:
        InvalidInput: The caller's values are not numbers, not finite, all zero, or of the wrong count.
        EmbedderError: The same, where ``source`` is given: the model is at fault and the caller cannot fix it.
    """
    row = _numbers(values, source)
    # Dividing by the largest value first keeps the length finite for values near the limits of a double.
    largest = _largest(row, dimensions, source)
    scaled = [value / largest for value in row]
    length = math.hypot(*scaled)
    packed = array("f", [value / length for value in scaled])
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _largest(row: Sequence[float], dimensions: int | None, source: str) -> float:
    if not row or (dimensions is not None and len(row) != dimensions):
        expected = "at least 1" if dimensions is None else str(dimensions)
        _refuse(f"it has {len(row)} values, expected {expected}.", source)
    if not all(map(math.isfinite, row)):
        _refuse("it contains NaN or infinity.", source)
    largest = max(map(abs, row))
    if largest == 0.0:
        _refuse("all its values are zero, so it has no direction.", source)
    return largest


def text_list(texts: Sequence[str]) -> list[str]:
    """Return the texts as a list.

    Raises:
        InvalidInput: ``texts`` is one string (its characters would be embedded one by one), or an entry is no string.
    """
    if isinstance(texts, str):
        raise InvalidInput("embed() was given one string.", remedy="Give a list of strings: [text].")
    listed = list(texts)
    for position, text in enumerate(listed):
        if not isinstance(text, str):
            raise InvalidInput(f"Text {position} is of type {type(text).__name__}, not str.", remedy="Give strings.")
    return listed


class SpaceOnFirstUse:
    """An embedder whose dimensions may become known with the first vector; afterwards they are fixed.

    Safe to share between threads.
    """

    def __init__(self, model: str, version: str, dimensions: int | None) -> None:
        if not model or not version:
            raise InvalidInput(
                "An embedder needs a name and a version.", remedy="Give both: they identify its vectors."
            )
        if dimensions is not None and dimensions < 1:
            raise InvalidInput(f"dimensions is {dimensions}.", remedy="Give a number of 1 or more, or omit it.")
        self._model = model
        self._version = version
        self._dimensions = dimensions
        self._lock = Lock()

    @property
    def space(self) -> Space:
        """The identity of the vectors."""
        if self._dimensions is None:
            raise EmbedderError(
                f"The dimensions of {self._model} are not known before its first vector.",
                remedy="Give `dimensions`, or embed one text first.",
            )
        return Space(self._model, self._dimensions, self._version)

    def pack(self, rows: Sequence[Any], count: int) -> list[Vector]:
        """Turn a model's reply into vectors, and fix the dimensions if this reply is the first.

        Raises:
            EmbedderError: The count, a row's size or a row's values are wrong. The dimensions then stay as they were.
        """
        _check_count(rows, count, self._model)
        with self._lock:
            expected = self._dimensions
            vectors: list[Vector] = []
            for row in rows:
                vector = to_vector(row, expected, source=self._model)
                expected = len(vector) // 4
                vectors.append(vector)
            self._dimensions = expected
        return vectors


def _check_count(rows: Sequence[Any], count: int, source: str) -> None:
    if len(rows) != count:
        raise EmbedderError(
            f"{source} returned {len(rows)} vectors for {count} texts.",
            remedy="It must return one vector per text, in order.",
        )


def _numbers(values: Any, source: str) -> list[float]:
    """Return the values as Python floats; refuse anything that is not a flat row of real numbers."""
    plain = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(plain, (list, tuple)):
        _refuse(f"it is of type {type(plain).__name__}, not a row of numbers.", source)
    if {*map(type, plain)} <= {float}:
        return list(plain)
    row: list[float] = []
    for value in plain:
        # bool is a Real to Python, but a True in an embedding is a mistake.
        if isinstance(value, bool) or not isinstance(value, Real):
            _refuse(f"it contains a {type(value).__name__}, not only numbers.", source)
        try:
            row.append(float(value))
        except OverflowError:
            _refuse("it contains a number too large for a float.", source)
    return row


def _refuse(reason: str, source: str) -> NoReturn:
    if source:
        raise EmbedderError(f"{source} returned a vector that cannot be used: {reason}", remedy="Check the model.")
    raise InvalidInput(f"The vector cannot be used: {reason}", remedy="Give finite numbers, not all zero.")


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
        """
        listed = text_list(texts)
        return self.pack(self._rows(listed), len(listed)) if listed else []

    def _rows(self, listed: list[str]) -> Sequence[Any]:
        # A copy, so that a function that changes its argument cannot change what we count.
        return _rows_of(lambda: self._function(list(listed)), f"The embedding function {self._model}")


def _rows_of(ask: Callable[[], Any], source: str) -> Sequence[Any]:
    """Return what code of the caller's returns for several texts, as a list; what it raises is an EmbedderError."""
    try:
        reply = ask()
    except PerdureError:
        raise
    except Exception as error:
        raise EmbedderError(
            f"{source} raised {type(error).__name__}: {error}.", remedy="Fix the code that embeds."
        ) from error
    rows = reply.tolist() if hasattr(reply, "tolist") else reply
    if not isinstance(rows, (list, tuple)):
        raise EmbedderError(
            f"{source} returned a {type(rows).__name__}.",
            remedy="Return a list of vectors or an array of shape (texts, dimensions).",
        )
    return rows


class Embedder(Protocol):
    """An embedder of the caller's own: an object, where a function with a name does not do."""

    @property
    def space(self) -> Space:
        """The space that the vectors belong to."""

    def embed(self, texts: list[str], *, purpose: Literal["query", "document"]) -> Any:
        """Return for each text a row of numbers, or ``4 * dimensions`` bytes: little-endian float32 of length 1."""


class CheckedEmbedder:
    """An object that the caller gave as an embedder: what it returns is checked, and numbers are packed."""

    def __init__(self, given: Embedder) -> None:
        self._given, self._source = given, f"The embedder {type(given).__name__}"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._given, name)

    @property
    def space(self) -> Space:
        """The space that the vectors belong to.

        Raises:
            EmbedderError: The object names none.
        """
        space = self._given.space
        if not isinstance(space, Space):
            raise EmbedderError(
                f"The space of {self._source} is a {type(space).__name__}.",
                remedy="Make it a perdure.Space(model, dimensions, version).",
            )
        return space

    def embed(self, texts: Sequence[str], *, purpose: Literal["query", "document"]) -> list[Vector]:
        """Return one vector per text; bytes of the right length are kept as they are.

        Raises:
            EmbedderError: The object raised an error, or a reply's count, sizes or values are wrong.
        """
        listed = list(texts)
        rows = _rows_of(lambda: self._given.embed(list(listed), purpose=purpose), self._source)
        _check_count(rows, len(listed), self._source)
        dimensions = self.space.dimensions if rows else 0  # it may be known only now
        return [self._vector(row, dimensions) for row in rows]

    def _vector(self, row: Any, dimensions: int) -> Vector:
        if not isinstance(row, bytes):
            return to_vector(row, dimensions, source=self._source)
        if len(row) != 4 * dimensions:
            _refuse(f"it has {len(row)} bytes, expected {4 * dimensions}.", self._source)
        high = row[3::4]  # sign and most of the exponent of each value: mostly they tell that all are fit
        if not high.strip(_LEAST) or not _MOST.isdisjoint(high):
            _largest(struct.unpack(f"<{dimensions}f", row), dimensions, self._source)
        return row
