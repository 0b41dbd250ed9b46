"""Start ``python -m perdure …`` and code of tests by forking a process that has loaded what they need.

Loading takes most of a command's time.

The child is a child of the test's own process, so that it is waited for, signalled and killed like any other. It gets
the arguments, environment, working folder and standard streams that it was started with. Linux only; elsewhere Python
starts anew each time.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest import mock

from conftest import ENV, python

TESTS = str(Path(__file__).parent)
MOST = 1 << 18
_one_at_a_time = threading.Lock()  # tests start children from several threads
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: whose parent has ended becomes a child of this process

MOTHER = """
import atexit, gc, io, json, os, runpy, socket, sys, threading, warnings
from functools import cache
import csv, email.utils, importlib.metadata, pydantic.main, pydantic.type_adapter, rich.table, typer.rich_utils
import perdure.compose, perdure.stores.sqlite.store, perdure.knowledge.extension
import perdure.operations.hooks, perdure.operations.ingest
import perdure.interfaces.entry, perdure.interfaces.cli.app, perdure.interfaces.hooks.agent_hooks
import perdure.interfaces.mcp.run, perdure.interfaces.mcp.server, perdure.interfaces.mcp.tools
import perdure.interfaces.views.memory, perdure.interfaces.views.terminal
import perdure.interfaces.http.serve, perdure.interfaces.http.supervisor, uvicorn
import asyncio, logging, pathlib, signal, subprocess, traceback
from perdure.models import inference

inference.open_session = cache(inference.open_session)
for weights in (inference.embedder_weights(), inference.supersession_weights()):
    inference.open_session(weights)  # it starts no thread, so that it is there in each child
sys.path.append(sys.argv[2])
import conftest
gc.collect()
gc.freeze()  # a child's collector would go through all that, and have each page copied

def become(order, streams):
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 64)
    os.environ.clear()
    os.environ.update(order["env"])
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None  # TMPDIR is looked at when it is asked for first
    os.chdir(order["cwd"])
    if order["session"]:
        os.setsid()
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "utf-8").partition(":")
    how = {"encoding": encoding or "utf-8", "errors": errors or "strict"}
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(open(0, "rb", closefd=False), **how)
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(open(1, "wb", closefd=False), **how)
    how["errors"] = "backslashreplace"
    sys.stderr = sys.__stderr__ = io.TextIOWrapper(open(2, "wb", closefd=False), line_buffering=True, **how)
    warnings._processoptions(os.environ["PYTHONWARNINGS"].split(",") if "PYTHONWARNINGS" in os.environ else [])
    sys.argv[:] = order["argv"]

orders = socket.socket(fileno=int(sys.argv[1]))
while True:
    told, streams, *_ = socket.recv_fds(orders, 1 << 18, 3)
    if not told:
        sys.exit(0)
    between = os.fork()
    if not between:
        child = os.fork()
        if not child:
            break
        orders.send(b"%d" % child)
        os._exit(0)
    os.waitpid(between, 0)
    orders.send(b"born")
    for stream in streams:
        os.close(stream)

def run(module, code=""):
    status = 0
    try:
        if module == "-c":
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        else:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        status = end.code or 0
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(status)  # as Python says it
    os._exit(status)

WORKER = [sys.executable, "-P", "-m", "perdure.interfaces.http.worker"]
start = subprocess.Popen._execute_child

def fork_worker(process, args, executable, preexec_fn, close_fds, pass_fds, *rest):
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if list(args[:4]) != WORKER or any((pathlib.Path(one) / "sitecustomize.py").exists() for one in paths):
        return start(process, args, executable, preexec_fn, close_fds, pass_fds, *rest)
    process.pid = os.fork()
    process._child_created = True
    if process.pid:
        return process._close_pipe_fds(*rest[5:11])
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kept = [2, *sorted(pass_fds), 256]
    for before, after in zip(kept, kept[1:]):
        os.closerange(before + 1, after)
    for logger in [logging.root, *logging.root.manager.loggerDict.values()]:
        getattr(logger, "handlers", []).clear()
    asyncio.set_event_loop(None)
    asyncio._set_running_loop(None)
    atexit._clear()
    sys.argv[:] = args[3:]
    try:
        run(args[3])
    except SystemExit as end:
        print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    os._exit(1)  # never on into what the service was doing

