"""What the HTTP service costs beside the memory itself: CPU of a recall, start, throughput, delays, slow clients.

Every floor is measured in the same run on the same store: the same recalls in Python, and a bare Starlette that opens
the store. The load comes from a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import perdure
from http_load import (
    CLIENTS,
    LOAD,
    Answered,
    ask,
    busy,
    cpu_of,
    exchange,
    ideal_queue,
    quantile,
    rate_of_load,
    request,
    several_workers,
)
from report import Row, finished, parser, say

POLICY = '[embedder]\nmodel = "none"\n'
THREADS = 8
WARM = 1.0  # seconds of calls before what is measured
BURST = 1.0  # seconds of calls in one turn
LOADED = 3.0  # seconds after the start: what draws pages is loaded
UPKEEP_SECONDS = 30.0  # after the start: the first maintenance
BARE = """
import sys
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
import perdure
memory = perdure.open(sys.argv[1], sys.argv[3])
async def alive(request):
    return PlainTextResponse("ok")
async def recall(request):
    given = await request.json()
    return JSONResponse(await run_in_threadpool(lambda: memory.recall(**given).to_dict()))
routes = [Route("/healthz", alive), Route("/v1/recall", recall, methods=["POST"])]
uvicorn.run(Starlette(routes=routes), http="httptools", access_log=False, port=int(sys.argv[2]), log_level="error")
"""


def make(folder: Path, rows: int, days_ago: float = 0.0) -> list[str]:
    """Fill a store as of some days ago, and return questions about it."""
    (folder / "perdure.toml").write_text(POLICY)
    picked = random.Random(7)
    words = ["deploy", "invoice", "server", "harbour", "lunch", "budget", "garden", "ticket", "train", "paint", "Oslo"]
    texts = [
        f"The {picked.choice(words)} {n} is due on day {n % 28} near the {picked.choice(words)}." for n in range(rows)
    ]
    clock = partial(datetime.now, UTC) if not days_ago else lambda: datetime.now(UTC) - timedelta(days_ago)
    with perdure.open(folder / "a.db", folder / "perdure.toml", clock) as memory:
        for start in range(0, rows, 2000):
            memory.remember_many(texts[start : start + 2000])
    return [f"When is the {picked.choice(words)} {n} due?" for n in picked.sample(range(rows), min(rows, 300))]


def free_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def serving(folder: Path, command: list[str], port: int) -> Iterator[tuple[int, float]]:
    """Run a server, and give its process id and the seconds until its first answer."""
    began = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            while not answers(port):
                if process.poll() is not None:
                    raise RuntimeError("the server ended")
                threading.Event().wait(0.002)
            yield process.pid, time.perf_counter() - began
        finally:
            process.terminate()


def answers(port: int) -> bool:
    """Whether a server answers on a port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as talk:
            talk.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
            return talk.recv(100).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def ours(folder: Path, port: int, workers: int = 1) -> list[str]:
    """Return the command of the service."""
    where = ["--store", str(folder / "a.db"), "--policy", str(folder / "perdure.toml"), "--port", str(port)]
    limits = ["--threads", str(THREADS), "--waiting", "200", "--workers", str(workers)]
    return [sys.executable, "-m", "perdure", "serve", *where, *limits]


def bare(folder: Path, port: int) -> list[str]:
    """Return the command of a bare framework that opens the store."""
    return [sys.executable, "-c", BARE, str(folder / "a.db"), str(port), str(folder / "perdure.toml")]


