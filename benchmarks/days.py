"""What MEMORY.md and the start of a session hold of days that were written by somebody who had not seen the rules.

Each day in ``training/days`` names eight things that a person would keep, values that are over by the end, and small
talk. Printed are, for each day, how many of the eight stand in one line of MEMORY.md and of the start, how many of the
values that are over are shown there, and how much small talk; beside them the newest statements that fill the start.

Usage: python benchmarks/days.py [NAME ...]
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import perdure
from chats import Kept
from perdure.records.memory import Message
from perdure.rules.language.tokens import estimate_tokens

FOLDER = Path(__file__).resolve().parents[1] / "training" / "days"
START_TOKENS = 400


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
        if estimate_tokens("\n".join([*lines, message.content])) > START_TOKENS:
            break
        lines.append(message.content)
    return lines


def figures(lines: Sequence[str], day: dict[str, Any]) -> str:
    """Return what some lines hold: of what is to be kept, of what is over, and of small talk."""
    text = "\n".join(lines)
    over, noise = (sum(words in text for words in day[key]) for key in ("outdated", "noise"))
    return f"{held(lines, day['kept'])} of {len(day['kept'])}, {over} of {len(day['outdated'])} old, {noise} small talk"


def main() -> None:
    """Print the figures of the named days, of all by default."""
    embedder = Kept()
    for path in sorted(FOLDER.glob("*.toml")):
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        day = tomllib.loads(path.read_text("utf-8"))
        now = [day["sessions"][0]["begins"]]
        with (
            tempfile.TemporaryDirectory() as folder,
            perdure.open(Path(folder) / "day.db", policy={}, embedder=embedder, clock=lambda now=now: now[0]) as memory,
        ):
            for session in day["sessions"]:
                now[0] = session["begins"] + timedelta(hours=1)
                memory.ingest(list(messages(session)))
            shown = {"MEMORY.md": memory.digest(), "start": memory.agent.opening("next", "default")}
        orders = {name: [line for line in text.splitlines() if line.startswith("- ")] for name, text in shown.items()}
        for name, lines in {**orders, "newest": newest(day)}.items():
            print(f"{path.stem}, {name}: {figures(lines, day)}", flush=True)


if __name__ == "__main__":
    main()
