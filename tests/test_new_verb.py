"""A verb is one annotated method: command, tool, route, checks and JSON follow without another line."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
import pytest
from mcp import Client
from starlette.testclient import TestClient

import perdure
from perdure.interfaces.cli.commands import verb_commands
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from perdure.interfaces.mcp.run import build
from perdure.memory import Memory
from perdure.records.errors import InvalidInput
from perdure.verbs.declaration import VERBS, Param, verb
from perdure.verbs.parameters import Namespace

if TYPE_CHECKING:
    from perdure.operations.ports import Context

POLICY = {"embedder": {"model": "none"}}


def declare():
    """Declare the verb: at run time, because other tests look at all verbs that there are."""

    class CountingVerbs:
        """What an author of a verb writes."""

        _context: Context

        @verb("Ask", reads=True, items="words")
        def longest_words(
            self,
            namespace: Namespace = "default",
            limit: Annotated[int, Param("How many words at most.", ge=1, le=20, short="-l")] = 3,
            order: Annotated[Literal["first", "last"], Param("Which of words of one length come first.")] = "first",
        ) -> list[str]:
            """List the longest words of a namespace, by their length. Does not count as an access."""
            words = {w for m in self.list(namespace) for w in m.content.split()}  # type: ignore[attr-defined]
            return sorted(sorted(words, reverse=order == "last"), key=len, reverse=True)[:limit]

    return CountingVerbs.longest_words


@pytest.fixture
def declared(monkeypatch):
    method = declare()
    monkeypatch.setattr(Memory, "longest_words", method, raising=False)
    yield VERBS["longest_words"]
    del VERBS["longest_words"]


def test_python_checks_what_the_declaration_says(declared):
    with perdure.open(":memory:", POLICY) as memory:
        memory.remember("Deploys happen on Tuesdays.")
        assert memory.longest_words(limit=2) == ["Tuesdays.", "Deploys"]
        with pytest.raises(InvalidInput, match="limit must be a whole number from 1 to 20, not 0") as refused:
            memory.longest_words(limit=0, order="middle")
        assert "order must be one of first, last, not 'middle'" in str(refused.value)  # all faults at once


def test_the_command_line_has_it(declared, tmp_path):
    (tmp_path / "perdure.toml").write_text('[embedder]\nmodel = "none"\n')
    where = ["--store", str(tmp_path / "a.db"), "--policy", str(tmp_path / "perdure.toml")]
    with perdure.open(tmp_path / "a.db", POLICY) as memory:
        memory.remember("Deploys happen on Tuesdays.")
    (command,) = (c for _, c in verb_commands({}) if c.name == "longest-words")

    def run(*words):
        with redirect_stdout(StringIO()) as out:
            command.main(list(words), "perdure longest-words", standalone_mode=False)
        return out.getvalue()

    assert json.loads(run("--limit", "1", *where, "--json")) == ["Tuesdays."]
    page = run("--help")
    assert "How many words at most." in page
    assert "first|last" in page


def test_a_tool_has_it_with_both_schemas(declared):
    async def story():
        with perdure.open(":memory:", POLICY) as memory:
            memory.remember("Deploys happen on Tuesdays.")
            async with Client(build(lambda: memory, profile="full")) as client:
                (tool,) = [t for t in (await client.list_tools()).tools if t.name == "longest_words"]
                answer = await client.call_tool("longest_words", {"limit": 1})
                return tool, answer.structured_content

    tool, answer = anyio.run(story)
    assert tool.input_schema["properties"]["limit"] == {
        "type": "integer",
        "description": "How many words at most.",
        "minimum": 1,
        "maximum": 20,
        "default": 3,
    }
    assert tool.output_schema["properties"] == {"words": {"type": "array", "items": {"type": "string"}}}
    assert answer == {"words": ["Tuesdays."]}


def test_a_route_has_it_and_the_description_says_so(declared):
    with perdure.open(":memory:", POLICY) as memory:
        memory.remember("Deploys happen on Tuesdays.")
        app = build_app(lambda: memory, Settings(frozenset({"localhost:8766"})))
        with TestClient(app, base_url="http://localhost:8766") as client:
            assert client.get("/v1/longest-words", params={"limit": 1}).json() == {"words": ["Tuesdays."]}
            assert client.post("/v1/longest-words", json={"limit": 2}).json() == {"words": ["Tuesdays.", "Deploys"]}
            refused = client.get("/v1/longest-words", params={"limit": 0, "order": "middle"})
            assert refused.status_code == 422
            assert "limit must be a whole number from 1 to 20, not 0" in refused.json()["detail"]
            assert "order must be one of first, last" in refused.json()["detail"]
            (limit,) = (
                told
                for told in client.get("/openapi.json").json()["paths"]["/v1/longest-words"]["get"]["parameters"]
                if told.get("name") == "limit"  # headers are named elsewhere
            )
    assert limit["schema"]["maximum"] == 20
