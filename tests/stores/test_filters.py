from __future__ import annotations

import random
import string
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import START, WORDS_ONLY, Clock, HashEmbedder, bare_fact, bare_memories, budget, opened, places

TAGS = ["red", "green", "blue", "a'b", "100%", "é", "🙂"]
NAMES = ["Alice", "Bob", "Carol"]


class Worlds(list):
    def __repr__(self):  # hypothesis prints its arguments
        return "worlds"


def filled(memory, clock):
    """90 memories about a deploy: fewer than any limit of the search, so that filters alone decide."""
    chance = random.Random(4)  # noqa: S311  # repeatable on purpose
    kept = []
    for i in range(90):
        clock.passes(minutes=chance.randint(1, 600))
        place = chance.choice([{}, {}, {"session": "s1"}, {"session": "s2"}, {"task": "t1"}])
        kept.append(
            bare_memories(
                memory,
                [
                    {
                        "content": f"deploy {chance.choice(NAMES)} number {i}",
                        "kind": chance.choice(["note", "episode", "fact", "procedure", "summary"]),
                        "tags": chance.sample(TAGS, chance.randint(0, 4)),
                        "confidence": chance.choice([0.2, 0.5, 0.9, 1.0]),
                        "at": clock() - timedelta(days=chance.randint(0, 9)),
                        **place,
                    }
                ],
            )[0]
        )
    for m in kept[::7]:
        memory.archive(m.id, "test")
    return [m.id for m in kept]


def everything_of(memory, ids):
    """Every memory, whoever may see it, newest first."""
    found = [memory.get(i, include_archived=True) for i in ids]
    return sorted(found, key=lambda m: (m.created_at, m.id), reverse=True)


@pytest.fixture(scope="module")
def worlds(store, tmp_path_factory):
    made = Worlds()  # fixtures of module scope make their own
    with places(store, tmp_path_factory.mktemp("worlds")) as elsewhere:
        for embedder in (None, HashEmbedder()):
            clock = Clock()
            memory = opened(elsewhere(), WORDS_ONLY, clock, embedder)
            ids = filled(memory, clock)
            made.append((memory, everything_of(memory, ids)))
        yield made
        for memory, _ in made:
            memory.close()


FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "kinds": st.lists(st.sampled_from(["note", "episode", "fact", "procedure", "summary"]), max_size=3),
        "scopes": st.lists(st.sampled_from(["task", "session", "long_term"]), max_size=2),
        "tags": st.lists(st.sampled_from([*TAGS, "unknown"]), max_size=2),
        "session": st.sampled_from(["s1", "s2", "s3"]),
        "inside": st.sampled_from(["s1", "s2", "s3"]),
        "since": st.integers(-9, 30).map(lambda d: START + timedelta(days=d)),
        "until": st.integers(-9, 30).map(lambda d: START + timedelta(days=d)),
        "min_confidence": st.sampled_from([0.0, 0.2, 0.45, 0.85]),
        "include_archived": st.booleans(),
    },
).filter(lambda wanted: not {"since", "until"} <= wanted.keys() or wanted["since"] <= wanted["until"])
ONLY_RECALL = st.fixed_dictionaries(
    {},
    optional={
        "entity": st.sampled_from([*NAMES, "bob", "Nobody"]),
        "as_of": st.integers(-9, 30).map(lambda d: START + timedelta(days=d)),
        "known_at": st.integers(0, 30).map(lambda d: START + timedelta(days=d)),
    },
)


def hidden_since(m, wanted):
    """Whether a memory that is hidden by now was not yet at the time that is asked about."""
    since = datetime.fromtimestamp(m.state.status_ms / 1000, UTC)
    if "known_at" in wanted:
        return since > wanted["known_at"]
    return "as_of" in wanted and m.kind == "fact"


def passes(m, wanted):
    inside = wanted.get("inside") or wanted.get("session")
    tests = (
        m.scope == "long_term" or (inside is not None and m.session == inside),
        wanted.get("include_archived") or m.status == "active" or hidden_since(m, wanted),
        not wanted.get("kinds") or m.kind in wanted["kinds"],
        not wanted.get("scopes") or m.scope in wanted["scopes"],
        set(wanted.get("tags", ())) <= set(m.tags),
        wanted.get("session") in {None, m.session},
        "entity" not in wanted or wanted["entity"].lower() in m.content.lower().split(),
        "since" not in wanted or m.created_at >= wanted["since"],
        "until" not in wanted or m.created_at < wanted["until"],
        "as_of" not in wanted or (m.created_at if m.kind == "fact" else m.recorded_at) <= wanted["as_of"],
        "known_at" not in wanted or m.recorded_at <= wanted["known_at"],
        m.confidence >= wanted.get("min_confidence", 0.0),
    )
    return all(tests)


