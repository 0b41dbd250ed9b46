"""Lines of MEMORY.md that say what several memories say: which may be joined, and which sentence may stand for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from perdure.records.identifier import shown_id
from perdure.rules.escaping import label, markdown_line
from perdure.rules.language.replaced_values import content_words
from perdure.rules.last_said import told_on
from perdure.rules.lifecycle.digest_entries import OPEN, SECTIONS, DigestEntry, by_topic, topics
from perdure.rules.lifecycle.said_already import ECHO
from perdure.rules.meaning_guard import lost_meaning

_MOST: Final = 8  # so many lines are joined at most: a reader must still see which memory says what


@dataclass(frozen=True, slots=True)
class JoinedSentence:
    """A sentence that may stand for some lines."""

    text: str
    of: tuple[int, ...]  # the numbers of the lines, from 1


def joinable(entries: Sequence[DigestEntry]) -> list[list[DigestEntry]]:
    """Return the entries of one section about one thing, where there are several; none of what is open."""
    found = []
    for section in SECTIONS:
        own = by_topic([e for e in entries if e.section == section]) if section != OPEN else []
        for topic, same in groupby(zip(topics(own), own, strict=True), key=lambda pair: pair[0]):
            group = [entry for _, entry in same]
            found += [group[i : i + _MOST] for i in range(0, len(group), _MOST)] if topic else []
    return [group for group in found if len(group) > 1]


def numbered_lines(groups: Sequence[Sequence[DigestEntry]]) -> str:
    """Return the lines as a model is shown them: numbered from 1, a paragraph for each group."""
    numbers = iter(range(1, 1 + sum(map(len, groups))))
    return "\n\n".join("\n".join(f"{next(numbers)}. {words_of(entry)}" for entry in group) for group in groups)


def words_of(entry: DigestEntry) -> str:
    """Return what a line says, without its day and its id."""
    return entry.line[2:].rpartition(" (")[0]


def proposed_sentences(reply: Any) -> Iterator[JoinedSentence]:
    """Yield the sentences of a model's reply that name the lines they stand for."""
    sentences = reply.get("sentences") if isinstance(reply, dict) else None
    for entry in sentences if isinstance(sentences, list) else ():
        text, numbers = (entry.get("text"), entry.get("of")) if isinstance(entry, dict) else (None, None)
        if isinstance(text, str) and isinstance(numbers, list) and all(type(n) is int for n in numbers):
            yield JoinedSentence(" ".join(text.split()), tuple(dict.fromkeys(numbers)))


def join_entries(
    entries: Sequence[DigestEntry],
    groups: Sequence[Sequence[DigestEntry]],
    sentences: Sequence[JoinedSentence],
    tokens: Callable[[str], int],
) -> list[DigestEntry]:
    """Return entries, those joined by a sentence that may stand for them as one, in the place of the most valuable.

    A sentence may stand for lines of one group, each in one sentence only, if it says their numbers, dates, names,
    identifiers and negations and no other ones, nearly all of their words and hardly any other, in fewer tokens.
    """
    numbered = [(group, entry) for group, own in enumerate(groups) for entry in own]
    joined: dict[str, DigestEntry] = {}
    for sentence in sentences:
        if len(sentence.of) < 2 or not set(sentence.of) <= set(range(1, len(numbered) + 1)):  # noqa: PLR2004  # two lines
            continue
        members = [numbered[n - 1] for n in sentence.of]
        own = [entry for _, entry in members]
        line = _joined_line(sentence.text, own)
        once = len({group for group, _ in members}) == 1 and not any(e.memory.id in joined for e in own)
        shorter = tokens(line) < sum(tokens(e.line) for e in own) and len(line) < sum(len(e.line) for e in own)
        if once and shorter and _says_the_same(sentence.text, " ".join(map(words_of, own))):
            best = max(own, key=lambda e: e.worth)
            rest = tuple(e.memory.id for e in own if e is not best)
            joined |= dict.fromkeys((e.memory.id for e in own), replace(best, line=line, joined=rest))
    kept = (joined.get(entry.memory.id, entry) for entry in entries)
    return list({entry.memory.id: entry for entry in kept}.values())


def _says_the_same(text: str, joined: str) -> bool:
    """Return whether a text says what some lines say, and nothing else."""
    own, joined_words = content_words(text), content_words(joined)
    common = len(own & joined_words)
    return (
        not lost_meaning(joined, text)
        and not lost_meaning(text, joined)
        and common >= ECHO * max(len(own), len(joined_words))
    )


def _joined_line(text: str, entries: Sequence[DigestEntry]) -> str:
    """Return the line: the sentence, the first and the last day, the ids once, at the end."""
    days = sorted(f"{told_on(e.memory):%Y-%m-%d}" for e in entries)
    day = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    ids = " ".join(f"[{label(shown_id(e.memory.id))}]" for e in entries)
    return f"- {markdown_line(text)} ({day}) {ids}"
