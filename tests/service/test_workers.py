"""Several processes at one address: what holds over all of them, which one does what, and their ends."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlencode

import pytest

import perdure
from perdure.interfaces.http.serve import serve
from perdure.interfaces.http.shared import TRIES
from perdure.records.errors import InvalidInput
from perdure.records.policy import Policy
from servers import drop_database, fresh_database
from service import test_maintaining
from service.conftest import POLICY
from service.test_lasting_sessions import form_token
from service.test_limits import in_thread
from service.test_maintaining import beside, outcomes, runs, waited
from service.test_serve import ask, run, served

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc to see which process has a connection")
JSON = {"content-type": "application/json"}
ONE_SOCKET = """
import sys
from perdure.interfaces.http import supervisor
from perdure.interfaces.http.command import main
supervisor._SHARES_OUT = False
main(sys.argv[1:])
"""
READ_ONLY = """
from perdure.memory import Memory
from perdure.records.errors import StoreReadOnly
def log_in(*_):
    raise StoreReadOnly("The disk is read-only.", remedy="Wait.")
Memory.log_in = log_in
"""
SIGNAL_BEFORE_THE_FIRST_CALL = """
import gc, os, signal, time
def freeze():
    os.kill(os.getppid(), signal.SIGTERM)
    time.sleep(1)  # the service passes it on meanwhile
gc.freeze = freeze
"""
AT_ONCE = """
from perdure.interfaces.hooks import background
background.FIRST_SECONDS = background.PAUSE_SECONDS = 0.1  # the first look may come before anything is stored
"""

TELLS_ITS_TEXTS = """
import gc, json, os, signal, sys
from functools import lru_cache
def tell(*_):
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "perdure"]
    left = [f for m in modules for f in vars(m).values() if isinstance(f, type(lru_cache(len)))]
    seen = {}
    while left:
        one = left.pop()
        if id(one) not in seen and not isinstance(one, (type, type(tell), type(sys))):
            seen[id(one)] = one
            left += gc.get_referents(one)
    with open(f"{os.environ['TELL']}/{os.getpid()}.new", "w") as file:
        json.dump([one for one in seen.values() if isinstance(one, str)], file)
    os.replace(file.name, file.name[:-4])
signal.signal(signal.SIGUSR2, tell)
"""


@pytest.fixture(autouse=True)
def _closed():
    yield
    while Talk.made:
        Talk.made.pop().http.close()


class Talk:
    """A connection that one worker has taken, until the test ends."""

    made: ClassVar[list] = []

    def __init__(self, port):
        self.made.append(self)
        self.http = HTTPConnection("127.0.0.1", port, timeout=60)
        self.http.connect()
        self.ask("GET", "/healthz")
        self.worker = waited(lambda: _holder(port, self.http.sock.getsockname()[1]))

    def ask(self, method, path, given=None, **headers):
        """Return status and text of an answer."""
        body = None if given is None else json.dumps(given)
        status, told, text = self.answer(method, path, body, {**JSON, **headers})
        return status, json.loads(text) if "json" in told.get_content_subtype().split("+") else text

    def answer(self, method, path, body, headers):
        """Return status, headers and text of an answer."""
        self.http.request(method, path, body, headers)
        with self.http.getresponse() as answer:
            return answer.status, answer.headers, answer.read().decode()


def _holder(port, peer):
    """Return the process that holds the service's end of a connection; None where a look at all of them missed it."""
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    wanted = [f"socket:[{r[9]}]" for r in rows if (int(r[1][-4:], 16), int(r[2][-4:], 16)) == (port, peer)]
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if str(link.readlink()) in wanted:
                return int(link.parts[2])
    return None


def in_workers(folder, monkeypatch, code):
    """Have some code run when a worker starts."""
    (folder / "sitecustomize.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")


@contextmanager
def two(folder, *words):
    """Serve with two workers, and give the service's process, its port and a connection to each worker."""
    with served(folder, "--workers", "2", *words) as (process, port):
        yield process, port, talks(process, port)


def talks(process, port, many=2):
    """Return a connection to each of so many workers, when all are there."""
    assert waited(lambda: len(workers := beside(process)) == many and workers)
    found = {}
    deadline = time.monotonic() + 60
    while len(found) < many and time.monotonic() < deadline:
        talk = Talk(port)
        found.setdefault(talk.worker, talk)
    assert sorted(found) == sorted(beside(process))
    return list(found.values())


def texts_of(folder, worker):
    """Return the texts that the functions of a worker keep."""
    told = folder / str(worker)
    told.unlink(missing_ok=True)
    os.kill(worker, signal.SIGUSR2)
    return json.loads(waited(lambda: told.exists() and told.read_text()))


