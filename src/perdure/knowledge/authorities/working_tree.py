"""A working tree that memories cite: whether a path, a symbol or a commit exists. It reads names and source files.

A symbol exists while the file has it as a word: what a definition looks like differs by language, and a symbol that
is only spoken of is better reported as found than one that is defined in an unusual way as missing.

Nothing outside the root is looked at, no link is followed out of it, URLs are never fetched, and time and size are
bounded: what could not be looked at is ``unverifiable``, never ``stale``.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from perdure.knowledge.records.authority import Citation, CitationCheck, CitationKind, CitationState, TreeConfig

_FILES: Final = 50_000  # so many files of a tree are known by name

_BYTES: Final = 1_000_000  # a larger file is not searched for symbols

_PLACES: Final = 5  # so many places where something may have gone are named

_SKIPPED_FOLDERS: Final = {
    "node_modules", "__pycache__", "venv", "env", "target", "dist", "build", "vendor", "site-packages",
}  # fmt: skip
"""Folders of what others wrote or programs made; so are those whose name starts with a dot."""

_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")


class WorkingTree:
    """A folder of source files as an authority on what memories cite."""

    def __init__(self, config: TreeConfig, folder: Path) -> None:
        self._config = config
        self._root = folder / Path(config.root).expanduser()

    @property
    def name(self) -> str:
        """What it is called in answers."""
        return self._config.name

    def covers(self, namespace: str) -> bool:
        """Whether memories of a namespace cite it."""
        return not self._config.namespaces or namespace in self._config.namespaces

    def sight(self, cited: Sequence[Sequence[Citation]]) -> list[list[CitationCheck]]:
        """Return what became of what each of several memories cites; never raises.

        The names of the tree are listed once. Each memory gets the timeout for what it cites.
        """
        try:
            root = self._root.resolve(strict=True)
            if not root.is_dir():
                raise NotADirectoryError
        except (OSError, RuntimeError):
            evidence = f"{self.name}: there is no folder {self._root.name}"
            return [[CitationCheck(c, CitationState.UNVERIFIABLE, evidence) for c in some] for some in cited]
        look = _Look(root, self.name, self._config.timeout_seconds)
        return [look.at(some) for some in cited]


class _Look:
    """One look at a tree; its list of files is made once."""

    def __init__(self, root: Path, name: str, seconds: float) -> None:
        self._root, self._name, self._seconds = root, name, seconds
        self._until = 0.0
        self._files: dict[str, list[str]] | None = None
        self._whole = True
        self._lines: dict[tuple[str, str], int | None] = {}

    def at(self, cited: Sequence[Citation]) -> list[CitationCheck]:
        self._until = time.monotonic() + self._seconds
        return [self._check_citation(citation) for citation in cited]

    def _check_citation(self, citation: Citation) -> CitationCheck:
        if citation.kind is CitationKind.URL:
            return CitationCheck(citation, CitationState.UNVERIFIABLE, "a URL is recorded and not fetched")
        if citation.kind is CitationKind.COMMIT:
            return self._commit(citation)
        if self._is_late():
            return self._report_unsure(citation)
        try:
            return self._path(citation)
        except (OSError, RuntimeError, ValueError) as error:
            return CitationCheck(
                citation, CitationState.UNVERIFIABLE, f"{self._name}: {citation.target} ({type(error).__name__})"
            )

    # --- paths and symbols

    def _path(self, citation: Citation) -> CitationCheck:
        path = self._root / citation.target
        if not self._is_inside(path):
            return CitationCheck(citation, CitationState.UNVERIFIABLE, f"{citation.target} is outside of {self._name}")
        if not _is_file(path):
            return self._search_elsewhere(citation)
        if citation.kind is CitationKind.PATH:
            return CitationCheck(citation, CitationState.FINE, f"{citation.target} exists")
        found = self._line_of_symbol(citation.target, citation.symbol)
        if found is None:
            return CitationCheck(
                citation, CitationState.UNVERIFIABLE, f"{citation.target} cannot be searched for {citation.symbol}"
            )
        if found:
            return CitationCheck(
                citation, CitationState.FINE, f"{citation.target} has {citation.symbol} (line {found})"
            )
        return self._report_stale(citation, f"{citation.target} does not have {citation.symbol}")

    def _is_inside(self, path: Path) -> bool:
        """Whether a path stays in the root once every link on its way is followed."""
        return path.resolve().is_relative_to(self._root)

    def _has(self, path: str) -> bool:
        """Whether a path that the tree lists leads to a file in it; a link may lead nowhere, or out."""
        try:
            return self._is_inside(self._root / path) and _is_file(self._root / path)
        except (OSError, RuntimeError):
            return False

    def _search_elsewhere(self, citation: Citation) -> CitationCheck:
        """Say what became of a file that is not where it is cited."""
        paths = self._paths_named(os.path.basename(citation.target))  # noqa: PTH119  # a name, no path of this machine
        evidence = f"{citation.target} does not exist"
        within = [p for p in paths if p.endswith(f"/{citation.target}")]  # cited from a folder further in
        if citation.kind is CitationKind.SYMBOL:
            with_symbol = [p for p in paths if self._line_of_symbol(p, citation.symbol)]
            if whole := next((p for p in with_symbol if p in within), None):
                return CitationCheck(citation, CitationState.FINE, f"{whole} has {citation.symbol}")
            if with_symbol:
                return self._report_moved(citation, evidence, [f"{p}#{citation.symbol}" for p in with_symbol])
            return self._report_stale(citation, evidence)
        if within:
            return CitationCheck(citation, CitationState.FINE, f"{within[0]} exists")
        return self._report_moved(citation, evidence, paths) if paths else self._report_stale(citation, evidence)

    def _report_moved(self, citation: Citation, evidence: str, found: Sequence[str]) -> CitationCheck:
        places = tuple(found[:_PLACES])
        return CitationCheck(citation, CitationState.MOVED, f"{evidence}; found as {', '.join(places)}", places)

    def _report_stale(self, citation: Citation, evidence: str) -> CitationCheck:
        if self._is_late() or not self._whole:
            return self._report_unsure(citation)
        return CitationCheck(citation, CitationState.STALE, evidence)

    def _report_unsure(self, citation: Citation) -> CitationCheck:
        evidence = f"{self._name} could not be searched in {self._seconds:g} s, or has more than {_FILES:,} files"
        return CitationCheck(citation, CitationState.UNVERIFIABLE, evidence)

    def _line_of_symbol(self, path: str, symbol: str) -> int | None:
        """Return the line where a file has a symbol, 0 if it does not, None if it cannot be read; read once."""
        key = path, symbol
        if key not in self._lines:
            self._lines[key] = self._search(path, symbol)
        return self._lines[key]

    def _search(self, path: str, symbol: str) -> int | None:
        file = self._root / path
        if not self._is_inside(file) or not _is_file(file) or file.stat().st_size > _BYTES:
            return None  # reading a pipe would never end
        source = file.read_text("utf-8", "replace")
        found = re.search(rf"(?<![\w$]){re.escape(symbol.rsplit('.', 1)[-1])}(?![\w$])", source)
        return source.count("\n", 0, found.start()) + 1 if found else 0

    def _paths_named(self, name: str) -> list[str]:
        return sorted(path for path in self._paths_by_name().get(name, ()) if self._has(path))

    def _paths_by_name(self) -> dict[str, list[str]]:
        if self._files is None:
            self._files = {}
            for count, path in enumerate(_walk(self._root)):
                if count >= _FILES or self._is_late():
                    self._whole = False
                    break
                self._files.setdefault(path.rsplit("/", 1)[-1], []).append(path)
        return self._files

    def _is_late(self) -> bool:
        return time.monotonic() > self._until

    # --- commits

    def _commit(self, citation: Citation) -> CitationCheck:
        git = shutil.which("git")
        if git is None or not _COMMIT.fullmatch(citation.target):
            return CitationCheck(
                citation, CitationState.UNVERIFIABLE, "git is not installed" if git is None else "not a commit id"
            )
        known = self._git(git, "cat-file", "-e", f"{citation.target}^{{commit}}")
        if known == 0:
            return CitationCheck(citation, CitationState.FINE, f"{self._name} has the commit {citation.target}")
        if known is None or self._git(git, "rev-parse", "--git-dir") != 0:
            return CitationCheck(citation, CitationState.UNVERIFIABLE, f"{self._name}: commits could not be read")
        if self._shallow(git):
            return CitationCheck(
                citation, CitationState.UNVERIFIABLE, f"{self._name} is a shallow clone without its full history"
            )
        return CitationCheck(citation, CitationState.STALE, f"{self._name} has no commit {citation.target}")

    def _git(self, git: str, *words: str) -> int | None:
        """Return how git ended; None if it did not in time. It runs no hook, asks nobody and fetches nothing."""
        process = self._run(git, *words)
        return None if process is None else process.returncode

    def _shallow(self, git: str) -> bool:
        process = self._run(git, "rev-parse", "--is-shallow-repository")
        return process is None or process.stdout.strip() != b"false"

    def _run(self, git: str, *words: str) -> subprocess.CompletedProcess[bytes] | None:
        own = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
        left = self._until - time.monotonic()
        with suppress(OSError, subprocess.TimeoutExpired):
            return subprocess.run(  # noqa: S603  # git itself, with an id that is only hexadecimal digits
                [git, "-C", str(self._root), *words],
                env={**own, **quiet},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=max(0.01, left),
                check=False,
            )
        return None


def _is_file(path: Path) -> bool:
    """Whether a path leads to a file; raises OSError for a circle of links and what may not be read."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _walk(root: Path) -> Iterator[str]:
    """Yield the paths of a tree's files from its root, with ``/``; links to folders are not followed."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED_FOLDERS)
        place = Path(folder).relative_to(root)
        for file in sorted(files):
            yield (place / file).as_posix()
