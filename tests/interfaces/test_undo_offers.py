"""Doors offer to undo what a call wrote, and nothing where it wrote nothing: never what somebody else did."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import perdure
from interfaces.test_mcp_talk import call, over, talk
from perdure.interfaces.cli.app import app
from perdure.interfaces.files import plan_file
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings
from perdure.operations import documents
from perdure.operations.lifecycle import fit

WORDS = "The staging database is pg-stage-2."
KNOWLEDGE = {"embedder": {"model": "none"}, "preset": "facts"}


@pytest.fixture
def memory():
    with perdure.open(":memory:", KNOWLEDGE) as opened:
        yield opened


NOTHING = {
    "unpin": {},
    "restore": {},
    "move": {"tier": "warm", "reason": "it is there"},
}
"""What changes nothing of a new note."""


@pytest.mark.parametrize("tool", NOTHING)
def test_a_decision_that_changes_nothing_offers_no_undo(memory, tool):
    async def story(client):
        identity = (await call(client, "remember", content=WORDS))["id"]
        answer = await client.call_tool(tool, {"id": identity, **NOTHING[tool]})
        assert answer.structured_content["operation"] is None
        assert memory.history(identity)[-1].operation_id[-8:] not in answer.content[0].text

    talk(over(memory, "full"), story)


@pytest.mark.parametrize(("tool", "more"), [("pin", {}), ("archive", {"reason": "a test"})])
def test_a_decision_offers_its_own_operation_and_the_second_time_none(memory, tool, more):
    async def story(client):
        identity = (await call(client, "remember", content=WORDS))["id"]
        first = await call(client, tool, id=identity, **more)
        assert first["operation"] == memory.history()[0].id
        assert memory.history()[0].operation == tool
        assert (await call(client, tool, id=identity, **more))["operation"] is None

    talk(over(memory, "full"), story)


def test_an_answer_that_was_given_before_offers_no_undo(memory):
    memory.ingest([{"content": "Remember that Gai Media prefers Friday deliveries.", "role": "user"}], session="s")
    (fact,) = memory.facts("Gai Media")

    async def story(client):
        first = await call(client, "review", id=fact.id, verdict="mute")
        assert first["answered"]["operation"] == memory.history()[0].id
        assert (await call(client, "review", id=fact.id, verdict="mute"))["answered"]["operation"] is None

    talk(over(memory, "full"), story)


def test_what_one_message_is_decided_on_never_offers_to_take_its_whole_conversation_back(memory):
    memory.ingest([{"content": f"Message {n} of a long one.", "role": "user"} for n in range(20)], session="s")
    one = memory.list(kinds=["episode"])[0]

    async def story(client):
        assert (await call(client, "unpin", id=one.id))["operation"] is None

    talk(over(memory, "full"), story)
    assert memory.stats().memories == 20


@pytest.fixture
def ran(tmp_path):
    def run(*arguments):
        done = CliRunner().invoke(app, ["--store", str(tmp_path / "a.db"), "--policy", str(policy), *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    policy = tmp_path / "policy.toml"
    policy.write_text('embedder.model = "none"', encoding="utf-8")
    return run


def test_the_command_line_prints_the_operation_to_undo_and_none_where_nothing_changed(ran, tmp_path):
    kept = json.loads(ran("remember", WORDS, "--json"))
    assert "Undo:" not in ran("unpin", kept["id"])
    pinned = ran("pin", kept["id"])
    operation = json.loads(ran("history", "--json"))[0]["id"]
    given = f"--store {tmp_path / 'a.db'} --policy {tmp_path / 'policy.toml'}"
    assert f"Undo: perdure undo {operation[-8:]} {given}" in pinned.splitlines()
    again = json.loads(ran("pin", kept["id"], "--json"))
    assert (again["operation"], again["changed"]) == (None, False)
    assert "Nothing changed" in ran("pin", kept["id"])


RUNS = {"sweep": ["sweep"], "fit": ["fit", "-b", "40", "--apply"], "decay": ["decay", "--apply"]}
"""Commands that write several operations where they change many memories; decay sweeps, too."""
SINCE = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def due(tmp_path, monkeypatch):
    """Seven memories that have long been due in the store of the command line, whose operations hold three at most."""
    monkeypatch.setattr(documents, "PAGE", 3)
    monkeypatch.setattr(fit, "BATCH", 3)
    policy = {"embedder": {"model": "none"}}
    with perdure.open(tmp_path / "a.db", policy, clock=lambda: SINCE) as opened:
        for number in range(7):
            opened.remember(f"The server in rack {number} of the second room listens on port {8080 + number}.")


def rows(tmp_path):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}, clock=lambda: SINCE) as opened:
        return {m.id: (m.tier, m.form, m.status) for m in opened.list(include_archived=True)}


def offered(output):
    """The operations that an answer's lines say to undo, in their order."""
    return [line.split("perdure undo ")[1].split()[0] for line in output.splitlines() if "perdure undo " in line]


