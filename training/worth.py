"""Choose the weights of value: which messages of a conversation will be asked for, with conversations left out.

Usage: python training/worth.py [--each N]

Each conversation is taken in, in its order. Half of its questions are past recalls, asked once their evidence was said;
the others are the test. Then the messages are put in an order, and the first ones that fit half or a quarter of the
tokens are kept: the figure is the share of the test questions' evidence among them. Everything is measured twice: with
the past recalls, and as if nothing had been asked for.

For each conversation the best weights of all others are taken. A conversation weighs as much as its set's mean.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import perdure
from perdure.records.instant import to_instant
from perdure.rules.lifecycle.state_arrays import Columns, value_curve
from pools import BEAM, Kept, evaluation_chats  # puts the benchmarks in the way of the imports below

import beam  # isort: skip
from forgetting import OPEN_GATES, Clock, all_memories, halves, replayed  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chats import Chat
    from perdure.records.instant import Instant
    from perdure.records.policy import Policy

Array = NDArray[np.float64]
SHARES = (0.5, 0.25)
CONDITIONS = ("after past recalls", "nothing asked for yet")
PARTS = ("frequency", "uniqueness", "confidence", "recency", "importance")
PLAIN = (0.35, 0.25, 0.20, 0.20, 0.0)
"""Value without importance, as in the presets."""
FREQUENCY = 0.35
"""Decides with 15 accesses who enters the vault (decision 32), so it stays in the narrow search."""
CONFIDENCE = 0.20
"""What was said in a conversation is equally sure: the data cannot tell this weight, so it stays."""
LEAST_RECENCY = 0.10
"""Without it the value of what nobody asks for would not fall, and tiers would tell nothing about age."""
STEP = 0.05
HEAD = 300
"""Characters of a message that are embedded: an assistant's long replies would cost minutes."""


@dataclass(frozen=True)
class Measured:
    """The messages of one conversation at its end, and what was asked for."""

    set: str
    name: str
    parts: Array  # shape [messages, parts]
    tokens: Array
    asked: Array  # the share of the test questions' evidence that each message is


class Heads(Kept):
    """An embedder that reads the beginning of each text."""

    def embed(self, texts: Sequence[str], *, purpose: Any) -> list[bytes]:
        """Return one vector for each text."""
        return super().embed([text[:HEAD] for text in texts], purpose=purpose)


def measured(title: str, chat: Chat, embedder: Kept) -> list[Measured]:
    """Take a conversation in, and return its messages a day after the last one, under each condition."""
    past, test = halves(chat)
    clock = Clock()
    policy = {"gates": OPEN_GATES, "use": {"detect": False, "skip_echoes": False}}
    with perdure.open(":memory:", policy=policy, clock=clock, embedder=embedder) as memory:
        replayed(memory, clock, chat, past, feedback="access")
        found = all_memories(memory, chat.name)
        states, born = [m.state for m in found], memory.policy.worth
        never = [
            replace(s, access_count=0, access_mass=0.0, anchor_ms=s.created_ms, importance=getattr(born, s.sort))
            for s in states
        ]
        both = [_parts(Columns.of(some), memory.policy, to_instant(clock())) for some in (states, never)]
    place = {m.source: i for i, m in enumerate(found)}
    asked = np.zeros(len(found))
    for question in test:
        for source in question.evidence & place.keys():
            asked[place[source]] += 1 / len(question.evidence) / len(test)
    tokens = np.array([m.tokens for m in found], dtype=np.float64)
    return [Measured(title, chat.name, parts, tokens, asked) for parts in both]


def _parts(columns: Columns, policy: Policy, now: Instant) -> Array:
    parts = value_curve(columns, policy).parts(columns.days_since_anchor(now))
    return np.stack([parts[name] for name in PARTS], axis=1)


def kept(one: Measured, scores: Array) -> Array:
    """Return the share of the evidence that each row of scores keeps, shape [shares, rows]."""
    rank = np.argsort(-scores, axis=1, kind="stable")
    size, asked = one.tokens[rank].cumsum(axis=1), one.asked[rank]
    return np.stack([(asked * (size <= share * one.tokens.sum())).sum(axis=1) for share in SHARES])


