"""Numbers that belong to a person are replaced if they can be right, and kept where the policy says so."""

from __future__ import annotations

import random
import textwrap
from dataclasses import replace

from mnemonic import Mnemonic

from conftest import every
from perdure.records.policy import Policy
from perdure.rules.redaction import redact, redact_by_policy, redact_data

CHANCE = random.Random(3)  # noqa: S311  # made up
WORDS = Mnemonic("english")


def digits(number):
    return "".join(CHANCE.choice("0123456789") for _ in range(number))


def iban(country, length):
    body = digits(length - 4)
    number = int("".join(str(int(c, 36)) for c in f"{body}{country}00"))
    plain = f"{country}{98 - number % 97:02d}{body}"
    return CHANCE.choice([plain, " ".join(plain[i : i + 4] for i in range(0, length, 4))])


def card():
    body = f"4{digits(14)}"
    doubled = sum(int(c) if i % 2 else sum(divmod(2 * int(c), 10)) for i, c in enumerate(body))
    return f"{body}{-doubled % 10}"


def cpf():
    found = [int(c) for c in f"1{digits(8)}"]
    for length in (9, 10):
        found.append(sum(d * w for d, w in zip(found, range(length + 1, 1, -1), strict=False)) * 10 % 11 % 10)
    plain = "".join(map(str, found))
    return f"{plain[:3]}.{plain[3:6]}.{plain[6:9]}-{plain[9:]}"


def dni():
    number = digits(8)
    return f"{number}{'TRWAGMYFPDXBNJZSQVHLCKE'[int(number) % 23]}"


def nir():
    number = f"2850{CHANCE.randint(1, 9)}75{digits(6)}"
    return f"{number}{97 - int(number) % 97:02d}"


def phrase(strength):
    return WORDS.to_mnemonic(CHANCE.randbytes(strength // 8))


GIVEN = [
    *(("iban", f"Please pay to {iban(c, n)}, thank you.") for c, n in (("DE", 22), ("NL", 18), ("FR", 27), ("GB", 22))),
    *(("card number", f"The card is {card()}.") for _ in range(3)),
    ("card number", f"The card is {'-'.join(textwrap.wrap(card(), 4))}."),
    ("social security number", "My SSN is 219-09-9999."),
    ("social security number", "Social Security number: 219 09 9999"),
    ("national insurance number", "national insurance AB 12 34 56 C"),
    *(("cpf", f"CPF: {cpf()}") for _ in range(3)),
    *(("dni", f"Mi DNI es {dni()}") for _ in range(3)),
    *(("french social security number", f"numéro de sécurité sociale {nir()}") for _ in range(3)),
    *(("seed phrase", f"Keep this: {phrase(n)}") for n in (128, 192, 256)),
    ("seed phrase", "\n".join(f"{i}. {word}" for i, word in enumerate(phrase(128).split(), 1))),
    ("seed phrase", f"my seed phrase is {phrase(256)} and nobody knows"),
]
DASHED = "-".join(textwrap.wrap(card(), 4))
WRONG = [
    f"recall 019c9c65-{DASHED}f77c1dff",
    "IBAN DE00 3704 0044 0532 0130 00",
    "XX89370400440532013000",
    "SSN 000-12-3456, SSN 900-12-3456, SSN 219-00-1234",
    "The part 219-09-9999 is in stock.",
    "CPF 111.111.111-11 and CPF 123.456.789-00",
    "DNI 12345678A",
    "able child wizard above about across again",
    "words of the week: above, agent, answer, arrow, artist, artwork, aspect, asset, athlete, atom, attack, autumn",
    "the wallet's words begin with abandon ability able about above absent absorb abstract absurd abuse access acid",
    " ".join([*phrase(128).split()[:11], "zoo"]),
    "people think that their house might have been built long before anybody wrote about such things",
]


@every(GIVEN)
def test_what_can_be_right_is_replaced_and_kept_where_the_policy_says_so(kind, text):
    clean, names = redact(text)
    assert names == (kind,)
    assert f"[redacted: {kind}]" in clean
    assert redact(text, personal=False) == (text, ())
    policy = Policy()
    assert redact_by_policy(text, policy) == clean
    kept = replace(policy, knowledge=replace(policy.knowledge, redact_personal=False))
    assert redact_by_policy(text, kept) == text
    assert redact_data({"a": [text]}, personal=False) == ({"a": [text]}, ())


@every(WRONG)
def test_what_cannot_be_right_stays(text):
    assert redact(text) == (text, ())


def test_a_secret_goes_where_personal_numbers_stay():
    text = f"The password is Tr0ub4dor3x, the card {card()}."
    assert redact(text, personal=False)[1] == ("password",)
