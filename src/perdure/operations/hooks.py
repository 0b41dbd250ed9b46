"""A coding agent's sessions: what is shown at their start and beside a prompt, what is taken in, what was left behind.

Hooks are processes of their own, so what must outlast them is a document of the session (records/memory.py): where
its transcript is, how far it was taken in, when it gave a sign of life. Two hooks of one session may run at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from perdure.operations import recall as recalling
from perdure.operations.corrections import with_unfound_corrections
from perdure.operations.documents import find_records
from perdure.operations.ports import Context
from perdure.operations.superseding import judges_statements, likely_superseded
from perdure.operations.writing import retry
from perdure.records.deadline import deadline_error, is_over, within
from perdure.records.digests import same_words
from perdure.records.errors import (
    DeadlineExceeded,
    DiskFull,
    InvalidInput,
    PerdureError,
    StoreBusy,
    StoreReadOnly,
    UncountedWarning,
)
from perdure.records.instant import Instant, day_at
from perdure.records.memory import Document, Form, Kind, MemoryItem, Message, Scope, Shelf, Sort
from perdure.records.plan import Change, Plan, Target
from perdure.records.recall import Filters, Hit
from perdure.rules.corrected_hits import with_parts
from perdure.rules.language.sentences import as_sentence
from perdure.rules.language.tokens import estimate_tokens
from perdure.rules.lifecycle.digest_entries import is_informative
from perdure.rules.lifecycle.older_statements import find_older
from perdure.rules.lifecycle.said_already import repeated_requests
from perdure.rules.newer_beside import with_later_shown, with_newer
from perdure.rules.prompt_context import context_block, fit_lines, remove_blocks
from perdure.rules.redaction import redact_by_policy
from perdure.rules.source_trust import takes_over, trust_of
from perdure.rules.worth import find_requests, is_polite

if TYPE_CHECKING:
    from perdure.operations.remember import Embed
    from perdure.records.report import IngestResult  # its many data classes take time to make

HITS: Final = 12  # so many memories are looked at for a prompt: what is over shows beside what took its place
RELEVANCE: Final = 0.05  # the least chance that a memory answers a prompt beside which it is shown
ASKING: Final = "Where it says ask: ask the user at a suitable moment, then call `review`."
ASKING_OPEN: Final = "Ask the user what is open at a suitable moment, then call `review`."
KNOWN_AGAIN: Final = 0.9  # from this likeness on, what a user asks to remember is known already
QUIET_MS: Final = 600_000  # a sign of life is written down when the last one is older; other news always is
_NOTE_WAITS: Final = 0.2  # seconds that an answer waits for another process, to note something that it does not need
_LONGEST_NOTE: Final = 30.0  # seconds that noting it may take
_PAGE: Final = 500
_LONGEST_QUESTION: Final = 10_000
_SHOWN: Final = 200
_HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class AgentSession:
    """What is known of a session."""

    id: str  # as the agent names it
    transcript: str  # its transcript's path; "" where none was told
    mark: str  # how far it was taken in, as whoever reads it writes that down; "" where it never was
    seen: Instant  # its last sign of life
    ended: Instant | None  # when it was ended, or None
    silent: bool  # whether it has been without a sign of life for longer than ``tasks.catch_up_hours``


@dataclass(frozen=True, slots=True)
class Agent:
    """What a coding agent's hooks need, over one store. Reading transcripts is theirs."""

    ctx: Context

    def find_session(self, session: str, namespace: str) -> AgentSession | None:
        """Return what is known of a session, or None."""
        found = self.ctx.store.documents.find(namespace, Shelf.SESSION, [session])
        return self._session(found[0]) if found else None

    def begin(self, session: str, namespace: str, transcript: str) -> bool:
        """Note that a session has begun, or goes on after an end; False where the store cannot be written now."""
        return self._note_now(session, namespace, {"transcript": transcript, "ended_ms": None}, "the session begins")

    def unfinished_sessions(self, namespace: str, excluded: str) -> list[AgentSession]:
        """Return the other sessions that nobody has ended, the longest silent first."""
        found: list[AgentSession] = []
        cursor = ("", "")
        while documents := self.ctx.store.documents.page(namespace, Shelf.SESSION, cursor, _PAGE):
            cursor = (documents[-1].id, documents[-1].name)
            found += [self._session(d) for d in documents]
        return sorted((s for s in found if s.ended is None and s.id != excluded), key=lambda s: (s.seen, s.id))

    def take_in(
        self,
        session: str,
        namespace: str,
        messages: Sequence[Message],
        *,
        transcript: str,
        mark: str,
        embed: Embed = "now",
    ) -> IngestResult:
        """Store what was said in a session, then note how far its transcript was read.

        The messages belong to the session until they are promoted. What a user asks to have remembered becomes a note
        besides. If this is interrupted the mark stays, and reading again stores nothing twice: messages carry their own
        ids. Of two at once each stores what the other has not, and either mark is right, because what lies before it is
        stored.
        """
        own = self._assign_session(session, namespace, messages)
        shown = self._data(session, namespace).get("shown", ())
        try:
            result = self._ingest(own, namespace, shown, embed)
        except InvalidInput:  # one message that no store can hold must not keep out all that come after it
            result = self._one_by_one(own, namespace, shown, embed)
        for message in self._stored_messages(session, namespace, own):
            self._requests(message, namespace, embed)
        self._note(session, namespace, {"transcript": transcript, "mark": mark}, f"read to {mark}")
        return result

    def alive(self, session: str, namespace: str, transcript: str) -> None:
        """Note a sign of life."""
        self._note_now(session, namespace, {"transcript": transcript}, "the session is active")

    def mark_ended(self, session: str, namespace: str) -> None:
        """Note that a session was ended: what was worth it was promoted."""
        if self._data(session, namespace):
            self._note(session, namespace, {"ended_ms": self.ctx.clock()}, "the session has ended")

    def opening(self, session: str, namespace: str) -> str:
        """Return what an agent is shown when a session begins: the digest and open questions; "" if there is nothing.

        Showing them is no access. They are noted, so that an agent that repeats them is not learned from.
        """
        from perdure.operations.lifecycle.digest import digest  # noqa: PLC0415  # only where it is used
        from perdure.rules.lifecycle.digest import render  # noqa: PLC0415  # only where it is used

        room = self.ctx.policy.digest.start_tokens - estimate_tokens(context_block(["."]))
        of_file = [estimate_tokens(render([], (), title)) - 1 for title in (namespace, "")]  # its marks and its heading
        room += next((tokens for tokens in of_file if tokens + 1 < room), 0)  # they are counted, but not shown
        shown = digest(self.ctx, namespace, budget_tokens=max(0, room), inside=session, brief=True, asking=ASKING_OPEN)
        if not shown.ids:
            return ""
        self._note_now(session, namespace, {"shown": list(shown.ids[:_SHOWN])}, "memories were shown")
        lines = shown.text.splitlines()[2:-1]  # without the marks and the heading of a file
        return context_block(["\n".join(lines)])

    def beside(self, prompt: str, session: str, namespace: str) -> str:
        """Return what an agent is shown beside a user's prompt: memories that are related; "" if nothing is known.

        What is shown counts as accessed and is logged as a recall, so that its use can be noticed. What was said or
        shown in this very session is left out, because the agent has it before it.
        """
        question = prompt[:_LONGEST_QUESTION].replace("\x00", " ").encode("utf-8", "replace").decode()
        if not question.strip() or is_polite(question):
            return ""
        hits = self._worth_showing(question, session, namespace)
        head = "Related to this prompt (recall {}; ids in brackets):"
        frame = context_block([head.format(self.ctx.ids(0)), ASKING])
        lines = fit_lines(hits, self.ctx.policy.digest.prompt_tokens - estimate_tokens(frame), estimate_tokens)
        if not lines:
            return ""
        visible = hits[: len(lines)]
        recall, _ = recalling.count_accesses(self.ctx, question, namespace, visible, self.ctx.clock())
        seen = [*self._data(session, namespace).get("shown", ()), *(h.memory.id for h in visible)]
        self._note_now(session, namespace, {"shown": seen[-_SHOWN:]}, "memories were shown")
        heading = head.format(recall) if recall else "Related to this prompt:"
        doubted = any(h.contested_with or h.question for h in visible)
        return context_block([heading, *lines, *([ASKING] if doubted else [])])

    def _worth_showing(self, question: str, session: str, namespace: str) -> list[Hit]:
        filters = Filters(isolated=True, inside=session)
        found = recalling.recall(self.ctx, question, namespace, HITS, filters, touch=False).hits
        hits = self._with_whole_texts(
            with_unfound_corrections(self.ctx, namespace, found, question, filters), namespace
        )
        shown = set(self._data(session, namespace).get("shown", ()))
        vectors = self.ctx.store.vectors(namespace, [h.memory.id for h in hits]) if hits else {}
        undecided = {h.memory.id for h in hits if h.contested_with}
        superseded = likely_superseded(self.ctx, namespace, [h.memory.id for h in hits])
        by_number, today = not judges_statements(self.ctx), day_at(self.ctx.clock(), self.ctx.policy.days.tz)
        compared = [h.memory for h in hits if not h.upcoming]
        older = find_older(compared, vectors, superseded, by_number=by_number, today=today)
        hits = list(with_parts(hits, older).values())
        over = {h.memory.id for h in hits if h.updated_by} | (older.over - undecided)
        session_messages = {h.memory.id for h in hits if h.memory.kind is Kind.EPISODE and h.memory.session == session}
        hidden = over | session_messages
        hidden |= repeated_requests(h.memory for h in hits)
        hidden |= {h.memory.id for h in hits if self._is_beside(h) or _says_again(h.memory, question)}
        related = {h.memory.id for h in hits if h.relevance >= RELEVANCE and h.memory.id not in hidden | shown}
        related |= {h.memory.id for h in hits if not related.isdisjoint(h.contested_with)}  # both sides of a conflict
        current = [h for h in hits if h.memory.id not in over and is_informative(h.memory)]
        chosen = [h for h in current if h.memory.id in related - hidden - shown]
        before = [h for h in current if h.memory.id in shown - hidden and not h.upcoming]
        return with_newer(with_later_shown(chosen, before, RELEVANCE), current, hits)

    def _is_beside(self, hit: Hit) -> bool:
        """Return whether a hit shares no word and no meaning with a prompt, but was said beside what does.

        What answers a question that does counts for more than one turn beside another (rules/ranking.py), and stays.
        """
        own = hit.parts.get("keyword", 0.0) + hit.parts.get("semantic", 0.0)
        return not own and 0.0 < hit.parts.get("neighbour", 0.0) <= self.ctx.policy.recall.neighbour

    def _with_whole_texts(self, hits: Sequence[Hit], namespace: str) -> list[Hit]:
        """Return hits with what is stored of them: what is shown here is bounded by tokens, not by forms."""
        short = [h.memory.id for h in hits if h.memory.form is not Form.FULL]
        texts = {r.id: r.content.text for r in self.ctx.store.get(namespace, short)} if short else {}
        return [
            replace(h, memory=replace(h.memory, content=texts[h.memory.id])) if h.memory.id in texts else h
            for h in hits
        ]

    # --- what the above is made of

    def _assign_session(self, session: str, namespace: str, messages: Sequence[Message]) -> list[Message]:
        """Give messages to this session, but for those that a resumed or forked transcript has copied from another.

        Copies stand before what is new, so all up to the last that is known is passed over: also a reply that was left
        out because it repeated something, and what was taken back.
        """
        copied = self._known_elsewhere(session, namespace, messages)
        first = max((place + 1 for place, m in enumerate(messages) if id(m) in copied), default=0)
        return [m if m.session == session else replace(m, session=session) for m in messages[first:]]

    def _known_elsewhere(self, session: str, namespace: str, messages: Sequence[Message]) -> set[int]:
        """Return those messages, as objects, whose id is known in another session: the client gives each id once.

        A copy may name the session that it was copied into. Where it comes from is known by its words.
        """
        from perdure.operations.ingest import message_key  # noqa: PLC0415  # only where it is used

        texts = {id(m): self._stored_text(m) for m in messages if m.key}
        sessions: dict[str, set[str]] = {}
        ids = self.ctx.store.ids_of_texts(namespace, sorted(set(texts.values()))) if texts else []
        for record in find_records(self.ctx, namespace, ids):
            sessions.setdefault(same_words(record.content.text), set()).add(record.content.session or "")
        keys = {
            message_key(other, m.key): id(m)
            for m in messages
            if m.key
            for other in {m.session or "", *sessions.get(same_words(texts[id(m)]), ())} - {"", session}
        }
        return {keys[key] for key in self.ctx.store.ids_of_keys(namespace, list(keys))}

    def _stored_text(self, message: Message) -> str:
        return redact_by_policy(remove_blocks(message.content), self.ctx.policy).strip()

    def _stored_messages(self, session: str, namespace: str, messages: Sequence[Message]) -> list[Message]:
        """Return messages without those that were not stored: what was erased must not come back as a note.

        One without an id is kept: whether it is stored cannot be told.
        """
        from perdure.operations.ingest import message_key  # noqa: PLC0415  # only where it is used

        keys = {id(m): message_key(session, m.key) for m in messages if m.key}
        stored = self.ctx.store.ids_of_keys(namespace, list(keys.values()))
        return [m for m in messages if id(m) not in keys or keys[id(m)] in stored]

    def _ingest(self, messages: Sequence[Message], namespace: str, shown: Sequence[str], embed: Embed) -> IngestResult:
        from perdure.operations.ingest import ingest  # noqa: PLC0415  # only where it is used

        # Another hook of the session may store many notes meanwhile, each of which takes a turn.
        return retry(lambda: ingest(self.ctx, messages, namespace, scope=Scope.SESSION, shown=shown, embed=embed))

    def _one_by_one(
        self, messages: Sequence[Message], namespace: str, shown: Sequence[str], embed: Embed
    ) -> IngestResult:
        from perdure.records.report import IngestResult  # noqa: PLC0415  # as above

        total = IngestResult(0, 0)
        for message in messages:
            try:
                one = self._ingest([message], namespace, shown, embed)
            except InvalidInput as error:
                self.ctx.warn(f"A message from {message.source} was skipped: {error.message}")
                continue
            total = IngestResult(
                total.added + one.added,
                total.skipped + one.skipped,
                one.sessions,
                (*total.operations, *one.operations),
                total.used + one.used,
                total.echoes + one.echoes,
            )
        return total

    def _requests(self, message: Message, namespace: str, embed: Embed) -> None:
        text = redact_by_policy(message.content, self.ctx.policy)[: self.ctx.policy.extract.max_text]
        found = [] if takes_over(text) else find_requests(text, trust_of(message.role, message.source))
        if not found:
            return
        from perdure.operations.extract import NoteDestination, store_candidates  # noqa: PLC0415  # only where it is used

        found = [replace(c, content=as_sentence(c.content)) for c in found]  # they were cut out of "Remember that ..."
        key = f"{message.session}:{message.key}"
        place = NoteDestination(namespace, message.session, at=message.at, key=key, sort=Sort.REQUEST)
        ctx = self.ctx if embed == "now" else replace(self.ctx, embedder=None)
        try:
            retry(lambda: store_candidates(ctx, found, place if message.key else replace(place, key=None), KNOWN_AGAIN))
        except PerdureError as error:  # the message itself is stored
            self.ctx.warn(f"A request to remember something was not stored as a note: {error}")

    def _session(self, document: Document) -> AgentSession:
        data = document.data
        seen_ms = int(data.get("seen_ms", 0))
        silent = self.ctx.clock() - seen_ms >= self.ctx.policy.tasks.catch_up_hours * _HOUR_MS
        return AgentSession(
            document.id, data.get("transcript", ""), data.get("mark", ""), seen_ms, data.get("ended_ms"), silent
        )

    def _data(self, session: str, namespace: str) -> dict[str, Any]:
        found = self.ctx.store.documents.find(namespace, Shelf.SESSION, [session])
        return dict(found[0].data) if found else {}

    def _note_now(self, session: str, namespace: str, news: Mapping[str, Any], because: str) -> bool:
        """Note news of a session where that can be done soon: the user waits for an answer that does not need it."""
        try:
            with within(_LONGEST_NOTE, waits=_NOTE_WAITS):
                self._note(session, namespace, news, because)
        except StoreBusy as error:
            if is_over():  # the time of the call around this, not what noting it may take
                raise error if isinstance(error, DeadlineExceeded) else deadline_error() from error
            self.ctx.warn(f"Another process writes the store, so it was not noted that {because}.", UncountedWarning)
            return False
        except (DiskFull, StoreReadOnly) as error:
            self.ctx.warn(f"It was not noted that {because}: {error}", UncountedWarning)
            return False
        return True

    def _note(self, session: str, namespace: str, news: Mapping[str, Any], because: str) -> None:
        """Write news of a session into its document, whatever another hook has written meanwhile."""

        def attempt() -> None:
            now = self.ctx.clock()
            before = self._data(session, namespace)
            after = {"opened_ms": now, "seen_ms": now, "ended_ms": None, "mark": "", **before, **news}
            if after == before and now - int(before["seen_ms"]) < QUIET_MS:
                return
            after["seen_ms"] = max(now, int(after["seen_ms"]))
            sides = [{"shelf": Shelf.SESSION, "name": "", "data": data} if data else None for data in (before, after)]
            change = Change(Target.DOCUMENT, session, sides[0], sides[1], because)
            self.ctx.store.apply(
                Plan(self.ctx.ids(now), "session", namespace, now, (change,), self.ctx.policy.version, because)
            )

        retry(attempt)


def _says_again(memory: MemoryItem, prompt: str) -> bool:
    """Return whether a message is the prompt itself, said before."""
    return memory.kind is Kind.EPISODE and same_words(memory.content) == same_words(prompt)
