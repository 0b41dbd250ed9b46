"""Which extension learns facts, and when its code is loaded. Reads the knowledge file; opens no database or tree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from perdure.compose_policy import toml_of
from perdure.operations.extension import Extension, NoExtension
from perdure.operations.ports import Context
from perdure.records.document import Shelf
from perdure.records.fact_claim import GivenClaim, HandedClaims
from perdure.records.fact_reasons import FactReasons
from perdure.records.instant import Instant
from perdure.records.memory import Kind, MemoryItem, Record
from perdure.records.outcome import ClaimResult, KnownPredicates, Outcome
from perdure.records.plan import Change
from perdure.records.policy import Policy
from perdure.records.recall import Hit
from perdure.records.report import Entry
from perdure.records.signal_results import Question
from perdure.rules.point_in_time import Validity

if TYPE_CHECKING:  # loads numpy
    from perdure.rules.decisions import Decisions


def extension_of(policy: Policy) -> Extension[Context]:
    """Return what learns facts under a policy.

    Where none are learned and no authority is named, its code is loaded only once a memory of kind fact is met, or a
    verb about knowledge is called.

    Raises:
        PolicyError: The knowledge file cannot be read, or something in it is refused; all faults are listed.
    """
    if policy.knowledge.learn == "off" and not policy.knowledge.file:
        return OnDemand(lambda: knowledge_of(policy))
    return knowledge_of(policy)


def knowledge_of(policy: Policy) -> Extension[Context]:
    """Load what learns facts, with the predicates, databases and working trees of the policy's knowledge file.

    Raises:
        PolicyError: The file cannot be read, or something in it is refused; all faults are listed.
    """
    from perdure.knowledge.extension import knowledge_from  # noqa: PLC0415  # only where it is used

    if not policy.knowledge.file:
        return knowledge_from({}, "", Path())
    path = Path(policy.knowledge.file)
    return knowledge_from(toml_of(path), path.name, path.absolute().parent)


class OnDemand(NoExtension[Context]):
    """What learns facts, loaded where something was learned before: a seam is passed on if it meets a fact.

    Args:
        load: Loads it.
    """

    def __init__(self, load: Callable[[], Extension[Context]]) -> None:
        self._load = load

    @cached_property
    def _loaded(self) -> Extension[Context]:
        return self._load()

    @property
    def resources(self) -> Any:
        """What the extension keeps."""
        return self._loaded.resources

    def take(self, ctx: Context, decisions: Decisions, handed: Sequence[HandedClaims], /) -> ClaimResult:
        """Write down facts that are handed over: a caller gave some, or replaces what facts rest on."""
        return self._loaded.take(ctx, decisions, handed)

    def near(
        self, ctx: Context, namespace: str, claims: Sequence[GivenClaim], besides: Collection[str], /
    ) -> tuple[Sequence[str], Sequence[KnownPredicates]]:
        """Return what is known of those whom claims are about."""
        return self._loaded.near(ctx, namespace, claims, besides) if claims else ((), ())

    def validity(self, ctx: Context, namespace: str, records: Sequence[Record], /) -> Mapping[str, Validity]:
        """Return fact -> when it was true."""
        facts = any(r.state.kind is Kind.FACT for r in records)
        return self._loaded.validity(ctx, namespace, records) if facts else {}

    def sources(self, ctx: Context, namespace: str, hits: Sequence[Hit], /) -> Mapping[str, frozenset[str]]:
        """Return fact -> the messages that say it."""
        return self._loaded.sources(ctx, namespace, hits) if _any_fact(hits) else {}

    def mark(self, ctx: Context, namespace: str, hits: list[Hit], /) -> list[Hit]:
        """Return hits with what is to be asked of the facts among them."""
        return self._loaded.mark(ctx, namespace, hits) if _any_fact(hits) else hits

    def outdated(self, ctx: Context, namespace: str, memories: Sequence[MemoryItem], /) -> Collection[str]:
        """Return what is not to be shown as current, where facts were learned."""
        learned = ctx.store.documents.page(namespace, Shelf.FACT, ("", ""), 1)
        return self._loaded.outdated(ctx, namespace, memories) if learned else ()

    def explain(
        self, ctx: Context, memory: MemoryItem, history: Sequence[Entry], now: Instant, /
    ) -> FactReasons | None:
        """Return why a fact is believed or not."""
        return self._loaded.explain(ctx, memory, history, now) if memory.kind is Kind.FACT else None

    def about(self, ctx: Context, namespace: str, name: str, /) -> tuple[Sequence[str], Sequence[str]]:
        """Return the memories that are about an entity, and the entity."""
        return self._loaded.about(ctx, namespace, name)

    def questions(self, ctx: Context, namespace: str, now: Instant, /) -> Iterable[Question]:
        """Return open questions where something was asked about what was learned."""
        asked = ctx.store.documents.page(namespace, Shelf.LESSON, ("", ""), 1)
        return self._loaded.questions(ctx, namespace, now) if asked else ()

    def answer(
        self, ctx: Context, record: Record, verdict: Literal["keep", "drop"], reason: str | None, /
    ) -> Outcome | None:
        """Carry out an answer about a fact."""
        fact = record.state.kind is Kind.FACT
        return self._loaded.answer(ctx, record, verdict, reason) if fact else None

    def conflicts(self, ctx: Context, record: Record, now: Instant, since: str = "", /) -> list[Change]:
        """Return the conflicts that bringing back a fact opens."""
        return self._loaded.conflicts(ctx, record, now, since) if record.state.kind is Kind.FACT else []

    def promote(self, ctx: Context, namespace: str, decisions: Decisions, ids: Sequence[str], /) -> Collection[str]:
        """Decide what becomes of a session's facts."""
        return self._loaded.promote(ctx, namespace, decisions, ids) if ids else ()


def _any_fact(hits: Sequence[Hit]) -> bool:
    return any(hit.memory.kind is Kind.FACT for hit in hits)
