"""Conversation files: each format, and what is refused, with its file and line."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import budget
from perdure.interfaces.cli.options import zone_of
from perdure.interfaces.files import conversation_files, source_lines
from perdure.interfaces.files.conversation_files import Format, find_files, read_messages
from perdure.records.errors import InvalidInput, NotFound, PerdureError


@pytest.fixture
def made(tmp_path):
    def make(content, name="chat.jsonl", **how):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read_messages(str(path), **how))

    return make


def jsonl(*items):
    return "".join(json.dumps(item) + "\n" for item in items)


def contents(messages):
    return [m.content for m in messages]


# --- JSON lines


def test_messages_with_every_spelling(made):
    found = made(
        jsonl(
            {"role": "assistant", "content": "a", "timestamp": "2026-01-05T10:00:00Z", "session": "s", "id": 7},
            {"speaker": "Ana", "text": "b", "at": "2026-01-05T11:00:00+01:00"},
            {"content": [{"type": "text", "text": "c"}, {"type": "image"}, "d"], "created_at": 1767607200},
            {"content": "e", "at": 1767607200500, "session_id": "t"},
            {"content": "f", "at": "1767607200"},
        )
    )
    assert contents(found) == ["a", "b", "c\n\nd", "e", "f"]
    assert [(m.role, m.speaker, m.session, m.key) for m in found] == [
        ("assistant", None, "s", "7"),
        ("user", "Ana", "chat", None),
        ("user", None, "chat", None),
        ("user", None, "t", None),
        ("user", None, "chat", None),
    ]
    ten = datetime(2026, 1, 5, 10, tzinfo=UTC)
    assert [m.at for m in found] == [ten, ten, ten, ten.replace(microsecond=500_000), ten]
    assert found[1].source.endswith("chat.jsonl:2")


def test_blank_lines_and_messages_without_words_are_left_out(made):
    assert contents(made('\n{"content": "a"}\r\n   \n{"content": null}\n{"content": "  "}\n{"content": "b"}')) == [
        "a",
        "b",
    ]


def test_a_byte_order_mark_is_no_part_of_the_text(made):
    assert contents(made(b'\xef\xbb\xbf{"content": "a"}\n')) == ["a"]
    assert contents(made(b"\xef\xbb\xbf# Tea\n\nNoon.\n", "a.md")) == ["Tea: Noon."]


def test_an_id_that_names_no_message_is_not_taken_for_one(made):
    items = [{"id": "c1", "content": "a"}, {"id": "c1", "content": "b"}, {"id": "c1", "content": "a"}]
    assert [m.key for m in made(jsonl(*items))] == ["c1", None, "c1"]


def test_a_zone_is_given_to_times_that_name_none(made):
    naive = jsonl({"content": "a", "at": "2026-07-05 10:00:00"})
    assert made(naive, zone=zone_of("UTC"))[0].at == datetime(2026, 7, 5, 10, tzinfo=UTC)
    local = made(naive, zone=zone_of("local"))[0].at
    assert (local.replace(tzinfo=None), local.tzinfo is not None) == (datetime(2026, 7, 5, 10), True)  # noqa: DTZ001
    with pytest.raises(InvalidInput, match="line 1, has a time without a zone") as refused:
        made(naive)
    assert "--zone" in refused.value.remedy


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "is not JSON"),
        ("tea", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("1" * 5000, "is not JSON"),
        ("[1]", "contains a list"),
        ("null", "contains null"),
        ("3", "contains a number"),
        ("{}", "has no 'content'"),
        ('{"content": 3}', "has a number as content"),
        ('{"content": {"a": 1}}', "as content"),
        ('{"content": "a", "role": ["x"]}', "has a list as 'role'"),
        ('{"content": "a", "session": true}', "as 'session'"),
        ('{"content": "a", "at": "soon"}', "has an invalid time: 'soon'"),
        ('{"content": "a", "at": true}', "has an invalid time"),
        ('{"content": "a", "at": NaN}', "has an invalid time"),
        ('{"content": "a", "at": 1e300}', "has an invalid time"),
        ('{"content": "a", "at": {}}', "has an invalid time"),
        ('{"content": "a\\u0000"}', "contains a NUL"),
        ('{"content": "\\ud83d"}', "surrogate"),
        ('{"content": "a", "speaker": "\\ud83d"}', "surrogate"),
    ],
)
def test_malformed_lines_are_refused_with_file_and_line(made, line, fault):
    with pytest.raises(InvalidInput) as refused:
        made('{"content": "fine"}\n' + line + "\n")
    assert "chat.jsonl, line 2," in refused.value.message
    assert fault in refused.value.message
    assert refused.value.remedy


def test_a_json_list_is_refused_with_the_way_to_convert_it(made):
    with pytest.raises(InvalidInput, match="JSON list") as refused:
        made('[\n{"content": "a"}\n]', "chat.json")
    assert "jq" in refused.value.remedy


# --- Claude Code


def turn(kind, content, **more):
    line = {"type": kind, "message": {"role": kind, "content": content}, "sessionId": "s1", "cwd": "/home/ana/shop"}
    return {**line, "timestamp": "2026-01-05T10:00:00.250Z", "uuid": "u1", **more}


def test_a_claude_code_transcript(made):
    found = made(
        jsonl(
            {"type": "summary", "summary": "Tea shop", "leafUuid": "x"},
            turn("user", "Fix the login.", uuid="a"),
            turn("user", "Caveat: made by the machine", isMeta=True),
            turn("user", "Everything so far, in short.", isCompactSummary=True),
            turn("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Done."}], uuid="b"),
            turn("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]),
            turn("user", [{"type": "tool_result", "content": "a b c"}]),
            turn("user", "<command-name>/clear</command-name>"),
            turn("user", "Thanks!<system-reminder>be brief</system-reminder> Bye.", uuid="c"),
            {"type": "system", "content": "hook ran", "sessionId": "s1", "uuid": "z"},
            {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
            turn("assistant", "API Error", isApiErrorMessage=True),
            {"type": "user", "sessionId": "s1"},
        )
        + '{"type": "assist'
    )
    assert [(m.role, m.content, m.key) for m in found] == [
        ("user", "Fix the login.", "a"),
        ("assistant", "Done.", "b"),
        ("user", "Thanks! Bye.", "c"),
    ]
    assert {m.session for m in found} == {"s1"}
    assert found[0].at == datetime(2026, 1, 5, 10, 0, 0, 250_000, tzinfo=UTC)
    assert found[0].source.endswith("chat.jsonl:2 in /home/ana/shop")


def test_a_broken_line_inside_a_transcript_is_refused(made):
    with pytest.raises(InvalidInput, match="line 2"):
        made(jsonl(turn("user", "a")) + '{"type": "assist\n')


def test_reminders_without_end_stay_cheap(made):
    words = "<system-reminder>" * 200_000
    assert contents(made(jsonl(turn("user", words)))) == [words]


# --- text


def test_paragraphs(made):
    found = made("First line\nsecond line.\r\n\r\n\nNote: this is no speaker.\n", "notes.txt")
    assert contents(found) == ["First line\nsecond line.", "Note: this is no speaker."]
    assert [m.speaker for m in found] == [None, None]
    assert [m.source.rsplit(":", 1)[1] for m in found] == ["1", "5"]
    assert found[0].session == "notes"


def test_lines_that_begin_with_names_are_turns(made):
    text = "A chat\n\nAna: Tea?\nBen: Yes.\nand cake\n\nwith cream\nAna: Fine: two teas.\n"
    found = made(text + "Dr. Ben O'Neill: Bye.\nAna: Bye.\n", "chat.txt")
    assert [(m.speaker, m.content) for m in found] == [
        (None, "A chat"),
        ("Ana", "Tea?"),
        ("Ben", "Yes.\nand cake\n\nwith cream"),
        ("Ana", "Fine: two teas."),
        ("Dr. Ben O'Neill", "Bye."),
        ("Ana", "Bye."),
    ]


# --- Markdown


def test_markdown(made):
    text = """---
