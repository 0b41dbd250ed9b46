"""The pictures in the docs are made here anew, and are those of the present pages."""

from __future__ import annotations

import base64
import json
import re
import runpy
import struct
from pathlib import Path

import pytest

from interfaces import demonstration
from interfaces.pages.browsers import chromium
from programs import library

playwright = library("playwright.sync_api")

ROOT = Path(__file__).resolve().parents[3]
SHOTS = runpy.run_path(str(ROOT / "docs" / "screenshots.py"), run_name="screenshots")
PICTURES, OUTLINES = SHOTS["PICTURES"], SHOTS["OUTLINES"]
DIFFERENT = 0.06
"""So much of white may the pixels of two pictures differ on average: other fonts do, another page does more."""
COARSE = """async ([one, other]) => {
  const pixels = async (data) => {
    const image = await createImageBitmap(await (await fetch(data)).blob());
    const canvas = new OffscreenCanvas(50, 32);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, 50, 32);
    return context.getImageData(0, 0, 50, 32).data;
  };
  const [a, b] = [await pixels(one), await pixels(other)];
  return a.reduce((sum, value, place) => sum + Math.abs(value - b[place]), 0) / a.length / 255;
}"""


def size_of(file):
    """Width and height in the head of a PNG file."""
    head = file.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    return struct.unpack(">II", head[16:])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Every picture, made anew; yields (the pictures, their folder, how much a picture differs from its like)."""
    folder = tmp_path_factory.mktemp("pictures")
    with (
        SHOTS["demonstration"](demonstration.told(tmp_path_factory)[1]) as memory,
        SHOTS["served"](memory) as address,
        playwright.sync_playwright() as driver,
        driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"]) as chrome,
    ):
        pictures = SHOTS["pictures_of"](memory)
        SHOTS["draw"](chrome, address, pictures, folder)
        page = chrome.new_page()

        def differs(one, other):
            files = [base64.b64encode(file.read_bytes()).decode() for file in (one, other)]
            return page.evaluate(COARSE, [f"data:image/png;base64,{data}" for data in files])

        yield pictures, folder, differs


def test_the_pictures_in_the_docs_are_of_the_present_pages(made):
    pictures, folder, differs = made
    assert {one.file for one in pictures} == {file.name for file in PICTURES.glob("page-*.png")}
    for one in pictures:
        assert size_of(PICTURES / one.file) == size_of(folder / one.file) == one.size, one.name
        assert differs(PICTURES / one.file, folder / one.file) < DIFFERENT, one.name
    assert differs(folder / pictures[0].file, folder / pictures[-1].file) > DIFFERENT  # it tells pages from each other


def test_they_say_what_the_pages_say(made):
    _, folder, _ = made
    kept, now = (json.loads((place / OUTLINES).read_text("utf-8")) for place in (PICTURES, folder))
    assert kept == now, "run python docs/screenshots.py"


def test_the_readme_and_the_guide_of_the_page_show_them(made):
    pictures, *_ = made
    shown = {}
    for name in ("README.md", "docs/page.md"):
        text = (ROOT / name).read_text("utf-8")
        shown[name] = {Path(path).name for path in re.findall(r"!\[[^\]]+\]\(([^)]+\.png)\)", text)}
    assert shown["README.md"] & {one.file for one in pictures}
    assert shown["README.md"] | shown["docs/page.md"] == {one.file for one in pictures}
