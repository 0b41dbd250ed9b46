"""Verbs about what a person says of memories in doubt: questions and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Final, Literal, get_args

from perdure.records.errors import InvalidInput
from perdure.records.wording import shown_value
from perdure.verbs.declaration import Param, lazy_modules, verb
from perdure.verbs.parameters import Identity, Limit, Namespace, Reason

if TYPE_CHECKING:
    from perdure.knowledge.operations import feedback, predicate_questions
    from perdure.operations.lifecycle import review
    from perdure.operations.ports import Context
    from perdure.records import signal_results as records
    from perdure.records.outcome import Outcome
    from perdure.records.signal_results import Question, Review
    from perdure.rules.validation import values
else:
    (records,) = lazy_modules("perdure.records", "signal_results")
    feedback, predicate_questions = lazy_modules("perdure.knowledge.operations", "feedback", "predicate_questions")
    (review,) = lazy_modules("perdure.operations.lifecycle", "review")
    (values,) = lazy_modules("perdure.rules.validation", "values")
_FACTS: Final = "Facts"
Answer = Literal["confirm", "deny", "correct", "both", "same", "different", "mute", "keep", "drop"]
Value = Annotated[
    str, Param("The new value of a fact, or the new text of another memory.", longest=1 << 20, stdin=True)
]


class ReviewingVerbs:
    """Verbs about what a person says of memories in doubt: questions and answers."""

    _context: Context

    @verb(
        _FACTS,
        lasts=True,
        name="review",
        hides=True,
        repeatable=False,
        agent=("id", "verdict", "value"),
        tell="List today's questions to a person about doubtful memories: stale facts, conflicts, wrong answers. With "
        "an id and a verdict, record what the person said. Never answer for the person.",
    )
    def review_details(
        self,
        namespace: Namespace = "default",
        limit: Annotated[Limit, Param("Maximum number; if omitted, the questions left for today.")] | None = None,
        *,
        id: Annotated[Identity, Param("The memory that a question is about.", argument=True)] | None = None,
        verdict: Annotated[Answer, Param("What the person said.", argument=True)] | None = None,
        value: Annotated[Value, Param("For correct: the new value.", argument=True)] | None = None,
        reason: Reason | None = None,
    ) -> Review:
        """List open questions to a person, most valuable first; with an id and a verdict, answer one.

        Questions are about memories reported wrong, conflicts, and facts not confirmed for a long time. Listing does
        not count as an access.

        Raises:
            NotFound: There is no such memory, or no such question.
            InvalidInput: A verdict without an id, or the reverse; or the verdict does not fit.
        """
        if (id is None) != (verdict is None):
            raise InvalidInput(
                "An answer needs both an id and a verdict.", remedy="Give both, or neither to list the questions."
            )
        answered = None if id is None or verdict is None else self.answer(id, verdict, value, reason)
        return records.Review(tuple(review.review(self._context, namespace, limit)), answered)

    def review(self, namespace: str = "default", limit: int | None = None) -> list[Question]:
        """Return open questions to a person, most valuable first. Does not count as an access."""
        return list(self.review_details(namespace, limit).questions)

    def answer(self, id: str, verdict: Answer, value: str | None = None, reason: str | None = None) -> Outcome:
        """Record a person's answer to a question of ``review``; each verdict does what the verb of that name does.

        ``keep`` and ``drop`` settle a doubt, ``same`` and ``different`` a question about two predicates.

        Raises:
            NotFound: There is no such memory, or no such question.
            InvalidInput: A value without ``correct``, or the reverse; or the verb refuses.
        """
        verdicts = get_args(Answer)
        if verdict not in verdicts:
            raise InvalidInput(
                f"verdict must be one of {', '.join(verdicts)}, not {shown_value(verdict)}.",
                remedy="Choose one of them.",
            )
        if (value is not None) != (verdict == "correct"):
            raise InvalidInput(
                "correct needs a value, and only correct takes one.", remedy="Pass what the person said."
            )
        if reason is not None and verdict not in {"deny", "keep", "drop"}:
            raise InvalidInput("Only deny, keep and drop take a reason.", remedy="Omit it.")
        verbs: dict[str, Callable[[], Outcome]] = {
            "confirm": lambda: self.confirm(id),
            "deny": lambda: self.deny(id, reason),
            "correct": lambda: self.correct(id, value or ""),
            "both": lambda: self.both(id),
            "same": lambda: self.same(id),
            "different": lambda: self.same(id, yes=False),
            "mute": lambda: self.mute(id),
            "keep": lambda: self.settle(id, "keep", reason),
            "drop": lambda: self.settle(id, "drop", reason),
        }
        return verbs[verdict]()

    @verb("Feedback", hides=True, tool=False)
    def settle(
        self,
        id: Identity,
        verdict: Annotated[
            Literal["keep", "drop"], Param("keep: it is still true; drop: archive it.", argument=False)
        ] = "keep",
        reason: Reason | None = None,
    ) -> Outcome:
        """Close the open questions about a memory.

        Raises:
            NotFound: There is no open question about it.
        """
        return review.settle(self._context, id, verdict, reason)

    @verb(_FACTS, tool=False)
    def confirm(self, id: Identity) -> Outcome:
        """Record that a person says a memory is still true; memories that contradict it are superseded.

        It counts as said now. Links from later statements that call it untrue are removed.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is hidden, or no longer believed, or a fact that has ended; the error says what to do, and
                names what took its place.
        """
        return feedback.confirm(self._context, id)

    @verb(_FACTS, hides=True, tool=False)
    def deny(self, id: Identity, reason: Reason | None = None) -> Outcome:
        """Record that a person says a memory is wrong: it is invalidated. ``undo`` reverses this.

        The facts that rest on it alone are denied with it, and with a note the messages in which the same person says
        its words and nothing else; pinned ones stay. What they alone had replaced is believed again; where a person had
        replaced it, a person is asked about it.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is hidden, or no longer believed.
        """
        return feedback.deny(self._context, id, reason)

    @verb(_FACTS, hides=True, tool=False)
    def correct(self, id: Identity, value: Value) -> Outcome:
        """Record what a person says is true instead; the old value is superseded and linked to the new one.

        Of a fact that has ended the value of its days is corrected; ``learn`` and ``remember`` tell what holds now.
        Facts that rest on the old words alone are superseded with them. What was pinned stays pinned.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is hidden, no longer believed, or says that already.
        """
        longest = self._context.policy.limits.content_bytes
        text = values.checked_text(value, "value", longest=longest)
        return feedback.correct(self._context, id, text)

    @verb(_FACTS, tool=False)
    def both(self, id: Identity) -> Outcome:
        """Record that a person says a fact and its contradiction are both true: the conflict is settled.

        A fact that was replaced only because another is newer or surer is believed again. Further values are then
        added without asking, unless a table says that the predicate has one value.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is hidden, nothing that is believed contradicts it, or it took the place of several.
        """
        return feedback.both(self._context, id)

    @verb(_FACTS, tool=False)
    def same(
        self, id: Identity, yes: Annotated[bool, Param("Whether they are the same.", option="--yes/--no")] = True
    ) -> Outcome:
        """Record whether the two predicates that ``review`` asked about are the same.

        If they are, all facts of one get the other's name, now and later. Either way the pair is not asked about
        again; ``rates`` shows what was learned.

        Raises:
            NotFound: There is no such memory, or no such open question about it.
            InvalidInput: It is hidden, or no longer believed.
        """
        return predicate_questions.same(self._context, id, yes=yes)

    @verb(_FACTS, tool=False)
    def mute(self, id: Identity) -> Outcome:
        """Do not ask about a fact again. It stays believed, and its confidence still falls with time.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is no fact, is hidden, or is no longer believed.
        """
        return feedback.mute(self._context, id)
