"""Carrying out shorter forms: texts are read, shortened, measured against the whole, and refused where they lose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from perdure.operations.ports import Context
from perdure.operations.recall import recall
from perdure.records.document import Document, Shelf
from perdure.records.errors import ConflictError, PerdureError
from perdure.records.instant import Instant
from perdure.records.memory import Form, Record, State, Status
from perdure.records.plan import Change, Target
from perdure.records.recall import Filters
from perdure.records.results_forms import CompressionReport
from perdure.rules.forms import Shown, accuracy, carried_out, cosine_of, figures, shortened, shown_as, with_preservation
from perdure.rules.lifecycle import Course

PAGE: Final = 2000

Texts = dict[str, dict[Form, str | None]]
"""Memory id -> what it shows in some forms; None for the whole text."""


def carried(
    ctx: Context, namespace: str, courses: Sequence[Course], now: Instant
) -> tuple[list[Course], Texts, list[Change]]:
    """Carry out what courses shorten.

    Args:
        ctx: Store, policy, embedder.
        namespace: Where the memories are.
        courses: As played.
        now: The instant, for the record of what was measured.

    Returns:
        The courses with sizes and measures, or without the steps that the meaning guard refused; the texts that go with
        them; and the changes that keep the measures.
    """
    wanted = shortened(courses)
    if not wanted:
        return list(courses), {}, []
    records = {r.id: r for r in ctx.store.get(namespace, list(wanted))}
    made = measured(ctx, namespace, [(records[i], f) for i, forms in wanted.items() if i in records for f in forms])
    done, texts, changes = [], {}, []
    kept = documents(ctx, namespace, list(wanted))
    for course in courses:
        if course.id not in records or course.id not in wanted:
            done.append(course)
            continue
        forms = {f: made[course.id, f] for f in wanted[course.id]}
        whole = carried_out(course, forms, ctx.policy)
        done.append(whole)
        record = records[course.id]
        if record.state.form is not course.before.form:
            raise ConflictError("Another process has just shortened it.", (course.id,), remedy="Read again and retry.")
        texts[course.id] = {record.state.form: record.content.shown, **{f: s.text for f, s in forms.items()}}
        taken = [forms[s.state.form] for s in whole.steps if s.shrinks]
        changes += [c for shown in taken for c in measures(course.id, shown, now, kept)]
    return done, texts, changes


def measured(ctx: Context, namespace: str, wanted: Sequence[tuple[Record, Form]]) -> dict[tuple[str, Form], Shown]:
    """Return (id, form) -> the text in that form, measured against the meaning of the whole where that is known."""
    policy = ctx.policy.compression
    made = {(r.id, form): shown_as(r.content.text, form, policy) for r, form in wanted}
    asked = [key for key, shown in made.items() if shown.text and not shown.refused]
    vectors = ctx.store.vectors(namespace, sorted({i for i, _ in asked})) if ctx.embedder is not None and asked else {}
    asked = [key for key in asked if key[0] in vectors]
    if not asked or ctx.embedder is None or ctx.store.space() != ctx.embedder.space:
        return made
    try:
        meanings = ctx.embedder.embed([made[key].text or "" for key in asked], purpose="document")
    except PerdureError as error:
        ctx.warn(f"What shorter forms keep of the meaning was not measured: {error}")
        return made
    for key, meaning in zip(asked, meanings, strict=True):
        made[key] = with_preservation(made[key], cosine_of(vectors[key[0]], meaning), policy)
    return made


def report(ctx: Context, namespace: str, queries: int) -> CompressionReport:
    """Return what compression saves and keeps, and what became of past recalls' hits."""
    states: dict[str, State] = {}
    after = ""
    while ids := ctx.store.every(namespace, after, PAGE):
        after = ids[-1]
        states |= {i: s for i, (s, _) in ctx.store.states(namespace, ids).items() if s.status is Status.ACTIVE}
    ids = [i for i, s in states.items() if s.form is not Form.FULL]
    kept = documents(ctx, namespace, ids) if ids else {}
    pairs = []
    for _, _, query, hits in ctx.store.recalls(namespace, queries):
        again = recall(ctx, query, namespace, max(1, len(hits)), Filters(), touch=False)
        pairs.append((list(hits), [h.memory.id for h in again.hits]))
    precision, share, f1 = accuracy(pairs)
    return CompressionReport(
        namespace,
        sum(s.tokens for s in states.values()),
        figures(states, {key: d.data for key, d in kept.items()}),
        len(pairs),
        precision,
        share,
        f1,
    )


def documents(ctx: Context, namespace: str, ids: Sequence[str]) -> dict[tuple[str, str], Document]:
    """Return what was measured of some memories' forms before: (id, form) -> the document."""
    return {(d.id, d.name): d for d in ctx.store.around.documents_of(namespace, Shelf.FORM, ids)}


def measures(identity: str, shown: Shown, now: Instant, kept: Mapping[tuple[str, str], Document]) -> Iterable[Change]:
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
