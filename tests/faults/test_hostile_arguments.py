"""Arguments that are endless, huge or deep: each verb refuses them or does its work, in bounded memory and time."""

from __future__ import annotations

import sys

import pytest

from conftest import budget, finished
from starts import forked_python

EVERY = budget(3, 1)
"""Each parameter gets each so manieth of the arguments, and over all parameters each argument is given."""

CHILD = """
import itertools, resource, signal, sys, warnings
import perdure
from perdure.records.errors import PerdureError
from perdure.verbs.declaration import VERBS

warnings.simplefilter("ignore")
megabytes, verbs, every = int(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3])
turn = itertools.count()


def deep(make):
    found = make(None)
    for _ in range(5_000):
        found = make(found)
    return found


HOSTILE = {
    "a long range": range(10**9),
    "an endless iterator": itertools.count(),
    "endless texts": itertools.repeat("x"),
    "endless objects": itertools.repeat({"content": "x"}),
    "a deep list": deep(lambda inside: [inside]),
    "a deep object": deep(lambda inside: {"a": inside}),
    "a wide object": dict.fromkeys(map(str, range(100_000)), "x"),
    "a long text": "x " * 5_000_000,
    "a long list": ["x"] * 500_000,
    "a huge number": 10**5000,
    "bytes": b"x" * 5_000_000,
}
GIVEN = {"text": "x", "integer": 1, "number": 0.5, "flag": True, "object": {"a": 1}, "texts": ["x"]}
GIVEN["objects"] = [{"content": "x"}]



def late(*_):
    raise TimeoutError("takes more than 20 s of CPU")


signal.signal(signal.SIGPROF, late)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20, resource.RLIM_INFINITY))
with perdure.open(":memory:", {"embedder": {"model": "none"}}) as memory:
    for name in verbs:
        verb = VERBS[name]
        for parameter in (p.name for p in verb.parameters):
            for what, value in HOSTILE.items():
                if next(turn) % every:
                    continue
                given = {p.name: (p.choices or [GIVEN.get(p.kind, "x")])[0] for p in verb.parameters if p.required}
                if name == "remember_many":  # its items are a stream, which it stores as it reads
                    given["items"] = []
                signal.setitimer(signal.ITIMER_PROF, 20)
                try:
                    getattr(memory, verb.method.__name__)(**given | {parameter: value})
                except PerdureError as error:
                    if len(str(error)) > 20_000:
                        print(f"{name}({parameter}={what}): a message of {len(str(error)):,} characters")
                except BaseException as error:
                    print(f"{name}({parameter}={what}): {error!r:.200}")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the memory of a process as Linux does")
def test_no_argument_takes_unbounded_memory_or_time():
    from perdure.verbs.declaration import VERBS  # declared by perdure.memory

    assert finished(forked_python(CHILD, 700, ",".join(VERBS), EVERY), seconds=300) == ""
