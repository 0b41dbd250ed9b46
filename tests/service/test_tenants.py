"""Two tenants on one store: each sees and changes its own alone, on every route and tool of the declarations."""

from __future__ import annotations

import inspect
import json
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

import perdure
from conftest import STORES, weekly
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.routes import parameters_of, path_of
from perdure.interfaces.http.settings import Settings
from perdure.interfaces.mcp.tools import verbs_of
from perdure.memory import Memory
from perdure.operations.confined_store import ConfinedStore, routed_methods
from perdure.operations.store_protocol import Documents, RowTransfer, Store, Tokens
from perdure.records.access import ROLES, Grant
from perdure.records.errors import NotAllowed, NotFound, PerdureError
from perdure.records.transfer import PARTS
from perdure.verbs.declaration import VERBS
from service.conftest import BASE, HOST

POLICY = {"preset": "facts", "embedder": {"model": "none"}}
SETTINGS = Settings(frozenset({HOST}), tools="full")
ALL = sorted(VERBS)


@pytest.fixture(params=[*STORES[:2], pytest.param("spread", marks=[*STORES[2].marks, weekly])])
def store(request):
    return request.param


WALKED = pytest.mark.parametrize(
    "store", [STORES[0], pytest.param("postgres", marks=[*STORES[1].marks, weekly])], indirect=True
)
"""For the walk through all routes and tools; that no verb reaches past a prefix on a server: `stores/test_fence.py`."""


@pytest.fixture
def shared(path):
    with perdure.open(path, POLICY) as memory:
        yield memory


def settle(memory, name):
    """Give a tenant something in every table; return what an attacker may have learned of it."""
    place = f"{name}/main"
    first = memory.remember(
        f"{name} hides the {name}secret under the stone",
        place,
        tags=[f"{name}-tag"],
        session=f"{name}-session",
        task=f"{name}-task",
        idempotency_key=f"{name}-key",
        facts=[{"subject": f"{name}person", "predicate": "home", "value": f"{name}town"}],
    )
    other = memory.remember(f"{name} keeps the {name}secret in the shed", place)
    memory.relate([first.id, other.id])
    recalled = memory.recall(f"Where is the {name}secret?", place)
    memory.forget(memory.remember(f"{name} forgot the {name}secret", place).id)
    operations = [o.id for o in memory.history(namespace=place)]
    token = memory.create_token("admin", f"{name}/*", actor=name)
    return {
        "name": name,
        "place": place,
        "ids": [first.id, other.id],
        "operations": operations,
        "recall": recalled.recall_id,
        "session": f"{name}-session",
        "task": f"{name}-task",
        "entity": f"{name}person",
        "query": f"Where is the {name}secret?",
        "token": token.secret,
        "token_id": token.token.id,
    }


NAMED = {
    **dict.fromkeys(("session", "session_id", "inside"), "session"),
    **dict.fromkeys(("task", "task_id"), "task"),
    **dict.fromkeys(("entity", "name_or_id", "into", "other", "name", "alias", "subject"), "entity"),
    "query": "query",
    "recall_id": "recall",
    "token_id": "token_id",
}
FIXED = {
    "content": "planted",
    "text": "We decided to plant this.",
    "reason": "because",
    "value": "planted",
    "role": "admin",
    "actor": "mallory",
    "tier": "cold",
    "kind": None,
    "dry_run": False,
    "confirm": None,
    "messages": [{"role": "user", "content": "planted"}],
    "items": [{"content": "planted"}],
    "everything": True,
    "policy": {"archive": {"cold_days": 1}},
    "similarity_threshold": 0.8,
    "edge": None,
    "predicate": None,
    "include_archived": True,
    "past": True,
    "full": True,
    "touch": True,
    "limit": 20,
    "sessions": None,
}


def foreign(verb, known, *, place):
    """Return arguments that name all that is known of a tenant."""
    given = {}
    for parameter in parameters_of(verb):
        name = parameter.name
        if name == "namespace":
            given[name] = f"{known['name']}/*" if verb.name == "create_token" else place
        elif parameter.param.refers == "operation":
            given[name] = known["operations"][0]
        elif parameter.param.refers:
            given[name] = known["ids"] if parameter.kind in {"texts", "texts or object"} else known["ids"][0]
        elif name in FIXED:
            given[name] = FIXED[name]
        elif name in NAMED:
            given[name] = known[NAMED[name]]
        elif parameter.required:
            given[name] = parameter.choices[0] if parameter.choices else "x"
    return {name: value for name, value in given.items() if value is not None}


