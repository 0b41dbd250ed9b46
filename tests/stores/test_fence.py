"""The second fence: whatever a statement asks for, the server shows it one namespace, and nothing where none is named.

Every statement of the registry and every public verb is tried, so that what is added later is tried too: a new binding
or a new verb that this file does not know fails it.
"""

from __future__ import annotations

import inspect
import re
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import psycopg
import pytest
from psycopg import sql

from conftest import WORDS_ONLY, Clock, HashEmbedder, tables
from perdure.compose import store_at
from perdure.memory import Memory
from perdure.operations.hooks import Agent
from perdure.records.access import Grant
from perdure.records.errors import NotFound, PerdureError, StoreError
from perdure.records.plan import Plan
from perdure.stores.postgres.connections import Halfvecs, array_of, array_types, prepare
from perdure.stores.postgres.inserting import TYPES
from perdure.stores.postgres.session import _text
from perdure.stores.rows import MEMORY_COLUMNS
from perdure.stores.statements import fill_filters, registry, with_columns
from servers import drop_database, fresh_database, on_cluster, with_prefix

STATEMENTS = registry("postgres")
ROUTED = [n for n, s in STATEMENTS.items() if s.kind == "routed"]
FAN_OUT = [n for n, s in STATEMENTS.items() if s.kind == "fan-out"]
PARTS = tuple(n for n, s in STATEMENTS.items() if s.kind == "part")
TABLES = {
    *("namespace", "lease", "memory", "content", "tag", "posting", "embedding", "link", "access", "recall_log"),
    *("idempotency", "operation", "journal", "document"),
}


OPEN = {}
"""The connection of all attempts on a database: a server takes longer to begin one than to run most statements."""


@pytest.fixture(scope="module")
def store():
    return "postgres"


@pytest.fixture(scope="module")
def path():
    """One database for the walk: what one attempt leaves behind must not help the next."""
    url = fresh_database()
    yield url
    while OPEN:
        OPEN.popitem()[1].close()
    drop_database(url)


@pytest.fixture(scope="module")
def alice(path):
    """A namespace of alice's with something in every table; returns what an attacker might know of it."""
    clock = Clock()
    with _opened(path, clock) as memory:
        ids = [
            m.id
            for m in memory.remember_many(
                [
                    {"content": "alice hides the key under the stone", "tags": ["secret"], "idempotency_key": "key-1"},
                    {"content": "alice hides the key under the mat", "tags": ["secret"]},
                ],
                namespace="alice",
            )
        ]
        memory.ingest([{"content": "where is the key?", "role": "user"}], "alice", session="talk")
        memory.relate(ids)
        memory.recall("where is the key", "alice")
        with store_at(path) as store:
            store.take_lease("alice", "worker", 1, 10**15)
        operations = [o.id for o in memory.history(namespace="alice")]
    return {"ids": ids, "operations": operations}


def _opened(url, clock=None):
    import perdure

    return perdure.open(url, policy=WORDS_ONLY, clock=clock or Clock(), embedder=HashEmbedder())


def _raw(path):
    connection = psycopg.connect(str(path), autocommit=True)
    connection.execute("SET citus.propagate_set_commands = 'local'")  # workers of a cluster take nothing else
    prepare(connection)
    return connection


