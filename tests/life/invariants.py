"""What must hold of a store at any time of a life, read through public verbs alone. Each check returns its faults."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any, Final

from life.driver import MAINTENANCE, Told, everything
from perdure.memory import Memory
from perdure.records.errors import InvalidInput, NotFound, PerdureError
from perdure.records.instant import from_instant
from perdure.records.memory import Form, MemoryItem, State, Status
from perdure.records.policy import GatePolicy
from perdure.records.report import JournalEntry
from perdure.rules.language.tokens import estimate_tokens

LATE: Final = timedelta(days=7)
"""So long after it fell due a move must be done, or wait for a reason that is shown."""
WAITING: Final = frozenset({"held_days", "overdue_hours"})
"""Alerts of which one must tell of it then."""
MOVES: Final = re.compile(r"^(hot|warm|cold|vault|full|summary|keywords|archived)( to |:)")
DIGEST_LINE: Final = re.compile(r"- .*\[(\w+)\]$")
BELIEVED: Final = ("active", "aging")
GONE: Final = (Status.SUPERSEDED, Status.INVALIDATED, Status.CONSOLIDATED)


def nothing_is_lost(memory: Memory, told: Told) -> Iterator[str]:
    """Every acknowledged memory is there, with all its words, whatever form it shows."""
    yield from (f"fact {i} is gone" for i in told.facts if memory.get(i, include_archived=True) is None)
    for identity, text in {**told.taken_in, **told.texts}.items():
        found = memory.get(identity, include_archived=True)
        if found is None:
            yield f"{identity} is gone: {text[:60]}"
        elif found.form is Form.FULL and found.content != text:
            yield f"{identity} says {found.content[:60]!r} instead of {text[:60]!r}"
        elif found.form is not Form.FULL and found.status is Status.ACTIVE:
            yield from _whole_text_comes_back(memory, found, text)


def _whole_text_comes_back(memory: Memory, shown: MemoryItem, text: str) -> Iterator[str]:
    done = memory.restore(shown.id, "full")
    if done.memory.content != text:
        yield f"{shown.id} restores {done.memory.content[:60]!r} instead of {text[:60]!r}"
    memory.undo(str(done.operation))


def every_change_is_explained(histories: Mapping[str, Sequence[JournalEntry]]) -> Iterator[str]:
    """Every journal entry has a reason in words; that of a move by rule has numbers too."""
    for identity, entries in histories.items():
        for entry in entries:
            if not re.search(r"[a-z]{3}", entry.because):
                yield f"{entry.operation} of {identity} gives no reason: {entry.because!r}"
            elif entry.operation == "sweep" and MOVES.match(entry.because) and not re.search(r"\d", entry.because):
                yield f"{entry.operation} of {identity} gives no numbers: {entry.because!r}"


def journal_tells_the_state(
    items: Sequence[MemoryItem], histories: Mapping[str, Sequence[JournalEntry]]
) -> Iterator[str]:
    """Played from the birth of a memory on, the journal gives its state."""
    for item in items:
        told = _replayed(histories[item.id])
        for name in State.__slots__:
            # Held is no part of the journal: any change of the namespace releases it.
            if name not in ("held", "due_ms") and told.get(name) != getattr(item.state, name):
                yield f"{item.id}: {name} is {getattr(item.state, name)!r}, the journal tells {told.get(name)!r}"


def _replayed(entries: Sequence[JournalEntry]) -> dict[str, Any]:
    row: dict[str, Any] = {f.name: f.default for f in fields(State) if f.default is not MISSING}
    for entry in entries:
        if entry.target == "memory" and entry.after is not None:
            row.update(entry.after)
    return row


def hidden_stays_hidden(
    memory: Memory, told: Told, items: Sequence[MemoryItem], questions: Sequence[str], opening: str
) -> Iterator[str]:
    """What is archived or no longer holds is in no answer, no list, no MEMORY.md and no start of a session."""
    hidden = {m.id: m for m in items if m.status is not Status.ACTIVE}
    active = [m for m in items if m.status is Status.ACTIVE]
    yield from hidden_answers_nothing(memory, hidden, questions, names_in(memory), active)
    yield from (f"{m.status} {m.id} is listed" for m in memory.list(limit=1000) if m.id in hidden)
    digest = memory.digest_details()
    yield from (f"{hidden[i].status} {i} is in the digest" for i in digest.ids if i in hidden)
    yield from (f"{i} is hidden and can be had" for i in list(hidden)[:50] if memory.get(i) is not None)
    # What MEMORY.md shows of a memory in a shorter form are its whole sentences, each with a full stop.
    said = {text for m in active for text in (m.content, f"{m.content}.", told.texts.get(m.id, ""))}
    said |= {f"{f.name}: {f.predicate.replace('_', ' ')}: {f.value}" for f in memory.facts(limit=1000)}
    for text, where in ((digest.text, "MEMORY.md"), (opening, "the start of a session")):
        for item in hidden.values():
            if len(item.content) > 25 and item.content in text and not any(item.content in s for s in said):
                yield f"{where} shows what is {item.status}: {item.content[:80]}"


def names_in(memory: Memory) -> list[str]:
    """Return the entities of a store, and what they were said to have, be or do, which has a timeline by its name."""
    said = dict.fromkeys(f.value for f in memory.facts(limit=1000, past=True))
    return [*(e.id for e in memory.entities(limit=1000)), *said]


def hidden_answers_nothing(
    memory: Memory,
    hidden: Mapping[str, MemoryItem],
    questions: Sequence[str],
    names: Sequence[str],
    near: Sequence[MemoryItem],
) -> Iterator[str]:
    """What is hidden is in no answer and on no sheet, is no fact and no neighbour; of the past it is said to be over.

    A fact that faded because nobody confirmed it is on a sheet, with the day on which somebody last did.
    ``names`` are those whose timelines are read, and ``near`` the memories whose neighbours are looked at.
    """
    shown: dict[str, list[str]] = {"is a fact": [f.id for f in memory.facts(limit=1000)]}
    past: dict[str, list[tuple[str, str]]] = {}
    for query in questions:
        shown[f"answers {query!r}"] = [h.memory.id for h in memory.recall(query, limit=20, touch=False).hits]
        sheet = memory.answer_sheet(query)
        sides = (side for group in sheet.contested for side in group)
        holding = [*sheet.known, *sheet.doubted, *sides, *sheet.memories]
        holding += [s for s in sheet.aging if not s.unconfirmed_since]
        shown[f"is on the sheet of {query!r}"] = [s.id for s in holding]
        shown[f"is quoted for {query!r}"] = [q.memory for s in holding for q in (*s.sources, *s.later)]
        past[f"the sheet of {query!r}"] = [(s.id, s.state) for s in (*sheet.aging, *sheet.outdated)]
    for name in names:
        with suppress(NotFound, InvalidInput):  # nothing in view names it, or it is the name of several
            timeline = memory.timeline(name)
            shown[f"names {name}"] = [m.id for m in timeline.memories]
            past[f"the timeline of {name}"] = [(f.id, f.state) for f in timeline.facts]
    for item in near:
        shown[f"is a neighbour of {item.id}"] = [i for edge in memory.edges(item.id) for i in edge.members]
    for what, ids in shown.items():
        yield from (f"{hidden[i].status} {i} {what}" for i in ids if i in hidden)
    for where, facts in past.items():
        yield from (f"{hidden[i].status} {i} is {s} in {where}" for i, s in facts if i in hidden and s in BELIEVED)


def digest_fits(memory: Memory) -> Iterator[str]:
    """MEMORY.md keeps within its budget, whatever it is, and has no more tokens than it says."""
    for budget in (100, 500, 2000):
        digest = memory.digest_details(budget_tokens=budget)
        if not estimate_tokens(digest.text) <= digest.tokens <= budget:
            yield f"MEMORY.md has {estimate_tokens(digest.text)} tokens, says {digest.tokens}, and may have {budget}"


def digest_is_true(memory: Memory) -> Iterator[str]:
    """No line of MEMORY.md is of a memory that is hidden, or that says only what is believed no longer.

    What went because another fact says the same is believed.
    """
    facts = memory.facts(limit=1000, past=True)
    believed = {(f.name, f.predicate, f.value) for f in facts if f.state not in GONE}
    gone: set[str] = set()
    held: set[str] = set()
    for fact in facts:
        holds = (fact.name, fact.predicate, fact.value) in believed
        (held if holds else gone).update((fact.id, *(source for source, _ in fact.sources)))
    for line in memory.digest().splitlines():
        if named := DIGEST_LINE.match(line):
            shown = memory.get(named[1])
            if shown is None or shown.id in gone - held:
                yield f"MEMORY.md says what does not hold: {line}"


def nothing_waits_in_silence(memory: Memory, items: Sequence[MemoryItem], now: datetime) -> Iterator[str]:
    """What has been due for a week is done, or waits for a reason that ``why`` shows, and an alert tells of it."""
    late = [m for m in items if m.status is Status.ACTIVE and m.due_at is not None and m.due_at < now - LATE]
    for item in late:
        why = memory.why(item.id)
        told = [why.next_move, *(e.because for e in why.history[-1:])]
        if not any("held" in text and ("budget" in text or "gate" in text) for text in told):
            yield f"{item.id} has been due since {item.due_at}, and nothing says why it waits: {why.next_move}"
    if late and not WAITING.intersection(a.name for a in memory.alerts()):
        yield f"{late[0].id} has been due since {late[0].due_at}, and no alert tells of it"


def budgets_hold(
    histories: Mapping[str, Sequence[JournalEntry]], gates: GatePolicy, accepted: Collection[str]
) -> Iterator[str]:
    """Maintenance hides no more of a day than the gates let go of it; a loss belongs to the day of its own date.

    ``accepted`` are the operations whose loss a person has accepted.
    """
    came, went = Counter[str](), Counter[str]()
    hidden, swept = Counter[str](), Counter[str]()
    for entries in histories.values():
        for day, entry, back in changes_of_view(entries):
            (came if is_shown(entry.after) else went)[day] += 1
            by_gates = entry.operation in MAINTENANCE and entry.operation_id not in accepted
            if by_gates and not back and not is_shown(entry.after):
                hidden[day] += 1
                swept[day] += entry.operation == "sweep"
    for day, number in hidden.items():
        began = sum(n for then, n in came.items() if then < day) - sum(n for then, n in went.items() if then < day)
        most = max(1, gates.loss_free_count, gates.loss_share_day * (began + came[day]))
        if number > most or swept[day] > max(1, gates.loss_free_count, gates.loss_share * began):
            yield f"{day}: {number} of {began} hidden, {swept[day]} of them by sweeps"


def changes_of_view(entries: Sequence[JournalEntry]) -> Iterator[tuple[str, JournalEntry, bool]]:
    """Yield (day, change, whether it is undone later) of one memory's changes that show or hide it, oldest first."""
    changes = [e for e in entries if e.target == "memory" and "status" in (e.after or {})]
    changes = [e for e in changes if is_shown(e.after) != is_shown(e.before)]
    for entry, later in zip_longest(changes, changes[1:]):
        by_rule = entry.after is not None and entry.operation == "sweep" and "status_ms" in entry.after
        day = from_instant(entry.after["status_ms"]).isoformat() if by_rule else entry.at
        yield day[:10], entry, later is not None and later.operation == "undo"


