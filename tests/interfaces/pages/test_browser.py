"""The pages in a real browser: what people come to do, by mouse and by keyboard, on a phone and in the dark."""

from __future__ import annotations

import re

import pytest

from conftest import WORDS_ONLY, budget, weekly
from interfaces.pages.browsers import served, visiting
from interfaces.pages.test_looking import ADDRESSES
from perdure.interfaces import pages
from perdure.operations import documents
from programs import library

playwright = library("playwright.sync_api")
axe = library("axe_playwright_python.sync_playwright")
expect = playwright.expect

SOON = 40_000  # milliseconds until an open page has seen what changed by itself: alerts are looked at every 12 s
FACTS = {**WORDS_ONLY, "preset": "facts"}


@pytest.fixture
def policy():
    return FACTS


@pytest.fixture
def address(memory):
    with served(memory) as found:
        yield found


@pytest.fixture
def tab(chrome, address):
    with visiting(chrome, address) as page:
        yield page


def say(memory, clock, *sentences):
    """Sentences of a person, each in a session of its own."""
    for sentence in sentences:
        session = f"s{len(memory.history(limit=500))}"
        memory.ingest([{"content": sentence, "role": "user", "at": clock().isoformat()}], session=session)
        clock.passes(days=1)


@pytest.fixture
def life(memory, clock):
    """Facts that are in doubt by now, one of them wrong, a conflict, and notes that maintenance would move."""
    say(memory, clock, "Remember, Gai Media prefers Friday deliveries.", "My favorite drink is tea.")
    for n, name in enumerate(("staging", "billing", "search", "archive"), 8080):
        memory.remember(f"The {name} server listens on port {n}.", tags=["ports"])
    memory.remember(
        "Deploys happen on Tuesdays.", facts=[{"subject": "team", "predicate": "deploy day", "value": "Tuesday"}]
    )
    say(memory, clock, "Remember, Gai Media prefers Monday deliveries.")
    clock.passes(days=100)
    assert len(memory.review()) >= 3
    return next(m for m in memory.list() if "staging" in m.content)


def test_a_wrong_memory_is_found_and_corrected(tab, memory, life):
    tab.goto("/")
    tab.get_by_role("link", name="Search").click()
    tab.get_by_label("Question").fill("Which port does staging listen on?")
    tab.get_by_role("button", name="Search").click()
    tab.locator(".hit", has_text="staging").get_by_role("link", name="Open this memory").click()
    tab.get_by_role("link", name="Replace").click()
    tab.get_by_label("What holds now").fill("The staging server listens on port 9090.")
    tab.get_by_role("button", name="Preview", exact=True).click()
    expect(tab.locator(".removed")).to_contain_text("8080")
    expect(tab.locator(".added")).to_contain_text("9090")
    assert memory.get(life.id).status == "active"
    tab.get_by_role("button", name="Replace").click()
    expect(tab.get_by_role("status").filter(has_text="Done: update.")).to_be_visible()
    assert memory.get(life.id) is None
    assert memory.recall("staging port", touch=False).hits[0].memory.content.endswith("9090.")


def test_a_memory_that_was_expected_is_found_by_its_words_and_its_absence_explained(tab, memory, life):
    expected = memory.remember("The kitchen window faces the harbour.")
    tab.goto("/search?q=Which+port+does+staging+listen+on")
    expect(tab.locator(".hit", has_text="harbour")).to_have_count(0)
    tab.get_by_label("Some words of a memory that you expected").fill("kitchen window")
    tab.get_by_role("button", name="Explain").click()
    card = tab.locator(".absence", has_text="harbour")
    explained = memory.why_not(expected.id, "Which port does staging listen on", limit=8)
    expect(card).to_contain_text(explained.explanation)
    card.get_by_role("link").first.click()
    expect(tab.get_by_text("The kitchen window faces the harbour.").first).to_be_visible()
    assert memory.get(expected.id).access_count == 0


