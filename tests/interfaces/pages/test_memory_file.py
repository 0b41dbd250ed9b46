"""MEMORY.md on the page: the agent's file as it is, beside what it would be."""

from __future__ import annotations

import os
import re
import sys
from html import unescape
from pathlib import Path

import pytest

from conftest import WORDS_ONLY, opened
from interfaces.pages.browsers import served as served_pages
from interfaces.pages.browsers import visiting
from interfaces.pages.browsing import Browser, words
from interfaces.pages.test_foreign_text import HOSTILE
from perdure import compose
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings, memory_files
from perdure.records.errors import InvalidInput
from programs import library
from service.test_serve import served, talked

axe = library("axe_playwright_python.sync_playwright")
posix = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "agent" / "MEMORY.md"


@pytest.fixture
def browser(memory, file):
    file.parent.mkdir()
    settings = Settings(frozenset({"testserver"}), memory_files={"team/a": file, "default": file})
    with Browser(build_app(lambda: memory, settings)) as client:
        yield client


def diff(reply):
    """The lines of the page's document as (sign, line)."""
    text = re.search(r'<pre class="document"[^>]*>(.*?)</pre>', reply.text, re.DOTALL)[1]
    plain = unescape(re.sub(r"</?(?:ins|del)>", "", text))
    return [(line[0], line[2:]) for line in plain.splitlines()]


def test_the_file_as_it_is_stands_beside_what_it_would_be(browser, memory, file):
    kept = memory.remember("Deploys happen on Tuesdays.")
    file.write_text("My own notes: the safe's code.\n")
    compose.digest_file(file).write(memory.digest())
    same = browser.get("/memory-md")
    assert "MEMORY.md as it is, compared with what it would be: nothing would change." in words(same)
    assert {sign for sign, _ in diff(same)} == {" "}
    memory.forget(kept.id)
    memory.remember("The staging server listens on port 8080.")
    changed = browser.get("/memory-md")
    assert "1 line added (+) , 1 line left out (-)" in words(changed)
    assert [(s, "Tuesdays" in line, "8080" in line) for s, line in diff(changed) if s != " "] == [
        ("-", True, False),
        ("+", False, True),
    ]
    assert "".join(f"{line}\n" for sign, line in diff(changed) if sign in " +") == memory.digest()
    shown = [line for sign, line in diff(changed) if sign in " -"]
    assert file.read_text().endswith("".join(f"{line}\n" for line in shown[1:]))
    assert "safe" not in changed.text
    assert str(file.parent) not in changed.text


def test_each_profile_is_compared_with_the_file(browser, memory, file):
    for number in range(60):
        memory.remember(f"Server {number} listens on port {8000 + number}, as the {number}. of them.")
    compose.digest_file(file).write(memory.digest(profile="hermes"))
    shown = browser.get("/memory-md?profile=hermes")
    assert "nothing would change" in words(shown)
    shown = browser.get("/memory-md?profile=claude-code")
    made = memory.digest(profile="claude-code")
    assert made not in {memory.digest(), memory.digest(profile="hermes")}
    assert "".join(f"{line}\n" for sign, line in diff(shown) if sign in " +") == made


def test_a_file_that_is_not_there_or_has_no_part_of_ours_is_said_to_be_new(browser, memory, file):
    memory.remember("Deploys happen on Tuesdays.")
    assert "MEMORY.md is not there yet: all of it would be new." in words(browser.get("/memory-md"))
    file.write_text("Mine.\n")
    assert "MEMORY.md has no part that Perdure wrote" in words(browser.get("/memory-md"))


@posix
@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda file, secret: file.symlink_to(secret), "cannot be read: it is a symbolic link"),
        (lambda file, _: os.mkfifo(file), "is not a regular file"),
        (lambda file, _: file.mkdir(), "cannot be read"),
        (lambda file, secret: file.write_bytes(secret.read_bytes() + b"x\n" * 200_000), "is too long to be shown"),
        (lambda file, secret: file.write_text(secret.read_text().replace("Hidden", "Hidden\n" * 3000)), "is too long"),
        (lambda file, secret: file.write_bytes(secret.read_bytes().replace(b"Hidden", b"Hidden\xff")), "not UTF-8"),
        (lambda file, _: file.write_text("<!-- perdure:begin -->\nHidden.\n"), "markers in MEMORY.md are damaged"),
        (lambda file, secret: file.write_text(secret.read_text().replace("Hid", "x\n" * 200_000)), "is too long"),
    ],
    ids=["link", "pipe", "folder", "large", "many-lines", "binary", "damaged", "end-far-away"],
)
def test_what_is_no_such_file_is_told_and_not_shown(browser, memory, file, tmp_path, make, told):
    secret = tmp_path / "secret"
    secret.write_text("<!-- perdure:begin -->\nHidden.\n<!-- perdure:end -->\n")
    make(file, secret)
    memory.remember("Deploys happen on Tuesdays.")
    for address in ("/memory-md", "/memory-md?profile=hermes"):
        shown = browser.get(address)
        assert shown.status_code == 200
        assert told in words(shown)
        assert "Hidden." not in shown.text
        assert "Tuesdays" in shown.text


