"""Which modules an everyday session loads, and how long it takes: open, remember, recall, sweep in a new process.

Usage: python benchmarks/modules.py [--rounds N] [--before FOLDER]

``--before`` names another checkout's ``src``: both are measured in turns, and the other one is the floor.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import perdure
from report import Row, finished, parser, say

SESSION = """
import sys, perdure
with perdure.open(sys.argv[1], policy={"embedder": {"model": "none"}}) as memory:
    memory.remember("The deploy key lives in the vault.")
    memory.recall("Where is the deploy key?")
    memory.sweep()
print(*(name for name in sys.modules if name.split(".")[0] == "perdure"))
"""


def session(source: Path) -> tuple[float, list[str]]:
    """Return the seconds that a new process takes, and the modules of the package that it loads."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        command = [sys.executable, "-c", SESSION, str(Path(folder) / "agent.db")]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=folder)
        return perf_counter() - start, done.stdout.split()


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--before", type=Path)
    given = arguments.parse_args()
    sources = {"now": Path(perdure.__file__).parents[1], **({"before": given.before.resolve()} if given.before else {})}
    runs = {name: [session(source)] for name, source in sources.items()}
    for _ in range(given.rounds):
        for name, source in sources.items():
            runs[name].append(session(source))
    seconds = {name: median(taken for taken, _ in some[1:]) for name, some in runs.items()}
    loaded = {name: some[-1][1] for name, some in runs.items()}
    knowledge = [name for name in loaded["now"] if name.startswith("perdure.knowledge")]
    say(f"knowledge: {' '.join(knowledge) or 'not loaded'}")
    count = float(len(loaded["before"])) if given.before else None
    rows = [
        Row("modules loaded by a session", len(loaded["now"]), "modules", floor=count),
        Row("of knowledge", len(knowledge), "modules", 0),
        Row("a session in a new process", seconds["now"], "s", floor=seconds.get("before")),
    ]
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
