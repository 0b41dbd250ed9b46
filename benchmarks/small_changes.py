"""The small changes of Python source that mutants.py draws from, and a plugin of pytest that tries them.

As a plugin it loads the source with all drawn changes in it, each behind a switch, and forks a child for each, which
turns it on and runs its tests until one fails. Or it notes which functions each test calls.
"""

from __future__ import annotations

import ast
import atexit
import builtins
import copy
import json
import os
import resource
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parents[1]
MOST_MEMORY = 8 * 2**30
LATE = "out of time"
SERVER = "[server]"
PAIRS = "Lt LtE, Gt GtE, Eq NotEq, Is IsNot, In NotIn, And Or, Add Sub, Mult Div, min max, any all"
OTHER = {a: b for pair in PAIRS.split(", ") for a, b in (pair.split(), pair.split()[::-1])}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def changes(node: ast.AST) -> Iterator[tuple[Any, ast.AST]]:  # noqa: C901  # a table
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


def within(function: str, node: ast.AST) -> str:
    return f"{function}.{node.name}".strip(".") if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else function


def every_change(tree: ast.AST) -> Iterator[tuple[str, Any, ast.AST]]:
    """Every small change of a file, always in the same order, with the function that it is in; ``f()`` has defaults."""
    todo = [(tree, "")]
    while todo:
        node, function = todo.pop()
        yield from ((function, old, new) for old, new in changes(node))
        defaults = {*node.args.defaults, *node.args.kw_defaults} if isinstance(node, FUNCTIONS) else ()
        name = within(function, node)
        todo += [(part, f"{name}()" if part in defaults else name) for part in inner(node)]


def mutants(path: Path) -> Iterator[dict[str, Any]]:
    """Every small change of a file. Its name stays the same when lines move."""
    file = str(path.relative_to(ROOT))
    for number, (function, old, new) in enumerate(every_change(ast.parse(path.read_bytes()))):
        name = f"{file}:{function}: {ast.unparse(old)} -> {ast.unparse(new)}"
        yield {"path": file, "number": number, "line": old.lineno, "function": function, "name": name}


class Switches(ast.NodeTransformer):
    """Puts changes of a file behind switches."""

    def __init__(self, tree: ast.AST, switches: dict[int, int]) -> None:
        self.at: dict[ast.AST, list[tuple[int, ast.AST]]] = defaultdict(list)
        for number, (_, old, new) in enumerate(every_change(tree)):
            if number in switches:
                self.at[old].append((switches[number], copy.deepcopy(new)))

    def visit(self, node: ast.AST) -> Any:
        """Visit the parts first, which may have changes of their own."""
        node, mine = super().visit(node), self.at.get(node, ())
        for switch, new in mine:
            on = ast.parse(f"perdure_mutant == {switch}", mode="eval").body
            node = ast.If(on, [new], [node]) if isinstance(new, ast.stmt) else ast.IfExp(on, new, node)
        return node


def noting(tree: ast.AST, path: str, function: str = "") -> None:
    """Have each function say that it was called."""
    for node in ast.iter_child_nodes(tree):
        noting(node, path, within(function, node))
        if isinstance(node, FUNCTIONS):
            call = ast.parse(f"perdure_call({f'{path}:{within(function, node)}'!r})").body
            after = 1 if ast.get_docstring(node) is not None else 0
            node.body[after:after] = call


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


def named(test: str) -> str:
    """What the cases of a test are known as: those on a file together, and those on a server."""
    function = test.partition("[")[0]
    return f"{function}{SERVER}" if "postgres" in test or "spread" in test else function


def pytest_sessionstart() -> None:
    """Have a test that fails say so at once: the smallest example is not asked for, and no example is kept."""
    unshrunk = settings(settings(), phases=(Phase.explicit, Phase.generate), database=None)
    settings.register_profile("unshrunk", unshrunk)
    settings.load_profile("unshrunk")


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Note the calls of four cases of a test at most."""
    cases: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        cases[named(item.nodeid)].append(item)
    if PLAN["trace"]:
        items[:] = [one for those in cases.values() for one in those[:: max(1, (len(those) + 3) // 4)]]


def pytest_runtest_logstart() -> None:
    called.clear()


def pytest_runtest_logreport(report: Any) -> None:
    seconds[named(report.nodeid)] += report.duration
    if not report.passed:  # where calls are noted, a test that is skipped is left out, too
        (skipped if report.skipped else failed).append(named(report.nodeid))


def pytest_runtest_logfinish(nodeid: str) -> None:
    for function in called:
        callers[function].add(named(nodeid))


def pytest_sessionfinish() -> None:
    if PLAN["trace"]:
        tests = {
            test: number for number, test in enumerate(test for test in seconds if test not in {*failed, *skipped})
        }
        those = {name: [tests[one] for one in sorted(found) if one in tests] for name, found in callers.items()}
        kept = {"tests": [[test, round(seconds[test], 3)] for test in tests], "called": those}
        Path(PLAN["trace"]).write_text(json.dumps(kept), "utf-8")


def pytest_runtestloop(session: Any) -> bool | None:
    """Fork a child for each change, several at once. One that ends without a word is late."""
    if PLAN["trace"]:
        return None
    waiting, running = list(enumerate(PLAN["mutants"], 1)), {}
    while waiting or running:
        while waiting and len(running) < PLAN["jobs"]:
            switch, mutant = waiting.pop()
            if not (child := os.fork()):
                try_one(session, switch, mutant)
            running[child] = mutant
        child, status = os.wait()
        if (mutant := running.pop(child, None)) and status:
            tell(mutant, LATE, PLAN)
    return True


def try_one(session: Any, switch: int, mutant: dict[str, Any]) -> None:
    """Run the tests of one change until one fails, in a process of its own."""
    limit, status, tests = PLAN["seconds"], 1, {test: place for place, test in enumerate(mutant["tests"])}
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 20))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for late in (signal.SIGXCPU, signal.SIGALRM):
        signal.signal(late, signal.default_int_handler)
    signal.alarm(4 * limit)  # for what waits
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    builtins.perdure_mutant = switch  # type: ignore[attr-defined]
    places = {item: tests.get(named(item.nodeid)) for item in session.items}
    items = sorted((item for item, place in places.items() if place is not None), key=lambda item: places[item])
    try:
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if failed:
                break
        tell(mutant, failed[0] if failed else "", PLAN)
        status = 0
        session._setupstate.teardown_exact(None)  # noqa: SLF001  # as pytest does after its last test
    finally:
        atexit._run_exitfuncs()  # noqa: SLF001  # servers and children of tests end with this process
        os._exit(status)


def tell(mutant: dict[str, Any], why: str, plan: dict[str, Any]) -> None:
    verdict = LATE if why == LATE else "killed" if why else "survived"
    line = {"name": mutant["name"], "every_case": plan["every_case"], "verdict": verdict, "why": why}
    with Path(plan["results"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


if "PERDURE_MUTANTS" in os.environ:
    PLAN = json.loads(Path(os.environ.pop("PERDURE_MUTANTS")).read_text("utf-8"))
    called: set[str] = set()
    seconds: dict[str, float] = defaultdict(float)
    failed: list[str] = []
    skipped: list[str] = []
    callers: dict[str, set[str]] = defaultdict(set)
    builtins.perdure_call, builtins.perdure_mutant = called.add, PLAN["from_start"]  # type: ignore[attr-defined]
    sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]
