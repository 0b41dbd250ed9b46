"""A plan: everything an operation would change, as a value that can be shown, applied, journalled and inverted."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, Final

from perdure.records.errors import InvalidInput
from perdure.records.instant import Instant, from_instant, json_text, text_of
from perdure.records.memory import Form

Row = Mapping[str, Any]
"""Column -> value. For an update only the columns that change; for an insert or a delete the whole row."""

UNDO: Final = "undo"  # the operation that takes another one back
BY_HAND: Final = "archive"
"""The operation by which a person hides memories: it takes nothing from what maintenance may hide."""

ERASED: Final = "[erased]"  # stands where erased words stood


class Target(StrEnum):
    """Which kind of row a change is about."""

    MEMORY = "memory"
    VECTOR = "vector"
    LINK = "link"
    ACCESS = "access"
    RECALL = "recall"
    NAMESPACE = "namespace"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Change:
    """One row before and after."""

    target: Target  # the kind of row
    id: str  # the memory the row belongs to
    before: Row | None  # what must be there for the change to apply; None inserts
    after: Row | None  # what will be there; None deletes
    because: str = ""  # the reason, in words and numbers
    trimmed: bool = False  # read from the journal, and older than its horizon: the rows are not kept any more

    def inverse(self) -> Change:
        """Return the change that takes this one back."""
        return replace(self, before=self.after, after=self.before)


@dataclass(frozen=True, slots=True)
class ErasedNames:
    """Names that go with what is erased. An id of an entity is made of its name, so it goes too."""

    words: tuple[str, ...] = ()  # replaced as whole words, in any case
    # normal forms that are words of the language as well (``will``): they are names only with a capital
    plain: frozenset[str] = frozenset()
    # id of each entity that is erased, or whose id is made of such a name -> the id instead, which says nothing
    ids: Mapping[str, str] = field(default_factory=dict)
    forms: frozenset[str] = frozenset()  # normal forms of what nobody is called any longer
    values: frozenset[str] = frozenset()  # of erased facts; reasons of conflicts quote them with their confidence


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a plan erases besides the rows that it deletes."""

    ids: frozenset[str]  # memories and entities whose images and reasons leave the journal
    texts: tuple[str, ...]  # words that are replaced wherever the journal, the logs and documents quote them
    names: ErasedNames = ErasedNames()


