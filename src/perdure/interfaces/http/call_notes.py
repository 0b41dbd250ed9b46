"""What is noted of each call of a verb, by its route or as an MCP tool, and of each answer: counted, and in the log."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from starlette.types import Scope

from perdure.interfaces.http.call_log import is_logged, log_call
from perdure.interfaces.http.metrics import ServiceMetrics
from perdure.interfaces.http.problems import ERROR
from perdure.interfaces.http.sessions import own_path
from perdure.records.access import EVERYWHERE
from perdure.rules.validation.values import NAMESPACE

if TYPE_CHECKING:
    from perdure.interfaces.http.access import Principal

PLACE: Final = "perdure.place"  # in the state of a request: the namespace that its call is about, as it was given
_NOTED: Final = "perdure.call_noted"  # in the state of a request: the log has a line of its call
_LEAST_REFUSED: Final = 400
_LEAST_FAILED: Final = 500
_ADDRESS: Final = re.compile(r"[0-9A-Fa-f.:]{2,45}")


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How a call of a verb ended."""

    verb: str
    seconds: float  # how long it took
    hits: int | None = None  # of a recall
    operation: str | None = None  # the first that it has written
    error: str | None = None  # the class of what was raised


def note_call(observed: ServiceMetrics, end: CallEnd, *, scope: Scope, method: str, status: int | None = None) -> None:
    """Count a call, and write it to the log.

    ``method`` is MCP for a tool. A response with a ``status`` needs no line of its own then; a tool has none.
    """
    if end.hits is not None:
        observed.count_hits(end.hits)
    observed.call(end.verb, end.error or "ok", end.seconds)
    if is_logged():
        if status is not None:
            scope["state"][_NOTED] = True
        log_call(
            verb=end.verb,
            method=method,
            status=status,
            ms=round(1000 * end.seconds, 1),
            **_who_and_where(scope),
            client=_address_of(scope) if end.error else None,
            operation=end.operation,
            error=end.error,
        )


def note_response(observed: ServiceMetrics, is_route: Callable[[str], bool], scope: Scope, status: int) -> None:
    """Count an answer; where a request is refused or fails and the log has no line of its call, write one.

    Paths that are no route's may hold anything, and are not written down.
    """
    observed.response(status)
    if status < _LEAST_REFUSED or not is_logged():
        return
    state: dict[str, Any] = scope.get("state", {})
    if not state.get(_NOTED):
        path = own_path(scope)
        log_call(
            path=path if is_route(path) else None,
            method=scope["method"],
            status=status,
            **_who_and_where(scope),
            client=_address_of(scope),
            error=state.get(ERROR) or ("RequestRefused" if status < _LEAST_FAILED else "InternalError"),
        )


def _who_and_where(scope: Scope) -> dict[str, str | None]:
    """Return the id of the caller's token, the name that it has, and the call's namespace, if the token reaches it.

    Names are free text, also of who makes tokens for one namespace: the id tells callers apart.
    """
    state: dict[str, Any] = scope.get("state", {})
    principal: Principal | None = state.get("principal")
    grant, place = principal.grant if principal else None, state.get(PLACE)
    if grant is None:
        is_known = principal is not None and isinstance(place, str) and NAMESPACE.fullmatch(place)
        return {"namespace": place if is_known else None}
    if place is None and not grant.pattern.endswith(EVERYWHERE):
        place = grant.pattern
    is_reached = isinstance(place, str) and NAMESPACE.fullmatch(place) and grant.covers(place)
    return {"namespace": place if is_reached else None, "token": grant.token, "actor": grant.actor}


def _address_of(scope: Scope) -> str | None:
    """Return the client's address; None for any other text that a proxy, or a program of this machine, names it."""
    address = (scope.get("client") or ("",))[0]
    return address if _ADDRESS.fullmatch(address) else None
