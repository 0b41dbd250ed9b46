"""The tools' functions about several memories at once: duplicates, edges, tasks, sessions, extraction."""

# ruff: noqa: A002  # id is the contract's name

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from mcp_types import CallToolResult
from pydantic import Field

from perdure.interfaces.mcp import lifecycle_results as result
from perdure.interfaces.mcp import lifecycle_schemas as schema
from perdure.interfaces.mcp import lifecycle_texts as text
from perdure.interfaces.mcp.arguments import Identity, Namespace, Opened
from perdure.interfaces.mcp.texts import answer

if TYPE_CHECKING:  # a server that only lists its tools needs none of them
    from perdure.records.extraction_results import ExtractResult

SessionName = Annotated[str, Field(description="The session's name.", min_length=1, max_length=1000)]


class GroupTools(Opened):
    """Verbs about several memories. Of ``consolidate`` and ``extract`` seed 000 sets the schemas (4.4, 3.4).

    No gate can be overridden here: that somebody accepts a loss is a person's word, given in Python or on the command
    line (decision 0005).
    """

    def consolidate(
        self,
        namespace: Annotated[str, Field(description="Namespace to consolidate (required)")],
        similarity_threshold: Annotated[
            float, Field(description="Minimum similarity for duplicates", ge=0.7, le=0.99)
        ] = 0.85,
        strategy: Annotated[
            Literal["keep_newest", "keep_oldest", "keep_highest_importance", "merge_content"],
            Field(description="What stays of a group."),
        ] = "keep_highest_importance",
        dry_run: Annotated[bool, Field(description="Preview without changes")] = True,
        max_groups: Annotated[int, Field(description="How many groups at most, the most similar.", ge=1, le=100)] = 50,
    ) -> Annotated[CallToolResult, schema.Consolidated]:
        """Merge memories that say the same."""
        told = result.consolidated(
            self._memory().consolidate(namespace, similarity_threshold, strategy, dry_run, max_groups)
        )
        return answer(told, text.consolidated(told))

    def extract(
        self,
        text: Annotated[str, Field(description="Text to extract memories from")],
        namespace: Annotated[str, Field(description="Namespace for extracted memories")] = "extracted",
        min_confidence: Annotated[float, Field(description="Minimum confidence to extract", ge=0.0, le=1.0)] = 0.5,
        deduplicate: Annotated[bool, Field(description="Skip if similar memory exists")] = True,
        dedup_threshold: Annotated[
            float, Field(description="Similarity threshold for deduplication", ge=0.7, le=0.99)
        ] = 0.9,
    ) -> Annotated[CallToolResult, schema.Extracted]:
        """Store what is worth remembering in a text."""
        return _extracted(self._memory().extract(text, namespace, min_confidence, deduplicate, dedup_threshold))

    def relate(
        self,
        members: Annotated[
            list[str] | dict[str, str], Field(description="Ids of two or more memories, or an object of id to role.")
        ],
        kind: Annotated[str, Field(description="What joins them.", min_length=1, max_length=200)] = "related",
        weight: Annotated[float, Field(description="How strongly.", gt=0, le=10)] = 1.0,
        edge: Annotated[
            str | None, Field(description="The edge that gets these members as well.", min_length=1, max_length=200)
        ] = None,
        namespace: Annotated[
            str | None, Field(description="Where they are; found by the first of them if left out.", max_length=200)
        ] = None,
    ) -> Annotated[CallToolResult, schema.Related]:
        """Join memories by an edge."""
        told: schema.Related = {"edge": self._memory().relate(members, kind, weight, edge, namespace)}
        return answer(told, f"Joined by the edge {told['edge']}.")

    def edges(self, id: Identity) -> Annotated[CallToolResult, schema.Edges]:
        """Return the edges of a memory."""
        told = result.edges(self._memory().edges(id))
        return answer(told, text.edges(told))

    def complete_task(
        self,
        task_id: Annotated[str, Field(description="The task's name.", min_length=1, max_length=1000)],
        namespace: Namespace = None,
        dry_run: Annotated[bool, Field(description="Only report.")] = False,
    ) -> Annotated[CallToolResult, schema.TaskDone]:
        """Bring a task's memories into its session."""
        done = self._memory().complete_task(task_id, namespace=self._place(namespace), dry_run=dry_run)
        told = result.task_done(done)
        return answer(told, text.task_done(told))

    def promote(
        self,
        session_id: SessionName,
        threshold: Annotated[
            float | None, Field(description="Confidence needed; the policy's if left out.", ge=0, le=1)
        ] = None,
        confirm: Annotated[bool, Field(description="Do it; false only previews.")] = False,
        namespace: Namespace = None,
    ) -> Annotated[CallToolResult, schema.Promoted]:
        """Bring the best of a session to long term; a preview unless confirmed."""
        done = self._memory().promote(session_id, threshold, confirm, namespace=self._place(namespace))
        told = result.promoted(done)
        return answer(told, text.promoted(told))

    def end_session(
        self, session_id: SessionName, namespace: Namespace = None
    ) -> Annotated[CallToolResult, schema.SessionDone]:
        """End a session."""
        told = result.session_done(self._memory().end_session(session_id, namespace=self._place(namespace)))
        return answer(told, text.session_done(told))


def _extracted(found: ExtractResult) -> CallToolResult:
    """Answer an extraction; here, because the tool's argument ``text`` hides the module of that name."""
    told = result.extracted(found)
    return answer(told, text.extracted(told))
