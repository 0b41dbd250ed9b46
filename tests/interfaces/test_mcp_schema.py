"""What a client is told before it calls anything: names, annotations, schemas, and what that costs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client

from perdure.interfaces.mcp.run import build
from perdure.records.memory import Kind, Scope
from perdure.rules.lifecycle.digest import PROFILES

AGENT = ["remember", "recall", "used", "update", "forget", "list", "why", "undo", "digest", "review"]
SEEDED = {"decay", "reinforce", "extract", "consolidate"}

# name -> (read-only, destructive, idempotent); decision 0005 says why
READ = (
    "get list why why_not stats alerts digest history forecast check compression edges entities entity facts timeline"
)
READ += " answer_sheet backtest"
HIDE = "archive erase forget sweep undo decay fit consolidate complete_task end_session summarize procedures verify"
WRITE = "remember ingest update pin unpin restore move used learn extract promote rates alias merge_entities"
WRITE += " split_entity"
HINTS = {
    **dict.fromkeys(READ.split(), (True, False, True)),
    **dict.fromkeys(HIDE.split(), (False, True, True)),
    **dict.fromkeys(WRITE.split(), (False, False, True)),
    **dict.fromkeys(("recall", "reinforce", "strengthen", "weaken", "relate"), (False, False, False)),
    "review": (False, True, False),
}


def unopened():
    pytest.fail("listing must not open the store")


def listed(profile, mode="auto"):
    async def run():
        async with Client(build(unopened, profile=profile), mode=mode) as client:
            return (await client.list_tools()).tools

    return anyio.run(run)


@pytest.mark.behaviour("DO5")
def test_names_are_stable_and_each_profile_holds_the_one_before():
    agent, lifecycle, full = ([t.name for t in listed(p)] for p in ("agent", "lifecycle", "full"))
    assert agent == AGENT
    assert len(agent) <= 10
    assert lifecycle[:10] == full[:10] == AGENT
    assert set(lifecycle) == {*AGENT, *SEEDED, "sweep"}
    assert set(full) == set(HINTS)


def test_the_list_is_the_same_every_time_and_in_both_protocols():
    first = [t.model_dump() for t in listed("full")]
    assert first == [t.model_dump() for t in listed("full")]
    assert first == [t.model_dump() for t in listed("full", "legacy")]


@pytest.mark.behaviour("DO6")
def test_annotations_are_as_decided():
    tools = listed("full")
    told = {
        t.name: (t.annotations.read_only_hint, t.annotations.destructive_hint, t.annotations.idempotent_hint)
        for t in tools
    }
    assert told == HINTS
    assert all(t.annotations.open_world_hint is False for t in tools)
    assert all(t.title and t.annotations.title == t.title for t in tools)


@pytest.mark.parametrize("tool", listed("full"), ids=lambda t: t.name)
def test_every_tool_describes_itself(tool):
    assert 40 < len(tool.description) < 320
    assert tool.description[0].isupper()
    assert tool.description.endswith(".")
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False
    for name, schema in tool.input_schema["properties"].items():
        assert schema.get("description"), name
    assert tool.output_schema["type"] == "object"
    assert tool.output_schema["properties"]
    assert all(tool.output_schema["properties"].values())  # a result type that nobody exports would be left open
    assert tool.output_schema["required"]


def test_schemas_tell_ranges_choices_and_defaults():
    tools = {t.name: t.input_schema["properties"] for t in listed("full")}
    assert tools["sweep"]["dry_run"]["default"] is False
    assert tools["decay"]["dry_run"]["default"] is tools["fit"]["dry_run"]["default"] is True
    assert (tools["remember"]["importance"]["minimum"], tools["remember"]["importance"]["maximum"]) == (0, 1)
    assert (tools["recall"]["limit"]["minimum"], tools["recall"]["limit"]["maximum"]) == (1, 1000)
    assert tools["remember"]["kind"]["enum"] == [k.value for k in Kind]
    assert tools["recall"]["kinds"]["items"]["enum"] == [k.value for k in Kind]
    assert tools["recall"]["scopes"]["items"]["enum"] == [s.value for s in Scope]
    assert tools["digest"]["profile"]["enum"] == list(PROFILES)


def test_what_a_model_reads_of_the_agent_profile_is_small():
    told = "".join(t.name + t.description + json.dumps(t.input_schema, separators=(",", ":")) for t in listed("agent"))
    assert len(told) < 5_000  # which four tokenizers count as 1,108 to 1,137 tokens; 1,500 are allowed


HEAVY = ("numpy", "apsw", "onnxruntime", "tokenizers", "perdure.compose", "typer")
LIST = """
import sys, json
{before}
import anyio
from mcp import Client
from perdure.interfaces.mcp.run import build
async def run():
    for mode in ("legacy", "2026-07-28"):
        async with Client(build(None, profile="full"), mode=mode) as client:
            await client.list_tools()
            await client.list_resources()
anyio.run(run)
print(json.dumps([name for name in {heavy!r} if name in sys.modules]))
"""
ALONE = """
import types
import perdure.records  # finds the package's place
for name in [n for n in sys.modules if n.split(".")[0] in ("perdure", "numpy", "apsw", "platformdirs")]:
    module = sys.modules.pop(name)
    if name == "perdure":
        place = module.__path__
bare = types.ModuleType("perdure")
bare.__path__, bare.__version__ = place, "0"
sys.modules["perdure"] = bare
"""


def loaded(code):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2] / "src")])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def test_the_server_itself_lists_without_numpy_store_or_embedder():
    assert loaded(LIST.format(before=ALONE, heavy=HEAVY)) == []


def test_a_server_process_lists_without_numpy_store_or_embedder():
    assert loaded(LIST.format(before="", heavy=HEAVY)) == []
