"""What is shown beside a prompt has the newer one before it, where that is not in view: alone it would mislead."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from perdure.records.recall import Hit


def newer_before(chosen: Sequence[Hit], known: Sequence[Hit], named: Collection[str]) -> list[Hit]:
    """Return the chosen hits, each newer one before what names it, also where it was not chosen.

    Args:
        chosen: What is to be shown, the best first.
        known: What may be shown because another one names it as newer.
        named: Ids that the reader has seen already.
    """
    shown: dict[str, Hit] = {}
    others = {h.memory.id: h for h in (*known, *chosen)}
    for hit in chosen:
        newer = tuple(i for i in hit.newer if i in others or i in named)
        if newer and newer[0] not in shown and newer[0] not in named:
            first = others[newer[0]]
            seen = tuple(i for i in first.newer if i in shown or i in named)
            shown[newer[0]] = replace(first, newer=seen)
        shown.setdefault(hit.memory.id, replace(hit, newer=newer))
    return list(shown.values())
