"""Between records and SQLite rows: column lists, JSON forms, digests. No SQL is run here."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import MISSING, fields
from hashlib import blake2b
from typing import Any, Final

from perdure.records.memory import Content, Kind, Record, Scope, State, Status, Tier
from perdure.records.plan import Change, Row, Target

STATE_COLUMNS: Final = tuple(f.name for f in fields(State))
_ENUMS: Final = {"kind": Kind, "scope": Scope, "tier": Tier, "status": Status}
_FLAGS: Final = ("pinned", "held")
_BYTES: Final = {"vector", "int8"}
_UNJOURNALLED: Final = {"text", "metadata", "vector", "int8"}
_DEFAULTS: Final = {f.name: f.default for f in fields(State) if f.default is not MISSING}

MEMORY_COLUMNS: Final = (*STATE_COLUMNS, "session", "turn", "speaker", "op")

SELECT_RECORD: Final = (
    "SELECT m.id, m.op, m.session, m.turn, m.speaker, "
    + ", ".join(f"m.{c}" for c in STATE_COLUMNS)
    + ", c.text, c.tags, c.source, c.task, c.metadata"
    + " FROM memory AS m JOIN content AS c ON c.row = m.row WHERE m.namespace = ?"
)
SELECT_STATE: Final = (
    "SELECT m.id, m.op, " + ", ".join(f"m.{c}" for c in STATE_COLUMNS) + " FROM memory AS m WHERE m.namespace = ?"
)

_SPACES: Final = re.compile(r"\s+")


def state_of(values: Sequence[Any]) -> State:
    """Return a state from the values of STATE_COLUMNS."""
    kind, scope, tier, status, pinned, *numbers, held = values
    axes = (Kind(kind), Scope(scope), Tier(tier), Status(status))
    return State(*axes, bool(pinned), *numbers, bool(held))  # type: ignore[call-arg]  # as many as STATE_COLUMNS


def record_of(namespace: str, values: Sequence[Any]) -> Record:
    """Return a record from one row of SELECT_RECORD."""
    identity, op, session, turn, speaker = values[:5]
    states = len(STATE_COLUMNS)
    text, tags, source, task, metadata = values[5 + states :]
    content = Content(
        text=text,
        tags=tuple(json.loads(tags)) if tags != "[]" else (),
        source=source,
        speaker=speaker,
        session=session,
        task=task,
        turn=turn,
        metadata=json.loads(metadata) if metadata != "{}" else {},
    )
    return Record(namespace, identity, state_of(values[5 : 5 + states]), content, op)


def memory_values(row: int, namespace: str, identity: str, after: Row) -> tuple[Any, ...]:
    """Return the parameters of insert_memory."""
    return (row, namespace, identity, *(_plain(after[c]) for c in MEMORY_COLUMNS), "?" in after["text"])


def content_values(row: int, namespace: str, identity: str, after: Row) -> tuple[Any, ...]:
    """Return the parameters of insert_content."""
    return (
        row,
        namespace,
        identity,
        after["text"],
        json.dumps(list(after["tags"]), ensure_ascii=False),
        after["source"],
        after["task"],
        json.dumps(after["metadata"], ensure_ascii=False, sort_keys=True),
        content_digest(after["text"]),
    )


def column_value(column: str, value: Any) -> Any:
    """Return a value as the column stores it."""
    if column == "tags":
        return json.dumps(list(value), ensure_ascii=False)
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, str):  # an enum member is stored as its plain text
        return str.__str__(value)
    return value


def content_digest(text: str) -> int:
    """Return 63 bits that are equal for texts that differ only in case and white space."""
    normal = _SPACES.sub(" ", text).strip().casefold()
    return int.from_bytes(blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


def place_of(namespace: str) -> str:
    """Return the one token that stands for a namespace in the index of words."""
    return "n" + blake2b(namespace.encode(), digest_size=8).hexdigest()


def journal_form(change: Change) -> tuple[str | None, str | None]:
    """Return a change's before and after as journal text.

    An insert is told briefly, because the row itself holds the rest; a delete keeps everything, so that it can be
    undone.
    """
    return _encoded(change.before, brief=False), _encoded(_brief(change), brief=change.before is None)


def _brief(change: Change) -> Row | None:
    if change.before is not None or change.after is None:
        return change.after
    if change.target is Target.MEMORY:
        return {
            k: v for k, v in change.after.items() if v is not None and k not in _UNJOURNALLED and v != _DEFAULTS.get(k)
        }
    if change.target is Target.VECTOR:
        return {"space": change.after["space"]}
    return change.after


def _encoded(row: Row | None, *, brief: bool) -> str | None:
    if row is None:
        return None
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"), default=None if brief else _bytes)


def _bytes(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"cannot journal {type(value).__name__}")


def decoded(text: str | None) -> dict[str, Any] | None:
    """Return a journal text as a row again."""
    if text is None:
        return None
    row: dict[str, Any] = json.loads(text)
    return {k: base64.b64decode(v["base64"]) if k in _BYTES and v is not None else v for k, v in row.items()}
