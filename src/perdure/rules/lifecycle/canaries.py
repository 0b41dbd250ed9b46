"""Canaries: which questions are replayed before a plan is final, and which answers were lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from perdure.records.digests import same_words
from perdure.records.errors import PolicyError
from perdure.records.memory import Document
from perdure.records.store_rows import Answer, Canary, LostAnswer
from perdure.rules.validation.values import checked_namespace, checked_text, parse_entries

_KEYS: Final = {"text", "namespace", "expect", "contains"}
_LONGEST: Final = 10_000
_MOST: Final = 1000
_MOST_NAMED: Final = 10  # so many lost answers are named in full


def parse_golden(data: Mapping[str, Any], name: str) -> tuple[Canary, ...]:
    """Return a person's own queries from a parsed TOML file: ``[[query]]`` tables.

    Args:
        data: ``{"query": [{"text", "namespace"?, "expect" | "contains"}]}``.
        name: The file, for messages.
    """
    tables = data.get("query", [])
    if set(data) - {"query"} or not isinstance(tables, list) or len(tables) > _MOST:
        raise PolicyError(
            (f"{name} must contain at most {_MOST} [[query]] tables and nothing else.",),
            remedy='Write [[query]], then text = "...", then expect = ["id"] or contains = "...".',
        )
    numbered = ((f"query {number}", partial(_golden, table, number)) for number, table in enumerate(tables, 1))
    return parse_entries(numbered, name, remedy="Fix the queries; docs/how-to.md shows one.")


def _golden(table: Any, number: int) -> Canary:
    if not isinstance(table, Mapping):
        raise TypeError("it is not a table.")
    if unknown := sorted(set(table) - _KEYS):
        raise TypeError(f"there is no key {unknown[0]!r}; the keys are {', '.join(sorted(_KEYS))}.")
    expect, contains = table.get("expect", []), table.get("contains", "")
    if not isinstance(expect, list) or bool(expect) == bool(contains):
        raise TypeError("it needs either expect, a list of ids, or contains, a text.")
    return Canary(
        text=checked_text(table.get("text"), "text", longest=_LONGEST),
        source=f"golden query {number}",
        expect=tuple(checked_text(identity, "expect", longest=200) for identity in expect),
        contains=checked_text(contains, "contains", longest=_LONGEST) if contains else "",
        namespace=checked_namespace(table.get("namespace", "default")),
    )


def canaries_from_feedback(outcomes: Iterable[Document], namespace: str, most: int) -> tuple[Canary, ...]:
    """Return past recalls with a helpful answer as canaries: one for each query, the newest first, at most so many.

    The id of a document of the shelf OUTCOME is the memory; its data has outcome, query and at_ms.
    """
    newest: dict[str, int] = {}
    answers: dict[str, dict[str, None]] = {}
    for document in outcomes:
        query = document.data.get("query")
        if document.data.get("outcome") != "helpful" or not isinstance(query, str) or not query.strip():
            continue
        newest[query] = max(newest.get(query, 0), int(document.data.get("at_ms", 0)))
        answers.setdefault(query, {})[document.id] = None
    chosen = sorted(newest, key=lambda query: (-newest[query], query))[:most]
    return tuple(Canary(query, "useful recall", tuple(answers[query]), namespace=namespace) for query in chosen)


def lost_answers(
    canary: Canary, before: Sequence[Answer], after: Sequence[Answer], stand_ins: Mapping[str, frozenset[str]]
) -> tuple[LostAnswer, ...]:
    """Return the answers that a canary had before and has not after.

    An expected memory is an answer while it, or a memory that stands for it now or after the plan, is among the hits.
    What was no answer before cannot be lost.
    """
    if canary.contains:
        holding = tuple(a.id for a in before if _holds(a, canary.contains))
        if not holding or any(_holds(a, canary.contains) for a in after):
            return ()
        return (LostAnswer(canary, f'"{canary.contains}"', holding),)
    found = []
    before_ids, after_ids = {a.id for a in before}, {a.id for a in after}
    for identity in canary.expect:
        answers = {identity} | stand_ins.get(identity, frozenset())
        if answers & before_ids and not answers & after_ids:
            found.append(LostAnswer(canary, identity, tuple(sorted(answers & before_ids))))
    return tuple(found)


def _holds(answer: Answer, text: str) -> bool:
    return same_words(text) in same_words(answer.shown)


def recall_refusal(found: Sequence[LostAnswer]) -> str:
    """Return why the recall gate stops a plan, naming each lost answer; empty if none is lost."""
    if not found:
        return ""
    first = [f"{lost.answer} for {lost.canary.text!r} ({lost.canary.source})" for lost in found[:_MOST_NAMED]]
    more = f", and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return f"recall gate: the plan would lose the {'answer' if len(found) == 1 else 'answers'} {', '.join(first)}{more}"
