"""What the service is told when it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
"""How clients on this machine write its name in the Host header."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the service behaves; all limits are per process."""

    # Host headers that are accepted, as clients write them: with the port, unless it is that of the scheme
    hosts: frozenset[str]
    namespace: str = "default"  # of calls that name none
    tools: Literal["agent", "lifecycle", "full"] = "agent"  # the profile of MCP tools
    body_bytes: int = 8 << 20  # the longest body of a request
    header_bytes: int = 16 << 10  # all header names and values of a request together


def accepted_hosts(host: str, port: int, further: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the Host headers to accept: where the service listens, this machine's names, and further ones."""
    shown = f"[{host}]" if ":" in host else host
    return frozenset(name.lower() for name in (f"{shown}:{port}", *(f"{n}:{port}" for n in LOOPBACK), *further))
