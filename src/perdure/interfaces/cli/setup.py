"""Commands about Perdure itself: its policy and its trust, its MCP server, its plugin, its demonstration."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from perdure.interfaces.cli.call import Call, print_json, short_warnings
from perdure.interfaces.files.project import name_of_folder, project_folder, project_namespace
from perdure.interfaces.files.project_records import ProjectRecord, write_project_record
from perdure.interfaces.plugin.installation import Scope
from perdure.interfaces.views.blocks import Line, PlainText, Untrusted
from perdure.records.errors import InvalidInput, NotFound, PerdureError, PolicyError
from perdure.records.installation import how_to_install
from perdure.rules.validation.values import checked_namespace
from perdure.verbs.declaration import lazy_modules

if TYPE_CHECKING:
    from perdure import compose, compose_trust
else:
    compose, compose_trust = lazy_modules("perdure", "compose", "compose_trust")

Client = Literal["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini", "windsurf", "zed"]
Transport = Literal["stdio", "http"]
Tools = Literal["agent", "lifecycle", "full"]


class MissingExtra(PerdureError):  # noqa: N818  # reads as the statement it makes
    """A part of Perdure that this installation leaves out was asked for."""

    fault = "machine"


def policy_show(call: Call) -> None:
    """Print every key of the policy in force as TOML, with its meaning, default and bounds."""
    from perdure.interfaces.files.policy_text import policy_data, render_toml  # noqa: PLC0415  # start-up time

    path = Path(call.policy) if call.policy is not None else compose.policy_file()
    with short_warnings():
        policy = compose.load_policy(call.policy)
    call.answer(
        {"file": None if path is None else str(path), "version": policy.version, **policy_data(policy)},
        PlainText(render_toml(policy, path)),
    )


def policy_check(
    call: Call,
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The policy to check. Default: the one in force.")
    ] = None,
) -> None:
    """Check a policy and report all its faults at once."""
    source = file if file is not None else call.policy
    path = Path(source) if source is not None else compose.policy_file()
    policy = compose.load_policy(path)
    if source is None:
        with short_warnings():
            compose.load_policy()  # prints what of the folder's file does not count
    data = {"file": None if path is None else str(path), "preset": policy.preset, "version": policy.version}
    checked = "The defaults" if path is None else Untrusted(str(path))
    call.answer(
        {**data, "sound": True}, Line((checked, f": valid (preset {policy.preset}, version {policy.version})."))
    )


def mcp(
    call: Call,
    transport: Annotated[Transport, typer.Option("--transport", help="The transport.")] = "stdio",
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="For http: the address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="For http: the port.")] = 8765,
    profile: Annotated[
        Tools, typer.Option("--profile", help="agent: ten tools; lifecycle: also maintenance; full: all.")
    ] = "agent",
    allowed_host: Annotated[
        list[str] | None,
        typer.Option("--allowed-host", metavar="NAME", help="For http: another Host header to accept."),
    ] = None,
) -> None:
    """Run the MCP server over the store. Clients start it themselves; see 'perdure mcp-config'."""
    with extra_needed("The MCP server", "mcp"):
        from perdure.interfaces.mcp.run import run  # noqa: PLC0415  # an extra, and start-up time

        common: dict[str, Any] = {"store": call.prepared_store(), "policy": call.policy, "namespace": call.namespace}
        http: dict[str, Any] = {"host": host, "port": port, "allowed_hosts": allowed_host or ()}
        run(**common, transport=transport, profile=profile, seconds=call.timeout, **http)


@contextmanager
def extra_needed(part: str, extra: str) -> Iterator[None]:
    """Say how to install a part of Perdure where its libraries are missing."""
    try:
        with short_warnings():
            yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "perdure":
            raise
        raise MissingExtra(
            f"{part} is not installed (the module {error.name} is missing).",
            remedy=how_to_install(extra),
        ) from error


def mcp_config(
    call: Call, client: Annotated[Client, typer.Option("--client", "-c", help="The program to configure.")]
) -> None:
    """Print what to paste into a client's configuration so that it starts the MCP server over this store.

    It names a launcher that this command writes into your data folder, so that it still starts after the
    environment has moved.
    """
    from perdure.interfaces.mcp.config import config_snippet  # noqa: PLC0415  # start-up time

    store = call.store
    if not compose.is_server(store):
        compose.file_of(store)
    if "://" not in store and store != ":memory:":
        store = str(Path(call.prepared_store()).absolute())
    path = compose.policy_file() if call.policy is None else Path(call.policy)  # the client starts it in another folder
    if call.policy is None and path is not None and not path.is_absolute():
        print(f"Note: {path} in this folder is not included; pass it with --policy to include it.", file=sys.stderr)
        path = None
    text = config_snippet(client, store, None if path is None else str(path), call.namespace)
    call.answer({"client": client, "store": store, "snippet": text}, PlainText(text))


def demo(
    call: Call,
    out_folder: Annotated[
        str, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the store, MEMORY.md and the plots.")
    ] = "demo-output",
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", metavar="NAME", help="The embedder: local or none. Default: the policy's."),
    ] = None,
) -> None:
    """Simulate five months of a conversation in seconds: what is kept, what fades and why, and an undo.

    --store postgres runs it on a temporary PostgreSQL server (extra postgres-local).
    """
    from rich.console import Console  # noqa: PLC0415  # start-up time

    from perdure.interfaces.demo import run  # noqa: PLC0415  # start-up time

    with short_warnings():
        console = Console(stderr=call.as_json, highlight=False)
        page = run(Path(out_folder), store=_demo_store(call), embedder=embedder, console=console)
    if call.as_json:
        print_json({"folder": out_folder, "page": str(page)})


def _demo_store(call: Call) -> str | None:
    """A server if one was asked for; files of the demonstration lie in its own folder, never in the user's store."""
    store = call.given_store
    return store if store is not None and (store == "postgres" or compose.is_server(store)) else None


