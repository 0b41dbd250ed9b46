"""Whose word a text is, how that is written down, and how texts of others are shown: as quotes, never as instructions.

May live here: trust by role and source, and the words around what is quoted. May not: choosing what is shown.

A memory's trust stands in its metadata under ``trust``, and only where it is not a user's: so it goes along with
copies, exports and backups. Whoever stores a memory vouches for it: ``remember`` is a user's word unless its metadata,
its source or its words say otherwise (``source="https://..."``, ``"tool:..."``, ``"web:..."``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

from perdure.knowledge.records.facts import Trust

KEY: Final = "trust"
"""The key of metadata; its value is one of Trust, and anything else there is the caller's own."""

_ORDER: Final = (Trust.AUTHORITY, Trust.USER, Trust.ASSISTANT, Trust.EXTERNAL)
_ROLES: Final = {
    **dict.fromkeys(("user", "human", "customer", "person", "me"), Trust.USER),
    **dict.fromkeys(("assistant", "ai", "bot", "model", "agent"), Trust.ASSISTANT),
    "authority": Trust.AUTHORITY,
}
_TOOLS: Final = frozenset({"tool", "function", "tool_result", "tool_use", "mcp", "system", "developer"})
_ELSEWHERE: Final = re.compile(r"(?i)(?:https?|ftp|tool|web|mcp|file|mail|rss):")
_BY_SOURCE: Final = {"assistant": Trust.ASSISTANT, "tool": Trust.EXTERNAL, "web": Trust.EXTERNAL}

_ESCAPE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])|\x9b[0-?]*[ -/]*[@-~]"
)
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f\x80-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]|(?<=\ufe0f)\ufe0f+"
)
_MARKER: Final = re.compile(r"(?i)perdure[\W_]{0,3}memories")
_HARMLESS: Final = "perdure_memories"
"""What stands where a memory's own words would open or close a block."""
_RULES: Final = (
    r"(?:previous|prior|above|earlier|preceding|former|system)\s+(?:instructions?|prompts?|rules|directives?|commands?)"
)
_TAKEN_OVER: Final = re.compile(
    r"(?i)\b(?:ignor(?:e|ing)|disregard|forget|overrid(?:e|ing)|bypass)\s+"
    rf"(?:(?:all|any|every|of|the|your|my|our|these|those|its)\s+){{0,4}}{_RULES}\b"
    rf"|\b{_RULES}\s+(?:\w+\s+){{1,4}}?(?:ignored|disregarded|forgotten|overridden)\b"
)
"""What nobody wants remembered for an agent, whoever passes it on: it is kept as a stranger's words."""
_BREAKS: Final = str.maketrans({"<": "\u2039", ">": "\u203a", '"': "'", "`": "'"})


def trust_of(role: str | None, source: str | None = None) -> Trust:
    """Return whose word a message is.

    Args:
        role: user, assistant, or another; a role that is not known is a tool's or a stranger's.
        source: Where it comes from; a web address and ``tool:...`` are others' words whoever passes them on.
    """
    said = _ROLES.get(str(role or "user").strip().lower(), Trust.EXTERNAL)
    place = str(source or "").strip()
    found = Trust.EXTERNAL if _ELSEWHERE.match(place) else _BY_SOURCE.get(place.lower(), said)
    return least((said, found))


def takes_over(text: str) -> bool:
    """Whether a text tells its reader to ignore what it was told before. Linear in its length."""
    return _TAKEN_OVER.search(visible(text)) is not None


def least(trusts: Iterable[Trust]) -> Trust:
    """Return the lowest trust, which what is derived from several inherits; a user's if there are none."""
    return max(trusts, key=_ORDER.index, default=Trust.USER)


def trust_in(metadata: Mapping[str, Any]) -> Trust:
    """Return the trust that a memory's metadata tells; a user's if it tells none."""
    told = metadata.get(KEY)
    return Trust(told) if isinstance(told, str) and told in set(Trust) else Trust.USER


def with_trust(metadata: Mapping[str, Any], trust: Trust) -> dict[str, Any]:
    """Return metadata that tell a trust: under ``trust`` where it is not a user's, else without such a mark."""
    made = dict(metadata)
    if trust is not Trust.USER:
        made[KEY] = trust.value
    elif made.get(KEY) in set(Trust):
        del made[KEY]
    return made


def trusted(trust: Trust) -> bool:
    """Whether it is a user's word or surer: may ask for something, and needs no quotes."""
    return _ORDER.index(trust) <= _ORDER.index(Trust.USER)


def shown(text: str, metadata: Mapping[str, Any], speaker: str | None, longest: int) -> str:
    """Return a memory's words on one line, as an agent is shown them; quoted and marked where they are not a user's.

    Nothing in it can end the line, the quote, the comment or the block that it stands in, nor hide from a reader.

    Args:
        text: The memory's words.
        metadata: The memory's; its trust is in it.
        speaker: Who said it, where that stands before the line, else None.
        longest: Characters of the words; longer ones are cut.
    """
    words = " ".join(visible(text).split()) or "…"  # nothing in it can be seen
    if len(words) > longest:
        words = words[: longest - 1].rstrip() + "…"
    trust = trust_in(metadata)
    if trusted(trust):
        return words
    return f'{_mark(trust, speaker)}"{words.translate(_BREAKS).replace("](", "] (")}"'


def visible(text: str) -> str:
    """Return a text without what a reader does not see, such as control characters, and without the block's marks."""
    seen = _UNSEEN.sub("", _ESCAPE.sub("", text))
    if seen.isascii():
        return _MARKER.sub(_HARMLESS, seen)
    folded = unicodedata.normalize("NFKC", seen)
    return _MARKER.sub(_HARMLESS, folded if _MARKER.search(folded) else seen)


def _mark(trust: Trust, speaker: str | None) -> str:
    if trust is Trust.ASSISTANT:
        return "" if _ROLES.get((speaker or "").lower()) is Trust.ASSISTANT else "[from the assistant] "
    return "[from a tool] " if (speaker or "").lower() in _TOOLS else "[from outside] "
