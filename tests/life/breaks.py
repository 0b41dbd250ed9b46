"""The engine broken from outside, one rule or one write at a time: each break, and what a life must say of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import Any, Final, cast
from unittest import mock

from life.lives import ERASING, UNHURRIED, Habit, Life, Teller, days_of, life_of
from life.played import HEARD
from life.words import CODER, TALK
from perdure.interfaces.cli.call import Exit
from perdure.knowledge.extension import Knowledge
from perdure.knowledge.records.results import Timeline
from perdure.operations.documents import all_ids
from perdure.operations.ports import Context
from perdure.records.consolidation_results import Edge
from perdure.records.errors import ConflictError
from perdure.records.instant import DAY_MS
from perdure.records.memory import Document, Kind, Record
from perdure.records.plan import Change, Plan, Target
from perdure.records.recall import Filters, OutdatedMemories
from perdure.rules.consolidation.merging import SEPARATOR
from perdure.rules.lifecycle.digest import DigestBudget
from perdure.rules.lifecycle.ration import Budget
from perdure.rules.lifecycle.tier_table import Rule
from perdure.stores.sqlite.searching import Searches
from perdure.stores.sqlite.store import SqliteStore

Make = Callable[[Any], Any]
"""Takes a function of the engine, and returns what stands for it."""


@dataclass(frozen=True, slots=True)
class Break:
    """One rule or one write that does what it must not, and what a life must say of it.

    Attributes:
        instead: Functions of the engine, each with what stands for it: an address, or a class and a name.
        life: Which of ``LIVES`` must notice it.
        check: The check that tells of it, as ``test_lives.CHECKS`` names it.
        fault: What a fault of this check says, as a regular expression.
        weekly: Whether `make weekly` alone breaks it.
    """

    instead: Sequence[tuple[str | tuple[type, str], Make]]
    life: str
    check: str
    fault: str
    weekly: bool = False

    @contextmanager
    def made(self) -> Iterator[None]:
        """Break the engine as long as this lasts."""
        with ExitStack() as stack:
            for where, make in self.instead:
                stack.enter_context(_standing_in(where, make))
            yield


def _standing_in(where: str | tuple[type, str], make: Make) -> Any:
    if isinstance(where, tuple):
        return mock.patch.object(*where, make(getattr(*where)))
    original, _ = mock.patch(where).get_original()
    return mock.patch(where, make(original))


# --- lives


def _busy(me: Teller, number: int) -> None:
    """Begin with some notes, and then note and ask as much each day as on any other."""
    for _ in range(30 if number == 0 else 5):
        me.note()
    for _, text in me.past[-5:]:
        me.step("recall", query=text, limit=2)


def _hoarder(me: Teller, number: int) -> None:
    """Bring in hearsay of long ago, more than may be forgotten on one day, and come back after two weeks."""
    for _ in range(80 if number == 0 else 0):
        me.note(ago=400, confidence=0.2, importance=0.0)
    if number > HEARD:
        me.note()


LIVES_IN: Final = (("Kim", "Bern", {}), ("Nora", "Oslo", {}), ("Nora", "Riga", {"replaces": "Oslo"}))
"""Who lives where, and instead of which town."""


def _mover(me: Teller, number: int) -> None:
    """Say where people live, one a day, relate what was said, and put the first of it away."""
    if number < len(LIVES_IN):
        who, town, more = LIVES_IN[number]
        fact = {"subject": who, "predicate": "home", "value": town, **more}
        me.step("remember", f"home {number}", content=f"{who} has a home in {town} now.", facts=(fact,))
    elif number == len(LIVES_IN):
        me.step("relate", number=len(LIVES_IN))
        me.step("archive", id="home 0", reason=me.draw("why"))


def _life_of(name: str, habit: Habit, length: int, preset: str = "balanced", questions: Sequence[str] = ()) -> Life:
    me = Teller(Random(name), {**TALK, **CODER})  # noqa: S311  # repeatable on purpose
    days = tuple(days_of(me, habit, length))
    return Life(name, 1, {**UNHURRIED, "preset": preset}, length, days, tuple(questions))


LIVES: Final[Mapping[str, Callable[[], Life]]] = {
    "coder": lambda: life_of("coder", 1, 9),
    "coder, two weeks": lambda: life_of("coder", 1, 13),
    "coder, seven weeks": lambda: life_of("coder", 1, 48),
    "clerk": lambda: life_of("clerk", 1, 14),
    "clerk, five weeks": lambda: life_of("clerk", 1, 38),
    "desk": lambda: life_of("desk", 1, 9),
    "importer": lambda: life_of("importer", 1, 6),
    "visitor": lambda: life_of("visitor", 1, 20),
    "returner": lambda: life_of("returner", 1, 16, upkeep={**ERASING["upkeep"], "erase_archived_days": 3}),
    "family": lambda: life_of("family", 1, 60),
    "busy": lambda: _life_of("busy", _busy, 10),
    "busy, six weeks": lambda: _life_of("busy", _busy, 40),
    "hoarder": lambda: _life_of("hoarder", _hoarder, HEARD + 2),
    "mover": lambda: _life_of(
        *("mover", _mover, 10, "facts"), [f"In which town is the home of {who}?" for who in ("Kim", "Nora")]
    ),
}
"""Short lives; each of them says of the engine as it is that nothing is wrong."""


# --- what stands for a function


def applying(change: Callable[[Plan], Plan | None]) -> Make:
    """Have plans written as ``change`` makes them; None for not at all."""

    def make(apply: Any) -> Any:
        def run(self: SqliteStore, plan: Plan, **more: Any) -> None:
            if (changed := change(plan)) is not None:
                apply(self, changed, **more)

        return run

    return make


def returning(value: Any) -> Make:
    """Have a function return this, whatever it is asked."""
    return lambda _: lambda *_, **__: value


def with_result(change: Callable[[Any], Any]) -> Make:
    """Have a function return what ``change`` makes of its answer."""
    return lambda call: lambda *given, **more: change(call(*given, **more))


def with_argument(place: int, change: Callable[[Any], Any]) -> Make:
    """Have a function called with what ``change`` makes of one of its arguments."""

    def make(call: Any) -> Any:
        def run(*given: Any, **more: Any) -> Any:
            return call(*given[:place], change(given[place]), *given[place + 1 :], **more)

        return run

    return make


def of_each_change(change: Callable[[Plan, Change], Change | None]) -> Callable[[Plan], Plan]:
    """Make each change of a plan another one; None leaves it out."""

    def of(plan: Plan) -> Plan:
        made = (change(plan, one) for one in plan.changes)
        return replace(plan, changes=tuple(one for one in made if one is not None))

    return of


def without_columns(*names: str) -> Callable[[Plan, Change], Change]:
    """Leave out what a plan does to some columns of memories that there are."""

    def cut(row: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in row.items() if name not in names}

    def of(_: Plan, change: Change) -> Change:
        if change.target is not Target.MEMORY or change.before is None or change.after is None:
            return change
        return replace(change, before=cut(change.before), after=cut(change.after))

    return of


def including_hidden(filters: Any) -> Any:
    """Let what is hidden pass, too."""
    return replace(filters, include_archived=True)


def _every_fifth(operation: str) -> Callable[[Plan], Plan | None]:
    met = count(1)
    return lambda plan: None if plan.operation == operation and next(met) % 5 == 0 else plan


def _is_new_fact(change: Change) -> bool:
    return change.target is Target.MEMORY and change.before is None and (change.after or {}).get("kind") == Kind.FACT


def _of_sweeps(change: Callable[[Plan], Plan]) -> Callable[[Plan], Plan]:
    return lambda plan: change(plan) if plan.operation == "sweep" else plan


def _without_digits(plan: Plan) -> Plan:
    return of_each_change(lambda _, one: replace(one, because=re.sub(r"\d", "", one.because)))(plan)


def _a_little_more(_: Plan, change: Change) -> Change:
    after = change.after or {}
    more = {"importance": min(1.0, after["importance"] + 0.01)} if "importance" in after else {}
    return replace(change, after={**after, **more}) if more else change


def _refused(call: Any) -> Any:
    def run(ctx: Any, operation: Any) -> Any:
        if operation.operation == "sweep":
            raise ConflictError("nobody may", remedy="Ask again.")
        return call(ctx, operation)

    return run


def _not_held(waiting: Any) -> Any:
    def run(ctx: Any, place: str, now: int) -> Iterator[str]:
        ids = [*waiting(ctx, place, now)]
        states = ctx.store.states(place, ids)
        return (i for i in ids if not states[i][0].held)

    return run


def _few_words_of_further_texts(joined: str) -> str:
    first, *others = joined.split(SEPARATOR)
    return SEPARATOR.join([first, *(" ".join(text.split()[:3]) for text in others)])


def _all_of_them(promotable: Any) -> Any:
    def run(inside: Sequence[Record], *more: Any) -> tuple[Mapping[str, str], float]:
        reasons, median = promotable(inside, *more)
        return {**{r.id: "it is at least the median" for r in inside}, **reasons}, median

    return run


def _more_work_each_time(call: Any, functions: int = 100) -> Any:
    called = count(1)

    def run(*given: Any, **more: Any) -> Any:
        for _ in range(functions * next(called)):
            _nothing()
        return call(*given, **more)

    return run


def _nothing() -> None:
    pass


def _longer_each_time() -> Callable[[Plan], Plan]:
    written = count(1)

    def of(plan: Plan) -> Plan:
        parts = (sha256(f"{plan.id} {n}".encode()).hexdigest() for n in range(10 * next(written)))
        return replace(plan, note=" ".join(parts))

    return of


def _every_member(read_edges: Any) -> Any:
    def run(documents: Iterable[Document], _: Iterable[str]) -> list[Edge]:
        some = list(documents)
        return cast("list[Edge]", read_edges(some, [document.id for document in some]))

    return run


def _whatever_is_stored(_: Any) -> Any:
    def run(ctx: Context, place: str, name: str, words: re.Pattern[str], then: Filters) -> list[Record]:
        return [r for r in ctx.store.get(place, [*all_ids(ctx, place)]) if words.search(r.content.text)]

    return run


def _as_if_active(timeline: Timeline) -> Timeline:
    return replace(timeline, facts=tuple(replace(fact, state="active") for fact in timeline.facts))


def _more_steps_each_time(pool: Any) -> Any:
    asked = count(1)
    counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT max(i) FROM n"

    def run(self: Searches, *given: Any) -> Any:
        self.connection.execute(counting, (1000 * next(asked),)).fetchall()
        return pool(self, *given)

    return run


def _dated_when_counted(replay: Any) -> Any:
    def run(states: Any, accesses: Any, now: int, *more: Any) -> Any:
        return replay(states, {i: [(now, n) for _, n in some] for i, some in accesses.items()}, now, *more)

    return run


def _half_life_of(days: float) -> Make:
    return lambda made: lambda shape, _, *more: made(shape, days, *more)


def _of_vault(change: Callable[[Rule], Rule]) -> Make:
    return lambda rules: tuple(change(rule) if rule.name == "to_vault" else rule for rule in rules)


def _without_accepted_loss(made: Any) -> Any:
    return lambda *given, **more: made(*given, **{**more, "accept_loss": None})


def _saying_more(profile: Any) -> Any:
    return profile and replace(profile, text=f"{profile.text} Everybody in Trondheim knows it.")


APPLY: Final = (SqliteStore, "apply")
SCHEDULES: Final[Mapping[str, Break]] = {
    "an access counts at the instant at which a sweep counts it": Break(
        [("perdure.operations.lifecycle.sweep.replay", _dated_when_counted)], "coder", "", "memories "
    ),
}
"""What makes a store depend on when it is swept, which is seen by two lives only."""

BREAKS: Final[Mapping[str, Break]] = {
    "a note is acknowledged and not written": Break(
        [(APPLY, applying(_every_fifth("remember")))], "coder", "nothing is lost", "is gone: "
    ),
    "a fact that is handed over is not written": Break(
        [(APPLY, applying(of_each_change(lambda _, one: None if _is_new_fact(one) else one)))],
        *("coder", "nothing is lost", "fact .* is gone"),
    ),
    "the last message of a conversation is dropped": Break(
        [("perdure.operations.ingest.remember", with_argument(1, lambda drafts: drafts[:-1]))],
        *("coder", "what once went wrong does not", "a conversation is taken in: .* are left out"),
    ),
    "an extracted note loses its end": Break(
        [("perdure.operations.extract._draft", with_result(lambda draft: replace(draft, text=draft.text[:-12])))],
        *("coder", "nothing is lost", "says .* instead of"),
    ),
    "a change gives no reason": Break(
        [(APPLY, applying(of_each_change(lambda _, one: replace(one, because=""))))],
        *("coder", "every change is explained", "gives no reason"),
    ),
    "a move is told without numbers": Break(
        [(APPLY, applying(_of_sweeps(_without_digits)))],
        *("coder", "every change is explained", "gives no numbers"),
        weekly=True,
    ),
    "a line is missing in the journal": Break(
        [
            (
                "perdure.stores.sqlite.writing._write_journal",
                with_argument(1, _of_sweeps(lambda plan: replace(plan, changes=plan.changes[1:]))),
            )
        ],
        *("coder", "the journal tells the state", "the journal tells"),
    ),
    "a row has another number than its line in the journal": Break(
        [("perdure.stores.sqlite.writing.write_rows", with_argument(1, of_each_change(_a_little_more)))],
        *("coder", "the store is sound", "differs from what the journal says: importance"),
    ),
    "a question finds what is archived": Break(
        [("perdure.operations.recall._rank_matches", with_argument(4, including_hidden))],
        *("coder", "what is hidden stays hidden", "archived .* answers"),
    ),
    "a list shows what is archived": Break(
        [((SqliteStore, "list_records"), with_argument(2, including_hidden))],
        *("coder", "what is hidden stays hidden", "archived .* is listed"),
        weekly=True,
    ),
    "MEMORY.md shows what is archived": Break(
        [((SqliteStore, "records_by_tier"), with_argument(2, including_hidden))],
        *("coder", "what is hidden stays hidden", "MEMORY.md shows what is archived"),
        weekly=True,
    ),
    "an edge shows what is archived": Break(
        [("perdure.operations.consolidation.relate.read_edges", _every_member)],
        *("mover", "what is hidden stays hidden", "archived .* is a neighbour of"),
    ),
    "an answer sheet looks into the archive": Break(
        [("perdure.knowledge.operations.answer_sheet.recall", with_argument(4, including_hidden))],
        *("mover", "what is hidden stays hidden", "archived .* is on the sheet of"),
    ),
    "an answer sheet quotes what is archived": Break(
        [("perdure.knowledge.operations.answer_sheet._Found.quotable", lambda _: lambda _, fact: [*fact.sources])],
        *("mover", "what is hidden stays hidden", "archived .* is quoted for"),
        weekly=True,
    ),
    "an answer sheet holds for true what was replaced": Break(
        [("perdure.knowledge.operations.answer_sheet.fact_at", with_result(lambda found: found and (found[0], True)))],
        *("mover", "what is hidden stays hidden", "superseded .* is on the sheet of"),
        weekly=True,
    ),
    "a timeline names what is archived": Break(
        [("perdure.knowledge.operations.named_values._memories_naming", _whatever_is_stored)],
        *("mover", "what is hidden stays hidden", "archived .* names Bern"),
    ),
    "a timeline tells as true what was replaced": Break(
        [("perdure.knowledge.operations.facts.timeline", with_result(_as_if_active))],
        *("mover", "what is hidden stays hidden", "superseded .* is active in the timeline of"),
        weekly=True,
    ),
    "MEMORY.md shows a value that was replaced": Break(
        [((Knowledge, "outdated_memories"), returning(OutdatedMemories()))],
        *("clerk", "the digest is true", "says what does not hold"),
    ),
    "MEMORY.md takes what has no room": Break(
        [((DigestBudget, "_after"), lambda _: lambda self, *_: self.used)],
        *("coder", "the digest fits", "and may have 100"),
    ),
    "the loss budget is ignored": Break(
        [((Budget, "allowance"), returning(1_000_000)), ((Budget, "refusal"), returning(""))],
        *("hoarder", "budgets hold each day", "hidden, .* by sweeps"),
    ),
    "the loss budget lets nothing go": Break(
        [((Budget, "allowance"), returning(0))],
        *("hoarder", "what once went wrong does not", "wait on day .*, 0 go"),
        weekly=True,
    ),
    "a sweep passes over what is due, and no alert tells of it": Break(
        [((SqliteStore, "due_ids"), returning([])), ("perdure.rules.alerts._of_maintenance", returning(()))],
        *("coder, two weeks", "nothing waits in silence", "no alert tells of it"),
    ),
    "what a gate has held is not tried again": Break(
        [("perdure.operations.lifecycle.sweep._waiting_ids", _not_held)],
        *("hoarder", "what once went wrong does not", "wait on day .*, 0 go"),
        weekly=True,
    ),
    "a gate holds something for a week, and no alert tells of it": Break(
        [
            ("perdure.operations.lifecycle.sweep._waiting_ids", _not_held),
            ("perdure.rules.alerts._of_held", returning(("", "", 0, "", ()))),
            ("perdure.rules.alerts._of_maintenance", returning(())),
        ],
        *("hoarder", "what once went wrong does not", "a move waits for a week: no alert tells of"),
        weekly=True,
    ),
    "an undo leaves a tier": Break(
        [((Plan, "inverse"), with_result(of_each_change(without_columns("tier"))))],
        *("coder", "as in the middle", "memories .*Tier"),
    ),
    "an undo leaves what was written down of entities": Break(
        [
            (
                (Plan, "inverse"),
                with_result(of_each_change(lambda _, one: None if one.target is Target.DOCUMENT else one)),
            )
        ],
        *("coder", "as at the beginning", "entities: "),
    ),
    **{
        f"an undo is refused ({check})": Break(
            [("perdure.operations.journal._whole_changes", _refused)],
            *("coder", check, "cannot be undone: nobody may"),
            weekly=check == "undone",
        )
        for check in ("undone to the middle", "undone")
    },
    "nothing tells of what was erased": Break(
        [("perdure.operations.writing.erased_remark", returning(""))],
        *("returner", "what is erased is gone", "nothing says why"),
        weekly=True,
    ),
    "a question costs more each time": Break(
        [("perdure.operations.recall.rank_candidates", _more_work_each_time)],
        *("busy", "it grows with the store alone", "recall, functions"),
    ),
    "a note costs more each time": Break(
        [("perdure.operations.remember_one.store_drafts", _more_work_each_time)],
        *("busy", "it grows with the store alone", "remember, functions"),
        weekly=True,
    ),
    "a sweep costs more each time": Break(
        [("perdure.operations.lifecycle.sweep.replay", partial(_more_work_each_time, functions=1000))],
        *("busy, six weeks", "it grows with the store alone", "sweep, functions"),
        weekly=True,
    ),
    "a question takes more steps of SQLite each time": Break(
        [((Searches, "pool"), _more_steps_each_time)],
        *("busy", "it grows with the store alone", "recall, steps"),
        weekly=True,
    ),
    "an operation takes more room each time": Break(
        [(APPLY, applying(_longer_each_time()))],
        *("busy", "it grows with the store alone", "bytes for each memory"),
        weekly=True,
    ),
    # --- what once went wrong
    "a boost is added to an importance of long ago": Break(
        [
            (
                "perdure.rules.lifecycle.reinforcement.importance_curve",
                with_result(lambda curve: replace(curve, half_life=1e9)),
            )
        ],
        *("coder, seven weeks", "what once went wrong does not", "an importance that has decayed is reinforced"),
        weekly=True,
    ),
    "every memory is suggested for review": Break(
        [("perdure.operations.monitoring.SHOWN", lambda _: 1000)],
        *("returner", "what once went wrong does not", "reviews are suggested: .* in no order"),
        weekly=True,
    ),
    "what was archived is erased a day early": Break(
        [("perdure.operations.lifecycle.maintenance_tasks.archived_since", with_argument(2, lambda at: at + DAY_MS))],
        *("returner", "what once went wrong does not", "what was archived long ago is erased"),
        weekly=True,
    ),
    "rlm-config.json is not read": Break(
        [("perdure.compose_policy.RLM_VARIABLE", lambda _: "NO_VARIABLE")],
        *("returner", "what once went wrong does not", "of rlm-config.json"),
        weekly=True,
    ),
    "small talk is extracted": Break(
        [("perdure.rules.pattern_extraction._defines", with_result(lambda _: True))],
        *("coder, seven weeks", "what once went wrong does not", "is extracted"),
        weekly=True,
    ),
    "a decision in other words is extracted again": Break(
        [("perdure.operations.extract.restates", with_result(lambda _: False))],
        *("coder, seven weeks", "what once went wrong does not", "is extracted twice"),
        weekly=True,
    ),
    "what is overheard is certain": Break(
        [("perdure.operations.ingest._classify", with_result(lambda draft: replace(draft, confidence=1.0)))],
        *("coder", "what once went wrong does not", "something is overheard: .* is certain"),
        weekly=True,
    ),
    "what says the same in other words stays apart": Break(
        [
            ("perdure.operations.consolidation.consolidate.conflict", returning("differs")),
            ("perdure.operations.consolidation.consolidate.contradiction", returning("differs")),
        ],
        *("coder, seven weeks", "what once went wrong does not", "stay apart"),
        weekly=True,
    ),
    "of joined texts all but the first lose words": Break(
        [("perdure.rules.consolidation.merging._join_texts", with_result(_few_words_of_further_texts))],
        *("coder, seven weeks", "what once went wrong does not", "contents are joined: .* is not in"),
        weekly=True,
    ),
    "whole sessions are promoted": Break(
        [("perdure.operations.consolidation.sessions.promotable", _all_of_them)],
        *("coder", "what once went wrong does not", "a session with use is promoted"),
        weekly=True,
    ),
    "a decay by hand has a half-life of its own": Break(
        [("perdure.verbs.deciding.decay_rules.Decay", _half_life_of(30.0))],
        *("clerk", "what once went wrong does not", "decays by half-life 30 days"),
        weekly=True,
    ),
    "a decay by hand writes down less than is left": Break(
        [
            (
                "perdure.operations.lifecycle.reinforce.decay_page",
                with_argument(3, lambda one: replace(one, half_life_days=9)),
            )
        ],
        *("clerk, five weeks", "what once went wrong does not", "decays by half-life 45 days, .* instead of 0"),
        weekly=True,
    ),
    "a summary keeps most of a letter": Break(
        [("perdure.rules.lifecycle.compression_forms.write_summary", with_argument(1, lambda tokens: 100 * tokens))],
        *("importer", "what once went wrong does not", "a long text is summed up: .* words of"),
        weekly=True,
    ),
    "a session is summed up in all of its words": Break(
        [("perdure.rules.consolidation.tasks.most_tokens", with_result(lambda tokens: 2 * tokens))],
        *("clerk", "what once went wrong does not", "a summary of several memories: .* is more than half of"),
        weekly=True,
    ),
    "an entity is summed up by what nobody said": Break(
        [("perdure.knowledge.operations.entity_summaries.profile_of", with_result(_saying_more))],
        *("clerk, five weeks", "what once went wrong does not", "a summary of several memories: .* says .*trondheim"),
        weekly=True,
    ),
    "what is about to be archived is named when it is": Break(
        [("perdure.operations.monitoring.RISK_DAYS", lambda _: 0)],
        *("visitor", "what once went wrong does not", "nobody was told that .* goes at"),
        weekly=True,
    ),
    "no alert tells of what is about to be archived": Break(
        [("perdure.rules.alerts._of_memories", returning(()))],
        *("visitor", "what once went wrong does not", "an alert of what is about to be archived: .* are about to go"),
        weekly=True,
    ),
    "nothing enters the vault": Break(
        [
            (
                "perdure.rules.lifecycle.tier_table.RULES",
                _of_vault(lambda rule: replace(rule, switch=("archive.rule", ""))),
            )
        ],
        *("desk", "what once went wrong does not", "stays out of the vault, worth"),
        weekly=True,
    ),
    "whatever is accessed enters the vault": Break(
        [
            (
                "perdure.rules.lifecycle.tier_table.RULES",
                _of_vault(lambda rule: replace(rule, only=None, due=lambda m, *_: m.accessed)),
            )
        ],
        *("desk", "what once went wrong does not", "a move to the vault: .* with 1 accesses"),
        weekly=True,
    ),
    "what was never reinforced enters the vault": Break(
        [("perdure.rules.lifecycle.tier_table.RULES", _of_vault(lambda rule: replace(rule, only=None)))],
        *("visitor", "what once went wrong does not", "a move to the vault: .* reinforced 0 times"),
        weekly=True,
    ),
    "use moves importance where activation decides": Break(
        [("perdure.rules.lifecycle.trajectory.boost", with_argument(0, lambda _: 0.05))],
        *("visitor", "what once went wrong does not", "use moves the importance of"),
        weekly=True,
    ),
    "a person's word lets nothing go": Break(
        [("perdure.operations.lifecycle.sweep._Sweep", _without_accepted_loss)],
        *("importer", "what once went wrong does not", "a person lets go what waits: .* still wait"),
        weekly=True,
    ),
    "small talk is promoted": Break(
        [("perdure.rules.consolidation.tasks._SAYS_LITTLE", lambda _: ())],
        *("visitor", "what once went wrong does not", "a session without use is promoted: .* are promoted"),
        weekly=True,
    ),
    "an undo opens every conflict of what it brings back": Break(
        [
            ("perdure.operations.journal.new_conflicts", with_argument(1, lambda undone: replace(undone, id=""))),
            ("perdure.knowledge.operations.conflicts_beside._had_conflict", with_result(lambda _: False)),
        ],
        *("clerk", "undone", "cannot be undone: .* have changed since"),
        weekly=True,
    ),
    "perdure alerts always ends well": Break(
        [
            ("perdure.operations.lifecycle.sweep._waiting_ids", _not_held),
            ("perdure.interfaces.cli.file_commands.Exit", lambda _: SimpleNamespace(ALERT=Exit.OK, OK=Exit.OK)),
        ],
        *("hoarder", "what once went wrong does not", "perdure alerts ends with 5: 0"),
        weekly=True,
    ),
    "an earlier statement stands before what makes it untrue": Break(
        [("perdure.operations.recall.with_later_statements", lambda _: lambda _ctx, _place, hits, *_: hits)],
        *("family", "what once went wrong does not", "stands before"),
        weekly=True,
    ),
}
"""What the engine does wrong -> how that is brought about, and what must be said of it."""