def known(alice):
    """A value for every binding of the registry, as an attacker who knows alice's ids would give it."""
    one, op = alice["ids"][0], alice["operations"][0]
    many = alice["ids"]
    state = {c: t for c, t in TYPES if c not in {"row", "id"}}
    samples = {"text": "active", "bigint": 1, "boolean": True, "double precision": 0.5}
    columns = {name: [samples[kind]] for name, kind in state.items()}
    return {
        **columns,
        **{f"new_{c}": v for c, v in columns.items()},
        **{f"old_{c}": v for c, v in columns.items()},
        **dict.fromkeys(("namespace_after", "id_after", "kind_after", "other_after", "shelf_after", "name_after"), ""),
        **dict.fromkeys(("row_after", "number_after", "space_after", "position_after", "at_ms_after"), -1),
        "id": one,
        "new_id": one,
        "new_name": "",
        "ids": many,
        "op": op,
        "operation": op,
        "operations": [op],
        "without": [],
        "place": 0,
        "row": 1,
        "rows": [1, 2, 3],
        "lowest": "0",
        "beyond": "z",
        "limit": 10,
        "until_row": 10,
        "living": ["alice"],
        "patterns": ["%"],
        "pattern": "%",
        "after": "",
        "last": "z",
        "key": ["key-1"],
        "keys": ["key-1"],
        "tag": ["secret"],
        "tags": ["secret"],
        "tag_count": 1,
        "terms": ["kei", "alic"],
        "text": ["x"],
        "source": ["x"],
        "task": ["x"],
        "metadata": ["{}"],
        "digest": [1],
        "digests": [1],
        "length": [1],
        "term": ["key"],
        "first": [1],
        "documents": [1],
        "entries": [1],
        "start": [1],
        "stop": [1],
        "asks": [False],
        "kinds": ["note"],
        "scopes": ["long_term"],
        "session": "talk",
        "since": 0,
        "day": 0,
        "week": 0,
        "most": 1000,
        "until": 10**15,
        "as_of": 10**15,
        "known_at": 10**15,
        "min_confidence": 0.0,
        "entity": ["alic"],
        "entity_count": 1,
        "before_ms": 10**15,
        "before_id": "z",
        "at": 1,
        "policy": "nothing",
        "before": "x",
        "changes": 1,
        "hides": 0,
        "note": "x",
        "undoes": None,
        "number": 10**6,
        "position": [1],
        "target": ["memory"],
        "because": ["x"],
        "span": 199,
        "more": 1,
        "kept": 0,
        "space": 1,
        "data": Halfvecs([]),
        "kind": ["note"],
        "other": many[:1],
        "weight": [0.5],
        "at_ms": [1],
        "times": [1],
        "query": _vector(),
        "hits": ["x"],
        "weights": [1.0],
        "average": 5.0,
        "wide": 50,
        "sessions": ["talk"],
        "turns": [0],
        "now": 10**15,
        "due": -1,
        "owner": "mallory",
        "epoch": 1,
        "step": 1,
        "name": "hash/64/1",
        "index": "x",
        "vectors": 0,
        "speaker": ["x"],
        "access_count": [1],
        "entry": [1],
        "reference": "x",
        "part": "x",
        "width": 80,
        "cursor": "",
        "inside": "talk",
        "shelf": "edge",
        "names": ["e1"],
        "actor": "mallory",
        "shown": ["x"],
        "packed": [""],
    }


def _vector():
    return "[" + ",".join(["0.5"] * 64) + "]"


def filled_out(name):
    """A statement of the registry with every slot filled."""
    text = fill_filters("postgres", name, PARTS).replace("{dimensions}", "64")
    if "{after:" in STATEMENTS[name].sql:
        columns = MEMORY_COLUMNS if name == "insert_memory" else ("tier", "due_ms")
        text = with_columns("postgres", name, columns, ("status",), "", TYPES)
    return _text(text)


SPECIAL = {
    "beginning": {"first": "a", "last": "z"},
    "insert_content": {"tags": ['["secret"]']},
    "insert_document": {"data": ["{}"]},
    "insert_vector": {"data": Halfvecs([np.ones(64, np.int8)])},
    "without_vector": {"after": 0},
}
"""Bindings that mean another type in one statement."""


def bindings(name, text, alice, namespace):
    """The values that a statement needs; scalars become lists, and lists scalars, as the statement asks."""
    values = {**known(alice), **SPECIAL.get(name, {}), "namespace": namespace}
    arrays = dict(array_types(text))
    bound = {}
    for binding in re.findall(r"%\((\w+)\)b", text):
        value = values[binding]  # a binding that nobody knows: add it above, so that its statement is tried
        if binding in arrays:
            listed = value if isinstance(value, list | Halfvecs) else [value]
            value = array_of(arrays[binding], listed) if isinstance(listed, list) else listed
        elif isinstance(value, list):
            value = value[0]
        bound[binding] = value
    return bound


