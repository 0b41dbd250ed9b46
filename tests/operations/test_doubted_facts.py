"""A fact whose sources a later statement likely makes untrue carries that doubt wherever it is shown."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import perdure
from conftest import Clock
from perdure.interfaces.views import Request
from perdure.interfaces.views.knowledge import view_facts
from perdure.interfaces.views.model import render_text
from perdure.records.identifier import short_id
from perdure.rules.language.tokens import estimate_tokens
from perdure.stores.sqlite.connection import SqliteSession

pytest.importorskip("onnxruntime")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SHOP = "The shop is hosted on AWS."
HOSTING: perdure.FactClaim = {"subject": "shop", "predicate": "hosting", "value": "AWS"}
HETZNER = "Hetzner it is, AWS got too expensive"
TIDE = "tidewatch uses Flask and stores readings in SQLite."
FLASK: perdure.FactClaim = {"subject": "tidewatch", "predicate": "web framework", "value": "Flask"}
SQLITE: perdure.FactClaim = {"subject": "tidewatch", "predicate": "database", "value": "SQLite"}
FASTAPI = "I changed my mind: FastAPI instead of Flask, async is worth it"
DOUBT = "a later message may say otherwise"


@pytest.fixture
def clock():
    return Clock(START)


@pytest.fixture
def memory(tmp_path, clock):
    with perdure.open(tmp_path / "talk.db", clock=clock) as opened:
        yield opened


def say(memory, clock, text, role="user", days=2):
    clock.passes(days=days)
    memory.ingest([{"role": role, "content": text, "at": clock.now}], session=f"{clock.now:%m%d}")
    (said,) = (m for m in memory.list(limit=50) if m.content == text)
    clock.passes(days=1)
    return said.id


def fact_of(memory, value):
    (fact,) = (f for f in memory.facts() if f.shown_value == value)
    return fact


def places(answer):
    return {hit.memory.id: place for place, hit in enumerate(answer.hits)}


def lines(text, words):
    return [line for line in text.splitlines() if words in line]


MOVES = "7410 clashes with the Vault agent, so tollbooth moves to 7411."
HERON = ("Heron's database is PostgreSQL 15.", "Heron: database: PostgreSQL 15")


@pytest.mark.parametrize(
    ("note", "fact", "later", "is_marked"),
    [
        ("Tollbooth runs on Python 3.11.", "tollbooth: python version: 3.11", MOVES, False),
        ("Tollbooth is on port 7410.", "tollbooth: port: 7410", MOVES, True),
        (*HERON, "Heron now deploys from the branch release.", False),
        (*HERON, "Heron now uses MariaDB.", True),
        (
            "Marder ist in Elixir 1.15.",
            "Marder: Sprache: Elixir 1.15",
            "Marder zieht ins Netz 10.4.8.0.",
            False,
        ),
        ("The cluster is stg-blue, EKS 1.29.", "stg-blue: EKS version: 1.29", "upgraded stg-blue to 1.30", True),
    ],
)
def test_only_a_statement_about_the_property_marks_it(memory, clock, note, fact, later, is_marked):
    subject, predicate, value = fact.split(": ")
    memory.remember(note, facts=[{"subject": subject, "predicate": predicate, "value": value}])
    identity = fact_of(memory, value).id
    say(memory, clock, later)
    hits = {hit.memory.id: hit for hit in memory.recall(f"{subject}: {predicate}?", touch=False).hits}
    assert bool(hits[identity].newer) == is_marked


@pytest.mark.parametrize(
    ("note", "claim", "later", "question"),
    [
        (SHOP, HOSTING, HETZNER, "Where is the shop hosted?"),  # the model says so of the note
        (TIDE, FLASK, FASTAPI, "which web framework do we use?"),  # the message names the fact's value as replaced
    ],
)
def test_it_is_marked_and_stands_behind_the_later_statement(memory, clock, note, claim, later, question):
    memory.remember(note, facts=[claim])
    before = fact_of(memory, claim["value"])
    said = say(memory, clock, later)
    answer = memory.recall(question, touch=False)
    hits, at = {hit.memory.id: hit for hit in answer.hits}, places(answer)
    assert said in hits[before.id].newer
    assert before.id in hits[said].older
    assert at[said] < at[before.id]
    after = fact_of(memory, claim["value"])
    assert (after.state, after.base) == (before.state, before.base)  # nothing is decided


def test_a_question_about_the_past_keeps_the_order(memory, clock):
    memory.remember(SHOP, facts=[HOSTING])
    said, fact = say(memory, clock, HETZNER), fact_of(memory, "AWS")
    at = places(memory.recall("Where was the shop hosted before?", touch=False))
    assert at[fact.id] < at.get(said, 99)


def test_what_the_later_statement_does_not_speak_of_stays_as_it_is(memory, clock):
    memory.remember(TIDE, facts=[FLASK, SQLITE])
    say(memory, clock, FASTAPI)
    say(memory, clock, "deploys of tidewatch are on Fridays")
    fact = fact_of(memory, "SQLite")
    (hit,) = (
        h for h in memory.recall("Which database does tidewatch use?", touch=False).hits if h.memory.id == fact.id
    )
    assert hit.newer == ()
    assert fact.id in [entry.id for entry in memory.answer_sheet("Which database does tidewatch use?").known]


def test_of_a_note_that_says_two_things_only_the_fact_that_is_spoken_of_is_doubted(memory, clock):
    claims = [
        {"subject": "staging", "predicate": "port", "value": "8080"},
        {"subject": "staging", "predicate": "owner", "value": "Mira"},
    ]
    memory.remember("Staging listens on port 8080, and Mira owns it.", facts=claims)
    said = say(memory, clock, "staging listens on port 9090 now")
    hits = {hit.memory.id: hit for hit in memory.recall("staging port and owner", touch=False).hits}
    assert said in hits[fact_of(memory, "8080").id].newer
    assert hits[fact_of(memory, "Mira").id].newer == ()


@pytest.mark.parametrize("replaces", ["Berlin", ""])
def test_a_statement_that_was_handed_over_with_its_facts_doubts_only_what_they_are_about(memory, clock, replaces):
    home: perdure.FactClaim = {"subject": "Ana", "predicate": "lives in", "value": "Berlin"}
    pork: perdure.FactClaim = {"subject": "Ana", "predicate": "eats", "value": "pork", "denied": True}
    note = memory.remember("Ana lives in Berlin. She does not eat pork.", facts=[home, pork])
    clock.passes(days=1)
    claim: perdure.FactClaim = {**home, "value": "Oslo"}
    moved = memory.remember("Ana moved to Oslo.", facts=[{**claim, "replaces": replaces} if replaces else claim])
    answer = memory.recall("Does Ana eat pork?", touch=False)
    hits, at = {hit.memory.id: hit for hit in answer.hits}, places(answer)
    fact = fact_of(memory, "not pork")
    assert hits[fact.id].newer == ()
    assert at[fact.id] < at[moved.id]
    assert not replaces or at[note.id] < at[moved.id]  # where nobody has decided, the latest word is read first
    at = places(memory.recall("Where does Ana live?", touch=False))
    assert at[moved.id] < at[note.id]
    assert DOUBT not in memory.answer_sheet("Does Ana eat pork?").text


@pytest.mark.parametrize("again", ["confirmed", "said again", "said elsewhere"])
def test_a_fact_that_somebody_stands_by_since_is_not_doubted(memory, clock, again):
    note = memory.remember(SHOP, facts=[HOSTING])
    if again == "said elsewhere":
        memory.remember("Mira renewed the shop's certificate for the load balancer.", facts=[HOSTING])
    say(memory, clock, HETZNER)
    fact = fact_of(memory, "AWS")
    if again == "confirmed":
        memory.confirm(fact.id)
    elif again == "said again":
        memory.remember(note.memory.content, facts=[HOSTING])
    (hit,) = (h for h in memory.recall("Where is the shop hosted?", touch=False).hits if h.memory.id == fact.id)
    assert hit.newer == ()
    assert DOUBT not in memory.answer_sheet("Where is the shop hosted?").text


def test_an_assistants_words_put_nothing_in_doubt(memory, clock):
    memory.remember(TIDE, facts=[FLASK])
    say(memory, clock, "I suggest FastAPI instead of Flask for the web framework.", role="assistant")
    fact = fact_of(memory, "Flask")
    (hit,) = (h for h in memory.recall("which web framework do we use?", touch=False).hits if h.memory.id == fact.id)
    assert hit.newer == ()


def test_a_value_of_something_else_that_is_replaced_puts_nothing_in_doubt(memory, clock):
    memory.remember(
        "Our weekly team meeting is on Monday.", facts=[{**HOSTING, "predicate": "meeting", "value": "Monday"}]
    )
    say(memory, clock, "my dentist moved me from Monday to Thursday")
    fact = fact_of(memory, "Monday")
    (hit,) = (h for h in memory.recall("When is the meeting of the shop?", touch=False).hits if h.memory.id == fact.id)
    assert hit.newer == ()


def test_the_answer_sheet_shows_the_later_message_with_the_fact(memory, clock):
    memory.remember(SHOP, facts=[HOSTING])
    said, fact = say(memory, clock, HETZNER), fact_of(memory, "AWS")
    sheet = memory.answer_sheet("Where is the shop hosted?")
    (entry,) = (e for e in (*sheet.known, *sheet.doubted) if e.id == fact.id)
    assert entry in sheet.doubted
    assert [(quote.memory, quote.words) for quote in entry.later] == [(said, HETZNER)]
    text = sheet.text.casefold()
    assert text.index(DOUBT) < text.index("shop: host: aws") < text.index(HETZNER.casefold())
    assert sheet.text.count(HETZNER) == 1
    assert "\nKnown\n" not in sheet.text


def test_the_answer_sheet_finds_the_later_message_where_the_question_does_not(memory, clock):
    memory.remember(SHOP, facts=[HOSTING])
    memory.remember(TIDE, facts=[FLASK, SQLITE])
    said, fact = say(memory, clock, FASTAPI), fact_of(memory, "Flask")
    sheet = memory.answer_sheet("Which web framework?")
    (entry,) = (e for e in (*sheet.known, *sheet.doubted) if e.id == fact.id)
    assert [quote.memory for quote in entry.later] == [said]


def test_memory_md_and_a_sessions_start_list_neither_the_fact_nor_its_note_unmarked(memory, clock):
    long = " ".join(
        f"Rack {n} of the shop has {n} power supplies and {n + 3} fans, all of them checked." for n in range(9)
    )
    memory.remember(f"{SHOP} {long}", facts=[HOSTING])
    memory.remember(TIDE, facts=[FLASK])
    memory.remember("The NOAA key is in the 1Password vault 'tide'.")
    clock.passes(days=1)
    memory.remember(SHOP, facts=[HOSTING])
    say(memory, clock, "the NOAA key is not in 1password any more, it's the env var NOAA_KEY")
    say(memory, clock, FASTAPI)
    start = memory.agent.opening("later", "default")
    assert estimate_tokens(start) <= 400
    for text in (memory.digest(), start):
        assert FASTAPI in text
        for old in ("uses Flask", "in the 1Password vault"):
            (line,) = lines(text, old)
            assert DOUBT in line


def test_a_fact_that_stands_in_the_summary_itself_is_marked_there(memory, clock):
    racks = " ".join(f"Rack {n} of the shop has {n} power supplies and {n + 3} fans." for n in range(6))
    memory.remember(f"{SHOP} {racks}", facts=[{**HOSTING, "predicate": "cloud provider"}])
    (line,) = lines(memory.digest(), "shop: cloud provider: AWS")
    assert DOUBT not in line
    say(memory, clock, "We moved the shop's provider from AWS to Hetzner")
    (line,) = lines(memory.digest(), "shop: cloud provider: AWS")
    assert DOUBT in line


def test_why_says_of_the_fact_what_puts_it_in_doubt(memory, clock):
    memory.remember(SHOP, facts=[HOSTING])
    said, fact = say(memory, clock, HETZNER), fact_of(memory, "AWS")
    why = memory.why(fact.id)
    assert short_id(said) in why.likely_untrue
    assert "AWS" in why.likely_untrue


@pytest.mark.parametrize("policy", [{}, {"knowledge": {"supersession": "off"}}], ids=["model", "words-only"])
def test_why_says_of_the_fact_which_message_names_its_value_as_replaced(tmp_path, clock, policy):
    with perdure.open(tmp_path / "words.db", clock=clock, policy=policy) as memory:
        memory.remember(TIDE, facts=[FLASK, SQLITE])
        fact = fact_of(memory, "Flask")
        assert memory.why(fact.id).likely_untrue == ""
        said = say(memory, clock, FASTAPI)
        why = memory.why(fact.id)
        assert short_id(said) in why.likely_untrue
        assert "FastAPI instead of Flask" in why.likely_untrue
        assert why.likely_untrue in why.summary
        assert memory.why(fact_of(memory, "SQLite").id).likely_untrue == ""
        memory.confirm(fact.id)
        assert memory.why(fact.id).likely_untrue == ""


@pytest.mark.parametrize("first", ["opening", "prompt"])
def test_beside_a_prompt_the_old_value_does_not_stand_alone_because_the_newer_was_shown(memory, clock, first):
    memory.remember(TIDE, facts=[FLASK])
    say(memory, clock, FASTAPI)
    prompt = "is it Flask or FastAPI?"
    if first == "opening":
        assert FASTAPI in memory.agent.opening("s", "default")
    else:
        assert FASTAPI in memory.agent.beside("Why is FastAPI, with async, worth it?", "s", "default")
    shown = memory.agent.beside(prompt, "s", "default")
    old = [n for n, line in enumerate(shown.splitlines()) if "web framework: Flask" in line]
    new = [n for n, line in enumerate(shown.splitlines()) if FASTAPI in line]
    assert not old or (new and new[0] < old[0])
    assert estimate_tokens(shown) <= 250
    for number in old:
        assert "(newer: number 1)" in shown.splitlines()[number]


def test_beside_a_prompt_a_fact_stands_behind_what_ended_the_later_message_in_turn(memory, clock):
    memory.remember(TIDE, facts=[FLASK])
    say(memory, clock, FASTAPI)
    litestar = "Change of plan for tidewatch: Litestar instead of FastAPI, it is smaller"
    say(memory, clock, litestar)
    for session, prompts in (("a", ()), ("b", ("Why Litestar, and is it smaller?",))):
        for prompt in prompts:
            assert litestar in memory.agent.beside(prompt, session, "default")
        shown = memory.agent.beside("is it Flask, FastAPI or Litestar?", session, "default")
        assert FASTAPI not in shown
        assert ("web framework: Flask" in shown) <= (litestar in shown)
        for line in lines(shown, "web framework: Flask"):
            assert "(newer: number 1)" in line


def test_beside_a_prompt_without_vectors_the_fact_is_marked_as_its_note_is(tmp_path, clock):
    with perdure.open(tmp_path / "words.db", {"embedder": {"model": "none"}}, clock=clock) as memory:
        memory.remember(TIDE, facts=[FLASK])
        said = say(memory, clock, FASTAPI)
        say(memory, clock, "Okay, moving to FastAPI.", role="assistant")
        fact = fact_of(memory, "Flask")
        hits = {hit.memory.id: hit for hit in memory.recall("is it Flask or FastAPI?", touch=False).hits}
        assert said in hits[fact.id].newer
        assert FASTAPI in memory.agent.opening("s", "default")
        shown = memory.agent.beside("is it Flask or FastAPI?", "s", "default")
        assert ("web framework: Flask" in shown) <= (FASTAPI in shown)


@pytest.fixture
def statements(monkeypatch):
    """Collect the names of the statements that are run."""
    names, run = [], SqliteSession.run

    def counted(session, name, parts=None, /, **bindings):
        names.append(name)
        return run(session, name, parts, **bindings)

    monkeypatch.setattr(SqliteSession, "run", counted)
    return names


def test_a_doubt_by_a_link_reads_no_memory_and_no_link_twice(memory, clock, statements):
    memory.remember(SHOP, facts=[HOSTING])
    say(memory, clock, "The weather in Genoa is lovely in spring")
    memory.recall("Where is the shop hosted?", touch=False)
    statements.clear()
    assert len(memory.recall("Where is the shop hosted?", touch=False).hits) == 2
    plain = len(statements)
    said = say(memory, clock, HETZNER)
    statements.clear()
    memory.recall("Where is the shop hosted?", touch=False)
    assert statements.count("records") == 2, "the hits, and once what puts one in doubt"
    statements.clear()
    answer = memory.recall("Where is the shop hosted?", touch=False)
    assert said in places(answer)
    assert "records" not in statements, "nobody has written since"
    assert len(statements) <= plain + 7


@pytest.mark.parametrize(
    ("note", "claim", "later"),
    [
        (SHOP, HOSTING, HETZNER),  # the model says so of the note
        (TIDE, FLASK, FASTAPI),  # the message names the fact's value as replaced
    ],
)
def test_facts_timeline_and_sheet_say_of_a_fact_what_recall_says(memory, clock, note, claim, later):
    memory.remember(note, facts=[claim])
    memory.remember("The shop is owned by Mira.", facts=[{"subject": "shop", "predicate": "owner", "value": "Mira"}])
    assert [f.newer for f in memory.facts()] == [(), ()]
    said = say(memory, clock, later)
    told = {f.shown_value: f.newer for f in memory.facts()}
    assert told == {claim["value"]: (said,), "Mira": ()}
    assert {f.shown_value: f.newer for f in memory.timeline(claim["subject"]).facts}[claim["value"]] == (said,)
    words = render_text(view_facts(memory.facts(), Request("facts", {"limit": 100}, {})))
    (line,) = lines(words, DOUBT)
    assert claim["value"] in line
    assert short_id(said) in line
    sheet = memory.answer_sheet(f"{claim['subject']} {claim['predicate']}")
    assert [entry.id for entry in sheet.doubted] == [fact_of(memory, claim["value"]).id]
    memory.confirm(fact_of(memory, claim["value"]).id)
    assert fact_of(memory, claim["value"]).newer == ()


def test_a_list_of_facts_looks_back_without_later_doubts(memory, clock):
    memory.remember(SHOP, facts=[HOSTING])
    before = clock.now
    say(memory, clock, HETZNER)
    assert [f.newer for f in memory.facts(known_at=before)] == [()]
    assert [f.newer for f in memory.timeline("shop", known_at=before).facts] == [()]


def test_the_doubts_of_many_facts_take_as_many_statements_as_those_of_one(memory, clock, statements):
    def count(subject=None):
        memory.facts(subject)
        statements.clear()
        memory.facts(subject)
        return len(statements)

    memory.remember(TIDE, facts=[FLASK])
    say(memory, clock, FASTAPI)
    one = count("tidewatch")
    memory.remember_many(
        [
            {
                "content": f"Item {n} costs {n} euros.",
                "facts": [{**FLASK, "predicate": f"part {n}", "value": f"Kit{n}"}],
            }
            for n in range(40)
        ]
    )
    assert count("tidewatch") <= one + 3


LISTED = [
    ("Lamps: hall has 4 bulbs, attic has 6 bulbs, cellar has 9 bulbs.", "bulbs", "attic went from 6 bulbs to 8 bulbs."),
    (
        "Printers: hall uses tray A7, attic uses tray B7, cellar uses tray C7.",
        "tray",
        "attic moved from tray B7 to D7.",
    ),
]


@pytest.mark.parametrize(("listed", "what", "later"), LISTED, ids=["bulbs", "tray"])
def test_of_things_that_are_listed_only_the_one_that_changed_is_doubted(memory, clock, listed, what, later):
    old = dict(zip(("hall", "attic", "cellar"), ("4 bulbs", "6 bulbs", "9 bulbs"), strict=True))
    if what == "tray":
        old = {"hall": "A7", "attic": "B7", "cellar": "C7"}
    new = "8 bulbs" if what == "bulbs" else "D7"
    memory.remember(listed, facts=[{"subject": room, "predicate": what, "value": old[room]} for room in old])
    clock.passes(days=2)
    memory.remember(later, facts=[{"subject": "attic", "predicate": what, "value": new, "replaces": old["attic"]}])
    assert {f.name: f.newer for f in memory.facts()} == {"hall": (), "attic": (), "cellar": ()}
    for room in ("hall", "cellar"):
        assert old[room] in memory.recall(f"Which {what} has the {room}?").hits[0].memory.content
