"""Names: normal forms, whom a name means, where a text names somebody, and who "they" are."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import every
from perdure.knowledge.extraction.entity_names import (
    AmbiguousName,
    Names,
    ResolvedName,
    UnknownName,
    entity_id,
    normal_name,
)
from perdure.knowledge.extraction.mentions import mentions
from perdure.knowledge.extraction.references import WINDOW, Referents, speaker_name
from perdure.knowledge.records.facts import Entity
from perdure.records.memory import Document, Shelf

FUZZY = 0.88
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("aAbB1 .,'\u2019&-+#éİßﬁ東京")), max_size=60)


def names(*pairs):
    found = Names()
    for identity, name in pairs:
        found.add(identity, name)
    return found


# --- normal form

SAME = {
    "gai media": [
        "Gai Media",
        "GAI  MEDIA",
        "gai-media",
        "Gai Media's",
        "Gai Media\u2019s",
        "the Gai Media",
        "„Gai Media“",
    ],
    "so 1001": ["SO-1001", "so 1001", "#SO-1001!"],
    "usa": ["U.S.A.", "USA", "u.s.a."],
    "obrien": ["O'Brien", "O\u2019Brien's", "OBRIEN"],
    "c++": ["C++"],
    "c#": ["C#"],
    "at and t": ["AT&T", "AT & T"],
    "fine 1": ["ﬁne ①"],
    "हिन्दी": ["हिन्दी"],
    "cooperative": ["Co\u00adoperative"],
    "strasse": ["Straße", "STRASSE"],
    "u s": ["US"],
    "will": ["Will"],
    "drop table x": ["'; DROP TABLE x; --"],
}
NOBODY = [
    "",
    " ",
    "null",
    "None",
    "UNDEFINED ",
    "...",
    "—",
    "they",
    "It",
    "I",
    "us",
    "the",
    "The A",
    "x" * 201,
    "\u200b",
]


@pytest.mark.behaviour("EN1")
@every([(f, n) for f, some in SAME.items() for n in some])
def test_names_have_one_normal_form(form, name):
    assert normal_name(name) == form


@pytest.mark.behaviour("EN2")
@every(NOBODY)
def test_what_is_no_name_has_no_normal_form(name):
    assert normal_name(name) == ""
    found = names(("a", name))
    assert dict(found.known) == {}
    assert found.resolve(name, FUZZY) == UnknownName(name)


@given(TEXTS)
def test_a_normal_form_is_its_own(name):
    form = normal_name(name)
    assert normal_name(form) == form
    assert len(form) <= 200
    form.encode("utf-8")


def test_ten_kilobytes_are_no_name_and_cost_nothing():
    assert normal_name("Gai " * 2500) == normal_name("x" * 10_000) == ""
    assert mentions("Gai" * 3400) == []


# --- whom a name means

KNOWN = [
    ("gai-media", "Gai Media"),
    ("ann", "Ann"),
    ("so-1001", "SO-1001"),
    ("christina", "Christina"),
    ("google", "Google"),
    ("john", "John Smith"),
    ("jose", "José García"),
    ("ibm", "IBM"),
    ("henry", "Henry VII"),
    ("acme", "Acme Ltd"),
]
MEANT = [
    ("gai media", "gai-media"),
    ("Gai Media Ltd", "gai-media"),
    ("Gai Media Inc.", "gai-media"),
    ("Gai Media, GmbH", "gai-media"),
    ("GaiMedia", "gai-media"),
    ("Gai Meedia", "gai-media"),
    ("Gogle", "google"),
    ("Smith, John", "john"),
    ("Jose Garcia", "jose"),
    ("ann's", "ann"),
    ("so 1001", "so-1001"),
    ("Acme Limited", "acme"),
    ("ACME", "acme"),
]
NOT_MEANT = [
    *("Kai Media", "Gai", "Media", "Anna", "An", "SO-1002", "SO-10010", "SO 1001 2", "Christine", "Christian"),
    *("IBN", "IBM 2", "Henry VIII", "Acme Inc", "John", "John Smyth Jones", "null", ""),
]


@pytest.mark.behaviour("EN3")
@every(MEANT)
def test_a_name_means_an_entity(name, identity):
    found = names(*KNOWN).resolve(name, FUZZY)
    assert isinstance(found, ResolvedName), found
    assert found.id == identity


@pytest.mark.behaviour("EN4")
@every(NOT_MEANT)
def test_other_names_mean_nobody(name):
    assert names(*KNOWN).resolve(name, FUZZY) == UnknownName(name)


@pytest.mark.behaviour("EN5")
def test_two_that_are_near_are_ambiguous_and_a_clearly_nearer_one_is_not():
    two = names(("a", "Gai Media Ltd"), ("b", "Gai Media Inc"))
    assert two.resolve("Gai Media", FUZZY) == AmbiguousName("Gai Media", (("a", 0.99), ("b", 0.99)))
    assert two.resolve("gai media inc.", FUZZY) == ResolvedName("b", 1.0, "gai media inc")
    assert names(("a", "Ann"), ("b", "ANN")).resolve("ann", FUZZY) == AmbiguousName("ann", (("a", 1.0), ("b", 1.0)))
    found = names(("a", "Katharine Lopez"), ("b", "Katherine Lopez")).resolve("Kathrine Lopez", FUZZY)
    assert isinstance(found, AmbiguousName)
    near = names(("a", "Microsoft"), ("b", "Micrasaft")).resolve("Microosoft", 0.7)
    assert isinstance(near, ResolvedName)
    assert near.id == "a"


@pytest.mark.behaviour("EN6")
def test_the_threshold_decides_how_alike():
    known = names(("google", "Google"))
    assert isinstance(known.resolve("Gogle", 0.9), ResolvedName)
    assert isinstance(known.resolve("Gogle", 0.91), UnknownName)


def test_a_merged_entity_is_the_one_that_stands_for_it_also_in_a_circle():
    entities = [
        Document(Shelf.ENTITY, "a", "", {"name": "Alpha", "type": "", "merged_into": None}),
        Document(Shelf.ENTITY, "b", "", {"name": "Beta", "type": "", "merged_into": "a"}),
        Document(Shelf.ENTITY, "c", "", {"name": "Gamma", "type": "", "merged_into": "d"}),
        Document(Shelf.ENTITY, "d", "", {"name": "Delta", "type": "", "merged_into": "c"}),
    ]
    aliases = [Document(Shelf.ALIAS, d.id, normal_name(d.data["name"]), {"name": d.data["name"]}) for d in entities]
    found = Names(entities, aliases)
    assert found.resolve("beta", FUZZY) == ResolvedName("a", 1.0, "beta")
    assert found.current_entity("c") in {"c", "d"}
    assert found.entities["a"].aliases == {"alpha": "Alpha"}


@given(st.lists(TEXTS, max_size=8), TEXTS)
def test_a_known_name_is_found_and_the_order_of_learning_does_not_matter(some, asked):
    pairs = [(f"e{i}", name) for i, name in enumerate(some)]
    found = names(*pairs)
    for identity, name in pairs:
        meant = found.resolve(name, FUZZY)
        if normal_name(name):
            ids = {meant.id} if isinstance(meant, ResolvedName) else {i for i, _ in meant.candidates}
            assert identity in ids or len(ids) >= 5
    assert found.resolve(asked, FUZZY) == names(*reversed(pairs)).resolve(asked, FUZZY)


# --- ids


@pytest.mark.behaviour("EN7")
def test_ids_are_readable_and_unique():
    taken = set()
    for name, expected in [
        ("Gai Media", "gai-media"),
        ("GAI MEDIA", "gai-media-2"),
        ("gai-media", "gai-media-3"),
        ("Gai Media 2", "gai-media-2-2"),
        ("José García", "jose-garcia"),
        ("東京電力", "東京電力"),
        ("Газпром нефть", "газпром-нефть"),
        ("null", "entity"),
        ("x|y", "x-y"),
        ("", "entity-2"),
    ]:
        found = entity_id(name, taken)
        assert found == expected
        taken.add(found)
    assert len(entity_id("Word " * 39, ())) <= 60


@given(TEXTS, st.sets(st.sampled_from(["entity", "entity-2", "a", "b", "1"])))
def test_an_id_is_never_taken_and_holds_no_mark(name, taken):
    found = entity_id(name, taken)
    assert found not in taken
    assert found
    assert all(c == "-" or c.isalnum() or unicodedata.category(c)[0] == "M" for c in found)


# --- mentions

ALIASES = {
    normal_name(n) for n in ("Gai Media", "Will", "SO-1001", "東京電力", "Ann", "Acme Inc", "US", "delivery desk")
}
NAMED = [
    ("What's the status of Gai Media's order?", ["Gai Media"]),
    ("gai media called ann", ["gai media", "ann"]),
    ("Remember, they prefer Friday deliveries", []),
    ("Ask Gai Media about SO-1001 and SO-1002.", ["Gai Media", "SO-1001", "SO-1002"]),
    ("I met Will on Monday. Will he come? He will.", ["Will"]),
    ("Kai Media called about the US, not us.", ["Kai Media", "US"]),
    ("The Bank of China met Jean-Luc Picard", ["Bank of China", "Jean-Luc Picard"]),
    ("It was Ludwig van Beethoven", ["Ludwig van Beethoven"]),
    ("THIS IS A SHOUTED MESSAGE ABOUT IBM", []),
    ("How To Deploy The New Service", []),
    ("Dr. Smith called from Acme, Inc.", ["Smith", "Acme, Inc"]),
    ("Gai Media Ltd. moved to Berlin in May", ["Gai Media Ltd", "Berlin"]),
    ("Smith & Sons sued AT&T", ["Smith & Sons", "AT&T"]),
    ("昨日東京電力から電話", ["東京電力"]),
    ("Yes. Yes. OK, I'm late", []),
    ("Perdita called. I like Perdita.", ["Perdita", "Perdita"]),
    ("Perdita called.", []),
    ("the delivery\ndesk, Delivery-Desk", ["delivery\ndesk", "Delivery-Desk"]),
    ("see https://gai.media/SO-1001 or ann@gai.media or `SO-1001`", ["SO-1001"]),
    ("", []),
]  # fmt: skip


@pytest.mark.behaviour("EN8")
@every(NAMED)
def test_a_text_names(text, quotes):
    assert [m.quote for m in mentions(text, ALIASES)] == quotes


@given(TEXTS, st.sets(TEXTS, max_size=4))
def test_mentions_are_places_in_order_that_do_not_overlap(text, some):
    known = {normal_name(n) for n in some} - {""}
    found = mentions(text, known)
    assert [m.start for m in found] == sorted(m.start for m in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    for mention in found:
        assert mention.quote == text[mention.start : mention.end]
        assert mention.name == normal_name(mention.quote) != ""
        assert not mention.known or mention.name in known


@every(["Gai Media met Ann. ", "A ", "A-", "& ", "Aa of ", "東", "'s", "Ann,Ann.", "SO-1"])
def test_mentions_in_hostile_texts_are_what_stands_there(part):
    text = (part * 2_000)[:2_000]
    found = mentions(text, ALIASES)
    assert all(text[m.start : m.end] == m.quote for m in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


# --- who they are

WORLD = names(("gai-media", "Gai Media"), ("kai", "Kai Corp"), ("so-1001", "SO-1001"), ("apollo", "Project Apollo"))
WORLD.add_entity(Entity("ann", "Ann Lee", "person", {"ann lee": "Ann Lee", "ann": "Ann"}))
ASKED = "What's the status of Gai Media's order SO-1001?"
REFERRED = [
    ([ASKED], "they", "", "gai-media"),
    ([ASKED], "it", "", None),
    (["Gai Media called", "Kai Corp too"], "their", "", "kai"),
    (["Gai Media called", "nothing new"], "Them", "", "gai-media"),
    (["Gai Media and Kai Corp called"], "they", "", None),
    (["Gai Media called. Kai Corp did not."], "this company", "", None),
    (["Kai Corp called"], "they", "Gai Media says that ", "gai-media"),
    (["I met Ann", "Gai Media called"], "she", "", "ann"),
    (["I met Ann"], "this company", "", None),
    (["Gai Media called"], "the weather", "", None),
    ([], "they", "", None),
    (["Gai Media called", *["nothing"] * WINDOW], "they", "", None),
]


@pytest.mark.behaviour("EN10")
@every(REFERRED)
def test_a_word_refers_to_the_last_that_fits_or_to_nobody(texts, word, before, expected):
    assert Referents(texts, WORLD, FUZZY).refer(word, before) == expected


@pytest.mark.behaviour("EN11")
def test_the_first_person_is_the_speaker():
    words = Referents([], WORLD, FUZZY)
    assert [words.refer(w, speaker=s) for w, s in (("I", None), ("my", "user"), ("our", "Human"))] == ["user"] * 3
    assert words.refer("We", speaker="Ann") == "ann"
    assert words.refer("I", speaker="assistant") == "assistant"
    assert words.refer("I", speaker="Nobody Known") is None
    assert (speaker_name("Bob"), speaker_name(None), speaker_name("bot")) == ("Bob", "user", "assistant")


def test_an_ambiguous_name_is_not_passed_over():
    known = names(("a", "Ann Smith"), ("a", "Ann"), ("b", "Ann Jones"), ("b", "Ann"), ("c", "Carol Lee"))
    assert Referents(["Carol Lee called", "then Ann did"], known, FUZZY).refer("she") is None


@pytest.mark.behaviour("EN12")
@given(
    st.lists(
        st.sampled_from([ASKED, "Kai Corp", "they came", "I met Ann", "nothing", "Gai Media and Ann"]), max_size=30
    )
)
def test_what_is_referred_to_depends_on_the_last_messages_alone(texts):
    whole = Referents(texts, WORLD, FUZZY)
    for word in ("they", "she", "it", "the customer", "the project"):
        assert whole.refer(word) == Referents(texts[-WINDOW:], WORLD, FUZZY).refer(word)


@pytest.mark.behaviour("EN25")
@pytest.mark.parametrize("text", ["They deliver on Fridays", "We meet Mondays and Thursdays", "Closed on Sundays"])
def test_days_that_come_again_are_no_names(text):
    assert [m.quote for m in mentions(text)] == []
    assert [m.quote for m in mentions(f"{text} with Ruth")] == ["Ruth"]
