"""Programs and libraries that a test needs beside Perdure: programs come from the distribution where the system allows.

In CI, which is where ``CI`` is set, what could be there and is not fails the tests that need it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from importlib import import_module

import pytest

_WAIT_SECONDS = 600


def program(names, *packages, needed=False):
    """Where a program is, by the first of its names that there is; else it is installed.

    Where that is not possible its absence skips a test, and fails it in CI if it could have been installed there, or
    if it is ``needed``.
    """
    found, can = _found(tuple(names), packages)
    if found is None:
        _absent(f"there is no {names[0]}", is_fault=needed or can)
    return found


def library(name):
    """A module that the development extra installs; its absence skips a test, and fails it in CI."""
    try:
        return import_module(name)
    except ImportError as error:
        reason = f"{name} is not installed: {error}"
    return _absent(reason, is_fault=True)


def in_ci():
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def _absent(reason, *, is_fault):
    if is_fault and in_ci():
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


@cache
def _found(names, packages):
    """Return where a program is, and whether it could be installed; tried once by each process."""
    found = _path_of(names)
    if found is not None or not _may_install():
        return found, False
    if not _install(packages):  # a fresh system has no lists of packages
        _apt_get("update")
        _install(packages)
    return _path_of(names), True


def _path_of(names):
    return next(filter(None, map(shutil.which, names)), None)


def _install(packages):
    return _apt_get("install", "-y", "--no-install-recommends", *packages)


def _apt_get(*words):
    lock = f"DPkg::Lock::Timeout={_WAIT_SECONDS // 2}"  # another process of the tests may be installing
    command = ["apt-get", "-o", lock, *words]
    return subprocess.run(command, check=False, capture_output=True, timeout=_WAIT_SECONDS).returncode == 0


def _may_install():
    return shutil.which("apt-get") is not None and hasattr(os, "geteuid") and os.geteuid() == 0
