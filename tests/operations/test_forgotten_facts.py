"""Who forgets a memory forgets the facts that only it says: nothing answers with them, and one step brings all back."""

from datetime import UTC, datetime

import pytest

import perdure
from interfaces.test_mcp_talk import over, talk

TOLD = "The staging DB is on host db7."
HOST = {"subject": "staging DB", "predicate": "host", "value": "db7"}
OWNER = {"subject": "staging DB", "predicate": "owner", "value": "Mira"}
MOMENT = datetime(2026, 5, 4, 10, tzinfo=UTC)
ASKED = "On which host is the staging DB?"


@pytest.fixture
def memory(tmp_path):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}) as opened:
        yield opened


def values(memory):
    return sorted(f.value for f in memory.facts())


@pytest.mark.behaviour("FD41")
def test_a_fact_goes_with_the_only_memory_that_says_it_and_comes_back_with_it(memory):
    note = memory.remember(TOLD, facts=[HOST])
    done = memory.forget(note.id, "it never was")
    assert [f.content for f in done.hidden_facts] == ["staging DB: host: db7"]
    assert done.still_believed == ()
    assert values(memory) == []
    assert "db7" not in memory.digest()
    assert not any("db7" in hit.memory.content for hit in memory.recall(ASKED).hits)
    memory.undo(done.operation)
    assert values(memory) == ["db7"]
    assert "db7" in memory.digest()
    memory.forget(note.id)
    memory.restore(note.id)
    assert values(memory) == ["db7"]


@pytest.mark.parametrize("again", ["text", "facts", "batch"])
def test_the_facts_that_went_with_a_memory_come_back_when_its_words_are_remembered_again(memory, again):
    note = memory.remember(TOLD, facts=[HOST, OWNER])
    gone = memory.forget(note.id)
    assert values(memory) == []
    if again == "batch":
        (back,) = memory.remember_many([TOLD])
    else:
        back = memory.remember(TOLD, facts=[HOST] if again == "facts" else ())
    assert back.id == note.id
    assert values(memory) == ["Mira", "db7"]
    assert all(f.state == "active" for f in memory.facts())
    memory.undo(back.operation)
    assert values(memory) == []
    memory.undo(gone.operation)
    assert values(memory) == ["Mira", "db7"]


def test_beside_another_value_that_is_believed_since_both_are_contested_then(memory):
    note = memory.remember(TOLD, facts=[HOST])
    memory.forget(note.id)
    memory.remember("The staging DB is on host db9.", facts=[{**HOST, "value": "db9"}])
    memory.remember(TOLD)
    assert values(memory) == ["db7", "db9"]
    assert len(memory.review()) == 1


def test_a_fact_that_was_forgotten_for_itself_stays_away_when_the_words_are_remembered_again(memory):
    note = memory.remember(TOLD, facts=[HOST, OWNER])
    memory.forget(next(f.id for f in memory.facts() if f.value == "Mira"))
    memory.forget(note.id)
    memory.remember(TOLD)
    assert values(memory) == ["db7"]


@pytest.mark.parametrize("verb", ["forget", "deny"])
def test_a_fact_that_something_else_says_stays_and_is_named(memory, verb):
    note = memory.remember(TOLD, facts=[HOST, OWNER])
    other = memory.remember("db7 has the staging DB since spring.", facts=[HOST])
    done = getattr(memory, verb)(note.id)
    assert [f.content for f in done.hidden_facts] == ["staging DB: owner: Mira"]
    assert [f.content for f in done.still_believed] == ["staging DB: host: db7"]
    assert values(memory) == ["db7"]
    assert [f.content for f in getattr(memory, verb)(other.id).hidden_facts] == ["staging DB: host: db7"]
    assert values(memory) == []


