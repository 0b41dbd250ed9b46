"""The interfaces' checks for rows that come from a file: texts, sizes, ranges, times, vectors, as if each was given."""

from __future__ import annotations

from array import array
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any, Final

from perdure.records.bounded_json import DEEPEST, depth_of, parse_json
from perdure.records.digests import encoded
from perdure.records.errors import InvalidInput
from perdure.records.identifier import is_id
from perdure.records.instant import FIRST, LAST, Instant, text_of
from perdure.records.memory import Form, Kind, Scope, Shelf, Sort, Status, Tier
from perdure.records.plan import Change, Target
from perdure.records.policy import Policy
from perdure.records.wording import shown_value
from perdure.rules.validation.fact_claims import LONGEST as LONGEST_OF_CLAIM
from perdure.rules.validation.inputs import checked_content, checked_metadata, checked_tags
from perdure.rules.validation.values import checked_choice, checked_text, optional_text

_MANY: Final = 2.0**53
_SHARE: Final = (0.0, 1.0)
_COUNT: Final = (0.0, _MANY)
RANGES: Final[Mapping[str, tuple[float, float]]] = {
    **dict.fromkeys(("importance", "confidence", "uniqueness", "strength", "boosted", "decayed"), _SHARE),
    **dict.fromkeys(("access_mass", "level", "turn", "access_count", "tier_accesses", "reinforcements"), _COUNT),
    **dict.fromkeys(("tokens", "changes", "hides", "position"), _COUNT),
    "stability": (0.0, 36_500.0),
    "difficulty": (0.0, 10.0),
    "weight": (-1.0, _MANY),
    "times": (1.0, _MANY),
    "boost_day": (-1.0, _MANY),
}
"""Column -> what its numbers may be, least and most."""
CHOICES: Final = {"kind": Kind, "scope": Scope, "tier": Tier, "status": Status, "form": Form, "sort": Sort}
"""Column of a memory -> what it may say."""
_PAST: Final = {"created_ms", "recorded_ms", "at_ms", "accessed_ms", "access2_ms", "access3_ms"}
"""Columns that say when something happened: not in the future. A planned fact counts as validated on its first day."""
_ANY_TIME: Final = {"due_ms"}  # what lies beyond the calendar is due never
_GRID: Final = 127
_LONGEST_NAME: Final = 2000  # characters of the name of a document or of what it is about
_LONGEST_QUERY: Final = 10_000
_LONGEST_DOCUMENT: Final = 16 * 1024 * 1024
_REMEDY: Final = "Export again from a store that a check calls sound."


