"""What two statements are to each other: pairs written by hand, some of which only look alike, and laws over all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.records.recall import Hit
from perdure.rules.updates.update_detection import find_updates, mark_updates
from perdure.rules.updates.update_pairs import relation, statements
from rules.builders import DAY, START, memory

UPDATES = [
    ("My rent is $1,200 a month.", "My rent was raised to $1,300 a month."),
    ("Our meeting is at 3 PM on Friday.", "Our meeting was moved from 3 PM to 5 PM."),
    ("I have 3 cats.", "I now have 4 cats."),
    ("We have 12 open tickets in the billing project.", "The billing project now has 15 open tickets."),
    ("Test coverage is 80% for the parser.", "Coverage of the parser improved to 92%."),
    ("My salary is $80k.", "My salary was increased to $90k."),
    ("The deadline for the paper is June 1.", "The new deadline for the paper is June 15."),
    ("The API response time is 300ms.", "The API response time has improved to 250ms."),
    ("My gym budget is $40 monthly.", "I've increased my gym budget to $60/month."),
    ("I aim for 1,000 words per week on the blog.", "My weekly goal for the blog was adjusted to 1,200 words."),
    ("I haven't read Dune yet.", "I just finished reading Dune."),
    ("I've never visited Rome.", "I visited Rome in May."),
]
CONTRADICTIONS = [
    ("I visited Rome in May.", "I've never visited Rome."),
    ("I use Vim for Python.", "I've never used Vim."),
    ("I bought a Tesla last year.", "I have never bought a Tesla."),
    ("I just downloaded Blender to make a film.", "I've never used any animation software, like Blender."),
    ("I missed the writing session on Monday.", "I've never missed a writing session."),
    ("I met Ann at the chess club.", "I've never met Ann at any chess club or park."),
]
NEITHER = [
    # other things
    ("My rent is $1,200.", "My grocery budget was increased to $550."),
    ("The bus fare is $2.", "The train fare was raised to $3."),
    ("My water budget is 20 euros.", "My food budget was raised to 30 euros."),
    ("I have 3 cats.", "I now have 2 dogs."),
    ("The book has 300 pages.", "The new book has 400 pages."),
    ("Chapter 3 has 12 exercises.", "Chapter 4 now has 15 exercises."),
    ("The response time of the login page is 300ms.", "The response time of the dashboard improved to 250ms."),
    ("I scored 80% on the history exam.", "My math exam score improved to 90%."),
    ("The meeting with Ann is on May 3.", "The meeting with Bob was moved to May 10."),
    ("The deadline for the paper is June 1.", "The new deadline for the visa is June 15."),
    ("I visited Rome.", "I've never visited Paris."),
    ("I read Dune in May.", "I've never read Emma."),
    ("I missed the bus.", "I've never missed a deadline."),
    ("I finished my first draft of the essay.", "I've never finished a final draft."),
    ("I met Ann at the gym.", "I've never met Ann at the library."),
    # other people
    ("My book budget is $50.", "My sister's book budget was increased to $70."),
    ("My rent is $1,200.", "Her rent was raised to $1,300."),
    ("My friend visited Rome.", "I've never visited Rome."),
    # other times
    ("Our gym budget for May is $50.", "Our gym budget for June was increased to $60."),
    ("My January book budget is $50.", "I increased my February book budget to $60."),
    ("My food budget is $550 starting May 15.", "We increased our food budget to $500 starting May 1."),
    ("I ran 5 miles on Monday.", "I ran 7 miles on Tuesday."),
    # lists, differences, changes of something else
    ("I bought apples, pears and 3 lemons.", "I bought 5 new lemons."),
    ("My quiz score improved from 65% to 82%.", "My quiz score improved from 78% to 88%."),
    ("My accuracy improved by 5%.", "My accuracy improved by 7%."),
    # no more than thought of
    ("My rent is $1,200.", "If my rent was raised to $1,300 I would move."),
    ("I have 3 cats.", "I want to have 4 cats."),
    ("I want to visit Rome.", "I've never visited Rome."),
    ("I can use Excel.", "I've never used Excel."),
    ("I don't use Excel.", "I've never used Excel."),
    ("If I use Excel it breaks.", "I've never used Excel."),
    ("I've never used Excel.", "Should I use Excel?"),
    # a value said again
    ("My rent is $1,200.", "My rent was raised to $1,200."),
]


def related(older: str, newer: str) -> set[str]:
    return {found for a in statements(older) for b in statements(newer) if (found := relation(a, b))}


@pytest.mark.behaviour("UP1")
@pytest.mark.parametrize(("older", "newer"), UPDATES)
def test_a_value_that_has_become_another_one_is_updated(older, newer):
    assert related(older, newer) == {"updates"}


@pytest.mark.behaviour("UP3")
@pytest.mark.parametrize(("older", "newer"), CONTRADICTIONS)
def test_what_was_done_contradicts_that_it_never_was(older, newer):
    assert related(older, newer) == {"contradicts"}


@pytest.mark.behaviour("UP2")
@pytest.mark.parametrize(("older", "newer"), NEITHER)
def test_what_only_looks_alike_is_left_alone(older, newer):
    assert related(older, newer) == set()


@pytest.mark.parametrize("text", sorted({text for pair in UPDATES + CONTRADICTIONS + NEITHER for text in pair}))
def test_no_statement_says_otherwise_than_itself(text):
    assert related(text, text) == set()


@pytest.mark.parametrize(("older", "newer"), [pair for pair in UPDATES if "never" not in pair[0]])
def test_the_earlier_does_not_update_the_later(older, newer):
    assert "updates" not in related(newer, older)


def test_a_block_of_code_states_nothing():
    assert statements("```\nI've never used Vim. My rent was raised to $1,300.\n```") == ()


@pytest.mark.parametrize(
    "piece",
    ["1 ", "I did ", "I've never done, ", "from 3 to ", "my new budget is $5 ", "a'", "```", "- ", "(a", "new "],
)
def test_no_hostile_text_says_otherwise_than_itself(piece):
    text = piece * 200
    assert related(text, text) == set()


TEXTS = st.sampled_from([text for pair in UPDATES + CONTRADICTIONS for text in pair])


def told(texts, speakers=()):
    return [
        memory(f"m{day:02}", text, created_ms=START + day * DAY, speaker=speakers[day] if speakers else None)
        for day, text in enumerate(texts)
    ]


@pytest.mark.behaviour("UP4")
@given(st.lists(TEXTS, max_size=12))
def test_only_what_is_later_updates_and_both_sides_are_contested(texts):
    found = find_updates(told(texts))
    assert all(newer > older for older, updates in found.updates.items() for newer in updates)
    assert all(one in found.contested[other] for one, others in found.contested.items() for other in others)


@pytest.mark.behaviour("UP7")
@given(st.lists(TEXTS, min_size=1, max_size=12), st.integers(1, 12), st.data())
def test_an_answer_keeps_its_length_and_what_is_about_nothing_its_order(texts, limit, data):
    order = data.draw(st.permutations(told(texts)))
    hits = [Hit(m, 1.0 - place / 100, {}) for place, m in enumerate(order)]
    question = data.draw(TEXTS)
    chosen, others = hits[:limit], hits[limit:]
    after = mark_updates(chosen, others, limit, question)
    ids = [h.memory.id for h in after]
    assert len(ids) == len(set(ids)) == len(chosen)
    assert set(ids) <= {m.id for m in order}
    plain = [h.memory.id for h in after if not h.updated_by and not h.contested_with]
    found = find_updates(order)
    quiet = [i for i in plain if not any(i in u for u in found.updates.values())]
    assert quiet == [h.memory.id for h in chosen if h.memory.id in quiet]


def test_the_update_stands_before_what_it_updates_and_says_so():
    old, new, other = told([*UPDATES[0], "The weather is fine."])
    after = mark_updates([Hit(m, 1.0, {}) for m in (old, other, new)], (), 3, "how much rent do I pay a month?")
    assert [h.memory.id for h in after] == [new.id, old.id, other.id]
    assert [h.updated_by for h in after] == [None, new.id, None]


@pytest.mark.behaviour("UP9")
def test_an_update_that_was_no_hit_takes_the_place_of_the_last_one():
    old, new, other = told([*UPDATES[3], "The weather is fine."])
    hits = [Hit(m, 1.0, {}) for m in (old, other)]
    after = mark_updates(hits, [Hit(new, 0.1, {})], 2, "how many open tickets does the billing project have?")
    assert [h.memory.id for h in after] == [new.id, old.id]


@pytest.mark.behaviour("UP10")
def test_a_question_about_something_else_changes_no_place():
    old, new, other = told([*UPDATES[3], "The weather is fine."])
    hits = [Hit(m, 1.0, {}) for m in (old, other)]
    after = mark_updates(hits, [Hit(new, 0.1, {})], 2, "how is the weather?")
    assert [(h.memory.id, h.updated_by) for h in after] == [(old.id, new.id), (other.id, None)]


def test_a_chain_of_updates_stands_newest_first():
    first, second, third = told(["I have 3 cats.", "I now have 4 cats.", "I now have 5 cats."])
    after = mark_updates([Hit(m, 1.0, {}) for m in (first, third, second)], (), 3, "how many cats do I have?")
    assert [h.updated_by for h in sorted(after, key=lambda h: h.memory.id)] == [third.id, third.id, None]


@pytest.mark.behaviour("UP13")
def test_a_message_that_contradicts_itself_says_so():
    (alone,) = told(["I've never solved any chess puzzles, but I recently solved 15 chess puzzles."])
    assert mark_updates([Hit(alone, 1.0, {})], (), 1, "chess puzzles")[0].contested_with == (alone.id,)


@pytest.mark.behaviour("UP5")
@pytest.mark.parametrize("speakers", [("ann", "bob"), ("user", "assistant"), ("assistant", "assistant")])
def test_only_what_one_person_says_is_compared(speakers):
    assert find_updates(told(UPDATES[0], speakers)).updates == {}
    assert find_updates(told(UPDATES[0], ["ann", "ann"])).updates != {}
