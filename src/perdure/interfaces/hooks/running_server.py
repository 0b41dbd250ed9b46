"""Asking a running server of the same store to answer a hook, over a socket beside the store's file.

A hook that works alone loads numpy, SQLite and a hundred modules of ours, which takes most of its time; a server has
them. This module loads next to nothing. Where anything is not as it should be, it gives no answer, and the hook works
alone: no server, another policy, a policy file in the working folder, a server that does not take the call at once.

What is sent to a socket goes only to a process of the same user: the socket's owner and mode and the
peer are looked at. A cloned repository cannot bring a socket, and its policy file is never left to a server.
"""

# ruff: noqa: PTH103, PTH109, PTH111, PTH116, PTH117, PTH118, PTH120
# pathlib would take as long to load as all of this.

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import sys
from collections.abc import Mapping, Sequence

ANSWERED = ("SessionStart", "UserPromptSubmit", "TaskCompleted", "SessionEnd")
"""Events that a server answers: those that the agent waits for. The others make vectors."""
TAKEN = b"\n"  # what a server sends once it has taken a call; what it prints and reports follows
LONGEST_INPUT = 16 * 1024 * 1024  # characters of a hook's input; a prompt may hold a pasted file

_TAKE_SECONDS = 0.3
_ANSWER_SECONDS = {"SessionStart": 5.0, "UserPromptSubmit": 3.0}
_OTHER_SECONDS = 30.0
_FOLDER_VARIABLES = ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS")
_CALL_VARIABLES = ("PERDURE_STORE", "PERDURE_NAMESPACE")


def socket_of(store: str) -> str:
    """Return the socket that belongs to a store's file."""
    return f"{os.path.realpath(store)}.hooks"


def policy_environment() -> dict[str, str]:
    """Return the variables that decide which policy applies: a server answers only where its own are the same."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _FOLDER_VARIABLES or (name.startswith("PERDURE_") and name not in _CALL_VARIABLES)
    }


def policy_is_the_users(policy: str | None) -> bool:
    """Return whether the policy is the same wherever a process works: no file of the working folder decides."""
    path = policy or os.environ.get("PERDURE_POLICY")
    rlm_config = os.environ.get("PERDURE_RLM_CONFIG")
    if rlm_config and not os.path.isabs(rlm_config):
        return False
    return os.path.isabs(path) if path else not os.path.lexists("perdure.toml")


def store_identity(store: str) -> list[int]:
    """Return what identifies a store's file; raises OSError where there is none."""
    status = os.stat(store)
    return [status.st_dev, status.st_ino]


def default_store() -> str:
    """Return the store where none is named: ``PERDURE_STORE``, else a file in the user's data folder."""
    if store := os.environ.get("PERDURE_STORE"):
        return store
    from perdure import user_folders  # noqa: PLC0415  # only where it is used

    return os.path.join(user_folders.data_folder(), "memory.db")


def _socket_path(store: str | None) -> str | None:
    """Return where a server of a store listens; None of the user's own store where the user has no home folder."""
    if store or os.environ.get("PERDURE_STORE"):
        return socket_of(os.path.expanduser(store or default_store()))
    from perdure.records.errors import StoreError  # noqa: PLC0415  # only where it is used

    try:
        return socket_of(default_store())
    except StoreError:
        return None


def made_default_store() -> str:
    """Return the same, with its folder made where it is the user's data folder."""
    store = default_store()
    if not os.environ.get("PERDURE_STORE"):
        os.makedirs(os.path.dirname(store), exist_ok=True)
    return store


def is_ours(peer: socket.socket) -> bool:
    """Return whether the process at the other end is the same user's, as far as the system shows."""
    if not hasattr(socket, "SO_PEERCRED"):  # elsewhere the socket's owner and mode have to do
        return True
    _, user, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return bool(user == os.getuid())


def answer_by_server(words: Sequence[str]) -> tuple[bool, str | None]:
    """Have a server answer a hook and print it; return whether it has, and the input as far as it was read already."""
    options = _options(words)
    if options is None or not hasattr(socket, "AF_UNIX"):
        return False, None
    event, store, policy, namespace = options
    try:
        path = _socket_path(store)
        if path is None or not _is_private(path) or not policy_is_the_users(policy):
            return False, None
        call = {
            "event": event,
            "store": store_identity(path.removesuffix(".hooks")),
            "policy": policy,
            "namespace": namespace,
            "folder": os.getcwd(),
            "project": os.environ.get("CLAUDE_PROJECT_DIR"),
            "environment": policy_environment(),
        }
    except (OSError, ValueError):
        return False, None
    text = sys.stdin.buffer.read(LONGEST_INPUT * 4).decode("utf-8", "replace")
    reply = _ask(path, {**call, "text": text})
    if reply is None:
        return False, text
    for line in reply["reports"]:
        print(line, file=sys.stderr)
    if reply["answer"]:
        print(reply["answer"])
    return True, text


def _options(words: Sequence[str]) -> tuple[str, str | None, str | None, str | None] | None:
    """Return event, store, policy and namespace; None where a word is not of the plainest form."""
    if not words or words[0] not in ANSWERED:
        return None
    options: dict[str, str] = {}
    names = {"--store": "store", "--policy": "policy", "--namespace": "namespace", "-n": "namespace"}
    rest = iter(words[1:])
    for word in rest:
        name, equals, value = word.partition("=")
        if name not in names or (equals and name == "-n"):
            return None
        last = value if equals else next(rest, "")
        if not last or "://" in last or (not equals and last.startswith("-")):
            return None
        options[names[name]] = last
    return words[0], options.get("store"), options.get("policy"), options.get("namespace")


def _is_private(path: str) -> bool:
    """Return whether there is a socket that nobody but this user can have made or can reach."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def _ask(path: str, call: Mapping[str, object]) -> dict[str, list[str] | str] | None:
    """Return what the server says; None where it does not take the call at once or does not end it in time.

    A call that was given up may still be done by the server, and is then done twice, as when an agent repeats a hook.
    """
    try:
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(_TAKE_SECONDS)
            peer.connect(path)
            if not is_ours(peer):
                return None
            peer.sendall(json.dumps(call).encode())
            peer.shutdown(socket.SHUT_WR)
            if peer.recv(1) != TAKEN:
                return None
            peer.settimeout(_ANSWER_SECONDS.get(str(call["event"]), _OTHER_SECONDS))
            reply = json.loads(b"".join(iter(lambda: peer.recv(1 << 16), b"")))
    except (OSError, ValueError):
        return None
    return reply if isinstance(reply, dict) and reply.keys() == {"answer", "reports"} else None
