"""Making anew what a file derives from its rows: its schema, the index of words, tags, counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import product
from typing import Any, Final

import apsw

from perdure.stores.checking import are_hits
from perdure.stores.rows import UNREADABLE
from perdure.stores.spaces import restore_spaces
from perdure.stores.sqlite.broken_texts import mend_texts
from perdure.stores.sqlite.connection import SqliteSession, fetch_all, run, run_many, transaction
from perdure.stores.sqlite.lexical import asks_bytes, place_of, words_of
from perdure.stores.sqlite.schema import restore_schema

_ORPHANS: Final = ("clear_orphan_memories", "clear_orphan_contents", "clear_orphan_vectors")
_STEPS: Final = (
    *("clear_unreadable_documents", "clear_unreadable_recalls"),
    *(
        "clear_replaced_contents",
        "clear_stray_vectors",
        "clear_orphan_accesses",
        "clear_orphan_keys",
        "clear_present",
        "clear_wrong_accesses",
    ),
    *("clear_tags", "fill_tags", "clear_segments", "clear_cells", "recount", "restore_policy"),
)


def rebuild(connection: apsw.Connection, *, keep_texts: bool) -> None:
    """Rebuild what is derived, in one transaction: triggers that are not ours go first, since they act on the rest.

    A file whose pages are damaged is written anew before.
    """
    if is_damaged(connection):
        from perdure.stores.sqlite.salvage import write_anew  # noqa: PLC0415  # only where it is used

        write_anew(connection)
    for name, function in _FUNCTIONS.items():
        connection.create_scalar_function(name, function, 1)
    steps = _STEPS if keep_texts else (*_ORPHANS, *_STEPS)
    with transaction(connection):
        restore_schema(connection)
        mend_texts(connection)
        with suppress(apsw.ConstraintError):  # rows that no index of ours allows are another fault
            connection.execute("REINDEX")
        for (namespace,) in fetch_all(connection, "lost_namespaces"):
            run(connection, "restore_namespace", {"namespace": namespace})
        for name in ("forget_last_row", "note_last_row"):
            run(connection, name)
        restore_spaces(SqliteSession(connection, ""))
        for (namespace,), name in product(fetch_all(connection, "namespaces"), steps):
            run(connection, name, {"namespace": namespace})
        texts = fetch_all(connection, "texts_with_rows")
        other = [(asks_bytes(*text) == b"1", row) for row, _, _, *text, asks in texts if asks != asks_bytes(*text)]
        run_many(connection, "set_asks", other)
        words = ((row, words_of(*text), place_of(place)) for row, place, _, *text, _ in texts)
        run_many(connection, "insert_words", words)


def is_damaged(connection: apsw.Connection) -> bool:
    """Whether SQLite finds pages that are none, or an index that is not that of its rows."""
    try:
        return bool(connection.execute("PRAGMA integrity_check(1)").get != "ok")
    except apsw.CorruptError:
        return True
    except apsw.SQLError:  # a part of the index of words is missing, which is made anew
        return False


def _is_document(data: Any) -> bool:
    try:
        return isinstance(json.loads(data.decode()), dict)
    except UNREADABLE:
        return False


def _are_hits(data: Any) -> bool:
    return are_hits(data.decode("utf-8", "replace"))


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {"is_document": _is_document, "are_hits": _are_hits}
"""Name in statements -> function of a value's bytes."""
