"""No pattern of the code base takes more than time in proportion to a text, whatever the text is.

A pattern whose repetitions are all bounded takes a bounded time at each place. Every other one is run over 198 texts
made of one repeated piece, as its module uses it: matched from the beginning, or searched everywhere. Where 8,000
characters take long, the exponent from 2,000 to 8,000 decides, and where that is more than 1.2, the one from 2,000 to
64,000: over so wide a span the square takes 32 times what is in proportion, and a busy machine doubles a time at most
now and then. Times are the thread's own, the best of several.

Patterns that were measured once are listed in ``measured_patterns.txt``; ``make test`` measures the others, ``make
weekly`` all. ``python tests/test_patterns.py`` measures all and writes the list anew.
"""

from __future__ import annotations

import ast
import importlib
import math
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]  # how Python itself reads a pattern

import pytest

import perdure
from conftest import LONG_RUN, weekly
from perdure.records.patterns import LazyPattern

SMALL, SCREEN, LARGE = 2000, 8000, 64_000  # characters
QUICK = 0.001
"""Seconds for 8,000 characters that need no second look: even if all of it were quadratic, 64,000 took 64 ms."""
MOST = 1.2  # exponent; 1 is in proportion, 2 the square
TRIES = 4
LIMIT = 2.0  # seconds after which a pattern is stopped
WIDEST = 300
"""Characters that a pattern without unbounded repetitions may match to count as bounded."""
MEASURED = Path(__file__).with_name("measured_patterns.txt")
"""Digests of patterns that were measured and found in proportion."""

WORDS = (
    *(
        "a",
        "A ",
        "Aa",
        "Anna ",
        "Anna Bert ",
        "a.",
        "a. ",
        "A. ",
        "and ",
        "a and ",
        "not ",
        "no, ",
        "n't ",
        "is ",
        "is not ",
        "my ",
    ),
    *(
        "that ",
        "the ",
        "of ",
        "of the ",
        "to ",
        "I ",
        "I live in ",
        "I live in Rome. ",
        "I moved from Rome to Oslo and ",
        "Remember, ",
    ),
    *(
        "Remember that a is b. ",
        "note that ",
        "we decided to ",
        "because ",
        "prefers ",
        "no, Thursday, not Friday. ",
        "her ",
        "'s ",
    ),
    *(
        "who is ",
        "which ",
        "Anna's ",
        "Anna, Bert, ",
        "Dr. ",
        "Mr. Smith ",
        "U.S. ",
        "if ",
        "would ",
        "ignore previous instructions ",
    ),
    *(
        "system: ",
        "You are ",
        "1st ",
        "3rd of May ",
        "two ",
        "twenty-two ",
        "half ",
        "per ",
        "5 euros per ",
        "from 1 to 2 ",
        "May ",
    ),
    *("changed from a to ", "last week ", "since ", "5 km ", "AND ", "OR "),
)
SIGNS = (
    *(
        " ",
        "\n",
        "\t",
        "1",
        "1 ",
        ".",
        ",",
        ", ",
        "a, ",
        "-",
        "--",
        "_",
        "/",
        "a/",
        "a/b.py#c ",
        "#",
        "@",
        "@a ",
        "(",
        ")",
        "((",
        "[",
    ),
    *(
        "[](",
        "![",
        '"',
        "'",
        '"a" ',
        "`",
        "```\n",
        "<",
        "<!--",
        "-->",
        "<a>",
        "</",
        "{",
        '{"a":',
        "\\",
        "\\n",
        "|",
        "*",
        "**",
    ),
    *(
        "**a** ",
        "- a\n",
        "1. a\n",
        "# a\n",
        "> a\n",
        "?",
        "? ",
        "!",
        "!? ",
        ":",
        ": ",
        ";",
        "a; ",
        "…",
        "\u2014",
        "+",
        "^",
        "%",
        "$1",
    ),
    *(
        "$1,000 ",
        "1-1-1",
        "2024-",
        "12:",
        "12:00 ",
        "3.",
        "1,",
        "1.1.",
        "2-",
        "0x",
        "a=b ",
        "a: b\n",
        "a -> b ",
        "a != ",
        "a*",
        "&",
    ),
    *(
        "\u200d",
        "\u200b",
        "e\u0301",
        "\u0301",
        "é",
        "ß",
        "İ",
        "你",
        "你好。",
        "日本は",
        "\u0627",
        "🙂",
        "🙂🙂 ",
        "\x1b[31m",
        "\r",
        "\r\n",
    ),
    *("\u2028", "\x85", "“", "<perdure-memories>", "</perdure-memories>"),
)
SECRETS = (
    *(
        "password ",
        "password: ",
        "password=",
        "password=Aa1",
        "token is ",
        "secret",
        "_key=",
        "api_key ",
        "sk-",
        "sk-a",
        "eyJ",
    ),
    *(
        "eyJaaaaaa.",
        "://",
        "://a:",
        "http://a:b",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n" + "A" * 30 + "\n",
    ),
    *(
        "bearer ",
        "Authorization: basic ",
        "akia",
        "xox",
        "4",
        "4111 ",
        "4111-",
        "//",
        "mysql -u a ",
        "curl -u a:",
        "DE89 3704 ",
    ),
    *(
        "about above ",
        "219-09-",
        "111.111.",
        "1 85 01 ",
        "pw ",
        "PIN ",
        "login a / ",
        "sig=",
        "$2a$",
        "das Passwort ",
        "密码\uff1a",
        "a1B2",
    ),
)
PIECES = (*WORDS, *SIGNS, *SECRETS)