def variants(verb, known):
    """Yield calls that name another's things: in that one's namespace, in none, by short ids, the last operation."""
    yield foreign(verb, known, place=known["place"])
    needed = {p.name for p in verb.parameters if p.required} | {"namespace", "include_archived"}
    yield {name: value for name, value in foreign(verb, known, place=known["place"]).items() if name in needed}
    without = foreign(verb, known, place=None)
    yield without
    for shown, whole in (("ids", 18), ("operations", 18)):
        short = json.loads(json.dumps(without))
        for name, value in short.items():
            if isinstance(value, str) and value in known[shown]:
                short[name] = value[:whole]
        yield short
    if "operation_id" in without:
        yield {**without, "operation_id": "last"}


def words_of(known):
    """Return what only the tenant's own store says: none of it was given in a call."""
    name = known["name"]
    return [f"{name} hides", f"{name} keeps", f"{name} forgot", f"{name}town", f"{name}-tag"]


def rows_of(memory, place):
    """Return every row of a namespace, in every part."""
    transfer = memory._context.store.transfer
    found = {}
    for part in PARTS:
        after = None
        while page := transfer.read(place, part, after, 1000):
            found.setdefault(part, []).extend(row for _, row in page)
            after = page[-1][0]
    return json.dumps(found, sort_keys=True)


def tokens_of(memory):
    return [(t.id, t.role, t.namespace, t.revoked_at) for t in memory.list_tokens()]


@contextmanager
def serving(memory):
    with TestClient(build_app(lambda: memory, SETTINGS), base_url=BASE) as client:
        yield client


def bearer(known):
    return {"authorization": f"Bearer {known['token']}"}


