"""Views of what is known: facts, timelines, summaries, answer sheets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import Block, Identifier, Line, PlainText, Quote, Table, Text, Untrusted
from perdure.interfaces.views.memory import view_beside
from perdure.interfaces.views.values import (
    MOST,
    beyond_limit,
    cell_text,
    closing_notes,
    counts_in_words,
    join_texts,
    pluralize,
    remaining_entries,
    table,
)
from perdure.records.outcome import ClaimResult, FactReasons

if TYPE_CHECKING:  # views of the history use this file, also where nothing was learned
    from perdure.knowledge.records.results import AnswerSheet, FactLine, LearnResult, Summaries, Timeline, VerifyResult

_BRIEF: Final = 40
_FEW: Final = 3  # of what conflicts with a fact, or replaced it, so many are told
_BELIEVED_STATES: Final = ("active", "aging")
_ATTENTION: Final = ("disagrees", "ambiguous", "unreachable", "silent", "agrees")


def view_facts(facts: Sequence[FactLine], request: Request) -> Iterator[Block]:
    """Show facts as a table, and what to ask about them."""
    values = {f.id: f.shown_value for f in facts}
    columns = ("id", "about", "what", "value", "confidence", "since", "said", "remarks")
    yield Table(columns, tuple(_fact(f, values) for f in facts))
    yield from beyond_limit(facts, request)
    for f in facts:
        if f.question:
            yield Line(("Ask a person: ", Untrusted(f.question), " (", Identifier(f.id), ")"), tone="warning")


def _fact(f: FactLine, values: Mapping[str, str]) -> tuple[Text, ...]:
    quote = Untrusted(f.sources[-1][1], _BRIEF) if f.sources else f"({f.learned})"
    remarks = join_texts((*_remarks(f), *_links(f, values)), "; ")
    return (Identifier(f.id), Untrusted(f.name), *_claim(f), f"{f.confidence:.2f}", _day(f.valid_from), quote, remarks)


def view_timeline(timeline: Timeline, _: Request) -> Iterator[Block]:
    """Show what was true of an entity, and believed, oldest first."""
    if not timeline.entity:
        yield from _names(timeline)
        return
    yield Line((Untrusted(timeline.name), " (", Untrusted(timeline.entity), ")"), tone="strong")
    if not timeline.facts:
        yield Line("No facts.")
        return
    values = {f.id: f.shown_value for f in timeline.facts}
    columns = ("id", "true", "believed", "what", "value", "state", "confidence", "remarks")
    yield Table(columns, tuple(_entry(f, values) for f in timeline.facts))


def _names(timeline: Timeline) -> Iterator[Block]:
    """Show what names somebody or something that no facts are about."""
    yield Line(("No facts are about ", Untrusted(timeline.name), ". What names it:"), tone="strong")
    if timeline.facts:
        rows = (
            (Identifier(f.id), true_period(f), Untrusted(f.name), *_claim(f), state_name(f.state))
            for f in timeline.facts
        )
        yield Table(("id", "true", "about", "what", "value", "state"), tuple(rows))
    for memory in timeline.memories:
        yield Line((Identifier(memory.id), f" {memory.created_at}: ", Untrusted(memory.content)), item=True)


def _entry(f: FactLine, values: Mapping[str, str]) -> tuple[Text, ...]:
    true, believed = true_period(f), period_text(f.believed_from, f.believed_to)
    confidence = f"{f.confidence:.2f}" if f.state in _BELIEVED_STATES else "-"
    return (
        Identifier(f.id),
        true,
        believed,
        *_claim(f),
        state_name(f.state),
        confidence,
        join_texts(_links(f, values), "; "),
    )


def view_learn_result(learnt: LearnResult, request: Request) -> Iterator[Block]:
    """Show what messages taught."""
    if learnt.waiting:
        yield Line(
            f"{pluralize(learnt.waiting, 'message')} not yet read by the language model: run learn again later.",
            tone="warning",
        )
    if learnt.reason:
        yield Line(learnt.reason)
    if not (learnt.messages or learnt.changed):
        return
    facts = f"{pluralize(len(learnt.created), 'new fact')}, {len(learnt.reinforced):,} confirmed"
    messages = f"{pluralize(learnt.messages, 'message')} read: " if learnt.messages else ""
    head = f"{messages}{facts}, {len(learnt.retired):,} no longer believed."
    parts = {name: getattr(learnt, name) for name in ("asked", "replaced", "unknown", "superseded", "planned")}
    became = ClaimResult(**parts)
    yield from view_beside(head, became, learnt.related, learnt.predicates)
    yield from closing_notes(learnt, request)


def view_summaries(summaries: Summaries, request: Request) -> Iterator[Block]:
    """Show the summaries that were made or are due."""
    if summaries.reason:
        yield Line(summaries.reason)
    for s in summaries.made:
        shown = Identifier(s.id) if s.id else "not stored yet"
        yield Quote(
            s.text, (shown, Untrusted(s.entity), f"summarizes {pluralize(len(s.sources), 'memory')}"), whole=True
        )
    yield from closing_notes(summaries, request)


def view_answer_sheet(sheet: AnswerSheet, _: Request) -> Iterator[Block]:
    """Show an answer sheet."""
    yield PlainText(sheet.text)


def view_verify_result(result: VerifyResult, request: Request) -> Iterator[Block]:
    """Show what authorities said of facts, what needs attention first, and what memories cite that is not there."""
    yield Line(result.note or counts_in_words(result.counts))
    if verdicts := sorted(result.verdicts, key=lambda v: _ATTENTION.index(v.outcome)):
        yield from table(verdicts, "id key claimed authority known outcome evidence replaced_by")
    cited = [c for c in result.cited if c.sight != "fine"]
    for c in cited[:MOST]:
        yield Line(
            (Identifier(c.id), f" cites something that is {c.sight} in ", Untrusted(c.authority), ":"), tone="warning"
        )
        for s in c.sightings:
            yield Line((Untrusted(s.citation.text), ": ", Untrusted(s.evidence)), item=True)
    yield from remaining_entries(len(cited))
    if result.unasked:
        yield Line(("No authority covers ", cell_text("", result.unasked)), tone="warning")
    if result.left:
        yield Line(f"{pluralize(result.left, 'memory')} left for the next run.")
    yield from closing_notes(result, request)


def state_name(name: str) -> str:
    """Return how a fact's state is called."""
    return "stale" if name == "aging" else name


