"""A verb is declared once, as an annotated method. The command line, the MCP tools and the reference derive from it."""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from importlib import import_module
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Concatenate,
    Final,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    is_typeddict,
)

from perdure.records.access import Role
from perdure.records.deadline import within
from perdure.records.written import stored_told

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

Kind = Literal[
    "text", "integer", "number", "flag", "choice", "instant", "object", "texts", "choices", "objects", "texts or object"
]
"""What a parameter takes, in the terms that every way in understands."""

Panel = Literal[
    "Store",
    "Find and explain",
    "Facts",
    "Feedback",
    "Change one memory",
    "Tasks and sessions",
    "Maintenance",
    "Learning",
    "History and undo",
    "Export and copy",
    "Backups",
    "PostgreSQL",
    "Service",
    "Setup",
]
"""Where the help page lists a command, in its order."""

REQUIRED: Final = inspect.Parameter.empty
_OF_AGENTS: Final[frozenset[Panel]] = frozenset(("Store", "Feedback", "Facts", "Tasks and sessions"))
PROFILES: Final = ("agent", "lifecycle", "full")  # the MCP profiles, each of which holds the tools of those before it


@dataclass(frozen=True, slots=True)
class Param:
    """What is said once about a parameter; its type and default stand in the signature."""

    help: str  # one sentence for people and models
    ge: float | None = None  # bounds of a number
    le: float | None = None
    gt: float | None = None
    longest: int | None = None  # most characters of a text, or of each text of a list
    least: int = 0  # how many items a list has
    most: int | None = None
    # the option's name on the command line, where it differs from the parameter's (``--tag`` for ``tags``)
    option: str | None = None
    short: str | None = None  # the option's one-letter form
    argument: bool | None = None  # whether it is positional on the command line; None: if it has no default
    stdin: bool = False  # on the command line ``-`` reads standard input
    refers: Literal["memory", "operation"] | None = None  # what the text identifies; a short form of the id is accepted
    check: Callable[[Any], Any] | None = None  # checks and returns the value, after the type is right
    key: str = (
        ""  # the policy's key whose value it has where none is given; the signature's default is that key's default
    )
    # of an instant that JSON and the command line may give as a day: which of its instants is meant; None: no day
    day: Literal["first", "last", "after"] | None = None
    redacted: bool = False  # it is stored as given: secrets in it are replaced, unless the policy keeps them
    tool: bool = True  # whether the MCP tool has it
    local: bool = False  # it names a file of the machine that runs Perdure: no tool and no route has it
    tool_choices: tuple[str, ...] = ()  # the choices that the MCP tool has, if not all

    def with_more(self, other: Param) -> Param:
        """Return what an alias says, with what is said about it in one more place."""
        overrides = {f.name: getattr(other, f.name) for f in fields(other) if getattr(other, f.name) != f.default}
        return replace(self, **overrides)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a verb, as its signature declares it."""

    name: str  # the same in every way in
    kind: Kind  # what it takes
    optional: bool  # none is accepted
    choices: tuple[str, ...]  # the texts of a choice
    default: Any  # ``REQUIRED`` if it must be given
    param: Param  # help and bounds
    records: bool = False  # Python also takes a record of ours, which is not checked again

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED

    @property
    def is_positional(self) -> bool:
        """Whether it is an argument of the command and not an option."""
        return self.required if self.param.argument is None else self.param.argument


@dataclass(frozen=True)
class Verb:
    """One verb: what every way in needs to offer it."""

    name: str  # the method's name; with dashes the command's, unless ``command`` says otherwise
    method: Callable[..., Any]  # the method itself, without checks
    panel: Panel  # where the help page lists it
    reads: bool = False  # it writes nothing (a recall writes its log, so it does not only read)
    hides: bool = False  # it can take a memory out of later answers
    repeatable: bool = True  # doing it twice is doing it once
    lasts: bool = False  # its work grows with the store or what it is given: ``limits.call_seconds`` does not end it
    shows_secret: bool = False  # its answer is shown once, so nothing may keep it
    agent: tuple[str, ...] | None = None  # its parameters in the ``agent`` profile; None if it is not in that profile
    lifecycle: bool = False  # whether the ``lifecycle`` profile has it
    command: str = ""  # the command's name, which may hold a space (``entity show``); empty: no generic command
    tool: bool = True  # whether there is an MCP tool
    tell: str = ""  # the tool's description, where the docstring does not do
    items: str = "items"  # the key that holds a result that is a list
    role: Role | None = None  # what a token must allow, where ``needs`` does not say it
    empty: Callable[[Any], bool] | None = None  # whether a result is nothing found (exit code 3)
    # argument that it does not take, but others' verbs of that name do -> what to do instead
    instead: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The method's signature, annotations as written."""
        return inspect.signature(self.method)

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """All that a call may name; those with stars are not among them."""
        return frozenset(p.name for p in self._call_parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))

    @functools.cached_property
    def positional(self) -> tuple[str, ...]:
        """What a call may give without a name, in order."""
        return tuple(p.name for p in self._call_parameters if p.kind is p.POSITIONAL_OR_KEYWORD)

    @functools.cached_property
    def required(self) -> frozenset[str]:
        """What a call must give."""
        return frozenset(p.name for p in self._call_parameters if p.name in self.names and p.default is p.empty)

    @property
    def _call_parameters(self) -> list[inspect.Parameter]:
        return list(self.signature.parameters.values())[1:]

    @functools.cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that every way in offers. Those without ``Param`` (callbacks, plans) are Python's alone."""
        found = (_parameter(p, self.method.__globals__) for p in list(self.signature.parameters.values())[1:])
        return tuple(p for p in found if p is not None)

    @property
    def creates_store(self) -> bool:
        """Whether it brings in memories, and so makes a store that is not there."""
        return self.panel == "Store" or (self.panel == "Service" and not self.reads)

    @property
    def needs(self) -> Role:
        """The role that a token must allow: verbs that only ask, those of agents, those that decide."""
        if self.role is not None:
            return self.role
        if self.reads:
            return "reader"
        return "agent" if self.agent is not None or self.panel in _OF_AGENTS else "curator"

    @property
    def defaults(self) -> dict[str, Any]:
        """Parameter -> default, of those that need not be given."""
        return {p.name: p.default for p in self.parameters if not p.required}

    @functools.cached_property
    def passes_progress(self) -> bool:
        """Whether it reports progress."""
        return "progress" in self.signature.parameters

    @property
    def summary(self) -> str:
        """The docstring without its sections (Args, Raises, ...), as help."""
        text = inspect.cleandoc(self.method.__doc__ or "")
        for section in ("\nArgs:", "\nReturns:", "\nRaises:", "\nExample:"):
            text = text.partition(section)[0]
        return text.strip()

    @property
    def description(self) -> str:
        """What a language model is told about it."""
        return self.tell or " ".join(self.summary.split())

    @property
    def title(self) -> str:
        """A title for people."""
        return self.name.replace("_", " ").capitalize()

    def in_profile(self, profile: str) -> bool:
        """Whether a profile of MCP tools has it."""
        if not self.tool:
            return False
        return profile == "full" or self.agent is not None or (profile == "lifecycle" and self.lifecycle)

    def result_type(self, types: object) -> Any:
        """Return the type of the result.

        Args:
            types: Has result types as attributes, for names that the method's module imports for type checkers only.
        """
        return _evaluate(self.method.__annotations__.get("return"), _Names(self.method.__globals__, fallback=types))


