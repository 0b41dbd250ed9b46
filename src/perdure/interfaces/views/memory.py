"""Views of memories: one, a list, the answer to a question, why one was not in it, what a person is asked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Final

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import Block, Identifier, Line, Pairs, Quote, Table, Text, Untrusted, command
from perdure.interfaces.views.changed_links import view_changed_links
from perdure.interfaces.views.left_behind import view_left_behind
from perdure.interfaces.views.unseen import view_unseen
from perdure.interfaces.views.values import beyond_limit, cell_text, format_instant, join_texts, pluralize, sum_of, undo
from perdure.records.consolidation_results import Edge, EdgeChange
from perdure.records.memory import MemoryItem
from perdure.records.outcome import (
    ClaimResult,
    KnownPredicates,
    MatchedName,
    Outcome,
    RelatedMemory,
    RememberResult,
    ReplacedFact,
)
from perdure.records.recall import Absence, Hit, Recall
from perdure.records.signal_results import Review
from perdure.rules.lifecycle.stale_facts import unconfirmed_since

_NUMBERS: Final = ("importance", "confidence", "strength", "retention", "value")
_OPTIONAL: Final = ("tags", "speaker", "session", "task", "source", "metadata")
_BRIEF: Final = 100
_REPLY_TOKENS: Final = 120  # tokens that a model reads of what became of a memory, at most
_FRAME_TOKENS: Final = 40  # of them for the first line, the heading of the related memories and the last line
_ENTRY_TOKENS: Final = 7  # for the id and the day of a related memory
_NAME_TOKENS: Final = 20  # for a subject and its predicates, or for a fact
_ROOM_TOKENS: Final = 14  # the least that a fact, or a related memory beside such facts, is shown in
_HEAD_TOKENS: Final = 8  # for what stands before facts that are no longer believed
_COMMAND_TOKENS: Final = 17  # for the call that keeps both
_FEW_IDS: Final = 3
_ANSWERS: Final = ("review", "confirm", "deny", "correct", "both", "mute", "settle")
"""Verbs that take a person's answer about a memory, which is repeated to them in words."""
_PAST: Final = {
    "pin": "Pinned",
    "unpin": "Unpinned",
    "deny": "Denied",
    "same": "Treated as the same",
    "forget": "Archived",
    "keep": "Kept",
    "drop": "Archived",
    "both": "Both kept",
    "different": "Kept apart",
}
"""Verb, or verdict of ``review`` -> what is said of the memory that it changed, where that is not the verb with ed."""


def view_memory_item(m: MemoryItem, _: Request) -> Iterator[Block]:
    """Show one memory whole."""
    pairs: dict[str, Text] = {
        "id": m.id,
        "namespace": Untrusted(m.namespace),
        "kind": m.kind.value,
        "scope, tier": f"{m.scope}, {m.tier}",
        "form": f"{m.form}, {pluralize(m.tokens, 'token')}",
        "status": _status(m),
        "happened": format_instant(m.created_at),
        "stored": format_instant(m.recorded_at),
        "next check": format_instant(m.due_at),
        **{name: f"{getattr(m, name):.3f}" for name in _NUMBERS},
        "accesses": f"{m.access_count:,}",
        **{name: cell_text(name, value) for name in _OPTIONAL if (value := getattr(m, name))},
    }
    yield Pairs(tuple(pairs.items()))
    yield Quote(m.content, whole=True)


def view_list(memories: Sequence[MemoryItem], request: Request) -> Iterator[Block]:
    """Show a page of memories, newest first."""
    if not memories:
        yield Line(("No memories in ", Untrusted(request.namespace), " match the filters."))
        return
    marked = request.notes["standing"](memories) if "standing" in request.notes else {}
    rows = tuple(_row(m, marked.get(m.id)) for m in memories)
    yield Table(("id", "when", "kind", "tier", "status", "value", "content"), rows)
    yield from beyond_limit(memories, request)


def _row(m: MemoryItem, hit: Hit | None) -> tuple[Text, ...]:
    status, value, content = f"{_status(m)}{_hit_marks(hit)}", f"{m.value:.2f}", Untrusted(m.content, _BRIEF)
    return (Identifier(m.id), format_instant(m.created_at), m.kind.value, m.tier.value, status, value, content)


