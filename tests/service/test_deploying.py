"""The files to deploy with are run: commands of the container, of the compose file and of the units, as they stand.

No container is built: that what is copied and installed is there is read, and installed weekly.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

import perdure
from conftest import weekly
from free_ports import free_port
from perdure.interfaces.cli.server import serve
from perdure.stores.postgres.local import SUPERUSER
from programs import program
from servers import drop_database, fresh_database, server
from service.conftest import POLICY
from service.enclosed import PERDURE, Enclosure
from service.test_guide import DEPLOY, ROOT, instructions, unit_of
from service.test_maintaining import waited
from service.test_serve import ask

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
COMPOSE = (DEPLOY / "compose.yaml").read_text("utf-8")
SERVICES = yaml.safe_load(COMPOSE)["services"]
PORT = str(inspect.signature(serve).parameters["port"].default)
PASSWORD = "word-of-a-test"  # noqa: S105  # of no server
NOTE = {"content": "Deploys happen on Tuesdays."}


def stages():
    """The instructions of each stage of the container file."""
    steps = instructions()
    begins = [place for place, (word, _) in enumerate(steps) if word == "FROM"]
    return [steps[begin:end] for begin, end in zip(begins, [*begins[1:], None], strict=True)]


def of(steps, name):
    return [rest for word, rest in steps if word == name]


IMAGE = stages()[-1]
(USER,), (VOLUME,), (EXPOSED,) = (of(IMAGE, name) for name in ("USER", "VOLUME", "EXPOSE"))
ENTRY, COMMAND = (json.loads(of(IMAGE, name)[0]) for name in ("ENTRYPOINT", "CMD"))
HEALTH = json.loads(re.search(r" CMD (\[.*\])$", of(IMAGE, "HEALTHCHECK")[0])[1])
(MADE,) = of(IMAGE, "RUN")
NAME = re.search(rf"useradd --uid {USER} .*?(\S+) &&", MADE)[1]
ENVIRONMENT = {"HOME": f"/home/{NAME}"} | dict(
    pair.split("=", 1) for rest in of(IMAGE, "ENV") for pair in shlex.split(rest)
)


def command_of(words):
    """A command with this environment's program in place of the installed one."""
    program = os.path.basename(words[0])  # noqa: PTH119  # a word, no file
    assert PROJECT["scripts"][program] == "perdure.interfaces.entry:main"
    return [*PERDURE, *words[1:]]


def at_port(words, port):
    """A command that listens at a port of the test instead of the one that is told and that it listens at."""
    if "--port" not in words:
        assert PORT == EXPOSED
        return [*words, "--port", str(port)]
    place = words.index("--port") + 1
    assert words[place] == EXPOSED
    return [*words[:place], str(port), *words[place + 1 :]]


def health(enclosure, port):
    """The exit status of the container's check."""
    assert HEALTH[0] == "python"
    words = [word.replace(EXPOSED, str(port)) for word in HEALTH[1:]]
    assert words != HEALTH[1:]
    return enclosure.run([sys.executable, *words])[0]


def begun(process, told, text):
    """Wait until a command has said something."""
    assert waited(lambda: text in told() or process.poll() is not None)
    assert text in told(), told()


def ends(process, told, seconds):
    """End a command in order within its time."""
    process.send_signal(signal.SIGTERM)
    assert process.wait(float(seconds)) == 0, told()


def test_what_the_container_installs_is_there():
    build, last = stages()
    copied = {}
    for rest in of(build, "COPY"):
        *sources, place = rest.split()
        for source in sources:
            assert (ROOT / source).exists(), source
            copied[place] = ROOT / source
    (line,) = [rest for rest in of(build, "RUN") if "pip" in rest]
    _, _, *options, embedder, wanted = words = shlex.split(line)
    assert words[:2] == ["pip", "install"]
    place, extras = re.fullmatch(r"(/[\w/]+)\[([\w,]+)\]", wanted).groups()
    project = tomllib.loads((copied[place] / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "perdure"
    needed = {"server", "mcp", "postgres", "local"}  # the usual policy asks for the embedder
    assert needed <= set(extras.split(",")) <= set(project["optional-dependencies"])
    inside = copied[place] / Path(embedder).relative_to(place) / "pyproject.toml"
    name = tomllib.loads(inside.read_text("utf-8"))["project"]["name"]
    assert [one for one in project["optional-dependencies"]["local"] if one.startswith(f"{name}>=")]
    tried = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--no-deps", *options, "pip"]
    done = subprocess.run(tried, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr  # there are such options
    (prefix,) = [option.removeprefix("--prefix=") for option in options if option.startswith("--prefix=")]
    stage = of(build, "FROM")[0].split(" AS ")[1]
    assert of(last, "COPY") == [f"--from={stage} {prefix} /usr/local"]
    images = {rest.split()[0] for rest in (*of(build, "FROM"), *of(last, "FROM"))}
    (version,) = {re.fullmatch(r"python:(3\.\d+)-slim", image)[1] for image in images}  # one: it is copied over
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]


@weekly
def test_the_container_has_what_it_installs(tmp_path):
    (line,) = [rest for rest in of(stages()[0], "RUN") if "pip" in rest]
    tree, into = tmp_path / "src", tmp_path / "install"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tree)], check=True, timeout=120)
    words = shlex.split(line.replace("/src", str(tree)).replace("/install", str(into)))
    subprocess.run([sys.executable, "-m", *words, "--ignore-installed"], check=True, timeout=540)
    (found,) = into.glob("lib/python*/site-packages")
    run = "import perdure; memory = perdure.open(':memory:'); memory.remember('Tea.'); memory.recall('tea')"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(found), "HOME": str(tmp_path)}
    command = [sys.executable, "-S", "-W", "error", "-c", run]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert (into / "bin" / "perdure").is_file()


