"""Modules that are imported at their first use: to list the verbs must load neither numpy nor SQLite nor a model."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """Stands for a module until an attribute of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)
        return found


def lazy_modules(package: str, *names: str) -> list[LazyModule]:
    """Return stand-ins for modules of a package."""
    return [LazyModule(f"{package}.{name}") for name in names]
