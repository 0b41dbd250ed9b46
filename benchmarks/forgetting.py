"""What a bounded store still knows: LoCoMo and BEAM replayed in time order, then kept within a share of their tokens.

Half of the questions are past recalls, asked as soon as their evidence was said; the other half are the test. Two
figures for each way of forgetting: evidence recall@10, and the share of the answers' words in a context of 300 tokens.
"""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import beam
import locomo
import perdure
from chats import HITS, Chat, Kept, Question
from perdure.operations.lifecycle import fit as fitting
from perdure.records.memory import Form
from perdure.records.plan import Change, Plan, Target
from perdure.rules.language.tokens import count_tokens
from perdure.rules.language.words import query_words
from perdure.rules.lifecycle import budget_fitting as rule
from report import parser, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

LOCOMO = ("locomo_dev.json.gz", "locomo_val.json.gz")
BEAM = ("beam_dev.tar.gz", "beam_val.tar.gz")
SHARES = (0.5, 0.25, 0.1)
CONTEXT_TOKENS = 300
DEEP = 40
SEEDS = 2
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
    chat: str = ""


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
                chat.name,
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
        while words and count_tokens(" ".join(words)) > left:
            words = words[:-1] if len(words) < 20 else words[: len(words) * 3 // 4]
        held |= {_stem(w) for w in query_words(" ".join(words))}
        left -= count_tokens(" ".join(words))
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
    kept, listed = 0, all_memories(memory, namespace)
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


def all_memories(memory: perdure.Memory, namespace: str) -> list[Any]:
    found: list[Any] = []
    while page := memory.list(namespace, 1000, before=found[-1].id if found else None):
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
            total = sum(m.tokens for m in all_memories(memory, chat.name))
            say(f"  {chat.name}: {len(chat.messages)} messages, {total} tokens, {len(past)} past, {len(test)} test")
            for share in SHARES if compare else ():
                for name, order in baselines(chat).items():
                    undo = whole_turns(memory, chat.name, int(share * total), order)
                    found[name.rstrip(" 0123456789"), share] += scored(memory, chat, test)
                    if undo:
                        memory.undo(undo)
            for share in SHARES:
                result = memory.fit(chat.name, int(share * total), dry_run=False, accept_loss="measuring what is kept")
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


ABLATIONS: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "all of it": (),
    "without access feedback": ((rule, "EVER_USED", 0.0), (rule, "HELPED", 0.0)),
    "without any worth": ((fitting, "worth_of", lambda _: 1.0),),
    "without keywords and embeddings": ((fitting, "LADDER", (Form.FULL, Form.SUMMARY)),),
    "without shorter forms": ((fitting, "LADDER", (Form.FULL,)),),
}
"""What is switched off in turn: (module, name, what stands there instead)."""


def ablated(chats: Sequence[Chat], embedder: Kept, share: float) -> Figures:
    """Return the scores at one share of the tokens with each mechanism switched off in turn."""
    found: Figures = defaultdict(list)
    for chat in chats:
        past, test = halves(chat)
        with opened(chat, past, embedder, "access", {"compression": {"rule": "never"}}) as memory:
            budget = int(share * sum(m.tokens for m in all_memories(memory, chat.name)))
            for name, changes in ABLATIONS.items():
                with ExitStack() as stack:
                    for module, attribute, value in changes:
                        stack.enter_context(mock.patch.object(module, attribute, value))
                    result = memory.fit(chat.name, budget, dry_run=False, accept_loss="measuring what is kept")
                found[name, share] += scored(memory, chat, test)
                for operation in reversed(result.operations):
                    memory.undo(operation)
        say(f"  {chat.name}")
    return found


