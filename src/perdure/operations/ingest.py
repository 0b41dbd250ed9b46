"""Taking in a conversation: each message becomes an episode next to its neighbours; twice adds nothing.

What replies have used of recalled memories is noticed on the way, and replies that only repeat them are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any

from perdure.operations.ports import Context, Progress
from perdure.operations.remember import Embed, remember, unique_in_batch
from perdure.operations.tombstones import without_erased
from perdure.operations.usage_detection import detect_use, mark_used
from perdure.records.errors import InvalidInput
from perdure.records.memory import Draft, Message, Scope, Sort
from perdure.records.outcome import operations_of
from perdure.records.report import Ingested
from perdure.rules.prompt_context import remove_blocks
from perdure.rules.redaction import redact_key
from perdure.rules.source_trust import trust_of, with_trust
from perdure.rules.usage_detection import REPLYING, only_repeats
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import values
from perdure.rules.worth import asks, sort_of


@dataclass(frozen=True, slots=True)
class _Said:
    """The messages as drafts."""

    drafts: list[Draft]  # in their order, each key once
    replies: frozenset[str | None]  # keys of those that an assistant said
    echoes: frozenset[str | None]  # keys of those replies that only repeat the person's message before them
    injected: int  # messages that held nothing but memories that were put before the agent


def ingest(
    ctx: Context,
    messages: Iterable[Message | Mapping[str, Any]],
    namespace: str,
    *,
    session: str | None = None,
    scope: Scope = Scope.LONG_TERM,
    shown: Sequence[str] = (),
    embed: Embed = "now",
    progress: Progress | None = None,
) -> Ingested:
    """Store the messages of a conversation as episodes, in their order.

    All messages are checked before the first one is stored. A message that is there already (same session, speaker,
    time and words) is skipped, so a grown transcript can be taken in again.
    """
    if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
        raise InvalidInput("messages must be a list.", remedy="Pass a list of dicts with content, role and at.")
    read = [_message(item, position) for position, item in enumerate(messages, 1)]
    said = _drafts(ctx, read, session, scope)
    known = ctx.store.ids_of_keys(namespace, [d.key for d in said.drafts if d.key is not None])
    fresh = without_erased(ctx, namespace, [d for d in said.drafts if d.key not in known])
    replies = [d for d in fresh if d.key in said.replies]
    seen = detect_use(ctx, namespace, replies, shown, by_meaning=embed == "now")
    used, marks = mark_used(
        ctx, seen
    )  # before the replies are stored: if this is interrupted, the next time notices them again
    new = [d for d in fresh if d.key not in seen.echoes | said.echoes]
    stored = remember(ctx, new, namespace, operation="ingest", embed=embed, progress=progress)
    sessions = tuple(dict.fromkeys(d.session for d in said.drafts if d.session is not None))
    learnt = ctx.extension.learn(ctx, namespace, sessions)  # what an interrupted run left, too
    echoes = len(fresh) - len(new) + said.injected
    operations = (*marks, *operations_of(stored), *learnt)
    return Ingested(len(new), len(read) - len(new) - echoes, sessions, operations, used, echoes)


def _message(item: Message | Mapping[str, Any], position: int) -> Message:
    if isinstance(item, Message):
        return item
    if not isinstance(item, Mapping):
        raise InvalidInput(
            f"Message {position} is of type {type(item).__name__}, not a dict.",
            remedy="Pass dicts with content, role and at.",
        )
    content = item.get("content", item.get("text"))
    if content is None:
        raise InvalidInput(f"Message {position} has no content.", remedy="Add a key 'content' with the text.")
    return Message(
        content=content,
        role=item.get("role") or "user",
        speaker=item.get("speaker"),
        at=_moment(item.get("at", item.get("timestamp")), position),
        session=item.get("session"),
        source=item.get("source"),
        key=item.get("id"),
    )


def _moment(value: Any, position: int) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"Message {position} has an invalid time: {value!r}.",
            remedy="Use ISO 8601 with a time zone, for example 2026-11-21T09:30:00Z.",
        ) from None


def _drafts(ctx: Context, messages: Sequence[Message], session: str | None, scope: Scope) -> _Said:
    now = ctx.clock()
    repeats: dict[str, int] = {}
    drafts: list[Draft] = []
    replies: set[str | None] = set()
    echoes: set[str | None] = set()
    last: dict[str | None, Draft] = {}  # the last message of each session
    for position, message in enumerate(messages, 1):
        content: Any = message.content  # what a caller gave is checked below
        if ctx.policy.use.skip_echoes and isinstance(content, str) and content.strip():
            content = remove_blocks(content)
            if not content:
                continue
        try:
            place = values.optional_text(message.session, "session") or session or "conversation"
            checked = intake.draft(
                content,
                policy=ctx.policy,
                now=now,
                kind="episode",
                confidence=ctx.policy.confidence.overheard if scope is Scope.SESSION else None,
                speaker=message.speaker or message.role,
                session=place,
                at=message.at,
                source=message.source,
                metadata=with_trust({}, trust_of(message.role, message.source)),
                idempotency_key=message.key,
                scope=scope,
            )
        except InvalidInput as error:
            raise InvalidInput(
                f"Message {position} was refused: {error.message} Nothing was stored.", remedy=error.remedy
            ) from error
        earlier = last.get(checked.session)
        made = _weighed(ctx, replace(checked, key=_key(checked, message, repeats)), message.role, earlier)
        if message.role.lower() in REPLYING:
            replies.add(made.key)
            if ctx.policy.use.skip_echoes and earlier is not None and _is_echo(made, earlier):
                echoes.add(made.key)
        last[made.session] = made
        drafts.append(made)
    marked_hot = _last_ones(unique_in_batch(drafts), ctx.policy.tiers.hot_messages)
    return _Said(marked_hot, frozenset(replies), frozenset(echoes), len(messages) - len(drafts))


def _weighed(ctx: Context, draft: Draft, role: str, earlier: Draft | None) -> Draft:
    """Return a message with what it does, and its importance by that."""
    sort, shown_by = sort_of(draft.text, role, answers=earlier is not None and asks(earlier.text))
    made = replace(draft, sort=sort, importance=getattr(ctx.policy.worth, sort), worth=shown_by)
    return ctx.extension.weigh(ctx, made, role)


def _is_echo(reply: Draft, earlier: Draft) -> bool:
    """Return whether a reply says nothing but what a person said just before it."""
    return earlier.sort is not Sort.REPLY and only_repeats(reply.text, [earlier.text])


def _last_ones(drafts: Sequence[Draft], count: int) -> list[Draft]:
    """Mark the last messages of each session: those start in hot."""
    left: dict[str | None, int] = {}
    marked = []
    for draft in reversed(drafts):
        seen = left.get(draft.session, 0)
        left[draft.session] = seen + 1
        marked.append(replace(draft, message=seen < count))
    return marked[::-1]


def _key(draft: Draft, message: Message, repeats: dict[str, int]) -> str:
    """Return a key that is the same for the same message, however often its file is read.

    The same words said again at the same time (or at no time) are told apart by their number.
    """
    if message.key is not None:
        return message_key(draft.session, message.key)
    told = "" if message.at is None else str(draft.at)
    plain = "\x1f".join((draft.session or "", draft.speaker or "", told, draft.text))
    digest = blake2b(plain.encode(), digest_size=12).hexdigest()
    repeats[digest] = repeats.get(digest, 0) + 1
    return f"message:{digest}:{repeats[digest]}"


def message_key(session: str | None, key: str) -> str:
    """Return the idempotency key of a message that has an id of its own."""
    return f"message:{session}:{redact_key(key)}"
