"""Writes what a new store's schema is on a server, from a fresh one: run it after a migration was added."""

from __future__ import annotations

import json
from importlib.resources import files

import servers
from perdure.stores.postgres.schema import schema_of
from perdure.stores.statements import registry

if __name__ == "__main__":
    with servers.reader(servers.fresh_database()) as connection:
        found = schema_of(connection.execute(registry("postgres")["schema"].sql).fetchall())
    rows = ",\n".join(json.dumps([*key, body]) for key, body in sorted(found.items()))
    path = files("perdure.stores") / "sql" / "postgres" / "schema.json"
    path.write_text(f"[\n{rows}\n]\n", "utf-8")