def _hit_marks(hit: Hit | None) -> str:
    if hit is None or hit.memory.status != "active":
        return ""
    part = ", in conflict" if hit.contested_with else ", partly out of date" if hit.over else ""
    return ", out of date" if hit.updated_by else part


def view_outcome(outcome: Outcome, request: Request) -> Iterator[Block]:
    """Show what a verb did to one memory, and how it is undone if it changed anything."""
    m = outcome.memory
    where = (" in ", Untrusted(m.namespace)) if request.verb == "remember" else ()
    what = (": ", Untrusted(m.content, _BRIEF)) if request.verb in _ANSWERS else (".",)
    marks = f" ({m.kind}, {_status(m)}, {m.tier})"
    yield Line((_outcome_text(outcome, request), Identifier(m.id), marks, *where, *what))
    yield from view_changed_links(outcome)
    takes_facts = request.verb == "forget" or request.arguments.get("verdict") == "drop"
    yield from view_left_behind(outcome, takes_facts=takes_facts)
    yield from undo([outcome.operation])


def _outcome_text(outcome: Outcome, request: Request) -> str:
    verb = "different" if request.arguments.get("yes") is False else request.arguments.get("verdict") or request.verb
    return f"{_PAST.get(verb, verb.removesuffix('e').capitalize() + 'ed')} " if outcome.changed else "Nothing changed: "


def view_remember_result(outcome: RememberResult, request: Request) -> Iterator[Block]:
    """Show what was stored, what became of its facts, and what it may be compared with."""
    head, *end = view_outcome(outcome, request)
    yield replace(head, reader="person") if isinstance(head, Line) else head
    yield Line((_outcome_text(outcome, request), Identifier(outcome.id), "."), reader="model")
    yield from view_unseen(outcome.memory)
    facts = outcome.facts
    counts = {"new": facts.created, "confirmed": facts.reinforced, "no longer believed": facts.retired}
    text = ", ".join(f"{len(ids):,} {name}" for name, ids in counts.items() if ids)
    yield from view_beside(f"Facts: {text}." if text else "", facts, outcome.related, outcome.predicates)
    yield from end


def view_beside(
    head: str, facts: ClaimResult, related: Sequence[RelatedMemory], predicates: Sequence[KnownPredicates]
) -> Iterator[Block]:
    """Show what became of facts and what they may be compared with, in 120 tokens with what stands around it."""
    room: float = _REPLY_TOKENS - _FRAME_TOKENS
    if head:
        yield Line(head)
        room -= _tokens(head)
    if asked := facts.asked[:_FEW_IDS]:
        yield Line(("A person is asked about ", cell_text("", asked), ": ", command("review")), tone="warning")
        room -= _ENTRY_TOKENS + 3 * len(asked)
    if facts.planned:
        words = _fit("; ".join(facts.planned), 2 * _NAME_TOKENS)
        yield Line(("Upcoming, not true yet: ", Untrusted(words)), tone="warning")
        room -= _tokens(f"Upcoming, not true yet: '{words}'")
    if facts.unknown:
        words = _fit(", ".join(facts.unknown), _NAME_TOKENS)
        yield Line(("replaces: nothing is known of ", Untrusted(words)), tone="warning")
        room -= _tokens(f"replaces: nothing is known of '{words}'")
    for taken, spent in map(_taken_name, facts.taken[:1]):
        yield taken
        room -= spent
    if facts.replaced:
        lines, spent = _replaced_lines(facts, room)
        yield from lines
        room -= spent
    ending = []
    for group in predicates[:1] if not facts.replaced or room > 2 * _NAME_TOKENS else ():
        lines, spent = _known_lines(group)
        ending += lines
        room -= spent
    yield from _related_blocks(related[: max(0, int(room / _ROOM_TOKENS))] if facts.replaced else related, room)
    yield from ending


