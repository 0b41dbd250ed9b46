"""Requests to remember something that are polite ("Can you remember that ...?") or in another language than English.

Only what has a clause to be remembered is a request. "Can you remember where we put it?" and "Do you remember that
bug?" ask, and say nothing.
"""

from __future__ import annotations

import re
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.words import word_set

_SPACE: Final = "[ \\t\u00a0]{1,3}"  # between words: French has spaces that do not break
_NO_SPACE: Final = "[ \\t\u00a0]{0,3}"
_LEAST: Final = 10  # characters that there must be to remember
_OPENING: Final = r"""(?:\b(?:please|also|and|but|so|ok|okay|yes|no|now|then|hey|hi|hello|oh|well|just|thanks|thank|you
    |sorry|one|more|thing|bitte|und|also|noch|hallo|danke|s['’]il|te|vous|pla[iî]t|merci|et|alors|por|favor|y|gracias|hola
    |e|obrigado|per|favore|grazie|ciao|en|dus|alsjeblieft|bedankt)\b[\s,:!.]{1,3}){0,5}[¿¡]?"""  # noqa: RUF001
_ENGLISH: Final = r"""
    (?:(?:can|could|would|will)\s(?:you|u)|(?:i|we)(?:\s(?:want|need)|(?:['’]d|\swould)\slike)\syou\sto
      |(?:can|could|may)\s(?:i|we)\sask\syou\sto)
    (?:\s(?:please|pls|plz|kindly|also|just|maybe|perhaps|mind|be\sso\skind\s(?:as\sto|and))){0,3}
    \s(?:remember(?:ing)?|not(?:e|ing)(?:\sdown)?|(?:keep|bear)(?:ing)?\sin\smind|mak(?:e|ing)\sa\s(?:mental\s)?note
      |tak(?:e|ing)\snote|not\sforget|sav(?:e|ing)|stor(?:e|ing))
    (?:\s(?:please|pls|down|somewhere|for\s(?:later|next\stime|me|future\sreference)|(?:in|to)\s(?:your\s)?memory)){0,3}
    (?:(?:\s(?:this|it|the\sfollowing))?\s?:\s|,?\sthat\s)"""  # noqa: RUF001
_OTHERS: Final = (
    # German
    r"""(?:(?:kannst|könntest|würdest|magst|willst)\sdu(?:\sdir)?|(?:können|könnten|würden)\ssie(?:\ssich)?)
    (?:\s(?:bitte|das|auch|mal|noch|kurz)){0,3}\s(?:merken|notieren|aufschreiben)(?:,?\sdass\s|\s?:\s)""",
    r"""(?:merke?(?:n\ssie)?|notiere?(?:n\ssie)?)(?:\s(?:dir|sich|bitte|das|auch|mal)){0,4}(?:,?\sdass\s|\s?:\s)""",
    r"""(?:vergiss|vergessen\ssie)(?:\sbitte)?\snicht,?\sdass\s""",
    r"""(?:denk|denke|denken\ssie)(?:\sbitte)?\sdaran,?\sdass\s""",
    # French
    r"""(?:est-ce\sque\s(?:tu\s(?:peux|pourrais)|vous\s(?:pouvez|pourriez))|(?:peux|pourrais)-tu|(?:pouvez|pourriez)-vous)
    (?:\s(?:s['’]il\s(?:te|vous)\spla[iî]t|aussi|bien)){0,2}
    \s(?:(?:te|vous)\s(?:rappeler|souvenir)|retenir|noter|garder\sen\stête|ne\spas\soublier)
    (?:\ss['’]il\s(?:te|vous)\spla[iî]t)?(?:\squ(?:e\s|['’])|\s?:\s)""",  # noqa: RUF001
    r"""(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|note[zs]?|n['’]oublie[zs]?\spas)
    (?:\sbien)?(?:\ss['’]il\s(?:te|vous)\spla[iî]t)?\squ(?:e\s|['’])""",  # noqa: RUF001
    # Spanish, Portuguese
    r"""(?:(?:puedes|puede|podrías|podría|pode|podes|poderia|podia)(?:\s(?:você|tu|usted))?|você\s(?:pode|poderia))
    (?:\s(?:por\sfavor|também|también)){0,2}
    \s(?:recordar(?:te)?|anotar|apuntar|tener\sen\scuenta|no\solvidar|lembrar(?:-se)?|se\slembrar|guardar|ter\sem\smente
      |não\sesquecer)
    (?:,?\spor\sfavor,?)?(?:\s(?:de\s)?que\s|\s?:\s)""",
    r"""(?:recuerd[ae]|anot[ae]|apunt[ae]|ten(?:ga)?\sen\scuenta|no\solvides?|lembre-se|lembra-te|lembr[ae]|não\sesque[çc][ao]s?
    |não\sse\sesqueça)(?:,?\spor\sfavor,?)?\s(?:de\s)?que\s""",
    # Italian
    r"""(?:puoi|può|potresti|potrebbe)(?:\s(?:per\sfavore|anche)){0,2}
    \s(?:ricordar(?:e|ti|si)|annotar(?:e|ti)|segnar(?:e|ti)|appuntar(?:e|ti)|tenere\sa\smente|non\sdimenticare)
    (?:,?\sper\sfavore,?)?(?:\sche\s|\s?:\s)""",
    r"""(?:ricorda(?:ti)?|ricordi|annota(?:ti)?|segna(?:ti)?|tieni\sa\smente|non\sdimenticare)(?:,?\sper\sfavore,?)?\sche\s""",
    # Dutch
    r"""(?:(?:kun|kan|wil|zou)\s(?:je|u|jij)(?:\s(?:alsjeblieft|alstublieft|even|ook)){0,2}(?:\s(?:kunnen|willen))?)
    \s(?:onthouden|noteren|opschrijven)(?:,?\sdat\s|\s?:\s)""",
    r"""(?:onthoud|noteer|vergeet\sniet)(?:\s(?:alsjeblieft|alstublieft|even|ook)){0,2},?\sdat\s""",
)


