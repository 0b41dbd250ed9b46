"""What a model reads of the reply of ``remember``: short whatever is near, and silent where nothing is."""

import pytest

import perdure
from conftest import Clock, HashEmbedder
from perdure.interfaces.views import Request
from perdure.interfaces.views.knowledge import view_learn_result
from perdure.interfaces.views.memory import view_remember_result
from perdure.interfaces.views.model import render_text

WORDS = {
    "Latin": "the weekly planning meeting of the platform team takes place in the large room ",
    "quotes": 'she said "the meeting" and \\ and "the meeting" and "the meeting" again ',
    "Chinese": "平台团队的每周计划会议在大会议室举行而且每个人都必须参加",
    "emoji": "🎉🎂🎈🍰🥳 party cakes and balloons meeting 🎉🎂🎈🍰🥳 ",
}


def tokens(text):
    """A bound from above: 3.5 letters a token where the script is Latin, one a token elsewhere."""
    return sum(2 / 7 if letter <= "\u024f" else 1 for letter in text)


def reply(done):
    return render_text(view_remember_result(done, Request("remember", {})))


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_the_reply_is_short_whatever_is_near(words):
    clock = Clock()
    with perdure.open(":memory:", None, clock, embedder=HashEmbedder()) as memory:

        def say(number, value):
            other = [{"subject": words[:60], "predicate": f"{words[:30]} {i}", "value": "x"} for i in range(4)]
            mine = {"subject": words[:60], "predicate": "place", "value": f"{words[:80]} {value}"}
            return memory.remember(f"{number} {words * 9}", facts=[mine, *other])

        for number in range(5):
            say(number, number)
        done = say(9, 9)
        assert (len(done.related), bool(done.facts.asked), bool(done.predicates)) == (3, True, False)
        told = reply(done)
        assert tokens(told) <= 120
        for other in done.related:
            assert f"- {other.id[-8:]} 2026-01-01 " in told
            assert len(other.content) <= 100
        done = memory.remember(
            f"10 {words * 9}", facts=[{"subject": words[:60], "predicate": "colour", "value": "red"}]
        )
        assert done.predicates
        assert tokens(reply(done)) <= 120


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_the_reply_to_facts_in_no_memory_is_as_short(words):
    with perdure.open(":memory:", None, Clock(), embedder=HashEmbedder()) as memory:

        def claims(value):
            other = [{"subject": words[:60], "predicate": f"{words[:30]} {i}", "value": "x"} for i in range(4)]
            return [{"subject": words[:60], "predicate": "place", "value": f"{words[:80]} {value}"}, *other]

        for number in range(5):
            memory.remember(f"{number} {words * 9}", facts=claims(number))
        done = memory.learn(claims=[*claims(9), {"subject": words[:60], "predicate": "colour", "value": "red"}])
        assert (len(done.related), bool(done.asked)) == (3, True)
        told = render_text(view_learn_result(done, Request("learn", {})))
        assert tokens(told) <= 120
        assert "If one of these no longer holds" in told


def test_short_memories_are_told_whole_and_nothing_near_says_nothing():
    with perdure.open(":memory:", None, Clock(), embedder=HashEmbedder()) as memory:
        first = memory.remember("The deploy is on Tuesday at ten.")
        assert reply(first).splitlines() == [
            f"Remembered {first.id[-8:]}.",
            f'Undo: undo(operation_id="{first.operation[-8:]}")',
        ]
        assert "no longer holds" not in reply(memory.remember("Ana likes green tea."))
        assert '"The deploy is on Tuesday at ten."' in reply(memory.remember("The deploy is on Friday at ten."))
