"""The Python API: one method for each verb, no logic. Start with ``perdure.open("agent.db")``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Self

from perdure.memory_entities import EntityVerbs
from perdure.memory_extract import ExtractVerbs
from perdure.memory_facts import FactVerbs
from perdure.memory_forms import FormVerbs
from perdure.memory_groups import GroupVerbs
from perdure.memory_learning import LearningVerbs
from perdure.memory_signals import SignalVerbs
from perdure.memory_upkeep import UpkeepVerbs
from perdure.memory_verify import VerifyVerbs
from perdure.operations import explain, journal, reembed, remember
from perdure.operations import explain_miss as absence
from perdure.operations.lifecycle import digest as digesting
from perdure.operations.lifecycle import pinning_archiving as keep
from perdure.operations.ports import Context, Progress
from perdure.operations.recall import recall as recalling
from perdure.records.memory import Form
from perdure.records.memory import Memory as Remembered
from perdure.records.outcome import Outcome
from perdure.records.plan import Plan
from perdure.records.policy import Policy
from perdure.records.recall import Absence, Recall
from perdure.records.report import Entry, Explanation, Operation, Stats
from perdure.rules.lifecycle.digest import Digest
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import queries as asking

# Inside the class, ``list`` is the verb.
Listed = list[Remembered]
Outcomes = list[Outcome]
Texts = list[str]
Entries = list[Entry]
Operations = list[Operation]


class Memory(
    SignalVerbs, FormVerbs, GroupVerbs, ExtractVerbs, EntityVerbs, FactVerbs, LearningVerbs, UpkeepVerbs, VerifyVerbs
):
    """A memory store and its verbs. Thread-safe; several processes may open one file.

    Example:
        >>> import perdure
        >>> memory = perdure.open(":memory:")
        >>> kept = memory.remember("Deploys happen on Tuesdays at 10:00.")
        >>> memory.recall("When do we deploy?").hits[0].memory.content
        'Deploys happen on Tuesdays at 10:00.'
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._context.policy

    # --- bringing in

    def remember(
        self,
        content: str,
        namespace: str = "default",
        kind: str = "note",
        tags: Iterable[str] = (),
        importance: float = 0.5,
        confidence: float | None = None,
        source: str | None = None,
        session: str | None = None,
        task: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        at: datetime | None = None,
        pinned: bool = False,
        idempotency_key: str | None = None,
    ) -> Outcome:
        """Store one memory; it is durable when this returns.

        The same words (case and white space aside) return the memory that is there; an archived one is shown again.

        Args:
            content: The words; at most 1 MiB.
            namespace: Where to; made on first use.
            kind: note, episode, fact, procedure or summary.
            tags: Labels for filters.
            importance: 0 to 1.
            confidence: 0 to 1; by kind if not given.
            source, session, task, metadata: Where it comes from, what it belongs to, and any JSON data.
            at: When it happened, an aware datetime; now if not given.
            pinned: Exempt from every move.
            idempotency_key: The same key stores nothing twice.

        Raises:
            InvalidInput: A value is refused; nothing was stored.
        """
        item = {
            "content": content,
            "kind": kind,
            "tags": tags,
            "importance": importance,
            "confidence": confidence,
            "source": source,
            "session": session,
            "task": task,
            "metadata": metadata,
            "at": at,
            "pinned": pinned,
            "idempotency_key": idempotency_key,
        }
        return self.remember_many([item], namespace=namespace)[0]

    def remember_many(
        self,
        items: Iterable[str | Mapping[str, Any]],
        namespace: str = "default",
        *,
        embed: Literal["now", "later"] = "now",
        progress: Progress | None = None,
    ) -> Outcomes:
        """Store several memories; all are checked before the first is stored, and each 500 are one transaction.

        Args:
            items: Texts, or mappings of the arguments of ``remember``.
            namespace: Where to.
            embed: ``later`` is fast: words find them at once, meaning after ``reembed``.
            progress: Called with (done, total).

        Returns:
            What became of each item, in their order.
        """
        place = intake.checked_namespace(namespace)
        embed = asking.when(embed)
        drafts = intake.drafts(items, policy=self._context.policy, now=self._context.clock())
        return remember.remember(self._context, drafts, place, embed=embed, progress=progress)

    # --- asking

    def recall(
        self,
        query: str,
        namespace: str = "default",
        limit: int = 5,
        *,
        kinds: Sequence[str] = (),
        scopes: Sequence[str] = (),
        tags: Sequence[str] = (),
        session: str | None = None,
        entity: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        min_confidence: float = 0.0,
        include_archived: bool = False,
        inside: str | None = None,
        touch: bool = True,
    ) -> Recall:
        """Return the memories that answer a question, best first, each with what its score is made of.

        Args:
            query, namespace: The question, in plain words; where to look.
            limit, kinds, scopes, session: How many hits at most, 1 to 1000; only these.
            tags, entity: Only memories with all of these tags; only those whose words hold this name.
            since, until: Only what happened from and before these instants.
            as_of, known_at: What was true then (facts that were valid, of all else what was stored); what was known.
            min_confidence, include_archived: Only memories at least this likely true now; also hidden ones.
            inside: The session that asks: its own task and session memories are seen besides what is shared.
            touch: Count the hits as accessed. False for dashboards, tests and other readers.
        """
        filters = asking.filters(
            kinds=kinds,
            scopes=scopes,
            tags=tags,
            session=session,
            entity=entity,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            min_confidence=min_confidence,
            include_archived=include_archived,
            inside=inside,
            policy=self._context.policy,
        )
        asked, most = asking.question(query), asking.limit(limit)
        place = intake.checked_namespace(namespace)
        return recalling(self._context, asked, place, most, filters, touch=touch)

    def get(self, id: str, include_archived: bool = False) -> Remembered | None:
        """Return one memory, or None; a hidden one only with ``include_archived``. Reading it is no access."""
        return explain.get(self._context, asking.identity(id), include_archived=include_archived)

    def list(  # the contract's name
        self,
        namespace: str = "default",
        limit: int = 50,
        *,
        kinds: Sequence[str] = (),
        scopes: Sequence[str] = (),
        tags: Sequence[str] = (),
        session: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        min_confidence: float = 0.0,
        include_archived: bool = False,
        inside: str | None = None,
        before: Remembered | None = None,
    ) -> Listed:
        """Return memories, newest first. Reading them is no access. Filters as in ``recall``.

        Args:
            namespace: Which one.
            limit: How many, 1 to 1000.
            kinds: Only these kinds.
            scopes: Only these scopes.
            tags: Only memories with all of these tags.
            session: Only this session.
            since: Only what happened at or after this instant.
            until: Only what happened before this instant.
            min_confidence: Only memories at least this likely true now.
            include_archived: Also hidden ones.
            inside: The session that asks, as in ``recall``.
            before: The last memory of the page before.
        """
        filters = asking.filters(
            kinds=kinds,
            scopes=scopes,
            tags=tags,
            session=session,
            since=since,
            until=until,
            min_confidence=min_confidence,
            include_archived=include_archived,
            inside=inside,
            policy=self._context.policy,
        )
        return explain.listed(
            self._context, intake.checked_namespace(namespace), filters, asking.limit(limit), asking.page(before)
        )

    def why(self, id: str) -> Explanation:
        """Return why a memory is as it is: its signals taken apart, its history, what happens next and when."""
        return explain.why(self._context, asking.identity(id))

    def why_not(
        self,
        id: str,
        query: str,
        *,
        limit: int = 5,
        tags: Sequence[str] = (),  # as above
        min_confidence: float = 0.0,
        include_archived: bool = False,
    ) -> Absence:
        """Return what kept a memory out of the answer to a question."""
        filters = asking.filters(
            tags=tags, min_confidence=min_confidence, include_archived=include_archived, policy=self._context.policy
        )
        return absence.why_not(self._context, asking.identity(id), asking.question(query), asking.limit(limit), filters)

    # --- deciding about one memory

    def pin(self, id: str) -> Outcome:
        """Exempt a memory from every move."""
        return keep.pin(self._context, asking.identity(id), pinned=True)

    def unpin(self, id: str) -> Outcome:
        """Let the rules apply to a memory again."""
        return keep.pin(self._context, asking.identity(id), pinned=False)

    def archive(self, id: str, reason: str) -> Outcome:
        """Hide a memory; nothing is deleted."""
        return keep.archive(self._context, asking.identity(id), intake.checked_reason(reason, self.policy))

    def restore(self, id: str, level: str | None = None) -> Outcome:
        """Show an archived memory again; the next sweep does not take it back.

        Of a fact beside which another value is believed by now both are contested, and a person is asked.

        Args:
            id: Which one.
            level: ``full`` brings back the whole text, byte for byte; ``summary`` a fuller form than keywords.
        """
        form = None if level is None else intake.checked_choice(level, Form, "level")
        return keep.restore(self._context, asking.identity(id), form)

    # --- upkeep

    def stats(self, namespace: str | None = None) -> Stats:
        """Return counts by tier, status and kind, percentiles of value, what is due and what is at risk."""
        return explain.stats(self._context, asking.optional_namespace(namespace))

    def digest(
        self,
        namespace: str = "default",
        budget_tokens: int | None = None,
        *,
        profile: str | None = None,
        inside: str | None = None,
    ) -> str:
        """Return MEMORY.md: what is worth keeping in view, within a budget (2,000 tokens by default)."""
        return self.digest_details(namespace, budget_tokens, profile=profile, inside=inside).text

    def digest_details(
        self,
        namespace: str = "default",
        budget_tokens: int | None = None,
        *,
        profile: str | None = None,
        inside: str | None = None,
    ) -> Digest:
        """Return the digest with its ids, its length, and how tokens were counted."""
        return digesting.digest(
            self._context,
            intake.checked_namespace(namespace),
            budget_tokens=asking.budget(budget_tokens),
            profile=asking.profile(profile),
            inside=intake.optional_text(inside, "inside"),
        )

    def reembed(self, *, progress: Progress | None = None) -> dict[str, int | str]:
        """Give every memory a vector of the embedder's space; can be interrupted and resumed."""
        return reembed.reembed(self._context, progress=progress)

    def optimize(self, namespace: str = "default") -> dict[str, int]:
        """Bring search structures of a large namespace up to date. Changes no memory."""
        return dict(
            self._context.store.optimize(
                intake.checked_namespace(namespace), self._context.clock(), self._context.policy.recall.cells_above
            )
        )

    def check(self) -> Texts:
        """Return what is wrong with the store's file; empty for a sound one."""
        return self._context.store.check()

    # --- looking back and taking back

    def history(
        self,
        id: str | None = None,
        *,
        namespace: str | None = None,  # the contract's name
        limit: int = 100,
    ) -> Entries | Operations:
        """Return a memory's journal, oldest first; without an id the newest operations first."""
        return journal.history(
            self._context,
            None if id is None else asking.identity(id),
            namespace=asking.optional_namespace(namespace),
            limit=asking.limit(limit),
        )

    def undo(self, operation_id: str) -> Plan:
        """Take an operation back; refused with a list where a memory has changed since."""
        return journal.undo(self._context, asking.identity(operation_id))

    def namespaces(self) -> Texts:
        """Return all namespaces."""
        return self._context.store.namespaces()

    def close(self) -> None:
        """Write what waits and close the store."""
        self._context.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
