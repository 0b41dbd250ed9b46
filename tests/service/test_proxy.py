"""The configuration of nginx in ``deploy``, run with a certificate of its own before the service: what goes through."""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from urllib.parse import urlencode

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import perdure
from free_ports import free_port
from interfaces.pages.browsing import forms, hidden
from perdure.interfaces.http import shared
from programs import program
from service.conftest import POLICY
from service.test_serve import served

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
NAME = "memory.example.org"
HTML = {"accept": "text/html"}
TIDY = re.compile(rf"/etc/letsencrypt/live/{re.escape(NAME)}/(fullchain|privkey)\.pem")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nginx")


@pytest.fixture(scope="module")
def nginx():
    return program(("nginx",), "nginx-light")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    openssl = program(("openssl",), "openssl")
    made = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    about = ("-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}")
    kept = ("-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem")
    subprocess.run([openssl, *made, *about, *kept], check=True, capture_output=True, timeout=60)
    return folder


class Proxy:
    """The ports of a proxy that runs, and requests to it by the service's name."""

    def __init__(self, ports, certificate):
        self.ports = ports
        self.trust = ssl.create_default_context(cafile=certificate / "fullchain.pem")

    def connect(self, source="127.0.0.1"):
        """A connection to the proxy, with TLS, checked against the name that it is known by."""
        made = HTTPSConnection(NAME, timeout=30, context=self.trust)
        made.sock = self.trust.wrap_socket(
            socket.create_connection(("127.0.0.1", self.ports[443]), 30, (source, 0)), server_hostname=NAME
        )
        return made

    def ask(self, method, path, body=None, headers=None, source="127.0.0.1"):
        with closing(self.connect(source)) as connection:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, {n.lower(): v for n, v in answer.getheaders()}, answer.read().decode()

    def ask_json(self, path, given, headers=None, **more):
        told = {"content-type": "application/json", **(headers or {})}
        status, _, text = self.ask("POST", path, json.dumps(given), told, **more)
        return status, json.loads(text)


def configured(folder, certificate, service, ports):
    """Write the documented configuration with the test's ports and certificate, and what stands around it."""
    text = (DEPLOY / "nginx.conf").read_text("utf-8")
    assert len(TIDY.findall(text)) == 2
    text = TIDY.sub(lambda found: str(certificate / f"{found[1]}.pem"), text)
    text = text.replace("127.0.0.1:8766", f"127.0.0.1:{service}")
    for port, own in ports.items():
        text = re.sub(rf"listen {port}\b", f"listen 127.0.0.1:{own}", text)
    (folder / "site.conf").write_text(text)
    places = "\n".join(
        f"{kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""  # the test's folders are its user's alone
    (folder / "nginx.conf").write_text(f"""{user}
daemon off; worker_processes 1; pid {folder / "nginx.pid"}; error_log {folder / "error.log"};
events {{ worker_connections 256; }}
http {{ access_log {folder / "access.log"}; {places} include {folder / "site.conf"}; }}
""")
    return folder / "nginx.conf"


@contextmanager
def proxied(nginx, certificate, folder, service):
    ports = {80: free_port(), 443: free_port()}
    config = configured(folder, certificate, service, ports)
    command = [nginx, "-c", str(config), "-e", str(folder / "error.log")]
    tried = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False, timeout=60)
    assert tried.returncode == 0, tried.stderr
    assert "warn" not in tried.stderr
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            until = time.monotonic() + 30
            while True:
                try:
                    socket.create_connection(("127.0.0.1", ports[443]), 1).close()
                    break
                except OSError:
                    assert process.poll() is None, process.stderr.read()
                    assert time.monotonic() < until
                    time.sleep(0.05)
            yield Proxy(ports, certificate)
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    with perdure.open(folder / "a.db", POLICY) as memory:
        memory.remember("Deploys happen on Tuesdays.", "team/a")
        made = {role: memory.create_token(role, "*", actor=role).secret for role in ("curator", "admin")}
    return folder, made


