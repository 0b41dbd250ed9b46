"""WordPiece for BERT uncased: a text becomes token ids. Why it is our own: docs/decisions/0003-tokenizer.md.

It gives the same ids as the reference tokenizer, but for characters that Unicode added or moved after the
reference's tables were made.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path

from perdure.records.errors import EmbedderError

UNKNOWN, START, END = 100, 101, 102  # the ids of ``[UNK]``, ``[CLS]`` and ``[SEP]``

_VOCABULARY_SIZE = 30_522
_LONGEST_WORD = 100  # characters; a longer word is unknown as a whole, as in the reference
_LONGEST_PIECE = 18  # characters; no piece in the vocabulary is longer, so no longer one is tried
_CACHED_CHARACTERS = 50_000
"""Holds every script in use; stops a hostile text from filling memory with the rest of Unicode."""

_DROPPED_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs"})
"""Categories that carry no text. Cs are lone surrogates: no UTF-8 can hold them, so they are dropped like U+FFFD."""

_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
"""Code points (first, last) that each stand as a word of their own."""


class WordPiece:
    """The uncased BERT tokenizer. Safe to share between threads.

    Special tokens in a text, such as ``[SEP]``, are plain text: what a user writes cannot steer the model.
    """

    def __init__(self, vocabulary: Path | None = None) -> None:
        path = vocabulary or Path(__file__).with_name("vocab.txt")
        remedy = "Reinstall Perdure; the file is part of it."
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise EmbedderError(f"The vocabulary {path} cannot be read: {error}.", remedy=remedy) from error
        self._ids = {piece: number for number, piece in enumerate(lines) if piece}
        # A wrong vocabulary gives wrong vectors without any error, so its shape is checked.
        specials = [self._ids.get(piece) for piece in ("[UNK]", "[CLS]", "[SEP]")]
        if len(self._ids) != _VOCABULARY_SIZE or specials != [UNKNOWN, START, END]:
            raise EmbedderError(f"The vocabulary {path} is damaged.", remedy=remedy)
        self._folded = _Folding()

    def ids(self, text: str, limit: int | None = None) -> list[int]:
        """Return the ids of the text's pieces, without ``[CLS]`` and ``[SEP]``.

        Control characters and lone surrogates are dropped; ``limit`` None returns all.
        """
        found: list[int] = []
        for word in text.translate(self._folded).split():
            whole = self._ids.get(word)
            if whole is None:
                found += self._pieces(word)
            else:
                found.append(whole)
            if limit is not None and len(found) >= limit:
                return found[:limit]
        return found

    def _pieces(self, word: str) -> list[int]:
        """Cut a word into the longest pieces known, from the left; one unknown rest makes the whole word unknown."""
        if len(word) > _LONGEST_WORD:
            return [UNKNOWN]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(min(len(word), start + _LONGEST_PIECE), start, -1):
                number = self._ids.get(prefix + word[start:end])
                if number is not None:
                    pieces.append(number)
                    start = end
                    break
            else:
                return [UNKNOWN]
        return pieces


@cache
def shared_wordpiece() -> WordPiece:
    """Return the tokenizer of the vocabulary that comes with Perdure, which all models of this process share."""
    return WordPiece()


class _Folding(dict[int, str]):
    """A table for ``str.translate`` that fills itself: code point to its folded text."""

    def __missing__(self, code_point: int) -> str:
        folded = _fold(chr(code_point))
        if len(self) < _CACHED_CHARACTERS:
            self[code_point] = folded
        return folded


def _fold(character: str) -> str:
    """Fold one character: lower case, no accent; spaces around punctuation and ideographs; "" for controls."""
    if character in "\t\n\r":  # controls by category, but spaces by the reference
        return " "
    if character == "\ufffd" or unicodedata.category(character) in _DROPPED_CATEGORIES:
        return ""
    if character.isspace():
        return " "
    folded = "".join(
        f" {lowered} " if _is_punctuation(lowered) else lowered
        for part in unicodedata.normalize("NFD", character)
        if unicodedata.category(part) != "Mn"
        for lowered in part.lower()
    )
    code_point = ord(character)
    return f" {folded} " if any(first <= code_point <= last for first, last in _IDEOGRAPHS) else folded


def _is_punctuation(character: str) -> bool:
    """Tell whether BERT splits at the character: Unicode punctuation, and every ASCII symbol such as ``$``."""
    ascii_symbol = character.isascii() and character.isprintable() and not character.isalnum() and character != " "
    return ascii_symbol or unicodedata.category(character).startswith("P")
