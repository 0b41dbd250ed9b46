"""The embedding spaces that a store knows: whether they are what their names say, in every store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from perdure.records.damage import Fault
from perdure.records.errors import SpaceMismatch
from perdure.records.vector import Space
from perdure.stores.reading import active_space
from perdure.stores.statements import Session


def space_faults(rows: Sequence[tuple[Any, ...]], lacking: Callable[[int], int]) -> Iterator[Fault]:
    """Yield what is wrong with the spaces. While the first vectors of a store are made, searches use none.

    Args:
        rows: (number, name, model, dimensions, version, active).
        lacking: Returns how many memories have no vector in the space of a number.
    """
    for _, name, *known, _ in rows:
        if _of_name(name) != Space(*known):
            yield Fault("space", f"The embedding space {name} is told as another: {', '.join(map(str, known))}.")
    active = sum(is_active in (True, 1) for *_, is_active in rows)
    if active > 1 or (not active and any(lacking(number) == 0 for number, *_ in rows)):
        yield Fault("space", "Searches use no embedding space, or several at once.")


def restore_spaces(session: Session) -> None:
    """Make spaces what their names say, and the last one active where not one is."""
    rows = session.rows("spaces")
    for number, name, *known, _ in rows:
        space = _of_name(name)
        if space is not None and space != Space(*known):
            session.run(
                "set_space", number=number, model=space.model, dimensions=space.dimensions, version=space.version
            )
    if rows and sum(active in (True, 1) for *_, active in rows) != 1:
        session.run("activate_space", name=rows[-1][1])


def _of_name(name: Any) -> Space | None:
    model, dimensions, version = ["", "", "", *str(name).rsplit("/", 2)][-3:]
    return Space(model, int(dimensions), version) if dimensions.isascii() and dimensions.isdigit() else None


def add_space(session: Session, space: Space, *, activate: bool) -> None:
    """Make a space known, and the one that searches use if none is active or ``activate`` says so; else refuse it."""
    found = active_space(session)
    if found is not None and found[1] != space and not activate:
        raise SpaceMismatch(
            f"The store's vectors are from {found[1].name}, these are from {space.name}.",
            remedy="Run `perdure reembed` to make new vectors for the store.",
        )
    prepare_space(session, space)
    session.run("activate_space", name=space.name)


def prepare_space(session: Session, space: Space) -> None:
    """Make a space known."""
    while session.value("space_of", name=space.name) is None:  # another process may have taken the number
        session.run(
            "insert_space", name=space.name, model=space.model, dimensions=space.dimensions, version=space.version
        )
