"""What became of a hit: it was helpful, wrong, or not used. Being returned is no use; only this is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from perdure.operations.decisions import StateChange, decide_all, ids_by_namespace, read_visible
from perdure.operations.ports import Context
from perdure.operations.writing import retried
from perdure.records.document import Document, Shelf
from perdure.records.instant import Instant
from perdure.records.memory import State
from perdure.records.plan import Change, Target
from perdure.records.signal_results import Used
from perdure.rules.lifecycle.reinforcement import Boost, doubt_states, reinforce_states
from perdure.rules.validation.values import checked_id

WhatCame = Literal["helpful", "wrong", "unused"]

WRONG: Final = "wrong"
"""The name of the review that a wrong memory opens."""

_RECENT: Final = 100
"""So many recalls are looked at first: an outcome mostly follows its recall."""


@dataclass(frozen=True, slots=True)
class _Origin:
    """The recall that a use belongs to.

    Attributes:
        name: Its id, or empty.
        query: What was asked, or empty where the log does not say that it returned the memory.
        counted: Whether the recall returned the memory, so that the access is counted already.
    """

    name: str = ""
    query: str = ""
    counted: bool = False


@dataclass(slots=True)
class _Told:
    """What has been done so far."""

    counted: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)
    operations: list[str] = field(default_factory=list)


def used(ctx: Context, ids: Sequence[str], outcome: WhatCame, recall_id: str | None) -> Used:
    """Take in what became of memories.

    ``helpful`` reinforces, and remembers which question the memory answered. ``wrong`` halves confidence (a policy
    key), counts as a lapse, and asks a person. ``unused`` changes nothing. The same memory and recall count once (the
    newest recall that returned it, if none is named); only ``wrong`` still counts after ``helpful``.
    """
    if recall_id is not None:
        checked_id(recall_id, "recall_id")
    now = ctx.clock()
    told = _Told()
    found: set[str] = set()
    for place, wanted in ids_by_namespace(ctx, ids).items():
        if outcome == "unused":
            found |= {r.id for r in read_visible(ctx, place, wanted)}
            continue
        origins = _origins(ctx, place, wanted, recall_id)
        retried(
            lambda place=place, wanted=wanted, origins=origins: _tell(  # type: ignore[misc]  # bound now
                ctx, place, wanted, outcome, origins, now, told
            )
        )
    found |= told.counted | told.repeated
    return Used(
        outcome,
        tuple(i for i in ids if i in told.counted),
        tuple(i for i in ids if i in told.repeated),
        tuple(i for i in ids if i not in found),
        tuple(told.operations),
    )


def _origins(ctx: Context, place: str, ids: Sequence[str], recall_id: str | None) -> dict[str, _Origin]:
    """Return the recall that each use belongs to."""
    found: dict[str, _Origin] = {}
    longest = ctx.policy.recall.log_entries
    for size in sorted({min(_RECENT, longest), longest} - {0}):
        for name, _, query, hits in ctx.store.recalls(place, size):
            for i in set(hits).intersection(ids) if recall_id in (None, name) else ():
                found.setdefault(i, _Origin(name, query, counted=True))
        if len(found) == len(ids):
            break
    return {i: found.get(i, _Origin(recall_id or "")) for i in ids}


def _tell(
    ctx: Context,
    place: str,
    ids: Sequence[str],
    outcome: WhatCame,
    origins: Mapping[str, _Origin],
    now: Instant,
    told: _Told,
) -> None:
    records = read_visible(ctx, place, ids)
    earlier = {(d.id, d.name): d for d in ctx.store.documents.find(place, Shelf.OUTCOME, [r.id for r in records])}
    fresh = [r for r in records if _news(earlier.get((r.id, origins[r.id].name)), outcome)]
    if fresh:
        documents = [_outcome(r.id, outcome, origins[r.id], earlier, now) for r in fresh]
        if outcome == WRONG:
            documents += _reviews(ctx, place, [r.id for r in fresh], origins, now)
        accessed = [not origins[r.id].counted for r in fresh]

        def decide(states: list[State]) -> list[StateChange]:
            if outcome == WRONG:
                return [StateChange(o.state, o.because) for o in doubt_states(states, ctx.policy, now)]
            boost = Boost("additive", ctx.policy.use.boost, ctx.policy.use.strength)
            made = reinforce_states(states, accessed, boost, ctx.policy, now)
            return [
                StateChange(o.state, f"helpful: {o.because}", accessed=a) for o, a in zip(made, accessed, strict=True)
            ]

        note = f"used: {len(fresh)} {outcome}"
        operation = decide_all(
            ctx, place, fresh, decide, operation="used", note=note, now=now, documents=tuple(documents)
        )
        told.operations += [operation] if operation is not None else []
    told.counted |= {r.id for r in fresh}
    told.repeated |= {r.id for r in records} - told.counted


def _news(earlier: Document | None, outcome: WhatCame) -> bool:
    """Whether an outcome has not been told: the first word counts, and that it was wrong counts after any other."""
    return earlier is None or (outcome == WRONG and earlier.data.get("outcome") != WRONG)


def _outcome(
    identity: str, outcome: WhatCame, origin: _Origin, earlier: Mapping[tuple[str, str], Document], now: Instant
) -> Change:
    before = earlier.get((identity, origin.name))
    after = {"outcome": outcome, "query": origin.query, "at_ms": now}
    return Change(
        Target.DOCUMENT,
        identity,
        None if before is None else {"shelf": Shelf.OUTCOME, "name": origin.name, "data": dict(before.data)},
        {"shelf": Shelf.OUTCOME, "name": origin.name, "data": after},
        f"{outcome}, for the question {origin.query!r}" if origin.query else f"{outcome}, for a question not logged",
    )


def _reviews(
    ctx: Context, place: str, ids: Sequence[str], origins: Mapping[str, _Origin], now: Instant
) -> list[Change]:
    """Open a review of each memory that has none of the kind."""
    there = {d.id for d in ctx.store.documents.find(place, Shelf.REVIEW, ids) if d.name == WRONG}
    return [
        Change(
            Target.DOCUMENT,
            i,
            None,
            {"shelf": Shelf.REVIEW, "name": WRONG, "data": {"why": _why(origins[i]), "since_ms": now}},
            "a person is asked whether it is right",
        )
        for i in ids
        if i not in there
    ]


def _why(origin: _Origin) -> str:
    return f"it was wrong as an answer to {origin.query!r}" if origin.query else "it was reported wrong"
