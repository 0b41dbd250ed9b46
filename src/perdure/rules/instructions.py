"""Which sentences ask their reader to do or say something once: "add a test for empty input", "who wrote this".

What is asked for is over when it is done, so it tells nothing that lasts. What is to be done always, never or from now
on does, and so does what one is asked to use, keep or avoid. What a program printed is a part of what is asked.
"""

from __future__ import annotations

import re
from typing import Final

from perdure.rules.language.words import word_set

_OPENING: Final = re.compile(
    r"\W*(?:(?:ok|okay|alright|now|also|then|next|first|finally|great|good|perfect|cool|thanks|thank\s+you|yes|yep|yeah|and|so|but"
    r"|just|please|pls|hey|hi|quick(?:ly)?|one\s+more\s+thing)\b[\s,.!:;\-–—]*)*",  # noqa: RUF001  # dashes are meant
    re.IGNORECASE,
)
"""What may stand before the verb."""
_ASKED_OF_YOU: Final = re.compile(
    r"(?:can|could|would|will)\s+you\b|(?:I|we)(?:\s+(?:want|need)|(?:['’]d|\s+would)\s+like)\s+you\s+to\b"  # noqa: RUF001
    r"|get\s+rid\s+of\b|(?:help|show|give|tell|send|walk|remind|teach|get)\s+(?:me|us)\b|let\s+(?:me|us)\s+(?:know|see)\b|let['’]?s\s+see\b"  # noqa: RUF001
    r"|(?:kannst|könntest)\s+du\b|(?:können|könnten)\s+Sie\b|(?:peux|pourrais)-tu\b|(?:pouvez|pourriez)-vous\b|(?:puedes|podrías)\b",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(
    r"(?:(?:what|who|where|when|why|how|which)(?:['’]?s|\s+(?:is|are|was|were|does|do|did|has|can|could|should|would|will|the\s+hell))"  # noqa: RUF001
    r"|who\s+\w+(?:ed|te|de|ke)|how\s+(?:many|much|long|come|about)|what\s+about|(?:is|are)\s+(?:there|it|this|that)|(?:does|did|do)\s+(?:you|we|it|the|this|that|I))\b",
    re.IGNORECASE,
)
"""A question that has no mark."""
_PRINTED: Final = re.compile(
    r"\W{0,3}(?:[\w.:]{0,80}(?:Error|Exception|Traceback|Warning)\b|[\w./-]{1,80}:\s(?:connection|permission|command|no\s+such|cannot)\b|\w{1,80}:\serror\b)"
)
"""What a program printed when it failed."""
_VERB: Final = re.compile(r"([a-z]+)(?:\s+(\S+))?", re.IGNORECASE)
_VERBS: Final = word_set("""
    add analyse analyze answer append apply arrange ask bring calculate capture clarify clean clear collect combine
    compare compile complete compose compute configure confirm connect continue convert correct create debug define
    delete describe determine disable draft draw edit enable ensure evaluate examine expand explain explore extend
    extract fetch figure fill find finish generate go identify implement import improve include insert inspect
    install integrate investigate join listen make measure modify move open optimise optimize organise organize
    outline paste pick polish prepare proceed propose provide publish pull put read rebase rebuild recommend
    reconsider recreate redo reduce refactor regenerate remove rename reorder repeat rephrase replace reply
    reproduce rerun reset resolve restart restore restructure retry revert rewrite rework search select separate
    simplify solve split squash start stop suggest summarise summarize swap switch take tidy translate try tweak
    uninstall update upgrade upload validate verify visualise visualize wait walk wire wrap write
    """)
"""Verbs that are hardly ever the noun with which a statement begins."""
_ALSO_NOUNS: Final = word_set("""
    benchmark book branch bug build bump cache call change check clone commit copy cut deploy do design display document
    download drop dump estimate experiment export filter fix format group highlight kill link list load lock log
    look map mark match merge mock name number order pack parse patch pin plan plot port post print profile push query
    rank release render report review revise rollback run save scan schedule script search set show sketch sort stash
    style submit tag test time trace track turn view watch work
    """)
"""Verbs that are nouns, too: a statement may begin with one ("test data lies in fixtures")."""
_OBJECT: Final = re.compile(
    r"(?:the|a|an|this|that|these|those|it|its|them|him|her|me|us|my|our|your|all|both|each|every|some|any|another|what|which|how|why"
    r"|whether|if|in|on|at|for|to|into|up|out|off|over|through|from|with|by|again|as|and|one|two|three)\b|[`'\"/@#.]|\w+[_./\\(]|(?-i:\w*[a-z][A-Z])",
    re.IGNORECASE,
)
"""What follows such a word where it is the verb: its object, or where and how."""
_SUBJECT: Final = re.compile(
    r"(?:(?!(?:that|which|who|what|where|when|why|how|if|whether|it|there|the|a|an|and|because)\b)\S+\s+){1,5}?"
    r"(?:is|are|was|were|has|have|had|will|can|must|should|may|does|do|did|goes|go|needs?|lives?|runs?|lies)\b",
    re.IGNORECASE,
)
"""A noun and what it is or does: "write access to main is limited"."""
_STANDING: Final = re.compile(
    r"\b(?:always|never|whenever|every\s*time|each\s+time|from\s+now\s+on|by\s+default|in\s+(?:the\s+)?future|instead\s+of|only\s+ever"
    r"|every\s+(?:day|week|month|morning|evening|release|commit|deploy\w*)|unless)\b",
    re.IGNORECASE,
)
"""What makes an instruction a rule."""


def is_instruction(part: str) -> bool:
    """Return whether a sentence asks its reader to do or say something once, or shows what a program printed."""
    if _STANDING.search(part):
        return False
    if _PRINTED.match(part):
        return True
    at = opening.end() if (opening := _OPENING.match(part)) else 0
    if _ASKED_OF_YOU.match(part, at) or _QUESTION.match(part, at):
        return True
    found = _VERB.match(part, at)
    if not found or not found[2] or _SUBJECT.match(part, at):
        return False
    verb = found[1].lower()
    return verb in _VERBS or (verb in _ALSO_NOUNS and _OBJECT.match(found[2]) is not None)
