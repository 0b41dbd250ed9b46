"""What the tables of a server must be: as a new store has them, and in which ways a server's differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from perdure.records.damage import Fault
from perdure.stores.postgres.distribution import migration_steps, tables
from perdure.stores.statements import migrations

Schema = Mapping[tuple[str, str], str]
"""(what, name) -> how it is."""

_ACTS: Final = {"trigger", "rule", "policy", "function", "constraint"}
"""What acts on statements: of these nothing may be there that a new store lacks."""
_NEAR: Final = "embedding.embedding_near_"
"""How the names of indexes for approximate search begin; maintenance makes them."""
_WORD: Final = re.compile(r"[\w'.-]+|[=<>!~]+")
_ALIAS: Final = re.compile(r"\bAS \w+|::\w+")
_MADE: Final = re.compile(r"CREATE (?:UNIQUE )?(INDEX|POLICY) (\w+) ON (\w+)")


def schema_of(rows: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], str]:
    """Return a schema from the rows of the statement ``schema``; versions of PostgreSQL write the same alike."""
    return {(what, name): " ".join(_WORD.findall(_ALIAS.sub("", body))) for what, name, body in rows}


@cache
def new_schema() -> Schema:
    """Return the schema of a new store on one server."""
    text = (files("perdure.stores") / "sql" / "postgres" / "schema.json").read_text("utf-8")
    return {(what, name): body for what, name, body in json.loads(text)}


def differences(found: Schema, *, distributed: bool) -> Iterator[Fault]:
    """Yield where a schema differs from a new store's.

    Tables and indexes of others may stand beside ours, but nothing of others on our tables acts on what is written.
    On a cluster policies are written in another way, and are told by their names.
    """
    expected = new_schema()
    for what, name in expected.keys() - found.keys():
        yield _fault(what, name, "is missing")
    for (what, name), body in found.items():
        if (what, name) not in expected:
            if _is_foreign(what, name, distributed=distributed):
                yield _fault(what, name, "is not Perdure's")
        elif body != expected[what, name] and not (distributed and what in ("policy", "table")):
            yield _fault(what, name, "is not as Perdure made it")


def _is_foreign(what: str, name: str, *, distributed: bool) -> bool:
    if what == "function":
        return True
    ours = name.split(".", maxsplit=1)[0] in tables()
    if what in _ACTS or what == "column":
        return ours and not (distributed and what == "trigger")
    return what == "index" and ours and not name.startswith(_NEAR)


def _fault(what: str, name: str, how: str) -> Fault:
    return Fault("schema", f"The {what} {name} {how}.", columns=(what, name))


def remedies(faults: Iterable[Fault], *, distributed: bool) -> list[str]:
    """Return the statements that make a schema a new store's again, as far as that needs no data."""
    steps = [step for _, text in migrations("postgres") for step in migration_steps(text, distributed=distributed)]
    made = {(m[1].lower(), f"{m[3]}.{m[2]}"): step for step in steps if (m := _MADE.match(step))}
    found: list[str] = []
    for fault in faults:
        if len(fault.columns) != 2 or fault.part != "schema":  # noqa: PLR2004  # what and name
            continue
        what, name = fault.columns
        table, _, own = name.partition(".")
        quoted = own.replace('"', '""')
        is_there = not fault.message.endswith("is missing.")
        if what in ("trigger", "rule", "policy") and is_there:
            found.append(f'DROP {what} "{quoted}" ON "{table}"')
        if what == "index" and is_there:
            found.append(f'DROP INDEX "{quoted}"')
        if (what, name) in made:
            found.append(made[what, name])
        if what == "table" and tables().get(table):
            found += [f'ALTER TABLE "{table}" {how} ROW LEVEL SECURITY' for how in ("ENABLE", "FORCE")]
    return found
