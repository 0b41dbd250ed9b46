"""`perdure watch`: the store as it is, and each operation as it happens."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from threading import Timer

import pytest
from typer.testing import CliRunner

import perdure
from conftest import ENV, WORDS_ONLY
from perdure.interfaces.cli import app as cli

COMMAND = [sys.executable, "-m", "perdure", "watch", "--every", "0.2", "--store", "agent.db", "--policy", "policy.toml"]
POLICY = '[embedder]\nmodel = "none"\n\n[alerts]\nquestions = 1\n'
ESCAPE = "\x1b"


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    with perdure.open("agent.db", WORDS_ONLY) as memory:
        memory.remember("The staging server listens on port 8081.", namespace="a")
        yield memory


@contextmanager
def watching(*words, **how):
    """Run the command beside the memory of this process; it ends in order with Ctrl-C."""
    environment = {**ENV, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "60"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen([*COMMAND, *words], env=environment, stderr=subprocess.PIPE, text=True, **how) as process:
        limit = Timer(60, process.kill)  # who waits for what never comes reads the end of its output
        limit.start()
        try:
            yield process
            process.send_signal(signal.SIGINT)
            assert (process.wait(60), process.stderr.read()) == (0, "")
        finally:
            limit.cancel()
            process.kill()


def test_one_look_shows_figures_alerts_and_operations(place):
    shown = CliRunner().invoke(cli.app, ["watch", "--once", "--store", "agent.db"])
    assert shown.exit_code == 0, shown.output
    (tier,) = place.stats().tiers
    for words in ("1 memory in view", f"{tier} 1", "Nothing needs attention.", "remember"):
        assert words in shown.output, words
    other = CliRunner().invoke(cli.app, ["watch", "--once", "--store", "agent.db", "-n", "b"])
    assert "0 memories in view" in other.output


def test_what_others_do_is_told_as_json_while_it_runs(place):
    with watching("--json", stdout=subprocess.PIPE) as process:

        def told():
            return json.loads(process.stdout.readline())

        assert told() == {"alerts": []}
        kept = place.remember("Deploys happen on Tuesdays.\x1b[31m", namespace="b")
        operation = told()["operation"]
        assert (operation["id"], operation["operation"], operation["namespace"]) == (kept.operation, "remember", "b")
        place.used([kept.id], "wrong")
        [alert] = told()["alerts"]
        assert (alert["name"], alert["namespace"], alert["value"]) == ("questions", "b", 1.0)
        assert told()["operation"]["operation"] == "used"
        other = place.remember("Deploys happen at noon.", namespace="b")
        assert told()["operation"]["operation"] == "remember"
        place.used([other.id], "wrong")
        assert told()["operation"]["operation"] == "used"  # no alert came or went: one has another value
        place.settle(other.id)
        assert told()["operation"]["operation"] == "settle"
        place.settle(kept.id)
        assert told() == {"alerts": []}
        assert told()["operation"]["operation"] == "settle"


def test_elsewhere_than_in_a_terminal_news_are_plain_lines(place):
    told = []
    with watching(stdout=subprocess.PIPE) as process:

        def until(*words):
            lines = []
            while not all(any(word in line for line in lines) for word in words):
                lines.append(process.stdout.readline())
                assert lines[-1], lines
            told.extend(lines)
            return lines

        first = until("Undo the newest")
        assert "1 memory in view" in first[0]
        assert sum("Nothing needs attention." in line for line in first) == 1
        kept = place.remember("Deploys happen on Tuesdays.\x1b[31m", namespace="b")
        [line] = until(": remember ")
        assert re.fullmatch(rf"\S+ \S+ UTC  b: remember {kept.operation[-8:]} .*\n", line), line
        place.used([kept.id], "wrong")
        assert len(until(": used ", "info: b: 1 question waits for a person")) == 2
        place.pin(kept.id)
        [_] = until(": pin ")  # an alert that stays is not told again
        place.settle(kept.id)
        assert len(until(": settle ", "Nothing needs attention.")) == 2
    assert ESCAPE not in "".join(told)


class Screen:
    """What a terminal shows of a text with line ends and the few codes that move the cursor and empty lines."""

    def __init__(self, text):
        self._rows, self._row, self._column = [""], 0, 0
        for code, letter, plain in re.findall(rf"{ESCAPE}\[([?\d;]*)([A-Za-z])|([^{ESCAPE}])", text):
            if plain:
                self._put(plain)
            elif letter == "A":
                self._row -= int(code or 1)
            elif letter == "K":
                self._rows[self._row] = ""

    def _put(self, character):
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._row += 1
            self._rows += [""] * (self._row + 1 - len(self._rows))
        else:
            line = self._rows[self._row].ljust(self._column)
            self._rows[self._row] = line[: self._column] + character + line[self._column + 1 :]
            self._column += 1

    @property
    def text(self):
        return "\n".join(row.rstrip() for row in self._rows)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_in_a_terminal_one_picture_is_drawn_anew(place):
    import pty

    ours, theirs = pty.openpty()
    screen, raw = Screen(""), b""

    def until(*words):
        nonlocal screen, raw
        while not all(word in screen.text for word in (*words, "Undo the newest")):  # it ends the picture
            raw += os.read(ours, 65536)
            screen = Screen(raw.decode(errors="ignore"))
        return screen.text

    with watching(stdin=theirs, stdout=theirs) as process:
        os.close(theirs)
        assert ": remember" not in until("1 memory in view")
        kept = place.remember("Deploys happen on Tuesdays.", namespace="b")
        shown = until("2 memories in view", kept.operation[-8:])
        assert shown.count("in view") == shown.count("Nothing needs attention.") == 1  # the first picture is gone
        place.used([kept.id], "wrong")
        shown = until("1 question waits for a person", "1 to a person")
        assert "Nothing needs attention." not in shown
        place.settle(kept.id)
        assert "wait for a person" not in until("Nothing needs attention.")
        assert process.poll() is None
    os.close(ours)
    assert b"\x1b[1m" in raw  # the heading is bold
    assert raw.count(b"in view") > 3
