"""When a memory shows less of itself: the triggers, as moves that fall due.

Expected instants and forms are worked out by hand from the seed's table, not by the code under test.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from perdure.records.memory import Form, Kind, Scope, State, Status, Tier
from perdure.records.policy import Policy
from perdure.rules.insertion import with_due
from perdure.rules.lifecycle.maintenance import list_moves
from perdure.rules.lifecycle.trajectory import Trajectory, replay
from perdure.rules.policy_check import policy_from
from rules.builders import DAY, HOUR, START, state

SEED = policy_from({"preset": "tiered"})
DEFAULT = policy_from({})
FORMS = tuple(Form)


def case(source: str, *values: object) -> object:
    return pytest.param(*values, id=source)


def played(
    memory: State, hours: float, policy: Policy = SEED, accesses: tuple[tuple[int, int], ...] = ()
) -> Trajectory:
    return replay({"m": memory}, {"m": accesses}, START + round(hours * HOUR), policy)[0]


def forms(memory: State, hours: float, policy: Policy = SEED, **more: object) -> list[tuple[Form, float]]:
    trajectory = played(memory, hours, policy, **more)  # type: ignore[arg-type]
    return [(s.state.form, (s.at - START) / HOUR) for s in trajectory.transitions if s.shrinks]


def worth(value: float, **fixed: object) -> State:
    """A cold memory of the retention preset, made at START, whose value stays as it is.

    Nothing fades there but recency, and the last access was so long ago that none of it is left; uniqueness and
    confidence give up to 0.45, twenty accesses for ever fresh would be needed for more, so reinforcement stands in.
    """
    share = value / 0.45
    values = {"tier": Tier.COLD, "uniqueness": share, "confidence": share, "anchor_ms": START - 4000 * DAY}
    return state(**{**values, "tokens": 100, "form_ms": START, **fixed})


OLDEST: dict[Form, float] = {Form.FULL: 24.0, Form.SUMMARY: 7 * 24.0, Form.KEYWORDS: 30 * 24.0}
"""Hours of age from which each form may be left."""


# --- one condition at a time, both sides of each threshold


@pytest.mark.behaviour("C01")
@pytest.mark.parametrize(
    ("form", "hours", "expected"),
    [
        case("004-3.2-full-not-before-24-hours", Form.FULL, 23.999, Form.FULL),
        case("004-3.2-full-at-24-hours", Form.FULL, 24, Form.SUMMARY),
        case("004-3.2-summary-not-before-7-days", Form.SUMMARY, 167.999, Form.SUMMARY),
        case("004-3.2-summary-at-7-days", Form.SUMMARY, 168, Form.KEYWORDS),
        case("004-3.2-keywords-not-before-30-days", Form.KEYWORDS, 719.999, Form.KEYWORDS),
        case("004-3.2-keywords-at-30-days", Form.KEYWORDS, 720, Form.EMBEDDING),
        case("004-3.2-nothing-is-below-the-embedding", Form.EMBEDDING, 24 * 10_000, Form.EMBEDDING),
    ],
)
def test_age_is_counted_from_birth_and_the_bound_is_inclusive(form, hours, expected):
    memory = worth(0.15, form=form)
    assert played(memory, hours).after.form is expected


@pytest.mark.behaviour("C02")
@pytest.mark.parametrize(
    ("form", "value", "shrinks"),
    [
        case("004-3.2-summary-at-value-0.4", Form.SUMMARY, 0.4, "shrinks"),
        case("004-3.2-summary-not-above-0.4", Form.SUMMARY, 0.401, ""),
        case("004-3.2-keywords-at-value-0.2", Form.KEYWORDS, 0.2, "shrinks"),
        case("004-3.2-keywords-not-above-0.2", Form.KEYWORDS, 0.201, ""),
    ],
)
def test_a_value_at_the_bound_compresses_and_one_above_does_not(form, value, shrinks):
    found = forms(worth(value, form=form), OLDEST[form])
    assert [f for f, _ in found] == ([FORMS[FORMS.index(form) + 1]] if shrinks else [])


def test_a_full_text_is_kept_until_its_value_has_fallen_to_0_6():
    """004-3.2: composite_score_max 0.6, inclusive. Value 0.25 + 0.20 + 0.2·e^(-0.1 d) reaches it on day 2.877."""
    fresh = state(tier=Tier.WARM, uniqueness=1.0, confidence=1.0, tokens=100, form_ms=START)
    crossing = 10 * math.log(0.2 / 0.15) * 24
    assert crossing > 24
    assert forms(fresh, crossing - 0.01) == []
    ((form, at),) = forms(fresh, crossing + 0.01)
    assert form is Form.SUMMARY
    assert at == pytest.approx(crossing, abs=2e-6)


@pytest.mark.behaviour("C03")
@pytest.mark.parametrize(
    ("form", "accesses", "shrinks"),
    [
        case("004-3.2-full-with-3-accesses", Form.FULL, 3, "shrinks"),
        case("004-3.2-full-not-with-4", Form.FULL, 4, ""),
        case("004-3.2-summary-with-1-access", Form.SUMMARY, 1, "shrinks"),
        case("004-3.2-summary-not-with-2", Form.SUMMARY, 2, ""),
        case("004-3.2-keywords-never-accessed", Form.KEYWORDS, 0, "shrinks"),
        case("004-3.2-keywords-not-with-1", Form.KEYWORDS, 1, ""),
    ],
)
def test_the_count_of_accesses_is_inclusive(form, accesses, shrinks):
    found = forms(worth(0.15, form=form, access_count=accesses), OLDEST[form])
    assert bool(found) is bool(shrinks)


def test_an_access_that_comes_before_the_trigger_is_counted_first():
    memory = worth(0.15, access_count=3)
    assert forms(memory, 24) == [(Form.SUMMARY, 24.0)]
    assert forms(memory, 400, accesses=((START + 23 * HOUR, 1),)) == []


@pytest.mark.parametrize("tokens", [39, 40])
def test_balanced_leaves_short_texts_alone(tokens):
    """What is short is not made shorter; compression.least_tokens is 40 there, and 0 in the seed's preset."""
    memory = worth(0.1, kind=Kind.FACT, tokens=tokens)  # facts are not hidden for fading
    assert [f for f, _ in forms(memory, 721, DEFAULT)] == ([Form.SUMMARY] if tokens == 40 else [])
    assert forms(replace(memory, tokens=0), 25, SEED) == [(Form.SUMMARY, 24.0)]


