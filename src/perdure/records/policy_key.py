"""How a policy key is declared: its default, what it means, its bounds or choices, and whether it is protected.

A key is declared with ``store_key`` or ``protected_key``; which of the two says whether a policy file that merely lies
in the working folder (a cloned repository's, for example) may set it. ``docs/decisions/0022-trust.md`` has more.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

Path = Literal["", "file", "folder", "output"]


def store_key(
    default: Any, text: str, low: float | None = None, high: float | None = None, choices: tuple[str, ...] = ()
) -> Any:
    """Declare a key that decides only about what is within the store, where ``undo`` can take it back."""
    return _declare_key(default, text, low, high, choices, protected=False)


def protected_key(
    default: Any,
    text: str,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    *,
    path: Path = "",
) -> Any:
    """Declare a key that sends, reads or writes something outside the store, or that can weaken a protection.

    ``path`` says what it names, if anything: a file, whose content is trusted with the policy's, a folder, or a file
    that is written. A
    relative one starts at the policy file's folder.
    """
    return _declare_key(default, text, low, high, choices, protected=True, path=path)


def _declare_key(
    default: Any,
    text: str,
    low: float | None,
    high: float | None,
    choices: tuple[str, ...],
    *,
    protected: bool,
    path: Path = "",
) -> Any:
    metadata = {"help": text, "low": low, "high": high, "choices": choices, "protected": protected, "path": path}
    return field(default=default, metadata=metadata)
