"""The commands about facts: what they show, change, refuse, and how they end; a few as processes of their own."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

import perdure
from perdure.interfaces.cli import app as cli

POLICY = {"embedder": {"model": "none"}, "preset": "facts"}
NOW = datetime.now(UTC)
SAID = (
    (200, "spring", "Remember, Gai Media prefers Friday deliveries."),
    (150, "spring", "Remember, Gai Media's payment terms are NET30."),
    (20, "summer", "What about the order of Gai Media?"),
    (10, "autumn", "Gai Media sent an invoice."),
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text('preset = "facts"\n[embedder]\nmodel = "none"\n')
    environment = {
        "PERDURE_STORE": str(tmp_path / "agent.db"),
        "PERDURE_POLICY": str(tmp_path / "policy.toml"),
        "COLUMNS": "250",
        "NO_COLOR": "1",
        "PYTHONPATH": str(Path(perdure.__file__).parents[1]),
        "PYTHONIOENCODING": "utf-8",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    with perdure.open(tmp_path / "agent.db", POLICY) as memory:
        for days, session, words in SAID:
            at = (NOW - timedelta(days=days)).isoformat()
            memory.ingest([{"role": "user", "content": words, "at": at}], session=session)
    return tmp_path


def ran(*words, code=0):
    done = CliRunner().invoke(cli.app, list(words), prog_name="perdure")
    assert "Traceback" not in done.stderr
    assert done.exit_code == code, (done.stdout, done.stderr)
    return done.stdout if code in (0, 3) else done.stderr


def process(*words, code=0):
    line = [sys.executable, "-m", "perdure", *words]
    done = subprocess.run(line, env=os.environ, capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert "Traceback" not in done.stderr
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout if code in (0, 3) else done.stderr


def data(*words, code=0):
    return json.loads(ran(*words, "--json", code=code))


def the(predicate, value):
    (found,) = [f for f in data("facts", "--past") if f["predicate"].startswith(predicate) and f["value"] == value]
    return found


def table(text):
    """Rows of a printed table by the column's title; what was wrapped is put together again."""
    lines = text.splitlines()
    head = next(n for n, line in enumerate(lines) if line.split()[:1] == ["id"])
    titles = lines[head].split()
    starts = [re.search(rf"(?<= ){title}(?= |$)", lines[head]).start() for title in titles]
    rows = []
    for line in lines[head + 2 :]:
        cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        if not line.strip() or line.startswith(("Ask", "Take")):
            break
        if cells[0]:
            rows.append(dict(zip(titles, cells, strict=True)))
        else:
            for title, cell in zip(titles, cells, strict=True):
                rows[-1][title] = f"{rows[-1][title]} {cell}".strip()
    return rows


@pytest.mark.behaviour("KN60")
def test_facts_are_shown_with_what_they_rest_on(place):
    friday = the("delivery", "Friday")
    shown = ran("facts", "gai media")
    (row,) = [r for r in table(shown) if r["id"] == friday["id"][-8:]]
    since = (NOW - timedelta(days=200)).date().isoformat()
    assert (row["about"], row["value"], row["since"]) == ("Gai Media", "Friday", since)
    assert row["what"] == friday["predicate"].replace("_", " ")
    assert row["confidence"] == f"{friday['confidence']:.2f}"
    assert row["said"] == friday["sources"][0][1]
    assert row["remarks"] == f"not confirmed since {since}"
    assert f"Ask a person: {friday['question']}" in shown
    assert [f["value"] for f in data("facts", "--predicate", "delivery day preference")] == ["Friday"]
    assert data("facts", "--predicate", "shoe size", code=3) == []
    assert "No facts." in ran("facts", "--predicate", "shoe size", code=3)
    assert data("facts", "Nobody Inc", code=3)["error"] == "NotFound"


@pytest.mark.behaviour("KN60")
def test_a_recalled_fact_that_nobody_confirmed_says_since_when_in_place_of_a_small_confidence(place):
    shown = ran("recall", "When does Gai Media want deliveries?")
    since = (NOW - timedelta(days=200)).date().isoformat()
    (hit,) = [h for h in re.split(r"(?m)^(?=\d+\. )", shown) if "Ask the person" in h]
    assert f"not confirmed since {since}" in hit
    assert "confidence" not in hit
    assert "stale" not in hit


