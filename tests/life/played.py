"""Lives that were played to their end, checked, and taken back; each once for all tests of a process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from conftest import HashEmbedder, budget
from life import defects, invariants
from life.coverage import reached
from life.driver import Player, begin
from life.lives import life_of
from life.work import Work
from perdure.records.memory import Status

CORE: Final[Mapping[str, tuple[int, int, float]]] = {
    "coder": (1, budget(48, 72), 24.0),
    "desk": (1, budget(40, 48), 24.0),
    "family": (1, budget(190, 215), 48.0),
    "importer": (1, budget(40, 45), 24.0),
    "returner": (1, budget(200, 212), budget(96.0, 72.0)),
    "visitor": (1, budget(190, 206), 96.0),
    "clerk": (1, 152, 24.0),
}
"""Kind of user -> seed, days, and hours between sweeps of the life that is played."""

READ: Final = budget(10, 5)
"""MEMORY.md is read on every such day, some questions are asked, and it is looked whether anything waits in silence."""
LOOKS: Final = budget(6, 1000)
"""So often at most: of a long life it is looked at fewer days, as many as of a short one."""
SOME: Final = 2
"""Questions that are asked then, names whose past and memories whose neighbours are looked at."""
HEARD: Final = 15
"""What is about to be archived is looked at on every such day."""
MIDDLE: Final = 0.6
"""Share of a life after which its state is kept, to be found again when the rest is taken back."""


@dataclass(frozen=True, slots=True)
class Played:
    """What a life showed: check -> its faults, and row of the coverage table -> how often it was reached."""

    faults: Mapping[str, list[str]]
    rows: Mapping[str, int]


@cache
def played(kind: str) -> Played:
    """Play a life on a file in memory."""
    seed, days, every = CORE[kind]
    work = Work()
    with work.of_sqlite():
        player = begin(life_of(kind, seed, days), ":memory:", every=every, embedder=HashEmbedder())
    return live(player, work)


def live(player: Player, work: Work | None = None) -> Played:
    """Play a life to its end, check it, and take it back; ``work`` counts what its calls are."""
    life, memory, clock = player.life, player.memory, player.clock
    nothing, counted = invariants.state_of_everything(memory), work or Work()
    met: dict[str, list[str]] = {}
    read = max(READ, life.length // LOOKS)

    def look(day: int) -> None:
        counted.weigh(player, day)
        if day % read == 0:
            with counted.pause():
                for name, faults in met_by(player, day).items():
                    met.setdefault(name, []).extend(f"day {day}: {fault}" for fault in faults)
        if day % HEARD == 0:
            player.listen()

    with counted.of(player):
        player.play(int(life.length * MIDDLE), evening=look)
    memory.sweep()
    player.note()
    then, first = clock.now, len(player.told.operations)
    before = invariants.state_of_everything(memory, life.questions)
    with counted.of(player):
        told = player.play(evening=look)
    memory.sweep()
    faults, rows = checked(player)
    for name, found in met.items():
        faults.setdefault(name, []).extend(found)
    if work is not None:
        faults["it grows with the store alone"] = [*work.grows_with_the_store_alone(life.length)]
    player.note()
    faults["undone to the middle"] = [*invariants.undo_everything(memory, told, told.operations[first:])]
    clock.now = then
    before, after = invariants.unused(
        [
            invariants.without(state, told.erased.keys())
            for state in (before, invariants.state_of_everything(memory, life.questions))
        ]
    )
    faults["as in the middle"] = invariants.differences(before, after)
    rows["an answer of the middle is compared"] += sum(map(bool, before["answers"].values()))
    faults["undone"] = [*invariants.undo_everything(memory, told, told.operations[:first])]
    faults["as at the beginning"] = [
        *invariants.differences(nothing, invariants.state_of_everything(memory)),
        *(f"{q!r} is answered" for q in life.questions if not memory.recall(q, touch=False).nothing_known),
        *memory.check(),
    ]
    memory.close()
    return Played(faults, rows)


def met_by(player: Player, day: int) -> dict[str, list[str]]:
    """Return the faults of what somebody meets who looks in the middle of a life, at some questions and names."""
    memory, questions = player.memory, player.life.questions
    items = invariants.everything(memory, player.told.sessions)
    hidden = {m.id: m for m in items if m.status is not Status.ACTIVE}
    near = [m for m in items if m.id not in hidden][:SOME]
    names = invariants.names_in(memory)
    some, few = ([*known[day % len(known) :], *known][:SOME] if known else [] for known in (questions, names))
    return {
        "the digest is true": [*invariants.digest_is_true(memory)],
        "the digest fits": [*invariants.digest_fits(memory)],
        "what is hidden stays hidden": [*invariants.hidden_answers_nothing(memory, hidden, some, few, near)],
        "nothing waits in silence": [*invariants.nothing_waits_in_silence(memory, items, player.clock.now)],
    }


def checked(player: Player) -> tuple[dict[str, list[str]], Counter[str]]:
    """Return the faults of each check of what a store is like by now, and how often the rows were reached."""
    memory, told = player.memory, player.told
    items = invariants.everything(memory, told.sessions)
    histories: dict[str, Any] = {item.id: memory.history(item.id) for item in items}
    opening = memory.agent.opening("a new session", "default")
    candidates = memory.stats().vault_candidates
    looks = [*defects.looks(told, items, histories, memory.policy, player.life, candidates)]
    rows = reached(histories.values(), told.names)
    return {
        "nothing waits in silence": [*invariants.nothing_waits_in_silence(memory, items, player.clock.now)],
        "nothing is lost": [*invariants.nothing_is_lost(memory, told)],
        "every change is explained": [*invariants.every_change_is_explained(histories)],
        "the journal tells the state": [*invariants.journal_tells_the_state(items, histories)],
        "what is hidden stays hidden": [
            *invariants.hidden_stays_hidden(memory, told, items, player.life.questions, opening)
        ],
        "what is erased is gone": [*invariants.erased_is_gone(memory, told, items, opening)],
        "the digest fits": [*invariants.digest_fits(memory)],
        "the digest is true": [*invariants.digest_is_true(memory)],
        "budgets hold each day": [*invariants.budgets_hold(histories, memory.policy.gates, told.accepted)],
        "what once went wrong does not": [f"{row}: {fault}" for row, fault in looks if fault],
        "the store is sound": memory.check(),
    }, rows + Counter(row for row, _ in looks)
