"""Budgets in tokens hold whatever the language is: what tokenizers count of what is shown is not more than was allowed.

``counted_tokens.tsv`` has the first article of the Universal Declaration of Human Rights in several languages, each
with the most tokens that one of four published tokenizers counts (``benchmarks/token_counts.mjs``).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import WORDS_ONLY, on_a_file
from perdure.rules.language.tokens import estimate_tokens

ROWS = [line.split("\t") for line in Path(__file__).with_name("counted_tokens.tsv").read_text("utf-8").splitlines()]
COUNTED = {text: int(count) for _, count, text in ROWS}
AROUND_A_LINE = 12
"""Tokens that each of these tokenizers counts at least for a line's dash, day, id and end."""
OWN_LETTERS = {"Russian", "Armenian", "Hebrew", "Arabic", "Hindi", "Tamil", "Georgian", "Khmer", "Amharic", "Korean"}
OF_LATIN_LETTERS = [text for language, _, text in ROWS if language not in {*OWN_LETTERS, "Chinese", "English"}]


@pytest.mark.parametrize(("language", "count", "text"), ROWS, ids=[language for language, _, _ in ROWS])
def test_the_estimate_is_not_below_what_tokenizers_count_of_a_language(language, count, text):
    assert estimate_tokens(text) >= int(count)


def counted(shown: str) -> tuple[int, int]:
    """Return how many of the texts are shown whole, and what tokenizers count of their lines at least."""
    found = [count for text, count in COUNTED.items() if any(text in line for line in shown.splitlines())]
    return len(found), sum(found) + AROUND_A_LINE * len(found)


@on_a_file
@pytest.mark.parametrize(("texts", "budget"), [(list(COUNTED), 2000), (OF_LATIN_LETTERS, 1000)])
def test_a_digest_in_many_languages_keeps_to_its_budget(opening, texts, budget):
    memory = opening(WORDS_ONLY)
    memory.remember_many(texts)
    lines, tokens = counted(memory.digest(budget_tokens=budget))
    assert lines >= 8
    assert lines < len(texts)  # it is full
    assert tokens <= budget


@on_a_file
def test_a_sessions_start_in_other_languages_than_english_keeps_to_its_budget(opening):
    memory = opening(WORDS_ONLY)
    memory.remember_many(OF_LATIN_LETTERS)
    lines, tokens = counted(memory.agent.opening("s", "default"))
    assert lines >= 2
    assert tokens <= 400
