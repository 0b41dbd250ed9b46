"""A fact as a memory: its words, its draft, its links and its questions."""

from __future__ import annotations

from typing import Final

from perdure.knowledge.languages import language
from perdure.knowledge.records.facts import Claim, Fact, Learned, value_text
from perdure.records.instant import Instant
from perdure.records.memory import Draft, Kind, Scope, Sort, Trust
from perdure.records.plan import Change, Target
from perdure.records.policy import Policy

_WORDS: Final = language("en").words
IMPORTANCE: Final = 0.6  # of a fact: that of a statement
ACTS: Final = (
    _WORDS["habits"]
    | _WORDS["done"]
    | _WORDS["negatives"]
    | {"like", "enjoy", "love", "prefer", "want", "need", "have", "know", "wear", "accept", "watch"}
)
"""Verbs of what somebody does, likes or has, all of which may have several values."""


def fact_text(name: str, predicate: str, value: str, *, denied: bool = False) -> str:
    """Return a fact in words: ``Gai Media: delivery day preference: Friday``, ``Ana: eat: not pork``."""
    return f"{name}: {predicate.replace('_', ' ')}: {value_text(value, denied=denied)}"


def draft_fact(
    name: str, predicate: str, claim: Claim, *, said_at: Instant, scope: Scope, session: str | None, policy: Policy
) -> Draft:
    """Return the memory that a claim becomes."""
    return Draft(
        text=fact_text(name, predicate, claim.value.text, denied=claim.denied),
        kind=Kind.FACT,
        scope=scope,
        importance=IMPORTANCE,
        confidence=min(claim.confidence, policy.knowledge.cap),
        at=said_at,
        session=None if scope is Scope.LONG_TERM else session,
        source=claim.learned.value,
        sort=Sort(claim.type),
    )


def new_fact(identity: str, subject: str, predicate: str, claim: Claim, *, said_at: Instant, trust: Trust) -> Fact:
    """Return what a new fact's document says; its sources are added by ``learned_from``."""
    return Fact(
        identity,
        subject,
        predicate,
        claim.type,
        claim.value,
        claim.learned,
        many=claim.many,
        trust=trust,
        valid_from=said_at if claim.valid_from is None else claim.valid_from,
        valid_to=claim.valid_to,
        denied=claim.denied,
    )


def link_change(kind: str, source: str, target: str, because: str) -> Change:
    """Return the change that links two memories."""
    return Change(Target.LINK, source, None, {"kind": kind, "other": target, "weight": 1.0}, because)


def describe_origin(learned: Learned) -> str:
    """Return how a fact was learned, for people."""
    return {
        Learned.EXPLICIT: "was asked to be remembered",
        Learned.PREFERENCE: "was stated as a preference",
        Learned.STATEMENT: "was said in passing",
        Learned.CORRECTION: "was a correction",
        Learned.MODEL: "was read by a language model",
        Learned.AUTHORITY: "is what an authority says",
    }[learned]
