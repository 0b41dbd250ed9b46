"""Writing down claims that a caller handed over, with what they replace, in the plan of the call that brings them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.entity_names import Names
from perdure.knowledge.extraction.values import value_of
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.apply_claims import ClaimSource, ClaimWriter, same_audience
from perdure.knowledge.operations.claim_subjects import ClaimSubjects
from perdure.knowledge.operations.corrected_days import correct_days
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.grounding import ground
from perdure.knowledge.operations.past_claims import (
    PastClaimContext,
    is_of_other_time,
    overlaps,
    past_facts,
    said_instead,
    take_past,
    with_days_of,
)
from perdure.knowledge.operations.planned_claims import says_begun, with_what_holds_until_then
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.operations.predicate_questions import ask_about_near
from perdure.knowledge.operations.replaced_memories import ReplacedMemories
from perdure.knowledge.records.facts import Claim, Entity, Fact, FactOrigin, Value, fact_key
from perdure.knowledge.rules.claim_resolution import Action, Decision, KnownFact
from perdure.knowledge.rules.claim_words import adds_one, says_ended
from perdure.knowledge.rules.entities import mention_change
from perdure.knowledge.rules.fact_records import ACTS, FactEvent, draft_fact
from perdure.knowledge.rules.given_claims import (
    ResolvedClaim,
    called_as,
    contradictions,
    first_confidence,
    first_day,
    outranks,
    predicate_name,
    resolve_given,
    rests_on,
    rests_only_on,
    said_after,
    span_of,
    stated_end,
    with_several,
)
from perdure.operations.ports import Context
from perdure.records.deadline import seconds_left
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.instant import Instant, wall_clock
from perdure.records.maker import copy_with
from perdure.records.memory import Draft, Scope, Shelf, Status, Trust
from perdure.records.outcome import GivenClaim, HandedClaims
from perdure.rules.decisions import Decisions
from perdure.rules.language.said_over import says_over
from perdure.rules.point_in_time import is_past
from perdure.rules.source_trust import least_trust, stored_trust, takes_over
from perdure.rules.validation.fact_claims import is_memory_id, refuse_faults

_SHORTEST_ID: Final = 6
_Found = tuple[list[KnownFact], set[str], tuple[Claim, Decision]]
"""The facts that a claim meets, the ids of those that it is said to replace, and what becomes of it."""


def take_claims(ctx: Context, decisions: Decisions, handed: Sequence[HandedClaims]) -> ClaimWriter:
    """Decide what becomes of the claims of some memories, beside what else is decided in an operation.

    Raises:
        InvalidInput: A claim names nobody or several, or two of one memory contradict each other.
    """
    writer = ClaimWriter(FactSession(ctx, decisions.namespace, decisions.now, decisions))
    names = names_of(ctx, decisions.namespace)
    for one in handed:
        try:
            _Taker(ctx, writer, names, with_what_holds_until_then(writer, names, one)).take()
        except (InvalidInput, NotFound) as error:
            where = f"Item {one.item}: " if one.item else ""
            raise type(error)(f"{where}{error.message}", remedy=error.remedy) from error
    ground(writer.work, writer.tally, [one.memory for one in handed if one.memory is not None])
    decisions.add(writer.work.changes())
    return writer


class _Taker:
    def __init__(self, ctx: Context, writer: ClaimWriter, names: Names, handed: HandedClaims) -> None:
        self.ctx, self.handed, self.policy = ctx, handed, ctx.policy.knowledge
        self.writer, self.work = writer, writer.work
        self.registry = resources(ctx).predicates
        self.subjects = ClaimSubjects(writer, names, handed, self.policy)
        self.gone: dict[str, None] = dict.fromkeys(handed.gone)
        self.later: dict[str, None] = {}  # notes that a claim of what begins later is said to replace
        self.untouched: dict[str, None] = {}  # memories that a claim is said to replace, and may not
        self._trusted: dict[int, Trust] = {}  # number of a claim -> whose word it is

    def take(self) -> None:
        """Decide about each claim, then about what rested on what was replaced."""
        claims, before = self._resolve_subjects(), len(self.writer.tally.created)
        for each, found in zip(claims, self._read_ahead(claims), strict=True):
            seconds_left()
            self._take(each, found)
        ReplacedMemories(self.writer, self.handed, self.gone, self.later).settle()
        ask_about_near(self.work, [*self.writer.tally.created][before:])
        if self.handed.memory is not None:
            self._mention(claims)

    # --- who and what is meant

    def _resolve_subjects(self) -> list[ResolvedClaim]:
        faults: list[str] = []
        found: list[ResolvedClaim] = []
        for claim in self.handed.claims:
            subject, predicate = self.subjects.subject(claim, faults), self._predicate(claim, faults)
            if subject is not None and predicate:
                if self._trust(claim) is Trust.USER:
                    self.subjects.note_own_name(claim, subject, predicate)
                meant = self._claim(claim, subject, predicate)
                found.append(
                    ResolvedClaim(claim, subject.id, subject.name, meant, self.subjects.name_used(claim, subject))
                )
        found = with_several(found, self.registry)
        refuse_faults([*faults, *contradictions(found)])
        return sorted(found, key=lambda each: each.claim.valid_to is not None)  # what interrupts comes after it

    def _predicate(self, claim: GivenClaim, faults: list[str]) -> str:
        if not any(letter.isalnum() for letter in claim.predicate):
            faults.append(f"Claim {claim.number}: the predicate {claim.predicate!r} has no word.")
            return ""
        return self.work.lessons.name(predicate_name(claim.predicate, self.registry))

    def _claim(self, claim: GivenClaim, subject: Entity, predicate: str) -> Claim:
        registry, zone, is_act = self.registry, self.work.ctx.policy.days.tz, predicate.partition("_")[0] in ACTS
        at = wall_clock(self.handed.at, zone)
        row = registry.row(predicate)
        many = row.many or (not registry.has(predicate) and (is_act or adds_one(claim, self.handed.text)))
        return Claim(
            subject.id,
            predicate,
            row.sort,
            value_of(claim.value, at),
            FactOrigin.EXPLICIT,
            first_confidence(self._trust(claim), self.handed.confidence, self.policy),
            span_of(claim.quote, self.handed.text),
            old=value_of(claim.replaces, at) if claim.replaces else None,
            denied=claim.denied,
            many=many,
            valid_from=first_day(claim, self.handed.at),
            valid_to=stated_end(claim, self.handed, zone),
            called=called_as(claim.predicate, predicate, registry),
            planned=claim.planned,
        )

    def _trust(self, claim: GivenClaim) -> Trust:
        """Return whose word a claim is: what tells its reader to ignore others counts as a stranger's."""
        if claim.number not in self._trusted:
            words = f"{claim.subject} {claim.value}"
            self._trusted[claim.number] = Trust.EXTERNAL if takes_over(words) else self.handed.trust
        return self._trusted[claim.number]

    # --- what becomes of it

    def _read_ahead(self, claims: Sequence[ResolvedClaim]) -> list[_Found]:
        """Read what is known of the same subjects and predicates, and prepare the new facts, for all claims at once."""
        keys = [(fact_key(each.subject, each.claim.predicate), each.claim) for each in claims]
        self.work.read_keys(key for key, _ in keys)
        self.work.take_in_keys((k, c.value.norm if c.many else None) for k, c in keys)
        self.work.take_in_keys((k, c.old.norm) for k, c in keys if c.old is not None)
        self.work.weigh(self.work.facts, self.handed.at)
        found = [(*met, self._resolve(each, *met)) for each in claims for met in [self._known_facts(each)]]
        # What a person is asked about is no more than linked: its own conflicts, of which there may be many, stay.
        self.work.read_questions(k.fact.id for *_, (_, decision) in found for k in decision.settled)
        drafts = [draft for each, (*_, made) in zip(claims, found, strict=True) if (draft := self._draft(each, *made))]
        self.work.prepare_ahead(list({draft.text: draft for draft in drafts}.values()))
        self.work.changed.clear()
        return found

    def _still_holds(self, each: ResolvedClaim, found: _Found) -> bool:
        """Whether what was found of a claim ahead is so still: no claim before it changed what is known beside it."""
        claim, (known, replaced, _), place = each.claim, found, (each.subject, each.claim.predicate)
        if self.gone or self.later or claim.planned or (claim.old is not None and not replaced):
            return False
        return place not in self.work.changed and all((k.fact.subject, k.fact.predicate) == place for k in known)

    def _draft(self, each: ResolvedClaim, claim: Claim, decision: Decision) -> Draft | None:
        """Return the fact that a claim makes, as far as what is stored says: claims before it may change that."""
        past = claim.valid_to is not None and claim.valid_to <= self.handed.at
        if not past and decision.action in (Action.NOTHING, Action.REINFORCE):
            return None
        resolved = claim.under(decision.predicate or claim.predicate)
        return draft_fact(
            each.name,
            resolved.predicate,
            resolved,
            said_at=self.handed.at,
            scope=self.handed.scope,
            session=self.handed.session,
            policy=self.ctx.policy,
        )

    def _take(self, each: ResolvedClaim, found: _Found) -> None:
        claim, at, made = each.claim, self.handed.at, found[2] if self._still_holds(each, found) else None
        source = ClaimSource(self.handed.memory, at, self._trust(each.given), self.handed.scope, self.handed.session)
        known, replaced = found[:2] if made is not None else self._known_facts(each)
        unmet = claim.old is not None and not replaced
        wrong = self._wrong_past(each, may_be_id=unmet)
        if claim.old is not None and unmet and not wrong:
            self._report_unknown(each, claim.old)
        claim = with_days_of(claim, wrong, each.given.replaces)
        if claim.valid_to is not None and claim.valid_to <= at:
            self._take_past(replace(each, claim=claim), known, wrong, source)
            return
        if (
            claim.valid_from is None
            and not claim.denied
            and any(says_begun(claim, k.fact, self.work.now) for k in known)
        ):
            each, made = replace(each, claim=replace(claim, valid_from=at)), None
        claim, decision = made or self._resolve(each, known, replaced)
        if not claim.denied and decision.action not in (Action.NOTHING, Action.REINFORCE, Action.REDATE):
            decision = self._beside_expired(each, decision)
        self._carry_out(each, claim, decision, source)

    def _carry_out(self, each: ResolvedClaim, claim: Claim, decision: Decision, source: ClaimSource) -> None:
        """Do what was decided about a claim; what had faded with its value comes back."""
        faded = self.work.faded_fact(each.subject, claim.predicate, claim.value.norm, denied=claim.denied)
        if decision.action is Action.CREATE and faded is not None and self._is_beside(faded):
            self.writer.revive(faded, claim, source)
        elif decision.action is Action.REDATE:
            correct_days(self.writer, decision, claim, (each.subject, each.name), source)
        else:
            self.writer.carry_out(decision, claim, each.subject, each.name, source)

    def _beside_expired(self, each: ResolvedClaim, decision: Decision) -> Decision:
        """Return what becomes of a claim beside facts that say the same, and whose last day has come.

        Of their time, it corrects their days; of another time, they were over before it.
        """
        claim, at = each.claim, self.handed.at
        expired = self.work.expired_facts(each.subject, claim.predicate, claim.value.norm, at)
        for fact in (f for f in expired if not f.denied and self._is_beside(f.id)):
            end = fact.valid_to or at
            overlaps = claim.valid_from is not None and claim.valid_from < end
            if overlaps and decision.action is Action.CREATE and self._touchable([fact], each):
                because = f"its days were corrected: {claim.value.text}"
                return replace(
                    decision, action=Action.REDATE, about=tuple(self.work.known_facts([fact.id], at)), because=because
                )
            self.writer.retire(fact.id, FactEvent.ENDED, end, at, f"it held until then: {claim.value.text}")
            self.writer.tally.retired.remove(fact.id)
        return decision

    def _resolve(
        self, each: ResolvedClaim, known: Sequence[KnownFact], replaced: Collection[str]
    ) -> tuple[Claim, Decision]:
        trust, corrects, claim = self._trust(each.given), self.handed.corrects, each.claim
        if not self.registry.has(claim.predicate):
            several = any(k.fact.many and k.fact.predicate == claim.predicate for k in known)
            claim = copy_with(claim, many=True) if several else claim
        at = said_after(self.handed.at, known, self.work.now)
        return resolve_given(claim, known, replaced, at, self.policy, trust=trust, corrects=corrects)

    def _known_facts(self, each: ResolvedClaim) -> tuple[list[KnownFact], set[str]]:
        """Return the facts that a claim meets, and the ids of those that it is said to replace."""
        claim, at, trust = each.claim, self.handed.at, self._trust(each.given)
        known = self._beside(each, claim.value.norm, every=not claim.many)
        if self.handed.gone:
            known = [k for k in known if not (rests_only_on(k.fact, self.handed.gone) and outranks(k.fact, trust))]
        old_facts: list[KnownFact] = []
        if claim.old is not None:
            old_facts = self._with_old_value(each, claim.old) or self._of_memory(each, at, trust)
        elif claim.denied:
            said = [k for k in known if k.fact.value.norm == claim.value.norm and not k.fact.denied]
            ended = says_ended(each.given, self.handed.text)
            old_facts = [k for k in said if ended or k.fact.is_upcoming(self.work.now)]  # a plan is called off
        elif claim.valid_to is None:  # "Jest is gone" names what the claim does not
            others = [k for k in known if k.fact.value.norm != claim.value.norm and not k.fact.denied]
            old_facts = [k for k in others if says_over(self.handed.text, k.fact.value.text, claim.value.text)]
        if self.gone:
            old_facts += [k for k in known if rests_on(k.fact, self.gone)]  # a claim about the same replaces them
        met = {k.fact.id: k for k in (*known, *old_facts) if self._is_beside(k.fact.id)}
        return list(met.values()), {k.fact.id for k in old_facts} & met.keys()

    def _beside(self, each: ResolvedClaim, norm: str, *, every: bool = False) -> list[KnownFact]:
        """Return the facts that hold when a claim does, of one value or of every one, and what is planned of the value.

        A claim of what begins later meets what will hold on its day.
        """
        claim, at, work = each.claim, self.handed.at, self.work
        begin = claim.valid_from if claim.planned else None
        known = work.about(each.subject, claim.predicate, at, None if every else norm, holding=begin)
        planned = {f.id for f in work.upcoming_facts(each.subject, claim.predicate, norm)}
        return known + work.known_facts(sorted(planned - {k.fact.id for k in known}), at)

    def _with_old_value(self, each: ResolvedClaim, old: Value) -> list[KnownFact]:
        """Return facts with a value that no longer holds: of the predicate, of one akin, the only one, or archived."""
        claim, at = each.claim, self.handed.at
        having = [k for k in self._beside(each, old.norm) if k.fact.value.norm == old.norm and not k.fact.denied]
        if having:
            return having
        found = self.work.about(each.subject, None, at)
        having = [k for k in found if k.fact.value.norm == old.norm and not k.fact.denied]
        akin = [k for k in having if self.registry.akin(claim.predicate, k.fact.predicate)]
        if akin or len(having) == 1:
            return akin or having
        return self.work.unanswered_facts(each.subject, claim.predicate, old.norm, at)

    def _report_unknown(self, each: ResolvedClaim, old: Value) -> None:
        """Write down that nothing is known of what a claim is said to replace; refuse the id of no memory."""
        text, claim = each.given.replaces, each.claim
        ids = self._ids(text)
        before = self.work.past_facts(each.subject, claim.predicate)
        if not (self.gone.keys() | self.untouched.keys() | self.later.keys()).isdisjoint(ids) or any(
            f.value.norm == old.norm for f in before
        ):
            return  # it was replaced before
        if not ids and is_memory_id(text):
            raise NotFound(
                f"Claim {each.given.number}: there is no memory {text!r} in {self.work.namespace} to replace.",
                remedy="Nothing was stored. Name the old value, or an id that recall, list or facts returned.",
            )
        self.writer.tally.unknown.append(text)

    def _ids(self, text: str) -> list[str]:
        may_be = len(text) >= _SHORTEST_ID and " " not in text
        ids = self.ctx.store.find_ids(text, namespace=self.work.namespace, limit=2) if may_be else []
        return ids if len(ids) == 1 else []

    def _replace_note(self, identity: str, trust: Trust, claim: Claim) -> None:
        """Let a claim replace a note that it names, unless somebody more trusted wrote that."""
        for record in self.ctx.store.get(self.work.namespace, [identity]):
            said = stored_trust(record.content.metadata)
            ends = self.later if claim.planned else self.gone
            (ends if least_trust((trust, said)) is said else self.untouched).setdefault(identity)

    def _of_memory(self, each: ResolvedClaim, at: Instant, trust: Trust) -> list[KnownFact]:
        """Return the facts that a memory is or says, where a claim names its id; it is then replaced, or on its day."""
        if not (ids := self._ids(each.given.replaces)):
            return []
        self.work.read(ids)
        if ids[0] not in self.work.facts:
            self._replace_note(ids[0], trust, each.claim)
            known = self._beside(each, each.claim.value.norm, every=True) if each.claim.planned else []
            return [k for k in known if rests_on(k.fact, self.later)]
        return self.work.known_facts([i for i in ids if self.work.states[i].status is Status.ACTIVE], at)

    def _take_past(
        self, each: ResolvedClaim, known: Sequence[KnownFact], wrong: list[Fact], source: ClaimSource
    ) -> None:
        """Write down what was true, and no longer is, instead of what was wrong of it."""
        subject, claim, at = each.subject, each.claim, source.at
        expired = self.work.expired_facts(subject, claim.predicate, claim.value.norm, at)
        known = [*known, *self.work.known_facts([f.id for f in expired if self._is_beside(f.id)], at)]
        known = [k for k in known if k.fact.value.norm == claim.value.norm and not is_of_other_time(claim, k)]
        once = [f for f in self.work.past_facts(subject, claim.predicate) if f.value.norm == claim.value.norm]
        told = [*(k.fact for k in known), *(f for f in once if self._is_beside(f.id) and overlaps(f, claim))]
        if len(self._touchable(told, each)) < len(told):
            return  # somebody more trusted said until when
        known = [k for k in known if k.fact.denied == claim.denied]
        beside = PastClaimContext(known, self._touchable(once, each), wrong)
        take_past(self.writer, claim, (subject, each.name), source, beside)

    def _wrong_past(self, each: ResolvedClaim, *, may_be_id: bool) -> list[Fact]:
        """Return the facts of the past that a claim is said instead of: by value, by id, or in the words of a note."""
        is_over = each.claim.valid_to is not None and each.claim.valid_to <= self.handed.at
        if not may_be_id and not (is_over and (self.gone or each.claim.old is not None)):
            return []  # of a predicate with many values all would be read
        found = said_instead(past_facts(self.work, each.subject, each.claim.predicate), each.claim, self.gone)
        if not found and may_be_id and (ids := self._ids(each.given.replaces)):
            self.work.read(ids)
            known = [self.work.facts[i] for i in ids if i in self.work.facts]
            found = [fact for fact in known if is_past(fact, self.work.states[fact.id])]
        return self._touchable(found, each)

    def _touchable(self, facts: Sequence[Fact], each: ResolvedClaim) -> list[Fact]:
        """Return the facts that a claim may touch: those for the same to see that nobody more trusted said."""
        trust = self._trust(each.given)
        return [fact for fact in facts if self._is_beside(fact.id) and not outranks(fact, trust)]

    def _is_beside(self, identity: str) -> bool:
        """Whether the claims may touch a fact: what is seen inside one session says nothing about what all see."""
        record = self.work.record(identity)
        if self.handed.memory is not None:
            return same_audience(record, self.work.record(self.handed.memory))
        return record.state.scope is Scope.LONG_TERM

    def _mention(self, claims: Sequence[ResolvedClaim]) -> None:
        """Write down whom the memory is about."""
        memory = self.handed.memory or ""
        self.work.edits.read(self.ctx.store.documents.strict.find(self.work.namespace, Shelf.MENTION, [memory]))
        for subject in dict.fromkeys(c.subject for c in claims):
            if self.work.edits.get(Shelf.MENTION, memory, subject) is None:
                words = {c.called: (c.claim.span, c.called) for c in claims if c.subject == subject}
                self.work.edits.absorb([mention_change(memory, subject, "subject", words.values())])
