"""Which policy applies: a dict, a TOML file, or what is found in the usual places. Reads files; decides nothing."""

from __future__ import annotations

import errno
import os
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from perdure.compose_trust import has_records, is_trusted
from perdure.records.bounded_json import parse_json
from perdure.records.errors import PerdureWarning, PolicyError
from perdure.records.policy import PRESETS, Policy, sections
from perdure.rules.escaping import terminal_line
from perdure.rules.policy_check import policy_from
from perdure.user_folders import config_folder, expand_user

RLM_VARIABLE: Final = "PERDURE_RLM_CONFIG"
"""The environment variable that names the file ``rlm-config.json``; ``~/.claude/rlm-config.json`` if not set."""

_LONGEST_PATH: Final = 300  # characters of a path that an error shows
_LARGEST_FILE: Final = 16 * 1024 * 1024
_LARGEST_TOML: Final = 4 * 1024 * 1024
_TOML_ASIDE: Final = re.compile(
    r'''"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'{3}.*?(?:\'{3}|\Z)|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?|#[^\n]*+''', re.DOTALL
)
"""Texts and comments of a TOML file."""
_LONG_KEY: Final = re.compile(r"(?:\.[ \t]*+[\w-]*+[ \t]*+){33}")
"""A key of more than 33 parts: the parser needs memory by the square of their number."""

RLM_KEYS: Final = {
    "consolidation_threshold": ("tasks", "relatedness"),
    "promotion_threshold": ("tasks", "promotion_confidence"),
    "decay_factor": ("confidence", "daily_factor"),
    "decay_min_confidence": ("archive", "confidence_below"),
    "decay_interval_hours": ("upkeep", "report_hours"),
}
"""Key of ``memory`` in that file -> section and key of the policy."""
_DECAY_KEYS: Final = ("decay_factor", "decay_min_confidence")
"""Keys that say when low confidence alone archives a memory: with one of them it does, as in ``confidence-decay``."""


class UntrustedPolicyWarning(PerdureWarning):
    """A policy file of the working folder sets keys that are ignored, because the file is not trusted."""


@dataclass(frozen=True, slots=True)
class FolderPolicy:
    """The policy file of the working folder: nobody named it, and it may be somebody else's."""

    path: Path  # the file, absolute
    values: dict[str, Any]  # section -> key -> value, as the file has them, with absolute paths
    digest: str  # sHA-256 of its content and of the files that it names; "" where the path was never trusted
    trusted: bool  # whether the user trusts this content

    @property
    def needing_trust(self) -> dict[str, Any]:
        """What the file sets that counts only with trust: ``preset`` and ``section.key`` -> value."""
        preset = {"preset": self.values["preset"]} if "preset" in self.values else {}
        return preset | {f"{name}.{key}": self.values[name][key] for name, key in _set_by(self.values, _NOT_HARMLESS)}

    @property
    def notice(self) -> str:
        """What is ignored and how to change that, on one line; "" if nothing is ignored."""
        if self.trusted or not (keys := self.needing_trust):
            return ""
        shown = terminal_line(str(self.path))
        return (
            f"{shown} sets {', '.join(keys)}. This is ignored: it counts only from your own configuration or "
            f"from a file that you trust. To trust it, read it and run: perdure trust {shlex.quote(shown)}"
        )


def load_policy(policy: str | os.PathLike[str] | Mapping[str, Any] | None = None) -> Policy:
    """Return a policy from a file, a dict, or wherever one is found; the defaults if there is none.

    Where none is named, ``rlm-config.json`` is read as well; a policy file's own values win over it. A file that was
    found in the working folder counts if the user trusts it; otherwise only its harmless keys do, beside the file in
    the user's configuration folder. That file's protected keys also count where a trusted one does not set them.

    Raises:
        PolicyError: The policy or that file has faults; all are listed, and the file is named.

    Warns:
        UntrustedPolicyWarning: Something is ignored; once in a process for each file and content.
    """
    if isinstance(policy, Mapping):
        return policy_from(policy)
    if policy is not None:
        return policy_from(_file_values(Path(policy)))
    found, path = folder_policy(), policy_file()
    if found is None:
        values = {} if path is None else _file_values(path)
    else:
        if found.notice and found.notice not in _said:
            _said.add(found.notice)
            warnings.warn(found.notice, UntrustedPolicyWarning, stacklevel=3)
        values = _layer_policies(found)
    below = rlm_values(rlm_file())
    if "preset" not in values and any(_is_set(name, below) for name in _DECAY_KEYS):
        below = _merge({"archive": {"rule": PRESETS["confidence-decay"]["archive"]["rule"]}}, below)
    whole = policy_from(_merge(below, values))
    for notice in _without_effect(below, values, whole):
        warnings.warn(f"{rlm_file()}: {notice}", PerdureWarning, stacklevel=2)
    return whole


