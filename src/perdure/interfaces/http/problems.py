"""Errors as problem documents (RFC 9457): the status of each class of errors, and what the client gets."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from time import monotonic
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from perdure.records import errors
from perdure.records.errors import PerdureError

STATUS: Final[Mapping[type[PerdureError], int]] = {
    PerdureError: 500,
    errors.InvalidInput: 422,
    errors.NotAllowed: 403,
    errors.TooManyCalls: 429,
    errors.NotFound: 404,
    errors.PolicyError: 422,
    errors.ConflictError: 409,
    errors.GateStopped: 409,
    errors.LeaseLost: 409,
    errors.SpaceMismatch: 409,
    errors.CopyDiffers: 409,
    errors.StoreTooNew: 503,
    errors.StoreTooOld: 503,
    errors.StoreUnavailable: 503,
    errors.NodeUnavailable: 503,
    errors.StoreDenied: 503,
    errors.StoreBusy: 503,
    errors.DeadlineExceeded: 504,
    errors.OutcomeUnknown: 504,
    errors.StoreReadOnly: 503,
    errors.DiskFull: 507,
    errors.QuotaExceeded: 507,
    errors.EmbedderError: 502,
    errors.ModelError: 502,
}
"""Class of errors -> status; a class that is not here has that of the nearest class above it."""
NAMESPACE_HEADER: Final = "perdure-namespace"
RETRY_SECONDS: Final = 2  # when a client may try again what failed with 503
_MORE: Final = ("problems", "ids", "lost", "stored", "operations", "namespace", "part")
"""What errors say besides their text; see records/errors.py."""
MEDIA_TYPE: Final = "application/problem+json"
ERROR: Final = "perdure.error"
"""Where the state of a request has the class of the error that its answer tells, for the log."""
_FOLDERS: Final = re.compile(r"(?<![\w/:.])/(?:[^\s/'\"]{1,255}/)+(?=[^\s/'\"])")
"""The folders before the last part of an absolute path; in an address there is none."""
OUTAGE_SECONDS: Final = 60.0  # after how many seconds an outage that lasts is written to the log again
_MOST_OUTAGES: Final = 100
_outages: dict[str, float] = {}  # message -> when it was written to the log
_log = logging.getLogger(__name__)
_LONGEST: Final = 4000  # characters of a message: it may repeat what was given


class RequestRefused(PerdureError):  # noqa: N818  # reads as the statement it makes
    """A request is refused before any verb sees it."""

    def __init__(self, status: int, message: str, *, remedy: str, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.headers = status, dict(headers or {})
        super().__init__(message, remedy=remedy)


def other_namespace(told: str, named: str) -> RequestRefused:
    """Return the refusal of a request whose header names another namespace than it does elsewhere."""
    message = f"The header {NAMESPACE_HEADER} is {told[:200]!r}, and the call is about {named[:200]!r}."
    return RequestRefused(400, message, remedy="Name one of them. Nothing was done.")


def status_of(error: PerdureError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, RequestRefused):
        return error.status
    refused = errors.ConflictError, errors.GateStopped
    if isinstance(error, errors.PartlyStored) and isinstance(error.__cause__, refused):
        return status_of(error.__cause__)  # no failure: what was not written yet was refused
    return next(STATUS[above] for above in type(error).__mro__ if above in STATUS)


def told_to_callers(error: PerdureError) -> tuple[str, str]:
    """Return an error's message and remedy without what only the operator should know, which goes to the log.

    A store's file is named without its folders; where a server is, and what it says of itself, is not told.
    """
    if isinstance(error, errors.StoreUnavailable | errors.NodeUnavailable | errors.StoreDenied):
        _log_outage(error.message)
        message = _FOLDERS.sub("", error.message.partition(" (")[0]).rstrip(".")  # without the server's own words
        if isinstance(error, errors.NodeUnavailable):
            message = "A node of the store's cluster cannot be reached"
        return f"{message}.", "Try again later. The service's log has the details."
    if not isinstance(error, errors.StoreError):
        return error.message, error.remedy
    return _FOLDERS.sub("", error.message), _FOLDERS.sub("", error.remedy)


def _log_outage(message: str) -> None:
    """Write down once a minute what is not told to callers."""
    now = monotonic()
    if now - _outages.get(message, -OUTAGE_SECONDS) >= OUTAGE_SECONDS:
        if len(_outages) >= _MOST_OUTAGES:
            _outages.clear()
        _outages[message] = now
        _log.warning("%s", message)


def problem_of(error: PerdureError) -> Response:
    """Return an error as an answer."""
    message, remedy = told_to_callers(error)
    fields = {**error.to_dict(), "message": message, "remedy": remedy}
    if isinstance(error, RequestRefused) and error.status >= 500:  # noqa: PLR2004  # the service's own state
        fields["fault"] = "machine"
    if len(message) > _LONGEST:
        message = f"{message[:_LONGEST]} [...]"
    status = status_of(error)
    document = _document(status, fields, (type(error).__doc__ or "").strip().partition("\n")[0], message)
    document |= {name: getattr(error, name) for name in _MORE if hasattr(error, name)}
    return problem_response(status, document, headers_of(error, status))


def headers_of(error: PerdureError, status: int) -> dict[str, str]:
    """Return the headers of the answer that tells an error: when to try again, among others."""
    if isinstance(error, errors.TooManyCalls):
        return {"retry-after": str(error.seconds)}
    headers = dict(error.headers) if isinstance(error, RequestRefused) else {}
    if status == 503:  # noqa: PLR2004  # the service or its store cannot do it now
        headers.setdefault("retry-after", str(RETRY_SECONDS))
    return headers


def _document(status: int, fields: Mapping[str, str], title: str, detail: str) -> dict[str, Any]:
    name = fields["error"]
    more = {"error": name, "fault": fields["fault"], "remedy": fields["remedy"]}
    return {"type": f"urn:perdure:{name}", "title": title, "status": status, "detail": detail, **more}


def internal_problem(subject: str) -> Response:
    """Return the answer where something failed that should not: it shows no internals, the log has them."""
    fields = {
        "error": "InternalError",
        "fault": "machine",
        "remedy": "Try again once; the service's log has the details.",
    }
    title = "The service failed because of an internal error."
    return problem_response(500, _document(500, fields, title, f"{subject} failed because of an internal error."), {})


def problem_response(status: int, document: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    """Return a problem document as an answer; it is never kept by caches."""
    body = json.dumps(document, ensure_ascii=False, default=list).encode(errors="replace")
    return ErrorAnswer(document["error"], body, status, {"cache-control": "no-store", **headers}, MEDIA_TYPE)


class ErrorAnswer(Response):
    """An answer that tells an error, and leaves its class in the state of the request."""

    def __init__(
        self, error: str, content: bytes | str, status: int, headers: Mapping[str, str], media_type: str
    ) -> None:
        self._error = error
        super().__init__(content, status, headers, media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        scope.setdefault("state", {})[ERROR] = self._error
        await super().__call__(scope, receive, send)
