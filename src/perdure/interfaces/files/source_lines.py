"""What the readers of all formats share: a line, where it comes from, and how a line is error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from perdure.records.errors import InvalidInput
from perdure.records.memory import Message

SetZone = Callable[[datetime], datetime]  # gives a zone to a time that has none

LONGEST: Final = 16 * 1024 * 1024  # the longest line, paragraph or code block that is read, in bytes or characters


@dataclass(frozen=True, slots=True)
class InputLine:
    """One line of a file without its line end; ``whole`` says whether it had one."""

    number: int
    text: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class InputSource:
    """Where lines come from, and what holds for messages that do not say otherwise."""

    name: str
    session: str | None = None
    zone: SetZone | None = None

    def error(self, line: int, fault: str, remedy: str) -> InvalidInput:
        """Return the error for a line."""
        return InvalidInput(f"{self.name}, line {line}, {fault}", remedy=remedy)

    def message(
        self,
        line: int,
        content: str,
        *,
        role: str = "user",
        speaker: str | None = None,
        at: datetime | None = None,
        session: str | None = None,
        key: str | None = None,
        place: str | None = None,
    ) -> Message:
        """Return a message read at a line, or refuse text that no store can hold."""
        for text in (content, role, speaker, session, key, place):
            self._check(line, text)
        where = f"{self.name}:{line}" + (f" in {place}" if place else "")
        return Message(
            content=content,
            role=role,
            speaker=speaker,
            at=at,
            session=session or self.session,
            source=where[-1000:],
            key=key,
        )

    def _check(self, line: int, text: str | None) -> None:
        if text is None:
            return
        if "\x00" in text:
            raise self.error(line, "contains a NUL character.", "Remove it.")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise self.error(
                line, "contains half of a surrogate pair, which is not valid text.", "Remove that \\ud8.. escape."
            ) from None
