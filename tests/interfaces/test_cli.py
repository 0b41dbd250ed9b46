"""The command line: every verb, its exit codes, its JSON, its errors; a few as real processes."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.testing import CliRunner

import perdure
from perdure.interfaces.cli import app as cli
from perdure.interfaces.cli import file_commands
from perdure.interfaces.cli import options as cli_options
from perdure.interfaces.cli.call import Call, Exit
from perdure.interfaces.files.conversation_files import Format
from perdure.records.installation import install_command
from starts import forked

SOURCE = str(Path(perdure.__file__).parents[1])

NO_COMMAND = {
    "remember_many": "for programs; `ingest` brings in many from files",
    "digest_details": "`digest` shows the details",
    "review_details": "`review` shows the details",
    "answer": "`review ID VERDICT` does it",
    "apply_all": "`apply` applies all plans of a file",
    "upkeep": "`maintain` does it",
    "upkeep_state": "`maintain --status` shows it",
    "upkeep_states": "`maintain --status` shows it",
    "entities": "`entity list` does it",
    "entity": "`entity show` does it",
    "merge_entities": "`entity merge` does it",
    "split_entity": "`entity split` does it",
    "create_token": "`token create` does it",
    "list_tokens": "`token list` does it",
    "revoke_token": "`token revoke` does it",
    "forecast_under": "the page Plans tries policies; backtest is the command",
    "within": "the option --timeout of every command",
    "confine": "for the service: what the holder of a token sees",
    "recognize": "for the service: what a token allows",
    "without_model": "for the service: what is only looked at asks no language model",
    "while_unchanged": "for the page: an answer to what another answer has changed meanwhile is refused",
    "forget_texts": "for the service: what it keeps of texts goes with an erasure by another process",
    "erasures": "for the service: what it keeps goes with an erasure by another process",
    "log_in": "for the page: the cookie of a session",
    "logged_in": "for the page: what a session allows",
    "log_out": "for the page: the end of a session",
    "usual_namespace": "for the service: where calls that name no namespace look",
    "resolve_id": "each command takes short ids",
    "operation": "`history` lists operations",
    "memories_of": "for the page: `undo` and `history` name them",
    "hit_marks": "`list` shows how a recall marks each memory",
    "superseded_facts": "for the page: `history` lists what an operation changed",
    "list_all": "`list --before` shows page after page, `export` writes all",
    "close": "each command closes what it opened",
}

REAL_PROCESSES = True  # commands are started here as people start them


@pytest.fixture
def place(tmp_path, monkeypatch):
    policy = tmp_path / "policy.toml"
    policy.write_text('[embedder]\nmodel = "none"\n')
    for name, value in {
        "PERDURE_STORE": str(tmp_path / "agent.db"),
        "PERDURE_POLICY": str(policy),
        "COLUMNS": "200",
        "NO_COLOR": "1",
        "PYTHONPATH": SOURCE,
        "PYTHONIOENCODING": "utf-8",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_store(place):
    perdure.open(place / "agent.db", embedder="none").close()


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


def process(*words, **more):
    return subprocess.run(
        [sys.executable, "-m", "perdure", *words], capture_output=True, check=False, timeout=60, **more
    )


def fork(*words, **more):
    """As ``process``, where starting Python anew shows no more."""
    with forked():
        return process(*words, **more)


def kept(text="Deploys happen on Tuesdays at 10:00.", *more):
    return data("remember", text, *more)["id"]


# --- every verb, every option


def commands():
    def walk(group, path):
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from walk(command, (*path, name))
            else:
                yield (*path, name), command

    return list(walk(typer.main.get_command(cli.app), ()))


def test_every_verb_of_memory_has_a_command():
    verbs = {n for n, f in inspect.getmembers(perdure.Memory, inspect.isfunction) if not n.startswith("_")}
    there = {path[-1].replace("-", "_") for path, _ in commands()}
    assert verbs - there == set(NO_COMMAND)
    assert all(NO_COMMAND.values())


@pytest.mark.parametrize(
    ("path", "command"), commands(), ids=lambda value: "-".join(value) if type(value) is tuple else ""
)
def test_every_command_and_option_has_help(path, command):
    assert command.help
    for parameter in command.params:
        assert parameter.help, f"{path}: {parameter.name}"
    result = ran(*path, "--help")
    assert result.exit_code == 0
    assert "Usage: perdure " + " ".join(path) in result.stdout
    assert "--json" in result.stdout


def test_the_first_page_documents_the_exit_codes(place):
    text = done("--help")
    for code in Exit:
        assert f"{code.value}: " in text
    for path, _ in commands():
        assert path[0] in text


def test_without_a_command_the_help_is_shown(place):
    result = ran()
    assert result.exit_code == Exit.USAGE
    assert "Usage" in result.stdout
    assert data(code=Exit.USAGE)["error"] == "UsageError"


def test_global_options_are_accepted_on_both_sides_and_the_later_wins(place):
    kept("Green tea at noon.", "-n", "drinks")
    assert json.loads(done("--json", "-n", "nobody", "list", "-n", "drinks"))[0]["content"] == "Green tea at noon."
    assert json.loads(done("--json", "-n", "drinks", "list"))[0]["namespace"] == "drinks"
    kept("Coffee at ten.", "--store", str(place / "other.db"))
    assert data("list", "--store", str(place / "other.db"))[0]["content"] == "Coffee at ten."


# --- bringing in


def test_remember_keeps_every_option(place):
    given = ["-k", "procedure", "-t", "ops", "-t", "team", "--importance", "0.9", "--confidence", "0.6"]
    given += ["--source", "wiki", "--session", "s1", "--pinned"]
    given += ["--metadata", '{"team": ["red"]}', "--at", "2026-03-01T10:00+02:00", "--idempotency-key", "k1"]
    memory = data("remember", "Deploys happen on Tuesdays.", *given)
    expected = {"kind": "procedure", "tags": ["ops", "team"], "source": "wiki", "session": "s1", "pinned": True}
    assert expected.items() <= memory.items()
    assert memory["metadata"] == {"team": ["red"]}
    assert memory["created_at"] == "2026-03-01T08:00:00.000Z"
    assert data("remember", "deploys happen on Tuesdays.", "--idempotency-key", "k1")["id"] == memory["id"]
    refused = ran("remember", "Other words.", "--idempotency-key", "k1")
    assert refused.exit_code == Exit.FAILED
    assert "The idempotency key 'k1' was used for another text." in refused.stderr
    assert data("remember", "For a task.", "--task", "t1")["scope"] == "task"


def test_remember_says_what_it_did(place):
    assert done("remember", "Tea at noon.").startswith("Remembered ")


def test_remember_reads_standard_input(place):
    assert data("remember", "-", input="\ufeffZwei Zeilen\r\nGrüße 🌱\r\n")["content"] == "Zwei Zeilen\r\nGrüße 🌱"
    refused = data("remember", "-", input=b"caf\xe9", code=Exit.FAILED)
    assert "byte 3" in refused["message"]
    assert data("remember", "-", input="", code=Exit.FAILED)["error"] == "InvalidInput"


def test_a_naive_date_is_local_time(place, monkeypatch):
    env = {**os.environ, "TZ": "America/New_York"}
    answer = process("remember", "Tea.", "--at", "2026-01-05", "--json", env=env)
    assert json.loads(answer.stdout)["created_at"] == "2026-01-05T05:00:00.000Z"


def test_ingest_twice_adds_nothing(place):
    file = place / "chat.jsonl"
    lines = [
        {"role": "user", "content": "When do we deploy?", "at": "2026-01-05T10:00:00Z"},
        {"speaker": "Ana", "content": "On Tuesday.", "at": "2026-01-05T10:00:09Z"},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    first = data("ingest", str(file))
    assert (first["added"], first["skipped"], first["sessions"], first["files"]) == (2, 0, ["chat"], 1)
    assert "Stored 0 memories from 1 file in default; 2 already stored." in done("ingest", str(file))
    assert data("ingest", "-", "--session", "chat", "--embed-later", input=file.read_bytes())["skipped"] == 2
    assert "perdure undo" in done("ingest", str(file), "-n", "other")


def test_ingest_takes_the_name_of_a_person_for_the_speaker(place):
    no_names = ["J" * 100_000, "Jo\0nas", "\ud800", "Assistant", "system", "tool"]
    lines = [
        {"role": "user", "name": "Jonas", "content": "I moved to Oslo."},
        {"role": "user", "name": "Jonas", "speaker": "Ana", "content": "I moved to Bergen."},
        {"role": "user", "name": " ", "content": "I moved to Tromsø."},
        {"role": "user", "name": {"first": "Jonas"}, "content": "I moved to Bodø."},
        {"role": "assistant", "name": "helper", "content": "I noted that."},
        {"role": "tool", "name": "weather", "content": "It rains in Oslo."},
        *({"role": "user", "name": name, "content": f"No {n}."} for n, name in enumerate(no_names)),
    ]
    (place / "chat.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    data("ingest", "chat.jsonl")
    speakers = ["Jonas", "Ana", "user", "user", "assistant", "tool", *(["user"] * len(no_names))]
    assert [m["speaker"] for m in reversed(data("list"))] == speakers
    with perdure.open("agent.db", policy="policy.toml") as memory:
        memory.ingest(lines, session="other", namespace="other")
        assert [m.speaker for m in reversed(memory.list("other"))] == speakers


def test_ingest_takes_folders_and_refuses_all_or_nothing(place):
    folder = place / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Tea\n\nGreen tea at noon.\n", "utf-8")
    (folder / "b.jsonl").write_text('{"content": "fine"}\n{"content": \n', "utf-8")
    refused = data("ingest", str(folder), code=Exit.FAILED)
    assert "b.jsonl, line 2," in refused["message"]
    assert not (place / "agent.db").exists()
    (folder / "b.jsonl").unlink()
    assert data("ingest", str(folder))["added"] == 1
    assert data("list")[0]["content"] == "Tea: Green tea at noon."


def test_ingest_zones(place):
    (place / "c.jsonl").write_text('{"content": "Hello.", "at": "2026-01-05T10:00:00"}\n', "utf-8")
    assert "--zone" in data("ingest", "c.jsonl", code=Exit.FAILED)["remedy"]
    assert ran("ingest", "c.jsonl", "--zone", "Mars/Base").exit_code == Exit.USAGE
    assert data("ingest", "c.jsonl", "--zone", "UTC")["added"] == 1
    assert data("list")[0]["created_at"] == "2026-01-05T10:00:00.000Z"


def test_the_formats_of_ingest_are_those_that_are_read():
    assert get_args(file_commands.FormatName) == tuple(map(str, Format))


# --- asking


def test_recall_answers_with_score_parts(place):
    identity = kept()
    text = done("recall", "When are deploys?")
    assert "Deploys happen on Tuesdays" in text
    assert identity[-8:] in text
    assert "score" in text
    assert "keyword" in text
    answer = data("recall", "-", input="When are deploys?\n")
    assert answer["hits"][0]["memory"]["id"] == identity
    assert answer["query"] == "When are deploys?"


def test_recall_filters(place):
    kept("Deploys happen on Tuesdays.", "-t", "ops", "--session", "s", "--at", "2026-01-05T00:00Z", "-k", "procedure")
    everything = ["-t", "ops", "--kind", "procedure", "--scope", "session", "--session", "s", "--entity", "Tuesdays"]
    everything += ["--since", "2026-01-04", "--until", "2026-01-07", "--min-confidence", "0.01", "--include-archived"]
    assert len(data("recall", "deploys", "--limit", "3", *everything)["hits"]) == 1
    for wrong in (
        ["-t", "x"],
        ["--kind", "note"],
        ["--scope", "task"],
        ["--session", "x"],
        ["--since", "2026-01-07"],
        ["--until", "2026-01-04"],
        ["--as-of", "2026-01-06"],
        ["--min-confidence", "0.99"],
    ):
        assert data("recall", "deploys", *wrong, code=Exit.NOTHING)["hits"] == []


def test_nothing_known_ends_with_three(place):
    make_store(place)
    assert data("recall", "zebras on the moon", code=Exit.NOTHING)["nothing_known"] is True
    result = ran("recall", "zebras")
    assert result.exit_code == Exit.NOTHING
    assert "No stored memory matches." in result.stdout


def test_no_touch_is_no_access(place):
    identity = kept()
    data("recall", "deploys", "--no-touch")
    data("sweep")
    assert data("get", identity)["access_count"] == 0
    data("recall", "deploys")
    data("sweep")
    assert data("get", identity)["access_count"] == 1


def test_get_list_and_pages(place):
    ids = [kept(f"Note number {n}.", "--at", f"2026-01-0{n}T00:00Z") for n in (1, 2, 3)]
    assert [m["id"] for m in data("list", "-l", "2")] == [ids[2], ids[1]]
    assert [m["id"] for m in data("list", "--before", ids[1])] == [ids[0]]
    assert "Note number 2." in done("list")
    assert "Note number 1." in done("get", ids[0])
    assert "No memories in empty" in done("list", "-n", "empty")
    for words in (("get", "no-such"), ("list", "--before", "no-such"), ("why", "no-such"), ("history", "no-such")):
        assert data(*words, code=Exit.NOTHING)["error"] == "NotFound"


def test_why_and_why_not(place):
    identity = kept()
    assert "stored as note" in done("why", identity)
    assert data("why", identity)["id"] == identity
    absent = data("why-not", identity, "zebras on the moon")
    assert absent["kept_out_by"]
    assert absent["kept_out_by"] in done("why-not", identity, "zebras on the moon")


def test_words_from_memories_are_shown_and_never_interpreted(place):
    kept("Deploys [bold red]shout[/] :smile: \x1b[31mred\x1b[0m \u202eback")
    for text in (done("list"), done("recall", "deploys")):
        assert "[bold red]shout[/] :smile:" in text
        assert "\x1b" not in text
        assert "\\x1b[31mred" in text
        assert "\u202e" not in text


# --- deciding, looking back, taking back


def test_pin_archive_restore_and_their_history(place):
    identity = kept()
    assert data("pin", identity)["pinned"] is True
    assert data("unpin", identity)["pinned"] is False
    assert data("archive", identity, "--reason", "no longer true")["status"] == "archived"
    hidden = data("get", identity, code=Exit.NOTHING)  # the same as over HTTP and MCP
    assert hidden["message"] == f"The memory {identity} is archived."
    assert hidden["remedy"] == "Pass --include-archived."
    unknown = data("get", "no-such", code=Exit.NOTHING)
    assert unknown["message"] == data("why", "no-such", code=Exit.NOTHING)["message"] == "There is no memory 'no-such'."
    assert data("get", identity, "--include-archived")["status"] == "archived"
    assert "Restored" in done("restore", identity)
    assert data("history", identity)[0]["operation"] == "remember"
    assert "no longer true" in done("history", identity)


def test_undo(place):
    identity = kept()
    assert "No operations." in done("history", "-n", "empty")
    operation = data("history", "-l", "1")[0]
    assert operation["operation"] == "remember"
    assert operation["id"][-8:] in done("history")
    assert data("undo", operation["id"])["undone"] == operation["id"]
    assert data("get", identity, code=Exit.NOTHING)["fault"] == "caller"
    again = ran("undo", operation["id"])
    assert again.exit_code == Exit.FAILED
    assert again.stdout == ""
    assert "already undone" in again.stderr
    assert "Traceback" not in again.stderr
    assert len(again.stderr.splitlines()) == 2
    assert "Undone:" in done("undo", data("history", "-l", "1")[0]["id"])


def test_lists_that_end_at_their_limit_say_how_the_rest_is_shown(place):
    for words in ("Tea at noon.", "Coffee at ten.", "Bread at six."):
        last = kept(words)
    rest = "if there are more"
    assert f"Ended at the limit of 2; {rest}, add: --limit N" in done("history", "--limit", "2")
    assert f"Ended at the limit of 2; {rest}, add: --before " in done("list", "--limit", "2")
    for words in (("history",), ("history", last, "--limit", "1"), ("list",), ("history", "-n", "empty")):
        assert rest not in done(*words)


def test_undo_without_an_id_shows_the_last_operation_and_undo_last_takes_it_back(place):
    make_store(place)
    assert data("undo", code=Exit.NOTHING)["message"] == "There is no operation to undo."
    first, second = kept("Tea at noon."), kept("Coffee at ten.")
    shown = done("undo")
    assert "remember" in shown
    assert "perdure undo last" in shown
    assert data("undo")["id"] == data("history", "-l", "1")[0]["id"]
    assert {m["id"] for m in data("list")} == {first, second}
    done("undo", "last")
    assert [m["id"] for m in data("list")] == [first]
    assert data("undo")["id"] == data("history", first)[0]["operation_id"]
    done("undo", "last")
    assert data("undo", "last", code=Exit.NOTHING)["message"] == "There is no operation to undo."


def test_undo_last_keeps_to_the_namespace_that_is_named(place):
    red = kept("Tea at noon.", "-n", "red")
    kept("Coffee at ten.", "-n", "blue")
    done("undo", "last", "-n", "red")
    assert data("get", red, code=Exit.NOTHING)["error"] == "NotFound"
    assert data("undo", "last", "-n", "red", code=Exit.NOTHING)["error"] == "NotFound"
    assert len(data("list", "-n", "blue")) == 1


# --- upkeep


def test_sweep_forecast_and_stats(place):
    kept("Old and quiet.", "--at", "2025-01-01")
    dry = data("sweep", "--dry-run")
    assert dry["dry_run"] is True
    assert dry["moved"]
    assert "1 move due" in done("sweep", "--dry-run")
    assert data("forecast", "400")["moved"]
    assert "within 30 days without further access" in done("forecast")
    assert "perdure undo" in done("sweep")
    assert data("sweep", "-n", "default")["moved"] == []
    stats = data("stats")
    assert stats["memories"] == 1
    assert stats["store"] == str(place / "agent.db")
    assert str(place / "agent.db") in done("stats")
    assert data("stats", "-n", "nobody")["memories"] == 0


def test_history_names_who_asked_for_an_operation(place):
    make_store(place)
    kept("Ours.")
    assert "actor" not in done("history")
    with perdure.open(place / "agent.db", embedder="none") as memory:
        token = memory.create_token("agent", "*", actor="Ana Ruiz")
        memory.confine(memory.recognize(token.secret)).remember("Hers.")
    assert ["Ana Ruiz" in line for line in done("history").splitlines() if "remember" in line] == [True, False]
    assert [row["actor"] for row in data("history")][:2] == ["Ana Ruiz", None]


def test_stats_and_alerts_say_what_a_memory_that_fades_is_about(place):
    (place / "policy.toml").write_text(
        '[embedder]\nmodel = "none"\n[archive]\nrule = "value"\nvalue_below = 0.99\ncold_days = 1\n'
        "[tiers]\nhot_messages = 0\nhot_entry_value = 1.0\n"
    )
    for gate in ("east", "west"):
        kept(
            f"The {gate} gate \x1b[31msqueaks \u202eon cold mornings, and nobody has found the oil can since May.",
            "-n",
            gate,
        )
    for shown in (done("stats"), done("stats", "-n", "east"), ran("alerts").stdout):
        found = re.findall(r"  (The east gate .*)", shown)
        assert found
        assert {line[:40] for line in found} == {r"The east gate \x1b[31msqueaks \u202eon cold"[:40]}
        assert "oil can" not in shown
        assert not re.search("[\x1b\u202e]", shown)
    assert "west" not in done("stats", "-n", "east")
    assert "squeaks" not in json.dumps(data("stats"))


def test_check_optimize_namespaces(place):
    make_store(place)
    assert "no namespace yet" in done("namespaces")
    kept()
    assert data("check") == {
        "store": str(place / "agent.db"),
        "sound": True,
        "confirmed_losses": 0,
        "kept_copies": [],
        "faults": [],
    }
    assert "is sound" in done("check")
    assert isinstance(data("optimize"), dict)
    assert done("optimize")
    assert data("namespaces") == ["default"]
    assert done("namespaces") == "default\n"


def test_compact_is_a_preview_unless_applied(place):
    kept()
    shown = data("compact")
    assert shown["dry_run"]
    assert 0 < shown["bytes_after"] <= shown["bytes_before"]
    assert "it would take about" in done("compact")
    applied = data("compact", "--apply")
    assert (applied["dry_run"], applied["notes"]) == (False, [])
    assert applied["bytes_after"] == (place / "agent.db").stat().st_size
    assert "now it takes" in done("compact", "--apply")
    assert data("check", "--full")["sound"]


def test_compact_and_sweep_take_dry_run_and_apply_although_only_one_of_them_previews_unasked(place):
    kept("Deploys happen on Tuesdays at 10:00.", "--at", "2020-01-01")
    assert (data("compact", "--dry-run")["dry_run"], data("compact", "--apply")["dry_run"]) == (True, False)
    due = data("sweep", "--dry-run")["moved"]
    assert due
    assert data("sweep", "--apply")["moved"] == due
    assert data("sweep", "--dry-run")["moved"] == []


def test_reembed_without_an_embedder_says_what_to_do(place):
    kept()
    refused = data("reembed", code=Exit.FAILED)
    assert refused["error"] == "EmbedderError"
    assert install_command("local") in refused["remedy"]


# --- setting up


def test_policy_show_is_a_policy_that_means_the_same(place):
    text = done("policy", "show")
    (place / "same.toml").write_text(text, "utf-8")
    assert tomllib.loads(text)["embedder"]["model"] == "none"
    assert perdure.load_policy(place / "same.toml") == perdure.load_policy(place / "policy.toml")
    shown = data("policy", "show")
    assert shown["file"] == str(place / "policy.toml")
    assert shown["keys"]["embedder.model"]["value"] == "none"
    assert all(key["help"] for key in shown["keys"].values())


def test_policy_check_lists_all_faults(place):
    (place / "bad.toml").write_text("[recall]\nrescored = 1\nnonsense = 2\n", "utf-8")
    refused = data("policy", "check", "bad.toml", code=Exit.FAILED)
    assert refused["fault"] == "policy"
    assert "rescored" in refused["message"]
    assert "nonsense" in refused["message"]
    assert "valid" in done("policy", "check")
    assert data("policy", "check", str(place / "policy.toml"))["sound"] is True
    assert data("list", "--policy", "bad.toml", code=Exit.FAILED)["error"] == "PolicyError"
    assert data("policy", "check", "gone.toml", code=Exit.FAILED)["error"] == "PolicyError"


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_mcp_config_names_the_store(place, client, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "data"))
    shown = done("mcp-config", "--client", client)
    assert str(place / "agent.db") in shown
    assert "--profile agent offers ten tools; use lifecycle to add maintenance tools, or full for all" in shown
    assert data("mcp-config", "--client", client)["store"] == str(place / "agent.db")
    assert ran("mcp-config", "--client", "abacus").exit_code == Exit.USAGE


def test_mcp_is_given_what_was_asked(place, monkeypatch):
    from perdure.interfaces.mcp import run as mcp

    given = {}
    monkeypatch.setattr(mcp, "run", lambda **arguments: given.update(arguments))
    done(
        "mcp",
        "--transport",
        "http",
        "--port",
        "9000",
        "--profile",
        "full",
        "-n",
        "team",
        "--allowed-host",
        "m.lan",
        "--timeout",
        "5",
    )
    assert given == {
        "store": str(place / "agent.db"),
        "policy": None,
        "transport": "http",
        "host": "127.0.0.1",
        "port": 9000,
        "profile": "full",
        "namespace": "team",
        "allowed_hosts": ["m.lan"],
        "seconds": 5.0,
    }


def test_mcp_without_its_extra_says_how_to_install_it(place, monkeypatch):
    from perdure.interfaces.mcp import run as mcp

    def missing(**arguments):
        raise ModuleNotFoundError("No module named 'mcp'", name="mcp")

    monkeypatch.setattr(mcp, "run", missing)
    refused = data("mcp", code=Exit.FAILED)
    assert refused["remedy"] == f"Run `{install_command('mcp')}`."
    assert 'mcp]"' in refused["remedy"]


def test_demo_is_called(place, monkeypatch):
    from perdure.interfaces import demo

    monkeypatch.setattr(demo, "run", lambda out, **more: out / f"{more['embedder']}.html")
    assert data("demo", "--out", "tour", "--embedder", "none")["page"] == str(Path("tour") / "none.html")
    assert done("demo") == ""


# --- names that the command line does not have


def test_the_names_of_other_memory_tools_run(place):
    identity = data("add", "Deploys happen on Tuesdays.", "-t", "ops")["id"]
    assert data("search", "deploys")["hits"][0]["memory"]["id"] == identity
    assert "│ search" not in done("--help")


MEANT = {
    "recal": "recall",
    "delete": "forget",
    "remove": "forget",
    "find": "recall",
    "edit": "update",
    "save": "remember",
}


def test_an_unknown_command_is_answered_with_one_that_exists(place):
    for word, command in MEANT.items():
        result = ran(word, "x")
        assert result.exit_code == Exit.USAGE
        assert f"Did you mean '{command}'" in result.stderr
    assert "forget" in data("delete", "x", code=Exit.USAGE)["message"]


def test_every_hint_names_a_command_and_every_renamed_option_exists():
    there = {"-".join(path): command for path, command in commands()}
    assert {*cli_options.ALIASES.values(), *cli_options.MEANT.values()} <= there.keys()
    assert not {*cli_options.ALIASES, *cli_options.MEANT} & there.keys()
    for name, options in cli_options.EARLIER_OPTIONS.items():
        known = {option for p in there[name].params for option in (*p.opts, *p.secondary_opts)}
        assert set(options.values()) <= known
        assert not set(options) & known


def test_earlier_names_of_options_work_and_are_noted_once(place):
    result = ran("remember", "Tea at noon.", "--pin", "--key=k1", "--json")
    assert json.loads(result.stdout)["pinned"] is True
    assert result.stderr.splitlines() == [
        "Note: --pin of 'perdure remember' is now called --pinned.",
        "Note: --key of 'perdure remember' is now called --idempotency-key.",
    ]
    assert json.loads(done("remember", "--json", "--", "--pin"))["content"] == "--pin"


# --- errors


@pytest.mark.parametrize(
    "words",
    [
        ("remember", " "),
        ("remember", "x", "--importance", "nan"),
        ("remember", "x", "--importance", "2"),
        ("remember", "x", "--at", "2999-01-01"),
        ("remember", "x", "-n", "../x"),
        ("remember", "x", "-n", ""),
        ("recall", "x", "--limit", "0"),
        ("recall", "x", "--min-confidence", "-1"),
        ("forecast", "--", "-1"),
        ("digest", "--budget-tokens", "1"),
        ("list", "--store", "postgresql://host/db"),
        ("list", "--store", ""),
    ],
)
def test_refusals_say_what_and_what_to_do(place, words):
    make_store(place)
    result = ran(*words)
    assert result.exit_code == Exit.FAILED, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert 1 <= len(result.stderr.splitlines()) <= 2
    at = words.index("--") if "--" in words else len(words)
    refused = CliRunner().invoke(cli.app, [*words[:at], "--json", *words[at:]])
    assert set(json.loads(refused.stdout)) == {"error", "message", "remedy", "fault"}
    assert refused.stderr == ""


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("recall",),
        ("recall", "x", "--nonsense"),
        ("recall", "x", "--kind", "poem"),
        ("recall", "x", "--limit", "many"),
        ("recall", "x", "--since", "yesterday"),
        ("remember", "x", "--metadata", "[1]"),
        ("remember", "x", "--metadata", "{"),
        ("archive", "x"),
        ("digest", "--profile", "nobody"),
        ("digest", "--check"),
        ("policy", "nonsense"),
    ],
)
def test_wrong_usage_ends_with_two(place, words):
    result = ran(*words)
    assert result.exit_code == Exit.USAGE
    assert result.stdout == ""
    assert "Error" in result.stderr
    assert data(*words, code=Exit.USAGE)["error"] == "UsageError"


def test_json_after_two_dashes_is_a_text(place):
    result = ran("remember", "--", "--json")
    assert result.exit_code == 0
    assert result.stdout.startswith("Remembered")


def test_a_file_that_is_no_store_is_left_alone(place):
    (place / "agent.db").write_bytes(b"This is a letter, not a database. " * 100)
    assert data("list", code=Exit.FAILED)["error"] == "NotAStore"
    assert (place / "agent.db").read_bytes().startswith(b"This is a letter")


def test_a_defect_is_told_with_its_place_and_still_one_document(place, monkeypatch):
    def broken(self, *arguments):
        raise ZeroDivisionError("oh")

    make_store(place)
    monkeypatch.setattr(perdure.Memory, "namespaces", broken)
    result = ran("namespaces", "--json")
    assert result.exit_code == Exit.FAILED
    assert json.loads(result.stdout)["error"] == "ZeroDivisionError"
    assert "Traceback" in result.stderr
    assert "please report" in ran("namespaces").stderr


def test_ctrl_c(place, monkeypatch):
    def stopped(self, *arguments):
        raise KeyboardInterrupt

    make_store(place)
    monkeypatch.setattr(perdure.Memory, "namespaces", stopped)
    result = ran("namespaces")
    assert result.exit_code == Exit.STOPPED
    assert "Stopped" in result.stderr
    assert json.loads(ran("namespaces", "--json").stdout)["error"] == "Stopped"


def test_embedder_warnings_are_printed_once_on_standard_error(place, monkeypatch):
    import warnings

    def warned(self):
        for _ in range(3):
            warnings.warn("the weights are missing", perdure.EmbedderWarning, stacklevel=1)
        return []

    make_store(place)
    monkeypatch.setattr(perdure.Memory, "namespaces", warned)
    result = ran("namespaces", "--json")
    assert result.stdout == "[]\n"
    assert result.stderr == "Note: the weights are missing\n"


# --- as a process


def test_the_default_store_is_made_in_the_users_folder(place, monkeypatch):
    monkeypatch.delenv("PERDURE_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "data"))
    monkeypatch.setenv("HOME", str(place))
    call = Call(None, None, None, as_json=False)
    kept()
    assert Path(call.store).is_file()
    assert Path(call.store).name == "memory.db"
    assert data("stats")["store"] == call.store


def test_a_process_remembers_and_recalls(place):
    text = "Grüße aus Zürich 🌱"
    first = process("remember", "-", "--json", input=text.encode())
    assert (first.returncode, first.stderr) == (0, b"")
    answer = process("recall", "Grüße")
    assert answer.returncode == 0
    assert text in answer.stdout.decode()
    missing = fork("get", "no-such")
    assert (missing.returncode, missing.stdout) == (Exit.NOTHING, b"")
    assert b"Traceback" not in missing.stderr
    assert fork("recall", "x", "--limit", "0").returncode == Exit.FAILED
    assert fork("nonsense").returncode == Exit.USAGE


COUNTED = """
import os, sys
from perdure.interfaces.entry import main
try:
    main()
