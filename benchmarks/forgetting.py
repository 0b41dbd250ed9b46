"""What a bounded store still knows: LoCoMo and BEAM replayed in time order, then kept within a share of their tokens.

Half of the questions are past recalls, asked as soon as their evidence was said; the other half are the test. Two
figures for each way of forgetting: evidence recall@10, and the share of the answers' words in a context of 300 tokens.
"""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import beam
import locomo
import perdure
from chats import HITS, Chat, Kept, Question
from perdure.records.plan import Change, Plan, Target
from perdure.rules.tokens import counted
from perdure.rules.words import query_words
from report import parser, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

SHARES = (0.5, 0.25, 0.1)
CONTEXT_TOKENS = 300
DEEP = 40
SEEDS = 5
START = datetime(2024, 1, 1, tzinfo=UTC)
OPEN_GATES = {"loss_share": 1.0, "loss_share_day": 1.0, "canaries": 0}


class Clock:
    """A clock that only the replay moves."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        """Return its instant."""
        return self.now


@dataclass(frozen=True)
class Score:
    """The two figures of one question, and whether the hits that count can still be read."""

    recall: float
    readable: float
    words: float | None


def halves(chat: Chat) -> tuple[list[Question], list[Question]]:
    """Return (past, test): a fixed split that depends on nothing but the conversation's name."""
    asked = sorted(chat.questions, key=lambda q: q.text)
    random.Random(chat.name).shuffle(asked)
    return asked[::2], asked[1::2]


def replayed(memory: perdure.Memory, clock: Clock, chat: Chat, past: Sequence[Question], *, feedback: str) -> None:
    """Take a conversation in session by session, and ask past questions once all of their evidence was said."""
    sessions: dict[str | None, list[Any]] = defaultdict(list)
    for message in chat.messages:
        sessions[message.session].append(message)
    said: set[str] = set()
    waiting = list(past)
    for messages in sessions.values():
        first = messages[0].at or clock.now + timedelta(days=1)
        clock.now = max(clock.now, first + timedelta(minutes=len(messages)))
        memory.ingest([m if m.at else replace(m, at=clock.now) for m in messages], chat.name)
        said |= {m.source for m in messages}
        clock.now += timedelta(hours=1)
        ready = [q for q in waiting if q.evidence <= said]
        waiting = [q for q in waiting if q not in ready]
        for question in ready if feedback != "none" else ():
            clock.now += timedelta(minutes=5)
            answer = memory.recall(question.text, chat.name, HITS)
            useful = [h.memory.id for h in answer.hits if h.memory.source in question.evidence]
            if feedback == "useful" and useful:
                memory.used(useful, "helpful", recall_id=answer.id)
    clock.now += timedelta(days=1)
    memory.sweep(namespace=chat.name)


def scored(memory: perdure.Memory, chat: Chat, test: Sequence[Question]) -> list[Score]:
    """Return the figures of the test questions."""
    found = []
    for question in test:
        hits = memory.recall(question.text, chat.name, DEEP, touch=False).hits
        best = {h.memory.source for h in hits[:HITS]}
        readable = {h.memory.source for h in hits[:HITS] if h.memory.content.strip()}
        size = len(question.evidence)
        found.append(
            Score(
                len(question.evidence & best) / size,
                len(question.evidence & readable) / size,
                _words_in(question.answer, [h.memory.content for h in hits]),
            )
        )
    return found


def _words_in(answer: str, texts: Sequence[str]) -> float | None:
    """Return the share of an answer's words that a context of 300 tokens holds; None for an answer without words."""
    wanted = {_stem(w) for w in query_words(answer)}
    if not wanted:
        return None
    held: set[str] = set()
    left = CONTEXT_TOKENS
    for text in texts:
        words = text.split()
        while words and counted(" ".join(words)) > left:
            words = words[:-1] if len(words) < 20 else words[: len(words) * 3 // 4]
        held |= {_stem(w) for w in query_words(" ".join(words))}
        left -= counted(" ".join(words))
        if left <= 0:
            break
    return len(wanted & held) / len(wanted)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)]
    return word


# --- ways of forgetting that keep or drop whole turns


def whole_turns(memory: perdure.Memory, namespace: str, budget: int, order: Callable[[Any], Any]) -> str:
    """Archive all but the first memories in an order that fit a budget, in one operation; return its id."""
    context = memory._context  # noqa: SLF001  # past the API, so that a way of forgetting is one plan
    store = context.store
    kept, listed = 0, _all(memory, namespace)
    gone = []
    for one in sorted(listed, key=order):
        if kept + one.tokens <= budget:
            kept += one.tokens
        else:
            gone.append(one)
    ops = {r.id: r.op for r in store.get(namespace, [m.id for m in gone])}
    now = context.clock()
    plan_id = context.ids(now)
    before, after = {"status": "active"}, {"status": "archived"}
    changes = tuple(
        Change(Target.MEMORY, m.id, {**before, "op": ops[m.id]}, {**after, "op": plan_id}, "baseline") for m in gone
    )
    if changes:
        store.apply(Plan(plan_id, "baseline", namespace, now, changes))
    return plan_id if changes else ""


def _all(memory: perdure.Memory, namespace: str) -> list[Any]:
    found: list[Any] = []
    while page := memory.list(namespace, 1000, before=found[-1] if found else None):
        found += page
    return found


