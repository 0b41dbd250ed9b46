"""Which rules and transitions lives have reached: rows, each recognised by what the journal says of a change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

import perdure.memory  # noqa: F401  # declares the verbs
from life.defects import CHECKED
from perdure.knowledge.records.facts import EventType, FactOrigin
from perdure.knowledge.rules.claim_resolution import ConflictStrategy
from perdure.knowledge.rules.fact_records import TABLE, FactEvent, FactState, FactTransition, state_of
from perdure.records.instant import to_instant
from perdure.records.memory import LIKELY_SUPERSEDES, Form, Kind, Scope, State, Status, Tier
from perdure.records.policy import Policy
from perdure.records.report import JournalEntry
from perdure.rules.consolidation.merging import MergeStrategy
from perdure.rules.lifecycle.tier_table import RULES, Rule
from perdure.verbs.declaration import VERBS

Row = Callable[[JournalEntry], bool]
"""Whether a change is of a row of the table; before a change of a memory stands all that is known of it by then."""


def _by_rule(rule: Rule) -> Row:
    """Recognise a row of the tier table by the reason that it gives."""
    parts = re.split(r"\{[^}]*\}", f"{rule.move}: {rule.because}")
    pattern = re.compile(".+?".join(map(re.escape, parts)))
    return lambda e: bool(pattern.match(e.because))


def _turns(column: str, before: Any, after: Any) -> Row:
    """Recognise a change of one column from one value to another; None for any."""

    def is_such(entry: JournalEntry) -> bool:
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


def _from_tier(tier: Tier) -> Row:
    """Recognise that what lies in a tier is archived."""
    return lambda e: (
        {**(e.before or {}), **(e.after or {})}.get("tier") == tier and _turns("status", None, "archived")(e)
    )


def _fact_state(row: Mapping[str, Any], at: str) -> FactState:
    """Return what a fact is at an instant, under the default policy."""
    known = {name: row[name] for name in State.__slots__ if name in row}
    state = State(**known | {"kind": Kind(row["kind"]), "status": Status(row["status"])})
    return state_of(state, Policy(), to_instant(datetime.fromisoformat(at.replace(" UTC", "+00:00"))))


_EVENTS: Final[Mapping[FactEvent, Row]] = {
    FactEvent.REINFORCED: lambda e: e.operation in _SAYING and "reinforcements" in (e.after or {}),
    FactEvent.VALIDATED: lambda e: e.operation not in _SAYING and "validated_ms" in (e.after or {}),
    FactEvent.ENDED: lambda e: "said not to hold any longer" in e.because,
    FactEvent.REPLACED: lambda e: "said not to hold any longer" not in e.because,
}
"""How an event is told from others that lead to the same state."""


def _of_facts(row: FactTransition) -> Row:
    """Recognise a row of the table of facts by what a fact is before and after a change."""

    def is_such(entry: JournalEntry) -> bool:
        old = entry.before or {}
        if entry.target != "memory" or old.get("kind") != Kind.FACT or entry.operation == "undo":
            return False
        if row.event is FactEvent.AGED:  # nothing is written when a fact ages: it is seen when something happens to it
            return _fact_state(old, entry.at) is row.target
        ends = _fact_state(old, entry.at), _fact_state({**old, **(entry.after or {})}, entry.at)
        return ends == (row.source, row.target) and _EVENTS.get(row.event, lambda _: True)(entry)

    return is_such


def _decided(**data: str) -> Row:
    """Recognise how a conflict of two facts was decided."""

    def is_such(entry: JournalEntry) -> bool:
        row = entry.after or {}
        return row.get("shelf") == "conflict" and data.items() <= row["data"].items()

    return is_such


def _learned(how: FactOrigin) -> Row:
    """Recognise that a fact came to be known."""

    def is_such(entry: JournalEntry) -> bool:
        row = entry.after or {}
        return entry.before is None and row.get("shelf") == "fact" and row["data"]["learned"] == how

    return is_such


def _linked(kind: str, *, gone: bool = False) -> Row:
    """Recognise a link of a kind that comes; or one that goes without being undone."""

    def is_such(entry: JournalEntry) -> bool:
        row = (entry.before if gone else entry.after) or {}
        comes = entry.before is None
        return entry.target == "link" and row.get("kind") == kind and comes is not gone and entry.operation != "undo"

    return is_such


_SAYING: Final = ("remember", "ingest", "learn", "update")
_FORMS: Final = tuple(Form)
_SCOPES: Final = tuple(Scope)

NOT_LIVED: Final[Mapping[str, str]] = {
    "recall": "what it writes is counted by sweeps: a row of its own",
    "review": "an answer is an operation of its own",
    "forget": "is written as archive",
    "remember_many": "is written as remember",
    "erase": "by hand: operations/test_erase.py; by the policy it is a row of its own",
    **dict.fromkeys(("reembed", "optimize", "repair", "compact"), "is about the store, not about a memory"),
    **dict.fromkeys(("create_token", "revoke_token"), "is about who may come in"),
}
"""Verb that writes -> why it is no row."""
_WRITTEN_AS: Final = {"rates": "learn_rates", "procedures": "learn_procedures"}
_DECIDED_AS: Final = {ConflictStrategy.AUTHORITY: "trust_db"}
"""What the journal calls some of them; an authority that is a database is asked when a fact comes in."""
OPERATIONS: Final = {
    f"operation {name}": _WRITTEN_AS.get(name, name)
    for name, verb in VERBS.items()
    if not verb.reads and name not in NOT_LIVED
}
"""Row -> the name of the operation in the journal."""

MERGING: Final = [how for how in MergeStrategy if how is not MergeStrategy.KEEP_HIGHEST_CONFIDENCE]
"""Ways to merge that a caller may choose; what is left out is how a task's end merges."""
PATTERNS: Final = ("decision", "definition", "important", "solution", "error", "explicit", "pattern")
DERIVED: Final[Mapping[str, Row]] = {
    **{f"rule {rule.name}": _by_rule(rule) for rule in RULES},
    **{
        f"{source} to {rule.target}": _turns("tier", source, rule.target)
        for rule in RULES
        if isinstance(rule.target, Tier)
        for source in rule.sources
        if source is not rule.target
    },
    **{
        f"archived from {tier}": _from_tier(tier)
        for tier in dict.fromkeys(t for rule in RULES if rule.target is Status.ARCHIVED for t in rule.sources)
    },
    **{f"becomes {status}": _turns("status", "active", status) for status in Status if status is not Status.ACTIVE},
    **{f"{one} is shortened to {other}": _turns("form", one, other) for one, other in pairwise(_FORMS)},
    **{f"{one} memory becomes {other}": _turns("scope", one, other) for one, other in pairwise(_SCOPES)},
    **{f"a {kind} is stored": _born(kind=kind) for kind in Kind},
    **{f"a fact that is {row.source} is {row.event}": _of_facts(row) for row in TABLE},
    **{f"a conflict is decided: {s}": _decided(strategy=_DECIDED_AS.get(s, s)) for s in ConflictStrategy},
    **{f"a message is a {one}": _because(f"(a {one}", "ingest") for one in EventType},
    **{
        f"a fact is learned by {how}": _learned(how) for how in FactOrigin if how is not FactOrigin.MODEL
    },  # no life has one
    **dict.fromkeys((f"merged by {how}" for how in MERGING), lambda _: False),  # counted by the driver
    **dict.fromkeys((f"extracted as {name}" for name in PATTERNS), lambda _: False),  # counted by the driver
    **dict.fromkeys(OPERATIONS, lambda _: False),  # counted in ``reached``
}
"""What the engine's own tables hold: rules, tiers, statuses, forms, scopes, kinds, facts' states, conflicts, verbs, and
messages, ways to learn, to merge and to extract."""

