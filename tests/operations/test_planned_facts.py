"""What begins later is stored, told as upcoming, leaves alone what holds until then, and holds by itself on its day."""

from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

import perdure
from interfaces.test_mcp_talk import over, talk
from perdure.interfaces.cli import app as cli

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
DAY = datetime(2027, 1, 1, tzinfo=UTC)
PRICE = {"subject": "Alpenstrom", "predicate": "price", "value": "0.12 euro"}
LATER = {**PRICE, "value": "0.10 euro", "valid_from": "2027-01-01"}
PLAN = "Alpenstrom pays 0.12 euro per meter, and 0.10 euro from 2027."


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}, clock=clock) as opened:
        yield opened


def told(memory, **when):
    return {f.value: f.state for f in memory.facts(**when)}


def learn_price(memory):
    memory.learn(claims=[PRICE])
    return memory.learn(claims=[LATER])


@pytest.mark.behaviour("FD43")
def test_what_begins_later_is_told_as_upcoming_and_holds_from_its_day_on(memory, clock):
    learn_price(memory)
    assert told(memory) == {"0.12 euro": "active", "0.10 euro": "upcoming"}
    clock.now = DAY - timedelta(seconds=1)
    assert told(memory) == {"0.12 euro": "active", "0.10 euro": "upcoming"}
    clock.now = DAY
    assert told(memory) == {"0.10 euro": "active"}
    assert told(memory, past=True) == {"0.12 euro": "superseded", "0.10 euro": "active"}
    new, old = memory.facts(past=True)
    assert old.superseded_by == (new.id,)


def test_time_is_right_on_both_sides(memory, clock):
    learn_price(memory)
    for clock.now in (NOW + timedelta(days=1), DAY + timedelta(days=1)):
        assert list(told(memory, as_of=DAY - timedelta(seconds=1))) == ["0.12 euro"]
        assert list(told(memory, as_of=DAY)) == ["0.10 euro"]
        line = memory.timeline("Alpenstrom").facts
        assert [(f.value, f.valid_from[:10], f.valid_to[:10]) for f in line] == [
            ("0.12 euro", "2026-11-23", "2027-01-01"),
            ("0.10 euro", "2027-01-01", ""),
        ]


def test_recall_and_the_memory_file_tell_from_when_it_holds(memory, clock):
    memory.remember("Alpenstrom pays 0.12 euro per meter.", facts=[PRICE])
    learn_price(memory)
    answer = [h.memory.content for h in memory.recall("What is the price of Alpenstrom?").hits]
    assert "Alpenstrom: price: 0.10 euro (from 2027-01-01)" in answer
    assert "Alpenstrom: price: 0.10 euro (from 2027-01-01)" in memory.digest()
    assert "0.12 euro" in memory.digest()
    sheet = memory.answer_sheet("What is the price of Alpenstrom?")
    assert [(s.state, s.since) for s in sheet.known] == [("active", "2026-11-23"), ("upcoming", "2027-01-01")]
    assert "not true yet: from 2027-01-01" in sheet.text
    clock.now = DAY
    answer = memory.recall("What is the price of Alpenstrom?").hits
    assert [h.memory.content for h in answer if not h.over] == ["Alpenstrom: price: 0.10 euro (from 2027-01-01)"]
    assert "0.12 euro" not in memory.digest()
    assert [s.says for s in memory.answer_sheet("What is the price of Alpenstrom?").known] == [
        "Alpenstrom: price: 0.10 euro"
    ]


def test_undo_takes_it_back(memory, clock):
    memory.learn(claims=[PRICE])
    done = memory.remember(PLAN, facts=[LATER])
    assert done.facts.planned == ("Alpenstrom: price: 0.10 euro (from 2027-01-01)",)
    memory.undo(done.operation)
    assert told(memory) == {"0.12 euro": "active"}
    assert memory.facts()[0].valid_to == ""
    clock.now = DAY
    assert told(memory) == {"0.12 euro": "active"}


@pytest.mark.parametrize("how", ["deny", "claim"])
def test_a_plan_that_is_called_off_leaves_what_holds(memory, clock, how):
    memory.learn(claims=[PRICE])
    note = memory.remember("Alpenstrom pays 0.10 euro from 2027.", facts=[LATER])
    if how == "deny":
        memory.deny(next(f.id for f in memory.facts() if f.state == "upcoming"))
    else:
        memory.update(note.id, "The price of Alpenstrom stays.", facts=[{**LATER, "denied": True}])
    assert memory.facts()[0].valid_to == ""
    clock.now = DAY
    assert [f.value for f in memory.facts() if not f.denied] == ["0.12 euro"]


