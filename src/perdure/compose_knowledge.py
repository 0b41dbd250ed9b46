"""Which extension learns facts, and when its code is loaded. Reads the knowledge file; opens no database or tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from perdure.compose_policy import toml_of
from perdure.operations.extension import Extension
from perdure.operations.ports import Context
from perdure.records.memory import Kind, Shelf
from perdure.records.policy import Policy
from perdure.records.recall import Filters, Hit
from perdure.rules.decisions import Decisions


def extension_of(policy: Policy) -> Extension[Context]:
    """Return what learns facts under a policy.

    Where none are learned and no authority is named, its code is loaded only once a memory of kind fact is met, or a
    verb about knowledge is called.

    Raises:
        PolicyError: The knowledge file cannot be read, or something in it is refused; all faults are listed.
    """
    if policy.knowledge.learn == "off" and not policy.knowledge.file:
        return LazyKnowledge(lambda: knowledge_of(policy))
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


class LazyKnowledge(Extension[Context]):
    """What learns facts, loaded where something was learned before: a seam is passed on if it meets a fact."""

    def __init__(self, load: Callable[[], Extension[Context]]) -> None:
        self._load = load

    @cached_property
    def _extension(self) -> Extension[Context]:
        return self._load()

    @property
    def resources(self) -> Any:
        """What the extension keeps."""
        return self._extension.resources

    def __getattribute__(self, name: str) -> Any:
        """Return an attribute; a seam of ``_MEETS`` as one that loads what learns facts if it is needed."""
        seam, meets = super().__getattribute__(name), _MEETS.get(name)
        if meets is None:
            return seam
        return lambda *args: (getattr(self._extension, name) if meets(*args) else seam)(*args)


def _any_fact(_ctx: Context, _namespace: str, hits: Sequence[Hit]) -> bool:
    return any(hit.memory.kind is Kind.FACT for hit in hits)


def _may_be_fact(decisions: Decisions, identity: str) -> bool:
    """Whether a memory is a fact, or was not read for what is decided."""
    state = decisions.states.get(identity)
    return state is None or state.kind is Kind.FACT


def _meets_facts(ctx: Context, namespace: str, hits: Sequence[Hit], _filters: Filters) -> bool:
    """Whether there are facts among hits, or may be some that what was found says or sums up."""
    return _any_fact(ctx, namespace, hits) or _holds(Shelf.FACT)(ctx, namespace)


def _always(*_: object) -> bool:
    return True


def _holds(shelf: Shelf) -> Callable[..., bool]:
    return lambda ctx, namespace, *_: bool(ctx.store.documents.page(namespace, shelf, ("", ""), 1))


_MEETS: Final[Mapping[str, Callable[..., bool]]] = {
    "take": _always,  # a caller gives facts, or replaces what facts rest on
    "about": _always,
    "orphans": _holds(Shelf.ENTITY),
    "unsaid": _always,  # the journal may know names of what was taken back
    "with_known_names": _holds(Shelf.ALIAS),
    "near": lambda _ctx, _namespace, claims, _touched: bool(claims),
    "validity": lambda _ctx, _namespace, records: any(r.state.kind is Kind.FACT for r in records),
    "sources": _any_fact,
    "mark": _meets_facts,
    "with_earlier": _meets_facts,
    "outdated_memories": _holds(Shelf.FACT),
    "facts_resting_on": lambda ctx, record, *_: _holds(Shelf.FACT)(ctx, record.namespace),
    "saying_facts_of": lambda ctx, record, _: _holds(Shelf.FACT)(ctx, record.namespace),
    "said_by": lambda _ctx, record: record.state.kind is Kind.FACT,
    "over": lambda ctx, record: _holds(Shelf.FACT)(ctx, record.namespace),
    "explain": lambda _ctx, memory, *_: memory.kind is Kind.FACT,
    "questions": _holds(Shelf.LESSON),
    "answer": lambda _ctx, record, *_: record.state.kind is Kind.FACT,
    "conflicts": lambda _ctx, record, *_: record.state.kind is Kind.FACT,
    "call_off": lambda _ctx, decisions, ids, _: any(_may_be_fact(decisions, i) for i in ids),
    "plan_again": lambda _ctx, decisions, ids: any(decisions.states[i].kind is Kind.FACT for i in ids),
    "promote": lambda _ctx, _namespace, _decisions, ids: bool(ids),
}
"""Seam -> whether a call of it meets something that was learned."""