@pytest.mark.parametrize("run", RUNS)
def test_all_operations_of_a_run_are_named_to_undo_and_take_all_of_it_back(ran, due, tmp_path, run):
    before = rows(tmp_path)
    told = ran(*RUNS[run])
    made = [o["id"] for o in json.loads(ran("history", "--json")) if o["operation"] in {run, "sweep"}]
    assert len(made) > 2
    assert [i[-8:] for i in made] == offered(told)
    assert "To undo all of it, run these in order:" in told
    for operation in offered(told):
        ran("undo", operation)
    assert rows(tmp_path) == before


@pytest.mark.parametrize("run", ["sweep", "fit"])
def test_undo_last_says_what_of_the_run_still_stands(ran, due, tmp_path, run):
    before = rows(tmp_path)
    ran(*RUNS[run])
    _, *others = [o["id"] for o in json.loads(ran("history", "--json")) if o["operation"] == run]
    told = ran("undo", "last")
    assert f"{len(others)} more operations of this run are not undone. To undo them too, in this order:" in told
    assert offered(told)[: len(others)] == [i[-8:] for i in others]
    for operation in others:
        told = ran("undo", operation[-8:])
    assert "not undone" not in told
    assert rows(tmp_path) == before


def test_an_undo_names_no_operation_of_another_call_at_the_same_instant():
    with perdure.open(":memory:", {"embedder": {"model": "none"}}, clock=lambda: SINCE) as memory:
        first, second = memory.remember("One thing."), memory.remember("Another thing.")
        assert memory.undo(second.operation).remaining == ()
        assert memory.get(first.id)


def test_http_and_mcp_name_all_operations_of_a_run(tmp_path, due):
    policy = {"embedder": {"model": "none"}}
    with perdure.open(tmp_path / "a.db", policy) as opened:
        with TestClient(build_app(lambda: opened, Settings(frozenset({"testserver"})))) as client:
            made = client.post("/v1/sweep", json={}).json()["operations"]
            assert made == [o.id for o in opened.history() if o.operation == "sweep"][::-1]
            assert len(made) == 3
            undone = client.post("/v1/undo", json={"operation_id": "last"}).json()
            assert (undone["undone"], undone["remaining"]) == (made[2], made[1::-1])

        async def story(client):
            answer = await client.call_tool("undo", {"operation_id": "last"})
            assert answer.structured_content["remaining"] == made[:1]
            told = answer.content[0].text.splitlines()
            begins = told.index("1 more operation of this run is not undone. To undo it too:")
            assert told[begins + 1] == f'- undo(operation_id="{made[0][-8:]}")'

        talk(over(opened, "full"), story)


