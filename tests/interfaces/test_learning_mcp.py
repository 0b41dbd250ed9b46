"""The tools about learning and checking over real pipes: rates, procedures, other policies, authorities."""

import json
import os
import sqlite3
import sys
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import numpy as np
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import perdure
from interfaces.test_mcp_talk import MOST_MODES, call, refused
from perdure.records.memory import Status
from stores.planning import ended, facts

NOW = datetime.now(UTC)
WORDS = [a + b for a in ("bark", "cliff", "dune", "fern", "gorge", "marsh") for b in ("ling", "wood", "ford", "gate")]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "policy.toml").write_text(
        'preset = "facts"\n[embedder]\nmodel = "none"\n[archive]\nrule = "never"\n', "utf-8"
    )
    return tmp_path


def opened(place):
    return perdure.open(place / "agent.db", place / "policy.toml")


@asynccontextmanager
async def connected(place, mode):
    policy = str(place / "policy.toml")
    words = ["-m", "perdure.interfaces.mcp", "--store", "agent.db", "--policy", policy, "--profile", "full"]
    environment = {**os.environ, "PYTHONPATH": str(Path(perdure.__file__).parents[1]), "HOME": str(place)}
    parameters = StdioServerParameters(command=sys.executable, args=words, env=environment, cwd=place)
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


def talk(place, story, mode="auto"):
    async def run():
        async with connected(place, mode) as client:
            return await story(client)

    return anyio.run(run)


async def said(client, tool, **arguments):
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content, answer.content[0].text


@pytest.mark.behaviour("DO20")
@pytest.mark.parametrize("mode", MOST_MODES)
def test_rates_are_told_and_written_down_only_when_asked(place, mode):
    with opened(place) as memory:
        ids = facts(memory, *((f"value {n}", "contact", NOW - timedelta(days=100)) for n in range(20)))
        ended(memory, Status.SUPERSEDED, *((i, NOW - timedelta(days=50)) for i in ids[:8]))
        facts(memory, ("NET 30", "terms", NOW - timedelta(days=100)))
        before = len(memory.history(limit=1000))

    async def story(client):
        told, text = await said(client, "rates")
        assert [(r["type"], r["facts"], r["changes"], r["in_use"]) for r in told["rates"]] == [
            ("contact", 20, 8, True),
            ("terms", 1, 0, False),
        ]
        assert "0 of 5 changes that it takes" in text
        assert (told["learned"], told["operations"]) == (False, [])
        done, text = await said(client, "rates", dry_run=False)
        (operation,) = done["operations"]
        assert operation[-8:] in text
        await call(client, "undo", operation_id=operation)

    talk(place, story, mode)
    with opened(place) as memory:
        assert len(memory.history(limit=1000)) == before + 2  # written, and taken back


@pytest.mark.behaviour("DO21")
@pytest.mark.parametrize("mode", MOST_MODES)
def test_procedures_are_shown_and_stored_only_when_asked(place, mode):
    with opened(place) as memory:
        for day in range(30, 6, -1):
            draw = np.random.default_rng(day)
            texts = [f"The {' of '.join(draw.choice(WORDS, 2, replace=False))}" for _ in range(6)]
            if day % 3 == 0:
                texts[day % 4 : day % 4 + 2] = ["Any delivery?", "And the invoice?"]
            at = NOW - timedelta(days=day)
            talked = [{"content": t, "role": "user", "at": at + timedelta(minutes=n)} for n, t in enumerate(texts)]
            memory.ingest(talked, session=f"day {day}")

    async def story(client):
        told, text = await said(client, "procedures")
        (found,) = told["procedures"]
        assert (found["id"], found["move"], found["support"], found["sessions"]) == ("", "learned", 8, 8)
        assert found["content"] in text
        assert told["dry_run"]
        assert (await call(client, "list", kinds=["procedure"]))["memories"] == []
        done = await call(client, "procedures", dry_run=False)
        (stored,) = (await call(client, "list", kinds=["procedure"]))["memories"]
        assert stored["id"] == done["procedures"][0]["id"]
        assert (await call(client, "procedures"))["unchanged"] == 1

    talk(place, story, mode)


