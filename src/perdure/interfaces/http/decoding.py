"""Results from JSON: the same records that Python's own verbs return, made by the types that these declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

import perdure
from perdure.records import errors
from perdure.records.errors import PerdureError
from perdure.records.instant import moment_text, to_instant
from perdure.records.json_record import JsonRecord, instant_fields
from perdure.records.plan import Change, Plan, Target
from perdure.verbs.declaration import Verb

_AS_LISTS: Final = (list, tuple, Sequence, frozenset)
_BY_STATUS: Final[Mapping[int, type[PerdureError]]] = {
    **dict.fromkeys((400, 408, 413, 415, 421, 422, 431), errors.InvalidInput),
    **dict.fromkeys((401, 403), errors.NotAllowed),
    **dict.fromkeys((503, 504), errors.StoreBusy),
    429: errors.TooManyCalls,
    404: errors.NotFound,
}
"""Status -> the error of a refusal that Python has no own class for."""
_PROBLEM_FIELDS: Final = frozenset(("type", "title", "status", "detail", "error", "fault", "remedy"))


def result_of(verb: Verb, data: Mapping[str, Any]) -> Any:
    """Return a verb's result from what its route answered."""
    type_ = verb.result_type(perdure)
    options = [option for option in _options(type_) if option is not NoneType]
    if any(is_dataclass(option) or (get_origin(option) or option) in {dict, Mapping} for option in options):
        return decode_value(type_, data)
    return decode_value(type_, data[verb.items])


def may_be_none(verb: Verb) -> bool:
    """Whether Python returns None where the service says that nothing was found."""
    return NoneType in _options(verb.result_type(perdure))


def decode_value(type_: Any, data: Any) -> Any:
    """Return a value of a type from JSON data; what has no type of its own stays as it is."""
    if isinstance(type_, str):  # a name within ``list["JournalEntry"]``
        type_ = getattr(perdure, type_)
    origin, type_args = get_origin(type_), get_args(type_)
    if data is None:
        return None
    if origin in {Union, UnionType}:
        return decode_value(_matching_type(type_args, data), data)
    if origin in _AS_LISTS:
        return _sequence(origin, type_args, data)
    if origin in {dict, Mapping}:
        return {key: decode_value(type_args[1], value) for key, value in data.items()}
    return _single(type_, data)


def _single(type_: Any, data: Any) -> Any:
    if type_ is datetime:
        return datetime.fromisoformat(data)
    if type_ is Plan:
        return _plan(data)
    if isinstance(type_, type) and issubclass(type_, Enum):
        return type_(data)
    return _record(type_, data) if is_dataclass(type_) and isinstance(data, Mapping) else data


def _options(type_: Any) -> tuple[Any, ...]:
    return get_args(type_) if get_origin(type_) in {Union, UnionType} else (type_,)


def _sequence(origin: Any, type_args: tuple[Any, ...], data: Any) -> Any:
    if origin is tuple and type_args[-1] is not Ellipsis:
        return tuple(decode_value(part, value) for part, value in zip(type_args, data, strict=True))
    values = [decode_value(type_args[0], value) for value in data]
    return values if origin is list else frozenset(values) if origin is frozenset else tuple(values)


def _matching_type(options: tuple[Any, ...], data: Any) -> Any:
    """Return which of several types data is of: the one whose fields it has."""
    candidates = [option for option in options if option is not NoneType]
    return next((option for option in candidates if _fits(option, data)), candidates[0])


def _fits(type_: Any, data: Any) -> bool:
    if isinstance(type_, str):
        type_ = getattr(perdure, type_)
    if get_origin(type_) in _AS_LISTS:
        return isinstance(data, list) and all(_fits(get_args(type_)[0], item) for item in data)
    if is_dataclass(type_):
        return isinstance(data, Mapping) and {f.name for f in fields(type_)} <= set(data)
    return not isinstance(data, Mapping | list)


@cache
def _hints(type_: Any) -> dict[str, Any]:
    return get_type_hints(type_)


def _record(type_: Any, data: Mapping[str, Any]) -> Any:
    if hasattr(type_, "from_dict"):
        return type_.from_dict(data)
    is_default = getattr(type_, "to_dict", JsonRecord.to_dict) is JsonRecord.to_dict
    if not is_default and not {f.name for f in fields(type_)} <= set(data):
        return dict(data)  # it says more briefly what it holds
    hints, merged = _hints(type_), getattr(type_, "_merged", ())
    values = {f.name: data if f.name in merged else data.get(f.name) for f in fields(type_) if f.init}
    for name in instant_fields(type_):
        if text := values[name]:
            moment = datetime.fromisoformat(str(text))
            values[name] = to_instant(moment) if hints[name] is int else moment_text(moment)
    return type_(**{name: decode_value(hints[name], value) for name, value in values.items()})


def _plan(data: Mapping[str, Any]) -> Plan:
    """Return a plan as the service sends it, without vectors. To be read, not to be applied."""
    changes = tuple(
        Change(Target(c["target"]), c["id"], c["before"], c["after"], c["because"]) for c in data["changes"]
    )
    texts = {name: data[name] for name in ("id", "operation", "namespace", "policy", "note", "undoes")}
    return Plan(at=to_instant(datetime.fromisoformat(data["at"])), changes=changes, **texts)


def error_of(status: int, problem: Mapping[str, Any]) -> PerdureError:
    """Return the error that a problem document describes: of the class that Python raises, with its attributes."""
    found: Any = getattr(errors, str(problem.get("error")), None)
    is_error = isinstance(found, type) and issubclass(found, PerdureError)
    error_type: type[PerdureError] = found if is_error else _BY_STATUS.get(status, errors.StoreError)
    error = error_type.__new__(error_type)  # their own arguments differ
    detail, remedy = str(problem.get("detail", f"The service answered {status}.")), str(problem.get("remedy", ""))
    PerdureError.__init__(error, detail, remedy=remedy)
    for name, value in problem.items():
        if name not in _PROBLEM_FIELDS:
            setattr(error, name, tuple(value) if isinstance(value, list) else value)
    return error
