"""Answer sheets: whether the first line answers; on LoCoMo and BEAM how long, and whether the evidence is there.

Usage: python benchmarks/sheets.py. Every conversation is a namespace of its own, and every fourth question of LoCoMo
is asked. A turn that answers is on a sheet where it stands there itself or where a fact quotes it. Where a question of
LoCoMo names one of the two who speak, a fact is of another where that one is not its subject, and a message where it is
neither said by that one nor names that one: some of these answer, so none is no aim.

Whether the first statement of a sheet answers is asked of facts that are handed over in three languages
(benchmarks/labels/sheets.json). The first half of the questions was written before the code of the sheets was read, the
second half after that.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import beam
import locomo
import perdure
from chats import Chat, Kept, Question
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from perdure.knowledge.records.results import AnswerSheet, SheetEntry

ASKED = Path(__file__).with_name("labels") / "sheets.json"
SPRING = datetime(2026, 3, 20, tzinfo=UTC)
"""When the questions of that file are asked."""
SAMPLED = 4
LATER = datetime(2024, 9, 1, tzinfo=UTC)
"""When they are asked: after the last message of LoCoMo, and of BEAM, whose messages count as said now."""


@dataclass(frozen=True)
class Sheet:
    """What counts of one sheet."""

    evidence: float
    facts: int
    messages: int
    tokens: int
    other_facts: int | None
    other_messages: int | None


def facts_of(sheet: AnswerSheet) -> list[SheetEntry]:
    """Return the facts on a sheet, both sides of conflicts too."""
    sides = [s for group in sheet.contested for s in group]
    return [*sheet.known, *sheet.aging, *sheet.doubted, *sides, *sheet.outdated]


def measured(memory: perdure.Memory, chat: Chat, question: Question) -> Sheet:
    """Return what counts of the sheet of one question."""
    sheet = memory.answer_sheet(question.text, chat.name)
    facts = facts_of(sheet)
    ids = {s.id for s in sheet.memories} | {quote.memory for fact in facts for quote in fact.sources}
    turns = {kept.source for i in ids if (kept := memory.get(i)) is not None}
    speakers = {m.speaker for m in chat.messages if m.speaker}
    named = [s for s in speakers if s.casefold() in question.text.casefold()]
    of_others = None, None
    if len(named) == 1:
        who = named[0].casefold()
        said = [s for s in sheet.memories if who not in f"{s.sources[0].speaker} {s.says}".casefold()]
        of_others = sum(not f.says.casefold().startswith(f"{who}:") for f in facts), len(said)
    share = len(turns & question.evidence) / len(question.evidence)
    return Sheet(share, len(facts), len(sheet.memories), sheet.tokens, *of_others)


def rows(title: str, chats: list[Chat], every: int) -> list[Row]:
    """Return the means over the questions of some conversations."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "sheets.db"
        with perdure.open(store, {"preset": "facts"}, clock=lambda: LATER, embedder=Kept()) as memory:
            found: list[Sheet] = []
            for chat in chats:
                say(f"  {chat.name}: {len(chat.messages)} messages")
                memory.ingest(chat.messages, chat.name)
                found += [measured(memory, chat, question) for question in chat.questions[::every]]
    names = {
        "evidence": "share of the evidence",
        "facts": "lines of facts",
        "messages": "lines of other memories",
        "tokens": "tokens",
        "other_facts": "lines of facts about others",
        "other_messages": "lines of messages by and about others",
    }
    made = []
    for name, told in names.items():
        values = [value for s in found if (value := getattr(s, name)) is not None]
        if values:
            note = f"{len(values)} questions"
            made.append(Row(f"{title}, answer sheet, {told}", statistics.mean(values), "", note=note))
    return made


def opening(sheet: AnswerSheet) -> str:
    """Return the first line of a sheet that says something."""
    return next((line for line in sheet.text.splitlines() if line.startswith("- ")), "")


def first_lines(half: str) -> list[Row]:
    """Return the share of the questions whose sheet opens with what answers, by language."""
    made = []
    for language, some in json.loads(ASKED.read_text("utf-8")).items():
        days = [datetime.fromisoformat(told["at"]).replace(hour=9, tzinfo=UTC) for told in some["told"]]
        now = [SPRING]
        with perdure.open(":memory:", clock=lambda now=now: now[-1]) as memory:
            for day, told in zip(days, some["told"], strict=True):
                now.append(day)
                memory.remember(told["says"], facts=told.get("facts", ()))
            now.append(SPRING)
            said = [(opening(memory.answer_sheet(q["asks"])), q["answers"]) for q in some[half]]
        right = [any(one.casefold() in line.casefold() for one in answers) for line, answers in said]
        note = f"{len(right)} questions"
        made.append(
            Row(f"{language}, {half} half: the first line answers", 100 * statistics.mean(right), "%", note=note)
        )
    return made


def main() -> None:
    given = parser(__doc__).parse_args()
    measures = [("LoCoMo", locomo.chats(), SAMPLED), ("BEAM", beam.chats({"user"}), 1)]
    found = [row for half in ("first", "second") for row in first_lines(half)]
    finished(found + [row for measure in measures for row in rows(*measure)], as_json=given.json)


if __name__ == "__main__":
    main()
