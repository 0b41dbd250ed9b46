"""Which facts answer a question: those of whom it names that hold what it asks for; of others what names those."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.knowledge.extraction.entity_names import names_in, normal_name
from perdure.knowledge.extraction.lemmas import base_verb, singular
from perdure.knowledge.extraction.references import FIRST_PERSON
from perdure.knowledge.records.fact_results import FactLine
from perdure.knowledge.records.facts import Entity
from perdure.rules.language.words import query_words, word_set

MeaningOf = Callable[[Iterable[str]], frozenset[str]]
"""Words of a question -> words of the predicates that they may mean (``Registry.asked``)."""

_BESIDE: Final = 2
"""From this grade on a fact only stands beside the question."""
ANSWERS: Final = 0.25
"""A fact that holds so much of a question answers it (``relevance``)."""
_PART: Final = 0.5
"""Where a question names nobody, facts that hold less than this part of what the best one holds are left out."""
_OF_SPEAKER: Final = 0.15
"""What it counts that a fact is about whoever speaks, where the question says "my" or "I"."""
_MOST_WORDS: Final = 10
_MOST_ALSO: Final = 3
_MOST_NOUNS: Final = 3
_LONGEST_NAME: Final = 4
_ASKING: Final = word_set("""
    kind kinds type types sort many much long often ever likely tell say said mention mentioned describe know according
    regarding please
    """)
"""Words of how one asks, which no answer holds."""
_ASKED_IN_ENGLISH: Final = word_set("what which who whom whose when where why how do does did is are")
_OWN: Final = FIRST_PERSON - {"me", "us"}
"""Who says "tell me" asks about others."""
_SUBJECT: Final = word_set("i we")
_WORD: Final = re.compile(r"[^\W_]+")
_OWNED: Final = re.compile(r"['’]s?\s+((?:[^\W\d_][\w-]*\s+){0,2}[^\W\d_][\w-]*)\s*[?.!]*\s*\Z")  # noqa: RUF001  # typographic apostrophe


@dataclass(frozen=True, slots=True)
class SheetQuestion:
    """What a question asks for."""

    query: str  # as asked
    named: frozenset[str]  # the entities that it names; whom they stand for since a merge
    # facts of others are let on the sheet only where they name one of those: not in the first person, where nobody else
    # is named
    strict: bool
    forms: frozenset[str]  # normal forms of all names of those
    words: frozenset[str]  # what it asks for: stems of its words other than those names
    predicates: frozenset[str]  # words of the predicates that it may mean by others: "live" is a home
    speaker: str | None = None  # whoever speaks, where the question is in the first person
    beside: bool = False  # whether whoever speaks is asked about beside those whom it names: "Rita and I"


def parse_question(
    query: str, names: Mapping[str, Collection[str]], user: str | None, meant: MeaningOf
) -> SheetQuestion:
    """Return what a question asks for; the first person means ``user`` where nobody else is named."""
    forms = frozenset(form for some in names.values() for form in some)
    spoken = _WORD.findall(query.casefold())
    speaker = None if _OWN.isdisjoint(spoken) else user
    return SheetQuestion(
        query=query,
        named=frozenset(names) if names or speaker is None else frozenset([speaker]),
        strict=bool(names),
        forms=forms,
        words=stems(query) - stems(" ".join(f for f in forms if f in names_in(query))) - _ASKING,
        predicates=stems(" ".join(meant(query_words(query)))),
        speaker=speaker,
        beside=bool(names) and speaker is not None and not _SUBJECT.isdisjoint(spoken),
    )


def stems(text: str) -> frozenset[str]:
    """Return the words of a text that discriminate, as singulars and as base forms of verbs."""
    return frozenset(form for word in query_words(text) for form in (singular(word), base_verb(word)))


# --- facts


def answers(fact: FactLine, asked: SheetQuestion) -> bool:
    """Whether a fact holds what is asked for: in its predicate, its value, or the words that said it.

    Where the question names nobody, or only who speaks, words beside the value are no sign.
    """
    said = " ".join(words for _, words in fact.sources) if asked.strict else ""
    own = _predicate(fact) | stems(f"{fact.value} {said}")
    return not own.isdisjoint(asked.words) or not _predicate(fact).isdisjoint(asked.predicates)


def names_one(text: str, asked: SheetQuestion) -> bool:
    """Whether a text names one of those whom the question names."""
    return not asked.forms.isdisjoint(names_in(text))


def select_facts(
    believed: Sequence[FactLine], hits: Sequence[str], asked: SheetQuestion, held: Mapping[str, float]
) -> list[FactLine]:
    """Return the facts that belong on a sheet, best first, each with what contradicts it.

    Where the question names somebody: their facts that answer it; then those of others that name them and answer it.
    Only where there are none: what else recall found of the two, and last what it found of others that holds a word of
    the question in its value, unless it is under a predicate that is asked for: that is another one's answer. Where it
    names nobody: of what recall found, and of what answers, whatever holds at least half as much as the best.

    Args:
        believed: The facts about whom the question names, and about those whom recall found.
        hits: What recall found, best first.
        asked: What is asked for.
        held: Fact -> how much of the question it holds.
    """
    rank = {identity: place for place, identity in enumerate(hits)}
    grade = {f.id: found for f in believed if (found := _grade(f, f.id in rank, asked, held[f.id])) is not None}
    if asked.beside:  # "Rita and I": what she has, I may have
        shared = {f.predicate for f in believed if grade.get(f.id) == 0}
        grade |= {f.id: 1 for f in believed if f.subject == asked.speaker and f.predicate in shared}
    if asked.strict and min(grade.values(), default=_BESIDE) < _BESIDE:
        grade = {i: found for i, found in grade.items() if found < _BESIDE}
    if not asked.strict:
        held = {f.id: held[f.id] + _OF_SPEAKER * (f.subject == asked.speaker) for f in believed}
        best = max((held[i] for i in grade), default=0.0)
        grade = {i: 0 for i in grade if held[i] >= _PART * best}
    for fact in believed:  # a fact and what contradicts it stand or fall together
        for other in fact.contested:
            if fact.id in grade:
                grade[other] = min(grade[fact.id], grade.get(other, grade[fact.id]))
    there = [f for f in believed if f.id in grade]
    return sorted(there, key=lambda f: (grade[f.id], -held[f.id], rank.get(f.id, len(rank)), f.id))


def facts_of_others(
    believed: Sequence[FactLine], hits: Sequence[str], shown: Sequence[FactLine], asked: SheetQuestion
) -> list[FactLine]:
    """Return what recall found about others that holds what is asked for, where nothing about whom it names does."""
    if not asked.strict or any(answers(f, asked) for f in shown):
        return []
    rank = {identity: place for place, identity in enumerate(hits)}
    there = {f.id for f in shown}
    found = [f for f in believed if f.id in rank and f.id not in there and answers(f, asked)]
    return sorted(found, key=lambda f: rank[f.id])[:_MOST_ALSO]


def outdated_facts(
    over: Sequence[FactLine], shown: Sequence[FactLine], asked: SheetQuestion, *, everybody: bool | None = None
) -> list[FactLine]:
    """Return what is not believed any longer and belongs beside what is shown, or answers by itself; latest first.

    Args:
        over: The facts that are out of date.
        shown: The facts that are on the sheet.
        asked: What is asked for.
        everybody: Take what answers about anybody; else only about whom the question names. By the question if None.
    """
    wide = not asked.strict if everybody is None else everybody
    keys = {(f.subject, f.predicate) for f in shown}
    linked = {i for f in shown for i in (*f.supersedes, *f.superseded_by)}

    def belongs(f: FactLine) -> bool:
        own = wide or f.subject in asked.named or names_one(_fact_words(f), asked)
        return (f.subject, f.predicate) in keys or f.id in linked or (own and answers(f, asked))

    return sorted((f for f in over if belongs(f)), key=lambda f: (f.believed_to, f.valid_from, f.id), reverse=True)


def _grade(fact: FactLine, found: bool, asked: SheetQuestion, held: float) -> int | None:
    """Return how near a fact is to a question, 0 is nearest; None for one that does not belong on its sheet."""
    answer = held >= ANSWERS or answers(fact, asked)
    if not asked.strict:  # how much of the question each holds decides
        return 0 if found or fact.subject in asked.named or (answer and not asked.named) else None
    if fact.subject in asked.named:
        return 0 if answer else 2 if found else None
    if asked.beside and fact.subject == asked.speaker:
        return 1 if found and _is_asked_for(fact, asked) else None
    if names_one(_fact_words(fact), asked):
        return 1 if answer else 2 if found else None
    return 3 if found and not _is_asked_for(fact, asked) and not stems(fact.value).isdisjoint(asked.words) else None


def _is_asked_for(fact: FactLine, asked: SheetQuestion) -> bool:
    """Whether a fact's predicate is what is asked for."""
    return not _predicate(fact).isdisjoint(asked.words | asked.predicates)