def test_only_a_full_text_is_measured_a_shorter_form_goes_on_shrinking():
    memory = worth(0.1, kind=Kind.FACT, form=Form.SUMMARY, tokens=5)
    assert forms(memory, 180 * 24, DEFAULT) == [(Form.KEYWORDS, 180 * 24.0)]


# --- what is exempt


@pytest.mark.parametrize(
    "exempt",
    [
        case("design-4-vault", {"tier": Tier.VAULT}),
        case("design-4-pinned", {"pinned": True}),
        case("design-4-hidden", {"status": Status.ARCHIVED}),
        case("design-1D-the-meaning-guard-refused", {"firm": True}),
        case("design-4-superseded", {"status": Status.SUPERSEDED}),
    ],
)
def test_what_is_exempt_keeps_its_form(exempt):
    memory = worth(0.01, **exempt)
    assert forms(memory, 24 * 1000) == []
    assert forms(replace(memory, form=Form.SUMMARY), 24 * 1000) == []


def test_firm_ones_still_change_their_tier_and_fade():
    moves = [s.rule for s in played(worth(0.01, tier=Tier.WARM, firm=True), 24 * 40).transitions]
    assert moves == ["warm_low", "faded_value"]


@pytest.mark.behaviour("C04", "004-4.1-HOT")
def test_hot_stays_full_and_is_compressed_once_it_has_left():
    """Hot stays full. At 24 hours it leaves hot, and only then, at the same instant, is it made shorter."""
    memory = worth(0.15, tier=Tier.HOT)
    assert forms(memory, 23.999) == []
    steps = [(s.rule, (s.at - START) / HOUR) for s in played(memory, 24.001).transitions]
    assert steps == [("leave_hot_low", 24.0), ("to_summary", 24.0)]
    waiting = replace(memory, tier_ms=START + 100 * DAY, created_ms=START - 100 * DAY)
    assert forms(waiting, 24 * 100.5) == []


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("scope", list(Scope))
def test_every_kind_and_scope_is_compressed_alike(kind, scope):
    assert forms(worth(0.3, kind=kind, scope=scope), 24) == [(Form.SUMMARY, 24.0)]


def test_a_policy_may_switch_the_triggers_off():
    never = policy_from({"preset": "tiered", "compression": {"rule": "never"}})
    assert forms(worth(0.05), 24 * 400, never) == []


@pytest.mark.parametrize("preset", ["importance-decay", "confidence-decay", "activation"])
def test_presets_of_seeds_that_know_no_forms_compress_nothing(preset):
    assert forms(worth(0.05), 24 * 4000, policy_from({"preset": preset})) == []


