"""Small changes of the source, drawn by chance, and whether a test notices: ``python benchmarks/mutants.py --help``.

First each folder of tests runs once to note which functions each test calls; that is used again for a week, or until a
test of the folder changes. Then a process loads the tests and the source with all changes in it, each behind a switch,
and for each change forks a child that turns it on and runs the tests that call the changed function, those that call
the fewest others first. A change of what runs when a file is loaded has a process of its own. What the tests let pass
is tried again with all cases of the same tests, as ``make weekly`` has them. What ran with a seed is not run again:
``build/mutants`` holds it. Processes that tests start run the source as it is: what only they run is not noticed.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import builtins
import copy
import json
import math
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "mutants"
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")  # judged by a reader, each with its reason
AREAS = [f"src/perdure/{area}" for area in ("formulas", "knowledge", "rules", "stores")]
MOST_MEMORY = 8 * 2**30
LATE = "out of time"
PAIRS = "Lt LtE, Gt GtE, Eq NotEq, Is IsNot, In NotIn, And Or, Add Sub, Mult Div, min max, any all"
OTHER = {a: b for pair in PAIRS.split(", ") for a, b in (pair.split(), pair.split()[::-1])}
CLASSES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Mutant:
    """A change of one place: the ``number``-th small change of a file."""

    path: str
    number: int
    line: int
    function: str
    before: str
    after: str

    @property
    def name(self) -> str:
        """What stays the same when lines move."""
        return f"{self.path}:{self.function}: {self.before} -> {self.after}"


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:  # noqa: C901  # a table
    """The small changes of one node: what is replaced, and by what."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=right) if type(op).__name__ in OTHER:
            yield node, ast.Compare(left, [other(op)], right)
        case ast.BoolOp(op=op, values=values):
            yield node, ast.BoolOp(other(op), values)
        case ast.BinOp(left=left, op=op, right=right) if type(op).__name__ in OTHER:
            yield node, ast.BinOp(left, other(op), right)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, operand
        case ast.Constant(value=bool(value)):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int() | float() as number):
            yield node, ast.Constant(number + 1)
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield value, ast.Constant(None)
        case ast.If(test=test) | ast.IfExp(test=test):
            yield from ((test, ast.Constant(value)) for value in (True, False))
        case ast.comprehension(ifs=[test, *_]):
            yield test, ast.Constant(value=True)
        case ast.Expr(value=ast.Call() as call):
            yield call, ast.Constant(None)
        case ast.AugAssign(target=target, value=value):
            yield node, ast.Assign([target], value, lineno=node.lineno)
        case ast.Call(func=ast.Name(id=called) as function) if called in OTHER:
            yield function, ast.Name(OTHER[called], ast.Load())


def other(operator: ast.AST) -> Any:
    """The operator that is taken for this one."""
    return getattr(ast, OTHER[type(operator).__name__])()


def inner(node: ast.AST) -> Iterator[ast.AST]:
    """Go through the parts whose changes mean something: no annotation, error text, formatting, pattern or type."""
    match node:
        case ast.FunctionDef(args=args, body=body) | ast.AsyncFunctionDef(args=args, body=body):
            yield from (*args.defaults, *(one for one in args.kw_defaults if one), *body)
        case ast.ClassDef(body=body):
            yield from body
        case ast.AnnAssign(value=value):
            yield from [value] if value else []
        case ast.Raise() | ast.JoinedStr() | ast.pattern() | ast.keyword(arg="strict"):
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case _:
            yield from ast.iter_child_nodes(node)


