"""A real browser for the tests of the pages, and the service that it visits."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from contextlib import contextmanager
from functools import cache

import pytest
import uvicorn

from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings, accepted_hosts

NAMES = ("chromium", "chromium-browser", "google-chrome")
HTTP_FAULT = 400
INSTALL = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]


@cache
def chromium():
    """Where Chromium is. It is installed from the distribution where the system allows; else its absence skips a
    test, and fails it in CI."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None and shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        subprocess.run(INSTALL, check=False, capture_output=True, timeout=600)
        found = shutil.which(NAMES[0])
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no Chromium")
    return found


@contextmanager
def served(memory):
    """Serve a memory as ``perdure serve`` does; yields the address."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = build_app(lambda: memory, Settings(accepted_hosts("127.0.0.1", port)))
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
def visiting(chrome, address, **options):
    """Open a tab that must run nothing of what others wrote: no dialog, no broken rule of the page's own security."""
    faults = []
    context = chrome.new_context(base_url=address, **options)
    context.set_default_timeout(15_000)
    page = context.new_page()
    page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda told: faults.append(told.text) if is_fault(told) else None)
    page.on("response", lambda got: faults.append(f"{got.status} {got.url}") if got.status >= HTTP_FAULT else None)
    page.on("request", lambda sent: None if sent.url.startswith(address) else faults.append(sent.url))
    try:
        yield page
        assert not faults, faults
    finally:
        context.close()
