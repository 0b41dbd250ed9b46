"""JSON lines to messages: one message on each line, or a transcript that Claude Code wrote."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Final

from perdure.interfaces.files.source_lines import InputLine, InputSource
from perdure.records.bounded_json import parse_json
from perdure.records.memory import Message
from perdure.rules.source_trust import speaker_of

_WRITTEN_BY_AGENT: Final = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<user-prompt-submit-hook>",
    "[Request interrupted by user",
)
"""How the texts begin that Claude Code itself writes in a user's name."""
_ADDED_TAGS: Final = ("system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics")
"""Tags around what Claude Code and editors add to a user's words."""
_SYNTHETIC_MODEL: Final = "<synthetic>"  # the model's name where Claude Code itself writes in its place
_LATEST_SECONDS: Final = 1e11  # larger epoch numbers are milliseconds: as seconds they would lie beyond the year 5100


def is_claude_code(text: str) -> bool:
    """Return whether a line is one of a Claude Code transcript."""
    try:
        item = parse_json(text)
    except ValueError:
        return False
    if not isinstance(item, dict) or not isinstance(item.get("type"), str) or "role" in item or "speaker" in item:
        return False
    return "sessionId" in item or "leafUuid" in item or isinstance(item.get("message"), dict)


def messages(lines: Iterable[InputLine], source: InputSource, *, claude: bool) -> Iterator[Message]:
    """Yield the messages of JSON lines; lines that say nothing are left out."""
    parse = _parse_claude if claude else _parse_plain
    first_words: dict[int, int] = {}
    for line in lines:
        if not line.text.strip():
            continue
        item = _parse_line(line, source, claude=claude)
        if item is None:
            return
        message = parse(item, line.number, source)
        if message is not None:
            yield _drop_repeated_key(message, first_words)


def _parse_line(line: InputLine, source: InputSource, *, claude: bool) -> dict[str, Any] | None:
    """Return a line's object; None for the last line of a transcript that is just being written."""
    try:
        item = parse_json(line.text)
    except ValueError as error:
        if claude and not line.whole:
            return None
        if line.number == 1 and line.text.lstrip().startswith("["):
            fault = "begins a JSON list, but JSONL has one object per line."
            raise source.error(line.number, fault, "Convert it, for example with `jq -c '.[]' FILE`.") from None
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise source.error(
            line.number, f"is not JSON ({reason}).", "Fix the line, or set the format with --format."
        ) from None
    if not isinstance(item, dict):
        fault = f"contains {_noun(item)}; an object with 'content' is expected."
        raise source.error(line.number, fault, "Fix the line, or set the format with --format.")
    return item


def _noun(value: Any) -> str:
    return {list: "a list", str: "text", bool: "true or false", type(None): "null"}.get(type(value), "a number")


def _parse_plain(item: Mapping[str, Any], number: int, source: InputSource) -> Message | None:
    content = item.get("content", item.get("text"))
    if content is None and "content" not in item and "text" not in item:
        raise source.error(number, "has no 'content' and no 'text'.", "Add one of the two.")
    words = _content_text(content, number, source)
    if not words.strip():
        return None
    role = _label(item, ("role",), number, source) or "user"
    return source.message(
        number,
        words,
        role=role,
        speaker=speaker_of(role, _label(item, ("speaker",), number, source), item.get("name")),
        at=_parse_time(item, number, source),
        session=_label(item, ("session", "session_id", "sessionId"), number, source),
        key=_label(item, ("id", "uuid"), number, source),
    )


_ASIDE_FLAGS: Final = ("isMeta", "isCompactSummary", "isApiErrorMessage", "isSidechain", "isVisibleInTranscriptOnly")
"""Lines that nobody said to anybody here: a subagent's talk is between two programs."""


def _parse_claude(item: Mapping[str, Any], number: int, source: InputSource) -> Message | None:
    message = item.get("message")
    if item.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return None
    if any(item.get(flag) for flag in _ASIDE_FLAGS) or message.get("model") == _SYNTHETIC_MODEL:
        return None
    words = _remove_added(_content_text(message.get("content"), number, source)).strip()
    if not words or words.startswith(_WRITTEN_BY_AGENT):
        return None
    return source.message(
        number,
        words,
        role=_label(message, ("role",), number, source) or str(item["type"]),
        at=_parse_time(item, number, source),
        session=_label(item, ("sessionId",), number, source),
        key=_label(item, ("uuid",), number, source),
        place=_label(item, ("cwd",), number, source),
    )


def _remove_added(text: str) -> str:
    """Leave out what was added to a user's words. No pattern: openings without an end must stay cheap."""
    for tag in _ADDED_TAGS:
        begin, end = f"<{tag}>", f"</{tag}>"
        kept: list[str] = []
        at = 0
        while (start := text.find(begin, at)) >= 0 and (stop := text.find(end, start)) >= 0:
            kept.append(text[at:start])
            at = stop + len(end)
        text = "".join([*kept, text[at:]])
    return text


def _content_text(content: Any, number: int, source: InputSource) -> str:
    """Return the words of a message's content: text, or the text blocks of a list. Tools and thinking are left out."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise source.error(number, f"has {_noun(content)} as content.", "Write text, or a list of blocks.")
    blocks = [block if isinstance(block, str) else _block(block) for block in content]
    return "\n\n".join(block for block in blocks if block.strip())


def _block(block: Any) -> str:
    text = block.get("text") if isinstance(block, dict) and block.get("type", "text") == "text" else None
    return text if isinstance(text, str) else ""


def _label(item: Mapping[str, Any], names: tuple[str, ...], number: int, source: InputSource) -> str | None:
    for name in names:
        value = item.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is not None and not isinstance(value, str):
            raise source.error(number, f"has {_noun(value)} as {name!r}.", "Write text.")
        if value is not None and value.strip():
            return value
    return None


def _parse_time(item: Mapping[str, Any], number: int, source: InputSource) -> datetime | None:
    """Return when a message was said: ISO 8601, or seconds or milliseconds since 1970."""
    value = next((item[name] for name in ("timestamp", "at", "created_at") if item.get(name) not in (None, "")), None)
    if value is None:
        return None
    try:
        moment = _read_time(value)
    except (ValueError, TypeError, OverflowError, OSError):
        fault = f"has an invalid time: {str(value)[:60]!r}."
        raise source.error(number, fault, "Use ISO 8601 with a time zone, or seconds since 1970.") from None
    if moment.tzinfo is None:
        if source.zone is None:
            fault = f"has a time without a zone ({str(value)[:60]!r})."
            raise source.error(number, fault, "Give the time zone with --zone, for example --zone UTC.")
        moment = source.zone(moment)
    return moment


def _read_time(value: Any) -> datetime:
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError:
            value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError
    return datetime.fromtimestamp(value / 1000 if abs(value) >= _LATEST_SECONDS else value, tz=UTC)


def _drop_repeated_key(message: Message, first_words: dict[int, int]) -> Message:
    """Drop an id that the file has given to other words before: it names a conversation, say, and no message."""
    if message.key is None:
        return message
    words = _digest(message.content)
    if first_words.setdefault(_digest(f"{message.session}\0{message.key}"), words) == words:
        return message
    return Message(**{name: getattr(message, name) for name in _FIELDS}, key=None)


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8"), digest_size=8).digest())


_FIELDS: Final = ("content", "role", "speaker", "at", "session", "source")