def settings(*, narrow: bool) -> Array:
    """Return the weights that are tried, shape [settings, parts]: all, or those that fit the rest of the engine."""
    steps = round((1 - CONFIDENCE) / STEP)
    listed = [
        (f, u, CONFIDENCE / STEP, r, steps - f - u - r)
        for f, u, r in itertools.product(range(steps + 1), repeat=3)
        if f + u + r <= steps
    ]
    tried = np.array(listed) * STEP
    fits = np.isclose(tried[:, 0], FREQUENCY) & (tried[:, 3] > LEAST_RECENCY - STEP / 2)
    return tried[fits] if narrow else tried


def baselines(one: Measured) -> Mapping[str, Array]:
    """Return way -> a score of each message."""
    chance = random.Random(one.name)
    return {
        "any": np.array([chance.random() for _ in one.tokens]),
        "newest": one.parts[:, PARTS.index("recency")],
        "longest": one.tokens,
        "shortest": -one.tokens,
        "importance alone": one.parts[:, PARTS.index("importance")],
        "value without importance": one.parts @ np.array(PLAIN),
    }


def left_out(found: Sequence[Sequence[Measured]], tried: Array) -> list[int]:
    """Return for each conversation the setting that is best for all others, both conditions and shares together."""
    gains = [np.mean([kept(one, tried @ one.parts.T) for one in pair], axis=(0, 1)) for pair in found]
    return [int(_by_set(found, gains, besides=i).argmax()) for i in range(len(found))]


def _by_set(found: Sequence[Sequence[Measured]], gains: Sequence[Array], besides: int) -> Array:
    sets: dict[str, list[Array]] = defaultdict(list)
    for i, (pair, gain) in enumerate(zip(found, gains, strict=True)):
        if i != besides:
            sets[pair[0].set].append(gain)
    return np.asarray(np.mean([np.mean(values, axis=0) for values in sets.values()], axis=0))


def told(values: Sequence[float]) -> str:
    """Return a mean in percent with its standard error over conversations."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{100 * statistics.mean(values):.1f} ± {100 * error:.1f}"


def table(found: Sequence[Sequence[Measured]]) -> str:
    """Return what each way keeps, by condition, set and share, as Markdown."""
    figures: dict[tuple[str, str, str], list[Array]] = defaultdict(list)
    for narrow in (False, True):
        tried = settings(narrow=narrow)
        chosen = left_out(found, tried)
        way = f"chosen on the others{', narrow' if narrow else ''}"
        for pair, choice in zip(found, chosen, strict=True):
            for condition, one in zip(CONDITIONS, pair, strict=True):
                figures[condition, way, one.set].append(kept(one, tried[[choice]] @ one.parts.T)[:, 0])
        times = {tuple(tried[c].round(2).tolist()): chosen.count(c) for c in set(chosen)}
        print(f"{way}: {', '.join(f'{weights} {n} times' for weights, n in times.items())}", file=sys.stderr)
    for pair in found:
        for condition, one in zip(CONDITIONS, pair, strict=True):
            for way, score in baselines(one).items():
                figures[condition, way, one.set].append(kept(one, score[None])[:, 0])
    sets = list(dict.fromkeys(pair[0].set for pair in found))
    lines = []
    for condition in CONDITIONS:
        heads = [f"{name} {share:.0%}" for name in sets for share in SHARES]
        lines += [f"| {condition} | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
        for way in dict.fromkeys(w for c, w, _ in figures if c == condition):
            cells = [told([float(v[i]) for v in figures[condition, way, s]]) for s in sets for i in range(len(SHARES))]
            lines.append(f"| {way} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Measure, choose and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--each", type=int, default=9, help="conversations of each set")
    each = options.parse_args().each
    embedder = Heads()
    sets = {**evaluation_chats(), "BEAM": beam.chats({"user", "assistant"}, *BEAM[:2])}
    found = []
    for title, chats in sets.items():
        for chat in chats[:each]:
            found.append(measured(title, chat, embedder))
            print(f"  {title} {chat.name}", file=sys.stderr, flush=True)
    print(table(found))


if __name__ == "__main__":
    main()
