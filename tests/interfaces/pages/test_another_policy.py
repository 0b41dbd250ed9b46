"""What another policy would have done and would do, beside today's: as the back-test and the forecast say."""

from __future__ import annotations

import re

import pytest

from conftest import WORDS_ONLY, tables
from interfaces.pages.browsing import bars, below, get_forms, plain, rows, words
from perdure.records.policy import PRESETS

LONG = "We talked about boats and weather and then about all of the other things. " * 8
KEYS = "[compression]\nrule = 'triggers'\nsummary_value = 1.0\nleast_tokens = 20\n[archive]\nrule = 'never'"
"""Under these and a preset long words are shortened, and nothing is hidden."""


@pytest.fixture
def policy():
    return {**WORDS_ONLY, "archive": {"rule": "value", "value_below": 0.6, "cold_days": 20}}


@pytest.fixture
def lived(memory, clock):
    """Memories of which today's policy and others hide, shorten and move different ones; two were asked for."""
    memory.remember("The safe stands in the cellar.", kind="episode")
    for name, port in zip("abcde", range(8080, 8085), strict=True):
        memory.remember(f"The {name} server listens on port {port}.")
    memory.remember(f"{LONG} The red one is at the pier.", importance=0.1, confidence=0.4)
    memory.pin(memory.remember("The rope is in the shed.").id)
    clock.passes(days=21)
    memory.recall("Which server listens on port 8080?", limit=1)
    memory.recall("Where is the red one?", limit=1)
    clock.passes(days=9)
    memory.sweep()
    clock.passes(days=10)
    memory.remember("The harbour office is painted green.")


def tried(browser, **chosen):
    """Choose on the page what to try, and send it."""
    return browser.look(browser.get("/plans"), "/plans", **chosen)


def figures(life):
    """What the page has to say of how a namespace lived under a policy."""
    shown = {"in view in full": life.visible - life.shortened, "shortened": life.shortened, "hidden": life.hidden}
    rest = {"moved at least once": life.moved, "tokens in view": life.tokens, "past hits missing": life.missing}
    return shown, {**shown, **rest}


CASES = [
    ({"preset": "confidence-decay"}, {"preset": "confidence-decay"}),
    ({"preset": "facts"}, {"preset": "facts"}),
    (
        {"preset": "confidence-decay", "policy": KEYS},
        {
            "preset": "confidence-decay",
            "compression": {"rule": "triggers", "summary_value": 1.0, "least_tokens": 20},
            "archive": {"rule": "never"},
        },
    ),
]


@pytest.mark.parametrize(("chosen", "other"), CASES)
def test_both_pasts_and_both_futures_stand_beside_each_other_each_with_its_table(
    browser, memory, lived, chosen, other, tmp_path
):
    before = tables(tmp_path / "agent.db")
    page = tried(browser, **chosen)
    found = memory.backtest(other, limit=200)
    ahead = [memory.forecast(84, details=True), memory.forecast_under(other, 84, "default", details=True)]
    headings = ["Today's (balanced)", f"The other ({chosen['preset']})"]
    assert figures(found.now) != figures(found.other)
    assert len({len(report.moved) for report in ahead}) == 2
    scales = set()  # how tall one move is drawn
    for heading, life, report in zip(headings, (found.now, found.other), ahead, strict=True):
        side = below(page, heading)
        past, future = side.split("The weeks ahead</h4>")
        plotted, told = figures(life)
        assert bars(past) == {name: many for name, many in plotted.items() if many}
        assert {name: int(many.replace(",", "")) for name, many in rows(past)} == told
        gone = sum(move.move.endswith("archived") for move in report.moved)
        weeks = [(int(moves), int(out)) for _, moves, out in rows(future)[3:]]
        assert rows(future)[:3] == [
            ["moves", str(len(report.moved))],
            ["out of view", str(gone)],
            ["Week from", "Moves", "Out of view"],
        ]
        assert (len(weeks), *map(sum, zip(*weeks, strict=True))) == (12, len(report.moved), gone)
        tall = [float(height) for height in re.findall(r'<rect class="shade1"[^>]*height="([\d.]+)"', future)]
        assert [height > 0 for height in tall] == [moves > 0 for moves, _ in weeks]
        scales |= {round(height / moves, 1) for height, (moves, _) in zip(tall, weeks, strict=True) if moves}
    assert len(scales) == 1
    assert tables(tmp_path / "agent.db") == before


def test_the_hits_that_would_be_lost_are_named_with_the_rule_that_hides_them(browser, memory, lived):
    page = tried(browser, preset="confidence-decay")
    found = memory.backtest({"preset": "confidence-decay"}, limit=200)
    assert len(found.lost) == 2
    text = words(page)
    assert f"2 past recalls asked again, {found.hits} hits; 2 would be lost that today's policy keeps." in text
    named = re.findall(r'<li><a href="/memory\?id=([^"]+)">(.*?)</a><span class="faint">(.*?)</span>', page.text)
    assert [(i, plain(query), plain(why)) for i, query, why in named] == [
        (one.id, one.query, one.because) for one in found.lost
    ]
    assert all(note in text for note in found.notes)
    kept = words(tried(browser, preset="facts"))
    assert "0 would be lost" in kept


def test_every_preset_is_offered_and_what_was_chosen_stays_chosen(browser, lived):
    (form,) = [form for form in get_forms(browser.get("/plans").text) if "try" in form.fields]
    assert form.options["preset"] == ["", *sorted(PRESETS)]
    page = tried(browser, preset="activation", policy="[tiers]\nwarm_keep_value = 0.3")
    assert re.findall(r"<option[^>]* selected>(.*?)</option>", page.text) == ["activation"]
    assert "warm_keep_value = 0.3</textarea>" in page.text


def test_another_policy_is_tried_on_the_namespace_of_the_page(browser, memory, lived):
    memory.remember("The team meets on Mondays.", namespace="team")
    page = browser.look(browser.get("/plans?namespace=team"), "/plans", preset="facts")
    for heading in ("Today's (balanced)", "The other (facts)"):
        assert ["in view in full", "1"] in rows(below(page, heading))
