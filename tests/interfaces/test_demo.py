"""The demonstration as a new user runs it: a real process, real files, nothing prepared."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
import uvicorn
from starlette.testclient import TestClient

import perdure
from conftest import weekly
from interfaces import demonstration
from interfaces.pages.browsing import words as words_of
from perdure.interfaces.demo import run
from perdure.interfaces.demo.history import questions, sessions
from perdure.interfaces.hooks import background
from perdure.interfaces.http.command import main as service
from perdure.models.local import LocalEmbedder
from perdure.records.errors import InvalidInput


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    out, _, text = demonstration.told(tmp_path_factory)
    return out, text


def test_the_story_is_told_in_six_steps(told):
    _, text = told
    steps = re.findall(r"^(\d)\. (What was remembered|What recall|What moved|MEMORY\.md|Why|Undo)", text, re.MULTILINE)
    assert [number for number, _ in steps] == ["1", "2", "3", "4", "5", "6"]
    assert "129 messages in 17 sessions" in text
    assert "0 added, 129 skipped" in text


def test_the_story_is_told_with_the_embedder_that_is_installed_with_it(told):
    pytest.importorskip("perdure_embedder")
    out, text = told
    space = LocalEmbedder().space.name
    assert f"Embedder: {space}." in " ".join(text.split())
    with perdure.open(out / "northwall.db", policy={}) as memory:
        assert (memory.stats("northwall").space, memory.stats("northwall").without_vector) == (space, 0)


def test_a_hit_for_what_nobody_spoke_of_is_said_to_be_wrong(told):
    _, text = told
    unsaid = [question.text for question in questions() if not question.hint]
    right = int(
        re.search(rf"Of {len(unsaid)} questions about what nobody spoke of, (\d) rightly found nothing", text)[1]
    )
    assert text.count("wrong: nobody") == len(unsaid) - right
    answered = len(questions()) - right
    assert len(re.findall(r"relevance +\d+%", text)) == answered


def test_it_leaves_a_sound_store_a_digest_and_two_plots(told):
    out, _ = told
    with perdure.open(out / "northwall.db", policy={"embedder": {"model": "none"}}) as memory:
        assert memory.check() == []
        said = memory.list("northwall", kinds=["episode"], include_archived=True, limit=1000)
        assert len(said) == 129
    digest = (out / "MEMORY.md").read_text("utf-8")
    assert digest.count("\n- ") >= 5
    page = (out / "five-months.html").read_text("utf-8")
    assert page.count("<svg") == 2
    assert page.count("<polyline") == 5
    assert "<script" not in page
    assert "http" not in page


CURRENT = {"PostgreSQL 16.2": "SQLite", "settings/app.toml": "config/app.yaml", "Tuesday": "Thursday"}
"""Each decision that holds -> the one that it replaced."""


def test_current_decisions_stand_in_memory_md_and_reversed_ones_do_not(told):
    out, _ = told
    lines = (out / "MEMORY.md").read_text("utf-8").splitlines()
    for current, reversed_ in CURRENT.items():
        assert any(current in line for line in lines), current
        assert not [line for line in lines if reversed_ in line]
    with perdure.open(out / "northwall.db", policy={"embedder": {"model": "none"}}) as memory:
        facts = memory.facts(namespace="northwall", past=True)
        assert {f.value: f.state == "superseded" for f in facts if f.value in {*CURRENT, *CURRENT.values()}} == {
            **dict.fromkeys(CURRENT, False),
            **dict.fromkeys(CURRENT.values(), True),
        }


def test_the_question_of_a_new_user_is_answered_by_the_current_decision_first(told):
    pytest.importorskip("perdure_embedder")
    out, _ = told
    with perdure.open(out / "northwall.db", policy={}) as memory:
        best = memory.recall("What day do we deploy?", "northwall", touch=False).hits[0].memory
    assert best.kind in {"fact", "note"}
    assert "Tuesday" in best.content


@pytest.fixture
def signals():
    """The service takes the process's signals; afterwards they are the tests' again."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("as_told", [True, False])
def test_the_store_is_served_as_it_was_shown_until_maintenance_is_wanted(told, tmp_path, monkeypatch, signals, as_told):
    out, text = told
    line = next(line for line in text.splitlines() if "perdure serve" in line).split()
    words = line[line.index("serve") + 1 :]
    assert re.findall(r"perdure [^:\n]+", text)[-1].split() == line[line.index("perdure") :]
    assert words == ["--store", str(out / "northwall.db"), "--no-maintenance"]
    store = tmp_path / "copy.db"
    shutil.copy(words[1], store)
    monkeypatch.setattr(background, "FIRST_SECONDS", 0.0)
    before, shown = operations(store), []
    with perdure.open(store, policy={"embedder": {"model": "none"}}) as memory:
        many = memory.stats("northwall").memories

    def run(server, sockets):  # until maintenance has written, or for two seconds
        with TestClient(server.config.app, base_url=f"http://127.0.0.1:{sockets[0].getsockname()[1]}") as client:
            shown.append(words_of(client.get("/?namespace=northwall")))
        deadline = time.monotonic() + (2.0 if as_told else 60.0)
        while operations(store) == before and time.monotonic() < deadline:
            time.sleep(0.1)

    monkeypatch.setattr(uvicorn.Server, "run", run)
    service(["--store", str(store), "--port", "0", *(words[2:] if as_told else ())])
    assert (operations(store) == before) is as_told
    assert many > 100
    assert f"{many} in view" in shown[0]


