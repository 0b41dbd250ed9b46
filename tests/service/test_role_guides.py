"""The guide of each role: its commands, requests and programs run in order, with the tokens that it names."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import perdure.memory  # declares the verbs
from perdure.records.access import ROLES
from perdure.verbs.declaration import VERBS
from service.test_guide import perdure as command
from service.test_serve import served

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "roles.md").read_text("utf-8")
PEOPLE = ("The agent's user", "The engineer", "The platform operator")


def sections():
    """Each section's name and text, in order."""
    found = re.split(r"^## (.*)\n", GUIDE, flags=re.MULTILINE)[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


def test_each_kind_of_people_and_each_role_has_a_guide_with_examples():
    assert set(sections()) == {*PEOPLE, *ROLES}
    for name, text in sections().items():
        assert "```" in text, name


@pytest.mark.parametrize("role", ROLES)
def test_the_guide_of_a_role_names_the_verbs_that_need_it(role):
    told = re.search(r"^May (?:also )?call: (.*?)\.$", sections()[role], re.MULTILINE | re.DOTALL)[1]
    assert sorted(re.findall(r"`(\w+)`", told)) == sorted(name for name, verb in VERBS.items() if verb.needs == role)


def request(line, port, secrets):
    """Send a request of the guide; returns the status of its answer, and the status that the guide tells."""
    words, _, told = line.partition(" # ")
    for name, secret in secrets.items():
        words = words.replace(f"${name}", secret)
    given = [word.replace("localhost:8766", f"localhost:{port}") for word in shlex.split(words)]
    done = subprocess.run(
        [*given, "-o", os.devnull, "-w", "%{http_code}"], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout, told or "200"


@pytest.mark.skipif(shutil.which("curl") is None or sys.platform == "win32", reason="no curl")
def test_everything_that_the_guides_show_works_in_its_order(tmp_path, monkeypatch):
    monkeypatch.setenv("PERDURE_STORE", str(tmp_path / "a.db"))  # that of the service
    (tmp_path / "perdure.toml").write_text('[embedder]\nmodel = "none"\n')
    operator = sections()["The platform operator"]
    before, serves, after = operator.partition("perdure serve --port 8766\n")
    assert serves
    run_commands(before, tmp_path)
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}) as memory:
        made = {t.role: t.namespace for t in memory.list_tokens()}
        assert made == {"admin": "*", **dict.fromkeys(("curator", "agent", "reader"), "team/*")}
        secrets = {role.upper(): memory.create_token(role, place, actor="x").secret for role, place in made.items()}
    for name, secret in secrets.items():
        monkeypatch.setenv(name, secret)
    refused = set()
    with served(tmp_path) as (_process, port):
        rest = [after, *(text for name, text in sections().items() if name != "The platform operator")]
        for kind, block in (found for text in rest for found in re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)):
            if kind == "python":
                exec(block.replace("localhost:8766", f"localhost:{port}"), {"__name__": "example"})  # noqa: S102
                continue
            run_commands(block, tmp_path)
            for line in (line for line in block.splitlines() if line.startswith("curl")):
                status, told = request(line, port, secrets)
                assert status == told, line
                refused.add(told)
    assert refused == {"200", "403"}
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}) as memory:
        assert not [m for m in memory.list("team/a", include_archived=True) if "Ana" in m.content]


def run_commands(text, folder):
    for line in re.findall(r"^perdure .*", text, re.MULTILINE):
        code, _, error = command(folder, *shlex.split(line)[1:])
        assert code == 0, (line, error)
