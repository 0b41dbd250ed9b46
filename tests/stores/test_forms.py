"""Shorter forms: what is shown changes, what is known does not. The whole text is kept exactly, and still searched."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import perdure
from conftest import WORDS_ONLY, HashEmbedder, budget, logical, on_two_servers_too, opened, tables
from perdure.records.errors import ConflictError, StoreError
from perdure.records.memory import Form
from perdure.records.plan import Change, Target
from perdure.stores.packing import pack_text, unpack_text
from stores.planning import applied, shortened

LONG = "Alice said that the deploy of the harbour server moved to Tuesday at 10:00, because of the marathon. " * 4
SHORT = "deploy moved to Tuesday"


@pytest.fixture(params=["words", "meaning"])
def kept(request, opening):
    """A store, and a memory of it that shows a summary."""
    memory = opening(embedder=HashEmbedder() if request.param == "meaning" else None)
    one = memory.remember(LONG, tags=["ops"])
    memory.remember_many(["the river is cold in march", "bob likes green tea"])
    applied(memory, shortened(memory, one.id, SHORT, Form.SUMMARY, tokens=4))
    return memory, one


def text_of(raw_store, identity):
    return raw_store.get("default", [identity])[0].content.text


def test_the_short_form_is_shown_and_the_whole_text_is_kept(kept, raw_store):
    memory, one = kept
    for shown in (
        memory.get(one.id),
        memory.list(tags=["ops"])[0],
        memory.recall("deploy", touch=False).hits[0].memory,
    ):
        assert (shown.content, shown.form, shown.tokens) == (SHORT, Form.SUMMARY, 4)
    assert text_of(raw_store, one.id) == LONG
    digest = memory.digest()
    assert LONG.partition(". ")[0] in digest  # MEMORY.md shows whole sentences
    assert SHORT not in digest
    assert memory.check() == []


@pytest.mark.parametrize("query", ["marathon", "harbour server", "Tuesday deploy"])
def test_words_that_are_no_longer_shown_still_find_it(kept, query):
    memory, one = kept
    assert [h.memory.id for h in memory.recall(query, touch=False).hits][:1] == [one.id]


@pytest.mark.behaviour("FORM98")
@on_two_servers_too
@pytest.mark.parametrize(
    ("query", "found"),
    [("marathon", False), ("harbour server", False), ("Tuesday", True), ("marathon on Tuesday", True)],
)
def test_a_policy_may_search_only_the_words_that_are_shown(kept, path, opening, query, found):
    memory, one = kept
    strict = opening({**WORDS_ONLY, "recall": {"words_of": "shown"}}, at=path)
    assert ([h.memory.id for h in strict.recall(query, touch=False).hits] == [one.id]) == found
    assert [h.memory.id for h in strict.recall("green tea", touch=False).hits] != [one.id]
    applied(memory, shortened(memory, one.id, None, Form.FULL, tokens=90))
    assert [h.memory.id for h in strict.recall(query, touch=False).hits] == [one.id]


def test_a_form_without_any_text_is_found_as_well(kept, raw_store):
    memory, one = kept
    applied(memory, shortened(memory, one.id, "", Form.EMBEDDING, tokens=0))
    hit = memory.recall("marathon harbour", touch=False).hits[0].memory
    assert (hit.id, hit.content, hit.form) == (one.id, "", Form.EMBEDDING)
    assert text_of(raw_store, one.id) == LONG


def test_shortening_changes_nothing_about_what_is_found(opening):
    """Scores and relevance are those of the whole text: a summary must not make a memory less likely."""
    for embedder in (None, HashEmbedder()):
        memory = opening(embedder=embedder, at=":memory:")
        ids = [memory.remember(f"{LONG} number {i} {'marathon ' * i}").id for i in range(5)]
        queries = ("marathon", "harbour number 3", "who spoke of the deploy", "unknown words entirely")

        def answers(memory=memory, queries=queries):
            found = [memory.recall(q, touch=False) for q in queries]
            # The order of those about one thing is that of what is shown (rules/presentation.py).
            return [(a.nothing_known, sorted((h.memory.id, h.score, h.relevance) for h in a.hits)) for a in found]

        before = answers()
        assert any(hits for _, hits in before)
        applied(memory, *(shortened(memory, i, f"{n}", Form.KEYWORDS) for n, i in enumerate(ids)))
        assert answers() == before


def test_a_name_that_is_no_longer_shown_still_passes_the_entity_filter(kept):
    memory, one = kept
    assert [h.memory.id for h in memory.recall("deploy", entity="Alice", touch=False).hits] == [one.id]
    assert memory.recall("deploy", entity="Carol", touch=False).hits == ()


def test_the_same_words_said_again_are_known(kept):
    memory, one = kept
    assert memory.remember(LONG).id == one.id
    assert memory.remember(SHORT).id != one.id  # a summary is nobody's saying


@on_two_servers_too
def test_the_whole_text_is_shown_again_byte_for_byte(kept):
    memory, one = kept
    applied(memory, shortened(memory, one.id, None, Form.FULL, tokens=one.memory.tokens))
    back = memory.get(one.id)
    assert (back.content, back.form, back.tokens) == (LONG, Form.FULL, one.memory.tokens)
    assert memory.check() == []


def test_an_undo_shows_what_was_shown_before_and_another_the_short_form_again(kept, clock, path, raw_store):
    memory, one = kept
    before = logical(path)["content"]
    clock.passes(minutes=1)
    plan = applied(memory, shortened(memory, one.id, "deploy", Form.KEYWORDS, tokens=1))
    clock.passes(minutes=1)
    undo = memory.undo(plan.id)
    assert (memory.get(one.id).content, memory.get(one.id).form) == (SHORT, Form.SUMMARY)
    assert logical(path)["content"] == before
    clock.passes(minutes=1)
    memory.undo(undo.operation)
    assert (memory.get(one.id).content, memory.get(one.id).form) == ("deploy", Form.KEYWORDS)
    first = next(o for o in memory.history() if o.operation == "test" and o.id != plan.id)
    with pytest.raises(ConflictError):
        memory.undo(first.id)
    assert text_of(raw_store, one.id) == LONG


@on_two_servers_too
def test_a_memory_whose_form_has_changed_is_taken_back_only_once_that_is_undone(opening, clock, path):
    memory = opening(embedder=HashEmbedder())
    one = memory.remember(LONG, tags=["ops"])
    born = memory.history(one.id)[0].operation_id
    before = logical(path)["content"]
    plan = applied(memory, shortened(memory, one.id, SHORT, Form.SUMMARY))
    with pytest.raises(ConflictError):
        memory.undo(born)
    clock.passes(minutes=1)
    memory.undo(plan.id)
    clock.passes(minutes=1)
    gone = memory.undo(born)
    assert logical(path)["content"] == []
    clock.passes(minutes=1)
    memory.undo(gone.operation)
    assert logical(path)["content"] == before


# --- how it is kept


@settings(max_examples=budget(37, 600), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(text=st.text(st.characters(codec="utf-8")), times=st.sampled_from([1, 1, 7, 400]))
def test_packing_is_exact_and_never_longer(text, times):
    whole = text * times
    kept, data = pack_text(whole)
    assert unpack_text(kept, data) == whole
    assert len(kept.encode()) + len(data or b"") <= len(whole.encode())
    assert data is None or kept == ""


HUGE = {
    "plain": "the deploy of the harbour server " * 30_000,
    "unicode": "東京 🗼 naïve e\u0301 \u202e ﬁ " * 30_000,
    "lines": "a\r\nb\tc\n\u2028 \ufeff" * 1000,
    "one letter": "x" * 1_000_000,
    "incompressible": "".join(chr(0x4E00 + (i * i * 7919 + i * 104_729) % 20_000) for i in range(50_000)),
    "brief": "é",
}


@pytest.mark.behaviour("C07")
@pytest.mark.parametrize("name", HUGE)
def test_any_text_comes_back_to_the_byte_from_either_store(memory, name, raw_store):
    whole = HUGE[name]
    one = memory.remember(whole)
    for _ in range(2):
        applied(memory, shortened(memory, one.id, "short", Form.SUMMARY))
        assert text_of(raw_store, one.id) == whole
        applied(memory, shortened(memory, one.id, "shorter", Form.KEYWORDS))
        applied(memory, shortened(memory, one.id, None, Form.FULL))
        assert memory.get(one.id).content == whole


def test_a_long_text_takes_less_room_and_a_short_one_is_not_packed(memory, path):
    long, brief = memory.remember(LONG), memory.remember("brief words")
    applied(memory, shortened(memory, long.id, SHORT, Form.SUMMARY), shortened(memory, brief.id, "b", Form.KEYWORDS))
    rows = {r[1]: r for r in logical(path)["content"]}
    assert (rows[long.id][2], rows[brief.id][2]) == ("", "brief words")
    assert len(bytes(rows[long.id][9])) < len(LONG) / 2
    assert rows[brief.id][9] is None
    assert (rows[long.id][8], rows[brief.id][8]) == (SHORT, "b")


def test_a_batch_changes_each_memory_to_its_own(memory, raw_store):
    kept = memory.remember_many([f"{LONG} {i}" for i in range(30)])
    applied(memory, *(shortened(memory, m.id, f"no. {i}", Form.SUMMARY) for i, m in enumerate(kept)))
    assert [memory.get(m.id).content for m in kept] == [f"no. {i}" for i in range(30)]
    assert [text_of(raw_store, m.id) for m in kept] == [f"{LONG} {i}" for i in range(30)]


@pytest.mark.parametrize("column", ["text", "speaker", "task", "session", "turn"])
def test_what_a_memory_says_cannot_be_rewritten(memory, path, column):
    one = memory.remember("said once")
    before = tables(path)
    with pytest.raises(StoreError):
        applied(memory, Change(Target.MEMORY, one.id, {column: None}, {column: "x"}, ""))
    assert tables(path) == before


def test_a_stale_plan_of_a_shorter_form_is_a_conflict(memory, path):
    one = memory.remember(LONG)
    change = shortened(memory, one.id, SHORT, Form.SUMMARY)
    memory.pin(one.id)
    before = tables(path)
    stale = Change(
        Target.MEMORY, one.id, {**change.before, "form": Form.KEYWORDS}, {**change.after, "form": Form.EMBEDDING}, ""
    )
    with pytest.raises(ConflictError):
        applied(memory, stale)
    assert tables(path) == before


# --- labels


def relabelled(raw_store, memory, identity, **after):
    (record,) = raw_store.get("default", [identity])
    before = {name: getattr(record.content, name) for name in after}
    before = {n: dict(v) if n == "metadata" else v for n, v in before.items()}
    return applied(memory, Change(Target.MEMORY, identity, before, after, "by the test"))


@on_two_servers_too
@pytest.mark.parametrize("embedder", [None, HashEmbedder()], ids=["words", "meaning"])
def test_changed_tags_are_followed_by_the_searches_of_another_process(opening, embedder, clock, raw_store):
    writer, reader = opening(embedder=embedder), opening(embedder=embedder)
    one = writer.remember(LONG, tags=["old", "both"])
    writer.remember_many([{"content": f"deploy {i}", "tags": ["other"]} for i in range(30)])

    def found(memory, tag):
        hits = memory.recall("deploy", tags=[tag], touch=False).hits
        assert [m.id for m in memory.list(tags=[tag])] == [h.memory.id for h in hits]
        return [h.memory.id for h in hits]

    assert found(reader, "old") == found(reader, "both") == [one.id]
    clock.passes(minutes=1)
    plan = relabelled(raw_store, writer, one.id, tags=("both", "new ü", "new ü"))
    for memory in (writer, reader, opening(embedder=embedder)):
        assert found(memory, "new ü") == found(memory, "both") == [one.id]
        assert found(memory, "old") == []
    clock.passes(minutes=1)
    writer.undo(plan.id)
    for memory in (writer, reader, opening(embedder=embedder)):
        assert found(memory, "new ü") == []
        assert found(memory, "old") == found(memory, "both") == [one.id]
        assert memory.get(one.id).tags == ("old", "both")
        assert memory.check() == []


@on_two_servers_too
def test_source_and_metadata_change_alone_or_together(memory, raw_store):
    one = memory.remember(LONG, tags=["ops"], source="a", metadata={"n": 1})
    relabelled(raw_store, memory, one.id, source="b")
    assert (memory.get(one.id).source, memory.get(one.id).metadata, memory.get(one.id).tags) == (
        "b",
        {"n": 1},
        ("ops",),
    )
    plan = relabelled(raw_store, memory, one.id, metadata={"ü": [1, None]}, source=None, tags=())
    back = memory.get(one.id)
    assert (back.source, back.metadata, back.tags, back.content) == (None, {"ü": [1, None]}, (), LONG)
    memory.undo(plan.id)
    again = memory.get(one.id)
    assert (again.source, again.metadata, again.tags) == ("b", {"n": 1}, ("ops",))


@on_two_servers_too
def test_short_forms_move_with_their_whole_texts(kept, path, elsewhere):
    _, one = kept
    target = elsewhere()
    perdure.copy(path, target)
    assert logical(target)["content"] == logical(path)["content"]
    with opened(target, embedder=HashEmbedder()) as copy:
        assert copy.get(one.id).content == SHORT
        assert [h.memory.id for h in copy.recall("marathon", touch=False).hits] == [one.id]
        applied(copy, shortened(copy, one.id, None, Form.FULL))
        assert copy.get(one.id).content == LONG
        assert copy.check() == []


@on_two_servers_too
def test_a_new_model_reads_the_whole_text_not_the_summary(opening, raw_store):
    memory = opening()
    one = memory.remember(LONG)
    applied(memory, shortened(memory, one.id, SHORT, Form.SUMMARY))
    richer = opening(embedder=HashEmbedder())
    richer.reembed()
    vector = HashEmbedder().embed([LONG], purpose="query")[0]
    ((identity, cosine, _),) = raw_store.nearest("default", [vector], 1)[0]
    assert identity == one.id
    assert cosine == pytest.approx(1.0, abs=0.01)
