"""Verbs about several memories at once: duplicates, edges, tasks, sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from perdure.operations.consolidation import consolidate, relate, sessions, tasks
from perdure.operations.ports import Context
from perdure.records.consolidation_results import ConsolidateResult, Edge, PromotionResult, SessionResult, TaskResult
from perdure.rules.validation import groups as grouping
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import queries as asking

Edges = list[Edge]


class GroupVerbs:
    """Verbs about several memories at once: duplicates, edges, tasks, sessions."""

    _context: Context

    def consolidate(
        self,
        namespace: str,
        similarity_threshold: float = 0.85,
        strategy: str = "keep_highest_importance",
        dry_run: bool = True,
        max_groups: int = 50,
        *,
        pairs: Literal["all", "recorded"] = "all",
        accept_loss: str | None = None,
    ) -> ConsolidateResult:
        """Merge memories that say the same; a dry run by default, and required before the first real one.

        Likeness is 0.7 of meaning (cosine) and 0.3 of shared words (Jaccard). A merge needs every pair to be that
        like, and nothing said by the one that goes may be missing in the one that stays: no number, date, name,
        negation. What goes is hidden as ``consolidated``, never deleted; ``undo`` brings it back.

        Args:
            namespace: Where.
            similarity_threshold: Least likeness, 0.7 to 0.99.
            strategy: keep_newest, keep_oldest, keep_highest_importance, keep_highest_confidence or merge_content.
            dry_run: Only tell, and return the plan.
            max_groups: How many are merged at most, the most similar first, 1 to 100; how many more there are is said.
            pairs: ``recorded`` looks only at those that were noticed when memories were stored: cheap.
            accept_loss: A reason to go on where a gate says that too much would be lost.

        Raises:
            InvalidInput: A value is refused, or there was no dry run that would do the same now.
            GateStopped: It would lose too much; nothing was written.
        """
        asked = consolidate.Asked(
            intake.checked_namespace(namespace),
            grouping.checked_threshold(similarity_threshold),
            grouping.checked_strategy(strategy),
            grouping.checked_groups(max_groups),
            grouping.checked_pairs(pairs),
        )
        reason = intake.optional_reason(accept_loss, self._context.policy)
        return consolidate.consolidate(
            self._context, asked, dry_run=grouping.checked_flag(dry_run, "dry_run"), accept_loss=reason
        )

    def relate(
        self,
        members: Iterable[str] | Mapping[str, str],
        kind: str = "related",
        weight: float = 1.0,
        edge: str | None = None,
        namespace: str | None = None,
    ) -> str:
        """Join two or more memories by a hyperedge, and return its id.

        Args:
            members: Their ids, or a mapping of ids to roles.
            kind: What joins them.
            weight: How strongly, above 0, at most 10; completing a task raises it by use.
            edge: An edge that gets these members as well; it keeps its kind and weight.
            namespace: Where they are; found by the first of them if not given.

        Raises:
            NotFound: One of them is not there.
            InvalidInput: Fewer than two, or of different namespaces.
        """
        return relate.relate(
            self._context,
            grouping.checked_members(members),
            kind=intake.checked_text(kind, "kind", longest=200),
            weight=grouping.checked_weight(weight),
            edge=None if edge is None else intake.checked_text(edge, "edge", longest=200),
            namespace=asking.optional_namespace(namespace),
        )

    def edges(self, id: str) -> Edges:
        """Return the hyperedges of a memory; hidden members are not shown. Reading them is no access."""
        return relate.edges(self._context, asking.identity(id))

    def complete_task(
        self, task_id: str, *, namespace: str = "default", dry_run: bool = False, accept_loss: str | None = None
    ) -> TaskResult:
        """Bring a task's memories into its session: redundant ones merged, edges strengthened by use.

        Memories without a session go to long term: in session scope nobody would see them.

        Raises:
            NotFound: No memory belongs to such a task.
            GateStopped: It would lose too much; nothing was written.
        """
        return tasks.complete_task(
            self._context,
            intake.checked_text(task_id, "task_id", longest=1000),
            intake.checked_namespace(namespace),
            dry_run=grouping.checked_flag(dry_run, "dry_run"),
            accept_loss=intake.optional_reason(accept_loss, self._context.policy),
        )

    def promote(
        self,
        session_id: str,
        threshold: float | None = None,
        confirm: bool = False,
        *,
        namespace: str = "default",
        accept_loss: str | None = None,
    ) -> PromotionResult:
        """Bring the best of a session to long term; a preview unless confirmed.

        Promoted is what is at least as likely true as the threshold and at least as often accessed as the session's
        median. Connected ones get a summary besides.

        Args:
            session_id: Which session.
            threshold: Confidence needed, 0 to 1; the policy's (0.8) if not given.
            confirm: Do it. Until then the memories stay in session scope.
            namespace: Where.
            accept_loss: A reason to go on where a gate says no.

        Raises:
            NotFound: No memory belongs to such a session.
        """
        return sessions.promote(
            self._context,
            intake.checked_text(session_id, "session_id", longest=1000),
            intake.checked_namespace(namespace),
            threshold=None if threshold is None else intake.checked_share(threshold, "threshold"),
            confirm=grouping.checked_flag(confirm, "confirm"),
            accept_loss=intake.optional_reason(accept_loss, self._context.policy),
        )

    def end_session(
        self, session_id: str, *, namespace: str = "default", accept_loss: str | None = None
    ) -> SessionResult:
        """End a session: complete its open tasks, promote, sweep. A second call changes nothing.

        What was not promoted is seen only inside the session from then on, as before.
        """
        return sessions.end_session(
            self._context,
            intake.checked_text(session_id, "session_id", longest=1000),
            intake.checked_namespace(namespace),
            accept_loss=intake.optional_reason(accept_loss, self._context.policy),
        )
