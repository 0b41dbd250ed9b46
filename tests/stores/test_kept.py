"""What a process keeps of a file between recalls is that of the file, whoever writes to it."""

from __future__ import annotations

import random
import subprocess

import pytest

from conftest import WORDS_ONLY, HashEmbedder, budget, calls_of, finished, on_a_file, opened, weekly
from starts import forked_python

FOLLOWED = """
import sys
import perdure
from conftest import HashEmbedder
memory = perdure.open(sys.argv[1], policy={}, embedder=HashEmbedder())
for line in sys.stdin:
    verb, identity = line.split()
    if verb == "forget":
        memory.forget(identity, "wrong")
    elif verb == "undo":
        memory.undo(identity)
    elif verb == "say":
        memory.remember(f"{identity} throws stones into the river.")
    else:
        memory.remember(f"Alice brings {identity} to the river.", facts=[
            {"subject": "Alice", "predicate": "brings", "value": identity}
        ])
    print("done", flush=True)
memory.close()
"""


@on_a_file
@pytest.mark.parametrize("listed", [2, 5000])
def test_names_facts_and_vectors_are_those_of_the_file_whoever_writes(path, clock, monkeypatch, listed):
    monkeypatch.setattr("perdure.stores.sqlite.candidates.MOST_HOLDING", listed)
    with opened(path, {}, clock, HashEmbedder()) as memory:
        note = memory.recall("river", touch=False).note
        assert "no memory has a vector yet" in note
        assert memory.facts() == []
        other = forked_python(FOLLOWED, path, stdin=subprocess.PIPE)

        def asks(verb, identity):
            other.stdin.write(f"{verb} {identity}\n")
            other.stdin.flush()
            assert other.stdout.readline() == "done\n", other.communicate()[1]

        def found(**filters):
            return {
                h.memory.content for h in memory.recall("river", touch=False, limit=20, kinds=["note"], **filters).hits
            }

        asks("remember", "bread")
        assert memory.recall("river", touch=False).note == ""
        assert len(memory.facts()) == 1
        for i in range(4):
            memory.remember(f"A stone lies in the river at mile {i}.")
        assert found(entity="Alice") == {"Alice brings bread to the river."}
        asks("remember", "cheese")
        assert found(entity="Alice") == {f"Alice brings {what} to the river." for what in ("bread", "cheese")}
        by_text = {m.content: m.id for m in memory.list()}
        cheese = by_text["Alice brings cheese to the river."]
        asks("forget", cheese)
        assert found(entity="Alice") == {"Alice brings bread to the river."}
        asks("say", "Alice")
        assert "Alice throws stones into the river." in found(entity="Alice")
        asks("undo", "last")
        asks("say", "Bob")
        assert found(entity="Alice") == {"Alice brings bread to the river."}
        finished(other)


@weekly
@on_a_file
def test_a_recall_costs_no_more_after_hundreds_that_no_sweep_has_counted(path, clock):
    with opened(path, {}, clock, HashEmbedder()) as memory:
        for i in range(20):
            memory.remember(f"A stone lies in the river at mile {i}.")

        def turn(count=lambda call: call()):
            clock.passes(seconds=1)
            entered = count(lambda: memory.recall("a stone in the river"))
            memory.remember(f"It is {clock()}.")
            return entered

        def events(turns):
            """Count what recalls call, in the mean."""
            return sum(turn(calls_of) for _ in range(turns)) / turns

        events(30)
        first = events(10)
        for _ in range(300):
            turn()
        assert max(m.access_count for m in memory.list(limit=1000)) > 200
        assert events(10) <= 1.05 * first


@on_a_file
def test_each_of_many_accesses_that_no_sweep_has_counted_is_seen_at_once(path, clock):
    with opened(path, {}, clock, HashEmbedder()) as memory:
        kept = memory.remember("A stone lies in the river.")
        for number in range(1, 20):
            clock.passes(hours=3)
            memory.recall("a stone in the river")
            assert memory.get(kept.id).access_count == number


def test_accesses_and_hits_that_are_kept_are_those_of_the_file_whoever_writes(path, clock):
    drawn = random.Random(7)  # noqa: S311  # a reproducible order

    def told(memory):
        return memory.recall("a stone in the river", touch=False, limit=12).to_dict(), [
            m.to_dict() for m in memory.list()
        ]

    with (
        opened(path, {}, clock, HashEmbedder()) as one,
        opened(path, {}, clock, HashEmbedder()) as other,
    ):
        for i in range(12):
            one.remember(f"A stone lies in the river at mile {i}.")
        for _ in range(budget(60, 150)):
            memory = drawn.choice((one, one, other))
            does = drawn.choices(("recall", "sweep", "forget", "undo", "pin"), (20, 1, 1, 1, 2))[0]
            if does == "recall":
                memory.recall("a stone in the river")
            elif does == "sweep":
                memory.sweep()
            elif does == "forget":
                memory.forget(drawn.choice(memory.list()).id, "wrong")
            elif does == "pin":
                memory.pin(drawn.choice(memory.list()).id)
            else:
                memory.undo("last")
            clock.passes(seconds=drawn.choice((0, 0, 1, 60)))
            with opened(path, {}, clock, HashEmbedder()) as fresh:
                said = told(fresh)
            assert told(one) == said
            assert told(other) == said


@on_a_file
def test_accesses_that_a_sweep_counted_in_are_not_counted_again_after_the_next_write(path, clock):
    with opened(path, WORDS_ONLY, clock) as memory:
        kept = memory.remember("The gateway stands in Lisbon.").id
        for _ in range(12):
            clock.passes(minutes=5)
            memory.recall("Where is the gateway?")
        assert memory.get(kept).access_count == 12
        clock.passes(days=9)
        memory.sweep()
        memory.remember("Another thing altogether.")
        assert memory.get(kept).access_count == 12


@on_a_file
@pytest.mark.parametrize("seed", [1, 2])
def test_two_that_read_and_write_one_file_by_turns_read_what_a_third_one_reads(path, clock, seed):
    chance = random.Random(seed)  # noqa: S311  # the same each time
    with opened(path, WORDS_ONLY, clock) as one, opened(path, WORDS_ONLY, clock) as other:
        ids = [one.remember(f"Gateway {n} stands in Lisbon.").id for n in range(3)]
        acts = {
            "recall": lambda memory, _: memory.recall("Where is the gateway?"),
            "sweep": lambda memory, _: memory.sweep(),
            "remember": lambda memory, _: memory.remember(f"Rack {chance.random()} is empty."),
            "pin": lambda memory, identity: (memory.unpin if memory.get(identity).pinned else memory.pin)(identity),
            "reinforce": lambda memory, identity: memory.reinforce([identity]),
            "undo": lambda memory, _: memory.undo(memory.remember(f"Rack {chance.random()} is full.").operation),
        }
        for _ in range(50):
            clock.passes(hours=chance.choice([1, 200]))
            for act in chance.choices([*acts], [8, 2, 3, 1, 1, 1], k=chance.randint(1, 9)):
                acts[act](chance.choice((one, other)), chance.choice(ids))
            with opened(path, WORDS_ONLY, clock) as third:
                expected = [(m.access_count, m.importance, m.pinned) for m in map(third.get, ids)]
            for memory in (one, other):
                assert [(m.access_count, m.importance, m.pinned) for m in map(memory.get, ids)] == expected
