"""The tables of a server: which they must be, bringing them up to date, and spreading them over a cluster."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import psycopg

from perdure.records.damage import Fault
from perdure.records.errors import (
    NotAStore,
    PerdureError,
    StoreDamaged,
    StoreDenied,
    StoreError,
    StoreTooNew,
    StoreTooOld,
)
from perdure.records.installation import how_to_upgrade
from perdure.stores.postgres import distribution
from perdure.stores.postgres.distribution import ON_CLUSTER, ON_SERVER, Say, migration_steps, tables
from perdure.stores.postgres.faults import COLLIDED, first_line, translate_error
from perdure.stores.postgres.server import COLLISIONS, Address, Connection, connect
from perdure.stores.statements import migrations, registry

Schema = Mapping[tuple[str, str], str]  # (what, name) -> how it is

_ACTS: Final = {"trigger", "rule", "policy", "function", "constraint"}
"""What acts on statements: of these nothing may be there that a new store lacks."""
_NEEDED: Final = {"meta", "space", "content", "operation", "journal"}
"""Tables of which nothing else has what they held; the others are made anew, and filled as far as others say it."""
_MISSING: Final = "is missing"
_LOST: Final = "is missing, and only a backup has what it held"
_NEAR: Final = "embedding.embedding_near_"
"""How the names of indexes for approximate search begin; maintenance makes them."""
_WORD: Final = re.compile(r"[\w'.-]+|[=<>!~]+")
_ALIAS: Final = re.compile(r"\bAS \w+|::\w+")
_CREATE: Final = re.compile(r"CREATE (?:UNIQUE )?(INDEX|POLICY) (\w+) ON (\w+)")
_ABOUT: Final = re.compile(r"(?:CREATE TABLE|ALTER TABLE|CREATE (?:UNIQUE )?(?:INDEX|POLICY) \w+ ON) (\w+)")


def schema_of(rows: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], str]:
    """Return a schema from the rows of the statement ``schema``; versions of PostgreSQL write the same alike."""
    return {(kind, name): _words_of(body) for kind, name, body in rows}


def _words_of(body: str) -> str:
    return " ".join(_WORD.findall(_ALIAS.sub("", body)))


@cache
def new_schema(*, distributed: bool = False) -> Schema:
    """Return the schema of a new store on one server, or over a cluster, where policies say the same in other words."""
    text = (files("perdure.stores") / "sql" / "postgres" / "schema.json").read_text("utf-8")
    rows = [(kind, name, body) for kind, name, body in json.loads(text)]
    return {(kind, name): _on_cluster(body) if distributed and kind == "policy" else body for kind, name, body in rows}


def _on_cluster(policy: str) -> str:
    for slot, condition in ON_SERVER.items():
        policy = policy.replace(_words_of(condition), _words_of(ON_CLUSTER[slot]))
    return policy


def differences(found: Schema, *, distributed: bool) -> Iterator[Fault]:
    """Yield where a schema differs from a new store's.

    Tables and indexes of others may stand beside ours, but nothing of others on our tables acts on what is written.
    """
    expected = new_schema(distributed=distributed)
    lost = {name for kind, name in expected.keys() - found.keys() if kind == "table"}
    for kind, name in sorted(expected.keys() - found.keys(), key=lambda key: (key[0] != "table", key)):
        if kind == "table" or name.split(".", maxsplit=1)[0] not in lost:
            needs_backup = name in _NEEDED if kind == "table" else kind == "column"
            yield _fault(kind, name, _LOST if needs_backup else _MISSING)
    for (kind, name), body in found.items():
        if (kind, name) not in expected:
            if _is_foreign(kind, name, distributed=distributed):
                yield _fault(kind, name, "is not Perdure's")
        elif body != expected[kind, name]:
            yield _fault(kind, name, "is not as Perdure made it")


def _is_foreign(kind: str, name: str, *, distributed: bool) -> bool:
    if kind == "function":
        return True
    ours = name.split(".", maxsplit=1)[0] in tables()
    if kind in _ACTS or kind == "column":
        return ours and not (distributed and kind == "trigger")
    return kind == "index" and ours and not name.startswith(_NEAR)


def _fault(kind: str, name: str, how: str) -> Fault:
    return Fault("server" if how == _LOST else "schema", f"The {kind} {name} {how}.", columns=(kind, name))


def remedies(faults: Iterable[Fault], *, distributed: bool) -> list[str]:
    """Return the statements that make a schema a new store's again, as far as that needs no data."""
    steps = [step for _, text in migrations("postgres") for step in migration_steps(text, distributed=distributed)]
    created = {(m[1].lower(), f"{m[3]}.{m[2]}"): step for step in steps if (m := _CREATE.match(step))}
    found: list[str] = []
    for fault in faults:
        if len(fault.columns) != 2 or fault.part != "schema":  # noqa: PLR2004  # what and name
            continue
        kind, name = fault.columns
        table, _, own = name.partition(".")
        quoted = own.replace('"', '""')
        is_there = _MISSING not in fault.message
        if kind == "table" and not is_there:
            found += [] if name in _NEEDED else [step for step in steps if (m := _ABOUT.match(step)) and m[1] == name]
            continue
        if kind in ("trigger", "rule", "policy") and is_there:
            found.append(f'DROP {kind} "{quoted}" ON "{table}"')
        if kind == "index" and is_there:
            found.append(f'DROP INDEX "{quoted}"')
        if (kind, name) in created:
            found.append(created[kind, name])
        if kind == "table" and tables().get(table):
            found += [f'ALTER TABLE "{table}" {how} ROW LEVEL SECURITY' for how in ("ENABLE", "FORCE")]
    return found


