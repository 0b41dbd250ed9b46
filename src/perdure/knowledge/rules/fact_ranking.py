"""Where facts about whom a question names come in the order of a recall."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Pool, Query, Ranked
from perdure.rules.language.words import query_words
from perdure.rules.ranking import Ranking


def rank_with_facts(
    order: Ranking,
    facts: Mapping[str, str],
    query: Query,
    pool: Pool,
    policy: RecallPolicy,
    meant: frozenset[str] = frozenset(),
) -> Ranking:
    """Return an order with the facts about whom the question names, best first.

    A fact counts where it shares a word with the question besides the name: ``Gai Media: delivery day preference`` is
    about "delivery for Gai Media". It gets the part of a named speaker, and for words the share of the question's words
    that it has, if that is more than its own: in a store about one customer the customer's name is no rare word.

    Args:
        order: As ranked.
        facts: Id -> words, of the facts about whom the question names.
        query: The question.
        pool: What was searched.
        policy: The weights.
        meant: Words of the predicates that the question may mean by others ("live" is a home).
    """
    asked = {word.rstrip("s") for word in query.words}
    wanted = asked | meant
    weight = policy.lexical_weight + policy.lexical_by_coverage * pool.coverage if pool.vectors else 1.0
    found = {entry.id: entry for entry in order}
    for identity, text in facts.items():
        name, _, rest = text.partition(": ")
        said = {word.rstrip("s") for word in query_words(rest)}
        if not wanted & said:
            continue
        named = {word.rstrip("s") for word in query_words(name)}
        share = min(1.0, (len(asked & (said | named)) + len((meant - asked) & said)) / len(asked))
        entry = found.get(identity, Ranked(identity, 0.0, {}, None))
        parts = {**entry.parts, "named": policy.named, "words": max(entry.parts.get("words", 0.0), weight * share)}
        found[identity] = Ranked(identity, sum(parts.values()), parts, entry.cosine)
    return Ranking.of(sorted(found.values(), key=lambda entry: -entry.score))
