"""A store of an earlier schema is brought up to date with all that it holds; what it lacked gets sensible values."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest

from conftest import START, Clock, HashEmbedder, edit, on_a_file, opened, servers
from perdure.compose import is_server, migrate
from perdure.records.memory import Form
from perdure.stores.sqlite.lines import add_functions
from perdure.stores.statements import migrations

LONG = "the deploy of the harbour server moved to Tuesday because of the marathon"
NEW_STATE = (
    *("strength", "level", "strength_ms", "stability", "difficulty", "form", "form_ms", "firm", "tokens", "decayed"),
    *("decayed_ms", "sort"),
)
LATER = (*NEW_STATE, "shown", "digests")
POLICY = {"preset": "tiered", "embedder": {"model": "none"}}
AT_BIRTH = ("recorded_ms", "anchor_ms", "tier_ms", "status_ms")
WHOLE_BIRTHS = f"""UPDATE journal SET after = json_patch(
  json_object('scope', 'long_term', 'tier', 'warm', 'status', 'active', 'pinned', json('false'), 'confidence', 1.0,
    'uniqueness', 1.0, 'tags', json('[]'), 'op', operation,
    {", ".join(f"'{name}', json_extract(after, '$.created_ms')" for name in AT_BIRTH)}), after)
  WHERE target = 'memory' AND before IS NULL AND after IS NOT NULL"""
"""Earlier versions wrote all columns of a birth."""
WHOLE_BIRTHS_OF_SERVER = f"""UPDATE journal SET after = CAST(
  jsonb_build_object('scope', 'long_term', 'tier', 'warm', 'status', 'active', 'pinned', false, 'confidence', 1.0,
    'uniqueness', 1.0, 'tags', jsonb_build_array(), 'op', operation,
    {", ".join(f"'{name}', CAST(after AS jsonb) -> 'created_ms'" for name in AT_BIRTH)}
    ) || CAST(after AS jsonb) AS text)
  WHERE target = 'memory' AND before IS NULL AND after IS NOT NULL"""


KEPT = {
    "journal": """SELECT j.namespace, o.id, j.position, j.target, plain_id(j.id),
      line_part(j.data, 0, o.id), line_part(j.data, 1, o.id),
      line_part(j.data, 2, o.id)
    FROM new.journal AS j JOIN new.operation AS o ON o.namespace = j.namespace AND o.number = j.operation""",
    "idempotency": """SELECT k.namespace, plain_key(k.packed), m.id
    FROM new.idempotency AS k JOIN new.memory AS m USING (row)""",
}
"""What earlier schemas kept in another form: its columns in their order."""


def lived(place):
    """Fill a store; return its memories, and an operation that took some back."""
    clock = Clock()
    with opened(place, {**POLICY, "compression": {"rule": "never"}}, clock, HashEmbedder()) as memory:
        kept = memory.remember_many([LONG, "ü", "bob likes tea"])
        gone = memory.remember("zebra of the harbour")
        clock.passes(minutes=1)
        undo = memory.undo(memory.history(gone.id)[0].operation_id)
        clock.passes(days=2)
        memory.recall("tea")
        memory.sweep()
        return [memory.get(m.id) for m in kept], gone, undo.operation, clock.now


def old_file(source, target, schema=2):
    """Make a file of an old schema by its own migrations, with what the source holds of its columns."""
    with closing(apsw.Connection(str(target))) as old:
        add_functions(old)
        for number, sql in migrations("sqlite")[:schema]:
            old.execute(sql)
            old.execute(f"PRAGMA user_version = {number}")
        old.execute(f"PRAGMA application_id = {int.from_bytes(b'PERD', 'big')}")
        old.execute("ATTACH ? AS new", (str(source),))
        tables = [
            name
            for name, sql in old.execute("SELECT name, sql FROM main.sqlite_schema WHERE type = 'table'")
            if not sql.startswith("CREATE VIRTUAL") and name != "sqlite_sequence"
        ]
        for table in tables:
            columns = ", ".join(c[1] for c in old.execute(f"PRAGMA main.table_info({table})"))
            old.execute(f"DELETE FROM main.{table}")
            old.execute(f"INSERT INTO main.{table} ({columns}) {KEPT.get(table, f'SELECT {columns} FROM new.{table}')}")
        old.execute("UPDATE main.sqlite_sequence SET seq = (SELECT max(seq) FROM new.sqlite_sequence)")
        old.execute(WHOLE_BIRTHS)
        paths = ", ".join(f"'$.{name}'" for name in LATER)
        old.execute(f"UPDATE journal SET before = json_remove(before, {paths}), after = json_remove(after, {paths})")
        old.execute("DETACH new")
    return target


def old_server(url):
    """Take from a server's tables what later migrations added."""
    with servers().reader(url) as operator:
        operator.execute("ALTER TABLE memory DROP COLUMN short_id")
        operator.execute("ALTER TABLE operation DROP COLUMN short_id")
        operator.execute("DROP POLICY erasing ON journal")
        operator.execute("ALTER TABLE operation DROP COLUMN digest, DROP COLUMN actor")
        operator.execute("DROP TABLE document, token, login")
        for name in (
            "content_task",
            "memory_due_at",
            "namespace_policy",
            "memory_in_view",
            "memory_facts",
            "memory_newest",
        ):  # a cluster drops one at a time
            operator.execute(f"DROP INDEX {name}")
        operator.execute("ALTER TABLE memory " + ", ".join(f"DROP COLUMN {name}" for name in NEW_STATE))
        operator.execute("ALTER TABLE content DROP COLUMN shown, DROP COLUMN packed")
        names = ", ".join(f"'{name}'" for name in LATER)
        cut = ", ".join(f"{c} = CAST(CAST({c} AS jsonb) - ARRAY[{names}] AS text)" for c in ("before", "after"))
        operator.execute("ALTER TABLE journal DISABLE ROW LEVEL SECURITY")
        operator.execute(WHOLE_BIRTHS_OF_SERVER)
        operator.execute(f"UPDATE journal SET {cut}")
        operator.execute("ALTER TABLE journal ENABLE ROW LEVEL SECURITY")
        operator.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
    return url


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def store(request):
    return request.param


