"""Changing one memory: what would happen is shown first, and what was done can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.interfaces.http.problems import status_of, told_to_callers
from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest, Redirect
from perdure.interfaces.views.journal import operation_note
from perdure.interfaces.views.values import pluralize
from perdure.records.errors import ConflictError, InvalidInput, NotFound, PerdureError
from perdure.records.memory import Form, Kind, MemoryItem, Status
from perdure.records.outcome import RestingFact
from perdure.verbs.declaration import VERBS


@dataclass(frozen=True, slots=True)
class MemoryAction:
    """One thing that a person can do to a memory."""

    verb: str
    label: str
    fits: Callable[[MemoryItem], bool]  # whether it can be done to this memory
    asks: str = ""  # the argument that a person writes: ``reason``, ``content`` or ``value``; empty for none
    effect: Callable[[MemoryItem], tuple[str, str, str]] | None = None  # what changes: (what, now, then)


def _active(m: MemoryItem) -> bool:
    return m.status is Status.ACTIVE


def _is_fact(m: MemoryItem) -> bool:
    return m.kind is Kind.FACT and _active(m)


def _then(what: str, now: str, then: str) -> Callable[[MemoryItem], tuple[str, str, str]]:
    return lambda _: (what, now, then)


def _leaves(m: MemoryItem) -> tuple[str, str, str]:
    return "in view", f"yes, {m.tokens} tokens", "no: hidden from recall and MEMORY.md"


ACTIONS: Final = (
    MemoryAction("pin", "Pin", lambda m: not m.pinned, effect=_then("pinned", "no", "yes")),
    MemoryAction("unpin", "Unpin", lambda m: m.pinned, effect=_then("pinned", "yes", "no")),
    MemoryAction("confirm", "Still true", _active, effect=_then("last confirmed", "earlier", "now")),
    MemoryAction("correct", "Correct", _is_fact, "value"),
    MemoryAction("deny", "Not true", _is_fact, "reason", _then("believed", "yes", "no: invalidated")),
    MemoryAction("both", "Both are true", _is_fact, effect=_then("in conflict", "yes", "no: both are believed")),
    MemoryAction("update", "Replace", lambda m: _active(m) and m.kind is not Kind.FACT, "content"),
    MemoryAction("archive", "Archive", _active, "reason", _leaves),
    MemoryAction("restore", "Restore", lambda m: m.status is Status.ARCHIVED, effect=_then("in view", "no", "yes")),
    MemoryAction(
        "restore",
        "Show in full",
        lambda m: _active(m) and m.form is not Form.FULL,
        effect=lambda m: ("form", f"{m.form}, {m.tokens} tokens", "full"),
    ),
)


def actions(item: MemoryItem) -> list[MemoryAction]:
    """Return what can be done to a memory."""
    return [action for action in ACTIONS if action.fits(item)]


def _action(request: PageRequest, item: MemoryItem) -> MemoryAction:
    name = request.form_value("verb") or request.query.get("verb", "")
    action = next((action for action in actions(item) if action.verb == name), None)
    if action is None:
        raise InvalidInput("This cannot be done to this memory as it is now.", remedy="Look at the memory again.")
    return action


def _item(request: PageRequest) -> MemoryItem:
    item = request.memory.get(request.required_value("id", "The memory's id"), include_archived=True)
    if item is None:
        raise NotFound("There is no such memory.", remedy="It may have been erased.")
    return item


def change_form(request: PageRequest) -> Answer:
    """Show what a change would do, with the form that does it."""
    item = _item(request)
    action = _action(request, item)
    request.require(action.verb)
    return HtmlPage("change", action.label, _values(request, item, action, ""))


def _values(request: PageRequest, item: MemoryItem, action: MemoryAction, words: str) -> dict[str, Any]:
    return {
        "notice": "",
        "resting": _sole_source_facts(request, item) if action.verb == "update" else (),
        "kept": request.form.get("keep", ()),
        "item": item,
        "action": action,
        "summary": VERBS[action.verb].summary.partition("\n\n")[0].replace("``", ""),
        "effect": action.effect(item) if action.effect else None,
        "words": words,
        "sure": not action.asks or action.asks == "reason" or bool(words),
    }


def _sole_source_facts(request: PageRequest, item: MemoryItem) -> Sequence[RestingFact]:
    return request.memory.why(item.id).sole_source_of


def make_change(request: PageRequest) -> Answer:
    """Do it, or show first what new words would replace."""
    item = _item(request)
    words = request.form_value("words")
    try:
        action = _action(request, item)
    except InvalidInput:
        if (instead := _instead(request, item)) is None:
            raise
        return _outdated_form(request, *instead, words, "It has been replaced. Below is the current version.")
    if action.asks in {"content", "value"}:
        words = request.required_value("words", "The new text")
        if not request.form_value("sure"):
            return HtmlPage("change", action.label, _values(request, item, action, words))
    if action.verb == "update" and {f.id for f in _sole_source_facts(request, item)} - set(
        request.form.get("shown", ())
    ):
        return _outdated_form(request, item, action, words, "More facts depend on it than when you opened this form.")
    arguments = dict(_arguments(action, item, words, request.form.get("keep", ())))
    outcome = getattr(request.memory, action.verb)(item.id, **arguments)
    return Redirect(request.link("/memory", id=outcome.id, done=outcome.operation))


def _instead(request: PageRequest, item: MemoryItem) -> tuple[MemoryItem, MemoryAction] | None:
    """Return what took a memory's place and what was to be done to that memory, if it can be done to this one."""
    why = request.memory.why(item.id)
    identity = why.replaced_by or next((fact.replaced_by for fact in why.no_longer_true if fact.id == item.id), None)
    now = request.memory.get(identity) if identity else None
    if now is None or not request.form_value("words"):
        return None
    found = [action for action in actions(now) if action.verb == request.form_value("verb")]
    return (now, found[0]) if found else None


