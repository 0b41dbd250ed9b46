"""Make the pictures of the pages: the demonstration's store in a headless Chromium.

Run: ``python docs/screenshots.py [chromium]``. Needs the dev extra and a Chromium. Beside the pictures stands what a
screen reader reads of each (``outlines.json``), by which a test sees that they are of the present pages.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from playwright.sync_api import sync_playwright
from rich.console import Console

import perdure
from perdure.interfaces.demo import story
from perdure.interfaces.demo.history import NAMESPACE, SimulatedClock, sessions
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings, accepted_hosts

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PICTURES = Path(__file__).parent / "pictures"
OUTLINES = "outlines.json"
WIDTH, HEIGHT = 1000, 640
PHONE = 360
PATIENCE = 120_000  # milliseconds: a busy machine is no fault
LATER = timedelta(days=60)  # after the last message facts are in doubt, and maintenance is due
_ID = re.compile(r"\b[0-9a-f]{8}(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\b")  # another one in each run


@dataclass(frozen=True)
class Picture:
    """One picture: the page that it shows, and how."""

    name: str
    address: str
    phone: bool = False  # on a phone, in the dark

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"page-{self.name}.png"

    @property
    def size(self) -> tuple[int, int]:
        """Its width and height in pixels."""
        return (PHONE if self.phone else WIDTH), HEIGHT


@contextmanager
def demonstration(told: Path | None = None) -> Iterator[perdure.Memory]:
    """Open the demonstration's store, made again or copied from one that was just made, two months after its end."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "northwall.db"
        if told is None:
            story.run(Path(folder), console=Console(file=StringIO()))
        else:
            shutil.copy(told, store)
        clock = SimulatedClock(sessions()[-1].ended + LATER)
        with perdure.open(store, policy={}, clock=clock) as memory:
            yield memory


def pictures_of(memory: perdure.Memory) -> list[Picture]:
    """Return the pictures of the demonstration's store."""
    fact = next(f for f in memory.facts(namespace=NAMESPACE) if f.predicate == "deploy_day")
    return [
        Picture("overview", "/"),
        Picture("search", "/search?q=When+do+we+deploy%3F"),
        Picture("memory", f"/memory?id={fact.id}"),
        Picture("facts", f"/facts?entity={fact.subject}"),
        Picture("plans", "/plans?preview=1"),
        Picture("phone", "/questions", phone=True),
    ]


@contextmanager
def served(memory: perdure.Memory) -> Iterator[str]:
    """Serve a memory, and give the address."""
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
        thread.join()


def draw(chrome: Browser, address: str, pictures: list[Picture], folder: Path) -> None:
    """Write pictures of the pages at an address, and their outlines."""
    outlines = {}
    for one in pictures:
        width, height = one.size
        page = chrome.new_page(
            viewport={"width": width, "height": height}, color_scheme="dark" if one.phone else "light"
        )
        page.set_default_timeout(PATIENCE)
        page.goto(address + one.address)
        page.screenshot(path=folder / one.file)
        outlines[one.name] = _ID.sub("ID", page.locator("body").aria_snapshot()).splitlines()
        page.close()
    (folder / OUTLINES).write_text(json.dumps(outlines, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    """Write each picture."""
    browser = sys.argv[1] if len(sys.argv) > 1 else shutil.which("chromium")
    PICTURES.mkdir(exist_ok=True)
    with demonstration() as memory, served(memory) as address, sync_playwright() as driver:
        chrome = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        draw(chrome, address, pictures_of(memory), PICTURES)
        chrome.close()


if __name__ == "__main__":
    main()
