"""What the HTTP service costs beside the memory itself: CPU of a recall, start, throughput, delays, slow clients.

Every floor is measured in the same run on the same store: the same recalls in Python, and a bare Starlette that opens
the store. The load comes from a process of its own.
"""

from __future__ import annotations

import asyncio
import heapq
import json
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import perdure
from report import Row, finished, parser, say

POLICY = '[embedder]\nmodel = "none"\n'
CLIENTS = 32
THREADS = 8
SETTLED = 38.0  # seconds after the start: the first maintenance, at 30, is over
BARE = """
import sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
import perdure
memory = perdure.open(sys.argv[1], sys.argv[3])
async def alive(request):
    return PlainTextResponse("ok")
uvicorn.run(Starlette(routes=[Route("/healthz", alive)]), port=int(sys.argv[2]), log_level="error")
"""


def make(folder: Path, rows: int) -> list[str]:
    """Fill a store, and return questions about it."""
    (folder / "perdure.toml").write_text(POLICY)
    picked = random.Random(7)
    words = ["deploy", "invoice", "server", "harbour", "lunch", "budget", "garden", "ticket", "train", "paint", "Oslo"]
    texts = [
        f"The {picked.choice(words)} {n} is due on day {n % 28} near the {picked.choice(words)}." for n in range(rows)
    ]
    with perdure.open(folder / "a.db", folder / "perdure.toml") as memory:
        memory.remember_many(texts)
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


def ours(folder: Path, port: int) -> list[str]:
    """Return the command of the service."""
    where = ["--store", str(folder / "a.db"), "--policy", str(folder / "perdure.toml"), "--port", str(port)]
    return [sys.executable, "-m", "perdure", "serve", *where, "--threads", str(THREADS), "--waiting", "200"]


def cpu_of(process: int) -> float:
    """Return the CPU seconds that a process has used, all its threads together."""
    return time.clock_gettime((~process << 3) | 2)  # Linux's clock of another process, in nanoseconds, not in ticks


def request(port: int, question: str) -> bytes:
    """Return a recall as it goes over the wire."""
    body = json.dumps({"query": question}).encode()
    head = f"POST /v1/recall HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> int:
    """Send a request and read its answer; return the status."""
    writer.write(data)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head[9:12])


async def load(
    port: int, questions: list[str], seconds: float, rate: float, *, at_random: bool
) -> tuple[list[float], int]:
    """Ask with all clients, as fast as answers come or at a rate; return delays and failures.

    Delays at a rate count from when a call was due, so that a client which waits for its answer hides none.
    """
    delays: list[float] = []
    failures = 0
    end = time.perf_counter() + seconds

    async def client(number: int) -> None:
        nonlocal failures
        picked = random.Random(number)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        due = time.perf_counter() + (number / rate if rate else 0.0)  # one after the other, at even distances
        while time.perf_counter() < end:
            if rate:
                due += picked.expovariate(rate / CLIENTS) if at_random else CLIENTS / rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
            began = due if rate else time.perf_counter()
            failures += await exchange(reader, writer, request(port, picked.choice(questions))) != 200
            delays.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(client(n) for n in range(CLIENTS)))
    return delays, failures


