"""Random damage to a store's file, and what comes of it: bits, bytes, pages, rows edited by hand, and the schema.

For each damage: whether a whole check names a fault (or the store refuses to open), whether anything that can be read
differs, and whether an error came out of a verb that is none of Perdure's. Usage: damage.py [--server] [count] [seed].
With --repair it also says how many harmful damages a repair takes back, alone and from a backup, and what it leaves.
With --server a PostgreSQL server of our own is damaged by its superuser: values, rows, indexes, triggers, policies.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import apsw

import perdure
from perdure.compose import backup
from perdure.records.errors import PerdureError

POLICY = {"preset": "facts", "embedder": {"model": "none"}}
KINDS = ("bit", "bytes", "page", "row", "schema")
TABLES = (
    *("memory", "content", "tag", "link", "document", "operation", "journal", "recall_log", "idempotency"),
    *("namespace", "access", "meta"),
)
QUESTIONS = ("harbour port", "zebra", "lunch", "who runs the night shift")


def _now() -> datetime:
    return datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Seen:
    """What one damage led to."""

    kind: str
    where: str
    found: bool = False  # whether a whole check named a fault, or the store refused to open
    harmful: bool = True  # whether what can be read differs from what was stored
    crash: str = ""  # an error that is none of Perdure's; empty for none
    alone: str = ""  # what came of a repair; empty where none was tried
    repair: str = ""  # what came of a repair from a backup


def fill(path: Path) -> None:
    """Make a file with some of everything, and empty its write-ahead log."""
    fill_store(path)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def open_store(place: Path | str) -> perdure.Memory:
    """Open a store; on a server with vectors."""
    more = {"embedder": _embedded} if isinstance(place, str) else {}
    return perdure.open(place, policy=POLICY, clock=_now, **more)


def _embedded(texts: list[str]) -> list[list[float]]:
    """Return a vector for each text, of the same sign where the same words stand."""
    rows = []
    for text in texts:
        row = [0.01] * 32
        for word in text.lower().split():
            row[zlib.crc32(word.encode()) % 32] += 1.0
        rows.append(row)
    return rows


def fill_store(place: Path | str) -> None:
    """Make a store with some of everything."""
    with open_store(place) as memory:
        for i in range(60):
            first = memory.remember(
                f"note {i}: the harbour server of team {i % 7} has port {8000 + i}", tags=[f"t{i % 5}"]
            )
            if i % 9 == 0:
                memory.update(first.id, f"note {i}: the harbour server of team {i % 7} moved to port {9000 + i}")
        memory.remember(
            "zebra", facts=[{"subject": "Rita", "predicate": "lives in", "value": "Oslo"}], idempotency_key="k"
        )
        for s in range(3):
            turns = [{"role": "user", "content": f"lunch number {i} of week {s}, with zebra cake"} for i in range(15)]
            memory.ingest(turns, session=f"s{s}")
        for question in QUESTIONS:
            memory.recall(question)
        memory.sweep()


def answers(path: Path | str) -> tuple[object, list[str]]:
    """Return what can be read of a store, and the faults that a whole check names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with open_store(path) as memory:
            faults = memory.check(full=True)
            listed = {m.id: (m.content, m.tags, m.status, m.tier, m.importance) for m in _every(memory)}
            recalled = [[h.memory.id for h in memory.recall(q, touch=False).hits] for q in QUESTIONS]
            facts = sorted((f.id, f.value) for f in memory.facts(limit=1000))
            memory.digest()
            memory.stats()
            for identity in list(listed)[:5]:
                memory.why(identity)
                memory.history(identity)
            operations = [(o.id, o.operation, o.at, o.changes) for o in memory.history(limit=1000)]
    return (listed, recalled, facts, operations), faults


def _every(memory: perdure.Memory) -> list[perdure.MemoryItem]:
    found: list[perdure.MemoryItem] = []
    while page := memory.list(limit=1000, include_archived=True, before=found[-1].id if found else None):
        found += page
    return found


def damages(original: Path, folder: Path, count: int, seed: int, safe: Path | None = None) -> Iterator[Seen]:
    """Damage copies of a file, each in one place, and yield what came of it, with ``safe``, a backup, also repaired."""
    chance = random.Random(seed)  # a seed repeats a run
    truth, _ = answers(original)
    kept, path = folder / "kept.db", folder / "damaged.db"
    for number in range(count):
        shutil.copyfile(original, kept)
        kind = KINDS[number % len(KINDS)]
        by_hand = {"row": _row, "schema": _schema}.get(kind)
        where = by_hand(kept, chance) if by_hand else _bytes(kept, kind, chance)

        def fresh() -> Path:
            for beside in folder.glob("damaged.db*"):
                beside.unlink()
            shutil.copyfile(kept, path)
            return path

        yield _with_repairs(_seen(fresh(), kind, where, truth), fresh, safe, truth)


