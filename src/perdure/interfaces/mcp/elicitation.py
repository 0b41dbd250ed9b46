"""Asking a person through the client, where it can show a form: questions of the day, and one about an ageing hit.

Nothing is asked of clients that cannot show forms: they get the same tools, and the questions as data. Two protocols:
2026-07-28 answers a call with the questions, and the client calls again with the person's answers; 2025-11-25 and
older ask in the middle of the call.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least

from perdure.interfaces.mcp.tools import tool_answer
from perdure.records.errors import PerdureError
from perdure.verbs.reviewing import Answer

if TYPE_CHECKING:  # numpy and SQLite load with the first call, not with the list of tools
    from perdure.memory import Memory

_log = logging.getLogger(__name__)
ASKING: Final = ("recall", "review")  # the tools that may ask
_ROUNDS_SINCE: Final = "2026-07-28"
_YES, _NO = "yes", "no"
_CHOICES: Final[Mapping[Answer, str]] = {
    "confirm": _YES,
    "keep": _YES,
    "same": _YES,
    "deny": _NO,
    "drop": _NO,
    "different": _NO,
    "correct": "it changed",
    "both": "both hold",
    "mute": "do not ask again",
}
"""Verdict -> how it is put to a person."""
_LONGEST: Final = 2000

Run = Callable[[Mapping[str, Any], Mapping[str, Any]], Awaitable[CallToolResult | InputRequiredResult]]
"""Runs the tool itself with the client's arguments, and with more that the profile's tool may not have."""


class ElicitedAnswer(TypedDict):
    """What a person answered about one memory, and what came of it."""

    id: str
    verdict: str
    outcome: str


@dataclass(frozen=True, slots=True)
class ElicitedQuestion:
    """A question about one memory, as it is put to a person."""

    id: str  # the memory
    question: str  # the question
    answers: Sequence[Answer]  # the verdicts that it takes
    claim: str = ""  # of a conflict: what the memory says

    @property
    def choices(self) -> dict[Answer, str]:
        """Verdict -> how it is put to a person; what two memories contradict each other about is named."""
        named: dict[Answer, str] = {"confirm": f"this holds: {self.claim}", "deny": f"this does not hold: {self.claim}"}
        return {verdict: (self.claim and named.get(verdict)) or _CHOICES[verdict] for verdict in self.answers}

    @property
    def is_about_names(self) -> bool:
        """Whether it is asked if two predicates are the same."""
        return "same" in self.answers


class Elicitor:
    """Puts questions to people. Each is put once for as long as the server runs, whatever comes of it."""

    def __init__(self, get_memory: Callable[[], Memory], usual: Callable[[], str]) -> None:
        self._get_memory, self._usual = get_memory, usual
        self._put_before: set[tuple[str, str]] = set()

    async def call(
        self, name: str, arguments: Mapping[str, Any], context: Context[Any, Any], run: Run
    ) -> CallToolResult | InputRequiredResult:
        """Run ``recall`` or ``review``, and ask the person what is due before it answers."""
        if context.request_state is not None:
            return await self._resume(arguments, context, run)
        first = await run(arguments, {})
        if not isinstance(first, CallToolResult) or first.is_error:
            return first
        data = first.structured_content or {}
        asks = await run_sync(partial(self._due_questions, name, data, arguments.get("namespace")))
        if not asks:
            return first
        self._put_before |= {(ask.id, ask.question) for ask in asks}
        recall_id = data.get("recall_id")
        if is_version_at_least(context.protocol_version or "", _ROUNDS_SINCE):
            state = {"asked": [[a.id, a.question, a.answers, a.claim] for a in asks], "recall_id": recall_id}
            return InputRequiredResult(
                input_requests={a.id: _request(a) for a in asks}, request_state=json.dumps(state)
            )
        answered = await self._ask_one_by_one(asks, context)
        return await self._rerun(answered, arguments, recall_id, run) if answered else first

    def _due_questions(self, name: str, data: Mapping[str, Any], namespace: str | None) -> list[ElicitedQuestion]:
        """Return what may be asked now: of the day's questions those of the answer that were not put yet."""
        if name == "recall":
            put = {hit["memory"]["id"]: hit["question"] for hit in reversed(data["hits"]) if hit["question"]}
        else:
            put = {q["id"]: q["question"] for q in reversed(data["questions"])}
        fresh = {i: question for i, question in put.items() if (i, question) not in self._put_before}
        if not fresh:
            return []
        memory = self._get_memory()
        questions = memory.review(namespace or self._usual())
        today = {q.id: q for q in reversed(questions)}
        found = [(fresh[i], today[i]) for i in reversed(fresh) if i in today]  # one of each memory
        due = [
            ElicitedQuestion(q.id, text, cast("Sequence[Answer]", q.answers), "".join(q.sides[:1])) for text, q in found
        ]
        return due[:1] if name == "recall" else due  # who looks something up is asked one thing

    async def _resume(
        self, arguments: Mapping[str, Any], context: Context[Any, Any], run: Run
    ) -> CallToolResult | InputRequiredResult:
        """Go on after the client has asked. The state is sealed: it is what this server wrote."""
        state = json.loads(context.request_state or "{}")
        replies = context.input_responses or {}
        answered: list[ElicitedAnswer] = []
        for ask in (ElicitedQuestion(*fields) for fields in state["asked"]):
            reply = replies.get(ask.id)
            if isinstance(reply, ElicitResult):
                answered += await run_sync(partial(self._record_answer, ask, reply))
        return await self._rerun(answered, arguments, state["recall_id"], run)

    async def _ask_one_by_one(
        self, asks: Sequence[ElicitedQuestion], context: Context[Any, Any]
    ) -> list[ElicitedAnswer]:
        answered: list[ElicitedAnswer] = []
        for ask in asks:
            form = _request(ask).params
            try:
                reply = await context.session.elicit_form(
                    form.message, cast("ElicitRequestFormParams", form).requested_schema, context.request_id
                )
            except MCPError as error:  # the client promised what it cannot do; the answer itself is there
                _log.warning("The client could not ask: %s", error)
                break
            answered += await run_sync(partial(self._record_answer, ask, reply))
            if reply.action == "cancel":  # not now
                break
        return answered

    def _record_answer(self, ask: ElicitedQuestion, reply: ElicitResult) -> list[ElicitedAnswer]:
        """Record a person's answer; nothing where there is none, or none that can be understood."""
        if (understood := _understand(reply, ask)) is None:
            return []
        identity, (verdict, value) = ask.id, understood
        try:
            outcome = self._get_memory().answer(identity, verdict, value)
        except PerdureError as error:
            return [{"id": identity, "verdict": verdict, "outcome": f"not recorded: {error}"}]
        return [{"id": identity, "verdict": verdict, "outcome": f"{outcome.id} is {outcome.memory.status.value}"}]

    async def _rerun(
        self, answered: Sequence[ElicitedAnswer], arguments: Mapping[str, Any], recall_id: str | None, run: Run
    ) -> CallToolResult | InputRequiredResult:
        """Return the tool's answer after the person's; a recall was counted the first time."""
        result = await run(arguments, {"touch": False} if recall_id else {})
        if not isinstance(result, CallToolResult) or result.is_error:
            return result
        data = {**(result.structured_content or {}), "asked": list(answered)}
        if recall_id:
            data["recall_id"] = recall_id
        answers = "".join(f"The person was asked about {t['id']}: {t['verdict']}, {t['outcome']}.\n" for t in answered)
        reminder = (
            f"\nReport how they were used with the tool used, recall_id {recall_id}."
            if recall_id and data["hits"]
            else ""
        )
        (text,) = (block.text for block in result.content if block.type == "text")
        return tool_answer(data, answers + text + reminder)


