"""One line of MEMORY.md for a memory: whole sentences that say something, the date behind "yesterday", a short id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Final

from perdure.records.identifier import shown_id
from perdure.records.memory import MESSAGE_SORTS, Kind, MemoryItem, Sort
from perdure.records.recall import TextCaveats
from perdure.rules.escaping import label, markdown_line
from perdure.rules.language.first_day import first_day
from perdure.rules.language.markdown import inline
from perdure.rules.language.relative_days import resolve_days
from perdure.rules.language.replaced_values import content_words
from perdure.rules.language.sentences import as_sentence, sentences
from perdure.rules.language.words import has_name
from perdure.rules.last_said import told_on
from perdure.rules.lasting import is_instruction, without_redacted
from perdure.rules.meaning_guard import anchors
from perdure.rules.source_trust import display_text
from perdure.rules.worth import ends_with_question, find_requests, is_small_talk, sort_of

LONGEST_LINE: Final = 280  # characters of the words of a line; of a longer text those first sentences that fit
_LONGEST_SENTENCE: Final = 400
_MOST_OVER: Final = 3
_ALL_HOLDS: Final = TextCaveats()
_DOUBT: Final = " (a later message may say otherwise)"
_HEAD: Final = 4000  # characters of a message that are read
_MARK: Final = "[redacted: "
_WORDS_OF_A_SECRET: Final = 3  # that say whose it is: "test database password"
_ENDS_WITH_ITS_LINE: Final = re.compile(r"(?<![.!?])[\w`%)\]]\Z")
"""An item of a list, a command and the like: no mark ends them."""


@lru_cache(maxsize=4096)
def _sort_of(text: str, speaker: str) -> Sort:
    return sort_of(text, speaker)[0]


def sort_of_memory(memory: MemoryItem) -> Sort:
    """Return what a message does, also of one that was stored before messages had sorts; of all else its sort."""
    if memory.kind is not Kind.EPISODE or memory.state.sort in MESSAGE_SORTS:
        return memory.state.sort
    return _sort_of(memory.content, memory.speaker or "user")


def render_line(
    memory: MemoryItem,
    shown: Sequence[str] = (),
    left_out: Sequence[tuple[int, int]] = (),
    year: int | None = None,
    *,
    bare: bool = False,
    over: TextCaveats = _ALL_HOLDS,
    passed: date | None = None,
) -> str:
    """Return the line of a memory; "" of one that has nothing to say in whole sentences.

    Where no sentences are ``shown``, all that tell something are, without what holds no longer, ``left_out``. A day of
    this ``year`` is written short ("6 Mar"); None writes an ISO date. A ``bare`` line has neither day nor id: it stands
    below its day. An appointment that is over since a day, ``passed``, is called past.
    """
    is_kept = memory.pinned or memory.access_count > 0 or memory.kind is not Kind.EPISODE
    text = _remaining_words(
        memory.content[:_HEAD],
        None if memory.kind is Kind.FACT else sort_of_memory(memory),
        memory.created_at.date(),
        tuple(shown),
        tuple(left_out),
        is_message=memory.kind is Kind.EPISODE,
        is_kept=is_kept,
    )
    if not text:
        return ""
    is_others = memory.kind is Kind.EPISODE and (has_name(memory.speaker) or not _is_users(memory.speaker))
    speaker = memory.speaker if is_others else None
    words = markdown_line(display_text(text, memory.metadata, speaker, _LONGEST_SENTENCE))
    who = f"{label(speaker)}: " if speaker else ""
    for remark, texts, end in (
        ("no longer holds: ", over.remarks, ""),
        ("conflicts with ", over.against, " - undecided"),
    ):
        if texts:
            more = f" and {len(texts) - _MOST_OVER:,} more" if texts[_MOST_OVER:] else ""
            words += f" ({remark}{', '.join(map(label, texts[:_MOST_OVER]))}{more}{end})"
    if over.begins and first_day(memory.content, memory.created_at.date()) is None:
        words += f" (from {over.begins})"
    for each in over.interrupted[:_MOST_OVER]:
        words += f" ({each.days}{f': {label(each.content)}' if each.content else ''})"
    if passed is not None:
        words += f" (past: {passed.isoformat()})"
    if over.doubted and not (over.remarks or over.against or over.interrupted):
        words += _DOUBT
    if bare:
        return f"- {who}{words}"
    return f"- {who}{words} ({day_of(told_on(memory), year)}) [{label(shown_id(memory.id))}]"


def day_of(at: datetime, year: int | None) -> str:
    """Return a day: short within a year ("6 Mar"), or with its year; an ISO date where no year is given."""
    if year is None:
        return at.date().isoformat()
    return f"{at.day} {at:%b}" if at.year == year else f"{at.day} {at:%b} {at.year}"


@lru_cache(maxsize=4096)  # a file and a page are rewritten with most of their lines as they were
def _remaining_words(
    text: str,
    sort: Sort | None,
    day: date,
    shown: tuple[str, ...],
    left_out: tuple[tuple[int, int], ...],
    *,
    is_message: bool,
    is_kept: bool,
) -> str:
    """Return what a memory says, in whole sentences of at most ``LONGEST_LINE`` characters; "" if there are none.

    Questions and polite words of a message are left out, and the words "please remember that". A note that is longer
    than a line and has no sentence that fits is cut, because somebody wrote it down, and so is a message that somebody
    pinned or that was recalled. ``text`` is its beginning; ``sort`` is None for a fact, which says all of its text.
    Where no sentences are ``shown``, all that tell something are. "Yesterday" is the day before ``day``.
    """
    for start, end in sorted(left_out, reverse=True):
        text = text[:start] + text[end:]
    if sort is None:
        return text
    parts = [text[start:end] for start, end in sentences(text)]
    if is_message:
        requests = find_requests(text) if sort is Sort.REQUEST else []
        parts = [request.content for request in requests] or telling_sentences(parts)
    line = _fit(shown if shown and not left_out else parts)
    if not line and is_kept:
        line = text
    return resolve_days(as_sentence(line), day) if line else ""


def telling_sentences(parts: Iterable[str]) -> list[str]:
    """Return the sentences that tell something: no code, no question, nothing to be done once, no polite words."""
    statements = [p for p in parts if not p.startswith("```") and not ends_with_question(p)]
    return [p for p in statements if not (is_small_talk(p) or is_instruction(p))]


def says_only_a_secret(text: str) -> bool:
    """Return whether a text only says that there is a secret, replaced by now: "The mail password is ...".

    Each of its sentences ends with one, and names, numbers and denies nothing in the few words before it.
    """
    if _MARK not in text:
        return False
    return all(_is_of_a_secret(text[start:end]) for start, end in sentences(text[:_HEAD]))


def _is_of_a_secret(sentence: str) -> bool:
    before, found, after = sentence.rpartition(_MARK)
    rest = without_redacted(before)
    is_last = bool(found) and not any(map(str.isalnum, after.partition("]")[2]))
    return is_last and len(content_words(rest)) <= _WORDS_OF_A_SECRET and anchors(rest) == anchors("")


def _fit(parts: Sequence[str]) -> str:
    """Return the first sentences that fit into a line; the first alone may be somewhat longer."""
    if not parts or len(parts[0]) > _LONGEST_SENTENCE:
        return ""
    line = ""
    for part in filter(None, map(inline, parts)):
        longer = f"{line}{'; ' if _ENDS_WITH_ITS_LINE.search(line) else ' '}{part}".lstrip()
        if line and len(longer) > LONGEST_LINE:
            break
        line = longer
    return line


def _is_users(speaker: str | None) -> bool:
    return speaker is None or speaker.lower() in {"user", "human"}
