"""A list of which a later note gives another version is marked in MEMORY.md and at a session's start, as in recall."""

from __future__ import annotations

import pytest

import perdure

pytest.importorskip("onnxruntime")
DOUBT = "(a later message may say otherwise)"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Supported currencies: EUR, SEK, DKK.", "Supported currencies: EUR, SEK, NOK."),
        ("Opening days: Monday, Tuesday, Friday.", "Opening days: Monday, Tuesday, Saturday."),
        ("Our languages are English, German and French.", "Our languages are English, German and Polish."),
        ("Opening hours are 9 to 17.", "Opening hours are 9 to 18."),
    ],
    ids=["currencies", "days", "languages", "no list"],
)
def test_the_earlier_version_of_a_list_carries_the_doubt_that_recall_shows(tmp_path, earlier, later):
    with perdure.open(tmp_path / "lists.db") as memory:
        old, new = memory.remember(earlier), memory.remember(later)
        hits = {hit.memory.id: hit for hit in memory.recall(earlier, touch=False).hits}
        assert hits[old.id].newer == (new.id,)
        for shown in (memory.digest(), memory.agent.opening("a", "default")):
            lines = {text: next(line for line in shown.splitlines() if text in line) for text in (earlier, later)}
            assert DOUBT in lines[earlier]
            assert DOUBT not in lines[later]
            assert shown.index(later) < shown.index(earlier)


def test_a_list_without_a_later_version_is_shown_as_it_is(tmp_path):
    with perdure.open(tmp_path / "lists.db") as memory:
        memory.remember("Supported currencies: EUR, SEK, DKK.")
        memory.remember("The choir rehearses on Tuesday in the old school.")
        assert DOUBT not in memory.digest()
