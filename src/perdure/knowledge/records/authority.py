"""What is asked of authorities and what they say: questions, answers, verdicts, citations; their configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from perdure.records.instant import Instant
from perdure.records.json_record import JsonRecord


class AnswerStatus(StrEnum):
    """Whether an authority has an answer."""

    KNOWN = "known"
    SILENT = "silent"  # it was asked and knows nothing
    UNREACHABLE = "unreachable"  # it could not be asked, or did not answer in time; nothing follows from that


class Agreement(StrEnum):
    """What came of comparing a fact with an authority."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    SILENT = "silent"
    UNREACHABLE = "unreachable"
    AMBIGUOUS = "ambiguous"  # it has several values and does not say which; both sides are shown and nothing changes


@dataclass(frozen=True, slots=True)
class AuthorityQuestion:
    """What an authority is asked."""

    predicate: str  # in normal form: ``delivery_day_preference``
    subject: str  # the entity's id
    name: str  # the entity's name, bound as ``:subject``
    aliases: tuple[str, ...] = ()  # every name of the entity as written, its own among them, bound as ``:aliases``
    claimed: str = ""  # the value that is believed, as text; for people, never part of a query


@dataclass(frozen=True, slots=True)
class AuthorityAnswer:
    """What an authority said."""

    standing: AnswerStatus  # whether it knows
    # different values in the order in which it gave them; several mean that it does not decide
    values: tuple[str, ...] = ()
    evidence: str = ""  # where it is from, or why there is none, in words without credentials


Answers = Callable[[Sequence[AuthorityQuestion]], list[AuthorityAnswer]]  # questions to an authority's answer to each


@dataclass(frozen=True, slots=True)
class Verdict(JsonRecord):
    """What came of asking about one fact, with both values."""

    id: str  # the memory of kind fact
    key: str  # what the fact is about, ``entity|predicate``
    authority: str  # who was asked
    outcome: Agreement  # what came of it
    claimed: str  # the value that was believed
    known: tuple[str, ...]  # what the authority has
    evidence: str  # where from, or why not, in words
    at: Instant  # when it was asked
    replaced_by: str = ""  # the fact that holds the authority's value since, if this one was invalidated


# --- what memories cite


class CitationKind(StrEnum):
    """What sort of thing a text points at."""

    PATH = "path"
    SYMBOL = "symbol"
    COMMIT = "commit"
    URL = "url"


@dataclass(frozen=True, slots=True)
class Citation:
    """One thing that a text points at."""

    kind: CitationKind  # what sort
    text: str  # as it is written: ``src/app.py#main``
    target: str  # the path, the commit's id or the URL
    symbol: str = ""  # what is cited in the path, of kind SYMBOL
    start: int = 0  # first character in the text


class CitationState(StrEnum):
    """What became of something cited, the worst last: a memory that cites several is as good as the worst."""

    FINE = "fine"
    UNVERIFIABLE = "unverifiable"  # it is not looked at (a URL), or could not be
    MOVED = "moved"
    STALE = "stale"  # it is gone


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """What was seen of one citation."""

    citation: Citation  # what was looked for
    sight: CitationState  # what became of it
    evidence: str  # what was seen, in words
    found: tuple[str, ...] = ()  # where it is now, of kind MOVED; several places where it may be
    there: bool = False  # it was seen there, now or by an earlier look

    def to_dict(self) -> dict[str, Any]:
        """Return the sighting as plain JSON data."""
        return {
            "cited": self.citation.text,
            "kind": self.citation.kind.value,
            "sight": self.sight.value,
            "evidence": self.evidence,
            "found": list(self.found),
            "there": self.there,
        }


# --- how they are configured


@dataclass(frozen=True, slots=True)
class SqlConfig:
    """One database that knows better: a table ``[authorities.NAME]`` with ``url`` or ``url_variable``."""

    name: str  # what it is called in answers
    url: str = ""  # ``sqlite:///domain.db`` or ``postgresql+psycopg://...``; empty if a variable holds it
    url_variable: str = ""  # the environment variable that holds it, so that no password is in a file
    timeout_seconds: float = 2.0  # longest time that one query may take, 0.05 to 60
    # predicate -> one SELECT; ``:subject`` and ``:aliases`` are bound, and colons elsewhere escaped
    predicates: Mapping[str, str] = field(default_factory=dict)
    namespaces: tuple[str, ...] = ()  # where it counts; everywhere if empty


@dataclass(frozen=True, slots=True)
class TreeConfig:
    """One working tree that memories cite: a table ``[authorities.NAME]`` with ``working_tree``."""

    name: str  # what it is called in answers
    root: str  # its folder
    timeout_seconds: float = 2.0  # longest time to look at what one memory cites, 0.05 to 60
    namespaces: tuple[str, ...] = ()  # whose memories cite it; all if empty


AuthorityConfig = SqlConfig | TreeConfig
