"""The request that a handler of a page gets: the memory, the fields that were sent, and addresses of other pages."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlencode

from perdure.records.access import EVERYWHERE, Grant, Role
from perdure.records.errors import InvalidInput, PerdureError, StoreError
from perdure.records.report import Operation
from perdure.rules.alerts import WHY
from perdure.verbs.checks import check_role
from perdure.verbs.declaration import VERBS, role_to_undo

if TYPE_CHECKING:
    from perdure.memory import Memory
    from perdure.records.outcome import RelatedMemory

_USUAL: Final = "default"
_FEW: Final = 3  # memories that are named
_LONGEST: Final = 200  # characters of a namespace's name
OFFERED: Final = 100  # namespaces that a page names


@dataclass(frozen=True)
class PageRequest:
    """One request for a page, with everything read from it that a handler may use."""

    memory: Memory  # the caller's
    path: str  # which page
    root: str = ""  # what stands before each path where the pages are mounted below another
    query: Mapping[str, str] = field(default_factory=dict)  # name -> last value
    form: Mapping[str, Sequence[str]] = field(default_factory=dict)  # name -> all values, of a form that was sent
    token: str = ""  # what each form must carry
    grant: Grant | None = None  # what the token of who is logged in allows; None where nobody has to
    known: bool = True  # whether the caller may see anything but the login
    has_model: bool = False  # whether a language model is configured; ``memory`` asks it for forms that were sent alone
    files: Mapping[str, Path] = field(default_factory=dict)  # namespace -> the MEMORY.md of its agent
    live: bool = False  # whether only the part that changes by itself is wanted

    @cached_property
    def namespaces(self) -> list[str]:
        """All namespaces that the caller sees; none where the store does not answer, so that errors can be shown."""
        try:
            return self.memory.namespaces() if self.known else []
        except StoreError:
            return []

    @cached_property
    def namespace(self) -> str:
        """The namespace that the page is about: the one named, else ``default``, else the first.

        Where the caller sees none yet, one that the caller's token reaches.
        """
        if name := self.query.get("namespace", "")[:_LONGEST]:
            return name
        if self.namespaces:
            return _USUAL if _USUAL in self.namespaces else self.namespaces[0]
        if self.grant is None or self.grant.covers(_USUAL):
            return _USUAL
        return self.grant.pattern.replace(EVERYWHERE, _USUAL)

    @cached_property
    def offered_namespaces(self) -> list[str]:
        """The namespaces that the page offers: all of them, or of very many those beside the shown one."""
        names = self.namespaces
        first = min(max(0, bisect_left(names, self.namespace) - OFFERED // 2), max(0, len(names) - OFFERED))
        return names[first : first + OFFERED]

    @cached_property
    def similar(self) -> list[str] | None:
        """Of very many namespaces those whose names contain the one that is asked for; None where that is one."""
        names, word = self.namespaces, self.namespace.casefold()
        if len(names) <= OFFERED or self.namespace in names:
            return None
        return [name for name in names if word in name.casefold()]

    @cached_property
    def newest_operation(self) -> str:
        """The id of the namespace's newest operation; empty where there is none, or the store does not answer."""
        try:
            newest = self.memory.history(namespace=self.namespace, limit=1, notes=True) if self.known else []
        except PerdureError:
            return ""
        return next((one.id for one in newest if isinstance(one, Operation)), "")

    @cached_property
    def unwritable(self) -> str:
        """Why nothing can be stored now, in words; empty where it can, or the store does not answer."""
        try:
            why = self.memory.unwritable if self.known else ""
        except StoreError:
            return ""
        return WHY[why] if why else ""

    @cached_property
    def done(self) -> list[Operation]:
        """The operations that the page before this one has made, oldest first, to be told and undone together.

        None where one of them is unknown: a part would look like the whole.
        """
        try:
            found = [self.memory.operation(identity, self.namespace) for identity in self.query.get("done", "").split()]
        except InvalidInput:
            return []
        return [] if None in found else cast("list[Operation]", found)

    @cached_property
    def undone(self) -> list[Operation]:
        """The operations that the page before this one has taken back."""
        found = (self.memory.operation(operation.undoes, self.namespace) for operation in self.done if operation.undoes)
        return [operation for operation in found if operation is not None]

    @cached_property
    def changed_back(self) -> list[RelatedMemory]:
        """The first memories that are as they were before what was taken back."""
        found = (self.memory.memories_of(operation) for operation in self.done[:_FEW] if operation.undoes)
        return list({memory.id: memory for some in found for memory in some}.values())[:_FEW]

    @cached_property
    def dropped_facts(self) -> list[RelatedMemory]:
        """The facts that the page before this one has taken out of belief by replacing a note."""
        updates = [operation for operation in self.done if operation.operation == "update"]
        return [fact for operation in updates for fact in self.memory.superseded_facts(operation)]

    @property
    def undoable(self) -> list[str]:
        """Those of ``done`` that the caller may take back, newest first."""
        standing = [o for o in reversed(self.done) if o.operation != "erase" and not o.undone_by]
        return [o.id for o in standing if self.may_undo(o)]

    def effective_operation(self, operation: Operation) -> Operation | None:
        """Return the operation that makes what one did hold now: itself, or its last redo; None where it is undone."""
        while operation.undone_by is not None:
            undo = self.memory.operation(operation.undone_by, self.namespace)
            redo = (
                None
                if undo is None or undo.undone_by is None
                else self.memory.operation(undo.undone_by, self.namespace)
            )
            if redo is None:
                return None
            operation = redo
        return operation

    def operations(self, limit: int, named: Operation | None = None) -> tuple[list[Operation], bool]:
        """Return the newest operations, at most so many, with the named one, and whether there may be others.

        What hooks and maintenance write down for themselves is left out, unless it is named: nobody wants to undo it.
        """
        newest = cast("list[Operation]", self.memory.history(namespace=self.namespace, limit=limit + 1))
        shown = newest[:limit]
        older = [named] if named is not None and named not in shown else []
        return [*shown, *older], len(newest) > limit

    @property
    def model_writes(self) -> bool:
        """Whether a language model writes summaries."""
        return self.has_model and self.memory.policy.model.summarise

    @property
    def preview(self) -> str:
        """What to preview: as the address says, or a form where a language model takes part."""
        form_preview, linked_preview = self.form_value("preview"), self.query.get("preview", "")
        return form_preview or ("" if self.model_writes and linked_preview != "consolidate" else linked_preview)

    @property
    def who(self) -> str:
        """Who is logged in, and as what; empty where nobody has to."""
        return "" if self.grant is None else f"{self.grant.actor} ({self.grant.role})"

    def allows(self, verb: str) -> bool:
        """Whether the caller may use a verb; what one may not do has no button."""
        return self.grant is None or self.grant.allows(self.role_for(verb))

    def role_for(self, verb: str) -> Role:
        """Return the role that a verb needs."""
        return VERBS[verb].needs

    def require(self, verb: str) -> None:
        """Refuse a form that the caller could not send."""
        check_role(self.role_for(verb), verb, self.memory)

    def may_undo(self, operation: Operation) -> bool:
        """Whether the caller may take an operation back."""
        return self.grant is None or self.grant.allows(role_to_undo(operation.operation))

    def link(self, path: str, **query: object) -> str:
        """Return the address of a page about the same namespace."""
        params = {name: value for name, value in query.items() if value not in (None, "")}
        if "namespace" not in params and self.query.get("namespace"):
            params["namespace"] = self.namespace
        return f"{self.root}{path}{'?' if params else ''}{urlencode(params, doseq=True)}"

    @property
    def own_address(self) -> str:
        """The address of this page, without what was just done."""
        kept = {name: value for name, value in self.query.items() if name != "done"}
        return f"{self.root}{self.path}{'?' if kept else ''}{urlencode(kept)}"

    @property
    def is_outdated_by_changes(self) -> bool:
        """Whether a change may outdate what the page shows, and it is not remade unasked: that takes a search."""
        named = any(self.query.get(name) for name in ("entity", "q", "preview", "ahead", "try"))
        return named or bool(self.form) or self.path in {"/memory", "/memory-md"}

    def content(self, identity: str) -> str:
        """Return the words of a memory, hidden or not; none where it is gone."""
        item = self.memory.get(identity, include_archived=True)
        return item.content if item else ""

    def form_value(self, name: str, default: str = "") -> str:
        """Return one value of the form that was sent."""
        return next(iter(self.form.get(name, ())), default).strip()

    @property
    def typed_text(self) -> str:
        """What a person wrote into the form that was sent, so that it is not lost where the form is refused."""
        return self.form_value("words") or self.form_value("value")

    def required_value(self, name: str, label: str) -> str:
        """Return one value of the form or of the address."""
        value = self.form_value(name) or self.query.get(name, "").strip()
        if not value:
            raise InvalidInput(f"{label} is missing.", remedy="Go back and fill in this field.")
        return value

    def number(self, name: str, default: int, most: int) -> int:
        """Return a whole number of the address, from 1 to ``most``; the default where none is given."""
        text = self.query.get(name, "")
        return min(max(int(text), 1), most) if text.isdecimal() and len(text) < len(str(most)) + 2 else default


@dataclass(frozen=True)
class HtmlPage:
    """The page that a handler answers with: a template and its values."""

    template: str  # its name, without ``.html``
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    error: str = ""  # the class of the error that it tells, for the log


@dataclass(frozen=True)
class Redirect:
    """The answer of a handler that has changed something: where the browser goes next."""

    address: str


Answer = HtmlPage | Redirect
