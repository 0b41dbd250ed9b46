"""Finding what is worth remembering in a text."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from perdure.rules.language.sentences import sentences
from perdure.rules.language.tokens import pieces
from perdure.rules.language.words import query_words

SHORTEST, LONGEST = 10, 5000
"""Characters that a candidate's content may have."""
MOST: Final = 20
"""Candidates of one text."""

_PATTERNS: Final[tuple[tuple[str, float, str], ...]] = (
    (r"\b(?:decided|chose|going with|selected|will use)\s+(.+)", 0.8, "decision"),
    (r"\S\s(?:is|are|means|refers to)\s+(\S.*)", 0.6, "definition"),
    (r"\b(?:important|note|remember|key point):\s*(.+)", 0.9, "important"),
    (r"\bthe (?:fix|solution|approach) (?:is|was)\s+(.+)", 0.85, "solution"),
    (r"\bthe (?:issue|problem|bug) was\s+(.+)", 0.8, "error"),
    (r"\b(?:save|remember|note|store)(?:\s+that)?\s+(.+)", 0.95, "explicit"),
    (r"\b(?:the trick is|the key is|pattern:)\s+(.+)", 0.85, "pattern"),
)
"""Expression, confidence, name. Each is tried once on each sentence and takes its rest: nothing can backtrack far."""
_COMPILED: Final = tuple((re.compile(p, re.IGNORECASE | re.DOTALL), c, name) for p, c, name in _PATTERNS)

_TECHNICAL: Final = ("api", "database", "function", "class", "config", "error")
_INDENTED: Final = re.compile(r"^\s{4,}", re.MULTILINE)
_LONG, _SHORT = 10, 5
_KEYWORDS_BASE: Final = 0.5
_SENTENCES_TO_COMPARE: Final = 3


@dataclass(frozen=True, slots=True)
class NoteCandidate:
    """Something that may be worth remembering."""

    content: str  # what would be remembered, 10 to 5,000 characters
    confidence: float  # how likely it is worth it, 0..1
    pattern: str  # why it was found: decision, definition, important, solution, error, explicit, pattern, or keywords
    start: int  # where the match starts in the text, in characters; ``text[start:end]`` holds the content
    end: int  # where it ends


def find_candidates(text: str, *, min_confidence: float = 0.5, most: int = MOST) -> list[NoteCandidate]:
    """Return what may be worth remembering, in the order of the text; of overlapping finds the most confident.

    Tier 1 are the seven patterns of memorable sentences, tried sentence by sentence; a definition keeps its whole
    sentence, and a question defines nothing. Tier 2 adds sentences without a pattern that say much of what the text is
    about and hold a name, a number, a date or an identifier: without that, the keywords of small talk are small talk.
    Blocks of code are not searched. Time is linear in the text's length. Of more than ``most`` candidates the most
    confident stay, those below ``min_confidence`` (0 to 1) do not.
    """
    spans = [(start, end) for start, end in sentences(text) if not text.startswith("```", start)]
    found: list[NoteCandidate] = []
    for start, end in spans:
        found += _matches(text[start:end], start)
    found += _dense(text, spans)
    found = [c for c in found if c.confidence >= min_confidence and (c.pattern != "keywords" or _names_something(c))]
    kept = _apart(found)
    best = sorted(kept, key=lambda c: (-c.confidence, c.start))[: max(0, most)]
    return sorted(best, key=lambda c: c.start)


def score_content(content: str, base: float) -> float:
    """Return a confidence adjusted by the content's quality, 0..1.

    Ten words or more +0.1, fewer than five -0.1; a technical term +0.05; code +0.1.
    """
    score = base
    words = len(content.split())
    if words >= _LONG:
        score += 0.1
    elif words < _SHORT:
        score -= 0.1
    lower = content.lower()
    if any(term in lower for term in _TECHNICAL):
        score += 0.05
    if "```" in content or _INDENTED.search(content):
        score += 0.1
    return min(1.0, max(0.0, score))


def _matches(sentence: str, offset: int) -> list[NoteCandidate]:
    """Return what the patterns find in one sentence."""
    found = []
    for pattern, base, name in _COMPILED:
        match = pattern.search(sentence)
        if match is None:
            continue
        start, end = match.span()
        if name == "definition":
            if sentence.endswith("?"):
                continue
            content, start, end = sentence, 0, len(sentence)
        else:
            content = match[1].strip().rstrip(".!").rstrip()
        if SHORTEST <= len(content) <= LONGEST:
            found.append(NoteCandidate(content, score_content(content, base), name, offset + start, offset + end))
    return found


def _dense(text: str, spans: list[tuple[int, int]]) -> list[NoteCandidate]:
    """Return the sentences with the keywords of the text, by TF-IDF over its own sentences.

    The best has 0.5 before its quality counts, so that with the default bar a sentence needs both. Words that are in
    every sentence tell nothing apart; a text of one or two sentences has no keywords.
    """
    words = [query_words(text[start:end]) for start, end in spans]
    if len(words) < _SENTENCES_TO_COMPARE:
        return []
    frequency = Counter(word for said in words for word in said)
    weight = {w: (1 + math.log(n)) * math.log((1 + len(words)) / n) for w, n in frequency.items()}
    scores = [sum(weight[w] for w in said) / math.sqrt(len(said)) if said else 0.0 for said in words]
    top = max(scores)
    found = []
    for (start, end), score in zip(spans, scores, strict=True):
        content = text[start:end]
        if score > 0 and SHORTEST <= len(content) <= LONGEST and not content.endswith("?"):
            confidence = score_content(content, _KEYWORDS_BASE * score / top)
            found.append(NoteCandidate(content, confidence, "keywords", start, end))
    return found


def _names_something(candidate: NoteCandidate) -> bool:
    return any(
        p.kind in {"code", "name", "date"} or (p.kind == "number" and p.text[-1].isdigit())
        for p in pieces(candidate.content)
    )


def _apart(found: list[NoteCandidate]) -> list[NoteCandidate]:
    """Return the finds that do not overlap: of those that do, the most confident, then the one found by a pattern.

    Finds overlap only within a sentence, so each is compared with the few that begin near it.
    """
    kept: list[NoteCandidate] = []
    for one in sorted(found, key=lambda c: (c.start, c.end)):
        before = kept[-1] if kept else None
        if before is None or one.start >= before.end:
            kept.append(one)
        elif _rank(one) > _rank(before):
            while kept and kept[-1].end > one.start:
                kept.pop()
            kept.append(one)
    return kept


def _rank(candidate: NoteCandidate) -> tuple[float, bool, int]:
    return (candidate.confidence, candidate.pattern != "keywords", candidate.end - candidate.start)
