"""The command that lets a policy file of a working folder count in full."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.interfaces.cli.call import Call
from perdure.records.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from perdure.interfaces.views.blocks import Line


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
    if listed:
        if file is not None or revoke:
            raise InvalidInput("--list cannot be combined with a file or --revoke.", remedy="Use one at a time.")
        _list(call)
    elif revoke:
        _revoke(call, _path(file))
    else:
        _add(call, _path(file))


def _path(file: str | None) -> Path:
    from perdure.compose import policy_file  # noqa: PLC0415  # start-up time

    path = Path(file) if file is not None else policy_file()
    if path is None or (file is None and path.is_absolute()):
        raise NotFound("There is no perdure.toml in this folder.", remedy="Pass a file: perdure trust FILE.")
    return path


def _add(call: Call, path: Path) -> None:
    from perdure.compose import folder_policy, load_policy  # noqa: PLC0415  # start-up time
    from perdure.compose_trust import add_trust  # noqa: PLC0415  # start-up time

    load_policy(path)  # a file with faults is refused here, with all of them
    found = folder_policy(path)
    if found is None or not found.protected:
        data: dict[str, Any] = {"file": str(path.absolute()), "trusted": False, "keys": {}}
        _answer(call, data, "sets no protected key, so it needs no trust.")
        return
    add_trust(found.path, found.digest)
    _answer(
        call, {"file": str(found.path), "trusted": True, "keys": found.protected}, "is now trusted, until it changes."
    )


def _revoke(call: Call, path: Path) -> None:
    from perdure.compose_trust import revoke_trust  # noqa: PLC0415  # start-up time

    removed = revoke_trust(path)
    end = "is no longer trusted." if removed else "was not trusted."
    _answer(call, {"file": str(path.absolute()), "trusted": False, "revoked": removed > 0}, end)


def _list(call: Call) -> None:
    from perdure.compose_trust import trust_records  # noqa: PLC0415  # start-up time

    records = [{"file": record.path, "state": _state(Path(record.path))} for record in trust_records()]
    call.answer({"trusted": records}, *_list_lines(records))


def _list_lines(records: Sequence[dict[str, str]]) -> Iterator[Line]:
    from perdure.interfaces.views.blocks import Foreign, Line  # noqa: PLC0415  # start-up time

    for record in records:
        yield Line((Foreign(record["file"]), f": {record['state']}"))
    if not records:
        yield Line("No policy file is trusted.")


def _state(path: Path) -> str:
    """Return whether a file is as it was when it was trusted."""
    from perdure.compose import folder_policy  # noqa: PLC0415  # start-up time
    from perdure.records.errors import PolicyError  # noqa: PLC0415  # start-up time

    try:
        found = folder_policy(path)
    except PolicyError:
        return "missing or unreadable"
    return "trusted" if found is not None and found.trusted else "changed since it was trusted; not trusted"


def _answer(call: Call, data: dict[str, Any], end: str) -> None:
    from perdure.interfaces.views.blocks import Foreign, Line  # noqa: PLC0415  # start-up time

    lines = [Line((Foreign(data["file"]), f" {end}"))]
    keys = data.get("keys", {})
    lines += [
        Line((f"{key} = ", Foreign(json.dumps(value, ensure_ascii=False))), item=True) for key, value in keys.items()
    ]
    call.answer(data, *lines)
