"""Believing again what another value took the place of: it holds beside that one, or that one was denied."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.apply_claims import ClaimSource, ClaimWriter, same_audience
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.replaced_memories import ReplacedMemories
from perdure.knowledge.records.facts import Claim, Fact, FactOrigin, Span
from perdure.knowledge.rules.claim_resolution import BY_ORDER, Action, ConflictStrategy, Decision, KnownFact
from perdure.knowledge.rules.fact_records import FactEvent, link_change
from perdure.operations.documents import find_records, find_states, pages, whose_words
from perdure.operations.forgotten_memories import is_forgotten
from perdure.records.errors import InvalidInput
from perdure.records.instant import Instant
from perdure.records.memory import DERIVED, SUPERSEDES, Kind, Shelf, Status, Trust
from perdure.records.outcome import HandedClaims
from perdure.records.plan import Change, Target
from perdure.rules.lifecycle.unarchive import unarchive
from perdure.rules.point_in_time import is_past

_BACK: Final = "back"  # the name of a question whether what a person had decided against holds after all


def believe_displaced(writer: ClaimWriter, identity: str, now: Instant, because: str) -> str | None:
    """Believe a fact again that lost its place by order, or the one whose place it took so; return its new id.

    Raises:
        InvalidInput: It took the place of several.
    """
    writer.work.read([identity])
    if writer.work.states[identity].status is not Status.ACTIVE:
        return _believe_beside(writer, identity, now, because)
    lost = [older for older, newer in _by_order(writer.work, identity) if newer == identity]
    lost = [i for i in lost if not any(i in _standing_for(writer.work, other) for other in lost if other != i)]
    if len(lost) > 1:
        raise InvalidInput(
            f"{identity} took the place of several facts: {', '.join(lost)}.",
            remedy="Pass the id of the one that holds.",
        )
    return _believe_beside(writer, lost[0], now, because) if lost else None


def _believe_beside(writer: ClaimWriter, older: str, now: Instant, because: str) -> str | None:
    """Believe a fact that lost its place by order again, beside what is believed instead; return its new id."""
    work = writer.work
    lost = [pair for pair in _by_order(work, older) if pair[0] == older]
    work.read([older])
    rivals = _beside(work, older, now) if lost else []
    if not rivals or any(not k.fact.contradicts(work.facts[older]) for k in rivals):
        return None
    again = _believe_again(writer, older, now, because)
    for note in _notes_gone_with(work, older):
        _show_note(work, note, because)
    for rival in rivals:
        (own,) = work.known_facts([again], now)
        writer.contest(rival, own, now, because)
    writer.both(again, now, because)
    for pair in lost:
        data = work.edits.get(Shelf.CONFLICT, *pair) or {}
        work.edits.put(Shelf.CONFLICT, *pair, {**data, "outcome": "both"}, because)
    return again


def _by_order(work: FactSession, identity: str) -> list[tuple[str, str]]:
    """Return (older, newer) of the conflicts of a fact in which the newer took the older one's place by order."""
    work.read_questions([identity])
    found = work.edits.about(Shelf.CONFLICT, identity)
    return [
        pair
        for pair, data in found.items()
        if data.get("outcome") == FactEvent.REPLACED and data.get("strategy") in BY_ORDER
    ]


def restore_displaced(writer: ClaimWriter, denied: Sequence[str], because: str) -> None:
    """Believe again what memories that are denied had taken the place of, where nothing else holds instead.

    A person is asked about what a person had decided against: it was said to be wrong as well.
    """
    back: list[str] = []
    for newer, older in _displaced_pairs(writer.work, denied):
        is_asked = _was_decided(writer.work, newer, older)
        is_fact = older in writer.work.facts
        for fact in [older] if is_fact else _restore_note(writer.work, older, because, is_asked=is_asked):
            back += _restore_fact(writer, fact, because, beside=back, is_asked=is_asked)


