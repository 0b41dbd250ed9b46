"""Mentions: where a text names somebody or something."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.knowledge.extraction.entity_names import ARTICLES, LEGAL, name_words, normal_name, word_form
from perdure.knowledge.languages import WORDS
from perdure.rules.language.tokens import Piece, pieces
from perdure.rules.language.words import (
    CALENDAR,
    MODALS,
    NEGATIONS,
    NUMBER_WORDS,
    PEOPLE,
    STOP_WORDS,
    TURNING,
    word_set,
)

_MOST_WORDS: Final = 8
_LONGEST_UNSPACED: Final = 12
_GAP: Final = re.compile(r"\s{0,3}|[-_/.:–]|\s?&\s?")  # noqa: RUF001  # the dash is meant
_ENDING: Final = re.compile(r"['’](?:s|ll|d|ve|re|m|t)?$", re.IGNORECASE)  # noqa: RUF001  # the typographic one too
_RECORD: Final = re.compile(r"[A-Z][A-Z0-9]{0,9}(?:[-_/]\d+)+[A-Z]?|[A-Z]{2,6}\d{3,}")
"""An id of a record: SO-1001, INV-2026-0017."""
_ADDRESS: Final = re.compile(r"[\\/@]")  # a URL, a path or a mail address: what stands in it names nobody
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Scripts that put no spaces between words."""
PLAIN: Final = STOP_WORDS | MODALS | NEGATIONS | CALENDAR | TURNING | frozenset(NUMBER_WORDS)
"""Words that are names only with a capital that no sentence's beginning explains: Will, May."""
_AFTER_VERBS: Final = PEOPLE | ARTICLES | word_set("it its this that these those there my your his her our their")
"""What follows "Will" or "May" where that begins a question."""
_RECURRING: Final = frozenset(f"{day}s" for day in CALENDAR if day.endswith("day"))  # days that come again: on Fridays
_HEADING: Final = 5
_SHOUTED: Final = 0.7
_TITLED: Final = 0.9


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text that names something."""

    start: int  # first character
    end: int  # one past the last; a possessive ending is left out
    quote: str  # ``text[start:end]``
    name: str  # the normal form
    known: bool = False  # it is a known name; else it looks like one


def mentions(text: str, known: Container[str] = ()) -> list[Mention]:
    """Return what a text names, in order; no two overlap. Linear in the text's length, whatever is known.

    Found are known names in any case, the longest that begins at a place; sequences of capitalised words that no
    sentence's beginning explains (``Bank of China``); and ids of records (``SO-1001``). Where they overlap the longer
    is meant: ``Gai Media Ltd`` rather than the known ``Gai Media``; it is for ``Names.resolve`` to see that they are
    alike. A capital at a sentence's beginning makes no name unless another capital follows or it comes again. ``known``
    are normal forms.
    """
    cut = pieces(text)
    first = _beginnings(cut)
    found = [*_known_names(text, known, first), *_proper(text, cut, first, known), *_records(cut)]
    taken = bytearray(len(text))
    for start, end in _addresses(cut):
        taken[start:end] = b"\x01" * (end - start)
    kept = []
    for start, end, is_known in sorted(found, key=lambda span: (span[0] - span[1], not span[2], span[0])):
        name = normal_name(text[start:end])
        if name and not any(taken[start:end]):
            taken[start:end] = b"\x01" * (end - start)
            kept.append(Mention(start, end, text[start:end], name, known=is_known or name in known))
    return sorted(kept, key=lambda mention: mention.start)


def names_by_capital(text: str, plain: Container[str]) -> bool:
    """Return whether a word of the language is written as a name anywhere: "Will came", not "Will you come?".

    ``mentions`` leaves it out at a sentence's beginning and where it is of the calendar: there it mostly is none.
    """
    spans = name_words(text)
    words, first = [word_form(text[a:b]) for a, b in spans], _beginnings(pieces(text))
    asked = {a for (a, _), after in zip(spans, words[1:], strict=False) if a in first and after in _AFTER_VERBS}
    return any(w in plain and text[a].isupper() and a not in asked for w, (a, _) in zip(words, spans, strict=True))


def without_addresses(text: str) -> str:
    """Return a text with commas where its addresses stand: they name nobody."""
    parts, at = [], 0
    for start, end in _addresses(pieces(text)):
        parts += [text[at:start], " , "]
        at = end
    return "".join((*parts, text[at:]))


def _addresses(cut: Sequence[Piece]) -> list[tuple[int, int]]:
    return [(piece.start, piece.end) for piece in cut if piece.kind == "code" and _ADDRESS.search(piece.text)]


Spans = Iterator[tuple[int, int, bool]]


def _trim(text: str, start: int, end: int) -> int:
    """Return where a name ends that a possessive or a short verb may follow."""
    ending = _ENDING.search(text, max(start, end - 4), end)
    return ending.start() if ending and ending.start() > start else end


def _beginnings(cut: Sequence[Piece]) -> frozenset[int]:
    seen: dict[int, int] = {}
    for piece in cut:
        if piece.said:
            seen.setdefault(piece.sentence, piece.start)
    return frozenset(seen.values())


# --- known names


def _known_names(text: str, known: Container[str], first: Container[int]) -> Spans:
    spans = name_words(text)
    forms = [word_form(text[a:b]) for a, b in spans]
    at = 0
    while at < len(spans):
        many = _longest(text, spans, forms, at, known)
        if many == 1 and forms[at] in PLAIN:  # "will" is Will only as a name is written
            many = int(text[spans[at][0]].isupper() and spans[at][0] not in first and forms[at] not in CALENDAR)
        if many:
            start = spans[at][0]
            yield start, _trim(text, start, spans[at + many - 1][1]), True
        else:
            yield from _unspaced_names(text, *spans[at], known)
        at += max(many, 1)


def _longest(text: str, spans: Sequence[tuple[int, int]], forms: Sequence[str], at: int, known: Container[str]) -> int:
    """Return of how many words the longest known name is that begins with a word; 0 for none."""
    joined, longest = forms[at], 0
    for many in range(1, _MOST_WORDS + 1):
        if joined in known:
            longest = many
        after = at + many
        if after >= len(spans):
            break
        gap = text[spans[after - 1][1] : spans[after][0]]
        if not (_GAP.fullmatch(gap) or (forms[after] in LEGAL and gap == ", ")):
            break
        joined = f"{joined} {forms[after]}"
    return longest


def _unspaced_names(text: str, start: int, end: int, known: Container[str]) -> Spans:
    """Find known names inside a run of a script without spaces."""
    if not _UNSPACED.search(text, start, end):
        return
    run = text[start:end]
    folded = unicodedata.normalize("NFKC", run).casefold()
    if len(folded) != len(run):  # places would shift
        return
    at = start
    while at < end - 1:
        lengths = range(min(_LONGEST_UNSPACED, end - at), 1, -1)
        length = next((n for n in lengths if folded[at - start : at - start + n] in known), 0)
        if length:
            yield at, at + length, True
        at += max(length, 1)


# --- what looks like a name


def _records(cut: Sequence[Piece]) -> Spans:
    for piece in cut:
        if piece.kind == "code" and _RECORD.fullmatch(piece.text):
            yield piece.start, piece.end, False


def _proper(text: str, cut: Sequence[Piece], first: Container[int], known: Container[str]) -> Spans:
    loud = _loud(cut)
    at = 0
    while at < len(cut):
        if cut[at].sentence in loud or not _begins(text, cut, at, first, known):
            at += 1
            continue
        last = at
        while (more := _goes_on(text, cut, last)) is not None:
            last = more
        start, end = cut[at].start, _trim(text, cut[at].start, cut[last].end)
        if last > at or not _no_name(cut[at], first):
            yield start, end, False
        at = last + 1


def _loud(cut: Sequence[Piece]) -> frozenset[int]:
    """Return the sentences in which capitals say nothing: headings, and what is shouted."""
    counts: dict[int, list[int]] = {}
    for piece in cut:
        if len(piece.text) > 1 and piece.text[0].isalpha() and piece.kind != "code":
            count = counts.setdefault(piece.sentence, [0, 0, 0])
            count[0] += 1
            count[1] += piece.text.isupper()
            count[2] += piece.text[0].isupper()
    return frozenset(
        sentence
        for sentence, (total, upper, capital) in counts.items()
        if (upper > _SHOUTED * total and total > 2)  # noqa: PLR2004  # "IBM and HP" may
        or (capital >= _TITLED * total and total >= _HEADING)
    )


def _begins(text: str, cut: Sequence[Piece], at: int, first: Container[int], known: Container[str]) -> bool:
    """Whether a name may begin with a piece: it is a name, or begins a sentence and a name follows it at once."""
    piece = cut[at]
    if piece.kind == "name":
        return not (piece.text.casefold() in WORDS["openers"] and piece.start in first)
    if piece.kind != "word" or not piece.text[0].isupper() or piece.start not in first:
        return False
    if at > 1 and cut[at - 1].text == "." and cut[at - 2].text.casefold() in WORDS["titles"]:
        return True  # "Dr. Smith": no sentence ends there
    lower = piece.text.casefold()
    if lower in WORDS["openers"] or lower in STOP_WORDS or _ENDING.search(piece.text):
        return False
    after = _goes_on(text, cut, at)
    if after is None:
        return lower not in CALENDAR and _is_paired(cut, at)
    return normal_name(cut[after].text) not in known


def _is_paired(cut: Sequence[Piece], at: int) -> bool:
    """Whether "and" and a name follow: in "Northwind and Contoso are clients" both are names."""
    follows = cut[at + 1 : at + 3]
    if len(follows) < 2 or any(piece.sentence != cut[at].sentence for piece in follows):  # noqa: PLR2004
        return False
    return follows[0].text == "and" and follows[1].kind == "name" and normal_name(follows[1].text) not in CALENDAR


def _goes_on(text: str, cut: Sequence[Piece], at: int) -> int | None:
    """Return which piece goes on with a name: the next, or the one after what links them."""
    if _ENDING.search(cut[at].text):
        return None
    for step in (1, 2):
        if at + step >= len(cut) or cut[at + step].sentence != cut[at].sentence:
            return None
        piece = cut[at + step]
        gap = text[cut[at + step - 1].end : piece.start]
        if gap.strip(" ") or len(gap) > 2:  # noqa: PLR2004  # words side by side
            return None
        if step > 1 and cut[at + 1].text == "&" and not gap and piece.text.isupper():
            return at + step  # AT&T
        if piece.kind == "name" and (step == 1 or _links(cut[at + 1], piece, gap)):
            return at + step
    return None


def _links(link: Piece, piece: Piece, gap: str) -> bool:
    if link.text == "-":
        return not gap
    return link.text in WORDS["name_links"] or (link.text == "," and piece.text.casefold() in LEGAL)


def _no_name(piece: Piece, first: Container[int]) -> bool:
    """Whether a capitalised word by itself is no name."""
    lower = normal_name(piece.text)
    if lower in _RECURRING:
        return True
    return (
        len(lower) == 1
        or lower in WORDS["spelt"]
        or lower in WORDS["titles"]
        or (lower in WORDS["openers"] and piece.start in first)
    )
