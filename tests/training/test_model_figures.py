"""What the documents say about the embedder: the same everywhere, and what its files and conversations are."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import weekly

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))

import evaluate
import loss
from corpus import conversations
from evaluate import Found
from pools import Kept
from training.public_sets import data_folder

ROOT = Path(__file__).parents[2]
CARD, DECISION, EVIDENCE, README = (
    (ROOT / name).read_text("utf-8")
    for name in (
        "packages/perdure-embedder/README.md",
        "docs/decisions/0024-embedder.md",
        "docs/evidence.md",
        "README.md",
    )
)
VECTORS, BASE = "vectors alone, this model", "vectors alone, all-MiniLM-L6-v2"
RECALL = "Perdure's recall, this model"
IN_EVIDENCE = {
    "BM25": "BM25",
    "vectors alone, all-MiniLM-L6-v2 (the base)": BASE,
    "vectors alone": VECTORS,
    "both fused, the base": "with words, all-MiniLM-L6-v2",
    "both fused": "with words, this model",
    "recall, the base": "Perdure's recall, all-MiniLM-L6-v2",
    "recall, the base with the settings chosen for it": (
        "Perdure's recall, all-MiniLM-L6-v2 with the settings chosen for it"
    ),
    "recall": RECALL,
}
"""Rows of docs/evidence.md: the rows of the model card."""


def tables(text):
    """The tables of a document: first column -> the others, without links and emphasis."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "")
    for block in re.findall(r"(?:^\|.*\n)+", plain, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in block.splitlines()]
        yield {row[0]: row[1:] for row in rows if set(row[0]) != {"-"}}


def table(text, label):
    return next(t for t in tables(text) if label in t)


def means(cells):
    return np.array([float(cell.split()[0]) for cell in cells])


def test_the_model_card_and_the_decision_state_the_same_figures():
    assert table(CARD, VECTORS) == table(DECISION, VECTORS)
    other = [re.search(r"SICK's relatedness.*?\(base 11\.4 ± 4\.3\)", text, re.DOTALL)[0] for text in (CARD, DECISION)]
    assert other[0] == other[1]


def test_the_evidence_states_the_figures_of_the_model_card():
    evidence, card = table(EVIDENCE, "vectors alone"), table(CARD, VECTORS)
    assert {row: evidence[row] for row in IN_EVIDENCE} == {row: card[name] for row, name in IN_EVIDENCE.items()}
    assert set(evidence) - set(IN_EVIDENCE) == {"way"}


def test_what_the_kinds_of_beams_questions_reach_and_lose_is_what_all_do():
    rows = table(EVIDENCE, "a perfect ranker")
    count, perfect, recall, lost = (
        means(next(cells for name, cells in rows.items() if name.startswith(begin)))
        for begin in ("questions", "a perfect ranker", "recall", "points of the whole")
    )
    assert count[:-1].sum() == count[-1]
    for values in (perfect, recall):
        assert (count * values)[:-1].sum() / count[-1] == pytest.approx(values[-1], abs=0.06)
    assert lost == pytest.approx(count * (perfect - recall) / count[-1], abs=0.16)  # three roundings


def test_the_readme_states_the_figures_of_the_model_card():
    stated = [cells for t in tables(README) for name, cells in t.items() if name.startswith("evidence recall@10")]
    card = table(CARD, VECTORS)
    wanted = [
        [f"{ours} %", f"{words} %, plain full-text search"]
        for ours, words in zip(card[RECALL], card["BM25"], strict=True)
    ]
    assert stated == wanted


def test_the_learning_curve_begins_with_the_base_and_ends_with_what_is_shipped():
    curve, card = table(DECISION, "none (base)"), table(CARD, VECTORS)
    assert curve["none (base)"] == card[BASE]
    assert curve[str(len(conversations("train")))] == card[VECTORS]
    assert [row for row in curve if row.isdecimal()] == sorted((row for row in curve if row.isdecimal()), key=int)


def test_the_gains_that_the_decision_states_are_those_of_its_table():
    rows = {name: means(cells) for name, cells in table(DECISION, VECTORS).items() if name not in {"", "way"}}
    base, words = re.search(
        r"vectors alone gain ([\d.]+) points over the\s+base and (\d+) over BM25", DECISION
    ).groups()
    assert rows[VECTORS][2] - rows[BASE][2] == pytest.approx(float(base), abs=0.01)
    assert round(rows[VECTORS][2] - rows["BM25"][2]) == int(words)


