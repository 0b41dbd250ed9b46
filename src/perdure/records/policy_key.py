"""How a policy key is declared: its default, what it means, and its bounds or choices."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def key(
    default: Any, text: str, low: float | None = None, high: float | None = None, choices: tuple[str, ...] = ()
) -> Any:
    """Declare one policy key: its default, what it means, and its bounds or choices."""
    return field(default=default, metadata={"help": text, "low": low, "high": high, "choices": choices})
