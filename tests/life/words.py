"""The words of the lives: small grammars with many values. A name in braces stands for another rule.

Rules named ``X.said`` and ``X.asked`` say and ask the attribute X of a subject.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

Grammar = Mapping[str, Sequence[str]]

TALK: Final[Grammar] = {
    "reply": (
        "Understood, I will keep that in mind.",
        "Thanks. Shall I look at {thing} next?",
        "Done, {thing} is in place now.",
        "I have written that down.",
        "That fits what you said about {thing}.",
        "Let me check {thing} first.",
        "OK.",
        "I looked: {thing} needs about {number} minutes.",
    ),
    "small": (
        "Good morning!",
        "Thanks, that helps.",
        "ok, wait a second",
        "haha, yes",
        "How was your weekend?",
        "Never mind, I found it.",
        "I am back, where were we?",
        "Great, let us go on with {thing}.",
    ),
    "again": ("", "", "Again: ", "As I said, ", "Once more: ", "Just to be sure: "),
    "why": ("no longer needed", "it was a mistake", "out of date", "belongs elsewhere", "a duplicate of {thing}"),
    "number": ("3", "5", "8", "12", "15", "20", "25", "40", "45", "60", "90", "120", "250", "400"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "time": ("8:30", "9:00", "9:15", "10:00", "11:30", "13:00", "14:45", "16:00", "17:30", "19:00"),
    "month": ("January", "March", "April", "May", "June", "August", "September", "October", "November"),
    "city": ("Oslo", "Lyon", "Porto", "Graz", "Turin", "Malmö", "Ghent", "Leeds", "Bern", "Seville", "Riga", "Cork"),
    "first": ("Ana", "Bruno", "Clara", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kira", "Luca"),
    "last": ("Weber", "Novak", "Silva", "Okafor", "Lindgren", "Moreau", "Rossi", "Tanaka", "Walsh", "Petrov"),
    "person": ("{first} {last}",),
}

CODER: Final[Grammar] = {
    "subject": ("{project}", "{project}", "the {service}", "{project} {part}"),
    "project": ("Harbour", "Larkspur", "Tidewater", "Quartz", "Bramble", "Nightjar"),
    "service": ("billing service", "search gateway", "mail relay", "image cache", "scheduler", "login page"),
    "part": ("backend", "client", "installer", "website"),
    "thing": (
        "the {service}",
        "{project}",
        "the migration",
        "the flaky test",
        "the changelog",
        "issue {number}",
        "the parser",
        "the retry loop",
        "the {part}",
    ),
    "attribute": ("database", "port", "deploy_day", "owner", "language", "timeout"),
    "database": ("PostgreSQL 16", "SQLite", "MariaDB 11", "DuckDB", "MongoDB", "CockroachDB", "Redis 7"),
    "database.said": (
        "{subject} stores its data in {value}.",
        "We decided to use {value} for {subject}.",
        "The database of {subject} is {value} from now on.",
    ),
    "database.asked": ("Which database does {subject} use?", "Where does {subject} store its data?"),
    "port": ("8080", "9000", "5433", "3000", "7443", "6500", "8443"),
    "port.said": ("{subject} listens on port {value}.", "The port of {subject} is {value}."),
    "port.asked": ("Which port does {subject} listen on?", "port of {subject}"),
    "deploy_day": ("{day}",),
    "deploy_day.said": ("{subject} is deployed on {value}s.", "Deployments of {subject} happen every {value}."),
    "deploy_day.asked": ("When is {subject} deployed?", "On which day do we deploy {subject}?"),
    "owner": ("{person}",),
    "owner.said": ("{value} looks after {subject} now.", "The owner of {subject} is {value}."),
    "owner.asked": ("Who looks after {subject}?", "Who is the owner of {subject}?"),
    "language": ("Rust", "Go", "Python 3.12", "TypeScript", "Kotlin", "Elixir"),
    "language.said": ("{subject} is written in {value}.", "{subject} was ported to {value}."),
    "language.asked": ("In which language is {subject} written?",),
    "timeout": ("{number} seconds", "{number} ms"),
    "timeout.said": ("The request timeout of {subject} is {value}.", "{subject} gives up after {value}."),
    "timeout.asked": ("What is the timeout of {subject}?", "After how long does {subject} give up?"),
    "note": (
        "The tests of {project} fail on {day} nights because {thing} runs at {time}.",
        "{person} found that {thing} leaks about {number} MB an hour.",
        "Run `make {part}` before touching {thing}.",
        "Rejected: caching in {thing}, it made the {service} {number} % slower.",
        "{project} needs {number} GB of memory when {thing} is built.",
        "The password of the staging {service} is kept by {person}, not in the repository.",
        "{thing} was fixed by pinning version 2.{number}.",
        "Reviews of {project} need two people since {month}.",
        "I tried to reproduce issue {number} on {project}; it only happens after {number} requests.",
        "The log of {thing} rotates after {number} MB, and {person} reads it every {day}.",
    ),
    "decided": (
        "We decided to use {database} as the database of {project}.",
        "We agreed that {person} merges {project}.",
        "Always run the linter before {thing} is merged.",
    ),
    "asked": (
        "What was wrong with {thing}?",
        "Who knows about {thing}?",
        "What did {person} say about {project}?",
        "How much memory does {project} need?",
        "Is there a decision about {thing}?",
    ),
    "tag": ("build", "ops", "decision", "people"),
    "room": ("standup", "review", "planning"),
}

BACKED_UP: Final = (
    *("archive", "mail server", "wiki", "calendar", "print queue", "shop", "ledger", "photo store", "build farm"),
    *("test bench", "phone book", "parcel scale"),
)
"""What a machine at the desk backs up, an evening each."""

LESSONS: Final = (
    "Wrenhouse is the {number}th customer of the mail relay.",
    "Important: gate {number} of the test bench stays shut while the printer is warm.",
    "The fix was to give the nightly job {number} more seconds for its lock file.",
    "The problem was a certificate of the print queue that ran out {number} days ago.",
    "Remember that Odile keeps the {number} spare keys of the archive in Tartu.",
    "The trick is to warm the photo store up with {number} small pictures first.",
)
"""What somebody writes down of a day: a definition, something important, a solution, an error, a request, a pattern."""

DESK: Final[Grammar] = {
    "subject": ("{company}", "{company}", "{person}"),
    "company": ("Gai Media", "Northwall Group", "Pelican Foods", "Arbor Dental", "Kestrel Travel", "Studio Vento"),
    "thing": (
        "the invoice",
        "order {number}",
        "the export",
        "the login",
        "the {product}",
        "the refund",
        "your account",
    ),
    "product": ("router", "camera", "label printer", "scanner", "tablet", "door sensor"),
    "attribute": ("plan", "contact", "delivery_day", "seats"),
    "plan": ("Basic", "Team", "Business", "Enterprise", "Trial"),
    "plan.said": ("{subject} is on the {value} plan.", "{subject} changed to the {value} plan."),
    "plan.asked": ("Which plan is {subject} on?", "plan of {subject}"),
    "contact": ("{first} {last}",),
    "contact.said": ("The contact at {subject} is {value}.", "Please write to {value} about {subject}."),
    "contact.asked": ("Who is the contact at {subject}?", "Whom do we write to about {subject}?"),
    "delivery_day": ("{day}",),
    "delivery_day.said": ("{subject} wants deliveries on {value}.", "Deliveries to {subject} go out on {value}s."),
    "delivery_day.asked": ("When does {subject} want deliveries?",),
    "seats": ("{number} seats",),
    "seats.said": ("{subject} has {value}.", "{subject} ordered {value}."),
    "seats.asked": ("How many seats does {subject} have?",),
    "note": (
        "{person} of {company} cannot open {thing} since {day}.",
        "The {product} that {company} bought in {month} restarts every {number} minutes.",
        "{person} asks for a refund of {number} euros for {thing}, because it arrived broken.",
        "{company} was charged twice for {thing}: {number} euros on {day} and again at {time}.",
        "After the update the {product} shows error {number} and the light stays red.",
        "{person} would like an answer by {day} {time}, and not by phone.",
        "We sent {company} a new {product}; the parcel left {city} on {day}.",
        "{person} says that {thing} worked until {month} and that nothing was changed.",
    ),
    "guide": (
        "If the {product} shows error {number}, hold the button for {number} seconds and start it again.",
        "Refunds above {number} euros are signed by {person}.",
        "Exports larger than {number} MB must be split before they are sent to {company}.",
        "Customers in {city} are served by the shop in {city}; parcels leave at {time}.",
    ),
    "outage": (
        "the login does not work and shows error {number}, nobody in the office can get in",
        "the {product} is offline since {time}, restarting it does not help",
        "no mail has arrived from the shop since {day} {time}",
    ),
    "caller": ("{company} writes:", "{person} calls:", "Another customer reports that", "Again:", "{first} says"),
    "asked": (
        "What do we know about {company}?",
        "What helps when the {product} shows error {number}?",
        "What did {person} complain about?",
        "Who signs refunds?",
        "Was anybody charged twice?",
    ),
    "room": ("front desk", "back office"),
}

FAMILY: Final[Grammar] = {
    "subject": ("{first}", "{first}", "my sister", "grandma"),
    "thing": ("the dentist", "the birthday cake", "the garden", "the school trip", "the piano", "dinner", "the car"),
    "attribute": ("home", "favourite_food", "job", "visits_on"),
    "home": ("{city}",),
    "home.said": (
        "{subject} lives in {value}.",
        "Remember that {subject} lives in {value}.",
        "{subject} moved to {value}.",
    ),
    "home.asked": ("Where does {subject} live?", "In which city is {subject}?"),
    "favourite_food": ("dumplings", "lentil soup", "pizza", "trout", "pancakes", "ratatouille", "curry"),
    "favourite_food.said": ("{subject} likes {value} best.", "Remember that {subject}'s favourite food is {value}."),
    "favourite_food.asked": ("What does {subject} like to eat?", "What is {subject}'s favourite food?"),
    "job": ("nurse", "teacher", "carpenter", "pilot", "cook", "librarian"),
    "job.said": ("{subject} works as a {value}.", "{subject} is a {value} now."),
    "job.asked": ("What does {subject} do for a living?", "What is {subject}'s job?"),
    "visits_on": ("{day}",),
    "visits_on.said": ("{subject} prefers {value} visits.", "Remember that {subject} prefers {value} visits."),
    "visits_on.asked": ("When does {subject} like to visit?",),
    "note": (
        "{first} has an appointment at {time} on {day}, please remind me of {thing}.",
        "The key of the garden house is under the third stone, {first} knows it.",
        "My budget for {thing} is {number} euros.",
        "{first} is allergic to nuts and brings an own cake.",
        "The holidays begin in {month}; we go to {city} by train.",
        "{first} broke {thing} and will pay {number} euros.",
        "I like tea more than coffee after {time}.",
        "No, {day}, not {day}.",
    ),
    "asked": (
        "What is {first} allergic to?",
        "Where is the key of the garden house?",
        "What may {thing} cost?",
        "When do the holidays begin?",
    ),
    "room": ("kitchen", "car", "phone"),
}

HISTORY: Final[Grammar] = {
    **FAMILY,
    "guide": ("{flat} {deposit}", "{insurance} {claims}"),
    "flat": ("The flat in {city} costs {number}0 euros a month, and the contract with {person} ends in {month}.",),
    "deposit": (
        "The deposit of {number}00 euros is paid back within {number} days after the keys were returned.",
        "The keys are with {first}; the deposit of {number}00 euros is with {person} in {city} since {month}.",
    ),
    "insurance": ("Insurance: policy {number}-{number} covers {thing} up to {number}000 euros.",),
    "claims": (
        "Claims go to {person} in {city} by letter, and damage by water is not covered unless it was reported at once.",
        "Write to {person} within {number} days, with photographs of {thing}, and keep the broken parts until {month}.",
    ),
    "note": (*FAMILY["note"], "{met} {advice}", "{diary} {evening}"),
    "met": (
        "We met {person} in {city} and talked for {number} minutes about {thing}, while it rained.",
        "{person} came by on {day} and looked at {thing} for a long time.",
    ),
    "advice": (
        "{first} wrote it all down in the blue notebook, and said that nobody should sell {thing} before {month}.",
        "Whatever {person} offers for it, we keep it until {first} is back from {city}.",
    ),
    "diary": ("Diary: {day}, {time}. {first} repaired {thing} with parts for {number} euros from the shop in {city}.",),
    "evening": (
        "After that we cooked for {number} people and looked at photographs of {city}.",
        "In the evening {first} read aloud from the letters that {person} had sent from {city}.",
    ),
}

POLITE: Final = re.compile(
    r"(?:good|lovely) morning|thanks|wait a second|haha|weekend|where were we|keep that in mind|written that|^OK\\.?$",
    re.IGNORECASE,
)
"""Small talk of the grammars, which nobody wants to keep."""

REWORDED: Final = (
    (r"^The tests of (\w+) fail on (\w+) nights", r"On \2 nights the tests of \1 fail"),
    (r" is kept by ", " is stored by "),
    (r" needs (\d+) GB ", r" requires \1 GB "),
    (r"^We agreed that ", "We decided that "),
    (r" as the database ", " for the database "),
)
"""What somebody says, and how it is said in other words."""


def reworded(text: str) -> str:
    """Return the same in other words, always the same ones; the text itself if no others are known."""
    for said, otherwise in REWORDED:
        text = re.sub(said, otherwise, text)
    return text
