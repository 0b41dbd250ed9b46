"""What to tell who looks for facts where the policy learns none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # start-up time
    from perdure.records.policy_knowledge import KnowledgePolicy

LEARNS_NONE: Final = (
    "Under this policy no facts are learned from messages. Pass facts to remember (--facts on the command line). Or "
    'set preset = "facts" in perdure.toml (or learn = "rules" under [knowledge]), which reads them from English '
    "messages, and run learn for sessions that are stored already."
)


def no_learning_hint(policy: KnowledgePolicy) -> str:
    """Return how to have facts learned, if the policy learns none; else nothing."""
    return LEARNS_NONE if policy.learn == "off" else ""
