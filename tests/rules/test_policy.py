"""The policy: each key within its bounds, all faults at once, no threshold that is never reached."""

from __future__ import annotations

import json
import math
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import perdure
from conftest import every
from perdure.compose import load_policy
from perdure.formulas.strength import never_forgotten_from
from perdure.records.errors import PerdureError, PolicyError
from perdure.records.policy import PRESETS, Policy, sections
from perdure.rules.lifecycle.state_arrays import strength_parameters
from perdure.rules.policy_check import policy_from

KEYS = [(name, f) for name, section in sections().items() for f in fields(section)]
BOUNDED = [(n, f) for n, f in KEYS if f.metadata["low"] is not None]
CHOSEN = [(n, f) for n, f in KEYS if f.metadata["choices"]]
OTHER_TEXT = {
    "days.zone",
    *(
        "embedder.base_url",
        "embedder.path",
        "embedder.name",
        "embedder.key_variable",
        "gates.golden",
        "upkeep.backup_folder",
        "digest.file",
        "digest.namespace",
    ),
    "knowledge.file",
    *(f"{section}.{key}" for section in ("model", "reranker") for key in ("base_url", "name", "key_variable")),
    *("alerts.webhook", "alerts.webhook_secret_variable"),
}
SWITCHES = [(n, f) for n, f in KEYS if isinstance(f.default, bool)]


def named(pairs):
    return [f"{name}.{f.name}" for name, f in pairs]


def problems(data) -> tuple[str, ...]:
    try:
        policy_from(data)
    except PolicyError as error:
        return error.problems
    return ()


def refused(name: str, value: object) -> bool:
    section, key = name.split(".")
    return any(p.startswith((f"{name} must be", f"{name} must lie")) for p in problems({section: {key: value}}))


# --- each key


@pytest.mark.behaviour("P1")
@every(KEYS)
def test_every_key_has_a_default_within_its_bounds_and_a_meaning(name, key):
    assert len(key.metadata["help"]) > 10
    assert key.metadata["help"].endswith(".")
    assert not refused(f"{name}.{key.name}", key.default)
    bounded = key.metadata["low"] is not None and key.metadata["high"] is not None
    known = key.metadata["choices"] or isinstance(key.default, bool) or f"{name}.{key.name}" in OTHER_TEXT
    assert bounded or known


@pytest.mark.behaviour("P2")
@every(BOUNDED)
def test_bounds_are_inclusive_and_what_lies_outside_is_refused(name, key):
    low, high, full = key.metadata["low"], key.metadata["high"], f"{name}.{key.name}"
    kind = type(key.default)
    assert low < high
    assert not refused(full, kind(low))
    assert not refused(full, kind(high))
    step = 1 if kind is int else 1e-6 * max(1.0, abs(high))
    assert refused(full, low - step)
    assert refused(full, high + step)


@every(BOUNDED)
def test_numbers_must_be_finite_numbers(name, key):
    for value in (math.nan, math.inf, -math.inf, True, False, "1", None, [1], {}):
        assert refused(f"{name}.{key.name}", value), value


@pytest.mark.parametrize(("name", "key"), SWITCHES, ids=named(SWITCHES))
def test_a_switch_is_true_or_false_and_nothing_else(name, key):
    for value in (True, False):
        assert not refused(f"{name}.{key.name}", value)
    for value in (0, 1, 1.0, "true", "", None, []):
        assert refused(f"{name}.{key.name}", value), value


@every(sorted(OTHER_TEXT))
def test_a_text_may_be_empty_but_must_be_text(full):
    assert not refused(full, "")
    assert not refused(full, "any")
    for value in (0, 1.5, True, None, ["any"]):
        assert refused(full, value), value


@every([(n, f) for n, f in BOUNDED if isinstance(f.default, int)])
def test_whole_numbers_must_be_whole(name, key):
    assert refused(f"{name}.{key.name}", float(key.default))


def test_a_whole_number_is_welcome_where_a_number_is_wanted():
    policy = policy_from({"importance": {"half_life_days": 45}})
    assert policy.importance.half_life_days == 45.0
    assert isinstance(policy.importance.half_life_days, float)


