"""Finding what is worth remembering in a text."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.markdown import without_markup
from perdure.rules.language.sentences import sentences
from perdure.rules.language.tokens import pieces
from perdure.rules.language.word_forms import PAST, word_forms
from perdure.rules.language.words import query_words, word_set

SHORTEST, LONGEST = 10, 5000  # characters that a candidate's content may have
MOST: Final = 20  # candidates of one text

_PATTERNS: Final[tuple[tuple[str, float, str], ...]] = (
    (r"\b(?:decided|chose|going with|selected|will use)\s+(.+)", 0.8, "decision"),
    (r"\b(?:(?:is|are)\s+(?:an?|the)|means|refers to)\s+(\S.*)", 0.6, "definition"),
    (r"\b(?:important|note|remember|key point):\s*(.+)", 0.9, "important"),
    (r"\bthe (?:fix|solution|approach) (?:is|was)\s+(.+)", 0.85, "solution"),
    (r"\bthe (?:issue|problem|bug) was\s+(.+)", 0.8, "error"),
    (r"\b(?:save|remember|note|store)(?:\s+that)?\s+(.+)", 0.95, "explicit"),
    (r"\b(?:the trick is|the key is|pattern:)\s+(.+)", 0.85, "pattern"),
)
"""Expression, confidence, name. Each is tried once on each sentence and takes its rest: nothing can backtrack far."""
_COMPILED: Final = tuple((lazy_pattern(p, re.IGNORECASE | re.DOTALL), c, name) for p, c, name in _PATTERNS)

_NO_TERM: Final = word_set("""
    this that these those it he she they we you i there here what which who whose how why when where if since because as
    everyone everybody someone something nothing one some many most all so but and or maybe yes no for at in on with by
    to your let
    """)
"""Words that begin no term: what they stand for is said elsewhere, or only part of a sentence follows."""
_CLAUSE_WORDS: Final = word_set("there that which who if it we you i they")
_TERM_WORDS: Final = 6
_PRAISE: Final = lazy_pattern(
    r"\W*(?:(?:an?|the|very|really|such|always|pretty|truly|also|indeed)\s+)*(?:great|good|nice|amazing|awesome|wonderful|fantastic|lovely|"
    r"incredible|beautiful|perfect|excellent|big|huge|real|fun|cool|best|key|must|lot|significant|crucial|vital|valuable|"
    r"everything|world|strong|classic|two-way|simple|easiest|simplest|nothing|proven|wise|smart|reasonable|strategic|commendable|powerful|exciting|way|first|next|blast|joy|blessing|pleasure|most|bit|so)\b",
    re.IGNORECASE,
)
"""What praises tells nothing of what it praises."""
_ASKS_TO_KEEP: Final = lazy_pattern(
    r"\W*(?:(?:please|also|and|but|so|ok|okay|yes|no|now|then|hey|well|just|must|always|can|could|would|you|we|should|need"
    r"|want|like|i|to|me)\W+)*",
    re.IGNORECASE,
)
_RECALLS: Final = lazy_pattern(r"\bi\W*\Z|\bi (?:always|just|can|could|would|also)\W*\Z", re.IGNORECASE)
_DECIDER: Final = lazy_pattern(
    r"\A\W*\Z|\b(?:I|[Ww]e|[Tt]hey|[Hh]e|[Ss]he|team|user|client|customer|[A-Z]\w+)\b(?:\W+\w+){0,4}\W*\Z"
)
"""Before "decided", "chose" and "will use": who did, or nothing."""
_SELECTOR: Final = lazy_pattern(r"\b(?:I|[Ww]e|[Tt]hey|[Hh]e|[Ss]he|team|user|client|customer)\b(?:\W+\w+){0,3}\W*\Z")
"""Before "selected", which is more often an adjective."""
_UNDECIDED: Final = lazy_pattern(r"\b(?:you|if|is|are|be|been|being|the|your|of|from|to)\W*\Z", re.IGNORECASE)
_NOTHING_TO_KEEP: Final = lazy_pattern(r"(?:why|how|when|what|where|who|for)\b", re.IGNORECASE)
_FOR_THE_WRITER: Final = lazy_pattern(r"\b(?:please|for me|my|our)\b", re.IGNORECASE)
"""Says that "save", "store" and "note" ask for it; without it, and without "that", they may be advice."""
_PLACEHOLDER: Final = lazy_pattern(r"\[[A-Za-z][^\]\n]*\s[^\]\n]*\](?!\()")
_QUESTION_FOLLOWS: Final = lazy_pattern(
    r"[,;]?\s{1,9}(?:(?:and|but|so)\s{1,9})?(?:now\s{1,9})?"
    r"(?:(?:can|could|would|will|do) you|i(?:'|\u2019)m (?:wondering|hoping|not sure|curious)"
    r"|i (?:wonder|hope|was wondering))\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""What asks about something is no part of it."""
