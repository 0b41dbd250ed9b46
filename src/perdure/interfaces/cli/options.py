"""The options that every command has, how texts of arguments are read, and names that a person may type instead."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer

from perdure.interfaces.files.named_file import open_named
from perdure.interfaces.files.source_lines import SetZone
from perdure.records.errors import InvalidInput
from perdure.rules.validation.values import DayEdge, whole_day
from perdure.user_folders import expand_user
from perdure.verbs.checks import refuse_foreign
from perdure.verbs.declaration import VERBS

LARGEST_INPUT = 16 * 1024 * 1024
_LONGEST_PATH: Final = 300
_PANEL: Final = "Common options"


def moment(text: str, day: DayEdge = "first") -> datetime:
    """Return an ISO 8601 date or time as an aware datetime; without a zone it is local time."""
    if (edge := whole_day(text, day, None)) is not None:
        return edge
    try:
        instant = datetime.fromisoformat(text.strip())
        return instant if instant.tzinfo is not None else instant.astimezone()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(
            f"{text[:50]!r} is not a date. Write for example 2026-11-21 or 2026-11-21T09:30+01:00."
        ) from None


def json_object(text: str) -> dict[str, Any]:
    """Return a JSON object given as text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(
            f'This is not valid JSON ({error}). Write for example \'{{"team": "red"}}\'.'
        ) from None
    if not isinstance(value, dict):
        raise typer.BadParameter('This must be a JSON object. Write for example \'{"team": "red"}\'.')
    return value


def json_objects(text: str) -> list[Any]:
    """Return a JSON list that a file holds, or standard input for ``-``."""
    content = text_or_input("-") if text == "-" else text_of_file(text)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"{text} is not valid JSON ({error}).") from None
    if not isinstance(value, list):
        raise typer.BadParameter(f"{text} must contain a JSON list of objects.")
    return value


def text_or_input(text: str) -> str:
    """Return a text argument; ``-`` reads standard input as UTF-8, without its last line end."""
    if text != "-":
        return text
    data = sys.stdin.buffer.read(LARGEST_INPUT + 1)
    if len(data) > LARGEST_INPUT:
        raise InvalidInput("Standard input is larger than 16 MiB.", remedy="Split it into several memories.")
    try:
        return data.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"Standard input is not valid UTF-8 (byte {error.start}).",
            remedy="Convert it, for example with `iconv -t utf-8`.",
        ) from None


def text_of_file(name: str) -> str:
    """Return the text of a file (UTF-8) that an argument names."""
    path = expand_user(name)
    try:
        with open_named(path) as file:
            data = file.read(LARGEST_INPUT + 1)
    except OSError as error:
        shown_path = str(path)[:_LONGEST_PATH]
        raise InvalidInput(f"{shown_path!r} cannot be read ({error.strerror}).", remedy="Pass a text file.") from error
    if len(data) > LARGEST_INPUT:
        raise InvalidInput(f"{path} is larger than 16 MiB.", remedy="Split it.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} is not valid UTF-8 (byte {error.start}).", remedy="Convert it, for example with `iconv -t utf-8`."
        ) from None


def zone_of(name: str) -> SetZone:
    """Return what gives a zone to a time that has none: ``UTC``, ``local``, or a name such as Europe/Berlin."""
    if name.lower() == "local":
        return datetime.astimezone
    from zoneinfo import ZoneInfo  # noqa: PLC0415  # start-up time

    try:
        zone = UTC if name.upper() == "UTC" else ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise typer.BadParameter(
            f"Unknown time zone {name[:50]!r}. Write UTC, local, or a name such as Europe/Berlin."
        ) from None
    return lambda moment: moment.replace(tzinfo=zone)


Zone = Annotated[
    SetZone | None,
    typer.Option(
        "--zone",
        parser=zone_of,
        metavar="ZONE",
        help="Time zone of times without one: UTC, local, Europe/Berlin. Without this option such times are refused.",
    ),
]
Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH",
        help="The store's file, or postgresql://... Default: PERDURE_STORE, else memory.db in the user's data folder.",
        rich_help_panel=_PANEL,
    ),
]
PolicyFile = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        help="The policy, a TOML file. Default: PERDURE_POLICY, ./perdure.toml, the user's configuration folder.",
        rich_help_panel=_PANEL,
    ),
]
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAME",
        help="The namespace; '.' is the project's (its folder's name). Default: 'default'; all for sweep, forecast, "
        "decay, stats and history; 'token create' needs one, 'team/*', or '*' for all.",
        rich_help_panel=_PANEL,
    ),
]
Json = Annotated[
    bool | None,
    typer.Option("--json", help="Print one JSON document to standard output, also for errors.", rich_help_panel=_PANEL),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.001,
        max=86_400,
        help="How long a call may take; then it is ended. Default: the policy's limits.call_seconds.",
        rich_help_panel=_PANEL,
    ),
]
COMMON: Final[Mapping[str, Any]] = {
    "store": Store,
    "policy": PolicyFile,
    "namespace": Namespace,
    "timeout": Timeout,
    "as_json": Json,
}
"""Options of every command, accepted before and after its name; after it wins."""


ALIASES: Final[Mapping[str, str]] = {"add": "remember", "search": "recall"}
"""Commands by the names that other memory tools give them; they run."""

MEANT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ask", "find", "query"), "recall"),
    **dict.fromkeys(("insert", "note", "save", "store"), "remember"),
    **dict.fromkeys(("cat", "read", "show", "view"), "get"),
    **dict.fromkeys(("change", "edit", "replace"), "update"),
    **dict.fromkeys(("delete", "remove", "rm"), "forget"),
    **dict.fromkeys(("revert", "rollback"), "undo"),
    "dump": "export",
    "explain": "why",
    "load": "import",
    "log": "history",
    "ls": "list",
    "status": "stats",
    "summary": "digest",
    "upkeep": "maintain",
}
"""Other words -> the command to name in the answer; they do not run."""

EARLIER_OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "answer-sheet": {"--tokens": "--budget-tokens"},
    "consolidate": {"--threshold": "--similarity-threshold"},
    "decay": {"--curve": "--decay-function", "--floor": "--min-importance", "--half-life": "--half-life-days"},
    "digest": {"--budget": "--budget-tokens"},
    "extract": {"--keep-duplicates": "--no-deduplicate", "--threshold": "--dedup-threshold"},
    "learn": {"--facts": "--claims"},
    "promote": {"--confirm": "--apply"},
    "rates": {"--learn": "--apply"},
    "reinforce": {"--amount": "--boost-amount", "--boost": "--boost-type", "--no-access": "--no-update-access"},
    "remember": {"--key": "--idempotency-key", "--pin": "--pinned"},
    "used": {"--recall": "--recall-id"},
}
"""Command -> earlier option -> its name now. They still work: a script or a crontab may have them."""


def current_options(command: str, words: Sequence[str]) -> list[str]:
    """Return the words of a command with earlier names of options replaced; each is noted on standard error.

    Raises:
        InvalidInput: An option is one that other tools' commands of that name take.
    """
    renamed, declared = EARLIER_OPTIONS.get(command, {}), VERBS.get(command.replace("-", "_"))
    end = words.index("--") if "--" in words else len(words)
    current = []
    for word in words[:end]:
        name, equals, value = word.partition("=")
        if declared is not None and name.startswith("--") and name != "--apply":
            refuse_foreign(declared, [name[2:].replace("-", "_")])
        if name in renamed:
            print(f"Note: {name} of 'perdure {command}' is now called {renamed[name]}.", file=sys.stderr)
            name = renamed[name]
        current.append(name + equals + value)
    return [*current, *words[end:]]
