"""Plays a life on a store through the public verbs, and writes down what was acknowledged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from random import Random
from typing import Any, Final

import perdure
from life.lives import Day, Life, Step
from perdure.records.errors import PerdureError
from perdure.records.memory import Form
from perdure.records.plan import Target
from perdure.records.report import Operation

START: Final = datetime(2026, 1, 5, tzinfo=UTC)
"""A Monday."""
VALUE: Final = "value "
"""How a label begins that names a fact by its value."""
PAGES: Final = (60, 1000)
"""Operations that are read at once: a day seldom has more than the first number."""


SHOWN: Final = 20
"""Memories that ``stats`` names of each sort."""


class Clock:
    """A clock that the driver moves."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class Told:
    """What a store acknowledged in a life.

    Attributes:
        texts: Memory -> its words as they were handed over.
        ids: Label -> memory.
        operations: Every operation, oldest first.
        undone: Those that the life itself has taken back, and those that took them back.
        names: What each of them is called in the journal -> how often.
        sessions: The sessions in which something was said.
        refused: (verb, error) -> how often.
        asked: (verb, what was found) -> how often.
        consolidated: When something was consolidated, as the journal tells it.
        extracted: The texts from which something was extracted.
        announced: (when, memories that somebody was told are about to be archived or wait, up to when all are named).
        looks: What the driver has looked at itself, as ``life.defects`` tells it.
    """

    texts: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    operations: list[str] = field(default_factory=list)
    undone: set[str] = field(default_factory=set)
    names: Counter[str] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    consolidated: list[str] = field(default_factory=list)
    extracted: list[str] = field(default_factory=list)
    announced: list[tuple[str, frozenset[str], str]] = field(default_factory=list)
    looks: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Player:
    """Plays a life day by day.

    Attributes:
        life: What is played.
        memory: The store, opened with the clock.
        clock: The simulated clock.
        every: Hours between sweeps.
        told: What the store acknowledged.
    """

    life: Life
    memory: perdure.memory.Memory
    clock: Clock
    every: float = 24.0
    told: Told = field(default_factory=Told)
    _done: str = ""
    """The newest operation that was written down."""
    _swept: datetime = START
    _busy: bool = False
    """Whether a sweep wrote something since the last note."""
    _chance: Random = field(init=False)

    def __post_init__(self) -> None:
        self._chance = Random(f"answers {self.life.kind} {self.life.seed}")  # noqa: S311  # repeatable on purpose

    def play(self, until: int | None = None, *, evening: Callable[[int], None] = lambda _: None) -> Told:
        """Play up to a day; ``evening`` is called at the end of each with its number, also of those without a step."""
        days = {day.number: day for day in self.life.days}
        first = (self.clock.now - START).days
        for number in range(first, self.life.length if until is None else until):
            self._live(number, days.get(number))
            evening(number)
        return self.told

    def _live(self, number: int, day: Day | None) -> None:
        begin = START + timedelta(days=number)
        for step in day.steps if day is not None else ():
            self._upkeep(begin + timedelta(minutes=step.minute))
            self.clock.now = begin + timedelta(minutes=step.minute)
            try:
                self._do(step)
            except PerdureError as error:
                self.told.refused[step.verb, type(error).__name__] += 1
                self.told.looks.append(("something is refused", "" if error.remedy else f"no way out: {error.message}"))
        self._upkeep(begin + timedelta(days=1))
        self.clock.now = begin + timedelta(days=1)
        if day is not None or self._busy:
            self.note()

    def _upkeep(self, until: datetime) -> None:
        """Sweep as often as is due before an instant."""
        while (due := self._swept + timedelta(hours=self.every)) <= until:
            self.clock.now = self._swept = due
            self._busy |= self.memory.sweep().changed

    def now(self) -> str:
        """Return the instant as the journal tells it."""
        return f"{self.clock.now:%Y-%m-%d %H:%M} UTC"

    def listen(self) -> None:
        """Look at what is about to be archived, what waits, and the reviews that are suggested."""
        stats = self.memory.stats()
        ids = {i for i, *_ in stats.about_to_fade} | {i for i, _ in stats.held_first}
        more = stats.fading > len(stats.about_to_fade)
        until = f"{stats.about_to_fade[-1][2]:%Y-%m-%d %H:%M} UTC" if more else "9999"
        if len(stats.held_first) < SHOWN:  # else more wait than are named
            self.told.announced.append((self.now(), frozenset(ids), until))
        if stats.held_first and stats.held_first[0][1] < self.clock.now - timedelta(days=8):
            told = {"held_days", "overdue_hours"}.intersection(a.name for a in self.memory.alerts())
            self.told.looks.append(("a move waits for a week", "" if told else f"no alert tells of {stats.held_first}"))
        if stats.reviews:
            values = [m.value for i, _ in stats.reviews if (m := self.memory.get(i))]
            few = len(values) <= SHOWN and values == sorted(values, reverse=True)
            self.told.looks.append(("reviews are suggested", "" if few else f"{len(values)} reviews in no order"))

    def note(self) -> None:
        """Write down what was done since the last note."""
        fresh: list[Operation] = []
        for most in PAGES:
            fresh = list(takewhile(lambda o: o.id != self._done, self.memory.history(limit=most)))
            if len(fresh) < most:
                break
        self.told.operations += [o.id for o in reversed(fresh)]
        self.told.undone |= {i for o in fresh if o.undoes is not None for i in (o.id, o.undoes)}
        self.told.names.update(o.operation for o in fresh)
        self._busy, self._done = False, fresh[0].id if fresh else self._done

    # --- steps

    def _do(self, step: Step) -> None:
        self.told.sessions |= {step.arguments.get("session")} - {None}
        verbs: Mapping[str, Callable[[Step], None]] = {
            "remember": self._remember,
            "update": self._update,
            "ingest": self._ingest,
            "recall": self._recall,
            "mark": lambda s: self._plain("used", ids=[self._id(s)], outcome=s.arguments["outcome"]),
            "reinforce": self._reinforce,
            "extract": self._extract,
            "strengthen": lambda s: self._plain("strengthen", memory_ids=[self._id(s)]),
            "weaken": lambda s: self._plain("weaken", memory_ids=[self._id(s)], amount=1.0),
            "relate": self._relate,
            "reread": self._reread,
            "review": self._review,
            "consolidate": self._consolidate,
            "fit": lambda s: self._plain("fit", tokens=s.arguments["tokens"], dry_run=False),
            "summarize": lambda _: self._plain("summarize", dry_run=False),
            "learn_rates": lambda _: self._plain("rates", dry_run=False),
            "learn_procedures": lambda _: self._plain("procedures", dry_run=False),
            "same": lambda _: self._same(),
            "promote": lambda s: self._plain("promote", session_id=s.arguments["session_id"], confirm=True),
            "undo": lambda _: self._undo(),
        }
        verbs.get(step.verb, self._by_label)(step)

    def _plain(self, verb: str, **arguments: Any) -> None:
        getattr(self.memory, verb)(**arguments)

    def _by_label(self, step: Step) -> None:
        """Call a verb as it is, with the memory's id where it takes one."""
        named = {"id": self._id(step)} if "id" in step.arguments else {}
        self._plain(step.verb, **{**step.arguments, **named})

    def _id(self, step: Step) -> str:
        label = step.arguments["id"]
        facts = self.memory.facts(limit=1000, past=True) if label.startswith(VALUE) else []
        facts = sorted(facts, key=lambda f: f.state in ("active", "aging"))  # what holds counts before what is over
        named = {**self.told.ids, **{VALUE + f.value: f.id for f in facts}}
        return named.get(label, "00000000-0000-7000-8000-000000000000")

    def _keep(self, label: str, identity: str, text: str) -> None:
        self.told.ids[label] = identity
        self.told.texts.setdefault(identity, text)

    def _remember(self, step: Step) -> None:
        more = dict(step.arguments)
        if "ago" in more:
            more["at"] = self.clock.now - timedelta(days=more.pop("ago"))
        if "replaces" in more:
            more["replaces"] = [self.told.ids[label] for label in more["replaces"] if label in self.told.ids]
        done = self.memory.remember(**more)
        self._keep(step.label, done.id, more["content"])

    def _update(self, step: Step) -> None:
        done = self.memory.update(self._id(step), step.arguments["content"])
        self._keep(step.label, done.id, step.arguments["content"])

    def _ingest(self, step: Step) -> None:
        told, said_at = step.arguments, self.clock.now - timedelta(days=step.arguments.get("ago", 0))
        messages = [
            {"role": role, "content": text, "at": (said_at + timedelta(seconds=20 * i)).isoformat()}
            for i, (role, text) in enumerate(told["messages"])
            if said_at + timedelta(seconds=20 * i) <= self.clock.now + timedelta(seconds=300)
        ]
        self.memory.ingest(messages, session=told["session"], scope=told.get("scope", "long_term"))

    def _recall(self, step: Step) -> None:
        asked = {k: v for k, v in step.arguments.items() if k != "use"}
        found = self.memory.recall(**asked)
        self.told.asked["nothing known" if found.nothing_known else "found"] += 1
        if step.arguments.get("use") and found.hits:
            self.memory.used([found.hits[0].memory.id], step.arguments["use"], recall_id=found.recall_id)

    def _reread(self, step: Step) -> None:
        """Ask, and read in full what is shown in a shorter form."""
        hits = self.memory.recall(step.arguments["query"], limit=5).hits
        short = next((h.memory.id for h in hits if h.memory.form is not Form.FULL), None)
        if short is not None:
            self.memory.restore(short, "full")

    def _undo(self) -> None:
        """Take the last operation back; what it had stored is no longer to be kept."""
        done = self.memory.undo("last")
        for change in (c for plan in done.plans for c in plan.changes):
            if change.target is Target.MEMORY and change.after is None:
                self.told.texts.pop(change.id, None)

    def _reinforce(self, step: Step) -> None:
        """Reinforce, and look whether what decay has taken comes back by it."""
        identity, how = self._id(step), {k: v for k, v in step.arguments.items() if k != "id"}
        before = self.memory.get(identity)
        self._plain("reinforce", memory_ids=[identity], **{"boost_amount": 0.2, **how})
        after = self.memory.get(identity)
        if before is not None and after is not None and not how:
            much = after.importance > before.importance + 0.2 + 1e-9
            fault = f"{before.importance} and 0.2 are {after.importance}" if much else ""
            self.told.looks.append(("an importance that has decayed is reinforced", fault))

    def _extract(self, step: Step) -> None:
        self.told.extracted.append(step.arguments["text"])
        self._plain("extract", **step.arguments)

    def _same(self) -> None:
        """Say of two predicates that are asked about that they are one."""
        question = next(q for q in self.memory.review(limit=100) if q.same)
        self.memory.same(question.id)

    def _relate(self, step: Step) -> None:
        """Link the last memories."""
        last = list(self.told.texts)[-step.arguments["number"] :]
        self.memory.relate(last)

    def _review(self, step: Step) -> None:
        """Answer some of the day's questions, as somebody does who mostly knows."""
        for question in self.memory.review()[: step.arguments["answers"]]:
            verdicts: Sequence[str] = ("confirm", "confirm", "deny", "correct", "both", "mute")
            if question.id not in {f.id for f in self.memory.facts(limit=1000)}:
                verdicts = ("keep", "drop")
            verdict = self._chance.choice(verdicts)
            self.told.asked["questions answered"] += 1
            self.memory.answer(question.id, verdict, "Genoa" if verdict == "correct" else None)

    def _consolidate(self, step: Step) -> None:
        """Look first, then do it."""
        for dry_run in (True, False):
            self.memory.consolidate("default", dry_run=dry_run, **step.arguments)
        self.told.consolidated.append(self.now())


MAINTENANCE: Final = frozenset({"sweep", "consolidate", "fit", "promote", "end_session", "complete_task", "decay"})
"""What the loss budget is asked about."""


def begin(life: Life, place: Any, *, every: float = 24.0, embedder: Any = None) -> Player:
    """Open a store for a life, at its first midnight."""
    clock = Clock()
    memory = perdure.open(place, policy=dict(life.policy), clock=clock, embedder=embedder)
    return Player(life, memory, clock, every)
