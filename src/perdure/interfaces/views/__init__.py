"""What is shown of results: one view for each result, drawn by a back end for terminals and one for language models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from perdure.interfaces.views.blocks import Block, Line, Quote, Table


@dataclass(frozen=True, slots=True)
class Request:
    """The call whose result is shown."""

    verb: str  # its name, as the Python method is called
    arguments: Mapping[str, Any] = field(default_factory=dict)  # parameter -> value, as bound
    # what else the caller knows and a view may show: ``store`` (its address without a password), ``namespaces`` (all
    # there are), ``facts_hint`` (why there may be none), ``files``, ``file``, ``says`` (id -> words),
    # ``standing`` (memories -> how a recall marks each)
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        """The namespace that was asked."""
        return self.arguments.get("namespace") or "default"


_MODULES: Final = {
    "memory": "Recall Absence Review MemoryItem Outcome RememberResult EdgeChange list edges",
    "knowledge": "LearnResult Timeline Summaries VerifyResult AnswerSheet facts",
    "journal": "Explanation UndoResult ErasureResult RepairResult CompactResult history plan apply",
    "maintenance": "SweepReport Stats alerts Digest digest check namespaces upkeep_state SessionResult IngestResult",
}
"""Module -> types of results that it shows; of results that are lists, dictionaries or texts the verbs."""
_MODULE: Final = {name: module for module, names in _MODULES.items() for name in names.split()}
_EMPTY_NOUNS: Final = {"facts": "facts", "entities": "entities", "edges": "edges"}
_FACT_VERBS: Final = frozenset(("facts", "entities", "rates"))
_PLAIN_TYPES: Final = (list, tuple, dict, str, bool, int, type(None))


def view_of(result: Any, request: Request) -> list[Block]:
    """Return what is shown of a result; a result without a view of its own is shown as names and values."""
    name = request.verb if isinstance(result, _PLAIN_TYPES) else type(result).__name__
    if not result and name in _EMPTY_NOUNS:
        shown: list[Block] = [Line(f"No {_EMPTY_NOUNS[name]}.")]
    elif name not in _MODULE:
        shown = list(import_module(f"{__name__}.values").view_values(result, request))
    else:
        view = "view_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        shown = list(getattr(import_module(f"{__name__}.{_MODULE[name]}"), view)(result, request))
    if (
        request.verb in _FACT_VERBS
        and request.notes.get("facts_hint")
        and not request.arguments.get("entity")  # it is known, so there are facts
        and not any(isinstance(b, Table | Quote) for b in shown)
    ):
        shown.append(Line(request.notes["facts_hint"]))
    return shown