def restore_without(work: FactSession, hidden: Collection[str], because: str) -> None:
    """Believe again what facts that are hidden or erased took the place of only because they were newer or surer.

    Nobody said that it was over, and what it lost its place to is not said any longer. What somebody said to be over
    stays so.
    """
    replacing = [i for page in pages(sorted(hidden)) for i in _superseding(work, page)]
    states = find_states(work.ctx, work.namespace, dict.fromkeys(replacing))
    believed = [i for i, state in states.items() if (state.kind, state.status) == (Kind.FACT, Status.ACTIVE)]
    writer, back = ClaimWriter(work), list[str]()
    work.read(believed)
    pairs = _displaced_pairs(work, [i for i in believed if i in work.facts], hidden)
    # Of two that say the same the one believed last comes first: notes went with that one.
    pairs = [(newer, older) for newer, older in pairs if older in work.facts]
    for newer, older in sorted(pairs, key=lambda pair: work.facts[pair[1]].retired or 0, reverse=True):
        if (older, newer) in _by_order(work, newer):
            back += _restore_fact(writer, older, because, beside=back, is_asked=False, gone=hidden)


def displace_again(work: FactSession, shown: Collection[str]) -> None:
    """Let facts that come back take the place again of what was believed again without them.

    Its notes, of which nothing is believed then, go with it.
    """
    writer = ClaimWriter(work)
    work.read(shown)
    for fact in [work.facts[i] for i in shown if i in work.facts]:
        if work.states[fact.id].status is not Status.ACTIVE or not fact.holds(work.now):
            continue
        for rival in work.about(fact.subject, fact.predicate, work.now):
            if (strategy := lost_before(work, rival, fact)) is not None:
                _displace_again(writer, rival, fact, strategy)


def _displace_again(writer: ClaimWriter, rival: KnownFact, fact: Fact, strategy: ConflictStrategy) -> None:
    because = f"{fact.shown_value} was brought back, and had taken the place of {rival.fact.shown_value}"
    note = fact.sources[-1].memory if fact.sources else None
    source = ClaimSource(note, writer.work.now, fact.trust)
    writer.clash(Decision(Action.REPLACE, (rival,), strategy, because=because), fact.id, source, "")
    handed = HandedClaims((), note, "", writer.work.now, fact.trust)
    ReplacedMemories(writer, handed, (), ()).settle()


def lost_before(work: FactSession, rival: KnownFact, fact: Fact) -> ConflictStrategy | None:
    """Return by which order a fact took the place of what another says; None where it did not.

    None as well where somebody said or confirmed the other since it is believed again.
    """
    if rival.last_said >= rival.state.recorded_ms or not fact.contradicts(rival.fact):
        return None
    lost = set(_standing_for(work, rival.fact.id))
    for newer in _standing_for(work, fact.id):
        for pair in _by_order(work, newer):
            if pair[1] == newer and pair[0] in lost:
                return ConflictStrategy((work.edits.get(Shelf.CONFLICT, *pair) or {})["strategy"])
    return None


def _standing_for(work: FactSession, identity: str) -> list[str]:
    """Return a fact, and those of the same words that it was made of as it was believed again."""
    found = [identity]
    for newer in found:
        linked = [
            o for i, kind, o in work.ctx.store.links_at(work.namespace, [newer]) if (i, kind) == (newer, SUPERSEDES)
        ]
        work.read([newer, *linked])
        found += [o for o in linked if o not in found and _says_the_same(work, newer, o)]
    return found


def _superseding(work: FactSession, ids: Sequence[str]) -> list[str]:
    """Return those of some memories that took the place of others."""
    return [i for i, kind, _ in work.ctx.store.links_at(work.namespace, ids) if kind == SUPERSEDES and i in ids]


