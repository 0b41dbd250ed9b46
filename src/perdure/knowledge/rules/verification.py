"""What texts cite, and what follows from what authorities say: silence changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.knowledge.extraction.values import same_value, value_of
from perdure.knowledge.records.authority import (
    Agreement,
    AnswerStatus,
    AuthorityAnswer,
    AuthorityQuestion,
    Citation,
    CitationCheck,
    CitationKind,
    CitationState,
    Verdict,
)
from perdure.knowledge.records.facts import Fact, FactOrigin, Value
from perdure.knowledge.rules.fact_records import fact_text
from perdure.records.instant import HOUR_MS, Instant
from perdure.records.memory import Document, Draft, Kind, Record, State, Trust
from perdure.records.policy import Policy
from perdure.rules.lifecycle.reinforcement import validate_state

MOST: Final = 20
"""So many different citations of one text are looked at; the rest of a text that lists hundreds is left alone."""

_MOST_READ: Final = 20_000  # characters of a text that are read

_ENDINGS: Final = (
    "py|pyi|js|mjs|cjs|jsx|ts|tsx|go|rs|java|kt|kts|scala|c|h|cc|cpp|cxx|hpp|cs|rb|php|swift|m|sql|sh|bash|ps1|lua|ex|"
    "exs|erl|hs|ml|clj|r|jl|zig|nim|vue|svelte|html|css|scss|json|jsonl|yaml|yml|toml|ini|cfg|conf|env|lock|xml|proto|"
    "graphql|tf|md|rst|txt|csv|tsv|ipynb|gradle|cmake|mk"
)
_URL: Final = re.compile(r"\bhttps?://[^\s<>\"'`)\]}]+", re.IGNORECASE)
_COMMIT: Final = re.compile(r"\bcommits?\s+`?([0-9a-f]{7,64})\b", re.IGNORECASE)
_PATH: Final = re.compile(
    rf"(?<![\w/.@:#~\\-])(?:\./)?((?:[\w.-]+/){{0,20}}[\w-][\w.-]{{0,100}}\.(?:{_ENDINGS})|(?:[\w.-]+/){{1,20}}(?:Makefile|"
    r"Dockerfile|LICENSE|Justfile))(?:#([A-Za-z_$][\w$.]{0,200}))?(?![\w/])"
)
_LINES: Final = re.compile(r"L\d+(-L?\d+)?")  # ``#L12`` is a line, no symbol


def citations(text: str) -> list[Citation]:
    """Return what a text points at, each thing once, in the order in which it is written; at most 20.

    A path is what ends like a source file (``src/app.py``, ``app.py``), relative to the working tree; ``#`` and a name
    after it is a symbol. A commit is 7 to 64 hexadecimal digits after the word commit. What is within a URL is no path.
    """
    text = text[:_MOST_READ]
    found: list[Citation] = []
    urls = list(_URL.finditer(text))
    for match in urls:
        url = match.group().rstrip(".,;:!?")
        found.append(Citation(CitationKind.URL, url, url, start=match.start()))
    outside = [m for form in (_COMMIT, _PATH) for m in form.finditer(text) if not _is_within(m.start(1), urls)]
    found += [_commit(m) if m.re is _COMMIT else _path(m) for m in outside if ".." not in m.group(1).split("/")]
    first: dict[tuple[CitationKind, str, str], Citation] = {}
    for citation in sorted(found, key=lambda c: c.start):
        first.setdefault((citation.kind, citation.target, citation.symbol), citation)
    return list(first.values())[:MOST]


def _commit(match: re.Match[str]) -> Citation:
    return Citation(CitationKind.COMMIT, match.group(1), match.group(1).lower(), start=match.start(1))


def _path(match: re.Match[str]) -> Citation:
    path, symbol = match.group(1), (match.group(2) or "").rstrip(".")
    if not symbol or _LINES.fullmatch(symbol):
        return Citation(CitationKind.PATH, path, path, start=match.start(1))
    return Citation(CitationKind.SYMBOL, f"{path}#{symbol}", path, symbol, match.start(1))


def _is_within(position: int, places: Sequence[re.Match[str]]) -> bool:
    return any(p.start() <= position < p.end() for p in places)


def since_earlier(sightings: Sequence[CitationCheck], before: Iterable[Mapping[str, Any]]) -> list[CitationCheck]:
    """Return what was seen, in the light of what an earlier look wrote down (``CitationCheck.to_dict``).

    Only what was there once can be gone: most of what is written like a file, and is not there, never was.
    """
    once = {s["cited"] for s in before if s.get("there", s["sight"] == CitationState.FINE)}
    return [_since(s, seen_before=s.sight is CitationState.FINE or s.citation.text in once) for s in sightings]


def _since(look: CitationCheck, *, seen_before: bool) -> CitationCheck:
    if seen_before or look.sight is CitationState.UNVERIFIABLE:
        return replace(look, there=seen_before)
    return replace(
        look, sight=CitationState.UNVERIFIABLE, evidence=f"{look.evidence}, and was not seen before", found=()
    )


def worst_state(sightings: Sequence[CitationCheck]) -> CitationState:
    """Return what is said of a memory that cites several things: the worst of them.

    A URL is recorded and never fetched, so it says nothing against what else is cited and seen.
    """
    order = list(CitationState)
    sights = [s.sight for s in sightings if s.citation.kind is not CitationKind.URL] or [s.sight for s in sightings]
    return max(sights, key=order.index)


AGAIN_MS: Final = 12 * HOUR_MS
"""An authority's agreement validates a fact once in so long; asking it more often makes nothing truer."""

