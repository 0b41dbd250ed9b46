"""Finding ids by their first characters, or by those of their short form."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

_BEGINNING: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_HEX: Final = re.compile(r"[A-Fa-f0-9-]+")


def find(text: str, statements: Sequence[str], rows: Callable[..., list[tuple[Any, ...]]], limit: int) -> list[str]:
    """Return the id that a text is, else ids that begin with it or whose short form does, in order.

    Args:
        text: Typed by a person; the case of hexadecimal digits does not matter.
        statements: Each returns the ids from ``lowest`` up to ``beyond``, one by the whole id, one by the short form.
        rows: Runs one of them.
        limit: How many ids at most.
    """
    if not _BEGINNING.fullmatch(text):
        return []
    forms = dict.fromkeys((text, text.lower(), text.upper()) if _HEX.fullmatch(text) else (text,))
    found: dict[str, None] = {}
    for lowest in forms:
        beyond = lowest[:-1] + chr(ord(lowest[-1]) + 1)
        for name in statements:
            found |= dict.fromkeys(i for (i,) in rows(name, lowest=lowest, beyond=beyond, limit=limit))
    equal = [form for form in forms if form in found]
    return equal or sorted(found)[:limit]
