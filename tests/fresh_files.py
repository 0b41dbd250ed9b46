"""Made once in a process: an empty store, of which new files are copies, and the session that runs the embedder.

The migrations of a new store and the start of a session cost more than most tests. Processes that tests start run the
migrations as always, and tests of upgrades run them on older files.
"""

from __future__ import annotations

import threading
from functools import cache

import apsw

from perdure.models import inference
from perdure.stores.sqlite import connection as opening

_migrate = opening._set_up
_one_at_a_time = threading.Lock()


@cache
def empty() -> apsw.Connection:
    """Return a connection to an empty store of the newest schema."""
    made = apsw.Connection(opening.MEMORY)
    opening.add_functions(made)
    _migrate(made)
    return made


def set_up(connection: apsw.Connection) -> None:
    """Fill a new file with an empty store; another one is migrated."""
    with _one_at_a_time:
        if not connection.pragma("page_count"):
            with connection.backup("main", empty(), "main") as copy:
                copy.step()
    _migrate(connection)


opening._set_up = set_up
inference.open_session = cache(inference.open_session)
