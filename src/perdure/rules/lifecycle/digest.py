"""Choosing what stays in view: value per token with diversity, within a budget, one line for each memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from perdure.records.digest import Digest
from perdure.records.memory import Kind, MemoryItem, Tier
from perdure.records.policy import Policy
from perdure.records.vector import Vector
from perdure.rules.escaping import label, markdown_line
from perdure.rules.language.sentences import sentences
from perdure.rules.source_trust import display_text

BEGIN: Final = "<!-- perdure:begin -->"
END: Final = "<!-- perdure:end -->"
LONGEST_LINE: Final = 280

ATTENTION: Final = 60
"""What a line costs beside its tokens, in tokens: a reader's attention. Without it the shortest small talk wins."""

ASSERTED: Final = 80
"""Bytes of sentences that are no questions with which a message says enough to count in full."""
SLIGHT: Final = 0.5
"""What a message that asserts nothing counts for: a question, a greeting."""
_ASKS: Final = ("?", "？")  # noqa: RUF001  # the full-width mark is meant
_READ: Final = 4000
"""Characters of a message that are looked at for what it asserts."""

EVER_USED: Final = 0.3
FULL_ACCESSES: Final = 20
PINNED: Final = 10.0

GROUPS: Final = ("Pinned", "Lasting", "Now", "Recent", "Earlier")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a profile allows; None means no limit of that sort."""

    tokens: int | None = None
    lines: int | None = None
    characters: int | None = None
    bytes: int | None = None


PROFILES: Final[dict[str, Limits]] = {
    "tokens": Limits(tokens=2000),
    "claude-code": Limits(lines=200, bytes=25_000),
    "hermes": Limits(characters=2200),
    "openclaw": Limits(characters=20_000),
}


def build_digest(
    memories: Sequence[MemoryItem],
    vectors: Mapping[str, Vector],
    policy: Policy,
    *,
    tokens: Callable[[str], int],
    exact: bool,
    namespace: str,
    budget_tokens: int | None,
    profile: str | None,
) -> Digest:
    """Return the digest of some visible memories, whose signals are current.

    ``vectors`` (id -> unit vector) are for diversity, and may lack some. ``tokens`` counts tokens, ``exact`` says
    whether exactly. ``profile``, and ``budget_tokens`` for the profile ``tokens``, override the policy.
    """
    name = profile or ("tokens" if budget_tokens is not None else policy.digest.profile)
    limits = PROFILES[name]
    if name == "tokens":
        limits = Limits(tokens=budget_tokens if budget_tokens is not None else policy.digest.budget_tokens)
    title = namespace if limits.tokens is None or tokens(render([], {}, namespace)) * 2 <= limits.tokens else ""
    budget = _Budget(limits, tokens, title)
    lines = {m.id: _line(m) for m in memories}
    ordered = _by_worth(memories, lines, vectors, tokens, policy.digest.diversity)
    chosen = [m for m in ordered if budget.takes(lines[m.id], _group(m))]
    text = render(chosen, lines, title)
    shown = tuple(m.id for group in GROUPS for m in _in_order(chosen, group))
    return Digest(text, shown, tokens(text), exact, name)


def render(memories: Sequence[MemoryItem], lines: Mapping[str, str], namespace: str) -> str:
    """Return the Markdown: a heading, then groups in the order of importance."""
    out = [BEGIN, f"# Memory ({label(namespace)})" if namespace else "# Memory"]
    for group in GROUPS:
        members = _in_order(memories, group)
        if members:
            out += ["", f"## {group}", *(lines[m.id] for m in members)]
    return "\n".join([*out, END]) + "\n"


def _in_order(memories: Sequence[MemoryItem], group: str) -> list[MemoryItem]:
    return sorted((m for m in memories if _group(m) == group), key=lambda m: (-_worth(m), m.id))


def _group(memory: MemoryItem) -> str:
    if memory.pinned:
        return "Pinned"
    return {Tier.VAULT: "Lasting", Tier.HOT: "Now", Tier.WARM: "Recent", Tier.COLD: "Earlier"}[memory.tier]


def _line(memory: MemoryItem) -> str:
    """One line: who and when for what was said, the words, the id in a comment that the words cannot break out of."""
    speaker = memory.speaker if memory.kind is Kind.EPISODE else None
    text = markdown_line(display_text(memory.content, memory.metadata, speaker, LONGEST_LINE))
    said = f"{memory.created_at:%Y-%m-%d}, {label(speaker)}: " if speaker else ""
    return f"- {said}{text} <!-- {label(memory.id)} -->"


def _worth(memory: MemoryItem) -> float:
    """Value now, plus what was ever asked for: value forgets old accesses within weeks, a digest must not.

    Of a message so much as it asserts.
    """
    ever = math.log1p(memory.access_count) / math.log1p(FULL_ACCESSES)
    worth = memory.value + EVER_USED * min(1.0, ever)
    if memory.kind is Kind.EPISODE:
        worth *= SLIGHT + (1.0 - SLIGHT) * assertion_share(memory.content)
    return worth + (PINNED if memory.pinned else 0.0)


def assertion_share(text: str) -> float:
    """Return how much a message asserts, 0 to 1: a question asks and a thank-you is short, so they say little.

    Counted in bytes, because a character of some scripts is a word of others.
    """
    text = text[:_READ]
    parts = (text[start:end] for start, end in sentences(text))
    told = sum(len(part.encode("utf-8", "replace")) for part in parts if not part.endswith(_ASKS))
    return min(1.0, told / ASSERTED)


def _by_worth(
    memories: Sequence[MemoryItem],
    lines: Mapping[str, str],
    vectors: Mapping[str, Vector],
    tokens: Callable[[str], int],
    diversity: float,
) -> list[MemoryItem]:
    """Return all memories in the order in which they are taken: pinned first, then value per token, twins held back."""
    if not memories:
        return []
    cost = np.array([tokens(lines[m.id]) + ATTENTION for m in memories], dtype=np.float64)
    value = np.array([_worth(m) for m in memories])
    dimensions = next((len(v) // 4 for v in vectors.values()), 0)
    matrix = np.array(
        [np.frombuffer(vectors[m.id], "<f4") if m.id in vectors else np.zeros(dimensions) for m in memories],
        dtype=np.float32,
    )
    likeness = np.zeros(len(memories))
    left = np.ones(len(memories), dtype=np.bool_)
    order: list[MemoryItem] = []
    for _ in memories:
        worth = np.where(left, value * (1.0 - diversity * likeness) / cost, -np.inf)
        best = int(np.argmax(worth))
        left[best] = False
        order.append(memories[best])
        if dimensions:
            likeness = np.maximum(likeness, np.clip(matrix @ matrix[best], 0.0, 1.0))
    return order


class _Budget:
    """What is left of a profile's budget. Lines are counted one by one, so the sum errs on the high side."""

    def __init__(self, limits: Limits, tokens: Callable[[str], int], namespace: str) -> None:
        self.limits, self.count = limits, tokens
        self.groups: set[str] = set()
        frame = render([], {}, namespace)
        self.used = self._size(frame)

    def _size(self, text: str) -> list[int]:
        return [self.count(text), text.count("\n"), len(text), len(text.encode())]

    def takes(self, line: str, group: str) -> bool:
        """Take a line if it fits."""
        text = line + "\n" + ("" if group in self.groups else f"\n## {group}\n")
        after = [a + b for a, b in zip(self.used, self._size(text), strict=True)]
        caps = (self.limits.tokens, self.limits.lines, self.limits.characters, self.limits.bytes)
        if any(cap is not None and size > cap for size, cap in zip(after, caps, strict=True)):
            return False
        self.used = after
        self.groups.add(group)
        return True


def estimate_tokens(text: str) -> int:
    """Return an estimate of a text's tokens that errs high: one for every three bytes, at least one for each word."""
    return max(len(text.encode("utf-8", "replace")) // 3 + 1, len(text.split()))
