"""Questions that wait for a person, and the person's answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest, Redirect

if TYPE_CHECKING:
    from perdure.records.memory import MemoryItem
    from perdure.records.signal_results import Question

_MOST: Final = 20
_LABELS: Final = {
    "confirm": "Yes, still so",
    "deny": "No",
    "keep": "It is still true",
    "drop": "Archive it",
    "both": "Both are true",
    "same": "They are the same",
    "different": "They differ",
    "mute": "Do not ask again",
}
"""Verdict -> how its button is called; ``correct`` has a field beside its own."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """One question with what a person needs to answer it."""

    question: Question
    item: MemoryItem
    sides: list[tuple[MemoryItem, str]]  # of a conflict: each memory, and what it says as a clause
    verdicts: list[tuple[str, str]]  # verdict, and how its button is called
    takes_value: bool  # whether the answer may be another value


def questions(request: PageRequest) -> Answer:
    """Show the open questions, those about the most valuable memories first."""
    found = request.memory.review(request.namespace, _MOST)
    open_questions = [one for question in found if (one := _open_question(request, question)) is not None]
    return HtmlPage("questions", "Questions", {"questions": open_questions, "most": _MOST})


def _open_question(request: PageRequest, question: Question) -> OpenQuestion | None:
    items = [request.memory.get(i, include_archived=True) for i in (question.id, *question.against)]
    item, *others = items
    if item is None:
        return None
    claims = zip((item, *others), question.sides, strict=False)
    sides = [(m, claim.strip('"')) for m, claim in claims if m is not None]
    beside = {"confirm", "deny"} if sides else set()  # each side has buttons of its own
    verdicts = [(verdict, _LABELS[verdict]) for verdict in question.answers if verdict in _LABELS.keys() - beside]
    return OpenQuestion(question, item, sides, verdicts, takes_value="correct" in question.answers)


def answer(request: PageRequest) -> Answer:
    """Record what the person said."""
    verdict = cast("Any", request.required("verdict", "The answer"))
    value = request.required("value", "The right value") if verdict == "correct" else None
    outcome = request.memory.answer(request.required("id", "The memory's id"), verdict, value)
    return Redirect(request.link("/questions", done=outcome.operation))
