"""Processes with several threads each write to one file: nothing fails, nothing that was acknowledged is lost."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from conftest import LONG_RUN, budget, weekly

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "parallel.py"
FAIR = 0.8  # least of most, among writers


@weekly
def test_processes_and_threads_on_one_file_lose_nothing():
    counts = {"--processes": budget(2, 4), "--threads": budget(4, 8), "--seconds": budget(5, 600)}
    given = [str(part) for pair in counts.items() for part in pair]
    ran = subprocess.run([sys.executable, str(SCRIPT), *given], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "errors: 0\ndifferences: 0\n" in ran.stderr
    least, most = map(int, re.search(r"least and the most busy thread (\d+) and (\d+)", ran.stderr).groups())
    assert least > 0
    if LONG_RUN:
        assert least / most >= FAIR
