"""Any server that speaks OpenAI's chat protocol, asked for JSON."""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from perdure.models.posting import Endpoint, Posting, RefusedError, without_lone_surrogates
from perdure.records.errors import InvalidInput, ModelError, PerdureError, UnusableReply
from perdure.records.report import ModelUse

_LOG: Final = logging.getLogger("perdure.model")
_MOST_TOKENS: Final = 100_000_000  # a server that says that one call took more is not believed
_DEEPEST: Final = 8  # levels of a schema
_UNKNOWN_FORM: Final = frozenset({400, 415, 422})  # statuses of a server that does not know a field of the request
_UNREADABLE: Final = frozenset({400, 413, 422})
"""Statuses of a server that can be asked, but not about this text: it is too long, for example."""
_CHECK_SERVER: Final = (
    "Check that the server is running and supports the OpenAI chat protocol, or configure another model."
)
_ENDPOINT: Final = Endpoint(
    "/chat/completions",
    ModelError,
    _CHECK_SERVER,
    largest=4 * 1024 * 1024,  # a model writes a few kilobytes
)
_TYPES: Final = ("string", "number", "integer", "boolean", "array", "object")
_FORM: Final = (
    "Answer with one JSON object and nothing else: no explanation, no code fence. It must fit this JSON Schema:"
)


class ChatModel:
    """Asks a language model and returns JSON that fits a schema. Safe to share between threads.

    The schema is sent twice: as ``response_format``, and in words, because some servers ignore the one without a word.
    A server that refuses ``response_format`` or the temperature is asked again without them, and from then on. What the
    model writes is data: nothing of it is run, and nothing but what the schema names is returned. The bearer key in the
    environment variable ``key_variable`` is read at each call; None sends no key. A busy server is tried again after
    ``pause`` seconds, then twice that; one that does not answer in time is not.
    """

    def __init__(
        self,
        base_url: str,
        name: str,
        key_variable: str | None = "OPENAI_API_KEY",
        timeout: float = 30.0,
        *,
        pause: float = 0.5,
    ) -> None:
        if not name.strip():
            raise InvalidInput("The model has no name.", remedy="Set the name that the server uses.")
        self._post = Posting(base_url, _ENDPOINT, key_variable=key_variable, timeout=timeout, pause=pause)
        self._name = name
        self._form = 0
        self._use = ModelUse()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what the model says about a text, as an object that fits a schema.

        Args:
            instruction: What to do; the system message.
            text: What to do it with; the user's message. It is data, and the instruction should say so.
            schema: A JSON Schema of type object. Known are ``type``, ``properties``, ``required``, ``items``,
                ``enum``, ``minimum``, ``maximum`` and ``maxItems``; anything else is sent but not checked. A
                property's ``default`` stands in for one that is missing or does not fit.

        Returns:
            The object. Fields that the schema does not name are left out; numbers are finite; text holds no lone
            surrogates.

        Raises:
            InvalidInput: The schema is none that can be checked.
            UnusableReply: The reply does not fit, or the server refuses this text; that is not tried again.
            ModelError: The key is missing, or the server cannot be reached or refuses. 429, 5xx and broken connections
                are tried twice more, unless the server asks for a longer pause than 10 s.
        """
        _check_schema(schema, "schema")
        if schema.get("type") != "object":
            raise InvalidInput("The schema must have the type object.", remedy="Wrap it in an object.")
        system = without_lone_surrogates(f"{instruction}\n\n{_FORM}\n{json.dumps(schema)}")
        messages = [{"role": "system", "content": system}, {"role": "user", "content": without_lone_surrogates(text)}]
        request = {"model": self._name, "messages": messages}
        spent = _Spent()
        try:
            answer = self._answer(request, schema, spent)
        except PerdureError as error:
            self._count(spent, error)
            raise
        self._count(spent, None)
        return answer

    @property
    def use(self) -> ModelUse:
        """What it has cost so far; each call is also logged, by the logger ``perdure.model``."""
        with self._lock:
            return self._use

    def _count(self, spent: _Spent, error: PerdureError | None) -> None:
        """Add a call to what was used, and log its cost and outcome; never what was asked or answered."""
        seconds = time.monotonic() - spent.since
        with self._lock:
            u = self._use
            self._use = ModelUse(
                u.calls + 1,
                u.failures + (error is not None),
                u.tokens_in + spent.tokens_in,
                u.tokens_out + spent.tokens_out,
                u.seconds + seconds,
            )
        outcome = "answered" if error is None else f"failed: {error.message}"
        _LOG.info("%s: %d + %d tokens, %.2f s, %s", self._name, spent.tokens_in, spent.tokens_out, seconds, outcome)

    def _answer(self, request: Mapping[str, Any], schema: Mapping[str, Any], spent: _Spent) -> Mapping[str, Any]:
        content = self._content(self._reply(request, _forms(schema)), spent)
        try:
            found = json.loads(_strip_fence(content), parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            raise self._unusable("contains no readable JSON") from None
        try:
            fitting = _fit_to_schema(found, schema, "the answer")
        except _UnfitError as unfit:
            raise self._unusable(f"does not fit: {unfit}") from None
        answer: Mapping[str, Any] = fitting
        return answer

    def _reply(self, request: Mapping[str, Any], forms: tuple[Mapping[str, Any], ...]) -> bytes:
        """Ask in the form that worked last, and in simpler ones where the server refuses it."""
        for number in range(self._form, len(forms)):
            try:
                body = self._post({**request, **forms[number]})
            except RefusedError as refused:
                if refused.status in _UNREADABLE and number == len(forms) - 1:
                    raise UnusableReply(refused.failure.message, remedy=refused.failure.remedy) from refused.__cause__
                if refused.status not in _UNKNOWN_FORM or number == len(forms) - 1:
                    raise refused.failure from refused.__cause__
            else:
                self._form = number
                return body
        raise AssertionError  # pragma: no cover  # the last form returns or raises

    def _content(self, body: bytes, spent: _Spent) -> str:
        try:
            reply = json.loads(body)
        except (ValueError, RecursionError):
            raise self._post.wrong("is not JSON") from None
        spent.note(reply)
        choices = reply.get("choices") if isinstance(reply, dict) else None
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise self._post.wrong("has no message")
        if choice.get("finish_reason") == "length":
            raise self._unusable("was truncated by the server's token limit")
        content = message.get("content")
        if not isinstance(content, str) or not content.strip():
            raise self._unusable("has a message without text")
        return content

    def _unusable(self, problem: str) -> UnusableReply:
        """Return the error for words of the model that are not what was asked for."""
        return UnusableReply(self._post.wrong(problem).message, remedy=_CHECK_SERVER)


class _Spent:
    def __init__(self) -> None:
        self.since = time.monotonic()
        self.tokens_in = self.tokens_out = 0

    def note(self, reply: Any) -> None:
        """Take the counts of a reply, if it has any that can be."""
        usage = reply.get("usage") if isinstance(reply, dict) else None
        if isinstance(usage, dict):
            self.tokens_in, self.tokens_out = (_count_of(usage.get(f"{n}_tokens")) for n in ("prompt", "completion"))


def _count_of(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS else 0


class _UnfitError(Exception):
    """What a reply's field is instead of what the schema says."""


