"""What the laws are tried on: policies, states and accesses, drawn by hypothesis within what the design allows."""

from __future__ import annotations

from typing import Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from conftest import budget
from perdure.records.memory import Draft, Form, Kind, Scope, State, Status, Tier
from perdure.records.policy import Policy
from perdure.rules.insertion import PreparedDraft, initial_states, with_due
from perdure.rules.policy_check import policy_from

settings.register_profile(
    "laws",
    max_examples=budget(15, 240),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
LAW: Final = settings(settings.get_profile("laws"))
SLOW_LAW: Final = settings(settings.get_profile("laws"), max_examples=budget(8, 50))

SECOND: Final = 1000
HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR
START: Final = 1_767_225_600_000
"""2026-01-01T00:00Z: where every history begins."""

PRESETS: Final = ("balanced", "confidence-decay", "facts", "tiered", "importance-decay", "activation")
POLICIES: Final[dict[str, Policy]] = {
    **{name: policy_from({"preset": name}) for name in PRESETS},
    # The same rules with thresholds that are often crossed.
    "confidence": policy_from(
        {"confidence": {"daily_factor": 0.95}, "archive": {"rule": "confidence", "confidence_below": 0.4}}
    ),
    "value": policy_from(
        {
            "preset": "tiered",
            "archive": {"value_below": 0.4, "cold_days": 3.0},
            "importance": {"shape": "linear", "daily_cap": 0.05},
            "tiers": {"burst_accesses": 2, "vault_value": 0.6, "vault_accesses": 2},
        }
    ),
    "forgetful": policy_from(
        {
            "preset": "activation",
            "strength_session": {"forgetting_threshold": 0.4},
            "strength_long_term": {"passive_half_life": 4e6, "forgetting_threshold": 0.5},
            "compression": {"rule": "triggers", "least_tokens": 10, "summary_hours": 5.0, "keywords_days": 0.0},
        }
    ),
}

shares = st.floats(0.0, 1.0)
policies = st.sampled_from(sorted(POLICIES)).map(POLICIES.__getitem__)
fading_presets = st.sampled_from(PRESETS).map(POLICIES.__getitem__)
slow_presets = st.sampled_from(["balanced", "tiered", "importance-decay"]).map(POLICIES.__getitem__)
"""Those under which nothing is hidden within a month, whatever its confidence and strength."""


@st.composite
def states(draw: st.DrawFn, *, tiers: tuple[Tier, ...] = tuple(Tier), **fixed: object) -> State:
    """A stored state at ``START`` with a past that could have happened: no anchor lies after it."""
    born = START - draw(st.integers(0, 400 * DAY))
    accesses = draw(st.one_of(st.just(0), st.integers(0, 40)))
    anchor = draw(st.integers(born, START)) if accesses else born
    earlier = sorted(draw(st.lists(st.integers(born, anchor), min_size=2, max_size=2)))
    values: dict[str, object] = {
        "kind": draw(st.sampled_from(Kind)),
        "scope": draw(st.sampled_from([Scope.LONG_TERM, Scope.LONG_TERM, Scope.SESSION, Scope.TASK])),
        "tier": draw(st.sampled_from(tiers)),
        "status": Status.ACTIVE,
        "pinned": False,
        "importance": draw(shares),
        "confidence": draw(shares),
        "uniqueness": draw(shares),
        "created_ms": born,
        "recorded_ms": born,
        "anchor_ms": anchor,
        "access_count": accesses,
        "access_mass": draw(st.floats(0.0, float(accesses))),
        "access2_ms": earlier[1] if accesses >= 2 else None,
        "access3_ms": earlier[0] if accesses >= 3 else None,
        "reinforcements": draw(st.integers(0, 6)),
        "validated_ms": draw(st.one_of(st.none(), st.integers(born, START))),
        "tier_ms": draw(st.integers(born, START)),
        "status_ms": born,
        "strength": draw(shares),
        "level": draw(st.floats(0.0, 12.0)),
        "strength_ms": draw(st.integers(born, START)),
        "stability": draw(st.floats(0.1, 100.0)),
        "form": draw(st.sampled_from([Form.FULL, Form.FULL, *Form])),
        "form_ms": draw(st.integers(born, START)),
        "firm": draw(st.integers(0, 9)) == 0,
        "tokens": draw(st.integers(0, 80)),
    }
    return State(**{**values, **fixed})  # type: ignore[arg-type]


@st.composite
def histories(draw: st.DrawFn, days: int, most: int = 8) -> tuple[tuple[int, int], ...]:
    """Accesses within some days of ``START``, one at each instant, often close together."""
    instants = set()
    for day in draw(st.lists(st.integers(0, days * 24 - 1), max_size=most)):
        instants.add(START + day * HOUR + draw(st.sampled_from([1, 7 * SECOND, HOUR // 2, HOUR - 1])))
    return tuple((at, 1) for at in sorted(instants))


def draft(**fixed: object) -> Draft:
    values: dict[str, object] = {
        "text": "The deploy happens on Tuesdays.",
        "kind": Kind.NOTE,
        "scope": Scope.LONG_TERM,
        "importance": 0.5,
        "confidence": 0.8,
        "at": START,
    }
    return Draft(**{**values, **fixed})  # type: ignore[arg-type]


def newborn(policy: Policy, *, near: tuple[float, ...] = (), **fixed: object) -> State:
    """The state in which a memory starts at ``START``, given the cosines to its nearest neighbours."""
    twins = tuple((str(i), cosine) for i, cosine in enumerate(near))
    return initial_states([PreparedDraft("m", draft(**fixed), None, twins)], policy, START)[0]


@st.composite
def newborns(draw: st.DrawFn, policy: Policy) -> State:
    """A memory as ``remember`` or ``ingest`` would store it."""
    return newborn(
        policy,
        near=tuple(draw(st.lists(st.floats(-0.2, 1.0), max_size=5))),
        kind=draw(st.sampled_from(Kind)),
        scope=draw(st.sampled_from(Scope)),
        importance=draw(shares),
        confidence=draw(shares),
        message=draw(st.booleans()),
    )


def settled(state: State, policy: Policy) -> State:
    """The state with its due instant, as the store would hold it."""
    return with_due([state], policy)[0]
