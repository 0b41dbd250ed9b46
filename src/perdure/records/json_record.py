"""Results as JSON data: a record is its fields, and the properties that it names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, ClassVar, Final

from perdure.records.instant import from_instant, json_text

_MINUTE: Final = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d) (?:UTC|([+-]\d\d)(\d\d))")
_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


class JsonRecord:
    """A frozen dataclass that can be written as JSON."""

    __slots__ = ()
    _computed: ClassVar[tuple[str, ...]] = ()  # properties that are written besides the fields
    _merged: ClassVar[tuple[str, ...]] = ()  # fields that are records, and whose fields are written as this one's own

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON data: enums as words, tuples as lists; instants as ``json_text`` has them."""
        data: dict[str, Any] = {}
        names, merged, instants = _names(type(self))  # type: ignore[arg-type]  # mypy takes object's hash for another one
        for name in names:
            value = getattr(self, name)
            if type(value) not in _PLAIN:
                value = as_json(value)
            if name in instants and value:
                value = _instant_text(value)
            if name in merged:
                data |= value
            else:
                data[name] = value
        return data


def _instant_text(value: int | str) -> str:
    if isinstance(value, int):
        return json_text(from_instant(value))
    if (found := _MINUTE.fullmatch(value)) is None:
        return value
    day, minute, hours, minutes = found.groups()
    return f"{day}T{minute}:00.000{f'{hours}:{minutes}' if hours else 'Z'}"


@cache
def _names(kind: type[Any]) -> tuple[tuple[str, ...], tuple[str, ...], frozenset[str]]:
    """Return the names of what is written of a record; of them those of records written as its own, and of instants."""
    names = (*(field.name for field in fields(kind)), *getattr(kind, "_computed", ()))
    return names, getattr(kind, "_merged", ()), instant_fields(kind)  # type: ignore[arg-type]  # as above


@cache
def instant_fields(kind: type[Any]) -> frozenset[str]:
    """Return the names of a record's fields that hold an instant, as a number or as ``text_of`` tells it."""
    types = {field.name: str(field.type).removesuffix(" | None") for field in fields(kind)}
    return frozenset(n for n, of in types.items() if of in ("Instant", "InstantText") and not n.endswith("_ms"))


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
        return value.value if isinstance(value, Enum) else json_text(value)
    return JsonRecord.to_dict(value) if hasattr(value, "__dataclass_fields__") else value
