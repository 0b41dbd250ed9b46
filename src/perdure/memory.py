"""The Python API: a memory store and its verbs. Start with ``perdure.open("agent.db")``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from perdure.records.errors import InvalidInput
from perdure.records.instant import Instant, from_instant
from perdure.rules.learning_hint import no_learning_hint
from perdure.rules.validation.values import checked_id, checked_seconds
from perdure.verbs.checks import check_role, checked_arguments, translate_damage
from perdure.verbs.consolidating import ConsolidatingVerbs
from perdure.verbs.deciding import DecidingVerbs
from perdure.verbs.declaration import VERBS, lazy_modules
from perdure.verbs.facts import FactVerbs
from perdure.verbs.maintaining import MaintainingVerbs
from perdure.verbs.recalling import RecallingVerbs
from perdure.verbs.reviewing import ReviewingVerbs
from perdure.verbs.storing import StoringVerbs
from perdure.verbs.tokens import TokenVerbs

if TYPE_CHECKING:
    from typing import Literal

    from perdure.operations import (
        changed_memories,
        confined_store,
        explain,
        hooks,
        identify,
        monitoring,
        text_caches,
        tokens,
        transfer,
        unchanged_store,
        watched_models,
    )
    from perdure.operations.lifecycle import sweep
    from perdure.operations.ports import Context
    from perdure.operations.store_protocol import Store
    from perdure.operations.watched_models import Watch
    from perdure.records.access import Grant, Login
    from perdure.records.memory import MemoryItem
    from perdure.records.outcome import RelatedMemory
    from perdure.records.policy import Policy
    from perdure.records.recall import Hit
    from perdure.records.report import Operation, SweepReport
    from perdure.records.store_results import Readiness
    from perdure.records.store_rows import Unwritable
    from perdure.records.transfer import Line
    from perdure.rules import policy_check
else:
    (
        changed_memories,
        confined_store,
        explain,
        hooks,
        identify,
        monitoring,
        text_caches,
        tokens,
        transfer,
        unchanged_store,
        watched_models,
    ) = lazy_modules(
        "perdure.operations",
        *("changed_memories", "confined_store", "explain", "hooks", "identify", "monitoring", "text_caches", "tokens"),
        *("transfer", "unchanged_store", "watched_models"),
    )
    (sweep,) = lazy_modules("perdure.operations.lifecycle", "sweep")
    (policy_check,) = lazy_modules("perdure.rules", "policy_check")


T = TypeVar("T")


class Memory(
    StoringVerbs,
    RecallingVerbs,
    FactVerbs,
    ReviewingVerbs,
    DecidingVerbs,
    ConsolidatingVerbs,
    MaintainingVerbs,
    TokenVerbs,
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
        self._unaided: Memory | None = None

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._context.policy

    @property
    def now(self) -> datetime:
        """What the store's clock says, in UTC."""
        return from_instant(self._context.clock())

    @property
    def agent(self) -> hooks.Agent:
        """What a coding agent's hooks need: sessions, what was said in them, what to show the agent."""
        return hooks.Agent(self._context)

    @property
    def facts_hint(self) -> str:
        """How to have facts learned, where the policy learns none; else nothing."""
        return no_learning_hint(self.policy.knowledge)

    def resolve_id(self, text: str, refers: Literal["memory", "operation"] = "memory") -> str:
        """Return the full id that a text means: an id, or the start (6 characters or more) of one or its short form.

        Raises:
            InvalidInput: It fits several.
            NotFound: It is too short to be an id and fits none.
        """
        with translate_damage(self):
            return identify.resolve_id(self._context, checked_id(text, refers), refers)

    def operation(self, identity: str, namespace: str | None = None) -> Operation | None:
        """Return an operation of the journal by its id or a short form of it; None where there is none.

        Args:
            identity: The id.
            namespace: Of which namespace where several have it, as after an import under another name.

        Raises:
            InvalidInput: It is no id, or fits several, or several namespaces have it and none is named.
        """
        with translate_damage(self):
            whole = self.resolve_id(checked_id(identity, "operation"), "operation")
            if namespace is not None:
                return identify.operations_of(self._context, namespace)(whole)
            return self._context.store.operation(whole)

    def confine(self, grant: Grant) -> Memory:
        """Return this memory as the holder of a token may use it: up to its role, in its namespaces, under its name.

        What lies in other namespaces is not found, not even by id. Closing this view leaves the store open. With
        ``Grant.of_namespace`` it is confined to a namespace; what lies in others is refused with where it is.
        """
        store = cast("Store", confined_store.ConfinedStore(self._context.store, _of_type(grant, "grant", "Grant")))
        copies = None if grant.is_token else self._context.open_copy
        return Memory(
            replace(self._context, store=store, grant=grant, previews={}, crowded={}, listed={}, open_copy=copies)
        )

    def superseded_facts(self, operation: Operation) -> list[RelatedMemory]:
        """Return the facts that an operation superseded and that are so still, with their first words."""
        with translate_damage(self):
            return changed_memories.superseded_facts(self._context, _of_type(operation, "operation", "Operation"))

    def memories_of(self, operation: Operation) -> tuple[RelatedMemory, ...]:
        """Return up to three memories that an operation has changed and that are there, with their first words."""
        store = self._context.store
        _of_type(operation, "operation", "Operation")
        with translate_damage(self):
            changes = store.changes(operation.namespace, operation.id)
            return changed_memories.memories_of(self._context, operation, changes)

    def hit_marks(self, memories: Sequence[MemoryItem]) -> dict[str, Hit]:
        """Return memory -> what ``recall`` would mark about it: what of it holds no longer, and what contradicts it.

        What nothing is to be said about may be missing.

        Args:
            memories: As ``list`` and ``get`` return them.
        """
        with translate_damage(self):
            return explain.hit_marks(self._context, memories)

    @property
    def has_model(self) -> bool:
        """Whether a language model is configured, for whatever the policy wants it."""
        return self._context.model is not None

    def within(self, seconds: float) -> Memory:
        """Return this memory with a time limit for each call, in place of the policy's ``limits.call_seconds``.

        A call whose time is over is ended where it stands: no transaction is half written, and the error says what
        was stored before. Vacuuming after ``erase`` and rewriting a file (``compact``) end first. Both share one store:
        ``close``, or the end of a ``with`` block, of either closes it for both.

        Args:
            seconds: From 0.001 to 86,400; what the operating system and a language model's answer take comes on top.

        Raises:
            InvalidInput: It is no such number.

        Example:
            >>> memory.within(2).recall("When do we deploy?")  # doctest: +SKIP
        """
        return Memory(replace(self._context, seconds=checked_seconds(seconds)))

    def while_unchanged(self, ids: Sequence[str]) -> Memory:
        """Return this memory as it writes only while some memories are as they are now; then it raises ConflictError.

        Args:
            ids: The memories; others may change.
        """
        with translate_damage(self):
            store = cast("Store", unchanged_store.UnchangedStore(self._context.store, ids))
        return Memory(replace(self._context, store=store))

    def without_model(self) -> Memory:
        """Return this memory as it works where no language model is configured: what only looks need not ask one."""
        if self._context.model is None:
            return self
        if self._unaided is None:
            self._unaided = Memory(replace(self._context, model=None))
        return self._unaided

    def forecast_under(
        self, policy: Mapping[str, Any], days: float, namespace: str | None, *, details: bool = False
    ) -> SweepReport:
        """Return what would move within some days without further access if the policy were another from now on.

        Args:
            policy: The other policy's sections, as in perdure.toml.
            days: How many days to look ahead, as for ``forecast``.
            namespace: The namespace; None for all.
            details: List every move, not only the first 20.

        Raises:
            InvalidInput: An argument is refused.
            PolicyError: The policy has faults; all are listed.
        """
        context = self._context
        if not isinstance(policy, Mapping):
            raise InvalidInput("policy must be a dict.", remedy="Pass the sections of perdure.toml as a dict.")
        given = {"days": days, "namespace": namespace, "details": details}
        checked = checked_arguments(VERBS["forecast"], self, (), given)
        other = policy_check.policy_from(policy)
        asked = replace(context, policy=other)
        return sweep.forecast(asked, checked["days"], checked["namespace"], details=checked["details"])

    def recognize(self, secret: str) -> Grant | None:
        """Return what the token with a secret allows; None for an invalid one."""
        row = tokens.recognize(self._context, _of_type(secret, "secret", "str"))
        return None if row is None else replace(row.grant, token=row.id)

    def log_in(self, secret: str, seconds: int) -> str | None:
        """Return the cookie of a new session of the page, which stands for a token for so many seconds.

        None where the token is not valid. The session ends with its token.

        Raises:
            StoreReadOnly, StoreBusy, DiskFull: The store takes no writes.
        """
        return tokens.log_in(self._context, secret, seconds)

    def logged_in(self, cookie: str) -> Login | None:
        """Return what the session of a cookie allows; None where there is none, or it has ended."""
        return tokens.logged_in(self._context, cookie)

    def log_out(self, cookie: str) -> None:
        """End the session of a cookie; no effect where there is none.

        Raises:
            StoreReadOnly, StoreBusy, DiskFull: The store takes no writes, and the session goes on.
        """
        tokens.log_out(self._context, cookie)

    def usual_namespace(self, usual: str) -> str:
        """Return the namespace of calls that name none: the usual one, or the only one that the token reaches."""
        grant = self._context.grant
        return usual if grant is None else grant.place(usual)

    @property
    def has_tokens(self) -> bool:
        """Whether a token was ever made for the store's service."""
        return self._context.store.tokens.any()

    def watch(self, watch: Watch) -> None:
        """Have all calls of the embedder and of the language model watched; whoever watched before does so no more."""
        watched_models.watch(self._context, watch)

    def forget_texts(self, namespace: str) -> None:
        """Drop what this process keeps of texts to be faster: for one that learns of an erasure by another."""
        text_caches.forget_texts(self._context, namespace)

    def erasures(self, since: Instant, namespace: str | None = None) -> list[tuple[str, str]]:
        """Return (namespace, operation) of what was erased since an instant, whichever process erased it.

        Args:
            since: Milliseconds since 1970 UTC, by the clocks of those who erase: those of several machines differ.
            namespace: Of which namespace; None for all that the caller reaches.
        """
        return self._context.store.erasures(namespace, since)

    @property
    def leases_held(self) -> int:
        """How many namespaces a worker keeps now."""
        return len(self._context.store.leases(self._context.clock()))

    def export(self, namespace: str | None = None) -> Iterator[Line]:
        """Yield everything of a namespace, or of all that the caller reaches, as ``perdure export`` writes it.

        Rows are read a page at a time: what is written meanwhile may be missing, or make the last check fail.

        Raises:
            NotAllowed: The caller's token is not an admin's, or does not reach the namespace.
            NotFound: There is no such namespace.
        """
        check_role("admin", "export", self)
        if namespace is not None and self._context.grant is not None:
            self._context.grant.check_reaches(namespace)
        return self._with_damage_errors(transfer.export_lines(self._context.store, namespace=namespace))

    def _with_damage_errors(self, lines: Iterator[Line]) -> Iterator[Line]:
        with translate_damage(self):
            yield from lines

    @property
    def readiness(self) -> Readiness:
        """Whether the store can serve, asked again, and whether maintenance keeps up."""
        return monitoring.readiness(self._context)

    @property
    def unwritable(self) -> Unwritable:
        """Why the store takes no writes now: it is ``read-only``, or its disk is ``full``; empty where it does."""
        return self._context.store.unwritable

    def close(self) -> None:
        """Write what waits and close the store."""
        self._context.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _of_type(value: T, name: str, kind: str) -> T:
    """Return a value of a type, which is told by its name: importing it for that would cost time at the start."""
    if kind not in {of.__name__ for of in type(value).__mro__}:
        given = type(value).__name__  # the value may be a secret
        raise InvalidInput(f"{name} must be of type {kind}, not {given}.", remedy="Pass one of that type.")
    return value