def _forms(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return what is added to a request, the most exact first."""
    closed = _close_schema(schema)
    json_form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": closed, "strict": _strict(schema)}}
    return {"temperature": 0, "response_format": json_form}, {"response_format": json_form}, {}


def _close_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with no room for further fields, as servers ask for that hold a model to it."""
    closed = {name: part for name, part in schema.items() if name != "default"}  # not known to all of them
    if "properties" in closed:
        closed["properties"] = {name: _close_schema(part) for name, part in closed["properties"].items()}
    if "items" in closed:
        closed["items"] = _close_schema(closed["items"])
    if closed["type"] == "object":
        closed["additionalProperties"] = False
    return closed


def _strict(schema: Mapping[str, Any]) -> bool:
    """Whether every field is required, without which servers refuse to be strict."""
    parts = list(schema.get("properties", {}).values()) + ([schema["items"]] if "items" in schema else [])
    return set(schema.get("properties", {})) == set(schema.get("required", ())) and all(map(_strict, parts))


def _check_schema(schema: Any, place: str, depth: int = 1) -> None:
    if not isinstance(schema, Mapping) or schema.get("type") not in _TYPES or depth > _DEEPEST:
        raise InvalidInput(
            f"{place} is not a supported schema.", remedy=f"Give it a type: {', '.join(_TYPES)}; keep it flat."
        )
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping) or not set(schema.get("required", ())) <= set(properties):
        raise InvalidInput(f"{place} requires a property that it does not define.", remedy="Add it to properties.")
    for name, part in properties.items():
        _check_schema(part, f"{place}.{name}", depth + 1)
    if schema["type"] == "array":
        _check_schema(schema.get("items"), f"{place}[]", depth + 1)


def _strip_fence(content: str) -> str:
    text = content.strip()
    if not text.startswith("```"):
        return text
    first, _, rest = text.partition("\n")
    # The fence may stand in one line: ```{"a": 1}```
    inside = rest if rest and not first.strip("`").strip().startswith("{") else text.strip("`")
    return inside.rstrip().removesuffix("```").strip()


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _fit_to_schema(value: Any, schema: Mapping[str, Any], place: str) -> Any:
    """Return a value as the schema describes it; _UnfitError names the place and never repeats the value."""
    kind = schema["type"]
    if kind == "object":
        return _fitting_object(value, schema, place)
    if kind == "array":
        if not isinstance(value, list) or len(value) > schema.get("maxItems", len(value)):
            raise _UnfitError(f"{place} is not a list of the requested length.")
        return [_fit_to_schema(item, schema["items"], f"{place}[{at}]") for at, item in enumerate(value)]
    if kind == "string":
        fits = isinstance(value, str)
        value = without_lone_surrogates(value) if fits else value
    elif kind == "boolean":
        fits = isinstance(value, bool)
    else:
        fits = _is_number(value, schema)
    if not fits or ("enum" in schema and value not in schema["enum"]):
        raise _UnfitError(f"{place} is not the requested {kind}.")
    return value


def _fitting_object(value: Any, schema: Mapping[str, Any], place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _UnfitError(f"{place} is not an object.")
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value and "default" not in properties[name]:
            raise _UnfitError(f"{place} has no {name!r}.")
    return {
        name: _fitting_or_default(value.get(name), part, f"{place}.{name}")
        for name, part in properties.items()
        if name in value or "default" in part
    }


def _fitting_or_default(value: Any, schema: Mapping[str, Any], place: str) -> Any:
    """Return a value as the schema describes it; its default where it does not fit: the rest of the answer counts."""
    try:
        return _fit_to_schema(value, schema, place)
    except _UnfitError:
        if "default" not in schema:
            raise
        return schema["default"]


def _is_number(value: Any, schema: Mapping[str, Any]) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if schema["type"] == "integer" else int | float):
        return False
    # Also an integer may be too large to be reckoned with.
    try:
        finite = math.isfinite(value)
    except OverflowError:
        return False
    return finite and schema.get("minimum", value) <= value <= schema.get("maximum", value)
