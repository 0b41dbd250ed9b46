"""The service as people run it: the command, a socket, a real server, signals."""

from __future__ import annotations

import http.client
import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager, suppress

import pytest

import perdure
from perdure.stores.statements import migrations

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


@contextmanager
def served(folder, *words):
    """Run ``perdure serve`` over a store in a folder, and give the process and its port."""
    (folder / "perdure.toml").write_text('[embedder]\nmodel = "none"\n')
    command = [sys.executable, "-m", "perdure", "serve", "--store", str(folder / "a.db"), "--port", "0"]
    command += ["--policy", str(folder / "perdure.toml"), *words]
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment) as process:
        try:
            line = process.stderr.readline()
            found = re.search(r"(?<!\S)http://127\.0\.0\.1:(\d+)/(?!\S)", line)  # a terminal copies it as a word
            if not found:
                process.kill()  # else there is no end of what it says
            assert found, line + process.stderr.read()
            yield process, int(found[1])
        finally:
            process.kill()


def ask(port, method, path, given=None, headers=None):
    body = None if given is None else json.dumps(given)
    status, _, text = talked(port, method, path, body, {"content-type": "application/json", **(headers or {})})
    return status, json.loads(text) if text else None


def talked(port, method, path, body, headers):
    """Send a request, and return status, headers with lower-case names, and text of its answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, body, headers)
        with connection.getresponse() as answer:
            found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
    return found


def raw(port, data):
    """Send bytes, and return what is answered within a second, or until the connection is closed."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), timeout=1) as talk, suppress(OSError):  # refused while we send
        talk.sendall(data)
        while chunk := talk.recv(65536):
            found += chunk
    return found


def test_it_serves_says_that_it_has_no_tokens_and_ends_in_order(tmp_path):
    newest = migrations("sqlite")[-1][0]
    with served(tmp_path) as (process, port):
        assert "There are no tokens" in process.stderr.readline()
        ready = {"status": "ready", "schema": newest, "writable": True, "worker_lag_seconds": 0.0}
        assert ask(port, "GET", "/readyz") == (200, ready)
        status, kept = ask(port, "POST", "/v1/remember", {"content": "Deploys happen on Tuesdays."})
        assert status == 200
        status, found = ask(port, "POST", "/v1/recall", {"query": "When do we deploy?"})
        assert [hit["memory"]["id"] for hit in found["hits"]] == [kept["id"]]
        assert ask(port, "GET", "/v1/list", headers={"host": "evil.example"})[0] == 421
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert process.stderr.read() == ""
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}) as memory:
        assert memory.get(kept["id"]).content == "Deploys happen on Tuesdays."


SMUGGLED = [
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nContent-Length: 4\r\nContent-Length: 40\r\n\r\n{}{}",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nContent-Length: -1\r\n\r\n{}",
    b"GET /v1/list HTTP/1.1\r\nHost: H\r\nHost: evil.example\r\n\r\n",
    b"GET /v1/list HTTP/1.1\r\n\r\n",
    b"GET http://evil.example/v1/list HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"GET /v1/list HTTP/1.1\r\nHost: H\r\nX: a\n b\r\n evil: 1\r\nHost : evil\r\n\r\n",
    b"GET /v1/list HTTP/1.1\r\nHost: H\r\nX: a\r\n b\r\n\r\n",
    b"GET /v1/list HTTP/1.1\r\nHost:\r\n evil.example\r\n\r\n",
    b"GET /v1/list HTTP/1.1\nHost: H\n\n",
    b"GET /v1/list HTTP/1.1\r\nHost: H\r\nX: a\x00b\r\n\r\n",
    b"GET /v1/list HTTP/1.1\r\nHost: H\r\nX: a\rY: b\r\n\r\n",
    b"GET\t/v1/list HTTP/1.1\r\nHost: H\r\n\r\n",
    b"GET /v1/list HTTP/1.1\r\nHost: H\r\n X: a\r\n\r\n",
    b"GET /v1/list HTTP/3.7\r\nHost: H\r\n\r\n",
    b"CONNECT evil.example:80 HTTP/1.1\r\nHost: H\r\n\r\n",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nContent-Length: +2\r\n\r\n{}",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nContent-Length: 0x2\r\n\r\n{}",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nContent-Length: 2, 2\r\n\r\n{}",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nContent-Length : 2\r\n\r\n{}",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nTransfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}xx0\r\n\r\n",
    b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 17 + b"\r\n{}\r\n0\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
]


