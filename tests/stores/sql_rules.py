"""The rules that every store's SQL keeps, as functions that return what a text breaks.

1. The namespace comes first in every key, and a row never changes it.
2. A routed statement is tied to one namespace in every table it touches; a fan-out only reads; what is left is about
   the database itself.
3. Clock, ids and randomness are parameters.
4. Nothing fires by itself, nothing counts by itself, and nothing leans on one engine's locks or storage.
5. What Citus refuses does not occur: a sub-select in a policy, an insert of a list that reads no distributed table (it
   would go through the coordinator by COPY, which row-level security forbids), several statements in one text, an
   outer join of a fan-out that keeps the rows of what is no table of namespaces (it crashes). Nor does a sub-select
   that has its namespace from the row around it: Citus would ask every node. Nor does what asks a node for each piece
   of a table: a node that is down would be waited for as often.
"""

from __future__ import annotations

import logging
import re
from functools import cache
from importlib.resources import files

import sqlglot
from sqlglot import exp

from perdure.stores.postgres.distribution import migration_steps
from perdure.stores.rows import CONTENT_COLUMNS, MEMORY_COLUMNS
from perdure.stores.statements import fill_filters, migrations, registry, with_columns

FOLDER = files("perdure.stores") / "sql"
ENGINES = sorted(item.name for item in FOLDER.iterdir() if (item / "statements.sql").is_file())

GLOBAL = {"meta", "space", "token", "login"}
"""Tables of the whole database: they hold nothing of any namespace."""

OWN_KEYS = {"sqlite": {("memory", "row"), ("content", "row"), ("operation", "number")}}
"""Keys that are addresses or an order inside one file; identity is (namespace, id) all the same."""

ACROSS = {"sqlite": {"total_rows", "set_asks", "note_last_row"}, "postgres": {"create_near_index"}}
"""Statements of the database itself that name a table with a namespace: a count of the whole file; what a repair counts
anew for each row, and the last row that was used; an index."""

UNREADABLE = {"sqlite": re.compile(r"CREATE VIRTUAL TABLE (words|vocabulary) USING .*?;|WITHOUT ROWID", re.DOTALL)}
"""What sqlglot cannot read: the two FTS5 tables of SQLite, by name, which have no namespace column; and where a table
keeps its rows, which no rule is about."""

COUNTED = {"sqlite": {"memory"}}
"""Tables whose addresses are never used twice (AUTOINCREMENT); the store itself says which one comes next."""

COMMANDS = {
    "postgres": re.compile(
        r"CREATE EXTENSION IF NOT EXISTS vector|ALTER TABLE \w+ (ENABLE|(NO )?FORCE) ROW LEVEL SECURITY"
        r"|CREATE POLICY \w+ ON .*|LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE",
        re.DOTALL,
    )
}
"""What sqlglot takes as it is, without parsing: the only texts of this sort that may be."""

CONTENT_WRITTEN = (*CONTENT_COLUMNS, "text", "packed")
"""What the statement that rewrites contents may set."""

SAMPLES = {"{dimensions}": "64", "{index}": "embedding_a", "{place}": "'a'", "{space}": "1"}
SAMPLES |= {"{table}": "lost", "{columns}": "id", "{values}": "id", "{column}": "id"}
"""What stands in slots that a store fills with a number or a name of its own."""

