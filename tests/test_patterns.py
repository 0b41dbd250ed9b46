"""No pattern of the code base takes more than time in proportion to a text, whatever the text is.

Each pattern is run over 198 texts made of one repeated piece, as its module uses it: matched from the beginning, or
searched everywhere. A pattern that is quick on a thousand characters cannot be quadratic; where one is not, the time of
eight times the text decides, the best of three, against the square of it: a noisy machine does not fail this.
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
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import pytest

import perdure

SMALL, TIMES = 1000, 8
QUICK = 0.004  # seconds of the processor for a thousand characters: a quadratic pattern takes more
MOST = 1.5  # exponent; 1 is in proportion, 2 the square. Measured ones are 1.0 to 1.2.
LIMIT = 2.0  # seconds after which a pattern is stopped

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

SLOW_ALONE = frozenset(
    {
        "perdure.knowledge.extraction.answers._TAG.0",
        "perdure.knowledge.extraction.claims._NOT_OLD.0",
        "perdure.knowledge.extraction.claims._RATHER.0",
        r"perdure.knowledge.extraction.claims:\s+(?:ever|please|pls|th",
        "perdure.knowledge.extraction.values._ADDRESS.0",
        "perdure.rules.language.replaced_values._PATTERNS.0",
        "perdure.rules.language.replaced_values._PATTERNS.9",
        "perdure.rules.lifecycle.digest_entries._NAME.0",
        "perdure.rules.lifecycle.digest_lines._NO_SENTENCE.0",
        "perdure.rules.pattern_extraction._QUESTION_FOLLOWS.0",
    }
)
"""Take the square of a text by themselves. What they are used in is given sentences and words, and is measured whole in
benchmarks/linearity.py. Nothing is to be added here."""
ANCHORED = {"perdure.rules.secret_shapes._STARTING", "perdure.rules.secret_context._NAMES"}
"""Tables whose patterns are matched where a clue stands; what stands in tables else is searched."""


class _LateError(Exception):
    pass


def _inside(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
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
        for name, value in vars(loaded).items():
            for number, pattern in enumerate(_inside(value)):
                place = f"{module.name}.{name}"
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


def _seconds(pattern: re.Pattern[str], text: str, *, anchored: bool) -> float:
    def stop(*_: object) -> None:
        raise _LateError

    before = signal.signal(signal.SIGVTALRM, stop)
    start = time.thread_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        if anchored:
            pattern.match(text)
            pattern.fullmatch(text)
        else:
            for _ in pattern.finditer(text):
                pass
    except _LateError:
        return math.inf
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.thread_time() - start


def _exponent(pattern: re.Pattern[str], piece: str, *, anchored: bool) -> float:
    short, long = (
        min(_seconds(pattern, _text(piece, n), anchored=anchored) for _ in range(3)) for n in (SMALL, SMALL * TIMES)
    )
    return math.inf if math.inf in (short, long) else math.log(long / max(short, 1e-5), TIMES)


def _text(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


def test_there_are_198_pieces():
    assert len(dict.fromkeys(PIECES)) == 198


@pytest.mark.skipif(sys.platform == "win32", reason="no timer of the processor's time")
@pytest.mark.parametrize("share", range(8))
def test_no_pattern_takes_more_than_time_in_proportion(share):
    patterns = _patterns()
    assert len(patterns) > 300
    assert patterns.keys() >= SLOW_ALONE
    slow = {}
    for place in sorted(patterns.keys() - SLOW_ALONE)[share::8]:
        pattern, anchored = patterns[place]
        for piece in PIECES:
            if _seconds(pattern, _text(piece, SMALL), anchored=anchored) < QUICK:
                continue
            if (exponent := _exponent(pattern, piece, anchored=anchored)) > MOST:
                slow[place] = (round(exponent, 2), piece)
                break
    assert slow == {}
