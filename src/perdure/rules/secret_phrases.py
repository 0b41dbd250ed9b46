"""Secrets that stand in a fixed place: in an address, a header, after a command's flag, beside a user's name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from perdure.rules.secret_context import ENDS, VALUE, places
from perdure.rules.secret_shapes import Found
from perdure.rules.secret_values import (
    PrefilteredPatterns,
    is_key,
    is_mixed,
    is_password,
    is_placeholder,
    is_random,
    is_spoken_password,
    is_spoken_phrase,
    is_strong,
)


def find_placed(text: str, lower: str) -> Iterator[Found]:
    """Yield values that stand where a secret must; ``lower`` is the text in lower case, character by character."""
    for label, clue, shape, is_one in PLACED.among(lower):
        for at in places(lower, (clue,)):
            if (match := _compile(shape).match(text, at)) is not None and is_one(value := match["s"].rstrip(ENDS)):
                yield match.start("s"), match.start("s") + len(value), label


@cache
def _compile(shape: str) -> re.Pattern[str]:
    """Return a pattern; most texts have no clue, and compiling all of them would be a third of a hook's own start."""
    return re.compile(shape)


def _is_address_password(value: str) -> bool:
    return not is_placeholder(value) and value[0] not in "$<{%"


def _is_bearer(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value) and not is_placeholder(value)


def _is_pin(value: str) -> bool:
    return len(set(value)) > 1


def _is_account_password(value: str) -> bool:
    return is_mixed(value) and not any(sign in value for sign in ":/")


_LINE: Final = r"[ \t][^\n]{0,200}?"
_OPEN: Final = r"[\"']?"
_DIGITS: Final = r"(?P<s>\d{4,8})(?![\w.,-]*\d)"
_HAS_PIN: Final = (
    *(
        "bank",
        "card",
        "debit",
        "credit",
        "atm",
        "sim",
        "phone",
        "mobile",
        "alarm",
        "safe",
        "banking",
        "account",
        "door",
    ),
    *("visa", "mastercard", "girocard", "voicemail", "locker", "tablet", "iphone", "ipad", "garage", "karte", "konto"),
    *("handy", "tresor"),
)
"""What has a secret number, where "pin" is not in capitals: that of a plug or of a board is no secret."""
_WHOSE: Final = ("my", "your", "his", "her", "our", "their", "meine", "deine", "seine", "ihre")
_OF_THAT, _OF_WHOM = ("|".join(rf"(?<=\b{word}[ -])" for word in words) for words in (_HAS_PIN, _WHOSE))
_PIN_NUMBER: Final = r"pin(?:[ -]?(?:code|number|nummer))?"
_PIN_OF: Final = (
    r"[ \t]+(?:of|for|to|on|der|des|für|zu|zum|zur)(?:[ \t]+[^\W\d_][\w'\u2019-]{0,20}){0,2}?"
    rf"[ \t]+(?:{'|'.join(_HAS_PIN)})"
)
_IS: Final = r"(?:[:=]|[ \t](?:is|was|ist|lautet|es|est|é|è))"
_GIVEN: Final = rf"[ \t]{{0,2}}{_IS}[ \t]{{0,4}}"

_QUOTE: Final = "[\"'`\u201c-\u201e\u2018-\u201a\u00ab\u00bb]"
_OF_WHAT: Final = r"(?:[ \t]+(?:for|of|to|für|zu|de|du|del|per|voor)(?:[ \t]+[^\W\d_][\w'\u2019-]{0,24}){1,4}?)?"
_QUOTED: Final = (
    rf"{_OF_WHAT}[ \t]{{0,2}}{_IS}[ \t]{{1,3}}{_QUOTE}(?P<s>[^\"'`\u2018-\u201e\u00ab\u00bb\n]{{12,120}}){_QUOTE}"
)
"""Several words in quotes: no password without quotes has a blank."""
_USER: Final = (
    r"(?i)(?<![a-z])(?:users?(?:[ ]?name)?|benutzer(?:name)?)[ \t]{0,2}[:=]?[ \t]{1,2}"
    r"[\w.@+-]{1,40}(?:[ \t]{0,2}[,;/|][ \t]{0,2}(?:and[ \t])?|[ \t](?:and|with|und|mit|y|et|e|en)[ \t])"
    r"(?:the[ \t])?(?:pass(?:word|wort|code)?|pw|pwd|kennwort|contraseña|mot de passe)[ \t]{0,2}[:=]?[ \t]{1,2}"
)
_GOES_ON: Final = r"(?![ \t]+(?:to|as|into|in|through|along|via|from|by|is|are|was|of)\b)"
"""What follows where "pass" is a verb: "if the user asks, pass id2024 to the handler"."""

