"""Words and sentences of messages: contractions taken apart, other languages left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from perdure.knowledge.extraction.event_types import event_of
from perdure.knowledge.languages import WORDS, language
from perdure.knowledge.records.facts import EventType
from perdure.rules.language.sentences import sentences
from perdure.rules.language.verbs import IRREGULAR_PASTS, verb_forms
from perdure.rules.language.words import word_set

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
_HEDGING_PHRASES: Final = ("(?-i:may)", "not sure", "tal vez", "a lo mejor")  # may with a capital is a month
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


_FORMS: Final = language("en").tables["forms"]
_PLURALS: Final = verb_forms(_FORMS["plurals"])
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


_IRREGULAR: Final = IRREGULAR_PASTS | verb_forms(
    _FORMS["verbs"]
)  # forms that the endings below do not bring to their verb
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


_CONTRACTIONS: Final = {
    **{form: meant for meant, forms in language("en").tables["contractions"].items() for form in forms.split()},
    **{f"{word}nt": f"{word} not" for word in WORDS["bare_not"]},
    **{f"{word}s": f"{word} is" for word in WORDS["bare_is"]},
}
_LONGEST: Final = 400  # characters of a sentence that is read; a longer one is no plain statement
_FOREIGN: Final = re.compile(r"[^\W\d_]+")
_WORD: Final = re.compile(r"[^\s,;!?()\[\]\"“”`*]+(?:(?<=\d),(?=\d{3})[^\s,;!?()\[\]\"“”`*]+)*|,")
_ENDINGS: Final = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_LINE_OF_QUOTE: Final = re.compile(r"\s*(?:>|\|)|(?: {4}|\t)\S")
OWNERS: Final = {"my": "I", "our": "we", "his": "he", "her": "she", "their": "they", "its": "it"}
PEOPLE: Final = frozenset({"i", "we", "they", "he", "she", "it"})
_COMMON: Final = (
    WORDS["no_value"] | WORDS["leading"] | WORDS["prepositions"] | WORDS["determiners"] | WORDS["stops"] | WORDS["be"]
)
TextSpan = tuple[int, int]  # where something stands in the text: first character, one past the last


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a clause, contractions taken apart: as said with straight apostrophes, and where it stands."""

    form: str
    start: int
    end: int
    low: str = field(init=False)  # the word in lower case; "May" is the month

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", self.form if self.form == "May" else self.form.lower())


Words = tuple[Word, ...]


def is_readable(text: str) -> bool:
    """Return whether a text is in a language that can be read: no other is nearer by its commonest words."""
    words = [w.lower() for w in _FOREIGN.findall(text[:_LONGEST])]
    function_words = sum(w in WORDS["function"] for w in words)
    if sum(w[0] > "\u024f" for w in words) > function_words + 1:  # another script
        return False
    return sum(w in WORDS["foreign"] and w not in WORDS["function"] for w in words) <= function_words // 2


def statements(text: str) -> Iterator[TextSpan]:
    """Return the sentences of a text that may state something: no code, no quoted lines, no other language."""
    fenced = -1
    for start, end in sentences(text):
        if text.startswith("```", start):
            fenced = end
            continue
        line = text.rfind("\n", max(0, start - 8), start) + 1 or (0 if start < 8 else start)  # noqa: PLR2004
        quoted = _LINE_OF_QUOTE.match(text[line : start + 1])
        if start >= fenced and not quoted and end - start <= _LONGEST and is_readable(text[start:end]):
            yield start, end


def words_of(text: str, start: int, end: int) -> Words:
    """Return the words of a part of a text, contractions taken apart; a comma is a word."""
    found: list[Word] = []
    for match in _WORD.finditer(text, start, end):
        word = match[0].replace("’", "'")  # noqa: RUF001
        bare = word if word == "," else _without_marks(word)
        first = match.start() + word.find(bare)
        if bare and bare not in "-–—#":  # noqa: RUF001
            found += _split_contraction(bare, first)
    return tuple(found)


def _without_marks(word: str) -> str:
    bare = word.strip("'").rstrip(":")
    if bare.endswith(".") and bare[:-1].lower() not in WORDS["titles"]:
        bare = bare.rstrip(".")
    return bare


def _split_contraction(word: str, start: int) -> list[Word]:
    end, low = start + len(word), word.lower()
    if low in _CONTRACTIONS and word not in {"IM", "IVE"}:
        return [Word(form, start, end) for form in _CONTRACTIONS[low].split()]
    for ending, form in _ENDINGS.items() if "'" in low else ():
        if low.endswith(ending) and len(low) > len(ending):
            cut = end - len(ending)
            return [Word(word[: -len(ending)], start, cut), Word(form, cut, end)]
    if low.endswith("n't"):
        return [Word(word[:-3], start, end - 3), Word("not", end - 3, end)]
    if low.endswith("'s") and len(low) > 2:  # noqa: PLR2004
        owner = low[:-2] in PEOPLE | {"that", "this", "there", "here", "what", "who", "where", "how"}
        return [Word(word[:-2], start, end - 2), Word("is" if owner else "'s", end - 2, end)]
    if low.endswith("s'") and len(low) > 2:  # noqa: PLR2004
        return [Word(word[:-1], start, end - 1), Word("'s", end - 1, end)]
    return [Word(word, start, end)]


def is_name(word: Word) -> bool:
    """Return whether a word is written like a proper name and is no other word at the beginning of a sentence."""
    low = word.low
    return word.form[:1].isupper() and word.form[0].isalpha() and low not in _COMMON


def skip_determiners(words: Words) -> int:
    """Return how many determiners some words begin with; the last word is none."""
    at = 0
    while at < len(words) - 1 and words[at].low in WORDS["determiners"]:
        at += 1
    return at
