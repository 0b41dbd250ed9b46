"""What a person corrected, denied or decided, or what has ended, is told as such wherever its note is shown."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, logical
from perdure.rules.language.tokens import estimate_tokens
from perdure.stores.sql_store import SqlStore


def said(subject, predicate, value, **more):
    return {"subject": subject, "predicate": predicate, "value": value, **more}


ROME = said("Tom", "home", "Rome")


# --- a note is corrected


@pytest.mark.parametrize("how", ["correct", "answer"])
def test_a_corrected_note_takes_the_facts_of_its_old_words_with_it(memory, path, how):
    note = memory.remember("Tom lives in Rome.", facts=[ROME])
    before = logical(path)
    answer = (note.id, "Tom lives in Turin.") if how == "correct" else (note.id, "correct", "Tom lives in Turin.")
    done = getattr(memory, how)(*answer)
    assert memory.facts("Tom") == []
    assert "Rome" not in memory.digest()
    assert [h.memory.id for h in memory.recall("Where does Tom live?").hits] == [done.id]
    memory.undo(done.operation)
    assert logical(path) == before


def test_a_fact_that_another_note_says_outlives_a_correction(memory):
    note = memory.remember("Tom lives in Rome.", facts=[ROME])
    memory.remember("Tom moved to Rome in May.", facts=[ROME])
    memory.correct(note.id, "Tom likes Rome.")
    assert [f.value for f in memory.facts("Tom")] == ["Rome"]


@pytest.mark.parametrize("preset", ["balanced", "facts"])
def test_what_was_pinned_stays_pinned_when_it_is_corrected(opening, preset):
    memory = opening({**WORDS_ONLY, "preset": preset})
    note = memory.remember("The emergency doctor is Lee, 555-1.", pinned=True)
    assert memory.correct(note.id, "The emergency doctor is Lee, 555-2.").memory.pinned
    other = memory.remember("The plumber is Ray.")
    assert not memory.correct(other.id, "The plumber is Roy.").memory.pinned
    memory.remember("Kim's phone is 1.", facts=[said("Kim", "phone", "1")])
    memory.pin(memory.facts("Kim")[0].id)
    done = memory.correct(memory.facts("Kim")[0].id, "2")
    assert done.memory.pinned
    assert memory.get(done.id).pinned
    memory.undo(done.operation)
    (fact,) = memory.facts("Kim")
    assert (fact.value, memory.get(fact.id).pinned) == ("1", True)


def test_a_pinned_fact_that_another_already_says_better_hands_its_pin_over(memory):
    memory.remember("Kim's phone is 1.", facts=[said("Kim", "phone", "1")])
    memory.pin(memory.facts("Kim")[0].id)
    memory.remember("Kim's phone is 2.", facts=[said("Kim", "phone", "2")])
    wrong = next(f.id for f in memory.facts("Kim") if f.value == "1")
    done = memory.correct(wrong, "2")
    assert (done.memory.pinned, [f.value for f in memory.facts("Kim")]) == (True, ["2"])


# --- a fact is settled, and its note is told as what it is

QUESTION = "Which is the staging database host?"
OLD = "The staging database host is db-7."
PRESETS = pytest.mark.parametrize("preset", ["balanced", "facts"])


@pytest.fixture
def staged(opening, clock):
    """Return a store in which one note says one thing, of whichever preset."""

    def make(preset="balanced"):
        memory = opening({**WORDS_ONLY, "preset": preset})
        memory.remember(OLD, facts=[said("staging", "database host", "db-7")])
        clock.passes(days=2)
        return memory

    return make


def fact_of(memory, value):
    return next(f.id for f in memory.facts() if f.value == value)


def shown(memory, question=QUESTION):
    """Return everything that is put before an agent unasked."""
    hook = memory.agent.beside(question, "s1", "default")
    return "\n".join([memory.digest(), memory.agent.opening("s2", "default"), hook])


def told(hit):
    return [(o.content, o.over, o.since[:10], o.replaced_by) for o in hit.over]


@PRESETS
def test_the_note_of_a_corrected_fact_is_marked_behind_what_holds(staged, clock, preset):
    memory = staged(preset)
    done = memory.correct(fact_of(memory, "db-7"), "db-9")
    clock.passes(hours=1)
    first, second = memory.recall(QUESTION, touch=False).hits
    assert (first.memory.id, first.updated_by, first.over) == (done.id, None, ())
    assert (second.memory.content, second.updated_by) == (OLD, done.id)
    assert told(second) == [("database host: db-7", "replaced", "2026-01-03", done.id)]
    assert "db-9" in shown(memory)
    assert "db-7" not in shown(memory)
    assert memory.list(kinds=["note"])[0].status == "active"
    memory.undo(done.operation)
    assert [(h.updated_by, h.over) for h in memory.recall(QUESTION, touch=False).hits if h.memory.kind == "note"] == [
        (None, ())
    ]
    assert "db-7" in shown(memory)


@PRESETS
def test_the_note_of_a_denied_fact_is_marked_and_not_shown_unasked(staged, preset):
    memory = staged(preset)
    fact = fact_of(memory, "db-7")
    memory.deny(fact)
    (hit,) = memory.recall(QUESTION, touch=False).hits
    assert (hit.updated_by, told(hit)) == (fact, [("database host: db-7", "denied", "2026-01-03", None)])
    assert "db-7" not in shown(memory)
    memory.remember(
        "Ops checked: the staging database host is db-7 after all.", facts=[said("staging", "database host", "db-7")]
    )
    assert all(h.updated_by is None and not h.over for h in memory.recall(QUESTION, touch=False).hits)


@PRESETS
@pytest.mark.parametrize("how", ["deny the newer", "confirm the older"])
def test_where_the_older_value_won_its_note_stands_before_the_newer(staged, preset, how):
    memory = staged(preset)
    newer = memory.remember("The staging database host is now db-8.", facts=[said("staging", "database host", "db-8")])
    hits = memory.recall(QUESTION, touch=False).hits
    assert [h.memory.id for h in hits if newer.id in h.newer], "the two are compared while nobody has decided"
    memory.deny(fact_of(memory, "db-8")) if how == "deny the newer" else memory.confirm(fact_of(memory, "db-7"))
    hits = memory.recall(QUESTION, touch=False).hits
    order = [h.memory.content for h in hits]
    assert order.index(OLD) < order.index(newer.memory.content)
    marked = {h.memory.content: h for h in hits}
    assert marked[newer.memory.content].updated_by == fact_of(memory, "db-7")
    assert marked[newer.memory.content].older == ()
    assert (marked[OLD].updated_by, marked[OLD].newer, marked[OLD].over) == (None, (), ())
    assert "db-8" not in shown(memory)


SHARED = {
    "two facts, one of which goes": ("node-a and node-b run Debian 11.", ["node-a", "node-b"]),
    "one fact, and more is told": (
        "node-a runs Debian 11, node-b runs Debian 11, the printer in the cellar needs toner.",
        ["node-a"],
    ),
}


@pytest.mark.behaviour("FD47")
@pytest.mark.parametrize("known", SHARED)
def test_a_mark_on_what_is_about_several_things_says_of_which_one_it_is(opening, known):
    memory = opening(WORDS_ONLY)
    text, names = SHARED[known]
    note = memory.remember(text, facts=[said(name, "OS", "Debian 11") for name in names])
    memory.correct(next(f.id for f in memory.facts() if f.name == "node-a"), "Debian 12")
    question = "Which OS does node-b run?"
    (hit,) = (h for h in memory.recall(question, touch=False).hits if h.memory.id == note.id)
    assert [o.content for o in hit.over] == ["node-a: OS: Debian 11"]
    assert 'no longer holds: "node-a: OS: Debian 11"' in memory.agent.beside(question, "s1", "default")


def test_a_name_that_leaves_no_room_for_the_value_is_left_out(opening):
    memory = opening(WORDS_ONLY)
    one, other = (f"{'very ' * 22}long machine {i}" for i in (1, 2))
    note = memory.remember("They run Debian 11.", facts=[said(name, "OS", "Debian 11") for name in (one, other)])
    memory.correct(memory.facts()[0].id, "Debian 12")
    (hit,) = (h for h in memory.recall("Debian 11", touch=False).hits if h.memory.id == note.id)
    assert [o.content for o in hit.over] == ["OS: Debian 11"]


@PRESETS
def test_a_note_of_which_something_holds_says_which_value_is_over(opening, preset):
    memory = opening({**WORDS_ONLY, "preset": preset})
    hosts = [said("staging", "database host", "db-7"), said("production", "database host", "db-1")]
    note = memory.remember("The database of staging runs on db-7, that of production on db-1.", facts=hosts)
    done = memory.correct(fact_of(memory, "db-7"), "db-9")
    question = "Where does the database of production run?"
    (hit,) = (h for h in memory.recall(question, touch=False).hits if h.memory.id == note.id)
    assert hit.updated_by is None
    assert [(o.content, o.replaced_by) for o in hit.over] == [("staging: database host: db-7", done.id)]
    hook = memory.agent.beside(question, "s1", "default")
    assert 'no longer holds: "staging: database host: db-7" (replaced 2026-01-01; see ' in hook


def test_of_many_values_only_the_denied_one_is_over(opening):
    memory = opening(WORDS_ONLY)
    memory.remember("Tom likes tea.", facts=[said("Tom", "likes", "tea")])
    memory.remember("Tom likes coffee.", facts=[said("Tom", "likes", "coffee")])
    memory.deny(fact_of(memory, "tea"))
    marks = {h.memory.content: [o.replaced_by for o in h.over] for h in memory.recall("What does Tom like?").hits}
    assert (marks["Tom likes tea."], marks["Tom likes coffee."]) == ([None], [])


def test_a_note_that_is_partly_over_is_not_called_newer_than_what_holds(staged):
    memory = staged()
    facts = [said("staging", "database host", "db-8"), said("staging", "owner", "Ana")]
    newer = memory.remember("The staging database host is now db-8, its owner Ana.", facts=facts)
    memory.deny(fact_of(memory, "db-8"))
    hits = {h.memory.content: h for h in memory.recall(QUESTION, touch=False).hits}
    assert list(hits).index(OLD) < list(hits).index(newer.memory.content)
    assert (hits[OLD].newer, hits[newer.memory.content].older) == ((), ())
    assert hits[newer.memory.content].updated_by is None


def test_asked_about_a_time_before_it_was_settled_a_note_is_not_marked(staged, clock):
    memory = staged()
    before = clock()
    clock.passes(days=1)
    memory.correct(fact_of(memory, "db-7"), "db-9")
    clock.passes(days=1)
    for then, marked in ((before, False), (clock(), True)):
        for asked in ({"as_of": then}, {"known_at": then}):
            (hit,) = (h for h in memory.recall(QUESTION, touch=False, **asked).hits if h.memory.content == OLD)
            assert (hit.updated_by is not None, bool(hit.over)) == (marked, marked), asked


# --- what has ended

FROZEN = "Main is frozen; nobody may merge."


@PRESETS
def test_a_note_whose_fact_has_ended_tells_the_day_and_is_not_shown_unasked(opening, clock, preset):
    memory = opening({**WORDS_ONLY, "preset": preset})
    memory.remember(FROZEN, facts=[said("main", "merge freeze", "on", valid_to="2026-01-20")])
    (hit,) = (h for h in memory.recall("May I merge to main?", touch=False).hits if h.memory.kind == "note")
    assert (hit.updated_by, hit.over) == (None, ())
    clock.passes(days=60)
    (hit,) = memory.recall("May I merge to main?", touch=False).hits
    assert [(o.over, o.since[:10], o.replaced_by) for o in hit.over] == [("ended", "2026-01-20", None)]
    assert hit.updated_by == hit.over[0].id
    assert "frozen" not in shown(memory, "May I merge to main?")
    assert "frozen" not in memory.answer_sheet("May I merge to main?").text.partition("Said in other memories")[2]


def test_a_note_that_tells_of_what_was_over_when_it_was_stored_is_not_marked(opening, clock):
    memory = opening(WORDS_ONLY)
    clock.passes(days=60)
    memory.remember("Main was frozen in January.", facts=[said("main", "merge freeze", "on", valid_to="2026-01-20")])
    (hit,) = memory.recall("When was main frozen?", touch=False).hits
    assert (hit.updated_by, hit.over) == (None, ())
    assert "frozen in January" in memory.agent.beside("When was main frozen?", "s1", "default")


# --- a note says more than what is over

KICKOFF = "Kickoff: the budget is 40k EUR, launch is on 3 May, Rita owns QA."


@PRESETS
@pytest.mark.parametrize("how", ["correct", "deny", "end"])
def test_a_note_that_says_more_than_what_is_over_stays_in_view(opening, clock, preset, how):
    memory = opening({**WORDS_ONLY, "preset": preset})
    until = {"valid_to": "2026-01-20"} if how == "end" else {}
    note = memory.remember(KICKOFF, facts=[said("project", "budget", "40k EUR", **until)])
    clock.passes(days=30)
    fact = fact_of(memory, "40k EUR") if how != "end" else ""
    memory.correct(fact, "55k EUR") if how == "correct" else memory.deny(fact) if how == "deny" else None
    (hit,) = (h for h in memory.recall("Who owns QA?", touch=False).hits if h.memory.id == note.id)
    assert (hit.updated_by, [o.content for o in hit.over]) == (None, ["project: budget: 40k EUR"])
    hook = memory.agent.beside("Who owns QA?", "s1", "default")
    assert "Rita owns QA" in hook
    assert 'no longer holds: "project: budget: 40k EUR"' in hook
    assert "Rita owns QA" in memory.digest()


@pytest.mark.parametrize(
    ("text", "fact", "says_more"),
    [
        ("Tomás vive en Sevilla.", said("Tomás", "ciudad", "Sevilla"), False),
        ("In short, Tom now lives in Rome.", ROME, False),
        ("Tom lives in Rome. His doctor is Lee, 555-1.", ROME, True),
        ("Tom lives in Rome and plays chess.", ROME, True),
        ("Tom and his cat live in Rome.", ROME, False),
        ("启动会:预算四万欧元，五月三日发布。", said("项目", "预算", "四万欧元"), True),  # noqa: RUF001  # a full-width comma
        ("项目预算是四万欧元。", said("项目", "预算", "四万欧元"), False),
        ("Der Vertrag läuft weiter.", said("Vertrag", "Status", "aktiv"), False),
    ],
)
def test_what_says_more_is_told_by_its_clauses(opening, text, fact, says_more):
    memory = opening(WORDS_ONLY)
    note = memory.remember(text, facts=[fact])
    memory.deny(memory.facts()[0].id)
    (hit,) = (h for h in memory.recall(text, touch=False).hits if h.memory.id == note.id)
    assert (len(hit.over), hit.updated_by is None) == (1, says_more)


def test_a_message_that_says_more_than_what_is_over_is_shown_beside_a_prompt(opening):
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    memory.ingest([{"role": "user", "content": "I live in Leeds. The boiler was serviced by Hanna last week."}])
    done = memory.correct(fact_of(memory, "Leeds"), "York")
    hits = memory.recall("Who serviced the boiler at my home in York?", touch=False).hits
    (hit,) = (h for h in hits if h.memory.kind == "episode")
    assert done.id in [h.memory.id for h in hits]
    assert (hit.updated_by, [o.content for o in hit.over]) == (None, ["home: Leeds"])
    assert "Hanna" in memory.agent.beside("Who serviced the boiler at my home in York?", "s1", "default")


# --- what is shown of it at a session's start and in MEMORY.md


def lines_of(memory):
    """Return the lines of MEMORY.md and of a session's start."""
    return [*memory.digest().splitlines(), *memory.agent.opening("s9", "default").splitlines()]