def _known_lines(group: KnownPredicates) -> tuple[list[Line], float]:
    """Return what shows what else is known of somebody or something, and its tokens."""
    told: list[tuple[tuple[str | Untrusted, ...], str]] = []
    subject = _fit(group.subject, _NAME_TOKENS / 2)
    if names := _fit(", ".join(name.replace("_", " ") for name in group.predicates), _NAME_TOKENS - _tokens(subject)):
        told.append((("Known of ", Untrusted(subject), ": ", Untrusted(names)), f"Known of '{subject}': '{names}'"))
    for value in group.kept_beside[:1]:
        kept, ending = _fit(value, _NAME_TOKENS), ": replace it if it no longer holds."
        told.append((("Kept beside ", Untrusted(kept), ending), f"Kept beside '{kept}'{ending}"))
    for pair in group.near[:1]:
        new, existing = (_fit(name.replace("_", " "), _NAME_TOKENS / 2) for name in pair)
        words = "Use the known name if ", Untrusted(new), " means ", Untrusted(existing), "."
        told.append((words, f"Use the known name if '{new}' means '{existing}'."))
    return [Line(words) for words, _ in told], sum(_tokens(text) for _, text in told)


def _taken_name(taken: MatchedName) -> tuple[Line, float]:
    """Return what shows for which name one was taken, and how the two are parted, and its tokens."""
    said, known = (_fit(words, _NAME_TOKENS / 2) for words in (taken.name, taken.taken_for))
    parting = command("split_entity", entity=taken.taken_for, alias=taken.name)
    line = Line((Untrusted(said), " was taken for ", Untrusted(known), "; ", parting, " makes it its own."))
    return line, _COMMAND_TOKENS + _tokens(f"'{said}' was taken for '{known}'; makes it its own.")


def _replaced_lines(result: ClaimResult, room: float) -> tuple[list[Line], float]:
    """Return what shows which facts, and notes, are no longer believed and how both are kept, and its tokens."""
    displaced = next((fact.id for fact in result.replaced if fact.by_order), "")
    spent = _COMMAND_TOKENS if displaced else 0.0
    notes = _memories_line("Superseded: ", result.superseded, (room - spent) / 2) if result.superseded else None
    spent += notes[1] if notes else 0.0
    facts, of_facts = _memories_line("No longer believed: ", result.replaced, room - spent)
    lines = [facts, notes[0]] if notes else [facts]
    if displaced:
        lines.append(Line(("If both hold: ", command("review", id=Identifier(displaced), verdict="both"))))
    return lines, spent + of_facts


def _memories_line(head: str, memories: Sequence[ReplacedFact | RelatedMemory], room: float) -> tuple[Line, float]:
    """Return a line that names memories by their first words, and its tokens."""
    spent = float(_HEAD_TOKENS)
    most = min(_FEW_IDS, max(1, int((room - spent) / _ROOM_TOKENS)))
    shown: list[Text] = []
    for memory in memories[:most]:
        words = _fit(memory.content[:_BRIEF], min(_NAME_TOKENS, (room - spent) / most - _ENTRY_TOKENS))
        spent += _ENTRY_TOKENS + _tokens(words)
        shown.append((Untrusted(words), " ", Identifier(memory.id)))
    more = f" and {len(memories) - most:,} more" if memories[most:] else ""
    return Line((head, join_texts(shown), more, ".")), spent


def _related_blocks(related: Sequence[RelatedMemory], room: float) -> Iterator[Block]:
    """Show what a memory may be compared with; each gets its share of the tokens that are left."""
    if related:
        yield Line(("If one of these no longer holds: ", command("update", id=..., content=...)))
    for remaining, other in zip(range(len(related), 0, -1), related, strict=True):
        words = _fit(other.content[:_BRIEF], room / remaining - _ENTRY_TOKENS)
        room -= _ENTRY_TOKENS + _tokens(words)
        yield Line((Identifier(other.id), f" {other.created_at} ", Untrusted(words, _BRIEF)), item=True)


def _tokens(text: str) -> float:
    """Return no fewer tokens than a text has: a Latin letter counts as two sevenths, one of another script as one."""
    return sum(1.0 if letter > "\u024f" else 4 / 7 if letter in '"\\' else 2 / 7 for letter in text)


