"""Verbs about several memories at once: duplicates, edges, tasks, sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

from perdure.verbs.declaration import Param, lazy_modules, verb
from perdure.verbs.parameters import (
    AcceptLoss,
    Confirm,
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
else:
    consolidate, relate, sessions, tasks = lazy_modules(
        "perdure.operations.consolidation", "consolidate", "relate", "sessions", "tasks"
    )
    edges, merging = lazy_modules("perdure.rules.consolidation", "edges", "merging")
_PANEL: Final = "Tasks and sessions"


def _members(members: Any) -> dict[str, str]:
    return edges.checked_members(members)


class ConsolidatingVerbs:
    """Verbs about several memories at once: duplicates, edges, tasks, sessions."""

    _context: Context

    @verb(
        "Maintenance",
        lasts=True,
        hides=True,
        lifecycle=True,
        command="",
        tell="Merge similar or duplicate memories to reduce redundancy. Finds memories above similarity threshold and "
        "merges them. dry_run is TRUE by default, and required before the real run. Merged memories are "
        "hidden, never deleted.",
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
            Param("recorded: only pairs that were noticed when they were stored; faster.", tool=False),
        ] = "all",
        accept_loss: Annotated[AcceptLoss, Param("Reason for hiding more than the safety gates allow.", tool=False)]
        | None = None,
    ) -> ConsolidateResult:
        """Merge memories that say the same. A dry run is the default, and is required before a real run.

        Similarity is the cosine of the vectors; ``consolidate.content_weight`` in the policy gives shared words
        (Jaccard) a share (0.3 in ``importance-decay``). All pairs of a merge must be that similar, and the memory that
        stays must have every number, date, name and negation of those merged into it.
        Merged memories are hidden as ``consolidated``, never deleted; ``undo`` brings them back.

        Raises:
            InvalidInput: A value is refused, or there was no dry run with the same result.
            GateStopped: It would lose too much; nothing was written.
        """
        rule = merging.MergeStrategy(strategy)
        request = consolidate.ConsolidateRequest(namespace, similarity_threshold, rule, max_groups, pairs)
        return consolidate.consolidate(self._context, request, dry_run=dry_run, accept_loss=accept_loss)

    @verb(_PANEL, repeatable=False, command="", items="edge")
    def relate(
        self,
        members: Annotated[
            Sequence[str] | Mapping[str, str],
            Param("The memories' ids, or a mapping of ids to roles.", refers="memory", redacted=True, check=_members),
        ],
        kind: Annotated[str, Param("The kind of link.", longest=200, redacted=True)] = "related",
        weight: Annotated[float, Param("Weight of the edge.", gt=0, le=10)] = 1.0,
        edge: Annotated[str, Param("An existing edge to add the memories to.", longest=200, redacted=True)]
        | None = None,
        namespace: Annotated[Everywhere, Param("Their namespace; if omitted, that of the first.")] | None = None,
    ) -> EdgeChange:
        """Link two or more memories by an edge; when their task is completed, use makes it stronger.

        Raises:
            NotFound: One of them is not there.
            InvalidInput: Fewer than two, or of different namespaces.
        """
        checked = cast("dict[str, str]", members)
        return relate.relate(self._context, checked, kind=kind, weight=weight, edge=edge, namespace=namespace)

    @verb(_PANEL, reads=True, items="edges")
    def edges(self, id: Identity) -> list[Edge]:
        """List the edges (links) of a memory with their visible members. Does not count as an access."""
        return relate.edges(self._context, id)

    @verb(_PANEL, lasts=True, hides=True)
    def complete_task(
        self,
        task_id: TaskName,
        *,
        namespace: Namespace = "default",
        dry_run: DryRun = False,
        accept_loss: AcceptLoss | None = None,
    ) -> TaskResult:
        """Move a task's memories into its session; duplicates are merged, and used edges get stronger.

        Memories without a session become long-term, because in session scope nobody would see them.

        Raises:
            NotFound: No memory belongs to such a task.
            GateStopped: It would lose too much; nothing was written.
        """
        return tasks.complete_task(self._context, task_id, namespace, dry_run=dry_run, accept_loss=accept_loss)

    @verb(_PANEL, lasts=True)
    def promote(
        self,
        session_id: SessionName,
        threshold: Annotated[float, Param("Minimum confidence; the policy's if omitted.", ge=0, le=1)] | None = None,
        confirm: Confirm = False,
        *,
        namespace: Namespace = "default",
        accept_loss: AcceptLoss | None = None,
    ) -> PromotionResult:
        """Make the surest and most used memories of a session long-term; only a preview unless confirmed.

        They need the confidence threshold, and more uses than the session's median, unless all are used alike. Pinned
        memories, facts and what a person asked to have remembered need no use. Linked memories also get a summary.

        Raises:
            NotFound: No memory belongs to such a session.
        """
        return sessions.promote(
            self._context, session_id, namespace, threshold=threshold, confirm=confirm, accept_loss=accept_loss
        )

    @verb(_PANEL, lasts=True, hides=True)
    def end_session(
        self, session_id: SessionName, *, namespace: Namespace = "default", accept_loss: AcceptLoss | None = None
    ) -> SessionResult:
        """End a session: complete its open tasks, promote, sweep. A second call changes nothing.

        Memories that were not promoted are still visible only inside the session.

        Raises:
            NotFound: There is no such session.
        """
        return sessions.end_session(self._context, session_id, namespace, accept_loss=accept_loss)
