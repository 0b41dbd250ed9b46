"""Of the open halves of the planted secrets nearly all are replaced, and hardly any harmless text is changed."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from perdure.rules.redaction import redact

SPEC = spec_from_file_location("secrets_made", Path(__file__).parents[2] / "benchmarks" / "secrets_made.py")
MADE = module_from_spec(SPEC)
sys.modules["secrets_made"] = MADE
SPEC.loader.exec_module(MADE)

PLANTED = [
    planted for half, seed in (("open", 1), ("open", 2), ("later_open", 1)) for planted in MADE.planted(half, seed)
]


def test_nine_in_ten_planted_secrets_are_replaced_and_the_words_beside_them_stay():
    left = [p for p in PLANTED if p.left(redact(p.text)[0])]
    beside = [p for p in PLANTED if p.lost(redact(p.text)[0]) > 8]  # a key's marks and a webhook's address go with it
    assert len({p.kind for p in PLANTED}) >= 65
    assert len(left) <= len(PLANTED) / 20, [(p.kind, p.text[:80]) for p in left]
    assert beside == []


@pytest.mark.parametrize("halves", [["open"], ["later_open", "later_locked"]], ids=" ".join)
def test_of_harmless_texts_no_more_than_one_in_219_is_changed(halves):
    texts = [text for half in halves for text in MADE.harmless(half)]
    changed = sum(bool(redact(text)[1]) for text in texts)  # a number: nobody looks at the locked half
    assert len(texts) >= 219
    assert changed <= len(texts) / 219


def test_what_is_left_holds_no_secret_to_find():
    for planted in PLANTED:
        clean = redact(planted.text)[0]
        assert redact(clean) == (clean, ())


@pytest.mark.parametrize("planted", PLANTED[::9], ids=lambda p: p.kind)
def test_a_planted_secret_is_replaced_inside_a_long_message_too(planted):
    before, after = "Yesterday we talked about the garden.\n\n", "\n\nThat is all for today, thank you."
    clean = redact(before + planted.text + after)[0]
    alone = planted.left(redact(planted.text)[0])
    assert planted.left(clean) == alone
    assert clean.startswith(before)
    assert clean.endswith(after)
