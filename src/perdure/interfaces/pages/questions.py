"""Questions that wait for a person, and the person's answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from perdure.interfaces.pages.asked import Answer, Asked, Elsewhere, Shown
from perdure.records.memory import Kind

if TYPE_CHECKING:
    from perdure.records.memory import MemoryItem
    from perdure.records.signal_results import Question

_MOST: Final = 20
_OF_FACTS: Final = (("confirm", "Yes, still so"), ("deny", "No"), ("mute", "Do not ask again"))
_OF_OTHERS: Final = (("keep", "It is still true"), ("drop", "Archive it"))
_OF_NAMES: Final = (("same", "They are the same"), ("different", "They differ"))


@dataclass(frozen=True, slots=True)
class Asking:
    """One question with what a person needs to answer it."""

    question: Question
    item: MemoryItem
    against: list[MemoryItem]  # what contradicts it
    verdicts: list[tuple[str, str]]  # verdict, and how its button is called
    takes_value: bool  # whether the answer may be another value


def questions(asked: Asked) -> Answer:
    """Show the open questions, those about the most valuable memories first."""
    found = asked.memory.review(asked.namespace, _MOST)
    shown = [one for question in found if (one := _asking(asked, question)) is not None]
    return Shown("questions", "Questions", {"questions": shown, "most": _MOST})


def _asking(asked: Asked, question: Question) -> Asking | None:
    items = [asked.memory.get(i, include_archived=True) for i in (question.id, *question.against)]
    item, *others = items
    if item is None:
        return None
    fact = item.kind is Kind.FACT
    verdicts = list(_OF_NAMES if question.same else _OF_FACTS if fact else _OF_OTHERS)
    if question.against:
        verdicts.insert(2, ("both", "Both are true"))
    return Asking(question, item, [m for m in others if m is not None], verdicts, fact and not question.same)


def answer(asked: Asked) -> Answer:
    """Record what the person said."""
    verdict = cast("Any", asked.needed("verdict", "The answer"))
    value = asked.needed("value", "The right value") if verdict == "correct" else None
    done = asked.memory.answer(asked.needed("id", "The memory's id"), verdict, value)
    return Elsewhere(asked.link("/questions", done=done.operation))
