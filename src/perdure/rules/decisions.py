"""What an operation decides about memories, as one plan: first what fell due, then each decision in its order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from perdure.records.instant import Instant
from perdure.records.maker import copy_with
from perdure.records.memory import Form, Record, Shelf, State
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy import Policy
from perdure.rules.document_edits import document_change
from perdure.rules.insertion import with_due
from perdure.rules.lifecycle.maintenance import trajectory_changes
from perdure.rules.lifecycle.trajectory import Accesses, Trajectory, Transition, replay


def settle(
    states: Mapping[str, State], accesses: Mapping[str, Accesses], policy: Policy, now: Instant
) -> list[Trajectory]:
    """Return what became of memories by an instant, as a decision then finds them.

    A decision without a sweep before it must end where it would have ended with one. Only hiding and shortening wait
    for the sweep: who decides about a memory has it in view, and to shorten needs texts.
    """
    if not states:
        return []
    unshortened = replace(policy, compression=replace(policy.compression, rule="never"))
    return replay(states, accesses, now, unshortened, shut=True)


def faded_ids(
    states: Mapping[str, State], accesses: Mapping[str, Accesses], policy: Policy, now: Instant
) -> frozenset[str]:
    """Return the memories in view that a sweep of this instant would hide if no gate held them back.

    What was due when it was stored, such as old notes of an import, is in view until a sweep has seen it.
    """
    due = {i: s for i, s in states.items() if s.due_ms is not None and s.due_ms <= now}
    return frozenset(
        t.id
        for t in replay(due, accesses, now, policy)
        if any(s.hides and s.at > t.before.recorded_ms for s in t.transitions)
    )


class Decisions:
    """What one operation decides about memories of one namespace, and the plan that it makes.

    Attributes:
        records: Id -> the memory as it was settled, with the labels that were decided on.
        states: Id -> its state as decided so far.
        keyed: Memories that are known under another idempotency key from now on.
        neighbours: New memory -> (id, cosine) of the nearest earlier ones, nearest first.
        changed_links: Memory that was remembered again -> the memories in view whose links call it untrue no longer:
            those whose links are removed, and those whose links are turned round.
    """

    def __init__(self, policy: Policy, now: Instant, plan_id: str, namespace: str) -> None:
        self.policy, self.now, self.plan_id, self.namespace = policy, now, plan_id, namespace
        self.records: dict[str, Record] = {}
        self.states: dict[str, State] = {}
        self.neighbours: dict[str, tuple[tuple[str, float], ...]] = {}
        self.changed_links: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self.keyed = frozenset[str]()
        self._stored: dict[str, Record] = {}
        self._settled: dict[str, Trajectory] = {}
        self._transitions: dict[str, list[Transition]] = {}
        self._accessed: dict[str, None] = {}
        self._labels: dict[str, dict[str, Any]] = {}
        """Id -> name of a label -> what it was when it was stored."""
        self._shown: dict[str, dict[Form, str | None]] = {}
        self._new: set[str] = set()
        self._keys: set[tuple[str, str]] = set()
        self._first: list[Change] = []
        self._last: list[Change] = []

    # --- memories before the decisions

    def admit(self, records: Iterable[Record]) -> None:
        """Bring memories before the decisions, with what fell due of them; those that are there already stay as is."""
        fresh = [r for r in records if r.id not in self.records]
        stored = {r.id: _accessed_by(r, self.now) for r in fresh}
        accesses = {i: r.accesses for i, r in stored.items()}
        for trajectory in settle({i: r.state for i, r in stored.items()}, accesses, self.policy, self.now):
            self._add(stored[trajectory.id], trajectory)

    def insert(self, records: Iterable[Record], changes: Iterable[Change]) -> None:
        """Store new memories before anything else."""
        self._first += changes
        for record in records:
            self._new.add(record.id)
            self._add(record, Trajectory(record.id, record.state, (), record.state, 0))

    def _add(self, stored: Record, trajectory: Trajectory) -> None:
        self._stored[stored.id], self._settled[stored.id] = stored, trajectory
        is_as_stored = trajectory.after is stored.state and not stored.accesses
        self.records[stored.id] = stored if is_as_stored else copy_with(stored, state=trajectory.after, accesses=())
        self.states[stored.id] = trajectory.after

    def record(self, identity: str) -> Record:
        """Return a memory as decided so far."""
        record, state = self.records[identity], self.states[identity]
        return record if state is record.state else copy_with(record, state=state)

    def result(self, identity: str) -> Record:
        """Return a memory as the plan leaves it: as decided, or as it was stored where nothing of it is."""
        is_changed = identity in self._transitions or identity in self._new
        return self.record(identity) if is_changed else self._stored[identity]

    def has_faded(self, identity: str) -> bool:
        """Return whether a memory that nothing is decided about would be hidden if no gate held it back."""
        stored = self._stored[identity]
        left = {} if identity in self._transitions else {identity: stored.state}
        return bool(faded_ids(left, {identity: stored.accesses}, self.policy, self.now))

    @property
    def changed_ids(self) -> frozenset[str]:
        """The memories that are stored or changed."""
        return frozenset(self._transitions) | self._new

    # --- decisions

    def change(
        self, identity: str, state: State, rule: str, because: str, *, accessed: bool = False, marked: bool = False
    ) -> None:
        """Decide that a memory has another state from now on.

        Nothing is written where it has that state, unless it is ``marked``: then whoever saw it before learns that it
        was decided about. That it is ``accessed`` now besides adds nothing to its importance.
        """
        if state != self.states[identity] or accessed or marked:
            self.states[identity] = state
            self._transitions.setdefault(identity, []).append(Transition(self.now, state, rule, because))
            self._accessed |= dict.fromkeys([identity] if accessed else ())

    def label(self, identity: str, because: str, **labels: Any) -> None:
        """Decide what a memory's tags, source or metadata are.

        What it has already is left alone. ``because`` is why, where nothing else of it changes.
        """
        record, state = self.records[identity], self.states[identity]
        news = {name: value for name, value in labels.items() if value != getattr(record.content, name)}
        if not news:
            return
        stored = self._labels.setdefault(identity, {})
        for name in news:
            stored.setdefault(name, getattr(record.content, name))
        self.records[identity] = replace(record, content=replace(record.content, **news))
        self._transitions.setdefault(identity, [Transition(self.now, state, "labelled", because)])

    def show(self, identity: str, form: Form, text: str | None) -> None:
        """Decide what a memory shows in the form that is decided on; None for its whole text."""
        record = self.records[identity]
        self._shown.setdefault(identity, {record.state.form: record.content.shown})[form] = text
        self.records[identity] = replace(record, content=replace(record.content, shown=text))

    def add(self, changes: Iterable[Change]) -> None:
        """Write links and documents after everything else."""
        self._last += changes

    def linked(self, identity: str) -> set[tuple[str, str]]:
        """Return (kind, other memory) of the links from a memory that are made or ended."""
        rows = [
            c.after or c.before or {}
            for c in (*self._first, *self._last)
            if (c.target, c.id) == (Target.LINK, identity)
        ]
        return {(row["kind"], row["other"]) for row in rows}

    def add_key(self, identity: str, key: str) -> None:
        """Decide that a memory is known under another idempotency key, besides that of its row.

        A retry with it must find what became of the memory, also where its words are not known any longer.
        """
        if (identity, key) not in self._keys:
            self._keys.add((identity, key))
            self.keyed |= {identity}
            because = "remembered again under another idempotency key"
            self._last.append(document_change(Shelf.KEY, identity, key, None, {}, because))

    # --- the plan

    def plan(self, operation: str, note: str) -> Plan:
        """Return everything that was decided, with one line for people; ``states`` then have their due instants."""
        trajectories = self._trajectories()
        changes = trajectory_changes(
            trajectories,
            {t.id: self._stored[t.id].op for t in trajectories},
            {t.id: self._stored[t.id].accesses for t in trajectories},
            self.plan_id,
            self.now,
            shown=self._shown,
        )
        self.states |= {t.id: t.after for t in trajectories}
        first = sorted(self._first, key=lambda c: c.target is not Target.MEMORY)  # together: one statement writes many
        ordered = (*first, *self._with_labels(changes), *self._last)
        return Plan(self.plan_id, operation, self.namespace, self.now, ordered, self.policy.version, note)

    def _trajectories(self) -> list[Trajectory]:
        """Return what became of each memory that something was decided about, from where it was stored."""
        decided = {i: copy_with(some[-1].state, held=False) for i, some in self._transitions.items()}
        later = self._accesses(decided)
        ends = [copy_with(later[i].after, held=False) if i in later else state for i, state in decided.items()]
        return [
            copy_with(
                self._settled[i],
                transitions=(
                    *self._settled[i].transitions,
                    *self._transitions[i],
                    *(later[i].transitions if i in later else ()),
                ),
                after=after,
            )
            for i, after in zip(decided, with_due(ends, self.policy), strict=True)
        ]

    def _accesses(self, decided: Mapping[str, State]) -> dict[str, Trajectory]:
        """Return what an access of this instant makes of the memories that are accessed, besides what it adds."""
        if not self._accessed:
            return {}
        states, p = {i: decided[i] for i in self._accessed}, self.policy
        plain = replace(p, importance=replace(p.importance, on_access=0.0), strength=replace(p.strength, on_access=0.0))
        return {t.id: t for t in settle(states, dict.fromkeys(states, ((self.now, 1),)), plain, self.now)}

    def _with_labels(self, changes: Sequence[Change]) -> list[Change]:
        """Return the changes, with new labels in the last one of each memory that gets some."""
        labels, result = dict(self._labels), []
        for change in reversed(changes):
            if change.target is Target.MEMORY and change.id in labels:
                before = labels.pop(change.id)
                after = {name: getattr(self.records[change.id].content, name) for name in before}
                sides = {**(change.before or {}), **before}, {**(change.after or {}), **after}
                result.append(replace(change, before=sides[0], after=sides[1]))
            else:
                result.append(change)
        return result[::-1]


def _accessed_by(record: Record, now: Instant) -> Record:
    """Return a record without its accesses after an instant."""
    if not record.accesses:
        return record
    return replace(record, accesses=tuple(pair for pair in record.accesses if pair[0] <= now))
