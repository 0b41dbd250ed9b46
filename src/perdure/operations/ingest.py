"""Taking in a conversation: each message becomes an episode next to its neighbours; twice adds nothing.

What replies have used of recalled memories is noticed on the way, and replies that only repeat them are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final

from perdure.operations.ports import Context, Progress
from perdure.operations.remember import Embed, remember, unique_in_batch
from perdure.operations.tombstones import without_erased
from perdure.operations.usage_detection import detect_use, mark_used
from perdure.records.errors import InvalidInput, PartlyStored, PerdureError
from perdure.records.memory import Draft, Message, Scope, Sort
from perdure.records.outcome import operations_of
from perdure.records.report import IngestResult
from perdure.records.wording import term, type_name
from perdure.rules.prompt_context import remove_blocks
from perdure.rules.redaction import redact_key
from perdure.rules.source_trust import speaker_of, trust_of, with_trust
from perdure.rules.usage_detection import REPLYING, only_repeats
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import values
from perdure.rules.validation.refusals import Refusals
from perdure.rules.worth import ends_with_question, sort_of

PART: Final = 1000
PART_SIZE: Final = 4_000_000  # characters
"""Messages that are in memory at once; longer conversations are walked through twice, to check and to store them."""


_CALLS: Final = ("tool_calls", "function_call")  # what a turn of an assistant without a text has instead


@dataclass(frozen=True, slots=True)
class _Part:
    """Some messages as drafts."""

    drafts: list[Draft]  # in their order, each key once
    replies: frozenset[str | None]  # keys of those that an assistant said
    echoes: frozenset[str | None]  # keys of those replies that only repeat the person's message before them
    read: int  # messages with a text
    injected: int  # messages that held nothing but memories that were put before the agent
    empty: int  # messages without a text


@dataclass(frozen=True, slots=True)
class _Place:
    """Where and how messages are stored."""

    namespace: str
    shown: Sequence[str]
    embed: Embed
    progress: Progress | None


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
) -> IngestResult:
    """Store the messages of a conversation as episodes, in their order.

    All messages are checked before the first one is stored. A message that is there already (same session, speaker,
    time and words) is skipped, so a grown transcript can be taken in again.
    """
    if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
        raise InvalidInput(
            f"messages must be {term('objects')}, not {type_name(messages)}.",
            remedy=f"Pass {term('objects')} with content and role.",
        )
    messages = list(messages) if iter(messages) is messages else messages
    refusals = Refusals(end="Nothing was stored.")
    checking, later = _Drafting(ctx, session, scope, refusals), Counter[str | None]()
    parts = _parts(messages, refusals)
    first_part = checking.take(next(parts, []), later)
    for part in parts:
        checking.take(part, later)
        later.update(m.session or checking.session for _, m in part)
    refusals.check()
    place = _Place(namespace, shown, embed, progress)
    if not later:
        result = _store(ctx, first_part, place)
    else:
        drafting = _Drafting(ctx, session, scope, refusals)
        result = _store_parts(ctx, drafting, _parts(messages, refusals), later, place, checking.position)
    learnt = ctx.extension.learn(ctx, namespace, result.sessions)  # what an interrupted run left, too
    return replace(result, operations=(*result.operations, *learnt))


Numbered = tuple[int, Message]  # a message after its place in the list, from 1


def _parts(messages: Iterable[Message | Mapping[str, Any]], refusals: Refusals) -> Iterator[list[Numbered]]:
    part: list[Numbered] = []
    size = 0
    for position, item in enumerate(messages, 1):
        try:
            part.append((position, _message(item, position)))
        except InvalidInput as error:
            refusals.add(error)
            continue
        size += len(str(part[-1][1].content))  # what a caller gave is checked later
        if len(part) == PART or size > PART_SIZE:
            yield part
            part, size = [], 0
    if part:
        yield part


def _store_parts(
    ctx: Context,
    drafting: _Drafting,
    parts: Iterable[list[Numbered]],
    later: Counter[str | None],
    place: _Place,
    total: int,
) -> IngestResult:
    sums = IngestResult(0, 0, (), (), 0, 0)
    for number, part in enumerate(parts):
        before = drafting.position
        if number:
            later.subtract(m.session or drafting.session for _, m in part)
        try:
            one = _store(ctx, drafting.take(part, later), replace(place, progress=_from(place.progress, before, total)))
        except PerdureError as error:
            if before == 0:
                raise
            raise PartlyStored(
                f"{before} of {total} messages were stored, then: {error.message}",
                before,
                (*sums.operations, *getattr(error, "operations", ())),
                remedy=f"{error.remedy} Ingest the same again: it goes on from there.".strip(),
            ) from error
        sums = IngestResult(
            sums.added + one.added,
            sums.skipped + one.skipped,
            tuple(dict.fromkeys((*sums.sessions, *one.sessions))),
            (*sums.operations, *one.operations),
            sums.used + one.used,
            sums.echoes + one.echoes,
            sums.empty + one.empty,
        )
    return sums


def _from(progress: Progress | None, before: int, total: int) -> Progress | None:
    return None if progress is None else lambda done, _: progress(before + done, total)


def _store(ctx: Context, part: _Part, place: _Place) -> IngestResult:
    stored_keys = ctx.store.ids_of_keys(place.namespace, [d.key for d in part.drafts if d.key is not None])
    fresh = without_erased(ctx, place.namespace, [d for d in part.drafts if d.key not in stored_keys])
    replies = [d for d in fresh if d.key in part.replies]
    usage = detect_use(ctx, place.namespace, replies, place.shown, by_meaning=place.embed == "now")
    # Before the replies are stored: if this is interrupted, the next time notices them again.
    used, marks = mark_used(ctx, usage)
    new = [d for d in fresh if d.key not in usage.echoes | part.echoes]
    stored = remember(ctx, new, place.namespace, operation="ingest", embed=place.embed, progress=place.progress)
    sessions = tuple(dict.fromkeys(d.session for d in part.drafts if d.session is not None))
    echoes = len(fresh) - len(new) + part.injected
    done, known = (*marks, *operations_of(stored)), part.read - len(new) - echoes
    return IngestResult(len(new), known, sessions, done, used, echoes, part.empty)


def _message(item: Message | Mapping[str, Any], position: int) -> Message:
    if isinstance(item, Message):
        return item
    if not isinstance(item, Mapping):
        raise InvalidInput(
            f"Message {position} must be {term('object')}, not {type_name(item)}.",
            remedy=f"Pass {term('objects')} with content and role.",
        )
    content = item.get("content", item.get("text"))
    if content is None and ("content" in item or any(item.get(name) for name in _CALLS)):
        content = ""  # passed over later
    if content is None:
        raise InvalidInput(f"Message {position} has no content.", remedy="Add a key 'content' with the text.")
    role = item.get("role") or "user"
    return Message(
        content=content,
        role=role,
        speaker=speaker_of(str(role), item.get("speaker"), item.get("name")),
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
        raise InvalidInput(f"Message {position} has an invalid time: {value!r}.", remedy=values.TIME_REMEDY) from None


class _Drafting:
    """Makes drafts of messages, part by part; what was said before matters to what comes next."""

    def __init__(self, ctx: Context, session: str | None, scope: Scope, refusals: Refusals) -> None:
        self._ctx, self._scope, self._now, self._refusals = ctx, scope, ctx.clock(), refusals
        self.session = session or "conversation"  # of messages that name none
        self.position = 0  # messages so far
        self._repeats: dict[bytes, int] = {}
        self._last: dict[str | None, Draft] = {}  # the last message of each session

    def take(self, messages: Sequence[Numbered], later: Mapping[str | None, int]) -> _Part:
        """Return the next messages as drafts."""
        drafts, empty = list[Draft](), 0
        replies: set[str | None] = set()
        echoes: set[str | None] = set()
        skips = self._ctx.policy.use.skip_echoes
        for self.position, message in messages:
            content: Any = message.content  # what a caller gave is checked below
            if isinstance(content, str) and values.is_blank(content):
                empty += 1
                continue
            if skips and isinstance(content, str):
                content = remove_blocks(content)
                if not content:
                    continue
            try:
                plain = self._draft(message, content)
            except InvalidInput as error:
                self._refusals.add(error, f"Message {self.position} was refused: ")
                continue
            earlier = self._last.get(plain.session)
            draft = _classify(self._ctx, replace(plain, key=_key(plain, message, self._repeats)), message.role, earlier)
            if message.role.lower() in REPLYING:
                replies.add(draft.key)
                if skips and earlier is not None and _is_echo(draft, earlier):
                    echoes.add(draft.key)
            self._last[draft.session] = draft
            drafts.append(draft)
        marked_hot = _last_ones(unique_in_batch(drafts), self._ctx.policy.tiers.hot_messages, later)
        read = len(messages) - empty
        return _Part(marked_hot, frozenset(replies), frozenset(echoes), read, read - len(drafts), empty)

    def _draft(self, message: Message, content: Any) -> Draft:
        return intake.check_draft(
            content,
            policy=self._ctx.policy,
            now=self._now,
            kind="episode",
            confidence=self._ctx.policy.confidence.overheard if self._scope is Scope.SESSION else None,
            speaker=message.speaker or message.role,
            session=values.optional_text(message.session, "session") or self.session,
            at=message.at,
            source=message.source,
            metadata=with_trust({}, trust_of(message.role, message.source)),
            idempotency_key=message.key,
            scope=self._scope,
        )


def _classify(ctx: Context, draft: Draft, role: str, earlier: Draft | None) -> Draft:
    """Return a message with what it does, and its importance by that."""
    sort, shown_by = sort_of(draft.text, role, answers=earlier is not None and ends_with_question(earlier.text))
    classified = replace(draft, sort=sort, importance=getattr(ctx.policy.worth, sort), worth=shown_by)
    return ctx.extension.weigh(ctx, classified, role)


def _is_echo(reply: Draft, earlier: Draft) -> bool:
    """Return whether a reply says nothing but what a person said just before it."""
    return earlier.sort is not Sort.REPLY and only_repeats(reply.text, [earlier.text])


def _last_ones(drafts: Sequence[Draft], most: int, later: Mapping[str | None, int]) -> list[Draft]:
    """Mark the last messages of each session: those start in hot."""
    counts = dict(later)
    marked = []
    for draft in reversed(drafts):
        following = counts.get(draft.session, 0)
        counts[draft.session] = following + 1
        marked.append(replace(draft, message=following < most))
    return marked[::-1]


def _key(draft: Draft, message: Message, repeats: dict[bytes, int]) -> str:
    """Return a key that is the same for the same message, however often its file is read.

    The same words said again at the same time (or at no time) are distinguished by their number.
    """
    if message.key is not None:
        return message_key(draft.session, message.key)
    instant = "" if message.at is None else str(draft.at)
    plain = "\x1f".join((draft.session or "", draft.speaker or "", instant, draft.text))
    digest = blake2b(plain.encode(), digest_size=12).digest()
    repeats[digest] = repeats.get(digest, 0) + 1
    return f"message:{digest.hex()}:{repeats[digest]}"


def message_key(session: str | None, key: str) -> str:
    """Return the idempotency key of a message that has an id of its own."""
    return f"message:{session}:{redact_key(key)}"
