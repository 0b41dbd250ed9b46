"""Extraction by patterns, and what it would otherwise cut or overrun."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import budget, every
from perdure.rules.language.markdown import without_markup
from perdure.rules.pattern_extraction import LONGEST, SHORTEST, find_candidates, score_content

WORDS = "we decided remember that the fix is was note: important: means a.b 15.2 . ! ? \n ``` Alice 😀 是 key"


def only(text, **options):
    (found,) = find_candidates(text, **options)
    return found


@pytest.mark.behaviour("AG1")
def test_decision_pattern_extraction():
    found = only("After a long talk we decided to use PostgreSQL 15.2 with config.yaml. Fine.")
    assert (found.pattern, found.content) == (
        "decision",
        "After a long talk we decided to use PostgreSQL 15.2 with config.yaml.",
    )
    assert found.confidence == pytest.approx(0.8 + 0.05)  # six words, and a technical term
    for verb in ("chose", "are going with", "selected", "will use"):
        assert only(f"We {verb} the blue paint for walls.").pattern == "decision"


@pytest.mark.behaviour("AG2")
def test_solution_pattern_extraction():
    found = only("Well, the fix was restarting the worker twice a day")
    assert (found.pattern, found.content) == ("solution", "Well, the fix was restarting the worker twice a day")
    assert found.confidence == pytest.approx(0.85)


@pytest.mark.behaviour("AG3")
def test_explicit_save_pattern():
    found = only("Please remember that Alice is allergic to nuts!")
    assert (found.pattern, found.content) == ("explicit", "Alice is allergic to nuts")
    assert found.confidence == pytest.approx(0.95)


@every(
    [
        ("Important: never deploy on a Friday.", "important", "never deploy on a Friday", 0.9),
        ("key point: keys rotate", "important", "keys rotate", 0.8),
        ("The bug was a missing lock around writes", "error", "The bug was a missing lock around writes", 0.8),
        ("Pattern: retries need a random delay.", "pattern", "retries need a random delay", 0.85),
        ("Our cache is a copy of the index.", "definition", "Our cache is a copy of the index.", 0.6),
        ("SLO refers to a target of service.", "definition", "SLO refers to a target of service.", 0.6),
    ]
)
def test_each_pattern_has_its_name_and_confidence(text, pattern, content, confidence):
    found = only(text)
    assert (found.pattern, found.content) == (pattern, content)
    assert found.confidence == pytest.approx(confidence)


SPECIFIED = {
    ("decision", 0.8): [
        f"We {words} the blue paint for walls." for words in ("decided on", "chose", "are going with", "will use")
    ]
    + ["We selected the blue paint for walls."],
    ("definition", 0.6): [f"Our cache {words} of the index." for words in ("is a copy", "means a copy")]
    + ["Our caches are the copies of the index.", "The cache refers to a copy of the index."],
    ("important", 0.9): [
        f"{word}: keys rotate at noon today." for word in ("Important", "Note", "Remember", "Key point")
    ],
    ("solution", 0.85): [
        f"The {word} {verb} a second lock there again."
        for word in ("fix", "solution", "approach")
        for verb in ("is", "was")
    ],
    ("error", 0.8): [f"The {word} was a lost lock there again." for word in ("issue", "problem", "bug")],
    ("explicit", 0.95): [
        f"Please {word}{that} the gate code is 4711 now."
        for word in ("save", "remember", "note", "store")
        for that in (" that", "")
    ],
    ("pattern", 0.85): [f"{words} a random delay of retries." for words in ("The trick is", "The key is", "Pattern:")],
}
"""Every alternative of the specified patterns; what they take has five to nine words, so quality changes nothing."""


@every(SPECIFIED)
def test_every_alternative_of_a_specified_pattern_is_found(pattern, confidence):
    found = {text: only(text) for text in SPECIFIED[pattern, confidence]}
    assert {text: (c.pattern, c.confidence) for text, c in found.items()} == dict.fromkeys(
        found, (pattern, pytest.approx(confidence))
    )


@pytest.mark.behaviour("AG4")
def test_confidence_scoring():
    assert score_content("one two three four", 0.5) == pytest.approx(0.4)
    assert score_content("one two three four five", 0.5) == 0.5
    assert score_content("one two three four five six seven eight nine ten", 0.5) == pytest.approx(0.6)
    assert score_content("the API of this one house", 0.5) == pytest.approx(0.55)
    assert score_content("run ```make``` in this one folder", 0.5) == pytest.approx(0.6)
    assert score_content("first of all do this:\n    make", 0.5) == pytest.approx(0.6)
    assert score_content("a database error in ```code``` that was found on one of these days", 0.95) == 1.0
    assert score_content("x", 0.05) == 0.0


@pytest.mark.behaviour("AG5")
def test_overlapping_deduplication():
    text = "Remember that the fix is a restart of the blue server."
    assert [(c.pattern, c.confidence) for c in find_candidates(text)] == [("explicit", pytest.approx(0.95))]
    long = "Our plan for next year is the one that we decided here."  # a definition of 0.7, a decision too short
    assert [c.pattern for c in find_candidates(long + " The key is under the mat.")] == ["definition", "pattern"]


@pytest.mark.behaviour("AG6")
def test_min_confidence_filtering():
    text = "Our cache is a copy of the index. The fix was a restart of the server."
    assert [c.pattern for c in find_candidates(text, min_confidence=0.5)] == ["definition", "solution"]
    assert [c.pattern for c in find_candidates(text, min_confidence=0.7)] == ["solution"]
    assert find_candidates(text, min_confidence=0.95) == []


def test_a_question_defines_nothing_and_words_are_whole():
    assert find_candidates("What is the name of the cat?") == []
    assert find_candidates("Bookstore opened again. Keynote speakers talked.") == []


@every(
    [
        "That is a really long way to go for us.",
        "It means the world to all of us here.",
        "Your support is a great help to everybody here.",
        "Reading every evening is a habit that pays off.",
        "If it rains, the plan is a walk in the museum.",
        "Let's compare the speed of one with the other.",
        "Ensure the selected films come from different countries.",
        "I remember that we had so much fun there!",
        "Do you remember that we had so much fun there?",
        "Remember to stay flexible and to take care along the way.",
        "I still remember when we first met at school.",
        "He is a baker in the old part of the town.",
        "This is a rule of the whole team from now on.",
        "The day we met is a Sunday in my head.",
        "Kyoto is a lovely city for a walk in spring.",
    ]
)
def test_small_talk_and_advice_are_not_extracted(text):
    assert find_candidates(text) == []


def test_what_asks_about_a_decision_is_no_part_of_it():
    found = only("I chose the conservative 2% return option, can you help me understand it?")
    assert found.content == "I chose the conservative 2% return option"


def test_what_is_left_before_a_question_is_long_enough_or_nothing():
    assert find_candidates("Go is a b, can you explain it to me in plain words?") == []
    assert find_candidates("Go is a b, can you explain it to me in plain words") == []


def test_a_wish_before_a_decision_takes_nothing_of_it():
    said = "Thanks, I hope you are well, we decided to use PostgreSQL for the ledger."
    assert "use PostgreSQL for the ledger" in only(said).content


def test_content_is_neither_too_short_nor_too_long():
    assert find_candidates("We chose it now.") == []
    said = "We chose "
    assert only(said + "a" * SHORTEST).content == said + "a" * SHORTEST
    assert len(only(said + "a" * (LONGEST - len(said))).content) == LONGEST
    assert find_candidates(said + "a" * (LONGEST - len(said) + 1)) == []


def test_the_most_confident_stay_in_the_order_of_the_text():
    text = "Note: the door opens inwards now.\nThe sky is grey.\nSave the red file for me please.\nAll is well here."
    assert [c.pattern for c in find_candidates(text, most=2)] == ["important", "explicit"]
    assert [c.start for c in find_candidates(text)] == sorted(c.start for c in find_candidates(text))
    assert len(find_candidates(text, most=0)) == 0


def test_keywords_find_dense_sentences_that_no_pattern_knows():
    dense = "Marta moved the billing service from Oslo to Bergen with 3 engineers last week."
    chat = f"Hello there.\nHow are you doing?\n{dense}\nThat was fun.\nSee you later then."
    (found,) = find_candidates(chat)
    assert (found.pattern, found.content) == ("keywords", dense)
    assert found.confidence == pytest.approx(0.5 + 0.1)  # the densest, of more than ten words
    assert find_candidates(chat.replace("with 3 engineers ", "")) == []  # names alone are in small talk, too
    assert find_candidates(chat, by_assistant=True) == []
    assert find_candidates(dense) == []  # nothing to compare with


def test_of_an_assistants_words_only_what_it_finds_out_is_taken():
    said = (
        "I decided to use plan B for you. SLO refers to a target of service. The bug was a missing lock around writes."
    )
    assert [c.pattern for c in find_candidates(said, by_assistant=True)] == ["error"]
    assert [c.pattern for c in find_candidates(said)] == ["decision", "definition", "error"]


@pytest.mark.parametrize(
    ("lasting", "passing"),
    [
        ("I've set up the backup of orders at 2:00 with 3 copies.", "I'm debugging the backup of orders at 2:00."),
        ("I'm using Flask 2.3.1 with SQLite for the orders.", "I've been trying Flask 2.3.1 with SQLite for orders."),
        ("I moved to flat 12 of the Harbour house with Ana.", "I need help with flat 12 of the Harbour house, Ana."),
    ],
)
def test_what_goes_on_at_the_moment_is_no_note(lasting, passing):
    around = "Hello there.\nHow are you doing?\n{}\nThat was fun.\nSee you later then."
    assert [c.content for c in find_candidates(around.format(lasting))] == [lasting]
    assert find_candidates(around.format(passing)) == []


@pytest.mark.parametrize(
    "exercise",
    [
        r"I've used the formula \(a_n = a_1 + (n-1)d\) for the 12th term of the series with a base of 40.",
        "I've got A = 1500 (1 + 0.015)^8 as the interest of the 8th year in the second exercise.",
        "My base case of the third exercise with its 4 parts is n=4, and the sum is 24.",
        "I've also tried the `explain` tool of version 7.1 in the staging system of the 3 shops.",
    ],
)
def test_steps_of_an_exercise_and_attempts_are_no_notes(exercise):
    around = "Hello there.\nHow are you doing?\n{}\nThat was fun.\nSee you later then."
    assert find_candidates(around.format(exercise)) == []
    kept = "I've rented the yard of 4 sheds near the ferry for 1,500 a year since the spring of 2024."
    assert [c.content for c in find_candidates(around.format(kept))] == [kept]
    assert "explicit" in [c.pattern for c in find_candidates(f"Please remember that {exercise}")]


@pytest.mark.parametrize("content", ["to get it repaired and sell it", "them because they help", "your dreams at last"])
def test_a_decision_about_what_is_said_elsewhere_is_no_note(content):
    assert find_candidates(f"We decided {content}.") == []


def test_blocks_of_code_are_not_searched():
    assert find_candidates("```\nx = 1  # note that this one is important\n```") == []


@settings(max_examples=budget(50, 800), deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from(WORDS.split(" ")),
        max_size=60,
    )
)
def test_finds_lie_in_the_text_apart_and_in_order(words):
    text = " ".join(words)
    found = find_candidates(text, min_confidence=0.0)
    assert all(c.content in text[c.start : c.end] for c in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(SHORTEST <= len(c.content) <= LONGEST and 0 <= c.confidence <= 1 for c in found)


@every(
    [
        "is ",
        "a",
        "x is y ",
        "note that ",
        "the fix is ",
        ".",
        ". ",
        "\n",
        "note: ",
        "is. ",
        "```\n",
        "é is 😀. ",
        " \t",
    ]
)
def test_finds_in_hostile_texts_lie_apart_and_in_order(part):
    text = "remember " + part * (2_000 // len(part))
    found = find_candidates(text, min_confidence=0.0)
    assert all(c.content in text[c.start : c.end] for c in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@every(
    [
        ("**Important:** Ensure that *both* backups run.", "Important: Ensure that both backups run."),
        ("- We chose Postgres 16.**", "We chose Postgres 16."),
        ("> 2. **We chose** `*.toml` files.", "We chose `*.toml` files."),
        ("- [x] done: ***all*** of it", "[x] done: all of it"),
        ("### Port of staging", "Port of staging"),
        ("**重要**的: 每天备份", "重要的: 每天备份"),
        ("2 * 3 is 6, and a*b*c", "2 * 3 is 6, and a*b*c"),
        ("**options and *args are forwarded", "**options and *args are forwarded"),
        ("copy *.py or x* files", "copy *.py or x* files"),
        ("-5 degrees on 3. March", "-5 degrees on 3. March"),
        ("__init__ runs `**first**`", "__init__ runs `**first**`"),
        ("4. Juli ist frei", "4. Juli ist frei"),
    ]
)
def test_marks_of_markdown_are_no_words(written, read):
    assert without_markup(written) == read


def test_a_note_of_a_list_is_stored_without_its_marks():
    found = find_candidates(
        "## Decisions\n\n- We chose PostgreSQL 16 for **all** services.\n- **Note:** keys rotate in May.\n"
    )
    assert [c.content for c in found] == ["We chose PostgreSQL 16 for all services.", "keys rotate in May"]
