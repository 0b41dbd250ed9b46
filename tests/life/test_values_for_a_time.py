"""A life with a roster of stand-ins, numbered orders and an announced change: each day has what was said of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random

import pytest

from conftest import WORDS_ONLY, budget
from life import invariants
from life.driver import START, Player, begin
from life.lives import Day, Life, Step
from life.played import checked

LENGTH = 44
OWNER, STAND_INS = "Ada", ("Kim", "Lee", "Noor", "Max")
BEFORE, ANNOUNCED, AFTER = "Tuesday", 34, "Thursday"
STATUSES = ("received", "packed", "shipped")
NUMBERS = ("1041", "1042", "10412", "2041")
"""Of orders: some differ by a digit."""
Shown = dict[tuple[str, str], list[tuple[str, bool]]]


class Roster:
    """What is true on each day, and the steps in which it is told."""

    def __init__(self, seed: int) -> None:
        chance = Random(f"roster {seed}")  # noqa: S311  # repeatable on purpose
        self.owner = dict.fromkeys(range(LENGTH + 1), OWNER)
        self.told: dict[int, list[Step]] = {}
        self.orders: dict[str, list[tuple[int, str]]] = {number: [] for number in NUMBERS}
        self._tell(0, f"{OWNER} owns the deploys.", "deploys", "owner", OWNER)
        self._tell(0, f"Deploys are on {BEFORE}s.", "deploys", "weekday", BEFORE)
        begins = 4
        for name in chance.sample(STAND_INS, len(STAND_INS)):
            begins += chance.randint(1, 4)
            ends = begins + chance.randint(0, 4)
            text = f"From {day(begins):%d %B} to {day(ends):%d %B} {name} stands in for {OWNER}."
            self._tell(begins - chance.randint(1, 4), text, "deploys", "owner", name, begins=begins, ends=ends)
            self.owner |= dict.fromkeys(range(begins, ends + 1), name)
            begins = ends + 1
        text = f"From {day(ANNOUNCED):%d %B} on deploys are on {AFTER}s."
        self._tell(12, text, "deploys", "weekday", AFTER, begins=ANNOUNCED)
        for number in NUMBERS:
            for at, status in zip(sorted(chance.sample(range(2, LENGTH - 2), 3)), STATUSES, strict=True):
                before = self.orders[number][-1][1] if self.orders[number] else ""
                text = f"Order {number} is {status}."
                self._tell(at, text, f"order {number}", "status", status, replaces=before)
                self.orders[number].append((at, status))

    def _tell(
        self,
        at: int,
        text: str,
        subject: str,
        predicate: str,
        value: str,
        *,
        begins: int = 0,
        ends: int = 0,
        replaces: str = "",
    ) -> None:
        claim = {"subject": subject, "predicate": predicate, "value": value, "replaces": replaces}
        claim |= {key: f"{day(n)}" for key, n in (("valid_from", begins), ("valid_to", ends)) if n}
        steps = self.told.setdefault(at, [])
        more = {"content": text, "facts": ({k: v for k, v in claim.items() if v},)}
        steps.append(Step(9 * 60 + len(steps), "remember", more, text))

    def life(self, seed: int) -> Life:
        days = tuple(Day(number, tuple(steps)) for number, steps in sorted(self.told.items()))
        asked = ("Who is the owner of deploys?", *(f"What is the status of order {n}?" for n in NUMBERS))
        return Life("roster", seed, WORDS_ONLY, LENGTH, days, asked)

    def faults(self, player: Player, number: int) -> Iterator[str]:
        """Yield what is not shown as it is on a day; it is looked at at its first instant."""
        memory, owner, known = player.memory, self.owner[number], listed(player.memory)
        expected = {
            ("deploys", "owner"): [(OWNER, False)] if owner == OWNER else [(owner, False), (OWNER, True)],
            ("deploys", "weekday"): [(AFTER if number >= ANNOUNCED else BEFORE, False)],
            **{
                (f"order {order}", "status"): [(status, False)]
                for order, history in self.orders.items()
                for at, status in history
                if at < number  # the last of them stays
            },
        }
        yield from [f"day {number}: {known} is listed, not {expected}"] if known != expected else ()
        marks = memory.digest().count("holds again from")
        yield from [f"day {number}: {marks} marks in MEMORY.md"] if marks != (owner != OWNER) else ()
        first = memory.recall("Who is the owner of deploys?", touch=False).hits[0].memory.content
        yield from [f"day {number}: {first} answers who owns the deploys"] if owner not in first else ()
        yield from (f"day {number}: asked {q.question}" for q in memory.review() if q.against)


def day(number: int) -> date:
    return (START + timedelta(days=number)).date()


def listed(memory, **then) -> Shown:
    """Return what is known of whom -> the values that hold, and whether each is interrupted, in their order."""
    found: Shown = {}
    for fact in memory.facts(limit=100, **then):
        if fact.state != "upcoming":
            found.setdefault((fact.name, fact.predicate), []).append((fact.value, fact.interrupted is not None))
    return found


@pytest.mark.parametrize("seed", range(1, budget(2, 12)))
def test_each_day_of_a_roster_is_shown_as_it_was_said_and_again_in_retrospect(seed):
    roster = Roster(seed)
    player = begin(roster.life(seed), ":memory:")
    memory, nothing = player.memory, invariants.state_of_everything(player.memory)
    shown: dict[int, Shown] = {}
    found: list[str] = []

    def evening(number: int) -> None:
        found.extend(roster.faults(player, number + 1))
        shown[number + 1] = listed(memory)

    told = player.play(evening=evening)
    assert found == []
    owners = [then["deploys", "owner"][0][0] for then in shown.values()]
    assert {*owners} == {OWNER, *STAND_INS}
    for number, then in shown.items():
        if shown.get(number - 1) != then:
            assert listed(memory, as_of=START + timedelta(days=number)) == then, day(number)
    assert {check: some for check, some in checked(player)[0].items() if some} == {}
    assert [*invariants.undo_everything(memory, told, told.operations)] == []
    assert invariants.differences(nothing, invariants.state_of_everything(memory)) == []
    memory.close()
