"""Tokens: what a wrong, an expired, a revoked and a weaker one may do, and how they are made and kept."""

from __future__ import annotations

import json
import re
import shlex
import time
from datetime import UTC, datetime, timedelta

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import perdure
from conftest import STORES
from perdure.compose import backup, restore_backup
from perdure.interfaces.cli.app import app
from perdure.interfaces.http import access, shared
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from perdure.records.errors import PerdureWarning
from service.conftest import BASE, HOST, POLICY
from service.test_serve import ask, run, served


class Watch:
    """A clock that is moved by hand."""

    def __init__(self):
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture(params=STORES[:2])
def store(request):
    return request.param


@pytest.fixture
def watch():
    return Watch()


@pytest.fixture
def memory(path, watch):
    with perdure.open(path, POLICY, clock=watch) as opened:
        yield opened


@pytest.fixture
def client(memory, monkeypatch):
    monkeypatch.setattr(access, "KNOWN_SECONDS", 0.0)  # each request asks the store
    with talking_to(memory) as made:
        yield made


def talking_to(memory):
    return TestClient(build_app(lambda: memory, Settings(frozenset({HOST}))), base_url=BASE)


def listed(client, secret=None, scheme="Bearer"):
    headers = {} if secret is None else {"authorization": f"{scheme} {secret}"}
    answer = client.get("/v1/list", params={"namespace": "team/a"}, headers=headers)
    if answer.status_code == 401:
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.json()["error"] == "RequestRefused"
    return answer.status_code


def test_without_tokens_everybody_on_the_machine_and_with_one_nobody_else(client, memory):
    assert listed(client) == 200
    made = memory.create_token("reader", "team/*", actor="ana")
    assert listed(client) == 401
    assert listed(client, made.secret) == 200
    assert listed(client, made.secret, scheme="bearer") == 200
    memory.revoke_token(made.token.id)
    assert listed(client, made.secret) == 401
    assert listed(client) == 401  # the last one's end does not open the door


def test_what_is_no_valid_token_is_refused(client, memory, watch, monkeypatch):
    monkeypatch.setattr(shared, "TRIES", 100)
    made = memory.create_token("reader", "team/*", actor="ana", expires=watch.now + timedelta(hours=1))
    near = [made.secret[:-1], made.secret + "A", made.secret.upper(), "perdure_" + "A" * 43, made.token.id]
    for secret in (*near, "", "x", "%00", "x" * 5000, "' OR 1=1 --", made.secret.removeprefix("perdure_")):
        assert listed(client, secret) == 401
    assert listed(client, made.secret, scheme="Basic") == 401
    two = [("authorization", f"Bearer {made.secret}"), ("authorization", f"Bearer {made.secret}")]
    assert client.get("/v1/list", headers=two).status_code == 401
    assert client.get("/v1/list", params={"token": made.secret}).status_code == 401
    assert listed(client, made.secret) == 200
    watch.now += timedelta(hours=1)
    assert listed(client, made.secret) == 401


def test_without_a_token_every_route_is_closed_but_those_that_hold_nothing_of_the_store(client, memory):
    kept = memory.remember("alice hides the key", "team/a")
    memory.create_token("reader", "*", actor="ana")
    routes = [inner for route in client.app.routes for inner in getattr(route, "routes", None) or [route]]
    assert {"/v1/recall", "/memory", "/plans"} <= {getattr(route, "path", "") for route in routes}
    for route in routes:
        path = getattr(route, "path", "/static")
        for method in ("GET", "POST"):
            answer = client.request(method, path, json={} if method == "POST" else None, follow_redirects=False)
            if path in {"/healthz", "/readyz", "/openapi.json", "/login"}:
                assert answer.status_code in {200, 403, 405}, path
            elif path != "/static":
                assert answer.status_code == 401, path
            assert kept.id not in answer.text
            assert "alice" not in answer.text


def test_wrong_tokens_of_an_address_are_limited_and_valid_ones_always_work(client, memory):
    known, late = (memory.create_token("reader", "team/*", actor=name).secret for name in ("ana", "bo"))
    assert listed(client, known) == 200
    headers = {"authorization": "Bearer perdure_guess"}
    replies = [client.post("/mcp" if n % 2 else "/v1/recall", headers=headers) for n in range(shared.TRIES + 1)]
    assert [reply.status_code for reply in replies] == [401] * shared.TRIES + [429]
    assert replies[-1].headers["retry-after"] == str(shared.TRIES_SECONDS)
    assert (listed(client, known), listed(client, late)) == (200, 200)
    assert replies[-1].json()["error"] == "TooManyCalls"
    memory.revoke_token(memory.list_tokens()[0].id)
    assert (listed(client, known), listed(client, late)) == (429, 200)