def _displaced_pairs(work: FactSession, denied: Sequence[str], hidden: Collection[str] = ()) -> list[tuple[str, str]]:
    """Return (newer, older) of what memories alone took the place of, also before they were believed again.

    What is ``hidden`` besides holds nothing's place any longer.
    """
    found: list[tuple[str, str]] = []
    waiting, gone = list(denied), {*denied, *hidden}
    while waiting:
        newer = waiting.pop()
        links = work.ctx.store.links_at(work.namespace, [newer])
        linked = [o for i, kind, o in links if (i, kind) == (newer, SUPERSEDES)]
        records = list(find_records(work.ctx, work.namespace, linked))
        work.include(records)
        work.read(r.id for r in records)
        for older in (r.id for r in records if r.id not in gone):
            if _says_the_same(work, newer, older):  # it was believed again in the place of what was denied
                gone.add(older)
                waiting.append(older)
            elif work.states[older].status is Status.SUPERSEDED and gone.issuperset(_successors(work, older)):
                found.append((newer, older))
    return found


def _says_the_same(work: FactSession, newer: str, older: str) -> bool:
    if newer not in work.facts or older not in work.facts:
        return False
    one, other = work.facts[newer], work.facts[older]
    return (one.key, one.value.norm, one.denied) == (other.key, other.value.norm, other.denied)


def _successors(work: FactSession, identity: str) -> list[str]:
    """Return what is in view, and took the place of a memory."""
    newer = [i for i, kind, _ in work.ctx.store.links_to(work.namespace, identity) if kind == SUPERSEDES]
    return [i for i, state in find_states(work.ctx, work.namespace, newer).items() if state.status is Status.ACTIVE]


def _restore_note(work: FactSession, note: str, because: str, *, is_asked: bool) -> list[str]:
    """Bring a note back, and return the facts that it says and that went with it only because it did."""
    since = work.states[note].status_ms
    _show_note(work, note, because)
    if is_asked:
        _ask(work, note, because)
    facts = [i for i, kind, _ in work.ctx.store.links_to(work.namespace, note) if kind == DERIVED]
    work.read(facts)
    replaced = [i for i in facts if i in work.facts and work.states[i].status is Status.SUPERSEDED]
    return [i for i in replaced if work.facts[i].retired == since and not _successors(work, i)]


def _restore_fact(
    writer: ClaimWriter,
    older: str,
    because: str,
    *,
    beside: Collection[str],
    is_asked: bool,
    gone: Collection[str] = (),
) -> list[str]:
    """Believe a fact again that was replaced, with its notes and what went with these; return the new ids.

    Nothing is done where it is over, or something else is believed that is not ``gone``. Of several that come
    ``beside`` each other, and contradict each other, a person is asked which holds.
    """
    work, now = writer.work, writer.work.now
    if not _may_return(work, older, {*beside, *gone}):
        return []
    again = _believe_again(writer, older, now, because)
    (own,) = work.known_facts([again], now)
    for rival in work.known_facts([i for i in beside if _are_rivals(work.facts[i], own.fact)], now):
        writer.contest(rival, own, now, because)
    if is_asked:
        _ask(work, again, because)
    found = [again]
    for note in _notes_gone_with(work, older):
        for fact in _restore_note(work, note, because, is_asked=False):
            found += _restore_fact(writer, fact, because, beside=(*beside, *found), is_asked=is_asked, gone=gone)
    return found


def _are_rivals(one: Fact, other: Fact) -> bool:
    return one.key == other.key and one.contradicts(other)


def _may_return(work: FactSession, older: str, beside: Collection[str]) -> bool:
    """Whether a fact that was replaced is not over, and no other is believed that says it or contradicts it.

    Those ``beside`` it count as no others. What is not said any longer is not believed again.
    """
    old, now = work.facts[older], work.now
    if old.retired is None or is_past(old, work.states[older]) or (old.told_to is not None and old.told_to <= now):
        return False
    if old.sources and all(_is_taken_back(work, source.memory) for source in old.sources):
        return False
    said = [k.fact for k in _beside(work, older, now)]
    return not any(f.value.norm == old.value.norm or (f.contradicts(old) and f.id not in beside) for f in said)


