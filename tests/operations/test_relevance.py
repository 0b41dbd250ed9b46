"""What a recall returns: hits that are likely to answer, fewer than asked for where fewer do, or nothing."""

from __future__ import annotations

import re

import pytest

from conftest import HashEmbedder, bare_fact, on_a_file

NOTES = (
    "The staging database is PostgreSQL 16 on port 5433.",
    "We deploy on Tuesdays after the stand-up.",
    "Mara prefers short answers without emojis.",
    "The nightly backup runs at 02:30 and takes eleven minutes.",
    "Invoices go out on the last working day of the month.",
    "The API gateway times out after 30 seconds.",
    "Jonas is on parental leave until September.",
    "Feature flags live in settings/flags.toml.",
    "The office in Lyon closes at six.",
    "Unit tests must run in under two minutes.",
    "The logo's blue is #1f4e9c.",
    "Customer calls are recorded only with consent.",
)


@pytest.fixture
def memory(opening):
    pytest.importorskip("perdure_embedder")
    memory = opening({"embedder": {"model": "local"}})
    for note in NOTES:
        memory.remember(note)
    return memory


@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("When do we ship to production?", "We deploy on Tuesdays"),
        ("which database server does staging use", "The staging database"),
        ("Who is on leave right now?", "Jonas"),
        ("How long may a request take?", "The API gateway"),
    ],
)
def test_the_best_hit_answers_and_has_the_highest_relevance(memory, question, beginning):
    hits = memory.recall(question, touch=False).hits
    assert hits[0].memory.content.startswith(beginning)
    assert hits[0].relevance == max(hit.relevance for hit in hits) > 0.2


@pytest.mark.parametrize(
    "question",
    [
        "What did Caroline paint at the pottery workshop?",
        "How many goals did Ronaldo score for Juventus?",
        "Which violin strings does Beatrice recommend?",
    ],
)
def test_a_question_about_something_else_finds_nothing_and_the_note_gives_the_chance(memory, question):
    answer = memory.recall(question, touch=False)
    assert answer.nothing_known
    assert not answer.hits
    assert "chance that one of 12 memories answers" in answer.note


def test_a_policy_of_no_least_chance_always_answers(opening):
    pytest.importorskip("perdure_embedder")
    memory = opening({"embedder": {"model": "local"}, "recall": {"answer_chance": 0.0}})
    memory.remember(NOTES[0])
    assert memory.recall("How many goals did Ronaldo score for Juventus?", touch=False).hits


def test_the_limit_is_an_upper_bound(memory):
    hits = memory.recall("When do we ship to production?", limit=10, touch=False).hits
    assert 0 < len(hits) < 10


@pytest.mark.parametrize("question", ["When does the nightly backup run?", "When do invoices go out?"])
def test_where_words_and_meaning_agree_on_the_best_hit_only_what_is_near_it_is_shown(memory, question):
    (best,) = memory.recall(question, touch=False).hits
    deploys = next(m for m in memory.list() if m.content == NOTES[1])
    assert deploys.id != best.memory.id
    absence = memory.why_not(deploys.id, question)
    assert absence.kept_out_by == "hit_share"
    share = int(re.search(r"below (\d+)% of the best one's", absence.explanation)[1])
    assert 20 < share <= 40


def test_where_only_meaning_speaks_for_the_best_hit_others_may_answer(memory):
    assert len(memory.recall("When do we ship to production?", touch=False).hits) > 2


def test_hits_below_the_asked_relevance_are_left_out(memory):
    question = "When do we ship to production?"
    every = memory.recall(question, touch=False).hits
    bound = (every[0].relevance + every[1].relevance) / 2
    assert [h.memory.id for h in memory.recall(question, min_relevance=bound, touch=False).hits] == [every[0].memory.id]
    refused = memory.recall(question, min_relevance=1.0, touch=False)
    assert refused.nothing_known
    assert "none reaches relevance 1" in refused.note


def test_a_tag_that_few_memories_have_is_judged_by_those_few(opening):
    pytest.importorskip("perdure_embedder")
    memory = opening({"embedder": {"model": "local"}, "knowledge": {"supersession": "off"}})  # 1500 pairs less
    memory.remember_many(
        [{"content": f"Ticket {n} was closed by the night shift.", "tags": ["log"]} for n in range(300)]
    )
    memory.remember("Backups are kept for ninety days.", tags=["rule"])
    assert memory.recall("How long are snapshots retained?", tags=["rule"], touch=False).hits
    unrelated = memory.recall("What did Caroline paint at the pottery workshop?", tags=["rule"], touch=False)
    assert "one of 1 memories" in unrelated.note


