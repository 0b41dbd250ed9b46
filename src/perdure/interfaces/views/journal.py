"""Views of why a memory is as it is, and of the journal: operations, plans, what was undone."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import (
    Block,
    Command,
    Identifier,
    Line,
    Pairs,
    Quote,
    Table,
    Text,
    Untrusted,
    command,
)
from perdure.interfaces.views.knowledge import period_text, state_name, true_period
from perdure.interfaces.views.values import (
    MOST,
    beyond_limit,
    cell_text,
    field_label,
    first_entries,
    pluralize,
    sum_of,
    undo,
)
from perdure.records.explanation import Explanation
from perdure.records.identifier import shown_id
from perdure.records.outcome import AuthorityCheck, ConfidenceChange, FactConflict, FactReasons, SupportingQuote
from perdure.records.plan import Plan
from perdure.records.report import JournalEntry, Operation
from perdure.records.store_results import CompactResult, ErasureLine, ErasureResult, RepairResult, UndoResult
from perdure.rules.escaping import cut

_LONGEST_CONTENT: Final = 500
_LONGEST_REPLACEMENT: Final = 140
_NEEDS_COPY: Final = (
    "`perdure repair --source FILE` takes it from a backup, `perdure restore-backup FILE` goes back to one; "
    "--remove-lost removes what nothing brings back."
)
_MOST_REASONS: Final = 4  # reasons of one operation that are shown


def view_explanation(why: Explanation, _: Request) -> Iterator[Block]:
    """Show why a memory is as it is: what it says, and of a fact why it is believed, before its signals."""
    summary = why.summary.partition(f" {why.likely_untrue or 'Last entry: '}")[0]
    yield Line(summary.replace(why.id, Identifier(why.id).short), tone="strong")
    yield from view_over(why)
    if why.fact is not None:
        yield from view_fact(why.fact)
    else:
        yield Quote(cut(why.says, _LONGEST_CONTENT))
    yield from _sole_source_lines(why)
    yield Line("Signals", tone="strong")
    yield Pairs(tuple(why.signals.items()))
    yield Line(f"value = {sum_of(why.value_parts)}")
    yield Line(why.next_move)
    if why.links:
        yield Line("Links", tone="strong")
        links = [
            Line((Untrusted(kind), " ", Identifier(other), f" ({w:.2f})"), item=True) for kind, other, w in why.links
        ]
        yield from first_entries(links)
    yield Line("History", tone="strong")
    yield from _history(why.history)


def view_over(why: Explanation) -> Iterator[Line]:
    """Show what of a memory holds no longer, and what took its place."""
    for fact in why.no_longer_true:
        place = _place(why, fact.replaced_by)
        since = f" {fact.since[:10]}" if fact.since else ""
        yield Line(("No longer holds: ", Untrusted(fact.content), f" ({fact.over}{since}).", *place), tone="warning")
    if why.replaced_by and all(fact.id != why.id for fact in why.no_longer_true):
        yield Line(("No longer holds: it was replaced.", *_place(why, why.replaced_by)), tone="warning")
    if why.likely_untrue:
        yield Line(why.likely_untrue, tone="warning")
        # The page has a button for it, and a model no tool of that name.
        yield Line(command("confirm", id=Identifier(why.id)), item=True, reader="person")
        yield Line(command("review", id=Identifier(why.id), verdict="confirm"), item=True, reader="model")


def _place(why: Explanation, identity: str | None) -> tuple[Text, ...]:
    if identity is None:
        return ()
    return (
        " In its place: ",
        Untrusted(why.replacements.get(identity, ""), _LONGEST_REPLACEMENT),
        " ",
        Identifier(identity),
    )


def _sole_source_lines(why: Explanation) -> Iterator[Block]:
    if why.sole_source_of:
        yield Line("Believed facts that it alone says", tone="strong")
        yield from first_entries(
            [Line((Untrusted(f.content), " ", Identifier(f.id)), item=True) for f in why.sole_source_of]
        )


def _history(entries: tuple[JournalEntry, ...]) -> Iterator[Line]:
    """Yield what happened, the newest operations; a reason that an operation gives twice is shown once."""
    operations: dict[str, dict[str, JournalEntry]] = {}
    for entry in entries:
        operations.setdefault(entry.operation_id, {}).setdefault(entry.because, entry)
    for reasons in list(operations.values())[-MOST:]:
        shown = list(reasons.values())
        yield from (line_of(entry) for entry in shown[:_MOST_REASONS])
        if len(shown) > _MOST_REASONS:
            yield Line((f"{shown[0].at}  {operation_text(shown[0])}: and {len(shown) - _MOST_REASONS} more"), item=True)


def view_fact(r: FactReasons) -> Iterator[Block]:
    """Show a fact, and why it is believed or not."""
    yield Quote(r.says)
    since = f"true {true_period(r)}, believed {period_text(r.believed_from, r.believed_to)}"
    yield Line(f"This fact is {state_name(r.state)}. It {r.learned}; source: {r.trust}; {since}.")
    yield from (Line(sentence, item=True) for sentence in r.next)
    yield Line("Sources", tone="strong")
    yield from (_source(s) for s in r.sources)
    if not r.sources:
        who = "an authority" if r.trust == "authority" else "a person, in answer to a question"
        yield Line(f"stated by {who}, not in a message", item=True)
    yield Line("Confidence", tone="strong")
    yield from first_entries([_confidence(c) for c in r.confidence])
    for title, lines in (("Conflicts", map(_conflict, r.conflicts)), ("Checks", map(_check, r.checks))):
        if blocks := list(lines):
            yield Line(title, tone="strong")
            yield from first_entries(blocks)


def _source(s: SupportingQuote) -> Quote:
    place = (s.at or "unknown date", ("in ", Identifier(s.memory), f", characters {s.start} to {s.end}"))
    return Quote(s.quote, place, () if s.found else ("no longer there",), speaker=s.speaker)


def _confidence(c: ConfidenceChange) -> Line:
    before = "" if c.before is None else f"{c.before:.2f} to "
    return Line((f"{c.at}  {before}{c.after:.2f}: ", Untrusted(c.because)), item=True)


def _conflict(c: FactConflict) -> Line:
    mine, other = (
        (Untrusted(c.value), f" ({c.confidence:.2f})"),
        (Untrusted(c.other_value), f" ({c.other_confidence:.2f})"),
    )
    return Line(
        (f"{c.at}  ", *mine, " against ", *other, " of ", Identifier(c.with_id), ": ", Untrusted(c.told)), item=True
    )


def _check(c: AuthorityCheck) -> Line:
    value = ("; it has ", Untrusted(c.value)) if c.value else ()
    return Line((f"{c.at}  ", Untrusted(c.authority), f": {c.outcome}", *value), item=True)


_MOST_LISTED = 20
_CONFIRMING: Final = ("confirm", "dry_run")
_COUNTED_ACCESSES = re.compile(r"counted (one access|\d+ accesses) by recall")
_UUID: Final = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_NUMBER: Final = re.compile(r"(\d+) (\w+)")
_PLURAL: Final = re.compile(r"(?:ies|sses|s)$")
_COLUMNS = ("id", "at", "operation", "namespace", "changes", "hides", "note", "undone_by")


def view_history(entries: Sequence[JournalEntry | Operation], request: Request) -> Iterator[Block]:
    """Show a memory's journal, oldest first, or the newest operations."""
    if not entries:
        yield Line("No operations.")
    if operations := [e for e in entries if isinstance(e, Operation)]:
        columns = (*_COLUMNS, "actor") if any(o.actor for o in operations) else _COLUMNS
        rows = tuple(tuple(cell_text(name, getattr(o, name)) for name in columns) for o in operations)
        yield Table(tuple(map(field_label, columns)), rows)
        yield from beyond_limit(operations, request)
        if operations[0].is_own and operations[0].operation != "erase":
            yield Line(("Undo the newest: ", command("undo", operation_id="last")), tone="faint")
    yield from (line_of(e) for e in entries if isinstance(e, JournalEntry))


