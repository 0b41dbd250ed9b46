"""What is asked of authorities and what they say: questions, answers, verdicts, citations; their configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from perdure.records.instant import Instant
from perdure.records.json_record import JsonRecord


class Standing(StrEnum):
    """Whether an authority has an answer."""

    KNOWN = "known"
    SILENT = "silent"
    """It was asked and knows nothing."""
    UNREACHABLE = "unreachable"
    """It could not be asked, or did not answer in time; nothing follows from that."""


class Agreement(StrEnum):
    """What came of comparing a fact with an authority."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    SILENT = "silent"
    UNREACHABLE = "unreachable"
    AMBIGUOUS = "ambiguous"
    """It has several values and does not say which; both sides are shown and nothing changes."""


@dataclass(frozen=True, slots=True)
class AuthorityQuestion:
    """What an authority is asked.

    Attributes:
        predicate: In normal form: ``delivery_day_preference``.
        subject: The entity's id.
        name: The entity's name, bound as ``:subject``.
        aliases: Every name of the entity as written, its own among them, bound as ``:aliases``.
        claimed: The value that is believed, as text; for people, never part of a query.
    """

    predicate: str
    subject: str
    name: str
    aliases: tuple[str, ...] = ()
    claimed: str = ""


@dataclass(frozen=True, slots=True)
class AuthorityAnswer:
    """What an authority said.

    Attributes:
        standing: Whether it knows.
        values: Different values in the order in which it gave them; several mean that it does not decide.
        evidence: Where it is from, or why there is none, in words without credentials.
    """

    standing: Standing
    values: tuple[str, ...] = ()
    evidence: str = ""


Answers = Callable[[Sequence[AuthorityQuestion]], list[AuthorityAnswer]]
"""Questions to an authority's answer to each."""


@dataclass(frozen=True, slots=True)
class Verdict(JsonRecord):
    """What came of asking about one fact, with both values.

    Attributes:
        id: The memory of kind fact.
        key: What the fact is about, ``entity|predicate``.
        authority: Who was asked.
        outcome: What came of it.
        claimed: The value that was believed.
        known: What the authority has.
        evidence: Where from, or why not, in words.
        at: When it was asked.
        replaced_by: The fact that holds the authority's value since, if this one was invalidated.
    """

    id: str
    key: str
    authority: str
    outcome: Agreement
    claimed: str
    known: tuple[str, ...]
    evidence: str
    at: Instant
    replaced_by: str = ""


# --- what memories cite


class CitationKind(StrEnum):
    """What sort of thing a text points at."""

    PATH = "path"
    SYMBOL = "symbol"
    COMMIT = "commit"
    URL = "url"


@dataclass(frozen=True, slots=True)
class Citation:
    """One thing that a text points at.

    Attributes:
        kind: What sort.
        text: As it is written: ``src/app.py#main``.
        target: The path, the commit's id or the URL.
        symbol: What is cited in the path, of kind SYMBOL.
        start: First character in the text.
    """

    kind: CitationKind
    text: str
    target: str
    symbol: str = ""
    start: int = 0


class Sight(StrEnum):
    """What became of something cited, the worst last: a memory that cites several is as good as the worst."""

    FINE = "fine"
    UNVERIFIABLE = "unverifiable"
    """It is not looked at (a URL), or could not be."""
    MOVED = "moved"
    STALE = "stale"
    """It is gone."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen of one citation.

    Attributes:
        citation: What was looked for.
        sight: What became of it.
        evidence: What was seen, in words.
        found: Where it is now, of kind MOVED; several places where it may be.
    """

    citation: Citation
    sight: Sight
    evidence: str
    found: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the sighting as plain JSON data."""
        return {
            "cited": self.citation.text,
            "kind": self.citation.kind.value,
            "sight": self.sight.value,
            "evidence": self.evidence,
            "found": list(self.found),
        }


# --- how they are configured


@dataclass(frozen=True, slots=True)
class SqlConfig:
    """One database that knows better: a table ``[authorities.NAME]`` with ``url`` or ``url_variable``.

    Attributes:
        name: What it is called in answers.
        url: ``sqlite:///domain.db`` or ``postgresql+psycopg://...``; empty if a variable holds it.
        url_variable: The environment variable that holds it, so that no password is in a file.
        timeout_seconds: Longest time that one query may take, 0.05 to 60.
        predicates: Predicate -> one SELECT; ``:subject`` and ``:aliases`` are bound, and colons elsewhere escaped.
        namespaces: Where it counts; everywhere if empty.
    """

    name: str
    url: str = ""
    url_variable: str = ""
    timeout_seconds: float = 2.0
    predicates: Mapping[str, str] = field(default_factory=dict)
    namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeConfig:
    """One working tree that memories cite: a table ``[authorities.NAME]`` with ``working_tree``.

    Attributes:
        name: What it is called in answers.
        root: Its folder.
        timeout_seconds: Longest time to look at what one memory cites, 0.05 to 60.
        namespaces: Whose memories cite it; all if empty.
    """

    name: str
    root: str
    timeout_seconds: float = 2.0
    namespaces: tuple[str, ...] = ()


AuthorityConfig = SqlConfig | TreeConfig