def baselines(chat: Chat) -> dict[str, Callable[[Any], Any]]:
    """Return name -> the order in which whole turns are kept."""
    place = {m.source: i for i, m in enumerate(chat.messages)}
    ways: dict[str, Callable[[Any], Any]] = {
        "newest first": lambda m: -place[m.source],
        "last used first": lambda m: (-(m.state.accessed_ms or 0), -place[m.source]),
        "longest first": lambda m: (-m.tokens, place[m.source]),
    }
    for seed in range(SEEDS):
        shuffled = list(place)
        random.Random(seed).shuffle(shuffled)
        rank = {source: i for i, source in enumerate(shuffled)}
        ways[f"random {seed}"] = lambda m, rank=rank: rank[m.source]  # type: ignore[misc]  # bound now
    return ways


Figures = dict[tuple[str, float], list[Score]]


def measured(
    chats: Sequence[Chat], embedder: Kept, *, feedback: str, policy: Mapping[str, Any], compare: bool
) -> Figures:
    """Return (way, share) -> the scores of all test questions."""
    found: Figures = defaultdict(list)
    for chat in chats:
        past, test = halves(chat)
        with opened(chat, past, embedder, feedback, {**policy, "compression": {"rule": "never"}}) as memory:
            found["everything", 1.0] += scored(memory, chat, test)
            total = sum(m.tokens for m in _all(memory, chat.name))
            say(f"  {chat.name}: {len(chat.messages)} messages, {total} tokens, {len(past)} past, {len(test)} test")
            for share in SHARES if compare else ():
                for name, order in baselines(chat).items():
                    undo = whole_turns(memory, chat.name, int(share * total), order)
                    found[name.rstrip(" 0123456789"), share] += scored(memory, chat, test)
                    if undo:
                        memory.undo(undo)
        with opened(chat, past, embedder, feedback, policy) as memory:
            for share in SHARES:
                result = memory.fit(chat.name, int(share * total), accept_loss="measuring what is kept")
                found["perdure", share] += scored(memory, chat, test)
                if result.after > share * total:
                    say(f"    {share:.0%}: {result.after} tokens of {int(share * total)}")
                for operation in reversed(result.operations):
                    memory.undo(operation)
    return found


@contextmanager
def opened(
    chat: Chat, past: Sequence[Question], embedder: Kept, feedback: str, policy: Mapping[str, Any]
) -> Iterator[perdure.Memory]:
    """Replay a conversation into a new store, and give it for the length of a block."""
    clock = Clock()
    gates = {**dict(policy.get("gates", {})), **OPEN_GATES}
    with perdure.open(":memory:", policy={**policy, "gates": gates}, clock=clock, embedder=embedder) as memory:
        replayed(memory, clock, chat, past, feedback=feedback)
        yield memory


def lasting(chats: Sequence[Chat], embedder: Kept, days: int) -> list[tuple[str, float, float, int]]:
    """Return (conversation, recall of everything, recall after so many days of daily upkeep, archived)."""
    found = []
    for chat in chats:
        clock = Clock()
        with perdure.open(":memory:", policy={}, clock=clock, embedder=embedder) as memory:
            replayed(memory, clock, chat, (), feedback="none")
            before = statistics.mean(s.recall for s in scored(memory, chat, chat.questions))
            for _ in range(days):
                clock.now += timedelta(days=1)
                memory.sweep()
            after = statistics.mean(s.recall for s in scored(memory, chat, chat.questions))
            hidden = memory.stats(chat.name).statuses.get("archived", 0)
            found.append((chat.name, before, after, hidden))
            say(f"  {chat.name}: {before:.3f} before, {after:.3f} after {days} days, {hidden} archived")
    return found


def told(title: str, found: Figures) -> list[str]:
    """Return the Markdown table of some figures."""
    lines = [
        f"### {title}",
        "",
        "| way | tokens | recall@10 | of it readable | answer words in 300 tokens |",
        "|---|---|---|---|---|",
    ]
    for (way, share), scores in sorted(found.items(), key=lambda x: (-x[0][1], x[0][0] != "perdure", x[0][0])):
        words = [s.words for s in scores if s.words is not None]
        cells = [
            way,
            f"{share:.0%}",
            f"{100 * statistics.mean(s.recall for s in scores):.1f}",
            f"{100 * statistics.mean(s.readable for s in scores):.1f}",
            f"{100 * statistics.mean(words):.1f}" if words else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def main() -> None:
    """Measure and print."""
    made = parser(__doc__)
    made.add_argument("--set", choices=("locomo", "beam", "both"), default="both")
    made.add_argument("--feedback", choices=("none", "access", "useful"), default="access")
    made.add_argument("--days", type=int, default=0, help="only: daily upkeep for so many days without any feedback")
    made.add_argument("--quick", action="store_true", help="without the other ways of forgetting")
    arguments = made.parse_args()
    embedder = Kept()
    sets = {"locomo": ("LoCoMo", locomo.chats), "beam": ("BEAM", lambda: beam.chats({"user"}))}
    for name, (title, chats) in sets.items():
        if arguments.set in (name, "both"):
            say(title)
            if arguments.days:
                kept = lasting(chats(), embedder, arguments.days)
                before, after = (statistics.mean(x[i] for x in kept) for i in (1, 2))
                print(f"{title}: recall@10 {before:.3f} before, {after:.3f} after, {after / before:.1%} kept")
                continue
            found = measured(chats(), embedder, feedback=arguments.feedback, policy={}, compare=not arguments.quick)
            print("\n".join(told(f"{title}, feedback: {arguments.feedback}", found)))


if __name__ == "__main__":
    main()
