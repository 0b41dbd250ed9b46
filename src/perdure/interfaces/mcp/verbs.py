"""The tools' functions: one for each verb. They parse, call the engine and hand its answer on; they decide nothing.

All are plain functions: the server runs them in worker threads. What they raise becomes a tool error in mcp_server.py.
"""

# ruff: noqa: A002  # id is the contract's name

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from mcp_types import CallToolResult
from pydantic import Field

from perdure.interfaces.mcp import results as result
from perdure.interfaces.mcp import schemas as schema
from perdure.interfaces.mcp import texts as text
from perdure.interfaces.mcp.arguments import (
    Everywhere,
    Hidden,
    Identity,
    Inside,
    Kind,
    Kinds,
    Likely,
    Limit,
    Namespace,
    Page,
    Question,
    Reason,
    Scopes,
    Session,
    Since,
    Tags,
    Until,
    moment,
)
from perdure.interfaces.mcp.entities import EntityTools
from perdure.interfaces.mcp.facts import FactTools
from perdure.interfaces.mcp.groups import GroupTools
from perdure.interfaces.mcp.learning import LearningTools
from perdure.interfaces.mcp.signals import SignalTools
from perdure.interfaces.mcp.texts import answer
from perdure.records.errors import NotFound
from perdure.rules.learning_hint import untaught

if TYPE_CHECKING:  # numpy and SQLite load with the first call, not with the list of tools
    from perdure.records.report import Entry, Operation


