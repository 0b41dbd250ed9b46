"""From trajectories to a plan: what a sweep changes, what the gates block, and the report of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from perdure.records.instant import Instant, text_of
from perdure.records.memory import Form, State, Status
from perdure.records.plan import Change, Target
from perdure.rules.lifecycle.trajectory import Accesses, Trajectory

if TYPE_CHECKING:
    from perdure.records.report import TierMove  # its many data classes take time to make


@dataclass(frozen=True, slots=True)
class GateRefusals:
    """Why the recall gate blocks moves; empty for what it lets go."""

    all: str = ""  # why no memory may be hidden or shortened
    lost: Mapping[str, str] = field(default_factory=dict)  # memory id -> why it alone may be neither

    def why(self, identity: str) -> str:
        """Return why a memory may be neither hidden nor shortened; empty where it may."""
        return self.lost.get(identity, "") or self.all


def count_hidden(trajectories: Sequence[Trajectory]) -> int:
    """Return how many memories would be taken out of view."""
    return sum(1 for c in trajectories if c.before.status is Status.ACTIVE and c.after.status is not Status.ACTIVE)


def count_shortened(trajectories: Sequence[Trajectory]) -> int:
    """Return how many memories would stay in view in a shorter form."""
    return sum(1 for c in trajectories if c.after.status is Status.ACTIVE and any(s.shrinks for s in c.transitions))


def sweep_note(trajectories: Sequence[Trajectory]) -> str:
    """Return one line on what a sweep did."""
    moves = sum(len(c.transitions) for c in trajectories)
    short = count_shortened(trajectories)
    shortened = f", {short} shortened" if short else ""
    return f"sweep: {moves} {'move' if moves == 1 else 'moves'}, {count_hidden(trajectories)} archived{shortened}"


def trajectory_changes(
    trajectories: Sequence[Trajectory],
    ops: Mapping[str, str],
    accesses: Mapping[str, Accesses],
    plan_id: str,
    at: Instant,
    *,
    why_held: Callable[[str], str] = str,
    shown: Mapping[str, Mapping[Form, str | None]] = MappingProxyType({}),
) -> list[Change]:
    """Return what writes trajectories down: one change for each transition, and the accesses that they counted in.

    ``accesses`` has all that wait, later ones too. ``shown`` is memory id -> what it shows in each form that its
    trajectory leaves or reaches; None for the whole text.
    """
    changes: list[tuple[int, Change]] = []
    for t in trajectories:
        because = why_held(t.id) if t.after.held and not t.before.held else ""
        changes += enumerate(_changes(t, ops[t.id], plan_id, because, shown.get(t.id, {})))
        counted = [(then, times) for then, times in accesses.get(t.id, ()) if then <= at]
        changes += [
            (0, Change(Target.ACCESS, t.id, {"at_ms": then, "times": times}, None, access_reason(times)))
            for then, times in counted
        ]
    # Changes of one shape are written by one statement; a memory's own transitions must stay in their order.
    changes.sort(key=lambda pair: (pair[0], pair[1].target, tuple(pair[1].after or ())))
    return [change for _, change in changes]


def access_reason(counted: int) -> str:
    """Return the reason for a change that only counts accesses in."""
    return f"counted {'one access' if counted == 1 else f'{counted} accesses'} by recall"


def _changes(
    trajectory: Trajectory, op: str, plan_id: str, refusal: str, forms: Mapping[Form, str | None]
) -> Iterator[Change]:
    steps = [(transition.state, transition.because) for transition in trajectory.transitions]
    last = steps[-1][0] if steps else trajectory.before
    if steps and not trajectory.refused and not refusal:
        # What comes after the last transition (the due instant, the counters) belongs to its change.
        steps[-1] = trajectory.after, steps[-1][1]
    elif trajectory.after != last:
        steps.append((trajectory.after, _reason_besides_moves(trajectory, last, refusal)))
    before = trajectory.before
    for after, because in steps:
        names = [n for n in State.__slots__ if getattr(before, n) != getattr(after, n)]
        old, new = _row(before, names, op, forms), _row(after, names, plan_id, forms)
        yield Change(Target.MEMORY, trajectory.id, old, new, because)
        before, op = after, plan_id


def _row(state: State, names: Sequence[str], op: str, forms: Mapping[Form, str | None]) -> dict[str, Any]:
    """Return some fields of a state as a row, with the operation, and with the text of a form that changes."""
    row = {name: getattr(state, name) for name in names} | {"op": op}
    return {**row, "shown": forms[state.form]} if "form" in names else row


def _reason_besides_moves(trajectory: Trajectory, last: State, refusal: str) -> str:
    """Return the reason for what changed of a memory besides its moves."""
    if trajectory.after.held and not last.held:
        return f"held back by the {refusal}"
    if trajectory.refused:
        return f"keeps its form: {trajectory.refused}"
    if trajectory.counted:
        return access_reason(trajectory.counted)
    return "next due time recalculated under the policy"


def list_moves(trajectories: Sequence[Trajectory], namespace: str) -> list[TierMove]:
    """Return every move of some trajectories, in the order of their instants."""
    from perdure.records.report import TierMove  # noqa: PLC0415  # as above

    found: list[tuple[Instant, TierMove]] = []
    for trajectory in trajectories:
        last = trajectory.before
        for step in trajectory.transitions:
            names = (last.form, step.state.form) if step.shrinks else (last.tier, step.state.tier)
            move = f"{names[0]} to {step.state.status if step.hides else names[1]}"
            found.append((step.at, TierMove(trajectory.id, namespace, text_of(step.at), move, step.because)))
            last = step.state
    return [move for _, move in sorted(found, key=lambda pair: pair[0])]
