"""The settings that the service starts with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from perdure.records.errors import InvalidInput
from perdure.rules.validation.values import checked_namespace
from perdure.user_folders import expand_user

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")  # how clients on this machine write its name in the Host header

_ROOT_PATH: Final = re.compile(r"(?:/[A-Za-z0-9._~-]+)+")


@dataclass(frozen=True, slots=True)
class Settings:
    """How the service behaves; all limits but the rate are of each process."""

    # Host headers that are accepted, as clients write them: with the port, unless it is that of the scheme
    hosts: frozenset[str]
    namespace: str = "default"  # of calls that name none
    tools: Literal["agent", "lifecycle", "full"] = "agent"  # the profile of MCP tools
    body_bytes: int = 8 << 20  # the longest body of a request
    body_seconds: float = 30.0  # how long a client may take to send a body
    call_seconds: float = 60.0  # how long a call may take before it is answered with 504
    threads: int = 8  # calls that run at once
    waiting: int = 64  # calls that may wait for a thread; more are refused
    caller_threads: int = 0  # calls of one caller that run at once; 0 for half of ``threads``
    rate: float = 0.0  # calls a second of one token; 0 for no limit
    traces: Literal["off", "spans", "content"] = "off"  # OpenTelemetry; with content also questions and memories
    root_path: str = ""  # below which a proxy offers the service, and which it takes away from what it passes on
    file: Path | None = None  # the store's file, for its size
    header_bytes: int = 16 << 10  # all header names and values of a request together
    memory_files: Mapping[str, Path] = field(default_factory=dict)  # namespace -> the MEMORY.md of its agent


def accepted_hosts(host: str, port: int, further: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the Host headers to accept: where the service listens, this machine's names, and further ones."""
    shown = f"[{host}]" if ":" in host else host
    return frozenset(name.lower() for name in (f"{shown}:{port}", *(f"{n}:{port}" for n in LOOPBACK), *further))


def checked_root_path(text: str) -> str:
    """Return a path below which a proxy offers the service, without a slash at its end."""
    path = text.rstrip("/")
    if path and not _ROOT_PATH.fullmatch(path):
        raise InvalidInput(f"{text[:100]!r} is not a path.", remedy="Write it like /memory.")
    return path


def memory_files(options: Sequence[str]) -> dict[str, Path]:
    """Return namespace -> file from texts of the form ``NAMESPACE=PATH``."""
    found: dict[str, Path] = {}
    for text in options:
        namespace, _, path = text.partition("=")
        if not path:
            raise InvalidInput(
                f"{text!r} does not name a namespace and its file.", remedy="Write for example default=MEMORY.md."
            )
        found[checked_namespace(namespace)] = expand_user(path)
    return found