def operations(store):
    with perdure.open(store, policy={"embedder": {"model": "none"}}) as memory:
        return [o.id for o in memory.history(namespace="northwall", limit=5)]


def test_what_matters_ends_near_and_small_talk_far(told):
    out, _ = told
    with perdure.open(out / "northwall.db", policy={"embedder": {"model": "none"}}) as memory:
        every = memory.list("northwall", limit=1000)
        assert {m.tier for m in every if m.kind == "note"} <= {"hot", "warm", "vault"}
        polite = [m for m in every if m.content.startswith(("Thanks, that helps", "Good morning"))]
        assert polite
        assert {m.tier for m in polite} == {"cold"}


def test_a_reversed_decision_is_shown_with_both_dates_on_the_screen_and_on_the_page(told):
    out, text = told
    page = (out / "five-months.html").read_text("utf-8")
    reversed_ = "deploy day: Thursday from 2026-02-05 until 2026-03-31, Tuesday since 2026-03-31."
    assert reversed_ in page
    assert reversed_ in " ".join(text.split())
    assert ">34.25<" not in page
    marks = re.findall(r'text-anchor="end">([\d.]+)<', page)
    assert all(float(mark) * 10 % 1 == 0 for mark in marks)


def test_why_shows_the_history_and_undo_shows_lines_before_and_after(told):
    _, text = told
    why = text[text.index("5. Why") : text.index("6. Undo")]
    assert re.search(r"Thursday from 2026-02-05 until 2026-03-31, superseded: Deploy day is Thursday", why)
    assert re.search(r"Tuesday from 2026-03-31, \w+: Deploy day is Tuesday", why)
    before, wrong, after = re.split(r"An agent misheard.*|After undo.*", text[text.index("6. Undo") :])
    for part, day in ((before, "Tuesday"), (wrong, "Friday"), (after, "Tuesday")):
        assert re.findall(r"fact: deploy day: (\w+)", part) == [day]
        assert re.findall(r"- Deploy day is (?:now )?(\w+)", part) == [day]


def test_it_names_the_embedders_that_it_has(tmp_path):
    with pytest.raises(InvalidInput) as caught:
        run(tmp_path / "out", embedder="foo")
    assert str(caught.value) == "embedder must be local or none, not 'foo'. Choose one of them."
    assert not (tmp_path / "out").exists()


@weekly
def test_it_can_be_run_again_in_the_same_folder(told):
    out, _ = told
    (out / "mine.txt").write_text("keep")
    command = [sys.executable, "-m", "perdure", "demo", "--out", str(out), "--embedder", "none"]
    assert subprocess.run(command, capture_output=True, check=False, timeout=120).returncode == 0
    assert (out / "mine.txt").read_text() == "keep"


@weekly  # each verb on a server, and the demonstration on a file, have their own tests
def test_the_story_is_told_on_a_server_and_leaves_the_file_of_another_telling_alone(told):
    out, text = told
    before = (out / "northwall.db").read_bytes()
    command = [sys.executable, "-m", "perdure", "demo", "--store", "postgres", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr

    def story(told):
        of_one = "passed in|Plots|Store:|Look|server|browser|^The conversation ended in June|^run maintenance"
        lines = [line for line in told.splitlines() if not re.search(of_one, line)]
        return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|(?<=\[)[0-9a-f]{8}(?=\])", "ID", "\n".join(lines))

    assert story(done.stdout) == story(text)
    assert (out / "northwall.db").read_bytes() == before
    refused = [*command[:4], "--store", "postgresql://nobody:wrong@127.0.0.1:1/none", "--out", str(out)]
    assert subprocess.run(refused, capture_output=True, check=False, timeout=60).returncode == 1
    assert (out / "northwall.db").read_bytes() == before


def test_the_script_answers_its_own_questions():
    messages = {(m.session, m.content) for s in sessions() for m in s.messages}
    assert len(messages) >= 127  # two thanks are the same, said in two sessions
    for question in questions():
        if question.hint is not None:
            assert any(question.hint in content for _, content in messages), question.text
    assert sum(1 for q in questions() if q.hint is None) == 2
    assert json.dumps([q.text for q in questions()])
