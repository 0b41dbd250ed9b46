"""Statements that later ones likely make untrue: judged when their vectors are made, and kept as links."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from perdure.operations.ports import Context, PairJudge
from perdure.records.deadline import until_half
from perdure.records.errors import DeadlineExceeded, EmbedderError
from perdure.records.memory import LIKELY_SUPERSEDES, Record
from perdure.records.plan import Change, Target
from perdure.records.vector import Vector
from perdure.rules.supersession import ComparedPair, is_statement, pairs_of

_AT_ONCE: Final = 128  # pairs between two looks at how much time is left
_LOOKED_AT: Final = 24
"""So many of the nearest memories: replies, questions and other people's words are among them."""


def superseding_links(
    ctx: Context, namespace: str, records: Sequence[Record], vectors: Sequence[Vector | None]
) -> list[Change]:
    """Return links from statements to those that they likely make untrue, of some that have got vectors.

    ``records`` are in the order in which they are stored; each is compared with those before it and with what is
    stored. Where the model fails there are none, and where half of the call's time is over no more: a warning is given.
    """
    if ctx.judge is None:
        return []
    chosen = [(r, v) for r, v in zip(records, vectors, strict=True) if v is not None and is_statement(r)]
    if not chosen:
        return []
    pairs = _pairs(ctx, namespace, [r for r, _ in chosen], [v for _, v in chosen])
    least = ctx.policy.knowledge.superseded_from
    judged = zip(pairs, _chances(ctx, ctx.judge, pairs), strict=False)
    return [_link(pair, chance) for pair, chance in judged if chance >= least]


def _chances(ctx: Context, judge: PairJudge, pairs: Sequence[ComparedPair]) -> list[float]:
    """Return the chances of pairs, of the first ones where time or the model does not do for all."""
    found: list[float] = []
    try:
        with until_half():  # what is taken in must be stored in the other half
            for start in range(0, len(pairs), _AT_ONCE):
                some = pairs[start : start + _AT_ONCE]
                found += judge.chances([(p.earlier.content.text, p.later.content.text) for p in some])
    except (EmbedderError, DeadlineExceeded) as error:
        ctx.warn(f"Some statements were not compared with earlier ones: {error}")
    return found


def _pairs(ctx: Context, namespace: str, statements: Sequence[Record], vectors: Sequence[Vector]) -> list[ComparedPair]:
    """Return the pairs of statements that may meet: each with the nearest before it and among what is stored."""
    stored = ctx.store.nearest(namespace, vectors, _LOOKED_AT)
    ids = {i for near in stored for i, _, _ in near} - {r.id for r in statements}
    others = {r.id: r for r in ctx.store.get(namespace, sorted(ids))} if ids else {}
    return pairs_of(statements, vectors, [[(others[i], c) for i, c, _ in near if i in others] for near in stored])


def _link(pair: ComparedPair, chance: float) -> Change:
    row = {"kind": LIKELY_SUPERSEDES, "other": pair.earlier.id, "weight": round(chance, 4)}
    because = f"likely no longer true: a later statement makes it untrue with a chance of {chance:.2f}"
    return Change(Target.LINK, pair.later.id, None, row, because)


def likely_superseded(ctx: Context, namespace: str, ids: Collection[str]) -> frozenset[tuple[str, str]]:
    """Return (later, earlier) pairs of memories of which the later one likely makes the earlier one untrue.

    One of the two is among ``ids``.
    """
    if not ids or not ctx.policy.knowledge.watch:
        return frozenset()
    links = ctx.store.links_at(namespace, sorted(ids))
    return frozenset((i, other) for i, kind, other in links if kind == LIKELY_SUPERSEDES)