@pytest.mark.behaviour("KN61")
def test_a_correction_replaces_and_the_timeline_shows_both(place):
    friday = the("delivery", "Friday")
    told = data("correct", friday["id"], "Thursday")
    assert told["content"].endswith("Thursday")
    now = the("delivery", "Thursday")
    assert now["id"] == told["id"]
    assert now["supersedes"] == [friday["id"]]
    assert "Friday" not in ran("facts")
    past = {r["id"]: r for r in table(ran("facts", "--past"))}
    assert past[friday["id"][-8:]]["remarks"] == "superseded; replaced by Thursday"
    was, is_ = (r for r in table(ran("timeline", "Gai Media")) if r["id"] in (friday["id"][-8:], now["id"][-8:]))
    assert (was["value"], was["state"], was["remarks"]) == ("Friday", "superseded", "replaced by Thursday")
    assert (is_["value"], is_["state"], is_["remarks"]) == ("Thursday", "active", "replaces Friday")
    today = NOW.date().isoformat()
    begun = (NOW - timedelta(days=200)).date().isoformat()
    assert (was["true"], was["believed"]) == (f"{begun} to {today}", f"on {today} only")  # it was taken in today
    assert is_["true"] == f"since {today}"
    facts = data("timeline", "gai-media")["facts"]
    assert [f["value"] for f in facts if f["predicate"] == now["predicate"]] == ["Friday", "Thursday"]
    assert "says that already" in ran("correct", now["id"], "Thursday", code=1)
    assert f"was replaced by {now['id']}" in ran("confirm", friday["id"], code=1)
    ran("deny", now["id"])
    (denied,) = (r for r in table(ran("timeline", "Gai Media")) if r["id"] == now["id"][-8:])
    assert (denied["true"], denied["believed"], denied["state"]) == ("never", f"on {today} only", "invalidated")


@pytest.mark.behaviour("KN97")
def test_why_begins_with_the_fact_and_tells_each_reason_once(place):
    friday = the("delivery", "Friday")
    now = data("correct", friday["id"], "Thursday")["id"]
    told = ran("why", now)
    first, says = [line for line in told.splitlines() if line][:2]
    assert first.startswith(f"fact {now[-8:]} is active")
    assert says == "Gai Media: delivery day preference: Thursday"
    assert "stated by a person, in answer to a question, not in a message" in told
    assert f"of {friday['id'][-8:]}: a correction wins; Friday was replaced" in told
    assert told.index("\nConfidence") < told.index("\nimportance ")
    history = told.partition("\nHistory\n")[2].splitlines()
    assert len(history) == len(set(history)) > 1
    ran("summarize", "--apply")
    (summary,) = data("list", "--kind", "summary")
    lines = ran("why", summary["id"]).splitlines()
    assert summary["content"] in lines
    stands = [line for line in lines if " stands for " in line and line.startswith("  2")]
    assert len(stands) <= 4 < len([e for e in data("why", summary["id"])["history"] if " stands for " in e["because"]])
    assert re.search(r"summarize: and \d+ more$", lines[-1])


@pytest.mark.behaviour("KN62")
def test_the_questions_of_a_day_are_answered(place):
    asked = data("review")
    friday = the("delivery", "Friday")
    assert friday["id"] in [q["id"] for q in asked]
    shown = ran("review")
    assert friday["question"] in shown
    assert "perdure review ID VERDICT" in shown
    before = friday["base"]
    assert f"Confirmed {friday['id'][-8:]}" in ran("confirm", friday["id"])
    assert the("delivery", "Friday")["base"] > before
    others = [q["id"] for q in data("review")]
    assert friday["id"] not in others
    assert others
    assert f"Muted {others[0][-8:]}" in ran("mute", others[0])
    assert data("deny", friday["id"], "--reason", "they closed")["status"] == "invalidated"
    assert "they closed" in ran("why", friday["id"])
    assert data("review") == []
    assert data("confirm", "nothing", code=3)["error"] == "NotFound"


@pytest.mark.behaviour("KN63")
def test_review_keeps_to_the_days_allowance_unless_told_otherwise(place):
    Path("policy.toml").write_text(Path("policy.toml").read_text() + "[knowledge]\nquestions_per_day = 1\n")
    assert len(data("review", "--limit", "10")) == 2
    (first,) = data("review")
    ran("confirm", first["id"])
    assert data("review") == []
    assert "No open questions" in ran("review")
    assert len(data("review", "--limit", "10")) == 1


