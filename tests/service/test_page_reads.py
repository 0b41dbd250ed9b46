"""No page reads more than it shows: what a store hands over for a page does not grow with the store.

Figures of a large namespace are those of a sample, MEMORY.md is chosen from a number of candidates, and questions are
put in order by the signals of a number of facts: so much is read, and no more. Which candidate is shown in the file
depends on all of them.
"""

from __future__ import annotations

import threading
import time
from urllib.parse import quote

import apsw
import psycopg
import pytest
from starlette.applications import Starlette

import perdure
from conftest import STORES, WORDS_ONLY, Clock, weekly
from interfaces.pages.browsing import Browser, Hand
from perdure.interfaces import pages
from perdure.interfaces.pages import overview
from perdure.operations.lifecycle import digest, review

SMALL, LARGE = 260, 520
CAP = 100
"""What pages may look at here, instead of the numbers below: less than the smaller store holds."""
CAPS = ((overview, "SAMPLE", 400), (digest, "CONSIDERED", 2000), (review, "LONGEST", 5000))


class Reads:
    """Counts what stores hand over: rows, and memories with their texts; not by the thread that counts alerts."""

    def __init__(self):
        self.rows = self.texts = 0

    def note(self, columns, many=1):
        if threading.current_thread().name != "perdure-alerts":
            self.rows += many
            self.texts += many if "text" in columns else 0


@pytest.fixture
def reads(monkeypatch):
    counts, connect = Reads(), apsw.Connection

    def connected(*given, **named):
        made = connect(*given, **named)

        def seen(cursor, row):
            counts.note([name for name, *_ in cursor.get_description()])
            return row

        made.row_trace = seen
        return made

    def fetched(name):
        usual = getattr(psycopg.Cursor, name)

        def fetch(self, *given):
            found = usual(self, *given)
            rows = found if isinstance(found, list) else [found]
            counts.note([column.name for column in self.description or ()], len(rows))
            return found

        monkeypatch.setattr(psycopg.Cursor, name, fetch)

    monkeypatch.setattr(apsw, "Connection", connected)
    for name in ("fetchall", "fetchone", "fetchmany"):
        fetched(name)
    return counts


@pytest.fixture(params=[STORES[0], pytest.param(*STORES[1].values, marks=[*STORES[1].marks, weekly])])
def store(request):
    return request.param


def filled(memory, clock, many):
    """A store of so many memories: notes, of which some are due and some at risk, and facts that are in doubt."""
    notes = [f"Server {n} of Ada listens on port {n + 1000}." for n in range(many * 2 // 5)]
    memory.remember_many([{"content": note, "tags": ["ports"]} for note in notes])
    people = [{"subject": f"Person {n}", "predicate": "drink", "value": "tea"} for n in range(many * 3 // 5)]
    memory.remember_many([{"content": f"{fact['subject']} drinks tea.", "facts": [fact]} for fact in people])
    for n in range(5):
        memory.recall(f"Which port has server {n}?")
    clock.passes(days=2)
    memory.sweep()
    clock.passes(days=100)
    return memory


def addresses(memory):
    """Every page as one comes to it by a link; a preview, a look ahead and a trial concern all that is due, or all."""
    note, fact = memory.list(kinds=["note"], limit=1)[0], memory.facts(limit=1)[0]
    about = {"/memory": f"id={note.id}", "/id": f"id={note.id}", "/erase": f"id={note.id}"}
    about["/change"] = f"id={note.id}&verb=archive"
    found = [f"{path}?{about.get(path, '')}" for path in pages.READ]
    asked = quote("Which port has server 7?")
    more = [
        "/?part=all",
        f"/search?q={asked}",
        f"/search?q={asked}&why_not={note.id}",
        f"/search?q={asked}&why_not=Ada+9",
        f"/memory?id={fact.id}",
    ]
    return [*found, *more, f"/facts?entity={fact.subject}", "/memory-md?profile=hermes"]


def read_by_page(memory, reads):
    """Return page -> (rows, texts) that it reads when it is looked at again."""
    found = {}
    with Browser(Hand(Starlette(routes=pages.routes()), memory)) as browser:
        for place, address in enumerate(addresses(memory)):
            browser.get(address)  # what a process reads once
            reads.rows = reads.texts = 0
            assert browser.get(address).status_code == 200, address
            found[place, address.partition("?")[0]] = (reads.rows, reads.texts)
    return found


@pytest.fixture
def capped(monkeypatch):
    for module, name, most in CAPS:
        assert getattr(module, name) <= most
        monkeypatch.setattr(module, name, CAP)


def test_a_page_reads_no_more_of_a_larger_store(elsewhere, reads, capped):
    found = []
    for many in (SMALL, LARGE):
        clock = Clock()
        with perdure.open(elsewhere(), WORDS_ONLY, clock=clock) as memory:
            found.append(read_by_page(filled(memory, clock, many), reads))
    small, large = found
    assert small.keys() == large.keys()
    assert all(rows for (_, page), (rows, _) in large.items() if page != "/erase"), large
    assert {page for page, (_, texts) in large.items() if texts > 1.1 * small[page][1] + 10} == set(), (small, large)
    more = {page for page, (rows, _) in large.items() if rows > 1.1 * small[page][0] + 10}
    # A search looks up all that have a word of the question; the facts are the first to read all names, which are kept.
    assert {path for _, path in more} <= {"/search", "/facts"}, (small, large)


def test_alerts_of_a_large_namespace_are_counted_beside_the_pages_once_a_minute(tmp_path, capped, monkeypatch):
    counted, usual = [], perdure.Memory.alerts
    monkeypatch.setattr(perdure.Memory, "alerts", lambda self, *given: counted.append(1) or usual(self, *given))
    clock = Clock()
    with perdure.open(tmp_path / "a.db", WORDS_ONLY, clock=clock) as memory:
        memory.remember_many([f"Stone {number} lies in field {number * 3}." for number in range(250)])
        with Browser(Hand(Starlette(routes=pages.routes()), memory)) as browser:
            until = time.monotonic() + 30
            while "all are being counted" in browser.get("/").text:
                assert time.monotonic() < until
            for _ in range(5):
                browser.get("/?part=all")
            assert len(counted) == 1
            monkeypatch.setattr(overview, "SECONDS", 0.0)
            browser.get("/")
            while len(counted) < 2:
                assert time.monotonic() < until
