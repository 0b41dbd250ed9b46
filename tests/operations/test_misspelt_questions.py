"""Questions with misspelt words find what is there; nothing is guessed where a word is known, a code, or elsewhere."""

from __future__ import annotations

import pytest

from conftest import HashEmbedder

NOTES = (
    "Redis evicts by volatile-ttl since the incident of April.",
    "The TypeScript configuration extends tsconfig.base.json.",
    "Certificates are renewed by the timer step-renew.",
    "Error TB5031 means that a barcode was scanned twice.",
    "Priyanka owns the signing account.",
    "The nightly importer reads settlement files of Nordbanken.",
)


@pytest.fixture(params=["words", "vectors"])
def memory(request, opening):
    memory = opening(embedder=HashEmbedder() if request.param == "vectors" else None)
    for note in NOTES:
        memory.remember(note)
    return memory


@pytest.mark.behaviour("Q14")
@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("Reedis evicton", "Redis"),
        ("typsecript config", "The TypeScript"),
        ("certifcate renewl", "Certificates"),
        ("Pryanka acount", "Priyanka"),
        ("Nordbaken settlment", "The nightly"),
    ],
)
def test_misspelt_words_find_what_they_are_misspelt_from(memory, question, beginning):
    answer = memory.recall(question, touch=False)
    by_words = sorted(answer.hits, key=lambda hit: -hit.parts.get("keyword", 0.0))
    assert by_words[0].memory.content.startswith(beginning)
    assert by_words[0].parts["keyword"] > 0
    assert "nearest spelling" in answer.note


@pytest.mark.behaviour("Q14")
@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("Reedis cache eviction", "Redis"),
        ("typsecript config", "The TypeScript"),
        ("GHA secrets config", "GitHub Actions"),  # what GHA stands for is not known, but the other words are
    ],
)
def test_terse_questions_find_what_is_there_and_are_not_said_to_be_about_something_unknown(memory, question, beginning):
    memory.remember("GitHub Actions takes its secrets from the environment called production.")
    answer = memory.recall(question, touch=False)
    assert not answer.nothing_known
    assert any(hit.memory.content.startswith(beginning) and hit.parts.get("keyword", 0.0) > 0 for hit in answer.hits)


@pytest.mark.behaviour("Q14")
@pytest.mark.parametrize("question", ["redis incident", "Which error is TB5032?", "barcode"])
def test_known_words_and_codes_are_searched_as_they_stand(memory, question):
    assert "nearest spelling" not in memory.recall(question, touch=False).note


@pytest.mark.behaviour("Q15")
def test_words_of_another_namespace_are_no_spellings(opening):
    memory = opening()
    for note in NOTES:
        memory.remember(note, namespace="work")
    memory.remember("The garden needs water in dry weeks.", namespace="home")
    answer = memory.recall("Reedis evicton", namespace="home", touch=False)
    assert answer.nothing_known
    assert "nearest spelling" not in answer.note
