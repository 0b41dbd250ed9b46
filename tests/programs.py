"""Programs that a test needs beside Python: they are installed from the distribution where the system allows."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

import pytest

_WAIT_SECONDS = 600


@cache
def program(names, *packages, needed=False):
    """Where a program is, by the first of its names that there is; else it is installed.

    Where that is not possible its absence skips a test, and fails it in CI if it could have been installed there, or
    if it is ``needed``.
    """
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None and (can := _may_install()):
        lock = f"DPkg::Lock::Timeout={_WAIT_SECONDS // 2}"  # another process of the tests may be installing
        command = ["apt-get", "-o", lock, "install", "-y", "--no-install-recommends", *packages]
        subprocess.run(command, check=False, capture_output=True, timeout=_WAIT_SECONDS)
        found = next(filter(None, map(shutil.which, names)), None)
    else:
        can = False
    if found is None:
        (pytest.fail if os.environ.get("CI") and (needed or can) else pytest.skip)(f"there is no {names[0]}")
    return found


def _may_install():
    return shutil.which("apt-get") is not None and hasattr(os, "geteuid") and os.geteuid() == 0
