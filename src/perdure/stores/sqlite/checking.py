"""Looking for damage: SQLite's own check, and what must hold between the tables."""

from __future__ import annotations

from typing import Final

import apsw

_RULES: Final = {
    "memories without content": """SELECT count(*) FROM memory AS m WHERE NOT EXISTS
        (SELECT 1 FROM content AS c WHERE c.row = m.row AND c.namespace = m.namespace AND c.id = m.id)""",
    "contents without a memory": """SELECT count(*) FROM content AS c WHERE NOT EXISTS
        (SELECT 1 FROM memory AS m WHERE m.row = c.row)""",
    "memories that words do not find": """SELECT count(*) FROM memory AS m WHERE NOT EXISTS
        (SELECT 1 FROM words_docsize AS d WHERE d.id = m.row)""",
    "indexed words without a memory": """SELECT count(*) FROM words_docsize AS d WHERE NOT EXISTS
        (SELECT 1 FROM memory AS m WHERE m.row = d.id)""",
    "vectors without a memory": """SELECT count(*) FROM vector AS v WHERE NOT EXISTS
        (SELECT 1 FROM memory AS m WHERE m.row = v.row AND m.namespace = v.namespace)""",
    "vectors of the wrong size": """SELECT count(*) FROM vector AS v JOIN space AS s ON s.number = v.space
        WHERE length(v.data) <> s.dimensions""",
    "journal lines without an operation": """SELECT count(*) FROM journal AS j WHERE NOT EXISTS
        (SELECT 1 FROM operation AS o WHERE o.namespace = j.namespace AND o.id = j.operation)""",
    "operations whose journal is short": """SELECT count(*) FROM operation AS o WHERE o.changes <>
        (SELECT count(*) FROM journal AS j WHERE j.namespace = o.namespace AND j.operation = o.id)""",
    "accesses to no memory": """SELECT count(*) FROM access AS a WHERE NOT EXISTS
        (SELECT 1 FROM memory AS m WHERE m.namespace = a.namespace AND m.id = a.id)""",
    "idempotency keys of no memory": """SELECT count(*) FROM idempotency AS i WHERE NOT EXISTS
        (SELECT 1 FROM memory AS m WHERE m.namespace = i.namespace AND m.id = i.id)""",
    "memories in no namespace": """SELECT count(*) FROM memory AS m WHERE NOT EXISTS
        (SELECT 1 FROM namespace AS n WHERE n.namespace = m.namespace)""",
}


def faults(connection: apsw.Connection) -> list[str]:
    """Return what is wrong, one sentence each."""
    found = [f"SQLite: {text}" for (text,) in connection.execute("PRAGMA integrity_check") if text != "ok"]
    try:
        connection.execute("INSERT INTO words(words, rank) VALUES ('integrity-check', 0)")
    except apsw.ReadOnlyError:
        pass  # the words can only be checked where the file may be written
    except apsw.Error as error:
        found.append(f"The index of words is damaged ({error}).")
    for what, sql in _RULES.items():
        count = connection.execute(sql).get
        if count:
            found.append(f"{count} {what}.")
    return found
