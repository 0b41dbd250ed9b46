"""Records that go by a number of their own are no versions of one thing: each is found by it, and has a line."""

from datetime import UTC, datetime, timedelta

import pytest

import perdure

BEGIN = datetime(2026, 9, 1, 9, tzinfo=UTC)
NUMBERS = (2041, 2187, 2203, 3310, 3382, 4129, 4471, 5521)
RECORDS = {
    "claim": ("Claim {n} ({who}): {what} in the kitchen.", "What is claim {n} about?"),
    "incident": ("{who} closed INC-{n} yesterday, an expired {what} had caused it.", "What had caused INC-{n}?"),
    "dossier": ("Dossier n° {n} : {what} chez {who}, à rappeler.", "Quel est le problème du dossier n° {n} ?"),
    "parcel": ("We sent parcel {n} to {who}, with the {what} inside.", "Who got parcel {n}?"),
    "invoice": ("Rechnung {n} an {who} über {what} ist noch offen.", "Worum geht es bei Rechnung {n}?"),
    "ticket": ("Ticket #{n}: {who} cannot open the {what}.", "Who wrote ticket #{n}?"),
}
WHO = ("Olsen", "Petit", "Huber", "Kowalska", "Ferrari")
WHAT = ("certificate", "pipe", "scanner", "lamp", "ledger", "heater", "modem")


def texts(kind):
    form = RECORDS[kind][0]
    return {n: form.format(n=n, who=WHO[i % 5], what=WHAT[i % 7]) for i, n in enumerate(NUMBERS)}


@pytest.fixture
def at(tmp_path):
    """Opens a store whose clock is set by hours."""
    hours = [0]

    def set_to(hour):
        hours[0] = hour

    with perdure.open(tmp_path / "a.db", clock=lambda: BEGIN + timedelta(hours=hours[0])) as memory:
        yield memory, set_to


@pytest.mark.parametrize("kind", RECORDS)
def test_each_is_the_first_hit_for_its_number_and_has_a_line(at, kind):
    memory, set_to = at
    for hour, text in enumerate(texts(kind).values()):
        set_to(7 * hour)
        memory.ingest([{"content": text, "speaker": "user"}], session=f"s{hour}")
    asked = {n: memory.recall(RECORDS[kind][1].format(n=n), touch=False).hits[0].memory.content for n in NUMBERS}
    assert asked == texts(kind)
    shown = memory.digest()
    assert kind == "incident" or [n for n in NUMBERS if str(n) not in shown] == []  # what was done is of the moment


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The API listens on port 8080.", "The API listens on port 9090 now."),
        ("The weekly sync is in room 204.", "The weekly sync moved to room 311."),
        ("Python 3.11 is our minimum.", "Python 3.12 is our minimum now."),
        ("Room 204 is ours on Mondays.", "Room 311 is ours on Mondays now, no longer 204."),
    ],
)
def test_a_number_that_is_a_value_still_changes(at, before, after):
    memory, set_to = at
    memory.ingest([{"content": before, "speaker": "user"}], session="a")
    set_to(48)
    memory.ingest([{"content": after, "speaker": "user"}], session="b")
    first, second = memory.recall(before.replace(".", "?"), touch=False).hits[:2]
    assert (first.memory.content, second.memory.content) == (after, before)
