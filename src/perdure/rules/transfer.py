"""What a moved row must look like, and the digest by which two stores are compared."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Final

from perdure.records.digests import canonical_number, canonical_value, encoded
from perdure.records.errors import InvalidInput
from perdure.records.memory import Form, Kind, Scope, Shelf, Sort, Status, Tier
from perdure.records.plan import Target
from perdure.records.transfer import COLUMNS, PARTS, Line, Tally
from perdure.rules.validation.values import checked_namespace

_LARGEST: Final = 2**63
_MODULUS: Final = 2**128
_FLOATS: Final = {
    *("importance", "confidence", "uniqueness", "access_mass", "boosted", "weight"),
    *("strength", "level", "stability", "difficulty", "decayed"),
}
_FLAGS: Final = {"pinned", "held", "firm"}
_TEXTS: Final = {
    *("id", "op", "session", "speaker", "text", "source", "task", "policy", "space", "data", "kind", "other"),
    *(
        "query",
        "operation",
        "note",
        "undoes",
        "actor",
        "target",
        "before",
        "after",
        "because",
        "scope",
        "tier",
        "status",
    ),
    *("form", "sort", "shown", "shelf", "name"),
}
_LISTS: Final = {"tags", "keys", "hits"}
_MAY_LACK: Final = {
    *("session", "turn", "speaker", "source", "task", "accessed_ms", "access2_ms", "access3_ms", "validated_ms"),
    *("due_ms", "undoes", "digest", "actor", "before", "after", "shown", "decayed", "decayed_ms"),
}
_LATER: Final[dict[str, Line]] = {"operation": {"digest": None, "actor": None}}
"""Part -> columns that earlier exports have not."""
_WORDS: Final[dict[str, dict[str, type[StrEnum]]]] = {
    "memory": {"kind": Kind, "scope": Scope, "tier": Tier, "status": Status, "form": Form, "sort": Sort},
    "document": {"shelf": Shelf},
    "journal": {"target": Target},
}


class TallyCounter:
    """Counts rows and sums their digests, so that their order does not matter."""

    def __init__(self) -> None:
        self.rows, self._sum = 0, 0

    def add(self, row: Line) -> None:
        """Take a row in."""
        self.rows += 1
        self._sum += int.from_bytes(blake2b(canonical_row(row), digest_size=16).digest(), "big")

    def tally(self) -> Tally:
        """Return what was taken in so far."""
        return Tally(self.rows, f"{self._sum % _MODULUS:032x}")


def canonical_row(row: Line) -> bytes:
    """Return a row as the bytes that every store gives for it: a number is the same, however it is kept."""
    plain = {**row, "metadata": canonical_value(row["metadata"])} if row.get("metadata") else row
    return encoded({k: canonical_number(v) if isinstance(v, float) else v for k, v in plain.items()}).encode()


def checked_place(part: Any, namespace: Any) -> tuple[str, str]:
    """Return (namespace, part) of a line."""
    if part not in PARTS:
        raise InvalidInput(f"Unknown part: {str(part)[:40]!r}.", remedy=f"The parts are {', '.join(PARTS)}.")
    return checked_namespace(namespace), str(part)


def checked_row(part: str, row: Line, dimensions: Mapping[str, int]) -> Line:
    """Return a row (column -> value) of a part as it is, if a store can hold it.

    ``dimensions`` has for each embedding space how many numbers a vector has.
    """
    row = {**_LATER.get(part, {}), **row}
    if row.keys() != (columns := set(COLUMNS[part])):
        odd = ", ".join(sorted(row.keys() ^ columns))
        raise InvalidInput(f"A row of the part {part} has missing or unknown columns ({odd}).", remedy=_REMEDY)
    if part == "vector":
        _check_vector(row, dimensions)
    for column, value in row.items():
        if part == "document" and column == "data":
            fits = isinstance(value, dict) and _is_text(encoded(value))
        else:
            fits = _fits(column, value)
        if not (fits and _is_word(part, column, value)):
            raise InvalidInput(
                f"The column {column} of a row of {part} has an invalid value: {str(value)[:40]!r}.", remedy=_REMEDY
            )
    return row


_REMEDY: Final = "Export again; files edited by hand cannot be imported."


def _fits(column: str, value: Any) -> bool:
    if value is None:
        return column in _MAY_LACK
    if column in _TEXTS:
        return _is_text(value)
    if column in _LISTS:
        return isinstance(value, list) and all(map(_is_text, value))
    if column == "metadata":
        return isinstance(value, dict) and _is_text(encoded(value))
    return isinstance(value, bool) if column in _FLAGS else _is_number(column, value)


def _is_number(column: str, value: Any) -> bool:
    if isinstance(value, bool):
        return False
    if column in _FLOATS:
        return isinstance(value, int | float) and abs(value) < float("inf")
    return isinstance(value, int) and -_LARGEST <= value < _LARGEST


def _is_text(value: Any) -> bool:
    if not isinstance(value, str) or "\x00" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_word(part: str, column: str, value: Any) -> bool:
    known = _WORDS.get(part, {}).get(column)
    return known is None or value in list(known)


def _check_vector(row: Line, dimensions: Mapping[str, int]) -> None:
    size = dimensions.get(str(row["space"]))
    try:
        found = len(b64decode(str(row["data"]), validate=True))
    except (binascii.Error, ValueError):
        found = -1
    if size is None or found != size:
        raise InvalidInput(f"A vector of {str(row['space'])[:80]!r} does not fit that space.", remedy=_REMEDY)
