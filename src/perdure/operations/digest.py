"""MEMORY.md: the memories kept in view, chosen within a budget. Reading them is no access."""

from __future__ import annotations

from typing import Final

from perdure.operations.facts_recalled import overturned
from perdure.operations.ports import Context
from perdure.records.memory import Kind
from perdure.records.recall import Filters
from perdure.rules.digesting import Digest, digest_of
from perdure.rules.signals import views

CONSIDERED: Final = 2000


def digest(
    ctx: Context,
    namespace: str,
    *,
    budget_tokens: int | None = None,
    profile: str | None = None,
    inside: str | None = None,
) -> Digest:
    """Return the digest of a namespace.

    Args:
        ctx: Store, policy, clock, token counter.
        namespace: Which one.
        budget_tokens: Overrides the policy's budget of the profile ``tokens``.
        profile: Overrides the policy's profile.
        inside: The session that reads it; its own memories are considered besides what is shared.
    """
    now = ctx.clock()
    memories = views(ctx.store.at_hand(namespace, Filters(isolated=True, inside=inside), CONSIDERED), ctx.policy, now)
    if ctx.policy.knowledge.learn != "off":  # what nobody believes any longer is not kept in view
        gone = overturned(ctx, namespace, [m.id for m in memories if m.kind is Kind.EPISODE])
        memories = [m for m in memories if m.id not in gone]
    vectors = ctx.store.vectors(namespace, [m.id for m in memories])
    return digest_of(
        memories,
        vectors,
        ctx.policy,
        tokens=ctx.tokens,
        exact=ctx.tokens_exact,
        namespace=namespace,
        budget_tokens=budget_tokens,
        profile=profile,
    )