@pytest.mark.parametrize(("name", "key"), CHOSEN, ids=named(CHOSEN))
def test_choices_are_accepted_and_nothing_else(name, key):
    assert key.default in key.metadata["choices"]
    for choice in key.metadata["choices"]:
        assert not refused(f"{name}.{key.name}", choice)
    for other in ("", "no such choice", key.default.upper(), 1, None, True):
        assert refused(f"{name}.{key.name}", other)


# --- all at once


@pytest.mark.behaviour("P3")
def test_all_faults_are_reported_at_once():
    found = problems(
        {
            "importance": {"half_life_days": 0, "shape": "square", "half_live": 3},
            "tiers": {"hot_messages": True},
            "no_such_section": {"a": 1},
            "archive": 5,
        }
    )
    assert len(found) == 6
    for words in ("half_life_days", "shape", "half_live", "hot_messages", "no_such_section", "archive"):
        assert any(words in p for p in found), words


def test_a_refusal_lists_each_fault_and_says_what_to_do():
    with pytest.raises(PolicyError) as caught:
        policy_from({"importance": {"floor": 2, "halflife": 1}})
    assert "(1)" in str(caught.value)
    assert "(2)" in str(caught.value)
    assert "from 0 to 0.5" in str(caught.value)
    assert "half_life_days" in str(caught.value)  # the keys that there are
    assert "perdure policy show" in caught.value.remedy
    assert isinstance(caught.value, PerdureError)
    assert caught.value.to_dict()["fault"] == "policy"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            'presett = "facts"',
            r"unknown key 'presett' \(did you mean preset\?\); the only key outside a section is preset",
        ),
        ("[embeder]\nmodel = 'none'", r"unknown section \[embeder\] \(did you mean embedder\?\); the sections are"),
        (
            "[tiers]\nhot_mesages = 3",
            r"unknown key 'hot_mesages' in \[tiers\] \(did you mean hot_messages\?\); its keys",
        ),
        ("[tiers]\nq = 3", r"unknown key 'q' in \[tiers\]; its keys"),
        (
            '[archive]\nexpire = "delete"',
            r"'expire' in \[archive\]; .* erased for good after upkeep.erase_archived_days",
        ),
        ('[tiers]\nexpire = "delete"', r"'expire' in \[tiers\]; .* erased for good after upkeep.erase_archived_days"),
        (
            'expire = "delete"',
            r"unknown key 'expire'; .* erased for good after upkeep.erase_archived_days days; set that",
        ),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest_that_there_is(tmp_path, text, told):
    path = tmp_path / "policy.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(PolicyError, match=told):
        perdure.open(":memory:", policy=path)


@pytest.mark.parametrize("preset", ["", "spatiel", 1, None, True])
def test_an_unknown_preset_is_refused_with_the_presets(preset):
    (fault,) = problems({"preset": preset})
    assert "balanced" in fault
    assert "tiered" in fault


def test_a_preset_of_another_type_is_refused():
    assert problems({"preset": ["balanced"]})


def test_an_unknown_preset_does_not_hide_other_faults():
    assert len(problems({"preset": "spatiel", "importance": {"floor": 2}})) == 2


def test_a_contradiction_is_reported_beside_a_wrong_key():
    assert len(problems({"value": {"frequency": 0.9}, "importance": {"floor": 2}})) == 2


@pytest.mark.parametrize("key", ["half_life_days", "floor"])
def test_a_number_beyond_all_bounds_is_refused(key):
    assert problems({"importance": {key: 10**400}})


# --- keys that contradict one another


@pytest.mark.behaviour("P9")
@every(
    [
        ({"value": {"frequency": 0.36}}, "sum to 1"),
        ({"value": {"frequency": 0.0}}, "sum to 1"),
        ({"tiers": {"warm_keep_value": 0.55}}, "warm_keep_value"),
        ({"tiers": {"hot_to_warm_value": 0.65}}, "hot_to_warm_value"),
        ({"tiers": {"warm_to_hot_value": 0.59}}, "warm_to_hot_value"),
        ({"embedder": {"model": "endpoint"}}, "base_url"),
        ({"embedder": {"model": "endpoint", "base_url": "http://localhost/v1"}}, "embedder.name"),
    ]
)
def test_contradictions_are_refused(data, words):
    assert any(words in p for p in problems(data))


