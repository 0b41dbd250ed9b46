"""The service below a path of a proxy, which takes the path away from what it passes on."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import perdure
from service.conftest import POLICY
from service.test_lasting_sessions import form_token
from service.test_serve import served, talked

HTML = {"accept": "text/html"}
FORM = {**HTML, "content-type": "application/x-www-form-urlencoded"}
LINKS = re.compile(r'(?:href|action|src)="(/[^"]*)"')


def test_all_links_of_the_page_lead_below_the_path(tmp_path):
    with perdure.open(tmp_path / "a.db", POLICY) as memory:
        kept = memory.remember("Ana paints the fence.").id
        secret = memory.create_token("curator", "*", actor="ana").secret
    with served(tmp_path, "--root-path", "/mem/") as (_process, port):

        def page(path, headers, method="GET", body=None):
            return talked(port, method, path, body, headers)

        status, heads, _ = page("/", HTML)
        assert (status, heads["location"]) == (303, "/mem/login")
        _, heads, text = page("/login", HTML)
        cookie = heads["set-cookie"]
        assert "path=/mem" in cookie.lower()
        given = urlencode({"token": form_token(text), "secret": secret})
        status, heads, _ = page("/login", {**FORM, "cookie": cookie.partition(";")[0]}, "POST", given)
        assert (status, heads["location"]) == (303, "/mem/")
        known = {**HTML, "cookie": heads["set-cookie"].partition(";")[0]}
        links = set()
        for path in ("/", f"/memory?id={kept}", "/facts", "/plans", "/search?q=fence"):
            status, _, text = page(path, known)
            assert status == 200, path
            links |= set(LINKS.findall(text.replace("&amp;", "&")))
        assert len(links) > 5
        for link in links:
            assert link.startswith("/mem/"), link
        for link in links - {"/mem/logout"}:  # takes forms alone
            assert page(link.removeprefix("/mem"), known)[0] in {200, 303, 405}, link
        assert page("/v1/list", known)[0] == 401  # a browser sends its cookie unasked
        assert page("/v1/list", {"authorization": f"Bearer {secret}"})[0] == 200
        for path in ("/healthz", "/readyz", "/openapi.json"):
            assert page(path, {})[0] == 200, path