@pytest.mark.parametrize("days", [0, 1, 12])
@pytest.mark.parametrize("when", [{}, {"valid_from": "2027-01-01"}])
def test_who_says_that_it_will_not_be_so_calls_the_plan_off(memory, clock, days, when):
    memory.remember("Alpenstrom pays 0.12 euro per meter.", facts=[PRICE])
    memory.remember("Alpenstrom pays 0.10 euro from 2027.", facts=[LATER])
    clock.now = NOW + timedelta(days=days)
    denied = {**PRICE, "value": "0.10 euro", "denied": True, **when}
    done = memory.remember("Alpenstrom will not pay 0.10 euro after all.", facts=[denied])
    assert [f.content for f in done.facts.replaced] == ["Alpenstrom: price: 0.10 euro (from 2027-01-01)"]
    for day in (clock.now, DAY + timedelta(days=4)):
        clock.now = day
        held = [f for f in memory.facts() if not f.denied]
        assert [(f.value, f.state, f.valid_to) for f in held] == [("0.12 euro", "active", "")]
        assert "undecided" not in memory.digest()
        assert "0.12 euro" in memory.digest()
    memory.undo(done.operation)
    assert "0.10 euro" in told(memory)


def test_a_stranger_does_not_call_off_what_a_user_planned(memory, clock):
    learn_price(memory)
    denied = {**PRICE, "value": "0.10 euro", "denied": True}
    memory.remember("Alpenstrom will not pay 0.10 euro.", facts=[denied], metadata={"trust": "external"})
    clock.now = DAY
    assert told(memory)["0.10 euro"] == "active"


def test_who_says_that_a_plan_ends_later_leaves_its_begin(memory, clock):
    learn_price(memory)
    memory.learn(claims=[{**LATER, "denied": True, "valid_from": "2027-06-01"}])
    for clock.now, value in ((DAY, ["0.10 euro"]), (datetime(2027, 6, 1, tzinfo=UTC), [])):
        assert [f.value for f in memory.facts() if not f.denied] == value


@pytest.mark.parametrize("how", ["forget the note", "forget the fact", "archive the fact"])
def test_what_holds_goes_on_where_a_plan_is_put_away(memory, clock, how):
    memory.remember("Alpenstrom pays 0.12 euro per meter.", facts=[PRICE])
    note = memory.remember("Alpenstrom pays 0.10 euro from 2027.", facts=[LATER])
    planned = next(f.id for f in memory.facts() if f.state == "upcoming")
    verb, what = getattr(memory, how.split()[0]), note.id if how.endswith("note") else planned
    gone = verb(what, "not planned")
    assert told(memory) == {"0.12 euro": "active"}
    assert memory.facts()[0].valid_to == ""
    memory.undo(gone.operation)
    assert [(f.value, f.valid_to[:10]) for f in memory.facts()] == [("0.12 euro", "2027-01-01"), ("0.10 euro", "")]
    verb(what, "not planned")
    memory.restore(what)
    assert [(f.value, f.valid_to[:10]) for f in memory.facts()] == [("0.12 euro", "2027-01-01"), ("0.10 euro", "")]
    assert "undecided" not in memory.digest()
    verb(what, "not planned")
    clock.now = DAY + timedelta(days=4)
    assert told(memory) == {"0.12 euro": "active"}
    assert "0.12 euro" in memory.digest()
    assert memory.check() == []


@pytest.mark.parametrize("gone", [(0,), (1,), (0, 1), (1, 0)])
def test_of_two_plans_each_is_put_away_by_itself(memory, clock, gone):
    memory.learn(claims=[PRICE])
    plans = [
        memory.remember("0.10 euro from 2027.", facts=[LATER]).id,
        memory.remember("0.08 euro from June.", facts=[{**LATER, "value": "0.08 euro", "valid_from": "2027-06-01"}]).id,
    ]
    for each in gone:
        memory.forget(plans[each])
    values = [f.value for f in memory.facts()]
    for clock.now in (DAY, datetime(2027, 6, 1, tzinfo=UTC)):
        assert len([f for f in memory.facts() if f.state != "upcoming"]) == 1
    assert [f.value for f in memory.facts()] == values[-1:]


def test_two_plans_of_one_note_come_back_together(memory, clock):
    memory.learn(claims=[PRICE])
    june = {**LATER, "value": "0.08 euro", "valid_from": "2027-06-01"}
    note = memory.remember("0.10 euro from 2027, 0.08 euro from June.", facts=[LATER, june])
    before = [(f.value, f.valid_to) for f in memory.facts()]
    memory.forget(note.id)
    memory.restore(note.id)
    assert [(f.value, f.valid_to) for f in memory.facts()] == before


