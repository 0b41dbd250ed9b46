"""The plugin for Claude Code: its files are where they are looked for, and name only what exists."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import perdure
from conftest import weekly
from interfaces.launching import LAUNCHER, ROOT, cli, launched, says, script
from perdure.interfaces.cli.app import app
from perdure.interfaces.hooks.hook_input import EVENTS, render_hook_output
from perdure.interfaces.mcp.run import build

PLUGIN = ROOT / "src" / "perdure" / "interfaces" / "plugin" / "claude-code"
LAUNCH = "${CLAUDE_PLUGIN_ROOT}/scripts/launch.sh"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read(name):
    return json.loads((PLUGIN / name).read_text("utf-8"))


def handlers():
    return [
        (event, handler)
        for event, groups in read("hooks/hooks.json")["hooks"].items()
        for group in groups
        for handler in group["hooks"]
    ]


def test_every_json_file_is_valid():
    found = sorted(p.relative_to(PLUGIN).as_posix() for p in PLUGIN.rglob("*.json"))
    assert found == [".claude-plugin/plugin.json", ".mcp.json", "hooks/hooks.json"]
    assert all(isinstance(read(name), dict) for name in found)


def test_the_manifest_is_this_version():
    manifest = read(".claude-plugin/plugin.json")
    assert re.fullmatch(r"[a-z0-9-]+", manifest["name"])
    assert (manifest["name"], manifest["version"]) == (PROJECT["name"], perdure.__version__)
    assert manifest["license"] == PROJECT["license"]
    # hooks/hooks.json, .mcp.json and skills/ are found by their places; naming them would load them twice.
    assert not {"hooks", "mcpServers", "skills"} & set(manifest)


def test_every_hook_is_one_that_we_know_and_calls_us():
    assert sorted(event for event, _ in handlers()) == sorted(EVENTS)
    for event, handler in handlers():
        assert handler["type"] == "command"
        shell, script, *words = shlex.split(handler["command"])
        assert (shell, script) == ("sh", LAUNCH)
        assert words == ["hook", event]
        assert render_hook_output(words[1], None) == "{}"
        assert 0 < handler["timeout"] <= 120


def test_only_what_nobody_waits_for_runs_beside_the_session():
    """What answers must be waited for; before a compaction and at the end the transcript must be read at once."""
    assert {event for event, handler in handlers() if handler.get("async")} == {"Stop"}


def test_the_server_is_our_command():
    servers = read(".mcp.json")["mcpServers"]
    assert list(servers) == ["perdure"]
    assert servers["perdure"]["command"] == "sh"
    assert servers["perdure"]["args"][0] == LAUNCH
    _, command, *options = servers["perdure"]["args"]
    assert command in get_command(app).commands
    assert dict(zip(options[::2], options[1::2], strict=True)) == {"--namespace": ".", "--profile": "agent"}
    told = " ".join((ROOT / "docs" / "how-to.md").read_text("utf-8").split())
    assert "set `--profile` to `lifecycle` or `full` in the plugin's `.mcp.json`" in told


def test_the_skill_is_found_and_names_tools_that_exist():
    [path] = PLUGIN.rglob("SKILL.md")
    assert path.relative_to(PLUGIN).as_posix() == "skills/memory/SKILL.md"
    text = path.read_text("utf-8")
    head = re.match(r"---\nname: ([a-z-]+)\ndescription: (.+)\n---\n", text)
    assert head[1] == path.parent.name
    assert 0 < len(head[2]) <= 1024
    tools = {tool.name for tool in asyncio.run(build(lambda: None).list_tools())}
    named = set(re.findall(r"`([a-z_]+)`", text))
    assert {"remember", "recall", "update", "forget", "why"} <= named
    words = {"wrong", "last", "confirm", "correct", "deny", "both", "mute", "aging"}  # what tools take and return
    assert named - tools - words == set()
    assert len(text.splitlines()) < 60


@pytest.mark.parametrize("path", sorted(p for p in PLUGIN.rglob("*") if p.is_file()), ids=lambda p: p.name)
def test_no_file_names_a_place_on_a_machine(path):
    assert not re.search(r"/(home|Users|root|work|tmp)/", path.read_text("utf-8"))


def test_the_marketplace_of_the_repository_lists_the_plugin():
    listing = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text("utf-8"))
    [entry] = listing["plugins"]
    assert (ROOT / entry["source"]).resolve() == PLUGIN
    assert (listing["name"], entry["name"]) == ("perdure", read(".claude-plugin/plugin.json")["name"])
    assert entry["description"] == read(".claude-plugin/plugin.json")["description"]


def test_the_launcher_takes_the_first_perdure_that_can_be_run(tmp_path):
    home = tmp_path / "home"
    launcher = tmp_path / "plugin" / "launch.sh"
    script(home / ".local" / "bin" / "uvx", says("uvx"))
    launcher.parent.mkdir()
    shutil.copy(LAUNCHER, launcher)

    def found(**environment):
        return launched("mcp", "a b", home=home, launcher=launcher, **environment).stdout.strip()

    assert found() == ""  # where it came from is not recorded, so nothing is fetched
    (launcher.parent / "source").write_text("--from perdure @ git+https://x.test/y@z\ninstall pip install it\n")
    assert found() == "uvx --from perdure @ git+https://x.test/y@z perdure mcp a b"
    script(home / ".local" / "bin" / "perdure", says("home"))
    assert found() == "home mcp a b"
    script(tmp_path / "bin" / "perdure", says("path"))
    assert found(PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin") == "path mcp a b"
    recorded = script(tmp_path / "environment" / "perdure", says("recorded"))
    (launcher.parent / "command").write_text(f"{recorded}\n")
    assert found() == "recorded mcp a b"
    script(recorded, "#!/gone/bin/python\n")  # the environment has moved: its scripts name an interpreter that is gone
    assert found() == "home mcp a b"
    recorded.unlink()
    assert found() == "home mcp a b"
    named = script(tmp_path / "named", says("named"))
    assert found(PERDURE_COMMAND=str(named)) == "named mcp a b"


def test_without_perdure_a_session_is_told_how_to_install_it_and_no_hook_fails(tmp_path):
    if shutil.which("perdure", path="/usr/bin:/bin") or shutil.which("uvx", path="/usr/bin:/bin"):
        pytest.skip("a system-wide installation would be found")
    start = launched("hook", "SessionStart", home=tmp_path)
    assert start.returncode == 0
    assert "Install it from a checkout" in json.loads(start.stdout)["systemMessage"]
    stop = launched("hook", "Stop", home=tmp_path)
    assert (stop.returncode, stop.stdout) == (0, "{}\n")
    server = launched("mcp", home=tmp_path)
    assert (server.returncode, server.stdout) == (127, "")
    assert "Install it from a checkout" in server.stderr
    assert "pip install" not in server.stderr


def test_installing_without_claude_writes_the_marketplace_and_says_what_to_run(tmp_path):
    found = cli("plugin", "install", "--folder", str(tmp_path / "market"), home=tmp_path, path="/usr/bin:/bin")
    assert found["installed"] is False
    assert found["commands"][0] == f"claude plugin marketplace add {tmp_path / 'market'}"
    [entry] = json.loads((tmp_path / "market/.claude-plugin/marketplace.json").read_text("utf-8"))["plugins"]
    copied = tmp_path / "market" / entry["source"]
    kept = {p.relative_to(PLUGIN) for p in PLUGIN.rglob("*") if p.is_file()}
    assert {p.relative_to(copied) for p in copied.rglob("*") if p.is_file()} == {
        *kept,
        Path("scripts/command"),
        Path("scripts/source"),
    }
    assert (copied / "scripts/command").read_text("utf-8") == f"{Path(sys.executable).parent / 'perdure'}\n"
    assert cli("plugin", "path", home=tmp_path, path="/usr/bin:/bin") == {"path": str(PLUGIN)}


def test_installing_hands_claude_the_marketplace_and_again_for_an_upgrade(tmp_path, monkeypatch):
    """The program that stands for Claude Code notes what it is told to do; the real one runs weekly."""
    asked, market = tmp_path / "asked", tmp_path / "market"
    script(tmp_path / "bin" / "claude", f'#!/bin/sh\necho "$@" >> {asked}\n')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    for _ in range(2):
        done = CliRunner().invoke(app, ["--json", "plugin", "install", "--folder", str(market)])
        assert json.loads(done.stdout)["installed"] is True
    commands = [f"plugin marketplace add {market}", "plugin marketplace update perdure"]
    assert asked.read_text("utf-8").splitlines() == [*commands, "plugin install perdure@perdure --scope user"] * 2
    launcher = market / "perdure" / "scripts" / "launch.sh"
    told = launched("--version", home=tmp_path, launcher=launcher, PYTHONPATH=str(ROOT / "src"))
    assert (told.returncode, perdure.__version__ in told.stdout) == (0, True), told.stderr
    script(tmp_path / "bin" / "claude", "#!/bin/sh\necho no such marketplace >&2\nexit 3\n")
    done = CliRunner().invoke(app, ["plugin", "install", "--folder", str(market)])
    assert done.exit_code == 1
    assert "no such marketplace" in done.stderr


@pytest.fixture(scope="module")
def claude(tmp_path_factory):
    """Claude Code's own command, as its package for node brings it; it needs neither an account nor a network."""
    if found := shutil.which("claude"):
        return Path(found)
    if not shutil.which("npm"):
        pytest.skip("neither claude nor npm is installed")
    folder = tmp_path_factory.mktemp("claude")
    done = subprocess.run(
        ["npm", "install", "--silent", "--no-audit", "--no-fund", "@anthropic-ai/claude-code@2"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    program = folder / "node_modules" / ".bin" / "claude"
    if done.returncode or not program.exists():
        pytest.skip(f"npm could not install Claude Code: {done.stderr[-200:]}")
    return program


@weekly
def test_claude_code_finds_no_fault_in_the_plugin_and_the_marketplace(claude, tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path)}
    for folder in (PLUGIN, ROOT):
        done = subprocess.run(
            [claude, "plugin", "validate", "--strict", folder],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@weekly
def test_claude_code_installs_the_plugin_and_connects_to_its_server_with_nothing_on_path(claude, tmp_path):
    """The launcher finds the environment that ran the installation; an upgrade is the same command again."""
    path = f"{claude.parent}:{Path(shutil.which('node') or claude).parent}:/usr/bin:/bin"
    for _ in range(2):
        assert cli("plugin", "install", home=tmp_path, path=path)["installed"] is True
    done = subprocess.run(
        [claude, "mcp", "list"],
        env={"PATH": path, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    [line] = [line for line in done.stdout.splitlines() if "plugin:perdure" in line]
    assert line.endswith("Connected"), done.stdout + done.stderr