@PRESETS
def test_a_pinned_line_says_what_of_it_holds_no_longer(opening, path, preset):
    memory = opening({**WORDS_ONLY, "preset": preset})
    text = "The guest wifi is on channel 3."
    memory.remember(text, facts=[said("guest wifi", "channel", "3")], pinned=True)
    before = memory.digest()
    done = memory.correct(fact_of(memory, "3"), "5")
    lines = [line for line in lines_of(memory) if text in line]
    assert len(lines) == 2
    assert all(line.startswith(f'- {text} (no longer holds: "channel: 3") (') for line in lines)
    memory.undo(done.operation)
    assert memory.digest() == before


def test_the_sentence_that_is_over_is_left_out_of_a_line_that_says_more(opening):
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    memory.ingest([{"role": "user", "content": "My name is Nora. I live in Leeds."}])
    memory.remember(
        "Anna lives in Rome. Ben lives in Rome. Both work at Vega.",
        facts=[said("Anna", "home", "Rome"), said("Ben", "home", "Rome")],
    )
    memory.correct(fact_of(memory, "Leeds"), "York")
    anna = next(f.id for f in memory.facts("Anna"))
    memory.correct(anna, "Turin")
    shown = "\n".join(lines_of(memory))
    assert shown.count("- Ben lives in Rome. Both work at Vega.") == 2
    assert shown.count("- My name is Nora.") == 2
    assert "Leeds" not in shown
    assert "no longer holds" not in shown