def _with_repairs(seen: Seen, fresh: Callable[[], Path | str], safe: Path | None, truth: Any) -> Seen:
    """Return what was seen with what comes of repairs, each of the damaged store as it was."""
    if safe is None or not (seen.harmful and seen.found):
        return seen
    return replace(seen, alone=_repaired(fresh(), None, truth), repair=_repaired(fresh(), safe, truth))


def _repaired(path: Path | str, safe: Path | None, truth: Any) -> str:
    """Return "whole" where a repair makes a store what it was, "named" where it says what is left, else what it is."""
    try:
        with open_store(path) as memory:
            left = memory.repair(source=None if safe is None else str(safe), dry_run=False).left
        got: Any = answers(path)[0]
    except PerdureError as error:
        return f"refused: {error}"
    except Exception as error:  # noqa: BLE001  # whatever comes out of a door
        return repr(error)[:200]
    # Hits are not compared: a row that is stored anew comes after those that are as likely. A repair is an operation.
    is_whole = (got[0], got[2]) == (truth[0], truth[2]) and set(truth[3]) <= set(got[3])
    if left:
        return f"named: {' '.join(left)[:200]}"
    return "whole" if is_whole else "something is wrong that is not named"


def _bytes(path: Path, kind: str, chance: random.Random) -> str:
    at = chance.randrange(100, path.stat().st_size - 16)
    with path.open("r+b") as file:
        file.seek(at)
        old = file.read(1)
        file.seek(at if kind != "page" else max(4096, at - at % 4096))
        if kind == "bit":
            file.write(bytes([old[0] ^ (1 << chance.randrange(8))]))
        else:
            file.write(chance.randbytes(16) if kind == "bytes" else bytes(4096))
    return f"byte {at}"


def _schema(path: Path, chance: random.Random) -> str:
    """Add a trigger, or take away an index, a column or a table."""
    with closing(apsw.Connection(str(path))) as connection:
        while True:
            table = chance.choice(TABLES)
            event, act = (
                chance.choice(["INSERT", "UPDATE"]),
                chance.choice(["DELETE FROM link", "SELECT RAISE(IGNORE)"]),
            )
            made = "type = 'index' AND sql IS NOT NULL"
            indexes = connection.execute(f"SELECT name FROM sqlite_schema WHERE {made} ORDER BY 1").fetchall()
            columns = [c[1] for c in connection.execute(f"PRAGMA table_info({table})")]
            sql = chance.choice(
                [
                    f"CREATE TRIGGER act BEFORE {event} ON {table} BEGIN {act}; END",
                    f"DROP INDEX {chance.choice(indexes)[0]}",
                    f"ALTER TABLE {table} DROP COLUMN {chance.choice(columns)}",
                    f"ALTER TABLE {table} RENAME COLUMN {chance.choice(columns)} TO other",
                    f"DROP TABLE {table}",
                ]
            )
            try:
                connection.execute(sql)
            except apsw.SQLError:
                continue  # a column that an index needs, for one
            return sql


def _row(path: Path, chance: random.Random) -> str:
    """Delete a row, or put another value into one of its columns."""
    with closing(apsw.Connection(str(path))) as connection:
        while True:
            table = chance.choice(TABLES)
            rows = connection.execute(f"SELECT count(*) FROM {table}").get
            if not rows:
                continue
            columns = [
                c[1] for c in connection.execute(f"PRAGMA table_info({table})") if c[1] not in ("held", "changed")
            ]
            keys = [c[1] for c in connection.execute(f"PRAGMA table_info({table})") if c[5]]
            place = chance.randrange(rows)
            key = connection.execute(f"SELECT {', '.join(keys)} FROM {table} LIMIT 1 OFFSET {place}").get
            values = key if isinstance(key, tuple) else (key,)
            where = " AND ".join(f"{k} IS ?" for k in keys)
            if chance.random() < 0.3:
                connection.execute(f"DELETE FROM {table} WHERE {where}", values)
                return f"deleted from {table}"
            column = chance.choice(columns)
            before = connection.execute(f"SELECT {column} FROM {table} WHERE {where}", values).get
            if (after := _other(before, chance)) == before:
                continue
            try:
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (after, *values))
            except apsw.ConstraintError:
                continue
            if connection.changes():
                return f"{table}.{column}: {str(before)[:40]!r} -> {str(after)[:40]!r}"


# --- a server

