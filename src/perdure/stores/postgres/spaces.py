"""A server's embedding spaces: known, in use, and which memories lack a vector."""

from __future__ import annotations

from perdure.records.errors import SpaceMismatch
from perdure.records.memory import searchable
from perdure.records.vector import Space
from perdure.stores.packing import unpacked
from perdure.stores.postgres import reading as read
from perdure.stores.postgres.server import Server


class StoreSpaces:
    """What a store over a server says about its embedding spaces."""

    _server: Server

    def space(self) -> Space | None:
        """Return the store's embedding space, None before the first vector."""
        found = self._server.admin(read.active_space)
        return None if found is None else found[1]

    def add_space(self, space: Space, *, activate: bool) -> None:
        """Make an embedding space known, and the one that searches use if asked; a no-op where it is so already.

        Raises:
            SpaceMismatch: ``activate`` is False, and another space is active: its vectors and these cannot be compared.
        """
        before = self.space()
        if before == space:
            return
        if before is not None and not activate:
            raise SpaceMismatch(
                f"The store's vectors are of {before.name}, these are of {space.name}.",
                remedy="Run `perdure reembed` to bring the store into the new space.",
            )
        self.prepare_space(space)
        self._server.admin(lambda s: s.run("activate_space", name=space.name).rowcount)

    def prepare_space(self, space: Space) -> None:
        """Make a space known beside the active one, so that it can be filled while searches go on in the old one."""
        while self._space_number(space) is None:  # two processes may have picked the same number
            self._server.admin(
                lambda s: (
                    s.run(
                        "insert_space",
                        name=space.name,
                        model=space.model,
                        dimensions=space.dimensions,
                        version=space.version,
                    ).rowcount
                )
            )

    def _space_number(self, space: Space) -> int | None:
        return dict(self._server.admin(lambda s: s.rows("spaces"))).get(space.name)

    def without_vector(self, namespace: str, space: Space, after: int, limit: int) -> list[tuple[int, str, str]]:
        """Return the next memories without a vector in a space: (cursor, id, searchable text)."""
        number = self._space_number(space)
        key = {"space": -1 if number is None else number, "after": after, "limit": limit}
        rows = self._server.read(namespace, lambda s: s.rows("without_vector", **key))
        return [
            (row, identity, searchable(unpacked(text, pack), speaker)) for row, identity, text, pack, speaker in rows
        ]
