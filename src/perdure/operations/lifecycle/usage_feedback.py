"""What became of a hit: it was helpful, wrong, or not used. Being returned is no use; only this is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal

from perdure.operations.decisions import begin, ids_by_namespace, read_visible, write
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.errors import InvalidInput
from perdure.records.memory import Shelf
from perdure.records.signal_results import UseResult
from perdure.rules.decisions import Decisions
from perdure.rules.document_edits import DocumentEdits
from perdure.rules.lifecycle.reinforcement import Boost, doubt_states, reinforce_states
from perdure.rules.validation.values import checked_id

WhatCame = Literal["helpful", "wrong", "unused"]

WRONG: Final = "wrong"  # the name of the review that a wrong memory opens

_TOLD: Final = 3  # memories that a remark names
_RECENT: Final = 100  # so many recalls are looked at first: an outcome mostly follows its recall


@dataclass(frozen=True, slots=True)
class _Origin:
    """The recall that a use belongs to."""

    name: str = ""  # its id, or empty
    query: str = ""  # what was asked, or empty where the log does not say that it returned the memory
    counted: bool = False  # whether the recall returned the memory, so that the access is counted already


@dataclass(slots=True)
class _Done:
    """What has been done so far: for which memories it counted, which are not in view or reported already, and how."""

    counted: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)
    operations: list[str] = field(default_factory=list)
    astray: list[str] = field(default_factory=list)
    """Memories that the named recall did not return, as far as the log says."""


def used(ctx: Context, ids: Sequence[str], outcome: WhatCame, recall_id: str | None) -> UseResult:
    """Take in what became of memories.

    ``helpful`` reinforces, and remembers which question the memory answered. ``wrong`` halves confidence (a policy
    key), counts as a lapse, and asks a person. ``unused`` changes nothing. The same memory and recall count once (the
    newest recall that returned it, if none is named); only ``wrong`` still counts after ``helpful``.

    Raises:
        InvalidInput: No memory is named.
    """
    if not ids:
        raise InvalidInput("No memory was named.", remedy="Pass the ids of the hits that were used.")
    if recall_id is not None:
        checked_id(recall_id, "recall_id")
    results = _Done()
    found: set[str] = set()
    for place, place_ids in ids_by_namespace(ctx, ids).items():
        if outcome == "unused":
            found |= {r.id for r in read_visible(ctx, place, place_ids)}
        else:
            origins = _origins(ctx, place, place_ids, recall_id)
            results.astray += [i for i in place_ids if recall_id is not None and not origins[i].counted]
            retry(partial(_record, ctx, place, outcome, origins, results))
    found |= results.counted | results.repeated
    notes = (_remark(recall_id, [i for i in results.astray if i in results.counted]), _unknown(ids, found))
    return UseResult(
        outcome,
        tuple(i for i in ids if i in results.counted),
        tuple(i for i in ids if i in results.repeated),
        tuple(i for i in ids if i not in found),
        tuple(results.operations),
        "; ".join(filter(None, notes)),
    )


def _unknown(ids: Sequence[str], found: Collection[str]) -> str:
    """Return what to say of ids of no memory in view."""
    missing = [i for i in ids if i not in found]
    more = f" and {len(missing) - _TOLD:,} more" if len(missing) > _TOLD else ""
    return f"no visible memory has the id {', '.join(missing[:_TOLD])}{more}" if missing else ""


def _remark(recall_id: str | None, astray: Sequence[str]) -> str:
    """Return what to say where a use counted that does not belong to the recall that was named."""
    if not astray:
        return ""
    return (
        f"the recall log has no recall {recall_id} that returned {', '.join(astray[:_TOLD])}"
        f"{f' and {len(astray) - _TOLD:,} more' if len(astray) > _TOLD else ''}; it counted, without the question that "
        "was asked"
    )


def _origins(ctx: Context, place: str, ids: Sequence[str], recall_id: str | None) -> dict[str, _Origin]:
    found: dict[str, _Origin] = {}
    longest = ctx.policy.recall.log_entries
    for size in sorted({min(_RECENT, longest), longest} - {0}):
        for name, _, query, hits in ctx.store.recalls(place, size):
            for i in set(hits).intersection(ids) if recall_id in (None, name) else ():
                found.setdefault(i, _Origin(name, query, counted=True))
        if len(found) == len(ids):
            break
    return {i: found.get(i, _Origin(recall_id or "")) for i in ids}


def _record(ctx: Context, place: str, outcome: WhatCame, origins: Mapping[str, _Origin], results: _Done) -> None:
    """Write down what became of memories of one namespace, those with their recalls that are in view."""
    records = read_visible(ctx, place, list(origins))
    edits = DocumentEdits(ctx.store.documents.strict.find(place, Shelf.OUTCOME, [r.id for r in records]))
    fresh = [r for r in records if _is_news(edits.get(Shelf.OUTCOME, r.id, origins[r.id].name), outcome)]
    results.repeated |= {r.id for r in records} - {r.id for r in fresh} - results.counted
    if not fresh:
        return
    decisions = begin(ctx, place, ctx.clock())
    decisions.admit(fresh)
    _change_signals(decisions, outcome, origins)
    _note(edits, decisions, outcome, origins)
    if outcome == WRONG:
        edits.read(ctx.store.documents.strict.find(place, Shelf.REVIEW, list(decisions.records)))
        _ask(edits, decisions, origins)
    decisions.add(edits.changes())
    written = write(ctx, decisions, "used", f"used: {len(fresh)} {outcome}")
    results.operations += [written] if written is not None else []
    results.counted |= {r.id for r in fresh}


def _change_signals(decisions: Decisions, outcome: WhatCame, origins: Mapping[str, _Origin]) -> None:
    ids, states, policy = list(decisions.states), list(decisions.states.values()), decisions.policy
    if outcome == WRONG:
        for identity, new in zip(ids, doubt_states(states, policy, decisions.now), strict=True):
            decisions.change(identity, new.state, "used", new.because)
        return
    accessed = [not origins[i].counted for i in ids]
    boost = Boost("additive", policy.use.boost, policy.use.strength)
    for identity, new in zip(ids, reinforce_states(states, accessed, boost, policy, decisions.now), strict=True):
        because, counts = f"helpful: {new.because}", not origins[identity].counted
        decisions.change(identity, new.state, "used", because, accessed=counts)


def _is_news(earlier: Mapping[str, Any] | None, outcome: WhatCame) -> bool:
    """Whether an outcome has not been reported: the first one counts, and that it was wrong counts after any other."""
    return earlier is None or (outcome == WRONG and earlier.get("outcome") != WRONG)


def _note(edits: DocumentEdits, decisions: Decisions, outcome: WhatCame, origins: Mapping[str, _Origin]) -> None:
    for i in decisions.records:
        query = origins[i].query
        because = (
            f"{outcome}, for the question {query!r}" if query else f"{outcome}, for a question that was not logged"
        )
        data = {"outcome": outcome, "query": query, "at_ms": decisions.now}
        edits.put(Shelf.OUTCOME, i, origins[i].name, data, because)


def _ask(edits: DocumentEdits, decisions: Decisions, origins: Mapping[str, _Origin]) -> None:
    """Open a review of each memory that has none of the kind."""
    for i in decisions.records:
        if edits.get(Shelf.REVIEW, i, WRONG) is None:
            query = origins[i].query
            why = f"it was wrong as an answer to {query!r}" if query else "it was reported wrong"
            data = {"why": why, "since_ms": decisions.now}
            edits.put(Shelf.REVIEW, i, WRONG, data, "a person is asked whether it is right")
