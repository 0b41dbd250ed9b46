"""The commands that steer memories' lives: what they do, their previews, exit codes and errors; a few as processes."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import perdure
from perdure.interfaces.cli import app as cli
from perdure.interfaces.cli.call import Exit
from perdure.knowledge.records.facts import Entity
from perdure.knowledge.rules.entities import new_entity_changes
from perdure.records.memory import Tier
from perdure.records.plan import Plan

OLD = "2026-03-01"
REPORT = " ".join(
    f"The quarterly report number {n} was really quite carefully written and then it was sent to department {n}."
    for n in range(12)
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    for name, value in {
        "PERDURE_STORE": str(tmp_path / "agent.db"),
        "PERDURE_POLICY": str(tmp_path / "policy.toml"),
        "COLUMNS": "200",
        "NO_COLOR": "1",
        "PYTHONPATH": str(Path(perdure.__file__).parents[1]),
        "PYTHONIOENCODING": "utf-8",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*words, input=None):  # noqa: A002
    return CliRunner().invoke(cli.app, list(words), input=input, prog_name="perdure")


def done(*words, **more):
    result = ran(*words, **more)
    assert result.exit_code == 0, result.output
    return result.stdout


def data(*words, code=0, **more):
    result = ran(*words, "--json", **more)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return json.loads(result.stdout)


def kept(text="Deploys happen on Tuesdays at 10:00.", *more):
    return data("remember", text, *more)["id"]


def shown(identity):
    return data("get", identity, "--include-archived")


# --- signals


def test_used_takes_the_recall_that_recall_names():
    identity = kept()
    recall = data("recall", "When are deploys?")["recall_id"]
    assert "perdure used ID --recall-id " in done("recall", "When are deploys?")
    first = data("used", identity, "--recall-id", recall)
    assert (first["outcome"], first["counted"]) == ("helpful", [identity])
    assert data("used", identity, "--recall-id", recall)["repeated"] == [identity]
    text = done("used", identity, "nothing", "--outcome", "wrong", "--recall-id", recall)
    assert identity[-8:] in text
    assert "nothing" in text
    assert "Undo: perdure undo" in text


def test_doubt_is_asked_about_and_settled():
    identity = kept()
    assert "No open questions in default." in done("review")
    data("used", identity, "-o", "wrong")
    assert [q["id"] for q in data("review")] == [identity]
    assert "Deploys happen on Tuesdays" in done("review")
    assert data("review", "-n", "elsewhere") == []
    assert "Archived" in done("settle", identity, "--verdict", "drop", "-r", "asked the team")
    assert "asked the team" in json.dumps(data("history", identity))
    assert data("review") == []


@pytest.mark.behaviour("MO08")
def test_alerts_end_with_5_where_something_needs_attention():
    kept("The office is in Lyon.")
    assert "Nothing needs attention." in done("alerts")
    assert data("alerts") == []
    for word in ("left", "right"):
        data("used", kept(f"The {word} gate is broken."), "-o", "wrong")
    rules = Path("alerts.toml")
    rules.write_text("[alerts]\nquestions = 2\n", "utf-8")
    told = data("alerts", "--policy", str(rules))
    assert [(a["name"], a["severity"]) for a in told] == [("questions", "info")]
    rules.write_text("[alerts]\njournal_changes = 0.5\nquestions = 0\n", "utf-8")
    assert data("alerts", "--policy", str(rules)) == []
    for _ in range(35):
        data("reinforce", *(m["id"] for m in data("list")))
    (alert,) = data("alerts", "--policy", str(rules), code=Exit.ALERT)
    assert (alert["name"], alert["severity"], alert["threshold"]) == ("journal_changes", "warning", 0.5)


def test_used_reinforce_and_weaken_end_with_3_where_nothing_is_found():
    kept("The office is in Lyon.")
    for verb in ("used", "reinforce", "strengthen", "weaken"):
        assert data(verb, "nothing", code=Exit.NOTHING)["not_found"] == ["nothing"]


@pytest.mark.behaviour("DO14")
def test_decay_previews_unless_applied():
    identity = kept("The office is in Lyon.", "--at", OLD)
    text = done("decay")
    assert identity[-8:] in text
    assert re.search(r"0\.70 +0\.10", text)
    assert "--apply" in text
    assert shown(identity)["state"]["decayed"] is None
    applied = data(
        "decay", "--apply", "--decay-function", "linear", "--half-life-days", "10", "--min-importance", "0.2"
    )
    assert not applied["dry_run"]
    assert applied["decayed_memories"][0]["new_importance"] == 0.2
    assert shown(identity)["state"]["decayed"] == pytest.approx(0.2)
    assert data("decay", "-n", "elsewhere")["memories_analyzed"] == 0


def test_importance_and_strength_are_changed_by_hand():
    identity = kept("We chose PostgreSQL.", "--importance", "0.4")
    raised = data("reinforce", identity, "--boost-type", "set_value", "--boost-amount", "0.7", "--no-update-access")
    assert raised["reinforced"][0]["new_importance"] == pytest.approx(0.7)
    assert shown(identity)["access_count"] == 0
    assert "memories reinforced  1" in done("reinforce", identity, "--boost-type", "multiplicative")
    assert shown(identity)["access_count"] == 1
    fallen = data("weaken", identity, "--amount", "5")["weakened"][0]
    assert fallen["new_strength"] < fallen["old_strength"]
    assert "memories weakened  1" in done("weaken", identity)


def test_a_memory_is_moved_by_hand_and_the_journal_says_why():
    identity = kept()
    assert f"Moved {identity[-8:]} (note, active, vault)" in done("move", identity, "vault", "-r", "key decision")
    assert data("move", identity, "cold", "-r", "no longer")["tier"] == Tier.COLD
    assert "key decision" in done("history", identity)


# --- forms


@pytest.mark.behaviour("DO15")
def test_fit_previews_unless_applied_and_restore_brings_the_text_back():
    identity = kept(REPORT, "--at", "2026-05-01")
    text = done("fit", "--tokens", "200")
    assert "full to summary 1" in text
    assert "Nothing was written; run it again with --apply to apply it." in text
    assert shown(identity)["form"] == "full"
    applied = data("fit", "--tokens", "200", "--apply")
    assert applied["after"] <= 200 < applied["before"]
    assert (shown(identity)["form"], len(applied["operations"])) == ("summary", 1)
    assert "shown as summary" in done("recall", "quarterly report")
    assert "summary" in done("compression")
    assert data("compression")["forms"]["summary"]["memories"] == 1
    back = data("restore", identity, "--level", "full")
    assert (back["form"], back["content"]) == ("full", REPORT)


def test_what_a_session_noted_is_seen_only_inside_it():
    identity = kept("The token is in the vault.", "--session", "s1")
    assert data("recall", "token", code=Exit.NOTHING)["hits"] == []
    assert data("recall", "token", "--inside", "s1")["hits"][0]["memory"]["id"] == identity
    assert data("list") == data("list", "--inside", "s2") == []
    assert [m["id"] for m in data("list", "--inside", "s1")] == [identity]


# --- several memories


@pytest.mark.behaviour("DO16")
def test_duplicates_are_merged_only_with_apply():
    for day in ("2026-10-01", "2026-10-02"):
        kept("The office is in Lyon.", "-k", "episode", "--at", day)
    text = done("consolidate")
    assert "memories merged  1" in text
    assert "Nothing was written; run it again with --apply to apply it." in text
    assert len(data("list")) == 2
    text = done("consolidate", "--apply", "--strategy", "keep_oldest")
    assert "memories merged  1" in text
    assert len(data("list")) == 1
    done("undo", text.split("perdure undo ")[1].split()[0])
    assert len(data("list")) == 2


@pytest.mark.behaviour("DO17")
def test_a_loss_that_is_accepted_keeps_its_reason(folder):
    (folder / "policy.toml").write_text('[embedder]\nmodel = "none"\n[gates]\nloss_free_count = 0\n')
    for day in ("2026-10-01", "2026-10-02"):
        kept("The office is in Lyon.", "-k", "episode", "--at", day)
    stopped = data("consolidate", "--apply", code=Exit.FAILED)
    assert stopped["error"] == "GateStopped"
    merged = data("consolidate", "--apply", "--accept-loss", "both say the same")
    assert merged["memories_merged"] == 1
    assert "both say the same" in json.dumps(data("history"))


def test_a_task_and_its_session_end():
    texts = ("The bank is closed at night.", "The invoice queue is emptied at night.")
    one, two = (kept(text, "--session", "monday", "--task", "invoices") for text in texts)
    edge = data("relate", f"{one}=cause", two, "--kind", "because", "--weight", "2")
    assert edge["members"] == {one: "cause", two: ""}
    assert data("edges", one) == [{"id": edge["edge"], "kind": "because", "weight": 2.0, "members": edge["members"]}]
    assert f"{one[-8:]} cause" in done("edges", two)
    assert re.search("promoted count +2", done("complete-task", "invoices", "--dry-run"))
    assert data("complete-task", "invoices")["promoted_count"] == 2
    assert "Nothing was written; run it again with --apply to apply it." in done("promote", "monday")
    assert data("promote", "monday", "--threshold", "0.99")["promoted_count"] == 0
    assert "Ended monday" in done("end-session", "monday")
    assert {m["id"] for m in data("list")} >= {one, two}
    assert "nothing was left to do" in done("end-session", "monday")
    assert data("end-session", "monday")["anew"] is False


@pytest.mark.behaviour("DO13")
def test_a_promotion_is_confirmed():
    identity = kept("The bank is closed at night.", "--session", "monday")
    assert data("promote", "monday")["confirmed"] is False
    assert data("list") == []
    assert data("promote", "monday", "--dry-run")["confirmed"] is False
    text = done("promote", "monday", "--apply")
    assert "Undo: perdure undo " in text
    assert [m["id"] for m in data("list")] == [identity]


def test_an_erasure_is_listed_then_confirmed_and_proved(folder):
    text = "Anna's door code is 4711-beta."
    identity = kept(text, "--tag", "home")
    asked = ["erase", "--subject", "Anna", "--tag", "home", "--reason", "she 'asked' for it"]
    listed = done(*asked)
    assert "This would erase 1 memory for good; it cannot be undone." in listed
    assert re.search(rf"2\d{{3}}-\d\d-\d\d +{re.escape(text)} +{identity[-8:]}", listed)
    assert data(*asked, "--apply", code=Exit.FAILED)["error"] == "InvalidInput"
    word = data(*asked)["confirm"]
    dry = data(*asked, "--confirm", word, code=Exit.FAILED)
    assert (dry["error"], dry["remedy"]) == ("InvalidInput", "To erase, pass --apply as well.")
    assert data("list")[0]["id"] == identity
    typed = listed.partition("To erase exactly this: perdure ")[2].splitlines()[0]
    assert sorted(shlex.split(typed)) == sorted([*asked, "--confirm", word, "--apply"])
    proof = done(*shlex.split(typed))
    assert re.search(
        r"Searched the store for \d+ passages? of the erased texts and for 1 name: found in 0 places\.", proof
    )
    assert "Anna" not in proof
    assert "Files that `export`, `digest` or `plan` wrote" in proof
    assert "perdure undo" not in proof
    assert [p.name for p in folder.iterdir() if text.encode() in p.read_bytes()] == []


def test_a_list_of_what_would_be_erased_needs_no_reason_and_the_erasure_does(folder):
    identity = kept("Anna's door code is 4711-beta.")
    listed = done("erase", "--subject", "Anna", "--dry-run")
    word = data("erase", "--subject", "Anna")["confirm"]
    assert f"To erase exactly this: perdure erase --subject Anna --reason REASON --confirm {word} --apply" in listed
    refused = data("erase", "--subject", "Anna", "--confirm", word, "--apply", code=Exit.FAILED)
    assert (refused["error"], refused["remedy"]) == ("InvalidInput", "Give the reason as well.")
    assert [m["id"] for m in data("list")] == [identity]
    assert "Erased 1 memory" in done("erase", "--subject", "Anna", "--reason", "asked", "--confirm", word, "--apply")


def test_the_call_that_erases_can_be_typed_as_it_is_shown():
    ids = [kept(f"Line {n}.") for n in range(22)]
    everything = done("erase", "--everything", "--reason", "old")
    assert "and 2 more" in everything
    assert re.search(r"perdure erase --everything --reason old --confirm \w+ --apply$", everything.strip())
    kept("A chair.", "-n", "team")
    typed = done("erase", *ids[:2], "--until", "2099-01-02T03:04:05+00:00", "--reason", "old")
    call = shlex.split(typed.partition("To erase exactly this: perdure ")[2])
    assert "Erased 2 memories for good." in done(*call)
    typed = done("erase", "--everything", "--reason", "old", "-n", "team")
    assert "Erased 1 memory for good." in done(*shlex.split(typed.partition("To erase exactly this: perdure ")[2]))
    assert len(data("list", "--limit", "50")) == 20


def test_a_text_becomes_memories_from_a_file_and_from_input(folder):
    text = "We decided to use PostgreSQL for the billing service."
    (folder / "talk.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    first = data("extract", "talk.txt")
    assert [m["stored"] for m in first["extractions"]] == [True]
    assert data("list", "-n", "extracted")[0]["id"] == first["extractions"][0]["memory_id"]
    again = data("extract", "-", input=text)
    assert (again["candidates_found"], again["memories_created"], again["deduplicated_count"]) == (1, 0, 1)
    assert data("extract", "-", "-n", "work", "--min-confidence", "1", input=text)["candidates_found"] == 0
    assert data("extract", "-", "-n", "work", "--no-deduplicate", input=text)["memories_created"] == 1


@pytest.mark.behaviour("EN22")
def test_entities_are_listed_named_merged_and_split(folder):
    with perdure.open(folder / "agent.db", folder / "policy.toml") as memory:
        for identity, name in (("gai-media", "Gai Media"), ("gm", "GMX Studio")):
            changes = tuple(new_entity_changes(Entity(identity, name)))
            memory.apply(Plan(f"bring-{identity}", "learn", "default", 1, changes))
    assert "gai-media" in done("entity", "list")
    assert data("entity", "list", "--limit", "1")[0]["id"] == "gai-media"
    assert data("entity", "alias", "Gai Media", "Gai")["changed"] is True
    assert "Undo: " not in done("entity", "alias", "Gai Media", "Gai")
    assert "Gai, Gai Media" in done("entity", "show", "gai")
    merged = data("entity", "merge", "gai", "GMX Studio")
    assert (merged["into"], merged["other"], merged["aliases"]) == ("gai-media", "gm", ["GMX Studio"])
    assert "Undo: " not in done("entity", "merge", "gai", "gm")
    assert data("entity", "show", "gm")["id"] == "gai-media"
    assert "gmx-studio" in done("entity", "split", "gai", "GMX Studio")
    assert "Undo: " in done("entity", "alias", "gai-media", "gai", "--remove")
    assert "No entities." in done("entity", "list", "-n", "elsewhere")
    data("undo", data("history")[0]["id"])
    assert data("entity", "show", "gai")["aliases"] == ["Gai", "Gai Media"]


# --- errors

REFUSED = [
    (("decay", "--half-life-days", "0.5"), Exit.FAILED, "--half-life-days"),
    (("decay", "--factor", "0.9"), Exit.FAILED, "takes no factor"),
    (("decay", "--min-importance", "0.6"), Exit.FAILED, "--min-importance"),
    (("decay", "--access-weight", "nan"), Exit.FAILED, "--access-weight"),
    (("decay", "--decay-function", "cliff"), Exit.USAGE, "cliff"),
    (("reinforce", "x", "--boost-amount", "1.5"), Exit.FAILED, "--boost-amount"),
    (("reinforce", "x", "--boost-type", "double"), Exit.USAGE, "double"),
    (("reinforce",), Exit.USAGE, "ID"),
    (("weaken", "x", "--amount", "-1"), Exit.FAILED, "amount"),
    (("used", "x", "--outcome", "great"), Exit.USAGE, "great"),
    (("review", "--limit", "0"), Exit.FAILED, "limit"),
    (("settle", "nothing"), Exit.NOTHING, "nothing"),
    (("settle", "nothing", "--verdict", "maybe"), Exit.USAGE, "maybe"),
    (("move", "nothing", "cold", "-r", "x"), Exit.NOTHING, "nothing"),
    (("move", "nothing", "attic", "-r", "x"), Exit.USAGE, "attic"),
    (("move", "nothing", "cold"), Exit.USAGE, "--reason"),
    (("restore", "nothing", "--level", "half"), Exit.USAGE, "half"),
    (("fit",), Exit.FAILED, "token budget"),
    (("fit", "--tokens", "0"), Exit.FAILED, "tokens"),
    (("compression", "--queries", "0"), Exit.FAILED, "1 to 1000"),
    (("consolidate", "--strategy", "keep_both"), Exit.USAGE, "keep_both"),
    (("extract", "missing.txt"), Exit.FAILED, "missing.txt"),
]
REFUSED_GROUPS = [
    (("consolidate", "--similarity-threshold", "0.5"), Exit.FAILED, "--similarity-threshold"),
    (("consolidate", "--max-groups", "101"), Exit.FAILED, "--max-groups"),
    (("relate", "nothing", "else"), Exit.NOTHING, "nothing"),
    (("relate", "nothing", "else", "--weight", "0"), Exit.FAILED, "weight"),
    (("edges", "nothing"), Exit.NOTHING, "nothing"),
    (("complete-task", "nothing"), Exit.NOTHING, "nothing"),
    (("promote", "nothing"), Exit.NOTHING, "nothing"),
    (("promote", "nothing", "--threshold", "2"), Exit.FAILED, "threshold"),
    (("end-session", " "), Exit.FAILED, "SESSION is empty"),
    (("entity", "show", "nobody"), Exit.NOTHING, "nobody"),
    (("entity", "show", " "), Exit.FAILED, "NAME is empty"),
    (("entity", "merge", "nobody", "else"), Exit.NOTHING, "nobody"),
    (("entity", "alias", "nobody", "null"), Exit.FAILED, "null"),
    (("entity", "split", "nobody"), Exit.USAGE, "ALIAS"),
    (("entity", "list", "--limit", "0"), Exit.FAILED, "limit"),
]


@pytest.mark.behaviour("DO19")
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [*REFUSED, *REFUSED_GROUPS],
    ids=lambda value: "-".join(value)[:40] if type(value) is tuple else "",
)
def test_bad_input_is_refused_with_a_remedy_and_changes_nothing(words, code, says):
    kept()
    error = data(*words, code=code)
    assert says in error["message"]
    assert error["remedy"]
    assert [o["operation"] for o in data("history")] == ["remember"]
    result = ran(*words)
    assert result.exit_code == code
    assert says in result.output


@pytest.mark.parametrize(
    ("content", "says"), [(b"\xff\xfe\x00", "UTF-8"), (b"   ", "empty"), (b"word " * 20_000, "50,000")]
)
def test_a_text_that_cannot_be_taken_in_is_refused(folder, content, says):
    perdure.open(folder / "agent.db", embedder="none").close()
    (folder / "talk.txt").write_bytes(content)
    assert says in data("extract", "talk.txt", code=Exit.FAILED)["message"]
    assert data("namespaces") == []


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [("--min-confidence", "2", "--min-confidence"), ("--dedup-threshold", "0.5", "--dedup-threshold")],
)
def test_extraction_refuses_what_is_out_of_range(option, value, says):
    error = data("extract", "-", option, value, code=Exit.FAILED, input="We decided to use PostgreSQL.")
    assert says in error["message"]


# --- real processes


def process(*words, **more):
    line = [sys.executable, "-m", "perdure", *words]
    return subprocess.run(line, capture_output=True, check=False, timeout=60, env=dict(os.environ), **more)


def test_processes_share_what_became_of_a_recall():
    identity = json.loads(process("remember", "Deploys happen on Tuesdays.", "--json").stdout)["id"]
    recall = json.loads(process("recall", "When are deploys?", "--json").stdout)["recall_id"]
    assert json.loads(process("used", identity, "--recall-id", recall, "--json").stdout)["counted"] == [identity]
    assert json.loads(process("used", identity, "--recall-id", recall, "--json").stdout)["repeated"] == [identity]
    assert process("used", "nothing").returncode == Exit.NOTHING
    bad = process("decay", "--half-life-days", "0")
    assert (bad.returncode, bad.stdout) == (Exit.FAILED, b"")
    assert b"--half-life-days" in bad.stderr
    assert b"Traceback" not in bad.stderr


def test_a_process_consolidates_by_itself():
    for day in ("2026-10-01", "2026-10-02"):
        assert process("remember", "The office is in Lyon.", "-k", "episode", "--at", day).returncode == 0
    merged = process("consolidate", "--apply", "--json")
    assert (merged.returncode, json.loads(merged.stdout)["memories_merged"]) == (0, 1)


def test_a_process_extracts_from_a_pipe():
    found = process("extract", "-", "--json", input=b"Remember: the staging port is 5433.\n")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["memories_created"] == 1
