"""The tokens of the service in a SQL store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from perdure.records.access import Grant, LoginRow, Role, TokenRow
from perdure.records.instant import Instant
from perdure.stores.statements import Session


class SqlTokens:
    """Tokens by the hash of their secret. See operations/token_store.py.

    ``place`` is the prefix of the store's namespaces: tokens of another one are not seen.
    """

    def __init__(
        self, rows: Callable[..., list[tuple[Any, ...]]], write: Callable[[Callable[[Session], None]], None], place: str
    ) -> None:
        self._rows, self._write, self._place = rows, write, place

    def any(self) -> bool:
        return bool(self._rows("any_token", place=self._place)[0][0])

    def all(self) -> list[TokenRow]:
        return [_token_of(row) for row in self._rows("tokens", place=self._place)]

    def find(self, digest: str) -> TokenRow | None:
        rows = self._rows("token_of_hash", hash=digest, place=self._place)
        return _token_of(rows[0]) if rows else None

    def add(self, token: TokenRow, digest: str) -> None:
        bindings = {
            "id": token.id,
            "hash": digest,
            "place": self._place,
            "role": token.grant.role,
            "pattern": token.grant.pattern,
            "actor": token.grant.actor,
            "created_ms": token.created,
            "expires_ms": token.expires,
        }
        self._write(lambda session: session.run("insert_token", **bindings))

    def revoke(self, identity: str, now: Instant) -> None:
        def work(session: Session) -> None:
            session.run("revoke_token", id=identity, place=self._place, now=now)
            session.run("end_logins_of_token", token=identity, place=self._place)

        self._write(work)

    def use(self, identity: str, now: Instant, before: Instant) -> None:
        self._write(lambda session: session.run("use_token", id=identity, place=self._place, now=now, before=before))

    def begin_login(self, login: LoginRow, now: Instant) -> None:
        bindings = {
            "name": login.name,
            "salt": login.salt,
            "hash": login.hash,
            "token": login.token.id,
            "ends_ms": login.ends,
        }

        def work(session: Session) -> None:
            session.run("end_old_logins", place=self._place, now=now)
            session.run("insert_login", place=self._place, **bindings)

        self._write(work)

    def find_login(self, name: str) -> LoginRow | None:
        rows = self._rows("login", name=name, place=self._place)
        if not rows:
            return None
        salt, digest, ends, *token = rows[0]
        return LoginRow(name, salt, digest, _token_of(token), ends)

    def end_login(self, name: str) -> None:
        self._write(lambda session: session.run("end_login", name=name, place=self._place))


def _token_of(row: Sequence[Any]) -> TokenRow:
    identity, role, pattern, actor, *instants = row
    return TokenRow(identity, Grant(cast("Role", role), pattern, actor), *instants)
