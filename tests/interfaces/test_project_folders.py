"""Folders and their namespaces: a renamed one goes on, two of one name are kept apart, no memory is touched."""

import json
import subprocess
import sys

import pytest

import perdure
from conftest import ENV


class Home:
    """A user's home with projects."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
        self.environment = {
            **{k: v for k, v in ENV.items() if k != "CLAUDE_PROJECT_DIR"},
            **{name: str(folder / "home") for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")},
            "PERDURE_STORE": str(folder / "agent.db"),
            "PERDURE_POLICY": str(folder / "policy.toml"),
        }

    def ran(self, project, *words, text=""):
        done = subprocess.run(
            [sys.executable, "-m", "perdure", *words],
            input=text,
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=self.folder / project,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done

    def start(self, project):
        given = {"session_id": project, "hook_event_name": "SessionStart", "transcript_path": ""}
        folder = str(self.folder / project)
        done = self.ran(project, "hook", "SessionStart", text=json.dumps({**given, "cwd": folder}))
        assert (done.returncode, done.stderr) == (0, "")
        answer = json.loads(done.stdout) if done.stdout else {}
        return answer.get("systemMessage", ""), answer.get("hookSpecificOutput", {}).get("additionalContext", "")


@pytest.fixture
def home(tmp_path):
    made = Home(tmp_path)
    (tmp_path / "work" / "shopfront").mkdir(parents=True)
    assert made.ran("work/shopfront", "remember", "Tomasz Lis owns the payments package.", "-n", ".").returncode == 0
    told, shown = made.start("work/shopfront")
    assert (told, "Tomasz" in shown) == ("", True)
    return made


def test_a_renamed_folder_is_told_how_to_go_on_and_goes_on(home):
    (home.folder / "work" / "shopfront").rename(home.folder / "work" / "shop-web")
    told, shown = home.start("work/shop-web")
    assert "perdure project shopfront" in told
    assert shown == ""
    assert home.start("work/shop-web")[0] == ""  # it is told once
    done = home.ran("work/shop-web", "project", "shopfront", "--json")
    assert json.loads(done.stdout)["namespace"] == "shopfront"
    assert "Tomasz" in home.start("work/shop-web")[1]
    assert "Tomasz" in home.ran("work/shop-web", "list", "-n", ".").stdout
    assert "shop-web" in home.ran("work/shop-web", "project", "--reset").stdout
    assert "Tomasz" not in home.ran("work/shop-web", "list", "-n", ".").stdout
    with perdure.open(home.folder / "agent.db", {"embedder": {"model": "none"}}) as memory:
        assert [m.content for m in memory.list("shopfront")] == ["Tomasz Lis owns the payments package."]


def test_a_clone_of_the_same_name_is_told_that_it_shares_and_can_be_kept_apart(home):
    (home.folder / "clone" / "shopfront").mkdir(parents=True)
    told, _ = home.start("clone/shopfront")
    assert "share the namespace 'shopfront'" in told
    assert str(home.folder / "work" / "shopfront") in told
    [command] = [line for line in told.split(": ") if line.startswith("perdure project ")]
    assert home.ran("clone/shopfront", *command.split()[1:]).returncode == 0
    told, shown = home.start("clone/shopfront")
    assert shown == ""
    assert home.ran("clone/shopfront", "list", "-n", ".").stdout.startswith("No memories in shopfront-2")
    assert "Tomasz" in home.start("work/shopfront")[1]


def test_two_checkouts_of_one_repository_share_without_a_word(home):
    for place in ("work", "second"):
        (home.folder / place / "shopfront" / ".git").mkdir(parents=True)
        config = '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/shopfront.git\n'
        (home.folder / place / "shopfront" / ".git" / "config").write_text(config)
    told, shown = home.start("second/shopfront")
    assert (told, "Tomasz" in shown) == ("", True)


def test_the_first_project_of_all_is_told_nothing(tmp_path):
    made = Home(tmp_path)
    (tmp_path / "only").mkdir()
    assert made.start("only") == ("", "")
