"""A clerk who looks after what an office knows: corrects, renames, joins and sets right by hand, week after week."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from life.lives import Teller

COURIERS: Final = ("Tallow Couriers", "Merrow Couriers", "Ostler Couriers")
PEOPLE: Final = ("Ida", "Kim", "Pia", "Rolf", "Uwe", "Nils", "Tove")
BUSY: Final = 46
"""Days of which every other has a talk."""
VISIT: Final = (
    "The courier asked for a second key of the loading gate. It hangs in the porter's lodge, beside the list.",
    "The loading gate sticks when it rains. The porter lifts it with both hands and asks for a smith every time.",
    "The porter writes down each parcel that comes through the loading gate, and signs the list in the evening.",
)


def clerk(me: Teller, number: int) -> None:
    """Live one day: talk, state and look up; when it comes to it set something right."""
    if number == 0:
        me.courier = me.chance.choice(COURIERS)
        me.planned = _planned(me)
    me.begin(9 * 60)
    follows = f"What is the status of the delivery by {me.courier}?", "And the invoices for it?"
    if number < BUSY and number % 2 == 0:  # what is asked every fourth day is always followed by the same
        talk = follows if number % 4 == 0 else (me.draw("note"), me.draw("small"))
        said = (me.draw("note"), *talk, me.draw("note"))
        me.step("ingest", messages=tuple(("user", text) for text in said), session=f"day-{number}")
        me.state(me.chance.choice(("facts", "remember", "say")))
    if number % (3 if number < BUSY else 15) == 0:
        me.ask(use=me.chance.choice(("helpful", "", "unused")))
    if number >= BUSY and me.often(0.05):
        me.tidy()
    for verb, arguments in me.planned.get(number, ()):
        me.step(verb, arguments.get("label", ""), **{k: v for k, v in arguments.items() if k != "label"})
    if number % 5 == 4:
        me.step("review", answers=1)


Planned = tuple[str, Mapping[str, Any]]
Matter = Mapping[int, Sequence[Planned]]
"""What is set right step by step: day -> what is done on it."""


def _planned(me: Teller) -> dict[int, list[Planned]]:
    """Return what is done on which day: each matter begins when it comes up, and takes its time."""
    planned: dict[int, list[Planned]] = {}
    for matter in (*_matters_of_the_courier(me), *_matters_of_the_gate(me), *_matters_of_people(me), *HOUSEKEEPING):
        late = me.chance.randint(0, 2)
        for day, steps in matter.items():
            planned.setdefault(day + late, []).extend(steps)
    return planned


def _fact(
    predicate: str, value: str, *, subject: str, label: str = "", ago: int = 0, since: str = "", to: str = ""
) -> Planned:
    """Hand over a fact with the words that it was told in; ``ago`` days is when they were said.

    ``since`` is the day since when it holds, ``to`` the day on which it ended.
    """
    claim = {"subject": subject, "predicate": predicate, "value": value}
    claim |= {key: day for key, day in (("valid_from", since), ("valid_to", to)) if day}
    told = {"content": f"{subject}: {predicate.replace('_', ' ')} is {value}.", "facts": (claim,)}
    return "remember", {"label": label, **told, **({"ago": ago} if ago else {})}


def _say(*texts: str) -> Planned:
    return "ingest", {"messages": tuple(("user", text) for text in texts), "session": "counter"}


def _matters_of_the_courier(me: Teller) -> tuple[Matter, ...]:
    """What is known of the courier changes, is doubted, ended long ago, or is known better by the office."""
    fact, pick = partial(_fact, subject=me.courier), me.chance.sample
    day, other_day = pick(("Friday", "Monday", "Tuesday"), 2)
    fee, more = pick(("10 euros", "12 euros", "15 euros", "18 euros"), 2)
    town, other_town = pick(("Metz", "Nancy", "Reims"), 2)
    driver, next_driver = pick(("Otto Brandt", "Ines Petrov", "Olga Stein"), 2)
    last = driver.partition(" ")[2]
    return (
        {0: (fact("parcel delivery day", day),), 1: (fact("parcel weekday", day), ("same", {}))},
        {11: (fact("parcel delivery day", other_day),)},
        {
            0: (fact("driver", driver, label="driver"),),
            3: (
                _fact("home", "Oslo", subject=driver),
                _fact("home", "Oslo", subject=last),
                ("merge_entities", {"into": driver, "other": last}),
            ),
            9: (("pin", {"id": "driver"}),),
            10: (("unpin", {"id": "driver"}), ("strengthen", {"id": "driver"}), ("weaken", {"id": "driver"})),
            44: (fact("driver", next_driver),),
            148: (("confirm", {"id": f"value {next_driver}"}),),
        },
        {
            3: (("alias", {"entity": me.courier, "name": "the couriers"}),),
            4: (("split_entity", {"entity": me.courier, "alias": "the couriers"}),),
        },
        {
            5: (fact("loading fee", fee), fact("lift", "the north lift")),
            6: (fact("loading fee", more), fact("lift", "the south lift")),
            7: (("confirm", {"id": f"value {more}"}), ("both", {"id": "value the south lift"})),
        },
        {
            12: (fact("depot town", town, since="2020-05-01"),),
            13: (fact("depot town", other_town, since="2015-01-01"),),
        },
        {43: (fact("tariff", "red"), ("verify", {}))},
        {
            46: (
                fact("garage", "the old mill", since="2018-01-01", to="2020-01-01"),
                ("deny", {"id": "value the old mill"}),
            )
        },
    )


def _matters_of_the_gate(me: Teller) -> tuple[Matter, ...]:
    """A gate, its code, and a visit to it: three related notes of one session, which is then promoted."""
    notes = [("remember", {"content": text, "session": "visit", "confidence": 1.0}) for text in VISIT]
    code, old = me.chance.sample(("4711", "2048", "8120", "6006"), 2)
    return (
        {2: (*notes, ("relate", {"number": 3}), ("promote", {"session_id": "visit"}))},
        {
            0: (_fact("gate code", code, subject=me.courier, label="gate"),),
            8: (("move", {"id": "gate", "tier": "vault", "reason": "the gate is used every day"}),),
            14: (
                ("reinforce", {"id": "gate", "boost_type": "multiplicative", "boost_amount": 0.1}),
                ("reinforce", {"id": "gate", "boost_type": "set_value", "boost_amount": 0.9}),
            ),
            15: (("move", {"id": "gate", "tier": "warm", "reason": "the code was changed"}),),
            16: (_fact("gate code", old, subject=me.courier, ago=400),),
        },
    )


def _matters_of_people(me: Teller) -> tuple[Matter, ...]:
    """People move, and what they like is denied, put away, and said again after months."""
    moves, dislikes, keeps, leaves, returns = me.chance.sample(PEOPLE, 5)
    town, (food, drink, dish) = me.chance.choice(("Bern", "Cork", "Riga")), me.chance.sample(("fish", "tea", "rice"), 3)
    return (
        {
            21: (
                _say(
                    f"Remember that {moves} lives in {town}.",
                    f"Remember that {dislikes} likes {food}.",
                    f"Remember that {keeps} likes {drink}.",
                    f"Remember that {leaves} lives in {town}.",
                    f"Remember that {returns} likes {dish}.",
                ),
            ),
            24: (_say(f"{dislikes} doesn't like {food}."),),
            28: (_say(f"{moves} no longer lives in {town}."),),
            47: (("archive", {"id": f"value {dish}", "reason": "not on the list"}),),
            48: (_say(f"Remember that {returns} likes {dish}."),),
            112: (_say(f"Remember that {keeps} likes {drink}.", f"{leaves} no longer lives in {town}."),),
        },
    )


HOUSEKEEPING: Final[Sequence[Matter]] = (
    {30: (("learn_procedures", {}), ("learn_rates", {}), ("summarize", {})), 46: (("summarize", {}),)},
    {
        31: (
            ("extract", {"text": "We decided to use the blue forms for refunds.", "namespace": "default"}),
            _say("Please book the small van for the porter.", "Yes, that is correct.", "My doctor is Elif Rossi."),
        )
    },
    {
        10: (("decay", {"decay_function": "linear", "dry_run": False}),),
        12: (("decay", {"decay_function": "step", "dry_run": False}),),
        34: (("decay", {"factor": 0.5}), ("decay", {"dry_run": False})),
    },
    {42: (("consolidate", {"similarity_threshold": 0.8, "strategy": "keep_oldest"}), ("fit", {"tokens": 600}))},
)
"""What is done in every office; who asks for a decay by a factor, or to merge a fifth at once, is told the way."""


@cache
def _office() -> TemporaryDirectory[str]:
    """Make the office's own database, which knows better what the couriers charge, and a file that names it."""
    folder = TemporaryDirectory()
    with closing(sqlite3.connect(Path(folder.name, "office.db"))) as connection, connection:
        connection.execute("CREATE TABLE courier (name TEXT, tariff TEXT)")
        connection.executemany("INSERT INTO courier VALUES (?, 'blue')", [(name,) for name in COURIERS])
    asked = "SELECT tariff FROM courier WHERE name IN :aliases"
    told = f"[authorities.office]\ntimeout_seconds = 60\nurl = 'sqlite:///office.db'\npredicates.tariff = '{asked}'\n"
    Path(folder.name, "knowledge.toml").write_text(told, "utf-8")
    return folder


def policy() -> Mapping[str, Any]:
    """Return the policy of a clerk's store, which names an authority and waits for it however busy the machine is."""
    known = {"file": str(Path(_office().name, "knowledge.toml")), "authority_seconds": 60}
    return {"preset": "facts", "knowledge": known, "importance": {"half_life_days": 45, "floor": 0.2}}
