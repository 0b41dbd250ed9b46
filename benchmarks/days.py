"""What MEMORY.md and the start of a session hold of days that were written by somebody who had not seen the rules.

Each day in ``training/days`` names eight things that a person would keep, values that are over by the end, and small
talk (of a coding agent's sessions: tasks, too). Printed are, for each day, how many of the eight stand in one line of
MEMORY.md and of the start, how many of the values that are over are shown there, and how much small talk; beside them
the newest of what people said that fills as much room as the start leaves for its lines. Means come last.

Usage: python benchmarks/days.py [--folder FOLDER] [--supersession off] [--superseded-from CHANCE] [NAME ...]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import perdure
from chats import Kept
from perdure.records.memory import Message
from perdure.records.policy import Policy
from perdure.rules.language.tokens import estimate_tokens
from perdure.rules.prompt_context import context_block

FOLDER = Path(__file__).resolve().parents[1] / "training" / "days"
ROOM = 400 - estimate_tokens(context_block(["."]))
"""Tokens of a start that its frame leaves."""


def messages(session: dict[str, Any]) -> Iterator[Message]:
    """Yield the messages of a session, a minute apart."""
    for minute, line in enumerate(session["said"].strip().splitlines()):
        role, _, words = line.partition(": ")
        at = session["begins"] + timedelta(minutes=minute)
        yield Message(words, role, at=at, session=session["name"], key=str(minute))


def held(lines: Sequence[str], kept: Sequence[Sequence[str]]) -> int:
    """Return how many lists of words stand in one line each."""
    return sum(any(all(word in line for word in words) for line in lines) for words in kept)


def newest(day: dict[str, Any]) -> list[str]:
    """Return the newest of what people said that fills the start of a session."""
    said = [m for session in day["sessions"] for m in messages(session) if m.role != "assistant"]
    lines: list[str] = []
    for message in reversed(said):
        if estimate_tokens("\n".join([*lines, message.content])) > ROOM:
            break
        lines.append(message.content)
    return lines


def figures(lines: Sequence[str], day: dict[str, Any]) -> list[int]:
    """Return how much some lines hold of what is to be kept, of what is over, and of small talk."""
    text = "\n".join(lines)
    return [held(lines, day["kept"]), *(sum(words in text for words in day[key]) for key in ("outdated", "noise"))]


def shown(day: dict[str, Any], embedder: Kept, policy: dict[str, Any]) -> dict[str, list[str]]:
    """Return the lines of MEMORY.md, of the next session's start, and the newest statements."""
    now = [day["sessions"][0]["begins"]]
    with (
        tempfile.TemporaryDirectory() as folder,
        perdure.open(Path(folder) / "day.db", policy=policy, embedder=embedder, clock=lambda: now[0]) as memory,
    ):
        for session in day["sessions"]:
            now[0] = session["begins"] + timedelta(hours=1)
            memory.ingest(list(messages(session)))
        texts = {"MEMORY.md": memory.digest(), "start": memory.agent.opening("next", "default")}
    lines = {name: [line for line in text.splitlines() if line.startswith("- ")] for name, text in texts.items()}
    return lines | {"newest": newest(day)}


def main() -> None:
    """Print the figures of the named days, of all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--supersession", choices=("local", "off"), default="local")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--superseded-from", type=float, default=Policy().knowledge.superseded_from)
    given = parser.parse_args()
    policy = {"knowledge": {"supersession": given.supersession, "superseded_from": given.superseded_from}}
    embedder = Kept()
    found: dict[str, list[list[int]]] = {}
    for path in sorted(given.folder.glob("*.toml")):
        if given.names and path.stem not in given.names:
            continue
        day = tomllib.loads(path.read_text("utf-8"))
        for name, lines in shown(day, embedder, policy).items():
            kept, over, noise = figures(lines, day)
            found.setdefault(name, []).append([kept, over, noise])
            text = f"{kept} of {len(day['kept'])}, {over} of {len(day['outdated'])} old, {noise} small talk"
            print(f"{path.stem}, {name}: {text}", flush=True)
    for name, rows in found.items():
        kept, over, noise = (statistics.mean(column) for column in zip(*rows, strict=True))
        print(f"mean of {len(rows)}, {name}: {kept:.1f} of 8, {over:.1f} old, {noise:.1f} small talk")


if __name__ == "__main__":
    main()
