"""The pages in a small application that hands them one memory."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette

from conftest import WORDS_ONLY, opened
from interfaces.pages.browsers import chromium
from interfaces.pages.browsing import Browser, Hand
from perdure.interfaces import pages
from programs import library


@pytest.fixture
def policy():
    """The policy of the store; a mark may give another one."""
    return WORDS_ONLY


@pytest.fixture
def memory(tmp_path, clock, policy):
    with opened(tmp_path / "agent.db", policy, clock) as found:
        yield found


@pytest.fixture
def browser(memory):
    with Browser(Hand(Starlette(routes=pages.routes()), memory)) as client:
        yield client


@pytest.fixture(scope="module")
def chrome():
    """A real browser without a window."""
    playwright = library("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield found
        found.close()
