"""What a person decides about one memory: pin, unpin, archive, restore, and the tier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from perdure.operations.decisions import (
    HiddenBeside,
    decide,
    hide_beside,
    with_believed_again,
    with_hidden,
    with_said_by,
)
from perdure.operations.ports import Context
from perdure.operations.shown_again import bring_back
from perdure.operations.writing import read_record
from perdure.records.errors import InvalidInput
from perdure.records.instant import Instant
from perdure.records.memory import Form, Kind, Record, State, Status, Tier
from perdure.records.outcome import Outcome
from perdure.records.plan import Change
from perdure.rules.decisions import Decisions
from perdure.rules.lifecycle.compression_forms import LADDER, FormText, render_form
from perdure.rules.lifecycle.unarchive import refresh, restart_ages, unarchive

_NEARNESS: Final = {Tier.COLD: 0, Tier.WARM: 1, Tier.HOT: 2, Tier.VAULT: 3}
_UNDO: Final = "Undo the operation that did this; `why` shows its id."


def pin(ctx: Context, identity: str, *, pinned: bool) -> Outcome:
    """Exempt a memory from every move, or let the rules apply again (from now on, not for the time it was pinned)."""
    now = ctx.clock()

    def change(state: State) -> State:
        if state.pinned == pinned:
            return state
        changed = replace(state, pinned=pinned)
        return changed if pinned else replace(changed, tier_ms=now, status_ms=now)

    because = "pinned: exempt from every move" if pinned else "unpinned: the policy's rules apply again"
    return decide(ctx, identity, "pin" if pinned else "unpin", change, because)


def archive(ctx: Context, identity: str, reason: str) -> Outcome:
    """Hide a memory by hand; ``restore`` brings it back."""
    because = f"archived by hand: {reason}"

    def with_plans(decisions: Decisions, record: Record) -> Sequence[Change]:
        return ctx.extension.call_off(ctx, decisions, [record.id], because)

    done = decide(ctx, identity, "archive", _hide(ctx, identity), because, beside=with_plans)
    return with_believed_again(ctx, done) if done.memory.kind is Kind.FACT else done


def forget(ctx: Context, identity: str, reason: str) -> Outcome:
    """Hide a memory, and with it the facts that rest on it alone; ``restore`` brings all of them back.

    With a note go the messages in which the same person says its words and nothing else. What says the same in other
    words, or says a fact that is forgotten, stays as it is and is named: it may say more, and somebody wrote it.
    """
    gone = HiddenBeside()

    def with_rest(decisions: Decisions, record: Record) -> Sequence[Change]:
        nonlocal gone  # told in the reply; an attempt that is repeated decides anew
        gone = hide_beside(ctx, decisions, record.id, "was forgotten")
        return ()

    because = f"archived by hand: {reason}"
    done = decide(ctx, identity, "archive", _hide(ctx, identity), because, beside=with_rest)
    return with_said_by(ctx, done) if done.memory.kind is Kind.FACT else with_hidden(ctx, done, gone)


def _hide(ctx: Context, identity: str) -> Callable[[State], State]:
    def change(state: State) -> State:
        if state.status not in (Status.ACTIVE, Status.ARCHIVED):
            raise InvalidInput(
                f"{identity} is {state.status} and therefore already hidden.", remedy="Nothing needs to be done."
            )
        hidden = replace(state, status=Status.ARCHIVED, status_ms=ctx.clock(), held=False)
        return hidden if state.status is Status.ACTIVE else state

    return change


def restore(ctx: Context, identity: str, level: Form | None = None) -> Outcome:
    """Show an archived memory again, and more of its text where a form is named.

    Its ages restart, so that the next sweep does not take it back. The facts and messages that were hidden with it
    come back, too. A fact takes the place again of what was believed again without it; beside any other value that is
    believed by now both are contested, and a person is asked.
    """
    text = read_record(ctx, identity).content.text
    shown = None if level is None else render_form(text, level, ctx.policy.compression)

    def change(state: State) -> State:
        back = state if state.status is Status.ACTIVE else _show_again(ctx, identity, state)
        return back if shown is None or shown.form is state.form else _lengthen(identity, back, shown, ctx.clock())

    because = "restored by hand: age counts from now" if level is None else f"restored by hand: shows its {level} form"
    texts = {} if shown is None else {shown.form: shown.text}
    return decide(
        ctx,
        identity,
        "restore",
        change,
        because,
        shown=texts,
        beside=lambda decisions, record: bring_back(ctx, decisions, record),
    )


def _show_again(ctx: Context, identity: str, state: State) -> State:
    if state.status is not Status.ARCHIVED:
        raise InvalidInput(f"{identity} is {state.status}; only archived memories can be restored.", remedy=_UNDO)
    return unarchive(state, ctx.policy, ctx.clock())


def _lengthen(identity: str, state: State, shown: FormText, now: Instant) -> State:
    if LADDER.index(shown.form) > LADDER.index(state.form):
        raise InvalidInput(
            f"{identity} shows its {state.form}; {shown.form} would be shorter.",
            remedy="Choose a fuller form. Memories are shortened by the policy's [compression] and by `fit`.",
        )
    if shown.refused:
        why = f"{identity} has no {shown.form} form: {shown.refused}."
        raise InvalidInput(why, remedy="Restore the full form.")
    return replace(restart_ages(state, now), form=shown.form, form_ms=now, firm=False, tokens=shown.tokens)


def move(ctx: Context, identity: str, tier: Tier, reason: str) -> Outcome:
    """Move a memory to a tier by hand, and write the reason down; the rules go on from there.

    Whoever moves a memory nearer, or out of the vault, wants it at hand: its ages restart, as after a restore. One
    that is moved further away keeps its ages.
    """

    def change(state: State) -> State:
        if state.status is not Status.ACTIVE:
            raise InvalidInput(
                f"{identity} is {state.status}; only visible memories can be moved between tiers.",
                remedy="Use `restore` first." if state.status is Status.ARCHIVED else _UNDO,
            )
        if state.tier is tier:
            return state
        now = ctx.clock()
        nearer = _NEARNESS[tier] > _NEARNESS[state.tier] or state.tier is Tier.VAULT
        base = refresh(state, ctx.policy, now) if nearer else state
        return replace(base, tier=tier, tier_ms=now, tier_accesses=0)

    return decide(ctx, identity, "move", change, f"manual override: moved by hand to {tier}: {reason}")
