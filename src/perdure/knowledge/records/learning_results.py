"""What verbs about learning answer: rates of change, procedures, back-tests."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Written
from perdure.records.plan import Plan


@dataclass(frozen=True, slots=True)
class Rate(JsonRecord):
    """How fast facts of one sort change, as far as was seen."""

    type: str  # the sort of predicate
    facts: int  # how many facts were watched
    changes: int  # how many of them changed while they were watched
    exposure_days: float  # days that they were watched, over all of them
    change_rate: float  # changes a day and fact: the mean, the policy's rate counted as one change more
    rate: float  # loss of confidence a day that goes with it: 0.4 is left when a change is expected
    low: float  # lower end of its 90 % interval
    high: float  # upper end
    validation_days: float  # days after which such a fact should be validated: half of its expected life
    in_use: bool  # whether it is used instead of the policy's rate
    because: str  # why, or why not

    def to_data(self) -> dict[str, Any]:
        """Return what its document holds: everything but the type, which is the document's id."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "type"}


@dataclass(frozen=True, slots=True)
class Alike:
    """Two predicates of which a person was asked whether they are the same."""

    goes: str  # the name that is replaced where they are
    stays: str  # the other
    said: str  # ``same``, ``different``, or ``open`` while nobody has answered
    cosine: float  # how alike the names are in meaning


@dataclass(frozen=True, slots=True)
class RatesResult(Written):
    """The rates of a namespace."""

    namespace: str  # which one
    default: float  # the policy's rate, which holds where none is in use
    rates: tuple[Rate, ...]  # one for each sort of predicate, by name
    learned: bool  # whether they were written down just now, so that they count
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``; empty if nothing had changed
    alike: tuple[Alike, ...] = ()  # predicates of which a person was asked whether they are the same, by name


@dataclass(frozen=True, slots=True)
class LearnedProcedure:
    """A procedure that was learned, changed or retired."""

    id: str  # the memory; empty for one that a dry run would make
    move: str  # ``learned``, ``changed``, ``retired`` or ``back``
    content: str  # what it says
    trigger: tuple[str, ...]  # what comes up first
    then: tuple[str, ...]  # what follows
    support: int  # recent sessions in which it followed
    sessions: int  # recent sessions in which the trigger came up
    confidence: float  # 0 to 0.9
    lift: float  # how many times as often it follows as it comes up anyway
    because: str  # why, in numbers


@dataclass(frozen=True, slots=True)
class ProceduresResult(Written):
    """What was found out about what follows what."""

    namespace: str  # where
    sessions: int  # sessions that were looked at
    messages: int  # messages that were looked at
    procedures: tuple[LearnedProcedure, ...]  # what was learned, changed or retired, the surest first
    unchanged: int  # procedures that hold as before
    dry_run: bool  # whether nothing was written
    plans: tuple[Plan, ...] = ()  # the plan, for a dry run
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``
    reason: str = ""  # why nothing was learned, changed or retired; empty where something was
