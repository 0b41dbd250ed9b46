"""Erasing for good: what would go is listed first, and what was searched afterwards is shown as the proof."""

from __future__ import annotations

from typing import Any

from perdure.interfaces.pages.asked import Answer, Asked, Shown


def ask(asked: Asked) -> Answer:
    """Ask why, and by whose decision."""
    return Shown("erase", "Erase for good", {**_chosen(asked), "preview": None, "done": None})


def erase(asked: Asked) -> Answer:
    """List what would go; with the word that the list gave, erase it."""
    chosen = _chosen(asked)
    given: dict[str, Any] = {
        "ids": [chosen["identity"]] if chosen["identity"] else [],
        "subject": chosen["subject"] or None,
        "namespace": asked.namespace,
        "reason": asked.needed("reason", "The reason"),
        "by": asked.given("by") or None,
    }
    confirm = asked.given("confirm")
    if confirm:
        done = asked.memory.erase(**given, confirm=confirm, dry_run=False)
        return Shown("erase", "Erased", {**chosen, "preview": None, "done": done})
    preview = asked.memory.erase(**given, dry_run=True)
    return Shown("erase", "Erase for good", {**chosen, "preview": preview, "done": None})


def _chosen(asked: Asked) -> dict[str, Any]:
    return {
        "identity": asked.given("id") or asked.query.get("id", ""),
        "subject": asked.given("subject") or asked.query.get("subject", ""),
        "reason": asked.given("reason"),
        "by": asked.given("by"),
    }
