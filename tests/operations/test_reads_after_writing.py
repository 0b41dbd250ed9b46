"""A reply that cannot be read after the write: what is stored is said to be stored."""

import warnings
from types import FunctionType

import pytest

from perdure.records.errors import PartlyStored, PerdureWarning, StoreBusy
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.reading import SqlDocuments
from perdure.stores.sql_store import SqlStore
from perdure.stores.sqlite.store import SqliteStore

TUESDAY = {"subject": "deploy", "predicate": "day", "value": "Tuesday"}
THURSDAY = {**TUESDAY, "value": "Thursday"}


class Halting:
    """Stores that answer no reading from the next write on."""

    def __init__(self, monkeypatch):
        self.after_write = self.halted = False
        for store in (SqlDocuments, SqlStore, SqliteStore, PostgresStore):
            for name, member in vars(store).items():
                if isinstance(member, FunctionType) and not name.startswith("_") and name != "close":
                    monkeypatch.setattr(store, name, self.halting(member, writes=name == "apply"))

    def halting(self, method, *, writes):
        def call(store, *args, **options):
            if self.halted:
                raise StoreBusy("The server did not answer within 4 s. Nothing was written.")
            found = method(store, *args, **options)
            self.halted = writes and self.after_write
            return found

        return call

    def __enter__(self):
        self.after_write = True

    def __exit__(self, *_):
        self.after_write = self.halted = False


@pytest.fixture
def halting(monkeypatch):
    return Halting(monkeypatch)


@pytest.fixture
def memory(opening):
    memory = opening()
    memory.remember("We deploy on Tuesday.", facts=[TUESDAY])
    return memory


def calls(memory, note):
    fact = memory.facts()[0].id
    yield "remember", lambda: memory.remember("We deploy on Thursday now.", facts=[{**THURSDAY, "replaces": "Tuesday"}])
    yield "update", lambda: memory.update(note, "We deploy on Thursday.", facts=[THURSDAY])
    yield "learn", lambda: memory.learn(claims=[{**TUESDAY, "predicate": "hour", "value": "10:00"}])
    yield "correct", lambda: memory.correct(fact, "Friday")
    yield "confirm", lambda: memory.confirm(fact)
    yield "deny", lambda: memory.deny(fact)
    yield "forget", lambda: memory.forget(note)
    yield "undo", lambda: memory.undo(memory.history()[0].id)


VERBS = ["remember", "update", "learn", "correct", "confirm", "deny", "forget", "undo"]


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_stored_is_answered_though_the_rest_of_the_reply_cannot_be_read(memory, halting, verb):
    call = dict(calls(memory, memory.list()[0].id))[verb]
    with halting, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        done = call()
    assert memory.history()[0].id in getattr(done, "operations", (done.operation,))
    for text in (str(w.message) for w in told if w.category is PerdureWarning):
        assert "is stored" in text
        assert "Nothing was written" not in text


def test_a_memory_is_stored_and_what_is_near_it_could_not_be_read(memory, halting):
    with (
        halting,
        pytest.warns(PerdureWarning, match=r"is stored, but the reply is incomplete: The server did not answer"),
    ):
        done = memory.remember("We deploy on Thursday now.", facts=[{**THURSDAY, "replaces": "Tuesday"}])
    assert memory.get(done.id).content == "We deploy on Thursday now."


def test_an_error_after_a_write_says_what_was_stored(memory, halting):
    ids = [memory.list()[0].id, memory.remember("The gate opens at seven.", namespace="elsewhere").id]
    with halting, pytest.raises(StoreBusy) as refused:
        memory.strengthen(ids, amount=0.1)
    stored = memory.history()[0].id
    assert refused.value.message == (
        f"The server did not answer within 4 s. Stored before that: {stored}; the rest was not."
    )
    assert refused.value.message in str(refused.value)


def test_a_list_that_is_stored_in_part_does_not_say_that_nothing_was_written(memory, halting):
    with (
        halting,
        pytest.raises(PartlyStored, match=r"500 of 501 items were stored, then: The server did not answer") as refused,
    ):
        memory.remember_many([f"Gate {n} opens at seven." for n in range(501)])
    assert "Nothing was written" not in str(refused.value)
    assert refused.value.operations == (memory.history()[0].id,)
