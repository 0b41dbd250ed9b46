"""The options that every command has, and how the texts of arguments are read."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from perdure.interfaces.files.source_lines import SetZone
from perdure.records.errors import InvalidInput

LARGEST_INPUT = 16 * 1024 * 1024
_PANEL: Final = "Common options"


def moment(text: str) -> datetime:
    """Return an ISO 8601 date or time as an aware datetime; without a zone it is local time."""
    try:
        read = datetime.fromisoformat(text.strip())
        return read if read.tzinfo is not None else read.astimezone()
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
    try:
        read = text_or_input("-") if text == "-" else Path(text).expanduser().read_text("utf-8-sig")
        value = json.loads(read)
    except OSError as error:
        raise typer.BadParameter(f"{text} cannot be read ({error.strerror}).") from None
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
        help="The namespace; . is the project's (its folder's name). Default: 'default'; all for sweep, forecast, "
        "decay, stats and history.",
        rich_help_panel=_PANEL,
    ),
]
Json = Annotated[
    bool | None,
    typer.Option("--json", help="Print one JSON document to standard output, also for errors.", rich_help_panel=_PANEL),
]
COMMON: Final[Mapping[str, Any]] = {"store": Store, "policy": PolicyFile, "namespace": Namespace, "as_json": Json}
"""Options of every command, accepted before and after its name; after it wins."""