_PASSWORD: Final = ("password", "passwort", "kennwort", "passcode", "contraseña", "mot de passe", "wachtwoord", "senha")
_CHANGED: Final = (
    r"(?:[ \t]+(?:was|is|were|has|have|had|been|got|gets|just|now|then|again|today|yesterday)){1,4}"
    r"[ \t]+(?:changed|reset|rotated|updated|switched|set)"
)
_FROM: Final = rf"[ \t]+from[ \t]+{_OPEN}"
_OLD: Final = rf"(?:{_FROM}[^\s]{{4,80}})?[ \t]+(?:to|into)[ \t]+{_OPEN}"
_WURDE: Final = rf"{_OF_WHAT}[ \t]+(?:wurde|ist)(?:[ \t]+(?:jetzt|nun|gestern|heute))?"
_GEAENDERT: Final = r"[ \t]+(?:geändert|gewechselt|umgestellt|gesetzt|aktualisiert)"
_MOVED: Final = (  # what follows "password" up to an old or a new one, and what must follow that
    (rf"{_OF_WHAT}{_CHANGED}{_FROM}", r"[\"']?[ \t]+(?:to|into)[ \t]"),
    (rf"{_OF_WHAT}{_CHANGED}{_OLD}", ""),
    (rf"{_WURDE}[ \t]+von[ \t]+{_OPEN}", rf"[\"']?[ \t]+(?:auf|zu|in)[ \t]+[^\s]{{4,80}}{_GEAENDERT}"),
    (rf"{_WURDE}(?:[ \t]+von[ \t]+[^\s]{{4,80}})?[ \t]+(?:auf|zu|in)[ \t]+{_OPEN}", rf"[\"']?{_GEAENDERT}"),
)
_ACCOUNTS: Final = ("admin:", "administrator:", "root:", "postgres:", "ubuntu:", "sysadmin:", "superuser:")
"""Names of accounts that everybody knows, before a password: ``admin:...``."""
_BY_ACCOUNT: Final = r"(?<![^\s\"'`(])(?<!chown )"
_IN_BRACKETS: Final = rf"{_OF_WHAT}[ \t]?\([ \t]?{VALUE}[ \t]?\)"

