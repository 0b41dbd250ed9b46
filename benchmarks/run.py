"""All benchmarks, one table: speed of engine, server, service and page, LoCoMo, BEAM, what is merged and shortened.

The engine has 10,000 and 100,000 rows, with --full a million, too.

Usage: python benchmarks/run.py [--full] [--quick] [--write] [--only SCRIPT]

--write puts the table into docs/benchmarks.md, between the two marks there; the rest of the file is left as it is.
It ends with status 1 where a target is missed, or a script ends with an error.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from report import Row, judged, parser, say, table

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
SIZES = ["10000", "100000"]


def measured(script: str, *arguments: str) -> list[Row]:
    """Run one script in a process of its own and return its rows."""
    say(f"--- {script} {' '.join(arguments)}")
    command = [sys.executable, str(HERE / script), "--json", *arguments]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode:
        return [Row(f"{' '.join([script, *arguments])} ends with an error", run.returncode, "", 0)]
    text = run.stdout.strip().rpartition("\n")[2]
    if not text.startswith("["):
        say(text)
        return []
    return [Row(**row) for row in json.loads(text)]


def machine() -> str:
    """Return what was measured on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} processors ({platform.machine()}), {memory:.0f} GiB, "
        f"Python {platform.python_version()}. Medians; the machine was shared, so read the ratios before the times."
    )


def write(text: str) -> None:
    """Put the tables into the page."""
    page = PAGE.read_text("utf-8") if PAGE.exists() else "# Benchmarks\n\n`make bench` measures; see `benchmarks/`.\n\n"
    if BEGIN not in page:
        page += f"\n{BEGIN}\n{END}\n"
    head, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", "utf-8")


def planned(*, full: bool, quick: bool) -> list[tuple[str, str, list[str]]]:
    """Return what is run: what the names of its rows begin with, the script, its arguments."""
    brief = ["--quick"] if quick else []
    sizes = [*SIZES, "1000000"] if full else SIZES
    return [
        ("", "start.py", []),
        ("", "hooks.py", []),
        *[("", "engine.py", ["--rows", size, *brief]) for size in sizes],
        ("server: ", "server.py", brief),
        ("service: ", "http_service.py", ["--rounds", "1"] if quick else []),
        ("page: ", "page.py", ["--rows", "10000"] if quick else []),
        ("", "duplicates.py", brief),
        ("", "locomo.py", []),
        ("", "updates.py", []),
        ("", "digests.py", []),
        ("", "linearity.py", []),
        ("", "beam.py", [] if quick else ["--all"]),
        *[("merged: ", "paraphrases.py", half) for half in ([], ["--locked"])],
        *[("", "extraction.py", ["--draw", draw]) for draw in ("third", "last")],
        ("", "summaries.py", []),
    ]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--full", action="store_true", help="with a store of a million rows (some minutes, 4 GB)")
    arguments.add_argument("--quick", action="store_true", help="fewer repetitions")
    arguments.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    arguments.add_argument("--only", metavar="SCRIPT", help="one of them, for example page.py")
    given = arguments.parse_args()
    parts = planned(full=given.full, quick=given.quick)
    rows = [
        replace(row, operation=f"{kind}{row.operation}")
        for kind, script, words in parts
        if given.only in {None, script}
        for row in measured(script, *words)
    ]
    text = f"Measured {machine()}\n\n{table(rows)}"
    print(text)
    if given.write:
        write(text)
    sys.exit(judged(rows))


if __name__ == "__main__":
    main()
