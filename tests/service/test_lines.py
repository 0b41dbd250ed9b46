"""Lists as lines over HTTP: all of them, read while they are sent, in bounded memory, and cut off where they fail."""

from __future__ import annotations

import http.client
import json
import sys
import time
from contextlib import closing

import pytest

import perdure
from perdure.interfaces.http import connection, limits
from perdure.records.errors import StoreDamaged
from perdure.stores.sql_store import SqlStore
from service.test_client import listening
from service.test_exporting import QUICK, is_cut_off, peak, unread
from service.test_serve import ask, served, talked

LINES = {"accept": "application/x-ndjson"}
MANY, LONG, PAGES = 8_000, 5_000, 80


def fill(memory, many, size=0, start=0, **more):
    for first in range(start, start + many, 500):
        numbers = range(first, min(first + 500, start + many))
        memory.remember_many([{"content": f"Report {n} is here. {'x' * size}"} for n in numbers], **more)


def ids_page_by_page(memory, **filters):
    found = []
    while page := memory.list(limit=1000, before=found[-1] if found else None, **filters):
        found += [m.id for m in page]
    return found


class Reads:
    """Counts the pages that a store reads, and may fail at one of them."""

    def __init__(self, monkeypatch):
        self.pages, self.fail_at, self.wait = 0, None, 0.0
        usual = SqlStore.list_records

        def read(store, *args):
            self.pages += 1
            time.sleep(self.wait)
            if self.pages == self.fail_at:
                raise StoreDamaged("A page cannot be read.", remedy="Repair it.")
            return usual(store, *args)

        monkeypatch.setattr(SqlStore, "list_records", read)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    with perdure.open(folder / "a.db", QUICK) as memory:
        fill(memory, MANY, LONG)
        yield folder, memory


