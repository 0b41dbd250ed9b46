"""How long the tests take on a fresh clone, and what they cover: ``python benchmarks/time_of_tests.py [--coverage]``.

The last commit of this checkout is cloned into a folder of its own, so uncommitted changes are not measured. Each row
is one command as a developer calls it; ``make test`` is given twice, whole and by what pytest reports of itself.
``--coverage`` also runs ``make coverage``, which ends with an error where less than the bound is covered.
The load before each command says whether the machine was quiet: the bounds are for two processors without other work.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from report import Row, finished, parser, say

ROOT = Path(__file__).parents[1]
MOST_SECONDS = 360.0
MOST_FAST = 60.0
LEAST_COVERED = 94.0
_PASSED = re.compile(r"(\d+) passed.* in ([\d.]+)s")
_FAILED = re.compile(r"^(\d+) failed", re.MULTILINE)
_COVERED = re.compile(r"^TOTAL .*?([\d.]+)%$", re.MULTILINE)


class Run(NamedTuple):
    """One command that ended well."""

    seconds: float
    output: str
    load: float  # processes that wanted a processor in the minute before
    status: int = 0


def run(folder: Path, target: str, *, may_fail: bool = False) -> Run:
    """Run a target of the Makefile, without what this process's environment says of tests.

    Raises:
        SystemExit: It ended with an error, and may not; what it printed last is shown.
    """
    say(f"--- make {target}")
    load = os.getloadavg()[0]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PERDURE_", "PYTEST_"))}
    start = time.perf_counter()
    done = subprocess.run(
        ["make", target],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        say(done.stdout[-4000:])
        if not may_fail:
            sys.exit(f"make {target} ended with {done.returncode}.")
    return Run(time.perf_counter() - start, done.stdout, load, done.returncode)


def rows_of_tests(done: Run) -> list[Row]:
    """Return the rows of ``make test``."""
    found = _PASSED.findall(done.output)
    if not found:
        sys.exit("make test printed no summary of pytest.")
    passed, seconds = found[-1]
    note = f"{int(passed):,} passed, load {done.load:.1f}"
    return [
        Row("make test, its tests", float(seconds), "s", MOST_SECONDS, note=note),
        Row("make test, with style, types and import contracts", done.seconds, "s"),
    ]


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--coverage", action="store_true", help="also measure what the tests cover")
    options = arguments.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "clone"
        Path(temporary).chmod(0o755)  # some tests start processes of another user
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
        rows.append(Row("make install", run(folder, "install").seconds, "s"))
        rows += rows_of_tests(run(folder, "test"))
        quick = run(folder, "fast")
        rows.append(Row("make fast", quick.seconds, "s", MOST_FAST, note=f"load {quick.load:.1f}"))
        covering = run(folder, "coverage", may_fail=True) if options.coverage else None
        if covering is not None:
            covered = _COVERED.findall(covering.output)
            share, failed = float(covered[-1]) if covered else 0.0, _FAILED.findall(covering.output)
            note = f"{failed[-1]} failed, load {covering.load:.1f}" if failed else f"load {covering.load:.1f}"
            rows.append(Row("statements and branches covered", share, "%", LEAST_COVERED, at_least=True, note=note))
    finished(rows, as_json=options.json)
    if covering is not None and covering.status:
        sys.exit(f"make coverage ended with {covering.status}.")


if __name__ == "__main__":
    main()
