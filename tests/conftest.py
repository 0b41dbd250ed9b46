"""What the tests of stores, operations and faults share: places for stores, a clock, an embedder, views of a store.

A test that asks for ``path``, ``opening``, ``memory``, ``meaning`` or ``elsewhere`` runs on a file and on a server; of
those of operations only some run on a server (``pytest_collection_modifyitems``).
What is about a file alone says so with the mark ``on_a_file``, what could depend on where a namespace lies with
``on_two_servers_too``; folders that have their own ways say so in their conftest.
"""

from __future__ import annotations

import gc
import itertools
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from contextlib import closing, contextmanager, nullcontext
from datetime import UTC, date, datetime, timedelta
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from types import CodeType
from unittest import mock

import apsw
import numpy as np
import pytest
from hypothesis import settings

import perdure
import slow_tests
from perdure.compose import is_server, store_at
from perdure.operations.remember import remember
from perdure.records.vector import Space
from perdure.rules.validation.inputs import check_draft
from perdure.stores.sqlite.lines import add_functions

os.environ["TZ"] = "UTC"  # days are those of the machine where no policy names a zone
if hasattr(time, "tzset"):
    time.tzset()

LONG_RUN = "PERDURE_LONG_RUN" in os.environ
"""Whether tests that try many cases try all that are worth a wait: `make weekly`."""


def budget(short, long):
    """Return how many cases a test tries: the first number in `make test`, the second in `make weekly`."""
    return long if LONG_RUN else short


def calls_of(call):
    """Count the Python and C functions that a call enters: a figure of its work that no clock disturbs."""
    entered = 0

    def count(_frame, event, _argument):
        nonlocal entered
        entered += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def every(rows):
    """Try each row of a table in one case, which tells all rows that fail; a case for each costs more than most rows.

    For tests without fixtures that take a row's values in their order.
    """

    def of(test):
        def each():
            wrong = {}
            for row in rows:
                values = row if isinstance(row, tuple) else (row,)
                try:
                    test(*values)
                except Exception as error:  # noqa: BLE001  # whatever it is, it is told
                    wrong[", ".join(getattr(value, "name", repr(value)) for value in values)] = repr(error)
            assert not wrong, "\n".join(f"{row}: {error}" for row, error in wrong.items())

        each.__name__, each.__doc__ = test.__name__, test.__doc__
        return each

    return of


weekly = pytest.mark.skipif(not LONG_RUN, reason="make weekly runs it")
"""For a test whose promise a quicker one of make test holds, too."""

ANYWHERE = settings.get_profile("default")  # where CI is set, the library would draw the same cases each time
# No deadline: a busy machine is no fault.
settings.register_profile("untimed", ANYWHERE, deadline=None, max_examples=budget(25, 400))
settings.register_profile("brief", ANYWHERE, deadline=None, max_examples=10)  # make fast
settings.load_profile("untimed")

STORES = [
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.skipif(sys.platform == "win32", reason="no local server")),
    pytest.param("spread", marks=pytest.mark.skipif(sys.platform == "win32", reason="no local server")),
]
"""A file, a server, and two servers that hold each namespace on one of them."""

on_two_servers_too = pytest.mark.parametrize("store", STORES, indirect=True)
"""For a test of what could depend on where a namespace lies. Between them they run the statements on two servers.

In `make test` those of the files of ``ON_TWO_SERVERS`` do; the others run on two servers weekly.
"""

weekly_on_a_server = pytest.mark.parametrize(
    "store", [STORES[0], pytest.param(*STORES[1].values, marks=[*STORES[1].marks, weekly])], indirect=True
)
"""For a test that costs seconds on a server, where quicker tests run the same statements."""


def seeds(many):
    """Run a test with each seed on a file, and with the first one on a server; weekly with all on both."""
    served = [pytest.param("postgres", seed, marks=STORES[1].marks) for seed in list(many)[: budget(1, None)]]
    return pytest.mark.parametrize(
        ("store", "seed"), [*(("sqlite", seed) for seed in many), *served], indirect=["store"]
    )


in_processes = weekly_on_a_server
"""For a test whose children open the store themselves: they know of no second server."""

on_a_file = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
"""For a test of what only a file has."""

as_operator = pytest.mark.skipif("PERDURE_TEST_DSN" in os.environ, reason="a given server is not ours to change")
"""For a test that changes a server as only its operator may."""