def attempt(path, alice, name, *, seeing, asking, reach="routed", prefix=""):
    """Run a statement that asks for one namespace in a transaction that may see another; the rows, or the refusal."""
    text = filled_out(name)
    if path not in OPEN:
        OPEN[path] = _raw(path)
    connection = OPEN[path]
    connection.execute("BEGIN")
    for setting, value in (("namespace", seeing), ("reach", reach), ("prefix", prefix)):
        if value is not None:
            connection.execute(
                sql.SQL("SET LOCAL {} = {}").format(sql.Identifier("perdure", setting), sql.Literal(value))
            )
    try:
        cursor = connection.execute(text, bindings(name, text, alice, asking))
        rows = cursor.fetchall() if cursor.description else []
        changed = 0 if cursor.description else cursor.rowcount
        connection.execute("COMMIT")
    except psycopg.errors.InsufficientPrivilege as refusal:
        return str(refusal), 0
    except psycopg.errors.UniqueViolation:  # of one's own rows, after the walk has written some
        return [], 0
    finally:
        connection.execute("ROLLBACK")  # no more than a warning of the server's after a commit
    return rows, changed


SAYS_NOTHING = (0, None, ())


def nothing(rows):
    """Whether rows tell nothing: none at all, or counts of zero."""
    if isinstance(rows, str):
        assert "row-level security" in rows
        return True
    return all(value in SAYS_NOTHING for row in rows for value in row)


@pytest.fixture(scope="module")
def left():
    """What the last attempt left behind: the next one begins with it, and need not read it again."""
    return {}


@pytest.mark.parametrize("name", ROUTED)
def test_a_statement_for_anothers_namespace_gets_nothing_and_changes_nothing(path, alice, name, left):
    before = left.pop("all", None) or tables(path)
    for seeing in ("mallory", "", None):
        rows, changed = attempt(path, alice, name, seeing=seeing, asking="alice")
        assert nothing(rows), (seeing, rows)
        assert changed <= 0, seeing
    left["all"] = tables(path)
    assert left["all"] == before


@pytest.mark.parametrize("name", ROUTED)
def test_a_statement_in_ones_own_namespace_never_reaches_anothers(path, alice, name, left):
    def of_alice():
        return {table: [r for r in rows if "alice" in map(str, r)] for table, rows in tables(path).items()}

    left.pop("all", None)  # what follows changes other rows
    before = left.pop("alice", None) or of_alice()
    rows, _ = attempt(path, alice, name, seeing=f"mallory {name}", asking=f"mallory {name}")
    text = "" if isinstance(rows, str) else repr(rows)
    assert not [i for i in alice["ids"] if i in text and name != "insert_access"]
    assert "stone" not in text
    left["alice"] = of_alice()
    assert left["alice"] == before


@pytest.mark.parametrize("name", FAN_OUT)
def test_a_fan_out_sees_what_has_its_prefix_and_a_routed_transaction_no_fan_out_at_all(path, alice, name):
    rows, _ = attempt(path, alice, name, seeing="", asking="", reach="fan-out", prefix="bob/")
    assert nothing(rows), rows
    rows, _ = attempt(path, alice, name, seeing="nobody", asking="", reach="routed")
    assert nothing(rows), rows
    rows, _ = attempt(path, alice, name, seeing=None, asking="", reach=None, prefix=None)
    assert nothing(rows), rows


def test_a_session_streams_no_statement_of_another_reach(path, alice):
    with store_at(path) as store, pytest.raises(StoreError, match="routed statement records was run in a fan-out"):
        store._server.everywhere(lambda session: list(session.stream("records", ids=alice["ids"])))


def test_the_walk_would_notice_a_fence_with_a_hole(path, alice):
    """The same statements do see alice's rows where they may, so that finding nothing above means something."""
    reading = [n for n in ROUTED if STATEMENTS[n].sql.startswith(("SELECT", "WITH"))]
    seen = {n for n in reading if not nothing(attempt(path, alice, n, seeing="alice", asking="alice")[0])}
    assert {"records", "states", "recalls", "journal_of_memory", "document_counts", "texts", "operations_of"} <= seen
    wide = {n for n in FAN_OUT if not nothing(attempt(path, alice, n, seeing="", asking="", reach="fan-out")[0])}
    assert {"locate", "namespaces", "operations", "tally", "due_namespaces"} <= wide


@pytest.mark.skipif(not on_cluster(), reason="it takes a cluster")
@pytest.mark.parametrize("name", ROUTED)
def test_a_routed_statement_is_one_task_on_one_worker(path, alice, name):
    with _raw(path) as connection:
        text = f"EXPLAIN (COSTS OFF) {filled_out(name)}"
        plan = "".join(line for (line,) in connection.execute(text, bindings(name, text, alice, "alice")))
    assert plan.count("Task Count: 1") == 1
    assert plan.count("Task Count") == 1


