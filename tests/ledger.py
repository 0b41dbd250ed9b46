"""A line of the ledger: what was promised, where it was promised, and the test that holds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One promise.

    Attributes:
        id: Short and unique.
        source: The document and section that it comes from.
        text: The promise in one sentence.
        test: ``file::function``, or ``file::function[id]`` for one case of a table; empty if deferred.
        deferred: Why there is no test yet; empty if there is one.
    """

    id: str
    source: str
    text: str
    test: str = ""
    deferred: str = ""


def keeper(files: Mapping[str, str]) -> Callable[[str, str, str, str], Behaviour]:
    """Return what makes a line with a test, the file given by its short name: ``short:test_name``."""

    def kept(identity: str, source: str, text: str, test: str) -> Behaviour:
        file, _, name = test.partition(":")
        return Behaviour(identity, source, text, test=f"{files[file]}::{name}")

    return kept
