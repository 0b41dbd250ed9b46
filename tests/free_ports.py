"""Ports for programs that a test starts and that cannot be handed a socket."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress

FIRST, LAST = 11_000, 32_000
"""Below the ports from which systems take those of outgoing connections: another test's connection takes none."""


def free_port():
    """Return a port that nothing on this machine listens on or is connected from."""
    for _ in range(100):
        port = FIRST + secrets.randbelow(LAST - FIRST)
        with socket.socket() as line, suppress(OSError):
            line.bind(("0.0.0.0", port))  # noqa: S104  # any address: the program may listen on another one
            return port
    raise RuntimeError("no port is free")
