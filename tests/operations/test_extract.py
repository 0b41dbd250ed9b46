"""Extraction: what is stored, what counts as known, what a language model may do, and undo."""

from __future__ import annotations

import warnings
from datetime import timedelta

import pytest

from conftest import START, WORDS_ONLY, HashEmbedder, ScriptedModel, logical
from perdure.records.errors import InvalidInput, ModelError, ModelWarning
from perdure.rules.pattern_extraction import score_content

TALK = (
    "Good morning. We decided to use PostgreSQL 15.2 for the orders service. Nice weather today!\n"
    "The fix was to raise the pool's size to 40 connections. Remember that deploys happen on Tuesdays at ten.\n"
    "What is the plan for Friday?"
)
FOUND = {
    "decision": "We decided to use PostgreSQL 15.2 for the orders service.",
    "solution": "The fix was to raise the pool's size to 40 connections.",
    "explicit": "deploys happen on Tuesdays at ten",
}
CHECKED = {**WORDS_ONLY, "model": {"base_url": "http://127.0.0.1:9", "name": "none", "extract": True}}


def by_pattern(result):
    return {e.pattern_matched: e.content for e in result.extractions}


@pytest.mark.behaviour("000-8-rule-4", "AG7", "AG18")
def test_extract_stores_memories(meaning):
    result = meaning.extract(TALK)
    assert by_pattern(result) == FOUND
    assert (result.candidates_found, result.memories_created, result.deduplicated_count) == (3, 3, 0)
    for one in result.extractions:
        kept = meaning.get(one.memory_id)
        assert (kept.content, kept.namespace, kept.kind, kept.source) == (one.content, "extracted", "note", "extracted")
        assert kept.tags == (one.pattern_matched,)
        assert kept.confidence == pytest.approx(one.confidence)
        assert kept.state.importance == 0.4
        assert kept.metadata == {"span": [one.start_pos, one.end_pos]}
        assert one.content in TALK[one.start_pos : one.end_pos]
        assert one.stored
        assert kept.scope == "long_term"
    assert [e.start_pos for e in result.extractions] == sorted(e.start_pos for e in result.extractions)
    assert meaning.get(result.extractions[0].memory_id).confidence == score_content(
        "to use PostgreSQL 15.2 for the orders service", 0.8
    )


@pytest.mark.behaviour("AG10")
def test_the_result_has_exactly_the_seeds_fields_and_the_operations(memory):
    plain = memory.extract(TALK).to_dict()
    assert list(plain) == [
        "candidates_found",
        "memories_created",
        "deduplicated_count",
        "extractions",
        "operations",
        "changed",
    ]
    names = ["content", "confidence", "pattern_matched", "start_pos", "end_pos", "stored", "memory_id"]
    assert all(list(e) == names for e in plain["extractions"])


@pytest.mark.behaviour("000-8-rule-2", "AG8")
def test_deduplication_against_existing(meaning):
    meaning.remember("Deploys happen on tuesdays  at ten", namespace="extracted")
    meaning.remember("Agreed: We decided to use PostgreSQL 15.2 for the orders service.", namespace="extracted")
    result = meaning.extract(TALK)
    assert (result.memories_created, result.deduplicated_count) == (1, 2)
    assert [(e.pattern_matched, e.stored, e.memory_id is None) for e in result.extractions] == [
        ("decision", False, True),
        ("solution", True, False),
        ("explicit", False, True),
    ]
    again = meaning.extract(TALK)
    assert (again.memories_created, again.deduplicated_count, again.operations) == (0, 3, ())


@pytest.mark.behaviour("AG9")
def test_extracted_memories_searchable(meaning):
    result = meaning.extract(TALK)
    for question, pattern in {"When do deploys happen?": "explicit", "Which PostgreSQL is used?": "decision"}.items():
        hits = meaning.recall(question, "extracted").hits
        assert hits[0].memory.id == next(e.memory_id for e in result.extractions if e.pattern_matched == pattern)
        assert hits[0].cosine is not None


