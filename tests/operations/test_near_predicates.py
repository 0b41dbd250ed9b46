"""Predicates that are handed over: names of the same words meet, near ones are proposed and asked about."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, HashEmbedder


def fact(predicate, value="Friday", subject="Gai Media"):
    return {"subject": subject, "predicate": predicate, "value": value}


def told(memory):
    return {(f.predicate, f.value) for f in memory.facts()}


def questions(memory):
    return [q for q in memory.review(limit=100) if q.same]


@pytest.mark.behaviour("FD8")
@pytest.mark.parametrize(
    ("first", "second"),
    [("Friday deliveries", "deliveries on Fridays"), ("delivery_day", "day_of_delivery"), ("誕生日", "誕生日")],
)
def test_names_of_the_same_words_are_one_predicate(opening, clock, first, second):
    memory = opening(WORDS_ONLY)
    memory.learn(claims=[fact(first, "yes")])
    clock.passes(days=1)
    done = memory.learn(claims=[fact(second, "yes")])
    assert (len(done.created), len(done.reinforced)) == (0, 1)
    assert len(memory.facts(predicate=second)) == 1


@pytest.mark.behaviour("FD9")
@pytest.mark.parametrize(
    ("new", "value"),
    [("usual parcel delivery day", "Thursday"), ("parcel weekday", "Friday"), ("day for parcels", "Friday")],
)
def test_a_near_name_is_proposed_and_asked_about_and_not_merged(opening, new, value):
    memory = opening(WORDS_ONLY)
    memory.remember("They deliver on Fridays.", facts=[fact("parcel delivery day")])
    done = memory.remember("The parcels.", facts=[fact(new, value)])
    (known,) = done.predicates
    ((given, there),) = known.near
    assert there == "parcel_delivery_day"
    assert told(memory) == {("parcel_delivery_day", "Friday"), (given, value)}
    (question,) = questions(memory)
    assert question.same == (given, there)
    memory.same(question.id)
    assert {p for p, _ in told(memory)} == {there}
    assert memory.learn(claims=[fact(new, value)]).created == ()


@pytest.mark.behaviour("FD9")
def test_names_that_a_person_told_apart_are_not_proposed_again(opening):
    memory = opening(WORDS_ONLY)
    memory.remember("They deliver on Fridays.", facts=[fact("parcel delivery day")])
    memory.remember("They pick up, too.", facts=[fact("parcel weekday")])
    memory.same(questions(memory)[0].id, yes=False)
    memory.remember("So does another.", facts=[fact("parcel delivery day", subject="Ana")])
    done = memory.remember("And picks up.", facts=[fact("parcel weekday", subject="Ana")])
    assert [known.near for known in done.predicates] == [()]
    assert questions(memory) == []


@pytest.mark.behaviour("FD9")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (fact("name", "Ana"), fact("sister name", "Rita")),
        (fact("phone", "12345"), fact("work phone", "67890")),
        (fact("start date", "2026-01-05"), fact("end date", "2026-03-05")),
        (fact("owns a car", "yes"), fact("owns a dog", "yes")),
        (fact("parcel delivery day"), fact("parcel weekday", subject="Ana")),
    ],
)
def test_other_things_are_not_proposed(opening, one, other):
    memory = opening(WORDS_ONLY)
    memory.remember("One.", facts=[one])
    assert [known.near for known in memory.remember("Other.", facts=[other]).predicates] in ([()], [])
    assert questions(memory) == []


class Meaning(HashEmbedder):
    """Dispatch is rather like delivery."""

    def embed(self, texts, *, purpose):
        return super().embed([f"{t} delivery" if "dispatch" in t else t for t in texts], purpose=purpose)


@pytest.mark.behaviour("FD9")
@pytest.mark.parametrize(("value", "near"), [("Friday 9 to 5 on the dot", True), ("blue", False)])
def test_typical_values_count_where_names_are_rather_near_in_meaning(opening, value, near):
    memory = opening({"knowledge": {"synonym_at": 0.7}}, Meaning())
    memory.remember("One.", facts=[fact("delivery", "Friday 9 to 5 on the dot")])
    memory.remember("Other.", facts=[fact("dispatch", value)])
    assert bool(questions(memory)) is near


class Counting(HashEmbedder):
    """Counts how often it is asked."""

    asked = 0

    def embed(self, texts, *, purpose):
        self.asked += 1
        return super().embed(texts, purpose=purpose)


def test_many_facts_of_one_subject_ask_for_their_vectors_together(opening):
    embedder = Counting()
    memory = opening(WORDS_ONLY, embedder)
    counted = []
    for subject, count in (("Ana", 50), ("Bo", 150)):
        before = embedder.asked
        words = [f"{'abcdefghij'[n // 10 % 10]}{'abcdefghij'[n % 10]}{n // 100}" for n in range(count)]
        claims = [fact(f"her {w} and other parcel delivery day", str(n), subject) for n, w in enumerate(words)]
        assert len(memory.learn(claims=claims).created) == count
        counted.append(embedder.asked - before)
    assert max(counted) <= 12
