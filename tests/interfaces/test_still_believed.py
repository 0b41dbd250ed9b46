"""Hiding a memory tells which facts are still believed although nothing in view says them, by every door."""

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import perdure
from interfaces.test_mcp_talk import call, over, talk
from perdure.interfaces.cli.app import app
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings

KNOWLEDGE = {"embedder": {"model": "none"}, "preset": "facts"}
TOLD = "Facts still active although their source is hidden:"
SAYS = "Gai Media: delivery day preference: Friday"


@pytest.fixture
def memory(tmp_path):
    with perdure.open(tmp_path / "a.db", KNOWLEDGE) as opened:
        opened.ingest([{"content": "Remember, Gai Media prefers Friday deliveries.", "role": "user"}], session="s")
        yield opened


@pytest.fixture
def said(memory):
    return memory.list(kinds=["episode"])[0].id


@pytest.fixture
def fact(memory):
    return memory.facts("Gai Media")[0].id


def test_what_hides_the_only_source_of_a_fact_names_the_fact(memory, said, fact):
    done = memory.archive(said, "never said")
    assert [(f.id, f.content) for f in done.still_believed] == [(fact, SAYS)]
    assert done.to_dict()["still_believed"] == [{"id": fact, "content": SAYS}]


def test_what_denies_the_only_source_of_a_fact_denies_the_fact_and_names_it(memory, said, fact):
    done = memory.deny(said, "never said")
    assert [(f.id, f.content) for f in done.hidden_facts] == [(fact, SAYS)]
    assert (done.still_believed, memory.facts("Gai Media")) == ((), [])
    assert memory.get(fact, include_archived=True).status == "invalidated"
    memory.undo(done.operation)
    assert [f.id for f in memory.facts("Gai Media")] == [fact]


def test_a_fact_that_something_else_says_or_that_is_denied_is_not_named(memory, said, fact):
    again = [{"content": "Gai Media prefers Friday deliveries, as agreed.", "role": "user"}]
    memory.ingest(again, session="t")
    assert len(memory.facts("Gai Media")[0].sources) == 2
    assert memory.archive(said, "old").still_believed == ()
    other = next(m for m, _ in memory.facts("Gai Media")[0].sources if m != said)
    assert [f.id for f in memory.archive(other, "old").still_believed] == [fact]
    memory.restore(other)
    memory.deny(fact)
    assert memory.archive(other, "old").still_believed == ()


def test_a_model_reads_what_is_still_believed_and_how_to_deny_it(memory, said, fact):
    async def story(client):
        answer = await client.call_tool("archive", {"id": said, "reason": "never said"})
        text = answer.content[0].text
        assert TOLD in text
        assert SAYS in text
        assert f'review(id="{fact[-8:]}", verdict="deny")' in text
        assert answer.structured_content["still_believed"] == [{"id": fact, "content": SAYS}]
        await call(client, "review", id=fact[-8:], verdict="deny")

    talk(over(memory, "full"), story)
    assert memory.facts("Gai Media") == []


def test_the_command_line_prints_it_with_a_command_that_works(memory, said, fact, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('preset = "facts"\nembedder.model = "none"', encoding="utf-8")

    def run(*arguments):
        done = CliRunner().invoke(app, ["--store", str(tmp_path / "a.db"), "--policy", str(policy), *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    lines = run("archive", said, "--reason", "never said").splitlines()
    assert TOLD in lines
    assert any(SAYS in line for line in lines)
    (offered,) = [line.partition("perdure ")[2] for line in lines if "perdure review" in line]
    run(*offered.split())
    assert memory.facts("Gai Media") == []


def test_the_http_interface_answers_with_the_field(memory, said, fact):
    with TestClient(build_app(lambda: memory, Settings(frozenset({"testserver"})))) as client:
        answer = client.post("/v1/archive", json={"id": said, "reason": "never said"}).json()
    assert [f["id"] for f in answer["still_believed"]] == [fact]


def test_it_is_told_under_a_policy_that_reads_no_facts_too(tmp_path):
    told = {"subject": "Gai Media", "predicate": "delivery day preference", "value": "Friday"}
    with perdure.open(tmp_path / "b.db", {"embedder": {"model": "none"}}) as memory:
        kept = memory.remember("Gai Media prefers Friday deliveries.", facts=[told])
        assert [f.content for f in memory.archive(kept.id, "old").still_believed] == [SAYS]
