"""Which facts answer a question, how well, in whatever language it is asked, and where they come in a recall."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from operator import mul
from typing import Final

import numpy as np

from perdure.knowledge.extraction.entity_names import names_in
from perdure.knowledge.extraction.references import FIRST_PERSON
from perdure.knowledge.extraction.words import base_verb, singular
from perdure.knowledge.records.results import FactLine
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Pool, Query, RankedCandidate
from perdure.records.vector import Vector
from perdure.rules.language.words import query_words, word_set
from perdure.rules.ranking import Ranking

_WORD: Final = re.compile(r"[^\W_]+")
_BEGIN: Final = 4  # two words that begin with the same letters, so many, are taken for forms of one: "wohne", "Wohnort"
_LETTERS: Final = 5  # so are two that have so many letters in a row in common: "beliefert", "Liefertag"
_FORM: Final = 0.7  # what a form of a word counts for
_NEAR: Final = 3.0  # at this distance, in words, a word beside the value counts for half
_SPOKEN: Final = 0.9
"""What a word counts for that is how the predicate is spoken of, beside one that is the subject or the value."""


def relevance(
    facts: Sequence[FactLine], over: Sequence[FactLine], words: Mapping[str, frozenset[str]], speaker: str | None = None
) -> dict[str, float]:
    """Return fact -> how much of a question it holds, 0 to 1: in its predicate, its value, or beside that where said.

    A word counts for more the fewer of the facts hold it, so names and small words decide nothing. What one fact shows
    of how its predicate is spoken of counts for all that have it: for what took the place of one that is over, too.
    ``words`` of the question, in lower case, lead to words of predicates that it may mean: "live" is a home.
    ``speaker`` is whoever speaks, where the question is in the first person.
    """
    every = [*facts, *over]
    matches: dict[str, list[float]] = {}
    for f in every:
        row = [_SPOKEN * _predicate_match(word, f, synonyms) for word, synonyms in words.items()]
        matches[f.predicate] = list(map(max, matches.get(f.predicate, row), row))
    held = {f.id: [max(_value_match(w, f), s) for w, s in zip(words, matches[f.predicate], strict=True)] for f in every}
    related = {f.value.casefold(): matches[f.predicate] for f in every if f.subject == speaker}
    for f in every:
        held[f.id] = list(map(max, held[f.id], related.get(f.name.casefold(), held[f.id])))
    holding = [sum(row[at] > 0 for row in held.values()) for at in range(len(words))]
    weights = [log((len(every) + 1) / (n + 0.5)) if n else 0.0 for n in holding]
    total = sum(weights) or 1.0
    return {f.id: sum(map(mul, weights, held[f.id])) / total for f in facts}


def cosines(query: Vector, vectors: Mapping[str, Vector]) -> dict[str, float]:
    """Return fact -> its vector's cosine with a question's."""
    matrix = np.frombuffer(b"".join(vectors.values()), "<f4").reshape(max(1, len(vectors)), -1)
    return dict(zip(vectors, (matrix @ np.frombuffer(query, "<f4")).tolist(), strict=True)) if vectors else {}


def _value_match(word: str, fact: FactLine) -> float:
    """Return how far a fact's subject or value holds a word, 0 to 1."""
    return max(0.0, *(_alike(word, other) for other in _words(f"{fact.name} {fact.value}")))


def _predicate_match(word: str, fact: FactLine, synonyms: frozenset[str]) -> float:
    """Return how far a fact's predicate says a word, 0 to 1: by its name, or beside the value where it was said."""
    predicate = _words(fact.predicate)
    best = max((_alike(word, w) for w in predicate), default=0.0) if synonyms.isdisjoint(predicate) else 1.0
    value, name = frozenset(_words(fact.value)), frozenset(_words(fact.name))
    for _, text in fact.sources:
        words = _words(text)
        places = [i for i, other in enumerate(words) if other in value]
        for i, other in enumerate(words) if places else ():
            if other not in name and other not in value and (alike := _alike(word, other)):
                best = max(best, alike * _NEAR / (_NEAR + min(abs(i - place) for place in places)))
    return best


def _alike(word: str, other: str) -> float:
    if word == other:
        return 1.0
    if min(len(word), len(other)) < _BEGIN:
        return 0.0
    parts = (word[at : at + _LETTERS] for at in range(len(word) - _LETTERS + 1))
    return _FORM if word[:_BEGIN] == other[:_BEGIN] or any(part in other for part in parts) else 0.0


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


MeaningOf = Callable[[Iterable[str]], frozenset[str]]
"""Words of a question -> words of the predicates that they may mean (``Registry.asked``)."""

