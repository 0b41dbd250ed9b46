"""The client: the same results and errors as the memory itself, over a real connection."""

from __future__ import annotations

import asyncio
import inspect
import re
import socket
import threading
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import count

import apsw
import pytest
import uvicorn

import perdure
from perdure.interfaces.http import async_memory, shared
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.client import RemoteMemory
from perdure.interfaces.http.serve import _config, _listen
from perdure.interfaces.http.settings import Settings
from perdure.records.access import Grant
from perdure.records.errors import InvalidInput, NotAllowed, NotFound, PerdureError, StoreUnavailable
from perdure.records.store_results import CompactResult
from perdure.verbs.declaration import VERBS
from service.conftest import START

POLICY = {"preset": "facts", "embedder": {"model": "none"}}


@contextmanager
def listening(memory, **limits):
    """Serve a memory in a thread, and give the URL."""
    socket = _listen("127.0.0.1", 0)
    port = socket.getsockname()[1]
    app = build_app(lambda: memory, Settings(frozenset({f"127.0.0.1:{port}"}), **limits))
    server = uvicorn.Server(_config(app))
    server.capture_signals = contextmanager(lambda: iter([None]))
    thread = threading.Thread(target=lambda: server.run(sockets=[socket]))
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


def fixed():
    """A memory whose ids and clock are the same each time."""
    memory = perdure.open(":memory:", POLICY, clock=lambda: START)
    numbers = count()
    context = memory._context
    context.ids = lambda _at: f"01a2099f-0000-7000-8000-{next(numbers):012x}"
    context.secret = lambda: "A" * 43
    return memory


@pytest.fixture
def pair():
    """A memory, and one of the same kind behind a service; the same token stands for the caller of both."""
    with fixed() as whole, fixed() as behind, listening(behind) as url:
        local = whole.confine(Grant("admin", "*", "tour"))
        tokens = [memory.create_token("admin", "*", actor="tour").secret for memory in (whole, behind)]
        assert whole.recognize(tokens[0]) == Grant("admin", "*", "tour")
        for memory in (whole, behind):
            memory._context.secret = lambda: "B" * 43
        local._context.secret = whole._context.secret
        with perdure.connect(url, token=tokens[1]) as remote:
            yield local, remote


def test_items_keep_when_they_happened(pair):
    at = datetime(2025, 12, 31, 23, tzinfo=UTC)
    for memory in pair:
        (kept,) = memory.remember_many([{"content": "Tea.", "at": at}])
        assert kept.memory.created_at == at


def test_a_check_tells_how_far_it_is_over_the_service_as_it_does_on_the_spot(pair):
    told = []
    for memory in pair:
        memory.remember_many([f"note {number} about the harbour" for number in range(450)])
        steps = []
        assert memory.check(full=True, progress=lambda done, total, steps=steps: steps.append((done, total))) == []
        told.append(steps)
    assert told[0] == told[1]
    assert len(told[0]) >= 3
    assert all(done <= total for done, total in told[0])
    assert told[0][-1][0] == told[0][-1][1]
    assert pair[1].check(full=True) == []  # the connection is still good


def test_a_call_that_fails_after_it_told_how_far_it_is_ends_with_the_error(pair, monkeypatch):
    remote = pair[1]
    calls = []

    def fails(self, *, full=False, progress=None):
        calls.append(full)
        progress(1, 2)
        raise StoreUnavailable("It is gone.", remedy="Bring it back.")

    monkeypatch.setattr(perdure.Memory, "check", fails)
    told = []
    with pytest.raises(StoreUnavailable, match="It is gone"):
        RemoteMemory.check(remote, full=True, progress=lambda *step: told.append(step))
    assert (calls, told) == ([True], [(1, 2)])


def test_a_refusal_before_the_first_step_is_the_errors_own(pair):
    with pytest.raises(InvalidInput):
        pair[1].remember_many([{"content": ""}], progress=lambda *_: None)


def first(memory):
    return memory.list(include_archived=True, limit=1000)[-1].id


