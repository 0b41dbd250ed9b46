"""The guide and the files to deploy with: every command in them runs, every option in them exists."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
import yaml

from programs import program
from service.test_serve import ask, served

ROOT = Path(__file__).resolve().parents[2]
GUIDE = "\n".join((ROOT / "docs" / name).read_text("utf-8") for name in ("service.md", "network.md"))
DEPLOY = ROOT / "deploy"


def blocks(language):
    return [text for kind, text in re.findall(r"```(\w+)\n(.*?)```", GUIDE, re.DOTALL) if kind == language]


def lines():
    return [line for block in blocks("sh") for line in block.splitlines() if line.strip()]


def perdure(folder, *words):
    environment = {**os.environ, "PERDURE_POLICY": str(folder / "perdure.toml")}
    command = [sys.executable, "-m", "perdure", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, check=False, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_every_command_of_the_guide_runs(tmp_path):
    (tmp_path / "perdure.toml").write_text('[embedder]\nmodel = "none"\n')
    assert len(lines()) >= 9
    commands = [shlex.split(line) for line in lines()]
    assert {words[0] for words in commands} == {"pip", "perdure", "curl"}
    for words in commands:
        if words[:2] == ["perdure", "serve"]:
            rest = words[2:]
            for gone in ("--store", "--port"):  # the test's own
                if gone in rest:
                    place = rest.index(gone)
                    rest = rest[:place] + rest[place + 2 :]
            with served(tmp_path, *rest) as (_process, port):
                assert ask(port, "GET", "/healthz")[0] == 200
        elif words[0] == "perdure":
            own = [str(tmp_path / "a.db") if word == "team.db" else word for word in words[1:]]
            code, _, error = perdure(tmp_path, *own)
            assert code == 0, (words, error)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_every_request_of_the_guide_is_answered(tmp_path):
    program(("curl",), "curl")
    with served(tmp_path) as (_process, port):
        assert ask(port, "POST", "/v1/remember", {"content": "Deploys happen on Tuesdays."})[0] == 200
        for line in lines():
            if line.startswith("curl"):
                words = [word.replace("localhost:8766", f"localhost:{port}") for word in shlex.split(line)]
                done = subprocess.run([*words, "--fail"], capture_output=True, text=True, check=False, timeout=60)
                assert done.returncode == 0, (line, done.stderr)
                assert json.loads(done.stdout)
        for block in blocks("python"):
            found = {}
            exec(block.replace("localhost:8766", f"localhost:{port}"), found)  # noqa: S102  # our own guide
            found["memory"].close()


def test_the_guides_limits_are_the_services():
    from perdure.interfaces.http.connection import HEAD_SECONDS
    from perdure.interfaces.http.settings import Settings

    usual = Settings(frozenset())
    tables = [[cell.strip() for cell in line.split("|")[1:-1]] for line in GUIDE.splitlines() if line.startswith("|")]
    rows = {cells[0]: cells for cells in tables}
    assert rows["calls at once"][2] == str(usual.threads)
    assert rows["calls that wait"][2] == str(usual.waiting)
    assert rows["time of a call"][2] == f"{usual.call_seconds:g} s"
    assert rows["a body"][2] == f"{usual.body_bytes >> 20} MiB, {usual.body_seconds:g} s"
    assert rows["headers"][2] == f"{usual.header_bytes >> 10} KiB, {HEAD_SECONDS:g} s"


def options_of(tmp_path, words):
    """Return the options in a command that its help page does not know."""
    code, page, error = perdure(tmp_path, words[0], "--help")
    assert code == 0, error
    return [word for word in words[1:] if word.startswith("--") and word not in page]


def test_the_container_files_and_the_unit_use_options_that_exist(tmp_path):
    (tmp_path / "perdure.toml").write_text('[embedder]\nmodel = "none"\n')
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    commands = [service["command"] for service in compose["services"].values() if "command" in service]
    dockerfile = (DEPLOY / "Dockerfile").read_text("utf-8")
    commands.append(json.loads(re.findall(r"^CMD (\[.*\])", dockerfile, re.MULTILINE)[-1]))
    units = [unit_of(name) for name in ("perdure.service", "perdure-worker.service")]
    for unit in units:
        program, *words = shlex.split(unit["ExecStart"])
        assert program.endswith("/perdure")
        assert unit["DynamicUser"] == unit["NoNewPrivileges"] == "yes"
        assert int(unit["TimeoutStopSec"]) > 30
        commands.append(words)
    for command in commands:
        assert options_of(tmp_path, command) == [], command
    for name in ("service", "worker"):
        assert compose["services"][name]["read_only"] is True
        assert compose["services"][name]["cap_drop"] == ["ALL"]
    assert re.search(r"^USER 10001$", dockerfile, re.MULTILINE)
    extras = re.findall(r"\[([\w,]+)\]", dockerfile)[0].split(",")
    assert "server" in extras


def instructions():
    """The steps of the container file: a word, and the rest of its line."""
    lines = (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    return [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]


INSTRUCTIONS = {"FROM", "COPY", "RUN", "USER", "VOLUME", "ENV", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}


def test_the_container_file_is_one_that_a_linter_passes():
    """What hadolint finds in such files, and what makes a container less safe."""
    steps = instructions()
    assert {word for word, _ in steps} <= INSTRUCTIONS
    images = [rest.split()[0] for word, rest in steps if word == "FROM"]
    assert all(re.fullmatch(r"[\w./-]+:\d[\w.-]*", image) for image in images), images
    last = steps[max(n for n, (word, _) in enumerate(steps) if word == "FROM") :]
    order = [word for word, _ in last]
    assert order.index("USER") < order.index("ENTRYPOINT") < order.index("CMD")
    assert not [rest for word, rest in last if word == "RUN" and ("pip " in rest or "apt" in rest)]
    for word, rest in steps:
        if word in {"ENTRYPOINT", "CMD"}:
            assert isinstance(json.loads(rest), list), rest  # not by a shell: signals reach the process
        if word == "RUN" and "pip install" in rest:
            assert "--no-cache-dir" in rest
        assert not re.search(r"(?i)password|secret|token", rest), rest


def test_the_compose_file_joins_what_it_defines_and_shows_no_secret():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    services = compose["services"]
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
        named = [volume.partition(":")[0] for volume in service.get("volumes", ())]
        files = {volume for volume in named if volume.startswith("./")}
        assert set(named) - files <= set(compose["volumes"]), name
        assert all((DEPLOY / file).is_file() for file in files), name
        if "build" in service:
            assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    text = (DEPLOY / "compose.yaml").read_text("utf-8")
    for name in ("POSTGRES_PASSWORD", "PERDURE_PASSWORD"):
        assert re.findall(rf"{name}: (.*)", text) == [f"${{{name}:?set it}}"]
    (network,) = compose["networks"]["default"]["ipam"]["config"]
    command = services["service"]["command"]
    assert ip_address(network["gateway"]) in ip_network(network["subnet"])
    assert command[command.index("--proxy") + 1] == network["gateway"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd")
@pytest.mark.parametrize("name", ["perdure.service", "perdure-worker.service"])
def test_systemd_finds_no_fault_in_a_unit(tmp_path, name):
    text = (DEPLOY / name).read_text("utf-8").replace("/usr/local/bin/perdure", shutil.which("true"))
    (tmp_path / name).write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(tmp_path / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, [line for line in done.stderr.splitlines() if name in line]) == (0, [])


def unit_of(name):
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str
    unit.read_string((DEPLOY / name).read_text("utf-8"))
    return unit["Service"]