@settings(max_examples=budget(12, 480), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(shared=FILTERS, more=ONLY_RECALL)
def test_filters_give_what_looking_at_every_memory_gives(worlds, shared, more):
    for memory, everything in worlds:
        expected = {m.id for m in everything if passes(m, shared)}
        assert {m.id for m in memory.list(limit=1000, **shared)} == expected
        wanted = {**shared, **more}
        found = memory.recall("deploy", limit=1000, touch=False, **wanted)
        assert {h.memory.id for h in found.hits} == {m.id for m in everything if passes(m, wanted)}
        assert found.nothing_known == (not found.hits)


def test_pages_of_a_list_hold_every_memory_once(worlds):
    memory, everything = worlds[0]
    for wanted in ({"include_archived": True}, {"include_archived": True, "inside": "s1"}):
        page, ids = memory.list(limit=7, **wanted), []
        while page:
            ids += [m.id for m in page]
            page = memory.list(limit=7, before=page[-1].id, **wanted)
        assert ids == [m.id for m in everything if passes(m, wanted)]
    assert {m.session for m in everything} == {None, "s1", "s2"}


# --- narrow filters in a large store: what passes must be found, however much there is that does not


FAR = "the deploy of the large system came after a long discussion of everything that could ever go wrong"


@pytest.fixture(scope="module", params=["words", "meaning"])
def crowded(request, store, tmp_path_factory):
    clock = Clock()
    embedder = HashEmbedder() if request.param == "meaning" else None
    with places(store, tmp_path_factory.mktemp("big")) as elsewhere:
        memory = opened(elsewhere(), WORDS_ONLY, clock, embedder)
        wanted = bare_fact(memory, FAR, tags=["rare"], session="rare", confidence=0.95)
        clock.passes(days=1)
        memory.remember_many([{"content": f"deploy {i}", "confidence": 0.2} for i in range(1200)])
        yield memory, wanted, clock
        memory.close()


@pytest.mark.parametrize(
    "narrow",
    [
        {"tags": ["rare"]},
        {"session": "rare"},
        {"kinds": ["fact"]},
        {"until": START + timedelta(hours=1)},
        {"as_of": START + timedelta(hours=1)},
        {"min_confidence": 0.8},
        {"entity": "discussion"},
    ],
    ids=lambda narrow: next(iter(narrow)),
)
def test_a_narrow_filter_in_a_large_store_still_finds(crowded, narrow):
    memory, wanted, _ = crowded
    assert [h.memory.id for h in memory.recall("deploy", touch=False, inside="rare", **narrow).hits] == [wanted.id]
    for place in ({}, {"inside": "another"}):
        others = {k: v for k, v in narrow.items() if k != "session"}
        seen = memory.recall("deploy", touch=False, limit=100, **place, **others)
        assert wanted.id not in [h.memory.id for h in seen.hits]


def test_a_list_page_is_full_where_enough_pass(crowded):
    memory, wanted, _ = crowded
    assert [m.id for m in memory.list(limit=50, min_confidence=0.8, inside="rare")] == [wanted.id]
    assert memory.list(limit=50, min_confidence=0.8) == []


def test_an_entity_filter_brings_no_neighbours_without_it(opening):
    for embedder in (None, HashEmbedder()):
        memory = opening(embedder=embedder, at=None if embedder else ":memory:")
        words = ["Alice likes tea", "Bob likes tea as well", "and fine weather for tea"]
        memory.ingest([{"content": w, "at": START + timedelta(seconds=i - 9)} for i, w in enumerate(words)])
        found = memory.recall("tea", entity="Alice", touch=False).hits
        assert [h.memory.content for h in found] == ["Alice likes tea"]


# --- nothing of the caller's is syntax


SYNTAX = [
    *string.punctuation,
    '"',
    '""',
    '"unclosed',
    "deploy*",
    "NEAR(deploy tea, 2)",
    "text : deploy",
    "{text place} : deploy",
    "-deploy",
    "^deploy",
    "deploy AND",
    "OR",
    "NOT deploy",
    "(deploy",
    "deploy)",
    "'; DROP TABLE memory; --",
    "place:n0123",
    "+ deploy + tea",
    "\\",
    "deploy\ttea\n",
    "日本語 のメモ",
    "ⅷ ½ ﬁ",
    "e\u0301 \u200b\u202e",
    "x" * 9999,
]


@pytest.mark.parametrize("query", SYNTAX)
def test_a_query_may_hold_any_character(worlds, query):
    for memory, everything in worlds:
        before = sum(passes(m, {"include_archived": True}) for m in everything)
        for text in (query, f"{query[:5000]} deploy {query[:4000]}"):
            found = memory.recall(text, limit=3, touch=False)
            assert not {h.memory.id for h in found.hits} - {m.id for m in everything}
        if not any(c.isalnum() for c in query):
            assert memory.recall(f"deploy {query}", limit=3, touch=False).hits
        memory.recall("deploy", entity=query[:1000], session=query[:1000], tags=[query[:50]], touch=False)
        assert len(memory.list(limit=1000, include_archived=True)) == before


def shows(text):
    return any(c.isalnum() or c in string.punctuation for c in text)


@settings(max_examples=budget(25, 400), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(query=st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1).filter(shows))
def test_any_text_can_be_asked(worlds, query):
    for memory, _ in worlds:
        memory.recall(query[:9000], entity=query[:999], touch=False)


def test_words_between_any_punctuation_are_found(opening):
    memory = opening(at=":memory:")
    for number, mark in enumerate(string.punctuation):
        place = f"mark {number}"
        kept = memory.remember(f"{mark}zebra{mark}quagga{mark}", place)
        for query in ("zebra", "quagga", f"{mark}zebra{mark}", f"zebra{mark}quagga"):
            assert [h.memory.id for h in memory.recall(query, place, touch=False).hits] == [kept.id], mark
