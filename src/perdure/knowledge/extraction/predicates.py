"""What facts are about: the table of predicates, their sorts, and which of them have many values at once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from perdure.knowledge.extraction.lemmas import base_verb, singular
from perdure.records.errors import PolicyError

UNNAMED: Final = "value"
"""The predicate of a correction that names none ("I meant Thursday, not Friday"): the fact is found by its ``old``."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_]{0,99}")
_WORDS: Final = re.compile(r"[^\W_]+")
_SPELT: Final = {"favourite": "favorite", "colour": "color", "centre": "center", "licence": "license"}
"""One spelling for both sides of the ocean."""
_MOST: Final = 1000


@dataclass(frozen=True, slots=True)
class Predicate:
    """One row of the table.

    Attributes:
        type: Sort: preference, policy, contact, address, job, name, date, measure, status, possession, hobby, ...
        many: Several values hold at once: a hobby adds, an address supersedes.
        rate: Decay of confidence per day for facts of this predicate; None for the policy's.
    """

    type: str
    many: bool = False
    rate: float | None = None


def _rows(kind: str, names: str, *, many: bool = False) -> dict[str, Predicate]:
    return {name: Predicate(kind, many) for name in names.split()}


SHIPPED: Final[Mapping[str, Predicate]] = {
    **_rows("preference", "preference like dislike enjoy love fan interest", many=True),
    **_rows(
        "preference", "day_preference delivery_day_preference time_preference delivery_time_preference diet favorite"
    ),
    **_rows("policy", "policy rule", many=True),
    **_rows("policy", "payment_term payment_method delivery_day delivery_time return_policy"),
    **_rows("contact", "contact friend", many=True),
    **_rows("contact", "email phone website handle contact_person manager"),
    **_rows("address", "home hometown birthplace address location country city headquarter hq"),
    **_rows("job", "employer occupation role salary title department"),
    **_rows("job", "skill", many=True),
    **_rows("name", "name nickname"),
    **_rows(
        "date",
        "birthday deadline anniversary due_date start_date end_date release_date launch_date meeting_date birth_year",
    ),
    **_rows(
        "measure",
        "age height weight budget price cost count goal target accuracy response_time limit rate score dose "
        "lead_time build_time",
    ),
    **_rows("status", "status marital_status stage progress version plan mood"),
    **_rows("possession", "have own pet allergy", many=True),
    **_rows("hobby", "hobby sport play practice collect", many=True),
    **_rows("activity", "do visit attend join start finish meet use try", many=True),
    **_rows(
        "setting",
        "timezone editor branch database framework language port host url repository repo path indentation "
        "theme shell os browser version platform stack toolchain linter formatter tracker domain username blood_type "
        "package_manager log_level channel tier "
        "runner registry provider region encoding engine license",
    ),
    **_rows("description", "is description", many=True),
    **_rows("value", UNNAMED),
}
"""Predicate -> its row. A longer predicate is of the sort of its last words: ``winter_book_goal`` is a ``goal``."""

_SAME: Final = """
home: live_in live_at reside_in residence based_in located_in move_to relocate_to home_address home_city;
hometown: from come_from be_from;
birthplace: born_in grow_up_in;
employer: work_at work_for company workplace employed_by;
occupation: work_as job profession job_title career day_job;
name: called full_name be_called;
phone: phone_number telephone cell mobile mobile_number number_to_call;
email: email_address mail e_mail;
birthday: date_of_birth born_on birth_date;
deadline: due_date cutoff submission_deadline due;
delivery_day_preference: preferred_delivery_day shipping_day_preference shipment_day_preference
    delivery_preference_day;
delivery_day: ship_day shipping_day shipment_day deliver_day;
delivery_time: ship_time shipping_time deliver_time;
payment_term: billing_terms terms_of_payment invoice_terms;
hobby: pastime passion;
enjoy: be_into into adore;
like: fond_of love favor;
dislike: hate can_t_stand detest avoid;
fan: fan_of big_fan_of huge_fan_of;
interest: interested_in passionate_about keen_on;
visit: go_to travel_to fly_to drive_to head_to;
join: sign_up_for enroll_in register_for enter;
attend: take_part_in participate_in;
finish: complete wrap_up;
start: begin take_up kick_off;
use: rely_on work_with;
own: possess;
skill: speak code_in program_in;
timezone: time_zone tz;
payment_method: pay_by pay_with;
goal: aim objective
"""
SYNONYMS: Final[Mapping[str, str]] = {
    "_".join(_SPELT.get(singular(word), singular(word)) for word in other.split("_")): name.strip()
    for name, _, others in (row.partition(":") for row in _SAME.strip().split(";"))
    for other in others.split()
}
"""What means the same -> the predicate; both in normal form."""

