"""The door for claims: every fault of every claim is named at once, with the number of the claim."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import compress
from typing import Any, Final

from perdure.records.errors import InvalidInput
from perdure.records.identifier import is_uuid
from perdure.records.instant import Instant, begin_of, to_instant
from perdure.records.outcome import FactClaim, GivenClaim
from perdure.records.policy import Policy
from perdure.records.wording import shown_value
from perdure.rules.redaction import labelled_secrets, redact_with, secrets_in
from perdure.rules.secret_screen import may_hold_secrets, together
from perdure.rules.validation.values import checked_text

_SHORT_ID: Final = re.compile(r"(?!\d{8})[0-9a-f]{8}")  # as ids are shown; a number is a value
MOST: Final = 1000  # claims of one call
EXAMPLE: Final = 'facts=[{"subject": "Ana", "predicate": "home", "value": "Paris", "replaces": "Berlin"}]'
_KEYS: Final = tuple(FactClaim.__annotations__)
LONGEST: Final[Mapping[str, int]] = {"subject": 200, "predicate": 100, "value": 500, "replaces": 500, "quote": 10_000}
_REQUIRED: Final = ("subject", "predicate", "value")
_NOTHING_STORED: Final = "Nothing was stored."
_GRAMMAR: Final = (
    f"{_NOTHING_STORED} A claim is an object with the keys {', '.join(_KEYS)}; the first three are needed."
)
_SHOWN: Final = 10  # so many faults are listed; of more only how many there are


def parsed_claims(
    items: Any, content: str | None, *, policy: Policy, now: Instant
) -> tuple[tuple[GivenClaim, ...], str]:
    """Return the claims of a call, checked, and the content without the secrets that they name.

    Quotes must stand in ``content``, white space aside. What begins after ``now`` is marked as planned.
    """
    words = None if content is None else " ".join(content.split())
    claims: list[GivenClaim] = []
    faults: list[str] = []
    readers = [_Reader(number, item, words, now, policy.days.tz) for number, item in enumerate(_check_list(items), 1)]
    texts = [dict(reader.texts()) for reader in readers]
    suspects = may_hold_secrets([together(_every_form(said)) for said in texts])
    secrets = secrets_in(content or "", policy) if texts else {}
    secrets |= _labelled_secrets(compress(texts, suspects), policy)
    for reader, said, suspect in zip(readers, texts, suspects, strict=True):
        claims.append(reader.claim(said, *(_safe(said, secrets, policy) if suspect or secrets else (said, ()))))
        faults += reader.faults
    refuse_faults(faults, _GRAMMAR if any(reader.misshapen for reader in readers) else _NOTHING_STORED)
    return tuple(claims), redact_with(content or "", secrets, policy)[0]


def _every_form(texts: Mapping[str, str]) -> list[str]:
    """Return the texts of a claim as secrets are looked for in them: alone, and values behind their label."""
    label = texts.get("subject", ""), texts.get("predicate", "")
    values = [texts[key] for key in ("value", "replaces") if key in texts]
    behind = [f"{between.join(label)}: {value}" for between in (": ", " ") for value in values]
    return [*behind, *texts.values()]


def _labelled_secrets(claims: Iterable[Mapping[str, str]], policy: Policy) -> dict[str, str]:
    """Return the secrets among the values of claims, which subjects and predicates show to be some."""
    found: dict[str, str] = {}
    for texts in claims:
        label = texts.get("subject", ""), texts.get("predicate", "")
        for key in ("value", "replaces"):
            if key in texts and not (key == "replaces" and is_memory_id(texts[key])):
                found |= labelled_secrets(label, texts[key], policy)
    return found


def is_memory_id(text: str) -> bool:
    """Whether a text that a claim replaces has the form of a memory's id, short or whole."""
    return is_uuid(text) or _SHORT_ID.fullmatch(text) is not None


def _check_list(items: Any) -> list[Any]:
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput("facts must be a list of objects.", remedy=f"Pass for example {EXAMPLE}.")
    listed = list(items)
    if len(listed) > MOST:
        raise InvalidInput(
            f"{len(listed):,} claims were given; {MOST:,} are allowed in one call.", remedy="Split the call."
        )
    return listed


def refuse_faults(faults: list[str], remedy: str = _NOTHING_STORED) -> None:
    """Raise InvalidInput for faults, if there are any."""
    if faults:
        more = f" And {len(faults) - _SHOWN:,} more." if len(faults) > _SHOWN else ""
        raise InvalidInput(" ".join(faults[:_SHOWN]) + more, remedy=remedy)


