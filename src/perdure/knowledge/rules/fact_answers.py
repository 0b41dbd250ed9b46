"""Which facts answer a question: those about whom it names, or that name them, and hold what it asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.knowledge.extraction.entity_names import names_in
from perdure.knowledge.extraction.lemmas import base_verb, singular
from perdure.knowledge.extraction.references import FIRST_PERSON
from perdure.knowledge.records.results import FactLine
from perdure.rules.language.words import query_words, word_set

MeaningOf = Callable[[Iterable[str]], frozenset[str]]
"""Words of a question -> words of the predicates that they may mean (``Registry.asked``)."""

ANSWERS: Final = 0.25  # a fact that holds so much of a question answers it (``relevance``)
_PART: Final = 0.5
"""Where a question names nobody, facts that hold less than this part of what the best one holds are left out."""
_OF_SPEAKER: Final = 0.15
"""What it counts that a fact is about whoever speaks, where the question says "my" or "I"."""
_MOST_WORDS: Final = 10
_ASKING: Final = word_set("""
    kind kinds type types sort many much long often ever likely tell say said mention mentioned describe know according
    regarding please
    """)
"""Words of how one asks, which no answer holds."""
_ASKED_IN_ENGLISH: Final = word_set("what which who whom whose when where why how do does did is are")
_OWN: Final = FIRST_PERSON - {"me", "us"}  # who says "tell me" asks about others
_SUBJECT: Final = word_set("i we")
_WORD: Final = re.compile(r"[^\W_]+")


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


def parse_question(
    query: str, names: Mapping[str, Collection[str]], user: str | None, meant: MeaningOf
) -> SheetQuestion:
    """Return what a question asks for; the first person means ``user`` where nobody else is named."""
    forms = frozenset(form for some in names.values() for form in some)
    spoken = _WORD.findall(query.casefold())
    speaker = None if _OWN.isdisjoint(spoken) else user
    named = frozenset(names)
    if speaker is not None and (not names or not _SUBJECT.isdisjoint(spoken)):  # "my phone", "Rita and I"
        named |= {speaker}
    return SheetQuestion(
        query=query,
        named=named,
        strict=bool(names),
        forms=forms,
        words=stems(query) - stems(" ".join(f for f in forms if f in names_in(query))) - _ASKING,
        predicates=stems(" ".join(meant(query_words(query)))),
        speaker=speaker,
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
    believed: Sequence[FactLine], near: Sequence[str], asked: SheetQuestion, held: Mapping[str, float]
) -> list[FactLine]:
    """Return the facts that belong on a sheet, best first, each with what contradicts it.

    Where the question names somebody: what is about them, or names them, and answers; where nothing does, what recall
    found of it. Where it names nobody: of what recall found, and of what answers, whatever holds at least half as much
    as the best.
    """
    rank = {identity: place for place, identity in enumerate(near)}
    answering = {f.id for f in believed if held[f.id] >= ANSWERS or answers(f, asked)}
    of_named = {f.id for f in believed if f.subject in asked.named}
    if asked.strict:
        about = of_named | {f.id for f in believed if names_one(_fact_words(f), asked)}
        chosen = about & answering or about & rank.keys()
    else:
        held = {f.id: held[f.id] + _OF_SPEAKER * (f.subject == asked.speaker) for f in believed}
        found = {f.id for f in believed if f.id in rank} | (of_named if asked.named else answering)
        best = max((held[i] for i in found), default=0.0)
        chosen = {i for i in found if held[i] >= _PART * best}
    chosen = chosen | {other for f in believed if f.id in chosen for other in f.contested}
    first = of_named if asked.strict else chosen
    there = [f for f in believed if f.id in chosen]
    return sorted(there, key=lambda f: (f.id not in first, -held[f.id], rank.get(f.id, len(rank)), f.id))


def outdated_facts(over: Sequence[FactLine], shown: Sequence[FactLine], asked: SheetQuestion) -> list[FactLine]:
    """Return what is not believed any longer and belongs beside what is shown, or answers by itself; latest first."""
    keys = {(f.subject, f.predicate) for f in shown}
    linked = {i for f in shown for i in (*f.supersedes, *f.superseded_by)}

    def belongs(f: FactLine) -> bool:
        own = not asked.strict or f.subject in asked.named or names_one(_fact_words(f), asked)
        return (f.subject, f.predicate) in keys or f.id in linked or (own and answers(f, asked))

    return sorted((f for f in over if belongs(f)), key=lambda f: (f.believed_to, f.valid_from, f.id), reverse=True)


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
