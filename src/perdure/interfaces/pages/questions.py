"""Questions that wait for a person, and the person's answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest, Redirect
from perdure.interfaces.pages.previews import digest
from perdure.interfaces.views.journal import operation_text, reason_text
from perdure.records.errors import ConflictError, NotFound, PerdureError
from perdure.records.memory import MemoryItem
from perdure.records.signal_results import Question

_MOST: Final = 20
_MOST_OPEN: Final = 1000  # open questions among which the answered one is looked for
_TRIES: Final = 3  # where a memory changes while its question is answered
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

    @property
    def mark(self) -> str:
        """Names the question, so that an answer to it is not taken for one to another that came up later."""
        return _mark(self.question)


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


def _mark(question: Question) -> str:
    """Return what names a question for as long as it is open; the same doubt that comes up later is another one."""
    return digest([question.id, question.since, question.against, question.same])


def answer(request: PageRequest) -> Answer:
    """Record what the person said to a question that is still open.

    Raises:
        InvalidInput: The answer is missing, or does not fit.
    """
    verdict = cast("Any", request.required_value("verdict", "The answer"))
    for _ in range(_TRIES):
        question = _answered_question(request)
        unchanged = request.memory.while_unchanged((question.id, *question.against)) if question else request.memory
        if question is None or _answered_question(request) is None:
            break
        value = request.required_value("value", "The right value") if verdict == "correct" else None
        try:
            outcome = unchanged.answer(request.required_value("id", "The memory's id"), verdict, value)
        except PerdureError as error:
            if not isinstance(error, ConflictError) and _answered_question(request) is not None:
                raise
            continue  # it was changed meanwhile, by another answer or by what leaves the question open
        if outcome.operation is None and _answered_question(request) is None:
            break  # the same was answered meanwhile
        return Redirect(request.link("/questions", done=outcome.operation))
    return _answered_already(request)


def _answered_question(request: PageRequest) -> Question | None:
    """Return the question that is answered, if it is still open."""
    identity, asked = request.form_value("id"), request.form_value("asked")
    found = (one for one in request.memory.review(request.namespace, _MOST_OPEN) if identity in (one.id, *one.against))
    return next((question for question in found if _mark(question) == asked), None)


def _answered_already(request: PageRequest) -> Answer:
    item = request.memory.get(request.required_value("id", "The memory's id"), include_archived=True)
    if item is None:
        raise NotFound("The memory that this question is about is gone; nothing was changed.")
    message = "This question is no longer open; nothing was changed."
    for last in request.memory.why(item.id).history[-1:]:
        done = request.memory.operation(last.operation_id, request.namespace)
        who = f" by {done.actor}" if done is not None and done.actor else ""
        message = f"{message} What was done last, at {last.at}{who}: {operation_text(last)}: {reason_text(last)}."
    values = {
        "message": message,
        "remedy": "",
        "way_on": (request.link("/memory", id=item.id), "Look at the memory as it is now"),
    }
    return HtmlPage("error", "Answered already", values, 409, ConflictError.__name__)
