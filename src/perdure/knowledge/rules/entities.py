"""Entities as documents: made, named, mentioned, merged, split, and summed up by rule."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from statistics import median
from typing import Any, Final

from perdure.knowledge.extraction.entity_names import normal_name
from perdure.knowledge.records.facts import Entity, Span, fact_key
from perdure.knowledge.records.results import FactLine
from perdure.records.instant import DAY_MS, Instant, text_of
from perdure.records.memory import Document, Record, Shelf
from perdure.records.plan import Change
from perdure.records.policy_knowledge import KnowledgePolicy
from perdure.rules.document_edits import DocumentEdits, document_change
from perdure.rules.language.tokens import count_tokens
from perdure.rules.lifecycle.confirmation import FEW

ROLES: Final = ("subject", "speaker", "named")  # what a memory has to do with an entity, the closest first


def new_entity_changes(entity: Entity, because: str = "") -> list[Change]:
    """Return the changes that bring a new entity with its names; its own name is one of them."""
    aliases = {normal_name(entity.name): entity.name, **entity.aliases}
    reason = because or f"new entity {entity.id}"
    data = {"name": entity.name, "type": entity.type, "merged_into": entity.merged_into}
    first = document_change(Shelf.ENTITY, entity.id, "", None, data, reason)
    return [first, *(alias_change(entity.id, written, reason) for form, written in aliases.items() if form)]


def alias_change(identity: str, written: str, because: str = "") -> Change:
    """Return the change that gives an entity another name."""
    reason = because or f"a name of {identity}"
    return document_change(Shelf.ALIAS, identity, normal_name(written), None, {"name": written}, reason)


def mention_change(memory: str, identity: str, role: str, words: Iterable[tuple[Span, str]]) -> Change:
    """Return the change that records that a memory is about an entity, or names it.

    ``words`` say where, and by which of the entity's names (normal form): a pronoun has the name that it stands for.
    """
    places = [{"start": s.start, "end": s.end, "quote": s.quote, "alias": alias} for s, alias in words]
    data = {"role": role, "words": places}
    return document_change(Shelf.MENTION, memory, identity, None, data, f"{role}: {identity}")


def merge(edits: DocumentEdits, into: Entity, other: Document, facts: Iterable[Document]) -> None:
    """Make one entity part of another: its names, mentions and facts move.

    The names of the other entity and the mentions of both were read; its document stays and says where to. Its facts
    get the new subject, and the name that goes with it.
    """
    because = f"{other.id} merged into {into.id}"
    edits.read([other])
    edits.put(Shelf.ENTITY, other.id, "", {**other.data, "merged_into": into.id}, because)
    for (identity, form), data in edits.shelf(Shelf.ALIAS).items():
        if identity == other.id:
            edits.put(Shelf.ALIAS, identity, form, None, because)
            if form not in into.aliases:
                edits.put(Shelf.ALIAS, into.id, form, data, because)
    for (memory, entity), data in edits.shelf(Shelf.MENTION).items():
        if entity == other.id:
            mine = edits.get(Shelf.MENTION, memory, into.id)
            edits.put(Shelf.MENTION, memory, entity, None, because)
            edits.put(Shelf.MENTION, memory, into.id, data if mine is None else _together(mine, data), because)
    for fact in facts:
        move_fact(edits, fact, into.id, because)


def _together(one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mention that says what two say: the closer role, all words, in order."""
    words = {(w["start"], w["end"], w["alias"]): w for w in (*one["words"], *two["words"])}
    role = next((role for role in ROLES if role in (one["role"], two["role"])), one["role"])
    return {**one, "role": role, "words": [words[key] for key in sorted(words)]}


def move_fact(edits: DocumentEdits, fact: Document, subject: str, because: str) -> None:
    """Make a fact one about another entity."""
    before = str(fact.data["subject"])
    edits.read([fact, Document(Shelf.ABOUT, fact.id, before, {})])
    edits.put(Shelf.FACT, fact.id, fact.name, None, because)
    key = fact_key(subject, str(fact.data["predicate"]))
    edits.put(Shelf.FACT, fact.id, key, {**fact.data, "subject": subject}, because)
    edits.put(Shelf.ABOUT, fact.id, before, None, because)
    edits.put(Shelf.ABOUT, fact.id, subject, {}, because)


