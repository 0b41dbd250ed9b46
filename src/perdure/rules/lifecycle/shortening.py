"""Shorter forms of a text, by rule and without a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.sentences import sentences
from perdure.rules.language.tokens import Piece, count_tokens, pieces
from perdure.rules.language.words import STOP_WORDS, TURNING, word_set
from perdure.rules.language.worth_words import SMALL_TALK

SUMMARY_TOKENS, KEYWORDS_TOKENS = 150, 20  # tokens of a summary and of keywords, if nobody says otherwise

_QUOTED: Final = lazy_pattern(r"\"[^\"\n]{1,500}\"|“[^”\n]{1,500}”|«[^»\n]{1,500}»")
_TURNS: Final = TURNING | word_set("before after since while against off down under over above below between from")
_ENDS: Final = frozenset(".!?…。！？")  # noqa: RUF001  # the full-width marks are meant
_SPACELESS: Final = lazy_pattern(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_MOSTLY: Final = 0.3
_POLITE: Final = frozenset(word for words in SMALL_TALK.values() for word in words.split())


def summarize(text: str, tokens: int = SUMMARY_TOKENS) -> str:
    """Return the telegraphic text; where that has more than so many tokens, its best sentences."""
    short = drop_stop_words(text)
    return short if count_tokens(short) <= tokens else extract_sentences(short, tokens)


@lru_cache(maxsize=4)  # the summary and the keywords of one text both ask for it
def drop_stop_words(text: str) -> str:
    """Return the text without its stop words, in its own order.

    Stay: negations, modals, numbers, dates, names, identifiers, words that turn a sentence ("if", "all", "before"),
    question marks, and whatever stands in quotes or between fences. Languages without spaces keep their text. A text of
    nothing but stop words stays as it is. On 2,960 messages of LoCoMo 0.58 of the tokens stay (0.59 by WordPiece).
    """
    if _is_spaceless(text):
        return text.strip()
    parts: list[str] = []
    end, sentence = 0, -1
    for group, speaks in _groups(text):
        start = group[0].start
        if speaks:
            gap = text[end:start] if parts else ""
            parts += ["\n" if "\n" in gap else " " if gap else "", text[start : group[-1].end]]
            end, sentence = group[-1].end, group[-1].sentence
        elif parts and group[0].sentence == sentence:
            parts[-1] = parts[-1].rstrip(",;:") or parts[-1]
            stop = "".join(p.text for p in group if p.text[0] in _ENDS)
            parts[-1] += stop
            sentence = -1 if stop else sentence
    return "".join(parts) or text.strip()


def _groups(text: str) -> Iterator[tuple[list[Piece], bool]]:
    """Yield the runs of pieces without white space between them, with whether a reader would miss them.

    A run stays or goes as a whole: what is left is cut into the same pieces as before.
    """
    quoted = [m.span() for m in _QUOTED.finditer(text)]
    at = 0
    group: list[Piece] = []
    speaks = False
    for piece in pieces(text):
        if group and piece.start > group[-1].end:
            yield group, speaks
            group, speaks = [], False
        while at < len(quoted) and quoted[at][1] <= piece.start:
            at += 1
        group.append(piece)
        speaks = speaks or _speaks(piece) or (at < len(quoted) and quoted[at][0] <= piece.start)
    if group:
        yield group, speaks


def _speaks(piece: Piece) -> bool:
    if piece.kind != "word":
        return piece.kind != "mark"
    return any(value in _TURNS or (value not in STOP_WORDS and value != "'s") for _, value in piece.said)


def _is_spaceless(text: str) -> bool:
    found = len(_SPACELESS.findall(text))
    return found > 0 and found >= _MOSTLY * sum(c.isalpha() for c in text)


def extract_sentences(text: str, tokens: int) -> str:
    """Return the best sentences in the text's order, within so many tokens.

    A sentence is worth the mean TF-IDF weight of its content words over the text's own sentences, more if it is the
    first or the last, or says a number, a date, a name or an identifier. A sentence that does not fit while half of the
    room is free is made telegraphic and cut.
    """
    if count_tokens(text) <= tokens:
        return text
    spans = sentences(text)
    worth = _worth(text, len(spans))
    chosen: dict[int, str] = {}
    seen: set[str] = set()
    left = tokens
    for i in sorted(range(len(spans)), key=lambda i: (-worth[i], i)):
        sentence = text[slice(*spans[i])]
        if sentence in seen:
            continue
        seen.add(sentence)
        if count_tokens(sentence) > left > tokens / 2:  # else the rest, however good, would fall to small talk
            sentence = cut_text(drop_stop_words(sentence), left)
        if count_tokens(sentence) <= left:
            chosen[i] = sentence
            left -= count_tokens(sentence)
    parts: list[str] = []
    for i in sorted(chosen):
        gap = text[spans[i - 1][1] : spans[i][0]] if parts else ""
        parts += ["\n" if "\n" in gap else gap[:1], chosen[i]]
    return "".join(parts)


def _worth(text: str, number: int) -> list[float]:
    by_sentence: list[list[str]] = [[] for _ in range(number)]
    anchor_counts = [0] * number
    for piece in pieces(text):
        by_sentence[piece.sentence] += [v for k, v in piece.said if k != "symbol" and v not in STOP_WORDS and v != "'s"]
        anchor_counts[piece.sentence] += piece.kind in {"number", "date", "name", "code", "negation"}
    times = Counter(word for words in by_sentence for word in words)
    spread = Counter(word for words in by_sentence for word in set(words))
    weight = {w: (1 + math.log(times[w])) * math.log((1 + number) / spread[w]) for w in times}
    worth = [sum(weight[w] for w in set(words)) / (len(words) + 2) for words in by_sentence]
    at_the_ends = {0, number - 1}
    return [w * (1 + 0.1 * min(anchor_counts[i], 5) + 0.3 * (i in at_the_ends)) for i, w in enumerate(worth)]


def keywords(text: str, tokens: int = KEYWORDS_TOKENS) -> str:
    """Return the text's content words within so many tokens, each once, in its order.

    Names, numbers, dates, code and what is denied go first, then the longest words, polite ones last. Languages without
    spaces are cut. What it was measured on: docs/decisions/0049-bounded-stores.md.
    """
    if _is_spaceless(text):
        return cut_text(text.strip(), tokens)
    chosen: list[tuple[int, str]] = []
    left = tokens
    for _, _, at, words in sorted(_key_words(text)):
        cost = count_tokens(words)
        if cost <= left:
            chosen.append((at, words))
            left -= cost
    found = " ".join(words for _, words in sorted(chosen))
    shorter = found and len(found) <= len(text) and count_tokens(found) <= count_tokens(text)
    return found if shorter else cut_text(drop_stop_words(text), tokens)


def _key_words(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield the content words as (rank, length below zero, place, words); a negation with the word that it denies."""
    speaking = [piece for piece in pieces(text) if piece.kind not in {"mark", "modal"} and _speaks(piece)]
    seen: set[str] = set()
    for at, piece in enumerate(speaking):
        denied = [p for p in speaking[at + 1 : at + 2] if piece.kind == "negation" and p.sentence == piece.sentence]
        words = " ".join(p.text for p in (piece, *denied))
        if (key := words.casefold()) in seen:
            continue
        seen.update((key, *(p.text.casefold() for p in denied)))
        first = piece.kind in {"name", "number", "date", "code", "negation"}
        yield 0 if first else 2 if key in _POLITE else 1, -len(words), piece.start, words


def cut_text(text: str, tokens: int) -> str:
    """Return the beginning of a text within so many tokens, cut between pieces, or between letters."""
    end, left = 0, tokens
    for piece in pieces(text):
        cost = count_tokens(piece.text)
        if cost > left:
            if end == 0 or _is_spaceless(piece.text):
                end = piece.start + _letters_within(piece.text, left)
            break
        end, left = piece.end, left - cost
    return text[:end].strip()


def _letters_within(word: str, tokens: int) -> int:
    """Return how many characters of a word cost at most so many tokens."""
    low, high = 0, len(word)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(word[:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    return low
