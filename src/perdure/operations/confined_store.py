"""A store as one caller sees it: the namespaces of a token, and nothing of the others.

The namespace that a command or a server is given confines it in the same way. Its user may see the others: an id of one
is refused with where it is, and what concerns the whole file only without a namespace.

Every method that names a namespace is let through for namespaces that the token reaches and refused for others, by one
rule that reads the protocol. What looks in all namespaces is written out here so that it looks in the token's own only,
by asks that each name one: on a server, row-level security then holds each of them to that namespace too. A method of
the protocol that is neither is refused, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache
from heapq import merge
from itertools import islice
from typing import Any, Final, NoReturn

from perdure.operations.store_protocol import Documents, RowTransfer, Store
from perdure.operations.token_store import Tokens
from perdure.records.access import EVERYWHERE, Grant, LoginRow, TokenRow
from perdure.records.damage import CheckScope, Fault
from perdure.records.errors import NotAllowed
from perdure.records.identifier import shown_id
from perdure.records.instant import Instant
from perdure.records.plan import Plan
from perdure.records.report import Operation
from perdure.records.store_rows import Lease, Purge, StoreSize, TransactionView, UpkeepState, WaitingNamespace
from perdure.records.transfer import Line
from perdure.records.vector import Space

_UNTOUCHED: Final = ("space", "unreachable", "unfinished", "read_only", "unwritable", "health", "clock")
"""What says nothing of any namespace."""

_UNTOLD: Final = "Places of the whole file or server, and of other namespaces, are told only to who sees all of them."


@cache
def routed_methods(protocol: type) -> frozenset[str]:
    """Return the methods of a protocol whose first argument is one namespace."""
    found = inspect.getmembers(protocol, inspect.isfunction)
    firsts = {name: list(inspect.signature(method).parameters.values())[1:2] for name, method in found}
    return frozenset(n for n, first in firsts.items() if first and (first[0].name, first[0].annotation) == _NAMESPACE)


_NAMESPACE: Final = ("namespace", "str")


class _Confined:
    """Lets methods with a namespace through where a token reaches it."""

    _protocol: type

    def __init__(self, inner: Any, grant: Grant) -> None:
        self._inner, self._grant = inner, grant

    def __getattr__(self, name: str) -> Any:
        if name not in routed_methods(self._protocol):
            raise AttributeError(f"{name} is not offered to a token")
        method = getattr(self._inner, name)

        def call(namespace: str, *args: Any, **named: Any) -> Any:
            self._check(namespace)
            return method(namespace, *args, **named)

        return call

    def _check(self, namespace: str) -> None:
        self._grant.check_reaches(namespace)


class _ConfinedDocuments(_Confined):
    _protocol = Documents

    @property
    def strict(self) -> _ConfinedDocuments:
        return _ConfinedDocuments(self._inner.strict, self._grant)


class _ConfinedTransfer(_Confined):
    _protocol = RowTransfer

    def spaces(self) -> list[tuple[Space, bool]]:
        found: list[tuple[Space, bool]] = self._inner.spaces()
        return found


class _ConfinedTokens:
    """The tokens that a token may know of: those that reach no further than it does, and may do no more."""

    def __init__(self, inner: Tokens, grant: Grant) -> None:
        self._inner, self._grant = inner, grant

    def any(self) -> bool:
        return self._inner.any()

    def all(self) -> list[TokenRow]:
        return [row for row in self._inner.all() if self._grant.includes(row.grant)]

    def find(self, digest: str) -> TokenRow | None:
        row = self._inner.find(digest)
        return row if row is not None and self._grant.includes(row.grant) else None

    def add(self, token: TokenRow, digest: str) -> None:
        if not self._grant.includes(token.grant):
            _refuse("make a token that reaches further")
        self._inner.add(token, digest)

    def revoke(self, identity: str, now: Instant) -> None:
        if any(row.id == identity for row in self.all()):
            self._inner.revoke(identity, now)

    def use(self, identity: str, now: Instant, before: Instant) -> None:
        self._inner.use(identity, now, before)

    def begin_login(self, login: LoginRow, now: Instant) -> None:
        if not self._grant.includes(login.token.grant):
            _refuse("log in with a token that reaches further")
        self._inner.begin_login(login, now)

    def find_login(self, name: str) -> LoginRow | None:
        row = self._inner.find_login(name)
        return row if row is not None and self._grant.includes(row.token.grant) else None

    def end_login(self, name: str) -> None:
        if self.find_login(name) is not None:
            self._inner.end_login(name)


class ConfinedStore(_Confined):
    """A store behind a token. See operations/store_protocol.py.

    The inner store stays open when this one is closed. A reader writes nothing, not even what was accessed.
    """

    _protocol = Store

    def __getattr__(self, name: str) -> Any:
        if name in _UNTOUCHED:
            return getattr(self._inner, name)
        return super().__getattr__(name)

    @property
    def documents(self) -> _ConfinedDocuments:
        return _ConfinedDocuments(self._inner.documents, self._grant)

    @property
    def transfer(self) -> _ConfinedTransfer:
        return _ConfinedTransfer(self._inner.transfer, self._grant)

    @property
    def tokens(self) -> _ConfinedTokens:
        return _ConfinedTokens(self._inner.tokens, self._grant)

    @property
    def _whole(self) -> bool:
        return self._grant.pattern == EVERYWHERE

    def _check_whole(self, action: str) -> None:
        if self._whole:
            return
        if self._grant.is_token:
            _refuse(action)
        raise NotAllowed(f"This would {action}, not only {self._grant.pattern!r}.", remedy="Leave --namespace out.")

    # --- writing

    def apply(
        self, plan: Plan, *, fence: Lease | None = None, check: Callable[[TransactionView], None] | None = None
    ) -> None:
        self._check(plan.namespace)
        if not self._grant.allows("agent"):
            _refuse("write")
        self._inner.apply(replace(plan, actor=self._grant.actor or plan.actor), fence=fence, check=check)

    def count(self, plan: Plan) -> None:
        self._check(plan.namespace)
        if self._grant.allows("agent"):
            self._inner.count(plan)

    def release_lease(self, lease: Lease) -> None:
        self._check(lease.namespace)
        self._inner.release_lease(lease)

    def add_space(self, space: Space, *, activate: bool) -> None:
        if activate:
            self._check_whole("change the vectors of the whole store")
        self._inner.add_space(space, activate=activate)

    def prepare_space(self, space: Space, *, to_search: bool = False) -> None:
        self._check_whole("change the vectors of the whole store")
        self._inner.prepare_space(space, to_search=to_search)

    def restore_operation(self, namespace: str, number: int, row: Line, lines: Sequence[Line]) -> None:
        self._check_whole("rewrite the journal")
        self._inner.restore_operation(namespace, number, row, lines)

    def rebuild(self, *, keep_texts: bool) -> None:
        if self._grant.is_token:  # what is made from rows changes none
            self._check_whole("rebuild the whole store")
        self._inner.rebuild(keep_texts=keep_texts)

    def size(self) -> StoreSize:
        if self._grant.is_token:
            self._check_whole("look at the size of the whole store")
        found: StoreSize = self._inner.size()
        return found

    def compact(self) -> tuple[str, ...]:
        self._check_whole("rewrite the whole store")
        return tuple(self._inner.compact())

    def mark_unfinished(self, work: str) -> None:
        self._check_whole("write the whole store")
        self._inner.mark_unfinished(work)

    def purge(self, namespace: str, texts: Sequence[str], names: Sequence[str] = ()) -> Purge:
        """Purge; what is still found is told where it lies in the token's namespaces."""
        self._check(namespace)
        found: Purge = self._inner.purge(namespace, texts, names)
        if self._whole or not self._grant.is_token:
            return found
        own = tuple((name, place) for name, place in found.places if name and self._grant.covers(name))
        return replace(found, places=own, unreachable=(_UNTOLD,))

    def close(self) -> None:
        """Do nothing: the store is not the caller's."""

    # --- looking in several namespaces

    def namespaces(self) -> list[str]:
        return [name for name in self._inner.namespaces() if self._grant.covers(name)]

    def locate(self, identity: str, _covers: Callable[[str], bool] = bool) -> str | None:
        place: str | None = self._inner.locate(identity, self._grant.covers)
        if place is None or self._grant.covers(place):
            return place
        if self._grant.is_token:
            return None
        raise self._grant.elsewhere(f"The memory {shown_id(identity)} is in the namespace {place!r}", place)

    def find_ids(self, text: str, *, namespace: str | None = None, limit: int) -> list[str]:
        found = self._first(lambda place: self._inner.find_ids(text, namespace=place, limit=limit), namespace, limit)
        if not found and not self._grant.is_token:
            for identity in self._inner.find_ids(text, limit=1):
                self.locate(identity)  # refuses it, with where it is
        return found

    def find_operations(self, text: str, limit: int, *, namespace: str | None = None) -> list[str]:
        found = self._first(lambda place: self._inner.find_operations(text, limit, namespace=place), namespace, limit)
        if not found and not self._grant.is_token:
            for identity in self._inner.find_operations(text, 1):
                self.operation(identity)
        return found

    def _first(self, find: Callable[[str | None], list[str]], namespace: str | None, limit: int) -> list[str]:
        found = sorted({identity for place in self._places(namespace) for identity in find(place)})
        return found[:limit]

    def due_namespaces(self, now: Instant, policy: str) -> list[tuple[str, str]]:
        return [pair for pair in self._inner.due_namespaces(now, policy) if self._grant.covers(pair[0])]

    def upkeep_states(self, after: str, limit: int, *, lacking: bool) -> list[UpkeepState]:
        found: list[UpkeepState] = []
        while len(found) < limit and (page := self._inner.upkeep_states(after, limit, lacking=lacking)):
            found += [state for state in page if self._grant.covers(state.namespace)]
            after = page[-1].namespace
        return found[:limit]

    def leases(self, now: Instant) -> list[Lease]:
        return [lease for lease in self._inner.leases(now) if self._grant.covers(lease.namespace)]

    def overdue_namespaces(self, now: Instant) -> list[WaitingNamespace]:
        return [one for one in self._inner.overdue_namespaces(now) if self._grant.covers(one.namespace)]

    def operation(self, identity: str, covers: Callable[[str], bool] = bool) -> Operation | None:
        found: Operation | None = self._inner.operation(identity, lambda n: self._grant.covers(n) and covers(n))
        if found is None or self._grant.covers(found.namespace):
            return found
        if self._grant.is_token:
            return None
        place = found.namespace
        raise self._grant.elsewhere(f"The operation {shown_id(identity)} is in the namespace {place!r}", place)

    def operations(self, namespace: str | None, limit: int, *, without: Collection[str] = ()) -> list[Operation]:
        each = (self._inner.operations(place, limit, without=without) for place in self._places(namespace))
        return list(islice(merge(*each, key=lambda operation: operation.id, reverse=True), limit))

    def tally(self, namespace: str | None) -> list[tuple[str, str, str, str, int]]:
        return [row for place in self._places(namespace) for row in self._inner.tally(place)]

    def count_due(self, namespace: str | None, now: Instant) -> int:
        return sum(self._inner.count_due(place, now) for place in self._places(namespace))

    def count_changes(self, namespace: str | None, since: Instant) -> int:
        return sum(self._inner.count_changes(place, since) for place in self._places(namespace))

    def erasures(self, namespace: str | None, since: Instant) -> list[tuple[str, str]]:
        return [one for place in self._places(namespace) for one in self._inner.erasures(place, since)]

    def count_without_vector(self, namespace: str | None) -> int:
        return sum(self._inner.count_without_vector(place) for place in self._places(namespace))

    def check(self, scope: CheckScope, namespace: str | None = None) -> list[Fault]:
        return [fault for place in self._places(namespace) for fault in self._inner.check(scope, place)]

    def _places(self, namespace: str | None) -> Iterator[str | None]:
        """Yield the namespaces to ask, one by one; None for all together, where the token reaches all."""
        if namespace is None:
            yield from (None,) if self._whole else self.namespaces()
        else:
            self._check(namespace)
            yield namespace


def _refuse(action: str) -> NoReturn:
    raise NotAllowed(f"The token may not {action}.", remedy="Use a token that may.")
