"""The numbers of the overview, and what a memory's page and Plans say in words: as the verbs do, and as is known."""

from __future__ import annotations

import re

import pytest

from conftest import WORDS_ONLY
from interfaces.pages.browsing import bars, below, plain, rows, words

TALK = "We talked about boats and weather and then about all of the other things. " * 8
POLICY = {
    **WORDS_ONLY,
    "preset": "facts",
    "archive": {"rule": "value", "value_below": 0.5, "cold_days": 24},
    "compression": {"rule": "triggers", "summary_value": 1.0, "least_tokens": 20},
}


@pytest.fixture
def policy():
    return POLICY


@pytest.fixture
def lived(memory, clock):
    """Fourteen memories of three kinds, two tiers, two forms and five ages, ten of them in view."""
    for name, drink in (("Maya", "tea"), ("Ana", "milk")):
        fact = {"subject": name, "predicate": "drink", "value": drink}
        memory.remember(f"{name} prefers {drink}.", facts=[fact])
    clock.passes(days=60)
    memory.remember(TALK, importance=0.1, confidence=0.4)
    memory.pin(memory.remember("The rope is in the shed.").id)
    clock.passes(hours=732)
    memory.sweep()
    memory.remember_many([{"content": f"Call {n} came. {TALK * 3}", "kind": "episode"} for n in "abc"])
    clock.passes(days=8)
    memory.remember_many(["The gate squeaks.", "The roof leaks."])
    clock.passes(days=2)
    memory.archive(memory.remember("It rains.").id, "dry again")
    memory.remember("The harbour office is painted green.")


KNOWN = {
    "By kind": {"episode": 3, "fact": 2, "note": 5},
    "By form": {"full": 9, "summary": 1},
    "By age": {"under a day": 1, "under a week": 2, "under 30 days": 3, "under 91 days": 2, "under a year": 2},
}
"""What the fixture has stored, counted by hand."""


def legend(page, heading):
    """Return a table of sizes: group -> (memories, tokens, text)."""
    sizes = rows(below(page, heading).replace(",", ""))[1:]
    return {name: (int(many), int(tokens), size) for name, many, tokens, size in sizes}


def test_the_sizes_by_tier_kind_form_and_age_are_those_of_what_is_in_view(browser, memory, lived):
    page, stats = browser.get("/"), memory.stats("default")
    ages = {"day": "under a day", "week": "under a week", "month": "under 30 days", "quarter": "under 91 days"}
    names = {**ages, "year": "under a year", "older": "older"}
    assert set(stats.sizes) == {"tier", "kind", "form", "age"}
    for grouping, groups in stats.sizes.items():
        heading = f"By {grouping}"
        told = {
            names.get(name, name): (size.memories, size.tokens, f"{size.bytes / 1000:.1f} kB")
            for name, size in groups.items()
        }
        assert legend(page, heading) == told
        assert bars(below(page, heading)) == {name: many for name, (many, *_) in told.items()}
        assert rows(below(page, heading))[0] == [grouping.capitalize(), "Memories", "Tokens", "Text"]
    items = memory.list(limit=100)
    for grouping in ("tier", "kind", "form"):
        counted = {}
        for item in items:
            name = getattr(item, grouping).value
            many, tokens = counted.get(name, (0, 0))
            counted[name] = (many + 1, tokens + item.tokens)
        assert {name: size[:2] for name, size in legend(page, f"By {grouping}").items()} == counted
    for heading, known in KNOWN.items():
        assert {name: many for name, (many, *_) in legend(page, heading).items()} == known
    by_value = [(label, int(many)) for label, many in rows(below(page, "By value"))[1:]]
    assert by_value == [(f"{n / 10:.1f} to {(n + 1) / 10:.1f}", many) for n, many in enumerate(stats.values)]
    assert sum(many for _, many in by_value) == len(items)


def test_the_figures_in_short_are_those_of_the_verbs(browser, memory, lived):
    page = browser.get("/")
    short = re.search(r'aria-label="In short">(.*?)</section>', page.text, re.DOTALL).group(1)
    found = re.findall(r'class="number"[^>]*>([\d,]+)</(?:span|a)><span>(.*?)</span>', short)
    told = {label: int(number) for number, label in found}
    stats, due = memory.stats("default"), {move.id for move in memory.sweep(dry_run=True).moved}
    fading = {m.id for m in memory.forecast(30, details=True).moved if m.move.endswith("archived")}
    expected = {
        "in view": len(memory.list(limit=100)),
        "due now": len(due),
        "fade within 30 days": len(fading),
        "questions wait": len(memory.review(limit=100)),
    }
    assert told == expected
    assert len(set(expected.values())) == 4  # none can stand for another
    assert list(expected.values()) == [stats.memories, stats.due_now, stats.fading, stats.questions]
    assert '<a class="number" href="/questions">' in short
    assert f"{stats.statuses['archived']} more are kept out of view." in words(page)
    memory.mute(memory.review()[0].id)
    assert "1 question waits" in words(browser.get("/"))


def test_a_memory_tells_where_it_comes_from(browser, memory):
    origin = {"source": "the letter", "speaker": "Ana", "session": "monday", "tags": ["gate", "noise"]}
    (kept,) = memory.remember_many([{"content": "The gate squeaks.", **origin}])
    text = browser.get(f"/memory?id={kept.id}").text
    head = text.partition('<article class="memory">')[2].partition("<nav")[0]
    assert plain(head) == (
        "note Ana The gate squeaks. 2026-01-01 00:00 UTC · from the letter · session monday · # gate · # noise"
    )
    assert re.findall(r'href="(/search\?tag=\w+)"', head) == ["/search?tag=gate", "/search?tag=noise"]
    bare = memory.remember("The roof leaks.").id
    head = browser.get(f"/memory?id={bare}").text.partition('<article class="memory">')[2].partition("<nav")[0]
    assert plain(head) == "note The roof leaks. 2026-01-01 00:00 UTC"


def test_a_memory_tells_its_next_move_and_makes_it(browser, memory, lived, clock):
    def told(item):
        (line,) = re.findall(r'<p class="strong">(Next.*?|The next.*?)</p>', browser.get(f"/memory?id={item.id}").text)
        return plain(line)

    items = {m.content: m for m in memory.list(limit=100)}
    assert told(items["The rope is in the shed."]) == "Next: nothing; it is pinned."
    office = items["The harbour office is painted green."]
    assert told(office).startswith("Next, without access: warm to cold: 7 days in warm without access")
    assert told(office).endswith("due 2026-04-18 12:00 UTC.")
    assert [told(m) for m in items.values()] == [memory.why(m.id).next_move for m in items.values()]
    clock.passes(days=7)
    memory.sweep()
    assert memory.get(office.id).tier == "cold"
    assert told(office).startswith("Next, without access: archived")


def test_older_operations_are_listed_on_demand_until_there_are_no_more(browser, memory):
    for number in range(70):
        memory.remember(f"Stone {number} lies in field {number * 3}.")
    done = [operation.id for operation in memory.history(limit=100)]
    shown, address = [], "/plans"
    while address and len(shown) < 4:
        page = browser.get(address)
        past = below(page, "What was done")
        listed = re.findall(r'name="operation" value="([^"]*)"', past)
        assert listed == done[: len(listed)]
        shown.append(len(listed))
        address = next(iter(re.findall(r'<a href="([^"]*)">Older ones</a>', past)), None)
    assert shown == [15, 60, 70]
    assert len(done) == 70
