"""Irregular forms of English verbs."""

from __future__ import annotations

from typing import Final

from perdure.rules.language.words import word_set


def verb_forms(table: str) -> dict[str, str]:
    """Return form -> verb of a table that is written as one text: ``go went gone, eat ate eaten``."""
    return {form: verb.split()[0] for verb in table.split(",") for form in verb.split()[1:]}


IRREGULAR_PASTS: Final = verb_forms("""
write wrote written, meet met, do did done, feel felt, buy bought, take took taken, make made, go went gone, give
gave given, get got gotten, see saw seen, begin began begun, run ran, eat ate eaten, drive drove driven, fly flew
flown, speak spoke spoken, choose chose chosen, grow grew grown, know knew known, draw drew drawn, sell sold, tell
told, find found, leave left, lose lost, pay paid, send sent, spend spent, build built, teach taught, bring brought,
catch caught, hold held, keep kept, lead led, win won, wear wore worn, sing sang sung, swim swam swum, ride rode
ridden, sleep slept, stand stood, hear heard, forget forgot forgotten, break broke broken, rise rose risen, fall
fell fallen, become became, come came, lend lent, understand understood, use used using, read reading
""")
"""Form of the past to its verb, where no ending tells."""

OTHER_PASTS: Final = verb_forms("""
drink drank drunk, cut cut, put put, throw threw thrown, blow blew blown, shake shook shaken, hide hid hidden, bite bit
bitten, steal stole stolen, freeze froze frozen, tear tore torn, hang hung, shoot shot, feed fed, dig dug, stick stuck,
strike struck, sit sat, lay laid, hit hit, set set, shut shut, split split, quit quit
""")
"""Those that only comparing two wordings needs: some are their own past."""

COMMON_VERBS: Final = frozenset(IRREGULAR_PASTS.values()) | word_set("""
    play live work like love enjoy prefer want need have own study collect practise support visit manage learn train
    attend watch listen travel smoke cook paint dance answer reply respond order report deploy commute move talk look
    depend belong subscribe start begin contain include require replace remove provide store
    """)
"""Verbs, in their bare form."""
