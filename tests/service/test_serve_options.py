"""Each option of ``perdure serve`` has its effect in a real process, by both ways in, with one worker and with two."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager, nullcontext
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest

import perdure
from free_ports import free_port
from service.conftest import POLICY
from service.test_limits import in_thread
from service.test_maintaining import beside, waited
from starts import forked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="listens on an address that only Linux has by itself")
REAL_PROCESSES = True  # what is set up when Python starts is part of what ``shown`` shows
GOLDEN = Path(__file__).resolve().parents[1] / "golden"
NAME = "memory.example.org"
PROXY = "127.0.0.3"
SET_UP = """
import os, sys
if "perdure" in " ".join(sys.orig_argv):
    with open(os.environ["STARTED"], "a") as started:
        print(*sys.orig_argv, file=started)
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
    from perdure.interfaces.hooks import background
    background.FIRST_SECONDS = 0.1
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=open(os.environ["SPANS"], "a"))))
    trace.set_tracer_provider(provider)
"""
DOORS = {
    "plain options, one worker": ("--namespace", ()),
    "command line, two workers": ("-n", ("--workers", "2", "--json")),
}
"""Way in -> how it writes the namespace, and more options: ``--json`` is one that only the command line knows."""


@pytest.fixture(scope="module", params=DOORS)
def door(request):
    return request.param


def command(*words):
    return [sys.executable, "-m", "perdure", "serve", *map(str, words)]


class Service:
    """A service that runs, its files, and requests to it."""

    def __init__(self, folder, process, address, workers):
        self.folder, self.process, self.workers = folder, process, workers
        self.host, self.port = address
        self.secrets, self.kept = [], {}

    def told(self, name):
        return (self.folder / name).read_text()

    def answer(self, method, path, given=None, source="127.0.0.1", **headers):
        """Return status, headers and text of an answer."""
        body = None if given is None else json.dumps(given)
        told = {"content-type": "application/json", **{name.replace("_", "-"): v for name, v in headers.items()}}
        if self.secrets:
            told = {"authorization": f"Bearer {self.secrets[0]}", **told}
        told = {name: value for name, value in told.items() if value is not None}
        with closing(HTTPConnection(self.host, self.port, timeout=60, source_address=(source, 0))) as talk:
            talk.request(method, path, body, told)
            got = talk.getresponse()
            return got.status, got.headers, got.read().decode()

    def ask(self, path, given, **headers):
        status, _, text = self.answer("POST", path, given, **headers)
        assert status == 200, text
        return json.loads(text)

    def mcp(self, method, **params):
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        accept = "application/json, text/event-stream"
        return self.ask("/mcp", asked, accept=accept, mcp_protocol_version="2025-06-18")["result"]


@contextmanager
def started(folder, door, *words, embedder='model = "none"', anew=False):
    """Run the command over a store with two admins' tokens, where ``anew`` by starting Python, with what it sets up."""
    if anew:
        (folder / "sitecustomize.py").write_text(SET_UP)
    (folder / "told.toml").write_text(f"[embedder]\n{embedder}\n[worth]\nnote = 0.77\n")
    with perdure.open(folder / "a.db", POLICY) as memory:
        secrets = [memory.create_token("admin", "*", actor=name).secret for name in ("ana", "bo")]
    for name in ("errors", "started", "spans"):
        (folder / name).touch()
    paths = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    set_up = {"PYTHONPATH": paths, "STARTED": str(folder / "started"), "SPANS": str(folder / "spans")}
    line = command(*words, "--store", folder / "a.db", "--policy", folder / "told.toml", *DOORS[door][1])
    with (folder / "errors").open("w") as errors, nullcontext() if anew else forked():
        begun = subprocess.Popen(line, stderr=errors, cwd=folder, env={**os.environ, **set_up})
    with begun as process:
        try:
            found = waited(lambda: re.search(r"(?<!\S)http://([\d.]+):(\d+)/(?!\S)", (folder / "errors").read_text()))
            assert found, (folder / "errors").read_text()
            service = Service(folder, process, (found[1], int(found[2])), 2 if "--workers" in line else 1)
            service.secrets = secrets
            yield service
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            finally:
                process.kill()


