"""Whose word a text is, how that is written down, and how texts of others are shown: as quotes, not instructions.

A memory's trust stands in its metadata under ``trust``, and only where it is not a user's: so it goes along with
copies, exports and backups. Whoever stores a memory vouches for it: ``remember`` is a user's word unless its metadata,
its source or its words say otherwise (``source="https://..."``, ``"tool:..."``, ``"web:..."``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from perdure.records.errors import InvalidInput
from perdure.records.memory import Trust
from perdure.rules.escaping import cut, one_line, quoted_line, remove_invisible
from perdure.rules.validation.values import optional_text

KEY: Final = "trust"  # the key of metadata; its value is one of Trust, and anything else there is the caller's own

_ORDER: Final = (Trust.AUTHORITY, Trust.USER, Trust.ASSISTANT, Trust.EXTERNAL)
_ROLES: Final = {
    **dict.fromkeys(("user", "human", "customer", "person", "me"), Trust.USER),
    **dict.fromkeys(("assistant", "ai", "bot", "model", "agent"), Trust.ASSISTANT),
    "authority": Trust.AUTHORITY,
}
_TOOLS: Final = frozenset({"tool", "function", "tool_result", "tool_use", "mcp", "system", "developer"})
_ELSEWHERE: Final = re.compile(r"(?i)(?:https?|ftp|tool|web|mcp|file|mail|rss):")
_BY_SOURCE: Final = {"assistant": Trust.ASSISTANT, "tool": Trust.EXTERNAL, "web": Trust.EXTERNAL}

_RULES: Final = (
    r"(?:previous|prior|above|earlier|preceding|former|system)\s+(?:instructions?|prompts?|rules|directives?|commands?)"
)
_TAKEN_OVER: Final = re.compile(
    r"(?i)\b(?:ignor(?:e|ing)|disregard|forget|overrid(?:e|ing)|bypass)\s+"
    rf"(?:(?:all|any|every|of|the|your|my|our|these|those|its)\s+){{0,4}}{_RULES}\b"
    rf"|\b{_RULES}\s+(?:\w+\s+){{1,4}}?(?:ignored|disregarded|forgotten|overridden)\b"
)
"""What nobody wants remembered for an agent, whoever passes it on: it is kept as a stranger's words."""

_STEMS: Final = ("ignor", "disregard", "forg", "overrid", "bypass")  # one of them stands in each of those


def trust_of(role: str | None, source: str | None = None) -> Trust:
    """Return whose word a message is.

    A role that is not known is a tool's or a stranger's. A web address and ``tool:...`` are others' words whoever
    passes them on.
    """
    by_role = _ROLES.get(str(role or "user").strip().lower(), Trust.EXTERNAL)
    place = str(source or "").strip()
    found = Trust.EXTERNAL if _ELSEWHERE.match(place) else _BY_SOURCE.get(place.lower(), by_role)
    return least_trust((by_role, found))


def is_person(role: str) -> bool:
    """Return whether a role is a person's: not an assistant's, a tool's or the system's."""
    name = role.strip().lower()
    return _ROLES.get(name) is not Trust.ASSISTANT and name not in _TOOLS


def speaker_of(role: str, speaker: Any, name: Any) -> Any:
    """Return who said a message: its speaker, else the ``name`` that chat formats give a person.

    The name of a tool or an assistant is none: it must not be taken for a person's. Nor is the word of such a role, or
    what no store can hold: a label that nobody gave as the speaker must not keep a conversation out.
    """
    if speaker is not None or not is_person(role):
        return speaker
    try:
        found = optional_text(name, "name")
    except InvalidInput:
        return None
    return found if found is None or is_person(found) else None


def takes_over(text: str) -> bool:
    """Whether a text tells its reader to ignore what it was told before. Linear in its length."""
    if text.isascii() and text.isprintable() and not _has_stem(text):  # mostly: what is invisible parts no stem there
        return False
    visible = remove_invisible(text)
    return (_has_stem(visible) or not visible.isascii()) and _TAKEN_OVER.search(visible) is not None


def _has_stem(text: str) -> bool:
    lower = text.lower()
    return any([stem in lower for stem in _STEMS])  # noqa: C419  # a list of five is made in half the time


def least_trust(trusts: Iterable[Trust]) -> Trust:
    """Return the lowest trust, which what is derived from several inherits; a user's if there are none."""
    return max(trusts, key=_ORDER.index, default=Trust.USER)


def stored_trust(metadata: Mapping[str, Any]) -> Trust:
    """Return the trust that a memory's metadata tells; a user's if it tells none."""
    value = metadata.get(KEY)
    return Trust(value) if isinstance(value, str) and value in set(Trust) else Trust.USER


def with_trust(metadata: Mapping[str, Any], trust: Trust) -> dict[str, Any]:
    """Return metadata that tell a trust: under ``trust`` where it is not a user's, else without such a mark."""
    labelled = dict(metadata)
    if trust is not Trust.USER:
        labelled[KEY] = trust.value
    elif labelled.get(KEY) in set(Trust):
        del labelled[KEY]
    return labelled


def is_trusted(trust: Trust) -> bool:
    """Whether it is a user's word or surer: may ask for something, and needs no quotes."""
    return _ORDER.index(trust) <= _ORDER.index(Trust.USER)


def display_text(text: str, metadata: Mapping[str, Any], speaker: str | None, longest: int) -> str:
    """Return a memory's words on one line, as an agent is shown them; quoted and marked where they are not a user's.

    Nothing in it can end the line, the quote, the comment or the block that it stands in, nor hide from a reader.
    ``speaker`` is who said it, where that stands before the line; more than ``longest`` characters of its words are
    cut.
    """
    trust = stored_trust(metadata)
    if is_trusted(trust):
        return cut(one_line(text), longest)
    return _mark(trust, speaker) + quoted_line(text, longest)


def _mark(trust: Trust, speaker: str | None) -> str:
    if trust is Trust.ASSISTANT:
        return "" if _ROLES.get((speaker or "").lower()) is Trust.ASSISTANT else "[from the assistant] "
    return "[from a tool] " if (speaker or "").lower() in _TOOLS else "[from outside] "
