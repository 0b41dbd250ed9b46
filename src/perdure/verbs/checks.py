"""Arguments are checked by what their declaration says, all faults at once, before a verb does anything."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from perdure.records.access import Role
from perdure.records.damage import WHOLE, CheckScope
from perdure.records.errors import BUG, REPAIR, InvalidInput, NotAllowed, PerdureError, StoreDamaged
from perdure.records.instant import to_instant
from perdure.records.outcome import Outcome, WriteResult
from perdure.records.wording import parameter_name, shown_value, term, type_name
from perdure.rules.validation.values import IN_RANGE, ONE_OF_THEM, checked_id, checked_text
from perdure.verbs.declaration import Parameter, Verb, lazy_modules

if TYPE_CHECKING:
    from perdure.operations.ports import Context
    from perdure.operations.store_protocol import Store
    from perdure.rules import redaction
else:
    (redaction,) = lazy_modules("perdure.rules", "redaction")

_MILLION: Final = 1_000_000
_LONGEST: Final = 1000  # characters of a text for which nothing else is declared
_LARGEST: Final = 2**63  # a whole number of that size is in no store and no column
_MOST: Final = 10_000  # items of a list for which nothing else is declared


def check_role(needed: Role, action: str, memory: Any) -> None:
    """Refuse what the caller's token does not allow.

    Raises:
        NotAllowed: It does not; nothing was looked up.
    """
    grant = memory._context.grant  # noqa: SLF001  # verbs are methods of it
    if grant is not None and not grant.allows(needed):
        raise NotAllowed(
            f"{action} needs a token with the role {needed}; this one has {grant.role}.",
            remedy=f"Use such a token: `perdure token create --role {needed} "
            f'--namespace "{grant.pattern}" --actor "{grant.actor}"` makes one.',
        )


def check_namespace(verb: Verb, arguments: Mapping[str, Any], memory: Any) -> None:
    """Refuse a namespace that the caller's token does not reach; what looks in several would find nothing there.

    Raises:
        NotAllowed: It does not.
    """
    grant, namespace = memory._context.grant, arguments.get("namespace")  # noqa: SLF001  # verbs are methods of it
    if grant is not None and isinstance(namespace, str) and verb.panel != "Service":  # a token's is a pattern
        grant.check_reaches(namespace)


def seconds_of(verb: Verb, memory: Any) -> float | None:
    """Return how long a call may take: what the caller said, else the policy's key; None for no limit."""
    context: Context = memory._context  # noqa: SLF001  # verbs are methods of it
    if context.seconds is not None or verb.lasts:
        return context.seconds
    return context.policy.limits.call_seconds