def steps():
    """Every verb, and what else a memory offers for asking and answering, in an order that gives them something."""
    at = datetime(2025, 12, 31, 9, tzinfo=UTC)
    said = [{"role": "user", "content": "Remember that we deploy on Tuesdays.", "at": at.isoformat()}]
    fact = {"subject": "Ana", "predicate": "home", "value": "Oslo"}
    return [
        lambda m: m.remember("Deploys happen on Tuesdays.", tags=["ops"], metadata={"a": [1, {"b": None}]}, at=at),
        lambda m: m.remember("Ana lives in Oslo.", facts=[fact], task="t", session="s"),
        lambda m: m.remember("Ana lives in Bergen.", facts=[{**fact, "value": "Bergen"}]),
        lambda m: m.remember_many(["One.", {"content": "Two.", "tags": ("x",)}], embed="later"),
        lambda m: m.remember_many(item for item in ("Three.", "Four.")),
        lambda m: m.ingest(said, session="talk"),
        lambda m: m.ingest([perdure.Message("We deploy on Mondays now.", role="user", at=at)], session="talk"),
        lambda m: m.extract("We decided to paint the fence green. It must be dry."),
        lambda m: m.recall("When do we deploy?", limit=3, since=at, kinds=["note"]),
        lambda m: m.recall("xyzzy plugh"),
        lambda m: m.get(first(m)),
        lambda m: m.list(limit=2),
        lambda m: m.why(first(m)),
        lambda m: m.why_not(first(m), "Who paints the fence?"),
        lambda m: m.used([first(m)], "helpful"),
        lambda m: m.reinforce([first(m)]),
        lambda m: m.strengthen([first(m)], 0.1),
        lambda m: m.weaken([first(m)], 0.1),
        lambda m: m.pin(first(m)),
        lambda m: m.unpin(first(m)),
        lambda m: m.move(first(m), "cold", "tidy"),
        lambda m: m.archive(first(m), "tidy"),
        lambda m: m.restore(first(m)),
        lambda m: m.forget(first(m)),
        lambda m: m.undo("last"),
        lambda m: m.update(first(m), "Deploys happen on Wednesdays."),
        lambda m: m.relate([x.id for x in m.list(limit=2)]),
        lambda m: m.edges(m.list()[0].id),
        lambda m: m.learn(["talk"]),
        lambda m: m.facts(past=True),
        lambda m: m.timeline("Ana"),
        lambda m: m.answer_sheet("Where does Ana live?"),
        lambda m: m.entities(),
        lambda m: m.entity("Ana"),
        lambda m: m.alias("Ana", "Anna"),
        lambda m: m.split_entity("Ana", "Anna"),
        lambda m: m.merge_entities("Ana", "Anna"),
        lambda m: m.summarize(),
        lambda m: m.rates(),
        lambda m: m.procedures(),
        lambda m: m.backtest({"archive": {"cold_days": 1}}),
        lambda m: m.verify(),
        lambda m: m.review(),
        lambda m: m.review_details(),
        lambda m: m.settle(first(m)),
        *(lambda m, name=name: getattr(m, name)(m.facts()[0].id) for name in ("confirm", "mute", "both", "same")),
        lambda m: m.correct(m.facts()[0].id, "Tromsø"),
        lambda m: m.answer(m.facts()[0].id, "confirm"),
        lambda m: m.deny(m.facts()[0].id, "moved"),
        lambda m: m.complete_task("t"),
        lambda m: m.promote("s"),
        lambda m: m.end_session("s"),
        lambda m: m.consolidate("default"),
        lambda m: m.decay(),
        lambda m: m.sweep(dry_run=True),
        lambda m: m.sweep(),
        lambda m: m.forecast(90),
        lambda m: m.fit(tokens=50),
        lambda m: m.compression(),
        lambda m: m.reembed(),
        lambda m: m.optimize(),
        lambda m: m.check(),
        lambda m: m.repair(),
        lambda m: m.compact(),
        lambda m: m.namespaces(),
        lambda m: m.stats(),
        lambda m: m.alerts(),
        lambda m: m.digest(),
        lambda m: m.digest_details(profile="hermes"),
        lambda m: m.history(),
        lambda m: m.history(first(m)),
        lambda m: m.erase([first(m)], reason="asked for"),
        lambda m: m.create_token("reader", "team/*", actor="ana"),
        lambda m: m.list_tokens(),
        lambda m: m.revoke_token(m._found_token),
        lambda m: m.get("no-such-id"),
        lambda m: m.pin("no-such-id"),
        lambda m: m.recall("x", limit=0, kinds=["rumour"]),
        lambda m: m.remember("x", importance=2),
        lambda m: m.undo("no-such-operation"),
        lambda m: m.backtest({"archive": {"nothing": 1}}),
        lambda m: m.recall("x", nothing=1),
        lambda m: m.recall(),
    ]