class RowChecks:
    """Checks rows as the interfaces check what they are given.

    What happened after ``now`` is refused; None where nobody knows what time it is.
    """

    def __init__(self, policy: Policy, now: Instant | None) -> None:
        self.policy, self.now = policy, now
        self._columns: dict[str, Callable[[Any], object]] = {
            "text": lambda v: checked_content(v, policy),
            "shown": lambda v: checked_content(v, policy) if v else None,
            "metadata": lambda v: checked_metadata(v or {}, policy),
            "tags": self._check_tags,
            "keys": lambda v: [optional_text(key, "idempotency_key") for key in v],
            "key": lambda v: optional_text(v, "idempotency_key"),
            "query": lambda v: checked_text(v, "query", longest=_LONGEST_QUERY),
            **{name: self._text(name) for name in ("source", "speaker", "session", "task")},
        }

    def check(self, part: str, row: Mapping[str, Any]) -> None:
        """Refuse a row (column -> value) that no interface would have let in."""
        if part == "journal":
            self._check_journal(row)
            return
        for column, value in row.items():
            if value is not None:
                self._check(part, column, value)
        if part == "document":
            self._check_document(row)
        elif part == "vector":
            _check_direction(b64decode(row["data"]))

    def check_change(self, change: Change) -> None:
        """Refuse a change of a plan that writes a row that no interface would have let in."""
        after = change.after
        if after is None:
            return
        if change.target is Target.DOCUMENT:
            self.check("document", {**after, "id": change.id})
            return
        self._check_image(change.target.value, after)
        if isinstance(vector := after.get("int8"), bytes):
            _check_direction(vector)

    def _check(self, part: str, column: str, value: Any) -> None:
        if column in RANGES:
            _check_range(column, value, *RANGES[column])
        elif column.endswith("_ms") and column not in _ANY_TIME:
            self._check_time(column, value)
        elif part == "memory" and column in CHOICES:
            checked_choice(value, CHOICES[column], column)
        elif column in self._columns and part in ("memory", "recall"):
            self._columns[column](value)

    def _check_time(self, column: str, value: Any) -> None:
        _check_range(column, value, FIRST, LAST)
        if column in _PAST and self.now is not None and value > self.now + self.policy.limits.future_seconds * 1000:
            raise InvalidInput(
                f"{column} is in the future ({text_of(value)}; it is {text_of(self.now)}).",
                remedy="Check the clocks of both machines.",
            )

    def _text(self, name: str) -> Callable[[Any], object]:
        return lambda value: optional_text(value, name)

    def _check_tags(self, tags: Any) -> None:
        if len(checked_tags(tags, self.policy)) != len(tags):
            raise InvalidInput("tags has a tag twice.", remedy=_REMEDY)

    def _check_document(self, row: Mapping[str, Any]) -> None:
        for column in ("id", "name"):
            if len(row[column]) > _LONGEST_NAME:
                raise InvalidInput(f"The {column} of a document is too long.", remedy=_REMEDY)
        if depth_of(row["data"]) > DEEPEST:
            raise InvalidInput(f"A document is nested deeper than {DEEPEST} levels.", remedy=_REMEDY)
        if len(encoded(row["data"])) > _LONGEST_DOCUMENT:
            raise InvalidInput("A document is too large.", remedy=_REMEDY)
        if row["shelf"] == Shelf.FACT:
            _check_fact(row["data"])

    def _check_journal(self, row: Mapping[str, Any]) -> None:
        """Check both images of a line: undoing and repairing write them as rows."""
        _check_range("position", row["position"], *RANGES["position"])
        for side in ("before", "after"):
            try:
                image = parse_json(row[side]) if row[side] else None
            except ValueError as error:
                raise InvalidInput(
                    f"The {side} of a line of the journal is refused: {error}.", remedy=_REMEDY
                ) from error
            if image is None:
                continue
            if not isinstance(image, dict):
                raise InvalidInput(f"The {side} of a line of the journal is no object.", remedy=_REMEDY)
            self._check_image(str(row["target"]), image)

    def _check_image(self, target: str, image: Mapping[str, Any]) -> None:
        part = {Target.NAMESPACE: "namespace"}.get(Target(target), target)
        for column, value in image.items():
            if value is not None and column != "data":
                self._check(part, column, value)
        if target == Target.DOCUMENT and image.get("shelf") == Shelf.FACT and isinstance(image.get("data"), dict):
            _check_fact(image["data"])


def _check_range(column: str, value: Any, low: float, high: float) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not low <= value <= high:  # NaN is not
        raise InvalidInput(
            f"{column} must be a number from {low:g} to {high:g}, not {shown_value(value)}.", remedy=_REMEDY
        )


def _check_direction(vector: bytes) -> None:
    """Refuse a vector that no store wrote: each is scaled so that its largest value is at the end of the grid."""
    if max(map(abs, array("b", vector)), default=0) != _GRID:
        raise InvalidInput("A vector is not scaled as vectors are stored, or has no direction.", remedy=_REMEDY)


def _check_fact(data: Mapping[str, Any]) -> None:
    value = data.get("value")
    texts = {
        "subject": data.get("subject"),
        "predicate": data.get("predicate"),
        "value": value.get("text") if isinstance(value, dict) else value,
    }
    for name, text in texts.items():
        checked_text(text, f"The {name} of a fact", longest=LONGEST_OF_CLAIM[name])
    begin, end = data.get("valid_from_ms"), data.get("valid_to_ms")
    for name, at in (("valid_from_ms", begin), ("valid_to_ms", end)):
        if at is not None:
            _check_range(name, at, FIRST, LAST)
    if begin is not None and end is not None and end < begin:
        raise InvalidInput("valid_to of a fact is before valid_from.", remedy=_REMEDY)
    if (follower := data.get("followed_by")) is not None and not is_id(follower):
        raise InvalidInput("followed_by of a fact is no id.", remedy=_REMEDY)
