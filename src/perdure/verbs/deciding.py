"""Verbs about one memory: pins, tiers, use, reinforcement, a person's answers, and erasing for good."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final, Literal

from perdure.records.errors import InvalidInput
from perdure.records.wording import argument
from perdure.verbs.declaration import Param, lazy_modules, verb
from perdure.verbs.parameters import (
    DryRun,
    Entity,
    ErasureReason,
    Everywhere,
    Identities,
    Identity,
    Namespace,
    Reason,
    Session,
    Tags,
    Until,
)

if TYPE_CHECKING:
    from perdure.operations import erase as erasing
    from perdure.operations.lifecycle import manual_decisions, reinforce, usage_feedback
    from perdure.operations.ports import Context
    from perdure.records import memory as records
    from perdure.records.outcome import Outcome
    from perdure.records.signal_results import DecayResult, ReinforceResult, StrengthenResult, UseResult, WeakenResult
    from perdure.records.store_results import ErasureResult
    from perdure.rules.lifecycle import decay as decay_rules
    from perdure.rules.lifecycle import reinforcement
    from perdure.rules.validation import queries
else:
    (erasing,) = lazy_modules("perdure.operations", "erase")
    (queries,) = lazy_modules("perdure.rules.validation", "queries")
    (records,) = lazy_modules("perdure.records", "memory")
    manual_decisions, reinforce, usage_feedback = lazy_modules(
        "perdure.operations.lifecycle", "manual_decisions", "reinforce", "usage_feedback"
    )
    decay_rules, reinforcement = lazy_modules("perdure.rules.lifecycle", "decay", "reinforcement")
_ABOUT: Final = "Change one memory"
_USE: Final = "Feedback"
_SIGNALS: Final = "Maintenance"
_FADING: Final = (
    "Confidence fades by itself: set confidence.daily_factor (the share kept per day) and archive.confidence_below in "
    "the policy, for example with preset = 'confidence-decay'. `sweep` archives what has faded, `forecast` shows it."
)


class DecidingVerbs:
    """Verbs about one memory: pins, tiers, use, reinforcement, a person's answers, and erasing for good."""

    _context: Context

    @verb(_ABOUT)
    def pin(self, id: Identity) -> Outcome:
        """Keep a memory where it is: no rule moves, shortens or archives it."""
        return manual_decisions.pin(self._context, id, pinned=True)

    @verb(_ABOUT)
    def unpin(self, id: Identity) -> Outcome:
        """Unpin a memory: the policy's rules apply to it again."""
        return manual_decisions.pin(self._context, id, pinned=False)

    @verb(_ABOUT, hides=True)
    def archive(self, id: Identity, reason: Reason) -> Outcome:
        """Hide a memory, not its facts (``forget`` hides both); ``restore`` shows it again.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is superseded, invalidated or merged, and therefore already hidden.
        """
        return manual_decisions.archive(self._context, id, reason)

    @verb(_ABOUT)
    def restore(
        self,
        id: Identity,
        level: Annotated[
            Literal["full", "summary", "keywords"],
            Param("The form to restore of a shortened memory; full is the whole text.", argument=False),
        ]
        | None = None,
    ) -> Outcome:
        """Show an archived memory again, with facts hidden with it, or a fuller form. The next sweep does not undo it.

        If a fact has another value by now, both are marked as conflicting and a person is asked.
        """
        return manual_decisions.restore(self._context, id, None if level is None else records.Form(level))

    @verb(_ABOUT)
    def move(
        self,
        id: Identity,
        tier: Annotated[Literal["hot", "warm", "cold", "vault"], Param("The tier to move it to.", argument=True)],
        reason: Reason,
    ) -> Outcome:
        """Move a memory to a tier by hand. The rules continue from there, but none moves a memory out of the vault.

        Raises:
            InvalidInput: It is hidden; the message says what to do.
        """
        return manual_decisions.move(self._context, id, records.Tier(tier), reason)

    @verb(
        _USE,
        agent=("ids", "outcome", "recall_id"),
        empty=lambda done: not done.counted and bool(done.not_found),
        tell="Report how recalled memories were used: helpful if they helped; wrong if they misled you, which "
        "lowers their confidence and asks a person. Being returned does not count as use.",
    )
    def used(
        self,
        ids: Identities,
        outcome: Annotated[Literal["helpful", "wrong", "unused"], Param("How they were used.", short="-o")] = "helpful",
        recall_id: Annotated[str, Param("The answer's recall_id; if omitted, the latest recall.", redacted=True)]
        | None = None,
    ) -> UseResult:
        """Report how recalled memories were used. Being returned does not count as use; this does.

        ``helpful`` reinforces the memory and keeps the question that it answered; ``wrong`` lowers its confidence and
        asks a person; ``unused`` changes nothing. A memory counts once per recall.
        """
        return usage_feedback.used(self._context, ids, outcome, recall_id or None)

    @verb(
        _USE,
        repeatable=False,
        lifecycle=True,
        empty=lambda done: not done.reinforced,
        tell="Boost memory importance based on usage or explicit feedback. Reinforcement increases importance and can "
        "reset decay timer. To report that a recalled memory helped, use used.",
    )
    def reinforce(
        self,
        memory_ids: Annotated[Identities, Param("Memory IDs to reinforce")],
        boost_type: Annotated[
            Literal["additive", "multiplicative", "set_value"],
            Param("Add the amount, increase by this share, or set this value."),
        ] = "additive",
        boost_amount: Annotated[float, Param("The amount.", ge=0.0, le=1.0, key="importance.boost")] = 0.1,
        update_access: Annotated[bool, Param("Count this as an access.")] = True,
    ) -> ReinforceResult:
        """Raise the importance of memories, and with it their strength and stability.

        The boost is added to current importance, with diminishing returns and a daily cap (policy keys). With
        ``update_access`` decay restarts now. Importance is capped at ``importance.maximum``; a higher value stays,
        unless ``set_value`` lowers it. An archived memory is listed in ``not_found`` and does not change.
        """
        boost = reinforcement.boost_of(boost_type, boost_amount)
        return reinforce.reinforce(self._context, memory_ids, boost, update_access=update_access)

    @verb(_USE, repeatable=False, empty=lambda done: not done.strengthened)
    def strengthen(
        self, memory_ids: Identities, amount: Annotated[float, Param("Amount of energy to add.", ge=0, le=100)] = 1.0
    ) -> StrengthenResult:
        """Raise the strength of memories by hand; importance stays.

        One call adds at most ``strength.max_step`` to strength; the more energy, the longer it lasts.
        """
        return reinforce.strengthen(self._context, memory_ids, amount)

    @verb(_USE, repeatable=False, empty=lambda done: not done.weakened)
    def weaken(
        self, memory_ids: Identities, amount: Annotated[float, Param("Amount of energy to remove.", ge=0, le=100)] = 1.0
    ) -> WeakenResult:
        """Lower the strength of memories by hand; importance stays.

        One call removes at most ``max_decay_per_cycle`` x ``manual_multiplier`` (the scope's ``strength`` section),
        never below the baseline.
        """
        return reinforce.weaken(self._context, memory_ids, amount)

    @verb(
        _SIGNALS,
        lasts=True,
        hides=True,
        lifecycle=True,
        tell="Apply time and access-based decay to memory importance scores. Memories not accessed recently will have "
        "reduced importance. dry_run is TRUE by default; applied, it stores the values and sweeps. Repeated calls "
        "never compound.",
        instead=dict.fromkeys(("factor", "min_confidence"), _FADING),
    )
    def decay(
        self,
        namespace: Annotated[Everywhere, Param("Namespace to decay (all if not specified)")] | None = None,
        decay_function: Annotated[
            Literal["exponential", "linear", "step"], Param("Decay curve shape.", key="importance.shape")
        ] = "exponential",
        half_life_days: Annotated[
            float, Param("Days until importance halves (exponential).", ge=1, le=365, key="importance.half_life_days")
        ] = 30,
        min_importance: Annotated[
            float, Param("Minimum importance floor.", ge=0.0, le=0.5, key="importance.floor")
        ] = 0.1,
        access_weight: Annotated[
            float, Param("Weight of access count in decay calculation.", ge=0.0, le=1.0, key="importance.access_weight")
        ] = 0.3,
        dry_run: Annotated[DryRun, Param("Preview changes without applying")] = True,
    ) -> DecayResult:
        """Report the decayed importance; if applied, store it and sweep. The policy decides what is not given.

        The base values do not change, so how often it runs makes no difference to a memory's value. Archived
        memories are left out; pinned ones and those in the vault are reported but not changed.
        """
        settings = decay_rules.Decay(decay_function, half_life_days, min_importance, access_weight)
        return reinforce.decay(self._context, namespace, settings, dry_run=dry_run)

    @verb(
        _ABOUT,
        lasts=True,
        hides=True,
        role="admin",
        tell="Erase memories FOR GOOD, with what rests on them; undo is not possible. Use forget unless a person asks "
        "for erasure. dry_run is TRUE by default: show the person what it lists, and pass its word as confirm only "
        "after they agree.",
    )
    def erase(
        self,
        ids: Identities = (),
        *,
        namespace: Namespace = "default",
        tags: Tags = (),
        session: Session | None = None,
        until: Until | None = None,
        subject: Annotated[Entity, Param("Only memories about this person or thing, naming it, or said by it.")]
        | None = None,
        everything: Annotated[bool, Param("All memories of the namespace.")] = False,
        reason: ErasureReason | None = None,
        by: Annotated[str, Param("Who decided it; kept with the reason.", longest=200, redacted=True)] | None = None,
        confirm: Annotated[str, Param("The word that the dry run returned.", longest=40)] | None = None,
        dry_run: DryRun = True,
    ) -> ErasureResult:
        """Erase memories for good, and what was derived from them: texts, vectors, journal lines, past questions.

        What is left is when, by whom and why each was erased, and a salted digest, so that taking in the same
        transcript again does not bring it back. Facts that rest on other memories too stay, without the quote.
        Backups of the vault are rewritten. People and things that nothing else names go, too. Afterwards the store is
        searched for the erased words, and its rows for names; ``places`` lists where they were found, and
        ``unreachable`` what could not be searched. It cannot be undone.

        Raises:
            NotFound: Nothing fits.
            InvalidInput: Nothing is selected, ``confirm`` does not fit what would go, or it is given for a dry run;
                ``reason`` is missing, which only a dry run needs not.
        """
        if confirm is not None and dry_run:
            raise InvalidInput(
                "This is a dry run, and it takes no confirm; nothing was erased.",
                remedy=f"To erase, pass {argument('dry_run', on=False)} as well.",
            )
        if reason is None and not dry_run:
            raise InvalidInput("Erasing needs a reason, which is kept.", remedy="Give the reason as well.")
        narrowed = bool(tags or session or until)
        if not (ids or narrowed or subject or everything):
            raise InvalidInput("Nothing is selected.", remedy="Give ids, a filter, a subject, or everything.")
        criteria = {"tags": tags, "session": session, "until": until, "include_archived": True}
        # What only a session or a task sees is erased, too.
        filters = replace(queries.filters(self._context.policy, criteria), isolated=False) if narrowed else None
        target = erasing.Selection(tuple(ids), filters, subject, everything)
        return erasing.erase(
            self._context, namespace, target, reason=reason or "", by=by, confirm=confirm, dry_run=dry_run
        )
