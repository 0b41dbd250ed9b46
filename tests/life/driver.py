"""Plays a life on a store through the public verbs, and writes down what was acknowledged."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest import mock

from typer.testing import CliRunner

import perdure
from life.lives import Day, Life, Step
from perdure.compose_policy import RLM_VARIABLE
from perdure.interfaces.cli import app as cli
from perdure.interfaces.cli.call import Exit
from perdure.records.errors import PerdureError
from perdure.records.memory import Form, Kind, MemoryItem, Status
from perdure.records.plan import Target
from perdure.records.report import IngestResult, Operation

START: Final = datetime(2026, 1, 5, tzinfo=UTC)
"""A Monday."""
VALUE: Final = "value "
"""How a label begins that names a fact by its value."""
PAGES: Final = (60, 1000)
"""Operations that are read at once: a day seldom has more than the first number."""


FILLING: Final = frozenset({"about", "down", "have", "i", "in", "is", "it", "let", "me", "next", "now"}) | frozenset(
    {"of", "on", "that", "the", "to", "will", "you"}
)
"""Words of replies that say nothing by themselves: "I have written that down" repeats what was written."""
SHOWN: Final = 20
"""Memories that ``stats`` names of each sort."""


def everything(memory: perdure.memory.Memory, sessions: Iterable[str] = ()) -> list[MemoryItem]:
    """Return every memory, hidden ones too and those that only these sessions see, newest first."""
    found: dict[str, MemoryItem] = {}
    for inside in (None, *sessions):
        last = None
        while page := memory.list(limit=1000, include_archived=True, before=last, session=inside, inside=inside):
            found |= {m.id: m for m in page}
            last = page[-1].id
    return [found[i] for i in sorted(found, reverse=True)]


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
        taken_in: Memory -> its words, of what an ingest or an extraction stored.
        facts: Facts that were handed over and stored.
        ids: Label -> memory.
        operations: Every operation, oldest first.
        undone: Those that the life itself has taken back, and those that took them back -> the other one of the two.
        names: What each of them is called in the journal -> how often.
        sessions: The sessions in which something was said.
        refused: (verb, error) -> how often.
        asked: (verb, what was found) -> how often.
        consolidated: When something was consolidated, as the journal tells it.
        extracted: The texts from which something was extracted.
        announced: (when, memories that somebody was told are about to be archived or wait, up to when all are named).
        accepted: The operations by which a person let go what the gates held.
        erased: Memory -> its words, of those that the policy erased.
        looks: What the driver has looked at itself, as ``life.defects`` tells it.
    """

    texts: dict[str, str] = field(default_factory=dict)
    taken_in: dict[str, str] = field(default_factory=dict)
    facts: set[str] = field(default_factory=set)
    ids: dict[str, str] = field(default_factory=dict)
    operations: list[str] = field(default_factory=list)
    undone: dict[str, str] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    consolidated: list[str] = field(default_factory=list)
    extracted: list[str] = field(default_factory=list)
    announced: list[tuple[str, frozenset[str], str]] = field(default_factory=list)
    accepted: set[str] = field(default_factory=set)
    erased: dict[str, str] = field(default_factory=dict)
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
            if self.memory.policy.upkeep.erase_archived_days:
                self._maintain()

    def _maintain(self) -> None:
        """Do what else is due, and look whether just what was archived long ago is erased with what rests on it."""
        keys = self.memory.policy.upkeep
        before, until = (
            everything(self.memory, self.told.sessions),
            self.clock.now - timedelta(days=keys.erase_archived_days),
        )
        self.memory.upkeep("maintenance")
        left = {m.id for m in everything(self.memory, self.told.sessions)}
        gone = {m.id: m for m in before if m.id not in left}
        due = {m.id for m in before if _archived_by(m, until)}
        rests = {i for i, m in gone.items() if m.kind in (Kind.FACT, Kind.SUMMARY)}
        if due or gone:
            wrong = (gone.keys() - rests) ^ (due - rests)
            self.told.looks.append(("what was archived long ago is erased", f"{sorted(wrong)}" if wrong else ""))
        self.told.erased |= {i: self._forget(i) or m.content for i, m in gone.items()}
        self._busy |= bool(gone)
        report = self.memory.upkeep_state().get("report", {})
        if report and self.life.rlm:
            hours = (report["next"] - report["last_ms"]) / 3_600_000
            wrong = "" if hours == self.life.rlm["decay_interval_hours"] else f"a report each {hours} hours"
            self.told.looks.append(("decay_interval_hours of rlm-config.json", wrong))

    def now(self) -> str:
        """Return the instant as the journal tells it."""
        return f"{self.clock.now:%Y-%m-%d %H:%M} UTC"

    def listen(self) -> None:
        """Look at what is about to be archived, what waits, and the reviews that are suggested."""
        self._run_alerts()
        stats = self.memory.stats()
        share = stats.fading / max(1, stats.memories)
        keys, named = self.memory.policy.alerts, {a.name: a.ids for a in self.memory.alerts()}
        if len(stats.at_risk) >= keys.at_risk or share >= keys.fading_share:
            risky = len(stats.at_risk) >= keys.at_risk and {*named.get("at_risk", ())} != {i for i, *_ in stats.at_risk}
            silent = risky or (share >= keys.fading_share and not named.get("fading_share"))
            fault = f"{stats.fading} of {stats.memories} are about to go: {sorted(named)}" if silent else ""
            self.told.looks.append(("an alert of what is about to be archived", fault))
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

    def _run_alerts(self) -> None:
        """Run the command that a person's own timer runs; its exit code tells whether somebody must look."""
        alerts = [a.to_dict() for a in self.memory.alerts()]
        with mock.patch("perdure.open", return_value=nullcontext(self.memory)):
            done = CliRunner().invoke(cli.app, ["alerts", "--json"])
        code = Exit.ALERT if {a["severity"] for a in alerts} & {"warning", "critical"} else Exit.OK
        fault = "" if done.exit_code == code and json.loads(done.stdout) == alerts else f"{done.exit_code}: {alerts}"
        self.told.looks.append((f"perdure alerts ends with {code.value}", fault))

    def note(self) -> None:
        """Write down what was done since the last note."""
        fresh: list[Operation] = []
        for most in PAGES:
            fresh = list(takewhile(lambda o: o.id != self._done, self.memory.history(limit=most)))
            if len(fresh) < most:
                break
        self.told.operations += [o.id for o in reversed(fresh)]
        pairs = [(o.id, o.undoes) for o in fresh if o.undoes is not None]
        self.told.undone |= dict(pairs) | {undone: by for by, undone in pairs}
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
            "let_go": self._let_go,
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

    def _forget(self, identity: str) -> str:
        """Expect a memory no longer, and return its words as far as they are known."""
        self.told.facts.discard(identity)
        return self.told.texts.pop(identity, "") or self.told.taken_in.pop(identity, "")

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
        self.told.facts |= {*done.facts.created}
        hidden = [m.id for m in done.related if self.memory.get(m.id) is None]
        self.told.looks.append(("what is related is named", f"{hidden} are hidden" if hidden else ""))

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
        done = self.memory.ingest(messages, session=told["session"], scope=told.get("scope", "long_term"))
        self._take_in(done, [str(m["content"]) for m in messages], told["session"])

    def _take_in(self, done: IngestResult, said: Sequence[str], session: str) -> None:
        """Write down which memories the messages became; each is stored, was known, or only repeats another."""
        page = self.memory.list(limit=1000, kinds=["episode"], session=session, inside=session, include_archived=True)
        stored = {m.id: m.content for m in page if m.id not in self.told.taken_in}
        known = {*self.told.taken_in.values(), *self.told.erased.values()}
        texts = known.union(self.told.texts.values())
        left = [text for text in (Counter(said) - Counter(stored.values())).elements() if text not in known]
        new = [text for text in left if not any(_only_repeats(text, other) for other in {*texts, *said} - {text})]
        self.told.taken_in |= stored
        counted = len(stored) == done.added and done.added + done.skipped + done.echoes == len(said)
        fault = "" if counted and not new and len(left) <= done.echoes else f"{done} of {said}: {left} are left out"
        self.told.looks.append(("a conversation is taken in", fault))

    def _recall(self, step: Step) -> None:
        asked = {k: v for k, v in step.arguments.items() if k != "use"}
        found = self.memory.recall(**asked)
        if self.memory.policy.knowledge.supersession == "local":
            self._compare([h.memory.id for h in found.hits])
        self.told.asked["nothing known" if found.nothing_known else "found"] += 1
        if step.arguments.get("use") and found.hits:
            self.memory.used([found.hits[0].memory.id], step.arguments["use"], recall_id=found.recall_id)

    def _compare(self, hits: Sequence[str]) -> None:
        """Look whether what a later statement makes untrue stands behind it."""
        for place, identity in enumerate(hits):
            links = self.memory.why(identity).links
            later = {other for kind, other, _ in links if kind == "likely_superseded_by"} & {*hits}
            if later:
                fault = "" if later <= {*hits[:place]} else f"{identity} stands before {later}"
                self.told.looks.append(("an answer with what a later statement makes untrue", fault))

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
                self._forget(change.id)

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
        found = self.memory.extract(**step.arguments).extractions
        self.told.looks += [(f"extracted as {e.pattern_matched}", "") for e in found if e.stored]
        self.told.taken_in |= {e.memory_id: e.content for e in found if e.memory_id is not None}

    def _same(self) -> None:
        """Say of two predicates that are asked about that they are one."""
        question = next(q for q in self.memory.review(limit=100) if q.same)
        self.memory.same(question.id)

    def _relate(self, step: Step) -> None:
        """Link the last memories, or those that are named."""
        named = [self.told.ids[label] for label in step.arguments.get("ids", ())]
        self.memory.relate(named or list(self.told.texts)[-step.arguments["number"] :])

    def _let_go(self, step: Step) -> None:
        """Say of what the gates hold that it may go; then nothing is held."""
        held = self.memory.stats().held
        self.told.accepted |= {*self.memory.sweep(**step.arguments).operations}
        left = self.memory.stats().held
        if held:
            self.told.looks.append(("a person lets go what waits", f"{left} still wait" if left else ""))

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
            done = self.memory.consolidate("default", dry_run=dry_run, **step.arguments)
        if done.memories_merged:
            self.told.looks.append((f"merged by {step.arguments['strategy']}", ""))
        self.told.consolidated.append(self.now())