_TELLS_OF_SELF: Final = lazy_pattern(
    r"(?:I|We|My|Our)\b(?!\W*(?:(?:am|are|m|re)\W+)?(?:hope|understand|guess|wonder|think|feel|look|want|need|see|know"
    r"|don|wanted|just want|sure|confident|eager|excited|really|very|particularly|committed|d"
    r"|ve (?:also )?(?:tried|heard)|tried|heard|ll)\b)"
    r"(?!\W*(?:am|are|m|re|(?:have|ve)(?:\W+also)?\W+been)\W+(?:(?!using)\w+\W+)?(?!using|planning|learning)\w+ing\b)"
)
"""What one says of oneself, feelings, hopes and what goes on at the moment ("I'm debugging") aside."""
_FORMULA: Final = lazy_pattern(
    r"\\[(\[]|\\(?:frac|sum|times|cdot|sqrt|int|infty|geq?|leq?|ldots|binom)\b"
    r"|(?<![\w.`'\"-])[A-Za-z](?:_\w{1,20}|\([\w+-]{1,20}\))?\s?[=≥≤]\s?[\w(\\]|\w\^[({\w\\]"
)
"""Mathematics: an exercise that somebody works on, not what is worth keeping of them."""
_SAID_ELSEWHERE: Final = lazy_pattern(r"(?:to\s+\w+\s+)?(?:it|them|this|these|those|one|you|your)\b", re.IGNORECASE)
"""Begins a decision about something that is said elsewhere."""
_OF_THE_WORK: Final = frozenset({"important", "solution", "error"})
"""Patterns of what an assistant finds out; its definitions it can give again, and it decides nothing for a person."""
_OF_AN_EXERCISE: Final = frozenset({"keywords", "pattern"})  # patterns that sentences about an exercise often have
_TECHNICAL: Final = ("api", "database", "function", "class", "config", "error")
_INDENTED: Final = lazy_pattern(r"^\s{4,}", re.MULTILINE)
_LONG, _SHORT = 10, 5
_KEYWORDS_BASE: Final = 0.5
_SENTENCES_TO_COMPARE: Final = 3


@dataclass(frozen=True, slots=True)
class NoteCandidate:
    """Something that may be worth remembering."""

    content: str  # what would be remembered, 10 to 5,000 characters
    confidence: float  # how likely it is worth it, 0..1
    pattern: str  # why it was found: decision, definition, important, solution, error, explicit, pattern, or keywords
    start: int  # where the match starts in the text, in characters; ``text[start:end]`` holds its words
    end: int  # where it ends


def find_candidates(
    text: str, *, min_confidence: float = 0.5, most: int = MOST, by_assistant: bool = False
) -> list[NoteCandidate]:
    """Return what may be worth remembering, in the order of the text; of overlapping finds the most confident.

    Tier 1 are the seven patterns of memorable sentences, tried sentence by sentence. A definition says what a term is;
    a decision has somebody who decides; a request asks the reader to keep something. What is asked to be kept and what
    follows "note:" is taken alone, of all others the whole sentence, because "to use it twice" cannot be understood by
    itself; the confidence is that of what the pattern takes, of a definition that of its sentence. Tier 2 adds
    sentences without a pattern that say much of what the text is about, hold a number, a date or an identifier, and say
    what somebody is or did: small talk and advice have no such sentence, and one with a formula is of an exercise. Of
    an assistant's words only what it finds out is taken: solutions, errors, and what it calls important.
    Blocks of code are not searched. Time is linear in the text's length. Of more than ``most`` candidates the most
    confident stay, those below ``min_confidence`` (0 to 1) do not.
    """
    spans = [(start, end) for start, end in sentences(text) if not text.startswith("```", start)]
    spans = [(start, end) for start, end in spans if not _PLACEHOLDER.search(text, start, end)]
    found: list[NoteCandidate] = []
    for start, end in spans:
        found += _matches(text[start:end], start)
    found = [c for c in found if c.pattern in _OF_THE_WORK] if by_assistant else [*found, *_dense(text, spans)]
    found = [c for c in found if c.confidence >= min_confidence and (c.pattern != "keywords" or _is_exact(c.content))]
    found = [c for c in found if c.pattern not in _OF_AN_EXERCISE or not _FORMULA.search(c.content)]
    kept = [replace(c, content=without_markup(c.content)) for c in _without_overlaps(found)]
    kept = [c for c in kept if len(c.content) >= SHORTEST]
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
    found = []
    for pattern, base, name in _COMPILED:
        match = pattern.search(sentence)
        if match is None:
            continue
        rest = _QUESTION_FOLLOWS.sub("", match[1]).strip().rstrip(".!").rstrip()
        fits = _defines(sentence, match) if name == "definition" else _is_meant(name, sentence, match, rest)
        scored = sentence if name == "definition" else rest
        if not fits or len(scored) < SHORTEST:
            continue
        whole = name != "explicit" and ":" not in sentence[match.start() : match.start(1)]  # else it is only marked
        content = (sentence[: match.start(1)] + _QUESTION_FOLLOWS.sub("", match[1])).strip() if whole else rest
        start, end = (0, len(sentence)) if whole else match.span()
        if SHORTEST <= len(content) <= LONGEST:
            found.append(NoteCandidate(content, score_content(scored, base), name, offset + start, offset + end))
    return found


