"""After a correction what holds stands before the note that still says the old value beside something else."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, HashEmbedder

DORA = "Dora Maier is on the plus plan and lives in Porto."
GATEWAY = "The gateway runs on port 81 and is owned by Tim."
BEN = "Ben leads the data team, and his deadline for the report is Friday."


def corrected(memory, note, facts, new):
    """Correct the first of the facts of a note; return the note's id and that of the corrected fact."""
    subject = facts[0][0]
    told = [{"subject": name, "predicate": predicate, "value": value} for name, predicate, value in facts]
    noted = memory.remember(note, facts=told)
    wrong = next(f for f in memory.facts(subject) if f.value == facts[0][2])
    return noted.id, memory.correct(wrong.id, new).id


@pytest.mark.parametrize("embedder", [None, HashEmbedder()], ids=["words", "vectors"])
@pytest.mark.parametrize(
    ("note", "facts", "new", "question"),
    [
        (
            DORA,
            [("Dora Maier", "home", "Porto"), ("Dora Maier", "plan", "plus")],
            "Oslo",
            "Where does Dora Maier live?",
        ),
        (DORA, [("Dora Maier", "home", "Porto")], "Oslo", "Does Dora Maier live in Porto?"),
        (GATEWAY, [("gateway", "port", "81"), ("gateway", "owner", "Tim")], "99", "Which port is the gateway on?"),
        (BEN, [("Ben", "deadline", "Friday")], "Monday", "Ben: deadline of the report?"),
    ],
)
def test_the_corrected_fact_is_the_first_hit(opening, embedder, note, facts, new, question):
    memory = opening(WORDS_ONLY if embedder is None else {}, embedder)
    noted, fact = corrected(memory, note, facts, new)
    hits = memory.recall(question, touch=False).hits
    assert [h.memory.id for h in hits][:2] == [fact, noted]
    assert [o.replaced_by for o in hits[1].over] == [fact]


@pytest.mark.parametrize(
    ("note", "fact", "new", "question"),
    [
        (GATEWAY, ("gateway", "port", "81"), "99", "Who owns the gateway?"),
        (GATEWAY, ("gateway", "port", "81"), "99", "Is the gateway owned by Tim?"),
        (DORA, ("Dora Maier", "home", "Porto"), "Oslo", "Which plan is Dora Maier on?"),
        (DORA, ("Dora Maier", "home", "Porto"), "Oslo", "Where did Dora Maier live before?"),
    ],
)
def test_the_note_keeps_its_place_where_another_part_of_it_or_the_past_is_asked_for(opening, note, fact, new, question):
    memory = opening(WORDS_ONLY)
    noted, _ = corrected(memory, note, [fact], new)
    first, *_ = memory.recall(question, touch=False).hits
    assert first.memory.id == noted
