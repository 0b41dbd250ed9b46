"""A text that somebody changed in the store's tables is left out of answers, with a warning that names it."""

from __future__ import annotations

import pytest

from conftest import HashEmbedder, on_a_file, opened
from perdure.compose import backup
from perdure.records.errors import DamageWarning, StoreDamaged
from stores.test_damage import POLICY, run_by_hand

TEXT, OTHER = "We open at 7:30 on weekdays.", "We are closed on Sundays."
QUESTION = "When do we open on weekdays?"


def alter(path, old, new):
    assert (
        run_by_hand(path, f"UPDATE content SET text = replace(text, '{old}', '{new}') WHERE text LIKE '%{old}%'") == 1
    )


def remembered(path, clock):
    """Store two memories and return the id of the first."""
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        identity = memory.remember(TEXT).id
        memory.remember(OTHER)
    return identity


def test_an_altered_text_is_left_out_of_answers_with_a_warning_that_names_it(path, clock):
    identity = remembered(path, clock)
    alter(path, "7:30", "6:30")
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        for call in (
            lambda: [h.memory.content for h in memory.recall(QUESTION).hits],
            lambda: [m.content for m in memory.list()],
            lambda: [memory.digest()],
        ):
            told = f"{identity}.*not the one that was stored.*Answers go without it.*repair"
            with pytest.warns(DamageWarning, match=told):
                shown = call()
            assert not any("6:30" in text for text in shown)
        with pytest.raises(StoreDamaged, match=identity):
            memory.get(identity)
        with pytest.raises(StoreDamaged, match=identity):
            memory.update(identity, "We open at 8:00 on weekdays.")


@on_a_file
def test_a_backup_brings_an_altered_text_back(path, clock, tmp_path):
    identity = remembered(path, clock)
    safe = backup(path, tmp_path / "safe.db").path
    alter(path, "7:30", "6:30")
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(source=str(safe), dry_run=False).left == ()
        assert memory.get(identity).content == TEXT
        assert memory.recall(QUESTION).hits[0].memory.content == TEXT
        assert memory.check(full=True) == []


def test_an_altered_text_can_be_erased(path, clock):
    identity = remembered(path, clock)
    alter(path, "7:30", "6:30")
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        word = memory.erase([identity], reason="she asked").confirm
        memory.erase([identity], reason="she asked", confirm=word, dry_run=False)
        assert [m.content for m in memory.list()] == [OTHER]


def test_letters_and_spaces_that_do_not_change_the_words_are_no_damage(path, clock):
    identity = remembered(path, clock)
    alter(path, "We open at", "WE  open at")
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.get(identity).content == "WE  open at 7:30 on weekdays."
