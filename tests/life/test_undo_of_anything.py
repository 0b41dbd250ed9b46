"""Random calls of all kinds, taken back newest first: the store holds and answers what it did before."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from typing import Any, get_args

import pytest

from conftest import Clock, budget, logical, opened, seeds
from perdure.records.errors import InvalidInput, NotFound, PerdureError
from perdure.records.memory import Shelf
from perdure.verbs.reviewing import Answer

POLICY = {
    "preset": "knowledge",
    "consolidate": {"require_dry_run": False},
    "gates": {"loss_free_count": 1000, "canaries": 0},
    "journal": {"horizon_days": 0},
}
"""Nothing is too old to be taken back."""
ONCE = (26, 131, 152, 5, 15, 66, 96)
"""Seeds that once got stuck or ended otherwise: they draw from the acts that there were then."""
SEEDS = budget((26, 131, 152, 1, 2), range(200))
QUESTIONS = [
    *("Where is the zebra server?", "Gai Media deliveries", "What does Anna prefer?", "port in Rome", "budget"),
    *("who lives in Oslo", "the queue"),
]


def embed(texts):
    """Count words by a digest of each: the same words, the same direction."""
    rows = [[1e-3] * 32 for _ in texts]
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().split():
            row[int.from_bytes(blake2b(word.encode(), digest_size=4).digest(), "little") % 32] += 1
    return rows


def said(c):
    name, place = c.choice(["Anna", "Bert", "Gai Media", "Northwall Group"]), c.choice(["Rome", "Oslo", "Lyon"])
    day = c.choice(["Friday", "Monday", "Thursday"])
    return c.choice(
        [
            f"Remember, {name} prefers {day} deliveries.",
            f"My budget is ${c.randint(1, 9)}00.",
            f"{name} lives in {place}.",
            f"The zebra server in {place} listens on port {c.randint(1, 9)}000.",
            f"No, {day}, not Monday.",
            "Yes, Friday is still right.",
            f"{name} moved from Rome to {place}.",
            f"We decided to use queue{c.randint(1, 4)} because of {name}.",
        ]
    )


@dataclass(frozen=True, slots=True)
class Turn:
    """A store, chance, and the memory and the fact that an act is about, if it is about one."""

    memory: Any
    chance: Random
    clock: Clock
    id: str
    fact: str

    def one(self, *several):
        return self.chance.choice(several)

    def number(self, low, high):
        return self.chance.randint(low, high)

    def claim(self):
        subject, value = self.one("Anna", "Bert", "Gai Media"), self.one("Rome", "Oslo", "Lyon")
        return {"subject": subject, "predicate": self.one("home", "office"), "value": value}

    def session(self):
        return f"s{self.number(0, 3)}"

    def entity(self):
        return self.one(*([e.name for e in self.memory.entities()] or ["Anna"]))


def remember(t):
    text = f"{said(t.chance)} {t.number(0, 30)}"
    t.memory.remember(text, tags=[t.one("a", "b")], task=t.one(None, "t1"), session=t.one(None, "s1"))


def ingest(t):
    messages = [{"content": said(t.chance), "role": t.one("user", "user", "assistant")} for _ in range(3)]
    t.memory.ingest(messages, session=t.session())


def consolidate(t):
    for dry_run, strategy in ((True, t.one("keep_newest", "merge_content")), (False, "keep_newest")):
        t.memory.consolidate("default", similarity_threshold=0.8, strategy=strategy, dry_run=dry_run)


def extract(t):
    text = f"We decided to use {t.one(*'abc')}{t.number(1, 5)}. Remember that x{t.number(1, 9)} is Tuesday."
    t.memory.extract(text, namespace="default")


def unname(t):
    entity = t.memory.entity(t.entity())
    t.memory.alias(entity.id, t.one(*entity.aliases), remove=True)


def answer(t):
    """Answer the question that comes first, in one of all ways; those that do not fit it are refused."""
    verdict = t.one(*get_args(Answer))
    asked = t.memory.review()
    if asked:
        t.memory.answer(asked[0].id, verdict, t.one("Sunday", "Paris") if verdict == "correct" else None)


FIRST = {
    "remember": remember,
    "ingest": ingest,
    "sweep": lambda t: t.memory.sweep(),
    "fit": lambda t: t.memory.fit(tokens=t.one(50, 200, 1000), dry_run=False),
    "consolidate": consolidate,
    "learn": lambda t: t.memory.learn([t.session()]),
    "archive": lambda t: t.memory.archive(t.id, "r"),
    "restore": lambda t: t.memory.restore(t.id, t.one(None, "full", "summary")),
    "pin": lambda t: t.memory.pin(t.id),
    "unpin": lambda t: t.memory.unpin(t.id),
    "reinforce": lambda t: t.memory.reinforce([t.id], t.one("additive", "multiplicative", "set_value"), 0.3),
    "weaken": lambda t: t.memory.weaken([t.id]),
    "used": lambda t: t.memory.used([t.id], t.one("helpful", "wrong", "unused")),
    "move": lambda t: t.memory.move(t.id, t.one("hot", "warm", "cold", "vault"), "r"),
    "extract": extract,
    "correct": lambda t: t.memory.correct(t.fact, t.one("Sunday", "$5", "Paris")),
    "confirm": lambda t: t.memory.confirm(t.fact),
    "deny": lambda t: t.memory.deny(t.fact),
    "both": lambda t: t.memory.both(t.fact),
    "mute": lambda t: t.memory.mute(t.fact),
    "alias": lambda t: t.memory.alias(t.entity(), f"N{t.number(1, 5)}"),
    "merge": lambda t: t.memory.merge_entities(t.entity(), t.entity()),
    "split": lambda t: t.memory.split_entity(t.entity(), t.entity()),
    "relate": lambda t: t.memory.relate([t.id, t.one(*ids(t.memory))]),
    "complete": lambda t: t.memory.complete_task("t1"),
    "promote": lambda t: t.memory.promote(t.session(), confirm=True),
    "end": lambda t: t.memory.end_session(t.session()),
    "decay": lambda t: t.memory.decay(dry_run=False),
    "settle": lambda t: t.memory.settle(t.id, t.one("keep", "drop"), "r"),
    "summarize": lambda t: t.memory.summarize(dry_run=False),
    "procedures": lambda t: t.memory.procedures(dry_run=False),
    "rates": lambda t: t.memory.rates(dry_run=False),
    "recall": lambda t: t.memory.recall(t.one(*QUESTIONS)),
    "wait": lambda t: t.clock.passes(days=t.one(0.01, 1, 10, 100)),
}
ACTS = {
    **FIRST,
    "update": lambda t: t.memory.update(t.id, f"{said(t.chance)} {t.number(0, 30)}", [t.claim()][: t.number(0, 1)]),
    "replace": lambda t: t.memory.remember(f"{said(t.chance)} {t.number(0, 30)}", replaces=[t.id]),
    "hand over": lambda t: t.memory.remember(f"{said(t.chance)} {t.number(0, 30)}", facts=[t.claim()]),
    "strengthen": lambda t: t.memory.strengthen([t.id], t.one(0.1, 0.5)),
    "forget": lambda t: t.memory.forget(t.id, "r"),
    "answer": answer,
    "unname": unname,
    "undo": lambda t: t.memory.undo("last"),
    "upkeep": lambda t: t.memory.upkeep("worker", eager=t.number(0, 1) == 1),
}


def names(acts):
    """How often each act is drawn."""
    return [name for name in acts for _ in range({"remember": 2, "ingest": 3, "wait": 2, "answer": 3}.get(name, 1))]


def ids(memory):
    return [m.id for m in memory.list(limit=60, include_archived=True)] or ["x"]


def act(memory, chance, clock, number, acts):
    """Do some of the acts and return their names; what is refused leaves the store as it is."""
    done, drawn = [], names(acts)
    for _ in range(number):
        name, one = chance.choice(drawn), ids(memory)
        about = chance.choice(one)
        facts = [f.id for f in memory.facts(limit=50)]
        turn = Turn(memory, chance, clock, about, chance.choice(facts) if facts else about)
        with suppress(PerdureError):
            ACTS[name](turn)
        done.append(name)
    return done


def answers(memory):
    """What can be read of a store, scores included."""
    recalls = [memory.recall(q, limit=10, touch=False) for q in QUESTIONS]
    return {
        "recall": [
            ([(h.memory.id, h.memory.content, round(h.score, 9)) for h in r.hits], r.nothing_known) for r in recalls
        ],
        "sheets": [memory.answer_sheet(q).text for q in QUESTIONS],
        "digest": memory.digest(),
        "facts": [(f.id, f.value, round(f.confidence, 9), f.contested) for f in memory.facts(limit=100)],
        "questions": [(q.id, q.question) for q in memory.review()],
        "entities": [(e.name, tuple(e.aliases)) for e in memory.entities()],
        "memories": ids(memory),
    }


def lasting(rows, done):
    """What a store means without what is not taken back: an access is no operation."""
    return rows | ({"access": []} if "recall" in done else {})


def without_schedule(rows):
    """What a store means, but for when upkeep last ran each of its tasks."""
    return rows | {"document": [row for row in rows["document"] if row[1] != Shelf.UPKEEP]}


@pytest.mark.behaviour("LD4", "LV8")
@seeds(SEEDS)
def test_whatever_was_called_is_taken_back_exactly(store, elsewhere, seed):
    """When upkeep last ran is a note for itself: history without notes leaves it, and it can be taken back by its id.

    Else a worker would at once repeat the sweep that somebody has just taken back.
    """
    chance, clock, path = Random(seed), Clock(), elsewhere()  # noqa: S311  # repeatable on purpose
    acts = FIRST if seed in ONCE else ACTS
    with opened(path, POLICY, clock, embed) as memory:
        act(memory, chance, clock, chance.randint(0, 12), acts)
        memory.sweep()  # counts the accesses so far
        earlier = {o.id for o in memory.history(limit=1000, notes=True)}
        before, answered, then = logical(path), answers(memory), clock.now
        done = act(memory, chance, clock, chance.randint(5, 30), acts)
        later = [o for o in memory.history(limit=1000, notes=True) if o.id not in earlier]
        for operation in later:
            if operation.operation != "upkeep":
                memory.undo(operation.id)
        clock.now = then
        after, before = (lasting(rows, done) for rows in (logical(path), before))
        assert without_schedule(after) == without_schedule(before)
        if "recall" not in done:
            assert answers(memory) == answered
        for operation in later:
            if operation.operation == "upkeep":
                memory.undo(operation.id)
        assert lasting(logical(path), done) == before
        assert memory.check() == []


@seeds(budget((5, 15, 66, 96), range(60)))
def test_what_erasures_leave_is_taken_back_to_nothing(store, elsewhere, seed):
    chance, clock = Random(seed), Clock()  # noqa: S311  # repeatable on purpose
    acts = FIRST if seed in ONCE else ACTS
    with opened(elsewhere(), POLICY, clock, embed) as memory:
        for _ in range(4):
            act(memory, chance, clock, chance.randint(4, 12), acts)
            gone = chance.choice(ids(memory))
            with suppress(NotFound):  # there is nothing yet
                word = memory.erase([gone], reason="asked").confirm
                memory.erase([gone], reason="asked", confirm=word, dry_run=False)
        act(memory, chance, clock, 6, acts)
        for operation in memory.history(limit=1000):
            if operation.operation != "erase" and operation.undoes is None:
                try:
                    memory.undo(operation.id)
                except InvalidInput as error:
                    if "would bring nothing back" in error.message:  # it says what to erase instead
                        made = error.remedy.rpartition(" for ")[2].rstrip(".")
                        word = memory.erase([made], reason="asked").confirm
                        memory.erase([made], reason="asked", confirm=word, dry_run=False)
                        continue
                    assert "was erased for good; nothing is left to undo" in error.message  # noqa: PT017  # few of many
        assert (ids(memory), memory.facts(past=True), memory.entities(), memory.review()) == (["x"], [], [], [])
        assert memory.check(full=True) == []
