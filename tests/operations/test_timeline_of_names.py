"""A timeline of a name that no facts are about shows what names it."""

import pytest

import perdure
from interfaces.test_mcp_talk import over, talk

OWNER = {"subject": "payments package", "predicate": "owner", "value": "Dana Kovač"}


@pytest.fixture
def memory(tmp_path):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}) as opened:
        opened.remember("Dana Kovač owns the payments package.", facts=[OWNER])
        opened.remember("Mira is on holiday in December; Jonas Berg reviews instead.")
        opened.remember("Mirabelle plums are ripe in August.")
        yield opened


@pytest.mark.behaviour("FD45")
def test_a_value_or_a_name_in_memories_has_a_timeline(memory):
    dana = memory.timeline("dana  kovač")
    assert (dana.entity, [(f.name, f.value) for f in dana.facts]) == ("", [("payments package", "Dana Kovač")])
    assert [m.content for m in dana.memories] == ["Dana Kovač owns the payments package."]
    mira = memory.timeline("Mira")
    assert mira.facts == ()
    assert [m.content for m in mira.memories] == ["Mira is on holiday in December; Jonas Berg reviews instead."]


def test_what_nothing_names_is_not_found_and_an_entity_has_its_own_facts(memory):
    with pytest.raises(perdure.NotFound, match="There is no entity 'Zoltan'"):
        memory.timeline("Zoltan")
    own = memory.timeline("payments package")
    assert (own.entity != "", [f.value for f in own.facts], own.memories) == (True, ["Dana Kovač"], ())


def test_what_another_session_said_is_not_shown(memory):
    memory.ingest([{"content": "Xanthippe owns the lift.", "role": "user"}], session="s", scope="session")
    assert [m.content for m in memory.timeline("Xanthippe", inside="s").memories] == ["Xanthippe owns the lift."]
    with pytest.raises(perdure.NotFound):
        memory.timeline("Xanthippe", inside="t")


def test_a_model_reads_what_names_it(memory):
    async def story(client):
        text = (await client.call_tool("timeline", {"entity": "Dana Kovač"})).content[0].text
        assert "No facts are about " in text
        assert "payments package" in text

    talk(over(memory, "full"), story)