def loaded(
    port: int, folder: Path, seconds: float, rate: float = 0.0, *, at_random: bool = False
) -> tuple[list[float], int]:
    """Run ``load`` in a process of its own."""
    given = [port, seconds, rate, int(at_random), folder / "questions.json"]
    command = [sys.executable, __file__, "--load", *map(str, given)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found["delays"], found["failures"]


def in_python(folder: Path, questions: list[str], threads: int, seconds: float) -> tuple[float, float]:
    """Return (recalls a second, CPU ms of one) in this process."""
    done = [0] * threads
    with perdure.open(folder / "a.db", folder / "perdure.toml") as memory:
        memory.recall(questions[0])
        end, cpu = time.perf_counter() + seconds, time.process_time()

        def work(number: int) -> None:
            while time.perf_counter() < end:
                memory.recall(questions[(done[number] * threads + number) % len(questions)]).to_dict()
                done[number] += 1

        running = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        used = time.process_time() - cpu
    return sum(done) / seconds, 1000 * used / sum(done)


async def over_http(
    talk: tuple[asyncio.StreamReader, asyncio.StreamWriter], port: int, process: int, questions: list[str]
) -> float:
    """Return the CPU ms of the service for one recall, one client asking over one connection."""
    sent = [request(port, question) for question in questions]
    before = cpu_of(process)
    for data in sent:
        if await exchange(*talk, data) != HTTPStatus.OK:
            raise RuntimeError("a recall failed")
    return 1000 * (cpu_of(process) - before) / len(questions)


def quantile(delays: list[float], share: float) -> float:
    """Return a quantile of delays, in ms."""
    return 1000 * sorted(delays)[min(len(delays) - 1, int(share * len(delays)))]


def ideal_queue(servers: int, load: float = 0.7, calls: int = 100_000) -> float:
    """Return p99 / p50 of a queue that serves calls of one length in turn, asked at random: no service is below it."""
    picked, at, free, delays = random.Random(7), 0.0, [0.0] * servers, []
    for _ in range(calls):
        at += picked.expovariate(load * servers)
        first = heapq.heappop(free)
        heapq.heappush(free, max(at, first) + 1.0)
        delays.append(max(at, first) + 1.0 - at)
    return quantile(delays, 0.99) / quantile(delays, 0.5)


def steady_queue(lengths: list[float], load: float = 0.7) -> float:
    """Return p99 / p50 of one processor that serves calls of these lengths in turn, asked at a constant rate.

    The lengths are those of recalls in Python, one after the other, so that this has the machine's own hiccups in it.
    """
    apart, free, delays = statistics.mean(lengths) / load, 0.0, []
    for number, length in enumerate(lengths):
        free = max(number * apart, free) + length
        delays.append(free - number * apart)
    return quantile(delays, 0.99) / quantile(delays, 0.5)


def lengths_in_python(folder: Path, questions: list[str], seconds: float) -> list[float]:
    """Return how long recalls took in this process, one after the other."""
    found = []
    with perdure.open(folder / "a.db", folder / "perdure.toml") as memory:
        memory.recall(questions[0])
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            memory.recall(questions[len(found) % len(questions)]).to_dict()
            found.append(time.perf_counter() - began)
    return found


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
            bare = [sys.executable, "-c", BARE, str(folder / "a.db"), str(port), str(folder / "perdure.toml")]
            with serving(folder, ours(folder, port) if name == "ours" else bare, port) as (_, seconds):
                times.append(seconds)
    floor = statistics.median(taken["bare"])
    return Row("serve to first answer", statistics.median(taken["ours"]), "s", 1.2 * floor, floor, note="floor: bare")


def costs(folder: Path, questions: list[str], rounds: int) -> Row:
    """Measure the CPU of a recall, in turns with Python: five questions each, the same ones, one client, one thread.

    The turns are short and their order is drawn, because other programs make a recall twice as dear from one second to
    the next.
    """
    port, more, python, picked = free_port(), [], [], random.Random(7)

    def in_this_process(asked: list[str]) -> float:
        before = time.process_time()
        for question in asked:
            memory.recall(question).to_dict()
        return 1000 * (time.process_time() - before) / len(asked)

    with (
        serving(folder, ours(folder, port), port) as (process, _),
        perdure.open(folder / "a.db", folder / "perdure.toml") as memory,
        asyncio.Runner() as runner,
    ):
        talk = runner.run(asyncio.open_connection("127.0.0.1", port))
        in_this_process(questions[:150])  # the first turns warm both
        runner.run(over_http(talk, port, process, questions[:150]))
        for _ in range(50 * rounds):
            asked = picked.sample(questions, 5)
            if first := picked.random() < 0.5:
                python.append(in_this_process(asked))
            there = runner.run(over_http(talk, port, process, asked))
            if not first:
                python.append(in_this_process(asked))
            more.append(there - python[-1])
    error = statistics.stdev(more) / len(more) ** 0.5
    mean = f"mean {statistics.mean(more):.2f}, its standard error {error:.2f}"
    note = f"median; {mean}; Python {statistics.median(python):.2f}"
    return Row("CPU of a recall over the Python call", statistics.median(more), "ms", 1.0, note=note)


def many_clients(folder: Path, questions: list[str], seconds: float) -> list[Row]:
    """Measure throughput, in turns with Python, and delays at 70 % of it."""
    port, floors, fasts, failed, began = free_port(), [], [], 0, time.perf_counter()
    with serving(folder, ours(folder, port), port):
        loaded(port, folder, 1.0)
        for _ in range(3):
            floors.append(max(in_python(folder, questions, threads, seconds / 2)[0] for threads in (1, THREADS)))
            fast, failures = loaded(port, folder, seconds)
            fasts.append(len(fast) / seconds)
            failed += failures
        floor, through = statistics.median(floors), statistics.median(fasts)
        time.sleep(max(0.0, began + SETTLED - time.perf_counter()))
        even, failed_even = loaded(port, folder, 4 * seconds, 0.7 * through)
        drawn, failed_drawn = loaded(port, folder, 4 * seconds, 0.7 * through, at_random=True)
        lengths = lengths_in_python(folder, questions, 2 * seconds)
    steady = f"floor: p50; recalls in Python in an ideal queue {steady_queue(lengths):.1f} x"
    ideal = f"an ideal queue {ideal_queue(1):.1f} x with one processor, {ideal_queue(2):.1f} x with two"
    return [
        Row(f"recalls of {CLIENTS} clients", through, "/s", 0.85 * floor, floor, at_least=True, note="floor: Python"),
        _tail("p99 at 70 % load, at a constant rate", even, steady, bound=3.0),
        _tail("p99 at 70 % load, at random", drawn, f"floor: p50; {ideal}", bound=None),
        Row("failed calls", failed + failed_even + failed_drawn, "", 0),
    ]


def _tail(name: str, delays: list[float], note: str, bound: float | None) -> Row:
    p50 = quantile(delays, 0.5)
    return Row(name, quantile(delays, 0.99), "ms", None if bound is None else bound * p50, p50, note=note)


def beside_slow_ones(folder: Path, questions: list[str]) -> Row:
    """Measure the delays of a good client beside slow ones."""
    port = free_port()
    with serving(folder, ours(folder, port), port):
        good_client(port, questions)
        alone = good_client(port, questions)
        slow = slow_clients(port, 1000)
        beside = good_client(port, questions)
        for talk in slow:
            talk.close()
    return Row("p99 of a client beside 1,000 slow ones", beside, "ms", 2 * alone, alone, note="floor: alone")


def main() -> None:
    if sys.argv[1:2] == ["--load"]:
        port, seconds, rate, at_random, file = sys.argv[2:]
        asked = json.loads(Path(file).read_text())
        story = load(int(port), asked, float(seconds), float(rate), at_random=at_random == "1")
        delays, failures = asyncio.run(story)
        print(json.dumps({"delays": delays, "failures": failures}))
        return
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=2)
    arguments.add_argument("--only", choices=("start", "cpu", "load", "slow"), help="only this part")
    arguments.add_argument("--rows", type=int, default=1000)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        questions = make(folder, given.rows)
        (folder / "questions.json").write_text(json.dumps(questions))
        parts = {
            "start": lambda: [starts(folder, given.rounds)],
            "cpu": lambda: [costs(folder, questions, given.rounds)],
            "load": lambda: many_clients(folder, questions, 3.0),
            "slow": lambda: [beside_slow_ones(folder, questions)],
        }
        rows = []
        for name, part in parts.items():
            if given.only in {None, name}:
                say(name)
                rows += part()
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