def is_shown(row: Mapping[str, Any] | None) -> bool:
    """Whether a memory is in view, by its row."""
    return row is not None and row.get("status") == Status.ACTIVE


def state_of_everything(memory: Memory, questions: Sequence[str] = ()) -> dict[str, object]:
    """Return what can be seen of a store and how it answers questions, without what use alone has changed."""
    items = everything(memory)
    judged = items if memory.policy.knowledge.supersession == "local" else ()
    return {
        "links": {m.id: memory.why(m.id).links for m in judged},
        "memories": {
            m.id: (m.content, m.tags, m.status, m.tier, m.form, m.scope, m.pinned, m.session, m.task) for m in items
        },
        "confidence": {m.id: m.state.confidence for m in items},
        "moved by use": {
            m.id: (m.state.access_count, m.state.importance, m.state.strength, m.state.level) for m in items
        },
        "answers": {q: [h.memory.id for h in memory.recall(q, touch=False).hits] for q in questions},
        "facts": sorted((f.id, f.value, f.state, f.contested) for f in memory.facts(limit=1000, past=True)),
        "entities": sorted((e.name, tuple(e.aliases)) for e in memory.entities(limit=1000)),
        "questions": sorted((q.id, q.question, q.why) for q in memory.review(limit=1000)),
    }


