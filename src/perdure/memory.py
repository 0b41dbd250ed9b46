"""The Python API: a memory store and its verbs. Start with ``perdure.open("agent.db")``."""

from __future__ import annotations

from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from perdure.records.instant import from_instant
from perdure.rules.learning_hint import untaught
from perdure.verbs.consolidating import ConsolidatingVerbs
from perdure.verbs.deciding import DecidingVerbs
from perdure.verbs.erasing import ErasingVerbs
from perdure.verbs.facts import FactVerbs
from perdure.verbs.lazy import lazy_modules
from perdure.verbs.maintaining import MaintainingVerbs
from perdure.verbs.recalling import RecallingVerbs
from perdure.verbs.reviewing import ReviewingVerbs
from perdure.verbs.storing import StoringVerbs

if TYPE_CHECKING:
    from typing import Literal

    from perdure.operations import hooks, identify
    from perdure.operations.ports import Context
    from perdure.records.policy import Policy
else:
    hooks, identify = lazy_modules("perdure.operations", "hooks", "identify")


class Memory(
    StoringVerbs,
    RecallingVerbs,
    FactVerbs,
    ReviewingVerbs,
    DecidingVerbs,
    ErasingVerbs,
    ConsolidatingVerbs,
    MaintainingVerbs,
):
    """A memory store and its verbs. Thread-safe; several processes may open one file.

    Example:
        >>> import perdure
        >>> memory = perdure.open(":memory:")
        >>> kept = memory.remember("Deploys happen on Tuesdays at 10:00.")
        >>> memory.recall("When do we deploy?").hits[0].memory.content
        'Deploys happen on Tuesdays at 10:00.'
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._context.policy

    @property
    def now(self) -> datetime:
        """What the store's clock says, in UTC."""
        return from_instant(self._context.clock())

    @property
    def agent(self) -> hooks.Agent:
        """What a coding agent's hooks need: sessions, what was said in them, what to show the agent."""
        return hooks.Agent(self._context)

    @property
    def no_facts(self) -> str:
        """How to have facts learned, where the policy learns none; else nothing."""
        return untaught(self.policy.knowledge)

    def resolve_id(self, text: str, refers: Literal["memory", "operation"] = "memory") -> str:
        """Return the full id that a text means: an id, or the start (6 characters or more) of one or its short form.

        Raises:
            InvalidInput: It fits several.
            NotFound: It is too short to be an id and fits none.
        """
        return identify.resolve_id(self._context, text, refers)

    def close(self) -> None:
        """Write what waits and close the store."""
        self._context.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
