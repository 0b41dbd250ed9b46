"""Verbs about facts: what is known, since when, how sure, and a person's word about it (seed 002)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from perdure.operations.ports import Context
from perdure.records.outcome import Outcome
from perdure.rules.validation import groups as grouping
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import queries as asking

if TYPE_CHECKING:
    from perdure.knowledge.records.answer_results import AnswerSheet
    from perdure.knowledge.records.fact_results import FactLine, Learnt, Summaries, Timeline

    Facts = list[FactLine]


class FactVerbs:
    """Verbs about facts: what is known, since when, how sure, and a person's word about it (seed 002)."""

    _context: Context

    def learn(self, sessions: Sequence[str], namespace: str = "default") -> Learnt:
        """Learn facts from the messages of sessions that were not learned from yet, by rules.

        Where the policy says ``knowledge.learn = "rules"``, ``ingest`` does this by itself; this catches up on what was
        taken in before. Twice adds nothing.

        Args:
            sessions: Which; their messages are those that ``ingest`` took in.
            namespace: Where.

        Raises:
            NotFound: There are no messages of one of them; nothing was learned.
        """
        names = intake.checked_texts(sessions, "sessions", longest=1000)
        from perdure.knowledge.operations.learn import learn_from  # noqa: PLC0415  # loaded on the first call

        return learn_from(self._context, intake.checked_namespace(namespace), names)

    def facts(
        self,
        entity: str | None = None,
        *,
        predicate: str | None = None,
        namespace: str = "default",
        past: bool = False,
        limit: int = 100,
    ) -> Facts:
        """Return what is known as facts, those that are believed first. Reading is no access.

        Args:
            entity: About whom: an id or a name; everybody if None.
            predicate: What about, in normal form or as said (``delivery day``); everything if None.
            namespace: Where.
            past: Also what is not believed any longer.
            limit: How many, 1 to 1000.

        Raises:
            NotFound: Nobody is called that.
            InvalidInput: Several are.
        """
        from perdure.knowledge.operations.facts import facts  # noqa: PLC0415  # loaded on the first call

        return facts(
            self._context,
            intake.checked_namespace(namespace),
            entity=intake.optional_text(entity, "entity"),
            predicate=intake.optional_text(predicate, "predicate"),
            past=past,
            limit=asking.limit(limit),
        )

    def timeline(self, entity: str, *, namespace: str = "default", known_at: datetime | None = None) -> Timeline:
        """Return what was true of an entity, and when it was believed, in the order of time.

        When it was true goes by the days of the messages, when it was believed by the instants of learning.

        Args:
            entity: Its id or a name.
            namespace: Where.
            known_at: The timeline as it was known then; how sure it is stays as of today.

        Raises:
            NotFound: Nobody is called that.
            InvalidInput: Several are.
        """
        name = intake.checked_text(entity, "entity", longest=1000)
        then = asking.filters(known_at=known_at, policy=self._context.policy)
        from perdure.knowledge.operations.facts import timeline  # noqa: PLC0415  # loaded on the first call

        return timeline(self._context, intake.checked_namespace(namespace), name, then)

    def answer_sheet(
        self,
        query: str,
        namespace: str = "default",
        *,
        budget_tokens: int | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> AnswerSheet:
        """Return everything that is known about a question, sorted by how far it may be relied on. No access.

        What is known and how sure, from which words of which message, what is contested (all sides), what is out of
        date (and until when it was believed), what is ageing (with its question), and what is not known. Where the
        question names somebody, facts of others are left out, unless they name that one too.

        Args:
            query: A question in plain words.
            namespace: Where.
            budget_tokens: Most tokens of ``text``, 50 or more; 1,000 if None. Other memories are left out first, both
                sides of a conflict last; ``left_out`` counts them.
            as_of, known_at: What was true then, as far as is known; what was known then. How sure it is stays as of
                today, and nothing is asked.
        """
        place, asked = intake.checked_namespace(namespace), asking.question(query)
        then = asking.filters(as_of=as_of, known_at=known_at, policy=self._context.policy)
        from perdure.knowledge.operations.answer_sheet import answer_sheet  # noqa: PLC0415  # loaded on the first call

        return answer_sheet(self._context, place, asked, asking.budget(budget_tokens), then)

    def summarize(self, namespace: str = "default", *, dry_run: bool = False) -> Summaries:
        """Make the summaries of entities that are due: enough was said about them, or a fact has changed since.

        A summary has at most half the tokens of what it stands for, names its sources for each key fact, and takes the
        place of the earlier one. Facts that were confirmed are surer for it (``knowledge.summary_boost``). Upkeep does
        this once a day.

        Args:
            namespace: Where.
            dry_run: Only tell what would be made.
        """
        from perdure.knowledge.operations.entity_summaries import summarize  # noqa: PLC0415  # loaded on the first call

        return summarize(self._context, intake.checked_namespace(namespace), dry_run=bool(dry_run))

    def confirm(self, id: str) -> Outcome:
        """Write down that a person says that a memory is still true: confidence + 0.02, counted from now.

        What contradicts it is superseded, and the questions about it are closed.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is hidden, or not believed any longer.
        """
        from perdure.knowledge.operations.feedback import confirm  # noqa: PLC0415  # loaded on the first call

        return confirm(self._context, asking.identity(id))

    def deny(self, id: str, reason: str | None = None) -> Outcome:
        """Write down that a person says that a memory is wrong: it is invalidated, for good; ``undo`` takes it back.

        Args:
            id: The memory.
            reason: Why, for the journal.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is hidden, or not believed any longer.
        """
        why = None if reason is None else intake.checked_text(reason, "reason", longest=1000)
        from perdure.knowledge.operations.feedback import deny  # noqa: PLC0415  # loaded on the first call

        return deny(self._context, asking.identity(id), why)

    def correct(self, id: str, value: str) -> Outcome:
        """Write down what a person says is true instead, and return the memory that says so.

        What was believed is superseded; ``why`` and ``timeline`` show both.

        Args:
            id: The memory that is wrong or out of date.
            value: A fact's new value (``Thursday``), or the new text of any other memory.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is hidden, not believed any longer, or says that already.
        """
        policy = self._context.policy
        text = intake.checked_text(value, "value", longest=policy.limits.content_bytes)
        from perdure.knowledge.operations.feedback import correct  # noqa: PLC0415  # loaded on the first call

        return correct(self._context, asking.identity(id), text)

    def both(self, id: str) -> Outcome:
        """Write down that a person says that a fact and what contradicts it both hold: they are no longer contested.

        After ``knowledge.lessons`` such answers, none against, a predicate that no table names has several values for
        everybody; ``rates`` shows what was taught.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is hidden, not believed any longer, or nothing that is believed contradicts it.
        """
        from perdure.knowledge.operations.feedback import both  # noqa: PLC0415  # loaded on the first call

        return both(self._context, asking.identity(id))

    def same(self, id: str, yes: bool = True) -> Outcome:
        """Write down whether the two predicates that ``review`` asked about with a fact are the same.

        If they are, all facts of the one get the name of the other, now and later; what then contradicts each other is
        asked about. Either way the pair is not asked about again. ``rates`` shows what was taught.

        Args:
            id: The fact with which it was asked.
            yes: They are.

        Raises:
            NotFound: There is no such memory, or no such open question about it.
            InvalidInput: It is hidden, or not believed any longer.
        """
        from perdure.knowledge.operations.predicate_synonyms import same  # noqa: PLC0415  # loaded on the first call

        return same(self._context, asking.identity(id), yes=grouping.checked_flag(yes, "yes"))

    def mute(self, id: str) -> Outcome:
        """Do not ask about a fact again; it is still believed, and still fades.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is no fact, is hidden, or is not believed any longer.
        """
        from perdure.knowledge.operations.feedback import mute  # noqa: PLC0415  # loaded on the first call

        return mute(self._context, asking.identity(id))
