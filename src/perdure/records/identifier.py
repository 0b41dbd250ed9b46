"""What an id may look like. An id stands between other words wherever it is shown, so it must not hold any."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

LONGEST_ID: Final = 64
SHORT: Final = 8  # characters of a short id
GRAMMAR: Final = f"1 to {LONGEST_ID} ASCII letters, digits and . _ : -, starting with a letter or digit"

_LONGEST_ENTITY_ID: Final = 80
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:-]{{0,{LONGEST_ID - 1}}}")


def is_id(value: object) -> bool:
    """Whether a value is an id of a memory, an operation or a recall (see ``GRAMMAR``)."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def is_entity_id(value: object) -> bool:
    """Whether a value is an id of an entity: 1 to 80 letters, digits, marks and hyphens of any script."""
    return (
        isinstance(value, str)
        and 1 <= len(value) <= _LONGEST_ENTITY_ID
        and value[0].isalnum()
        and all(c == "-" or c.isalnum() or unicodedata.category(c).startswith("M") for c in value)
    )


def is_uuid(identity: str) -> bool:
    """Whether an id is a UUID, as ours are; those that others gave need not be."""
    return _UUID.fullmatch(identity) is not None


def shown_id(identity: str) -> str:
    """Return what is shown of an id: of a UUID the short id; another one whole."""
    return short_id(identity) if is_uuid(identity) else identity


def short_id(identity: str) -> str:
    """Return what is shown of an id: its last 8 characters, random in a UUIDv7; its first ones are the time."""
    return identity[-SHORT:]