@pytest.mark.parametrize("verb", ["forget", "deny"])
def test_a_pinned_fact_stays(memory, verb):
    note = memory.remember(TOLD, facts=[HOST])
    memory.pin(memory.facts()[0].id)
    done = getattr(memory, verb)(note.id)
    assert [f.content for f in done.still_believed] == ["staging DB: host: db7"]
    assert done.hidden_facts == ()


@pytest.mark.parametrize("clock", [None, lambda: MOMENT], ids=["time passes", "within a millisecond"])
def test_a_restore_brings_back_only_what_went_with_it_and_asks_where_another_value_is_believed(tmp_path, clock):
    memory = perdure.open(tmp_path / "b.db", {"embedder": {"model": "none"}}, **({"clock": clock} if clock else {}))
    note = memory.remember(TOLD, facts=[HOST, OWNER])
    owner = next(f.id for f in memory.facts() if f.value == "Mira")
    memory.archive(owner, "old")
    memory.forget(note.id)
    memory.remember("The staging DB is on host db9.", facts=[{**HOST, "value": "db9"}])
    memory.restore(note.id)
    assert values(memory) == ["db7", "db9"]
    assert len(memory.review()) == 1
    memory.close()


def test_a_memory_that_a_person_drops_takes_its_facts_along(memory):
    note = memory.remember(TOLD, facts=[HOST])
    memory.used([note.id], "wrong")
    done = memory.settle(note.id, "drop")
    assert [f.content for f in done.hidden_facts] == ["staging DB: host: db7"]
    assert values(memory) == []


def test_a_model_reads_what_went_and_what_stays(memory):
    note = memory.remember(TOLD, facts=[HOST, OWNER])
    memory.remember("db7 has the staging DB since spring.", facts=[HOST])

    async def story(client):
        answer = await client.call_tool("forget", {"id": note.id})
        lines = answer.content[0].text.splitlines()
        went = lines.index("Facts archived with it, because they rest on it alone:")
        stay = lines.index("Facts that stay, because other memories say them or they are pinned:")
        assert "owner: Mira" in lines[went + 1]
        assert "host: db7" in lines[stay + 1]

    talk(over(memory, "full"), story)


def test_what_still_says_a_fact_that_is_forgotten_is_named_with_the_call_that_forgets_it_too(memory):
    note = memory.remember(TOLD, facts=[HOST])
    (fact,) = note.facts.created
    done = memory.forget(fact)
    assert [(m.id, m.content, m.says_more) for m in done.said_by] == [(note.id, TOLD, False)]
    assert memory.get(note.id).status == "active"  # what somebody wrote is not hidden unasked
    memory.undo(done.operation)

    async def story(client):
        answer = await client.call_tool("forget", {"id": fact})
        lines = answer.content[0].text.splitlines()
        at = lines.index("Still said, and shown, by:")
        assert TOLD in lines[at + 1]
        assert note.id[-8:] in lines[at + 1]
        assert lines[at + 2] == f'To forget that too: forget(id="{note.id[-8:]}")'
        await client.call_tool("forget", {"id": note.id[-8:]})

    talk(over(memory, "agent"), story)
    assert not any("db7" in hit.memory.content for hit in memory.recall(ASKED).hits)
    assert "db7" not in memory.digest()


def test_of_what_says_more_than_the_fact_an_update_is_offered_that_keeps_the_rest(memory):
    note = memory.remember("The staging DB is on host db7 and Mira owns it.", facts=[HOST, OWNER])
    (fact,) = (f.id for f in memory.facts() if f.value == "db7")

    async def story(client):
        text = (await client.call_tool("forget", {"id": fact})).content[0].text
        short = note.id[-8:]
        assert f'It says more; to keep the rest: update(id="{short}", content=...)' in text.splitlines()
        assert "To forget that too" not in text

    talk(over(memory, "agent"), story)
    again = memory.forget(fact)
    assert again.operation is None
    assert [m.says_more for m in again.said_by] == [True]


