"""What ``consolidate`` would merge and ``summarize`` would write: shown with the texts, and applied as it was shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from perdure.interfaces.pages.asked import Answer, Asked, Elsewhere
from perdure.interfaces.views.values import tally
from perdure.records.canonical_json import encoded
from perdure.records.errors import ConflictError, InvalidInput

if TYPE_CHECKING:
    from perdure.records.plan import Plan

VERBS: Final = ("consolidate", "summarize")
"""The verbs whose dry runs are shown here."""
_SHOWN: Final = 50  # proposals that are listed
_TEXTS: Final = 20  # texts that are listed of one proposal
_DIGEST_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """One merge or one summary that would be made."""

    name: str  # the memory that stays, or the entity that is summed up
    text: str  # what is in view afterwards
    others: tuple[str, ...]  # the memories that are hidden by the merge, or that the summary stands for

    @property
    def mark(self) -> str:
        """Names the proposal and what it does; a later dry run has the same where nothing has changed."""
        return digest([self.name, self.text, *self.others])


@dataclass(frozen=True, slots=True)
class Previewed:
    """The dry run of a verb."""

    verb: str
    proposals: Sequence[ProposedChange]
    plans: Sequence[Plan]  # what does all of it
    notes: Sequence[str]  # what a person should know besides
    parts: Mapping[str, Plan] = field(default_factory=dict)  # mark -> plan, where proposals can be applied one by one

    @property
    def all(self) -> str:
        """Names all proposals together."""
        return digest([self.verb, *(one.mark for one in self.proposals)])


def digest(data: Any) -> str:
    """Return a short digest of JSON data."""
    return blake2b(encoded(data).encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()


def preview(asked: Asked, verb: str) -> dict[str, Any]:
    """Return what the page shows of a verb's dry run."""
    found = _dry_run(asked, verb)
    shown = found.proposals[:_SHOWN]
    return {
        "found": found,
        "listed": [(one, [(i, asked.content(i)) for i in one.others[:_TEXTS]]) for one in shown],
        "hides": sum(plan.hides for plan in found.plans),
        "rest": len(found.proposals) - len(shown),
    }


def _dry_run(asked: Asked, verb: str) -> Previewed:
    return _merges(asked) if verb == "consolidate" else _summaries(asked)


def _merges(asked: Asked) -> Previewed:
    found = asked.memory.consolidate(asked.namespace, dry_run=True)
    groups = [group for group in found.groups if group.action_taken == "preview"]
    merges = [
        ProposedChange(kept, asked.content(kept), tuple(i for i in group.member_ids if i != kept))
        for group in groups
        for kept in (group.representative_id,)
    ]
    alike = [f"Pairs that are alike: {tally(found.labels)}"] if found.labels else []
    return Previewed("consolidate", merges, found.plans, [*alike, *found.notes])


def _summaries(asked: Asked) -> Previewed:
    found = asked.memory.summarize(asked.namespace, dry_run=True)
    summaries = [ProposedChange(made.entity, made.text, made.sources) for made in found.made]
    parts = {one.mark: plan for one, plan in zip(summaries, found.plans, strict=True)}
    return Previewed("summarize", summaries, found.plans, [found.reason] if found.reason else [], parts)


def apply(asked: Asked, verb: str) -> Answer:
    """Apply a dry run that was shown, or the summaries of it that were chosen, if a dry run has the same result now.

    Raises:
        ConflictError: It would do something else now; nothing was written.
    """
    found = _dry_run(asked, verb)
    plans = _whole(found, asked.given("all")) if asked.given("all") else list(_part(found, asked.form.get("chosen")))
    done = asked.memory.apply_all(plans)
    return Elsewhere(asked.link("/plans", done=done.operation))


def _whole(found: Previewed, named: str) -> Sequence[Plan]:
    if named != found.all:
        raise _changed(found.verb)
    return found.plans


def _part(found: Previewed, chosen: Sequence[str] | None) -> Iterator[Plan]:
    if not chosen:
        raise InvalidInput("Nothing is chosen.", remedy="Choose at least one.")
    for mark in dict.fromkeys(chosen):
        if mark not in found.parts:
            raise _changed(found.verb)
        yield found.parts[mark]


def _changed(verb: str) -> ConflictError:
    return ConflictError(f"What {verb} would do has changed since; nothing was written.", remedy="Preview it again.")