@contextmanager
def fresh(folder: Path) -> Iterator[Path]:
    """Give a copy of a store as it was made: recalls take longer with each before them."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(folder, place, dirs_exist_ok=True)
        yield Path(place)


@contextmanager
def serving_fresh(folder: Path, workers: int = 1) -> Iterator[tuple[int, int, Path]]:
    """Serve a fresh copy, warm and with all of its code loaded; give the port, the process and the copy."""
    port = free_port()
    with fresh(folder) as copied, serving(copied, ours(copied, port, workers), port) as (process, _):
        began = time.perf_counter()
        ask(port, copied, WARM)
        time.sleep(max(0.0, began + LOADED - time.perf_counter()))
        yield port, process, copied


def in_python(memory: Any, questions: list[str], seconds: float) -> list[float]:
    """Return how long each recall took in this process, one after the other.

    More threads do not raise how many there are: Python runs one of them at a time, and they get in each other's way.
    """
    found: list[float] = []
    end = time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        memory.recall(random.choice(questions)).to_dict()
        found.append(time.perf_counter() - began)
    return found


def paced_in_python(folder: Path, questions: list[str], seconds: float, rate: float) -> float:
    """Return p99 / p50 of recalls in this process at a constant rate, one after the other; delays count from when due.

    A processor that rests between two calls takes longer for each, and all of the machine's own pauses are in it.
    """
    delays: list[float] = []
    with fresh(folder) as copied, perdure.open(copied / "a.db", copied / "perdure.toml") as memory:
        in_python(memory, questions, WARM)
        began = time.perf_counter()
        for number in range(int(seconds * rate)):
            due = began + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            memory.recall(random.choice(questions)).to_dict()
            delays.append(time.perf_counter() - due)
    return quantile(delays, 0.99) / quantile(delays, 0.5)


class Talk:
    """A client of one connection that does little itself: its own work would take the caches from the service."""

    def __init__(self, port: int, process: int) -> None:
        self._port, self._process = port, process
        self._socket = socket.create_connection(("127.0.0.1", port))

    def cost(self, questions: list[str]) -> float:
        """Return the CPU ms of the service for one recall of several."""
        sent = [request(self._port, question) for question in questions]
        before = cpu_of(self._process)
        for data in sent:
            self._socket.sendall(data)
            head, _, body = self._socket.recv(1 << 20).partition(b"\r\n\r\n")
            left = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]) - len(body)
            while left > 0:
                left -= len(self._socket.recv(1 << 20))
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError("a recall failed")
        return 1000 * (cpu_of(self._process) - before) / len(questions)


def good_client(port: int, questions: list[str]) -> float:
    """Return the 99th percentile of one client's delays, in ms."""
    found: list[float] = []

    async def story() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for question in questions:
            began = time.perf_counter()
            await exchange(reader, writer, request(port, question))
            found.append(time.perf_counter() - began)
        writer.close()

    asyncio.run(story())
    return quantile(found, 0.99)


def slow_clients(port: int, many: int) -> list[socket.socket]:
    """Connect clients that send a part of a request and wait."""
    found = []
    parts = (b"POST /v1/rec", request(port, "x" * 50)[:-20])
    for number in range(many):
        talk = socket.create_connection(("127.0.0.1", port), timeout=30)
        talk.sendall(parts[number % 2])
        found.append(talk)
    return found


def starts(folder: Path, rounds: int) -> Row:
    """Measure the start, in turns with a bare framework that opens the store."""
    taken: dict[str, list[float]] = {"ours": [], "bare": []}
    for _ in range(rounds):
        for name, times in taken.items():
            port = free_port()
            with serving(folder, (ours if name == "ours" else bare)(folder, port), port) as (_, seconds):
                times.append(seconds)
    floor = statistics.median(taken["bare"])
    return Row("serve to first answer", statistics.median(taken["ours"]), "s", 1.2 * floor, floor, note="floor: bare")


