"""Learning claims that a caller hands over and that stand in no memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from perdure.knowledge.operations.given_claims import result_of, take_claims
from perdure.knowledge.operations.known_beside import known_beside
from perdure.knowledge.records.results import Learnt
from perdure.operations.decisions import begin, write
from perdure.operations.ports import Context
from perdure.operations.remember import redacted_in
from perdure.operations.remember_one import related_memories
from perdure.operations.writing import read_after, retry, tell_redacted
from perdure.records.fact_claim import GivenClaim, HandedClaims
from perdure.rules.decisions import Decisions
from perdure.rules.validation.fact_claims import parsed_claims


def learn_claims(ctx: Context, namespace: str, raw_claims: Any) -> Learnt:
    """Write down claims that stand in no memory, as one operation."""
    claims, _ = parsed_claims(raw_claims, None, policy=ctx.policy, now=ctx.clock())
    tell_redacted(ctx, redacted_in(claims))

    def attempt() -> Learnt:
        decisions = begin(ctx, namespace, ctx.clock())
        writer = take_claims(ctx, decisions, [HandedClaims(claims, None, "", decisions.now)])
        written = write(ctx, decisions, "learn", f"learn: {len(claims)} claims")
        done, result = writer.tally.learnt(0, () if written is None else (written,)), result_of(writer)
        done = replace(done, replaced=result.replaced, unknown=result.unknown, superseded=result.superseded)
        return read_after(ctx, written, lambda: _with_known(ctx, decisions, claims, done), done)

    return retry(attempt)


def _with_known(ctx: Context, decisions: Decisions, claims: Sequence[GivenClaim], done: Learnt) -> Learnt:
    """Return what was learned with what is known beside it."""
    besides = {*done.created, *done.reinforced, *done.retired}
    memories, known = known_beside(ctx, decisions.namespace, claims, besides)
    related = related_memories(ctx, decisions, memories, done.created)
    return replace(done, related=related, predicates=tuple(known))
