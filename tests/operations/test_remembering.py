from __future__ import annotations

import itertools
import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import perdure
from conftest import HASHED, START, WORDS_ONLY, Clock, HashEmbedder, budget, logical, opened, tables
from perdure.records.errors import DiskFull, InvalidInput, PartlyStored


def test_the_same_words_are_stored_once_whatever_their_case_and_spaces(memory, path):
    first = memory.remember("The deploy is on  Tuesday")
    before = tables(path)
    for same in ("the DEPLOY is\ton tuesday", " The deploy\nis on Tuesday ", "The deploy is on  Tuesday"):
        assert memory.remember(same).id == first.id
    assert tables(path) == before
    assert memory.get(first.id).content == "The deploy is on  Tuesday"


@pytest.mark.parametrize("stored", ["as today", "by an earlier version"])
@pytest.mark.parametrize(("first", "again"), [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
def test_known_words_are_recognised_in_either_normal_form(memory, monkeypatch, stored, first, again):
    text = "Zoë meets Łukasz at the Café Noël in Zürich."
    with monkeypatch.context() as patch:
        if stored != "as today":
            patch.setattr("perdure.records.digests.same_words", lambda words: " ".join(words.split()).casefold())
        kept = memory.remember(unicodedata.normalize(first, text))
    assert memory.remember(unicodedata.normalize(again, text)).id == kept.id
    assert memory.get(kept.id).content == unicodedata.normalize(first, text)
    both = [unicodedata.normalize(form, "The second café") for form in (first, again)]
    assert len({outcome.id for outcome in memory.remember_many(both)}) == 1
    assert memory.check() == []
    for form in ("NFC", "NFD"):
        assert memory.recall(unicodedata.normalize(form, "Who is in Zürich?")).hits[0].memory.id == kept.id


@pytest.mark.parametrize("labels", [{}, {"tags": ["food"]}, {"importance": 0.9}])
@pytest.mark.parametrize("between", [(), ("the boat is blue",)])
def test_facts_that_come_with_known_words_are_of_the_day_on_which_they_come(opening, clock, labels, between):
    memory = opening(WORDS_ONLY)
    memory.remember("noted", facts=[{"subject": "Mia", "predicate": "likes", "value": "figs"}])
    clock.passes(days=3)
    for words in between:
        memory.remember(words)
    memory.remember("noted", facts=[{"subject": "Mia", "predicate": "likes", "value": "plums"}], **labels)
    days = {fact.value: fact.valid_from[:10] for fact in memory.facts("Mia")}
    assert days == {"figs": "2026-01-01", "plums": "2026-01-04"}


def test_facts_of_a_new_memory_are_of_its_own_day(opening, clock):
    memory = opening(WORDS_ONLY)
    clock.passes(days=3)
    likes = {"subject": "Mia", "predicate": "likes", "value": "figs"}
    memory.remember("noted", facts=[likes], at=datetime(2025, 12, 1, tzinfo=UTC))
    assert memory.facts("Mia")[0].valid_from[:10] == "2025-12-01"


@pytest.mark.parametrize("other", [{"session": "s"}, {"task": "t"}, {"kind": "procedure"}, {"kind": "episode"}])
def test_the_same_words_elsewhere_are_another_memory(memory, other):
    first = memory.remember("the deploy is on tuesday")
    assert memory.remember("the deploy is on tuesday", **other).id != first.id


def test_an_episode_may_happen_again(memory):
    assert memory.remember("he laughed", kind="episode").id != memory.remember("he laughed", kind="episode").id


def test_remembering_what_was_archived_shows_it_again(opening, clock):
    for embedder in (None, HashEmbedder()):
        memory = opening(embedder=embedder, at=":memory:")
        kept = memory.remember("the deploy is on tuesday")
        memory.archive(kept.id, "test")
        clock.passes(days=400)
        again = memory.remember("The deploy is on TUESDAY")
        assert (again.id, again.memory.status) == (kept.id, "active")
        assert [e.operation for e in memory.history(kept.id)] == ["remember", "archive", "remember"]
        assert memory.recall("deploy tuesday").hits[0].memory.id == kept.id
        memory.sweep()
        assert memory.get(kept.id).status == "active"


MORE = {"tags": ["b", "c"], "metadata": {"owner": "Ana", "room": 2}, "importance": 0.9, "pinned": True}


@pytest.mark.parametrize("archived", [False, True])
def test_known_words_take_over_what_is_new_in_one_operation(memory, path, archived):
    first = memory.remember("The deploy is on Tuesday", tags=["a", "b"], metadata={"owner": "Jo", "floor": 1})
    if archived:
        memory.archive(first.id, "test")
    before = logical(path)
    again = memory.remember("the deploy is on tuesday", **MORE)
    assert (again.id, again.changed, again.operation) == (first.id, True, memory.history()[0].id)
    kept = memory.get(first.id)
    assert kept == again.memory
    assert (kept.content, set(kept.tags)) == ("The deploy is on Tuesday", {"a", "b", "c"})
    assert kept.metadata == {"owner": "Ana", "floor": 1, "room": 2}
    assert (kept.importance, kept.pinned, kept.status) == (0.9, True, "active")
    because = memory.history(first.id)[-1].because
    assert all(part in because for part in ("tags c", "metadata", "importance 0.700 to 0.900", "pinned"))
    assert [m.id for m in memory.list(tags=["a", "c"])] == [first.id]
    memory.undo(again.operation)
    assert logical(path) == before


@pytest.mark.parametrize("name", MORE)
def test_each_label_alone_is_taken_over_and_taken_back(memory, path, name):
    first = memory.remember("The deploy is on Tuesday", tags=["a"], metadata={"owner": "Jo"})
    before = logical(path)
    again = memory.remember("the deploy is on tuesday", **{name: MORE[name]})
    assert again.changed
    assert again.memory != first.memory
    memory.undo(again.operation)
    assert logical(path) == before


def test_known_words_with_nothing_new_change_nothing(memory, path):
    first = memory.remember("The deploy is on Tuesday", **MORE)
    before = tables(path)
    less = memory.remember("the deploy is on tuesday", tags=["c"], metadata={"room": 2}, importance=0.2)
    assert (less.id, less.changed, less.operation) == (first.id, False, None)
    assert tables(path) == before


def test_a_known_key_takes_nothing_over(memory, path):
    first = memory.remember("The deploy is on Tuesday", idempotency_key="k")
    before = tables(path)
    again = memory.remember("The deploy is on Tuesday", idempotency_key="k", **MORE)
    assert (again.id, again.changed) == (first.id, False)
    assert tables(path) == before


def test_a_key_that_known_words_are_given_is_kept_and_taken_back(memory, path):
    first = memory.remember("The deploy is on Tuesday", idempotency_key="a")
    before = logical(path)
    again = memory.remember("the deploy is on tuesday", idempotency_key="b")
    assert (again.id, again.changed) == (first.id, True)
    assert memory.remember("the deploy is on tuesday", idempotency_key="b", **MORE).changed is False
    memory.undo(again.operation)
    assert logical(path) == before
    assert memory.remember("Another text", idempotency_key="b").id != first.id


@pytest.mark.parametrize("keys", [(None, "b"), ("a", "b")])
def test_every_key_of_the_same_words_in_a_batch_is_kept(memory, keys):
    items = [{"content": "one", "idempotency_key": key} for key in keys]
    (one, two) = memory.remember_many(items)
    assert (one.id, one.changed, two.changed) == (two.id, True, False)
    memory.update(one.id, "two")
    for key in filter(None, keys):
        assert memory.remember("one", idempotency_key=key).id == one.id


def test_the_same_words_in_a_batch_are_one_memory_with_the_labels_of_all(memory):
    one, two = memory.remember_many([{"content": "one", "tags": ["a"]}, {"content": "ONE", **MORE}])
    assert (one.id, one.changed, two.changed) == (two.id, True, False)
    assert (set(one.memory.tags), one.memory.importance, one.memory.pinned) == ({"a", "b", "c"}, 0.9, True)


def test_more_labels_than_are_allowed_are_refused_and_change_nothing(memory, path):
    memory.remember("one", tags=[str(n) for n in range(60)])
    before = tables(path)
    with pytest.raises(InvalidInput, match="65 tags"):
        memory.remember("one", tags=[f"more {n}" for n in range(5)])
    assert tables(path) == before


@pytest.mark.parametrize(("first", "again"), [({}, {"source": "https://a.example"}), ({"source": "web:a"}, {})])
def test_whose_word_it_is_does_not_change_because_somebody_repeats_it(memory, first, again):
    kept = memory.remember("The deploy is on Tuesday", **first).memory
    assert memory.remember("The deploy is on Tuesday", **again).memory.metadata == kept.metadata


def hide(memory, kept, clock, way):
    """Take a memory out of view."""
    if way == "archived":
        memory.archive(kept.id, "test")
    elif way == "superseded":
        memory.update(kept.id, "The deploy is on Friday.")
    elif way == "consolidated":
        clock.passes(days=1)
        memory.remember(kept.memory.content.rstrip("."))
        for dry_run in (True, False):
            memory.consolidate("default", strategy="keep_newest", dry_run=dry_run)


@pytest.mark.parametrize("status", ["active", "archived", "superseded", "consolidated"])
def test_a_known_key_stands_for_its_text_and_no_other(opening, clock, path, status):
    memory = opening(HASHED, HashEmbedder())
    first = memory.remember("The deploy of the harbour server is on Tuesday.", idempotency_key="note-1")
    hide(memory, first, clock, status)
    assert memory.get(first.id, include_archived=True).status == status
    before = tables(path)
    for refused in (
        lambda: memory.remember("The harbour has a new crane.", idempotency_key="note-1"),
        lambda: memory.remember_many([{"content": "The harbour has a new crane.", "idempotency_key": "note-1"}]),
    ):
        with pytest.raises(InvalidInput, match=r"^The idempotency key 'note-1' was used for another text\.") as caught:
            refused()
        assert caught.value.remedy == "Use a key of its own for each text."
    assert tables(path) == before
    again = memory.remember("the deploy of the  harbour server is on TUESDAY.", idempotency_key="note-1")
    assert again.id == first.id
    assert memory.remember("The harbour has a new crane.", idempotency_key="note-2").id != first.id


@pytest.mark.parametrize("at", [2, 700])
def test_a_list_with_a_known_key_and_another_text_is_refused_as_a_whole(memory, path, at):
    memory.remember("The deploy is on Tuesday", idempotency_key="note-1")
    before = tables(path)
    items = [{"content": f"episode {n}", "kind": "episode"} for n in range(1, at)]
    with pytest.raises(InvalidInput, match=rf"^Item {at}: The idempotency key 'note-1' was used for another text\."):
        memory.remember_many([*items, {"content": "The harbour has a new crane.", "idempotency_key": "note-1"}])
    assert tables(path) == before


def test_facts_and_what_is_replaced_are_untouched_where_a_key_is_refused(memory, path):
    old = memory.remember("The deploy is on Monday")
    memory.remember("The deploy is on Tuesday", idempotency_key="note-1")
    before = tables(path)
    with pytest.raises(InvalidInput, match="another text"):
        memory.remember(
            "Ana lives in Oslo.",
            idempotency_key="note-1",
            facts=[{"subject": "Ana", "predicate": "home", "value": "Oslo"}],
            replaces=[old.id],
        )
    assert tables(path) == before


@pytest.mark.filterwarnings("ignore:1 secret was replaced")
@pytest.mark.parametrize("redacts", [True, False])
def test_a_key_knows_its_text_where_secrets_are_kept_or_replaced_since(opening, path, redacts):
    text = "The staging password = hunter2horse is for the harbour server."
    policies = [{**WORDS_ONLY, "knowledge": {"redact": kept}} for kept in (redacts, not redacts)]
    ids = []
    for policy in policies:
        memory = opening(policy)
        ids.append(memory.remember(text, idempotency_key="note-1").id)
        with pytest.raises(InvalidInput, match="another text"):
            memory.remember(text.replace("harbour", "garden"), idempotency_key="note-1")
    assert len(set(ids)) == 1


def test_messages_with_a_known_key_are_passed_over_whatever_their_text(memory, path):
    told = [{"role": "user", "content": "The deploy is on Tuesday.", "id": "1"}]
    assert memory.ingest(told).added == 1
    before = tables(path)
    again = memory.ingest([{**told[0], "content": "The deploy is on Friday."}])
    assert (again.added, again.skipped) == (0, 1)
    assert tables(path) == before


def test_words_that_are_known_are_not_stored_again_because_of_a_new_key(memory):
    first = memory.remember("one text")
    assert memory.remember("One  text", idempotency_key="k").id == first.id
    assert len(memory.list()) == 1


def test_a_batch_holds_the_same_words_once(memory):
    a, b, c = memory.remember_many(["same words", "Same  WORDS ", "other"])
    assert a.id == b.id != c.id
    assert len(memory.list()) == 2


def test_a_batch_holds_a_key_once(memory):
    a, b = memory.remember_many(
        [{"content": "First", "idempotency_key": "k"}, {"content": "first", "idempotency_key": "k"}]
    )
    assert a.id == b.id
    assert len(memory.list()) == 1


@pytest.mark.parametrize("between", [0, 600])
def test_a_key_of_two_texts_in_a_list_is_refused(memory, path, between):
    before = tables(path)
    items = ["one", *(f"note {n}" for n in range(between)), "two"]
    keyed = [{"content": text, **({} if "note" in text else {"idempotency_key": "k"})} for text in items]
    with pytest.raises(InvalidInput, match=rf"^Item {between + 2}: The idempotency key 'k' was used for another text"):
        memory.remember_many(keyed)
    assert tables(path) == before


WORDS = ["tea", "rain", "deploy", "river"]
ITEMS = st.lists(
    st.fixed_dictionaries(
        {
            "content": st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
            "session": st.sampled_from([None, "s1", "s2"]),
            "kind": st.sampled_from(["note", "episode"]),
            "tags": st.lists(st.sampled_from(["x", "y"]), max_size=2),
            "idempotency_key": st.sampled_from([None, None, None, "k1", "k2"]),
        }
    ).map(
        lambda item: {
            **item,
            "idempotency_key": item["idempotency_key"] and f"{item['idempotency_key']} {item['content']}",
        }
    ),
    min_size=1,
    max_size=8,
)


@settings(
    max_examples=budget(10, 160),
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(items=ITEMS)
def test_a_batch_is_the_same_as_one_by_one(rooms, items):
    seen, unique = [], []
    for many in (True, False):
        memory = opened(rooms(), clock=Clock(), embedder=HashEmbedder())
        kept = memory.remember_many(items) if many else [memory.remember_many([item])[0] for item in items]
        names = {}
        for m in kept:
            names.setdefault(m.id, len(names))
        seen.append(
            [
                (
                    names[m.id],
                    m.memory.content,
                    m.memory.tier,
                    sorted((k, names[o]) for k, o, _ in memory.why(m.id).links),
                )
                for m in kept
            ]
        )
        unique.append([m.memory.state.uniqueness for m in kept])
        assert memory.check() == []
        memory.close()
    assert seen[0] == seen[1]
    assert unique[0] == pytest.approx(unique[1], abs=0.02)  # vectors are kept as int8


def test_a_near_duplicate_is_linked_not_dropped(meaning):
    first = meaning.remember("alpha beta gamma delta")
    near = meaning.remember("delta gamma beta alpha")
    far = meaning.remember("something quite different altogether")
    assert near.id != first.id
    assert [(kind, other) for kind, other, _ in meaning.why(near.id).links] == [("near_duplicate", first.id)]
    assert meaning.why(far.id).links == ()
    assert near.memory.state.uniqueness < 0.01 < far.memory.state.uniqueness


def test_what_is_given_comes_back_unchanged(memory):
    data = {
        "content": '  spaces, 日本語, 🙂 and "quotes" stay\n',
        "tags": ["b", "a'c"],
        "importance": 0.25,
        "confidence": 0.75,
        "source": "file.md:3",
        "session": "s",
        "metadata": {"n": 1.5, "list": [None, True, "\\u0000"], "base64": "aGVsbG8="},
        "at": START,
        "pinned": True,
    }
    kept = memory.get(memory.remember(**data).id)
    for name in ("content", "source", "session", "metadata", "pinned"):
        assert getattr(kept, name) == data[name]
    assert (kept.tags, kept.state.importance, kept.state.confidence) == (("b", "a'c"), 0.25, 0.75)
    assert kept.created_at == START


def test_all_are_checked_before_the_first_is_stored(memory, path):
    before = tables(path)
    with pytest.raises(InvalidInput, match="Item 700"):
        memory.remember_many([*(f"note {i}" for i in range(699)), ""])
    assert tables(path) == before


def test_remembering_is_durable_before_the_vector_exists(opening, path):
    memory = opening(embedder=HashEmbedder())
    kept = memory.remember_many([f"zebra {i}" for i in range(3)], embed="later")
    assert memory.stats().without_vector == 3
    assert logical(path)["vector"] == []
    assert memory.recall("zebra 2").hits[0].memory.id == kept[2].id
    assert memory.reembed().embedded == 3
    assert memory.stats().without_vector == 0
    assert memory.recall("zebra 2").hits[0].cosine == pytest.approx(1.0, abs=0.01)


def test_progress_is_told(memory):
    told = []
    memory.remember_many([f"note {i}" for i in range(1100)], progress=lambda done, total: told.append((done, total)))
    assert told == [(500, 1100), (1000, 1100), (1100, 1100)]


def test_turns_go_on_where_the_session_stopped(memory, raw_store):
    memory.remember_many([{"content": f"a{i}", "session": "s"} for i in range(3)])
    memory.remember_many([{"content": f"b{i}", "session": "s"} for i in range(2)])
    records = raw_store.get("default", [m.id for m in reversed(memory.list(session="s"))])
    assert [r.content.turn for r in records] == [0, 1, 2, 3, 4]


def test_a_long_list_that_fails_halfway_says_how_far_it_came(memory, monkeypatch, raw_store):
    real, calls = type(raw_store).apply, []

    def full(self, plan, **more):
        calls.append(plan)
        if len(calls) == 2:
            raise DiskFull("full.")
        real(self, plan, **more)

    monkeypatch.setattr(type(raw_store), "apply", full)
    with pytest.raises(PartlyStored) as caught:
        memory.remember_many([{"content": f"line {i}", "kind": "episode"} for i in range(600)])
    monkeypatch.undo()
    assert caught.value.stored == memory.stats().memories == 500
    for operation in caught.value.operations:
        memory.undo(operation)
    assert memory.stats().memories == 0


def test_a_short_list_is_stored_whole_or_not_at_all(memory, monkeypatch, raw_store):
    def full(*_):
        raise DiskFull("full.")

    monkeypatch.setattr(type(raw_store), "apply", full)
    with pytest.raises(DiskFull):
        memory.remember_many([f"line {i}" for i in range(500)])
    monkeypatch.undo()
    assert memory.stats().memories == 0


def test_what_was_known_and_is_taken_back_meanwhile_is_stored_anew(opening, monkeypatch, raw_store):
    memory, other = opening(), opening()
    first = memory.remember("the deploy is on tuesday")
    taken = type(raw_store).get
    calls = []

    def get(self, namespace, ids):
        calls.append(ids)
        if len(calls) == 2:  # between knowing it and returning it
            monkeypatch.undo()
            other.undo(other.history()[-1].id)
        return taken(self, namespace, ids)

    monkeypatch.setattr(type(raw_store), "get", get)
    second = memory.remember("the deploy is on tuesday")
    assert second.id != first.id
    assert [m.id for m in memory.list()] == [second.id]


@pytest.mark.parametrize("texts", [["The garden gate is green."], ["The garden gate is green.", "The shed is red."]])
def test_what_is_new_is_stored_where_all_that_is_near_it_is_hidden(opening, texts):
    memory = opening(embedder=HashEmbedder())
    memory.forget(memory.remember("The garden gate was blue.").id)
    kept = memory.remember_many([{"content": text} for text in texts])
    assert [found.memory.content for found in kept] == texts


def test_words_said_again_right_after_an_update_are_no_news(tmp_path):
    ticks = itertools.count()

    def clock():
        return START + timedelta(milliseconds=next(ticks))  # time passes within an operation, too

    with perdure.open(tmp_path / "store.db", WORDS_ONLY, clock=clock) as memory:
        old = memory.remember("the deploy is on tuesday")
        new = memory.update(old.id, "the deploy is on friday")
        assert memory.remember("the deploy is on friday").operation is None
        assert memory.history()[0].id == new.operation
