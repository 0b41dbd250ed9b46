"""The pages in a small application that hands them one memory."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette

from conftest import opened
from interfaces.pages.browsing import Browser, Hand
from perdure.interfaces import pages


@pytest.fixture
def memory(tmp_path, clock):
    with opened(tmp_path / "agent.db", clock=clock) as found:
        yield found


@pytest.fixture
def browser(memory):
    with Browser(Hand(Starlette(routes=pages.routes()), memory)) as client:
        yield client
