"""A clerk who looks after what an office knows: corrects, renames, joins and sets right by hand, week after week."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from life.lives import Teller

COURIER: Final = "Tallow Couriers"
FOLLOWS: Final = ("What is the status of the delivery by Tallow Couriers?", "And the invoices for it?")
"""What is asked every fourth day, and what is always asked next."""
BUSY: Final = 46
"""Days of which every other has a talk."""
VISIT: Final = (
    "The courier asked for a second key of the loading gate. It hangs in the porter's lodge, beside the list.",
    "The loading gate sticks when it rains. The porter lifts it with both hands and asks for a smith every time.",
    "The porter writes down each parcel that comes through the loading gate, and signs the list in the evening.",
)


def clerk(me: Teller, number: int) -> None:
    """Live one day: talk, state and look up; on certain days set something right."""
    me.begin(9 * 60)
    if number < BUSY and number % 2 == 0:
        talk = FOLLOWS if number % 4 == 0 else (me.draw("note"), me.draw("small"))
        said = (me.draw("note"), *talk, me.draw("note"))
        me.step("ingest", messages=tuple(("user", text) for text in said), session=f"day-{number}")
        me.state(me.chance.choice(("facts", "remember", "say")))
    if number % (3 if number < BUSY else 15) == 0:
        me.ask(use=me.chance.choice(("helpful", "", "unused")))
    for verb, arguments in ON_DAYS.get(number, ()):
        me.step(verb, arguments.get("label", ""), **{k: v for k, v in arguments.items() if k != "label"})
    if number % 5 == 4:
        me.step("review", answers=1)


Planned = tuple[str, Mapping[str, Any]]


def _fact(
    predicate: str, value: str, *, label: str = "", subject: str = COURIER, ago: int = 0, since: str = "", to: str = ""
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


def _visit() -> tuple[Planned, ...]:
    """Three related notes of one session, which is then promoted."""
    notes = [("remember", {"content": text, "session": "visit", "confidence": 1.0}) for text in VISIT]
    return *notes, ("relate", {"number": 3}), ("promote", {"session_id": "visit"})


ON_DAYS: Final[Mapping[int, Sequence[Planned]]] = {
    0: (
        _fact("parcel delivery day", "Friday", label="day"),
        _fact("gate code", "4711", label="gate"),
        _fact("driver", "Otto Brandt", label="driver"),
    ),
    1: (_fact("parcel weekday", "Friday"), ("same", {})),
    2: _visit(),
    3: (
        ("alias", {"entity": COURIER, "name": "the couriers"}),
        _fact("home", "Oslo", subject="Otto Brandt"),
        _fact("home", "Oslo", subject="Brandt"),
        ("merge_entities", {"into": "Otto Brandt", "other": "Brandt"}),
    ),
    4: (("split_entity", {"entity": COURIER, "alias": "the couriers"}),),
    5: (_fact("loading fee", "10 euros"), _fact("lift", "the north lift")),
    6: (_fact("loading fee", "12 euros"), _fact("lift", "the south lift")),
    7: (("confirm", {"id": "value 12 euros"}), ("both", {"id": "value the south lift"})),
    8: (("move", {"id": "gate", "tier": "vault", "reason": "the gate is used every day"}),),
    9: (("pin", {"id": "driver"}),),
    10: (("unpin", {"id": "driver"}), ("strengthen", {"id": "driver"}), ("weaken", {"id": "driver"})),
    11: (_fact("parcel delivery day", "Monday"),),
    12: (_fact("depot town", "Metz", since="2020-05-01"),),
    13: (_fact("depot town", "Nancy", since="2015-01-01"),),
    14: (
        ("reinforce", {"id": "gate", "boost_type": "multiplicative", "boost_amount": 0.1}),
        ("reinforce", {"id": "gate", "boost_type": "set_value", "boost_amount": 0.9}),
    ),
    15: (("move", {"id": "gate", "tier": "warm", "reason": "the code was changed"}),),
    16: (_fact("gate code", "2048", ago=400),),
    21: (
        _say(
            *("Remember that Ida lives in Bern.", "Remember that Kim likes fish.", "Remember that Pia likes tea."),
            *("Remember that Rolf lives in Bern.", "Remember that Uwe likes rice."),
        ),
    ),
    24: (_say("Kim doesn't like fish."),),
    28: (_say("Ida no longer lives in Bern."),),
    30: (("learn_procedures", {}), ("learn_rates", {}), ("summarize", {})),
    31: (("extract", {"text": "We decided to use the blue forms for refunds.", "namespace": "default"}),),
    35: (("decay", {"dry_run": False}),),
    43: (("consolidate", {"similarity_threshold": 0.8, "strategy": "keep_oldest"}), ("fit", {"tokens": 600})),
    44: (_fact("tariff", "red"), ("verify", {})),
    45: (_fact("driver", "Ines Petrov"),),
    46: (("summarize", {}),),
    47: (
        _fact("garage", "the old mill", since="2018-01-01", to="2020-01-01"),
        ("deny", {"id": "value the old mill"}),
        ("archive", {"id": "value rice", "reason": "he is not on the list"}),
    ),
    48: (_say("Remember that Uwe likes rice."),),
    113: (_say("Remember that Pia likes tea.", "Rolf no longer lives in Bern."),),
    150: (("confirm", {"id": "value Ines Petrov"}),),
}
"""Day -> what the clerk does on it besides."""


@cache
def _office() -> TemporaryDirectory[str]:
    """Make the office's own database, which knows better what the couriers charge, and a file that names it."""
    folder = TemporaryDirectory()
    with closing(sqlite3.connect(Path(folder.name, "office.db"))) as connection, connection:
        connection.execute("CREATE TABLE courier (name TEXT, tariff TEXT)")
        connection.execute("INSERT INTO courier VALUES (?, ?)", (COURIER, "blue"))
    asked = "SELECT tariff FROM courier WHERE name IN :aliases"
    told = f"[authorities.office]\ntimeout_seconds = 60\nurl = 'sqlite:///office.db'\npredicates.tariff = '{asked}'\n"
    Path(folder.name, "knowledge.toml").write_text(told, "utf-8")
    return folder


def policy() -> Mapping[str, Any]:
    """Return the policy of a clerk's store, which names an authority and waits for it however busy the machine is."""
    known = {"file": str(Path(_office().name, "knowledge.toml")), "authority_seconds": 60}
    return {"preset": "facts", "knowledge": known}
