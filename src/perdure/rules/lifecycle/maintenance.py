"""From trajectories to a plan: what a sweep changes, what the gates block, and the report of it."""

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
from perdure.rules.lifecycle.trajectory import Accesses, Trajectory, Transition


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
class GateRefusals:
    """Why gates block moves; empty for what they let go.

    Attributes:
        hides: Why no memory may be hidden.
        shrinks: Why none may be shown in a shorter form.
        lost: Memory id -> why it alone may be neither.
    """

    hides: str = ""
    shrinks: str = ""
    lost: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything is blocked."""
        return bool(self.hides or self.shrinks or self.lost)

    def why(self, identity: str) -> tuple[str, str]:
        """Return why a memory may not be hidden and why not shortened; empty where it may."""
        alone = self.lost.get(identity, "")
        return self.hides or alone, self.shrinks or alone

    def because(self, identity: str) -> str:
        """Return the reason that is given for a memory whose move is blocked."""
        return next((why for why in self.why(identity) if why), "")


def count_hidden(trajectories: Sequence[Trajectory]) -> int:
    """Return how many memories would be taken out of view."""
    return sum(1 for c in trajectories if c.before.status is Status.ACTIVE and c.after.status is not Status.ACTIVE)


def count_shortened(trajectories: Sequence[Trajectory]) -> int:
    """Return how many memories would stay in view in a shorter form."""
    return sum(1 for c in trajectories if c.after.status is Status.ACTIVE and any(s.shrinks for s in c.transitions))


def truncate(trajectory: Trajectory, *, hides: bool = True, shrinks: bool = False) -> Trajectory:
    """Return a trajectory that ends before its first blocked transition: the memory waits, held, for that one.

    Args:
        trajectory: As replayed with ``blocked``, so that every access counts before the transition that waits.
        hides: Whether transitions that hide are blocked.
        shrinks: Whether transitions that shorten what is shown are blocked.
    """
    for position, transition in enumerate(trajectory.transitions):
        if (hides and transition.hides) or (shrinks and transition.shrinks):
            last = trajectory.transitions[position - 1].state if position else trajectory.before
            after = replace(
                trajectory.after,
                status=last.status,
                status_ms=last.status_ms,
                tier=last.tier,
                tier_ms=last.tier_ms,
                form=last.form,
                form_ms=last.form_ms,
                due_ms=transition.at,
                held=True,
            )
            return replace(trajectory, transitions=trajectory.transitions[:position], after=after)
    return trajectory


def sweep_note(trajectories: Sequence[Trajectory]) -> str:
    """Return one line on what a sweep did."""
    moves = sum(len(c.transitions) for c in trajectories)
    short = count_shortened(trajectories)
    told = f", {short} shortened" if short else ""
    return f"sweep: {moves} {'move' if moves == 1 else 'moves'}, {count_hidden(trajectories)} archived{told}"


def trajectory_plan(
    trajectories: Sequence[Trajectory],
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
    refusals: GateRefusals | None = None,
    shown: Mapping[str, Mapping[Form, str | None]] = MappingProxyType({}),
) -> Plan:
    """Return the plan that writes trajectories down: one change for each transition.

    Args:
        trajectories: As replayed.
        ops: Memory id -> the operation that last changed it.
        accesses: Memory id -> accesses that the trajectories have counted in.
        plan_id: The operation's id.
        namespace: The one namespace.
        at: The instant up to which they were replayed.
        policy: The policy in force.
        operation: The verb.
        note: One line for people.
        refusal: Why moves are held back; empty if they are not.
        refusals: The same memory by memory, from the gates.
        shown: Memory id -> what it shows in each form that its trajectory leaves or reaches; None for the whole text.
    """
    changes: list[tuple[int, Change]] = []
    for trajectory in trajectories:
        why = refusals.because(trajectory.id) if refusals is not None else refusal
        own = enumerate(_changes(trajectory, ops[trajectory.id], plan_id, why))
        forms = shown.get(trajectory.id, {})
        changes += [(i, _with_shown(change, forms) if "form" in (change.after or {}) else change) for i, change in own]
        changes += [
            (0, Change(Target.ACCESS, trajectory.id, {"at_ms": t, "times": n}, None, access_reason(n)))
            for t, n in accesses.get(trajectory.id, ())
            if t <= at
        ]
    # Changes of one shape are written by one statement; a memory's own transitions must stay in their order.
    changes.sort(key=lambda pair: (pair[0], pair[1].target, tuple(pair[1].after or ())))
    ordered = tuple(change for _, change in changes)
    return Plan(plan_id, operation, namespace, at, ordered, policy.version, note)


def access_reason(counted: int) -> str:
    """Return the reason for a change that only counts accesses in."""
    return f"counted {'one access' if counted == 1 else f'{counted} accesses'} by recall"


def _changes(trajectory: Trajectory, op: str, plan_id: str, refusal: str) -> list[Change]:
    result, before = [], trajectory.before
    for transition in trajectory.transitions:
        # What comes after the last transition (the due instant, the counters) belongs to its change.
        after = (
            trajectory.after
            if transition is trajectory.transitions[-1] and not trajectory.refused
            else transition.state
        )
        result.append(_change(trajectory.id, before, after, op, plan_id, transition.because))
        before, op = after, plan_id
    if before != trajectory.after:
        because = (
            access_reason(trajectory.counted)
            if trajectory.counted
            else "next due instant computed anew under the policy"
        )
        if trajectory.refused:
            because = f"keeps its form: {trajectory.refused}"
        if trajectory.after.held and not before.held:
            because = f"held back by the {refusal}"
        result.append(_change(trajectory.id, before, trajectory.after, op, plan_id, because))
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


def _move_name(last: State, transition: Transition) -> str:
    if transition.shrinks:
        return f"{last.form.value} to {transition.state.form.value}"
    return f"{last.tier.value} to {transition.state.status.value if transition.hides else transition.state.tier.value}"


def list_moves(trajectories: Sequence[Trajectory], namespace: str) -> list[Moved]:
    """Return every move of some trajectories, in the order of their instants."""
    found: list[tuple[Instant, Moved]] = []
    for trajectory in trajectories:
        last = trajectory.before
        for transition in trajectory.transitions:
            found.append(
                (
                    transition.at,
                    Moved(
                        trajectory.id,
                        namespace,
                        text_of(transition.at),
                        _move_name(last, transition),
                        transition.because,
                    ),
                )
            )
            last = transition.state
    return [move for _, move in sorted(found, key=lambda pair: pair[0])]
