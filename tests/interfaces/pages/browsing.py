"""A browser's requests without a browser, and what a reader sees of the reply."""

from __future__ import annotations

import re
from html import unescape
from typing import ClassVar

from starlette.testclient import TestClient


class Hand:
    """Hands every request the same memory, as the service's access does."""

    def __init__(self, app, memory):
        self.app, self.memory = app, memory

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            scope.setdefault("state", {})["memory"] = self.memory
        await self.app(scope, receive, send)


class Browser(TestClient):
    """Sends forms as a browser does: with the fields that the page has, and where it came from."""

    own: ClassVar = {"origin": "http://testserver"}

    def fill(self, path, form="", **fields):
        """Send the first form of a page whose action starts with ``form``, with these fields filled in."""
        return self.answer(self.get(path), form, **fields)

    def answer(self, page, form="", **fields):
        """Send the form of a page that was got."""
        action, inside = next(f for f in forms(page.text) if f[0].startswith(form))
        return self.post(action, data={**hidden(inside), **fields}, headers=self.own)


def forms(html):
    found = re.findall(r'<form method="post" action="([^"]*)"[^>]*>(.*?)</form>', html, re.DOTALL)
    return [(unescape(action), inside) for action, inside in found]


def hidden(html):
    return {n: unescape(v) for n, v in re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', html)}


def words(reply):
    """What a reader sees of a page."""
    main = reply.text.partition("<main")[2].partition(">")[2].partition("</main>")[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", main)).split())