MAINTENANCE: Final = frozenset({"sweep", "consolidate", "fit", "promote", "end_session", "complete_task", "decay"})
"""What the loss budget is asked about."""


def begin(life: Life, place: Any, *, every: float = 24.0, embedder: Any = None) -> Player:
    """Open a store for a life, at its first midnight."""
    clock = Clock()
    with _policy_of(life) as policy:
        memory = perdure.open(place, policy=policy, clock=clock, embedder=embedder)
    return Player(life, memory, clock, every)


@contextmanager
def _policy_of(life: Life) -> Iterator[dict[str, Any] | None]:
    """Yield a life's policy; None where it is found as a file meanwhile, with an ``rlm-config.json`` beside it."""
    if not life.rlm:
        yield dict(life.policy)
        return
    keys = [(n, k, v) for n, table in life.policy.items() if isinstance(table, Mapping) for k, v in table.items()]
    own = "".join(f"{name}.{key} = {json.dumps(value)}\n" for name, key, value in keys)
    with TemporaryDirectory() as folder:
        files = {RLM_VARIABLE: Path(folder, "rlm-config.json"), "PERDURE_POLICY": Path(folder, "perdure.toml")}
        files[RLM_VARIABLE].write_text(json.dumps({"memory": dict(life.rlm)}), "utf-8")
        files["PERDURE_POLICY"].write_text(f"preset = {json.dumps(life.policy['preset'])}\n{own}", "utf-8")
        with mock.patch.dict(os.environ, {name: str(file) for name, file in files.items()}):
            yield None


def _only_repeats(text: str, other: str) -> bool:
    """Whether a text says something, and has no word that another lacks, but for those of any sentence."""
    one, all_of_it = (set(re.findall(r"\w+", t.casefold())) for t in (text, other))
    return one - FILLING != set() and one - FILLING <= all_of_it


def _archived_by(memory: MemoryItem, until: datetime) -> bool:
    """Whether a memory has been archived since an instant or longer."""
    since = memory.state.status_ms
    is_archived = memory.status is Status.ARCHIVED and not memory.pinned and since is not None
    return is_archived and since <= until.timestamp() * 1000
