"""One message of a conversation, as the importers read it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Message:
    """What was said, by whom, when.

    Attributes:
        content: The words.
        role: user, assistant, or another speaker's role.
        speaker: The speaker's name where the role does not say it.
        at: When; None where the source does not tell.
        session: Which conversation; None leaves it to the caller.
        source: Where it was read, for example a file's name and line.
        key: The source's own id of the message, if it has one; else one is made of the message itself.
    """

    content: str
    role: str = "user"
    speaker: str | None = None
    at: datetime | None = None
    session: str | None = None
    source: str | None = None
    key: str | None = None
