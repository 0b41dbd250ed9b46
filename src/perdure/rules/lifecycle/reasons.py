"""Why a memory moved, in words and numbers: the text that the journal keeps and `why` shows."""

from __future__ import annotations

from perdure.records.instant import Instant, text_of
from perdure.records.policy import Policy
from perdure.rules.lifecycle.transitions import Rule


def reason(rule: Rule, value: float, confidence: float, at: Instant, policy: Policy) -> str:
    """Return the reason for one move.

    Args:
        rule: The row of the transition table that fired.
        value: The memory's value at that instant.
        confidence: Its confidence at that instant.
        at: When the move fell due.
        policy: The policy in force, for the thresholds.
    """
    tiers, archive = policy.tiers, policy.archive
    unanswered = policy.knowledge.aging_days + policy.knowledge.unanswered_days
    worth, sure = f"value {value:.3f}", f"confidence {confidence:.3f}"
    texts = {
        "leave_hot": f"hot to warm: {tiers.hot_hours:g} hours in hot are over and the value has fallen below "
        f"{tiers.hot_keep_value:g}, but not below {tiers.hot_to_warm_value:g} ({worth})",
        "leave_hot_low": f"hot to cold: {tiers.hot_hours:g} hours in hot are over and the value has fallen below "
        f"{tiers.hot_to_warm_value:g} ({worth})",
        "warm_low": f"warm to cold: the value has fallen below {tiers.warm_keep_value:g} ({worth})",
        "warm_quiet": f"warm to cold: {tiers.warm_quiet_days:g} days in warm without access ({worth})",
        "to_vault": f"to vault: accessed with {worth} (at least {tiers.vault_value:g}) and at least "
        f"{tiers.vault_accesses} accesses",
        "burst": f"warm to hot: {tiers.burst_accesses} accesses within {tiers.burst_hours:g} hours ({worth})",
        "warm_high": f"warm to hot: accessed with {worth} (at least {tiers.warm_to_hot_value:g})",
        "woken": f"cold to warm: accessed ({worth})",
        "faded_confidence": f"archived: the confidence has fallen below {archive.confidence_below:g} ({sure})",
        "faded_value": f"archived: {archive.cold_days:g} days in cold, never accessed, and the value has fallen below "
        f"{archive.value_below:g} ({worth})",
        "faded_both": f"archived: {archive.cold_days:g} days in cold, value below {archive.value_below:g} ({worth}), "
        f"confidence below {archive.confidence_below:g} ({sure})",
        "forgotten": "archived: the strength has fallen to the threshold of its importance",
        "unanswered": f"archived: nobody has said for {unanswered:g} days that it is still true ({sure})",
        **_shortening(policy, worth),
    }
    return f"{texts[rule.name]}; due {text_of(at)}"


def _shortening(policy: Policy, worth: str) -> dict[str, str]:
    p = policy.compression
    return {
        "to_summary": f"full to summary: {p.summary_hours:g} hours old, {worth} is at most {p.summary_value:g}, "
        f"at most {p.summary_accesses} accesses",
        "to_keywords": f"summary to keywords: {p.keywords_days:g} days old, {worth} is at most {p.keywords_value:g}, "
        f"at most {p.keywords_accesses} accesses",
        "to_embedding": f"keywords to embedding: {p.embedding_days:g} days old, {worth} is at most "
        f"{p.embedding_value:g}, at most {p.embedding_accesses} accesses",
    }


def access_reason(counted: int) -> str:
    """Return the reason for a change that only counts accesses in."""
    return f"counted {'one access' if counted == 1 else f'{counted} accesses'} by recall"