@pytest.mark.behaviour("AG14")
def test_another_number_is_no_repetition(meaning):
    """Alike enough to be dropped (one of twelve words differs), but not the same."""
    said = "We decided to keep the nightly backups of the orders database for {} days"
    assert meaning.extract(said.format(30)).memories_created == 1
    forty = meaning.extract(said.format(40), dedup_threshold=0.8)
    assert (forty.memories_created, forty.deduplicated_count) == (1, 0)
    same = meaning.extract(said.format(40).replace("nightly", "Nightly"), dedup_threshold=0.8)
    assert (same.memories_created, same.deduplicated_count) == (0, 1)
    assert len(meaning.list("extracted")) == 2


def test_the_threshold_decides_how_alike_is_too_alike(opening, elsewhere):
    first = "We decided to keep the nightly backups of the orders database"
    second = "We decided to keep the nightly backups of the orders database and in Oslo"
    created = {}
    for threshold in (0.7, 0.99):
        memory = opening(embedder=HashEmbedder(), at=elsewhere())
        memory.extract(second)
        created[threshold] = memory.extract(first, dedup_threshold=threshold).memories_created
    assert created == {0.7: 0, 0.99: 1}


def test_candidates_of_one_text_repeat_each_other(meaning):
    twice = "We decided to use the queue imports-v2. Later:\nwe decided to use the queue imports-v2!"
    result = meaning.extract(twice)
    assert (result.candidates_found, result.memories_created, result.deduplicated_count) == (2, 1, 1)
    assert len(meaning.list("extracted")) == 1


def test_without_deduplication_only_the_very_same_words_are_known(meaning):
    meaning.remember("Agreed: We decided to use PostgreSQL 15.2 for the orders service.", namespace="extracted")
    result = meaning.extract(TALK, deduplicate=False)
    assert (result.memories_created, result.deduplicated_count) == (3, 0)
    again = meaning.extract(TALK, deduplicate=False)
    assert (again.memories_created, again.deduplicated_count) == (0, 3)
    assert len(meaning.list("extracted")) == 4


def test_what_was_said_does_not_make_it_known(meaning):
    meaning.ingest([{"content": "deploys happen on Tuesdays at ten", "role": "user", "at": START}], "extracted")
    assert meaning.extract(TALK).memories_created == 3


def test_an_archived_memory_of_the_same_words_is_shown_again(memory):
    kept = memory.remember(FOUND["explicit"], namespace="extracted")
    memory.archive(kept.id, "out of date")
    result = memory.extract(TALK)
    assert memory.get(kept.id).status == "active"
    assert (result.memories_created, result.deduplicated_count) == (2, 1)


@pytest.mark.behaviour("AG19")
def test_another_sessions_own_notes_do_not_keep_it_out(meaning):
    """Nobody else sees them: what is dropped because of them would be known to nobody here."""
    one = meaning.extract(TALK, session="one")
    assert one.memories_created == 3
    assert meaning.extract(TALK, session="two").memories_created == 3
    assert meaning.extract(TALK, session="one").memories_created == 0
    assert {m.scope for m in meaning.list("extracted", inside="one")} == {"session"}
    assert len(meaning.list("extracted", inside="one")) == 3
    assert meaning.list("extracted") == []


def test_notes_belong_to_what_they_are_given(memory, clock):
    clock.passes(days=3)
    said = START + timedelta(days=1)
    kept = memory.get(memory.extract(TALK, session="s", task="t", at=said).extractions[0].memory_id)
    assert (kept.scope, kept.session, kept.task, kept.created_at) == ("task", "s", "t", said)


@pytest.mark.behaviour("AG13")
def test_only_the_most_confident_are_considered_and_all_are_counted(opening):
    memory = opening({**WORDS_ONLY, "extract": {"max_candidates": 2}})
    result = memory.extract(TALK)
    assert (result.candidates_found, result.memories_created) == (3, 2)
    assert set(by_pattern(result)) == {"solution", "explicit"}


def test_the_least_confidence_filters(memory):
    assert memory.extract("Water is a liquid", min_confidence=0.9).candidates_found == 0
    assert memory.extract("Water is a liquid", min_confidence=0.5).candidates_found == 1


@pytest.mark.behaviour("AG17")
def test_undo_takes_the_notes_back(opening, path):
    memory = opening(embedder=HashEmbedder())
    memory.remember("Something else.", namespace="extracted")
    before = logical(path)
    result = memory.extract(TALK)
    [operation] = result.operations
    assert memory.history(namespace="extracted")[0].operation == "extract"
    memory.undo(operation)
    assert logical(path) == before