_LIKING: Final = frozenset({"preference", "like", "enjoy", "fan", "interest", "favorite"})
_ANSWERS: Final = """
old: age birth birthday; tall: height; heavy: weight; weigh: weight; much: price cost budget rent salary fee amount
dose rate; cost: price cost rent fee; pay: payment method term price salary; earn: salary income; many: count; born:
birthplace birthday birth; boss: manager boss; manager: manager boss lead; married: marital status husband wife;
spouse: husband wife partner; reach: contact phone email; allergic: allergy; eat: diet eat allergy; language: skill
language; located: location address home; office: office location address; deliver: delivery day time; delivery:
delivery day time; ship: delivery day time; due: deadline date; expire: end date; end: end date; start: start date;
medication: dose take; medicine: dose take
"""
_ASKED: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(
        ["want", "need", "like", "prefer", "enjoy", "love", "favorite", "favourite", "wish", "taste"], _LIKING
    ),
    **dict.fromkeys(("hate", "dislike", "avoid"), frozenset({"dislike"})),
    **{
        word.strip(): frozenset(names.split()) for word, _, names in (row.partition(":") for row in _ANSWERS.split(";"))
    },
}
"""Word of a question -> words of the predicates that answer it."""


@dataclass(frozen=True, slots=True)
class Predicates:
    """The shipped table together with a person's own, which wins.

    Attributes:
        synonyms: Normal form -> predicate.
        table: Predicate -> its row.
    """

    synonyms: Mapping[str, str] = field(default_factory=lambda: dict(SYNONYMS))
    table: Mapping[str, Predicate] = field(default_factory=lambda: dict(SHIPPED))

    def name(self, words: str) -> str:
        """Return the normal form of a predicate: lower case, singulars, ``_`` between words, synonyms replaced.

        Args:
            words: As said or in normal form: ``Delivery days``, ``works at`` comes as ``work_at``.
        """
        known = "_".join(_parts(words)) or UNNAMED
        seen: set[str] = set()
        while known in self.synonyms and known not in seen:
            seen.add(known)
            known = self.synonyms[known]
        return known

    def row(self, name: str) -> Predicate:
        """Return what is known of a predicate in normal form: its own row, or that of its last words."""
        if found := self._found(name):
            return found
        return Predicate("preference") if name.startswith("favorite_") else Predicate("attribute")

    def has(self, name: str) -> bool:
        """Whether the table names a predicate in normal form, or its last words: then no answer teaches otherwise."""
        return self._found(name) is not None

    def _found(self, name: str) -> Predicate | None:
        parts = name.split("_")
        rows = (self.table.get("_".join(parts[start:])) for start in range(len(parts)))
        return next((row for row in rows if row is not None), None)

    def asked(self, words: Iterable[str]) -> frozenset[str]:
        """Return the words of the predicates that a question may mean: "Where does Ana live?" asks for a home.

        "What does she want?" asks for whatever she prefers, likes or enjoys; "how old" for an age, "how many" for a
        count. What no predicate is called by means nothing here.

        Args:
            words: Of the question, lower case; each may be given by itself to see what it means.
        """
        found: set[str] = set()
        for word in words:
            verb = base_verb(word) or word
            for form in (word, verb, singular(word)):
                found |= _ASKED.get(form, frozenset())
                found |= {form} if form in self.table else set()
            for form in (word, verb, *(f"{verb}_{place}" for place in ("in", "at", "for", "as", "to"))):
                if (name := self.synonyms.get(form)) is not None:
                    found |= set(name.split("_"))
        return frozenset(found)

    def akin(self, one: str, other: str) -> bool:
        """Return whether two predicates may be about the same: a family that a matcher may look through.

        They share their last word, and one has every word of the other: ``day_preference`` and
        ``delivery_day_preference``, ``deadline`` and ``draft_deadline``. ``value``, the predicate of a correction that
        names none, is akin to all: its ``old`` value says which fact is meant.
        """
        if UNNAMED in (one, other):
            return True
        first, second = one.split("_"), other.split("_")
        return first[-1] == second[-1] and (set(first) <= set(second) or set(second) <= set(first))