@pytest.fixture(scope="module")
def proxy(nginx, certificate, place, tmp_path_factory):
    folder, _ = place
    with (
        served(folder, "--allowed-host", NAME, "--threads", "4") as (_process, port),
        proxied(nginx, certificate, tmp_path_factory.mktemp("nginx"), port) as found,
    ):
        yield found


@pytest.fixture
def bearer(place):
    return {"authorization": f"Bearer {place[1]['admin']}"}


def test_calls_and_pages_come_through_with_what_browsers_are_told(proxy, bearer):
    status, found = proxy.ask_json("/v1/recall", {"query": "When do we deploy?", "namespace": "team/a"}, bearer)
    assert (status, len(found["hits"])) == (200, 1)
    for path in ("/healthz", "/login", "/v1/list"):
        status, headers, _ = proxy.ask("GET", path, headers=HTML)
        assert headers["strict-transport-security"] == "max-age=31536000", path
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "/" not in headers["server"]
    assert proxy.ask_json("/v1/recall", {"query": "x"})[0] == 401


def test_plain_http_leads_to_tls_and_other_names_lead_nowhere(proxy):
    with closing(HTTPConnection("127.0.0.1", proxy.ports[80], timeout=30)) as connection:
        connection.request("GET", "/plans?preview=1", headers={"host": NAME})
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("location")) == (308, f"https://{NAME}/plans?preview=1")
    careless = ssl.create_default_context()
    careless.check_hostname, careless.verify_mode = False, ssl.CERT_NONE
    plain = socket.create_connection(("127.0.0.1", proxy.ports[443]), 30)
    with closing(plain), pytest.raises(ssl.SSLError):
        careless.wrap_socket(plain, server_hostname="evil.example")
    status, _, _ = proxy.ask("GET", "/v1/list", headers={"host": "evil.example"})
    assert status == 421


def logged_in(proxy, secret, source="127.0.0.1", **headers):
    """Log in as a browser does behind TLS; returns the status, and the cookie as the service sets it."""
    _, heads, page = proxy.ask("GET", "/login", headers=HTML, source=source)
    cookie = heads["set-cookie"]
    given = urlencode({**hidden(forms(page)[0][1]), "secret": secret})
    sent = {"content-type": "application/x-www-form-urlencoded", "cookie": cookie.partition(";")[0], **HTML, **headers}
    status, heads, _ = proxy.ask("POST", "/login", given, {"origin": f"https://{NAME}", **sent}, source)
    return status, heads.get("set-cookie", "")


def test_a_person_logs_in_and_the_cookie_travels_over_tls_alone(proxy, place):
    status, cookie = logged_in(proxy, place[1]["curator"])
    assert status == 303
    assert {"secure", "httponly", "samesite=strict"} <= {part.strip().lower() for part in cookie.split(";")}
    kept = {"cookie": cookie.partition(";")[0], **HTML}
    assert "1 note is in view" in proxy.ask("GET", "/?namespace=team/a", headers=kept)[2]
    for origin in ("https://evil.example", f"http://{NAME}", "null"):
        assert logged_in(proxy, place[1]["curator"], origin=origin)[0] == 403, origin


def test_each_address_has_its_own_tries_whatever_it_says_of_itself(proxy, place):
    said = [{"x-forwarded-for": f"10.0.0.{n}"} for n in range(shared.TRIES)]
    statuses = [logged_in(proxy, "guess", "127.0.0.2", **one)[0] for one in said]
    assert statuses == [401] * shared.TRIES
    assert logged_in(proxy, "guess", "127.0.0.2", **{"x-forwarded-for": "10.9.9.9"})[0] == 429
    assert logged_in(proxy, "guess", "127.0.0.3")[0] == 401
    assert logged_in(proxy, place[1]["curator"], "127.0.0.2")[0] == 303