def _expression(*requests: str) -> re.Pattern[str]:
    """Return an expression of what stands before the words to remember; each space may be up to three."""
    either = "|".join(f"(?:{request})" for request in requests)
    either = either.replace(r"\s?", _NO_SPACE).replace(r"\s", _SPACE)
    return lazy_pattern(_OPENING + f"(?:{either})", re.IGNORECASE | re.VERBOSE)


_IN_ENGLISH: Final = _expression(_ENGLISH)
_ELSEWHERE: Final = _expression(*_OTHERS)
_BEGINS_CLAUSE: Final = word_set("""
    the a an our my your his her its their we i he she they you these those there all every each no nobody everyone
    everybody some many most both two three four five
    """)
_PRONOUNS: Final = word_set("i we you he she they it")
_VERBS: Final = word_set("""
    is are was were am has have had will can must may should do does did isn't aren't wasn't can't won't don't doesn't
    needs wants gets goes runs lives uses takes comes works
    """)
_OPENS_MORE: Final = word_set("from starting on in at for after before during until since only every")
_NO_CLAUSE: Final = lazy_pattern(r"the\s(?:next|last|other|first)\stime\b|in\scase\b", re.IGNORECASE)
_WORD: Final = lazy_pattern(r"[^\W_][\w'’.-]*")  # noqa: RUF001
_HEAD: Final = 200  # characters that are looked at
_AHEAD: Final = 4  # words among which a verb makes a clause


def words_to_remember(sentence: str, *, english: bool = False) -> tuple[int, int] | None:
    """Return where the words stand that a sentence asks to have remembered, in characters; None if it does not ask.

    With ``english`` only requests in English count. The mark at the end is no part of the words.
    """
    found = _IN_ENGLISH.match(sentence)
    if found is None and not english:
        other = _ELSEWHERE.match(sentence)
        return _span(sentence, other.end()) if other else None
    if found is None or (not found[0].rstrip().endswith(":") and not _is_clause(sentence[found.end() :])):
        return None
    return _span(sentence, found.end())


def _span(sentence: str, start: int) -> tuple[int, int] | None:
    end = start + len(sentence[start:].rstrip(" \u00a0?!."))
    return (start, end) if end - start >= _LEAST else None


def _is_clause(words: str) -> bool:
    """Return whether a clause follows "that", and no noun that it points to: "that bug", "that function we wrote"."""
    found = _WORD.findall(words[:_HEAD])[: _AHEAD + 1]
    if len(found) < 3 or _NO_CLAUSE.match(words):  # noqa: PLR2004  # "Eva brings it"
        return False
    first, rest = found[0], [word.lower() for word in found[1:]]
    if first.lower() in _OPENS_MORE:
        return not (_PRONOUNS | _VERBS).isdisjoint(rest)
    if first.lower() in _BEGINS_CLAUSE or not first[0].islower():
        return True
    plural = first.endswith("s") and not first.endswith("ss")
    return rest[0] not in _PRONOUNS and (plural or not _VERBS.isdisjoint(rest))
