"""The loss budget: how many memories maintenance may hide or shorten, by plan and by day (UTC)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.records.plan import BY_HAND
from perdure.records.policy import GatePolicy

_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Budget:
    """What may still be hidden or shortened in a namespace on one day."""

    visible: int  # memories visible now
    hidden_today: int  # hidden earlier on the same day
    swept_today: int = 0  # those of them that sweeps have hidden: the sweeps of a day count as one plan
    shortened_today: int = 0  # shortened earlier on the same day

    def allowance(self, gates: GatePolicy) -> int:
        """Return how many more memories sweeps may hide on this day.

        At least one memory a day may go, however few there are, unless the policy sets a share to 0.
        """
        began = self.visible + self.hidden_today
        plan = int(gates.loss_share * began + _ROUNDING) - self.swept_today
        day = int(gates.loss_share_day * began + _ROUNDING) - self.hidden_today
        one = gates.loss_share > 0 and gates.loss_share_day > 0 and not self.swept_today
        return max(int(one), gates.loss_free_count - self.hidden_today, min(plan, day))

    def allowance_of_forms(self, gates: GatePolicy) -> int:
        """Return how many more memories sweeps may shorten on this day."""
        share = int(gates.compress_share * (self.visible + self.hidden_today) + _ROUNDING)
        one = gates.compress_share > 0 and not self.shortened_today
        return max(int(one), max(gates.loss_free_count, share) - self.shortened_today)

    def refusal(self, hides: int, gates: GatePolicy) -> str:
        """Return why a plan that hides so many is stopped; empty if it may go on."""
        if hides == 0 or self.hidden_today + hides <= gates.loss_free_count:
            return ""
        share = hides / max(1, self.visible)
        if share > gates.loss_share:
            return (
                f"loss budget: the plan would hide {hides} of {self.visible} memories ({share:.1%}); a plan may hide "
                f"at most {gates.loss_share:.0%}"
            )
        day = (self.hidden_today + hides) / max(1, self.visible + self.hidden_today)
        if day > gates.loss_share_day:
            return (
                f"loss budget: with {self.hidden_today} hidden earlier today the plan would hide {day:.1%} of the "
                f"namespace; the daily limit is {gates.loss_share_day:.0%}"
            )
        return ""

    def refusal_of(self, hides: int, shortens: int, gates: GatePolicy) -> str:
        """Return why a plan that hides and shortens so many is stopped; empty if it may go on."""
        return self.refusal(hides, gates) or self.too_short(shortens, gates)

    def too_short(self, shortens: int, gates: GatePolicy) -> str:
        """Return why a plan that shows so many in a shorter form is stopped; empty if it may go on."""
        share = shortens / max(1, self.visible)
        if shortens <= gates.loss_free_count or share <= gates.compress_share:
            return ""
        return (
            f"loss budget: the plan would shorten {shortens} of {self.visible} memories ({share:.1%}); "
            f"a plan may shorten at most {gates.compress_share:.0%}"
        )


@dataclass(frozen=True, slots=True)
class LossHistory:
    """What a namespace gained and lost on each day since some day (days since 1970 UTC).

    A loss belongs to the day of its own date, so that a late sweep finds what each past day still had to give.
    """

    visible: int  # memories visible now
    stored: Mapping[int, int]  # day -> memories stored on it
    gone: Mapping[int, int]  # day -> memories that went out of view on it, in whatever way
    hidden: Mapping[int, int]  # day -> those that count against the budget
    swept: Mapping[int, int]  # day -> those that sweeps have hidden
    shortened: Mapping[int, int]  # day -> memories that have been in their form since then

    @classmethod
    def of(
        cls,
        visible: int,
        stored: Iterable[tuple[int, int]],
        hidden: Sequence[tuple[int, str, int]],
        shortened: Iterable[tuple[int, int]],
    ) -> LossHistory:
        """Return the history of (day, how many); of what was hidden (day, operation that did it, how many)."""
        return cls(
            visible,
            dict(stored),
            _by_day((day, n) for day, _, n in hidden),
            _by_day((day, n) for day, operation, n in hidden if operation != BY_HAND),
            _by_day((day, n) for day, operation, n in hidden if operation == "sweep"),
            dict(shortened),
        )

    def budget(self, day: int) -> Budget:
        """Return the budget of a day, by what was visible when the day began."""
        began = self.visible + _since(day, self.gone) - _since(day, self.stored)
        hidden = self.hidden.get(day, 0)
        return Budget(max(0, began - hidden), hidden, self.swept.get(day, 0), self.shortened.get(day, 0))


def _since(day: int, counts: Mapping[int, int]) -> int:
    return sum(n for then, n in counts.items() if then >= day)


def _by_day(counts: Iterable[tuple[int, int]]) -> dict[int, int]:
    result: dict[int, int] = {}
    for day, n in counts:
        result[day] = result.get(day, 0) + n
    return result