def outcome(step, memory):
    try:
        return step(memory)
    except (PerdureError, TypeError) as error:
        return error


def test_a_tour_over_the_service_is_the_tour_without_it(pair, monkeypatch):
    local, remote = pair
    called = set()
    for verb in VERBS.values():
        usual = getattr(RemoteMemory, verb.method.__name__)

        def call(self, *args, _name=verb.name, _usual=usual, **named):
            called.add(_name)
            return _usual(self, *args, **named)

        monkeypatch.setattr(RemoteMemory, verb.method.__name__, call)
    refused = 0
    for number, step in enumerate(steps()):
        for memory in pair:
            tokens = memory.list_tokens()
            memory._found_token = tokens[-1].id
        ours, theirs = outcome(step, local), outcome(step, remote)
        if isinstance(ours, TypeError):
            assert str(theirs) == str(ours)
        assert type(theirs) is type(ours), (number, ours, theirs)
        if isinstance(ours, Exception):
            refused += 1
            if isinstance(ours, PerdureError) and type(ours) is not NotFound:
                assert (theirs.message, theirs.remedy, theirs.fault) == (ours.message, ours.remedy, ours.fault)
            continue
        if isinstance(ours, CompactResult):
            continue  # the sizes of two stores
        assert told(theirs) == told(ours), number
        if not getattr(ours, "plans", ()) and type(ours).__name__ != "VerifyResult":
            assert theirs == ours, number
    assert called == set(VERBS)
    assert 6 <= refused <= 16  # the last steps are wrong on purpose, others find nothing to do


def told(result):
    if isinstance(result, list):
        return [told(item) for item in result]
    return result.to_dict() if hasattr(result, "to_dict") else result


def test_the_result_of_a_call_is_undone(pair):
    for memory in pair:
        kept = memory.remember("Tea is at noon.")
        pinned = memory.pin(kept.id)
        assert memory.undo(pinned).undone == pinned.operation
        with pytest.raises(InvalidInput, match="changed nothing"):
            memory.undo(memory.unpin(kept.id))


def test_its_methods_have_the_signatures_of_the_local_ones():
    for verb in VERBS.values():
        name = verb.method.__name__
        assert inspect.signature(getattr(RemoteMemory, name)) == inspect.signature(getattr(perdure.Memory, name))
        assert getattr(RemoteMemory, name).__doc__ == getattr(perdure.Memory, name).__doc__


def test_a_token_a_wrong_one_and_none():
    with fixed() as memory, listening(memory) as url:
        made = memory.create_token("reader", "team/a", actor="ana")
        with perdure.connect(url, token=made.secret) as remote:
            assert remote.list() == []
            with pytest.raises(NotAllowed, match="needs a token with the role agent"):
                remote.remember("x")
        for token in (None, "perdure_wrong"):
            with perdure.connect(url, token=token) as remote, pytest.raises(NotAllowed, match="token"):
                remote.list()


@pytest.mark.parametrize(
    "url",
    [
        "memory.example",
        "ftp://localhost",
        "http://",
        "https://user:pw@host",
        "http://memory.example",
        "http://10.0.0.1",
    ],
)
def test_a_url_that_is_none_or_sends_in_clear_is_refused(url):
    with pytest.raises(InvalidInput):
        perdure.connect(url, token="x")  # noqa: S106  # refused


