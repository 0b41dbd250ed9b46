"""Which authorities a knowledge file names, and which queries it may hold: one SELECT each, with values bound."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from perdure.knowledge.records.authority import AuthorityConfig, SqlConfig, TreeConfig
from perdure.records.errors import PolicyError
from perdure.rules.validation.values import checked_namespace, checked_text, parse_entries

_SQL_KEYS: Final = {"url", "url_variable", "timeout_seconds", "predicates", "namespaces"}
_TREE_KEYS: Final = {"working_tree", "timeout_seconds", "namespaces"}
_DATABASES: Final = re.compile(r"(?i)sqlite:///.+|postgresql(\+psycopg)?://.+")
_NAME: Final = re.compile(r"[A-Za-z][\w-]{0,63}")
_PREDICATE: Final = re.compile(r"[a-z][a-z0-9_]{0,99}")
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w{0,199}")
_LONGEST_QUERY: Final = 10_000
_LONGEST_TIME: Final = 60.0
_SHORTEST_TIME: Final = 0.05
_MOST: Final = 100
_BINDINGS: Final = {"subject", "aliases"}

_PIECE: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
"""What is quoted in a query: texts, and names."""

_UNSAFE: Final = re.compile(r"--|/\*|\\|\$\w*\$|['\"`]")
"""What hides where a text ends: comments, backslashes, dollar quotes, a quote that nothing closes."""

_WRITES: Final = re.compile(
    r"(?i)\b(insert|update|delete|merge|into|create|alter|drop|truncate|grant|attach|detach|pragma|vacuum|copy|call)\b"
)
_BINDING: Final = re.compile(r"(?<![:\w]):(\w+)")
_ESCAPED_TEXT: Final = re.compile(r"(?i)(?<!\w)(?:e|u&)$")


def authorities_from(data: Mapping[str, Any], name: str) -> tuple[AuthorityConfig, ...]:
    """Return the authorities of a parsed knowledge file, in its order: the first that knows decides.

    Args:
        data: The whole file; only ``[authorities.NAME]`` tables are looked at. A table has either ``url`` or
            ``url_variable`` with ``predicates`` (predicate -> query), or ``working_tree``; besides ``timeout_seconds``
            (0.05 to 60, default 2) and ``namespaces`` (default all).
        name: The file, for messages.
    """
    tables = data.get("authorities", {})
    if not isinstance(tables, Mapping) or len(tables) > _MOST:
        raise PolicyError(
            (f"{name}: authorities must be at most {_MOST} [authorities.NAME] tables.",),
            remedy='Write [authorities.billing], then url = "sqlite:///billing.db".',
        )
    named = ((f"authority {label!r}", partial(_authority, label, table)) for label, table in tables.items())
    return parse_entries(named, name, remedy="Fix the authorities; docs/how-to.md shows one.")


def _authority(label: str, table: Any) -> AuthorityConfig:
    if not _NAME.fullmatch(label):
        raise TypeError("a name has at most 64 letters, digits, _ and -, and starts with a letter.")
    if not isinstance(table, Mapping):
        raise TypeError("it is not a table.")
    keys = _TREE_KEYS if "working_tree" in table else _SQL_KEYS
    if unknown := sorted(set(table) - keys):
        raise TypeError(f"there is no key {unknown[0]!r} here; the keys are {', '.join(sorted(keys))}.")
    seconds, places = _seconds(table.get("timeout_seconds", 2.0)), _namespaces(table.get("namespaces", []))
    if "working_tree" in table:
        return TreeConfig(label, checked_text(table["working_tree"], "working_tree", longest=4096), seconds, places)
    url, variable = table.get("url", ""), table.get("url_variable", "")
    if bool(url) == bool(variable):
        raise TypeError("it needs either url or url_variable.")
    if variable and not (isinstance(variable, str) and _VARIABLE.fullmatch(variable)):
        raise TypeError("url_variable is not the name of an environment variable.")
    if url:
        checked_database(url)
    return SqlConfig(label, url, variable, seconds, _queries(table.get("predicates")), places)


def checked_database(url: Any) -> str:
    """Return the URL of a database that can be opened read-only and stopped in time; the URL is never repeated."""
    if not isinstance(url, str) or not _DATABASES.fullmatch(url):
        raise TypeError("url must be sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE.")
    return url


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _SHORTEST_TIME <= value <= _LONGEST_TIME:
        raise TypeError(f"timeout_seconds must be from {_SHORTEST_TIME} to {_LONGEST_TIME:g}.")
    return float(value)


def _namespaces(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("namespaces must be a list of texts.")
    return tuple(dict.fromkeys(checked_namespace(place) for place in value))


def _queries(table: Any) -> dict[str, str]:
    if not isinstance(table, Mapping) or not table:
        raise TypeError("it needs predicates: predicate = a query.")
    queries = {}
    for predicate, query in table.items():
        if not _PREDICATE.fullmatch(predicate):
            raise TypeError(f"the predicate {predicate!r} is not in normal form, such as delivery_day_preference.")
        try:
            queries[predicate] = checked_query(query)
        except TypeError as error:
            raise TypeError(f"the query of {predicate}: {error}") from None
    return queries


def checked_query(query: Any) -> str:
    """Return a query that only reads and takes nothing but ``:subject`` and ``:aliases``.

    This refuses what is plainly no question; that nothing is written is seen to by the database itself, which is opened
    read-only (knowledge/authorities/sql.py). Colons within quotes are escaped for the library that binds values.

    Raises:
        TypeError: It is not one SELECT, holds a comment or an escape, writes, or names another binding.
    """
    text = checked_text(query, "query", longest=_LONGEST_QUERY).strip()
    text = text.removesuffix(";").rstrip()
    parts, last = [], 0
    plain = []
    for quoted in _PIECE.finditer(text):
        code = text[last : quoted.start()]
        if quoted.group().startswith("'") and _ESCAPED_TEXT.search(code):
            raise TypeError("write texts in plain quotes, without a letter before them.")
        parts += [code, quoted.group().replace(":", "\\:")]
        plain.append(code)
        last = quoted.end()
    parts.append(text[last:])
    plain.append(text[last:])
    _check_code(" x ".join(plain), any("\\" in quoted for quoted in _PIECE.findall(text)))
    return "".join(parts)


def _check_code(code: str, backslash: bool) -> None:
    """Look at a query without what is quoted in it."""
    if not re.match(r"(?i)(select|with)\b", code):
        raise TypeError("it must begin with SELECT or WITH.")
    if ";" in code:
        raise TypeError("it must be one statement.")
    if backslash or _UNSAFE.search(code):
        raise TypeError("it must not contain a comment, backslash, dollar quote or open quote.")
    if word := _WRITES.search(code):
        raise TypeError(f"{word.group()} is not allowed in a query; if a column has this name, quote it.")
    if re.search(r":\w+:", code):
        raise TypeError("write CAST(:subject AS ...) instead of a cast with colons.")
    bound = set(_BINDING.findall(code))
    if unknown := sorted(bound - _BINDINGS):
        raise TypeError(f"there is no value :{unknown[0]}; there are :subject and :aliases.")
    if not bound:
        raise TypeError("it must ask about :subject or :aliases.")