def test_at_most_three_that_say_it_are_named_and_none_that_is_hidden(memory):
    notes = [memory.remember(f"db7 hosts staging DB {i}.", facts=[HOST]).id for i in range(6)]
    memory.forget(notes[0])
    (fact,) = (f.id for f in memory.facts())
    done = memory.forget(fact)
    assert [m.id for m in done.said_by] == notes[3:]
    assert done.said_by_more == 2
    assert [m.id for m in memory.forget(notes[1]).said_by] == notes[3:]  # of a note, too


def say(memory, *texts, **keys):
    memory.ingest([{"content": text, **keys} for text in texts], session="talk")
    return {m.content: m.id for m in memory.list(kinds=["episode"], limit=100)}


ALLERGIC = "Nora is allergic to penicillin."
ALLERGY = {"subject": "Nora", "predicate": "allergy", "value": "penicillin"}


@pytest.mark.behaviour("FD46")
@pytest.mark.parametrize("verb", ["forget", "deny"])
@pytest.mark.parametrize(
    "said", [ALLERGIC, "Please remember that Nora is allergic to penicillin!", "nora is  allergic to penicillin"]
)
def test_a_message_that_says_a_notes_words_and_nothing_else_goes_with_it_and_comes_back(memory, verb, said):
    message = say(memory, said)[said]
    note = memory.remember(ALLERGIC, facts=[ALLERGY])
    before = memory.digest()
    done = getattr(memory, verb)(note.id)
    assert [(m.id, m.content) for m in done.hidden_messages] == [(message, said)]
    assert (done.said_by, done.said_by_more) == ((), 0)
    assert "penicillin" not in memory.digest()
    assert not memory.recall(ALLERGIC).hits
    memory.undo(done.operation)
    assert memory.digest() == before
    assert memory.get(message).status == "active"
    assert values(memory) == ["penicillin"]


@pytest.mark.parametrize("back", ["restore", "remember"])
def test_it_comes_back_with_the_note_too(memory, back):
    message = say(memory, ALLERGIC)[ALLERGIC]
    note = memory.remember(ALLERGIC, facts=[ALLERGY])
    memory.forget(note.id)
    getattr(memory, back)(note.id if back == "restore" else ALLERGIC)
    assert memory.get(message).status == "active"
    assert values(memory) == ["penicillin"]


def test_one_that_was_put_away_for_itself_does_not(memory):
    message = say(memory, ALLERGIC)[ALLERGIC]
    note = memory.remember(ALLERGIC)
    memory.archive(message, "old")
    memory.forget(note.id)
    memory.restore(note.id)
    assert memory.get(message) is None


@pytest.mark.parametrize("verb", ["forget", "deny"])
@pytest.mark.parametrize(
    ("said", "note", "fact", "says_more"),
    [
        ("The client wants all invoices in USD dollars.", "The client wants invoices in USD.", None, False),
        ("Mia hat mittwochs Chor.", "Mia hat mittwochs Chorprobe.", ("Mia", "Chorprobe", "Mittwoch"), False),
        ("We decided to host on Hetzner.", "Decision: we host on Hetzner.", ("project", "hosting", "Hetzner"), False),
        ("Nora is allergic to penicillin, and Ben hates olives.", ALLERGIC, ("Nora", "allergy", "penicillin"), True),
    ],
)
def test_a_message_that_says_it_in_other_words_stays_and_is_named(memory, verb, said, note, fact, says_more):
    message = say(memory, said, "The client pays on Fridays.", "Nora is allergic to nuts.")[said]
    keys = ("subject", "predicate", "value")
    kept = memory.remember(note, facts=[dict(zip(keys, fact, strict=True))] if fact else ())
    done = getattr(memory, verb)(kept.id)
    assert done.hidden_messages == ()
    assert [(m.id, m.content, m.says_more) for m in done.said_by] == [(message, said, says_more)]
    assert memory.get(message).status == "active"


