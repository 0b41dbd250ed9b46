"""Whether a text is of an appointment or a deadline, and of nothing that holds besides: "Dentist on 12 May".

One short sentence with a word for what takes place or is due once, its day behind "on", "by" and their like, and no
word of beginning or change. All else is no appointment: the lists are short, and what they miss is shown as it was
said. English, German, French, Spanish, Italian, Portuguese, Dutch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.dates import WEEKDAY_OF, any_of
from perdure.rules.language.replaced_values import changes
from perdure.rules.language.sentences import sentences

_MOST_WORDS: Final = 14
_MOST_BETWEEN: Final = 3  # words between an event and its day: with more, one of them may say what it does
_DAY: Final = "\0"  # stands for a day that was found
_WEEKDAY: Final = rf"(?:(?:{any_of(WEEKDAY_OF)}|mon|tue|wed|thu|fri|sat|sun)\b\.?,?\s*)"
_TO: Final = rf"\s*{_WEEKDAY}?(?:(?:the|der|dem|den|le|el|il|o|ao)\s+)?{_DAY}"
_EVENTS: Final = (
    r"\b(?:appointment|meeting|interview|dentist|doctor|vet|concert|flight|trip|visit|exam|wedding|party|haircut|root\s+canal|school\s+play"
    r"|dinner|lunch|brunch|breakfast|conference|workshop|webinar|demo|presentation|inspection|check-?up|surgery"
    r"|vaccination|match|tournament|marathon|race|recital|rehearsal|premiere|hearing|ceremony|graduation|funeral"
    r"|reunion|retreat|kick-?off|review|call|audit|opera|festival|picnic|barbecue|parents['’]\s+evening"  # noqa: RUF001  # the typographic apostrophe
    r"|blood\s+test)s?\b"
    r"|\b\w*(?:termin|gespräch|prüfung|besichtigung|treffen|sitzung|besprechung|hochzeit|konzert|untersuchung|abend"
    r"|konferenz|feier|impfung|besuch|flug|klausur|verhandlung)(?:e|en|s)?\b|\b(?:zahnarzt|arzt|tierarzt)\b"
    r"|\b(?:rendez-vous|réunion|entretien|dentiste|médecin|vétérinaire|vol|visite|examen|mariage|fête|dîner|déjeuner"
    r"|conférence|spectacle|soutenance|audience|contrôle|voyage)s?\b"
    r"|\b(?:cita|reuni[óo]n|entrevista|dentista|veterinario|concierto|vuelo|visita|boda|fiesta|cena|almuerzo"
    r"|conferencia|excursión|viaje)s?\b"
    r"|\b(?:appuntamento|riunione|colloquio|concerto|volo|esame|matrimonio|festa|pranzo|conferenza|viaggio|veterinario)\b"
    r"|\b(?:consulta|reunião|voo|exame|casamento|jantar|almoço|conferência|viagem|veterinário)\b"
    r"|\b(?:afspraak|vergadering|gesprek|tandarts|dokter|dierenarts|vlucht|bezoek|bruiloft|feest|diner|conferentie"
    r"|ouderavond|reis)\b"
)
_DEADLINES: Final = (
    rf"\bdeadline\b|\bdue\b(?=\s+(?:on|by|before|date)\b|\s*:|{_TO})|\b\w*frist\b|\bfällig\b|\babgabe\w*"
    r"|\bdate\s+limite\b|\béchéance\b|\bà\s+rendre\b|\bplazo\b|\bfecha\s+límite\b|\bscadenza\b|\bprazo\b|\bdata\s+limite\b"
    r"|\buiterste\b"
)
_TASKS: Final = (
    r"\b(?:submit|submitted|pick\s+up|collect|hand(?:ed)?\s+in|pay|paid|return|returned|send|sent|file|filed|register|registered|sign"
    r"|signed|book|booked|finish|finished|complete|completed|deliver|delivered|abgeben|abgegeben|abzugeben|einreichen"
    r"|eingereicht|bezahlen|bezahlt|zahlen|schicken|rendre|payer|envoyer|remettre|entregar|pagar|enviar|presentar"
    r"|consegnare|consegnata|pagare|inviare|apresentar|inleveren|ingeleverd|betalen|betaald)\b"
)
_ON: Final = r"\b(?:on|am|den|le|el|il|em|op|(?:no|o)\s+dia|for|für|pour|para)\b"
_BY: Final = (
    r"\b(?:by|before|until|till|bis(?:\s+zum)?|spätestens(?:\s+am)?|vor|avant|jusqu['’]au|antes\s+del?|hasta|entro"  # noqa: RUF001  # as above
    r"|fino\s+al|prima\s+del|até|uiterlijk(?:\s+op)?|voor|tot)\b"
)
_IS: Final = r"\b(?:is|are|ist|sind|est|es|è|é)(?!\w)"
_WITH: Final = (
    r"(?:with|at|in|to|for|of|about|after|will\s+be|takes\s+place|sees|mit|bei|beim|im|zu[mr]?|nach|von|vom|de[rs]|für|findet"
    r"|avec|chez|à|au|aux|pour|d[ue]|des|con|en|de|del|para|al?|dal|dal?la|dallo|di|della|per|com|d[ao]|na|no|bij|met"
    r"|naar|van|voor|über)\b|d['’]"  # noqa: RUF001  # as above
)
_EVENT: Final = lazy_pattern(
    rf"(?:{_EVENTS})(?=\s*(?:\Z|[^\w\s]|{_DAY}|(?:{_ON}|{_BY}|{_IS})|{_WITH}|{_TO}))"
    r"|\b(?:fly|flies|fliegen|fliege|fliegt)\b",
    re.IGNORECASE,
)
"""An event that nothing but its day, place or people follow: no "exam fee", and no "dentist" who does something."""
_DEADLINE: Final = lazy_pattern(_DEADLINES, re.IGNORECASE)
_TASK: Final = lazy_pattern(_TASKS, re.IGNORECASE)
_ON_A_DAY: Final = lazy_pattern(
    rf"(?:{_ON}|{_BY}|{_IS}|[:,]|(?:{_EVENTS}|{_DEADLINES}|\bdate\b)){_TO}|\A\s*{_WEEKDAY}?{_DAY}\s*:", re.IGNORECASE
)
_BY_A_DAY: Final = lazy_pattern(rf"{_BY}{_TO}", re.IGNORECASE)
_IS_SOMETHING: Final = lazy_pattern(
    rf"{_IS}(?!\s+(?:due|planned|scheduled|booked|set|fällig|geplant|à\s+rendre|prévue?|previst[oa]|programad[oa]"
    rf"|fissat[oa]|marcad[oa]|gepland)\b|\s+(?:{_ON}|{_BY})?{_TO}|{_TO})",
    re.IGNORECASE,
)
_HOLDS: Final = lazy_pattern(
    # English
    r"\b(?:since|from|as\s+of|dated|start|begin|began|effect|effective|renew|becom|turn|open|clos|join|leav|retir|quit"
    r"|merg|replac|appl(?:y|ies)\b|takes?\b|gets?\b|stop|grow|fall|rise|drop|cost|hire|lose|win|wins|charge|expand|launch|not\b|never|who\b|whose|because|but\b)"
    # German
    r"|\b(?:seit|ab\b|beginn|kraft\b|gilt|gelten|wechsel|zieh|zieht|umzug|steig|sink|erhöh|änder|wird\b|werden\b(?!\s*\.?\Z)"
    r"|übern|fäng|fang|öffne|schließ|verläng|rente|verlegt|verschob|nicht\b|erst\b|aber\b|weil\b)"
    # French, Spanish, Italian, Portuguese
    r"|\b(?:depuis|dès|compter|partir|vigueur|commenc|débute|devien|déménag|install|passe\b|prend|ouvre|ferme|augment"
    r"|renouv|reporté|déplac|pas\b|mais\b|qui\b|desde|deja\b|deixa\b|quitte|vigor|empiez|empez|comienz|comenz|asum|traslad|sube|baja|muda"
    r"|mudanza|cambi|convier|abre|cierra|jubil|renuev|aplaz|pero\b|inizi|cominci|divent|trasfer|aument"
    r"|apre\b|chiude|rinnov|rinviat|spostat|come[çc]|torna|fecha\b(?!\s+límite)|sobe|adiad|assume|mas\b|renova)"
    # Dutch
    r"|\b(?:sinds|vanaf|ingang|begint|verhui|wordt|worden|stijg|daalt|sluit|verlengt|verander|verplaatst|verzet|niet\b|maar\b)",
    re.IGNORECASE,
)
"""What says that something is so from a day on, that a day was moved, or opens a clause of its own."""
_PERSON_ACTS: Final = lazy_pattern(
    r"\A(?:the|our|my|der|die|unsere?|meine?|le|la|notre|mon|ma|el|nuestr[oa]|mi|il|o|a|nosso|de|onze|mijn)\s+(?:\w+\s)?"
    r"(?:dentist|doctor|vet|(?:zahn|tier)?arzt|dentiste|médecin|vétérinaire|dentista|veterinari[oa]|veterinário|tandarts"
    r"|dokter|dierenarts)\b(?!\s+(?:sees|appointment|visit))",
    re.IGNORECASE,
)
_SET: Final = lazy_pattern(
    rf"{_ON}|{_BY}|{_IS}|\b(?:planned|scheduled|booked|set|geplant|prévue?|previst[oa]|programad[oa]|fissat[oa]|marcad[oa]"
    r"|gepland|will|be|at|um|le|the|der|de[mn])\b",
    re.IGNORECASE,
)
_SECOND_CLAUSE: Final = lazy_pattern(
    r"[;(\n%€$£]|\beuros?\b|\s[-\u2013\u2014]\s+[^\W\d]|\b(?:and|und|et|y|e)\s+(?=[a-zß-ÿ])"
)
_TIME: Final = lazy_pattern(rf"{_WEEKDAY}|\b(?:at|um|à|om|às|a\s+las|alle|ore|uhr|h|am|pm|uur)\b", re.IGNORECASE)
_WORD: Final = lazy_pattern(r"[^\W\d_]+")


def is_of_an_appointment(text: str, days: Sequence[tuple[int, int]]) -> bool:
    """Return whether a text only says what takes place on, or is due by, the days at these places in it, in order."""
    if len(sentences(text)) != 1 or changes(text) or _HOLDS.search(text) or _PERSON_ACTS.search(text):
        return False
    marked = _with_marks(text, days)
    if len(_WORD.findall(marked)) > _MOST_WORDS or _SECOND_CLAUSE.search(marked) or _IS_SOMETHING.search(marked):
        return False
    _, comma, behind = marked.partition(",")
    if comma and _WORD.search(_TIME.sub("", behind)):
        return False
    if len([*_ON_A_DAY.finditer(marked)]) != len(days):
        return False
    is_task = _TASK.search(marked) and _BY_A_DAY.search(marked)
    return bool(is_task or _DEADLINE.search(marked) or _has_event(marked))


def _has_event(marked: str) -> bool:
    """Return whether an event stands near its day, or behind one that the text begins with."""
    for event in _EVENT.finditer(marked):
        between, day, _ = marked[event.end() :].partition(_DAY)
        if not day:
            return len(_WORD.findall(marked.partition(_DAY)[0])) <= 1
        if len(_WORD.findall(_SET.sub("", _TIME.sub("", between)))) <= _MOST_BETWEEN:
            return True
    return False


def _with_marks(text: str, days: Sequence[tuple[int, int]]) -> str:
    """Return a text with one mark in place of each day."""
    parts, at = [], 0
    for start, end in days:
        parts.append(text[at:start].replace(_DAY, " "))
        at = end
    return _DAY.join([*parts, text[at:].replace(_DAY, " ")])
