"""Names that a person may type and the command line no longer has, or never had."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from perdure.verbs.checks import refuse_foreign
from perdure.verbs.declaration import VERBS

ALIASES: Final[Mapping[str, str]] = {"add": "remember", "search": "recall"}
"""Commands by the names that other memory tools give them; they run."""

MEANT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ask", "find", "query"), "recall"),
    **dict.fromkeys(("insert", "note", "save", "store"), "remember"),
    **dict.fromkeys(("cat", "read", "show", "view"), "get"),
    **dict.fromkeys(("change", "edit", "replace"), "update"),
    **dict.fromkeys(("delete", "remove", "rm"), "forget"),
    **dict.fromkeys(("revert", "rollback"), "undo"),
    "dump": "export",
    "explain": "why",
    "load": "import",
    "log": "history",
    "ls": "list",
    "status": "stats",
    "summary": "digest",
    "upkeep": "maintain",
}
"""Other words -> the command to name in the answer; they do not run."""

OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "answer-sheet": {"--tokens": "--budget-tokens"},
    "consolidate": {"--threshold": "--similarity-threshold"},
    "decay": {"--curve": "--decay-function", "--floor": "--min-importance", "--half-life": "--half-life-days"},
    "digest": {"--budget": "--budget-tokens"},
    "extract": {"--keep-duplicates": "--no-deduplicate", "--threshold": "--dedup-threshold"},
    "rates": {"--learn": "--apply"},
    "reinforce": {"--amount": "--boost-amount", "--boost": "--boost-type", "--no-access": "--no-update-access"},
    "remember": {"--key": "--idempotency-key", "--pin": "--pinned"},
    "used": {"--recall": "--recall-id"},
}
"""Command -> earlier option -> its name now. They still work: a script or a crontab may have them."""


def current_options(command: str, words: Sequence[str]) -> list[str]:
    """Return the words of a command with earlier names of options replaced; each is noted on standard error.

    Raises:
        InvalidInput: An option is one that other tools' commands of that name take.
    """
    renamed, declared = OPTIONS.get(command, {}), VERBS.get(command.replace("-", "_"))
    end = words.index("--") if "--" in words else len(words)
    current = []
    for word in words[:end]:
        name, equals, value = word.partition("=")
        if declared is not None and name.startswith("--"):
            refuse_foreign(declared, [name[2:].replace("-", "_")])
        if name in renamed:
            print(f"Note: {name} of 'perdure {command}' is now called {renamed[name]}.", file=sys.stderr)
            name = renamed[name]
        current.append(name + equals + value)
    return [*current, *words[end:]]
