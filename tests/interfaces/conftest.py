"""The doorways are tested on files: they know only the API, which is the same on a server."""

from __future__ import annotations

import sys
from functools import cache

import pytest
import typer.testing

from starts import forked


@pytest.fixture(scope="module")
def store():
    return "sqlite"


@pytest.fixture(scope="session", autouse=True)
def _commands_once():
    """Make the commands once, not anew for each command line: that takes most of the time of a short one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.testing._get_command))
        yield


@pytest.fixture(scope="module", autouse=True)
def _forked(request):
    """Fork the commands of a file; one that says ``REAL_PROCESSES`` starts Python anew for each."""
    if sys.platform != "linux" or getattr(request.module, "REAL_PROCESSES", False):
        yield
        return
    with forked():
        yield