def test_an_erasure_at_one_empties_the_caches_of_the_other(tmp_path, monkeypatch):
    in_workers(tmp_path, monkeypatch, TELLS_ITS_TEXTS)
    monkeypatch.setenv("TELL", str(tmp_path))
    with two(tmp_path) as (_, _, (one, other)):
        status, kept = one.ask("POST", "/v1/remember", {"content": "Anna Schmidt lives at 7 Harbour Lane."})
        assert status == 200, kept
        for talk in (one, other):
            assert talk.ask("POST", "/v1/recall", {"query": "Where does Anna Schmidt live?"})[1]["hits"]
            talk.ask("POST", "/v1/digest", {})
            assert any("Schmidt" in text for text in texts_of(tmp_path, talk.worker))
        asked = {"ids": [kept["id"]], "reason": "a test"}
        confirm = one.ask("POST", "/v1/erase", asked)[1]["confirm"]
        status, done = one.ask("POST", "/v1/erase", {**asked, "confirm": confirm, "dry_run": False})
        assert status == 200, done
        for talk in (one, other):
            assert waited(lambda talk=talk: not any("Schmidt" in text for text in texts_of(tmp_path, talk.worker)))


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """A service with two workers, for tests that end none: its process and its port."""
    with served(tmp_path_factory.mktemp("lasting"), "--workers", "2") as found:
        yield found


def test_both_answer_from_one_store_and_connections_are_shared_out(lasting):
    one, other = talks(*lasting)
    status, kept = one.ask("POST", "/v1/remember", {"content": "Deploys happen on Tuesdays."})
    assert status == 200
    status, found = other.ask("POST", "/v1/recall", {"query": "When do we deploy?"})
    assert [hit["memory"]["id"] for hit in found["hits"]] == [kept["id"]]
    assert {one.ask("GET", "/readyz")[0], other.ask("GET", "/readyz")[0]} == {200}
    holders = Counter(talk.worker for talk in [Talk(lasting[1]) for _ in range(64)])
    assert min(holders[one.worker], holders[other.worker]) >= 12


def test_a_server_s_store_is_shared(tmp_path):
    url = fresh_database()
    try:
        with two(tmp_path, "--store", url) as (_, _, (one, other)):
            kept = one.ask("POST", "/v1/remember", {"content": "Deploys happen on Tuesdays."})[1]
            assert other.ask("GET", f"/v1/get?id={kept['id']}")[1]["content"] == "Deploys happen on Tuesdays."
    finally:
        drop_database(url)


def test_one_of_them_runs_maintenance_and_its_successor_goes_on(tmp_path, monkeypatch):
    in_workers(tmp_path, monkeypatch, AT_ONCE)
    with two(tmp_path) as (process, _, (one, other)):
        one.ask("POST", "/v1/remember", {"content": "Deploys happen on Tuesdays."})
        assert waited(lambda: outcomes(tmp_path).get("report") == "done")
        maintained = {talk.worker: _children(talk.worker) for talk in (one, other)}
        assert sorted(map(len, maintained.values())) == [0, 1]
        (first,) = [worker for worker, found in maintained.items() if found]
        os.kill(first, signal.SIGKILL)
        assert waited(lambda: not runs(maintained[first][0]))
        assert waited(lambda: sorted(len(_children(worker)) for worker in beside(process)) == [0, 1])


def _children(pid):
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] + [
        int(n)
        for task in Path(f"/proc/{pid}/task").iterdir()
        if task.name != str(pid)
        for n in (task / "children").read_text().split()
    ]


def test_a_key_is_one_key_for_all_also_while_its_first_call_runs(lasting):
    one, other = talks(*lasting)
    kept = one.ask("POST", "/v1/remember", {"content": "Deploys happen on Tuesdays.", "namespace": "keys"})[1]
    given = {"memory_ids": [kept["id"]], "amount": 0.01}
    answers = [talk.ask("POST", "/v1/strengthen", given, **{"idempotency-key": "k"}) for talk in (one, other)]
    assert answers[0] == answers[1]
    assert answers[0][0] == 200
    changed = {**given, "amount": 0.02}
    assert other.ask("POST", "/v1/strengthen", changed, **{"idempotency-key": "k"})[0] == 422
    many = {"items": [{"content": f"Server {n} listens on port {n}."} for n in range(500)], "namespace": "keys"}
    lines = {"idempotency-key": "m", "accept": "application/x-ndjson"}
    thread, found = in_thread(lambda: one.ask("POST", "/v1/remember-many", many, **lines))
    again = other.ask("POST", "/v1/remember-many", many, **lines)
    thread.join(60)
    assert again == found[0]
    assert (again[0], again[1].count("\n")) == (200, 500)
    assert one.ask("GET", "/v1/stats?namespace=keys")[1]["memories"] == 501
    about = {"ids": [kept["id"]], "namespace": "keys", "reason": "asked"}
    confirm = one.ask("POST", "/v1/erase", about)[1]["confirm"]
    assert one.ask("POST", "/v1/erase", {**about, "confirm": confirm, "dry_run": False})[0] == 200
    status, refused = other.ask("POST", "/v1/strengthen", given, **{"idempotency-key": "k"})
    assert (status, refused["error"]) == (422, "MemoryErased")


