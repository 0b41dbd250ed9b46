"""Which words are forms, synonyms or misspellings of one another."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from perdure.rules.language.verbs import IRREGULAR_PASTS, OTHER_PASTS
from perdure.rules.language.words import PEOPLE, RELATIONS, TURNING, TURNING_VERBS, word_set

PAST: Final = "<"  # ends the form of a verb in the past, which is not the present
_SAME_FORM: Final = word_set(
    "news means goods glasses customs arms series species physics mathematics politics always plus minus bus gas yes "
    "thing something anything nothing everything king ring spring string wing during morning evening "
    "need feed speed seed breed indeed hundred"
)
"""Words whose ending is no suffix."""
_SINGULAR: Final = word_set(
    "news physics mathematics politics economics series species alias bias atlas canvas lens chaos ethos cosmos corps "
    "postgres kubernetes https"
)
"""Words that end in -s and stand for one thing."""
_PLURALS: Final = word_set("people children men women feet teeth mice")
_CLOSED: Final = (TURNING | RELATIONS | PEOPLE) - TURNING_VERBS - {"used"}
_NOMINAL: Final = {
    "ation": (("", ""), ("", "e"), ("ic", "y"), ("", "ate")),
    "ion": (("", ""), ("", "e"), ("s", "d"), ("s", "de"), ("ss", "t"), ("pt", "be"), ("ct", "ce")),
    "ment": (("", ""),),
    "al": (("", ""), ("", "e")),
    "ance": (("", ""), ("", "e")),
    "ence": (("", ""), ("", "e")),
    "ure": (("", ""), ("", "e")),
    "ility": (("", "le"),),
    "ity": (("", ""), ("", "e")),
    "ness": (("", ""), ("i", "y")),
}
"""Ending of a noun -> what stands at its stem's end, and in the word that it is made of."""
_CLOSED_SYLLABLE: Final = re.compile(r"[^aeiou]{0,2}[aeiou][^aeiouwxy]")
_SHORTEST: Final = 4
_TYPO_FROM: Final = 5
_DOUBLED_FROM: Final = 9
_NO_SLIP: Final = word_set(
    "angel angle trial trail diary dairy casual causal united untied quiet quite desert dessert later latter "
    "diner dinner super supper comma coma sacred scared martial marital calm clam bread beard board broad"
)
"""Pairs of words that look like a slip of each other."""
_GROUPS: Final = """
prefer like favour favor, use utilize utilise employ, buy purchase, fix resolve repair solve, happen occur,
run execute, speak talk, large big huge enormous, small little, quick fast rapid swift, child children kid,
choose select pick,
remove delete, depart leave, call name, answer reply respond, short brief concise, mother mum mom, father dad,
flat apartment, bug defect, issue problem, repo repository, config configuration, database db, application app,
documentation docs, environment env, production prod, directory folder, favourite favorite, colour color,
centre center, picture photo photograph image, film movie, holiday vacation, autumn fall, car automobile, help assist,
allow permit, forbid prohibit ban, show display, create make, receive get obtain, require need, start begin commence,
end finish, taken occupied, parameter param, argument arg, message msg, dislike hate, frequently often, rarely seldom,
almost nearly, approximately around roughly, man guy, men guys, woman lady, women ladies, jump leap, street road,
stone rock, forest woods, sea ocean, ship vessel, sofa couch, bike bicycle, phone telephone, tv television, dish meal,
cut slice, rabbit bunny, kitten kitty, mix stir, glad happy, ill sick, afraid scared, angry mad, correct right,
doctor physician, teacher instructor, reject decline, hide conceal, gift present, grow increase, shrink decrease,
ask request, want wish, email e-mail mail, website site, trip journey, kilometre km kilometer, metre meter,
minute min, hour hr, kilogram kg, via through, if when whenever, while whilst, onto on upon, among amid, until till,
keep store retain, put place, move relocate, client customer, include contain, maximum max, minimum min,
employee worker, company firm, pupil student, plane airplane aeroplane aircraft, garbage trash rubbish, infant baby,
path trail, love adore, strike hit, battle fight, toss throw, marriage wedding, carefully cautiously, stroll walk,
everyone everybody, anyone anybody, person someone somebody, stop quit cease, disable deactivate,
enable activate, postpone delay defer, rent lease, garage workshop, cheap inexpensive, reserve book, staff personnel,
boss manager, salary wage, supplier vendor, invoice bill, contract agreement, examine inspect, shut closed,
gather collect,
explain clarify, lawyer attorney, grandmother grandma granny gran, grandfather grandpa, loud noisy, quiet silent,
whole entire, usually normally typically generally, immediately instantly, completely totally entirely,
litre liter l, kilo kg, colleague coworker, trousers pants, lorry truck, tap faucet, petrol gasoline, cut trim,
broken defective, spectacles glasses, notify inform, launch introduce, verify confirm, permission approval, donate give,
finalize finalise, organize organise, optimize optimise, authorize authorise, gray grey, licence license, grave serious,
cancel annul, expire lapse, handle manage
"""
"""Separated by commas; the first word stands for the others."""

