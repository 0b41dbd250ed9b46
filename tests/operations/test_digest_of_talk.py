"""What later messages come back to has a line in MEMORY.md before what nobody mentions again."""

from __future__ import annotations

import pytest

from conftest import HASHED, START, WORDS_ONLY, HashEmbedder, calls_of, on_a_file, weekly
from perdure.records.memory import Message

ROOF = "The cottage in Brindle has a leaking roof above the pantry."
BICYCLE = "Grandfather keeps his old bicycle behind the shed in Oslo."
AGAIN = (
    "Did anybody look at the leaking roof of the cottage?",
    "Is the pantry below the cottage roof still wet?",
    "Who pays for the leaking cottage roof above the pantry?",
)
BUDGET = 105  # one of the two lines fits


def talk(speaker, again=AGAIN):
    told = [("Ana", BICYCLE), ("Ana", ROOF), *((speaker, content) for content in again)]
    return [
        {"role": "user", "speaker": who, "content": content, "at": f"2025-12-31T0{hour}:00:00Z", "session": "a"}
        for hour, (who, content) in enumerate(told, 1)
    ]


@pytest.mark.parametrize(
    ("messages", "shown", "hidden"),
    [
        (talk("Ben"), "roof", "bicycle"),
        (talk("Ben", ()), "bicycle", "roof"),
        (talk("assistant"), "bicycle", "roof"),
    ],
    ids=["people come back to it", "nobody does", "an assistant repeats it"],
)
def test_what_people_come_back_to_is_shown_before_what_nobody_mentions_again(opening, messages, shown, hidden):
    memory = opening(embedder=HashEmbedder())
    memory.ingest(messages)
    text = memory.digest(budget_tokens=BUDGET)
    assert shown in text
    assert hidden not in text
    assert "roof" in memory.digest(budget_tokens=1000)


def test_a_line_does_not_end_with_an_abbreviation(opening):
    memory = opening(embedder=HashEmbedder())
    said = "My doctor for diabetes is now Dr. Petrova, at the clinic in Harrow."
    memory.ingest([{"role": "user", "content": said, "at": "2025-12-31T01:00:00Z"}], session="a")
    assert said in memory.digest()
    assert said in memory.agent.opening("b", "default")


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        (
            "The choir rehearses on Monday evenings in the old school.",
            "Does the choir rehearse on Thursday evenings in the old school, not on Monday evenings?",
        ),
        ("My rent is $900 a month.", "So my rent is $950 a month, not $900, right?"),
    ],
)
def test_a_question_takes_the_place_of_no_statement(opening, said, asked):
    memory = opening()
    told = [{"role": "user", "content": text, "at": f"2025-12-31T0{n}:00:00Z"} for n, text in enumerate((said, asked))]
    memory.ingest(told, session="a")
    assert said in memory.digest()
    assert said in memory.agent.opening("b", "default")


@pytest.mark.parametrize(
    ("earlier", "stays"),
    [
        ("The review of the catalogue found 400 tables.", True),
        ("The review of the catalogue has 400 lines.", False),
    ],
)
def test_a_number_that_no_longer_holds_is_one_of_the_same_thing(opening, earlier, stays):
    memory = opening()
    texts = (earlier, "A review has 300 lines, not 400.")
    told = [{"role": "user", "content": text, "at": f"2025-12-31T0{n}:00:00Z"} for n, text in enumerate(texts)]
    memory.ingest(told, session="a")
    assert (earlier in memory.digest()) is stays


PEOPLE = ("Amara", "Bodil", "Chen", "Dario", "Esther", "Femi")
THINGS = ("lamp", "desk", "rope", "kiln", "globe", "cart", "bell")


def resembling(number, room):
    return f"{PEOPLE[number % 6]} took the {THINGS[number % 7]} to {room} and asked for 3 long screws."


