"""Secrets of many kinds in plausible texts, and texts that only look as if they held one, made anew from a seed.

No secret lies in the repository: ``labels/secrets_*.tsv`` and ``labels/harmless_*.txt`` have shapes, as a small part
of regular expressions (``AKIA[A-Z2-7]{16}``), and the texts around them; values are random. Each half was written
before anything was tuned; nobody looks at the locked half's misses.
"""

from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LABELS: Final = Path(__file__).parent / "labels"
_PART: Final = re.compile(
    r"\[(?P<set>[^\]]+)\](?:\{(?P<times>\d+)\})?|\((?P<words>[^()]+)\)|\\(?P<plain>.)|(?P<one>.)", re.DOTALL
)
_SHORT: Final = 8
_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CRC: Final = 6
TIMES: Final = 3  # values of each shape without a secret


@dataclass(frozen=True)
class Planted:
    """A text with a secret in it."""

    kind: str
    text: str
    secret: str

    def left(self, clean: str) -> bool:
        """Whether a redacted text still holds a part of the secret, of eight characters or all of a shorter one."""
        parts = {self.secret[i : i + _SHORT] for i in range(max(1, len(self.secret) - _SHORT + 1))}
        return any(part in clean for part in parts)

    def lost(self, clean: str) -> int:
        """Return how many words beside the secret a redacted text has lost."""
        beside = re.findall(r"\w{2,}", self.text.replace(self.secret, " "))
        return sum(1 for word in beside if word not in clean)


def value_of(shape: str, chance: random.Random) -> str:
    r"""Return a random text of a shape: ``[A-Z]{4}``, ``(one|other)``, ``\x`` for x itself, a line feed for ``\n``."""
    made = []
    for part in _PART.finditer(shape):
        if part["set"]:
            letters = _letters(part["set"])
            made += [chance.choice(letters) for _ in range(int(part["times"] or 1))]
        elif part["words"]:
            made.append(value_of(chance.choice(part["words"].split("|")), chance))
        else:
            made.append("\n" if part["plain"] == "n" else part["plain"] or part["one"])
    return "".join(made)


def _letters(told: str) -> str:
    spread = re.sub(r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), told)
    return "".join(dict.fromkeys(spread))


def _checked(shape: str, chance: random.Random) -> str:
    """Return a value of a shape that may ask for right check digits: ``luhn:``, ``iban:`` or ``crc:`` before it."""
    check, _, bare = shape.partition(":")
    if check == "luhn":  # the last digit is added
        number = value_of(bare, chance)
        doubled = (int(d) * (2 - i % 2) for i, d in enumerate(reversed(number)))
        return number + str(-sum(d - 9 * (d > 9) for d in doubled) % 10)
    if check == "iban":  # the two digits after the country are put in
        number = value_of(bare, chance)
        digits = "".join(str(int(c, 36)) for c in f"{number[2:]}{number[:2]}00")
        return f"{number[:2]}{98 - int(digits) % 97:02}{number[2:]}"
    if check == "crc":  # GitHub's and npm's: six characters of base 62 over what stands behind the prefix
        token = value_of(bare, chance)
        rest, tail = zlib.crc32(token.partition("_")[2].encode()), ""
        while len(tail) < _CRC:
            rest, digit = divmod(rest, len(_BASE62))
            tail = _BASE62[digit] + tail
        return token + tail
    return value_of(shape, chance)


def planted(half: str, seed: int = 1) -> list[Planted]:
    """Return the texts with a secret of a half: ``open``, ``locked``, ``later_open`` or ``later_locked``."""
    found = []
    for line in (LABELS / f"secrets_{half}.tsv").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, shape, around = line.split("\t")
        value = _checked(shape, random.Random(f"{seed} {line}"))
        secret = value.partition("«")[2].partition("»")[0] or value
        text = around.replace("\\n", "\n").replace("\\\\", "\\").replace("{}", value.replace("«", "").replace("»", ""))
        found.append(Planted(kind, text, secret))
    return found


def harmless(half: str, seed: int = 1) -> list[str]:
    """Return the texts without a secret: of a half or of the sets ``fresh`` and ``agents``."""
    shapes = (LABELS / f"harmless_{half}.txt").read_text("utf-8").splitlines()
    made = (value_of(s, random.Random(f"{seed} {s} {n}")) for s in shapes for n in range(TIMES))
    return list(dict.fromkeys(made))
