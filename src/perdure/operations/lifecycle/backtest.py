"""Back-test: the recall log is replayed under another policy, to see which past hits would have been missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.operations.documents import all_documents, all_ids, find_records
from perdure.operations.ports import Context
from perdure.records.instant import Instant, text_of
from perdure.records.memory import Form, Shelf, Status
from perdure.records.plan import Change, Target
from perdure.records.policy import Policy
from perdure.records.report import BacktestResult, MissedHit, Operation, PolicyOutcome
from perdure.rules.lifecycle.policy_replay import (
    MemoryHistory,
    ReplayedLife,
    is_independent_of_policy,
    reconstruct_past,
    replay_lives,
)

_ALL: Final = 2**31 - 1
NAMED: Final = 1000  # so many lost hits are named
HELPFUL: Final = "helpful"
_NOTES: Final = (
    "ranking is not replayed: a hit counts as found while its memory is in view",
    "safety gates are ignored, so this is the worst case",
)
_TRIMMED_NOTE: Final = (
    "what people decided before the journal's horizon is not known: those memories live as if it had not been"
)


@dataclass(frozen=True, slots=True)
class _LoggedRecall:
    """One entry of the recall log: its hits that are still stored, and those that were found useful."""

    id: str
    at: Instant
    query: str
    hits: tuple[str, ...]
    useful: frozenset[str]
    has_outcome: bool  # whether anybody said of any hit what became of it


def backtest(ctx: Context, namespace: str, other: Policy, limit: int) -> BacktestResult:
    """Return which hits of past recalls would have been missing under another policy.

    Each memory lives again from its birth: what people decided and what recalls returned happens as it did, what a
    policy decides happens as that policy says. The same is done for the policy in force, as the yardstick.
    """
    now, most = ctx.clock(), ctx.policy.recall.log_entries
    log = ctx.store.recalls(namespace, max(limit, most))
    changes, trimmed = _journalled_changes(ctx, namespace)
    pasts = list(_pasts(ctx, namespace, changes, _accesses(log)))
    recalls = _logged_recalls(ctx, namespace, log[:limit], {p.id for p in pasts})
    ours, theirs = (_Side(replay_lives(pasts, policy, now), policy) for policy in (ctx.policy, other))
    cut = f"only the last {len(log)} recalls are logged: earlier accesses count as if they never happened"
    return BacktestResult(
        namespace,
        recalls=len(recalls),
        hits=sum(len(a.hits) for a in recalls),
        useful=sum(len(a.useful) for a in recalls),
        now=ours.summary(recalls),
        other=theirs.summary(recalls),
        lost=tuple(_lost_hits(recalls, ours, theirs))[:NAMED],
        notes=(*_NOTES, *([cut] if len(log) >= most > 0 else ()), *([_TRIMMED_NOTE] if trimmed else ())),
    )


# --- reading

Log = Sequence[tuple[str, Instant, str, tuple[str, ...]]]


def _accesses(log: Log) -> dict[str, list[tuple[Instant, int]]]:
    found: dict[str, list[tuple[Instant, int]]] = {}
    for _, at, _, hits in reversed(log):
        for identity in hits:
            found.setdefault(identity, []).append((at, 1))
    return found


ChangesByMemory = Mapping[str, Sequence[tuple[Operation, Change]]]


def _journalled_changes(ctx: Context, namespace: str) -> tuple[ChangesByMemory, bool]:
    """Return what the journal says of each memory, and whether some of it is older than the horizon.

    It is read operation by operation, each once.
    """
    changes: dict[str, list[tuple[Operation, Change]]] = {}
    trimmed = False
    for operation in reversed(ctx.store.operations(namespace, _ALL)):
        for change in ctx.store.changes(namespace, operation.id) if is_independent_of_policy(operation) else ():
            trimmed = trimmed or change.trimmed
            if change.target is Target.MEMORY and not change.trimmed:
                changes.setdefault(change.id, []).append((operation, change))
    return changes, trimmed


def _pasts(
    ctx: Context, namespace: str, changes: ChangesByMemory, accesses: Mapping[str, list[tuple[Instant, int]]]
) -> Iterator[MemoryHistory]:
    for record in find_records(ctx, namespace, all_ids(ctx, namespace)):
        yield reconstruct_past(record, changes.get(record.id, ()), tuple(accesses.get(record.id, ())))


def _logged_recalls(ctx: Context, namespace: str, log: Log, memory_ids: set[str]) -> list[_LoggedRecall]:
    outcomes: dict[str, dict[str, str]] = {}
    for d in all_documents(ctx, namespace, Shelf.OUTCOME):
        outcomes.setdefault(d.name, {})[d.id] = str(d.data.get("outcome"))
    found = []
    for identity, at, query, hits in log:
        kept = tuple(i for i in hits if i in memory_ids)
        outcome_of = outcomes.get(identity, {})
        useful = frozenset(i for i in kept if outcome_of.get(i) == HELPFUL)
        found.append(_LoggedRecall(identity, at, query, kept, useful, has_outcome=any(i in outcome_of for i in kept)))
    return found


# --- judging


class _Side:
    def __init__(self, lives: Sequence[ReplayedLife], policy: Policy) -> None:
        self.policy = policy
        self.lives = {life.id: life for life in lives}

    def hidden(self, identity: str, at: Instant) -> bool:
        """Whether a memory would have been out of view at an instant."""
        transition = self.lives[identity].at(at)
        return transition is not None and transition.state.status is not Status.ACTIVE

    def short(self, identity: str, at: Instant) -> bool:
        """Whether it would have been shown in a shorter form."""
        transition = self.lives[identity].at(at)
        return (
            transition is not None
            and transition.state.form is not Form.FULL
            and transition.state.status is Status.ACTIVE
        )

    def summary(self, recalls: Sequence[_LoggedRecall]) -> PolicyOutcome:
        """Return the figures."""
        lives = list(self.lives.values())
        visible = [x.after for x in lives if x.after.status is Status.ACTIVE]
        left = [(a, [i for i in a.hits if not self.hidden(i, a.at)]) for a in recalls]
        judged = [(a.useful, left) for a, left in left if a.has_outcome]
        found, useful = sum(len(u & set(v)) for u, v in judged), sum(len(u) for u, _ in judged)
        shown = sum(len(v) for _, v in judged)
        return PolicyOutcome(
            policy=self.policy.version,
            preset=self.policy.preset,
            visible=len(visible),
            hidden=sum(x.after.status is Status.ARCHIVED for x in lives),
            shortened=sum(s.form is not Form.FULL for s in visible),
            moved=sum(_changed_tier(x) for x in lives),
            tokens=sum(s.tokens for s in visible),
            missing=sum(len(a.hits) - len(v) for a, v in left),
            short=sum(self.short(i, a.at) for a in recalls for i in a.hits),
            precision=round(found / shown, 4) if shown else None,
            recall=round(found / useful, 4) if useful else None,
        )


def _changed_tier(life: ReplayedLife) -> bool:
    return len({transition.state.tier for transition in life.transitions} | {life.after.tier}) > 1


def _lost_hits(recalls: Sequence[_LoggedRecall], now: _Side, other: _Side) -> Iterator[MissedHit]:
    """Yield the hits that only the other policy would have hidden, newest recall first."""
    for a in recalls:
        for identity in a.hits:
            if other.hidden(identity, a.at) and not now.hidden(identity, a.at):
                transition = other.lives[identity].at(a.at)
                because = "" if transition is None else f"hidden {text_of(transition.at)}: {transition.because}"
                yield MissedHit(a.id, text_of(a.at), a.query, identity, identity in a.useful, because)
