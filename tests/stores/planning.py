"""Short ways to plans that tests write by hand: documents beside memories, shorter forms of them, facts."""

from __future__ import annotations

from typing import Any

from conftest import bare_memories
from perdure.knowledge.records.facts import Fact, FactOrigin, Value, ValueKind
from perdure.records.instant import to_instant
from perdure.records.memory import Form, Shelf, Status
from perdure.records.plan import Change, Plan, Target


def applied(memory: Any, *changes: Change, namespace: str = "default", check: Any = None) -> Plan:
    """Write changes as one operation; ``op`` is put where a change of a memory needs it."""
    context = memory._context
    store, now = context.store, context.clock()
    identity = context.ids(now)  # in the order of all other operations
    ops = {r.id: r.op for r in store.get(namespace, [c.id for c in changes if c.target is Target.MEMORY])}
    signed = tuple(
        Change(c.target, c.id, {**(c.before or {}), "op": ops[c.id]}, {**(c.after or {}), "op": identity}, c.because)
        if c.target is Target.MEMORY and c.before is not None and c.after is not None
        else c
        for c in changes
    )
    plan = Plan(identity, "test", namespace, now, signed, "policy", "by the test")
    store.apply(plan, check=check)
    return plan


def document(
    shelf: Shelf, identity: str, name: str, before: dict[str, Any] | None, after: dict[str, Any] | None
) -> Change:
    """A change of one document: before is None for a new one, after None for one that goes."""

    def row(data: dict[str, Any] | None) -> dict[str, Any] | None:
        return None if data is None else {"shelf": shelf, "name": name, "data": data}

    return Change(Target.DOCUMENT, identity, row(before), row(after), "by the test")


def shortened(memory: Any, identity: str, text: str | None, form: Form, tokens: int = 3) -> Change:
    """A change of what is shown of a memory; None shows the whole text again."""
    one = memory.get(identity, include_archived=True)
    state, now = one.state, one.state.form_ms + 1
    shown = None if state.form is Form.FULL else one.content
    before = {"form": state.form, "form_ms": state.form_ms, "tokens": state.tokens, "shown": shown}
    return Change(
        Target.MEMORY, identity, before, {"form": form, "form_ms": now, "tokens": tokens, "shown": text}, "by the test"
    )


def facts(memory: Any, *told: tuple[str, str, Any], namespace: str = "default") -> list[str]:
    """Store facts, each (words, sort of predicate, since when), and return their ids."""
    items = [{"content": text, "kind": "fact", "at": at} for text, _, at in told]
    ids = [m.id for m in bare_memories(memory, items, namespace)]
    changes = []
    for i, (text, type_, at) in zip(ids, told, strict=True):
        value = Value(text, ValueKind.TEXT, text.casefold())
        fact = Fact(i, "gai-media", f"{type_}_of", type_, value, FactOrigin.EXPLICIT, valid_from=to_instant(at))
        changes.append(document(Shelf.FACT, i, fact.key, None, fact.to_data()))
        changes.append(document(Shelf.ABOUT, i, fact.subject, None, {}))
    applied(memory, *changes, namespace=namespace)
    return ids


def ended(memory: Any, status: Status, *gone: tuple[str, Any], namespace: str = "default") -> Plan:
    """End what is believed of facts, each (id, when), as one operation."""
    changes = []
    for i, at in gone:
        state, then = memory.get(i, include_archived=True).state, to_instant(at)
        written = [e.after for e in memory.history(i) if e.after and e.after.get("shelf") == Shelf.FACT]
        name, before = written[-1]["name"], dict(written[-1]["data"])
        old = {"status": state.status, "status_ms": state.status_ms}
        changes.append(Change(Target.MEMORY, i, old, {"status": status, "status_ms": then}, "by the test"))
        changes.append(document(Shelf.FACT, i, name, before, {**before, "retired_ms": then}))
    return applied(memory, *changes, namespace=namespace)