@pytest.mark.behaviour("DO22")
@pytest.mark.parametrize("mode", MOST_MODES)
def test_another_policy_is_tried_on_past_recalls_and_nothing_is_written(place, mode):
    other = {
        "archive": {"rule": "value", "value_below": 1.0, "cold_days": 0.5},
        "tiers": {"hot_entry_value": 1.0, "warm_quiet_days": 0.5, "hot_messages": 0},
    }
    with opened(place) as memory:
        old = memory.remember("the red boat lies at the pier", at=NOW - timedelta(days=9))
        memory.used([old.id], "helpful", recall_id=memory.recall("red boat").id)
        before = memory.history(limit=1000)

    async def story(client):
        told, text = await said(client, "backtest", policy=other)
        assert [m["id"] for m in told["lost"]] == [old.id]
        assert (told["now"]["missing"], told["other"]["missing"]) == (0, 1)
        assert old.id[-8:] in text
        for wrong in ({}, {"archive": {"value_below": 7}}, {"archives": {}}, {"archive": 1}):
            assert (await refused(client, "backtest", policy=wrong))["error"] in ("PolicyError", "InvalidInput")
        assert (await refused(client, "backtest", policy=other, limit=0))["error"] == "InvalidInput"

    talk(place, story, mode)
    with opened(place) as memory:
        assert memory.history(limit=1000) == before


@pytest.mark.behaviour("DO23")
@pytest.mark.parametrize("mode", MOST_MODES)
def test_a_database_decides_over_mcp_and_both_values_are_told(place, mode):
    with sqlite3.connect(place / "domain.db") as database:
        database.execute("CREATE TABLE customer (name TEXT, day TEXT)")
        database.execute("INSERT INTO customer VALUES ('Gai Media', 'Monday')")
    database.close()
    with (place / "policy.toml").open("a", encoding="utf-8") as file:
        file.write('[knowledge]\nfile = "knowledge.toml"\nauthority_seconds = 0\n')
    (place / "knowledge.toml").write_text(
        '[authorities.crm]\nurl = "sqlite:///domain.db"\n[authorities.crm.predicates]\n'
        'delivery_day_preference = "SELECT day FROM customer WHERE name = :subject"\n'
    )
    with opened(place) as memory:
        memory.ingest([{"role": "user", "content": "Remember, Gai Media prefers Friday deliveries."}], session="x")
        (friday,) = memory.facts()

    async def story(client):
        assert (await call(client, "verify", ids=["nobody"]))["unasked"] == ["nobody"]
        told, text = await said(client, "verify")
        (verdict,) = told["verdicts"]
        assert (verdict["id"], verdict["claimed"], verdict["known"]) == (friday.id, "Friday", ["Monday"])
        assert "Friday" in text
        assert "Monday" in text
        (now,) = (await call(client, "facts", entity="Gai Media"))["facts"]
        assert (now["id"], now["value"]) == (verdict["replaced_by"], "Monday")
        await call(client, "undo", operation_id=told["operations"][0])
        (now,) = (await call(client, "facts", entity="Gai Media"))["facts"]
        assert now["value"] == "Friday"
        assert (await refused(client, "verify", ids=[]))["error"] == "InvalidInput"

    talk(place, story, mode)


@pytest.mark.behaviour("DO24")
def test_verify_without_an_authority_says_how_to_set_one(place):
    with opened(place) as memory:
        memory.remember("The entry point is app.py#main.")

    async def story(client):
        told, text = await said(client, "verify")
        assert told["verdicts"] == told["cited"] == []
        assert text == told["note"]
        assert "No authority is set" in text
        assert "knowledge.file" in text

    talk(place, story)


