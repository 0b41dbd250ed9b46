"""One call of the command line: which store and policy it uses, how it answers, and its exit codes."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perdure.records.access import Grant
from perdure.records.deadline import unlimited, within
from perdure.records.errors import InvalidInput, PerdureError
from perdure.user_folders import data_folder, expand_user
from perdure.verbs.results import as_json, as_object

if TYPE_CHECKING:
    from perdure.interfaces.views.blocks import Block
    from perdure.memory import Memory
    from perdure.verbs.declaration import Verb

_PASSWORD = re.compile(r"^(\w+://[^/@:]*:)[^@]*@")
_SECRET = re.compile(r"([?&](?:ssl)?password=)[^&]*")
Body = Callable[..., "Exit | None"]


class Exit(IntEnum):
    """How a command ends; ``perdure --help`` prints this list."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOTHING = 3
    STALE = 4
    ALERT = 5
    STOPPED = 130


MEANINGS = {
    Exit.OK: "done",
    Exit.FAILED: "refused or failed; the message says what to do",
    Exit.USAGE: "wrong usage of the command",
    Exit.NOTHING: "nothing found",
    Exit.STALE: "digest --check: the file is stale",
    Exit.ALERT: "alerts: a warning, or something critical",
    Exit.STOPPED: "stopped by Ctrl-C before it was done",
}


@dataclass(frozen=True, slots=True)
class Call:
    """What one call of the command line was asked to use."""

    given_store: str | None  # the store's path as given, or None for the default
    policy: str | None  # the policy's file, or None to look for one
    namespace: str | None  # as given, or None
    as_json: bool  # whether to answer in JSON
    timeout: float | None = None  # seconds that a call may take, or None for what the policy says

    @property
    def place(self) -> str:
        """The namespace for verbs that need exactly one."""
        return "default" if self.namespace is None else self.namespace

    @property
    def store(self) -> str:
        """The store's path, ``~`` resolved."""
        if self.given_store is None:
            return str(default_store())
        return str(expand_user(self.given_store)) if self.given_store.startswith("~") else self.given_store

    def refuse_namespace(self, action: str, instead: str) -> None:
        """Refuse a namespace for what can only be done with the whole store.

        Args:
            action: What would be done, as in "would {action}, not only ...".
            instead: What does it for one namespace.

        Raises:
            InvalidInput: A namespace was given.
        """
        if self.namespace is not None:
            raise InvalidInput(
                f"This would {action} of all namespaces, not only of {self.namespace!r}; nothing was written.",
                remedy=f"Leave --namespace out, or use `{instead}` for one namespace.",
            )

    @property
    def shown_store(self) -> str:
        """The store as it may be printed: without a password."""
        return without_password(self.store)

    def prepared_store(self) -> str:
        """Return the store's path; the default's folder is made, for the user alone, a named one's is not."""
        if self.given_store is None:
            folder = default_store().parent
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise InvalidInput(
                    f"The folder {folder} cannot be created ({error.strerror}).",
                    remedy="Choose another store with --store.",
                ) from error
        return self.store

    @contextmanager
    def memory(self, *, create: bool = False, lasting: bool = False) -> Iterator[Memory]:
        """Open the store for the length of a block; warnings about the embedder are printed, each once.

        Where a namespace was given, the memory acts there only.

        Args:
            create: Make a store that is not there; without it, it is an error.
            lasting: The block goes on until it is stopped: the time limit is that of each of its calls, not of all.
        """
        with short_warnings(), within(None if lasting else self.timeout), self._open_memory(create=create) as memory:
            if not create:
                self._tell_unknown_namespace(memory)
            timed = memory if self.timeout is None else memory.within(self.timeout)
            yield timed if self.namespace is None else timed.confine(Grant.of_namespace(self.namespace))

    def _tell_unknown_namespace(self, memory: Memory) -> None:
        """Say on standard error that the store has no such namespace, while it has others: it may be misspelt."""
        if self.namespace is None or "*" in self.namespace:
            return
        with suppress(PerdureError):  # what the command is about to do says so
            if (known := memory.namespaces()) and self.namespace not in known:
                from perdure.interfaces.hooks.project_notice import named  # noqa: PLC0415  # start-up time
                from perdure.rules.escaping import terminal_line  # noqa: PLC0415  # start-up time

                told = f"Note: The store has no namespace {terminal_line(self.namespace)!r}. It has: {named(known)}."
                print(told, file=sys.stderr)

    def _open_memory(self, *, create: bool) -> Memory:
        import perdure  # noqa: PLC0415  # numpy and SQLite load only where a store is opened

        store = self.prepared_store() if create else self.store
        with within(self.timeout):
            return perdure.open(store, policy=self.policy, create=create)

    def show(
        self,
        memory: Memory,
        verb: Verb,
        arguments: Mapping[str, Any],
        result: Any,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Print the result of a verb, and what a command adds to it: as one JSON document, or as its view."""
        more = dict(notes or {})
        if self.as_json:
            print_json({**as_object(result, verb.items), **more} if more else as_json(result))
            return
        from perdure.interfaces.views import Request, view_of  # noqa: PLC0415  # start-up time
        from perdure.interfaces.views.terminal import draw, terminal  # noqa: PLC0415  # rich loads only where it draws

        bound = {**verb.defaults, **arguments}
        with unlimited():  # the call is done, and what it did is shown
            facts = {
                "store": self.shown_store,
                "namespaces": memory.namespaces(),
                "facts_hint": memory.facts_hint,
                **more,
            }
            facts |= {"says": partial(_content, memory), "standing": memory.hit_marks}
            draw(terminal(), view_of(result, Request(verb.name, bound, facts)))

    def answer(self, data: Any, *blocks: Block) -> None:
        """Print an answer: one JSON document, or what is shown of it."""
        if self.as_json:
            print_json(data)
            return
        from perdure.interfaces.views.terminal import draw, terminal  # noqa: PLC0415  # rich loads only where it draws

        draw(terminal(), blocks)


def _content(memory: Memory, identity: str) -> str:
    item = memory.get(identity, include_archived=True)
    return item.content if item else ""


def without_password(store: str) -> str:
    """Return a store's address as it may be printed: without a password."""
    return _SECRET.sub(r"\1***", _PASSWORD.sub(r"\1***@", store))


def default_store() -> Path:
    """Return the store that the command line and the MCP server share when none is named."""
    return data_folder() / "memory.db"


def print_json(data: Any) -> None:
    """Print one JSON document; characters that the terminal cannot show are escaped."""
    from perdure.rules.escaping import terminal_json  # noqa: PLC0415  # start-up time

    text = terminal_json(json.dumps(data, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None, default=str))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(data, ensure_ascii=True, default=str)
    print(text)


@contextmanager
def short_warnings() -> Iterator[None]:
    """Turn our warnings into one line each on standard error, once; other warnings stay as they are."""
    from perdure.records.errors import PerdureWarning  # noqa: PLC0415  # start-up time
    from perdure.rules.escaping import terminal_line  # noqa: PLC0415  # start-up time

    shown: set[str] = set()
    with warnings.catch_warnings():
        show_usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
            if not issubclass(category, PerdureWarning):
                show_usual(message, category, *rest, **more)
            elif str(message) not in shown:
                shown.add(str(message))
                print(f"Note: {terminal_line(str(message))}", file=sys.stderr)

        warnings.showwarning = show
        warnings.simplefilter("always", PerdureWarning)
        yield
