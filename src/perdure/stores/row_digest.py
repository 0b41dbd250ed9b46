"""One digest of a memory's row: what the journal keeps of it once its images are older than the horizon."""

from __future__ import annotations

from typing import Any, Final

from perdure.records.digests import canonical, digest_of
from perdure.records.memory import Record
from perdure.records.plan import Row
from perdure.stores.rows import DEFAULTS, STATE_COLUMNS, plain_value

ROW: Final = "row"  # key of the digest of a row among the digests of a line
_CONTENT: Final = ("speaker", "session", "task", "turn", "source", "tags", "metadata", "shown")
_COLUMNS: Final = tuple(c for c in (*STATE_COLUMNS, *_CONTENT, "op", "key") if c != "held")
"""What the digest is of. The text has a digest of its own; holding and releasing is bookkeeping between sweeps."""


def row_of(record: Record, key: str | None) -> dict[str, Any]:
    """Return the columns of a stored memory that the digest is of."""
    state = {name: plain_value(getattr(record.state, name)) for name in STATE_COLUMNS}
    content = {name: getattr(record.content, name) for name in _CONTENT}
    return {**state, **content, "op": record.op, "key": key}


def row_digest(row: Row) -> int:
    """Return 63 bits of a row. Defaults do not count, so that a column that a later version adds changes nothing."""
    columns = {name: plain_value(row[name]) for name in _COLUMNS if row.get(name) not in (None, DEFAULTS.get(name))}
    listed = {name: list(v) if isinstance(v, tuple) else v for name, v in columns.items()}
    return digest_of(canonical({name: v for name, v in listed.items() if v not in ([], {})}))
