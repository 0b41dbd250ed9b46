"""What a back-test answers: how past recalls would have fared under another policy."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.json_record import JsonRecord


@dataclass(frozen=True, slots=True)
class Lived:
    """How a namespace would have lived under one policy.

    Attributes:
        policy: The policy's version.
        preset: Its preset.
        visible: Memories that would be in view now.
        hidden: Those that it would have hidden by now.
        shortened: Those that would be in view in a shorter form.
        moved: Those that would have changed their tier at least once.
        tokens: Tokens in view.
        missing: Past hits that would have been hidden when they were asked for.
        short: Past hits that would have been shown in a shorter form.
        precision: Share of the hits in view that were found useful, over recalls of which that was told; None where
            it never was.
        recall: Share of the useful hits that would have been in view; None as above.
    """

    policy: str
    preset: str
    visible: int
    hidden: int
    shortened: int
    moved: int
    tokens: int
    missing: int
    short: int
    precision: float | None
    recall: float | None


@dataclass(frozen=True, slots=True)
class Missed:
    """A past hit that would have been missing.

    Attributes:
        recall: The entry of the recall log.
        at: When it was asked, ISO 8601.
        query: What was asked.
        id: The memory.
        useful: Whether it was found useful then.
        because: By which rule it would have been hidden, and when.
    """

    recall: str
    at: str
    query: str
    id: str
    useful: bool
    because: str


@dataclass(frozen=True, slots=True)
class BacktestResult(JsonRecord):
    """What the recall log says about another policy.

    Attributes:
        namespace: Where.
        recalls: Recalls that were replayed.
        hits: Their hits that are still stored.
        useful: Those that were found useful.
        now: How it would have been under the policy in force, replayed in the same way: the yardstick.
        other: How it would have been under the other policy.
        lost: Past hits that the other policy would have hidden and the policy in force would not, newest first.
        notes: What a reader should know.
    """

    namespace: str
    recalls: int
    hits: int
    useful: int
    now: Lived
    other: Lived
    lost: tuple[Missed, ...]
    notes: tuple[str, ...] = ()
