"""A hook that cannot do its work tells the person, once in a session, and lets the session go on."""

from __future__ import annotations

import json
import subprocess

import pytest

from interfaces.test_hooks import FACT, Project


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    with made.open() as memory:
        memory.remember(FACT, "shop")
    return made


def answer(project, event, session="s"):
    given = {"session_id": session, "hook_event_name": event, "transcript_path": "", "cwd": str(project.folder)}
    done = subprocess.run(
        project.command("hook", event),
        input=json.dumps({**given, "prompt": "Which port?"}),
        capture_output=True,
        text=True,
        env=project.environment,
        cwd=project.folder,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr.startswith("perdure hook: ")
    return json.loads(done.stdout)["systemMessage"] if done.stdout else ""


def damage(project):
    content = project.store.read_bytes()
    project.store.write_bytes(content[: len(content) // 2])


def misspell(project):
    (project.folder / "perdure.toml").write_text('preset = "facts\n')


def refuse(project):
    (project.folder / "perdure.toml").write_text("[archive]\nrule = 7\n")


@pytest.mark.parametrize(
    ("fault", "says"),
    [(damage, "perdure restore-backup"), (misspell, "not valid TOML"), (refuse, "archive.rule must be text")],
)
def test_the_reason_and_what_to_do_are_told_once_in_a_session(project, fault, says):
    project.environment.pop("PERDURE_POLICY", None)
    fault(project)
    told = answer(project, "SessionStart")
    assert told.startswith("Perdure: this session works without its memory. ")
    assert says in told
    assert [answer(project, "UserPromptSubmit") for _ in range(2)] == ["", ""]
    assert answer(project, "Stop") == ""
    assert says in answer(project, "UserPromptSubmit", session="one that began before")
    assert answer(project, "UserPromptSubmit", session="one that began before") == ""