class _Reader:
    def __init__(self, number: int, item: Any, words: str | None, now: Instant, zone: tzinfo | None) -> None:
        self.number, self.words, self.now, self.zone = number, words, now, zone
        self.faults: list[str] = []
        self.misshapen = False  # whether it is not clear what a claim is
        self.item: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
        if not isinstance(item, Mapping):
            self.fault(f"it must be an object, not {shown_value(item)}", misshapen=True)

    def fault(self, text: str, *, misshapen: bool = False) -> None:
        """Write down what is wrong."""
        self.misshapen |= misshapen
        self.faults.append(f"Claim {self.number}: {text}.")

    def claim(self, texts: Mapping[str, str], safe: Mapping[str, str], replaced: tuple[str, ...]) -> GivenClaim:
        """Return the claim; it is only good where there are no faults.

        Args:
            texts: Its texts as they were given.
            safe: The same without secrets.
            replaced: What was replaced.
        """
        if not self.item:
            return GivenClaim(self.number, "", "", "")
        for key in self.item:
            if key not in _KEYS:
                self.fault(f"unknown key {shown_value(key)}", misshapen=True)
        self._check_quote(texts.get("quote", ""))
        denied = self.item.get("denied")
        if denied is not None and not isinstance(denied, bool):
            self.fault(f"denied must be true or false, not {shown_value(denied)}")
        begin, end = self._instant("valid_from"), self._instant("valid_to")
        if begin is not None and end is not None and end < begin:
            self.fault("valid_to is before valid_from")
        return GivenClaim(
            self.number,
            safe.get("subject", ""),
            safe.get("predicate", ""),
            safe.get("value", ""),
            denied=denied is True,
            replaces=safe.get("replaces", ""),
            valid_from=begin,
            valid_to=end,
            quote=safe.get("quote", ""),
            redacted=replaced,
            planned=begin is not None and begin > self.now,
        )

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the texts of the claim that are good."""
        if not self.item:
            return
        for key, longest in LONGEST.items():
            value = self.item.get(key)
            if value is None and key not in _REQUIRED:
                continue
            if key not in self.item:
                self.fault(f"{key} is missing", misshapen=True)
                continue
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            words = str(value) if number and key in ("value", "replaces") else value
            try:
                yield key, " ".join(checked_text(words, key, longest=longest).split())
            except InvalidInput as error:
                self.fault(error.message.removesuffix("."))

    def _check_quote(self, quote: str) -> None:
        if not quote:
            return
        if self.words is None:
            self.fault("a quote needs content that contains it")
        elif quote not in self.words:
            self.fault(f"the quote {shown_value(quote)} is not in the content")

    def _instant(self, key: str) -> Instant | None:
        value = self.item.get(key)
        if value is None:
            return None
        try:
            moment = _moment(value)
            if moment.tzinfo is None:
                raise ValueError(value)  # noqa: TRY301  # a zone would be a guess
            if _is_day(value):
                is_last = key == "valid_to"
                return begin_of(moment.date() + timedelta(days=is_last), self.zone) - is_last
            return to_instant(moment, name=key)
        except InvalidInput as error:
            self.fault(error.message.removesuffix("."))
        except (TypeError, ValueError):
            self.fault(
                f"{key} is neither a date nor a time with a zone: {shown_value(value)}; write for example 2026-11-21"
            )
        return None


def _safe(
    texts: Mapping[str, str], secrets: Mapping[str, str], policy: Policy
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the texts of a claim without secrets, and what was replaced; the quote's stand in the content, too."""
    safe: dict[str, str] = {}
    names: list[str] = []
    for key, text in texts.items():
        safe[key], found = redact_with(text, secrets, policy)
        names += () if key == "quote" else found
    return safe, tuple(names)


def _is_day(value: Any) -> bool:
    """Whether a value is a day without a time: it counts whole, in the policy's zone."""
    if isinstance(value, str):
        return len(value.strip()) == len("2026-11-21")
    return isinstance(value, date) and not isinstance(value, datetime)


def _moment(value: Any) -> datetime:
    """Return a date, of which only the day counts, or a time, as a datetime."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, str):
        raise TypeError(value)
    text = value.strip()
    return _moment(date.fromisoformat(text)) if _is_day(text) else datetime.fromisoformat(text)
