"""Lives: what people and their agents do with a store over months, as steps of public verbs; made from a seed alone.

A life knows no rule of the engine. It says what somebody does and when; what comes of it is the store's affair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from life import clerk
from life.words import BACKED_UP, CODER, DESK, FAMILY, HISTORY, LESSONS, TALK, Grammar, reworded

MINUTES: Final = 24 * 60


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that somebody does.

    Attributes:
        minute: Of the day, 0 to 1439.
        verb: What, as ``driver.Player`` names it.
        arguments: With what; memories are named by their labels.
        label: What the memory that comes of it is called in later steps; empty if it is not named again.
    """

    minute: int
    verb: str
    arguments: Mapping[str, Any]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Day:
    """One day of a life; days on which nothing happens are left out."""

    number: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Life:
    """A life.

    Attributes:
        kind: What kind of user lives it.
        seed: Of its randomness.
        policy: The store's policy, as given to ``perdure.open``.
        length: Days until its end, those without a step included.
        days: What happens, in the order of time.
        questions: What can be asked about it at any time.
        rlm: What ``rlm-config.json`` says where the policy is found as a file; empty where it is given.
    """

    kind: str
    seed: int
    policy: Mapping[str, Any]
    length: int
    days: tuple[Day, ...]
    questions: tuple[str, ...]
    rlm: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Teller:
    """Tells a life: keeps what is true by now, so that people change their minds about something."""

    chance: Random
    grammar: Grammar
    steps: list[Step] = field(default_factory=list)
    known: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """(subject, attribute) -> (label, value), as it is by now."""
    past: list[tuple[str, str]] = field(default_factory=list)
    """(label, text) of everything that was told to be remembered."""
    put_away: list[str] = field(default_factory=list)
    """Labels of what was archived by hand."""
    decided: list[str] = field(default_factory=list)
    """What was decided."""
    courier: str = ""
    """Whom an office works with."""
    planned: dict[int, list[clerk.Planned]] = field(default_factory=dict)
    """Day -> what is done on it besides."""
    loved: list[str] = field(default_factory=list)
    """Questions that are asked again and again."""
    minute: int = 0
    count: int = 0

    def often(self, share: float) -> bool:
        """Whether something happens that happens in this share of cases."""
        return self.chance.random() < share

    def draw(self, rule: str, **given: str) -> str:
        """Return words by a rule of the grammar; what is given stands for the rules of these names."""
        text = self.chance.choice(self.grammar[rule])
        while "{" in text:
            before, _, rest = text.partition("{")
            name, _, after = rest.partition("}")
            text = f"{before}{given.get(name) or self.draw(name, **given)}{after}"
        return text

    def step(self, verb: str, label: str = "", *, wait: int = 3, **arguments: Any) -> None:
        """Do something some minutes after what was done last."""
        self.minute = min(self.minute + self.chance.randint(1, 2 * wait), MINUTES - 1)
        self.steps.append(Step(self.minute, verb, arguments, label))

    def label(self) -> str:
        """Return a new label."""
        self.count += 1
        return f"m{self.count}"

    # --- what people do

    def note(self, rule: str = "note", **more: Any) -> None:
        """Have something remembered; some of it is hearsay, and some hardly matters."""
        label, text = self.label(), self.draw(rule)
        if self.often(0.3):
            more["confidence"] = self.chance.choice((0.2, 0.2, 0.35, 0.6))
        if self.often(0.3):
            more.setdefault("importance", self.chance.choice((0.0, 0.1, 0.3)))
        self.past.append((label, text))
        self.step("remember", label, content=text, **more)

    def state(self, how: str = "remember", **more: Any) -> None:
        """Say what holds of something: for the first time, or instead of what held before."""
        subject = self.draw("subject")
        attribute = self.chance.choice(self.grammar["attribute"])
        value = self.draw(attribute)
        text = self.draw(f"{attribute}.said", subject=subject, value=value)
        label, before = self.label(), self.known.get((subject, attribute))
        if before is not None and before[1] == value:
            return
        self.known[subject, attribute] = label, value
        self.past.append((label, text))
        facts = ({"subject": subject, "predicate": attribute.replace("_", " "), "value": value},)
        if how == "update" and before is not None:
            self.step("update", label, id=before[0], content=text)
        elif how == "replaces" and before is not None:
            self.step("remember", label, content=text, replaces=(before[0],), **more)
        elif how == "facts":
            self.step("remember", label, content=text, facts=facts, **more)
        elif how == "say":
            self.step("ingest", messages=(("user", text), ("assistant", self.draw("reply"))), session=self.draw("room"))
        else:
            self.step("remember", label, content=text, **more)

    def ask(self, *, use: str = "", times: int = 1, wait: int = 3, **more: Any) -> None:
        """Ask about something that was told, or something that never was."""
        if self.known and self.often(0.85):
            subject, attribute = self.chance.choice(sorted(self.known))
            query = self.draw(f"{attribute}.asked", subject=subject)
        else:
            query = self.draw("asked")
        for _ in range(times):
            self.step("recall", query=query, use=use, wait=wait, **more)

    def love(self) -> None:
        """Ask one of few questions that come up all the time, and make use of the answer."""
        if len(self.loved) < 4 and self.known:
            subject, attribute = self.chance.choice(sorted(self.known))
            self.loved.append(self.draw(f"{attribute}.asked", subject=subject))
        if self.loved:
            self.step("recall", query=self.chance.choice(self.loved), use="helpful", limit=2)

    def talk(self, session: str, length: int, *, scope: str = "long_term", ago: int = 0) -> None:
        """Have a conversation; what is said is taken in."""
        messages: list[tuple[str, str]] = []
        while len(messages) < length:
            if self.known and self.often(0.25):
                subject, attribute = self.chance.choice(sorted(self.known))
                said = self.draw(f"{attribute}.said", subject=subject, value=self.known[subject, attribute][1])
            else:
                said = self.draw(self.chance.choice(("note", "note", "small")))
            messages += [("user", said), ("assistant", self.draw("reply"))]
        self.step("ingest", messages=tuple(messages), session=session, scope=scope, ago=ago)

    def again(self) -> None:
        """Say something once more: in the same words, or in nearly the same."""
        if self.past:
            old, text = self.chance.choice(self.past[-30:])
            if self.put_away and self.often(0.3):
                old = self.chance.choice(self.put_away)
                text = dict(self.past)[old]
            others = [one for one in self.past[-30:] if reworded(one[1]) != one[1]]
            if others and self.often(0.7):
                old, text = others[-1][0], reworded(others[-1][1])
            label, more = self.label(), self.draw("again")
            text = text if self.often(0.5) else f"{more}{text[0].lower()}{text[1:]}" if more else text.rstrip(".")
            self.past.append((label, text))
            more_of_it = {"confidence": 0.2} if self.often(0.3) else {}
            self.step("remember", label, content=text, **more_of_it)

    def tidy(self) -> None:
        """Decide by hand about something that was told."""
        if not self.past:
            return
        label, _ = self.chance.choice(self.past)
        verb = self.chance.choice(("pin", "unpin", "archive", "forget", "move", "reinforce", "weaken", "mark"))
        if self.often(0.4):
            verb = "restore"
        more: dict[str, Any] = {}
        if verb in ("archive", "forget"):
            more = {"reason": self.draw("why")}
            self.put_away.append(label)
        elif verb == "restore":
            label = self.chance.choice(self.put_away) if self.put_away and self.often(0.6) else label
            label = label if self.often(0.5) else self.chance.choice(self.past[: 1 + len(self.past) // 3])[0]
            more = {} if self.often(0.5) else {"level": "full"}
        elif verb == "move":
            more = {"tier": self.chance.choice(("hot", "warm", "cold")), "reason": self.draw("why")}
        elif verb == "mark":
            more = {"outcome": self.chance.choice(("helpful", "wrong"))}
        self.step(verb, id=label, **more)
        if self.often(0.2):
            self.step("undo")

    def at_once(self) -> None:
        """Have all that was done today done within its first minutes, as a program does it."""
        self.minute = 5
        self.steps = [replace(step, minute=self.minute) for step in self.steps]

    def begin(self, minute: int) -> None:
        """Begin at some time of the day."""
        self.minute = max(self.minute, minute)

    def day(self, number: int) -> Day:
        """Return what was done since the last day."""
        steps, self.steps, self.minute = tuple(self.steps), [], 0
        return Day(number, steps)


Habit = Callable[[Teller, int], None]
"""What somebody does on a day of a number."""


def _coder(me: Teller, number: int) -> None:
    if number % 7 in (5, 6) or me.often(0.3):
        return
    me.begin(9 * 60)
    for _ in range(me.chance.randint(1, 2)):
        me.state(me.chance.choice(("remember", "update", "replaces", "facts", "facts")), tags=(me.draw("tag"),))
    me.note()
    if number % 20 == 9:
        me.step("move", id=me.past[-1][0], tier="hot", reason=me.draw("why"))
    if me.often(0.3):
        _task(me, f"work-{number}", f"task-{number}")
    for _ in range(me.chance.randint(0, 1)):
        me.ask(use=me.chance.choice(("helpful", "", "unused", "wrong") if me.often(0.2) else ("helpful", "")))
    me.love()
    if me.often(0.2):
        me.ask(times=me.chance.randint(3, 6), wait=6)
    _keep_house(me, number)
    me.step("review", answers=2)


def _task(me: Teller, session: str, task: str) -> None:
    """Work on a task in a session, and end both."""
    for _ in range(me.chance.randint(2, 3)):
        me.note(session=session, task=task)
    me.step("relate", number=3)
    me.step("recall", query=f"{me.draw('asked')} {me.past[-1][1]}", inside=session, use="helpful")
    me.step("complete_task", task_id=task)
    me.talk(session, me.chance.randint(4, 8), scope="session")
    me.step("recall", query=me.draw("asked"), inside=session)
    me.step("end_session", session_id=session)


def _keep_house(me: Teller, number: int) -> None:
    """Say things twice, tidy up, read again, and merge what is double every other week."""
    if me.often(0.4):
        me.again()
    if me.often(0.5):
        me.tidy()
    if me.often(0.2):
        me.step("reread", query=me.draw("asked"))
    if me.often(0.3):
        me.decided.append(me.draw("decided") if me.often(0.5) else reworded((me.decided or [""])[-1]))
        lesson = LESSONS[len(me.decided) % len(LESSONS)].format(number=number)
        text = (me.draw("note"), me.draw("small"), "It is a lovely morning.", me.decided[-1], lesson)
        me.step("extract", text="\n".join(text), namespace="default")
    if number % 14 == 11:
        me.step("consolidate", similarity_threshold=0.85, strategy=me.chance.choice(("keep_newest", "merge_content")))


def _desk(me: Teller, number: int) -> None:
    """Tickets, now and then an outage of which everybody writes, and few answers that are needed all the time."""
    me.begin(8 * 60)
    if number % 7 == 6:
        return
    _look_up_hours(me, number)
    for ticket in range(me.chance.randint(0, 1)):
        me.talk(f"ticket-{number}-{ticket}", me.chance.randint(2, 4))
    me.note()
    if number in (3, 9) or me.often(0.06):
        _outage(me)
    me.state(me.chance.choice(("remember", "update", "replaces")), importance=me.chance.choice((0.5, 0.9)))
    if number % 3 == 0:
        me.note("guide", importance=0.8)
    for _ in range(me.chance.randint(0, 2)):
        me.love()
    me.ask(use=me.chance.choice(("helpful", "wrong", "", "")))
    if me.often(0.3):
        me.ask(times=me.chance.randint(3, 5), wait=5)
    _clean_up(me, number)
    me.begin(18 * 60)
    _look_up_hours(me, number)
    _back_up(me, number)


def _look_up_hours(me: Teller, number: int) -> None:
    """Look up one thing each morning and each evening, and now and then what helps with a product."""
    if number == 0:
        hours = "The counter at the harbour opens at half past eight and closes at six."
        me.steps.append(Step(me.minute, "remember", {"content": hours, "confidence": 1.0}, "hours"))
    asked = {"query": "When does the counter at the harbour open and close?", "limit": 1}
    me.steps.append(Step(me.minute, "recall", asked))
    if number % 5 == 4:
        me.steps.append(
            Step(me.minute, "reread", {"query": "What helps when the router or the camera shows an error?"})
        )


def _back_up(me: Teller, number: int) -> None:
    """Let a machine write nearly the same each evening of the first weeks, which nobody ever looks up."""
    if number < len(BACKED_UP):
        done = "backup written, backup read, backup compared, backup kept, and the copy of the backup is fine as well"
        written = {"content": f"The backup of the {BACKED_UP[number]} is fine: {done}.", "confidence": 0.7}
        me.steps.append(Step(me.minute, "remember", written, f"backup {number}"))
    if number == 5:
        me.steps.append(Step(me.minute, "strengthen", {"id": "hours"}))


def _clean_up(me: Teller, number: int) -> None:
    if me.often(0.2):
        me.again()
    if me.often(0.15):
        me.tidy()
    if number % 10 == 9:
        strategy = ("keep_highest_importance", "keep_oldest", "keep_newest")[number // 10 % 3]
        me.step("consolidate", similarity_threshold=0.8, strategy=strategy)
    if number % 30 == 29:
        me.step("fit", tokens=6000)


def _outage(me: Teller) -> None:
    """Let many write of the same within an hour, in their words and by hearsay."""
    outage = me.draw("outage")
    for _ in range(me.chance.randint(6, 9)):
        label = me.label()
        me.past.append((label, outage))
        sure = me.chance.choice((0.2, 0.3, 0.7))
        me.step("remember", label, content=f"{me.draw('caller')} {outage}", tags=("outage",), confidence=sure)


DINNER: Final[Mapping[int, tuple[str, Mapping[str, str]]]] = {
    3: ("remember", {"content": "We eat dinner at six."}),
    12: ("remember", {"content": "We eat dinner at eight."}),
    14: ("recall", {"query": "Do we eat dinner at six?"}),
    17: ("remember", {"content": "We eat dinner at six."}),
}
"""Day -> what a family says and asks of its evenings; in the end it says what it said at first."""


def _family(me: Teller, number: int) -> None:
    """Few words a week, of which much changes: where people live, what they like, when they come."""
    if number in DINNER:
        me.steps.append(Step(17 * 60, *DINNER[number], f"dinner {number}"))
    if not me.often(0.25):
        return
    me.begin(17 * 60)
    for _ in range(me.chance.randint(1, 2)):
        me.state(me.chance.choice(("say", "say", "facts", "update", "remember")))
    if me.often(0.5):
        me.talk(f"evening-{number}", me.chance.randint(2, 6))
    if me.often(0.5):
        me.ask(use=me.chance.choice(("helpful", "wrong", "")))
    if me.often(0.3):
        me.love()
    if me.often(0.5):
        me.step("review", answers=me.chance.randint(1, 3))
    if me.often(0.4):
        me.tidy()
    if number % 30 > 26:
        me.step("summarize")
        me.step("learn_rates")


def _importer(me: Teller, number: int) -> None:
    """Ten years of history on the first day, swept as the documentation says, and a question now and then."""
    if number == 0:
        for year in range(12, 0, -1):
            for _ in range(2):
                ago = 365 * year - me.chance.randint(0, 300)
                me.talk(f"archive-{year}-{ago}", me.chance.randint(4, 6), ago=ago)
            me.note("guide", ago=365 * year - 20)
            me.note(ago=365 * year - 40)
        letter = " ".join(me.draw("note") for _ in range(90))
        me.step("remember", "letter", content=letter, ago=365 * 4)
        me.at_once()
        me.step("sweep")
        return
    if number < 8 and number % 2 == 0:
        me.talk(f"import-{number}", 4, ago=me.chance.randint(30, 3000))
        me.step("sweep")
    if number == PATIENT:
        me.steps.append(Step(me.minute, "let_go", {"accept_loss": "nobody needs what waits"}))
    if not me.often(0.3):
        return
    me.begin(20 * 60)
    me.ask(use=me.chance.choice(("helpful", "", "")))
    me.step("reread", query=me.draw("asked"))
    if me.often(0.3):
        me.love()
    if me.often(0.3):
        me.state()
    if me.often(0.15):
        me.tidy()


IDA: Final = {"subject": "Aunt Ida", "predicate": "employer"}
POTTERY, MUSEUM = "the pottery in Ribe", "the museum in Esbjerg"
AUNT: Final[Mapping[int, Mapping[str, Any]]] = {
    2: {"content": f"Aunt Ida works at {POTTERY}.", "facts": ({**IDA, "value": POTTERY},)},
    187: {"content": f"Aunt Ida works at {MUSEUM} now.", "facts": ({**IDA, "value": MUSEUM, "replaces": POTTERY},)},
}
"""Day -> what is said of an aunt of whom nobody speaks in between."""


def _returner(me: Teller, number: int) -> None:
    """Weeks of use, half a year of hardly anything, and then back."""
    if number in AUNT:
        me.steps.append(Step(17 * 60, "remember", AUNT[number], f"aunt {number}"))
    if not 18 < number < 200:
        me.begin(10 * 60)
        me.state(me.chance.choice(("remember", "update", "facts")))
        me.note()
        if me.often(0.4):
            me.note(session=f"visit-{number}")
            me.talk(f"visit-{number}", me.chance.randint(2, 6), scope=me.chance.choice(("session", "long_term")))
            me.step("promote", session_id=f"visit-{number}")
        if number == 5:  # any day of the first weeks
            me.note(session="visit-5", importance=0.0)
            me.step("move", id=me.past[-1][0], tier="hot", reason=me.draw("why"))
        me.ask(use="helpful")
        me.love()
        if me.often(0.3):
            me.again()
        if me.often(0.3):
            me.tidy()


def _planner(me: Teller, number: int) -> None:
    """Come back after half a year, too, and end a task in which something was noted twice, beside other things."""
    _returner(me, number)
    if number == 8:
        noted = me.draw("note")
        others = {"one": me.draw("note"), "two": me.draw("note")}
        for label, text in {"once": noted, "twice": f"Also: {noted}", **others}.items():
            me.step("remember", label, content=text, task="survey", session="survey")
        for pair in (("once", "twice"), ("once", "one"), ("twice", "two")):
            me.step("relate", ids=pair)
        me.step("complete_task", task_id="survey")


PATIENT: Final = 3
"""Days for which an importer waits for what the loss budget holds."""
RLM: Final[Mapping[str, Mapping[str, Any]]] = {
    "returner": {
        "consolidation_threshold": 0.3,
        "promotion_threshold": 0.7,
        "decay_factor": 0.94,
        "decay_min_confidence": 0.35,
        "decay_interval_hours": 48,
    }
}
"""Kind of user -> what the ``rlm-config.json`` beside the policy says: nothing that holds anyway."""
ERASING: Final = {"upkeep": {"erase_archived_days": 180, "check_days": 0}, "journal": {"horizon_days": 0}}
"""What was archived so long ago is erased, and everything else can be undone."""
UNHURRIED: Final = {"embedder": {"model": "none"}, "limits": {"call_seconds": 0}}
"""No call of a life is given up, however busy the machine is."""
KINDS: Final[Mapping[str, tuple[Habit, Grammar, Mapping[str, Any]]]] = {
    "coder": (_coder, CODER, {"preset": "balanced"}),
    "desk": (_desk, DESK, {"preset": "tiered"}),
    "family": (_family, FAMILY, {"preset": "facts", "knowledge": {"supersession": "local"}}),
    "importer": (_importer, HISTORY, {"preset": "balanced"}),
    "returner": (_planner, CODER, {"preset": "confidence-decay", "gates": {"canaries": 6}, **ERASING}),
    "visitor": (_returner, FAMILY, {"preset": "activation"}),
    "clerk": (clerk.clerk, FAMILY, clerk.policy()),
}
"""Kind of user -> habits, words, and the policy of the store."""


def life_of(kind: str, seed: int, length: int, **policy: Any) -> Life:
    """Return the life of a kind of user.

    Args:
        kind: One of ``KINDS``.
        seed: The same seed, the same life.
        length: Days, 30 to 400.
        policy: Sections that are set besides those of the kind.
    """
    habit, grammar, own = KINDS[kind]
    me = Teller(Random(f"{kind} {seed}"), {**TALK, **grammar})  # noqa: S311  # repeatable on purpose
    days = tuple(days_of(me, habit, length))
    questions = dict.fromkeys(
        me.draw(f"{attribute}.asked", subject=subject) for subject, attribute in sorted(me.known)[:12]
    )
    return Life(kind, seed, {**UNHURRIED, **own, **policy}, length, days, (*questions, *me.loved), RLM.get(kind, {}))


def days_of(me: Teller, habit: Habit, length: int) -> Iterator[Day]:
    for number in range(length):
        habit(me, number)
        day = me.day(number)
        if day.steps:
            yield day
