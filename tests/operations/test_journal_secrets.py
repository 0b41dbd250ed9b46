"""What people write beside a decision is kept without the secrets in it."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from perdure.records.errors import NotFound, PerdureWarning

TOKEN = "ghp_" + "aBcD1234eFgH5678iJkL9012mNoP3456qRsT"
SAID = f"see {TOKEN}"

DECISIONS = {
    "archive": lambda memory, id_: memory.archive(id_, SAID),
    "forget": lambda memory, id_: memory.forget(id_, SAID),
    "move": lambda memory, id_: memory.move(id_, "vault", SAID),
    "settle": lambda memory, id_: memory.settle(id_, "drop", SAID),
    "deny": lambda memory, id_: memory.deny(id_, SAID),
    "answer": lambda memory, id_: memory.answer(id_, "deny", reason=SAID),
    "correct": lambda memory, id_: memory.correct(id_, SAID),
    "fit": lambda memory, _: memory.fit(tokens=1, accept_loss=SAID, dry_run=False),
    "apply": lambda memory, _: memory.apply(memory.fit(tokens=1).plans[0], accept_loss=SAID),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_no_secret_of_a_reason_or_a_correction_is_kept(memory, name):
    doubtful = memory.remember("The deployment runs on Tuesdays at ten in the morning.")
    memory.used([doubtful.id], "wrong")
    told = pytest.warns(PerdureWarning, match="replaced before storing") if name == "correct" else nullcontext()
    with told:  # who stores other words than were handed over is told
        DECISIONS[name](memory, doubtful.id)
    memories = memory.list(include_archived=True)
    kept = repr([memories, memory.history(), *(memory.history(one.id) for one in memories)])
    assert TOKEN not in kept
    assert "see [redacted: github token]" in kept


def test_no_secret_in_who_decided_an_erasure_is_kept(memory):
    gone = memory.remember("The deployment runs on Tuesdays at ten in the morning.").id
    given = {"reason": "asked", "by": SAID}
    preview = memory.erase([gone], **given)
    memory.erase([gone], **given, confirm=preview.confirm, dry_run=False)
    with pytest.raises(NotFound, match=r"erased by see \[redacted: github token\]: asked"):
        memory.why(gone)
    assert TOKEN not in "".join(map(str, memory.export()))
