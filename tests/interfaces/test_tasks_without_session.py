"""Whoever stores for a task and names no session is told that nobody sees it until the task is completed."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from interfaces.test_mcp_talk import over, talk
from perdure.interfaces.cli.app import app

TEXT, TOLD = "The bank is closed at night.", "nobody sees it before the task is completed"


def ran(path, *words):
    done = CliRunner().invoke(app, [*words, "--store", str(path)], prog_name="perdure")
    assert done.exit_code == 0, done.output
    return " ".join(done.stdout.split())


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_command_says_so_and_how_the_task_is_completed(path):
    shown = ran(path, "remember", TEXT, "--task", "invoices")
    assert TOLD in shown
    assert "complete_task invoices" in shown or "complete-task invoices" in shown
    assert TOLD not in ran(path, "remember", TEXT, "--task", "other", "--session", "monday")
    assert TOLD not in ran(path, "remember", "The bank opens at 9.", "--session", "monday")
    assert TEXT not in ran(path, "list")
    ran(path, "complete-task", "invoices")
    assert TEXT in ran(path, "list")


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_tool_says_so(memory):
    async def story(client):
        for given, told in (({"task": "t"}, True), ({"task": "t", "session": "s"}, False), ({}, False)):
            answer = await client.call_tool("remember", {"content": f"{TEXT} {given}", **given})
            assert not answer.is_error
            assert (TOLD in answer.content[0].text) is told

    talk(over(memory), story)
