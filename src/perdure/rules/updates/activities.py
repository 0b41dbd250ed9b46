"""Deeds: what somebody says of themselves to have done, or never to have done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from perdure.rules.language.verbs import IRREGULAR_PASTS
from perdure.rules.language.words import word_set
from perdure.rules.updates.statement_words import FAMILY, stem
from perdure.rules.updates.statements import Assertion, AssertionClause, Stems, names_in, stems

_ADVERBS: Final = (
    r"(?:(?:actually|ever|really|even|yet|before|personally|just|recently|already|finally|also|always|only|been|managed"
    r" to|so far|once)\s+)*"
)
_MOST: Final = 8
"""Deeds of one clause."""
_REACH: Final = 240
"""Characters after a verb in which stands what was done."""
_NEVER: Final = re.compile(
    rf"\bi(?:'ve never| have never| never|'ve not| haven't| have not)\s+{_ADVERBS}(?P<verb>[a-z]+)\b(?P<rest>.*)",
    re.IGNORECASE,
)
_DID: Final = re.compile(
    rf"(?:\bi(?:'ve|'m| have| am| had)?\s+{_ADVERBS}|\bafter\s+)(?P<verb>[a-z]+)\b(?!')", re.IGNORECASE
)
_NOT_REAL: Final = re.compile(
    r"\b(?:if|whether|wish|have|did|do|should|would|could|can|might|until|before|once|unless|imagine|than|must)\s+$",
    re.IGNORECASE,
)
_BEGAN: Final = re.compile(r"\s+(?:(?:to|with|out)\s+)?(?P<verb>[a-z]+ing)\b", re.IGNORECASE)
_BEGINS: Final = word_set(
    "started began begun kept keep enjoyed finished stopped tried loved been starting enjoying loving"
)
_HABITS: Final = word_set("use own drink eat play speak smoke wear drive")
"""Said in the present of what was done before."""
_ADJUNCT: Final = re.compile(
    r"\s(?:after|before|until|since|because|when|while|due to|thanks to|so far|yet|but|and i|to make)\b.*",
    re.IGNORECASE,
)
_LIMIT: Final = re.compile(
    r"\s(?:of|for|about|by|at|with|from|on|in|into|to|through|involving|related|narrated|such as|like|including)\s",
    re.IGNORECASE,
)
_EXAMPLE: Final = re.compile(r",?\s(?:like|such as|including)\s+", re.IGNORECASE)
_LEADING: Final = re.compile(r"^\s*(?:to|for|on|in|at|with|about|of)\s", re.IGNORECASE)
_OR: Final = re.compile(r"\s(?:or|nor)\s", re.IGNORECASE)
_SLIGHT: Final = word_set(
    "any anything similar other single thing kind type certain kinda really quite one ones it them lot few new"
)
"""Words that say nothing of what was done; "first" and "final" do."""


def activities(clause: AssertionClause) -> Iterator[Assertion]:
    """Return what a clause says that its speaker has never done, or has done."""
    denial = _NEVER.search(clause.text)
    if denial:
        if not _NOT_REAL.search(clause.text[max(0, denial.start() - _REACH) : denial.start()]):
            yield from _denials(clause, denial)
        return
    if clause.asks and not clause.before and re.match(r"(?:have|did|do|am|should|can)\b", clause.text, re.IGNORECASE):
        return
    for found in islice(_DID.finditer(clause.text), _MOST):
        if not _NOT_REAL.search(clause.text[max(0, found.start() - _REACH) : found.start()]):
            before = clause.text[max(0, found.start() - _REACH) : found.start()]
            rest = clause.text[found.end() : found.end() + _REACH]
            yield from _activity(clause, found["verb"].lower(), before, rest)


def _denials(clause: AssertionClause, found: re.Match[str]) -> Iterator[Assertion]:
    verb, rest = found["verb"].lower(), _ADJUNCT.sub("", found["rest"][:_REACH])
    if clause.before and re.match(r"(?:which|that)\b", clause.text, re.IGNORECASE):
        rest = " " + _LIMIT.split(" " + clause.before)[-1]
    named, *examples = _EXAMPLE.split(rest)
    core, limit = _object_and_limit(named)
    for alternative in [*_OR.split(core), *(e for example in examples for e in _OR.split(example))]:
        if need := stems(alternative, _SLIGHT):
            yield _assert(clause, "denied", verb, limit, need, f"{alternative} {limit}")


def _activity(clause: AssertionClause, verb: str, before: str, rest: str) -> Iterator[Assertion]:
    if verb in _BEGINS and (began := _BEGAN.match(rest)):
        verb, rest = began["verb"].lower(), rest[began.end() :]
    if not (verb.endswith(("ed", "ing")) or verb in IRREGULAR_PASTS or verb in _HABITS):
        return
    rest = _ADJUNCT.sub("", rest)
    core, limit = _object_and_limit(rest)
    objects = stems(core, _SLIGHT)
    if core.rstrip().endswith(" one"):  # "missed the April 5 one": what was spoken of before
        objects += stems(before, _SLIGHT)
    if objects:
        yield _assert(clause, "done", verb, limit, objects, rest)


def _assert(clause: AssertionClause, sort: str, verb: str, limit: str, objects: Iterable[str], words: str) -> Assertion:
    """Return that something was done, or never was; names in the words belong to it."""
    return Assertion(
        sort,
        "",
        frozenset({_family(verb)}),
        frozenset(stems(limit, _SLIGHT)),
        clause.context,
        clause.text,
        objects=tuple(objects),
        names=frozenset(map(stem, names_in(f" {words}"))),
    )


def _object_and_limit(text: str) -> tuple[str, str]:
    """Return what was done, and what limits it: "a draft | of any screenplay"."""
    plain = _LEADING.sub(" ", text)
    cut = _LIMIT.search(plain)
    return (plain[: cut.start()], plain[cut.start() :]) if cut else (plain, "")


def _family(verb: str) -> str:
    base = stem(verb)
    return FAMILY.get(base, base)


def denies_activity(denied: Assertion, done: Assertion, *, strict: bool = False) -> bool:
    """Return whether a deed is one of those that were denied."""
    if denied.about != done.about or not denied.objects:
        return False
    *modifiers, head = denied.objects
    there: Stems = frozenset(done.objects)
    if head not in there or (modifiers and there.isdisjoint(modifiers)):
        return False
    if not denied.names <= there | done.topic | done.context | done.names:
        return False
    if (strict or not modifiers) and denied.topic and not denied.names:
        return not denied.topic.isdisjoint(done.topic)
    return not (denied.topic and done.topic) or not denied.topic.isdisjoint(done.topic)
