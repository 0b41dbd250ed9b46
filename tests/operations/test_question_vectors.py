"""What is asked again is not embedded again: for as long as the store is open, and nothing was erased."""

from __future__ import annotations

import threading

import pytest

from conftest import HASHED, HashEmbedder, opened
from operations.test_erase import erased
from perdure.compose import EmbedderWarning
from perdure.operations.question_vectors import KEPT
from perdure.records.errors import EmbedderError
from perdure.records.vector import Space

PORT = "The staging server listens on port 8081."
QUESTION = "Which port has the staging server?"


class Counting(HashEmbedder):
    """Keeps the questions that it is asked to embed; fails or waits as it is told to."""

    def __init__(self, dimensions=64):
        super().__init__(dimensions)
        self.asked, self.down = [], False
        self.began = self.may_end = None

    def embed(self, texts, *, purpose):
        if purpose == "query":
            self.asked += texts
            if self.down:
                raise EmbedderError("The endpoint is down.", remedy="Start it.")
            if self.began is not None:
                self.began.set()
                assert self.may_end.wait(30)
        return super().embed(texts, purpose=purpose)


@pytest.fixture
def embedder():
    return Counting()


@pytest.fixture
def memory(tmp_path, embedder, clock):
    with opened(tmp_path / "a.db", HASHED, clock, embedder) as memory:
        memory.remember(PORT)
        yield memory


def by_meaning(found):
    """Return the cosine of the first hit: None where it was found by its words alone."""
    return found.hits[0].cosine


def test_five_equal_recalls_embed_once(memory, embedder):
    found = [memory.recall(QUESTION) for _ in range(5)]
    assert embedder.asked == [QUESTION]
    assert len({by_meaning(one) for one in found}) == 1
    assert by_meaning(found[4]) > 0


def test_two_spellings_of_one_letter_are_one_question(memory, embedder):
    memory.recall("Who is at the caf\u00e9?")
    memory.recall("Who is at the cafe\u0301?")
    assert len(embedder.asked) == 1


def test_verbs_share_the_vectors_of_questions(memory, embedder):
    identity = memory.list()[0].id
    memory.recall(QUESTION)
    memory.answer_sheet(QUESTION)
    memory.why_not(identity, QUESTION)
    memory.agent.beside(QUESTION, "s", "default")
    memory.within(30).recall(QUESTION)
    assert embedder.asked == [QUESTION]


def test_every_opened_store_has_its_own(memory, embedder, tmp_path, clock):
    memory.recall(QUESTION)
    with opened(tmp_path / "b.db", HASHED, clock, embedder) as other:
        other.remember(PORT)
        other.recall(QUESTION)
    assert embedder.asked == [QUESTION, QUESTION]


def test_so_many_are_kept_and_the_one_unused_for_longest_goes_first(memory, embedder):
    questions = [f"Which port has server {n}?" for n in range(KEPT)]
    for question in questions:
        memory.recall(question, touch=False)
    memory.recall(questions[0], touch=False)  # used again: the second is now the oldest
    assert embedder.asked == questions
    memory.recall("And which has the last?", touch=False)
    embedder.asked.clear()
    for question in (questions[0], questions[2], questions[1]):
        memory.recall(question, touch=False)
    assert embedder.asked == [questions[1]]


def test_one_that_fails_is_asked_again(memory, embedder):
    embedder.down = True
    with pytest.warns(EmbedderWarning, match="The endpoint is down"):
        notes = [memory.recall(QUESTION).note for _ in range(2)]
    assert all("keyword search only" in note for note in notes)
    assert embedder.asked == [QUESTION, QUESTION]
    embedder.down = False
    assert memory.recall(QUESTION).note == ""
    assert by_meaning(memory.recall(QUESTION)) > 0
    assert embedder.asked == [QUESTION, QUESTION, QUESTION]


def test_they_go_when_something_is_erased(memory, embedder):
    other = memory.remember("Anna Schmidt lives at 17 Harbour Lane.")
    memory.recall("Who lives at 17 Harbour Lane?")
    memory.recall(QUESTION)
    erased(memory, other.id)
    embedder.asked.clear()
    memory.recall(QUESTION)
    memory.recall(QUESTION)
    assert embedder.asked == [QUESTION]


def test_one_that_is_embedded_while_something_is_erased_is_not_kept(memory, embedder):
    other = memory.remember("Anna Schmidt lives at 17 Harbour Lane.")
    question = "Who lives at 17 Harbour Lane?"
    embedder.began, embedder.may_end = threading.Event(), threading.Event()
    asking = threading.Thread(target=memory.recall, args=(question,))
    asking.start()
    assert embedder.began.wait(30)
    erased(memory, other.id)
    embedder.may_end.set()
    asking.join()
    embedder.asked.clear()
    memory.recall(question)
    assert embedder.asked == [question]


def test_a_change_of_the_embedding_space_is_noticed(memory, embedder):
    memory.recall(QUESTION)
    embedder.space = Space("hash", 32, "1")
    assert "perdure reembed" in memory.recall(QUESTION).note
    memory.reembed()
    embedder.asked.clear()
    found = [memory.recall(QUESTION) for _ in range(2)]
    assert embedder.asked == [QUESTION]
    assert [one.note for one in found] == ["", ""]
    assert by_meaning(found[1]) == by_meaning(found[0]) > 0


def test_threads_may_ask_at_once(memory, embedder):
    questions = [f"Which port has server {n % 3}?" for n in range(24)]
    found = []
    threads = [
        threading.Thread(target=lambda q=q: found.append((q, by_meaning(memory.recall(q, touch=False)))))
        for q in questions
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(questions)
    assert len(set(found)) == 3
    assert set(embedder.asked) == set(questions)
