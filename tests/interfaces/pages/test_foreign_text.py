"""What others wrote, wherever it is kept and on whatever page it is shown, runs nothing in a real browser."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest

from conftest import WORDS_ONLY, budget
from interfaces.pages.browsers import served, visiting
from interfaces.pages.test_browser import every_address
from perdure.interfaces.files.conversation_files import read_messages

MOST = budget(30, 50)  # pages that are visited

HOSTILE = (
    "<script>window.ran=1</script>",
    '"><img src=x onerror=window.ran=1>',
    "'><svg onload=window.ran=1>",
    "</textarea></title></style><script>window.ran=1</script>",
    "javascript:window.ran=1",
    "{{ 7*7 }}{% raw %}${window.ran=1}",
    "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
    '" autofocus onfocus=window.ran=1 x="',
    "<!--</p><a href=javascript:window.ran=1>-->",
    "\u202egnp.exe<script>window.ran=1</script>",
)


@pytest.fixture
def policy():
    return {**WORDS_ONLY, "preset": "facts"}


@pytest.fixture
def hostile(memory, clock, tmp_path):
    """Memories that hold hostile texts wherever a text is kept."""
    kept = []
    for n, text in enumerate(HOSTILE):
        fact = {"subject": f"Gai {n} {text}"[:70], "predicate": f"likes {text}"[:60], "value": text}
        everywhere = dict.fromkeys(("source", "speaker", "session", "task"), text)
        item = {"content": f"Number {n}: {text}", "tags": [text], "metadata": {text: text}, "facts": [fact]}
        kept += memory.remember_many([item | everywhere])
        clock.passes(minutes=3)
    memory.ingest([{"content": f"Hello {HOSTILE[0]}", "role": "user", "speaker": HOSTILE[1]}], session=HOSTILE[1])
    for n, text in enumerate(HOSTILE):
        file = tmp_path / f"{text.replace('/', '')}.md"
        file.write_text(f"The file number {n} is named so.\n")
        memory.ingest(read_messages(str(file)))
        clock.passes(minutes=3)
    memory.archive(kept[0].id, reason=HOSTILE[2])
    memory.relate([kept[1].id, kept[2].id], kind=HOSTILE[3])
    memory.move(kept[3].id, "hot", reason=HOSTILE[1])
    for fact in memory.facts()[:2]:
        memory.deny(fact.id, reason=HOSTILE[0])
    clock.passes(days=100)
    return kept[1].id


def test_no_stored_text_runs_on_any_page(chrome, memory, hostile):
    addresses = [path for path in every_address(hostile) if "gai-media" not in path]
    files = [m for m in memory.list(limit=1000) if "is named so" in m.content]
    assert len(files) == len(HOSTILE)
    asked = [f"/search?q=Number&tag={HOSTILE[1]}", f"/search?q={HOSTILE[1]}", *(f"/memory?id={m.id}" for m in files)]
    seen: set[str] = set()
    with served(memory) as address, visiting(chrome, address) as tab:
        queue = [urljoin(address, path) for path in [*asked, *addresses]]
        while queue and len(seen) < MOST:
            target = queue.pop(0)
            if target in seen:
                continue
            seen.add(target)
            tab.goto(target)
            tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert tab.evaluate("window.ran") is None, target
            strange = "document.querySelectorAll('main script, main img, main iframe, [onload], [onfocus], [onerror]')"
            assert tab.evaluate(f"{strange}.length") == 0, target
            assert "49{%" not in tab.content(), target
            links = tab.evaluate("[...document.links].map(one => one.href)")
            assert [link for link in links if not link.startswith(address)] == [], target
            queue += [link for link in links if not re.search(r"#|/static/", link)]
    assert len(seen) >= MOST // 2


def test_steering_characters_are_shown_and_not_obeyed(browser, memory):
    kept = memory.remember("photo\u202egnp.exe\u2066 \x1b[31m \u200b")
    html = browser.get(f"/memory?id={kept.id}").text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\u200b]", html)
    assert r"photo\u202egnp.exe" in html


def test_what_an_address_holds_is_shown_and_not_run(browser, memory):
    for path in ("/", "/search", "/memory", "/facts", "/plans", "/id", "/erase", "/change"):
        for name in (
            "namespace",
            "q",
            "id",
            "entity",
            "operation",
            "policy",
            "preset",
            "try",
            "as_of",
            "subject",
            "verb",
        ):
            for text in HOSTILE[:2]:
                html = browser.get(path, params={name: text}).text
                assert text not in html, (path, name)
