"""Embedding spaces of a store: which are known, and which one searches use. Runs inside one transaction."""

from __future__ import annotations

from perdure.records.errors import SpaceMismatch
from perdure.records.vector import Space
from perdure.stores.reading import active_space
from perdure.stores.session import Session


def add_space(session: Session, space: Space, *, activate: bool) -> None:
    """Make a space known and, if none is active or ``activate`` says so, the one that searches use.

    Raises:
        SpaceMismatch: Another space is active, and ``activate`` is False.
    """
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
