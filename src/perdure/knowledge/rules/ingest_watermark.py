"""How far a session was learned from, by rules and by a language model: which messages need not be looked at again.

Ids are in the order of their making, but two processes may make some at the same instant, and their clocks may differ:
so the ids of the last minute are kept, and what lies among them unlearned is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

OVERLAP_MS: Final = 60_000
MOST: Final = 1000  # ids that are kept; of a batch that is larger the last ones
MOST_FAILED: Final = 100
"""Messages of a session that a model gave no useful reply to, and that are kept to ask again."""


def near(mark: Mapping[str, Any]) -> frozenset[str]:
    """Return the messages that were learned last."""
    return frozenset(str(i) for i in mark.get("near", ()))


def floor(mark: Mapping[str, Any]) -> str:
    """Return the id up to which everything was learned; empty where nothing was."""
    return str(mark.get("floor", ""))


def advance(mark: Mapping[str, Any], learned: Iterable[str], recent: Sequence[str]) -> dict[str, Any]:
    """Return what is written down after more messages were learned from."""
    known = sorted(near(mark) | set(learned))
    begin = max(floor(mark), _before(known[-1]))
    kept = [i for i in known if i > begin]
    if len(kept) > MOST:
        begin = kept[-MOST - 1]
        kept = kept[-MOST:]
    return {"floor": begin, "near": kept, "recent": list(recent)}


def _before(identity: str) -> str:
    """Return the least id of an overlap's length before a UUIDv7; an id of another form is its own."""
    plain = identity.replace("-", "")[:12]
    try:
        at = int(plain, 16)
    except ValueError:
        return identity
    text = f"{max(0, at - OVERLAP_MS):012x}"
    return f"{text[:8]}-{text[8:]}"


@dataclass(slots=True)
class Unread:
    """The messages of a session that rules have learned from, and that a language model could not be asked about."""

    first: str = ""  # it waits, and all after it that were learned from; empty for none
    recent: list[str] = field(default_factory=list)  # the messages before the first, for whom "they" are
    waiting: int = 0  # how many wait, from the first on
    # message -> how often the model was asked about it again, and its reply was of no use
    failed: dict[str, int] = field(default_factory=dict)

    @classmethod
    def from_data(cls, data: Mapping[str, Any] | None) -> Unread:
        """Return what a document says; nothing where there is none."""
        return (
            cls() if data is None else cls(data["first"], list(data["recent"]), data["waiting"], dict(data["failed"]))
        )

    def to_data(self) -> dict[str, Any] | None:
        """Return what is written down; None where nothing waits. ``unread`` counts all messages."""
        return {"unread": self.count, **asdict(self)} if self.count else None

    @property
    def count(self) -> int:
        """How many messages were not read."""
        return self.waiting + len(self.failed)

    def covers(self, identity: str) -> bool:
        """Whether a message comes after one that waits: the model reads messages in their order."""
        return bool(self.first) and identity >= self.first

    def add(self, identity: str, recent: Sequence[str]) -> None:
        """Let a message wait, and those after it."""
        if not self.first:
            self.first, self.recent = identity, list(recent)
        self.waiting += 1

    def go_on(self, first: str, recent: Sequence[str]) -> None:
        """Let only the messages from another one on wait; none where it is empty."""
        self.first, self.recent = first, list(recent) if first else []
        self.waiting = self.waiting if first else 0

    def note_failure(self, identity: str) -> bool:
        """Keep a message whose reply was of no use, to ask again; False where too many are kept."""
        if len(self.failed) >= MOST_FAILED:
            return False
        self.failed[identity] = 0
        return True


def is_learned(mark: Mapping[str, Any], identity: str) -> bool:
    """Return whether a message was learned from."""
    return identity <= floor(mark) or identity in near(mark)
