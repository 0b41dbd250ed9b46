"""Impatient people: a second click while the first is being answered sends nothing more."""

from __future__ import annotations

import time

from interfaces.pages.browsers import served, visiting


def test_a_form_that_is_clicked_twice_is_sent_once(chrome, memory):
    kept = memory.remember("Deploys happen on Tuesdays.").id
    with served(memory) as address, visiting(chrome, address) as tab:
        posts = []

        def slowly(route):
            posts.append(route.request.url)
            time.sleep(0.5)
            route.continue_()

        tab.route("**/change", slowly)
        tab.goto(f"/change?id={kept}&verb=update")
        tab.get_by_label("What holds now").fill("Deploys happen on Fridays.")
        tab.get_by_role("button", name="Preview").click()
        button = tab.get_by_role("button", name="Replace")
        button.wait_for()  # the preview is sent by then, also where the machine is busy
        posts.clear()
        button.evaluate("button => { button.click(); setTimeout(() => button.click(), 100); }")
        tab.get_by_text("Done: update.").wait_for()
        assert len(posts) == 1
    assert [m.content for m in memory.list()] == ["Deploys happen on Fridays."]


def test_a_form_that_a_handler_of_its_own_holds_back_can_be_sent_at_once(chrome, memory):
    """The click that was held back counted as sent, and the next one did nothing for five seconds."""
    kept = memory.remember("Deploys happen on Tuesdays.").id
    with served(memory) as address, visiting(chrome, address) as tab:
        tab.goto(f"/change?id={kept}&verb=update")
        tab.get_by_label("What holds now").fill("Deploys happen on Fridays.")
        hold = "form => form.addEventListener('submit', (event) => event.preventDefault(), { once: true })"
        tab.locator("form[action*='/change']").evaluate(hold)
        tab.get_by_role("button", name="Preview").click()
        tab.get_by_role("button", name="Preview").click()
        tab.get_by_role("button", name="Replace").wait_for(timeout=4000)
