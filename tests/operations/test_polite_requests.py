"""What a person politely asks to have remembered is kept when the session ends; what only asks is not taken for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import START, WORDS_ONLY
from perdure.records.memory import Message, Sort

if TYPE_CHECKING:
    from collections.abc import Callable

    from perdure import Memory

FOLDER = Path(__file__).parent / "requests"
FILES = ("open.txt", "locked.txt")  # the second was written before the code was looked at


def _sentences(file: str, kind: str) -> list[list[str]]:
    lines = [[part.strip() for part in line.split("|")] for line in (FOLDER / file).read_text("utf-8").splitlines()]
    return [parts[1:] for parts in lines if parts[0] == kind]


def _say(memory: Memory, text: str, namespace: str) -> None:
    """Let a coding agent's session take a message in, and end."""
    message = Message(text, role="user", at=START, session="s", source="t.jsonl:1", key="uuid-1")
    memory.agent.take_in("s", namespace, [message], transcript="t.jsonl", mark="1")
    memory.end_session("s", namespace=namespace)


@pytest.mark.parametrize("file", FILES)
def test_what_is_politely_asked_to_be_remembered_outlasts_the_session(memory: Memory, file: str) -> None:
    lost = {}
    for number, (text, words) in enumerate(_sentences(file, "keep")):
        _say(memory, text, where := f"keep-{number}")
        kept = memory.list(where)
        notes = [m.content.rstrip(".").casefold() for m in kept if m.kind == "note"]
        sorts = [m.state.sort for m in kept if m.kind == "episode"]
        in_view = words.casefold() in memory.digest(where).casefold()
        if (notes, sorts, in_view) != ([words.casefold()], [Sort.REQUEST], True):
            lost[text] = (notes, sorts, in_view)
    assert lost == {}


@pytest.mark.parametrize("file", FILES)
def test_what_only_asks_or_tells_is_no_request(memory: Memory, file: str) -> None:
    taken = {}
    for number, (text,) in enumerate(_sentences(file, "ask")):
        _say(memory, text, where := f"ask-{number}")
        kept = memory.list(where)
        requests = [m.content for m in kept if m.kind == "note" or m.state.sort is Sort.REQUEST]
        if requests or (text.endswith("?") and kept):
            taken[text] = requests or [m.content for m in kept]
    assert taken == {}


def _claims(memory: Memory, text: str, session: str) -> list[tuple[str, str, str, str]]:
    memory.ingest([{"role": "user", "content": text}], session, session=session)
    return [(f.subject, f.predicate, f.value, f.learned) for f in memory.facts(namespace=session)]


def test_a_polite_request_teaches_what_the_same_plain_request_teaches(opening: Callable[..., Memory]) -> None:
    memory = opening({**WORDS_ONLY, "knowledge": {"learn": "rules"}})
    plain = _claims(memory, "Please remember that my sister lives in Porto.", "plain")
    assert plain != []
    assert _claims(memory, "Can you remember that my sister lives in Porto?", "polite") == plain
    assert _claims(memory, "Can you remember where my sister lives?", "asked") == []