NO_CLOCK = re.compile(
    r"\b(now|random|randomblob|gen_random_uuid|uuid_generate_v\d\w*|uuidv?[47]|nextval|currval|lastval|clock_timestamp"
    r"|statement_timestamp|transaction_timestamp|timeofday|julianday|unixepoch|strftime|datetime|date|time|timediff"
    r"|last_insert_rowid|changes|total_changes|txid_current\w*|pg_current_xact_id\w*)\s*\("
    r"|\b(current_(timestamp|date|time)|localtime(stamp)?)\b|'(now|today|tomorrow|yesterday)'",
    re.IGNORECASE,
)
NOT_PORTABLE = re.compile(
    r"\b(TRIGGER|SEQUENCE|(SMALL|BIG)?SERIAL\d?|IDENTITY|MERGE|RECURSIVE|LISTEN|UNLISTEN|NOTIFY|pg_notify"
    r"|pg_(try_)?advisory\w*|(int4|int8|num|ts|tstz|date)(multi)?range|INSERT\s+OR|REPLACE\s+INTO|CREATE\s+RULE"
    r"|(FUNCTION|PROCEDURE)\s+\w+)\b|\bWITH\s*\(\s*\w+\s*=|\bSET\s*\(\s*\w+\s*=",
    re.IGNORECASE,
)
PLANNER = re.compile(r"^\s*SET\s+(?!LOCAL\b)|\bset_config\s*\((?![^)]*,\s*true\s*\))", re.IGNORECASE | re.MULTILINE)
PIECEMEAL = re.compile(r"\b(run_command_on_\w*(placements|shards)|citus_\w*(relation|table)_size)\s*\(", re.IGNORECASE)
_TEXT = re.compile(r"'(?:[^']|'')*'")
_COMMENT = re.compile(r"--[^\n]*")


logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it cannot read is refused here, not told


@cache
def statements(engine: str) -> dict[str, tuple[str, str]]:
    """Return name -> (kind, text) of every statement, its slots filled with all that may fill them."""
    known = registry(engine)
    filters = tuple(name for name, s in known.items() if s.kind == "part" and name.startswith("filter_"))
    news = [name for name, s in known.items() if s.kind == "part" and name not in filters]
    found = {}
    for name, statement in known.items():
        if statement.kind == "part":
            continue
        sql = statement.sql
        if "{filters}" in sql:
            sql = fill_filters(engine, name, filters)
        elif "{sets:" in sql or "{after:" in sql:
            types = tuple((column, "text") for column in MEMORY_COLUMNS)
            chosen = CONTENT_WRITTEN if name == "update_content" else MEMORY_COLUMNS
            told = news[0] if news and name == "update_memory" else ""
            sql = with_columns(engine, name, chosen, chosen, told, types)
        for slot, sample in SAMPLES.items():
            sql = sql.replace(slot, sample)
        found[name] = (statement.kind, sql)
    return found


@cache
def namespaced(engine: str) -> frozenset[str]:
    """Return the tables that have a namespace column."""
    return frozenset(
        create.this.this.name
        for _, sql in migrations(engine)
        for create in _creates(sql, engine)
        if create.kind == "TABLE" and "namespace" in _columns(create)
    )


def broken_statement(engine: str, name: str, kind: str, sql: str) -> list[str]:
    """Return what one statement breaks."""
    tree, *more = _parsed(sql, engine)
    if more or _unread(tree, engine):
        return ["it is not one statement that can be read"]
    found = [*_words(sql), *_moved(tree), *_unkeyed(tree, engine)]
    if engine == "postgres":
        found += _pulled(tree)
        found += ["it asks a node for each piece of a table"] if PIECEMEAL.search(sql) else []
    if kind == "routed":
        found += _untied(tree, engine)
        found += _asked_of_all(tree) if engine == "postgres" else []
    elif kind == "fan-out":
        if not isinstance(tree, exp.Query) or any(tree.find_all(exp.Insert, exp.Update, exp.Delete, exp.Lock)):
            found.append("a fan-out writes or locks")
        found += _kept(tree) if engine == "postgres" else []
    elif kind == "admin":
        used = {t.name for t in tree.find_all(exp.Table)} & namespaced(engine)
        if used and name not in ACROSS.get(engine, ()):
            found.append(f"what is about the database touches {sorted(used)}")
    else:
        found.append(f"{kind} is no kind")
    return found


def broken_migration(engine: str, sql: str) -> list[str]:
    """Return what one migration breaks."""
    found = _words(_readable(sql, engine))
    if engine == "postgres":
        found += _refused_by_citus(sql)
    for tree in _parsed(_readable(sql, engine), engine):
        if _unread(tree, engine):
            found.append(f"it cannot be read: {tree.sql(comments=False)[:60]}")
        elif isinstance(tree, exp.Create) and tree.kind == "INDEX":
            found += _index(tree)
        elif isinstance(tree, exp.Create | exp.Alter):
            found += _keys(tree, engine)
    return found


