"""Looking for damage: SQLite's own check, and what must hold between the tables."""

from __future__ import annotations

from typing import Final

import apsw

from perdure.stores.sqlite.reading import run, single

_RULES: Final = {
    "memories_without_content": "memories without content",
    "contents_without_memory": "contents without a memory",
    "memories_without_words": "memories that words do not find",
    "words_without_memory": "indexed words without a memory",
    "vectors_without_memory": "vectors without a memory",
    "vectors_of_wrong_size": "vectors of the wrong size",
    "lines_without_operation": "journal lines without an operation",
    "short_journals": "operations whose journal is short",
    "accesses_without_memory": "accesses to no memory",
    "keys_without_memory": "idempotency keys of no memory",
    "memories_without_namespace": "memories in no namespace",
}
"""Statement that counts -> what it counts."""


def faults(connection: apsw.Connection) -> list[str]:
    """Return what is wrong, one sentence each."""
    found = [f"SQLite: {text}" for (text,) in connection.execute("PRAGMA integrity_check") if text != "ok"]
    try:
        run(connection, "check_words")
    except apsw.ReadOnlyError:
        pass  # the words can only be checked where the file may be written
    except apsw.Error as error:
        found.append(f"The index of words is damaged ({error}).")
    for name, what in _RULES.items():
        count = single(connection, name)
        if count:
            found.append(f"{count} {what}.")
    return found