def is_used(mentions: Iterable[Document], alias: str) -> bool:
    """Return whether some mention used a name (normal form)."""
    return any(word["alias"] == alias for mention in mentions for word in mention.data["words"])


def split_mentions(
    edits: DocumentEdits, mentions: Iterable[Document], alias: str, identity: str, because: str
) -> dict[str, bool]:
    """Make the mentions that used a name (normal form) another entity's.

    Returns:
        Memory -> whether it used no other name of the entity; a memory that used both is about both.
    """
    used = {}
    for mention in mentions:
        words = mention.data["words"]
        mine = [w for w in words if w["alias"] == alias]
        if mine:
            rest = [w for w in words if w["alias"] != alias]
            used[mention.id] = not rest
            left = {**mention.data, "words": rest} if rest else None
            edits.read([mention])
            edits.put(Shelf.MENTION, mention.id, mention.name, left, because)
            edits.put(Shelf.MENTION, mention.id, identity, {**mention.data, "words": mine}, because)
    return used


def sources_using(fact: Document, used: Mapping[str, bool]) -> tuple[bool, bool]:
    """Return whether some source of a fact used a name, and whether all of them used no other."""
    memories: Collection[str] = [str(source["memory"]) for source in fact.data["sources"]]
    return any(m in used for m in memories), bool(memories) and all(used.get(m, False) for m in memories)


_EVENTS: Final = 3
_EVENT_CHARACTERS: Final = 80
_WORDS: Final = ((0.8, "sure"), (0.6, "likely"), (0.4, "perhaps"))
"""From which confidence on a word is used; below, it is doubtful."""
_ENDS: Final = (".", "!", "?", "…")  # what ends a sentence by itself
_AGAIN: Final = 2
"""A summary is made again when this many times as much was said as when it was made, or when a fact has changed."""


@dataclass(frozen=True, slots=True)
class EntityProfile:
    """A summary to be."""

    entity: str  # the entity's id
    text: str  # what it says
    # predicate -> value, confidence, and the ids of the memories that say so
    key_facts: Mapping[str, Mapping[str, Any]]
    sources: tuple[str, ...]  # everything that it stands for: facts and messages, oldest first
    made_of: Mapping[str, Any]  # a digest of the facts, and how many messages there were


def is_due(
    episodes: Sequence[Record], facts: Sequence[FactLine], earlier: Mapping[str, Any] | None, policy: KnowledgePolicy
) -> bool:
    """Return whether an entity gets a summary: enough was said about it, and not the same as last time."""
    sessions = {r.content.session for r in episodes if r.content.session is not None}
    if earlier is None:
        return len(sessions) >= policy.summary_sessions or len(episodes) >= policy.summary_episodes
    return source_digest(episodes, facts)["facts"] != earlier["facts"] or len(episodes) >= _AGAIN * int(
        earlier["episodes"]
    )


def surer_for_it(fact: FactLine, before: Mapping[str, Any], policy: KnowledgePolicy) -> float:
    """Return the stored confidence of a fact after a summary: surer once for each further confirmation."""
    if fact.confirmations <= max(1, int(before.get(fact.id, 1))):
        return fact.base
    return max(fact.base, min(policy.cap, fact.base + policy.summary_boost))