SYNONYMS: Final[dict[str, str]] = {
    word: group.split()[0] for group in _GROUPS.replace("\n", " ").split(",") for word in group.split()
}

_TURNS: Final = """
have to = must; has to = must; is able to = can; are able to = can; would like to = want to; would like = want;
rather than = instead; instead of = instead; asked for = requested; asks for = requests; ask for = request;
asking for = requesting; takes place = happens; take place = happen; took place = happened; once a = every;
once an = every; once per = every; once every = every; each = every; daily = every day; hourly = every hour;
weekly = every week; monthly = every month; yearly = every year; annually = every year; nightly = every night;
better than = over; larger than = over; bigger than = over; more than = over; greater than = over; above = over;
less than = under; fewer than = under; lower than = under; below = under; as well as = and; in order to = to;
because of = due to; front end = frontend; back end = backend; at the moment =; currently =; next to = beside;
has been = was; have been = was; had been = was; gets = is; get = are; got = was; at all =;
works as = is; work as = are; worked as = was; is planning to = plans to; are planning to = plan to;
prefers to = prefers; prefer to = prefer; likes to = likes; like to = like; who is =; who are =; that is =;
that are =; which is =; which are =; there is =; there are =; indoors = in indoors; outdoors = in outdoors;
outside = in outdoors; close to = near; up to = at most; no more than = at most; not more than = at most;
a maximum of = at most; no fewer than = at least; no less than = at least; not less than = at least;
a minimum of = at least; the team decided to = we; we decided to = we; we agreed to = we;
it was decided to = we; it was agreed to = we; back yard = backyard;
main branch = main; master branch = master; config file = config; configuration file = config;
asked to be = want to be; wants to be = want to be; asks to be = want to be; is the lead of = leads;
is the owner of = owns; is in charge of = leads;
is located in = is in; is located at = is at; are located in = are in; can be found in = is in;
can be found at = is at;
turned off = disabled; turn off = disable; turns off = disables; switched off = disabled; switch off = disable;
switches off = disables; turned on = enabled; turn on = enable; turns on = enables; switched on = enabled;
switch on = enable; switches on = enables; turned down = rejected; turn down = reject; turns down = rejects;
runs out = expires; run out = expire; ran out = expired; kicks off = starts; kick off = start; kicked off = started;
handed in = submitted; hand in = submit; hands in = submits; called off = cancelled; call off = cancel;
gave up = quit; give up = quit; gives up = quits; put off = postpone; puts off = postpones;
broke down = broke; breaks down = breaks; break down = break; stopped working = broke; stops working = breaks;
stop working = break; takes care of = handles; take care of = handle; takes out = removes; throw away = discard;
set up = configure; sets up = configures; picked up = collected; pick up = collect; picks up = collects;
before the end of = by the end of; in front of = infront; on top of = atop; works for = works at;
work for = work at; is employed by = works at; is employed at = works at; onstage = on stage
"""
EXPRESSIONS: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    tuple(said.split()): tuple(meant.split())
    for said, _, meant in (turn.partition("=") for turn in _TURNS.replace("\n", " ").split(";"))
}
"""What is said -> what is meant, in words; a sentence is read with what is meant in its place."""
LONGEST_EXPRESSION: Final = max(map(len, EXPRESSIONS))


