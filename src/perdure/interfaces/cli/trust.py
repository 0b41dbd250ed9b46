"""The command that lets a policy file of a working folder count in full."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.interfaces.cli.call import Call
from perdure.interfaces.views.blocks import Foreign, Line
from perdure.records.errors import InvalidInput, NotFound, PolicyError
from perdure.verbs.lazy import lazy_modules

if TYPE_CHECKING:
    from perdure import compose, compose_trust
else:
    compose, compose_trust = lazy_modules("perdure", "compose", "compose_trust")


def trust(
    call: Call,
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The policy file. Default: ./perdure.toml.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the trusted files.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Stop trusting the file.")] = False,
) -> None:
    """Let a policy file of a working folder set protected keys: endpoints, environment variables, files, safeguards.

    Read the file first. Trust covers its present content and the files that it names; a changed file is not trusted.
    """
    if listed and (file is not None or revoke):
        raise InvalidInput("--list cannot be combined with a file or --revoke.", remedy="Use one at a time.")
    if listed:
        _list(call)
    else:
        (_revoke if revoke else _add)(call, _path(file))


def _list(call: Call) -> None:
    records = [{"file": record.path, "state": _state(Path(record.path))} for record in compose_trust.trust_records()]
    lines = [Line((Foreign(record["file"]), f": {record['state']}")) for record in records]
    call.answer({"trusted": records}, *lines or [Line("No policy file is trusted.")])


def _path(file: str | None) -> Path:
    path = Path(file) if file is not None else compose.policy_file()
    if path is None or (file is None and path.is_absolute()):
        raise NotFound("There is no perdure.toml in this folder.", remedy="Pass a file: perdure trust FILE.")
    return path


def _add(call: Call, path: Path) -> None:
    compose.load_policy(path)  # a file with faults is refused here, with all of them
    found = compose.folder_policy(path)
    if found is None or not found.protected:
        data: dict[str, Any] = {"file": str(path.absolute()), "trusted": False, "keys": {}}
        _answer(call, data, "sets no protected key, so it needs no trust.")
        return
    compose_trust.add_trust(found.path, found.digest)
    data = {"file": str(found.path), "trusted": True, "keys": found.protected}
    _answer(call, data, "is now trusted, until it changes.")


def _revoke(call: Call, path: Path) -> None:
    removed = compose_trust.revoke_trust(path)
    end = "is no longer trusted." if removed else "was not trusted."
    _answer(call, {"file": str(path.absolute()), "trusted": False, "revoked": removed > 0}, end)


def _state(path: Path) -> str:
    """Return whether a file is as it was when it was trusted."""
    try:
        found = compose.folder_policy(path)
    except PolicyError:
        return "missing or unreadable"
    return "trusted" if found is not None and found.trusted else "changed since it was trusted; not trusted"


def _answer(call: Call, data: dict[str, Any], end: str) -> None:
    keys = data.get("keys", {}).items()
    items = [(f"{key} = ", Foreign(json.dumps(value, ensure_ascii=False))) for key, value in keys]
    call.answer(data, Line((Foreign(data["file"]), f" {end}")), *(Line(item, item=True) for item in items))
