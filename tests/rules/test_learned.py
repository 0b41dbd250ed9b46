"""Which messages of a session were learned from: none is missed and none read twice, whoever made its id, and when."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.memories import LAW
from perdure.knowledge.rules.ingest_watermark import (
    MOST,
    OVERLAP_MS,
    advance_watermark,
    last_heard,
    last_learned,
    learned_up_to,
)
from perdure.records.errors import StoreDamaged

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
        fresh = sorted(i for i in stored if i > learned_up_to(mark) and i not in last_learned(mark))
        learned += fresh
        if fresh:
            mark = advance_watermark(mark, fresh, ())
    assert sorted(learned) == sorted(stored)
    assert len(last_learned(mark)) <= MOST


def test_what_is_kept_is_bounded():
    batch = [identity(AT + n // 0xFFF, n % 0xFFF) for n in range(5 * MOST)]
    mark = advance_watermark({}, batch, ())
    assert (len(last_learned(mark)), learned_up_to(mark)) == (MOST, sorted(batch)[-MOST - 1])
    later = advance_watermark(mark, [identity(AT + 2 * OVERLAP_MS, 0)], ())
    assert len(last_learned(later)) == 1
    assert learned_up_to(later) > max(batch)


def test_an_id_of_another_form_is_its_own_floor():
    assert learned_up_to(advance_watermark({}, ["one", "zwei"], ())) == "zwei"


@LAW
@given(st.lists(st.one_of(st.uuids(), st.text(max_size=9)).map(str), min_size=1, max_size=30, unique=True), st.data())
def test_what_is_written_down_is_given_back(ids, data):
    last = data.draw(st.lists(st.sampled_from(ids), max_size=10, unique=True))
    mark = json.loads(json.dumps(advance_watermark({}, ids, last)))
    assert last_learned(mark) == {i for i in ids if i > learned_up_to(mark)}
    assert last_heard(mark) == last


def test_a_mark_of_an_earlier_version_is_read():
    ids = [identity(AT, n) for n in range(12)]
    mark = {"floor": ids[0], "near": ids[1:], "recent": ids[-3:]}
    assert (last_learned(mark), last_heard(mark)) == (set(ids[1:]), ids[-3:])
    assert last_heard(advance_watermark(mark, [identity(AT, 12)], ids[-2:])) == ids[-2:]


def test_what_a_batch_writes_down_fits_a_page_of_a_file():
    batch = [
        str(UUID(int=(AT << 80) + (0x7000 + n << 64) + 0x8 * 16**15 + n * 0x9E3779B97F4A7C15 % 2**62))
        for n in range(50)
    ]
    assert len(json.dumps(advance_watermark({}, batch, batch[-10:]))) < 950


@pytest.mark.parametrize("near_ids", ["eJ", "!", b64encode(zlib.compress(b"12345")).decode()])
def test_what_cannot_be_read_of_it_says_so(near_ids):
    with pytest.raises(StoreDamaged, match="perdure check"):
        last_learned({"near": near_ids})