SERVER_KINDS = ("value", "bytes", "deleted", "index", "trigger", "policy")
SERVER_TABLES = (*TABLES[:-1], "posting", "embedding")
_HIDDEN = ("held", "changed", "short_id")


def server_damages(count: int, seed: int, safe: Path | None = None) -> Iterator[Seen]:
    """Damage copies of a database, each in one place, as its superuser may, and yield what came of it."""
    import psycopg  # noqa: PLC0415  # an extra

    from perdure.compose import migrate  # noqa: PLC0415  # where it is used
    from perdure.stores.postgres.local import SUPERUSER, local_server  # noqa: PLC0415  # an extra

    chance = random.Random(seed)  # a seed repeats a run
    server = local_server(fsync="off", full_page_writes="off", autovacuum="off")
    server.start()
    try:
        with psycopg.connect(server.dsn("postgres", SUPERUSER), autocommit=True) as operator:
            operator.execute("CREATE DATABASE origin OWNER perdure")
            migrate(server.dsn("origin"))
            fill_store(server.dsn("origin"))
            truth, _ = answers(server.dsn("origin"))
            if safe is not None:
                backup(server.dsn("origin"), safe)

            def copied(source: str, target: str) -> str:
                operator.execute(f"DROP DATABASE IF EXISTS {target} WITH (FORCE)".encode())
                operator.execute(
                    f"CREATE DATABASE {target} OWNER perdure TEMPLATE {source} STRATEGY file_copy".encode()
                )
                return server.dsn(target)

            for number in range(count):
                kind = SERVER_KINDS[number % len(SERVER_KINDS)]
                copied("origin", "kept")
                with psycopg.connect(server.dsn("kept", SUPERUSER), autocommit=True) as connection:
                    where = _server_damage(connection, kind, chance)
                fresh = partial(copied, "kept", "damaged")
                yield _with_repairs(_seen(fresh(), kind, where, truth), fresh, safe, truth)
    finally:
        server.stop()


def _server_damage(connection: Any, kind: str, chance: random.Random) -> str:
    if kind in ("index", "trigger", "policy"):
        sql = _schema_damage(connection, kind, chance)
        connection.execute(sql)
        return sql
    while (where := _row_damage(connection, kind, chance)) is None:
        pass
    return where


def _schema_damage(connection: Any, kind: str, chance: random.Random) -> str:
    table = chance.choice(SERVER_TABLES)
    if kind == "trigger":
        what = chance.choice(["RETURN NULL", "NEW.namespace := 'x'; RETURN NEW", "RETURN NEW"])
        made = f"CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {what}; END $$"
        event = chance.choice(["INSERT", "UPDATE", "INSERT OR UPDATE"])
        return f"{made}; CREATE TRIGGER act BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION act()"
    if kind == "policy":
        names = [
            n for (n,) in connection.execute("SELECT polname FROM pg_policy WHERE polrelid = %s::regclass", [table])
        ]
        name = chance.choice(sorted(names))
        return chance.choice([f"DROP POLICY {name} ON {table}", f"CREATE POLICY other ON {table} USING (true)"])
    query = (
        "SELECT i.indexrelid::regclass::text, c.conname FROM pg_index AS i "
        "LEFT JOIN pg_constraint AS c ON c.conindid = i.indexrelid AND c.contype = 'u' "
        "WHERE i.indrelid = %s::regclass AND NOT i.indisprimary"
    )
    names = sorted(connection.execute(query, [table]).fetchall())
    if not names:
        return f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey"
    name, constraint = chance.choice(names)
    return f"DROP INDEX {name}" if constraint is None else f"ALTER TABLE {table} DROP CONSTRAINT {constraint}"


def _row_damage(connection: Any, kind: str, chance: random.Random) -> str | None:
    """Delete a row, or put another value into one of its columns; None where that cannot be."""
    import psycopg  # noqa: PLC0415  # an extra

    table = chance.choice(SERVER_TABLES)
    rows = connection.execute(f"SELECT ctid::text FROM {table} ORDER BY ctid").fetchall()
    if not rows:
        return None
    (row,) = chance.choice(rows)
    if kind == "deleted":
        connection.execute(f"DELETE FROM {table} WHERE ctid = %s::tid", [row])
        return f"deleted from {table}"
    query = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s ORDER BY 1"
    columns = [c for c in connection.execute(query, [table]) if c[0] not in _HIDDEN]
    column, sort = chance.choice(columns)
    ((before,),) = connection.execute(f"SELECT {column}::text FROM {table} WHERE ctid = %s::tid", [row]).fetchall()
    after = _other_text(before, kind, chance)
    try:
        connection.execute(
            f"UPDATE {table} SET {column} = %s::text::{_cast(sort, column)} WHERE ctid = %s::tid", [after, row]
        )
        ((now,),) = connection.execute(f"SELECT {column}::text FROM {table} ORDER BY ctid DESC LIMIT 1").fetchall()
    except psycopg.Error:
        return None  # no value of this column
    return None if now == before else f"{table}.{column}: {str(before)[:40]!r} -> {str(after)[:40]!r}"


