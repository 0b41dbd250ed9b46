"""The notes and cases that precision is measured on: their form, their counts, and that the halves share nothing."""

import hashlib
import json
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from statistics import mean

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))

import precision

TRAINING = Path(precision.__file__).parent
HALVES = ("first", "locked")
FAIR = ("fair_open", "fair_locked")


def read(kind):
    return {
        half: [json.loads(line) for line in (TRAINING / kind / f"{half}.jsonl").read_text("utf-8").splitlines()]
        for half in HALVES
    }


@pytest.fixture(scope="module")
def stores():
    return read("notes")


@pytest.fixture(scope="module")
def cases():
    return read("precision")


def everything(halves):
    return [entry for half in HALVES for entry in halves[half]]


def faults_of(notes):
    ids = {note["id"]: note for note in notes}
    if len(ids) != len(notes):
        yield "an id stands twice"
    for note in notes:
        if not note["text"].strip() or note["text"] != note["text"].strip():
            yield f"{note['id']}: text"
        newer = ids.get(note.get("replaced_by", note["id"]))
        if newer is None or (newer is not note and date.fromisoformat(newer["at"]) <= date.fromisoformat(note["at"])):
            yield f"{note['id']}: replaced by an older note or by none"


def answer_faults(notes, wanted, scopes):
    ids = {note["id"]: note for note in notes}
    if len(set(wanted)) != len(wanted):
        yield "an id is wanted twice"
    for name in wanted:
        if name not in ids or "replaced_by" in ids[name] or ids[name]["scope"] not in scopes:
            yield f"{name} is wanted but missing, replaced or of another scope"


def test_stores_have_their_notes_and_questions(stores):
    assert {half: len(listed) for half, listed in stores.items()} == {"first": 5, "locked": 5}
    for store in everything(stores):
        assert (len(store["notes"]), len(store["questions"])) == (20, 20), store["store"]
        assert any("replaced_by" in note for note in store["notes"]), store["store"]
        assert {note["scope"] for note in store["notes"]} == {"project", "user"}, store["store"]
        assert list(faults_of(store["notes"])) == [], store["store"]


def test_questions_want_notes_that_hold(stores):
    for store in everything(stores):
        for question in store["questions"]:
            assert list(answer_faults(store["notes"], question["wanted"], {"project", "user"})) == [], question
            assert (question["kind"] == "none") == (question["wanted"] == []), question
            assert len(question["wanted"]) <= 3, question


def test_every_kind_of_question_has_its_share(stores):
    for half in HALVES:
        kinds = Counter(question["kind"] for store in stores[half] for question in store["questions"])
        assert set(kinds) == {"natural", "keyword", "misspelt", "identifier", "none"}
        assert kinds["misspelt"] == 15
        assert min(kinds["natural"], kinds["keyword"] + kinds["misspelt"]) >= 30
        assert min(kinds["identifier"], kinds["none"]) >= 16


def test_cases_want_beliefs_that_hold_in_their_scope(cases):
    assert {half: len(listed) for half, listed in cases.items()} == {"first": 30, "locked": 30}
    for case in everything(cases):
        assert 12 <= len(case["beliefs"]) <= 25, case["case"]
        assert 1 <= len(case["wanted"]) <= 4, case["case"]
        assert list(faults_of(case["beliefs"])) == [], case["case"]
        assert list(answer_faults(case["beliefs"], case["wanted"], {"user", case["scope"]})) == [], case["case"]


@pytest.mark.parametrize("half", FAIR)
def test_in_the_fair_cases_length_says_nothing(half):
    cases = [json.loads(line) for line in (TRAINING / "precision" / f"{half}.jsonl").read_text("utf-8").splitlines()]
    assert len(cases) == 30
    for case in cases:
        assert 1 <= len(case["wanted"]) <= 5, case["case"]
        assert list(faults_of(case["beliefs"])) == [], case["case"]
        assert list(answer_faults(case["beliefs"], case["wanted"], {"user", case["scope"]})) == [], case["case"]
    (wanted, others) = (
        [
            len(note.text)
            for group in precision.cases(half)
            for note in group.visible(group.questions[0].scope)
            if (note.id in group.questions[0].wanted) is helps
        ]
        for helps in (True, False)
    )
    assert mean(wanted) == pytest.approx(mean(others), rel=0.05)


@pytest.mark.parametrize("digest", sorted(TRAINING.parent.glob("*/*/*.sha256")), ids=lambda path: path.stem)
def test_a_locked_file_is_as_it_was_written(digest):
    for line in digest.read_text("utf-8").splitlines():
        told, name = line.split()
        assert hashlib.sha256((digest.parent / name).read_bytes()).hexdigest() == told, name


def test_nothing_stands_twice(stores, cases):
    notes = [(store["store"], store["notes"], [q["text"] for q in store["questions"]]) for store in everything(stores)]
    listed = notes + [(case["case"], case["beliefs"], [case["query"]]) for case in everything(cases)]
    assert len({name for name, _, _ in listed}) == len(listed)
    texts = Counter(
        " ".join(text.lower().split()) for _, held, asked in listed for text in [*(n["text"] for n in held), *asked]
    )
    assert [text for text, times in texts.items() if times > 1] == []


@pytest.mark.parametrize(
    ("group", "wanted"), [(precision.stores("first")[0], "n03"), (precision.cases("first")[0], "b7")]
)
def test_only_what_holds_in_the_scope_is_returned(group, wanted):
    returned = list(precision.by_recall(group, "none"))
    for question, names in zip(group.questions, returned, strict=True):
        assert set(names) <= {note.id for note in group.visible(question.scope)}
    assert wanted in {name for names in returned for name in names}


def test_figures_of_an_answer():
    assert precision.Answer("g", frozenset("abc"), ("x", "b", "c", "y")).figures() == (2 / 3, 0.5, 4 / 7, 0.5)
    assert precision.Answer("g", frozenset("a"), ()).figures() == (0.0, 0.0, 0.0, 0.0)
