"""Sorts of memories: what a fact is about in general, what a message does. Fading and worth go by them."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Sort(StrEnum):
    """What a fact is about in general, or what a message does."""

    IDENTITY = "identity"
    """Names, birthday, birthplace, nationality."""
    KINSHIP = "kinship"
    HEALTH = "health"
    """Allergies, conditions, intolerances."""
    CONTACT = "contact"
    PLACE = "place"
    JOB = "job"
    PREFERENCE = "preference"
    RULE = "rule"
    """What is agreed or always done: policies, payment terms, delivery days."""
    PLAN = "plan"
    """What lies ahead: goals, deadlines, dates of events."""
    STATE = "state"
    """What changes soon: status, mood, progress, version."""
    MEASURE = "measure"
    RELATION = "relation"
    """Who or what somebody knows or has: friends, managers, pets, things."""
    NOTE = "note"
    """Also of what an agent notes down."""
    ATTRIBUTE = "attribute"
    """Anything else; also of what was stored before messages had sorts."""
    REQUEST = "request"
    """A message in which a person asks to have something remembered."""
    DECISION = "decision"
    """A message that decides or corrects something."""
    STATEMENT = "statement"
    QUESTION = "question"
    REPLY = "reply"
    """What an assistant, a tool or a system says."""
    SMALL_TALK = "small_talk"
    """Thanks, greetings, mere agreement."""


MESSAGE_SORTS: Final = (
    Sort.REQUEST,
    Sort.DECISION,
    Sort.STATEMENT,
    Sort.QUESTION,
    Sort.REPLY,
    Sort.SMALL_TALK,
)
FACT_SORTS: Final = tuple(sort for sort in Sort if sort not in MESSAGE_SORTS)
"""Also the keys of the policy's section ``fading``."""
