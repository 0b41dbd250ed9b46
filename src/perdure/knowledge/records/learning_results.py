"""What verbs about learning answer: rates of change, procedures, back-tests."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Written
from perdure.records.plan import Plan


@dataclass(frozen=True, slots=True)
class Rate(JsonRecord):
    """How fast facts of one sort change, as far as was seen.

    Attributes:
        type: The sort of predicate.
        facts: How many facts were watched.
        changes: How many of them changed while they were watched.
        exposure_days: Days that they were watched, over all of them.
        change_rate: Changes a day and fact: the mean, the policy's rate counted as one change more.
        rate: Loss of confidence a day that goes with it: 0.4 is left when a change is expected.
        low: Lower end of its 90 % interval.
        high: Upper end.
        validation_days: Days after which such a fact should be validated: half of its expected life.
        in_use: Whether it is used instead of the policy's rate.
        because: Why, or why not.
    """

    type: str
    facts: int
    changes: int
    exposure_days: float
    change_rate: float
    rate: float
    low: float
    high: float
    validation_days: float
    in_use: bool
    because: str

    def to_data(self) -> dict[str, Any]:
        """Return what its document holds: everything but the type, which is the document's id."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "type"}


@dataclass(frozen=True, slots=True)
class Taught:
    """What a person's answers taught about a predicate that no table names.

    Attributes:
        predicate: Which.
        several: Answers by which several values hold at once.
        one: Answers by which one value takes the place of the other.
        in_use: ``several`` or ``one``, where it holds for everybody; else empty.
        because: Why, or why not.
    """

    predicate: str
    several: int
    one: int
    in_use: str
    because: str


@dataclass(frozen=True, slots=True)
class Alike:
    """Two predicates of which a person was asked whether they are the same.

    Attributes:
        goes: The name that is replaced where they are.
        stays: The other.
        said: ``same``, ``different``, or ``open`` while nobody has answered.
        cosine: How alike the names are in meaning.
    """

    goes: str
    stays: str
    said: str
    cosine: float


@dataclass(frozen=True, slots=True)
class RatesResult(Written):
    """The rates of a namespace.

    Attributes:
        namespace: Which one.
        default: The policy's rate, which holds where none is in use.
        rates: One for each sort of predicate, by name.
        learned: Whether they were written down just now, so that they count.
        operations: Ids of the operations, for ``undo``; empty if nothing had changed.
        predicates: What a person's answers taught about predicates that no table names, by name.
        alike: Predicates of which a person was asked whether they are the same, by name.
    """

    namespace: str
    default: float
    rates: tuple[Rate, ...]
    learned: bool
    operations: tuple[str, ...] = ()
    predicates: tuple[Taught, ...] = ()
    alike: tuple[Alike, ...] = ()


@dataclass(frozen=True, slots=True)
class LearnedProcedure:
    """A procedure that was learned, changed or retired.

    Attributes:
        id: The memory; empty for one that a dry run would make.
        move: ``learned``, ``changed``, ``retired`` or ``back``.
        content: What it says.
        trigger: What comes up first.
        then: What follows.
        support: Recent sessions in which it followed.
        sessions: Recent sessions in which the trigger came up.
        confidence: 0 to 0.9.
        lift: How many times as often it follows as it comes up anyway.
        because: Why, in numbers.
    """

    id: str
    move: str
    content: str
    trigger: tuple[str, ...]
    then: tuple[str, ...]
    support: int
    sessions: int
    confidence: float
    lift: float
    because: str


@dataclass(frozen=True, slots=True)
class ProceduresResult(Written):
    """What was found out about what follows what.

    Attributes:
        namespace: Where.
        sessions: Sessions that were looked at.
        messages: Messages that were looked at.
        procedures: What was learned, changed or retired, the surest first.
        unchanged: Procedures that hold as before.
        dry_run: Whether nothing was written.
        plans: The plan, for a dry run.
        operations: Ids of the operations, for ``undo``.
        reason: Why nothing was learned, changed or retired; empty where something was.
    """

    namespace: str
    sessions: int
    messages: int
    procedures: tuple[LearnedProcedure, ...]
    unchanged: int
    dry_run: bool
    plans: tuple[Plan, ...] = ()
    operations: tuple[str, ...] = ()
    reason: str = ""
