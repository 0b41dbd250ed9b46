"""MEMORY.md as it is, and as it would be for each profile."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Final, cast, get_args

from perdure.interfaces.pages.asked import Answer, Asked, Shown
from perdure.verbs.recalling import ProfileName

PROFILES: Final = get_args(ProfileName)
_KINDS: Final = {"delete": ("removed",), "insert": ("added",), "replace": ("removed", "added"), "equal": ("same",)}


def memory_file(asked: Asked) -> Answer:
    """Show MEMORY.md for a profile; of another one than the policy's own, what differs."""
    profile = asked.query.get("profile", "")
    own = asked.memory.digest_details(asked.namespace)
    chosen = profile if profile in PROFILES and profile != own.profile else ""
    made = asked.memory.digest_details(asked.namespace, profile=cast("Any", chosen)) if chosen else own
    values = {
        "digest": made,
        "profiles": PROFILES,
        "chosen": chosen or own.profile,
        "joins": asked.has_model and asked.memory.policy.model.digest,
        "lines": list(compared(own.text, made.text)) if chosen else [],
    }
    return Shown("memory_file", "MEMORY.md", values)


def compared(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of two texts: (``same``, ``removed`` or ``added``, line)."""
    old, new = before.splitlines(), after.splitlines()
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for kind in _KINDS[tag]:
            yield from ((kind, line) for line in (new[c:d] if kind == "added" else old[a:b]))