def test_what_another_namespace_knows_does_not_count(memory):
    question = "What did Caroline paint at the pottery workshop?"
    memory.remember("Caroline painted a sunset at the pottery workshop.", namespace="friends")
    assert memory.recall(question, namespace="friends", touch=False).hits
    answer = memory.recall(question, touch=False)
    assert answer.nothing_known
    assert "100% of its names are in no memory" in answer.note


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("What is Tim allergic to?", 'no memory has "Tim"'),
        ("What discount does customer 4799 get?", 'no memory has "4799"'),
        ("When was release 2.6 shipped?", 'no hit has "2.6"'),
        ("What is Mia allergic to?", ""),
        ("What discount does customer 4711 get?", ""),
        ("Was release 2.5 shipped on 14 March 2031?", ""),
    ],
)
def test_a_name_or_number_that_no_memory_has_is_told_beside_the_answer(opening, question, note):
    memory = opening(embedder=HashEmbedder())
    memory.remember("Mia is allergic to milk.")
    memory.remember("Customer 4711 gets a discount of 12 %.")
    memory.remember("The release 2.5 was shipped on 1 February.")
    answer = memory.recall(question, touch=False)
    assert answer.hits
    assert answer.note == note


SPELT = (
    *("Tomás vive en Sevilla.", "The U.S. office closes at 5 pm.", "Our budget is 40,000 EUR.", "Lena lives in Oslo."),
    *("The meeting with O'Brien is on Tuesday.", "Die Miete beträgt 1.200 Euro.", "The licence of the UK is 70000."),
    *("Die Firma sitzt in Köln.", "Zoé habite à Lyon.", "The office is closed at noon."),
)


@pytest.mark.parametrize(
    ("question", "note"),
    [
        *((q, "") for q in ("¿Dónde vive Tomás?", "¿Quién vive en Sevilla?", "¿Cuándo llegó Tomás a Sevilla?")),
        *((q, "") for q in ("¿Qué ciudad es la de Tomás?", "Hola, ¿Cómo vive Tomás en Sevilla?")),
        *(
            (q, "")
            for q in ("«Où habite Zoé à Lyon?»", "Dis-moi, Où habite Zoé à Lyon?", "Sag mir: Wo sitzt die Firma?")
        ),
        *((q, "") for q in ("WHERE DOES LENA LIVE?", "WHERE DOES LENA SWIM?", "Dimmi, Dove abita Lena?")),
        *((q, "") for q in ("When does the US office close?", "Is our budget 40000 EUR?", "Is our budget 40.000 EUR?")),
        *(
            (q, "")
            for q in ("Beträgt die Miete 1200 Euro?", "Beträgt die Miete 1,200 Euro?", "Is it 70,000 in the U.K.?")
        ),
        *((q, "") for q in ("When is the meeting with OBrien?", "When is O'Brien's meeting?")),
        *((q, "") for q in ("Does the U.S. office close at 17:00?", "Does the office close at 17 Uhr, or at 11 pm?")),
        ("Is our budget 50,000 EUR?", 'no hit has "50,000"'),
        ("Is our budget 50000 EUR?", 'no memory has "50000"'),
        ("When is the meeting with McBride?", 'no memory has "McBride"'),
        ("¿Dónde vive Ramón en Sevilla?", 'no memory has "Ramón"'),
        ("Does the office close at 17:00 for Tim?", 'no memory has "Tim"'),
    ],
)
def test_another_spelling_a_time_or_a_question_word_is_no_absent_name(opening, question, note):
    memory = opening(embedder=HashEmbedder())
    memory.remember_many(SPELT)
    answer = memory.recall(question, touch=False)
    assert answer.hits
    assert answer.note == note


@on_a_file
@pytest.mark.parametrize(("said", "first"), [("Friday", "fact"), ("Monday", "episode")])
def test_a_fact_comes_before_the_message_that_repeats_it_and_not_before_one_with_another_value(opening, said, first):
    memory = opening()
    told = (
        f"In the planning meeting with the haulier we noted {said} as the preferred delivery day of the week for Anna."
    )
    memory.ingest([{"role": "assistant", "content": told}], session="s")
    bare_fact(memory, "Anna: preferred delivery day of the week: Friday")
    question = "What did we note in the planning meeting with the haulier as the preferred delivery day for Anna?"
    hits = memory.recall(question).hits
    assert [hit.memory.kind.value for hit in hits] == sorted(["fact", "episode"], reverse=first == "fact")