def plugin_path(call: Call) -> None:
    """Print the folder of the plugin, for 'claude --plugin-dir'."""
    from perdure.interfaces.plugin.installation import PLUGIN  # noqa: PLC0415  # start-up time

    call.answer({"path": str(PLUGIN)}, Line((Untrusted(str(PLUGIN)),)))


def plugin_install(
    call: Call,
    scope: Annotated[
        Scope, typer.Option("--scope", help=f"For whom Claude Code enables it: {', '.join(get_args(Scope))}.")
    ] = "user",
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="FOLDER", help="Where to put the plugin. Default: in the user's data folder."),
    ] = None,
) -> None:
    """Install the plugin into Claude Code: memory at the start of a session and beside prompts, and ten tools.

    Run it again after an upgrade, or after the environment of Perdure has moved.
    """
    from perdure.interfaces.plugin.installation import data_folder, install  # noqa: PLC0415  # start-up time

    installation = install((folder or data_folder() / "claude-plugin").absolute(), scope)
    commands = [shlex.join(command) for command in installation.commands]
    data = {"folder": str(installation.folder), "installed": installation.done, "commands": commands}
    folder_text = Untrusted(str(installation.folder))
    if installation.done:
        call.answer(data, Line(("The plugin is installed from ", folder_text, ". Restart Claude Code to use it.")))
    else:
        steps = [Line((Untrusted(command),), item=True) for command in commands]
        call.answer(data, Line("The command claude was not found. Where Claude Code is installed, run:"), *steps)


def trust(
    call: Call,
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The policy file. Default: ./perdure.toml.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the trusted files.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Stop trusting the file.")] = False,
) -> None:
    """Trust a working folder's policy file, so that all of its keys apply.

    Read the file first: it decides what is hidden, and names endpoints and files. Trust covers its present content and
    the files that it names; a changed file is not trusted.
    """
    if listed and (file is not None or revoke):
        raise InvalidInput("--list cannot be combined with a file or --revoke.", remedy="Use one at a time.")
    if listed:
        _list_trusted(call)
    else:
        (_revoke_trust if revoke else _add_trust)(call, _policy_path(file))


def project(
    call: Call,
    name: Annotated[
        str | None, typer.Argument(metavar="NAMESPACE", help="What this folder is to stand for. Default: only show it.")
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Let it stand for its own name again.")] = False,
) -> None:
    """Show or choose the namespace that this project's folder stands for: for '-n .', the plugin and its hooks.

    Choose one after a folder was renamed, to go on with its memories, or where two folders of one name are to be
    kept apart. No memory is changed or moved.
    """
    if reset and name is not None:
        raise InvalidInput("--reset cannot be combined with a namespace.", remedy="Use one of them.")
    folder = project_folder(None)
    if name is not None or reset:
        place = name_of_folder(folder) if name is None else checked_namespace(name)
        write_project_record(ProjectRecord(str(folder), place, chosen=name is not None))
    _show_project(call, folder, is_new=name is not None or reset)


def _show_project(call: Call, folder: Path, *, is_new: bool) -> None:
    place = project_namespace(None)
    data = {"folder": str(folder), "namespace": place, "chosen": place != name_of_folder(folder)}
    end = " Running servers and sessions take it up when they restart." if is_new else ""
    call.answer(data, Line((Untrusted(str(folder)), " stands for the namespace ", Untrusted(place), f".{end}")))


def _list_trusted(call: Call) -> None:
    records = [{"file": record.path, "state": _state_of(Path(record.path))} for record in compose_trust.trust_records()]
    lines = [Line((Untrusted(record["file"]), f": {record['state']}")) for record in records]
    call.answer({"trusted": records}, *lines or [Line("No policy file is trusted.")])


def _policy_path(file: str | None) -> Path:
    path = Path(file) if file is not None else compose.policy_file()
    if path is None or (file is None and path.is_absolute()):
        raise NotFound("There is no perdure.toml in this folder.", remedy="Pass a file: perdure trust FILE.")
    return path


def _add_trust(call: Call, path: Path) -> None:
    compose.load_policy(path)  # a file with faults is refused here, with all of them
    policy = compose.folder_policy(path)
    if policy is None or not policy.needing_trust:
        data: dict[str, Any] = {"file": str(path.absolute()), "trusted": False, "keys": {}}
        _show_trust(call, data, "sets harmless keys only, so it needs no trust.")
        return
    compose_trust.add_trust(policy.path, policy.digest)
    data = {"file": str(policy.path), "trusted": True, "keys": policy.needing_trust}
    _show_trust(call, data, "is now trusted, until it changes.")


def _revoke_trust(call: Call, path: Path) -> None:
    removed = compose_trust.revoke_trust(path)
    end = "is no longer trusted." if removed else "was not trusted."
    _show_trust(call, {"file": str(path.absolute()), "trusted": False, "revoked": removed > 0}, end)


def _state_of(path: Path) -> str:
    """Return whether a file is as it was when it was trusted."""
    try:
        policy = compose.folder_policy(path)
    except PolicyError:
        return "missing or unreadable"
    return "trusted" if policy is not None and policy.trusted else "changed since it was trusted; not trusted"


def _show_trust(call: Call, data: dict[str, Any], end: str) -> None:
    keys = data.get("keys", {}).items()
    items = [(f"{key} = ", Untrusted(json.dumps(value, ensure_ascii=False))) for key, value in keys]
    call.answer(data, Line((Untrusted(data["file"]), f" {end}")), *(Line(item, item=True) for item in items))