@pytest.fixture(scope="module")
def shown(door, tmp_path_factory):
    """A service with all options that do not limit how much may be asked, after it was asked a little."""
    folder, port = tmp_path_factory.mktemp("shown"), free_port()
    (folder / "notes.md").write_text("<!-- perdure:begin -->\nOld line.\n<!-- perdure:end -->\n")
    seen = ("--memory-file", f"team/a={folder / 'notes.md'}", "--traces", "content", "--log", "--no-maintenance")
    network = ("--host", "127.0.0.2", "--port", port, "--allowed-host", NAME, "--proxy", PROXY, "--root-path", "/mem")
    words = (*network, *seen, "--tools", "lifecycle", DOORS[door][0], "team/a")
    with started(folder, door, *words, anew=True) as service:
        service.given_port = port
        service.kept = service.ask("/v1/remember", {"content": "The gate opens at seven."})
        service.ask("/v1/recall", {"query": "When does the zebra gate open?"})
        yield service


@pytest.fixture(scope="module")
def crowded(door, tmp_path_factory):
    """What twelve calls at once got where two run at once in a worker, one waits, and none can end."""
    folder, many = tmp_path_factory.mktemp("crowded"), 12
    limits = ("--port", "0", "--threads", "2", "--waiting", "1", "--caller-threads", "2")
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a model that does not answer, until it is gone
        place = f'base_url = "http://127.0.0.1:{silent.getsockname()[1]}"'
        model = f'model = "endpoint"\n{place}\nname = "silent"\nkey_variable = ""'
        with started(folder, door, *limits, embedder=model) as service:
            asked = [
                in_thread(lambda n=n: service.answer("POST", "/v1/remember", {"content": f"Note {n}."})[0])
                for n in range(many)
            ]
            waited(lambda: sum(bool(found) for _, found in asked) >= many - 3 * service.workers, 20)
            refused = [found[0] for _, found in asked if found]
            silent.close()
            for thread, _ in asked:
                thread.join(60)
            yield SimpleNamespace(workers=service.workers, refused=refused, all=[found[0] for _, found in asked])


@pytest.fixture(scope="module")
def hurried(door, tmp_path_factory):
    """A service whose calls take half a second at most, and of which a token may make one in two seconds."""
    folder = tmp_path_factory.mktemp("hurried")
    with started(folder, door, "--port", "0", "--timeout", "0.5", "--rate", "0.5") as service:
        yield service


def listens_there_alone(service):
    assert service.host == "127.0.0.2"
    with socket.socket() as line:
        assert line.connect_ex(("127.0.0.1", service.port)) != 0


def listens_at_the_port(service):
    assert service.port == service.given_port
    assert service.answer("GET", "/healthz")[0] == 200


def stores_in_the_store(service):
    with perdure.open(service.folder / "a.db", POLICY) as memory:
        assert memory.get(service.kept["id"]).content == "The gate opens at seven."


def follows_the_policy(service):
    assert service.kept["importance"] == pytest.approx(0.77)


def is_in_the_namespace(service):
    assert service.kept["namespace"] == "team/a"
    said = service.mcp("tools/call", name="remember", arguments={"content": "Tea is at four."})
    with perdure.open(service.folder / "a.db", POLICY) as memory:
        assert memory.get(said["structuredContent"]["id"]).namespace == "team/a"


def has_the_tools(service):
    tools = {tool["name"] for tool in service.mcp("tools/list")["tools"]}
    assert tools == {tool["name"] for tool in json.loads((GOLDEN / "tools-lifecycle.json").read_text("utf-8"))}


def accepts_the_name(service):
    names = (NAME, "evil.example", f"localhost:{service.port}")
    assert [service.answer("GET", "/v1/stats", host=name)[0] for name in names] == [200, 421, 200]


def believes_the_proxy(service):
    told = {"x_forwarded_proto": "https", "host": NAME, "accept": "text/html", "authorization": None}
    secure = [
        "secure" in service.answer("GET", "/login", source=source, **told)[1]["set-cookie"].lower()
        for source in (PROXY, "127.0.0.4")
    ]
    assert secure == [True, False]


