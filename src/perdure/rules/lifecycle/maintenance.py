"""From courses to a plan: what a sweep changes, what the loss budget holds back, and the report of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from perdure.records.instant import Instant, text_of
from perdure.records.memory import Form, State, Status
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy import GatePolicy, Policy
from perdure.records.report import Moved
from perdure.rules.lifecycle.reasons import counted_reason
from perdure.rules.lifecycle.trajectory import Accesses, Course, Step


@dataclass(frozen=True, slots=True)
class Budget:
    """What may still be hidden in a namespace.

    Attributes:
        visible: Memories visible before the sweep.
        hidden_today: Hidden by earlier operations of the same day.
    """

    visible: int
    hidden_today: int

    def refusal(self, hides: int, gates: GatePolicy) -> str:
        """Return why a plan that hides so many is stopped; empty if it may go on."""
        if hides == 0 or self.hidden_today + hides <= gates.loss_free_count:
            return ""
        share = hides / max(1, self.visible)
        if share > gates.loss_share:
            return (
                f"loss budget: it would hide {hides} of {self.visible} memories ({share:.1%}); one plan may hide "
                f"{gates.loss_share:.0%}"
            )
        day = (self.hidden_today + hides) / max(1, self.visible + self.hidden_today)
        if day > gates.loss_share_day:
            return (
                f"loss budget: with {self.hidden_today} hidden earlier today it would hide {day:.1%} of the namespace; "
                f"one day may hide {gates.loss_share_day:.0%}"
            )
        return ""

    def refusal_of(self, hides: int, shortens: int, gates: GatePolicy) -> str:
        """Return why a plan that hides and shortens so many is stopped; empty if it may go on."""
        return self.refusal(hides, gates) or self.too_short(shortens, gates)

    def too_short(self, shortens: int, gates: GatePolicy) -> str:
        """Return why a plan that shows so many in a shorter form is stopped; empty if it may go on."""
        share = shortens / max(1, self.visible)
        if shortens <= gates.loss_free_count or share <= gates.compress_share:
            return ""
        return (
            f"loss budget: it would shorten {shortens} of {self.visible} memories ({share:.1%}); one plan may shorten "
            f"{gates.compress_share:.0%}"
        )


@dataclass(frozen=True, slots=True)
class Holds:
    """Why gates hold moves back; empty for what they let go.

    Attributes:
        hides: Why no memory may be hidden.
        shrinks: Why none may be shown in a shorter form.
        lost: Memory id -> why it alone may be neither.
    """

    hides: str = ""
    shrinks: str = ""
    lost: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything is held back."""
        return bool(self.hides or self.shrinks or self.lost)

    def why(self, identity: str) -> tuple[str, str]:
        """Return why a memory may not be hidden and why not shortened; empty where it may."""
        alone = self.lost.get(identity, "")
        return self.hides or alone, self.shrinks or alone

    def because(self, identity: str) -> str:
        """Return what is told of a memory that is held back."""
        return next((why for why in self.why(identity) if why), "")


def hides(courses: Sequence[Course]) -> int:
    """Return how many memories would be taken out of view."""
    return sum(1 for c in courses if c.before.status is Status.ACTIVE and c.after.status is not Status.ACTIVE)


def shortens(courses: Sequence[Course]) -> int:
    """Return how many memories would stay in view in a shorter form."""
    return sum(1 for c in courses if c.after.status is Status.ACTIVE and any(s.shrinks for s in c.steps))


def truncated(course: Course, *, hides: bool = True, shrinks: bool = False) -> Course:
    """Return a course that ends before its first step that may not be: the memory waits, held, for that step.

    Args:
        course: As played with ``hold``, so that every access counts before the step that waits.
        hides: Whether steps that hide may not be.
        shrinks: Whether steps that shorten what is shown may not be.
    """
    for position, step in enumerate(course.steps):
        if (hides and step.hides) or (shrinks and step.shrinks):
            last = course.steps[position - 1].state if position else course.before
            after = replace(
                course.after,
                status=last.status,
                status_ms=last.status_ms,
                tier=last.tier,
                tier_ms=last.tier_ms,
                form=last.form,
                form_ms=last.form_ms,
                due_ms=step.at,
                held=True,
            )
            return replace(course, steps=course.steps[:position], after=after)
    return course