@pytest.mark.parametrize("where", ["/v1/list", "/v1/list-tokens", "/mcp", "/v1/nothing"])
def test_a_wrong_token_is_refused_everywhere(client, memory, where):
    memory.create_token("reader", "*", actor="ana")
    for method in ("get", "post"):
        assert getattr(client, method)(where, headers={"authorization": "Bearer x"}).status_code == 401
    assert client.get("/healthz").status_code == 200  # an orchestrator has no token
    assert client.get("/openapi.json").status_code == 200


def test_the_secret_is_nowhere_in_the_store(memory, store, path):
    made = memory.create_token("admin", "*", actor="ana")
    assert made.secret.startswith("perdure_")
    assert len(made.secret) == len("perdure_") + 43
    assert made.secret not in json.dumps([t.to_dict() for t in memory.list_tokens()])
    if store == "sqlite":
        files = [f for f in path.parent.iterdir() if f.is_file()]
        assert not [f for f in files if made.secret.removeprefix("perdure_").encode() in f.read_bytes()]


def test_the_last_use_is_known_to_the_minute(client, memory, watch):
    made = memory.create_token("reader", "team/*", actor="ana")
    assert memory.list_tokens()[0].used_at is None
    listed(client, made.secret)
    assert memory.list_tokens()[0].used_at == "2026-01-01 00:00 UTC"
    watch.now += timedelta(seconds=30)
    listed(client, made.secret)
    watch.now += timedelta(minutes=5)
    listed(client, made.secret)
    assert memory.list_tokens()[0].used_at == "2026-01-01 00:05 UTC"


def test_a_token_makes_none_that_may_do_more(client, memory):
    made = memory.create_token("admin", "team/*", actor="ana")
    headers = {"authorization": f"Bearer {made.secret}"}

    def create(**given):
        return client.post("/v1/create-token", json={"actor": "x", **given}, headers=headers)

    assert create(role="admin", namespace="*").status_code == 403
    assert create(role="reader", namespace="other").status_code == 403
    nowhere = create(role="reader")  # where it holds is said, and no default of other calls
    assert (nowhere.status_code, "namespace" in nowhere.json()["detail"]) == (422, True)
    narrower = create(role="curator", namespace="team/a")
    assert narrower.status_code == 200
    assert listed(client, narrower.json()["secret"]) == 200
    agent = create(role="agent", namespace="team/a").json()["secret"]
    refused = client.post(
        "/v1/create-token",
        json={"role": "agent", "namespace": "team/a", "actor": "x"},
        headers={"authorization": f"Bearer {agent}"},
    )
    assert refused.status_code == 403
    assert "needs a token with the role admin" in refused.json()["detail"]


def test_only_an_admin_erases(client, memory):
    kept = memory.remember("alice hides the key", "team/a")
    asked = {"ids": [kept.id], "namespace": "team/a", "reason": "she asked"}
    secrets = {role: memory.create_token(role, "team/a", actor="x").secret for role in ("curator", "admin")}

    def answered(role, **more):
        headers = {"authorization": f"Bearer {secrets[role]}"}
        return client.post("/v1/erase", json={**asked, **more}, headers=headers)

    assert answered("curator").status_code == 403
    word = answered("admin").json()["confirm"]
    assert answered("admin", dry_run=False).status_code == 422
    assert memory.get(kept.id) is not None
    assert answered("admin", dry_run=False, confirm=word).json()["places"] == []
    assert memory.get(kept.id, include_archived=True) is None


