"""Which memories answer a question about another time: what was true then, and what was known then."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Protocol

from perdure.records.instant import Instant
from perdure.records.memory import Kind, Record, State, Status
from perdure.records.recall import Filters

_REPLACED: Final = (Status.SUPERSEDED, Status.CONSOLIDATED)  # another memory stands in its place: it held until then


class Validity(Protocol):
    """When something was true, and until when it was believed."""

    @property
    def valid_from(self) -> Instant | None:
        """When it began to be true; None where that is when it was said."""

    @property
    def valid_to(self) -> Instant | None:
        """When it ceased to be true."""

    @property
    def retired(self) -> Instant | None:
        """When it was learned that it is not true, or no longer."""

    @property
    def given_way(self) -> Instant | None:
        """Of what faded: since when something else that is believed now holds instead."""

    @property
    def forgotten(self) -> bool:
        """Whether a person put it away."""

    @property
    def told_to(self) -> Instant | None:
        """When it was to end by what had been told before."""


def believed_until(validity: Validity, state: State) -> Instant | None:
    """Return when a fact was no longer believed; None while it is. It is never before the fact was known.

    Belief is counted from the instant at which something was learned to the instant at which it was unlearned, whatever
    days the messages are of: talk that is taken in later was known to nobody before.
    """
    if validity.retired is None:
        return None
    return state.status_ms if is_denied_past(validity, state) else max(validity.retired, state.recorded_ms)


def is_past(validity: Validity, state: State) -> bool:
    """Whether a fact was over when it was told, and is still held to have been true then."""
    return state.status is Status.SUPERSEDED and _was_over(validity, state)


def is_denied_past(validity: Validity, state: State) -> bool:
    """Whether a fact was over when it was told, and was said later to have been wrong."""
    return state.status is Status.INVALIDATED and _was_over(validity, state)


def status_at(validity: Validity | None, state: State, known_at: Instant | None) -> Status:
    """Return a memory's status; a past that was denied later than ``known_at`` was held to be true then."""
    denied_later = known_at is not None and known_at < state.status_ms
    was_past = denied_later and validity is not None and is_denied_past(validity, state)
    return Status.SUPERSEDED if was_past else state.status


def told_end(validity: Validity, state: State) -> Instant | None:
    """Return when what is believed no longer was to end, as it was believed; None where nobody had said.

    One that was said to be wrong has no time of its own, unless it keeps the days with which it was told.
    """
    end, begin = validity.valid_to, validity.valid_from
    began = state.created_ms if begin is None else begin
    keeps_days = state.status is Status.INVALIDATED and end is not None and began < end
    return end if keeps_days else validity.told_to


def _was_over(validity: Validity, state: State) -> bool:
    """Whether a fact ceased to be believed as it was learned; what is denied as it holds has no time left.

    One of which nobody knows since when it held begins as it ends, before it was told.
    """
    end, begin = validity.valid_to, validity.valid_from
    began = state.created_ms if begin is None else begin
    was_over = end is not None and (began < end or end < state.created_ms)
    return was_over and validity.retired is not None and validity.retired <= state.recorded_ms


def has_given_way(validity: Validity | None, filters: Filters) -> bool:
    """Whether a question of what was true then, as it is known now, is answered by something else instead."""
    if validity is None or validity.given_way is None or filters.as_of is None or filters.known_at is not None:
        return False
    return validity.given_way <= filters.as_of


def was_there(record: Record, validity: Validity | None, filters: Filters) -> bool:
    """Whether a memory, which may be hidden by now, is an answer to a question about another time.

    Of the filters, ``as_of`` asks when it was true, ``known_at`` when it was believed.
    """
    state, then = record.state, filters.known_at
    if then is not None and state.recorded_ms > then:
        return False
    status = status_at(validity, state, then)
    retired = None if validity is None else believed_until(validity, replace(state, status=status))
    hidden = state.status_ms if retired is None else retired
    seen = state.status is Status.ACTIVE or filters.include_archived or (then is not None and hidden > then)
    if filters.as_of is None:
        return seen
    if state.kind is not Kind.FACT:
        held = state.status in _REPLACED and filters.as_of < state.status_ms
        return state.recorded_ms <= filters.as_of and (seen or held)
    # What was replaced by then was still known to have been true before; what was denied or forgotten never was.
    if (status is Status.INVALIDATED or (validity is not None and validity.forgotten)) and not seen:
        return False
    if has_given_way(validity, filters) and not filters.include_archived:
        return False
    begin = true_from(validity, state)
    end = None if validity is None else validity.valid_to
    if validity is not None and then is not None and (retired or 0) > then:
        end = told_end(validity, state)  # nobody knew then that it would end otherwise
    return begin <= filters.as_of and (end is None or filters.as_of < end)


def begins(record: Record, validity: Validity | None, filters: Filters) -> Instant:
    """Return since when a memory could be an answer to a question about another time."""
    if filters.known_at is not None or record.state.kind is not Kind.FACT:
        return record.state.recorded_ms
    return true_from(validity, record.state)


def true_from(validity: Validity | None, state: State) -> Instant:
    """Return since when something was true: when it was said where nothing else is known.

    What was over when it was told, and of which nobody knows since when it held, held on any day before its end.
    """
    if validity is None or validity.valid_from is None:
        return state.created_ms
    return 0 if lacks_start(validity, state) else validity.valid_from


def lacks_start(validity: Validity, state: State) -> bool:
    """Whether something was over when it was told, and nobody said since when it held: it begins as it ends."""
    return validity.valid_from == validity.valid_to and _was_over(validity, state)
