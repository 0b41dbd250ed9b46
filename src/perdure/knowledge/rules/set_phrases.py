"""Phrases of English in which a word means something else than by itself: what one does for a living is no home."""

from __future__ import annotations

import re
from typing import Final

from perdure.records.patterns import lazy_pattern

_NOUNS: Final = r"(?:rooms?|spaces?|areas?|quarters|wages?|costs?|expenses?|standards?|conditions?|arrangements?)"
_WHOSE: Final = r"(?:a|an|the|my|your|his|her|its|our|their|one['’]s|[^\W\d_]+['’]s)"  # noqa: RUF001  # the typographic apostrophe
_LIVELIHOOD: Final = lazy_pattern(
    rf"\b(?:for|mak(?:es?|ing)|made|earn(?:s|ed|ing)?)\s+{_WHOSE}\s+(?:[^\W\d_]+\s+)?living\b(?!\s+{_NOUNS}\b)",
    re.IGNORECASE,
)
_NO_HOME: Final = lazy_pattern(rf"\bliving(?=\s+{_NOUNS}\b)|(?<=\w)\s+of\s+living\b", re.IGNORECASE)


def without_set_phrases(question: str) -> str:
    """Return a question in words that mean by themselves what they mean in it, as far as English is known.

    "What does she do for a living?" asks what her job is; "the cost of living" and "the living room" name no home.
    """
    return _NO_HOME.sub("", _LIVELIHOOD.sub("as a job", question))