def line_of(entry: JournalEntry) -> Line:
    """Return one entry of a journal."""
    text = (
        f"{entry.at}  {operation_text(entry)} ",
        Identifier(entry.operation_id),
        ": ",
        Untrusted(reason_text(entry)),
    )
    return Line(text, item=True)


def operation_text(entry: JournalEntry) -> str:
    """Return what happened to a memory: of a sweep that only counted its accesses, those."""
    return "access" if _COUNTED_ACCESSES.fullmatch(entry.because) else entry.operation


def reason_text(entry: JournalEntry) -> str:
    """Return why something happened to a memory, in a person's words where the journal counts accesses."""
    counted_in = _COUNTED_ACCESSES.fullmatch(entry.because)
    if counted_in is None:
        return entry.because
    times = counted_in[1].partition(" ")[0]
    return "recalled once" if times == "one" else f"recalled {times} times"


def operation_note(operation: Operation) -> str:
    """Return what an operation did, without its name, and with ids as they are shown."""
    note = re.sub(rf"^{re.escape(operation.operation)}:? ", "", operation.note)
    return _UUID.sub(lambda found: shown_id(found[0]), note)


def total_note(operations: Sequence[Operation]) -> str:
    """Return what some operations of one name did: what all of them count is added up, else each is told."""
    notes = list(dict.fromkeys(map(operation_note, operations)))
    words = {tuple(part for part in _parts(note) if isinstance(part, str)) for note in notes}
    if len(operations) == 1 or len(words) > 1:
        return "; ".join(notes)
    totals = Counter[str]()
    for operation in operations:
        for part in _parts(operation_note(operation)):
            if not isinstance(part, str):
                totals[part[1]] += part[0]
    return ", ".join([*words.pop(), *(_amount(number, noun) for noun, number in totals.items())])


