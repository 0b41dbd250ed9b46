"""Nothing waits for ever: a locked table, a line that is silent, a file that another process holds, a long call."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from contextlib import closing, contextmanager
from types import SimpleNamespace

import apsw
import pytest

import perdure
from conftest import WORDS_ONLY, budget, servers
from faults.server_faults import Line
from perdure import DeadlineExceeded, Memory, StoreBusy
from perdure.compose import address_of
from perdure.interfaces.cli.app import app
from perdure.interfaces.hooks.agent_hooks import run as run_hook
from perdure.records.deadline import within as limited
from perdure.records.errors import StoreUnavailable, UncountedWarning
from perdure.stores.postgres.session import scope
from perdure.stores.sqlite.store import SqliteStore
from perdure.verbs.declaration import VERBS as ALL_VERBS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no local server")
LIMIT = 1
PATIENT = 8
"""Far below the 30 s that hold unless the URL says otherwise, far above what a busy machine adds."""


@pytest.fixture
def url():
    made = servers().fresh_database()
    yield made
    servers().drop_database(made)


def within(url, seconds=LIMIT):
    return servers().with_parameter(url, f"timeout={seconds}")


@contextmanager
def locked(url):
    with servers().reader(url) as operator, operator.transaction():
        operator.execute("LOCK TABLE memory IN ACCESS EXCLUSIVE MODE")
        yield


VERBS = {
    "recall": lambda m: m.recall("zebra"),
    "remember": lambda m: m.remember("zebra two", idempotency_key="k"),
    "list": Memory.list,
    "stats": Memory.stats,
    "digest": Memory.digest,
    "check": Memory.check,
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_locked_table_is_waited_for_no_longer_than_the_url_says(url, verb):
    with perdure.open(within(url), policy=WORDS_ONLY) as memory:
        memory.remember("zebra one")
        started = time.monotonic()
        with locked(url), pytest.raises(StoreBusy, match="within 1 s"):
            VERBS[verb](memory)
        assert time.monotonic() - started < PATIENT
        VERBS[verb](memory)


def test_a_server_that_is_silent_is_given_up(url):
    line = Line(int(address_of(url).shown.rpartition("/")[0].rpartition(":")[2]))
    try:
        with perdure.open(within(line.through(url)), policy=WORDS_ONLY) as memory:
            memory.remember("zebra one")
            line.silent = True
            started = time.monotonic()
            with pytest.raises(StoreBusy, match=r"did not answer within 1 s\. Nothing was written"):
                memory.remember("zebra two", idempotency_key="k")
            assert time.monotonic() - started < PATIENT
            line.silent = False
            stored = memory.remember("zebra two", idempotency_key="k")
            assert memory.remember("zebra two", idempotency_key="k").id == stored.id
            assert len(memory.list()) == 2
    finally:
        line.close()


def test_a_call_on_a_halted_server_ends_within_a_second_of_its_time_and_so_does_a_command(url, tmp_path, capsys):
    line = Line(int(address_of(url).shown.rpartition("/")[0].rpartition(":")[2]))
    policy = tmp_path / "p.toml"
    policy.write_text('[embedder]\nmodel = "none"\n', "utf-8")
    try:
        with perdure.open(line.through(url), policy=WORDS_ONLY) as memory:
            memory.remember("zebra one")
            line.silent = True
            started = time.monotonic()
            with pytest.raises(DeadlineExceeded, match=r"longer than 0\.5 s"):
                memory.within(0.5).recall("zebra")
            assert time.monotonic() - started < 0.5 + 1.5  # a busy machine adds something
        started = time.monotonic()
        words = ["--timeout", "1", "recall", "zebra", "--store", line.through(url), "--policy", str(policy), "--json"]
        assert app(words, standalone_mode=False) == 1
        assert time.monotonic() - started < PATIENT  # libpq waits two seconds at least, and ten unless it is told
        assert json.loads(capsys.readouterr().out)["error"] == "StoreUnavailable"
    finally:
        line.close()


@pytest.mark.parametrize("given", ["url", "policy"])
def test_opening_a_halted_server_waits_no_longer_than_it_was_given(url, given):
    line = Line(int(address_of(url).shown.rpartition("/")[0].rpartition(":")[2]))
    line.silent = True
    address = within(line.through(url), 2) if given == "url" else line.through(url)
    policy = {**WORDS_ONLY, "limits": {"call_seconds": 2 if given == "policy" else 30}}
    try:
        started = time.monotonic()
        with pytest.raises(StoreUnavailable):
            perdure.open(address, policy=policy)
        assert time.monotonic() - started < PATIENT  # libpq waits ten seconds unless it is told
    finally:
        line.close()


def test_a_limit_ends_with_its_transaction(url):
    """A later transaction on the same connection is not cut by the limit of an earlier one."""
    with perdure.open(within(url), policy=WORDS_ONLY) as memory:
        for number in range(6):
            memory.remember(f"note {number}")
            time.sleep(0.4)
        assert len(memory.list()) == 6


@pytest.mark.parametrize("seconds", ["0", "3601", "soon", "-1", "1.5"])
def test_a_limit_that_is_none_is_refused(seconds):
    with pytest.raises(ValueError, match="timeout must be a number of seconds from 1 to 3600"):
        address_of(f"postgresql://user@host/database?timeout={seconds}")


def watchers():
    return {t for t in threading.enumerate() if t.name == "perdure-deadlines"}


def test_many_threads_share_one_watcher(url):
    before = watchers()
    with perdure.open(within(url), policy=WORDS_ONLY) as memory:
        for number in range(4):
            threading.Thread(target=memory.remember, args=(f"note {number}",)).start()
        while len(memory.list()) < 4:
            time.sleep(0.05)
        assert len(watchers() - before) == 1


# --- one call


@contextmanager
def written_by_another(path):
    """Hold the lock of a file, as another process does while it writes."""
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_call_waits_for_a_file_that_another_process_writes_no_longer_than_it_was_given(tmp_path):
    with perdure.open(tmp_path / "a.db", policy=WORDS_ONLY) as memory:
        memory.remember("zebra one")
        started = time.monotonic()
        with written_by_another(tmp_path / "a.db"):
            with pytest.raises(
                DeadlineExceeded, match=r"longer than 0\.5 s and was ended\. Nothing was written"
            ) as raised:
                memory.within(0.5).remember("zebra two", idempotency_key="k")
            assert len(memory.within(0.5).recall("zebra").hits) == 1  # reading waits for nobody
        assert 0.5 <= time.monotonic() - started < PATIENT
        assert raised.value.operations == ()
        stored = memory.within(5).remember("zebra two", idempotency_key="k")
        assert memory.remember("zebra two", idempotency_key="k").id == stored.id
        assert len(memory.list()) == 2


def test_a_file_that_another_process_writes_is_not_taken_for_an_embedder_that_fails(tmp_path):
    """It warned that the embedder had failed, and stored without a vector where the file was free again by then."""
    path = tmp_path / "a.db"
    with closing(apsw.Connection(str(path))) as other:

        def embed(texts):
            if not other.in_transaction and texts[0] == "tea":
                other.execute("BEGIN IMMEDIATE")
            return [[1.0, float(len(text))] for text in texts]

        with perdure.open(path, embedder=embed) as memory:
            with pytest.raises(DeadlineExceeded):
                memory.within(0.3).remember("tea")
            other.execute("ROLLBACK")
            assert memory.list() == []
            memory.remember("milk")
            assert memory.stats().without_vector == 0


@pytest.fixture
def busy_file(tmp_path):
    """A store of one memory that another process writes for as long as the test takes."""
    path = tmp_path / "agent.db"
    with perdure.open(path, WORDS_ONLY) as memory:
        memory.remember("The kettle stays on the third shelf.")
    started = time.monotonic()
    with written_by_another(path):
        yield path
    assert time.monotonic() - started < PATIENT


def test_a_recall_that_cannot_be_counted_stands_and_says_so_at_the_end(busy_file):
    memory = perdure.open(busy_file, WORDS_ONLY)
    assert memory.recall("kettle").hits
    with pytest.warns(UncountedWarning, match="1 recall was not counted"):
        memory.close()


def test_a_command_whose_recall_cannot_be_counted_prints_one_document(busy_file, capsys):
    code = app(["--store", str(busy_file), "recall", "kettle", "--json"], standalone_mode=False)
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["hits"]) == 1
    assert (code or 0, "1 recall was not counted" in printed.err) == (0, True)


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart"])
def test_a_hook_answers_though_nothing_can_be_noted(busy_file, event, capsys):
    given = {
        "session_id": "s",
        "hook_event_name": event,
        "prompt": "Where is the kettle?",
        "cwd": "/",
        "source": "startup",
    }
    run_hook(event, str(busy_file), None, "default", meaning=False, text=json.dumps(given))
    printed = capsys.readouterr()
    assert "third shelf" in json.loads(printed.out)["hookSpecificOutput"]["additionalContext"]
    assert "it was not noted that memories were shown" in printed.err


@contextmanager
def namespace_locked(url):
    """Hold the lock that each writer of the namespace takes, as another process does while it writes."""
    with servers().reader(url) as operator, operator.transaction():
        operator.execute("SET LOCAL perdure.namespace = 'default'")  # a given server's role locks what it may write
        locked = operator.execute("SELECT 1 FROM namespace WHERE namespace = 'default' FOR UPDATE")
        assert locked.fetchall() == [(1,)]
        yield


def test_what_a_hook_notes_does_not_wait_for_another_process_that_writes_a_server(url):
    """It waited for as long as a transaction may take: 30 s before an agent could answer."""
    with perdure.open(url, policy=WORDS_ONLY) as memory:
        memory.remember("zebra one")
        started = time.monotonic()
        with namespace_locked(url), pytest.warns(UncountedWarning, match="it was not noted that the session begins"):
            assert not memory.agent.begin("s", "default", "t.jsonl")
        assert time.monotonic() - started < PATIENT
        assert memory.agent.begin("s", "default", "t.jsonl")


@pytest.mark.parametrize("store", ["file", "server"])
def test_a_call_that_ends_while_it_notes_something_is_not_taken_for_a_busy_store(store, tmp_path, request):
    place = tmp_path / "a.db" if store == "file" else request.getfixturevalue("url")
    with perdure.open(place, policy=WORDS_ONLY) as memory:
        memory.remember("zebra one")
        busy = written_by_another(place) if store == "file" else namespace_locked(place)
        with busy, limited(0.15), pytest.raises(DeadlineExceeded, match=r"longer than 0\.15 s"):
            memory.agent.begin("s", "default", "t.jsonl")


def test_a_call_on_a_server_ends_when_its_own_time_is_over(url):
    with perdure.open(url, policy=WORDS_ONLY) as memory:  # a transaction may take 30 s
        memory.remember("zebra one")
        for verb in VERBS.values():
            started = time.monotonic()
            with locked(url), pytest.raises(DeadlineExceeded, match=r"longer than 0\.5 s"):
                verb(memory.within(0.5))
            assert time.monotonic() - started < PATIENT
        assert memory.remember("zebra two", idempotency_key="k").operation
        assert len(memory.list()) == 2


def test_a_call_waits_for_one_of_a_servers_connections_no_longer_than_it_was_given(url):
    with perdure.open(servers().with_parameter(url, "pool_size=1"), policy=WORDS_ONLY) as memory:
        memory.remember("zebra one")
        with locked(url):
            waiting = threading.Thread(target=lambda: memory.within(4).recall("zebra"))
            waiting.start()
            time.sleep(0.3)
            started = time.monotonic()
            with pytest.raises(DeadlineExceeded):
                memory.within(0.5).recall("zebra")
            assert time.monotonic() - started < 3
        waiting.join(30)


def test_a_statement_of_a_file_is_ended_within(tmp_path, monkeypatch):
    counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e9) SELECT sum(i) FROM n"
    usual = SqliteStore.search

    def slow(self, *args):
        with self._use() as connection:
            connection.execute(counting).fetchall()
        return usual(self, *args)

    with perdure.open(tmp_path / "a.db", policy=WORDS_ONLY) as memory:
        memory.remember("zebra one")
        monkeypatch.setattr(SqliteStore, "search", slow)
        started = time.monotonic()
        with pytest.raises(DeadlineExceeded, match=r"longer than 0\.5 s"):
            memory.within(0.5).recall("zebra")
        assert time.monotonic() - started < PATIENT
        monkeypatch.undo()
        assert len(memory.recall("zebra").hits) == 1


def test_a_thread_waits_for_another_ones_statement_no_longer_than_it_was_given(tmp_path, monkeypatch):
    holding, go = threading.Event(), threading.Event()
    usual = SqliteStore.search

    def hold(self, *args):
        with self._use():
            holding.set()
            go.wait(30)
        return usual(self, *args)

    with perdure.open(tmp_path / "a.db", policy=WORDS_ONLY) as memory:
        memory.remember("zebra one")
        monkeypatch.setattr(SqliteStore, "search", hold)
        thread = threading.Thread(target=lambda: memory.recall("zebra"))
        thread.start()
        holding.wait(30)
        started = time.monotonic()
        with pytest.raises(DeadlineExceeded):
            memory.within(0.3).list()
        assert time.monotonic() - started < PATIENT
        go.set()
        thread.join()
        assert len(memory.list()) == 1


def test_the_policys_key_holds_for_each_call_that_does_not_work_through_a_store(tmp_path):
    policy = {**WORDS_ONLY, "limits": {"call_seconds": 0.3}}
    with perdure.open(tmp_path / "a.db", policy=policy) as memory:
        memory.remember("zebra one")
        with written_by_another(tmp_path / "a.db"), pytest.raises(DeadlineExceeded, match=r"longer than 0\.3 s"):
            memory.remember("zebra two")
        assert memory.within(60).remember("zebra two").operation
    assert perdure.Policy().limits.call_seconds == 30
    lasting = {name for name, verb in ALL_VERBS.items() if verb.lasts}
    assert {"consolidate", "sweep", "check", "ingest"} <= lasting
    assert not {"recall", "remember", "get", "list", "update", "forget", "stats", "facts", "why"} & lasting


@pytest.fixture(params=["file", "server"])
def long_enough(request, tmp_path):
    """A store with a hundred messages of ten sessions."""
    place = tmp_path / "a.db" if request.param == "file" else request.getfixturevalue("url")
    with perdure.open(place, policy={**WORDS_ONLY, "consolidate": {"require_dry_run": False}}) as memory:
        for session in range(10):
            memory.ingest([f_message(session, i) for i in range(10)], session=f"s{session}")
        yield memory


def f_message(session, number):
    return {"role": "user", "content": f"zebra number {number} of session {session} likes the harbour"}


def refusal(call, memory):
    """Return the error that says that a call was ended; None where it was not."""
    try:
        call(memory)
    except DeadlineExceeded as error:
        return error
    except perdure.PartlyStored as error:
        return error if isinstance(error.__cause__, DeadlineExceeded) else None


def test_a_call_that_is_ended_anywhere_leaves_whole_operations_and_a_sound_store(long_enough):
    memory = long_enough
    found = [hit.memory.id for hit in memory.recall("zebra harbour", touch=False).hits]
    ended, seconds = 0, 0.001
    while seconds < 3:
        limited = memory.within(seconds)
        for call in (
            lambda m, s=seconds: m.ingest([f_message(s, i) for i in range(300)], session=f"long {s}"),
            lambda m: m.recall("zebra harbour", touch=False),
            lambda m: m.consolidate("default", dry_run=False),
            lambda m: m.check(full=True),
        ):
            before = {o.id for o in memory.history(limit=1000)}
            if (error := refusal(call, limited)) is not None:
                ended += 1
                assert {o.id for o in memory.history(limit=1000)} - before == set(error.operations)
        seconds *= budget(9, 3)
    assert ended >= 3
    assert memory.check(full=True) == []
    assert [hit.memory.id for hit in memory.recall("zebra harbour", touch=False).hits][:1] == found[:1]


@pytest.mark.parametrize("seconds", [0, -1, 86_401, float("nan"), "5", None, True])
def test_a_time_that_is_none_is_refused(tmp_path, seconds):
    with perdure.open(tmp_path / "a.db", policy=WORDS_ONLY) as memory, pytest.raises(ValueError, match="86,400"):
        memory.within(seconds)


def test_a_command_takes_a_time_limit_before_and_after_its_name(tmp_path, capsys):
    store = str(tmp_path / "a.db")
    policy = tmp_path / "p.toml"
    policy.write_text('[embedder]\nmodel = "none"\n', "utf-8")
    common = ["--store", store, "--policy", str(policy), "--json"]
    assert app(["remember", "zebra one", *common], standalone_mode=False) == 0
    with written_by_another(store):
        for words in (["--timeout", "0.3", "remember", "zebra two"], ["remember", "zebra two", "--timeout", "0.3"]):
            capsys.readouterr()
            assert app([*words, *common], standalone_mode=False) == 1
            told = json.loads(capsys.readouterr().out)
            assert (told["error"], told["fault"]) == ("DeadlineExceeded", "machine")
            assert "0.3 s" in told["message"]


def test_a_command_has_one_time_limit_for_opening_the_store_and_for_what_it_does(tmp_path, monkeypatch, capsys):
    """Each had the whole time, so that a command took twice as long as it was given."""
    store, usual = tmp_path / "a.db", perdure.open
    usual(store, policy=WORDS_ONLY).close()

    def slow(*args, **options):
        time.sleep(0.3)
        return usual(*args, **options)

    monkeypatch.setattr(perdure, "open", slow)
    assert app(["--timeout", "0.2", "list", "--store", str(store), "--json"], standalone_mode=False) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["error"], "longer than 0.2 s" in told["message"]) == ("DeadlineExceeded", True)


def test_what_a_try_before_has_written_is_not_said_to_be_known_where_a_node_is_not_waited_for():
    cluster = SimpleNamespace(clustered=True, info=SimpleNamespace(server_version=15_00_18))
    with limited(1e-9), pytest.raises(DeadlineExceeded, match=r"last transaction was written is not known\. Try again"):
        scope(cluster, "routed", "default", "", known=False)


def test_a_coroutine_takes_a_time_limit(tmp_path):
    async def ask():
        async with perdure.AsyncMemory(perdure.open(tmp_path / "a.db", policy=WORDS_ONLY)) as memory:
            await memory.remember("zebra one")
            with written_by_another(tmp_path / "a.db"), pytest.raises(DeadlineExceeded):
                await memory.within(0.3).remember("zebra two")
            return len(await memory.within(5).list())

    assert asyncio.run(ask()) == 1