subprocess.Popen._execute_child = fork_worker
order = json.loads(told)
orders.close()
become(order, streams)
run(order["module"], order.get("code"))
"""
"""A child ends as Python does, but takes nothing apart that was loaded: that costs more than most commands.

The workers of a service are forked from it in the same way: it opens no store, and has loaded what they need. Where
Python is told to run something when it starts (sitecustomize), it starts.
"""


class Mother:
    """A process that has loaded Perdure, and ``conftest`` for code of tests, and becomes what is started."""

    def __init__(self):
        self.orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.orders, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST)
        number = str(theirs.fileno())
        environment = {k: v for k, v in ENV.items() if k != "PYTHONWARNINGS"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", MOTHER, number, TESTS], env=environment, pass_fds=[theirs.fileno()]
        )
        theirs.close()

    def bear(self, order, streams):
        """Start a child and return its number."""
        prctl = ctypes.CDLL(None).prctl
        prctl(_SUBREAPER, 1, 0, 0, 0)
        try:
            socket.send_fds(self.orders, [json.dumps(order).encode()], streams)
            child = int(self.orders.recv(100))
            assert self.orders.recv(100) == b"born"
        finally:
            prctl(_SUBREAPER, 0, 0, 0, 0)
        return child

    def close(self):
        self.orders.close()
        self.process.wait(20)


@cache
def mother():
    """The one of this process; it ends with it."""
    made = Mother()
    atexit.register(made.close)
    return made


def _is_ours(args, preexec_fn, pass_fds, shell):
    line = list(args) if not isinstance(args, str | bytes | os.PathLike) else []
    ours = line[:2] == [sys.executable, "-m"] and str(line[2:3]).startswith("['perdure")
    return ours and all(isinstance(word, str) for word in line) and not (preexec_fn or pass_fds or shell)


def _fork(process, rest, order):
    """Start what an order names for a Popen that was called with the rest of the arguments of its own start."""
    _, _, _, cwd, env, _, _, _, *pipes = rest
    streams, session = (pipes[0], pipes[3], pipes[5]), pipes[11]
    order |= {"cwd": str(cwd or Path.cwd())}
    order |= {"env": dict(os.environ if env is None else env), "session": bool(session)}
    given = [stream if stream >= 0 else number for number, stream in enumerate(streams)]
    process.pid = mother().bear(order, given)
    process._child_created = True
    process._close_pipe_fds(*pipes[:6])


@contextmanager
def forked():
    """Fork the commands that a test starts instead of loading Perdure for each."""
    start = subprocess.Popen._execute_child

    def execute(self, args, executable, *rest):
        preexec_fn, _, pass_fds, _, _, _, _, shell, *_ = rest
        if not _is_ours(args, preexec_fn, pass_fds, shell):
            start(self, args, executable, *rest)
            return
        words = list(args)
        _fork(self, rest, {"module": words[2], "argv": [words[2], *words[3:]]})

    with mock.patch.object(subprocess.Popen, "_execute_child", execute):
        yield


def forked_python(code, *arguments, **options):
    """Start a child that runs some code, as ``conftest.python`` does, where Perdure and ``conftest`` are loaded."""
    if sys.platform != "linux":
        return python(code, *arguments, **options)
    mother()  # it is started as any other process

    def execute(self, args, executable, *rest):
        words = list(args)[1:]
        _fork(self, rest, {"module": "-c", "code": words[1], "argv": ["-c", *words[2:]]})

    with _one_at_a_time, mock.patch.object(subprocess.Popen, "_execute_child", execute):
        return python(code, *arguments, **options)
