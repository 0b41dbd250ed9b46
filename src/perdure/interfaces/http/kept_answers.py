"""Whether an answer that is kept for repeats may be given again: any process may have erased memories since."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from perdure.interfaces.http.answers import Payload

_CLOCKS_DIFFER_MS: Final = 600_000
"""By which the clocks of machines that erase may be behind."""


def run_kept(timed: Callable[[], Any], namespace: str, run_verb: Callable[[], Payload]) -> Payload:
    """Run a call whose answer is kept, and note what had been erased before.

    Args:
        timed: Returns the caller's memory with what is left of the call's time.
        namespace: That the call names; "" for none.
        run_verb: Runs it.
    """
    memory = timed()
    since = int(memory.now.timestamp() * 1000) - _CLOCKS_DIFFER_MS
    erased = memory.count_erased(since, namespace or None)
    return replace(run_verb(), erased=(since, erased))


def still_holds(timed: Callable[[], Any], namespace: str, kept: Payload) -> bool:
    """Whether nothing was erased since a call in the namespace that it named, or in any where it named none."""
    since, erased = kept.erased
    return bool(timed().count_erased(since, namespace or None) == erased)
