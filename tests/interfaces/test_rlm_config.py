"""The configuration file rlm-config.json: read where no policy is named, beneath a policy file, never silently."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import pytest

import perdure
from conftest import HashEmbedder
from perdure.compose_policy import RLM_KEYS, RLM_VARIABLE, rlm_file
from perdure.records.errors import PolicyError
from perdure.records.policy import Policy

SEED = {
    "consolidation_threshold": 0.5,
    "promotion_threshold": 0.8,
    "decay_factor": 0.95,
    "decay_min_confidence": 0.3,
    "decay_interval_hours": 24,
}
OTHER = {
    "consolidation_threshold": 0.6,
    "promotion_threshold": 0.9,
    "decay_factor": 0.9,
    "decay_min_confidence": 0.2,
    "decay_interval_hours": 48,
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder of the test's own, and no policy anywhere."""
    for name in ("HOME", "USERPROFILE", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv(RLM_VARIABLE)
    monkeypatch.delenv("PERDURE_POLICY", raising=False)
    (tmp_path / ".claude").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def write(home, data):
    path = home / ".claude" / "rlm-config.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), "utf-8")
    return path


def own_policy(home):
    """Return the policy file of the user's configuration folder."""
    (home / "perdure").mkdir(exist_ok=True)
    return home / "perdure" / "perdure.toml"


def keys(policy):
    return {name: getattr(getattr(policy, section), key) for name, (section, key) in RLM_KEYS.items()}


def test_the_seeds_own_file_is_read_from_the_home_folder(home):
    assert perdure.load_policy() == Policy()
    assert rlm_file() == write(home, {"memory": SEED})
    assert keys(perdure.load_policy()) == SEED


@pytest.mark.behaviour("AG40")
def test_each_of_the_five_keys_reaches_its_own(home):
    write(home, {"memory": OTHER, "other": "of another program"})
    assert keys(perdure.load_policy()) == OTHER
    with perdure.open(":memory:", embedder="none") as memory:
        assert keys(memory.policy) == OTHER
    for name, value in OTHER.items():
        write(home, {"memory": {name: value}})
        assert keys(perdure.load_policy()) == {**keys(Policy()), name: value}


def _promotes(memory, clock):
    memory.remember("The gate code is with the porter.", session="s", confidence=0.85)
    return memory.promote("s").promoted_count


def _doubts(memory, clock):
    kept = memory.remember("The gate code is with the porter.", confidence=0.8)
    clock.passes(days=10)
    return round(memory.get(kept.id).confidence, 6)


def _hides(memory, clock):
    memory.remember("The gate code is with the porter.")
    kept = memory.remember("The gate code is with the porter, they say.", confidence=0.25, importance=0.0)
    clock.passes(days=100)
    memory.sweep()
    return memory.get(kept.id) is None


def _merges(memory, clock):
    """Two that say the same and share two of three edges."""
    texts = ("The gate code is with the porter.", "The gate code is with the porter")
    one, other = (memory.remember(text, task="t", confidence=0.9).id for text in texts)
    for edge in ([one, other], [one, other], [one, memory.remember("x", task="t").id]):
        memory.relate(edge)
    return memory.complete_task("t", dry_run=True).merged_count


def _reports(memory, clock):
    memory.remember("The gate code is with the porter.")
    clock.passes(hours=1)
    runs = []
    for _ in range(8):
        runs += [run.task for run in memory.upkeep("worker").runs]
        clock.passes(hours=12)
    return runs.count("report")


@pytest.mark.behaviour("AG40")
@pytest.mark.parametrize(
    ("key", "shows", "seen"),
    [
        ("promotion_threshold", _promotes, {0.8: 1, 0.9: 0}),
        ("decay_factor", _doubts, {0.95: round(0.8 * 0.95**10, 6), 0.9: round(0.8 * 0.9**10, 6)}),
        ("decay_min_confidence", _hides, {0.3: True, 0.2: False}),
        ("consolidation_threshold", _merges, {0.6: 1, 0.7: 0}),
        ("decay_interval_hours", _reports, {24: 4, 48: 2}),
    ],
)
def test_each_of_the_five_keys_has_its_effect_in_a_store(home, clock, key, shows, seen):
    found = {}
    for value in seen:
        write(home, {"memory": {key: value}})
        with perdure.open(":memory:", embedder=HashEmbedder(), clock=clock) as memory:
            found[value] = shows(memory, clock)
    assert found == seen


@pytest.mark.behaviour("RLM2")
@pytest.mark.parametrize(
    ("decay", "day"),
    [({"decay_factor": 0.9, "decay_min_confidence": 0.4}, 7), ({"decay_factor": 0.9}, 10)],  # 0.8 * 0.9**7 < 0.4
)
def test_low_confidence_alone_archives_whatever_the_value(home, clock, decay, day):
    write(home, {"memory": decay})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        memory = perdure.open(":memory:", embedder="none", clock=clock)
    with memory:
        kept = memory.remember("The ferry to Turku leaves from pier four.", importance=0.9)
        for _ in range(day - 1):
            clock.passes(days=1)
            memory.sweep()
            assert memory.get(kept.id) is not None
        clock.passes(days=1)
        memory.sweep()
        assert memory.get(kept.id) is None
        assert memory.get(kept.id, include_archived=True).status == "archived"
        assert memory.restore(kept.id).changed
        assert memory.get(kept.id) is not None


@pytest.mark.behaviour("RLM2")
@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        ("", "confidence"),
        ("[archive]\ncold_days = 10\n", "confidence"),
        ('[archive]\nrule = "value"\n', "value"),
        ('preset = "tiered"\n[confidence]\ndaily_factor = 1.0\n', "value"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_policy_file_may_say_what_archives(home, policy, rule):
    write(home, {"memory": {"promotion_threshold": 0.9}})
    assert perdure.load_policy().archive.rule == "both"
    write(home, {"memory": OTHER})
    own_policy(home).write_text(policy, "utf-8")
    assert perdure.load_policy().archive.rule == rule


@pytest.mark.behaviour("AG41")
def test_a_policy_files_own_values_win(home):
    write(home, {"memory": OTHER})
    own = "[confidence]\ndaily_factor = 0.99\nnote = 0.7\n\n[archive]\ncold_days = 10\n"
    own_policy(home).write_text(own, "utf-8")
    with pytest.warns(UserWarning, match="decay_factor has no effect"):
        policy = perdure.load_policy()
    assert keys(policy) == {**OTHER, "decay_factor": 0.99}
    assert (policy.confidence.note, policy.archive.cold_days) == (0.7, 10.0)


def test_a_policy_that_is_named_stands_alone(home):
    write(home, {"memory": OTHER})
    named = home / "named.toml"
    named.write_text("", "utf-8")
    assert perdure.load_policy(named) == perdure.load_policy({}) == Policy()
    with perdure.open(":memory:", policy={}, embedder="none") as memory:
        assert memory.policy == Policy()


def test_another_place_can_be_named(home, monkeypatch):
    write(home, {"memory": OTHER})
    monkeypatch.setenv(RLM_VARIABLE, str(home / "nothing.json"))
    assert perdure.load_policy() == Policy()


def test_keys_that_are_not_known_are_named(home):
    path = write(home, {"memory": {"decay_factor": 0.9, "decay_facter": 0.5, "colour": 1}})
    with pytest.warns(UserWarning, match="colour, decay_facter") as told:
        assert keys(perdure.load_policy())["decay_factor"] == 0.9
    assert str(path) in str(told[0].message)


@pytest.mark.behaviour("RLM1")
@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("[confidence]\ndaily_factor = 0.99\n", "decay_factor has no effect: the policy file sets confidence.daily"),
        ('preset = "activation"\n', "decay_min_confidence has no effect: archive.rule is 'strength'"),
        (
            '[archive]\nrule = "both"\n',
            "decay_min_confidence acts only where the value is low, too: .*Set archive.rule",
        ),
        ('preset = "balanced"\n', "decay_min_confidence acts only where the value is low, too: .*Set archive.rule"),
    ],
)
def test_a_key_that_decides_nothing_is_named(home, policy, told):
    path = write(home, {"memory": OTHER})
    own_policy(home).write_text(policy, "utf-8")
    with pytest.warns(UserWarning, match=told) as warned:
        perdure.load_policy()
    assert [str(path) in str(w.message) for w in warned] == [True]


