"""Living through the five months: sessions are taken in, questions asked, a sweep runs each day, figures are kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

from perdure.memory import Memory
from perdure.records.memory import Message
from perdure.records.outcome import FactClaim
from perdure.records.recall import Recall
from perdure.records.report import SweepReport

NAMESPACE = "northwall"


class SimulatedClock:
    """A clock that stands still until it is set."""

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
    messages: dict[str, list[Message]] = {}
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
        messages.setdefault(item["session"], []).append(message)
    return [ScriptedSession(name, tuple(messages[name]), times[name][0], times[name][-1]) for name in messages]


def notes() -> list[ScriptedNote]:
    """Return what the agent hands over, in order."""
    return [ScriptedNote(**{**note, "facts": tuple(note["facts"])}) for note in json.loads(_data("notes.json"))]


def questions() -> list[ScriptedQuestion]:
    """Return the questions in the order in which they are asked first."""
    items = json.loads(_data("questions.json"))
    scripted = [
        ScriptedQuestion(q["question"], q["answer_hint"], _moment(q["asked_after"]), q.get("repeat", 1)) for q in items
    ]
    return sorted(scripted, key=lambda q: q.at)


AFTERWARDS = timedelta(days=30)  # how long the story goes on after the last message, without any use


@dataclass(slots=True)
class SimulatedLife:
    """What happened."""

    messages: int = 0  # how many were taken in
    sessions: int = 0  # in how many sessions
    # each question with its answer, when it was asked last
    answers: dict[str, tuple[ScriptedQuestion, datetime, Recall]] = field(default_factory=dict)
    sweeps: list[tuple[datetime, SweepReport]] = field(default_factory=list)  # (day, report) of each daily sweep
    # (day, tier -> memories) at the end of each day
    tiers: list[tuple[datetime, dict[str, int]]] = field(default_factory=list)
    # label -> (day, value), for the memories that are followed
    values: dict[str, list[tuple[datetime, float]]] = field(default_factory=dict)
    followed: dict[str, str] = field(default_factory=dict)  # label -> memory id
    replaced: int = 0  # how many notes and messages the agent replaced by what holds now
    early_digest: str = ""  # MEMORY.md after the first month


FOLLOWED = {
    "webhook: 5 seconds (asked often)": "within 5 seconds",
    "deploy day: Tuesday": "Tuesdays at 10:00",
    "SQLite decision (later reversed)": "we use SQLite",
    "sesame allergy (said once)": "sesame",
    "small talk: thanks": "Thanks, that helps!",
}
"""Label -> words of the message whose value the plot follows."""


def live(memory: Memory, clock: SimulatedClock, *, budget: int) -> SimulatedLife:
    """Play the conversation, the questions and a sweep a day; return what happened."""
    life, upcoming = SimulatedLife(), sessions()
    questions_due = _questions_by_day()
    day = upcoming[0].began.replace(hour=23, minute=0, second=0, microsecond=0)
    last = max(upcoming[-1].ended, questions_due[-1][0]) + AFTERWARDS
    while day <= last:
        ended = [session for session in upcoming if session.ended <= day]
        for _ in ended:
            _ingest(memory, clock, upcoming.pop(0), life)
        while questions_due and questions_due[0][0] <= day:
            _ask(memory, clock, *questions_due.pop(0), life)
        clock.now = day
        life.sweeps.append((day, swept := memory.sweep()))
        _keep_figures(memory, day, life, changed=bool(swept.examined or ended))
        if not life.early_digest and life.sessions and day - life.tiers[0][0] >= timedelta(days=30):
            life.early_digest = memory.digest(NAMESPACE, budget)
        day += timedelta(days=1)
    return life


def _questions_by_day() -> list[tuple[datetime, ScriptedQuestion]]:
    due = ((q.at + timedelta(days=7 * week), q) for q in questions() for week in range(q.times))
    return sorted(due, key=lambda pair: pair[0])


def _ingest(memory: Memory, clock: SimulatedClock, session: ScriptedSession, life: SimulatedLife) -> None:
    clock.now = max(clock.now, session.ended)
    added = memory.ingest(session.messages, NAMESPACE)
    life.messages += added.added
    life.sessions += 1
    for note in notes():
        if note.session == session.name:
            _hand_over(memory, note, life)
    for label, words in FOLLOWED.items():
        if label not in life.followed:
            stored = memory.list(NAMESPACE, limit=len(session.messages), session=session.name)
            match = next((m for m in reversed(stored) if words in m.content), None)
            if match is not None:
                life.followed[label] = match.id


def _hand_over(memory: Memory, note: ScriptedNote, life: SimulatedLife) -> None:
    """Remember what was decided, which Maya pins; where that changes something, update the note and what else is over.

    The agent judges which of the messages that it recalls hold no longer: those that name the old value alone.
    """
    if not note.recall:
        memory.remember(note.content, NAMESPACE, facts=note.facts, pinned=True)
        return
    fact, new = note.facts[0], str(note.facts[0]["value"])
    (replaced_fact,) = memory.facts(fact["subject"], predicate=fact["predicate"], namespace=NAMESPACE)
    memory.update(replaced_fact.sources[0][0], note.content, note.facts)
    hits = [hit.memory for hit in memory.recall(note.recall, NAMESPACE, limit=10).hits]
    outdated = [m.id for m in hits if note.outdated in m.content and new not in m.content]
    memory.remember(note.content, NAMESPACE, replaces=outdated)  # the words are known: nothing is stored twice
    life.replaced += 1 + len(outdated)


def _ask(memory: Memory, clock: SimulatedClock, at: datetime, question: ScriptedQuestion, life: SimulatedLife) -> None:
    clock.now = max(clock.now, at)
    life.answers[question.text] = (question, at, memory.recall(question.text, NAMESPACE, limit=3))


def _keep_figures(memory: Memory, day: datetime, life: SimulatedLife, *, changed: bool) -> None:
    """Keep the day's counts and values; counts are those of the day before where no message came and none was due."""
    counts = dict(memory.stats(NAMESPACE).tiers) if changed or not life.tiers else life.tiers[-1][1]
    life.tiers.append((day, counts))
    for label, identity in life.followed.items():
        item = memory.get(identity, include_archived=True)
        if item is not None:
            life.values.setdefault(label, []).append((day, item.value))