def true_period(f: FactLine | FactReasons) -> str:
    """Return when something was true; what was denied never was, what was replaced as it began was for a while.

    Of what was over when it was told, and nobody knows since when, only the end is known.
    """
    if f.state == "invalidated":
        return "never"
    if f.state == "upcoming" and not f.valid_to:
        return f"from {_day(f.valid_from)}"
    if f.valid_from != f.valid_to:
        return period_text(f.valid_from, f.valid_to)
    was_over = _day(f.valid_to) < _day(f.believed_from)
    return f"until {_day(f.valid_to)}" if was_over else f"on {_day(f.valid_from)} at most"


def period_text(begin: str, end: str) -> str:
    """Return the days of a period, which may not have ended."""
    if not end:
        return f"since {_day(begin)}"
    return f"on {_day(begin)} only" if _day(begin) == _day(end) else f"{_day(begin)} to {_day(end)}"


def _claim(f: FactLine) -> tuple[Text, Text]:
    return Untrusted(f.shown_predicate), Untrusted(f.shown_value, _BRIEF)


def _remarks(f: FactLine) -> Iterator[Text]:
    """Yield what is to be known about a fact besides its value."""
    if f.unconfirmed_since:
        yield f"not confirmed since {f.unconfirmed_since}"
    if f.state not in _BELIEVED_STATES:
        yield state_name(f.state)
    elif f.valid_to:
        yield f"until {_day(f.valid_to)}"
    if f.confirmations > 1:
        wording = "stated" if len(f.sources) >= f.confirmations else "stated, confirmed or used"
        yield f"{wording} {f.confirmations} times"
    if f.trust != "user":
        yield f"source: {f.trust}"


def _links(f: FactLine, values: Mapping[str, str]) -> Iterator[Text]:
    """Yield who sees it, what conflicts with it, replaced it, was replaced: by value if it is listed, else by id."""
    if f.session:
        yield ("only in session ", Untrusted(f.session))
    if f.interrupted:
        yield f.interrupted.days
    if f.newer:
        yield ("a later message may say otherwise: ", join_texts(map(Identifier, f.newer[:_FEW])))
    replaced = tuple(i for i in f.supersedes if i in values)
    for words, ids in (("conflicts with ", f.contested), ("replaced by ", f.superseded_by), ("replaces ", replaced)):
        if ids:
            told = join_texts(Untrusted(values[i], _BRIEF) if i in values else Identifier(i) for i in ids[-_FEW:])
            more = len(ids[:-_FEW])
            yield (words, told, f" and {more:,} more" if more else "")


def _day(moment: str) -> str:
    return moment.partition(" ")[0]
