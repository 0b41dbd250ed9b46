"""How long an agent waits for its hooks, and how long extraction takes: real processes over a store of 10,000 memories.

Usage: python benchmarks/hooks.py [--rounds 9] [--rows 10000]

Each figure is the median. The floor of a hook is a process that opens the same store and asks it nothing; a hook beside
a prompt is also measured against a process that imports numpy and apsw, alone and where a server of the store answers.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import perdure
from perdure.rules.pattern_extraction import find_candidates
from report import Row, Spent, against, finished, interleaved, parser, processes, say

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS_ONLY: dict[str, Any] = {"embedder": {"model": "none"}}
SUBJECTS = ("importer", "scheduler", "billing", "search", "login", "export", "queue", "cache", "backup", "gateway")
VERBS = ("retries", "reads", "writes", "loses", "checks", "sends", "drops", "keeps", "splits", "signs")
OBJECTS = ("messages", "rows", "tokens", "invoices", "sessions", "files", "batches", "events", "receipts", "locks")
IMPORTS = "import numpy, apsw"
MORE = 0.060  # seconds that a hook may take beyond these imports
OPEN = "import sys, perdure; perdure.open(sys.argv[1], embedder='none').close()"


def sentences(count: int) -> list[str]:
    """Return made-up facts, each about something else."""
    return [
        f"The {SUBJECTS[n % 10]} {VERBS[n // 10 % 10]} {OBJECTS[n // 100 % 10]} of plan {n} at {n % 24}:00."
        for n in range(count)
    ]


def transcript(path: Path, session: str, count: int) -> None:
    """Write a transcript of so many messages."""
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    lines = [
        json.dumps(
            {
                "type": "user" if n % 2 == 0 else "assistant",
                "sessionId": session,
                "uuid": f"{session}-{n}",
                "timestamp": now,
                "message": {"role": "user" if n % 2 == 0 else "assistant", "content": words},
            }
        )
        for n, words in enumerate(sentences(count))
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def hooks(rounds: int, rows: int) -> list[Row]:
    """Measure hooks as processes, from their start to their end."""
    say(f"hooks over {rows:,} memories")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = folder / "agent.db"
        with perdure.open(store, policy=WORDS_ONLY) as memory:
            memory.remember_many(sentences(rows), namespace="shop", embed="later")
        environment = {**os.environ, "PERDURE_STORE": str(store), "PERDURE_POLICY": ""}

        sessions = count()

        def hook(event: str, number: int, **more: Any) -> str:
            session = f"{event}-{number}" if "transcript_path" in more else f"{event}-{number}-{next(sessions)}"
            told = {"session_id": session, "cwd": name, "hook_event_name": event, **more}
            command = [sys.executable, "-m", "perdure", "hook", event, "-n", "shop"]
            done = subprocess.run(
                command, input=json.dumps(told), capture_output=True, text=True, check=True, env=environment
            )
            if done.stderr:
                raise RuntimeError(done.stderr)
            return done.stdout

        def prompt(number: int) -> None:
            plan = 10 * (number % 100 + 1)  # one that there is
            if "importer" not in hook("UserPromptSubmit", number, prompt=f"What does the importer do in plan {plan}?"):
                raise RuntimeError("nothing was shown")

        def end(number: int) -> None:
            path = folder / f"{number}.jsonl"
            transcript(path, f"SessionEnd-{number}", 40)
            hook("SessionEnd", number, transcript_path=str(path))

        def floor(_: int) -> None:
            subprocess.run([sys.executable, "-c", OPEN, str(store)], check=True, env=environment)

        calls = {"floor": floor, "prompt": prompt, "start": lambda n: hook("SessionStart", n)}
        if hasattr(perdure.Memory, "end_session"):
            calls["end"] = end
        for call in calls.values():
            call(10_000)
        times = {k: v / 1e3 for k, v in interleaved(rounds, **calls).items()}
        few = {"prompt": prompt, "start": calls["start"], "floor": lambda _: started([sys.executable, "-c", IMPORTS])}
        asked = beside_imports(processes(rounds, **few), f"{rows:,} memories, alone")
        with serving(environment, store) as server:
            asked += answered(server, rounds, few, f"{rows:,} memories, a server answers")
    note = "floor: opening the store"
    found = [
        Row(f"hook UserPromptSubmit, {rows:,} memories", times["prompt"], "s", 0.5, times["floor"], note=note),
        Row(f"hook SessionStart, {rows:,} memories", times["start"], "s", 1.5, times["floor"], note=note),
    ]
    if "end" in times:
        told = "40 new messages, promotion, sweep"
        found.append(Row(f"hook SessionEnd, {rows:,} memories", times["end"], "s", 1.5, times["floor"], note=told))
    return found + asked


HOOKS = {"prompt": "UserPromptSubmit", "start": "SessionStart"}


def started(command: list[str]) -> None:
    """Run a process to its end."""
    subprocess.run(command, check=True)


def beside_imports(spent: dict[str, Spent], where: str) -> list[Row]:
    """Return what hooks took against the imports that one needs at least."""
    note = "floor: import numpy, apsw"
    rows = [
        against(f"hook {HOOKS[e]}, {where}", spent[e], spent["floor"], note, more=MORE) for e in HOOKS if e in spent
    ]
    return [row for both in rows for row in both]


def answered(server: subprocess.Popen[bytes], rounds: int, calls: dict[str, Any], where: str) -> list[Row]:
    """Measure hooks that a server answers, and add what the server works for them."""
    rows = []
    for event in HOOKS:
        calls[event](20_000)
        before = worked(server)
        spent = processes(rounds, **{event: calls[event], "floor": calls["floor"]})
        ours = (worked(server) - before) / rounds
        both = replace(spent[event], processor=spent[event].processor + ours)
        rows += beside_imports(spent, where)
        note = f"{1e3 * ours:.0f} ms of it in the server"
        rows.append(beside_imports({**spent, event: both}, f"{where}, {note}")[0])
    return rows


def worked(process: subprocess.Popen[bytes]) -> float:
    """Return the processor time of a running process in seconds."""
    fields = Path(f"/proc/{process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(environment: dict[str, str], store: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Serve the store for the length of a block, and wait until hooks are answered."""
    command = [sys.executable, "-m", "perdure", "serve", "--port", "0", "--no-maintenance"]
    with subprocess.Popen(command, env=environment, cwd=store.parent, stderr=subprocess.DEVNULL) as server:
        try:
            place = store.with_name(store.name + ".hooks")
            while not place.exists():
                if server.poll() is not None:
                    raise RuntimeError("the server ended")
                time.sleep(0.05)
            time.sleep(1)
            yield server
        finally:
            server.terminate()
            server.wait(30)


def extraction(rounds: int) -> list[Row]:
    """Measure extraction from 50 kB of transcript: the search for candidates, and the verb without embedding."""
    say("extraction")
    said = " ".join(f"{s} We decided to keep it. Remember that plan {n} is old." for n, s in enumerate(sentences(600)))
    text = said[:50_000]
    if len(text) < 50_000:
        raise RuntimeError("the text is too short")
    whole = []
    with perdure.open(":memory:", policy=WORDS_ONLY) as memory:
        for n in range(rounds):
            begun = time.perf_counter()
            if not memory.extract(text, f"round{n}").memories_created:
                raise RuntimeError("nothing was extracted")
            whole.append(time.perf_counter() - begun)
    times = interleaved(rounds, found=lambda _: find_candidates(text))
    note = "floor: the search for candidates"
    return [Row("extract 50 kB, words only", statistics.median(whole), "s", 0.3, times["found"] / 1e3, note=note)]


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--rows", type=int, default=10_000)
    given = arguments.parse_args()
    finished(extraction(given.rounds) + hooks(given.rounds, given.rows), as_json=given.json)


if __name__ == "__main__":
    main()