# --- rule 1: keys


def _keys(tree: exp.Create | exp.Alter, engine: str) -> list[str]:
    table = tree.find(exp.Table)
    name = table.name if table else ""
    if name in GLOBAL:
        return []
    found = []
    if isinstance(tree, exp.Create) and tree.kind == "TABLE" and "namespace" not in _columns(tree):
        found.append(f"{name} has no namespace")
    if tree.find(exp.AutoIncrementColumnConstraint) and name not in COUNTED.get(engine, ()):
        found.append(f"{name} counts by itself")
    for key in tree.find_all(
        exp.PrimaryKey, exp.UniqueColumnConstraint, exp.ForeignKey, exp.PrimaryKeyColumnConstraint
    ):
        columns = _key_columns(key)
        if columns[:1] != ["namespace"] and (name, *columns) not in OWN_KEYS.get(engine, ()):
            found.append(f"{name}: a key on {columns} does not begin with the namespace")
    for reference in tree.find_all(exp.Reference):
        target = reference.this
        columns = [c.name for c in target.expressions] if isinstance(target, exp.Schema) else []
        if columns[:1] != ["namespace"] and target.find(exp.Table).name not in GLOBAL:
            found.append(f"{name}: a reference to {columns} does not begin with the namespace")
    return found


def _key_columns(key: exp.Expression) -> list[str]:
    column = key.find_ancestor(exp.ColumnDef)
    if column is not None:
        return [column.name]
    holder = key.this if isinstance(key, exp.UniqueColumnConstraint) and key.this is not None else key
    return [_plain(c) for c in holder.expressions]


def _plain(column: exp.Expression) -> str:
    inner = column.find(exp.Identifier)
    return inner.name if inner is not None else ""


def _index(tree: exp.Create) -> list[str]:
    table = tree.this.args["table"].name
    params = tree.this.args["params"]
    columns = [_plain(c) for c in params.args.get("columns") or ()]
    if tree.args.get("unique") and columns[:1] != ["namespace"] and table not in GLOBAL:
        return [f"{table}: a unique index on {columns} does not begin with the namespace"]
    return []


def _unkeyed(tree: exp.Expression, engine: str) -> list[str]:
    """What an insert into a table with a namespace must do: name it first, and know its conflicts by it."""
    found = []
    for insert in tree.find_all(exp.Insert):
        target = insert.this
        table = target.find(exp.Table).name
        if table not in namespaced(engine):
            continue
        columns = [c.name for c in target.expressions] if isinstance(target, exp.Schema) else []
        if columns[:1] != ["namespace"]:
            found.append(f"an insert into {table} does not name the namespace first")
        conflict = insert.args.get("conflict")
        keys = [_plain(k) for k in (conflict.args.get("conflict_keys") or ())] if conflict else []
        if keys and keys[0] != "namespace":
            found.append(f"a conflict on {keys} does not begin with the namespace")
    return found


def _moved(tree: exp.Expression) -> list[str]:
    """A row never changes its namespace."""
    for setter in tree.find_all(exp.Update, exp.OnConflict):
        for one in setter.expressions:
            if isinstance(one, exp.EQ) and "namespace" in [
                c.name for c in one.this.find_all(exp.Column, exp.Identifier)
            ]:
                return ["it sets the namespace"]
    return []


# --- rule 2: one namespace


Places = dict[int, list[tuple[str, str]]]
"""Block -> (alias, table) of the tables with a namespace that it names itself."""


