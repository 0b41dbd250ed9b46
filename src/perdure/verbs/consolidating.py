"""Verbs about several memories at once: duplicates, edges, tasks, sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from perdure.verbs.declaration import Param, verb
from perdure.verbs.lazy import lazy_modules
from perdure.verbs.parameters import (
    AcceptLoss,
    DryRun,
    Everywhere,
    Identity,
    Namespace,
    SessionName,
    TaskName,
    Threshold,
)

if TYPE_CHECKING:
    from perdure.operations.consolidation import consolidate, relate, sessions, tasks
    from perdure.operations.ports import Context
    from perdure.records.consolidation_results import (
        ConsolidateResult,
        Edge,
        EdgeChange,
        PromotionResult,
        SessionResult,
        TaskResult,
    )
    from perdure.rules.consolidation import edges, merging
    from perdure.rules.validation import inputs
else:
    consolidate, relate, sessions, tasks = lazy_modules(
        "perdure.operations.consolidation", "consolidate", "relate", "sessions", "tasks"
    )
    edges, merging = lazy_modules("perdure.rules.consolidation", "edges", "merging")
    (inputs,) = lazy_modules("perdure.rules.validation", "inputs")
_PANEL: Final = "Tasks and sessions"


class ConsolidatingVerbs:
    """Verbs about several memories at once: duplicates, edges, tasks, sessions."""

    _context: Context

    @verb(
        "Maintenance",
        hides=True,
        lifecycle=True,
        command="",
        tell="Merge similar or duplicate memories to reduce redundancy. Finds memories above similarity threshold and "
        "merges them. dry_run is TRUE by default, and needed before the real run. What goes is hidden, never deleted.",
    )
    def consolidate(
        self,
        namespace: Annotated[Namespace, Param("Namespace to consolidate (required)")],
        similarity_threshold: Annotated[
            Threshold, Param("Minimum similarity to consider duplicates", ge=0.7, le=0.99)
        ] = 0.85,
        strategy: Annotated[
            Literal[
                "keep_newest", "keep_oldest", "keep_highest_importance", "keep_highest_confidence", "merge_content"
            ],
            Param(
                "Strategy for merging similar memories",
                tool_choices=("keep_newest", "keep_oldest", "keep_highest_importance", "merge_content"),
            ),
        ] = "keep_highest_importance",
        dry_run: Annotated[DryRun, Param("Preview without changes")] = True,
        max_groups: Annotated[int, Param("Maximum groups to process", ge=1, le=100)] = 50,
        *,
        pairs: Annotated[
            Literal["all", "recorded"],
            Param("recorded: only pairs noticed when memories were stored; cheap.", tool=False),
        ] = "all",
        accept_loss: Annotated[AcceptLoss, Param("Why more may be hidden than the safety gates allow.", tool=False)]
        | None = None,
    ) -> ConsolidateResult:
        """Merge memories that say the same; a dry run by default, and required before the first real one.

        Similarity is 0.7 of meaning (cosine) and 0.3 of shared words (Jaccard). A merge needs every pair to be that
        similar, and nothing said by the one that goes may be missing in the one that stays: no number, date, name,
        negation. What goes is hidden as ``consolidated``, never deleted; ``undo`` brings it back.

        Raises:
            InvalidInput: A value is refused, or there was no dry run that would do the same now.
            GateStopped: It would lose too much; nothing was written.
        """
        chosen = merging.MergeStrategy(strategy)
        asked = consolidate.ConsolidateRequest(namespace, similarity_threshold, chosen, max_groups, pairs)
        reason = inputs.optional_reason(accept_loss, self._context.policy)
        return consolidate.consolidate(self._context, asked, dry_run=dry_run, accept_loss=reason)

    @verb(_PANEL, repeatable=False, command="", items="edge")
    def relate(
        self,
        members: Annotated[
            Sequence[str] | Mapping[str, str], Param("Their ids, or a mapping of ids to roles.", refers="memory")
        ],
        kind: Annotated[str, Param("What joins them.", longest=200)] = "related",
        weight: Annotated[float, Param("How strongly.", gt=0, le=10)] = 1.0,
        edge: Annotated[str, Param("An edge that gets these members as well.", longest=200)] | None = None,
        namespace: Annotated[Everywhere, Param("Where they are; found by the first if left out.")] | None = None,
    ) -> EdgeChange:
        """Join two or more memories by an edge; completing their task strengthens it by use.

        Raises:
            NotFound: One of them is not there.
            InvalidInput: Fewer than two, or of different namespaces.
        """
        checked = edges.checked_members(members)
        return relate.relate(self._context, checked, kind=kind, weight=weight, edge=edge, namespace=namespace)

    @verb(_PANEL, reads=True, items="edges")
    def edges(self, id: Identity) -> list[Edge]:
        """List the edges of a memory with their members; hidden ones are not shown. Does not count as an access."""
        return relate.edges(self._context, id)

    @verb(_PANEL, hides=True)
    def complete_task(
        self,
        task_id: TaskName,
        *,
        namespace: Namespace = "default",
        dry_run: DryRun = False,
        accept_loss: AcceptLoss | None = None,
    ) -> TaskResult:
        """Bring a task's memories into its session: redundant ones merged, edges strengthened by use.

        Memories without a session go to long term, because in session scope nobody would see them.

        Raises:
            NotFound: No memory belongs to such a task.
            GateStopped: It would lose too much; nothing was written.
        """
        reason = inputs.optional_reason(accept_loss, self._context.policy)
        return tasks.complete_task(self._context, task_id, namespace, dry_run=dry_run, accept_loss=reason)

    @verb(_PANEL)
    def promote(
        self,
        session_id: SessionName,
        threshold: Annotated[float, Param("Confidence needed; the policy's if left out.", ge=0, le=1)] | None = None,
        confirm: Annotated[bool, Param("Do it; without it this is only a preview.")] = False,
        *,
        namespace: Namespace = "default",
        accept_loss: AcceptLoss | None = None,
    ) -> PromotionResult:
        """Bring the most certain and most used memories of a session to long term; a preview unless confirmed.

        Their confidence reaches the threshold, their accesses the session's median; connected ones also get a summary.

        Raises:
            NotFound: No memory belongs to such a session.
        """
        reason = inputs.optional_reason(accept_loss, self._context.policy)
        return sessions.promote(
            self._context, session_id, namespace, threshold=threshold, confirm=confirm, accept_loss=reason
        )

    @verb(_PANEL, hides=True)
    def end_session(
        self, session_id: SessionName, *, namespace: Namespace = "default", accept_loss: AcceptLoss | None = None
    ) -> SessionResult:
        """End a session: complete its open tasks, promote, sweep. A second call changes nothing.

        What was not promoted is still seen only inside the session.
        """
        reason = inputs.optional_reason(accept_loss, self._context.policy)
        return sessions.end_session(self._context, session_id, namespace, accept_loss=reason)
