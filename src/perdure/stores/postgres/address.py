"""A server's URL: what is ours in it, what is the driver's, and what may be shown of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

import psycopg

from perdure.records.errors import InvalidInput

MOST: Final = 1000
LONGEST: Final = 3600
_PREFIX: Final = re.compile(r"[^\x00-\x1f\x7f]{1,199}/")
_PORTS: Final = re.compile(r"[0-9]{0,5}(,[0-9]{0,5})*")
_NAME: Final = re.compile(r"[a-z_]{1,40}")
_OURS: Final = frozenset({"namespace_prefix", "pool_size", "timeout", "prepare"})
_REMEDY: Final = (
    "Write postgresql://user:password@host:port/database; in the password, @ is %40, : is %3A and / is %2F."
)


@dataclass(frozen=True, slots=True)
class Address:
    """A server and what is bound to the connections to it."""

    dsn: str = field(repr=False)  # as libpq takes it; holds the password, so it is left out of what is printed
    prefix: str = ""  # put before every namespace; nothing outside it can be named
    connections: int = 10  # most connections at once
    seconds: int = 30  # most that one transaction may take
    prepares: bool = True  # whether statements are prepared; poolers that do not know of it need them not to be

    @classmethod
    def of(cls, url: str) -> Address:
        """Read a URL: everything but what is ours is libpq's, letter by letter.

        Raises:
            InvalidInput: The URL is no URL, or one of our parameters is out of bounds. No part of a URL that could not
                be read is in the message: it may be one of the password.
        """
        start = max(url.find("@"), 0)  # a password may hold a question mark
        head, mark, query = url[start:].partition("?")
        pairs = [(part.partition("=")[0], part) for part in query.split("&") if part]
        ours = {name: unquote(part.partition("=")[2]) for name, part in pairs if name in _OURS}
        rest = url[:start] + head + mark + "&".join(part for name, part in pairs if name not in _OURS)
        prefix, size, seconds = ours.get("namespace_prefix"), ours.get("pool_size", "10"), ours.get("timeout", "30")
        if sum(name in _OURS for name, _ in pairs) > len(ours):
            raise InvalidInput("A parameter of the URL is given twice.", remedy="Give each once.")
        if prefix is not None and not _PREFIX.fullmatch(prefix):
            raise InvalidInput(
                "namespace_prefix must be plain text that ends with /, of at most 200 characters.",
                remedy="For example namespace_prefix=acme/ ; without the / it would also match acmecorp.",
            )
        if not re.fullmatch(r"[0-9]{1,4}", size) or not 1 <= int(size) <= MOST:
            raise InvalidInput(f"pool_size must be a number from 1 to {MOST}.", remedy="10 is the default.")
        if not re.fullmatch(r"[0-9]{1,4}", seconds) or not 1 <= int(seconds) <= LONGEST:
            raise InvalidInput(f"timeout must be a number of seconds from 1 to {LONGEST}.", remedy="30 is the default.")
        prepare = ours.get("prepare", "yes")
        if prepare not in ("yes", "no"):
            raise InvalidInput("prepare must be yes or no.", remedy="yes is the default; older poolers need no.")
        _check_parameters([name for name, _ in pairs if name not in _OURS])
        _check(rest)
        return cls(rest.removesuffix("?"), prefix or "", int(size), int(seconds), prepare == "yes")

    @property
    def shown(self) -> str:
        """The address without a password."""
        parts = psycopg.conninfo.conninfo_to_dict(self.dsn)
        user = f"{parts['user']}@" if parts.get("user") else ""
        return f"postgresql://{user}{parts.get('host', '')}:{parts.get('port', 5432)}/{parts.get('dbname', '')}"


def _check_parameters(names: list[str]) -> None:
    settings = {setting.keyword.decode() for setting in psycopg.pq.Conninfo.get_defaults()} | {"ssl"}
    for name in names:
        if name not in settings and _NAME.fullmatch(name):
            raise InvalidInput(f"Unknown URL parameter: {name}.", remedy="Omit it, or correct its name.")


def _check(dsn: str) -> None:
    """Refuse what libpq cannot read, and what it reads otherwise than it was meant."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(dsn)
    except (psycopg.Error, ValueError):
        raise InvalidInput("The server's URL cannot be parsed.", remedy=_REMEDY) from None  # the cause quotes it
    astray = any("@" in str(parts.get(key, "")) for key in ("host", "dbname"))
    if astray or any(ord(c) < ord(" ") for c in dsn) or not _PORTS.fullmatch(str(parts.get("port", ""))):
        raise InvalidInput("The server's URL is not valid.", remedy=_REMEDY)