finally:
    assert "numpy" in sys.modules
    os.write(2, f"{len(os.listdir('/proc/self/task'))} threads".encode())
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads as Linux shows them")
@pytest.mark.parametrize("words", [["remember", "Deploys happen."], ["--json", "recall", "deploys"]], ids=" ".join)
def test_a_short_command_waits_for_no_threads_of_a_library(place, words):
    kept()
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ended = subprocess.run([sys.executable, "-c", COUNTED, *words], env=env, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"1 threads")


def test_a_terminal_that_knows_only_ascii_gets_escapes(place):
    kept("Grüße 🌱")
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert json.loads(process("list", "--json", env=env).stdout)[0]["content"] == "Grüße 🌱"
    plain = process("list", env=env)
    assert (plain.returncode, plain.stderr) == (0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_sees_progress_and_no_colour_if_asked(place):
    import pty

    lines = "".join(json.dumps({"content": f"Note {n}."}) + "\n" for n in range(50))
    (place / "chat.jsonl").write_text(lines, "utf-8")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "perdure", "ingest", "chat.jsonl"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, check=False, timeout=60)
    os.close(theirs)
    seen = os.read(ours, 100_000).decode()
    os.close(ours)
    assert ended.returncode == 0
    assert "Ingest" in seen
    assert "\x1b[3" not in seen  # NO_COLOR is set
    assert ended.stdout.startswith(b"Stored 50 memories")


