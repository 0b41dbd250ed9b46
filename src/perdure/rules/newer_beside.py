"""What is shown beside a prompt has the newer one before it, also where that was shown before: alone it misleads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perdure.records.recall import Hit


def newer_before(chosen: Sequence[Hit], known: Sequence[Hit]) -> list[Hit]:
    """Return the chosen hits, each newer one before what names it, also where it was not chosen.

    Args:
        chosen: What is to be shown, the best first.
        known: What may be shown because another one names it as newer.
    """
    shown: dict[str, Hit] = {}
    others = {h.memory.id: h for h in (*known, *chosen)}
    for hit in chosen:
        newer = tuple(i for i in hit.newer if i in others)
        if newer and newer[0] not in shown:
            first = others[newer[0]]
            shown[newer[0]] = replace(first, newer=tuple(i for i in first.newer if i in shown))
        shown.setdefault(hit.memory.id, replace(hit, newer=newer))
    return list(shown.values())
