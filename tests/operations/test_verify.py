"""Facts held against a real database, and citations against a real working tree: what follows, and what never does."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from conftest import WORDS_ONLY, Clock, HashEmbedder, bare_fact, logical, opened, tables
from perdure.knowledge.extraction.values import value_of
from perdure.knowledge.records.authority import Agreement, CitationState
from perdure.knowledge.records.facts import Fact, FactOrigin, Value, ValueKind, fact_key
from perdure.records.errors import GateStopped, InvalidInput, PolicyError
from perdure.records.instant import to_instant
from perdure.records.memory import Shelf, Status, Trust
from stores.planning import applied, document

pytest.importorskip("sqlalchemy")

QUERIES = {
    "delivery_day_preference": "SELECT day FROM customer WHERE name = :subject",
    "payment_terms": "SELECT terms FROM customer WHERE name IN :aliases",
    "hobby": "SELECT hobby FROM hobby WHERE name = :subject",
}
DAY = "delivery_day_preference"


@pytest.fixture(params=["sqlite", "postgres"], scope="module")
def store(request):
    return request.param


class Domain:
    """A database that knows better, in a file of its own."""

    def __init__(self, file):
        self.file = file
        self.run("CREATE TABLE customer (name TEXT, day TEXT, terms TEXT)")
        self.run("CREATE TABLE hobby (name TEXT, hobby TEXT)")

    def run(self, sql, *values):
        with closing(sqlite3.connect(self.file)) as connection:
            connection.execute(sql, values)
            connection.commit()

    def says(self, name, day, terms=None):
        self.run("DELETE FROM customer WHERE name = ?", name)
        self.run("INSERT INTO customer VALUES (?, ?, ?)", name, day, terms)


@pytest.fixture
def domain(tmp_path):
    return Domain(tmp_path / "domain.db")


@pytest.fixture
def policy(tmp_path, domain):
    return policy_of(tmp_path)


def policy_of(folder, extra="", url="sqlite:///domain.db"):
    lines = [f"{name} = {json.dumps(query)}" for name, query in QUERIES.items()]
    text = (
        f"[authorities.crm]\nurl = {json.dumps(url)}\n[authorities.crm.predicates]\n" + "\n".join(lines) + "\n" + extra
    )
    (folder / "knowledge.toml").write_text(text, "utf-8")
    return {**WORDS_ONLY, "knowledge": {"file": str(folder / "knowledge.toml")}}


@pytest.fixture
def memory(opening, policy):
    return opening(policy)


def believed(
    raw_store, memory, subject, predicate, text, *, many=False, confidence=0.7, namespace="default", aliases=()
):
    """Store a fact as learning does: a memory of kind fact, the document beside it, who it is about."""
    name = subject.replace("-", " ").title()
    words = f"{name}: {predicate.replace('_', ' ')}: {text}"
    kept = bare_fact(memory, words, namespace, confidence=confidence, importance=0.6)
    now = to_instant(kept.memory.created_at)
    fact = Fact(
        kept.id, subject, predicate, "preference", value_of(text, now), FactOrigin.EXPLICIT,
        many=many, valid_from=now,
    )  # fmt: skip
    changes = [document(Shelf.FACT, kept.id, fact.key, None, fact.to_data())]
    changes.append(document(Shelf.ABOUT, kept.id, subject, None, {}))
    if not raw_store.documents.find(namespace, Shelf.ENTITY, [subject]):
        entity = {"name": name, "type": "organisation", "merged_into": None}
        changes.append(document(Shelf.ENTITY, subject, "", None, entity))
        changes += [document(Shelf.ALIAS, subject, a.casefold(), None, {"text": a}) for a in aliases]
    changes.append(document(Shelf.MENTION, kept.id, subject, None, {"role": "subject"}))
    applied(memory, *changes, namespace=namespace)
    return kept.id


def fact_of(raw_store, identity, namespace="default"):
    (found,) = raw_store.documents.find(namespace, Shelf.FACT, [identity])
    return Fact.from_data(identity, found.data)


def documents(raw_store, shelf, identity, namespace="default"):
    return raw_store.documents.find(namespace, shelf, [identity])


def state_of(memory, identity):
    return memory.get(identity, include_archived=True).state


def links(raw_store, identity):
    return {(kind, other) for kind, other, _ in raw_store.links("default", identity)}


# --- agreement


@pytest.mark.behaviour("AU1")
def test_an_authority_that_agrees_validates(memory, domain, clock, raw_store):
    domain.says("Gai Media", "FRIDAY")
    fact = believed(raw_store, memory, "gai-media", DAY, "Friday")
    clock.passes(days=60)
    found = memory.verify()
    (verdict,) = found.verdicts
    assert (verdict.outcome, verdict.claimed, verdict.known) == (Agreement.AGREES, "Friday", ("FRIDAY",))
    state = state_of(memory, fact)
    assert state.confidence == pytest.approx(0.72)
    assert (state.reinforcements, state.validated_ms, state.status) == (2, to_instant(clock()), Status.ACTIVE)
    (check,) = documents(raw_store, Shelf.CHECK, fact)
    assert (check.name, check.data["outcome"], check.data["known"]) == ("crm", "agrees", ["FRIDAY"])
    assert check.data["at_ms"] == to_instant(clock())
    assert len(found.operations) == 1


@pytest.mark.behaviour("AU9")
def test_an_agreement_counts_once_in_twelve_hours_and_never_lifts_over_the_cap(memory, domain, clock, raw_store):
    domain.says("Gai Media", "Friday")
    fact = believed(raw_store, memory, "gai-media", DAY, "Friday", confidence=0.94)
    memory.verify()
    assert state_of(memory, fact).confidence == pytest.approx(0.95)
    clock.passes(hours=11)
    memory.verify()
    assert state_of(memory, fact).reinforcements == 2
    clock.passes(hours=1)
    memory.verify()
    assert state_of(memory, fact).reinforcements == 3
    assert state_of(memory, fact).confidence == pytest.approx(0.95)


def test_an_agreement_soon_after_the_authority_was_silent_counts(memory, domain, clock, raw_store):
    fact = believed(raw_store, memory, "gai-media", DAY, "Friday")
    memory.verify()
    clock.passes(hours=1)
    domain.says("Gai Media", "Friday")
    memory.verify()
    assert state_of(memory, fact).reinforcements == 2


def test_a_confidence_above_the_cap_is_not_lowered_by_agreement(memory, domain, raw_store):
    domain.says("Gai Media", "Friday")
    fact = believed(raw_store, memory, "gai-media", DAY, "Friday", confidence=0.99)
    memory.verify()
    assert state_of(memory, fact).confidence == pytest.approx(0.99)


# --- disagreement


@pytest.mark.behaviour("AU2")
def test_an_authority_that_disagrees_wins_and_both_values_are_shown(memory, domain, clock, raw_store):
    domain.says("Gai Media", "Thursday")
    old = believed(raw_store, memory, "gai-media", DAY, "Friday")
    clock.passes(days=30)
    now = to_instant(clock())
    found = memory.verify()
    (verdict,) = found.verdicts
    assert (verdict.outcome, verdict.claimed, verdict.known) == (Agreement.DISAGREES, "Friday", ("Thursday",))
    new = verdict.replaced_by
    assert found.to_dict()["verdicts"][0]["replaced_by"] == new

    gone = state_of(memory, old)
    assert (gone.status, gone.status_ms) == (Status.INVALIDATED, now)
    was = fact_of(raw_store, old)
    assert (was.retired, was.valid_to, was.value.text) == (now, now, "Friday")

    kept = memory.get(new)
    assert kept.content == "Gai Media: delivery day preference: Thursday"
    assert (kept.kind, kept.state.confidence, kept.status) == ("fact", 0.95, Status.ACTIVE)
    assert kept.importance == pytest.approx(0.6)
    fact = fact_of(raw_store, new)
    assert (fact.key, fact.value.text) == (fact_key("gai-media", DAY), "Thursday")
    assert (fact.learned, fact.trust, fact.valid_from) == (FactOrigin.AUTHORITY, Trust.AUTHORITY, now)
    assert ("supersedes", old) in links(raw_store, new)
    (conflict,) = documents(raw_store, Shelf.CONFLICT, old)
    assert conflict.name == new
    assert [side["value"] for side in conflict.data["sides"]] == ["Friday", "Thursday"]
    assert (conflict.data["strategy"], conflict.data["winner"]) == ("trust_db", new)
    assert [d.name for d in documents(raw_store, Shelf.MENTION, new)] == ["gai-media"]

    hits = [h.memory.id for h in memory.recall("which day does Gai Media prefer for delivery").hits]
    assert new in hits
    assert old not in hits


@pytest.mark.behaviour("AU3")
def test_a_fact_that_already_holds_the_authoritys_value_takes_over(memory, domain, raw_store):
    """Both were said and nobody decided: the database does, and no third fact is made."""
    domain.says("Gai Media", "Thursday")
    friday = believed(raw_store, memory, "gai-media", DAY, "Friday")
    thursday = believed(raw_store, memory, "gai-media", DAY, "Thursday")
    applied(memory, document(Shelf.CONFLICT, friday, thursday, None, {"strategy": "ask", "outcome": "open"}))
    found = memory.verify(ids=[friday])
    assert {v.id: v.outcome for v in found.verdicts} == {friday: Agreement.DISAGREES, thursday: Agreement.AGREES}
    assert state_of(memory, friday).status is Status.INVALIDATED
    assert state_of(memory, thursday).reinforcements == 2
    assert ("supersedes", friday) in links(raw_store, thursday)
    (conflict,) = documents(raw_store, Shelf.CONFLICT, friday)
    assert (conflict.data["strategy"], conflict.data["winner"]) == ("trust_db", thursday)
    assert len(memory.list(kinds=["fact"])) == 1


def test_several_wrong_facts_of_one_key_get_one_successor(memory, domain, raw_store):
    domain.says("Gai Media", "Thursday")
    old = [believed(raw_store, memory, "gai-media", DAY, day) for day in ("Monday", "Tuesday", "Friday")]
    found = memory.verify()
    assert len({v.replaced_by for v in found.verdicts}) == 1
    (kept,) = memory.list(kinds=["fact"])
    assert {("supersedes", i) for i in old} <= links(raw_store, kept.id)


def test_what_is_no_longer_believed_is_not_asked_about(memory, domain, clock, raw_store):
    domain.says("Gai Media", "Thursday")
    old = believed(raw_store, memory, "gai-media", DAY, "Friday")
    archived = believed(raw_store, memory, "kai-media", DAY, "Monday")
    domain.says("Kai Media", "Sunday")
    memory.archive(archived, "by hand")
    memory.verify()
    clock.passes(days=1)
    again = memory.verify()
    assert [v.outcome for v in again.verdicts] == [Agreement.AGREES]
    assert old not in {v.id for v in again.verdicts}
    assert state_of(memory, archived).status is Status.ARCHIVED


# --- nothing follows


@pytest.mark.behaviour("AU5")
def test_what_is_silent_or_ambiguous_changes_no_fact(memory, domain, raw_store):
    domain.says("Gai Media", None)
    domain.run("INSERT INTO customer VALUES ('Kai Media', 'Monday', '')")
    domain.run("INSERT INTO customer VALUES ('Kai Media', 'Tuesday', '')")
    silent = believed(raw_store, memory, "gai-media", DAY, "Friday")
    unclear = believed(raw_store, memory, "kai-media", DAY, "Monday")
    nobody = believed(raw_store, memory, "nobody", DAY, "Monday")
    before = {i: state_of(memory, i) for i in (silent, unclear, nobody)}
    found = {v.id: v for v in memory.verify().verdicts}
    assert {i: v.outcome for i, v in found.items()} == {
        silent: Agreement.SILENT, unclear: Agreement.AMBIGUOUS, nobody: Agreement.SILENT,
    }  # fmt: skip
    assert found[unclear].known == ("Monday", "Tuesday")
    assert "does not say which" in found[unclear].evidence
    assert {i: state_of(memory, i) for i in before} == before
    assert documents(raw_store, Shelf.CHECK, unclear)[0].data["outcome"] == "ambiguous"
    assert documents(raw_store, Shelf.CONFLICT, unclear) == []


@pytest.mark.behaviour("AU4")
@pytest.mark.parametrize("fault", ["missing", "table", "slow"])
def test_an_authority_that_cannot_be_asked_changes_nothing_at_all(opening, domain, policy, path, fault, raw_store):
    memory = opening(policy)
    believed(raw_store, memory, "gai-media", DAY, "Friday")
    if fault == "missing":
        domain.file.unlink()
    elif fault == "table":
        domain.run("DROP TABLE customer")
    else:
        slow = (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n WHERE :subject <> ''"
        )
        text = f"[authorities.crm]\nurl = 'sqlite:///domain.db'\ntimeout_seconds = 0.2\npredicates.{DAY} = \"{slow}\""
        (domain.file.parent / "knowledge.toml").write_text(text)
        memory = opening(policy)
    before = tables(path)
    found = memory.verify()
    (verdict,) = found.verdicts
    assert verdict.outcome is Agreement.UNREACHABLE
    why = {"missing": "there is no file", "table": "no such table", "slow": "the query was stopped"}[fault]
    assert why in verdict.evidence
    assert found.operations == ()
    assert tables(path) == before


def test_one_of_several_values_is_no_contradiction_where_there_may_be_many(memory, domain, raw_store):
    for hobby in ("chess", "rowing"):
        domain.run("INSERT INTO hobby VALUES ('Anna', ?)", hobby)
    chess = believed(raw_store, memory, "anna", "hobby", "chess", many=True)
    golf = believed(raw_store, memory, "anna", "hobby", "golf", many=True)
    found = {v.id: v.outcome for v in memory.verify().verdicts}
    assert found == {chess: Agreement.AGREES, golf: Agreement.AMBIGUOUS}
    assert state_of(memory, golf).status is Status.ACTIVE


def test_an_entity_is_asked_about_by_each_of_its_names(memory, domain, raw_store):
    domain.says("GM Ltd", None, "NET30")
    fact = believed(raw_store, memory, "gai-media", "payment_terms", "NET30", aliases=("GM Ltd", "Gai"))
    assert [v.outcome for v in memory.verify(ids=[fact]).verdicts] == [Agreement.AGREES]


def test_a_subject_with_sql_in_its_name_is_only_a_name(memory, domain, raw_store):
    domain.says("Gai Media", "Thursday")
    believed(raw_store, memory, "x' or '1'='1", DAY, "Friday")
    assert [v.outcome for v in memory.verify().verdicts] == [Agreement.SILENT]


# --- order of authorities


@pytest.mark.behaviour("AU11")
def test_the_first_authority_that_is_not_silent_decides(opening, domain, tmp_path, raw_store):
    second = Domain(tmp_path / "second.db")
    query = json.dumps(QUERIES[DAY])
    extra = f'[authorities.erp]\nurl = "sqlite:///second.db"\n[authorities.erp.predicates]\n{DAY} = {query}\n'
    memory = opening(policy_of(tmp_path, extra))
    domain.says("Gai Media", "Thursday")
    second.says("Gai Media", "Monday")
    second.says("Kai Media", "Monday")
    gai, kai = (believed(raw_store, memory, s, DAY, "Monday") for s in ("gai-media", "kai-media"))
    found = {v.id: (v.authority, v.outcome) for v in memory.verify().verdicts}
    assert found == {gai: ("crm", Agreement.DISAGREES), kai: ("erp", Agreement.AGREES)}
    domain.file.unlink()
    (verdict,) = memory.verify(ids=[kai]).verdicts
    assert (verdict.authority, verdict.outcome) == ("crm", Agreement.UNREACHABLE)


# --- what happens meanwhile


class Meddling:
    """The database, asked while something else happens to the store."""

    def __init__(self, authority, meanwhile):
        self.authority, self.meanwhile, self.asked = authority, meanwhile, 0
        self.name, self.knows = authority.name, authority.knows

    def answers(self, questions):
        self.asked += 1
        if self.asked == 1:
            self.meanwhile()
        return self.authority.answers(questions)


def meddled(memory, meanwhile):
    """Have something happen while the authority is asked."""
    authorities = memory._context.extension.resources.authorities
    authorities["crm"] = Meddling(authorities["crm"], meanwhile)


def test_what_is_archived_while_the_authority_is_asked_stays_archived(memory, domain, raw_store):
    domain.says("Gai Media", "Thursday")
    fact = believed(raw_store, memory, "gai-media", DAY, "Friday")
    meddled(memory, lambda: memory.archive(fact, "meanwhile"))
    assert memory.verify().operations == ()
    assert state_of(memory, fact).status is Status.ARCHIVED
    assert len(memory.list(kinds=["fact"], include_archived=True)) == 1


def test_what_is_corrected_while_the_authority_is_asked_is_read_again(memory, domain, clock, raw_store):
    domain.says("Gai Media", "Thursday")
    fact = believed(raw_store, memory, "gai-media", DAY, "Friday")
    was = fact_of(raw_store, fact)

    def corrected():
        new = replace(was, value=Value("Thursday", ValueKind.TEXT, "thursday"))
        applied(memory, document(Shelf.FACT, fact, was.key, was.to_data(), new.to_data()))

    meddled(memory, corrected)
    assert [v.outcome for v in memory.verify().verdicts] == [Agreement.AGREES]
    assert state_of(memory, fact).status is Status.ACTIVE
    assert fact_of(raw_store, fact).value.text == "Thursday"


# --- one plan


@pytest.mark.behaviour("AU6")
def test_undo_restores_the_store_row_for_row(opening, domain, policy, path, raw_store):
    memory = opening(policy, HashEmbedder())
    domain.says("Gai Media", "Thursday")
    domain.says("Kai Media", "Monday")
    for subject, day in (("gai-media", "Friday"), ("kai-media", "Monday"), ("gai-media", "Sunday")):
        believed(raw_store, memory, subject, DAY, day)
    before = logical(path)
    found = memory.verify()
    assert logical(path) != before
    (operation,) = found.operations
    memory.undo(operation)
    assert logical(path) == before


@pytest.mark.behaviour("AU7")
def test_two_runs_at_one_instant_are_one(opening, domain, policy, path, raw_store):
    memory = opening(policy, HashEmbedder())
    domain.says("Gai Media", "Thursday")
    domain.says("Kai Media", "Monday")
    domain.says("Lai Media", None)
    for subject, day in (("gai-media", "Friday"), ("kai-media", "Monday"), ("lai-media", "Monday")):
        believed(raw_store, memory, subject, DAY, day)
    memory.remember("the entry is in src/app.py")
    first = memory.verify()
    before = tables(path)
    second = memory.verify()
    assert (len(first.operations), second.operations) == (1, ())
    assert tables(path) == before


def test_a_limit_is_met_and_the_rest_comes_next(memory, domain, clock, raw_store):
    for i in range(7):
        domain.says(f"Shop {i}", "Monday")
        believed(raw_store, memory, f"shop-{i}", DAY, "Monday")
    seen, left = [], []
    for _ in range(3):
        found = memory.verify(limit=3)
        seen += [v.id for v in found.verdicts]
        left.append(found.left)
        clock.passes(days=1)
    assert len(set(seen[:7])) == 7
    assert left == [4, 4, 4]


@pytest.mark.behaviour("AU8")
def test_a_wrong_query_is_stopped_by_the_loss_budget(opening, domain, tmp_path, path, raw_store):
    policy = policy_of(tmp_path)
    memory = opening({**policy, "gates": {"loss_free_count": 2}})
    for i in range(5):
        domain.says(f"Shop {i}", "Sunday")
        believed(raw_store, memory, f"shop-{i}", DAY, "Monday")
    before = tables(path)
    with pytest.raises(GateStopped, match="wrong query more often") as stopped:
        memory.verify()
    assert "Look at the query" in stopped.value.remedy
    assert tables(path) == before
    found = memory.verify(accept_loss="the shops close on Mondays")
    assert found.count(Agreement.DISAGREES) == 5
    assert "the shops close on Mondays" in memory.history()[0].note


def test_other_namespaces_are_not_touched(memory, domain, raw_store):
    domain.says("Gai Media", "Thursday")
    other = believed(raw_store, memory, "gai-media", DAY, "Friday", namespace="other")
    assert memory.verify().verdicts == ()
    assert memory.verify("other").verdicts[0].id == other


def test_ids_nobody_has_a_word_on_are_named(memory, domain):
    kept = memory.remember("nothing to check")
    assert memory.verify(ids=[kept.id, "unknown"]).unasked == (kept.id, "unknown")
    for wrong in ("abc", 7):
        with pytest.raises(InvalidInput):
            memory.verify(ids=wrong)
    with pytest.raises(InvalidInput):
        memory.verify(limit=0)


def test_a_faulty_file_is_refused_when_the_store_is_opened(tmp_path):
    (tmp_path / "knowledge.toml").write_text('[authorities.crm]\nurl = "mysql://root:s3cret@host/db"\n')
    with pytest.raises(PolicyError, match=r"knowledge.toml, authority 'crm'") as refused:
        opened(":memory:", {**WORDS_ONLY, "knowledge": {"file": str(tmp_path / "knowledge.toml")}})
    assert "s3cret" not in str(refused.value)


# --- citations


@pytest.fixture
def coding(opening, tmp_path, domain):
    (tmp_path / "repo" / "src").mkdir(parents=True)
    (tmp_path / "repo" / "src" / "app.py").write_text("def main():\n    return 1\n")
    return opening(policy_of(tmp_path, '[authorities.code]\nworking_tree = "repo"\n'))


@pytest.mark.behaviour("WH15", "AU27")
def test_memories_that_cite_are_looked_at_as_the_tree_changes(coding, tmp_path, clock, raw_store):
    kept = coding.remember("The entry point is src/app.py#main, see https://example.org/x")
    plain = coding.remember("Nothing is cited here.")
    assert [(c.id, c.sight) for c in coding.verify().cited] == [(kept.id, CitationState.FINE)]
    clock.passes(days=1)
    (tmp_path / "repo" / "lib").mkdir()
    (tmp_path / "repo" / "src" / "app.py").rename(tmp_path / "repo" / "lib" / "app.py")
    (moved,) = coding.verify().cited
    assert moved.sight is CitationState.MOVED
    assert "lib/app.py#main" in moved.to_dict()["sightings"][0]["found"]
    (check,) = documents(raw_store, Shelf.CHECK, kept.id)
    assert (check.name, check.data["outcome"]) == ("code", "moved")
    assert "lib/app.py#main" in check.data["evidence"]
    asked = {h.memory.id: h.question for h in coding.recall("entry point", touch=False).hits}
    assert "found as lib/app.py#main" in asked[kept.id]  # whoever relies on it is told
    (tmp_path / "repo" / "lib" / "app.py").write_text("")
    clock.passes(days=1)
    assert coding.verify().cited[0].sight is CitationState.STALE
    assert coding.get(kept.id).status is Status.ACTIVE
    assert documents(raw_store, Shelf.CHECK, plain.id) == []


@pytest.mark.behaviour("AU27")
def test_only_what_was_there_once_is_told_gone(coding, tmp_path):
    coding.remember("Write the settings to settings.toml and run tests/test_all.py#main")
    (never,) = coding.verify().cited
    assert never.sight is CitationState.UNVERIFIABLE
    assert "settings.toml does not exist, and was not seen before" in [s.evidence for s in never.sightings]
    (tmp_path / "repo" / "settings.toml").write_text("")
    assert CitationState.FINE in {s.sight for s in coding.verify().cited[0].sightings}
    (tmp_path / "repo").rename(tmp_path / "away")
    assert coding.verify().cited[0].sight is CitationState.UNVERIFIABLE
    (tmp_path / "away").rename(tmp_path / "repo")
    (tmp_path / "repo" / "settings.toml").unlink()
    assert {s.citation.text: s.sight for s in coding.verify().cited[0].sightings} == {
        "settings.toml": CitationState.STALE,
        "tests/test_all.py#main": CitationState.UNVERIFIABLE,
    }


def test_a_tree_that_is_gone_says_nothing_against_a_memory(coding, tmp_path):
    coding.remember("See src/app.py#main")
    (tmp_path / "repo").rename(tmp_path / "away")
    assert [c.sight for c in coding.verify().cited] == [CitationState.UNVERIFIABLE]


# --- upkeep


@pytest.mark.behaviour("AU10")
def test_upkeep_verifies_daily_where_authorities_are_named(memory, opening, domain, clock, path, raw_store):
    domain.says("Gai Media", "Thursday")
    old = believed(raw_store, memory, "gai-media", DAY, "Friday")
    runs = [r for r in memory.upkeep("one", eager=True).runs if r.task == "verify"]
    assert [(r.outcome, r.note) for r in runs] == [("done", "1 disagrees")]
    assert state_of(memory, old).status is Status.INVALIDATED
    assert [r for r in memory.upkeep("one").runs if r.task == "verify"] == []
    clock.passes(hours=25)
    assert [r.note for r in memory.upkeep("one", eager=True).runs if r.task == "verify"] == ["1 agrees"]
    plain = opening(WORDS_ONLY)
    clock.passes(days=2)
    assert [r for r in plain.upkeep("two", eager=True).runs if r.task == "verify"] == []


def test_a_year_of_daily_agreement_stays_within_the_cap(opening, domain, policy, raw_store):
    clock = Clock()
    memory = opening(policy, now=clock)
    domain.says("Gai Media", "Friday")
    fact = believed(raw_store, memory, "gai-media", DAY, "Friday")
    for _ in range(20):
        clock.passes(days=18)
        memory.verify()
    state = state_of(memory, fact)
    assert state.confidence == pytest.approx(0.95)
    assert (state.reinforcements, state.validated_ms) == (21, to_instant(clock()))


@pytest.mark.behaviour("KW80")
def test_what_is_denied_is_compared_with_an_authority_too(opening, tmp_path, domain):
    policy = policy_of(tmp_path)
    memory = opening({**policy, "knowledge": {**policy["knowledge"], "authority_seconds": 0}})
    domain.says("Gai Media", "Friday")
    for day in ("Friday", "Monday"):
        claim = {"subject": "Gai Media", "predicate": "delivery day preference", "value": day, "denied": True}
        memory.learn(claims=[claim])
    found = {v.claimed: v for v in memory.verify().verdicts}
    assert {claimed: v.outcome for claimed, v in found.items()} == {
        "not Friday": Agreement.DISAGREES,
        "not Monday": Agreement.AGREES,
    }
    shown = {f.shown_value for f in memory.facts("Gai Media")}
    assert shown == {"Friday", "not Monday"}
    assert memory.get(found["not Friday"].replaced_by).content == "Gai Media: delivery day preference: Friday"
