"""Reading on in a transcript: each message once, whatever happens to the file, and nothing that nobody said."""

from __future__ import annotations

import itertools
import json
import os
import sys
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import opened
from perdure.interfaces.hooks.transcript_tail import ReadPosition, read_new_messages
from perdure.records.errors import InvalidInput, NotFound

BEGIN = datetime(2026, 1, 5, 10, tzinfo=UTC)


class Transcript:
    """Lines as Claude Code writes them, each with its envelope, one after the other."""

    def __init__(self, session="0d5f6b0a"):
        self.session, self.numbers, self.last = session, itertools.count(1), None

    def line(self, kind, said=None, **more):
        number = next(self.numbers)
        item = {
            "parentUuid": self.last,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/ana/shop",
            "sessionId": self.session,
            "version": "2.1.250",
            "gitBranch": "main",
            "type": kind,
            "uuid": str(UUID(int=number)),
            "timestamp": (BEGIN + timedelta(seconds=number)).isoformat().replace("+00:00", "Z"),
        }
        self.last = item["uuid"]
        if said is not None:
            item["message"] = {"role": kind, "content": said}
            if kind == "assistant":
                item["message"] |= {
                    "id": "msg_1",
                    "type": "message",
                    "model": "claude-x",
                    "usage": {"output_tokens": 5},
                }
        if "model" in more:
            item["message"]["model"] = more.pop("model")
        return json.dumps({**item, **more}, ensure_ascii=False) + "\n"

    def session_lines(self):
        """A session with everything that a transcript holds; what was said to somebody begins with SAID."""
        user, agent = (lambda *a, **m: self.line("user", *a, **m)), (lambda *a, **m: self.line("assistant", *a, **m))
        text = lambda words: [{"type": "text", "text": words}]  # noqa: E731
        tool = [{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "a.py"}}]
        result = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": text("SECRET = 1")}]
        opened_file = {"type": "text", "text": "<ide_opened_file>The user opened a.py.</ide_opened_file>"}
        return [
            '{"type":"mode","mode":"normal","sessionId":"0d5f6b0a"}\n',
            '{"type":"file-history-snapshot","messageId":"m","snapshot":{"trackedFileBackups":{}}}\n',
            self.line(
                "attachment", attachment={"type": "hook_success", "stdout": "# Memory", "hookEvent": "SessionStart"}
            ),
            self.line("attachment", attachment={"type": "hook_additional_context", "content": ["# Memory"]}),
            user("<local-command-caveat>Caveat: the messages below</local-command-caveat>", isMeta=True),
            user("<command-name>/model</command-name>\n<command-message>model</command-message>"),
            user("<local-command-stdout>Set model</local-command-stdout>"),
            user("SAID Why do the imports fail?<system-reminder>Be brief.</system-reminder>"),
            agent([{"type": "thinking", "thinking": "hm", "signature": "x"}]),
            agent(text("SAID I will look at the importer.")),
            agent(tool),
            user(result, toolUseResult={"type": "text", "file": {"content": "SECRET = 1"}}),
            user(text("Base directory for this skill: ..."), isMeta=True, sourceToolUseID="toolu_1"),
            user("Look for the queue.", isSidechain=True, agentId="a1"),
            agent(text("Found it."), isSidechain=True, agentId="a1"),
            self.line("system", subtype="turn_duration", durationMs=12, content="x"),
            agent(text("SAID The queue's name was old; it is mended.")),
            user([opened_file, {"type": "text", "text": "SAID Danke, 😀!"}]),
            user(text("[Request interrupted by user]")),
            user("<bash-input>git status</bash-input>"),
            user("<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>"),
            user("<task-notification>\n<task-id>b1</task-id>\n</task-notification>"),
            agent(text("No response requested."), model="<synthetic>"),
            agent(text("API Error: 529"), isApiErrorMessage=True, model="<synthetic>"),
            self.line("system", subtype="compact_boundary", content="Conversation compacted"),
            user("This session is being continued ...", isCompactSummary=True, isVisibleInTranscriptOnly=True),
            user("SAID And the tests?"),
            '{"type":"summary","summary":"Imports","leafUuid":"x"}\n',
            '{"type":"queue-operation","operation":"enqueue","content":"later","sessionId":"0d5f6b0a"}\n',
            '{"type":"last-prompt","lastPrompt":"And the tests?","sessionId":"0d5f6b0a"}\n',
        ]


WORDS = [
    ("user", "SAID Why do the imports fail?"),
    ("assistant", "SAID I will look at the importer."),
    ("assistant", "SAID The queue's name was old; it is mended."),
    ("user", "SAID Danke, 😀!"),
    ("user", "SAID And the tests?"),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "0d5f6b0a.jsonl"


def told(messages):
    return [(m.role, m.content) for m in messages]


def test_only_what_was_said_counts(path):
    lines = Transcript().session_lines()
    path.write_text("".join(lines), "utf-8")
    messages, mark = read_new_messages(path, None)
    assert told(messages) == WORDS
    assert (mark.bytes, mark.lines) == (path.stat().st_size, len(lines))
    numbers = [n for n, line in enumerate(lines, 1) if "SAID" in line]
    items = [json.loads(lines[n - 1]) for n in numbers]
    assert [m.key for m in messages] == [item["uuid"] for item in items]
    assert [m.at for m in messages] == [datetime.fromisoformat(item["timestamp"]) for item in items]
    assert {m.session for m in messages} == {"0d5f6b0a"}
    assert [m.source for m in messages] == [f"{path}:{n} in /home/ana/shop" for n in numbers]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 9000), max_size=12).map(sorted))
