"""The doorways are tested on files: they know only the API, which is the same on a server."""

from __future__ import annotations

from functools import cache

import pytest
import typer.testing


@pytest.fixture(scope="module")
def store():
    return "sqlite"


@pytest.fixture(scope="session", autouse=True)
def _commands_once():
    """Make the commands once, not anew for each command line: that takes most of the time of a short one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.testing._get_command))
        yield
