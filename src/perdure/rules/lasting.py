"""Which sentences of a message tell something that lasts, and which are unsure: a port and a name, not the weather.

Numbers, identifiers and names tell in every language that has capitals; lists of words only take out what passes.

What is asked for once ("add a test for empty input", "who wrote this") is over when it is done, so it tells nothing
that lasts. In doubt a sentence tells something: who says what is always, never or from now on to be done, what to use,
keep or avoid, or what is so, is to be remembered. What a program printed is a part of what is asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import STOP_WORDS, word_set
from perdure.rules.standing import NO_ORDER, is_standing_state

_TELLS: Final = lazy_pattern(r"[0-9]|[^\W\d_][_/.@:\\][^\W\d_]|[a-z][A-Z]|`")
_WITHIN: Final = lazy_pattern(r"(?<=[^\s.!?:\"“])\s+(?:\W?)([A-Z][^\W_]+)")
_FIRST: Final = lazy_pattern(r"\W*([A-Z][^\W\d_]+)")
_PASSES: Final = lazy_pattern(
    r"\A\W*still\b|\b(?:today|yesterday|tomorrow|tonight|this\s+(?:morning|afternoon|evening)|last\s+night|right\s+now|just\s+now"
    r"|at\s+the\s+moment|back\s+in|in\s+a\s+(?:minute|moment|second)|heute|gestern|morgen|hoy|ayer|aujourd'hui|hier)\b",
    re.IGNORECASE,
)
_GENERAL: Final = lazy_pattern(
    r"\b(?:is|are|may|must|can|should|goes?|gets?|does|do|has|have)\s+(?:always|never|ever|only)\b|\bno\s+\w+\s+(?:may|must|can|should)\b"
    r"|\b(?:nobody|no\s+one)\s+(?:but|may|must|can|\w+s)\b"
    rf"|\b(?:we|I)\s+(?:always|never)\s+(?!{NO_ORDER})[a-z]",
    re.IGNORECASE,
)
"""What is so at all times, or for all."""
_ROLES: Final = (
    r"owner|lead|leader|manager|contact|maintainer|reviewer|head|boss|admin|administrator|architect|designer|developer"
    r"|engineer|tester|director|chair|secretary|treasurer|accountant|landlord|client|customer|sponsor|supervisor"
    r"|assistant|coach|teacher|doctor|dentist|deputy|successor|stand-in"
)
_WHO_IS_WHAT: Final = lazy_pattern(
    rf"\W*([A-Z][^\W\d_]+)(?:\s[A-Z][^\W\d_]+)?\s(?:is|becomes)\s(?:now\s)?(?:the|our|my|their|an?)\s(?:[\w-]{{1,30}}\s){{0,3}}?"
    rf"(?:{_ROLES})\b"
)
"""A name that opens a sentence, and what its bearer is: "Sabine is the product owner"."""
_REDACTED: Final = lazy_pattern(r"(?:[\w.-]{0,80}[ \t]?[:=][ \t\"']?)?\[redacted: [^\]\n]{1,60}\]")
"""Where a secret was, with the name that it was given."""
_FROM: Final = lazy_pattern(
    r"\b(?:from|as\s+of|starting|ab|desde|dès|à\s+partir\s+de)\s+(?:today|tomorrow|tonight|this\s+(?:morning|week|month)"
    r"|now\s+on|next\s+\w+|(?:mon|tues|wednes|thurs|fri|satur|sun)day|heute|morgen|jetzt|hoy|ahora|aujourd'hui|maintenant)\b(?!\s+to\b)",
    re.IGNORECASE,
)
"""What begins on a day and goes on: "from today", "starting next week"."""
_STANDS_FOR: Final = lazy_pattern(
    r"\W*(?:(?:and|but|then|so)\s+)?(?:that|this|these|those|it|they|he|she)\b", re.IGNORECASE
)
_HAPPENED: Final = lazy_pattern(
    r"\b(?:I|we)\s+(?:just\s+|also\s+|then\s+)?(?:\w{2,}ed|went|saw|met|had|got|did|made|took|ate|bought|found|was|were"
    r"|felt|thought|came|gave|told|said|read|ran|won|lost|spent|tried)\b"
)
_REFERS: Final = lazy_pattern(
    r"\W*(?:exactly|yes|no|right|agreed|correct|true|sure|also|and|but|then|so|that|this|these|those|it|they|he|she)\b",
    re.IGNORECASE,
)
"""What begins like this rests on what was said before it, and tells nothing alone."""
_JOINS: Final = lazy_pattern(r"\W*(?:also|and|but|so)\b[\s,]*", re.IGNORECASE)
"""What begins like this goes on from the sentence before it: beside that one it can be understood."""
_RESTS: Final = lazy_pattern(
    r"\b(?:it|that|this|them|him|her)\W*(?:\b(?:too|also|as\s+well|again|now|then|though)\b\W*)?$", re.IGNORECASE
)
"""What ends like this ("she likes it too") says of what only the message before it shows."""
_SOMEBODY: Final = word_set("someone somebody everyone everybody nobody anyone anybody")
_SHORT: Final = 7  # in a sentence of more words the thing itself has been named, mostly
_PERSON: Final = lazy_pattern(
    r"\W*([A-Z][^\W\d_]+)(?:['’]s|\s+(?:\w{3,}s|is|was|has|can|will|\w+n['’]t))\b[^.!?]*\b(?:he|she)\b"  # noqa: RUF001
)
"""A name that opens a sentence: someone does something, and "he" or "she" follows."""
_SUPPOSED: Final = lazy_pattern(
    r"\bmight\b|\b(?:apparently|supposedly|allegedly)\b|\b(?:someone|somebody|people)\s+sa(?:id|ys?)\b", re.IGNORECASE
)
"""What might be, or is hearsay."""
_IF: Final = lazy_pattern(r"\bif\b", re.IGNORECASE)
_WOULD: Final = lazy_pattern(r"\w(?:['’]d|\s+(?:would|could))\b", re.IGNORECASE)  # noqa: RUF001
"""What would be, after the word: "if we had more money, I'd do the roof"."""
_UNSURE: Final = lazy_pattern(
    r"\b(?:maybe|perhaps|not\s+(?:yet\s+)?(?:sure|decided)|undecided|haven't\s+decided|not\s+certain|vielleicht"
    r"|might\s+be\s+that|for\s+sure\s+yet|nobody\s+(?:has\s+)?(?:said|knows)|nicht\s+sicher|peut-être|quizás?|tal\s+vez)\b|也许|可能|たぶん",
    re.IGNORECASE,
)
_UNDECIDED: Final = lazy_pattern(
    r"\b(?:(?:not|\w+n['’]t)\s+(?:yet\s+)?(?:been\s+)?(?:yet\s+)?decided|undecided|for\s+sure\s+yet"  # noqa: RUF001
    r"|nobody\s+(?:has\s+)?(?:said|knows)|(?:noch\s+)?nicht\s+entschieden|noch\s+offen|pas\s+(?:encore\s+)?décidé"
    r"|sin\s+decidir|not\s+(?:yet\s+)?(?:sure|certain|clear)\s+(?:yet\s+)?(?:whether|if|which|what|who|when|how|where))\b",
    re.IGNORECASE,
)
"""What says of itself that it is to be decided."""


_RULE: Final = lazy_pattern(
    rf"\W*(?:please\s+)?(?:never|always|do\s+not\s+ever|don['’]t\s+ever)\s+(?!{NO_ORDER})[a-z]",  # noqa: RUF001
    re.IGNORECASE,
)
_RULE_WITHIN: Final = lazy_pattern(
    rf"[,:;]\s?(?:please\s+)?(?:never|always)\s+(?!{NO_ORDER}|again\b|\w+[^\Ws]s\b|before\b|after\b|on\b|in\b|at\b|from\b"
    r"|to\b|by\b|with\b|more\b|less\b|above\b|below\b)[a-z][\w-]*\s+\w",
    re.IGNORECASE,
)
"""The same after a comma, where others may be spoken of: "he is nice, always says hello"."""
_BINDS: Final = lazy_pattern(r"\bmust\s+(?:always|never|only)\b|\bonly\s+ever\b|\bfrom\s+now\s+on\b", re.IGNORECASE)
_RULE_FROM: Final = 5  # words; "Never give up!" is none
_OPENING: Final = lazy_pattern(
    r"\W*(?:(?:ok|okay|alright|now|also|then|next|first|finally|great|good|perfect|cool|thanks|thank\s+you|yes|yep|yeah|and|so|but"
    r"|just|please|pls|hey|hi|quick(?:ly)?|one\s+more\s+thing)\b[\s,.!:;\-–—]*)*",  # noqa: RUF001  # dashes are meant
    re.IGNORECASE,
)
"""What may stand before the verb."""
_ASKED_OF_YOU: Final = lazy_pattern(
    r"(?:(?:can|could|would|will)\s+you\b|(?:I|we)(?:\s+(?:want|need)|(?:['’]d|\s+would)\s+like)\s+you\s+to\b)"  # noqa: RUF001
    r"(?!\s+(?:know|remember|understand|note|keep|call|be|use|always|never)\b)"
    r"|get\s+rid\s+of\b|(?:help|show|tell|send|walk|teach|get)\s+(?:me|us)\b|let\s+(?:me|us)\s+(?:know|see)\b|let['’]?s\s+see\b"  # noqa: RUF001
    r"|look\s+(?:at|into)\b|(?:kannst|könntest)\s+du\b|(?:können|könnten)\s+Sie\b|(?:peux|pourrais)-tu\b|(?:pouvez|pourriez)-vous\b"
    r"|(?:puedes|podrías)\b",
    re.IGNORECASE,
)
_QUESTION: Final = lazy_pattern(
    r"(?:(?:what|who|where|when|why|how|which)(?:['’]?s|\s+(?:is|are|was|were|does|do|did|has|can|could|should|would|will|the\s+hell))"  # noqa: RUF001
    r"|who\s+\w+(?:ed|te|de|ke)|how\s+(?:many|much|long|come|about)|what\s+about|(?:is|are)\s+(?:there|it|this|that)|(?:does|did|do)\s+(?:you|we|it|the|this|that|I))\b"
    r"(?!.*\b(?:is|are|was|were|goes|gets|must|has|have|means)\b|.*:)",
    re.IGNORECASE,
)
"""A question that has no mark; with another verb, or what follows a colon, it may be an answer."""
_PRINTED: Final = lazy_pattern(
    r"\W{0,3}(?:(?-i:[\w.]{0,60}[a-z](?:Error|Exception|Warning))\s?[:(]|Traceback \(most\b"
    r"|File\s\"[^\"\n]{1,200}\",\sline\s\d|Exception\sin\sthread\b|at\s[\w.$<>]{1,120}\s?\([^()\n]{1,200}:\d{1,6}(?::\d{1,6})?\)"
    r"|[\w./-]{1,80}:\s(?:connection\s+(?:refused|reset|closed)|permission\s+denied|command\s+not\s+found|no\s+such\s+file))",
    re.IGNORECASE,
)
"""What a program printed when it failed."""
_VERB: Final = lazy_pattern(r"([a-z]+)(?:\s+(\S+))?", re.IGNORECASE)
_VERBS: Final = word_set("""
    add analyse analyze append apply calculate clarify compare compile compute configure convert create debug define
    delete describe determine disable enable ensure evaluate examine expand explain explore extract fetch fix generate
    identify implement improve insert inspect install integrate investigate optimise optimize rebase rebuild recreate
    redo refactor regenerate remove rename reorder rephrase replace reproduce rerun restart restructure retry revert
    rewrite simplify summarise summarize uninstall validate verify visualise visualize
    """)
"""Verbs with which no statement begins, as a rule."""
_ALSO_NOUNS: Final = word_set("""
    answer benchmark build bump change check clean clear close collect combine commit complete copy cut deploy design do
    document download draft draw drop dump edit estimate export extend fill filter find finish format give go group
    highlight import include join kill link list load log make map mark match measure merge mock modify move name open
    outline pack parse paste patch pick plan plot post prepare print profile propose publish pull push put query read
    recommend reduce release render repeat reply report reset resolve review revise rollback run save scan schedule
    search select separate set show sketch solve sort split squash stage start stash stop submit suggest swap switch
    tag take test tidy time trace track translate try tweak turn undo update upgrade upload view
    wait watch wire wrap write
    """)
"""Verbs with which a statement may begin, or advice that holds ("test data lies in fixtures", "put secrets in")."""
_OBJECT: Final = lazy_pattern(
    r"(?:the|a|an|this|that|these|those|it|them|him|her|me|us|my|our|your|its|both|some|another|one|two|three)\b|[`'\"/@#.]"
    r"|\w+[_./\\(]|(?-i:\w*[a-z][A-Z])",
    re.IGNORECASE,
)
"""What follows such a word where it asks for something: its object."""
_STATEMENT: Final = lazy_pattern(
    r"(?:(?!(?:that|which|who|what|where|when|why|how|if|whether|it|there|the|a|an|and|because)\b)\S+\s+){1,5}?"
    r"(?:is|are|was|were|has|have|had|will|can|must|should|may|does|do|did|goes|go|needs?|lives?|runs?|lies|uses?|happens?|pays?)\b",
    re.IGNORECASE,
)
"""A noun and what it is or does: "write access to main is limited"."""
_STANDING: Final = lazy_pattern(
    r"\b(?:always|never|whenever|each|every|all|must|only|unless|not|by\s+default|from\s+now\s+on|in\s+(?:the\s+)?future|instead\s+of"
    r"|\w+n['’]t)\b",  # noqa: RUF001  # the typographic apostrophe
    re.IGNORECASE,
)
"""What makes an instruction a rule."""
_BESIDE: Final = lazy_pattern(
    r"[,;:\u2013\u2014-]\s+(?:but|and|so|because|since|as|it|they|we|I|he|she|the|our|my|its|their)\b.*"
    r"\b(?:is|are|was|were|has|have|will|needs?|wants?|said|says|\w+['’]s)\b",  # noqa: RUF001
    re.IGNORECASE,
)
"""What is told beside what is asked: "set it, the customer has signed"."""


def is_rule(text: str) -> bool:
    """Return whether a message says what is always or never to be done."""
    parts = (text[start:end] for start, end in sentences(text))
    statements = [part for part in parts if len(part.split()) >= _RULE_FROM and not part.endswith("?")]
    return any(_RULE.match(part) or _RULE_WITHIN.search(part) or _BINDS.search(part) for part in statements)


def names_within(texts: Iterable[str]) -> frozenset[str]:
    """Return the words that stand capitalised within sentences of some texts: probably names, as they are written."""
    return frozenset(name for text in texts for name in _WITHIN.findall(text) if name.lower() not in STOP_WORDS)


def is_unsure(text: str) -> bool:
    """Return whether a message leaves open what it says."""
    return _UNSURE.search(text) is not None


def without_redacted(text: str) -> str:
    """Return a text without the marks of secrets that were replaced, and without the names that they were given."""
    return _REDACTED.sub("", text) if "[redacted: " in text else text


def leaves_open(text: str, names: Collection[str] = ()) -> bool:
    """Return whether a message leaves something open that is worth asking: it says so, or names or numbers it.

    "Not sure about the color, maybe blue" only thinks aloud.
    """
    parts = [text[start:end] for start, end in sentences(text)]
    unsure = [part for part in parts if is_unsure(part)]
    return any(_UNDECIDED.search(part) or _tells(part, names) for part in unsure)


def is_supposed(part: str) -> bool:
    """Return whether a sentence says what would or might be, or what nobody in particular said."""
    condition = _IF.search(part)
    would = condition is not None and _WOULD.search(part, condition.end()) is not None
    return would or _SUPPOSED.search(part) is not None


def is_passing(text: str) -> bool:
    """Return whether a message speaks of the moment at which it was said."""
    return _PASSES.search(_FROM.sub("", text)) is not None


def lasting_sentences(text: str, names: Collection[str] = ()) -> list[str]:
    """Return the sentences of a message that tell something that lasts: they name or number it, and no passing day.

    One of the known ``names`` may open a sentence, where every word has a capital.
    """
    found: list[str] = []
    before = ""
    for start, end in sentences(text):
        part = text[start:end]
        told = part[joint.end() :] if before in found and (joint := _JOINS.match(part)) else part
        if _lasts(told, names):
            found.append(part)
        before = part
    return found


def _lasts(part: str, names: Collection[str]) -> bool:
    if part.startswith("```") or part.endswith(("?", "？")):  # noqa: RUF001  # the full-width mark is meant
        return False
    begins = _FROM.search(part) is not None
    refers = _STANDS_FOR.match(part) if begins else _REFERS.match(part)
    if (
        refers
        or _rests_on_another(part)
        or is_passing(part)
        or _HAPPENED.search(part)
        or _UNSURE.search(part)
        or is_supposed(part)
        or is_instruction(part)
    ):
        return False
    person = _PERSON.match(part) or _WHO_IS_WHAT.match(part)
    part = without_redacted(part)
    return (
        begins
        or _GENERAL.search(part) is not None
        or is_standing_state(part)
        or _tells(part, names)
        or (person is not None and person[1].lower() not in STOP_WORDS | _SOMEBODY)
    )


def _tells(part: str, names: Collection[str]) -> bool:
    """Return whether a sentence numbers or names something."""
    first = _FIRST.match(part)
    return (
        _TELLS.search(part) is not None
        or any(name.lower() not in STOP_WORDS for name in _WITHIN.findall(part))
        or (first is not None and first[1] in names)
    )


def stands_alone(part: str) -> bool:
    """Return whether what is said can be understood without what was said before it."""
    return not (_REFERS.match(part) or _rests_on_another(part))


def _rests_on_another(part: str) -> bool:
    """Return whether a short sentence ends in a word that stands for something outside it."""
    return len(part.split()) <= _SHORT and _RESTS.search(part) is not None


def is_instruction(part: str) -> bool:
    """Return whether a sentence asks its reader to do or say something once, or shows what a program printed."""
    if _PRINTED.match(part):
        return True
    if _STANDING.search(part) or _BESIDE.search(part):
        return False
    at = opening.end() if (opening := _OPENING.match(part)) else 0
    if _ASKED_OF_YOU.match(part, at) or _QUESTION.match(part, at):
        return True
    found = _VERB.match(part, at)
    if not found or not found[2] or _STATEMENT.match(part, at):
        return False
    verb = found[1].lower()
    return verb in _VERBS or (verb in _ALSO_NOUNS and _OBJECT.match(found[2]) is not None)
