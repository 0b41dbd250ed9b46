"""A real conversation goes in, is asked, ages for 200 days, and is taken back to where it was."""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conftest import STORES, Clock, HashEmbedder, budget, logical, opened, weekly

ROOT = Path(__file__).parents[2]
NAME = "locomo_dev.json.gz"


def sample():
    for folder in (os.environ.get("PERDURE_DATA"), ROOT.parent / "shared" / "data", ROOT / "data"):
        if folder and (Path(folder) / NAME).is_file():
            with gzip.open(Path(folder) / NAME) as file:
                return json.load(file)[0]
    pytest.skip(f"{NAME} is not here: set PERDURE_DATA to the folder that holds it")


def messages(conversation):
    number = 1
    while f"session_{number}_date_time" in conversation:
        text = conversation[f"session_{number}_date_time"]
        at = datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for i, turn in enumerate(conversation.get(f"session_{number}", [])):
            yield {
                "content": turn["text"],
                "speaker": turn["speaker"],
                "at": at + timedelta(seconds=10 * i),
                "session": f"session {number}",
                "id": turn["dia_id"],
            }
        number += 1


POLICIES = {
    # Vectors made of words know no more than words do: the default, made for a real model, trusts them too much.
    "default": {"embedder": {"model": "none"}, "recall": {"lexical_weight": 0.3}},
    "harsh": {
        "embedder": {"model": "none"},
        "archive": {"rule": "value", "value_below": 0.45, "cold_days": 5},
        "gates": {"loss_share": 0.03},
    },
}

HARSHLY = pytest.param("sqlite", "harsh", None, marks=weekly)
SERVED = pytest.param("postgres", "harsh", None, marks=[*STORES[1].marks, weekly])


@weekly
@pytest.mark.parametrize(
    ("store", "policy", "embedder"),
    [("sqlite", "default", HashEmbedder()), HARSHLY, SERVED],
    ids=["default", "harsh", "harsh on a server"],
    indirect=["store"],
)
def test_a_conversation_lives_for_200_days_and_is_taken_back_row_for_row(path, policy, embedder):
    data = sample()
    said = list(messages(data["conversation"]))
    clock = Clock(said[-1]["at"] + timedelta(days=1))
    memory = opened(path, POLICIES[policy], clock, embedder)
    done = memory.ingest(said, namespace="talk")
    assert (done.added, done.skipped) == (len(said), 0)
    assert memory.ingest(said, namespace="talk").added == 0

    stored = {m.content: m.id for m in memory.list("talk", limit=1000)}
    evidence = {m["id"]: stored[m["content"]] for m in said}
    asked = [q for q in data["qa"] if q.get("category") in {1, 2, 3, 4} and q["evidence"]]

    def answered(*, touch):
        right = 0
        for question in asked:
            hits = memory.recall(question["question"], "talk", limit=10, touch=touch).hits
            wanted = {evidence[e] for e in question["evidence"] if e in evidence}
            right += bool(wanted & {h.memory.id for h in hits})
            clock.passes(seconds=20)
        return right / len(asked)

    at_first = answered(touch=True)
    assert at_first > 0.5
    memory.sweep()
    memory.close()

    memory = opened(path, POLICIES[policy], clock, embedder)
    earlier = logical(path)
    operations, moved = [], 0
    for _ in range(budget(70, 200)):
        clock.passes(days=1)
        report = memory.sweep()
        operations += report.operations
        moved += len(report.moved)
    assert memory.sweep().moved == ()
    assert moved >= 100
    if policy == "default":  # 200 days without any use take nothing away
        assert answered(touch=False) >= 0.98 * at_first
    stats = memory.stats("talk")
    assert sum(stats.statuses.values()) == len(said)
    digest = memory.digest_details("talk")
    assert digest.ids
    told = memory.why(digest.ids[0])
    assert told.history[0].operation == "ingest"
    assert all(e.because for e in told.history)
    moves = [m for m in memory.list("talk", limit=1000) if m.tier == "cold"]
    assert any("cold" in e.because for e in memory.why(moves[0].id).history)
    if policy == "harsh":
        assert 0 < stats.statuses["archived"] < len(said)

    for operation in reversed(operations):
        memory.undo(operation)
    assert logical(path) == earlier
    assert memory.check() == []
    memory.close()