_LONGEST: Final = 1000
_MOST_NAMES: Final = 100


def is_believed(fact: Fact, now: Instant) -> bool:
    """Whether a value is held to be true now, as far as a fact's document says: authorities are asked about those."""
    return fact.holds(now)


def question_of(fact: Fact, entity: Document | None, aliases: Sequence[Document]) -> AuthorityQuestion:
    """Return what is asked about a fact; the id of its subject stands for the name where there is no ``entity``."""
    name = fact.subject if entity is None else str(entity.data.get("name") or fact.subject)
    written = [str(text) for d in aliases for text in d.data.values() if isinstance(text, str) and text]
    names = tuple(dict.fromkeys((name, *written)))[:_MOST_NAMES]
    return AuthorityQuestion(fact.predicate, fact.subject, name, names, fact.value.text)


def deciding_answer(heard: Sequence[tuple[str, AuthorityAnswer]]) -> tuple[str, AuthorityAnswer]:
    """Return the answer that counts: the first authority, in the order of the file, that is not silent.

    One that cannot be reached is not silent: what it would have said outranks those after it.
    """
    return next((pair for pair in heard if pair[1].standing is not AnswerStatus.SILENT), heard[0])


def verdict_of(fact: Fact, authority: str, answer: AuthorityAnswer, now: Instant) -> Verdict:
    """Return what comes of comparing one fact with an answer."""
    outcome, note = _compare(fact, answer, now)
    return Verdict(fact.id, fact.key, authority, outcome, fact.shown_value, answer.values, note or answer.evidence, now)


def _compare(fact: Fact, answer: AuthorityAnswer, now: Instant) -> tuple[Agreement, str]:
    if answer.standing is not AnswerStatus.KNOWN:
        return Agreement(answer.standing.value), ""
    known: list[Value] = []
    for value in (value_of(text, now) for text in answer.values):
        if not any(same_value(value, other) for other in known):
            known.append(value)
    has = any(same_value(fact.value, value) for value in known)
    if fact.many:
        if has != fact.denied:
            return Agreement.AGREES, ""
        finding = "is among them, which was denied" if has else "is not among them, which may be no contradiction"
        return Agreement.AMBIGUOUS, f"{answer.evidence}; {fact.value.text!r} {finding}"
    if len(known) > 1:
        return Agreement.AMBIGUOUS, f"{answer.evidence}; it has {len(known)} values and does not say which"
    return (Agreement.AGREES if has != fact.denied else Agreement.DISAGREES), ""


