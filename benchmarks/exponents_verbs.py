"""The verbs that exponents.py measures: what each is called with, and what its work may grow with."""

from __future__ import annotations

from functools import partial
from itertools import count, cycle
from typing import TYPE_CHECKING, Any, NamedTuple

import made
from perdure.records.instant import from_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import perdure
    from made import Made

FLAT = "flat"
LISTED = "what it lists"
MOVES = "what moves"
ALL = "all memories"
MANY = 50
_DRY = "dry run"


class Measured(NamedTuple):
    """A call, and what its work may grow with."""

    needs: str
    call: Callable[[], Any]


Verbs = dict[str, Measured]


def new_texts(data: Made) -> Iterator[str]:
    """Yield texts that no store holds, without an end."""
    return (f"{text} (number {n})" for n, text in zip(count(), cycle(data.questions), strict=False))


def verbs(memory: perdure.Memory, data: Made) -> Verbs:
    """Return the verbs that are measured, by name, in the order in which they are called."""
    texts = new_texts(data)
    written = Written(memory, texts)
    return {
        **asking(memory, data, written),
        **facts(memory, data),
        **looking_at_all(memory),
        **storing(written),
        **deciding(written),
        **several(written),
        **claiming(written),
        **service(written),
        **for_good(written),
    }


def asking(memory: perdure.Memory, data: Made, written: Written) -> Verbs:
    """Return what asks about one memory, or for a few."""
    asked, one = data.questions[0], made.identity(7)
    half = from_instant(made.NOW_MS - made.WINDOW_MS // 2)
    return {
        "recall": Measured(FLAT, lambda: memory.recall(asked, limit=10, touch=False)),
        "recall as of": Measured(FLAT, lambda: memory.recall(asked, limit=10, touch=False, as_of=half)),
        "recall, counted": Measured(FLAT, written.recall),
        "used": Measured(FLAT, written.used),
        "sweep after that": Measured(FLAT, memory.sweep),
        "sweep, nothing due": Measured(FLAT, memory.sweep),
        "get": Measured(FLAT, partial(memory.get, one)),
        f"list({MANY})": Measured(FLAT, partial(memory.list, limit=MANY)),
        "why": Measured(FLAT, partial(memory.why, one)),
        "why_not": Measured(FLAT, partial(memory.why_not, one, asked)),
        "edges": Measured(FLAT, partial(memory.edges, one)),
        f"history({MANY})": Measured(FLAT, partial(memory.history, limit=MANY)),
        "history of one memory": Measured(FLAT, partial(memory.history, one)),
        f"review({MANY})": Measured(FLAT, partial(memory.review, limit=MANY)),
        "namespaces": Measured(FLAT, memory.namespaces),
        "stats": Measured(FLAT, memory.stats),
        "alerts": Measured(FLAT, memory.alerts),
        "digest": Measured(FLAT, memory.digest),
        "upkeep_states": Measured(FLAT, memory.upkeep_states),
    }


def facts(memory: perdure.Memory, data: Made) -> Verbs:
    """Return what asks for facts, entities and procedures: ten facts of each entity, at every size."""
    who = "Person 1"
    return {
        f"facts({MANY})": Measured(FLAT, partial(memory.facts, limit=MANY)),
        "facts of an entity": Measured(FLAT, partial(memory.facts, who)),
        "timeline": Measured(FLAT, partial(memory.timeline, who)),
        "entity": Measured(FLAT, partial(memory.entity, who)),
        "entities(10)": Measured(FLAT, partial(memory.entities, limit=10)),
        "answer_sheet": Measured(FLAT, partial(memory.answer_sheet, data.questions[0])),
        f"verify({MANY})": Measured(FLAT, partial(memory.verify, limit=MANY)),
        f"rates, {_DRY}": Measured(ALL, memory.rates),
        f"summarize, {_DRY}": Measured(ALL, memory.summarize),
        f"procedures, {_DRY}": Measured(ALL, memory.procedures),
    }


def looking_at_all(memory: perdure.Memory) -> Verbs:
    """Return what must look at all memories, at their lines of the journal, or at all that moves."""

    def export() -> None:
        for _ in memory.export("default"):
            pass

    def list_all() -> None:
        for _ in memory.list_all():
            pass

    return {
        "forecast": Measured(MOVES, partial(memory.forecast, 30)),
        f"decay, {_DRY}": Measured(ALL, memory.decay),
        f"consolidate, {_DRY}": Measured(ALL, partial(memory.consolidate, "default")),
        f"consolidate, recorded pairs, {_DRY}": Measured(ALL, partial(memory.consolidate, "default", pairs="recorded")),
        f"fit, {_DRY}": Measured(ALL, partial(memory.fit, tokens=10_000)),
        "compression": Measured(ALL, memory.compression),
        "backtest of 100 recalls": Measured(ALL, partial(memory.backtest, {"tiers": {}}, limit=100)),
        "list_all": Measured(LISTED, list_all),
        "export": Measured(LISTED, export),
        "check": Measured(ALL, memory.check),
        "check, full": Measured(ALL, partial(memory.check, full=True)),
        f"repair, {_DRY}": Measured(ALL, memory.repair),
        f"compact, {_DRY}": Measured(FLAT, memory.compact),
        "optimize": Measured(ALL, memory.optimize),
        "reembed, nothing to do": Measured(FLAT, memory.reembed),
    }


def storing(written: Written) -> Verbs:
    """Return what stores; each call changes what the one before it left."""
    memory, texts = written.memory, written.texts
    said = "We decided to keep the importer. Remember that the scheduler reads plan"
    numbers = count()
    return {
        "remember": Measured(FLAT, written.remember),
        f"remember_many of {MANY}": Measured(FLAT, lambda: memory.remember_many([next(texts) for _ in range(MANY)])),
        "ingest of 10": Measured(FLAT, written.ingest),
        "extract": Measured(FLAT, lambda: memory.extract(f"{said} {next(numbers)}.", "default")),
        "update": Measured(FLAT, written.update),
        "undo": Measured(FLAT, lambda: memory.undo(memory.history(limit=1)[0].id)),
    }


def deciding(written: Written) -> Verbs:
    """Return what changes one memory."""
    memory = written.memory
    return {
        "remember another": Measured(FLAT, written.remember),
        "pin": Measured(FLAT, lambda: memory.pin(written.last)),
        "unpin": Measured(FLAT, lambda: memory.unpin(written.last)),
        "reinforce": Measured(FLAT, lambda: memory.reinforce([written.last])),
        "strengthen": Measured(FLAT, lambda: memory.strengthen([written.last])),
        "weaken": Measured(FLAT, lambda: memory.weaken([written.last])),
        "move": Measured(FLAT, lambda: memory.move(written.last, "cold", reason="measured")),
        "archive": Measured(FLAT, lambda: memory.archive(written.last, reason="measured")),
        "restore": Measured(FLAT, lambda: memory.restore(written.last)),
        "forget": Measured(FLAT, lambda: memory.forget(written.last)),
        "restore after that": Measured(FLAT, lambda: memory.restore(written.last)),
        "confirm": Measured(FLAT, lambda: memory.confirm(written.last)),
        "used, wrong": Measured(FLAT, written.misled),
        "answer": Measured(FLAT, lambda: memory.answer(written.last, "keep")),
        "correct": Measured(FLAT, written.correct),
        "deny": Measured(FLAT, lambda: memory.deny(written.last)),
    }


def several(written: Written) -> Verbs:
    """Return what is about several memories, or about a session of ten."""
    memory = written.memory
    return {
        "ingest of 10, seen by their session": Measured(FLAT, partial(written.ingest, "session")),
        "relate": Measured(FLAT, written.relate),
        "promote, applied": Measured(FLAT, lambda: memory.promote(written.session, confirm=True)),
        "end_session": Measured(FLAT, lambda: memory.end_session(written.session)),
        "remember in a task": Measured(FLAT, written.begin_task),
        "complete_task": Measured(FLAT, lambda: memory.complete_task(written.session)),
    }


def claiming(written: Written) -> Verbs:
    """Return what changes facts and entities."""
    memory, texts = written.memory, written.texts

    def claim(subject: str) -> Callable[[], Any]:
        return lambda: memory.learn(claims=[{"subject": subject, "predicate": "lives in", "value": next(texts)}])

    return {
        "learn one claim": Measured(FLAT, claim("Person 1")),
        "learn one claim about somebody new": Measured(FLAT, claim("A Newcomer")),
        "alias": Measured(FLAT, lambda: memory.alias("Person 1", "The First")),
        "split_entity": Measured(FLAT, lambda: memory.split_entity("Person 1", "The First")),
        "merge_entities": Measured(FLAT, lambda: memory.merge_entities("Person 1", "The First")),
    }


def service(written: Written) -> Verbs:
    """Return the verbs about tokens, and a worker's look once it has looked before."""
    memory = written.memory
    tokens: list[str] = []

    def create() -> None:
        tokens.append(memory.create_token("reader", "default", actor="somebody").token.id)

    return {
        "create_token": Measured(FLAT, create),
        "list_tokens": Measured(FLAT, memory.list_tokens),
        "revoke_token": Measured(FLAT, lambda: memory.revoke_token(tokens.pop())),
        "maintain, nothing due": Measured(FLAT, lambda: memory.maintain("worker")),
    }


def for_good(written: Written) -> Verbs:
    """Return what must look through the whole file in the end."""
    memory = written.memory

    def erase() -> None:
        told = memory.erase([written.last], reason="measured")
        memory.erase([written.last], reason="measured", confirm=told.confirm, dry_run=False)

    return {
        "remember before erasing": Measured(FLAT, written.remember),
        "erase one memory": Measured(ALL, erase),
    }


class Written:
    """What the calls of a turn have stored."""

    def __init__(self, memory: perdure.Memory, texts: Iterator[str]) -> None:
        self.memory, self.texts = memory, texts
        self.last = self.session = ""
        self.answer: Any = None
        self.numbers = count()

    def recall(self) -> None:
        """Ask and count the hits."""
        self.answer = self.memory.recall(next(self.texts), limit=10)

    def used(self) -> None:
        """Say that the first hit helped."""
        self.memory.used([self.answer.hits[0].memory.id], recall_id=self.answer.id)

    def misled(self) -> None:
        """Say that the newest memory misled."""
        self.memory.used([self.last], "wrong")

    def remember(self) -> None:
        """Store a text."""
        self.last = self.memory.remember(next(self.texts)).id

    def update(self) -> None:
        """Replace the newest memory."""
        self.last = self.memory.update(self.last, next(self.texts)).id

    def correct(self) -> None:
        """Say what is true instead."""
        self.last = self.memory.correct(self.last, next(self.texts)).id

    def ingest(self, scope: Any = "long_term") -> None:
        """Take in ten messages of a new session."""
        self.session = f"talk {next(self.numbers)}"
        words = [next(self.texts).removeprefix("When did the ").partition(" happen")[0] for _ in range(10)]
        messages = [
            {"role": "user", "content": f"Remember: the {said} is in {self.session}, {n}."}
            for n, said in enumerate(words)
        ]
        self.memory.ingest(messages, session=self.session, scope=scope)

    def relate(self) -> None:
        """Link the two newest memories."""
        self.memory.relate([m.id for m in self.memory.list(limit=2)])

    def begin_task(self) -> None:
        """Store a text that belongs to a task of its session."""
        self.session = f"task {next(self.numbers)}"
        self.memory.remember(next(self.texts), session=self.session, task=self.session)
