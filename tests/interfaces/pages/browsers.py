"""A real browser for the tests of the pages, and the service that it visits."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager

import uvicorn

from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings, accepted_hosts
from programs import program

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first has no window at all: the same engine at half the work, and what playwright itself starts."""
HTTP_FAULT = 400


def chromium():
    """Where Chromium is; in CI its absence is a failure."""
    return program(NAMES, "chromium-headless-shell", needed=True)


@contextmanager
def served(memory, **settings):
    """Serve a memory as ``perdure serve`` does; yields the address."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = build_app(lambda: memory, Settings(accepted_hosts("127.0.0.1", port), **settings))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)


def is_fault(told):
    """Whether the console tells of a fault; that a reply was none is told better by the reply."""
    return told.type == "error" and "Failed to load resource" not in told.text


@contextmanager
def visiting(chrome, address, expected=(), **options):
    """Open a tab that must run nothing of what others wrote: no dialog, no broken rule of the page's own security.

    No reply may be an error, but for those that are ``expected``.
    """
    faults, statuses = [], {*range(HTTP_FAULT), *expected}
    context = chrome.new_context(base_url=address, **options)
    context.set_default_timeout(15_000)
    page = context.new_page()
    page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda told: faults.append(told.text) if is_fault(told) else None)
    page.on("response", lambda got: None if got.status in statuses else faults.append(f"{got.status} {got.url}"))
    page.on("request", lambda sent: None if sent.url.startswith(address) else faults.append(sent.url))
    try:
        yield page
        assert not faults, faults
    finally:
        context.close()