def without(state: Mapping[str, Any], erased: Collection[str]) -> dict[str, object]:
    """Return a state as it would be if some memories had never been; words are rarer then, so answers differ."""
    rows: dict[str, object] = {
        name: sorted(row for row in state[name] if row[0] not in erased) for name in ("facts", "questions")
    }
    for name in ("memories", "confidence", "moved by use"):
        rows[name] = {i: row for i, row in state[name].items() if i not in erased}
    rows["answers"] = {} if erased else state["answers"]
    return {**state, **rows}


def erased_is_gone(memory: Memory, told: Told, items: Sequence[MemoryItem], opening: str) -> Iterator[str]:
    """Of what the policy erased only when and why are known; its words stand where others said them, too."""
    shown, said = f"{memory.digest()}\n{opening}", "\n".join((*(m.content for m in items), *told.texts.values()))
    for identity, text in told.erased.items():
        try:
            memory.why(identity)
        except NotFound as error:
            if "erased by maintenance" not in error.message:
                yield f"{identity} is gone, and nothing says why: {error.message}"
        else:
            yield f"{identity} is erased and can be had"
        if text in shown and text not in said:
            yield f"{text[:60]!r} is erased and shown"


def undo_everything(memory: Memory, told: Told, operations: Sequence[str]) -> Iterator[str]:
    """Take operations back, newest first; what the life itself has taken back is left, where it did so among them."""
    among = {*operations}
    for identity in reversed(operations):
        if told.undone.get(identity) in among:
            continue
        try:
            memory.undo(identity)
        except PerdureError as error:
            nothing_left = told.erased and "for good" in error.message
            if "already undone" not in error.message and not nothing_left:
                yield f"{identity} cannot be undone: {error.message}"


def unused(states: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return states without the numbers and answers that use has moved meanwhile: an access is not taken back."""
    rows = [state["moved by use"] for state in states]
    same = {i for i in rows[0] if all(i in others and others[i][0] == rows[0][i][0] for others in rows)}
    used = set().union(*rows) - same
    moved = {q for state in states for q, ids in state["answers"].items() if not used.isdisjoint(ids)}
    return [
        {
            **state,
            "moved by use": {i: row for i, row in state["moved by use"].items() if i in same},
            "answers": {q: ids for q, ids in state["answers"].items() if q not in moved},
        }
        for state in states
    ]


def differences(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Return where two states of everything differ."""
    found = []
    for name in before:
        one, other = before[name], after[name]
        if isinstance(one, dict) and isinstance(other, dict):
            keys = [k for k in {**one, **other} if one.get(k) != other.get(k)]
            found += [f"{name} {k}: {one.get(k)} is {other.get(k)}" for k in keys]
        elif one != other:
            found.append(f"{name}: {one!r} is {other!r}"[:400])
    return found
