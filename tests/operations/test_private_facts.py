"""Facts and people that only a session may see are shown to that session alone, as its messages are."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conftest import WORDS_ONLY
from perdure.records.errors import NotFound


@pytest.fixture
def memory(opening):
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    told = ("Remember, Gai Media prefers Friday deliveries.", "My dentist is Dr Huang.")
    memory.ingest([{"role": "user", "content": t} for t in told], session="private", scope="session")
    memory.ingest([{"role": "user", "content": "Remember, Blue Heron Ltd prefers Monday deliveries."}], session="open")
    return memory


def values(found):
    return sorted(f.value for f in found)


def test_facts_of_a_session_are_listed_for_it_alone(memory):
    assert values(memory.facts()) == ["Monday"]
    assert values(memory.facts(inside="another")) == ["Monday"]
    assert values(memory.facts(inside="private")) == ["Dr Huang", "Friday", "Monday"]
    assert values(memory.facts(past=True)) == ["Monday"]
    assert values(memory.facts(known_at=datetime(2026, 6, 1, tzinfo=UTC))) == ["Monday"]
    assert memory.facts("Gai Media") == []
    assert memory.timeline("Gai Media").facts == ()
    assert values(memory.timeline("Gai Media", inside="private").facts) == ["Friday"]


def test_people_whom_only_a_session_names_are_listed_for_it_alone(memory):
    assert [e.name for e in memory.entities()] == ["Blue Heron Ltd"]
    assert {"Gai Media", "Dr Huang"} <= {e.name for e in memory.entities(inside="private")}
    assert {e.name for e in memory.entities(inside="another")} == {"Blue Heron Ltd"}
    assert [e.name for e in memory.entities(limit=1)] == ["Blue Heron Ltd"]  # the hidden ones take no place
    with pytest.raises(NotFound):
        memory.entity("Gai Media")
    shown = memory.entity("Gai Media", inside="private")
    assert (len(shown.facts), shown.memories > 0) == (1, True)


def test_of_whom_others_name_as_well_only_what_others_may_see_is_told(memory, clock):
    clock.passes(days=1)
    memory.ingest([{"role": "user", "content": "Gai Media called about order 7."}], session="open")
    whole, shown = memory.entity("Gai Media", inside="private"), memory.entity("Gai Media")
    assert (shown.facts, whole.facts != ()) == ((), True)
    assert shown.memories < whole.memories
    assert shown.first_seen > whole.first_seen


def test_what_is_promoted_is_everybodys(memory):
    memory.promote("private", 0.1, confirm=True)
    assert "Friday" in values(memory.facts())
    assert "Gai Media" in [e.name for e in memory.entities()]


def test_a_summary_does_not_tell_what_only_a_session_may_see(memory, clock):
    for day in range(12):
        message = {"role": "user", "content": f"Gai Media called about order {day * 3 + 100} and the rent of the hall."}
        memory.ingest([message], session=f"s{day}")
        clock.passes(days=1)
    made = memory.summarize(dry_run=False).made
    assert "Gai Media" in "".join(s.text for s in made)
    assert "Friday" not in "".join(s.text for s in made)