@pytest.mark.parametrize("how", ["claim", "call"])
@pytest.mark.parametrize("facts", [[PRICE], [PRICE, {**PRICE, "predicate": "contact", "value": "Ida"}], []])
def test_what_is_to_be_replaced_by_id_holds_until_the_day(memory, clock, how, facts):
    note = memory.remember("Alpenstrom pays 0.12 euro per meter.", facts=facts)
    clock.now = NOW + timedelta(days=1)
    if how == "claim":
        done = memory.remember("0.10 euro from 1 January 2027.", facts=[{**LATER, "replaces": note.id}])
    else:
        done = memory.remember("0.10 euro from 1 January 2027.", facts=[LATER], replaces=[note.id])
    assert not done.facts.replaced
    for clock.now in (NOW + timedelta(days=2), DAY - timedelta(seconds=1)):
        assert told(memory) == {**{f["value"]: "active" for f in facts}, "0.10 euro": "upcoming"}
        (line,) = [each for each in memory.digest().splitlines() if "pays 0.12 euro" in each]
        assert "otherwise" not in line
        assert memory.get(note.id).status == "active"
    clock.now = DAY
    assert told(memory) == {**{f["value"]: "active" for f in facts[1:]}, "0.10 euro": "active"}
    if len(facts) == 1:
        assert "pays 0.12 euro" not in memory.digest()
    memory.undo(done.operation)
    assert told(memory) == {f["value"]: "active" for f in facts}
    assert memory.check() == []


def test_one_of_several_values_is_replaced_on_the_day(memory, clock):
    german = {"subject": "Ida", "predicate": "languages", "value": "German"}
    memory.learn(claims=[german])
    memory.learn(claims=[{**german, "value": "French", "replaces": "German", "valid_from": "2027-01-01"}])
    assert told(memory) == {"German": "active", "French": "upcoming"}
    clock.now = DAY
    assert told(memory) == {"French": "active"}


def test_who_says_again_what_holds_now_is_told_of_the_plan_which_stays(memory, clock):
    learn_price(memory)
    clock.now = NOW + timedelta(days=9)
    plan = ("Alpenstrom: price: 0.10 euro (from 2027-01-01)",)
    assert memory.remember("Alpenstrom still pays 0.12 euro.", facts=[PRICE]).facts.planned == plan
    changed = {**PRICE, "value": "0.11 euro", "replaces": "0.12 euro"}
    assert memory.remember("Alpenstrom pays 0.11 euro.", facts=[changed]).facts.planned == plan
    clock.now = DAY
    assert told(memory) == {"0.10 euro": "active"}
    assert memory.remember("Alpenstrom pays 0.10 euro.", facts=[{**PRICE, "value": "0.10 euro"}]).facts.planned == ()


@pytest.mark.parametrize("policy", [{"embedder": {"model": "none"}}, {}])
@pytest.mark.parametrize(
    ("now", "then"), [("Shift lead is Ugo.", "Shift lead is Wanda."), ("SLA: 4 hours.", "SLA: 2 hours.")]
)
def test_a_note_whose_facts_begin_later_tells_the_day_and_waits_for_it(tmp_path, clock, policy, now, then):
    fact = {"subject": "shift", "predicate": "lead"}
    with perdure.open(tmp_path / "b.db", policy, clock=clock) as memory:
        old = memory.remember(now, facts=[{**fact, "value": now.split()[1 if "SLA" in now else -1]}])
        clock.now = NOW + timedelta(days=1)
        new = memory.remember(
            then, facts=[{**fact, "value": then.split()[1 if "SLA" in now else -1], "valid_from": "2027-01-01"}]
        )
        clock.now = NOW + timedelta(days=3)
        for text in (memory.digest(), memory.agent.opening("s1", "default")):
            lines = {line.partition(" (")[0]: line for line in str(text).splitlines() if line.startswith("- ")}
            assert "(from 2027-01-01)" in lines[f"- {then}"]
            assert "otherwise" not in lines[f"- {now}"]
        hits = [h for h in memory.recall(now).hits if h.memory.id in (old.id, new.id)]
        assert [(h.memory.id, h.upcoming, h.newer) for h in hits][:1] == [(old.id, "", ())]
        assert [h.upcoming for h in hits[1:]] in ([], ["2027-01-01"])
        shown = [line for line in str(memory.agent.beside(then, "s2", "default")).splitlines() if then in line]
        assert all("not true yet: from 2027-01-01" in line for line in shown)
        assert all(not h.upcoming for h in memory.recall(then, as_of=DAY).hits)
        clock.now = DAY
        assert now not in str(memory.digest())
        assert "(from" not in next(line for line in str(memory.digest()).splitlines() if then in line)
        assert [h.upcoming for h in memory.recall(then).hits if h.memory.id == new.id] == [""]