def can_ask(context: Context[Any, Any] | None) -> bool:
    """Whether the client of a call can show a person a form."""
    if context is None or context.protocol_version is None:
        return False
    capability = context.client_capabilities.elicitation if context.client_capabilities else None
    if capability is None or (capability.form is None and capability.url is not None):
        return False
    return is_version_at_least(context.protocol_version, _ROUNDS_SINCE) or context.session.can_send_request


def _request(ask: ElicitedQuestion) -> ElicitRequest:
    choices = list(ask.choices.values())
    value = {
        "type": "string",
        "title": "If it changed: what is the new value?",
        "description": "Only the value, for example: Thursday",
        "maxLength": _LONGEST,
    }
    title = "Which holds?" if ask.claim else "Is it still right?"
    fields = {"answer": {"type": "string", "title": title, "enum": choices}, "value": value}
    if ask.is_about_names:
        fields = {"answer": {"type": "string", "title": "Are they the same?", "enum": choices}}
    schema = {"type": "object", "properties": fields, "required": ["answer"]}
    return ElicitRequest(params=ElicitRequestFormParams(message=ask.question, requested_schema=schema))


def _understand(reply: ElicitResult, ask: ElicitedQuestion) -> tuple[Answer, str | None] | None:
    """Return the verdict and the value that a person's answer means; None where it means none."""
    content = (reply.content if reply.action == "accept" else None) or {}
    choice, value = content.get("answer"), content.get("value")
    new_value = value.strip() if isinstance(value, str) and len(value) <= _LONGEST and "correct" in ask.answers else ""
    verdict = next((verdict for verdict, label in ask.choices.items() if label == choice), None)
    if new_value and verdict in {"deny", "drop", "correct"}:
        return "correct", new_value
    if verdict in {None, "correct"} or (new_value and verdict != "mute"):  # yes and a value conflict
        return None
    return verdict, None