def test_news_come_as_they_happen(proxy, place, bearer):
    _, cookie = logged_in(proxy, place[1]["curator"])
    with closing(proxy.connect()) as connection:
        connection.request("GET", "/live?namespace=team/b", headers={"cookie": cookie.partition(";")[0]})
        answer = connection.getresponse()
        assert answer.getheader("content-type").startswith("text/event-stream")
        until_hello = b""
        while b"hello" not in until_hello:
            until_hello += answer.read1()
        began = time.monotonic()
        assert proxy.ask_json("/v1/remember", {"content": "News.", "namespace": "team/b"}, bearer)[0] == 200
        news = b""
        while b"event: operation" not in news:
            chunk = answer.read1()
            assert chunk, "the stream ended before the news came"
            news += chunk
        assert b'"name": "remember"' in news
        assert time.monotonic() - began < 9  # the stream is not kept back until it ends, after ten seconds


def test_mcp_and_an_export_come_through(proxy, bearer):
    async def story():
        url = f"https://{NAME}:{proxy.ports[443]}/mcp"
        backend = httpx2.AsyncHTTPTransport(verify=proxy.trust)

        class Resolved(httpx2.AsyncBaseTransport):
            async def handle_async_request(self, request):
                request.extensions["sni_hostname"] = NAME
                request.url = request.url.copy_with(host="127.0.0.1")
                request.headers["host"] = NAME
                return await backend.handle_async_request(request)

            async def aclose(self):
                await backend.aclose()

        async with (
            httpx2.AsyncClient(headers=bearer, timeout=30, transport=Resolved()) as http,
            Client(streamable_http_client(url, http_client=http), read_timeout_seconds=30) as client,
        ):
            await client.call_tool("remember", {"content": "The gate opens at seven."})
            return (await client.call_tool("recall", {"query": "When does the gate open?"})).structured_content

    assert anyio.run(story)["hits"][0]["memory"]["content"] == "The gate opens at seven."
    status, _, text = proxy.ask("GET", "/v1/export", headers=bearer)
    assert (status, "Deploys happen on Tuesdays." in text) == (200, True)
    assert json.loads(text.splitlines()[-1])


def test_long_bodies_and_heads_are_refused_and_metrics_are_the_machines_own(proxy, bearer):
    long = {"content-type": "application/json", **bearer}
    assert proxy.ask("POST", "/v1/remember", b"x" * (9 << 20), long)[0] == 413
    assert proxy.ask("GET", "/healthz", headers={f"x-{n}": "x" * 8000 for n in range(12)})[0] in {400, 431}
    assert "perdure_memories" in proxy.ask("GET", "/metrics", headers=bearer)[2]
    assert proxy.ask("GET", "/metrics", headers=bearer, source="127.0.0.2")[0] == 403


def test_a_proxy_elsewhere_is_believed_once_it_is_named(certificate, place):
    """The service is asked from another address of this machine, as from a container's gateway."""
    folder, made = place
    told = {"x-forwarded-proto": "https", "x-forwarded-for": "10.1.1.1", "host": NAME, **HTML}
    for words, believed in ((("--proxy", "127.0.0.0/30"), True), ((), False)):
        with served(folder, "--allowed-host", NAME, *words) as (_process, port):

            def ask(method, body=None, port=port, **headers):
                with closing(HTTPConnection("127.0.0.1", port, timeout=30, source_address=("127.0.0.2", 0))) as line:
                    line.request(method, "/login", body, {**told, **headers})
                    answer = line.getresponse()
                    return answer.status, answer.getheader("set-cookie") or "", answer.read().decode()

            _, cookie, page = ask("GET")
            assert ("secure" in cookie.lower()) == believed
            form = {"content-type": "application/x-www-form-urlencoded", "cookie": cookie.partition(";")[0]}
            given = urlencode({**hidden(forms(page)[0][1]), "secret": made["curator"]})
            assert ask("POST", given, origin=f"https://{NAME}", **form)[0] == (303 if believed else 403)


def test_a_proxy_that_is_no_address_is_refused(tmp_path):
    command = [sys.executable, "-m", "perdure", "serve", "--store", str(tmp_path / "a.db"), "--proxy", "gateway"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)
    assert (done.returncode, "This is no address of a proxy" in done.stderr) == (1, True)
    assert not (tmp_path / "a.db").exists()
