"""An agent's day over the real MCP server, with the tools of the profile ``agent`` alone, in three languages.

What was said on days in March is handed over with ``valid_from``; what changes and what is denied is said today.
"""

import os
import re
import sys
from datetime import datetime

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import perdure
from conftest import WORDS_ONLY

MARCH = "2026-03-20T00:00:00+00:00"
SINCE = "2026-03-02"

# (words, subject, predicate, value); what follows "<>" in the value is what the day makes of it.
SAID = [
    ("The staging server listens on port 8081.", "staging server", "port", "8081 <> 8090"),
    ("We deploy the booking service on Thursdays.", "booking service", "deploy day", "Thursday <> Tuesday"),
    ("The booking service stores its data in SQLite.", "booking service", "database", "SQLite <> PostgreSQL"),
    ("The payment webhook must answer within 5 seconds.", "payment webhook", "time limit", "5 seconds"),
    ("Tests are run with pytest.", "booking service", "test runner", "pytest"),
    (
        "The configuration lives in config/app.yaml.",
        "booking service",
        "configuration file",
        "config/app.yaml <> settings/app.toml",
    ),
    ("Jonas reviews every change to the billing code.", "billing code", "reviewer", "Jonas <> Priya"),
    ("The default branch is called trunk.", "booking repository", "default branch", "trunk"),
    ("Releases are tagged with a leading v.", "booking repository", "tag prefix", "v"),
    ("The linter is ruff.", "booking repository", "linter", "ruff"),
    ("Maya's bicycle is a red Brompton.", "Maya", "bicycle", "red Brompton"),
    ("Maya sings in the choir on Mondays.", "Maya", "choir night", "Monday <> Wednesday"),
    ("Maya's locker code word is heron.", "Maya", "locker word", "heron"),
    ("Maya's sister is called Ruth.", "Maya", "sister", "Ruth"),
    ("Die Testdatenbank läuft auf Port 5433.", "Testdatenbank", "port", "5433 <> 5434"),
    ("Der Produktionsserver steht in Falkenstein.", "Produktionsserver", "location", "Falkenstein <> Nürnberg"),
    ("Die Sicherung beginnt um 03:30 Uhr.", "Sicherung", "start time", "03:30"),
    ("Sicherungen werden dreißig Tage aufbewahrt.", "Sicherung", "kept for", "30 Tage"),
    ("Mia ist gegen Erdnüsse allergisch.", "Mia", "allergy", "Erdnüsse"),
    ("Mia geht in die Klasse 3b.", "Mia", "class", "3b"),
    ("Mias Klavierlehrerin heißt Frau Okoye.", "Mia", "piano teacher", "Frau Okoye <> Herr Brandt"),
    ("Unser Hausarzt ist Dr. Weiß.", "Familie", "family doctor", "Dr. Weiß"),
    ("Die Mülltonne wird am Freitag geleert.", "Mülltonne", "collection day", "Freitag <> Montag"),
    ("Opa Karl wohnt in Leipzig.", "Opa Karl", "home", "Leipzig"),
    ("El servidor de correo usa el puerto 587.", "servidor de correo", "port", "587"),
    ("El informe mensual se envía a Helena.", "informe mensual", "recipient", "Helena <> Tomás"),
    (
        "La contraseña del wifi de invitados se cambia cada trimestre.",
        "wifi de invitados",
        "change interval",
        "trimestre",
    ),
    ("El idioma de la documentación es el inglés.", "documentación", "language", "inglés"),
    ("La abuela Carmen cumple años el 4 de mayo.", "abuela Carmen", "birthday", "4 de mayo"),
    ("Lucía juega al tenis los sábados.", "Lucía", "tennis day", "sábado <> domingo"),
    ("El perro se llama Bruno.", "perro", "name of the dog", "Bruno"),
    ("El seguro del coche es de Mapfre.", "coche", "insurer", "Mapfre"),
    ("Lucía estudia en el colegio San José.", "Lucía", "school", "San José"),
    ("El veterinario atiende en la calle Mayor.", "veterinario", "address", "calle Mayor"),
]
DENIED = [
    ("The client does not want emojis in its mails.", "client", "wants in mails", "emojis"),
    ("Staging does not send real payments.", "staging server", "sends", "real payments"),
    ("Mia isst kein Schweinefleisch.", "Mia", "eats", "Schweinefleisch"),
    ("Opa Karl fährt nachts nicht mehr Auto.", "Opa Karl", "drives", "nachts"),
    ("Lucía no come marisco.", "Lucía", "eats", "marisco"),
    ("Bruno no duerme en la cama.", "Bruno", "sleeps on", "la cama"),
]


def parts(value):
    before, _, after = value.partition(" <> ")
    return before, after


CHANGED = [(w, s, p, *parts(v)) for w, s, p, v in SAID if " <> " in v]
KEPT = [(w, s, p, v) for w, s, p, v in SAID if " <> " not in v]


@pytest.fixture
def server(tmp_path):
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    line = [
        "-m",
        "perdure.interfaces.mcp",
        "--store",
        str(tmp_path / "day.db"),
        "--policy",
        str(tmp_path / "policy.toml"),
    ]
    return StdioServerParameters(command=sys.executable, args=line, env=dict(os.environ), cwd=tmp_path)


@pytest.fixture
def library(tmp_path):
    return lambda: perdure.open(tmp_path / "day.db", WORDS_ONLY)


