"""Print which questions a recall refuses to answer, and what it costs, at each threshold of ``recall.answer_chance``.

Usage: python training/abstention.py

Four kinds of questions are asked of each conversation. "Answered": it answers them, so refusing is wrong. "Another's":
questions of other conversations of the set. "Another's, with a name": those of them that name somebody, with a name of
this conversation in its place: between two people the other two speakers' names become these two's, elsewhere the
first name that this conversation does not have becomes the one that it has most often. "Unanswerable": our own
questions that nothing answers. Figures are percentages refused, with standard errors over conversations. Chances are
those that are shipped; training/relevance.py prints what they are where a conversation is left out of the fit.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import perdure
from evaluate import spread, table
from perdure.rules.language.words import has_name, names_in
from perdure.rules.ranking import pool_chance
from pools import FOREIGN, Chat, Kept, Question, evaluation_chats, searched_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
Chances = dict[str, list[tuple[str, float]]]
"""Kind of question -> conversation and chance of each."""


def speakers(chat: Chat) -> list[str]:
    """Return the speakers of a chat who have a name, the first to speak first."""
    return [name for name in dict.fromkeys(m.speaker for m in chat.messages) if name and has_name(name)]


def renamed(question: Question, theirs: Chat, mine: Chat) -> Question | None:
    """Return another chat's question with a name of this chat in place of one of its own; None if it names nobody."""
    new = dict(zip(speakers(theirs), speakers(mine), strict=False)) or _first_unknown(question.text, mine)
    found = [name for name in new if re.search(rf"\b{re.escape(name)}\b", question.text)]
    if not found:
        return None
    either = "|".join(map(re.escape, found))
    return replace(question, text=re.sub(rf"\b(?:{either})\b", lambda match: new[match[0]], question.text))


def _first_unknown(text: str, mine: Chat) -> dict[str, str]:
    known = Counter(name for message in mine.messages for name in names_in(message.content))
    named = names_in(text)
    unknown = [word for word in re.findall(r"\w+", text) if word.lower() in named and not known[word.lower()]]
    return {unknown[0]: known.most_common(1)[0][0].capitalize()} if unknown and known else {}


def strangers(listed: Sequence[Chat], chat: Chat) -> tuple[list[Question], list[Question]]:
    """Return some questions of other chats, and some of those that name somebody, with a name of this chat."""
    chance = random.Random(chat.name)
    every = [(question, other) for other in listed if other is not chat for question in other.questions]
    chance.shuffle(every)
    changed = (renamed(question, other, chat) for question, other in every)
    return [question for question, _ in every][:FOREIGN], [q for q in changed if q is not None][:FOREIGN]


def chances(name: str, listed: Sequence[Chat], embedder: Kept) -> Chances:
    """Return the chance that a conversation answers, of each kind of question."""
    found: Chances = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        perdure.open(Path(folder) / "store.db", policy={}, embedder=embedder) as memory,
    ):
        for chat in listed:
            memory.ingest(chat.messages, chat.name)
            plain, changed = strangers(listed, chat)
            searched = searched_in(memory, name, chat, [*plain, *changed])
            asked = [("answered" if one.evidence else "unanswerable", one) for one in searched.asked]
            asked += [("another's", one) for one in searched.foreign[: len(plain)]]
            asked += [("another's, with a name", one) for one in searched.foreign[len(plain) :]]
            for kind, one in asked:
                chance = pool_chance(one.pool) if one.pool.columns.ids else 0.0
                found.setdefault(kind, []).append((chat.name, chance))
        print(f"  {name}: {len(listed)} conversations", file=sys.stderr, flush=True)
    return found


def rows(found: Chances) -> Iterator[list[str]]:
    """Yield a line for each kind of question."""
    for kind in sorted(found):
        cells = [spread([(chat, float(chance < least)) for chat, chance in found[kind]]) for least in THRESHOLDS]
        yield [kind, str(len(found[kind])), *cells]


def main() -> None:
    embedder = Kept()
    for name, listed in evaluation_chats().items():
        head = [f"{name}: refused below", "questions", *map(str, THRESHOLDS)]
        table(head, list(rows(chances(name, listed, embedder))))


if __name__ == "__main__":
    main()
