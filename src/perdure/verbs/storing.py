"""Verbs that bring memories in, and that say what holds instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from perdure.verbs.declaration import Param, lazy_modules, verb
from perdure.verbs.parameters import Claims, Facts, Identity, MemoryKind, MemoryScope, Metadata, Namespace, Reason

if TYPE_CHECKING:
    from perdure.operations import extract, ingest, remember, remember_one, update
    from perdure.operations.lifecycle import manual_decisions
    from perdure.operations.ports import Context, Progress
    from perdure.records import memory as records
    from perdure.records.memory import Message
    from perdure.records.outcome import GivenClaim, Outcome, RememberResult
    from perdure.records.report import ExtractResult, IngestResult
    from perdure.rules import source_trust
    from perdure.rules.validation import fact_claims, inputs, values
else:
    (records,) = lazy_modules("perdure.records", "memory")
    extract, ingest, remember, remember_one, update = lazy_modules(
        "perdure.operations", "extract", "ingest", "remember", "remember_one", "update"
    )
    (manual_decisions,) = lazy_modules("perdure.operations.lifecycle", "manual_decisions")
    (source_trust,) = lazy_modules("perdure.rules", "source_trust")
    fact_claims, inputs, values = lazy_modules("perdure.rules.validation", "fact_claims", "inputs", "values")
_LONGEST_TEXT = 1 << 20
Content = Annotated[str, Param("One self-contained statement.", longest=_LONGEST_TEXT, stdin=True)]
FactsNow = Annotated[Facts, Param("What holds now: {subject: Ana, predicate: home, value: Oslo}.")]
_ITEMS = (
    "Memories: objects with the arguments of remember, without namespace and replaces, and optionally speaker. "
    "at is ISO 8601 with a time zone."
)
Embed = Annotated[Literal["now", "later"], Param("later is faster: only keyword search finds them until maintenance.")]


class StoringVerbs:
    """Verbs that bring memories in, and that say what holds instead."""

    _context: Context

    @verb(
        "Store",
        agent=("content", "tags", "importance", "facts", "replaces"),
        tell="Store one self-contained fact, decision, preference or event that will matter in later conversations. "
        "Not for secrets, passing remarks or what the repository already says. A text stored before is merged.",
    )
    def remember(
        self,
        content: Content,
        namespace: Namespace = "default",
        kind: Annotated[MemoryKind, Param("The kind of memory.", short="-k")] = "note",
        tags: Annotated[Sequence[str], Param("Labels for filters.", option="--tag", short="-t")] = (),
        importance: Annotated[float, Param("Importance. Default: the policy's worth.note.", ge=0, le=1)] | None = None,
        confidence: Annotated[float, Param("How likely it is true; depends on the kind if omitted.", ge=0, le=1)]
        | None = None,
        source: Annotated[str, Param("Where it comes from: a path, a URL, a name.")] | None = None,
        session: Annotated[str, Param("Its session: visible only there until promoted.")] | None = None,
        task: Annotated[str, Param("Its task: visible only in its session, so give both.")] | None = None,
        metadata: Metadata | None = None,
        at: Annotated[datetime, Param("When it happened; now if omitted.")] | None = None,
        pinned: Annotated[bool, Param("Pin it: no rule moves, shortens or archives it.")] = False,
        idempotency_key: Annotated[str, Param("For retries: a key stands for one text, stored once.")] | None = None,
        facts: Facts = (),
        replaces: Annotated[Sequence[str], Param("Ids of memories that it replaces.", refers="memory")] = (),
    ) -> RememberResult:
        """Store one memory; it is on disk when this returns.

        The same text (ignoring case and white space) is not stored twice: tags, metadata, the higher importance and the
        pin are merged into the existing memory, which counts as said now; an archived one is shown again, with the
        facts that were hidden with it. An ``idempotency_key`` that was used in the namespace returns the memory of its
        text and changes nothing; with another text it is refused.

        Each of ``facts`` has a subject, a predicate and a value, and may say denied, replaces (a value or the id of a
        memory), valid_from, valid_to (a day counts whole) and quote. It is treated like any other fact, under
        every policy. The outcome lists earlier memories that may be about the same thing.

        Raises:
            InvalidInput: A value or a fact is refused, or the key was used for another text; nothing was stored.
            MemoryErased: What was stored under the key was erased; nothing was stored.
            NotFound: There is no memory of an id in ``replaces``.
        """
        item = {name: value for name, value in locals().items() if name in inputs.ARGUMENTS}
        (draft,), by_item = inputs.drafts_with_facts([item], policy=self._context.policy, now=self._context.clock())
        claims, sure = by_item.get(0, ((), None))
        return remember_one.remember_one(self._context, draft, namespace, claims, replaces, sure)

    def _claims(self, facts: Claims, content: str) -> tuple[tuple[GivenClaim, ...], str]:
        if not facts:
            return (), content
        return fact_claims.parsed_claims(facts, content, policy=self._context.policy, now=self._context.clock())

    @verb("Store", lasts=True, command="", tool=False)
    def remember_many(
        self,
        items: Annotated[Sequence[Mapping[str, Any]], Param(_ITEMS)] | Iterable[str | Mapping[str, Any]],
        namespace: Namespace = "default",
        *,
        embed: Embed = "now",
        progress: Progress | None = None,
    ) -> list[Outcome]:
        """Store several memories; all are checked before the first is stored, and each 500 are one transaction.

        An item is a text or a mapping of the arguments of ``remember`` but ``namespace`` and ``replaces``, and may have
        a ``speaker``; ``at`` may be a text, too. The outcomes come in the order of the items. ``progress`` is called
        with (done, total).

        Raises:
            InvalidInput: An item is refused, or its key was used for another text; the error says which one.
                Nothing was stored.
            MemoryErased: What was stored under an item's key was erased; nothing was stored.
            PartlyStored: A later transaction failed; it says how many items are stored.
        """
        drafts, facts = inputs.drafts_with_facts(items, policy=self._context.policy, now=self._context.clock())
        return remember.remember(self._context, drafts, namespace, embed=embed, facts=facts, progress=progress)

    @verb(
        "Store",
        lasts=True,
        command="",
        tell="Store a conversation: each message becomes an episode linked to its neighbours. Ingesting the same "
        "messages again adds nothing. For single facts use remember.",
    )
    def ingest(
        self,
        messages: Annotated[Sequence[Mapping[str, Any]], Param("Messages: role, content, at.", least=1, most=1000)]
        | Iterable[Message | Mapping[str, Any]],
        namespace: Namespace = "default",
        session: Annotated[str, Param("The conversation's name, for messages without one.")] | None = None,
        *,
        scope: Annotated[MemoryScope, Param("session: visible only in their session until promoted.")] = "long_term",
        embed: Embed = "now",
        progress: Progress | None = None,
    ) -> IngestResult:
        """Store a conversation: messages with content, role, at. Ingesting it again adds nothing.

        Replies that quote or paraphrase a recent hit mark it as used; those that only repeat hits are not stored.
        Messages without any text, such as an assistant's calls of tools, are passed over; ``empty`` counts them.

        Raises:
            InvalidInput: A message is refused; nothing was stored.
        """
        return ingest.ingest(
            self._context,
            messages,
            namespace,
            session=session,
            scope=records.Scope(scope),
            embed=embed,
            progress=progress,
        )

    @verb(
        "Store",
        lasts=True,
        command="",
        lifecycle=True,
        tell="Automatically extract memories from conversation text. Uses pattern matching to identify facts, "
        "decisions, "
        "and key information. The text counts as the user's words; for those of others, or a whole conversation, use "
        "ingest. For one statement use remember.",
    )
    def extract(
        self,
        text: Annotated[str, Param("Text to extract memories from", longest=_LONGEST_TEXT)],
        namespace: Annotated[Namespace, Param("Namespace for extracted memories")] = "extracted",
        min_confidence: Annotated[float, Param("Minimum confidence to extract", ge=0, le=1)] = 0.5,
        deduplicate: Annotated[bool, Param("Skip if similar memory exists")] = True,
        dedup_threshold: Annotated[float, Param("Similarity threshold for deduplication", ge=0.7, le=0.99)] = 0.9,
        *,
        session: Annotated[str, Param("The session that the notes belong to.", tool=False)] | None = None,
        task: Annotated[str, Param("The task that the notes belong to.", tool=False)] | None = None,
        at: Annotated[datetime, Param("When it was said; now if omitted.", tool=False)] | None = None,
        role: Annotated[
            str, Param("Whose words: user, assistant, or another such as tool.", longest=200, tool=False)
        ] = "user",
    ) -> ExtractResult:
        """Extract what is worth remembering from a text and store it as notes, in one operation.

        Each note has its extraction's confidence, the importance ``extract.importance``, the tag of its pattern, the
        source "extracted" and, in its metadata, its span. If the policy says so, a language model checks the notes
        and may add verbatim quotes from the text; if it fails, extraction continues without it.

        Raises:
            InvalidInput: A value is refused, for example a text that is too long; nothing was stored.
        """
        longest = self._context.policy.extract.max_text
        place = extract.NoteDestination(namespace, session, task, at, trust=source_trust.trust_of(role))
        return extract.extract(
            self._context,
            values.checked_text(text, "text", longest=longest),
            place,
            min_confidence=min_confidence,
            dedup_threshold=dedup_threshold if deduplicate else None,
        )

    @verb(
        "Change one memory",
        agent=("id", "content", "facts"),
        tell="Replace a memory with what holds now: the new text gets its tags and importance; the old memory is "
        "superseded and linked, never lost.",
    )
    def update(
        self,
        id: Identity,
        content: Content,
        facts: FactsNow = (),
        keeps: Annotated[
            Sequence[str], Param("Ids of the old memory's facts that still hold.", option="--keep", refers="memory")
        ] = (),
    ) -> RememberResult:
        """Replace a memory with what holds now: the old one is superseded and linked to the new one, never lost.

        Facts with the old memory as their only source are superseded, unless ``facts`` repeats them or ``keeps`` names
        them: then they rest on the new memory. Facts that contradict ``facts`` are superseded too. ``facts.replaced``
        of the outcome names those that are no longer believed.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is hidden, or a fact and no ``facts`` are given (``correct`` takes its new value), or a
                fact is refused or cannot be kept; nothing was stored.
        """
        claims, clean = self._claims(facts, content)
        return update.update(self._context, id, clean, claims, keeps)

    @verb(
        "Change one memory",
        hides=True,
        agent=("id", "reason"),
        tell="Archive a wrong or unwanted memory and facts only it states. The reply names what still says it: forget "
        "that too.",
    )
    def forget(self, id: Identity, reason: Reason | None = None) -> Outcome:
        """Archive a memory that is wrong or no longer wanted; ``restore`` or ``undo`` brings it back.

        The facts that rest on nothing else in view go with it (``hidden_facts``), and with a note the messages in which
        the same person says its words and nothing else (``hidden_messages``); pinned ones stay. What says it or its
        facts in other words stays, and is named (``said_by``). Nothing is erased.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is superseded, invalidated or merged, and therefore already hidden.
        """
        return manual_decisions.forget(self._context, id, reason or "forgotten by request")