OLDEST_SERVER: Final = 140_000
OLDEST_VECTOR: Final = (0, 8)  # pgvector 0.8 brought iterative scans; 0.7 the type halfvec


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """What was found when the store was opened."""

    version: int  # number of the schema
    read_only: bool  # the server takes no writes
    unfenced: bool  # the role is not held to row-level security: the second fence does not stand


def newest() -> int:
    """Return the number of this version's schema."""
    return migrations("postgres")[-1][0]


def check_schema(address: Address) -> SchemaStatus:
    """Look at the tables, and refuse those that this version cannot use.

    A newer schema is accepted if it says that this version may go on with it, so that a service can be upgraded one
    process after another.

    Raises:
        StoreTooOld: Tables are missing or old.
        StoreTooNew: They are newer than this version knows.
    """
    with connect(address) as connection:
        try:
            version, oldest = _versions(connection)
            has_tables = connection.execute(_text("has_tables")).fetchone() == (True,)
            read_only, unfenced = connection.execute(_text("server_status")).fetchone() or (True, True)
        except psycopg.Error as error:
            raise _refusal(error) from error
    if version == 0:
        if has_tables:
            raise _without_meta()
        raise StoreTooOld(
            f"{address.shown} has no Perdure tables.", remedy="Run `perdure migrate` with the same URL once."
        )
    if version < newest():
        raise StoreTooOld(
            f"{address.shown} has schema {version}; this version needs {newest()}.",
            remedy="Run `perdure migrate` with the same URL; processes of the previous version can keep running.",
        )
    _refuse_newer(version, oldest, address.shown)
    return SchemaStatus(version, bool(read_only), bool(unfenced))


def migrate(address: Address, *, say: Say = lambda _: None, distribute: bool = False) -> int:
    """Bring a server's tables to this version's schema; safe to run twice, and by several processes at once.

    Tables that lie over a Citus cluster stay so, and those that this version adds are spread like them. The role of the
    address becomes the tables' owner. ``distribute`` spreads them over a Citus cluster besides.

    Raises:
        StoreTooNew: The tables are newer than this version knows.
        StoreError: The extension vector, or for ``distribute`` citus, is missing.
    """
    with connect(address) as connection:
        try:
            _check_server(connection)
            _check_vector(connection)
            applied = _run_again(lambda: _run_migrations(connection, address, say, distribute=distribute))
            if (connection.execute(_text("server_status")).fetchone() or (False, False))[1]:
                say("Note: this role bypasses row-level security. Use a role that is not a superuser.")
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreDenied(
                f"The role has no permission to create or change tables ({first_line(error)}).",
                remedy="Migrate as the role that owns the tables; where there are none yet, "
                "have the schema's owner run `GRANT CREATE ON SCHEMA public TO role`.",
            ) from error
        except psycopg.Error as error:
            raise _refusal(error) from error
    return applied


def _run_again(migration: Callable[[], int]) -> int:
    """Run a migration, and again where its transaction met another one, such as that of another schema on a cluster."""
    for tries in range(COLLISIONS):
        try:
            return migration()
        except psycopg.Error as error:
            if error.sqlstate not in COLLIDED:
                raise
            time.sleep(0.02 * tries)
    return migration()