START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS_ONLY = {"embedder": {"model": "none"}}
HASHED = {**WORDS_ONLY, "consolidate": {"content_weight": 0.3, "review_at": 0.8, "link_at": 0.75}}
"""For :class:`HashEmbedder`, which takes "Lyon." and "Lyon" for two words: shared words count as well."""
HARSH = {
    **WORDS_ONLY,
    "archive": {"rule": "value", "value_below": 0.5, "cold_days": 1},
    "gates": {"loss_free_count": 0},
}
"""Everything that nobody asks for is soon worthless, and the loss budget is strict."""

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""Tests start more than a thousand processes: what one of them has compiled, the others need not compile again."""

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Several processes run at once: threads of numpy's own would only take the cores from one another."""

MEMORY = Path("/dev/shm")  # noqa: S108  # only folders of tests
PLENTY = 4 * 1024**3
ROOMY = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > PLENTY
"""Whether files can lie in memory: a store of its own for each test waits for a disk more often than for anything."""

if ROOMY:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

os.environ["PERDURE_RLM_CONFIG"] = str(Path(__file__).parent / "nothing" / "rlm-config.json")
"""No test reads the configuration of whoever runs it."""

CASES, CASES_ON_A_SERVER = budget(2, 10_000), budget(1, 10_000)
"""How many cases a table has on a file in `make test`, and on each kind of server."""

TODAY = int(os.environ.setdefault("PERDURE_TEST_DAY", str(date.today().toordinal())))  # noqa: DTZ011  # any day will do
"""Which case a table tries beside its first one: another one each day, the same in all processes of a run."""

THINNED = {"operations", "interfaces", "stores", "service", "faults", "laws", "authorities", "models", "packaging"}
"""Folders whose tables are thinned out."""

THINNED_FILES = {"test_breaks.py"}
"""Files of other folders whose tables are thinned out, too."""

EVERY_CASE = {
    *("test_stored_parameters.py", "test_trust.py", "test_fence.py", "test_tenants.py", "test_supply_chain.py"),
    "test_serve_options.py",
    "test_damaged_files.py",
    "test_contained_damage.py",
    "test_registry.py",
    "test_schema.py",
}
"""Files whose cases are found by walking what exists: a new verb, key, statement or option is a new case."""

ON_TWO_SERVERS = {"test_isolation.py", "test_maintaining.py", "test_tenants.py"}
"""Files whose tests run on two servers in `make test`, too; `test_two_servers.py` has servers of its own."""

ON_A_SERVER = budget(1, 10_000)
"""How many tests of operations, and laws of stores, call a verb on a server."""

ENV = {**os.environ, "PYTHONPATH": str(Path(perdure.__file__).parents[1])}


class Clock:
    """A clock that only moves when told to."""

    def __init__(self, now=START):
        self.now = now

    def __call__(self):
        return self.now

    def passes(self, **time):
        self.now += timedelta(**time)


@cache
def word_vector(word, dimensions):
    seed = int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).standard_normal(dimensions)


class ScriptedModel:
    """A language model whose answers are given; errors among them are raised."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def ask(self, instruction, text, schema):
        self.asked.append((instruction, text, schema))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class HashEmbedder:
    """Each word has a random direction and a text is their sum: the same words, the same meaning."""

    def __init__(self, dimensions=64, version="1"):
        self.space = Space("hash", dimensions, version)

    def embed(self, texts, *, purpose):  # noqa: ARG002  # part of the port
        rows = []
        for text in texts:
            row = sum((word_vector(w, self.space.dimensions) for w in text.lower().split()), np.zeros(1))
            if not row.any():
                row = np.ones(self.space.dimensions)
            rows.append((row / np.linalg.norm(row)).astype("<f4").tobytes())
        return rows


def opened(path, policy=WORDS_ONLY, clock=None, embedder=None, model=None):
    """Open a store. A given language model stands in for the endpoint that the policy names."""
    with mock.patch("perdure.compose.chat_model", return_value=model) if model else nullcontext():
        return perdure.open(path, policy=policy, clock=clock, embedder=embedder)


@contextmanager
def places(store, folder):
    """Return a maker of empty places for stores of one kind; they are gone at the end."""
    made = []

    def make():
        file = folder / f"agent{len(made) or ''}.db"
        made.append(file if store == "sqlite" else _on_servers(store))
        return made[-1]

    try:
        yield make
    finally:
        for place in made if store != "sqlite" else ():
            servers().drop_database(place)


def _on_servers(store):
    return servers().fresh_spread() if store == "spread" else servers().fresh_database()


def servers():
    """What tests on a server need; loaded where it is used, because children of tests import this file too."""
    return import_module("servers")


def tables(path):
    """Every row of every table of a store, as bytes and numbers."""
    if is_server(str(path)):
        return servers().tables(path)
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        names = [
            name
            for name, sql in connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
            if not sql.startswith("CREATE VIRTUAL")
        ]
        return {name: sorted(connection.execute(f'SELECT * FROM "{name}"'), key=repr) for name in sorted(names)}


PLAIN_JOURNAL = """CREATE TEMP TABLE journal AS
  SELECT j.namespace, o.id AS operation, j.position, j.target, plain_id(j.id) AS id,
    line_part(j.data, 0, o.id) AS before, line_part(j.data, 1, o.id) AS after,
    line_part(j.data, 2, o.id) AS because
  FROM main.journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.number = j.operation;"""
PACKED_JOURNAL = """DELETE FROM main.journal;
INSERT INTO main.journal (namespace, operation, position, target, id, data)
  SELECT j.namespace, o.number, j.position, j.target, packed_id(j.id),
    packed_line(j.operation, j.before, j.after, j.because)
  FROM temp.journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.id = j.operation;
