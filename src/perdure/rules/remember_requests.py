"""What a user asks to have remembered, in so many words: "remember that ...", "note: ..."."""

from __future__ import annotations

import re
from typing import Final

from perdure.records.memory import Trust
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import word_set
from perdure.rules.pattern_extraction import NoteCandidate, find_candidates
from perdure.rules.source_trust import is_trusted

PATTERNS: Final = frozenset({"explicit", "important"})
_OPENS: Final = re.compile(r"remember\b|note\s+that\b|(?:important|note|key point):", re.IGNORECASE)
"""Not "save" and "store": to a coding agent those are about files."""
_POLITE: Final = word_set("""
    please also and but so ok okay yes no now then hey well just must always can could would you
    """)
_POINTS: Final = re.compile(r"(?:one|it|this|that|these|those|them)\b[^:]*\Z", re.IGNORECASE)
"""Words that stand for what was said before: "remember that one" asks for the sentence before it."""
_WORD: Final = re.compile(r"[^\W_]+")


def find_requests(text: str, trust: Trust = Trust.USER) -> list[NoteCandidate]:
    """Return what a text asks to have remembered, in its order.

    A request opens its sentence, polite words aside, and is no question: "Do you remember it?" and "I remember that"
    ask for nothing. The confidence is that of the pattern. Only a user may ask: what a tool, a
    web page or the assistant itself says is data.
    """
    if not is_trusted(trust):
        return []
    starts = {start: text[start:end] for start, end in sentences(text)}
    return [c for c in find_candidates(text, most=len(text)) if c.pattern in PATTERNS and _asks(c, starts, text)]


def _asks(candidate: NoteCandidate, starts: dict[int, str], text: str) -> bool:
    begin = max((s for s in starts if s <= candidate.start), default=0)
    before = _WORD.findall(text[begin : candidate.start].lower())
    if starts.get(begin, "").endswith("?") or not _POLITE.issuperset(before):
        return False
    return _OPENS.match(text, candidate.start) is not None and not _POINTS.match(candidate.content)