# --- several moves: their order, and late sweeps


def test_a_memory_that_nobody_asks_for_goes_through_every_form_in_order():
    found = forms(worth(0.15), 24 * 31)
    assert found == [(Form.SUMMARY, 24.0), (Form.KEYWORDS, 168.0), (Form.EMBEDDING, 720.0)]


def test_each_step_waits_for_its_own_conditions_however_old_the_memory_is():
    """A memory that is older than every bound shrinks step by step, at the instant at which its value allowed it."""
    memory = worth(0.35, created_ms=START - 1000 * DAY, form_ms=START, tier_ms=START)
    assert [f for f, _ in forms(memory, 24 * 400)] == [Form.SUMMARY, Form.KEYWORDS]  # 0.35 is over 0.2


def test_a_restored_text_is_given_its_time_again():
    """The age of a full text starts anew when it was brought back, or the next sweep would undo the restore."""
    back = worth(0.15, created_ms=START - 1000 * DAY, form=Form.FULL, form_ms=START)
    assert forms(back, 23.99) == []
    assert [at for _, at in forms(back, 24)][:1] == [24.0]


@pytest.mark.parametrize(
    ("first", "rule"),
    [
        case("design-4-tier-before-compression", {"tier": Tier.WARM, "tier_ms": START - 6 * DAY}, "warm_quiet"),
        case("design-4-archive-before-compression", {"tier_ms": START - 29 * DAY}, "faded_value"),
    ],
)
def test_at_one_instant_the_tier_and_the_archive_come_before_compression(first, rule):
    memory = worth(0.05, **{"anchor_ms": START - 4000 * DAY, **first})
    if rule == "warm_quiet":
        memory = replace(memory, uniqueness=0.7, confidence=0.7, anchor_ms=START - 4000 * DAY)
    steps = played(memory, 24).transitions
    assert steps[0].rule == rule
    assert (steps[0].at - START) / HOUR == 24.0
    assert [s.rule for s in steps[1:]] == ([] if rule == "faded_value" else ["to_summary"])


def test_after_the_archive_nothing_is_compressed():
    steps = played(worth(0.05, form=Form.SUMMARY), 24 * 400).transitions
    assert [s.rule for s in steps] == ["to_keywords", "faded_value"]
    assert steps[-1].state.form is Form.KEYWORDS  # both embedding and archive fell due on day 30: the archive is first


@pytest.mark.behaviour("C05")
def test_a_late_sweep_ends_where_timely_ones_do_and_dates_every_move_the_same():
    memory = worth(0.15, tier=Tier.HOT)
    reads = ((START + 50 * HOUR, 1), (START + 51 * HOUR, 1))
    late = replay({"m": memory}, {"m": reads}, START + 90 * DAY, SEED)[0]
    timely, steps, last = memory, [], START - 1
    for hour in range(0, 90 * 24 + 1, 5):
        now = START + hour * HOUR
        trajectory = replay({"m": timely}, {"m": tuple(a for a in reads if last < a[0] <= now)}, now, SEED)[0]
        timely, last = trajectory.after, now
        steps += trajectory.transitions
    assert [(s.at, s.rule, s.because) for s in steps] == [(s.at, s.rule, s.because) for s in late.transitions]
    assert (timely.form, timely.form_ms, timely.tier) == (late.after.form, late.after.form_ms, late.after.tier)
    assert {"to_summary", "woken"} <= {s.rule for s in late.transitions}


def test_the_due_instant_is_that_of_the_next_form():
    (memory,) = with_due([worth(0.3)], SEED)
    assert memory.due_ms == START + DAY
    assert with_due([replace(memory, form=Form.EMBEDDING)], SEED)[0].due_ms is None
    after = played(memory, 24).after
    assert after.due_ms == START + 7 * DAY
    assert after.form_ms == START + DAY


def test_a_move_says_from_which_form_to_which_and_why():
    trajectory = played(worth(0.15), 24 * 8)
    texts = [(m.move, m.because) for m in list_moves([trajectory], "default")]
    assert [move for move, _ in texts] == ["full to summary", "summary to keywords"]
    assert texts[0][1].startswith("full to summary: 24 hours old, value 0.150 is at most 0.6, at most 3 accesses")
    assert texts[1][1].startswith("summary to keywords: 7 days old, value 0.150 is at most 0.4, at most 1 accesses")


def test_compression_hides_nothing():
    assert all(not s.hides for s in played(worth(0.15), 24 * 40).transitions if s.shrinks)