def drawn(title: str, found: Figures) -> str:
    """Return a plot of recall@10 over the share of tokens, as SVG."""
    ways: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (way, share), scores in sorted(found.items(), key=lambda x: x[0][1]):
        ways[way].append((share, 100 * statistics.mean(s.recall for s in scores)))
    (whole,) = ways.pop("everything")
    colours = dict(zip(sorted(ways), ("#8a8a8a", "#b98b3d", "#7a5aa6", "#1f6f54", "#b04a3a"), strict=False))

    def at(share: float, recall: float) -> tuple[float, float]:
        return 60 + 520 * (share - 0.05) / 0.5, 320 - 2.8 * recall

    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 380" font-family="sans-serif" font-size="13">',
        '<rect width="760" height="380" fill="white"/>',
        f'<text x="60" y="24" font-size="15">{title}: evidence recall@10 by the share of tokens that is kept</text>',
    ]
    for level in range(0, 101, 20):
        y = at(0, level)[1]
        lines.append(f'<path d="M60 {y:.0f} H600" stroke="#ddd"/><text x="28" y="{y + 4:.0f}">{level}</text>')
    y = at(0, whole[1])[1]
    lines.append(f'<path d="M60 {y:.0f} H600" stroke="#333" stroke-dasharray="5 4"/>')
    lines.append(f'<text x="606" y="{y - 6:.0f}">everything {whole[1]:.0f}</text>')
    for way, points in ways.items():
        path = " L".join(f"{x:.0f} {y:.0f}" for x, y in (at(*p) for p in points))
        wide = 3 if way == "perdure" else 1.5
        lines.append(f'<path d="M{path}" fill="none" stroke="{colours[way]}" stroke-width="{wide}"/>')
    ends = sorted((at(*points[-1])[1], way) for way, points in ways.items())
    low = 0.0
    for y, way in ends:
        low = max(y + 4, low + 15)
        lines.append(f'<text x="606" y="{low:.0f}" fill="{colours[way]}">{way} {ways[way][-1][1]:.0f}</text>')
    for share in SHARES:
        x = at(share, 0)[0]
        lines.append(f'<text x="{x - 12:.0f}" y="342">{share:.0%}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


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


def _with_error(values: Sequence[tuple[str, float]]) -> str:
    """Return the mean over all questions, in points of a hundred, with the standard error over conversations."""
    chats: dict[str, list[float]] = defaultdict(list)
    for chat, value in values:
        chats[chat].append(100 * value)
    means = [statistics.mean(some) for some in chats.values()]
    mean = f"{100 * statistics.mean(value for _, value in values):.1f}" if values else ""
    return f"{mean} ± {statistics.stdev(means) / len(means) ** 0.5:.1f}" if len(means) > 1 else mean


def told(title: str, found: Figures) -> list[str]:
    """Return the Markdown table of some figures."""
    lines = [
        f"### {title}",
        "",
        "| way | tokens | recall@10 | of it readable | answer words in 300 tokens |",
        "|---|---|---|---|---|",
    ]
    for (way, share), scores in sorted(found.items(), key=lambda x: (-x[0][1], x[0][0] != "perdure", x[0][0])):
        parts = [
            _with_error([(s.chat, value) for s in scores if (value := getattr(s, name)) is not None])
            for name in ("recall", "readable", "words")
        ]
        cells = [way, f"{share:.0%}", *parts]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def main() -> None:
    """Measure and print."""
    made = parser(__doc__)
    made.add_argument("--set", choices=("locomo", "beam", "both"), default="both")
    made.add_argument("--feedback", choices=("none", "access", "useful"), default="access")
    made.add_argument("--days", type=int, default=0, help="only: daily upkeep for so many days without any feedback")
    made.add_argument("--ablate", action="store_true", help="only: switch each mechanism off in turn, at a quarter")
    made.add_argument("--plots", metavar="FOLDER", help="draw each set's plot into this folder")
    made.add_argument("--quick", action="store_true", help="without the other ways of forgetting")
    arguments = made.parse_args()
    embedder = Kept()
    sets = {"locomo": ("LoCoMo", lambda: locomo.chats(*LOCOMO)), "beam": ("BEAM", lambda: beam.chats({"user"}, *BEAM))}
    for name, (title, chats) in sets.items():
        if arguments.set in (name, "both"):
            say(title)
            if arguments.days:
                kept = lasting(chats(), embedder, arguments.days)
                before, after = (statistics.mean(x[i] for x in kept) for i in (1, 2))
                print(f"{title}: recall@10 {before:.3f} before, {after:.3f} after, {after / before:.1%} kept")
                continue
            if arguments.ablate:
                print(
                    "\n".join(told(f"{title}, each mechanism switched off in turn", ablated(chats(), embedder, 0.25)))
                )
                continue
            found = measured(chats(), embedder, feedback=arguments.feedback, policy={}, compare=not arguments.quick)
            print("\n".join(told(f"{title}, feedback: {arguments.feedback}", found)))
            if arguments.plots:
                Path(arguments.plots, f"forgetting-{name}.svg").write_text(drawn(title, found), "utf-8")


if __name__ == "__main__":
    main()