@pytest.mark.behaviour("KN64")
def test_a_summary_is_previewed_planned_and_applied(place):
    preview = data("summarize")
    (due,) = preview["made"]
    assert (due["entity"], due["id"], preview["dry_run"], preview["operations"]) == ("gai-media", "", True, [])
    assert "--apply" in ran("summarize")
    (plan,) = data("plan", "summarize", "-o", "plan.json")["plans"]
    assert plan["operation"] == "summarize"
    assert data("list", "--kind", "summary") == []
    done = data("summarize", "--apply")
    (kept,) = data("list", "--kind", "summary")
    assert kept["id"] == done["made"][0]["id"]
    assert kept["content"].startswith(f"Gai Media, as of {NOW.date().isoformat()}: ")
    assert "Read the memories again" in ran("apply", "plan.json", code=1)
    ran("undo", done["operations"][0])
    assert data("list", "--kind", "summary") == []
    assert "summarize in default" in ran("plan", "summarize", "-o", "again.json")
    (applied,) = data("apply", "again.json")["plans"]
    assert "Gai Media, as of" in data("list", "--kind", "summary")[0]["content"]
    assert "Nothing that is summed up has changed" in ran("summarize")
    assert applied["operation"] == "summarize"


@pytest.mark.behaviour("KN65")
def test_the_languages_that_rules_read_are_said_where_one_looks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with perdure.open(tmp_path / "none.db", {"embedder": {"model": "none"}}) as memory:
        memory.remember("The deploy key lives in the vault.")
    run = CliRunner().invoke
    shown = (
        run(cli.app, ["learn", "--help"]).stdout,
        run(cli.app, ["facts", "--store", str(tmp_path / "none.db")]).stdout,
    )
    for words in shown:
        assert "English" in words


def test_what_was_taken_in_before_is_learned_from_once(place):
    Path("plain.toml").write_text('[embedder]\nmodel = "none"\n')
    Path("talk.jsonl").write_text(
        json.dumps({"role": "user", "content": "Remember that Ursa ships from Porto."}) + "\n"
    )
    ran("ingest", "talk.jsonl", "--policy", "plain.toml", "--session", "talk", "-n", "other", "--zone", "UTC")
    assert data("facts", "-n", "other", code=3) == []
    done = data("learn", "talk", "-n", "other")
    assert (done["messages"], len(done["created"])) == (1, 1)
    assert "Porto" in ran("facts", "-n", "other")
    assert data("learn", "talk", "-n", "other", code=3)["created"] == []
    ran("undo", done["operations"][0])
    assert data("facts", "--past", "-n", "other", code=3) == []


@pytest.mark.behaviour("KN66")
def test_an_answer_sheet_as_text_and_as_data(place):
    process("correct", the("delivery", "Friday")["id"], "Thursday")
    text = process("answer-sheet", "When does Gai Media want deliveries?")
    known, past = text.index("Thursday"), text.index("Out of date")
    assert known < past < text.index("Friday")
    sheet = data("answer-sheet", "When does Gai Media want deliveries?")
    assert text == sheet["text"] + "\n"
    assert sheet["known"][0]["says"].endswith("Thursday")
    assert len(data("answer-sheet", "When does Gai Media want deliveries?", "--budget-tokens", "120")["text"]) < len(
        text
    )
    nothing = process("answer-sheet", "What is the boiling point of tungsten?", "--json", code=3)
    assert json.loads(nothing)["nothing_known"]
    then = (NOW - timedelta(days=100)).isoformat()
    before = data("answer-sheet", "When does Gai Media want deliveries?", "--as-of", then)
    assert [s["says"].rpartition(": ")[2] for s in before["known"]] == ["Friday"]
    assert "Thursday" not in before["text"]
    # the messages of then were taken in today: nobody knew anything
    assert data("answer-sheet", "When does Gai Media want deliveries?", "--known-at", then, code=3)["nothing_known"]
    assert data("timeline", "Gai Media", "--known-at", then)["facts"] == []