def test_who_erases_is_told_places_of_their_own_namespaces_alone(client, memory, path):
    words = "Anna Schmidt lives at 17 Harbour Lane and her door code is 4711-beta."
    places = ("team/a", "team/b", "other")
    kept = {place: memory.remember(words, place).id for place in places}

    def erased(pattern):
        secret = memory.create_token("admin", pattern, actor="x").secret
        asked = {"ids": [memory.remember(words, "team/c").id], "namespace": "team/c", "reason": "she asked"}
        headers = {"authorization": f"Bearer {secret}"}
        word = client.post("/v1/erase", json=asked, headers=headers).json()["confirm"]
        return client.post("/v1/erase", json={**asked, "confirm": word, "dry_run": False}, headers=headers).json()

    for pattern, seen in {"team/c": (), "team/*": places[:2], "*": places}.items():
        done = erased(pattern)
        assert {place for place in places if kept[place] in str(done["places"])} == {*seen}
        assert len(done["places"]) == len(seen)
        untold = [note for note in done["unreachable"] if "only to who sees all of them" in note]
        assert len(untold) == (pattern != "*")
        if pattern != "*":
            assert "other" not in str(done["places"])
            assert str(path) not in str(done)
            assert len(done["unreachable"]) == 2  # and files that nobody knows


def test_who_erases_is_told_of_the_path_of_a_kept_copy_only_with_a_token_for_all(tmp_path):
    file = tmp_path / "restored.db"
    with perdure.open(file, POLICY) as memory:
        memory.remember("Anna Schmidt lives at 17 Harbour Lane.", "team/a")
    backup(file, tmp_path / "safe.db")
    restore_backup(tmp_path / "safe.db", file, overwrite=True)
    with perdure.open(file, POLICY) as memory, talking_to(memory) as client:
        for pattern in ("team/a", "*"):
            headers = {"authorization": f"Bearer {memory.create_token('admin', pattern, actor='x').secret}"}
            gone = memory.remember("Anna Schmidt lives at 17 Harbour Lane.", "team/a").id
            asked = {"ids": [gone], "namespace": "team/a", "reason": "she asked"}
            word = client.post("/v1/erase", json=asked, headers=headers).json()["confirm"]
            asked |= {"confirm": word, "dry_run": False}
            notes = client.post("/v1/erase", json=asked, headers=headers).json()["unreachable"]
            [told] = [note for note in notes if "that a repair or a restore left" in note]
            assert (f"{file}.before-restore" in told) == (pattern == "*")
            assert (str(tmp_path) in told) == (pattern == "*")


def test_a_token_of_one_namespace_needs_not_name_it(client, memory):
    made = memory.create_token("agent", "team/a", actor="ana")
    headers = {"authorization": f"Bearer {made.secret}"}
    kept = client.post("/v1/remember", json={"content": "Deploys happen on Tuesdays."}, headers=headers).json()
    assert kept["namespace"] == "team/a"
    refused = client.post("/v1/remember", json={"content": "x", "namespace": "team/b"}, headers=headers)
    assert refused.status_code == 403
    assert "team/a" in refused.json()["remedy"]


def test_the_commands_that_refusals_name_make_tokens_that_are_not_refused(client, memory, path):
    """Each runs as it is shown; the only word to fill in is a name, and NAME is one."""
    memory.remember("alice hides the key", "team/a")
    reader = memory.create_token("reader", "team/*", actor="Ana's laptop").secret
    calls = {
        "/v1/list": None,
        "/v1/remember": {"namespace": "team/a", "content": "x"},
        "/v1/sweep": {"namespace": "team/a"},
        "/v1/list-tokens": None,
        "/metrics": None,
    }

    def answer(secret, where):
        headers = {} if secret is None else {"authorization": f"Bearer {secret}"}
        return client.request("GET" if calls[where] is None else "POST", where, headers=headers, json=calls[where])

    for where in calls:
        secret = None if where == "/v1/list" else reader
        refused = answer(secret, where)
        assert refused.status_code in {401, 403}, where
        (command,) = re.findall("`perdure (.+)`", refused.json()["remedy"])
        made = CliRunner().invoke(app, [*shlex.split(command), "--store", str(path), "--json"])
        assert made.exit_code == 0, made.output
        token = json.loads(made.stdout)
        assert answer(token["secret"], where).status_code not in {401, 403}, where
        if where not in {"/v1/list", "/metrics"}:
            assert (token["token"]["namespace"], token["token"]["actor"]) == ("team/*", "Ana's laptop")


def test_an_expiry_in_the_past_is_refused(memory, watch):
    with pytest.raises(perdure.InvalidInput, match="past"):
        memory.create_token("reader", "*", actor="ana", expires=watch.now)
    assert memory.list_tokens() == []


