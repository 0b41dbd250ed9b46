"""Sorts of predicates, finer than those of facts: what the sentence reader decides by."""

from __future__ import annotations

from typing import Final

from perdure.knowledge.records.predicates import Predicates
from perdure.records.sort import Sort

_BY_LAST_WORD: Final = {
    **dict.fromkeys(["hobby", "sport", "play", "practice", "collect"], "hobby"),
    **dict.fromkeys(["have", "own", "pet", "allergy"], "possession"),
    **dict.fromkeys(["do", "visit", "attend", "join", "start", "finish", "meet", "use", "try"], "activity"),
    **dict.fromkeys(("is", "description"), "description"),
    **dict.fromkeys(("birthday", "birth_year", "anniversary"), "date"),
    **dict.fromkeys(("goal", "target"), "measure"),
    **dict.fromkeys(("manager", "friend"), "contact"),
    **dict.fromkeys(("hometown", "birthplace"), "address"),
    **dict.fromkeys(("blood_type", "package_manager"), "setting"),
    "value": "value",
}
_BY_SORT: Final = {
    Sort.IDENTITY: "name",
    Sort.PLACE: "address",
    Sort.RULE: "policy",
    Sort.PLAN: "date",
    Sort.STATE: "status",
    Sort.RELATION: "possession",
    Sort.KINSHIP: "attribute",
    Sort.HEALTH: "attribute",
}


def kind_of(predicates: Predicates, name: str) -> str:
    """Return the sort of a predicate in normal form, as fine as statements need it."""
    parts, sort = name.split("_"), predicates.row(name).sort
    for start in range(len(parts)):
        if found := _BY_LAST_WORD.get("_".join(parts[start:])):
            return found
    if sort is Sort.ATTRIBUTE:
        return "setting" if predicates.has(name) else "attribute"
    return _BY_SORT.get(sort, sort.value)
