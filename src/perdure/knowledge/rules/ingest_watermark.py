"""How far a session was learned from, by rules and by a language model: which messages need not be looked at again.

Ids are in the order of their making, but two processes may make some at the same instant, and their clocks may differ:
so the ids of the last minute are kept, and what lies among them unlearned is found.
"""

from __future__ import annotations

import re
import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from perdure.records.errors import REPAIR, StoreDamaged

OVERLAP_MS: Final = 60_000
MOST: Final = 1000  # ids that are kept; of a batch that is larger the last ones
_BYTES: Final = 16  # of a UUID
_UUID: Final = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOST_FAILED: Final = 100  # messages of a session that a model gave no useful reply to, and that are kept to ask again


def last_learned(mark: Mapping[str, Any]) -> frozenset[str]:
    """Return the messages that were learned last."""
    return frozenset(_ids_of(mark.get("near", ())))


def last_heard(mark: Mapping[str, Any]) -> list[str]:
    """Return the messages that were heard last in the session, oldest first."""
    kept = mark.get("recent", ())
    return _ids_of(mark["near"])[-kept:] if isinstance(kept, int) else _ids_of(kept)


def learned_up_to(mark: Mapping[str, Any]) -> str:
    """Return the id up to which everything was learned; empty where nothing was."""
    return str(mark.get("floor", ""))


def _ids_of(kept: str | Sequence[str]) -> list[str]:
    """Return the ids that a mark keeps: packed, or as a list where an earlier version wrote them."""
    if not isinstance(kept, str):
        return [str(i) for i in kept]
    try:
        data = zlib.decompress(b64decode(kept, validate=True))
        digits = [bytes(id_bytes).hex() for id_bytes in struct.iter_unpack(f"{_BYTES}B", data)]
    except (ValueError, zlib.error, struct.error) as error:
        raise StoreDamaged(f"How far a session was learned from cannot be read ({error}).", remedy=REPAIR) from error
    return [f"{d[:8]}-{d[8:12]}-{d[12:16]}-{d[16:20]}-{d[20:]}" for d in digits]


def _pack(ids: Sequence[str]) -> str | list[str]:
    """Return ids in a third of their room: those of a batch begin alike; ids of another form stay as they are."""
    if not ids or not all(map(_UUID.fullmatch, ids)):
        return list(ids)
    return b64encode(zlib.compress(bytes.fromhex("".join(ids).replace("-", "")), 9)).decode()


def advance_watermark(mark: Mapping[str, Any], learned: Iterable[str], last: Sequence[str]) -> dict[str, Any]:
    """Return what is written down after more messages were learned from."""
    known = sorted(last_learned(mark) | set(learned))
    begin = max(learned_up_to(mark), _before(known[-1]))
    kept = [i for i in known if i > begin]
    if len(kept) > MOST:
        begin = kept[-MOST - 1]
        kept = kept[-MOST:]
    same = bool(last) and kept[-len(last) :] == list(last)  # as nearly always: how many of them says it
    return {"floor": begin, "near": _pack(kept), "recent": len(last) if same else _pack(last)}


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
class UnreadMessages:
    """The messages of a session that rules have learned from, and that a language model could not be asked about."""

    first: str = ""  # it waits, and all after it that were learned from; empty for none
    recent: list[str] = field(default_factory=list)  # the messages before the first, for whom "they" are
    waiting: int = 0  # how many wait, from the first on
    # message -> how often the model was asked about it again, and its reply was of no use
    failed: dict[str, int] = field(default_factory=dict)

    @classmethod
    def from_data(cls, data: Mapping[str, Any] | None) -> UnreadMessages:
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
    return identity <= learned_up_to(mark) or identity in last_learned(mark)
