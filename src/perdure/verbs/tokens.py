"""Verbs about the service's tokens: who may do what, and where."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

from perdure.records.access import EVERYWHERE, Grant, Role
from perdure.records.errors import InvalidInput
from perdure.records.instant import to_instant
from perdure.rules.validation.values import checked_namespace, checked_text
from perdure.verbs.declaration import Param, lazy_modules, verb

if TYPE_CHECKING:
    from perdure.operations import tokens
    from perdure.operations.ports import Context
    from perdure.records.access import NewToken, Token
else:
    (tokens,) = lazy_modules("perdure.operations", "tokens")
_PANEL: Final = "Service"
_ACTOR: Final = re.compile(r"[\w.@+' -]{1,100}")
Tokens = list["Token"]


def checked_pattern(value: Any) -> str:
    """Return a pattern of namespaces: one namespace, ``team/*`` or ``*``."""
    text = checked_text(value, "namespace", longest=200)
    if text != EVERYWHERE:
        checked_namespace(text.removesuffix("/*"))
    return text


def checked_actor(value: Any) -> str:
    """Return the name of who uses a token."""
    text = checked_text(value, "actor", longest=100)
    if not _ACTOR.fullmatch(text):
        raise InvalidInput("actor may have letters, digits, spaces and . _ @ + ' -.", remedy="Give such a name.")
    return text


class TokenVerbs:
    """Verbs about the service's tokens: who may do what, and where."""

    _context: Context

    @verb(_PANEL, command="token create", tool=False, repeatable=False, shows_secret=True, role="admin")
    def create_token(
        self,
        role: Annotated[
            Role,
            Param(
                "reader: ask; agent: also store and give feedback; curator: also maintain; admin: everything.",
                argument=False,
            ),
        ],
        namespace: Annotated[
            str, Param("Where: one namespace, 'team/*', or '*' for all.", longest=200, check=checked_pattern)
        ],
        *,
        actor: Annotated[
            str, Param("Who uses it; the journal keeps the name.", longest=100, check=checked_actor, argument=False)
        ],
        expires: Annotated[datetime, Param("When it ends; never if omitted.")] | None = None,
    ) -> NewToken:
        """Make a token for the service. Its secret is shown once, and only a hash of it is stored.

        Raises:
            InvalidInput: It would have ended already.
            NotAllowed: The caller's own token may do less, or reaches less far.
        """
        until = None if expires is None else to_instant(expires, name="expires")
        return tokens.create_token(self._context, Grant(role, namespace, actor), until)

    @verb(_PANEL, command="token list", tool=False, reads=True, items="tokens", role="admin")
    def list_tokens(self) -> Tokens:
        """List the service's tokens, oldest first: what each may do, where, and when it was last used."""
        return tokens.list_tokens(self._context)

    @verb(_PANEL, command="token revoke", tool=False, role="admin")
    def revoke_token(
        self, token_id: Annotated[str, Param("The token's id, as the list shows it.", longest=200)]
    ) -> Token:
        """Make a token of the service invalid, within a second.

        Raises:
            NotFound: There is no such token.
        """
        return tokens.revoke_token(self._context, token_id)
