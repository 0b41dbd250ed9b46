"""What is installed beside Perdure: pinned with digests, each under a licence that was looked at."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest

from conftest import every

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements" / "dev.txt").read_text("utf-8")
CONSTRAINTS = (ROOT / "requirements" / "constraints.txt").read_text("utf-8")
PINS = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", LOCK, re.MULTILINE)

OPEN = re.compile(
    r"MIT(-0)?( License)?|[23]-Clause BSD License|BSD( License|-[23]-Clause)|0BSD|Apache(-2\.0| Software License)"
    r"|ISC( License \(ISCL\))?|PSF-2\.0|Python Software Foundation License|Zlib|CC0-1\.0"
    r"|MPL-2\.0|Mozilla Public License 2\.0 \(MPL 2\.0\)|any-OSI"
)
"""Permissive ones, and MPL-2.0, which binds changes of its own files only."""
COPYLEFT = {"psycopg": "LGPL-3.0-only", "psycopg-binary": "LGPL-3.0-only"}
"""Imported as they are, never changed or shipped with us; only for servers."""
FILES_ONLY = {"axe-playwright-python": "MIT License"}
"""Their metadata name no licence: the first line of the licence's file."""


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(found: Distribution) -> str:
    classifiers = found.metadata.get_all("Classifier") or []
    told = [c.rpartition(" :: ")[2] for c in classifiers if c.startswith("License ::")]
    if found.name in FILES_ONLY:
        return (found.read_text("licenses/LICENSE") or "").partition("\n")[0]
    return found.metadata.get("License-Expression") or "; ".join(told) or found.metadata.get("License") or "unknown"


@every([name for name, _ in PINS])
def test_each_package_has_a_licence_that_was_looked_at(name):
    try:
        found = licence(distribution(name))
    except PackageNotFoundError:
        pytest.skip("for another system or a newer Python")
    if name in COPYLEFT:
        assert found == COPYLEFT[name]
    else:
        parts = re.split(r" AND | OR |; ", found)
        bare = [part.strip("()") if len(parts) > 1 else part for part in parts]  # "MPL-2.0 AND (Apache-2.0 OR MIT)"
        assert [part for part in bare if not OPEN.fullmatch(part)] == []


def test_every_pin_has_digests():
    blocks = re.split(r"^(?=[A-Za-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(PINS)
    assert [block.split("==")[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_everything_that_is_declared_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *(d for some in project["optional-dependencies"].values() for d in some)]
    names = {plain(re.split(r"[\s<>=!~;\[]", text)[0]) for text in wanted} - {"perdure", "perdure-embedder"}
    pinned = {plain(name) for name, _ in PINS}
    assert names - pinned == set()


def test_the_constraints_for_users_are_those_that_we_test_with():
    ours = {plain(name): version for name, version in PINS}
    users = {plain(n): v for n, v in re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", CONSTRAINTS, re.MULTILINE)}
    assert users
    assert {name: version for name, version in users.items() if ours.get(name) != version} == {}
