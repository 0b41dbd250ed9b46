"""From plain data to a Policy: every fault is reported at once, and thresholds that no curve reaches are refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, fields, replace
from typing import Any, Final

import numpy as np

from perdure.formulas.confidence import ConfidenceCurve
from perdure.formulas.curve import HORIZON_DAYS, Curve
from perdure.formulas.fsrs import GOOD, PowerRetentionCurve, first_review
from perdure.formulas.strength import RetentionCurve, StrengthCurve, reinforce_strength
from perdure.formulas.value import ValueCurve
from perdure.records.errors import PolicyError
from perdure.records.policy import (
    EXPECTED_KEYS,
    PRESET_ALIASES,
    PRESETS,
    REPLACED_KEYS,
    VALUE_ALIASES,
    Policy,
    sections,
)
from perdure.rules.lifecycle.state_arrays import LONG_TERM, SESSION, strength_parameters, value_weights

_ROUNDING: Final = 1e-9


def policy_from(data: Mapping[str, Any] | None) -> Policy:
    """Return the policy that plain data (a parsed TOML file or a dict) describes.

    What ``{"preset": ..., "section": {"key": value}}`` leaves out takes the preset's value.

    Raises:
        PolicyError: One or more keys are unknown, of the wrong type, out of bounds, or contradict each other.
    """
    settings = dict(data or {})
    preset = settings.pop("preset", "balanced")
    preset = PRESET_ALIASES.get(preset, preset) if isinstance(preset, str) else preset
    problems: list[str] = []
    if not isinstance(preset, str) or preset not in PRESETS:
        problems.append(f"preset {preset!r} is not one of {', '.join(sorted(PRESETS))}.")
        preset = "balanced"
    defaults, chosen = Policy(), {}
    known = sections()
    problems += [_unknown_name(str(name), settings[name], list(known)) for name in settings if name not in known]
    for name in known:
        own = settings.get(name, {})
        if not isinstance(own, Mapping):
            problems.append(f"[{name}] must be a table of keys.")
            continue
        values, faults = _section(name, known[name], {**PRESETS[preset].get(name, {}), **own})
        problems += faults
        if values:
            chosen[name] = replace(getattr(defaults, name), **values)
    policy = replace(defaults, preset=preset, **chosen)
    problems += [*contradictions(policy), *unreachable(policy)]
    if problems:
        raise PolicyError(tuple(problems))
    return policy


def _unknown_name(name: str, value: Any, known: Sequence[str]) -> str:
    """What is wrong with a name at the top of a policy."""
    if isinstance(value, Mapping):
        return f"unknown section [{name[:100]}]{_suggestion(name, known)}; the sections are {', '.join(known)}."
    if name in EXPECTED_KEYS:
        return f"unknown key {name!r}; {EXPECTED_KEYS[name]}."
    others = f"the only key outside a section is preset; the sections are {', '.join(known)}."
    return f"unknown key {name[:100]!r}{_suggestion(name, ('preset', *known))}; {others}"


def _suggestion(name: str, known: Iterable[str]) -> str:
    """Return the name that was probably meant, as a clause; empty if none is near."""
    from difflib import get_close_matches  # noqa: PLC0415  # start-up time

    near = get_close_matches(name[:100], list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _section(name: str, kind: type, settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    known = {f.name: f for f in fields(kind)}
    values: dict[str, Any] = {}
    problems: list[str] = []
    for key, setting in settings.items():
        if by := REPLACED_KEYS.get((name, key)):
            problems.append(f"{name}.{key} was replaced by {by}: remove it, or set {by}.")
            continue
        if key not in known:
            meant = EXPECTED_KEYS.get(str(key)) or f"its keys are {', '.join(known)}"
            near = "" if key in EXPECTED_KEYS else _suggestion(str(key), known)
            problems.append(f"unknown key {str(key)[:100]!r} in [{name}]{near}; {meant}.")
            continue
        value = setting
        if isinstance(value, str):
            value = VALUE_ALIASES.get((name, key, value), value)
        fault = _fault(known[key], value)
        if fault:
            problems.append(f"{name}.{key} {fault}")
        else:
            values[key] = float(value) if isinstance(known[key].default, float) else value
    return values, problems


def _fault(declared: Field[Any], value: Any) -> str:
    kind: Any = type(declared.default)
    if isinstance(value, bool) is not (kind is bool) or not isinstance(value, (int, float) if kind is float else kind):
        return f"must be {_noun(kind)}, not {value!r}."
    if choices := declared.metadata["choices"]:
        return "" if value in choices else f"must be one of {', '.join(choices)}, not {value!r}."
    low, high = declared.metadata["low"], declared.metadata["high"]
    if low is not None and not low <= value <= high:
        return f"must be {_noun(kind)} from {low:g} to {high:g}, not {value!r}."
    return ""


def _noun(kind: type) -> str:
    return {float: "a number", int: "a whole number", str: "text", bool: "true or false"}[kind]


def contradictions(policy: Policy) -> Iterator[str]:
    """Yield each way in which keys contradict one another."""
    tiers = policy.tiers
    try:
        _ = policy.days.tz
    except (ValueError, KeyError, OSError):
        yield f"days.zone {policy.days.zone[:50]!r} is no time zone: write a name such as Europe/Berlin, UTC or local."
    total = sum(value_weights(policy))
    if abs(total - 1.0) > _ROUNDING:
        yield f"the weights of [value] must sum to 1, not {total:g}."
    if not tiers.warm_keep_value <= tiers.hot_to_warm_value <= tiers.hot_keep_value:
        yield (
            "tiers: warm_keep_value <= hot_to_warm_value <= hot_keep_value must hold, "
            "or a memory that leaves one tier would leave the next one at once."
        )
    if tiers.warm_to_hot_value < tiers.hot_keep_value:
        yield "tiers.warm_to_hot_value must not be below tiers.hot_keep_value, or a memory would move back and forth."
    if policy.recall.lexical_weight + policy.recall.lexical_by_coverage > 1.0:
        yield "recall.lexical_weight plus recall.lexical_by_coverage must not exceed 1."
    if policy.embedder.model == "endpoint" and not (policy.embedder.base_url and policy.embedder.name):
        yield "embedder.model = 'endpoint' needs embedder.base_url and embedder.name."


def unreachable(policy: Policy) -> Iterator[str]:
    """Yield each threshold that its curve does not reach within 100 years, not even for the least valued memory."""
    for name, curve, threshold, used in (*_of_retention(policy), *_of_confidence_and_value(policy)):
        if used and not float(curve.value(HORIZON_DAYS)[0]) < threshold:  # cheaper than the instant of the crossing
            yield f"{name} = {threshold:g} is never reached: its curve stays above it for 100 years."
    if policy.archive.rule == "strength" and not _something_is_forgotten(policy):
        yield (
            "archive.rule = 'strength' would never hide anything: neither session nor long-term memories, not even of "
            "importance 0, fall to their forgetting_threshold within 100 years."
        )


Check = tuple[str, Curve, float, bool]  # key, curve of the least valued memory, threshold, whether the policy uses it


def _of_retention(policy: Policy) -> list[Check]:
    keys, one = policy.retention, np.ones(1)
    exponential = RetentionCurve(one * 0.0, keys.strength_days, keys.growth)
    newborn = PowerRetentionCurve(one * first_review(GOOD)[0])
    return [
        ("retention.review_below", exponential, keys.review_below, keys.curve == "exponential"),
        ("retention.fsrs_review_below", newborn, keys.fsrs_review_below, keys.curve == "fsrs"),
    ]


def _of_confidence_and_value(policy: Policy) -> list[Check]:
    one, archive, compression = np.ones(1), policy.archive, policy.compression
    fading = ConfidenceCurve(one, one * -math.log(policy.confidence.daily_factor))
    shares = value_weights(policy)
    worst = ValueCurve(one, one * 0.0, ConfidenceCurve(one * 0.0, one), one * 0.0, one * 0.0, one * 0.0, shares)
    shrinks = compression.rule == "triggers"
    return [
        ("archive.confidence_below", fading, archive.confidence_below, archive.rule in ("confidence", "both")),
        ("archive.value_below", worst, archive.value_below, archive.rule in ("value", "both")),
        ("tiers.warm_keep_value", worst, policy.tiers.warm_keep_value, True),
        ("tiers.hot_keep_value", worst, policy.tiers.hot_keep_value, True),
        ("compression.summary_value", worst, compression.summary_value, shrinks),
        ("compression.keywords_value", worst, compression.keywords_value, shrinks),
        ("compression.embedding_value", worst, compression.embedding_value, shrinks),
    ]


def _something_is_forgotten(policy: Policy) -> bool:
    """Whether a memory of importance 0, just learned and never used, is forgotten in one of the two scopes."""
    nothing = np.zeros(2)
    keys = strength_parameters(policy, np.array([SESSION, LONG_TERM]))
    resting = StrengthCurve(nothing, nothing, nothing, keys).baseline()
    learned = StrengthCurve(*reinforce_strength(resting, nothing, nothing, 1.0, keys), nothing, keys)
    return bool(np.any(learned.forgotten_age() <= HORIZON_DAYS))