def test_shapes_of_smuggled_requests_are_refused(tmp_path):
    with served(tmp_path) as (_process, port):
        host = f"127.0.0.1:{port}".encode()
        for data in SMUGGLED:
            answer = raw(port, data.replace(b"Host: H", b"Host: " + host))
            statuses = re.findall(rb"HTTP/1\.1 (\d\d\d)", answer)
            assert statuses in ([b"400"], [b"421"]), (data, answer)
            head, _, body = answer.partition(b"\r\n\r\n")
            assert b"content-type: application/problem+json\r\n" in head
            assert re.search(rb"content-length: (\d+)", head)[1] == str(len(body)).encode()
            problem = json.loads(body)
            assert str(problem["status"]).encode() == statuses[0]
            assert problem["detail"]
            assert problem["remedy"]
        assert ask(port, "GET", "/v1/list") == (200, {"memories": []})
        long = raw(port, b"GET /v1/list?" + b"x" * 200_000 + b" HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
        assert long[:10] in {b"HTTP/1.1 4", b""}
        for path in (
            b"/../../etc/passwd",
            b"/v1/../../etc/passwd",
            b"/%2e%2e/%2e%2e/etc/passwd",
            b"/v1/get?id=../../etc",
        ):
            answer = raw(port, b"GET " + path + b" HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 4"), answer
            assert b"root:" not in answer


def test_what_follows_a_request_for_another_protocol_is_not_read(tmp_path):
    with served(tmp_path) as (_process, port):
        host = b"Host: 127.0.0.1:%d\r\n" % port
        body = b'{"content": "Planted."}'
        kind = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        hidden = b"POST /v1/remember HTTP/1.1\r\n" + host + kind + body
        for protocol in (b"h2c", b"websocket"):
            upgrade = b"GET /v1/list HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: " + protocol + b"\r\n" + host
            assert re.findall(rb"HTTP/1\.1 (\d\d\d)", raw(port, upgrade + b"\r\n" + hidden)) == [b"200"]
        assert ask(port, "GET", "/v1/list") == (200, {"memories": []})


def test_fields_after_a_body_are_no_headers(tmp_path):
    with served(tmp_path) as (_process, port):
        head = b"POST /v1/list HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n" % port
        body = b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
        token = b"Authorization: Bearer wrong\r\n"
        assert raw(port, head + token + body + b"\r\n").startswith(b"HTTP/1.1 401")
        assert raw(port, head + body + token + b"\r\n").startswith(b"HTTP/1.1 200")


def run(folder, *words):
    command = [sys.executable, "-m", "perdure", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=120)


def test_without_tokens_it_listens_on_this_machine_only(tmp_path):
    words = ("serve", "--store", str(tmp_path / "a.db"), "--port", "0")
    refused = run(tmp_path, *words, "--host", "0.0.0.0")  # noqa: S104  # refused
    assert refused.returncode == 1
    assert "Without tokens the service listens on this machine only" in refused.stderr


@pytest.mark.parametrize("proxied", [("--allowed-host", "memory.example.org"), ("--proxy", "10.0.0.0/8")])
def test_without_tokens_it_stands_behind_no_proxy(tmp_path, proxied):
    """A store that was copied or restored has no tokens: behind a proxy it would be open to everybody."""
    refused = run(tmp_path, "serve", "--store", str(tmp_path / "a.db"), "--port", "0", *proxied)
    assert refused.returncode == 1
    assert f"not what reaches it as {proxied[1]}" in refused.stderr
    assert "perdure token create" in refused.stderr


def test_a_taken_port_is_told_at_once(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = run(tmp_path, "serve", "--store", str(tmp_path / "a.db"), "--port", port)
    assert refused.returncode == 1
    assert f"cannot listen on 127.0.0.1, port {port}" in refused.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_policy_named_by_a_path_from_the_working_folder_counts(tmp_path, workers):
    (tmp_path / "limits.toml").write_text('[limits]\nnamespace_memories = 1\n[embedder]\nmodel = "none"\n')
    with served(tmp_path, "--policy", "limits.toml", "--workers", workers, "--no-maintenance") as (_, port):
        stored = [ask(port, "POST", "/v1/remember", {"content": f"note {i} of {i}"})[0] for i in range(4)]
    assert stored == [200, 507, 507, 507]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_policy_that_cannot_be_read_starts_no_service(tmp_path, workers):
    words = ("--store", str(tmp_path / "a.db"), "--policy", "missing.toml", "--port", "0", "--workers", workers)
    refused = run(tmp_path, "serve", *words)
    assert refused.returncode == 1
    assert "missing.toml cannot be read" in refused.stderr


def test_the_quick_way_in_knows_every_option_of_the_command(tmp_path):
    from perdure.interfaces.cli.server import serve
    from perdure.interfaces.entry import SERVICE_OPTIONS

    named = {f"--{name.replace('_', '-')}" for name in inspect.signature(serve).parameters} - {"--call"}
    assert named | {"--store", "--policy", "--namespace"} == SERVICE_OPTIONS
    for words in (("--threads", "0"), ("--port", "70000"), ("--tools", "some"), ("--nothing",), ("--timeout", "x")):
        refused = run(tmp_path, "serve", "--store", str(tmp_path / "a.db"), *words)
        assert refused.returncode == 2, words
        assert words[0].removeprefix("--") in refused.stderr
        assert not (tmp_path / "a.db").exists()
