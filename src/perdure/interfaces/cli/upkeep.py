"""Commands that keep a store in order and write its digest."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from perdure.interfaces.cli.call import Call, Exit
from perdure.interfaces.cli.options import Profile
from perdure.interfaces.files import digest_file
from perdure.rules.learning_hint import untaught


def sweep(
    call: Call,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would move; write nothing.")] = False,
) -> None:
    """Move every memory to where it belongs by now. Safe at any time and as often as you like."""
    with call.memory() as memory:
        report = memory.sweep(dry_run, namespace=call.namespace)
    from perdure.interfaces.views.rendering import show_report  # noqa: PLC0415  # start-up time

    call.answer(report.to_dict(), lambda out: show_report(out, report))


def forecast(
    call: Call,
    days: Annotated[float, typer.Argument(metavar="DAYS", help="How far to look ahead.")] = 30.0,
) -> None:
    """Say what would move within some days if nothing happened. Touches nothing."""
    with call.memory() as memory:
        report = memory.forecast(days, namespace=call.namespace)
    from perdure.interfaces.views.rendering import show_report  # noqa: PLC0415  # start-up time

    call.answer(report.to_dict(), lambda out: show_report(out, report, foreseen=True))


def stats(call: Call) -> None:
    """Count memories by tier, status and kind; say what is due, what is at risk, and which store this is."""
    with call.memory() as memory:
        found = memory.stats(call.namespace)
        hint = untaught(memory.policy.knowledge)
    from perdure.interfaces.views.rendering import show_stats  # noqa: PLC0415  # start-up time

    told = {"store": call.shown_store, **found.to_dict()}
    call.answer(told, lambda out: show_stats(out, found, call.shown_store, hint))


def digest(
    call: Call,
    out_file: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write into this file between its markers; other lines stay."),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; end with 4 if --out's file is stale.")] = False,
    budget: Annotated[
        int | None, typer.Option("--budget", "-b", metavar="TOKENS", help="Tokens at most. Default: the policy's.")
    ] = None,
    profile: Profile = None,
) -> Exit:
    """Print MEMORY.md, what is worth keeping in view within a budget, or write it into a file."""
    if check and out_file is None:
        raise typer.BadParameter("--check needs --out FILE, the file to look at.")
    with call.memory() as memory:
        made = memory.digest_details(call.place, budget, profile=profile)
    found: dict[str, Any] = {
        "namespace": call.place,
        "text": made.text,
        "ids": list(made.ids),
        "tokens": made.tokens,
        "exact": made.exact,
        "profile": made.profile,
        "file": out_file,
    }
    ended = Exit.OK
    if out_file is not None and check:
        found["stale"] = not digest_file.check(out_file, made.text)
        ended = Exit.STALE if found["stale"] else Exit.OK
    elif out_file is not None:
        found["written"] = digest_file.write(out_file, made.text)
    from perdure.interfaces.views.rendering import show_digest  # noqa: PLC0415  # start-up time

    call.answer(found, lambda out: show_digest(out, found))
    return ended


def optimize(call: Call) -> None:
    """Bring the search structures of a large namespace up to date. Changes no memory."""
    with call.memory() as memory:
        done = memory.optimize(call.place)
    from perdure.interfaces.views.rendering import show_pairs  # noqa: PLC0415  # start-up time

    call.answer(done, lambda out: show_pairs(out, done))


def check(call: Call) -> Exit:
    """Check the store's file. Ends with 1 if something is wrong with it."""
    with call.memory() as memory:
        faults = memory.check()
    from perdure.interfaces.views.rendering import show_check  # noqa: PLC0415  # start-up time

    call.answer(
        {"store": call.shown_store, "sound": not faults, "faults": faults},
        lambda out: show_check(out, faults, call.shown_store),
    )
    return Exit.FAILED if faults else Exit.OK