def test_a_mark_counts_in_the_budget_of_a_line(opening):
    memory = opening(WORDS_ONLY)
    value = "the sixth floor of the old tower beside the northern gate"
    memory.remember(f"The printer is on {value}.", facts=[said("printer", "place", value)], pinned=True)
    room = memory.digest_details().tokens
    assert "The printer" in memory.digest(budget_tokens=room)
    memory.deny(fact_of(memory, value))
    assert "The printer" not in memory.digest(budget_tokens=room)
    needed = memory.digest_details().tokens
    assert "no longer holds" in memory.digest(budget_tokens=needed)
    assert estimate_tokens(memory.digest(budget_tokens=needed)) <= needed


# --- what was over when it was told

OSLO = ("Ana lives in Oslo since May 2024.", [said("Ana", "home", "Oslo", valid_from="2024-05-01")])
ROME_ONCE = (
    "Ana lived in Rome from 2015 to 2018.",
    [said("Ana", "home", "Rome", valid_from="2015-01-01", valid_to="2018-12-31")],
)
BERN_SINCE = ("Ana moved to Bern in 2013.", [said("Ana", "home", "Bern", valid_from="2013-01-01")])


@PRESETS
@pytest.mark.parametrize(("first", "then"), [(ROME_ONCE, OSLO), (OSLO, ROME_ONCE)])
def test_history_is_neither_marked_nor_moved_nor_left_out(opening, preset, first, then):
    memory = opening({**WORDS_ONLY, "preset": preset})
    for text, facts in (first, then):
        memory.remember(text, facts=facts)
    past = then if first is OSLO else first
    (hit,) = (h for h in memory.recall(f"When was it: {past[0]}", touch=False).hits if h.memory.content == past[0])
    assert (hit.updated_by, hit.over) == (None, ())
    text = shown(memory, past[0])
    assert text.count(past[0].rstrip(".")) == 3
    assert "Oslo" in memory.digest()


