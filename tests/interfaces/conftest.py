"""The doorways are tested on files: they know only the API, which is the same on a server."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def store():
    return "sqlite"