@pytest.mark.parametrize("token", ["a\nb", "a\x00"])
def test_a_token_that_none_can_be_is_refused_before_anything_is_sent(token):
    with pytest.raises(InvalidInput, match="token"):
        perdure.connect("http://localhost:8766", token=token)


def test_a_service_that_is_gone_and_comes_back(pair):
    with fixed() as memory:
        with listening(memory) as url:
            remote = perdure.connect(url)
            assert remote.list() == []
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            remote.list()
        remote.close()


def test_a_client_that_was_closed_refuses_calls():
    with fixed() as memory, listening(memory) as url:
        remote = perdure.connect(url)
        timed = remote.within(5)
        assert remote.list() == timed.list() == []
        timed.close()
        for one in (remote, timed, remote.within(5)):
            with pytest.raises(StoreUnavailable, match="client was closed"):
                one.remember("Deploys happen on Tuesdays.")
        remote.close()
        assert memory.list() == []


def test_too_many_wrong_tokens_are_the_caller_s_fault():
    with fixed() as memory:
        guess = memory.create_token("reader", "*", actor="ana").secret[:-1]
        with listening(memory) as url, perdure.connect(url, token=guess) as remote:
            for _ in range(shared.TRIES):
                with pytest.raises(NotAllowed, match="not valid"):
                    remote.list()
            with pytest.raises(perdure.TooManyCalls, match="Too many wrong tokens") as refused:
                remote.list()
            assert (refused.value.fault, "five minutes" in refused.value.remedy) == ("caller", True)


@pytest.fixture
def lockable(tmp_path):
    """A memory with one row, a client of its service, and a connection that locks the file like another process."""
    with (
        perdure.open(tmp_path / "a.db", POLICY) as memory,
        listening(memory) as url,
        perdure.connect(url) as client,
        closing(apsw.Connection(str(tmp_path / "a.db"))) as other,
    ):
        memory.remember("tea")
        yield memory, client, other


def test_a_call_takes_a_time_limit_of_its_own(lockable):
    _, client, other = lockable
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(perdure.DeadlineExceeded, match=r"was ended\. Nothing was written") as raised:
        client.within(1).remember("coffee")
    assert raised.value.operations == ()
    other.execute("ROLLBACK")
    client.within(5).remember("coffee")
    assert len(client.list()) == 2
    with pytest.raises(InvalidInput, match="86,400"):
        client.within(0)


def test_what_is_no_service_is_told():
    import http.server

    class Other(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *_args):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Other) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        with perdure.connect(url) as remote, pytest.raises(StoreUnavailable, match="not a Perdure service"):
            remote.list()
        thread.join(30)