def fill(memory, first, last):
    """Store some memories, half of them notes, half of them messages."""
    memory.remember_many([resembling(at, f"room {at}") for at in range(first, last)])
    memory.ingest([{"role": "user", "content": resembling(at, "the hall")} for at in range(first, last)], session="a")


@weekly
@on_a_file  # what is counted is done by rules
def test_four_times_as_many_memories_that_resemble_one_another_take_four_times_the_work(opening):
    memory = opening(HASHED, HashEmbedder(), at=":memory:")
    shown = (memory.digest, lambda: memory.agent.opening("b", "default"))
    fill(memory, 0, 250)
    assert all("screws" in call() for call in shown)  # patterns are compiled, too
    few = [calls_of(call) for call in shown]
    fill(memory, 250, 1000)
    many = [calls_of(call) for call in shown]
    assert all(after < 6 * before for before, after in zip(few, many, strict=True)), (few, many)


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("We deploy on Fridays now.", "We never deploy on Fridays."),
        ("Backups of the shop are kept for 30 days.", "Backups of the shop are not kept for 30 days."),
        ("Wir spielen am Freitag neue Versionen ein.", "Wir spielen am Freitag nie neue Versionen ein."),
    ],
)
@pytest.mark.parametrize("denied_last", [False, True])
@pytest.mark.parametrize("last_is_a_note", [False, True])
def test_what_denies_a_note_is_shown_beside_it(opening, said, denied, denied_last, last_is_a_note):
    """The one without "not" has no word that the other lacks, but it says something else."""
    first, last = (said, denied) if denied_last else (denied, said)
    memory = opening(embedder=HashEmbedder())
    memory.remember(first)
    if last_is_a_note:
        memory.remember(last)
    else:
        memory.ingest([{"role": "user", "content": last}], session="a")
    text = memory.digest()
    assert last in text
    assert first in text


@pytest.mark.parametrize(
    ("written", "line"),
    [
        (
            "Run the tests like this:\n```bash\ndocker compose up -d db\npytest -q --maxfail=1\n```\nStart the db.",
            "Run the tests like this: `docker compose up -d db`; `pytest -q --maxfail=1`; Start the db.",
        ),
        ("# Layers\n- api: handlers\n- core: functions", "Layers: api: handlers; core: functions."),
        ("Deploy:\n1. make build\n2. make push", "Deploy: 1. make build; 2. make push."),
        ("| env | port |\n|---|---|\n| dev | 3000 |", "env, port; dev, 3000."),
        ("**Never** import `store` from `core`.", "Never import `store` from `core`."),
    ],
)
def test_lines_of_markdown_stay_apart_within_one_line(opening, written, line):
    memory = opening(embedder=HashEmbedder())
    memory.remember(written)
    assert f"- {line} (" in memory.digest()


GOING_BACK = (
    "Let's go back to npm.",
    "We're back on npm.",
    "Scrap that, npm it is.",
    "We reverted to npm.",
    "Wir gehen zurück zu npm.",
    "Volvamos a npm.",
    "On revient à npm.",
    "换回npm。",
    "npmに戻すことにしよう。",
)


def told_in_turn(memory, clock, how, *texts):
    for at, text in enumerate(texts):
        if how == "noted":
            memory.remember(text)
        else:
            memory.ingest([{"role": "user", "content": text, "at": clock().isoformat()}], session=f"day {at}")
        clock.passes(days=30)


@pytest.mark.parametrize("back", GOING_BACK)
def test_a_decision_to_go_back_is_shown_as_other_decisions_are(opening, clock, back):
    memory = opening(WORDS_ONLY)
    told_in_turn(memory, clock, "said", "We use pnpm.", back)
    assert back in memory.digest().partition("## Rules and decisions")[2]
    assert back in memory.agent.opening("next", "default")


