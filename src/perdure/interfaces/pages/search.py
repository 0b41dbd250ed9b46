"""Asking a question, with filters, at any time; and why a memory was not among the answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, Final

from markupsafe import Markup

from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest
from perdure.interfaces.pages.plots import Bar, stacked_bar
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views.blocks import Block, Line, Quote
from perdure.interfaces.views.values import sum_of
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.memory import Kind
from perdure.records.recall import Absence, Hit, Recall

_LIMIT: Final = 8
_MOST: Final = 50
_NEWEST: Final = 20
_MOST_EXPECTED: Final = 4  # memories that some words find and that are explained: each is a search
_LEAST: Final = 0.0005  # of a score's part that is drawn


def search(request: PageRequest) -> Answer:
    """Show the answers to a question; without one the newest memories. Looking does not count as an access."""
    question, filters = request.query.get("q", "").strip(), filters_of(request)
    values: dict[str, Any] = {
        "question": question,
        "kinds": [kind.value for kind in Kind],
        "chosen": filters,
        "found": None,
        "newest": [],
        "absences": [],
    }
    if question:
        answer = request.memory.recall(question, request.namespace, touch=False, **filters)
        values |= {"found": answer, "hits": list(hits(request, answer)), "above": _above(request, answer)}
        values["absences"] = _absences(request, answer, filters)
    else:
        listed = {name: value for name, value in filters.items() if name not in {"as_of", "limit"}}
        values["newest"] = request.memory.list(request.namespace, _NEWEST, **listed)
    return HtmlPage("search", "Search", values)


def filters_of(request: PageRequest) -> dict[str, Any]:
    """Return the filters of the address as arguments of ``recall``."""
    query, filters = request.query, dict[str, Any]()
    if kind := query.get("kind"):
        filters["kinds"] = [kind]
    if tag := query.get("tag", "").strip():
        filters["tags"] = [tag]
    for name in ("since", "until", "as_of"):
        if query.get(name):
            filters[name] = day_of(query[name], end=name != "since")
    if query.get("archived"):
        filters["include_archived"] = True
    filters["limit"] = request.number("limit", _LIMIT, _MOST)
    return filters


def day_of(text: str, *, end: bool = False) -> datetime:
    """Return the beginning of a day, or its end."""
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is no day.", remedy="Write it as 2026-11-21.") from error
    return day.replace(hour=23, minute=59, second=59) if end else day


def hits(request: PageRequest, answer: Recall) -> Iterator[tuple[Hit, list[Block], Markup, str]]:
    """Yield each hit with its blocks, the plot of its score, and the score in words."""
    rest = _blocks(request, answer) if answer.hits else []
    places = [n for n, block in enumerate(rest) if isinstance(block, Quote)]
    for hit, start, end in zip(answer.hits, places, [*places[1:], len(rest)][: len(places)], strict=True):
        parts = sorted(hit.parts.items(), key=lambda part: -part[1])
        bars = [Bar(name, part * 100, n) for n, (name, part) in enumerate(parts[:5]) if part > _LEAST]
        score_text = f"score {hit.score:.2f} = {sum_of(hit.parts)}"
        blocks = [_without_relevance(b) for b in rest[start:end] if _belongs(b)]
        yield hit, blocks, stacked_bar(bars, score_text), score_text


def _belongs(block: Block) -> bool:
    """Whether a block is drawn with a hit: the score has a plot, and what is about all hits stands elsewhere."""
    return isinstance(block, Quote) or (isinstance(block, Line) and block.item and block.tone == "warning")


def _without_relevance(block: Block) -> Block:
    """Leave out what stands beside the hit in large."""
    if not isinstance(block, Quote):
        return block
    facts = tuple(f for f in block.facts if not (isinstance(f, str) and f.startswith("relevance ")))
    return replace(block, facts=facts)


def _blocks(request: PageRequest, answer: Recall) -> list[Block]:
    return view_of(answer, Request("recall", {"namespace": request.namespace}, {"namespaces": request.namespaces}))


def _above(request: PageRequest, answer: Recall) -> list[Block]:
    """Return what is said above the hits: how they are ordered, or that nothing was found."""
    blocks = _blocks(request, answer)
    return blocks if not answer.hits else list(takewhile(lambda block: not isinstance(block, Quote), blocks))


def _absences(request: PageRequest, answer: Recall, filters: dict[str, Any]) -> list[tuple[str, str, Absence]]:
    """Return (id, words, why it is not among the answers) of the memories that were expected, by id or by words."""
    expected = request.query.get("why_not", "").strip()
    if not expected:
        return []
    absences: list[tuple[str, str, Absence]] = []
    for identity in _expected_ids(request, expected):
        absence = request.memory.why_not(identity, answer.query, **filters)
        absences.append((identity, request.content(identity), absence))
    return absences


def _expected_ids(request: PageRequest, expected: str) -> Iterator[str]:
    """Yield the memory with an id, or those that some words find, hidden ones too."""
    if " " not in expected:
        with suppress(NotFound, InvalidInput):
            if memory := request.memory.get(expected, include_archived=True):
                yield memory.id
                return
    answer = request.memory.recall(expected, request.namespace, _MOST_EXPECTED, touch=False, include_archived=True)
    yield from (hit.memory.id for hit in answer.hits)
