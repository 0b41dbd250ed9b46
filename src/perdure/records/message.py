"""One message of a conversation, as the importers read it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Message:
    """What was said, by whom, when."""

    content: str  # the words
    role: str = "user"  # user, assistant, or another speaker's role
    speaker: str | None = None  # the speaker's name where the role does not say it
    at: datetime | None = None  # when; None where the source does not tell
    session: str | None = None  # which conversation; None leaves it to the caller
    source: str | None = None  # where it was read, for example a file's name and line
    key: str | None = None  # the source's own id of the message, if it has one; else one is made of the message itself
