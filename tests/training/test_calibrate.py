"""What calibration tries in stores of their own, and that no conversation decides about itself."""

import sys
import zlib
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import perdure
from perdure.records.memory import Message

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))

import calibrate
from pools import Chat, Question, searched_in


class Topics:
    """Vectors by a text's first word, and a little by the whole: texts about one topic have a cosine of about 0.5."""

    space = perdure.Space("topics", 384, "1")

    def embed(self, texts, *, purpose):
        assert purpose
        return [self.vector(text).astype("<f4").tobytes() for text in texts]

    def vector(self, text):
        topic, own = (np.random.default_rng(zlib.crc32(t.encode())).normal(size=384) for t in (text.split()[0], text))
        return (topic + own) / np.linalg.norm(topic + own)


@pytest.fixture(scope="module")
def chat():
    """Four hundred messages about one topic, and after them ten longer ones about others; only these are asked for."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghiklmnoprstu"), 6)) for _ in range(2000)]
    texts = [f"Harbour we decided that {' '.join(rng.choice(words, 2))} will be bought." for _ in range(400)]
    texts += [f"Topic{i} we decided that {' '.join(rng.choice(words, 24))} will be bought." for i in range(10)]
    messages = [
        Message(content=text, role="user", at=datetime(2024, 1, 1, i // 60, i % 60, tzinfo=UTC), source=str(i))
        for i, text in enumerate(texts)
    ]
    asked = [Question(f"Topic{i} where is it?", frozenset({str(400 + i)})) for i in range(10)]
    return Chat("club", messages, asked)


def test_a_digest_is_made_with_each_diversity(chat):
    tried = [{"diversity": 0.0}, {"diversity": 1.0}]
    table = calibrate.in_stores({"made up": [chat]}, Topics(), "digest", tried, calibrate.kept_in_view)
    (alike, _), (mixed, share) = table.found[:, 0]
    assert (alike < 1.0, mixed) == (True, 1.0)
    assert 0 < share < 1


def test_a_search_is_made_with_each_number_of_candidates(chat):
    tried = [{"candidates": 20, "rescored": 20}, {"candidates": 200, "rescored": 400}]

    def brought_up(memory, asked):
        found = searched_in(memory, "", asked, ()).asked[0].pool.candidates
        return len(found), calibrate.found_in(memory, asked)[0]

    table = calibrate.in_stores({"made up": [chat]}, Topics(), "recall", tried, brought_up)
    (few, _), (many, recall) = table.found[:, 0]
    assert few < 100 < many
    assert recall == 1.0


def test_a_setting_is_chosen_without_the_conversation_that_it_is_judged_on(capsys):
    table = calibrate.Table(["one", "one", "one"])
    today, other = [(0.5, 0.0)] * 3, [(0.4, 0.0), (0.4, 0.0), (0.9, 0.0)]
    table.add([{"key": 0}, {"key": 1}], [today, other])
    assert [table.best(i) for i in (None, 0, 1, 2)] == [1, 1, 1, 0]
    calibrate.report(table)
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| one"))
    assert row == "| one | 3 | 50.0 / 0.0 | 56.7 / 0.0 | 43.3 / 0.0 | -6.7 ± 3.3 |"
