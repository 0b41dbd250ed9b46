"""How long Perdure takes to start: the import, ``--version``, the MCP server's first answer, the first real recall.

Every figure is the median of several new processes. The MCP server is measured beside a bare MCPServer with one tool,
in turns; its time runs from the start of the process to the answer of tools/list. ``perdure --version`` stands beside a
bare Python, and the first recall with the embedder beside a process that imports numpy and onnxruntime, loads the same
weights and runs them once; of these the time of the processors is told besides.

``--before PYTHON`` measures only how another installation of Perdure, that of this Python, starts beside this one, in
turns: the import, ``--help``, a recall by keywords from the command line, and the MCP server's list of tools.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from report import Row, against, finished, interleaved, parser, processes, say

if TYPE_CHECKING:
    from collections.abc import Callable

IMPORT = "import time; s = time.perf_counter(); import perdure; print(time.perf_counter() - s)"
EMPTY = "print(0.0)"
BARE = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare")
@server.tool()
def echo(text: str) -> str:
    return text
server.run()
"""
RECALL = """
import sys, time
s = time.perf_counter()
import perdure
with perdure.open(sys.argv[1], policy={}) as memory:
    answer = memory.recall("When do we deploy?")
    assert answer.hits and not answer.note, answer.note
print(time.perf_counter() - s)
"""
RUN = """
import numpy, onnxruntime, perdure_embedder
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
path, providers = str(perdure_embedder.model_path()), ["CPUExecutionProvider"]
session = onnxruntime.InferenceSession(path, options, providers=providers)
ids = numpy.array([[101, 2043, 2079, 2057, 21296, 1029, 102]])
session.run(None, {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)})
"""
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


def printed(code: str, *arguments: str) -> float:
    """Return the number that a new process prints."""
    command = [sys.executable, "-c", code, *arguments]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def imports(rounds: int) -> list[Row]:
    """Measure ``import perdure`` inside a new process."""
    say("import")
    printed(IMPORT)
    return [Row("import perdure", statistics.median(printed(IMPORT) for _ in range(rounds)), "s", 0.15)]


def tools_listed(command: list[str], folder: Path) -> None:
    """Start a server over stdio, shake hands, and ask for its tools."""
    environment = {**os.environ, "PERDURE_POLICY": ""}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        env=environment,
    ) as process:
        _ask(process, "initialize", HELLO, 1)
        _tell(process, {"method": "notifications/initialized"})
        tools = _ask(process, "tools/list", {}, 2)["tools"]
        if not tools:
            raise RuntimeError("the server has no tools")
        process.kill()


def _tell(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    if process.stdin is None:
        raise RuntimeError("no pipe")
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def _ask(process: subprocess.Popen[str], method: str, params: dict[str, Any], number: int) -> dict[str, Any]:
    _tell(process, {"id": number, "method": method, "params": params})
    for line in process.stdout or ():
        reply = json.loads(line)
        if reply.get("id") == number:
            found: dict[str, Any] = reply["result"]
            return found
    raise RuntimeError(f"the server gave no answer to {method}")


def servers(rounds: int) -> list[Row]:
    """Measure ``perdure mcp`` beside a bare server, from the start of the process to the list of tools."""
    if importlib.util.find_spec("mcp") is None or importlib.util.find_spec("perdure.interfaces.mcp.run") is None:
        say("skipped: no MCP server")
        return []
    say("MCP server")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = [sys.executable, "-m", "perdure", "mcp", "--store", str(folder / "agent.db")]
        if importlib.util.find_spec("perdure.__main__") is None:
            code = (
                f"import sys; sys.argv = ['perdure', *{ours[3:]!r}]; from perdure.interfaces.entry import main; main()"
            )
            ours = [sys.executable, "-c", code]
        bare = [sys.executable, "-c", BARE]
        for command in (ours, bare):
            tools_listed(command, folder)
        times = interleaved(
            rounds, ours=lambda _: tools_listed(ours, folder), bare=lambda _: tools_listed(bare, folder)
        )
    note = "floor: a bare MCPServer"
    return [Row("perdure mcp to tools/list", times["ours"] / 1e3, "s", 0.6, times["bare"] / 1e3, note=note)]


def started(command: list[str]) -> None:
    """Run a process to its end."""
    subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PERDURE_POLICY": ""})


def version(rounds: int) -> list[Row]:
    """Measure ``perdure --version`` beside a bare Python."""
    say("--version")
    ours, bare = [sys.executable, "-m", "perdure", "--version"], [sys.executable, "-c", "pass"]
    started(ours)
    spent = processes(rounds, ours=lambda _: started(ours), bare=lambda _: started(bare))
    return against("perdure --version", spent["ours"], spent["bare"], "floor: bare Python", times=5.0)


def first_recall(rounds: int) -> list[Row]:
    """Measure a new process's first recall, with import and the loading of the real embedder."""
    if importlib.util.find_spec("perdure_embedder") is None:
        say("skipped: no embedder")
        return []
    import perdure  # noqa: PLC0415  # only where it is used

    say("first recall")
    name = "first recall of a new process with the embedder"
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "agent.db")
        with perdure.open(path, policy={}) as memory:
            memory.remember_many(["Deploys happen on Tuesdays at 10:00.", "Ann's sister lives in Lisbon."])
        taken = [printed(RECALL, path) for _ in range(rounds)]
        ours, floor = [sys.executable, "-c", RECALL, path], [sys.executable, "-c", RUN]
        spent = processes(rounds, ours=lambda _: started(ours), floor=lambda _: started(floor))
    note = "floor: numpy, onnxruntime, its load and first run"
    return [
        Row(name, statistics.median(taken), "s", 2.0),
        *against(f"{name}, whole process", spent["ours"], spent["floor"], note, times=1.3),
    ]


def beside_before(before: str, rounds: int) -> list[Row]:
    """Measure four starts beside those of an earlier installation; each has a store of its own with one memory."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        policy = Path(name) / "policy.toml"
        policy.write_text('[embedder]\nmodel = "none"\n', "utf-8")
        starts = {}
        for which, python in (("now", sys.executable), ("before", before)):
            folder = Path(name) / which
            folder.mkdir()
            starts[which] = _four_starts(python, folder, policy)
        for operation in starts["now"]:
            say(operation)
            calls = {which: four[operation] for which, four in starts.items()}
            for call in calls.values():
                call(0)
            spent = processes(rounds, **calls)
            rows += against(operation, spent["now"], spent["before"], "floor: the installation before")
    return rows


def _four_starts(python: str, folder: Path, policy: Path) -> dict[str, Callable[[int], None]]:
    command = [str(Path(python).with_name("perdure"))]
    options = ["--store", str(folder / "agent.db"), "--policy", str(policy)]
    started([*command, "remember", "Deploys happen on Tuesdays at 10:00.", *options])
    return {
        "import perdure": lambda _: started([python, "-c", "import perdure"]),
        "perdure --help": lambda _: started([*command, "--help"]),
        "perdure recall": lambda _: started([*command, "recall", "When do deploys happen?", *options]),
        "perdure mcp to tools/list": lambda _: tools_listed([*command, "mcp", *options], folder),
    }


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--before", metavar="PYTHON", help="the Python of an earlier installation to compare with")
    given = arguments.parse_args()
    if given.before:
        finished(beside_before(given.before, given.rounds), as_json=given.json)
        return
    start = time.perf_counter()
    rows = imports(given.rounds) + version(given.rounds) + servers(given.rounds) + first_recall(given.rounds)
    say(f"{time.perf_counter() - start:.0f} s")
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
