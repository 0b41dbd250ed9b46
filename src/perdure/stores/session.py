"""How statements of the registry are run, in every store: in one namespace, inside one transaction or connection."""

from __future__ import annotations

from typing import Any, Protocol


class Session(Protocol):
    """Runs named statements; routed ones are bound to its namespace. Lists are bound as lists in every dialect."""

    def run(self, name: str, /, **bindings: Any) -> Any:
        """Run a statement whose answer does not matter."""

    def rows(self, name: str, parts: tuple[str, ...] | None = None, /, **bindings: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a statement.

        Args:
            name: In the registry.
            parts: Conditions of the registry that fill the slot ``{filters}``.
            bindings: Values.
        """

    def several(self, *calls: tuple[str, dict[str, Any]]) -> list[list[tuple[Any, ...]]]:
        """Return the rows of statements that do not need each other's answers; a server is asked them all at once.

        Args:
            calls: (name, values) of each.
        """

    def value(self, name: str, /, **bindings: Any) -> Any:
        """Return the one value of a statement, None where there is no row."""
