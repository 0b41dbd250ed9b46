"""Looking for damage in a file: SQLite's own check, and what must hold between the tables."""

from __future__ import annotations

from typing import Final

import apsw

from perdure.stores.checking import broken_rules
from perdure.stores.sqlite.session import fetch_value, run

OWN_RULES: Final = {"words_without_memory": "index entries without a memory"}


def find_faults(connection: apsw.Connection) -> list[str]:
    """Return what is wrong, one sentence each."""
    found = [f"SQLite: {text}" for (text,) in connection.execute("PRAGMA integrity_check") if text != "ok"]
    try:
        run(connection, "check_words")
    except apsw.ReadOnlyError:
        pass  # the words can only be checked where the file may be written
    except apsw.Error as error:
        found.append(f"The keyword index is damaged ({error}).")
    return found + broken_rules(lambda name: int(fetch_value(connection, name)), OWN_RULES)
