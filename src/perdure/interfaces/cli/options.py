"""Arguments and options that several commands share, and how their texts are read."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from perdure.interfaces.files.reading import Placed
from perdure.records.errors import InvalidInput
from perdure.records.memory import Kind, Scope
from perdure.records.policy import DigestPolicy

LARGEST_INPUT = 16 * 1024 * 1024
_LOCAL = "An ISO 8601 date or time; without a zone it is read as local time."


def moment(text: str) -> datetime:
    """Return an ISO 8601 date or time as an aware datetime; without a zone it is local time."""
    try:
        read = datetime.fromisoformat(text.strip())
        return read if read.tzinfo is not None else read.astimezone()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(
            f"{text[:50]!r} is no date. Write for example 2026-11-21 or 2026-11-21T09:30+01:00."
        ) from None


def json_object(text: str) -> dict[str, Any]:
    """Return a JSON object given as text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f'This is no JSON ({error}). Write for example \'{{"team": "red"}}\'.') from None
    if not isinstance(value, dict):
        raise typer.BadParameter('This must be a JSON object. Write for example \'{"team": "red"}\'.')
    return value


def text_or_input(text: str) -> str:
    """Return a text argument; ``-`` reads standard input as UTF-8, without its last line end."""
    if text != "-":
        return text
    data = sys.stdin.buffer.read(LARGEST_INPUT + 1)
    if len(data) > LARGEST_INPUT:
        raise InvalidInput("Standard input has more than 16 MiB.", remedy="Split it into several memories.")
    try:
        return data.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"Standard input is no valid UTF-8 (byte {error.start}).",
            remedy="Convert it, for example with `iconv -t utf-8`.",
        ) from None


def zone_of(name: str) -> Placed:
    """Return what gives a zone to a time that has none: ``UTC``, ``local``, or a name such as Europe/Berlin."""
    if name.lower() == "local":
        return datetime.astimezone
    from zoneinfo import ZoneInfo  # noqa: PLC0415  # start-up time

    try:
        zone = UTC if name.upper() == "UTC" else ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise typer.BadParameter(
            f"There is no time zone {name[:50]!r}. Write UTC, local, or a name such as Europe/Berlin."
        ) from None
    return lambda moment: moment.replace(tzinfo=zone)


def profiles(incomplete: str) -> list[str]:
    """Return the digest profiles, for completion."""
    declared = next(f for f in fields(DigestPolicy) if f.name == "profile")
    return [name for name in declared.metadata["choices"] if name.startswith(incomplete)]


Identity = Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")]
Identities = Annotated[list[str], typer.Argument(metavar="ID...", help="The memories' ids.")]
Apply = Annotated[bool, typer.Option("--apply", help="Do it; without this it is only a preview.")]
AcceptLoss = Annotated[
    str | None,
    typer.Option(
        "--accept-loss", metavar="REASON", help="Go on where a gate says that too much is lost; kept in the journal."
    ),
]
Kinds = Annotated[list[Kind] | None, typer.Option("--kind", help="Only this kind. Repeat it for several.")]
Scopes = Annotated[list[Scope] | None, typer.Option("--scope", help="Only this scope. Repeat it for several.")]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag", "-t", metavar="TAG", help="Only memories with this tag. Repeat it to ask for all of several."
    ),
]
Session = Annotated[str | None, typer.Option("--session", metavar="NAME", help="Only this session.")]
Inside = Annotated[
    str | None,
    typer.Option("--inside", metavar="NAME", help="The session that asks: its own memories are seen besides."),
]
Since = Annotated[
    datetime | None,
    typer.Option("--since", parser=moment, metavar="DATE", help=f"Only what happened at or after this. {_LOCAL}"),
]
Until = Annotated[
    datetime | None,
    typer.Option("--until", parser=moment, metavar="DATE", help=f"Only what happened before this. {_LOCAL}"),
]
AsOf = Annotated[
    datetime | None,
    typer.Option("--as-of", parser=moment, metavar="DATE", help=f"What was true then. {_LOCAL}"),
]
KnownAt = Annotated[
    datetime | None,
    typer.Option("--known-at", parser=moment, metavar="DATE", help=f"What was known then. {_LOCAL}"),
]
At = Annotated[
    datetime | None,
    typer.Option("--at", parser=moment, metavar="DATE", help=f"When it happened; default now. {_LOCAL}"),
]
Zone = Annotated[
    Placed | None,
    typer.Option(
        "--zone",
        parser=zone_of,
        metavar="ZONE",
        help="Zone of times that name none: UTC, local, Europe/Berlin. Without it such times are refused.",
    ),
]
MinConfidence = Annotated[
    float, typer.Option("--min-confidence", metavar="0..1", help="Only memories at least this likely true now.")
]
Archived = Annotated[bool, typer.Option("--include-archived", help="Also hidden memories.")]
Limit = Annotated[int, typer.Option("--limit", "-l", metavar="N", help="How many at most, 1 to 1000.")]
Profile = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        autocompletion=profiles,
        help="The budget profile: tokens, claude-code, hermes or openclaw. Default: the policy's.",
    ),
]
