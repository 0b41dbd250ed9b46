"""Running the plugin's launcher and commands as a fresh machine would: a home of their own, little on PATH."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "src" / "perdure" / "interfaces" / "plugin" / "claude-code" / "scripts" / "launch.sh"
SYSTEM = "/usr/bin:/bin"


def script(path, text):
    """Write a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def says(name):
    """Return a program that says its name and its arguments."""
    return f'#!/bin/sh\necho {name} "$@"\n'


def launched(*words, home, launcher=LAUNCHER, **environment):
    """Run the launcher with nothing but the system's own commands on PATH."""
    environment = {"PATH": SYSTEM, "HOME": str(home), **environment}
    return subprocess.run(
        ["/bin/sh", launcher, *words], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def perdure_process(*words, home, path=SYSTEM, site=None):
    """Run a command; ``site`` holds what an installer recorded, before that of the tests' own environment."""
    environment = {
        "PATH": path,
        "HOME": str(home),
        "PYTHONPATH": os.pathsep.join([*([] if site is None else [str(site)]), str(ROOT / "src")]),
        "XDG_DATA_HOME": str(home / "data"),
    }
    return subprocess.run(
        [sys.executable, "-m", "perdure", "--json", *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )


def cli(*words, **more):
    """Run a command that succeeds, and return what it answers."""
    done = perdure_process(*words, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
