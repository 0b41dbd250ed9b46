"""A reply names the value that is kept beside a new one, where the predicate may have several."""

import pytest

import perdure
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views.model import render_text


@pytest.fixture
def memory(clock):
    with perdure.open(":memory:", {"embedder": {"model": "none"}}, clock=clock) as opened:
        yield opened


def tell(memory, text, predicate, value, **more):
    return memory.remember(text, facts=[{"subject": "Mudlark", "predicate": predicate, "value": value, **more}])


@pytest.mark.parametrize(
    ("first", "later", "predicate", "values"),
    [
        (
            "The contact at Mudlark is Harriet Boyle.",
            "Sol Whitaker is now the contact.",
            "contact",
            ("Harriet Boyle", "Sol Whitaker"),
        ),
        ("El contacto de Mudlark es Ana Ruiz.", "Rui Sá es ahora el contacto.", "contacto", ("Ana Ruiz", "Rui Sá")),
    ],
)
def test_the_other_value_is_told_and_its_replacement_is_not(memory, first, later, predicate, values):
    assert not tell(memory, first, predicate, values[0]).predicates
    told = tell(memory, later, predicate, values[1])
    ((kept,),) = (known.kept_beside for known in told.predicates)
    assert kept.partition(": ")[2] == values[0]
    shown = render_text(view_of(told, Request("remember")))
    assert f'Kept beside "{kept}": replace it if it no longer holds.' in shown
    again = tell(memory, "Noor Ali took over as the contact.", predicate, "Noor Ali", replaces=values[1])
    assert [known.kept_beside for known in again.predicates] == [(kept,)]


def test_nothing_is_told_where_one_value_ended_or_takes_the_place_of_the_other(memory, clock):
    tell(memory, "Harriet Boyle was the contact in May.", "contact", "Harriet Boyle", valid_to="2025-06-01")
    assert not any(k.kept_beside for k in tell(memory, "Sol is the contact.", "contact", "Sol").predicates)
    tell(memory, "Mudlark is in Leeds.", "city", "Leeds")
    assert not any(k.kept_beside for k in tell(memory, "Mudlark moved to York.", "city", "York").predicates)


@pytest.mark.parametrize(
    ("predicate", "values", "question", "first"),
    [
        ("contact", ("Harriet Boyle", "Sol Whitaker"), "Who is the contact at Mudlark?", "Sol Whitaker"),
        ("contacto", ("Ana Ruiz", "Rui Sá"), "¿Quién es el contacto de Mudlark?", "Rui Sá"),
        ("contact", ("Harriet Boyle", "Sol Hale"), "Is Harriet the contact at Mudlark?", "Harriet Boyle"),
        ("contact", ("Harriet Boyle", "Sol Whitaker"), "Who was the contact at Mudlark before?", "Harriet Boyle"),
    ],
)
def test_the_latest_value_stands_first_where_the_question_names_none(
    tmp_path, clock, predicate, values, question, first
):
    pytest.importorskip("onnxruntime")
    with perdure.open(tmp_path / "a.db", clock=clock) as memory:
        for value in values:
            memory.learn(claims=[{"subject": "Mudlark", "predicate": predicate, "value": value}])
            clock.passes(days=5)
        assert memory.recall(question, touch=False).hits[0].memory.content == f"Mudlark: {predicate}: {first}"