@pytest.mark.parametrize(
    "said",
    [
        {"content": "Nora is not allergic to penicillin."},
        {"content": "Is Nora allergic to penicillin?", "role": "assistant"},
    ],
)
def test_what_denies_or_asks_it_is_neither_hidden_nor_named(memory, said):
    say(memory, said["content"], role=said.get("role", "user"))
    done = memory.forget(memory.remember(ALLERGIC).id)
    assert (done.hidden_messages, done.said_by) == ((), ())


@pytest.mark.parametrize("keys", [{"speaker": "Ben"}, {"role": "assistant"}], ids=["another person", "the assistant"])
def test_what_somebody_else_says_in_the_same_words_stays_and_is_named(memory, keys):
    message = say(memory, ALLERGIC, **keys)[ALLERGIC]
    done = memory.forget(memory.remember(ALLERGIC).id)
    assert [m.id for m in done.said_by] == [message]
    assert done.hidden_messages == ()


def test_a_message_of_other_small_words_stays(memory):
    message = say(memory, "Nora may have to leave before Ben.")["Nora may have to leave before Ben."]
    done = memory.forget(memory.remember("Nora may have to leave after Ben.").id)
    assert done.hidden_messages == ()
    assert memory.get(message).status == "active"


def test_the_same_value_of_another_thing_is_not_named(memory):
    say(memory, "The host 1999 of the plant listens on port 9999.")
    port = {"subject": "host 77", "predicate": "port", "value": "9999"}
    note = memory.remember("The host 77 of the yard has the port 9999.", facts=[port])
    assert memory.forget(note.id).said_by == ()


def test_a_pinned_message_stays_and_is_named(memory):
    message = say(memory, ALLERGIC)[ALLERGIC]
    memory.pin(message)
    done = memory.forget(memory.remember(ALLERGIC).id)
    assert [m.id for m in done.said_by] == [message]


def test_a_person_who_drops_a_note_drops_its_words_as_a_message_too(memory):
    message = say(memory, ALLERGIC)[ALLERGIC]
    note = memory.remember(ALLERGIC, facts=[ALLERGY])
    memory.used([note.id], "wrong")
    done = memory.settle(note.id, "drop")
    assert [m.id for m in done.hidden_messages] == [message]


def test_a_model_reads_what_still_says_a_note_and_how_that_is_forgotten(memory):
    said = "We decided to host on Hetzner."
    message = say(memory, said, ALLERGIC)[said]
    notes = [memory.remember(text).id for text in ("Decision: we host on Hetzner.", ALLERGIC)]

    async def story(client):
        lines = (await client.call_tool("forget", {"id": notes[0]})).content[0].text.splitlines()
        at = lines.index("Still said, and shown, by:")
        assert said in lines[at + 1]
        assert lines[at + 2] == f'To forget that too: forget(id="{message[-8:]}")'
        lines = (await client.call_tool("forget", {"id": notes[1]})).content[0].text.splitlines()
        assert ALLERGIC in lines[lines.index("Messages hidden with it, because they say its words:") + 1]

    talk(over(memory, "agent"), story)


def test_a_fact_that_a_note_and_its_own_words_as_a_message_say_goes_with_both(tmp_path):
    memory = perdure.open(tmp_path / "c.db", {"embedder": {"model": "none"}, "preset": "facts"})
    said = "Remember that Gai Media prefers Friday deliveries."
    message = say(memory, said)[said]
    (fact,) = (f.id for f in memory.facts())
    note = memory.remember(
        "Gai Media prefers Friday deliveries.",
        facts=[{"subject": "Gai Media", "predicate": "delivery_day_preference", "value": "Friday"}],
    )
    done = memory.forget(note.id)
    assert [m.id for m in done.hidden_messages] == [message]
    assert [f.id for f in done.hidden_facts] == [fact]
    assert memory.facts() == []
    memory.restore(note.id)
    assert [f.id for f in memory.facts()] == [fact]
    assert memory.get(message).status == "active"
    memory.close()