def test_the_key_of_a_call_whose_worker_was_killed_may_be_used_again(tmp_path):
    with two(tmp_path) as (_, _, (one, other)):
        many = {"items": [{"content": f"Server {n} listens on port {n}."} for n in range(3000)]}
        key = {"idempotency-key": "m"}
        thread, lost = in_thread(lambda: _or_error(lambda: one.ask("POST", "/v1/remember-many", many, **key)))
        time.sleep(0.2)  # it has come, and runs
        waiting, found = in_thread(lambda: other.ask("POST", "/v1/remember-many", many, **key)[0])
        time.sleep(0.1)
        os.kill(one.worker, signal.SIGKILL)
        thread.join(60)
        waiting.join(60)
        assert (lost, found) == (["lost"], [200])


def _or_error(work):
    try:
        return work()
    except (OSError, HTTPException):
        return "lost"


def test_a_token_has_one_rate_over_all(tmp_path):
    with perdure.open(tmp_path / "a.db", POLICY) as memory:
        ana = memory.create_token("reader", "*", actor="ana").secret
    with two(tmp_path, "--rate", "0.5") as (_, _, both):
        began = time.monotonic()
        asked = Counter(talk.ask("GET", "/v1/list", authorization=f"Bearer {ana}")[0] for talk in both)
        assert 1 <= asked[200] <= 1 + 0.5 * (time.monotonic() - began)  # each for itself would allow both at once
        assert asked[200] + asked[429] == 2


def test_who_logs_in_at_one_is_known_to_the_other_and_wrong_tokens_count_together(tmp_path):
    with perdure.open(tmp_path / "a.db", POLICY) as memory:
        secret = memory.create_token("curator", "*", actor="ana").secret
    html = {"accept": "text/html"}
    form = {"content-type": "application/x-www-form-urlencoded", **html}
    with two(tmp_path) as (_, _, (one, other)):
        _, heads, page = one.answer("GET", "/login", None, html)
        new = {"cookie": heads["set-cookie"].partition(";")[0]}
        given = {"token": form_token(page), "secret": secret}
        status, heads, _ = other.answer("POST", "/login", urlencode(given), {**form, **new})
        assert status == 303
        known = {"cookie": heads["set-cookie"].partition(";")[0]}
        for talk in (one, other):
            status, _, page = talk.answer("GET", "/", None, {**html, **known})
            assert (status, "Log out" in page) == (200, True)
        tried = urlencode({**given, "secret": "guess"})
        statuses = [(one, other)[n % 2].answer("POST", "/login", tried, {**form, **new})[0] for n in range(TRIES + 1)]
        assert statuses == [401] * TRIES + [429]


def test_a_session_that_the_store_could_not_keep_is_known_to_both(tmp_path, monkeypatch):
    with perdure.open(tmp_path / "a.db", POLICY) as memory:
        secret = memory.create_token("curator", "*", actor="ana").secret
    html = {"accept": "text/html"}
    form = {"content-type": "application/x-www-form-urlencoded", **html}
    in_workers(tmp_path, monkeypatch, READ_ONLY)
    with two(tmp_path) as (_, _, (one, other)):
        _, heads, page = one.answer("GET", "/login", None, html)
        known = {"cookie": heads["set-cookie"].partition(";")[0]}
        given = urlencode({"token": form_token(page), "secret": secret})
        _, heads, _ = one.answer("POST", "/login", given, {**form, **known})
        known = {"cookie": heads["set-cookie"].partition(";")[0]}
        status, _, page = other.answer("GET", "/", None, {**html, **known})
        assert (status, "Log out" in page) == (200, True)
        leave = urlencode({"token": form_token(page)})
        assert other.answer("POST", "/logout", leave, {**form, **known})[0] == 303
        assert one.answer("GET", "/", None, {**html, **known})[0] == 303


