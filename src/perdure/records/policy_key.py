"""How a policy key is declared: its default, what it means, its bounds or choices, and whether it is protected.

A policy file that merely lies in the working folder (a cloned repository's, for example) may set what is declared with
``harmless_key``, and everything else only where the user trusts it. ``docs/decisions/0022-trust.md`` has more.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

Path = Literal["", "file", "folder", "output"]


def store_key(
    default: Any, text: str, low: float | None = None, high: float | None = None, choices: tuple[str, ...] = ()
) -> Any:
    """Declare a key that decides only about what is within the store, where ``undo`` can take it back.

    Some value of it, or one nobody has thought of, may hide memories, make them fade sooner or refuse new ones.
    """
    return _declare_key(default, text, low, high, choices, protected=False)


def harmless_key(default: Any, text: str, choices: tuple[str, ...] = ()) -> Any:
    """Declare a key with no value that hides a memory, makes one fade sooner, or has less of one stored or shown."""
    return _declare_key(default, text, None, None, choices, protected=False, harmless=True)


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
    harmless: bool = False,
    path: Path = "",
) -> Any:
    trust = {"protected": protected, "harmless": harmless}
    metadata = {"help": text, "low": low, "high": high, "choices": choices, **trust, "path": path}
    return field(default=default, metadata=metadata)
