"""The verbs that say something of somebody, by what they say; and what is read of a clause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from perdure.knowledge.extraction.clauses import Clause, Word
from perdure.knowledge.extraction.phrases import Phrase
from perdure.knowledge.records.facts import Learned
from perdure.records.instant import Instant
from perdure.rules.language.words import word_set

LAPSED: Final = re.compile(
    r"\b(?:since|lately|recently|(?:in|for)\s+(?:\w+\s+){0,3}?(?:days?|weeks?|months?|years?|decades?|ages|while|time))\b"
)
"""Since when something was not done: who "hasn't smoked since May" did until then."""
TextSpan = tuple[int, int]
"""Where something stands in the text: first character, one past the last."""


@dataclass(frozen=True, slots=True)
class RawClaim:
    """A claim before its value is read.

    Attributes:
        subject: As said, ``I`` for the speaker.
        predicate: In normal form.
        value: Where the value stands.
        span: Where the whole stands.
        learned: Which tier it belongs to.
        old: Where the value stands that was true before.
        denied: The value does not hold.
        many: As the claim's, or None for what the table says.
        kind: Sort of predicate, or empty for what the table says.
        since: The day that the clause names.
    """

    subject: str
    predicate: str
    value: TextSpan
    span: TextSpan
    learned: Learned
    old: TextSpan | None = None
    denied: bool = False
    many: bool | None = None
    kind: str = ""
    since: Instant | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A clause with its subject and verb told apart.

    Attributes:
        clause: The clause.
        who: Its subject as said.
        phrase: The subject as a noun phrase, if it is no person.
        at: Index of the verb, or of what follows "is".
        aux: The verbs before it that help it.
        denied: It has "not" or "never".
        never: It has "never".
        adverbs: Those between subject and verb.
    """

    clause: Clause
    who: str
    phrase: Phrase | None
    at: int
    aux: tuple[str, ...]
    denied: bool = False
    never: bool = False
    adverbs: frozenset[str] = frozenset()

    @property
    def words(self) -> tuple[Word, ...]:
        """The clause's words."""
        return self.clause.words

    @property
    def ended(self) -> bool:
        """Whether it says that something holds no more: "no longer", "not ... anymore", "haven't ... since May"."""
        lows = [word.low for word in self.words]
        over = "anymore" in lows or "longer" in lows or lows[-2:] == ["any", "more"]
        lapsed = bool({"have", "has"} & set(self.aux)) and not self.never
        return self.denied and (over or (lapsed and LAPSED.search(" ".join(lows)) is not None))


CHANGING: Final = word_set("""
    changed switched moved increased decreased extended adjusted updated raised lowered reduced pushed postponed bumped
    cut upgraded improved reached grew rose dropped fell rescheduled changes shifted expanded relocated went grown risen
    transitioned migrated hit downgraded
    """)
"""Verbs after which "to" names what holds from now on."""
MOVING: Final = word_set("move relocate")
SWITCHING: Final = word_set("switch change convert transition migrate shift")
PREFERRING: Final = {
    "prefer": "preference",
    "like": "like",
    "love": "like",
    "enjoy": "enjoy",
    "adore": "like",
    "hate": "dislike",
    "dislike": "dislike",
    "favor": "preference",
}
STOPPING: Final = word_set("stop quit")
COUNTING: Final = word_set("complete finish read write collect reach solve save record earn have own hit log publish")
"""Verbs whose number grows: twelve problems completed replace ten."""
HABITS: Final = word_set("""
    use play speak study drive volunteer teach run practice practise collect eat drink take follow own coach manage lead
    attend train commute smoke subscribe swim cook bake paint draw write raise grow keep belong specialise specialize
    major
    """)