def test_the_user_of_the_container_is_made_and_owns_the_volume():
    order = [word for word, _ in IMAGE]
    assert f"mkdir {VOLUME} && chown {NAME} {VOLUME}" in MADE
    assert order.index("RUN") < order.index("USER") < order.index("VOLUME")


def test_the_container_serves_is_found_healthy_and_ends_in_order(tmp_path):
    container = Enclosure(tmp_path, int(USER), ENVIRONMENT, {VOLUME: tmp_path / "data"})
    entry, store = command_of(ENTRY), ENVIRONMENT["PERDURE_STORE"].removeprefix(f"{VOLUME}/")
    assert "/" not in store  # nothing else may be written
    status, out, errors = container.run(
        [*entry, "token", "create", "--role", "admin", "-n", "*", "--actor", "ana", "--json"]
    )
    assert status == 0, errors
    bearer, port = {"authorization": f"Bearer {json.loads(out)['secret']}"}, free_port()
    with container.running([*entry, *at_port(COMMAND, port)]) as (process, told):
        begun(process, told, f":{port}/ until Ctrl-C.")
        assert health(container, port) == 0
        assert ask(port, "POST", "/v1/remember", NOTE, bearer)[0] == 200
        assert waited(lambda: '"verb": "remember"' in told())
        ends(process, told, 10)  # as long as containers are given if nothing is said
    assert health(container, port) != 0
    assert [one.name for one in (tmp_path / "data").iterdir()] == [store]


def interpolated(text, **given):
    """A text of the compose file with the variables in it, as docker compose puts them in."""

    def value(found):
        name, kind, rest = found.groups()
        assert name in given or kind == "-", f"{name} must be given"
        return given.get(name, rest)

    return re.sub(r"\$\{(\w+)(?::([-?])([^}]*))?\}", value, text)


SERVER = SERVICES["postgres"]
SCRIPT = (DEPLOY / "role.sql").read_text("utf-8")
ROLE = re.search(r"CREATE ROLE (\w+) ", SCRIPT)[1]
TESTS_ROLE = "perdure_of_compose"  # the test's server has a role and a database of the other name


