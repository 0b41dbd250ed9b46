"""Carrying out shorter forms: texts are read, shortened, measured against the whole, and refused where they lose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from perdure.operations.lifecycle.model_summaries import written
from perdure.operations.ports import Context
from perdure.operations.recall import SPARE, recall
from perdure.records.compression_results import CompressionReport
from perdure.records.document import Document, Shelf
from perdure.records.errors import ConflictError, PerdureError
from perdure.records.instant import Instant
from perdure.records.memory import Form, Record, State, Status
from perdure.records.plan import Change, Target
from perdure.records.recall import Filters
from perdure.rules.lifecycle.compression_forms import (
    FormText,
    accuracy,
    apply_forms,
    form_figures,
    forms_reached,
    judge_preservation,
    render_form,
    unit_cosine,
)
from perdure.rules.lifecycle.trajectory import Trajectory

PAGE: Final = 2000

Texts = dict[str, dict[Form, str | None]]
"""Memory id -> what it shows in some forms; None for the whole text."""


def carried(
    ctx: Context, namespace: str, trajectories: Sequence[Trajectory], now: Instant
) -> tuple[list[Trajectory], Texts, list[Change]]:
    """Carry out what trajectories shorten.

    Returns:
        The trajectories with sizes and measures, or without the transitions that the meaning guard refused; the texts
        that go with them; and the changes that keep the measures.
    """
    wanted = forms_reached(trajectories)
    if not wanted:
        return list(trajectories), {}, []
    records = {r.id: r for r in ctx.store.get(namespace, list(wanted))}
    asked = [(records[i], f) for i, forms in wanted.items() if i in records for f in forms]
    made = measured(ctx, namespace, asked, written(ctx, _longest(ctx, asked)))
    done, texts, changes = [], {}, []
    kept = documents(ctx, namespace, list(wanted))
    for trajectory in trajectories:
        if trajectory.id not in records or trajectory.id not in wanted:
            done.append(trajectory)
            continue
        forms = {f: made[trajectory.id, f] for f in wanted[trajectory.id]}
        whole = apply_forms(trajectory, forms, ctx.policy)
        done.append(whole)
        record = records[trajectory.id]
        if record.state.form is not trajectory.before.form:
            raise ConflictError(
                "Another process has just shortened it.", (trajectory.id,), remedy="Read again and retry."
            )
        texts[trajectory.id] = {record.state.form: record.content.shown, **{f: s.text for f, s in forms.items()}}
        taken = [forms[s.state.form] for s in whole.transitions if s.shrinks]
        changes += [c for shown in taken for c in measures(trajectory.id, shown, now, kept)]
    return done, texts, changes


def measured(
    ctx: Context,
    namespace: str,
    wanted: Sequence[tuple[Record, Form]],
    by_model: Mapping[tuple[str, Form], str] = MappingProxyType({}),
) -> dict[tuple[str, Form], FormText]:
    """Return (id, form) -> the text in that form, measured against the meaning of the whole where that is known."""
    policy = ctx.policy.compression
    made = {
        (r.id, form): render_form(r.content.text, form, policy, written=by_model.get((r.id, form)))
        for r, form in wanted
    }
    for record, form in wanted:
        if (record.id, form) in by_model and made[record.id, form].refused:
            made[record.id, form] = render_form(record.content.text, form, policy)
    return weighed(ctx, namespace, made)


def weighed(
    ctx: Context, namespace: str, made: Mapping[tuple[str, Form], FormText]
) -> dict[tuple[str, Form], FormText]:
    """Return forms measured against the meaning of the whole, and refused where they keep too little of it."""
    found, policy = dict(made), ctx.policy.compression
    asked = [key for key, shown in made.items() if shown.text and not shown.refused]
    vectors = ctx.store.vectors(namespace, sorted({i for i, _ in asked})) if ctx.embedder is not None and asked else {}
    asked = [key for key in asked if key[0] in vectors]
    if not asked or ctx.embedder is None or ctx.store.space() != ctx.embedder.space:
        return found
    try:
        meanings = ctx.embedder.embed([made[key].text or "" for key in asked], purpose="document")
    except PerdureError as error:
        ctx.warn(f"What shorter forms keep of the meaning was not measured: {error}")
        return found
    for key, meaning in zip(asked, meanings, strict=True):
        found[key] = judge_preservation(found[key], unit_cosine(vectors[key[0]], meaning), policy)
    return found


def _longest(ctx: Context, asked: Sequence[tuple[Record, Form]]) -> dict[tuple[str, Form], tuple[str, int]]:
    """Return what a model may summarise: (id, form) -> the whole text and the tokens of its summary."""
    tokens = ctx.policy.compression.summary_tokens
    return {(r.id, form): (r.content.text, tokens) for r, form in asked if form is Form.SUMMARY}


def report(ctx: Context, namespace: str, queries: int) -> CompressionReport:
    """Return what compression saves and keeps, and what became of past recalls' hits."""
    states: dict[str, State] = {}
    after = ""
    while ids := ctx.store.all_ids(namespace, after, PAGE):
        after = ids[-1]
        states |= {i: s for i, (s, _) in ctx.store.states(namespace, ids).items() if s.status is Status.ACTIVE}
    ids = [i for i, s in states.items() if s.form is not Form.FULL]
    kept = documents(ctx, namespace, ids) if ids else {}
    pairs = [
        (hits, _again(ctx, namespace, at, query, len(hits)))
        for _, at, query, hits in ctx.store.recalls(namespace, queries)
        if hits
    ]
    precision, share, f1 = accuracy(pairs)
    return CompressionReport(
        namespace,
        sum(s.tokens for s in states.values()),
        form_figures(states, {key: d.data for key, d in kept.items()}),
        len(pairs),
        precision,
        share,
        f1,
    )


def _again(ctx: Context, namespace: str, then: Instant, query: str, limit: int) -> list[str]:
    """Ask a past recall again, of what was known then: what was learned since is no loss."""
    again = recall(ctx, query, namespace, 2 * limit + SPARE, Filters(), touch=False)
    return [h.memory.id for h in again.hits if h.memory.state.recorded_ms <= then][:limit]


def documents(ctx: Context, namespace: str, ids: Sequence[str]) -> dict[tuple[str, str], Document]:
    """Return what was measured of some memories' forms before: (id, form) -> the document."""
    return {(d.id, d.name): d for d in ctx.store.documents.find(namespace, Shelf.FORM, ids)}


def measures(
    identity: str, shown: FormText, now: Instant, kept: Mapping[tuple[str, str], Document]
) -> Iterable[Change]:
    """Return the change that keeps what a form was measured to be."""
    row = {"shelf": Shelf.FORM, "name": shown.form.value}
    data = {
        "whole": shown.whole,
        "tokens": shown.tokens,
        "preservation": None if shown.preservation is None else round(shown.preservation, 4),
        "at_ms": now,
    }
    before = kept.get((identity, shown.form.value))
    old = None if before is None else {**row, "data": dict(before.data)}
    return (Change(Target.DOCUMENT, identity, old, {**row, "data": data}, shown.told()),)