def _is_meant(name: str, sentence: str, match: re.Match[str], content: str) -> bool:
    """Return whether somebody decides or asks, and the words are not only about it."""
    if content.endswith("?"):
        return False
    if name == "explicit":
        return _asks_to_keep(sentence, match, content)
    before = sentence[: match.start()]
    going = match[0].lower().startswith("going")
    who = _SELECTOR if match[0].lower().startswith("selected") else _DECIDER
    decides = who.search(before) is not None and "*" not in before and (going or not _UNDECIDED.search(before))
    return name != "decision" or (decides and not _SAID_ELSEWHERE.match(content))


def _defines(sentence: str, match: re.Match[str]) -> bool:
    """Return whether a sentence says what a term is: "X is a Y", "X means Y"; a pronoun is no term."""
    if sentence.rstrip("\"'”’)*").endswith(("?", "!", ":")):  # noqa: RUF001  # typographic quotes are meant
        return False
    term = _term(sentence[: match.start()])
    if (
        not 0 < len(term) <= _TERM_WORDS
        or "\\" in "".join(term)
        or not _CLAUSE_WORDS.isdisjoint(term)
        or term[0] in _NO_TERM
        or term[0].endswith("ing")
    ):
        return False
    return not _PRAISE.match(match[1])


def _term(before: str) -> list[str]:
    """Return the words of what is defined, without its article; none where a clause stands before it."""
    plain = before.strip().lstrip("-*#• ").replace("*", "")
    if any(mark in plain for mark in ",;:?!("):
        return []
    words = plain.lower().split()
    return words[1:] if words and words[0] in {"a", "an", "the"} else words


def _asks_to_keep(sentence: str, match: re.Match[str], content: str) -> bool:
    """Return whether "remember", "save" and the like ask the reader to: "I remember that" does not."""
    before = sentence[: match.start()]
    if not _ASKS_TO_KEEP.fullmatch(before) or _RECALLS.search(before) or sentence.rstrip().endswith("?"):
        return False
    if "*" in sentence or _NOTHING_TO_KEEP.match(content):  # a heading, or what is said nowhere
        return False
    word = match[0].lower().split(maxsplit=2)[1]
    if word == "that" or _FOR_THE_WRITER.search(sentence):
        return True
    return match[0].lower().startswith("remember") and _tells(content)


def _dense(text: str, spans: list[tuple[int, int]]) -> list[NoteCandidate]:
    """Return the sentences with the keywords of the text, by TF-IDF over its own sentences.

    The best has 0.5 before its quality counts, so that with the default bar a sentence needs both. Words that are in
    every sentence tell nothing apart; a text of one or two sentences has no keywords.
    """
    words = [query_words(text[start:end]) for start, end in spans]
    if len(words) < _SENTENCES_TO_COMPARE:
        return []
    frequency = Counter(word for row in words for word in row)
    weight = {w: (1 + math.log(n)) * math.log((1 + len(words)) / n) for w, n in frequency.items()}
    scores = [sum(weight[w] for w in row) / math.sqrt(len(row)) if row else 0.0 for row in words]
    top = max(scores)
    found = []
    for (start, end), score in zip(spans, scores, strict=True):
        content = text[start:end]
        if score > 0 and SHORTEST <= len(content) <= LONGEST and _reports(content):
            confidence = score_content(content, _KEYWORDS_BASE * score / top)
            found.append(NoteCandidate(content, confidence, "keywords", start, end))
    return found


def _reports(sentence: str) -> bool:
    """Return whether a sentence says what somebody is or did: not advice, a heading or a question."""
    if sentence.endswith(("?", ":")):
        return False
    if _TELLS_OF_SELF.match(sentence):
        return True
    found = [p for p in pieces(sentence) if p.said]
    return (
        len(found) > 1
        and found[0].text[0].isupper()
        and found[0].said[0][1] not in _NO_TERM
        and not sentence.startswith(("-", "*", "#"))
        and any(form.endswith(PAST) for form in word_forms(found[1].said[0][1]))
    )


def _tells(content: str) -> bool:
    """Return whether a text holds a name, a number, a date or an identifier."""
    return _is_exact(content) or any(p.kind == "name" for p in pieces(content))


def _is_exact(content: str) -> bool:
    return any(p.kind in {"code", "date"} or (p.kind == "number" and p.text[-1].isdigit()) for p in pieces(content))


def _without_overlaps(found: list[NoteCandidate]) -> list[NoteCandidate]:
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