def test_however_the_file_grows_each_message_is_read_once(path, cuts):
    """Cut anywhere, also inside a character: what was written when the mark was made does not matter."""
    data = "".join(Transcript().session_lines()).encode()
    mark, read = None, []
    for cut in [*cuts, len(data)]:
        path.write_bytes(data[:cut])
        messages, mark = read_new_messages(path, mark if mark is None else ReadPosition.from_text(mark.to_text()))
        read += messages
        assert mark.bytes <= cut
    assert told(read) == WORDS
    assert read_new_messages(path, mark) == ([], mark)


def test_a_half_written_line_is_left_for_the_next_time(path):
    first, second = (Transcript().line("user", words) for words in ("one", "two"))
    path.write_text(first + second[:-1])
    messages, mark = read_new_messages(path, None)
    assert [m.content for m in messages] == ["one"]
    assert mark.bytes == len(first)
    path.write_text(first + second)
    assert [m.content for m in read_new_messages(path, mark)[0]] == ["two"]


def test_a_file_that_was_written_anew_is_read_from_its_beginning(path):
    made = Transcript()
    lines = [made.line("user", f"said {i}") for i in range(20)]
    path.write_text("".join(lines))
    messages, mark = read_new_messages(path, None)
    assert len(messages) == 20

    path.write_text("".join(lines[:5]))  # shorter
    assert len(read_new_messages(path, mark)[0]) == 5
    path.write_text("".join([made.line("user", "another beginning"), *lines]))  # longer, begins otherwise
    assert len(read_new_messages(path, mark)[0]) == 21
    rewound = [*lines[:10], *(made.line("user", f"other {i}") for i in range(15))]  # the same beginning only
    path.write_text("".join(rewound))
    assert len(read_new_messages(path, mark)[0]) == 25
    path.write_text("")
    assert read_new_messages(path, mark) == ([], read_new_messages(path, None)[1])


def test_taking_in_twice_adds_nothing(path, tmp_path):
    path.write_text("".join(Transcript().session_lines()), "utf-8")
    messages, mark = read_new_messages(path, None)
    with opened(tmp_path / "agent.db") as memory:
        assert memory.ingest(messages).added == 5
        again = read_new_messages(path, ReadPosition(mark.bytes, mark.lines, "0" * 32))[0]
        assert memory.ingest(again).added == 0
        assert len(memory.list()) == 5


def test_lines_that_cannot_be_read_do_not_stop_the_others(path):
    made = Transcript()
    bad = [
        b"{broken\n",
        b"\xff\xfe\n",
        b"[1]\n",
        b"\n",
        b'{"type": "user", "message": {"content": 7}}\n',
        b"[" * 9999 + b"\n",
    ]
    odd = made.line("user", "x", timestamp="yesterday").encode() + made.line("user", "a\0b").encode()
    path.write_bytes(b"".join([made.line("user", "one").encode(), *bad, odd, made.line("user", "two").encode()]))
    messages, mark = read_new_messages(path, None)
    assert [m.content for m in messages] == ["one", "two"]
    assert mark.lines == 10


def test_a_line_too_long_to_be_read_is_passed_over(path, monkeypatch):
    monkeypatch.setattr("perdure.interfaces.hooks.transcript_tail.LONGEST", 1000)
    monkeypatch.setattr("perdure.interfaces.hooks.transcript_tail._PIECE", 100)
    made = Transcript()
    long = made.line("user", "x" * 5000)
    path.write_text(made.line("user", "one") + long + made.line("user", "two") + long[:-1])
    messages, mark = read_new_messages(path, None)
    assert [m.content for m in messages] == ["one", "two"]
    assert mark.bytes == path.stat().st_size - len(long) + 1


def test_a_long_transcript_is_read_in_parts(path):
    made = Transcript()
    path.write_text("".join(made.line("user", f"said {i}") for i in range(100)))
    mark, sizes = None, []
    while sizes[-1:] != [0]:
        messages, mark = read_new_messages(path, mark, most=5000)
        sizes.append(len(messages))
    assert sum(sizes) == 100
    assert max(sizes) < 20


def test_what_is_no_transcript_is_told(path, tmp_path):
    with pytest.raises(NotFound):
        read_new_messages(path, None)
    with pytest.raises(InvalidInput, match="not a file"):
        read_new_messages(tmp_path, None)
    with pytest.raises(InvalidInput, match="is not valid"):
        read_new_messages(tmp_path / "a\0b", None)
    if sys.platform != "win32":
        os.mkfifo(path)
        with pytest.raises(InvalidInput, match="not a file"):
            read_new_messages(path, None)


@pytest.mark.parametrize("text", ["", "x", "1:2", "-1:2:a", "1:b:c", "1:2:3:4", "²:1:a", "9" * 30 + ":1:a"])
def test_a_mark_that_cannot_be_read_is_none(text):
    assert ReadPosition.from_text(text) is None