def sweep_note(courses: Sequence[Course]) -> str:
    """Return one line on what a sweep did."""
    moves = sum(len(c.steps) for c in courses)
    short = shortens(courses)
    told = f", {short} shortened" if short else ""
    return f"sweep: {moves} {'move' if moves == 1 else 'moves'}, {hides(courses)} archived{told}"


def course_plan(
    courses: Sequence[Course],
    ops: Mapping[str, str],
    accesses: Mapping[str, Accesses],
    *,
    plan_id: str,
    namespace: str,
    at: Instant,
    policy: Policy,
    operation: str,
    note: str,
    refusal: str = "",
    holds: Holds | None = None,
    shown: Mapping[str, Mapping[Form, str | None]] = MappingProxyType({}),
) -> Plan:
    """Return the plan that writes courses down: one change for each step.

    Args:
        courses: As played.
        ops: Memory id -> the operation that last changed it.
        accesses: Memory id -> accesses that the courses have counted in.
        plan_id: The operation's id.
        namespace: The one namespace.
        at: The instant up to which they were played.
        policy: The policy in force.
        operation: The verb.
        note: One line for people.
        refusal: Why moves are held back; empty if they are not.
        holds: The same memory by memory, from the gates.
        shown: Memory id -> what it shows in each form that its course leaves or reaches; None for the whole text.
    """
    changes: list[tuple[int, Change]] = []
    for course in courses:
        why = holds.because(course.id) if holds is not None else refusal
        own = enumerate(_changes(course, ops[course.id], plan_id, why))
        forms = shown.get(course.id, {})
        changes += [(i, _with_shown(change, forms) if "form" in (change.after or {}) else change) for i, change in own]
        changes += [
            (0, Change(Target.ACCESS, course.id, {"at_ms": t, "times": n}, None, counted_reason(n)))
            for t, n in accesses.get(course.id, ())
            if t <= at
        ]
    # Changes of one shape are written by one statement; a memory's own steps must stay in their order.
    changes.sort(key=lambda pair: (pair[0], pair[1].target, tuple(pair[1].after or ())))
    ordered = tuple(change for _, change in changes)
    return Plan(plan_id, operation, namespace, at, ordered, policy.version, note)


def _changes(course: Course, op: str, plan_id: str, refusal: str) -> list[Change]:
    result, before = [], course.before
    for step in course.steps:
        # What comes after the last step (the due instant, the counters) belongs to its change.
        after = course.after if step is course.steps[-1] and not course.refused else step.state
        result.append(_change(course.id, before, after, op, plan_id, step.because))
        before, op = after, plan_id
    if before != course.after:
        because = (
            counted_reason(course.counted) if course.counted else "next due instant computed anew under the policy"
        )
        if course.refused:
            because = f"keeps its form: {course.refused}"
        if course.after.held and not before.held:
            because = f"held back by the {refusal}"
        result.append(_change(course.id, before, course.after, op, plan_id, because))
    return result


def _with_shown(change: Change, forms: Mapping[Form, str | None]) -> Change:
    """Return a change of form with the texts that go with it."""
    before, after = change.before or {}, change.after or {}
    return replace(
        change,
        before={**before, "shown": forms[Form(before["form"])]},
        after={**after, "shown": forms[Form(after["form"])]},
    )


def _change(identity: str, before: State, after: State, op: str, plan_id: str, because: str) -> Change:
    old, new = difference(before, after)
    return Change(Target.MEMORY, identity, {**old, "op": op}, {**new, "op": plan_id}, because)


def difference(before: State, after: State) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields that differ, as they were and as they are."""
    names = [n for n in State.__slots__ if getattr(before, n) != getattr(after, n)]
    return {n: getattr(before, n) for n in names}, {n: getattr(after, n) for n in names}


def _named(last: State, step: Step) -> str:
    if step.shrinks:
        return f"{last.form.value} to {step.state.form.value}"
    return f"{last.tier.value} to {step.state.status.value if step.hides else step.state.tier.value}"


def moved(courses: Sequence[Course], namespace: str) -> list[Moved]:
    """Return every move of some courses, in the order of their instants."""
    found: list[tuple[Instant, Moved]] = []
    for course in courses:
        last = course.before
        for step in course.steps:
            found.append((step.at, Moved(course.id, namespace, text_of(step.at), _named(last, step), step.because)))
            last = step.state
    return [move for _, move in sorted(found, key=lambda pair: pair[0])]
