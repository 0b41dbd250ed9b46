"""Results as HTTP answers: one JSON object, or lines of JSON where a client asks for them; reads have an ETag."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import orjson
from starlette.responses import Response, StreamingResponse

from perdure.records.recall import Recall
from perdure.verbs.declaration import Verb
from perdure.verbs.results import as_json, as_object

JSON: Final = "application/json"
LINES: Final = "application/x-ndjson"
_DIGEST_BYTES: Final = 16
_DIGITS: Final = 4
_LINES_AT_ONCE: Final = 100
_WHOLE: Final = ((b"cache-control", b"no-store"), (b"content-type", JSON.encode()))
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_PRIVATE: Final = "private, no-cache"  # a cache may keep it for its one user, and asks each time


@dataclass(frozen=True, slots=True)
class Payload:
    """What a route answers, made in a worker thread."""

    body: bytes  # the JSON document; empty where ``lines`` are answered
    lines: tuple[Any, ...] | None = None  # the items of a list, if they were asked for as lines
    # names what the answer says, its figures to four digits: they fade from one moment to the next. Empty for verbs
    # that write
    etag: str = ""
    operation: str | None = None  # the operation that it tells of, for the log
    hits: int | None = None  # of a recall


def answer_of(verb: Verb, result: Any, *, as_lines: bool, tagged: bool) -> Payload:
    """Return the answer that holds a result.

    Args:
        verb: Which returned it.
        result: As it returned it.
        as_lines: Whether the client takes lines of JSON; only lists are answered so.
        tagged: Whether the answer may be asked for again, and needs an ETag: that is as much work as its JSON.
    """
    if as_lines and isinstance(result, list):
        return Payload(b"", tuple(result))
    data = as_object(result, verb.items)
    hits = len(result.hits) if isinstance(result, Recall) else None
    return Payload(json_bytes(data), None, _etag(data) if tagged and verb.reads else "", _operation(data), hits)


def _operation(data: dict[str, Any]) -> str | None:
    several = data.get("operations")
    found = data.get("operation") or (several[0] if isinstance(several, list) and several else None)
    return found if isinstance(found, str) else None


def _etag(data: Any) -> str:
    return f'W/"{blake2b(json_bytes(_rounded(data)), digest_size=_DIGEST_BYTES).hexdigest()}"'


def _rounded(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _rounded(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_rounded(value) for value in data]
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

    Args:
        answer: The answer.
        method: Of the request.
        headers: Of the request, by lower-case names.
    """
    if answer.lines is not None:
        return StreamingResponse(_chunks(answer.lines), media_type=LINES, headers={"cache-control": "no-store"})
    if not answer.etag or method == "POST":
        return WholeAnswer(answer.body)
    told = {"etag": answer.etag, "cache-control": _PRIVATE, "vary": "accept, authorization, cookie"}
    known = {tag.strip() for tag in headers.get("if-none-match", "").split(",")}
    if answer.etag in known or "*" in known:
        return Response(status_code=304, headers=told)
    return Response(answer.body, media_type=JSON, headers=told)


def _chunks(items: Iterable[Any]) -> Iterator[bytes]:
    """Yield lines of JSON, some at a time."""
    lines: list[bytes] = []
    for item in items:
        lines.append(json_bytes(as_json(item)))
        if len(lines) == _LINES_AT_ONCE:
            yield b"\n".join((*lines, b""))
            lines.clear()
    if lines:
        yield b"\n".join((*lines, b""))


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
