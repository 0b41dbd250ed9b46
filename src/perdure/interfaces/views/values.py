"""Values as text and tables: what every view uses, and the view of a result that has none of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, Final

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import Block, Identifier, Line, Pairs, Table, Text, Undo, Untrusted
from perdure.records.identifier import shown_id
from perdure.records.instant import Instant, text_of, to_instant
from perdure.verbs.declaration import VERBS

MOST: Final = 20  # entries of a list that are shown; the structured result has all
_HIGHEST_LIMIT: Final = 1000  # that the verbs take
_BRIEF: Final = 80  # characters of a table's cell that a terminal shows
_INSTANT: Final = re.compile(r"at|.*_(ms|seen)")
_ENDING: Final = frozenset(("operation", "operations", "changed", "dry_run", "plans", "namespace", "memories_deleted"))
"""Fields that ``closing_notes`` shows, that repeat what was asked, or that never say anything."""
_LABELS: Final = {"anew": "ended by this call", "aging": "stale", "contested": "conflicting", "avg": "mean"}


def view_values(result: Any, request: Request) -> Iterator[Block]:
    """Show a result under the names that its JSON has: values, then lists as tables, then how it is undone."""
    if isinstance(result, list | tuple):
        yield from table(result) if _is_rows(result) else (Line(cell_text("", one)) for one in result)
        yield from () if result else [Line("Nothing found.")]
    elif result is None or isinstance(result, str | int | float):
        yield Line("Done." if result is None else cell_text("", result))
    else:
        yield from _record(result)
        end = list(closing_notes(result, request))
        yield from end or ([] if getattr(result, "changed", True) else [Line("Nothing changed.")])


def _record(result: Any) -> Iterator[Block]:
    if isinstance(result, Mapping):
        values = dict(result)
    else:
        values = {name: getattr(result, name, value) for name, value in result.to_dict().items() if name not in _ENDING}
    tables = {name: value for name, value in values.items() if _is_rows(value)}
    records = {name: value for name, value in values.items() if is_dataclass(value)}
    pairs = [(field_label(n), cell_text(n, v, 0)) for n, v in values.items() if n not in tables and n not in records]
    if filled := tuple((name, text) for name, text in pairs if text):
        yield Pairs(filled)
    for name, rows in tables.items():
        yield Line(f"{field_label(name).capitalize()}:", tone="strong")
        yield from table(rows)
    if records:
        yield from table(records)


def closing_notes(result: Any, request: Request) -> Iterator[Block]:
    """Yield that a preview has written nothing, if it has found something to do, and how a result is undone."""
    if _is_preview(result):
        previews = VERBS[request.verb].defaults.get("dry_run", True) if request.verb in VERBS else True
        option = "with --apply" if previews else "without --dry-run"
        yield Line(f"Nothing was written; run it again {option} to apply it.", reader="person")
        argument = "confirm=true" if hasattr(result, "confirmed") else "dry_run=false"
        yield Line(f"Nothing was written; call it again with {argument} to apply it.", reader="model")
    yield from undo(getattr(result, "operations", (getattr(result, "operation", None),)))


def _is_preview(result: Any) -> bool:
    """Whether a result has written nothing although there is something to do."""
    if getattr(result, "confirmed", not getattr(result, "dry_run", False)) and getattr(result, "learned", True):
        return False
    if hasattr(result, "rates"):
        return any(rate.in_use for rate in result.rates)
    return any(plan.changes for plan in result.plans) if hasattr(result, "plans") else True


def undo(operations: Iterable[str | None]) -> Iterator[Undo]:
    """Yield how operations are taken back, if there are any."""
    if ids := tuple(operation for operation in operations if operation):
        yield Undo(ids)


def table(rows: Sequence[Any] | Mapping[str, Any], columns: str = "") -> Iterator[Block]:
    """Yield a table of records, and how many more there are than are shown.

    ``columns`` names the fields that are shown, by default all that are not empty; named rows begin with their names.
    """
    names, records = (list(rows), list(rows.values())) if isinstance(rows, Mapping) else ([], rows)
    shown = columns.split() or [f.name for f in fields(records[0]) if any(_holds(getattr(r, f.name)) for r in records)]
    cells = [tuple(cell_text(name, getattr(record, name)) for name in shown) for record in records[:MOST]]
    head = ("",) if names else ()
    labels = (*head, *(field_label(name) for name in shown))
    yield Table(labels, tuple((*(Untrusted(n) for n in names[i : i + 1]), *row) for i, row in enumerate(cells)))
    yield from remaining_entries(len(records))


def first_entries(entries: Sequence[Block]) -> Iterator[Block]:
    """Yield the first entries of a list, and how many more there are."""
    yield from entries[:MOST]
    yield from remaining_entries(len(entries))


def remaining_entries(total: int) -> Iterator[Line]:
    """Yield how many more entries there are than are shown, if there are."""
    if total > MOST:
        yield Line(f"… and {total - MOST:,} more; --json lists all.", item=True, reader="person")
        yield Line(f"and {total - MOST:,} more", item=True, reader="model")


def beyond_limit(rows: Sequence[Any], request: Request) -> Iterator[Line]:
    """Yield how rows are shown that the call's limit may have left out, if it may have."""
    limit = request.arguments.get("limit")
    if limit is None or len(rows) < limit:
        return
    ended = f"Ended at the limit of {limit:,}; if there are more,"
    if request.verb == "list":
        before = Identifier(rows[-1].id)
        yield Line((f"{ended} add: --before ", before), tone="faint", reader="person")
        yield Line(("Next page: before=", before, "."), reader="model")
    else:
        how = "add: --limit N" if limit < _HIGHEST_LIMIT else "`perdure export` writes them"
        yield Line(f"{ended} {how}", tone="faint", reader="person")
        yield Line(f"Limited to {limit:,}; there may be more.", reader="model")


