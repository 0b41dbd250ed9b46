"""What a coding agent's hooks are told, read from payloads as Claude Code writes them, and what they may answer."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.interfaces.hooks.hook_input import EVENTS, LONGEST_ANSWER, HookInput, parse_hook_input, render_hook_output
from perdure.records.errors import InvalidInput

PAYLOADS = Path(__file__).parent / "payloads"
SESSION = "0d5f6b0a-3c1e-4f9f-9a57-1f0f9e6f2b11"


def payload(event, folder, **changed):
    item = json.loads((PAYLOADS / f"{event}.json").read_text("utf-8"))
    places = {"{cwd}": str(folder), "{transcript}": str(folder / "t.jsonl")}
    return json.dumps({**{k: places.get(str(v), v) for k, v in item.items()}, **changed})


EXPECTED = {
    "UserPromptSubmit": {
        "prompt": "Why do the nightly imports fail since we moved to the new queue?\n"
        "Please look at imports/run.py first."
    },
    "TaskCompleted": {"task": "12"},
}


def test_every_event_has_a_payload():
    assert sorted(p.stem for p in PAYLOADS.glob("*.json")) == sorted(EVENTS)


@pytest.mark.parametrize("event", EVENTS)
def test_a_payload_is_read(event, tmp_path):
    read = parse_hook_input(payload(event, tmp_path), event)
    assert read == HookInput(SESSION, tmp_path / "t.jsonl", tmp_path, **EXPECTED.get(event, {}))


def test_what_may_be_missing(tmp_path):
    assert parse_hook_input(json.dumps({"session_id": "s"}), "SessionEnd") == HookInput("s")
    empty = {"session_id": "s", "transcript_path": "", "cwd": None, "task_id": ""}
    assert parse_hook_input(json.dumps(empty), "Stop") == HookInput("s")
    assert parse_hook_input(payload("TaskCompleted", tmp_path, task_id=7), "TaskCompleted").task == "7"
    assert parse_hook_input(payload("Stop", tmp_path, new_field={"a": [1]}), "Stop").session == SESSION


def test_a_home_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    read = parse_hook_input(
        payload("Stop", tmp_path, transcript_path="~/t.jsonl", cwd="~nobody-of-that-name/x"), "Stop"
    )
    assert (read.transcript, read.cwd) == (tmp_path / "t.jsonl", Path("~nobody-of-that-name/x"))


@pytest.mark.parametrize(
    ("text", "event", "match"),
    [
        ("", "Stop", "not JSON"),
        ("{", "Stop", "not JSON"),
        ("[" * 100_000, "Stop", "not JSON"),
        ("[]", "Stop", "not a JSON object"),
        ('"Stop"', "Stop", "not a JSON object"),
        (" " * (16 * 1024 * 1024) + "{}", "Stop", "longer than"),
        ("{}", "Stop", "no session_id"),
        ('{"session_id": " "}', "Stop", "no session_id"),
        ('{"session_id": 7}', "Stop", "session_id is not text"),
        ('{"session_id": "s"}', "PostToolUse", "Unknown hook event: 'PostToolUse'"),
        ('{"session_id": "s", "hook_event_name": "Stop"}', "SessionEnd", "received the input of 'Stop'"),
        ('{"session_id": "s", "hook_event_name": ["Stop"]}', "Stop", "hook_event_name is not text"),
        ('{"session_id": "s", "prompt": {"a": 1}}', "UserPromptSubmit", "prompt is not text"),
        ('{"session_id": "s", "cwd": "a\\u0000b"}', "Stop", "cwd is not a path"),
        ('{"session_id": "s", "task_id": true}', "TaskCompleted", "task_id is not text"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_refused(text, event, match):
    with pytest.raises(InvalidInput, match=match) as caught:
        parse_hook_input(text, event)
    assert caught.value.remedy


NAMES = st.sampled_from(["session_id", "hook_event_name", "prompt", "cwd", "task_id", "transcript_path", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda s: st.lists(s) | st.dictionaries(NAMES, s),
)


@given(st.text() | VALUES.map(json.dumps) | st.dictionaries(NAMES, VALUES).map(json.dumps))
def test_whatever_is_told_is_read_or_refused(text):
    try:
        read = parse_hook_input(text, "Stop")
    except InvalidInput:
        return
    assert read.session.strip()


@pytest.mark.parametrize("event", EVENTS)
def test_only_two_events_put_words_before_the_model(event):
    answer = json.loads(render_hook_output(event, "# Memory", "Perdure: 3 memories."))
    context = answer.pop("hookSpecificOutput", None)
    if event in ("SessionStart", "UserPromptSubmit"):
        assert context == {"hookEventName": event, "additionalContext": "# Memory"}
    else:
        assert context is None
    assert answer == ({} if event == "SessionEnd" else {"systemMessage": "Perdure: 3 memories."})


def test_nothing_to_say_says_nothing():
    assert render_hook_output("SessionStart", None) == render_hook_output("SessionStart", " \n", "") == "{}"
    with pytest.raises(InvalidInput, match="Unknown hook event"):
        render_hook_output("Notification", None)


def test_an_answer_is_one_line_that_every_terminal_can_print():
    text = render_hook_output("SessionStart", "Tee für 😀\nzwei")
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text)["hookSpecificOutput"]["additionalContext"] == "Tee für 😀\nzwei"


def test_a_long_context_is_cut_at_a_line():
    whole = "\n".join(f"- memory {i}" for i in range(2000))
    cut = json.loads(render_hook_output("SessionStart", whole))["hookSpecificOutput"]["additionalContext"]
    *kept, end = cut.split("\n")
    assert LONGEST_ANSWER - 20 < len(cut) <= LONGEST_ANSWER
    assert end == "[...]"
    assert kept == whole.split("\n")[: len(kept)]
    one_line = json.loads(render_hook_output("Stop", None, "x" * 20_000))["systemMessage"]
    assert len(one_line) == LONGEST_ANSWER


def test_every_field_has_its_documentation():
    lines = inspect.getsource(HookInput).splitlines()
    beside = {f.name: [line for line in lines if line.startswith(f"    {f.name}: ")] for f in fields(HookInput)}
    assert [name for name, (line,) in beside.items() if not line.partition("  # ")[2]] == []
