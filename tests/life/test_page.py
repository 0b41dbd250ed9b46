"""The page of a life, as the benchmark writes it."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conftest import ENV, finished
from life.coverage import ROWS

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "play_lives.py"


class Page(HTMLParser):
    """Every table as rows of cells, and how many shapes are drawn."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.shapes, self._cell = [], 0, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        self._cell = tag in ("td", "th")
        self.shapes += tag == "polygon" and len(dict(attrs)["points"].split()) > 2

    def handle_data(self, data):
        if self._cell:
            self.tables[-1][-1][-1] += data

    def table(self, *head):
        (found,) = [rows for rows in self.tables if tuple(rows[0]) == head]
        return found[1:]


def test_the_page_of_a_life_shows_what_holds_what_was_asked_and_what_was_reached(tmp_path):
    """In so many days of this life a question is left open, and its beginning and end are long enough to compare."""
    written = tmp_path / "life.html"
    command = [sys.executable, str(SCRIPT), "--days", "40", "--seed", "2", "--output", str(written), "family"]
    child = subprocess.Popen(command, env=ENV, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    told, text = finished(child), written.read_text("utf-8")
    page = Page(text)
    held = dict(page.table("what must hold", "faults"))
    assert {"nothing is lost", "budgets hold each day", "everything is undone"} <= held.keys()
    assert {name for name, faults in held.items() if faults != "none"} == set()
    assert all(f"family: {name}: 0 faults" in told for name in held)
    times = {row: int(number or 0) for row, number in page.table("row", "family")}
    assert times.keys() == ROWS.keys()
    assert times["operation remember"] > 5
    assert {row for row, number in times.items() if number == 0} == set(
        told.split("not reached: ")[1].split("\n")[0].split(", ")
    )
    assert all(found for _, found in page.table("asked at the end", "found"))
    assert sum(int(number) for _, number, *_ in page.table("kind", "visible", "mean value", "highest")) > 5
    assert dict(page.table("journal lines of", "number")).keys() >= {"remember", "sweep"}
    assert [cell for (cell,) in page.table("open questions") if re.fullmatch(r".+\? \(.+\)", cell)] != []
    sizes = {what: tuple(map(float, row)) for what, *row in page.table("for each memory", "beginning", "end", "ratio")}
    assert sizes.keys() >= {"bytes for each memory stored", "sweep, µs for each memory looked at"}
    assert all(
        early > 0 and ratio == pytest.approx(late / early, rel=0.02, abs=0.01) for early, late, ratio in sizes.values()
    )
    assert page.shapes >= 3  # tiers, and at least one status
    assert not re.search(r"""(?:src|href)=|https?:""", text)
