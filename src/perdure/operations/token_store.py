"""Where the service's tokens are kept, and the sessions of browsers that log in with one. A protocol only."""

from __future__ import annotations

from typing import Protocol

from perdure.records.access import LoginRow, TokenRow
from perdure.records.instant import Instant


class Tokens(Protocol):
    """The tokens of the service, by the SHA-256 of their secret in hexadecimal digits. They belong to no namespace."""

    def any(self) -> bool:
        """Whether there is one, valid or not."""

    def all(self) -> list[TokenRow]:
        """Return all tokens, oldest first."""

    def find(self, digest: str) -> TokenRow | None:
        """Return the token of a hash, valid or not."""

    def add(self, token: TokenRow, digest: str) -> None:
        """Keep a new token."""

    def revoke(self, identity: str, now: Instant) -> None:
        """Make a token invalid; no effect on one that is revoked, or not there."""

    def use(self, identity: str, now: Instant, before: Instant) -> None:
        """Note that a token was used now, unless that was noted at or after ``before``."""

    def begin_login(self, login: LoginRow, now: Instant) -> None:
        """Keep a browser's session; those that have ended by now are removed."""

    def find_login(self, name: str) -> LoginRow | None:
        """Return a browser's session, valid or not."""

    def end_login(self, name: str) -> None:
        """Remove a browser's session; no effect if it is not there."""
