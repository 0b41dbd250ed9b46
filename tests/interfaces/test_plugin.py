"""The plugin for Claude Code: its files are where they are looked for, and name only what exists."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

import perdure
from perdure.interfaces.cli.app import app
from perdure.interfaces.hooks.hook_input import EVENTS, render_hook_output
from perdure.interfaces.mcp.run import build

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "plugin"
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
        script, *words = shlex.split(handler["command"])
        assert script in PROJECT["scripts"]
        assert words == ["hook", event]
        assert render_hook_output(words[1], None) == "{}"
        assert 0 < handler["timeout"] <= 120


def test_only_what_nobody_waits_for_runs_beside_the_session():
    """What answers must be waited for; before a compaction and at the end the transcript must be read at once."""
    assert {event for event, handler in handlers() if handler.get("async")} == {"Stop"}


def test_the_server_is_our_command():
    servers = read(".mcp.json")["mcpServers"]
    assert list(servers) == ["perdure"]
    assert servers["perdure"]["command"] in PROJECT["scripts"]
    assert servers["perdure"]["args"][0] in get_command(app).commands


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