ANSWERS: Final = 0.25  # a fact that holds so much of a question answers it (``relevance``)
_PART: Final = 0.5
"""Where a question names nobody, facts that hold less than this part of what the best one holds are left out."""
_OF_SPEAKER: Final = 0.15  # what it counts that a fact is about whoever speaks, where the question says "my" or "I"
_MOST_WORDS: Final = 10
_ASKING: Final = word_set("""
    kind kinds type types sort many much long often ever likely tell say said mention mentioned describe know according
    regarding please
    """)
"""Words of how one asks, which no answer holds."""
_SAYS_LITTLE: Final = word_set("""
    use get go come make give take put keep let want need remember recall
    anything something everything nothing anyone someone everyone anybody somebody everybody thing things one ones
    currently exactly actually really also else still already yet ever
    """)
"""Words that a question is not about: that nothing holds them says nothing of what is known."""
_ASKED_IN_ENGLISH: Final = word_set("what which who whom whose when where why how does did")
_OPENS_IN_ENGLISH: Final = word_set("do is are")
"""Words of other languages, too, further on: "Wat is ...?", "o nome do ...?"."""
_OWN: Final = FIRST_PERSON - {"me", "us"}  # who says "tell me" asks about others
_SUBJECT: Final = word_set("i we")


@dataclass(frozen=True, slots=True)
class SheetQuestion:
    """What a question asks for."""

    query: str  # as asked, but for set phrases
    named: frozenset[str]  # the entities that it names; whom they stand for since a merge
    # facts of others are let on the sheet only where they name one of those: not in the first person, where nobody else
    # is named
    strict: bool
    forms: frozenset[str]  # normal forms of all names of those
    words: frozenset[str]  # what it asks for: stems of its words other than those names
    predicates: frozenset[str]  # words of the predicates that it may mean by others: "live" is a home
    speaker: str | None = None  # whoever speaks, where the question is in the first person


def parse_question(
    query: str, names: Mapping[str, Collection[str]], user: str | None, meaning_of: MeaningOf
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
        predicates=stems(" ".join(meaning_of(query_words(query)))),
        speaker=speaker,
    )


def stems(text: str) -> frozenset[str]:
    """Return the words of a text that discriminate, as singulars and as base forms of verbs."""
    return frozenset(form for word in query_words(text) for form in (singular(word), base_verb(word)))


# --- facts


def answers(fact: FactLine, question: SheetQuestion) -> bool:
    """Whether a fact holds what is asked for: in its predicate, its value, or the words that said it.

    Where the question names nobody, or only who speaks, words beside the value are no sign.
    """
    quotes = " ".join(words for _, words in fact.sources) if question.strict else ""
    own = _predicate(fact) | stems(f"{fact.value} {quotes}")
    return not own.isdisjoint(question.words) or not _predicate(fact).isdisjoint(question.predicates)


def names_one(text: str, question: SheetQuestion) -> bool:
    """Whether a text names one of those whom the question names."""
    return not question.forms.isdisjoint(names_in(text))


def select_facts(
    believed: Sequence[FactLine], near: Sequence[str], question: SheetQuestion, held: Mapping[str, float]
) -> list[FactLine]:
    """Return the facts that belong on a sheet, best first, each with what contradicts it.

    Where the question names somebody: what is about them, or names them, and answers; where nothing does, what recall
    found of it. Where it names nobody: of what recall found, and of what answers, whatever holds at least half as much
    as the best.
    """
    rank = {identity: place for place, identity in enumerate(near)}
    answering = {f.id for f in believed if held[f.id] >= ANSWERS or answers(f, question)}
    of_named = {f.id for f in believed if f.subject in question.named}
    if question.strict:
        about = of_named | {f.id for f in believed if names_one(_fact_words(f), question)}
        chosen = about & answering or about & rank.keys()
    else:
        held = {f.id: held[f.id] + _OF_SPEAKER * (f.subject == question.speaker) for f in believed}
        found = {f.id for f in believed if f.id in rank} | (of_named if question.named else answering)
        best = max((held[i] for i in found), default=0.0)
        chosen = {i for i in found if held[i] >= _PART * best}
    chosen = chosen | {other for f in believed if f.id in chosen for other in f.contested}
    first = of_named if question.strict else chosen
    selected = [f for f in believed if f.id in chosen]
    return sorted(selected, key=lambda f: (f.id not in first, -held[f.id], rank.get(f.id, len(rank)), f.id))


def outdated_facts(over: Sequence[FactLine], shown: Sequence[FactLine], question: SheetQuestion) -> list[FactLine]:
    """Return what is not believed any longer and belongs beside what is shown, or answers by itself; latest first.

    What is shown as believed again is left out.
    """
    again = {(f.subject, f.predicate, f.shown_value) for f in shown}
    over = [f for f in over if (f.subject, f.predicate, f.shown_value) not in again]
    keys = {(f.subject, f.predicate) for f in shown}
    linked = {i for f in shown for i in (*f.supersedes, *f.superseded_by)}

    def belongs(f: FactLine) -> bool:
        own = not question.strict or f.subject in question.named or names_one(_fact_words(f), question)
        return (f.subject, f.predicate) in keys or f.id in linked or (own and answers(f, question))

    return sorted((f for f in over if belongs(f)), key=lambda f: (f.believed_to, f.valid_from, f.id), reverse=True)