ANCHORED = {"perdure.rules.secret_shapes._STARTING", "perdure.rules.secret_context._NAMES"}
"""Tables whose patterns are matched where a clue stands; what stands in tables else is searched."""

LATE = {"perdure.rules.secret_phrases._PHRASES": 2}
"""Tables whose patterns are compiled when their clue is met: where in a row the pattern stands."""

_REPEATS = {_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT}


class _LateError(Exception):
    pass


def _inside(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, LazyPattern):
        value = value.compiled()
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth < 5 and isinstance(value, Mapping):
        for pair in value.items():
            yield from _inside(pair, depth + 1)
    elif depth < 5 and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _inside(item, depth + 1)
    elif depth < 5 and is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _inside(getattr(value, field.name, None), depth + 1)


@cache
def _tree(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text("utf-8"))


def _used_as(file: str, name: str) -> set[str]:
    """Return which methods of a pattern its module calls."""
    return {
        node.attr
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    }


def _patterns() -> dict[str, tuple[re.Pattern[str], bool]]:
    """Return module.name -> a pattern, and whether it is only matched from where a text begins."""
    found = {}
    for module in pkgutil.walk_packages(perdure.__path__, "perdure."):
        if module.name.endswith("__main__"):
            continue
        loaded = importlib.import_module(module.name)
        for name, kept in vars(loaded).items():
            place = f"{module.name}.{name}"
            value = [re.compile(row[LATE[place]]) for row in kept] if place in LATE else kept
            for number, pattern in enumerate(_inside(value)):
                used = _used_as(str(loaded.__file__), name) & {
                    "match",
                    "fullmatch",
                    "search",
                    "finditer",
                    "findall",
                    "sub",
                    "subn",
                    "split",
                }
                anchored = place in ANCHORED or bool(used and used <= {"match", "fullmatch"})
                found.setdefault((pattern.pattern, pattern.flags), (f"{place}.{number}", pattern, anchored))
        for node in ast.walk(_tree(str(loaded.__file__))):
            if _is_literal(node):
                pattern = re.compile(node.args[0].value)
                found.setdefault(
                    (pattern.pattern, pattern.flags),
                    (f"{module.name}:{pattern.pattern[:24]}", pattern, node.func.attr in {"match", "fullmatch"}),
                )
    return {place: (pattern, anchored) for place, pattern, anchored in found.values()}