def test_a_note_of_what_was_and_what_is_keeps_its_line(opening):
    memory = opening(WORDS_ONLY)
    acme = said("Sam", "employer", "Acme", valid_from="2018-01-01", valid_to="2021-05-31")
    text = "Sam worked at Acme from 2018 to 2021 and at Beta from 2021 on."
    memory.remember(text, facts=[acme, said("Sam", "employer", "Beta", valid_from="2021-06-01")])
    assert [line for line in memory.digest().splitlines() if text in line]
    (hit, *_) = memory.recall("Where has Sam worked?", touch=False).hits
    assert (hit.memory.content, hit.over) == (text, ())


def test_a_fact_whose_end_is_told_later_ended_on_its_day(opening, clock):
    memory = opening(WORDS_ONLY)
    rome = said("Ana", "home", "Rome", valid_from="2015-01-01")
    note = memory.remember("Ana lives in Rome with Miso.", facts=[rome, said("Ana", "cat", "Miso")])
    clock.passes(days=2)
    memory.remember("Ana lived in Rome until 2018.", facts=[{**rome, "valid_to": "2018-12-31"}])
    memory.remember(OSLO[0], facts=OSLO[1])
    (hit,) = (h for h in memory.recall("Ana in Rome with Miso?", touch=False).hits if h.memory.id == note.id)
    ((_, how, day, _),) = told(hit)
    assert (how, day) == ("ended", "2018-12-31")