def cell_text(name: str, value: Any, most: int = _BRIEF) -> Text:
    """Return the value of a field as text; empty for none."""
    if isinstance(value, datetime) or (isinstance(value, int) and _INSTANT.fullmatch(name)):
        return format_instant(value)
    if isinstance(value, bool | int | float):
        return _number(value)
    if isinstance(value, str):
        span = Identifier(value) if shown_id(value) != value else Untrusted(value, most if len(value) > most else 0)
        return span if value else ""
    if is_dataclass(value):
        return join_texts(cell_text(f.name, getattr(value, f.name), most) for f in fields(value))
    if isinstance(value, Mapping):
        return join_texts((cell_text("", key), " ", cell_text(key, one, most)) for key, one in value.items())
    return join_texts(cell_text(name, one, most) for one in value or ())


def _number(value: float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.2f}" if value == 0 or abs(value) >= 0.05 else f"{value:.2g}"  # noqa: PLR2004  # two digits


def field_label(name: str) -> str:
    """Return how a field is called."""
    return " ".join(_LABELS.get(word, word) for word in name.split("_"))


def join_texts(texts: Iterable[Text], separator: str = ", ") -> Text:
    """Return texts one after the other, without empty ones; empty if there are none."""
    parts = [part for text in texts if text for part in (separator, text)]
    return tuple(parts[1:]) or ""


def pluralize(number: int, noun: str) -> str:
    """Return a number with its noun, for example ``1 file``, ``1,200 memories``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}{'es' if noun.endswith('s') else 's'}"
    return f"{number:,} {noun if number == 1 else plural}"


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Return counts in words, for example ``hot 3, warm 12``."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


def sum_of(parts: Mapping[str, float]) -> str:
    """Return parts as they add up, without those that add nothing."""
    nonzero = {name: value for name, value in parts.items() if round(value, 3)}
    return " + ".join(f"{name} {value:.3f}" for name, value in nonzero.items()) or "nothing"


def format_instant(moment: datetime | Instant | None) -> str:
    """Return an instant as ``2026-11-21 09:30 UTC``."""
    if moment is None:
        return "never"
    return text_of(to_instant(moment) if isinstance(moment, datetime) else moment)


def _holds(value: Any) -> bool:
    """Whether a value is there: a number always is."""
    return isinstance(value, bool | int | float) or bool(value)


def _is_rows(value: Any) -> bool:
    values = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return any(is_dataclass(one) for one in values)


def format_figure(name: str, value: float) -> str:
    """Return a figure as a person reads it; the end of its name says its unit."""
    if name.endswith("_hours"):
        days = value / 24
        return f"{days:,.0f} days" if days >= 2 else f"{value:,.0f} {'hour' if round(value) == 1 else 'hours'}"  # noqa: PLR2004
    if name.endswith("_days"):
        return f"{value:,.0f} {'day' if round(value) == 1 else 'days'}"
    return f"{value:.0%}" if name.endswith("_share") else f"{value:,.4g}"