@pytest.mark.parametrize("back", GOING_BACK[:4])
@pytest.mark.parametrize("how", ["said", "noted"])
def test_the_decision_that_was_reversed_is_not_shown_as_current(opening, clock, how, back):
    memory = opening(WORDS_ONLY)
    decided = ("We use npm.", "We decided on pnpm instead of npm.", "We decided to deploy to Oslo instead of Rome.")
    told_in_turn(memory, clock, how, *decided)
    assert "pnpm" in memory.digest()
    told_in_turn(memory, clock, how, back)
    for text in (memory.digest(), memory.agent.opening("next", "default")):
        assert back in text
        assert "pnpm" not in text
        assert "We decided to deploy to Oslo" in text  # nobody goes back to Rome
    told_in_turn(memory, clock, how, "We decided on pnpm instead of npm, finally.")
    shown = "We decided on pnpm, finally." if how == "said" else "We decided on pnpm instead of npm, finally."
    assert shown in memory.digest()  # a note keeps its own words


@pytest.mark.parametrize("reversed_order", [False, True])
@pytest.mark.parametrize("how", ["said", "noted"])
def test_going_back_in_one_project_leaves_the_decision_of_another(opening, clock, how, reversed_order):
    memory = opening(WORDS_ONLY)
    texts = ["We decided that the web shop uses pnpm, not npm.", "Let's go back to npm for the billing service."]
    told_in_turn(memory, clock, how, "The web shop uses npm.", *(texts[::-1] if reversed_order else texts))
    for text in (memory.digest(), memory.agent.opening("next", "default")):
        assert "the web shop uses pnpm" in text
        assert "back to npm for the billing service." in text


def say(memory, *texts):
    """Let an agent's session take in what a person says, and end."""
    messages = [
        Message(text, role="user", at=START, session="s", source=f"t.jsonl:{n}", key=f"uuid-{n}")
        for n, text in enumerate(texts)
    ]
    memory.agent.take_in("s", "default", messages, transcript="t.jsonl", mark="1")
    memory.end_session("s")
    return memory.digest()


HABITS = (
    "We never commit directly to main.",
    "I always want the tests before the code.",
    "Sabine is the product owner.",
    "We always squash before merging.",
    "Okafor is our contact at the hosting company.",
)


@on_a_file
@pytest.mark.parametrize("text", HABITS)
def test_what_a_team_always_or_never_does_and_who_is_what_has_a_line(memory, text):
    assert f"- {text} (" in say(memory, text)


TRACE = """Traceback (most recent call last):
  File "app.py", line 3, in <module>
    import foo
ModuleNotFoundError: No module named 'foo'
"""
JAVA = """Exception in thread "main" java.lang.NullPointerException: name
    at com.example.shop.Cart.total(Cart.java:42)
    at com.example.shop.Main.main(Main.java:7)
"""
NODE = """TypeError: Cannot read properties of undefined (reading 'id')
    at renderCart (/srv/app/cart.js:12:9)
    at Object.<anonymous> (/srv/app/index.js:3:1)
"""


@on_a_file
@pytest.mark.filterwarnings("ignore::perdure.records.errors.PerdureWarning")
@pytest.mark.parametrize(
    "text",
    [
        TRACE * 5,
        JAVA,
        NODE,
        "lol ok, lunch now",
        "hmm not sure about the color of the button, maybe blue, maybe green",
        "By the way the staging password is hunter2-Blue!77 and STRIPE_SECRET_KEY=sk_live_51HxQ2eKZvKYlo2C0 , keep it",
    ],
)
def test_what_a_program_printed_chatter_and_leftovers_of_secrets_have_no_line(memory, text):
    assert "\n- " not in say(memory, text)


@on_a_file
@pytest.mark.filterwarnings("ignore::perdure.records.errors.PerdureWarning")
def test_what_is_told_beside_a_secret_and_what_is_undecided_have_a_line(memory):
    text = say(
        memory,
        "The staging database is at db7.internal:5432, password hunter2-Blue!77.",
        "We have not decided on the database yet.",
        "Maybe Hetzner is cheaper.",
        "I'm not sure yet whether to use pytest or unittest.",
    )
    assert "db7.internal:5432" in text
    assert "not decided on the database" in text
    assert "Hetzner" in text
    assert "pytest or unittest" in text


