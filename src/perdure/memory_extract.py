"""Verbs about taking in what was said: conversations, extraction, and what a coding agent's hooks need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

from perdure.operations import extract as extracting
from perdure.operations import ingest
from perdure.operations.hooks import Agent
from perdure.operations.ports import Context, Progress
from perdure.records.extraction_results import ExtractResult
from perdure.records.memory import Scope
from perdure.records.message import Message
from perdure.records.report import Ingested
from perdure.rules.restatement import checked_threshold
from perdure.rules.source_trust import trust_of
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import queries as asking


class ExtractVerbs:
    """Verbs about taking in what was said: conversations, extraction, and what a coding agent's hooks need."""

    _context: Context

    def ingest(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        namespace: str = "default",
        session: str | None = None,
        *,
        scope: str = "long_term",
        embed: Literal["now", "later"] = "now",
        progress: Progress | None = None,
    ) -> Ingested:
        """Store a conversation: messages with content, role, at. Taking it in twice adds nothing.

        Replies that quote or paraphrase a recent hit mark it as used; those that only repeat hits are not stored.

        Args:
            messages, namespace, session: What was said, where to, and the session of messages that name none.
            scope: long_term, or session: then only their session sees the messages, until they are promoted.
            embed, progress: As in ``remember_many``.

        Raises:
            InvalidInput: A message is refused; nothing was stored.
        """
        place = intake.checked_namespace(namespace)
        embed = asking.when(embed)
        return ingest.ingest(
            self._context,
            messages,
            place,
            session=intake.optional_text(session, "session"),
            scope=intake.checked_choice(scope, Scope, "scope"),
            embed=embed,
            progress=progress,
        )

    def extract(
        self,
        text: str,
        namespace: str = "extracted",
        min_confidence: float = 0.5,
        deduplicate: bool = True,
        dedup_threshold: float = 0.9,
        *,
        session: str | None = None,
        task: str | None = None,
        at: datetime | None = None,
        role: str = "user",
    ) -> ExtractResult:
        """Store what is worth remembering in a text as notes (seed 000 section 3); one operation, so ``undo`` works.

        Each note has its extraction's confidence, the importance ``extract.importance``, the tag of its pattern, the
        source "extracted" and, in its metadata, its span. Where the policy says so, a language model checks what was
        found and may add what stands in the text word for word; if it fails, extraction goes on without it.

        Args:
            text: At most ``extract.max_text`` characters, 50,000 by default.
            namespace, min_confidence: Where to; candidates below it are left out, 0 to 1.
            deduplicate: Leave out what is known: the same words, or alike enough with nothing of its meaning lost. What
                was said in a conversation (an episode) does not make it known. An archived memory of the same words is
                shown again. The very same words are never stored twice, also without this.
            dedup_threshold: Alike is 0.7 cosine + 0.3 shared words of at least this, 0.7 to 0.99.
            session, task: What the notes belong to; they then have its scope.
            at: When it was said, an aware datetime; now if not given.
            role: Whose words these are: user, assistant, or another such as tool; the notes inherit that trust.

        Returns:
            What was found. ``extractions`` are the most confident, at most ``extract.max_candidates``;
            ``candidates_found`` counts all.

        Raises:
            InvalidInput: A value is refused, for example a text that is too long; nothing was stored.
        """
        belongs = intake.optional_text(session, "session"), intake.optional_text(task, "task")
        trust = trust_of(intake.checked_text(role, "role", longest=200))
        place = extracting.Place(intake.checked_namespace(namespace), *belongs, at, trust=trust)
        threshold = checked_threshold(dedup_threshold)
        return extracting.extract(
            self._context,
            intake.checked_text(text, "text", longest=self._context.policy.extract.max_text),
            place,
            min_confidence=intake.checked_share(min_confidence, "min_confidence"),
            dedup_threshold=threshold if deduplicate else None,
        )

    @property
    def agent(self) -> Agent:
        """What a coding agent's hooks need: sessions, what was said in them, what to show the agent."""
        return Agent(self._context)