def _untied(tree: exp.Expression, engine: str) -> list[str]:
    """Name the tables that no equality leads from to the one parameter that is the namespace."""
    blocks = [b for b in tree.find_all(exp.Select, exp.Update, exp.Delete, exp.Insert) if not _is_conflict(b)]
    places: Places = {id(b): _tables(b, engine) for b in blocks}
    ties, names = [], []
    for block in blocks:
        for test, only in _tests(block):
            ends = [_end(block, side, places) for side in (test.this, test.expression)]
            if None not in ends and ends != ["parameter", "parameter"]:
                names += [side.name for side in (test.this, test.expression) if _is_parameter(side)]
                ties += [(one, to) for one, to in (ends, ends[::-1]) if _own(one, block, only)]
        if isinstance(block, exp.Insert):
            ties += _inserted(block, places, names)
    tied: set[object] = {"parameter"}
    while more := {one for one, to in ties if to in tied} - tied:
        tied |= more
    loose = [f"{table} as {alias}" for b in blocks for alias, table in places[id(b)] if (id(b), alias) not in tied]
    found = [f"not tied to the namespace: {', '.join(loose)}"] if loose else []
    if not names:
        found.append("it names no namespace")
    elif len(set(names)) > 1 or (names[0] in ("", "?") and len(names) > 1):
        found.append(f"it names more than one namespace: {sorted(set(names))}")
    return found


def _own(end: object, block: exp.Expression, only: str | None) -> bool:
    """Whether a test can tie a table: it is the block's own, and the joined one where the join keeps other rows."""
    return isinstance(end, tuple) and end[0] == id(block) and only in (None, end[1])


def _end(block: exp.Expression, value: exp.Expression, places: Places) -> object:
    """Return what one side of an equality is, where it speaks of a namespace: a parameter, or a table reference."""
    if _is_parameter(value):
        return "parameter"
    is_place = isinstance(value, exp.Column) and value.name == "namespace"
    return _resolved(block, value, places) if is_place else None


def _is_parameter(value: exp.Expression) -> bool:
    return isinstance(value, exp.Placeholder | exp.Parameter)


def _inserted(insert: exp.Insert, places: Places, names: list[str]) -> list[tuple[object, object]]:
    """Tie the target to what is inserted as its namespace: a parameter, or the namespace of a row that is read."""
    source = insert.expression
    rows = source.expressions if isinstance(source, exp.Values) else [source]
    firsts = [row.expressions[0].unalias() for row in rows if row.expressions]
    ends = [_end(source, first, places) for first in firsts]
    names += dict.fromkeys(first.name for first in firsts if _is_parameter(first))
    targets = [(id(insert), alias) for alias, _ in places[id(insert)]]
    return [(target, ends[0]) for target in targets if len(set(ends)) == 1 and ends[0] is not None]


def _is_conflict(block: exp.Expression) -> bool:
    return block.find_ancestor(exp.OnConflict) is not None and isinstance(block, exp.Update)


def _block_of(node: exp.Expression) -> exp.Expression | None:
    return node.find_ancestor(exp.Select, exp.Update, exp.Delete, exp.Insert)


def _tables(block: exp.Expression, engine: str) -> list[tuple[str, str]]:
    """Return (alias, table) of the tables with a namespace that a block itself names; not its subqueries."""
    own = [t for t in block.find_all(exp.Table) if _block_of(t) is block]
    return [(t.alias_or_name, t.name) for t in own if t.name in namespaced(engine)]


def _tests(block: exp.Expression) -> list[tuple[exp.EQ, str | None]]:
    """Return the equalities that must hold in a block, where AND joins them: its WHERE, and its joins.

    With each comes the table that it limits, where it limits only one: an outer join keeps the rows of the others.
    """
    where = block.args.get("where")
    conditions = [(where.this, None)] if where is not None else []
    joins = [j for j in block.find_all(exp.Join) if j.args.get("on") is not None and _block_of(j) is block]
    conditions += [(j.args["on"], j.this.alias_or_name if j.side else None) for j in joins]
    flat = [(part, only) for c, only in conditions for part in (c.flatten() if isinstance(c, exp.And) else [c])]
    return [(part.unnest(), only) for part, only in flat if isinstance(part.unnest(), exp.EQ)]


def _resolved(block: exp.Expression | None, column: exp.Column, places: Places) -> object:
    """Return the table reference that a namespace column belongs to, looking outward from its block."""
    while block is not None:
        here = places.get(id(block), [])
        if column.table:
            if column.table in [alias for alias, _ in here]:
                return id(block), column.table
        elif here:
            return (id(block), here[0][0]) if len(here) == 1 else None
        block = _block_of(block)
    return None