DROP TABLE temp.journal;"""


def edit(connection, *statements):
    """Run statements on a file by hand, with the lines of its journal as a server keeps them; return the rows hit."""
    add_functions(connection)
    journal = any(re.search(r"\bjournal\b", sql) for sql in statements)
    connection.execute(PLAIN_JOURNAL if journal else "")
    before = connection.total_changes()
    for sql in statements:
        connection.execute(sql)
    changed = connection.total_changes() - before
    connection.execute(PACKED_JOURNAL if journal else "")
    return changed


UNSEEN = {"row", "changed", "held", "short_id"}
"""Where a memory lies, news for searches, and whether a gate waits: any change of the namespace releases it."""

LOGICAL = {
    "content": "SELECT namespace, id, text, tags, source, task, metadata, digest, shown, packed FROM content",
    "document": "SELECT namespace, shelf, id, name, data FROM document",
    "vector": "SELECT v.namespace, v.space, m.id, v.data FROM vector AS v LEFT JOIN memory AS m USING (row)",
    "link": "SELECT * FROM link",
    "tag": "SELECT t.namespace, t.tag, m.id FROM tag AS t LEFT JOIN memory AS m USING (row)",
    "access": "SELECT * FROM access",
    "idempotency": """SELECT k.namespace, plain_key(k.packed), m.id
      FROM idempotency AS k LEFT JOIN memory AS m USING (row)""",
    "words": "SELECT w.term, m.id, w.col, w.offset FROM temp.instances AS w LEFT JOIN memory AS m ON m.row = w.doc",
}


def logical(path):
    """What a store means: no row numbers, no versions, no journal."""
    if is_server(str(path)):
        return servers().logical(path)
    with closing(apsw.Connection(str(path))) as connection:
        add_functions(connection)
        connection.execute("CREATE VIRTUAL TABLE temp.instances USING fts5vocab ('main', 'words', 'instance')")
        columns = [c[1] for c in connection.execute("PRAGMA table_info(memory)") if c[1] not in UNSEEN]
        queries = {"memory": f"SELECT {', '.join(columns)} FROM memory", **LOGICAL}
        return {name: sorted(connection.execute(sql), key=repr) for name, sql in queries.items()}


def python(code, *arguments, **options):
    """Start a child that runs some code; the caller waits for it."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=ENV,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def finished(child, seconds=120):
    """What a child printed; it must have ended well."""
    out, err = child.communicate(timeout=seconds)
    assert child.returncode == 0, err
    return out


def pytest_configure(config):
    """Make new stores of this process as copies; children of tests import this file, and make stores as users do."""
    import_module("fresh_files")
    import_module("rewriting").rewrite_share(config)
    if config.getoption("record_slow_tests") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(slow_tests.Recorder())


def pytest_addoption(parser):
    parser.addoption("--every-store", action="store_true", help="run every test of operations on a server too")
    parser.addoption("--every-case", action="store_true", help="run every case of every test")
    parser.addoption(
        "--slow-tests-of-today", action="store_true", help="run a quarter of the slow tests, others each day"
    )
    parser.addoption(
        "--record-slow-tests", action="store_true", help="write which tests are slow (tests/slow_tests.txt)"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Thin out tables, cases on a server, tests of operations there and slow tests; begin the longest files first."""
    if not config.getoption("every_case"):
        _deselect(config, items, _left_out(items))
    if not config.getoption("every_store"):
        _deselect(config, items, _left_out_on_a_server(items))
    slow = slow_tests.listed()
    if config.getoption("slow_tests_of_today"):
        _deselect(config, items, slow_tests.of_other_days(items, slow, TODAY))
    seconds = slow_tests.seconds_of_files(items, slow)
    items.sort(key=lambda item: -seconds[item.path])


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the collector from going through the tests themselves again and again: they stay to the end."""
    gc.disable()
    found = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return found


def _deselect(config, items, left):
    if left:
        gone = set(left)
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in gone]


