from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from perdure.records.sort import Sort

if TYPE_CHECKING:
    from perdure import Memory


def sorts(memory: Memory, *messages: tuple[str, str]) -> list[Sort]:
    """Take a conversation in, and return the sort of each message in its order."""
    memory.ingest([{"role": role, "content": text} for role, text in messages], "talk", session="s")
    return [found.state.sort for found in sorted(memory.list("talk"), key=lambda m: m.id)]


def test_a_message_has_the_sort_of_what_it_does(memory: Memory) -> None:
    assert sorts(
        memory,
        ("user", "Remember that the staging server is called birch."),
        ("assistant", "Noted: the staging server is called birch."),
        ("user", "We decided to deploy on Tuesdays instead of Thursdays."),
        ("user", "The invoices are sent at the end of each month."),
        ("user", "Which port does the database listen on?"),
        ("user", "thanks!"),
    ) == [Sort.REQUEST, Sort.REPLY, Sort.DECISION, Sort.STATEMENT, Sort.QUESTION, Sort.SMALL_TALK]


@pytest.mark.parametrize("text", ["yes please", "Ok, thank you!", "👍", "Vielen Dank!", "Gracias", "谢谢", "はい"])
def test_mere_agreement_and_thanks_are_small_talk(memory: Memory, text: str) -> None:
    assert sorts(memory, ("assistant", "Shall I deploy it?"), ("user", text))[1] is Sort.SMALL_TALK


@pytest.mark.parametrize("text", ["Wie heißt der Server?", "服务器叫什么名字？", "ما اسم الخادم؟"])  # noqa: RUF001
def test_a_question_mark_of_any_script_asks(memory: Memory, text: str) -> None:
    assert sorts(memory, ("user", text)) == [Sort.QUESTION]


def test_a_short_answer_to_a_question_is_a_statement_unless_it_only_agrees(memory: Memory) -> None:
    asked = ("assistant", "Where do you live?")
    assert sorts(memory, asked, ("user", "Utrecht"), asked, ("user", "yes"))[1::2] == [Sort.STATEMENT, Sort.SMALL_TALK]


def test_two_people_have_no_assistant(memory: Memory) -> None:
    talk = [
        {"speaker": "Ana", "content": "My sister moved to Lisbon in May."},
        {"speaker": "Ben", "content": "Mine stayed with our parents in Porto."},
    ]
    memory.ingest(talk, "talk", session="s")
    assert {found.state.sort for found in memory.list("talk")} == {Sort.STATEMENT}
