"""What ``consolidate`` would merge and ``summarize`` would write: shown with the texts, and applied as it was shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from perdure.interfaces.pages.page_request import Answer, PageRequest, Redirect
from perdure.interfaces.views.values import counts_in_words
from perdure.records.digests import encoded
from perdure.records.errors import ConflictError, InvalidInput
from perdure.records.plan import Plan

VERBS: Final = ("consolidate", "summarize")  # the verbs whose dry runs are shown here
_MOST_SHOWN: Final = 50  # proposals that are listed
_MOST_TEXTS: Final = 20  # texts that are listed of one proposal
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
class VerbPreview:
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


def preview(request: PageRequest, verb: str) -> dict[str, Any]:
    """Return what the page shows of a verb's dry run."""
    dry_run = _dry_run(request, verb)
    listed = dry_run.proposals[:_MOST_SHOWN]
    return {
        "found": dry_run,
        "listed": [(one, [(i, request.content(i)) for i in one.others[:_MOST_TEXTS]]) for one in listed],
        "hides": sum(plan.hides for plan in dry_run.plans),
        "rest": len(dry_run.proposals) - len(listed),
    }


def _dry_run(request: PageRequest, verb: str) -> VerbPreview:
    return _merges(request) if verb == "consolidate" else _summaries(request)


def _merges(request: PageRequest) -> VerbPreview:
    report = request.memory.consolidate(request.namespace, dry_run=True)
    groups = [group for group in report.groups if group.action_taken == "preview"]
    merges = [
        ProposedChange(keeper, request.content(keeper), tuple(i for i in group.member_ids if i != keeper))
        for group in groups
        for keeper in (group.representative_id,)
    ]
    alike = [f"Pairs that are alike: {counts_in_words(report.labels)}"] if report.labels else []
    return VerbPreview("consolidate", merges, report.plans, [*alike, *report.notes])


def _summaries(request: PageRequest) -> VerbPreview:
    result = request.memory.summarize(request.namespace, dry_run=True)
    summaries = [ProposedChange(summary.entity, summary.text, summary.sources) for summary in result.made]
    parts = {one.mark: plan for one, plan in zip(summaries, result.plans, strict=True)}
    return VerbPreview("summarize", summaries, result.plans, [result.reason] if result.reason else [], parts)


def apply(request: PageRequest, verb: str) -> Answer:
    """Apply a dry run that was shown, or the summaries of it that were chosen, if a dry run has the same result now."""
    dry_run = _dry_run(request, verb)
    whole = request.form_value("all")
    plans = _all_plans(dry_run, whole) if whole else list(_part(dry_run, request.form.get("chosen")))
    return Redirect(request.link("/plans", done=" ".join(request.memory.apply_all(plans).operations)))


def _all_plans(dry_run: VerbPreview, digest_sent: str) -> Sequence[Plan]:
    if digest_sent != dry_run.all:
        raise _preview_outdated(dry_run.verb)
    return dry_run.plans


def _part(dry_run: VerbPreview, chosen: Sequence[str] | None) -> Iterator[Plan]:
    if not chosen:
        raise InvalidInput("Nothing is chosen.", remedy="Choose at least one.")
    for mark in dict.fromkeys(chosen):
        if mark not in dry_run.parts:
            raise _preview_outdated(dry_run.verb)
        yield dry_run.parts[mark]


def _preview_outdated(verb: str) -> ConflictError:
    return ConflictError(f"What {verb} would do has changed since; nothing was written.", remedy="Preview it again.")