def _left_out(items):
    """Return the cases beyond those that a table has on one store."""
    cases = defaultdict(list)
    for item in items:
        if _is_thinned(item.path) and hasattr(item, "callspec"):
            cases[item.path, item.function, item.callspec.params.get("store")].append(item)
    left = []
    for (_, _, store), several in cases.items():
        kept = _kept(several, store)
        left += [item for n, item in enumerate(several) if n not in kept]
    return left


def _is_thinned(path):
    return (path.parent.name in THINNED and path.name not in EVERY_CASE) or path.name in THINNED_FILES


def _kept(several, store):
    """Return the places of the cases of a table that stay: the first and the one of the day, or all."""
    if store == "spread" and several[0].path.name not in ON_TWO_SERVERS and not LONG_RUN:
        return set()
    most, last = CASES_ON_A_SERVER if store in {"postgres", "spread"} else CASES, len(several) - 1
    if most > last:
        return set(range(last + 1))
    return {0} if most == 1 else {0, 1 + TODAY % last}


def _left_out_on_a_server(items):
    """Return the tests of operations, and the laws of stores, on a server that are not the first to call some verb.

    Below a verb the two stores differ in their statements alone, which the tests of stores and the laws run on both.
    A test that names its stores by a mark runs on all of them.
    """
    called = Counter()
    left = []
    for item in items:
        new = {verb for verb in verbs_of(item.function) if called[verb] < ON_A_SERVER} if _thinned(item) else ()
        called.update(new)
        if _thinned(item) and not new:
            left.append(item)
    return left


def _thinned(item):
    asked = getattr(item, "callspec", None)
    return (
        (item.path.parent.name == "operations" or item.path.parts[-2:] == ("laws", "test_stores.py"))
        and asked is not None
        and asked.params.get("store") == "postgres"
        and not any("store" in mark.args[0] for mark in item.iter_markers("parametrize"))
    )


@cache
def verbs_of(function):
    """The verbs of Memory that a test names, itself or in functions of its file that it calls."""
    verbs = {name for name in dir(perdure.Memory) if not name.startswith("_")}
    found, codes, seen = set(), [function.__code__], set()
    while codes:
        code = codes.pop()
        seen.add(code)
        found.update(verbs & set(code.co_names))
        helpers = (function.__globals__.get(name) for name in code.co_names)
        nested = [part for part in code.co_consts if isinstance(part, CodeType)]
        codes += [one for one in (*nested, *(getattr(h, "__code__", None) for h in helpers)) if one and one not in seen]
    return found


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(scope="module", autouse=True)
def _forked(request):
    """Fork the commands of a file; one that says ``REAL_PROCESSES`` starts Python anew for each."""
    real = sys.platform != "linux" or getattr(request.module, "REAL_PROCESSES", False)
    with nullcontext() if real else import_module("starts").forked():
        yield


@pytest.fixture(params=STORES[:2], scope="module")
def store(request):
    """Which store the test runs on."""
    return request.param


@pytest.fixture
def elsewhere(store, tmp_path):
    """Make another empty place for a store, of the same kind as the test's."""
    with places(store, tmp_path) as make:
        yield make


@pytest.fixture
def path(elsewhere):
    """Where the test's store is: a file, or a database of its own."""
    return elsewhere()


@pytest.fixture
def rooms(store, path):
    """Make places by the hundred: in memory, or behind prefixes in one database, whose embedding spaces they share."""
    numbers = itertools.count(1)

    def make():
        if store == "sqlite":
            return ":memory:"
        return servers().with_prefix(path, f"room{next(numbers)}/")

    return make


@pytest.fixture
def opening(path, rooms, clock):
    """Open the test's store, as often as wanted; all are closed at the end. At ``:memory:`` is a room of its own."""
    memories = []

    def make(policy=WORDS_ONLY, embedder=None, *, at=None, now=clock, model=None):
        place = rooms() if at == ":memory:" else at or path
        memories.append(opened(place, policy, now, embedder, model))
        return memories[-1]

    yield make
    for memory in memories:
        memory.close()


@pytest.fixture
def raw_store(path):
    """The test's store itself, opened beside the memory: for what a store promises below the verbs."""
    with store_at(path) as store:
        yield store


@pytest.fixture
def memory(opening):
    return opening()


@pytest.fixture
def meaning(opening):
    """A store with vectors."""
    return opening(HASHED, HashEmbedder())


def bare_fact(memory, content, namespace="default", **labels):
    """Store a memory of kind fact as importing does: its words alone, and nothing of what they are about."""
    return bare_memories(memory, [{"content": content, "kind": "fact", **labels}], namespace)[0]


def bare_memories(memory, items, namespace="default"):
    """Store memories of any kind in one operation, as importing does."""
    context = memory._context
    made = [check_draft(policy=memory.policy, now=context.clock(), **item) for item in items]
    return remember(context, made, namespace)
