"""What a type checker knows of the public API. Checked by mypy, never run."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import assert_type

import perdure

memory = perdure.open("agent.db", {"embedder": {"model": "none"}})
assert_type(memory, perdure.Memory)

kept = memory.remember("Deploys happen on Tuesdays.", tags=["ops"], importance=0.7, at=datetime.now(UTC))
assert_type(kept, perdure.RememberResult)
assert_type(kept.id, str)
assert_type(kept.operation, str | None)
assert_type(kept.changed, bool)
assert_type(kept.memory, perdure.MemoryItem)
assert_type(memory.remember_many(["one", {"content": "two"}]), list[perdure.Outcome])

answer = memory.recall("When do we deploy?", limit=3, kinds=["note"], touch=False)
assert_type(answer, perdure.Recall)
assert_type(answer.hits, tuple[perdure.Hit, ...])
assert_type(answer.hits[0].memory, perdure.MemoryItem)
assert_type(memory.get(kept.id), perdure.MemoryItem | None)
assert_type(memory.list(limit=10), list[perdure.MemoryItem])
assert_type(memory.why(kept.id), perdure.Explanation)

assert_type(memory.pin(kept.id), perdure.Outcome)
assert_type(memory.update(kept.id, "Deploys happen on Wednesdays."), perdure.RememberResult)
assert_type(memory.move(kept.id, "vault", "always needed"), perdure.Outcome)
assert_type(memory.used([kept.id], "helpful", recall_id=answer.recall_id), perdure.UseResult)
assert_type(memory.facts("Gai Media"), list[perdure.FactLine])
assert_type(memory.review(), list[perdure.Question])
assert_type(memory.undo(memory.pin(kept.id)), perdure.UndoResult)
memory.undo(kept.memory)  # type: ignore[arg-type]  # a memory is no operation


async def awaited(behind: perdure.AsyncMemory) -> None:
    task = asyncio.create_task(behind.remember("Deploys happen on Tuesdays."))
    assert_type(await task, perdure.RememberResult)
    """Coroutines have the parameters and results of the methods."""
    assert_type(await behind.recall("When do we deploy?", limit=3), perdure.Recall)
    assert_type(await behind.remember("Deploys happen on Tuesdays.", tags=["ops"]), perdure.RememberResult)
    assert_type(await behind.get(kept.id), perdure.MemoryItem | None)
    assert_type(await behind.digest(budget_tokens=500), str)
    assert_type([row async for row in behind.within(2).list_all("team")], list[perdure.MemoryItem])
    await behind.recall(3)  # type: ignore[arg-type]  # refused, as in the method
    await behind.recall("x", most=3)  # type: ignore[call-arg]
    behind.recal("x")  # type: ignore[attr-defined]


report = memory.sweep(dry_run=True)
assert_type(report, perdure.SweepReport)
assert_type(report.plans, tuple[perdure.Plan, ...])
assert_type(memory.apply(report.plans[0]), perdure.ApplyResult)
assert_type(memory.digest(budget_tokens=500), str)
assert_type(memory.policy, perdure.Policy)

# What no fact and no filter has is told: mypy calls an ignore that nothing needs an error.
memory.learn(claims=[{"subjekt": "Ana"}])  # type: ignore[typeddict-item, typeddict-unknown-key]  # a misspelt key
memory.list_all(tagz=["ops"])  # type: ignore[call-arg]  # a misspelt filter
claim: perdure.FactClaim = {"subject": "Ana", "predicate": "home", "value": "Oslo"}
memory.remember("Ana lives in Oslo.", facts=[claim])

perdure.open(embedder="lokal")  # type: ignore[arg-type]  # a misspelt choice
perdure.open(embedder="none")
