"""Replacing a memory keeps the facts of it that are named, and tells which are no longer believed, by every door."""

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import perdure
from interfaces.test_mcp_talk import over, talk
from perdure.interfaces.cli.app import app
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings

SAID = [{"subject": "Tom", "predicate": p, "value": v} for p, v in (("home", "Rome"), ("drink", "tea"))]
NEW = "Tom lives in Rome and has given up tea."


@pytest.fixture
def memory(tmp_path):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}) as opened:
        yield opened


@pytest.fixture
def note(memory):
    return memory.remember("Tom lives in Rome and drinks tea.", facts=SAID).id


@pytest.fixture
def facts(memory, note):
    return {fact.value: fact.id for fact in memory.facts()}


def test_a_model_keeps_a_fact_and_reads_which_one_is_gone(memory, note, facts):
    async def story(client):
        answer = await client.call_tool("update", {"id": note, "content": NEW, "keeps": [facts["Rome"][-8:]]})
        assert f"No longer believed: 'Tom: drink: tea' {facts['tea'][-8:]}." in answer.content[0].text.replace('"', "'")
        assert answer.structured_content["facts"]["reinforced"] == [facts["Rome"]]

    talk(over(memory, "full"), story)
    assert [fact.value for fact in memory.facts()] == ["Rome"]


def test_the_command_line_keeps_it(memory, note, facts, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('embedder.model = "none"', encoding="utf-8")
    words = ["--store", str(tmp_path / "a.db"), "--policy", str(policy), "update", note, NEW, "--keep", facts["Rome"]]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "No longer believed:" in done.output
    assert "Tom: drink: tea" in done.output
    assert [fact.value for fact in memory.facts()] == ["Rome"]


def test_the_http_interface_keeps_it_and_refuses_what_the_memory_does_not_say(memory, note, facts):
    other = memory.remember("Ana drinks tea.", facts=[{"subject": "Ana", "predicate": "drink", "value": "tea"}])
    foreign = memory.facts("Ana")[0].id
    with TestClient(build_app(lambda: memory, Settings(frozenset({"testserver"})))) as client:
        refused = client.post("/v1/update", json={"id": note, "content": NEW, "keeps": [foreign]})
        assert (refused.status_code, refused.json()["fault"]) == (422, "caller")
        assert "rests on the memory" in refused.json()["detail"]
        answer = client.post("/v1/update", json={"id": note, "content": NEW, "keeps": [facts["Rome"]]}).json()
    assert [fact["content"] for fact in answer["facts"]["replaced"]] == ["Tom: drink: tea"]
    assert {fact.value for fact in memory.facts()} == {"Rome", "tea"}
    assert memory.get(other.id) is not None


def test_what_is_kept_is_refused_where_nothing_is_replaced(memory, note, facts):
    """It answered as if it had been done, and did not even look whether there is such a fact."""
    for given in ("nonsense", facts["Rome"]):
        with pytest.raises(perdure.InvalidInput, match="nothing is replaced"):
            memory.update(note, "Tom lives in Rome and drinks tea.", keeps=[given])
    assert memory.update(note, "Tom lives in Rome and drinks tea.").operation is None
