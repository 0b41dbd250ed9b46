"""Applying a plan of maintenance through the gates."""

from __future__ import annotations

from perdure.operations.ports import Context
from perdure.records.errors import GateStopped
from perdure.records.instant import DAY_MS
from perdure.records.plan import Plan
from perdure.rules.upkeep import Budget


def applied(ctx: Context, plan: Plan, *, accept_loss: str | None = None) -> None:
    """Apply a plan, unless it would lose more than the gates allow.

    Args:
        ctx: Store, policy, clock.
        plan: What to apply.
        accept_loss: A person's reason to apply it whatever it loses.

    Raises:
        GateStopped: It would hide too much; nothing was written.
    """
    if accept_loss is None and plan.hides:
        now = ctx.clock()
        hidden = ctx.store.hidden_since(plan.namespace, now - now % DAY_MS)
        budget = Budget(ctx.store.visible_count(plan.namespace), hidden)
        if refusal := budget.refusal(plan.hides, ctx.policy.gates):
            raise GateStopped(
                f"The plan was stopped by the {refusal}.",
                remedy="Accept the loss with a reason (accept_loss), or make a smaller plan.",
            )
    ctx.store.apply(plan)