@pytest.mark.parametrize(
    "data",
    [
        {"value": {"frequency": 0.30, "uniqueness": 0.20}},
        {"tiers": {"warm_keep_value": 0.5, "hot_to_warm_value": 0.5, "hot_keep_value": 0.5}},
        {"tiers": {"warm_to_hot_value": 0.6}},
        {"embedder": {"model": "endpoint", "base_url": "http://localhost/v1", "name": "m"}},
    ],
)
def test_what_fits_together_is_accepted(data):
    assert problems(data) == ()


def test_the_weight_of_words_cannot_exceed_all():
    assert problems({"recall": {"lexical_weight": 1.0, "lexical_by_coverage": 1.0}})


# --- thresholds that are never reached


@pytest.mark.behaviour("P4")
@every(
    [
        ({"archive": {"value_below": 0.0}}, "archive.value_below"),
        ({"archive": {"confidence_below": 0.0}}, "archive.confidence_below"),
        ({"confidence": {"daily_factor": 1.0}}, "archive.confidence_below"),
        ({"confidence": {"daily_factor": 1.0}, "archive": {"rule": "confidence"}}, "archive.confidence_below"),
        # e^(-λ·36525) is still over 0.3 where the factor is above 0.3^(1/36525) = 0.999967
        ({"confidence": {"daily_factor": 0.99997}}, "archive.confidence_below"),
        ({"tiers": {"warm_keep_value": 0.0}}, "tiers.warm_keep_value"),
        # (1 + 0.98 t / 2.3065)^-0.1542 is still over 0.2 after 78,000 days
        ({"retention": {"curve": "fsrs", "fsrs_review_below": 0.2}}, "retention.fsrs_review_below"),
        ({"compression": {"summary_value": 0.0}}, "compression.summary_value"),
        ({"compression": {"keywords_value": 0.0}}, "compression.keywords_value"),
        ({"compression": {"embedding_value": 0.0}}, "compression.embedding_value"),
    ]
)
def test_a_threshold_that_no_curve_reaches_in_a_hundred_years_is_refused(data, words):
    (fault,) = problems(data)
    assert words in fault
    assert "never reached" in fault


@every(
    [
        {"confidence": {"daily_factor": 0.99996}},
        {"confidence": {"daily_factor": 1.0}, "archive": {"rule": "value"}},
        {"confidence": {"daily_factor": 1.0}, "archive": {"rule": "never"}},
        {"archive": {"rule": "confidence", "value_below": 0.0}},
        {"archive": {"rule": "value", "confidence_below": 0.0}},
        {"archive": {"value_below": 0.001}},
        {"retention": {"curve": "fsrs", "fsrs_review_below": 0.25}},
        {"retention": {"fsrs_review_below": 0.2}},
        {"retention": {"strength_days": 3650.0, "review_below": 0.01}},
        {"retention": {"curve": "fsrs", "review_below": 0.01, "strength_days": 3650.0}},
        {"compression": {"rule": "never", "summary_value": 0.0}},
    ]
)
def test_a_threshold_that_is_reached_or_not_used_is_accepted(data):
    assert problems(data) == ()


NOTHING_SINKS = {"forgetting_threshold": 0.0}
"""The threshold of importance 0 is then 0 + 0.5 x 0.08 = 0.04, under both baselines (0.06 and 0.08)."""


@pytest.mark.behaviour("SG74")
@every(
    [
        ({"strength_session": NOTHING_SINKS, "strength_long_term": NOTHING_SINKS}, True),
        ({"strength_long_term": NOTHING_SINKS}, False),  # sessions are still forgotten
        ({"strength_session": NOTHING_SINKS}, False),
        ({"strength": {"minimum": 0.5}}, True),  # no baseline is under any threshold
        ({"strength": {"minimum": 0.5, "floor": 0.5}}, False),
        ({}, False),
    ]
)
def test_a_rule_of_strength_under_which_nothing_is_ever_forgotten_is_refused(data, stops):
    found = problems({"preset": "activation", **data})
    assert ["never hide anything" in fault for fault in found] == [True] * stops
    assert problems(data) == ()  # another rule does not ask