@pytest.mark.behaviour("AG11")
@pytest.mark.parametrize(
    "given",
    [
        {"text": "x" * 50_001},
        {"text": ""},
        {"text": 7},
        {"min_confidence": 1.1},
        {"min_confidence": "high"},
        {"dedup_threshold": 0.69},
        {"dedup_threshold": 1.0},
        {"dedup_threshold": True},
        {"dedup_threshold": float("nan")},
        {"namespace": "../etc"},
        {"session": ""},
    ],
    ids=str,
)
def test_what_is_out_of_range_is_refused_and_nothing_is_stored(memory, given):
    with pytest.raises(InvalidInput):
        memory.extract(**{"text": TALK, **given})
    assert memory.namespaces() == []


@pytest.mark.behaviour("AG12")
def test_bounds_are_inclusive(memory):
    memory.extract("word " * 10_000, dedup_threshold=0.7, min_confidence=0.0)
    memory.extract(TALK, dedup_threshold=0.99, min_confidence=1.0)
    with pytest.raises(InvalidInput, match="50,001 characters; 50,000 are allowed"):
        memory.extract("x" * 50_001)


# --- tier 3: a language model checks


def asked(memory, model, text=TALK, **more):
    memory._context.model = model
    return memory.extract(text, **more)


@pytest.mark.behaviour("AG15")
def test_a_model_keeps_drops_and_adds_what_stands_in_the_text(opening):
    model = ScriptedModel(
        {
            "checked": [
                {"number": 1, "keep": True, "confidence": 0.7},
                {"number": 2, "keep": False, "confidence": 0.9},
                {"number": 99, "keep": True, "confidence": 1.0},
            ],
            "added": [
                {"quote": "Nice weather today!", "confidence": 0.6},
                {"quote": "Nice weather tomorrow!", "confidence": 0.9},
                {"quote": "deploys happen", "confidence": 0.9},
                {"quote": "Good", "confidence": 0.9},
                {"quote": "Good morning.", "confidence": 0.1},
            ],
        }
    )
    result = asked(opening(CHECKED), model)
    assert [(e.pattern_matched, e.content, e.confidence) for e in result.extractions] == [
        ("decision", FOUND["decision"], 0.7),
        ("model", "Nice weather today!", 0.6),
        ("explicit", FOUND["explicit"], pytest.approx(0.95)),
    ]
    [(instruction, text, schema)] = model.asked
    assert "data" in instruction
    assert FOUND["solution"] in text
    assert schema["properties"]["added"]["maxItems"] == 20


@pytest.mark.behaviour("AG16")
def test_a_model_that_fails_leaves_what_was_found_and_is_told_once(opening):
    memory = opening(CHECKED)
    model = ScriptedModel(*[ModelError("The server is busy.")] * 2)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ModelWarning)
        assert by_pattern(asked(memory, model)) == FOUND
        assert asked(memory, model, TALK, namespace="other").memories_created == 3
    assert len(said) == 1
    assert "busy" in str(said[0].message)


def test_a_model_is_asked_only_where_the_policy_says_so(opening):
    without = {**CHECKED, "model": {**CHECKED["model"], "extract": False}}
    model = ScriptedModel()
    assert asked(opening(without), model).memories_created == 3
    assert model.asked == []


def test_a_real_endpoint_is_asked_and_its_fault_stops_nothing(opening):
    """Nothing listens on that port: the real client fails, and the notes are stored."""
    memory = opening({**CHECKED, "model": {**CHECKED["model"], "key_variable": "", "timeout_seconds": 0.1}})
    with pytest.warns(ModelWarning, match="could not check the extracted notes"):
        assert memory.extract(TALK).memories_created == 3


def test_a_decision_in_other_words_is_no_news(opening):
    memory = opening({"embedder": {"model": "local"}})
    assert memory.extract("We decided to use PostgreSQL 15 as the database.").memories_created == 1
    again = memory.extract("We decided to use PostgreSQL 15 for the database.")
    assert (again.memories_created, again.deduplicated_count) == (0, 1)
    other = memory.extract("We decided to use PostgreSQL 16 for the database.")
    assert (other.memories_created, other.deduplicated_count) == (1, 0)