def _refusal(error: psycopg.Error) -> PerdureError:
    if isinstance(error, psycopg.errors.UndefinedColumn):
        return _not_ours()
    return translate_error(error)


def _without_meta() -> StoreDamaged:
    return StoreDamaged(
        "The table meta, which says of which version the others are, is lost or empty.",
        remedy="Restore a backup; nothing was changed.",
    )


def _not_ours() -> NotAStore:
    return NotAStore(
        "The table meta in this database is not Perdure's.",
        remedy="Use a separate database or schema (?options=-csearch_path%3Dperdure,public).",
    )


def _run_migrations(connection: Connection, address: Address, say: Say, *, distribute: bool) -> int:
    """Run the migrations that are missing in one transaction; the table `meta` keeps other processes waiting."""
    for _ in range(20):
        try:
            connection.execute(_text("create_meta"))
            break
        except (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateTable):
            continue  # another process was making it at the same moment
    with connection.transaction():
        connection.execute(_text("lock_meta"))
        connection.execute(_text("seed_meta"))
        found, oldest = _versions(connection)
        if found == 0 and connection.execute(_text("has_tables")).fetchone() == (True,):
            raise _without_meta()
        _refuse_newer(found, oldest, address.shown)
        missing = [(number, sql) for number, sql in migrations("postgres") if number > found]
        distributed = distribution.is_distributed(connection)
        for number, sql in missing:
            for step in migration_steps(sql, distributed=distributed):
                connection.execute(step)
            connection.execute(_text("set_schema"), {"number": str(number)})
            say(f"schema {number}")
        if distributed or distribute:
            distribution.distribute(connection, say)
    return len(missing)


def _versions(connection: Connection) -> tuple[int, int]:
    """Return the schema's number, 0 for none, and the oldest version of the schema that its users may know."""
    if connection.execute(_text("has_meta")).fetchone() != (True,):
        return 0, 0
    return _versions_of(connection.execute(_text("read_meta")).fetchall())


def is_later(connection: Connection) -> bool:
    """Whether a later version has upgraded the tables."""
    return _versions(connection)[0] > newest()


def check_meta(rows: Iterable[tuple[Any, ...]]) -> None:
    """Refuse to write where a newer version has upgraded the tables since the store was opened, and lets no older in.

    Raises:
        StoreTooNew: So it is; the caller rolls back.
    """
    _refuse_newer(*_versions_of(rows), "The store")


def _refuse_newer(version: int, oldest: int, shown: str) -> None:
    if version > newest() and oldest > newest():
        raise StoreTooNew(
            f"{shown} has schema {version}; this Perdure supports up to {newest()}.",
            remedy=f"{how_to_upgrade()}; nothing was changed.",
        )


def _versions_of(pairs: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
    rows: dict[Any, Any] = dict(pairs)
    number, oldest = str(rows.get("schema", 0)), str(rows.get("oldest", rows.get("schema", 0)))
    if not (number.isdecimal() and oldest.isdecimal()):
        raise _not_ours()
    return int(number), int(oldest)


def _check_server(connection: Connection) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreError(
            f"The database's encoding is {encoding}; memories are Unicode.",
            remedy="Create a database with `createdb --encoding=UTF8 --template=template0`.",
        )
    if connection.info.server_version < OLDEST_SERVER:
        raise StoreError(
            f"The server is PostgreSQL {connection.info.server_version // 10000}; Perdure needs 14 or newer.",
            remedy="Upgrade the server.",
        )


def _check_vector(connection: Connection) -> None:
    remedy = "Have its operator install pgvector 0.8 or newer and run `CREATE EXTENSION vector` in this database."
    found = connection.execute(_text("vector_version")).fetchone()
    if found is None:
        try:
            connection.execute(_text("create_vector"))
        except psycopg.Error as error:
            raise StoreError(
                f"The extension vector is missing, and this role cannot create it ({first_line(error)}).", remedy=remedy
            ) from error
        found = connection.execute(_text("vector_version")).fetchone()
    version = tuple(int(n) for n in str(found[0] if found else "0.0").split(".")[:2])
    if version < OLDEST_VECTOR:
        raise StoreError(f"pgvector is {version[0]}.{version[1]}; Perdure needs 0.8 or newer.", remedy=remedy)


def _text(name: str) -> str:
    return registry("postgres")[name].sql.replace(":number", "%(number)s")
