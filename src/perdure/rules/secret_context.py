"""Secrets that are known by what stands before them: a name in one of many languages, a header, a flag, a command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from perdure.records.patterns import lazy_pattern
from perdure.rules.secret_shapes import Found
from perdure.rules.secret_values import (
    PrefilteredPatterns,
    is_key,
    is_network_key,
    is_passphrase,
    is_password,
    is_random,
    is_scattered,
    is_strong,
)

MARK: Final = "\ue000"  # stands for what was replaced before, so that nothing is found in it or behind it
_STOPS: Final = (
    r"\s\"'`,;<>(){}\[\]|\\\u00a0\u00ab\u00bb\u2018-\u201f\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef" + MARK
)
VALUE: Final = rf"(?P<s>[^{_STOPS}]{{4,200}}+)(?P<after>[(\[{{]?)"
_QUOTE: Final = r"[\\\"'`*_\u00ab\u201c-\u201e\u2018-\u201a\u300c]{0,4}+"
_ABOUT: Final = (
    r"(?!s?[\w.-]{0,40}[_.-](?:at|on|date|time|ttl|age|days|hours|seconds|length|len|size|count|limit|budget|version|expiry"
    r"|expires|type|ur[li]|path|file|dir|name|hint|policy|field|label|column|pattern|regex|format|prefix|env|var|arn)"
    r"(?![\w.-]))"
)
"""Not what a name ends with that tells something about a secret: ``password_changed_at``, ``token_count``."""
_SUFFIX: Final = _ABOUT + r"s?(?:[_.-][\w.-]{0,40}+)?[\\\"'`\]*\u00bb\u201d\u300d]{0,4}+"
_GAP: Final = r"(?:[ \t]+[^\W\d_][\w'\u2019-]{0,24}+|[ \t]*\([^()\n]{1,30}\)){0,6}?"
_VERBS: Final = (
    r"is|was|are|were|be|to|ist|lautet|war|wäre|es|era|ser[áa]|est|[ée]tait|é|è|foi|jest|je|är|er|on|это"
    r"|\u2013|\u2014"
)
_STRICT: Final = (
    r"=>|:=|(?<!\))(?<!\) )->|(?<!=)=(?!=)|[:\uff1a](?![:/])|\uff1d|(?<=[A-Za-z])>|[\"'][ \t]{1,4}value[ \t]{0,2}="
)
_SPOKEN: Final = (
    rf"[ \t](?:{_VERBS})(?=[ \t:])(?:[ \t]+(?:now|still|jetzt|nun|ahora|maintenant|agora))?:?|是|为|為|は|은|는|이|가"
)
_LINES: Final = r"(?P<lines>(?:[ \t]{0,8}\r?\n[ \t>*-]{0,8}){1,2})"

ASSIGNED: Final = lazy_pattern(
    rf"(?i){_SUFFIX}(?P<gap>{_GAP})[ \t]{{0,4}}(?:{_STRICT}|{_SPOKEN})(?:{_LINES}|[ \t\u00a0]{{0,4}})"
    rf"{_QUOTE}[ \u00a0]?{VALUE}"
)
"""What follows a name that stands for a secret, in code, in settings or in prose, with the value that it is given."""
_BESIDE: Final = lazy_pattern(rf"{_SUFFIX}(?P<gap>{_GAP})(?:{_LINES}|[ \t]{{1,3}}){_QUOTE}{VALUE}")
"""The same without any sign or verb between them."""
_LINEENDS: Final = lazy_pattern(r"[\"'`*.]{0,3}[ \t]{0,8}(?:\r?\n|$)")
_NEXT_NAME: Final = lazy_pattern(r"[\w.-]*+[:=]")
_WORD_BEFORE: Final = lazy_pattern(r"[\w.-]*$")
_PARAMETER: Final = lazy_pattern(r"&(?:amp;)?[\w.%-]{1,40}=")
_LOGIN_BEFORE: Final = lazy_pattern(r"(?:login|default)\s{1,4}\S{1,80}\s{1,8}$")
_REST: Final = lazy_pattern(r"[A-Za-z0-9_\-+/=~.]*+")
_LONGEST: Final = 200  # characters of a value that are judged; it goes on to its end
_SNAKE: Final = lazy_pattern(r"[a-z]{1,40}(?:_[a-z]{1,40}){1,12}")
_UUID: Final = lazy_pattern(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HASH: Final = lazy_pattern(r"(?i)[0-9a-f-]*+")
_VERDICT: Final = lazy_pattern(r"PASS:?[ \t]{1,8}(?:[\w.-]{0,40}[Tt]est|[\w.-]{1,40}/)")
"""What begins a line about a test that passed."""
_MOST_INSIDE: Final = 12  # names within so many characters that are looked at


class _Name(NamedTuple):
    """Names of one sort, each with the clue at which it begins."""

    label: Callable[[str], str]  # what a find is called, from the name
    clues: tuple[str, ...]  # in lower case
    shape: re.Pattern[str]  # the whole name, from the clue on
    accepts: Callable[[str], bool]  # whether a value is one after a sign, a verb or a flag
    beside: Callable[[str], bool]  # whether one is that stands beside the name


def _is_session(value: str) -> bool:
    # A UUID names a session of a tool or of a trace far more often than it opens one.
    return len(value) >= 20 and is_random(value) and not _UUID.fullmatch(value)  # noqa: PLR2004  # a shorter one is a name


def _is_long_key(value: str) -> bool:
    # What is hexadecimal alone is the key of a cache or of a row far more often than one of a service.
    return len(value) >= 20 and is_random(value) and not _HASH.fullmatch(value)  # noqa: PLR2004  # a shorter one is a name


def _is_never(_: str) -> bool:
    return False


_PASSWORDS: Final = _Name(
    lambda _: "password",
    (
        *(
            "pass",
            "pwd",
            "pswd",
            "pw",
            "kennwort",
            "contrase",
            "clave",
            "mdp",
            "senha",
            "palavra",
            "parola",
            "wachtwoord",
        ),
        *("hasło", "haslo", "heslo", "lösenord", "losenord", "adgangskode", "salasana", "jelszó", "şifre", "sifre"),
        *("парол", "密码", "密碼", "口令", "暗証", "暗证", "パスワード", "パスフレーズ", "비밀번호", "암호"),
        *("كلمة المرور", "كلمة السر", "סיסמ", "รหัสผ่าน", "mật khẩu", "kata sandi"),
    ),
    lazy_pattern(
        r"(?i)(?:pass(?:words?(?!-stdin)|wds?|phrases?|codes?|wort\w{0,6}|wörter|ord|e|in|out)?(?![a-zäöü])|pwd(?![a-z])|pswd"
        r"|(?<![a-z0-9])pw(?![a-z])|(?-i:(?<=[a-z])PW)(?![a-z])|kennw[oö]rt\w{0,3}|contrase(?:ñ|n)as?|clave(?![a-z])"
        r"|(?<![a-z])mdp(?![a-z])|senhas?(?![a-z])|palavra[ -]passe|wachtwoord(?:en)?"
        r"|parola(?: d['\u2019]ordine)?(?![a-z])"
        r"|has[łl]o(?!\w)|heslo(?!\w)|l[öo]senord(?:et)?|adgangskoden?|salasana|jelszó|[şs]ifre(?!\w)|парол[ьяюе]"
        r"|密码|密碼|口令|暗証(?:番号)?|暗证|パスワード|パスフレーズ|비밀번호|암호"
        r"|كلمة المرور|كلمة السر|סיסמ[אה]|รหัสผ่าน|mật khẩu|kata sandi)"
    ),
    is_password,
    is_strong,
)
_TOKENS: Final = _Name(
    lambda name: "token" if name.lower().startswith("token") else "secret",
    (
        *("secret", "token", "credential", "jeton", "令牌", "トークン", "토큰", "токен", "authorization", "authtoken"),
        *("seed", "geheimnis", "segredo", "secreto", "шифр"),
    ),
    lazy_pattern(
        r"(?i)(?:secret(?:o|os)?|token|credential|jeton|令牌|トークン|토큰|токен|authorization|(?<![a-z])seed(?![a-z])"
        r"|geheimnis|segredo|шифр)"
    ),
    is_key,
    is_random,
)
_SESSIONS: Final = _Name(
    lambda _: "session cookie",
    ("sess", "connect.sid", "auth="),
    lazy_pattern(r"(?i)(?:sess(?:ion)?[_.-]?(?:id|key|token)?|connect\.sid|(?<=[?&])auth)(?==|\"\s?:)"),
    _is_session,
    _is_never,
)
_KEYS: Final = _Name(
    lambda _: "api key",
    (
        *("key", "schlüssel", "schluessel", "clé", "clave", "chave", "chiave", "sleutel", "klucz", "ключ"),
        *("密钥", "密鑰", "秘钥", "金鑰", "キー", "키", "pat"),
    ),
    lazy_pattern(
        r"(?i)(?:key|schl(?:ü|ue)ssel|clé(?: api| d.api| secrète)?|sleutel|klucz|ключ|密钥|密鑰|秘钥|金鑰|キー"
        r"|(?:clave|chave|chiave)s?(?: de| d.| di)? ?(?:api|acesso|acceso)|(?<=api )키|(?<=api)키"
        r"|(?<![a-z])(?-i:PAT)(?![a-z]))"
    ),
    is_key,
    is_random,
)
_OTHER_KEYS: Final = _Name(
    lambda _: "api key",
    ("key",),
    lazy_pattern(r"(?:(?<=[A-Za-z0-9][_-])key|(?<=[a-z])Key)(?![A-Za-z])"),
    _is_long_key,
    _is_never,
)
"""The key of any service that is named before it: ``pixabay_key``."""
_KEY_BEFORE: Final = lazy_pattern(
    r"(?i)(?:(?<![a-z])|(?-i:(?=[A-Z])))(?:x?api|access|auth|private|secret|service|client|account|sign(?:ing)?|encryption|encrypt|master|admin|licen[sc]e"
    r"|product|activation|serial|storage|webhook|deploy|server|app|application|user|rest|live|shared|preshared|security"
    r"|registry|storage|wallet|age|jwt|session|cookie|hmac|aes|backup|recovery|integration"
    r"|personal|bot|ingest|write)[_ -]?$"
)
_NO_KEY: Final = lazy_pattern(
    r"(?i)(?:public|publishable|primary|foreign|partition|cache|sort|idempotency|host|hash|group|row|object|config|lookup"
    r"|unique|composite|dedup\w*|i18n|translation|map|dict|index|storage_object|blob|s3|site"
    r"|file|sheet|doc(?:ument)?|issue|project|message|event|request|routing)[_ -]?$"
)
_NETWORK_KEYS: Final = _Name(
    lambda _: "wifi key",
    ("wpa", "wep", "wifi", "wi-fi", "wlan"),
    lazy_pattern(
        r"(?i)(?<![a-z])(?:(?:wpa[23]?|wep|wi-?fi|wlan)(?:[ -](?:network|guest|netz|psk))?[ -]?(?:key|psk"
        r"|passkey|schl(?:ü|ue)ssel|code|clé|clave|chave|chiave|sleutel|klucz)(?![a-zäöü])"
        r"|(?:(?<=clé )|(?<=clé du )|(?<=clave )|(?<=clave del )|(?<=chave )|(?<=chave do )|(?<=chiave )"
        r"|(?<=chiave del )|(?<=sleutel )|(?<=key for )|(?<=key of ))(?:wi-?fi|wlan)(?![a-z-]))"
    ),
    is_network_key,
    is_network_key,
)
_NAMES: Final = (_PASSWORDS, _TOKENS, _SESSIONS, _KEYS, _OTHER_KEYS, _NETWORK_KEYS)
CLUES: Final = PrefilteredPatterns(((clue,), (name, clue)) for name in _NAMES for clue in name.clues)


def find_named(text: str, lower: str) -> Iterator[Found]:
    """Yield values that something before them shows to be secrets.

    ``text`` has ``MARK`` where a secret was replaced before; ``lower`` is it in lower case, character by character.
    """
    for name, clue in CLUES.among(lower):
        yield from _after_clue(text, lower, name, clue)


def _after_clue(text: str, lower: str, name: _Name, clue: str) -> Iterator[Found]:
    """Yield the values after the names that begin with a clue.

    What is found is not looked into again, and of the names in a value that is none only the first few are, because
    a value may be a long chain of names: that would take the square of its length.
    """
    covered = end = tried = 0
    for at in places(lower, (clue,)):
        if at < covered or (at < end and tried >= _MOST_INSIDE):
            continue
        match = name.shape.match(text, at)
        if match is None or not _stands_for_secret(text, name, match):
            continue
        tried = tried + 1 if at < end else 0
        for found in _find_value(text, name, match):
            covered = found[1]
            yield found
        end = max(end, at + _LONGEST)


def name_of_pair(key: str, value: str) -> str | None:
    """Return what a value is whose key shows it to be a secret, as ``password`` in ``{"password": "hunter2"}``."""
    lower = key.lower()
    if len(lower) != len(key) or any(c.isspace() for c in value):
        return None
    for name in _NAMES:
        for at in places(lower, name.clues):
            match = name.shape.match(key, at)
            if (
                match is not None
                and _stands_for_secret(key, name, match)
                and ASSIGNED.fullmatch(f"{key[match.end() :]}={value}")
            ):
                return name.label(match[0]) if name.accepts(value) else None
    return None


ENDS: Final = ".,!?:*_。"


def places(lower: str, clues: tuple[str, ...]) -> Iterator[int]:
    """Yield where clues stand in a text in lower case."""
    for clue in clues:
        at = lower.find(clue)
        while at >= 0:
            yield at
            at = lower.find(clue, at + len(clue))


def _stands_for_secret(text: str, name: _Name, match: re.Match[str]) -> bool:
    """Whether a name is one by itself, and a key by the word before it."""
    before = text[max(0, match.start() - 24) : match.start()]
    if name is _PASSWORDS:
        return not _VERDICT.match(text, match.start()) and (
            match[0].lower() not in {"pass", "passe", "passin", "passout"}
            or not before[-1:].isalpha()
            or before.lower().endswith(("require", "db", "user", "smtp", "mail"))
        )
    if name is _OTHER_KEYS:
        return not _NO_KEY.search(before)
    if name is not _KEYS or not match[0].lower().endswith("key"):
        return True
    return not _NO_KEY.search(before) and bool(_KEY_BEFORE.search(before) or _is_constant(before, match[0]))


def _is_constant(before: str, key: str) -> bool:
    """Whether a name is written as a constant or a header: ``TS_KEY``, ``Fastly-Key``."""
    return (key.isupper() and before.endswith("_")) or (key == "Key" and before.endswith("-"))


def _find_value(text: str, name: _Name, match: re.Match[str]) -> Iterator[Found]:
    """Yield the value that a name is given: after a sign or a verb, after a flag, beside it, or on the next line."""
    label = name.label(match[0])
    word = _WORD_BEFORE.search(text, max(0, match.start() - 40), match.start())
    is_flag = word is not None and word[0].startswith("-")
    found = ASSIGNED.match(text, match.end())
    if found is not None and _is_given(text, name, found):
        yield _span(text, found, label)
        return
    found = _BESIDE.match(text, match.end())
    if found is None or found["after"]:
        return
    value = _trim(found)
    if found["lines"]:
        fits = not found["gap"] and _ends_line(text, found) and is_strong(value) and name.accepts(value)
    elif found["gap"]:
        fits = name is _PASSWORDS and is_scattered(value)
    elif is_flag or _LOGIN_BEFORE.search(text, max(0, match.start() - 100), match.start()):
        fits = name.accepts(value) and not value.startswith("-")
    else:
        fits = name.beside(value)
    if fits:
        yield _span(text, found, label)


def _is_given(text: str, name: _Name, found: re.Match[str]) -> bool:
    value = _trim(found)
    if found["after"] or not name.accepts(value):
        return False
    if found["lines"] and not (_ends_line(text, found) and (is_strong(value) or is_passphrase(value))):
        return False
    if _is_identifier(text, found):
        return False
    return not found["gap"] or is_strong(value) or is_passphrase(value)


def _is_identifier(text: str, found: re.Match[str]) -> bool:
    """Whether a value is a name in code: words joined by ``_``, without quotes, after ``=``."""
    return text[: found.start("s")].endswith(("=", "= ")) and _SNAKE.fullmatch(found["s"]) is not None


def _ends_line(text: str, found: re.Match[str]) -> bool:
    return not _NEXT_NAME.match(found["s"]) and _LINEENDS.match(text, found.end("s")) is not None


def _trim(found: re.Match[str]) -> str:
    cut = _PARAMETER.search(found["s"])
    return (found["s"][: cut.start()] if cut else found["s"]).rstrip(ENDS)


def _span(text: str, found: re.Match[str], label: str) -> Found:
    start, value = found.start("s"), _trim(found)
    end = start + len(value)
    if len(found["s"]) == _LONGEST and (rest := _REST.match(text, end)) is not None:
        end = rest.end()
    return start, end, label