_FIXED: Final[tuple[tuple[str, str, str, Callable[[str], bool]], ...]] = (
    (
        "basic auth credentials",
        "://",
        r"://(?P<u>[^\s:/?#@\[\](){}<>]{0,200}+):(?!(?P=u)@)(?P<s>[^\s/@]{4,200}+)@",
        _is_address_password,
    ),
    ("bearer token", "bearer", r"(?i)bearer[ \t]{1,8}(?P<s>[A-Za-z0-9._~+/=%-]{16,}+)", _is_bearer),
    (
        "basic auth credentials",
        "authorization",
        r"(?i)authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?basic[ \t]{1,8}(?P<s>[A-Za-z0-9+/]{8,}+={0,2})",
        _is_bearer,
    ),
    (
        "token",
        "authorization",
        r"(?i)authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?[a-z][\w-]{1,20}[ \t]{1,8}(?P<s>[\w.~+/=%-]{16,}+)",
        is_random,
    ),
    (
        "pin",
        "pin",
        rf"PIN(?:[ -]?(?i:nummer|number))?(?:[ \t]+[^\W\d_]\w{{0,20}}){{0,4}}?[ \t]{{0,2}}{_IS}[ \t]{{0,4}}{_DIGITS}",
        _is_pin,
    ),
    ("pin", "pin", rf"(?i)(?:{_OF_THAT}){_PIN_NUMBER}(?:{_GIVEN}|[ \t]){_DIGITS}", _is_pin),
    ("pin", "pin", rf"(?i)(?:{_OF_WHOM}){_PIN_NUMBER}{_GIVEN}{_DIGITS}", _is_pin),
    ("pin", "pin", rf"(?i)(?<!\w){_PIN_NUMBER}{_PIN_OF}{_GIVEN}{_DIGITS}", _is_pin),
    ("password", ":5432:", rf":5432:[\w*-]{{1,60}}:[\w*-]{{1,60}}:{VALUE}", is_password),
    ("password", "net use", rf"(?i)net use{_LINE}/user:[^\s]{{1,80}}[ \t]{{1,4}}{VALUE}", is_password),
    ("password", "user", rf"{_USER}{VALUE}{_GOES_ON}", is_password),
    ("password", "benutzer", rf"{_USER}{VALUE}{_GOES_ON}", is_password),
    *(
        ("password", name, rf"(?i){name}{_QUOTED}", is_spoken_phrase)
        for name in ("passphrase", "pass phrase", "pass-phrase", "phrase de passe")
    ),
    *(
        ("password", name, rf"(?i){name}{_QUOTED}", is_spoken_password)
        for name in ("password", "passwort", "kennwort", "contraseña", "mot de passe", "wachtwoord", "senha")
    ),
    *(
        ("password", name, rf"(?i){name}{before}{VALUE}(?={after})", is_strong)
        for name in _PASSWORD
        for before, after in _MOVED
    ),
    *(("password", name, rf"(?i){name}{_IN_BRACKETS}", is_mixed) for name in _PASSWORD),
    *(("password", name, rf"(?i){_BY_ACCOUNT}{name}{VALUE}", _is_account_password) for name in _ACCOUNTS),
    ("private key", "wif", rf"(?-i:WIF)[ \t]{{0,4}}[:=][ \t]{{0,4}}{VALUE}", is_random),
    ("api key", "licen", r"(?i)licen[sc]e key (?:is|:)[ \t]?(?P<s>[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4})", is_key),
)
"""(what it is, clue, shape from the clue on, a test of its group ``s``)."""
_LOGINS: Final = ("login", "credential", "credentials", "zugangsdaten", "user/pass", "anmeldedaten", "identifiants")
"""Words before a user's name and a password: ``login: admin / ...``."""
_FLAGS: Final = (
    *(("mysql", rf"{_LINE}[ \t]-p"), ("mysqldump", rf"{_LINE}[ \t]-p"), ("mysqladmin", rf"{_LINE}[ \t]-p")),
    *(("mariadb", rf"{_LINE}[ \t]-p"), ("zip", rf"{_LINE}[ \t]-P[ \t]{{0,2}}"), ("7z", rf"{_LINE}[ \t]-p")),
    *((c, rf"{_LINE}[ \t]-[pw][ \t=]{{1,2}}") for c in ("docker login", "podman login", "az login", "oc login")),
    *((c, rf"{_LINE}[ \t]-[pw][ \t=]{{1,2}}") for c in ("helm registry login", "twine", "snowsql")),
    *((f"ldap{c}", rf"{_LINE}[ \t]-w[ \t]{{0,2}}") for c in ("search", "whoami", "modify", "add", "delete", "passwd")),
    *(("sshpass", r"[ \t]{1,4}-p[ \t]{0,4}"), ("redis-cli", rf"{_LINE}-a[ \t]{{1,4}}")),
    *(("openssl", rf"{_LINE}[ \t]-k[ \t]{{1,2}}"), ("smbclient", rf"{_LINE}-U[ \t]{{0,4}}[\"']?[\w/.-]{{1,60}}%")),
    *(
        (c, rf"{_LINE}[ \t]?(?:-[a-zA-Z]{{0,6}}u|--user|-a|--auth)[ \t=]{{1,2}}[\"']?[^\s:\"']{{1,80}}:")
        for c in ("curl", "wget", "http", "https", "xh")
    ),
)
"""(command, what follows it up to a password)."""
_TOKEN_COMMANDS: Final = ("vault login", "cargo login", "wandb login", "snyk auth", "importprivkey")

_PHRASES: Final = (
    *_FIXED,
    *(
        (
            "password",
            word,
            rf"(?i){word}[:=]?[ \t]{{1,4}}[\w.@+-]{{1,40}}[ \t]{{0,4}}[/,][ \t]{{0,4}}{VALUE}",
            is_strong,
        )
        for word in _LOGINS
    ),
    *(("password", command, f"{command}{rest}{_OPEN}{VALUE}", is_password) for command, rest in _FLAGS),
    *(("token", c, rf"{c}[ \t]{{1,4}}{_OPEN}{VALUE}", is_random) for c in (*_TOKEN_COMMANDS, "AUTH")),
)
PLACED: Final = PrefilteredPatterns(
    ((clue,), (what, clue.lower(), shape, is_one)) for what, clue, shape, is_one in _PHRASES
)
