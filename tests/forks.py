"""Children of a process that has loaded Perdure already: each is there at once, and is killed alone.

Starting Python and loading Perdure costs more than what most children do before they are killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress

from conftest import finished
from starts import forked_python

FORKING = """
import gc, json, os, sys
import perdure.compose, perdure.stores.sqlite.store

exec(sys.argv[2])
gc.collect()
gc.freeze()
life = compile(sys.argv[1], "child", "exec")
for order in iter(sys.stdin.readline, ""):
    if not order.startswith("["):  # a child was killed before it could read it
        continue
    child = os.fork()
    if not child:
        sys.argv[1:] = json.loads(order)
        os.write(1, f"born {os.getpid()}\\n".encode())
        exec(life, {"__name__": "__main__"})
        sys.exit(0)
    status = os.waitpid(child, 0)[1]
    os.write(1, f"ended {os.waitstatus_to_exitcode(status)}\\n".encode())
"""
"""The mother opens no store: what a child has open is its own."""


class Mother:
    """A process that has children, one after the other; they run the same code, and its input and output are theirs.

    ``load`` is code that it runs before, so that they find loaded what they need. At the end of a block the last child
    comes to its own end, because there is no more input; where the block failed, both are killed.
    """

    def __init__(self, code, load=""):
        self.process = forked_python(FORKING, code, load, stdin=subprocess.PIPE)
        self.child = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            finished(self.process)
            return
        if self.child is not None:
            with suppress(ProcessLookupError):
                os.kill(self.child, signal.SIGKILL)
        self.process.kill()
        self.process.communicate()

    def bear(self, *arguments):
        """Start a child."""
        self.tell(json.dumps([str(a) for a in arguments]))
        self.child = int(self.hear("born "))

    def tell(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def hear(self, start):
        """The rest of the next line; it must begin as told."""
        line = self.process.stdout.readline()
        assert line.endswith("\n") and line.startswith(start), line  # noqa: PT018
        return line.removeprefix(start).removesuffix("\n")

    def kill(self):
        """Kill the child with -9 and return the lines that nobody has heard yet; it must not have ended by itself."""
        os.kill(self.child, signal.SIGKILL)
        lines = []
        while not (line := self.hear("")).startswith("ended "):
            lines.append(line)
        assert line == f"ended {-signal.SIGKILL}"
        self.child = None
        return lines