def _fit(text: str, room: float) -> str:
    """Return the beginning of a text that has at most so many tokens; one that is cut ends with a whole word, marked.

    A part of a word may be another value: of "Postgres 15", "Postgres 1".
    """
    spent = list(accumulate(map(_tokens, text)))
    if not spent or spent[-1] <= room:
        return text
    most = bisect_right(spent, room - _tokens("…"))
    words = text[: most + 1].rpartition(" ")[0] or text[:most]
    return f"{words}…" if words else ""


def view_edge_change(change: EdgeChange, _: Request) -> Iterator[Block]:
    """Show by which edge memories were joined."""
    yield Line(("Linked by the edge ", Untrusted(change.edge), "."))
    yield from undo(change.operations)


def view_edges(edges: Sequence[Edge], _: Request) -> Iterator[Block]:
    """Show edges with their whole ids, which ``relate`` takes."""
    names = ("kind", "weight", "members")
    rows = tuple((Untrusted(e.id), *(cell_text(name, getattr(e, name)) for name in names)) for e in edges)
    yield Table(("edge", *names), rows)


def _status(m: MemoryItem) -> str:
    return f"{m.status} (pinned)" if m.pinned else m.status.value


_NEWER_FIRST: Final = "A newer memory stands before an older one about the same thing."
_ORDER: Final = "Not in order of relevance alone: repetitions stand last, and importance and confidence count."
_OTHERS = 5  # other namespaces that are named where nothing was found


def view_recall(answer: Recall, request: Request) -> Iterator[Block]:
    """Show the hits of a recall; where there are none, say where else to look."""
    if not answer.hits:
        yield Line("No stored memory matches.", reader="person")
        yield Line("No stored memory matches. Do not guess.", reader="model")
        yield from _other_namespaces(request)
    higher = [(ahead, hit) for ahead, hit in pairwise(answer.hits) if _stands_higher(hit, ahead)]
    if higher:
        is_newer = any(_is_newer(ahead, hit) for ahead, hit in higher)
        yield Line(_NEWER_FIRST if is_newer else _ORDER, tone="faint", reader="person")
    places = {hit.memory.id: place for place, hit in enumerate(answer.hits, 1)}
    for hit in answer.hits:
        yield from _hit(hit, places)
    if any(hit.question for hit in answer.hits):
        asked = [hit.answers for hit in answer.hits if hit.question]
        yield from _how_to_answer([verdict for verdict in asked[0] if all(verdict in others for others in asked)])
    if answer.hits and answer.id:
        yield Line(("Report how they were used: ", command("used", ids=..., recall_id=answer.id)), tone="faint")
    if answer.note:
        yield Line(f"Note: {answer.note.removeprefix('no stored memory matches: ')}.", tone="warning")


def _stands_higher(hit: Hit, ahead: Hit) -> bool:
    """Whether the figures that a person reads rank a hit above the one that stands before it."""
    return round(hit.relevance, 2) > round(ahead.relevance, 2) or round(hit.score, 2) > round(ahead.score, 2)


def _is_newer(ahead: Hit, hit: Hit) -> bool:
    """Whether a hit stands before another because it is newer, or because it corrects that."""
    return ahead.memory.id in (*hit.newer, *hit.contested_with, hit.updated_by)


def _other_namespaces(request: Request) -> Iterator[Block]:
    others = [name for name in request.notes.get("namespaces", ()) if name != request.namespace]
    if others:
        names = join_texts([*(Untrusted(name) for name in others[:_OTHERS]), *(["…"] if len(others) > _OTHERS else [])])
        yield Line(("Searched namespace ", Untrusted(request.namespace), "; the store also has ", names, "."))


def _hit(hit: Hit, places: Mapping[str, int]) -> Iterator[Block]:
    memory = hit.memory
    facts = (Identifier(memory.id), *_marks(memory), f"relevance {hit.relevance:.0%}")
    yield Quote(memory.content, facts, tuple(_doubts(hit, places)), places[memory.id], memory.speaker)
    yield Line(f"score {hit.score:.2f} = {sum_of(hit.parts)}", tone="faint", item=True, reader="person")
    if hit.question:
        yield Line(("Ask the person: ", Untrusted(hit.question)), tone="warning", item=True)


