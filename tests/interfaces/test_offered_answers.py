"""Every answer that a door offers to a question is one that the question takes, whatever the question is about."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from mcp_types import ElicitResult
from starlette.applications import Starlette

from conftest import HASHED, WORDS_ONLY, Clock, HashEmbedder, bare_fact, opened
from interfaces.pages.browsing import Browser, Hand
from interfaces.test_facts_cli import ran
from interfaces.test_mcp_talk import over, talk
from perdure.interfaces import pages
from perdure.interfaces.mcp.run import build
from perdure.records.errors import InvalidInput, NotFound

MANY = 50
POLICY = {**WORDS_ONLY, "preset": "facts", "knowledge": {"questions_per_day": MANY}}
MAKING = {**POLICY, "consolidate": {**HASHED["consolidate"], "require_dry_run": False}}
"""For the store as it is made: near-duplicates are found by vectors."""
PORT = "The build server listens on port 8080 in Lyon."
VALUE = "something else"
CLAIM = "Ursa Foods' delivery day preference is Sunday"
"""What the newer side of the conflict says, about which a person is asked."""
OF_FACTS = ("confirm", "deny", "correct", "mute")
OF_OTHERS = ("keep", "drop", "correct")
ANSWERS = {
    "a stale fact": OF_FACTS,
    "a stale fact of which only words are known": ("confirm", "deny", "correct"),
    "two facts that contradict each other": ("confirm", "deny", "correct", "both", "mute"),
    "a fact that was wrong": OF_FACTS,
    "a note that was wrong": OF_OTHERS,
    "a name that may mean several": OF_OTHERS,
    "two notes that say nearly the same": OF_OTHERS,
    "two names of a predicate": ("same", "different"),
}
"""Kind of question -> the answers that it takes."""
WHY = {
    "two values": "two facts that contradict each other",
    "may mean": "a name that may mean several",
    "oslo is not lyon": "two notes that say nearly the same",
    "the names are alike": "two names of a predicate",
}
"""Part of the reason of a question -> its kind."""
MEANINGS = {
    "yes": {"confirm", "keep", "same"},
    "no": {"deny", "drop", "different"},
    "it changed": {"correct"},
    "both hold": {"both"},
    "do not ask again": {"mute"},
}
"""Choice in the form of a client -> what it may mean."""


def fact(memory, subject, predicate, value):
    memory.remember(f"{subject}: {value}.", facts=[{"subject": subject, "predicate": predicate, "value": value}])
    return next(f.id for f in memory.facts() if f.value == value)


def say(memory, clock, *sentences):
    for sentence in sentences:
        told = {"content": sentence, "role": "user", "at": clock().isoformat()}
        memory.ingest([told], session=f"at {clock().isoformat()}")
        clock.passes(hours=1)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A store with a question of each kind; its clock has come to the real day, which commands go by."""
    folder = tmp_path_factory.mktemp("questions")
    clock = Clock(datetime.now(UTC) - timedelta(days=120))
    with opened(folder / "agent.db", MAKING, clock, HashEmbedder()) as memory:
        asked = {"a stale fact": fact(memory, "Maya", "drink", "tea")}
        asked["a stale fact of which only words are known"] = bare_fact(memory, "The office opens at nine.").id
        clock.passes(days=110)
        for text in (PORT, PORT.replace("Lyon", "Oslo")):
            memory.remember(text)
        memory.consolidate("default", 0.7, dry_run=False)
        say(
            memory,
            clock,
            "Remember, Gai Media prefers Friday deliveries.",
            "Remember, Acme Corp prefers Friday orders.",
        )
        memory.alias("gai-media", "the big one")
        memory.alias("acme-corp", "the big one")
        say(memory, clock, "Remember that the big one prefers Monday deliveries.")
        say(memory, clock, "Remember, Ursa Foods prefers Tuesday deliveries.")
        clock.passes(days=1)
        say(memory, clock, "Remember, Ursa Foods prefers Sunday deliveries.")
        asked["a note that was wrong"] = memory.remember("The roof is green.").id
        asked["a fact that was wrong"] = fact(memory, "Ana", "home", "Paris")
        memory.used([asked["a note that was wrong"], asked["a fact that was wrong"]], "wrong")
        fact(memory, "Nordlicht", "parcel delivery day", "Thursday")
        fact(memory, "Nordlicht", "usual parcel delivery day", "Wednesday")
        (folder / "kinds.json").write_text(json.dumps({identity: kind for kind, identity in asked.items()}))
    (folder / "policy.toml").write_text(
        f'preset = "facts"\n[embedder]\nmodel = "none"\n[knowledge]\nquestions_per_day = {MANY}\n'
    )
    return folder