# --- cost


def test_more_marked_notes_need_no_more_statements(opening, monkeypatch):
    memory = opening(WORDS_ONLY)
    hosts = [f"db-{n}" for n in range(8)]
    for n, host in enumerate(hosts):
        memory.remember(f"The database of cluster c{n} is {host}.", facts=[said(f"c{n}", "database", host)])
    asked = []
    for name in ("links_at", "states"):
        plain = getattr(SqlStore, name)
        monkeypatch.setattr(SqlStore, name, lambda *a, plain=plain: (asked.append(plain), plain(*a))[1])

    def count():
        asked.clear()
        hits = memory.recall("the database of cluster", limit=20, touch=False).hits
        return len(asked), sum(bool(h.over) for h in hits)

    memory.correct(fact_of(memory, hosts[0]), "db-x")
    one, marked = count()
    assert marked == 1
    for host in hosts[1:]:
        memory.correct(fact_of(memory, host), "db-x")
    many, marked = count()
    assert (marked, many) == (len(hosts), one)


def test_what_began_earlier_and_has_no_stated_end_is_marked_as_ended(opening):
    """Its note may say it as if it held: "the depot is in Nancy"."""
    memory = opening(WORDS_ONLY)
    for text, facts in (OSLO, BERN_SINCE):
        memory.remember(text, facts=facts)
    (hit,) = (h for h in memory.recall(BERN_SINCE[0], touch=False).hits if h.memory.content == BERN_SINCE[0])
    assert [(o.over, o.since[:10]) for o in hit.over] == [("ended", "2024-05-01")]
    assert BERN_SINCE[0] not in memory.digest()