def behind_interrupting(facts: Sequence[FactLine], holding: Sequence[FactLine]) -> list[FactLine]:
    """Return the facts of a sheet, an interrupted one directly behind what holds in its place, which is there too."""
    known, shown = {f.id: f for f in holding}, list[FactLine]()
    for fact in facts:
        by = [known[i] for i in fact.interrupted.by if i in known] if fact.interrupted else []
        shown += [one for one in (*by, fact) if one not in shown]
    return shown


def with_successors(
    facts: Sequence[FactLine], past: Sequence[FactLine], holding: Sequence[FactLine], over: Sequence[FactLine]
) -> tuple[list[FactLine], list[FactLine]]:
    """Return the facts of a sheet that hold and those of the past, with whatever took the place of one of the past."""
    known = {f.id: f for f in (*holding, *over)}
    waiting, shown = list(past), {f.id for f in (*facts, *past)}
    found: list[FactLine] = []
    while waiting:
        later = [known[i] for i in waiting.pop().superseded_by if i in known and i not in shown]
        shown |= {f.id for f in later}
        found += later
        waiting += later
    hold = {f.id for f in holding}
    return [*facts, *(f for f in found if f.id in hold)], [*past, *(f for f in found if f.id not in hold)]


def _predicate(fact: FactLine) -> frozenset[str]:
    return stems(fact.predicate.replace("_", " "))


def _fact_words(fact: FactLine) -> str:
    return " | ".join([fact.value, *(words for _, words in fact.sources)])


def says_more(text: str, quoted: str | None, question: SheetQuestion) -> bool:
    """Whether a message belongs beside the words of it that facts quote: it holds more of what is asked for."""
    if quoted is None:
        return True
    return not (stems(text) - stems(quoted)).isdisjoint(question.words | question.predicates)


# --- what is not known


def missing_words(
    question: SheetQuestion, texts: Iterable[str], shown: Iterable[FactLine], meaning_of: MeaningOf
) -> list[str]:
    """Return a question's words that nothing on its sheet covers, in their order; at most ten.

    A word is covered by any form of it in a text, by a fact's predicate that it asks for, or by a name in the question.
    """
    asked = _WORD.findall(question.query.casefold())
    if _ASKED_IN_ENGLISH.isdisjoint(asked) and _OPENS_IN_ENGLISH.isdisjoint(asked[:1]):
        return []  # which words discriminate is known of English alone
    held = {form for text in (*texts, " ".join(question.forms)) for form in stems(text)}
    predicates = {form for fact in shown for form in _predicate(fact)}
    return [
        word
        for word in query_words(question.query)
        if word not in _ASKING
        and _SAYS_LITTLE.isdisjoint({word, *stems(word)})
        and held.isdisjoint(stems(word))
        and predicates.isdisjoint(stems(" ".join(meaning_of([word]))))
    ][:_MOST_WORDS]


def rank_with_facts(
    order: Ranking,
    facts: Mapping[str, str],
    query: Query,
    pool: Pool,
    policy: RecallPolicy,
    predicate_words: frozenset[str] = frozenset(),
) -> Ranking:
    """Return an order with the facts about whom the question names, best first.

    A fact counts where it shares a word with the question besides the name: ``Gai Media: delivery day preference`` is
    about "delivery for Gai Media". It gets the part of a named speaker, and for words the share of the question's words
    that it has, if that is more than its own: in a store about one customer the customer's name is no rare word.
    """
    words = {word.rstrip("s") for word in query.words}
    asked_for = words | predicate_words
    weight = policy.lexical_weight + policy.lexical_by_coverage * pool.coverage if pool.vectors else 1.0
    found = {entry.id: entry for entry in order}
    for identity, text in facts.items():
        name, _, rest = text.partition(": ")
        content = {word.rstrip("s") for word in query_words(rest)}
        if not asked_for & content:
            continue
        name_words = {word.rstrip("s") for word in query_words(name)}
        share = min(1.0, (len(words & (content | name_words)) + len((predicate_words - words) & content)) / len(words))
        entry = found.get(identity, RankedCandidate(identity, 0.0, {}, None))
        parts = {**entry.parts, "named": policy.named, "keyword": max(entry.parts.get("keyword", 0.0), weight * share)}
        found[identity] = RankedCandidate(identity, sum(parts.values()), parts, entry.cosine)
    return Ranking.of(sorted(found.values(), key=lambda entry: -entry.score))
