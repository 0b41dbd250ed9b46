"""Verbs about facts and entities: what is believed of whom, since when, and how sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from perdure.records.errors import InvalidInput
from perdure.verbs.declaration import Param, lazy_modules, verb
from perdure.verbs.parameters import (
    AcceptLoss,
    AsOf,
    Budget,
    Claims,
    DryRun,
    Entity,
    Identities,
    Inside,
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
        learn,
        learn_claims,
        named_values,
        procedures,
        verify,
    )
    from perdure.knowledge.records.results import (
        AliasChange,
        AnswerSheet,
        EntityMerge,
        EntitySplit,
        EntityView,
        FactLine,
        LearnResult,
        ProceduresResult,
        RatesResult,
        Summaries,
        Timeline,
        VerifyResult,
    )
    from perdure.operations.lifecycle import backtest
    from perdure.operations.ports import Context
    from perdure.records.policy import Policy
    from perdure.records.report import BacktestResult
    from perdure.rules import policy_check
    from perdure.rules.validation import queries
else:
    (
        answer_sheet,
        change_rates,
        entities,
        entity_summaries,
        facts,
        learn_claims,
        learn,
        named_values,
        procedures,
        verify,
    ) = lazy_modules(
        "perdure.knowledge.operations",
        "answer_sheet",
        "change_rates",
        "entities",
        "entity_summaries",
        "facts",
        "learn_claims",
        "learn",
        "named_values",
        "procedures",
        "verify",
    )
    (backtest,) = lazy_modules("perdure.operations.lifecycle", "backtest")
    (policy_check,) = lazy_modules("perdure.rules", "policy_check")
    (queries,) = lazy_modules("perdure.rules.validation", "queries")
_FACTS: Final = "Facts"
_ASK: Final = "Find and explain"
_LEARN: Final = "Learning"
Name = Annotated[str, Param("The other name.", redacted=True)]


class FactVerbs:
    """Verbs about facts and entities: what is believed of whom, since when, and how sure."""

    _context: Context

    @verb(_FACTS, lasts=True, empty=lambda done: not done.messages and not done.changed)
    def learn(
        self,
        sessions: Annotated[Sequence[str], Param("Names of ingested sessions.", argument=True)] = (),
        namespace: Namespace = "default",
        *,
        claims: Annotated[Claims, Param("Facts to store that no memory contains.")] = (),
    ) -> LearnResult:
        """Learn facts by rules from ingested sessions that were not read yet. Repeating it adds nothing.

        The rules read English. ``claims`` are facts to store that no memory contains; ``remember`` takes them too.

        Raises:
            NotFound: There are no messages of one of them; nothing was learned.
            InvalidInput: A claim is refused, or there are neither sessions nor claims; nothing was stored.
        """
        if bool(sessions) == bool(claims):
            raise InvalidInput("Give either sessions to learn from or facts to store.", remedy="Pass one of the two.")
        if not claims:
            return learn.learn_from(self._context, namespace, sessions)
        return learn_claims.learn_claims(self._context, namespace, claims)

    @verb(
        _FACTS,
        reads=True,
        items="facts",
        empty=lambda found: not found,
        tell="List the facts about one entity or all: value, confidence, since when, the quoted source, conflicts and "
        "replacements. For a question in plain words use recall or answer_sheet.",
    )
    def facts(
        self,
        entity: Annotated[Entity, Param("Its id or a name; all if omitted.", argument=True)] | None = None,
        *,
        predicate: Annotated[str, Param("Only this predicate, for example delivery day.", short="-p")] | None = None,
        namespace: Namespace = "default",
        past: Annotated[bool, Param("Include facts that are no longer believed.")] = False,
        limit: Limit = 100,
        as_of: AsOf | None = None,
        known_at: KnownAt | None = None,
        inside: Inside | None = None,
    ) -> list[FactLine]:
        """List facts, current ones first: value, confidence, since when. Does not count as an access.

        Raises:
            NotFound: Nothing is called that.
            InvalidInput: Several are.
        """
        then = queries.filters(self._context.policy, {"as_of": as_of, "known_at": known_at, "inside": inside})
        return facts.facts(self._context, namespace, entity, predicate, past=past, limit=limit, then=then)

    @verb(_FACTS, reads=True)
    def timeline(
        self,
        entity: Entity,
        *,
        namespace: Namespace = "default",
        known_at: KnownAt | None = None,
        inside: Inside | None = None,
    ) -> Timeline:
        """Show the facts about an entity, oldest first: when each was true, when it was believed, what replaced it.

        True times follow the messages' dates, believed times the moments of learning. For a name without facts: the
        memories that mention it.

        Raises:
            NotFound: Nothing is called that, and nothing names it.
            InvalidInput: Several are.
        """
        then = queries.filters(self._context.policy, {"known_at": known_at, "inside": inside})
        return named_values.timeline(self._context, namespace, entity, then)

    @verb(
        _FACTS,
        reads=True,
        empty=lambda sheet: sheet.nothing_known,
        tell="List everything known about a question: confidence, sources, conflicts, outdated and stale facts, and "
        "what is not known. Use it before an answer that must be right; recall is quicker.",
    )
    def answer_sheet(
        self,
        query: Query,
        namespace: Namespace = "default",
        *,
        budget_tokens: Annotated[Budget, Param("The sheet's budget; 1,000 if omitted.", ge=50)] | None = None,
        as_of: AsOf | None = None,
        known_at: KnownAt | None = None,
    ) -> AnswerSheet:
        """List what is known about a question: confidence, sources, conflicts, and what is out of date.

        If the question names an entity, facts about others are left out unless they mention it. When the budget is
        full, other memories are left out first, both sides of a conflict last; ``left_out`` counts them. Does not
        count as an access.
        """
        then = queries.filters(self._context.policy, {"as_of": as_of, "known_at": known_at})
        return answer_sheet.answer_sheet(self._context, namespace, query, budget_tokens, then)

    @verb(
        _FACTS,
        lasts=True,
        hides=True,
        role="curator",
        tell="Write the summaries of entities that are due. dry_run is TRUE by default and only shows them. The "
        "earlier summary of an entity is superseded; undo brings it back.",
    )
    def summarize(self, namespace: Namespace = "default", *, dry_run: DryRun = True) -> Summaries:
        """Write due summaries of entities: those with enough mentions, or with facts that changed since the last one.

        A summary has at most half the tokens of its sources, gives the sources of each key fact, and supersedes the
        earlier one. Confirmed facts gain confidence (``knowledge.summary_boost``). Maintenance does this daily.
        """
        return entity_summaries.summarize(self._context, namespace, dry_run=dry_run)

    @verb(_ASK, reads=True, command="entity list", items="entities")
    def entities(
        self, namespace: Namespace = "default", *, limit: Limit = 100, inside: Inside | None = None
    ) -> list[EntityView]:
        """List the people and things that memories are about, without their facts or merged entities.

        Those that only memories of a session mention are listed inside that session only.
        """
        seen = queries.filters(self._context.policy, {"inside": inside})
        return entities.entities(self._context, namespace, limit, seen)

    @verb(_ASK, reads=True, command="entity show")
    def entity(
        self, name_or_id: Entity, *, namespace: Namespace = "default", inside: Inside | None = None
    ) -> EntityView:
        """Show an entity: its names, the ids of its facts, and since when it is known. Does not count as an access.

        Raises:
            NotFound: Nothing is called that.
            InvalidInput: Several are: the message names them.
        """
        seen = queries.filters(self._context.policy, {"inside": inside})
        return entities.entity(self._context, name_or_id, namespace, seen)

    @verb(_ASK, command="entity alias")
    def alias(
        self,
        entity: Entity,
        name: Name,
        *,
        namespace: Namespace = "default",
        remove: Annotated[bool, Param("Remove the name.")] = False,
    ) -> AliasChange:
        """Add or remove a name of an entity. A name that two entities share is reported as ambiguous.

        Raises:
            NotFound: There is no such entity, or it has no such name.
            InvalidInput: It is no name (empty, ``null``, a pronoun), or what another entity is called itself.
        """
        return entities.alias(self._context, entity, name, namespace, remove=remove)

    @verb(_ASK, command="entity merge")
    def merge_entities(
        self,
        into: Annotated[Entity, Param("The entity to keep: its id or a name.")],
        other: Annotated[Entity, Param("The entity to merge into it: its id or a name.")],
        *,
        namespace: Namespace = "default",
    ) -> EntityMerge:
        """Merge one entity into another with its names, mentions and facts. ``undo`` reverses it.

        Raises:
            NotFound: One of them is not there.
            InvalidInput: They are one already.
        """
        return entities.merge(self._context, into, other, namespace)

    @verb(_ASK, command="entity split")
    def split_entity(
        self,
        entity: Entity,
        alias: Annotated[str, Param("The name that becomes a separate entity.")],
        *,
        namespace: Namespace = "default",
    ) -> EntitySplit:
        """Split one name of an entity off as a separate entity, with the mentions that used it.

        Raises:
            NotFound: There is no such entity, or it has no such name.
            InvalidInput: It has no other name.
        """
        return entities.split(self._context, entity, alias, namespace)

    @verb(
        _LEARN,
        tell="Show how fast each kind of fact changes, with intervals, and whether the rate is sure enough to be "
        "used. dry_run is TRUE by default and only reports; applied, confidence falls by these rates.",
    )
    def rates(self, namespace: Namespace = "default", *, dry_run: DryRun = True) -> RatesResult:
        """Show how fast each kind of fact has changed, and which rates would be used.

        For each kind: the number of facts, changes and days observed, the daily loss of confidence with its 90 %
        interval, and why it is used or not. A rate is used after ``knowledge.rate_changes`` changes if the upper end
        of its interval is at most ``knowledge.rate_width`` times the lower.
        """
        return (
            change_rates.rates(self._context, namespace)
            if dry_run
            else change_rates.learn_rates(self._context, namespace)
        )

    @verb(
        _LEARN,
        hides=True,
        tell="Learn which topic usually follows which in conversations. dry_run is TRUE by default and only shows "
        "them; applied, each is a memory, and those that no longer hold are archived.",
    )
    def procedures(
        self, namespace: Namespace = "default", dry_run: DryRun = True, *, accept_loss: AcceptLoss | None = None
    ) -> ProceduresResult:
        """Learn which topic usually follows which in conversations ("when delivery comes up, invoice follows").

        People's messages of the last ``knowledge.procedure_days`` days count. A topic must follow another within two
        messages in at least ``knowledge.procedure_sessions`` sessions and in half of those in which the first comes
        up, more often than by chance. Each becomes a memory of kind procedure; one that no longer holds is archived,
        and comes back when it holds again.

        Raises:
            GateStopped: It would archive too much; nothing was written.
        """
        return procedures.learn_procedures(self._context, namespace, dry_run=dry_run, accept_loss=accept_loss)

    @verb(_LEARN, lasts=True, reads=True, role="curator", command="")
    def backtest(
        self,
        policy: Annotated[Mapping[str, Any], Param("The other policy's sections, as in perdure.toml.")] | Policy,
        namespace: Namespace = "default",
        *,
        limit: Annotated[Limit, Param("How many past recalls to test, newest first.", ge=1, le=1000)] = 1000,
    ) -> BacktestResult:
        """Try another policy on past recalls: which hits it would have hidden, compared with the current policy.

        Every memory of the namespace is simulated from its creation under both policies; decisions of people and past
        recalls are replayed as they happened. Nothing is written. Slow on a large namespace.

        Raises:
            PolicyError: The policy has faults; all are listed.
        """
        if not policy:
            raise InvalidInput("policy sets no key to compare.", remedy="Pass a section with at least one key.")
        other = policy if not isinstance(policy, Mapping) else policy_check.policy_from(policy)
        return backtest.backtest(self._context, namespace, other, limit)

    @verb(
        "Maintenance",
        lasts=True,
        hides=True,
        tell="Check facts, and cited files and commits, against the databases and working trees in the policy. Takes "
        "effect at once: a fact that a database contradicts is replaced by its value; undo works.",
    )
    def verify(
        self,
        namespace: Namespace = "default",
        ids: Annotated[Identities, Param("Only these memories.", least=1, most=1000)] | None = None,
        *,
        limit: Annotated[Limit, Param("Most facts and citing memories to check; the next call goes on.")] = 1000,
        accept_loss: AcceptLoss | None = None,
    ) -> VerifyResult:
        """Check facts and citations against the authorities of the knowledge file, and apply the results.

        An authority that agrees validates a fact, at most once in twelve hours. One that disagrees wins: the fact is
        invalidated, a fact with the authority's value replaces it, and both values are in the answer. One that is
        silent, has several values or cannot be reached changes no fact. Citations (``path#symbol``, a commit) are
        looked up in the working trees, and the result is stored.

        Raises:
            GateStopped: More facts disagree than the loss budget allows; nothing was written.
        """
        return verify.verify(self._context, namespace, ids, limit=limit, accept_loss=accept_loss)
