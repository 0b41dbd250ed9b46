"""Which messages of a session were learned from: none is missed and none read twice, whoever made its id, and when."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.memories import LAW
from perdure.knowledge.rules.ingest_watermark import MOST, OVERLAP_MS, advance, floor, near

AT = 0x019B76DB9260


def identity(ms, more):
    text = f"{ms:012x}"
    return f"{text[:8]}-{text[8:]}-7{more:03x}-8000-000000000000"


@pytest.mark.behaviour("KW5")
@LAW
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 50_000), st.integers(0, 0xFFF)), max_size=8, unique=True), max_size=8)
)
def test_every_message_is_learned_once_whatever_the_order_of_ids(arrivals):
    """Clocks of writers differ by less than the overlap."""
    stored, learned, mark = set(), [], {}
    for place, some in enumerate(arrivals):
        stored |= {identity(AT + 5_000 * place + ms, more) for ms, more in some}
        fresh = sorted(i for i in stored if i > floor(mark) and i not in near(mark))
        learned += fresh
        if fresh:
            mark = advance(mark, fresh, ())
    assert sorted(learned) == sorted(stored)
    assert len(near(mark)) <= MOST


def test_what_is_kept_is_bounded():
    batch = [identity(AT + n // 0xFFF, n % 0xFFF) for n in range(5 * MOST)]
    mark = advance({}, batch, ())
    assert (len(near(mark)), floor(mark)) == (MOST, sorted(batch)[-MOST - 1])
    later = advance(mark, [identity(AT + 2 * OVERLAP_MS, 0)], ())
    assert len(near(later)) == 1
    assert floor(later) > max(batch)


def test_an_id_of_another_form_is_its_own_floor():
    assert floor(advance({}, ["one", "zwei"], ())) == "zwei"
