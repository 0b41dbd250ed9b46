"""Nothing waits for ever: a locked table, a line that is silent, a file that another process holds."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager

import pytest

import perdure
from conftest import WORDS_ONLY, servers
from faults.server_faults import Line
from perdure import Memory, StoreBusy
from perdure.compose import address_of

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
    return f"{url}{'&' if '?' in url else '?'}timeout={seconds}"


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
