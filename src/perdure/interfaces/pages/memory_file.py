"""MEMORY.md as it is, and as it would be for each profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final, cast, get_args

from perdure import compose
from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest
from perdure.records.errors import InvalidInput
from perdure.verbs.recalling import ProfileName

PROFILES: Final = get_args(ProfileName)
_KINDS: Final = {"delete": ("removed",), "insert": ("added",), "replace": ("removed", "added"), "equal": ("same",)}


@dataclass(frozen=True)
class CurrentFile:
    """The file that an agent reads."""

    name: str  # without its folder, which is not for whoever may look
    text: str | None  # our part of it; empty where it has none, None where there is no file
    fault: str = ""  # why it cannot be shown


def memory_file(request: PageRequest) -> Answer:
    """Show MEMORY.md for a profile, and what differs from the file, or from the policy's own profile."""
    profile = request.query.get("profile", "")
    own = request.memory.digest_details(request.namespace)
    chosen = profile if profile in PROFILES and profile != own.profile else ""
    digest = request.memory.digest_details(request.namespace, profile=cast("Any", chosen)) if chosen else own
    file = _file_now(request)
    is_file = file is not None and not file.fault
    before = (file.text or "") if file is not None and is_file else own.text
    lines = list(diff_lines(before, digest.text)) if is_file or chosen else []
    values = {
        "digest": digest,
        "profiles": PROFILES,
        "chosen": chosen or own.profile,
        "joins": request.has_model and request.memory.policy.model.digest,
        "lines": lines,
        "many": Counter(kind for kind, _ in lines),
        "file": file,
    }
    return HtmlPage("memory_file", "MEMORY.md", values)


def _file_now(request: PageRequest) -> CurrentFile | None:
    """Return the file of the page's namespace: the one that the service was started with, else the policy's.

    A namespace that the session does not reach was refused when its digest was asked for.
    """
    policy = request.memory.policy.digest
    configured = {policy.namespace: Path(policy.file)} if policy.file else {}
    path = {**configured, **request.files}.get(request.namespace)
    if path is None:
        return None
    try:
        return CurrentFile(path.name, compose.digest_file(path).part())
    except InvalidInput as error:
        return CurrentFile(path.name, None, str(error))


def diff_lines(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of two texts: (``same``, ``removed`` or ``added``, line)."""
    old, new = before.splitlines(), after.splitlines()
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for kind in _KINDS[tag]:
            yield from ((kind, line) for line in (new[c:d] if kind == "added" else old[a:b]))
