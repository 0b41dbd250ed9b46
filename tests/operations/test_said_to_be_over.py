"""A text that says of the old value that it is over replaces it: nobody is asked what was just said."""

import pytest
from typer.testing import CliRunner

import perdure
from perdure.interfaces.cli.app import app


@pytest.fixture
def memory(tmp_path):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}) as opened:
        yield opened


def fact(value, **more):
    return {"subject": "shopfront", "predicate": "test runner", "value": value, **more}


SAID = [
    "Unit tests run with Vitest now; Jest is gone.",
    "Unit tests run with Vitest instead of Jest.",
    "We moved the tests from Jest to Vitest.",
    "The tests run with Vitest, and Jest has been removed from the repository.",
    "Die Tests laufen mit Vitest; Jest wird nächste Woche abgeschaltet.",
    "Wir testen mit Vitest statt Jest.",
    "Les tests tournent avec Vitest; Jest est supprimé.",
    "Las pruebas van con Vitest en lugar de Jest.",
]
NOT_SAID = [
    "Unit tests run with Vitest.",
    "Unit tests run with Vitest. Jest is not gone yet.",
    "Unit tests run with Vitest. If Jest is gone, the old suite breaks.",
    "Unit tests run with Vitest. Is Jest gone?",
    "Unit tests run with Vitest, and the Jest plugin is fast.",
]


@pytest.mark.behaviour("FD42")
@pytest.mark.parametrize("text", SAID)
def test_a_value_that_the_text_says_is_over_is_replaced_without_a_question(memory, text):
    memory.remember("Unit tests run with Jest.", facts=[fact("Jest")])
    done = memory.remember(text, facts=[fact("Vitest")])
    assert done.facts.asked == ()
    assert [f.value for f in memory.facts()] == ["Vitest"]
    assert memory.review() == []


@pytest.mark.parametrize("text", NOT_SAID)
def test_a_text_that_does_not_say_so_leads_to_the_question(memory, text):
    memory.remember("Unit tests run with Jest.", facts=[fact("Jest")])
    assert memory.remember(text, facts=[fact("Vitest")]).facts.asked
    assert len(memory.review()) == 1


def test_a_less_trusted_text_replaces_nothing(memory):
    memory.remember("Unit tests run with Jest.", facts=[fact("Jest")])
    memory.remember("Vitest; Jest is gone.", facts=[fact("Vitest")], metadata={"trust": "external"})
    assert "Jest" in [f.value for f in memory.facts()]


def test_a_contested_fact_is_shown_with_what_it_conflicts_with(memory):
    memory.remember(
        "The pipeline runs with Airflow on the server etl01.",
        facts=[
            {"subject": "Pipeline", "predicate": "orchestrator", "value": "Airflow"},
            {"subject": "Pipeline", "predicate": "server", "value": "etl01"},
        ],
    )
    replaced = {"subject": "Pipeline", "predicate": "orchestrator", "value": "Dagster", "replaces": "Airflow"}
    memory.remember("We use Dagster.", facts=[replaced])
    memory.remember(
        "The pipeline is on etl02.", facts=[{"subject": "Pipeline", "predicate": "server", "value": "etl02"}]
    )
    shown = [line for line in memory.digest().splitlines() if "server: etl01" in line]
    assert all("(conflicts with etl02 - undecided)" in line for line in shown)
    assert shown


def test_an_answer_says_in_words_what_was_confirmed(memory, tmp_path):
    memory.remember("Unit tests run with Jest.", facts=[fact("Jest")])
    memory.remember("Unit tests run with Vitest.", facts=[fact("Vitest")])
    (question,) = memory.review()
    policy = tmp_path / "policy.toml"
    policy.write_text('embedder.model = "none"', encoding="utf-8")
    arguments = ["--store", str(tmp_path / "a.db"), "--policy", str(policy), "review", question.id, "confirm"]
    done = CliRunner().invoke(app, arguments)
    assert "shopfront: test runner: Vitest" in done.output.splitlines()[0]
