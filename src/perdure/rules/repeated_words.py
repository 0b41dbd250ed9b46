"""Remembering words that are known already: what the memory that is there takes over from the new draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from perdure.records.digests import same_words
from perdure.records.instant import text_of
from perdure.records.memory import Draft, Kind
from perdure.records.policy import Policy
from perdure.rules.decisions import Decisions
from perdure.rules.last_said import said_at
from perdure.rules.redaction import redact
from perdure.rules.source_trust import stored_trust, with_trust
from perdure.rules.validation.inputs import checked_metadata, checked_tags


def is_same_text(stored: str, given: str) -> bool:
    """Whether a text is the one that was stored; case, white space and normal forms do not count.

    Nor do secrets that were replaced in only one of them: the policy's ``knowledge.redact`` may have changed between.
    """
    words, again = same_words(stored), same_words(given)
    return words == again or same_words(redact(stored)[0]) == again or words == same_words(redact(given)[0])


def merge_drafts(first: Draft, again: Draft, policy: Policy) -> Draft:
    """Return a draft that stands for two of the same words: all tags, the later metadata, the higher importance.

    It has the first one's key, or the later one's where that has none.
    """
    return replace(
        first,
        key=again.key if first.key is None else first.key,
        tags=_tags(first.tags, again, policy),
        metadata=_metadata(first.metadata, again, policy),
        importance=max(first.importance, again.importance),
        pinned=first.pinned or again.pinned,
    )


def decide_merge(decisions: Decisions, identity: str, draft: Draft, *, is_news: bool) -> None:
    """Decide what a memory takes over from a draft of the same words; nothing where it has all of that already.

    Tags are added, keys of metadata are replaced by new ones, the higher importance and a pin count. Where that is
    news (``is_news``), because anything was written down since it was last said, it counts as said again. Whose word it
    is stays: that somebody else says the same makes it neither more nor less trusted. The memory must be before the
    decisions.
    """
    content, state, policy = decisions.records[identity].content, decisions.states[identity], decisions.policy
    tags, metadata = _tags(content.tags, draft, policy), _metadata(content.metadata, draft, policy)
    importance, pinned = max(state.importance, draft.importance), state.pinned or draft.pinned
    news = [f"tags {', '.join(tags[len(content.tags) :])}"] if len(tags) > len(content.tags) else []
    news += ["metadata"] if metadata != content.metadata else []
    news += [f"importance {state.importance:.3f} to {importance:.3f}"] if importance > state.importance else []
    news += ["pinned"] if pinned and not state.pinned else []
    again = is_news and draft.at > said_at(state) and state.kind is not Kind.FACT  # facts have a clock of their own
    news += [f"counts as said on {text_of(draft.at)[:10]}"] if again else []
    because = f"remembered again: {'; '.join(news)}"
    after = replace(state, importance=importance, pinned=pinned)
    after = replace(after, validated_ms=draft.at) if again else after
    decisions.change(identity, after, "merged", because)
    decisions.label(identity, because, tags=tags, metadata=metadata)


def _tags(known: tuple[str, ...], draft: Draft, policy: Policy) -> tuple[str, ...]:
    return known if set(draft.tags) <= set(known) else checked_tags((*known, *draft.tags), policy)


def _metadata(known: Mapping[str, Any], draft: Draft, policy: Policy) -> Mapping[str, Any]:
    merged = with_trust({**known, **draft.metadata}, stored_trust(known))
    return known if merged == known else checked_metadata(merged, policy)