def over(server, story):
    """Run calls against a server of their own: (structured result, what the model reads) of each."""

    async def session():
        async with Client(stdio_client(server), read_timeout_seconds=60) as client:

            async def call(tool, **arguments):
                answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, (tool, arguments, answer.content)
                return answer.structured_content, answer.content[0].text

            tools = {tool.name for tool in (await client.list_tools()).tools}
            await story(call, tools)

    anyio.run(session)


def live_the_day(server):
    """Hand 40 statements over, change 12, half by ``update`` and half by ``replaces``; return the operations."""
    operations = []

    async def day(call, tools):
        assert len(tools) == 10
        assert not tools & {"facts", "learn", "timeline", "answer_sheet"}
        notes = {}
        for words, subject, predicate, value in SAID:
            claim = {"subject": subject, "predicate": predicate, "value": parts(value)[0], "valid_from": SINCE}
            done, _ = await call("remember", content=words, facts=[claim])
            notes[words] = done["id"]
            operations.append(done["operation"])
        for words, subject, predicate, value in DENIED:
            claim = {"subject": subject, "predicate": predicate, "value": value, "denied": True}
            done, _ = await call("remember", content=words, facts=[claim])
            operations.append(done["operation"])
        for number, (words, subject, predicate, old, new) in enumerate(CHANGED):
            now = words.replace(old, new) if old in words else f"{subject}, {predicate}: {new}"
            claim = {"subject": subject, "predicate": predicate, "value": new}
            if number % 2:
                done, _ = await call("update", id=notes[words], content=now, facts=[claim])
            else:
                done, _ = await call("remember", content=now, facts=[{**claim, "replaces": old}])
            assert len(done["facts"]["retired"]) == 1, (subject, predicate)
            operations.append(done["operation"])

    over(server, day)
    return operations


def test_the_day_has_the_statements_it_is_to_have():
    assert (len(SAID) + len(DENIED), len(CHANGED), len(DENIED)) == (40, 12, 6)


def test_what_holds_now_and_in_march_is_told_through_each_door_and_undo_takes_the_day_back(server, library):
    operations = live_the_day(server)
    assert len(operations) == 52
    check_facts(library)
    over(server, check_tools)

    async def undo(call, _):
        for operation in reversed(operations):
            await call("undo", operation_id=operation)
        listed, _ = await call("list", limit=100)
        assert listed["memories"] == []

    over(server, undo)
    with library() as memory:
        assert memory.list(include_archived=True) == memory.facts(past=True) == memory.entities() == []
        assert memory.check() == []


def check_facts(library):
    with library() as memory:
        now = {(f.name, f.value, f.denied) for f in memory.facts(limit=200)}
        assert now == {
            *((s, v, False) for _, s, _, v in KEPT),
            *((s, new, False) for _, s, _, _, new in CHANGED),
            *((s, v, True) for _, s, _, v in DENIED),
        }
        march = {(f.name, f.value) for f in memory.facts(limit=200, as_of=datetime.fromisoformat(MARCH))}
        assert march == {(s, parts(v)[0]) for _, s, _, v in SAID}
        for words, subject, _, old, new in CHANGED:
            past = [f for f in memory.facts(subject, past=True, limit=200) if f.value == old]
            assert [(f.state, f.valid_from[:10]) for f in past] == [("superseded", SINCE)], subject
            assert [quote for _, quote in past[0].sources] == [words]
            asked = f"{subject} {past[0].predicate.replace('_', ' ')}"
            assert new in memory.answer_sheet(asked).text
            then = memory.answer_sheet(asked, as_of=datetime.fromisoformat(MARCH))
            said = [entry.says.rpartition(": ")[2] for entry in then.known if entry.kind == "fact"]
            assert (old in said, new in said) == (True, False), subject
            held = [f for f in memory.timeline(subject).facts if f.value in (old, new)]
            assert [f.value for f in held] == [old, new], subject
        for words, subject, _, value in DENIED:
            (fact,) = [f for f in memory.facts(subject) if f.denied]
            assert (fact.value, fact.shown_value, fact.trust) == (value, f"not {value}", "user")
            assert [quote for _, quote in fact.sources] == [words]


async def check_tools(call, _):
    for words, subject, predicate, old, new in CHANGED:
        found, _ = await call("recall", query=f"{subject} {predicate}")
        told = [hit["memory"]["content"] for hit in found["hits"]]
        assert any(new in text for text in told), (subject, told)
        assert words not in told, (subject, told)
        then, _ = await call("recall", query=f"{subject} {predicate}", as_of=MARCH)
        facts = [hit["memory"]["content"] for hit in then["hits"] if hit["memory"]["kind"] == "fact"]
        assert any(text.endswith(f": {old}") for text in facts), (subject, facts)
        assert not any(text.endswith(f": {new}") for text in facts), (subject, facts)
        (fact,) = [h["memory"] for h in found["hits"] if h["memory"]["content"].endswith(f": {new}")]
        why, told = await call("why", id=fact["id"])
        assert why["fact"]["sources"]
        assert old in told, (subject, told)
    for _, subject, predicate, value in DENIED:
        found, _ = await call("recall", query=f"{subject} {predicate} {value}")
        denied = [h["memory"]["content"] for h in found["hits"] if h["memory"]["kind"] == "fact"]
        assert any(value in text and re.search(r"\b(not|no)\b", text) for text in denied), (subject, denied)
    _, digest = await call("digest", budget_tokens=8000)
    for words, subject, _, _, new in CHANGED:
        assert new in digest, (subject, digest)
        assert words not in digest
    for words, *_ in KEPT:
        assert words.rstrip(".") in digest, words
    shown, _ = await call("list", limit=100)
    assert len([m for m in shown["memories"] if m["kind"] == "note"]) == 40
