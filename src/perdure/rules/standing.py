"""What holds without a name, a number or "always": orders that are no task, what somebody prefers, and cannot take.

"Don't touch the legacy folder" and "use tabs, not spaces" hold until somebody says otherwise; "use the other file" and
"don't worry" do not. Whatever ends in "yet" or "now", or points to what was just said, is of the moment.
"""

from __future__ import annotations

import re
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import word_set

NO_ORDER: Final = (
    r"a\b|an\b|the\b|mind\b|been\b|had\b|have\b|\w+ed\b|\w+ing\b|thought\b|kn[eo]w\b|happy\b|glad\b|good\b|great\b"
    r"|nice\b|fun\b|forget\b|stop\b|give\s+up\b"
)
"""What follows "never" and "always" where nobody is told what to do."""

_CLAUSE: Final = r"(?:\A\W{0,3}(?:(?:and|but|so|also)\s{1,3})?|[.!:;,\-–—]\s{1,3}\W{0,3})(?:please\s{1,3})?"  # noqa: RUF001  # dashes are meant
"""Where a clause begins that tells its reader what to do."""
_JOINED: Final = rf"(?:{_CLAUSE}|,\s{{1,3}}(?P<joined>and|but|so|also)\s{{1,3}}(?:please\s{{1,3}})?)"
"""The same, and behind another clause: "the build is slow, and never reformat"; "and use" tells of a subject."""
_SUBJECT: Final = lazy_pattern(r"\A\W*(?:I|we|you|he|she|they)\b", re.IGNORECASE)
"""Who a clause tells of: what follows its "and" tells of them, too."""
_POINTS: Final = r"(?:it|that|this|these|those|them|him|her|me|us|you|so|about|even|too|yet|the\s+same)\b"
"""What stands for something that was just spoken of."""
_SAID_LIGHTLY: Final = (
    r"(?:worry|forget|ask|mention|tell|say|think|know|mind|laugh|judge|let|even|you|wait|cry|want|expect|believe|care"
    r"|bother|blame|panic|rush|sleep|feel|sound|mean|suppose|quote|thank|pretend|dare|fret|hang|get|start|be|have|look"
    r"|go|come|give|see|need|miss|hold|sit|stay|leave|eat|drink|lose|try|do)\b"
)
"""Verbs that follow "don't" in talk more than in orders."""
_ACT: Final = (
    r"(?:commit|push|merge|run|rerun|close|start|restart|submit|send|post|publish|release|apply|fix)"
    r"\s+(?:an?|the|my|your|our)\b"
)
"""What is done once, and so left once: "don't commit the change"."""
_ORDER: Final = lazy_pattern(
    rf"{_JOINED}(?:(?:do\s+not|don['’]?t)\s+(?:ever\s+)?(?!{_SAID_LIGHTLY}|{_ACT})[a-z]+\s+(?!{_POINTS})\S"  # noqa: RUF001
    rf"|(?:never|always)\s+(?!{_SAID_LIGHTLY}|{NO_ORDER}|\w+s\b|seen\b|heard\b|done\b|gone\b|got\b|again\b|not\b"
    r"|before\b|after\b|on\b|in\b|at\b|from\b|to\b|by\b|with\b)[a-z]+\s+"
    rf"(?!{_POINTS}|(?:in|at|on|with|for|before|after|of)\b)\w"
    rf"|stop\s+[a-z]+ing\s+(?!{_POINTS})\w|don['’]?t\s+[a-z]+\s+unless\b)"  # noqa: RUF001
    rf"|{_CLAUSE}(?:(?:use(?!\s+cases?\b)|prefer|avoid|keep\s+(?!{_POINTS}|an?\b|the\b|my\b|your\b|\w+ing\b|up\b)\w+)\s+(?!{_POINTS}|(?:an?|the|my|your|his|her|its|our|their|in|of|for|is|are|was)\b)\w)"
    r"|\A\W*no\s+(?!rush|hurry|worries|problem|need|thanks)[\w-]+(?:\s+[\w-]+)?,?\s+please\W*\Z",
    re.IGNORECASE,
)
_GERMAN_ORDER: Final = (
    r"(?:(?:benutz|nutz|verwend|schreib|mach|sag|antwort|lass|lösch|frag|zeig|test|prüf|änder|speicher|formatier)e?"
    r"|nimm|gib|halte)\b"
)
_FRENCH_ORDER: Final = (
    r"(?:(?:utilis|gard|vérifi|test|parl|laiss|ajout|lanc|demand|touch|modifi|supprim|pouss|chang|formatt?)(?:e|ez|er)|écri(?:s|vez)"
    r"|répond(?:s|ez)|met(?:s|tez)|fai(?:s|tes))\b"
)
"""Verbs that tell their reader what to do: other words before "immer" and "toujours" tell what is so."""
_ORDER_ELSEWHERE: Final = lazy_pattern(
    r"\bbitte\s+(?:\w+\s+){0,2}?(?:immer|nie|niemals|stets|nur\s+noch|keine?n?)\b"
    rf"|\A\W*{_GERMAN_ORDER}\s+(?:(?:mir|uns)\s+)?(?:bitte\s+)?(?:immer|nie|niemals|stets)\s+[^\W\d_]"
    rf"|\A\W*(?:n['’]|ne\s+){_FRENCH_ORDER}\s+(?:jamais|pas)\s+[^\W\d_]|\A\W*{_FRENCH_ORDER}\s+toujours\s+[^\W\d_]"  # noqa: RUF001
    r"|\bpor\s+favor\b.{0,80}\b(?:siempre|nunca)\b|\b(?:siempre|nunca)\b.{0,80}\bpor\s+favor\b|\A\W*nunca\s+\w+[ae]s\b",
    re.IGNORECASE,
)
"""The same in German, French and Spanish."""
_OF_THE_MOMENT: Final = lazy_pattern(
    r"\b(?:yet|now|again|today|tonight|this\s+(?:time|run|one|step|task|session|round)|for\s+a\s+(?:minute|moment|while)"
    r"|until|till|first|tomorrow|these\s+days|I['’]ll\s+do|heute|jetzt|noch\s+nicht"  # noqa: RUF001
    r"|maintenant|aujourd['’]hui|ahora|hoy)\b(?!\s+on\b)",  # noqa: RUF001
    re.IGNORECASE,
)
_MAY_PASS: Final = lazy_pattern(r"\b(?:because|any\s?more|properly)\b", re.IGNORECASE)
"""What is so for a reason, or was otherwise, may pass; an order with such words holds."""
_PREFERS: Final = lazy_pattern(
    r"\b(?:I|we)(?:['’]d|\s+would)?\s+(?:strongly\s+|really\s+|much\s+)?prefer\s+(?!(?:not|it|that|this|them|him|her)\b)"  # noqa: RUF001
    r"|\b(?:I|we)(?:['’]d|\s+would)\s+rather\s+(?:not\s+)?(?:you|have|use)\s+(?!\w+\s+that\b)"  # noqa: RUF001
    r"|\A\W*(?:I|we)\s+(?:want|like|love)\s+(?!(?:to|that|if|what|how|why|when|where|who|any\w*|it|the|an?|this|those"
    r"|these|him|her|you|me|them|us|your|my|his|their|one|some|nothing|being|\w+ing\s+with)\b)[a-z]+\s+\w"
    r"|\bich\s+(?:bevorzuge|(?:habe|hätte|nehme|mag)\s+(?:\w+\s+){0,2}?lieber)\b|\bje\s+préfère\b|\bprefiero\b",
    re.IGNORECASE,
)
"""What somebody likes better, or wants of a kind of thing: "I want short answers"."""
_CANNOT: Final = lazy_pattern(
    r"\A\W*(?:I|we|(?:my|our)\s+\w+|(?!(?:please|just|also|and|but|so|then|maybe|why|still|it|this|that)\b)(?-i:[A-Z]\w+))\s+"
    r"(?:(?:can['’]?t|cannot|can\s+not)\s+(?:eat|drink|take|stand|tolerate|digest|use|have|wear|climb|do(?!\s+\w+day))\s+"  # noqa: RUF001
    r"|(?:don['’]?t|doesn['’]?t|do\s+not|does\s+not)\s+(?!(?:know|think|see|want|believe|tell|wait|remember|mean|care|mind|need|say|understand|get|find|have|feel|be|even|give"  # noqa: RUF001
    r"|read|keep|go|make|recall|suppose|trust|imagine|write|look|seem|help)\b)[a-z]+\s+)"
    r"(?!(?:to|that|if|what|how|why|when|where|who|any\w*|it|the|an?|this|those|these|him|her|you|me|them|us|your|my|his"
    r"|their|with|at|in|on|for|of|about|from|so|even|yet|till|until|now|enough|much|well|nicely)\b)\w",
    re.IGNORECASE,
)
"""What somebody never does to a kind of thing: "I can't eat gluten", "we don't use Docker"."""
_OF_THE_BODY: Final = lazy_pattern(
    r"(?:\b(?:am|is|are|has|have|got|bin|ist|sind|habe|hat|suis|est|soy|es|tengo|tiene)|['’](?:m|s|re|ve))\s+(?:[\w'’-]+\s+){0,4}?"  # noqa: RUF001
    r"(?:allerg|\w*intoleran|v[eé]gan|v[eé]g[eé]tar|co?el[ií]ac|zöliak|diab[eé]t|asthma|[eé]pilep|dyslex|legasthen|\w*-?blind\b(?!\s+\w)"
    r"|deaf\b|kosher\b|koscher\b|halal\b|daltoni)",
    re.IGNORECASE,
)
"""What somebody's body cannot take or do: it is dangerous to forget, and seldom passes."""