def lines_of(url, path="/v1/list", **headers):
    """Ask for lines; yields each as bytes, as they come. A connection that is cut raises IncompleteRead."""
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)) as talk:
        talk.request("GET", path, headers={**LINES, **headers})
        reply, rest = talk.getresponse(), b""
        while chunk := reply.read1(1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
        assert not rest


def cut_off(lines):
    """Return the rows of lines that have no clean end."""
    rows = []
    try:
        rows.extend(json.loads(line) for line in lines)
    except http.client.IncompleteRead:
        return rows
    raise AssertionError("it ended as if nothing had failed")


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of another process's memory")
def test_all_rows_come_as_lines_and_a_few_pages_of_them_are_held(many):
    folder, memory = many
    with served(folder) as (process, port):
        assert ask(port, "GET", "/v1/list?limit=1000")[0] == 200
        before, size, ids = peak(process), 0, []
        for line in lines_of(f"127.0.0.1:{port}"):
            size += len(line)
            ids.append(json.loads(line)["id"])
        assert ids == ids_page_by_page(memory)
        assert len(ids) == MANY
        assert size > MANY * LONG
        assert peak(process) - before < 30  # the store's own cache is most of it


def test_the_first_line_comes_before_most_rows_are_read(many, monkeypatch):
    _, memory = many
    reads = Reads(monkeypatch)
    with listening(memory) as url, closing(lines_of(url)) as lines:
        assert json.loads(next(lines))["content"].startswith(f"Report {MANY - 1} is here.")
        assert reads.pages < PAGES / 4  # what fits the buffers of both sides


def test_a_client_that_goes_away_stops_the_reading(many, monkeypatch):
    _, memory = many
    reads = Reads(monkeypatch)
    with listening(memory) as url:
        lines = lines_of(url)
        next(lines)
        lines.close()
        time.sleep(0.5)
        read = reads.pages
        time.sleep(0.5)
        assert reads.pages == read < PAGES


def test_lines_are_the_rows_that_the_same_call_returns_in_python(client, memory):
    fill(memory, 230)
    fill(memory, 20, start=1000)
    kept = [memory.remember(f"Tagged {n}.", tags=["tagged"]).id for n in range(3)]
    memory.forget(kept[1])
    for query in (
        "",
        "?limit=150",
        "?limit=7",
        "?tags=tagged",
        "?include_archived=true&tags=tagged",
        f"?before={kept[0]}",
    ):
        reply = client.get(f"/v1/list{query}", headers=LINES)
        assert (reply.status_code, reply.headers["content-type"]) == (200, "application/x-ndjson")
        whole = client.get(f"/v1/list{query or '?limit=1000'}{'' if 'limit' in query or not query else '&limit=1000'}")
        assert [json.loads(line) for line in reply.text.splitlines()] == whole.json()["memories"]
    assert [m.id for m in memory.list_all(tags=["tagged"])] == [kept[2], kept[0]]


def test_lines_are_confined_to_the_namespaces_of_a_token(client, memory):
    fill(memory, 250, namespace="team/a")
    fill(memory, 250, namespace="rival")
    headers = {**LINES, "authorization": f"Bearer {memory.create_token('reader', 'team/a', actor='Ana').secret}"}
    for query in ("", "?namespace=team/a"):
        rows = [json.loads(line) for line in client.get(f"/v1/list{query}", headers=headers).text.splitlines()]
        assert [row["namespace"] for row in rows] == ["team/a"] * 250
    assert client.get("/v1/list?namespace=rival", headers=headers).status_code == 403
    known = memory.list("rival", 1)[0].id
    assert client.get(f"/v1/list?before={known}", headers=headers).status_code == 404
    assert client.get("/v1/list", headers=LINES).status_code == 401


def test_arguments_of_lines_are_checked_as_all_others(client, memory):
    memory.remember("Ours.")
    for query, told in (
        ("limit=1001", "from 1 to 1000"),
        ("limit=0", "from 1 to 1000"),
        ("x=1", "Unknown argument"),
        ("before=nothing", ""),
    ):
        reply, same = client.get(f"/v1/list?{query}", headers=LINES), client.get(f"/v1/list?{query}")
        assert reply.headers["content-type"] == "application/problem+json"
        assert (reply.status_code, reply.json()) == (same.status_code, same.json())
        assert told in reply.json()["detail"]


def test_what_fails_midway_is_a_last_line_and_no_clean_end(many, monkeypatch):
    _, memory = many
    reads = Reads(monkeypatch)
    reads.fail_at = 20
    with listening(memory) as url:
        *rows, last = cut_off(lines_of(url))
        assert 1800 < len(rows) <= 1900
        assert (last["problem"]["error"], last["problem"]["remedy"]) == ("StoreDamaged", "Repair it.")
        assert sum(1 for _ in lines_of(url)) == MANY  # it goes on for others
        figures = talked(int(url.rsplit(":", 1)[1]), "GET", "/metrics", None, {})[2]
    for outcome in ("StoreDamaged", "ok"):
        assert f'perdure_calls_total{{outcome="{outcome}",verb="list"}} 1.0' in figures


def test_lines_end_with_the_time_of_their_call(many, monkeypatch):
    _, memory = many
    reads = Reads(monkeypatch)
    reads.wait = 0.05
    with listening(memory) as url:
        *rows, last = cut_off(lines_of(url, prefer="wait=1"))
    assert last["problem"]["error"] == "DeadlineExceeded"
    assert 0 < len(rows) <= 2000


def test_what_a_client_takes_to_read_is_not_the_time_of_its_call(memory, monkeypatch):
    fill(memory, 2000, LONG)
    reads = Reads(monkeypatch)
    with listening(memory) as url:
        lines = lines_of(url, prefer="wait=2")
        next(lines)
        time.sleep(2.1)
        assert reads.pages < 20
        assert sum(1 for _ in lines) == 1999


def test_who_does_not_read_lines_is_cut_off_and_others_go_on(many, monkeypatch):
    monkeypatch.setattr(connection, "STALL_SECONDS", 0.3)
    monkeypatch.setattr(limits, "_LISTS_AT_ONCE", 1)
    _, memory = many
    with listening(memory) as url, unread(url, "/v1/list", "Accept: application/x-ndjson") as talk:
        port = int(url.rsplit(":", 1)[1])
        time.sleep(0.1)
        status, refused = ask(port, "GET", "/v1/list", headers=LINES)
        assert (status, refused["detail"]) == (503, "1 lists are being sent already.")
        assert ask(port, "GET", "/v1/list?limit=5")[0] == 200
        assert sum(1 for _ in lines_of(url, "/v1/list?limit=5")) == 5
        assert is_cut_off(talk)
        assert sum(1 for _ in lines_of(f"127.0.0.1:{port}")) == MANY


def test_a_memory_that_is_erased_meanwhile_ends_no_list(memory):
    fill(memory, 250)
    rows = memory.list_all()
    first = [next(rows).id for _ in range(100)]
    shown = memory.erase(first[-2:], reason="test")
    memory.erase(first[-2:], reason="test", confirm=shown.confirm, dry_run=False)
    assert len(first + [m.id for m in rows]) == 250


def test_a_client_iterates_over_all(memory):
    fill(memory, 250)
    with listening(memory) as url, perdure.connect(url) as remote:
        assert list(remote.list_all()) == list(memory.list_all())


def test_lines_of_a_call_that_writes_are_repeated_whole(client, memory):
    given = {"items": [{"content": f"Kept {n}. {'x' * 5000}"} for n in range(40)]}
    headers = {**LINES, "idempotency-key": "one"}
    first, again = (client.post("/v1/remember-many", json=given, headers=headers).text for _ in range(2))
    assert first == again
    assert len(first.splitlines()) == len(memory.list()) == 40


def test_an_export_that_fails_midway_says_so(many, monkeypatch):
    _, memory = many
    usual = type(memory).export

    def cut(self, namespace=None):
        for number, line in enumerate(usual(self, namespace)):
            if number == 500:
                raise StoreDamaged("A page cannot be read.", remedy="Repair it.")
            yield line

    monkeypatch.setattr(type(memory), "export", cut)
    with listening(memory) as url:
        assert cut_off(lines_of(url, "/v1/export"))[-1]["problem"]["error"] == "StoreDamaged"
