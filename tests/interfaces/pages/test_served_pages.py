"""The pages of ``perdure serve`` in a real browser: what others do meanwhile, and a full disk."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from conftest import ENV
from interfaces.pages.browsers import visiting
from programs import library
from service.test_serve import ask, served

resource = pytest.importorskip("resource")  # a system that has none has no signals for the service either
expect = library("playwright.sync_api").expect

SOON = 40_000  # milliseconds until an open page has seen what others did
FULL = 507


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """The service as a process of its own: (the process, its port, its store)."""
    folder = tmp_path_factory.mktemp("served")
    with served(folder) as (process, port):
        yield process, port, folder / "a.db"


@pytest.fixture
def tab(chrome, service):
    with visiting(chrome, f"http://127.0.0.1:{service[1]}", expected={FULL}) as page:
        yield page


def figure(tab, name):
    """The number of the overview with this name."""
    return tab.locator(".figure", has_text=name).locator(".number")


def test_an_open_page_shows_what_a_caller_of_the_api_and_another_process_do(tab, service):
    _, port, store = service
    tab.goto("/")
    expect(figure(tab, "in view")).to_have_text("0")
    expect(tab.get_by_text("Nothing is known here yet.")).to_be_visible()
    tab.evaluate("window.opened = 'once'")
    status, kept = ask(port, "POST", "/v1/remember", {"content": "Deploys happen on Tuesdays."})
    assert status == 200
    expect(figure(tab, "in view")).to_have_text("1", timeout=SOON)
    expect(tab.locator("#news")).to_have_text("New: remember.")
    expect(tab.get_by_text("1 note is in view.")).to_be_visible()
    command = [sys.executable, "-m", "perdure", "pin", kept["id"], "--store", str(store)]
    done = subprocess.run(command, env=ENV, cwd=store.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expect(tab.locator("#news")).to_have_text("New: pin.", timeout=SOON)
    expect(tab.locator(".rows li").first).to_contain_text("pin")
    assert tab.evaluate("window.opened") == "once"  # it is the same page still


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process")
def test_a_full_disk_is_told_of_on_the_page_and_what_was_asked_is_done_when_there_is_room(tab, service):
    process, port, store = service
    _, kept = ask(port, "POST", "/v1/remember", {"content": "The harbour office opens at nine."})
    form = f"/change?id={kept['id']}&verb=pin"
    tab.goto(form)
    room = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    try:
        with tab.expect_response("**/change") as answered:
            tab.get_by_role("button", name="Pin").click()
        assert answered.value.status == FULL
        expect(tab.get_by_text("could not be written")).to_be_visible()
        expect(tab.get_by_text("Free some space or raise the quota, then try again.")).to_be_visible()
        assert str(store.parent) not in tab.content()  # who asks from elsewhere learns the file's name at most
        refused = ask(port, "POST", "/v1/pin", {"id": kept["id"]})
        assert (refused[0], store.name in refused[1]["detail"]) == (FULL, True)
        assert str(store.parent) not in json.dumps(refused[1])
        call = {"name": "remember", "arguments": {"content": "The harbour office closes at five."}}
        tools = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        accepts = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
        result = ask(port, "POST", "/mcp", tools, accepts)[1]["result"]
        assert result["_meta"]["perdure/error"]["error"] == "DiskFull"
        assert (store.name in str(result), str(store.parent) in str(result)) == (True, False)
        tab.goto("/search?q=When+does+the+harbour+office+open")
        expect(tab.locator(".hit").first).to_contain_text("The harbour office opens at nine.")
        assert ask(port, "GET", f"/v1/get?id={kept['id']}")[1]["pinned"] is False
    finally:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, room)
    tab.goto(form)
    tab.get_by_role("button", name="Pin").click()
    expect(tab.get_by_role("status").filter(has_text="Done: pin.")).to_be_visible()
    assert ask(port, "GET", f"/v1/get?id={kept['id']}")[1]["pinned"] is True