@pytest.mark.behaviour("DO35")
def test_who_looks_for_facts_over_mcp_that_the_policy_does_not_learn_is_told_how_to_have_them(place):
    looked = (("facts", {}), ("entities", {}), ("stats", {}))

    async def story(client):
        return {tool: (await said(client, tool, **arguments))[1] for tool, arguments in looked} | {
            "timeline": (await refused(client, "timeline", entity="Gai Media"))["remedy"]
        }

    with_facts = talk(place, story)
    (place / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    without = talk(place, story)
    assert {tool: 'preset = "facts"' in text for tool, text in with_facts.items()} == dict.fromkeys(without, False)
    assert {tool: 'preset = "facts"' in text for tool, text in without.items()} == dict.fromkeys(without, True)


@pytest.mark.behaviour("DO37")
def test_a_fact_that_one_session_sees_says_so_over_mcp(place):
    with opened(place) as memory:
        for words, scope in (("Friday", "long_term"), ("Monday", "session")):
            talked = [{"role": "user", "content": f"Remember, Gai Media prefers {words} deliveries."}]
            memory.ingest(talked, session=scope, scope=scope)

    async def story(client):
        for tool in ("facts", "timeline"):
            told, text = await said(client, tool, entity="Gai Media", inside="session")
            assert {f["value"]: f["session"] for f in told["facts"]} == {"Friday": "", "Monday": "session"}
            assert text.count("only in session session") == 1
            told, text = await said(client, tool, entity="Gai Media")
            assert {f["value"]: f["session"] for f in told["facts"]} == {"Friday": ""}
            assert "only in session" not in text

    talk(place, story)


BIG = "x" * 100_000
SQL = "'; DROP TABLE memory; --"
REFUSED = [
    *(("facts", {"entity": text}) for text in ("", BIG, SQL, "\0")),
    *(("facts", {"limit": number}) for number in (-1, 0, 10**9)),
    *(("timeline", {"entity": text}) for text in ("", BIG, SQL, -1)),
    *(("answer_sheet", {"query": text}) for text in ("", " ", BIG)),
    ("answer_sheet", {"query": "q", "budget_tokens": -1}),
    *(("learn", {"sessions": names}) for names in ([], [""], [SQL], [BIG], "s")),
    *(("review", {"id": text, "verdict": "confirm"}) for text in ("", BIG, SQL)),
    *(("review", {"id": "FACT", "verdict": "correct", "value": text}) for text in ("", BIG, None)),
    ("review", {"id": "FACT", "verdict": "maybe"}),
    *(("alias", {"entity": "Gai Media", "name": text}) for text in ("", "null", BIG)),
    *(("rates", {"namespace": text}) for text in ("", "..", SQL, BIG)),
    *(("backtest", {"policy": data}) for data in ({"preset": BIG}, {BIG: {}}, {"archive": {SQL: 1}}, [], None)),
    *(("verify", {"ids": ids}) for ids in ([], [""], [BIG], [f"x{n}" for n in range(1001)])),
    *(("recall", {"query": "q", "as_of": text}) for text in ("", "2026-01-01T00:00", "9999-12-31T00:00Z", BIG)),
    *(("recall", {"query": "q", "known_at": text}) for text in ("yesterday", "0001-01-01T00:00Z")),
    ("ingest", {"messages": [{"content": "x", "at": "2300-01-01T00:00Z"}]}),
]


@pytest.mark.behaviour("DO39")
def test_what_a_knowledge_tool_cannot_take_is_an_error_with_a_remedy_and_changes_nothing(place):
    with opened(place) as memory:
        memory.ingest([{"role": "user", "content": "Remember, Gai Media prefers Friday deliveries."}], session="s")
        (fact,), before = memory.facts(), memory.history(limit=1000)

    async def story(client):
        for tool, arguments in REFUSED:
            given = {name: fact.id if value == "FACT" else value for name, value in arguments.items()}
            error = await refused(client, tool, **given)
            assert error["error"] in ("InvalidInput", "NotFound", "PolicyError"), (tool, error["message"][:200])
            assert len(json.dumps(error)) < 5000

    talk(place, story)
    with opened(place) as memory:
        assert memory.history(limit=1000) == before
        assert memory.check() == []
