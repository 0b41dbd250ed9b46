"""Names, values and words as long as they may be stay within a phone's width."""

from __future__ import annotations

import pytest

from interfaces.pages.browsers import served, visiting

PLACE = "team-" + "x" * 67
FACT = {"subject": "S" * 120, "predicate": "p" * 90, "value": "v" * 200}


@pytest.fixture
def addresses(memory):
    kept = memory.remember(f"Staging {'y' * 300} runs.", PLACE, tags=["t" * 95], source="s" * 150, facts=[FACT])
    memory.remember("Another namespace.")
    (fact,) = memory.facts(namespace=PLACE)
    done = memory.correct(fact.id, "w" * 200)
    pages = ("/", "/facts", f"/memory?id={kept.id}&done={done.operation}", f"/memory?id={fact.id}", "/plans?try=1")
    forms = (f"/change?id={kept.id}&verb=update", f"/erase?id={kept.id}", f"/memory?id={'q' * 150}")
    return [f"{path}{'&' if '?' in path else '?'}namespace={PLACE}" for path in (*pages, *forms)]


def test_no_page_with_long_values_is_wider_than_a_phone(chrome, memory, addresses):
    with served(memory) as address:
        options = {"viewport": {"width": 360, "height": 740}}
        with visiting(chrome, address, expected=(422,), **options) as tab:
            widths = {}
            for path in addresses:
                tab.goto(path)
                widths[path] = tab.evaluate("document.documentElement.scrollWidth")
    assert {path: width for path, width in widths.items() if width > 360} == {}
