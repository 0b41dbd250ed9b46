"""Small changes of the source, drawn by chance, and whether a test notices: ``python benchmarks/mutants.py --help``.

First each folder of tests runs once to note which functions each test calls; that is used again for a week, or until a
test of the folder changes. Then each change runs against the tests that call the changed function, those that call the
fewest others first; what they let pass, against all cases of the same tests, as ``make weekly`` has them. What ran with
a seed is not run again: ``build/mutants`` holds it. Processes that tests start run the source as it is, so what only
they would notice survives. Those of ``equivalent_mutants.txt`` somebody read: they change nothing that can be seen.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from small_changes import LATE, ROOT, SERVER, mutants, tell

KEPT = ROOT / "build" / "mutants"
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")
AREAS = [f"src/perdure/{area}" for area in ("formulas", "knowledge", "rules", "stores")]
WEEK = 6 * 24 * 3600
NOT_RUN = {pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR}


def run(words: list[str], **plan: Any) -> int:
    """Run tests by a plan; return pytest's exit status."""
    plan = {"trace": "", "mutants": [], "from_start": 0, "every_case": False, **plan}
    plan["files"] = sorted({one["path"] for one in plan["mutants"]})
    (file := KEPT / f"plan-{os.getpid()}.json").write_text(json.dumps(plan), "utf-8")
    env = os.environ | {"PERDURE_MUTANTS": str(file), "OPENBLAS_NUM_THREADS": "1"}
    env |= {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)])}
    env |= {"PERDURE_LONG_RUN": "1"} if plan["every_case"] else {}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "small_changes", "-p", "no:cacheprovider", "--tb=no", *words]
    status = subprocess.run(command, cwd=ROOT, env=env, check=False, stdout=subprocess.DEVNULL).returncode
    file.unlink()
    return status


def traced(folder: Path) -> dict[str, Any]:
    """Note which functions the tests of a folder call, unless what is kept is new enough."""
    kept = KEPT / f"{folder.relative_to(ROOT).as_posix().replace('/', '-')}.json"
    newest = max(file.stat().st_mtime for file in (folder.rglob("*.py") if folder.is_dir() else [folder]))
    if not kept.exists() or kept.stat().st_mtime < max(newest, time.time() - WEEK):
        print(f"tracing {folder.relative_to(ROOT)}", flush=True)
        if run(["--hypothesis-profile=brief", str(folder)], trace=str(kept)) in NOT_RUN:
            kept.unlink(missing_ok=True)  # else what only these tests notice would count as noticed by none
            sys.exit(f"The tests of {folder.relative_to(ROOT)} could not be loaded.")
    return json.loads(kept.read_text("utf-8"))


class Reach:
    """Which tests call a function, and what they take."""

    def __init__(self, traces: list[dict[str, Any]]) -> None:
        self.seconds: dict[str, float] = {}
        self.called: dict[str, list[str]] = defaultdict(list)
        for trace in traces:
            self.seconds.update(trace["tests"])
            for function, numbers in trace["called"].items():
                self.called[function] += [trace["tests"][n][0] for n in numbers]
        self.calls = Counter(test for tests in self.called.values() for test in tests)

    def tests(self, mutant: dict[str, Any], seconds: float) -> tuple[bool, list[str]]:
        """Whether tests call the function, and the tests to run, those that call the fewest functions first."""
        path, function = mutant["path"], mutant["function"]
        own = self.called.get(f"{path}:{function.removesuffix('()')}", [])
        # What runs when a file is loaded, as defaults do, is tried by the tests of each of its functions.
        found = own or [test for name, tests in self.called.items() if name.startswith(f"{path}:") for test in tests]
        chosen, taken = [], 0.0
        for test in sorted(set(found), key=lambda one: (SERVER in one, self.calls[one], one)):
            taken += self.seconds[test]
            if taken > seconds and chosen:
                break
            chosen.append(test)
        return bool(own) and not function.endswith("()"), chosen


