"""Tokens of the service, and sessions of browsers that stand for one for some hours."""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Final

from perdure.operations.ports import Context
from perdure.records.access import EVERYWHERE, Grant, Login, LoginRow, NewToken, Token, TokenRow
from perdure.records.deadline import within
from perdure.records.errors import (
    DeadlineExceeded,
    DiskFull,
    InvalidInput,
    NotAllowed,
    NotFound,
    PerdureWarning,
    StoreBusy,
    StoreReadOnly,
)
from perdure.records.instant import Instant, text_of

MARK: Final = "perdure_"  # how a token begins, so that scanners for secrets know one
_MINUTE_MS: Final = 60_000
_NOTING_SECONDS: Final = 0.5  # how long noting that a token was used may take on a server
_PAUSE_MS: Final = 5_000  # between two tries to note it
_LAST_ADMIN: Final = (
    "It was the last valid token of an admin for all namespaces: over HTTP nobody can make one now. Where the store "
    "is, `perdure token create --role admin --namespace '*' --actor NAME` does."
)
_LAST_TO_END: Final = (
    "When it ends there is no valid token of an admin for all namespaces: over HTTP nobody can make one then. Make the "
    "next one before."
)
_SECRET: Final = re.compile(rf"{MARK}[A-Za-z0-9_-]{{43}}")


def create_token(ctx: Context, grant: Grant, expires: Instant | None) -> NewToken:
    """Make a token; its secret is returned once, and only its hash is kept.

    A plain SHA-256 is enough: the secret has 256 random bits, so there is no list of likely ones to try.
    """
    now = ctx.clock()
    if expires is not None and expires <= now:
        raise InvalidInput("expires is in the past.", remedy="Give a later time.")
    if ctx.grant is not None and not ctx.grant.includes(grant):
        raise NotAllowed(
            "A token cannot create one with more rights or more namespaces than its own.",
            remedy="Ask for a lesser role, or for your own role and namespaces.",
        )
    if ctx.secret is None:
        raise InvalidInput("Tokens cannot be made through this connection.", remedy="Open the store with perdure.open.")
    secret = MARK + ctx.secret()
    row = TokenRow(ctx.ids(now), grant, now, expires, None, None)
    ctx.store.tokens.add(row, digest_of(secret))
    ending = _last_to_end(_visible_tokens(ctx), now)
    return NewToken(secret, token_of(row, now, _LAST_TO_END if ending == row.id else ""))


def list_tokens(ctx: Context) -> list[Token]:
    """Return the tokens that the caller may know of, oldest first."""
    now = ctx.clock()
    rows = _visible_tokens(ctx)
    ending = _last_to_end(rows, now)
    return [token_of(row, now, _LAST_TO_END if row.id == ending else "") for row in rows]


def revoke_token(ctx: Context, identity: str) -> Token:
    """Make a token invalid from now on. Doing it twice changes nothing."""
    now = ctx.clock()
    found = [row for row in _visible_tokens(ctx) if row.id == identity]
    if not found:
        raise NotFound(f"There is no token {identity!r}.", remedy="`perdure token list` lists them.")
    ctx.store.tokens.revoke(identity, now)
    left, note = _visible_tokens(ctx), ""
    if _governs(found[0], now) and not any(_governs(row, now) for row in left):
        note = _LAST_ADMIN
        ctx.warn(note, PerdureWarning)
    return next(token_of(row, now, note) for row in left if row.id == identity)


def _governs(row: TokenRow, now: Instant) -> bool:
    return row.grant.role == "admin" and row.grant.pattern == EVERYWHERE and row.is_valid(now)


def _last_to_end(rows: Sequence[TokenRow], now: Instant) -> str | None:
    """Return the token with which the last admin for all namespaces goes; None where one stays, or there is none."""
    ends = [(row.expires, row.id) for row in rows if _governs(row, now)]
    if not ends or any(expires is None for expires, _ in ends):
        return None
    return max(ends)[1]


def recognize(ctx: Context, secret: str) -> TokenRow | None:
    """Return the valid token that a secret belongs to, and note that it was used; None for any other text."""
    if not _SECRET.fullmatch(secret):
        return None
    row, now = ctx.store.tokens.find(digest_of(secret)), ctx.clock()
    if row is None or not row.is_valid(now):
        return None
    if not ctx.store.read_only and (row.used is None or row.used < now - _MINUTE_MS):
        _note_use(ctx, row.id, now)
    return row


def _note_use(ctx: Context, identity: str, now: Instant) -> None:
    """Note that a token was used, where that can be done at once: who writes may hold the store for long.

    The try is remembered before it is made: else all threads that recognise the token would try one after another.
    """
    if abs(now - ctx.noted.get(identity, now - _PAUSE_MS)) < _PAUSE_MS:
        return
    ctx.noted[identity] = now
    with suppress(StoreReadOnly, StoreBusy, DiskFull, DeadlineExceeded), within(_NOTING_SECONDS, waits=0):
        ctx.store.tokens.use(identity, now, now - _MINUTE_MS)


def digest_of(secret: str) -> str:
    """Return the SHA-256 of a secret in hexadecimal digits."""
    return sha256(secret.encode()).hexdigest()


def token_of(row: TokenRow, now: Instant, note: str = "") -> Token:
    """Return a token as it is shown."""
    expires, revoked, used = (None if at is None else text_of(at) for at in (row.expires, row.revoked, row.used))
    grant, created = row.grant, text_of(row.created)
    return Token(
        row.id, grant.role, grant.pattern, grant.actor, created, expires, revoked, used, row.is_valid(now), note
    )


def _visible_tokens(ctx: Context) -> list[TokenRow]:
    rows = ctx.store.tokens.all()
    if ctx.grant is None or ctx.grant.pattern == EVERYWHERE:
        return rows
    return [row for row in rows if ctx.grant.includes(row.grant)]


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
