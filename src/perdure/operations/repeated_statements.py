"""What else says what a note or message says: found by its words, whether or not anything links the two."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from perdure.operations.documents import find_records
from perdure.operations.ports import Context
from perdure.records.digests import same_words
from perdure.records.instant import HOUR_MS
from perdure.records.memory import Kind, Record, Status
from perdure.records.outcome import SayingMemory
from perdure.records.recall import Filters, Query
from perdure.rules.language.replaced_values import content_words
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import query_words, word_set
from perdure.rules.last_said import said_at
from perdure.rules.lifecycle.said_already import ECHO
from perdure.rules.meaning_guard import denies
from perdure.rules.worth import ends_with_question, find_requests

_ALIKE: Final = 20  # so many memories with words of one are looked at
_HEAD: Final = 2000  # characters that are compared
_MARKS: Final = ".,;:!?\"'()"
_ARTICLES: Final = word_set("a an the my our your")
"""Words by which a note often differs from the message that it was made of, and that say nothing of their own."""
_NOTED_WITHIN: Final = HOUR_MS  # whoever notes something down so soon after a message has it from there
_NOTED_SHARE: Final = 0.5  # then this share of the note's words is enough
_STEM: Final = 4  # letters that two forms of a word share
_LEAST_BESIDES: Final = 2  # words that a text has more than another and that say more
_NAMED: Final = 3  # memories that a reply names
_WORDS: Final = 200  # characters of each


def same_messages(ctx: Context, record: Record, *, hidden: bool = False) -> list[Record]:
    """Return the messages in view in which the same person says a note's words and nothing else, oldest first.

    "Please remember that" does not count, nor do articles and marks. A pinned message is left to its person. With
    ``hidden`` also messages that are hidden.
    """
    if record.state.kind is not Kind.NOTE:
        return []
    alike = (r for r in _alike(ctx, record, hidden=hidden) if r.state.kind is Kind.EPISODE and not r.state.pinned)
    found = [r for r in alike if _speaker(r) == _speaker(record) and _is_same_text(r.content.text, record.content.text)]
    return sorted(found, key=lambda r: (r.state.created_ms, r.id))


def say_the_same(ctx: Context, record: Record) -> tuple[tuple[SayingMemory, ...], int]:
    """Return the newest notes and messages in view that say what another one says, oldest first, and how many others.

    They say a fact, its facts, or nearly its words; a message that it was noted after needs fewer of them.
    """
    if record.state.kind is Kind.FACT:
        return ctx.extension.said_by(ctx, record)
    alike = {r.id: r for r in _alike(ctx, record) if not ends_with_question(r.content.text[:_HEAD])}
    says = ctx.extension.saying_facts_of(ctx, record, list(alike.values()))
    others = find_records(ctx, record.namespace, sorted(says.keys() - alike.keys()))
    text = record.content.text[:_HEAD]
    more = {r.id: _says_more(r.content.text, text) for r in alike.values() if _nearly_says(r, record)} | dict(says)
    found = [r for r in (*alike.values(), *others) if r.id in more and r.state.status is Status.ACTIVE]
    return newest(found, {i for i, besides in more.items() if besides})


def newest(saying: Iterable[Record], saying_more: Collection[str]) -> tuple[tuple[SayingMemory, ...], int]:
    """Return the newest of some memories as a reply names them, oldest first, and how many others there are."""
    ordered = sorted(saying, key=lambda r: (r.state.created_ms, r.id))
    return named(ordered[-_NAMED:], saying_more), len(ordered[:-_NAMED])


def named(records: Sequence[Record], saying_more: Collection[str] = ()) -> tuple[SayingMemory, ...]:
    """Return memories as a reply names them."""
    return tuple(SayingMemory(r.id, r.content.text[:_WORDS], r.id in saying_more) for r in records)


def _alike(ctx: Context, record: Record, *, hidden: bool = False) -> list[Record]:
    """Return the notes and messages in view, or also ``hidden`` ones, that share words with one and all may see."""
    text = record.content.text[:_HEAD]
    if record.state.kind not in (Kind.NOTE, Kind.EPISODE) or not (words := query_words(text)):
        return []
    filters = Filters(kinds=(Kind.NOTE, Kind.EPISODE), isolated=True, include_archived=hidden)
    search = ctx.policy.recall.for_limit(_ALIKE)
    pool = ctx.store.search(record.namespace, Query(" ".join(words), words), filters, search)
    return list(find_records(ctx, record.namespace, [i for i in pool.columns.ids if i != record.id]))


def _speaker(record: Record) -> str:
    """Return who says a memory, in small letters; a note that nobody in particular wrote is the user's."""
    speaker = (record.content.speaker or "user").casefold()
    return "user" if speaker == "human" else speaker


def _is_same_text(text: str, other: str) -> bool:
    if ends_with_question(text) != ends_with_question(other):  # who asks does not say it
        return False
    asked = find_requests(text) if len(text) <= _HEAD and len(sentences(text)) == 1 else ()
    return any(_words(words) == _words(other) for words in (text, *(request.content for request in asked)))


def _words(text: str) -> list[str]:
    """Return the words of a text in their order, without marks around them and articles."""
    return [word for one in same_words(text).split() if (word := one.strip(_MARKS)) and word not in _ARTICLES]


def _nearly_says(record: Record, other: Record) -> bool:
    """Return whether a memory has nearly all words of another one, and every number of it."""
    text, words = record.content.text[:_HEAD], content_words(other.content.text[:_HEAD])
    missing = words - content_words(text)
    before = said_at(other.state) - said_at(record.state)
    is_source = record.state.kind is Kind.EPISODE and 0 <= before <= _NOTED_WITHIN
    share = 1 - len(missing) / max(1, len(words))
    least = _NOTED_SHARE if is_source and not _has_another_word(missing, content_words(text) - words) else ECHO
    if share < least or any(any(map(str.isdigit, word)) for word in missing):
        return False
    return not denies(text, other.content.text[:_HEAD])


def _has_another_word(missing: Iterable[str], own: Iterable[str]) -> bool:
    """Return whether a text has words in the place of others, none in another form: "nuts" for "penicillin"."""
    stems, others = ({word[:_STEM] for word in words} for words in (missing, own))
    return bool(stems and others) and stems.isdisjoint(others)


def _says_more(text: str, other: str) -> bool:
    """Return whether a text has words besides those of another one, and besides others in the places of these."""
    said, known = content_words(text), content_words(other)
    return len(said - known) - len(known - said) >= _LEAST_BESIDES