def test_every_table_with_a_namespace_is_fenced_and_the_journal_is_append_only(path, alice):
    with _raw(path) as connection:
        rows = connection.execute(
            "SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity FROM pg_class AS c"
            " JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'namespace'"
            " WHERE c.relkind = 'r' AND c.relnamespace = CAST(current_schema() AS regnamespace)"
        ).fetchall()
        assert {r[0] for r in rows} == TABLES
        assert all(enabled and forced for _, enabled, forced in rows)
        before = tables(path)["journal"]
        for statement in ("DELETE FROM journal", "UPDATE journal SET because = 'nothing happened'"):
            connection.execute("BEGIN")
            connection.execute("SET LOCAL perdure.namespace = 'alice'; SET LOCAL perdure.prefix = ''")
            assert connection.execute(statement).rowcount == 0
            connection.execute("COMMIT")
        assert tables(path)["journal"] == before


# --- the verbs


OWN = Grant("admin", "alice", "mallory")


def verbs(ids, operations):
    """Every public verb, called as one who knows another's ids and names."""
    plan = Plan(id="forged", operation="sweep", namespace="alice", at=0, changes=(), policy="", note="")
    return {
        "remember": lambda m: m.remember("alice hides the key under the stone", "alice"),
        "remember_many": lambda m: m.remember_many(["alice hides the key under the mat"], namespace="alice"),
        "ingest": lambda m: m.ingest([{"content": "where is the key?", "role": "user"}], "alice", session="talk"),
        "extract": lambda m: m.extract("Remember that the spare bulb is kept in the shed.", "alice"),
        "recall": lambda m: m.recall("where is the key", "alice", include_archived=True),
        "get": lambda m: m.get(ids[0], include_archived=True),
        "list": lambda m: m.list("alice", include_archived=True),
        "list_all": lambda m: list(m.list_all("alice", include_archived=True)),
        "why": lambda m: m.why(ids[0]),
        "why_not": lambda m: m.why_not(ids[0], "where is the key"),
        "pin": lambda m: m.pin(ids[0]),
        "unpin": lambda m: m.unpin(ids[0]),
        "archive": lambda m: m.archive(ids[0], "mine now"),
        "restore": lambda m: m.restore(ids[0]),
        "decay": lambda m: [m.decay("alice"), m.decay(dry_run=False)],
        "reinforce": lambda m: m.reinforce(ids).reinforced,
        "strengthen": lambda m: m.strengthen(ids).strengthened,
        "weaken": lambda m: m.weaken(ids).weakened,
        "used": lambda m: m.used(ids).counted,
        "review": lambda m: m.review("alice"),
        "settle": lambda m: m.settle(ids[0]),
        "move": lambda m: m.move(ids[0], "cold", "mine now"),
        "sweep": lambda m: m.sweep(),
        "maintain": lambda m: m.maintain("mallory").swept,
        "forecast": lambda m: m.forecast(3650),
        "consolidate": lambda m: [m.consolidate("alice"), m.consolidate("alice", pairs="recorded")],
        "relate": lambda m: m.relate(ids[:2]),
        "edges": lambda m: m.edges(ids[0]),
        "complete_task": lambda m: m.complete_task("errand", namespace="alice"),
        "promote": lambda m: m.promote("talk", namespace="alice"),
        "end_session": lambda m: m.end_session("talk", namespace="alice"),
        "entities": lambda m: m.entities("alice"),
        "entity": lambda m: m.entity("stone", namespace="alice"),
        "alias": lambda m: m.alias("stone", "Mallory", namespace="alice"),
        "merge_entities": lambda m: m.merge_entities("stone", "mat", namespace="alice"),
        "split_entity": lambda m: m.split_entity("stone", "Rock", namespace="alice"),
        "learn": lambda m: m.learn(["talk"], "alice"),
        "facts": lambda m: [m.facts(namespace="alice", past=True), m.facts("stone", namespace="alice")],
        # Mallory has written alice's words, too: ids tell whose they are.
        "timeline": lambda m: (t := m.timeline("stone", namespace="alice")) and [t.facts, [n.id for n in t.memories]],
        "answer_sheet": lambda m: m.answer_sheet("where is the key", "alice").known,
        "summarize": lambda m: m.summarize("alice", dry_run=False),
        "confirm": lambda m: m.confirm(ids[0]),
        "deny": lambda m: m.deny(ids[0], "mine now"),
        "correct": lambda m: m.correct(ids[0], "mine now"),
        "both": lambda m: m.both(ids[0]),
        "same": lambda m: m.same(ids[0]),
        "mute": lambda m: m.mute(ids[0]),
        "fit": lambda m: m.fit("alice", 1, accept_loss="mine now", dry_run=False),
        "compression": lambda m: m.compression("alice"),
        "rates": lambda m: m.rates("alice", dry_run=False),
        "backtest": lambda m: m.backtest({"preset": "tiered"}, "alice"),
        "stats": lambda m: m.stats(),
        "alerts": lambda m: [m.alerts(), m.alerts("alice")],
        "digest": lambda m: m.digest("alice"),
        "digest_details": lambda m: m.digest_details("alice").ids,
        "reembed": lambda m: m.reembed(),
        "optimize": lambda m: m.optimize("alice"),
        "check": lambda m: m.check(),
        "repair": lambda m: m.repair(dry_run=False),
        "compact": lambda m: m.compact(dry_run=False),
        "history": lambda m: [m.history(), m.history(namespace="alice"), m.history(ids[0])],
        "operation": lambda m: [m.operation(one) for o in operations for one in (o, o[-8:])],
        "hit_marks": lambda m: [
            (hit.over, hit.contested_with, hit.updated_by)
            for hit in m.hit_marks([replace(m.remember("mine").memory, id=ids[0], namespace="alice")]).values()
        ],
        "superseded_facts": lambda m: m.superseded_facts(
            replace(m.operation(m.remember("mine").operation), id=operations[0], namespace="alice")
        ),
        "undo": lambda m: m.undo(operations[0]),
        "apply": lambda m: m.apply(plan),
        "apply_all": lambda m: m.apply_all([replace(plan, id="forged too")]),
        "upkeep": lambda m: m.upkeep("mallory").to_dict(),
        "verify": lambda m: [m.verify("alice"), m.verify("alice", ids).counts],
        "upkeep_state": lambda m: m.upkeep_state("alice"),
        "upkeep_states": lambda m: m.upkeep_states(),
        "answer": lambda m: m.answer(ids[0], "keep"),
        "update": lambda m: m.update(ids[0], "mine now"),
        "forget": lambda m: m.forget(ids[0]),
        "erase": lambda m: m.erase([ids[0]], reason="not mine", namespace="alice"),
        "procedures": lambda m: m.procedures("alice", dry_run=False),
        "review_details": lambda m: m.review_details("alice"),
        "resolve_id": lambda m: [m.resolve_id(ids[0][-8:]), m.resolve_id(operations[0][-8:], "operation")],
        "namespaces": lambda m: m.namespaces(),
        "create_token": lambda m: m.create_token("reader", "alice", actor="mallory").token.role,
        "list_tokens": lambda m: [t for t in m.list_tokens() if t.actor != "mallory"],
        "revoke_token": lambda m: m.revoke_token(ids[0]),
        "without_model": lambda m: [m.without_model().get(i) for i in ids],
        "log_in": lambda m: m.log_in("perdure_" + "A" * 43, 60),
        "logged_in": lambda m: m.logged_in("A" * 16 + "." + "A" * 43),
        "log_out": lambda m: m.log_out("A" * 16 + "." + "A" * 43),
        "recognize": lambda m: m.recognize("perdure_" + "A" * 43),
        "usual_namespace": lambda m: m.usual_namespace("default"),
        "confine": lambda m: [m.confine(Grant("admin", "*", "mallory")).list("alice"), m.confine(OWN).namespaces()],
        "export": lambda m: list(m.export("alice")),
        "within": lambda m: [m.within(5).get(i) for i in ids],
        "forecast_under": lambda m: m.forecast_under({}, 84, "alice"),
        "watch": lambda m: m.watch(lambda *_: nullcontext()),
        "erasures": lambda m: [m.erasures(0), m.erasures(0, "alice")],
        "memories_of": lambda m: [m.memories_of(o) for o in m.history(namespace="alice")],
        "while_unchanged": lambda m: [m.while_unchanged([i]).get(i) for i in ids],
        "forget_texts": lambda m: m.forget_texts("alice"),
        "close": lambda _: None,
    }