def checked_arguments(verb: Verb, memory: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name, each as its verb takes it.

    Raises:
        InvalidInput: Arguments are refused; all of them are named.
        NotFound: An id means nothing, or several things.
        TypeError: There is no such argument, or one is missing.
    """
    refuse_foreign(verb, kwargs)
    arguments = {**_from_policy(verb, memory), **bound_arguments(verb, memory, args, kwargs)}
    parameters = [parameter for parameter in verb.parameters if parameter.name in arguments]
    check_values(parameters, arguments)
    for parameter in parameters:
        value = arguments[parameter.name]
        if parameter.param.refers is not None and value is not None:
            arguments[parameter.name] = _resolve_ids(memory, parameter, value)
        if parameter.param.redacted:
            arguments[parameter.name] = redaction.redact_by_policy(arguments[parameter.name], memory.policy)
    return arguments


def bound_arguments(verb: Verb, memory: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name; inspect takes ten times as long, and is asked only what is wrong.

    Raises:
        TypeError: There is no such argument, or one is missing.
    """
    named = dict(zip(verb.positional, args, strict=False))
    arguments = {**named, **kwargs}
    fits = len(args) <= len(verb.positional) and len(arguments) == len(named) + len(kwargs)
    if fits and arguments.keys() <= verb.names and verb.required <= arguments.keys():
        return arguments
    try:
        return dict(list(verb.signature.bind(memory, *args, **kwargs).arguments.items())[1:])
    except TypeError as error:
        said = re.sub(r"^missing a required( [a-z-]+)? argument:", "is missing the argument", str(error))
        raise TypeError(f"{verb.name}() {said if said.startswith(('is ', 'got ')) else f'got {said}'}.") from None


def refuse_foreign(verb: Verb, names: Iterable[str]) -> None:
    """Refuse an argument that only other tools' verbs of that name take; the error says what to do instead."""
    for name in names:
        if name in verb.instead:
            raise InvalidInput(f"{verb.name} takes no {name}.", remedy=verb.instead[name])


def _from_policy(verb: Verb, memory: Any) -> dict[str, Any]:
    """Return the values of the parameters whose default is a key of the policy."""
    keys = {p.name: p.param.key.split(".") for p in verb.parameters if p.param.key}
    return {name: getattr(getattr(memory.policy, section), key) for name, (section, key) in keys.items()}


def check_values(parameters: Iterable[Parameter], arguments: dict[str, Any]) -> None:
    """Put checked values in place of the given ones.

    Raises:
        InvalidInput: Some are refused; all of them are named.
    """
    faults: list[InvalidInput] = []
    for parameter in parameters:
        try:
            arguments[parameter.name] = checked_value(parameter, arguments[parameter.name])
        except InvalidInput as fault:
            faults.append(fault)
    if faults:
        remedies = dict.fromkeys(fault.remedy for fault in faults)
        raise InvalidInput(" ".join(fault.message for fault in faults), remedy=" ".join(remedies))


@contextmanager
def translate_damage(memory: Any) -> Iterator[None]:
    """Turn an error of Python's into one that names the store's damage, if a check finds any; a bug stays a bug."""
    try:
        yield
    except Exception as error:
        if isinstance(error, PerdureError) and not error.remedy.startswith(BUG):
            raise
        if (fault := _first_fault(memory._context.store)) is None:  # noqa: SLF001  # verbs are methods of it
            raise
        raise StoreDamaged(f"The store is damaged: {fault}", remedy=REPAIR) from error


def _first_fault(store: Store) -> str | None:
    """Return what a check finds first, a quick one before a whole one."""
    try:
        return next((str(fault) for scope in (CheckScope(), WHOLE) for fault in store.check(scope)), None)
    except StoreDamaged as error:
        return error.message
    except PerdureError:  # its time is over, or the file is locked: nothing is known
        return None


def checked_value(parameter: Parameter, value: Any) -> Any:
    """Return one argument as its verb takes it.

    Raises:
        InvalidInput: It is of another type, out of range, or no choice.
    """
    if value is None and parameter.optional:
        return value
    if parameter.records and parameter.param.refers == "operation" and isinstance(value, Outcome | WriteResult):
        return _operation_of(parameter, value)
    if parameter.records and parameter.param.refers is None and is_dataclass(value):
        return value
    found = _BY_KIND[parameter.kind](parameter, value)
    return found if parameter.param.check is None else parameter.param.check(found)


def _operation_of(parameter: Parameter, result: Outcome | WriteResult) -> str:
    """Return the one operation of a result that says what it wrote."""
    made = result.operations if isinstance(result, WriteResult) else (result.operation,)
    if len(made) > 1:
        remedy = "Pass their ids one after another, the last first."
        raise InvalidInput(f"{parameter.name} is a {type(result).__name__} of {len(made)} operations.", remedy=remedy)
    if not made or made[0] is None:
        raise InvalidInput(
            f"{parameter.name} is a {type(result).__name__} that changed nothing.", remedy="Ask its `changed` first."
        )
    return made[0]


def _text(parameter: Parameter, value: Any) -> str:
    text = checked_text(value, parameter.name, longest=parameter.param.longest or _LONGEST)
    return text if parameter.param.refers is None else checked_id(text, parameter.name)


def _integer(parameter: Parameter, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not _is_within(parameter, value):
        raise _out_of_range(parameter, "a whole number", value)
    return value


def _number(parameter: Parameter, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_within(parameter, value):
        raise _out_of_range(parameter, "a number", value)
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        raise _out_of_range(parameter, "a number", value) from None


def _is_within(parameter: Parameter, value: float) -> bool:
    bounds = parameter.param
    return (
        value == value  # noqa: PLR0124  # NaN is no number
        and abs(value) < (_LARGEST if parameter.kind == "integer" else math.inf)
        and (bounds.ge is None or value >= bounds.ge)
        and (bounds.le is None or value <= bounds.le)
        and (bounds.gt is None or value > bounds.gt)
    )


def _out_of_range(parameter: Parameter, noun: str, value: Any) -> InvalidInput:
    bounds = parameter.param
    if bounds.gt is not None:
        span = f" above {bounds.gt:g}" + (f", at most {bounds.le:g}" if bounds.le is not None else "")
    elif bounds.ge is not None and bounds.le is not None:
        span = f" from {bounds.ge:g} to {bounds.le:{',' if bounds.le >= _MILLION else 'g'}}"
    else:
        span = "" if bounds.ge is None else f" of at least {bounds.ge:g}"
    return InvalidInput(
        f"{parameter_name(parameter.name)} must be {noun}{span}, not {shown_value(value)}.", remedy=IN_RANGE
    )


def _flag(parameter: Parameter, value: Any) -> bool:
    if not isinstance(value, bool):
        told = f"{parameter_name(parameter.name)} must be {term('true or false')}, not {shown_value(value)}."
        raise InvalidInput(told, remedy=ONE_OF_THEM)
    return value


def _choice(parameter: Parameter, value: Any) -> str:
    if not isinstance(value, str) or value not in parameter.choices:
        told = f"{parameter_name(parameter.name)} must be one of {', '.join(parameter.choices)}"
        raise InvalidInput(f"{told}, not {shown_value(value)}.", remedy=ONE_OF_THEM)
    return str(value)


def _instant(parameter: Parameter, value: Any) -> Any:
    to_instant(value, name=parameter.name)
    return value


def _of_another_type(parameter: Parameter, noun: str, value: Any, remedy: str = "") -> InvalidInput:
    told = f"{parameter_name(parameter.name)} must be {noun}, not {type_name(value)}."
    return InvalidInput(told, remedy=remedy or f"Pass {noun}.")


def _object(parameter: Parameter, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _of_another_type(parameter, term("object"), value)
    return value


def _texts(parameter: Parameter, value: Any) -> list[str]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise _of_another_type(parameter, term("texts"), value, f"Pass for example {term('for example texts')}.")
    longest = parameter.param.longest or _LONGEST
    items, name = _items(parameter, value), f"each of {parameter_name(parameter.name)}"
    texts = dict.fromkeys(checked_text(item, name, longest=longest) for item in items)
    if parameter.param.refers is not None:
        texts = dict.fromkeys(checked_id(text, name) for text in texts)
    return list(texts)


def _choices(parameter: Parameter, value: Any) -> list[str]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise _of_another_type(parameter, "a list", value, f"Pass for example [{shown_value(parameter.choices[0])}].")
    return [_choice(parameter, item) for item in _items(parameter, value)]


def _objects(parameter: Parameter, value: Any) -> Any:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise _of_another_type(parameter, term("objects"), value)
    return _items(parameter, value)


def _texts_or_object(parameter: Parameter, value: Any) -> Any:
    return value if isinstance(value, Mapping) else _texts(parameter, value)


def _items(parameter: Parameter, values: Iterable[Any]) -> list[Any]:
    """Return the items of a list, as many as declared; of one that never ends no more are read."""
    least, most = parameter.param.least, parameter.param.most or _MOST
    items = list(islice(values, most + 1))
    if not least <= len(items) <= most:
        span = f"{least:,} to {most:,}" if least else f"at most {most:,}"
        had = "more" if len(items) > most else f"{len(items):,}"
        remedy = "Split it into several calls." if len(items) > most else "Give at least that many."
        raise InvalidInput(f"{parameter_name(parameter.name)} must have {span} items, not {had}.", remedy=remedy)
    return items


_BY_KIND: Final[Mapping[str, Callable[[Parameter, Any], Any]]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "flag": _flag,
    "choice": _choice,
    "instant": _instant,
    "object": _object,
    "texts": _texts,
    "choices": _choices,
    "objects": _objects,
    "texts or object": _texts_or_object,
}


def _resolve_ids(memory: Any, parameter: Parameter, value: Any) -> Any:
    resolve = memory.resolve_id
    if isinstance(value, str):
        return resolve(value, parameter.param.refers)
    if isinstance(value, Mapping):
        return {resolve(one, parameter.param.refers): role for one, role in value.items()}
    return [_or_as_given(resolve, one, parameter) for one in value]


def _or_as_given(resolve: Callable[..., str], one: str, parameter: Parameter) -> str:
    """Of many ids one that is unknown is for the verb to report, beside those that it found."""
    try:
        return resolve(one, parameter.param.refers)
    except PerdureError as error:
        if isinstance(error, InvalidInput):
            raise
        return one
