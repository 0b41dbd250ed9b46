"""Where what is learned from conversations joins the other operations: a class of seams, and what holds without it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from perdure.records.errors import NotFound
from perdure.records.instant import Instant
from perdure.records.memory import Draft, MemoryItem, Record
from perdure.records.outcome import (
    ClaimResult,
    FactReasons,
    GivenClaim,
    HandedClaims,
    KnownPredicates,
    Outcome,
    RestingFact,
    SayingMemory,
)
from perdure.records.plan import Change
from perdure.records.recall import Filters, Hit, OutdatedFact, OutdatedMemories, Pool, Query
from perdure.rules.erasure import Subject, UnusedNames
from perdure.rules.lifecycle.schedule import Data, Task
from perdure.rules.point_in_time import Validity

if TYPE_CHECKING:
    from perdure.records.report import JournalEntry  # many data classes, each of which takes time to make
    from perdure.records.signal_results import Question  # as above
    from perdure.rules.decisions import Decisions  # loads numpy
    from perdure.rules.ranking import Ranking  # as above

Ctx_contra = TypeVar("Ctx_contra", contravariant=True)
"""The context of operations; a parameter, because the context itself holds an extension."""

TaskResult = tuple[str, Data]  # (one line for people, what else is kept about the run)


class Extension(Generic[Ctx_contra]):
    """What a part that learns adds to the other operations. Each seam is called whether anything was learned or not.

    What stands here holds where nothing was learned: memories are what was stored, and no more is known of them.
    """

    @property
    def resources(self) -> Any:
        """What the extension keeps for one open store; only its own operations look at it."""
        return None

    def weigh(self, _ctx: Ctx_contra, draft: Draft, _role: str, /) -> Draft:
        """Return a message that is taken in, with its importance by what it does."""
        return draft

    def learn(self, _ctx: Ctx_contra, _namespace: str, _sessions: Iterable[str], /) -> tuple[str, ...]:
        """Learn from the messages of sessions after they were taken in, and return the ids of the operations."""
        return ()

    def take(self, _ctx: Ctx_contra, _decisions: Decisions, _handed: Sequence[HandedClaims], /) -> ClaimResult:
        """Decide what becomes of facts that a caller hands over, and of those that rest on what it replaces."""
        return ClaimResult()

    def near(
        self, _ctx: Ctx_contra, _namespace: str, _claims: Sequence[GivenClaim], _besides: Collection[str], /
    ) -> tuple[Sequence[str], Sequence[KnownPredicates]]:
        """Return what is known of those whom claims are about: memories about the same predicates, and predicates.

        Facts among ``besides`` are left out.
        """
        return (), ()

    def with_known_names(self, _ctx: Ctx_contra, _namespace: str, text: str, _absent: Collection[str], /) -> str:
        """Return a question with names that no memory has, of which ``_absent`` are words, as memories have them."""
        return text

    def rank(
        self, _ctx: Ctx_contra, _namespace: str, _query: Query, _pool: Pool, order: Ranking, _filters: Filters, /
    ) -> Ranking:
        """Return the candidates of a recall, best first, with those that the searches do not bring up."""
        return order

    def follow_ups(self, _ctx: Ctx_contra, _namespace: str, _query: Query, /) -> tuple[str, ...]:
        """Return words that usually come up after those of a question."""
        return ()

    def validity(self, _ctx: Ctx_contra, _namespace: str, _records: Sequence[Record], /) -> Mapping[str, Validity]:
        """Return memory -> when it was true, of those of which that is known."""
        return {}

    def sources(self, _ctx: Ctx_contra, _namespace: str, _hits: Sequence[Hit], /) -> Mapping[str, frozenset[str]]:
        """Return memory -> the messages that say the same, of those that were learned from messages."""
        return {}

    def mark(self, _ctx: Ctx_contra, _namespace: str, hits: list[Hit], _filters: Filters, /) -> list[Hit]:
        """Return the hits of a recall with what is to be asked about them and what contradicts or replaced them.

        What sums up something that is over is left out.
        """
        return hits

    def with_earlier(self, _ctx: Ctx_contra, _namespace: str, hits: list[Hit], _filters: Filters, /) -> list[Hit]:
        """Return hits with what held before the facts that they are or say."""
        return hits

    def refresh(self, _ctx: Ctx_contra, _namespace: str, _hits: Sequence[Hit], /) -> bool:
        """Verify the hits of a recall that are stale; True if that was tried, so that they must be read again."""
        return False

    def outdated_memories(
        self, _ctx: Ctx_contra, _namespace: str, _memories: Sequence[MemoryItem], /
    ) -> OutdatedMemories:
        """Return what is not to be shown as current: what no longer holds, and facts that a note says as well."""
        return OutdatedMemories()

    def said_by(self, _ctx: Ctx_contra, _record: Record, /) -> tuple[tuple[SayingMemory, ...], int]:
        """Return the newest notes and messages in view that say a fact, oldest first, and how many others do."""
        return (), 0

    def saying_facts_of(self, _ctx: Ctx_contra, _record: Record, _others: Sequence[Record], /) -> Mapping[str, bool]:
        """Return memory -> whether it says more, of those that say a fact of a memory: its sources, and of ``others``.

        ``others`` have words of the memory; no link says which of them say its facts.
        """
        return {}

    def facts_resting_on(
        self,
        _ctx: Ctx_contra,
        _record: Record,
        _which: Literal["sole", "all"] = "sole",
        _hidden: Collection[str] = (),
        /,
    ) -> tuple[RestingFact, ...]:
        """Return believed facts that a memory says: where it is hidden those that nothing in view says.

        Where it is in view: those that no longer are believed if it is replaced, because they rest on it alone. With
        ``all`` also those that other memories say. ``hidden`` are memories that are to be hidden with it.
        """
        return ()

    def over(self, _ctx: Ctx_contra, _record: Record, /) -> tuple[OutdatedFact, ...]:
        """Return what holds no longer of the facts that a memory says, or of itself where it is a fact."""
        return ()

    def explain(
        self, _ctx: Ctx_contra, _memory: MemoryItem, _history: Sequence[JournalEntry], _now: Instant, /
    ) -> FactReasons | None:
        """Return why a memory is believed or not; None of what was not learned."""
        return None

    def questions(self, _ctx: Ctx_contra, _namespace: str, _now: Instant, /) -> Iterable[Question]:
        """Return open questions to a person besides those about one memory."""
        return ()

    def answer(
        self, _ctx: Ctx_contra, _record: Record, _verdict: Literal["keep", "drop"], _reason: str | None, /
    ) -> Outcome | None:
        """Carry out a person's answer about a memory that was learned; None of what was not, with nothing done."""
        return None

    def tasks(self, _ctx: Ctx_contra, /) -> Mapping[Task, Callable[[Ctx_contra, str], TaskResult]]:
        """Return the tasks that maintenance runs besides its own in each namespace."""
        return {}

    def conflicts(
        self, _ctx: Ctx_contra, _record: Record, _now: Instant, _since: str = "", _planned: Sequence[Change] = (), /
    ) -> list[Change]:
        """Return the conflicts and questions that bringing back a memory opens.

        Of one that was hidden only those with memories that changed after the operation ``since``; with all if it is
        empty. One that is not stored now is stored by what is ``planned``.
        """
        return []

    def call_off(
        self, _ctx: Ctx_contra, _decisions: Decisions, _hidden: Sequence[str], _because: str, /
    ) -> list[Change]:
        """Return what becomes of facts of which others took the place, or were to take it, that are hidden by now."""
        return []

    def plan_again(self, _ctx: Ctx_contra, _decisions: Decisions, _shown: Sequence[str], /) -> list[Change]:
        """Return what becomes of facts that end for others, or lose their place to them, that come back into view."""
        return []

    def about(self, _ctx: Ctx_contra, _namespace: str, name: str, /) -> Subject:
        """Return what is known of somebody or something, and the memories that are about them, name them, or theirs."""
        raise NotFound(
            f"Without learned facts, nothing says whom {name!r} means.", remedy="Select memories by id, tag or session."
        )

    def orphans(
        self, _ctx: Ctx_contra, _namespace: str, _erased: Collection[str], _more: Collection[str] | None, /
    ) -> Iterable[str]:
        """Return the entities that are known from erased memories alone.

        Looked at are those that the erased memories name, and ``more`` of them; all where that is None.
        """
        return ()

    def unsaid(
        self,
        _ctx: Ctx_contra,
        _namespace: str,
        _erased: Collection[str],
        _going: Collection[str],
        _called: Collection[str],
        /,
    ) -> UnusedNames:
        """Return which of the names of erased memories, of entities that go and of those asked for nobody says now."""
        return UnusedNames()

    def promote(
        self, _ctx: Ctx_contra, _namespace: str, _decisions: Decisions, _ids: Sequence[str], /
    ) -> Collection[str]:
        """Decide what becomes of a session's facts beside those of long term; return those not to be promoted."""
        return ()
