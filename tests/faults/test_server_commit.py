"""A connection that is lost at its COMMIT: nobody knows whether it took place, and yet it has, once."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

import servers
from conftest import Clock, as_operator, opened
from faults.server_faults import Line, everything, operations
from perdure import DeadlineExceeded, StoreBusy

VERBS = {
    "remember": lambda m, n, _: m.remember("quagga", n),
    "remember anew": lambda m, n, _: m.remember("quagga", f"{n}/new"),
    "remember an episode": lambda m, n, _: m.remember("quagga", n, kind="episode"),
    "remember an episode anew": lambda m, n, _: m.remember("quagga", f"{n}/new", kind="episode"),
    "remember with a key": lambda m, n, _: m.remember("quagga", n, kind="episode", idempotency_key="k"),
    "ingest": lambda m, n, _: m.ingest([{"content": "quagga"}, {"content": "okapi"}], n, session="s"),
    "recall": lambda m, n, _: m.recall("zebra three", n, limit=1),
    "pin": lambda m, _, kept: m.pin(kept[1].id),
    "unpin": lambda m, _, kept: m.unpin(kept[0].id),
    "archive": lambda m, _, kept: m.archive(kept[1].id, "test"),
    "sweep": lambda m, n, _: m.sweep(namespace=n),
    "undo": lambda m, _, kept: m.undo(m.history(kept[0].id)[-1].operation_id),
    "undo a remember": lambda m, _, kept: m.undo(m.history(kept[2].id)[0].operation_id),
}


@pytest.fixture(scope="module")
def place():
    url = servers.fresh_database()
    yield url
    servers.drop_database(url)


@pytest.fixture
def line(place):
    line = Line(urlsplit(place).port)
    yield line
    line.close()


def prepared(memory, namespace):
    """Three memories, one of which was pinned and one recalled twice."""
    kept = [memory.remember(f"zebra {word}", namespace) for word in ("one", "two", "three")]
    memory.pin(kept[0].id)
    for _ in range(2):
        assert len(memory.recall("zebra two", namespace, limit=1).hits) == 1
    return kept


def told(memory, namespace):
    """What can be seen of a namespace and its new neighbour, ids left out."""
    return [
        (
            sorted(
                (m.content, str(m.status), m.pinned, m.access_count, m.session or "") for m in everything(memory, n)
            ),
            operations(memory, n),
            sorted(query for _, _, query, _ in memory._context.store.recalls(n, 100)),
        )
        for n in (namespace, f"{namespace}/new")
    ]


@pytest.mark.parametrize("late", [0.0, 0.25], ids=["the server has it", "the server gets it later"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_commit_without_an_answer_happens_once(line, place, verb, late):
    clock, number = Clock(), f"{list(VERBS).index(verb)}-{late}"
    memory = opened(line.through(place), clock=clock)
    for namespace in (f"calm-{number}", f"cut-{number}"):
        kept = prepared(memory, namespace)
        clock.passes(hours=1)
        if namespace.startswith("cut"):
            line.cut_at_commit(late=late)
        VERBS[verb](memory, namespace, kept)
    assert line.cuts == 1
    assert told(memory, f"cut-{number}") == told(memory, f"calm-{number}")
    assert memory.check() == []
    memory.close()


def test_who_runs_out_of_time_after_a_lost_commit_is_told_why_and_that_its_fate_is_not_known(line, place):
    memory = opened(line.through(place), clock=Clock())
    memory.remember("zebra", "late")
    line.refuse()
    line.cut_at_commit(late=0.0)
    with pytest.raises(DeadlineExceeded, match=r"cannot be reached .*Whether its last transaction was written is not"):
        memory.within(1).remember("quagga", "late")
    with opened(place, clock=Clock()) as direct:
        assert [m.content for m in direct.list("late")] == ["quagga", "zebra"]


def test_who_runs_out_of_time_without_a_server_is_told_so(line, place):
    memory = opened(line.through(place), clock=Clock())
    memory.remember("zebra", "gone")
    line.close()
    with pytest.raises(DeadlineExceeded, match=r"The server cannot be reached .*Nothing was written"):
        memory.within(1).remember("quagga", "gone")


@pytest.mark.parametrize("limit", ["ours", pytest.param("the operator's", marks=as_operator)])
def test_a_client_that_vanishes_in_the_middle_of_a_write_holds_others_up_no_longer_than_its_limit(line, limit):
    """Its transaction stays open, and the server hears nothing of its end: it held its locks for hours."""
    alone = servers.fresh_database()
    if limit != "ours":  # one that is stricter holds
        servers._operator().execute(f"ALTER DATABASE {urlsplit(alone).path[1:]} SET transaction_timeout = '1s'")
    try:
        memory = opened(line.through(alone), clock=Clock())
        memory.remember("zebra", "held")
        line.refuse()
        line.cut_at_commit(late=60.0)
        with pytest.raises(StoreBusy):
            memory.within(4).remember("quagga", "held")
        with opened(alone, clock=Clock()) as other:
            other.within(10 if limit == "ours" else 2).remember("okapi", "held")
            assert sorted(m.content for m in other.list("held")) == ["okapi", "zebra"]
    finally:
        servers.drop_database(alone)
