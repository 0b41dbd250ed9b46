"""Sorts of memories: what a fact is about in general, what a message does. Fading and worth go by them."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Sort(StrEnum):
    """What a fact is about in general, or what a message does."""

    IDENTITY = "identity"  # names, birthday, birthplace, nationality
    KINSHIP = "kinship"
    HEALTH = "health"  # allergies, conditions, intolerances
    CONTACT = "contact"
    PLACE = "place"
    JOB = "job"
    PREFERENCE = "preference"
    RULE = "rule"  # what is agreed or always done: policies, payment terms, delivery days
    PLAN = "plan"  # what lies ahead: goals, deadlines, dates of events
    STATE = "state"  # what changes soon: status, mood, progress, version
    MEASURE = "measure"
    RELATION = "relation"  # who or what somebody knows or has: friends, managers, pets, things
    NOTE = "note"  # also of what an agent notes down
    ATTRIBUTE = "attribute"  # anything else; also of what was stored before messages had sorts
    REQUEST = "request"  # a message in which a person asks to have something remembered
    DECISION = "decision"  # a message that decides or corrects something
    STATEMENT = "statement"
    QUESTION = "question"
    REPLY = "reply"  # what an assistant, a tool or a system says
    SMALL_TALK = "small_talk"  # thanks, greetings, mere agreement


MESSAGE_SORTS: Final = (Sort.REQUEST, Sort.DECISION, Sort.STATEMENT, Sort.QUESTION, Sort.REPLY, Sort.SMALL_TALK)
FACT_SORTS: Final = tuple(sort for sort in Sort if sort not in MESSAGE_SORTS)
"""Also the keys of the policy's section ``fading``."""
