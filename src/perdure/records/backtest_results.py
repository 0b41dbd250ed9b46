"""What a back-test answers: how past recalls would have fared under another policy."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.json_record import JsonRecord


@dataclass(frozen=True, slots=True)
class Lived:
    """How a namespace would have lived under one policy."""

    policy: str  # the policy's version
    preset: str  # its preset
    visible: int  # memories that would be in view now
    hidden: int  # those that it would have hidden by now
    shortened: int  # those that would be in view in a shorter form
    moved: int  # those that would have changed their tier at least once
    tokens: int  # tokens in view
    missing: int  # past hits that would have been hidden when they were asked for
    short: int  # past hits that would have been shown in a shorter form
    # share of the hits in view that were found useful, over recalls of which that was told; None where it never was
    precision: float | None
    recall: float | None  # share of the useful hits that would have been in view; None as above


@dataclass(frozen=True, slots=True)
class Missed:
    """A past hit that would have been missing."""

    recall: str  # the entry of the recall log
    at: str  # when it was asked, ISO 8601
    query: str  # what was asked
    id: str  # the memory
    useful: bool  # whether it was found useful then
    because: str  # by which rule it would have been hidden, and when


@dataclass(frozen=True, slots=True)
class BacktestResult(JsonRecord):
    """What the recall log says about another policy."""

    namespace: str  # where
    recalls: int  # recalls that were replayed
    hits: int  # their hits that are still stored
    useful: int  # those that were found useful
    now: Lived  # how it would have been under the policy in force, replayed in the same way: the yardstick
    other: Lived  # how it would have been under the other policy
    # past hits that the other policy would have hidden and the policy in force would not, newest first
    lost: tuple[Missed, ...]
    notes: tuple[str, ...] = ()  # what a reader should know