def _parts(note: str) -> list[str | tuple[int, str]]:
    """Return the parts of a note: (number, of what, in the singular), or words."""
    found = ((part, _NUMBER.fullmatch(part)) for part in note.split(", "))
    return [(int(number[1]), _PLURAL.sub(_singular, number[2])) if number else part for part, number in found]


def _singular(plural: re.Match[str]) -> str:
    return {"ies": "y", "sses": "ss"}.get(plural[0], "")


def _amount(number: int, noun: str) -> str:
    """Return a number with its noun; ``archived`` and its like are none, and have no plural."""
    return f"{number:,} {noun}" if noun.endswith("ed") else pluralize(number, noun)


def view_undo_result(result: UndoResult, request: Request) -> Iterator[Block]:
    """Show what was undone, and what else the same call did."""
    undone, *redo = view_plan(result.plans, request)
    yield undone
    yield from (Line((Untrusted(m.content), " ", Identifier(m.id)), item=True) for m in result.memories)
    if rest := result.remaining:
        them = "is not undone. To undo it too" if len(rest) == 1 else "are not undone. To undo them too, in this order"
        yield Line(f"{pluralize(len(rest), 'more operation')} of this run {them}:", tone="warning")
        yield from first_entries([Line(command("undo", operation_id=Identifier(i)), item=True) for i in rest])
    yield from redo


def view_plan(plans: Sequence[Plan], request: Request) -> Iterator[Block]:
    """Show plans that were applied, or written to a file."""
    for p in plans:
        changes = f"{pluralize(len(p.changes), 'change')}, hides {p.hides:,}, shortens {len(p.shortened_ids):,}"
        if p.undoes:
            yield Line(("Undone: ", Untrusted(p.note.removeprefix("undoes ")), f"; {changes}."))
        else:
            yield Line((f"{p.operation} in ", Untrusted(p.namespace), f": {changes}. ", Untrusted(p.note)))
    if not plans:
        yield Line("There is nothing to do.")
    elif "file" in request.notes:
        yield Line(("Apply it with: ", command("apply", file=request.notes["file"])))
    else:
        yield from undo(p.id for p in plans)


view_apply = view_plan


def view_erasure_result(erasure: ErasureResult, request: Request) -> Iterator[Block]:
    """Show what would be erased and the call that confirms it, or what was erased and where it was searched for."""
    many = len(erasure.memories) + len(erasure.derived)
    count = pluralize(many, "memory")
    if erasure.dry_run:
        yield Line(f"This would erase {count} for good; it cannot be undone.", tone="strong")
        yield from _listed_rows(erasure.lines, many)
    else:
        yield Line(f"Erased {count} for good.", tone="strong")
        yield from _id_line("asked for", erasure.memories)
    yield from _id_line("made of them", erasure.derived)
    yield from _id_line("stay without the quoted words", erasure.redacted)
    yield from _id_line("come back into view", erasure.restored)
    if erasure.possible_count:
        many_more = pluralize(erasure.possible_count, "memory")
        yield Line(f"May be about the subject too, and stays unless it is erased by its id: {many_more}.")
        yield from _listed_rows(erasure.possible, erasure.possible_count)
    if erasure.dry_run:
        yield from _id_line("people and things that go", erasure.entities)
        yield from (Line((Untrusted(sentence),), item=True) for sentence in erasure.unreachable)
        call = _confirm_command(erasure.confirm, request)
        yield Line(("To erase exactly this: ", call), reader="person")
        yield Line(("Show this to the person. Only after they agree, to erase exactly this: ", call), reader="model")
        return
    yield from _id_line("people and things, as the journal calls them now", erasure.entities)
    passages, places = pluralize(erasure.searched, "passage"), pluralize(len(erasure.places), "place")
    names = f" and for {pluralize(erasure.names, 'name')}" if erasure.names else ""
    yield Line(f"Searched the store for {passages} of the erased texts{names}: found in {places}.")
    yield from (Line((Untrusted(place),), item=True) for place in erasure.places)
    yield from (Line(("Rewritten: ", Untrusted(backup)), item=True) for backup in erasure.backups)
    yield Line("Not searched:")
    yield from (Line((Untrusted(sentence),), item=True) for sentence in erasure.unreachable)