def test_a_service_that_takes_a_call_and_says_nothing_is_no_service_that_cannot_be_reached(monkeypatch):
    monkeypatch.setattr("perdure.interfaces.http.client._GRACE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the system takes the connection; nobody answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with perdure.connect(url) as remote, pytest.raises(perdure.DeadlineExceeded, match="is not known"):
            remote.within(0.1).remember("coffee")
    with perdure.connect(url) as remote, pytest.raises(StoreUnavailable, match="cannot be reached"):
        remote.within(0.1).remember("coffee")


def test_async_memories_of_both_kinds(pair):
    async def story(memory):
        wrapped = perdure.AsyncMemory(memory)
        kept = await asyncio.gather(*(wrapped.remember(f"Server {n} listens on port {n}.") for n in range(8)))
        assert len({k.id for k in kept}) == 8
        assert len((await wrapped.recall("Which port does server 3 listen on?")).hits) >= 1
        with pytest.raises(NotFound):
            await wrapped.pin("no-such-id")

    for memory in pair:
        asyncio.run(story(memory))


BESIDE = {"digest", "review", "answer", "list_all", "within", "close"}
"""Public methods that are no verbs and that every memory has."""
APPLYING = {"apply", "apply_all"}
"""Methods that a service has no route for, and that people call; they are coroutines, too."""
OF_THE_STORE = {
    *("policy", "now", "agent", "facts_hint", "has_model", "has_tokens", "leases_held", "readiness"),  # properties
    *("unwritable", "confirmed_losses", "kept_copies"),
    *("maintain", "upkeep", "upkeep_state", "upkeep_states", "export", "watch", "without_model"),
    *("forecast_under", "erasures", "forget_texts", "while_unchanged"),
    *("operation", "memories_of", "hit_marks", "superseded_facts", "resolve_id"),
    *("confine", "usual_namespace", "recognize", "log_in", "logged_in", "log_out"),
}
"""What only whoever has the store can ask."""


def public(kind):
    return {name for name in dir(kind) if not name.startswith("_")}


def test_each_public_name_is_everywhere_or_said_to_be_of_the_store():
    everywhere = {verb.method.__name__ for verb in VERBS.values()} | BESIDE
    assert public(perdure.Memory) == everywhere | APPLYING | OF_THE_STORE
    assert public(RemoteMemory) == public(perdure.Memory)
    with fixed() as memory, listening(memory) as url, perdure.connect(url) as remote:
        for wrapped in (perdure.AsyncMemory(memory), perdure.AsyncMemory(remote)):
            assert set(dir(wrapped)) >= everywhere | APPLYING
            for name in everywhere | APPLYING:
                ours, theirs, awaited = (getattr(m, name) for m in (memory, remote, wrapped))
                signatures = [list(inspect.signature(m).parameters.values()) for m in (ours, theirs, awaited)]
                assert signatures[0] == signatures[1] == signatures[2], name
                is_made = name in {"within", "list_all"}
                assert inspect.iscoroutinefunction(awaited) is not is_made, name


NO_JSON = [
    lambda m: m.remember(b"x"),
    lambda m: m.remember("\ud800"),
    lambda m: m.remember("x", tags=["\ud800"]),
    lambda m: m.remember("x", tags=[b"x"]),
    lambda m: m.remember("x", metadata={"a": object()}),
    lambda m: m.remember("x", metadata={1: 2}),
    lambda m: m.remember("x", metadata={"a": "\ud800"}),
    lambda m: m.remember("x", metadata={"at": START}),
    lambda m: m.remember("x", metadata={"a": float("nan")}),
    lambda m: m.remember("x", importance="0.5"),
    lambda m: m.remember("x", at="2026-01-01T00:00:00Z"),
    lambda m: m.remember("x", at=START.replace(tzinfo=None)),
    lambda m: m.recall(None),
    lambda m: m.recall("x", limit="3"),
    lambda m: m.recall("x", limit=3.0),
    lambda m: m.recall("x", touch="no"),
    lambda m: m.recall("x", as_of="2026-01-01T00:00:00Z"),
    lambda m: m.recall("x", limit="3", min_relevance=float("nan")),
    lambda m: m.list(kinds="note"),
]


def test_a_client_refuses_what_the_store_refuses_with_its_words(pair):
    for number, step in enumerate(NO_JSON):
        local, remote = (outcome(step, memory) for memory in pair)
        assert isinstance(local, InvalidInput), number
        assert (type(remote), remote.message, remote.remedy) == (InvalidInput, local.message, local.remedy), number
    items = (b"x", {"content": "\ud800"}, {"content": "x", "metadata": {"at": START}}, {"content": "x", 1: 2})
    for item in items:
        for memory in pair:
            with pytest.raises(InvalidInput):
                memory.remember_many([item])
    assert [memory.stats().memories for memory in pair] == [0, 0]


def test_what_is_of_the_store_is_refused_by_a_client(pair):
    _, remote = pair

    def ask(name):
        if callable(inspect.getattr_static(perdure.Memory, name)):
            getattr(remote, name)(*given.get(name, ()))
        else:
            getattr(remote, name)

    named = (
        "maintain",
        "upkeep",
        "recognize",
        "logged_in",
        "log_out",
        "watch",
        "forget_texts",
        "while_unchanged",
        "usual_namespace",
        "confine",
    )
    given = {
        **dict.fromkeys(named, ("me",)),
        **dict.fromkeys(APPLYING, ((),)),
        "erasures": (0,),
        "forecast_under": ({}, 1, "x"),
        **dict.fromkeys(("resolve_id", "operation", "memories_of", "hit_marks", "superseded_facts"), ("abcdefgh",)),
        "log_in": ("me", 60),
    }
    for name in sorted(OF_THE_STORE | APPLYING):
        with pytest.raises(InvalidInput, match="does not offer this"):
            ask(name)


def test_every_verb_is_declared_as_a_coroutine():
    declared = re.findall(
        r"^        (\w+) = _as_coroutine\(Memory\.(\w+)\)$", inspect.getsource(async_memory), re.MULTILINE
    )
    names = {verb.method.__name__ for verb in VERBS.values()} | BESIDE | APPLYING
    own = {name for name in names if inspect.isfunction(inspect.getattr_static(perdure.AsyncMemory, name, None))}
    assert own == {"list_all", "within", "close"}
    assert sorted(declared) == sorted((name, name) for name in names - own)


def test_async_memories_list_all_and_have_properties(pair):
    async def listed(memory, **filters):
        return [m.content async for m in perdure.AsyncMemory(memory).list_all(**filters)]

    for memory in pair:
        memory.remember_many([{"content": f"Note {n}.", "tags": ["odd"] if n % 2 else []} for n in range(250)])
        assert asyncio.run(listed(memory)) == [m.content for m in memory.list(limit=1000)]
        assert len(asyncio.run(listed(memory))) == 250
        assert len(asyncio.run(listed(memory, tags=["odd"]))) == 125
        with pytest.raises(NotFound):
            asyncio.run(listed(memory, before="no-such-id"))
    wrapped = perdure.AsyncMemory(pair[0])
    assert (wrapped.now, wrapped.policy.preset, wrapped.has_model) == (START, "facts", False)
    assert asyncio.run(wrapped.digest()) == pair[0].digest()
    assert asyncio.run(wrapped.upkeep_state()) == {}


def test_async_memories_export_without_reading_in_the_event_loop(pair):
    async def exported(memory, *namespace):
        return [line async for line in perdure.AsyncMemory(memory).export(*namespace)]

    memory, remote = pair
    memory.remember_many([f"Note {n}." for n in range(120)])
    read_in = set()
    export = memory.export

    def watched(namespace=None):
        for line in export(namespace):
            read_in.add(threading.get_ident())
            yield line

    memory.export = watched
    try:
        lines = asyncio.run(exported(memory))
    finally:
        del memory.export
    assert lines == [*memory.export()]
    assert threading.get_ident() not in read_in
    assert asyncio.run(exported(memory, "default")) == [*memory.export("default")]
    with pytest.raises(NotFound):
        asyncio.run(exported(memory, "nowhere"))
    with pytest.raises(InvalidInput):
        asyncio.run(exported(remote))


def test_a_call_of_an_async_memory_takes_a_time_limit_of_its_own(lockable):
    async def story(memory, seconds):
        wrapped = perdure.AsyncMemory(memory)
        limited = wrapped.within(seconds)
        assert isinstance(limited, perdure.AsyncMemory)
        with pytest.raises(perdure.DeadlineExceeded, match="Nothing was written"):
            await limited.remember("coffee")
        with pytest.raises(InvalidInput, match="86,400"):
            wrapped.within(0)

    memory, client, other = lockable
    other.execute("BEGIN IMMEDIATE")
    for kind, seconds in ((memory, 0.05), (client, 1)):
        asyncio.run(story(kind, seconds))
    other.execute("ROLLBACK")
    for kind in (memory, client):
        asyncio.run(perdure.AsyncMemory(kind).within(60).remember(f"Coffee {kind is client}."))
    assert len(memory.list()) == 3


def test_threads_share_a_client(pair):
    _, remote = pair
    errors = []

    def work(number):
        try:
            remote.remember(f"Item {number}.")
            remote.list()
        except PerdureError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert len(remote.list()) == 8