def news_at(talk):
    """Yield the kinds of news that a page hears in a minute; it connects again where it left off, as browsers do."""
    last, deadline = "", time.monotonic() + 60
    while time.monotonic() < deadline:
        talk.http.request("GET", "/live", headers={"accept": "text/event-stream", "last-event-id": last})
        for line in iter(talk.http.getresponse().readline, b""):
            name, _, value = line.decode().rstrip().partition(": ")
            last = value if name == "id" else last
            if name == "event":
                yield value


def test_a_page_at_one_hears_what_the_other_has_stored(lasting):
    one, other = talks(*lasting)
    news = news_at(one)
    assert next(news) == "hello"
    status, kept = other.ask("POST", "/v1/remember", {"content": "The page at the other worker hears of this."})
    assert (status, kept["changed"]) == (200, True), kept
    assert "operation" in news


def test_mcp_needs_no_worker_of_its_own(lasting):
    accept = {"accept": "application/json, text/event-stream"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    one, other = talks(*lasting)
    status, told = one.ask(
        "POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}, **accept
    )
    assert (status, told["result"]["serverInfo"]["name"]) == (200, "perdure")
    call = {"name": "remember", "arguments": {"content": "The office is in Graz."}}
    version = {"mcp-protocol-version": told["result"]["protocolVersion"], **accept}
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    status, told = other.ask("POST", "/mcp", asked, **version)
    assert (status, told["result"].get("isError", False)) == (200, False)
    kept = told["result"]["structuredContent"]["id"]
    assert one.ask("GET", f"/v1/get?id={kept}")[1]["content"] == "The office is in Graz."


def metric(talk, name):
    text = talk.ask("GET", "/metrics")[1]
    return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)[1])


def test_metrics_and_the_log_are_of_all_also_of_those_that_have_ended(tmp_path):
    recalls = 'perdure_calls_total{outcome="ok",verb="recall"}'
    with two(tmp_path, "--log") as (process, port, (one, other)):
        for talk, times in ((one, 3), (other, 4)):
            for _ in range(times):
                talk.ask("POST", "/v1/recall", {"query": "When do we deploy?"})
        assert [metric(talk, recalls) for talk in (one, other)] == [7, 7]
        assert metric(one, 'perdure_call_seconds_count{verb="recall"}') == 7
        assert metric(one, "perdure_workers") == 2
        os.kill(one.worker, signal.SIGKILL)
        assert waited(lambda: one.worker not in beside(process) and len(beside(process)) == 2)
        talks(process, port)
        assert metric(other, recalls) == 7
        assert metric(other, "perdure_worker_restarts_total") == 1
        assert metric(other, "perdure_workers") == 2
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        told = [json.loads(line) for line in process.stderr.read().splitlines() if line.startswith("{")]
        assert [line["verb"] for line in told if line["log"] == "perdure.calls"] == ["recall"] * 7
        warned = [line["message"] for line in told if line["level"] == "warning"]
        assert ["ended (signal 9)" in line for line in warned] == [True]


def test_a_worker_that_ends_while_metrics_are_asked_is_counted_once(tmp_path):
    recalls = 'perdure_calls_total{outcome="ok",verb="recall"}'
    with served(tmp_path, "--workers", "3") as (process, port):
        one, ends, halts = talks(process, port, 3)
        for talk, times in ((one, 2), (ends, 3), (halts, 4)):
            for _ in range(times):
                talk.ask("POST", "/v1/recall", {"query": "When do we deploy?"})
        assert metric(one, recalls) == 9
        os.kill(halts.worker, signal.SIGSTOP)  # it is waited for, for a second
        asking, found = in_thread(lambda: metric(one, recalls))
        time.sleep(0.3)
        os.kill(ends.worker, signal.SIGKILL)
        asking.join(30)
        os.kill(halts.worker, signal.SIGCONT)
        assert found == [9]
        assert metric(one, recalls) == 9


def test_a_signal_just_before_the_first_call_ends_the_service(tmp_path, monkeypatch):
    in_workers(tmp_path, monkeypatch, SIGNAL_BEFORE_THE_FIRST_CALL)
    with served(tmp_path, "--workers", "2") as (process, _):
        assert process.wait(30) == 0


def test_sigterm_lets_what_runs_in_all_of_them_finish(tmp_path):
    with two(tmp_path) as (process, port, both):
        items = [{"content": f"Server {n} listens on port {n}."} for n in range(1000)]
        calls = [in_thread(lambda t=talk: t.ask("POST", "/v1/remember-many", {"items": items})[0]) for talk in both]
        time.sleep(0.3)  # both have come
        process.send_signal(signal.SIGTERM)
        for thread, _ in calls:
            thread.join(60)
        assert [found for _, found in calls] == [[200], [200]]
        assert process.wait(60) == 0
        assert process.stderr.read().count("\n") == 1  # that there are no tokens
        with pytest.raises(ConnectionRefusedError):
            ask(port, "GET", "/healthz")
    assert not (tmp_path / "a.db-wal").exists()  # the last connection was closed in order