def _marks(memory: MemoryItem) -> Iterator[Text]:
    """Yield what is to be known of a memory before its words are relied on."""
    yield f"{memory.kind}, {memory.tier}"
    yield format_instant(memory.created_at)
    if not memory.aging:  # of what nobody confirmed for long the day says more than a small number
        yield f"confidence {memory.confidence:.2f}"
    if memory.status != "active":
        yield memory.status.value
    if memory.pinned:
        yield "pinned"
    if memory.form != "full":
        yield f"shown as {memory.form}"
    if memory.session:
        yield ("session ", Untrusted(memory.session))
    if memory.tags:
        yield ("tags ", join_texts(Untrusted(tag) for tag in memory.tags))


def _days(hit: Hit) -> Iterator[Text]:
    """Yield that what a hit says is over, holds later, or holds again later."""
    if hit.ended:
        yield f"ended {hit.ended}"
    if hit.upcoming:
        yield f"not true yet: from {hit.upcoming}"
    for each in hit.interrupted:
        yield (each.days, ": ", Untrusted(each.content)) if each.content else each.days


def _doubts(hit: Hit, places: Mapping[str, int]) -> Iterator[Text]:
    def reference(identity: str) -> Text:
        return f"number {places[identity]}" if identity in places else Identifier(identity)

    yield from _days(hit)
    if hit.memory.aging:
        yield f"not confirmed since {unconfirmed_since(hit.memory.state)}"
    for fact in hit.over:
        see = ("; see ", reference(fact.replaced_by)) if fact.replaced_by else ()
        yield ("no longer holds: ", Untrusted(fact.content), f" ({fact.over} {fact.since[:10]}", *see, ")")
    for fact in hit.earlier:
        yield ("before: ", Untrusted(fact.content), f" ({fact.over} {fact.since[:10]})")
    if hit.updated_by and not hit.over:
        yield ("a later message says otherwise: ", reference(hit.updated_by))
    for name, others in (("newer", hit.newer), ("older", hit.older)):
        for other in others:
            yield (f"{name}, compare: " if other in hit.differs else f"{name}: ", reference(other))
    rivals, more = sorted(hit.contested_with)[-_FEW_IDS:], len(hit.contested_with[_FEW_IDS:])
    yield from (("conflicts with ", reference(other), ": ask which is right") for other in rivals)
    yield from [f"and with {more:,} more"] if more else ()


def view_absence(absent: Absence, _: Request) -> Iterator[Block]:
    """Show what kept a memory out of an answer."""
    head = "Returned" if absent.kept_out_by == "nothing" else f"Not returned ({absent.kept_out_by})"
    yield Line(f"{head}: {absent.explanation}.")
    if absent.rank is not None:
        yield Line(f"rank {absent.rank}, score {sum(absent.parts.values()):.3f} = {sum_of(absent.parts)}", tone="faint")


def view_review(review: Review, request: Request) -> Iterator[Block]:
    """Show what an answer did, and the open questions."""
    if review.answered is not None:
        yield from view_outcome(review.answered, request)
    alike = len({q.answers for q in review.questions}) == 1
    for number, q in enumerate(review.questions, 1):
        facts = (Identifier(q.id), f"since {q.since}", f"value at risk {q.value_at_risk:.2f}", Untrusted(q.why))
        yield Quote(q.question, facts, number=number)
        if q.sides:  # else nobody knows which of the two is confirmed
            yield Line(("confirm: it holds that ", Untrusted(q.sides[0]), "; deny: it does not."), item=True)
        if not alike:
            yield Line(f"The verdict is {_verdicts(q.answers)}.", item=True)
    if review.questions:
        yield from _how_to_answer(review.questions[0].answers if alike else ())
    elif review.answered is None:
        yield Line(("No open questions in ", Untrusted(request.namespace), "."))


def _how_to_answer(answers: Sequence[str]) -> Iterator[Line]:
    verdicts = f"; verdict is {_verdicts(answers)}" if answers else ""
    yield Line(("Record the person's answer: ", command("review", id=..., verdict=...), verdicts), tone="faint")


def _verdicts(answers: Sequence[str]) -> str:
    *first, last = ("correct (with a value)" if verdict == "correct" else verdict for verdict in answers)
    return f"{', '.join(first)} or {last}"