def _cast(sort: str, column: str) -> str:
    if sort == "ARRAY":
        return "bigint[]" if column == "entries" else "text[]"
    return "halfvec" if sort == "USER-DEFINED" else sort


def _other_text(value: str | None, kind: str, chance: random.Random) -> str:
    """Return another text of a value: with one character changed, or as a number or a word that is near."""
    if not value:
        return "1"
    if kind == "bytes":
        at = chance.randrange(len(value))
        return value[:at] + chance.choice("0123456789abcxyz{") + value[at + 1 :]
    if value.lstrip("-").replace(".", "", 1).isdigit():
        return (
            str(float(value) + chance.choice([0.25, -0.25]))
            if "." in value
            else str(int(value) + chance.choice([1, -1]))
        )
    return {"true": "false", "false": "true"}.get(value) or str(_other(value, chance))


def _other(value: object, chance: random.Random) -> object:
    if isinstance(value, bool | int):
        return value + chance.choice([1, -1, 1000])
    if isinstance(value, float):
        return value + chance.choice([0.01, -0.2, 5])
    if isinstance(value, str) and value:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice("abcxyz{0") + value[at + 1 :] if chance.random() < 0.8 else value[:at]
    if isinstance(value, bytes) and value:
        return bytes([value[0] ^ 1]) + value[1:]
    return "x"


def _seen(path: Path | str, kind: str, where: str, truth: object) -> Seen:
    try:
        got, faults = answers(path)
    except PerdureError as error:
        try:
            with open_store(path) as memory:
                found = bool(memory.check(full=True))
        except PerdureError:
            found = True  # it does not even open, or the check itself refuses
        except Exception as second:  # noqa: BLE001  # whatever comes out of a door
            return Seen(kind, where, crash=repr(second)[:200])
        return Seen(kind, f"{where}: {type(error).__name__}", found=found)
    except Exception as error:  # noqa: BLE001  # whatever comes out of a door
        return Seen(kind, where, crash=repr(error)[:200])
    return Seen(kind, where, found=bool(faults), harmful=got != truth)


def main(count: int = 1000, seed: int = 1, *, server: bool = False, repair: bool = False) -> None:
    """Print a table."""
    memory = Path("/dev/shm")  # noqa: S108  # short-lived files
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        safe = Path(name) / "safe.db" if repair else None
        if server:
            show("database", SERVER_KINDS, list(server_damages(count, seed, safe)), seed)
            return
        original = Path(name) / "agent.db"
        fill(original)
        if safe is not None:
            backup(original, safe)
        seen = list(damages(original, Path(name), count, seed, safe))
    show("file", KINDS, seen, seed)


def show(what: str, kinds: tuple[str, ...], seen: list[Seen], seed: int) -> None:
    """Print what came of damages."""
    print(f"{len(seen)} damages to one {what}, seed {seed}")
    print(f"{'kind':8} {'harmful':>8} {'of them found':>14} {'harmless':>9} {'of them found':>14} {'crashes':>8}")
    for kind in kinds:
        those = [s for s in seen if s.kind == kind]
        harmful, harmless = [s for s in those if s.harmful], [s for s in those if not s.harmful]
        found = [sum(s.found for s in some) for some in (harmful, harmless)]
        crashes = sum(bool(s.crash) for s in those)
        print(f"{kind:8} {len(harmful):8} {found[0]:14} {len(harmless):9} {found[1]:14} {crashes:8}")
        for how, outcomes in (("alone", [s.alone for s in those]), ("from a backup", [s.repair for s in those])):
            if repairs := Counter(text.split(":")[0] for text in outcomes if text):
                print(f"  repaired {how}: {', '.join(f'{what} {number}' for what, number in repairs.items())}")
    for s in seen:
        if s.crash or (s.harmful and not s.found):
            print(f"  missed: {s}")
        for how, text in (("alone", s.alone), ("from a backup", s.repair)):
            if text not in ("", "whole"):
                print(f"  left {how}: {s.kind}, {s.where}: {text}")


if __name__ == "__main__":
    words = sys.argv[1:]
    numbers = (int(word) for word in words if not word.startswith("--"))
    main(*numbers, server="--server" in words, repair="--repair" in words)