@lru_cache(maxsize=4096)
def word_forms(word: str) -> frozenset[str]:
    """Return what a word may be a form of: itself, its base, their synonyms; of a past the base with ``<``.

    Other suffixes change what is said: -er compares, -ly is another word ("hard", "hardly").
    """
    if word in _CLOSED or not word.isalpha():
        return frozenset({SYNONYMS.get(word, word)})
    found = {word} | _bases(word) | {base + PAST for base in _past_bases(word)}
    for form in tuple(found):
        base = form.rstrip(PAST)
        if base in SYNONYMS:
            found.add(SYNONYMS[base] + form[len(base) :])
    return frozenset(found)


def _bases(word: str) -> set[str]:
    """Return what a word may be the plural, the third person or the -ing form of."""
    if word in _SAME_FORM or len(word) < _SHORTEST:  # "is", "us", "gas"
        return set()
    if word.endswith("ies"):
        return {word[:-3] + "y"}
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        return {word[:-2], word[:-1]}
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return {word[:-1]}
    return _stems(word[:-3]) if word.endswith("ing") and len(word) > _SHORTEST + 1 else set()


def is_plural(noun: str) -> bool:
    """Return whether an English noun stands for several things: "wheels", "children"; "status" does not."""
    word = noun.lower()
    if word in _PLURALS:
        return True
    ends_so = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return ends_so and len(word) >= _SHORTEST and word not in _SINGULAR


def _past_bases(word: str) -> set[str]:
    if word in IRREGULAR_PASTS:
        return {IRREGULAR_PASTS[word]}
    if word in OTHER_PASTS:
        return {OTHER_PASTS[word]}
    if word in _SAME_FORM or not word.endswith("ed") or len(word) <= _SHORTEST:
        return set()
    return {word[:-3] + "y"} if word.endswith("ied") else _stems(word[:-2])


def _stems(stem: str) -> set[str]:
    """Return which verbs may stand before -ing and -ed: "stop" in "stopped", "hope" in "hoped"."""
    if stem[-1] == stem[-2:-1] and stem[-1] not in "lsz":
        return {stem[:-1]}  # running
    if _CLOSED_SYLLABLE.fullmatch(stem):
        return {stem + "e"}  # hoping; hop gives hopping
    return {stem, stem + "e", stem[:-1]} if stem[-1] == stem[-2:-1] else {stem, stem + "e"}


def is_noun_of(noun: str, word: str) -> bool:
    """Return whether a noun is made of a verb or an adjective: "extension" of "extended"."""
    bases = {form.rstrip(PAST) for form in word_forms(word)}
    for single in {noun, *_bases(noun)}:
        for suffix, endings in _NOMINAL.items():
            stem = single.removesuffix(suffix)
            if stem != single and len(stem) >= _SHORTEST - 1:
                bases_of_noun = {stem[: len(stem) - len(cut)] + put for cut, put in endings if stem.endswith(cut)}
                if not bases_of_noun.isdisjoint(bases):
                    return True
    return False


def is_slip(one: str, other: str) -> bool:
    """Return whether two long words differ by two letters exchanged, or by a letter doubled.

    One letter put for another is no slip: "house" is not "mouse", and "enable" is not "unable".
    """
    if not (one.isalpha() and other.isalpha()) or one in _CLOSED or other in _CLOSED or one in _NO_SLIP:
        return False
    if min(len(one), len(other)) < _TYPO_FROM or one[0] != other[0] or one[-1] != other[-1]:
        return False
    first = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), -1)
    if len(one) == len(other):
        swapped = one[:first] + one[first + 1 : first + 2] + one[first : first + 1] + one[first + 2 :]
        return first > 0 and swapped == other
    long, short = (one, other) if len(one) > len(other) else (other, one)
    if len(long) != len(short) + 1 or len(long) < (_DOUBLED_FROM if long.endswith(("ed", "ing", "er")) else _TYPO_FROM):
        return False
    return first > 0 and long[first] == long[first - 1] and long[:first] + long[first + 1 :] == short
