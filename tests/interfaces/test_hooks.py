"""The hooks of a coding agent as real processes: what they show, what they take in, and what stops them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

import perdure
from conftest import ENV
from perdure.interfaces.files.project import project_namespace, resolve_namespace
from perdure.interfaces.hooks.agent_hooks import answer_hook
from perdure.interfaces.hooks.hook_input import EVENTS
from perdure.interfaces.plugin.installation import PLUGIN
from perdure.memory import Memory
from perdure.records.identifier import short_id
from perdure.rules.prompt_context import BEGIN, END

PAYLOADS = Path(__file__).parent / "payloads"
FACT = "Nightly imports use the queue imports-v2, because the old one loses messages over 256 KB."
DOUBT = "The nightly imports may be slow because of the proxy in Oslo."


class Project:
    """A project's folder with a store, and sessions of an agent in it."""

    def __init__(self, folder):
        self.folder = folder / "shop"
        self.folder.mkdir()
        self.store = folder / "agent.db"
        policy = folder / "policy.toml"
        policy.write_text('[embedder]\nmodel = "none"\n', "utf-8")
        self.environment = {
            **{k: v for k, v in ENV.items() if k not in ("CLAUDE_PROJECT_DIR", "PERDURE_NAMESPACE")},
            **{name: str(folder / "home") for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")},
            "PERDURE_STORE": str(self.store),
            "PERDURE_POLICY": str(policy),
        }

    def open(self):
        return perdure.open(self.store, policy={"embedder": {"model": "none"}})

    def command(self, *words):
        return [sys.executable, "-m", "perdure", *words]

    def payload(self, event, session, **changed):
        item = json.loads((PAYLOADS / f"{event}.json").read_text("utf-8"))
        item |= {"cwd": str(self.folder), "transcript_path": str(self.transcript(session)), "session_id": session}
        return json.dumps({**item, **changed})

    def transcript(self, session):
        return self.folder.parent / f"{session}.jsonl"

    def hook(self, event, session, *options, **changed):
        """What a hook puts before the agent; it must have ended well and complained of nothing."""
        done = self.ran("hook", event, *options, text=self.payload(event, session, **changed))
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""

    def ran(self, *words, text=""):
        return subprocess.run(
            self.command(*words), input=text, capture_output=True, text=True, env=self.environment, check=False
        )

    def say(self, session, role, words, at=None):
        """Add a line to a transcript, as Claude Code writes them."""
        item = {
            "parentUuid": None,
            "isSidechain": False,
            "cwd": str(self.folder),
            "sessionId": session,
            "version": "2.1.250",
            "type": role,
            "uuid": str(uuid4()),
            "timestamp": (at or datetime.now(UTC)).isoformat().replace("+00:00", "Z"),
            "message": {"role": role, "content": words if role == "user" else [{"type": "text", "text": words}]},
        }
        with self.transcript(session).open("a", encoding="utf-8") as file:
            file.write(json.dumps(item) + "\n")


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def remember(project, session, words, confidence):
    with project.open() as memory:
        return memory.remember(words, "shop", session=session, confidence=confidence).id


def silence(project, session, hours):
    """Let a session's last sign of life lie back, as if nobody had worked for so long."""
    from perdure.records.memory import Shelf
    from perdure.records.plan import Change, Plan, Target

    with project.open() as memory:
        ctx = memory._context
        [found] = ctx.store.documents.find("shop", Shelf.SESSION, [session])
        before, after = (
            {"shelf": Shelf.SESSION, "name": "", "data": d}
            for d in (dict(found.data), {**found.data, "seen_ms": found.data["seen_ms"] - hours * 3_600_000})
        )
        now = ctx.clock()
        change = Change(Target.DOCUMENT, session, before, after)
        ctx.store.apply(Plan(ctx.ids(now), "session", "shop", now, (change,)))


# --- two sessions


@pytest.mark.behaviour("AG36", "AG39")
def test_what_the_first_session_learned_is_recalled_in_the_second(project):
    """Its end was missed (the machine was switched off) and is caught up at the second's start."""
    assert project.hook("SessionStart", "one") == ""
    project.say("one", "user", "Why do the nightly imports fail?")
    project.say("one", "assistant", "I will look at the importer and its settings first.")
    good, doubtful = remember(project, "one", FACT, 0.9), remember(project, "one", DOUBT, 0.4)
    shown = project.hook("UserPromptSubmit", "one", prompt="Which queue do the nightly imports use?")
    assert short_id(good) in shown  # and so it was accessed as often as the median
    project.say("one", "user", "Which queue do the nightly imports use?")
    project.say("one", "assistant", f"{FACT} I changed settings.toml, and the tests of the importer pass again.")
    assert project.hook("Stop", "one") == ""
    assert project.hook("PreCompact", "one") == ""
    project.say("one", "user", "Remember that the importer is tested with pytest -k imports.")

    assert project.hook("SessionStart", "two") == ""  # too early: the first may still be at work
    silence(project, "one", 13)
    opening = project.hook("SessionStart", "two")
    assert short_id(good) in opening
    assert short_id(doubtful) not in opening
    assert project.hook("UserPromptSubmit", "two", prompt="Which queue do the nightly imports use?") == ""  # shown
    beside = project.hook("UserPromptSubmit", "three", prompt="Are the nightly imports slow because of the queue?")
    assert short_id(good) in beside
    assert DOUBT not in beside

    with project.open() as memory:
        assert memory.get(good).scope == "long_term"
        assert memory.get(doubtful).scope == "session"
        inside = [m.content for m in memory.list("shop", inside="one", limit=1000)]
        assert "The importer is tested with pytest -k imports." in inside  # what was said last was caught up
        assert len(inside) == len(set(inside))
        assert [s.id for s in memory.agent.unfinished_sessions("shop", excluded="")] == ["two", "three"]
        assert memory.check() == []


def test_the_end_of_a_session_promotes(project):
    project.hook("SessionStart", "one")
    good = remember(project, "one", FACT, 0.9)
    project.say("one", "user", "Hello there, how is it going?")
    project.hook("SessionEnd", "one")
    with project.open() as memory:
        assert memory.agent.unfinished_sessions("shop", excluded="") == []
        assert len(memory.list("shop", inside="one", kinds=["episode"])) == 1
        assert memory.get(good) is not None


def test_a_session_whose_transcript_vanished_is_ended(project):
    project.hook("SessionStart", "one")
    project.say("one", "user", "Hello there, how is it going?")
    project.hook("Stop", "one")
    project.transcript("one").unlink()
    project.hook("SessionStart", "two")
    with project.open() as memory:
        assert [s.id for s in memory.agent.unfinished_sessions("shop", excluded="")] == ["two"]


def test_a_session_that_has_just_begun_has_no_transcript_and_goes_on(project):
    project.hook("SessionStart", "one")
    project.hook("SessionStart", "two")
    with project.open() as memory:
        assert {s.id for s in memory.agent.unfinished_sessions("shop", excluded="")} == {"one", "two"}


@pytest.mark.parametrize("began", [True, False])
def test_the_end_of_a_session_in_which_nothing_was_said_says_nothing(project, began):
    if began:
        project.hook("SessionStart", "one")
    assert project.hook("SessionEnd", "one") == ""
    assert project.hook("SessionEnd", "one") == ""
    with project.open() as memory:
        assert memory.agent.unfinished_sessions("shop", excluded="") == []


def test_a_completed_task_without_memories_says_nothing(project):
    assert project.hook("TaskCompleted", "one") == ""


@pytest.mark.behaviour("AG38")
def test_a_completed_task_is_brought_into_its_session(project):
    with project.open() as memory:
        kept = memory.remember("The importer retries twice.", "shop", session="one", task="12").id
    project.hook("TaskCompleted", "one")
    with project.open() as memory:
        assert memory.get(kept).scope == "session"


# --- stopping, and being stopped


@pytest.mark.behaviour("AG31")
def test_stopping_twice_takes_in_each_message_once(project):
    for n in range(5):
        project.say("one", "user", f"Message number {n}.")
    for _ in range(2):
        project.hook("Stop", "one")
    project.say("one", "assistant", "And a reply at last.")
    project.hook("Stop", "one")
    with project.open() as memory:
        assert len(memory.list("shop", inside="one")) == 6
        assert memory.list("shop") == []


@pytest.mark.behaviour("AG32")
def test_two_hooks_at_once_lose_and_double_nothing(project):
    for n in range(200):
        project.say("one", "user", f"Remember that room {n} has a blue door.")
    children = [
        subprocess.Popen(
            project.command("hook", event),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=project.environment,
        )
        for event in ("Stop", "PreCompact", "Stop")
    ]
    for child, event in zip(children, ("Stop", "PreCompact", "Stop"), strict=True):
        child.stdin.write(project.payload(event, "one"))
        child.stdin.close()
    for child in children:
        assert (child.wait(120), child.stderr.read()) == (0, "")
        child.stdout.close()
        child.stderr.close()
    with project.open() as memory:
        found = memory.list("shop", inside="one", limit=1000)
        assert sorted(m.kind for m in found) == ["episode"] * 200 + ["note"] * 200
        assert memory.check() == []


@pytest.mark.behaviour("AG33")
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_in_the_middle_it_leaves_the_store_sound_and_nothing_doubled(project):
    for n in range(300):
        project.say("one", "user", f"Remember that room {n} has a blue door.")
    project.hook("SessionStart", "one")
    stopped = 0
    for delay in (0.25, 0.4, 0.55, 0.7, 0.9):
        child = subprocess.Popen(
            project.command("hook", "Stop"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            env=project.environment,
        )
        child.stdin.write(project.payload("Stop", "one"))
        child.stdin.close()
        time.sleep(delay)
        os.kill(child.pid, signal.SIGKILL)
        stopped += child.wait() == -signal.SIGKILL
        with project.open() as memory:
            assert memory.check() == []
    assert stopped >= 1
    project.hook("Stop", "one")
    with project.open() as memory:
        found = memory.list("shop", inside="one", limit=1000)
        assert sorted(m.kind for m in found) == ["episode"] * 300 + ["note"] * 300


# --- never in the way


@pytest.mark.behaviour("AG34")
def test_whatever_goes_wrong_is_told_and_stops_nothing(project, tmp_path):
    faults = {
        "no JSON": ("Stop", "nonsense"),
        "another event": ("Stop", project.payload("SessionEnd", "one")),
        "no session": ("Stop", "{}"),
        "nothing": ("Stop", ""),
        "a bad name": ("Stop", project.payload("Stop", "a\x00b")),
        "a folder": ("Stop", project.payload("Stop", "one", transcript_path=str(tmp_path))),
    }
    for name, (event, text) in faults.items():
        done = project.ran("hook", event, text=text)
        assert (done.returncode, done.stdout) == (0, ""), name
        assert done.stderr.startswith("perdure hook: "), name
        assert "Traceback" not in done.stderr
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no store" * 1000)
    done = project.ran(
        "hook", "UserPromptSubmit", "--store", str(broken), text=project.payload("UserPromptSubmit", "x")
    )
    assert done.returncode == 0
    assert list(json.loads(done.stdout)) == ["systemMessage"]  # for the person, not the model
    assert "perdure hook: " in done.stderr


def test_a_defect_of_ours_stops_nothing(monkeypatch, capsys):
    from perdure.interfaces.hooks import agent_hooks

    def broken(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr(agent_hooks, "answer_hook", broken)
    agent_hooks.run("Stop", None, None, None, meaning=False, text="{}")
    assert capsys.readouterr().err == "perdure hook: RuntimeError: boom (a bug in Perdure; please report it)\n"


def test_misuse_is_told_as_misuse(project):
    for words in (["hook"], ["hook", "Nothing"], ["hook", "Stop", "--unknown"]):
        done = project.ran(*words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr


def test_a_transcript_that_is_not_there_yet_says_nothing(project):
    assert project.hook("Stop", "one") == ""
    assert project.hook("Stop", "one", transcript_path="") == ""


def test_options_before_the_verb_work_too(project, tmp_path):
    other = tmp_path / "other.db"
    done = project.ran(*("--store", str(other), "-n", "elsewhere", "hook", "Stop"), text=project.payload("Stop", "one"))
    assert (done.returncode, done.stderr) == (0, "")
    project.say("one", "user", "Hello there.")
    project.ran("hook", "Stop", "--store", str(other), "-n", "elsewhere", text=project.payload("Stop", "one"))
    with perdure.open(other, policy={"embedder": {"model": "none"}}) as memory:
        assert len(memory.list("elsewhere", inside="one")) == 1


@pytest.mark.behaviour("AG30")
def test_beside_a_prompt_no_model_and_no_command_line_is_loaded(project):
    remember(project, None, FACT, 0.9)
    code = (
        "import sys; sys.argv = ['perdure', 'hook', 'UserPromptSubmit']\n"
        "from perdure.interfaces.entry import main; main()\n"
        "heavy = {'onnxruntime', 'tokenizers', 'perdure_embedder', 'typer', 'rich', 'mcp'}\n"
        "heavy |= {'perdure.operations.' + name for name in ('import_export', 'ingest', 'remember', 'extract')}\n"
        "heavy |= {'perdure.operations.lifecycle.digest', 'perdure.stores.sqlite.checking'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    environment = {k: v for k, v in project.environment.items() if k != "PERDURE_POLICY"}  # MiniLM is the default
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=project.payload("UserPromptSubmit", "one"),
        capture_output=True,
        text=True,
        env=environment,
        cwd=project.folder,
        check=True,
    )
    assert "imports-v2" in done.stdout
    assert done.stderr == "[]\n"


@pytest.mark.behaviour("AG43")
@pytest.mark.parametrize("event", EVENTS)
def test_every_event_has_something_to_do(event, project):
    opened = []

    def opener(with_embedder):
        opened.append(with_embedder)
        return project.open()

    if event == "TaskCompleted" and not hasattr(Memory, "complete_task"):
        pytest.skip("comes with tasks and sessions")
    if event == "SessionEnd" and not hasattr(Memory, "end_session"):
        pytest.skip("comes with tasks and sessions")
    assert answer_hook(event, project.payload(event, "one"), opener, None, meaning=False) == ""
    assert opened == [event in ("Stop", "PreCompact")]
    opened.clear()
    answer_hook(event, project.payload(event, "one"), opener, None, meaning=True)
    assert opened == [event in ("Stop", "PreCompact", "UserPromptSubmit")]


def test_the_answer_is_marked_and_within_what_an_agent_shows(project):
    with project.open() as memory:
        memory.remember_many([f"Import {n}: " + f"word{n} " * 40 for n in range(300)], "shop")
    shown = project.hook("SessionStart", "one")
    assert shown.startswith(BEGIN)
    assert shown.endswith(END)
    assert len(shown) < 10_000


# --- which namespace


NAMES = {"shop": "shop", "My Shop": "My Shop", ".dotfiles": "dotfiles", "a&b#c": "a-b-c", "---": "default"}


@pytest.mark.parametrize("name", NAMES)
def test_a_folders_name_becomes_a_namespace(name, tmp_path):
    from perdure.rules.validation.values import checked_namespace

    found = project_namespace(tmp_path / name, {})
    assert found == NAMES[name]
    assert checked_namespace(found) == found


def test_a_project_is_the_folder_with_its_repository_or_what_the_agent_says(tmp_path, monkeypatch):
    inner = tmp_path / "shop" / "src" / "imports"
    inner.mkdir(parents=True)
    assert project_namespace(inner, {}) == "imports"
    (tmp_path / "shop" / ".git").mkdir()
    assert project_namespace(inner, {}) == "shop"
    assert project_namespace(inner, {"CLAUDE_PROJECT_DIR": "/srv/till"}) == "till"
    assert project_namespace(Path("/"), {}) == "default"
    monkeypatch.chdir(inner)
    assert (project_namespace(Path(), {}), project_namespace(None, {"CLAUDE_PROJECT_DIR": ".."})) == ("shop", "src")


@pytest.mark.behaviour("AG37")
def test_the_server_and_the_command_line_use_the_same_one(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    assert (resolve_namespace("."), resolve_namespace("other"), resolve_namespace(None)) == ("shop", "other", None)
    servers = json.loads((PLUGIN / ".mcp.json").read_text("utf-8"))["mcpServers"]
    assert servers["perdure"]["args"][1:] == ["mcp", "--namespace", ".", "--profile", "agent"]
    remember(project, None, FACT, 0.9)
    done = subprocess.run(
        project.command("recall", "-n", ".", "Which queue do imports use?", "--json"),
        capture_output=True,
        text=True,
        env=project.environment,
        cwd=project.folder,
        check=True,
    )
    assert "imports-v2" in done.stdout


def test_a_session_that_starts_makes_the_moves_that_have_waited(project):
    long_ago = datetime.now(UTC) - timedelta(days=60)
    with perdure.open(project.store, {"embedder": {"model": "none"}}, lambda: long_ago) as memory:
        memory.remember("The broker runs on port 1883.", "shop")
    with project.open() as memory:
        memory.remember("It is in use.", "elsewhere")
        assert [a.severity for a in memory.alerts("shop") if a.name == "overdue_hours"] == ["info"]
    project.hook("SessionStart", "s")
    with project.open() as memory:
        assert [a for a in memory.alerts("shop") if a.name == "overdue_hours"] == []
        assert memory.history(namespace="shop")[0].operation == "sweep"
