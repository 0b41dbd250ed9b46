"""Base forms of English nouns and verbs, by a few rules and the irregular words that conversations use."""

from __future__ import annotations

import re
from typing import Final

from perdure.knowledge.languages import WORDS, language
from perdure.rules.language.verbs import IRREGULAR_PASTS, forms
from perdure.rules.language.words import word_set

_FORMS: Final = language("en").tables["forms"]
_PLURALS: Final = forms(_FORMS["plurals"])
_NO_PLURAL: Final = WORDS["no_plural"]


def singular(word: str) -> str:
    """Return the singular of a noun in lower case; what is no plural stays as it is."""
    if word in _PLURALS:
        return _PLURALS[word]
    if len(word) <= 3 or not word.endswith("s") or word in _NO_PLURAL or word.endswith(("ss", "us", "is")):  # noqa: PLR2004
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes", "oes")):
        return word[:-2]
    return word[:-1]


_IRREGULAR: Final = IRREGULAR_PASTS | forms(_FORMS["verbs"])
"""Forms that the endings below do not bring to their verb."""
_SAME: Final = word_set("cut hit hurt let put quit read run set become come")
"""Past tenses that look like their base form, or nearly."""


def base_verb(word: str) -> str:
    """Return the base form of a verb in lower case: ``went`` -> ``go``, ``signed`` -> ``sign``."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("eed"):
        return word[:-1] if word.endswith(("reed", "teed", "nteed")) else word
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return _stem(word[: -len(ending)])
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word  # noqa: PLR2004


_MUTE_E: Final = re.compile(
    r"(?:(?<![eo])at|(?<![aiou])ng|i[zsr]|[vuc]|[dr]g|[bptgdzf]l|clud|[vc]id|[fb]in|(?:sh|p)ar|(?:pl|st|gn|ad|c)or|ur)\Z"
)
"""What was cut off after these began with an e."""


def _stem(stem: str) -> str:
    """Return a stem without the doubled letter, with the y or the e that the ending took."""
    if stem.endswith("s") and not stem.endswith("ss"):
        return stem + "e"
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsfz":  # noqa: PLR2004
        return stem[:-1]
    return stem + "e" if _MUTE_E.search(stem) else stem


def past_form(word: str) -> bool:
    """Return whether a word looks like a past tense or participle of another base form."""
    if word.endswith(("s", "ing", "am", "are")):
        return False
    return (word.endswith("ed") and len(word) > 4) or _IRREGULAR.get(word, word) != word or word in _SAME  # noqa: PLR2004