"""Verbs that say in the present what somebody does as a rule."""
NOT_EVENTS: Final = word_set("""
    be have do say tell think feel want need hope wish guess suppose believe know mean seem look appear see hear notice
    get let make go come take give put keep find ask try like love enjoy prefer hate wonder decide plan appreciate thank
    remember forget agree remind talk chat speak call realize realise understand learn help show happen become turn
    bring send wait worry struggle manage end catch end-up figure share bet care stay stick consider mention expect
    start begin stop continue experience face deal encourage inspire motivate support push miss work run hit touch
    notice recommend suggest reflect allow choose pick check pass set leave stand fall hold last focus live imagine aim
    target recently test include involve provide offer cause use determine excite interest surprise relieve stoke pump
    thrill blow please bless honor honour amaze tire exhaust bore scare concern overwhelm confuse stress swamp embarrass
    """) - word_set("learn start begin miss choose use")
"""Verbs that say little of a fact when nothing more is known of them."""
JOBS: Final = word_set("""
    nurse teacher doctor engineer developer programmer designer student lawyer writer author artist painter musician
    singer dancer chef cook baker farmer driver pilot manager director producer photographer journalist editor scientist
    researcher professor accountant analyst consultant architect electrician plumber mechanic carpenter firefighter
    counselor counsellor therapist psychologist coach trainer instructor veterinarian vet dentist pharmacist librarian
    entrepreneur founder ceo cto freelancer contractor salesman cashier waiter waitress barista translator intern
    actor actress model veteran soldier officer secretary assistant technician biologist chemist physicist colorist
    mathematician economist historian philosopher pastor priest politician gamer streamer volunteer mom dad mother
    father parent grandmother grandfather
    """)
RELATIONS: Final = word_set("""
    sister brother mother father mom dad mum son daughter wife husband partner girlfriend boyfriend friend boss manager
    dog cat puppy kitten horse aunt uncle cousin niece nephew grandmother grandfather grandma grandpa roommate neighbor
    neighbour colleague coworker teacher mentor doctor therapist child kid fiance fiancee pet parrot rabbit hamster
    """)
KIN: Final = word_set("""
    sister brother mother father mom dad mum son daughter wife husband partner girlfriend boyfriend aunt uncle cousin
    niece nephew grandmother grandfather grandma grandpa child kid fiance fiancee dog cat puppy kitten pet parrot rabbit
    hamster mother-in-law father-in-law sister-in-law brother-in-law stepmother stepfather parent parents
    """)
"""Relations of whom more is said than their name: what is said is kept as the speaker's, "my daughter is allergic"."""
ONLY: Final = word_set("""
    mother father mom dad mum wife husband partner girlfriend boyfriend boss manager doctor therapist mentor fiance
    fiancee mother-in-law father-in-law
    """)
"""Relations of which there is one at a time."""
ROLES: Final = word_set("""
    contact contact_person person manager lead ceo cto cfo coo director head founder owner president chair captain coach
    administrator admin maintainer supervisor representative buyer
    """)
"""Offices that somebody holds."""
THINGS: Final = word_set("""
    car bike motorbike phone laptop camera guitar watch tv computer printer tablet van truck boat
    """)
"""Possessions that are of a make: "my car is a 2017 Toyota"."""
PLACES: Final = word_set("""
    office headquarter headquarters hq warehouse store shop school house apartment flat studio gym factory plant lab
    restaurant hotel branch clinic doc documentation repo repository code site venue
    """)
"""What is somewhere."""
STATES: Final = {
    **dict.fromkeys(word_set("married single divorced engaged widowed separated"), "marital_status"),
    **dict.fromkeys(word_set("vegan vegetarian pescatarian lactose-intolerant gluten-free celiac"), "diet"),
    **dict.fromkeys(word_set("retired unemployed self-employed pregnant"), "status"),
}
EMPTY_HEADS: Final = word_set("""
    time times feeling idea ideas question questions problem problems lot lots doubt chance fun blast ball way ways
    thing things moment moments day days experience experiences look plan plans break chat talk bit issue
    issues trouble hope
    dream dreams goal goals reason reasons access opportunity need luck heart passion memories memory story stories
    feelings love support point sense clue choice interest impact effect difference stuff energy strength courage power
    advice tips thoughts fan believer sucker mess wreck part step journey ride week month year morning evening night
    weekend conversation conversations vibe progress start change changes good great hard tough rough amazing people
    """)
"""Heads of phrases that name nothing to be known."""
