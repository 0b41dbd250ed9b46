"""The gates: a plan of upkeep that would lose an answer or too much is stopped whole, and says what it would lose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conftest import HARSH, WORDS_ONLY, HashEmbedder, tables
from perdure.records.errors import GateStopped, InvalidInput, PolicyError
from perdure.records.memory import Shelf
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy import GatePolicy
from perdure.rules.lifecycle.ration import Budget

FREE = {**WORDS_ONLY, "gates": {"loss_share": 1.0, "loss_share_day": 1.0}}
FADING = {**HARSH, "gates": {"loss_share": 1.0, "loss_share_day": 1.0}}
QUESTION = "Where does the blue heron nest?"
HERON = "The blue heron nests at the old mill."


def useful(raw_store, identity, query=QUESTION, at=0, outcome="helpful", name="recall-1"):
    """Write down what became of a hit, as `used` does."""
    row = {"shelf": Shelf.OUTCOME, "name": name, "data": {"outcome": outcome, "query": query, "at_ms": at}}
    change = Change(Target.DOCUMENT, identity, None, row, "it helped")
    raw_store.apply(Plan(f"used-{identity}-{name}", "used", "default", at, (change,)))


def ops(raw_store, ids):
    return {i: op for i, (_, op) in raw_store.states("default", ids).items()}


def hiding(raw_store, memory, ids, *, status="archived", links=(), operation="consolidate", identity="the-plan"):
    before = ops(raw_store, ids)
    changes = [
        Change(Target.MEMORY, i, {"status": "active", "op": before[i]}, {"status": status, "op": identity}, "test")
        for i in ids
    ]
    changes += [
        Change(Target.LINK, winner, None, {"kind": "summarizes", "other": loser, "weight": 1.0}, "test")
        for winner, loser in links
    ]
    return Plan(identity, operation, "default", 1, tuple(changes), memory.policy.version, "a test")


@pytest.fixture
def herons(opening, raw_store):
    memory = opening(FREE)
    kept = memory.remember(HERON)
    memory.remember_many([f"Line {i} about trains and timetables." for i in range(10)])
    useful(raw_store, kept.id)
    return memory, kept


@pytest.mark.behaviour("G1")
def test_a_plan_that_would_lose_an_answer_is_stopped_and_nothing_is_changed(herons, path, raw_store):
    memory, kept = herons
    before = tables(path)
    with pytest.raises(GateStopped) as caught:
        memory.apply(hiding(raw_store, memory, [kept.id]))
    assert tables(path) == before
    assert caught.value.lost == (kept.id,)
    for told in ("recall gate", QUESTION, kept.id, "useful recall"):
        assert told in caught.value.message
    assert memory.check() == []
    assert [h.memory.id for h in memory.recall(QUESTION).hits] == [kept.id]


@pytest.mark.behaviour("G1")
def test_what_is_written_after_a_stopped_plan_is_found_and_nothing_else_is_hidden(opening, raw_store):
    memory = opening(FREE, embedder=HashEmbedder())
    kept = memory.remember(HERON)
    memory.remember_many([f"Line {i} about trains and timetables." for i in range(10)])
    useful(raw_store, kept.id)
    for new in ("The grey heron nests at the new mill.", "The night heron nests at the harbour."):
        with pytest.raises(GateStopped):
            memory.apply(hiding(raw_store, memory, [kept.id]))
        stored = memory.remember(new)
        assert [h.memory.id for h in memory.recall(QUESTION, limit=1).hits] == [kept.id]
        assert [h.memory.id for h in memory.recall(new, limit=1).hits] == [stored.id]


@pytest.mark.behaviour("G2")
def test_a_loss_that_is_accepted_with_a_reason_goes_through_and_is_journalled(herons, raw_store):
    memory, kept = herons
    (done,) = memory.apply(hiding(raw_store, memory, [kept.id]), accept_loss="the heron has moved away").plans
    assert memory.get(kept.id) is None
    assert "the heron has moved away" in done.note
    journalled = raw_store.operation(done.id)
    assert journalled.note == done.note
    assert memory.undo(done.id)
    assert memory.get(kept.id).content == HERON


@pytest.mark.behaviour("G3")
@pytest.mark.parametrize("reason", ["", " ", 5])
def test_a_loss_is_not_accepted_without_words(herons, reason, path, raw_store):
    memory, kept = herons
    before = tables(path)
    with pytest.raises(InvalidInput):
        memory.apply(hiding(raw_store, memory, [kept.id]), accept_loss=reason)
    assert tables(path) == before


def test_what_no_canary_asks_for_may_go(herons, raw_store):
    memory, kept = herons
    others = [m.id for m in memory.list(limit=50) if m.id != kept.id]
    memory.apply(hiding(raw_store, memory, others))
    assert memory.stats().memories == 1


@pytest.mark.behaviour("G14")
def test_a_person_may_archive_what_a_canary_asks_for(herons):
    memory, kept = herons
    memory.archive(kept.id, "no longer true")
    assert memory.stats().statuses["archived"] == 1


@pytest.mark.behaviour("G4")
def test_a_merge_whose_winner_answers_loses_nothing(herons, raw_store):
    memory, kept = herons
    twin = memory.remember("Blue heron: it nests at the old mill, by the weir.")
    with pytest.raises(GateStopped):  # without the link nobody can tell that the other one stands for it
        memory.apply(hiding(raw_store, memory, [kept.id], status="consolidated"))
    memory.apply(
        hiding(raw_store, memory, [kept.id], status="consolidated", links=[(twin.id, kept.id)], identity="merge")
    )
    assert memory.get(kept.id, include_archived=True).status == "consolidated"


@pytest.mark.behaviour("G5")
def test_what_stands_for_an_answer_is_guarded_like_the_answer(herons, raw_store):
    memory, kept = herons
    twin = memory.remember("Blue heron: it nests at the old mill, by the weir.")
    memory.apply(
        hiding(raw_store, memory, [kept.id], status="consolidated", links=[(twin.id, kept.id)], identity="merge")
    )
    with pytest.raises(GateStopped, match=kept.id):
        memory.apply(hiding(raw_store, memory, [twin.id], identity="second"))
    third = memory.remember("The old mill is where the blue heron nests, as ever.")
    memory.apply(
        hiding(
            raw_store, memory, [twin.id], status="consolidated", links=[(third.id, twin.id)], identity="second-merge"
        )
    )


@pytest.mark.behaviour("G6")
def test_only_helpful_answers_and_only_the_newest_are_canaries(opening, raw_store):
    memory = opening({**FREE, "gates": {**FREE["gates"], "canaries": 1}})
    old, new, wrong = memory.remember_many([HERON, "The ferry leaves at nine.", "The bakery opens at six."])
    useful(raw_store, old.id, at=1000)
    useful(raw_store, new.id, "When does the ferry leave?", at=2000, name="recall-2")
    useful(raw_store, wrong.id, "When does the bakery open?", at=3000, outcome="wrong", name="recall-3")
    memory.apply(hiding(raw_store, memory, [old.id, wrong.id]))
    with pytest.raises(GateStopped, match="ferry"):
        memory.apply(hiding(raw_store, memory, [new.id], identity="second"))


def test_no_canaries_no_gate(opening, raw_store):
    memory = opening({**FREE, "gates": {**FREE["gates"], "canaries": 0}})
    kept = memory.remember(HERON)
    useful(raw_store, kept.id)
    memory.apply(hiding(raw_store, memory, [kept.id]))
    assert memory.get(kept.id) is None


@pytest.mark.behaviour("G7")
def test_an_answer_that_recall_did_not_find_before_cannot_be_lost(herons, raw_store):
    memory, _ = herons
    other = memory.remember("Nothing to do with any of it.")
    useful(raw_store, other.id, name="recall-9")
    memory.apply(hiding(raw_store, memory, [other.id]))
    assert memory.get(other.id) is None


def golden(tmp_path, text):
    file = tmp_path / "golden.toml"
    file.write_text(text, "utf-8")
    return {**FREE, "gates": {**FREE["gates"], "golden": str(file)}}


@pytest.mark.behaviour("G8")
def test_a_golden_query_guards_words(opening, tmp_path, raw_store):
    memory = opening(
        golden(tmp_path, f'[[query]]\ntext = "{QUESTION}"\ncontains = "the OLD  mill"\n'),
    )
    kept, other = memory.remember_many([HERON, "Trains leave at nine."])
    with pytest.raises(GateStopped, match="golden query 1"):
        memory.apply(hiding(raw_store, memory, [kept.id]))
    memory.apply(hiding(raw_store, memory, [other.id]))


def test_a_golden_query_belongs_to_its_namespace(opening, tmp_path, raw_store):
    text = f'[[query]]\ntext = "{QUESTION}"\nnamespace = "elsewhere"\ncontains = "mill"\n'
    memory = opening(golden(tmp_path, text))
    kept = memory.remember(HERON)
    memory.apply(hiding(raw_store, memory, [kept.id]))
    assert memory.get(kept.id) is None


@pytest.mark.behaviour("G9")
def test_words_that_a_shorter_form_no_longer_shows_are_lost(opening, tmp_path, raw_store):
    memory = opening(golden(tmp_path, f'[[query]]\ntext = "{QUESTION}"\ncontains = "old mill"\n'))
    kept = memory.remember(HERON)

    def shortening(shown, identity):
        before = {"form": "full", "shown": None, "op": ops(raw_store, [kept.id])[kept.id]}
        after = {"form": "summary", "shown": shown, "op": identity}
        return replace(
            hiding(raw_store, memory, [], identity=identity),
            changes=(Change(Target.MEMORY, kept.id, before, after, "test"),),
        )

    plan = shortening("heron nests", "shorter")
    assert (plan.hides, plan.loses, plan.shortened_ids) == (0, 1, {kept.id})
    with pytest.raises(GateStopped, match="old mill"):
        memory.apply(plan)
    assert memory.get(kept.id).content == HERON
    memory.apply(shortening("heron: old mill", "short"))
    assert memory.get(kept.id).content == "heron: old mill"


BAD_GOLDEN = {
    "no toml": "[[query",
    "another table": "[query]\ntext = 'x'",
    "another key": "[[query]]\ntext = 'x'\ncontains = 'y'\nexpects = ['z']",
    "neither": "[[query]]\ntext = 'x'",
    "both": "[[query]]\ntext = 'x'\nexpect = ['a']\ncontains = 'b'",
    "no text": "[[query]]\nexpect = ['a']",
    "a number": "[[query]]\ntext = 5\nexpect = ['a']",
    "an id that is none": "[[query]]\ntext = 'x'\nexpect = [5]",
    "a bad namespace": "[[query]]\ntext = 'x'\nexpect = ['a']\nnamespace = ''",
}


@pytest.mark.behaviour("G10")
@pytest.mark.parametrize("text", BAD_GOLDEN.values(), ids=BAD_GOLDEN)
def test_a_bad_golden_file_is_refused_when_the_store_is_opened(opening, tmp_path, text):
    with pytest.raises(PolicyError, match=r"golden\.toml"):
        opening(golden(tmp_path, text), at=":memory:")


def test_a_golden_file_that_is_not_there_is_refused(opening, tmp_path):
    with pytest.raises(PolicyError, match="cannot be read"):
        opening({**WORDS_ONLY, "gates": {"golden": str(tmp_path / "none.toml")}}, at=":memory:")


def test_a_golden_file_is_looked_for_beside_its_policy(opening, tmp_path, monkeypatch, raw_store):
    golden(tmp_path, f'[[query]]\ntext = "{QUESTION}"\ncontains = "mill"\n')
    file = tmp_path / "perdure.toml"
    file.write_text('[embedder]\nmodel = "none"\n[gates]\ngolden = "golden.toml"\n')
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    memory = opening(str(file))
    kept = memory.remember(HERON)
    with pytest.raises(GateStopped):
        memory.apply(hiding(raw_store, memory, [kept.id]))


# --- sweeps


@pytest.mark.behaviour("G11")
def test_a_sweep_holds_back_what_a_canary_needs_and_lets_the_rest_go(opening, clock, path, raw_store):
    memory = opening(FADING)
    kept = memory.remember(HERON)
    memory.remember_many([f"Line {i} about trains and timetables." for i in range(40)])
    useful(raw_store, kept.id)
    clock.passes(days=60)
    dry = memory.sweep(dry_run=True)
    done = memory.sweep()
    assert memory.stats().statuses == {"active": 1, "archived": 40}
    assert memory.get(kept.id).tier == "cold"  # what hides nothing goes on
    assert [(h.ids, QUESTION in h.because) for h in done.held] == [((kept.id,), True)]
    assert (dry.held, dry.tally) == (done.held, done.tally)

    before = tables(path)
    clock.passes(days=1)
    again = memory.sweep()
    assert (again.held, again.moved, tables(path)) == (done.held, (), before)  # tried again, and told, but not written
    memory.archive(kept.id, "the heron has moved")
    assert memory.sweep().held == ()


@pytest.mark.behaviour("G56")
def test_what_a_canary_holds_goes_at_once_where_a_person_accepts_the_loss(opening, clock, raw_store):
    memory = opening(FADING)
    kept = memory.remember(HERON)
    useful(raw_store, kept.id)
    clock.passes(days=60)
    assert memory.sweep().held[0].ids == (kept.id,)
    assert "recall gate" in memory.why(kept.id).next_move
    assert memory.stats().held == {"recall gate": 1}
    accepted = "the heron has moved away"
    assert [m.id for m in memory.sweep(dry_run=True, accept_loss=accepted).moved] == [kept.id]
    assert memory.sweep(accept_loss=accepted).held == ()
    assert memory.stats().statuses == {"archived": 1}
    assert accepted in memory.history()[0].note


@pytest.mark.behaviour("G12")
def test_a_dry_run_that_asks_the_gates_touches_nothing(opening, clock, path, raw_store):
    memory = opening(FADING)
    kept = memory.remember(HERON)
    memory.remember_many([f"Line {i} about trains." for i in range(5)])
    useful(raw_store, kept.id)
    clock.passes(days=60)
    before = tables(path)
    assert memory.sweep(dry_run=True).held
    assert tables(path) == before
    assert memory.recall(QUESTION, touch=False).hits


def test_the_plan_that_a_dry_run_returns_passes_the_gates(opening, clock, raw_store):
    memory = opening(FADING)
    kept = memory.remember(HERON)
    memory.remember_many([f"Line {i} about trains." for i in range(5)])
    useful(raw_store, kept.id)
    clock.passes(days=60)
    for plan in memory.sweep(dry_run=True).plans:
        memory.apply(plan)
    assert memory.stats().statuses == {"active": 1, "archived": 5}


@pytest.mark.behaviour("G13")
def test_sweeps_shorten_no_more_than_a_share_a_day(opening, clock):
    policy = {**WORDS_ONLY, "compression": {"least_tokens": 0, "summary_value": 1.0}}
    memory = opening({**policy, "gates": {"compress_share": 0.5, "loss_free_count": 0}})
    memory.remember_many([f"Line {i} about trains." for i in range(5)])
    clock.passes(days=30)
    done = []
    for _ in range(3):
        report = memory.sweep()
        done.append((report.tally.get("full to summary", 0), [len(h.ids) for h in report.held]))
        assert memory.sweep().operations == ()
        clock.passes(days=1)
    assert done == [(2, [3]), (2, [1]), (1, [])]
    assert {m.form for m in memory.list()} == {"summary"}


def test_hiding_waits_while_shortening_goes_on(opening, clock):
    memory = opening({**HARSH, "compression": {"least_tokens": 0, "summary_value": 1.0, "summary_hours": 24.0}})
    kept = [m.id for m in memory.remember_many([f"Line {i} about trains." for i in range(30)])]
    clock.passes(days=8)
    report = memory.sweep()
    assert [len(h.ids) for h in report.held] == [27]
    assert "27 more are due, at most 2 may be hidden a day" in report.held[0].because
    assert {m.form for m in memory.list(limit=50)} == {"summary"}
    assert memory.stats().statuses == {"active": 27, "archived": 3}
    assert {m.state.held for m in memory.list(limit=50)} == {True}
    assert len(kept) == report.tally["full to summary"]


def test_an_answer_that_is_lost_with_its_neighbours_stops_all_hiding_of_the_page(opening, clock, raw_store):
    """The answer stays in view, but without the turns beside it recall does not find it: none can be singled out."""
    memory = opening(FADING)
    turns = ["Where does the heron nest?", "At the old mill.", "Thanks."]
    messages = [{"content": text, "role": role} for text, role in zip(turns, ("user", "bot", "user"), strict=True)]
    memory.ingest(messages, session="talk")
    answer = next(m for m in memory.list() if m.content == turns[1])
    memory.pin(answer.id)
    asked = "Where does the heron nest?"
    useful(raw_store, answer.id, asked)
    assert answer.id in [h.memory.id for h in memory.recall(asked, touch=False).hits]
    clock.passes(days=60)
    report = memory.sweep()
    assert memory.stats().statuses == {"active": 3}
    (held,) = report.held
    assert set(held.ids) == {m.id for m in memory.list()} - {answer.id}
    assert answer.id in held.because


@pytest.mark.parametrize(
    ("shortens", "share", "free", "stopped"),
    [(0, 0.0, 0, False), (50, 0.5, 0, False), (51, 0.5, 0, True), (51, 0.5, 51, False), (100, 1.0, 0, False)],
)
def test_the_share_that_may_be_shortened(shortens, share, free, stopped):
    why = Budget(100, 0).too_short(shortens, GatePolicy(compress_share=share, loss_free_count=free))
    assert bool(why) is stopped
    assert why == "" or f"shorten {shortens} of 100" in why


# --- vectors


class Counting(HashEmbedder):
    def __init__(self):
        super().__init__()
        self.asked = []

    def embed(self, texts, *, purpose):
        if purpose == "query":
            self.asked += texts
        return super().embed(texts, purpose=purpose)


def test_a_canary_is_embedded_once(opening, raw_store):
    embedder = Counting()
    memory = opening({"gates": FREE["gates"]}, embedder)
    kept, other, third = memory.remember_many([HERON, "Trains leave at nine.", "Bread is baked at six."])
    useful(raw_store, kept.id)
    with pytest.raises(GateStopped):
        memory.apply(hiding(raw_store, memory, [kept.id]))
    memory.apply(hiding(raw_store, memory, [other.id], identity="second"))
    memory.apply(hiding(raw_store, memory, [third.id], identity="third"))
    assert embedder.asked == [QUESTION]
