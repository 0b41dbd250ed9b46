"""MEMORY.md: what holds, in sections, within a budget. Facts first, then rules, decisions and notes, then what is open.

One line for each memory, and one memory for each statement.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from typing import Final

import numpy as np

from perdure.formulas.products import products_with_one
from perdure.records.digest_marker import END_MARKER
from perdure.records.identifier import shown_id
from perdure.records.memory import MemoryItem
from perdure.records.policy import Policy
from perdure.records.recall import TextCaveats
from perdure.records.report import Digest
from perdure.records.signal_results import Question
from perdure.records.vector import Vector
from perdure.rules.escaping import label, markdown_line
from perdure.rules.last_said import said_at
from perdure.rules.lifecycle.digest_entries import (
    OPEN,
    SECTIONS,
    DigestEntry,
    by_topic,
    entries_of,
    is_meant_to_be_kept,
)
from perdure.rules.lifecycle.older_statements import find_older, vector_rows
from perdure.rules.lifecycle.said_already import nearly_says, repeats

BEGIN: Final = "<!-- perdure:begin -->"
END: Final = END_MARKER

ATTENTION: Final = 60
"""What a line costs beside its tokens, in tokens: a reader's attention. Without it the shortest lines win."""
QUESTIONS_SHARE: Final = 0.4  # most of a budget that open questions take


@dataclass(frozen=True, slots=True)
class ProfileLimits:
    """What a profile allows; None means no limit of that sort."""

    tokens: int | None = None
    lines: int | None = None
    characters: int | None = None
    bytes: int | None = None