@pytest.fixture
def memory(place):
    with opened(place / "agent.db", POLICY) as found:
        yield found


@pytest.fixture
def kinds(place, memory):
    """Id of the memory -> kind of the question about it, of all that are open."""
    known = json.loads((place / "kinds.json").read_text())
    for q in memory.review(limit=MANY):
        known.setdefault(q.id, next((kind for part, kind in WHY.items() if part in q.why), q.why))
    assert sorted(known.values()) == sorted(ANSWERS)
    return known


def expected(kinds):
    return {identity: set(ANSWERS[kind]) for identity, kind in kinds.items()}


@contextmanager
def taken(memory, identity, kind, answer):
    """Expect that an answer closes its question within a block, and take it back."""
    operation = memory.history(limit=1)[0].id
    (question,) = (q.question for q in memory.review(limit=MANY) if q.id == identity)
    try:
        yield
        assert memory.history(limit=1)[0].id != operation, (kind, answer)
        assert question not in {q.question for q in memory.review(limit=MANY)}, (kind, answer)
    finally:
        if memory.history(limit=1)[0].id != operation:
            memory.undo("last")


def meaning(choice, claim):
    """What a choice in a form may mean; of a conflict two choices name what the memory says."""
    if claim and choice in {f"this holds: {claim}", f"this does not hold: {claim}"}:
        return {"deny" if " not hold: " in choice else "confirm"}
    return MEANINGS[choice] - ({"confirm", "deny"} if claim else set())


def value_of(answer):
    return VALUE if answer == "correct" else None


def test_each_kind_of_question_takes_the_answers_that_it_names(memory, kinds):
    found = {q.id: set(q.answers) for q in memory.review(limit=MANY)}
    assert found == expected(kinds)
    for identity, kind in kinds.items():
        for answer in ANSWERS[kind]:
            with taken(memory, identity, kind, answer):
                memory.answer(identity, answer, value_of(answer))
        unfit = {"both", "same"} if kind == "two names of a predicate" else {"both", "same", "mute"}
        for answer in unfit - set(ANSWERS[kind]):
            with pytest.raises((InvalidInput, NotFound)):
                memory.answer(identity, answer)


def test_the_page_offers_those_answers_and_takes_each(memory, kinds):
    with Browser(Hand(Starlette(routes=pages.routes()), memory)) as browser:
        cards = re.findall(r'<section class="card question".*?</section>', browser.get("/questions").text, re.DOTALL)
        found = {}
        for card in cards:
            (identity,) = kinds.keys() & set(re.findall(r'name="id" value="([^"]*)"', card))
            found[identity] = set(re.findall(r'name="verdict" value="(\w+)"', card))
        assert found == expected(kinds)
        for identity, answers in found.items():
            for answer in answers:
                with taken(memory, identity, kinds[identity], answer):
                    sent = {"id": identity, "verdict": answer, "value": value_of(answer) or ""}
                    assert browser.answer(browser.get("/questions"), "/answer", **sent).status_code == 200


def verdicts(line):
    (told,) = re.findall(r"verdict is ([^.\n]*)", line)
    return set(re.split(r", | or ", told.replace(" (with a value)", "")))


def told_by_text(text, identities):
    """Return which answers a text tells for each question."""
    found, last = {}, None
    for line in text.splitlines():
        last = next((i for i in identities if i[-8:] in line), last)
        if "verdict is" in line:
            found[last] = verdicts(line)
    return found


def told_of_conflicts(text):
    """Return of which side of each conflict a text says that confirm makes it hold."""
    return re.findall(r'confirm: it holds that "?(.*?)"?; deny: it does not[.]', text)


