"""Short ways to plans that tests write by hand: documents beside memories, and shorter forms of them."""

from __future__ import annotations

from typing import Any

from perdure.records.document import Shelf
from perdure.records.memory import Form
from perdure.records.plan import Change, Plan, Target


def applied(memory: Any, *changes: Change, namespace: str = "default", check: Any = None) -> Plan:
    """Write changes as one operation; ``op`` is put where a change of a memory needs it."""
    store, now = memory._context.store, memory._context.clock()
    identity = memory._context.ids(now)
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
    (record,) = memory._context.store.get("default", [identity])
    now = memory._context.clock()
    state = record.state
    before = {"form": state.form, "form_ms": state.form_ms, "tokens": state.tokens, "shown": record.content.shown}
    return Change(
        Target.MEMORY, identity, before, {"form": form, "form_ms": now, "tokens": tokens, "shown": text}, "by the test"
    )