class Verbs(SignalTools, GroupTools, EntityTools, FactTools, LearningTools):
    """The verbs over one memory that is opened when the first of them is called."""

    def remember(
        self,
        content: Annotated[str, Field(description="One self-contained statement; at most 1 MiB.", min_length=1)],
        namespace: Namespace = None,
        kind: Annotated[Kind, Field(description="note unless it clearly is one of the others.")] = "note",
        tags: Annotated[list[str] | None, Field(description="Labels for filters.")] = None,
        importance: Annotated[float, Field(description="How much it matters.", ge=0, le=1)] = 0.5,
        confidence: Annotated[float | None, Field(description="How likely true; by kind.", ge=0, le=1)] = None,
        source: Annotated[str | None, Field(description="Where it comes from: a path, a URL, a name.")] = None,
        session: Annotated[str | None, Field(description="Its session: seen only inside it, until promoted.")] = None,
        task: Annotated[str | None, Field(description="Its task: seen only inside its session, so name both.")] = None,
        metadata: Annotated[dict[str, Any] | None, Field(description="JSON data, returned unchanged.")] = None,
        at: Annotated[str | None, Field(description="When it happened: ISO 8601 with zone; now if left out.")] = None,
        pinned: Annotated[bool, Field(description="Exempt from every move: never fades.")] = False,
        idempotency_key: Annotated[str | None, Field(description="The same key stores nothing twice.")] = None,
    ) -> Annotated[CallToolResult, schema.Kept]:
        """Store one memory."""
        stored = self._memory().remember(
            content,
            namespace=self._place(namespace),
            kind=kind,
            tags=tags or (),
            importance=importance,
            confidence=confidence,
            source=source,
            session=session,
            task=task,
            metadata=metadata,
            at=moment(at, "at"),
            pinned=pinned,
            idempotency_key=idempotency_key,
        )
        told = result.kept(stored.memory)
        return answer(told, f"Remembered.\n{text.kept(told)}")

    def recall(
        self,
        query: Question,
        limit: Limit = 5,
        namespace: Namespace = None,
        kinds: Kinds = None,
        scopes: Scopes = None,
        tags: Tags = None,
        session: Session = None,
        inside: Inside = None,
        entity: Annotated[str | None, Field(description="Only memories whose words hold this name.")] = None,
        since: Since = None,
        until: Until = None,
        as_of: Annotated[str | None, Field(description="What was true then: ISO 8601 with zone.")] = None,
        known_at: Annotated[str | None, Field(description="What was known then: ISO 8601 with zone.")] = None,
        min_confidence: Likely = 0.0,
        include_archived: Hidden = False,
        touch: Annotated[bool, Field(description="Count the hits as accessed.")] = True,
    ) -> Annotated[CallToolResult, schema.Recalled]:
        """Answer a question."""
        found = self._memory().recall(
            query,
            namespace=self._place(namespace),
            limit=limit,
            kinds=kinds or (),
            scopes=scopes or (),
            tags=tags or (),
            session=session,
            inside=inside,
            entity=entity,
            since=moment(since, "since"),
            until=moment(until, "until"),
            as_of=moment(as_of, "as_of"),
            known_at=moment(known_at, "known_at"),
            min_confidence=min_confidence,
            include_archived=include_archived,
            touch=touch,
        )
        told = result.recalled(found)
        return answer(told, text.recalled(told))

    def get(self, id: Identity, include_archived: Hidden = False) -> Annotated[CallToolResult, schema.Whole]:
        """Return one memory in full."""
        memory = self._memory()
        if (found := memory.get(id, include_archived=include_archived)) is None:
            if (hidden := memory.get(id, include_archived=True)) is not None:
                raise NotFound(f"The memory {id} is {hidden.status.value}.", remedy="Pass include_archived=true.")
            raise NotFound(f"There is no memory {id!r}.", remedy="Recall it to learn its id.")
        told = result.whole(found)
        return answer(told, text.kept(told))

    def why(self, id: Identity) -> Annotated[CallToolResult, schema.Explained]:
        """Explain a memory."""
        told = result.explained(self._memory().why(id))
        return answer(told, text.explained(told))

    def archive(
        self,
        id: Identity,
        reason: Reason,
    ) -> Annotated[CallToolResult, schema.Decided]:
        """Hide a memory."""
        return self._decided(self._memory().archive(id, reason), "Archived")

    def restore(
        self,
        id: Identity,
        level: Annotated[
            Literal["full", "summary", "keywords"] | None,
            Field(description="Of a shortened one show this form again; full is the whole text."),
        ] = None,
    ) -> Annotated[CallToolResult, schema.Decided]:
        """Show an archived memory again, or more of one that was shortened."""
        return self._decided(self._memory().restore(id, level), "Restored")

    def pin(self, id: Identity) -> Annotated[CallToolResult, schema.Decided]:
        """Pin a memory."""
        return self._decided(self._memory().pin(id), "Pinned")

    def unpin(self, id: Identity) -> Annotated[CallToolResult, schema.Decided]:
        """Unpin a memory."""
        return self._decided(self._memory().unpin(id), "Unpinned")

    def sweep(
        self,
        dry_run: Annotated[bool, Field(description="Only report what would move; false applies it.")] = True,
        namespace: Everywhere = None,
    ) -> Annotated[CallToolResult, schema.Swept]:
        """Sweep; a dry run unless told otherwise."""
        told = result.swept(self._memory().sweep(dry_run=dry_run, namespace=namespace))
        return answer(told, ("Dry run, nothing was written. " if dry_run else "") + text.swept(told))

    def undo(
        self,
        operation_id: Annotated[str, Field(description="The operation's id.", min_length=1, max_length=200)],
    ) -> Annotated[CallToolResult, schema.Undone]:
        """Take an operation back."""
        told = result.undone(self._memory().undo(operation_id))
        return answer(told, f"Undone: {told['note']}. Undo this with operation {told['operation_id']}.")

    def stats(self, namespace: Everywhere = None) -> Annotated[CallToolResult, schema.Counts]:
        """Count."""
        told = result.counts(self._memory().stats(namespace))
        return answer(told, text.counted(told, untaught(self._memory().policy.knowledge)))

    def digest(
        self,
        namespace: Namespace = None,
        budget_tokens: Annotated[int | None, Field(description="2000 unless the policy says other.", ge=50)] = None,
        profile: Annotated[
            Literal["tokens", "claude-code", "hermes", "openclaw"] | None,
            Field(description="A client's budget for MEMORY.md instead of tokens."),
        ] = None,
        inside: Inside = None,
    ) -> Annotated[CallToolResult, schema.Digested]:
        """Return MEMORY.md."""
        made = self._memory().digest_details(self._place(namespace), budget_tokens, profile=profile, inside=inside)
        told: schema.Digested = {
            "text": made.text,
            "ids": list(made.ids),
            "tokens": made.tokens,
            "tokens_exact": made.exact,
            "profile": made.profile,
        }
        return answer(told, made.text)

    def digest_text(self, namespace: str | None) -> str:
        """Return MEMORY.md as a resource has it."""
        return self._memory().digest(self._place(namespace))

    def list_memories(
        self,
        namespace: Namespace = None,
        limit: Page = 50,
        kinds: Kinds = None,
        scopes: Scopes = None,
        tags: Tags = None,
        session: Session = None,
        inside: Inside = None,
        since: Since = None,
        until: Until = None,
        min_confidence: Likely = 0.0,
        include_archived: Hidden = False,
        before: Annotated[str | None, Field(description="next_before of the page before.")] = None,
    ) -> Annotated[CallToolResult, schema.Listed]:
        """Return a page of memories, newest first."""
        memory = self._memory()
        last = None if before is None else memory.get(before, include_archived=True)
        if before is not None and last is None:
            raise NotFound(f"There is no memory {before!r} to go on from.", remedy="Start again without before.")
        page = memory.list(
            self._place(namespace),
            limit,
            kinds=kinds or (),
            scopes=scopes or (),
            tags=tags or (),
            session=session,
            inside=inside,
            since=moment(since, "since"),
            until=moment(until, "until"),
            min_confidence=min_confidence,
            include_archived=include_archived,
            before=last,
        )
        told: schema.Listed = {
            "memories": [result.kept(m) for m in page],
            "next_before": page[-1].id if len(page) == limit else None,
        }
        return answer(told, text.listed(told))

    def why_not(
        self, id: Identity, query: Question, limit: Limit = 5, include_archived: Hidden = False
    ) -> Annotated[CallToolResult, schema.Absent]:
        """Explain an absence."""
        told = result.absent(self._memory().why_not(id, query, limit=limit, include_archived=include_archived))
        return answer(told, f"Kept out by {told['kept_out_by']}: {told['explanation']}.")

    def history(
        self,
        id: Annotated[str | None, Field(description="The memory; leave out for operations.")] = None,
        namespace: Everywhere = None,
        limit: Page = 50,
    ) -> Annotated[CallToolResult, schema.Told]:
        """Return a journal."""
        lines = self._memory().history(id, namespace=namespace, limit=limit)
        told: schema.Told = {"entries": [], "operations": []}
        if id is None:
            told["operations"] = [result.ran(line) for line in cast("list[Operation]", lines)]
        else:
            told["entries"] = [result.happened(line) for line in cast("list[Entry]", lines)[-limit:]]
        return answer(told, text.told(told))

    def forecast(
        self,
        days: Annotated[float, Field(description="How far to look ahead.", ge=0, le=36_525)] = 30.0,
        namespace: Everywhere = None,
    ) -> Annotated[CallToolResult, schema.Swept]:
        """Foresee moves."""
        told = result.swept(self._memory().forecast(days, namespace=namespace))
        return answer(told, f"Within {days:g} days, if nothing happens: {text.swept(told)}")

    def ingest(
        self,
        messages: Annotated[list[schema.Said], Field(description="In their order.", min_length=1, max_length=1000)],
        session: Annotated[str | None, Field(description="The conversation's name, for messages without one.")] = None,
        namespace: Namespace = None,
    ) -> Annotated[CallToolResult, schema.TakenIn]:
        """Take in a conversation."""
        taken = self._memory().ingest(messages, namespace=self._place(namespace), session=session)
        told: schema.TakenIn = {
            "added": taken.added,
            "skipped": taken.skipped,
            "sessions": list(taken.sessions),
            "operations": list(taken.operations),
        }
        undo = f" Undo with operation {', '.join(taken.operations)}." if taken.operations else ""
        return answer(told, f"{taken.added} messages added, {taken.skipped} known already.{undo}")

    def check(self) -> Annotated[CallToolResult, schema.Checked]:
        """Check the file."""
        faults = self._memory().check()
        told: schema.Checked = {"sound": not faults, "faults": faults}
        return answer(told, "The store is sound." if not faults else "\n".join(faults))
