"""Which tests are slow, and on which days ``make test`` runs them.

A tenth of the tests takes four fifths of the time. ``make test`` runs each of these on one day in four, the others
every day; ``make full`` and ``make weekly`` run all. ``slow_tests.txt`` lists them with the seconds that one case took:
``pytest --record-slow-tests`` writes it anew.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

TESTS = Path(__file__).parent
LISTED = TESTS / "slow_tests.txt"
SLOW = 0.5
"""Seconds from which on a test is slow, with what it sets up, as the mean of its cases."""
DAYS = 4
EVERY_DAY = {"golden", "tests"}
"""Folders whose tests run every day: recorded answers, documents, and the rules of the source itself."""
TOGETHER = {"test_lives.py"}
"""Files whose tests look at what the others of the file have done: all run on one day."""


def listed():
    """Return the seconds of one case of each slow test, the slowest first."""
    rows = (line.split(maxsplit=1) for line in LISTED.read_text("utf-8").splitlines())
    return {name: float(seconds) for seconds, name in rows}


def name_of(nodeid):
    """Return the name of a test without its case, from the folder of the tests on."""
    return nodeid.partition("[")[0].removeprefix("tests/")


def seconds_of_files(items, slow):
    """Return how long the slow tests of each file take together: the longest files are begun first."""
    found = Counter()
    for item in items:
        found[item.path] += slow.get(name_of(item.nodeid), 0.0)
    return found


def of_other_days(items, slow, day):
    """Return the slow tests of other days. Tests of like time, and the cases of one test, have different days."""
    rank = {name: number for number, name in enumerate(slow)}
    cases = defaultdict(int)
    left = []
    for item in items:
        name = name_of(item.nodeid)
        turn = 0 if item.path.name in TOGETHER else rank.get(name)
        if turn is None or item.path.parent.name in EVERY_DAY:
            continue
        if (turn + cases[name] + day) % DAYS:
            left.append(item)
        cases[name] += item.path.name not in TOGETHER
    return left


class Recorder:
    """Writes the list of slow tests at the end of a run."""

    def __init__(self):
        self.seconds = Counter()

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self):
        cases = defaultdict(list)
        for nodeid, seconds in self.seconds.items():
            cases[name_of(nodeid)].append(seconds)
        means = {name: sum(several) / len(several) for name, several in cases.items()}
        slow = sorted(((seconds, name) for name, seconds in means.items() if seconds >= SLOW), reverse=True)
        LISTED.write_text("".join(f"{seconds:.1f} {name}\n" for seconds, name in slow), "utf-8")