@dataclass(frozen=True, slots=True)
class Plan:
    """A set of changes to one namespace that is applied whole or not at all."""

    id: str  # the operation's id (UUIDv7)
    operation: str  # the verb, for example ``sweep``
    namespace: str  # the one namespace that the plan touches
    at: Instant  # the instant the plan was made
    changes: tuple[Change, ...]  # in the order in which they are applied
    policy: str = ""  # the policy's version (a digest), kept in the journal
    note: str = ""  # one line for people
    undoes: str | None = None  # the operation that this one takes back, if any
    erasure: Erasure | None = None  # what it erases for good; such a plan has no inverse
    actor: str | None = None  # who asked for it through the service

    def __repr__(self) -> str:
        """Show what it is, not its rows: they hold vectors, and results hold plans."""
        count = len(self.changes)
        return f"Plan(id={self.id!r}, operation={self.operation!r}, namespace={self.namespace!r}, changes={count})"

    @property
    def hides(self) -> int:
        """How many memories the plan takes out of view, archived or merged; the loss budget counts it."""
        return len(self.hidden)

    @property
    def hidden(self) -> frozenset[str]:
        """The memories that the plan takes out of view."""
        return frozenset(c.id for c in self.changes if _is_visible(c.before) and not _is_visible(c.after, default=True))

    @property
    def shortened_ids(self) -> frozenset[str]:
        """The memories that stay in view in a shorter form."""
        shorter = {c.id for c in self.changes if c.after is not None and _length(c.after) < _length(c.before)}
        return frozenset(shorter) - self.hidden

    @property
    def loses(self) -> int:
        """How many memories the plan hides, merges or shows in a shorter form; the gates look at it if any."""
        return len(self.hidden) + len(self.shortened_ids)

    def inverse(self, *, id: str, at: Instant) -> Plan:  # noqa: A002  # the field's name
        """Return the plan that takes this one back, as a new operation."""
        changes = tuple(change.inverse() for change in reversed(self.changes))
        return replace(
            self,
            id=id,
            at=at,
            operation=UNDO,
            changes=changes,
            undoes=self.id,
            note=f"undoes {self.operation} {self.id} of {text_of(self.at)}",
        )

    # what ``to_dict`` holds besides the changes
    json_types: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("id", "operation", "namespace", "at", "note", "policy"), str),
        "undoes": str | None,
        "hides": int,
        "loses": int,
    }

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain JSON data (vectors are left out)."""
        return {
            "id": self.id,
            "operation": self.operation,
            "namespace": self.namespace,
            "at": json_text(from_instant(self.at)),
            "note": self.note,
            "undoes": self.undoes,
            "hides": self.hides,
            "loses": self.loses,
            "policy": self.policy,
            "changes": [
                {
                    "target": c.target.value,
                    "id": c.id,
                    "before": _visible(c.before),
                    "after": _visible(c.after),
                    "because": c.because,
                }
                for c in self.changes
            ],
        }

    def to_json(self) -> dict[str, Any]:
        """Return the whole plan as JSON data, with vectors: ``Plan.from_dict`` gives an equal plan back."""
        fields = {name: getattr(self, name) for name in _TEXTS}
        return {
            **fields,
            "at": self.at,
            "undoes": self.undoes,
            "changes": [[c.target.value, c.id, _pack(c.before), _pack(c.after), c.because] for c in self.changes],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """Return the plan that ``to_json`` described."""
        try:
            texts = {name: _check_type(data[name], str) for name in _TEXTS}
            undoes = data["undoes"]
            changes = tuple(_change(*change) for change in data["changes"])
            at = _check_type(data["at"], int)
            return cls(**texts, at=at, changes=changes, undoes=None if undoes is None else _check_type(undoes, str))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(
                "This is not a plan.", remedy="Make one, for example with `perdure plan sweep -o FILE`."
            ) from error


_TEXTS: Final = ("id", "operation", "namespace", "policy", "note")
_FORMS: Final = {form.value: len(Form) - place for place, form in enumerate(Form)}


def _length(row: Row | None) -> int:
    """Where a form stands from the barest to the fullest; 0 where a row says nothing about it."""
    return 0 if row is None or "form" not in row else _FORMS[row["form"]]


def _change(target: str, identity: str, before: Any, after: Any, because: str) -> Change:
    rows = [None if side is None else _check_type(_unpack(side), dict) for side in (before, after)]
    return Change(Target(target), _check_type(identity, str), rows[0], rows[1], _check_type(because, str))


def _check_type(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError
    return value


def _pack(value: Any) -> Any:
    """Return JSON data for a value of a row. What JSON has not is an object whose only key begins with ``$``."""
    if isinstance(value, bytes):
        return {"$bytes": b64encode(value).decode()}
    if isinstance(value, tuple):
        return {"$tuple": [_pack(v) for v in value]}
    if isinstance(value, list):
        return [_pack(v) for v in value]
    if isinstance(value, Mapping):
        plain = {k: _pack(v) for k, v in value.items()}
        return {"$object": plain} if any(k.startswith("$") for k in plain) else plain
    return value.value if isinstance(value, StrEnum) else value


def _unpack(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpack(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "$bytes" in value:
        return b64decode(value["$bytes"], validate=True)
    if "$tuple" in value:
        return tuple(_unpack(v) for v in value["$tuple"])
    return {k: _unpack(v) for k, v in value.get("$object", value).items()}


def _is_visible(row: Row | None, *, default: bool = False) -> bool:
    """Whether a row says that its memory is in view; ``default`` where it says nothing about it."""
    return default if row is None or "status" not in row else row["status"] == "active"


def _visible(row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {k: v for k, v in row.items() if not isinstance(v, bytes)}
