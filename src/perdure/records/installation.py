"""Where this installation came from, and how what it lacks is fetched from there and from nowhere else.

A name on a package index belongs to whoever registers it, so it is used only where it was installed by that name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

NAME: Final = "perdure"
EMBEDDER: Final = "perdure-embedder"
WITH_EMBEDDER: Final = "local"  # the extra that needs it
_BESIDE: Final = "packages/perdure-embedder"  # where the embedder lies in a checkout of Perdure


@dataclass(frozen=True, slots=True)
class PackageSource:
    """Where a distribution can be fetched from again."""

    name: str
    url: str | None = None  # None: from an index, by its name
    version: str | None = None
    path: Path | None = None  # the folder or file of this machine that the address names
    editable: bool = False

    def requirement(self, *extras: str) -> str:
        """Return what pip and uv are given to fetch exactly this."""
        named = f"{self.name}[{','.join(extras)}]" if extras else self.name
        if self.url is not None:
            return f"{named} @ {self.url}"
        return named if self.version is None else f"{named}=={self.version}"

    def words(self, *extras: str) -> list[str]:
        """Return the arguments for ``pip install``."""
        if self.path is None or not self.path.is_dir():
            return [self.requirement(*extras)]
        folder = f"{self.path}[{','.join(extras)}]" if extras else str(self.path)
        return ["--editable", folder] if self.editable else [folder]


def own_source() -> PackageSource | None:
    """Return where this Perdure came from; None where it is not known, or what it came from is gone."""
    return _source(NAME)


def embedder_source() -> PackageSource | None:
    """Return where the embedder that belongs to this Perdure came from, or would come from."""
    source, own = _source(EMBEDDER), own_source()
    if source is not None or own is None:
        return source
    if own.url is None:
        return PackageSource(EMBEDDER)
    if own.path is not None:
        folder = own.path / _BESIDE
        return PackageSource(EMBEDDER, folder.as_uri(), path=folder, editable=own.editable) if folder.is_dir() else None
    if own.url.startswith("git+") and "#" not in own.url:
        return PackageSource(EMBEDDER, f"{own.url}#subdirectory={_BESIDE}")
    return None


def sources_for(extras: Iterable[str]) -> list[PackageSource] | None:
    """Return all that must be fetched for some extras, Perdure first; None where something has no known source."""
    needed = [own_source(), *([embedder_source()] if WITH_EMBEDDER in extras else [])]
    known = [source for source in needed if source is not None]
    return known if len(known) == len(needed) else None


def install_command(*extras: str, options: Iterable[str] = ()) -> str | None:
    """Return the command that installs some extras from where this Perdure came; None where nothing is safe."""
    sources = sources_for(extras)
    if sources is None:
        return None
    own, *others = sources
    words = [word for source in others if source.url is not None for word in source.words()]
    return " ".join(["pip install", *options, *(_quoted(word) for word in [*words, *own.words(*extras)])])


def how_to_install(*extras: str, options: Iterable[str] = ()) -> str:
    """Return what to do about extras that are missing, as it is right for this installation."""
    command = install_command(*extras, options=options)
    if command is not None:
        return f"Run `{command}`."
    return f"Install Perdure again from where you had it, with the extra {', '.join(extras)}."


def how_to_upgrade() -> str:
    """Return how a newer Perdure is installed, as it is right for this installation."""
    own = own_source()
    if own is not None and own.url is None:
        return f"Upgrade with `pip install -U {NAME}`"
    return "Upgrade Perdure from where it was installed (for a checkout: update it, then install it again)"


def how_to_renew_embedder() -> str:
    """Return how the files of the embedder are put in place again."""
    source = embedder_source()
    if source is None:
        return f"Install {EMBEDDER} again from where you had it."
    words = [_quoted(word) for word in source.words()]
    return f"Run `{' '.join(['pip install --force-reinstall --no-deps', *words])}`."


def _quoted(word: str) -> str:
    return f'"{word}"' if set(word) & set("[]@ ~#&;") else word


@cache
def _source(name: str) -> PackageSource | None:
    from importlib import metadata  # noqa: PLC0415  # start-up time; only where it is asked

    try:
        found = metadata.distribution(name)
        version, text = found.version, found.read_text("direct_url.json")
    except (metadata.PackageNotFoundError, OSError, UnicodeDecodeError):
        return None
    if text is None:
        return PackageSource(name, version=version)
    try:
        return _from_direct_url(name, json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _from_direct_url(name: str, record: dict[str, Any]) -> PackageSource | None:
    """Return the source that an installer recorded (PEP 610)."""
    url = str(record["url"])
    fragment = [f"subdirectory={record['subdirectory']}"] if record.get("subdirectory") else []
    if "vcs_info" in record:
        vcs = record["vcs_info"]
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    elif "archive_info" in record:
        hashes = record["archive_info"].get("hashes") or {}
        fragment += [f"sha256={hashes['sha256']}"] if "sha256" in hashes else []
    path = _path_of(str(record["url"]))
    if path is not None and not path.exists():
        return None
    if " " in url or not all(sign.isprintable() and sign not in '"`$' for sign in f"{url}{path}"):
        return None  # it cannot be shown in a command, nor kept as a line
    editable = bool(record.get("dir_info", {}).get("editable"))
    return PackageSource(name, f"{url}#{'&'.join(fragment)}" if fragment else url, path=path, editable=editable)


def _path_of(url: str) -> Path | None:
    """Return the file or folder of this machine that an address names."""
    from urllib.parse import urlsplit  # noqa: PLC0415  # start-up time
    from urllib.request import url2pathname  # noqa: PLC0415  # start-up time

    parts = urlsplit(url)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" and parts.netloc in {"", "localhost"} else None
