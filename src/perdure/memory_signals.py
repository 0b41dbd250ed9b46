"""Verbs about a memory's signals: decay, reinforcement, use, and moving by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from perdure.operations.lifecycle import decay, reinforce, review
from perdure.operations.lifecycle import manual_tiering as overrides
from perdure.operations.lifecycle import usage_feedback as use
from perdure.operations.ports import Context
from perdure.records.errors import InvalidInput, given
from perdure.records.memory import Tier
from perdure.records.outcome import Outcome
from perdure.records.signal_results import DecayResult, Question, ReinforceResult, Used, WeakenResult
from perdure.rules.lifecycle import decay as decaying
from perdure.rules.lifecycle import reinforcement as reinforcing
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import queries as asking

_OUTCOMES = ("helpful", "wrong", "unused")
_VERDICTS = ("keep", "drop")


class SignalVerbs:
    """Verbs about a memory's signals: decay, reinforcement, use, and moving by hand."""

    _context: Context

    def decay(
        self,
        namespace: str | None = None,
        decay_function: Literal["exponential", "linear", "step"] = "exponential",
        half_life_days: float = 30.0,
        min_importance: float = 0.1,
        access_weight: float = 0.3,
        dry_run: bool = True,
    ) -> DecayResult:
        """Report what importance has decayed to (seed 000 section 1); applied, write it down and sweep.

        No base changes, so running it often, late or never makes no difference to what a memory is worth. Archived
        memories are left out; pinned ones and those in the vault are reported but not written.

        Args:
            namespace: Only there; everywhere if None.
            decay_function: The curve's shape.
            half_life_days: Days until importance halves, before access and importance lengthen it; 1 to 365.
            min_importance: Decay does not go below this; 0 to 0.5. A base that is lower is not lifted.
            access_weight: Share of the loss that frequent access gives back; 0 to 1.
            dry_run: Only tell.

        Raises:
            InvalidInput: A value is outside these ranges; nothing was changed.
        """
        asked = decaying.asked(decay_function, half_life_days, min_importance, access_weight)
        place = asking.optional_namespace(namespace)
        return decay.decay(self._context, place, asked, dry_run=_flag(dry_run, "dry_run"))

    def reinforce(
        self,
        memory_ids: Sequence[str],
        boost_type: Literal["additive", "multiplicative", "set_value"] = "additive",
        boost_amount: float = 0.1,
        update_access: bool = True,
    ) -> ReinforceResult:
        """Raise the importance of memories (seed 000 section 2), and with it their strength and stability.

        The boost is added to current importance, with diminishing returns and a daily cap (policy keys). It is at most
        ``importance.maximum``, but a cap never lowers; ``set_value`` sets, also to less. An archived memory is not
        shown: it is listed in ``not_found``, and nothing of it changes.

        Args:
            memory_ids: Which; an id that is given twice counts once.
            boost_type: additive, multiplicative or set_value.
            boost_amount: 0 to 1.
            update_access: Count it as an access too, so that decay starts anew from the result. If False the memory is
                worth the same result now, and decay goes on from where it was.

        Raises:
            InvalidInput: A value is refused; nothing was changed.
        """
        boost = reinforcing.asked(boost_type, boost_amount)
        ids = reinforcing.identities(memory_ids)
        return reinforce.reinforce(self._context, ids, boost, update_access=_flag(update_access, "update_access"))

    def weaken(self, memory_ids: Sequence[str], amount: float = 1.0) -> WeakenResult:
        """Lower the strength of memories by hand (seed 003, "Manual decay"); importance is not touched.

        One call takes at most ``max_decay_per_cycle`` x ``manual_multiplier``, and never goes below the baseline.

        Args:
            memory_ids: Which; an id that is given twice counts once. An archived memory is not found.
            amount: Energy to take, 0 to 100, in units of the policy.
        """
        ids = reinforcing.identities(memory_ids)
        return reinforce.weaken(self._context, ids, decaying.between(amount, "amount", 0.0, 100.0))

    def used(
        self,
        ids: Sequence[str],
        outcome: Literal["helpful", "wrong", "unused"] = "helpful",
        recall_id: str | None = None,
    ) -> Used:
        """Tell what became of recalled memories. Being returned is no use; this is.

        ``helpful`` reinforces (``use.boost``, ``use.strength``) and remembers the question that the memory answered.
        ``wrong`` leaves ``use.wrong_factor`` of its confidence and opens a review. ``unused`` changes nothing.

        Args:
            ids: Which memories.
            outcome: What became of them.
            recall_id: ``Recall.id`` of the answer they came from; if None, the newest logged recall that returned each.
                The same memory and recall count once, except that ``wrong`` still counts after ``helpful``.
        """
        told = _choice(outcome, _OUTCOMES, "outcome")
        recalled = None if recall_id in (None, "") else asking.identity(recall_id)
        return use.used(self._context, reinforcing.identities(ids), cast("use.WhatCame", told), recalled)

    def review(self, namespace: str = "default", limit: int | None = None) -> list[Question]:
        """Return open questions to a person, the highest value at risk first. Reading them is no access.

        Asked about are memories that turned out wrong, contradictions, and facts that nobody has confirmed for long.

        Args:
            namespace: Where.
            limit: How many at most, 1 to 1000; what is left of the day's ``knowledge.questions_per_day`` if None.
        """
        most = None if limit is None else asking.limit(limit)
        return review.review(self._context, intake.checked_namespace(namespace), most)

    def settle(self, id: str, verdict: Literal["keep", "drop"] = "keep", reason: str | None = None) -> Outcome:
        """Close the open questions about a memory: ``keep`` validates it, ``drop`` archives it.

        Args:
            id: The memory.
            verdict: keep (confidence + 0.02, counted from now) or drop.
            reason: Why, for the journal.

        Raises:
            NotFound: There is no open question about it.
        """
        told = _choice(verdict, _VERDICTS, "verdict")
        why = None if reason is None else intake.checked_reason(reason, self._context.policy)
        return review.settle(self._context, asking.identity(id), cast("review.Answer", told), why)

    def move(self, id: str, tier: Literal["hot", "warm", "cold", "vault"], reason: str) -> Outcome:
        """Move a memory to a tier by hand, into the vault or out of it too; the journal keeps it as an override.

        Nearer, or out of the vault, its ages start anew. The rules go on from there.

        Args:
            id: The memory.
            tier: Where to.
            reason: Why, for the journal.

        Raises:
            InvalidInput: It is archived or hidden otherwise; the text says what to do.
        """
        chosen = intake.checked_choice(tier, Tier, "tier")
        why = intake.checked_reason(reason, self._context.policy)
        return overrides.move(self._context, asking.identity(id), chosen, why)


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be True or False.", remedy="Pass a bool.")
    return value


def _choice(value: object, choices: tuple[str, ...], name: str) -> str:
    if not isinstance(value, str) or value not in choices:
        raise InvalidInput(
            f"{name} must be one of {', '.join(choices)}, not {given(value)}.", remedy="Pick one of them."
        )
    return value
