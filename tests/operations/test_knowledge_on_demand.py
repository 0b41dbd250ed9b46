"""Knowledge is loaded where something was learned or is asked for, and not before."""

import subprocess
import sys

import pytest

import perdure
from perdure import compose_knowledge
from perdure.operations.extension import Extension

TALK = [
    {"role": "user", "content": "Gai Media prefers Friday for deliveries.", "at": "2026-11-02T09:00:00Z"},
    {"role": "user", "content": "The deploy key lives in the vault.", "at": "2026-11-02T09:01:00Z"},
]
EVERYDAY = """
import sys, datetime as dt, perdure
with perdure.open(sys.argv[1], policy={"preset": "balanced"}) as m:
    note = m.remember("The deploy key lives in the vault.")
    m.ingest([{"role": "user", "content": "We deploy on Fridays.", "session": "s"}])
    m.recall("Where is the deploy key?")
    m.recall("Where is the deploy key?", as_of=dt.datetime(2030, 1, 1, tzinfo=dt.UTC))
    m.sweep(); m.digest(); m.why(note.id); m.stats(); m.review(); m.upkeep("w", eager=True)
    operation = m.archive(note.id, reason="old")
    m.restore(note.id); m.undo(m.history()[0].id)
    m.promote("s", confirm=True)
"""
LOADED = "print(*sorted(k for k in sys.modules if k.split('.')[:2] == ['perdure', 'knowledge']))"


def loaded(code: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-c", f"{code}\n{LOADED}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_store_without_facts_never_loads_knowledge(tmp_path):
    assert loaded(EVERYDAY, str(tmp_path / "agent.db")) == []


COMMANDS = """
import shlex, sys
from typer.testing import CliRunner
from perdure.interfaces.cli.app import app
for words in ("remember 'The deploy key lives in the vault.'", "recall key", "list", "digest", "stats", "history",
              "undo", "review", "sweep", "forecast", "decay", "check", "maintain --once", "undo last"):
    done = CliRunner().invoke(app, [*shlex.split(words), "--store", sys.argv[1], "--policy", sys.argv[2]])
    assert done.exit_code in (0, 3), (words, done.output)
"""


def test_commands_over_a_store_without_facts_never_load_it(tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('preset = "balanced"\n[embedder]\nmodel = "none"\n', "utf-8")
    assert loaded(COMMANDS, str(tmp_path / "agent.db"), str(policy)) == []


@pytest.mark.parametrize(
    "verb",
    [
        "m.facts()",
        "m.entities()",
        "m.answer_sheet('Where is the deploy key?')",
        "m.rates()",
        "m.verify()",
        "m.recall('deliveries of Gai Media')",
    ],
)
def test_it_is_loaded_by_its_own_verbs_and_by_a_fact(verb, tmp_path):
    path = str(tmp_path / "agent.db")
    with perdure.open(path, policy={"preset": "balanced"}) as memory:
        memory.ingest(TALK, session="talk")
        memory.learn(["talk"])
    code = f"import sys, perdure\nwith perdure.open(sys.argv[1], policy={{'preset': 'balanced'}}) as m: {verb}"
    assert "perdure.knowledge.operations" in loaded(code, path)


def test_a_store_with_facts_tells_of_them_under_a_policy_that_learns_none(tmp_path):
    path = tmp_path / "agent.db"
    with perdure.open(path, policy={"preset": "facts"}) as memory:
        memory.ingest(TALK, session="talk")
        memory.ingest(
            [{"role": "user", "content": "Gai Media prefers Monday for deliveries.", "at": "2026-11-02T09:02:00Z"}],
            session="talk",
        )
        before = {f.id: f.contested for f in memory.facts("Gai Media")}
    assert any(before.values())
    with perdure.open(path, policy={"preset": "balanced"}) as memory:
        facts = [h for h in memory.recall("deliveries of Gai Media").hits if h.memory.kind == "fact"]
        assert {h.memory.id: h.contested_with for h in facts} == before
        assert all(memory.why(h.memory.id).fact is not None for h in facts)
        (asked,) = [q.id for q in memory.review() if q.id in before]
        memory.settle(asked, "drop")
        assert memory.get(asked, include_archived=True).status == "invalidated"


def test_every_seam_is_passed_on_where_there_are_facts_unless_it_only_learns():
    """A seam that the list lacks is answered as where nothing was ever learned."""
    only_learn = {"learn", "weigh", "rank", "follow_ups", "refresh", "tasks"}
    seams = {name for name in vars(Extension) if not name.startswith("_")} - {"resources"}
    passed_on = {name for name in seams if name in compose_knowledge._MEETS}
    assert seams - passed_on == only_learn