def test_what_was_planned_and_turns_out_wrong_gives_back_what_held(memory, clock):
    learn_price(memory)
    clock.now = DAY + timedelta(days=1)
    memory.deny(memory.facts()[0].id)
    assert told(memory) == {"0.12 euro": "active"}


def test_the_day_is_corrected_once_it_has_come(memory, clock):
    learn_price(memory)
    clock.now = DAY + timedelta(days=9)
    memory.learn(claims=[{**LATER, "valid_from": "2027-01-05"}])
    assert [(f.value, f.state, f.valid_to[:10]) for f in memory.facts(past=True) if f.state != "invalidated"] == [
        ("0.10 euro", "active", ""),
        ("0.12 euro", "superseded", "2027-01-05"),
    ]


def test_a_plan_is_corrected(memory, clock):
    learn_price(memory)
    memory.correct(next(f.id for f in memory.facts() if f.state == "upcoming"), "0.09 euro")
    assert told(memory) == {"0.12 euro": "active", "0.09 euro": "upcoming"}
    clock.now = DAY
    assert told(memory) == {"0.09 euro": "active"}


@pytest.mark.parametrize("day", ["2026-12-24", "2027-03-01"])
def test_a_plan_is_moved_to_another_day(memory, clock, day):
    learn_price(memory)
    memory.learn(claims=[{**LATER, "valid_from": day}])
    moved = datetime.fromisoformat(day).replace(tzinfo=UTC)
    assert [(f.value, f.state, f.valid_to[:10]) for f in memory.facts()] == [
        ("0.12 euro", "active", day),
        ("0.10 euro", "upcoming", ""),
    ]
    clock.now = moved - timedelta(seconds=1)
    assert told(memory)["0.10 euro"] == "upcoming"
    clock.now = moved
    assert told(memory) == {"0.10 euro": "active"}


def test_what_was_planned_may_begin_sooner(memory, clock):
    learn_price(memory)
    clock.now = NOW + timedelta(days=3)
    memory.learn(claims=[{**PRICE, "value": "0.10 euro"}])
    assert [(f.value, f.state, f.valid_from[:10]) for f in memory.facts()] == [("0.10 euro", "active", "2026-11-26")]


def test_a_value_that_changes_before_the_day_holds_until_the_day(memory, clock):
    learn_price(memory)
    memory.learn(claims=[{**PRICE, "value": "0.11 euro", "replaces": "0.12 euro"}])
    assert [(f.value, f.state, f.valid_to[:10]) for f in memory.facts()] == [
        ("0.11 euro", "active", "2027-01-01"),
        ("0.10 euro", "upcoming", ""),
    ]
    clock.now = DAY
    assert told(memory) == {"0.10 euro": "active"}


def test_one_plan_follows_another(memory, clock):
    learn_price(memory)
    memory.learn(claims=[{**LATER, "value": "0.08 euro", "valid_from": "2027-06-01"}])
    memory.learn(claims=[{**LATER, "value": "0.11 euro", "valid_from": "2026-12-01"}])
    for clock.now, value in (
        (NOW, "0.12 euro"),
        (datetime(2026, 12, 1, tzinfo=UTC), "0.11 euro"),
        (DAY, "0.10 euro"),
        (datetime(2027, 6, 1, tzinfo=UTC), "0.08 euro"),
    ):
        assert [f.value for f in memory.facts() if f.state == "active"] == [value]


def test_another_value_for_the_same_day_takes_its_place(memory, clock):
    learn_price(memory)
    memory.learn(claims=[{**LATER, "value": "0.09 euro", "replaces": "0.10 euro"}])
    assert told(memory) == {"0.12 euro": "active", "0.09 euro": "upcoming"}
    clock.now = DAY
    assert told(memory) == {"0.09 euro": "active"}


def test_what_ends_on_a_day_to_come_ends_then(memory, clock):
    memory.learn(claims=[PRICE])
    memory.remember("Alpenstrom no longer pays 0.12 euro from 2027.", facts=[{**LATER, **PRICE, "denied": True}])
    assert [(f.shown_value, f.state) for f in memory.facts()] == [
        ("0.12 euro", "active"),
        ("not 0.12 euro", "upcoming"),
    ]
    clock.now = DAY
    assert [(f.shown_value, f.state) for f in memory.facts()] == [("not 0.12 euro", "active")]


