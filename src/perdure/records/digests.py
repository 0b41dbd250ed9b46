"""JSON data as the same bytes in every store, and digests of it, which tell a check of accidents, not of attackers."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import chain
from operator import itemgetter
from typing import Any, Final

from perdure.records.plan import Row

DIGESTS: Final = "digests"
"""Key of a journal line that stores something: digests of what the line itself does not repeat."""

_ABSENT: Final = "\x00"  # stands for a value that is not there; no text holds it
_BETWEEN: Final = b"\x1f"
_EXACT: Final = 2**53

encoded: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""Return JSON text with sorted keys and no spaces."""


def digest_of(value: str | bytes | None) -> int:
    """Return 63 bits of a text or of bytes."""
    if not isinstance(value, bytes):
        value = (_ABSENT if value is None else value).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(value + _BETWEEN, digest_size=8).digest(), "big") >> 1


def same_words(text: str) -> str:
    """Return a text so that case, white space and the way in which accents are encoded do not count."""
    return " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split()).casefold()


def content_digest(text: str) -> int:
    """Return 63 bits that are equal for texts of the same words."""
    return _digest_of_words(same_words(text))


def content_digests(text: str) -> set[int]:
    """Return the digests by which a text is found: also those of earlier versions, which were of it as it was given."""
    forms = () if text.isascii() else (text, unicodedata.normalize("NFD", text))
    return {content_digest(text), *(_digest_of_words(" ".join(form.split()).casefold()) for form in forms)}


def is_altered(text: str, digest: int) -> bool:
    """Whether a text is not of the words that were stored, by their digest."""
    return content_digest(text) != digest and digest not in content_digests(text)


def _digest_of_words(normal: str) -> int:
    return int.from_bytes(blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


def _bytes_of(parts: Iterable[str | bytes | None]) -> bytes:
    """Return what is hashed of some values: each with a byte that ends it."""
    values = [_ABSENT if p is None else p for p in parts]
    texts = [p for p in values if isinstance(p, str)]
    if len(texts) == len(values):  # mostly
        return "\x1f".join([*texts, ""]).encode("utf-8", "surrogatepass")
    found = [p if isinstance(p, bytes) else p.encode("utf-8", "surrogatepass") for p in values]
    return _BETWEEN.join([*found, b""])


def digests_of(row: Row, vector: bytes | None) -> dict[str, int]:
    """Return column -> digest of what the journal does not repeat about a new memory.

    Args:
        row: The memory's row.
        vector: Its int8 vector, if it has one.
    """
    found = {"text": digest_of(row["text"])}
    if row.get("shown") is not None:
        found["shown"] = digest_of(row["shown"])
    if row.get("metadata"):
        found["metadata"] = metadata_digest(row["metadata"])
    if vector:
        found["vector"] = digest_of(vector)
    return found


def metadata_digest(metadata: Mapping[str, Any]) -> int:
    """Return the digest of metadata; a number is the same, however a store writes it."""
    return digest_of(canonical(metadata))


def operation_digest(operation: Row, lines: Iterable[Row]) -> int:
    """Return the digest of an operation and of its journal lines, which come in their order."""
    return digest_with_lines(operation, map(_values_of_line, lines))


def digest_with_lines(operation: Row, lines: Iterable[Iterable[str | bytes | None]]) -> int:
    """Return the same of lines as (target, id, before, after, because)."""
    head = [None if operation[name] is None else str(operation[name]) for name in _OPERATION]
    if operation["actor"] is not None:  # earlier versions know none: their digests stay as they are
        head.append(operation["actor"])
    hashed = _bytes_of([*head, *chain.from_iterable(lines)])
    return int.from_bytes(blake2b(hashed, digest_size=8).digest(), "big") >> 1


_OPERATION: Final = ("id", "operation", "at_ms", "changes", "hides", "policy", "note", "undoes")
_values_of_line: Final = itemgetter("target", "id", "before", "after", "because")


def canonical(value: Mapping[str, Any]) -> bytes:
    """Return JSON data as bytes in which a number is the same, however it was kept."""
    return encoded(canonical_value(value)).encode()


def canonical_value(value: Any) -> Any:
    """Return JSON data whose numbers are whole ones as int, and what a float cannot hold exactly as text."""
    if isinstance(value, Mapping):
        return {k: canonical_value(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [canonical_value(v) for v in value]
    return canonical_number(value) if isinstance(value, float | int) and not isinstance(value, bool) else value


def canonical_number(value: float) -> float | int | str:
    """Return whole numbers as int, and what a float cannot hold exactly as the nearest float's text."""
    if abs(value) > _EXACT:
        try:
            return repr(float(value))
        except OverflowError:
            return str(value)
    return int(value) if value == int(value) else value