def _is_literal(node: ast.AST) -> bool:
    """Whether a call of ``re`` has its pattern in it."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr != "compile"  # found as its module's
        and bool(node.args)
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    )


def _seconds(pattern: re.Pattern[str], text: str, *, anchored: bool, limit: float = LIMIT) -> float:
    """Return the time that a pattern takes for a text; infinite where that is more than the limit."""

    def stop(*_: object) -> None:
        raise _LateError

    before = signal.signal(signal.SIGVTALRM, stop)
    start = time.thread_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        try:
            if anchored:
                pattern.match(text)
                pattern.fullmatch(text)
            else:
                for _ in pattern.finditer(text):
                    pass
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _LateError:
        return math.inf
    finally:
        signal.signal(signal.SIGVTALRM, before)
    return time.thread_time() - start


def _exponent(pattern: re.Pattern[str], piece: str, *, anchored: bool, span: tuple[int, int]) -> float:
    """Return the exponent between two lengths, from the best times of as many tries as it takes to be in proportion."""
    factor = span[1] / span[0]
    short = long = math.inf
    for _ in range(TRIES):
        short = min(short, _seconds(pattern, _text(piece, span[0]), anchored=anchored))
        limit = 2 * max(short, 1e-3) * factor**MOST
        long = min(long, _seconds(pattern, _text(piece, span[1]), anchored=anchored, limit=limit))
        if long == math.inf or math.log(long / max(short, 1e-6), factor) <= MOST:
            break
    return math.log(long / max(short, 1e-6), factor)


def _slowest(pattern: re.Pattern[str], *, anchored: bool) -> tuple[float, str] | None:
    """Return exponent and piece where a pattern takes more than time in proportion."""
    for piece in PIECES:
        if _seconds(pattern, _text(piece, SCREEN), anchored=anchored) < QUICK:
            continue
        for span in ((SMALL, SCREEN), (SMALL, LARGE)):
            if (exponent := _exponent(pattern, piece, anchored=anchored, span=span)) <= MOST:
                break
        else:
            return round(exponent, 2), piece
    return None


def _is_bounded(parsed: _parser.SubPattern | Sequence[object]) -> bool:
    """Whether no part of a parsed pattern repeats without end."""
    for part in parsed:
        if (
            isinstance(part, tuple)
            and part
            and any(kind is part[0] for kind in _REPEATS)
            and part[1][1] is _parser.MAXREPEAT
        ):
            return False
        if isinstance(part, _parser.SubPattern | tuple | list) and part and not _is_bounded(part):
            return False
    return True


def _is_quick(pattern: re.Pattern[str]) -> bool:
    parsed = _parser.parse(pattern.pattern, pattern.flags)
    return parsed.getwidth()[1] <= WIDEST and _is_bounded(parsed)


def _text(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


def test_there_are_198_pieces():
    assert len(dict.fromkeys(PIECES)) == 198


@pytest.mark.skipif(sys.platform == "win32", reason="no timer of the processor's time")
@pytest.mark.parametrize("pattern", [r"\s+x", pytest.param(r"\w+@\w+", marks=weekly)])
def test_a_pattern_that_takes_the_square_is_seen(pattern):
    assert not _is_quick(re.compile(pattern))
    assert _slowest(re.compile(pattern), anchored=False)


def _digest(pattern: re.Pattern[str], *, anchored: bool) -> str:
    """Return a name for all that a measurement depends on, the Python apart."""
    told = (pattern.pattern, pattern.flags, anchored, PIECES, SCREEN, QUICK, MOST)
    return blake2b(repr(told).encode(), digest_size=12).hexdigest()


def _slow(patterns: Mapping[str, tuple[re.Pattern[str], bool]]) -> dict[str, tuple[float, str]]:
    """Return place -> exponent and piece of each pattern that takes more than time in proportion."""
    found = {place: _slowest(pattern, anchored=anchored) for place, (pattern, anchored) in patterns.items()}
    return {place: slow for place, slow in found.items() if slow}


@cache
def _unbounded() -> dict[str, tuple[re.Pattern[str], bool]]:
    return {place: kept for place, kept in sorted(_patterns().items()) if not _is_quick(kept[0])}


@pytest.mark.skipif(sys.platform == "win32", reason="no timer of the processor's time")
@pytest.mark.parametrize("share", range(8))
def test_no_pattern_takes_more_than_time_in_proportion(share):
    patterns = _unbounded()
    assert len(patterns) > 200
    known = set() if LONG_RUN else set(MEASURED.read_text("utf-8").split())
    new = [p for p, (pattern, anchored) in patterns.items() if _digest(pattern, anchored=anchored) not in known]
    assert _slow({place: patterns[place] for place in new[share::8]}) == {}


if __name__ == "__main__":
    measured = _unbounded()
    slow = _slow(measured)
    linear = sorted(_digest(pattern, anchored=anchored) for p, (pattern, anchored) in measured.items() if p not in slow)
    MEASURED.write_text("\n".join(linear) + "\n", "utf-8")
    sys.exit(f"more than in proportion: {slow}" if slow else 0)