PUBLIC = [n for n, f in inspect.getmembers(Memory, inspect.isfunction) if not n.startswith("_")]
WRITE_FIRST = ("remember", "remember_many", "ingest", "extract", "apply", "apply_all", "end_session")
"""They make a namespace of that name behind one's own prefix: what they answer is one's own."""


@pytest.fixture(scope="module")
def not_mallorys(path, alice):  # alice has memories there, too
    """The rows of everybody else, which no verb of mallory's changes: they are the same before each of them."""
    with _opened(with_prefix(path, "acme/")) as mine:  # alice's own place, behind a prefix
        mine.remember("something of alice at acme", "alice")
    return {t: _not_mallorys(rows) for t, rows in tables(path).items()}


@pytest.mark.behaviour("KN79")
@pytest.mark.parametrize("verb", PUBLIC)
def test_no_verb_reaches_past_the_prefix_of_its_connection(path, alice, not_mallorys, verb):
    secret = [*alice["ids"], *alice["operations"], "stone", "mat"]
    with _opened(with_prefix(path, "mallory/")) as other:
        try:
            answer = repr(verbs(alice["ids"], alice["operations"])[verb](other))
        except PerdureError as error:
            answer = "" if isinstance(error, NotFound) else str(error)  # it repeats the id that was asked for
    if verb not in WRITE_FIRST:
        assert not [word for word in secret if re.search(rf"\b{re.escape(word)}\b", answer)]
    assert "acme" not in answer
    assert {t: _not_mallorys(rows) for t, rows in tables(path).items()} == not_mallorys