def test_both_of_two_that_contradict_each_other_are_kept(place):
    with perdure.open(place / "agent.db", POLICY) as memory:
        for day, drink in ((2, "tea"), (1, "coffee")):
            message = {"content": f"My favorite drink is {drink}.", "at": (NOW - timedelta(days=day)).isoformat()}
            memory.ingest([message], session=drink)
    coffee = the("favorite_drink", "coffee")
    assert coffee["contested"]
    assert "both" in ran("review")
    assert f"Both kept {coffee['id'][-8:]}" in ran("both", coffee["id"])
    assert the("favorite_drink", "coffee")["contested"] == the("favorite_drink", "tea")["contested"] == []
    assert "contradicts" in ran("both", coffee["id"], code=1)


@pytest.mark.parametrize("no", [(), ("--no",)], ids=["same", "different"])
def test_two_names_are_said_to_be_the_same_or_not(tmp_path, place, no):
    (tmp_path / "policy.toml").write_text('preset = "facts"\n')
    with perdure.open(tmp_path / "named.db", {"preset": "facts"}) as memory:
        for name, value in (("drink", "tea"), ("beverage", "coffee")):
            memory.ingest([{"content": f"My favorite {name} is {value}."}], session=name)
    os.environ["PERDURE_STORE"] = str(tmp_path / "named.db")
    (question,) = (q for q in data("review") if q["same"])
    assert question["same"] == ["favorite_beverage", "favorite_drink"]
    assert "verdict is same or different" in ran("review")
    assert ("Kept apart" if no else "Treated as the same") in ran("same", question["id"], *no)
    assert [q for q in data("review") if q["same"]] == []
    assert data("same", question["id"], code=3)["error"] == "NotFound"
    assert ("different" if no else "same") in ran("rates")
    names = {f["predicate"] for f in data("facts")}
    assert names == ({"favorite_drink", "favorite_beverage"} if no else {"favorite_drink"})


@pytest.mark.behaviour("DO42")
@pytest.mark.parametrize(("verb", "more"), [("deny", ()), ("correct", ("Thursday",)), ("mute", ())])
def test_an_answer_says_how_it_is_taken_back(place, verb, more):
    friday = the("delivery", "Friday")
    (operation,) = re.findall(r"perdure undo (\S+)", ran(verb, friday["id"], *more))
    assert data("history")[0]["id"][-8:] == operation
    ran("undo", operation)
    again = the("delivery", "Friday")
    assert (again["id"], again["state"], again["question"]) == (friday["id"], friday["state"], friday["question"])


@pytest.mark.behaviour("DO47")
def test_what_was_replaced_at_once_may_have_been_true_for_a_while(place):
    with perdure.open(place / "agent.db", POLICY, clock=lambda: NOW) as memory:
        memory.ingest([{"content": "Remember, Zed Corp prefers Monday deliveries.", "at": NOW}], session="now")
        (monday,) = memory.facts("Zed Corp")
        memory.correct(monday.id, "Tuesday")
    (row,) = (r for r in table(ran("timeline", "Zed Corp")) if r["id"] == monday.id[-8:])
    assert (row["true"], row["state"]) == (f"on {NOW.date().isoformat()} at most", "superseded")


def status_of(words):
    """Return what a list shows as the status of the memory with some words."""
    columns, *rows = (re.split(r"\s{2,}", line.strip()) for line in ran("list").splitlines() if line.strip("\u2500 "))
    at, content = columns.index("status"), columns.index("content")
    (found,) = (row[at] for row in rows if words in row[content])
    return found


def test_a_list_marks_what_is_in_conflict_and_what_is_out_of_date(place):
    with perdure.open(place / "agent.db", POLICY) as memory:
        for city in ("Berlin", "Munich"):
            fact = {"subject": "Lena", "predicate": "lives_in", "value": city}
            memory.remember(f"Lena told us about {city} at lunch.", facts=[fact])
        assert status_of("about Berlin") == status_of("about Munich") == "active, in conflict"
        assert status_of("prefers Friday") == "active"
        assert status_of("Lena: home: Munich") == "active, in conflict"
        memory.confirm(next(f.id for f in memory.facts("Lena") if f.value == "Munich"))
        assert status_of("Lena: home: Munich") == status_of("about Munich") == "active"
        assert status_of("about Berlin") == "active, out of date"
