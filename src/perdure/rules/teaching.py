"""What to tell who looks for facts where the policy learns none.

May live here: the words. May not: learning (operations/learn.py).
"""

from __future__ import annotations

from typing import Final

from perdure.records.policy_knowledge import KnowledgePolicy

LEARNS_NONE: Final = (
    'The policy learns no facts from messages; preset = "knowledge" in perdure.toml makes it (or learn = "rules" under '
    "[knowledge]). What was taken in before is caught up on with learn, session by session."
)


def untaught(policy: KnowledgePolicy) -> str:
    """Return how to have facts learned, if the policy learns none; else nothing."""
    return LEARNS_NONE if policy.learn == "off" else ""
