"""What to tell who looks for facts where the policy learns none."""

from __future__ import annotations

from typing import Final

from perdure.records.policy_knowledge import KnowledgePolicy

LEARNS_NONE: Final = (
    "The policy learns no facts from messages. Hand facts over with remember (facts, on the command line --facts), or "
    'let rules read them, in English: preset = "facts" in perdure.toml (or learn = "rules" under [knowledge]), then '
    "learn from the sessions."
)


def untaught(policy: KnowledgePolicy) -> str:
    """Return how to have facts learned, if the policy learns none; else nothing."""
    return LEARNS_NONE if policy.learn == "off" else ""
