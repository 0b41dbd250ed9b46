"""Which facts later statements put in doubt: what says them likely is untrue since, or their value was replaced.

Nothing is decided about such a fact: it is marked, and stands behind the later statement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from perdure.records.memory import Kind, MemoryItem, Record, Status
from perdure.records.patterns import lazy_pattern
from perdure.records.vector import Vector
from perdure.rules.language.clauses import clauses
from perdure.rules.language.other_subjects import may_replace
from perdure.rules.language.replaced_values import ReplacedValue, content_words, replaced_values, returned_values
from perdure.rules.language.words import CALENDAR
from perdure.rules.last_said import said_at
from perdure.rules.source_trust import is_trusted, stored_trust

Pair = tuple[str, str]  # (later, earlier): the ids of a statement and of what it puts in doubt
_ABOUT_ONE_THING: Final = 0.5  # from this cosine on, as for statements (rules/lifecycle/older_statements.py)
_VERSION: Final = lazy_pattern(r"v?(\d+)(?:\.\d+)+")
_ALIKE: Final = 0.65  # from this cosine on a statement without a word of what is said of a fact speaks of that
_DENIED: Final = "not "  # how the value of a denied fact begins


class _FactText(NamedTuple):
    """The words of a fact: "tidewatch: web framework: Flask"."""

    subject: frozenset[str]
    predicate: frozenset[str]
    value: frozenset[str]


def _parse_fact(content: str) -> _FactText:
    subject, _, rest = content.partition(": ")
    predicate, _, value = rest.partition(": ")
    if value.startswith(_DENIED):  # who replaces the value says the same
        value = ""
    return _FactText(content_words(subject), content_words(predicate), content_words(value))


def doubted_by(
    fact: Record,
    sources: Sequence[Record],
    later: Mapping[str, Sequence[Record]],
    others: Sequence[str],
    vectors: Mapping[str, Vector],
) -> set[str]:
    """Return the statements in view that put a fact in doubt: they likely make untrue all in view that says it.

    Each must be as late as the fact was last said, and speak of what the source says of this fact.

    Args:
        fact: A fact that is believed.
        sources: The notes and messages that say it.
        later: Of each of them the statements that likely make it untrue; it may have none.
        others: The words of the other facts that the same sources say.
        vectors: Those of the sources and the statements, by id; may lack some.
    """
    sources = [s for s in sources if s.state.status is Status.ACTIVE] or sources
    found: set[str] = set()
    for source in sources:
        own = {
            r.id
            for r in later.get(source.id, ())
            if r.state.status is Status.ACTIVE
            and said_at(r.state) >= said_at(fact.state)
            and _speaks_of(r, fact.content.text, source, others, vectors)
        }
        if not own:
            return set()
        found |= own
    return found


def _speaks_of(
    statement: Record, fact: str, source: Record, others: Iterable[str], vectors: Mapping[str, Vector]
) -> bool:
    """Return whether a statement speaks of a fact, and not rather of what else its source says.

    It has a word of what the source says of the fact, gives another version, or is alike in meaning: "Heron now deploys
    from the branch release" leaves its database as it is. "FastAPI instead of Flask" leaves the database of "tidewatch
    uses Flask and stores readings in SQLite" as it is, too.
    """
    own = _parse_fact(fact)
    told = content_words(statement.content.text) - own.subject
    parts = [content_words(clause) for clause in clauses(source.content.text)]
    is_named = any(own.value <= part for part in parts)
    mine = frozenset(own.predicate | own.value).union(*(part for part in parts if own.value <= part))
    besides = [part for part in parts if is_named and not own.value <= part]
    besides += [other.predicate | other.value for other in map(_parse_fact, others)]
    common = len(told & mine)
    if not common and _versions(told).isdisjoint(_versions(own.value)):
        return _cosine(statement.id, source.id, vectors) >= _ALIKE and not any(told & words for words in besides)
    return common >= max((len(told & words) for words in besides), default=0)


def _versions(words: Iterable[str]) -> set[tuple[str, int]]:
    """Return of each version among some words its first number and its points: 1.30 may follow 1.29, not 10.4.8.0."""
    found = (_VERSION.fullmatch(word) for word in words)
    return {(match[1], match[0].count(".")) for match in found if match}


def facts_replaced(
    facts: Iterable[MemoryItem],
    statements: Sequence[MemoryItem],
    vectors: Mapping[str, Vector],
    sources: Mapping[str, Collection[str]],
    alike: Collection[Pair],
) -> set[Pair]:
    """Return facts whose value a later statement names as replaced, each as (later, fact).

    The two must be about one thing: have another word in common, be alike in meaning, or the statement is about one
    thing with what says the fact. Numbers and days are values of many things: there only a word of what the fact is of
    will do. What holds again since is not replaced.

    Args:
        facts: Facts; only those that are believed count.
        statements: What people said, and notes.
        vectors: Vectors by id; may lack some.
        sources: Fact -> the notes and messages that say it.
        alike: Pairs of statements that are about one thing.
    """
    known = defaultdict[frozenset[str], list[tuple[MemoryItem, _FactText]]](list)
    for fact in facts:
        text = _parse_fact(fact.content)
        if text.value and fact.kind is Kind.FACT and fact.status is Status.ACTIVE:
            known[text.value].append((fact, text))
    if not known:
        return set()
    texts = {m.id: m.content for m in statements}
    back = [(value.words, said_at(m.state)) for m in statements for value in returned_values(m.content)]
    return {
        (statement.id, fact.id)
        for statement, value in _trusted_replacements(statements)
        for fact, text in known.get(value.words, ())
        if said_at(fact.state) <= said_at(statement.state)
        and not _is_of_another(statement, value, [texts[i] for i in sources.get(fact.id, ()) if i in texts])
        and not any(words == value.words and at > said_at(statement.state) for words, at in back)
        and (
            _names_it(statement, value, text)
            or (
                _is_a_name(value)
                and (
                    _cosine(statement.id, fact.id, vectors) >= _ABOUT_ONE_THING
                    or any((statement.id, source) in alike for source in sources.get(fact.id, ()))
                )
            )
        )
    }


def _is_of_another(statement: MemoryItem, value: ReplacedValue, sources: Iterable[str]) -> bool:
    return not all(may_replace(source, statement.content, value) for source in sources)


def _trusted_replacements(statements: Iterable[MemoryItem]) -> Iterator[tuple[MemoryItem, ReplacedValue]]:
    for statement in statements:
        for value in replaced_values(statement.content) if is_trusted(stored_trust(statement.metadata)) else ():
            yield statement, value


def _names_it(statement: MemoryItem, value: ReplacedValue, fact: _FactText) -> bool:
    """Return whether a statement has a word of what a fact is about besides its value."""
    words = content_words(statement.content) - value.words - CALENDAR
    return not words.isdisjoint(fact.predicate | fact.subject if _is_a_name(value) else fact.predicate)


def _is_a_name(value: ReplacedValue) -> bool:
    return not any(word in CALENDAR or any(map(str.isdigit, word)) for word in value.words)


def _cosine(one: str, other: str, vectors: Mapping[str, Vector]) -> float:
    a, b = vectors.get(one), vectors.get(other)
    return float(np.frombuffer(a, "<f4") @ np.frombuffer(b, "<f4")) if a and b else 0.0


def facts_of_replaced(
    memories: Iterable[MemoryItem], sources: Mapping[str, Collection[str]], corrected: Mapping[str, str]
) -> set[Pair]:
    """Return facts of which all that says them has a value that a later statement names as replaced.

    Each as (later, fact). Where what says it has the fact's own value, too, another one was replaced: of "gateway on
    7001, worker on 7002" the first still holds when the worker moves.

    Args:
        memories: The facts, what says them, and the statements.
        sources: Fact -> the notes and messages that say it.
        corrected: Note or message -> the statement that names its value as replaced.
    """
    over = {fact: some for fact, some in sources.items() if some and corrected.keys() >= set(some)}
    texts = {m.id: m.content for m in memories} if over else {}
    return {
        (corrected[source], fact)
        for fact, some in over.items()
        for source in some
        if not _has_another_value(texts.get(fact, ""), texts.get(source, ""), texts.get(corrected[source], ""))
    }


def _has_another_value(fact: str, source: str, statement: str) -> bool:
    """Return whether a source has the value of its fact, and a statement names none of its words as replaced.

    Of values with numbers these count: "6 racks" is not "4 racks".
    """
    value = _parse_fact(fact).value
    named = frozenset[str]().union(*(replaced.words for replaced in replaced_values(statement)))
    numbers = frozenset(word for word in value if any(map(str.isdigit, word)))
    return bool(value) and value <= content_words(source) and named.isdisjoint(numbers or value)
