"""A streaming replica of a local server, for tests of what it holds and of what the loss of a primary costs."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager

from perdure.records.errors import StoreError
from perdure.stores.postgres.local import SUPERUSER, LocalServer, _make, local_server
from perdure.stores.postgres.local_programs import HOST, PAUSE, WAIT_SECONDS, run


@contextmanager
def replica_of(primary: LocalServer, *, synchronous: bool) -> Iterator[LocalServer]:
    """A running replica in a temporary folder; where it is synchronous a commit waits for it, also while it is away."""
    copy, name = local_server(**primary.settings), f"perdure_replica_{secrets.token_hex(4)}"
    with (primary.data / "pg_hba.conf").open("a", encoding="utf-8") as access:
        access.write(f"host replication {SUPERUSER} {HOST}/32 scram-sha-256\n")
    primary.sql("ALTER SYSTEM SET wal_keep_size = '128MB';\nSELECT pg_reload_conf();")
    source = primary._client("pg_basebackup", f"application_name={name}")
    options = ["--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf"]
    _make(
        copy.folder,
        lambda fresh: run(
            [*source, f"--pgdata={fresh}", *options], owner=fresh, password=primary._passwords()[SUPERUSER]
        ),
    )
    with copy:
        wait_for(primary, f"application_name = '{name}' AND state = 'streaming'")
        if synchronous:
            primary.sql(f"ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 ({name})';\nSELECT pg_reload_conf();")
            wait_for(primary, f"application_name = '{name}' AND sync_state = 'quorum'")
        yield copy


def wait_for(primary: LocalServer, condition: str) -> None:
    """Wait until a replica of a server is in a state."""
    end = time.monotonic() + WAIT_SECONDS
    while primary.sql(f"SELECT count(*) FROM pg_stat_replication WHERE {condition}") == "0":
        if time.monotonic() > end:
            raise StoreError(f"No replica of {primary.folder} has {condition}.")
        time.sleep(PAUSE)


def promote(replica: LocalServer) -> None:
    """Turn a replica into a server that can be written and waits for no replica of its own."""
    assert replica.sql(f"SELECT pg_promote(wait_seconds => {WAIT_SECONDS})") == "t"
    replica.sql("ALTER SYSTEM RESET synchronous_standby_names;\nSELECT pg_reload_conf();")