def test_the_command_names_those_answers_and_takes_each(place, memory, kinds, monkeypatch):
    environment = {"PERDURE_STORE": "agent.db", "PERDURE_POLICY": "policy.toml", "COLUMNS": "250", "NO_COLOR": "1"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place)
    text = ran("review", "--limit", str(MANY))
    assert told_of_conflicts(text) == [CLAIM]
    found = told_by_text(text, kinds)
    assert found == expected(kinds)
    for identity, answers in found.items():
        for answer in answers:
            with taken(memory, identity, kinds[identity], answer):
                ran("review", identity, answer, *([VALUE] if answer == "correct" else []))


class Person:
    """Chooses one answer of the form about one memory, and closes every other form."""

    def __init__(self, question="", choice="", value=None):
        self.question, self.forms = question, {}
        self.content = {"answer": choice, **({"value": value} if value else {})}

    async def __call__(self, context, params):  # noqa: ARG002  # as a client calls it
        self.forms[params.message] = params.requested_schema["properties"]["answer"]["enum"]
        chosen = params.message == self.question
        return ElicitResult(action="accept", content=self.content) if chosen else ElicitResult(action="decline")


def asked(server, person=None, **arguments):
    """Call the tool review."""

    async def story(client):
        answer = await client.call_tool("review", {"limit": MANY, **arguments})
        assert not answer.is_error, answer.content
        return answer

    return talk(server, story, "auto", person)


def fresh(memory):
    """A server that has put no question yet."""
    return build(lambda: memory, profile="full")


def test_an_agent_is_told_of_those_answers_and_each_is_taken(memory, kinds):
    answer = asked(over(memory))
    assert {q["id"]: set(q["answers"]) for q in answer.structured_content["questions"]} == expected(kinds)
    assert told_of_conflicts(answer.content[0].text) == [CLAIM]
    found = told_by_text(answer.content[0].text, kinds)
    assert found == expected(kinds)
    for identity, answers in found.items():
        for one in answers:
            with taken(memory, identity, kinds[identity], one):
                asked(over(memory), id=identity, verdict=one, **({"value": VALUE} if one == "correct" else {}))


def test_the_form_of_a_client_offers_choices_that_are_all_taken(memory, kinds):
    questions = {q.question: q for q in memory.review(limit=MANY)}
    person = Person()
    asked(fresh(memory), person)
    assert person.forms.keys() == questions.keys()
    offered = {}  # the choices -> one question that has them: each is put by a server of its own
    for question, choices in person.forms.items():
        answers = ANSWERS[kinds[questions[question].id]]
        claim = "".join(questions[question].sides[:1])
        assert [meaning(choice, claim) & set(answers) for choice in choices] == [{answer} for answer in answers]
        offered[answers] = question, choices
    for answers, (question, choices) in offered.items():
        identity = questions[question].id
        for answer, choice in zip(answers, choices, strict=True):
            with taken(memory, identity, kinds[identity], choice):
                person = Person(question, choice, value_of(answer))
                (told,) = asked(fresh(memory), person).structured_content["asked"]
                assert (told["id"], told["verdict"]) == (identity, answer)


def test_the_answers_named_beside_a_recalled_fact_are_all_taken(memory, kinds):
    def recalled(query):
        async def story(client):
            return await client.call_tool("recall", {"query": query, "limit": 1, "touch": False})

        return talk(over(memory), story).content[0].text

    questions = {
        "a stale fact": "What does Maya drink?",
        "a stale fact of which only words are known": "When does the office open?",
    }
    for kind, question in questions.items():
        (stale,) = (identity for identity, other in kinds.items() if other == kind)
        text = recalled(question)
        assert "Is that still so?" in text
        assert verdicts(text) == set(ANSWERS[kind])
        (hit,) = memory.recall(question, limit=1, touch=False).hits
        assert hit.answers == ANSWERS[kind]
        for answer in ANSWERS[kind]:
            with taken(memory, stale, kind, answer):
                memory.answer(stale, answer, value_of(answer))
    assert "verdict is" not in recalled("Which colour has the roof?")
