"""What is shown beside a prompt has the newer one with it, also where that was shown before: alone it misleads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from perdure.records.memory import Kind
from perdure.records.recall import Hit


def with_newer(chosen: Sequence[Hit], known: Sequence[Hit], found: Sequence[Hit]) -> list[Hit]:
    """Return the chosen hits, and with each the newer one that it names, also where that was not chosen.

    They are in the order in which they were found: what is likely untrue stands behind the later one there, what only
    may be untrue before it. Where what is named is over itself, what took its place stands for it, before what names
    it; a fact without that is left out.

    Args:
        chosen: What is to be shown, the best first.
        known: What may be shown because another one names it as newer.
        found: All that was found: the known ones, what is over, and what says too little to be shown.
    """
    shown: dict[str, Hit] = {}
    place = {h.memory.id: at for at, h in enumerate(found)}
    others = {h.memory.id: h for h in (*known, *chosen)}
    after = {h.memory.id: (*filter(None, [h.updated_by]), *h.newer) for h in found if h.memory.id not in others}
    for hit in chosen:
        newer = tuple(dict.fromkeys(i for one in hit.newer for i in _current_ids(one, others, after)))
        if hit.newer and not newer and hit.memory.kind is Kind.FACT:
            continue
        if newer and newer[0] not in shown:
            first = others[newer[0]]
            if newer[0] in hit.newer and place[newer[0]] > place[hit.memory.id]:
                shown[hit.memory.id] = replace(hit, newer=newer)
            shown[newer[0]] = replace(first, newer=tuple(i for i in first.newer if i in shown))
        shown.setdefault(hit.memory.id, replace(hit, newer=newer))
    return list(shown.values())


def _current_ids(identity: str, others: Mapping[str, Hit], after: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what may be shown for one that is named: itself, or what stands in its place now."""
    waiting, seen = [identity], list[str]()
    while waiting:
        one = waiting.pop(0)
        if one not in seen:
            seen.append(one)
            waiting += () if one in others else after.get(one, ())
    return [one for one in seen if one in others]
