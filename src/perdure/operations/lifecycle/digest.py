"""MEMORY.md: the memories kept in view, chosen within a budget. Reading them is no access."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from perdure.operations.ports import Context
from perdure.records.digest import Digest
from perdure.records.memory import MemoryItem
from perdure.records.recall import Filters
from perdure.rules.lifecycle.digest import build_digest
from perdure.rules.lifecycle.signals import memory_items

CONSIDERED: Final = 2000


def digest(
    ctx: Context,
    namespace: str,
    *,
    budget_tokens: int | None = None,
    profile: str | None = None,
    inside: str | None = None,
) -> Digest:
    """Return the digest of a namespace."""
    records = ctx.store.records_by_tier(namespace, Filters(isolated=True, inside=inside), CONSIDERED)
    considered = memory_items(records, ctx.policy, ctx.clock())
    gone = _outdated(ctx, namespace, considered)
    memories = [m for m in considered if m.id not in gone]
    return build_digest(
        memories,
        ctx.store.vectors(namespace, [m.id for m in memories]),
        ctx.policy,
        tokens=ctx.tokens,
        exact=ctx.tokens_exact,
        namespace=namespace,
        budget_tokens=budget_tokens,
        profile=profile,
    )


def _outdated(ctx: Context, namespace: str, memories: Sequence[MemoryItem]) -> frozenset[str]:
    """Return the memories that say what no longer holds, or what a note says too: recalled, but not kept in view.

    What somebody pinned stays; it is theirs to unpin.
    """
    gone = set(ctx.extension.outdated(ctx, namespace, memories))
    return frozenset(gone.difference(m.id for m in memories if m.pinned))
