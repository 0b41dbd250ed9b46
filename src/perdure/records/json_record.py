"""Results as JSON data: a record is its fields, and the properties that it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, ClassVar, Final

_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


class JsonRecord:
    """A frozen dataclass that can be written as JSON."""

    __slots__ = ()
    _computed: ClassVar[tuple[str, ...]] = ()  # properties that are written besides the fields
    _merged: ClassVar[tuple[str, ...]] = ()  # fields that are records, and whose fields are written as this one's own

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON data: enums as words, instants as ISO 8601 text, tuples as lists."""
        data: dict[str, Any] = {}
        names, merged = _names(type(self))  # type: ignore[arg-type]  # mypy takes object's hash for another one
        for name in names:
            value = getattr(self, name)
            if type(value) not in _PLAIN:
                value = as_json(value)
            if name in merged:
                data |= value
            else:
                data[name] = value
        return data


@cache
def _names(kind: type[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of what is written of a record, and of them those of records that are written as its own."""
    names = (*(field.name for field in fields(kind)), *getattr(kind, "_computed", ()))
    return names, getattr(kind, "_merged", ())


def as_json(value: Any) -> Any:
    """Return a value as plain JSON data."""
    if type(value) in _PLAIN:  # first, because a report may hold a hundred thousand of them
        return value
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, Enum | datetime):
        return value.value if isinstance(value, Enum) else value.isoformat()
    return JsonRecord.to_dict(value) if hasattr(value, "__dataclass_fields__") else value