BY_HAND: Final[Mapping[str, Row]] = {
    "vault to warm": _by("move", _turns("tier", "vault", "warm")),
    **{f"{tier} to vault": _turns("tier", tier, Tier.VAULT) for tier in (Tier.HOT, Tier.WARM, Tier.COLD)},
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
    "the same text is stored once": _by("remember", lambda e: e.before is not None and "status" not in (e.after or {})),
    "replaced by an update": _by("update", _turns("status", "active", "superseded")),
    "replaced by remember": _by("remember", _turns("status", "active", "superseded")),
    "duplicates are merged": _by("consolidate", _turns("status", "active", "consolidated")),
    "alike ones are linked": _by("consolidate", _linked("similar")),
    "likely duplicates are asked about": _by("consolidate", lambda e: (e.after or {}).get("shelf") == "review"),
    "a task's duplicates are merged": _by("complete_task", _turns("status", "active", "consolidated")),
    "likely made untrue by a later statement": _linked(LIKELY_SUPERSEDES),
    "holds because it is said again": _linked(LIKELY_SUPERSEDES, gone=True),
    "a task's edges are strengthened": _because("accesses of its members", "complete_task"),
    "a session's memories are promoted": _by("promote", _turns("scope", "session", "long_term")),
    "a session is summed up": _by("promote", _born(kind="summary")),
    "an entity is summed up": _by("summarize", _born(kind="summary")),
    "a summary is replaced by its newer one": _by("summarize", _turns("status", "active", "superseded")),
    "a summary makes its facts surer": _because("summed up in", "summarize"),
    "use is counted": _because("by recall", "sweep"),
    "use raises importance": _by("used", lambda e: "importance" in (e.after or {})),
    "a wrong answer lowers confidence": _by("used", lambda e: "confidence" in (e.after or {})),
    **{
        f"reinforced by hand: {how}": _because(f"reinforced ({how} ", "reinforce")
        for how in ("additive", "multiplicative", "set_value")
    },
    "strengthened by hand": _by("strengthen", lambda e: "level" in (e.after or {})),
    "weakened by hand": _by("weaken", lambda e: "strength" in (e.after or {}) or "level" in (e.after or {})),
    "something is extracted": _by("extract", _born()),
    **{
        f"importance is decayed by hand: {shape}": _because(f" ({shape}, half-life", "decay")
        for shape in ("exponential", "linear", "step")
    },
    "a fact is said again": lambda e: e.operation in _SAYING and "reinforcements" in (e.after or {}) and bool(e.before),
    "a fact is confirmed": _by("confirm", lambda e: "validated_ms" in (e.after or {})),
    "a fact is denied": _by("deny", _turns("status", "active", "invalidated")),
    "a fact is denied in a conversation": _by("learn", _turns("status", "active", "invalidated")),
    "a fact has ended": lambda e: "said not to hold any longer" in e.because and "status" in (e.after or {}),
    "a fact is corrected": _by("correct", _turns("status", "active", "superseded")),
    "what was true before yields to what is known": _decided(outcome="kept"),
    "two values stand until somebody answers": _decided(outcome="open"),
    "a conflict is answered": _decided(outcome="answered"),
    "a fact is replaced by what is said": _by("learn", _turns("status", "active", "superseded")),
    "held by the loss budget": _because("held back by the loss budget"),
    "held by the recall gate": _because("held back by the recall gate"),
    "what was held is let go": lambda _: False,  # seen over several changes, in ``reached``
    "undone": lambda e: e.operation == "undo",
}
"""What else can happen to a memory -> how the journal tells it."""
ROWS: Final[Mapping[str, Row]] = {**DERIVED, **BY_HAND, **dict.fromkeys(CHECKED, lambda _: False)}
"""All rows; what ``defects`` looks at is counted there."""


def reached(histories: Iterable[Iterable[JournalEntry]], operations: Mapping[str, int]) -> Counter[str]:
    """Return row -> how often it was reached; ``operations`` is name in the journal -> how often."""
    found = Counter({row: operations.get(name, 0) for row, name in OPERATIONS.items()})
    for entries in histories:
        held = False
        for entry in _with_rows(entries):
            found.update(name for name, row in ROWS.items() if row(entry))
            if entry.target == "memory":
                gone = (entry.after or {}).get("status") == "archived" or "form" in (entry.after or {})
                found["what was held is let go"] += held and gone and entry.operation == "sweep"
                held = "held back by" in entry.because or (held and not gone)
    return found


def _with_rows(entries: Iterable[JournalEntry]) -> Iterator[JournalEntry]:
    """Yield changes, those of a memory with its whole row before it."""
    row: dict[str, Any] = {}
    for entry in entries:
        is_change = entry.target == "memory" and entry.before is not None
        yield replace(entry, before={**row, **(entry.before or {})}) if is_change else entry
        if entry.target == "memory":
            row |= entry.after or {}
