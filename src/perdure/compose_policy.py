"""Which policy applies: a dict, a TOML file, or what is found in the usual places. Reads files; decides nothing."""

from __future__ import annotations

import json
import os
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import platformdirs

from perdure.records.errors import PolicyError
from perdure.records.policy import Policy
from perdure.rules.policy_check import policy_from

RLM_VARIABLE: Final = "PERDURE_RLM_CONFIG"
"""The environment variable that names seed 001's configuration file; ``~/.claude/rlm-config.json`` if not set."""

_LONGEST_PATH: Final = 300
"""So much of a path is told."""

RLM_KEYS: Final = {
    "consolidation_threshold": ("tasks", "relatedness"),
    "promotion_threshold": ("tasks", "promotion_confidence"),
    "decay_factor": ("confidence", "daily_factor"),
    "decay_min_confidence": ("archive", "confidence_below"),
    "decay_interval_hours": ("upkeep", "report_hours"),
}
"""Key of ``memory`` in that file (SPEC-03.25) -> section and key of the policy."""


def load_policy(policy: str | os.PathLike[str] | Mapping[str, Any] | None = None) -> Policy:
    """Return a policy from a file, a dict, or wherever one is found; the defaults if there is none.

    Where none is named, seed 001's ``rlm-config.json`` counts besides; a policy file's own values win over it.

    Raises:
        PolicyError: The policy or that file has faults; all are listed, and the file is named.
    """
    if isinstance(policy, Mapping):
        return policy_from(policy)
    if policy is not None:
        return _placed(policy_from(toml_of(Path(policy))), Path(policy).parent)
    path = policy_file()
    own = toml_of(path) if path is not None else {}
    found = policy_from(_over(rlm_values(rlm_file()), own))
    return found if path is None else _placed(found, path.parent)


def _placed(policy: Policy, folder: Path) -> Policy:
    """Return a policy whose relative paths start at its file's folder."""

    def whole(path: str) -> str:
        return str(folder.absolute() / Path(path).expanduser()) if path else ""

    gates = replace(policy.gates, golden=whole(policy.gates.golden))
    upkeep = replace(policy.upkeep, backup_folder=whole(policy.upkeep.backup_folder))
    knowledge = replace(policy.knowledge, file=whole(policy.knowledge.file))
    return replace(policy, gates=gates, upkeep=upkeep, knowledge=knowledge)


def policy_file() -> Path | None:
    """Return the policy file that applies where none is named: environment, working folder, user's configuration."""
    if named := os.environ.get("PERDURE_POLICY"):
        return Path(named)
    for path in (Path("perdure.toml"), Path(platformdirs.user_config_dir("perdure")) / "perdure.toml"):
        if path.is_file():
            return path
    return None


def rlm_file() -> Path | None:
    """Return where seed 001's configuration would be; None where there is no home folder."""
    if named := os.environ.get(RLM_VARIABLE):
        return Path(named)
    try:
        return Path.home() / ".claude" / "rlm-config.json"
    except RuntimeError:  # a user without a home
        return None


def rlm_values(path: Path | None) -> dict[str, dict[str, Any]]:
    """Return section -> key -> value of seed 001's configuration file; nothing where there is none.

    Keys that it does not know are named in a warning; what other programs keep beside ``memory`` is not looked at.

    Raises:
        PolicyError: The file is no JSON, or a value is of the wrong type or out of bounds; the text names the file.
    """
    memory = _rlm_memory(path)
    if unknown := sorted(set(memory) - set(RLM_KEYS)):
        told = f"{path} has keys under 'memory' that are not known and do nothing: {', '.join(unknown)}."
        warnings.warn(told, UserWarning, stacklevel=2)
    found: dict[str, dict[str, Any]] = {}
    for name, (section, key) in RLM_KEYS.items():
        if name in memory:
            found.setdefault(section, {})[key] = memory[name]
    try:
        policy_from(found)
    except PolicyError as error:
        names = {f"{section}.{key}": name for name, (section, key) in RLM_KEYS.items()}
        raise _rlm_refused(path, *(_renamed(p, names) for p in error.problems)) from None
    return found


def _rlm_memory(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        data = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _rlm_refused(path, f"it cannot be read ({error.strerror}).") from error
    except (ValueError, RecursionError) as error:
        raise _rlm_refused(path, f"it is no valid JSON ({error}).") from error
    memory = data.get("memory", {}) if isinstance(data, dict) else None
    if not isinstance(memory, dict):
        raise _rlm_refused(path, "'memory' must be an object of keys.")
    return memory


def _rlm_refused(path: Path | None, *problems: str) -> PolicyError:
    return PolicyError(
        tuple(f"{path}: {p}" for p in problems), remedy=f"Mend that file, or name another in {RLM_VARIABLE}."
    )


def _renamed(problem: str, names: Mapping[str, str]) -> str:
    """Say of which key of the file a problem of the policy tells."""
    return next((f"{own}: {problem}" for key, own in names.items() if problem.startswith(key)), problem)


def _over(below: Mapping[str, Mapping[str, Any]], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a policy file's data with values from below it where it has none of its own."""
    merged: dict[str, Any] = dict(own)
    for section, values in below.items():
        table = own.get(section, {})
        if isinstance(table, Mapping):  # else the policy file has a fault, and is refused for it
            merged[section] = {**values, **table}
    return merged


def toml_of(path: Path) -> dict[str, Any]:
    """Return a TOML file's data; raises PolicyError."""
    shown = str(path)[:_LONGEST_PATH].encode("utf-8", "replace").decode()
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError((f"{shown} is no valid TOML: {error}.",), remedy="Mend that line.") from error
    except (OSError, ValueError) as error:  # some texts are no path at all
        why = getattr(error, "strerror", None) or "it is no path"
        raise PolicyError((f"{shown} cannot be read ({why}).",), remedy="Check the path.") from error