def source_digest(episodes: Sequence[Record], facts: Sequence[FactLine]) -> dict[str, Any]:
    """Return what tells one summary's material from another's: facts with their values, and how many messages."""
    material = repr(sorted((f.id, f.shown_value, bool(f.contested)) for f in facts))
    return {
        "facts": blake2b(material.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest(),
        "episodes": len(episodes),
    }


def profile_of(
    entity: str,
    name: str,
    episodes: Sequence[Record],
    facts: Sequence[FactLine],
    now: Instant,
    quotable: Sequence[Record],
) -> EntityProfile | None:
    """Return the summary of an entity; None where there is no room to say anything.

    It says first what matters most, and has at most half the tokens of what it stands for. How
    sure it is of a fact fades while the text stays: it is said in a word, as of the day of the summary.
    Of the messages it quotes those that are ``quotable``: the others say what no longer holds.
    """
    ranked = sorted(facts, key=lambda f: (-f.confidence, f.predicate, f.id))
    settled = [f for f in ranked if not f.contested]
    lines = [*_facts(settled), *_conflict_lines(ranked), *_cadence(episodes), *_recent(quotable)]
    whole = {r.id: r.content.text for r in episodes} | {f.id: f"{f.predicate}: {f.shown_value}" for f in facts}
    text = _fit_lines(f"{name}, as of {_day(now)}:", lines, sum(count_tokens(t) for t in whole.values()) // 2)
    if not text:
        return None
    key_facts: dict[str, dict[str, Any]] = {}
    for fact in ranked:
        entry = {"value": fact.shown_value, "confidence": round(fact.confidence, 4), "sources": _source_ids(fact)}
        known = key_facts.setdefault(fact.predicate, entry)
        if fact.contested and known is not entry:
            known.setdefault("contested_by", []).append(fact.shown_value)
    sources = (*(r.id for r in episodes), *(f.id for f in facts))
    return EntityProfile(entity, text, key_facts, sources, source_digest(episodes, facts))


def _source_ids(fact: FactLine) -> list[str]:
    return [fact.id, *dict.fromkeys(memory for memory, _ in fact.sources)]


def _facts(facts: Sequence[FactLine]) -> list[str]:
    return [
        f"{f.shown_predicate}: {f.shown_value} ({_confidence_word(f.confidence)}"
        f"{f', said {len(f.sources)} times' if len(f.sources) > 1 else ''})"
        for f in facts
    ]


def _confidence_word(confidence: float) -> str:
    """Return a confidence, 0 to 1, in a word."""
    return next((word for least, word in _WORDS if confidence >= least), "doubtful")


def _day(at: Instant) -> str:
    return text_of(at).partition(" ")[0]


def _cadence(episodes: Sequence[Record]) -> list[str]:
    """How often it is spoken of: sessions, the last one, and the usual number of days between two."""
    first: dict[str, Instant] = {}
    for record in episodes:
        session = record.content.session or record.id
        first[session] = min(first.get(session, record.state.created_ms), record.state.created_ms)
    days = sorted(at // DAY_MS for at in first.values())
    if len(days) < 2:  # noqa: PLR2004  # two make a distance
        return []
    gaps = [b - a for a, b in pairwise(days)]
    last = _day(max(r.state.created_ms for r in episodes))
    return [f"spoken of in {len(days)} sessions, every {median(gaps):g} days, last on {last}"]


def _conflict_lines(facts: Sequence[FactLine]) -> list[str]:
    """Open conflicts, each with its values in one line: where one has no room, none is shown as known.

    Of very many values the newest are told, and how many more there are.
    """
    contested: dict[str, list[FactLine]] = {}
    for fact in facts:
        if fact.contested:
            contested.setdefault(fact.shown_predicate, []).append(fact)
    lines = []
    for predicate, some in sorted(contested.items()):
        newest = {f.id for f in sorted(some, key=lambda f: (f.valid_from, f.id))[-FEW:]}
        values = " or ".join(f.shown_value for f in some if f.id in newest)
        more = f" or one of {len(some) - FEW:,} more" if len(some) > FEW else ""
        lines.append(f"contested: {predicate}: {values}{more}")
    return lines


def _recent(episodes: Sequence[Record]) -> list[str]:
    latest = sorted(episodes, key=lambda r: (r.state.created_ms, r.id))[-_EVENTS:]
    return [f"{_day(r.state.created_ms)}: {_shorten(r.content.text)}" for r in reversed(latest)]


def _shorten(text: str) -> str:
    plain = " ".join(text.split())
    if len(plain) <= _EVENT_CHARACTERS:
        return plain
    return plain[:_EVENT_CHARACTERS].rsplit(" ", 1)[0] + " …"


def _fit_lines(head: str, lines: Sequence[str], most: int) -> str:
    """Return the head with as many lines as fit; nothing where not even the first does."""
    text = head
    for line in lines:
        sentence = line if text == head else line[0].upper() + line[1:]
        longer = f"{text} {sentence}" if sentence.endswith(_ENDS) else f"{text} {sentence}."
        if count_tokens(longer) <= most:
            text = longer
    return "" if text == head else text