@pytest.mark.behaviour("SG73")
def test_the_documents_say_which_importances_are_never_forgotten():
    """field.md, trap in 003: with the defaults above about 0.12 to 0.30."""
    policy = Policy()
    keys = strength_parameters(policy, np.arange(3))
    safe = dict(zip(("task", "session", "long-term"), never_forgotten_from(keys).tolist(), strict=True))
    assert safe == pytest.approx({"task": 0.27, "session": 0.30, "long-term": 0.12}, abs=0.005)
    text = (Path(__file__).resolve().parents[2] / "docs" / "explanation.md").read_text("utf-8")
    said = dict(re.findall(r"^\| (task|session|long-term) \| above (\d\.\d\d) \|", text, re.MULTILINE))
    assert said == {scope: f"{importance:.2f}" for scope, importance in safe.items()}


# --- presets, versions, files


@pytest.mark.behaviour("P5")
def test_the_default_is_balanced():
    assert policy_from(None) == policy_from({}) == policy_from({"preset": "balanced"}) == Policy()


@pytest.mark.behaviour("P6")
@every(sorted(PRESETS))
def test_every_preset_loads_and_differs_from_the_others_only_where_it_says(preset):
    policy = policy_from({"preset": preset})
    assert policy.preset == preset
    for name, key in KEYS:
        said = PRESETS[preset].get(name, {})
        value = getattr(getattr(policy, name), key.name)
        assert value == said.get(key.name, key.default)


def test_a_key_in_the_file_wins_over_the_preset():
    policy = policy_from({"preset": "tiered", "archive": {"value_below": 0.05}})
    assert policy.archive.value_below == 0.05
    assert policy.archive.rule == "value"


def changed(key) -> object:
    """A value of the key other than its default, within its bounds."""
    if key.metadata["choices"]:
        return next(c for c in key.metadata["choices"] if c != key.default)
    if isinstance(key.default, bool):
        return not key.default
    if isinstance(key.default, str):
        return "other"
    low, high = key.metadata["low"], key.metadata["high"]
    return type(key.default)(low if key.default != low else high)


@pytest.mark.behaviour("P7")
def test_the_version_follows_every_key():
    versions = {Policy().version, policy_from({"preset": "tiered"}).version}
    for name, key in KEYS:
        section = sections()[name]
        # built past the check: some values on their own would contradict others
        versions.add(Policy(**{name: section(**{key.name: changed(key)})}).version)
    undecided = {"limits": {"call_seconds": 5}}, {"upkeep": {"file_permissions": "group"}}  # about what is stored
    assert len(versions) == len(KEYS) + 2 - len(undecided)
    assert {policy_from(values).version for values in ({}, *undecided)} == {Policy().version}


def toml(policy: Policy) -> str:
    """A policy as a file, written the way TOML's specification says."""
    lines = [f'preset = "{policy.preset}"']
    for name, section in policy.to_dict().items():
        if name != "preset":
            lines.append(f"[{name}]")
            lines += [f"{k} = {json.dumps(v)}" for k, v in section.items()]  # texts, numbers and switches are alike
    return "\n".join(lines)


@pytest.mark.behaviour("P8")
@pytest.mark.parametrize(
    "data",
    [
        {},
        {"preset": "tiered"},
        {"importance": {"half_life_days": 12.5, "shape": "step"}, "gates": {"loss_share": 1}},
    ],
)
def test_a_policy_survives_the_round_trip_through_a_file(tmp_path, data):
    policy = policy_from(data)
    text = toml(policy)
    assert policy_from(tomllib.loads(text)) == policy
    path = tmp_path / "perdure.toml"
    path.write_text(text, "utf-8")
    assert load_policy(path) == policy
    assert load_policy(path).version == policy.version


def test_a_file_that_is_missing_or_no_toml_is_a_policy_error(tmp_path):
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policy(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("[importance\nfloor = ", "utf-8")
    with pytest.raises(PolicyError, match="not valid TOML"):
        load_policy(broken)
    broken.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match="not valid TOML"):
        load_policy(broken)


def test_a_deprecated_value_in_a_policy_file_means_what_it_meant():
    assert policy_from({"embedder": {"model": "minilm"}}) == policy_from({"embedder": {"model": "local"}}) == Policy()
