"""The load on a service: recalls of many clients, in a process of its own, and what queues make of their lengths."""

from __future__ import annotations

import asyncio
import heapq
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from report import Row

CLIENTS: Final = 32
LOAD: Final = 0.7
"""The share of the time in which the service's processor works, or of the highest throughput."""
_STEP: Final = 1.5  # seconds of calls that find the rate of that load
_TURN: Final = 2.0  # seconds


@dataclass(frozen=True)
class Answered:
    """What clients have seen: when calls were due and how long each took, in seconds, in the order of their answers."""

    due: list[float]  # of the clock that all processes share
    delays: list[float]
    failures: int
    stolen: float  # the share of the machine's processors that others had meanwhile
    seconds: float  # from the first call to the last answer
    processors: float  # that the clients themselves kept busy

    def quantile(self, share: float) -> float:
        """Return a quantile of the delays, in ms."""
        return quantile(self.delays, share)


def quantile(delays: list[float], share: float) -> float:
    """Return a quantile of delays, in ms."""
    return 1000 * sorted(delays)[min(len(delays) - 1, int(share * len(delays)))]


def request(port: int, question: str, *, touch: bool = True) -> bytes:
    """Return a recall as it goes over the wire; one that does not touch is not counted as an access."""
    body = json.dumps({"query": question, **({} if touch else {"touch": False})}).encode()
    head = f"POST /v1/recall HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> int:
    """Send a request and read its answer; return the status."""
    writer.write(data)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head[9:12])


def ask(
    port: int, folder: Path, seconds: float, rate: float = 0.0, *, at_random: bool = False, touch: bool = True
) -> Answered:
    """Ask with all clients, as fast as answers come or at a rate, in a process of its own.

    Delays at a rate count from when a call was due, so that a client which waits for its answer hides none.
    """
    given = [port, seconds, rate, int(at_random), int(touch), folder / "questions.json"]
    command = [sys.executable, __file__, *map(str, given)]
    before = _processor_ticks()
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    ticks = [after - earlier for earlier, after in zip(before, _processor_ticks(), strict=True)]
    return Answered(**found, stolen=ticks[_STOLEN] / max(1, sum(ticks)))


def cpu_of(process: int) -> float:
    """Return the CPU seconds that a process has used, all its threads together."""
    return time.clock_gettime((~process << 3) | 2)  # Linux's clock of another process, in nanoseconds, not in ticks


def busy(port: int, process: int, folder: Path, seconds: float, rate: float) -> tuple[Answered, float]:
    """Ask at a constant rate; return the answers and the share of the time in which the service's processor worked."""
    before = cpu_of(process)
    found = ask(port, folder, seconds, rate)
    return found, (cpu_of(process) - before) / seconds


def rate_of_load(port: int, process: int, folder: Path, fastest: float) -> float:
    """Return the rate at which the service's processor works for `LOAD` of the time.

    It is below `LOAD` of the highest throughput: a call that comes alone costs more than one of many in a row, because
    the processor has rested before it and each wakes the threads anew.
    """
    rate = 0.6 * LOAD * fastest
    for _ in range(3):
        rate *= LOAD / busy(port, process, folder, _STEP, rate)[1]
    return rate


def several_workers(
    serve: Callable[[int], AbstractContextManager[tuple[int, int, Path]]], turns: int, workers: int
) -> list[Row]:
    """Measure the recalls a second of several workers beside one, in turns, counted as accesses and not counted.

    Args:
        serve: Serves a store with some workers, and gives the port, the process and the store's folder.
        turns: How many.
        workers: How many are measured beside one.
    """
    found: dict[tuple[int, bool], list[Answered]] = {}
    with serve(1) as (one, _, folder), serve(workers) as (many, _, _):
        for _ in range(turns):
            for touch in (True, False):
                for count, port in ((1, one), (workers, many)):
                    found.setdefault((count, touch), []).append(ask(port, folder, _TURN, touch=touch))
    return [_beside_one(found[1, touch], found[workers, touch], workers, touch=touch) for touch in (True, False)]


def _beside_one(one: list[Answered], many: list[Answered], workers: int, *, touch: bool) -> Row:
    rates = [[len(found.delays) / found.seconds for found in turns] for turns in (one, many)]
    ratios = [more / less for less, more in zip(*rates, strict=True)]
    error = statistics.stdev(ratios) / len(ratios) ** 0.5
    per_second = " and ".join(f"{statistics.median(each):.0f}" for each in rates)
    clients = " and ".join(f"{statistics.median(t.processors for t in turns):.2f}" for turns in (one, many))
    note = (
        f"median of {len(ratios)} turns, standard error {error:.2f}; {per_second} /s; the clients took {clients} of "
        f"{os.cpu_count()} processors; {sum(t.failures for t in (*one, *many))} failed"
    )
    name = f"recalls of {workers} workers, of one's, {'counted' if touch else 'not counted'}"
    return Row(name, statistics.median(ratios), "x", None, at_least=True, note=note)


_STOLEN: Final = 7  # among the figures of Linux's /proc/stat


def _processor_ticks() -> list[int]:
    stat = Path("/proc/stat")
    return [int(n) for n in stat.read_text().split("\n", 1)[0].split()[1:9]] if stat.exists() else [0] * 8


async def _load(
    port: int, questions: list[str], seconds: float, rate: float, *, at_random: bool, touch: bool
) -> dict[str, object]:
    dues: list[float] = []
    delays: list[float] = []
    failures = 0
    start, used = time.perf_counter(), time.process_time()
    end = start + seconds

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
            failures += await exchange(reader, writer, request(port, picked.choice(questions), touch=touch)) != 200
            dues.append(began)
            delays.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(client(n) for n in range(CLIENTS)))
    took = time.perf_counter() - start
    processors = (time.process_time() - used) / took
    return {"due": dues, "delays": delays, "failures": failures, "seconds": took, "processors": processors}


def ideal_queue(servers: int, load: float = 0.7, calls: int = 100_000) -> float:
    """Return p99 / p50 of a queue that serves calls of one length in turn, asked at random: no service is below it."""
    picked, at, free, delays = random.Random(7), 0.0, [0.0] * servers, []
    for _ in range(calls):
        at += picked.expovariate(load * servers)
        first = heapq.heappop(free)
        heapq.heappush(free, max(at, first) + 1.0)
        delays.append(max(at, first) + 1.0 - at)
    return quantile(delays, 0.99) / quantile(delays, 0.5)


if __name__ == "__main__":
    _port, _seconds, _rate, _at_random, _touch, _file = sys.argv[1:]
    _asked = json.loads(Path(_file).read_text())
    _how = {"at_random": _at_random == "1", "touch": _touch == "1"}
    _story = _load(int(_port), _asked, float(_seconds), float(_rate), **_how)
    print(json.dumps(asyncio.run(_story)))