def every_change(tree: ast.AST) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Every small change of a file, always in the same order, with the function that it is in."""
    todo = [(tree, "")]
    while todo:
        node, function = todo.pop()
        yield from ((function, old, new) for old, new in changes(node))
        within = f"{function}.{node.name}".strip(".") if isinstance(node, CLASSES) else function
        defaults = {*node.args.defaults, *node.args.kw_defaults} if isinstance(node, CLASSES[:2]) else ()
        todo += [(part, f"{within}()" if part in defaults else within) for part in inner(node)]


def mutants(path: Path) -> Iterator[Mutant]:
    """Every small change of a file."""
    name = str(path.relative_to(ROOT))
    for number, (function, old, new) in enumerate(every_change(ast.parse(path.read_bytes()))):
        yield Mutant(name, number, old.lineno, function, ast.unparse(old), ast.unparse(new))


# --- in the process of the tests: the source is loaded with what notes calls, and with the changes behind switches


class Switches(ast.NodeTransformer):
    """Put the changes of a file behind switches."""

    def __init__(self, tree: ast.AST, numbers: dict[int, int]) -> None:
        self.at: dict[ast.AST, list[tuple[int, ast.AST]]] = defaultdict(list)
        for number, (_, old, new) in enumerate(every_change(tree)):
            if number in numbers:
                self.at[old].append((numbers[number], copy.deepcopy(new)))

    def visit(self, node: ast.AST) -> Any:
        """Visit the parts first: changes within changes are apart."""
        node, mine = super().visit(node), self.at.get(node, ())
        for switch, new in mine:
            on = ast.parse(f"perdure_mutant == {switch}", mode="eval").body
            node = ast.If(on, [new], [node]) if isinstance(new, ast.stmt) else ast.IfExp(on, new, node)
        return node


def noting(tree: ast.AST, path: str, function: str = "") -> None:
    """Have each function say that it was called."""
    for node in ast.iter_child_nodes(tree):
        within = f"{function}.{node.name}".strip(".") if isinstance(node, CLASSES) else function
        noting(node, path, within)
        if isinstance(node, CLASSES[:2]):
            call = ast.parse(f"perdure_call({f'{path}:{within}'!r})").body
            node.body[:] = node.body[:1] + call + node.body[1:] if ast.get_docstring(node) else call + node.body


class Loader(SourceFileLoader):
    """Loads a file of the source as it is to be run."""

    def get_code(self, _fullname: str) -> CodeType:
        """Compile anew: what is kept is the source as it is."""
        path, tree = str(Path(self.path).relative_to(ROOT)), ast.parse(Path(self.path).read_bytes())
        if PLAN["trace"]:
            noting(tree, path)
        else:
            mine = {one["number"]: n for n, one in enumerate(PLAN["mutants"], 1) if one["path"] == path}
            tree = Switches(tree, mine).visit(tree)
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)


class Finder:
    """Finds the files of the source that are to be loaded in another way."""

    @staticmethod
    def find_spec(name: str, path: Any = None, _target: Any = None) -> ModuleSpec | None:
        """Find a file as usual, and have it loaded by us."""
        spec = PathFinder.find_spec(name, path) if name.startswith("perdure.") else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            file = Path(spec.loader.path)
            if file.is_relative_to(ROOT) and (PLAN["trace"] or str(file.relative_to(ROOT)) in PLAN["files"]):
                spec.loader = Loader(name, spec.loader.path)
        return spec


class Tracing:
    """Notes which functions each test calls. A test that fails or is skipped is left out."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()
        self.called: dict[str, set[str]] = defaultdict(set)
        self.now: set[str] = set()
        builtins.perdure_call = self.now.add  # type: ignore[attr-defined]

    def pytest_runtest_logstart(self) -> None:
        """Begin a test."""
        self.now.clear()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note what a test took, and whether it passed."""
        self.seconds[report.nodeid] += report.duration
        self.failed |= set() if report.passed else {report.nodeid}

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """End a test."""
        for function in self.now:
            self.called[function].add(nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write what was noted."""
        tests = {test: number for number, test in enumerate(test for test in self.seconds if test not in self.failed)}
        called = {name: sorted(tests[one] for one in those if one in tests) for name, those in self.called.items()}
        found = {"tests": [[test, round(self.seconds[test], 3)] for test in tests], "called": called}
        Path(PLAN["trace"]).write_text(json.dumps(found), "utf-8")