def test_what_the_model_must_not_lose_is_stated_and_kept():
    own, base = map(float, re.search(r"SICK's relatedness ([\d.]+) \(Spearman; the base ([\d.]+)\)", CARD).groups())
    assert own >= base - 0.02
    paired = re.search(r"user by user, MemoryBank's differences are (.*?):", CARD)[1].replace("\u2212", "-")
    differences = [(float(found), float(error)) for found, error in re.findall(r"(-?[\d.]+) ± ([\d.]+)", paired)]
    assert all(found >= -2 * error for found, error in differences)
    stated = re.findall(r"(\d\d\.\d) ± [\d.]+ \((?:base )?(\d\d\.\d) ± [\d.]+\)", CARD)[:2]
    means_of_both = [float(now) - float(before) for now, before in stated]
    assert means_of_both == pytest.approx([found for found, _ in differences], abs=0.11)  # both are rounded


def test_int8_weights_lose_less_than_half_a_point_by_the_figures_that_are_stated():
    plain = re.search(r"as float32 reach ([\d.]+) / ([\d.]+) / ([\d.]+), so int8 costs ([\d.]+)", DECISION).groups()
    lost = np.array([float(figure) for figure in plain[:3]]) - means(table(DECISION, VECTORS)[VECTORS])
    assert lost.max() == pytest.approx(float(plain[3]), abs=0.01)
    assert lost.max() <= 100 * loss.MOST_LOST


def test_the_package_is_small_and_as_large_as_its_card_says():
    package = ROOT / "packages/perdure-embedder/src/perdure_embedder"
    files = [file for file in package.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    models = [file for file in files if file.suffix == ".onnx"]
    assert {file.name for file in models} == {"model.onnx", "supersession.onnx"}
    for file in models:
        size = file.stat().st_size
        assert f"`{file.name}`, {size / 1e6:.1f} MB" in CARD
        assert size <= loss.LARGEST
    assert sum(file.stat().st_size for file in files if file not in models) <= 10_000


@weekly  # embeds 2,500 turns
def test_the_shipped_weights_reach_what_is_stated_for_them_and_for_float():
    pytest.importorskip("perdure_embedder")
    reached = 100 * loss.recall_of(loss.found_by(Kept(), loss.english_test_chats()))
    stated = means(table(DECISION, VECTORS)[VECTORS])[2]
    plain = float(re.search(r"as float32 reach [\d.]+ / [\d.]+ / ([\d.]+)", DECISION)[1])
    assert reached == pytest.approx(stated, abs=0.3)  # another kind of processor may differ in the last digits
    assert plain - reached <= 100 * loss.MOST_LOST


@weekly  # embeds 10,000 sentences
def test_the_relatedness_of_sick_is_what_is_stated(monkeypatch):
    monkeypatch.setenv("PERDURE_DATA", str(data_folder()))
    stated = float(re.search(r"SICK's relatedness ([\d.]+)", CARD)[1])
    assert evaluate.sick_correlation(Kept()) == pytest.approx(stated, abs=0.002)


@pytest.mark.parametrize(
    ("lost", "error", "size", "faults"),
    [
        (0.0, 0.0, 23_400_000, 0),
        (-0.02, 0.0, 24_000_000, 0),
        (0.0051, 0.0, 23_400_000, 1),
        (0.0051, 0.002, 23_400_000, 0),
        (0.03, 0.01, 23_400_000, 1),
        (0.0, 0.0, 24_000_001, 1),
        (0.1, 0.01, 25_000_000, 2),
    ],
)
def test_an_export_that_loses_too_much_or_is_too_large_is_refused(lost, error, size, faults):
    assert len(list(loss.export_faults(lost, error, size))) == faults


def test_the_loss_is_that_of_the_same_questions_and_its_error_that_over_conversations():
    plain, small = (
        [Found("a", "", x), Found("a", "", y), Found("b", "", z)] for x, y, z in ((1.0, 0.5, 1.0), (0.5, 0.5, 1.0))
    )
    assert loss.lost(plain, small) == (pytest.approx(0.5 / 3), pytest.approx(0.125))  # 0.25 and 0 of two conversations


class Rounded:
    """The embedder with its vectors cut to a few levels: what careless quantisation does."""

    def __init__(self, model, levels):
        self.model, self.levels = model, levels

    def embed(self, texts, *, purpose):
        vectors = (np.frombuffer(v, "<f4") for v in self.model.embed(texts, purpose=purpose))
        cut = [np.rint(v / np.abs(v).max() * self.levels).astype("<f4") for v in vectors]
        return [(v / np.linalg.norm(v)).tobytes() for v in cut]


@weekly
def test_the_recall_of_cut_weights_is_lower_and_the_export_refuses_it():
    pytest.importorskip("perdure_embedder")
    chat = next(c for c in loss.english_test_chats() if c.name == "29-mossie-care")
    model = Kept()
    plain, fine, cut = (loss.found_by(m, [chat]) for m in (model, Rounded(model, 127), Rounded(model, 1)))
    assert list(loss.export_faults(*loss.lost(plain, fine), 1)) == []
    (fault,) = loss.export_faults(*loss.lost(plain, cut), 1)
    assert "points of recall@10" in fault
