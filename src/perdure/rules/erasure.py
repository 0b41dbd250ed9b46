"""What goes when memories are erased: what rests on them, and the tombstones that keep them from coming back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from perdure.records.instant import Instant
from perdure.records.memory import DERIVED, STANDS_FOR, Shelf
from perdure.records.plan import Change, Target

SALT: Final = "salt"  # the name of the document with the namespace's salt; its id is the same

_STAND_IN_DIGITS: Final = 12

Links = Callable[[Sequence[str]], Iterable[tuple[str, str, str]]]
"""Returns all links from or to some memories: (id, kind, other)."""


@dataclass(frozen=True, slots=True)
class Dependents:
    """What rests on memories that are erased."""

    derived: frozenset[str]  # goes with them: it rests on them alone, or its words were made of theirs
    redacted: frozenset[str]  # stays: it rests on others too
    restored: frozenset[str]  # was summarised or merged into something that goes, and comes back into view


def find_dependents(ids: Collection[str], links_of: Links) -> Dependents:
    """Return what rests on memories, over any number of steps.

    The text of a summary or of a merged memory was made of all its sources, so it goes with the first of them. A fact
    goes with the last.
    """
    removed_ids, redacted = set(ids), set[str]()
    fresh = sorted(removed_ids)
    while fresh:
        upon = {one for one, kind, other in links_of(fresh) if kind == STANDS_FOR and other in removed_ids}
        resting = {one for one, kind, other in links_of(fresh) if kind == DERIVED and other in removed_ids}
        sources: dict[str, set[str]] = {}
        for one, kind, other in links_of(sorted(resting)):
            if kind == DERIVED and one in resting:
                sources.setdefault(one, set()).add(other)
        unsupported = {one for one, known in sources.items() if known <= removed_ids}
        redacted |= resting - unsupported
        fresh = sorted((upon | unsupported) - removed_ids)
        removed_ids |= upon | unsupported
    derived = removed_ids.difference(ids)
    restored = {o for one, kind, o in links_of(sorted(removed_ids)) if kind == STANDS_FOR and one in removed_ids}
    return Dependents(frozenset(derived), frozenset(redacted - removed_ids), frozenset(restored - removed_ids))


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom or what a name means, where everything about them is erased."""

    memories: Collection[str]  # that are about them, name them, or were said by them
    entities: tuple[str, ...] = ()  # the entity and those merged into it; none where nobody of that name is known
    names: tuple[str, ...] = ()  # all they are called
    possible: tuple[str, ...] = ()  # other memories, which have a part of a name alone: they may be about them
    written: Mapping[str, str] = field(default_factory=dict)  # memory -> the name in it, where that differs from all


@dataclass(frozen=True, slots=True)
class UnusedNames:
    """Names that nobody says any longer, and what holds them besides."""

    forms: frozenset[str] = frozenset()  # their normal forms
    words: tuple[str, ...] = ()  # in all the ways in which they were written
    plain: frozenset[str] = frozenset()  # normal forms and ids that are words of the language, or roles, as well
    ids: frozenset[str] = frozenset()  # of entities that are or were, where the id is made of such a name
    undone: frozenset[str] = frozenset()  # memories that an undo took out, and whose words have such a name
    changes: tuple[Change, ...] = ()  # what entities that stay are called from now on
    values: frozenset[str] = frozenset()  # of the facts that are erased, as they are shown


def salted_digest(salt: str, text: str) -> str:
    """Return 32 hexadecimal digits that tell a text again, for whoever has the salt."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=salt.encode()).hexdigest()


def tombstones(
    identity: str, image: Mapping[str, Any], keys: Iterable[str], salt: str, at: Instant, *, by: str | None, reason: str
) -> list[Change]:
    """Return the changes that keep, without its words, that a memory was erased: when, by whom and why.

    There is one for each of its idempotency keys, or one without.

    Args:
        identity: The memory.
        image: Its row.
        keys: The keys that it was given besides that of its row.
        salt: The namespace's.
        at: When it is erased.
        by: Who asked for it.
        reason: Why.
    """
    data = {"at_ms": at, "by": by, "why": reason, "digest": salted_digest(salt, image["text"])}
    names = [salted_digest(salt, key) for key in (image.get("key"), *keys) if key] or [""]
    rows = ({"shelf": Shelf.ERASED, "name": name, "data": data} for name in names)
    return [Change(Target.DOCUMENT, identity, None, row, "erased") for row in rows]


def salt_document(salt: str) -> Change:
    """Return the change that keeps a namespace's salt."""
    after = {"shelf": Shelf.ERASED, "name": SALT, "data": {"salt": salt}}
    return Change(Target.DOCUMENT, SALT, None, after, "the salt of the digests of what is erased")


def stand_in(salt: str, entity: str) -> str:
    """Return the id that the journal has instead of an erased entity's: it is made of the name, and this says nothing.

    Two entities have different ones, so that a line is still told from another.
    """
    return f"erased-{salted_digest(salt, entity)[:_STAND_IN_DIGITS]}"


def confirmation(ids: Iterable[str]) -> str:
    """Return the word that confirms an erasure of exactly these: eight hexadecimal digits."""
    return blake2b("\n".join(sorted(ids)).encode(), digest_size=4).hexdigest()
