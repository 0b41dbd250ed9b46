"""Two people whose names are alike: a question for one is answered about that one, and their notes are two things."""

from __future__ import annotations

import pytest

from conftest import HashEmbedder
from perdure.rules.alike_names import mistakable_names, names_another

ANNA = ("Anna Weber has her desk at Siemens in Munich.", "Anna Weber was born in Kiel.")
ANNE = ("Anne Weber now has work at Bosch, she likes to work there.", "Anne Weber has a lamp at Siemens in Munich.")


OWN = ("Anna Weber sings.", "Gai Media grows.")


@pytest.fixture
def people(opening, clock):
    memory = opening(embedder=HashEmbedder())
    for one, other in zip(ANNA, ANNE, strict=True):
        for text in (one, other):
            memory.remember(text)
            clock.passes(days=1)
    return memory


def contents(found):
    return [hit.memory.content for hit in found.hits]


@pytest.mark.parametrize(
    ("question", "own"),
    [
        ("Where does Anna Weber work?", ANNA),
        ("where does anna weber work?", ANNA),
        ("What has Anna got, a desk at Siemens in Munich?", ANNA),
        ("Does Anna Weber's desk stand at Siemens in Munich?", ANNA),
        ("Does Anne Weber's desk stand at Siemens in Munich?", ANNE),
    ],
)
def test_a_question_for_one_of_two_whose_names_are_alike_is_answered_about_that_one_first(people, question, own):
    found = contents(people.recall(question, touch=False))
    firsts = [content in own for content in found]
    assert True in firsts
    assert False in firsts  # nobody is left out
    assert firsts == sorted(firsts, reverse=True)


def test_notes_about_two_whose_names_are_alike_are_not_linked(people):
    owner = {m.id: m.content.split()[0] for m in people.list()}
    links = [
        (owner[hit.memory.id], owner[other])
        for question in ("Who has what at Siemens in Munich?", "Where does Anna Weber work?", "Where is Anne's lamp?")
        for hit in people.recall(question, touch=False).hits
        for other in (*hit.newer, *hit.older, *hit.differs)
    ]
    assert [pair for pair in links if len(set(pair)) > 1] == []


def test_a_later_note_about_the_same_one_is_linked_and_so_are_values_that_are_alike(opening, clock):
    memory = opening(embedder=HashEmbedder())
    for text in ("Anna Weber has her office in San Francisco.", "Anna Weber has her office in San Jose."):
        memory.remember(text)
        clock.passes(days=1)
    newer, older = memory.recall("Where does Anna Weber have her office?", touch=False).hits
    assert (newer.older, older.newer) == ((older.memory.id,), (newer.memory.id,))


@pytest.mark.parametrize(
    ("question", "text", "another"),
    [
        ("Where is Anna Weber?", "Anne Weber is in Rome.", True),
        ("Where is Anna Weber?", "Anna Becker is in Rome.", True),
        ("Where is Anna Weber?", "Anna is in Rome.", False),
        ("Where is Anna Weber?", "Dr. Weber is in Rome.", False),
        ("Where is Anna Weber?", "Anna Weber-Klein is in Rome.", False),
        ("Where is Anna Weber?", "Anne Weber met Anna Weber.", False),
        ("Where are Anna and Anne?", "Anne is in Rome.", False),
        ("Wann hat Anna Geburtstag?", "Annas Geburtstag ist im Mai.", False),
        ("Wann hat Anna Geburtstag?", "Hanna hat im Mai Geburtstag.", False),
        ("When does Gai Media want deliveries?", "Social Media is down.", True),
    ],
)
def test_a_text_is_about_another_only_where_its_name_is_alike_and_not_a_part_of_the_one_asked_for(
    question, text, another
):
    assert names_another(text, mistakable_names(question, [text, *OWN])) is another


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        (
            "Originally Anna uses Vim as her editor.",
            "Nowadays Anna uses Emacs as her editor.",
            "Which editor does Anna use?",
        ),
        ("Team Lead of Atlas is Bo.", "Tech Lead of Atlas is Kim now.", "Who is the lead of Atlas?"),
    ],
)
def test_other_words_at_the_start_of_two_notes_do_not_make_them_about_two(opening, clock, earlier, later, question):
    memory = opening(embedder=HashEmbedder())
    for text in (earlier, later):
        memory.remember(text)
        clock.passes(days=200)
    first, second = memory.recall(question, touch=False).hits
    assert (first.memory.content, first.older) == (later, (second.memory.id,))


def test_a_plural_and_a_word_that_opens_a_sentence_are_of_the_one_asked_for():
    assert not mistakable_names("Wie grüßt der Kunde?", ["Ein Kunde grüßt.", "Die Kunden grüßen nicht."])
    asked = mistakable_names("Where is Anna Weber?", ["Anna Weber sings.", "Anne Weber sings."])
    assert asked
    assert not names_another("Yesterday Anna went to Rome.", asked)
    assert names_another("Yesterday Anne Weber went to Rome.", asked)