VERBS: Final[dict[str, Verb]] = {}  # all verbs by name, in the order of their declaration


_VERB_OF: Final = {
    "archive": "forget",
    "learn_procedures": "procedures",
    "learn_rates": "rates",
    "import": "erase",  # which taking it back amounts to
}
"""Operation -> the verb that makes it, where they have different names; of several the one that needs least."""


def role_to_undo(operation: str) -> Role:
    """Return the role that a token must allow to take an operation back: that of the verb that makes it."""
    made_by = VERBS.get(_VERB_OF.get(operation, operation))
    return "curator" if made_by is None else made_by.needs  # none makes what maintenance does by itself


def verb(panel: Panel, **attributes: Any) -> Callable[[Callable[Concatenate[S, P], R]], Callable[Concatenate[S, P], R]]:
    """Declare a method as a verb: its arguments are checked, and every way in can offer it.

    Args:
        panel: Where the help page lists it.
        attributes: Further attributes of ``Verb``; ``name`` where the method's differs.
    """

    def register(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
        from perdure.verbs import checks  # noqa: PLC0415  # they read declarations

        name = attributes.pop("name", method.__name__)
        attributes.setdefault("command", name.replace("_", "-"))
        declared = VERBS[name] = Verb(name, method, panel, **attributes)

        @functools.wraps(method)
        def call(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
            checks.check_role(declared.needs, declared.name, self)
            with stored_told(), within(checks.seconds_of(declared, self)):
                arguments = checks.checked_arguments(declared, self, args, kwargs)
                checks.check_namespace(declared, arguments, self)
                with checks.translate_damage(self):
                    return cast("Callable[..., R]", method)(self, **arguments)

        return cast("Callable[Concatenate[S, P], R]", call)

    return register


def _parameter(declared: inspect.Parameter, names: Mapping[str, Any]) -> Parameter | None:
    """Return what a signature declares; None for what is Python's alone."""
    hint = _evaluate(declared.annotation, _Names(names))
    parts = get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)
    declaring = next((part for part in parts if get_origin(part) is Annotated), None)
    notes = [note for note in get_args(declaring)[1:] if isinstance(note, Param)]
    if declaring is None or not notes:
        return None
    param = functools.reduce(Param.with_more, notes)
    kind, optional, choices = _kind(get_args(declaring)[0])
    records = any(part not in (declaring, NoneType) for part in parts)
    return Parameter(declared.name, kind, optional or NoneType in parts, choices, declared.default, param, records)


class _Unknown:
    """Stands for a name that a module imports for type checkers only."""


class _Names(dict[str, Any]):
    """Names of a module; one that is missing is a builtin, an attribute of ``fallback``, or unknown."""

    def __init__(self, names: Mapping[str, Any], fallback: object = builtins) -> None:
        super().__init__(names)
        self._fallback = fallback

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, None) or getattr(self._fallback, name, _Unknown)


