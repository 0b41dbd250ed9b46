"""Verbs that ask what is known, and why. Only ``recall`` counts as an access."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final, Literal, Unpack, cast

from perdure.records.errors import NotFound
from perdure.verbs.declaration import Param, lazy_modules, role_to_undo, verb
from perdure.verbs.parameters import (
    AsOf,
    Budget,
    Everywhere,
    Identity,
    IncludeArchived,
    Inside,
    Kinds,
    KnownAt,
    Limit,
    ListFilters,
    MinConfidence,
    MinRelevance,
    Namespace,
    Query,
    Scopes,
    Session,
    Since,
    Tags,
    Until,
)

if TYPE_CHECKING:
    from perdure.operations import explain, journal, monitoring, recall
    from perdure.operations.lifecycle import digest
    from perdure.operations.ports import Context
    from perdure.records.explanation import Explanation
    from perdure.records.memory import MemoryItem
    from perdure.records.outcome import Outcome, WriteResult
    from perdure.records.recall import Absence, Recall
    from perdure.records.report import Alert, Digest, JournalEntry, Operation, Stats
    from perdure.records.store_results import UndoResult
    from perdure.rules.validation import queries
else:
    explain, journal, monitoring, recall = lazy_modules(
        "perdure.operations", "explain", "journal", "monitoring", "recall"
    )
    (digest,) = lazy_modules("perdure.operations.lifecycle", "digest")
    (queries,) = lazy_modules("perdure.rules.validation", "queries")
ProfileName = Literal["tokens", "claude-code", "hermes", "openclaw"]
Profile = Annotated[ProfileName, Param("Use the budget of a client for MEMORY.md instead of tokens.")]
Listed = list["MemoryItem"]  # inside the class, ``list`` is the verb
Texts = list[str]
Entries = list["JournalEntry"]
Operations = list["Operation"]
Alerts = list["Alert"]
_PAGE: Final = 100  # memories that are read at a time where all are wanted


class RecallingVerbs:
    """Verbs that ask what is known, and why. Only ``recall`` counts as an access."""

    _context: Context

    @verb(
        "Find and explain",
        repeatable=False,
        role="reader",
        agent=("query", "limit", "tags", "since", "as_of"),
        empty=lambda answer: not answer.hits,
        tell="Search memory with a question in plain words; call it before answering anything that earlier "
        "conversations "
        "may have settled. If nothing_known is true, no stored memory matches: say so instead of guessing.",
    )
    def recall(
        self,
        query: Query,
        namespace: Namespace = "default",
        limit: Limit = 5,
        *,
        kinds: Kinds = (),
        scopes: Scopes = (),
        tags: Tags = (),
        session: Session | None = None,
        entity: Annotated[str, Param("Only memories that mention this name.")] | None = None,
        since: Since | None = None,
        until: Until | None = None,
        as_of: AsOf | None = None,
        known_at: KnownAt | None = None,
        min_confidence: MinConfidence = 0.0,
        min_relevance: MinRelevance = 0.0,
        include_archived: IncludeArchived = False,
        inside: Inside | None = None,
        touch: Annotated[bool, Param("Count the hits as accessed.")] = True,
    ) -> Recall:
        """Return the memories that answer a question, best first, each with the chance that it answers it.

        The limit is an upper bound: what is far less related than the best hit is left out.
        ``as_of`` returns what was true at a time (valid facts, and other memories until they were replaced);
        ``known_at`` returns what was known at a time.
        """
        filters = queries.filters(self._context.policy, locals())
        return recall.recall(self._context, query, namespace, limit, filters, touch=touch)

    @verb(
        "Find and explain",
        reads=True,
        tell="Read one memory in full by its id, for example when recall cut its content.",
    )
    def get(
        self, id: Identity, include_archived: IncludeArchived = False, *, namespace: Everywhere | None = None
    ) -> MemoryItem | None:
        """Show one memory in full; a hidden one only with ``include_archived``. Does not count as an access."""
        return explain.get(self._context, id, include_archived=include_archived, namespace=namespace)

    @verb(
        "Find and explain",
        reads=True,
        agent=("limit", "tags", "before"),
        items="memories",
        tell="List memories, newest first, page by page, without a question. To find an answer use recall.",
    )
    def list(
        self,
        namespace: Namespace = "default",
        limit: Limit = 50,
        *,
        kinds: Kinds = (),
        scopes: Scopes = (),
        tags: Tags = (),
        session: Session | None = None,
        since: Since | None = None,
        until: Until | None = None,
        min_confidence: MinConfidence = 0.0,
        include_archived: IncludeArchived = False,
        inside: Inside | None = None,
        before: Annotated[str, Param("The last id of the previous page.", refers="memory")] | None = None,
    ) -> Listed:
        """List memories, newest first. Does not count as an access."""
        filters = queries.filters(self._context.policy, locals())
        return explain.list_memories(self._context, namespace, filters, limit, before)

    def list_all(
        self, namespace: str = "default", *, before: str | None = None, **filters: Unpack[ListFilters]
    ) -> Iterator[MemoryItem]:
        """Yield memories, newest first, as ``list`` returns them page by page, until none is left.

        So many are read at a time that a few of them are held. What is stored meanwhile is left out.

        Args:
            namespace: The namespace.
            before: The id of a memory to begin behind.
            filters: As ``list`` takes them.

        Raises:
            InvalidInput, NotFound: As ``list``, at the first one.
        """
        page = self.list(namespace, _PAGE, before=before, **filters)
        while page:
            yield from page
            page = self._page_behind([m.id for m in page], namespace, filters)

    def _page_behind(self, ids: Texts, namespace: str, filters: ListFilters) -> Listed:
        """Return the page behind the last of some memories that was not erased meanwhile."""
        try:
            return self.list(namespace, _PAGE, before=ids[-1], **filters)
        except NotFound:
            if len(ids) == 1:
                raise
            return self._page_behind(ids[:-1], namespace, filters)

    @verb(
        "Find and explain",
        reads=True,
        agent=("id",),
        tell="Explain one memory: its signals, its history with operation ids for undo, and what happens next.",
    )
    def why(self, id: Identity, *, namespace: Everywhere | None = None) -> Explanation:
        """Explain a memory: its signals, its history, what happens next and when, and whether it is still true.

        It also says which part of it is no longer true and what replaced that (``no_longer_true``, ``replaced_by``,
        ``replacements``), and which facts have no other source (``sole_source_of``).
        """
        return explain.why(self._context, id, namespace)

    @verb("Find and explain", reads=True)
    def why_not(
        self,
        id: Identity,
        query: Annotated[Query, Param("The question that did not return it.", longest=10_000)],
        *,
        limit: Limit = 5,
        kinds: Kinds = (),
        tags: Tags = (),
        since: Since | None = None,
        until: Until | None = None,
        as_of: AsOf | None = None,
        min_confidence: MinConfidence = 0.0,
        include_archived: IncludeArchived = False,
    ) -> Absence:
        """Explain why a memory was not in the answer to a question."""
        filters = queries.filters(self._context.policy, locals())
        return explain.why_not(self._context, id, query, limit, filters)

    @verb("Find and explain", reads=True, tool=False, items="namespaces")
    def namespaces(self) -> Texts:
        """List all namespaces."""
        return self._context.store.namespaces()

    @verb("Maintenance", reads=True)
    def stats(
        self,
        namespace: Everywhere | None = None,
        *,
        sample: Annotated[
            int, Param("How many memories of a namespace to sample for values, sizes and fading.", ge=100, le=5000)
        ] = 5000,
    ) -> Stats:
        """Show the state of a store: counts, values, what is due, fading or held back, questions, journal growth."""
        return monitoring.stats(self._context, namespace, sample)

    @verb("Maintenance", reads=True, items="alerts")
    def alerts(self, namespace: Everywhere | None = None) -> Alerts:
        """List what needs attention: maintenance that does not run, valuable memories that fade, moves held back.

        Each alert has a severity, and a threshold in the policy's section [alerts].
        """
        return monitoring.alerts(self._context, namespace)

    @verb(
        "Maintenance",
        lasts=True,
        name="digest",
        command="",
        reads=True,
        agent=("budget_tokens",),
        tell="Return MEMORY.md: the most valuable memories in a token budget, as Markdown. For the start of a "
        "session; for a question use recall.",
    )
    def digest_details(
        self,
        namespace: Namespace = "default",
        budget_tokens: Annotated[Budget, Param("The token budget; the policy's (2,000) if omitted.", ge=50)]
        | None = None,
        *,
        profile: Profile | None = None,
        inside: Inside | None = None,
    ) -> Digest:
        """Return MEMORY.md with the ids in it and its length in tokens."""
        return digest.digest(self._context, namespace, budget_tokens=budget_tokens, profile=profile, inside=inside)

    def digest(
        self,
        namespace: str = "default",
        budget_tokens: int | None = None,
        *,
        profile: ProfileName | None = None,
        inside: str | None = None,
    ) -> str:
        """Return MEMORY.md: the most valuable memories within a token budget (2,000 by default)."""
        return self.digest_details(namespace, budget_tokens, profile=profile, inside=inside).text

    @verb("History and undo", reads=True, items="entries")
    def history(
        self,
        id: Annotated[
            Identity,
            Param("The memory's id; if omitted, the newest operations are shown.", argument=True, refers="memory"),
        ]
        | None = None,
        *,
        namespace: Everywhere | None = None,
        limit: Limit = 50,
        notes: Annotated[
            bool, Param("Also show what hooks and maintenance record for their own use.", tool=False)
        ] = False,
    ) -> Entries | Operations:
        """Show a memory's whole journal, oldest first; without an id the newest operations, as many as ``limit``."""
        return journal.history(self._context, id, namespace=namespace, limit=limit, notes=notes)

    @verb(
        "History and undo",
        lasts=True,
        hides=True,
        command="",
        agent=("operation_id",),
        tell='Undo one whole operation by the id in its reply; "last" may be another agent\'s. Refused whole if more '
        "than sweeps changed a memory since. Undoing a remember removes what it stored.",
    )
    def undo(
        self,
        operation_id: Annotated[str, Param("The operation's id, or last.", longest=200, refers="operation")]
        | Outcome
        | WriteResult,
    ) -> UndoResult:
        """Undo an operation, or the ``last`` one. Refused, with a list, if a memory has changed since.

        Maintenance does not count: what it did since to the same memories is taken back too, and the next sweep looks
        at them again.

        Where several write a store, pass the id: ``last`` may be what somebody else wrote. ``memories`` of the outcome
        tells the first words of what was changed.

        A token takes back what it could have made: a sweep needs a curator's. ``last`` is the last of these.

        Raises:
            ConflictError: A memory has changed since, by more than maintenance; nothing was undone.
            InvalidInput: The result given has no operation, or several. Or an undo could only lose something: the
                operation erased memories, made vectors (``reembed``), or all that it replaced was erased since.
            NotFound: There is no such operation.
            OlderThanHorizon: The journal no longer has its lines.
        """
        return journal.undo(self._context, cast("str", operation_id), role_to_undo)  # the check took it from a result
