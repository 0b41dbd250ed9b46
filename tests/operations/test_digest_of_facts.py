"""MEMORY.md where notes teach facts: what holds is shown once, what no longer holds is not shown as current."""

from __future__ import annotations

from datetime import timedelta

import pytest

from conftest import WORDS_ONLY
from perdure.stores.digest_file import write

HOME = {"subject": "Ana", "predicate": "home", "value": "Berlin"}
JOB = {"subject": "Ana", "predicate": "job", "value": "baker"}
BOTH = "Ana lives in Berlin and is a baker."


@pytest.fixture(params=[{}, {"preset": "facts"}], ids=["default", "facts"])
def memory(opening, request):
    return opening({**WORDS_ONLY, **request.param})


@pytest.fixture
def lines(memory, tmp_path):
    """Return the lines of the digest file, without their ids."""

    def read():
        write(tmp_path / "MEMORY.md", memory.digest())
        text = (tmp_path / "MEMORY.md").read_text("utf-8")
        return sorted(line[2:].rpartition(" (")[0] for line in text.splitlines() if line.startswith("- "))

    return read


@pytest.mark.behaviour("KN108")
def test_a_note_and_its_facts_are_shown_once(memory, lines):
    memory.remember(BOTH, facts=[HOME, JOB])
    memory.learn(claims=[{"subject": "Ana", "predicate": "pet", "value": "cat"}])
    assert lines() == [BOTH, "Ana: pet: cat"]


@pytest.mark.behaviour("KN109")
def test_of_a_note_of_which_a_fact_is_over_the_others_are_shown(memory, clock, lines):
    memory.remember(BOTH, facts=[HOME, JOB])
    clock.passes(days=1)
    memory.remember("Ana moved to Oslo.", facts=[{**HOME, "value": "Oslo", "replaces": "Berlin"}])
    assert lines() == ["Ana moved to Oslo.", "Ana: occupation: baker"]
    memory.undo(memory.history()[0].id)
    assert lines() == [BOTH]


def test_what_was_updated_is_not_shown_and_what_it_replaced_is_when_it_was_denied(memory, clock, lines):
    old = memory.remember(BOTH, facts=[HOME, JOB])
    clock.passes(days=1)
    now = memory.update(old.id, "Ana lives in Oslo now.", facts=[{**HOME, "value": "Oslo"}])
    assert lines() == ["Ana lives in Oslo now."]
    memory.deny(memory.facts("Ana")[0].id)
    assert lines() == [BOTH]
    memory.pin(now.id)
    # what somebody pinned is theirs to unpin
    assert sorted(lines()) == [BOTH, 'Ana lives in Oslo now. (no longer holds: "home: Oslo")']


def test_a_note_that_is_cut_hides_none_of_its_facts(memory, lines):
    memory.remember("Ana lives in Berlin. " + "It was a long day. " * 20, facts=[HOME])
    assert "Ana: home: Berlin" in lines()


SAID = "Second topic: we move deploy day of the website to Tuesday at 10:00, Thursday releases leave us a single day."
NOTED = "We move deploy day of the website to Tuesday at 10:00."


def test_a_message_that_says_what_an_updated_note_said_is_not_shown_as_current(memory, clock, lines):
    memory.ingest([{"content": SAID, "role": "user", "session": "a"}])
    clock.passes(days=1)
    note = memory.remember(NOTED)
    assert lines() == [NOTED]
    clock.passes(days=1)
    changed = memory.update(note.id, "Deploy day of the website is Friday at 9:00.")
    assert lines() == ["Deploy day of the website is Friday at 9:00."]
    clock.passes(days=1)
    memory.update(changed.id, "Deploy day of the website is Monday at 9:00.")
    assert lines() == ["Deploy day of the website is Monday at 9:00."]
    memory.ingest([{"content": SAID.replace("Second", "Another"), "role": "user", "session": "b"}])
    assert len(lines()) == 2, "what was said after the update is not over"


PLAN = {"subject": "Briggs", "predicate": "plan", "value": "Free"}
PRICE = {"subject": "Briggs", "predicate": "plan price", "value": "£12 a month"}
FREE = "ta. we're on the Free plan btw, 30 parcels a month is enough for now"
STARTER = "Briggs is on the Starter plan, £12 a month for 150 parcels."


class TestPlans:
    """A plan that is noted after a message, and replaced; later only its price is, and nobody confirms the rest."""

    @pytest.fixture
    def memory(self, opening, clock):
        memory = opening(WORDS_ONLY)
        memory.ingest([{"content": FREE, "role": "user", "session": "a"}])
        clock.passes(minutes=5)
        self.note = memory.remember("Briggs is on the Free plan.", facts=[PLAN])
        return memory

    @staticmethod
    def rise(memory):
        memory.remember("The Starter plan costs £15.", facts=[{**PRICE, "value": "£15 a month"}])

    def test_a_message_whose_fact_was_replaced_is_not_shown_as_current(self, memory, clock, lines):
        assert "We're on the Free plan btw" in memory.digest()
        clock.passes(days=3)
        memory.update(self.note.id, STARTER, facts=[{**PLAN, "value": "Starter"}, PRICE])
        assert lines()[0] == STARTER
        assert all("plan: Free" in line for line in lines() if "Free" in line)
        assert "ta." not in lines()

    def test_a_note_of_which_a_part_is_over_stays_where_the_rest_was_archived(self, memory, clock, lines):
        clock.passes(days=3)
        memory.update(self.note.id, STARTER, facts=[{**PLAN, "value": "Starter"}, PRICE])
        clock.passes(days=30)
        self.rise(memory)
        assert "Briggs: plan: Starter" in lines()
        for _ in range(160):
            clock.passes(days=1)
            memory.sweep()
        assert [f.value for f in memory.facts("Briggs")] == ["£15 a month"]
        [line] = [line for line in lines() if "Starter plan, " in line]
        assert line == f'{STARTER} (no longer holds: "plan price: £12 a month")'

    @pytest.mark.parametrize(
        "said", ["my neighbour Ida is also on a Free parking permit", "we're on the Free plan btw, said long before"]
    )
    def test_a_message_of_something_else_or_of_another_time_is_left_alone(self, memory, clock, lines, said):
        clock.passes(hours=5)
        memory.ingest([{"content": said, "role": "user", "session": "b"}])
        shown = [line for line in lines() if said[1:] in line]
        assert len(shown) == 1
        clock.passes(days=3)
        memory.update(self.note.id, STARTER, facts=[{**PLAN, "value": "Starter"}, PRICE])
        assert [line for line in lines() if said[1:] in line] == shown