def test_tonights_maintenance_is_previewed_half_applied_and_undone(tab, memory, life):
    before = {m.id: (m.tier, m.status) for m in memory.list(include_archived=True)}
    tab.goto("/plans")
    tab.get_by_role("link", name="Preview it").click()
    boxes = tab.locator("input[name=chosen]")
    expect(boxes.first).to_be_visible()  # counting waits for nothing
    many = boxes.count()
    assert many >= 4
    for n in range(many // 2):
        boxes.nth(n).check()
    tab.get_by_role("button", name="Apply the chosen ones").click()
    expect(tab.get_by_role("status").filter(has_text="the part chosen by a person")).to_be_visible()
    assert len({m.id for m in memory.sweep(dry_run=True).moved}) == many - many // 2
    tab.get_by_role("button", name="Undo this").click()
    expect(tab.get_by_role("status").filter(has_text="Undone")).to_be_visible()
    assert {m.id: (m.tier, m.status) for m in memory.list(include_archived=True)} == before


def test_all_of_a_long_maintenance_is_applied_and_undone(tab, memory, life, monkeypatch):
    monkeypatch.setattr(documents, "PAGE", 3)  # memories of one operation
    before = {m.id: (m.tier, m.status) for m in memory.list(include_archived=True)}
    tab.goto("/plans")
    tab.get_by_role("link", name="Preview it").click()
    moves = tab.locator(".lead", has_text="Nothing is written yet.").inner_text().partition(",")[0]
    tab.get_by_role("button", name="Apply all").click()
    told = tab.get_by_role("status").filter(has_text="Done: sweep.")
    expect(told).to_contain_text(re.compile(rf"{moves}, .* \(\d operations\)"))
    assert memory.sweep(dry_run=True).moved == ()
    tab.get_by_role("button", name="Undo this").click()
    expect(tab.get_by_role("status").filter(has_text="Undone: sweep.")).to_be_visible()
    assert {m.id: (m.tier, m.status) for m in memory.list(include_archived=True)} == before


def test_duplicates_are_previewed_merged_and_brought_back(tab, memory, life):
    memory.remember_many([{"content": "The roof is green.", "kind": "episode"} for _ in range(2)])
    many = len(memory.list())
    tab.goto("/plans")
    tab.get_by_role("link", name="Preview merges").click()
    expect(tab.locator("li", has_text="Stays: The roof is green.")).to_be_visible()
    bad = [v["id"] for v in axe.Axe().run(tab).response["violations"] if v["impact"] != "minor"]
    assert bad == []
    assert len(memory.list()) == many
    tab.get_by_role("button", name="Merge all").click()
    expect(tab.get_by_role("status").filter(has_text="Done: consolidate.")).to_be_visible()
    assert len(memory.list()) == many - 1
    tab.locator(".rows li", has_text="consolidate").get_by_role("button", name="Undo").click()
    expect(tab.get_by_role("status").filter(has_text="Undone")).to_be_visible()
    assert len(memory.list()) == many


def test_three_questions_are_answered(tab, memory, life):
    tab.goto("/")
    tab.locator(".figure a").click()
    many = len(memory.review())
    tab.get_by_role("button", name="Yes, still so").first.click()
    expect(tab.get_by_role("status").filter(has_text="Done: confirm.")).to_be_visible()
    card = tab.locator(".question").first
    card.get_by_label("It is now").fill("something else")
    card.get_by_role("button", name="Correct it").click()
    expect(tab.get_by_role("status").filter(has_text="Done: correct.")).to_be_visible()
    tab.get_by_role("button", name="No", exact=True).first.click()
    expect(tab.get_by_role("status").filter(has_text="Done: deny.")).to_be_visible()
    assert len(memory.review()) <= many - 3
    told = [o.operation for o in memory.history(limit=3)]
    assert told == ["deny", "correct", "confirm"]


def test_a_person_is_erased_and_the_proof_is_shown(tab, memory, life):
    tab.goto("/facts")
    tab.get_by_role("link", name="Gai Media").first.click()
    tab.get_by_role("link", name=re.compile("Erase everything about")).click()
    tab.get_by_label("Reason").fill("asked for by mail")
    tab.get_by_role("button", name="Show what would go").click()
    expect(tab.get_by_text("it cannot be undone.").first).to_be_visible()
    assert any("Gai Media" in m.content for m in memory.list())
    tab.get_by_role("button", name="Erase for good").click()
    expect(tab.get_by_role("status").filter(has_text="found in 0 places")).to_be_visible()
    assert not any("Gai Media" in m.content for m in memory.list(include_archived=True))


def test_an_alert_appears_and_goes_without_a_reload(tab, memory, clock):
    memory.remember("The staging server listens on port 8081.")
    tab.goto("/")
    expect(tab.get_by_text("Nothing needs attention.")).to_be_visible()
    clock.passes(days=60)
    expect(tab.locator(".alert.critical")).to_contain_text("moves have been waiting for a sweep", timeout=SOON)
    memory.sweep()
    expect(tab.get_by_text("Nothing needs attention.")).to_be_visible(timeout=SOON)


@pytest.mark.parametrize("what", ["operation", "alert"])
def test_what_happens_before_a_page_listens_is_shown_too(tab, memory, clock, what):
    memory.remember("The staging server listens on port 8081.")
    happened = []

    def happen(route):
        if not happened:
            happened.append(what)
            if what == "alert":
                clock.passes(days=60)
            else:
                memory.remember("The spare key hangs behind the boiler.")
        route.continue_()

    tab.route("**/live*", happen)
    tab.goto("/")
    if what == "alert":
        expect(tab.locator(".alert.critical")).to_contain_text("moves have been waiting", timeout=SOON)
    else:
        expect(tab.get_by_text("2 notes are in view")).to_be_visible(timeout=SOON)
    tab.unroute("**/live*")


def test_each_page_shows_what_others_change_or_says_that_it_has_changed(tab, memory, life):
    """Lists are remade; what takes a search or a preview, and what a person uses just now, is left until asked."""
    said = tab.get_by_text("The store has changed.")

    def remember(day):
        fact = {"subject": f"Ursa {day}", "predicate": "delivery day", "value": day}
        memory.remember(f"Ursa {day} wants {day}.", facts=[fact])

    def opened(path):
        with tab.expect_response("**/live*"):
            tab.goto(path)
        tab.wait_for_timeout(1500)  # the browser knows the state from here on

    opened("/facts")
    remember("Sunday")
    expect(tab.get_by_role("link", name="Ursa Sunday").first).to_be_visible(timeout=SOON)
    opened("/plans")
    many = tab.locator("#past ~ ul li").count()
    remember("Saturday")
    expect(tab.locator("#past ~ ul li")).to_have_count(many + 1, timeout=SOON)
    expect(said).to_be_hidden()
    opened("/questions")
    tab.locator(".question").last.get_by_label("It is now").fill("half a wo")
    cards = tab.locator(".question").count()
    memory.mute(memory.review()[0].id)
    expect(said).to_be_visible(timeout=SOON)
    assert tab.locator(".question").last.get_by_label("It is now").input_value() == "half a wo"
    tab.get_by_role("link", name="Show the new state").click()
    expect(tab.locator(".question")).to_have_count(cards - 1)
    expect(said).to_be_hidden()
    for path in (f"/memory?id={life.id}", "/search?q=staging", "/memory-md", "/facts?entity=gai-media"):
        opened(path)
        expect(said).to_be_hidden()
        remember(f"Day {path[1:4]}{len(path)}")
        expect(said).to_be_visible(timeout=SOON)


def test_the_overview_waits_for_who_uses_it_and_is_new_after_that(tab, memory, life):
    with tab.expect_response("**/live*"):
        tab.goto("/")
    tab.wait_for_timeout(1500)
    tab.locator(".figure a").focus()
    fresh = tab.locator("#lately ~ ul li").first
    memory.pin(life.id)
    expect(tab.get_by_text("The store has changed.")).to_be_visible(timeout=SOON)
    expect(fresh).not_to_contain_text("pin")
    tab.evaluate("document.activeElement.blur()")
    expect(fresh).to_contain_text("pin")
    expect(tab.get_by_text("The store has changed.")).to_be_hidden()


def test_a_conflict_is_settled_from_both_sides_of_it(tab, memory, life):
    tab.goto("/facts")
    sides = tab.locator(".conflict .card")
    expect(sides).to_have_count(2)
    sides.filter(has_text="Monday").get_by_role("link", name="This is right").click()
    tab.get_by_role("button", name="Still true").click()
    expect(tab.get_by_role("status").filter(has_text="Done: confirm.")).to_be_visible()
    assert [f.value for f in memory.facts("Gai Media")] == ["Monday"]
    tab.get_by_role("button", name="Undo this").click()
    expect(tab.get_by_role("status").filter(has_text="Undone")).to_be_visible()
    assert {f.value for f in memory.facts("Gai Media")} == {"Friday", "Monday"}


def test_the_slider_asks_again_as_of_another_day(tab, memory, life):
    tab.goto("/search?q=Gai+Media+deliveries")
    expect(tab.locator(".hit", has_text="Monday").first).to_be_visible()
    tab.get_by_text("Filters and time").click()
    tab.get_by_label("Days back from today").fill("102")
    tab.wait_for_url("**as_of=2026-01-02*")
    expect(tab.get_by_role("heading", name="as of 2026-01-02")).to_be_visible()
    expect(tab.locator(".hit", has_text="Friday").first).to_be_visible()
    expect(tab.locator(".hit", has_text="Monday")).to_have_count(0)


def test_another_namespace_is_chosen_and_kept(tab, memory, life):
    memory.remember("The team meets on Mondays.", namespace="team")
    tab.goto("/search")
    tab.get_by_label("Namespace").select_option("team")
    expect(tab.get_by_text("The team meets on Mondays.")).to_be_visible()
    tab.get_by_role("link", name="Overview").click()
    expect(tab.get_by_text("1 note is in view")).to_be_visible()


def test_a_memory_is_found_pinned_and_unpinned_by_keyboard_alone(tab, memory, life):
    tab.goto("/")
    tab.keyboard.press("Tab")
    assert focused(tab) == "Skip to the content"
    tab.keyboard.press("/")
    tab.wait_for_url("**/search#q")
    tab.keyboard.type("staging")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**q=staging**")
    for name in ("Open this memory", "Pin"):
        press(tab, name)
    tab.wait_for_url("**/change**")
    press(tab, "Pin")
    expect(tab.get_by_role("status").filter(has_text="Done: pin.")).to_be_visible()
    assert memory.get(life.id).pinned
    press(tab, "Undo this")
    expect(tab.get_by_role("status").filter(has_text="Undone")).to_be_visible()
    assert not memory.get(life.id).pinned


def focused(tab):
    return tab.evaluate("document.activeElement.innerText?.trim() ?? ''")


def press(tab, name):
    """Go from one place to the next until this one has the focus, see that it shows, and press Enter."""
    for _ in range(80):
        tab.keyboard.press("Tab")
        if focused(tab) == name:
            assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            with tab.expect_navigation():
                tab.keyboard.press("Enter")
            return
    pytest.fail(f"{name} cannot be reached")


def every_address(identity):
    found = [path + ADDRESSES.get(path, "").format(id=identity) for path in pages.READ]
    verbs = [f"/change?id={identity}&verb={verb}" for verb in ("archive", "update")]
    more = ["/search?q=Which+port+has+staging", "/facts?entity=gai-media", "/memory-md?profile=hermes", "/login"]
    more += ["/search?q=staging&as_of=2026-01-02&why_not=" + identity, "/search?q=staging&why_not=billing+port"]
    more += [f"/plans?preview={verb}" for verb in ("consolidate", "summarize")]
    return [*found, *verbs, *more, "/plans?preview=1&ahead=1&try=1&preset=facts"]


LOOKS = {"light": {}, "dark": {"color_scheme": "dark"}, "phone": {"viewport": {"width": 360, "height": 740}}}


@pytest.mark.parametrize("look", ["light", pytest.param("dark", marks=weekly), pytest.param("phone", marks=weekly)])
def test_axe_finds_nothing_serious_on_any_page(chrome, address, life, look):
    """Contrast takes most of the time: it is looked at on every third page, and weekly on all."""
    found = {}
    with visiting(chrome, address, **LOOKS[look]) as tab:
        for number, path in enumerate(every_address(life.id), 1):
            tab.goto(path)
            tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            contrast = {"color-contrast": {"enabled": number % budget(3, 1) == 0}}
            result = axe.Axe().run(tab, options={"resultTypes": ["violations"], "rules": contrast}).response
            bad = [v for v in result["violations"] if v["impact"] in ("serious", "critical", "moderate")]
            found |= {path: [(v["id"], [n["html"] for n in v["nodes"]][:2]) for v in bad]} if bad else {}
            assert result["passes"], path
    assert found == {}


def test_colours_have_contrast_in_the_dark_on_any_page(chrome, address, life):
    found = {}
    with visiting(chrome, address, **LOOKS["dark"]) as tab:
        for path in every_address(life.id)[:: budget(3, 1)]:
            tab.goto(path)
            result = axe.Axe().run(tab, options={"runOnly": ["color-contrast"]}).response
            found |= {path: result["violations"]} if result["violations"] else {}
            assert result["passes"], path
    assert found == {}


def test_no_page_is_wider_than_a_phone_or_needs_a_script(chrome, address, life):
    wide = {}
    for script in budget((False,), (True, False)):
        with visiting(chrome, address, viewport={"width": 360, "height": 740}, java_script_enabled=script) as tab:
            for path in every_address(life.id):
                tab.goto(path)
                width = tab.evaluate("document.documentElement.scrollWidth")
                wide |= {path: width} if width > 360 else {}
    assert wide == {}


def test_another_site_can_show_no_page_in_a_frame_and_send_no_form(chrome, address, memory, life):
    """Clickjacking, and a form of elsewhere, by a browser whose memory has no tokens."""
    before = [(m.id, m.pinned, m.status) for m in memory.list(include_archived=True)]
    context = chrome.new_context()
    context.route("http://evil.example/**", lambda route: route.fulfill(content_type="text/html", body=EVIL))
    page = context.new_page()
    page.goto(f"http://evil.example/?{address}&{life.id}")
    page.get_by_role("button", name="Win").click()
    page.wait_for_url(f"{address}/**")
    assert "sent by another site" in page.content() or "comes from another site" in page.content()
    page.goto(f"http://evil.example/?{address}&{life.id}")
    (frame,) = [one for one in page.frames if one != page.main_frame]
    frame.wait_for_load_state()
    assert "Perdure" not in frame.content()
    assert [(m.id, m.pinned, m.status) for m in memory.list(include_archived=True)] == before
    context.close()


EVIL = """<!doctype html><title>A game</title><form method="post"><button>Win</button></form><iframe></iframe><script>
const [address, id] = location.search.slice(1).split("&");
document.forms[0].action = `${address}/change?id=${id}&verb=archive&sure=1`;
document.querySelector("iframe").src = `${address}/change?id=${id}&verb=archive`;
</script>"""
