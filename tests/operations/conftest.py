"""Tests of the verbs run on a file and on one server: what two servers add is tried by the stores' own tests."""

from __future__ import annotations

import pytest

from conftest import STORES


@pytest.fixture(scope="module", params=STORES[:2])
def store(request):
    """Which store the test runs on."""
    return request.param