def _is_taken_back(work: FactSession, note: str) -> bool:
    """Whether a person denied a note, or hid it; what only faded was true all the same."""
    state = find_states(work.ctx, work.namespace, [note]).get(note)
    if state is None or state.status is not Status.ARCHIVED:
        return state is None or state.status is Status.INVALIDATED
    return is_forgotten(work.ctx, work.namespace, note)


def _was_decided(work: FactSession, newer: str, older: str) -> bool:
    """Whether a person said that the older of two memories is wrong: by a correction, or asked which of two holds."""
    if newer not in work.facts:
        return work.record(newer).content.source == FactOrigin.CORRECTION
    work.read_questions([newer])
    pairs = ((older, newer), (newer, older))
    answered = any((work.edits.get(Shelf.CONFLICT, *pair) or {}).get("outcome") == "answered" for pair in pairs)
    fact = work.facts[newer]
    words = whose_words(work.ctx, work.namespace, {newer: fact.to_data()})
    return answered or (fact.learned is FactOrigin.CORRECTION and words[newer] is Trust.USER)


def _ask(work: FactSession, identity: str, because: str) -> None:
    """Put the question before a person whether what comes back holds."""
    work.edits.put(Shelf.REVIEW, identity, _BACK, {"why": because, "since_ms": work.now}, "a person is asked")


def _beside(work: FactSession, identity: str, now: Instant) -> list[KnownFact]:
    """Return what is believed about what a fact is about, for the same to see."""
    fact, record = work.facts[identity], work.record(identity)
    return [k for k in work.about(fact.subject, fact.predicate, now) if same_audience(work.record(k.fact.id), record)]


def _believe_again(writer: ClaimWriter, identity: str, now: Instant, because: str) -> str:
    """Make a fact that says what another one said that was replaced, from its end on; return its id.

    It was said when that one was said last.
    """
    work, old = writer.work, writer.work.facts[identity]
    state, session = work.states[identity], work.record(identity).content.session
    sure = max(state.confidence, work.ctx.policy.knowledge.statement)
    span = Span(0, len(old.value.text), old.value.text)
    claim = Claim(old.subject, old.predicate, old.type, old.value, old.learned, sure, span, denied=old.denied)
    claim = replace(claim, many=old.many, valid_from=old.valid_to, valid_to=old.told_to, called=old.called)
    name = names_of(work.ctx, work.namespace).entity(old.subject).name
    (known,) = work.known_facts([identity], now)
    # Nobody says it now: it keeps the day on which it was said last, and only its ages as a memory start anew.
    source = ClaimSource(None, known.last_said, old.trust, state.scope, session)
    again = writer.make(claim, old.subject, name, source, because)
    made = work.states[again]
    young = replace(made, anchor_ms=now, tier_ms=now, status_ms=now, strength_ms=now, form_ms=now)
    work.change(again, young, "made", because)
    work.rewrite(replace(work.facts[again], sources=old.sources), because)
    for each in old.sources:
        work.link(link_change(DERIVED, again, each.memory, because))
    work.link(link_change(SUPERSEDES, again, identity, because))
    return again


def _notes_gone_with(work: FactSession, fact: str) -> list[str]:
    """Return the notes that say a fact and were superseded with it."""
    gone = Status.SUPERSEDED, work.facts[fact].retired
    notes = sorted({source.memory for source in work.facts[fact].sources})
    work.include(work.ctx.store.get(work.namespace, notes) if notes else [])
    return [i for i in notes if i in work.states and (work.states[i].status, work.states[i].status_ms) == gone]


def _show_note(work: FactSession, note: str, because: str) -> None:
    """Bring back a note that was superseded with what it says."""
    back = unarchive(work.states[note], work.ctx.policy, work.now)
    work.change(note, back, FactEvent.RESTORED.value, f"restored: {because}")
    for other, kind, weight in work.ctx.store.links_to(work.namespace, note):
        if kind == SUPERSEDES:
            work.link(Change(Target.LINK, other, {"kind": kind, "other": note, "weight": weight}, None, because))
