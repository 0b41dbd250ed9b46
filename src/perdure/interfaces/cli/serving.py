"""The command that runs the HTTP service."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from perdure.interfaces.cli.call import Call
from perdure.interfaces.cli.setup import Tools, extra_needed


def serve(
    call: Call,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 for a free one.")] = 8766,
    tools: Annotated[
        Tools,
        typer.Option("--tools", help="The MCP tools at /mcp; as for mcp --profile."),
    ] = "agent",
    allowed_host: Annotated[
        list[str] | None,
        typer.Option("--allowed-host", metavar="NAME", help="Another Host header to accept, for example of a proxy."),
    ] = None,
) -> None:
    """Serve the store over HTTP: every command as a route, a description at /openapi.json. Needs the extra server."""
    with extra_needed("The service", "server"):
        from perdure.interfaces.http.serve import serve as run  # noqa: PLC0415  # an extra, and start-up time

        place: dict[str, Any] = {"namespace": call.place, "tools": tools}
        run(call.prepared_store(), call.policy, host, port, **place, allowed_hosts=tuple(allowed_host or ()))