@pytest.fixture
def old(path, elsewhere):
    if is_server(str(path)) and servers().on_cluster():
        pytest.skip("a cluster refuses the statement by which the journal gets its old form")
    told = lived(path)
    if not is_server(str(path)):
        return old_file(path, elsewhere()), told
    return old_server(path), told


def upgraded(place, clock):
    if is_server(str(place)):
        steps = []
        assert migrate(place, say=steps.append) == len(migrations("postgres")) - 1
        assert migrate(place) == 0
    return opened(place, POLICY, clock, HashEmbedder())


def test_every_memory_is_there_as_it_was_with_sensible_new_numbers(old):
    place, (kept, _, _, now) = old
    with upgraded(place, Clock(now)) as memory:
        for before in kept:
            after = memory.get(before.id)
            state = after.state
            assert (after.content, after.tags, after.tier, after.access_count) == (
                *(before.content, before.tags, before.tier, before.access_count),
            )
            assert after.tokens == (len(before.content) + 3) // 4 > 0
            assert state.strength_ms == state.anchor_ms
            assert state.form_ms == state.created_ms
            assert (state.form, state.firm, state.level, state.strength) == (Form.FULL, False, 0.0, 0.3)
            assert (state.decayed, state.decayed_ms) == (None, None)
            assert 0.0 < after.strength <= 0.3
        assert {m.id for m in memory.list()} == {m.id for m in kept}
        assert memory.check() == []


def test_an_upgraded_store_goes_on_living(old):
    place, (kept, gone, undo, now) = old
    clock = Clock(now)
    with upgraded(place, clock) as memory:
        assert memory.recall("harbour marathon").hits[0].memory.id == kept[0].id
        clock.passes(minutes=1)
        memory.undo(undo)  # its journal knows nothing of the new columns
        back = memory.get(gone.id)
        assert (back.content, back.state.form, back.state.firm) == (gone.memory.content, Form.FULL, False)
        assert back.id in {h.memory.id for h in memory.recall("zebra", touch=False).hits}
        clock.passes(days=40)
        report = memory.sweep()
        assert {m.id for m in report.moved} >= {kept[0].id}
        for operation in reversed(report.operations):
            memory.undo(operation)
        memory.remember("born after the upgrade")
        assert memory.why(kept[0].id).history
        assert memory.check() == []


def test_a_second_opening_changes_nothing(old):
    place, (kept, _, _, now) = old
    with upgraded(place, Clock(now)) as memory:
        first = [memory.get(m.id).to_dict() for m in kept]
    with opened(place, POLICY, Clock(now), HashEmbedder()) as memory:
        assert [memory.get(m.id).to_dict() for m in kept] == first
        assert memory.get(kept[0].id).created_at == START


