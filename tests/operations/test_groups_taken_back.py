"""Whatever is in a store: undoing what was done to several memories at once restores every row."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import START, WORDS_ONLY, Clock, HashEmbedder, budget, logical, opened
from laws.memories import SLOW_LAW

POLICY = {**WORDS_ONLY, "consolidate": {"require_dry_run": False}, "gates": {"loss_free_count": 1000}}
TEXTS = [
    f"The {thing} of {place} listens on port {port} these days{end}"
    for thing in ("build server", "mail gateway")
    for place in ("Lyon", "Oslo")
    for port in (80, 90)
    for end in ("", ".", " .")
]
drafts = st.fixed_dictionaries(
    {
        "content": st.sampled_from(TEXTS),
        "kind": st.sampled_from(["note", "episode", "procedure"]),
        "tags": st.lists(st.sampled_from("abc"), unique=True),
        "importance": st.sampled_from([0.1, 0.5, 1.0]),
        "confidence": st.sampled_from([0.3, 0.8, 1.0]),
        "session": st.sampled_from([None, "s", "s2"]),
        "task": st.sampled_from([None, None, "t"]),
        "pinned": st.sampled_from([False, False, True]),
        "metadata": st.sampled_from([{}, {"k": 1}, {"k": 2, "consolidated_from": ["x"]}]),
    }
)
VERBS = {
    **{
        name: lambda m, name=name: m.consolidate("default", 0.7, name, dry_run=False).operations
        for name in (
            "keep_newest",
            "keep_oldest",
            "keep_highest_importance",
            "keep_highest_confidence",
            "merge_content",
        )
    },
    "complete_task": lambda m: m.complete_task("t").operations,
    "promote": lambda m: m.promote("s", 0.5, confirm=True).operations,
    "end_session": lambda m: m.end_session("s").operations,
}


@pytest.mark.parametrize("verb", VERBS)
@settings(SLOW_LAW, max_examples=budget(7, 30))
@given(
    st.lists(drafts, min_size=2, max_size=14),
    st.lists(st.lists(st.integers(0, 13), min_size=2, max_size=4), max_size=3),
    st.lists(st.sampled_from(TEXTS), max_size=3),
    st.integers(0, 60 * 24),
)
def test_an_undo_restores_every_row(verb, items, joined, questions, hours):
    clock = Clock()
    items = [*items, {"content": "a task", "task": "t", "session": "s"}, {"content": "a session", "session": "s"}]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.db"
        with opened(path, POLICY, clock, HashEmbedder()) as memory:
            ids = []
            for number, item in enumerate(items):
                clock.now = START + timedelta(hours=number)
                ids.append(memory.remember(**item).id)
            for members in joined:
                if len(some := {ids[n % len(ids)] for n in members}) > 1:
                    memory.relate(some)
            for question in questions:
                clock.passes(minutes=1)
                memory.recall(question, inside="s")
            clock.passes(hours=hours)
            memory.stats()  # what waits to be counted is written
            before = logical(path)
            for operation in reversed(VERBS[verb](memory)):
                clock.passes(seconds=1)
                memory.undo(operation)
            assert logical(path) == before
            assert memory.check() == []