def test_a_reader_that_goes_away_is_no_defect(place):
    kept()
    script = f"{sys.executable} -m perdure list --json | true"
    ended = subprocess.run(["bash", "-c", script], capture_output=True, check=False, timeout=60)
    assert ended.stderr == b""


def test_arguments_that_are_no_unicode_are_refused(place):
    ended = process("remember", b"caf\xe9")
    assert ended.returncode == Exit.FAILED
    assert b"Traceback" not in ended.stderr
    assert json.loads(process("remember", b"caf\xe9", "--json").stdout)["error"] == "InvalidInput"


def test_completion_script_and_words(place):
    env = {**os.environ, "_PERDURE_COMPLETE": "complete_bash", "COMP_WORDS": "perdure re", "COMP_CWORD": "1"}
    found = process(env=env).stdout.decode().split()
    assert {"remember", "recall", "restore", "reembed"} <= set(found)
    env = {**env, "COMP_WORDS": "perdure digest --profile cl", "COMP_CWORD": "3"}
    assert fork(env=env).stdout.decode().split() == ["claude-code"]


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_a_quick_start_loads_no_engine(place, word):
    """Heavy libraries load inside commands; this asks the process itself, so the whole chain counts."""
    script = (
        "import sys, atexit\n"
        "heavy = ('numpy', 'apsw', 'onnxruntime', 'mcp', 'perdure.records.report', 'perdure.knowledge')\n"
        "atexit.register(lambda: print([m for m in heavy if m in sys.modules], file=sys.stderr))\n"
        f"sys.argv = ['perdure', {word!r}]\n"
        "from perdure.interfaces.cli.app import main\nmain()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=60, text=True)
    assert ended.returncode == 0
    assert ended.stderr.strip() == "[]"
    if word == "--version":
        assert ended.stdout == f"perdure {perdure.__version__}\n"


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="the local embedder is not installed")
def test_the_local_embedder_works_from_the_command_line(place):
    policy = place / "local.toml"
    policy.write_text("", "utf-8")
    stored = process("remember", "The cat sleeps on the sofa.", "--policy", str(policy))
    assert (stored.returncode, stored.stderr) == (0, b"")
    answer = fork("recall", "Where does the kitten nap?", "--policy", str(policy), "--json")
    assert "cosine" in json.loads(answer.stdout)["hits"][0]