def _evaluate(annotation: Any, names: Mapping[str, Any]) -> Any:
    """Return what an annotation of our own methods means."""
    return eval(annotation, {}, names) if isinstance(annotation, str) else annotation  # noqa: S307  # our own text


_PLAIN: Final[Mapping[Any, Kind]] = {str: "text", int: "integer", float: "number", bool: "flag", datetime: "instant"}


def _kind(base: Any) -> tuple[Kind, bool, tuple[str, ...]]:
    if base in _PLAIN:
        return _PLAIN[base], False, ()
    origin, inside = get_origin(base), get_args(base)
    if origin is Literal:
        return "choice", False, inside
    if origin in {Union, UnionType}:
        types = [part for part in inside if part is not NoneType]
        if len(types) == 1:
            kind, _, choices = _kind(types[0])
            return kind, True, choices
        return "texts or object", len(types) < len(inside), ()
    if origin is Mapping or is_typeddict(base):
        return "object", False, ()
    if origin is Sequence:
        kind, _, choices = _kind(inside[0])
        return "choices" if choices else "objects" if kind == "object" else "texts", False, choices
    raise TypeError(f"{base} is no type of a parameter")


class LazyModule:
    """Stands for a module until an attribute of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)
        return found


def lazy_modules(package: str, *names: str) -> list[LazyModule]:
    """Return stand-ins for modules of a package."""
    return [LazyModule(f"{package}.{name}") for name in names]