class TestSummaries:
    """A summary of an entity rests on facts: MEMORY.md does not name by it what another line says is over."""

    QUESTION = "When does Blue Heron Ltd want deliveries?"
    NEWS = "No, Blue Heron Ltd prefers Thursday deliveries, not Monday."

    @pytest.fixture
    def memory(self, opening, clock):
        memory = opening({**WORDS_ONLY, "preset": "facts"})
        for day in range(12):
            self.say(memory, f"Blue Heron Ltd called about order {day * 3 + 100}.", f"s{day}")
            clock.passes(days=1)
        self.say(memory, "Remember, Blue Heron Ltd prefers Monday deliveries.", "last")
        clock.passes(days=1)
        memory.summarize(dry_run=False)
        clock.passes(days=1)
        assert "as of" in self.named(memory, "Monday")
        return memory

    @staticmethod
    def say(memory, text, session):
        memory.ingest([{"content": text, "role": "user", "session": session}])

    @staticmethod
    def named(memory, value):
        return "\n".join(line for line in memory.digest().splitlines() if value in line)

    @staticmethod
    def monday(memory):
        return next(f for f in memory.facts("Blue Heron Ltd") if f.value == "Monday")

    @pytest.mark.parametrize("how", ["correct", "ingest", "deny"])
    def test_a_summary_of_what_is_over_is_left_out_until_it_is_written_anew(self, memory, clock, how):
        if how == "correct":
            memory.correct(self.monday(memory).id, "Thursday")
        elif how == "deny":
            memory.deny(self.monday(memory).id)
        else:
            self.say(memory, self.NEWS, "news")
        assert "Monday" not in memory.digest()
        assert "Monday" not in memory.agent.opening("another", "default")
        beside = memory.agent.beside(self.QUESTION, "another", "default")
        assert "Monday" not in beside.replace(self.NEWS, "")  # the correction itself is shown word for word
        assert "summary" not in {h.memory.kind for h in memory.recall(self.QUESTION, limit=20).hits}
        earlier = memory.recall(self.QUESTION, limit=20, as_of=clock() - timedelta(hours=6)).hits
        assert "summary" in {h.memory.kind for h in earlier}
        clock.passes(days=1)
        memory.summarize(dry_run=False)
        assert "Monday" not in memory.digest().replace(self.NEWS, "")
        assert ("as of" in self.named(memory, "Thursday")) != (how == "deny")

    def test_it_comes_back_when_the_correction_is_undone(self, memory):
        before = memory.digest()
        memory.correct(self.monday(memory).id, "Thursday")
        memory.undo(memory.history()[0].id)
        assert memory.digest() == before

    def test_it_goes_with_a_message_that_is_denied_or_erased(self, memory):
        message = next(m for m in memory.list(kinds=["episode"]) if "order 103" in m.content)
        done = memory.deny(message.id)
        assert "as of" not in self.named(memory, "Monday")
        memory.undo(done.operation)
        assert "as of" in self.named(memory, "Monday")
        word = memory.erase([message.id], reason="asked").confirm
        memory.erase([message.id], reason="asked", confirm=word, dry_run=False)
        assert "as of" not in self.named(memory, "Monday")


@pytest.mark.parametrize("preset", ["balanced", "tiered", "facts"])
@pytest.mark.parametrize("how", ["correct", "deny"])
def test_a_message_of_which_nothing_is_believed_is_left_out_whatever_is_learned_later(opening, clock, preset, how):
    memory = opening({**WORDS_ONLY, "preset": preset})
    memory.ingest([{"content": "My dentist is Marten Vos.", "role": "user", "session": "a"}])
    memory.learn(["a"])
    [fact] = memory.facts()
    assert "Marten Vos" in memory.digest()
    if how == "correct":
        memory.correct(fact.id, "Lena Roth")
    else:
        memory.deny(fact.id)
    clock.passes(days=1)
    assert "Marten Vos" not in memory.digest()
    assert "Marten Vos" not in memory.agent.opening("another", "default")
    assert ("Lena Roth" in memory.digest()) == (how == "correct")
    [hit] = [h for h in memory.recall("Who is my dentist?").hits if h.memory.kind == "episode"]
    assert hit.updated_by


def test_an_answer_of_signs_and_digits_alone_is_no_line(opening):
    memory = opening(WORDS_ONLY)
    for number, answer in enumerate(("+1", "10-4", "17:30", "100%", "The mast is 42 m high.", "Hafen 7")):
        talk = [("What does probe synth-44 need, and when?", "user"), (answer, "user")]
        memory.ingest([{"content": text, "role": role, "session": f"s{number}"} for text, role in talk])
    lines = [line for line in memory.digest().splitlines() if line.startswith("- ")]
    assert not any(sign in line for line in lines for sign in ("- +1", "- 10-4", "- 17:30", "- 100%"))
    assert any("42 m high" in line for line in lines)
    assert "17:30" not in memory.agent.opening("another", "default")
