"""Every error and warning that can leave a door of the package is named by it."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

import pytest

import perdure

PROGRAMS = "perdure.interfaces."
"""Errors that are defined there end a command, an installation's step or a request; no method of Python raises them."""


def below(root):
    return {root}.union(*(below(one) for one in root.__subclasses__()))


@pytest.mark.parametrize("root", [perdure.PerdureError, perdure.PerdureWarning])
def test_errors_and_warnings_are_exported(root):
    for module in walk_packages(perdure.__path__, "perdure."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    found = {one for one in below(root) if one.__module__.startswith("perdure.") and not one.__name__.startswith("_")}
    public = {one for one in found if not one.__module__.startswith(PROGRAMS)}
    assert {one.__name__ for one in public} <= set(perdure.__all__)
    assert [one for one in public if getattr(perdure, one.__name__) is not one] == []
    assert len(public) > 5


def test_every_public_name_is_there():
    assert [name for name in perdure.__all__ if not hasattr(perdure, name)] == []


def test_what_a_quota_and_a_service_that_is_away_raise_can_be_caught_by_name(opening):
    memory = opening({"limits": {"namespace_memories": 1}})
    memory.remember("a")
    with pytest.raises(perdure.QuotaExceeded):
        memory.remember("b")
    with pytest.raises(perdure.StoreUnavailable):
        perdure.connect("http://127.0.0.1:9").list()