def costs(folder: Path, questions: list[str], rounds: int) -> Row:
    """Measure the CPU of a recall over that of Python, in turns: five questions each, the same ones, one thread.

    The turns are short and their order is drawn, because other programs make a recall twice as dear from one second to
    the next. A bare framework that recalls in a thread and answers JSON has its turns as well.
    """
    picked = random.Random(7)
    found: dict[str, list[float]] = {"python": [], "ours": [], "bare": []}

    def in_this_process(asked: list[str]) -> float:
        before = time.process_time()
        for question in asked:
            memory.recall(question).to_dict()
        return 1000 * (time.process_time() - before) / len(asked)

    port, other = free_port(), free_port()
    with (
        serving(folder, ours(folder, port), port) as (process, _),
        serving(folder, bare(folder, other), other) as (process_of_bare, _),
        perdure.open(folder / "a.db", folder / "perdure.toml") as memory,
    ):
        calls = {
            "python": in_this_process,
            "ours": Talk(port, process).cost,
            "bare": Talk(other, process_of_bare).cost,
        }
        for call in calls.values():  # the first turns warm all
            call(questions[:150])
        for _ in range(50 * rounds):
            asked, names = picked.sample(questions, 5), list(calls)
            picked.shuffle(names)
            for name in names:
                found[name].append(calls[name](asked))
    more, floor = (
        [there - here for there, here in zip(found[name], found["python"], strict=True)] for name in ("ours", "bare")
    )
    error = statistics.stdev(more) / len(more) ** 0.5
    mean = f"mean {statistics.mean(more):.2f}, its standard error {error:.2f}"
    note = f"median; {mean}; Python {statistics.median(found['python']):.2f}; floor: bare framework"
    return Row(
        "CPU of a recall over the Python call", statistics.median(more), "ms", 1.0, statistics.median(floor), note=note
    )


def throughput(folder: Path, questions: list[str], bursts: int) -> tuple[Row, float, float]:
    """Measure the recalls a second of many clients and of Python, in turns of a second, because machines change.

    Returns:
        The share; the recalls a second of the clients; those in Python.
    """
    shares, rates, alone = [], [], []
    with (
        serving_fresh(folder) as (port, _, copied),
        fresh(folder) as other,
        perdure.open(other / "a.db", other / "perdure.toml") as memory,
    ):
        in_python(memory, questions, WARM)
        for _ in range(bursts):
            alone.append(len(in_python(memory, questions, BURST)) / BURST)
            rates.append(len(ask(port, copied, BURST).delays) / BURST)
            shares.append(100 * rates[-1] / alone[-1])
    error, rate, floor = statistics.stdev(shares) / bursts**0.5, statistics.median(rates), statistics.median(alone)
    note = f"median of {bursts} turns, standard error {error:.1f}; {rate:.0f} of {floor:.0f} /s"
    name = f"recalls of {CLIENTS} clients, of Python's"
    return Row(name, statistics.median(shares), "%", 85, at_least=True, note=note), rate, floor


def many_clients(folder: Path, questions: list[str], seconds: float, rounds: int) -> list[Row]:
    """Measure throughput, and delays at 70 % load: of the processor's time, and of the throughput."""
    share, fastest, floor = throughput(folder, questions, 4 * rounds)
    loads: list[Answered] = []
    evens: list[Answered] = []
    drawns: list[Answered] = []
    paced, shares = [], []
    for _ in range(rounds):
        paced.append(paced_in_python(folder, questions, 4 * seconds, LOAD * floor))
        with serving_fresh(folder) as (port, process, copied):
            rate = rate_of_load(port, process, copied, fastest)
            answered, worked = busy(port, process, copied, 4 * seconds, rate)
            loads.append(answered)
            shares.append(100 * worked)
        for found, at_random in ((evens, False), (drawns, True)):
            with serving_fresh(folder) as (port, _, copied):
                found.append(ask(port, copied, 2 * seconds, LOAD * fastest, at_random=at_random))
    ideal = f"an ideal queue {ideal_queue(1):.1f} x with one processor, {ideal_queue(2):.1f} x with two"
    every = [*loads, *evens, *drawns]
    steady = f"Python's own at 70 % of its recalls {_each(paced)} x"
    return [
        share,
        _tail("p99 / p50, processor busy for 70 % of the time", loads, f"busy {_each(shares)} %", bound=3.0),
        _tail("p99 / p50 at 70 % of the throughput, at a constant rate", evens, steady, bound=None),
        _tail("p99 / p50 at 70 % of the throughput, at random", drawns, ideal, bound=None),
        Row("failed calls", sum(one.failures for one in every), "", 0, note=f"of {sum(len(o.delays) for o in every)}"),
    ]


