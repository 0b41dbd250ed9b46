"""Which values of rows and plans are ids, and that they look like ids: checked wherever rows come from outside."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from perdure.records.errors import InvalidInput
from perdure.records.identifier import GRAMMAR, is_entity_id, is_id
from perdure.records.memory import Shelf
from perdure.records.plan import Plan, Target
from perdure.records.wording import shown_value
from perdure.rules.validation.values import checked_namespace

_Check = Callable[[object], bool]


def _any_text(value: object) -> bool:  # noqa: ARG001  # one of the checks
    """Names of edges, sessions and tasks, and keys, are free text; every exit escapes them."""
    return True


def _id_or_nothing(value: object) -> bool:
    return value in (None, "") or is_id(value)


def _memory_or_entity(value: object) -> bool:
    return is_id(value) or is_entity_id(value)


def _entity_or_nothing(value: object) -> bool:
    return value == "" or is_entity_id(value)


_COLUMNS: Final[dict[str, _Check]] = {"op": is_id, "other": is_id, "undoes": _id_or_nothing}
"""Columns of any part that hold an id besides ``id``."""

_DOCUMENTS: Final[dict[str, tuple[_Check, _Check]]] = {
    Shelf.OUTCOME: (is_id, _id_or_nothing),
    Shelf.CONFLICT: (is_id, is_id),
    Shelf.ABOUT: (is_id, is_entity_id),
    Shelf.MENTION: (is_id, is_entity_id),
    Shelf.ENTITY: (is_entity_id, _any_text),
    Shelf.ALIAS: (is_entity_id, _any_text),
    Shelf.PROFILE: (_memory_or_entity, _entity_or_nothing),
    **dict.fromkeys(
        (Shelf.EDGE, Shelf.REVIEW, Shelf.FORM, Shelf.FACT, Shelf.CHECK, Shelf.KEY, Shelf.PROCEDURE), (is_id, _any_text)
    ),
    **dict.fromkeys((Shelf.SESSION, Shelf.LEARNED, Shelf.UPKEEP, Shelf.RATE, Shelf.LESSON), (_any_text, _any_text)),
}
"""Shelf -> what the id and the name of its documents must be."""


def check_row_ids(part: str, row: Mapping[str, Any]) -> None:
    """Refuse a row from another store or a file in which something that must be an id is none."""
    if part == "journal":
        _check_id("operation", row["operation"], is_id)
        _check_change(row["target"], row["id"], [_parse(row[side]) for side in ("before", "after")])
        return
    _check_change(part, row.get("id"), [row])


def _parse(text: str | None) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        raise InvalidInput("A row of the journal is not valid JSON.", remedy="Export again.") from None


def check_plan_ids(plan: Plan) -> None:
    """Refuse a plan in which something that must be an id, or its namespace, is none."""
    _check_id("id", plan.id, is_id)
    _check_id("undoes", plan.undoes, _id_or_nothing)
    checked_namespace(plan.namespace)
    for number, change in enumerate(plan.changes, 1):
        try:
            _check_change(change.target, change.id, [change.before, change.after])
        except InvalidInput as error:
            raise InvalidInput(f"Change {number} of the plan: {error.message}", remedy=error.remedy) from error


def _check_change(target: str, identity: Any, sides: Iterable[Any]) -> None:
    """Check the id of what a row is about, and the ids within the row."""
    rows = [side for side in sides if isinstance(side, Mapping)]
    if target == Target.DOCUMENT:
        for row in rows:
            of_id, of_name = _DOCUMENTS.get(str(row.get("shelf")), (_any_text, _any_text))
            _check_id("id", identity, of_id)
            _check_id("name", row.get("name"), of_name)
        return
    if target != Target.NAMESPACE:
        _check_id("id", identity, is_id)
    for row in rows:
        for column, check in _COLUMNS.items():
            if column in row:
                _check_id(column, row[column], check)
        for hit in row.get("hits") or ():
            _check_id("hits", hit, is_id)


def _check_id(column: str, value: Any, check: _Check) -> None:
    if not check(value):
        raise InvalidInput(f"The {column} {shown_value(value)} is not an id.", remedy=f"An id is {GRAMMAR}.")
