"""Stores of every kind with a clock that the test moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

import perdure
from conftest import places, servers
from perdure.compose import is_server


class Clock:
    """A clock that stands still until the test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **span: float) -> None:
        self.now += timedelta(**span)


def grouped(texts: list[str]) -> np.ndarray:
    """One direction for each first word, so that memories which begin alike are twins."""
    names = [text.split()[0].lower() for text in texts]
    return np.array([np.eye(26)[(ord(name[0]) - ord("a")) % 26] for name in names], dtype=np.float32)


class World:
    """One store, its clock, and a look at its rows past the API."""

    def __init__(self, path: Path | str, policy: dict[str, Any], embedder: Callable[[list[str]], Any] | None) -> None:
        self.path, self.clock = path, Clock()
        settings = {**policy, "embedder": {"model": "none"}}
        self.memory = perdure.open(path, policy=settings, clock=self.clock, embedder=embedder)

    def rows(self, table: str = "memory", without: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        """All rows of a table, every column."""
        found = self._rows_of_server(table) if is_server(str(self.path)) else self._rows_of_file(table)
        return [{k: v for k, v in row.items() if k not in without} for row in found]

    def _rows_of_server(self, table: str) -> list[dict[str, Any]]:
        return servers().rows(str(self.path), "embedding" if table == "vector" else table)

    def _rows_of_file(self, table: str) -> list[dict[str, Any]]:
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            cursor = connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")
            return [dict(zip((c[0] for c in cursor.getdescription()), row, strict=True)) for row in cursor]
        finally:
            connection.close()

    def all(self) -> list[perdure.memory.RememberResult]:
        return self.memory.list(limit=1000, include_archived=True)


@pytest.fixture
def world(store: str, tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Open worlds, each in a place of its own; all are closed afterwards."""
    opened: list[World] = []
    with places(store, tmp_path) as elsewhere:

        def make(policy: dict[str, Any] | None = None, *, twins: bool = False) -> World:
            opened.append(World(elsewhere(), policy or {}, grouped if twins else None))
            return opened[-1]

        yield make
        for each in opened:
            each.memory.close()
