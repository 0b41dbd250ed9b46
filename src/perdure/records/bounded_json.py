"""Reading JSON that others wrote: how deep it may be nested and how many values it may have is known before it is read.

A few bytes of JSON can become many of memory: ``[],[],[]`` needs twenty times its length.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any, Final

DEEPEST: Final = 100  # levels of lists and objects
MOST_VALUES: Final = 500_000  # values of one text, about

_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_NO_BRACKET: Final = re.compile(r"[^\[\]{}]+")


class JsonTooLarge(ValueError):  # noqa: N818  # reads as the statement it makes
    """JSON is nested deeper, or has more values, than is read."""


def parse_json(text: str, *, values: int = MOST_VALUES) -> Any:
    """Return what a JSON text says.

    Args:
        text: Its length is bounded by the caller.
        values: How many it may have at most.

    Raises:
        JsonTooLarge: It is nested deeper than ``DEEPEST``, or has more values.
        ValueError: It is not JSON.
    """
    if text.count("[") + text.count("{") > DEEPEST or text.count(",") > values:
        _check_shape(_STRING.sub("", text), values)
    return json.loads(text)


def _check_shape(shape: str, values: int) -> None:
    """Refuse a text that is too deep or has too many values; its strings have been taken out."""
    if sum(map(shape.count, ",[{")) > values:
        raise JsonTooLarge(f"it has more than {values:,} values")
    brackets = _NO_BRACKET.sub("", shape)
    if max(accumulate(1 if bracket in "[{" else -1 for bracket in brackets), default=0) > DEEPEST:
        raise JsonTooLarge(f"it is nested deeper than {DEEPEST} levels")


def depth_of(value: Any, most: int = DEEPEST) -> int:
    """Return how deep JSON data is nested: 0 for a text or a number; more than ``most`` is reported as one more."""
    level, depth = [value], 0
    while depth <= most and (level := [v for v in level if isinstance(v, dict | list | tuple)]):
        depth += 1
        level = [child for v in level for child in (v.values() if isinstance(v, dict) else v)]
    return depth
