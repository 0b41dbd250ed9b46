"""Numbers that belong to a person: payment cards, bank accounts, social security, the words of a wallet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from itertools import pairwise, product
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.secret_shapes import Found

_CARD: Final = lazy_pattern(
    r"[2-6](?<![0-9A-Za-z_.][2-6])[0-9]{3}"
    r"(?:(?P<gap>[ -])(?:[0-9]{4}(?P=gap)[0-9]{4}(?P=gap)[0-9]{4}(?:(?P=gap)[0-9]{3})?"
    r"|[0-9]{6}(?P=gap)[0-9]{4,5})|[0-9]{10,15})(?![0-9A-Fa-f])"  # the middle of a UUID is no card
)
_ISSUERS: Final = lazy_pattern(
    r"4(?:[0-9]{15}|[0-9]{18})|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[689][0-9])[0-9]{11}|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}|35[0-9]{14}|62[0-9]{14,17}"
)
_OTHER_NUMBER: Final = lazy_pattern(
    r"(?i)(?:order|tracking|shipment|parcel|invoice|ticket|customer|serial|reference|transaction|bestell|auftrags|rechnungs"
    r"|kunden|sendungs|serien|commande|facture|client|pedido|factura|cliente|ordine|fattura)"
    r"[ _-]?(?:number|no|nr|id|code|nummer|num[ée]ro|n[°º])?[.:#=\"' ]{0,4}$"
)
"""What says that a number is another one: one in ten of those has a card's check digit by chance."""
_LUHN_DOUBLES: Final = str.maketrans("0123456789", "0246813579")


def card_numbers(text: str) -> list[tuple[int, int]]:
    """Return where numbers of payment cards stand: an issuer's first digits and length, and Luhn's check digit."""
    return [
        m.span()
        for m in _CARD.finditer(text)
        if _is_card("".join(c for c in m[0] if c.isdigit()))
        and not _OTHER_NUMBER.search(text, max(0, m.start() - 40), m.start())
    ]


def _is_card(digits: str) -> bool:
    plain = sum(map(int, digits[-1::-2])) + sum(map(int, digits[-2::-2].translate(_LUHN_DOUBLES)))
    return plain % 10 == 0 and _ISSUERS.fullmatch(digits) is not None


