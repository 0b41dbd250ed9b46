"""Make the pictures of docs/page.md: the demonstration's store in a headless Chromium.

Run: ``python docs/screenshots.py [chromium]``. Needs the dev extra and a Chromium.
"""

from __future__ import annotations

import shutil
import socket
import sys
import tempfile
import threading
from datetime import timedelta
from io import StringIO
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright
from rich.console import Console

import perdure
from perdure.interfaces.demo import story
from perdure.interfaces.demo.history import NAMESPACE, SimulatedClock, sessions
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings, accepted_hosts

PICTURES = Path(__file__).parent / "pictures"
WIDTH, HEIGHT = 1000, 640
LATER = timedelta(days=60)  # after the last message facts are in doubt, and maintenance is due


def main() -> None:
    """Write each picture."""
    browser = sys.argv[1] if len(sys.argv) > 1 else shutil.which("chromium")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        story.run(Path(folder), console=Console(file=StringIO()))
        clock = SimulatedClock(sessions()[-1].ended + LATER)
        with perdure.open(Path(folder) / "northwall.db", policy={}, clock=clock) as memory:
            fact = next(f for f in memory.facts(namespace=NAMESPACE) if f.predicate == "deploy_day")
            addresses = {
                "overview": "/",
                "memory": f"/memory?id={fact.id}",
                "facts": f"/facts?entity={fact.subject}",
                "plans": "/plans?preview=1",
            }
            _draw(memory, browser, addresses)


def _draw(memory: perdure.Memory, browser: str | None, addresses: dict[str, str]) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = build_app(lambda: memory, Settings(accepted_hosts("127.0.0.1", port)))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    with sync_playwright() as driver:
        chrome = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chrome.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name, address in addresses.items():
            page.goto(f"http://127.0.0.1:{port}{address}")
            page.screenshot(path=PICTURES / f"page-{name}.png")
        page.close()
        phone = chrome.new_page(viewport={"width": 360, "height": HEIGHT}, color_scheme="dark")
        phone.goto(f"http://127.0.0.1:{port}/questions")
        phone.screenshot(path=PICTURES / "page-phone.png")
        chrome.close()
    server.should_exit = True
    thread.join()


if __name__ == "__main__":
    main()