@pytest.mark.behaviour("AG42")
@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", "must be an object"),
        ({"memory": 7}, "must be an object"),
        ({"memory": {"decay_factor": "fast"}}, "decay_factor: confidence.daily_factor must be a number"),
        ({"memory": {"decay_factor": True}}, "decay_factor: confidence.daily_factor must be a number"),
        ({"memory": {"decay_factor": 1.5}}, "decay_factor: confidence.daily_factor must be a number from 0.5 to 1"),
        ({"memory": {"decay_interval_hours": 0}}, "decay_interval_hours: upkeep.report_hours must be a"),
        ({"memory": {"promotion_threshold": None}}, "promotion_threshold: tasks.promotion_confidence must be a number"),
        ('{"memory": {"decay_factor": NaN}}', "decay_factor: confidence.daily_factor must be a number from"),
    ],
)
def test_faults_name_the_file(home, data, problem):
    path = write(home, data)
    with pytest.raises(PolicyError, match=r"rlm-config\.json") as refused:
        perdure.load_policy()
    assert problem in str(refused.value)
    assert str(path) in refused.value.problems[0]


def test_all_faults_are_told_at_once(home):
    write(home, {"memory": {"decay_factor": 7, "promotion_threshold": 7}})
    with pytest.raises(PolicyError) as refused:
        perdure.load_policy()
    assert len(refused.value.problems) == 2


def test_a_file_that_cannot_be_read_is_told(home):
    path = home / ".claude" / "rlm-config.json"
    path.mkdir()
    with pytest.raises(PolicyError, match="cannot be read"):
        perdure.load_policy()


def test_a_file_where_the_folder_should_be_is_no_configuration(home):
    (home / ".claude").rmdir()
    (home / ".claude").write_text("", "utf-8")
    assert perdure.load_policy() == Policy()


def test_the_suite_reads_nobodys_own_file():
    assert not Path(os.environ[RLM_VARIABLE]).exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rlm_file() == Path(os.environ[RLM_VARIABLE])