_WORD: Final = lazy_pattern(r"[^\W\d_]+")
_ALWAYS: Final = word_set(
    "never always nie niemals immer stets grundsätzlich ausnahmslos nunca siempre jamás jamais toujours sempre nooit"
    " altijd aldrig alltid nigdy zawsze prefers prefer preferred bevorzugt bevorzugen prefiere prefieren préfère"
    " préfèrent prefere preferem preferisce"
)
"""In talk these are said lightly; who notes them down means them.

Of 232 notes of agents that a stranger wrote, six have such a word or are of a form below, one of them lightly; of 71 of
another nine, all of them rules.
"""
_WITHOUT: Final = (
    r"\b(?:no|kein(?:e|en|er)?|ning[uú]n[oa]?|aucune?|nenhuma?|nessun[oa]?|geen)\s(?:[\w'-]{1,30}\s){1,6}?(?:without|ohne|sin"
    r"|sans|sem|senza|zonder)\b"
)
_LABEL: Final = r"\A\W{0,3}(?:[\w-]{1,30}\s)?(?:rules?|policy|convention|regla|norma|regel|règle|regra|regola)\s?:"
_ANSWERS: Final = (
    r"\b(?:wants?|likes?|expects?|asks?\sfor|möchte|will|wünscht|quiere|pide|veut|souhaite|quer|vuole|wil)\b[^.!?]{0,60}"
    r"\b(?:answers?|replies|responses?|antwort\w{0,6}|respuestas?|réponses?|respostas?|risposte|antwoord\w{0,6})\b"
)
_RULE_OF_A_NOTE: Final = lazy_pattern(f"{_WITHOUT}|{_LABEL}|{_ANSWERS}", re.IGNORECASE)


def states_rule(note: str) -> bool:
    """Return whether a note tells what is always to be done or left, or how somebody wants things to be."""
    return not _ALWAYS.isdisjoint(_WORD.findall(note.lower())) or _RULE_OF_A_NOTE.search(note) is not None


def is_standing_order(part: str) -> bool:
    """Return whether a sentence tells its reader what to do or leave at all times."""
    if part.endswith(("?", "？")) or _OF_THE_MOMENT.search(part):  # noqa: RUF001  # the full-width mark is meant
        return False
    told = _SUBJECT.match(part) is not None
    orders = any(not (told and found["joined"]) for found in _ORDER.finditer(part))
    return orders or _ORDER_ELSEWHERE.search(part) is not None


def gives_standing_order(text: str) -> bool:
    """Return whether a message has such a sentence."""
    return any(is_standing_order(text[start:end]) for start, end in sentences(text))


def is_standing_state(part: str) -> bool:
    """Return whether a sentence tells what somebody prefers, never does, or cannot take."""
    if _OF_THE_MOMENT.search(part):
        return False
    by_form = _PREFERS.search(part) or _CANNOT.search(part)
    return (by_form is not None and _MAY_PASS.search(part) is None) or _OF_THE_BODY.search(part) is not None
