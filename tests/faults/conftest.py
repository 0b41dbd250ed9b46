"""Faults of files and processes: each test says itself what it needs of a server."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def store():
    return "sqlite"