def _outdated_form(request: PageRequest, item: MemoryItem, action: MemoryAction, words: str, why: str) -> Answer:
    """Return the form again, with what was typed, because it was made from what is no longer so."""
    values = {**_values(request, item, action, words), "notice": f"{why} Nothing was changed."}
    return HtmlPage("change", action.label, values, 409, ConflictError.__name__)


def _arguments(action: MemoryAction, item: MemoryItem, words: str, keeps: Sequence[str]) -> Iterator[tuple[str, Any]]:
    if action.verb == "update":
        yield "keeps", keeps
    if action.asks == "reason":
        yield "reason", words or ("decided on the page" if action.verb == "archive" else None)
    elif action.asks:
        yield action.asks, words
    elif action.label == "Show in full" or (action.verb == "restore" and item.status is Status.ACTIVE):
        yield "level", "full"


def undo(request: PageRequest) -> Answer:
    """Take operations back, in the order of the form; what was undone or erased meanwhile is left out."""
    ids = request.form.get("operation") or [request.required_value("operation", "The operation's id")]
    undone, about, nothing = list[str](), list[str](), None
    for place, identity in enumerate(ids):
        try:
            result = request.memory.undo(identity)
            undone += result.operations
            about += [memory.id for memory in result.memories]
        except InvalidInput as error:
            nothing = error
        except PerdureError as error:
            if len(ids) == 1:
                raise
            return _partial_undo_page(request, ids[place:], place, error)
    if nothing is not None and not undone:
        raise nothing
    done, back = " ".join(undone), request.form_value("id")
    for identity in (back, *about) if back else ():  # what it had become may be gone
        if request.memory.get(identity, include_archived=True) is not None:
            return Redirect(request.link("/memory", id=identity, done=done))
    return Redirect(request.link("/plans", done=done))


def _partial_undo_page(request: PageRequest, rest: Sequence[str], undone: int, error: PerdureError) -> Answer:
    """Return the page that says which of several operations could not be taken back, and goes on from there."""
    message, remedy = told_to_callers(error)
    failed = request.memory.operation(rest[0], request.namespace)
    name = f"{failed.operation} ({operation_note(failed)})" if failed else rest[0]
    many = f"{undone} of {pluralize(undone + len(rest), 'operation')} {'is' if undone == 1 else 'are'} undone."
    told = f"{many} The next one, {name}, is not: {message}"
    values = {"message": told, "remedy": f"{remedy} Then undo the rest.".strip(), "undo": (rest, "Undo the rest")}
    title = "Not all is undone" if undone else "Nothing is undone"
    return HtmlPage("error", title, values, status_of(error), type(error).__name__)
