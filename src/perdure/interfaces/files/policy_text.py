"""The policy as text: a TOML file in which every key stands with its meaning, default and bounds."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from perdure.records.policy import Policy, sections


def render_toml(policy: Policy, path: Path | None) -> str:
    """Return a policy as a TOML file that means the same, with a comment for every key."""
    source = "the defaults" if path is None else json.dumps(str(path))
    lines = [f"# The policy in force: {source}, version {policy.version}.", f"preset = {_value(policy.preset)}"]
    for name, kind in sections().items():
        lines += ["", f"[{name}]"]
        for key in fields(kind):
            lines += [
                f"# {key.metadata['help']} ({_bounds(key)})",
                f"{key.name} = {_value(_key_value(policy, name, key.name))}",
            ]
    return "\n".join(lines) + "\n"


def policy_data(policy: Policy) -> dict[str, Any]:
    """Return a policy as plain data: of each key the value, default, bounds and meaning."""
    keys = {
        f"{name}.{key.name}": {
            "value": _key_value(policy, name, key.name),
            "default": key.default,
            "low": key.metadata["low"],
            "high": key.metadata["high"],
            "choices": list(key.metadata["choices"]),
            "help": key.metadata["help"],
            "protected": key.metadata["protected"],
            "harmless": key.metadata["harmless"],
        }
        for name, kind in sections().items()
        for key in fields(kind)
    }
    return {"preset": policy.preset, "keys": keys}


def _key_value(policy: Policy, section: str, key: str) -> Any:
    return getattr(getattr(policy, section), key)


def _bounds(key: Any) -> str:
    default = f"default {_value(key.default)}"
    if key.metadata["choices"]:
        return f"{default}; one of {', '.join(key.metadata['choices'])}"
    if key.metadata["low"] is None:
        return default
    return f"{default}; {key.metadata['low']:,g} to {key.metadata['high']:,g}"


def _value(value: Any) -> str:
    """Return a value as TOML writes it; JSON writes text, numbers and truth values the same way."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