def tried(todo: list[dict[str, Any]], reach: Reach, given: argparse.Namespace, **plan: Any) -> None:
    """Try changes: together those of functions that tests call, each in a process of its own the others."""
    together, alone = [], []
    for mutant in todo:
        called, tests = reach.tests(mutant, given.seconds)
        (together if called else alone).append(mutant | {"tests": tests})
    plan |= {"jobs": given.jobs, "seconds": int(30 + 3 * given.seconds)}
    for group in ([together] if together else []) + [[one] for one in alone]:
        if files := sorted({test.partition("::")[0] for one in group for test in one["tests"]}):
            run(files, mutants=group, from_start=int(group[0] in alone), **plan)
        for one in group:
            if verdicts(plan["results"]).get(one["name"], {}).get("every_case") != plan["every_case"]:
                if group is together:
                    sys.exit("The tests of the changes could not be loaded.")
                tell(one, "its tests do not load" if files else "", plan)


def verdicts(results: str) -> dict[str, dict[str, Any]]:
    """The last verdict on each change. One that is late with all cases was let pass by those of make test."""
    found: dict[str, dict[str, Any]] = {}
    for one in map(json.loads, Path(results).read_text("utf-8").splitlines()):
        late = one["every_case"] and one["verdict"] == LATE
        found[one["name"]] = one | ({"verdict": "survived"} if late else {})
    return found


def table(found: list[dict[str, Any]]) -> str:
    """How many were noticed in each folder; a change that hangs is."""
    rows = ["folder         drawn   killed out-of-time survived equivalent  noticed of those not equivalent"]
    for area in [*sorted({one["area"] for one in found}), ""]:
        those = Counter(one["verdict"] for one in found if area in {one["area"], ""})
        counts = [those[one] for one in ("killed", LATE, "survived", "equivalent")]
        n = max(1, sum(counts[:3]))
        rate = 1 - those["survived"] / n
        cells = "{:>8} {:>8} {:>11} {:>8} {:>10}".format(sum(counts), *counts)
        rows.append(f"{area or 'all':<11} {cells}  {rate:.1%} ± {math.sqrt(rate * (1 - rate) / n):.1%}")
    return "\n".join(rows)


def drawn(only: list[str], seed: int, count: int) -> list[dict[str, Any]]:
    """Draw changes by chance; a larger count begins with the same ones."""
    files = [file for one in only for file in ([ROOT / one] if one.endswith(".py") else (ROOT / one).rglob("*.py"))]
    every = [mutant for file in sorted(files) for mutant in mutants(file)]
    random.Random(seed).shuffle(every)
    print(
        f"{len(every):,} small changes of {len(files)} files, of which {count:,} are drawn with seed {seed}", flush=True
    )
    return every[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=AREAS, metavar="PATH", help="folders or files of the source")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="folders or files of tests; else all")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.strftime("%G%V")), help="else the week's")
    parser.add_argument("--jobs", type=int, default=1, help="changes that are tried at once")
    parser.add_argument("--seconds", type=float, default=60, help="of tests for each change")
    given = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    sample = drawn(given.only, given.seed, given.count)
    folders = given.tests or sorted({file.parent for file in (ROOT / "tests").glob("*/test_*.py")})
    reach = Reach([traced(ROOT / one) for one in folders])
    results = KEPT / f"results-{given.seed}.jsonl"
    results.touch()
    for every_case in (False, True):
        done = verdicts(str(results))
        left = [one for one in sample if not every_case or done[one["name"]]["verdict"] == "survived"]
        todo = [one for one in left if done.get(one["name"], {}).get("every_case", -1) < every_case]
        tried(todo, reach, given, results=str(results), every_case=every_case)
    judged = {line.partition("  # ")[0] for line in EQUIVALENT.read_text("utf-8").splitlines()}
    done, found = verdicts(str(results)), []
    for mutant in sample:
        name = mutant["name"]
        verdict = "equivalent" if name in judged else done[name]["verdict"]
        found.append({"verdict": verdict, "area": mutant["path"].split("/")[2]})
        path, _, change = name.partition(":")
        print(f"{verdict:<11} {path}:{mutant['line']}:{change}  {done[name]['why']}")
    print(table(found))


if __name__ == "__main__":
    main()
