"""What the tools take: arguments that several share, with their ranges, and the memory they are about."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from perdure.records.errors import InvalidInput

if TYPE_CHECKING:  # numpy and SQLite load with the first call, not with the list of tools
    from perdure.memory import Memory

Identity = Annotated[str, Field(description="The memory's id.", min_length=1, max_length=200)]
Identities = Annotated[list[str], Field(description="The memories' ids.", min_length=1, max_length=1000)]
Namespace = Annotated[str | None, Field(description="The namespace; leave out for the server's own.", max_length=200)]
Everywhere = Annotated[str | None, Field(description="Only this namespace; leave out for all.", max_length=200)]
Question = Annotated[str, Field(description="A question in plain words.", min_length=1, max_length=10_000)]
Kind = Literal["note", "episode", "fact", "procedure", "summary"]
Kinds = Annotated[list[Kind] | None, Field(description="Only these kinds.")]
Scopes = Annotated[list[Literal["task", "session", "long_term"]] | None, Field(description="Only these scopes.")]
Tags = Annotated[list[str] | None, Field(description="Only memories with all of these tags.")]
Session = Annotated[str | None, Field(description="Only this session.")]
Inside = Annotated[str | None, Field(description="The session that asks: sees its own memories too.")]
Since = Annotated[str | None, Field(description="Happened at or after: ISO 8601 with zone, 2026-11-21T09:30:00Z.")]
Until = Annotated[str | None, Field(description="Happened before: ISO 8601 with zone.")]
Likely = Annotated[float, Field(description="Only memories at least this likely true now.", ge=0, le=1)]
Hidden = Annotated[bool, Field(description="Also archived and superseded ones.")]
Limit = Annotated[int, Field(description="How many at most.", ge=1, le=50)]
Page = Annotated[int, Field(description="How many at most.", ge=1, le=200)]
Reason = Annotated[str, Field(description="Why; kept in the journal.", min_length=1, max_length=1000)]
Why = Annotated[str | None, Field(description="Why; kept in the journal.", min_length=1, max_length=1000)]
DryRun = Annotated[bool, Field(description="Only report; false applies it.")]
AbsentText = str | SkipJsonSchema[None]
"""A text that may be left out; the schema says only that it is a text, as seed 000's do."""


def moment(value: str | None, name: str) -> datetime | None:
    """Return an ISO 8601 text as a datetime; one without a zone is refused, because the zone would be a guess."""
    if value is None:
        return None
    remedy = "Write it with a zone, for example 2026-11-21T09:30:00Z."
    try:
        read = datetime.fromisoformat(value.strip())
    except ValueError:
        raise InvalidInput(f"{name} is no ISO 8601 date and time: {value[:50]!r}.", remedy=remedy) from None
    if read.tzinfo is None:
        raise InvalidInput(f"{name} has no time zone: {value[:50]!r}.", remedy=remedy)
    return read


class Opened:
    """One memory that is opened when the first verb is called, and the namespace where verbs look.

    Args:
        opened: Returns the open memory.
        namespace: Where verbs look when a call names none.
    """

    def __init__(self, opened: Callable[[], Memory], namespace: str) -> None:
        self._memory = opened
        self._namespace = namespace

    def place(self, namespace: str | None) -> str:
        """Return where a call looks."""
        return self._place(namespace)

    def _place(self, namespace: str | None) -> str:
        return self._namespace if namespace is None else namespace