_COUNTRIES: Final = {
    "AD": 24,
    "AE": 23,
    "AL": 28,
    "AT": 20,
    "AZ": 28,
    "BA": 20,
    "BE": 16,
    "BG": 22,
    "BH": 22,
    "BR": 29,
    "BY": 28,
    "CH": 21,
    "CR": 22,
    "CY": 28,
    "CZ": 24,
    "DE": 22,
    "DK": 18,
    "DO": 28,
    "EE": 20,
    "EG": 29,
    "ES": 24,
    "FI": 18,
    "FO": 18,
    "FR": 27,
    "GB": 22,
    "GE": 22,
    "GI": 23,
    "GL": 18,
    "GR": 27,
    "GT": 28,
    "HR": 21,
    "HU": 28,
    "IE": 22,
    "IL": 23,
    "IQ": 23,
    "IS": 26,
    "IT": 27,
    "JO": 30,
    "KW": 30,
    "KZ": 20,
    "LB": 28,
    "LC": 32,
    "LI": 21,
    "LT": 20,
    "LU": 20,
    "LV": 21,
    "LY": 25,
    "MC": 27,
    "MD": 24,
    "ME": 22,
    "MK": 19,
    "MR": 27,
    "MT": 31,
    "MU": 30,
    "NL": 18,
    "NO": 15,
    "PK": 24,
    "PL": 28,
    "PS": 29,
    "PT": 25,
    "QA": 29,
    "RO": 24,
    "RS": 22,
    "SA": 24,
    "SC": 31,
    "SE": 24,
    "SI": 19,
    "SK": 24,
    "SM": 27,
    "ST": 25,
    "SV": 28,
    "TL": 23,
    "TN": 24,
    "TR": 26,
    "UA": 29,
    "VA": 22,
    "VG": 24,
    "XK": 20,
}
"""Country -> how many characters an IBAN has there."""
_IBAN: Final = lazy_pattern(r"[A-Z](?<![A-Za-z0-9].)[A-Z][0-9]{2}(?:[ -]?[A-Z0-9]){11,30}")


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where numbers of bank accounts stand: a country, its length, and a right checksum (ISO 7064, mod 97)."""
    for match in _IBAN.finditer(text):
        length = _COUNTRIES.get(match[0][:2], 0)
        places = [n for n, c in enumerate(match[0]) if c.isalnum()]
        if length and len(places) >= length and _is_apart(text, end := match.start() + places[length - 1] + 1):
            plain = "".join(c for c in text[match.start() : end] if c.isalnum())
            if int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1:
                yield match.start(), end


def _is_apart(text: str, end: int) -> bool:
    return not text[end : end + 1].isalnum()


_SSN: Final = lazy_pattern(
    r"(?<![0-9-])(?!000|666|9)[0-9]{3}([- ]?)(?!00)[0-9]{2}\1(?!0000)[0-9]{4}(?![0-9-]?[0-9A-Za-z])"
)
_NINO: Final = lazy_pattern(
    r"(?<![A-Za-z0-9])[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D](?![A-Za-z0-9])"
)
_CPF: Final = lazy_pattern(r"(?<![0-9.])[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}(?![0-9])")
_DNI: Final = lazy_pattern(r"(?<![A-Za-z0-9])[XYZ0-9][0-9]{7}[ -]?[A-Z](?![A-Za-z0-9])")
_NIR: Final = lazy_pattern(
    r"(?<![0-9])[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]|[2-9][0-9]) ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}(?![0-9])"
)


def _is_cpf(value: str) -> bool:
    digits = [int(c) for c in value if c.isdigit()]
    for length in (9, 10):
        total = sum(d * w for d, w in zip(digits, range(length + 1, 1, -1), strict=False))
        if total * 10 % 11 % 10 != digits[length]:
            return False
    return len(set(digits)) > 1


def _is_dni(value: str) -> bool:
    number = value[:8].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == value[-1]


def _is_nir(value: str) -> bool:
    plain = value.replace(" ", "").replace("2A", "19", 1).replace("2B", "18", 1)
    return plain.isdigit() and 97 - int(plain[:13]) % 97 == int(plain[13:])


def _is_any(_: str) -> bool:
    return True


_NAMED_NUMBERS: Final[tuple[tuple[str, tuple[str, ...], re.Pattern[str], Callable[[str], bool]], ...]] = (
    ("social security number", ("ssn", "social security", "social-security", "itin"), _SSN, _is_any),
    ("national insurance number", ("national insurance", "ni number", "nino"), _NINO, _is_any),
    ("cpf", ("cpf",), _CPF, _is_cpf),
    ("dni", ("dni", "nie", "nif"), _DNI, _is_dni),
    ("french social security number", ("sécurité sociale", "securite sociale", "nir", "numéro de sécu"), _NIR, _is_nir),
)
"""(what it is, words that must stand before it, its shape, a test of its check digits)."""
_BY_CLUE: Final = [(clue, name, shape, test) for name, clues, shape, test in _NAMED_NUMBERS for clue in clues]
_BEFORE: Final = 60  # characters after such a word in which the number stands

_WORD_RUN: Final = lazy_pattern(
    r"(?<![\w'-])[a-z]{3,8}(?:(?:[ \t]{1,2}|,[ \t]?|[ \t]?\r?\n[ \t]?|[ \t\n]{0,2}\d{1,2}[.)][ \t]?)"
    r"[a-z]{3,8}(?![\w'-])){2,60}"
)
"""Words in a row, at most 61. Rows that are too short are passed over whole: each of their words begins none."""
_WORD: Final = lazy_pattern(r"[a-z]{3,8}")
_PHRASES: Final = (12, 15, 18, 21, 24)  # words of a phrase (BIP-39)
_BITS: Final = 11  # of a word's number
FEWEST_WORDS: Final = _PHRASES[0]
_ABOUT_WALLETS: Final = lazy_pattern(r"(?i)seed|mnemonic|phrase|wallet|recover|backup|bip-?39")
_SHORTEST_PHRASE: Final = 4 * FEWEST_WORDS - 1  # characters of so many words of three letters
_TWO_DIGITS: Final = lazy_pattern("[0-9]{2}")
"""What stands in every card number, IBAN and other number that is looked for."""
FEWEST_DIGITS: Final = 6  # in a text with any of them but an IBAN
_MANY_DIGITS: Final = lazy_pattern(f"(?:[^0-9]*+[0-9]){{{FEWEST_DIGITS}}}")


@cache
def _wallet_words() -> dict[str, int]:
    """Return the 2,048 English words of BIP-39, numbered; imported here, because hardly any text needs them."""
    from mnemonic import Mnemonic  # noqa: PLC0415

    return {word: number for number, word in enumerate(Mnemonic("english").wordlist)}


def _seed_phrases(text: str) -> Iterator[tuple[int, int]]:
    """Yield where 12 words of a wallet or more stand in a row, most of them once, and are a wallet's.

    They are where something before them says so, or where their checksum is right: one in sixteen rows of twelve
    such words has it by chance. Words in the order of the alphabet are a list.
    """
    for run in _WORD_RUN.finditer(text):
        if run.end() - run.start() < _SHORTEST_PHRASE or len(_WORD.findall(run[0])) < FEWEST_WORDS:
            continue
        words = [m.span() for m in _WORD.finditer(text, *run.span())]
        unknown = (n for n, (start, end) in enumerate(words) if text[start:end] not in _wallet_words())
        for before, after in pairwise((-1, *unknown, len(words))):
            some = words[before + 1 : after]
            if len(some) >= FEWEST_WORDS:
                phrase = [text[start:end] for start, end in some]
                is_announced = _ABOUT_WALLETS.search(text, max(0, some[0][0] - _BEFORE), some[0][0])
                for first, last in [(0, len(some))] if is_announced else _with_checksum(phrase):
                    if _is_mixed(phrase[first:last]):
                        yield some[first][0], some[last - 1][1]


def _is_mixed(words: list[str]) -> bool:
    """Whether most words stand there once, and not in the order of the alphabet."""
    return len(set(words)) * 3 >= len(words) * 2 and words != sorted(words)


def _with_checksum(words: list[str]) -> Iterator[tuple[int, int]]:
    """Yield where stretches of words begin and end whose last bits are the first of the SHA-256 of the others."""
    whole = 0
    for word in words:
        whole = whole << _BITS | _wallet_words()[word]
    for length, first in product(_PHRASES, range(len(words))):
        if (rest := len(words) - first - length) >= 0 and len(set(words[first : first + length])) * 3 >= length * 2:
            number = whole >> _BITS * rest & ((1 << _BITS * length) - 1)
            bits = length // 3  # of the checksum; eleven times that are all
            checksum = sha256((number >> bits).to_bytes(4 * bits, "big")).digest()[0] >> (8 - bits)
            if number & ((1 << bits) - 1) == checksum:
                yield first, first + length


def find_personal(text: str, lower: str) -> Iterator[Found]:
    """Yield numbers that belong to a person. ``lower`` is the text in lower case, character by character."""
    if len(text) >= _SHORTEST_PHRASE:
        yield from ((start, end, "seed phrase") for start, end in _seed_phrases(text))
    if _TWO_DIGITS.search(text) is not None:
        yield from _numbers(text, lower)


def _numbers(text: str, lower: str) -> Iterator[Found]:
    many = _MANY_DIGITS.match(text) is not None
    yield from ((start, end, "card number") for start, end in (card_numbers(text) if many else ()))
    yield from ((start, end, "iban") for start, end in _ibans(text))
    for clue, name, shape, is_right in [each for each in _BY_CLUE if each[0] in lower] if many else ():
        at = lower.find(clue)
        while at >= 0:
            match = shape.search(text, at, at + len(clue) + _BEFORE)
            if match is not None and is_right(match[0]):
                yield (*match.span(), name)
            at = lower.find(clue, at + len(clue))
