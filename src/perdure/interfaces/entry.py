"""The command `perdure`: starting the MCP server, or a hook, must not wait for the command line to load."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Final

SERVER_OPTIONS: Final = frozenset(
    {"--store", "--policy", "--namespace", "--profile", "--transport", "--host", "--port", "--allowed-host"}
)
"""Options that the server's own small parser knows; with any other the command line decides."""
HOOK_OPTIONS: Final = frozenset({"--store", "--policy", "--namespace", "-n", "--meaning"})  # the same for hooks
SERVICE_OPTIONS: Final = frozenset(
    (
        "--store",
        "--policy",
        "--namespace",
        "--host",
        "--port",
        "--tools",
        "--allowed-host",
        "--proxy",
        "--memory-file",
        "--log",
        "--no-maintenance",
        "--caller-threads",
        "--root-path",
        "--workers",
        "--threads",
        "--waiting",
        "--timeout",
        "--rate",
        "--traces",
    )
)
"""The same for the service."""


def main() -> None:
    """Run a command; `mcp` and `hook` with plain options go straight to their own, 0.2 s sooner."""
    words = sys.argv[1:]
    if words == ["--version"]:
        _print_version()
        return
    options = {word.partition("=")[0] for word in words[1:] if word.startswith("-")}
    if words[:1] == ["mcp"] and options <= SERVER_OPTIONS and _serve(words[1:]):
        return
    if words[:1] == ["serve"] and options <= SERVICE_OPTIONS and _has("uvicorn", "starlette"):
        _answer_http(words[1:])
        return
    if words[:1] == ["hook"] and len(words) > 1 and options <= HOOK_OPTIONS:
        _answer_hook(words[1:])
        return
    from perdure.interfaces.cli.app import main as command_line  # noqa: PLC0415  # as above

    command_line()


def _answer_hook(words: list[str]) -> None:
    from perdure.interfaces.hooks import running_server  # noqa: PLC0415  # only one of them is loaded

    is_answered, text = running_server.answer_by_server(words)
    if not is_answered:
        from perdure.interfaces.hooks.agent_hooks import main as answer  # noqa: PLC0415  # numpy and SQLite load here

        answer(words, text)


def _answer_http(words: list[str]) -> None:
    from perdure.interfaces.http.command import main as answer_http  # noqa: PLC0415  # only one of them is loaded

    answer_http(words)


def _print_version() -> None:
    from perdure import __version__  # noqa: PLC0415  # as above

    print(f"perdure {__version__}")


def _has(*modules: str) -> bool:
    return all(find_spec(module) is not None for module in modules)


def _serve(words: list[str]) -> bool:
    """Run the MCP server; return False where it is not installed, which the command line explains."""
    try:
        from perdure.interfaces.mcp.run import main as serve  # noqa: PLC0415  # only one of them is loaded

        serve(words)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "perdure":
            raise
        return False
    return True
