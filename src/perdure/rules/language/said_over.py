"""Whether a text says of a value that it is over: "Jest is gone", "etl01 wird abgeschaltet", "300 instead of 400".

Read where a new value is handed over with the text: only words beside the old value count.
"""

from __future__ import annotations

import re
from typing import Final

from perdure.rules.language.sentences import sentences

_HEAD: Final = 4000
_BESIDE: Final = 60  # characters before a value that are read
_WORD: Final = r"[^\s.,;:!?()]{1,30}"
_NOT: Final = r"(?!(?:not|never|nicht|nie|kein|pas|jamais|nunca|non|não|niet|nooit)\b)"
_OVER_AFTER: Final = re.compile(
    rf"(?:['\"`’”]?\s+{_NOT}{_WORD}){{0,2}}?\s+(?:is|are|was|were|(?:has|have)\s+been|will\s+be|gets?|got"  # noqa: RUF001  # typographic marks
    r"|ist|sind|wurde|wurden|wird|werden|est|sont|sera|(?:a|ont)\s+été|es|está|fue|fueron|è|viene|é|foi|wordt|werd|zijn)"
    rf"(?:\s+{_NOT}{_WORD}){{0,3}}?\s+(?:gone|over|dead|history|dropped|removed|replaced|retired|cancell?ed|deprecated"
    r"|decommissioned|discontinued|abandoned|obsolete|(?:switched|turned)\s+off|shut\s+down|phased\s+out"
    r"|abgeschaltet|abgelöst|ersetzt|weg|eingestellt|entfernt|vorbei|gestrichen|stillgelegt|ausgemustert"
    r"|supprimée?s?|remplacée?s?|arrêtée?s?|abandonnée?s?|reemplazad[oa]s?|eliminad[oa]s?|apagad[oa]s?"
    r"|sostituit[oaie]|rimoss[oaie]|spent[oaie]|substituíd[oa]s?|removid[oa]s?|desligad[oa]s?"
    r"|vervangen|uitgeschakeld|afgeschaft)\b",
    re.IGNORECASE,
)
_OVER_BEFORE: Final = re.compile(
    r"(?:\b(?:instead\s+of|rather\s+than|no\s+longer|replac(?:es|ed|ing)|drop(?:s|ped)|away\s+from|got\s+rid\s+of"
    r"|abandon(?:s|ed)|statt|anstatt|anstelle\s+von|nicht\s+mehr|ersetzt|löst|au\s+lieu\s+de|plutôt\s+que|remplace"
    r"|en\s+lugar\s+de|en\s+vez\s+de|ya\s+no|reemplaza|invece\s+di|al\s+posto\s+di|non\s+più|em\s+vez\s+de"
    r"|substitui|in\s+plaats\s+van|niet\s+meer|vervangt)|,\s*(?:and\s+)?not)"
    r"(?:\s+(?:on|in|at|with|by|to|use|uses|using|the|auf|mit|bei|den|die|das|der|le|la|les|el|il|lo|o|de|het|met|op))"
    r"{0,2}\s+['\"`“]?\Z",
    re.IGNORECASE,
)
_FROM: Final = re.compile(r"\b(?:from|von|vom|de|du|da|dal|van)\s+['\"`“]?\Z", re.IGNORECASE)
_TO: Final = re.compile(r"['\"`”]?\s+(?:to|zu|zum|zur|auf|nach|à|au|vers|a|al|para|naar)\b", re.IGNORECASE)
_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|would|could|might|may|maybe|perhaps|should|wenn|falls|könnte|vielleicht|würde|sollte|si|peut-être"
    r"|quizás|tal\s+vez|se|forse|talvez|als|misschien)\b|\?\s*\Z",
    re.IGNORECASE,
)


def says_over(text: str, old: str, new: str) -> bool:
    """Return whether a text says that a value is over, ``new`` being the one in its place; 4,000 characters are read.

    English, German, French, Spanish, Italian, Portuguese, Dutch. What is only supposed or asked says nothing.
    """
    head = text[:_HEAD]
    return any(_says_over(head[start:end], old.strip(), new.strip()) for start, end in sentences(head))


def _says_over(sentence: str, old: str, new: str) -> bool:
    if not old or _SUPPOSED.search(sentence):
        return False
    for found in re.finditer(rf"(?<![\w.]){re.escape(old)}(?![\w]|[.,]\d)", sentence, re.IGNORECASE):
        before = sentence[max(0, found.start() - _BESIDE) : found.start()]
        if _OVER_AFTER.match(sentence, found.end()) or _OVER_BEFORE.search(before):
            return True
        to = _TO.match(sentence, found.end())
        if to and _FROM.search(before) and new.casefold() in sentence[to.end() :].casefold():
            return True
    return False
