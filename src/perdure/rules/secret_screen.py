"""Which of many texts may hold a secret at all: what every secret needs is looked for in all of them at once.

Looking for secrets in one text takes some 20 microseconds, mostly to learn that none of 150 clues stands there. Here
the texts are one array of bytes. A text that is passed over lacks what rules/redaction.py would need to find anything;
one that is not may be harmless all the same, and is looked at by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.rules.personal_numbers import FEWEST_DIGITS, FEWEST_WORDS
from perdure.rules.secret_context import CLUES
from perdure.rules.secret_phrases import PLACED
from perdure.rules.secret_shapes import AROUND, SHORTEST_KEY

Flags = NDArray[np.bool_]

_FEW: Final = 4
_PIECE: Final = 4  # characters of a clue that are looked for; of a shorter clue all
_BITS: Final = 16
_SPREAD: Final = np.uint32(2_654_435_761)  # an odd number near 2**32 divided by the golden ratio
_COMMON: Final = "etaoinsrhldcumfpgwybvkxjqz"  # letters of English, the commonest first
_WORD_LENGTHS: Final = (3, 8)  # letters of a wallet's words
_ASCII: Final = 128
_BETWEEN: Final = "\na\n"  # holds no piece of a clue, and its word is too short for a wallet's


def may_hold_secrets(texts: Sequence[str]) -> list[bool]:
    """Return for each text whether it may hold a secret or a personal number; False only where nothing is found.

    Few texts may all: to look at each by itself takes no longer.
    """
    if len(texts) < _FEW:
        return [True] * len(texts)
    plain = [number for number, text in enumerate(texts) if text.isascii()]
    found = np.ones(len(texts), np.bool_)  # what is not ASCII has clues of its own
    if plain:
        found[plain] = _suspects([texts[number] for number in plain])
    suspects: list[bool] = found.tolist()
    return suspects


def together(texts: Iterable[str]) -> str:
    """Return texts that are looked at as one, apart from each other."""
    return _BETWEEN.join(texts)


def _suspects(texts: Sequence[str]) -> Flags:
    """Return whether each of some ASCII texts may hold a secret."""
    written = np.frombuffer((_BETWEEN + _BETWEEN.join(texts) + _BETWEEN).encode(), np.uint8)
    ends = np.cumsum([len(text) + len(_BETWEEN) for text in texts])  # where what follows each text begins
    found = np.zeros(len(texts) + 1, np.bool_)  # the last one is what stands behind all texts
    for places in (_clues(written), _long_runs(written), _wallet_words(written), *_numbers(written)):
        found[np.searchsorted(ends, places)] = True
    return found[:-1]


def _clues(written: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return where pieces of clues stand."""
    lower = _LOWER[written]
    read = np.ndarray((len(lower) - _PIECE + 1,), "<u4", lower, strides=(1,))
    found = []
    for length, (pieces, table) in _pieces().items():
        short = read & np.uint32((1 << 8 * length) - 1)
        likely = np.flatnonzero(table[_slots(short)])
        found.append(likely[np.isin(short[likely], pieces)])
    return np.concatenate(found)


def _long_runs(written: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return where runs without white space begin that are as long as the shortest key that has a beginning."""
    blanks = np.flatnonzero(_BLANK[written])
    return blanks[:-1][np.diff(blanks) > SHORTEST_KEY] + 1


def _wallet_words(written: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return where so many words of small letters in a row begin as a wallet's phrase has, all of such a length."""
    edges = np.flatnonzero(np.diff(_SMALL[written]))
    begins, ends = edges[::2], edges[1::2]
    least, most = _WORD_LENGTHS
    others = np.cumsum((ends - begins < least) | (ends - begins > most) | _INSIDE[written[begins]])
    before = np.concatenate((np.zeros(1, others.dtype), others))
    in_row = before[FEWEST_WORDS:] == before[:-FEWEST_WORDS]
    found: NDArray[np.int64] = begins[: len(in_row)][in_row] + 1
    return found


def _numbers(written: NDArray[np.uint8]) -> Iterable[NDArray[np.int64]]:
    """Yield where runs of enough digits begin, and where something stands that begins like an account number."""
    digit, capital = _DIGIT[written], _CAPITAL[written]
    breaks = np.flatnonzero(~_OF_NUMBERS[written])
    yield breaks[:-1][np.diff(np.cumsum(digit)[breaks]) >= FEWEST_DIGITS] + 1
    yield np.flatnonzero(capital[:-3] & capital[1:-2] & digit[2:-1] & digit[3:])


def _slots(pieces: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return places in a table; several pieces may share one."""
    return (pieces * _SPREAD) >> np.uint32(32 - _BITS)


@cache
def _pieces() -> dict[int, tuple[NDArray[np.uint32], Flags]]:
    """Return length -> the pieces of that length by which clues are looked for, and which slots are theirs."""
    by_length: dict[int, list[int]] = {}
    for clue in {*CLUES.plain_stems, *PLACED.plain_stems, *AROUND.plain_stems, "private key", "[redacted: "}:
        piece = _rarest_piece(clue)
        by_length.setdefault(len(piece), []).append(int.from_bytes(piece, "little"))
    found = {}
    for length, numbers in by_length.items():
        table, pieces = np.zeros(1 << _BITS, np.bool_), np.array(numbers, np.uint32)
        table[_slots(pieces)] = True
        found[length] = pieces, table
    return found


def _rarest_piece(clue: str) -> bytes:
    pieces = [clue[at : at + _PIECE] for at in range(max(1, len(clue) - _PIECE + 1))]
    return min(pieces, key=lambda piece: sum(map(_commonness, piece))).encode()


def _commonness(character: str) -> int:
    place = _COMMON.find(character)
    return len(_COMMON) - place if place >= 0 else 0


def _table(characters: Iterable[str]) -> Flags:
    table = np.zeros(256, np.bool_)
    table[[ord(character) for character in characters]] = True
    return table


_CHARACTERS: Final = [chr(number) for number in range(_ASCII)]
_BLANK: Final = _table(c for c in _CHARACTERS if c.isspace())
_DIGIT: Final = _table(c for c in _CHARACTERS if c.isdigit())
_CAPITAL: Final = _table(c for c in _CHARACTERS if c.isupper())
_SMALL: Final = _table(c for c in _CHARACTERS if c.islower())
_OF_NUMBERS: Final = _DIGIT | _CAPITAL | _table(" -.")
"""What stands in a number of a card or a person; in accounts, too, but those may have fewer digits."""
_INSIDE: Final = _DIGIT | _CAPITAL | _table("_'-")
"""Before small letters they tell that these begin no word."""
_LOWER: Final = np.array([ord(c.lower()) for c in map(chr, range(_ASCII))], np.uint8)
