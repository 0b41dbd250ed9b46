"""A scripted life writes the same rows and journal, and answers the same, as when it was recorded.

``python tests/operations/test_recorded_life.py`` records it anew, after a change that is meant to write something else;
``--exact FOLDER`` writes everything to the last bit into files, to compare two versions on one machine.
"""

from __future__ import annotations

import json
import random
import re
import sys
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from unittest import mock

import apsw
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from conftest import HASHED, WORDS_ONLY, Clock, HashEmbedder, opened
from perdure.stores.sqlite.lines import add_functions

RECORD = Path(__file__).with_name("recorded_life.json")


class SignEmbedder(HashEmbedder):
    """The signs of a hashed text's coordinates: cosines are multiples of 1/64, the same on every processor."""

    def embed(self, texts, *, purpose):
        found = super().embed(texts, purpose=purpose)
        size = self.space.dimensions**-0.5
        return [np.copysign(size, np.frombuffer(row, "<f4")).astype("<f4").tobytes() for row in found]


LIVES = {
    "words": (WORDS_ONLY, None),
    "vectors": (HASHED, SignEmbedder()),
    "strength": ({**HASHED, "archive": {"rule": "strength"}}, SignEmbedder()),
    "confidence": ({**HASHED, "archive": {"rule": "confidence"}, "compression": {"rule": "triggers"}}, SignEmbedder()),
}
NAMES = ["Ana", "Ben", "Carla", "Dmitri", "Eve", "Zoë"]
THINGS = ["budget", "garden", "server", "bridge", "violin", "recipe", "train", "invoice", "kitchen", "window"]
THINGS += ["notebook", "harbour"]
DEEDS = ["moved", "repaired", "painted", "cancelled", "planned", "found", "lost", "booked", "cleaned", "finished"]
PLACES = ["in Oslo", "near the river", "before lunch", "for 40 euros", "on Monday", "with the new team", "as we agreed"]
SECRETS = ["the password is hunter2!X9", "key AKIAIOSFODNN7EXAMPLQ", "card 4111 1111 1111 1111"]
TABLES = ("memory", "content", "tag", "link", "vector", "idempotency", "operation", "document", "namespace", "access")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{7,}(?:e-?\d+)?")


class Life:
    """What is said and asked over some weeks; the same for each policy."""

    def __init__(self, memory, clock):
        self.memory, self.clock = memory, clock
        self.random = random.Random(11)  # noqa: S311  # a script, no secret
        self.answers, self.recalls, self.keyed = [], [], {}

    def text(self):
        pick = self.random.choice
        return f"{pick(NAMES)} {pick(DEEDS)} the {pick(THINGS)} {pick(PLACES)}."

    def item(self):
        item = {"content": self.text()}
        if self.random.random() < 0.4:
            item["tags"] = self.random.sample(["work", "home", "ideas", "größe"], 2)
        if self.random.random() < 0.2:
            item["importance"] = round(self.random.random(), 2)
        if self.random.random() < 0.1:
            item["content"] += f" And {self.random.choice(SECRETS)}."
        if self.random.random() < 0.1:
            item["metadata"] = {"place": self.random.choice(PLACES), "count": self.random.randrange(9)}
        if self.random.random() < 0.1:
            item["source"] = "https://example.org/notes"
        if self.random.random() < 0.1:
            item |= {"session": f"s{self.random.randrange(3)}", "kind": self.random.choice(["note", "episode"])}
        if self.random.random() < 0.05:
            item["pinned"] = True
        if self.random.random() < 0.1:
            key = f"key-{self.random.randrange(12)}"
            item |= {"idempotency_key": key, "content": self.keyed.setdefault(key, item["content"])}
        return item

    def conversation(self, name):
        roles = ("user", "assistant")
        said = [{"role": roles[i % 2], "content": self.text(), "at": self.clock()} for i in range(8)]
        said.append({"role": "assistant", "content": said[0]["content"]})
        self.memory.ingest(said, session=name)

    def ask(self):
        found = self.memory.recall(self.text(), limit=6)
        self.recalls.append([(h.memory.id, h.score, h.memory.value, h.memory.strength) for h in found.hits])

    def day(self, number):
        stored = [self.memory.remember(**self.item()) for _ in range(5)]
        self.answers.append([(o.memory.id, o.operation, [r.id for r in o.related]) for o in stored])
        many = self.memory.remember_many([self.item() for _ in range(12)])
        self.answers.append([(o.memory.id, o.operation, o.memory.value, str(o.memory.due_at)) for o in many])
        self.conversation(f"talk-{number}")
        self.ask()
        self.ask()
        if number % 3 == 1:
            self.memory.forget(stored[0].memory.id)
            self.memory.update(stored[1].memory.id, self.text())
        if number % 4 == 2:
            self.memory.undo(stored[2].operation or many[0].operation)
        self.clock.passes(days=self.random.choice([1, 4, 16]), seconds=37)
        self.memory.decay()

    def live(self, days):
        for number in range(days):
            self.day(number)
        self.memory.consolidate("default")
        for _ in range(10):
            self.ask()


def rows(path):
    """Return table -> its rows, in a settled order, journal lines unpacked."""
    with closing(apsw.Connection(str(path))) as connection:
        add_functions(connection)
        known = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        found = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in known if name in TABLES}
        parts = ", ".join(f"line_part(j.data, {n}, o.id)" for n in range(3))
        joined = "journal j JOIN operation o ON o.number = j.operation"
        lines = f"SELECT o.id, position, target, plain_id(j.id), {parts} FROM {joined}"
        found["journal"] = connection.execute(lines).fetchall()
        found["words"] = connection.execute("SELECT * FROM words ORDER BY rowid").fetchall()
    return {name: sorted(found[name], key=repr) for name in sorted(found)}


def lived(path, name, days=14):
    policy, embedder = LIVES[name]
    clock, bits = Clock(), random.Random(5)  # noqa: S311  # a script, no secret
    given = policy, clock, embedder
    with mock.patch("perdure.compose.secrets", mock.Mock(randbits=bits.getrandbits)), opened(path, *given) as m:
        life = Life(m, clock)
        life.live(days)
    return {**rows(path), "answers": life.answers, "recalls": life.recalls}


def portable(value):
    """Return a value without what differs between machines: the last bits of numbers, and digests of those."""
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, str):
        return _LONG_NUMBER.sub(lambda m: f"{float(m[0]):.6f}", value)
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, int) and abs(value) > 1 << 48:
        return "digest"
    return [portable(v) for v in value] if isinstance(value, list | tuple) else value


def digests(found):
    return {
        name: [len(some), blake2b(json.dumps(portable(some)).encode(), digest_size=8).hexdigest()]
        for name, some in found.items()
        if name != "recalls"  # the ranking has tests of its own
    }


@pytest.mark.filterwarnings("ignore:.* replaced before storing")
@pytest.mark.parametrize("name", LIVES)
def test_a_scripted_life_is_as_it_was_recorded(name, tmp_path):
    recorded = json.loads(RECORD.read_text("utf-8"))
    assert digests(lived(tmp_path / "agent.db", name)) == recorded[name]


def main(arguments):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = {name: lived(Path(folder) / f"{name}.db", name) for name in LIVES}
    if arguments[:1] == ["--exact"]:
        for name, some in found.items():
            text = "\n".join(f"{table}\t{row!r}" for table, rows_ in some.items() for row in rows_)
            Path(arguments[1], f"{name}.txt").write_text(text, "utf-8")
        return
    RECORD.write_text(json.dumps({name: digests(some) for name, some in found.items()}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
