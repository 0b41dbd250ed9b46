"""The tools' functions about signals and forms: decay, reinforcement, use, open questions, moves, budgets."""

# ruff: noqa: A002  # id is the contract's name

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from mcp_types import CallToolResult
from pydantic import Field

from perdure.interfaces.mcp import lifecycle_results as result
from perdure.interfaces.mcp import lifecycle_schemas as schema
from perdure.interfaces.mcp import lifecycle_texts as text
from perdure.interfaces.mcp import results as mcp_results
from perdure.interfaces.mcp import texts as mcp_texts
from perdure.interfaces.mcp.arguments import (
    AbsentText,
    DryRun,
    Identities,
    Identity,
    Namespace,
    Opened,
    Reason,
    Why,
)
from perdure.interfaces.mcp.schemas import Decided
from perdure.interfaces.mcp.texts import answer
from perdure.rules.learning_hint import untaught

if TYPE_CHECKING:  # numpy and SQLite load with the first call, not with the list of tools
    from perdure.records.outcome import Outcome


class SignalTools(Opened):
    """Verbs about signals and forms. Of ``decay`` and ``reinforce`` seed 000 sets the schemas (sections 1.3, 2.3)."""

    def decay(
        self,
        namespace: Annotated[AbsentText, Field(description="Namespace to decay (all if not specified)")] = None,
        decay_function: Annotated[
            Literal["exponential", "linear", "step"], Field(description="Decay curve shape")
        ] = "exponential",
        half_life_days: Annotated[
            float, Field(description="Days until importance halves (exponential)", ge=1, le=365)
        ] = 30,
        min_importance: Annotated[float, Field(description="Minimum importance floor", ge=0.0, le=0.5)] = 0.1,
        access_weight: Annotated[
            float, Field(description="Weight of access count in decay calculation", ge=0.0, le=1.0)
        ] = 0.3,
        dry_run: Annotated[bool, Field(description="Preview changes without applying")] = True,
    ) -> Annotated[CallToolResult, schema.Decayed]:
        """Report what importance has decayed to."""
        told = result.decayed(
            self._memory().decay(namespace, decay_function, half_life_days, min_importance, access_weight, dry_run)
        )
        return answer(told, text.decayed(told))

    def reinforce(
        self,
        memory_ids: Annotated[list[str], Field(description="Memory IDs to reinforce")],
        boost_type: Annotated[
            Literal["additive", "multiplicative", "set_value"],
            Field(description="Add the amount, grow by this share, or set this value."),
        ] = "additive",
        boost_amount: Annotated[float, Field(description="How much.", ge=0.0, le=1.0)] = 0.1,
        update_access: Annotated[bool, Field(description="Update last_accessed timestamp")] = True,
    ) -> Annotated[CallToolResult, schema.Reinforced]:
        """Raise importance."""
        told = result.reinforced(self._memory().reinforce(memory_ids, boost_type, boost_amount, update_access))
        return answer(told, text.reinforced(told))

    def weaken(
        self,
        memory_ids: Identities,
        amount: Annotated[float, Field(description="Energy to take.", ge=0, le=100)] = 1.0,
    ) -> Annotated[CallToolResult, schema.Weakened]:
        """Lower strength."""
        told = result.weakened(self._memory().weaken(memory_ids, amount))
        return answer(told, text.weakened(told))

    def used(
        self,
        ids: Identities,
        outcome: Annotated[
            Literal["helpful", "wrong", "unused"], Field(description="What became of them.")
        ] = "helpful",
        recall_id: Annotated[
            str | None, Field(description="recall_id of the answer; else the newest that returned each.")
        ] = None,
    ) -> Annotated[CallToolResult, schema.WasUsed]:
        """Tell what became of recalled memories."""
        told = result.was_used(self._memory().used(ids, outcome, recall_id))
        return answer(told, text.was_used(told))

    def review(
        self,
        namespace: Namespace = None,
        limit: Annotated[int | None, Field(description="How many; leave out for today's.", ge=1, le=50)] = None,
    ) -> Annotated[CallToolResult, schema.Questions]:
        """Return open questions."""
        told = result.questions(self._memory().review(self._place(namespace), limit))
        return answer(told, text.questions(told, untaught(self._memory().policy.knowledge)))

    def settle(
        self,
        id: Identity,
        verdict: Annotated[Literal["keep", "drop"], Field(description="keep: still true; drop: archive it.")] = "keep",
        reason: Why = None,
    ) -> Annotated[CallToolResult, Decided]:
        """Close the open questions about a memory."""
        return self._decided(self._memory().settle(id, verdict, reason), "Settled")

    def move(
        self,
        id: Identity,
        tier: Annotated[Literal["hot", "warm", "cold", "vault"], Field(description="Where to.")],
        reason: Reason,
    ) -> Annotated[CallToolResult, Decided]:
        """Move a memory to a tier."""
        return self._decided(self._memory().move(id, tier, reason), "Moved")

    def fit(
        self,
        tokens: Annotated[
            int | None, Field(description="The budget; the policy's if left out.", ge=1, le=1_000_000_000)
        ] = None,
        namespace: Namespace = None,
        dry_run: DryRun = True,
    ) -> Annotated[CallToolResult, schema.Fitted]:
        """Keep a namespace within a budget; a dry run unless told otherwise."""
        told = result.fitted(self._memory().fit(self._place(namespace), tokens, dry_run=dry_run))
        return answer(told, text.fitted(told))

    def compression(
        self,
        namespace: Namespace = None,
        queries: Annotated[int, Field(description="How many past recalls are asked again.", ge=1, le=1000)] = 50,
    ) -> Annotated[CallToolResult, schema.Compressed]:
        """Tell what compression saves and keeps."""
        told = result.compressed(self._memory().compression(self._place(namespace), queries))
        return answer(told, text.compressed(told))

    def _decided(self, outcome: Outcome, done: str) -> CallToolResult:
        told = mcp_results.decided(outcome)
        return answer(told, mcp_texts.decided(told, done))
