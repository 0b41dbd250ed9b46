"""Parameters that several verbs share: one name, one range, one sentence of help in every way in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypedDict

from perdure.records.outcome import FactClaim
from perdure.rules.validation.values import checked_namespace
from perdure.verbs.declaration import Param

Identity = Annotated[str, Param("The memory's id, or its short form.", longest=200, refers="memory")]
Identities = Annotated[Sequence[str], Param("The memories' ids.", longest=200, argument=True, refers="memory")]
Namespace = Annotated[str, Param("The namespace.", longest=200, check=checked_namespace)]
Everywhere = Annotated[str, Param("Only this namespace; all if omitted.", longest=200, check=checked_namespace)]
Query = Annotated[str, Param("A question in plain words.", longest=10_000, stdin=True)]

MemoryKind = Literal["note", "episode", "fact", "procedure", "summary"]
MemoryScope = Literal["task", "session", "long_term"]
Kinds = Annotated[Sequence[MemoryKind], Param("Only these kinds.", option="--kind")]
Scopes = Annotated[Sequence[MemoryScope], Param("Only these scopes.", option="--scope")]
Tags = Annotated[Sequence[str], Param("Only memories with all of these tags.", option="--tag", short="-t")]
Session = Annotated[str, Param("Only this session.")]
Inside = Annotated[str, Param("Also show what only this session may see.")]
Entity = Annotated[str, Param("The entity's id or one of its names.")]
Since = Annotated[datetime, Param("Only what happened since this time.", day="first")]
Until = Annotated[datetime, Param("Only what happened before this time.", day="after")]
AsOf = Annotated[datetime, Param("What was true at this time.", day="last")]
KnownAt = Annotated[datetime, Param("What was known at this time.", day="last")]
MinConfidence = Annotated[float, Param("Only memories of at least this confidence.", ge=0, le=1)]
MinRelevance = Annotated[float, Param("Only hits at least this likely to answer the query.", ge=0, le=1)]
IncludeArchived = Annotated[bool, Param("Include hidden memories: archived, superseded, merged.")]
Limit = Annotated[int, Param("Maximum number of results.", ge=1, le=1000, short="-l")]
Threshold = Annotated[float, Param("Minimum similarity of duplicates.", ge=0.7, le=0.99)]
Reason = Annotated[str, Param("The reason; it is kept in the journal.", short="-r", argument=False, redacted=True)]
ErasureReason = Annotated[
    str,
    Param(
        "The reason; it is kept in the journal. A dry run needs none.",
        short="-r",
        argument=False,
        redacted=True,
    ),
]
Metadata = Annotated[Mapping[str, Any], Param("A JSON object, kept unchanged.")]
Claims = Sequence[FactClaim]
Facts = Annotated[
    Claims,
    Param(
        "Facts in it: {subject: Ana, predicate: home, value: Paris, replaces: Berlin}; also denied, valid_from, "
        "valid_to (a day counts whole), quote."
    ),
]
DryRun = Annotated[bool, Param("Only report what would change; false applies it.")]
Confirm = Annotated[bool, Param("Apply it; without this it is only a preview.", option="--apply/--dry-run")]
TokenBudget = Annotated[int, Param("The budget; the policy's if omitted.", ge=1, le=1_000_000_000, short="-b")]
AcceptLoss = Annotated[
    str,
    Param(
        "Reason for hiding more than the safety gates allow; it is kept in the journal.", argument=False, redacted=True
    ),
]
SessionName = Annotated[str, Param("The session's name.")]
TaskName = Annotated[str, Param("The task's name.")]
Budget = Annotated[int, Param("Maximum number of tokens.", ge=50, short="-b")]


class ListFilters(TypedDict, total=False):
    """The filters of ``list``, for what passes them on."""

    kinds: Sequence[MemoryKind]
    scopes: Sequence[MemoryScope]
    tags: Sequence[str]
    session: str | None
    since: datetime | None
    until: datetime | None
    min_confidence: float
    include_archived: bool
    inside: str | None
