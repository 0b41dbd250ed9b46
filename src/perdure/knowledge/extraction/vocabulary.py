"""The verbs that say something of somebody, by what they say; and what is read of a clause."""

from __future__ import annotations

from typing import Final

from perdure.rules.language.words import word_set

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
THINGS: Final = word_set(
    "car bike motorbike phone laptop camera guitar watch tv computer printer tablet van truck boat"
)
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