def _listed_rows(lines: Sequence[ErasureLine], many: int) -> Iterator[Block]:
    """Yield the first of some memories, one row each, and how many more there are."""
    if lines:
        said = any(line.speaker for line in lines)
        more = tuple(name for name in ("named", "has") if any(getattr(line, name) for line in lines))
        columns = ("day", *(["speaker"] if said else ()), "text", *more, "id")
        yield Table(columns, tuple(_line_cells(line, more, said=said) for line in lines))
    if many > len(lines):
        yield Line(f"and {many - len(lines):,} more", item=True)


def _line_cells(line: ErasureLine, more: Sequence[str], *, said: bool) -> tuple[Text, ...]:
    speaker = (Untrusted(line.speaker or ""),) if said else ()
    cells = (Untrusted(getattr(line, name)) for name in more)
    return f"{line.at:%Y-%m-%d}", *speaker, Untrusted(line.text), *cells, Identifier(line.id)


def _confirm_command(word: str, request: Request) -> Command:
    asked = {name: value for name, value in request.arguments.items() if value and name not in _CONFIRMING}
    if asked.get("namespace") == "default":
        del asked["namespace"]
    if isinstance(until := asked.get("until"), datetime):
        asked["until"] = until.isoformat()
    asked.setdefault("reason", ...)
    return command("erase", **asked, confirm=word, dry_run=False)


def _id_line(title: str, ids: Sequence[str]) -> Iterator[Line]:
    if ids:
        more = f" and {len(ids) - _MOST_LISTED} more" if len(ids) > _MOST_LISTED else ""
        shown = [part for identity in ids[:_MOST_LISTED] for part in (" ", Identifier(identity))]
        yield Line((f"{title}:", *shown, more), item=True)


def view_repair_result(repair: RepairResult, _: Request) -> Iterator[Block]:
    """Show what a repair found and did."""
    if not repair.faults:
        yield Line("Nothing is wrong.")
        return
    yield from _sentences("Found", repair.faults)
    yield from _sentences("Would be repaired" if repair.dry_run else "Repaired", repair.repairs)
    yield from _sentences("Nothing is known about" if repair.dry_run else "Still wrong", repair.left)
    if repair.needs_copy:
        yield Line(_NEEDS_COPY, tone="faint")
    if not repair.dry_run and not repair.left:
        yield Line("Nothing is wrong now.")
    yield from undo(repair.operations)
    if repair.kept is not None:
        path, kept = repair.kept.rpartition(".before-")[0], repair.kept
        call = shlex.join(["rm", "-f", f"{path}-wal", f"{path}-shm"]), shlex.join(["mv", kept, path])
        yield Line(("To go back to the damaged file, stop what uses the store, then: ", Untrusted(" && ".join(call))))
        yield Line(
            "Delete that file when you no longer need it: it keeps what is erased from the store later.", tone="faint"
        )


def view_compact_result(result: CompactResult, _: Request) -> Iterator[Block]:
    """Show what compacting gave back, or would give."""
    before, after = _megabytes(result.bytes_before), _megabytes(result.bytes_after)
    sizes = f"takes {before}; rewritten it would take about" if result.dry_run else f"took {before}; now it takes"
    yield Line(f"The store {sizes} {after}.", tone="strong")
    yield from (Line((Untrusted(note),), item=True) for note in result.notes)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _sentences(title: str, texts: Sequence[str]) -> Iterator[Block]:
    if texts:
        yield Line(f"{title} ({len(texts):,}):")
        yield from (Line((Untrusted(text),), item=True) for text in texts[:_MOST_LISTED])
        if len(texts) > _MOST_LISTED:
            yield Line(f"... and {len(texts) - _MOST_LISTED:,} more", tone="faint")
