"""What becomes of a claim, with a number on both sides of each threshold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conftest import every
from perdure.formulas.confidence import reinforce_confidence
from perdure.knowledge.extension import predicates_from
from perdure.knowledge.records.facts import Claim, Fact, FactOrigin, Span, Value, ValueKind
from perdure.knowledge.rules.claim_resolution import (
    Action,
    ConflictStrategy,
    KnownFact,
    find_answered_fact,
    resolve_claim,
)
from perdure.records.memory import Kind, Trust
from perdure.records.policy_knowledge import KnowledgePolicy
from rules.builders import DAY, START, state

POLICY = KnowledgePolicy()
DAY_OF_DELIVERY = "delivery_day_preference"


def value(text):
    return Value(text, ValueKind.TEXT, text.lower())


def claim(text="Thursday", learned=FactOrigin.STATEMENT, confidence=0.5, **more):
    fixed = {
        "subject": "Gai Media",
        "predicate": DAY_OF_DELIVERY,
        "type": "preference",
        "value": value(text),
        "learned": learned,
        "confidence": confidence,
        "span": Span(0, 4, "they"),
    }
    return Claim(**{**fixed, **more})


def known(text="Friday", confidence=0.5, *, at=START, identity="f1", validated=None, **more):
    fixed = {
        "id": identity,
        "subject": "gai-media",
        "predicate": DAY_OF_DELIVERY,
        "type": "preference",
        "value": value(text),
        "learned": FactOrigin.STATEMENT,
    }
    kept = state(kind=Kind.FACT, created_ms=at, validated_ms=validated, confidence=confidence)
    return KnownFact(Fact(**{**fixed, **more}), kept, confidence)


def decided(said, *others, at=START, policy=POLICY):
    return resolve_claim(said, others, at, policy, predicates_from({}, "").akin)


L, REPLACE, YIELD, ASK = FactOrigin, Action.REPLACE, Action.YIELD, Action.ASK
OUTRIGHT = (L.EXPLICIT, L.PREFERENCE)
WEAK_CORRECTION = claim(learned=L.CORRECTION, confidence=0.1)
CORRECTED = claim(learned=L.CORRECTION, confidence=0.85)
EXPLICIT = claim(learned=L.EXPLICIT)
STATED = known(learned=L.PREFERENCE)
OF_AUTHORITY = known(confidence=0.1, trust=Trust.AUTHORITY)
LADDER = [
    # an authority is believed against everything, and nothing is believed against it
    ("authority", claim(learned=L.AUTHORITY, confidence=0.1), known(confidence=0.95), 0, REPLACE, "AUTHORITY"),
    ("of an authority", claim(confidence=0.95), OF_AUTHORITY, 0, YIELD, "AUTHORITY"),
    ("two authorities", claim(learned=L.AUTHORITY), OF_AUTHORITY, 0, REPLACE, "AUTHORITY"),
    ("a correction of an authority", CORRECTED, OF_AUTHORITY, 0, YIELD, "AUTHORITY"),
    # a correction wins whatever the confidences, if it is not older
    ("correction", WEAK_CORRECTION, known(confidence=0.95), 0, REPLACE, "CORRECTION"),
    ("older correction", CORRECTED, known(confidence=0.85), -1 / DAY, ASK, "ASK"),
    # the gap decides above 0.3, not at it
    ("gap for", claim(confidence=0.8001), known(confidence=0.5), 0, REPLACE, "CONFIDENCE"),
    ("no gap for", claim(confidence=0.75), known(confidence=0.45), 0, ASK, "ASK"),
    ("gap against", claim(confidence=0.5), known(confidence=0.8001), 0, YIELD, "CONFIDENCE"),
    ("no gap against", claim(confidence=0.45), known(confidence=0.75), 0, ASK, "ASK"),
    # the newer one wins if it was said outright, at least 7 days later
    *((f"{o} after 7 days", claim(learned=o), known(), 7, REPLACE, "RECENT") for o in OUTRIGHT),
    *((f"{o} after less", claim(learned=o), known(), 7 - 1 / DAY, ASK, "ASK") for o in OUTRIGHT),
    ("in passing after 30 days", claim(), known(), 30, ASK, "ASK"),
    ("a change", claim(old=value("Monday")), known(), 7, REPLACE, "RECENT"),
    ("since a day", claim(valid_from=START), known(), 7, REPLACE, "RECENT"),
    ("days since the last confirmation", EXPLICIT, known(validated=START + DAY), 7, ASK, "ASK"),
    # an older message that arrives later yields to what was said outright since
    ("older", EXPLICIT, STATED, -7, YIELD, "RECENT"),
    ("a little older", EXPLICIT, STATED, -7 + 1 / DAY, ASK, "ASK"),
    ("older than what was said in passing", EXPLICIT, known(), -7, ASK, "ASK"),
]


@pytest.mark.behaviour(
    "BE1",
    "002-stage-3-conflict",
    "002-stage-4-trust_correction",
    "002-stage-4-trust_higher_confidence",
    "002-stage-4-trust_recent",
)
@pytest.mark.parametrize(
    ("said", "rival", "days", "action", "strategy"), [r[1:] for r in LADDER], ids=[r[0] for r in LADDER]
)
def test_the_ladder_of_conflicts(said, rival, days, action, strategy):
    found = decided(said, rival, at=START + round(days * DAY))
    assert (found.action, found.strategy) == (action, ConflictStrategy[strategy])
    assert found.about == (rival,)


@pytest.mark.behaviour("BE2")
def test_the_bounds_of_the_ladder_are_the_policys():
    policy = replace(POLICY, gap=0.1, recent_days=2)
    assert decided(claim(confidence=0.61), known(), policy=policy).strategy is ConflictStrategy.CONFIDENCE
    later = decided(claim(learned=FactOrigin.EXPLICIT), known(), at=START + 2 * DAY, policy=policy)
    assert later.strategy is ConflictStrategy.RECENT


@pytest.mark.behaviour("002-stage-3-no_match")
def test_what_nothing_is_known_of_is_new():
    assert decided(claim()).action is Action.CREATE
    elsewhere = known(predicate="budget")
    assert decided(claim(), elsewhere).action is Action.CREATE


@pytest.mark.behaviour("BE3", "002-stage-3-reinforcement")
def test_the_same_value_confirms_the_surest_that_says_so():
    less, more = known(confidence=0.4, identity="f1"), known(confidence=0.6, identity="f2")
    found = decided(claim("Friday"), less, more)
    assert (found.action, found.about, found.strategy) == (Action.REINFORCE, (more,), None)


@pytest.mark.behaviour("BE10")
@pytest.mark.parametrize(
    ("learned", "days", "strategy"),
    [
        (FactOrigin.CORRECTION, 0, ConflictStrategy.CORRECTION),
        (FactOrigin.CORRECTION, -1, None),
        (FactOrigin.AUTHORITY, -1, ConflictStrategy.AUTHORITY),
        (FactOrigin.EXPLICIT, 30, None),
    ],
)
def test_a_correction_to_one_of_two_contested_values_decides(learned, days, strategy):
    friday, thursday = known(identity="f1"), known("Thursday", identity="f2")
    found = decided(claim("Thursday", learned), friday, thursday, at=START + days * DAY)
    gone = (friday,) if strategy is ConflictStrategy.CORRECTION else ()
    assert (found.action, found.about, found.strategy) == (Action.REINFORCE, (thursday, *gone), strategy)


def test_what_is_said_again_ends_what_it_is_said_to_have_replaced():
    tennis, golf, chess = (known(v, identity=v, predicate="like", many=True) for v in ("tennis", "golf", "chess"))
    again = claim("golf", FactOrigin.CORRECTION, predicate="like", many=True, old=value("tennis"))
    assert decided(again, tennis, golf, chess).about == (golf, tennis)
    assert decided(again, tennis, golf, chess, at=START - DAY).about == (golf,)


@pytest.mark.behaviour("BE11")
def test_of_several_contested_values_the_surest_is_what_a_claim_yields_to():
    less, more = known(confidence=0.6, identity="f1"), known("Monday", confidence=0.9, identity="f2")
    found = decided(claim(confidence=0.5), less, more)
    assert (found.action, found.about) == (Action.YIELD, (more, less))


@pytest.mark.behaviour("BE4")
def test_predicates_with_several_values_add():
    tennis = known("tennis", predicate="like", many=True)
    assert decided(claim("golf", predicate="like", many=True), tennis).action is Action.CREATE
    assert decided(claim("golf", predicate="like"), tennis).action is Action.CREATE
    corrected = claim("golf", FactOrigin.CORRECTION, predicate="like", many=True, old=value("tennis"))
    assert decided(corrected, tennis, known("chess", predicate="like", many=True, identity="f2")).about == (tennis,)


@pytest.mark.behaviour("BE5", "002-state-invalidated")
@pytest.mark.parametrize(
    ("quote", "action", "strategy"),
    [
        ("they no longer want Friday", Action.END, None),
        ("they don't want Friday any more", Action.END, None),
        ("they used to want Friday", Action.END, None),
        ("they do not want Friday", Action.DENY, ConflictStrategy.CORRECTION),
    ],
)
def test_what_ended_was_true_and_what_is_denied_never_was(quote, action, strategy):
    denial = claim("Friday", denied=True, span=Span(0, len(quote), quote))
    friday, monday = known(), known("Monday", identity="f2")
    found = decided(denial, friday, monday)
    assert (found.action, found.about, found.strategy) == (action, (friday,), strategy)
    assert decided(denial, monday).action is Action.CREATE  # it is a fact that it does not hold


MORE, NEVER = "I no longer drink tea", "I don't like tea"
END, DENY, CREATE = Action.END, Action.DENY, Action.CREATE


@pytest.mark.behaviour("CL22")
@every(
    [
        # what ended ends whatever verb of liking, using or doing it was learned by
        *((MORE, ("drink", "tea"), (verb, "tea"), END) for verb in ("drink", "preference", "like", "enjoy", "use")),
        (MORE, ("drink", "tea"), ("favorite_drink", "tea"), END),
        ("I gave up smoking", ("do", "smoking"), ("like", "smoking"), END),
        ("I gave up smoking", ("do", "smoking"), ("do", "smoke"), END),
        ("I gave up smoking", ("do", "smoking"), ("smoke", "10 cigarettes"), END),
        ("We no longer use Netflix", ("use", "netflix"), ("have", "netflix"), END),
        ("They stopped Friday deliveries", ("delivery_day", "friday"), (DAY_OF_DELIVERY, "friday"), END),
        ("They don't deliver on Fridays", ("delivery_day", "friday"), (DAY_OF_DELIVERY, "friday"), DENY),
        # but not another thing, nor what was done once, nor a part of it, nor the thing of which it is a part
        (MORE, ("drink", "tea"), ("like", "coffee"), CREATE),
        (MORE, ("drink", "tea"), ("visit", "tea"), CREATE),
        (MORE, ("drink", "green tea"), ("drink", "tea"), CREATE),
        (MORE, ("drink", "tea"), ("drink", "green tea"), CREATE),
        ("I no longer have a dog", ("have", "dog"), ("like", "dog"), CREATE),
        ("They stopped Friday deliveries", ("delivery_day", "friday"), ("meeting_day", "friday"), CREATE),
        # what is denied of one's liking says nothing of what one does, and the other way round
        (NEVER, ("like", "tea"), ("preference", "tea"), DENY),
        (NEVER, ("like", "tea"), ("drink", "tea"), CREATE),
        ("I don't eat meat", ("eat", "meat"), ("like", "meat"), CREATE),
    ]
)
def test_what_ends_is_the_fact_whatever_verb_it_was_learned_by(quote, denied, learned, action):
    denial = claim(
        denied[1], L.CORRECTION, predicate=denied[0], denied=True, many=True, span=Span(0, len(quote), quote)
    )
    fact = known(learned[1], predicate=learned[0], many=True)
    found = decided(denial, fact)
    assert (found.action, found.about) == (action, () if action is CREATE else (fact,))


@pytest.mark.behaviour("BE6")
def test_what_was_said_again_since_is_not_ended_by_an_older_message():
    denial = claim("Friday", denied=True, span=Span(0, 9, "no longer"))
    assert decided(denial, known(at=START), at=START - 1).action is Action.NOTHING
    assert decided(denial, known(at=START - DAY, validated=START), at=START - 1).action is Action.NOTHING
    assert decided(denial, known(at=START), at=START).action is Action.END


@pytest.mark.behaviour("BE7")
def test_a_correction_finds_what_it_is_about_by_the_old_value_or_by_the_only_one_of_its_family():
    friday, budget = known(), known("100", predicate="budget", identity="f2")
    by_old = claim("Thursday", FactOrigin.CORRECTION, predicate="value", old=value("Friday"))
    assert (decided(by_old, friday, budget).about, decided(by_old, friday, budget).predicate) == (
        (friday,),
        DAY_OF_DELIVERY,
    )
    in_part = claim("Thursday", FactOrigin.CORRECTION, predicate="day_preference")
    assert decided(in_part, friday, budget).about == (friday,)
    by_its_look = claim(
        "Thursday", FactOrigin.CORRECTION, predicate="value"
    )  # a day of the week, like what it corrects
    assert decided(by_its_look, friday, budget).about == (friday,)
    unclear = claim("copper", FactOrigin.CORRECTION, predicate="value")
    assert decided(unclear, friday, budget).action is Action.CREATE
    assert decided(replace(in_part, learned=FactOrigin.EXPLICIT), friday).action is Action.CREATE


@pytest.mark.behaviour("BE8")
@every(
    [
        ("yes, friday works", "", "f1"),
        ("yes, fridays work", "", "f1"),
        ("yes, that is right", "they prefer friday deliveries. is that right?", "f1"),
        ("yes", "", None),
        ("yes", "they prefer sunday deliveries, right?", None),
        ("yes, fridayish", "", None),
        ("yes, friday", "the budget is 100, and the pickup is on friday?", "f1"),
        ("yes", "friday or 100?", None),
        ("yes, the budget", "friday and 100, right?", "f2"),
        ("yes, the budget and the delivery", "friday and 100, right?", None),
    ]
)
def test_a_confirmation_means_the_one_fact_whose_value_is_in_the_answer_or_in_what_it_answers(text, before, expected):
    found = find_answered_fact(text, before, [known(), known("100", predicate="budget", identity="f2")])
    assert (found.fact.id if found else None) == expected


@pytest.mark.behaviour("BE9", "002-stage-3-ladder")
def test_each_confirmation_counts_less_and_none_lifts_above_the_cap():
    steps = [float(reinforce_confidence(0.5, n)) - 0.5 for n in (1, 2, 3, 4, 5, 50)]
    assert steps == pytest.approx([0.15, 0.10, 0.05, 0.02, 0.02, 0.02])
    assert float(reinforce_confidence(0.94, 1)) == 0.95
    assert float(reinforce_confidence(0.97, 1)) == 0.97
