"""Promotion and the end of a session, through the public API."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from conftest import WORDS_ONLY, HashEmbedder, ScriptedModel, logical, tables
from perdure.records.errors import InvalidInput, ModelError, NotFound
from perdure.records.memory import Shelf
from perdure.records.plan import Change, Plan, Target

TEXTS = [
    "The build server in Lyon was moved to the new rack by Ann on Tuesday.",
    "The invoice queue is emptied at night because the bank is closed then.",
    "The price cache lives in Porto and is cleared every morning at six.",
]


def told(memory, session="s", **more):
    return [memory.remember(text, session=session, **more).id for text in TEXTS]


def joined(memory):
    ids = told(memory, confidence=0.9)
    memory.relate(ids[:2])
    memory.relate(ids[1:])
    return ids


@pytest.mark.behaviour("SPEC-03.08", "SPEC-03.27")
@pytest.mark.parametrize(("confidence", "expected"), [(0.79, 0), (0.8, 1), (0.95, 1)])
def test_promotion_respects_the_confidence_threshold(memory, confidence, expected):
    kept = memory.remember("a thing", session="s", confidence=confidence)
    done = memory.promote("s", confirm=True)
    assert (done.promoted_count, done.threshold, done.median) == (expected, 0.8, 0)
    assert memory.get(kept.id).scope == ("long_term" if expected else "session")
    assert memory.promote("s", 0.5, confirm=True).promoted_count == 1 - expected


@pytest.mark.behaviour("SPEC-03.13")
def test_promotion_takes_what_is_used_more_than_the_median(memory, clock):
    ids = told(memory)
    for text, times in zip(TEXTS, (0, 1, 3), strict=True):
        for _ in range(times):
            clock.passes(minutes=1)
            memory.recall(text, session="s", limit=1)
    done = memory.promote("s", confirm=True)
    assert (done.median, set(done.promoted)) == (1, {ids[2]})
    assert "used 3 times, more than the session's median of 1" in memory.history(ids[2])[-1].because
    again = memory.promote("s", confirm=True)  # what was left is not measured against itself
    assert (again.promoted_count, again.operations) == (0, ())


def talk(memory, clock, session="s", count=40):
    """Say one thing after the other, each about a subject of its own, and return its ids by subject."""
    subjects = [f"{a}{b}" for a in ("alder", "birch", "cedar", "larch") for b in "abcdefghij"][:count]
    for subject in subjects:
        clock.passes(minutes=1)
        said = {"content": f"The {subject} depot opens its northern gate early.", "at": clock().isoformat()}
        memory.ingest([said], session=session, scope="session")
    return {s: next(m.id for m in memory.list(inside=session, limit=100) if s in m.content) for s in subjects}


@pytest.mark.behaviour("PR01")
def test_of_a_session_in_which_little_is_recalled_only_that_is_promoted(memory, clock):
    ids = talk(memory, clock)
    asked = ("aldera", "cedarc", "larchj")
    for subject in asked:
        clock.passes(minutes=1)
        memory.recall(f"When does the {subject} depot open?", inside="s", limit=1)
    done = memory.end_session("s").promotion
    assert set(done.promoted) == {ids[subject] for subject in asked}
    assert memory.get(ids["birchd"]).scope == "session"


def test_what_was_overheard_is_as_sure_as_a_note_and_what_happened_is_certain(memory, clock):
    (heard,) = talk(memory, clock, count=1).values()
    happened = memory.remember("The depot burnt down.", kind="episode", session="s")
    handed = memory.ingest([{"content": "The depot is in Lyon.", "at": clock().isoformat()}], session="t")
    (given,) = memory.list(session="t")
    assert (handed.added, memory.get(heard).confidence) == (1, 0.8)
    assert memory.get(happened.id).confidence == given.confidence == 1.0


@pytest.mark.behaviour("PR02")
@pytest.mark.parametrize("how", ["reinforced", "strengthened", "pinned"])
def test_what_was_strengthened_or_pinned_is_promoted_and_what_nobody_used_is_not(memory, how):
    ids = told(memory)
    if how == "pinned":
        memory.pin(ids[0])
        memory.recall(TEXTS[1], inside="s", limit=1)
    elif how == "strengthened":
        memory.strengthen([ids[0]])
    else:
        memory.reinforce([ids[0]], update_access=False)
    kept = ids[:2] if how == "pinned" else ids[:1]
    assert set(memory.promote("s", confirm=True).promoted) == set(kept)


def test_what_was_weakened_by_hand_is_not_promoted_unless_it_is_used(memory, clock):
    ids = told(memory)
    memory.weaken([ids[0]], 2.0)
    assert set(memory.promote("s").promoted) == set(ids[1:])
    clock.passes(minutes=1)
    memory.recall(TEXTS[0], inside="s", limit=1)
    assert memory.promote("s").promoted == (ids[0],)


def test_what_a_person_asked_to_have_remembered_needs_no_use(memory, clock):
    ids = talk(memory, clock, count=3)
    clock.passes(minutes=1)
    wish = {"content": "Remember that the Porto depot has no gate.", "at": clock().isoformat()}
    memory.ingest([wish], session="s", scope="session")
    memory.recall("When does the alderb depot open?", inside="s", limit=1)
    promoted = {memory.get(i).content for i in memory.promote("s", confirm=True).promoted}
    assert promoted == {wish["content"], memory.get(ids["alderb"]).content}


def test_what_is_forgotten_and_small_talk_are_not_promoted_though_nothing_was_used(memory, clock):
    said = [{"content": text, "at": clock().isoformat()} for text in ("Thanks!", "The depot moved to Lyon.")]
    memory.ingest(said, session="s", scope="session")
    memory.remember("The lift squeaks.", session="s", importance=0.1)
    clock.passes(days=2)
    assert [memory.get(i).content for i in memory.promote("s").promoted] == ["The depot moved to Lyon."]


@pytest.mark.behaviour("PR03")
def test_where_activation_decides_only_the_activated_are_promoted(opening, clock):
    memory = opening({**WORDS_ONLY, "preset": "activation"})
    ids = told(memory)
    clock.passes(hours=12)
    memory.reinforce(ids[1:])
    clock.passes(minutes=5)
    assert set(memory.promote("s").promoted) == set(ids[1:])


@pytest.mark.behaviour("PR03")
@pytest.mark.parametrize("preset", ["activation", "balanced"])
def test_what_was_used_once_and_is_no_longer_activated_stays_where_activation_decides(opening, clock, preset):
    memory = opening({**WORDS_ONLY, "preset": preset})
    ids = told(memory)
    memory.recall(TEXTS[0], inside="s", limit=1)
    clock.passes(minutes=1)
    assert memory.promote("s").promoted == (ids[0],)
    clock.passes(days=2)
    assert memory.promote("s").promoted == ((ids[0],) if preset == "balanced" else ())


@pytest.mark.behaviour("SPEC-03.12")
def test_a_preview_leaves_everything_in_the_session(meaning, path):
    ids = joined(meaning)
    before = tables(path)
    done = meaning.promote("s")
    assert (done.promoted_count, done.crystallized_count, done.confirmed) == (3, 1, False)
    assert tables(path) == before
    assert {meaning.get(i).scope for i in ids} == {"session"}
    meaning.apply(done.plans[0])
    assert {meaning.get(i).scope for i in ids} == {"long_term"}
    assert meaning.get(done.summaries[0].id).content == done.summaries[0].content


@pytest.mark.behaviour("SPEC-03.11")
def test_connected_memories_get_a_summary(meaning, raw_store):
    ids = joined(meaning)
    alone = meaning.remember("lunch is at noon", session="s", confidence=1.0).id
    done = meaning.promote("s", confirm=True)
    (crystal,) = done.summaries
    assert set(crystal.members) == set(ids)
    made = meaning.get(crystal.id)
    assert (made.kind, made.scope, made.session) == ("summary", "long_term", None)
    assert made.confidence == pytest.approx(0.9)
    assert made.metadata == {"sources": list(crystal.members), "session": "s"}
    links = {(kind, other) for kind, other, _ in raw_store.links("default", made.id)}
    assert {("summarizes", i) for i in ids} <= links
    assert ("summarizes", alone) not in links
    assert 0 < made.tokens <= sum(meaning.get(i).tokens for i in ids) / 2
    assert any(made.content.split(".")[0] in text for text in TEXTS)
    assert raw_store.vectors("default", [made.id])
    assert len(meaning.list()) == 5  # the sources stay


@pytest.mark.behaviour("GR29")
@pytest.mark.parametrize(
    ("said", "taken"),
    [
        ({"summary": "Ann moved the Lyon build server; the Porto cache is cleared at six."}, True),
        ({"summary": "Ann moved the Lyon build server to rack 12."}, False),  # nobody said 12
        ({"summary": "The invoice queue is not emptied."}, False),
        ({"summary": " ".join(TEXTS)}, False),  # no shorter
        ({"summary": " "}, False),
        ({"text": "Something else."}, False),
        (ModelError("It is away."), False),
    ],
)
def test_a_model_may_write_the_summary_where_it_adds_nothing(opening, said, taken):
    model = ScriptedModel(said)
    memory = opening({**WORDS_ONLY, "model": {"summarise": True}}, model=model)
    joined(memory)
    with pytest.warns(UserWarning, match="rules do") if isinstance(said, Exception) else nullcontext():
        (crystal,) = memory.promote("s", confirm=True).summaries
    made = memory.get(crystal.id)
    assert len(model.asked) == 1
    assert all(text in model.asked[0][1] for text in TEXTS)
    assert (made.content == said.get("summary")) if taken else any(made.content.split(".")[0] in t for t in TEXTS)
    assert made.metadata.get("written_by") == ("model" if taken else None)


def test_a_model_that_is_not_asked_to_write_is_not_asked(opening):
    model = ScriptedModel()
    memory = opening(model=model)
    joined(memory)
    assert memory.promote("s", confirm=True).crystallized_count == 1
    assert model.asked == []


@pytest.mark.behaviour("T7")
def test_a_summary_is_made_once_and_never_of_summaries(meaning):
    ids = joined(meaning)
    meaning.promote("s", confirm=True)
    again = meaning.promote("s", confirm=True)
    assert (again.promoted_count, again.crystallized_count) == (0, 0)
    other = [meaning.remember(f"{t} Really.", session="s2", kind="summary", confidence=0.9).id for t in TEXTS]
    meaning.relate(other)
    done = meaning.promote("s2", confirm=True)
    assert (done.promoted_count, done.crystallized_count) == (3, 0)
    assert len([m for m in meaning.list(kinds=["summary"]) if m.source == "crystallized"]) == 1
    assert ids


def test_two_are_too_few_for_a_summary_and_the_policy_says_how_many(opening):
    for members, expected in ((3, 0), (2, 1)):
        memory = opening({**WORDS_ONLY, "tasks": {"crystal_members": members}}, HashEmbedder(), at=":memory:")
        memory.relate(told(memory)[:2])
        assert memory.promote("s", confirm=True).crystallized_count == expected


@pytest.mark.behaviour("T3")
@pytest.mark.parametrize("kind", ["either", "words"])
def test_promotion_is_undone_row_for_row(opening, clock, path, kind):
    memory = opening(embedder=None if kind == "words" else HashEmbedder())
    joined(memory)
    memory.recall("build server", session="s")
    clock.passes(hours=2)
    before = logical(path)
    (operation,) = memory.promote("s", confirm=True).operations
    after = logical(path)
    assert after["memory"] != before["memory"]
    clock.passes(hours=1)
    operation = memory.undo(operation).operation
    assert logical(path) == before
    memory.undo(operation)
    assert logical(path) == after
    assert memory.check() == []


@pytest.mark.behaviour("T9")
def test_what_is_promoted_stays_though_nobody_touched_it_for_long(opening, clock):
    memory = opening({**WORDS_ONLY, "preset": "confidence-decay", "gates": {"loss_free_count": 100}})
    kept = memory.remember("a thing", session="s", confidence=0.9)
    clock.passes(days=60)
    before = memory.get(kept.id).confidence
    memory.promote("s", confirm=True)
    memory.sweep()
    assert memory.get(kept.id).confidence == pytest.approx(before)


def test_an_unknown_session_is_not_found_and_bad_values_are_refused(memory):
    with pytest.raises(NotFound, match="nobody"):
        memory.promote("nobody")
    memory.remember("a thing", session="s")
    for bad in ({"threshold": 1.1}, {"threshold": "much"}, {"confirm": 1}, {"namespace": ""}):
        with pytest.raises(InvalidInput):
            memory.promote("s", **bad)


# --- the end


@pytest.mark.behaviour("SPEC-03.07", "SPEC-03.14")
def test_the_end_of_a_session_does_what_is_open_once(meaning, clock, path):
    ids = joined(meaning)
    doubtful = meaning.remember("perhaps it rains", session="s", confidence=0.4).id
    open_one = meaning.remember("the plan was changed", session="s", task="t", confidence=0.9).id
    elsewhere = meaning.remember("the plan of the others", session="s2", task="t", confidence=0.9).id
    done = meaning.end_session("s")
    assert (done.anew, [t.task for t in done.tasks], done.promotion.crystallized_count) == (True, ["t"], 1)
    assert set(done.promotion.promoted) == {*ids, open_one}
    assert meaning.get(elsewhere).scope == "task"  # the task goes on in the other session
    assert meaning.get(doubtful).scope == "session"
    assert doubtful not in {m.id for m in meaning.list(limit=100)}
    assert doubtful in {m.id for m in meaning.list(limit=100, inside="s")}
    assert [h.memory.id for h in meaning.recall("perhaps it rains", inside="s", limit=1, touch=False).hits] == [
        doubtful
    ]
    before = tables(path)
    clock.passes(minutes=5)
    again = meaning.end_session("s")
    assert (again.anew, again.ended_at, again.operations) == (False, done.ended_at, ())
    assert tables(path) == before
    later = meaning.remember("one more thing", session="s", confidence=0.95).id
    clock.passes(minutes=5)
    third = meaning.end_session("s")
    assert (third.anew, third.promotion.promoted) == (True, (later,))


@pytest.mark.behaviour("T4")
def test_the_end_of_a_session_is_undone_operation_by_operation(meaning, clock, path):
    joined(meaning)
    meaning.remember("the plan was changed", session="s", task="t")
    clock.passes(hours=30)
    before = logical(path)
    done = meaning.end_session("s")
    assert len(done.operations) >= 3
    for operation in reversed(done.operations):
        clock.passes(minutes=1)
        meaning.undo(operation)
    assert logical(path) == before
    assert meaning.end_session("s").anew


def test_a_session_that_never_was_does_not_end(memory, path):
    before = tables(path)
    with pytest.raises(NotFound, match="belongs to the session 'nowhere'") as caught:
        memory.end_session("nowhere")
    assert caught.value.remedy
    assert tables(path) == before


def test_a_session_that_a_hook_began_can_end_with_nothing_kept(memory, raw_store):
    row = {"shelf": Shelf.SESSION, "name": "", "data": {"transcript": "talk.jsonl"}}
    raw_store.apply(Plan("noted", "hook", "default", 0, (Change(Target.DOCUMENT, "silent", None, row, "noted"),)))
    done = memory.end_session("silent")
    assert (done.anew, done.tasks, done.promotion) == (True, (), None)
    assert memory.end_session("silent").anew is False
    assert done.to_dict()["report"]["moved"] == []


def test_what_hooks_note_about_a_session_stays(memory, raw_store):
    row = {"shelf": Shelf.SESSION, "name": "", "data": {"transcript": "talk.jsonl", "mark": 7}}
    change = Change(Target.DOCUMENT, "s", None, row, "noted")
    raw_store.apply(Plan("noted", "hook", "default", 0, (change,)))
    memory.remember("a thing", session="s")
    memory.end_session("s")
    (document,) = raw_store.documents.find("default", Shelf.SESSION, ["s"])
    assert document.data["transcript"] == "talk.jsonl"
    assert document.data["mark"] == 7
    assert isinstance(document.data["ended_ms"], int)
