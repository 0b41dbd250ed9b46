"""The whole text of a memory that shows a shorter form: kept as zstd where that is smaller, exact to the byte."""

from __future__ import annotations

import sys
from typing import Final

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL: Final = 19  # packed once, read rarely: the smallest result is worth the milliseconds


def pack_text(text: str) -> tuple[str, bytes | None]:
    """Return a text as (text column, packed column); short texts stay as they are, because zstd makes them longer."""
    data = text.encode("utf-8")
    smaller = zstd.compress(data, LEVEL)
    return ("", smaller) if len(smaller) < len(data) else (text, None)


def unpack_text(text: str, data: bytes | None) -> str:
    """Return the whole text from both columns."""
    if data is None:
        return text
    try:
        return zstd.decompress(bytes(data)).decode("utf-8")
    except (zstd.ZstdError, TypeError) as error:
        raise ValueError(f"its packed text is damaged: {error}") from error