_said: set[str] = set()  # notices that were given in this process


def policy_file() -> Path | None:
    """Return the policy file that applies where none is named: environment, working folder, user's configuration.

    A relative path is one of the working folder: it stands for another file in each.
    """
    if named := os.environ.get("PERDURE_POLICY"):
        return Path(named)
    for path in (Path("perdure.toml"), _users_file()):
        if path is not None and path.is_file():
            return path
    return None


def folder_policy(path: str | os.PathLike[str] | None = None) -> FolderPolicy | None:
    """Return the policy file of the working folder if it is the one that applies; else None.

    Args:
        path: Another file that is to be looked at in the same way.

    Raises:
        PolicyError: It cannot be read.
    """
    found = policy_file() if path is None else Path(path)
    if found is None or (path is None and found.is_absolute()):
        return None
    found = found.absolute()
    content = _content_of(found)
    values = _with_absolute_paths(_parse(content, found), found.parent)
    # Files that an unknown policy names are not even read.
    digest = _digest_of(content, values) if path is not None or has_records(found) else ""
    return FolderPolicy(found, values, digest, trusted=is_trusted(found, digest))


def _layer_policies(found: FolderPolicy) -> dict[str, Any]:
    """Return the values that count where a folder's file applies: the user's own may be among them."""
    users = _users_file()
    own = _file_values(users) if users is not None and users.is_file() else {}
    if not found.trusted:
        policy_from(found.values)  # faults are told before anybody is asked to trust them
        harmless = _set_by(found.values, _HARMLESS)
        return _merge(own, {name: {k: found.values[name][k] for n, k in harmless if n == name} for name, _ in harmless})
    protection: dict[str, dict[str, Any]] = {}
    for name, key in _set_by(own, _PROTECTED):
        protection.setdefault(name, {})[key] = own[name][key]
    return _merge(protection, found.values)


def _users_file() -> Path | None:
    folder = config_folder()
    return None if folder is None else folder / "perdure.toml"


def _file_values(path: Path) -> dict[str, Any]:
    return _with_absolute_paths(toml_of(path), path.absolute().parent)


def _keys(test: Callable[[Mapping[str, Any]], bool]) -> frozenset[tuple[str, str]]:
    """Return the keys whose declaration passes a test, as (section, key)."""
    return frozenset((n, f.name) for n, kind in sections().items() for f in fields(kind) if test(f.metadata))


_PROTECTED: Final = _keys(lambda declared: declared["protected"])
_HARMLESS: Final = _keys(lambda declared: declared["harmless"])
_NOT_HARMLESS: Final = _keys(lambda declared: not declared["harmless"])
_PATHS: Final = _keys(lambda declared: declared["path"] != "")
_FILES: Final = _keys(lambda declared: declared["path"] == "file")


