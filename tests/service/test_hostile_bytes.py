"""Bytes of an attacker on a real connection: nothing hides in them, nothing is read without end, no file is reached."""

from __future__ import annotations

import json
import re
import socket
import sys
import time
from contextlib import suppress

import pytest

import perdure
from service.conftest import POLICY
from service.test_client import listening
from service.test_serve import ask, raw, served, talked

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

HEAD = b"POST /v1/remember HTTP/1.1\r\nHost: H\r\nContent-Type: application/json\r\n"
HIDDEN = HEAD + b'Content-Length: 20\r\n\r\n{"content":"hidden"}'

SHAPES = {
    "two lengths": b"Content-Length: 2\r\nContent-Length: %d\r\n\r\n{}",
    "a list of lengths": b"Content-Length: 2, %d\r\n\r\n{}",
    "a signed length": b"Content-Length: +2\r\n\r\n{}",
    "a length in hexadecimal": b"Content-Length: 0x2\r\n\r\n{}",
    "a length with an underscore": b"Content-Length: 1_0\r\n\r\n{}",
    "length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks of another kind": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "two encodings": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "a list of encodings": b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a vertical tab before the encoding": b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a folded encoding": b"Transfer-Encoding:\r\n chunked\r\nContent-Length: 2\r\n\r\n{}",
    "a size that is none": b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
    "a size that is too large": b"Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\n{}\r\n0\r\n\r\n",
    "a size in two bases": b"Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
    "a chunk that is longer than it says": b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
    "a null in a header": b"X: a\x00b\r\nContent-Length: 2\r\n\r\n{}",
    "a return in a header": b"X: a\rContent-Length: 99\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with served(tmp_path_factory.mktemp("service")) as (_process, found):
        yield found


def host(port):
    return f"Host: 127.0.0.1:{port}\r\n".encode()


def test_no_second_request_hides_in_a_first_one(port):
    hidden = HIDDEN.replace(b"Host: H\r\n", host(port))
    start = b"POST /v1/list HTTP/1.1\r\n" + host(port) + b"Content-Type: application/json\r\n"
    for name, rest in SHAPES.items():
        length = str(len(hidden) + 2).encode()
        answer = raw(port, start + rest.replace(b"%d", length) + hidden)
        statuses = re.findall(rb"HTTP/1\.1 (\d\d\d)", answer)
        assert len(statuses) <= 1, (name, answer)
        assert all(status.startswith(b"4") for status in statuses), (name, answer)
        assert ask(port, "GET", "/v1/list") == (200, {"memories": []}), name
    whole = raw(port, start + b"Content-Length: 2\r\n\r\n{}" + hidden)  # what is right is two requests
    assert re.findall(rb"HTTP/1\.1 (\d\d\d)", whole) == [b"200", b"200"]
    (kept,) = ask(port, "GET", "/v1/list")[1]["memories"]
    ask(port, "POST", "/v1/undo", {"operation_id": "last"})
    assert kept["content"] == "hidden"


def test_another_name_reaches_nothing_whatever_it_resolves_to(port):
    """DNS rebinding: a page of elsewhere whose name leads here now."""
    for name in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "127.0.0.1", "10.0.0.1", ""):
        for path in ("/", "/v1/list", "/mcp", "/readyz", "/static/page.js", "/live"):
            answer = raw(port, f"GET {path} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
            assert answer.startswith(b"HTTP/1.1 421"), (name, path)


def test_no_file_but_those_of_the_pages_is_reached(port):
    ways = ("..", "%2e%2e", "..%2f..", "%2e%2e%2f%2e%2e", "..%5c..", "....//", "%252e%252e", "%c0%ae%c0%ae", "%00")
    for way in ways:
        for rest in (f"{way}/rendering.py", f"{way}/{way}/{way}/http/app.py", f"{way}/etc/passwd", f"page.css{way}"):
            for folder in ("/static/", "/static//", "/"):
                sent = f"GET {folder}{rest} HTTP/1.1\r\n".encode() + host(port) + b"Connection: close\r\n\r\n"
                answer = raw(port, sent)
                assert answer.startswith(b"HTTP/1.1 4"), (folder, rest, answer[:200])
                assert b"import" not in answer
                assert b"root:" not in answer
    for absolute in ("//etc/passwd", "/static//etc/passwd", "/static/%2fetc%2fpasswd", "/static/"):
        answer = raw(port, f"GET {absolute} HTTP/1.1\r\n".encode() + host(port) + b"Connection: close\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 4"), absolute


def test_heads_without_end_are_cut_off(port):
    line = b"X-Filler: " + b"x" * 1000 + b"\r\n"
    start = b"GET /v1/list HTTP/1.1\r\n" + host(port)
    answer = raw(port, start + line * 20 + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 431")
    for endless in (start + line * 2000, b"GET /" + b"x" * (1 << 20), start + b"X: " + b"x" * (1 << 20)):
        answer = raw(port, endless)
        assert answer[:10] in {b"HTTP/1.1 4", b""}, answer[:200]
    assert ask(port, "GET", "/healthz")[0] == 200


def test_a_body_without_end_is_refused_long_before_it_is_read(port):
    sent, chunk = 0, b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    head = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as talk:
        talk.sendall(b"POST /v1/remember HTTP/1.1\r\n" + host(port) + head)
        with suppress(OSError):  # it is closed while we send
            while sent < 200 << 20:
                talk.sendall(chunk)
                sent += len(chunk)
    assert sent < 100 << 20  # 8 MiB, 64 MiB that are dropped unread, and what lies in buffers on the way
    assert ask(port, "GET", "/v1/list") == (200, {"memories": []})


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("mebibytes", [12, 40])
def test_a_client_that_sends_all_of_a_long_body_first_is_told_that_it_is_too_long(port, mebibytes, chunked):
    """Closed while it sends, it would see a connection that was reset, and no answer."""
    body = (b"x" * (1 << 20) for _ in range(mebibytes)) if chunked else b"x" * (mebibytes << 20)
    status, _, text = talked(port, "POST", "/v1/remember", body, {"content-type": "application/json"})
    assert (status, json.loads(text)["remedy"]) == (413, "Split it into several calls.")


def test_a_body_that_does_not_come_holds_no_place():
    with perdure.open(":memory:", POLICY) as memory, listening(memory, body_seconds=0.3, threads=1, waiting=0) as url:
        port = int(url.rpartition(":")[2])
        told = b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
        slow = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(30)]
        for talk in slow:
            talk.sendall(b"POST /v1/remember HTTP/1.1\r\n" + host(port) + told)
        assert ask(port, "GET", "/v1/list")[0] == 200
        began = time.monotonic()
        answers = [talk.recv(65536) for talk in slow]
        assert time.monotonic() - began < 25
        for talk, answer in zip(slow, answers, strict=True):
            assert answer.startswith(b"HTTP/1.1 408"), answer
            talk.close()
        assert memory.list() == []
