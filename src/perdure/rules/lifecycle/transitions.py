"""The transition table of tiers and archive (seed 004): the source of the code, the docs' diagram and the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from perdure.records.memory import Form, Status, Tier

ARCHIVE: Final = 4
"""The code of the move to status ``archived``; codes 0 to 3 are the tiers."""

SHRINK: Final = 5
"""The code of the move to the next shorter form."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the transition table."""

    name: str
    source: Tier | None
    target: Tier | Status | Form
    when: str
    rises: bool = False


RULES: Final = (
    Rule("leave_hot", Tier.HOT, Tier.WARM, "hot_hours in hot and value < hot_keep_value, still >= hot_to_warm_value"),
    Rule("leave_hot_low", Tier.HOT, Tier.COLD, "hot_hours in hot and value < hot_to_warm_value"),
    Rule("warm_low", Tier.WARM, Tier.COLD, "value < warm_keep_value"),
    Rule("warm_quiet", Tier.WARM, Tier.COLD, "warm_quiet_days in warm without access"),
    Rule(
        "to_vault",
        None,
        Tier.VAULT,
        "at an access in warm or cold: value >= vault_value and vault_accesses",
        rises=True,
    ),
    Rule("burst", Tier.WARM, Tier.HOT, "at an access: burst_accesses within burst_hours", rises=True),
    Rule("warm_high", Tier.WARM, Tier.HOT, "at an access: value >= warm_to_hot_value", rises=True),
    Rule("woken", Tier.COLD, Tier.WARM, "at an access", rises=True),
    Rule("faded_confidence", None, Status.ARCHIVED, "long-term, no fact, not in vault: confidence < confidence_below"),
    Rule("forgotten", None, Status.ARCHIVED, "session or long-term, no fact, not in vault: strength <= its threshold"),
    Rule("faded_value", Tier.COLD, Status.ARCHIVED, "cold_days in cold, value < value_below, never accessed, no fact"),
    Rule(
        "faded_both",
        Tier.COLD,
        Status.ARCHIVED,
        "cold_days in cold, value < value_below and confidence < confidence_below, no fact",
    ),
    Rule(
        "unanswered",
        None,
        Status.ARCHIVED,
        "a fact, not in vault: aging_days and unanswered_days since validation, confirmed fewer than "
        "aging_reinforcements times",
    ),
    Rule(
        "to_summary",
        None,
        Form.SUMMARY,
        "in warm or cold, full: summary_hours old, value <= summary_value, at most summary_accesses",
    ),
    Rule(
        "to_keywords",
        None,
        Form.KEYWORDS,
        "in warm or cold, a summary: keywords_days old, value <= keywords_value, at most keywords_accesses",
    ),
    Rule(
        "to_embedding",
        None,
        Form.EMBEDDING,
        "in warm or cold, keywords: embedding_days old, value <= embedding_value, at most embedding_accesses",
    ),
)
SHORTENING: Final = frozenset({"to_summary", "to_keywords", "to_embedding"})
RULE_CODE: Final = {rule.name: code for code, rule in enumerate(RULES)}
