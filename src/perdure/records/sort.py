"""Sorts of facts: what a fact is about in general. How fast a fact fades goes by its sort."""

from __future__ import annotations

from enum import StrEnum


class Sort(StrEnum):
    """What a fact is about in general; also the keys of the policy's section ``fading``."""

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
    ATTRIBUTE = "attribute"
    """Anything else."""