@pytest.fixture
def crowded(tmp_path, due):
    """Run commands under a policy that lets the memories say no more than 40 tokens."""
    policy = tmp_path / "crowded.toml"
    lines = ('embedder.model = "none"', "compression.visible_tokens = 40", "gates.loss_free_count = 100")
    policy.write_text("\n".join(lines), encoding="utf-8")
    return lambda *words: CliRunner().invoke(app, ["--store", str(tmp_path / "a.db"), "--policy", str(policy), *words])


def test_all_plans_of_a_file_apply_also_where_a_budget_is_kept(tmp_path, crowded):
    plan = str(tmp_path / "plan.json")
    assert crowded("plan", "sweep", "-o", plan).exit_code == 0
    done = crowded("apply", plan)
    assert (done.exit_code, done.stderr) == (0, "")
    assert [o["operation"] for o in json.loads(crowded("history", "--json").output)][:6] == [
        *["fit"] * 3,
        *["sweep"] * 3,
    ]
    assert json.loads(crowded("sweep", "--json").output)["operations"] == []


def test_an_error_that_comes_after_a_part_was_written_names_what_undoes_it(tmp_path, crowded):
    run, before, plan = crowded, rows(tmp_path), str(tmp_path / "plan.json")

    def write_plan(file):
        """Plan a sweep, and its first part once more, as a part that others make meanwhile."""
        assert run("plan", "sweep", "-o", file).exit_code == 0
        sweeps = [plan for plan in plan_file.read(file) if plan.operation == "sweep"]
        plan_file.write(file, [*sweeps, replace(sweeps[0], id=sweeps[0].id[:-4] + "beef")], force=True)

    write_plan(plan)
    refused = run("apply", plan)
    assert refused.exit_code == 1
    made = [o["id"] for o in json.loads(run("history", "--json").output) if o["operation"] == "sweep"]
    assert len(made) == 3
    assert "To undo what was written, run these in order:" in refused.stderr
    assert offered(refused.stderr) == [i[-8:] for i in made]
    for operation in made:
        run("undo", operation)
    assert rows(tmp_path) == before
    again = str(tmp_path / "again.json")
    write_plan(again)
    told = json.loads(run("apply", again, "--json").output)
    assert (told["error"], len(told["operations"])) == ("PartlyStored", 3)


def test_undoing_the_last_operation_says_what_it_was_about_and_so_does_doing_it_again(memory):
    """Over MCP an agent took back what another one had written, and the reply did not say what."""
    memory.remember("Mine: deploys happen on Tuesdays.")
    theirs = memory.remember("Theirs: the gate is locked at ten.")

    async def story(client):
        operation = "last"
        for _ in range(2):
            answer = await client.call_tool("undo", {"operation_id": operation})
            assert "Theirs: the gate is locked at ten." in answer.content[0].text
            (told,) = answer.structured_content["memories"]
            assert (told["id"], told["content"]) == (theirs.id, "Theirs: the gate is locked at ten.")
            operation = answer.structured_content["operations"][0]

    talk(over(memory, "agent"), story)


def test_an_undo_names_the_first_memories_that_were_changed_by_every_door(tmp_path):
    store = str(tmp_path / "a.db")
    with perdure.open(store, KNOWLEDGE) as memory:
        many = memory.remember_many([f"Room {number} is painted blue." for number in range(5)])
        with TestClient(build_app(lambda: memory, Settings(frozenset({"testserver"})))) as client:
            undone = client.post("/v1/undo", json={"operation_id": many[0].operation}).json()
        assert [told["content"] for told in undone["memories"]] == [f"Room {n} is painted blue." for n in range(3)]
        again = memory.undo(undone["operations"][0])
        assert [told.id for told in again.memories] == [one.id for one in many[:3]]
    policy = tmp_path / "policy.toml"
    policy.write_text('embedder.model = "none"', encoding="utf-8")
    done = CliRunner().invoke(app, ["--store", store, "--policy", str(policy), "undo", "last"])
    assert "Room 2 is painted blue." in done.output
    assert "Room 3 is painted blue." not in done.output
