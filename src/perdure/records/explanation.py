"""What explains one memory: why it is as it is, what of it holds no longer, and what rests on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from perdure.records.json_record import JsonRecord
from perdure.records.outcome import FactReasons, RestingFact
from perdure.records.recall import OutdatedFact
from perdure.records.report import JournalEntry


@dataclass(frozen=True, slots=True)
class Explanation(JsonRecord):
    """Why a memory is as it is: its signals taken apart, its history, and what will happen next."""

    id: str  # the memory
    summary: str  # a few sentences for people
    signals: Mapping[str, str]  # signal -> how it comes about, in words and numbers
    value_parts: Mapping[str, float]  # part of value -> its share
    history: tuple[JournalEntry, ...]  # journal entries about it, oldest first
    next_move: str  # what falls due next and when, or why nothing will
    # other memories it is linked to: (kind, id, weight). A kind that leads here ends in ``_by`` or ``_of``
    links: tuple[tuple[str, str, float], ...] = ()
    # of a fact: what it rests on, what made it surer, what contradicts it, what comes next
    fact: FactReasons | None = None
    says: str = ""  # its words, as they are shown now
    # facts that are no longer true, of those that it says, or itself where it is one, the newest first; then, under the
    # memory's own id, what a later one takes back by its words ("300, not 400")
    no_longer_true: tuple[OutdatedFact, ...] = ()
    likely_untrue: str = ""  # which later statement likely makes it untrue, what follows, what to do if it still holds
    replaced_by: str | None = None  # of a superseded memory: the last of those that took its place
    # memory that took the place of it, or of a fact that it says -> its words
    replacements: Mapping[str, str] = field(default_factory=dict)
    # believed facts that no other visible memory says: ``update`` supersedes them unless they are kept; they stay
    # believed where it is hidden
    sole_source_of: tuple[RestingFact, ...] = ()
