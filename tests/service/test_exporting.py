"""Exports over HTTP: whole, confined, in bounded memory, and cut off where nobody reads them."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import perdure
from conftest import finished, python
from perdure.interfaces.http import connection, exporting
from perdure.interfaces.pages import live
from service.conftest import POLICY
from service.test_client import listening
from service.test_limits import serving
from service.test_serve import ask, served

QUICK = {**POLICY, "knowledge": {"redact": False}}
"""To fill a store: to look for secrets in megabytes takes a minute."""
IMPORT = "import sys; from perdure.interfaces.entry import main; sys.argv[0] = 'perdure'; main()"


def bearer(memory, role, place="*"):
    return {"authorization": f"Bearer {memory.create_token(role, place, actor='Ana').secret}"}


def test_an_export_can_be_imported(client, memory, tmp_path):
    kept = [memory.remember(f"Server {n} listens on port {n}.", tags=["ports"]).id for n in range(30)]
    memory.forget(kept[0])
    reply = client.get("/v1/export")
    assert reply.headers["content-type"].startswith("application/x-ndjson")
    (tmp_path / "a.jsonl").write_bytes(reply.content)
    (tmp_path / "perdure.toml").write_text('[embedder]\nmodel = "none"\n')
    words = ("import", tmp_path / "a.jsonl", "--store", tmp_path / "b.db", "--policy", tmp_path / "perdure.toml")
    finished(python(IMPORT, *words))
    with perdure.open(tmp_path / "b.db", POLICY) as copy:
        assert {m.id for m in copy.list(include_archived=True)} == set(kept)
        assert copy.check() == []


def test_a_token_exports_its_own_namespaces_as_an_admin(client, memory):
    memory.remember("Ours.", namespace="team/a")
    memory.remember("Theirs.", namespace="rival")
    own = bearer(memory, "admin", "team/*")
    text = client.get("/v1/export", headers=own).text
    assert "Ours." in text
    assert "Theirs." not in text
    assert "rival" not in text
    refused = client.get("/v1/export?namespace=rival", headers=own)
    assert (refused.status_code, "Theirs" in refused.text) in {(403, False), (404, False)}
    for role in ("reader", "agent", "curator"):
        assert client.get("/v1/export", headers=bearer(memory, role)).status_code == 403
    assert client.get("/v1/export").status_code == 401


def test_what_an_export_does_not_know_is_refused_as_other_routes_do(client, memory):
    """A misspelt namespace exported everything."""
    for namespace in ("team/a", "team/b"):
        memory.remember("Ours.", namespace=namespace)
    unknown = ("namespce=team/a", "foo=1", "namespace=team/a&foo=1", "=", "%ff")
    for query in (*unknown, "namespace=team/a&namespace=team/b"):
        refused, listed = (client.get(f"/v1/{name}?{query}") for name in ("export", "list"))
        assert refused.status_code == listed.status_code, query
        problems = [answer.json() for answer in (refused, listed)]
        for part in ("error", "fault", "detail"):
            assert problems[0][part] == problems[1][part], query
    assert "The arguments are namespace." in client.get("/v1/export?foo=1").json()["remedy"]
    one = [json.loads(line) for line in client.get("/v1/export?namespace=team/a").text.splitlines()]
    assert {row["namespace"] for row in one if "part" in row} == {"team/a"}
    assert {"team/a", "team/b"} <= {json.loads(line).get("namespace") for line in client.get("/v1/export").iter_lines()}


def test_no_more_exports_than_two_at_once(memory, monkeypatch):
    monkeypatch.setattr(exporting, "AT_ONCE", 0)
    memory.remember("Ours.")
    with serving(memory) as client:
        refused = client.get("/v1/export")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
        assert client.get("/v1/list").status_code == 200


def large(number):
    return {"content": f"Report {number} is long.", "metadata": {"appendix": "x" * 60_000}}


def peak(process):
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(text.split("VmHWM:")[1].split()[0]) / 1000


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of another process's memory")
def test_an_export_takes_no_more_memory_than_a_few_pages(tmp_path):
    with perdure.open(tmp_path / "a.db", QUICK) as memory:
        for start in range(0, 500, 100):
            memory.remember_many([large(n) for n in range(start, start + 100)])
    with served(tmp_path) as (process, port):
        assert ask(port, "GET", "/v1/list?limit=1")[0] == 200
        before = peak(process)
        size, last = 0, b""
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as talk:
            talk.request("GET", "/v1/export")
            reply = talk.getresponse()
            while chunk := reply.read(1 << 16):
                size += len(chunk)
                last = (last + chunk)[-200_000:]
        assert size > 20e6
        assert peak(process) - before < size / 1e6
        assert "perdure_export_end" in json.loads(last.splitlines()[-1])


def unread(url, path, *headers):
    """Ask for something, and read nothing of it."""
    port = int(url.rsplit(":", 1)[1])
    head = "".join(f"{line}\r\n" for line in headers)
    talk = socket.socket()
    talk.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    talk.connect(("127.0.0.1", port))
    talk.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{head}\r\n".encode())
    return talk


def is_cut_off(talk, seconds=20):
    """Whether the other side ends the connection before everything was sent."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.1)
        try:
            talk.sendall(b"x")  # a reset is told to whoever writes
        except OSError:
            return True
    return False


def test_who_does_not_read_an_export_is_cut_off_and_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "STALL_SECONDS", 0.3)
    monkeypatch.setattr(exporting, "AT_ONCE", 1)
    with perdure.open(tmp_path / "a.db", QUICK) as memory:
        memory.remember_many([large(n) for n in range(300)])
        with listening(memory) as url, unread(url, "/v1/export") as talk, perdure.connect(url) as remote:
            assert remote.list(limit=1)
            assert is_cut_off(talk)
            with unread(url, "/v1/export") as again:  # the place is free again
                again.settimeout(20)
                assert again.recv(12) == b"HTTP/1.1 200"


def test_who_does_not_read_live_events_is_cut_off(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "STALL_SECONDS", 0.3)
    monkeypatch.setattr(live, "_differences", lambda *_: ["event: operation\ndata: " + "x" * 1_000_000 + "\n\n"] * 20)
    with perdure.open(tmp_path / "a.db", POLICY) as memory, listening(memory) as url:
        memory.remember("Ours.")
        with unread(url, "/live") as talk:
            assert is_cut_off(talk, 8)  # a connection that is read lasts ten seconds


def test_a_namespace_that_the_token_does_not_reach_is_refused_as_anywhere(memory):
    memory.remember("Ana paints the fence.", "team/b")
    secret = memory.create_token("admin", "team/a", actor="ana").secret
    with serving(memory) as client:
        for place in ("team/b", "none"):  # whether it exists is not told
            answer = client.get(f"/v1/export?namespace={place}", headers={"authorization": f"Bearer {secret}"})
            assert (answer.status_code, answer.json()["error"]) == (403, "NotAllowed")
