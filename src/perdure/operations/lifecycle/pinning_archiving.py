"""What a person decides about one memory: pin, unpin, archive, restore."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from perdure.operations.decisions import decide
from perdure.operations.ports import Context
from perdure.operations.writing import found, retried
from perdure.records.errors import InvalidInput
from perdure.records.memory import Form, State, Status
from perdure.records.outcome import Outcome
from perdure.rules.lifecycle.compression_forms import LADDER, render_form
from perdure.rules.lifecycle.unarchive import restart_ages, unarchive


def pin(ctx: Context, identity: str, *, pinned: bool) -> Outcome:
    """Exempt a memory from every move, or let the rules apply again (from now on, not for the time it was pinned)."""
    now = ctx.clock()

    def change(state: State) -> State:
        if state.pinned == pinned:
            return state
        return replace(
            state, pinned=pinned, tier_ms=state.tier_ms if pinned else now, status_ms=state.status_ms if pinned else now
        )

    return _decide(
        ctx,
        identity,
        "pin" if pinned else "unpin",
        change,
        "pinned: exempt from every move" if pinned else "unpinned: the rules apply again",
    )


def archive(ctx: Context, identity: str, reason: str) -> Outcome:
    """Hide a memory by hand; ``restore`` brings it back.

    Raises:
        InvalidInput: It is superseded, invalidated or consolidated: such a memory is hidden for a reason of its own.
    """
    now = ctx.clock()

    def change(state: State) -> State:
        if state.status is Status.ARCHIVED:
            return state
        if state.status is not Status.ACTIVE:
            raise InvalidInput(
                f"{identity} is {state.status} and so is hidden already.", remedy="Nothing needs to be done."
            )
        return replace(state, status=Status.ARCHIVED, status_ms=now, held=False)

    return _decide(ctx, identity, "archive", change, f"archived by hand: {reason}")


def restore(ctx: Context, identity: str, level: Form | None = None) -> Outcome:
    """Show an archived memory again, and more of its text where a form is named.

    Its ages start anew, so that the next sweep does not take it back. Of a fact beside which another value is believed
    by now both are contested, and a person is asked.

    Raises:
        InvalidInput: It is superseded, invalidated or consolidated; or the form is no fuller than what it shows, or
            the meaning guard refuses it.
    """
    now = ctx.clock()

    def change(state: State) -> State:
        back = state if state.status is Status.ACTIVE else unarchived(state)
        if level is None or level is state.form:
            return back
        if LADDER.index(level) > LADDER.index(state.form):
            raise InvalidInput(
                f"{identity} shows its {state.form}; {level} would be shorter.",
                remedy="Name a fuller form. The policy's [compression] and `fit` make memories shorter.",
            )
        if shown[level].refused:
            raise InvalidInput(
                f"{identity} has no {level} form: {shown[level].refused}.", remedy="Bring back its full form."
            )
        return replace(restart_ages(back, now), form=level, form_ms=now, firm=False, tokens=shown[level].tokens)

    def unarchived(state: State) -> State:
        if state.status is not Status.ARCHIVED:
            raise InvalidInput(
                f"{identity} is {state.status}; only archived memories can be restored.",
                remedy="Use `undo` on the operation that made it so (`why` names it).",
            )
        return unarchive(state, ctx.policy, now)

    record = found(ctx, identity)
    forms = () if level is None else (level,)
    shown = {form: render_form(record.content.text, form, ctx.policy.compression) for form in forms}
    because = "restored by hand: ages start anew" if level is None else f"restored by hand: shows its {level} form"
    return _decide(ctx, identity, "restore", change, because, {form: s.text for form, s in shown.items()})


def _decide(
    ctx: Context,
    identity: str,
    operation: str,
    change: Callable[[State], State],
    because: str,
    shown: Mapping[Form, str | None] = MappingProxyType({}),
) -> Outcome:
    def attempt() -> Outcome:
        record = found(ctx, identity)
        documents = ctx.extension.conflicts(ctx, record, ctx.clock()) if operation == "restore" else ()
        return decide(ctx, record, operation, change, because, shown=shown, documents=documents)

    return retried(attempt)
