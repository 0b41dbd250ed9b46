"""A synchronous replica: read while it is one, promoted when the primary is dead, and nothing acknowledged is lost."""

from __future__ import annotations

import threading
import time

import pytest

from conftest import HashEmbedder, opened
from faults.server_faults import everything, own_server
from perdure.records.errors import StoreReadOnly, StoreTooOld
from replicas import promote, replica_of


@pytest.fixture
def pair():
    """A primary and its synchronous replica."""
    with own_server() as primary, replica_of(primary, synchronous=True) as replica:
        yield primary, replica


def either(primary, replica):
    """The URL of whichever of two servers takes writes."""
    login = primary.dsn().rpartition("@")[0]
    return f"{login}@127.0.0.1:{primary.port},127.0.0.1:{replica.port}/perdure?target_session_attrs=read-write"


def test_a_promoted_replica_has_all_that_was_acknowledged_and_goes_on(pair, record_property):
    primary, replica = pair
    memory = opened(primary.dsn(), embedder=HashEmbedder(32))
    kept = memory.remember_many([f"zebra number {i}" for i in range(20)])
    reader = opened(replica.dsn(), embedder=HashEmbedder(32))
    with pytest.raises(StoreTooOld, match="perdure migrate"):
        opened(replica.dsn("postgres"))
    until = time.monotonic() + 10
    while len(everything(reader)) < len(kept):  # a commit waits for the replica's disk, not for its searches
        assert time.monotonic() < until
    found = reader.recall("zebra number 7")
    assert found.hits[0].memory.id == kept[7].id
    assert found.note == "not counted as an access: the store is read-only"
    assert reader.check() == []
    for refused in (lambda: reader.remember("x"), lambda: reader.pin(kept[0].id)):
        with pytest.raises(StoreReadOnly) as caught:
            refused()
        assert "primary" in caught.value.remedy
    acknowledged, over = [m.id for m in kept], threading.Event()

    def write():
        with opened(either(primary, replica), embedder=HashEmbedder(32)) as going_on:
            for i in range(1_000_000):
                if over.is_set():
                    return
                acknowledged.append(going_on.remember(f"zebra while it dies {i}", kind="episode").id)

    writer = threading.Thread(target=write)
    writer.start()
    time.sleep(0.6)
    primary.kill()
    at_death = len(acknowledged)
    time.sleep(0.3)
    promoted = time.monotonic()
    promote(replica)
    while len(acknowledged) < at_death + 5:
        assert writer.is_alive()
        time.sleep(0.01)
    record_property("seconds from promotion to writes", round(time.monotonic() - promoted, 2))
    over.set()
    writer.join(20)
    assert at_death > len(kept)
    after, words = opened(replica.dsn(), embedder=HashEmbedder(32)), opened(replica.dsn())
    assert sorted(m.id for m in everything(after)) == sorted(acknowledged)
    assert words.recall("zebra number 7", limit=1).hits[0].memory.id == kept[7].id
    hit = after.recall("zebra number 7", limit=1).hits[0]
    assert (hit.memory.id, hit.cosine) == (kept[7].id, pytest.approx(1.0, abs=0.02))
    assert reader.remember("okapi").id in {m.id for m in everything(after)}  # it was opened on a replica
    assert reader.recall("okapi").note != found.note
    own = after.remember("quagga")
    assert after.recall("quagga", limit=1).hits[0].memory.id == own.id
    assert after.sweep().counted >= 1
    assert after.check() == []
    for each in (memory, reader, after, words):
        each.close()
