"""Results as HTTP answers: one JSON object, which has an ETag where it is read, or lines of JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import orjson
from starlette.responses import Response

from perdure.records.recall import Recall
from perdure.records.report import Stats
from perdure.verbs.declaration import Verb
from perdure.verbs.results import as_object

JSON: Final = "application/json"
LINES: Final = "application/x-ndjson"
_DIGEST_BYTES: Final = 16
_DIGITS: Final = 4
_WEAK: Final = "W/"
_TAG: Final = re.compile(r'"[^"]*"')  # an ETag without what says that it is weak
_WHOLE: Final = ((b"cache-control", b"no-store"), (b"content-type", JSON.encode()))
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_PRIVATE: Final = "private, no-cache"  # a cache may keep it for its one user, and asks each time


@dataclass(frozen=True, slots=True)
class Payload:
    """What a route answers, made in a worker thread."""

    body: bytes  # the JSON document, or lines of JSON
    media: str = JSON
    more: Iterator[bytes] | None = None  # lines that follow, to be read while they are sent
    # names what the answer says, its figures to four digits: they fade from one moment to the next. Empty for verbs
    # that write
    etag: str = ""
    operation: str | None = None  # the operation that it is about, for the log
    hits: int | None = None  # of a recall
    # of an answer that is kept: (an instant before its call, how many changes erasures had made from then to the call)
    erased: Sequence[int] = (0, 0)


def answer_of(verb: Verb, result: Any, *, tagged: bool) -> Payload:
    """Return the answer that holds a result as one JSON object; an ETag, if ``tagged``, is as much work as its JSON."""
    data = as_object(result, verb.items)
    etag = _etag(_without_moment(result, data)) if tagged and verb.reads else ""
    return Payload(json_bytes(data), etag=etag, operation=operation_of(verb, result), hits=hits_of(result))


def operation_of(verb: Verb, result: Any) -> str | None:
    """Return the first operation that a call has written; of a verb that reads, a result may be about operations."""
    if verb.reads:
        return None
    found = (getattr(one, "operations", ()) or (getattr(one, "operation", None),) for one in _each(result))
    return next((operation for several in found for operation in several if operation is not None), None)


def hits_of(result: Any) -> int | None:
    """Return how many hits a recall has; None of what is none."""
    return len(result.hits) if isinstance(result, Recall) else None


def _each(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


def _etag(data: Any) -> str:
    return f'{_WEAK}"{blake2b(json_bytes(_round_numbers(data)), digest_size=_DIGEST_BYTES).hexdigest()}"'


def _without_moment(result: Any, data: dict[str, Any]) -> dict[str, Any]:
    """Leave out when the figures of a store were taken: they may be the same at another moment."""
    return {name: value for name, value in data.items() if name != "at"} if isinstance(result, Stats) else data


def _round_numbers(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _round_numbers(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_round_numbers(value) for value in data]
    return round(data, _DIGITS) if isinstance(data, float) else data


class WholeAnswer(Response):
    """An answer of JSON that no cache may keep; its headers are made at once."""

    def __init__(self, body: bytes) -> None:
        self.status_code, self.body, self.background = 200, body, None
        self.raw_headers = [*_WHOLE, (b"content-length", b"%d" % len(body))]


def wants_lines(headers: Mapping[str, str]) -> bool:
    """Whether a client takes lines of JSON."""
    return LINES in headers.get("accept", "")


def response_of(answer: Payload, method: str, headers: Mapping[str, str]) -> Response:
    """Return the response of an answer: 304 without a body where the client has it already.

    The names of ``headers`` are in lower case.
    """
    if answer.media != JSON:
        return Response(answer.body, media_type=answer.media, headers={"cache-control": "no-store"})
    if not answer.etag or method == "POST":
        return WholeAnswer(answer.body)
    cache_headers = {"etag": answer.etag, "cache-control": _PRIVATE, "vary": "accept, authorization, cookie"}
    if _has(headers.get("if-none-match", ""), answer.etag):
        return Response(status_code=304, headers=cache_headers)
    return Response(answer.body, media_type=JSON, headers=cache_headers)


def _has(tags: str, etag: str) -> bool:
    """Whether a list of ETags has one, whether weak or strong (RFC 9110, 8.8.3.2); ``*`` has all."""
    return tags.strip() == "*" or etag.removeprefix(_WEAK) in _TAG.findall(tags)


def json_bytes(data: Any) -> bytes:
    """Return data as JSON; what JSON has no number for is null."""
    try:
        return orjson.dumps(data)
    except TypeError:  # surrogates, numbers of more than 64 bits, keys that are no text
        return _ENCODER.encode(_finite(data)).encode(errors="replace")


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
