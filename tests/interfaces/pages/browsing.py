"""A browser's requests without a browser, and what a reader sees of the reply."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
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


class Forms:
    """Sends forms as a browser does: with the fields that the page has, and where it came from."""

    own: ClassVar = {"origin": "http://testserver"}

    def fill(self, path, form="", **fields):
        """Send the first form of a page whose action starts with ``form``, with these fields filled in."""
        return self.answer(self.get(path), form, **fields)

    def answer(self, page, form="", **fields):
        """Send the form of a page that was got; of several the one about the memory ``id``, if one is."""
        found = [f for f in forms(page.text) if f[0].startswith(form)]
        action, inside = next((f for f in found if hidden(f[1]).get("id") == fields.get("id")), found[0])
        return self.post(action, data={**hidden(inside), **fields}, headers=self.own)

    def look(self, page, action, **fields):
        """Send a form of a page that only looks: with what its fields hold, some of them filled in."""
        found = [form for form in get_forms(page.text) if form.action.partition("#")[0] == action]
        form = next(form for form in found if fields.keys() <= form.fields.keys() | form.options.keys())
        for name, value in fields.items():
            assert value in (form.options.get(name) or [value]), f"{name} cannot be {value!r}"
        return self.get(action, params={**form.fields, **fields})


class Browser(Forms, TestClient):
    """A browser at an application of this process."""


def forms(html):
    found = re.findall(r'<form method="post" action="([^"]*)"[^>]*>(.*?)</form>', html, re.DOTALL)
    return [(unescape(action), inside) for action, inside in found]


def hidden(html):
    """Return what the hidden fields of a form hold: name -> value, or values where several have that name."""
    found = {}
    for name, value in re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', html):
        found.setdefault(name, []).append(unescape(value))
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def words(reply):
    """What a reader sees of a page."""
    return plain(reply.text.partition("<main")[2].partition(">")[2].partition("</main>")[0])


@dataclass
class GetForm:
    """A form that only looks."""

    action: str
    fields: dict = field(default_factory=dict)  # name -> what it holds
    options: dict = field(default_factory=dict)  # name -> what it may hold, of a choice and of a box
    names: dict = field(default_factory=dict)  # label -> name


class _GetForms(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.form, self.choice, self.chosen, self.label = [], None, None, False, None
        self.labels, self.named = {}, {}  # id -> words, id -> name

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "form" and given["method"] == "get":
            self.form = GetForm(given["action"])
            self.found.append(self.form)
        elif self.form and tag == "label":
            self.label, self.labels[given["for"]] = given["for"], ""
        elif self.form and "name" in given:
            self._field(tag, given["name"], given)
        elif tag == "option" and self.form:
            self.form.options[self.choice].append(given.get("value"))
            self.chosen = "selected" in given

    def _field(self, tag, name, given):
        if given.get("type") == "checkbox":
            self.form.options[name] = [given["value"]]
        if tag == "select":
            self.choice, self.form.options[name] = name, []
        if given.get("type") != "checkbox" or "checked" in given:
            self.form.fields[name] = given.get("value", "")
        self.named[given.get("id")] = name

    def handle_data(self, data):
        if self.label:
            self.labels[self.label] += data.strip()
        options = self.form.options.get(self.choice) if self.form else None
        if options and options[-1] is None:
            options[-1] = data.strip()
        if options and self.chosen:
            self.form.fields[self.choice], self.chosen = options[-1], False

    def handle_endtag(self, tag):
        if tag == "form" and self.form:
            self.form.names = {words: self.named[i] for i, words in self.labels.items() if i in self.named}
            self.form, self.labels, self.named = None, {}, {}
        self.label = None if tag == "label" else self.label


def get_forms(html):
    """Return the forms of a page that only look."""
    reader = _GetForms()
    reader.feed(html)
    return reader.found


def below(reply, heading):
    """Return the part of a page below a heading, up to the next one of its rank or above it."""
    found = [(m.start(), m.end(), int(m[1]), plain(m[2])) for m in re.finditer(r"<h(\d).*?>(.*?)</h\1>", reply.text)]
    ((_, begin, rank, _),) = [one for one in found if one[3] == heading]
    return reply.text[begin : next((start for start, _, other, _ in found if start > begin and other <= rank), None)]


def plain(html):
    """Return the words of a part of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def rows(html):
    """Return the rows of the tables in a part of a page, each as the words of its cells."""
    found = re.findall(r"<tr\b[^>]*>(.*?)</tr>", html, re.DOTALL)
    return [[plain(cell) for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, re.DOTALL)] for row in found]


def bars(html):
    """Return name -> amount of the bars that a part of a page has side by side."""
    return {
        unescape(name): int(n.replace(",", "")) for name, n in re.findall(r"<title>([^<]*): ([\d,]+)</title>", html)
    }
