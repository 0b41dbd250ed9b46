"""Words that build sentences, and words that say when or how often something is so: neither says what it is about.

English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish and Norwegian.
"""

from __future__ import annotations

from typing import Final

from perdure.rules.language.dates import MONTH_OF, WEEKDAY_OF
from perdure.rules.language.day_words import COMMON_WORDS, SHIFT_OF
from perdure.rules.language.words import CALENDAR, DAYS, NUMBER_WORDS, STOP_WORDS, word_set

_BESIDES: Final = """
    alle allem allen aller alles beim dann darf davon dazu denn dessen dies diese diesem diesen dieser doch
    durch einem
    einer eines erst gegen hier ihm ihn ihr ihre ihrem ihren immer jede jedem jeden jeder jedes jetzt kann
    können mich mir
    muss müssen nun nur oder ohne sein seine seinem seinen seiner sich soll sollen sonst unser unsere unserem
    unseren unserer
    unter vor wegen weil wenn wie wieder wurden zwischen über uns weiter weiterhin
    afin ainsi alors après aussi autre avant avec avoir cela celle celui ces cet chaque chez comme contre dont
    doit doivent
    elle elles entre être fait fut ils jamais leur leurs lui mais même mes moi nos notre où par plus pendant
    peut quand
    sa sans sera ses si sous toujours tous tout toute toutes très vers votre vous
    ahora algo ante antes aquí así cada casi como contra cual cuando debe deben después ella ellas ellos entre
    eran eres
    esa ese eso esta estas este esto estos están hacia han les más muy nada nosotros nuestra nuestro otra otro pero
    porque pues puede quien sea ser sido siempre sin sobre solo sus también tener tiene tienen toda todas todo
    todos tras
    agli alla alle allo anche ancora come così dalla degli deve devono dello dopo essere fra hanno loro molto nella
    nelle noi nostra nostro ogni ora perché più poi può quella quello questa questo senza sempre sia sono
    sopra sotto sua
    sue suo tra tutta tutti tutto
    ainda aos até depois dos ela ele eles era essa esse está eu foi isso isto mais mas mesmo muito nas nos nossa nosso
    num numa pela pelo pode por qual quem sem seu seus suas tem você
    altijd als dan die door dus elk elke geen haar heb hem hen iedere jij jou kunnen maar meer men mijn moeten nog ons
    onze ook over toch toen tussen veel wat weer wie worden zal zich zonder
    att blev bli blir dem den deras det där efter eller ett från för hade han hans har hon hos ikke ingen inte jag kan
    med mot någon när och också som sig ska skal sina skulle till upp utan var vid vil vår være varje över
"""
"""Beside the most common ones, which ``day_words`` has."""
_WHEN: Final = """
    day daily week weekly weekend month monthly year yearly hour hourly minute time twice later earlier soon
    morning evening afternoon night nightly
    tag tage tagen täglich woche wochen wöchentlich wochenende monat monate monatlich jahr jahre jährlich stunde stunden
    stündlich uhr minuten mal einmal zweimal dreimal später früher bald
    morgens abend abends mittag mittags nachmittag nachmittags vormittag vormittags nacht nachts
    jour semaine mois année heure minute fois matin soir après-midi midi nuit tard tôt bientôt
    día semana mes meses año hora minuto vez veces mañana tarde noche mediodía luego pronto
    giorno giorni settimana settimane mese mesi anno anni ore volta volte mattina sera pomeriggio notte tardi presto
    dia mês ano vezes manhã noite
    dag dagen dagelijks weken wekelijks maand maanden jaar uur keer ochtend avond middag
    vecka veckor uge månad måned gång gånger kväll aften
    zwei drei vier fünf deux trois quatre cinq dos tres cuatro cinco due tre quattro cinque twee drie
"""

FUNCTION_WORDS: Final = frozenset({*STOP_WORDS, *word_set(_BESIDES)}.union(*COMMON_WORDS.values()))
"""In small letters, each in its forms."""
TIME_WORDS: Final = frozenset({*CALENDAR, *DAYS, *NUMBER_WORDS, *MONTH_OF, *WEEKDAY_OF, *SHIFT_OF, *word_set(_WHEN)})
"""Months, weekdays, times of the day, units of time, and how often; in small letters."""
