"""How much shorter summaries and keywords of real texts are, and how much of the meaning they keep.

Usage: python benchmarks/summaries.py [--show] [--json]

Data: thirty texts of 1,000 to 6,000 tokens: ten sessions of LoCoMo, ten messages of BEAM, ten pages of this
repository's documentation. Preservation is the cosine of mean vectors: of all pieces of the whole text, and of all of
the shorter form (the embedder reads 256 tokens at a time). Baselines: the strict summary, and the text's beginning of
as many tokens as the summary has.

Of groups of three to six neighbouring messages, as a session's end summarises them together: the cosine of the summary
to their mean, and to the message that it tells least of; baseline: the best sentences of all of them as one text.
"""

from __future__ import annotations

import random
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import beam
import locomo
from perdure.models.local import LocalEmbedder
from perdure.records.memory import Form
from perdure.records.policy_lifecycle import CompressionPolicy
from perdure.rules.language.tokens import count_tokens, pieces
from perdure.rules.lifecycle.compression_forms import render_form
from perdure.rules.lifecycle.shortening import extract_sentences
from perdure.rules.lifecycle.summary_text import list_unsaid, summarize_each
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST, MOST = 1000, 6000
EACH = 10
SHORT = 120
"""Tokens of a user's message that may be in a group, at most."""
PIECE = 150
"""Words that are embedded together."""
DOCS = Path(__file__).resolve().parents[1] / "docs"


class Measured(NamedTuple):
    """What a shorter form of one text is."""

    ratio: float
    preservation: float
    unsaid: float


def texts() -> list[str]:
    """Return the thirty texts."""
    found = []
    for source in (_sessions(), _messages(), _pages()):
        fitting = [text for text in source if LEAST <= count_tokens(text) <= MOST]
        found += fitting[:: max(1, len(fitting) // EACH)][:EACH]
    return found


def _sessions() -> Iterator[str]:
    for chat in locomo.chats("locomo_dev.json.gz"):
        by: dict[str, list[str]] = {}
        for message in chat.messages:
            by.setdefault(message.session or "", []).append(f"{message.speaker}: {message.content}")
        yield from ("\n".join(lines) for lines in by.values())


def _messages() -> Iterator[str]:
    for chat in beam.chats({"user", "assistant"}, "beam_dev.tar.gz"):
        yield from (message.content for message in chat.messages)


def _pages() -> Iterator[str]:
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text("utf-8")
        while text:
            yield text[:12_000]
            text = text[12_000:]


def groups() -> list[list[str]]:
    """Return groups of neighbouring messages, drawn from LoCoMo and from the shorter ones of BEAM's users."""
    drawn = random.Random(3)
    talks = [([m.content for m in chat.messages], 12) for chat in locomo.chats("locomo_dev.json.gz")]
    talks += [
        ([m.content for m in chat.messages if count_tokens(m.content) < SHORT], 6)
        for chat in beam.chats({"user"}, "beam_dev.tar.gz")
    ]
    found = []
    for talk, times in talks:
        for _ in range(times):
            number = drawn.randint(3, 6)
            if len(talk) > number:
                start = drawn.randrange(len(talk) - number)
                found.append(list(dict.fromkeys(talk[start : start + number])))
    return found


def grouped(embedder: LocalEmbedder) -> list[Row]:
    """Measure summaries of groups."""
    found: dict[str, list[tuple[float, float]]] = {}
    for group in groups():
        whole = "\n".join(group)
        most = count_tokens(whole) // 2
        rows = np.array([np.frombuffer(v, "<f4") for v in embedder.embed(group, purpose="document")])
        shown = {"each": summarize_each(group, most), "as one text": extract_sentences(whole, most)}
        for name, vector in zip(shown, embedder.embed(list(shown.values()), purpose="document"), strict=True):
            cosines = rows @ np.frombuffer(vector, "<f4")
            found.setdefault(name, []).append(
                (float(cosines.mean() / np.linalg.norm(rows.mean(0))), float(cosines.min()))
            )
    result = []
    for name, some in found.items():
        for of, values in zip(("of all", "of the least told"), zip(*some, strict=True), strict=True):
            error = statistics.stdev(values) / len(values) ** 0.5
            note = f"{len(values)} groups, standard error {error:.3f}"
            result.append(Row(f"summary of a group, {name}: meaning {of}", statistics.mean(values), "", note=note))
    return result


def mean_vector(embedder: LocalEmbedder, text: str) -> np.ndarray:
    """Return the mean of the vectors of a text's pieces."""
    words = text.split()
    parts = [" ".join(words[i : i + PIECE]) for i in range(0, len(words), PIECE)] or [text]
    rows = [np.frombuffer(v, "<f4") for v in embedder.embed(parts, purpose="document")]
    return np.mean(rows, axis=0)


def measured(embedder: LocalEmbedder, text: str, shown: str) -> Measured:
    """Measure one form."""
    one, other = mean_vector(embedder, text), mean_vector(embedder, shown)
    cosine = float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
    all_of_it = len(list_unsaid(text, "", 1_000_000))
    unsaid = len(list_unsaid(text, shown, 1_000_000)) / max(1, all_of_it)
    return Measured(count_tokens(text) / max(1, count_tokens(shown)), cosine, unsaid)


def beginning(text: str, tokens: int) -> str:
    """Return the text's beginning of so many tokens."""
    end, left = 0, tokens
    for piece in pieces(text):
        left -= count_tokens(piece.text)
        if left < 0:
            break
        end = piece.end
    return text[:end]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--show", action="store_true", help="each summary")
    given = arguments.parse_args()
    embedder, listed, strict = LocalEmbedder(), CompressionPolicy(), CompressionPolicy(strictness="strict")
    found: dict[str, list[Measured]] = {}
    whole = texts()
    for text in whole:
        summary = render_form(text, Form.SUMMARY, listed).text or text
        forms = {
            "summary": summary,
            "keywords": render_form(text, Form.KEYWORDS, listed).text or text,
            "summary, strict": render_form(text, Form.SUMMARY, strict).text or text,
            "the beginning, as long as the summary": beginning(text, count_tokens(summary)),
        }
        for name, shown in forms.items():
            found.setdefault(name, []).append(measured(embedder, text, shown))
        if given.show:
            say(f"--- {count_tokens(text)} to {count_tokens(summary)}, {found['summary'][-1]}\n{summary}")
    rows = []
    for name, some in found.items():
        ratios, kept = [m.ratio for m in some], [m.preservation for m in some]
        error = statistics.stdev(kept) / len(kept) ** 0.5
        least, most = min(ratios), max(ratios)
        say(f"{name}: ratio median {statistics.median(ratios):.1f} ({least:.1f} to {most:.1f})")
        unsaid = statistics.mean(m.unsaid for m in some)
        say(f"    meaning kept {statistics.mean(kept):.3f} ± {error:.3f}, unsaid {unsaid:.2f}")
        goals = (5.0, 0.8) if name == "summary" else (None, None)
        rows.append(Row(f"{name}: ratio, median", statistics.median(ratios), ": 1", goals[0], at_least=True))
        rows.append(Row(f"{name}: meaning kept, mean", statistics.mean(kept), "", goals[1], at_least=True))
    rows += grouped(embedder)
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
