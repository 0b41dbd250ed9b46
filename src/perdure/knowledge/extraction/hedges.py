"""Words with which people hedge, ask or deny, in the languages that are spoken most. Lists, and nothing that decides.

A list need not be complete: it holds back what a language model read wrong, it does not read.
"""

from __future__ import annotations

import re
from typing import Final

from perdure.knowledge.extraction.event_types import event_of
from perdure.knowledge.records.facts import EventType

_HEDGES: Final = """
maybe perhaps might could possibly probably supposedly apparently unsure think thinking thought guess suppose
considering wonder wondering wish hope hoping if whether
vielleicht eventuell möglicherweise wahrscheinlich vermutlich könnte könnten glaube denke überlege wenn falls ob
peut-être probablement pourrais pourrait pense crois envisage
quizá quizás probablemente podría creo pienso
forse probabilmente potrei potrebbe penso credo
talvez provavelmente poderia acho
misschien wellicht waarschijnlijk mogelijk denk
może chyba prawdopodobnie myślę
может возможно наверное вероятно думаю
belki galiba sanırım
ربما لعل أظن
शायद
"""  # noqa: RUF001  # the letters of other languages are meant
_HEDGING_PHRASES: Final = ("(?-i:may)", "not sure", "tal vez", "a lo mejor")
"""May with a capital is a month."""
_HEDGES_UNSPACED: Final = "也许 可能 或许 大概 我想 考虑 如果 かもしれ たぶん 多分 と思 でしょう もし 아마 것 같"
_NEGATIONS: Final = """
no not never none nobody nothing neither nor cannot dont doesnt didnt isnt wasnt arent wont stopped quit formerly
nicht nie niemals kein keine keinen keinem keiner keines nichts niemand
ne pas jamais aucun aucune rien
nunca jamás ningún ninguna ninguno nada tampoco
non mai nessun nessuno nessuna niente
não jamais nenhum nenhuma
niet geen nooit niets
nie nigdy żaden żadna
не нет никогда ничего
inte aldrig ingen ikke aldri
değil yok hiç
لا ليس لم لن
नहीं मत
"""
_NEGATING_PHRASES: Final = (r"\w+n['’]t", r"n['’](?=\w)\w+", "used to", "g[ai]ve up", "given up")  # noqa: RUF001
_NEGATIONS_UNSPACED: Final = "不 没 沒 无 無 未 别 ない なく なかっ ません 않 없 아니 못"
_QUESTION: Final = re.compile(r"[?？؟][\W_]*\Z|¿")  # noqa: RUF001  # the marks of other scripts are meant


def _pattern(words: str, phrases: tuple[str, ...], unspaced: str) -> re.Pattern[str]:
    spaced = "|".join((*phrases, *(re.escape(word) for word in words.split())))
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)|{'|'.join(unspaced.split())}", re.IGNORECASE)


_HEDGE: Final = _pattern(_HEDGES, _HEDGING_PHRASES, _HEDGES_UNSPACED)
_NEGATION: Final = _pattern(_NEGATIONS, _NEGATING_PHRASES, _NEGATIONS_UNSPACED)


def is_hedged(sentence: str) -> bool:
    """Return whether a sentence says that something may be so."""
    return _HEDGE.search(sentence) is not None


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks."""
    return _QUESTION.search(sentence) is not None or event_of(sentence) is EventType.QUESTION


def has_negation(words: str) -> bool:
    """Return whether some words deny something, or say that it has ended."""
    return _NEGATION.search(words) is not None
