"""JSON data as the same bytes, whichever store or language wrote it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

_EXACT: Final = 2**53

encoded: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""Return JSON text with sorted keys and no spaces."""


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
