"""Why a memory is as it is: signals taken apart, and what comes next, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from perdure.formulas.confidence import amplifier
from perdure.formulas.curve import NEVER, due_instants
from perdure.formulas.strength import StrengthCurve, never_forgotten_from
from perdure.records.explanation import Explanation
from perdure.records.identifier import short_id
from perdure.records.instant import DAY_MS, Instant, text_of
from perdure.records.memory import Kind, MemoryItem, Record, Scope, State, Status, Tier
from perdure.records.policy import Policy
from perdure.records.recall import Interruption
from perdure.records.report import JournalEntry
from perdure.rules.escaping import LONGEST_LABEL, quoted_line
from perdure.rules.last_said import said_at, was_affirmed
from perdure.rules.lifecycle.moves import explain_moves, next_moves
from perdure.rules.lifecycle.state_arrays import (
    TASK,
    Columns,
    confidence_curve,
    importance_curve,
    strength_curve,
    value_curve,
)
from perdure.rules.lifecycle.trajectory import Trajectory

_HELD_PREFIX: Final = "held back by the "
_ARCHIVED_BY: Final = {
    "confidence": "low confidence does",
    "value": "low value does",
    "both": "low confidence and low value together do",
    "never": "nothing does",
}
_LED_HERE: Final = {
    "supersedes": "superseded_by",
    "likely_supersedes": "likely_superseded_by",
    "may_supersede": "may_be_superseded_by",
    "interrupts": "interrupted_by",
    "derived_from": "source_of",
    "summarizes": "summarized_by",
}


def inverse_link(kind: str) -> str:
    """Return what a link is called from its other end; one that is the same from both ends keeps its name."""
    return _LED_HERE.get(kind, kind)


def _last_reason(history: Sequence[JournalEntry]) -> str:
    if not history:
        return "none"
    undone = "undone: " if history[-1].operation == "undo" else ""
    return f"{undone}{history[-1].because}"


def explain(
    memory: MemoryItem,
    history: Sequence[JournalEntry],
    links: Sequence[tuple[str, str, float]],
    policy: Policy,
    now: Instant,
    due: tuple[Trajectory, str],
    *,
    untrue: str = "",
    instead: str = "",
) -> Explanation:
    """Return the explanation of one memory as read at an instant.

    ``due`` is what a sweep would now make of it, and why the loss budget would hold it; ``untrue`` what
    ``likely_untrue`` says of it, ``instead`` what ``listed_instead`` does.
    """
    parts = _parts(memory.state, policy, now)
    next_move = _hold(*due, history) or _next_move(due[0], policy)
    remarks = "".join(f"{said} " for said in (untrue, instead) if said)
    summary = (
        f"{memory.kind} {memory.id} is {memory.status} in {memory.tier} since {text_of(memory.state.tier_ms)}; "
        f"value {memory.value:.3f}, importance {memory.importance:.3f}, confidence {memory.confidence:.3f}. "
        f"{_affirmed_since(memory)}{remarks}Last entry: {_last_reason(history)}. {next_move}"
    )
    return Explanation(
        id=memory.id,
        summary=summary,
        signals=_signals(memory, parts, policy, now),
        history=tuple(history),
        next_move=next_move,
        value_parts={n: round(getattr(policy.value, n) * v, 6) for n, v in parts.items()},
        links=tuple(links),
        likely_untrue=untrue,
    )


def _affirmed_since(memory: MemoryItem) -> str:
    """Return since when a memory that was confirmed or remembered again counts as said; facts tell that themselves."""
    if memory.kind is Kind.FACT or not was_affirmed(memory.state):
        return ""
    day = text_of(said_at(memory.state))[:10]
    return f"It counts as said on {day}, when it was last confirmed or remembered again. "


def interrupted_by(interruption: Interruption | None, known: Mapping[str, Record]) -> str:
    """Return which facts hold in the place of another one for a time, and what follows; empty without any."""
    if interruption is None:
        return ""
    facts = [known[i] for i in interruption.by if i in known]
    named = ", ".join(f"{short_id(r.id)} {quoted_line(r.content.text, LONGEST_LABEL)}" for r in facts)
    return f"Another value holds for a time: {named}. This one is {interruption.days}."


def likely_untrue(kind: Kind, later: Sequence[Record], chances: Mapping[str, float]) -> str:
    """Return what tells that later statements likely make a memory of a kind untrue; empty where there are none.

    ``chances`` are those of the links to it. What took the place of a later statement has that one's. A fact has no
    links of its own: all that says it is likely untrue.
    """
    if not later:
        return ""
    last = max(later, key=lambda r: (said_at(r.state), r.id))
    chance = chances.get(last.id) or max(chances.values(), default=None)
    makes = "makes what says it untrue" if chance is None else f"makes it untrue with a chance of {chance:.2f}"
    listed = "leaves it out unless it lists more" if kind is Kind.EPISODE else "lists it only beside that one"
    return _doubt(last.id, last.state, last.content.text, makes, listed)


def listed_instead(other: MemoryItem | None) -> str:
    """Return what tells that another memory has the line of one that has none in MEMORY.md; empty where none has."""
    if other is None:
        return ""
    return (
        f"MEMORY.md shows {short_id(other.id)} instead, which says it too: {quoted_line(other.content, LONGEST_LABEL)}."
    )


def value_replaced(later: Sequence[MemoryItem]) -> str:
    """Return what tells that later statements name the value of a fact as replaced; empty where there are none."""
    if not later:
        return ""
    last = max(later, key=lambda m: (said_at(m.state), m.id))
    return _doubt(
        last.id, last.state, last.content, "names its value as replaced", "marks it as doubted where it lists it"
    )


def _doubt(identity: str, state: State, text: str, how: str, listed: str) -> str:
    again = f", said again on {text_of(said_at(state))[:10]}" if was_affirmed(state) else ""
    return (
        f"Likely no longer true: {short_id(identity)} of {text_of(state.created_ms)[:10]}{again}, "
        f"{quoted_line(text, LONGEST_LABEL)}, {how}. "
        f"Recall shows it after that one, and MEMORY.md {listed}. If it still holds, confirm it."
    )


def _parts(state: State, policy: Policy, now: Instant) -> dict[str, float]:
    columns = Columns.of([state])
    parts = value_curve(columns, policy).parts(columns.days_since_anchor(now))
    return {name: float(values[0]) for name, values in parts.items()}


def _signals(memory: MemoryItem, parts: Mapping[str, float], policy: Policy, now: Instant) -> dict[str, str]:
    state, columns = memory.state, Columns.of([memory.state])
    days = columns.days_since_anchor(now)
    _, lag = confidence_curve(columns, policy)
    given_back = float(importance_curve(columns, policy).stability_share()[0])
    accesses = "access" if state.access_count == 1 else "accesses"
    age, truth_age = float(days[0]), max(0.0, float(days[0] + lag[0]))
    return {
        "importance": f"{memory.importance:.3f}: base {state.importance:.3f}, {age:.1f} days since the last access or "
        f"creation, {state.access_count} {accesses}, half-life {policy.importance.half_life_days:g} days "
        f"before accesses lengthen it, floor {policy.importance.floor:g}, {given_back:.3f} of the loss given back for "
        f"accesses; each recall adds {policy.importance.on_access:g} to the base",
        "confidence": f"{memory.confidence:.3f}: base {state.confidence:.3f}, {_fading_clause(state, policy)}, "
        f"{truth_age:.1f} days",
        "strength": _strength(memory, policy, now),
        "retention": f"{memory.retention:.3f}: {age:.1f} days, {_lasting_clause(state, policy)}"
        + ("; a review is suggested" if memory.retention < policy.retention.threshold else ""),
        "form": f"{state.form.value} since {text_of(state.form_ms)}, {state.tokens} tokens"
        + ("; the meaning guard refused a shorter form" if state.firm else ""),
        "value": f"{memory.value:.3f} = "
        + " + ".join(f"{getattr(policy.value, n):g} x {n} {v:.3f}" for n, v in parts.items()),
    }


def _lasting_clause(state: State, policy: Policy) -> str:
    if policy.retention.curve == "fsrs":
        return f"stability {state.stability:.2f} days (days until retention is 0.9), difficulty {state.difficulty:.2f}"
    return f"strength {policy.retention.strength_days:g} days x {policy.retention.growth:g}^{state.reinforcements}"


def _strength(memory: MemoryItem, policy: Policy, now: Instant) -> str:
    columns = Columns.of([memory.state])
    curve = strength_curve(columns, policy)
    level = float(curve.level_at(max(0, now - memory.state.strength_ms) / DAY_MS)[0])
    return (
        f"{memory.strength:.3f}: level {level:.3f}, baseline {float(curve.baseline()[0]):.3f}, threshold "
        f"{float(curve.threshold()[0]):.3f}; {_forgetting_clause(columns, curve, policy)}"
    )


def _forgetting_clause(columns: Columns, curve: StrengthCurve, policy: Policy) -> str:
    if policy.archive.rule != "strength":
        rule = policy.archive.rule
        return f"it does not decide when this is archived: {_ARCHIVED_BY[rule]} (archive.rule = {rule})"
    if columns.fact[0] or columns.scope[0] == TASK:
        return f"never forgotten, because it is a {'fact' if columns.fact[0] else 'memory of a task'}"
    at = int(due_instants(columns.strength_ms, curve.forgotten_age())[0])
    if at < NEVER:
        return f"forgotten at {text_of(max(at, int(columns.status_ms[0])))}, without reinforcement"
    safe = never_forgotten_from(curve.parameters).item()
    return f"never forgotten, because its importance {float(columns.importance[0]):.3f} is above {safe:.3f}"


def _fading_clause(state: State, policy: Policy) -> str:
    columns = Columns.of([state])
    rate = float(confidence_curve(columns, policy)[0].rate[0])
    if rate == 0.0:
        shared = state.scope is Scope.LONG_TERM
        return (
            f"no daily loss ({'the policy has none for it' if shared else 'only long-term memories lose confidence'})"
        )
    since = "validation" if columns.fact[0] else "the last access"
    slowed = float(amplifier(state.access_count))
    return f"loses {rate:.4%} a day since {since}" + (f", slowed {slowed:.2f} times by access" if slowed > 1 else "")


def _hold(due: Trajectory, wait: str, history: Sequence[JournalEntry]) -> str:
    """Return what holds a memory back: the loss budget's word of now, or what the journal noted; empty if nothing."""
    noted = [e.because.removeprefix(_HELD_PREFIX) for e in history if e.because.startswith(_HELD_PREFIX)]
    freed = bool(due.transitions and noted and noted[-1].startswith("loss budget"))
    if not wait and (freed or not due.before.held):
        return ""
    state = due.after if wait else due.before
    gate = wait or next((n for n in reversed(noted) if not n.startswith("loss budget")), "a safety gate")
    since = f" since {text_of(state.due_ms)}" if state.due_ms is not None else ""
    first = f"{_waiting_moves(due)} Then: due" if wait and due.transitions else "Next: due"
    return (
        f"{first}{since}, held back by the {gate}. It is tried again every day; "
        "a sweep that accepts the loss with a reason carries it out at once."
    )


def _waiting_moves(due: Trajectory) -> str:
    return f"Next, waits for a sweep: {'; then '.join(step.because for step in due.transitions)}."


def _next_move(due: Trajectory, policy: Policy) -> str:
    state, later = due.before, due.after
    if state.status is not Status.ACTIVE:
        back = "until it is restored" if state.status is Status.ARCHIVED else "unless that is undone"
        return f"Next: nothing; it is {state.status} and stays so {back}."
    if state.pinned:
        return "Next: nothing; it is pinned."
    if state.tier is Tier.VAULT:
        return "Next: nothing; memories leave the vault only by hand."
    columns = Columns.of([later])
    moves = next_moves(columns, policy)
    if moves.at[0] < NEVER:
        then = f", without access: {explain_moves(columns, moves, policy)[0]}."
    else:
        then = f": nothing; without access it stays in {later.tier}."
    if not due.transitions:
        return f"Next{then}"
    return _waiting_moves(due) + (f" Then{then}" if later.status is Status.ACTIVE else "")