def leads_below_the_path(service):
    told = service.answer("GET", "/", accept="text/html", authorization=None)[1]
    assert told["location"] == "/mem/login"


def shows_the_file(service):
    _, _, page = service.answer("GET", "/memory-md?namespace=team/a", accept="text/html")
    assert "Old line." in page


def has_as_many_workers(service):
    expected = 0 if service.workers == 1 else 2
    assert waited(lambda: len(beside(service.process)) == expected), beside(service.process)


def traces_what_is_said(service):
    assert waited(lambda: "When does the zebra gate open?" in service.told("spans"))


def logs_calls(service):
    assert waited(lambda: '"verb": "recall"' in service.told("errors"))
    assert "zebra" not in service.told("errors")


def maintains_nothing(service):
    time.sleep(1)  # one would have begun
    assert "maintaining" not in service.told("started")
    assert "serve" in service.told("started")


def is_refused_as_json(service):
    words = ("--json", "--host", "0.0.0.0", "--store", service.folder / "none.db", "--port", "0")  # noqa: S104  # refused
    with forked():
        done = subprocess.run(
            command(*words), capture_output=True, text=True, check=False, timeout=60, cwd=service.folder
        )
    assert done.returncode == 1
    assert "Without tokens" in json.loads(done.stdout)["message"]


def refuses_what_is_too_much(found):
    assert set(found.refused) == {503}
    assert set(found.all) == {200, 503}
    assert 3 <= found.all.count(200) <= 3 * found.workers  # connections may all have gone to one of them


def ends_calls_in_time(service):
    with closing(apsw.Connection(str(service.folder / "a.db"))) as other:
        other.execute("BEGIN IMMEDIATE")
        status, _, text = service.answer("POST", "/v1/remember", {"content": "Tea."})
        took = re.search(r"took longer than ([\d.]+) s", json.loads(text)["detail"])
        assert (status, float(took[1]) <= 0.5) == (504, True), text  # the store itself waits for longer
        other.execute("ROLLBACK")


def limits_a_token(service):
    began = time.monotonic()
    token = f"Bearer {service.secrets[1]}"
    statuses = [service.answer("GET", "/v1/namespaces", authorization=token)[0] for _ in range(6)]
    assert 1 <= 6 - statuses.count(429) <= 1 + 0.5 * (time.monotonic() - began)


EFFECTS = {
    "--host": ("shown", listens_there_alone),
    "--port": ("shown", listens_at_the_port),
    "--store": ("shown", stores_in_the_store),
    "--policy": ("shown", follows_the_policy),
    "--namespace": ("shown", is_in_the_namespace),
    "--tools": ("shown", has_the_tools),
    "--allowed-host": ("shown", accepts_the_name),
    "--proxy": ("shown", believes_the_proxy),
    "--root-path": ("shown", leads_below_the_path),
    "--memory-file": ("shown", shows_the_file),
    "--workers": ("shown", has_as_many_workers),
    "--traces": ("shown", traces_what_is_said),
    "--log": ("shown", logs_calls),
    "--no-maintenance": ("shown", maintains_nothing),
    "--json": ("shown", is_refused_as_json),
    "--threads": ("crowded", refuses_what_is_too_much),
    "--waiting": ("crowded", refuses_what_is_too_much),
    "--caller-threads": ("crowded", refuses_what_is_too_much),
    "--timeout": ("hurried", ends_calls_in_time),
    "--rate": ("hurried", limits_a_token),
}
"""Option -> the service that has it, and what it does there."""


def test_every_option_of_the_help_page_has_an_effect_here():
    page = subprocess.run(command("--help"), capture_output=True, text=True, check=True, timeout=60).stdout
    named = set(re.findall(r"^\W*(--[\w-]+)", page, re.MULTILINE))
    assert named - {"--help"} == set(EFFECTS)


@pytest.mark.parametrize("option", sorted(EFFECTS, key=lambda name: EFFECTS[name][0]))
def test_an_option_has_its_effect(request, door, option):  # the services follow the door
    service, effect = EFFECTS[option]
    effect(request.getfixturevalue(service))
