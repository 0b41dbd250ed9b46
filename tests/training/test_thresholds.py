"""The table of constants that compare a cosine: complete as far as the policy says, and what it computes."""

import ast
import re
import sys
import zlib
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

import perdure
from perdure.records.policy import Policy

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))

import thresholds

MEANING = re.compile(r"cosine|similar|close to an older|uniqueness")
COSINE = re.compile(r"cosine|likeness|matrix @", re.IGNORECASE)
NO_COSINE = {
    "knowledge.fuzzy": "compares letters",
    "recall.rescored": "a number of memories",
    "recall.asking": "a share of a score",
}


def test_every_policy_key_about_a_cosine_is_listed():
    listed = {constant.name for constant in thresholds.CONSTANTS}
    keys = {
        f"{section.name}.{key.name}"
        for section in fields(Policy)
        if is_dataclass(part := getattr(Policy(), section.name))
        for key in fields(part)
        if MEANING.search(key.metadata.get("help", "")) and not isinstance(getattr(part, key.name), str)
    }
    assert keys - listed - set(NO_COSINE) == set()
    assert set(NO_COSINE) <= keys


def compared_with_a_cosine():
    """Names of constants and policy keys that the source compares with something that is called a cosine."""
    sections = [part for section in fields(Policy) if is_dataclass(part := getattr(Policy(), section.name))]
    keys = {key.name for part in sections for key in fields(part)}
    for file in sorted(Path(perdure.__file__).parent.rglob("*.py")):
        text = file.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if COSINE.search(text) else ():
            if isinstance(node, ast.Compare) and COSINE.search(ast.unparse(node)):
                for side in (node.left, *node.comparators):
                    name = getattr(side, "id", getattr(side, "attr", ""))
                    if name.lstrip("_").isupper() or (name in keys and "policy" in ast.unparse(side)):
                        yield name


def test_every_constant_that_the_source_compares_with_a_cosine_is_listed():
    found = set(compared_with_a_cosine())
    assert {"DUPLICATE_COSINE", "duplicate_cosine", "_NEAR", "PARAPHRASED", "ALIKE", "preservation"} <= found
    assert found - {re.split(r"[.:]", constant.name)[-1] for constant in thresholds.CONSTANTS} == set()


@pytest.mark.parametrize("constant", thresholds.CONSTANTS, ids=lambda c: c.name)
def test_every_listed_constant_exists(constant):
    assert constant.value() >= 0


class Noise:
    """Takes the embedder's place: vectors that depend on the text alone."""

    def __init__(self, weights=None):
        assert weights is None

    def embed(self, texts, *, purpose):
        assert purpose == "document"
        for text in texts:
            vector = np.random.default_rng(zlib.crc32(text.encode())).normal(size=16)
            yield (vector / np.linalg.norm(vector)).astype("<f4").tobytes()


class Judge:
    """Takes the other model's place: half of the pairs are over."""

    def chances(self, pairs):
        return [zlib.crc32("".join(pair).encode()) % 2 for pair in pairs]


def test_the_table_has_a_line_for_every_constant(monkeypatch, capsys):
    monkeypatch.setattr(thresholds, "LocalEmbedder", Noise)
    monkeypatch.setattr(thresholds, "SupersessionModel", Judge)
    monkeypatch.setattr(sys, "argv", ["thresholds.py"])
    thresholds.main()
    table, links = capsys.readouterr().out.split("\n\n")
    lines = table.splitlines()[2:]
    counts = [int(line.split(" | ")[1]) for line in links.splitlines()[2:]]
    assert [line.split(" | ")[0] for line in lines] == [f"| {constant.name}" for constant in thresholds.CONSTANTS]
    assert all(
        " to " in line for by in (thresholds.SAME, thresholds.ABOUT, thresholds.LINKS) for line in lines if by in line
    )
    assert sum(counts) > 100


def test_a_threshold_is_chosen_without_the_group_that_it_is_judged_on():
    cosines = np.array([0.9, 0.8, 0.5, 0.4] * 2 + [0.6, 0.35])
    labels = np.array([True, True, False, False] * 2 + [True, False])
    data = thresholds.Labelled(cosines, labels, np.array([0] * 4 + [1] * 4 + [2] * 2))
    chosen, now, then, error = thresholds.left_out(data, 0.7)
    assert chosen == [0.6, 0.6, 0.8]  # what the third group needs is not known when it is left out
    assert (now, then) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert error == 0
