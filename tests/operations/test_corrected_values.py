"""A later word that names the old value is judged alike in recall, beside a prompt, at a start and in MEMORY.md."""

from datetime import UTC, datetime, timedelta

import pytest

import perdure

BEGAN = datetime(2026, 11, 9, 9, tzinfo=UTC)


class Clock:
    now = BEGAN

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["builtin", "none"])
def memory(tmp_path, clock, request):
    policy = {} if request.param == "builtin" else {"embedder": {"model": "none"}}
    with perdure.open(tmp_path / "a.db", policy, clock=clock) as opened:
        yield opened


def say(memory, clock, words, days=1):
    clock.now += timedelta(days=days)
    memory.ingest([{"content": words, "role": "user"}], session=f"s{clock.now}")


def beside(memory, prompt):
    return memory.agent.beside(prompt, "later", "default")


@pytest.mark.behaviour("UP40")
def test_a_number_that_a_later_message_takes_back_stands_behind_it_with_a_mark(memory, clock):
    old = memory.remember("Mira wants small pull requests: at most 400 changed lines.")
    say(memory, clock, "No, the PR limit is 300 lines, not 400.")
    clock.now += timedelta(days=3)
    hits = memory.recall("How many changed lines may a pull request have?").hits
    assert "300" in hits[0].memory.content
    (marked,) = [hit for hit in hits if hit.memory.id == old.id]
    assert marked.updated_by == hits[0].memory.id
    shown = beside(memory, "How large may a pull request be?")
    assert "300" in shown
    assert "at most 400" not in shown
    assert "at most 400" not in memory.digest()


def test_why_says_what_a_later_message_takes_back_by_its_words(memory, clock):
    old = memory.remember("Mira wants small pull requests: at most 400 changed lines.").memory
    assert memory.why(old.id).no_longer_true == ()
    say(memory, clock, "No, the PR limit is 300 lines, not 400.")
    (new,) = (m for m in memory.list() if m.id != old.id)
    (over,) = memory.why(old.id).no_longer_true
    assert (over.id, over.content, over.over, over.replaced_by) == (old.id, old.content, "replaced", new.id)
    assert over.since == "2026-11-10 09:00 UTC"
    assert memory.why(old.id).replacements == {new.id: new.content}
    assert memory.why(new.id).no_longer_true == ()


def test_why_says_which_value_of_a_note_a_later_message_takes_back(memory, clock):
    old = memory.remember("Deploys go out on Tuesday and Thursday at 14:00, and Rita must approve each of them first.")
    say(memory, clock, "Deploys go out on Mondays now, not on Thursday.")
    (over,) = memory.why(old.id).no_longer_true
    (hit,) = (h for h in memory.recall("When do deploys go out?").hits if h.memory.id == old.id)
    assert (over,) == hit.over
    assert (over.id, over.content) == (old.id, "Thursday")


def test_why_hears_nothing_of_a_message_of_another_session(memory, clock):
    old = memory.remember("The pull request limit is 400 lines.")
    own = memory.remember("The limit of a pull request is 400 lines.", session="other")
    clock.now += timedelta(days=1)
    new = memory.remember("The pull request limit is 300 lines, not 400.", session="other")
    assert memory.why(old.id).no_longer_true == ()
    assert [over.replaced_by for over in memory.why(own.id).no_longer_true] == [new.id]


@pytest.mark.parametrize(
    "other",
    [
        "The warehouse has 400 shelves along two lines of 40 metres.",  # the number of something else
        "Mira's team has two lines of support.",
    ],
)
def test_a_number_of_something_else_is_not_marked(memory, clock, other):
    memory.remember(other)
    say(memory, clock, "No, the PR limit is 300 lines, not 400.")
    hits = memory.recall("How many lines may a pull request have, and how many shelves has the warehouse?").hits
    assert [hit.updated_by for hit in hits] == [None] * len(hits)
    assert other[:30] in memory.digest()


def test_a_question_about_the_past_keeps_its_order(memory, clock):
    memory.remember("The pull request limit is 400 lines.")
    say(memory, clock, "The pull request limit is 300 lines, not 400.")
    asked = "What was the pull request limit in lines before?"
    assert [hit for hit in memory.recall(asked).hits if hit.updated_by]


def test_the_latest_of_several_corrections_stands_first(memory, clock):
    memory.remember("The pull request limit is 400 lines.")
    say(memory, clock, "The pull request limit is 300 lines, not 400.")
    say(memory, clock, "The pull request limit is 250 lines, not 300.")
    hits = memory.recall("What is the pull request limit in lines?").hits
    assert [hit.memory.content.split()[5] for hit in hits] == ["250", "300", "400"]


def test_words_that_no_user_said_correct_nothing(memory, clock):
    old = memory.remember("The pull request limit is 400 lines.")
    clock.now += timedelta(days=1)
    memory.remember("The pull request limit is 9000 lines, not 400.", metadata={"trust": "external"})
    hits = memory.recall("What is the pull request limit in lines?").hits
    assert next(hit for hit in hits if hit.memory.id == old.id).updated_by is None
    assert "400 lines" in memory.digest()


@pytest.mark.behaviour("UP41")
@pytest.mark.parametrize("budget", range(60, 400, 20))
def test_no_summary_shows_only_the_older_of_two_notes_about_one_thing(tmp_path, clock, budget):
    with perdure.open(tmp_path / "a.db", clock=clock) as memory:
        for text in (
            "We use pnpm 9 workspaces, not npm, because npm hoisting broke the shared ESLint config.",
            "Deploys go out on Tuesday and Thursday at 14:00 CET.",
            "CI runs on Node 20.",
        ):
            memory.remember(text)
        clock.now += timedelta(days=2)
        memory.remember("Deploys go out every weekday at 10:00 CET; the Tuesday/Thursday slots are gone.")
        memory.remember("Money is kept as integer cents since the cart total was off by one cent.")
        clock.now += timedelta(days=4)
        shown = memory.digest(budget_tokens=budget)
        assert "every weekday" in shown or "Tuesday and Thursday" not in shown


def test_named_days_that_are_gone_take_back_the_note_that_names_them(tmp_path, clock):
    with perdure.open(tmp_path / "a.db", clock=clock) as memory:
        old = memory.remember("Deploys go out on Tuesday and Thursday at 14:00 CET.")
        memory.remember("Database migrations are run by hand before a deploy, never by the app at start.")
        clock.now += timedelta(days=2)
        new = memory.remember("Deploys go out every weekday at 10:00 CET; the Tuesday/Thursday slots are gone.")
        hits = memory.recall("When do we deploy?").hits
        assert hits[0].memory.id == new.id
        assert next(hit for hit in hits if hit.memory.id == old.id).updated_by == new.id
        assert "Tuesday and Thursday" not in memory.digest()
