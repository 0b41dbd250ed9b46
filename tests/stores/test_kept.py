"""What a process keeps of a file between recalls is that of the file, whoever writes to it."""

from __future__ import annotations

import subprocess

import pytest

from conftest import HashEmbedder, finished, on_a_file, opened
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
