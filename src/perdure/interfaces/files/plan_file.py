"""Plans as files: what a preview made, to be read by a person, and applied exactly or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from perdure.interfaces.files.named_file import atomic_file, check_target, open_named
from perdure.records.bounded_json import JsonTooLarge, parse_json
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.plan import Plan

FORMAT: Final = 1
LONGEST: Final = 128 * 1024 * 1024  # bytes: a plan is in memory whole
_MOST_VALUES: Final = 8_000_000
_KEYS: Final = {"perdure_plan", "summary", "plans", "digest"}
_REMEDY: Final = "Make it again, for example with `perdure plan sweep -o FILE`."


def write(path: str, plans: Sequence[Plan], *, store: str = "", force: bool = False) -> None:
    """Write plans to a file, which appears under its name only when it is whole, and is whose the ``store`` is."""
    file = Path(path)
    check_target(file, store, force=force)
    documents = [plan.to_json() for plan in plans]
    summary = [_summary(plan) for plan in plans]
    text = json.dumps(
        {"perdure_plan": FORMAT, "summary": summary, "plans": documents, "digest": _digest(documents)},
        ensure_ascii=False,
        indent=1,
    )
    data = text.encode()
    if len(data) > LONGEST:
        raise InvalidInput(
            f"The plan has {len(data):,} bytes; a plan file may have at most {LONGEST:,}.",
            remedy="Plan one namespace at a time.",
        )
    with atomic_file(file, store) as out:
        out.write(data)


def read(path: str) -> list[Plan]:
    """Return the plans of a file."""
    data = _read_json(Path(path))
    if not isinstance(data, dict) or data.get("perdure_plan") != FORMAT or not isinstance(data.get("plans"), list):
        raise InvalidInput(f"{path} is not a plan of this version.", remedy=_REMEDY)
    if set(data) != _KEYS or data["digest"] != _digest(data["plans"]):
        raise InvalidInput(f"{path} was edited or damaged: its digest does not fit.", remedy=_REMEDY)
    plans = [Plan.from_dict(plan) for plan in data["plans"]]
    if data["summary"] != [_summary(plan) for plan in plans]:
        raise InvalidInput(f"{path} was edited: its summary does not fit.", remedy=_REMEDY)
    return plans


def _read_json(file: Path) -> Any:
    try:
        with open_named(file) as stream:
            data = stream.read(LONGEST + 1)
        if len(data) > LONGEST:
            raise InvalidInput(f"{file} is larger than {LONGEST:,} bytes.", remedy=_REMEDY)
        return parse_json(data.decode("utf-8"), values=_MOST_VALUES)
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {file}.", remedy="Check the path.") from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read ({error.strerror}).", remedy="Check its permissions.") from error
    except JsonTooLarge as error:
        raise InvalidInput(f"{file} is not a plan: {error}.", remedy=_REMEDY) from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidInput(f"{file} is not a plan: it is not valid JSON.", remedy=_REMEDY) from error


def _summary(plan: Plan) -> dict[str, Any]:
    return {
        "operation": plan.operation,
        "namespace": plan.namespace,
        "note": plan.note,
        "changes": len(plan.changes),
        "hides": plan.hides,
        "shortens": len(plan.shortened_ids),
    }


def _digest(plans: Any) -> str:
    text = json.dumps(plans, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16).hexdigest()
