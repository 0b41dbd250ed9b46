"""The conversation and the questions of the demonstration, read from package data, and the simulated clock."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from perdure.records.fact_claim import FactClaim
from perdure.records.memory import Message

NAMESPACE = "northwall"


class SimulatedClock:
    """A clock that stands still until it is told the time."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Return the simulated now."""
        return self.now


@dataclass(frozen=True, slots=True)
class ScriptedSession:
    """One sitting of the conversation: its messages, and when it began and ended."""

    name: str
    messages: tuple[Message, ...]
    began: datetime
    ended: datetime


@dataclass(frozen=True, slots=True)
class ScriptedQuestion:
    """A question that someone asks during the five months."""

    text: str  # the question
    hint: str | None  # words of the message that answers it; None where nothing is known
    at: datetime  # when it is asked for the first time
    times: int  # how often; once a week from then on


@dataclass(frozen=True, slots=True)
class ScriptedNote:
    """What the agent hands over at the end of a session, in the user's place."""

    session: str  # the session
    content: str  # its words
    facts: tuple[FactClaim, ...]  # what they say
    recall: str = ""  # what the agent looks for first where a decision changes; empty where nothing does
    outdated: str = ""  # words by which it sees which of the hits hold no longer


def _data(name: str) -> str:
    return (files("perdure.interfaces.demo") / name).read_text("utf-8")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def sessions() -> list[ScriptedSession]:
    """Return the conversation, session by session, in the order of time."""
    found: dict[str, list[Message]] = {}
    times: dict[str, list[datetime]] = {}
    for line in _data("conversation.jsonl").splitlines():
        item: dict[str, Any] = json.loads(line)
        times.setdefault(item["session"], []).append(_moment(item["at"]))
        message = Message(
            item["content"],
            item["role"],
            item["speaker"],
            _moment(item["at"]),
            item["session"],
            "the demo conversation",
        )
        found.setdefault(item["session"], []).append(message)
    return [ScriptedSession(name, tuple(found[name]), times[name][0], times[name][-1]) for name in found]


def notes() -> list[ScriptedNote]:
    """Return what the agent hands over, in order."""
    return [ScriptedNote(**{**note, "facts": tuple(note["facts"])}) for note in json.loads(_data("notes.json"))]


def questions() -> list[ScriptedQuestion]:
    """Return the questions in the order in which they are asked first."""
    items = json.loads(_data("questions.json"))
    asked = [
        ScriptedQuestion(q["question"], q["answer_hint"], _moment(q["asked_after"]), q.get("repeat", 1)) for q in items
    ]
    return sorted(asked, key=lambda q: q.at)
