"""What secrets look like where the library has no shape for them: service keys, headers, assignments, key blocks."""

from __future__ import annotations

import re
from typing import Final

_START: Final = r"(?<![A-Za-z0-9])"
_WORD: Final = r"[A-Za-z0-9_-]"

CLUES: Final = (
    *("akia", "asia", "abia", "acca", "a3t", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "hf_", "npm_"),
    *("gsk_", "k_live_", "k_test_", "whsec_", "glsa_", "dop_v1_", "dckr_pat_", "shpat_", "shpss_", "shpca_", "shppa_"),
    *("lin_api_", "r8_", "glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glimt-", "glptt-", "glagent-"),
    *("gr1348941", "sk-", "xai-", "xox", "xapp-", "pypi-a", "sq0csp-", "nvapi-", "tskey-", "pmak-", "gocspx-", "aiza"),
    *("ya29.", "sg.", "hvs.", "eyj", "hooks.slack", "_authtoken", "accountkey=", "age-secret-key-", ":aa", "-us"),
    *("private key", "://", "passw", "passphrase", "passcode", "pwd", "secret", "token", "credential", "bearer"),
    *("basic ", "apikey", "api_key", "api-key", "api key", "_key", "-key", "accesskey", "access key", "authkey"),
    *("auth key", "privatekey", "twilio", "discord", "telegram"),
)
"""Lower-case words of which one stands in or before every secret that is looked for, but for card numbers."""

KEY_BLOCK: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]{0,40000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\n)*[A-Za-z0-9+/=]{20,})*)"
)
"""A private key between its marks; without the second one, the lines of it that are there."""

SERVICES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(_START + shape))
    for name, shape in (
        ("anthropic api key", r"sk-ant-[A-Za-z0-9_-]{16,}"),
        ("api key", r"sk-(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{20,}"),
        ("github token", r"github_pat_\w{22,}"),
        ("gitlab token", r"glpat-[A-Za-z0-9_.-]{20,}"),
        ("google api key", r"AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{28}"),
        ("hugging face token", r"hf_[A-Za-z0-9]{30,}"),
        ("npm token", r"npm_[A-Za-z0-9]{36}|(?<=_authToken=)[A-Fa-f0-9-]{36}"),
        ("stripe access key", r"(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
        ("slack token", r"(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,})"),
        ("json web token", r"(?<![_-])eyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){2,4}"),
        ("shopify token", r"shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}"),
        ("api key", r"(?:xai-|gsk_|nvapi-|r8_|lin_api_|tskey-[a-z]+-|PMAK-)[A-Za-z0-9_-]{30,}"),
        ("access token", r"(?:dop_v1_|dckr_pat_|glsa_|hvs\.)[A-Za-z0-9_-]{20,}"),
        ("age secret key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    )
)
"""(name, shape) of keys that services give out; the whole match is the secret."""

HEADERS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("basic auth credentials", re.compile(r"://[^\s:/?#@]{0,200}:(?P<s>[^\s/@]{4,200})@")),
    ("bearer token", re.compile(r"(?i)\bbearer[ \t]{1,8}(?P<s>[A-Za-z0-9._~+/=-]{16,})")),
    (
        "basic auth credentials",
        re.compile(
            r"(?i)\bauthorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?basic[ \t]{1,8}(?P<s>[A-Za-z0-9+/]{8,}={0,2})"
        ),
    ),
)
"""(name, shape); the group is the secret, if it has letters and digits."""

ASSIGNED: Final = re.compile(
    r"(?i)(?P<name>pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?|(?<![a-z])[a-z]{2,20}[_ -]?key)s?"
    r"(?:[_.-][\w.-]{0,40})?[\"'`\]*]{0,4}[ \t]{0,4}(?:=>|:=|=(?!=)|:(?![:/])|is[ \t]|was[ \t])[ \t]{0,4}"
    r"(?P<quote>[\"'`*]{0,3})(?P<s>[^\s\"'`,;<>(){}\[\]|]{6,200})(?P<after>[(\[{]?)"
)
"""A name that stands for a secret, and the value that it is given, in code, in settings or in prose."""

_PASSWORD: Final = re.compile(r"(?i)pass|pwd")
_KEY_NAMES: Final = re.compile(
    r"(?i)(?:api|access|auth|private|secret|service|client|account|signing|encryption|master)"
)
_PLACEHOLDER: Final = re.compile(
    r"(?i)your|example|change.?me|placeholder|redacted|dummy|sample|insert|xxx|\.\.\.|\*\*|123456789$"
    r"|^[^0-9]*(?:pass|pwd|secret|token|(?:^|[._-])(?:api|my|the|some)[._-]?key)[^0-9]*[0-9]{0,4}$"
    r"|^(?:null|none|true|false|undefined|required|optional)$"
)
_CODE: Final = re.compile(
    r"[$%@#]?[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+|[/.~][\w./-]*|(?:[a-z0-9_.-]+/)+[\w.-]*"
    r"|[a-z]\w*(?::\w+)+|\$\w+|%\w+%?|0x[0-9a-fA-F]{1,8}"
)
_DATE: Final = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|\d{1,2}:\d\d.*|[\d.,]+(?:%|[a-zA-Z]{1,6})?")
_SHORTEST_KEY: Final = 12
_MARKS: Final = frozenset("!@#$%^&*?+=")


def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret instead of being one: ``your_api_key``, ``********``, ``<password>``."""
    return bool(_PLACEHOLDER.search(value)) or len(set(value)) < 4  # noqa: PLR2004  # xxxx, 0000


def is_value_of(name: str, value: str) -> bool:
    """Whether what a name is given is a secret rather than a word, a variable, a path, a date or a quantity.

    Args:
        name: ``password``, ``token``, ``api_key`` ...
        value: What it is given, 6 characters or more.
    """
    if is_placeholder(value) or _CODE.fullmatch(value):
        return False
    letters, digits = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    if _PASSWORD.match(name):
        return digits if letters else value.isdigit() or bool(_MARKS & set(value) and digits)
    if name.lower().endswith("key") and not _KEY_NAMES.match(name):
        return False
    return letters and digits and len(value) >= _SHORTEST_KEY and not _DATE.fullmatch(value)


_CARD: Final = re.compile(
    r"[2-6](?<![0-9.][2-6])[0-9]{3}(?:(?P<gap>[ -])(?:[0-9]{4}(?P=gap)[0-9]{4}(?P=gap)[0-9]{4}(?:(?P=gap)[0-9]{3})?"
    r"|[0-9]{6}(?P=gap)[0-9]{4,5})|[0-9]{10,15})(?![0-9])"
)
_ISSUERS: Final = re.compile(
    r"4(?:[0-9]{15}|[0-9]{18})|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[689][0-9])[0-9]{11}|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}|35[0-9]{14}|62[0-9]{14,17}"
)
_DOUBLED: Final = str.maketrans("0123456789", "0246813579")


def card_numbers(text: str) -> list[tuple[int, int]]:
    """Return where numbers of payment cards stand: an issuer's first digits and length, and Luhn's check digit."""
    return [m.span() for m in _CARD.finditer(text) if _is_card("".join(c for c in m[0] if c.isdigit()))]


def _is_card(digits: str) -> bool:
    plain = sum(map(int, digits[-1::-2])) + sum(map(int, digits[-2::-2].translate(_DOUBLED)))
    return plain % 10 == 0 and _ISSUERS.fullmatch(digits) is not None