@on_a_file
def test_what_was_asked_to_be_remembered_stands_once(memory):
    text = say(memory, "Please remember that the lift is broken until Friday.")
    assert text.count("lift is broken until Friday") == 1
    assert memory.agent.opening("later", "default").count("lift is broken") == 1
    assert memory.agent.beside("Is the lift broken?", "another", "default").count("lift is broken") == 1


TOLD = (
    "We use 1Password at home, and the guest network is called Krabbe.",
    "The hotel in Lisbon is Casa das Janelas, check-in at 15:00.",
    "Had to rebook Lisbon, now 4 to 8 June, paid 60 EUR extra.",
    "The best tram in Lisbon was the 28, packed with Joanna's friends.",
    "The climbing hall Nordwand opens at 20:00 on Tuesdays.",
)
NOTED = ("Lena eats fish again, and still no meat.", "Lena lives in Hamburg, Ottenser Hauptstr. 12.")
BOSS = {"subject": "Lena", "predicate": "boss", "value": "Joanna Okafor"}
REQUEST = "Please remember that Lena is allergic to walnuts."


def test_what_was_meant_to_be_kept_comes_before_what_was_said_where_room_is_short(opening, clock):
    memory = opening(WORDS_ONLY)
    memory.ingest([{"role": "user", "content": REQUEST}], session="a")
    for text in NOTED:
        memory.remember(text)
    memory.learn(claims=[BOSS])
    clock.passes(days=100)
    memory.ingest([{"role": "user", "content": text} for text in TOLD], session="b")
    for text in TOLD * 3:
        clock.passes(hours=1)
        found = memory.recall(text)
        memory.used([found.hits[0].memory.id], recall_id=found.id)
    kept = [*NOTED, "Lena: boss: Joanna Okafor", "allergic to walnuts"]
    whole, short = memory.digest(budget_tokens=2000), memory.digest(budget_tokens=220)
    assert all(text in whole for text in (*kept, *TOLD))
    assert [text for text in kept if text not in short] == []
    assert not all(text in short for text in TOLD)


@on_a_file
def test_of_a_reply_that_asks_to_remember_something_all_is_shown(opening):
    """Only of a person's message the request alone is."""
    memory = opening(WORDS_ONLY)
    said = "The nightly job moved to the Bern cluster. Please remember that backups run at 02:00 on Sundays."
    memory.ingest([{"role": "assistant", "content": said}], session="s1")
    memory.pin(memory.list()[0].id)
    (line,) = [line for line in str(memory.digest()).splitlines() if "backups" in line]
    assert "nightly job" in line


@on_a_file
def test_a_digest_takes_as_much_for_each_of_many_messages_that_give_another_number(opening, clock):
    """Each is compared with all the others; it is read once for all of them."""
    each = []
    for many in (20, 80):
        memory = opening(at=":memory:")
        say(memory, *(f"We moved the standup of team {n} to {100 + n} because of Marta." for n in range(many)))
        memory.digest()
        each.append(calls_of(memory.digest) / many)
    few, more = each
    assert more <= 1.2 * few


def test_a_question_that_was_recalled_has_a_line_if_it_names_or_numbers_enough(opening):
    memory = opening(WORDS_ONLY)
    asked = ["Any news on the claim?", "Hat jemand etwas vom Antrag gehört?"]
    named = "Any news on the claim with Allianz of 3 March for Marta?"
    for number, words in enumerate((*asked, named)):
        memory.ingest([Message(words, "user")], session=f"s{number}")
    for words in ("claim", "Antrag"):
        memory.recall(words)
    assert all(m.access_count for m in memory.list())
    text = memory.digest()
    assert named in text
    assert [words for words in asked if words in text] == []