# --- rule 5: what a cluster refuses


def _pulled(tree: exp.Expression) -> list[str]:
    """Name the inserts that no worker can run by itself: their rows come from no distributed table."""
    found = []
    for insert in tree.find_all(exp.Insert):
        source, table = insert.expression, insert.this.find(exp.Table).name
        if not isinstance(source, exp.Select) or table not in namespaced("postgres"):
            continue
        first = source.expressions[0].unalias()
        read = {alias for alias, _ in _tables(source, "postgres")}
        if not (isinstance(first, exp.Column) and first.name == "namespace" and first.table in read):
            found.append(f"the insert into {table} takes the namespace from no distributed table")
    return found


def _asked_of_all(tree: exp.Expression) -> list[str]:
    """Name the sub-selects that take the namespace from the row around them, for which Citus asks every node.

    An EXISTS that AND joins to the rest of a WHERE becomes a join, and may.
    """
    found = []
    for block in tree.find_all(exp.Select):
        if _block_of(block) is None or isinstance(block.parent, exp.Insert) or _is_joined(block):
            continue
        sides = [{_name_of(side) for side in (test.this, test.expression)} for test, _ in _tests(block)]
        if _tables(block, "postgres") and {"namespace", ":"} not in sides:
            found.append(f"every node is asked for the sub-select {block.sql()[:60]}")
    return found


def _name_of(side: exp.Expression) -> str:
    return ":" if _is_parameter(side) else side.name


def _is_joined(block: exp.Expression) -> bool:
    above = block.parent
    if not isinstance(above, exp.Exists):
        return False
    while isinstance(above, exp.Exists | exp.Not | exp.And | exp.Paren):
        above = above.parent
    return isinstance(above, exp.Where)


def _kept(tree: exp.Expression) -> list[str]:
    """Name what outer joins keep beside tables that are distributed: a sub-select there crashes the coordinator."""
    kept = [join.parent.args["from_"].this for join in tree.find_all(exp.Join) if join.side]
    return [f"an outer join keeps {one.sql()[:40]}" for one in kept if one.name not in namespaced("postgres")]


def _refused_by_citus(sql: str) -> list[str]:
    found = []
    for step in migration_steps(sql, distributed=True):
        if len(_parsed(step, "postgres")) != 1:
            found.append(f"more than one statement: {step[:60]}")
        if re.match(r"(CREATE|ALTER) POLICY\b", step) and re.search(r"\bSELECT\b", step.partition("USING")[2]):
            found.append(f"a sub-select in a policy: {step[:60]}")
    return found


# --- rules 3 and 4: words that must not occur


SERVER_CLOCK = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"
"""The one text that asks for the time: a machine's wrong clock is known by it, and nothing is dated by it."""


def _words(sql: str) -> list[str]:
    bare = _COMMENT.sub("", sql).replace(SERVER_CLOCK, "")
    found = [f"clock, ids or randomness: {m[0]}" for m in NO_CLOCK.finditer(bare)]
    found += [f"not portable: {m[0]}" for m in NOT_PORTABLE.finditer(_TEXT.sub("''", bare))]
    return found + [f"a setting that outlives the transaction: {m[0]}" for m in PLANNER.finditer(bare)]


# --- reading


def _parsed(sql: str, engine: str) -> list[exp.Expression]:
    return [tree for tree in sqlglot.parse(sql, dialect=engine) if tree is not None]


def _unread(tree: exp.Expression, engine: str) -> bool:
    known = COMMANDS.get(engine)
    return isinstance(tree, exp.Command) and not (known and known.fullmatch(tree.sql(comments=False)))


def _readable(sql: str, engine: str) -> str:
    return UNREADABLE[engine].sub("", sql) if engine in UNREADABLE else sql


def _creates(sql: str, engine: str) -> list[exp.Create]:
    return [t for t in _parsed(_readable(sql, engine), engine) if isinstance(t, exp.Create)]


def _columns(create: exp.Create) -> list[str]:
    return [c.name for c in create.this.expressions if isinstance(c, exp.ColumnDef)]
