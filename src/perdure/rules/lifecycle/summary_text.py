"""A summary by rule: whole sentences of the text, and beside them a short list of what must not be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from perdure.rules.language.sentences import sentences
from perdure.rules.language.tokens import Kind, Piece, count_tokens, pieces
from perdure.rules.language.words import STOP_WORDS
from perdure.rules.language.worth_words import SMALL_TALK
from perdure.rules.lifecycle.shortening import cut_text, keywords

LISTED: Final[tuple[Kind, ...]] = ("negation", "number", "date", "name", "code")
"""What is listed, in this order: what is denied first, since its absence would turn the meaning."""
SENTENCES_SHARE: Final = 3
LIST_SHARE: Final = 8  # the sentences have at most a third of the text's tokens, the list an eighth
_LEAST, _LIST_LEAST = 8, 24  # tokens that they may have however short the text is
_SIGNS: Final = frozenset("$€£¥%°")
_ENDS: Final = ".!?…。！？"  # noqa: RUF001  # the full-width marks are meant
_LEAD: Final = "Also: "
_TELLS_FROM: Final = 4  # content words; a sentence of fewer is a greeting or a heading
_LENGTH: Final = 0.7
"""How much the length of a sentence counts against it; between 0.5 and 1 it makes little difference."""
_AGAIN: Final = 0.1
_PLACES: Final = frozenset(("first", "second", "third"))  # numbers that tell little beside one word
_BEGINS_ANEW: Final = frozenset(':;|*#"“”—–([•·…')  # noqa: RUF001  # the dash is meant
"""Marks after which a word may have a capital though it is no name."""
_NO_NAMES: Final = frozenset(word for words in SMALL_TALK.values() for word in words.split())


def write_summary(text: str, tokens: int) -> str:
    """Return a summary in whole sentences within so many tokens, with a list of at most two thirds as many beside it.

    The sentences have at most a third of the text's tokens. The list has denials, numbers, dates, names and
    identifiers that they do not say, as many as fit. A text of which no sentence fits is shown whole, and where it is
    longer than a summary up to the last word that fits.
    """
    size = count_tokens(text)
    chosen = best_sentences(text, min(tokens, max(_LEAST, size // SENTENCES_SHARE)))
    if not chosen:
        return text if size <= tokens else f"{cut_text(text, tokens - 1)}…"
    summary = " ".join(chosen)
    rest = list_unsaid(text, summary, min(tokens * 2 // 3, max(_LIST_LEAST, size // LIST_SHARE)))
    return f"{summary}\n{_LEAD}{'; '.join(rest)}." if rest else summary


def summarize_each(texts: Sequence[str], tokens: int) -> str:
    """Return a summary of several texts in whole sentences within so many tokens, in their order.

    Each text has half of its tokens for its best sentences, or its shortest sentence that tells something; the shortest
    of these are taken first, so that as many texts as can be are told of. The best of the other sentences fill what is
    left. Where none fits, the key words are returned.
    """
    left, chosen = tokens, set[str]()
    for excerpt in sorted((_excerpt(text) for text in texts), key=_cost):
        if _cost(excerpt) <= left:
            chosen.update(excerpt)
            left -= _cost(excerpt)
    if not chosen:
        return keywords("\n".join(texts), tokens).strip()
    written = list(dict.fromkeys(sentence for text in texts for sentence in _written_sentences(text)))
    chosen.update(best_sentences("\n".join(sentence for sentence in written if sentence not in chosen), left))
    return " ".join(sentence for sentence in written if sentence in chosen)


def _excerpt(text: str) -> list[str]:
    """Return a text's best sentences within half of its tokens, or its shortest one that tells something."""
    if best := best_sentences(text, count_tokens(text) // 2):
        return best
    words = _content_words(text, len(sentences(text)))
    telling = [s for s, said in zip(_written_sentences(text), words, strict=True) if len(set(said)) >= _TELLS_FROM]
    return [min(telling, key=count_tokens)] if telling else []


def _cost(excerpt: Sequence[str]) -> int:
    return sum(count_tokens(sentence) for sentence in excerpt)


def _written_sentences(text: str) -> list[str]:
    return [" ".join(text[start:end].split()) for start, end in sentences(text)]


def best_sentences(text: str, tokens: int) -> list[str]:
    """Return the sentences that say most of what the text says often, in its order, none cut.

    One after another is taken: the one whose words, not yet said, the text uses most for its length.
    """
    spans = sentences(text)
    words = _content_words(text, len(spans))
    often = Counter(word for row in words for word in row)
    written = _written_sentences(text)
    costs = [count_tokens(sentence) for sentence in written]
    left, covered = tokens, set[str]()
    chosen: list[int] = []
    first = {sentence: i for i, sentence in reversed(list(enumerate(written)))}  # what is said twice is shown once
    prose = [i for i in sorted(first.values()) if words[i] and not written[i].startswith("```")]
    open_to = [i for i in prose if len(set(words[i])) >= _TELLS_FROM] or prose
    while open_to := [i for i in open_to if costs[i] <= left and i not in chosen]:
        worth = {i: _worth(set(words[i]), covered, often) / (costs[i] + 2) ** _LENGTH for i in open_to}
        best = max(open_to, key=lambda i: (worth[i], -i))
        chosen.append(best)
        left -= costs[best]
        covered.update(words[best])
    return [written[i] for i in sorted(chosen)]


def _worth(words: set[str], covered: set[str], often: Counter[str]) -> float:
    """Return how often the text says what a sentence says; what was said already counts a tenth."""
    return sum((often[word] - 0.5) * (_AGAIN if word in covered else 1.0) for word in words)


def _content_words(text: str, number: int) -> list[list[str]]:
    words: list[list[str]] = [[] for _ in range(number)]
    for piece in pieces(text):
        words[piece.sentence] += [v for k, v in piece.said if k != "symbol" and v not in STOP_WORDS and v != "'s"]
    return words


def list_unsaid(text: str, summary: str, tokens: int) -> list[str]:
    """Return what must not be lost and is not said, as written, each once, within so many tokens."""
    stated = {value for piece in pieces(summary) for _, value in piece.said}
    said = " ".join(summary.split()).casefold()
    found: list[str] = []
    left = tokens - count_tokens(_LEAD)
    for kind, excerpt, value in sorted(_anchors(text), key=lambda anchor: LISTED.index(anchor[0])):
        known = value in said if kind == "negation" else value in stated
        cost = count_tokens(excerpt) + 1
        if known or cost > left or (kind == "name" and value in _NO_NAMES):
            continue
        stated |= {value for piece in pieces(excerpt) for _, value in piece.said}
        said = f"{said}\n{value}" if kind == "negation" else said
        found.append(excerpt)
        left -= cost
    return found


def _anchors(text: str) -> Iterator[tuple[Kind, str, str]]:
    """Yield the kind, the words as written and the value of what must not be lost, in the text's order.

    A denial is told with its whole clause: who does what is denied. A number of nothing tells nothing.
    """
    every = pieces(text)
    found = [piece for piece in every if piece.said]
    spans, names = sentences(text), _sure_names(every)
    for number, piece in enumerate(found):
        kind = next((kind for kind in LISTED if any(kind == k for k, _ in piece.said)), None)
        span: tuple[int, int] | None = (piece.start, piece.end)
        if kind == "negation":
            span = _clause_of(text, piece, spans[piece.sentence])
        elif kind == "name" and piece.said[0][1] not in names:
            span = None
        elif kind == "number":
            span = None if piece.said[0][1] in _PLACES else _with_its_word(text, found, number)
        if kind is None or span is None:
            continue
        excerpt = " ".join(text[slice(*span)].split())
        yield kind, excerpt, excerpt.casefold() if kind == "negation" else piece.said[0][1]


def _sure_names(every: Iterable[Piece]) -> set[str]:
    """Return the names that stand capitalised within a sentence somewhere.

    What begins a sentence, a line, a list item or what follows a colon has a capital anyway, and so has each word of a
    heading in title case.
    """
    names = set[str]()
    for _, sentence in groupby(every, key=lambda piece: piece.sentence):
        part: list[Piece] = []
        for piece in sentence:
            if piece.text in _BEGINS_ANEW:
                names.update(_names_within(part))
                part = []
            elif piece.kind in {"word", "name"}:
                part.append(piece)
        names.update(_names_within(part))
    return names


def _names_within(part: Sequence[Piece]) -> Iterator[str]:
    """Yield the names among words in a row of which not all have a capital, the first one only if it is an acronym."""
    if not any(p.text.islower() and p.said[0][1] not in STOP_WORDS for p in part):
        return
    for at, piece in enumerate(part):
        if piece.kind == "name" and (at or (piece.text.isupper() and len(piece.text) > 1)):
            yield piece.said[0][1]


def _clause_of(text: str, piece: Piece, sentence: tuple[int, int]) -> tuple[int, int]:
    """Return where the clause of a piece stands: its sentence, or the part between two semicolons."""
    start = max(sentence[0], text.rfind(";", sentence[0], piece.start) + 1)
    end = text.find(";", piece.end, sentence[1])
    clause = text[start : sentence[1] if end < 0 else end]
    return start, start + len(clause.rstrip().rstrip(_ENDS))


def _with_its_word(text: str, found: Sequence[Piece], number: int) -> tuple[int, int] | None:
    """Return where a number stands with its word, the one behind it or the one before it; None if it has none."""
    piece = found[number]
    for other in (*found[number + 1 : number + 2], *found[max(0, number - 1) : number]):
        start, end = min(piece.start, other.start), max(piece.end, other.end)
        between = text[min(piece.end, other.end) : max(piece.start, other.start)]
        if other.kind in {"word", "name"} and other.said[0][1] not in STOP_WORDS and not between.strip():
            return start, end
    has_sign = not _SIGNS.isdisjoint(piece.text)
    return (piece.start, piece.end) if has_sign else None
