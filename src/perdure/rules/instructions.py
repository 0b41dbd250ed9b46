"""Which sentences ask their reader to do or say something once: "add a test for empty input", "who wrote this".

What is asked for is over when it is done, so it tells nothing that lasts. In doubt a sentence tells something: who says
what is always, never or from now on to be done, what to use, keep or avoid, or what is so, is to be remembered. What a
program printed is a part of what is asked.
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
    r"(?:(?:can|could|would|will)\s+you\b|(?:I|we)(?:\s+(?:want|need)|(?:['’]d|\s+would)\s+like)\s+you\s+to\b)"  # noqa: RUF001
    r"(?!\s+(?:know|remember|understand|note|keep|call|be|use|always|never)\b)"
    r"|get\s+rid\s+of\b|(?:help|show|tell|send|walk|teach|get)\s+(?:me|us)\b|let\s+(?:me|us)\s+(?:know|see)\b|let['’]?s\s+see\b"  # noqa: RUF001
    r"|look\s+(?:at|into)\b|(?:kannst|könntest)\s+du\b|(?:können|könnten)\s+Sie\b|(?:peux|pourrais)-tu\b|(?:pouvez|pourriez)-vous\b"
    r"|(?:puedes|podrías)\b",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(
    r"(?:(?:what|who|where|when|why|how|which)(?:['’]?s|\s+(?:is|are|was|were|does|do|did|has|can|could|should|would|will|the\s+hell))"  # noqa: RUF001
    r"|who\s+\w+(?:ed|te|de|ke)|how\s+(?:many|much|long|come|about)|what\s+about|(?:is|are)\s+(?:there|it|this|that)|(?:does|did|do)\s+(?:you|we|it|the|this|that|I))\b"
    r"(?!.*\b(?:is|are|was|were|goes|gets|must|has|have|means)\b|.*:)",
    re.IGNORECASE,
)
"""A question that has no mark; with another verb, or what follows a colon, it may be an answer."""
_PRINTED: Final = re.compile(
    r"\W{0,3}(?:(?-i:[\w.]{0,60}[a-z](?:Error|Exception|Warning))\s?[:(]|Traceback \(most\b"
    r"|[\w./-]{1,80}:\s(?:connection\s+(?:refused|reset|closed)|permission\s+denied|command\s+not\s+found|no\s+such\s+file))",
    re.IGNORECASE,
)
"""What a program printed when it failed."""
_VERB: Final = re.compile(r"([a-z]+)(?:\s+(\S+))?", re.IGNORECASE)
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
_OBJECT: Final = re.compile(
    r"(?:the|a|an|this|that|these|those|it|them|him|her|me|us|my|our|your|its|both|some|another|one|two|three)\b|[`'\"/@#.]"
    r"|\w+[_./\\(]|(?-i:\w*[a-z][A-Z])",
    re.IGNORECASE,
)
"""What follows such a word where it asks for something: its object."""
_STATEMENT: Final = re.compile(
    r"(?:(?!(?:that|which|who|what|where|when|why|how|if|whether|it|there|the|a|an|and|because)\b)\S+\s+){1,5}?"
    r"(?:is|are|was|were|has|have|had|will|can|must|should|may|does|do|did|goes|go|needs?|lives?|runs?|lies|uses?|happens?|pays?)\b",
    re.IGNORECASE,
)
"""A noun and what it is or does: "write access to main is limited"."""
_STANDING: Final = re.compile(
    r"\b(?:always|never|whenever|each|every|all|must|only|unless|not|by\s+default|from\s+now\s+on|in\s+(?:the\s+)?future|instead\s+of"
    r"|\w+n['’]t)\b",  # noqa: RUF001  # the typographic apostrophe
    re.IGNORECASE,
)
"""What makes an instruction a rule."""
_BESIDE: Final = re.compile(
    r"[,;:\u2013\u2014-]\s+(?:but|and|so|because|since|as|it|they|we|I|he|she|the|our|my|its|their)\b.*"
    r"\b(?:is|are|was|were|has|have|will|needs?|wants?|said|says|\w+['’]s)\b",  # noqa: RUF001
    re.IGNORECASE,
)
"""What is told beside what is asked: "set it, the customer has signed"."""


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