class Trying:
    """Tries each change in a child."""

    failed = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note that a test fails."""
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def pytest_runtestloop(self, session: Any) -> bool:
        """Fork a child for each change, several at once; say of one that ends without a word that it is late."""
        waiting = list(enumerate(PLAN["mutants"], 1))
        running: dict[int, dict[str, Any]] = {}
        while waiting or running:
            while waiting and len(running) < PLAN["jobs"]:
                switch, mutant = waiting.pop()
                if not (child := os.fork()):
                    self.child(session, switch, mutant)
                running[child] = mutant
            child, status = os.wait()
            if status and child in running:
                told(running[child], LATE)
            running.pop(child, None)
        return True

    def child(self, session: Any, switch: int, mutant: dict[str, Any]) -> None:
        """Run the tests of one change until one fails."""
        builtins.perdure_mutant = switch  # type: ignore[attr-defined]
        seconds = int(PLAN["seconds"])
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 20))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        for late in (signal.SIGXCPU, signal.SIGALRM):
            signal.signal(late, signal.default_int_handler)
        signal.alarm(4 * seconds)  # for what waits
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        items = chosen(session.items, mutant["tests"])
        status = 1
        try:
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed:
                    break
            told(mutant, self.failed, len(items))
            status = 0
            session._setupstate.teardown_exact(None)  # noqa: SLF001  # as pytest does after its last test
        finally:
            atexit._run_exitfuncs()  # noqa: SLF001  # servers and children of tests end with this process
            os._exit(status)


def chosen(items: list[Any], tests: list[str]) -> list[Any]:
    """The tests of one change in the order in which they are to run, or all their cases."""
    if PLAN["every_case"]:
        server = any(map(on_a_server, tests))
        items = [item for item in items if server or not on_a_server(item.nodeid)]
        tests = [test.partition("[")[0] for test in tests]
    places = {test: place for place, test in reversed(list(enumerate(tests)))}
    names = {item: item.nodeid.partition("[")[0] if PLAN["every_case"] else item.nodeid for item in items}
    return sorted((item for item in items if names[item] in places), key=lambda item: places[names[item]])


def on_a_server(test: str) -> bool:
    """Whether a test runs on a server, by its name."""
    return "postgres" in test or "spread" in test


def told(mutant: dict[str, Any], failed: str, tests: int = 0, plan: dict[str, Any] | None = None) -> None:
    """Write what came of a change."""
    plan = plan or PLAN
    verdict = failed if failed == LATE else "killed" if failed else "survived"
    line = {"name": mutant["name"], "every_case": plan["every_case"], "verdict": verdict}
    with Path(plan["results"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line | {"why": failed or f"{tests} tests"}) + "\n")


def pytest_configure(config: Any) -> None:
    """Begin, where this file is loaded as a plugin."""
    config.pluginmanager.register(Tracing() if PLAN["trace"] else Trying())


if "PERDURE_MUTANTS" in os.environ:
    PLAN = json.loads(Path(os.environ.pop("PERDURE_MUTANTS")).read_text("utf-8"))
    builtins.perdure_call = builtins.perdure_mutant = None  # type: ignore[attr-defined]
    builtins.perdure_mutant = PLAN["from_start"]  # type: ignore[attr-defined]
    builtins.perdure_call = str  # type: ignore[attr-defined]  # nobody asks yet
    sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]


# --- the program


def run(words: list[str], *, every_case: bool = False, **plan: Any) -> None:
    """Run tests by a plan."""
    plan = {"trace": "", "mutants": [], "from_start": 0, "every_case": every_case, **plan}
    plan["files"] = [one["path"] for one in plan["mutants"]]
    (file := KEPT / f"plan-{os.getpid()}.json").write_text(json.dumps(plan), "utf-8")
    env = os.environ | {"PERDURE_MUTANTS": str(file), "OPENBLAS_NUM_THREADS": "1"}
    env |= {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)])}
    env |= {"PERDURE_LONG_RUN": "1"} if every_case else {}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutants", "-p", "no:cacheprovider", "--tb=no", *words]
    subprocess.run(command, cwd=ROOT, env=env, check=False, stdout=subprocess.DEVNULL)
    file.unlink()


def traced(folder: Path) -> Path:
    """Note which functions the tests of a folder call, unless what is kept is new enough."""
    kept = KEPT / f"{folder.relative_to(ROOT).as_posix().replace('/', '-')}.json"
    newest = max(file.stat().st_mtime for file in (folder.rglob("*.py") if folder.is_dir() else [folder]))
    if not kept.exists() or kept.stat().st_mtime < max(newest, time.time() - 6 * 24 * 3600):
        print(f"tracing {folder.relative_to(ROOT)}", flush=True)
        run(["--hypothesis-profile=brief", str(folder)], trace=str(kept))
    return kept


class Reach:
    """Which tests call a function, and what they take."""

    def __init__(self, kept: list[Path]) -> None:
        self.seconds: dict[str, float] = {}
        self.called: dict[str, list[str]] = defaultdict(list)
        for found in (json.loads(one.read_text("utf-8")) for one in kept):
            self.seconds.update(found["tests"])
            for function, numbers in found["called"].items():
                self.called[function] += [found["tests"][n][0] for n in numbers]
        self.calls = Counter(test for tests in self.called.values() for test in tests)

    def tests(self, mutant: Mutant, seconds: float) -> tuple[bool, list[str]]:
        """Whether tests call the function, and the tests to run, those that call the fewest functions first."""
        own = self.called.get(f"{mutant.path}:{mutant.function.removesuffix('()')}", [])
        # What runs when a file is loaded, as defaults do, is tried by the tests of each of its functions.
        found = own or [
            test for name, tests in self.called.items() if name.startswith(f"{mutant.path}:") for test in tests
        ]
        chosen, taken = [], 0.0
        for test in sorted(set(found), key=lambda one: (on_a_server(one), self.calls[one], one)):
            taken += self.seconds[test]
            if taken > seconds and chosen:
                break
            chosen.append(test)
        return bool(own) and not mutant.function.endswith("()"), chosen


def tried(todo: list[Mutant], reach: Reach, results: Path, given: argparse.Namespace, *, every_case: bool) -> None:
    """Try changes: together those of functions that tests call, each in a process of its own the others."""
    together: list[dict[str, Any]] = []
    alone: list[dict[str, Any]] = []
    for mutant in todo:
        called, tests = reach.tests(mutant, given.seconds)
        plan = {"path": mutant.path, "number": mutant.number, "name": mutant.name, "tests": tests}
        (together if called else alone).append(plan)
    for group in ([together] if together else []) + [[one] for one in alone]:
        files = sorted({test.partition("::")[0] for one in group for test in one["tests"]})
        plan = {"mutants": group, "from_start": int(group[0] in alone), "jobs": given.jobs, "results": str(results)}
        if files:
            run(files, **plan, seconds=30 + 3 * given.seconds, every_case=every_case)
        for one in group:
            if one["name"] not in verdicts(results):
                told(one, "the tests do not load" if files else "", plan={**plan, "every_case": every_case})


def table(verdicts: list[dict[str, Any]]) -> str:
    """How many were noticed in each folder; a change that hangs is."""
    rows = ["folder         drawn   killed out-of-time survived equivalent  noticed of those not equivalent"]
    for area in [*sorted({one["area"] for one in verdicts}), ""]:
        those = Counter(one["verdict"] for one in verdicts if area in {one["area"], ""})
        counts = [those[one] for one in ("killed", LATE, "survived", "equivalent")]
        n = max(1, sum(counts[:3]))
        rate = 1 - those["survived"] / n
        cells = "{:>8} {:>8} {:>11} {:>8} {:>10}".format(sum(counts), *counts)
        rows.append(f"{area or 'all':<11} {cells}  {rate:.1%} ± {math.sqrt(rate * (1 - rate) / n):.1%}")
    return "\n".join(rows)


def drawn(only: list[str], seed: int, count: int) -> list[Mutant]:
    """Draw changes by chance; a larger count begins with the same ones."""
    files = [file for one in only for file in ([ROOT / one] if one.endswith(".py") else (ROOT / one).rglob("*.py"))]
    every = [mutant for file in sorted(files) for mutant in mutants(file)]
    random.Random(seed).shuffle(every)
    print(
        f"{len(every):,} small changes of {len(files)} files, of which {count} are drawn with seed {seed}", flush=True
    )
    return every[:count]


def main() -> None:
    """Draw, run, and tell."""
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
        done = verdicts(results)
        passed = [one for one in sample if not every_case or done[one.name]["verdict"] == "survived"]
        todo = [one for one in passed if done.get(one.name, {}).get("every_case", -1) < every_case]
        tried(todo, reach, results, given, every_case=every_case)
    judged = {line.partition("  # ")[0] for line in EQUIVALENT.read_text("utf-8").splitlines()}
    found = [{**verdicts(results)[one.name], "area": one.path.split("/")[2]} for one in sample]
    for mutant, one in zip(sample, found, strict=True):
        one.update({"verdict": "equivalent", "why": EQUIVALENT.name} if mutant.name in judged else {})
        print(f"{one['verdict']:<11} {mutant.path}:{mutant.line}: {mutant.before} -> {mutant.after}  ({one['why']})")
    print(table(found))


def verdicts(results: Path) -> dict[str, dict[str, Any]]:
    """The last verdict on each change. What is late with all cases was let pass by those of make test."""
    found: dict[str, dict[str, Any]] = {}
    for one in map(json.loads, results.read_text("utf-8").splitlines()):
        late = one["every_case"] and one["verdict"] == LATE
        found[one["name"]] = one | ({"verdict": "survived"} if late else {})
    return found


if __name__ == "__main__":
    main()
