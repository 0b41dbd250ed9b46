"""Random damage to a store's file, and what comes of it: bits, bytes, pages, and rows edited by hand.

For each damage: whether a whole check names a fault (or the store refuses to open), whether anything that can be read
differs, and whether an error came out of a verb that is none of Perdure's. Usage: damage.py [how many] [seed].
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import apsw

import perdure
from perdure.records.errors import PerdureError

POLICY = {"preset": "facts", "embedder": {"model": "none"}}
KINDS = ("bit", "bytes", "page", "row")
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


def fill(path: Path) -> None:
    """Make a store with some of everything, and empty its write-ahead log."""
    with perdure.open(path, policy=POLICY, clock=_now) as memory:
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
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def answers(path: Path) -> tuple[object, list[str]]:
    """Return what can be read of a store, and the faults that a whole check names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with perdure.open(path, policy=POLICY, clock=_now) as memory:
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


def damages(original: Path, folder: Path, count: int, seed: int) -> Iterator[Seen]:
    """Damage copies of a file, each in one place, and yield what came of it."""
    chance = random.Random(seed)  # a seed repeats a run
    truth, _ = answers(original)
    for number in range(count):
        path = folder / "damaged.db"
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        shutil.copyfile(original, path)
        kind = KINDS[number % len(KINDS)]
        where = _row(path, chance) if kind == "row" else _bytes(path, kind, chance)
        yield _seen(path, kind, where, truth)


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


def _seen(path: Path, kind: str, where: str, truth: object) -> Seen:
    try:
        got, faults = answers(path)
    except PerdureError as error:
        try:
            with perdure.open(path, policy=POLICY, clock=_now) as memory:
                found = bool(memory.check(full=True))
        except PerdureError:
            found = True  # it does not even open, or the check itself refuses
        except Exception as second:  # noqa: BLE001  # whatever comes out of a door
            return Seen(kind, where, crash=repr(second)[:200])
        return Seen(kind, f"{where}: {type(error).__name__}", found=found)
    except Exception as error:  # noqa: BLE001  # whatever comes out of a door
        return Seen(kind, where, crash=repr(error)[:200])
    return Seen(kind, where, found=bool(faults), harmful=got != truth)


def main(count: int = 1000, seed: int = 1) -> None:
    """Print a table."""
    memory = Path("/dev/shm")  # noqa: S108  # short-lived files
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        original = Path(name) / "agent.db"
        fill(original)
        seen = list(damages(original, Path(name), count, seed))
    print(f"{count} damages to one file, seed {seed}")
    print(f"{'kind':8} {'harmful':>8} {'of them found':>14} {'harmless':>9} {'of them found':>14} {'crashes':>8}")
    for kind in KINDS:
        those = [s for s in seen if s.kind == kind]
        harmful, harmless = [s for s in those if s.harmful], [s for s in those if not s.harmful]
        found = [sum(s.found for s in some) for some in (harmful, harmless)]
        crashes = sum(bool(s.crash) for s in those)
        print(f"{kind:8} {len(harmful):8} {found[0]:14} {len(harmless):9} {found[1]:14} {crashes:8}")
    for s in seen:
        if s.crash or (s.harmful and not s.found):
            print(f"  missed: {s}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
