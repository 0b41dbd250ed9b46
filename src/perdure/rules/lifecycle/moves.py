"""When a memory moves next, and where to: the arithmetic behind the transition table.

Falling moves happen because time passed; rising moves happen at an access. May live here: the rules' conditions. May
not: playing them forward (rules/lifecycle/trajectory.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perdure.formulas.curve import NEVER, Array, due_instants
from perdure.records.instant import DAY_MS, HOUR_MS
from perdure.records.policy import Policy
from perdure.rules.lifecycle.state_arrays import (
    COLD,
    FORMS,
    HOT,
    TASK,
    VAULT,
    WARM,
    Bools,
    Columns,
    Ints,
    confidence_curve,
    strength_curve,
    value_curve,
)
from perdure.rules.lifecycle.transitions import ARCHIVE, RULE_CODE, SHRINK


@dataclass(frozen=True, slots=True)
class Falls:
    """The next move of each memory if nothing happens to it, shape [n].

    Attributes:
        at: Instants; NEVER where it stays for ever.
        target: Tier codes, ARCHIVE, or SHRINK.
        rule: Index into RULES.
    """

    at: Ints
    target: Ints
    rule: Ints


def next_falls(c: Columns, policy: Policy) -> Falls:
    """Return when and where each memory moves by the passage of time alone.

    Precedence: pinned, then status, then archive, then tier, then compression: where several fall due at one instant,
    that is their order.
    """
    n = len(c)
    at = np.full(n, NEVER, dtype=np.int64)
    target = c.tier.copy()
    rule = np.full(n, -1, dtype=np.int64)
    still = c.active & ~c.pinned & (c.tier != VAULT)
    for tier, fall in ((HOT, _leave_hot), (WARM, _leave_warm)):
        rows = np.flatnonzero(still & (c.tier == tier))
        if rows.size:
            at[rows], target[rows], rule[rows] = fall(c.take(rows), policy)
    everywhere = policy.archive.rule in ("confidence", "strength")
    rows = np.flatnonzero(still & ~c.fact & ((c.tier == COLD) | everywhere))
    if rows.size and policy.archive.rule != "never":
        gone, why = _archive(c.take(rows), policy)
        sooner = gone <= at[rows]
        at[rows] = np.where(sooner, gone, at[rows])
        target[rows] = np.where(sooner & (gone < NEVER), ARCHIVE, target[rows])
        rule[rows] = np.where(sooner & (gone < NEVER), why, rule[rows])
    rows = np.flatnonzero(still & c.fact & (c.reinforcements < policy.knowledge.aging_reinforcements))
    if rows.size:
        gone = _unanswered(c.take(rows), policy)
        sooner = gone <= at[rows]
        at[rows] = np.where(sooner, gone, at[rows])
        target[rows] = np.where(sooner, ARCHIVE, target[rows])
        rule[rows] = np.where(sooner, RULE_CODE["unanswered"], rule[rows])
    if policy.compression.rule == "triggers":
        rows = np.flatnonzero(still & ((c.tier == WARM) | (c.tier == COLD)) & ~c.firm & (c.form < len(FORMS) - 1))
        shorter, why = _shrink(c.take(rows), policy)
        sooner = shorter < at[rows]
        at[rows] = np.where(sooner, shorter, at[rows])
        target[rows] = np.where(sooner, SHRINK, target[rows])
        rule[rows] = np.where(sooner, why, rule[rows])
    return Falls(at, target, rule)


def _leave_hot(c: Columns, policy: Policy) -> tuple[Ints, Ints, Ints]:
    tiers, curve = policy.tiers, value_curve(c, policy)
    stay = c.tier_since + int(tiers.hot_hours * HOUR_MS)
    at = np.maximum(stay, due_instants(c.anchor, curve.crossing(tiers.hot_keep_value)))
    value = _value_at(c, policy, np.where(at < NEVER, at, c.anchor))
    warm = value >= tiers.hot_to_warm_value
    rule = np.where(warm, RULE_CODE["leave_hot"], RULE_CODE["leave_hot_low"])
    return at, np.where(warm, WARM, COLD), rule


def _leave_warm(c: Columns, policy: Policy) -> tuple[Ints, Ints, Ints]:
    tiers, curve = policy.tiers, value_curve(c, policy)
    low = np.maximum(c.tier_since, due_instants(c.anchor, curve.crossing(tiers.warm_keep_value)))
    quiet = np.maximum(c.tier_since, c.anchor) + int(tiers.warm_quiet_days * DAY_MS)
    rule = np.where(low <= quiet, RULE_CODE["warm_low"], RULE_CODE["warm_quiet"])
    return np.minimum(low, quiet), np.full(len(c), COLD), rule


def _archive(c: Columns, policy: Policy) -> tuple[Ints, Ints]:
    rule = policy.archive.rule
    if rule == "strength":
        faded = due_instants(c.strength_since, strength_curve(c, policy).forgetting())
        faded = np.where(c.scope == TASK, NEVER, np.maximum(faded, c.status_since))
        return faded, np.full(len(c), RULE_CODE["forgotten"])
    confidence, lag = confidence_curve(c, policy)
    doubted = due_instants(c.anchor, np.maximum(confidence.crossing(policy.archive.confidence_below) - lag, 0.0))
    doubted = np.where(c.fades, np.maximum(doubted, c.status_since), NEVER)
    if rule == "confidence":
        return doubted, np.full(len(c), RULE_CODE["faded_confidence"])
    worthless = due_instants(c.anchor, value_curve(c, policy).crossing(policy.archive.value_below))
    at = np.maximum(c.tier_since + int(policy.archive.cold_days * DAY_MS), worthless)
    if rule == "value":
        return np.where(c.access_count == 0, at, NEVER), np.full(len(c), RULE_CODE["faded_value"])
    return np.maximum(at, doubted), np.full(len(c), RULE_CODE["faded_both"])


def _unanswered(c: Columns, policy: Policy) -> Ints:
    """Return when each fact has been asked about for so long that nobody will answer (design 5)."""
    keys = policy.knowledge
    old = c.validated + int(keys.aging_days * DAY_MS)
    asked: Ints = np.maximum(old, c.recorded)  # what was said long ago is asked about once it is here
    gone: Ints = np.maximum(asked + int(keys.unanswered_days * DAY_MS) + 1, c.status_since)
    return gone


def _shrink(c: Columns, policy: Policy) -> tuple[Ints, Ints]:
    """Return when each memory is due for its next form: all conditions of the trigger are met (seed 004, 3.2)."""
    p = policy.compression
    hours = np.array([p.summary_hours, 24.0 * p.keywords_days, 24.0 * p.embedding_days])[c.form]
    bound = np.array([p.summary_value, p.keywords_value, p.embedding_value])[c.form]
    most = np.array([p.summary_accesses, p.keywords_accesses, p.embedding_accesses])[c.form]
    full = c.form == 0
    old = np.where(full, np.maximum(c.created, c.form_since), c.created) + (hours * HOUR_MS).astype(np.int64)
    # The trigger is inclusive, a crossing is not: at or below a number is below the next larger one.
    low = due_instants(c.anchor, value_curve(c, policy).crossing(np.nextafter(bound, np.inf)))
    at = np.maximum.reduce([old, low, c.tier_since, c.form_since])
    fits = (c.access_count <= most) & (~full | (c.tokens >= p.least_tokens))
    first = RULE_CODE["to_summary"]
    return np.where(fits, at, NEVER), first + c.form


def rises(c: Columns, at: Ints, policy: Policy) -> tuple[Ints, Ints]:
    """Return the tier that an access at an instant lifts each memory to, and by which rule (-1: it stays).

    The access is already counted in. Vault is asked first; a cold memory that was accessed is warm and may then go on
    to hot at the same instant.
    """
    tiers = policy.tiers
    value = _value_at(c, policy, at)
    movable = c.active & ~c.pinned
    vault = (
        movable
        & np.isin(c.tier, (WARM, COLD))
        & (value >= tiers.vault_value)
        & (c.access_count >= tiers.vault_accesses)
        & (c.reinforcements >= tiers.vault_reinforcements)
    )
    nth = c.access3 if tiers.burst_accesses == 3 else c.access2  # noqa: PLR2004  # the policy allows 2 or 3
    burst = at - nth <= int(tiers.burst_hours * HOUR_MS)
    warm = movable & (c.tier == WARM) & ~vault
    hot_burst, hot_value = warm & burst, warm & ~burst & (value >= tiers.warm_to_hot_value)
    woken = movable & (c.tier == COLD) & ~vault
    target = np.select([vault, hot_burst | hot_value, woken], [VAULT, HOT, WARM], c.tier)
    rule = np.select(
        [vault, hot_burst, hot_value, woken],
        [RULE_CODE["to_vault"], RULE_CODE["burst"], RULE_CODE["warm_high"], RULE_CODE["woken"]],
        -1,
    )
    return target, rule


def _value_at(c: Columns, policy: Policy, at: Ints) -> Array:
    return value_curve(c, policy).value(c.days_since_anchor(at))


def entry_tier(c: Columns, policy: Policy, *, recent_message: Bools) -> Ints:
    """Return the tier in which each new memory starts: hot by value or as one of its session's last messages."""
    value = _value_at(c, policy, c.anchor)
    hot = (value >= policy.tiers.hot_entry_value) | (recent_message & (policy.tiers.hot_messages > 0))
    return np.where(hot, HOT, WARM)
