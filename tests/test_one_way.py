"""What is done in one way only: decisions become plans, and new memories get their vectors, in one place each."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import perdure

SOURCE = Path(perdure.__file__).parent

DECIDES_NOTHING = {
    "interfaces/http/decoding.py": "reads a plan that a client sends back",
    "operations/hooks.py": "notes how far a session was read",
    "operations/journal.py": "turns an operation around",
    "operations/lifecycle/sweep.py": "writes what fell due by itself, and under which policy",
    "operations/recall.py": "counts an access",
    "operations/reembed.py": "fills in vectors of contents that are stored",
    "operations/repair.py": "mends rows that are damaged",
    "operations/restoring.py": "copies rows of an export into a namespace that was erased",
    "rules/lifecycle/decay.py": "writes down values that follow from the clock",
    "stores/transfer.py": "copies rows from another store",
}
"""Who makes a plan without deciding about a memory -> what the plan does."""

STORES_NO_VECTOR = {
    "knowledge/operations/predicate_questions.py": "compares names of predicates",
    "operations/embedder_space.py": "embeds a word to learn how many dimensions vectors have",
    "operations/lifecycle/compression.py": "measures how much of its meaning a shorter form keeps",
    "operations/question_vectors.py": "embeds a question",
    "operations/usage_detection.py": "compares a reply with the memories that were shown",
    "models/vectors.py": "checks what an object of the caller's returns",
    "operations/watched_models.py": "counts the calls of others",
}
"""Who calls an embedder besides -> what for."""


@cache
def called(file: Path) -> frozenset[str]:
    """Return the names of what is called in a file: of functions, classes and methods; a partial is called later."""
    calls = [n for n in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(n, ast.Call)]
    given = [n.args[0] for n in calls if n.args and name_of(n.func) == "partial"]
    return frozenset(name_of(f) for f in [*(n.func for n in calls), *given])


def name_of(function: ast.expr) -> str:
    """Return the last part of a name; nothing of what has none."""
    return str(getattr(function, "attr", getattr(function, "id", "")))


def callers(name: str, folder: Path = SOURCE) -> set[str]:
    """Return the files that call something of a name."""
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*.py") if name in called(p)}


def test_one_place_turns_decisions_into_a_plan():
    assert callers("Plan") == {"rules/decisions.py", *DECIDES_NOTHING}
    assert callers("Decisions") == {"operations/decisions.py"}
    assert callers("trajectory_changes") == {"rules/decisions.py", "operations/lifecycle/sweep.py"}


def test_one_place_embeds_what_is_new():
    fills_in = "operations/reembed.py"  # what was stored while no embedder was there
    assert callers("embed") == {"operations/new_memories.py", fills_in, *STORES_NO_VECTOR}
    assert callers("insertions") == {"operations/new_memories.py"}


def test_a_second_way_is_found(tmp_path):
    (tmp_path / "second.py").write_text(
        "def write(ctx, changes):\n    ctx.store.apply(records.Plan(changes))\n", "utf-8"
    )
    (tmp_path / "late.py").write_text("make = functools.partial(Plan, identity)\n", "utf-8")
    (tmp_path / "other.py").write_text("def write(ctx, plan: Plan):\n    ctx.store.apply(plan)\n", "utf-8")
    assert callers("Plan", tmp_path) == {"second.py", "late.py"}