def test_tokens_of_another_prefix_are_not_seen_and_open_nothing(path, alice):
    with _opened(path) as mine, _opened(with_prefix(path, "mallory/")) as other:
        made = mine.create_token("admin", "*", actor="alice")
        assert mine.recognize(made.secret) == Grant("admin", "*", "alice")
        assert other.recognize(made.secret) is None
        assert "alice" not in [token.actor for token in other.list_tokens()]
        with pytest.raises(NotFound):
            other.revoke_token(made.token.id)
        assert [token.valid for token in mine.list_tokens()] == [True]


AGENT = {
    "find_session": lambda a: a.find_session("talk", "alice"),
    "begin": lambda a: a.begin("talk", "alice", "t.jsonl"),
    "unfinished_sessions": lambda a: a.unfinished_sessions("alice", excluded="x"),
    "take_in": lambda a: a.take_in("talk", "alice", [], transcript="t.jsonl", mark="1:1:a"),
    "alive": lambda a: a.alive("talk", "alice", "t.jsonl"),
    "mark_ended": lambda a: a.mark_ended("talk", "alice"),
    "opening": lambda a: a.opening("talk", "alice"),
    "beside": lambda a: a.beside("where is the key", "talk", "alice"),
}
"""What hooks call, as one who knows another's session."""


@pytest.mark.parametrize("name", [n for n, _ in inspect.getmembers(Agent, inspect.isfunction) if not n.startswith("_")])
def test_no_hook_reaches_past_the_prefix_of_its_connection(path, alice, name):
    with _opened(path) as mine:
        mine.agent.begin("talk", "alice", "secret.jsonl")
    before = {t: _not_mallorys(rows) for t, rows in tables(path).items()}
    with _opened(with_prefix(path, "mallory/hooks/")) as other:
        answer = repr(AGENT[name](other.agent))
    assert not [w for w in [*alice["ids"], "stone", "mat", "secret"] if re.search(rf"\b{re.escape(w)}\b", answer)]
    assert {t: _not_mallorys(rows) for t, rows in tables(path).items()} == before


def _not_mallorys(rows):
    return [r for r in rows if "'mallory/" not in str(r)]


def test_a_prefix_is_put_before_every_name_and_taken_off_again():
    path = fresh_database()
    with _opened(with_prefix(path, "acme/")) as mine, _opened(path) as whole:
        kept = mine.remember("the deploy is on tuesday", "ops")
        assert mine.namespaces() == ["ops"]
        assert whole.namespaces() == ["acme/ops"]
        assert mine.get(kept.id).namespace == mine.recall("deploy", "ops").hits[0].memory.namespace == "ops"
        assert {o.namespace for o in mine.history()} == {"ops"}
        assert {e.namespace for e in mine.history(kept.id)} == {"ops"}
        assert whole.get(kept.id).namespace == "acme/ops"
        assert mine.stats().memories == whole.stats().memories == 1
    drop_database(path)
