"""Which rules and transitions lives have reached: rows, each recognised by what the journal says of a change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from perdure.records.memory import Form, Status, Tier
from perdure.records.report import Entry
from perdure.rules.lifecycle.tier_table import RULES, Rule

Row = Callable[[Entry], bool]
"""Whether a change is of a row of the table."""


def _by_rule(rule: Rule) -> Row:
    """Recognise a row of the tier table by the reason that it gives."""
    parts = re.split(r"\{[^}]*\}", f"{rule.move}: {rule.because}")
    pattern = re.compile(".+?".join(map(re.escape, parts)))
    return lambda e: bool(pattern.match(e.because))


def _turns(column: str, before: Any, after: Any) -> Row:
    """Recognise a change of one column from one value to another; None for any."""

    def is_such(entry: Entry) -> bool:
        old, new = (entry.before or {}).get(column), (entry.after or {}).get(column)
        return entry.before is not None and old != new and old == (before or old) and new == after

    return is_such


def _by(operation: str, row: Row) -> Row:
    return lambda e: e.operation == operation and row(e)


def _because(words: str, operation: str = "") -> Row:
    return lambda e: words in e.because and operation in ("", e.operation)


def _born(**columns: Any) -> Row:
    return lambda e: (
        e.target == "memory"
        and e.before is None
        and columns.items() <= {k: (e.after or {}).get(k) for k in columns}.items()
    )


_SAYING: Final = ("remember", "ingest", "learn", "update")
_HIDDEN: Final = (Status.SUPERSEDED, Status.INVALIDATED, Status.CONSOLIDATED)
ROWS: Final[Mapping[str, Row]] = {
    **{f"rule {rule.name}": _by_rule(rule) for rule in RULES},
    **{
        f"{one} to {other}": _turns("tier", one, other)
        for one, other in (
            *((Tier.HOT, Tier.WARM), (Tier.HOT, Tier.COLD), (Tier.WARM, Tier.COLD), (Tier.COLD, Tier.WARM)),
            *((Tier.WARM, Tier.HOT), (Tier.WARM, Tier.VAULT), (Tier.HOT, Tier.VAULT)),
        )
    },
    **{f"becomes {status}": _turns("status", "active", status) for status in _HIDDEN},
    **{f"shows its {form}": _turns("form", None, form) for form in Form if form is not Form.FULL},
    "shows its full text again": _turns("form", None, Form.FULL),
    "starts in hot": _born(tier="hot"),
    "starts in warm": _born(tier="warm"),
    "archived by hand": _by("archive", _turns("status", "active", "archived")),
    "restored by hand": _by("restore", _turns("status", "archived", "active")),
    "comes back because it is said again": lambda e: (
        e.operation in _SAYING and _turns("status", "archived", "active")(e)
    ),
    "pinned by hand": _by("pin", lambda e: (e.after or {}).get("pinned") is True),
    "moved by hand": _by("move", lambda e: "tier" in (e.after or {})),
    "the same text is stored once": _by("remember", lambda e: e.before is not None and "status" not in e.before),
    "replaced by an update": _by("update", _turns("status", "active", "superseded")),
    "replaced by remember": _by("remember", _turns("status", "active", "superseded")),
    "duplicates are merged": _by("consolidate", _turns("status", "active", "consolidated")),
    "a task's memories join the session": _turns("scope", "task", "session"),
    "a session's memories are promoted": _turns("scope", "session", "long_term"),
    "a session is summed up": _born(kind="summary"),
    "use is counted": _because("by recall", "sweep"),
    "use raises importance": _by("used", lambda e: "importance" in (e.after or {})),
    "a wrong answer lowers confidence": _by("used", lambda e: "confidence" in (e.after or {})),
    "reinforced by hand": _by("reinforce", lambda e: "importance" in (e.after or {})),
    "strengthened by hand": _by("strengthen", lambda e: "level" in (e.after or {})),
    "weakened by hand": _by("weaken", lambda e: "strength" in (e.after or {}) or "level" in (e.after or {})),
    "a fact is learned": _born(kind="fact"),
    "a fact is said again": lambda e: e.operation in _SAYING and "reinforcements" in (e.after or {}) and bool(e.before),
    "a fact is confirmed": _by("confirm", lambda e: "validated_ms" in (e.after or {})),
    "a fact is denied": _by("deny", _turns("status", "active", "invalidated")),
    "a fact is corrected": _by("correct", _turns("status", "active", "superseded")),
    "a fact is replaced by what is said": _by("learn", _turns("status", "active", "superseded")),
    "held by the loss budget": _because("held back by the loss budget"),
    "held by the recall gate": _because("held back by the recall gate"),
    "what was held is let go": lambda _: False,  # seen over several changes, in ``reached``
    "undone": lambda e: e.operation == "undo",
}
"""What the five specifications say can happen to a memory -> how the journal tells it."""


def reached(histories: Iterable[Iterable[Entry]]) -> Counter[str]:
    """Return row -> how often it was reached."""
    found: Counter[str] = Counter()
    for entries in histories:
        held = False
        for entry in entries:
            found.update(name for name, row in ROWS.items() if row(entry))
            if entry.target == "memory":
                gone = (entry.after or {}).get("status") == "archived" or "form" in (entry.after or {})
                found["what was held is let go"] += held and gone and entry.operation == "sweep"
                held = "held back by" in entry.because or (held and not gone)
    return found