def _tail(name: str, found: list[Answered], ideal: str, bound: float | None) -> Row:
    ratios = [one.quantile(0.99) / one.quantile(0.5) for one in found]
    note = (
        f"median; rounds {_each(ratios)}; p50 {_each(one.quantile(0.5) for one in found)} ms, "
        f"p99 {_each(one.quantile(0.99) for one in found)} ms; {ideal}; "
        f"stolen {_each(100 * one.stolen for one in found)} %"
    )
    return Row(name, statistics.median(ratios), "x", bound, note=note)


def _each(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def first_upkeep(folder: Path, rows: int) -> Row:
    """Measure the longest call during the first maintenance, where all memories are due; half of all time is free."""
    folder.mkdir()
    questions = make(folder, rows, days_ago=40)
    (folder / "questions.json").write_text(json.dumps(questions))
    port, lasting = free_port(), 15.0 + rows / 4000
    with fresh(folder) as copied, perdure.open(copied / "a.db", copied / "perdure.toml") as memory:
        rate = 0.5 / statistics.median(in_python(memory, questions, 2.0))
    with serving(folder, ours(folder, port), port):
        began = time.perf_counter()
        ask(port, folder, 3.0)
        found = ask(port, folder, UPKEEP_SECONDS - 3.0 + lasting, rate)
    with perdure.open(folder / "a.db", folder / "perdure.toml") as memory:
        if memory.upkeep_state().get("sweep", {}).get("outcome") != "done":
            raise RuntimeError("the first maintenance has not ended")
    before: list[float] = []
    during: list[float] = []
    for due, delay in zip(found.due, found.delays, strict=True):
        (before if due - began < UPKEEP_SECONDS - 1 else during).append(delay)
    note = f"{rows:,} memories, {rate:.0f} calls/s; floor: the longest before; p50 {quantile(during, 0.5):.1f}"
    return Row(
        "longest call in the first maintenance", quantile(during, 1.0), "ms", 100, quantile(before, 1.0), note=note
    )


def beside_slow_ones(folder: Path, questions: list[str]) -> Row:
    """Measure the delays of a good client beside slow ones, with all of the service's code loaded."""
    with serving_fresh(folder) as (port, _, _):
        good_client(port, questions)
        alone = good_client(port, questions)
        slow = slow_clients(port, 1000)
        beside = good_client(port, questions)
        for talk in slow:
            talk.close()
    return Row("p99 of a client beside 1,000 slow ones", beside, "ms", 2 * alone, alone, note="floor: alone")


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=2)
    parts_named = ("start", "cpu", "load", "slow", "upkeep", "workers")
    arguments.add_argument("--only", choices=parts_named, help="only this part")
    arguments.add_argument("--workers", type=int, default=2, help="how many are measured beside one")
    arguments.add_argument("--rows", type=int, default=1000)
    arguments.add_argument("--due-rows", type=int, default=10_000, help="memories that the first maintenance sweeps")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        questions = make(folder, given.rows)
        (folder / "questions.json").write_text(json.dumps(questions))
        parts: dict[str, Callable[[], list[Row]]] = {
            "start": lambda: [starts(folder, given.rounds)],
            "cpu": lambda: [costs(folder, questions, given.rounds)],
            "load": lambda: many_clients(folder, questions, 3.0, max(3, given.rounds)),
            "slow": lambda: [beside_slow_ones(folder, questions)],
            "upkeep": lambda: [first_upkeep(folder / "due", given.due_rows)],
            "workers": lambda: several_workers(partial(serving_fresh, folder), 4 * given.rounds, given.workers),
        }
        rows: list[Row] = []
        for name, part in parts.items():
            if given.only in {None, name}:
                say(name)
                rows += part()
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
