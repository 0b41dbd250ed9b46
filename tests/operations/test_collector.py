"""The collector of cycles waits while a batch is written, and goes on afterwards, whatever came of it."""

import gc

import pytest

from conftest import WORDS_ONLY
from perdure import PerdureError
from perdure.records import collector


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def batch(size):
    return [f"Person {n} lives in Town {n}" for n in range(size)]


def test_it_goes_on_after_a_batch_that_failed(memory, monkeypatch):
    waiting = []

    def fails(*_, **__):
        waiting.append(not gc.isenabled())
        raise PerdureError("no room")

    monkeypatch.setattr("perdure.operations.new_memories.store_new", fails)
    with pytest.raises(PerdureError):
        memory.remember_many(batch(60))
    assert waiting == [True]
    assert gc.isenabled()


def test_a_process_that_turned_it_off_keeps_it_off(memory):
    gc.disable()
    try:
        memory.remember_many(batch(60))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_last_of_several_calls_lets_it_go_on():
    with collector.collector_waits(1000):
        with collector.collector_waits(1000):
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with collector.collector_waits(3):
        assert gc.isenabled()
