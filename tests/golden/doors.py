"""Walks through the tour by one of the doors: the command line, Python, or MCP tools."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import shlex
import shutil
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any, Final
from unittest import mock

import numpy as np
from mcp import Client
from mcp.shared.exceptions import MCPError
from typer.main import get_command
from typer.testing import CliRunner

# The public doors; whoever moves one changes these lines only.
import perdure
from conftest import HashEmbedder
from golden.tour import CONVERSATIONS, FILES, SAME, UNKNOWN, Step
from models.answering import Server, send
from perdure.interfaces.cli.app import app
from perdure.interfaces.mcp.run import build
from perdure.records.installation import PackageSource

START: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
ENVIRONMENT: Final = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC"}
MOMENTS: Final = {"at", "since", "until", "as_of", "known_at"}
"""Arguments that are datetimes in Python, and ISO 8601 elsewhere."""

ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
SHORT: Final = re.compile(r"\b[0-9a-f]{8}\b")
SHOWN: Final = 8
"""Characters at the end of an id that people and models are shown."""
VARYING: Final = {"seconds", "bytes", "bytes_before", "bytes_after"}
TIMING: Final = re.compile(r"\b\d+\.\d+ s\b")
POLICY_VERSION: Final = re.compile(r"\b[0-9a-f]{12}\.[0-9a-f]{6}\b")
"""It depends on the folder, in which the knowledge file lies."""
DIGEST: Final = re.compile(r"^[0-9a-f]{24}$")
"""Of what a summary was made from, ids among it."""


def walk(door: str, store: str, folder: Path, steps: Sequence[Step], policy: str) -> dict[str, Any]:
    """Return step -> answer, over one empty store.

    Args:
        door: One of ``DOORS``.
        store: A file or a URL.
        folder: The working folder.
        steps: What to do.
        policy: The policy's text; ``{port}`` in it becomes that of a server that embeds texts.
    """
    _write_files(folder)
    with _embedding_server() as port, fixed_environment(HOME=str(folder), PERDURE_STORE=store, OPENAI_API_KEY="none"):
        file = folder / "policy.toml"
        file.write_text(policy.replace("{port}", str(port)), "utf-8")
        os.environ["PERDURE_POLICY"] = str(file)
        walked = Walk(store, folder, steps)
        with mock.patch("secrets.randbits", walked.random_bits):
            return DOORS[door](walked)


@contextmanager
def _embedding_server() -> Iterator[int]:
    """Serve an embedder for which words mean themselves, but a beverage is a drink."""
    embedder = HashEmbedder()

    def embed(handler: Any, asked: dict[str, Any]) -> None:
        texts = [text.replace("beverage", "drink") for text in asked["input"]]
        vectors = [np.frombuffer(vector, "<f4") for vector in embedder.embed(texts, purpose="document")]
        rows = [{"index": number, "embedding": _exact(vector)} for number, vector in enumerate(vectors)]
        send(200, {"data": rows})(handler, asked)

    with Server([embed]) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def _exact(vector: Any) -> list[int]:
    """Return a vector of the same direction whose cosines are the same on every processor.

    Which terms a processor adds first changes the last bit of a float32 sum, and with it the millisecond at which a
    memory is due. Whole numbers of length 2048 come out of the sum exactly; four more of them make up the length.
    """
    whole = np.trunc(vector * 2048).astype(int)
    rest = 2048**2 - int(whole @ whole)
    for a, b in product(range(math.isqrt(rest), -1, -1), repeat=2):
        for c in range(math.isqrt(max(left := rest - a * a - b * b, 0)), -1, -1):
            if left >= 0 and (d := math.isqrt(left - c * c)) ** 2 == left - c * c:
                return [*whole.tolist(), a, b, c, d]
    raise AssertionError("every whole number is the sum of four squares")


def _write_files(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    for name, messages in CONVERSATIONS.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(m) + "\n" for m in messages), "utf-8")
    with closing(sqlite3.connect(folder / "crm.db")) as connection:
        connection.execute("CREATE TABLE customer (name, day)")
        connection.execute("INSERT INTO customer VALUES ('Gai Media', 'Thursday'), ('Acme Corp', 'Monday')")
        connection.commit()


@contextmanager
def fixed_environment(**more: str) -> Iterator[None]:
    """Fix what the terminal, the user's settings and the place of the installation would change."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PERDURE_")}
    by_name = mock.patch("perdure.records.installation._source", PackageSource)
    with mock.patch.dict(os.environ, {**kept, **ENVIRONMENT, **more}, clear=True), by_name:
        _read_time_zone()
        yield
    _read_time_zone()


def _read_time_zone() -> None:
    if hasattr(time, "tzset"):
        time.tzset()