def test_a_killed_worker_loses_nothing_acknowledged_and_is_replaced(tmp_path):
    acknowledged, errors, ended = [], [], threading.Event()

    def store(port, client):
        number = 0
        while not ended.is_set():
            number += 1
            try:
                status, answer = ask(port, "POST", "/v1/remember", {"content": f"Item {client} {number}."})
            except (OSError, ValueError, HTTPException):
                errors.append(client)
            else:
                assert status == 200
                acknowledged.append(answer["id"])

    with two(tmp_path) as (process, port, (one, other)):
        threads = [in_thread(lambda n=n: store(port, n))[0] for n in range(4)]
        for victim in (one, other):
            before = len(acknowledged)
            assert waited(lambda before=before: len(acknowledged) > before + 20)
            os.kill(victim.worker, signal.SIGKILL)
            assert waited(lambda v=victim: v.worker not in beside(process) and len(beside(process)) == 2)
        before = len(acknowledged)
        assert waited(lambda: len(acknowledged) > before + 20)
        talks(process, port)
        ended.set()
        for thread in threads:
            thread.join(60)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        told = process.stderr.read()
        assert len(re.findall(r"Worker \d of the service ended \(signal 9\); another one starts\.", told)) == 2
    assert len(errors) <= 8  # each client's call at each kill, at most
    with perdure.open(tmp_path / "a.db", POLICY) as memory:
        assert {memory.get(kept).id for kept in acknowledged} == set(acknowledged)
        assert memory.check() == []


def test_where_connections_are_not_shared_out_among_sockets_workers_have_one_in_common(tmp_path, monkeypatch):
    monkeypatch.setattr(test_maintaining, "SERVICE", ONE_SOCKET)
    with test_maintaining.served(tmp_path, "--workers", "2") as (process, port):
        assert waited(lambda: len(beside(process)) == 2)
        killed = Talk(port).worker
        os.kill(killed, signal.SIGKILL)
        assert waited(lambda: killed not in beside(process) and len(beside(process)) == 2)
        for _ in range(20):
            assert ask(port, "GET", "/healthz")[0] == 200  # /readyz waits until the store is open
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_worker_that_ends_at_once_is_started_again_until_it_can_answer(tmp_path):
    with two(tmp_path) as (process, port, (one, other)):
        one.ask("POST", "/v1/remember", {"content": "Deploys happen on Tuesdays."})
        (tmp_path / "perdure.toml").write_text("no policy")
        os.kill(one.worker, signal.SIGKILL)
        assert "signal 9" in process.stderr.readline() + process.stderr.readline()  # after that there are no tokens
        for _ in range(2):
            assert "could not start" in process.stderr.readline()
            assert "exit status 1" in process.stderr.readline()
        assert {ask(port, "GET", "/healthz")[0] for _ in range(40)} == {200}  # none waits for it, or is cut off with it
        assert other.ask("GET", "/v1/stats")[1]["memories"] == 1
        (tmp_path / "perdure.toml").write_text('[embedder]\nmodel = "none"\n')
        talks(process, port)


def test_workers_end_in_order_when_their_supervisor_is_killed(tmp_path):
    with two(tmp_path) as (process, port, both):
        process.kill()
        process.wait()
        assert waited(lambda: not any(runs(talk.worker) for talk in both))
        with pytest.raises(ConnectionRefusedError):
            ask(port, "GET", "/healthz")
    assert not (tmp_path / "a.db-wal").exists()


def test_what_the_first_worker_is_refused_the_service_is_refused(tmp_path):
    several = ("serve", "--workers", "2", "--store", str(tmp_path / "a.db"))
    refused = run(tmp_path, *several, "--host", "0.0.0.0")  # noqa: S104  # refused
    assert refused.returncode == 1
    assert "Without tokens the service listens on this machine only" in refused.stderr
    (tmp_path / "a.db").write_text("no store at all, " * 100)
    refused = run(tmp_path, *several, "--port", "0")
    assert refused.returncode == 1
    assert refused.stderr.startswith("Error: ")
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(("store", "policy"), [(":memory:", None), ("a.db", Policy())], ids=str)
def test_what_is_one_process_s_own_is_not_served_by_several(tmp_path, monkeypatch, store, policy):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="Several workers cannot share"):
        serve(store, policy, port=0, workers=2)