def _set_by(values: Mapping[str, Any], keys: frozenset[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return those of some keys that a file sets, in the order of its text."""
    return [(n, k) for n, table in values.items() if isinstance(table, Mapping) for k in table if (n, k) in keys]


def _with_absolute_paths(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return values in which relative paths start at the file's folder; changes them in place."""
    for name, key in _set_by(values, _PATHS):
        path = values[name][key]
        if isinstance(path, str) and path:  # anything else is a fault, which is found where values are checked
            values[name][key] = str(folder / expand_user(path))
    return values


def _digest_of(content: bytes, values: Mapping[str, Any]) -> str:
    """Return a digest of a policy file and of the files that it names: those decide as much as it does."""
    digest = sha256(content)
    for name, key in sorted(_set_by(values, _FILES)):
        part = _content_of_named(values[name][key])
        digest.update(f"\0{name}.{key}\0{len(part)}\0".encode() + part)
    return digest.hexdigest()


def _content_of_named(path: Any) -> bytes:
    """Return what a named file holds; nothing where it is no ordinary file or too large to be a configuration."""
    try:
        if isinstance(path, str) and Path(path).is_file() and Path(path).stat().st_size <= _LARGEST_FILE:
            return Path(path).read_bytes()
    except (OSError, ValueError):
        pass
    return b""


def rlm_file() -> Path | None:
    """Return where ``rlm-config.json`` would be; None where there is no home folder."""
    if named := os.environ.get(RLM_VARIABLE):
        return Path(named)
    try:
        return Path.home() / ".claude" / "rlm-config.json"
    except RuntimeError:  # a user without a home
        return None


def rlm_values(path: Path | None) -> dict[str, dict[str, Any]]:
    """Return section -> key -> value of ``rlm-config.json``; nothing where there is none.

    Keys that it does not know are named in a warning; what other programs keep beside ``memory`` is not looked at.

    Raises:
        PolicyError: The file is no JSON, or a value is of the wrong type or out of bounds; the text names the file.
    """
    memory = _rlm_memory(path)
    if unknown := sorted(set(memory) - set(RLM_KEYS)):
        notice = f"{path} has unknown keys under 'memory' that are ignored: {', '.join(unknown)}."
        warnings.warn(notice, PerdureWarning, stacklevel=2)
    found: dict[str, dict[str, Any]] = {}
    for name, (section, key) in RLM_KEYS.items():
        if name in memory:
            found.setdefault(section, {})[key] = memory[name]
    try:
        policy_from(found)
    except PolicyError as error:
        names = {f"{section}.{key}": name for name, (section, key) in RLM_KEYS.items()}
        raise _rlm_error(path, *(_rename_keys(p, names) for p in error.problems)) from None
    return found


def _is_set(name: str, below: Mapping[str, Any]) -> bool:
    """Return whether ``rlm-config.json`` sets a key."""
    section, key = RLM_KEYS[name]
    return key in below.get(section, {})


def _without_effect(below: Mapping[str, Any], own: Mapping[str, Any], policy: Policy) -> Iterator[str]:
    """Yield which keys of ``rlm-config.json`` decide nothing, or not alone, why, and what to set."""
    for name, (section, key) in RLM_KEYS.items():
        if not _is_set(name, below):
            continue
        value = getattr(getattr(policy, section), key)
        if key in own.get(section, {}) and value != below[section][key]:
            yield f"{name} has no effect: the policy file sets {section}.{key} = {value}."
        elif key == "confidence_below" and policy.archive.rule != "confidence":
            effect = "acts only where the value is low, too" if policy.archive.rule == "both" else "has no effect"
            yield (
                f"{name} {effect}: archive.rule is {policy.archive.rule!r} ({policy.preset}). Set archive.rule = "
                "'confidence' in the policy file."
            )


def _rlm_memory(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        if path.exists() and not path.is_file():
            raise _rlm_error(path, "it cannot be read (it is not a regular file).")
        data = parse_json(_first_bytes(path, _LARGEST_TOML).decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _rlm_error(path, f"it cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise _rlm_error(path, f"it is not valid JSON ({error}).") from error
    memory = data.get("memory", {}) if isinstance(data, dict) else None
    if not isinstance(memory, dict):
        raise _rlm_error(path, "'memory' must be an object of keys.")
    return memory


def _rlm_error(path: Path | None, *problems: str) -> PolicyError:
    return PolicyError(
        tuple(f"{path}: {p}" for p in problems), remedy=f"Fix that file, or set another in {RLM_VARIABLE}."
    )


def _rename_keys(problem: str, names: Mapping[str, str]) -> str:
    """Say of which key of the file a problem of the policy tells."""
    return next((f"{own}: {problem}" for key, own in names.items() if problem.startswith(key)), problem)


def _merge(below: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a policy file's data with values from below it where it has none of its own."""
    merged: dict[str, Any] = {**below, **own}
    for section, values in below.items():
        table = own.get(section, {})
        if isinstance(table, Mapping) and isinstance(
            values, Mapping
        ):  # else the policy file has a fault, and is refused for it
            merged[section] = {**values, **table}
    return merged


def toml_of(path: Path) -> dict[str, Any]:
    """Return a TOML file's data; raises PolicyError."""
    return _parse(_content_of(path), path)


def _content_of(path: Path) -> bytes:
    try:
        special = path.exists() and not path.is_file()  # a pipe or a device would keep whoever reads it waiting
        content = b"" if special else _first_bytes(path, _LARGEST_TOML)
    except (OSError, ValueError) as error:  # some texts are no path at all
        why = getattr(error, "strerror", None) or "it is not a valid path"
        raise PolicyError((f"{_label(path)} cannot be read ({why}).",), remedy="Check the path.") from error
    if special:
        raise PolicyError((f"{_label(path)} cannot be read (it is not a regular file).",), remedy="Pass a TOML file.")
    return content


def _first_bytes(path: Path, most: int) -> bytes:
    """Return what a file holds; raises OSError where that is too much."""
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes")
    return content


def _parse(content: bytes, path: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415  # only where there is a file

    try:
        text = content.decode("utf-8")
        if _LONG_KEY.search(_TOML_ASIDE.sub("", text)):
            raise PolicyError((f"{_label(path)} has a key with too many parts.",), remedy="Shorten that key.")
        return tomllib.loads(text)
    except RecursionError as error:
        raise PolicyError((f"{_label(path)} is nested too deeply.",), remedy="Use fewer brackets.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError((f"{_label(path)} is not valid TOML: {error}.",), remedy="Fix that line.") from error


def _label(path: Path) -> str:
    return str(path)[:_LONGEST_PATH].encode("utf-8", "replace").decode()
