"""Verbs that ask authorities: databases about facts, working trees about what memories cite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from perdure.operations.ports import Context
from perdure.rules.lifecycle.reinforcement import identities
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import queries as asking

if TYPE_CHECKING:
    from perdure.knowledge.records.verification_results import Verified


class VerifyVerbs:
    """Verbs that ask authorities: databases about facts, working trees about what memories cite."""

    _context: Context

    def verify(
        self,
        namespace: str = "default",
        ids: Sequence[str] | None = None,
        *,
        limit: int = 1000,
        accept_loss: str | None = None,
    ) -> Verified:
        """Ask the authorities of the knowledge file about facts and citations, and act on it; ``undo`` takes it back.

        An authority that agrees validates a fact, once in twelve hours. One that disagrees wins: the fact is
        invalidated, a fact with the authority's value takes its place, and both values are in the answer. One that is
        silent, has several values or cannot be reached changes no fact. What memories cite (``path#symbol``, a commit)
        is looked at in the working trees, and what was seen is written down.

        Args:
            namespace: Where.
            ids: Only these memories; for a fact also the others about the same thing.
            limit: So many facts, and so many citing memories, at most, 1 to 1000; the rest comes first the next time.
            accept_loss: Why more facts may be invalidated than the loss budget allows; the journal keeps it.

        Raises:
            GateStopped: More facts disagree than the loss budget lets go; nothing was written.
        """
        reason = None if accept_loss is None else intake.checked_text(accept_loss, "accept_loss", longest=1000)
        from perdure.knowledge.operations.verify import verify  # noqa: PLC0415  # loaded on the first call

        return verify(
            self._context,
            intake.checked_namespace(namespace),
            None if ids is None else identities(list(ids) if isinstance(ids, tuple | set | frozenset) else ids),
            limit=asking.limit(limit),
            accept_loss=reason,
        )
