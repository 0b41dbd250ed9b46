"""The demonstration as a new user runs it: once in a run of the tests, whichever of its processes asks first."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

STORE = "northwall.db"


def told(factory) -> tuple[Path, Path, str]:
    """Return the folder that the demonstration wrote, a copy of its store that stays as it was, and what it printed."""
    own = factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = shared / "demonstration"
    with _alone(shared / "demonstration.lock"):
        if not (folder / "told.txt").exists():
            _tell(folder)
    return folder / "out", folder / STORE, (folder / "told.txt").read_text("utf-8")


def _tell(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    command = [sys.executable, "-m", "perdure", "demo", "--out", str(folder / "out")]  # as the README says
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    shutil.copy(folder / "out" / STORE, folder / STORE)
    (folder / "told.txt").write_text(done.stdout, "utf-8")


@contextmanager
def _alone(lock: Path):
    """Let one process of the run in at a time, where the system has such locks."""
    with lock.open("w") as file:
        with suppress(ImportError):
            import fcntl  # not everywhere

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