title: Shop
---
Before any heading,
two lines.

# Shop #

## Tea
- green
  at noon
- [ ] black
  - Assam
1. first

Setext
------
Under it.
***
| a | b |
|---|---|

```python
# no heading

x = 1
```
Run this:
~~~
make
~~~
<!-- a comment -->
### C#
Sharp.
# Other
- item:

"""
    assert contents(made(text, "notes.md")) == [
        "Before any heading,\ntwo lines.",
        "Shop > Tea:\ngreen\nat noon",
        "Shop > Tea: [ ] black",
        "Shop > Tea: Assam",
        "Shop > Tea: first",
        "Shop > Setext: Under it.",
        "Shop > Setext:\n| a | b |\n|---|---|",
        "Shop > Setext:\n```python\n# no heading\n\nx = 1\n```",
        "Shop > Setext:\nRun this:\n~~~\nmake\n~~~",
        "Shop > Setext > C#: Sharp.",
        "Other: item:",
    ]


@pytest.mark.parametrize("begin", ["<!-- perdure:begin -->", "<!-- perdure:begin 5b0240071c362f13 -->"])
def test_a_digest_of_ours_inside_markdown_is_not_taken_in_again(made, begin):
    text = f"mine\n\n{begin}\n# Memory\n- known <!-- 1 -->\n<!-- perdure:end -->\nmine too\n"
    assert contents(made(text, "MEMORY.md")) == ["mine", "mine too"]


def test_front_matter_without_end_is_text(made):
    assert contents(made("---\ntea\n", "a.md")) == ["tea"]
    assert contents(made("---\n" + "tea\n\n" * 300, "b.md")) == ["tea"] * 300


def test_a_code_block_without_end_is_kept(made):
    assert contents(made("```\na\n\nb", "a.md")) == ["```\na\n\nb"]


# --- which format, which files


@pytest.mark.parametrize(
    ("content", "name", "first"),
    [
        ('{"content": "a"}', "chat", "a"),
        (jsonl(turn("user", "b")), "chat.log", "b"),
        ("# Tea\n\nNoon.", "notes", "Tea: Noon."),
        ("Just words.", "notes", "Just words."),
        ('{"content": "a"}', "notes.txt", '{"content": "a"}'),
    ],
)
def test_the_format_is_found_out(made, content, name, first):
    assert made(content, name)[0].content == first


def test_the_format_can_be_named(made):
    assert contents(made("- a\n- b", "notes.txt", format=Format.MARKDOWN)) == ["a", "b"]
    assert contents(made("- a\n- b", "notes.md", format=Format.TEXT)) == ["- a\n- b"]
    assert made(jsonl({"content": "a"}), "notes.txt", format=Format.JSONL)[0].content == "a"
    assert made(jsonl(turn("user", "a")), "x.txt", format=Format.CLAUDE_CODE, session="other")[0].session == "s1"


def test_an_empty_file_holds_no_messages(made):
    for name in ("a.jsonl", "a.md", "a.txt", "a"):
        assert made("", name) == []


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b'{"content": "a"}\n')))
    found = list(read_messages("-"))
    assert (found[0].content, found[0].session, found[0].source) == ("a", None, "standard input:1")


def test_files_and_folders(tmp_path):
    for name in ("b.md", "a.jsonl", "sub/c.TXT", "skip.py", ".hidden.md", ".git/d.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    folder = str(tmp_path)
    expected = [str(tmp_path / name) for name in ("a.jsonl", "b.md", "sub/c.TXT")]
    assert find_files([folder]) == expected
    assert find_files([expected[1], folder, "-"]) == [expected[1], expected[0], expected[2], "-"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="has no"):
        find_files([str(tmp_path / "empty")])


def test_a_missing_file_is_not_found(tmp_path):
    with pytest.raises(NotFound):
        list(read_messages(str(tmp_path / "gone.md")))
    with pytest.raises(InvalidInput):
        list(read_messages(str(tmp_path)))
    with pytest.raises(PerdureError):
        list(read_messages("a\x00b"))


def test_invalid_utf8_is_refused_with_its_place(made):
    with pytest.raises(InvalidInput, match=r"line 2, is not valid UTF-8 at its byte 3 \(byte 6 of the file\)"):
        made(b"ok\nca\xe9\n", "a.txt")


def test_lines_and_blocks_have_an_end(made, monkeypatch):
    for module in (conversation_files, source_lines):
        monkeypatch.setattr(module, "LONGEST", 1000)
    monkeypatch.setattr("perdure.interfaces.files.prose.LONGEST", 1000)
    with pytest.raises(InvalidInput, match=r"line 2, is longer than 16 MiB"):
        made("a\n" + "b" * 2000, "a.txt")
    for name, begin in (("a.txt", "a\n"), ("a.md", "```\n")):
        with pytest.raises(InvalidInput, match=r"line 1, begins a paragraph that is larger than 16 MiB"):
            made(begin + "b\n" * 1000, name)


def test_a_long_file_is_read_line_by_line(tmp_path):
    path = tmp_path / "long.jsonl"
    path.write_text('{"content": "a"}\n' * 1000 + "broken\n", "utf-8")
    messages = read_messages(str(path))
    assert [next(messages).content for _ in range(1000)] == ["a"] * 1000
    with pytest.raises(InvalidInput, match="line 1001"):
        next(messages)


PIECES = st.sampled_from(
    [
        b"\n",
        b"{",
        b"}",
        b'"content"',
        b": ",
        b'"a"',
        b"```",
        b"# ",
        b"- ",
        b"---\n",
        b"Ana: ",
        b"\\ud800",
        b"\xef\xbb\xbf",
    ]
)


@settings(deadline=None, max_examples=budget(37, 600))
@given(st.lists(st.one_of(PIECES, st.binary(max_size=8)), max_size=30).map(b"".join), st.sampled_from(list(Format)))
def test_arbitrary_bytes_give_messages_or_a_typed_error(tmp_path_factory, data, format):  # noqa: A002
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(data)
    try:
        found = list(read_messages(str(path), format=format))
    except PerdureError:
        return
    assert all(m.content.strip() and "\x00" not in m.content for m in found)
