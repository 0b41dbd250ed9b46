"""Who may do what, and where: roles, what a token grants, and the tokens of the service."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from perdure.records.errors import NotAllowed
from perdure.records.instant import Instant, InstantText
from perdure.records.json_record import JsonRecord

Role = Literal["reader", "agent", "curator", "admin"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)  # each may do what those before it may
EVERYWHERE: Final = "*"
_INSIDE: Final = "/*"


@dataclass(frozen=True, slots=True)
class Grant:
    """What a caller may do: up to a role, in the namespaces of a pattern, under a name."""

    role: Role
    pattern: str  # one namespace, ``team/*`` for all that begin with ``team/``, or ``*`` for all
    actor: str  # who asks; the journal keeps it
    is_token: bool = True  # else it stands for the namespace that a command or a server was given
    token: str = field(default="", compare=False)  # the id of the token that a caller has shown

    @classmethod
    def of_namespace(cls, namespace: str) -> Grant:
        """Return what a command or a server may do that was given a namespace: everything, there only."""
        return cls("admin", namespace, "", is_token=False)

    def allows(self, role: Role) -> bool:
        """Whether it allows what needs a role."""
        return ROLES.index(role) <= ROLES.index(self.role)

    def covers(self, namespace: str) -> bool:
        """Whether it reaches a namespace."""
        if self.pattern == EVERYWHERE:
            return True
        if self.pattern.endswith(_INSIDE):
            return namespace.startswith(self.pattern[:-1])
        return namespace == self.pattern

    def check_reaches(self, namespace: str) -> None:
        """Refuse a namespace that it does not reach."""
        if not self.covers(namespace):
            if not self.is_token:
                raise self.elsewhere(f"This call names the namespace {namespace!r}", namespace)
            raise NotAllowed(
                f"The token does not reach the namespace {namespace!r}.",
                remedy=f"Name a namespace that it reaches: {self.pattern}. For tools of MCP the URL may name one: "
                "/mcp?namespace=NAME.",
            )

    def elsewhere(self, what: str, namespace: str) -> NotAllowed:
        """Return the refusal of what lies in another namespace than the one that was given."""
        return NotAllowed(
            f"{what}; what was started with the namespace {self.pattern!r} acts there only.",
            remedy=f"In a terminal, a command with --namespace {shlex.quote(namespace)} acts there.",
        )

    def includes(self, other: Grant) -> bool:
        """Whether it reaches and allows all that another one does."""
        if not self.allows(other.role):
            return False
        if self.pattern in {EVERYWHERE, other.pattern}:
            return True
        return other.pattern != EVERYWHERE and self.covers(other.pattern)

    def place(self, usual: str) -> str:
        """Return the namespace of calls that name none: the usual one, or the only one that is reached."""
        single = not self.pattern.endswith("*")
        return self.pattern if single and not self.covers(usual) else usual


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token as the store keeps it."""

    id: str
    grant: Grant
    created: Instant
    expires: Instant | None
    revoked: Instant | None
    used: Instant | None

    def is_valid(self, now: Instant) -> bool:
        """Whether it may be used."""
        return self.revoked is None and (self.expires is None or now < self.expires)


@dataclass(frozen=True, slots=True)
class LoginRow:
    """A browser's session as the store keeps it: its cookie cannot be made from it."""

    name: str  # the first part of the cookie, by which it is found
    salt: str
    hash: str  # of the salt and the secret part of the cookie, in hexadecimal digits
    token: TokenRow  # which it stands for
    ends: Instant

    def is_valid(self, now: Instant) -> bool:
        """Whether it stands for its token still."""
        return now < self.ends and self.token.is_valid(now)


@dataclass(frozen=True, slots=True)
class Login:
    """What a browser's session allows."""

    token: str  # the id of its token
    grant: Grant


@dataclass(frozen=True, slots=True)
class Token(JsonRecord):
    """A token of the service, without its secret."""

    id: str
    role: str  # what it may do: reader, agent, curator or admin
    namespace: str  # where: one namespace, ``team/*`` or ``*``
    actor: str  # the name under which operations are written down
    created_at: InstantText
    expires_at: InstantText | None
    revoked_at: InstantText | None
    used_at: InstantText | None  # when it was last used, to the minute
    valid: bool  # whether it may be used now
    note: str = ""  # what the caller should know: that nobody can make tokens over HTTP without it


@dataclass(frozen=True, slots=True)
class NewToken(JsonRecord):
    """A new token, with its secret: it is shown this once, and not stored."""

    secret: str  # what a client sends
    token: Token