# --- what becomes of a fact


def counts_as_validation(before: Document | None, now: Instant) -> bool:
    """Whether an agreement validates: not if the same authority's did so within twelve hours."""
    last = None if before is None else before.data.get("validated_ms")
    return not isinstance(last, int) or now - last >= AGAIN_MS


def validate_by(state: State, policy: Policy, now: Instant, authority: str) -> tuple[State, str]:
    """Return a fact's state after an authority agreed: as validated, and not above the cap."""
    outcome = validate_state(state, now)
    capped = max(state.confidence, min(policy.knowledge.cap, outcome.state.confidence))
    because = (
        f"{authority} agrees: confidence base {state.confidence:.3f} to {capped:.3f}, counted from now; "
        f"confirmations {outcome.state.reinforcements}"
    )
    return replace(outcome.state, confidence=capped), because


def successor_draft(old: Record, fact: Fact, question: AuthorityQuestion, verdict: Verdict, policy: Policy) -> Draft:
    """Return the memory of a fact with the authority's value: it stands where the old one stood."""
    return Draft(
        text=fact_text(question.name, fact.shown_predicate, verdict.known[0]),
        kind=Kind.FACT,
        scope=old.state.scope,
        importance=old.state.importance,
        confidence=policy.knowledge.authority,
        at=verdict.at,
        tags=old.content.tags,
        source=f"authority {verdict.authority}",
        session=old.content.session,
        task=old.content.task,
        sort=old.state.sort,
    )


def fact_from_authority(identity: str, fact: Fact, verdict: Verdict) -> Fact:
    """Return what a new memory is about: the old fact's subject and predicate, the authority's value."""
    return Fact(
        id=identity,
        subject=fact.subject,
        predicate=fact.predicate,
        type=fact.type,
        value=value_of(verdict.known[0], verdict.at),
        learned=FactOrigin.AUTHORITY,
        trust=Trust.AUTHORITY,
        valid_from=verdict.at,
        called=fact.called,
    )


def retire(fact: Fact, now: Instant) -> Fact:
    """Return a fact that is no longer believed, and no longer held to be true."""
    return replace(fact, retired=now, valid_to=now if fact.valid_to is None else min(fact.valid_to, now))


# --- what is written down


def check_data(verdict: Verdict, before: Document | None, *, counted: bool) -> dict[str, Any]:
    """Return what is written down about what an authority said of a fact."""
    last = None if before is None else before.data.get("validated_ms")
    return {
        "outcome": verdict.outcome.value,
        "claimed": verdict.claimed,
        "known": list(verdict.known),
        "evidence": verdict.evidence[:_LONGEST],
        "at_ms": verdict.at,
        "validated_ms": verdict.at if counted else last,
    }


def seen_data(sightings: Sequence[CitationCheck], now: Instant) -> dict[str, Any]:
    """Return what is written down about what a memory cites; the worst of it is the outcome."""
    sight = worst_state(sightings)
    text = "; ".join(s.evidence for s in sightings if s.sight is sight)
    return {"outcome": sight.value, "evidence": text[:_LONGEST], "seen": [s.to_dict() for s in sightings], "at_ms": now}


def conflict_data(verdict: Verdict, loser: tuple[str, str, float], winner: tuple[str, str, float]) -> dict[str, Any]:
    """Return what is stored about two facts of which an authority decided; each is (id, value, confidence)."""

    def side(one: tuple[str, str, float]) -> dict[str, Any]:
        return {"id": one[0], "value": one[1], "confidence": round(one[2], 6)}

    return {
        "type": "memory_vs_db",
        "strategy": "trust_db",
        "outcome": "invalidated",
        "winner": winner[0],
        "loser": loser[0],
        "sides": [side(loser), side(winner)],
        "authority": verdict.authority,
        "evidence": verdict.evidence[:_LONGEST],
        "at_ms": verdict.at,
    }
