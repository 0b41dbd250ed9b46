"""Sessions of browsers: a cookie stands for a token, for some hours, also after the service was started again."""

from __future__ import annotations

import hmac
import re
from contextlib import suppress
from hashlib import sha256
from typing import Final

from perdure.operations.ports import Context
from perdure.operations.tokens import recognize
from perdure.records.access import Login, LoginRow
from perdure.records.errors import DiskFull, StoreBusy, StoreReadOnly

_NAME: Final = 16  # characters of a cookie by which its session is found
_COOKIE: Final = re.compile(rf"([A-Za-z0-9_-]{{{_NAME}}})\.([A-Za-z0-9_-]{{43}})")


def log_in(ctx: Context, secret: str, seconds: int) -> str | None:
    """Return the cookie of a new session that stands for a token; None where the token is not valid.

    The store keeps a salted hash of the cookie's secret half: who reads the table cannot make a cookie from it.
    """
    token, now = recognize(ctx, secret), ctx.clock()
    if token is None or ctx.secret is None:
        return None
    name, key, salt = ctx.secret()[:_NAME], ctx.secret(), ctx.secret()
    ctx.store.tokens.begin_login(LoginRow(name, salt, _hash(salt, key), token, now + 1000 * seconds), now)
    return f"{name}.{key}"


def logged_in(ctx: Context, cookie: str) -> Login | None:
    """Return what the session of a cookie allows; None where it has ended, with its token or by itself."""
    found = _COOKIE.fullmatch(cookie)
    row = None if found is None else ctx.store.tokens.find_login(found[1])
    if found is None or row is None or not hmac.compare_digest(row.hash, _hash(row.salt, found[2])):
        return None
    if row.is_valid(ctx.clock()):
        return Login(row.token.id, row.token.grant)
    with suppress(StoreReadOnly, StoreBusy, DiskFull):  # it is over all the same
        ctx.store.tokens.end_login(row.name)
    return None


def log_out(ctx: Context, cookie: str) -> None:
    """End the session of a cookie; no effect where there is none."""
    found = _COOKIE.fullmatch(cookie)
    if found is not None and logged_in(ctx, cookie) is not None:
        ctx.store.tokens.end_login(found[1])


def _hash(salt: str, key: str) -> str:
    return sha256(f"{salt}{key}".encode()).hexdigest()