@pytest.fixture(scope="module")
def database():
    """The URL of the database that the compose file's own script makes, as the role that it makes."""
    if os.environ.get("PERDURE_TEST_DSN"):
        pytest.skip("a server that is given makes no roles")
    psql = program(["psql"], "postgresql-client")
    told = urlsplit(server().dsn("postgres", SUPERUSER))
    environment = {"PGHOST": told.hostname, "PGPORT": str(told.port), "PGPASSWORD": told.password}
    environment |= {"PATH": os.environ["PATH"], "PERDURE_PASSWORD": PASSWORD}
    command = [psql, "-v", "ON_ERROR_STOP=1", "--no-password", "--no-psqlrc", "-U", SUPERUSER, "-d", "postgres"]
    script = re.sub(rf"\b{ROLE}\b", TESTS_ROLE, SCRIPT)
    script = re.sub(
        r"(CREATE DATABASE [^;]*)", r"\1 TEMPLATE template0", script
    )  # the usual one has the extension here
    done = subprocess.run(command, env=environment, input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    url = f"postgresql://{TESTS_ROLE}:{PASSWORD}@{told.hostname}:{told.port}/{TESTS_ROLE}"
    yield url
    drop_database(url)
    server().sql(f"DROP ROLE {TESTS_ROLE}")


def store_of(service, url):
    """The URL of a database of the test, in place of the server that a service names."""
    told = urlsplit(interpolated(service["environment"]["PERDURE_STORE"], PERDURE_PASSWORD=PASSWORD))
    assert told.hostname == "postgres"
    given = SERVER["environment"]
    assert {name for name, text in given.items() if text.startswith(f"${{{name}:?")} == given.keys()
    assert given.keys() == {"POSTGRES_PASSWORD", "PERDURE_PASSWORD"}  # the superuser has its usual name
    assert "./role.sql:/docker-entrypoint-initdb.d/role.sql:ro" in SERVER["volumes"]
    assert (told.scheme, told.username, told.password) == ("postgresql", ROLE, PASSWORD)
    assert (told.port, told.path, told.query) == (None, f"/{ROLE}", "")
    return url


def is_maintained(url):
    with perdure.open(url, POLICY) as memory:
        return memory.upkeep_state().get("report", {}).get("outcome") == "done"


@pytest.fixture
def composed(tmp_path, database):
    """Return how to run a command of a service of the compose file, and the command."""

    def make(name, *words):
        service = SERVICES[name]
        environment = {**ENVIRONMENT, **service["environment"], "PERDURE_STORE": store_of(service, database)}
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        places = {VOLUME: folder / "data"}
        assert service.get("tmpfs", ["/tmp"]) == ["/tmp"]  # noqa: S108  # as an enclosure has it
        told = [interpolated(word) for word in words or service["command"]]
        return Enclosure(folder, int(USER), environment, places), command_of([*ENTRY, *told])

    return make


def test_the_services_of_the_compose_file_run_one_after_the_other(composed, database):
    migrate, words = composed("migrate")
    for said in ("schema 1\n", "Nothing to do"):
        status, out, errors = migrate.run(words)
        assert (status, said in out) == (0, True), (out, errors)
    check, words = composed("service", "check")
    assert check.run(words)[0] == 0, check.run(
        words
    )  # it would find a superuser, whom row-level security does not hold
    name, line = re.search(r"docker compose run --rm (\w+) (.*)", COMPOSE).groups()
    told, words = composed(name, *shlex.split(line), "--json")
    status, out, errors = told.run(words)
    assert status == 0, errors
    bearer = {"authorization": f"Bearer {json.loads(out)['secret']}"}
    with perdure.open(database, POLICY) as memory:
        memory.remember(**NOTE)
    worker, words = composed("worker")
    assert not is_maintained(database)
    with worker.running(words) as (process, told):
        begun(process, told, "until Ctrl-C.")
        assert waited(lambda: is_maintained(database))
        ends(process, told, 10)
    service, words = composed("service")
    port, seen = free_port(), SERVICES["service"]["ports"][0].split(":")
    with service.running(at_port(words, port)) as (process, told):
        begun(process, told, f":{port}/ until Ctrl-C.")
        assert health(service, port) == 0
        outside = {"host": f"localhost:{seen[1]}", **bearer}  # as it is asked from the machine
        assert [ask(port, "GET", path, headers=outside)[0] for path in ("/healthz", "/readyz")] == [200, 200]
        assert ask(port, "POST", "/v1/recall", {"query": "When are deploys?"}, outside)[1]["hits"]
        ends(process, told, SERVICES["service"]["stop_grace_period"].removesuffix("s"))
    assert seen == ["127.0.0.1", EXPOSED, EXPOSED]


def test_the_unit_of_the_service_keeps_its_store_in_its_own_folder(tmp_path):
    unit = unit_of("perdure.service")
    state, kept = f"/var/lib/{unit['StateDirectory']}", tmp_path / "state"
    enclosure = Enclosure(tmp_path, 61_184, {"HOME": "/"}, {state: kept})
    port = free_port()
    words = at_port(command_of(shlex.split(unit["ExecStart"])), port)
    store = words[words.index("--store") + 1].removeprefix(f"{state}/")
    assert "/" not in store
    with enclosure.running(words) as (process, told):
        begun(process, told, f":{port}/ until Ctrl-C.")
        assert ask(port, "POST", "/v1/remember", NOTE)[0] == 200
        ends(process, told, unit["TimeoutStopSec"])
    assert [one.name for one in kept.iterdir()] == [store]


def test_the_unit_of_the_worker_maintains_the_store_of_its_environment(tmp_path):
    unit = unit_of("perdure-worker.service")
    about = " ".join(re.findall(r"^# (.*)$", (DEPLOY / "perdure-worker.service").read_text("utf-8"), re.MULTILINE))
    variable = re.search(rf"{unit['EnvironmentFile']} holds (\w+)=postgresql://", about)[1]
    url = fresh_database()
    try:
        with perdure.open(url, POLICY) as memory:
            memory.remember(**NOTE)
        state = {f"/var/lib/{unit['StateDirectory']}": tmp_path / "state"}
        enclosure = Enclosure(tmp_path, 61_184, {"HOME": "/", variable: url}, state)
        words = command_of(shlex.split(unit["ExecStart"]))
        with enclosure.running(words) as (process, told):
            begun(process, told, "until Ctrl-C.")
            assert waited(lambda: is_maintained(url))
            ends(process, told, unit["TimeoutStopSec"])
    finally:
        drop_database(url)
