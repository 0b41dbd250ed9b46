"""Hooks that a running server answers: the same words as alone, and alone where anything is not as it should be."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from contextlib import contextmanager
from uuid import uuid4

import pytest

from interfaces.test_hooks import DOUBT, FACT, Project
from interfaces.test_hooks_knowledge import WINDOW, store_shortened

pytest.importorskip("uvicorn")
pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="the system has no such sockets")

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}")


class Asking(Project):
    """A project whose hooks are processes that tell whether they loaded numpy: whether they worked alone."""

    def ran(self, *words, text="", folder=None):
        command = [sys.executable, "-X", "importtime", "-m", "perdure", *words]
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, env=self.environment, cwd=folder, check=False
        )
        lines = done.stderr.splitlines()
        self.alone = any(line.rpartition("|")[2].strip() == "numpy" for line in lines)
        done.stderr = "\n".join(line for line in lines if not line.startswith("import time:"))
        return done

    @property
    def socket(self):
        return self.store.with_name("agent.db.hooks")

    @contextmanager
    def serving(self, **environment):
        """A server of the store that answers hooks."""
        command = [sys.executable, "-m", "perdure", "serve", "--port", "0"]
        with subprocess.Popen(
            command, env={**self.environment, **environment}, cwd=self.folder.parent, stderr=subprocess.DEVNULL
        ) as server:
            try:
                limit = time.monotonic() + 60
                while not _listens(self.socket):
                    assert server.poll() is None
                    assert time.monotonic() < limit
                    time.sleep(0.05)
                yield server
            finally:
                server.send_signal(signal.SIGCONT)
                server.terminate()
                server.wait(30)


def _listens(place):
    with socket.socket(socket.AF_UNIX) as asking:
        try:
            asking.connect(str(place))
        except OSError:
            return False
    return True


@pytest.fixture
def project(tmp_path):
    made = Asking(tmp_path)
    with made.open() as memory:
        memory.remember(FACT, "shop")
        memory.remember(DOUBT, "shop")
    return made


def day(project):
    """What the hooks of a session print and report, and whether any of them worked alone."""
    project.say("s1", "user", "Remember that the nightly imports begin at 02:00.")
    said, alone = [], []
    for event, more in (
        ("SessionStart", {}),
        ("UserPromptSubmit", {"prompt": "Which queue do nightly imports use?"}),
        ("TaskCompleted", {}),
        ("SessionEnd", {}),
        ("UserPromptSubmit", {"prompt": "When do the nightly imports begin?"}),
    ):
        done = project.ran("hook", event, text=project.payload(event, "s1", **more), folder=project.folder)
        said.append((done.returncode, ID.sub("an id", done.stdout), done.stderr))
        alone.append(project.alone)
    return said, alone


@pytest.mark.behaviour("AG60")
def test_a_server_answers_as_the_hook_would_alone(project, tmp_path):
    other = Asking(tmp_path / "other") if (tmp_path / "other").mkdir() is None else None
    shutil.copyfile(project.store, other.store)
    expected, alone = day(other)
    assert all(alone)
    with project.serving():
        assert stat.S_IMODE(project.socket.stat().st_mode) == 0o600
        said, alone = day(project)
    short = re.compile(r"\[[0-9a-f]{8}\]")  # of what was taken in meanwhile
    assert [[short.sub("[]", str(x)) for x in one] for one in said] == [
        [short.sub("[]", str(x)) for x in one] for one in expected
    ]
    assert "imports-v2" in said[0][1]
    assert "02:00" in said[4][1]
    assert not any(alone)
    assert not project.socket.exists()


def test_an_mcp_server_answers_before_a_tool_is_called(project):
    """A session begins with a hook, and no tool has been called then."""
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    command = [sys.executable, "-m", "perdure", "mcp"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=project.environment, cwd=project.folder.parent, text=True, **pipes) as server:
        server.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines))
        server.stdin.flush()
        assert [json.loads(server.stdout.readline())["id"] for _ in range(2)] == [1, 2]
        limit = time.monotonic() + 30
        while not _listens(project.socket):
            assert time.monotonic() < limit
            time.sleep(0.05)
        assert "imports-v2" in prompt(project)
        assert not project.alone
        server.stdin.close()
        server.wait(30)
    assert not project.socket.exists()


@pytest.mark.behaviour("AG60", "DO50")
def test_a_server_shows_whole_texts_too(tmp_path):
    (tmp_path / "kept").mkdir()
    project = store_shortened(Asking(tmp_path / "kept"), "keywords")

    def answer(session):
        text = project.payload("UserPromptSubmit", session, prompt="What is the deploy window of Norvik?")
        return ID.sub("an id", project.ran("hook", "UserPromptSubmit", text=text, folder=project.folder).stdout)

    alone = answer("alone")
    assert project.alone
    with project.serving():
        assert answer("served") == alone
        assert not project.alone
    assert WINDOW in alone


def prompt(project, *options, folder=None, **changed):
    session = uuid4().hex  # in one session nothing is shown twice
    text = project.payload("UserPromptSubmit", session, prompt="Which queue do nightly imports use?", **changed)
    done = project.ran("hook", "UserPromptSubmit", *options, text=text, folder=folder or project.folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.behaviour("AG60")
def test_where_the_server_is_dead_or_silent_the_hook_works_alone(project):
    with project.serving() as server:
        server.send_signal(signal.SIGSTOP)
        assert "imports-v2" in prompt(project)
        assert project.alone
        server.send_signal(signal.SIGCONT)
        assert "imports-v2" in prompt(project)
        assert not project.alone
        server.kill()
        server.wait(30)
        assert "imports-v2" in prompt(project)
        assert project.alone
    assert project.socket.exists()  # left by the one that was killed
    with project.serving():
        assert "imports-v2" in prompt(project)
        assert not project.alone


def test_a_relative_folder_is_that_of_the_hook_not_of_the_server(project):
    with project.serving():
        assert "imports-v2" in prompt(project, cwd=".")
        assert project.alone
        project.environment["CLAUDE_PROJECT_DIR"] = "."
        assert "imports-v2" in prompt(project)
        assert project.alone


def test_a_policy_that_is_not_the_servers_is_never_left_to_it(project, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text('[embedder]\nmodel = "none"\n[recall]\ncandidates = 50\n', "utf-8")
    with project.serving():
        prompt(project, "--policy", str(other))
        assert project.alone
        own = project.environment.pop("PERDURE_POLICY")
        prompt(project)
        assert project.alone
        prompt(project, "--policy", own)
        assert project.alone


def test_a_policy_file_of_the_working_folder_is_looked_at_by_the_hook_itself(project, tmp_path):
    del project.environment["PERDURE_POLICY"]
    project.environment |= {"XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}
    with project.serving():
        prompt(project)
        assert not project.alone
        (project.folder / "perdure.toml").write_text('[model]\nbase_url = "http://127.0.0.1:9"\nname = "m"\n', "utf-8")
        done = project.ran("hook", "SessionStart", text=project.payload("SessionStart", "s1"), folder=project.folder)
        assert project.alone
        assert "model.base_url" in done.stdout  # the person is told that it is ignored


def test_a_socket_that_others_reach_is_not_asked(project):
    with project.serving():
        project.socket.chmod(0o666)
        prompt(project)
        assert project.alone
        project.socket.chmod(0o600)
        prompt(project)
        assert not project.alone


def test_a_listener_of_another_store_is_not_believed(project, tmp_path):
    second = Asking(tmp_path / "second") if (tmp_path / "second").mkdir() is None else None
    with second.open() as memory:
        memory.remember("The queue of nightly imports is called wrong-one.", "shop")
    with second.serving(PERDURE_POLICY=project.environment["PERDURE_POLICY"]):
        second.socket.rename(project.socket)
        assert "wrong-one" not in prompt(project)
        assert project.alone


def test_a_file_in_the_sockets_place_stays_and_a_second_server_waits_for_the_first(project):
    project.socket.write_text("mine", "utf-8")
    command = [sys.executable, "-m", "perdure", "serve", "--port", "0"]
    with subprocess.Popen(command, env=project.environment, stderr=subprocess.PIPE, text=True) as server:
        assert "serves" in server.stderr.readline()
        prompt(project)
        assert project.alone
        server.terminate()
        server.stderr.read()
    assert project.socket.read_text("utf-8") == "mine"
    project.socket.unlink()
    with project.serving():
        first = project.socket.stat().st_ino
        with subprocess.Popen(command, env=project.environment, stderr=subprocess.PIPE, text=True) as server:
            assert "serves" in server.stderr.readline()
            server.terminate()
            server.stderr.read()
        assert project.socket.stat().st_ino == first
        prompt(project)
        assert not project.alone