def test_every_option_that_a_help_page_names_is_one_of_the_command():
    others = {"--plugin-dir", "--store", "--policy", "--namespace", "--json"}  # of Claude Code, and of every command
    unknown = {}
    for file in sorted((Path(__file__).parents[1] / "golden" / "help").glob("*.txt")):
        told, _, listed = file.read_text("utf-8").partition("╭")
        unknown[file.stem] = (
            set(re.findall(r"--[a-z][a-z-]+", told)) - set(re.findall(r"--[a-z][a-z-]+", listed)) - others
        )
    assert {name: options for name, options in unknown.items() if options} == {}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("demo", "--out", "a file/demo"), Exit.FAILED, "cannot be created"),
        (("learn",), Exit.FAILED, "Give either sessions to learn from or facts to store."),
        (("move", "0123456789", "warmer", "--reason", "why"), Exit.USAGE, "'TIER': 'warmer' is not one of"),
    ],
)
def test_what_is_refused_says_why_in_words_of_ours(words, code, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a file").write_text("", encoding="utf-8")
    perdure.open("agent.db", {"embedder": {"model": "none"}}).close()
    with pytest.raises(SystemExit) as ended:
        cli.app([*words, "--store", "agent.db"])
    shown = capsys.readouterr()
    assert ended.value.code == code
    assert said in " ".join(re.sub("[│╭╮╰╯─]", " ", shown.err).split())
    assert "bug in Perdure" not in shown.err