def test_a_token_sees_the_files_of_its_namespaces_alone(browser, memory, file):
    file.write_text("<!-- perdure:begin -->\nOurs alone.\n<!-- perdure:end -->\n")
    for pattern, sees in (("team/*", True), ("other/*", False)):
        secret = memory.create_token("reader", pattern, actor=f"Ana {sees}").secret
        reply = browser.get("/memory-md?namespace=team/a", headers={"authorization": f"Bearer {secret}"})
        assert ("Ours alone." in reply.text) == sees


def test_the_policys_own_file_is_shown_for_its_namespace(tmp_path, clock):
    file = tmp_path / "MEMORY.md"
    file.write_text("<!-- perdure:begin -->\nOld line.\n<!-- perdure:end -->\n")
    policy = {**WORDS_ONLY, "digest": {"file": str(file), "namespace": "team/a"}}
    with (
        opened(tmp_path / "agent.db", policy, clock) as memory,
        Browser(build_app(lambda: memory, Settings(frozenset({"testserver"})))) as client,
    ):
        assert ("-", "Old line.") in diff(client.get("/memory-md?namespace=team/a"))
        assert "Old line." not in client.get("/memory-md").text


def test_what_the_file_holds_is_text(browser, file):
    named = file.with_name(HOSTILE[1].replace("/", ""))
    browser.app.state.limits.settings.memory_files["default"] = named
    for text in (*HOSTILE, "photo\u202egnp.exe\x1b[31m"):
        named.write_text(f"<!-- perdure:begin -->\n{text}\n<!-- perdure:end -->\n", "utf-8")
        shown = browser.get("/memory-md").text
        main = shown[shown.index("<main") :]
        assert not re.search("<(?:script|img|svg|iframe)|[\u202e\x1b]", main), text


def test_the_command_takes_files_by_namespace(tmp_path):
    file = tmp_path / "notes=1.md"
    file.write_text("<!-- perdure:begin -->\nOld line.\n<!-- perdure:end -->\n")
    with served(tmp_path, "--memory-file", f"default={file}", "--memory-file", "b=x.md") as (_, port):
        status, _, text = talked(port, "GET", "/memory-md", None, {})
    assert (status, "Old line." in text, "notes=1.md" in text) == (200, True, True)


def test_the_difference_is_read_on_a_phone_in_the_dark_and_without_colours(chrome, memory, tmp_path):
    file = tmp_path / f"{'long-' * 30}MEMORY.md"
    old = "\n".join(("An old line.", *HOSTILE, "x" * 300))
    file.write_text(f"<!-- perdure:begin -->\n{old}\n<!-- perdure:end -->\n")
    memory.remember("Deploys happen on Tuesdays.")
    with served_pages(memory, memory_files={"default": file}) as address:
        for look in ("light", "dark"):
            screen = {"width": 360, "height": 740}
            with visiting(chrome, address, viewport=screen, color_scheme=look) as tab:
                tab.goto("/memory-md")
                assert tab.evaluate("window.ran") is None
                assert tab.evaluate("document.documentElement.scrollWidth") <= 360
                assert tab.locator("pre del", has_text="An old line.").inner_text() == "- An old line."
                added = tab.locator("pre ins", has_text="Deploys happen on Tuesdays.")
                assert added.inner_text().startswith("+ ")
                found = axe.Axe().run(tab).response["violations"]
                assert [v["id"] for v in found if v["impact"] in {"serious", "critical", "moderate"}] == []
                tab.get_by_role("link", name="hermes").click()
                assert tab.locator("pre del", has_text="An old line.").count() == 1


@posix
def test_a_name_that_no_file_can_have_is_reported(memory):
    settings = Settings(frozenset({"testserver"}), memory_files={"default": Path("x" * 300)})
    with Browser(build_app(lambda: memory, settings)) as client:
        shown = client.get("/memory-md")
    assert (shown.status_code, "cannot be read" in words(shown)) == (200, True)


@posix
def test_a_home_that_nobody_has_is_refused():
    with pytest.raises(InvalidInput, match="The home folder in"):
        memory_files(["default=~nosuchuser/MEMORY.md"])
