"""A later statement that makes an earlier one untrue, without saying so: stored, shown first, the other left out."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from html import unescape
from io import StringIO

import pytest
from rich.console import Console
from starlette.applications import Starlette

import perdure
from conftest import Clock
from interfaces.pages.browsing import Browser, Hand
from perdure.interfaces import pages
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views.model import render_text
from perdure.interfaces.views.terminal import draw
from perdure.models import inference
from perdure.operations import reembed
from perdure.records.errors import EmbedderError

pytest.importorskip("onnxruntime")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAGSTER = "We're going for Dagster as the scheduler"
AIRFLOW = "Airflow it is, nobody wants to run a second scheduler for one team"
PORT = "The staging database listens on port 5433"
SISTER = "My sister Ada works at a bakery in Leeds"
BROTHER = "My brother Tom works at a bank in Leeds"


@pytest.fixture
def clock():
    return Clock(START)


@pytest.fixture
def opened(tmp_path, clock):
    memories = []

    def open_store(policy=None, embedder="local", name="talk.db"):
        given = policy or {}
        knowledge = {"superseded_from": 0.6, **given.get("knowledge", {})}  # what happens to links, however sure
        given = {**given, "knowledge": knowledge}
        memories.append(perdure.open(tmp_path / name, policy=given, clock=clock, embedder=embedder))
        return memories[-1]

    yield open_store
    for memory in memories:
        memory.close()


def say(memory, clock, *texts, days=7, role="user", **given):
    """Let a week pass before each message."""
    for text in texts:
        clock.now += timedelta(days=days)
        memory.ingest([{"content": text, "role": role, "at": clock.now}], **given)


def texts(answer):
    return [hit.memory.content for hit in answer.hits]


def links(memory, text):
    (identity,) = (m.id for m in memory.list(limit=50, include_archived=True) if m.content == text)
    return {kind for kind, *_ in memory.why(identity).links}


def test_recall_shows_the_later_statement_first_and_links_the_two(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER, PORT, AIRFLOW)
    answer = memory.recall("Which scheduler are we going for?", touch=False)
    assert texts(answer)[:2] == [AIRFLOW, DAGSTER]
    later, earlier = answer.hits[:2]
    assert later.memory.id in earlier.newer
    assert earlier.memory.id in later.older
    assert "likely_supersedes" in links(memory, AIRFLOW)
    assert "likely_superseded_by" in links(memory, DAGSTER)


def test_a_later_statement_is_shown_where_no_word_or_meaning_of_the_question_brings_it_up(opened, clock):
    memory = opened({"recall": {"hit_share": 0.9}})
    say(memory, clock, DAGSTER, PORT, AIRFLOW)
    assert texts(memory.recall("Dagster", touch=False, limit=2))[0] == AIRFLOW


def test_a_question_about_the_past_keeps_the_order(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER, AIRFLOW)
    assert texts(memory.recall("Which scheduler did we go for before, originally Dagster?", touch=False))[0] == DAGSTER


def test_the_default_policy_links_what_the_model_is_sure_of(tmp_path, clock):
    aws, hetzner = "We host on AWS", "Hetzner it is, AWS got too expensive"
    with perdure.open(tmp_path / "default.db", policy={}, clock=clock, embedder="local") as memory:
        say(memory, clock, aws, PORT, hetzner)
        assert texts(memory.recall("Who hosts our servers?", touch=False))[:2] == [hetzner, aws]
        assert aws not in memory.digest()


def test_memory_md_and_a_session_start_leave_out_what_is_over(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER, PORT, AIRFLOW)
    for text in (memory.digest(), memory.agent.opening("next", "default")):
        assert "Airflow" in text
        assert "5433" in text
        assert "Dagster" not in text


def test_a_later_statement_that_is_forgotten_makes_nothing_untrue(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER, AIRFLOW)
    memory.forget(next(m.id for m in memory.list() if m.content == AIRFLOW))
    assert "Dagster" in memory.digest()
    assert texts(memory.recall("Which scheduler are we going for?", touch=False)) == [DAGSTER]


def test_a_prompt_is_not_shown_what_is_over(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER, AIRFLOW)
    shown = memory.agent.beside("Add a nightly job to our scheduler", "next", "default")
    assert "Airflow" in shown
    assert "Dagster" not in shown


def test_things_of_one_kind_that_both_hold_stay(opened, clock):
    memory = opened()
    say(memory, clock, SISTER, BROTHER)
    assert links(memory, SISTER) == links(memory, BROTHER) == set()


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_what_others_say_makes_nothing_untrue(opened, clock, role):
    memory = opened()
    say(memory, clock, DAGSTER)
    say(memory, clock, AIRFLOW, role=role)
    assert "likely_superseded_by" not in links(memory, DAGSTER)


def test_a_note_makes_an_earlier_message_untrue(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER)
    clock.now += timedelta(days=7)
    memory.remember(AIRFLOW)
    assert "likely_superseded_by" in links(memory, DAGSTER)
    assert "Dagster" not in memory.digest()


def test_a_note_that_a_message_makes_untrue_stays_listed_behind_it(opened, clock):
    memory = opened()
    memory.remember(DAGSTER)
    say(memory, clock, AIRFLOW)
    assert "likely_superseded_by" in links(memory, DAGSTER)
    assert texts(memory.recall("Which scheduler are we going for?", touch=False))[:2] == [AIRFLOW, DAGSTER]
    assert "Dagster" in memory.digest()


def test_vectors_that_are_made_later_are_judged_then(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER, AIRFLOW, embed="later")
    assert "likely_superseded_by" not in links(memory, DAGSTER)
    memory.upkeep("worker", eager=True)
    assert "likely_superseded_by" in links(memory, DAGSTER)


def test_a_bulk_of_messages_is_judged_when_reembed_makes_its_vectors(opened, clock):
    memory = opened()
    memory.ingest([{"content": text, "role": "user", "at": START} for text in (DAGSTER, PORT, AIRFLOW)], embed="later")
    memory.reembed()
    assert "likely_superseded_by" in links(memory, DAGSTER)


def test_messages_taken_in_at_once_are_compared_with_each_other(opened, clock):
    memory = opened()
    memory.ingest([{"content": text, "role": "user", "at": START} for text in (DAGSTER, PORT, AIRFLOW)])
    assert "likely_superseded_by" in links(memory, DAGSTER)


def test_a_message_of_an_earlier_day_that_is_taken_in_later_is_the_earlier_one(opened, clock):
    memory = opened()
    say(memory, clock, AIRFLOW)
    memory.ingest([{"content": DAGSTER, "role": "user", "at": START}])
    assert "likely_superseded_by" in links(memory, DAGSTER)


def test_undo_takes_the_links_back_with_the_message(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER)
    clock.now += timedelta(days=7)
    done = memory.ingest([{"content": AIRFLOW, "role": "user", "at": clock.now}])
    assert "Dagster" not in memory.digest()
    for operation in reversed(done.operations):
        memory.undo(operation)
    assert links(memory, DAGSTER) == set()
    assert "Dagster" in memory.digest()


@pytest.mark.parametrize("policy", [{"supersession": "off"}, {"watch": False}])
def test_it_can_be_switched_off(opened, clock, policy):
    memory = opened({"knowledge": policy})
    say(memory, clock, DAGSTER, AIRFLOW)
    assert links(memory, DAGSTER) == set()


def near_vectors(texts):
    """Return vectors that are near each other."""
    return [[1.0, len(text) / 100] for text in texts]


def test_another_embedder_has_it_where_the_policy_says_so(opened, clock):
    for policy, expected in (({}, False), ({"knowledge": {"supersession": "local"}}, True)):
        memory = opened(policy, near_vectors, f"{expected}.db")
        say(memory, clock, DAGSTER, AIRFLOW)
        assert ("likely_superseded_by" in links(memory, DAGSTER)) is expected


def test_a_broken_model_is_told_and_everything_is_stored(opened, clock, monkeypatch):
    def refuse():
        raise EmbedderError("The weights cannot be read.", remedy="Reinstall.")

    memory = opened()
    monkeypatch.setattr(inference, "supersession_weights", refuse)
    say(memory, clock, DAGSTER)
    with pytest.warns(perdure.PerdureWarning, match="not compared with earlier ones"):
        say(memory, clock, AIRFLOW)
    assert len(memory.list()) == 2


def test_what_takes_too_long_is_left_out_and_told(opened, clock, monkeypatch):
    run = inference.run_session

    def slow(session, output, inputs):
        if output == "superseded":
            time.sleep(0.4)
        return run(session, output, inputs)

    memory = opened()
    say(memory, clock, DAGSTER)
    said = [f"{AIRFLOW}, said the {n}th person on the team who was asked about it" for n in range(40)]
    monkeypatch.setattr(inference, "run_session", slow)
    with pytest.warns(perdure.PerdureWarning, match="not compared with earlier ones: half of the call's time was over"):
        memory.within(10).ingest([{"content": text, "role": "user", "at": clock.now} for text in said])
    assert len(memory.list(limit=500)) == 41


PREFECT = "We dropped Airflow: Prefect runs everything now"
KUBERNETES = "Airflow 3 runs on Kubernetes"


def test_what_makes_a_later_statement_untrue_in_turn_is_shown_first(opened, clock):
    memory = opened({"recall": {"hit_share": 0.9}})
    say(memory, clock, DAGSTER, AIRFLOW, PREFECT)
    for limit in (1, 3):
        assert texts(memory.recall("Dagster", touch=False, limit=limit)) == [PREFECT, AIRFLOW, DAGSTER][:limit]


def test_a_note_that_is_updated_still_makes_untrue_what_it_did(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER)
    clock.now += timedelta(days=7)
    note = memory.remember(AIRFLOW)
    assert "likely_superseded_by" in links(memory, DAGSTER)
    done = memory.update(note.id, KUBERNETES)
    assert "likely_supersedes" not in links(memory, KUBERNETES)
    assert "Dagster" not in memory.digest()
    assert texts(memory.recall("Which scheduler are we going for?", touch=False)) == [KUBERNETES, DAGSTER]
    memory.undo(done.operation)
    assert "Dagster" not in memory.digest()


def test_a_note_that_is_remembered_again_is_not_untrue(opened, clock):
    memory = opened()
    for text in (DAGSTER, AIRFLOW):
        memory.remember(text)
        clock.now += timedelta(days=7)
    assert "likely_superseded_by" in links(memory, DAGSTER)
    again = memory.remember(DAGSTER)
    assert "likely_superseded_by" not in links(memory, DAGSTER)
    assert texts(memory.recall("Which scheduler are we going for?", touch=False))[0] == DAGSTER
    memory.undo(again.operation)
    assert "likely_superseded_by" in links(memory, DAGSTER)


def test_a_message_that_is_sent_again_with_its_id_is_still_untrue(opened, clock):
    memory = opened()
    told = [{"content": DAGSTER, "role": "user", "at": clock.now, "id": "1"}]
    memory.ingest(told)
    say(memory, clock, AIRFLOW)
    memory.ingest(told)
    assert "likely_superseded_by" in links(memory, DAGSTER)


def test_a_statement_that_was_said_again_holds_also_when_both_become_one(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER, AIRFLOW, DAGSTER)
    memory.consolidate("default", similarity_threshold=0.9, dry_run=True)
    assert memory.consolidate("default", similarity_threshold=0.9, dry_run=False).memories_merged == 1
    assert "Dagster" in memory.digest()


def test_switching_it_off_later_turns_off_what_was_found(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER, AIRFLOW)
    assert "Dagster" not in memory.digest()
    memory.close()
    off = opened({"knowledge": {"supersession": "off"}})
    assert "Dagster" in off.digest()
    assert not any(hit.newer for hit in off.recall("Which scheduler are we going for?", touch=False).hits)


@pytest.mark.parametrize("batch", [1, 2, 256])
def test_making_vectors_counts_vectors_alone_and_compares_all_of_them(opened, clock, monkeypatch, batch):
    monkeypatch.setattr(reembed, "BATCH", batch)
    memory = opened()
    memory.ingest([{"content": text, "role": "user", "at": START} for text in (DAGSTER, PORT, AIRFLOW)], embed="later")
    told = []
    assert memory.reembed(progress=lambda *progress: told.append(progress)).embedded == 3
    assert told[-1] == (3, 3)
    assert "likely_superseded_by" in links(memory, DAGSTER)


def test_vectors_that_upkeep_makes_are_counted_without_links(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER, AIRFLOW, embed="later")
    assert "2 vectors made" in [run.note for run in memory.upkeep("worker", eager=True).runs]
    assert "likely_superseded_by" in links(memory, DAGSTER)


def test_a_later_statement_that_is_reported_wrong_makes_nothing_untrue(opened, clock):
    memory = opened()
    say(memory, clock, DAGSTER, AIRFLOW)
    later = memory.recall("Which scheduler are we going for?").hits[0].memory
    assert later.content == AIRFLOW
    done = memory.used([later.id], outcome="wrong")
    assert "Dagster" in memory.digest()
    for operation in done.operations:
        memory.undo(operation)
    assert "Dagster" not in memory.digest()


@pytest.fixture
def linked(opened, clock):
    """Return a store with an earlier note and a later one that likely makes it untrue, and the two."""
    memory = opened()
    earlier = memory.remember(DAGSTER)
    clock.now += timedelta(days=7)
    later = memory.remember(AIRFLOW)
    assert "likely_superseded_by" in links(memory, DAGSTER)
    return memory, earlier.memory, later.memory


def test_why_says_of_the_earlier_one_that_it_is_likely_untrue_and_of_the_later_one_what_it_ends(linked):
    memory, earlier, later = linked
    why = memory.why(later.id)
    assert f"likely makes {earlier.id[-8:]} untrue" in why.history[-1].because
    assert "no longer true" not in why.summary
    said = memory.why(earlier.id).summary
    for part in (
        "Likely no longer true",
        later.id[-8:],
        "2026-03-09",
        AIRFLOW,
        "a chance of 0.",
        "MEMORY.md",
        "confirm",
    ):
        assert part in said


def test_every_door_says_what_is_likely_untrue_and_how_to_keep_it(linked):
    memory, earlier, later = linked
    why = memory.why(earlier.id)
    person = StringIO()
    draw(Console(file=person, width=500), view_of(why, Request("why")))
    model = render_text(view_of(why, Request("why")))
    page = Browser(Hand(Starlette(routes=pages.routes()), memory)).get("/memory", params={"id": earlier.id}).text
    for told in (person.getvalue(), model, unescape(page)):
        assert f"Likely no longer true: {later.id[-8:]} of 2026-03-09" in told
        assert AIRFLOW in told
    assert f"perdure confirm {earlier.id[-8:]}" in person.getvalue()
    assert f'review(id="{earlier.id[-8:]}", verdict="confirm")' in model
    assert "verb=confirm" in unescape(page)


def test_what_a_person_confirms_is_not_untrue(linked):
    memory, earlier, later = linked
    with pytest.raises(perdure.PerdureError, match="use `confirm` instead"):
        memory.both(earlier.id)
    done = memory.confirm(earlier.id)
    assert done.links_removed_from == (later.id,)
    assert f"Removed the links that call it untrue, of {later.id[-8:]}." in render_text(
        view_of(done, Request("confirm"))
    )
    assert any("a person confirmed it" in entry.because for entry in memory.why(earlier.id).history)
    assert "likely_superseded_by" not in links(memory, DAGSTER)
    assert "Likely no longer true" not in memory.why(earlier.id).summary
    answer = memory.recall("Which scheduler are we going for?", touch=False)
    assert not any(hit.newer for hit in answer.hits)
    memory.undo(done.operation)
    assert "likely_superseded_by" in links(memory, DAGSTER)


def test_remembering_again_says_whose_links_it_turned_round(linked, clock):
    memory, earlier, later = linked
    clock.now += timedelta(days=7)
    done = memory.remember(DAGSTER)
    assert (done.links_removed_from, done.links_turned_round) == ((), (later.id,))
    told = f"It was called untrue by what it now calls untrue, being said later: {later.id[-8:]}."
    assert told in render_text(view_of(done, Request("remember")))
    clock.now += timedelta(days=7)
    (again,) = memory.remember_many([{"content": AIRFLOW}])
    assert again.links_turned_round == (earlier.id,)
    assert memory.remember(AIRFLOW).links_turned_round == ()


def test_a_list_that_remembers_the_same_words_twice_turns_their_links_round_once(linked, clock):
    memory, earlier, later = linked
    clock.now += timedelta(days=7)
    first, second = memory.remember_many([{"content": DAGSTER}, {"content": DAGSTER}])
    assert (first.id, first.links_turned_round) == (earlier.id, (later.id,))
    assert (second.id, second.changed) == (earlier.id, False)
    assert "likely_superseded_by" in links(memory, AIRFLOW)
    memory.undo(first.operation)
    assert "likely_superseded_by" in links(memory, DAGSTER)
    assert memory.check(full=True) == []


def test_replies_name_what_took_the_place_of_the_one_that_called_it_untrue(linked, clock):
    memory, earlier, later = linked
    clock.now += timedelta(days=7)
    updated = memory.update(later.id, KUBERNETES)
    for call in (lambda: memory.confirm(earlier.id), lambda: memory.remember(DAGSTER)):
        clock.now += timedelta(days=7)
        done = call()
        assert done.links_removed_from == (updated.id,)
        assert done.links_turned_round == ()
        memory.undo(done.operation)
    memory.forget(updated.id)  # what is hidden makes nothing untrue, so nothing is to be told
    assert memory.confirm(earlier.id).links_removed_from == ()


def test_an_update_to_words_that_were_called_untrue_says_so(linked, clock):
    memory, _, later = linked
    clock.now += timedelta(days=7)
    other = memory.remember("The lift is out of order")
    assert memory.update(other.id, DAGSTER).links_turned_round == (later.id,)


@pytest.mark.parametrize("how", ["confirm", "remember"])
def test_an_answer_as_of_before_has_the_links_of_then(linked, clock, how):
    memory, earlier, later = linked
    before = clock.now
    clock.now += timedelta(days=7)

    def marks(**time):
        hits = memory.recall("Which scheduler are we going for?", touch=False, **time).hits
        return [(hit.memory.id, hit.newer, hit.older) for hit in hits]

    former = [(later.id, (), (earlier.id,)), (earlier.id, (later.id,), ())]
    assert marks() == marks(as_of=before) == former
    memory.confirm(earlier.id) if how == "confirm" else memory.remember(DAGSTER)
    clock.now += timedelta(days=1)
    assert marks()[0][0] == earlier.id
    assert marks() != former
    for when in ("as_of", "known_at"):
        assert marks(**{when: before}) == former
        assert marks(**{when: clock.now}) == marks()


def test_a_later_number_of_the_same_thing_stands_behind_the_one_that_was_confirmed(opened, clock):
    old, new = "The API port is 8081", "The API port is 9000"
    memory = opened()
    ids = []
    for text in (old, new):
        ids.append(memory.remember(text).id)
        clock.now += timedelta(days=1)
    assert texts(memory.recall("What is the API port?", touch=False)) == [new, old]
    memory.confirm(ids[0])
    clock.now += timedelta(days=1)
    hits = memory.recall("What is the API port?", touch=False).hits
    assert [(hit.memory.content, hit.newer, hit.older) for hit in hits] == [
        (old, (), (ids[1],)),
        (new, (ids[0],), ()),
    ]
    shown = memory.digest()
    assert shown.index("8081") < shown.index("9000")


def test_why_shows_no_link_that_does_not_count_any_longer(linked, opened):
    memory, earlier, later = linked
    done = memory.used([later.id], outcome="wrong")
    assert "likely_superseded_by" not in links(memory, DAGSTER)
    assert "Likely no longer true" not in memory.why(earlier.id).summary
    memory.undo(done.operations[0])
    assert "likely_superseded_by" in links(memory, DAGSTER)
    memory.close()
    off = opened({"knowledge": {"supersession": "off"}})
    assert "likely_superseded_by" not in links(off, DAGSTER)
    assert "likely_supersedes" not in links(off, AIRFLOW)


def test_what_is_remembered_again_makes_untrue_what_was_said_between(opened, clock):
    tuesdays, thursdays = "We deploy on Tuesdays.", "We deploy on Thursdays."
    memory = opened()
    first = memory.remember(tuesdays)
    clock.now += timedelta(days=7)
    between = memory.remember(thursdays)
    assert "likely_superseded_by" in links(memory, tuesdays)
    clock.now += timedelta(days=7)
    again = memory.remember(tuesdays)
    assert again.id == first.id
    assert "likely_superseded_by" in links(memory, thursdays)
    hits = memory.recall("When do we deploy?", touch=False).hits
    assert [h.memory.id for h in hits] == [first.id, between.id]
    assert (hits[0].newer, hits[0].older, hits[1].newer) == ((), (between.id,), (first.id,))
    assert memory.remember(tuesdays).operation is None  # nothing was said since
    memory.undo(again.operation)
    assert "likely_superseded_by" in links(memory, tuesdays)
    assert "likely_superseded_by" not in links(memory, thursdays)


def test_what_is_remembered_again_as_of_an_earlier_day_is_still_untrue(linked, clock):
    memory, _, _ = linked
    clock.now += timedelta(days=7)
    memory.remember(DAGSTER, at=clock.now - timedelta(days=10))
    assert "likely_superseded_by" in links(memory, DAGSTER)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The staging server listens on port 8081.", "The production server listens on port 8082."),
        ("The read timeout is 30 seconds.", "The write timeout is 10 seconds."),
        ("Kunde Schulz läuft auf Version 1.6.", "Kunde Meyer ist jetzt auf Version 1.5."),
        ("Phase 1 ends on 12 May.", "Phase 2 ends on 20 May."),
    ],
)
def test_another_number_of_another_thing_takes_no_message_from_the_summary(opened, clock, earlier, later):
    memory = opened({"knowledge": {"supersession": "off"}})
    say(memory, clock, earlier, later)
    shown = memory.digest()
    assert earlier in shown
    assert later in shown


def test_where_the_model_judges_an_exception_hides_no_habit(opened, clock):
    memory = opened()
    say(memory, clock, "Standup is at 9:30.", "Tomorrow's standup is at 11.")
    assert "9:30" in memory.digest()


def test_another_number_of_the_same_thing_does(opened, clock):
    memory = opened({"knowledge": {"supersession": "off"}})
    say(memory, clock, "The API listens on port 8081.", "The API now listens on port 8082.")
    shown = memory.digest()
    assert "8081" not in shown
    assert "8082" in shown


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The backend is in Go, the frontend in React and the database is Postgres.", "The frontend is now in Svelte."),
        ("Staging is on port 8081 and prod is on port 8082.", "Staging moved to port 9000."),
        ("Our stack is Django, Postgres and React.", "We switched from Django to FastAPI."),
    ],
)
def test_a_change_of_one_part_leaves_the_statement_in_the_summary(opened, clock, earlier, later):
    memory = opened({"knowledge": {"superseded_from": 0.3}})
    say(memory, clock, earlier, later)
    assert earlier in memory.digest()


ZLIB = "We compress the payloads with zlib"
ZSTD = "Swapped zlib out for zstd, it is twice as fast"


def test_what_a_statement_may_make_untrue_is_not_shown_without_it(opened, clock):
    memory = opened({"knowledge": {"superseded_from": 0.95}, "recall": {"hit_share": 0.9}})
    say(memory, clock, ZLIB, PORT, ZSTD)
    earlier, later = memory.recall("What do we use on the payloads?", touch=False).hits
    assert (earlier.memory.content, later.memory.content) == (ZLIB, ZSTD)
    assert later.memory.id in earlier.newer
    assert earlier.memory.id in later.older
    assert later.relevance < earlier.relevance
    assert "may_supersede" in links(memory, ZSTD)
    assert "may_be_superseded_by" in links(memory, ZLIB)
    memory.undo("last")
    assert texts(memory.recall("What do we use on the payloads?", touch=False)) == [ZLIB]


def test_a_question_about_the_past_brings_nothing_in_that_may_be_newer(opened, clock):
    memory = opened({"knowledge": {"superseded_from": 0.95}, "recall": {"hit_share": 0.9}})
    say(memory, clock, ZLIB, PORT, ZSTD)
    assert texts(memory.recall("What did we use on the payloads before?", touch=False)) == [ZLIB]


def test_what_is_confirmed_is_no_longer_said_to_be_possibly_untrue(opened, clock):
    memory = opened({"knowledge": {"superseded_from": 0.95}, "recall": {"hit_share": 0.9}})
    say(memory, clock, ZLIB, PORT, ZSTD)
    (kept,) = (m.id for m in memory.list() if m.content == ZLIB)
    done = memory.confirm(kept)
    assert done.links_removed_from == ()  # a reply tells of links that were likely
    assert texts(memory.recall("What do we use on the payloads?", touch=False)) == [ZLIB]
    memory.undo(done)
    assert texts(memory.recall("What do we use on the payloads?", touch=False)) == [ZLIB, ZSTD]


def test_below_the_least_chance_nothing_is_linked(opened, clock):
    memory = opened()
    say(memory, clock, SISTER, BROTHER)
    assert links(memory, SISTER) == links(memory, BROTHER) == set()


GYM = "gym: mondays and thursdays 18:30 at Fitmacher, membership 39,90 a month"
KITA = "Kita changed hours, pickup latest 16:00 now, fridays still 15:00"


def test_what_is_hardly_about_the_same_hides_nothing_however_sure_the_model_is(tmp_path, clock):
    with perdure.open(tmp_path / "far.db", policy={}, clock=clock, embedder="local") as memory:
        say(memory, clock, GYM, KITA)
        assert links(memory, GYM) == {"may_be_superseded_by"}
        assert texts(memory.recall("When is gym?", touch=False))[0] == GYM
        assert "Fitmacher" in memory.digest()


WEBHOOK = "The webhook of the payment provider must be answered within 5 seconds."


@pytest.mark.parametrize(
    "later",
    [
        "Jonas will write that test. Could locks hurt our payments too, and what was the time limit for the webhook?",
        "Was war noch mal das Limit für den Webhook? Jonas schreibt den Test.",
    ],
    ids=["behind", "before"],
)
def test_what_a_message_asks_makes_nothing_untrue(tmp_path, clock, later):
    with perdure.open(tmp_path / "asks.db", policy={}, clock=clock, embedder="local") as memory:
        memory.remember(WEBHOOK)
        say(memory, clock, later)
        assert not links(memory, WEBHOOK)
        assert "may say otherwise" not in memory.digest()


def test_a_change_that_stands_beside_a_question_counts(tmp_path, clock):
    aws, hetzner = "We host on AWS", "Hetzner it is, AWS got too expensive. Can you update the runbook?"
    with perdure.open(tmp_path / "both.db", policy={}, clock=clock, embedder="local") as memory:
        say(memory, clock, aws, hetzner)
        assert links(memory, aws) == {"likely_superseded_by"}


VERA = "Meeting with Vera Orlov on Monday at 9:00."
WIM = "Meeting with Wim Jansen on Tuesday at 10:00."


def test_who_is_asked_about_by_name_stands_before_somebody_else(opened, clock):
    memory = opened()
    for text in (VERA, WIM):
        clock.now += timedelta(days=1)
        memory.remember(text)
    assert "likely_superseded_by" in links(memory, VERA)  # the model takes the one for the other's end
    first, second = memory.recall("When is the meeting with Vera Orlov?", touch=False).hits
    assert [first.memory.content, second.memory.content] == [VERA, WIM]
    assert first.newer == (second.memory.id,)
    assert second.relevance < first.relevance
    assert texts(memory.recall("When is the meeting with Wim Jansen?", touch=False))[0] == WIM
    assert texts(memory.recall("When is the next meeting?", touch=False))[0] == WIM


def test_what_was_handed_over_with_facts_about_other_things_makes_nothing_untrue(opened, clock):
    memory = opened()
    told = {
        VERA: {"subject": "Vera Orlov", "predicate": "next meeting", "value": "Monday at 9:00"},
        WIM: {"subject": "Wim Jansen", "predicate": "next meeting", "value": "Tuesday at 10:00"},
    }
    for text, fact in told.items():
        clock.now += timedelta(days=1)
        memory.remember(text, facts=[fact])
    assert "may say otherwise" not in memory.digest()
    hits = memory.recall("When is the meeting?", touch=False).hits
    assert all(not hit.newer for hit in hits)
    clock.now += timedelta(days=1)
    moved = "Meeting with Vera Orlov on Wednesday at 9:00."
    memory.remember(moved, facts=[{**told[VERA], "value": "Wednesday at 9:00"}])
    first = memory.recall("When is the meeting with Vera Orlov?", touch=False).hits[0]
    assert "Wednesday" in first.memory.content


def test_what_only_may_be_untrue_stays_first_beside_a_prompt(opened, clock):
    memory = opened({"knowledge": {"superseded_from": 0.999}, "recall": {"hit_share": 0.9}})
    for text in (DAGSTER, PORT, AIRFLOW):
        clock.now += timedelta(days=1)
        memory.remember(text)
    assert "may_be_superseded_by" in links(memory, DAGSTER)
    found = texts(memory.recall("Do we run Dagster as the scheduler?", touch=False))
    assert found.index(DAGSTER) < found.index(AIRFLOW)
    shown = memory.agent.beside("Do we run Dagster as the scheduler?", "next", "default")
    assert 0 < shown.index(DAGSTER) < shown.index(AIRFLOW)
