"""Verbs about facts and entities: what is believed of whom, since when, and how sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from perdure.records.errors import InvalidInput
from perdure.verbs.declaration import Param, verb
from perdure.verbs.lazy import lazy_modules
from perdure.verbs.parameters import (
    AcceptLoss,
    AsOf,
    Budget,
    Claims,
    DryRun,
    Entity,
    Identities,
    KnownAt,
    Limit,
    Namespace,
    Query,
)

if TYPE_CHECKING:
    from perdure.knowledge.operations import (
        answer_sheet,
        change_rates,
        entities,
        entity_summaries,
        facts,
        given_claims,
        learn,
        procedures,
        verify,
    )
    from perdure.knowledge.records.answer_results import AnswerSheet
    from perdure.knowledge.records.entity_results import AliasChange, EntityMerge, EntitySplit, EntityView
    from perdure.knowledge.records.fact_results import FactLine, Learnt, Summaries, Timeline
    from perdure.knowledge.records.learning_results import ProceduresResult, RatesResult
    from perdure.knowledge.records.verification_results import Verified
    from perdure.operations.lifecycle import backtest
    from perdure.operations.ports import Context
    from perdure.records.backtest_results import BacktestResult
    from perdure.records.policy import Policy
    from perdure.rules import policy_check
    from perdure.rules.validation import queries
else:
    answer_sheet, change_rates, entities, entity_summaries, facts, given_claims, learn, procedures, verify = (
        lazy_modules(
            "perdure.knowledge.operations",
            "answer_sheet",
            "change_rates",
            "entities",
            "entity_summaries",
            "facts",
            "given_claims",
            "learn",
            "procedures",
            "verify",
        )
    )
    (backtest,) = lazy_modules("perdure.operations.lifecycle", "backtest")
    (policy_check,) = lazy_modules("perdure.rules", "policy_check")
    (queries,) = lazy_modules("perdure.rules.validation", "queries")
_FACTS: Final = "Facts"
_ASK: Final = "Find and explain"
_LEARN: Final = "Learning"
Name = Annotated[str, Param("The other name.")]


class FactVerbs:
    """Verbs about facts and entities: what is believed of whom, since when, and how sure."""

    _context: Context

    @verb(_FACTS, empty=lambda done: not done.messages and not done.changed)
    def learn(
        self,
        sessions: Annotated[Sequence[str], Param("Sessions that were ingested.", argument=True)] = (),
        namespace: Namespace = "default",
        *,
        claims: Annotated[Claims, Param("Facts to store, each by itself.", option="--facts")] = (),
    ) -> Learnt:
        """Learn facts from sessions that were ingested and not learned from yet, by rules. Twice adds nothing.

        With ``claims`` store facts that no memory says, as ``remember`` does, in one operation.

        Raises:
            NotFound: There are no messages of one of them; nothing was learned.
            InvalidInput: A claim is refused, or there are neither sessions nor claims; nothing was stored.
        """
        if bool(sessions) == bool(claims):
            raise InvalidInput("Either sessions or claims must be given.", remedy="Name a session, or pass claims.")
        if not claims:
            return learn.learn_from(self._context, namespace, sessions)
        return given_claims.learn_claims(self._context, namespace, claims)

    @verb(
        _FACTS,
        reads=True,
        items="facts",
        empty=lambda found: not found,
        tell="List what is known as facts, of one entity or of all: value, confidence, since when, the words that said "
        "it, what contradicts or replaced it. For a question in plain words use recall or answer_sheet.",
    )
    def facts(
        self,
        entity: Annotated[Entity, Param("Its id or a name; all if left out.", argument=True)] | None = None,
        *,
        predicate: Annotated[str, Param("Only this, for example delivery day.", short="-p")] | None = None,
        namespace: Namespace = "default",
        past: Annotated[bool, Param("Also what is no longer believed.")] = False,
        limit: Limit = 100,
        as_of: AsOf | None = None,
        known_at: KnownAt | None = None,
    ) -> list[FactLine]:
        """List facts, those that are believed first: value, confidence, since when. Does not count as an access.

        Raises:
            NotFound: Nothing is called that.
            InvalidInput: Several are.
        """
        then = queries.filters(as_of=as_of, known_at=known_at, policy=self._context.policy)
        return facts.facts(self._context, namespace, entity, predicate, past=past, limit=limit, then=then)

    @verb(_FACTS, reads=True)
    def timeline(
        self, entity: Entity, *, namespace: Namespace = "default", known_at: KnownAt | None = None
    ) -> Timeline:
        """Show what was true of an entity and when it was believed, oldest first, with what replaced what.

        When it was true goes by the days of the messages, when it was believed by the instants of learning.

        Raises:
            NotFound: Nothing is called that.
            InvalidInput: Several are.
        """
        then = queries.filters(known_at=known_at, policy=self._context.policy)
        return facts.timeline(self._context, namespace, entity, then)

    @verb(
        _FACTS,
        reads=True,
        empty=lambda sheet: sheet.nothing_known,
        tell="Lay out everything that is known about a question: how sure, from which words, what is conflicting, "
        "out of date, stale, and not known. Use it before an answer that must be right; recall is quicker.",
    )
    def answer_sheet(
        self,
        query: Query,
        namespace: Namespace = "default",
        *,
        budget_tokens: Annotated[Budget, Param("The sheet's budget; 1,000 if left out.", ge=50)] | None = None,
        as_of: AsOf | None = None,
        known_at: KnownAt | None = None,
    ) -> AnswerSheet:
        """Lay out what is known about a question: how sure, from where, what is conflicting, what is out of date.

        Where the question names an entity, facts of others are left out, unless they name that one too. When the budget
        is full, other memories are left out first, both sides of a conflict last; ``left_out`` counts them. Does not
        count as an access.
        """
        then = queries.filters(as_of=as_of, known_at=known_at, policy=self._context.policy)
        return answer_sheet.answer_sheet(self._context, namespace, query, budget_tokens, then)

    @verb(
        _FACTS,
        hides=True,
        tell="Make the summaries of entities that are due. dry_run is TRUE by default and only shows them. The earlier "
        "summary of an entity is superseded; undo brings it back.",
    )
    def summarize(self, namespace: Namespace = "default", *, dry_run: DryRun = True) -> Summaries:
        """Make the summaries of entities that are due: enough was said about them, or a fact has changed since.

        A summary has at most half the tokens of what it stands for, names its sources for each key fact, and supersedes
        the earlier one. Confirmed facts gain confidence (``knowledge.summary_boost``). Maintenance does this once a
        day.
        """
        return entity_summaries.summarize(self._context, namespace, dry_run=dry_run)

    @verb(_ASK, reads=True, command="entity list", items="entities")
    def entities(self, namespace: Namespace = "default", *, limit: Limit = 100) -> list[EntityView]:
        """List who and what memories are about, without their facts; those merged into others are not listed."""
        return entities.entities(self._context, namespace, limit)

    @verb(_ASK, reads=True, command="entity show")
    def entity(self, name_or_id: Entity, *, namespace: Namespace = "default") -> EntityView:
        """Show an entity with its names, its facts' ids, and since when it is known. Does not count as an access.

        Raises:
            NotFound: Nothing is called that.
            InvalidInput: Several are: the message names them.
        """
        return entities.entity(self._context, name_or_id, namespace)

    @verb(_ASK, command="entity alias")
    def alias(
        self,
        entity: Entity,
        name: Name,
        *,
        namespace: Namespace = "default",
        remove: Annotated[bool, Param("Take the name away.")] = False,
    ) -> AliasChange:
        """Give an entity another name, or take one away. A name that two entities share is ambiguous, and reported.

        Raises:
            NotFound: There is no such entity, or it has no such name.
            InvalidInput: It is no name (empty, ``null``, a pronoun), or what another entity is called itself.
        """
        return entities.alias(self._context, entity, name, namespace, remove=remove)

    @verb(_ASK, command="entity merge")
    def merge_entities(
        self,
        into: Annotated[Entity, Param("The one that stays: its id or a name.")],
        other: Annotated[Entity, Param("The one that goes: its id or a name.")],
        *,
        namespace: Namespace = "default",
    ) -> EntityMerge:
        """Make one entity part of another: names, mentions and facts move. ``undo`` takes it back.

        Raises:
            NotFound: One of them is not there.
            InvalidInput: They are one already.
        """
        return entities.merge(self._context, into, other, namespace)

    @verb(_ASK, command="entity split")
    def split_entity(
        self,
        entity: Entity,
        alias: Annotated[str, Param("The name that becomes an entity of its own.")],
        *,
        namespace: Namespace = "default",
    ) -> EntitySplit:
        """Make one name of an entity, with the mentions that used it, an entity of its own.

        Raises:
            NotFound: There is no such entity, or it has no such name.
            InvalidInput: It has no other name.
        """
        return entities.split(self._context, entity, alias, namespace)

    @verb(
        _LEARN,
        tell="Show how fast facts of each sort change, with intervals, and whether that is sure enough to be used. "
        "dry_run is TRUE by default and only reports; written down, confidence falls by these rates.",
    )
    def rates(self, namespace: Namespace = "default", *, dry_run: DryRun = True) -> RatesResult:
        """Show how fast facts of each sort change, as far as was seen, and which rates would be used.

        Each sort has its number of facts, changes and days watched, the rate at which confidence is lost, its 90 %
        interval, and why it is in use or not. A rate is used from ``knowledge.rate_changes`` changes on, if the upper
        end of its interval is at most ``knowledge.rate_width`` times the lower.
        """
        return (
            change_rates.rates(self._context, namespace)
            if dry_run
            else change_rates.learn_rates(self._context, namespace)
        )

    @verb(
        _LEARN,
        hides=True,
        tell="Learn what usually follows what in conversations. dry_run is TRUE by default and only shows; applied, "
        "each is a memory, and those that stopped holding are archived.",
    )
    def procedures(
        self, namespace: Namespace = "default", dry_run: DryRun = True, *, accept_loss: AcceptLoss | None = None
    ) -> ProceduresResult:
        """Learn what follows what in conversations ("when delivery comes up, invoice follows").

        Considered is what people said in the last ``knowledge.procedure_days`` days. A topic must follow another within
        two messages in at least ``knowledge.procedure_sessions`` sessions and in half of those in which the first comes
        up, more often than by chance. Each becomes a memory of kind procedure; one that stops holding is archived, and
        comes back when it holds again.

        Raises:
            GateStopped: It would archive too much; nothing was written.
        """
        return procedures.learn_procedures(self._context, namespace, dry_run=dry_run, accept_loss=accept_loss)

    @verb(_LEARN, reads=True, command="")
    def backtest(
        self,
        policy: Annotated[Mapping[str, Any], Param("The other policy's sections, as in perdure.toml.")] | Policy,
        namespace: Namespace = "default",
        *,
        limit: Annotated[Limit, Param("How many past recalls are judged, newest first.", ge=1, le=1000)] = 1000,
    ) -> BacktestResult:
        """Try another policy on past recalls: which hits it would have hidden, beside the policy in force.

        Every memory of the namespace lives again from its birth, under the other policy and under the one in force:
        what people decided and what recalls returned happens as it did. Nothing is written. Slow on a large namespace.

        Raises:
            PolicyError: The policy has faults; all are listed.
        """
        if not policy:
            raise InvalidInput("policy names no key to try.", remedy="Name a section and a key of the policy.")
        other = policy if not isinstance(policy, Mapping) else policy_check.policy_from(policy)
        return backtest.backtest(self._context, namespace, other, limit)

    @verb(
        "Maintenance",
        hides=True,
        tell="Ask the databases and working trees that the policy names about facts, and about files and commits that "
        "memories cite. Takes effect at once: what a database contradicts is replaced by its value; undo works.",
    )
    def verify(
        self,
        namespace: Namespace = "default",
        ids: Annotated[Identities, Param("Only these memories.", least=1, most=1000)] | None = None,
        *,
        limit: Annotated[Limit, Param("Facts, and citing memories, at most; the rest comes next time.")] = 1000,
        accept_loss: AcceptLoss | None = None,
    ) -> Verified:
        """Ask the authorities of the knowledge file about facts and citations, and act on it.

        An authority that agrees validates a fact, once in twelve hours. One that disagrees wins: the fact is
        invalidated, a fact with the authority's value takes its place, and both values are in the answer. One that is
        silent, has several values or cannot be reached changes no fact. What memories cite (``path#symbol``, a commit)
        is looked up in the working trees, and what was seen is written down.

        Raises:
            GateStopped: More facts disagree than the loss budget allows; nothing was written.
        """
        return verify.verify(self._context, namespace, ids, limit=limit, accept_loss=accept_loss)
