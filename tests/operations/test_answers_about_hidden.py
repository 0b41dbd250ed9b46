"""An answer about a memory that is not in view: the error says why it is not, and which memory to answer about."""

from __future__ import annotations

import pytest

import perdure
from conftest import HASHED, HashEmbedder

OLD, NEW = "The API port is 8081", "The API port is 9000"


@pytest.fixture
def memory(opening):
    return opening()


def refused(call, *arguments):
    """Return what a refused call says, and what it says to do."""
    with pytest.raises(perdure.InvalidInput) as caught:
        call(*arguments)
    return caught.value.message, caught.value.remedy


def test_who_confirms_what_was_updated_is_told_what_replaced_it_and_what_to_do(memory):
    old = memory.remember(OLD).id
    first = memory.update(old, NEW).id
    last = memory.update(first, "The API port is 9100").id
    said, remedy = refused(memory.confirm, old)
    assert said == f"{old} was replaced by {last}, so it is not in view."
    assert remedy == (
        f"If {last} is right, use `confirm` for that one. "
        f"If the old one holds after all, use `update` for {last} with the old words."
    )
    memory.confirm(last)
    memory.update(last, OLD)
    assert [m.content for m in memory.list()] == [OLD]


@pytest.mark.parametrize("verb", ["deny", "mute", "both"])
def test_other_answers_name_it_too(memory, verb):
    old = memory.remember(OLD).id
    new = memory.update(old, NEW).id
    said, remedy = refused(getattr(memory, verb), old)
    assert f"was replaced by {new}" in said
    assert remedy.startswith(f"Answer about {new}.")


def test_of_what_was_merged_the_memory_that_has_its_words_is_named(opening):
    memory = opening(HASHED, HashEmbedder())
    memory.ingest([{"content": "The gateway is in the cellar", "role": "user"} for _ in range(2)])
    ids = [m.id for m in memory.list()]
    memory.consolidate("default", similarity_threshold=0.9, dry_run=True)
    done = memory.consolidate("default", similarity_threshold=0.9, dry_run=False)
    assert done.memories_merged == 1
    kept = memory.list()[0].id
    (gone,) = set(ids) - {kept}
    said, remedy = refused(memory.confirm, gone)
    assert said == f"{gone} was merged into {kept}, so it is not in view."
    assert remedy == f"Confirm {kept}, which stands for both."


def test_of_what_is_archived_wrong_or_replaced_by_what_is_hidden_it_is_said(memory):
    archived = memory.remember("The door is green").id
    memory.forget(archived)
    assert refused(memory.confirm, archived) == (
        f"{archived} is archived, so it is not in view.",
        "Use `restore` first.",
    )
    wrong = memory.remember("The roof is red").id
    memory.deny(wrong)
    said, remedy = refused(memory.confirm, wrong)
    assert said == f"{wrong} was said to be wrong, so it is not in view."
    assert "remember it again" in remedy
    old = memory.remember(OLD).id
    new = memory.update(old, NEW).id
    memory.forget(new)
    said, remedy = refused(memory.confirm, old)
    assert said == f"{old} was replaced by {new}, and that one is archived: neither is in view."
    assert remedy == "If the old words hold after all, remember them again."


def test_of_a_fact_that_was_corrected_the_old_value_can_be_put_back(memory):
    remembered = memory.remember("API port", facts=[{"subject": "API", "predicate": "port", "value": "8081"}])
    (old,) = remembered.facts.created
    new = memory.correct(old, "9000").id
    said, remedy = refused(memory.confirm, old)
    assert said == f"{old} was replaced by {new}, so it is not in view."
    assert remedy.endswith(f"If the old one holds after all, use `correct` for {new} with the old value.")
    memory.correct(new, "8081")
    assert [fact.shown_value for fact in memory.facts("API")] == ["8081"]