def test_the_command_line_makes_lists_and_revokes_them_and_the_service_heeds_them(tmp_path):
    where = ("--store", str(tmp_path / "a.db"), "--json")
    nowhere = run(tmp_path, "token", "create", "--role", "agent", "--actor", "ana", *where)
    assert (nowhere.returncode, "--namespace" in json.loads(nowhere.stdout)["remedy"]) == (1, True)
    words = ("token", "create", "--role", "agent", "--namespace", "team/*", "--actor", "ana")
    assert run(tmp_path, "remember", "Deploys happen on Tuesdays.", "--namespace", "team/a", *where).returncode == 0
    with served(tmp_path) as (process, port):
        assert "There are no tokens" in process.stderr.readline()
        assert ask(port, "GET", "/v1/list")[0] == 200
        made = run(tmp_path, *words, *where)
        assert made.returncode == 0, made.stderr
        found = json.loads(made.stdout)
        headers = {"authorization": f"Bearer {found['secret']}"}

        def until(status, **named):
            """Whether the service answers so before long: it looks once a second which tokens there are."""
            end = time.monotonic() + 30
            while time.monotonic() < end:
                if ask(port, "GET", "/v1/list?namespace=team/a", **named)[0] == status:
                    return True
            return False

        assert until(401)
        assert until(200, headers=headers)
        tokens = json.loads(run(tmp_path, "token", "list", *where).stdout)
        assert [(t["role"], t["namespace"], t["actor"]) for t in tokens] == [("agent", "team/*", "ana")]
        assert run(tmp_path, "token", "revoke", found["token"]["id"], *where).returncode == 0
        assert until(401, headers=headers)
    with served(tmp_path, "--host", "127.0.0.1") as (process, _port):
        process.terminate()
        assert "There are no tokens" not in process.stderr.read()


def test_revoking_the_last_admin_token_of_all_namespaces_says_so(memory):
    made = [memory.create_token(role, where, actor="ana") for role, where in (("admin", "*"), ("admin", "a"))]
    second = memory.create_token("admin", "*", actor="bo")
    memory.revoke_token(second.token.id)  # there is another one
    with pytest.warns(PerdureWarning, match="last valid token of an admin.*perdure token create"):
        memory.revoke_token(made[0].token.id)
    memory.revoke_token(made[0].token.id)  # it was over before


def test_http_says_when_the_last_admin_of_all_namespaces_goes_or_will_end(client, memory):
    first = memory.create_token("admin", "*", actor="ana")
    headers = {"authorization": f"Bearer {first.secret}"}

    def call(verb, **given):
        answer = client.post(f"/v1/{verb}", json=given, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def made(days, namespace="*"):
        expires = (memory.now + timedelta(days=days)).isoformat()
        return call("create-token", role="admin", namespace=namespace, actor="bo", expires=expires)["token"]

    def notes():
        return {one["id"]: one["note"] for one in call("list-tokens")["tokens"] if one["note"]}

    lasting, longest = made(300, "team/*"), made(20)
    assert (lasting["note"], longest["note"], notes()) == ("", "", {})  # one stays that does not end
    with pytest.warns(PerdureWarning, match="last valid token"):
        ended = [memory.revoke_token(one).note for one in (first.token.id, longest["id"])]
    assert ended[0] == ""
    assert "perdure token create" in ended[1]
    again = memory.create_token("admin", "*", actor="ana", expires=memory.now + timedelta(days=10))
    headers["authorization"] = f"Bearer {again.secret}"
    assert "Make the next one" in again.token.note
    assert notes() == {again.token.id: again.token.note}
    later = made(20)
    assert later["note"] == again.token.note
    assert notes() == {later["id"]: later["note"]}
    call("revoke-token", token_id=later["id"])
    with pytest.warns(PerdureWarning, match="last valid token"):
        assert "over HTTP nobody" in call("revoke-token", token_id=again.token.id)["note"]


def test_only_who_may_report_a_use_gets_the_id_to_report_it_with(client, memory):
    kept = memory.remember("Deploys happen on Tuesdays.", namespace="team/a")
    for role, reports in (("reader", False), ("agent", True)):
        headers = {"authorization": f"Bearer {memory.create_token(role, 'team/*', actor=role).secret}"}
        answer = client.post("/v1/recall", json={"query": "deploys", "namespace": "team/a"}, headers=headers).json()
        assert [hit["memory"]["id"] for hit in answer["hits"]] == [kept.id]
        assert bool(answer["recall_id"]) is reports
        body = {"ids": [kept.id], "outcome": "helpful", "recall_id": answer["recall_id"]}
        assert client.post("/v1/used", json=body, headers=headers).status_code == (200 if reports else 403)
