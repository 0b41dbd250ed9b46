"""What a text points at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import every
from perdure.knowledge.records.authority import Citation, CitationCheck, CitationKind, CitationState
from perdure.knowledge.rules.verification import MOST, citations, worst_state

CASES = {
    "The entry is in src/app.py.": ["src/app.py"],
    "See `src/app.py#main` and (lib/a-b.ts#Foo.bar).": ["src/app.py#main", "lib/a-b.ts#Foo.bar"],
    "./src/app.py, setup.cfg; docs/how-to.md!": ["src/app.py", "setup.cfg", "docs/how-to.md"],
    "src/app.py#L12 and src/lib.rs#L1-L9": ["src/app.py", "src/lib.rs"],
    "It broke in commit 1a2b3c4d and commits `deadbeef0`.": ["1a2b3c4d", "deadbeef0"],
    "Commit ABCDEF1 too": ["ABCDEF1"],
    "https://example.org/src/app.py#main, then https://x.io/a.": ["https://example.org/src/app.py#main", "https://x.io/a"],
    "Run .github/workflows/ci.yml and build/Makefile": [".github/workflows/ci.yml", "build/Makefile"],
    "src/app.py twice: src/app.py": ["src/app.py"],
    "Version 3.11 costs $1.50 e.g. at 10.30, i.e. Node.js or example.com and me@host.py": ["Node.js"],
    "We commit often; the number 1234567 is no hash, defaced is a word": [],
    "../secret/passwd.txt, /etc/hosts.conf, ~/notes.md, C:\\x\\y.py, a/../b.py": [],
    "Ends in .py or py": [],
}  # fmt: skip


@every(CASES)
def test_what_is_cited(text):
    assert [c.text for c in citations(text)] == CASES[text]


def test_a_citation_says_what_it_is_and_where():
    path, symbol, commit, url = citations("a.py b/c.go#New commit abcdef1 http://x.y/z")
    assert path == Citation(CitationKind.PATH, "a.py", "a.py", start=0)
    assert symbol == Citation(CitationKind.SYMBOL, "b/c.go#New", "b/c.go", "New", 5)
    assert (commit.kind, commit.target) == (CitationKind.COMMIT, "abcdef1")
    assert (url.kind, url.target, url.start) == (CitationKind.URL, "http://x.y/z", 31)


def test_only_so_many_are_looked_at():
    assert len(citations(" ".join(f"src/file{i}.py" for i in range(100)))) == MOST


@given(st.text(alphabet="ab./#:-@ \\~commit0123456789", max_size=300))
def test_what_is_found_stands_there_and_leads_nowhere_else(text):
    for citation in citations(text):
        shown = text[citation.start : citation.start + len(citation.text)]
        assert shown == citation.text
        if citation.kind in {CitationKind.PATH, CitationKind.SYMBOL}:
            assert ".." not in citation.target.split("/")
            assert not citation.target.startswith(("/", "~"))


@pytest.mark.parametrize("text", ["a/" * 1000, "a." * 1000, "#" * 2000, "a.py#" + "b." * 900, "http://" * 300])
def test_hostile_texts_cite_what_stands_there(text):
    assert all(text[c.start : c.start + len(c.text)] == c.text for c in citations(text))


def seen(kind, sight):
    return CitationCheck(Citation(kind, "x", "x"), sight, "")


def test_a_memory_is_as_good_as_the_worst_of_what_it_cites():
    fine, gone = seen(CitationKind.PATH, CitationState.FINE), seen(CitationKind.COMMIT, CitationState.STALE)
    moved, url = seen(CitationKind.SYMBOL, CitationState.MOVED), seen(CitationKind.URL, CitationState.UNVERIFIABLE)
    assert worst_state([fine, url]) is CitationState.FINE
    assert worst_state([url]) is CitationState.UNVERIFIABLE
    assert worst_state([fine, moved, url]) is CitationState.MOVED
    assert worst_state([fine, gone, moved]) is CitationState.STALE
