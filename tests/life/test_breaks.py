"""Whether the checks of lives notice a broken engine: each rule or write is broken from outside, one at a time."""

from __future__ import annotations

import re
from functools import cache

import pytest

from conftest import HashEmbedder, weekly
from life.breaks import BREAKS, LIVES, SCHEDULES
from life.driver import begin
from life.invariants import differences
from life.played import live
from life.test_lives import CHECKS, seen
from life.work import Work

IN_CORE = {"clerk", "coder"}
"""Lives that ``test_lives`` plays for longer in `make test`, unbroken."""


def faults_of(name):
    """Play a life and return the faults of its checks."""
    work = Work()
    with work.of_sqlite():
        player = begin(LIVES[name](), ":memory:", embedder=HashEmbedder())
    return {check: faults for check, faults in live(player, work).faults.items() if faults}


def ends(name, every):
    player = begin(LIVES[name](), ":memory:", every=every, embedder=HashEmbedder())
    player.play()
    return seen(player)


@cache
def lives_of(*, often):
    """The lives whose breaks are tried in `make test`; or those that `make weekly` alone plays."""
    in_test = {b.life for b in BREAKS.values() if not b.weekly} - IN_CORE
    return sorted(in_test if often else LIVES.keys() - in_test)


@pytest.mark.behaviour("LV15")
@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=weekly if broken.weekly else ()) for what, broken in BREAKS.items()]
)
def test_a_life_notices_what_is_broken(what):
    broken = BREAKS[what]
    with broken.made():
        faults = faults_of(broken.life)
    assert [f for f in faults.get(broken.check, []) if re.search(broken.fault, f)] != [], faults


@pytest.mark.behaviour("LV15")
@pytest.mark.parametrize(
    "name", [*lives_of(often=True), *(pytest.param(name, marks=weekly) for name in lives_of(often=False))]
)
def test_the_same_life_of_a_whole_engine_has_no_fault(name):
    assert faults_of(name) == {}


@pytest.mark.behaviour("LV15")
@pytest.mark.parametrize("what", SCHEDULES)
def test_lives_that_are_swept_hourly_and_daily_tell_what_depends_on_it(what):
    broken = SCHEDULES[what]
    with broken.made():
        apart = differences(ends(broken.life, 1.0), ends(broken.life, 24.0))
    assert [where for where in apart if re.search(broken.fault, where)] != []
    assert differences(ends(broken.life, 1.0), ends(broken.life, 24.0)) == []


def test_every_check_has_a_break_that_it_must_notice():
    assert {broken.check for broken in BREAKS.values()} == CHECKS.keys()