PROFILES: Final[dict[str, ProfileLimits]] = {
    "tokens": ProfileLimits(tokens=2000),
    "claude-code": ProfileLimits(lines=200, bytes=25_000),
    "hermes": ProfileLimits(characters=2200),
    "openclaw": ProfileLimits(characters=20_000),
}


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a digest is made of."""

    memories: Sequence[MemoryItem]  # visible memories, with their whole texts and current signals
    vectors: Mapping[str, Vector] = field(default_factory=dict)  # id -> unit vector; may lack some
    questions: Sequence[Question] = ()  # what a person should be asked, the most valuable first
    said: bool = True  # whether what was merely said may be shown, too
    year: int | None = None  # days of this year are written short; None writes all as ISO dates
    asking: str = ""  # what is said above the questions
    over: Mapping[str, TextCaveats] = field(default_factory=dict)  # memory -> what of it holds no longer
    superseded: Collection[tuple[str, str]] = ()  # (later, earlier): the later one likely makes the other untrue
    by_number: bool = True  # whether another number of the same thing does, too: where no model judges statements
    noted: Sequence[MemoryItem] = ()  # facts that have no line, because notes say them
    sources: Mapping[str, Collection[str]] = field(default_factory=dict)  # fact -> the memories in view that say it
    today: date | None = None  # what holds from a later day on takes the place of nothing yet; appointments may be past


@dataclass(frozen=True, slots=True)
class ChosenEntries:
    """What fits into a budget, before it is rendered."""

    entries: Sequence[DigestEntry]
    asked: Sequence[Question]  # open questions
    asking: str  # what is said above them
    title: str  # the namespace, "" where there is no room for it
    tokens: int  # at most so many
    profile: str


def choose_entries(
    candidates: Candidates,
    policy: Policy,
    *,
    tokens: Callable[[str], int],
    namespace: str,
    budget_tokens: int | None,
    profile: str | None,
) -> ChosenEntries:
    """Return what the digest of some memories says.

    ``tokens`` counts tokens, on the high side of any tokenizer. ``profile``, and ``budget_tokens`` for the profile
    ``tokens``, override the policy.
    """
    name = profile or ("tokens" if budget_tokens is not None else policy.digest.profile)
    limits = _limits(name, budget_tokens, policy)
    title = namespace if limits.tokens is None or tokens(render([], (), namespace)) * 2 <= limits.tokens else ""
    budget = DigestBudget(limits, tokens, title, candidates.asking)
    questions = [q for q in candidates.questions if budget.takes(question_line(q), OPEN, share=QUESTIONS_SHARE)]
    later = {i for i, caveats in candidates.over.items() if caveats.begins}  # it takes the place of nothing yet
    older = find_older(
        [*(m for m in candidates.memories if m.id not in later), *candidates.noted],
        candidates.vectors,
        candidates.superseded,
        by_number=candidates.by_number,
        sources=candidates.sources,
        today=candidates.today,
    )
    entries = entries_of(
        candidates.memories,
        older,
        candidates.vectors,
        candidates.over,
        said=candidates.said,
        year=candidates.year,
        today=candidates.today,
    )
    sizes = {e.memory.id: tokens(e.measured_line) for e in entries}
    chosen = choose(by_worth(entries, candidates.vectors, sizes, policy.digest.diversity), sizes, budget)
    return ChosenEntries(chosen, questions, candidates.asking, title, budget.used[0], name)


def build_digest(chosen: ChosenEntries) -> Digest:
    """Return the digest that says what was chosen."""
    text = render(chosen.entries, chosen.asked, chosen.title, chosen.asking)
    placed = [entry for section in SECTIONS for entry in _of_section(chosen.entries, section)]
    shown = dict.fromkeys(i for entry in placed for i in (entry.memory.id, *entry.joined))
    shown |= dict.fromkeys(q.id for q in chosen.asked)
    return Digest(text, tuple(shown), chosen.tokens, chosen.profile, bool(chosen.asked))


def _limits(profile: str, budget_tokens: int | None, policy: Policy) -> ProfileLimits:
    if profile != "tokens":
        return PROFILES[profile]
    return ProfileLimits(tokens=budget_tokens if budget_tokens is not None else policy.digest.budget_tokens)


def choose(ordered: Iterable[DigestEntry], sizes: Mapping[str, int], budget: DigestBudget) -> list[DigestEntry]:
    """Return those of an order that fit into a budget, without those that say what one before them says.

    What is about the same thing as a newer entry that has no room has none either: alone it would pass for current.
    It is read until the shortest of those that follow is too long; a line that ``sizes`` says is too long by itself is
    not measured again.
    """
    chosen: list[DigestEntry] = []
    shortest = sorted(sizes, key=sizes.__getitem__, reverse=True)  # the shortest last
    seen, taken = set[str](), set[str]()
    for entry in ordered:
        left_out = (seen - taken).intersection(entry.newer)
        seen.add(entry.memory.id)
        if left_out:
            continue
        if budget.is_beyond(sizes[entry.memory.id]):
            while shortest and shortest[-1] in seen:
                shortest.pop()
            if not shortest or budget.is_beyond(sizes[shortest[-1]]):
                break
            continue
        if not budget.has_room(entry) or any(repeats(entry.memory, other.memory) for other in chosen):
            continue
        taken.add(entry.memory.id)
        if (shorter := _said_by(entry, chosen)) is None:
            budget.takes(entry.measured_line, entry.section, entry.day)
            chosen.append(entry)
        else:
            budget.exchange(chosen[shorter].measured_line, entry.measured_line)
            chosen[shorter] = entry
    return chosen


def _said_by(entry: DigestEntry, chosen: Sequence[DigestEntry]) -> int | None:
    """Return the place of a chosen line whose place an entry takes: it says all of that, and a word or two more."""
    return next(
        (
            at
            for at, other in enumerate(chosen)
            if (other.section, other.day) == (entry.section, entry.day)
            and not other.memory.pinned
            and nearly_says(other.memory, entry.memory)
        ),
        None,
    )


def render(entries: Sequence[DigestEntry], questions: Sequence[Question], namespace: str, asking: str = "") -> str:
    """Return the Markdown: a heading, then sections, in each what is about one thing together."""
    out = [BEGIN, f"# Memory ({label(namespace)})" if namespace else "# Memory"]
    for section in SECTIONS:
        body = [question_line(q) for q in questions] if section == OPEN else []
        body = [asking, *body] if body and asking else body
        body += _lines(_of_section(entries, section))
        if body:
            out += ["", f"## {section}", *body]
    return "\n".join([*out, END]) + "\n"


def _of_section(entries: Sequence[DigestEntry], section: str) -> list[DigestEntry]:
    """Return the entries of a section in their order: what stands below its day by days, the newest first."""
    own = [entry for entry in entries if entry.section == section]
    below = sorted((e for e in own if e.day), key=lambda e: (-said_at(e.memory.state), e.memory.id))
    return [*by_topic([entry for entry in own if not entry.day]), *below]


def _lines(entries: Sequence[DigestEntry]) -> Iterator[str]:
    for day, same in groupby(entries, key=lambda entry: entry.day):
        if day:
            yield f"{day}:"
        yield from (entry.line for entry in same)


def question_line(question: Question) -> str:
    """Return the line of what a person should be asked."""
    return f"- {markdown_line(question.question)} [{label(shown_id(question.id))}]"


def by_worth(
    entries: Sequence[DigestEntry], vectors: Mapping[str, Vector], sizes: Mapping[str, int], diversity: float
) -> Iterator[DigestEntry]:
    """Yield entries in the order in which they are taken: pinned first, then by worth per token, duplicates late.

    What somebody meant to be kept comes before what was only said. Before one stand newer ones about the same thing.
    """
    cost = np.array([sizes[e.memory.id] + ATTENTION for e in entries], dtype=np.float64)
    value = np.array([e.worth for e in entries])
    matrix = vector_rows([e.memory.id for e in entries], vectors)
    places = {entry.memory.id: at for at, entry in enumerate(entries)}
    newer = [[places[i] for i in entry.newer if i in places] for entry in entries]
    likeness = np.zeros(len(entries))
    remaining = np.ones(len(entries), dtype=np.bool_)
    meant = np.array([is_meant_to_be_kept(e.memory) and not e.passed for e in entries], dtype=np.bool_)
    for _ in entries:
        first = remaining & meant
        worth = np.where(first if first.any() else remaining, value * (1.0 - diversity * likeness) / cost, -np.inf)
        best = int(np.argmax(worth))
        while ahead := [at for at in newer[best] if remaining[at]]:
            best = max(ahead, key=lambda at: (said_at(entries[at].memory.state), entries[at].memory.id))
        remaining[best] = False
        yield entries[best]
        if matrix is not None:  # else nothing is like anything
            likeness = np.maximum(likeness, np.clip(products_with_one(matrix, matrix[best]), 0.0, 1.0))


class DigestBudget:
    """What is left of a profile's budget. Lines are counted one by one, so the sum errs on the high side."""

    def __init__(self, limits: ProfileLimits, tokens: Callable[[str], int], namespace: str, asking: str = "") -> None:
        self.caps = (limits.tokens, limits.lines, limits.characters, limits.bytes)
        self.count = tokens
        self.fixed_tokens = tokens("")  # an estimate adds them once to a text, and the whole is one text
        self.asking = f"{asking}\n" if asking else ""
        self.headings: set[str] = set()
        self.used = self._size(render([], (), namespace))
        self.used[0] += self.fixed_tokens

    def _size(self, text: str) -> list[int]:
        return [self.count(text) - self.fixed_tokens, text.count("\n"), len(text), len(text.encode())]

    def is_beyond(self, tokens: int) -> bool:
        """Whether a line of so many tokens is too long, whatever else it needs."""
        return self.caps[0] is not None and self.used[0] + tokens > self.caps[0]

    def has_room(self, entry: DigestEntry) -> bool:
        """Whether an entry fits."""
        return self._after(entry.measured_line, self._new_headings(entry.section, entry.day), 1.0) is not None

    def takes(self, line: str, section: str, day: str = "", share: float = 1.0) -> bool:
        """Take a line if it fits, with the headings that it needs, within a share of the whole budget."""
        missing = self._new_headings(section, day)
        after = self._after(line, missing, share)
        if after is None:
            return False
        self.used = after
        self.headings.update(missing)
        return True

    def exchange(self, line: str, other: str) -> None:
        """Take a line that fits in the place of one that was taken."""
        gained = zip(self.used, self._size(f"{other}\n"), self._size(f"{line}\n"), strict=True)
        self.used = [used + new - old for used, new, old in gained]

    def _new_headings(self, section: str, day: str) -> list[str]:
        needed = [f"\n## {section}\n{self.asking if section == OPEN else ''}", *([f"{day}:\n"] if day else [])]
        return [heading for heading in needed if heading not in self.headings]

    def _after(self, line: str, headings: Sequence[str], share: float) -> list[int] | None:
        """Return what is used with a line and headings; None if that is too much."""
        text = "".join([*headings, line, "\n"])
        after = [a + b for a, b in zip(self.used, self._size(text), strict=True)]
        over = any(cap is not None and size > cap * share for size, cap in zip(after, self.caps, strict=True))
        return None if over else after