class Walk:
    """The state of one walk: the time, what steps kept, and which ids were made when."""

    def __init__(self, store: str, folder: Path, steps: Sequence[Step]) -> None:
        self.now = START
        self._walked = steps
        self.folder = folder
        self.on_a_file = Path(store).is_relative_to(folder)
        self.kept: dict[str, str] = {"store": store}
        self._step = ""
        self._steps: dict[str, str] = {}
        shown = re.sub(":[^:@/]+@", ":***@", store)
        hidden = {
            UNKNOWN: "<unknown>",
            sys.executable: "<python>",
            store: "<store>",
            shown: "<store>",
            f"{folder}-shadow": "<folder>",
        }
        hidden[str(folder)] = "<folder>"
        self.answers, self.words = Plain(hidden, self._steps), Plain(hidden, self._steps)

    def clock(self) -> datetime:
        """Return the time of the step."""
        return self.now

    def milliseconds(self) -> int:
        """Return the time of the step, in milliseconds since 1970."""
        return int(self.now.timestamp() * 1000)

    def nanoseconds(self) -> int:
        """Return the time of the step as ``time.time_ns`` does."""
        return self.milliseconds() * 1_000_000

    def steps(self) -> Iterator[Step]:
        """Return the steps, letting time pass before each."""
        for step in self._walked:
            if step.days:
                self.now = self.now.replace(hour=9, minute=0, second=0) + timedelta(days=step.days)
            self.now += timedelta(seconds=1)
            self._step = step.name
            yield step

    def random_bits(self, bits: int) -> int:
        """Return what is random in an id as ``secrets.randbits`` does, but the same in each run."""
        seed = f"{self._step}:{len(self._steps)}".encode()
        drawn = int.from_bytes(blake2b(seed, digest_size=8).digest(), "big") & ((1 << bits) - 1)
        self._steps[f"{drawn:016x}"[-SHOWN:]] = self._step
        return drawn

    def given(self, value: Any) -> Any:
        """Return an argument with what earlier steps kept in the place of their names."""
        if isinstance(value, dict):
            return {key: self.given(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.given(item) for item in value]
        return re.sub(r"\$([\w-]+)", lambda m: self.kept[m[1]], value) if isinstance(value, str) else value

    def keep(self, step: Step, answer: Any) -> None:
        """Keep the ids that a step names; one that is not in the answer shows by its name in what follows."""
        for name, wanted in step.keep.items():
            key = "operation_id" if "operation" in wanted else "id"
            fitting = (r for r in _records(answer) if wanted.items() <= r.items() and r.keys() & {key, "recall_id"})
            found = next(fitting, None)
            self.kept[name] = f"no-{name}" if found is None else found.get("recall_id") or found[key]


class Plain:
    """Takes out of answers what is different in each run; ids are named after the step that made them.

    Args:
        hidden: What stands for texts of this run, longer ones first.
        steps: The end of an id -> the step that made it; it grows.
    """

    def __init__(self, hidden: dict[str, str], steps: dict[str, str]) -> None:
        self._hidden = hidden
        self._steps = steps
        self._names: dict[str, str] = {}
        self._made: Counter[str] = Counter()

    def __call__(self, value: Any) -> Any:
        """Return an answer without what varies; a text of several lines as a list of them."""
        if isinstance(value, dict):
            return {self(key): "<varies>" if key in VARYING else self(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self(item) for item in value]
        if isinstance(value, float):
            return round(value, 6)
        if not isinstance(value, str):
            return value
        text = self.text(value)
        return text.split("\n") if "\n" in text else text

    def text(self, value: str) -> str:
        """Return a text without what varies; a short form of an id is the name after a tilde."""
        for secret, name in self._hidden.items():
            value = value.replace(secret, name)
        value = DIGEST.sub("<digest>", POLICY_VERSION.sub("<policy>", TIMING.sub("<varies> s", value)))
        value = ID.sub(lambda m: self._name(m[0][-SHOWN:]), value)
        return SHORT.sub(lambda m: f"~{self._name(m[0])}" if m[0] in self._steps else m[0], value)

    def _name(self, ending: str) -> str:
        if ending not in self._names:
            step = self._steps.get(ending, "unknown")
            self._made[step] += 1
            self._names[ending] = f"{step}.{self._made[step]}"
        return self._names[ending]


def _records(answer: Any) -> Iterator[dict[str, Any]]:
    """Every object of an answer, outer ones first."""
    if isinstance(answer, dict):
        yield answer
    if isinstance(answer, dict | list):
        for item in answer.values() if isinstance(answer, dict) else answer:
            yield from _records(item)


# --- the command line


def by_cli(walk: Walk) -> dict[str, Any]:
    """Answers of the command line: as JSON, and over a file also as people see them."""
    answers = {}
    if walk.on_a_file:  # a command that reads makes no store; the tour begins with an empty one
        perdure.open(walk.kept["store"], embedder="none").close()
    with _command_line(walk):
        for step in walk.steps():
            if step.cli:
                shown = {"terminal": _answer_in_words(walk, step)} if walk.on_a_file else {}
                answers[step.name] = {**_answer_in_json(walk, step), **shown}
    return answers


@contextmanager
def _command_line(walk: Walk) -> Iterator[None]:
    """Make the commands once, and give them the walk's clock, which is the server's too."""
    command = get_command(app)
    with (
        mock.patch("typer.testing._get_command", return_value=command),
        mock.patch("time.time_ns", walk.nanoseconds),
        mock.patch("perdure.stores.postgres.store.PostgresStore.clock", side_effect=lambda **_: walk.milliseconds()),
    ):
        yield


def _answer_in_json(walk: Walk, step: Step) -> dict[str, Any]:
    code, out, err = _run(walk, step, "--json")
    try:
        answer: dict[str, Any] = {"exit": code, "json": json.loads(out)}
        walk.keep(step, answer["json"])
    except ValueError:
        answer = {"exit": code, "text": out}
    return walk.answers({**answer, **({"stderr": err} if err else {})})


def _answer_in_words(walk: Walk, step: Step) -> str:
    """Run a step over a copy of the folder, so that it can be run for good afterwards."""
    shadow = walk.folder.with_name(f"{walk.folder.name}-shadow")
    shutil.copytree(walk.folder, shadow)
    os.chdir(shadow)
    with mock.patch.dict(os.environ, {k: v.replace(str(walk.folder), str(shadow)) for k, v in os.environ.items()}):
        code, out, err = _run(walk, step)
    os.chdir(walk.folder)
    shutil.rmtree(shadow)
    lines = walk.words.text(out + (f"--- error\n{err}" if err else "") + f"--- exit {code}\n").split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _run(walk: Walk, step: Step, *more: str) -> tuple[int, str, str]:
    words = [*shlex.split(walk.given(step.cli)), *more]
    done = CliRunner().invoke(app, words, input=step.typed, prog_name="perdure")
    _, defect, told = done.stderr.partition("Traceback")
    return done.exit_code, done.stdout, f"{defect}: {told.splitlines()[-2:]}" if defect else done.stderr


# --- Python


def by_python(walk: Walk) -> dict[str, Any]:
    """What methods return, as their to_dict tells it."""
    answers = {}
    with perdure.open(walk.kept["store"], os.environ["PERDURE_POLICY"], walk.clock) as memory:
        for step in walk.steps():
            if step.py is None:
                continue
            answer = _returned(memory, *step.py, walk)
            walk.keep(step, answer)
            answers[step.name] = walk.answers(answer)
    return answers


def _returned(memory: Any, method: str, arguments: dict[str, Any], walk: Walk) -> Any:
    given = walk.given(arguments)
    times = {key: datetime.fromisoformat(given[key]) for key in MOMENTS & given.keys()}
    try:
        return _data(getattr(memory, method)(**{**given, **times}))
    except perdure.PerdureError as error:
        return error.to_dict()
    except (AttributeError, TypeError) as error:
        return {"raised": f"{type(error).__name__}: {error}"}


def _data(value: Any) -> Any:
    """What a result says of itself."""
    if isinstance(value, list | tuple):
        return [_data(item) for item in value]
    if isinstance(value, dict):
        return {key: _data(item) for key, item in value.items()}
    found = value.to_dict() if hasattr(value, "to_dict") else value
    return json.loads(json.dumps(found, default=_fields))


def _fields(value: Any) -> Any:
    return {name: getattr(value, name) for name in value.__slots__}


# --- MCP


def by_mcp(walk: Walk) -> dict[str, Any]:
    """What tools answer: structured, and in words."""
    with perdure.open(walk.kept["store"], os.environ["PERDURE_POLICY"], walk.clock) as memory:
        return asyncio.run(_talk(walk, build(lambda: memory, profile="full")))


async def _talk(walk: Walk, server: Any) -> dict[str, Any]:
    answers = {}
    async with Client(server) as client:
        for step in walk.steps():
            asked = step.py if step.mcp is SAME else step.mcp
            if asked is not None:
                answer = await _called(client, asked[0], walk.given(asked[1]))
                walk.keep(step, answer)
                answers[step.name] = walk.answers(answer)
        digest = await client.read_resource("memory://digest")
        answers["memory://digest"] = walk.answers({"text": digest.contents[0].text})
    return answers


async def _called(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        answer = await client.call_tool(tool, arguments)
    except MCPError as error:
        return {"refused": str(error)}
    except RuntimeError as error:  # the answer is not what the output schema says
        return {"invalid": str(error).partition("\n")[0]}
    told = {"text": "\n".join(part.text for part in answer.content)}
    if answer.is_error:
        return {"error": (answer.meta or {}).get("perdure/error"), **told}
    return {"structured": answer.structured_content, **told}


DOORS: Final[dict[str, Callable[[Walk], dict[str, Any]]]] = {
    "cli": by_cli,
    "python": by_python,
    "mcp": by_mcp,
}
