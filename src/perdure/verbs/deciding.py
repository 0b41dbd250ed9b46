"""Verbs about one memory's signals and place: pins, tiers, use, reinforcement, and a person's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from perdure.verbs.declaration import Param, verb
from perdure.verbs.lazy import lazy_modules
from perdure.verbs.parameters import DryRun, Everywhere, Identities, Identity, Reason

if TYPE_CHECKING:
    from perdure.operations.lifecycle import decay, manual_decisions, reinforce, usage_feedback
    from perdure.operations.ports import Context
    from perdure.records import memory as records
    from perdure.records.outcome import Outcome
    from perdure.records.signal_results import DecayResult, ReinforceResult, Used, WeakenResult
    from perdure.rules.lifecycle import decay as decay_rules
    from perdure.rules.lifecycle import reinforcement
    from perdure.rules.validation import inputs
else:
    (records,) = lazy_modules("perdure.records", "memory")
    decay, manual_decisions, reinforce, usage_feedback = lazy_modules(
        "perdure.operations.lifecycle", "decay", "manual_decisions", "reinforce", "usage_feedback"
    )
    decay_rules, reinforcement = lazy_modules("perdure.rules.lifecycle", "decay", "reinforcement")
    (inputs,) = lazy_modules("perdure.rules.validation", "inputs")
_ABOUT: Final = "Change one memory"
_USE: Final = "Feedback"
_SIGNALS: Final = "Maintenance"


class DecidingVerbs:
    """Verbs about one memory's signals and place: pins, tiers, use, reinforcement, and a person's answers."""

    _context: Context

    @verb(_ABOUT)
    def pin(self, id: Identity) -> Outcome:
        """Exempt a memory from every move, so that it never fades."""
        return manual_decisions.pin(self._context, id, pinned=True)

    @verb(_ABOUT)
    def unpin(self, id: Identity) -> Outcome:
        """Let the rules apply to a pinned memory again, from now on."""
        return manual_decisions.pin(self._context, id, pinned=False)

    @verb(_ABOUT, hides=True)
    def archive(self, id: Identity, reason: Reason) -> Outcome:
        """Hide a memory; ``restore`` shows it again. Nothing is deleted.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It is superseded, invalidated or merged, and so is hidden already.
        """
        why = inputs.checked_reason(reason, self._context.policy)
        return manual_decisions.archive(self._context, id, why)

    @verb(_ABOUT)
    def restore(
        self,
        id: Identity,
        level: Annotated[
            Literal["full", "summary", "keywords"],
            Param("The form to show again of a shortened one; full is the whole text.", argument=False),
        ]
        | None = None,
    ) -> Outcome:
        """Show an archived memory again, or more of one that was shortened. The next sweep does not take it back.

        If another value of a fact is believed by now, both are marked as conflicting and a person is asked.
        """
        return manual_decisions.restore(self._context, id, None if level is None else records.Form(level))

    @verb(_ABOUT)
    def move(
        self,
        id: Identity,
        tier: Annotated[Literal["hot", "warm", "cold", "vault"], Param("The tier to move it to.", argument=True)],
        reason: Reason,
    ) -> Outcome:
        """Move a memory to a tier by hand. The rules go on from there; nothing fades in the vault.

        Raises:
            InvalidInput: It is archived or hidden otherwise; the text says what to do.
        """
        why = inputs.checked_reason(reason, self._context.policy)
        return manual_decisions.move(self._context, id, records.Tier(tier), why)

    @verb(
        _USE,
        agent=("ids", "outcome", "recall_id"),
        empty=lambda done: not done.counted and bool(done.not_found),
        tell="Say what became of recalled memories: helpful after you used them; wrong when they misled you, which "
        "lowers their confidence and asks a person. Being returned does not count as use.",
    )
    def used(
        self,
        ids: Identities,
        outcome: Annotated[
            Literal["helpful", "wrong", "unused"], Param("What became of them.", short="-o")
        ] = "helpful",
        recall_id: Annotated[str, Param("The recall_id of the answer; if left out, the newest of each.")] | None = None,
    ) -> Used:
        """Say what became of recalled memories. Being returned does not count as use; this does.

        ``helpful`` reinforces and remembers the question that the memory answered; ``wrong`` lowers its confidence and
        asks a person; ``unused`` changes nothing. The same memory and recall count once.
        """
        return usage_feedback.used(self._context, ids, outcome, recall_id or None)

    @verb(
        _USE,
        repeatable=False,
        lifecycle=True,
        empty=lambda done: not done.reinforced,
        tell="Boost memory importance based on usage or explicit feedback. Reinforcement increases importance and can "
        "reset decay timer. To say that a recalled memory helped use used.",
    )
    def reinforce(
        self,
        memory_ids: Annotated[Identities, Param("Memory IDs to reinforce")],
        boost_type: Annotated[
            Literal["additive", "multiplicative", "set_value"],
            Param("Add the amount, grow by this share, or set this value."),
        ] = "additive",
        boost_amount: Annotated[float, Param("How much.", ge=0.0, le=1.0)] = 0.1,
        update_access: Annotated[bool, Param("Update last_accessed timestamp")] = True,
    ) -> ReinforceResult:
        """Raise the importance of memories, and with it their strength and stability.

        The boost is added to current importance, with diminishing returns and a daily cap (policy keys). It is at most
        ``importance.maximum``, but a cap never lowers; ``set_value`` sets, also to less. An archived memory is listed
        in ``not_found``, and nothing of it changes.
        """
        boost = reinforcement.boost_of(boost_type, boost_amount)
        return reinforce.reinforce(self._context, memory_ids, boost, update_access=update_access)

    @verb(_USE, repeatable=False, empty=lambda done: not done.weakened)
    def weaken(
        self,
        memory_ids: Identities,
        amount: Annotated[float, Param("Energy to take, in units of the policy.", ge=0, le=100)] = 1.0,
    ) -> WeakenResult:
        """Lower the strength of memories by hand; importance stays.

        One call takes at most ``max_decay_per_cycle`` x ``manual_multiplier``, and never goes below the baseline.
        """
        return reinforce.weaken(self._context, memory_ids, amount)

    @verb(
        _SIGNALS,
        hides=True,
        lifecycle=True,
        tell="Apply time and access-based decay to memory importance scores. Memories not accessed recently will have "
        "reduced importance. dry_run is TRUE by default; applied, it writes the figures down and sweeps. It never "
        "compounds.",
    )
    def decay(
        self,
        namespace: Annotated[Everywhere, Param("Namespace to decay (all if not specified)")] | None = None,
        decay_function: Annotated[Literal["exponential", "linear", "step"], Param("Decay curve shape")] = "exponential",
        half_life_days: Annotated[float, Param("Days until importance halves (exponential)", ge=1, le=365)] = 30,
        min_importance: Annotated[float, Param("Minimum importance floor", ge=0.0, le=0.5)] = 0.1,
        access_weight: Annotated[float, Param("Weight of access count in decay calculation", ge=0.0, le=1.0)] = 0.3,
        dry_run: Annotated[DryRun, Param("Preview changes without applying")] = True,
    ) -> DecayResult:
        """Report what importance has decayed to; applied, write it down and sweep.

        No base changes, so running it often, late or never makes no difference to what a memory is worth. Archived
        memories are left out; pinned ones and those in the vault are reported but not written.
        """
        asked = decay_rules.Decay(decay_function, half_life_days, min_importance, access_weight)
        return decay.decay(self._context, namespace, asked, dry_run=dry_run)