def _predicate(fact: FactLine) -> frozenset[str]:
    return stems(fact.predicate.replace("_", " "))


def _fact_words(fact: FactLine) -> str:
    return " | ".join([fact.value, *(words for _, words in fact.sources)])


def says_more(text: str, quoted: str | None, asked: SheetQuestion) -> bool:
    """Whether a message belongs beside the words of it that facts quote: it holds more of what is asked for.

    Args:
        text: The message.
        quoted: What the sheet quotes of it; None if nothing.
        asked: What is asked for.
    """
    if quoted is None:
        return True
    return not (stems(text) - stems(quoted)).isdisjoint(asked.words | asked.predicates)


# --- what is not known


def describe_gap(
    entity: Entity, asked: SheetQuestion, predicates: Iterable[str], meant: MeaningOf
) -> tuple[str, frozenset[str]]:
    """Return the sentence that nothing is known of what is asked about an entity, and the words it speaks of."""
    owned = _OWNED.search(asked.query)
    if owned and not stems(owned[1]).isdisjoint(asked.words) and _ends_with(asked.query[: owned.start()], entity):
        return f"Nothing is known about {_possessive(entity.name)} {owned[1]}.", frozenset(query_words(owned[1]))
    words = [w for w in query_words(asked.query) if not asked.words.isdisjoint(stems(w))][:_MOST_WORDS]
    table = list(predicates)
    for word in words:
        known = meant([word]) | {singular(word)}
        nouns = sorted(p.replace("_", " ") for p in table if set(p.split("_")) <= known)
        if 0 < len(nouns) <= _MOST_NOUNS:  # "want" may mean so much that naming some of it says nothing
            return f"Nothing is known about {_possessive(entity.name)} {' or '.join(nouns)}.", frozenset([word])
    if not words or _ASKED_IN_ENGLISH.isdisjoint(_WORD.findall(asked.query.casefold())):
        return f"No fact that answers this is known about {entity.name}.", frozenset()
    return f"Nothing that is known about {entity.name} holds the words: {', '.join(words)}.", frozenset(words)


def _ends_with(text: str, entity: Entity) -> bool:
    last = text.split()[-_LONGEST_NAME:]
    return any(normal_name(" ".join(last[start:])) in entity.aliases for start in range(len(last)))


def _possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def missing_words(asked: SheetQuestion, texts: Iterable[str], shown: Iterable[FactLine], meant: MeaningOf) -> list[str]:
    """Return a question's words that nothing on its sheet covers, in their order; at most ten.

    A word is covered where a text has it in any form, where a fact's predicate is what it asks for, and where it is a
    name of whom the question names.
    """
    if _ASKED_IN_ENGLISH.isdisjoint(_WORD.findall(asked.query.casefold())):
        return []  # which words discriminate is known of English alone
    held = {form for text in texts for form in stems(text)}
    held |= stems(" ".join(asked.forms))
    predicates = {form for fact in shown for form in _predicate(fact)}
    return [
        word
        for word in query_words(asked.query)
        if word not in _ASKING
        and held.isdisjoint(stems(word))
        and predicates.isdisjoint(stems(" ".join(meant([word]))))
    ][:_MOST_WORDS]
