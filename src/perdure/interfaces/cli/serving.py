"""The command that runs the HTTP service."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from perdure.interfaces.cli.call import Call
from perdure.interfaces.cli.setup import Tools, extra_needed

Traces = Literal["off", "spans", "content"]


def serve(  # noqa: PLR0913, PLR0917  # the options of a command
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
    threads: Annotated[int, typer.Option("--threads", min=1, max=256, help="Calls that run at once.")] = 8,
    waiting: Annotated[
        int, typer.Option("--waiting", min=0, max=10_000, help="Calls that may wait; more are refused with 503.")
    ] = 64,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0.1, max=3600, help="How long a call may take.")
    ] = 60.0,
    rate: Annotated[
        float, typer.Option("--rate", metavar="NUMBER", min=0, help="Calls a second of one token; 0 for no limit.")
    ] = 0.0,
    traces: Annotated[
        Traces,
        typer.Option("--traces", help="OpenTelemetry spans of calls; with content also questions and memories."),
    ] = "off",
    log: Annotated[bool, typer.Option("--log", help="Write a line of JSON for each call, without content.")] = False,
    no_maintenance: Annotated[
        bool, typer.Option("--no-maintenance", help="Run no maintenance beside the service; Plans shows what is due.")
    ] = False,
) -> None:
    """Serve the store over HTTP: every command as a route, a description at /openapi.json. Needs the extra server."""
    with extra_needed("The service", "server"):
        from perdure.interfaces.http.serve import serve as run  # noqa: PLC0415  # an extra, and start-up time

        limits = {"threads": threads, "waiting": waiting, "call_seconds": timeout, "rate": rate, "traces": traces}
        named: dict[str, Any] = {"namespace": call.place, "tools": tools, **limits}
        beside: dict[str, Any] = {"log": log, "maintenance": not no_maintenance}
        run(call.prepared_store(), call.policy, host, port, allowed_hosts=allowed_host or (), **beside, **named)