def call_tool(client, headers, name, arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    told = {**headers, "accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    answer = client.post("/mcp", json=body, headers=told)
    assert answer.status_code == 200, answer.text
    return answer.json()


def leaks(text, known):
    return [word for word in words_of(known) if word in text]


@WALKED
def test_no_route_and_no_tool_shows_or_changes_what_is_anothers(shared):
    alice, bob = settle(shared, "alice"), settle(shared, "bob")
    before, tokens = rows_of(shared, alice["place"]), [t for t in tokens_of(shared) if t[2] == "alice/*"]
    assert len(before) > 5000
    answered = 0
    with serving(shared) as client:
        for name in ALL:
            verb = VERBS[name]
            for given in variants(verb, alice):
                answer = client.post(path_of(verb), json=given, headers=bearer(bob))
                assert answer.status_code != 500, (name, given, answer.text)
                assert leaks(answer.text, alice) == [], (name, given)
                answered += answer.status_code == 200
                if verb.reads:
                    pairs = [(k, v) for k, v in given.items() if not isinstance(v, dict | bool | list)]
                    answer = client.get(path_of(verb), params=pairs, headers=bearer(bob))
                    assert leaks(answer.text, alice) == [], (name, given)
            assert rows_of(shared, alice["place"]) == before, name
        for verb in verbs_of("full"):
            for given in variants(verb, alice):
                offered = {p.name for p in verb.parameters if p.param.tool}
                found = call_tool(client, bearer(bob), verb.name, {k: v for k, v in given.items() if k in offered})
                assert leaks(json.dumps(found), alice) == [], (verb.name, given)
            assert rows_of(shared, alice["place"]) == before, verb.name
    assert answered > 40  # most verbs found nothing and said so; the walk did reach them
    assert [t for t in tokens_of(shared) if t[2] == "alice/*"] == tokens
    assert [t for t in tokens_of(shared) if t[2] == "*"] == []


def test_the_walk_would_notice_a_hole(shared, monkeypatch):
    alice, bob = settle(shared, "alice"), settle(shared, "bob")
    monkeypatch.setattr(Grant, "covers", lambda _self, _namespace: True)
    before, seen, changed = rows_of(shared, alice["place"]), set(), set()
    with serving(shared) as client:
        for name in ("get", "why", "list", "recall", "history", "digest", "facts", "timeline", "pin", "deny", "undo"):
            for given in variants(VERBS[name], alice):
                if leaks(client.post(path_of(VERBS[name]), json=given, headers=bearer(bob)).text, alice):
                    seen.add(name)
            if rows_of(shared, alice["place"]) != before:
                changed.add(name)
                before = rows_of(shared, alice["place"])
    assert {"get", "why", "list", "recall", "digest", "facts", "timeline"} <= seen
    assert {"pin", "deny"} <= changed


def test_each_sees_its_own_whole(shared):
    alice, bob = settle(shared, "alice"), settle(shared, "bob")
    with serving(shared) as client:
        for mine, theirs in ((alice, bob), (bob, alice)):
            assert client.get("/v1/namespaces", headers=bearer(mine)).json() == {"namespaces": [mine["place"]]}
            text = client.get("/v1/get", params={"id": mine["ids"][1]}, headers=bearer(mine)).text
            assert "in the shed" in text
            given = {"query": mine["query"], "namespace": mine["place"]}
            assert mine["name"] in client.post("/v1/recall", json=given, headers=bearer(mine)).text
            history = client.get("/v1/history", headers=bearer(mine)).json()["entries"]
            assert {entry["namespace"] for entry in history} == {mine["place"]}
            stats = client.get("/v1/stats", headers=bearer(mine)).text
            assert theirs["name"] not in stats
            assert [t["actor"] for t in client.get("/v1/list-tokens", headers=bearer(mine)).json()["tokens"]] == [
                mine["name"]
            ]
            found = call_tool(client, bearer(mine), "get", {"id": mine["ids"][1]})
            assert "in the shed" in json.dumps(found)


def test_a_new_method_of_the_store_is_refused_until_it_is_thought_of():
    of_all = {"space", "unreachable", "unfinished", "read_only", "health", "unwritable", "clock"}
    explicit = set(vars(ConfinedStore)) | of_all
    everything = {name for name in vars(Store) if not name.startswith("_")}
    assert everything - routed_methods(Store) - explicit == set()
    assert "get" in routed_methods(Store)
    assert "operations" not in routed_methods(Store)
    whole = ConfinedStore(object(), Grant("admin", "team/*", "me"))
    for name in ("anything_new", "_rows", "_connection", "path", "flush"):
        with pytest.raises(AttributeError, match="not offered to a token"):
            getattr(whole, name)
    for protocol in (Documents, RowTransfer):
        names = {name for name, _ in inspect.getmembers(protocol, inspect.isfunction) if not name.startswith("_")}
        assert names - routed_methods(protocol) <= {"spaces"}
    about_tokens = {"any", "all", "find", "add", "revoke", "use", "begin_login", "find_login", "end_login"}
    assert {n for n in vars(Tokens) if not n.startswith("_")} == about_tokens


@pytest.mark.parametrize("name", ["sweep", "forecast", "verify", "history", "stats", "recall"])
def test_a_namespace_that_the_token_does_not_reach_is_refused_by_what_looks_in_several(shared, name):
    shared.remember("Deploys happen on Tuesdays.", "team/a")
    known = {"token": shared.create_token("admin", "team/a", actor="ana").secret}
    given = {p.name: "deploys" for p in VERBS[name].parameters if p.required}
    with serving(shared) as client:
        for place, status in (("team/a", 200), ("team/b", 403)):
            answer = client.post(path_of(VERBS[name]), json={**given, "namespace": place}, headers=bearer(known))
            assert answer.status_code == status, answer.text
            assert status == 200 or "team/b" in answer.json()["detail"]


def test_a_token_reaches_no_session_of_one_that_may_do_more(shared):
    theirs = shared.create_token("admin", "*", actor="ana").secret
    cookie = shared.log_in(theirs, 60)
    mine = shared.confine(Grant("admin", "team/*", "me"))
    assert mine.logged_in(cookie) is None
    assert mine.log_in(theirs, 60) is None
    mine.log_out(cookie)
    assert shared.logged_in(cookie).grant.actor == "ana"


@pytest.mark.parametrize("role", ROLES)
def test_each_role_may_do_what_its_verbs_need_and_no_more(shared, role):
    shared.remember("Deploys happen on Tuesdays.", "team/a")
    memory = shared.confine(Grant(role, "team/*", "me"))
    for verb in VERBS.values():
        given = {p.name: "x" for p in verb.parameters if p.required}
        refused = False
        try:
            getattr(memory, verb.method.__name__)(**given)
        except PerdureError as error:
            refused = isinstance(error, NotAllowed) and "needs a token with the role" in error.message
        assert refused == (ROLES.index(verb.needs) > ROLES.index(role)), verb.name


def test_a_token_takes_back_what_it_could_have_made(shared):
    agent, curator = (shared.confine(Grant(role, "team/*", role)) for role in ("agent", "curator"))
    tokens = {role: {"token": shared.create_token(role, "team/*", actor=role).secret} for role in ROLES}
    kept, other = (agent.remember(f"Backups run in the {when}.", "team/a") for when in ("night", "winter"))
    forgotten = agent.forget(other.id).operation
    pinned = curator.pin(kept.id).operation
    with serving(shared) as client:

        def undo(role, operation):
            answer = client.post("/v1/undo", json={"operation_id": operation}, headers=bearer(tokens[role]))
            return answer.status_code, answer.json()

        def needs_curator(answered):
            return answered[0] == 403 and "a token with the role curator" in answered[1]["detail"]

        assert needs_curator(undo("agent", pinned))
        told = call_tool(client, bearer(tokens["agent"]), "undo", {"operation_id": pinned})
        assert "a token with the role curator" in json.dumps(told)
        assert shared.get(kept.id).pinned
        assert undo("agent", "last")[1]["undone"] == forgotten
        status, back = undo("curator", pinned)
        assert status == 200
        assert needs_curator(undo("agent", back["operations"][0]))  # to take that back is to pin it again
        assert [undo("agent", "last")[0] for _ in (kept, other)] == [200, 200]
        assert undo("agent", "last")[0] == 404
    assert shared.check() == []


def test_a_readers_recall_leaves_no_trace(shared):
    shared.remember("Deploys happen on Tuesdays.", "team/a")
    before = rows_of(shared, "team/a")
    reader = shared.confine(Grant("reader", "team/*", "me"))
    assert reader.recall("When do we deploy?", "team/a").hits
    assert rows_of(shared, "team/a") == before
    with pytest.raises(NotAllowed):
        reader.remember("x", "team/a")
    with pytest.raises(NotAllowed):
        reader.apply_all([])


def test_the_journal_says_who_asked(shared):
    agent = shared.confine(Grant("agent", "team/a", "ana's laptop"))
    kept = agent.remember("Deploys happen on Tuesdays.", agent.usual_namespace("default"))
    shared.forget(kept.id)
    assert [(o.operation, o.actor) for o in shared.history(namespace="team/a")] == [
        ("archive", None),
        ("remember", "ana's laptop"),
    ]
    assert shared.check() == []


def test_patterns_reach_what_they_say():
    def grant(pattern, role="agent"):
        return Grant(role, pattern, "me")

    assert grant("*").covers("any/where")
    assert grant("team/*").covers("team/a")
    assert not grant("team/*").covers("team")
    assert not grant("team/*").covers("teamwork")
    assert not grant("team/*").covers("team2/a")
    assert grant("team").covers("team")
    assert not grant("team").covers("team/a")
    assert grant("team/*").includes(grant("team/a/*"))
    assert not grant("team/*").includes(grant("*"))
    assert not grant("team/*").includes(grant("team"))
    assert not grant("team/*").includes(grant("team/a", "curator"))
    assert not grant("team").includes(grant("team/*"))


@pytest.mark.parametrize("pattern", ["team*", "*/a", "team/**", "../x", "team/", "", " ", "a/*/b"])
def test_other_patterns_are_refused(pattern):
    with perdure.open(":memory:", POLICY) as memory, pytest.raises(PerdureError):
        memory.create_token("agent", pattern, actor="me")


def test_a_confined_memory_closes_nothing(shared):
    kept = shared.remember("Deploys happen on Tuesdays.", "team/a")
    confined = shared.confine(Grant("agent", "team/*", "me"))
    assert isinstance(confined, Memory)
    confined.close()
    assert shared.get(kept.id) is not None
    with pytest.raises(NotFound):
        shared.confine(Grant("admin", "other/*", "me")).why(kept.id)
