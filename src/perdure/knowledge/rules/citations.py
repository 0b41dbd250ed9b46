"""What a text points at: paths, ``path#symbol``, commits, URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.knowledge.records.authority import Citation, CitationKind, Sight, Sighting

MOST: Final = 20
"""So many different citations of one text are looked at; the rest of a text that lists hundreds is left alone."""

_LONGEST: Final = 20_000  # characters of a text that are read

_ENDINGS: Final = (
    "py|pyi|js|mjs|cjs|jsx|ts|tsx|go|rs|java|kt|kts|scala|c|h|cc|cpp|cxx|hpp|cs|rb|php|swift|m|sql|sh|bash|ps1|lua|ex|"
    "exs|erl|hs|ml|clj|r|jl|zig|nim|vue|svelte|html|css|scss|json|jsonl|yaml|yml|toml|ini|cfg|conf|env|lock|xml|proto|"
    "graphql|tf|md|rst|txt|csv|tsv|ipynb|gradle|cmake|mk"
)
_URL: Final = re.compile(r"\bhttps?://[^\s<>\"'`)\]}]+", re.IGNORECASE)
_COMMIT: Final = re.compile(r"\bcommits?\s+`?([0-9a-f]{7,64})\b", re.IGNORECASE)
_PATH: Final = re.compile(
    rf"(?<![\w/.@:#~\\-])(?:\./)?((?:[\w.-]+/){{0,20}}[\w-][\w.-]{{0,100}}\.(?:{_ENDINGS})|(?:[\w.-]+/){{1,20}}(?:Makefile|"
    r"Dockerfile|LICENSE|Justfile))(?:#([A-Za-z_$][\w$.]{0,200}))?(?![\w/])"
)
_LINES: Final = re.compile(r"L\d+(-L?\d+)?")  # ``#L12`` is a line, no symbol


def citations(text: str) -> list[Citation]:
    """Return what a text points at, each thing once, in the order in which it is written; at most 20.

    A path is what ends like a source file (``src/app.py``, ``app.py``), relative to the working tree; ``#`` and a name
    after it is a symbol. A commit is 7 to 64 hexadecimal digits after the word commit. What is within a URL is no path.
    """
    text = text[:_LONGEST]
    found: list[Citation] = []
    urls = list(_URL.finditer(text))
    for match in urls:
        url = match.group().rstrip(".,;:!?")
        found.append(Citation(CitationKind.URL, url, url, start=match.start()))
    outside = [m for form in (_COMMIT, _PATH) for m in form.finditer(text) if not _within(m.start(1), urls)]
    found += [_commit(m) if m.re is _COMMIT else _path(m) for m in outside if ".." not in m.group(1).split("/")]
    first: dict[tuple[CitationKind, str, str], Citation] = {}
    for citation in sorted(found, key=lambda c: c.start):
        first.setdefault((citation.kind, citation.target, citation.symbol), citation)
    return list(first.values())[:MOST]


def _commit(match: re.Match[str]) -> Citation:
    return Citation(CitationKind.COMMIT, match.group(1), match.group(1).lower(), start=match.start(1))


def _path(match: re.Match[str]) -> Citation:
    path, symbol = match.group(1), (match.group(2) or "").rstrip(".")
    if not symbol or _LINES.fullmatch(symbol):
        return Citation(CitationKind.PATH, path, path, start=match.start(1))
    return Citation(CitationKind.SYMBOL, f"{path}#{symbol}", path, symbol, match.start(1))


def _within(position: int, places: Sequence[re.Match[str]]) -> bool:
    return any(p.start() <= position < p.end() for p in places)


def since_earlier(sightings: Sequence[Sighting], before: Iterable[Mapping[str, Any]]) -> list[Sighting]:
    """Return what was seen, in the light of what an earlier look wrote down (``Sighting.to_dict``).

    Only what was there once can be gone: most of what is written like a file, and is not there, never was.
    """
    once = {s["cited"] for s in before if s.get("there", s["sight"] == Sight.FINE)}
    return [_since(s, there=s.sight is Sight.FINE or s.citation.text in once) for s in sightings]


def _since(seen: Sighting, *, there: bool) -> Sighting:
    if there or seen.sight is Sight.UNVERIFIABLE:
        return replace(seen, there=there)
    return replace(seen, sight=Sight.UNVERIFIABLE, evidence=f"{seen.evidence}, and was not seen before", found=())


def worst(sightings: Sequence[Sighting]) -> Sight:
    """Return what is said of a memory that cites several things: the worst of them.

    A URL is recorded and never fetched, so it says nothing against what else is cited and seen.
    """
    order = list(Sight)
    seen = [s.sight for s in sightings if s.citation.kind is not CitationKind.URL] or [s.sight for s in sightings]
    return max(seen, key=order.index)