@on_a_file
def test_births_as_earlier_versions_wrote_them_are_checked_and_trimmed(path):
    (kept, _, _, now) = lived(path)
    with closing(apsw.Connection(str(path))) as file:
        stated = [
            f"UPDATE journal SET after = json_set(after, '$.{name}',"
            f" coalesce(after ->> '{name}', after ->> 'created_ms')) WHERE target = 'memory' AND before IS NULL"
            for name in ("strength_ms", "form_ms")
        ]
        edit(file, WHOLE_BIRTHS, *stated)
        file.execute("UPDATE operation SET digest = NULL")  # they had other lines
    clock = Clock(now)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.check(full=True) == []
        assert memory.history(kept[0].id)[0].after["tier"] == "warm"
        clock.passes(days=100)
        (run,) = [run for run in memory.upkeep("worker").runs if run.task == "trim"]
        assert run.note.startswith(tuple("123456789"))
        assert memory.check(full=True) == []


WHOLE_KEYS = (
    "UPDATE idempotency SET packed = plain_key(packed)",
    "ALTER TABLE idempotency RENAME COLUMN packed TO key",
)
"""Keys of messages as schema 8 kept them."""


def to_schema_8(place):
    """Take from a store what schema 9, and in a file schemas 10 to 12, brought."""
    names = ("memory_in_view", "memory_facts", "memory_newest")
    if is_server(str(place)):
        with servers().reader(place) as operator:
            operator.execute("DROP TABLE login")
            for name in names:
                operator.execute(f"DROP INDEX {name}")
            operator.execute("UPDATE meta SET value = '8' WHERE key = 'schema'")
        return
    with closing(apsw.Connection(str(place))) as file:
        add_functions(file)
        dropped = [f"DROP INDEX {name}" for name in (*names, "memory_counts", "operation_order")]
        edit(file, "DROP TABLE login", *dropped, "ALTER TABLE namespace DROP COLUMN documents", *WHOLE_KEYS)
        file.execute("PRAGMA user_version = 8")
        with closing(apsw.Connection(":memory:")) as expected:
            add_functions(expected)
            for _, sql in migrations("sqlite")[:8]:
                expected.execute(sql)
            schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
            assert file.execute(schema).fetchall() == expected.execute(schema).fetchall()


@on_a_file
def test_a_file_of_schema_8_knows_what_it_was_told_by_the_same_keys(path):
    talk = [{"role": "user", "content": f"Tea is at {hour}."} for hour in range(3, 9)]
    with opened(path, POLICY, Clock(START)) as memory:
        memory.ingest(talk, session="s")
        named = memory.remember("by a name", idempotency_key="message:of-mine:1")
    to_schema_8(path)
    with opened(path, POLICY, Clock(START)) as memory:
        assert memory.ingest(talk, session="s").added == 0
        assert memory.remember("by a name", idempotency_key="message:of-mine:1").id == named.id
        assert memory.check(full=True) == []
    with closing(apsw.Connection(str(path))) as file:
        kept = dict(file.execute("SELECT typeof(packed), count(*) FROM idempotency GROUP BY 1"))
    assert kept == {"blob": len(talk), "text": 1}


@on_a_file
def test_a_file_whose_memories_were_not_counted_knows_which_lack_a_vector(path):
    with opened(path, POLICY, Clock(START), HashEmbedder()) as memory:
        memory.remember_many([LONG, "ü", "bob likes tea"])
    with opened(path, POLICY, Clock(START)) as memory:
        memory.remember("the heron nests at the mill")
    to_schema_8(path)
    with opened(path, POLICY, Clock(START), HashEmbedder()) as memory:
        assert memory.stats().without_vector == 1
        assert memory.reembed().embedded == 1
        assert memory.stats().without_vector == 0
        assert memory.check(full=True) == []


def test_a_store_of_the_schema_before_keeps_sessions_and_shows_the_same_summary(path):
    kept, _, _, now = lived(path)
    with opened(path, POLICY, Clock(now), HashEmbedder()) as memory:
        token, shown = memory.create_token("reader", "*", actor="ana"), memory.digest()
    to_schema_8(path)
    if is_server(str(path)):
        assert migrate(path) == 1
    with opened(path, POLICY, Clock(now), HashEmbedder()) as memory:
        assert memory.digest() == shown
        cookie = memory.log_in(token.secret, 60)
        assert memory.logged_in(cookie).grant.actor == "ana"
        assert {m.id for m in memory.list()} == {m.id for m in kept}
        assert memory.check() == []
    with opened(path, POLICY, Clock(now), HashEmbedder()) as memory:
        assert memory.logged_in(cookie).token == token.token.id
        memory.revoke_token(token.token.id)
        assert memory.logged_in(cookie) is None