def test_a_plan_of_long_ahead_is_neither_asked_about_nor_put_away_before_its_day(memory, clock):
    memory.learn(claims=[PRICE])
    memory.learn(claims=[{**LATER, "valid_from": "2027-11-01"}])
    for days in range(30, 330, 30):
        clock.now = NOW + timedelta(days=days)
        memory.sweep()
    assert told(memory)["0.10 euro"] == "upcoming"
    clock.now = datetime(2027, 11, 1, tzinfo=UTC)
    memory.sweep()
    assert told(memory) == {"0.10 euro": "active"}
    assert memory.check() == []


def test_a_stranger_does_not_end_what_a_user_said(memory, clock):
    memory.learn(claims=[PRICE])
    memory.remember(PLAN, facts=[LATER], metadata={"trust": "external"})
    clock.now = DAY
    assert told(memory)["0.12 euro"] == "active"


def test_a_plan_survives_an_export(memory, clock, tmp_path, monkeypatch):
    learn_price(memory)
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    for command, store in (("export", "a.db"), ("import", "b.db")):
        done = CliRunner().invoke(cli.app, [command, str(tmp_path / "out.jsonl"), "--store", str(tmp_path / store)])
        assert done.exit_code == 0, done.output
    with perdure.open(tmp_path / "b.db", {"embedder": {"model": "none"}}, clock=clock) as other:
        assert told(other) == {"0.12 euro": "active", "0.10 euro": "upcoming"}
        clock.now = DAY
        assert told(other) == {"0.10 euro": "active"}


def test_why_says_when_it_begins(memory):
    learn_price(memory)
    upcoming = next(f.id for f in memory.facts() if f.state == "upcoming")
    fact = memory.why(upcoming).fact
    assert fact.state == "upcoming"
    assert fact.next[0] == "It begins to hold at 2027-01-01 00:00 UTC, by itself."
    assert fact.conflicts[0].told == "the one that began to hold later wins; 0.12 euro holds until then"
    with pytest.raises(perdure.InvalidInput, match="Nothing that is believed contradicts"):
        memory.both(upcoming)
    assert told(memory) == {"0.12 euro": "active", "0.10 euro": "upcoming"}


def test_what_holds_until_then_rests_on_the_new_words(memory):
    other = {**PRICE, "predicate": "contact", "value": "Ida"}
    note = memory.remember("Alpenstrom pays 0.12 euro per meter; contact Ida.", facts=[PRICE, other])
    done = memory.update(note.id, PLAN, facts=[LATER])
    assert [(f.value, f.state, done.id in {m for m, _ in f.sources}) for f in memory.facts()] == [
        ("0.12 euro", "active", True),
        ("0.10 euro", "upcoming", True),
    ]
    memory.undo(done.operation)
    assert sorted(f.value for f in memory.facts()) == ["0.12 euro", "Ida"]


def test_a_value_that_holds_now_stands_beside_one_that_is_planned(memory, clock):
    note = memory.remember("Alpenstrom pays 0.12 euro per meter.", facts=[PRICE])
    memory.update(
        note.id, "Alpenstrom pays 0.11 euro, and 0.10 from 2027.", facts=[{**PRICE, "value": "0.11 euro"}, LATER]
    )
    assert told(memory) == {"0.11 euro": "active", "0.10 euro": "upcoming"}
    clock.now = DAY
    assert told(memory) == {"0.10 euro": "active"}


def test_a_fact_is_not_replaced_by_what_begins_later(memory):
    memory.remember("Alpenstrom pays 0.12 euro per meter.", facts=[PRICE])
    with pytest.raises(perdure.InvalidInput, match="is a fact"):
        memory.update(memory.facts()[0].id, PLAN, facts=[LATER])


def test_a_model_reads_that_the_fact_is_not_true_yet(memory):
    async def story(client):
        answer = await client.call_tool("remember", {"content": PLAN, "facts": [LATER]})
        told = "Upcoming, not true yet: 'Alpenstrom: price: 0.10 euro (from 2027-01-01)'"
        assert told in answer.content[0].text.replace('"', "'")

    talk(over(memory, "full"), story)


def test_what_holds_goes_on_where_a_plan_is_erased(memory, clock):
    learn_price(memory)
    (plan,) = (f.id for f in memory.facts() if f.state == "upcoming")
    word = memory.erase([plan], reason="called off").confirm
    memory.erase([plan], reason="called off", confirm=word, dry_run=False)
    assert [(f.value, f.valid_to) for f in memory.facts()] == [("0.12 euro", "")]
    clock.now = DAY
    assert told(memory) == {"0.12 euro": "active"}