def predicates_from(data: Mapping[str, Any], name: str) -> Predicates:
    """Return the shipped table merged with a person's own, from a parsed TOML file.

    Other top-level tables (``authorities``) are not read here.

    Args:
        data: ``{"synonyms": {"ship day": "delivery_day"}, "predicates": {"hobby": {"type", "many", "rate"}}}``.
        name: The file, for messages.

    Raises:
        PolicyError: Something is refused; all faults are listed.
    """
    problems: list[str] = []
    own = _table(data, "predicates", name, problems)
    table = dict(SHIPPED)
    for predicate, row in own.items():
        try:
            table[_named(predicate)] = _row(row, SHIPPED.get(_named(predicate)))
        except (TypeError, ValueError) as error:
            problems.append(f"{name}, [predicates.{predicate}]: {error}")
    synonyms = dict(SYNONYMS)
    for said, meant in _table(data, "synonyms", name, problems).items():
        try:
            synonyms[_named(said)] = _named(meant)
        except (TypeError, ValueError) as error:
            problems.append(f"{name}, [synonyms] {said!r}: {error}")
    problems += [f"{name}, [synonyms] {start!r}: it leads back to itself." for start in _circles(synonyms)]
    if problems:
        raise PolicyError(tuple(problems), remedy='Write [synonyms] a = "b" and [predicates.NAME] type, many, rate.')
    return Predicates(synonyms, table)


def _parts(words: str) -> list[str]:
    """Return the words of a name as singulars, in one spelling."""
    forms = (singular(word) for word in _WORDS.findall(words.casefold()))
    return [_SPELT.get(form, form) for form in forms]


def _table(data: Mapping[str, Any], key: str, name: str, problems: list[str]) -> Mapping[str, Any]:
    found = data.get(key, {})
    if not isinstance(found, Mapping) or len(found) > _MOST:
        problems.append(f"{name}: [{key}] must be a table of at most {_MOST} entries.")
        return {}
    return found


def _named(words: Any) -> str:
    """Return a name in normal form, refusing what has none."""
    if not isinstance(words, str):
        raise TypeError("a name must be a text.")
    name = "_".join(_parts(words))
    if not _NAME.fullmatch(name):
        raise ValueError(f"{words[:40]!r} is no name: use up to 100 Latin letters, digits and _.")
    return name


def _row(row: Any, shipped: Predicate | None) -> Predicate:
    if not isinstance(row, Mapping):
        raise TypeError("it is no table.")
    if unknown := sorted(set(row) - {"type", "many", "rate"}):
        raise TypeError(f"there is no key {unknown[0]!r}; the keys are many, rate, type.")
    before = shipped or Predicate("attribute")
    kind, many, rate = row.get("type", before.type), row.get("many", before.many), row.get("rate", before.rate)
    if not isinstance(kind, str) or not _NAME.fullmatch(kind):
        raise TypeError("type must be a name of small letters.")
    if not isinstance(many, bool):
        raise TypeError("many must be true or false.")
    if rate is not None:
        if isinstance(rate, bool) or not isinstance(rate, int | float):
            raise TypeError("rate must be a number.")
        if not (math.isfinite(rate) and 0 <= rate <= 1):
            raise ValueError("rate must be from 0 to 1 a day.")
    return Predicate(kind, many, None if rate is None else float(rate))


def _circles(synonyms: Mapping[str, str]) -> list[str]:
    found = []
    for start in synonyms:
        at, seen = start, set()
        while at in synonyms and at not in seen:
            seen.add(at)
            at = synonyms[at]
        if at in seen and at == start:
            found.append(start)
    return found
